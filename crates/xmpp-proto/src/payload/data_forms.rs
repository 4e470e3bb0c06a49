//! Data forms (XEP-0004).

use std::borrow::Cow;

use crate::ns;
use crate::stanza::Condition;
use crate::xml::{Element, Open};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormKind {
    /// Asks for values.
    Form,
    Submit,
    Cancel,
    /// Values, as an answer.
    Result,
}

impl FormKind {
    fn name(self) -> &'static str {
        match self {
            FormKind::Form => "form",
            FormKind::Submit => "submit",
            FormKind::Cancel => "cancel",
            FormKind::Result => "result",
        }
    }
}

/// A form with values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form<'a> {
    pub kind: FormKind,
    fields: Vec<(&'a str, Vec<Cow<'a, str>>)>,
}

impl<'a> Form<'a> {
    /// The form in an element that can have one of this type (XEP-0068). A form without a type counts as that; a form of another
    /// type is refused, because its fields can be conditions that the sender relies on.
    pub fn within(parent: Element<'a>, form_type: &str) -> Result<Option<Form<'a>>, Condition> {
        let Some(x) = parent.child("x", ns::DATA_FORMS) else { return Ok(None) };
        let form = Form::read(x).ok_or(Condition::BadRequest)?;
        match form.value("FORM_TYPE") {
            Some(other) if other != form_type => Err(Condition::BadRequest),
            _ => Ok(Some(form)),
        }
    }

    /// Reads an `x` element.
    pub fn read(x: Element<'a>) -> Option<Form<'a>> {
        if !x.is("x", ns::DATA_FORMS) {
            return None;
        }
        let kind = x.attr("type")?;
        let kinds = [FormKind::Form, FormKind::Submit, FormKind::Cancel, FormKind::Result];
        let kind = kinds.into_iter().find(|one| one.name() == kind)?;
        let fields = x.children().filter(|child| child.is("field", ns::DATA_FORMS)).filter_map(|field| {
            let values = field.children().filter(|child| child.is("value", ns::DATA_FORMS));
            Some((field.attr("var")?, values.map(Element::text).collect()))
        });
        Some(Form { kind, fields: fields.collect() })
    }

    /// The names of all fields but the form's type.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.fields.iter().map(|(name, _)| *name).filter(|name| *name != "FORM_TYPE")
    }

    pub fn values(&self, name: &str) -> &[Cow<'a, str>] {
        self.fields.iter().find(|(called, _)| *called == name).map_or(&[], |(_, values)| values)
    }

    pub fn value(&self, name: &str) -> Option<&str> {
        self.values(name).first().map(|value| &**value)
    }

    /// XEP-0004 §3.3: a boolean is `1` or `true`, `0` or `false`.
    pub fn boolean(&self, name: &str) -> Option<bool> {
        match self.value(name)? {
            "1" | "true" => Some(true),
            "0" | "false" => Some(false),
            _ => None,
        }
    }
}

/// Writes a form. `fields` writes [`Field`]s.
pub fn write(out: &mut Vec<u8>, kind: FormKind, form_type: &str, fields: impl FnOnce(&mut Vec<u8>)) {
    Open::new(out, "x").attr("xmlns", ns::DATA_FORMS).attr("type", kind.name()).children(|out| {
        Field { kind: Some(FieldKind::Hidden), ..Field::new("FORM_TYPE", &[form_type]) }.write(out);
        fields(out);
    });
}

/// XEP-0004 §3.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    Boolean,
    Hidden,
    JidMulti,
    JidSingle,
    ListMulti,
    ListSingle,
    TextMulti,
    TextPrivate,
    TextSingle,
}

impl FieldKind {
    fn name(self) -> &'static str {
        match self {
            FieldKind::Boolean => "boolean",
            FieldKind::Hidden => "hidden",
            FieldKind::JidMulti => "jid-multi",
            FieldKind::JidSingle => "jid-single",
            FieldKind::ListMulti => "list-multi",
            FieldKind::ListSingle => "list-single",
            FieldKind::TextMulti => "text-multi",
            FieldKind::TextPrivate => "text-private",
            FieldKind::TextSingle => "text-single",
        }
    }
}

/// A field that we write.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    pub name: &'a str,
    /// Needed in a [`FormKind::Form`].
    pub kind: Option<FieldKind>,
    pub label: Option<&'a str>,
    pub values: &'a [&'a str],
    /// The values of a list, each with its label.
    pub options: &'a [(&'a str, &'a str)],
}

impl<'a> Field<'a> {
    pub fn new(name: &'a str, values: &'a [&'a str]) -> Field<'a> {
        Field { name, kind: None, label: None, values, options: &[] }
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        let open = Open::new(out, "field").attr("var", self.name);
        open.opt("type", self.kind.map(FieldKind::name)).opt("label", self.label).children(|out| {
            for value in self.values {
                Open::new(out, "value").text(value);
            }
            for (value, label) in self.options {
                Open::new(out, "option")
                    .attr("label", label)
                    .children(|out| Open::new(out, "value").text(value));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_written_form_is_read_again() {
        let xml = written(|out| {
            write(out, FormKind::Form, "urn:x", |out| {
                Field::new("a", &["1", "two"]).write(out);
                let list =
                    Field { kind: Some(FieldKind::ListSingle), label: Some("L"), ..Field::new("b", &["v"]) };
                Field { options: &[("v", "V")], ..list }.write(out);
                Field::new("c", &[]).write(out);
            });
        });
        assert_eq!(
            xml,
            "<x xmlns='jabber:x:data' type='form'><field var='FORM_TYPE' type='hidden'><value>urn:x</value></field>\
             <field var='a'><value>1</value><value>two</value></field><field var='b' type='list-single' label='L'>\
             <value>v</value><option label='V'><value>v</value></option></field><field var='c'/></x>"
        );
        let tree = read(&format!("<query>{xml}</query>"));
        let form = Form::within(tree.root(), "urn:x").unwrap().unwrap();
        assert_eq!(form.kind, FormKind::Form);
        assert_eq!(form.names().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(
            (form.values("a"), form.value("b"), form.value("c")),
            (&["1".into(), "two".into()][..], Some("v"), None)
        );
        assert_eq!((form.boolean("a"), form.boolean("b"), form.boolean("c")), (Some(true), None, None));
    }

    #[test]
    fn a_form_of_another_type_is_refused() {
        let form = |kind: &str, form_type: &str| {
            read(&format!(
                "<a><x xmlns='jabber:x:data' type='{kind}'><field var='FORM_TYPE'>{form_type}</field></x></a>"
            ))
        };
        let accepted =
            |tree: &crate::xml::Tree| Form::within(tree.root(), "urn:x").map(|form| form.is_some());
        assert_eq!(accepted(&form("submit", "<value>urn:x</value>")), Ok(true));
        assert_eq!(accepted(&form("submit", "")), Ok(true));
        assert_eq!(accepted(&form("submit", "<value>urn:y</value>")), Err(Condition::BadRequest));
        assert_eq!(accepted(&form("other", "<value>urn:x</value>")), Err(Condition::BadRequest));
        assert_eq!(accepted(&read("<a/>")), Ok(false));
    }

    #[test]
    fn a_form_needs_a_kind() {
        assert_eq!(Form::read(read("<x xmlns='jabber:x:data'/>").root()), None);
        assert_eq!(Form::read(read("<x xmlns='jabber:x:data' type='other'/>").root()), None);
        assert_eq!(Form::read(read("<x xmlns='urn:x' type='form'/>").root()), None);
    }
}

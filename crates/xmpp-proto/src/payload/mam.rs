//! Message archive management (XEP-0313).

use std::borrow::Cow;

use super::data_forms::{self, Field, FieldKind, Form, FormKind};
use super::date_time::DateTime;
use super::{forward, rsm};
use crate::jid::Jid;
use crate::ns;
use crate::stanza::Condition;
use crate::xml::{Element, Open};

/// §4: the messages that a client wants to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query<'a> {
    /// Comes back with each result.
    pub query_id: Option<&'a str>,
    pub with: Option<Jid>,
    pub start: Option<DateTime>,
    pub end: Option<DateTime>,
    pub before_id: Option<Cow<'a, str>>,
    pub after_id: Option<Cow<'a, str>>,
    /// If there are any, only these messages.
    pub ids: Vec<Cow<'a, str>>,
    /// Whether messages of rooms are wanted.
    pub include_groupchat: Option<bool>,
    pub page: rsm::Request<'a>,
    /// §4.3.4: the newest message of the page comes first.
    pub flip_page: bool,
}

impl<'a> Query<'a> {
    /// Reads the `query` of a set.
    pub fn of(query: Element<'a>) -> Result<Query<'a>, Condition> {
        let mut read = Query {
            query_id: query.attr("queryid"),
            page: rsm::Request::of(query)?,
            flip_page: query.child("flip-page", ns::MAM).is_some(),
            ..Query::default()
        };
        let Some(form) = Form::within(query, ns::MAM)? else { return Ok(read) };
        for name in form.names() {
            let value = || form.values(name).first().cloned().ok_or(Condition::BadRequest);
            let moment = || DateTime::parse(value()?.trim_ascii()).ok_or(Condition::BadRequest);
            match name {
                "with" => read.with = Some(Jid::parse(&value()?).map_err(|_| Condition::JidMalformed)?),
                "start" => read.start = Some(moment()?),
                "end" => read.end = Some(moment()?),
                "before-id" => read.before_id = Some(value()?),
                "after-id" => read.after_id = Some(value()?),
                "ids" => read.ids = form.values(name).to_vec(),
                "include-groupchat" => {
                    read.include_groupchat = Some(form.boolean(name).ok_or(Condition::BadRequest)?);
                }
                // §4.1.5: a server must not answer as if the filter were not there.
                _ => return Err(Condition::FeatureNotImplemented),
            }
        }
        Ok(read)
    }
}

/// §4.1.5: writes the form with the filters that [`Query::of`] reads.
pub fn write_fields(out: &mut Vec<u8>) {
    Open::new(out, "query").attr("xmlns", ns::MAM).children(|out| {
        data_forms::write(out, FormKind::Form, ns::MAM, |out| {
            for (name, kind) in [
                ("with", FieldKind::JidSingle),
                ("start", FieldKind::TextSingle),
                ("end", FieldKind::TextSingle),
                ("before-id", FieldKind::TextSingle),
                ("after-id", FieldKind::TextSingle),
                ("ids", FieldKind::ListMulti),
                ("include-groupchat", FieldKind::Boolean),
            ] {
                Field { kind: Some(kind), ..Field::new(name, &[]) }.write(out);
            }
        });
    });
}

/// §4.2: a message of the archive.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    pub query_id: Option<&'a str>,
    /// The archive's id of the message.
    pub id: &'a str,
    pub stamp: DateTime,
}

impl Found<'_> {
    /// Writes the content of the message that carries a result. `message` writes the archived one, and declares its
    /// namespace.
    pub fn write(&self, out: &mut Vec<u8>, message: impl FnOnce(&mut Vec<u8>)) {
        let open = Open::new(out, "result").attr("xmlns", ns::MAM).opt("queryid", self.query_id);
        open.attr("id", self.id).children(|out| forward::write(out, Some(self.stamp), message));
    }
}

/// §4.3.2: writes the end of the results. `complete`: no page follows in the direction of the query.
pub fn write_fin(out: &mut Vec<u8>, complete: bool, page: &rsm::Returned<'_>) {
    let open = Open::new(out, "fin").attr("xmlns", ns::MAM);
    open.opt("complete", complete.then_some("true")).children(|out| page.write(out));
}

/// §5: the ids and moments of the oldest and the newest message; none if the archive is empty.
pub fn write_metadata(out: &mut Vec<u8>, ends: Option<[(&str, DateTime); 2]>) {
    Open::new(out, "metadata").attr("xmlns", ns::MAM).children(|out| {
        for (name, (id, stamp)) in ["start", "end"].into_iter().zip(ends.into_iter().flatten()) {
            Open::new(out, name).attr("id", id).display("timestamp", stamp).empty();
        }
    });
}

/// XEP-0441: which messages the archive keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preferences {
    pub default: KeptByDefault,
    /// Messages of some addresses are not kept.
    pub has_exceptions: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptByDefault {
    Always,
    Never,
    /// Those of contacts.
    Roster,
}

impl Preferences {
    /// Reads the `prefs` of a set.
    pub fn of(prefs: Element<'_>) -> Result<Preferences, Condition> {
        let default = match prefs.attr("default") {
            Some("always") => KeptByDefault::Always,
            Some("never") => KeptByDefault::Never,
            Some("roster") => KeptByDefault::Roster,
            _ => return Err(Condition::BadRequest),
        };
        let never = prefs.child("never", ns::MAM);
        let has_exceptions = never.is_some_and(|never| never.child("jid", ns::MAM).is_some());
        Ok(Preferences { default, has_exceptions })
    }

    pub fn keep_everything(self) -> bool {
        self.default == KeptByDefault::Always && !self.has_exceptions
    }
}

/// XEP-0441: writes the preferences of an archive that keeps everything.
pub fn write_preferences(out: &mut Vec<u8>) {
    Open::new(out, "prefs").attr("xmlns", ns::MAM).attr("default", "always").children(|out| {
        Open::new(out, "always").empty();
        Open::new(out, "never").empty();
    });
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    fn query(fields: &str, rest: &str) -> String {
        format!(
            "<query xmlns='urn:xmpp:mam:2' queryid='f27'><x xmlns='jabber:x:data' type='submit'>\
             <field var='FORM_TYPE'><value>urn:xmpp:mam:2</value></field>{fields}</x>{rest}</query>"
        )
    }

    #[test]
    fn a_query_has_filters_and_a_page() {
        let field = |name: &str, value: &str| format!("<field var='{name}'><value>{value}</value></field>");
        let fields = field("with", "Juliet@example.com")
            + &field("start", "2010-06-07T00:00:00Z")
            + &field("end", "2010-07-07T13:23:54Z")
            + &field("before-id", "b")
            + &field("after-id", "a")
            + "<field var='ids'><value>1</value><value>2</value></field>"
            + &field("include-groupchat", "false");
        let page = "<set xmlns='http://jabber.org/protocol/rsm'><max>10</max><before/></set><flip-page/>";
        let expected = Query {
            query_id: Some("f27"),
            with: Some(Jid::parse("juliet@example.com").unwrap()),
            start: Some(DateTime(1_275_868_800_000)),
            end: Some(DateTime(1_278_509_034_000)),
            before_id: Some("b".into()),
            after_id: Some("a".into()),
            ids: vec!["1".into(), "2".into()],
            include_groupchat: Some(false),
            page: rsm::Request { max: Some(10), page: rsm::Page::Last },
            flip_page: true,
        };
        assert_eq!(Query::of(read(&query(&fields, page)).root()), Ok(expected));
        assert_eq!(Query::of(read("<query xmlns='urn:xmpp:mam:2'/>").root()), Ok(Query::default()));
    }

    #[test]
    fn wrong_queries_are_refused() {
        let field = |name: &str, value: &str| {
            query(&format!("<field var='{name}'><value>{value}</value></field>"), "")
        };
        for (xml, condition) in [
            (field("with", "@"), Condition::JidMalformed),
            (field("start", "yesterday"), Condition::BadRequest),
            (field("include-groupchat", "perhaps"), Condition::BadRequest),
            (field("{urn:x}text", "a"), Condition::FeatureNotImplemented),
            (query("<field var='start'/>", ""), Condition::BadRequest),
            (query("", "").replace("'submit'", "'x'"), Condition::BadRequest),
            (query("", "").replace("<value>urn:xmpp:mam:2", "<value>urn:x"), Condition::BadRequest),
        ] {
            assert_eq!(Query::of(read(&xml).root()), Err(condition), "{xml}");
        }
    }

    #[test]
    fn answers_are_written() {
        let stamp = DateTime(1_278_803_305_000);
        let result = Found { query_id: Some("f27"), id: "7", stamp };
        let xml = written(|out| {
            result.write(out, |out| Open::new(out, "message").attr("xmlns", ns::CLIENT).empty());
            write_fin(out, true, &rsm::Returned { ends: Some(("7", "7")), index: None, count: None });
            write_metadata(out, Some([("1", stamp), ("7", stamp)]));
            write_metadata(out, None);
        });
        assert_eq!(
            xml.replace("xmlns='urn:xmpp:mam:2'", "M"),
            "<result M queryid='f27' id='7'><forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' \
             stamp='2010-07-10T23:08:25Z'/><message xmlns='jabber:client'/></forwarded></result>\
             <fin M complete='true'><set xmlns='http://jabber.org/protocol/rsm'><first>7</first><last>7</last></set></fin>\
             <metadata M><start id='1' timestamp='2010-07-10T23:08:25Z'/><end id='7' timestamp='2010-07-10T23:08:25Z'/>\
             </metadata><metadata M/>"
        );
    }

    #[test]
    fn preferences_are_read_and_written() {
        let prefs = |attribute: &str, inside: &str| {
            read(&format!("<prefs xmlns='urn:xmpp:mam:2' {attribute}>{inside}</prefs>"))
        };
        let kept = |attribute: &str, inside: &str| {
            Preferences::of(prefs(attribute, inside).root()).map(Preferences::keep_everything)
        };
        assert_eq!(kept("default='always'", "<always><jid>a@example.com</jid></always><never/>"), Ok(true));
        assert_eq!(kept("default='always'", "<never><jid>a@example.com</jid></never>"), Ok(false));
        assert_eq!(kept("default='roster'", ""), Ok(false));
        assert_eq!(kept("default='never'", ""), Ok(false));
        assert_eq!(kept("default='sometimes'", ""), Err(Condition::BadRequest));
        assert_eq!(kept("", ""), Err(Condition::BadRequest));
        let written = read(&written(write_preferences));
        assert_eq!(Preferences::of(written.root()).map(Preferences::keep_everything), Ok(true));
    }

    #[test]
    fn every_listed_field_is_read() {
        let tree = read(&written(write_fields));
        let form = Form::within(tree.root(), ns::MAM).unwrap().unwrap();
        for name in form.names() {
            let xml = query(&format!("<field var='{name}'><value>1</value></field>"), "");
            assert_ne!(Query::of(read(&xml).root()), Err(Condition::FeatureNotImplemented), "{name}");
        }
    }
}

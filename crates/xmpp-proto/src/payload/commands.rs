//! Ad-hoc commands (XEP-0050): a client runs a command of the server by forms that the server describes.

use super::data_forms::Form;
use crate::ns;
use crate::stanza::{Condition, StanzaError};
use crate::xml::{Element, Open};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Execute,
    Cancel,
    Complete,
    Next,
    Prev,
}

impl Action {
    fn of(name: Option<&str>) -> Option<Action> {
        Some(match name {
            // §3.4: the default.
            None | Some("execute") => Action::Execute,
            Some("cancel") => Action::Cancel,
            Some("complete") => Action::Complete,
            Some("next") => Action::Next,
            Some("prev") => Action::Prev,
            Some(_) => return None,
        })
    }
}

/// The request of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The name of the command.
    pub node: &'a str,
    /// From the server's first answer.
    pub session: Option<&'a str>,
    pub action: Action,
    pub form: Option<Form<'a>>,
}

/// §4.5: what is wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// No action has this name.
    MalformedAction,
    /// The action does not fit here.
    BadAction,
    BadPayload,
}

pub fn error(wrong: Wrong) -> StanzaError {
    let name = match wrong {
        Wrong::MalformedAction => "malformed-action",
        Wrong::BadAction => "bad-action",
        Wrong::BadPayload => "bad-payload",
    };
    StanzaError::new(Condition::BadRequest).application(name, ns::COMMANDS)
}

impl<'a> Request<'a> {
    /// Reads the payload of a set.
    pub fn of(command: Element<'a>) -> Result<Request<'a>, StanzaError> {
        let node = command.attr("node").ok_or_else(|| StanzaError::new(Condition::BadRequest))?;
        let action = Action::of(command.attr("action")).ok_or_else(|| error(Wrong::MalformedAction))?;
        let form = command.child("x", ns::DATA_FORMS);
        let form = form.map(|x| Form::read(x).ok_or_else(|| error(Wrong::BadPayload))).transpose()?;
        Ok(Request { node, session: command.attr("sessionid"), action, form })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The client fills in the form in the answer, and this is the last one.
    Executing,
    Completed,
    Canceled,
}

/// Writes an answer. `inside` writes a form, or a note.
pub fn write(
    out: &mut Vec<u8>,
    node: &str,
    session: &str,
    status: Status,
    inside: impl FnOnce(&mut Vec<u8>),
) {
    let name = match status {
        Status::Executing => "executing",
        Status::Completed => "completed",
        Status::Canceled => "canceled",
    };
    let open = Open::new(out, "command").attr("xmlns", ns::COMMANDS);
    open.attr("node", node).attr("sessionid", session).attr("status", name).children(|out| {
        if status == Status::Executing {
            Open::new(out, "actions")
                .attr("execute", "complete")
                .children(|out| Open::new(out, "complete").empty());
        }
        inside(out);
    });
}

/// §4.3: writes a text for people.
pub fn write_note(out: &mut Vec<u8>, text: &str) {
    Open::new(out, "note").attr("type", "info").text(text);
}

#[cfg(test)]
mod tests {
    use super::super::data_forms::{self, FormKind};
    use super::super::{read, written};
    use super::*;

    fn command(attributes: &str, inside: &str) -> crate::xml::Tree {
        read(&format!("<command xmlns='http://jabber.org/protocol/commands' {attributes}>{inside}</command>"))
    }

    #[test]
    fn requests_are_read() {
        let tree = command("node='list'", "");
        let first = Request { node: "list", session: None, action: Action::Execute, form: None };
        assert_eq!(Request::of(tree.root()), Ok(first));
        let tree =
            command("node='a' sessionid='7' action='complete'", "<x xmlns='jabber:x:data' type='submit'/>");
        let request = Request::of(tree.root()).unwrap();
        assert_eq!((request.session, request.action), (Some("7"), Action::Complete));
        assert_eq!(request.form.map(|form| form.kind), Some(FormKind::Submit));
    }

    #[test]
    fn wrong_requests_have_their_own_conditions() {
        let refused = |attributes: &str, inside: &str| {
            let tree = command(attributes, inside);
            written(|out| Request::of(tree.root()).unwrap_err().write(out))
        };
        assert!(refused("node='a' action='undo'", "").contains("<malformed-action "));
        assert!(refused("node='a'", "<x xmlns='jabber:x:data'/>").contains("<bad-payload "));
        assert!(!refused("", "").contains("commands"));
        assert!(written(|out| error(Wrong::BadAction).write(out)).contains("<bad-action "));
    }

    #[test]
    fn answers_are_written() {
        let xml = written(|out| {
            write(out, "list", "7", Status::Executing, |out| {
                data_forms::write(out, FormKind::Form, "urn:x", |_| {})
            });
            write(out, "list", "7", Status::Completed, |out| write_note(out, "Done"));
            write(out, "list", "7", Status::Canceled, |_| {});
        });
        assert_eq!(
            xml.replace("xmlns='http://jabber.org/protocol/commands'", "C"),
            "<command C node='list' sessionid='7' status='executing'><actions execute='complete'><complete/></actions>\
             <x xmlns='jabber:x:data' type='form'><field var='FORM_TYPE' type='hidden'><value>urn:x</value></field></x>\
             </command><command C node='list' sessionid='7' status='completed'><note type='info'>Done</note></command>\
             <command C node='list' sessionid='7' status='canceled'/>"
        );
    }
}

//! Ad-Hoc Commands (XEP-0050): what members and moderators do in the widget's menus, for apps that show forms.
//!
//! Each command has one form and keeps no state: the session id of a client is only repeated. Moderators' commands are acts of the
//! domain, which checks the rights of the user again with each act.

mod apps;
mod moderation;

use chat::account::{Command as AccountCommand, Event as AccountEvent};
use chat::{Delivery, Event, Refusal, SiteRole};
use xmpp_proto::ns;
use xmpp_proto::payload::commands::{self as payload, Action, Request, Status, Wrong};
use xmpp_proto::payload::data_forms::{self, Form, FormKind};
use xmpp_proto::payload::disco::{Identity, Info, Item, write_items};
use xmpp_proto::stanza::{Condition, StanzaError};

use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::refusal::stanza_error;
use crate::session::{Asked, Iq, IqHandler, IqKind, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(50),
    name: "Ad-Hoc Commands",
    version: "1.3.0",
    scenario: "commands",
    server_features: &[ns::COMMANDS],
    account_features: &[],
    iq: &[IqHandler { name: "command", ns: ns::COMMANDS, handle: request }],
};

pub(crate) const FORMS: Extension = Extension {
    spec: Spec::Xep(4),
    name: "Data Forms",
    version: "2.13.1",
    server_features: &[ns::DATA_FORMS],
    iq: &[],
    ..EXTENSION
};

pub(crate) const ADMINISTRATION: Extension = Extension {
    spec: Spec::Xep(133),
    name: "Service Administration",
    version: "1.3.1",
    server_features: &[],
    iq: &[],
    ..EXTENSION
};

/// One command.
struct Command {
    node: &'static str,
    name: &'static str,
    /// The role of those who see it. The domain decides who may run it.
    role: SiteRole,
    /// Answers with the form.
    show: fn(&mut Turn<'_, '_>, Run),
    /// Carries it out with the client's values.
    submit: fn(&mut Turn<'_, '_>, Run, &Form<'_>) -> Result<(), StanzaError>,
}

static COMMANDS: &[&Command] = &[
    &apps::REVOKE,
    &moderation::BAN,
    &moderation::UNBAN,
    &moderation::MUTE,
    &moderation::UNMUTE,
    &moderation::END_SESSIONS,
    &moderation::REPORTS,
];

/// A run of a command, until its answer.
struct Run {
    asked: Asked,
    node: &'static str,
    session: Box<str>,
}

impl Run {
    fn completed(self, turn: &mut Turn<'_, '_>, note: &str) {
        let (node, session) = (self.node, self.session);
        turn.answer(self.asked, |out| {
            payload::write(out, node, &session, Status::Completed, |out| payload::write_note(out, note));
        });
    }

    fn form(self, turn: &mut Turn<'_, '_>, form_type: &str, fields: impl FnOnce(&mut Vec<u8>)) {
        let (node, session) = (self.node, self.session);
        turn.answer(self.asked, |out| {
            payload::write(out, node, &session, Status::Executing, |out| {
                data_forms::write(out, FormKind::Form, form_type, fields);
            });
        });
    }

    fn refused(self, turn: &mut Turn<'_, '_>, refusal: Refusal) {
        turn.answer_error(&self.asked, &stanza_error(refusal));
    }

    /// Asks the domain for the run; a refusal ends it.
    fn ask(
        self,
        turn: &mut Turn<'_, '_>,
        command: impl Into<chat::Command>,
        then: impl FnOnce(&mut Turn<'_, '_>, Run, &Delivery) + Send + 'static,
    ) {
        let Run { asked, node, session } = self;
        turn.continue_then(asked, command, move |turn, asked, answer| {
            let run = Run { asked, node, session };
            match answer {
                Ok(delivery) => then(turn, run, delivery),
                Err(refusal) => run.refused(turn, refusal),
            }
        });
    }
}

fn request(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if iq.target != Target::Server || iq.kind != IqKind::Set {
        return Err(StanzaError::new(Condition::ServiceUnavailable));
    }
    let request = Request::of(iq.payload)?;
    let command = COMMANDS.iter().find(|command| command.node == request.node);
    let command = command.ok_or_else(|| StanzaError::new(Condition::ItemNotFound))?;
    let session = request.session.map_or_else(|| turn.push_id(), str::to_owned);
    if request.action == Action::Cancel {
        turn.result(iq, |out| payload::write(out, command.node, &session, Status::Canceled, |_| {}));
        return Ok(());
    }
    let run = Run { asked: Asked::of(iq.element), node: command.node, session: session.into() };
    match (request.action, request.form) {
        (Action::Execute | Action::Complete | Action::Next, Some(form)) if form.kind == FormKind::Submit => {
            (command.submit)(turn, run, &form)
        }
        (Action::Execute, None) => {
            (command.show)(turn, run);
            Ok(())
        }
        (_, Some(_)) => Err(payload::error(Wrong::BadPayload)),
        (_, None) => Err(payload::error(Wrong::BadAction)),
    }
}

/// XEP-0050 §2.2: the commands that the user's role shows.
pub(crate) fn list(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) {
    let server = turn.domain().to_owned();
    turn.ask_then(iq, AccountCommand::Profile { user: None }, move |turn, asked, answer| {
        let role = match answer {
            Ok(Delivery { event: Event::Account(AccountEvent::Profile(card)), .. }) => card.role,
            Ok(_) => SiteRole::Member,
            Err(refusal) => return turn.answer_error(&asked, &stanza_error(refusal)),
        };
        turn.answer(asked, |out| {
            write_items(out, Some(ns::COMMANDS), |out| {
                for command in COMMANDS.iter().filter(|command| command.role <= role) {
                    Item { jid: &server, node: Some(command.node), name: Some(command.name) }.write(out);
                }
            });
        });
    });
}

/// XEP-0050 §2.3. None: no command has this name.
pub(crate) fn info(node: &str) -> Option<Info<'_>> {
    let identity = |kind, name| Identity { category: "automation", kind, name: Some(name) };
    if node == ns::COMMANDS {
        let identities = vec![identity("command-list", "Commands")];
        return Some(Info { node: Some(node), identities, features: vec![ns::COMMANDS] });
    }
    let command = COMMANDS.iter().find(|command| command.node == node)?;
    Some(Info {
        node: Some(node),
        identities: vec![identity("command-node", command.name)],
        features: vec![ns::COMMANDS, ns::DATA_FORMS],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_names_of_their_own() {
        let mut nodes: Vec<&str> = COMMANDS.iter().map(|command| command.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        assert_eq!(nodes.len(), COMMANDS.len());
        assert!(nodes.iter().all(|node| info(node).is_some()));
        assert!(info("other").is_none());
    }
}

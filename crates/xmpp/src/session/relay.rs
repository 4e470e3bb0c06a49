//! Stanzas between two sessions (RFC 6121 §8.5.3): the domain carries them, and neither stores nor reads them.
//!
//! The payload is three lines: name and type, id, and the child elements in the form for storage. A message is an error, about one that the
//! user has sent; the others are requests and their answers.

use chat::{Refusal, Sub};
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::{Element, Open, restore};

use super::{Asked, Turn};
use crate::address::{self, Target};
use crate::refusal::stanza_error;
use crate::s2s::BASE;

impl Turn<'_, '_> {
    /// The session to which a stanza is addressed by its full JID, unless only this server can answer for it. A remote service answers
    /// for itself.
    pub(super) fn other_session(&self, to: Option<&Jid>, target: &Target) -> Option<(Sub, Box<str>)> {
        let resource = match (to?.resource(), target) {
            (Some(resource), _) => resource,
            (None, Target::User(user)) if user.is_remote_service() => BASE,
            (None, _) => return None,
        };
        let user = match target {
            Target::User(user) => user.clone(),
            Target::Account => Sub::of_address_local(to?.local()?)?,
            _ => return None,
        };
        Some((user, resource.into()))
    }

    pub(super) fn relay(&mut self, element: Element<'_>, to: Sub, resource: Box<str>) {
        let Some(payload) = payload(element) else {
            return self.refuse(element, &StanzaError::new(Condition::BadRequest));
        };
        let command = chat::presence::Command::Relay { to, resource, payload, is_answer: false };
        self.continue_then(Asked::of(element), command, |turn, asked, outcome| {
            // The receiver's answer is a stanza of its own.
            let Err(refusal) = outcome else { return };
            // RFC 6121 §8.5.3.2.3: the same answer whether the session does not exist, or may not be seen.
            let error = match refusal {
                Refusal::NoSuchUser => StanzaError::new(Condition::ServiceUnavailable),
                _ => stanza_error(refusal),
            };
            turn.answer_error(&asked, &error);
        });
    }

    /// The answer of this client to the request of another session.
    pub(super) fn relay_answer(&mut self, element: Element<'_>, to: Option<&Jid>, target: &Target) {
        if let Some((to, resource)) = self.other_session(to, target)
            && let Some(payload) = payload(element)
        {
            let command = chat::presence::Command::Relay { to, resource, payload, is_answer: true };
            self.continue_then(Asked::internal(), command, |_, _, _| ());
        }
    }

    pub(super) fn relayed(&mut self, from: &Sub, resource: &str, payload: &str) {
        let mut lines = payload.splitn(3, '\n');
        let (Some(head), Some(id), Some(children)) = (lines.next(), lines.next(), lines.next()) else {
            return;
        };
        let Some((name, kind)) = head.split_once(' ') else { return };
        if name == "message" {
            return self.returned(id, from, children);
        }
        let from = address::user_at(from, self.domain(), resource);
        let to = self.session.jid.as_str().to_owned();
        self.send(|out| {
            Open::new(out, name)
                .attr("type", kind)
                .attr("id", id)
                .attr("from", &from)
                .attr("to", &to)
                .children(|out| restore(children, out));
        });
    }
}

/// None: the id is no single line.
fn payload(element: Element<'_>) -> Option<Box<str>> {
    let id = element.attr("id").filter(|id| !id.contains('\n'))?;
    let mut out = format!("{} {}\n{id}\n", element.name(), element.attr("type")?).into_bytes();
    for child in element.children() {
        child.write_stored(&mut out, ns::CLIENT);
    }
    Some(String::from_utf8(out).expect("elements are written from UTF-8").into())
}

/// Of a message that another server has not taken. None: the id is no single line.
pub(super) fn error_payload(id: &str, error: &StanzaError) -> Option<Box<str>> {
    let mut out = Vec::new();
    error.write(&mut out);
    let error = String::from_utf8(out).expect("a condition is ASCII");
    (!id.contains('\n')).then(|| format!("message error\n{id}\n{error}").into())
}

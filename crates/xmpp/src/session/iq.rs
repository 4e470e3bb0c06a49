//! Requests and their handlers (RFC 6120 §8.2.3, RFC 6121 §8.5 and §10.3).

use xmpp_proto::jid::Jid;
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::{Element, Open};

use super::Turn;
use crate::address::{RESOURCE, Target};
use crate::extensions::handlers;

/// A request of the client.
pub(crate) struct Iq<'a> {
    pub(crate) element: Element<'a>,
    pub(crate) id: &'a str,
    pub(crate) kind: IqKind,
    pub(crate) target: Target,
    /// The child that names the request.
    pub(crate) payload: Element<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IqKind {
    Get,
    Set,
}

/// Carries out the requests with one payload.
pub struct IqHandler {
    pub(crate) name: &'static str,
    pub(crate) ns: &'static str,
    pub(crate) handle: fn(&mut Turn<'_, '_>, &Iq<'_>) -> Result<(), StanzaError>,
}

impl Turn<'_, '_> {
    pub(super) fn iq(&mut self, element: Element<'_>, to: Option<&Jid>, target: Target) {
        // No session has this resource: this server speaks for the widget.
        if let Target::User(user) = &target
            && user.remote_address().is_none()
            && to.is_some_and(|to| to.resource() == Some(RESOURCE))
            && self.for_widget(element, user)
        {
            return;
        }
        let kind = match element.attr("type") {
            Some("get") => IqKind::Get,
            Some("set") => IqKind::Set,
            // Without a resource: answers to our pings and pushes.
            Some("result" | "error") if self.caps_answered(element) => return,
            Some("result" | "error") => return self.relay_answer(element, to, &target),
            _ => return self.refuse(element, &StanzaError::new(Condition::BadRequest)),
        };
        // RFC 6120 §8.2.3: an id, and exactly one child.
        let (Some(id), Some(payload)) = (element.attr("id"), element.first()) else {
            return self.refuse(element, &StanzaError::new(Condition::BadRequest));
        };
        if target == Target::Elsewhere {
            return self.refuse(element, &StanzaError::new(Condition::RemoteServerNotFound));
        }
        // RFC 6121 §8.5.3: the addressed session answers.
        if let Some((user, resource)) = self.other_session(to, &target) {
            return self.relay(element, user, resource);
        }
        let iq = Iq { element, id, kind, target, payload };
        let handler = handlers().find(|handler| payload.is(handler.name, handler.ns));
        let outcome = match handler {
            Some(handler) => (handler.handle)(self, &iq),
            None => Err(StanzaError::new(Condition::ServiceUnavailable)),
        };
        if let Err(error) = outcome {
            self.refuse(element, &error);
        }
    }

    pub(crate) fn result(&mut self, iq: &Iq<'_>, write: impl FnOnce(&mut Vec<u8>)) {
        self.send(|out| {
            Open::new(out, "iq")
                .attr("type", "result")
                .attr("id", iq.id)
                .opt("from", iq.element.attr("to"))
                .children(write);
        });
    }

    pub(crate) fn empty_result(&mut self, iq: &Iq<'_>) {
        self.send(|out| {
            Open::new(out, "iq")
                .attr("type", "result")
                .attr("id", iq.id)
                .opt("from", iq.element.attr("to"))
                .empty();
        });
    }
}

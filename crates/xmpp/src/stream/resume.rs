//! Resumption of a stream (XEP-0198 §5) in the place of resource binding.

use chat::presence::Announced;
use xmpp_proto::payload::stream_management::{self as payload, Request};
use xmpp_proto::stanza::Condition;
use xmpp_proto::stream::{StreamCondition, StreamError};
use xmpp_proto::xml::Element;

use super::{Opening, Phase, Start};
use crate::config::timestamp;
use crate::gateway::{Gateway, Mail, State};
use crate::transport::Io;
use crate::xep::stream_management::{Detached, Found};

/// A resumption in progress.
pub(super) struct Resumption {
    pub(super) previd: Box<str>,
    /// The count of stanzas that the client has handled.
    pub(super) h: u32,
}

impl Gateway {
    pub(super) fn resume(
        &mut self,
        opening: &mut Opening,
        element: Element<'_>,
        io: &mut Io<'_>,
    ) -> Result<(), StreamError> {
        match Request::of(element) {
            Some(Ok(Request::Resume { h, previd })) => {
                self.find_stream(opening, Resumption { previd: previd.into(), h }, io);
                Ok(())
            }
            // §3: only after resource binding.
            Some(Ok(Request::Enable { .. })) => {
                self.send(io, |out| payload::write_failed(out, Condition::UnexpectedRequest, None));
                Ok(())
            }
            _ => Err(StreamError::new(StreamCondition::BadFormat)),
        }
    }

    pub(super) fn find_stream(&mut self, opening: &mut Opening, resumption: Resumption, io: &mut Io<'_>) {
        let Phase::Authenticated(identity) = &opening.phase else { return };
        let domain = opening.site.as_ref().map_or("", |site| &site.domain);
        let bare = identity.user.as_ref().map(|user| crate::address::user(user, domain));
        let now = timestamp(io.now());
        match bare.map_or(Found::Gone, |bare| self.shared.streams.find(&resumption.previd, &bare, now)) {
            Found::Detached(detached) => self.sign_in_again(opening, resumption, detached, io),
            Found::Live(to) => {
                opening.phase = match std::mem::replace(&mut opening.phase, Phase::Authenticating) {
                    Phase::Authenticated(identity) => Phase::Resuming(identity, resumption),
                    other => other,
                };
                self.shared.mailboxes.send(to.worker(), Mail::Detach { to, by: io.handle() });
            }
            // §5: the client binds a resource instead.
            Found::Gone => self.stream_is_gone(opening, io),
        }
    }

    /// The old connection has ended.
    pub(crate) fn resume_detached(&mut self, state: &mut State, io: &mut Io<'_>) {
        let State::Opening(opening) = state else { return };
        match std::mem::replace(&mut opening.phase, Phase::Authenticating) {
            Phase::Resuming(identity, resumption) => {
                opening.phase = Phase::Authenticated(identity);
                self.find_stream(opening, resumption, io);
                io.read_on();
            }
            other => opening.phase = other,
        }
    }

    fn sign_in_again(
        &mut self,
        opening: &mut Opening,
        resumption: Resumption,
        detached: Box<Detached>,
        io: &mut Io<'_>,
    ) {
        let resource = detached.jid.resource().unwrap_or_default().into();
        let announced = Announced { resource, availability: detached.availability.clone() };
        let position = Some(detached.position);
        self.sign_in(opening, announced, position, Start::Resume(resumption, detached), io);
    }
}

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
use crate::xep::stream_management::{Detached, StreamId};

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

    /// Resumes the detached stream. If the stream still has a connection, that must leave it first.
    pub(super) fn find_stream(&mut self, opening: &mut Opening, resumption: Resumption, io: &mut Io<'_>) {
        let Some((id, bare)) = named(opening, &resumption) else { return self.stream_is_gone(opening, io) };
        if let Some(detached) = self.shared.streams.take(id, &bare, timestamp(io.now())) {
            return self.sign_in_again(opening, resumption, detached, io);
        }
        let to = self.shared.streams.connection(id);
        // A client can invent an id.
        if to.worker() >= self.shared.mailboxes.workers() {
            return self.stream_is_gone(opening, io);
        }
        opening.phase = match std::mem::replace(&mut opening.phase, Phase::Authenticating) {
            Phase::Authenticated(identity) => Phase::Resuming(Box::new((identity, resumption))),
            other => other,
        };
        self.shared.mailboxes.send(to.worker(), Mail::Detach { to, by: io.handle(), id, bare });
    }

    /// The connection that had the stream has left it, or has another one.
    pub(crate) fn resume_detached(&mut self, state: &mut State, io: &mut Io<'_>) {
        let State::Opening(opening) = state else { return };
        match std::mem::replace(&mut opening.phase, Phase::Authenticating) {
            Phase::Resuming(both) => {
                let (identity, resumption) = *both;
                opening.phase = Phase::Authenticated(identity);
                let named = named(opening, &resumption);
                let now = timestamp(io.now());
                match named.and_then(|(id, bare)| self.shared.streams.take(id, &bare, now)) {
                    Some(detached) => self.sign_in_again(opening, resumption, detached, io),
                    // §5: the client binds a resource instead.
                    None => self.stream_is_gone(opening, io),
                }
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

/// The stream that the client wants, and the client's bare JID. None: no stream has this name, or the client is a guest.
fn named(opening: &Opening, resumption: &Resumption) -> Option<(StreamId, Box<str>)> {
    let Phase::Authenticated(identity) = &opening.phase else { return None };
    let domain = opening.site.as_ref().map_or("", |site| &site.domain);
    let bare = crate::address::user(identity.user.as_ref()?, domain);
    Some((StreamId::parse(&resumption.previd)?, bare.into()))
}

//! Resource binding (RFC 6120 §7), and the sign-in to the domain.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::presence::Announced;
use chat::{Agent, DeviceId, Hello, Position, Refusal, SessionHandle, Welcome};
use rand::Rng;
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::{bind2, stream_management as management};
use xmpp_proto::stanza::{self, Condition, StanzaError};
use xmpp_proto::stream::{StreamCondition, StreamError};
use xmpp_proto::xml::{Element, Open, Reader};

use super::sasl2::{Enable, Sasl2};
use super::{Opening, Phase, Start, features};
use crate::config::timestamp;
use crate::gateway::{Gateway, State};
use crate::session::catch_up::is_whole;
use crate::session::{Flags, Session, Turn};
use crate::transport::{Io, Receiver};
use crate::xep::stream_management;

/// A binding in progress.
pub(super) struct Binding {
    /// Of the client's request.
    id: Box<str>,
}

impl Gateway {
    /// RFC 6120 §7.6 and §7.7: the client's resource, or one of ours.
    pub(super) fn bind(
        &mut self,
        opening: &mut Opening,
        iq: Element<'_>,
        io: &mut Io<'_>,
    ) -> Result<(), StreamError> {
        let bind = iq.child("bind", ns::BIND).filter(|_| iq.attr("type") == Some("set"));
        let (Some(bind), Some(id)) = (bind, iq.attr("id")) else {
            return Err(StreamError::new(StreamCondition::NotAuthorized));
        };
        let wanted = bind.child("resource", ns::BIND).map(|resource| resource.text().into_owned());
        let is_free = |wanted: &String| !wanted.is_empty() && wanted != crate::address::RESOURCE;
        let resource: String = match wanted.filter(is_free) {
            Some(wanted) => match Jid::of(None, &opening.site()?.domain, Some(&wanted)) {
                Ok(jid) => jid.resource().unwrap_or_default().into(),
                Err(_) => {
                    let error = StanzaError::new(Condition::BadRequest);
                    self.send(io, |out| stanza::write_error(out, iq, None, None, &error));
                    return Ok(());
                }
            },
            None => URL_SAFE_NO_PAD.encode(self.rng.random::<[u8; 9]>()),
        };
        let announced = Announced { resource: resource.into(), availability: None };
        self.sign_in(opening, announced, None, Start::Bind(Binding { id: id.into() }), io);
        Ok(())
    }

    /// Signs the user in to the domain, from a position of an earlier session or anew.
    pub(super) fn sign_in(
        &mut self,
        opening: &mut Opening,
        announced: Announced,
        position: Option<Position>,
        start: Start,
        io: &mut Io<'_>,
    ) {
        let phase = std::mem::replace(&mut opening.phase, Phase::SigningIn(start));
        let (Phase::Authenticated(identity), Some(site)) = (phase, &opening.site) else { return };
        let origin = opening.origin.take().filter(|_| identity.user.is_none());
        opening.resource = (*announced.resource).into();
        let hello = Hello {
            site_key: (*site.key).into(),
            credential: identity.credential,
            device: device_of(&announced.resource),
            position,
            // A site lists the pages that may have guests. Members have a secret, which they can enter on any page.
            origin: origin.map(|origin| origin.into_string().into()),
            address: opening.address(io),
            agent: Agent::default(),
            announced: Some(announced),
        };
        self.shared.node.sign_in(hello, SessionHandle(io.handle().to_bits()), timestamp(io.now()));
    }

    /// The session exists: from now on the stream carries stanzas.
    pub(super) fn welcome(&mut self, state: &mut State, welcome: &Welcome, io: &mut Io<'_>) {
        let State::Opening(opening) = state else { return };
        let Phase::SigningIn(start) = std::mem::replace(&mut opening.phase, Phase::Authenticating) else {
            return;
        };
        if let Start::Resume(_, detached) = &start
            && !is_whole(&welcome.changes, |room| detached.rooms.iter().any(|left| left.room == room))
        {
            // The stream cannot be resumed any more: the client begins a new session, and reads the archive.
            self.shared.node.disconnected(welcome.session, false, timestamp(io.now()));
            return self.end_stream(state, &StreamError::new(StreamCondition::Reset), io);
        }
        let domain = opening.site.as_ref().map_or("", |site| &site.domain);
        let local = welcome.me.sub.address_local();
        let Ok(jid) = Jid::of(Some(&local), domain, Some(&opening.resource)) else {
            self.shared.node.disconnected(welcome.session, true, timestamp(io.now()));
            return self.end_stream(state, &StreamError::new(StreamCondition::InternalServerError), io);
        };
        let receiver = std::mem::replace(&mut opening.receiver, Receiver::Tcp(Reader::new()));
        let stream = self.rng.random();
        self.shared.counters.sessions.add(1);
        let mut session = Box::new(Session::new(receiver, jid, welcome, stream, io.now()));
        let mut outcome = Ok(());
        match start {
            Start::Bind(binding) => self.send(io, |out| {
                Open::new(out, "iq").attr("type", "result").attr("id", &binding.id).children(|out| {
                    Open::new(out, "bind").attr("xmlns", ns::BIND).children(|out| {
                        Open::new(out, "jid").text(session.jid.as_str());
                    });
                });
            }),
            Start::Bind2 => self.bound2(opening.sasl2.take(), &mut session, io),
            Start::Resume(resumption, detached) => {
                let handled = detached.counters.handled();
                let resumed = |out: &mut Vec<u8>| management::write_resumed(out, &resumption.previd, handled);
                match opening.sasl2.take() {
                    Some(sasl2) => {
                        self.succeed2(&sasl2, session.jid.as_str(), resumed, io);
                        self.send_features(&features::AFTER_BIND, io);
                    }
                    None => self.send(io, resumed),
                }
                let turn = Turn { gateway: self, session: &mut session, io };
                outcome = turn.go_on(resumption.h, *detached, &welcome.changes);
            }
        }
        *state = State::Live(session);
        io.set_timer(Some(self.shared.config.idle(io.framing())));
        match outcome {
            Ok(()) => io.read_on(),
            Err(error) => self.end_stream(state, &error, io),
        }
    }

    /// XEP-0386 §3.2: the resource is bound, and what the client has asked for with it is on.
    fn bound2(&mut self, sasl2: Option<Box<Sasl2>>, session: &mut Session, io: &mut Io<'_>) {
        let Some(mut sasl2) = sasl2 else { return };
        let Some(bind) = sasl2.take_bind() else { return };
        session.set(Flags::INACTIVE, bind.is_inactive);
        session.set(Flags::CARBONS, bind.carbons);
        let mut turn = Turn { gateway: self, session, io };
        let enabled = bind.enable.map(|Enable { resume }| turn.start_management(resume));
        let inline = |out: &mut Vec<u8>| {
            bind2::write_bound(out, |out| {
                if let Some(id) = &enabled {
                    stream_management::write_enabled(out, *id);
                }
            });
        };
        self.succeed2(&sasl2, session.jid.as_str(), inline, io);
        self.send_features(&features::AFTER_BIND, io);
    }

    /// RFC 6120 §7.6.2.1 and §4.9.3: the condition that fits the refusal.
    pub(super) fn sign_in_refused(&mut self, state: &mut State, refusal: Refusal, io: &mut Io<'_>) {
        let State::Opening(opening) = state else { return };
        if let Phase::SigningIn(Start::Bind(binding)) = &opening.phase {
            let error = crate::refusal::stanza_error(refusal);
            self.send(io, |out| {
                let iq = Open::new(out, "iq").attr("type", "error").attr("id", &binding.id);
                iq.children(|out| error.write(out));
            });
        }
        self.end_stream(state, &crate::refusal::stream_error(refusal), io);
    }
}

/// The device of a resource: a client that binds the same resource again replaces its older session.
fn device_of(resource: &str) -> DeviceId {
    let digest = ring::digest::digest(&ring::digest::SHA256, resource.as_bytes());
    let text = format!("xmpp-{}", URL_SAFE_NO_PAD.encode(&digest.as_ref()[..16]));
    DeviceId::parse(&text).expect("base64url has only characters that a device id allows")
}

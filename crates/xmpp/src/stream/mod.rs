//! Negotiation of a stream (RFC 6120 §4.3): header, TLS, SASL, resource binding. It ends with a session of the domain.

mod bind;
pub(crate) mod fast;
pub(crate) mod features;
mod resume;
mod sasl;
pub(crate) mod sasl2;
mod starttls;

use std::net::IpAddr;

use chat::{Delivery, Event};
use edge::Accepted;
use rand::Rng;
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::stream::{Content, StreamCondition, StreamError, StreamHeader, Version};
use xmpp_proto::xml::{Element, Limits, Reader};

use crate::Gateway;
use crate::address::Site;
use crate::gateway::State;
use crate::refusal::stream_error;
use crate::transport::http::Visitor;
use crate::transport::{Io, Receiver};
use crate::xep::stream_management::Detached;
use bind::Binding;
use resume::Resumption;
pub use sasl::Checked;
use sasl::{Exchange, Identity};
use sasl2::Sasl2;

/// Limits of clients that are not signed in: they need no more, and cost no more.
pub(crate) const UNAUTHENTICATED: Limits =
    Limits { stanza_bytes: 10_000, depth: 8, attributes: 16, name_bytes: 64 };

/// A stream that is being negotiated.
pub(crate) struct Opening {
    pub(crate) receiver: Receiver,
    /// Nobody on the path can read, or the operator accepts that.
    is_secure: bool,
    listener: usize,
    /// From a trusted proxy. None: the peer is the client.
    address: Option<IpAddr>,
    /// Of the page that has connected.
    origin: Option<Box<str>>,
    /// From the `to` of the first header. A client cannot change it later.
    site: Option<Site>,
    /// Our header of the current stream is sent.
    is_open: bool,
    /// Failed attempts to authenticate.
    failures: u8,
    /// Of the session that begins.
    resource: Box<str>,
    /// The authentication in progress is one of XEP-0388.
    sasl2: Option<Box<Sasl2>>,
    phase: Phase,
}

enum Phase {
    /// STARTTLS and SASL.
    Authenticating,
    /// SASL waits for the client's response, or for the store.
    Sasl(Box<Exchange>),
    /// Waits for `bind`.
    Authenticated(Identity),
    /// The old connection of the stream is being closed.
    Resuming(Box<(Identity, Resumption)>),
    /// The domain answers with a welcome or a refusal.
    SigningIn(Start),
}

impl Phase {
    fn sasl(exchange: Exchange) -> Phase {
        Phase::Sasl(Box::new(exchange))
    }
}

/// How a session begins.
enum Start {
    Bind(Binding),
    /// With the authentication.
    Bind2,
    Resume(Resumption, Box<Detached>),
}

impl Opening {
    pub(crate) fn new(accepted: Accepted) -> Opening {
        let receiver = Receiver::Tcp(Reader::new());
        Opening::of(receiver, accepted.tls, accepted.listener)
    }

    /// Of a client whose way is secure enough to sign in.
    pub(crate) fn on_web(receiver: Receiver, visitor: Visitor) -> Opening {
        let Visitor { is_https: _, address, origin } = visitor;
        let opening = Opening::of(receiver, true, Accepted::HANDED_OVER);
        Opening { address, origin, ..opening }
    }

    fn of(receiver: Receiver, is_secure: bool, listener: usize) -> Opening {
        Opening {
            receiver,
            is_secure,
            listener,
            address: None,
            origin: None,
            site: None,
            is_open: false,
            failures: 0,
            resource: Box::default(),
            sasl2: None,
            phase: Phase::Authenticating,
        }
    }

    pub(crate) fn tls_is_on(&mut self) {
        self.is_secure = true;
    }

    /// An answer of the store or of the domain is due, and decides how the next bytes are read.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(&self.phase, Phase::SigningIn(_) | Phase::Resuming(..)) || self.is_checking()
    }

    /// The domain has its sign-in, and has not answered.
    pub(crate) fn is_signing_in(&self) -> bool {
        matches!(self.phase, Phase::SigningIn(_))
    }

    /// Of its site; empty before the header.
    pub(crate) fn domain(&self) -> &str {
        self.site.as_ref().map_or("", |site| &site.domain)
    }

    /// The client's address.
    fn address(&self, io: &Io<'_>) -> Option<IpAddr> {
        self.address.or_else(|| io.peer())
    }

    /// The client opens a new stream on the connection (RFC 6120 §4.3.3).
    fn restart(&mut self) {
        self.receiver.restart();
        self.is_open = false;
    }
}

impl Gateway {
    /// Answers the client's header with ours and the features (RFC 6120 §4.3.2).
    pub(crate) fn open(
        &mut self,
        opening: &mut Opening,
        header: &StreamHeader,
        io: &mut Io<'_>,
    ) -> Result<(), StreamError> {
        if opening.is_open {
            return Err(StreamError::new(StreamCondition::BadFormat));
        }
        if header.content != Content::Client {
            return Err(StreamError::new(StreamCondition::InvalidNamespace));
        }
        // RFC 6120 §4.7.5: without a version, a client is older than SASL.
        if header.version.is_none_or(|version| version.major != Version::V1.major) {
            return Err(StreamError::new(StreamCondition::UnsupportedVersion));
        }
        let nowhere = || StreamError::new(StreamCondition::HostUnknown);
        let to = header.to.as_deref().and_then(|to| Jid::parse(to).ok()).ok_or_else(nowhere)?;
        let node = &self.shared.node;
        // An app gives up an unknown host, and a front may learn of it soon.
        let unknown = || stream_error(node.refusal_of_unknown_site());
        let site = Site::of_domain(node, to.domain()).ok_or_else(unknown)?;
        if opening.site.as_ref().is_some_and(|known| known.id != site.id) {
            return Err(StreamError::new(StreamCondition::HostUnknown));
        }
        opening.site = Some(site);
        self.open_if_needed(opening, io);
        let role = self.shared.config.role(opening.listener);
        let features = match &opening.phase {
            Phase::Authenticated(_) => features::AFTER_SASL,
            _ => features::before_sasl(opening.is_secure, &role, io),
        };
        self.send_features(&features, io);
        Ok(())
    }

    /// An error also needs an open stream (RFC 6120 §4.9.1.2).
    pub(crate) fn open_if_needed(&mut self, opening: &mut Opening, io: &mut Io<'_>) {
        if !std::mem::replace(&mut opening.is_open, true) {
            let id = format!("{:016x}", self.rng.random::<u64>());
            let header = StreamHeader {
                content: Content::Client,
                to: None,
                from: opening.site.as_ref().map(|site| (*site.domain).into()),
                id: Some(id.into()),
                version: Some(Version::V1),
                lang: Some("en".into()),
            };
            let framing = io.framing();
            self.send(io, |out| framing.write_header(&header, out));
        }
    }

    /// `is_last`: no input follows.
    pub(crate) fn negotiate(
        &mut self,
        opening: &mut Opening,
        element: Element<'_>,
        is_last: bool,
        io: &mut Io<'_>,
    ) -> Result<Next, StreamError> {
        // A frame in the place of the header.
        if !opening.is_open {
            return Err(StreamError::new(StreamCondition::BadFormat));
        }
        match (element.ns(), element.name()) {
            (ns::TLS, "starttls") => self.start_tls(opening, is_last, io),
            (ns::SASL2, _) if matches!(opening.phase, Phase::Authenticating | Phase::Sasl(_)) => {
                self.sasl2(opening, element, io).map(|()| Next::Continue)
            }
            (ns::SASL, _) => self.sasl(opening, element, io).map(|()| Next::Continue),
            (ns::CLIENT, "iq") if matches!(opening.phase, Phase::Authenticated(_)) => {
                self.bind(opening, element, io).map(|()| Next::Continue)
            }
            (ns::STREAM_MANAGEMENT, _) if matches!(opening.phase, Phase::Authenticated(_)) => {
                self.resume(opening, element, io).map(|()| Next::Continue)
            }
            // RFC 6120 §4.9.3.12: a stanza before the end of the negotiation.
            (ns::CLIENT, "iq" | "message" | "presence") => {
                Err(StreamError::new(StreamCondition::NotAuthorized))
            }
            _ => Err(StreamError::new(StreamCondition::UnsupportedStanzaType)),
        }
    }

    pub(crate) fn deliver_to_opening(&mut self, state: &mut State, delivery: &Delivery, io: &mut Io<'_>) {
        let Event::Session(event) = &delivery.event else { return };
        match event {
            chat::session::Event::Welcome(welcome) => self.welcome(state, welcome, io),
            chat::session::Event::Bye(refusal) | chat::session::Event::ByeWith { refusal, .. } => {
                self.sign_in_refused(state, *refusal, io);
            }
            _ => {}
        }
    }
}

/// After an element.
pub(crate) enum Next {
    Continue,
    /// The next bytes are a ClientHello.
    TlsHandshake,
}

impl Opening {
    /// The site of a stream that has passed its header.
    fn site(&self) -> Result<&Site, StreamError> {
        self.site.as_ref().ok_or_else(|| StreamError::new(StreamCondition::HostUnknown))
    }
}

#[cfg(test)]
mod tests {
    use super::Opening;

    /// In a burst of sign-ins most streams are being negotiated.
    #[test]
    fn a_stream_that_opens_is_small() {
        assert!(size_of::<Opening>() <= 184, "{}", size_of::<Opening>());
    }
}

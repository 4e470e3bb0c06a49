//! Negotiation of a stream (RFC 6120 §4.3): header, TLS, SASL, resource binding. It ends with a session of the domain.

mod bind;
mod features;
mod resume;
mod sasl;
mod starttls;

use chat::{Delivery, Event};
use edge::{Accepted, Io};
use rand::Rng;
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::stream::{Content, StreamCondition, StreamError, StreamHeader, Version};
use xmpp_proto::xml::{Element, Item, Limits, Reader};

use crate::Gateway;
use crate::address::Site;
use crate::gateway::{State, Step};
use crate::xep::stream_management::Detached;
use bind::Binding;
use resume::Resumption;
pub use sasl::Checked;
use sasl::{Exchange, Identity};

/// Limits of clients that are not signed in: they need no more, and cost no more.
const UNAUTHENTICATED: Limits = Limits { stanza_bytes: 10_000, depth: 8, attributes: 16, name_bytes: 64 };

/// A stream that is being negotiated.
pub(crate) struct Opening {
    reader: Reader,
    tls: bool,
    listener: usize,
    /// From the `to` of the first header. A client cannot change it later.
    site: Option<Site>,
    /// Our header of the current stream is sent.
    is_open: bool,
    /// Failed attempts to authenticate.
    failures: u8,
    /// Of the session that begins.
    resource: Box<str>,
    phase: Phase,
}

enum Phase {
    /// STARTTLS and SASL.
    Authenticating,
    /// SASL waits for the client's response, or for the store.
    Sasl(Exchange),
    /// Waits for `bind`.
    Authenticated(Identity),
    /// The old connection of the stream is being closed.
    Resuming(Identity, Resumption),
    /// The domain answers with a welcome or a refusal.
    SigningIn(Start),
}

/// How a session begins.
enum Start {
    Bind(Binding),
    Resume(Resumption, Box<Detached>),
}

impl Opening {
    pub(crate) fn new(accepted: Accepted) -> Opening {
        Opening {
            reader: Reader::new(),
            tls: accepted.tls,
            listener: accepted.listener,
            site: None,
            is_open: false,
            failures: 0,
            resource: Box::default(),
            phase: Phase::Authenticating,
        }
    }

    pub(crate) fn tls_is_on(&mut self) {
        self.tls = true;
    }

    /// The client opens a new stream on the connection (RFC 6120 §4.3.3).
    fn restart(&mut self) {
        self.reader.restart();
        self.is_open = false;
    }
}

impl Gateway {
    pub(crate) fn read_opening(&mut self, state: &mut State, input: &[u8], io: &mut Io<'_>) -> Step {
        let State::Opening(opening) = state else { return Step::Wait(0) };
        // The answer decides how the next bytes are read.
        if matches!(&opening.phase, Phase::SigningIn(_) | Phase::Resuming(..)) || opening.is_checking() {
            return Step::Wait(0);
        }
        let (used, item) = match opening.reader.read(input, &UNAUTHENTICATED) {
            Ok(read) => read,
            Err(error) => {
                self.end_stream(state, &error, io);
                return Step::Wait(input.len());
            }
        };
        let Some(item) = item else { return Step::Wait(used) };
        let outcome = match item {
            Item::Header(header) => self.open(opening, &header, io),
            Item::Stanza(tree) => match self.negotiate(opening, tree.root(), input.len() == used, io) {
                Ok(Next::TlsHandshake) => return Step::Wait(input.len()),
                Ok(Next::Continue) => Ok(()),
                Err(error) => Err(error),
            },
            Item::End => {
                self.close(state, io);
                return Step::Wait(input.len());
            }
        };
        match outcome {
            Ok(()) => Step::Again(used),
            Err(error) => {
                self.end_stream(state, &error, io);
                Step::Wait(input.len())
            }
        }
    }

    /// Answers the client's header with ours and the features (RFC 6120 §4.3.2).
    fn open(
        &mut self,
        opening: &mut Opening,
        header: &StreamHeader,
        io: &mut Io<'_>,
    ) -> Result<(), StreamError> {
        if header.content != Content::Client {
            return Err(StreamError::new(StreamCondition::InvalidNamespace));
        }
        // RFC 6120 §4.7.5: without a version, a client is older than SASL.
        if header.version.is_none_or(|version| version.major != Version::V1.major) {
            return Err(StreamError::new(StreamCondition::UnsupportedVersion));
        }
        let unknown = || StreamError::new(StreamCondition::HostUnknown);
        let to = header.to.as_deref().and_then(|to| Jid::parse(to).ok()).ok_or_else(unknown)?;
        let site = Site::of_domain(&self.shared.node, to.domain()).ok_or_else(unknown)?;
        if opening.site.as_ref().is_some_and(|known| known.id != site.id) {
            return Err(StreamError::new(StreamCondition::HostUnknown));
        }
        opening.site = Some(site);
        self.open_if_needed(opening, io);
        let role = self.shared.config.role(opening.listener);
        let features = match &opening.phase {
            Phase::Authenticated(_) => features::AFTER_SASL,
            _ => features::before_sasl(opening.tls, &role),
        };
        self.send(io, |out| features.write(out));
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
            self.send(io, |out| header.write(out));
        }
    }

    /// `is_last`: no input follows.
    fn negotiate(
        &mut self,
        opening: &mut Opening,
        element: Element<'_>,
        is_last: bool,
        io: &mut Io<'_>,
    ) -> Result<Next, StreamError> {
        match (element.ns(), element.name()) {
            (ns::TLS, "starttls") => self.start_tls(opening, is_last, io),
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

/// After an element of the negotiation.
enum Next {
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

//! Our side of a stream that we open to another server: TLS, then SASL EXTERNAL (XEP-0178) or Server Dialback (XEP-0220). Without sockets.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::bidi;
use xmpp_proto::payload::dialback::{self, Dialback, Step, Verdict};
use xmpp_proto::stanza::StanzaKind;
use xmpp_proto::stream::{Content, StreamCondition, StreamError, StreamHeader, Version};
use xmpp_proto::xml::{Element, Open};

/// The two domains of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Pair {
    /// Of a site of this node.
    pub(crate) local: Box<str>,
    pub(crate) remote: Box<str>,
}

/// Why the stream is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To carry stanzas.
    Stanzas,
    /// To ask whether this key of a stream from `remote` is right.
    Verify { id: Box<str>, key: Box<str> },
}

/// The next thing to do with the connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Send(Vec<u8>),
    /// Begin TLS as its client. [`Initiator::connected`] follows.
    StartTls,
    /// The reader expects a new stream, and [`Act::Send`] follows.
    Restart,
    /// Stanzas can be sent.
    Ready,
    /// The answer to [`Purpose::Verify`].
    Verified(bool),
    /// The element is a stanza of the pair, whose addresses are checked (XEP-0288).
    Stanza,
}

/// Our credentials.
pub(crate) struct Credentials<'a> {
    /// TLS shows the certificate of the local domain.
    pub(crate) has_certificate: bool,
    /// Of dialback keys.
    pub(crate) secret: &'a [u8; 32],
}

pub(crate) struct Initiator {
    pub(crate) pair: Pair,
    pub(crate) purpose: Purpose,
    stage: Stage,
    tls: bool,
    /// Of the current stream, from the other server.
    id: Box<str>,
    /// EXTERNAL was refused: do not try it again.
    refused: bool,
    /// The stream carries stanzas in both directions (XEP-0288).
    pub(super) bidi: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Header,
    Features,
    /// STARTTLS is asked for.
    Tls,
    /// SASL EXTERNAL waits for its outcome. The features offer dialback, too.
    External {
        dialback: bool,
    },
    /// Authenticated; the new stream begins.
    NewHeader,
    NewFeatures,
    /// A key waits for its outcome.
    Dialback,
    Ready,
}

impl Initiator {
    pub(crate) fn new(pair: Pair, purpose: Purpose) -> Initiator {
        let (stage, id) = (Stage::Header, Box::default());
        Initiator { pair, purpose, stage, tls: false, id, refused: false, bidi: false }
    }

    /// Stanzas can be sent.
    pub(crate) fn is_ready(&self) -> bool {
        self.stage == Stage::Ready
    }

    /// The connection is established, or its TLS handshake is finished.
    pub(crate) fn connected(&mut self, tls: bool) -> Vec<Act> {
        self.tls = tls;
        self.stage = Stage::Header;
        let restart = tls.then_some(Act::Restart);
        restart.into_iter().chain([self.header()]).collect()
    }

    fn header(&self) -> Act {
        let header = StreamHeader {
            content: Content::Server,
            to: Some(self.pair.remote.clone()),
            from: Some(self.pair.local.clone()),
            id: None,
            version: Some(Version::V1),
            lang: Some("en".into()),
        };
        let mut out = Vec::new();
        header.write(&mut out);
        Act::Send(out)
    }

    /// The header of the other server.
    pub(crate) fn opened(&mut self, header: &StreamHeader) -> Result<(), StreamError> {
        if header.content != Content::Server {
            return Err(StreamError::new(StreamCondition::InvalidNamespace));
        }
        // Without features there is no TLS.
        if header.version.is_none_or(|version| version.major != Version::V1.major) {
            return Err(StreamError::new(StreamCondition::UnsupportedVersion));
        }
        self.stage = match self.stage {
            Stage::Header => Stage::Features,
            Stage::NewHeader => Stage::NewFeatures,
            _ => return Err(StreamError::new(StreamCondition::BadFormat)),
        };
        self.id = header.id.clone().unwrap_or_default();
        Ok(())
    }

    pub(crate) fn element(
        &mut self,
        element: Element<'_>,
        credentials: &Credentials<'_>,
    ) -> Result<Vec<Act>, StreamError> {
        if let Some(error) = StreamError::from_element(element) {
            return Err(error);
        }
        let unexpected = || StreamError::new(StreamCondition::UnsupportedStanzaType);
        match (self.stage, element.ns(), element.name()) {
            (Stage::Features, ns::STREAMS, "features") => self.features(element, credentials),
            (Stage::Tls, ns::TLS, "proceed") => Ok(vec![Act::StartTls]),
            (Stage::External { .. }, ns::SASL, "success") => {
                self.stage = Stage::NewHeader;
                Ok(vec![Act::Restart, self.header()])
            }
            (Stage::External { dialback: true }, ns::SASL, "failure") => {
                self.refused = true;
                Ok(self.ask_by_key(credentials))
            }
            (Stage::External { dialback: false }, ns::SASL, "failure") => Err(refused()),
            (Stage::NewFeatures, ns::STREAMS, "features") => {
                self.stage = Stage::Ready;
                Ok(vec![Act::Ready])
            }
            (Stage::Dialback, ns::DIALBACK, _) => self.verdict(element),
            (Stage::Ready, ..) if self.bidi && StanzaKind::of(element).is_some() => self.stanza(element),
            // The other server asks about a stream of ours, or sends what belongs on its own stream.
            (Stage::Ready, ..) => Ok(Vec::new()),
            _ => Err(unexpected()),
        }
    }

    /// The certificate of the other server has proved `pair.remote`, and no other domain.
    fn stanza(&self, stanza: Element<'_>) -> Result<Vec<Act>, StreamError> {
        let address = |name: &str| stanza.attr(name).map(Jid::parse);
        let (Some(Ok(from)), Some(Ok(to))) = (address("from"), address("to")) else {
            return Err(StreamError::new(StreamCondition::ImproperAddressing));
        };
        if from.domain() != &*self.pair.remote {
            return Err(StreamError::new(StreamCondition::InvalidFrom));
        }
        if to.domain() != &*self.pair.local {
            return Err(StreamError::new(StreamCondition::HostUnknown));
        }
        Ok(vec![Act::Stanza])
    }

    fn features(
        &mut self,
        features: Element<'_>,
        credentials: &Credentials<'_>,
    ) -> Result<Vec<Act>, StreamError> {
        if !self.tls {
            if features.child("starttls", ns::TLS).is_none() {
                return Err(StreamError::new(StreamCondition::PolicyViolation).text("no TLS"));
            }
            self.stage = Stage::Tls;
            return Ok(vec![send(|out| Open::new(out, "starttls").attr("xmlns", ns::TLS).empty())]);
        }
        if let Purpose::Verify { id, key } = &self.purpose {
            let question = Dialback {
                step: Step::Verify,
                from: &self.pair.local,
                to: &self.pair.remote,
                id: Some(id),
                verdict: None,
                key: (&**key).into(),
            };
            self.stage = Stage::Dialback;
            return Ok(vec![send(|out| question.write(out))]);
        }
        let mut acts = Vec::new();
        if bidi::is_offered(features) {
            self.bidi = true;
            acts.push(send(bidi::write_request));
        }
        let dialback = features.child("dialback", ns::DIALBACK_FEATURE).is_some();
        let mechanisms = features.child("mechanisms", ns::SASL);
        let external = mechanisms.is_some_and(|mechanisms| {
            mechanisms.children().any(|one| one.is("mechanism", ns::SASL) && one.text() == "EXTERNAL")
        });
        if external && credentials.has_certificate && !self.refused {
            self.stage = Stage::External { dialback };
            let name = STANDARD.encode(&*self.pair.local);
            acts.push(send(|out| {
                Open::new(out, "auth").attr("xmlns", ns::SASL).attr("mechanism", "EXTERNAL").text(&name);
            }));
            return Ok(acts);
        }
        // COMPAT(dialback, 2026): some servers support it without the feature.
        if dialback || !external {
            acts.extend(self.ask_by_key(credentials));
            return Ok(acts);
        }
        Err(refused())
    }

    fn ask_by_key(&mut self, credentials: &Credentials<'_>) -> Vec<Act> {
        self.stage = Stage::Dialback;
        let Pair { local, remote } = &self.pair;
        let key = dialback::key(credentials.secret, remote, local, &self.id);
        let question = Dialback {
            step: Step::Result,
            from: local,
            to: remote,
            id: None,
            verdict: None,
            key: key.into(),
        };
        vec![send(|out| question.write(out))]
    }

    fn verdict(&mut self, element: Element<'_>) -> Result<Vec<Act>, StreamError> {
        let wrong = || StreamError::new(StreamCondition::BadFormat);
        let answer = Dialback::of(element).ok_or_else(wrong)?;
        let verdict = answer.verdict.ok_or_else(wrong)?;
        if answer.from != &*self.pair.remote || answer.to != &*self.pair.local {
            return Err(StreamError::new(StreamCondition::InvalidFrom));
        }
        match (&self.purpose, answer.step) {
            (Purpose::Stanzas, Step::Result) if verdict == Verdict::Valid => {
                self.stage = Stage::Ready;
                Ok(vec![Act::Ready])
            }
            (Purpose::Stanzas, Step::Result) => Err(refused()),
            (Purpose::Verify { id, .. }, Step::Verify) if answer.id == Some(&**id) => {
                Ok(vec![Act::Verified(verdict == Verdict::Valid)])
            }
            _ => Err(wrong()),
        }
    }
}

fn refused() -> StreamError {
    StreamError::new(StreamCondition::NotAuthorized).text("the other server did not accept our domain")
}

pub(super) fn send(write: impl FnOnce(&mut Vec<u8>)) -> Act {
    let mut out = Vec::new();
    write(&mut out);
    Act::Send(out)
}

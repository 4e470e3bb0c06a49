//! Our side of a stream that another server opens: which domains it has proved, and answers of an authoritative server. Without sockets.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::dialback::{self, Dialback, Step, Verdict};
use xmpp_proto::payload::{bidi, stream_limits};
use xmpp_proto::stanza::StanzaKind;
use xmpp_proto::stream::{Content, StreamCondition, StreamError, StreamHeader, Version};
use xmpp_proto::xml::{Element, Open};

use super::initiator::Pair;

/// Domain pairs of one stream. A server with more opens more streams.
const MOST_PAIRS: usize = 16;
/// Keys of one stream that are being checked.
const MOST_CHECKS: usize = 4;
/// Failed attempts of a stream to authenticate.
const MOST_FAILURES: u8 = 3;

/// What the responder asks about the world.
pub(crate) trait World {
    /// Whether a site with this domain talks with this other domain.
    fn talks(&self, pair: &Pair) -> bool;
    /// Whether a site has this domain, and talks with any other.
    fn is_local(&self, domain: &str) -> bool;
    /// Whether the other server's TLS certificate is valid for this domain.
    fn proves(&self, domain: &str) -> bool;
    /// Of dialback keys.
    fn secret(&self) -> &[u8; 32];
}

/// The next thing to do with the connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Send(Vec<u8>),
    /// Begin TLS as its server. [`Responder::tls_is_on`] follows.
    StartTls,
    /// The reader expects a new stream.
    Restart,
    /// Ask the server of `pair.remote` about this key. [`Responder::checked`] follows.
    Check {
        pair: Pair,
        id: Box<str>,
        key: Box<str>,
    },
    /// A stanza for a site, whose addresses are checked.
    Stanza(Pair),
}

pub(crate) struct Responder {
    tls: bool,
    is_open: bool,
    /// Of the current stream; nobody else can guess it.
    id: Box<str>,
    /// From the first header.
    local: Option<Box<str>>,
    remote: Option<Box<str>>,
    failures: u8,
    is_authenticated: bool,
    /// The other server takes our stanzas on this stream, too (XEP-0288).
    bidi: bool,
    proved: Vec<Pair>,
    checks: Vec<Pair>,
}

impl Responder {
    pub(crate) fn new(tls: bool) -> Responder {
        Responder {
            tls,
            is_open: false,
            id: Box::default(),
            local: None,
            remote: None,
            failures: 0,
            is_authenticated: false,
            bidi: false,
            proved: Vec::new(),
            checks: Vec::new(),
        }
    }

    pub(crate) fn tls_is_on(&mut self) {
        (self.tls, self.is_open) = (true, false);
    }

    /// Whether it has proved a domain.
    pub(crate) fn is_proved(&self) -> bool {
        !self.proved.is_empty()
    }

    pub(crate) fn proved(&self) -> &[Pair] {
        &self.proved
    }

    /// The pairs whose stanzas this stream carries to the other server.
    pub(crate) fn carries(&self) -> &[Pair] {
        // After SASL, a new stream begins.
        if self.bidi && self.is_open { &self.proved } else { &[] }
    }

    /// The header of the other server. `id`: of the new stream, secret and unique.
    pub(crate) fn opened(
        &mut self,
        header: &StreamHeader,
        id: Box<str>,
        most_bytes: usize,
        world: &impl World,
        out: &mut Vec<u8>,
    ) -> Result<(), StreamError> {
        if self.is_open {
            return Err(StreamError::new(StreamCondition::BadFormat));
        }
        self.id = id;
        let named = |name: &Option<Box<str>>| {
            let jid = name.as_deref().and_then(|name| Jid::parse(name).ok());
            jid.filter(|jid| jid.local().is_none() && jid.is_bare()).map(|jid| Box::from(jid.domain()))
        };
        let (to, from) = (named(&header.to), named(&header.from));
        let known = to.as_deref().filter(|to| world.is_local(to));
        self.is_open = true;
        StreamHeader {
            content: Content::Server,
            to: from.clone(),
            from: known.map(Box::from),
            id: Some(self.id.clone()),
            version: Some(Version::V1),
            lang: Some("en".into()),
        }
        .write(out);
        if header.content != Content::Server {
            return Err(StreamError::new(StreamCondition::InvalidNamespace));
        }
        if header.version.is_none_or(|version| version.major != Version::V1.major) {
            return Err(StreamError::new(StreamCondition::UnsupportedVersion));
        }
        if known.is_none() {
            return Err(StreamError::new(StreamCondition::HostUnknown));
        }
        // The domains of a stream do not change with TLS or SASL.
        let is_changed =
            |before: &Option<Box<str>>, now: &Option<Box<str>>| before.is_some() && before != now;
        if is_changed(&self.local, &to) || is_changed(&self.remote, &from) {
            return Err(StreamError::new(StreamCondition::InvalidFrom));
        }
        (self.local, self.remote) = (to, from);
        let remote = self.remote.as_deref().filter(|_| self.tls && !self.is_authenticated);
        let external = remote.is_some_and(|remote| world.proves(remote));
        let (tls, is_authenticated) = (self.tls, self.is_authenticated);
        Open::new(out, "stream:features").children(|out| {
            if !tls {
                return Open::new(out, "starttls").attr("xmlns", ns::TLS).children(|out| {
                    Open::new(out, "required").empty();
                });
            }
            if external {
                Open::new(out, "mechanisms").attr("xmlns", ns::SASL).children(|out| {
                    Open::new(out, "mechanism").text("EXTERNAL");
                });
            }
            if !is_authenticated {
                dialback::write_feature(out);
                bidi::write_feature(out);
            }
            stream_limits::write(out, most_bytes, None);
        });
        Ok(())
    }

    /// `is_last`: no input follows.
    pub(crate) fn element(
        &mut self,
        element: Element<'_>,
        is_last: bool,
        world: &impl World,
    ) -> Result<Vec<Act>, StreamError> {
        if let Some(error) = StreamError::from_element(element) {
            return Err(error);
        }
        if let Some(question) = Dialback::of(element).filter(|one| one.verdict.is_none()) {
            return self.dialback(&question, world);
        }
        match (element.ns(), element.name()) {
            (ns::TLS, "starttls") => {
                // Plain bytes behind the request could be injected by somebody on the path.
                if self.tls || !is_last {
                    return Err(StreamError::new(StreamCondition::NotAuthorized));
                }
                let proceed = send(|out| Open::new(out, "proceed").attr("xmlns", ns::TLS).empty());
                Ok(vec![proceed, Act::StartTls])
            }
            (ns::SASL, "auth") => self.external(element, world),
            // XEP-0288 §2: before the authentication.
            _ if bidi::is_request(element) && self.tls && self.proved.is_empty() => {
                self.bidi = true;
                Ok(Vec::new())
            }
            _ if StanzaKind::of(element).is_some() => Ok(vec![Act::Stanza(self.stanza(element)?)]),
            _ => Err(StreamError::new(StreamCondition::UnsupportedStanzaType)),
        }
    }

    /// XEP-0178 §3.
    fn external(&mut self, auth: Element<'_>, world: &impl World) -> Result<Vec<Act>, StreamError> {
        if !self.tls || self.is_authenticated {
            return Err(StreamError::new(StreamCondition::NotAuthorized));
        }
        let text = auth.text();
        let named = match text.trim() {
            "" | "=" => self.remote.clone(),
            encoded => {
                let name = STANDARD.decode(encoded).ok().and_then(|name| String::from_utf8(name).ok());
                name.and_then(|name| Jid::parse(&name).ok()).map(|jid| jid.domain().into())
            }
        };
        let (local, remote) = (self.local.clone(), self.remote.clone());
        let pair = match (auth.attr("mechanism"), named, local, remote) {
            (Some("EXTERNAL"), Some(named), Some(local), Some(remote)) if named == remote => {
                Some(Pair { local, remote })
            }
            _ => None,
        };
        match pair.filter(|pair| world.talks(pair) && world.proves(&pair.remote)) {
            Some(pair) => {
                self.proved.push(pair);
                (self.is_authenticated, self.is_open) = (true, false);
                let success = send(|out| Open::new(out, "success").attr("xmlns", ns::SASL).empty());
                Ok(vec![success, Act::Restart])
            }
            None => {
                self.failures += 1;
                if self.failures >= MOST_FAILURES {
                    return Err(StreamError::new(StreamCondition::PolicyViolation));
                }
                Ok(vec![send(|out| {
                    Open::new(out, "failure").attr("xmlns", ns::SASL).children(|out| {
                        Open::new(out, "not-authorized").empty();
                    });
                })])
            }
        }
    }

    fn dialback(&mut self, question: &Dialback<'_>, world: &impl World) -> Result<Vec<Act>, StreamError> {
        if !self.tls {
            return Err(StreamError::new(StreamCondition::PolicyViolation).text("TLS is required"));
        }
        let domain = |name: &str| {
            let jid = Jid::parse(name).ok()?;
            (jid.local().is_none() && jid.is_bare()).then(|| Box::<str>::from(jid.domain()))
        };
        let (Some(remote), Some(local)) = (domain(question.from), domain(question.to)) else {
            return Err(StreamError::new(StreamCondition::ImproperAddressing));
        };
        let pair = Pair { local, remote };
        match question.step {
            // XEP-0220 §2.2.2: the other server has a stream from somebody who claims to be this domain.
            Step::Verify => {
                let id = question.id.ok_or_else(|| StreamError::new(StreamCondition::BadFormat))?;
                let is_right = world.talks(&pair)
                    && dialback::is_key(&question.key, world.secret(), &pair.remote, &pair.local, id);
                let verdict = if is_right { Verdict::Valid } else { Verdict::Invalid };
                Ok(vec![answer(Step::Verify, &pair, Some(id), verdict)])
            }
            Step::Result if !world.talks(&pair) => {
                Ok(vec![answer(Step::Result, &pair, None, Verdict::Error)])
            }
            Step::Result if self.proved.contains(&pair) => {
                Ok(vec![answer(Step::Result, &pair, None, Verdict::Valid)])
            }
            Step::Result if self.proved.len() + self.checks.len() >= MOST_PAIRS => {
                Err(StreamError::new(StreamCondition::PolicyViolation).text("too many domains"))
            }
            // The certificate proves more than a key would.
            Step::Result if world.proves(&pair.remote) => {
                let valid = answer(Step::Result, &pair, None, Verdict::Valid);
                self.proved.push(pair);
                Ok(vec![valid])
            }
            Step::Result if self.checks.len() >= MOST_CHECKS || self.checks.contains(&pair) => {
                Err(StreamError::new(StreamCondition::PolicyViolation).text("too many keys at the same time"))
            }
            Step::Result => {
                self.checks.push(pair.clone());
                Ok(vec![Act::Check { pair, id: self.id.clone(), key: (&*question.key).into() }])
            }
        }
    }

    /// The other server's own server has answered. None: nothing was asked.
    pub(crate) fn checked(&mut self, pair: &Pair, verdict: Verdict) -> Option<Act> {
        let at = self.checks.iter().position(|asked| asked == pair)?;
        self.checks.swap_remove(at);
        if verdict == Verdict::Valid {
            self.proved.push(pair.clone());
        }
        Some(answer(Step::Result, pair, None, verdict))
    }

    /// RFC 6120 §4.7.2 and §8.1: both addresses, and both domains proved on this stream.
    fn stanza(&self, stanza: Element<'_>) -> Result<Pair, StreamError> {
        let address = |name: &str| stanza.attr(name).map(Jid::parse);
        let (Some(Ok(from)), Some(Ok(to))) = (address("from"), address("to")) else {
            return Err(StreamError::new(StreamCondition::ImproperAddressing));
        };
        let pair = Pair { local: to.domain().into(), remote: from.domain().into() };
        match self.proved.contains(&pair) {
            true => Ok(pair),
            false if self.proved.iter().any(|proved| proved.remote == pair.remote) => {
                Err(StreamError::new(StreamCondition::HostUnknown))
            }
            false if self.proved.is_empty() => Err(StreamError::new(StreamCondition::NotAuthorized)),
            false => Err(StreamError::new(StreamCondition::InvalidFrom)),
        }
    }
}

fn answer(step: Step, pair: &Pair, id: Option<&str>, verdict: Verdict) -> Act {
    let answer =
        Dialback { step, from: &pair.local, to: &pair.remote, id, verdict: Some(verdict), key: "".into() };
    send(|out| answer.write(out))
}

fn send(write: impl FnOnce(&mut Vec<u8>)) -> Act {
    let mut out = Vec::new();
    write(&mut out);
    Act::Send(out)
}

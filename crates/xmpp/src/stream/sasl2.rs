//! Extensible SASL (XEP-0388): an authentication that also binds a resource (XEP-0386) or resumes a stream (XEP-0198), in one round
//! trip. The stream goes on without a restart.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::presence::Announced;
use rand::Rng;
use xmpp_proto::jid::Jid;
use xmpp_proto::payload::bind2;
use xmpp_proto::payload::stream_management as management;
use xmpp_proto::sasl::{Authenticate, HtMechanism, Request2, SaslError, Success2};
use xmpp_proto::stanza::Condition;
use xmpp_proto::stream::StreamError;
use xmpp_proto::xml::Element;

use super::fast::Tokens;
use super::resume::Resumption;
use super::{Opening, Phase, Start, features};
use crate::Gateway;
use crate::extensions::{Extension, Spec};
use crate::transport::Io;

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(388),
    name: "Extensible SASL Profile",
    version: "1.0.3",
    scenario: "sasl2",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

pub(crate) const BIND2: Extension =
    Extension { spec: Spec::Xep(386), name: "Bind 2", version: "1.0.1", ..EXTENSION };

/// The name of a client in its resource.
const TAG_BYTES: usize = 64;

/// The requests that came with an authentication.
pub(super) struct Sasl2 {
    /// The id of the client, which is the same on all connections of a device.
    agent: Option<Box<str>>,
    bind: Option<Bind>,
    resume: Option<Resumption>,
    /// The stream that the client wanted to resume is gone.
    is_gone: bool,
    /// Of clients that name their device.
    pub(super) tokens: Option<Tokens>,
    /// The last message of the mechanism.
    answer: Option<Box<[u8]>>,
}

/// XEP-0386 §3.2.
pub(super) struct Bind {
    tag: Option<Box<str>>,
    /// Stream management, perhaps with resumption.
    pub(super) enable: Option<Enable>,
    pub(super) carbons: bool,
    pub(super) is_inactive: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Enable {
    pub(super) resume: bool,
}

impl Sasl2 {
    fn of(request: &Authenticate<'_>, io: &Io<'_>) -> Sasl2 {
        let resume = request.element.children().find_map(|child| match management::Request::of(child) {
            Some(Ok(management::Request::Resume { h, previd })) => {
                Some(Resumption { previd: previd.into(), h })
            }
            _ => None,
        });
        let bind = bind2::Request::of(request.element).map(|bind| Bind {
            tag: bind
                .tag
                .filter(|tag| !tag.is_empty() && tag.len() <= TAG_BYTES)
                .map(|tag| tag.into_owned().into()),
            enable: bind.stream_management.and_then(|enable| match enable {
                management::Request::Enable { resume, .. } => Some(Enable { resume }),
                _ => None,
            }),
            carbons: bind.carbons,
            is_inactive: bind.inactive,
        });
        let agent = request.user_agent.as_ref().and_then(|agent| agent.id);
        let tokens = agent.map(|agent| Tokens::of(request, agent, io));
        Sasl2 { agent: agent.map(Into::into), bind, resume, is_gone: false, tokens, answer: None }
    }

    pub(super) fn take_bind(&mut self) -> Option<Bind> {
        self.bind.take()
    }

    /// The resource of the device: the same one on its next connection, which so replaces this one.
    fn resource(&self, domain: &str, random: [u8; 9]) -> String {
        let own = match &self.agent {
            Some(agent) => {
                let digest =
                    ring::digest::digest(&ring::digest::SHA256, format!("{domain}\0{agent}").as_bytes());
                URL_SAFE_NO_PAD.encode(&digest.as_ref()[..9])
            }
            None => URL_SAFE_NO_PAD.encode(random),
        };
        let tag = self.bind.as_ref().and_then(|bind| bind.tag.as_deref());
        let with_tag = tag.map(|tag| format!("{tag}~{own}"));
        // A tag that a resource cannot have is left out.
        with_tag
            .and_then(|resource| Some(Jid::of(None, domain, Some(&resource)).ok()?.resource()?.to_owned()))
            .unwrap_or(own)
    }
}

impl Gateway {
    /// An element of an authentication.
    pub(super) fn sasl2(
        &mut self,
        opening: &mut Opening,
        element: Element<'_>,
        io: &mut Io<'_>,
    ) -> Result<(), StreamError> {
        self.check_sasl(opening, io)?;
        let outcome = match Request2::of(element) {
            Some(Ok(Request2::Authenticate(request))) => {
                opening.sasl2 = Some(Box::new(Sasl2::of(&request, io)));
                match HtMechanism::of(request.mechanism) {
                    Some(mechanism) => self.begin_fast(opening, mechanism, request.initial, io),
                    None => self.begin_sasl(opening, request.mechanism, request.initial, io),
                }
            }
            Some(Ok(Request2::Response(_))) if opening.sasl2.is_none() => Err(SaslError::MalformedRequest),
            Some(Ok(Request2::Response(message))) => self.respond(opening, &message, io),
            Some(Ok(Request2::Abort)) => {
                opening.phase = Phase::Authenticating;
                Err(SaslError::Aborted)
            }
            Some(Err(error)) => Err(error),
            None => Err(SaslError::MalformedRequest),
        };
        outcome.or_else(|error| self.sasl_failed(opening, error, io))
    }

    /// The client is authenticated. `answer`: the last message of the mechanism.
    pub(super) fn authenticated2(&mut self, opening: &mut Opening, answer: Option<&[u8]>, io: &mut Io<'_>) {
        if let Some(sasl2) = &mut opening.sasl2 {
            sasl2.answer = answer.map(Into::into);
        }
        if !self.asks_for_token(opening, io) {
            self.continue_authenticated2(opening, io);
        }
    }

    pub(super) fn continue_authenticated2(&mut self, opening: &mut Opening, io: &mut Io<'_>) {
        let Some(sasl2) = &mut opening.sasl2 else { return };
        match sasl2.resume.take() {
            Some(resumption) => self.find_stream(opening, resumption, io),
            None => self.bind_or_succeed(opening, io),
        }
    }

    /// XEP-0198 §9.2: the client may bind a resource in the same request.
    pub(super) fn stream_is_gone(&mut self, opening: &mut Opening, io: &mut Io<'_>) {
        if let Some(sasl2) = &mut opening.sasl2 {
            sasl2.is_gone = true;
            return self.bind_or_succeed(opening, io);
        }
        self.send(io, |out| management::write_failed(out, Condition::ItemNotFound, None));
    }

    fn bind_or_succeed(&mut self, opening: &mut Opening, io: &mut Io<'_>) {
        let random = self.rng.random();
        let (domain, Some(sasl2)) = (opening.domain(), &opening.sasl2) else { return };
        if sasl2.bind.is_some() {
            let resource = sasl2.resource(domain, random).into();
            let announced = Announced { resource, availability: None };
            return self.sign_in(opening, announced, None, Start::Bind2, io);
        }
        let identifier = match &opening.phase {
            Phase::Authenticated(identity) => {
                identity.user.as_ref().map(|user| crate::address::user(user, domain))
            }
            _ => None,
        };
        let identifier = identifier.unwrap_or_else(|| domain.to_owned());
        if let Some(sasl2) = opening.sasl2.take() {
            self.succeed2(&sasl2, &identifier, |_| {}, io);
            self.send_features(&features::AFTER_SASL, io);
        }
    }

    /// XEP-0388 §2.6.1. `inline` writes the answers to the other requests.
    pub(super) fn succeed2(
        &mut self,
        sasl2: &Sasl2,
        identifier: &str,
        inline: impl FnOnce(&mut Vec<u8>),
        io: &mut Io<'_>,
    ) {
        let success = Success2 { data: sasl2.answer.as_deref(), identifier };
        self.send(io, |out| {
            success.write(out, |out| {
                if sasl2.is_gone {
                    management::write_failed(out, Condition::ItemNotFound, None);
                }
                if let Some(tokens) = &sasl2.tokens {
                    tokens.write(out);
                }
                inline(out);
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_keeps_its_resource_and_shares_it_with_no_other() {
        let sasl2 = |agent: Option<&str>, tag: Option<&str>| Sasl2 {
            agent: agent.map(Into::into),
            bind: Some(Bind { tag: tag.map(Into::into), enable: None, carbons: false, is_inactive: false }),
            resume: None,
            is_gone: false,
            tokens: None,
            answer: None,
        };
        let resource = |agent, tag, random| sasl2(agent, tag).resource("forum", [random; 9]);
        let one = resource(Some("1"), Some("Dino"), 0);
        assert!(one.starts_with("Dino~"));
        assert_eq!(one, resource(Some("1"), Some("Dino"), 7));
        assert_ne!(one, resource(Some("2"), Some("Dino"), 0));
        assert_ne!(resource(None, None, 1), resource(None, None, 2));
        assert_eq!(resource(Some("1"), Some("a\u{0}b"), 0), resource(Some("1"), None, 0));
    }
}

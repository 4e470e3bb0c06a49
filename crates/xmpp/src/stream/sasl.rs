//! Authentication (RFC 6120 §6): app passwords by SCRAM or PLAIN, a site's token as a password, guests by ANONYMOUS.
//!
//! An unknown user, a user without passwords and a wrong password get the same answer after the same work, so an answer does
//! not reveal who has an account.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chat::{AppCredentials, AppToken, AppTokens, Credential, Refusal, Sub};
use rand::Rng;
use xmpp_proto::sasl::{
    self, Mechanism, Plain, Request, SaslError, ScramChallenge, ScramClientFirst, ScramCredentials,
    ScramHash, ScramKeys, ScramServer,
};
use xmpp_proto::stream::{StreamCondition, StreamError};
use xmpp_proto::xml::Element;

use super::fast::Proving;
use super::features::{bindings, downgrade_hash, mechanisms, offers_sasl};
use super::{Opening, Phase};
use crate::Gateway;
use crate::address::{self, Site};
use crate::config::timestamp;
use crate::gateway::{Mail, State};
use crate::transport::Io;

/// A client may try so often on one stream (RFC 6120 §6.4.5 recommends 2 to 5).
const ATTEMPTS: u8 = 3;

/// A user who has proved who they are.
pub(super) struct Identity {
    /// None: a guest, who gets an id with the sign-in.
    pub(super) user: Option<Sub>,
    pub(super) credential: Credential<'static>,
}

/// An authentication in progress.
pub(super) enum Exchange {
    /// The mechanism waits for the client's first message (RFC 6120 §6.4.3).
    First(Mechanism),
    /// The store looks for the user's credentials.
    Plain {
        user: Sub,
        password: Vec<u8>,
    },
    /// The domain checks a token of the site, which is the password.
    SiteToken {
        user: Sub,
        token: Box<str>,
    },
    Scram {
        user: Sub,
        mechanism: Mechanism,
        first: ScramClientFirst,
    },
    /// Waits for the client's proof.
    Proof {
        user: Sub,
        server: ScramServer,
        numbers: Vec<u32>,
    },
    /// The store looks for the token that the client proves (XEP-0484).
    Token(Proving),
    /// The client is authenticated, and the store keeps its next token.
    Renewing(Identity),
}

/// An answer of the store to an authentication.
pub struct Checked(pub(super) Found);

pub(super) enum Found {
    Credentials(Result<AppCredentials, Refusal>),
    /// The user of a token of the site.
    TokenUser(Result<Sub, Refusal>),
    /// Those of the client's device.
    Tokens(Result<Option<AppTokens>, Refusal>),
    /// A new token for the client, if it gets one.
    Renewed(Option<AppToken>),
}

impl Opening {
    /// Whether the store is asked; the gateway reads nothing until it answers.
    pub(super) fn is_checking(&self) -> bool {
        matches!(&self.phase, Phase::Sasl(exchange) if matches!(
            **exchange,
            Exchange::Plain { .. }
                | Exchange::SiteToken { .. }
                | Exchange::Scram { .. }
                | Exchange::Token(_)
                | Exchange::Renewing(_)
        ))
    }
}

impl Gateway {
    pub(super) fn sasl(
        &mut self,
        opening: &mut Opening,
        element: Element<'_>,
        io: &mut Io<'_>,
    ) -> Result<(), StreamError> {
        self.check_sasl(opening, io)?;
        let outcome = match Request::of(element) {
            // The authentication in progress is one of XEP-0388.
            Some(Ok(Request::Response(_) | Request::Abort)) if opening.sasl2.is_some() => {
                Err(SaslError::MalformedRequest)
            }
            Some(Ok(Request::Auth { mechanism, initial })) => {
                opening.sasl2 = None;
                self.begin_sasl(opening, mechanism, initial, io)
            }
            Some(Ok(Request::Response(message))) => self.respond(opening, &message, io),
            Some(Ok(Request::Abort)) => {
                opening.phase = Phase::Authenticating;
                Err(SaslError::Aborted)
            }
            Some(Err(error)) => Err(error),
            None => return Err(StreamError::new(StreamCondition::NotAuthorized)),
        };
        match outcome {
            Ok(()) => Ok(()),
            Err(error) => self.sasl_failed(opening, error, io),
        }
    }

    /// Without TLS, a listener may offer no authentication.
    pub(super) fn check_sasl(&mut self, opening: &Opening, io: &mut Io<'_>) -> Result<(), StreamError> {
        let role = self.shared.config.role(opening.listener);
        if offers_sasl(opening.is_secure, &role) {
            return Ok(());
        }
        self.send(io, |out| SaslError::EncryptionRequired.write(None, out));
        Err(StreamError::new(StreamCondition::PolicyViolation))
    }

    pub(super) fn begin_sasl(
        &mut self,
        opening: &mut Opening,
        mechanism: &str,
        initial: Option<Vec<u8>>,
        io: &mut Io<'_>,
    ) -> Result<(), SaslError> {
        let offered = Mechanism::of(mechanism).filter(|mechanism| mechanisms(io).contains(mechanism));
        let mechanism = offered.ok_or(SaslError::InvalidMechanism)?;
        match (&opening.phase, initial) {
            (Phase::Authenticating, Some(message)) => self.first(opening, mechanism, &message, io),
            (Phase::Authenticating, None) if mechanism == Mechanism::Anonymous => {
                self.first(opening, mechanism, b"", io)
            }
            (Phase::Authenticating, None) => {
                self.send_challenge(opening, b"", io);
                opening.phase = Phase::sasl(Exchange::First(mechanism));
                Ok(())
            }
            _ => Err(SaslError::NotAuthorized),
        }
    }

    pub(super) fn respond(
        &mut self,
        opening: &mut Opening,
        message: &[u8],
        io: &mut Io<'_>,
    ) -> Result<(), SaslError> {
        let exchange = match std::mem::replace(&mut opening.phase, Phase::Authenticating) {
            Phase::Sasl(exchange) => *exchange,
            other => {
                opening.phase = other;
                return Err(SaslError::NotAuthorized);
            }
        };
        match exchange {
            Exchange::First(mechanism) => self.first(opening, mechanism, message, io),
            Exchange::Proof { user, server, numbers } => {
                let (number, answer) = match server.verify(message) {
                    Ok(proof) => (numbers.get(proof.key).copied(), Some(proof.server_final)),
                    Err(SaslError::NotAuthorized) => (None, None),
                    Err(error) => return Err(error),
                };
                self.proven(opening, user, number, answer.as_deref(), io)
            }
            other => {
                opening.phase = Phase::sasl(other);
                Err(SaslError::NotAuthorized)
            }
        }
    }

    fn send_challenge(&mut self, opening: &Opening, data: &[u8], io: &mut Io<'_>) {
        self.send(io, |out| match opening.sasl2 {
            Some(_) => sasl::write_challenge2(out, data),
            None => sasl::write_challenge(out, data),
        });
    }

    /// The client's first message of a mechanism.
    fn first(
        &mut self,
        opening: &mut Opening,
        mechanism: Mechanism,
        message: &[u8],
        io: &mut Io<'_>,
    ) -> Result<(), SaslError> {
        let site = opening.site.clone().ok_or(SaslError::NotAuthorized)?;
        match mechanism {
            // Some clients fall back to ANONYMOUS by themselves. A wrong password would make a guest of a member.
            Mechanism::Anonymous if opening.failures > 0 => Err(SaslError::NotAuthorized),
            Mechanism::Anonymous => {
                self.authenticated(opening, None, Credential::Guest, None, io);
                Ok(())
            }
            Mechanism::Plain => self.plain(opening, &site, message, io),
            _ => {
                let first = ScramClientFirst::parse(message)?;
                let user = user_of(&site, &first.username, first.authzid.as_deref())?;
                self.look_up(opening, &site, &user, io);
                opening.phase = Phase::sasl(Exchange::Scram { user, mechanism, first });
                Ok(())
            }
        }
    }

    /// RFC 4616. The password is an app password, or a token of the site.
    fn plain(
        &mut self,
        opening: &mut Opening,
        site: &Site,
        message: &[u8],
        io: &mut Io<'_>,
    ) -> Result<(), SaslError> {
        let plain = Plain::parse(message)?;
        let user = user_of(site, &plain.username, plain.authzid)?;
        if let Some(token) = as_token(&plain.password) {
            let (to, mailboxes) = (io.handle(), self.shared.mailboxes.clone());
            self.shared.node.token_user(&site.key, token, timestamp(io.now()), move |outcome| {
                mailboxes
                    .send(to.worker(), Mail::Checked { to, checked: Checked(Found::TokenUser(outcome)) });
            });
            opening.phase = Phase::sasl(Exchange::SiteToken { user, token: token.into() });
            return Ok(());
        }
        self.look_up(opening, site, &user, io);
        opening.phase = Phase::sasl(Exchange::Plain { user, password: plain.password.as_bytes().to_vec() });
        Ok(())
    }

    /// Asks for the credentials of a user, unless somebody guesses.
    fn look_up(&mut self, opening: &Opening, site: &Site, user: &Sub, io: &Io<'_>) {
        let (to, mailboxes) = (io.handle(), self.shared.mailboxes.clone());
        let (address, now) = (opening.address(io), timestamp(io.now()));
        self.shared.node.app_credentials(site.id, user.clone(), address, now, move |outcome| {
            mailboxes.send(to.worker(), Mail::Checked { to, checked: Checked(Found::Credentials(outcome)) });
        });
    }

    /// The store has answered.
    pub(crate) fn checked(&mut self, state: &mut State, Checked(found): Checked, io: &mut Io<'_>) {
        let State::Opening(opening) = state else { return };
        let exchange = match std::mem::replace(&mut opening.phase, Phase::Authenticating) {
            Phase::Sasl(exchange) => Some(*exchange),
            _ => None,
        };
        let outcome = match (exchange, found) {
            (Some(Exchange::Plain { user, password }), Found::Credentials(found)) => {
                let number = found.map_err(failure).map(|found| found.verify_plain(&password));
                number.and_then(|number| self.proven(opening, user, number, None, io))
            }
            (Some(Exchange::Scram { user, mechanism, first }), Found::Credentials(found)) => found
                .map_err(failure)
                .and_then(|found| self.challenge(opening, user, mechanism, &first, &found, io)),
            (Some(Exchange::SiteToken { user, token }), Found::TokenUser(found)) => {
                self.site_token_checked(opening, user, token, found, io)
            }
            (Some(Exchange::Token(proving)), Found::Tokens(found)) => {
                self.check_token(opening, proving, found, io)
            }
            (Some(Exchange::Renewing(identity)), Found::Renewed(given)) => {
                self.token_renewed(opening, identity, given, io);
                Ok(())
            }
            _ => Err(SaslError::NotAuthorized),
        };
        if let Err(error) = outcome
            && let Err(error) = self.sasl_failed(opening, error, io)
        {
            return self.end_stream(state, &error, io);
        }
        io.read_on();
    }

    fn site_token_checked(
        &mut self,
        opening: &mut Opening,
        user: Sub,
        token: Box<str>,
        of_token: Result<Sub, Refusal>,
        io: &mut Io<'_>,
    ) -> Result<(), SaslError> {
        if of_token.map_err(failure)? != user {
            return Err(SaslError::NotAuthorized);
        }
        self.authenticated(opening, Some(user), Credential::Token(token.into_string().into()), None, io);
        Ok(())
    }

    fn challenge(
        &mut self,
        opening: &mut Opening,
        user: Sub,
        mechanism: Mechanism,
        first: &ScramClientFirst,
        found: &AppCredentials,
        io: &mut Io<'_>,
    ) -> Result<(), SaslError> {
        let hash = mechanism.scram_hash().ok_or(SaslError::InvalidMechanism)?;
        let keys = found.keys.iter().filter_map(|one| match hash {
            ScramHash::Sha1 => ScramKeys::of(hash, &one.scram.sha1.stored, &one.scram.sha1.server),
            ScramHash::Sha256 => ScramKeys::of(hash, &one.scram.sha256.stored, &one.scram.sha256.server),
        });
        let mut keys: Vec<ScramKeys> = keys.collect();
        if keys.is_empty() {
            // The work is the same for a user without passwords. No number belongs to this key.
            let random: [u8; 32] = self.rng.random();
            keys.extend(ScramKeys::of(hash, &random[..hash.bytes()], &random[..hash.bytes()]));
        }
        let nonce = STANDARD.encode(self.rng.random::<[u8; 18]>());
        let credentials = ScramCredentials { keys: &keys, salt: &found.salt, iterations: found.iterations };
        let offered = bindings(io);
        let offers = downgrade_hash(hash, io);
        let challenge = ScramChallenge { nonce: &nonce, offered: &offered, downgrade_hash: Some(&offers) };
        let server = ScramServer::new(mechanism, first, &credentials, &challenge)?;
        self.send_challenge(opening, server.server_first().as_bytes(), io);
        let numbers = found.keys.iter().map(|one| one.number).collect();
        opening.phase = Phase::sasl(Exchange::Proof { user, server, numbers });
        Ok(())
    }

    /// `number`: of the app password that the client has proved to know.
    fn proven(
        &mut self,
        opening: &mut Opening,
        user: Sub,
        number: Option<u32>,
        answer: Option<&str>,
        io: &mut Io<'_>,
    ) -> Result<(), SaslError> {
        let site = opening.site.as_ref().ok_or(SaslError::NotAuthorized)?.id;
        let Some(number) = number else {
            let address = opening.address(io);
            self.shared.node.password_failed(site, &user, address, timestamp(io.now()));
            return Err(SaslError::NotAuthorized);
        };
        let credential = Credential::AppPassword { sub: user.clone(), number };
        self.authenticated(opening, Some(user), credential, answer.map(str::as_bytes), io);
        Ok(())
    }

    pub(super) fn authenticated(
        &mut self,
        opening: &mut Opening,
        user: Option<Sub>,
        credential: Credential<'static>,
        answer: Option<&[u8]>,
        io: &mut Io<'_>,
    ) {
        io.drop_channel_bindings();
        opening.phase = Phase::Authenticated(Identity { user, credential });
        if opening.sasl2.is_some() {
            return self.authenticated2(opening, answer, io);
        }
        self.send(io, |out| sasl::write_success(out, answer));
        opening.restart();
    }

    /// After several failures the stream ends (RFC 6120 §6.4.5).
    pub(super) fn sasl_failed(
        &mut self,
        opening: &mut Opening,
        error: SaslError,
        io: &mut Io<'_>,
    ) -> Result<(), StreamError> {
        self.shared.counters.authentication_failures.add(1);
        opening.phase = Phase::Authenticating;
        match opening.sasl2.take() {
            Some(_) => self.send(io, |out| sasl::write_failure2(out, error, None)),
            None => self.send(io, |out| error.write(None, out)),
        }
        opening.failures += 1;
        match opening.failures >= ATTEMPTS {
            true => Err(StreamError::new(StreamCondition::PolicyViolation)),
            false => Ok(()),
        }
    }
}

/// The user of a name in an authentication: the local part of an address, or the site's own id.
pub(super) fn user_of(site: &Site, name: &str, authorized_as: Option<&str>) -> Result<Sub, SaslError> {
    let local = name.strip_suffix(&*site.domain).and_then(|name| name.strip_suffix('@')).unwrap_or(name);
    let user = Sub::of_address_local(local).or_else(|| Sub::parse(local)).ok_or(SaslError::NotAuthorized)?;
    match authorized_as {
        Some(other) if !other.is_empty() && other != address::user(&user, &site.domain) => {
            Err(SaslError::InvalidAuthzid)
        }
        _ => Ok(user),
    }
}

/// A signed token has three parts, and its header begins with `{"`. No app password does.
fn as_token(password: &str) -> Option<&str> {
    (password.starts_with("eyJ") && password.matches('.').count() == 2).then_some(password)
}

/// What a client learns of a refusal before it is signed in.
pub(super) fn failure(refusal: Refusal) -> SaslError {
    match refusal {
        Refusal::Banned | Refusal::DeviceBanned | Refusal::Removed => SaslError::AccountDisabled,
        Refusal::TokenExpired | Refusal::KeyEnded | Refusal::TokenUsed | Refusal::SignedOut => {
            SaslError::CredentialsExpired
        }
        Refusal::RateLimited { .. }
        | Refusal::Full
        | Refusal::Unavailable
        | Refusal::Overloaded { .. }
        | Refusal::GoingAway { .. }
        | Refusal::SiteClosed => SaslError::TemporaryAuthFailure,
        _ => SaslError::NotAuthorized,
    }
}

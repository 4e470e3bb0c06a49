//! Fast authentication streamlining tokens (XEP-0484), from the app tokens of the domain.
//!
//! A client that signs in with an app password asks for a token with the same request, and the success contains it. The next time
//! it proves the token, so one request signs it in. Early data of TLS (0-RTT) is not accepted, so `count` needs no check.

use chat::{
    AppDevice, AppDeviceOf, AppToken, AppTokenFor, AppTokenSecret, AppTokens, Credential, Refusal, Sub,
};
use xmpp_proto::payload::date_time::DateTime;
use xmpp_proto::payload::fast::{Fast, Token, requested_token};
use xmpp_proto::sasl::{Authenticate, HtMechanism, HtMessage, SaslError};

use super::features::bindings;
use super::sasl::{Checked, Exchange, Found, Identity, failure, user_of};
use super::{Opening, Phase};
use crate::Gateway;
use crate::config::timestamp;
use crate::extensions::{Extension, Spec};
use crate::gateway::Mail;
use crate::transport::Io;

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(484),
    name: "Fast Authentication Streamlining Tokens",
    version: "0.2.0",
    scenario: "fast",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// The part of tokens in an authentication.
pub(super) struct Tokens {
    device: AppDevice,
    /// The client asks for a token that this mechanism proves.
    wanted: Option<HtMechanism>,
    /// The client has authenticated with one of these tokens.
    used: Option<(AppTokens, AppTokenSecret)>,
    /// And wants none of them to be valid any more.
    invalidate: bool,
    given: Option<AppToken>,
}

impl Tokens {
    /// `device`: the id of the client.
    pub(super) fn of(request: &Authenticate<'_>, device: &str, io: &Io<'_>) -> Tokens {
        let wanted = requested_token(request.element).and_then(HtMechanism::of);
        Tokens {
            device: AppDevice::of(device),
            wanted: wanted.filter(|wanted| mechanisms(io).contains(wanted)),
            used: None,
            invalidate: Fast::of(request.element).is_some_and(|fast| fast.invalidate),
            given: None,
        }
    }

    /// §3.3: writes the new token, if there is one.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if let Some(given) = &self.given {
            Token { token: &given.secret.text(), expiry: DateTime(given.expires.0) }.write(out);
        }
    }

    /// Whether the store must be asked before the client is told of its success.
    fn change(&self, number: u32) -> Option<AppTokenFor> {
        match (&self.used, self.wanted) {
            (Some(_), _) if self.invalidate => Some(AppTokenFor::End),
            (Some((tokens, used)), _) => {
                Some(AppTokenFor::Token { tokens: tokens.clone(), used: used.clone() })
            }
            (None, Some(wanted)) => Some(AppTokenFor::Password { number, mechanism: wanted.name().into() }),
            (None, None) => None,
        }
    }
}

/// A token that a client proves, while the store looks for it.
pub(super) struct Proving {
    user: Sub,
    mechanism: HtMechanism,
    message: Vec<u8>,
}

/// The mechanisms that work on this connection.
pub(super) fn mechanisms(io: &Io<'_>) -> Vec<HtMechanism> {
    let bindings = bindings(io);
    let works = |mechanism: &HtMechanism| {
        mechanism.binding().is_none_or(|kind| bindings.iter().any(|binding| binding.kind == kind))
    };
    HtMechanism::ALL.into_iter().filter(works).collect()
}

impl Gateway {
    /// §3.4: a client authenticates with a token. It names its device, to which the token belongs.
    pub(super) fn begin_fast(
        &mut self,
        opening: &mut Opening,
        mechanism: HtMechanism,
        message: Option<Vec<u8>>,
        io: &Io<'_>,
    ) -> Result<(), SaslError> {
        if !matches!(opening.phase, Phase::Authenticating) {
            return Err(SaslError::NotAuthorized);
        }
        if !mechanisms(io).contains(&mechanism) {
            return Err(SaslError::InvalidMechanism);
        }
        let site = opening.site.as_ref().ok_or(SaslError::NotAuthorized)?;
        let tokens = opening.sasl2.as_ref().and_then(|sasl2| sasl2.tokens.as_ref());
        let device = tokens.ok_or(SaslError::NotAuthorized)?.device;
        let message = message.ok_or(SaslError::MalformedRequest)?;
        let user = user_of(site, HtMessage::parse(&message)?.username, None)?;
        let of = AppDeviceOf { site: site.id, sub: user.clone(), device };
        let (to, mailboxes) = (io.handle(), self.shared.mailboxes.clone());
        self.shared.node.app_tokens(of, move |outcome| {
            mailboxes.send(to.worker(), Mail::Checked { to, checked: Checked(Found::Tokens(outcome)) });
        });
        opening.phase = Phase::sasl(Exchange::Token(Proving { user, mechanism, message }));
        Ok(())
    }

    /// The store has answered. A wrong proof is no guess that needs a limit: a token has 256 random bits.
    pub(super) fn check_token(
        &mut self,
        opening: &mut Opening,
        proving: Proving,
        found: Result<Option<AppTokens>, Refusal>,
        io: &mut Io<'_>,
    ) -> Result<(), SaslError> {
        let Proving { user, mechanism, message } = proving;
        let tokens = found.map_err(failure)?.ok_or(SaslError::NotAuthorized)?;
        // §3.2: a token is for one mechanism, so nobody can leave out its channel binding.
        let is_for = *tokens.mechanism == *mechanism.name();
        let proven = prove(&tokens, mechanism, &message, io).filter(|_| is_for);
        let (secret, proof) = proven.ok_or(SaslError::NotAuthorized)?;
        if !tokens.valid(timestamp(io.now())).any(|valid| valid.secret == secret) {
            return Err(SaslError::CredentialsExpired);
        }
        let credential = Credential::AppPassword { sub: user.clone(), number: tokens.number };
        if let Some(of_client) = opening.sasl2.as_mut().and_then(|sasl2| sasl2.tokens.as_mut()) {
            of_client.used = Some((tokens, secret));
        }
        self.authenticated(opening, Some(user), credential, Some(&proof), io);
        Ok(())
    }

    /// True: the store is asked for a token, and [`Gateway::checked`] continues.
    pub(super) fn asks_for_token(&mut self, opening: &mut Opening, io: &Io<'_>) -> bool {
        let Some(tokens) = opening.sasl2.as_ref().and_then(|sasl2| sasl2.tokens.as_ref()) else {
            return false;
        };
        let (Phase::Authenticated(identity), Some(site)) = (&opening.phase, &opening.site) else {
            return false;
        };
        // Guests have no account, and a token of the site has its own time.
        let Credential::AppPassword { sub, number } = &identity.credential else { return false };
        let Some(change) = tokens.change(*number) else { return false };
        let of = AppDeviceOf { site: site.id, sub: sub.clone(), device: tokens.device };
        let (to, mailboxes) = (io.handle(), self.shared.mailboxes.clone());
        if let Phase::Authenticated(identity) = std::mem::replace(&mut opening.phase, Phase::Authenticating) {
            opening.phase = Phase::sasl(Exchange::Renewing(identity));
        }
        self.shared.node.renew_app_token(of, change, timestamp(io.now()), move |given| {
            mailboxes.send(to.worker(), Mail::Checked { to, checked: Checked(Found::Renewed(given)) });
        });
        true
    }

    /// The store has answered, perhaps with a token for the client.
    pub(super) fn token_renewed(
        &mut self,
        opening: &mut Opening,
        identity: Identity,
        given: Option<AppToken>,
        io: &mut Io<'_>,
    ) {
        opening.phase = Phase::Authenticated(identity);
        if let Some(tokens) = opening.sasl2.as_mut().and_then(|sasl2| sasl2.tokens.as_mut()) {
            tokens.given = given;
        }
        self.continue_authenticated2(opening, io);
    }
}

/// The token that the message proves, and the server's own proof.
fn prove(
    tokens: &AppTokens,
    mechanism: HtMechanism,
    message: &[u8],
    io: &Io<'_>,
) -> Option<(AppTokenSecret, Vec<u8>)> {
    let bindings = bindings(io);
    let data = match mechanism.binding() {
        Some(kind) => bindings.iter().find(|binding| binding.kind == kind)?.data,
        None => &[],
    };
    let message = HtMessage::parse(message).ok()?;
    tokens.next.iter().chain([&tokens.current]).find_map(|token| {
        let proof = message.verify(token.secret.text().as_bytes(), data)?;
        Some((token.secret.clone(), proof))
    })
}

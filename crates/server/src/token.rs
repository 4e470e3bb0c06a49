//! Tokens as a site's own server signs them; `docs/embed.md` shows the same in other languages.

use chat::{Secret, SecretKind, Site, Timestamp};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde::Serialize;

use crate::cli::TokenArgs;
use crate::config::Loaded;
use crate::data_dir;
use crate::span::Span;
use crate::trouble::{Outcome, Trouble};

/// What a token says of a user.
#[derive(Debug, Serialize)]
pub(crate) struct Claims<'a> {
    /// The site's own id of the user.
    pub sub: &'a str,
    pub name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avatar: Option<&'a str>,
    /// Seconds since the Unix epoch (RFC 7519 §4.1.4, §4.1.6).
    pub exp: u64,
    pub iat: u64,
}

/// `kith token`: prints a token and nothing else, so that a script can take it as it is.
pub(crate) fn print(args: &TokenArgs, loaded: &Loaded) -> Outcome {
    if chat::Sub::parse(&args.user).is_none() {
        return Err(Trouble::new("this is no user id")
            .because("an id has 1 to 128 bytes and no control characters")
            .remedy("give another one with --user"));
    }
    let store = data_dir::open_existing(loaded, None)?;
    let site = data_dir::site(&*store, &args.site)?;
    let now = crate::now();
    let issued = now.0 / 1_000;
    let claims = Claims {
        sub: &args.user,
        name: args.name.as_deref().unwrap_or(&args.user),
        avatar: None,
        exp: issued + args.ttl.as_millis().div_ceil(1_000),
        iat: issued,
    };
    let secret = signing_secret(&site, now).ok_or_else(|| {
        Trouble::new(format!("cannot sign for the site {}", args.site))
            .because("it has no valid HS256 secret; with public keys, only the site itself can sign")
            .remedy(format!("make one with `kith site rotate-secret {}`", args.site))
    })?;
    crate::print_line(&sign(&claims, secret)?)
}

/// The newest secret with which this machine can sign.
pub(crate) fn signing_secret(site: &Site, now: Timestamp) -> Option<&[u8]> {
    let usable = |secret: &&Secret| {
        secret.kind == SecretKind::Hs256 && secret.expires.is_none_or(|expires| expires > now)
    };
    site.secrets.iter().find(usable).map(|secret| secret.bytes.as_slice())
}

/// A JWT (RFC 7519), HS256.
pub(crate) fn sign(claims: &Claims<'_>, secret: &[u8]) -> Outcome<String> {
    jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &EncodingKey::from_secret(secret))
        .map_err(|error| Trouble::new("cannot sign the token").because(error))
}

/// How long a token of the demo is valid: short, because the widget fetches the next one in time.
pub(crate) const DEMO_TTL: Span = Span::seconds(600);

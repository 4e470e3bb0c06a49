//! Signs tokens like a site's own server; `docs/embed.md` shows the same in other languages.

use chat::token::Claims;
use chat::{Site, Timestamp};

use crate::cli::TokenArgs;
use crate::config::Loaded;
use crate::data_dir;
use crate::span::Span;
use crate::trouble::{Outcome, Trouble};

/// `kith token`: prints only a token, for scripts.
pub(crate) fn print(args: &TokenArgs, loaded: &Loaded) -> Outcome {
    if chat::Sub::parse(&args.user).is_none() {
        return Err(Trouble::new("this is not a user id")
            .because("an id has 1 to 128 bytes and no control characters")
            .remedy("give another one with --user"));
    }
    let (_, site) = data_dir::open_site(loaded, None, &args.site)?;
    let claims = Claims {
        sub: args.user.clone(),
        name: Some(args.name.clone().unwrap_or_else(|| args.user.clone())),
        role: args.role.clone(),
        ..Claims::default()
    };
    let token = sign(&site, claims, args.ttl, crate::now()).ok_or_else(|| {
        Trouble::new(format!("cannot sign for the site {}", args.site))
            .because("it has no valid HS256 secret; with public keys, only the site itself can sign")
            .remedy(format!("create one with `kith site rotate-secret {}`", args.site))
    })?;
    crate::print_line(&token)
}

/// A JWT with this lifetime, signed with the newest secret of the site.
pub(crate) fn sign(site: &Site, claims: Claims, ttl: Span, now: Timestamp) -> Option<String> {
    let issued = now.0 / 1_000;
    let expires = issued + ttl.as_millis().div_ceil(1_000);
    let claims = Claims { iat: Some(issued as f64), exp: expires as f64, ..claims };
    site.secrets
        .iter()
        .filter(|secret| secret.expires.is_none_or(|expires| expires > now))
        .find_map(|secret| chat::token::sign(&claims, secret))
}

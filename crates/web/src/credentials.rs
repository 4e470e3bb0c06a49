//! The token of a request to REST, and the address that shows it.

use std::convert::Infallible;
use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;

use crate::request_limit;

/// Taken from a request as an argument of its handler. It has no `Debug`: a token stands in no log.
pub(crate) struct Credentials {
    pub(crate) token: Option<Box<str>>,
    pub(crate) address: Option<IpAddr>,
}

impl<S: Sync> FromRequestParts<S> for Credentials {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Credentials, Infallible> {
        let address = request_limit::address(&parts.extensions);
        Ok(Credentials { token: bearer(&parts.headers).map(Box::from), address })
    }
}

/// The token of `Authorization: Bearer`; the scheme in any case (RFC 9110 §11.1).
pub(crate) fn bearer(fields: &HeaderMap) -> Option<&str> {
    let (scheme, token) = fields.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

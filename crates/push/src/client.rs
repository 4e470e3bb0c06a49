//! Sends a message to a push service, and reads only the status and `Retry-After` of its answer.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reach::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, InvalidHeaderValue, RETRY_AFTER,
};
use reach::{Bytes, Full, HeadBounds, HttpClient, HttpError, Origin, Unreached};
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;

use crate::{Endpoint, Reach};

/// The time for a whole request: lookup, connection, request and response.
const TIME: Duration = Duration::from_secs(15);
const HEAD: HeadBounds = HeadBounds { bytes: 8 * 1024, fields: 64 };
const TTL: HeaderName = HeaderName::from_static("ttl");
const URGENCY: HeaderName = HeaderName::from_static("urgency");
const TOPIC: HeaderName = HeaderName::from_static("topic");

/// Calls push services. Cheap to clone. Each message uses a new connection; TLS sessions are resumed if the service
/// allows it.
#[derive(Clone)]
pub struct Client {
    http: HttpClient,
    time: Duration,
}

/// A sealed message and its destination.
pub struct Request<'a> {
    pub to: &'a Endpoint,
    /// See [`Vapid::authorization`](crate::Vapid::authorization).
    pub authorization: &'a str,
    /// How long the service keeps the message for a browser that is offline: RFC 8030 §5.2.
    pub ttl: Duration,
    pub urgency: Urgency,
    /// A newer message of the same topic replaces one that still waits: RFC 8030 §5.4. At most 32 letters of base64url.
    pub topic: Option<&'a str>,
    pub body: &'a [u8],
}

/// Whether the message wakes a phone: RFC 8030 §5.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    Low,
    Normal,
    High,
}

/// The answer of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Taken,
    /// The subscription does not exist any more: RFC 8030 §7.3.
    Gone,
    /// The service asks for a retry, after this time if it gave one.
    Later(Option<Duration>),
    /// The service refuses this message for good. Has the HTTP status.
    Refused(u16),
}

/// The reason why the service did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error(transparent)]
    Unreached(#[from] Unreached),
    #[error("no answer in time")]
    Late,
    #[error("the connection failed: {0}")]
    Connection(Arc<str>),
    #[error("what it answered is no HTTP")]
    NoHttp,
}

/// The file of an authority's certificates cannot be parsed or has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no certificate of an authority in it")]
pub struct NoAuthority;

impl Client {
    /// A client that trusts the authorities that Mozilla trusts and reaches the public network only.
    pub fn public() -> Client {
        let roots = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
        Client::with(roots, Reach::Public, TIME)
    }

    /// A client that also reaches the operator's own service, at any address. `authority`: the certificates of its
    /// authority, as PEM. The caller decides which names it calls.
    pub fn own(authority: &[u8]) -> Result<Client, NoAuthority> {
        let mut roots: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
        let known = roots.len();
        for certificate in CertificateDer::pem_slice_iter(authority) {
            roots.add(certificate.map_err(|_| NoAuthority)?).map_err(|_| NoAuthority)?;
        }
        if roots.len() == known {
            return Err(NoAuthority);
        }
        Ok(Client::with(roots, Reach::Anywhere, TIME))
    }

    /// For tests, and for operators who run a push service.
    pub fn with(roots: RootCertStore, reach: Reach, time: Duration) -> Client {
        Client { http: HttpClient::new(roots, reach, HEAD), time }
    }

    pub fn reach(&self) -> Reach {
        self.http.reach()
    }

    /// Follows no redirects: a push service needs none, and an attacker could use one.
    pub async fn send(&self, request: &Request<'_>) -> Result<Outcome, Trouble> {
        tokio::time::timeout(self.time, self.ask(request)).await.unwrap_or(Err(Trouble::Late))
    }

    async fn ask(&self, request: &Request<'_>) -> Result<Outcome, Trouble> {
        let Endpoint { host, port, .. } = request.to;
        let to = Origin { tls: true, host, port: *port };
        let answer = self.http.send(to, http_request(request)?).await?;
        Ok(outcome(answer.status().as_u16(), answer.field(RETRY_AFTER), SystemTime::now()))
    }
}

impl From<HttpError> for Trouble {
    fn from(error: HttpError) -> Trouble {
        match error {
            HttpError::Unreached(why) => Trouble::Unreached(why),
            HttpError::Connection(why) => Trouble::Connection(why),
            HttpError::NotHttp => Trouble::NoHttp,
            HttpError::Late => Trouble::Late,
        }
    }
}

fn http_request(request: &Request<'_>) -> Result<reach::Request<Full<Bytes>>, Trouble> {
    let unfit = |error: &dyn std::fmt::Display| Trouble::Connection(error.to_string().into());
    let text = |text: &str| HeaderValue::from_str(text).map_err(|error: InvalidHeaderValue| unfit(&error));
    let urgency = match request.urgency {
        Urgency::Low => "low",
        Urgency::Normal => "normal",
        Urgency::High => "high",
    };
    let mut http = reach::Request::post(&*request.to.path)
        .body(Full::new(Bytes::copy_from_slice(request.body)))
        .map_err(|error| unfit(&error))?;
    let headers = http.headers_mut();
    headers.insert(AUTHORIZATION, text(request.authorization)?);
    headers.insert(TTL, request.ttl.as_secs().into());
    headers.insert(URGENCY, HeaderValue::from_static(urgency));
    if let Some(topic) = request.topic {
        headers.insert(TOPIC, text(topic)?);
    }
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("aes128gcm"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    Ok(http)
}

fn outcome(status: u16, retry_after_field: Option<&str>, now: SystemTime) -> Outcome {
    match status {
        200..=299 => Outcome::Taken,
        404 | 410 => Outcome::Gone,
        408 | 429 | 500..=599 => Outcome::Later(retry_after_field.and_then(|text| retry_after(text, now))),
        other => Outcome::Refused(other),
    }
}

/// RFC 9110 §10.2.3: seconds, or a date.
fn retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    httpdate::parse_http_date(text).ok().map(|at| at.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_and_retry_after_decide_the_outcome() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777); // Sun, 06 Nov 1994 08:49:37 GMT
        let later = |seconds| Outcome::Later(Some(Duration::from_secs(seconds)));
        let table = [
            (201, None, Outcome::Taken),
            (200, None, Outcome::Taken),
            (404, None, Outcome::Gone),
            (410, None, Outcome::Gone),
            (429, Some("120"), later(120)),
            (503, Some("Sun, 06 Nov 1994 08:50:37 GMT"), later(60)),
            (500, Some("soon"), Outcome::Later(None)),
            (302, None, Outcome::Refused(302)),
            (413, None, Outcome::Refused(413)),
        ];
        for (status, after, expected) in table {
            assert_eq!(outcome(status, after, now), expected, "{status} {after:?}");
        }
    }
}

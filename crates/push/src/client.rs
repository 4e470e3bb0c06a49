//! Carries a message to a push service, and reads of its answer no more than how it went.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reach::{Lookups, Unreached};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::{Endpoint, Reach};

/// For all of it: finding the address, connecting, asking, being answered.
const TIME: Duration = Duration::from_secs(15);
/// A longer head of an answer is no answer.
const HEAD_BYTES: usize = 8 * 1024;

/// Calls push services. Cheap to clone; each message takes a connection of its own, with TLS resumed where the service allows it.
#[derive(Clone)]
pub struct Client {
    tls: TlsConnector,
    lookups: Lookups,
    reach: Reach,
    time: Duration,
}

/// A sealed message on its way.
pub struct Request<'a> {
    pub to: &'a Endpoint,
    /// See [`Vapid::authorization`](crate::Vapid::authorization).
    pub authorization: &'a str,
    /// For so long the service keeps it for a browser that is away: RFC 8030 §5.2.
    pub ttl: Duration,
    pub urgency: Urgency,
    /// A newer message of the same topic takes the place of one that still waits: RFC 8030 §5.4. At most 32 letters of base64url.
    pub topic: Option<&'a str>,
    pub body: &'a [u8],
}

/// Whether a phone is woken for it: RFC 8030 §5.3.
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
    /// There is no such subscription any more: RFC 8030 §7.3.
    Gone,
    /// Not now, with the time it asked for.
    Later(Option<Duration>),
    /// It will never take this one.
    Refused(u16),
}

/// Why there is no answer.
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

/// An error for a file that should have been an authority's certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no certificate of an authority in it")]
pub struct NoAuthority;

impl Client {
    /// Trusts the authorities that Mozilla does, and reaches the public network only.
    pub fn public() -> Client {
        let roots = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
        Client::with(roots, Reach::Public, TIME)
    }

    /// Reaches a service of the operator's own too, wherever it is: `authority` has the certificates, as PEM, of who vouches for it. Which
    /// names are called is for the caller to decide.
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

    /// For tests, and where the operator runs a push service of their own.
    pub fn with(roots: RootCertStore, reach: Reach, time: Duration) -> Client {
        let provider = Arc::new(crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring speaks what rustls offers")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Client { tls: TlsConnector::from(Arc::new(tls)), lookups: Lookups::default(), reach, time }
    }

    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Redirects are not followed: a push service has no reason for one, and an attacker has.
    pub async fn send(&self, request: &Request<'_>) -> Result<Outcome, Trouble> {
        tokio::time::timeout(self.time, self.ask(request)).await.unwrap_or(Err(Trouble::Late))
    }

    async fn ask(&self, request: &Request<'_>) -> Result<Outcome, Trouble> {
        let socket = reach::connect(&self.lookups, &request.to.host, request.to.port, self.reach).await?;
        let name = ServerName::try_from(request.to.host.to_string()).map_err(|_| Unreached::NoAddress)?;
        let mut stream = self.tls.connect(name, socket).await.map_err(|error| broken(&error))?;
        exchange(&mut stream, request).await
    }
}

async fn exchange<S>(stream: &mut S, request: &Request<'_>) -> Result<Outcome, Trouble>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    stream.write_all(head(request).as_bytes()).await.map_err(|error| broken(&error))?;
    stream.write_all(request.body).await.map_err(|error| broken(&error))?;
    stream.flush().await.map_err(|error| broken(&error))?;
    let mut answer = Vec::with_capacity(1_024);
    loop {
        if let Some(outcome) = read(&answer, SystemTime::now())? {
            return Ok(outcome);
        }
        let mut part = [0; 1_024];
        let bytes = stream.read(&mut part).await.map_err(|error| broken(&error))?;
        if bytes == 0 || answer.len() + bytes > HEAD_BYTES {
            return Err(Trouble::NoHttp);
        }
        answer.extend_from_slice(&part[..bytes]);
    }
}

fn broken(error: &std::io::Error) -> Trouble {
    Trouble::Connection(error.to_string().into())
}

fn head(request: &Request<'_>) -> String {
    let Endpoint { host, port, path } = request.to;
    let port = if *port == 443 { String::new() } else { format!(":{port}") };
    let urgency = match request.urgency {
        Urgency::Low => "low",
        Urgency::Normal => "normal",
        Urgency::High => "high",
    };
    let topic = request.topic.map(|topic| format!("Topic: {topic}\r\n")).unwrap_or_default();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {host}{port}\r\nConnection: close\r\nAuthorization: {}\r\nTTL: {}\r\n\
         Urgency: {urgency}\r\n{topic}Content-Encoding: aes128gcm\r\nContent-Type: application/octet-stream\r\n\
         Content-Length: {}\r\n\r\n",
        request.authorization,
        request.ttl.as_secs(),
        request.body.len(),
    )
}

/// None: more must come first.
fn read(answer: &[u8], now: SystemTime) -> Result<Option<Outcome>, Trouble> {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut fields);
    match response.parse(answer) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(Trouble::NoHttp),
    }
    let after = response.headers.iter().find(|field| field.name.eq_ignore_ascii_case("retry-after"));
    let after = after.and_then(|field| retry_after(std::str::from_utf8(field.value).ok()?, now));
    Ok(Some(match response.code.ok_or(Trouble::NoHttp)? {
        200..=299 => Outcome::Taken,
        404 | 410 => Outcome::Gone,
        408 | 429 | 500..=599 => Outcome::Later(after),
        other => Outcome::Refused(other),
    }))
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
    fn an_answer_is_its_status_and_when_to_come_again() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777); // Sun, 06 Nov 1994 08:49:37 GMT
        let read = |answer: &str| read(answer.as_bytes(), now);
        let table = [
            ("HTTP/1.1 201 Created\r\nLocation: /m/1\r\n\r\n", Outcome::Taken),
            ("HTTP/1.1 200 OK\r\n\r\nleft unread", Outcome::Taken),
            ("HTTP/1.1 404 Not Found\r\n\r\n", Outcome::Gone),
            ("HTTP/1.1 410 Gone\r\n\r\n", Outcome::Gone),
            ("HTTP/1.1 429 Slow\r\nretry-after: 120\r\n\r\n", Outcome::Later(Some(Duration::from_secs(120)))),
            (
                "HTTP/1.1 503 No\r\nRetry-After: Sun, 06 Nov 1994 08:50:37 GMT\r\n\r\n",
                Outcome::Later(Some(Duration::from_secs(60))),
            ),
            ("HTTP/1.1 500 No\r\nRetry-After: soon\r\n\r\n", Outcome::Later(None)),
            ("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n", Outcome::Refused(302)),
            ("HTTP/1.1 413 Too much\r\n\r\n", Outcome::Refused(413)),
        ];
        for (answer, expected) in table {
            assert_eq!(read(answer), Ok(Some(expected)), "{answer}");
            assert_eq!(read(&answer[..14]), Ok(None), "{answer}");
        }
        assert_eq!(read("SSH-2.0-OpenSSH_9.2\r\n\r\n"), Err(Trouble::NoHttp));
    }
}

//! Fetches a page or a picture: one GET after the other, over connections that are used once.

use std::sync::Arc;
use std::time::Duration;

use reach::{Lookups, Reach, Unreached};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::{Page, WebAddress, WrongAddress, page};

/// For all of a page or a picture, with what it redirects to.
const TIME: Duration = Duration::from_secs(6);
/// So many bytes of a page are read; what it says of itself stands at its start.
const PAGE_BYTES: usize = 256 * 1024;
/// A longer picture is none for us.
const PICTURE_BYTES: usize = 4 * 1024 * 1024;
/// A longer head of an answer is no answer.
const HEAD_BYTES: usize = 16 * 1024;
const MOST_REDIRECTS: usize = 4;

/// Calls pages. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    tls: TlsConnector,
    lookups: Lookups,
    reach: Reach,
    time: Duration,
    /// The name of this client, so that a page's owner can refuse it.
    agent: Arc<str>,
}

/// Why there is nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error(transparent)]
    WrongAddress(#[from] WrongAddress),
    #[error(transparent)]
    Unreached(#[from] Unreached),
    #[error("no answer in time")]
    Late,
    #[error("the connection broke: {0}")]
    Broken(Arc<str>),
    #[error("what it answered is no HTTP")]
    NoHttp,
    #[error("it answered {0}")]
    Status(u16),
    #[error("it leads on and on")]
    TooManyRedirects,
    #[error("it is not what was asked for")]
    WrongKind,
    #[error("it is too large")]
    TooLarge,
    #[error("it is not to be asked")]
    Unwanted,
}

/// Whether an address may be called.
pub type May<'a> = dyn Fn(&WebAddress) -> bool + Send + Sync + 'a;

/// The kind of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Page,
    Picture,
}

struct Answer {
    media_type: String,
    body: Vec<u8>,
}

/// The head of an answer.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    bytes: usize,
    status: u16,
    location: Option<String>,
    media_type: String,
    length: Option<usize>,
    is_chunked: bool,
    is_encoded: bool,
}

impl Client {
    /// Trusts the authorities that Mozilla does, and reaches the public network only.
    pub fn public() -> Client {
        let roots = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
        Client::with(roots, Reach::Public, TIME)
    }

    /// The same, but private networks too.
    pub fn anywhere() -> Client {
        let roots = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
        Client::with(roots, Reach::Anywhere, TIME)
    }

    /// For tests.
    pub fn with(roots: RootCertStore, reach: Reach, time: Duration) -> Client {
        let provider = Arc::new(crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring speaks what rustls offers")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let agent = concat!("Kith/", env!("CARGO_PKG_VERSION"), " (link preview)").into();
        Client { tls: TlsConnector::from(Arc::new(tls)), lookups: Lookups::default(), reach, time, agent }
    }

    pub fn parse(&self, address: &str) -> Result<WebAddress, WrongAddress> {
        WebAddress::parse(address, self.reach)
    }

    /// The metadata of a page, with its final address. `may`: asked before each address is called.
    pub async fn page(&self, address: &WebAddress, may: &May<'_>) -> Result<(Page, WebAddress), Trouble> {
        let (answer, at) = self.fetch(address, Wanted::Page, may).await?;
        let charset = answer.media_type.split_once("charset=").map(|(_, name)| name.to_owned());
        Ok((page::read(&answer.body, charset.as_deref()), at))
    }

    /// The bytes of a page's picture, which may be anything.
    pub async fn picture(&self, of: &WebAddress, reference: &str, may: &May<'_>) -> Result<Vec<u8>, Trouble> {
        let address = of.join(reference, self.reach)?;
        Ok(self.fetch(&address, Wanted::Picture, may).await?.0.body)
    }

    async fn fetch(
        &self,
        address: &WebAddress,
        wanted: Wanted,
        may: &May<'_>,
    ) -> Result<(Answer, WebAddress), Trouble> {
        let all = async {
            let mut at = address.clone();
            for _ in 0..=MOST_REDIRECTS {
                if !may(&at) {
                    return Err(Trouble::Unwanted);
                }
                match self.ask(&at, wanted).await? {
                    Ok(answer) => return Ok((answer, at)),
                    // Looked at like the first one, its name too.
                    Err(location) => at = at.join(&location, self.reach)?,
                }
            }
            Err(Trouble::TooManyRedirects)
        };
        tokio::time::timeout(self.time, all).await.unwrap_or(Err(Trouble::Late))
    }

    /// The inner error is where it leads instead.
    async fn ask(&self, address: &WebAddress, wanted: Wanted) -> Result<Result<Answer, String>, Trouble> {
        let socket = reach::connect(&self.lookups, address.host(), address.port(), self.reach).await?;
        let request = self.request(address, wanted);
        match address.has_tls() {
            false => exchange(socket, &request, wanted).await,
            true => {
                let name = ServerName::try_from(address.host().to_owned());
                let name = name.map_err(|_| Trouble::WrongAddress(WrongAddress))?;
                let stream = self.tls.connect(name, socket).await.map_err(|error| broken(&error))?;
                exchange(stream, &request, wanted).await
            }
        }
    }

    fn request(&self, address: &WebAddress, wanted: Wanted) -> String {
        let accept = match wanted {
            Wanted::Page => "text/html, application/xhtml+xml",
            Wanted::Picture => "image/jpeg, image/png, image/webp, image/gif",
        };
        format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nUser-Agent: {}\r\nAccept: {accept}\r\n\
             Accept-Encoding: identity\r\n\r\n",
            address.target(),
            address.authority(),
            self.agent,
        )
    }
}

async fn exchange<S>(mut stream: S, request: &str, wanted: Wanted) -> Result<Result<Answer, String>, Trouble>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    stream.write_all(request.as_bytes()).await.map_err(|error| broken(&error))?;
    stream.flush().await.map_err(|error| broken(&error))?;
    let mut bytes = Vec::with_capacity(4_096);
    let head = loop {
        if let Some(head) = read_head(&bytes)? {
            break head;
        }
        if bytes.len() > HEAD_BYTES || more(&mut stream, &mut bytes).await? == 0 {
            return Err(Trouble::NoHttp);
        }
    };
    match (head.status, &head.location) {
        (200, _) => {}
        (301 | 302 | 303 | 307 | 308, Some(location)) => return Ok(Err(location.clone())),
        (status, _) => return Err(Trouble::Status(status)),
    }
    if head.is_encoded || !is_of_kind(&head.media_type, wanted) {
        return Err(Trouble::WrongKind);
    }
    let most = match wanted {
        Wanted::Page => PAGE_BYTES,
        Wanted::Picture => PICTURE_BYTES,
    };
    if wanted == Wanted::Picture && head.length.is_some_and(|length| length > most) {
        return Err(Trouble::TooLarge);
    }
    // Chunks have some bytes around them.
    let most_read = head.bytes + most + most / 8;
    let wanted_bytes = head.length.map_or(most_read, |length| head.bytes + length.min(most));
    while bytes.len() < wanted_bytes {
        // A server that says nothing of the length closes; one that forgets to say goodbye over TLS has said all too.
        match more(&mut stream, &mut bytes).await {
            Ok(0) => break,
            Ok(_) => {}
            Err(_) if head.length.is_none() => break,
            Err(error) => return Err(error),
        }
    }
    let mut body = bytes.split_off(head.bytes);
    if head.is_chunked {
        body = unchunked(&body, most);
    }
    if wanted == Wanted::Picture && body.len() > most {
        return Err(Trouble::TooLarge);
    }
    body.truncate(most);
    Ok(Ok(Answer { media_type: head.media_type, body }))
}

async fn more<S: AsyncRead + Unpin>(stream: &mut S, bytes: &mut Vec<u8>) -> Result<usize, Trouble> {
    let mut part = [0; 8 * 1024];
    let count = stream.read(&mut part).await.map_err(|error| broken(&error))?;
    bytes.extend_from_slice(&part[..count]);
    Ok(count)
}

fn broken(error: &std::io::Error) -> Trouble {
    Trouble::Broken(error.to_string().into())
}

fn is_of_kind(media_type: &str, wanted: Wanted) -> bool {
    match wanted {
        Wanted::Page => {
            ["text/html", "application/xhtml+xml"].iter().any(|kind| media_type.starts_with(kind))
        }
        Wanted::Picture => media_type.starts_with("image/") && !media_type.starts_with("image/svg"),
    }
}

/// None: more must come first.
fn read_head(bytes: &[u8]) -> Result<Option<Head>, Trouble> {
    let mut fields = [httparse::EMPTY_HEADER; 96];
    let mut response = httparse::Response::new(&mut fields);
    let length = match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(Trouble::NoHttp),
    };
    let field = |name: &str| {
        let found = response.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(found.value).ok().map(str::trim)
    };
    let encoding = field("content-encoding").unwrap_or("identity");
    Ok(Some(Head {
        bytes: length,
        status: response.code.ok_or(Trouble::NoHttp)?,
        location: field("location").map(str::to_owned),
        media_type: field("content-type").unwrap_or_default().to_ascii_lowercase(),
        length: field("content-length").and_then(|length| length.parse().ok()),
        is_chunked: field("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")),
        is_encoded: !encoding.eq_ignore_ascii_case("identity"),
    }))
}

/// RFC 9112 §7.1. What is cut off or broken ends the body: its start is good enough.
fn unchunked(mut rest: &[u8], most: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() <= most
        && let Ok(httparse::Status::Complete((start, size))) = httparse::parse_chunk_size(rest)
    {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let chunk = rest.get(start..).unwrap_or_default();
        if size == 0 {
            break;
        }
        body.extend_from_slice(&chunk[..size.min(chunk.len())]);
        rest = size.checked_add(2).and_then(|end| chunk.get(end..)).unwrap_or_default();
    }
    body
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn chunks_are_put_together() {
        assert_eq!(unchunked(b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", 99), b"abcde");
        assert_eq!(unchunked(b"3\r\nabc\r\nff\r\nde", 99), b"abcde", "cut off");
        assert_eq!(unchunked(b"ffffffffffffffff\r\nabc", 99), b"abc");
        assert_eq!(unchunked(b"zz\r\nabc", 99), b"");
    }

    proptest! {
        #[test]
        fn whatever_is_answered_is_read(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "(HTTP/1.1 200 OK\r\n|Location: |/x|\r\n|Content-Length: |9|99999999999999999999|content-encoding: gzip){0,12}") {
            let _ = read_head(&bytes);
            let _ = read_head(text.as_bytes());
            prop_assert!(unchunked(&bytes, 64).len() <= 64 + bytes.len());
        }
    }
}

//! Fetches a page or a picture: one GET after the other, each over a new connection.

use std::sync::Arc;
use std::time::Duration;

use reach::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, LOCATION, USER_AGENT,
};
use reach::{
    Body, Bytes, End, Full, HeadBounds, HttpClient, HttpError, Origin, Reach, Request, Response, Unreached,
};
use tokio_rustls::rustls::RootCertStore;

use crate::{Page, WebAddress, WrongAddress, page};

/// The time for a page or a picture, with all its redirects.
const TIME: Duration = Duration::from_secs(6);
/// Most bytes that are read of a page: its metadata stands at the start.
const PAGE_BYTES: usize = 256 * 1024;
/// Largest picture, in bytes. A larger one is ignored.
const PICTURE_BYTES: usize = 4 * 1024 * 1024;
const HEAD: HeadBounds = HeadBounds { bytes: 16 * 1024, fields: 96 };
const MOST_REDIRECTS: usize = 4;

/// Fetches pages. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    http: HttpClient,
    time: Duration,
}

/// The name of this client, so that a page's owner can refuse it.
const AGENT: &str = concat!("Kith/", env!("CARGO_PKG_VERSION"), " (link preview)");

/// The reason why a page or picture could not be fetched.
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

/// Decides whether an address may be called.
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

impl Client {
    /// A client that trusts the authorities that Mozilla trusts and reaches the public network only.
    pub fn public() -> Client {
        let roots = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
        Client::with(roots, Reach::Public, TIME)
    }

    /// A client as [`public`](Self::public) makes it that reaches private networks, too.
    pub fn anywhere() -> Client {
        let roots = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
        Client::with(roots, Reach::Anywhere, TIME)
    }

    /// For tests.
    pub fn with(roots: RootCertStore, reach: Reach, time: Duration) -> Client {
        Client { http: HttpClient::new(roots, reach, HEAD), time }
    }

    pub fn parse(&self, address: &str) -> Result<WebAddress, WrongAddress> {
        WebAddress::parse(address, self.http.reach())
    }

    /// The metadata of a page, with its final address. Calls `may` before each request.
    pub async fn page(&self, address: &WebAddress, may: &May<'_>) -> Result<(Page, WebAddress), Trouble> {
        let (answer, at) = self.fetch(address, Wanted::Page, may).await?;
        let charset = answer.media_type.split_once("charset=").map(|(_, name)| name.to_owned());
        Ok((page::read(&answer.body, charset.as_deref()), at))
    }

    /// The bytes of a page's picture. They come from a stranger and are not checked.
    pub async fn picture(&self, of: &WebAddress, reference: &str, may: &May<'_>) -> Result<Vec<u8>, Trouble> {
        let address = of.join(reference, self.http.reach())?;
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
                    // The target of a redirect is checked like the first address, with its name.
                    Err(location) => at = at.join(&location, self.http.reach())?,
                }
            }
            Err(Trouble::TooManyRedirects)
        };
        tokio::time::timeout(self.time, all).await.unwrap_or(Err(Trouble::Late))
    }

    /// The inner error is the target of a redirect.
    async fn ask(&self, address: &WebAddress, wanted: Wanted) -> Result<Result<Answer, String>, Trouble> {
        let to = Origin { tls: address.has_tls(), host: address.host(), port: address.port() };
        let response = self.http.send(to, request(address, wanted)?).await?;
        match (response.status().as_u16(), response.field(LOCATION)) {
            (200, _) => answer(response, wanted).await.map(Ok),
            (301 | 302 | 303 | 307 | 308, Some(location)) => Ok(Err(location.to_owned())),
            (status, _) => Err(Trouble::Status(status)),
        }
    }
}

impl From<HttpError> for Trouble {
    fn from(error: HttpError) -> Trouble {
        match error {
            HttpError::Unreached(why) => Trouble::Unreached(why),
            HttpError::Connection(why) => Trouble::Broken(why),
            HttpError::NotHttp => Trouble::NoHttp,
            HttpError::Late => Trouble::Late,
        }
    }
}

fn request(address: &WebAddress, wanted: Wanted) -> Result<Request<Full<Bytes>>, Trouble> {
    let accept = match wanted {
        Wanted::Page => "text/html, application/xhtml+xml",
        Wanted::Picture => "image/jpeg, image/png, image/webp, image/gif",
    };
    let request = Request::get(address.target())
        .header(HOST, address.authority())
        .header(USER_AGENT, AGENT)
        .header(ACCEPT, accept)
        .header(ACCEPT_ENCODING, "identity");
    request.body(Full::default()).map_err(|_| Trouble::WrongAddress(WrongAddress))
}

async fn answer(response: Response, wanted: Wanted) -> Result<Answer, Trouble> {
    let media_type = response.field(CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
    let encoding = response.field(CONTENT_ENCODING).unwrap_or("identity");
    if !encoding.eq_ignore_ascii_case("identity") || !is_of_kind(&media_type, wanted) {
        return Err(Trouble::WrongKind);
    }
    let length = response.field(CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    let most = match wanted {
        Wanted::Page => PAGE_BYTES,
        Wanted::Picture => PICTURE_BYTES,
    };
    if wanted == Wanted::Picture && length.is_some_and(|length| length > most as u64) {
        return Err(Trouble::TooLarge);
    }
    let Body { bytes, end } = response.body(most).await;
    match end {
        End::TooLong if wanted == Wanted::Picture => Err(Trouble::TooLarge),
        // Without a length, the end of the connection is the end of the body, even if a server ends TLS without
        // `close_notify`.
        End::Failed(why) if length.is_some() => Err(Trouble::Broken(why)),
        // The start of a body is enough.
        _ => Ok(Answer { media_type, body: bytes }),
    }
}

fn is_of_kind(media_type: &str, wanted: Wanted) -> bool {
    match wanted {
        Wanted::Page => {
            ["text/html", "application/xhtml+xml"].iter().any(|kind| media_type.starts_with(kind))
        }
        Wanted::Picture => media_type.starts_with("image/") && !media_type.starts_with("image/svg"),
    }
}

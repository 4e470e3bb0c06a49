//! An HTTP/1.1 client over [`connect`]: one request per connection, no redirects, and bounds on what is read.
//!
//! The caller sets the time-out, because it may cover several requests. Only as much of a body is read as the caller
//! asks for.

use std::error::Error as _;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, HeaderName, HeaderValue};
use hyper::{Request, StatusCode, http};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::{Lookups, Reach, Unreached, connect};

/// Sends requests. Cheap to clone; clones share the TLS sessions and the bound on lookups.
#[derive(Clone)]
pub struct HttpClient {
    tls: TlsConnector,
    lookups: Lookups,
    reach: Reach,
    head: HeadBounds,
}

/// Bounds of a response's head. A longer head is an error.
#[derive(Debug, Clone, Copy)]
pub struct HeadBounds {
    /// In bytes, at least 8 KiB: the smallest buffer that hyper accepts.
    pub bytes: usize,
    pub fields: usize,
}

/// The server of a request.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    pub tls: bool,
    pub host: &'a str,
    pub port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    #[error(transparent)]
    Unreached(#[from] Unreached),
    #[error("the connection failed: {0}")]
    Connection(Arc<str>),
    #[error("the response is not HTTP")]
    NotHttp,
    #[error("no answer in time")]
    Late,
}

/// The head of a response. Its body is read later.
pub struct Response {
    pub head: http::response::Parts,
    body: Incoming,
    connection: Connection,
}

/// The part of a body that was read.
#[derive(Debug, PartialEq, Eq)]
pub struct Body {
    pub bytes: Vec<u8>,
    pub end: End,
}

/// The reason why reading a body ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    Whole,
    /// The body is longer than the caller asked for.
    TooLong,
    /// The server closed the connection, or broke its own framing, before the end of the body.
    CutOff,
    Failed(Arc<str>),
}

impl HttpClient {
    /// A client that trusts the given certificate authorities.
    pub fn new(roots: RootCertStore, reach: Reach, head: HeadBounds) -> HttpClient {
        let provider = Arc::new(crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring supports the protocol versions of rustls")
            .with_root_certificates(roots)
            .with_no_client_auth();
        HttpClient::with_tls(Arc::new(config), reach, head)
    }

    /// A client that trusts no certificate authority, for requests without TLS.
    pub fn plain(reach: Reach, head: HeadBounds) -> HttpClient {
        HttpClient::new(RootCertStore::empty(), reach, head)
    }

    pub fn with_tls(config: Arc<ClientConfig>, reach: Reach, head: HeadBounds) -> HttpClient {
        HttpClient { tls: TlsConnector::from(config), lookups: Lookups::default(), reach, head }
    }

    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Sends a request whose URI is the path and query. Adds `Host`, unless the caller has set it, and `Connection:
    /// close`.
    pub async fn send(
        &self,
        to: Origin<'_>,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response, HttpError> {
        let headers = request.headers_mut();
        if !headers.contains_key(HOST) {
            let host = HeaderValue::from_str(&to.authority()).map_err(|_| Unreached::NoAddress)?;
            headers.insert(HOST, host);
        }
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        let socket = connect(&self.lookups, to.host, to.port, self.reach).await?;
        if !to.tls {
            return self.exchange(socket, request).await;
        }
        let name = ServerName::try_from(to.host.to_owned()).map_err(|_| Unreached::NoAddress)?;
        let stream = self.tls.connect(name, socket).await;
        self.exchange(stream.map_err(|error| HttpError::Connection(error.to_string().into()))?, request).await
    }

    /// Sends a request and reads the whole response on this thread, for programs without a runtime. `most`: the largest
    /// body, in bytes.
    pub fn send_blocking(
        &self,
        to: Origin<'_>,
        request: Request<Full<Bytes>>,
        most: usize,
        time: Duration,
    ) -> Result<(http::response::Parts, Body), HttpError> {
        let unstarted = |error: std::io::Error| HttpError::Connection(error.to_string().into());
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(unstarted)?;
        let whole = async {
            let response = self.send(to, request).await?;
            Ok((response.head.clone(), response.body(most).await))
        };
        let done = runtime.block_on(async { tokio::time::timeout(time, whole).await });
        // A lookup that hangs must not block the caller.
        runtime.shutdown_background();
        done.unwrap_or(Err(HttpError::Late))
    }

    async fn exchange<S>(&self, stream: S, request: Request<Full<Bytes>>) -> Result<Response, HttpError>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let handshake = http1::Builder::new()
            .title_case_headers(true)
            .max_headers(self.head.fields)
            .max_buf_size(self.head.bytes)
            .handshake(TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.map_err(|error| failed(&error))?;
        let mut connection = Connection(Some(Box::pin(connection)));
        let response =
            connection.drive(sender.send_request(request)).await.map_err(|error| failed(&error))?;
        let (head, body) = response.into_parts();
        Ok(Response { head, body, connection })
    }
}

impl Response {
    pub fn status(&self) -> StatusCode {
        self.head.status
    }

    /// The value of the first field with this name, if it is text.
    pub fn field(&self, name: HeaderName) -> Option<&str> {
        std::str::from_utf8(self.head.headers.get(name)?.as_bytes()).ok().map(str::trim)
    }

    /// Reads at most `most` bytes of the body.
    pub async fn body(mut self, most: usize) -> Body {
        let mut bytes = Vec::new();
        let end = loop {
            match self.connection.drive(self.body.frame()).await {
                None => break End::Whole,
                Some(Ok(frame)) => bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data)),
                Some(Err(error)) => break broken(&error),
            }
            if bytes.len() > most {
                break End::TooLong;
            }
        };
        bytes.truncate(most);
        Body { bytes, end }
    }
}

impl Origin<'_> {
    fn authority(&self) -> String {
        let usual = if self.tls { 443 } else { 80 };
        let Origin { host, port, .. } = self;
        if *port == usual { (*host).to_owned() } else { format!("{host}:{port}") }
    }
}

/// The other half of a hyper connection. It moves bytes while it is polled, and is dropped with the response.
struct Connection(Option<Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>>);

impl Connection {
    /// Awaits `work` and drives the connection meanwhile. hyper reports the connection's errors to `work`, too.
    async fn drive<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        std::future::poll_fn(|context: &mut Context<'_>| {
            if let Some(connection) = &mut self.0
                && connection.as_mut().poll(context).is_ready()
            {
                self.0 = None;
            }
            work.as_mut().poll(context)
        })
        .await
    }
}

fn failed(error: &hyper::Error) -> HttpError {
    // An empty response or half a head is not HTTP either.
    if error.is_parse() || error.is_incomplete_message() {
        return HttpError::NotHttp;
    }
    HttpError::Connection(error.to_string().into())
}

fn broken(error: &hyper::Error) -> End {
    let io = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    match io.map(std::io::Error::kind) {
        Some(
            std::io::ErrorKind::UnexpectedEof
            | std::io::ErrorKind::InvalidInput
            | std::io::ErrorKind::InvalidData,
        ) => End::CutOff,
        _ => End::Failed(error.to_string().into()),
    }
}

//! Single HTTP requests to the node beside the measured traffic: its metrics, its TURN servers, the pages of a site.

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use reach::header::{AUTHORIZATION, HOST, HeaderName, HeaderValue};
use reach::{Bytes, End, Full, HeadBounds, HttpClient, HttpError, Origin, Reach, Request};
use rustls::ClientConfig;

use crate::target::Target;

const HEAD: HeadBounds = HeadBounds { bytes: 8 * 1024, fields: 32 };
const METRICS_TIME: Duration = Duration::from_secs(2);
const METRICS_BYTES: usize = 4 * 1024 * 1024;

/// The client without TLS. Made once: metrics are read several times per second.
static PLAIN: LazyLock<HttpClient> = LazyLock::new(|| HttpClient::plain(Reach::Anywhere, HEAD));

pub(crate) struct NodeApi<'a> {
    target: &'a Target,
    http: HttpClient,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) cache_control: Option<String>,
    pub(crate) etag: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl<'a> NodeApi<'a> {
    pub(crate) fn new(target: &'a Target, tls: Option<Arc<ClientConfig>>) -> NodeApi<'a> {
        let http = match tls {
            Some(config) => HttpClient::with_tls(config, Reach::Anywhere, HEAD),
            None => PLAIN.clone(),
        };
        NodeApi { target, http }
    }

    /// `most`: the largest body, in bytes. A longer one is an error.
    pub(crate) fn send(
        &self,
        mut request: Request<Full<Bytes>>,
        most: usize,
        time: Duration,
    ) -> Result<Answer, HttpError> {
        let Target { tls, name, addr, host, .. } = self.target;
        let host = HeaderValue::from_str(host).map_err(|_| HttpError::NotHttp)?;
        request.headers_mut().insert(HOST, host);
        let to = Origin { tls: *tls, host: name, port: addr.port() };
        let (head, body) = self.http.send_blocking(to, request, most, time)?;
        if body.end != End::Whole {
            return Err(HttpError::Connection("the body has no end".into()));
        }
        let field = |name| head.headers.get(name)?.to_str().ok().map(str::to_owned);
        let (cache_control, etag) = (field("cache-control"), field("etag"));
        Ok(Answer { status: head.status.as_u16(), cache_control, etag, body: body.bytes })
    }
}

/// A POST of JSON, with a user's token.
pub(crate) fn post(path: &str, token: &str, body: String) -> Option<Request<Full<Bytes>>> {
    let request = Request::post(path).header("content-type", "application/json");
    request.header(AUTHORIZATION, format!("Bearer {token}")).body(Full::new(body.into())).ok()
}

pub(crate) fn get(path: &str, fields: &[(HeaderName, &str)]) -> Option<Request<Full<Bytes>>> {
    let start = Request::get(path);
    fields
        .iter()
        .fold(start, |request, (name, value)| request.header(name, *value))
        .body(Full::default())
        .ok()
}

/// The text of `/metrics`. `token`: if the node requires one.
pub(crate) fn metrics(addr: SocketAddr, token: Option<&str>) -> Option<String> {
    let authorization = token.map(|token| format!("Bearer {token}"));
    let field = authorization.as_deref().map(|value| (AUTHORIZATION, value));
    let request = get("/metrics", field.as_slice())?;
    let host = addr.ip().to_string();
    let to = Origin { tls: false, host: &host, port: addr.port() };
    let (head, body) = PLAIN.send_blocking(to, request, METRICS_BYTES, METRICS_TIME).ok()?;
    head.status.is_success().then(|| String::from_utf8(body.bytes).ok())?
}

//! The HTTP answers of a process without gateways: a home that stands by, and a supervisor of homes.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header::AUTHORIZATION};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use crate::config::Config;
use crate::metrics::Format;
use crate::serve;
use crate::status::MetricsAccess;
use crate::trouble::{Outcome, Trouble};

/// Requests at once; more wait.
const REQUESTS: usize = 64;
const REQUEST: Duration = Duration::from_secs(5);
const HEAD_BYTES: usize = 8 * 1024;

/// Stops to listen when it is dropped.
pub(super) struct StatusServer {
    http: SocketAddr,
    _runtime: tokio::runtime::Runtime,
}

/// The head of a request. Bodies are not read.
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    head: &'a str,
}

pub(super) struct Answer {
    pub(super) status: &'static str,
    kind: &'static str,
    pub(super) body: String,
}

type Answers = dyn Fn(&Request<'_>) -> Answer + Send + Sync;

impl StatusServer {
    /// Listens on the address for HTTP. `answer` may block for some seconds.
    pub(super) fn begin(
        config: &Config,
        answer: impl Fn(&Request<'_>) -> Answer + Send + Sync + 'static,
    ) -> Outcome<StatusServer> {
        let unstarted =
            |error: std::io::Error| Trouble::new("cannot start the node's threads").because(error);
        let listener =
            TcpListener::bind(config.http).map_err(|error| serve::cannot_listen(config, &error))?;
        let http = listener.local_addr().map_err(unstarted)?;
        listener.set_nonblocking(true).map_err(unstarted)?;
        let runtime = serve::runtime().map_err(unstarted)?;
        let listener = {
            let _guard = runtime.enter();
            tokio::net::TcpListener::from_std(listener).map_err(unstarted)?
        };
        runtime.spawn(listen(listener, Arc::new(answer)));
        Ok(StatusServer { http, _runtime: runtime })
    }

    pub(super) fn http(&self) -> SocketAddr {
        self.http
    }
}

async fn listen(listener: tokio::net::TcpListener, answers: Arc<Answers>) {
    let places = Arc::new(Semaphore::new(REQUESTS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let answers = Arc::clone(&answers);
                tokio::spawn(async move {
                    let _place = place;
                    // A client that goes away is no error.
                    let _ = tokio::time::timeout(REQUEST, serve_one(stream, answers)).await;
                });
            }
            Err(error) => {
                tracing::debug!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Answers one request.
async fn serve_one(mut stream: TcpStream, answers: Arc<Answers>) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() >= HEAD_BYTES || stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let answer = move || answers(&Request::of(&String::from_utf8_lossy(&head)));
    let Answer { status, kind, body } = tokio::task::spawn_blocking(answer).await?;
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Retry-After: 2\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

impl Request<'_> {
    /// `head`: any text.
    pub(super) fn of(head: &str) -> Request<'_> {
        let mut words = head.split_whitespace();
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        Request { method, path, head }
    }

    pub(super) fn is_read(&self) -> bool {
        self.method == "GET" || self.method == "HEAD"
    }

    pub(super) fn is_admitted(&self, access: &MetricsAccess) -> bool {
        access.admits(&self.authorization())
    }

    /// With the fields for an authorization alone.
    pub(super) fn authorization(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in self.values("authorization") {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(AUTHORIZATION, value);
            }
        }
        headers
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.values(name).next().is_some()
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        // The first line is the request line.
        let fields = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        fields.filter(move |(of, _)| of.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

impl Answer {
    pub(super) fn text(status: &'static str, body: String) -> Answer {
        Answer { status, kind: "text/plain; charset=utf-8", body }
    }

    pub(super) fn json(body: &Value) -> Answer {
        Answer { status: "200 OK", kind: "application/json", body: body.to_string() }
    }

    /// `text`: in Prometheus' text format.
    pub(super) fn metrics(text: String) -> Answer {
        Answer { status: "200 OK", kind: Format::Text.content_type(), body: text }
    }

    pub(super) fn without_token() -> Answer {
        Answer::text("401 Unauthorized", "needs the token of metrics_token_file\n".into())
    }
}

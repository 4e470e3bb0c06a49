//! `/healthz`, `/readyz` and `/metrics`.

use std::fs::OpenOptions;
use std::io::Write;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::{Extension, State};
use axum::http::header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::{Door, Refusal, SignInLog, SignInOutcome, SignInRecord};

use crate::config::Config;
use crate::metrics::{Format, Metrics};
use crate::sign_in_log::SignIns;
use crate::trouble::{Outcome, Trouble};

/// The data for the answers; shared with the node.
#[derive(Clone)]
pub(crate) struct Status {
    /// Cleared when the node stops, so that balancers send no new clients.
    ready: Arc<AtomicBool>,
    metrics: Arc<OnceLock<Metrics>>,
    access: MetricsAccess,
    sign_ins: Option<Arc<SignIns>>,
}

/// Access to `/metrics`: the values show outsiders when to attack, and the success of an attack. The source of a request proves nothing,
/// because a proxy on this machine may forward anybody's requests.
#[derive(Clone)]
pub(crate) enum MetricsAccess {
    Everybody,
    /// Sent as `Authorization: Bearer TOKEN`.
    Token(Arc<str>),
}

impl Status {
    pub(crate) fn new(access: MetricsAccess, sign_ins: Option<Arc<SignIns>>) -> Status {
        Status { ready: Arc::default(), metrics: Arc::default(), access, sign_ins }
    }

    /// A wrong token for `/metrics`. A request without one does not count.
    fn record_refused(&self, headers: &HeaderMap, address: Option<IpAddr>) {
        let Some(log) = self.sign_ins.as_ref().filter(|_| headers.contains_key(AUTHORIZATION)) else {
            return;
        };
        log.record(&SignInRecord {
            time: crate::now(),
            door: Door::Metrics,
            site: None,
            user: None,
            address,
            outcome: SignInOutcome::Refused(Refusal::BadToken),
        });
    }

    /// The node is complete.
    pub(crate) fn begin(&self, metrics: Metrics) {
        // Set once per node.
        let _ = self.metrics.set(metrics);
        self.ready.store(true, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.ready.store(false, Ordering::Relaxed);
    }
}

pub(crate) fn routes(status: Status) -> Router {
    Router::new()
        .route("/healthz", get(async || text(StatusCode::OK, "ok\n")))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .with_state(status)
}

async fn readyz(State(status): State<Status>) -> Response {
    match status.ready.load(Ordering::Relaxed) {
        true => text(StatusCode::OK, "ready\n"),
        false => text(StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
    }
}

async fn metrics(
    State(status): State<Status>,
    client: Option<Extension<web::Client>>,
    headers: HeaderMap,
) -> Response {
    if !status.access.admits(&headers) {
        status.record_refused(&headers, client.and_then(|client| client.address));
        return text(
            StatusCode::UNAUTHORIZED,
            "needs the token of metrics_token_file, as Authorization: Bearer TOKEN\n",
        );
    }
    let Some(metrics) = status.metrics.get() else {
        return text(StatusCode::SERVICE_UNAVAILABLE, "not ready\n");
    };
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let format = Format::accepted(accept);
    let fields = [(CONTENT_TYPE, format.content_type()), (CACHE_CONTROL, "no-store"), (VARY, "accept")];
    (fields, metrics.write(format)).into_response()
}

impl MetricsAccess {
    /// The token of the named file, or of the file in the data directory, which is created if it is missing.
    pub(crate) fn of(config: &Config) -> Outcome<MetricsAccess> {
        if config.metrics_public {
            return Ok(MetricsAccess::Everybody);
        }
        let path = token_file(config, &config.data);
        let unusable = |why: &dyn std::fmt::Display| {
            Trouble::new(format!("cannot use {} as the token of /metrics", path.display()))
                .because(why)
                .remedy("correct metrics_token_file, or leave it out")
        };
        if config.metrics_token_file.is_none() && !path.exists() {
            make_token(&path).map_err(|error| unusable(&error))?;
        }
        let token = std::fs::read_to_string(&path).map_err(|error| unusable(&error))?;
        let token = token.trim();
        if token.len() < LEAST_TOKEN {
            return Err(unusable(&format!("it has fewer than {LEAST_TOKEN} characters")));
        }
        Ok(MetricsAccess::Token(token.into()))
    }

    /// The token that a request must send. Empty: none.
    pub(crate) fn token(&self) -> &str {
        match self {
            MetricsAccess::Everybody => "",
            MetricsAccess::Token(token) => token,
        }
    }

    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        let MetricsAccess::Token(token) = self else { return true };
        let given = headers.get(AUTHORIZATION).and_then(|field| field.to_str().ok()?.split_once(' '));
        given.is_some_and(|(scheme, given)| {
            scheme.eq_ignore_ascii_case("bearer") && web::is_same(given.trim().as_bytes(), token.as_bytes())
        })
    }
}

/// The token of the node on this data directory; None if this user may not read it.
pub(crate) fn metrics_token(config: &Config, data: &Path) -> Option<String> {
    let token = std::fs::read_to_string(token_file(config, data)).ok()?;
    Some(token.trim().to_owned())
}

pub(crate) fn token_file(config: &Config, data: &Path) -> PathBuf {
    config.metrics_token_file.clone().unwrap_or_else(|| data.join(TOKEN))
}

/// In the data directory, readable by its owner only.
const TOKEN: &str = "metrics.token";
const LEAST_TOKEN: usize = 16;

fn make_token(path: &Path) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{}", URL_SAFE_NO_PAD.encode(crate::serve::random()))
}

fn text(status: StatusCode, text: &'static str) -> Response {
    (status, [(CACHE_CONTROL, "no-store")], text).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use tower::ServiceExt;

    use super::*;

    const TOKEN: &str = "a-token-of-the-operator";

    fn ask(status: &Status, path: &str, token: Option<&str>) -> StatusCode {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let mut request = Request::get(path);
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Body::empty()).expect("a request");
        runtime.block_on(async { routes(status.clone()).oneshot(request).await.expect("an answer").status() })
    }

    #[test]
    fn a_node_is_ready_between_its_beginning_and_its_end() {
        let status = Status::new(MetricsAccess::Everybody, None);
        assert_eq!(ask(&status, "/healthz", None), StatusCode::OK);
        assert_eq!(ask(&status, "/readyz", None), StatusCode::SERVICE_UNAVAILABLE);
        status.begin(Metrics::new(Vec::new()));
        assert_eq!(ask(&status, "/readyz", None), StatusCode::OK);
        status.end();
        assert_eq!(ask(&status, "/readyz", None), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(ask(&status, "/healthz", None), StatusCode::OK);
    }

    #[test]
    fn metrics_require_the_token_unless_they_are_public() {
        let closed = Status::new(MetricsAccess::Token(TOKEN.into()), None);
        closed.begin(Metrics::new(Vec::new()));
        assert_eq!(ask(&closed, "/metrics", Some(TOKEN)), StatusCode::OK);
        for token in [None, Some(""), Some("a-token-of-the-operatoR"), Some("a-token")] {
            assert_eq!(ask(&closed, "/metrics", token), StatusCode::UNAUTHORIZED, "{token:?}");
        }
        let open = Status::new(MetricsAccess::Everybody, None);
        open.begin(Metrics::new(Vec::new()));
        assert_eq!(ask(&open, "/metrics", None), StatusCode::OK);
    }
}

//! `/healthz`, `/readyz`, `/metrics`: what a machine asks a node about itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use web::Client;

use crate::metrics::Metrics;

/// What the answers are made of; shared with the node.
#[derive(Clone)]
pub(crate) struct Status {
    /// Cleared when the node stops: nobody new should be sent here.
    ready: Arc<AtomicBool>,
    metrics: Arc<OnceLock<Metrics>>,
    /// Answers `/metrics` to everybody and not only to this machine.
    metrics_public: bool,
}

impl Status {
    pub(crate) fn new(metrics_public: bool) -> Status {
        Status { ready: Arc::default(), metrics: Arc::default(), metrics_public }
    }

    /// The node is complete.
    pub(crate) fn begin(&self, metrics: Metrics) {
        // A second beginning would be the same node's.
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

/// Figures tell outsiders when to attack and how well it works.
async fn metrics(State(status): State<Status>, Extension(client): Extension<Client>) -> Response {
    if !client.is_local && !status.metrics_public {
        return text(StatusCode::FORBIDDEN, "only for this machine; see metrics_public\n");
    }
    let Some(metrics) = status.metrics.get() else {
        return text(StatusCode::SERVICE_UNAVAILABLE, "not ready\n");
    };
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-store")], metrics.text()).into_response()
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

    fn ask(status: &Status, path: &str, is_local: bool) -> StatusCode {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let mut request = Request::get(path).body(Body::empty()).expect("a request");
        request.extensions_mut().insert(Client { is_local, address: None });
        runtime.block_on(async { routes(status.clone()).oneshot(request).await.expect("an answer").status() })
    }

    #[test]
    fn a_node_is_ready_between_its_beginning_and_its_end() {
        let status = Status::new(false);
        assert_eq!(ask(&status, "/healthz", false), StatusCode::OK);
        assert_eq!(ask(&status, "/readyz", false), StatusCode::SERVICE_UNAVAILABLE);
        status.begin(Metrics::new(Vec::new()));
        assert_eq!(ask(&status, "/readyz", false), StatusCode::OK);
        status.end();
        assert_eq!(ask(&status, "/readyz", false), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(ask(&status, "/healthz", false), StatusCode::OK);
    }

    #[test]
    fn metrics_are_for_this_machine_unless_the_operator_says_otherwise() {
        let closed = Status::new(false);
        closed.begin(Metrics::new(Vec::new()));
        assert_eq!(ask(&closed, "/metrics", true), StatusCode::OK);
        assert_eq!(ask(&closed, "/metrics", false), StatusCode::FORBIDDEN);
        let open = Status::new(true);
        open.begin(Metrics::new(Vec::new()));
        assert_eq!(ask(&open, "/metrics", false), StatusCode::OK);
    }
}

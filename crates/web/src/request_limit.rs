//! The limit of requests per address, in front of routes of REST, files and ICE.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, ORIGIN, RETRY_AFTER, VARY,
};
use axum::http::{Extensions, Method, Request, StatusCode};
use axum::middleware::{self, Next};
use axum::response::Response;
use chat::{Node, Refusal, RequestKind, Timestamp};

use crate::rest::Client;
use crate::wire::{code, error};

#[derive(Clone)]
struct Limit {
    kind: RequestKind,
    node: Arc<Node>,
    clock: fn() -> Timestamp,
}

/// Puts the limit in front of all routes that the router has by now.
pub(crate) fn limited<S: Clone + Send + Sync + 'static>(
    router: Router<S>,
    kind: RequestKind,
    node: &Arc<Node>,
    clock: fn() -> Timestamp,
) -> Router<S> {
    router.layer(middleware::from_fn_with_state(Limit { kind, node: Arc::clone(node), clock }, check))
}

/// The address of the socket, or the one that a trusted proxy names. None where the request came over no socket.
pub(crate) fn address(extensions: &Extensions) -> Option<IpAddr> {
    extensions.get::<Client>()?.address
}

async fn check(State(limit): State<Limit>, request: Request<Body>, next: Next) -> Response {
    // A preflight touches nothing but a table of origins.
    let address = address(request.extensions()).filter(|_| request.method() != Method::OPTIONS);
    match address.map_or(Ok(()), |address| limit.node.take_request(limit.kind, address, (limit.clock)())) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            let origin = request.headers().get(ORIGIN);
            let known =
                |origin: &&HeaderValue| origin.to_str().is_ok_and(|origin| limit.node.origin_known(origin));
            let mut response = refused(refusal);
            if let Some(origin) = origin.filter(known) {
                response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            }
            response
        }
    }
}

fn refused(refusal: Refusal) -> Response {
    let mut json = Vec::new();
    error(refusal, None, None).write(&mut json);
    let mut response = Response::new(Body::from(json));
    *response.status_mut() =
        StatusCode::from_u16(code(refusal).http_status()).unwrap_or(StatusCode::TOO_MANY_REQUESTS);
    let fields = response.headers_mut();
    fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    fields.insert(VARY, HeaderValue::from_static("origin"));
    if let Some(ms) = crate::wire::retry_after(refusal) {
        fields.insert(RETRY_AFTER, ms.div_ceil(1_000).into());
    }
    response
}

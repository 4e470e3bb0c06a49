//! `POST /v1/ice`: STUN and TURN servers with credentials for a member, asked for by the site's server with a token that it
//! has signed for them, or by an app with the member's own.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Extension, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, ORIGIN, VARY,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use chat::{CallServers, Node, Refusal, RequestKind, Timestamp};
use tokio::sync::oneshot;
use web_proto::{Code, Event, IceAnswer, IceQuestion};

use crate::credentials::Credentials;
use crate::request_limit::limited;
use crate::wire::calls::servers;
use crate::wire::{code, error};

/// The servers of the front that passed a request on, which its members get in place of ours. An extension of requests.
#[derive(Debug, Clone)]
pub struct OfferedServers(pub CallServers);

#[derive(Clone)]
struct Ice {
    node: Arc<Node>,
    clock: fn() -> Timestamp,
}

/// The route, for the router of [`Shared`](crate::Shared).
pub fn ice_routes(node: Arc<Node>, clock: fn() -> Timestamp) -> Router {
    let routes = Router::new().route("/v1/ice", post(ice));
    let limited = limited(routes, RequestKind::Ice, &node, clock);
    limited.with_state(Ice { node, clock })
}

async fn ice(
    State(ice): State<Ice>,
    credentials: Credentials,
    offered: Option<Extension<OfferedServers>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let offered = offered.map(|Extension(OfferedServers(servers))| servers);
    let mut response = answer(&ice, &credentials, offered.as_ref(), &body).await;
    let fields = response.headers_mut();
    fields.insert(VARY, HeaderValue::from_static("origin"));
    // Pages of an origin that some site allows may read the answer. The token decides the rest.
    let origin =
        headers.get(ORIGIN).filter(|origin| origin.to_str().is_ok_and(|one| ice.node.origin_known(one)));
    if let Some(origin) = origin {
        fields.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    }
    response
}

async fn answer(
    ice: &Ice,
    credentials: &Credentials,
    offered: Option<&CallServers>,
    body: &[u8],
) -> Response {
    let Some(question) = IceQuestion::parse(body) else {
        return refused(Code::BadFrame, &code_only(Code::BadFrame));
    };
    let Credentials { token: Some(token), address } = credentials else {
        return refused_by(Refusal::BadToken);
    };
    let (sender, answer) = oneshot::channel();
    let then = move |outcome| drop(sender.send(outcome));
    ice.node.ice(&question.site, token, *address, (ice.clock)(), then);
    match answer.await {
        Ok(Ok(mut ice)) => {
            offered.iter().for_each(|servers| ice.offer(servers));
            ice.drop_unusable();
            let expires = ice.turn.as_ref().map(|turn| turn.expires.0);
            json(StatusCode::OK, IceAnswer { ice: servers(&ice), expires }.json())
        }
        Ok(Err(refusal)) => refused_by(refusal),
        // The store has dropped the question: it ends.
        Err(_) => refused_by(Refusal::Unavailable),
    }
}

fn refused_by(refusal: Refusal) -> Response {
    refused(code(refusal), &error(refusal, None, None))
}

fn code_only(code: Code) -> Event<'static> {
    Event::Error { code, text: code.meaning().trim().into(), re: None, id: None, retry_after: None }
}

fn refused(code: Code, event: &Event<'_>) -> Response {
    let mut body = Vec::new();
    event.write(&mut body);
    json(StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::BAD_REQUEST), body)
}

fn json(status: StatusCode, body: Vec<u8>) -> Response {
    let fields = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-store"),
        (axum::http::header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (status, fields, body).into_response()
}

//! `kith cluster drain` and `kith cluster move NODE`: another home takes the place of the running one.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;

use super::lease::Keeper;
use super::status_command::{node_of, request};
use super::{HAND_OVER_PATH as PATH, Secret};
use crate::config::Loaded;
use crate::print_line;
use crate::trouble::{Outcome, Trouble};

/// The field with the name of the node that becomes the home.
pub(super) const TO: &str = "kith-cluster-to";

/// The home's side. A front passes the request on, without a proof of its own: only the secret of the cluster counts.
pub(super) fn route(secret: String, keeper: Option<Arc<Keeper>>) -> Router {
    Router::new().route(PATH, post(answer)).with_state((Arc::<str>::from(secret), keeper))
}

async fn answer(
    State((secret, keeper)): State<(Arc<str>, Option<Arc<Keeper>>)>,
    headers: HeaderMap,
) -> Response {
    if !is_admitted(&headers, &secret) {
        return (StatusCode::UNAUTHORIZED, "needs the secret of the cluster").into_response();
    }
    let to = headers.get(TO).and_then(|name| name.to_str().ok());
    let given = match &keeper {
        Some(keeper) => keeper.give_away(to),
        None => Err("this home is on SQLite, so no other node can take its place".into()),
    };
    match given {
        Ok(name) => name.into_response(),
        Err(why) => (StatusCode::CONFLICT, why).into_response(),
    }
}

pub(super) fn is_admitted(headers: &HeaderMap, secret: &str) -> bool {
    let given = headers.get(AUTHORIZATION).and_then(|field| field.to_str().ok()?.strip_prefix("Bearer "));
    given.is_some_and(|given| web::is_same(given.as_bytes(), secret.as_bytes()))
}

/// The command. `to`: the name of the node; None: any that stands by.
pub(crate) fn run(to: Option<&str>, loaded: &Loaded) -> Outcome {
    let node = node_of(&loaded.config)?;
    let secret = Secret::of(&loaded.config)?.for_commands();
    let name = ask(node.http_from_here(), to, &secret)?;
    print_line(&format!("{name} becomes the home. See: kith cluster status --watch"))
}

/// Asks the node at this address to give its role away. Returns the name of its successor.
pub(super) fn ask(http: SocketAddr, to: Option<&str>, commands: &str) -> Outcome<String> {
    if to.is_some_and(|name| HeaderValue::from_str(name).is_err()) {
        return Err(Trouble::new("this is not the name of a node").remedy("see kith cluster status"));
    }
    let field = to.map(|name| format!("{TO}: {name}\r\n")).unwrap_or_default();
    let (code, body) = request(http, &format!("POST {PATH}"), commands, &field)?;
    let trouble = |why: &str| Trouble::new("the home keeps its role").because(why.trim());
    match &*code {
        "200" => Ok(body.trim().to_owned()),
        "401" => Err(trouble(&body).remedy("name the file that the home has: --cluster-secret-file FILE")),
        "404" => Err(trouble("the running node is no home of a cluster").remedy("start it with --cluster")),
        "503" => Err(trouble(&body).remedy("run this command at the home or at a front")),
        _ => Err(trouble(&body)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::http::Request;
    use tower::ServiceExt;

    fn ask(method: &str, path: &str, authorization: &str) -> StatusCode {
        let request = Request::builder().method(method).uri(path).header(AUTHORIZATION, authorization);
        let request = request.body(Body::empty()).expect("a request");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            route("right".into(), None).oneshot(request).await.expect("an answer").status()
        })
    }

    #[test]
    fn only_a_post_with_the_secret_moves_the_home() {
        assert_eq!(ask("POST", PATH, "Bearer right"), StatusCode::CONFLICT, "a home on SQLite stays");
        for wrong in ["", "right", "Bearer ", "Bearer wrong", "Bearer righ", "bearer right"] {
            assert_eq!(ask("POST", PATH, wrong), StatusCode::UNAUTHORIZED, "{wrong}");
        }
        assert_eq!(ask("GET", PATH, "Bearer right"), StatusCode::METHOD_NOT_ALLOWED);
    }
}

//! The unsubscribe page. Mail programs and scanners fetch links, so only a POST unsubscribes (RFC 8058 §3.2).

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use chat::{Node, Store};

use super::link::{Links, PATH};
use crate::wording::{Words, words};

#[derive(Clone)]
struct PageState {
    node: Arc<std::sync::OnceLock<std::sync::Weak<Node>>>,
    links: Links,
}

/// `node` is set once it exists; until then requests are refused.
pub(crate) fn routes(node: Arc<std::sync::OnceLock<std::sync::Weak<Node>>>, store: Arc<dyn Store>) -> Router {
    Router::new().route(PATH, get(ask).post(end)).with_state(PageState { node, links: Links::new(store) })
}

async fn ask(State(state): State<PageState>, RawQuery(query): RawQuery, head: HeaderMap) -> Response {
    let words = wanted(&head);
    match state.whose(query).await {
        Some(_) => page(StatusCode::OK, &words.mail.end_ask, Some(&words.mail.end_button), words),
        None => page(StatusCode::NOT_FOUND, &words.mail.end_wrong, None, words),
    }
}

async fn end(State(state): State<PageState>, RawQuery(query): RawQuery, head: HeaderMap) -> Response {
    let words = wanted(&head);
    let node = state.node.get().and_then(std::sync::Weak::upgrade);
    let (Some(user), Some(node)) = (state.whose(query).await, node) else {
        return page(StatusCode::NOT_FOUND, &words.mail.end_wrong, None, words);
    };
    node.end_mail(user);
    page(StatusCode::OK, &words.mail.end_done, None, words)
}

impl PageState {
    /// Our own links need no decoding.
    async fn whose(&self, query: Option<String>) -> Option<chat::UserId> {
        let text = query?.strip_prefix("m=")?.to_owned();
        let node = self.node.get().and_then(std::sync::Weak::upgrade)?;
        self.links.whose(&text, |key| node.site_id(key)).await
    }
}

fn wanted(head: &HeaderMap) -> &'static Words {
    let language = head.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    words(language.unwrap_or_default())
}

/// The texts contain nothing of the request.
fn page(status: StatusCode, text: &str, button: Option<&str>, words: &Words) -> Response {
    let button = button.map(|button| format!("<form method=\"post\"><button>{button}</button></form>"));
    let html = format!(
        "<!doctype html><html lang=\"{}\" dir=\"{}\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{}</title><body><main><p>{text}</p>{}</main></body></html>",
        words.language,
        words.dir(),
        words.mail.end_title,
        button.unwrap_or_default(),
    );
    let fields = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; form-action 'self'; frame-ancestors 'none'"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
    ];
    (status, fields, html).into_response()
}

//! The demo community: a small forum, its members, and the two things that a site adds for Kith: one script
//! tag (`pages.rs`) and one address that signs tokens ([`kith_token`]).

mod html;
mod pages;
mod people;
mod portrait;
mod seed;
mod showcase;
mod stickers;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chat::Store;
use chat::token::Claims;
use rand::RngCore;

use self::html::Html;
use self::pages::{Context, Visitor};
use crate::data_dir;
use crate::span::Span;
use crate::token;

pub(crate) use self::seed::{Community, settle};

/// Key of the demo's site.
pub(crate) const SITE: &str = "demo";

/// Short, because the widget fetches the next one in time.
const TOKEN_LIFE: Span = Span::seconds(600);

/// The pages. The community must exist in the store before.
pub(crate) fn routes(store: Arc<dyn Store>) -> Router {
    Router::new()
        .route("/", get(async || page(|_| pages::entrance())))
        .route("/visit", get(async || Redirect::permanent("/visit/")))
        .route("/visit/", get(async || page(|context| pages::index(Visitor::Guest, context))))
        .route(
            "/visit/thread/{slug}",
            get(async |Path(slug): Path<String>| thread(Some(Visitor::Guest), &slug)),
        )
        .route("/as/{member}", get(async |Path(id): Path<String>| Redirect::permanent(&format!("/as/{id}/"))))
        .route("/as/{member}/", get(index))
        .route("/as/{member}/thread/{slug}", get(member_thread))
        .route("/as/{member}/kith-token", post(kith_token))
        .route("/full/{member}", get(full_page))
        .route("/demo/avatar/{file}", get(avatar))
        .route("/demo/style.css", get(async || file("text/css; charset=utf-8", include_str!("style.css"))))
        .route("/demo/page.js", get(async || file("text/javascript; charset=utf-8", include_str!("page.js"))))
        .route("/demo/icon.svg", get(async || file("image/svg+xml", include_str!("icon.svg"))))
        .route("/favicon.ico", get(async || Redirect::permanent("/demo/icon.svg")))
        .fallback(async || not_found())
        .with_state(store)
}

/// Signs a token for the requesting member. This is all that a site needs on its server:
///
/// 1. Identify the member. A real site reads its own session cookie here; the demo trusts the address.
/// 2. Put id, name and picture into a token with a short lifetime, and sign it with the site's secret. The secret never leaves
///    the server.
/// 3. Forbid caching of the answer.
async fn kith_token(
    State(store): State<Arc<dyn Store>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    // Another site's page must not fetch a token with our member's cookies (Fetch Metadata).
    let other_site =
        headers.get("sec-fetch-site").is_some_and(|from| from != "same-origin" && from != "none");
    let Some(member) = people::member(&id).filter(|_| !other_site) else {
        return StatusCode::FORBIDDEN.into_response();
    };
    let claims = Claims {
        sub: member.id.into(),
        name: Some(member.name.into()),
        avatar: Some(member.avatar()),
        ..Claims::default()
    };
    // The store may wait for the disk.
    let site = tokio::task::spawn_blocking(move || data_dir::site(&*store, SITE)).await;
    let signed =
        site.ok().and_then(Result::ok).and_then(|site| token::sign(&site, claims, TOKEN_LIFE, crate::now()));
    match signed {
        Some(token) => {
            ([(CACHE_CONTROL, "no-store")], axum::Json(serde_json::json!({ "token": token }))).into_response()
        }
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

async fn index(Path(id): Path<String>) -> Response {
    match people::member(&id) {
        Some(member) => page(|context| pages::index(Visitor::Member(member), context)),
        None => not_found(),
    }
}

async fn member_thread(Path((id, slug)): Path<(String, String)>) -> Response {
    thread(people::member(&id).map(Visitor::Member), &slug)
}

async fn full_page(Path(id): Path<String>) -> Response {
    match people::member(&id) {
        Some(member) => page(|context| pages::full_page(member, context)),
        None => not_found(),
    }
}

async fn avatar(Path(name): Path<String>) -> Response {
    match name.strip_suffix(".svg").and_then(people::member) {
        Some(member) => file("image/svg+xml", member.portrait.svg()),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn thread(visitor: Option<Visitor>, slug: &str) -> Response {
    match (visitor, people::THREADS.iter().find(|thread| thread.slug == slug)) {
        (Some(visitor), Some(thread)) => page(|context| pages::thread(thread, visitor, context)),
        _ => not_found(),
    }
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, page(|_| pages::not_found())).into_response()
}

/// A page under a strict policy: nothing inline, nothing from other origins, Trusted Types.
fn page(draw: impl FnOnce(&Context<'_>) -> Html) -> Response {
    let mut random = [0; 18];
    rand::rng().fill_bytes(&mut random);
    let nonce = STANDARD.encode(random);
    let policy = format!(
        "default-src 'self'; script-src 'self' 'nonce-{nonce}'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'"
    );
    let headers = [
        (CONTENT_SECURITY_POLICY, policy),
        (CONTENT_TYPE, "text/html; charset=utf-8".into()),
        (CACHE_CONTROL, "no-store".into()),
        (REFERRER_POLICY, "same-origin".into()),
        (X_CONTENT_TYPE_OPTIONS, "nosniff".into()),
    ];
    let drawn = draw(&Context { site: SITE, nonce: &nonce });
    (headers, drawn.into_string()).into_response()
}

/// Short lifetime in caches, so that a new version of the demo appears soon.
fn file(kind: &'static str, content: impl IntoResponse) -> Response {
    let headers = [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "public, max-age=300"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // An SVG that is opened by itself is a document and can run scripts.
        (CONTENT_SECURITY_POLICY, "default-src 'none'"),
    ];
    (headers, content).into_response()
}

#[cfg(test)]
mod tests;

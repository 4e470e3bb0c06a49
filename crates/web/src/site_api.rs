//! REST for a site's own server: settings, reports, moderation and users.
//!
//! Each call carries `Authorization: Bearer <JWT>`: a token that the site has signed as those of its members, with the role `service`, or
//! `admin` for a person, whose stored rights decide. It is of no use for another site. Tokens never stand in a URL.

mod import;
mod site;
mod stickers;
mod users;

pub use stickers::{NotMade, new_sticker, sticker_routes};

use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use chat::{Caller, Node, NotSet, PageOf, Refusal, RequestKind, Respond, Timestamp};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use web_proto::{Code, Moderate, ReportState};

use crate::credentials::Credentials;
use crate::request_limit::limited;
use crate::wire::{code, moderation, retry_after};

#[derive(Clone)]
struct Api {
    node: Arc<Node>,
    clock: fn() -> Timestamp,
}

/// The routes, for the router beside the gateway. `clock`: the time, for tokens and for the record.
pub fn site_api(node: Arc<Node>, clock: fn() -> Timestamp) -> Router {
    let routes = Router::new()
        .route("/v1/sites/{site}", get(site::read).patch(site::patch))
        .route("/v1/sites/{site}/keys", post(site::add_key))
        .route("/v1/sites/{site}/keys/{kid}", delete(site::end_key))
        .route("/v1/sites/{site}/sign-out", post(site::sign_out))
        .route("/v1/sites/{site}/settings", get(settings).patch(change_settings))
        .route("/v1/sites/{site}/test-filter", post(test_filter))
        .route("/v1/sites/{site}/moderate", post(moderate))
        .route("/v1/sites/{site}/reports", get(reports))
        .route("/v1/sites/{site}/audit", get(audit))
        .route("/v1/sites/{site}/users", get(users::list))
        .route("/v1/sites/{site}/users/{user}/erase", post(users::erase))
        .route("/v1/sites/{site}/merge", post(users::merge));
    let api = Api { node, clock };
    let node = Arc::clone(&api.node);
    let importer = import::Importer { api: api.clone(), lane: Arc::new(import::Lane::new()) };
    let import = Router::new().route("/v1/sites/{site}/import", post(import::import)).with_state(importer);
    limited(routes.with_state(api).merge(import), RequestKind::Rest, &node, clock)
}

/// Why not: a code, and words for a developer.
struct Refused(Code, String, Option<u64>);

type Answer = Result<Value, Refused>;

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        Refused(code(refusal), refusal.to_string(), retry_after(refusal))
    }
}

impl Refused {
    #[allow(clippy::needless_pass_by_value, reason = "an error that ends here")]
    fn value(text: impl ToString) -> Refused {
        Refused(Code::BadValue, text.to_string(), None)
    }
}

fn answered(answer: Answer) -> Response {
    let (status, body) = match answer {
        Ok(body) => (StatusCode::OK, body),
        Err(Refused(code, text, retry_after)) => {
            let status = StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::BAD_REQUEST);
            let mut error = json!({ "t": "error", "code": code, "text": text });
            if let Some(ms) = retry_after {
                error["retry_after"] = ms.into();
            }
            (status, error)
        }
    };
    let fields = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
    (status, fields, body.to_string()).into_response()
}

impl Api {
    async fn caller(&self, site: &str, credentials: &Credentials) -> Result<Caller, Refused> {
        let Credentials { token: Some(token), address } = credentials else {
            let text = "Authorization: Bearer, and a token of the site".into();
            return Err(Refused(Code::BadToken, text, None));
        };
        let now = (self.clock)();
        self.ask(|node, respond| node.caller(site, token, *address, now, respond)).await
    }

    /// Waits for the domain without holding a thread.
    async fn ask<T: Send + 'static>(&self, ask: impl FnOnce(&Node, Respond<T>)) -> Result<T, Refused> {
        let (tell, respond) = oneshot::channel();
        ask(&self.node, Box::new(move |outcome| drop(tell.send(outcome))));
        Ok(respond.await.unwrap_or(Err(Refusal::Unavailable))?)
    }
}

async fn settings(State(api): State<Api>, Path(site): Path<String>, credentials: Credentials) -> Response {
    answered(read_settings(&api, &site, &credentials).await)
}

async fn read_settings(api: &Api, site: &str, credentials: &Credentials) -> Answer {
    let caller = api.caller(site, credentials).await?;
    Ok(api.node.settings(&caller)?.document())
}

async fn change_settings(
    State(api): State<Api>,
    Path(site): Path<String>,
    credentials: Credentials,
    body: Bytes,
) -> Response {
    answered(change(api, &site, &credentials, &body).await)
}

async fn change(api: Api, site: &str, credentials: &Credentials, body: &[u8]) -> Answer {
    let caller = api.caller(site, credentials).await?;
    let patch: Value = serde_json::from_slice(body).map_err(Refused::value)?;
    let (node, now) = (Arc::clone(&api.node), (api.clock)());
    // It waits for the disk.
    let changed = tokio::task::spawn_blocking(move || node.change_settings(&caller, &patch, now)).await;
    match changed {
        Ok(Ok(settings)) => Ok(settings.document()),
        Ok(Err(NotSet::Settings(why))) => Err(Refused::value(why)),
        Ok(Err(NotSet::Refused(refusal))) => Err(refusal.into()),
        Err(_) => Err(Refusal::Unavailable.into()),
    }
}

/// Tests the filters on `body`.
async fn test_filter(
    State(api): State<Api>,
    Path(site): Path<String>,
    credentials: Credentials,
    body: Bytes,
) -> Response {
    answered(do_test_filter(&api, &site, &credentials, &body).await)
}

async fn do_test_filter(api: &Api, site: &str, credentials: &Credentials, body: &[u8]) -> Answer {
    let caller = api.caller(site, credentials).await?;
    let asked: Value = serde_json::from_slice(body).map_err(Refused::value)?;
    let Some(text) = asked["body"].as_str() else { return Err(Refused::value("body: a text")) };
    let test = api.node.test_filters(&caller, text, (api.clock)())?;
    let (act, hits) = moderation::filter_test(&test);
    Ok(json!({ "act": act, "hits": hits }))
}

/// The body is the command `moderate` of the protocol, without `t` and `rid`.
async fn moderate(
    State(api): State<Api>,
    Path(site): Path<String>,
    credentials: Credentials,
    body: Bytes,
) -> Response {
    answered(do_moderate(api, &site, &credentials, &body).await)
}

async fn do_moderate(api: Api, site: &str, credentials: &Credentials, body: &[u8]) -> Answer {
    let caller = api.caller(site, credentials).await?;
    let mut asked: Value = serde_json::from_slice(body).map_err(Refused::value)?;
    let Some(fields) = asked.as_object_mut() else { return Err(Refused::value("an object is needed")) };
    fields.insert("rid".into(), 0.into());
    let asked = asked.to_string();
    let asked: Moderate<'_> = serde_json::from_str(&asked).map_err(Refused::value)?;
    let act = moderation::act(caller.site(), &asked)
        .map_err(|code| Refused(code, code.meaning().trim().to_owned(), None))?;
    let now = (api.clock)();
    let report = api.ask(|node, respond| node.moderate(&caller, act, now, respond)).await?;
    Ok(json!({ "report": report.as_deref().map(moderation::report) }))
}

async fn reports(
    State(api): State<Api>,
    Path(site): Path<String>,
    credentials: Credentials,
    uri: Uri,
) -> Response {
    answered(list_reports(api, &site, &credentials, &uri).await)
}

async fn list_reports(api: Api, site: &str, credentials: &Credentials, uri: &Uri) -> Answer {
    let caller = api.caller(site, credentials).await?;
    let state = field(uri, "state").map(|state| serde_json::from_value::<ReportState>(json!(state)));
    let state = state.transpose().map_err(Refused::value)?.map(crate::wire::ToChat::to_chat);
    let page = page(uri)?;
    let page = api.ask(|node, respond| node.reports(&caller, state, page, respond)).await?;
    let rows: Vec<_> = page.rows.iter().map(moderation::report).collect();
    Ok(json!({ "reports": rows, "next": page.next }))
}

async fn audit(
    State(api): State<Api>,
    Path(site): Path<String>,
    credentials: Credentials,
    uri: Uri,
) -> Response {
    answered(list_audit(api, &site, &credentials, &uri).await)
}

async fn list_audit(api: Api, site: &str, credentials: &Credentials, uri: &Uri) -> Answer {
    let caller = api.caller(site, credentials).await?;
    let page = page(uri)?;
    let page = api.ask(|node, respond| node.audit(&caller, page, respond)).await?;
    let rows: Vec<_> = page.rows.iter().map(moderation::audit_entry).collect();
    Ok(json!({ "entries": rows, "next": page.next }))
}

/// As it was meant: escapes are undone.
fn field<'a>(uri: &'a Uri, name: &str) -> Option<Cow<'a, str>> {
    let mut fields = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    fields.find(|(known, _)| known == name).map(|(_, value)| value)
}

fn page(uri: &Uri) -> Result<PageOf, Refused> {
    let limit = field(uri, "limit").map(|limit| limit.parse()).transpose();
    let limit = limit.map_err(|_| Refused::value("limit: a number"))?;
    Ok(PageOf { after: field(uri, "after").map(Cow::into_owned), limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_query() {
        let uri: Uri =
            "/v1/sites/a/users?query=Mei+T&limit=5&after=%C3%A5sa%00u-1".parse().expect("it is one");
        assert_eq!((field(&uri, "query").as_deref(), field(&uri, "none")), (Some("Mei T"), None));
        let page = page(&uri).map_err(|refused| refused.1).expect("it is sound");
        assert_eq!(page, PageOf { after: Some("åsa\0u-1".into()), limit: Some(5) });
        let wrong: Uri = "/?limit=many".parse().expect("it is one");
        assert!(super::page(&wrong).is_err());
    }
}

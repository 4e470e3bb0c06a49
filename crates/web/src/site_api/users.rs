//! Of users: erasing one, and a guest who becomes a member.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use chat::{Messages, Refusal, Sub};
use serde::Deserialize;
use serde_json::json;

use super::{Answer, Api, Refused, answered};

/// What becomes of what they have written: it stays as nobody's, unless it is said.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Erasure {
    messages: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Guest {
    guest: String,
    user: String,
}

/// The body may be empty.
pub(super) async fn erase(
    State(api): State<Api>,
    Path((site, user)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    answered(do_erase(&api, &site, &user, &headers, &body).await)
}

async fn do_erase(api: &Api, site: &str, user: &str, headers: &HeaderMap, body: &[u8]) -> Answer {
    let caller = api.caller(site, headers)?;
    let asked: Erasure = match body.trim_ascii() {
        b"" => Erasure::default(),
        body => serde_json::from_slice(body).map_err(Refused::value)?,
    };
    let user = Sub::parse(user).ok_or(Refusal::NoSuchUser)?;
    let messages = if asked.messages { Messages::Erased } else { Messages::Kept };
    let now = (api.clock)();
    api.ask(|node, told| node.erase(caller, user, messages, now, told)).await?;
    Ok(json!({ "erased": true }))
}

pub(super) async fn merge(
    State(api): State<Api>,
    Path(site): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    answered(do_merge(&api, &site, &headers, &body).await)
}

async fn do_merge(api: &Api, site: &str, headers: &HeaderMap, body: &[u8]) -> Answer {
    let caller = api.caller(site, headers)?;
    let asked: Guest = serde_json::from_slice(body).map_err(Refused::value)?;
    let guest = Sub::parse(&asked.guest).ok_or(Refusal::NoSuchUser)?;
    let user = Sub::parse(&asked.user).ok_or_else(|| Refused::value("user: the id of an account"))?;
    let now = (api.clock)();
    api.ask(|node, told| node.merge_guest(caller, guest, user, now, told)).await?;
    Ok(json!({ "merged": true }))
}

//! Users: lists them, erases one, and makes a guest a member.

use std::borrow::Cow;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use chat::{MessagesAfterErasure, OwnPictureId, Refusal, SiteRole, Sub, UserRow};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Answer, Api, Credentials, Refused, answered, field, page};
use crate::own_pictures;

/// A user as the site's own server sees them: more than other members do.
#[derive(Serialize)]
struct User<'a> {
    user: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    avatar: Option<&'a str>,
    /// Path of the picture that the user has set in an app, where that one is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    guest: bool,
    /// On the whole site, where it is more than a member.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<SiteRole>,
    #[serde(skip_serializing_if = "is_false")]
    banned: bool,
    #[serde(skip_serializing_if = "is_false")]
    muted: bool,
    #[serde(skip_serializing_if = "is_false")]
    shadow_banned: bool,
    /// When they came first and last, in Unix milliseconds.
    created: u64,
    last_seen: u64,
}

/// The fate of the user's messages: they stay without the name, unless the request says otherwise.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Erasure {
    messages: bool,
}

/// The guest proves by their token that they are the one who registers. No `Debug`: a token stands in no log.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Guest {
    guest_token: String,
    user: String,
}

impl User<'_> {
    fn of(row: &UserRow) -> User<'_> {
        let (profile, standing) = (&row.profile, row.on_site);
        let avatar = profile.avatar.as_deref();
        let own = avatar.and_then(|avatar| OwnPictureId::of_avatar(row.id.site, avatar));
        User {
            user: profile.sub.as_str(),
            name: &profile.name,
            avatar: avatar.filter(|_| own.is_none()),
            picture: own.map(own_pictures::path),
            guest: profile.guest,
            role: Some(standing.role).filter(|role| *role != SiteRole::Member),
            banned: row.banned,
            muted: standing.muted,
            shadow_banned: standing.shadowed,
            created: row.created.0,
            last_seen: row.last_seen.0,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

pub(super) async fn list(
    State(api): State<Api>,
    Path(site): Path<String>,
    credentials: Credentials,
    uri: Uri,
) -> Response {
    answered(do_list(&api, &site, &credentials, &uri).await)
}

async fn do_list(api: &Api, site: &str, credentials: &Credentials, uri: &Uri) -> Answer {
    let caller = api.caller(site, credentials).await?;
    let (query, page) = (field(uri, "query").map(Cow::into_owned), page(uri)?);
    let page = api.ask(|node, respond| node.users(&caller, query, page, respond)).await?;
    let users: Vec<_> = page.rows.iter().map(User::of).collect();
    Ok(json!({ "users": users, "next": page.next }))
}

/// The body may be empty.
pub(super) async fn erase(
    State(api): State<Api>,
    Path((site, user)): Path<(String, String)>,
    credentials: Credentials,
    body: Bytes,
) -> Response {
    answered(do_erase(&api, &site, &user, &credentials, &body).await)
}

async fn do_erase(api: &Api, site: &str, user: &str, credentials: &Credentials, body: &[u8]) -> Answer {
    let caller = api.caller(site, credentials).await?;
    let asked: Erasure = match body.trim_ascii() {
        b"" => Erasure::default(),
        body => serde_json::from_slice(body).map_err(Refused::value)?,
    };
    let user = Sub::parse(user).ok_or(Refusal::NoSuchUser)?;
    let messages = if asked.messages { MessagesAfterErasure::Erased } else { MessagesAfterErasure::Kept };
    let now = (api.clock)();
    api.ask(|node, respond| node.erase(&caller, user, messages, now, respond)).await?;
    Ok(json!({ "erased": true }))
}

pub(super) async fn merge(
    State(api): State<Api>,
    Path(site): Path<String>,
    credentials: Credentials,
    body: Bytes,
) -> Response {
    answered(do_merge(&api, &site, &credentials, &body).await)
}

async fn do_merge(api: &Api, site: &str, credentials: &Credentials, body: &[u8]) -> Answer {
    let caller = api.caller(site, credentials).await?;
    let asked: Guest = serde_json::from_slice(body).map_err(Refused::value)?;
    let user = Sub::parse(&asked.user).ok_or_else(|| Refused::value("user: the id of an account"))?;
    let now = (api.clock)();
    // Not 401: that would be about the token of the request.
    let guest = api.node.guest_proof(&caller, &asked.guest_token, now);
    let guest = guest.map_err(|refusal| Refused::value(format!("guest_token: {refusal}")))?;
    api.ask(|node, respond| node.merge_guest(&caller, guest, user, now, respond)).await?;
    Ok(json!({ "merged": true }))
}

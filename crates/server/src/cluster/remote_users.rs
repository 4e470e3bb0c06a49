//! Users of other servers and components, whom members with XMPP apps on fronts address. Their sessions are at the home, so a front asks it for
//! one before it passes the first stanza on.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ::xmpp::{Ensured, Mail, RemoteUsersAtHome, ensure_remote_user};
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::routing::post;
use chat::{SiteId, Sub};
use cluster::Fronts;
use edge::Mailboxes;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::forward;
use super::hand_over::is_admitted;

const PATH: &str = "/cluster/remote-user";
/// The home makes a session in some milliseconds. A component or its own load may delay it.
const ANSWER: Duration = Duration::from_secs(8);
const BODY_BYTES: usize = 8 * 1024;

#[derive(Serialize, Deserialize)]
struct Question {
    site: u32,
    user: String,
}

/// The home's side. A request of a client that a front has passed on does not have `proof`.
pub(super) fn route(proof: Arc<str>, mailboxes: Mailboxes<Mail>) -> Router {
    let route = post(answer).layer(DefaultBodyLimit::max(BODY_BYTES));
    Router::new().route(PATH, route).with_state((proof, mailboxes))
}

async fn answer(
    State((proof, mailboxes)): State<(Arc<str>, Mailboxes<Mail>)>,
    headers: HeaderMap,
    body: axum::body::Bytes,
) -> StatusCode {
    if !is_admitted(&headers, &proof) {
        return StatusCode::FORBIDDEN;
    }
    let question = serde_json::from_slice::<Question>(&body).ok();
    let remote = |user: &Sub| user.remote_address().is_some();
    let Some((site, user)) =
        question.and_then(|question| Some((question.site, Sub::parse(&question.user).filter(remote)?)))
    else {
        return StatusCode::BAD_REQUEST;
    };
    let (sender, is_there) = oneshot::channel();
    let answer = move |is_there| _ = sender.send(is_there);
    ensure_remote_user(&mailboxes, SiteId(site), user, Box::new(answer));
    match timeout(ANSWER, is_there).await {
        Ok(Ok(true)) => StatusCode::NO_CONTENT,
        Ok(Ok(false)) => StatusCode::NOT_FOUND,
        Ok(Err(_)) | Err(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// The front's side.
pub(super) struct AtHome {
    fronts: Arc<Fronts>,
    /// Of a front, for all requests; and for these alone.
    secret: HeaderValue,
    authorization: HeaderValue,
    runtime: Handle,
}

impl AtHome {
    /// Both secrets are text without spaces.
    pub(super) fn new(fronts: Arc<Fronts>, secret: &str, proof: &str, runtime: Handle) -> Option<AtHome> {
        let field = |text: &str| {
            let mut value = HeaderValue::from_str(text).ok()?;
            value.set_sensitive(true);
            Some(value)
        };
        Some(AtHome {
            fronts,
            secret: field(secret)?,
            authorization: field(&format!("Bearer {proof}"))?,
            runtime,
        })
    }
}

impl fmt::Debug for AtHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AtHome")
    }
}

impl RemoteUsersAtHome for AtHome {
    fn ensure(&self, site: SiteId, user: &Sub, answer: Ensured) {
        let question = Question { site: site.0, user: user.to_string() };
        let Some(home) = forward::home_of(&self.fronts, site.slot()) else { return answer(false) };
        let request = Request::post(PATH)
            .header(HOST, &*home)
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(serde_json::to_vec(&question).unwrap_or_default()));
        let Ok(request) = request else { return answer(false) };
        let secret = self.secret.clone();
        self.runtime.spawn(async move {
            let asked = timeout(ANSWER, forward::ask(&home, secret, None, request)).await;
            let status = asked.ok().and_then(Result::ok).map(|response| response.status());
            if !matches!(status, Some(StatusCode::NO_CONTENT | StatusCode::NOT_FOUND)) {
                tracing::debug!(?status, %home, "the home did not say whether a user of another server is there");
            }
            answer(status == Some(StatusCode::NO_CONTENT));
        });
    }
}

//! Questions of a front to its home, for members with XMPP apps. The home has the sessions of users of other servers, and the front needs a
//! session before it passes the first stanza on. The home also has the list of components.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ::xmpp::{Ensured, FoundComponents, Mail, ServersAtHome, ensure_remote_user, find_components};
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use chat::{SiteId, Sub};
use cluster::Fronts;
use edge::Mailboxes;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::forward;
use super::hand_over::is_admitted;

const REMOTE_USER: &str = "/cluster/remote-user";
const COMPONENTS: &str = "/cluster/components";
/// The home makes a session in some milliseconds. A component or its own load may delay it.
const ANSWER: Duration = Duration::from_secs(8);
const QUESTION_BYTES: usize = 8 * 1024;
/// Some thousands of domains.
const ANSWER_BYTES: usize = 256 * 1024;

#[derive(Serialize, Deserialize)]
struct AboutUser {
    site: u32,
    user: String,
}

#[derive(Serialize, Deserialize)]
struct AboutComponents {
    site: u32,
}

#[derive(Clone)]
struct Home {
    proof: Arc<str>,
    mailboxes: Mailboxes<Mail>,
}

/// The home's side. A request of a client that a front has passed on does not have `proof`.
pub(super) fn routes(proof: Arc<str>, mailboxes: Mailboxes<Mail>) -> Router {
    Router::new()
        .route(REMOTE_USER, post(remote_user))
        .route(COMPONENTS, post(components))
        .layer(DefaultBodyLimit::max(QUESTION_BYTES))
        .with_state(Home { proof, mailboxes })
}

async fn remote_user(State(home): State<Home>, headers: HeaderMap, body: Bytes) -> StatusCode {
    if !is_admitted(&headers, &home.proof) {
        return StatusCode::FORBIDDEN;
    }
    let question = serde_json::from_slice::<AboutUser>(&body).ok();
    let remote = |user: &Sub| user.remote_address().is_some();
    let Some((site, user)) =
        question.and_then(|question| Some((question.site, Sub::parse(&question.user).filter(remote)?)))
    else {
        return StatusCode::BAD_REQUEST;
    };
    let (sender, is_there) = oneshot::channel();
    let answer = move |is_there| _ = sender.send(is_there);
    ensure_remote_user(&home.mailboxes, SiteId(site), user, Box::new(answer));
    match timeout(ANSWER, is_there).await {
        Ok(Ok(true)) => StatusCode::NO_CONTENT,
        Ok(Ok(false)) => StatusCode::NOT_FOUND,
        Ok(Err(_)) | Err(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

async fn components(
    State(home): State<Home>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Vec<Box<str>>>, StatusCode> {
    if !is_admitted(&headers, &home.proof) {
        return Err(StatusCode::FORBIDDEN);
    }
    let question: AboutComponents = serde_json::from_slice(&body).map_err(|_| StatusCode::BAD_REQUEST)?;
    let (sender, found) = oneshot::channel();
    let answer = move |components| _ = sender.send(components);
    find_components(&home.mailboxes, SiteId(question.site), Box::new(answer));
    match timeout(ANSWER, found).await {
        Ok(Ok(components)) => Ok(Json(components)),
        Ok(Err(_)) | Err(_) => Err(StatusCode::SERVICE_UNAVAILABLE),
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

impl AtHome {
    /// `read` gets the home's answer. None: none has come in time.
    fn ask(
        &self,
        site: SiteId,
        path: &'static str,
        question: &impl Serialize,
        read: impl FnOnce(Option<(StatusCode, Bytes)>) + Send + 'static,
    ) {
        let Some((home, request)) = self.request(site, path, question) else { return read(None) };
        let secret = self.secret.clone();
        let asked = async move {
            let response = forward::ask(&home, secret, None, request).await.ok()?;
            let status = response.status();
            Some((status, to_bytes(response.into_body(), ANSWER_BYTES).await.ok()?))
        };
        self.runtime.spawn(async move {
            let answer = timeout(ANSWER, asked).await.ok().flatten();
            if answer.as_ref().is_none_or(|(status, _)| status.is_server_error()) {
                tracing::debug!(path, "the home does not answer a question about other servers");
            }
            read(answer);
        });
    }

    fn request(&self, site: SiteId, path: &str, question: &impl Serialize) -> Option<(Arc<str>, Request)> {
        let home = forward::home_of(&self.fronts, site.slot())?;
        let request = Request::post(path)
            .header(HOST, &*home)
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(serde_json::to_vec(question).ok()?));
        Some((home, request.ok()?))
    }
}

impl ServersAtHome for AtHome {
    fn ensure(&self, site: SiteId, user: &Sub, answer: Ensured) {
        let question = AboutUser { site: site.0, user: user.to_string() };
        self.ask(site, REMOTE_USER, &question, |said| {
            answer(said.is_some_and(|(status, _)| status == StatusCode::NO_CONTENT));
        });
    }

    fn find_components(&self, site: SiteId, answer: FoundComponents) {
        let question = AboutComponents { site: site.0 };
        self.ask(site, COMPONENTS, &question, |said| {
            let said = said.filter(|(status, _)| *status == StatusCode::OK);
            answer(said.and_then(|(_, body)| serde_json::from_slice(&body).ok()).unwrap_or_default());
        });
    }
}

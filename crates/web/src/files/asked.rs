//! The author of a request about files, and its refusals.

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use chat::{Identified, Node, Refusal, SiteId, Timestamp};
use tokio::sync::oneshot;
use web_proto::{Code, Event};

use crate::credentials::bearer;
use crate::request::is_own_origin;
use crate::request_limit;

/// A refusal, as the client gets it.
#[derive(Debug)]
pub(crate) struct Refused {
    status: u16,
    code: Code,
    text: String,
    retry_after_ms: Option<u64>,
}

impl Refused {
    pub(super) fn of(code: Code) -> Refused {
        let retry_after_ms = (code == Code::Unavailable).then_some(3_000);
        Refused { status: code.http_status(), code, text: code.meaning().trim().to_owned(), retry_after_ms }
    }

    pub(super) fn because(code: Code, text: &str) -> Refused {
        Refused { text: text.to_owned(), ..Refused::of(code) }
    }

    pub(super) fn saying(self, text: &str) -> Refused {
        Refused { text: text.to_owned(), ..self }
    }

    pub(super) fn with_status(self, status: u16) -> Refused {
        Refused { status, ..self }
    }

    #[cfg(test)]
    pub(super) fn code(&self) -> Code {
        self.code
    }

    pub(crate) fn response(&self) -> Response<Body> {
        let mut json = Vec::new();
        let (text, retry_after) = (self.text.as_str().into(), self.retry_after_ms);
        Event::Error { code: self.code, text, re: None, id: None, retry_after }.write(&mut json);
        let mut response = Response::new(Body::from(json));
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_REQUEST);
        let fields = response.headers_mut();
        fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(ms) = self.retry_after_ms {
            fields.insert(header::RETRY_AFTER, ms.div_ceil(1_000).into());
        }
        fields.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        let refused = Refused::because(crate::wire::code(refusal), &refusal.to_string());
        let retry_after_ms = crate::wire::retry_after(refusal).or(refused.retry_after_ms);
        Refused { retry_after_ms, ..refused }
    }
}

/// The disk failed.
impl From<std::io::Error> for Refused {
    fn from(error: std::io::Error) -> Refused {
        tracing::error!(%error, "cannot store or read a file");
        Refused::of(Code::Unavailable)
    }
}

/// Waits for an answer of the domain.
pub(super) async fn answer<T: Send + 'static>(
    ask: impl FnOnce(Box<dyn FnOnce(Result<T, Refusal>) + Send>),
) -> Result<T, Refused> {
    let (sender, outcome) = oneshot::channel();
    ask(Box::new(move |found| _ = sender.send(found)));
    Ok(outcome.await.unwrap_or(Err(Refusal::Unavailable))?)
}

/// Runs blocking work on a thread that may block.
pub(super) async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, Refused> + Send + 'static,
) -> Result<T, Refused> {
    let done = tokio::task::spawn_blocking(act).await;
    done.unwrap_or_else(|_| Err(Refused::of(Code::Internal)))
}

/// The origin of the requesting page, if it is not ours.
pub(super) fn origin(fields: &HeaderMap) -> Option<&str> {
    let text = |name| fields.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    text(header::ORIGIN).filter(|origin| !is_own_origin(origin, host))
}

/// The user whose token comes with the request, as `Authorization: Bearer`.
pub(super) async fn identify(
    node: &Node,
    site: SiteId,
    head: &Parts,
    now: Timestamp,
) -> Result<Identified, Refused> {
    let Some(token) = bearer(&head.headers) else {
        return Err(Refused::because(Code::BadToken, "a token is needed, as `authorization: Bearer …`"));
    };
    let (origin, address) = (origin(&head.headers), request_limit::address(&head.extensions));
    answer(|then| node.identify(site, token, origin, address, now, then)).await
}

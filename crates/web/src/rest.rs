//! The bridge to the pages and REST: a whole request to the axum router on the tokio side, the whole answer back.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::response::Parts;
use axum::http::{HeaderName, HeaderValue, Method, Request, Response, Uri, header};
use bytes::Bytes;
use edge::{Conns, Handle, Io, Mailboxes};
use http_proto::head::Head;
use tokio::sync::mpsc;
use tower::ServiceExt;

use crate::answer::{Pending, TEXT};
use crate::config::Shared;
use crate::gateway::{Conn, Gateway, Mail, PIECE_TIME, State, after_answer, read_on};
use crate::pieces::{Outgoing, is_streamed, pass_on};
use crate::request::take_waiting;

/// The author of a request, as an extension of requests that reach the router.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// Of the socket, or the one that a trusted proxy names.
    pub address: Option<IpAddr>,
}

/// A request head on its way to the router.
pub(crate) struct Forward {
    request: Option<Request<()>>,
}

/// The answer of the router. Framing is the gateway's.
pub struct Answer {
    status: u16,
    fields: String,
    body: Bytes,
    /// Of the body, or of the one that a HEAD does without.
    length: usize,
    /// The worker requests the body piece by piece.
    asks: Option<mpsc::Sender<()>>,
}

impl Forward {
    pub(crate) fn of(head: &Head<'_>, address: Option<IpAddr>) -> Forward {
        Forward { request: request(head, Client { address }) }
    }

    /// The answer will come to `to` as [`Mail::Rest`].
    pub(crate) fn begin(self, shared: &Arc<Shared>, worker: usize, to: Handle, body: Body) {
        let Some(request) = self.request else {
            let answer = Answer::plain(400, "this request cannot be understood\n");
            return shared.mailboxes.send(worker, Mail::Rest { to, answer: Box::new(answer) });
        };
        let request = request.map(|()| body);
        let router = shared.router.clone();
        let reply = Reply { mailboxes: shared.mailboxes.clone(), worker, to, is_sent: false };
        let limit = shared.config.rest_answer_bytes;
        shared.runtime.spawn(async move {
            // The router's error type has no values.
            let response = router.oneshot(request).await.unwrap_or_else(|never| match never {});
            if !is_streamed(&response) {
                return reply.send(Answer::collect(response, limit).await);
            }
            let (head, body) = response.into_parts();
            let (asks, asked) = mpsc::channel(1);
            let mailboxes = reply.mailboxes.clone();
            reply.send(Answer { asks: Some(asks), ..Answer::of(&head, Bytes::new()) });
            pass_on(body, asked, mailboxes, worker, to).await;
        });
    }
}

/// The way back. Its drop without an answer sends 500: a handler has panicked, or the runtime stops.
struct Reply {
    mailboxes: Mailboxes<Mail>,
    worker: usize,
    to: Handle,
    is_sent: bool,
}

impl Reply {
    fn send(mut self, answer: Answer) {
        self.is_sent = true;
        self.mailboxes.send(self.worker, Mail::Rest { to: self.to, answer: Box::new(answer) });
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if !self.is_sent {
            let answer = Box::new(Answer::plain(500, "the answer could not be made\n"));
            self.mailboxes.send(self.worker, Mail::Rest { to: self.to, answer });
        }
    }
}

fn request(head: &Head<'_>, client: Client) -> Option<Request<()>> {
    let target = match head.query {
        Some(query) => format!("{}?{query}", head.path),
        None => head.path.to_string(),
    };
    let mut request = Request::new(());
    *request.method_mut() = Method::from_bytes(head.method.as_bytes()).ok()?;
    *request.uri_mut() = target.parse::<Uri>().ok()?;
    request.extensions_mut().insert(client);
    for field in head.fields {
        let name = HeaderName::from_bytes(field.name.as_bytes()).ok()?;
        request.headers_mut().append(name, HeaderValue::from_bytes(field.value).ok()?);
    }
    Some(request)
}

impl Answer {
    fn plain(status: u16, text: &'static str) -> Answer {
        let body = Bytes::from_static(text.as_bytes());
        Answer { status, fields: TEXT.into(), length: body.len(), body, asks: None }
    }

    async fn collect(response: Response<Body>, limit: usize) -> Answer {
        let (head, body) = response.into_parts();
        let Ok(body) = to_bytes(body, limit).await else {
            tracing::error!("a response was incomplete or larger than {limit} bytes");
            return Answer::plain(500, "the answer could not be made\n");
        };
        Answer::of(&head, body)
    }

    fn of(head: &Parts, body: Bytes) -> Answer {
        let announced =
            head.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        let length = announced.filter(|_| body.is_empty()).unwrap_or(body.len());
        let mut fields = String::new();
        for (name, value) in &head.headers {
            // The gateway frames, dates and ends answers by itself.
            if [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION, header::DATE]
                .contains(name)
            {
                continue;
            }
            if let Ok(value) = value.to_str() {
                write!(fields, "{name}: {value}\r\n").expect("a String takes all");
            }
        }
        Answer { status: head.status.as_u16(), fields, body, length, asks: None }
    }

    /// As a whole: for answers that are not large.
    pub(crate) fn send_small(&self, pending: &Pending, io: &mut Io<'_>) {
        pending.send(io, self.status, &self.fields, &self.body);
    }
}

impl Gateway {
    pub(crate) fn answer_rest(&mut self, to: Handle, answer: &Answer, conns: &mut Conns<'_, Conn>) {
        let Some((conn, mut io)) = conns.get(to) else { return };
        if matches!(conn.state, State::Incoming(_)) {
            return self.answer_early(conn, answer, &mut io);
        }
        let Some(waiting) = take_waiting(&mut conn.state) else { return };
        let pending = waiting.pending;
        // Only the answer to a HEAD may have a length without a body. Requested pieces come later.
        let is_told = pending.is_head || answer.asks.is_some();
        let length = if is_told { answer.length } else { answer.body.len() };
        let rest = pending.send_shared(&mut io, answer.status, &answer.fields, Some(&answer.body), length);
        match answer.asks.clone().filter(|_| !pending.is_head && length > 0) {
            Some(asks) => {
                io.set_timer(Some(PIECE_TIME));
                conn.state = State::Outgoing(Box::new(Outgoing::begin(pending, asks, length)));
            }
            None => {
                after_answer(&mut conn.state, pending, rest, &self.shared.config, &mut io);
                read_on(&mut io);
            }
        }
    }
}

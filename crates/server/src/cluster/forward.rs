//! Requests for pages, REST and files that a front passes on to the home of their site.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, RETRY_AFTER, TRANSFER_ENCODING};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use chat::RemoteNode;
use cluster::{Fronts, Slot};
use http_body::Frame;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::site_of_request::{ICE_BYTES, ICE_PATH, SiteOf, key_in_body, site_of};
use super::{CLIENT_FIELD, HAND_OVER_PATH, SECRET_FIELD, SERVERS_FIELD};

const CONNECT: Duration = Duration::from_secs(3);
/// Until the head of the answer. An upload sends its body meanwhile.
const ANSWER: Duration = Duration::from_secs(120);
/// Answers of this size and more travel piece by piece.
const STREAMED: u64 = 1 << 20;
/// The size of a piece.
const PIECE: usize = 256 * 1024;

#[derive(Clone)]
struct ToHome {
    fronts: Arc<Fronts>,
    secret: HeaderValue,
}

/// Passes on every request. None: the secret is no text.
pub(crate) fn routes(fronts: Arc<Fronts>, secret: &str) -> Option<Router> {
    let mut secret = HeaderValue::from_str(secret).ok()?;
    secret.set_sensitive(true);
    Some(Router::new().fallback(pass_on).with_state(ToHome { fronts, secret }))
}

/// The internal address of the home of a slot. None: it has not announced itself yet.
pub(super) fn home_of(fronts: &Fronts, slot: Slot) -> Option<Arc<str>> {
    fronts.of_slot(slot)?.home()
}

async fn pass_on(
    State(to): State<ToHome>,
    client: Option<Extension<web::Client>>,
    mut request: Request,
) -> Response {
    let slot;
    (slot, request) = match slot_of(&to.fronts, request).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    let Some(home) = home_of(&to.fronts, slot) else { return away() };
    let address = client.and_then(|client| client.0.address);
    request.headers_mut().remove(SERVERS_FIELD);
    if request.uri().path() == ICE_PATH
        && let Some(servers) = to.fronts.call_servers(slot)
        && let Ok(servers) = serde_json::to_vec(&servers)
        && let Ok(servers) = HeaderValue::from_bytes(&servers)
    {
        request.headers_mut().insert(SERVERS_FIELD, servers);
    }
    match timeout(ANSWER, ask(&home, to.secret, address, request)).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => {
            tracing::debug!(%error, %home, "the home did not answer a request");
            away()
        }
        Err(_) => away(),
    }
}

/// The slot of the site that a request names. The first slot answers for a site that no slot has. While a slot has not published its
/// sites yet, nobody knows that.
async fn slot_of(fronts: &Fronts, request: Request) -> Result<(Slot, Request), Response> {
    if fronts.iter().len() == 1 {
        return Ok((Slot::FIRST, request));
    }
    // It names no site, and each slot has its own home.
    if request.uri().path() == HAND_OVER_PATH {
        let why = "this cluster has several slots: run the command at a node with homes\n";
        return Err((StatusCode::CONFLICT, why).into_response());
    }
    let sites = fronts.sites();
    let of_key = |key: &str| match sites.by_key(key) {
        Some(site) => Some(site.id.slot()),
        None => sites.is_complete().then_some(Slot::FIRST),
    };
    match site_of(request.uri(), request.headers()) {
        SiteOf::Number(site) => Ok((site.slot(), request)),
        SiteOf::Key(key) => Ok((of_key(&key).ok_or_else(away)?, request)),
        SiteOf::No => Ok((Slot::FIRST, request)),
        SiteOf::Body => {
            let (head, body) = request.into_parts();
            let Ok(body) = axum::body::to_bytes(body, ICE_BYTES).await else {
                return Err(StatusCode::PAYLOAD_TOO_LARGE.into_response());
            };
            let slot = key_in_body(&body).map_or(Some(Slot::FIRST), |key| of_key(&key));
            let slot = slot.ok_or_else(away)?;
            Ok((slot, Request::from_parts(head, Body::from(body))))
        }
    }
}

fn away() -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "2")], "the home of this site is away; try again soon\n")
        .into_response()
}

pub(super) async fn ask(
    home: &str,
    secret: HeaderValue,
    client: Option<std::net::IpAddr>,
    mut request: Request,
) -> Result<Response, Box<dyn std::error::Error + Send + Sync>> {
    let stream = timeout(CONNECT, TcpStream::connect(home)).await??;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // It ends with the answer's body.
    tokio::spawn(connection);
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse::<Uri>()?;
    let headers = request.headers_mut();
    for field in [CONNECTION, TRANSFER_ENCODING, EXPECT] {
        headers.remove(field);
    }
    headers.insert(SECRET_FIELD, secret);
    headers.remove(CLIENT_FIELD);
    if let Some(client) = client {
        headers.insert(CLIENT_FIELD, HeaderValue::from_str(&client.to_string())?);
    }
    let response = sender.send_request(request).await?;
    let length =
        response.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let response = response.map(Body::new);
    if length.is_none_or(|length| length < STREAMED) {
        return Ok(response);
    }
    let mut response = response.map(|body| Body::new(Pieces { body, piece: BytesMut::new() }));
    web::pass_on_in_pieces(&mut response);
    Ok(response)
}

/// Gathers the bytes of a body into pieces of [`PIECE`] bytes: the gateway passes each piece on in one mail.
struct Pieces {
    body: Body,
    piece: BytesMut,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        loop {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => {
                    // Trailers are not passed on.
                    let Ok(bytes) = frame.into_data() else { continue };
                    self.piece.extend_from_slice(&bytes);
                    if self.piece.len() >= PIECE {
                        return Poll::Ready(Some(Ok(Frame::data(self.piece.split().freeze()))));
                    }
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None if self.piece.is_empty() => return Poll::Ready(None),
                None => return Poll::Ready(Some(Ok(Frame::data(self.piece.split().freeze())))),
            }
        }
    }
}

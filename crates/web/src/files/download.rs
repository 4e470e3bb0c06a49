//! Downloads: a signed link, and an answer in which nothing runs.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use axum::extract::State;
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH, IF_RANGE, RANGE,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, Method, Request, Response, StatusCode};
use bytes::Bytes;
use chat::{Blob, FileRow, Rendition};
use http_body::Frame;
use tokio::task::JoinHandle;
use web_proto::Code;

use super::asked::{Refused, answer, blocking};
use super::link::push_escaped;
use super::{FilesState, ROOM_PICTURES, id_text, named, named_after, query_value};
use crate::assets::{Range, range_of};
use crate::pieces::Streamed;

/// So much is read at once; more than the connection layer's soft limit, see [`Streamed`].
const PIECE_BYTES: u64 = 128 * 1024;

pub(super) async fn download(State(state): State<Arc<FilesState>>, request: Request<Body>) -> Response<Body> {
    let (head, _) = request.into_parts();
    shown(find(&state, &head.method, head.uri.path(), head.uri.query(), &head.headers).await)
}

/// The picture of a room, no larger than a thumbnail. Everybody who knows its id may read it.
pub(super) async fn room_picture(
    State(state): State<Arc<FilesState>>,
    request: Request<Body>,
) -> Response<Body> {
    let (head, _) = request.into_parts();
    let mut response = shown(find_room_picture(&state, &head.method, head.uri.path(), &head.headers).await);
    if response.status() == StatusCode::OK {
        // The bytes of an id never change. A picture that was replaced leaves caches within a day.
        let public = HeaderValue::from_static("public, max-age=86400, immutable");
        response.headers_mut().insert(CACHE_CONTROL, public);
    }
    response
}

async fn find_room_picture(
    state: &FilesState,
    method: &Method,
    path: &str,
    fields: &HeaderMap,
) -> Result<Response<Body>, Refused> {
    let id = named_after(ROOM_PICTURES, path).ok_or(Refused::of(Code::NoSuchFile))?;
    let row = answer(|then| state.files.node.file(id, then)).await?;
    let Some(picture) = row.file.picture.as_ref().filter(|_| row.is_room_picture) else {
        return Err(Refused::of(Code::NoSuchFile));
    };
    let rendition = if picture.has_thumbnail { Rendition::Thumbnail } else { Rendition::Picture };
    let blobs = Arc::clone(&state.files.blobs);
    let blob = blocking(move || open(&*blobs, id, rendition)).await?;
    Ok(part(method, fields, &row, &format!("\"{}-room\"", id_text(id)), blob))
}

fn shown(outcome: Result<Response<Body>, Refused>) -> Response<Body> {
    let mut response = outcome.unwrap_or_else(|refused| refused.response());
    let fields = response.headers_mut();
    let name = HeaderName::from_static;
    fields.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    fields.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    fields.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // The link, or the id, says who may read it, and no cookie is looked at: any page that has it may.
    fields.insert(name("access-control-allow-origin"), HeaderValue::from_static("*"));
    fields.insert(name("cross-origin-resource-policy"), HeaderValue::from_static("cross-origin"));
    response
}

async fn find(
    state: &FilesState,
    method: &Method,
    path: &str,
    query: Option<&str>,
    fields: &HeaderMap,
) -> Result<Response<Body>, Refused> {
    let id = named(path).ok_or(Refused::of(Code::NoSuchFile))?;
    let asked = |key: &str| query_value(query.unwrap_or_default(), key);
    if !state.files.links.open(id, asked("e").unwrap_or_default(), asked("s").unwrap_or_default()) {
        return Err(Refused::of(Code::BadLink));
    }
    let row = answer(|then| state.files.node.file(id, then)).await?;
    if !row.is_complete {
        return Err(Refused::of(Code::NoSuchFile));
    }
    let rendition = match &row.file.picture {
        None => Rendition::Upload,
        Some(picture) if picture.has_thumbnail && asked("t").is_some() => Rendition::Thumbnail,
        Some(_) => Rendition::Picture,
    };
    let tag = match rendition {
        Rendition::Thumbnail => format!("\"{}-t\"", id_text(id)),
        Rendition::Upload | Rendition::Picture => format!("\"{}\"", id_text(id)),
    };
    if fields.get(IF_NONE_MATCH).and_then(|tags| tags.to_str().ok()).is_some_and(|tags| tags.contains(&tag)) {
        return Ok(described(
            Response::builder().status(StatusCode::NOT_MODIFIED),
            &row,
            &tag,
            Body::empty(),
        ));
    }
    let blobs = Arc::clone(&state.files.blobs);
    let blob = blocking(move || open(&*blobs, id, rendition)).await?;
    Ok(part(method, fields, &row, &tag, blob))
}

/// Its row is there and its bytes are not: it was removed a moment ago, or the folder was lost.
fn open(blobs: &dyn chat::Blobs, id: chat::FileId, rendition: Rendition) -> Result<Arc<dyn Blob>, Refused> {
    match blobs.open(id, rendition) {
        Ok(blob) => Ok(Arc::from(blob)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Refused::of(Code::NoSuchFile)),
        Err(error) => Err(error.into()),
    }
}

/// The whole file, or the one requested range (RFC 9110 §14.2).
fn part(
    method: &Method,
    fields: &HeaderMap,
    row: &FileRow,
    tag: &str,
    blob: Arc<dyn Blob>,
) -> Response<Body> {
    let bytes = blob.bytes();
    let is_same = fields.get(IF_RANGE).is_none_or(|asked| asked.as_bytes() == tag.as_bytes());
    let asked = fields.get(RANGE).filter(|_| is_same && method == Method::GET);
    let range = asked.map_or(Range::Whole, |asked| {
        range_of(asked.as_bytes(), usize::try_from(bytes).unwrap_or(usize::MAX))
    });
    let (first, end, status) = match range {
        Range::Whole => (0, bytes, StatusCode::OK),
        Range::Part(first, last) => (first as u64, last as u64 + 1, StatusCode::PARTIAL_CONTENT),
        Range::Unsatisfiable => {
            let builder = Response::builder()
                .status(StatusCode::RANGE_NOT_SATISFIABLE)
                .header(CONTENT_RANGE, format!("bytes */{bytes}"));
            return described(builder, row, tag, Body::empty());
        }
    };
    let mut builder = Response::builder().status(status).header(CONTENT_LENGTH, end - first);
    if status == StatusCode::PARTIAL_CONTENT {
        builder = builder.header(CONTENT_RANGE, format!("bytes {first}-{}/{bytes}", end - 1));
    }
    let body = match method == Method::HEAD || end == first {
        true => Body::empty(),
        false => Body::new(Reading { blob, at: first, end, piece: None }),
    };
    let mut response = described(builder, row, tag, body);
    if method != Method::HEAD {
        response.extensions_mut().insert(Streamed);
    }
    response
}

fn described(builder: axum::http::response::Builder, row: &FileRow, tag: &str, body: Body) -> Response<Body> {
    let file = &row.file;
    let shown = file.kind.is_picture() || file.kind.is_played();
    let mut disposition = if shown { "inline" } else { "attachment" }.to_owned();
    // RFC 8187: all letters, and no old form that browsers would read differently.
    disposition.push_str("; filename*=UTF-8''");
    push_escaped(&mut disposition, &file.name);
    builder
        .header(CONTENT_TYPE, file.kind.name())
        .header(CONTENT_DISPOSITION, disposition)
        .header(ETAG, tag)
        .header(ACCEPT_RANGES, "bytes")
        // The bytes of an id never change.
        .header(CACHE_CONTROL, "private, max-age=31536000, immutable")
        .body(body)
        .unwrap_or_else(|_| Refused::of(Code::Internal).response())
}

/// A blob as a body, piece by piece.
struct Reading {
    blob: Arc<dyn Blob>,
    at: u64,
    end: u64,
    piece: Option<JoinHandle<io::Result<Bytes>>>,
}

impl HttpBody for Reading {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if self.at >= self.end {
            return Poll::Ready(None);
        }
        let (at, bytes) = (self.at, PIECE_BYTES.min(self.end - self.at) as usize);
        let blob = Arc::clone(&self.blob);
        let piece = self.piece.get_or_insert_with(|| {
            tokio::task::spawn_blocking(move || {
                let mut piece = vec![0; bytes];
                blob.read_at(&mut piece, at)?;
                Ok(Bytes::from(piece))
            })
        });
        let read = ready!(Pin::new(piece).poll(context));
        self.piece = None;
        match read {
            Ok(Ok(piece)) => {
                self.at += piece.len() as u64;
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            Ok(Err(error)) => Poll::Ready(Some(Err(error))),
            Err(_) => Poll::Ready(Some(Err(io::Error::other("the reading thread is gone")))),
        }
    }
}

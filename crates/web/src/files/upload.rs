//! Uploads: made, gone on with in pieces, asked after, given up.

use std::fs::File;
use std::io::Write;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::State;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Request, Response, StatusCode};
use bytes::Bytes;
use chat::{FileId, FileRow, Identified, Peaks, Sub, To, Wish};
use web_proto::Code;

use super::asked::{Refused, answer, blocking, identify, origin};
use super::writers::Turn;
use super::{FilesState, PictureBy, id_text, named, tus};
use crate::credentials::bearer;
use crate::request_limit;

/// `/v1/files`.
pub(super) async fn collection(
    State(state): State<Arc<FilesState>>,
    request: Request<Body>,
) -> Response<Body> {
    let (head, _) = request.into_parts();
    let outcome = match head.method {
        Method::POST => create(&state, &head).await,
        Method::OPTIONS => Ok(abilities(&state)),
        _ => Ok(tus::answer(StatusCode::METHOD_NOT_ALLOWED, &[])),
    };
    with_common_fields(&state, &head.headers, outcome)
}

/// `/v1/files/SITE/ID`.
pub(super) async fn one(State(state): State<Arc<FilesState>>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let outcome = match head.method {
        Method::OPTIONS => Ok(abilities(&state)),
        Method::HEAD | Method::GET | Method::PATCH | Method::DELETE => match named(head.uri.path()) {
            Some(id) => go_on(&state, &head, id, body).await,
            None => Err(Refused::of(Code::NoSuchFile)),
        },
        _ => Ok(tus::answer(StatusCode::METHOD_NOT_ALLOWED, &[])),
    };
    with_common_fields(&state, &head.headers, outcome)
}

/// `/v1/files/SITE/ID/NAME`: the whole file in one request, from an app that has a slot (XEP-0363). Pages of all origins may
/// send it: the slot says who may, and no cookie is looked at.
pub(super) async fn whole(State(state): State<Arc<FilesState>>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let name = HeaderName::from_static;
    let outcome = match head.method {
        Method::PUT => put(&state, &head, body).await,
        _ => Ok(tus::answer(
            StatusCode::NO_CONTENT,
            &[
                (name("access-control-allow-methods"), "PUT, GET, HEAD".into()),
                (name("access-control-allow-headers"), "authorization, content-type".into()),
                (name("access-control-max-age"), "7200".into()),
            ],
        )),
    };
    let mut response = outcome.unwrap_or_else(|refused| refused.response());
    let fields = response.headers_mut();
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    fields.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    fields.insert(name("access-control-allow-origin"), HeaderValue::from_static("*"));
    response
}

async fn put(state: &FilesState, head: &Parts, body: Body) -> Result<Response<Body>, Refused> {
    let node = &state.files.node;
    let id = named(head.uri.path()).ok_or(Refused::of(Code::NoSuchFile))?;
    if !state.files.links.may_put(id, bearer(&head.headers).unwrap_or_default()) {
        return Err(Refused::of(Code::BadLink));
    }
    let row = answer(|then| node.file(id, then)).await?;
    let now = (state.files.clock)();
    let who = answer(|then| node.file_owner(&row, now, then)).await?;
    let turn = state.writers.take(id).await;
    // Another request may have completed or removed it while this one waited for its turn.
    let row = answer(|then| node.file(id, then)).await?;
    if row.is_complete {
        return Err(Refused::because(Code::WrongOffset, "this file is complete"));
    }
    let length = row.file.bytes;
    if tus::number(&head.headers, &CONTENT_LENGTH)? != length {
        return Err(Refused::because(Code::BadValue, "content-length: not the size of the slot"));
    }
    let address = request_limit::address(&head.extensions);
    node.may_upload(&who, address, now)?;
    let blobs = Arc::clone(&state.files.blobs);
    // After an interrupted request it begins anew.
    let file = blocking(move || {
        if blobs.arrived(id)? > 0 {
            blobs.remove(id)?;
        }
        Ok(blobs.upload(id)?)
    })
    .await?;
    let mut writing = Writing { state, who, address, row, turn };
    writing.count(0, 0).await?;
    let offset = writing.write(file, 0, body).await?;
    if offset < length {
        return Err(Refused::because(Code::BadValue, "the body is shorter than announced"));
    }
    Ok(tus::answer(StatusCode::CREATED, &[]))
}

async fn create(state: &FilesState, head: &Parts) -> Result<Response<Body>, Refused> {
    let fields = &head.headers;
    tus::check_version(fields)?;
    let node = &state.files.node;
    let now = (state.files.clock)();
    let metadata = tus::metadata(fields)?;
    let site = metadata.get("site").and_then(|key| node.site_id(key)).ok_or(Refused::of(Code::NoSuchSite))?;
    let bytes = tus::number(fields, &tus::LENGTH)?;
    let place = (metadata.get("user"), metadata.get("conversation"), metadata.get("page"));
    let to = match place {
        (Some(user), None, None) => To::User(Sub::parse(user).ok_or(Refused::of(Code::NoSuchUser))?),
        (None, Some(id), None) => {
            let id = crate::wire::parse_conversation(site, id);
            To::Conversation(id.ok_or(Refused::of(Code::NoSuchConversation))?)
        }
        (None, None, Some(page)) => To::Page(chat::PageKey::parse(page).ok_or(Refused::of(Code::BadValue))?),
        _ => {
            let text = "upload-metadata: one of user, conversation and page is needed";
            return Err(Refused::because(Code::BadValue, text));
        }
    };
    let wish = Wish {
        to,
        name: metadata.get("filename").cloned().unwrap_or_default(),
        bytes,
        voice: metadata.contains_key("voice"),
        duration_ms: metadata.get("duration").and_then(|ms| ms.parse().ok()),
        peaks: metadata.get("peaks").and_then(|text| Peaks::parse(text)),
    };
    let who = identify(node, site, head, now).await?;
    let id = answer(|then| node.create_file(&who, wish, state.files.limits, now, then)).await?;
    let location = format!("/v1/files/{}/{}", site.0, id_text(id));
    Ok(tus::answer(StatusCode::CREATED, &[(LOCATION, location), (tus::OFFSET, "0".into())]))
}

/// Works on an upload of the user who asks.
async fn go_on(state: &FilesState, head: &Parts, id: FileId, body: Body) -> Result<Response<Body>, Refused> {
    let (method, fields) = (&head.method, &head.headers);
    tus::check_version(fields)?;
    let node = &state.files.node;
    let who = identify(node, id.site, head, (state.files.clock)()).await?;
    let row = answer(|then| node.file(id, then)).await?;
    if *method == Method::GET {
        answer(|then| node.may_see_file(&who, &row, then)).await?;
        return described(state, &row);
    }
    // Only the owner may know that it exists.
    if row.owner != who.user() {
        return Err(Refused::of(Code::NoSuchFile));
    }
    let turn = state.writers.take(id).await;
    // Somebody else may have completed or removed it while this request waited for its turn.
    let row = answer(|then| node.file(id, then)).await?;
    match *method {
        Method::DELETE => {
            answer(|then| node.remove_file(id, then)).await?;
            let blobs = Arc::clone(&state.files.blobs);
            blocking(move || Ok(blobs.remove(id)?)).await?;
            Ok(tus::answer(StatusCode::NO_CONTENT, &[]))
        }
        Method::HEAD => {
            let (offset, length) = standing(state, &row, by(&who)).await?;
            let more = [(tus::OFFSET, offset.to_string()), (tus::LENGTH, length.to_string())];
            Ok(tus::answer(StatusCode::OK, &more))
        }
        _ => {
            let address = request_limit::address(&head.extensions);
            let offset = append(Writing { state, who, address, row, turn }, fields, body).await?;
            Ok(tus::answer(StatusCode::NO_CONTENT, &[(tus::OFFSET, offset.to_string())]))
        }
    }
}

/// A file that is complete, as messages will show it.
fn described(state: &FilesState, row: &FileRow) -> Result<Response<Body>, Refused> {
    if !row.is_complete {
        return Err(Refused::of(Code::NoSuchFile));
    }
    let mut json = Vec::new();
    crate::wire::file(&row.file, &state.files.links).write(&mut json);
    let mut response = Response::new(Body::from(json));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// How far it came, of how much. Where all is there and a crash or a lost connection came in between, it is finished now.
async fn standing(state: &FilesState, row: &FileRow, by: PictureBy) -> Result<(u64, u64), Refused> {
    if row.is_complete {
        return Ok((row.file.bytes, row.file.bytes));
    }
    let (blobs, id) = (Arc::clone(&state.files.blobs), row.file.id);
    let arrived = blocking(move || Ok(blobs.arrived(id)?)).await?;
    if arrived == row.file.bytes {
        state.finish(row, by).await?;
    }
    Ok((arrived, row.file.bytes))
}

/// A piece of an upload that is being written.
struct Writing<'a> {
    state: &'a FilesState,
    who: Identified,
    address: Option<IpAddr>,
    row: FileRow,
    turn: Turn,
}

/// Bytes that may arrive before they are counted: a commit for each piece would cost more than they are worth.
const UNCOUNTED_BYTES: u64 = 256 * 1024;

impl Writing<'_> {
    /// All bytes up to `offset` are on the disk; `new` of them are not counted yet.
    async fn count(&self, offset: u64, new: u64) -> Result<(), Refused> {
        let FilesState { files, .. } = self.state;
        files.node.uploaded(&self.who, self.address, new, (files.clock)());
        answer(|then| files.node.grow_file(&self.who, self.row.file.id, offset, files.limits, then)).await
    }

    /// Writes the arriving bytes behind `offset`, and completes the file with its last one. Returns the new offset.
    async fn write(&mut self, mut file: File, mut offset: u64, mut body: Body) -> Result<u64, Refused> {
        let length = self.row.file.bytes;
        let mut counted = offset;
        loop {
            let piece = tokio::select! {
                piece = next_piece(&mut body) => piece,
                () = self.turn.is_over() => {
                    self.count(offset, offset - counted).await?;
                    return Err(Refused::of(Code::UploadReplaced));
                }
            };
            let Some(piece) = piece else { break };
            let after = offset + piece.len() as u64;
            if after > length {
                return Err(Refused::because(Code::BadValue, "more comes than was announced"));
            }
            file = blocking(move || {
                file.write_all(&piece)?;
                Ok(file)
            })
            .await?;
            offset = after;
            // The first bytes at once: an upload without any ends soon.
            if counted == 0 || offset - counted >= UNCOUNTED_BYTES {
                self.count(offset, offset - counted).await?;
                counted = offset;
            }
        }
        self.count(offset, offset - counted).await?;
        if offset == length {
            blocking(move || Ok(file.sync_all()?)).await?;
            self.state.finish(&self.row, by(&self.who)).await?;
        }
        Ok(offset)
    }
}

/// Continues an upload. Returns the new offset.
async fn append(mut writing: Writing<'_>, fields: &HeaderMap, body: Body) -> Result<u64, Refused> {
    let state = writing.state;
    if fields.get(CONTENT_TYPE).is_none_or(|kind| kind != "application/offset+octet-stream") {
        let text = "content-type: application/offset+octet-stream is needed";
        return Err(Refused::because(Code::BadValue, text).with_status(415));
    }
    let wanted = tus::number(fields, &tus::OFFSET)?;
    let (offset, length) = standing(state, &writing.row, by(&writing.who)).await?;
    if wanted != offset {
        return Err(Refused::because(Code::WrongOffset, &format!("this upload stands at {offset}")));
    }
    if offset == length {
        return Ok(offset);
    }
    state.files.node.may_upload(&writing.who, writing.address, (state.files.clock)())?;
    // Of a request that was cut off, something may not be counted yet.
    writing.count(offset, 0).await?;
    let (blobs, id) = (Arc::clone(&state.files.blobs), writing.row.file.id);
    let file = blocking(move || Ok(blobs.upload(id)?)).await?;
    writing.write(file, offset, body).await
}

fn by(who: &Identified) -> PictureBy {
    PictureBy { user: who.user(), is_guest: who.is_guest() }
}

/// None at the end of the body, or after the connection broke. The bytes so far are kept.
async fn next_piece(body: &mut Body) -> Option<Bytes> {
    let frame = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await;
    frame?.ok()?.into_data().ok()
}

/// The answer to `OPTIONS`, which a page needs before requests from another origin.
fn abilities(state: &FilesState) -> Response<Body> {
    let name = HeaderName::from_static;
    tus::answer(
        StatusCode::NO_CONTENT,
        &[
            (name("tus-version"), tus::VERSION.into()),
            (name("tus-extension"), "creation,termination".into()),
            (name("tus-max-size"), state.files.limits.file_bytes.to_string()),
            (name("access-control-allow-methods"), "POST, GET, HEAD, PATCH, DELETE".into()),
            (
                name("access-control-allow-headers"),
                "authorization, content-type, tus-resumable, upload-length, upload-metadata, upload-offset"
                    .into(),
            ),
            (name("access-control-max-age"), "7200".into()),
        ],
    )
}

/// The fields that all answers have.
fn with_common_fields(
    state: &FilesState,
    asked: &HeaderMap,
    outcome: Result<Response<Body>, Refused>,
) -> Response<Body> {
    let mut response = outcome.unwrap_or_else(|refused| refused.response());
    let fields = response.headers_mut();
    fields.insert(tus::RESUMABLE, HeaderValue::from_static(tus::VERSION));
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    fields.insert(VARY, HeaderValue::from_static("origin"));
    fields.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Pages of an origin that some site allows may read the answer. The token decides the rest.
    if let Some(origin) = origin(asked).filter(|origin| state.files.node.origin_known(origin))
        && let Ok(origin) = HeaderValue::from_str(origin)
    {
        let name = HeaderName::from_static;
        fields.insert(name("access-control-allow-origin"), origin);
        let exposed =
            "location, upload-offset, upload-length, tus-resumable, tus-version, tus-extension, tus-max-size";
        fields.insert(name("access-control-expose-headers"), HeaderValue::from_static(exposed));
    }
    response
}

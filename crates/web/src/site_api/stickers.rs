//! Stickers: what a site's server says of them over REST, how a picture becomes one, and their pictures, for everybody.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chat::{
    FileType, NewSticker, NoSticker, Node, Refusal, RequestKind, SiteId, Sticker, StickerId, Timestamp,
};
use ring::rand::{SecureRandom, SystemRandom};
use serde::Deserialize;
use serde_json::json;
use web_proto::Code;

use super::{Answer, Api, Credentials, Refused, answered};
use crate::files::{PictureBy, PictureFault, PictureQueue, Pictures};
use crate::request_limit::limited;
use crate::wire::rich;

/// Of a request that brings one.
const BODY_BYTES: usize = 1 << 20;

#[derive(Clone)]
struct Counter {
    api: Api,
    pictures: Arc<PictureQueue>,
}

/// The routes, beside those of [`site_api`](super::site_api).
pub fn sticker_routes(node: Arc<Node>, pictures: Arc<PictureQueue>, clock: fn() -> Timestamp) -> Router {
    let routes = Router::new()
        .route("/v1/sites/{site}/stickers", get(list).post(add))
        .route("/v1/sites/{site}/stickers/{sticker}", delete(remove));
    limited(routes, RequestKind::Rest, &node, clock)
        .route("/v1/stickers/{site}/{sticker}", get(picture))
        .with_state(Counter { api: Api { node, clock }, pictures })
}

/// A sticker as it is brought.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Brought {
    set: String,
    words: String,
    /// Base64 (RFC 4648 §4).
    picture: String,
}

async fn list(
    State(counter): State<Counter>,
    Path(site): Path<String>,
    credentials: Credentials,
) -> Response {
    answered(do_list(&counter.api, &site, &credentials).await)
}

async fn do_list(api: &Api, site: &str, credentials: &Credentials) -> Answer {
    let caller = api.caller(site, credentials).await?;
    let all = api.ask(|node, respond| node.stickers(&caller, respond)).await?;
    Ok(json!({ "stickers": all.iter().map(rich::sticker).collect::<Vec<_>>() }))
}

async fn add(
    State(counter): State<Counter>,
    Path(site): Path<String>,
    credentials: Credentials,
    body: Body,
) -> Response {
    answered(do_add(&counter, &site, &credentials, body).await)
}

async fn do_add(counter: &Counter, site: &str, credentials: &Credentials, body: Body) -> Answer {
    // Authenticate before the body is read.
    let caller = counter.api.caller(site, credentials).await?;
    let body = to_bytes(body, BODY_BYTES).await.map_err(|_| Refused::value("a picture of at most 700 kB"))?;
    let Brought { set, words, picture } = serde_json::from_slice(&body).map_err(Refused::value)?;
    let bytes = STANDARD.decode(picture).map_err(|_| Refused::value("picture: base64"))?;
    let (now, site) = ((counter.api.clock)(), caller.site());
    let made = counter
        .pictures
        .run(PictureBy::site(site), move |pictures| new_sticker(pictures, site, &set, &words, &bytes, now));
    let new = made.await??;
    let answer = json!(rich::sticker(&new.sticker));
    counter
        .api
        .ask(|node, respond| node.add_sticker(&caller, new, respond))
        .await?
        .map_err(Refused::value)?;
    Ok(answer)
}

async fn remove(
    State(counter): State<Counter>,
    Path((site, sticker)): Path<(String, String)>,
    credentials: Credentials,
) -> Response {
    answered(do_remove(&counter.api, &site, &sticker, &credentials).await)
}

async fn do_remove(api: &Api, site: &str, sticker: &str, credentials: &Credentials) -> Answer {
    let caller = api.caller(site, credentials).await?;
    let number = rich::parse_sticker(sticker).ok_or(Refusal::NoSuchSticker)?;
    let now = (api.clock)();
    api.ask(|node, respond| node.remove_sticker(&caller, number, now, respond)).await?;
    Ok(json!({ "removed": true }))
}

/// Everybody who knows the id may see it, as an avatar. The bytes of an id never change.
async fn picture(State(counter): State<Counter>, Path((site, sticker)): Path<(String, String)>) -> Response {
    let name = HeaderName::from_static;
    match find(&counter.api, &site, &sticker).await {
        Ok((kind, bytes)) => {
            let fields = [
                (CONTENT_TYPE, kind.name()),
                // The bytes of an id never change, but a removed sticker shall leave all screens some day.
                (CACHE_CONTROL, "public, max-age=86400, immutable"),
                (CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"),
                (X_CONTENT_TYPE_OPTIONS, "nosniff"),
                (name("access-control-allow-origin"), "*"),
                (name("cross-origin-resource-policy"), "cross-origin"),
            ];
            (fields, bytes).into_response()
        }
        Err(refused) => answered(Err(refused)),
    }
}

async fn find(api: &Api, site: &str, sticker: &str) -> Result<(FileType, Vec<u8>), Refused> {
    let site = site.parse::<u32>().map_err(|_| Refusal::NoSuchSticker)?;
    let number = rich::parse_sticker(sticker).ok_or(Refusal::NoSuchSticker)?;
    let id = StickerId { site: SiteId(site), number };
    api.ask(|node, respond| node.sticker_picture(id, respond)).await
}

/// Why no sticker was made.
#[derive(Debug)]
pub enum NotMade {
    /// The reason, for the client that uploads.
    Wrong(String),
    /// Something of ours is down.
    Failed(io::Error),
}

impl From<NoSticker> for NotMade {
    fn from(why: NoSticker) -> NotMade {
        NotMade::Wrong(why.to_string())
    }
}

impl From<io::Error> for NotMade {
    fn from(why: io::Error) -> NotMade {
        NotMade::Failed(why)
    }
}

impl From<NotMade> for Refused {
    fn from(why: NotMade) -> Refused {
        match why {
            NotMade::Wrong(why) => Refused(Code::BadValue, why, None),
            NotMade::Failed(error) => {
                tracing::error!(%error, "cannot create a sticker");
                Refusal::Unavailable.into()
            }
        }
    }
}

/// A sticker of a picture that somebody has brought: made anew, still, and no larger than a thumbnail. Blocks, for a bounded time.
pub fn new_sticker(
    pictures: &dyn Pictures,
    site: SiteId,
    series: &str,
    words: &str,
    bytes: &[u8],
    now: Timestamp,
) -> Result<NewSticker, NotMade> {
    let kind = FileType::of(&bytes[..bytes.len().min(FileType::HEAD_BYTES)], false);
    if !kind.is_picture() {
        return Err(NotMade::Wrong("this is no JPEG, PNG, GIF or WebP".into()));
    }
    let (mut from, mut whole, mut thumbnail) = (scratch()?, scratch()?, scratch()?);
    from.write_all(bytes)?;
    from.rewind()?;
    let remade = pictures.remake(from, kind, whole.try_clone()?, thumbnail.try_clone()?);
    let remade = remade.map_err(|fault| match fault {
        PictureFault::Bad(_) => NotMade::Wrong("this picture cannot be read".into()),
        PictureFault::Failed(error) => NotMade::Failed(error),
    })?;
    let (made, length) = match remade.picture.has_thumbnail {
        true => (&mut thumbnail, remade.thumbnail_bytes),
        false => (&mut whole, remade.bytes),
    };
    if length > chat::STICKER_BYTES as u64 {
        return Err(NoSticker::TooLarge.into());
    }
    let mut bytes = Vec::new();
    made.rewind()?;
    made.take(length).read_to_end(&mut bytes)?;
    let (width, height) = scaled(&remade.picture);
    let id = StickerId { site, number: random_number()? };
    let sticker = Sticker {
        id,
        series: series.trim().into(),
        words: words.trim().into(),
        kind: remade.kind,
        width,
        height,
    };
    let new = NewSticker { sticker, bytes, added: now };
    new.check()?;
    Ok(new)
}

/// A file that has no name any more, and so goes when it is closed.
fn scratch() -> Result<File, NotMade> {
    let path = std::env::temp_dir().join(format!("kith-sticker-{:016x}", random_number()?));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

fn random_number() -> Result<u64, NotMade> {
    let mut bytes = [0; 8];
    SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("no randomness"))?;
    Ok(u64::from_be_bytes(bytes))
}

/// Width and height of the stored picture, in the ratio of the original.
fn scaled(picture: &chat::Picture) -> (u32, u32) {
    let longest = picture.width.max(picture.height).max(1);
    if !picture.has_thumbnail {
        return (picture.width, picture.height);
    }
    let side = |side: u32| (u64::from(side) * LONGEST_SIDE / u64::from(longest)).max(1) as u32;
    (side(picture.width), side(picture.height))
}

/// Of a thumbnail, as `picture` makes them.
const LONGEST_SIDE: u64 = 480;

//! Own pictures of members: how a published picture becomes one, and the answers to browsers that show it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use chat::{FileType, MadePicture, Node, OWN_PICTURE_BYTES, OwnPictureId, Refusal, SiteId};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::sync::oneshot;

use crate::files::{PictureFault, Pictures, Refused};

const PATH: &str = "/v1/pictures/";

/// Where an own picture is, on the server.
pub fn path(id: OwnPictureId) -> String {
    format!("{PATH}{}/{id}", id.site.0)
}

/// The route of pictures. Requests need no session: an address is as public as the address that a site gives.
pub fn own_picture_routes(node: Arc<Node>) -> Router {
    Router::new().route("/v1/pictures/{site}/{id}", get(picture)).with_state(node)
}

/// The bytes of an address never change, but a removed picture must leave all screens some day.
async fn picture(State(node): State<Arc<Node>>, Path((site, id)): Path<(String, String)>) -> Response {
    let name = HeaderName::from_static;
    match find(&node, &site, &id).await {
        Ok((kind, bytes)) => {
            let fields = [
                (CONTENT_TYPE, kind.name()),
                (CACHE_CONTROL, "public, max-age=86400, immutable"),
                (CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"),
                (X_CONTENT_TYPE_OPTIONS, "nosniff"),
                (REFERRER_POLICY, "no-referrer"),
                (name("access-control-allow-origin"), "*"),
                (name("cross-origin-resource-policy"), "cross-origin"),
            ];
            (fields, bytes).into_response()
        }
        Err(refusal) => Refused::from(refusal).response().into_response(),
    }
}

async fn find(node: &Node, site: &str, id: &str) -> Result<(FileType, Vec<u8>), Refusal> {
    let site = SiteId(site.parse().map_err(|_| Refusal::NoSuchFile)?);
    let id = OwnPictureId::parse(site, id).ok_or(Refusal::NoSuchFile)?;
    let (sender, receiver) = oneshot::channel();
    node.own_picture(id, Box::new(move |found| drop(sender.send(found))));
    receiver.await.unwrap_or(Err(Refusal::Unavailable))
}

/// A published picture, encoded anew in the size of a portrait. None: it is no picture that can be read. Blocks, for a bounded time.
pub fn made_picture(pictures: &dyn Pictures, bytes: &[u8]) -> io::Result<Option<MadePicture>> {
    let kind = FileType::of(&bytes[..bytes.len().min(FileType::HEAD_BYTES)], false);
    if !kind.is_picture() {
        return Ok(None);
    }
    let (mut from, mut portrait) = (scratch()?, scratch()?);
    from.write_all(bytes)?;
    from.rewind()?;
    let remade = match pictures.portrait(from, kind, portrait.try_clone()?).outcome {
        Ok(remade) => remade,
        Err(PictureFault::Bad(_)) => return Ok(None),
        Err(PictureFault::Failed(error)) => return Err(error),
    };
    if remade.bytes > OWN_PICTURE_BYTES as u64 {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    portrait.rewind()?;
    portrait.take(remade.bytes).read_to_end(&mut bytes)?;
    Ok(Some(MadePicture { kind: remade.kind, bytes }))
}

/// A file without a name, which is removed when it is closed.
fn scratch() -> io::Result<File> {
    let mut number = [0; 8];
    SystemRandom::new().fill(&mut number).map_err(|_| io::Error::other("no randomness"))?;
    let path = std::env::temp_dir().join(format!("kith-picture-{:016x}", u64::from_be_bytes(number)));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

//! Files over HTTP: uploads as tus 1.0.0 says, downloads by signed links. Why it is so: `docs/design/files.md`.
//!
//! Handlers run on the tokio side. What touches the disk runs on threads that may block; no more of a file than a piece is
//! ever in memory.

mod asked;
mod download;
mod finish;
mod link;
mod picture_queue;
mod tus;
mod upload;
mod writers;

use std::sync::Arc;

use axum::Router;
use axum::routing::{any, get, put};
use chat::{Blobs, FileId, FileLimits, Node, RequestKind, SiteId, Timestamp};

use crate::request_limit::limited;

pub(crate) use asked::Refused;
pub use finish::{Made, PictureFault, Pictures, Remade};
pub use link::{Links, Slot};
pub use picture_queue::{PictureBy, PictureQueue};

/// Everything that files need.
pub struct Files {
    pub node: Arc<Node>,
    pub blobs: Arc<dyn Blobs>,
    pub pictures: Arc<PictureQueue>,
    pub links: Links,
    pub limits: FileLimits,
    pub clock: fn() -> Timestamp,
}

/// State that the handlers share.
struct FilesState {
    files: Files,
    writers: writers::Writers,
}

/// The routes of files, to be merged into those of the node.
pub fn routes(files: Files) -> Router {
    let (node, clock) = (Arc::clone(&files.node), files.clock);
    let state = Arc::new(FilesState { files, writers: writers::Writers::default() });
    let uploads = Router::new()
        .route("/v1/files", any(upload::collection))
        .route("/v1/files/{site}/{id}", any(upload::one))
        .route("/v1/files/{site}/{id}/{name}", put(upload::whole).options(upload::whole));
    // Downloads need a signed link, and a page of history shows many pictures at once. Pictures of rooms are public, as stickers are.
    limited(uploads, RequestKind::Files, &node, clock)
        .route("/v1/files/{site}/{id}/{name}", get(download::download))
        .route("/v1/room-pictures/{site}/{id}", get(download::room_picture))
        .with_state(state)
}

/// An id as it is on the wire, where its site stands beside it.
pub(crate) fn id_text(id: FileId) -> String {
    format!("{:016x}", id.number)
}

/// Where the picture of a room is. Everybody who knows the path may see it, as other avatars.
pub(crate) fn room_picture_path(id: FileId) -> String {
    format!("{ROOM_PICTURES}{}/{}", id.site.0, id_text(id))
}

const ROOM_PICTURES: &str = "/v1/room-pictures/";

pub(crate) fn parse_id(site: SiteId, text: &str) -> Option<FileId> {
    let is_id = text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let number = u64::from_str_radix(text, 16).ok().filter(|_| is_id)?;
    Some(FileId { site, number })
}

/// Site and id of `/v1/files/SITE/ID` and of what lies below.
fn named(path: &str) -> Option<FileId> {
    named_after("/v1/files/", path)
}

/// The value of a key in the query of an address.
fn query_value<'a>(query: &'a str, key: &str) -> Option<&'a str> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| *name == key).map(|(_, value)| value)
}

fn named_after(prefix: &str, path: &str) -> Option<FileId> {
    let mut parts = path.strip_prefix(prefix)?.splitn(3, '/');
    let site = parts.next()?;
    let is_site = site.bytes().all(|byte| byte.is_ascii_digit()) && !site.starts_with('0');
    let site = SiteId(site.parse().ok().filter(|_| is_site)?);
    parse_id(site, parts.next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_one_file_or_none() {
        let id = FileId { site: SiteId(3), number: 0x1f };
        for path in ["/v1/files/3/000000000000001f", "/v1/files/3/000000000000001f/cat.jpg"] {
            assert_eq!(named(path), Some(id), "{path}");
        }
        for path in [
            "/v1/files/3/1f",
            "/v1/files/3/000000000000001F",
            "/v1/files/03/000000000000001f",
            "/v1/files/+3/000000000000001f",
            "/v1/files/-3/000000000000001f",
            "/v1/files/3/+00000000000001f",
            "/v1/files//000000000000001f",
            "/v1/files/99999999999/000000000000001f",
            "/v1/files/3/../../../etc/passwd",
            "/v1/files/3/%2e%2e/000000000000001f",
            "/v1/files/3",
            "/v1/files/",
        ] {
            assert_eq!(named(path), None, "{path}");
        }
        assert_eq!(id_text(id), "000000000000001f");
    }
}

//! Own pictures: the avatar that a member has published with an app, shown in place of the picture that the site gives.
//!
//! An app publishes an [item](super::items). The gateway reads the picture in it, a [`PictureMaker`] encodes it anew in a small size, and
//! the store keeps it beside the user. It counts only as long as its item is the newest one of a list that everybody reads. The store
//! checks that whenever it changes the picture, so a picture that was made late never replaces a newer one.
//!
//! [`Profile::avatar`](crate::Profile) has the picture that others see: an address of the site, or the [text](OwnPictureId::avatar) of an
//! own picture. Only the store chooses between the two, by the site's setting [`MemberPictures`](crate::MemberPictures).

mod change;
mod store;

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

pub use store::{NewOwnPicture, OwnPictureChange, OwnPictureStore};

use crate::{FileType, Refusal, SiteId, UserId};

/// The longest picture that a member may publish, before it is encoded anew.
pub const PUBLISHED_PICTURE_BYTES: usize = 128 * 1024;
/// The longest picture that is kept.
pub const OWN_PICTURE_BYTES: usize = 64 * 1024;

/// An own picture. The number is a digest of the user and the bytes, so equal pictures of two users differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OwnPictureId {
    pub site: SiteId,
    pub number: u128,
}

/// The start of an own picture in [`Profile::avatar`](crate::Profile). No address of a site has it.
const OWN: &str = "own:";

impl OwnPictureId {
    /// The digest of a picture.
    pub fn of(user: UserId, bytes: &[u8]) -> OwnPictureId {
        let mut context = ring::digest::Context::new(&ring::digest::SHA256);
        context.update(&user.site.0.to_be_bytes());
        context.update(&user.num.to_be_bytes());
        context.update(bytes);
        let digest = context.finish();
        let first = digest.as_ref().first_chunk().expect("a digest of SHA-256 has 32 bytes");
        OwnPictureId { site: user.site, number: u128::from_be_bytes(*first) }
    }

    /// The picture of a profile, if it is the user's own.
    pub fn of_avatar(site: SiteId, avatar: &str) -> Option<OwnPictureId> {
        OwnPictureId::parse(site, avatar.strip_prefix(OWN)?)
    }

    /// Whether the picture of a profile is the user's own, on whatever site.
    pub fn is_avatar(avatar: &str) -> bool {
        avatar.starts_with(OWN)
    }

    /// Parses 32 hexadecimal digits in lower case.
    pub fn parse(site: SiteId, text: &str) -> Option<OwnPictureId> {
        let is_id = text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let number = u128::from_str_radix(text, 16).ok().filter(|_| is_id)?;
        Some(OwnPictureId { site, number })
    }

    /// As [`Profile::avatar`](crate::Profile) has it.
    pub fn avatar(self) -> Arc<str> {
        format!("{OWN}{self}").into()
    }
}

/// 32 hexadecimal digits, without the site.
impl fmt::Display for OwnPictureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.number)
    }
}

/// The item from which a picture comes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureSource {
    pub list: Box<str>,
    /// [`Item::version`](crate::items::Item).
    pub version: u64,
}

/// A picture as an app has published it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedPicture {
    pub source: PictureSource,
    /// Of any type; at most [`PUBLISHED_PICTURE_BYTES`].
    pub bytes: Box<[u8]>,
}

impl fmt::Debug for PublishedPicture {
    /// Pictures stay out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishedPicture").field("source", &self.source).finish_non_exhaustive()
    }
}

/// A picture that is encoded anew, of at most [`OWN_PICTURE_BYTES`].
#[derive(Clone, PartialEq, Eq)]
pub struct MadePicture {
    pub kind: FileType,
    pub bytes: Vec<u8>,
}

impl fmt::Debug for MadePicture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MadePicture").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Encodes pictures anew, and gives them to [`Node::own_picture_made`](crate::Node). Called on workers and threads of the store: must not
/// block, and holds a bounded number of pictures.
pub trait PictureMaker: Send + Sync + 'static {
    /// [`Refusal::Overloaded`]: too many pictures wait.
    fn wanted(&self, by: UserId, picture: PublishedPicture) -> Result<(), Refusal>;
}

/// The maker of the node, once set.
pub(crate) type PictureMakerSlot = OnceLock<Arc<dyn PictureMaker>>;

#[cfg(test)]
mod tests {
    use super::*;

    const USER: UserId = UserId { site: SiteId(3), num: 7 };

    #[test]
    fn an_own_picture_is_read_from_a_profile_again() {
        let id = OwnPictureId::of(USER, b"bytes");
        assert_eq!(OwnPictureId::of_avatar(USER.site, &id.avatar()), Some(id));
        assert_ne!(
            OwnPictureId::of(UserId { num: 8, ..USER }, b"bytes").number,
            id.number,
            "of another user"
        );
        let upper = format!("own:{:032X}", u128::MAX);
        for wrong in [
            "",
            "own:",
            "own:1f",
            "/own:1",
            "https://a.example/own:1",
            &upper,
            "own:+0000000000000000000000000000001",
        ] {
            assert_eq!(OwnPictureId::of_avatar(USER.site, wrong), None, "{wrong}");
        }
    }

    #[test]
    fn no_site_can_set_the_text_of_an_own_picture() {
        let sub = crate::Sub::parse("ann").expect("it is one");
        let avatar = OwnPictureId::of(USER, b"bytes").avatar().to_string();
        assert_eq!(crate::site::token::profile(sub, None, Some(avatar), false).avatar, None);
    }
}

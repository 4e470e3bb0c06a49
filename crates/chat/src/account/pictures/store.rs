//! The slice of the port to storage for own pictures. The promises of [`Store`](crate::Store) hold here too.

use super::{MadePicture, OwnPictureId, PictureSource};
use crate::{Done, FileType, UserId, UserRow};

/// A slice of [`Store`](crate::Store).
///
/// A picture is *current* while its item is the newest one of its list, and everybody may read the list. The site's setting [`MemberPictures`](crate::MemberPictures) decides with each change, and with each token of
/// the user, which picture the profile shows.
pub trait OwnPictureStore: Send + Sync + 'static {
    /// Removes the picture if it is not current, unless this item is: then its picture follows. Shows what the setting of now chooses.
    fn follow_picture(&self, user: UserId, source: PictureSource, done: Done<OwnPictureChange>);
    /// Keeps a picture, if its item is current and the user is not banned. Replaces the one before.
    fn put_own_picture(&self, user: UserId, picture: NewOwnPicture, done: Done<OwnPictureChange>);
    /// Type and bytes of a picture, whether it is shown or not.
    fn own_picture(&self, id: OwnPictureId, done: Done<Option<(FileType, Vec<u8>)>>);
}

/// A picture to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOwnPicture {
    pub source: PictureSource,
    /// None: the item has no picture that can be read. The one before is removed.
    pub made: Option<MadePicture>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnPictureChange {
    /// The user with another picture than before. None: others see no change.
    pub changed: Option<UserRow>,
    /// The item is current, and the user's picture does not come from it. Its picture must be made, or the request
    /// repeated without it.
    pub wanted: bool,
}

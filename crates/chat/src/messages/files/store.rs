//! The ports that files need: rows beside those of messages, and bytes.

use std::io;

use crate::messages::files::FileLimits;
use crate::rooms::RoomName;
use crate::{
    Append, Appended, ConversationId, Done, File, FileId, FileType, Peaks, Picture, Refusal, SiteId,
    StoreError, Timestamp, UserId,
};

/// The part of the port to storage that is about files. What [`Store`](crate::Store) promises of queues, order and crashes
/// holds here too.
///
/// A file is *arriving*, then *complete*, then in a message of its owner or the picture of its room; or *removed* at any time,
/// which is the last that is heard of it. What it takes of the quotas is counted in the same transaction as each of these steps; while it arrives that is
/// what has arrived, not what was announced.
pub trait FileStore: Send + Sync + 'static {
    /// Begins a file, which takes no room yet. Asks [`has_room`](crate::messages::files::has_room), in a direct conversation [`may_send_files`](crate::messages::files::may_send_files), in a
    /// room [`may`](crate::may) with [`Act::Post`](crate::Act::Post) but for slow mode, and for [`MOST_LOOSE`](crate::messages::files::MOST_LOOSE).
    fn create_file(&self, file: NewFile, limits: FileLimits, done: Done<Result<(), Refusal>>);
    /// So many bytes of an arriving file are there; they count from now on. Asks [`has_room`](crate::messages::files::has_room) for what is more than
    /// before. A complete file stays as it is.
    fn grow_file(&self, id: FileId, arrived: u64, limits: FileLimits, done: Done<Result<(), Refusal>>);
    /// None where there is no such file, or it was removed.
    fn file(&self, id: FileId, done: Done<Option<FileRow>>);
    /// All bytes have come, and this is what they are. What is complete already stays as it is.
    fn complete_file(&self, id: FileId, found: FileFound, done: Done<Option<FileRow>>);
    /// Removes files that are in no message; answers those that it has removed.
    fn remove_files(&self, files: Vec<FileId>, done: Done<Vec<FileId>>);
    /// As [`MessageStore::append`](crate::MessageStore::append), with files: 1 to [`MOST_FILES`](crate::messages::files::MOST_FILES) complete ones of the sender, which
    /// were made for this conversation and are in no message; else [`Refusal::NoSuchFile`]. With what else the message bears they may be
    /// none. Files of what is forwarded stay where they are and are in both messages from then on; where one is gone, it is
    /// [`Refusal::NoSuchMessage`], and where [`may_send_files`](crate::messages::files::may_send_files) says no, that.
    fn append_with_files(
        &self,
        append: Append,
        files: Vec<FileId>,
        done: Done<Result<(Appended, Vec<File>), Refusal>>,
    );

    // ---- housekeeping: may block, never called on a worker ----

    /// Files that are removed, those made before `before` that are in no message, and those made before `empty_before` of which no
    /// byte has arrived; not more than `limit`.
    fn stale_files(
        &self,
        before: Timestamp,
        empty_before: Timestamp,
        limit: u32,
    ) -> Result<Vec<FileId>, StoreError>;
    /// The bytes of removed files are gone: so are their rows.
    fn forget_files(&self, files: &[FileId]) -> Result<(), StoreError>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    pub id: FileId,
    pub owner: UserId,
    pub place: FilePlace,
    pub name: Box<str>,
    pub bytes: u64,
    pub voice: bool,
    pub duration_ms: Option<u32>,
    pub peaks: Option<Peaks>,
    pub time: Timestamp,
}

/// Where it will be posted, and nowhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilePlace {
    Direct(ConversationId),
    Room(RoomName),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// Until it is complete, `bytes` is what was announced, and its kind is not known.
    pub file: File,
    pub owner: UserId,
    pub conversation: ConversationId,
    pub is_complete: bool,
    /// It is in a message.
    pub is_posted: bool,
    /// It is the picture of its room, which everybody may see who knows its id.
    pub is_room_picture: bool,
    /// Where it is in forwarded messages too; of very many, some.
    pub copies: Vec<ConversationId>,
}

/// The detected properties of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFound {
    pub kind: FileType,
    /// Of what is kept and shown.
    pub bytes: u64,
    /// Of everything that is kept of it.
    pub kept_bytes: u64,
    pub picture: Option<Picture>,
}

/// Which of the bytes that are kept of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rendition {
    /// As it came.
    Upload,
    /// A picture, made anew.
    Picture,
    Thumbnail,
}

impl Rendition {
    pub const ALL: [Rendition; 3] = [Rendition::Upload, Rendition::Picture, Rendition::Thumbnail];
}

/// The port to where bytes lie. Everything may block; never called on a worker.
pub trait Blobs: Send + Sync + 'static {
    /// How much has come of an upload.
    fn arrived(&self, file: FileId) -> io::Result<u64>;
    /// The upload, to be written on at its end. One at a time may.
    fn upload(&self, file: FileId) -> io::Result<std::fs::File>;
    /// A rendition, empty, to be written anew.
    fn create(&self, file: FileId, rendition: Rendition) -> io::Result<std::fs::File>;
    fn open(&self, file: FileId, rendition: Rendition) -> io::Result<Box<dyn Blob>>;
    /// All that is kept of the file is written and on the disk: from now on it is only read. May be said again.
    fn settle(&self, file: FileId) -> io::Result<()>;
    /// The upload is not needed any more, its renditions are.
    fn drop_upload(&self, file: FileId) -> io::Result<()>;
    /// Everything of the file. It is no error where nothing is there.
    fn remove(&self, file: FileId) -> io::Result<()>;
    /// Everything of sites that are not among these.
    fn remove_other_sites(&self, sites: &[SiteId]) -> io::Result<()>;
}

/// Bytes that do not change any more.
pub trait Blob: Send + Sync + 'static {
    fn bytes(&self) -> u64;
    /// Fills the buffer from there on; fails where there is not so much.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

//! The ports for files: rows next to those of messages, and bytes.

use std::io;

use crate::messages::files::FileLimits;
use crate::rooms::RoomName;
use crate::{
    Append, Appended, ConversationId, Done, File, FileId, FileType, Peaks, Picture, Refusal, SiteId,
    StoreError, Timestamp, UserId,
};

/// The slice of the port to storage for files. The promises of [`Store`](crate::Store) about queues, order
/// and crashes hold here too.
///
/// A file is *arriving*, then *complete*, then in a message of its owner or the picture of its room. At any
/// time it can become *removed*, its final state. Each of these steps counts the file against the quotas in
/// the same transaction. An arriving file counts with the bytes that have arrived; the announced size does
/// not count.
pub trait FileStore: Send + Sync + 'static {
    /// Creates a file, without any bytes yet. Checks [`has_room`](crate::messages::files::has_room) and
    /// [`may_begin_file`](crate::messages::files::may_begin_file). In a direct conversation it also checks
    /// [`may_send_files`](crate::messages::files::may_send_files); in a room [`may`](crate::may) with
    /// [`Act::Post`](crate::Act::Post), without slow mode.
    fn create_file(&self, file: NewFile, limits: FileLimits, done: Done<Result<(), Refusal>>);
    /// Counts the arrived bytes of an arriving file. Checks [`has_room`](crate::messages::files::has_room)
    /// for the growth. A complete file stays unchanged.
    fn grow_file(&self, id: FileId, arrived: u64, limits: FileLimits, done: Done<Result<(), Refusal>>);
    /// None if the file does not exist, or was removed.
    fn file(&self, id: FileId, done: Done<Option<FileRow>>);
    /// A complete file of `owner` in [`FilePlace::Open`] that is in no message, in the order of the writes. Otherwise
    /// [`Refusal::NoSuchFile`].
    fn open_file(&self, owner: UserId, id: FileId, done: Done<Result<File, Refusal>>);
    /// Stores the detected properties of a complete upload. A file that is complete already stays unchanged.
    fn complete_file(&self, id: FileId, found: FileFound, done: Done<Option<FileRow>>);
    /// Removes files that are in no message, and answers the removed ones.
    fn remove_files(&self, files: Vec<FileId>, done: Done<Vec<FileId>>);
    /// Stores a message with files, like [`MessageStore::append`](crate::MessageStore::append). The files are
    /// 1 to [`MOST_FILES`](crate::messages::files::MOST_FILES) complete ones of the sender, made for this
    /// conversation or in [`FilePlace::Open`], and in no message; else [`Refusal::NoSuchFile`]. One in
    /// [`FilePlace::Open`] belongs to this conversation from then on, after a check of
    /// [`may_send_files`](crate::messages::files::may_send_files). A message with a rich part may have
    /// none. Files of a forwarded message belong to both messages from then on. If one was removed, the
    /// answer is [`Refusal::NoSuchMessage`]; a refusal of
    /// [`may_send_files`](crate::messages::files::may_send_files) is answered as it is.
    fn append_with_files(
        &self,
        append: Append,
        files: Vec<FileId>,
        done: Done<Result<(Appended, Vec<File>), Refusal>>,
    );

    // ---- housekeeping: may block, never called on a worker ----

    /// Removed files, files made before `before` that are in no message, and files made before `empty_before`
    /// without any byte; at most `limit`. Complete ones in [`FilePlace::Open`] only if they were made before
    /// `open_before`.
    fn stale_files(
        &self,
        before: Timestamp,
        open_before: Timestamp,
        empty_before: Timestamp,
        limit: u32,
    ) -> Result<Vec<FileId>, StoreError>;
    /// Deletes the rows of removed files, once their bytes are deleted.
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

/// The only place where the file may be posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilePlace {
    Direct(ConversationId),
    Room(RoomName),
    /// The first conversation in which its owner posts it.
    Open,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// Until the file is complete, `bytes` is the announced size, and the kind is unknown.
    pub file: File,
    pub owner: UserId,
    /// None: it is in [`FilePlace::Open`], and in no message.
    pub conversation: Option<ConversationId>,
    pub is_complete: bool,
    /// The file is in a message.
    pub is_posted: bool,
    /// The file is the picture of its room, visible to everybody who knows its id.
    pub is_room_picture: bool,
    /// Conversations with forwarded copies; incomplete if there are very many.
    pub copies: Vec<ConversationId>,
}

/// The detected properties of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFound {
    pub kind: FileType,
    /// Size of the rendition that is shown.
    pub bytes: u64,
    /// Size of all stored renditions together.
    pub kept_bytes: u64,
    pub picture: Option<Picture>,
}

/// One of the stored renditions of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rendition {
    /// The unchanged upload.
    Upload,
    /// A picture that was encoded anew.
    Picture,
    Thumbnail,
}

impl Rendition {
    pub const ALL: [Rendition; 3] = [Rendition::Upload, Rendition::Picture, Rendition::Thumbnail];
}

/// The port to the bytes of files. Every call may block; never call it on a worker.
pub trait Blobs: Send + Sync + 'static {
    /// Bytes of an upload that have arrived.
    fn arrived(&self, file: FileId) -> io::Result<u64>;
    /// Opens the upload for appending. Only one writer at a time.
    fn upload(&self, file: FileId) -> io::Result<std::fs::File>;
    /// Creates a rendition, or empties it, for writing.
    fn create(&self, file: FileId, rendition: Rendition) -> io::Result<std::fs::File>;
    fn open(&self, file: FileId, rendition: Rendition) -> io::Result<Box<dyn Blob>>;
    /// Makes the written renditions durable. They are read-only from then on. May be called again.
    fn settle(&self, file: FileId) -> io::Result<()>;
    /// Deletes the upload and keeps its renditions.
    fn drop_upload(&self, file: FileId) -> io::Result<()>;
    /// Deletes everything of the file. A missing file is no error.
    fn remove(&self, file: FileId) -> io::Result<()>;
    /// Deletes the files of all sites that are not listed.
    fn remove_other_sites(&self, sites: &[SiteId]) -> io::Result<()>;
}

/// Bytes that do not change any more.
pub trait Blob: Send + Sync + 'static {
    fn bytes(&self) -> u64;
    /// Fills the buffer from `offset` on; fails if the blob ends before.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

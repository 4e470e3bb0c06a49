//! Uploads: every possible refusal comes before the first byte.

use std::sync::Arc;

use rand::Rng;

use crate::messages::Messages;
use crate::messages::files::{FileLimits, FilePlace, NewFile, file_name};
use crate::rooms::RoomName;
use crate::session::{Asker, Completion};
use crate::store::unavailable;
use crate::{ConversationId, Done, FileId, Peaks, Refusal, Timestamp, To, UserId};

/// A user with a request outside a session, identified by a token.
#[derive(Clone)]
pub struct Identified {
    pub(crate) asker: Asker,
    /// Muted on the whole site: the user may read, but not write.
    pub(crate) is_muted: bool,
}

impl Identified {
    pub fn user(&self) -> UserId {
        self.asker.session.user
    }

    pub fn is_guest(&self) -> bool {
        self.asker.guest
    }
}

/// A file that a user wants to upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    pub to: To,
    pub name: String,
    pub bytes: u64,
    pub voice: bool,
    pub duration_ms: Option<u32>,
    /// Kept only for a voice message.
    pub peaks: Option<Peaks>,
}

impl Messages {
    /// [`Refusal::NoSuchFile`] if the user may read none of these rooms.
    pub(crate) fn may_read_one_of(
        self: &Arc<Self>,
        me: UserId,
        mut rooms: Vec<ConversationId>,
        then: Box<dyn FnOnce(Result<(), Refusal>) + Send>,
    ) {
        let Some(room) = rooms.pop() else { return then(Err(Refusal::NoSuchFile)) };
        let done = self.then(move |this, page| match page.map_err(unavailable).flatten() {
            Ok(_) => then(Ok(())),
            Err(Refusal::Unavailable) => then(Err(Refusal::Unavailable)),
            Err(_) => this.may_read_one_of(me, rooms, then),
        });
        self.store.room_history(RoomName::Id(room), me, None, None, 1, done);
    }

    pub(crate) fn take_room(
        &self,
        asker: &Asker,
        place: FilePlace,
        wish: &Wish,
        limits: FileLimits,
        now: Timestamp,
        then: impl FnOnce(Result<FileId, Refusal>) + Send + 'static,
    ) {
        let owner = asker.session.user;
        let number = self.rng.lock().random();
        let id = FileId { site: owner.site, number };
        let file = NewFile {
            id,
            owner,
            place,
            name: file_name(&wish.name),
            bytes: wish.bytes,
            voice: wish.voice,
            duration_ms: wish.duration_ms,
            peaks: wish.peaks.clone().filter(|_| wish.voice),
            time: now,
        };
        let done: Done<Result<(), Refusal>> =
            Box::new(move |taken| then(taken.map_err(unavailable).flatten().map(|()| id)));
        self.store.create_file(file, limits, done);
    }
}

//! Uploads: every possible refusal comes before the first byte.

use std::sync::Arc;

use rand::Rng;
use serde::{Deserialize, Serialize};

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

/// A file that a session wants to upload, for a conversation that it names later.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserve {
    pub name: Box<str>,
    pub bytes: u64,
    /// Those of the node.
    pub limits: FileLimits,
}

/// The properties of a new file, as its owner's client tells them.
#[derive(Default)]
pub(crate) struct Brought {
    pub(crate) name: Box<str>,
    pub(crate) bytes: u64,
    pub(crate) voice: bool,
    pub(crate) duration_ms: Option<u32>,
    pub(crate) peaks: Option<Peaks>,
}

impl Wish {
    pub(crate) fn file(&self) -> Brought {
        Brought {
            name: file_name(&self.name),
            bytes: self.bytes,
            voice: self.voice,
            duration_ms: self.duration_ms,
            peaks: self.peaks.clone().filter(|_| self.voice),
        }
    }
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
        file: &Brought,
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
            name: file.name.clone(),
            bytes: file.bytes,
            voice: file.voice,
            duration_ms: file.duration_ms,
            peaks: file.peaks.clone(),
            time: now,
        };
        let done: Done<Result<(), Refusal>> =
            Box::new(move |taken| then(taken.map_err(unavailable).flatten().map(|()| id)));
        self.store.create_file(file, limits, done);
    }
}

//! The rules of uploads and downloads, for gateways: the users who may upload a file, and those who may see
//! it.

use std::sync::Arc;

use crate::command::AnswerTo;
use crate::messages::files::bring::Brought;
use crate::messages::files::{Reserve, file_name};
use crate::messages::{Event, Messages};
use crate::session::{Asker, Completion};
use crate::site::settings::Access;
use crate::store::unavailable;
use crate::users::peer::may_write;
use crate::{
    ConversationId, Done, File, FileFound, FileId, FileLimits, FilePlace, FileRow, Identified, Refusal,
    SiteRole, StoreError, Timestamp, To, Wish,
};

impl Messages {
    /// Creates a file, after a check of the right to post and of the quotas. The bytes come later, see
    /// [`Blobs`](crate::messages::files::Blobs).
    pub(crate) fn create_file(
        self: &Arc<Self>,
        who: &Identified,
        wish: Wish,
        limits: FileLimits,
        now: Timestamp,
        then: impl FnOnce(Result<FileId, Refusal>) + Send + 'static,
    ) {
        if let Err(refusal) = is_sound(wish.bytes, limits) {
            return then(Err(refusal));
        }
        let limits = limits.for_user(who.is_guest());
        let asker = who.asker.clone();
        if who.is_muted {
            return then(Err(Refusal::Muted));
        }
        if asker.site.site.settings.access != Access::Open && asker.role < SiteRole::Moderator {
            return then(Err(Refusal::SiteReadOnly));
        }
        if let Err(refusal) = asker.may_publish_text(&wish.name, now) {
            return then(Err(refusal));
        }
        match wish.to.clone().room(asker.session.user.site) {
            Ok(room) => self.take_room(&asker, FilePlace::Room(room), &wish.file(), limits, now, then),
            Err(To::User(sub)) if sub == asker.sub => then(Err(Refusal::NotAllowed)),
            Err(to) => {
                let this = self.clone();
                self.users.find_peer(asker, to, move |asker, peer| {
                    let direct = peer.and_then(|peer| {
                        let id = ConversationId::direct(asker.session.user, peer.id);
                        let may = may_write(asker.site.site.mode, peer.is_banned, peer.relation);
                        id.filter(|_| may).ok_or(Refusal::NotAllowed)
                    });
                    match direct {
                        Ok(id) => {
                            this.take_room(&asker, FilePlace::Direct(id), &wish.file(), limits, now, then)
                        }
                        Err(refusal) => then(Err(refusal)),
                    }
                });
            }
        }
    }

    /// Creates a file for a session. Its owner chooses the conversation later, by the first message with it. Admission
    /// has checked the name, and that the user may write.
    pub(crate) fn reserve_file(self: &Arc<Self>, asker: &Asker, re: u64, reserve: Reserve, now: Timestamp) {
        let handle = asker.session.handle;
        let Reserve { name, bytes, limits } = reserve;
        if let Err(refusal) = is_sound(bytes, limits) {
            return self.sessions.refuse(handle, AnswerTo::Request(re), refusal);
        }
        let name = file_name(&name);
        let file = Brought { name: name.clone(), bytes, ..Brought::default() };
        let this = self.clone();
        let then = move |created: Result<FileId, Refusal>| match created {
            Ok(id) => this.sessions.answer(handle, re, Event::File { id, name }),
            Err(refusal) => this.sessions.refuse(handle, AnswerTo::Request(re), refusal),
        };
        self.take_room(asker, FilePlace::Open, &file, limits.for_user(asker.guest), now, then);
    }

    /// Answers whether a message of the user can have this file.
    pub(crate) fn find_open_file(self: &Arc<Self>, asker: &Asker, re: u64, id: FileId) {
        let handle = asker.session.handle;
        if id.site != asker.session.user.site {
            return self.sessions.refuse(handle, AnswerTo::Request(re), Refusal::NoSuchFile);
        }
        let done = self.on_accepted(handle, AnswerTo::Request(re), move |this, file: File| {
            this.sessions.answer(handle, re, Event::File { id: file.id, name: file.name });
        });
        self.store.open_file(asker.session.user, id, done);
    }

    /// Looks up a file. [`Refusal::NoSuchFile`]: it does not exist, or was removed.
    pub(crate) fn file(&self, id: FileId, then: impl FnOnce(Result<FileRow, Refusal>) + Send + 'static) {
        if self.sites.by_id(id.site).is_none() {
            return then(Err(Refusal::NoSuchFile));
        }
        self.store.file(id, Box::new(move |row| then(existing(row))));
    }

    /// Whether this user may see the file: its owner, and readers of the conversation once it is posted
    /// there. All others get [`Refusal::NoSuchFile`].
    pub(crate) fn may_see_file(
        self: &Arc<Self>,
        who: &Identified,
        row: &FileRow,
        then: impl FnOnce(Result<(), Refusal>) + Send + 'static,
    ) {
        let me = who.user();
        if row.owner == me {
            return then(Ok(()));
        }
        if !row.is_posted || row.file.id.site != me.site {
            return then(Err(Refusal::NoSuchFile));
        }
        let places = row.copies.iter().chain(&row.conversation);
        let (rooms, direct): (Vec<_>, Vec<_>) = places.copied().partition(|id| id.is_room());
        if direct.iter().any(|id| id.other(me).is_some()) {
            return then(Ok(()));
        }
        self.may_read_one_of(me, rooms, Box::new(then));
    }

    /// Counts the arrived bytes of an upload. Refused if they exceed a quota.
    pub(crate) fn grow_file(
        &self,
        who: &Identified,
        id: FileId,
        arrived: u64,
        limits: FileLimits,
        then: impl FnOnce(Result<(), Refusal>) + Send + 'static,
    ) {
        let done: Done<Result<(), Refusal>> =
            Box::new(move |grown| then(grown.map_err(unavailable).flatten()));
        self.store.grow_file(id, arrived, limits.for_user(who.is_guest()), done);
    }

    /// Stores the detected properties of a complete upload.
    pub(crate) fn complete_file(
        &self,
        id: FileId,
        found: FileFound,
        then: impl FnOnce(Result<FileRow, Refusal>) + Send + 'static,
    ) {
        self.store.complete_file(id, found, Box::new(move |row| then(existing(row))));
    }

    /// Removes a file that is in no message. A posted file is deleted with its message.
    pub(crate) fn remove_file(&self, id: FileId, then: impl FnOnce(Result<(), Refusal>) + Send + 'static) {
        let done: Done<Vec<FileId>> = Box::new(move |removed| {
            let removed = removed.map_err(unavailable);
            then(removed.and_then(|files| if files.is_empty() { Err(Refusal::NoSuchFile) } else { Ok(()) }));
        });
        self.store.remove_files(vec![id], done);
    }
}

/// Checks the size of a file that a user wants to upload.
fn is_sound(bytes: u64, limits: FileLimits) -> Result<(), Refusal> {
    match bytes {
        0 => Err(Refusal::BadValue),
        bytes if bytes > limits.file_bytes => Err(Refusal::FileTooLarge),
        _ => Ok(()),
    }
}

fn existing(row: Result<Option<FileRow>, StoreError>) -> Result<FileRow, Refusal> {
    row.map_err(unavailable)?.ok_or(Refusal::NoSuchFile)
}

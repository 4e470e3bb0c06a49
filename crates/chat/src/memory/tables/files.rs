//! Files in memory: the plain reading of what `FileStore` promises.

use super::Tables;
use crate::rooms::{Act, Role, Standing, may};
use crate::{
    ANSWER_WITHIN, Append, Appended, ConversationId, File, FileFound, FileId, FileLimits, FilePlace, FileRow,
    FileType, MOST_LOOSE, NewFile, Refusal, Seq, SiteId, Timestamp, UserId, has_room, may_send_files,
};

pub(super) struct Entry {
    row: FileRow,
    created: Timestamp,
    kept_bytes: u64,
    message: Option<(ConversationId, Seq)>,
    place: usize,
    /// Forwarded messages in which it is too, and its place there.
    copies: Vec<(ConversationId, Seq, usize)>,
    removed: bool,
}

impl Entry {
    /// Complete or not, it is in no message and no room's picture.
    fn is_loose(&self) -> bool {
        self.message.is_none() && !self.row.is_room_picture && !self.removed
    }
}

impl Tables {
    pub(in crate::memory) fn create_file(&mut self, new: NewFile, limits: FileLimits) -> Result<(), Refusal> {
        let conversation = self.ground_for_file(&new)?;
        let kept = |of: &dyn Fn(&Entry) -> bool| {
            let there = self.files.values().filter(|entry| !entry.removed && of(entry));
            there.map(|entry| entry.kept_bytes).sum::<u64>()
        };
        let of_user = kept(&|entry| entry.row.owner == new.owner);
        let of_site = kept(&|entry| entry.row.owner.site == new.owner.site);
        has_room(limits, of_user, of_site, new.bytes)?;
        let loose = self.files.values().filter(|entry| entry.row.owner == new.owner && entry.is_loose());
        if loose.count() >= MOST_LOOSE as usize {
            return Err(Refusal::TooManyFiles);
        }
        let file = File {
            id: new.id,
            name: new.name,
            kind: FileType::OTHER,
            bytes: new.bytes,
            picture: None,
            duration_ms: new.duration_ms,
            voice: new.voice,
            peaks: new.peaks,
        };
        let row = FileRow {
            file,
            owner: new.owner,
            conversation,
            is_complete: false,
            is_posted: false,
            is_room_picture: false,
            copies: Vec::new(),
        };
        let entry = Entry {
            row,
            created: new.time,
            kept_bytes: 0,
            message: None,
            place: 0,
            copies: Vec::new(),
            removed: false,
        };
        self.files.insert(new.id, entry);
        Ok(())
    }

    /// The conversation in which one may post it.
    fn ground_for_file(&self, new: &NewFile) -> Result<ConversationId, Refusal> {
        match &new.place {
            FilePlace::Direct(id) => {
                let other = id.other(new.owner).ok_or(Refusal::NoSuchConversation)?;
                let newest = self.lines(*id).iter().rev().take(ANSWER_WITHIN as usize);
                let has_answered = newest.into_iter().any(|line| line.from == other);
                may_send_files(self.relation(new.owner, other), has_answered)?;
                Ok(*id)
            }
            FilePlace::Room(name) => {
                let id = self.room_id(name).filter(|id| id.site == new.owner.site);
                let id = id.ok_or(Refusal::NoSuchConversation)?;
                let (who, room) = self.standing_in(id, new.owner);
                // Writing in a page's room joins it.
                let who = match who {
                    Standing::Out if room.page.is_some() => Standing::In(Role::Member),
                    who => who,
                };
                may(who, Act::Post, room.rules(Timestamp(0), Timestamp(0)))?;
                Ok(id)
            }
        }
    }

    pub(in crate::memory) fn file(&self, id: FileId) -> Option<FileRow> {
        let entry = self.files.get(&id).filter(|entry| !entry.removed)?;
        let copies = entry.copies.iter().map(|(conversation, ..)| *conversation).collect();
        Some(FileRow { copies, ..entry.row.clone() })
    }

    pub(in crate::memory) fn grow_file(
        &mut self,
        id: FileId,
        arrived: u64,
        limits: FileLimits,
    ) -> Result<(), Refusal> {
        let entry = self.files.get(&id).filter(|entry| !entry.removed).ok_or(Refusal::NoSuchFile)?;
        let (owner, kept) = (entry.row.owner, entry.kept_bytes);
        if entry.row.is_complete {
            return Ok(());
        }
        if let Some(more) = arrived.checked_sub(kept).filter(|more| *more > 0) {
            let there = || self.files.values().filter(|entry| !entry.removed);
            let of = |is_of: &dyn Fn(&Entry) -> bool| {
                there().filter(|entry| is_of(entry)).map(|entry| entry.kept_bytes).sum::<u64>()
            };
            let of_user = of(&|entry| entry.row.owner == owner);
            has_room(limits, of_user, of(&|entry| entry.row.owner.site == owner.site), more)?;
        }
        self.files.entry(id).and_modify(|entry| entry.kept_bytes = arrived);
        Ok(())
    }

    pub(in crate::memory) fn complete_file(&mut self, id: FileId, found: FileFound) -> Option<FileRow> {
        let entry = self.files.get_mut(&id).filter(|entry| !entry.removed)?;
        if !entry.row.is_complete {
            entry.row.is_complete = true;
            entry.row.file = File {
                kind: found.kind,
                bytes: found.bytes,
                picture: found.picture,
                ..entry.row.file.clone()
            };
            entry.kept_bytes = found.kept_bytes;
        }
        Some(entry.row.clone())
    }

    pub(in crate::memory) fn remove_file(&mut self, id: FileId) -> bool {
        let entry = self.files.get_mut(&id).filter(|entry| entry.is_loose());
        entry.map(|entry| entry.removed = true).is_some()
    }

    pub(in crate::memory) fn append_with_files(
        &mut self,
        append: Append,
        files: &[FileId],
    ) -> Result<(Appended, Vec<File>), Refusal> {
        let (from, conversation) = (append.from, append.conversation);
        if !self.message_by_client_id.contains_key(&(from, append.client_id.clone())) {
            self.check_files(from, conversation, files)?;
            self.check_rich(conversation, from, append.rich.as_deref())?;
        }
        let rich = append.rich.clone();
        let appended = self.append(append);
        if appended.repeated {
            return Ok((appended, Vec::new()));
        }
        self.post_files(conversation, appended.seq, files);
        self.put_rich(conversation, appended.seq, rich, &[]);
        Ok((appended, self.files_of(conversation, appended.seq)))
    }

    /// Can these be posted there?
    pub(super) fn check_files(
        &self,
        from: UserId,
        conversation: ConversationId,
        files: &[FileId],
    ) -> Result<(), Refusal> {
        let ready = |(at, id): (usize, &FileId)| {
            let entry = self.files.get(id).filter(|entry| !entry.removed && entry.row.is_complete);
            let entry =
                entry.filter(|entry| entry.row.owner == from && entry.row.conversation == conversation);
            entry.is_some_and(Entry::is_loose) && !files[..at].contains(id)
        };
        if files.iter().enumerate().all(ready) { Ok(()) } else { Err(Refusal::NoSuchFile) }
    }

    pub(super) fn post_files(
        &mut self,
        conversation: ConversationId,
        seq: Seq,
        files: &[FileId],
    ) -> Vec<File> {
        for (place, id) in files.iter().enumerate() {
            if let Some(entry) = self.files.get_mut(id) {
                (entry.message, entry.place, entry.row.is_posted) = (Some((conversation, seq)), place, true);
            }
        }
        self.files_of(conversation, seq)
    }

    pub(super) fn files_of(&self, conversation: ConversationId, seq: Seq) -> Vec<File> {
        let place = |entry: &Entry| {
            let own = (entry.message == Some((conversation, seq))).then_some(entry.place);
            let copies = &entry.copies;
            let copy = copies.iter().find(|(of, at, _)| (*of, *at) == (conversation, seq));
            own.or(copy.map(|(.., place)| *place)).filter(|_| !entry.removed)
        };
        let mut entries: Vec<(usize, &Entry)> =
            self.files.values().filter_map(|entry| Some((place(entry)?, entry))).collect();
        entries.sort_by_key(|(place, _)| *place);
        entries.into_iter().map(|(_, entry)| entry.row.file.clone()).collect()
    }

    pub(super) fn is_posted(&self, id: FileId) -> bool {
        self.files.get(&id).is_some_and(|entry| !entry.removed && entry.message.is_some())
    }

    /// Files that are in a message are in one more.
    pub(super) fn copy_files(&mut self, conversation: ConversationId, seq: Seq, files: &[FileId]) {
        for (place, id) in files.iter().enumerate() {
            if let Some(entry) = self.files.get_mut(id) {
                entry.copies.push((conversation, seq, place));
            }
        }
    }

    /// Takes one file of an erased user out of a message of somebody else, which is answered.
    pub(super) fn forwarded_file_of(&mut self, owner: UserId) -> Option<(ConversationId, Seq)> {
        let is_own = |place: &(ConversationId, Seq), tables: &Tables| {
            tables.line(place.0, place.1).is_some_and(|line| line.from == owner)
        };
        let of_owner = self.files.iter().filter(|(_, entry)| entry.row.owner == owner && !entry.removed);
        let found = of_owner.filter_map(|(id, entry)| {
            let copy = entry.copies.first().map(|(of, at, _)| (*of, *at));
            let heir = entry.message.filter(|place| !is_own(place, self));
            Some((*id, copy, copy.or(heir)?))
        });
        let (id, copy, place) = found.into_iter().next()?;
        let entry = self.files.get_mut(&id)?;
        match copy {
            Some(_) => _ = entry.copies.remove(0),
            None => entry.removed = true,
        }
        Some(place)
    }

    /// With a message that was deleted.
    pub(super) fn remove_files_of(&mut self, conversation: ConversationId, seq: Seq) {
        for entry in self.files.values_mut() {
            entry.copies.retain(|(of, at, _)| (*of, *at) != (conversation, seq));
            if entry.message != Some((conversation, seq)) {
                continue;
            }
            // The first message to which it was forwarded has it from now on.
            match entry.copies.is_empty() {
                true => entry.removed = true,
                false => {
                    let (of, at, place) = entry.copies.remove(0);
                    (entry.message, entry.place, entry.row.conversation) = (Some((of, at)), place, of);
                }
            }
        }
    }

    pub(in crate::memory) fn stale_files(
        &self,
        before: Timestamp,
        empty_before: Timestamp,
        limit: u32,
    ) -> Vec<FileId> {
        let stale = |(_, entry): &(&FileId, &Entry)| {
            let is_empty = entry.kept_bytes == 0 && !entry.row.is_complete;
            let is_loose = entry.is_loose();
            entry.removed
                || (is_loose && (entry.created < before || (is_empty && entry.created < empty_before)))
        };
        self.files.iter().filter(stale).map(|(id, _)| *id).take(limit as usize).collect()
    }

    pub(in crate::memory) fn forget_files(&mut self, files: &[FileId]) {
        self.files.retain(|id, entry| !(entry.removed && files.contains(id)));
    }

    pub(super) fn remove_loose_files_of(&mut self, user: UserId) {
        let loose = |entry: &&mut Entry| entry.row.owner == user && entry.is_loose();
        self.files.values_mut().filter(loose).for_each(|entry| entry.removed = true);
    }

    /// A complete picture that `by` uploaded for this room becomes the room's.
    pub(super) fn take_room_picture(
        &mut self,
        id: FileId,
        room: ConversationId,
        by: UserId,
    ) -> Result<(), Refusal> {
        let entry = self.files.get_mut(&id).filter(|entry| entry.is_loose() && entry.row.is_complete);
        let entry = entry.filter(|entry| entry.row.owner == by && entry.row.conversation == room);
        let entry = entry.filter(|entry| entry.row.file.picture.is_some()).ok_or(Refusal::NoSuchFile)?;
        entry.row.is_room_picture = true;
        Ok(())
    }

    /// The room has another picture, or none.
    pub(super) fn drop_room_picture(&mut self, id: FileId) {
        if let Some(entry) = self.files.get_mut(&id).filter(|entry| entry.row.is_room_picture) {
            (entry.row.is_room_picture, entry.removed) = (false, true);
        }
    }

    pub(super) fn owner_of_file(&self, id: FileId) -> Option<UserId> {
        self.files.get(&id).map(|entry| entry.row.owner)
    }

    pub(super) fn remove_files_of_site(&mut self, site: SiteId) {
        self.files.retain(|id, _| id.site != site);
    }
}

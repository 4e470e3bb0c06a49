//! What messages bear besides body and files, in memory: polls, what was forwarded, threads.

use super::{Line, Tables};
use crate::rooms::{Act, Standing};
use crate::{
    ANSWER_WITHIN, Choice, ConversationId, File, Forwarded, HistoryPage, InThread, MOST_BLOCKED_LOOKED_AT,
    NAMED, NewPoll, NewPreview, NewRich, NewSticker, Poll, Preview, Refusal, Replies, Rich, Seq, StickerId,
    StoredMessage, Sub, ThreadChange, ThreadCount, ThreadRow, Timestamp, UserId, is_left_out, may_send_files,
};

#[derive(Default)]
pub(super) struct Bears {
    poll: Option<Votes>,
    forwarded: Option<Forwarded>,
    thread: Option<InThread>,
    replies: Option<Replies>,
    /// Commit of the newest of them.
    newest_reply: u64,
    preview: Option<Preview>,
    sticker: Option<StickerId>,
}

struct Votes {
    asked: NewPoll,
    closed: bool,
    /// Of each choice who has voted for it, the first first.
    users: Vec<Vec<UserId>>,
}

impl Tables {
    /// One message, for who may read the conversation.
    pub(in crate::memory) fn one_message(
        &self,
        reader: UserId,
        id: ConversationId,
        seq: Seq,
    ) -> Result<StoredMessage, Refusal> {
        match id.is_room() {
            true => _ = self.allowed(id, reader, Act::Read)?,
            false => _ = id.other(reader).ok_or(Refusal::NoSuchConversation)?,
        }
        self.message(id, seq, reader).ok_or(Refusal::NoSuchMessage)
    }

    pub(in crate::memory) fn history_since(
        &self,
        reader: UserId,
        id: ConversationId,
        time: Timestamp,
        limit: u32,
    ) -> Result<HistoryPage, Refusal> {
        match id.is_room() {
            true => _ = self.allowed(id, reader, Act::Read)?,
            false => _ = id.other(reader).ok_or(Refusal::NoSuchConversation)?,
        }
        let earlier = self.lines(id).partition_point(|line| line.time < time);
        Ok(self.history(reader, id, None, Some(Seq(earlier as u64)), limit))
    }

    /// May a message bear this? Where not, nothing has changed.
    pub(super) fn check_rich(
        &self,
        id: ConversationId,
        from: UserId,
        rich: Option<&NewRich>,
    ) -> Result<(), Refusal> {
        let Some(rich) = rich else { return Ok(()) };
        if let Some(root) = rich.thread {
            self.check_root(id, root)?;
        }
        let Some(forward) = rich.forwarded.as_ref().filter(|forward| !forward.files.is_empty()) else {
            return Ok(());
        };
        if let Some(other) = id.other(from) {
            let newest = self.lines(id).iter().rev().take(ANSWER_WITHIN as usize);
            let has_answered = newest.into_iter().any(|line| line.from == other);
            may_send_files(self.relation(from, other), has_answered)?;
        }
        let is_there = forward.files.iter().all(|file| file.site == from.site && self.is_posted(*file));
        if is_there { Ok(()) } else { Err(Refusal::NoSuchMessage) }
    }

    fn check_root(&self, id: ConversationId, root: Seq) -> Result<(), Refusal> {
        let line = self.line(id, root).filter(|line| !line.since.deleted);
        let is_root = line.is_some_and(|line| line.bears.as_ref().is_none_or(|bears| bears.thread.is_none()));
        if is_root { Ok(()) } else { Err(Refusal::NoSuchMessage) }
    }

    /// Puts what [`check_rich`](Self::check_rich) has allowed on the newest message. `named`: whom it names.
    pub(super) fn put_rich(
        &mut self,
        id: ConversationId,
        seq: Seq,
        rich: Option<Box<NewRich>>,
        named: &[Option<UserId>],
    ) -> (Vec<File>, Option<InThread>) {
        let Some(rich) = rich else { return (Vec::new(), None) };
        let NewRich { poll, forwarded, thread, sticker } = *rich;
        let thread = thread.map(|root| self.reply(id, root, seq, named));
        if let Some(forward) = &forwarded {
            self.copy_files(id, seq, &forward.files);
        }
        let poll = poll.map(|asked| {
            let users = asked.choices.iter().map(|_| Vec::new()).collect();
            Votes { asked, closed: false, users }
        });
        let forwarded = forwarded.map(|forward| Forwarded { from: forward.author });
        if let Some(line) = self.line_of(id, seq) {
            let sticker = sticker.map(|sticker| sticker.id);
            line.bears = Some(Box::new(Bears { poll, forwarded, thread, sticker, ..Bears::default() }));
        }
        (self.files_of(id, seq), thread)
    }

    /// Puts the newest message into a thread; who has to do with it follows it.
    fn reply(&mut self, id: ConversationId, root: Seq, seq: Seq, named: &[Option<UserId>]) -> InThread {
        let (from, time, number) =
            self.line(id, seq).map(|line| (line.from, line.time, line.number)).expect("it was just posted");
        let above = self.line_of(id, root).expect("the root was looked at");
        let author = above.from;
        let replies = &mut above.bears.get_or_insert_default().replies;
        let count = replies.map_or(0, |replies| replies.count) + 1;
        *replies = Some(Replies { count, last: time });
        above.bears.get_or_insert_default().newest_reply = number;
        for user in named.iter().flatten().chain([&author]) {
            self.follows.entry((*user, id, root)).or_insert(count - 1);
        }
        self.follows.insert((from, id, root), count);
        InThread { root, number: count }
    }

    /// Threads of a room with replies after `since`.
    pub(super) fn threads_since(&self, id: ConversationId, since: u64) -> Vec<ThreadCount> {
        let counted = self.lines(id).iter().zip(1..).filter_map(|(line, seq)| {
            let bears = line.bears.as_ref().filter(|bears| bears.newest_reply > since)?;
            Some(ThreadCount { conversation: id, root: Seq(seq), replies: bears.replies? })
        });
        counted.collect()
    }

    fn line_of(&mut self, id: ConversationId, seq: Seq) -> Option<&mut Line> {
        let at = usize::try_from(seq.0).ok()?.checked_sub(1)?;
        let messages = match self.conversations.get_mut(&id) {
            Some(direct) => &mut direct.messages,
            None => &mut self.rooms.get_mut(&id)?.messages,
        };
        messages.get_mut(at)
    }

    pub(super) fn rich_of(&self, line: &Line, reader: UserId) -> Option<Box<Rich>> {
        let bears = line.bears.as_ref()?;
        let sub = |user: &UserId| self.users.get(user).map(|row| row.profile.sub.clone());
        let poll = bears.poll.as_ref().map(|votes| votes.seen(reader, sub));
        let forwarded = bears.forwarded.as_ref().map(|forwarded| {
            let author = forwarded.from.as_ref().map(|(user, _)| *user);
            Forwarded { from: author.and_then(|user| Some((user, sub(&user)?))) }
        });
        let Bears { thread, replies, .. } = **bears;
        let preview = bears.preview.clone();
        let sticker = bears.sticker.and_then(|id| self.sticker(id)).map(|one| one.sticker.clone());
        Some(Box::new(Rich { poll, forwarded, thread, replies, preview, sticker }))
    }

    pub(in crate::memory) fn sticker(&self, id: StickerId) -> Option<&NewSticker> {
        self.stickers.iter().find(|one| one.sticker.id == id)
    }

    /// Messages keep its words.
    pub(in crate::memory) fn remove_sticker(&mut self, id: StickerId) -> bool {
        let directs = self.conversations.values_mut().flat_map(|direct| &mut direct.messages);
        let rooms = self.rooms.values_mut().flat_map(|room| &mut room.messages);
        for bears in directs.chain(rooms).filter_map(|line| line.bears.as_mut()) {
            bears.sticker = bears.sticker.filter(|sticker| *sticker != id);
        }
        let before = self.stickers.len();
        self.stickers.retain(|one| one.sticker.id != id);
        self.stickers.len() < before
    }

    pub(in crate::memory) fn thread_history(
        &self,
        reader: UserId,
        id: ConversationId,
        root: Seq,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: u32,
    ) -> Result<HistoryPage, Refusal> {
        self.one_message(reader, id, root)?;
        let is_in = |line: &Line| {
            line.bears.as_ref().and_then(|bears| bears.thread).is_some_and(|thread| thread.root == root)
        };
        let replies = self.lines(id).iter().zip(1..).filter(|(line, _)| is_in(line)).map(|(_, seq)| Seq(seq));
        let mut seqs: Vec<Seq> = replies
            .filter(|seq| before.is_none_or(|before| *seq < before) && after.is_none_or(|after| *seq > after))
            .collect();
        let limit = limit as usize;
        let more = seqs.len() > limit;
        match after {
            Some(_) => seqs.truncate(limit),
            None => _ = seqs.drain(..seqs.len().saturating_sub(limit)),
        }
        let messages = seqs.into_iter().filter_map(|seq| self.message(id, seq, reader)).collect();
        Ok(HistoryPage { messages, more })
    }

    pub(in crate::memory) fn change_thread(
        &mut self,
        reader: UserId,
        id: ConversationId,
        root: Seq,
        change: ThreadChange,
    ) -> Result<ThreadRow, Refusal> {
        let message = self.one_message(reader, id, root)?;
        let key = (reader, id, root);
        let count = message.rich.as_ref().and_then(|rich| rich.replies).map_or(0, |replies| replies.count);
        match change.follow {
            Some(true) => {
                let entry = self.allowed(id, reader, Act::Read)?;
                if !matches!(entry.standing(reader), Standing::In(_)) {
                    return Err(Refusal::NotAMember);
                }
                self.check_root(id, root)?;
                self.follows.entry(key).or_insert(count);
            }
            Some(false) => _ = self.follows.remove(&key),
            None => {}
        }
        if let (Some(read), Some(to)) = (self.follows.get_mut(&key), change.read) {
            *read = to.min(count).max(*read);
        }
        let read = self.follows.get(&key).copied();
        let blocked = read.map_or(0, |read| self.blocked_replies(reader, key.1, key.2, read));
        Ok(ThreadRow { root: message, read, blocked })
    }

    /// Replies after `read` whose authors the reader has blocked.
    fn blocked_replies(&self, reader: UserId, id: ConversationId, root: Seq, read: u64) -> u64 {
        let replies = self.lines(id).iter().rev().filter(|line| {
            let place = line.bears.as_ref().and_then(|bears| bears.thread);
            place.is_some_and(|place| place.root == root && place.number > read)
        });
        let newest = replies.take(MOST_BLOCKED_LOOKED_AT as usize);
        newest.filter(|line| is_left_out(id, self.has_blocked(reader, line.from))).count() as u64
    }

    pub(in crate::memory) fn threads(
        &self,
        reader: UserId,
        id: ConversationId,
        limit: u32,
    ) -> Result<Vec<ThreadRow>, Refusal> {
        self.allowed(id, reader, Act::Read)?;
        let mine = self.follows.iter().filter(|((user, room, _), _)| *user == reader && *room == id);
        let rows = mine.filter_map(|((.., root), read)| {
            let blocked = self.blocked_replies(reader, id, *root, *read);
            Some(ThreadRow { root: self.message(id, *root, reader)?, read: Some(*read), blocked })
        });
        let last = |row: &ThreadRow| row.root.rich.as_ref().and_then(|rich| rich.replies).map(|r| r.last);
        let mut rows: Vec<ThreadRow> = rows.filter(|row| last(row).is_some()).collect();
        rows.sort_by_key(|row| std::cmp::Reverse((last(row), row.root.seq)));
        rows.truncate(limit as usize);
        Ok(rows)
    }
}

/// The picture's row is not kept here: this store has no quotas for it, and nobody asks for its bytes.
fn seen(new: NewPreview) -> Preview {
    let picture = new.picture.map(|picture| File {
        id: picture.id,
        name: "preview".into(),
        kind: picture.kind,
        bytes: picture.bytes,
        picture: Some(picture.picture),
        duration_ms: None,
        peaks: None,
        voice: false,
    });
    Preview { url: new.url, title: new.title, description: new.description, site: new.site, picture }
}

impl Votes {
    fn seen(&self, reader: UserId, sub: impl Fn(&UserId) -> Option<Sub>) -> Poll {
        let texts = self.asked.choices.iter().map(|text| &**text);
        let choice = |(text, users): (&str, &[UserId])| Choice {
            text: text.into(),
            votes: users.len() as u64,
            users: match self.asked.anonymous {
                true => Vec::new(),
                false => users.iter().take(NAMED).filter_map(&sub).collect(),
            },
            mine: users.contains(&reader),
        };
        let mut voters: Vec<UserId> = self.users.iter().flatten().copied().collect();
        voters.sort_unstable();
        voters.dedup();
        Poll {
            choices: texts.zip(self.users.iter().map(Vec::as_slice)).map(choice).collect(),
            multiple: self.asked.multiple,
            anonymous: self.asked.anonymous,
            ends: self.asked.ends,
            closed: self.closed,
            voters: voters.len() as u64,
        }
    }
}

impl Line {
    pub(super) fn has_poll(&self) -> bool {
        self.bears.as_ref().is_some_and(|bears| bears.poll.is_some())
    }

    /// In a vote, or as the author of what was forwarded.
    pub(super) fn bears_name_of(&self, user: UserId) -> bool {
        self.bears.as_ref().is_some_and(|bears| {
            let voted = |votes: &Votes| votes.users.iter().any(|users| users.contains(&user));
            let from = bears.forwarded.as_ref().and_then(|forwarded| forwarded.from.as_ref());
            bears.poll.as_ref().is_some_and(voted) || from.is_some_and(|(author, _)| *author == user)
        })
    }

    pub(super) fn is_forwarded(&self) -> bool {
        self.bears.as_ref().is_some_and(|bears| bears.forwarded.is_some())
    }

    /// Answers whether anything is another than before.
    pub(super) fn vote(&mut self, choices: &[u8], by: UserId, now: Timestamp) -> Result<bool, Refusal> {
        let votes = self.bears.as_mut().and_then(|bears| bears.poll.as_mut()).ok_or(Refusal::BadValue)?;
        votes.seen(by, |_| None).may_vote(choices, now)?;
        let mut changed = false;
        for (users, number) in votes.users.iter_mut().zip(0..) {
            let (was, is) = (users.contains(&by), choices.contains(&number));
            changed |= was != is;
            match (was, is) {
                (true, false) => users.retain(|user| *user != by),
                (false, true) => users.push(by),
                _ => {}
            }
        }
        Ok(changed)
    }

    pub(super) fn close_poll(&mut self) -> Result<bool, Refusal> {
        let votes = self.bears.as_mut().and_then(|bears| bears.poll.as_mut()).ok_or(Refusal::BadValue)?;
        Ok(!std::mem::replace(&mut votes.closed, true))
    }

    /// Answers whether anything is another than before.
    pub(super) fn preview(&mut self, preview: Option<Box<NewPreview>>) -> Result<bool, Refusal> {
        let Some(new) = preview else {
            let dropped = self.bears.as_mut().and_then(|bears| bears.preview.take()).is_some();
            return Ok(dropped);
        };
        if !self.body.contains(&*new.url) {
            return Err(Refusal::NoSuchMessage);
        }
        let bears = self.bears.get_or_insert_default();
        let is_new = bears.preview.is_none();
        bears.preview.get_or_insert_with(|| seen(*new));
        Ok(is_new)
    }

    pub(super) fn is_sticker(&self) -> bool {
        self.bears.as_ref().is_some_and(|bears| bears.sticker.is_some())
    }

    /// A link that is not in the body any more.
    pub(super) fn lose_preview(&mut self) {
        let body = &self.body;
        if let Some(bears) = &mut self.bears
            && bears.preview.as_ref().is_some_and(|preview| !body.contains(&*preview.url))
        {
            bears.preview = None;
        }
    }

    /// A message that was taken back keeps its place in threads only.
    pub(super) fn bear_nothing(&mut self) {
        if let Some(bears) = &mut self.bears {
            (bears.poll, bears.forwarded, bears.preview, bears.sticker) = (None, None, None, None);
            if bears.thread.is_none() && bears.replies.is_none() {
                self.bears = None;
            }
        }
    }
}

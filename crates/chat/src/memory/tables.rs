//! What the memory store keeps, and every operation of the port as a plain function on it.

mod changes;
mod device;
mod erase;
mod export;
mod files;
mod held;
mod import;
mod links;
mod merge;
mod moderation;
mod notify;
mod profile;
mod requests;
mod retention;
mod rich;
mod room_requests;
mod rooms;
mod search;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use changes::Since;
use rich::Bears;

use crate::{
    Append, Appended, ContactRow, ContactState, ContactsPage, ConversationChange, ConversationId,
    ConversationList, ConversationOf, ConversationRow, ConversationsPage, FileId, Gap, HistoryPage,
    ImportFloor, ImportKey, Level, MOST_BLOCKED_FIRST, MOST_PINNED, MarkerRow, NewSticker, PeoplePage,
    Position, Privacy, Profile, Refusal, Relation, Request, ResumeFrom, Seq, SetPresence, Site, SiteId,
    SiteStanding, Snapshot, Status, Sub, Timestamp, UserId, UserRow, directory, markers_after,
};

#[derive(Default)]
pub(super) struct Tables {
    pub(super) epoch: u32,
    /// Of the last commit.
    pub(super) number: u64,
    pub(super) revision: u64,
    pub(super) sites: BTreeMap<SiteId, Site>,
    next_site: u32,
    users: BTreeMap<UserId, UserRow>,
    user_by_sub: BTreeMap<(SiteId, Sub), UserId>,
    next_user: HashMap<SiteId, u32>,
    conversations: BTreeMap<ConversationId, Conversation>,
    rooms: BTreeMap<ConversationId, rooms::Entry>,
    message_by_client_id: HashMap<(UserId, Box<str>), (ConversationId, Seq)>,
    /// By (whose list, who is on it). Rows of state None tell a difference that somebody was taken off.
    contacts: BTreeMap<(UserId, UserId), Entry>,
    used_tokens: HashMap<(SiteId, Box<str>), Timestamp>,
    /// By user: the day of their last request, and how many there were on it.
    requests: HashMap<UserId, (u64, u32)>,
    moderation: moderation::Kept,
    /// Oldest first.
    held: Vec<held::Entry>,
    drafts: BTreeMap<(UserId, ConversationId), Box<str>>,
    files: BTreeMap<FileId, files::Entry>,
    notifications: notify::Notifications,
    /// How far who follows a thread has read it, by user, room and root.
    follows: BTreeMap<(UserId, ConversationId, Seq), u64>,
    statuses: BTreeMap<UserId, Status>,
    devices: BTreeMap<(UserId, u64), device::Entry>,
    merged: BTreeMap<(SiteId, Sub), UserId>,
    /// How many messages of a conversation are gone, from its beginning on.
    trimmed: BTreeMap<ConversationId, u64>,
    /// Unfinished erasures.
    erasures: BTreeMap<UserId, erase::Left>,
    /// Imported things by the other system's id; and the floors of sites.
    imported: HashMap<(SiteId, ImportKey), import::Kept>,
    import_floors: BTreeMap<SiteId, ImportFloor>,
    /// Erased with all messages.
    erased_authors: BTreeSet<UserId>,
    /// In the order in which they came.
    pub(super) stickers: Vec<NewSticker>,
    /// Oldest first.
    links: Vec<links::Entry>,
    /// By user, room and who has asked.
    room_requests: BTreeMap<(UserId, ConversationId, UserId), room_requests::Entry>,
}

struct Conversation {
    messages: Vec<Line>,
    /// In the order of `ConversationId::pair`.
    members: [Member; 2],
    active: Timestamp,
    /// Which of the two has asked, where it waits for an answer; and whether the other one has put it away.
    asking: Option<(usize, bool)>,
}

struct Line {
    from: UserId,
    client_id: Box<str>,
    body: Box<str>,
    time: Timestamp,
    reply_to: Option<Seq>,
    number: u64,
    mentions_other: bool,
    since: Since,
    bears: Option<Box<Bears>>,
}

#[derive(Default, Clone, Copy)]
struct Member {
    received: u64,
    read: u64,
    muted_until: Timestamp,
    pinned: bool,
    archived: bool,
    marked_unread: bool,
    /// Commit in which this member's view changed last.
    changed: u64,
}

struct Entry {
    state: ContactState,
    changed: u64,
}

impl Tables {
    pub(super) fn position(&self) -> Position {
        Position { epoch: self.epoch, number: self.number }
    }

    fn commit(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    // ---- users ----

    pub(super) fn put_user(&mut self, site: SiteId, profile: Profile, now: Timestamp) -> UserRow {
        if let Some(member) = self.member_of_guest(site, &profile) {
            return member;
        }
        if let Some(id) = self.user_by_sub.get(&(site, profile.sub.clone())) {
            let row = self.users.get_mut(id).expect("every sub has its row");
            let profile = row.told(profile);
            let changed = row.profile != profile;
            row.profile = profile;
            let row = row.clone();
            if changed {
                self.commit();
            }
            return row;
        }
        let next = self.next_user.entry(site).or_insert(0);
        *next += 1;
        let id = UserId { site, num: *next };
        let row = UserRow {
            id,
            profile,
            presence: SetPresence::default(),
            banned: false,
            on_site: SiteStanding::default(),
            privacy: Privacy::default(),
            named: false,
            created: now,
            last_seen: now,
        };
        self.user_by_sub.insert((site, row.profile.sub.clone()), id);
        self.users.insert(id, row.clone());
        self.restore_sanctions(id, now);
        self.commit();
        self.user_by_id(id).unwrap_or(row)
    }

    pub(super) fn put_presence(&mut self, user: UserId, presence: SetPresence, last_seen: Timestamp) {
        if let Some(row) = self.users.get_mut(&user) {
            row.presence = presence;
            row.last_seen = last_seen;
        }
    }

    pub(super) fn set_banned(&mut self, user: UserId, banned: bool) -> bool {
        let Some(row) = self.users.get_mut(&user) else { return false };
        row.banned = banned;
        if banned {
            self.links.retain(|entry| entry.by != user);
        }
        self.revision += 1;
        true
    }

    pub(super) fn keep_level(&mut self, user: UserId, level: Level) -> Option<UserRow> {
        let row = self.users.get_mut(&user)?;
        if !row.on_site.fixed {
            row.on_site.level = row.on_site.level.max(level);
        }
        Some(row.clone())
    }

    pub(super) fn written(&self, user: UserId, most: u32) -> u32 {
        let of_user = self.message_by_client_id.keys().filter(|(from, _)| *from == user);
        of_user.take(most as usize).count() as u32
    }

    pub(super) fn user(&self, site: SiteId, sub: &Sub) -> Option<UserRow> {
        self.users.get(self.user_by_sub.get(&(site, sub.clone()))?).cloned()
    }

    pub(super) fn user_by_id(&self, id: UserId) -> Option<UserRow> {
        self.users.get(&id).cloned()
    }

    pub(super) fn list_users(&self, site: SiteId, after: Option<&Sub>, limit: u32) -> Vec<UserRow> {
        self.user_by_sub
            .iter()
            .filter(|((of, sub), _)| *of == site && after.is_none_or(|after| sub > after))
            .filter_map(|(_, id)| self.user_by_id(*id))
            .take(limit as usize)
            .collect()
    }

    pub(super) fn people(
        &self,
        site: SiteId,
        query: Option<&str>,
        after: Option<&str>,
        limit: u32,
    ) -> PeoplePage {
        let query = directory::fold_query(query.unwrap_or_default());
        let mut rows: Vec<UserRow> = self
            .users
            .values()
            .filter(|row| {
                row.id.site == site && directory::finds(&directory::fold(&row.profile.name), &query)
            })
            .cloned()
            .collect();
        rows.sort_by_cached_key(|row| name_cursor(&row.profile));
        let next = cut(&mut rows, after, limit, |row| name_cursor(&row.profile));
        PeoplePage { rows, next }
    }

    pub(super) fn use_token(&mut self, site: SiteId, jti: &str, expires: Timestamp, now: Timestamp) -> bool {
        self.used_tokens.retain(|_, expires| *expires >= now);
        self.used_tokens.insert((site, jti.into()), expires).is_none()
    }

    // ---- conversations ----

    pub(super) fn append(&mut self, append: Append) -> Appended {
        let key = (append.from, append.client_id.clone());
        if let Some(&(conversation, seq)) = self.message_by_client_id.get(&key) {
            return self.repeated(conversation, seq);
        }
        let number = self.commit();
        let pair = append.conversation.pair().expect("direct conversations only");
        let names: [Option<Sub>; 2] = pair.map(|id| self.user_by_id(id).map(|row| row.profile.sub));
        let conversation = self.conversations.entry(append.conversation).or_insert_with(|| Conversation {
            messages: Vec::new(),
            members: [Member::default(); 2],
            active: append.time,
            asking: None,
        });
        let seq = conversation.messages.len() as u64 + 1;
        let me = usize::from(pair[1] == append.from);
        conversation.messages.push(Line {
            from: append.from,
            client_id: append.client_id,
            mentions_other: names[1 - me]
                .as_ref()
                .is_some_and(|sub| directory::mentions(&append.body, sub.as_str())),
            body: append.body,
            time: append.time,
            reply_to: append.reply_to.filter(|to| (1..seq).contains(&to.0)),
            number,
            since: Since::default(),
            bears: None,
        });
        conversation.active = append.time;
        for member in &mut conversation.members {
            member.archived = false;
            member.changed = number;
        }
        conversation.members[me].received = seq;
        conversation.members[me].read = seq;
        self.message_by_client_id.insert(key, (append.conversation, Seq(seq)));
        Appended {
            conversation: append.conversation,
            seq: Seq(seq),
            time: append.time,
            position: self.position(),
            repeated: false,
        }
    }

    fn repeated(&self, conversation: ConversationId, seq: Seq) -> Appended {
        let line = &self.lines(conversation)[seq.0 as usize - 1];
        let position = Position { epoch: self.epoch, number: line.number };
        Appended { conversation, seq, time: line.time, position, repeated: true }
    }

    /// The messages of a conversation, by seq.
    fn lines(&self, id: ConversationId) -> &[Line] {
        let direct = self.conversations.get(&id).map(|conversation| &conversation.messages);
        direct.or_else(|| self.rooms.get(&id).map(|room| &room.messages)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn mark(&mut self, id: ConversationId, user: UserId, received: Seq, read: Seq) -> MarkerRow {
        if id.is_room() {
            return self.mark_room(id, user, received, read);
        }
        let position = self.position();
        let nothing = MarkerRow::nothing(position);
        let Some(me) = member_index(id, user) else { return nothing };
        let number = self.number + 1;
        let Some(conversation) = self.conversations.get_mut(&id) else { return nothing };
        let newest = conversation.messages.len() as u64;
        let before = conversation.members[me];
        let (received, read) = markers_after((before.received, before.read), (received, read), newest);
        let moved = (received, read) != (before.received, before.read);
        let told = conversation.request(me) != Some(Request::Received);
        if moved {
            conversation.members[me].received = received;
            conversation.members[me].read = read;
            conversation.members[me].marked_unread &= read == before.read;
            conversation.members.iter_mut().for_each(|member| member.changed = number);
            self.number = number;
        }
        MarkerRow {
            received: Seq(received),
            read: Seq(read),
            unread: newest - read,
            moved,
            told,
            position: if moved { self.position() } else { position },
        }
    }

    pub(super) fn change_conversation(
        &mut self,
        id: ConversationId,
        user: UserId,
        change: &ConversationChange,
    ) -> Result<(ConversationRow, Position), Refusal> {
        let before = self.conversation(user, id).ok_or(Refusal::NoSuchConversation)?;
        if change.pinned == Some(true) && !before.pinned && self.pinned_by(user) >= MOST_PINNED {
            return Err(Refusal::TooManyPinned);
        }
        if let Some(draft) = change.draft.clone() {
            match draft.is_empty() {
                true => self.drafts.remove(&(user, id)),
                false => self.drafts.insert((user, id), draft),
            };
        }
        match id.is_room() {
            true => self.change_view_of_room(id, user, change),
            false => self.change_view(id, user, change),
        }
        let after = self.conversation(user, id).ok_or(Refusal::NoSuchConversation)?;
        if after != before {
            let number = self.commit();
            self.view_changed(id, user, number);
        }
        Ok((after, self.position()))
    }

    fn change_view(&mut self, id: ConversationId, user: UserId, change: &ConversationChange) {
        let Some(me) = member_index(id, user) else { return };
        let Some(conversation) = self.conversations.get_mut(&id) else { return };
        let member = &mut conversation.members[me];
        member.muted_until = change.muted_until.unwrap_or(member.muted_until);
        member.pinned = change.pinned.unwrap_or(member.pinned);
        member.archived = change.archived.unwrap_or(member.archived);
        member.marked_unread = change.marked_unread.unwrap_or(member.marked_unread);
    }

    fn view_changed(&mut self, id: ConversationId, user: UserId, number: u64) {
        match self.conversations.get_mut(&id).zip(member_index(id, user)) {
            Some((conversation, me)) => conversation.members[me].changed = number,
            None => self.view_of_room_changed(id, user, number),
        }
    }

    fn pinned_by(&self, user: UserId) -> usize {
        let rows = self.conversations_of(user).filter_map(|id| self.conversation(user, id));
        rows.filter(|row| row.pinned).count()
    }

    pub(super) fn conversation(&self, user: UserId, id: ConversationId) -> Option<ConversationRow> {
        if id.is_room() {
            return self.room_row(user, id).or_else(|| self.room_request(user, id));
        }
        let conversation = self.conversations.get(&id)?;
        let me = member_index(id, user)?;
        let (mine, mut theirs) = (conversation.members[me], conversation.members[1 - me]);
        let request = conversation.request(me);
        if request == Some(Request::Sent) {
            (theirs.received, theirs.read) = (0, 0);
        }
        let newest = conversation.messages.len();
        let unread = &conversation.messages[mine.read as usize..];
        Some(ConversationRow {
            id,
            of: ConversationOf::Direct(self.user_by_id(id.other(user)?)?),
            last: self.message(id, Seq(newest as u64), user),
            received: Seq(mine.received),
            read: Seq(mine.read),
            their_received: Seq(theirs.received),
            their_read: Seq(theirs.read),
            blocked: self.relation(user, id.other(user)?).is_blocked(),
            unread: unread.len() as u64,
            mentions: unread.iter().filter(|line| line.from != user && line.mentions_other).count() as u64,
            muted_until: mine.muted_until,
            pinned: mine.pinned,
            archived: mine.archived,
            request,
            requested_by: None,
            marked_unread: mine.marked_unread,
            draft: self.drafts.get(&(user, id)).cloned(),
            active: conversation.active,
        })
    }

    fn conversations_of(&self, user: UserId) -> impl Iterator<Item = ConversationId> + '_ {
        let direct = self.conversations.keys().copied().filter(move |id| id.other(user).is_some());
        direct.chain(self.rooms_with(user)).chain(self.requested_rooms(user))
    }

    pub(super) fn conversations(
        &self,
        user: UserId,
        list: ConversationList,
        after: Option<&str>,
        limit: u32,
    ) -> ConversationsPage {
        let mut rows: Vec<ConversationRow> = self
            .conversations_of(user)
            .filter_map(|id| self.conversation(user, id))
            .filter(|row| is_listed(row, list))
            .collect();
        rows.sort_by_cached_key(activity_cursor);
        let next = cut(&mut rows, after, limit, activity_cursor);
        ConversationsPage { rows, next }
    }

    pub(super) fn history(
        &self,
        reader: UserId,
        id: ConversationId,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: u32,
    ) -> HistoryPage {
        let newest = self.lines(id).len() as u64;
        let last = before.map_or(newest, |before| before.0.saturating_sub(1).min(newest));
        let oldest = self.trimmed.get(&id).copied().unwrap_or(0) + 1;
        let first = after.map_or(1, |after| after.0.saturating_add(1)).max(oldest);
        let available = (last + 1).saturating_sub(first);
        let taken = available.min(u64::from(limit));
        let (first, last) = match after {
            Some(_) => (first, first + taken),
            None => (last + 1 - taken, last + 1),
        };
        HistoryPage {
            messages: (first..last).filter_map(|seq| self.message(id, Seq(seq), reader)).collect(),
            // A page of no entries has no next page.
            more: taken > 0 && taken < available,
        }
    }

    // ---- contacts ----

    pub(super) fn relation(&self, a: UserId, b: UserId) -> Relation {
        let state = |of, to| self.contacts.get(&(of, to)).map_or(ContactState::None, |entry| entry.state);
        Relation { of_a: state(a, b), of_b: state(b, a) }
    }

    pub(super) fn has_blocked(&self, user: UserId, other: UserId) -> bool {
        self.relation(user, other).of_a == ContactState::Blocked
    }

    pub(super) fn put_relation(
        &mut self,
        a: UserId,
        b: UserId,
        relation: Relation,
        limit: u32,
    ) -> Option<Position> {
        let before = self.relation(a, b);
        let grows = |was, will| was == ContactState::None && will != ContactState::None;
        let full = |user: UserId| {
            self.contacts_of(user).filter(|(_, entry)| entry.state != ContactState::None).count()
                >= limit as usize
        };
        if grows(before.of_a, relation.of_a) && full(a) || grows(before.of_b, relation.of_b) && full(b) {
            return None;
        }
        if before == relation {
            return Some(self.position());
        }
        let changed = self.commit();
        let sides = [(a, b, before.of_a, relation.of_a), (b, a, before.of_b, relation.of_b)];
        for (of, to, was, state) in sides {
            if was != state {
                self.contacts.insert((of, to), Entry { state, changed });
            }
        }
        if relation.of_a == ContactState::Contact {
            self.agreed(a, b);
        }
        Some(self.position())
    }

    fn contacts_of(&self, user: UserId) -> impl Iterator<Item = (UserId, &Entry)> {
        let first = (user, UserId { site: user.site, num: 0 });
        self.contacts
            .range(first..)
            .take_while(move |((of, _), _)| *of == user)
            .map(|((_, to), entry)| (*to, entry))
    }

    pub(super) fn agreed_contacts(&self, user: UserId) -> Vec<UserId> {
        let agreed = |entry: &Entry| entry.state == ContactState::Contact;
        self.contacts_of(user).filter(|(_, entry)| agreed(entry)).map(|(id, _)| id).collect()
    }

    pub(super) fn contacts(&self, user: UserId, after: Option<&str>, limit: u32) -> ContactsPage {
        let mut rows: Vec<ContactRow> = self
            .contacts_of(user)
            .filter(|(_, entry)| entry.state != ContactState::None)
            .filter_map(|(id, entry)| {
                Some(ContactRow { id, profile: self.user_by_id(id)?.profile, state: entry.state })
            })
            .collect();
        rows.sort_by_cached_key(|row| name_cursor(&row.profile));
        let mut others: Vec<ContactRow> = rows.iter().skip(limit as usize).cloned().collect();
        others.retain(|row| after.is_none() && row.state == ContactState::Blocked);
        others.truncate(MOST_BLOCKED_FIRST as usize);
        let next = cut(&mut rows, after, limit, |row| name_cursor(&row.profile));
        rows.append(&mut others);
        ContactsPage { rows, next }
    }

    // ---- views ----

    pub(super) fn snapshot(&self, user: UserId, from: ResumeFrom) -> Snapshot {
        self.difference(user, from).unwrap_or_else(|| Snapshot {
            reset: true,
            conversations: self.conversations(user, ConversationList::Main, None, from.page),
            messages: Vec::new(),
            updates: Vec::new(),
            gaps: Vec::new(),
            left: Vec::new(),
            contacts: self.contacts(user, None, from.contacts),
            threads: Vec::new(),
            renamed: Vec::new(),
            position: self.position(),
        })
    }

    /// None where a first page is the better answer.
    fn difference(&self, user: UserId, from: ResumeFrom) -> Option<Snapshot> {
        let since =
            from.position.filter(|p| p.epoch == self.epoch && p.number <= self.number).map(|p| p.number)?;
        let mut rows: Vec<ConversationRow> = self
            .conversations_of(user)
            .filter(|id| {
                if self.has_room_request(*id, user) {
                    return self.room_request_is_new(*id, user, since);
                }
                if id.is_room() {
                    return self.room_is_new(*id, user, since);
                }
                let me = member_index(*id, user).expect("conversations_of answers the user's own");
                self.conversations[id].members[me].changed > since
            })
            .filter_map(|id| self.conversation(user, id))
            .collect();
        rows.sort_by_cached_key(activity_cursor);
        let contacts: Vec<ContactRow> = self
            .contacts_of(user)
            .filter(|(_, entry)| entry.changed > since)
            .filter_map(|(id, entry)| {
                Some(ContactRow { id, profile: self.user_by_id(id)?.profile, state: entry.state })
            })
            .collect();
        let mut left = self.rooms_left_since(user, since);
        left.extend(self.room_requests_ended_since(user, since));
        left.dedup_by_key(|(id, _)| *id);
        left.retain(|(id, _)| !self.has_room_request(*id, user));
        if rows.len() + left.len() > from.page as usize || contacts.len() > from.contacts as usize {
            return None;
        }
        let mut messages = Vec::new();
        let (mut updates, mut gaps, mut threads) = (Vec::new(), Vec::new(), Vec::new());
        let renamed = self.renamed_of(user)?;
        for row in rows.iter().filter(|row| row.requested_by.is_none()) {
            let lines = self.lines(row.id);
            let missed = lines.len() - lines.partition_point(|line| line.number <= since);
            let room = (from.messages as usize).saturating_sub(messages.len());
            let sent = missed.min(from.messages_per_conversation as usize).min(room);
            let first = (lines.len() - sent + 1) as u64;
            let seen = |seq| self.message(row.id, seq, user);
            messages.extend((first..=lines.len() as u64).map(Seq).filter_map(seen));
            let room = (from.messages as usize).saturating_sub(updates.len());
            let updated =
                self.updated_since(row.id, since, room.min(from.messages_per_conversation as usize));
            let is_whole = sent == missed;
            let threads_since = if is_whole { Vec::new() } else { self.threads_since(row.id, since) };
            let forget = updated.is_none() || threads_since.len() > from.messages_per_conversation as usize;
            if !forget {
                threads.extend(threads_since);
            }
            updates.extend(updated.into_iter().flatten().filter_map(seen));
            if !is_whole || forget {
                gaps.push(Gap { conversation: row.id, first: Seq(first), forget });
            }
        }
        Some(Snapshot {
            reset: false,
            conversations: ConversationsPage { rows, next: None },
            messages,
            updates,
            gaps,
            left,
            contacts: ContactsPage { rows: contacts, next: None },
            threads,
            renamed,
            position: self.position(),
        })
    }

    // ---- sites ----

    pub(super) fn add_site(&mut self, site: &Site) -> Option<SiteId> {
        if self.sites.values().any(|other| other.key == site.key) {
            return None;
        }
        self.next_site += 1;
        let id = SiteId(self.next_site);
        self.sites.insert(id, Site { id, ..site.clone() });
        self.revision += 1;
        Some(id)
    }

    pub(super) fn remove_site(&mut self, site: SiteId) -> bool {
        let was = self.sites.remove(&site).is_some();
        self.users.retain(|id, _| id.site != site);
        self.user_by_sub.retain(|(of, _), _| *of != site);
        self.conversations.retain(|id, _| id.site != site);
        self.rooms.retain(|id, _| id.site != site);
        self.message_by_client_id.retain(|(user, _), _| user.site != site);
        self.contacts.retain(|(user, _), _| user.site != site);
        self.used_tokens.retain(|(of, _), _| *of != site);
        self.requests.retain(|user, _| user.site != site);
        self.moderation.forget(site);
        self.held.retain(|entry| entry.held.from.site != site);
        self.drafts.retain(|(user, _), _| user.site != site);
        self.forget_room_requests(|user| user.site == site);
        self.remove_files_of_site(site);
        self.notifications.remove_site(site);
        self.statuses.retain(|user, _| user.site != site);
        self.devices.retain(|(user, _), _| user.site != site);
        self.merged.retain(|(of, _), _| *of != site);
        self.trimmed.retain(|id, _| id.site != site);
        self.erasures.retain(|user, _| user.site != site);
        self.stickers.retain(|one| one.sticker.id.site != site);
        self.links.retain(|entry| entry.room.site != site);
        self.revision += u64::from(was);
        was
    }
}

fn is_listed(row: &ConversationRow, list: ConversationList) -> bool {
    match list {
        ConversationList::Main => !row.archived,
        ConversationList::Archived => row.archived,
        ConversationList::Unread => !row.archived && (row.unread > 0 || row.marked_unread),
        ConversationList::Mentions => !row.archived && row.mentions > 0,
    }
}

fn member_index(id: ConversationId, user: UserId) -> Option<usize> {
    id.pair()?.iter().position(|member| *member == user)
}

/// Sorts by name, then sub. Neither has control characters, so NUL keeps them apart.
fn name_cursor(profile: &Profile) -> String {
    format!("{}\0{}", directory::fold(&profile.name), profile.sub)
}

/// Sorts pinned before all others, then newest activity first.
fn activity_cursor(row: &ConversationRow) -> String {
    format!("{}{:016x}{:016x}", u8::from(!row.pinned), u64::MAX - row.active.0, row.id.key)
}

/// Leaves the page after `after` in sorted rows; answers the cursor of the next one.
fn cut<T>(
    rows: &mut Vec<T>,
    after: Option<&str>,
    limit: u32,
    cursor: impl Fn(&T) -> String,
) -> Option<String> {
    let seen = after.map_or(0, |after| rows.partition_point(|row| *cursor(row) <= *after));
    rows.drain(..seen);
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    rows.last().filter(|_| more).map(cursor)
}

//! Users, contacts and direct conversations as plain collections: the expected answers of a store, written in the
//! simplest way.

use std::collections::{BTreeMap, HashMap};

use chat::{
    Append, Appended, ChangeMessage, ChangedMessage, Contact, ContactList, ContactsPage, ConversationChange,
    ConversationId, ConversationList, ConversationOf, ConversationRow, ConversationsPage, Gap, HistoryPage,
    KeptRevisions, MOST_BLOCKED_FIRST, MOST_PINNED, MarkerRow, MessageChange, MessageKind, NAMED, PeoplePage,
    Person, Position, Privacy, Profile, Reaction, Reactions, Refusal, Relation, ResumeFrom, Revision, Seq,
    SetPresence, Side, Site, SiteId, SiteStanding, Snapshot, StoredMessage, Sub, Timestamp, UserId, UserRow,
    Waiting, directory, drops_revision, may_change, room_for,
};

/// All stored data.
#[derive(Default)]
pub(crate) struct Plain {
    /// Number of the last commit.
    number: u64,
    revision: u64,
    sites: BTreeMap<SiteId, Site>,
    next_site: u32,
    users: BTreeMap<UserId, UserRow>,
    next_user: HashMap<SiteId, u32>,
    conversations: BTreeMap<ConversationId, Conversation>,
    message_by_client_id: HashMap<(UserId, Box<str>), (ConversationId, Seq)>,
    /// By (owner of the list, contact). A row with state None shows in a difference that a contact was removed.
    contacts: BTreeMap<(UserId, UserId), Entry>,
    used_tokens: HashMap<(SiteId, Box<str>), Timestamp>,
    drafts: BTreeMap<(UserId, ConversationId), Box<str>>,
}

struct Conversation {
    messages: Vec<Line>,
    /// In the order of `ConversationId::pair`.
    members: [Member; 2],
    active: Timestamp,
}

struct Line {
    from: UserId,
    client_id: Box<str>,
    body: Box<str>,
    extension: Option<Box<str>>,
    time: Timestamp,
    reply_to: Option<Seq>,
    number: u64,
    mentions_other: bool,
    /// Commit of the last change; 0: none.
    version: u64,
    edited: Option<Timestamp>,
    is_deleted: bool,
    is_pinned: bool,
    /// In the order of their first use, with the oldest users first.
    reactions: Vec<(Reaction, Vec<UserId>)>,
    revisions: Vec<Revision>,
}

#[derive(Default, Clone, Copy)]
struct Member {
    received: u64,
    read: u64,
    muted_until: Timestamp,
    is_pinned: bool,
    is_archived: bool,
    is_marked_unread: bool,
    /// Commit in which this member's view changed last.
    changed: u64,
}

struct Entry {
    state: Side,
    changed: u64,
}

impl Plain {
    fn position(&self) -> Position {
        Position { epoch: 0, number: self.number }
    }

    fn commit(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    // ---- users ----

    pub(crate) fn put_user(&mut self, site: SiteId, profile: Profile, now: Timestamp) -> UserRow {
        if let Some(row) = self.user(site, &profile.sub) {
            if profile.guest && !row.profile.guest {
                return row; // a guest's token does not change a member
            }
            let changed = row.profile != profile;
            let row = UserRow { profile, ..row };
            self.users.insert(row.id, row.clone());
            self.number += u64::from(changed);
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
        self.users.insert(id, row.clone());
        self.commit();
        row
    }

    pub(crate) fn put_presence(&mut self, user: UserId, presence: SetPresence, last_seen: Timestamp) {
        if let Some(row) = self.users.get_mut(&user) {
            row.presence = presence;
            row.last_seen = last_seen;
        }
    }

    pub(crate) fn set_banned(&mut self, user: UserId, banned: bool) -> bool {
        let Some(row) = self.users.get_mut(&user) else { return false };
        row.banned = banned;
        self.revision += 1;
        true
    }

    pub(crate) fn user(&self, site: SiteId, sub: &Sub) -> Option<UserRow> {
        self.users.values().find(|row| row.id.site == site && row.profile.sub == *sub).cloned()
    }

    pub(crate) fn user_by_id(&self, id: UserId) -> Option<UserRow> {
        self.users.get(&id).cloned()
    }

    pub(crate) fn list_users(&self, site: SiteId, after: Option<&Sub>, limit: u32) -> Vec<UserRow> {
        let of_site = |row: &&UserRow| row.id.site == site;
        let mut rows: Vec<UserRow> = self.users.values().filter(of_site).cloned().collect();
        rows.sort_by(|one, other| one.profile.sub.cmp(&other.profile.sub));
        rows.retain(|row| after.is_none_or(|after| row.profile.sub > *after));
        rows.truncate(limit as usize);
        rows
    }

    pub(crate) fn people(
        &self,
        site: SiteId,
        query: Option<&str>,
        after: Option<&str>,
        limit: u32,
    ) -> PeoplePage {
        let query = directory::fold_query(query.unwrap_or_default());
        let is_found = |row: &&UserRow| {
            row.id.site == site && directory::finds(&directory::fold(&row.profile.name), &query)
        };
        let mut rows: Vec<UserRow> = self.users.values().filter(is_found).cloned().collect();
        let place = |row: &UserRow| name_cursor(&row.profile.name, &row.profile.sub);
        rows.sort_by_cached_key(place);
        let next = cut(&mut rows, after, limit, place);
        PeoplePage { rows, next }
    }

    pub(crate) fn use_token(&mut self, site: SiteId, jti: &str, expires: Timestamp, now: Timestamp) -> bool {
        self.used_tokens.retain(|_, expires| *expires >= now);
        self.used_tokens.insert((site, jti.into()), expires).is_none()
    }

    // ---- conversations ----

    pub(crate) fn append(&mut self, append: Append) -> Appended {
        let key = (append.from, append.client_id.clone());
        if let Some(&(conversation, seq)) = self.message_by_client_id.get(&key) {
            let line = &self.lines(conversation)[seq.0 as usize - 1];
            let position = Position { epoch: 0, number: line.number };
            return Appended { conversation, seq, time: line.time, position, repeated: true };
        }
        let number = self.commit();
        let id = append.conversation;
        let mentions_other = self.mentions_other(id, append.from, &append.body);
        let conversation = self.conversations.entry(id).or_insert_with(|| Conversation {
            messages: Vec::new(),
            members: [Member::default(); 2],
            active: append.time,
        });
        let seq = conversation.messages.len() as u64 + 1;
        let me = member_index(id, append.from).expect("a member writes");
        conversation.messages.push(Line {
            from: append.from,
            client_id: append.client_id,
            mentions_other,
            body: append.body,
            extension: append.extension,
            time: append.time,
            reply_to: append.reply_to.filter(|to| (1..seq).contains(&to.0)),
            number,
            version: 0,
            edited: None,
            is_deleted: false,
            is_pinned: false,
            reactions: Vec::new(),
            revisions: Vec::new(),
        });
        conversation.active = append.time;
        for member in &mut conversation.members {
            member.is_archived = false;
            member.changed = number;
        }
        conversation.members[me].received = seq;
        conversation.members[me].read = seq;
        self.message_by_client_id.insert(key, (id, Seq(seq)));
        let position = self.position();
        Appended { conversation: id, seq: Seq(seq), time: append.time, position, repeated: false }
    }

    fn mentions_other(&self, id: ConversationId, from: UserId, body: &str) -> bool {
        let other = id.other(from).and_then(|other| self.users.get(&other));
        other.is_some_and(|row| directory::mentions(body, row.profile.sub.as_str()))
    }

    /// The messages of a conversation, by seq.
    fn lines(&self, id: ConversationId) -> &[Line] {
        self.conversations.get(&id).map_or(&[], |conversation| &conversation.messages)
    }

    fn line(&self, id: ConversationId, seq: Seq) -> Option<&Line> {
        self.lines(id).get(usize::try_from(seq.0).ok()?.checked_sub(1)?)
    }

    pub(crate) fn mark(&mut self, id: ConversationId, user: UserId, received: Seq, read: Seq) -> MarkerRow {
        let position = self.position();
        let nothing = MarkerRow::nothing(position);
        let Some(me) = member_index(id, user) else { return nothing };
        let number = self.number + 1;
        let Some(conversation) = self.conversations.get_mut(&id) else { return nothing };
        let newest = conversation.messages.len() as u64;
        let before = conversation.members[me];
        let read = before.read.max(read.0.min(newest));
        let received = before.received.max(received.0.min(newest)).max(read);
        let moved = (received, read) != (before.received, before.read);
        if moved {
            conversation.members[me].received = received;
            conversation.members[me].read = read;
            conversation.members[me].is_marked_unread &= read == before.read;
            conversation.members.iter_mut().for_each(|member| member.changed = number);
            self.number = number;
        }
        MarkerRow {
            received: Seq(received),
            read: Seq(read),
            unread: newest - read,
            moved,
            notifies_other: true,
            position: self.position(),
        }
    }

    pub(crate) fn change_conversation(
        &mut self,
        id: ConversationId,
        user: UserId,
        change: &ConversationChange,
    ) -> Result<(ConversationRow, Position), Refusal> {
        let before = self.conversation(user, id).ok_or(Refusal::NoSuchConversation)?;
        let pinned = self.rows_of(user).iter().filter(|row| row.pinned).count();
        if change.pinned == Some(true) && !before.pinned && pinned >= MOST_PINNED {
            return Err(Refusal::TooManyPinned);
        }
        if let Some(draft) = change.draft.clone() {
            match draft.is_empty() {
                true => self.drafts.remove(&(user, id)),
                false => self.drafts.insert((user, id), draft),
            };
        }
        let member = self.member_mut(id, user).ok_or(Refusal::NoSuchConversation)?;
        member.muted_until = change.muted_until.unwrap_or(member.muted_until);
        member.is_pinned = change.pinned.unwrap_or(member.is_pinned);
        member.is_archived = change.archived.unwrap_or(member.is_archived);
        member.is_marked_unread = change.marked_unread.unwrap_or(member.is_marked_unread);
        let after = self.conversation(user, id).ok_or(Refusal::NoSuchConversation)?;
        if after != before {
            let number = self.commit();
            self.member_mut(id, user).ok_or(Refusal::NoSuchConversation)?.changed = number;
        }
        Ok((after, self.position()))
    }

    fn member_mut(&mut self, id: ConversationId, user: UserId) -> Option<&mut Member> {
        let me = member_index(id, user)?;
        Some(&mut self.conversations.get_mut(&id)?.members[me])
    }

    fn conversation(&self, user: UserId, id: ConversationId) -> Option<ConversationRow> {
        let conversation = self.conversations.get(&id)?;
        let me = member_index(id, user)?;
        let (mine, theirs) = (conversation.members[me], conversation.members[1 - me]);
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
            pinned: mine.is_pinned,
            archived: mine.is_archived,
            request: None,
            requested_by: None,
            marked_unread: mine.is_marked_unread,
            draft: self.drafts.get(&(user, id)).cloned(),
            active: conversation.active,
        })
    }

    fn rows_of(&self, user: UserId) -> Vec<ConversationRow> {
        self.conversations.keys().filter_map(|id| self.conversation(user, *id)).collect()
    }

    pub(crate) fn conversations(
        &self,
        user: UserId,
        list: ConversationList,
        after: Option<&str>,
        limit: u32,
    ) -> ConversationsPage {
        let mut rows = self.rows_of(user);
        rows.retain(|row| is_listed(row, list));
        rows.sort_by_cached_key(activity_cursor);
        let next = cut(&mut rows, after, limit, activity_cursor);
        ConversationsPage { rows, next }
    }

    pub(crate) fn history(
        &self,
        reader: UserId,
        id: ConversationId,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: u32,
    ) -> HistoryPage {
        let between =
            |seq: &u64| before.is_none_or(|end| *seq < end.0) && after.is_none_or(|end| *seq > end.0);
        let mut seqs: Vec<u64> = (1..=self.lines(id).len() as u64).filter(between).collect();
        let more = limit > 0 && seqs.len() > limit as usize;
        match after {
            Some(_) => seqs.truncate(limit as usize),
            None => _ = seqs.drain(..seqs.len().saturating_sub(limit as usize)),
        }
        HistoryPage {
            messages: seqs.iter().filter_map(|seq| self.message(id, Seq(*seq), reader)).collect(),
            more,
        }
    }

    fn message(&self, id: ConversationId, seq: Seq, reader: UserId) -> Option<StoredMessage> {
        let line = self.line(id, seq)?;
        let sub = |user: &UserId| self.users.get(user).map(|row| row.profile.sub.clone());
        let reactions = line.reactions.iter().map(|(reaction, users)| Reactions {
            reaction: reaction.clone(),
            count: users.len() as u64,
            users: users.iter().take(NAMED).filter_map(sub).collect(),
            mine: users.contains(&reader),
        });
        Some(StoredMessage {
            conversation: id,
            seq,
            from: line.from,
            from_sub: sub(&line.from)?,
            to_sub: id.other(line.from).and_then(|other| sub(&other)),
            kind: MessageKind::Text,
            client_id: line.client_id.clone(),
            body: line.body.clone(),
            extension: line.extension.clone(),
            time: line.time,
            position: line.number,
            reply_to: line.reply_to,
            version: line.version,
            edited: line.edited,
            deleted: line.is_deleted,
            pinned: line.is_pinned,
            reactions: reactions.collect(),
            files: Vec::new(),
            rich: None,
        })
    }

    // ---- changes of messages ----

    pub(crate) fn change_message(&mut self, wanted: ChangeMessage) -> Result<ChangedMessage, Refusal> {
        let ChangeMessage { conversation: id, seq, by, change, time } = wanted;
        member_index(id, by).ok_or(Refusal::NoSuchConversation)?;
        let is_full = self.lines(id).iter().filter(|line| line.is_pinned).count() >= MOST_PINNED;
        let number = self.number + 1;
        let conversation = self.conversations.get_mut(&id).ok_or(Refusal::NoSuchMessage)?;
        let at = usize::try_from(seq.0).ok().and_then(|seq| seq.checked_sub(1));
        let line = at.and_then(|at| conversation.messages.get_mut(at)).ok_or(Refusal::NoSuchMessage)?;
        may_change(&change, line.from == by, line.is_deleted, false)?;
        if is_full && change == MessageChange::Pin(true) && !line.is_pinned {
            return Err(Refusal::TooManyPinned);
        }
        let changed = line.change(change, by, time)?;
        if changed {
            line.version = number;
            let (from, body) = (line.from, line.body.clone());
            conversation.members.iter_mut().for_each(|member| member.changed = number);
            self.number = number;
            let mentions_other = self.mentions_other(id, from, &body);
            let line = self.conversations.get_mut(&id).zip(at).map(|(it, at)| &mut it.messages[at]);
            line.expect("it has just changed").mentions_other = mentions_other;
        }
        let message = self.message(id, seq, by).ok_or(Refusal::NoSuchMessage)?;
        let position = self.position();
        Ok(ChangedMessage { message, changed, position, members: Default::default(), gathered: false })
    }

    pub(crate) fn revisions(&self, id: ConversationId, seq: Seq) -> Vec<Revision> {
        self.line(id, seq).map(|line| line.revisions.clone()).unwrap_or_default()
    }

    /// Seqs of messages from before `since` that changed after it, in the order of their changes; None if they are more
    /// than `most`.
    fn updated_since(&self, id: ConversationId, since: u64, most: usize) -> Option<Vec<Seq>> {
        let lines = self.lines(id).iter().zip(1..);
        let mut updated: Vec<(u64, Seq)> = lines
            .filter(|(line, _)| line.number <= since && line.version > since)
            .map(|(line, seq)| (line.version, Seq(seq)))
            .collect();
        updated.sort_unstable();
        (updated.len() <= most).then(|| updated.into_iter().map(|(_, seq)| seq).collect())
    }

    // ---- contacts ----

    pub(crate) fn relation(&self, a: UserId, b: UserId) -> Relation {
        let state = |of, to| self.contacts.get(&(of, to)).map_or(Side::NONE, |entry| entry.state);
        Relation { of_a: state(a, b), of_b: state(b, a) }
    }

    pub(crate) fn put_relation(
        &mut self,
        a: UserId,
        b: UserId,
        relation: Relation,
        limit: u32,
    ) -> Option<Position> {
        let before = self.relation(a, b);
        let grows = |was, will| was == Side::NONE && will != Side::NONE;
        let full = |user: UserId| {
            let listed = |(_, entry): &(UserId, &Entry)| entry.state != Side::NONE;
            self.contacts_of(user).filter(listed).count() >= limit as usize
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
        Some(self.position())
    }

    fn contacts_of(&self, user: UserId) -> impl Iterator<Item = (UserId, &Entry)> {
        let of_user = self.contacts.iter().filter(move |((of, _), _)| *of == user);
        of_user.map(|((_, to), entry)| (*to, entry))
    }

    fn contact(&self, id: UserId, entry: &Entry) -> Option<Contact> {
        let Profile { sub, name, avatar, guest } = self.user_by_id(id)?.profile;
        Some(Contact::new(Person { id, sub, name, avatar, guest, presence: None }, entry.state, None))
    }

    pub(crate) fn contacts(&self, user: UserId, after: Option<&str>, limit: u32) -> ContactsPage {
        let mut rows: Vec<Contact> = self
            .contacts_of(user)
            .filter(|(_, entry)| entry.state != Side::NONE)
            .filter_map(|(id, entry)| self.contact(id, entry))
            .collect();
        let place = |row: &Contact| name_cursor(&row.person.name, &row.person.sub);
        rows.sort_by_cached_key(place);
        let mut others: Vec<Contact> = rows.iter().skip(limit as usize).cloned().collect();
        others.retain(|row| after.is_none() && row.side == Side::BLOCKED);
        others.truncate(MOST_BLOCKED_FIRST as usize);
        let next = cut(&mut rows, after, limit, place);
        rows.append(&mut others);
        ContactsPage { rows: rows.into_iter().collect(), next }
    }

    // ---- views ----

    pub(crate) fn snapshot(&self, user: UserId, from: ResumeFrom) -> Snapshot {
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
            waiting: Waiting::default(),
            position: self.position(),
        })
    }

    /// None if a first page is the better answer.
    fn difference(&self, user: UserId, from: ResumeFrom) -> Option<Snapshot> {
        let since = from.position.filter(|position| position.number <= self.number)?.number;
        let mut rows = self.rows_of(user);
        rows.retain(|row| {
            let me = member_index(row.id, user).expect("a conversation of the user");
            self.conversations[&row.id].members[me].changed > since
        });
        rows.sort_by_cached_key(activity_cursor);
        let contacts: ContactList = self
            .contacts_of(user)
            .filter(|(_, entry)| entry.changed > since)
            .filter_map(|(id, entry)| self.contact(id, entry))
            .collect();
        if rows.len() > from.page as usize || contacts.len() > from.contacts as usize {
            return None;
        }
        let (mut messages, mut updates, mut gaps) = (Vec::new(), Vec::new(), Vec::new());
        for row in &rows {
            let lines = self.lines(row.id);
            let missed = lines.iter().filter(|line| line.number > since).count();
            let room = (from.messages as usize).saturating_sub(messages.len());
            let sent = missed.min(from.messages_per_conversation as usize).min(room);
            let first = (lines.len() - sent + 1) as u64;
            let seen = |seq| self.message(row.id, seq, user);
            messages.extend((first..=lines.len() as u64).map(Seq).filter_map(seen));
            let room = (from.messages as usize).saturating_sub(updates.len());
            let most = room.min(from.messages_per_conversation as usize);
            let updated = self.updated_since(row.id, since, most);
            let forget = updated.is_none();
            updates.extend(updated.into_iter().flatten().filter_map(seen));
            if sent < missed || forget {
                gaps.push(Gap { conversation: row.id, first: Seq(first), forget });
            }
        }
        Some(Snapshot {
            reset: false,
            conversations: ConversationsPage { rows, next: None },
            messages,
            updates,
            gaps,
            left: Vec::new(),
            contacts: ContactsPage { rows: contacts, next: None },
            threads: Vec::new(),
            renamed: Vec::new(),
            waiting: Waiting::default(),
            position: self.position(),
        })
    }

    // ---- sites ----

    pub(crate) fn add_site(&mut self, site: Site) -> SiteId {
        self.next_site += 1;
        let id = SiteId(self.next_site);
        self.sites.insert(id, Site { id, ..site });
        self.revision += 1;
        id
    }

    pub(crate) fn remove_site(&mut self, site: SiteId) -> bool {
        let was = self.sites.remove(&site).is_some();
        self.users.retain(|id, _| id.site != site);
        self.conversations.retain(|id, _| id.site != site);
        self.message_by_client_id.retain(|(user, _), _| user.site != site);
        self.contacts.retain(|(user, _), _| user.site != site);
        self.used_tokens.retain(|(of, _), _| *of != site);
        self.drafts.retain(|(user, _), _| user.site != site);
        self.revision += u64::from(was);
        was
    }

    pub(crate) fn sites(&self) -> Vec<Site> {
        self.sites.values().cloned().collect()
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }
}

impl Line {
    /// Returns whether the change has an effect.
    fn change(&mut self, change: MessageChange, by: UserId, time: Timestamp) -> Result<bool, Refusal> {
        match change {
            MessageChange::Edit { body, extension } => {
                if (&body, &extension) == (&self.body, &self.extension) {
                    return Ok(false);
                }
                self.keep_revision(&MessageChange::edit(&*body), time)?;
                (self.body, self.extension) = (body, extension);
                self.edited = Some(time);
                Ok(true)
            }
            MessageChange::Delete if self.is_deleted => Ok(false),
            MessageChange::Delete => {
                self.keep_revision(&MessageChange::Delete, time)?;
                (self.body, self.extension) = ("".into(), None);
                self.is_deleted = true;
                self.is_pinned = false;
                self.reactions.clear();
                Ok(true)
            }
            MessageChange::Pin(on) => Ok(std::mem::replace(&mut self.is_pinned, on) != on),
            MessageChange::React { reaction, on: true } => self.put(reaction, by),
            MessageChange::React { reaction, on: false } => Ok(self.take_off(&reaction, by)),
            MessageChange::Vote(_) | MessageChange::ClosePoll | MessageChange::Preview(_) => {
                unreachable!("plain messages have neither polls nor previews")
            }
        }
    }

    /// Keeps the present body, which the change replaces, as a revision.
    fn keep_revision(&mut self, change: &MessageChange, until: Timestamp) -> Result<(), Refusal> {
        let kept = |revisions: &[Revision]| KeptRevisions {
            count: revisions.len(),
            bytes: revisions.iter().map(|one| one.body.len()).sum(),
            oldest: revisions.get(1).map(|one| one.until),
        };
        while drops_revision(change, kept(&self.revisions), self.body.len(), until)? {
            self.revisions.remove(1);
        }
        self.revisions.push(Revision { until, body: self.body.clone() });
        Ok(())
    }

    fn put(&mut self, reaction: Reaction, user: UserId) -> Result<bool, Refusal> {
        let of_user = self.reactions.iter().filter(|(_, users)| users.contains(&user)).count();
        let different = self.reactions.len();
        match self.reactions.iter_mut().find(|(one, _)| *one == reaction) {
            Some((_, users)) if users.contains(&user) => return Ok(false),
            Some((_, users)) => {
                room_for(different, true, of_user)?;
                users.push(user);
            }
            None => {
                room_for(different, false, of_user)?;
                self.reactions.push((reaction, vec![user]));
            }
        }
        Ok(true)
    }

    fn take_off(&mut self, reaction: &Reaction, user: UserId) -> bool {
        let Some((_, users)) = self.reactions.iter_mut().find(|(one, _)| one == reaction) else {
            return false;
        };
        let before = users.len();
        users.retain(|one| *one != user);
        let changed = users.len() < before;
        self.reactions.retain(|(_, users)| !users.is_empty());
        changed
    }
}

fn is_listed(row: &ConversationRow, list: ConversationList) -> bool {
    match list {
        ConversationList::Main => !row.archived,
        ConversationList::Archived => row.archived,
        ConversationList::Unread | ConversationList::Waiting => {
            !row.archived && (row.unread > 0 || row.marked_unread)
        }
        ConversationList::Mentions => !row.archived && row.mentions > 0,
    }
}

fn member_index(id: ConversationId, user: UserId) -> Option<usize> {
    id.pair()?.iter().position(|member| *member == user)
}

/// Sorts by name, then sub. Neither has control characters, so NUL separates them.
fn name_cursor(name: &str, sub: &Sub) -> String {
    format!("{}\0{sub}", directory::fold(name))
}

/// Sorts pinned before all others, then newest activity first.
fn activity_cursor(row: &ConversationRow) -> String {
    format!("{}{:016x}{:016x}", u8::from(!row.pinned), u64::MAX - row.active.0, row.id.key)
}

/// Leaves the page after `after` in sorted rows; returns the cursor of the next one.
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

//! Rooms in memory: the plain reading of what `RoomStore` promises.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::changes::Since;
use super::{Line, Tables, cut};
use crate::messages::{EVERYBODY, MOST_BLOCKED_LOOKED_AT, is_left_out, mentioned};
use crate::rooms::{
    Act, Joined, LeftReason, MemberAction, MemberChanged, MemberRow, MembersPage, NewRoom, Post, Posted,
    Role, Room, RoomAvatar, RoomChange, RoomChanged, RoomKind, RoomLimits, RoomMembers, RoomName,
    RoomSanction, RoomsPage, SanctionedPage, Standing, after_sanction, kept_sanction, may,
    may_as_site_moderator, sanction_behind,
};
use crate::{
    Appended, By, ChangeMessage, ConversationChange, ConversationId, ConversationOf, ConversationRow,
    HistoryPage, MOST_LEFT_BY_BLOCK, MOST_PINNED, MOST_SEEN_BY, MarkerRow, MemberSanction, MessageChange,
    Position, Refusal, SanctionKind, Seq, SiteId, SiteRole, Sub, Timestamp, UserId, directory, is_call_entry,
    markers_after, may_change_in_room, recorded_change, until_and_reason,
};

pub(super) struct Entry {
    pub(super) room: Room,
    pub(super) messages: Vec<Line>,
    /// Whom each names; None: all.
    named: Vec<Vec<Option<UserId>>>,
    active: Timestamp,
    created: Timestamp,
    pub(super) changed: u64,
    members: BTreeMap<UserId, Mine>,
}

#[derive(Clone)]
struct Mine {
    state: Result<Role, LeftReason>,
    received: u64,
    read: u64,
    sent: Timestamp,
    muted_until: Timestamp,
    pinned: bool,
    marked_unread: bool,
    /// How many messages there were then.
    archived: Option<usize>,
    changed: u64,
}

impl Entry {
    pub(super) fn standing(&self, user: UserId) -> Standing {
        match self.members.get(&user).map(|mine| mine.state) {
            Some(Ok(role)) => Standing::In(role),
            Some(Err(LeftReason::Banned)) => Standing::Banned,
            Some(Err(_)) | None => Standing::Out,
        }
    }

    pub(super) fn state(&self, user: UserId) -> Option<Result<Role, LeftReason>> {
        self.members.get(&user).map(|mine| mine.state)
    }

    fn count(&self) -> usize {
        self.members.values().filter(|mine| mine.state.is_ok()).count()
    }

    fn numbers(&self) -> Arc<Vec<u32>> {
        let members = self.members.iter().filter(|(_, mine)| mine.state.is_ok());
        Arc::new(members.map(|(user, _)| user.num).collect())
    }

    pub(super) fn room(&self) -> Room {
        Room { members: self.count() as u32, ..self.room.clone() }
    }
}

impl Tables {
    pub(super) fn room_id(&self, name: &RoomName) -> Option<ConversationId> {
        match name {
            RoomName::Id(id) => self.rooms.contains_key(id).then_some(*id),
            RoomName::Page(site, page) => {
                let of_page = |(id, entry): &(&ConversationId, &Entry)| {
                    id.site == *site && entry.room.page.as_deref() == Some(page.as_str())
                };
                self.rooms.iter().find(of_page).map(|(id, _)| *id)
            }
        }
    }

    /// The room, where the user may.
    pub(super) fn allowed(&self, id: ConversationId, user: UserId, act: Act) -> Result<&Entry, Refusal> {
        let entry =
            self.rooms.get(&id).filter(|_| id.site == user.site).ok_or(Refusal::NoSuchConversation)?;
        // Slow mode is of messages alone.
        let rules = entry.room.rules(Timestamp(0), Timestamp(0));
        let as_member = may(entry.standing(user), act, rules);
        let is_moderator = self.users.get(&user).is_some_and(|row| row.on_site.role >= SiteRole::Moderator);
        let allowed = match as_member {
            Err(_) if act.keeps_order() && is_moderator => may_as_site_moderator(act, rules),
            _ => as_member,
        };
        allowed.map(|()| entry)
    }

    /// How a user stands to a room that is there.
    pub(super) fn standing_in(&self, id: ConversationId, user: UserId) -> (Standing, &Room) {
        let entry = &self.rooms[&id];
        (entry.standing(user), &entry.room)
    }

    fn entry(&mut self, id: ConversationId) -> &mut Entry {
        self.rooms.get_mut(&id).expect("it was found a moment ago, and rooms stay")
    }

    pub(in crate::memory) fn rooms_made(&self, user: UserId, since: Timestamp) -> u32 {
        let owns = |entry: &&Entry| entry.standing(user) == Standing::In(Role::Owner);
        self.rooms.values().filter(owns).filter(|entry| entry.created >= since).count() as u32
    }

    pub(super) fn may_post(&self, id: ConversationId, user: UserId, now: Timestamp) -> Result<(), Refusal> {
        self.may_in(id, user, Act::Post, now)
    }

    fn may_in(&self, id: ConversationId, user: UserId, act: Act, now: Timestamp) -> Result<(), Refusal> {
        let entry = &self.rooms[&id];
        let last = entry.members.get(&user).map_or(Timestamp(0), |mine| mine.sent);
        may(self.standing_at(id, user, now), act, entry.room.rules(last, now))
    }

    /// How a user stands to a room now. A sanction that is over holds no more, even if it was not lifted yet.
    pub(super) fn standing_at(&self, id: ConversationId, user: UserId, now: Timestamp) -> Standing {
        let standing = self.rooms[&id].standing(user);
        let kind = sanction_behind(standing);
        match kind.and_then(|kind| self.sanction_until(id, user, kind)) {
            Some(until) if until <= now => after_sanction(standing),
            _ => standing,
        }
    }

    /// The role of a user who comes in: a mute outlasts leaving.
    pub(super) fn role_of_new(&self, id: ConversationId, user: UserId, now: Timestamp) -> Role {
        let until = self.sanction_until(id, user, SanctionKind::Mute);
        if until.is_some_and(|until| until > now) { Role::Muted } else { Role::Member }
    }

    fn rooms_of(&self, user: UserId, wanted: impl Fn(Role) -> bool) -> usize {
        let roles = self.rooms.values().filter_map(|entry| entry.members.get(&user)?.state.ok());
        roles.filter(|role| wanted(*role)).count()
    }

    pub(super) fn has_room_for_one(
        &self,
        id: Option<ConversationId>,
        user: UserId,
        limits: RoomLimits,
    ) -> Result<(), Refusal> {
        if let Some(entry) = id.map(|id| &self.rooms[&id]) {
            let most = limits.members_of(&entry.room) as usize;
            if most > 0 && entry.count() >= most {
                return Err(Refusal::RoomFull);
            }
        }
        let has = self.rooms_of(user, |_| true);
        if limits.per_user > 0 && has >= limits.per_user as usize {
            Err(Refusal::TooManyRooms)
        } else {
            Ok(())
        }
    }

    fn insert_room(&mut self, site: SiteId, room: Room, now: Timestamp) -> ConversationId {
        let newest = self.rooms.keys().rev().find(|id| id.site == site);
        let number = newest.map_or(1, |id| (id.key & (u64::MAX >> 1)) + 1);
        let id = ConversationId::room(site, number);
        let changed = self.commit();
        let entry = Entry {
            room,
            messages: Vec::new(),
            named: Vec::new(),
            active: now,
            created: now,
            changed,
            members: BTreeMap::new(),
        };
        self.rooms.insert(id, entry);
        id
    }

    /// It stands in lists as old as its messages are.
    pub(super) fn import_room(
        &mut self,
        site: SiteId,
        room: Room,
        created: Option<Timestamp>,
        now: Timestamp,
    ) -> ConversationId {
        let id = self.insert_room(site, room, created.unwrap_or(now));
        self.entry(id).active = created.unwrap_or_default();
        id
    }

    pub(super) fn room_active(&self, id: ConversationId) -> Timestamp {
        self.rooms.get(&id).map_or(Timestamp(0), |entry| entry.active)
    }

    /// Members who have read all before have read it, too.
    pub(super) fn import_into_room(&mut self, id: ConversationId, line: Line, active: Timestamp) {
        let entry = self.entry(id);
        let before = entry.messages.len() as u64;
        entry.messages.push(line);
        entry.named.push(Vec::new());
        entry.active = active;
        for mine in entry.members.values_mut().filter(|mine| mine.state.is_ok() && mine.read >= before) {
            (mine.received, mine.read) = (before + 1, before + 1);
            mine.archived = mine.archived.map(|count| if count as u64 == before { count + 1 } else { count });
        }
    }

    pub(super) fn put_member(&mut self, id: ConversationId, user: UserId, state: Result<Role, LeftReason>) {
        let changed = self.commit();
        let entry = self.entry(id);
        let newest = entry.messages.len() as u64;
        let before = entry.members.get(&user);
        let comes = state.is_ok() && before.is_none_or(|mine| mine.state.is_err());
        let mine = match before {
            Some(before) if !comes => Mine { state, changed, ..before.clone() },
            before => Mine {
                state,
                received: newest,
                read: newest,
                sent: before.map_or(Timestamp(0), |before| before.sent),
                muted_until: Timestamp(0),
                pinned: false,
                marked_unread: false,
                archived: None,
                changed,
            },
        };
        entry.members.insert(user, mine);
        if comes {
            self.drafts.remove(&(user, id));
        }
        self.end_links(id.site);
    }

    pub(in crate::memory) fn create_room(
        &mut self,
        owner: UserId,
        new: NewRoom,
        limits: RoomLimits,
        now: Timestamp,
    ) -> Result<Joined, Refusal> {
        let owned = self.rooms_of(owner, |role| role == Role::Owner);
        self.has_room_for_one(None, owner, limits)?;
        if limits.owned > 0 && owned >= limits.owned as usize {
            return Err(Refusal::TooManyRooms);
        }
        let id = self.insert_room(owner.site, new.room(), now);
        self.put_member(id, owner, Ok(Role::Owner));
        Ok(self.joined(id, owner, false))
    }

    fn joined(&self, id: ConversationId, user: UserId, before: bool) -> Joined {
        let row = self.room_row(user, id).expect("whoever has joined is a member");
        Joined { row, position: self.position(), before }
    }

    pub(in crate::memory) fn change_room(
        &mut self,
        id: ConversationId,
        by: UserId,
        change: RoomChange,
        now: Timestamp,
    ) -> Result<RoomChanged, Refusal> {
        change.acts().try_for_each(|act| {
            let entry = self.allowed(id, by, act)?;
            entry.standing(by).role().map(drop).ok_or(Refusal::NotAMember)
        })?;
        let detail = change.names();
        let before = self.rooms[&id].room.clone();
        let after = change.apply(&before);
        let mut members = Arc::default();
        if after != before {
            self.change_room_picture(id, by, &before, &after)?;
            let changed = self.commit();
            let entry = self.entry(id);
            (entry.room, entry.changed) = (after, changed);
            members = entry.numbers();
            self.end_links(id.site);
            self.note(id.site, By::User(by), "change_room", None, Some(id), &detail, now);
        }
        let row = self.room_row(by, id).expect("only members change a room");
        Ok(RoomChanged { row, position: self.position(), members })
    }

    fn change_room_picture(
        &mut self,
        id: ConversationId,
        by: UserId,
        before: &Room,
        after: &Room,
    ) -> Result<(), Refusal> {
        if before.avatar == after.avatar {
            return Ok(());
        }
        if let Some(RoomAvatar::Upload(file)) = after.avatar {
            self.take_room_picture(file, id, by)?;
        }
        if let Some(RoomAvatar::Upload(file)) = before.avatar {
            self.drop_room_picture(file);
        }
        Ok(())
    }

    /// The room loses its picture if this user, who is erased with all that they wrote, uploaded it.
    pub(super) fn remove_room_picture_of(&mut self, id: ConversationId, user: UserId) -> Option<Room> {
        let Some(RoomAvatar::Upload(file)) = self.rooms.get(&id)?.room.avatar else { return None };
        if self.owner_of_file(file) != Some(user) {
            return None;
        }
        self.drop_room_picture(file);
        let changed = self.commit();
        let entry = self.entry(id);
        (entry.room.avatar, entry.changed) = (None, changed);
        Some(entry.room.clone())
    }

    pub(in crate::memory) fn join_room(
        &mut self,
        name: &RoomName,
        user: UserId,
        limits: RoomLimits,
        now: Timestamp,
    ) -> Result<Joined, Refusal> {
        let id = match (self.room_id(name), name) {
            (Some(id), _) if id.site == user.site => id,
            (None, RoomName::Page(site, page)) if *site == user.site => {
                self.has_room_for_one(None, user, limits)?;
                self.insert_room(*site, NewRoom::of_page(page), now)
            }
            _ => return Err(Refusal::NoSuchConversation),
        };
        let act = if self.has_room_request(id, user) { Act::JoinByLink } else { Act::Join };
        self.enter(id, user, act, limits, now)
    }

    /// Makes a member of somebody who may `act` in the room, if they are not one already.
    pub(super) fn enter(
        &mut self,
        id: ConversationId,
        user: UserId,
        act: Act,
        limits: RoomLimits,
        now: Timestamp,
    ) -> Result<Joined, Refusal> {
        let entry =
            self.rooms.get(&id).filter(|_| id.site == user.site).ok_or(Refusal::NoSuchConversation)?;
        may(self.standing_at(id, user, now), act, entry.room.rules(Timestamp(0), Timestamp(0)))?;
        let before = entry.standing(user).role().is_some();
        if !before {
            self.has_room_for_one(Some(id), user, limits)?;
            self.put_member(id, user, Ok(self.role_of_new(id, user, now)));
            self.came_in(id, user);
        }
        Ok(self.joined(id, user, before))
    }

    pub(in crate::memory) fn leave_room(
        &mut self,
        id: ConversationId,
        user: UserId,
    ) -> Result<Position, Refusal> {
        let entry = self.allowed(id, user, Act::Leave)?;
        if entry.count() > 1 && Self::is_only_owner(entry, user) {
            return Err(Refusal::LastOwner);
        }
        self.put_member(id, user, Err(LeftReason::Left));
        self.went_out(id, user);
        Ok(self.position())
    }

    pub(in crate::memory) fn leave_rooms_of(
        &mut self,
        user: UserId,
        blocked: UserId,
    ) -> (Vec<ConversationId>, Position) {
        let is_theirs = |entry: &Entry| {
            let is_member = entry.standing(user).role().is_some();
            entry.room.kind == RoomKind::Private && is_member && Self::is_only_owner(entry, blocked)
        };
        let rooms: Vec<_> =
            self.rooms.iter().filter(|(_, entry)| is_theirs(entry)).map(|(id, _)| *id).collect();
        let left = rooms.into_iter().take(MOST_LEFT_BY_BLOCK as usize);
        let left = left.filter(|id| self.leave_room(*id, user).is_ok()).collect();
        (left, self.position())
    }

    /// The next owner when the only one is erased: a moderator, else a member.
    pub(super) fn heir_of(&self, id: ConversationId, user: UserId) -> Option<UserId> {
        let entry = self.rooms.get(&id).filter(|entry| Self::is_only_owner(entry, user))?;
        let others = entry.members.iter().filter(|(other, _)| **other != user);
        let ranked = others.filter_map(|(other, mine)| {
            let user = self.user_by_id(*other)?;
            Some((member_cursor(&MemberRow { user, standing: Standing::In(mine.state.ok()?) }), *other))
        });
        ranked.min().map(|(_, other)| other)
    }

    fn is_only_owner(entry: &Entry, user: UserId) -> bool {
        let owners: Vec<_> = entry
            .members
            .iter()
            .filter(|(_, mine)| mine.state == Ok(Role::Owner))
            .map(|(id, _)| *id)
            .collect();
        owners == [user]
    }

    pub(in crate::memory) fn change_member(
        &mut self,
        id: ConversationId,
        by: UserId,
        user: UserId,
        (action, terms): (MemberAction, Option<&RoomSanction>),
        limits: RoomLimits,
        now: Timestamp,
    ) -> Result<MemberChanged, Refusal> {
        let of = self.rooms.get(&id).map_or(Standing::Out, |entry| entry.standing(user));
        let act = match action {
            MemberAction::Invite => Act::Invite(of),
            MemberAction::Remove => Act::Remove(of),
            MemberAction::Ban => Act::Ban(of),
            MemberAction::Unban => Act::Unban(of),
            MemberAction::SetRole(to) => Act::SetRole { of, to },
        };
        let entry = self.allowed(id, by, act)?;
        self.users.get(&user).filter(|row| row.id.site == id.site).ok_or(Refusal::NoSuchUser)?;
        let after = match (action, of) {
            (MemberAction::Invite, Standing::Out) => {
                self.has_room_for_one(Some(id), user, limits)?;
                Some(Ok(self.role_of_new(id, user, now)))
            }
            (MemberAction::Remove, Standing::In(_)) => Some(Err(LeftReason::Removed)),
            (MemberAction::Ban, Standing::In(_) | Standing::Out) => Some(Err(LeftReason::Banned)),
            (MemberAction::Unban, Standing::Banned) => Some(Err(LeftReason::Removed)),
            (MemberAction::SetRole(to), Standing::In(role)) if role != to => {
                if Self::is_only_owner(entry, user) {
                    return Err(Refusal::LastOwner);
                }
                Some(Ok(to))
            }
            _ => None,
        };
        let was_in = of.role().is_some();
        if let Some(kept) = kept_sanction(id, user, action, terms, was_in) {
            self.keep_sanction(id, user, kept);
        }
        if let Some(RoomSanction { kind, until, reason, .. }) = terms {
            let detail = until_and_reason(*until, reason);
            self.note(id.site, By::User(by), kind.kind().word(), Some(user), Some(id), &detail, now);
        }
        let (mut seen, mut left) = (None, None);
        if let Some(after) = after {
            self.put_member(id, user, after);
            if terms.is_none() && act.keeps_order() && by != user {
                let (word, detail) = match action {
                    MemberAction::Invite => ("invite", ""),
                    MemberAction::Remove => ("remove", ""),
                    MemberAction::Ban => ("ban", ""),
                    MemberAction::Unban => ("unban", ""),
                    MemberAction::SetRole(Role::Owner) => ("set_role", "owner"),
                    MemberAction::SetRole(Role::Moderator) => ("set_role", "moderator"),
                    MemberAction::SetRole(Role::Member) => ("set_role", "member"),
                    MemberAction::SetRole(Role::Muted) => ("set_role", "muted"),
                };
                self.note(id.site, By::User(by), word, Some(user), Some(id), detail, now);
            }
            match after {
                Ok(_) => seen = self.room_row(user, id),
                Err(reason) => left = of.role().map(|_| reason),
            }
        }
        if matches!(action, MemberAction::Remove | MemberAction::Ban) && self.withdraw_requests(id, user) {
            left = Some(LeftReason::Removed);
        }
        let row = self.users[&user].clone();
        let member = MemberRow { user: row, standing: self.rooms[&id].standing(user) };
        Ok(MemberChanged { member, position: self.position(), seen, left, requested: false })
    }

    pub(in crate::memory) fn post(&mut self, post: Post, limits: RoomLimits) -> Result<Posted, Refusal> {
        let key = (post.from, post.client_id.clone());
        if let Some(&(conversation, seq)) = self.message_by_client_id.get(&key) {
            let appended = self.repeated(conversation, seq);
            return Ok(Posted {
                appended,
                joined: None,
                members: Arc::default(),
                files: Vec::new(),
                thread: None,
            });
        }
        let found = self.room_id(&post.room).filter(|id| id.site == post.from.site);
        if !post.files.is_empty() {
            self.check_files(post.from, found.ok_or(Refusal::NoSuchFile)?, &post.files)?;
        }
        let entry = found.map(|id| &self.rooms[&id]);
        let is_page = match entry {
            Some(entry) => entry.room.page.is_some(),
            None => matches!(post.room, RoomName::Page(..)),
        };
        let is_out = found.is_none_or(|id| self.standing_at(id, post.from, post.time) == Standing::Out);
        let mut joined = None;
        let id = match found {
            Some(id) if !(is_page && is_out) => id,
            None if !is_page => return Err(Refusal::NoSuchConversation),
            _ => {
                if let (Some(id), Some(entry)) = (found, entry) {
                    let last = entry.members.get(&post.from).map_or(Timestamp(0), |mine| mine.sent);
                    let role = self.role_of_new(id, post.from, post.time);
                    may(Standing::In(role), Act::Post, entry.room.rules(last, post.time))?;
                }
                joined.insert(self.join_room(&post.room, post.from, limits, post.time)?).row.id
            }
        };
        let is_entry = is_call_entry(&post.client_id);
        let act = if is_entry { Act::List } else { Act::Post };
        self.may_in(id, post.from, act, post.time)?;
        self.check_rich(id, post.from, post.rich.as_deref())?;
        let named = self.named_in(id, post.from, &post.body);
        let number = self.commit();
        let entry = self.entry(id);
        let seq = entry.messages.len() as u64 + 1;
        entry.messages.push(Line {
            from: post.from,
            client_id: post.client_id,
            body: post.body,
            time: post.time,
            reply_to: post.reply_to.filter(|to| (1..seq).contains(&to.0)),
            number,
            mentions_other: false,
            since: Since::default(),
            bears: None,
        });
        entry.named.push(named.clone());
        entry.active = post.time;
        let mine = entry.members.get_mut(&post.from).expect("only members write");
        if !is_entry {
            (mine.received, mine.read, mine.sent) = (seq, seq, post.time);
        }
        let members = entry.numbers();
        self.message_by_client_id.insert(key, (id, Seq(seq)));
        let position = self.position();
        let appended =
            Appended { conversation: id, seq: Seq(seq), time: post.time, position, repeated: false };
        let mut files = self.post_files(id, Seq(seq), &post.files);
        let mut thread = None;
        if post.rich.is_some() {
            (files, thread) = self.put_rich(id, Seq(seq), post.rich, &named);
        }
        Ok(Posted { appended, joined, members, files, thread })
    }

    /// Answers whether anything is another than before.
    pub(super) fn change_in_room(&mut self, wanted: ChangeMessage) -> Result<bool, Refusal> {
        let ChangeMessage { conversation: id, seq, by, time, .. } = wanted;
        let entry = self.allowed(id, by, Act::TakeBack)?;
        let last = entry.members.get(&by).map_or(Timestamp(0), |mine| mine.sent);
        let (who, rules) = (entry.standing(by), entry.room.rules(last, time));
        let number = self.number + 1;
        let at =
            usize::try_from(seq.0).ok().and_then(|seq| seq.checked_sub(1)).ok_or(Refusal::NoSuchMessage)?;
        let messages = &mut self.entry(id).messages;
        let is_full = messages.iter().filter(|line| line.is_pinned()).count() >= MOST_PINNED;
        let line = messages.get_mut(at).ok_or(Refusal::NoSuchMessage)?;
        may_change_in_room(&wanted.change, line.from == by, line.since.deleted, who, rules)?;
        line.may_edit(&wanted.change)?;
        line.may_pin(&wanted.change, is_full)?;
        let is_edit = matches!(wanted.change, MessageChange::Edit(_));
        let recorded = recorded_change(&wanted.change, line.from == by, true);
        let is_new_body = is_edit || wanted.change == MessageChange::Delete;
        if !line.change(wanted)? {
            return Ok(false);
        }
        line.since.version = number;
        let (from, body) = (line.from, line.body.clone());
        self.number = number;
        if let Some(act) = recorded {
            let seq = seq.0.to_string();
            self.note(id.site, By::User(by), act, Some(from), Some(id), &seq, time);
        }
        let named = is_new_body.then(|| self.named_in(id, from, &body));
        let entry = self.entry(id);
        entry.changed = number;
        if let Some(mine) = entry.members.get_mut(&by).filter(|_| is_edit) {
            mine.sent = time;
        }
        if let Some(named) = named {
            entry.named[at] = named;
        }
        Ok(true)
    }

    /// On the word of a site's moderator. `number`: of the commit that it becomes.
    pub(super) fn tidy_room(&mut self, wanted: ChangeMessage, number: u64) -> Result<bool, Refusal> {
        let at = (wanted.seq.0 as usize).checked_sub(1).ok_or(Refusal::NoSuchMessage)?;
        let entry = self.rooms.get_mut(&wanted.conversation).ok_or(Refusal::NoSuchConversation)?;
        let line = entry.messages.get_mut(at).ok_or(Refusal::NoSuchMessage)?;
        if !line.change(wanted)? {
            return Ok(false);
        }
        line.since.version = number;
        entry.named[at].clear();
        entry.changed = number;
        Ok(true)
    }

    pub(super) fn member_numbers(&self, id: ConversationId) -> Arc<Vec<u32>> {
        self.rooms.get(&id).map(Entry::numbers).unwrap_or_default()
    }

    /// None: all.
    fn named_in(&self, id: ConversationId, from: UserId, body: &str) -> Vec<Option<UserId>> {
        let entry = &self.rooms[&id];
        let may_call_all = self.may_in(id, from, Act::CallAll, Timestamp(0)).is_ok();
        let member = |name: &str| {
            let user = self.user_by_sub.get(&(id.site, Sub::parse(name)?))?;
            entry.standing(*user).role().map(|_| *user)
        };
        let named = mentioned(body).filter_map(|tries| match tries.contains(&EVERYBODY) && may_call_all {
            true => Some(None),
            false => tries.into_iter().find_map(member).map(Some),
        });
        named.collect::<BTreeSet<_>>().into_iter().filter(|user| *user != Some(from)).collect()
    }

    pub(super) fn room_row(&self, user: UserId, id: ConversationId) -> Option<ConversationRow> {
        let entry = self.rooms.get(&id)?;
        let mine = entry.members.get(&user)?;
        let role = mine.state.ok()?;
        let unread = entry.named.iter().zip(&entry.messages).skip(mine.read as usize);
        let names_me = |(named, line): &(&Vec<Option<UserId>>, &Line)| {
            !self.has_blocked(user, line.from) && named.iter().any(|who| who.is_none_or(|who| who == user))
        };
        Some(ConversationRow {
            id,
            of: ConversationOf::Room { room: Arc::new(entry.room()), role },
            last: self.message(id, Seq(entry.messages.len() as u64), user),
            received: Seq(mine.received),
            read: Seq(mine.read),
            their_received: Seq(0),
            their_read: Seq(0),
            blocked: false,
            unread: self.unread_in_room(id, user, mine.read),
            mentions: unread.filter(names_me).count() as u64,
            muted_until: mine.muted_until,
            pinned: mine.pinned,
            archived: mine.archived == Some(entry.messages.len()),
            request: None,
            requested_by: None,
            marked_unread: mine.marked_unread,
            draft: self.drafts.get(&(user, id)).cloned(),
            active: entry.active,
        })
    }

    fn unread_in_room(&self, id: ConversationId, user: UserId, read: u64) -> u64 {
        let unread = self.lines(id).get(read as usize..).unwrap_or_default();
        let newest = unread.iter().rev().take(MOST_BLOCKED_LOOKED_AT as usize);
        let left_out = newest.filter(|line| is_left_out(id, self.has_blocked(user, line.from)));
        (unread.len() - left_out.count()) as u64
    }

    pub(super) fn mark_room(
        &mut self,
        id: ConversationId,
        user: UserId,
        received: Seq,
        read: Seq,
    ) -> MarkerRow {
        let nothing = MarkerRow::nothing(self.position());
        let number = self.number + 1;
        let Some(entry) = self.rooms.get_mut(&id) else { return nothing };
        let newest = entry.messages.len() as u64;
        let Some(mine) = entry.members.get_mut(&user).filter(|mine| mine.state.is_ok()) else {
            return nothing;
        };
        let (received, read) = markers_after((mine.received, mine.read), (received, read), newest);
        let moved = (received, read) != (mine.received, mine.read);
        if moved {
            mine.marked_unread &= read == mine.read;
            (mine.received, mine.read, mine.changed) = (received, read, number);
            self.number = number;
        }
        let position = self.position();
        let unread = self.unread_in_room(id, user, read);
        let (received, read) = (Seq(received), Seq(read));
        MarkerRow { received, read, unread, moved, told: false, position }
    }

    pub(super) fn change_view_of_room(
        &mut self,
        id: ConversationId,
        user: UserId,
        change: &ConversationChange,
    ) {
        let Some(entry) = self.rooms.get_mut(&id) else { return };
        let newest = entry.messages.len();
        let Some(mine) = entry.members.get_mut(&user) else { return };
        mine.muted_until = change.muted_until.unwrap_or(mine.muted_until);
        mine.pinned = change.pinned.unwrap_or(mine.pinned);
        mine.archived = change.archived.map_or(mine.archived, |archived| archived.then_some(newest));
        mine.marked_unread = change.marked_unread.unwrap_or(mine.marked_unread);
    }

    pub(super) fn view_of_room_changed(&mut self, id: ConversationId, user: UserId, number: u64) {
        if let Some(mine) = self.rooms.get_mut(&id).and_then(|entry| entry.members.get_mut(&user)) {
            mine.changed = number;
        }
    }

    pub(super) fn rooms_with(&self, user: UserId) -> impl Iterator<Item = ConversationId> + '_ {
        self.rooms.iter().filter(move |(_, entry)| entry.standing(user).role().is_some()).map(|(id, _)| *id)
    }

    /// Those that the user has left, too.
    pub(super) fn rooms_ever_with(&self, user: UserId) -> impl Iterator<Item = ConversationId> + '_ {
        self.rooms.iter().filter(move |(_, entry)| entry.members.contains_key(&user)).map(|(id, _)| *id)
    }

    /// Whether a device that was here at `since` must hear of it.
    pub(super) fn room_is_new(&self, id: ConversationId, user: UserId, since: u64) -> bool {
        let entry = &self.rooms[&id];
        entry.changed > since
            || entry.members.get(&user).is_some_and(|mine| mine.changed > since)
            || entry.messages.last().is_some_and(|line| line.number > since)
    }

    pub(super) fn rooms_left_since(&self, user: UserId, since: u64) -> Vec<(ConversationId, LeftReason)> {
        let left = self.rooms.iter().filter_map(|(id, entry)| {
            let mine = entry.members.get(&user).filter(|mine| mine.changed > since)?;
            Some((*id, mine.state.err()?))
        });
        left.collect()
    }

    pub(in crate::memory) fn room_history(
        &self,
        name: &RoomName,
        asker: UserId,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: u32,
    ) -> Result<(Option<ConversationId>, HistoryPage), Refusal> {
        match (self.room_id(name), name) {
            (Some(id), _) => {
                self.allowed(id, asker, Act::Read)?;
                Ok((Some(id), self.history(asker, id, before, after, limit)))
            }
            (None, RoomName::Page(site, _)) if *site == asker.site => {
                Ok((None, HistoryPage { messages: Vec::new(), more: false }))
            }
            (None, _) => Err(Refusal::NoSuchConversation),
        }
    }

    pub(in crate::memory) fn members(
        &self,
        id: ConversationId,
        asker: UserId,
        query: Option<&str>,
        after: Option<&str>,
        limit: u32,
    ) -> Result<MembersPage, Refusal> {
        let entry = self.allowed(id, asker, Act::List)?;
        let is_member = entry.members.get(&asker).is_some_and(|mine| mine.state.is_ok());
        let has_markers = is_member && entry.count() <= MOST_SEEN_BY as usize;
        let query = directory::fold_query(query.unwrap_or_default());
        let row = |(user, mine): (&UserId, &Mine)| {
            let standing = Standing::In(mine.state.ok()?);
            Some(MemberRow { user: self.users.get(user).cloned()?, standing })
        };
        let mut rows: Vec<MemberRow> = entry.members.iter().filter_map(row).collect();
        rows.retain(|row| directory::finds(&directory::fold(&row.user.profile.name), &query));
        rows.sort_by_cached_key(member_cursor);
        let next = cut(&mut rows, after, limit, member_cursor);
        let markers = |row: &MemberRow| {
            entry
                .members
                .get(&row.user.id)
                .map_or((Seq(0), Seq(0)), |mine| (Seq(mine.received), Seq(mine.read)))
        };
        let markers = if has_markers { rows.iter().map(markers).collect() } else { Vec::new() };
        Ok(MembersPage { rows, markers, next })
    }

    pub(in crate::memory) fn sanctioned(
        &self,
        id: ConversationId,
        asker: UserId,
        after: Option<&str>,
        limit: u32,
        now: Timestamp,
    ) -> Result<SanctionedPage, Refusal> {
        let entry = self.allowed(id, asker, Act::Unban(Standing::Banned))?;
        let row = |user: &UserId| {
            let standing = entry.standing(*user);
            let kind = sanction_behind(standing)?;
            let sanction = self.member_sanction(id, *user, kind);
            let row = MemberRow { user: self.users.get(user).cloned()?, standing };
            Some((row, sanction)).filter(|(_, sanction)| sanction.until > now)
        };
        let mut rows: Vec<_> = entry.members.keys().filter_map(row).collect();
        let cursor = |(row, _): &(MemberRow, MemberSanction)| format!("{:010}", row.user.id.num);
        rows.sort_by_cached_key(cursor);
        let next = cut(&mut rows, after, limit, cursor);
        Ok(SanctionedPage { rows, next })
    }

    pub(in crate::memory) fn few_members(
        &self,
        id: ConversationId,
        asker: UserId,
        most: u32,
    ) -> Result<Vec<UserId>, Refusal> {
        let entry = self.allowed(id, asker, Act::Post)?;
        if entry.count() > most as usize {
            return Err(Refusal::RoomTooLarge);
        }
        let members = entry.members.iter().filter(|(_, mine)| mine.state.is_ok());
        Ok(members.map(|(user, _)| *user).collect())
    }

    pub(in crate::memory) fn room_members(&self, id: ConversationId, users: &[UserId]) -> RoomMembers {
        let numbers = self.member_numbers(id);
        let members: Vec<UserId> = numbers.iter().map(|num| UserId { site: id.site, num: *num }).collect();
        let joined = users.iter().filter(|user| members.contains(user));
        let joined = joined.filter_map(|user| self.user_by_id(*user)).collect();
        RoomMembers { members, joined }
    }

    pub(in crate::memory) fn list_rooms(
        &self,
        site: SiteId,
        query: Option<&str>,
        after: Option<&str>,
        limit: u32,
    ) -> RoomsPage {
        let query = directory::fold(query.unwrap_or_default().trim_start());
        let is_listed = |room: &Room| room.page.is_none() && room.kind != RoomKind::Private;
        let listed = self.rooms.iter().filter(|(id, entry)| id.site == site && is_listed(&entry.room));
        let mut rows: Vec<_> = listed.map(|(id, entry)| (*id, entry.room())).collect();
        rows.retain(|(_, room)| directory::fold(&room.name).starts_with(&query));
        let cursor =
            |(id, room): &(ConversationId, Room)| format!("{}\0{:016x}", directory::fold(&room.name), id.key);
        rows.sort_by_cached_key(cursor);
        let next = cut(&mut rows, after, limit, cursor);
        RoomsPage { rows, next }
    }
}

fn member_cursor(row: &MemberRow) -> String {
    let state = match row.standing {
        Standing::In(Role::Owner) => 0,
        Standing::In(Role::Moderator) => 1,
        Standing::In(Role::Member) => 2,
        _ => 3,
    };
    format!("{state}{}\0{}", directory::fold(&row.user.profile.name), row.user.profile.sub)
}

//! Occupancy: the users who are in a room now. A session *enters* a room and *exits* it; the membership stays.
//!
//! A user with several sessions in a room is one occupant. A member who writes from a session that has not entered the room
//! (the widget enters none) is an occupant for [`WROTE_MS`], so the others learn nothing that the message did not reveal.
//!
//! Others do not see an occupant who is shadow-banned, nor one who hides the own presence and has not written. They see at
//! most [`MOST_SHOWN`] occupants of a room; later ones stay unseen until they enter again.
//!
//! Nothing is stored. An occupancy ends with its session.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::command::AnswerTo;
use crate::directory::fold;
use crate::privacy::{Audience, Visibility};
use crate::rooms::{
    Alias, Closing, Entered, Event, LeftReason, Naming, Nickname, NicknameChange, Nicknamed, Role, RoomName,
    Rooms,
};
use crate::session::{Asker, Completion, Sessions};
use crate::{
    Conversation, ConversationId, ConversationOf, Refusal, SessionHandle, SessionId, SetPresence, SiteRole,
    Sub, Timestamp, UserId,
};

/// Rooms that one session may have entered.
pub const MOST_ENTERED: usize = 100;
/// Occupants of a room whom others see.
pub const MOST_SHOWN: usize = 200;
/// Users of one request for names.
pub const MOST_NAMED_AT_ONCE: usize = 100;
/// How long a member who wrote without entering the room is shown.
pub const WROTE_MS: u64 = 30 * 60_000;
/// Milliseconds between searches for those whose time is over.
const EXPIRE_EVERY_MS: u64 = 30_000;

/// A user who is in a room now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupant {
    pub sub: Sub,
    /// The nickname, or the display name of a member without one. Where another occupant has it, the id of the user follows
    /// in parentheses. So it is unique among the occupants.
    pub nick: Arc<str>,
    pub role: Role,
    /// On the whole site, as the user's profile shows it.
    pub site_role: SiteRole,
    pub is_guest: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum OccupantChange {
    /// The user has come, or has another role now, in the room or on the site.
    Here,
    /// The user had this nickname before.
    Renamed { from: Arc<str> },
    /// The user has gone. None: and is still a member.
    Gone(Option<LeftReason>),
    /// The room was closed, so this session and all others are out of it.
    Closed(Arc<Closing>),
}

/// Occupants by room, and rooms by session.
#[derive(Default)]
pub(crate) struct Occupancy {
    /// Rooms in the table: tells without the lock that there are none.
    rooms: AtomicUsize,
    /// Held while the events of a change are handed to the outbox, so that sessions receive them in the order of the changes.
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    by_room: HashMap<ConversationId, RoomNow>,
    rooms_by_session: HashMap<SessionHandle, Vec<ConversationId>>,
    next_expiry: Timestamp,
}

#[derive(Default)]
struct RoomNow {
    /// By the number of the user.
    by_user: HashMap<u32, Here>,
    /// By the folded nickname.
    user_by_nick: HashMap<String, u32>,
    shown: usize,
}

struct Here {
    occupant: Occupant,
    sessions: SmallVec<[SessionHandle; 1]>,
    may_be_shown: bool,
    shows_presence: bool,
    wrote: Option<Timestamp>,
    is_shown: bool,
}

/// The user's choices that decide whether others see the entry.
#[derive(Clone, Copy)]
pub(crate) struct Showing {
    is_shadowed: bool,
    shows_presence: bool,
}

impl Showing {
    fn of(asker: &Asker) -> Showing {
        let Visibility { privacy, chosen } = asker.visibility;
        let shows_presence = privacy.presence == Audience::Everybody && chosen != SetPresence::Invisible;
        Showing { is_shadowed: asker.shadowed, shows_presence }
    }
}

impl Here {
    fn should_be_shown(&self) -> bool {
        self.may_be_shown && (self.wrote.is_some() || self.shows_presence && !self.sessions.is_empty())
    }
}

impl RoomNow {
    fn handles(&self) -> Vec<SessionHandle> {
        self.by_user.values().flat_map(|here| here.sessions.iter().copied()).collect()
    }

    fn has_sessions(&self) -> bool {
        self.by_user.values().any(|here| !here.sessions.is_empty())
    }

    /// The occupant under a nickname that no other occupant has.
    fn claim(&mut self, user: u32, mut occupant: Occupant) -> Occupant {
        self.release(user);
        let taken_by = self.user_by_nick.get(&fold(&occupant.nick));
        if taken_by.is_some_and(|other| *other != user) {
            occupant.nick = format!("{} ({})", occupant.nick, occupant.sub).into();
        }
        self.user_by_nick.insert(fold(&occupant.nick), user);
        occupant
    }

    fn release(&mut self, user: u32) {
        let Some(here) = self.by_user.get(&user) else { return };
        let folded = fold(&here.occupant.nick);
        if self.user_by_nick.get(&folded) == Some(&user) {
            self.user_by_nick.remove(&folded);
        }
    }

    /// Shows or hides the user after a change. Returns what the others have to learn.
    fn update(&mut self, user: u32) -> Option<(Occupant, OccupantChange)> {
        let here = self.by_user.get_mut(&user)?;
        let change = match (here.is_shown, here.should_be_shown()) {
            (false, true) if self.shown < MOST_SHOWN => {
                here.is_shown = true;
                self.shown += 1;
                Some((here.occupant.clone(), OccupantChange::Here))
            }
            (true, false) => {
                here.is_shown = false;
                self.shown -= 1;
                Some((here.occupant.clone(), OccupantChange::Gone(None)))
            }
            (false, _) | (true, true) => None,
        };
        if here.sessions.is_empty() && here.wrote.is_none() {
            self.release(user);
            self.by_user.remove(&user);
        }
        change
    }

    fn remove(&mut self, user: u32) -> Option<Here> {
        self.release(user);
        let here = self.by_user.remove(&user)?;
        self.shown -= usize::from(here.is_shown);
        Some(here)
    }
}

impl Table {
    fn forget_room_of(&mut self, session: SessionHandle, room: ConversationId) {
        if let Entry::Occupied(mut rooms) = self.rooms_by_session.entry(session) {
            rooms.get_mut().retain(|one| *one != room);
            if rooms.get().is_empty() {
                rooms.remove();
            }
        }
    }

    /// A room without a session is forgotten, with those who wrote in it.
    fn drop_if_empty(&mut self, room: ConversationId) {
        if self.by_room.get(&room).is_some_and(|now| !now.has_sessions()) {
            self.by_room.remove(&room);
        }
    }

    /// Takes the session out of the room. Returns what the others have to learn.
    fn exit(&mut self, session: SessionId, room: ConversationId) -> Option<(Occupant, OccupantChange)> {
        let now = self.by_room.get_mut(&room)?;
        let here = now.by_user.get_mut(&session.user.num)?;
        let at = here.sessions.iter().position(|one| *one == session.handle)?;
        here.sessions.remove(at);
        if here.sessions.is_empty() {
            here.wrote = None;
        }
        now.update(session.user.num)
    }
}

impl Occupancy {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_empty(&self) -> bool {
        self.rooms.load(Ordering::Acquire) == 0
    }

    fn changed(&self, mut table: MutexGuard<'_, Table>) {
        self.rooms.store(table.by_room.len(), Ordering::Release);
        if table.by_room.is_empty() {
            (table.by_room, table.rooms_by_session) = (HashMap::new(), HashMap::new());
        }
    }

    /// The session is in the room from here on. It gets `entered`, and the others get the newcomer.
    fn enter(
        &self,
        sessions: &Sessions,
        (session, re): (SessionId, u64),
        conversation: Box<Conversation>,
        me: Occupant,
        showing: Showing,
    ) {
        let room = conversation.id;
        let mut table = self.lock();
        let rooms = table.rooms_by_session.entry(session.handle).or_default();
        if !rooms.contains(&room) {
            if rooms.len() >= MOST_ENTERED {
                drop(table);
                return sessions.refuse(session.handle, AnswerTo::Request(re), Refusal::TooManyRooms);
            }
            rooms.push(room);
        }
        let now = table.by_room.entry(room).or_default();
        let user = session.user.num;
        let me = now.claim(user, me);
        let here = now.by_user.entry(user).or_insert_with(|| Here {
            occupant: me.clone(),
            sessions: SmallVec::new(),
            may_be_shown: true,
            shows_presence: false,
            wrote: None,
            is_shown: false,
        });
        let renamed = (here.occupant.nick != me.nick)
            .then(|| OccupantChange::Renamed { from: here.occupant.nick.clone() });
        let is_shown = here.is_shown;
        let has_new_role = here.occupant.site_role != me.site_role || here.occupant.is_guest != me.is_guest;
        here.occupant = me.clone();
        here.may_be_shown = !showing.is_shadowed;
        here.shows_presence |= showing.shows_presence;
        if !here.sessions.contains(&session.handle) {
            here.sessions.push(session.handle);
        }
        let own: SmallVec<[SessionHandle; 1]> =
            here.sessions.iter().copied().filter(|one| *one != session.handle).collect();
        let change = now.update(user);
        let others = |handles: Vec<SessionHandle>| -> Vec<SessionHandle> {
            handles.into_iter().filter(|one| *one != session.handle).collect()
        };
        if let Some(change) = renamed {
            let to = if is_shown { others(now.handles()) } else { own.to_vec() };
            send(sessions, &to, room, me.clone(), change);
        } else if has_new_role && is_shown {
            send(sessions, &others(now.handles()), room, me.clone(), OccupantChange::Here);
        }
        if let Some((occupant, change)) = change {
            send(sessions, &others(now.handles()), room, occupant, change);
        }
        let shown = now.by_user.iter().filter(|(num, here)| here.is_shown && **num != user);
        let occupants = shown.map(|(_, here)| here.occupant.clone()).collect();
        sessions.answer(session.handle, re, Event::Entered { conversation, me: Box::new(me), occupants });
        self.changed(table);
    }

    fn exit(&self, sessions: &Sessions, session: SessionId, room: ConversationId) {
        if self.is_empty() {
            return;
        }
        let mut table = self.lock();
        let change = table.exit(session, room);
        table.forget_room_of(session.handle, room);
        send_to_room(sessions, &table, room, change);
        table.drop_if_empty(room);
        self.changed(table);
    }

    fn session_gone(&self, sessions: &Sessions, session: SessionId) {
        if self.is_empty() {
            return;
        }
        let mut table = self.lock();
        for room in table.rooms_by_session.remove(&session.handle).unwrap_or_default() {
            let change = table.exit(session, room);
            send_to_room(sessions, &table, room, change);
            table.drop_if_empty(room);
        }
        self.changed(table);
    }

    /// The user is no member any more: all sessions of the user are out of the room.
    fn member_gone(&self, sessions: &Sessions, user: UserId, room: ConversationId, reason: LeftReason) {
        if self.is_empty() {
            return;
        }
        let mut table = self.lock();
        let Some(here) = table.by_room.get_mut(&room).and_then(|now| now.remove(user.num)) else { return };
        for session in &here.sessions {
            table.forget_room_of(*session, room);
        }
        let mut to = here.sessions.to_vec();
        if here.is_shown
            && let Some(now) = table.by_room.get(&room)
        {
            to.extend(now.handles());
        }
        send(sessions, &to, room, here.occupant, OccupantChange::Gone(Some(reason)));
        table.drop_if_empty(room);
        self.changed(table);
    }

    /// The room was closed: each session in it gets the end of its own visit.
    fn closed(&self, sessions: &Sessions, room: ConversationId, closing: &Arc<Closing>) {
        if self.is_empty() {
            return;
        }
        let mut table = self.lock();
        let Some(now) = table.by_room.remove(&room) else { return };
        for here in now.by_user.into_values() {
            for session in &here.sessions {
                table.forget_room_of(*session, room);
            }
            send(sessions, &here.sessions, room, here.occupant, OccupantChange::Closed(closing.clone()));
        }
        self.changed(table);
    }

    fn role_changed(&self, sessions: &Sessions, user: UserId, room: ConversationId, role: Role) {
        if self.is_empty() {
            return;
        }
        let mut table = self.lock();
        let Some(now) = table.by_room.get_mut(&room) else { return };
        let Some(here) = now.by_user.get_mut(&user.num).filter(|here| here.occupant.role != role) else {
            return;
        };
        here.occupant.role = role;
        let (occupant, is_shown, own) = (here.occupant.clone(), here.is_shown, here.sessions.to_vec());
        let to = if is_shown { now.handles() } else { own };
        send(sessions, &to, room, occupant, OccupantChange::Here);
    }

    /// The member has another name in the room, by a session that is perhaps not in it.
    fn renamed(&self, sessions: &Sessions, user: UserId, room: ConversationId, nick: Arc<str>) {
        if self.is_empty() {
            return;
        }
        let mut table = self.lock();
        let Some(now) = table.by_room.get_mut(&room) else { return };
        let Some(before) = now.by_user.get(&user.num).map(|here| here.occupant.clone()) else { return };
        let from = before.nick.clone();
        let occupant = now.claim(user.num, Occupant { nick, ..before });
        let Some(here) = now.by_user.get_mut(&user.num).filter(|_| occupant.nick != from) else { return };
        here.occupant = occupant.clone();
        let (is_shown, own) = (here.is_shown, here.sessions.to_vec());
        let to = if is_shown { now.handles() } else { own };
        send(sessions, &to, room, occupant, OccupantChange::Renamed { from });
    }

    /// Visits every room that somebody has entered; roles on the site change rarely.
    fn site_role_changed(&self, sessions: &Sessions, user: UserId, role: SiteRole) {
        if self.is_empty() {
            return;
        }
        let mut table = self.lock();
        for (room, now) in table.by_room.iter_mut().filter(|(room, _)| room.site == user.site) {
            let Some(here) = now.by_user.get_mut(&user.num).filter(|here| here.occupant.site_role != role)
            else {
                continue;
            };
            here.occupant.site_role = role;
            let (occupant, is_shown, own) = (here.occupant.clone(), here.is_shown, here.sessions.to_vec());
            let to = if is_shown { now.handles() } else { own };
            send(sessions, &to, *room, occupant, OccupantChange::Here);
        }
    }

    /// The member has written in the room. `author`: see [`names_author`](Rooms::names_author).
    fn wrote(
        &self,
        sessions: &Sessions,
        user: UserId,
        room: ConversationId,
        author: Option<Occupant>,
        time: Timestamp,
    ) {
        if self.is_empty() {
            return;
        }
        let mut table = self.lock();
        let Some(now) = table.by_room.get_mut(&room) else { return };
        match (now.by_user.get_mut(&user.num), author) {
            (Some(here), _) => here.wrote = Some(time),
            (None, Some(occupant)) if now.shown < MOST_SHOWN => {
                let occupant = now.claim(user.num, occupant);
                let here = Here {
                    occupant,
                    sessions: SmallVec::new(),
                    may_be_shown: true,
                    shows_presence: false,
                    wrote: Some(time),
                    is_shown: false,
                };
                now.by_user.insert(user.num, here);
            }
            (None, _) => return,
        }
        let change = now.update(user.num);
        send_to_room(sessions, &table, room, change);
    }

    fn expire(&self, sessions: &Sessions, time: Timestamp) {
        if self.is_empty() {
            return;
        }
        let mut table = self.lock();
        if table.next_expiry > time {
            return;
        }
        table.next_expiry = Timestamp(time.0.saturating_add(EXPIRE_EVERY_MS));
        for (room, now) in &mut table.by_room {
            let is_over = |here: &Here| here.wrote.is_some_and(|wrote| time.since(wrote) >= WROTE_MS);
            let over: Vec<u32> =
                now.by_user.iter().filter(|(_, here)| is_over(here)).map(|(user, _)| *user).collect();
            for user in over {
                if let Some(here) = now.by_user.get_mut(&user) {
                    here.wrote = None;
                }
                if let Some((occupant, change)) = now.update(user) {
                    send(sessions, &now.handles(), *room, occupant, change);
                }
            }
        }
    }

    /// The occupants whom others see. None: the session has not entered the room.
    fn list(&self, session: SessionHandle, room: ConversationId) -> Option<Vec<Occupant>> {
        let table = self.lock();
        let has_entered = table.rooms_by_session.get(&session).is_some_and(|rooms| rooms.contains(&room));
        let now = table.by_room.get(&room).filter(|_| has_entered)?;
        Some(now.by_user.values().filter(|here| here.is_shown).map(|here| here.occupant.clone()).collect())
    }

    fn has(&self, session: SessionHandle) -> bool {
        !self.is_empty() && self.lock().rooms_by_session.contains_key(&session)
    }

    fn knows(&self, room: &RoomName, user: UserId) -> bool {
        match room {
            _ if self.is_empty() => true,
            RoomName::Id(id) => {
                let table = self.lock();
                table.by_room.get(id).is_none_or(|now| now.by_user.contains_key(&user.num))
            }
            // Its number is known only after the message is stored.
            RoomName::Page(..) => false,
        }
    }
}

fn send(
    sessions: &Sessions,
    to: &[SessionHandle],
    conversation: ConversationId,
    occupant: Occupant,
    change: OccupantChange,
) {
    sessions.send_all(to, Event::Occupant { conversation, occupant: Box::new(occupant), change });
}

fn send_to_room(
    sessions: &Sessions,
    table: &Table,
    room: ConversationId,
    change: Option<(Occupant, OccupantChange)>,
) {
    if let (Some((occupant, change)), Some(now)) = (change, table.by_room.get(&room)) {
        send(sessions, &now.handles(), room, occupant, change);
    }
}

impl Rooms {
    /// Enters the room, and joins it first if the user is no member. A session that is in the room gets the same answer.
    pub(crate) fn enter(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        room: ConversationId,
        nickname: Option<Nickname>,
        now: Timestamp,
    ) {
        let (session, sub, showing) = (asker.session, asker.sub.clone(), Showing::of(asker));
        let (site_role, is_guest) = (asker.role, asker.guest);
        let done = self.on_accepted(session.handle, AnswerTo::Request(re), move |this, entered: Entered| {
            let Entered { joined, nick, change } = entered;
            let ConversationOf::Room { role, .. } = &joined.row.of else { return };
            let me = Occupant { sub, nick, role: *role, site_role, is_guest };
            let conversation = Box::new(crate::presence::shown::conversation(joined.row, Default::default()));
            if !joined.before {
                this.member_joined(room, session.user);
                let event = crate::Event::conversation(conversation.clone());
                this.sessions.publish(session.user, joined.position, Some(session.handle), event);
            }
            if let Some(change) = change {
                this.publish_nickname(room, change);
            }
            this.occupancy.enter(&this.sessions, (session, re), conversation, me, showing);
            // A session that has ended meanwhile was not in the table when its end was noted.
            if this.sessions.lock(session.user).session(session.user, session.handle).is_none() {
                this.occupancy.session_gone(&this.sessions, session);
            }
        });
        self.store.enter_room(room, session.user, nickname, self.room_limits(asker), now, done);
    }

    pub(crate) fn set_nickname(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        room: ConversationId,
        nickname: Option<Nickname>,
    ) {
        let (session, sub) = (asker.session, asker.sub.clone());
        let done = self.on_accepted(session.handle, AnswerTo::Request(re), move |this, named: Nicknamed| {
            let Nicknamed { nick, is_chosen, change } = named;
            if let Some(change) = change {
                this.publish_nickname(room, change);
                this.occupancy.renamed(&this.sessions, session.user, room, nick.clone());
            }
            let names = is_chosen.then_some((sub, nick)).into_iter().collect();
            this.sessions.answer(session.handle, re, Event::Names { conversation: room, names });
        });
        self.store.set_nickname(room, session.user, nickname, done);
    }

    /// Members learn that a nickname has changed, and those who show the room ask for it.
    fn publish_nickname(&self, conversation: ConversationId, change: NicknameChange) {
        let NicknameChange { room, position, members } = change;
        let event = Event::Room { conversation, room };
        self.sessions.publish_to_members(conversation.site, &members, position, None, event);
    }

    pub(crate) fn exit(&self, session: SessionId, room: ConversationId) {
        self.occupancy.exit(&self.sessions, session, room);
    }

    /// Whether the session has entered a room.
    pub(crate) fn is_in_a_room(&self, session: SessionHandle) -> bool {
        self.occupancy.has(session)
    }

    pub(crate) fn session_gone(&self, session: SessionId) {
        self.occupancy.session_gone(&self.sessions, session);
    }

    pub(crate) fn occupant_left(&self, user: UserId, room: ConversationId, reason: LeftReason) {
        self.occupancy.member_gone(&self.sessions, user, room, reason);
    }

    pub(crate) fn occupants_of_closed(&self, room: ConversationId, closing: &Arc<Closing>) {
        self.occupancy.closed(&self.sessions, room, closing);
    }

    pub(crate) fn occupant_has_role(&self, user: UserId, room: ConversationId, role: Role) {
        self.occupancy.role_changed(&self.sessions, user, room, role);
    }

    pub(crate) fn occupant_has_site_role(&self, user: UserId, role: SiteRole) {
        self.occupancy.site_role_changed(&self.sessions, user, role);
    }

    /// Whether the store has to name the author of a message: somebody has entered the room, and does not see the author yet.
    pub(crate) fn names_author(&self, room: &RoomName, author: UserId) -> bool {
        !self.occupancy.knows(room, author)
    }

    /// Call it before the message is published, so that sessions in the room know its author.
    pub(crate) fn wrote(
        &self,
        user: UserId,
        room: ConversationId,
        author: Option<Occupant>,
        time: Timestamp,
    ) {
        self.occupancy.wrote(&self.sessions, user, room, author, time);
    }

    pub(crate) fn expire_occupants(&self, now: Timestamp) {
        self.occupancy.expire(&self.sessions, now);
    }

    pub(crate) fn list_occupants(&self, session: SessionId, re: u64, conversation: ConversationId) {
        match self.occupancy.list(session.handle, conversation) {
            Some(occupants) => {
                self.sessions.answer(session.handle, re, Event::Occupants { conversation, occupants });
            }
            None => {
                self.sessions.refuse(session.handle, AnswerTo::Request(re), Refusal::NotAMember);
            }
        }
    }

    /// The names of users in a room, members or not. Unknown users are left out.
    pub(crate) fn list_names(
        self: &Arc<Self>,
        session: SessionId,
        re: u64,
        room: ConversationId,
        users: Vec<Sub>,
        naming: Naming,
    ) {
        if users.len() > MOST_NAMED_AT_ONCE {
            return self.sessions.refuse(session.handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        let done = self.on_accepted(session.handle, AnswerTo::Request(re), move |this, names| {
            this.sessions.answer(session.handle, re, Event::Names { conversation: room, names });
        });
        self.store.nicknames(room, session.user, users, naming, done);
    }

    /// A room that the user may read.
    pub(crate) fn show_room(self: &Arc<Self>, session: SessionId, re: u64, room: ConversationId) {
        let done = self.on_accepted(session.handle, AnswerTo::Request(re), move |this, found| {
            this.sessions.answer(session.handle, re, Event::Rooms { rooms: vec![(room, found)], next: None });
        });
        self.store.room(room, session.user, done);
    }

    /// The room with this alias, for a user who may enter it.
    pub(crate) fn find_room(self: &Arc<Self>, session: SessionId, re: u64, alias: Alias, now: Timestamp) {
        let done = self.on_accepted(session.handle, AnswerTo::Request(re), move |this, found| {
            this.sessions.answer(session.handle, re, Event::Rooms { rooms: vec![found], next: None });
        });
        self.store.find_room(alias, session.user, now, done);
    }
}

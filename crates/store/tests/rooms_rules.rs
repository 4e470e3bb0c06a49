//! Rooms answer like a model of plain collections, which states the rules a second time and in the simplest way. It
//! covers joins, permissions of roles, requests, links, sanctions with an end, limits, markers, and unread counts.
//!
//! The model calls none of the domain's functions, so that a bug in one of them cannot hide in both. A failure names
//! its seed.

use crate::asking;

use std::collections::{BTreeMap, BTreeSet};

use asking::{Directory, add_site, ask, put};
use chat::{
    AddAs, AddMember, AddRule, ConversationId, ConversationList, ConversationOf, LinkCode, LinkRule,
    LinkStore, MemberAction, MessageKind, MessageStore, ModerationStore, NewLink, NewRoom, Post, Refusal,
    Role, RoomChange, RoomKind, RoomLimits, RoomName, RoomRequestStore, RoomSanction, RoomSanctionKind,
    RoomStore, Seq, Standing, Timestamp, UserId,
};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use store::{Options, Sqlite};

const NAMES: [&str; 5] = ["ann", "bob", "carl", "dora", "eve"];
const BODIES: [&str; 5] = ["hello", "@bob look", "@room all of you", "@ann, @carl!", "mail@room.example"];
const LIMITS: RoomLimits = RoomLimits { members: 4, per_user: 5, owned: 2 };
/// With more rooms, each would have too few members.
const ROOMS: usize = 6;
const REQUESTS_PER_DAY: u32 = 1;
const DAY_MS: u64 = 86_400_000;
const NEVER: u64 = u64::MAX;

#[test]
fn rooms_keep_their_rules() {
    let (mut allowed, mut refused) = (0, BTreeMap::<&str, u32>::new());
    for seed in 0..16 {
        let mut run = Run::new(seed, seed % 4 == 0);
        for step in 0..500 {
            match run.step(&format!("seed {seed} step {step}")) {
                Ok(()) => allowed += 1,
                Err(refusal) => *refused.entry(refusal.word()).or_default() += 1,
            }
        }
    }
    // Acts must be allowed often enough to be tested.
    assert!(allowed > 1_500, "{allowed} acts were allowed");
    for word in [
        "last_owner",
        "not_allowed",
        "not_a_member",
        "no_such_conversation",
        "no_such_user",
        "room_banned",
        "room_full",
        "too_many_rooms",
        "too_many_requests",
        "muted",
        "frozen",
        "read_only",
        "slow_mode",
        "bad_invitation",
    ] {
        assert!(refused.contains_key(word), "no act was refused with {word}: {refused:?}");
    }
}

/// A store, its model, and the random numbers that drive both.
struct Run {
    store: Sqlite,
    /// Clears the writer's caches before each act.
    forgets: bool,
    model: Model,
    rng: StdRng,
    users: Vec<UserId>,
    now: u64,
    clients: u64,
    _directory: Directory,
}

/// Users are indices of [`NAMES`]; rooms are in the order of their creation.
#[derive(Default)]
struct Model {
    rooms: Vec<Room>,
    links: BTreeMap<u64, Link>,
    /// Requests that a user began: the day, and their number on that day.
    begun: BTreeMap<usize, (u64, u32)>,
}

struct Room {
    kind: RoomKind,
    /// Its owner left as the last member.
    is_closed: bool,
    frozen: bool,
    slow_ms: u64,
    most: usize,
    active: u64,
    people: BTreeMap<usize, Person>,
    /// Author and body.
    messages: Vec<(usize, &'static str)>,
    /// By number of the message; None: all members.
    mentions: Vec<(u64, Option<usize>)>,
    /// By invited user and asker.
    requests: BTreeMap<(usize, usize), Request>,
}

#[derive(Default)]
struct Person {
    role: Option<Role>,
    is_banned: bool,
    has_left: bool,
    received: u64,
    read: u64,
    wrote: Option<u64>,
    muted_until: Option<u64>,
    banned_until: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Request {
    Pending,
    Declined,
    Withdrawn,
    Accepted,
}

struct Link {
    room: usize,
    by: usize,
    until: u64,
    uses: Option<u32>,
    used: u32,
}

type Answer = Result<(), Refusal>;

fn rank(role: Role) -> u8 {
    match role {
        Role::Owner => 3,
        Role::Moderator => 2,
        Role::Member => 1,
        Role::Muted => 0,
    }
}

fn moderates(role: Role) -> bool {
    rank(role) >= 2
}

fn when(is: bool, refusal: Refusal) -> Answer {
    if is { Err(refusal) } else { Ok(()) }
}

impl Room {
    fn person(&self, user: usize) -> Option<&Person> {
        self.people.get(&user)
    }

    fn role(&self, user: usize) -> Option<Role> {
        self.person(user)?.role
    }

    fn is_banned(&self, user: usize) -> bool {
        self.person(user).is_some_and(|person| person.is_banned)
    }

    fn members(&self) -> usize {
        self.people.values().filter(|person| person.role.is_some()).count()
    }

    fn owners(&self) -> usize {
        self.people.values().filter(|person| person.role == Some(Role::Owner)).count()
    }

    fn newest(&self) -> u64 {
        self.messages.len() as u64
    }

    /// The role of a member, or the refusal of any other user.
    fn as_member(&self, user: usize) -> Result<Role, Refusal> {
        match self.role(user) {
            Some(role) => Ok(role),
            None if self.is_banned(user) => Err(Refusal::RoomBanned),
            None if self.kind == RoomKind::Private => Err(Refusal::NoSuchConversation),
            None => Err(Refusal::NotAMember),
        }
    }

    fn may_invite(&self, by: usize) -> Answer {
        let role = self.as_member(by)?;
        let may = moderates(role) || role == Role::Member && self.kind == RoomKind::Public;
        when(!may, Refusal::NotAllowed)
    }

    fn is_asked(&self, user: usize) -> bool {
        self.requests.iter().any(|((asked, _), state)| *asked == user && *state == Request::Pending)
    }

    fn is_last_owner(&self, user: usize) -> bool {
        self.role(user) == Some(Role::Owner) && self.owners() == 1
    }

    fn unread(&self, user: usize) -> u64 {
        self.person(user).map_or(0, |person| self.newest() - person.read)
    }

    fn unread_mentions(&self, user: usize) -> u64 {
        let read = self.person(user).map_or(0, |person| person.read);
        let named = |(seq, of): &&(u64, Option<usize>)| *seq > read && of.is_none_or(|of| of == user);
        self.mentions.iter().filter(named).map(|(seq, _)| *seq).collect::<BTreeSet<_>>().len() as u64
    }

    fn comes_in(&mut self, user: usize, now: u64) {
        let newest = self.newest();
        let person = self.people.entry(user).or_default();
        let is_muted = person.muted_until.is_some_and(|until| until > now);
        person.role = Some(if is_muted { Role::Muted } else { Role::Member });
        (person.received, person.read, person.has_left) = (newest, newest, false);
        self.requests.retain(|(asked, _), state| *asked != user || *state == Request::Pending);
        self.requests.iter_mut().filter(|((asked, _), _)| *asked == user).for_each(|(_, state)| {
            *state = Request::Accepted;
        });
    }

    fn goes_out(&mut self, user: usize) {
        if let Some(person) = self.people.get_mut(&user) {
            (person.role, person.has_left) = (None, false);
        }
    }
}

impl Model {
    fn rooms_of(&self, user: usize) -> usize {
        self.rooms.iter().filter(|room| room.role(user).is_some()).count()
    }

    fn owned_by(&self, user: usize) -> usize {
        self.rooms.iter().filter(|room| room.role(user) == Some(Role::Owner)).count()
    }

    fn has_place(&self, room: &Room, user: usize) -> Answer {
        let most = if room.most == 0 { 4 } else { room.most.min(4) };
        when(room.members() >= most, Refusal::RoomFull)?;
        when(self.rooms_of(user) >= 5, Refusal::TooManyRooms)
    }

    fn room(&self, room: usize) -> Result<&Room, Refusal> {
        self.rooms.get(room).filter(|room| !room.is_closed).ok_or(Refusal::NoSuchConversation)
    }

    /// Ends links whose authors may not invite any more.
    fn end_links(&mut self) {
        let rooms = &self.rooms;
        self.links.retain(|_, link| rooms[link.room].may_invite(link.by).is_ok());
    }

    fn end_sanctions(&mut self, now: u64) {
        for person in self.rooms.iter_mut().flat_map(|room| room.people.values_mut()) {
            if person.muted_until.is_some_and(|until| until <= now) {
                person.muted_until = None;
                if person.role == Some(Role::Muted) {
                    person.role = Some(Role::Member);
                }
            }
            if person.banned_until.is_some_and(|until| until <= now) {
                (person.banned_until, person.is_banned) = (None, false);
            }
        }
    }

    fn create(&mut self, owner: usize, kind: RoomKind, now: u64) -> Answer {
        let is_full = self.rooms_of(owner) >= 5 || self.owned_by(owner) >= 2;
        when(is_full, Refusal::TooManyRooms)?;
        let person = Person { role: Some(Role::Owner), ..Person::default() };
        self.rooms.push(Room {
            kind,
            is_closed: false,
            frozen: false,
            slow_ms: 0,
            most: 0,
            active: now,
            people: BTreeMap::from([(owner, person)]),
            messages: Vec::new(),
            mentions: Vec::new(),
            requests: BTreeMap::new(),
        });
        Ok(())
    }

    fn join(&mut self, room: usize, user: usize, now: u64) -> Answer {
        let of = self.room(room)?;
        when(of.is_banned(user), Refusal::RoomBanned)?;
        if of.role(user).is_some() {
            return Ok(());
        }
        when(of.kind == RoomKind::Private && !of.is_asked(user), Refusal::NoSuchConversation)?;
        self.has_place(of, user)?;
        self.rooms[room].comes_in(user, now);
        Ok(())
    }

    fn leave(&mut self, room: usize, user: usize) -> Answer {
        let of = self.room(room)?;
        of.as_member(user)?;
        when(of.members() > 1 && of.is_last_owner(user), Refusal::LastOwner)?;
        let of = &mut self.rooms[room];
        of.is_closed = of.members() == 1 && of.is_last_owner(user);
        of.goes_out(user);
        of.people.entry(user).or_default().has_left = true;
        of.requests.iter_mut().filter(|((asked, _), _)| *asked == user).for_each(|(_, state)| {
            if *state == Request::Accepted {
                *state = Request::Declined;
            }
        });
        self.end_links();
        Ok(())
    }

    fn add(&mut self, room: usize, by: usize, user: usize, asks: bool, counted: bool, now: u64) -> Answer {
        let of = self.room(room)?;
        let role = of.as_member(by)?;
        when(of.is_banned(user), Refusal::RoomBanned)?;
        let may = moderates(role) || role == Role::Member && of.kind == RoomKind::Public;
        when(!may, Refusal::NotAllowed)?;
        if of.role(user).is_some() {
            return Ok(());
        }
        let has_left = of.person(user).is_some_and(|person| person.has_left);
        let declined =
            of.requests.iter().any(|((asked, _), state)| *asked == user && *state == Request::Declined);
        let must_ask = asks || has_left || declined;
        match of.requests.get(&(user, by)) {
            Some(Request::Declined) => return Ok(()),
            Some(Request::Pending) if must_ask => return Ok(()),
            _ => {}
        }
        let today = now / DAY_MS;
        let (day, begun) = self.begun.get(&by).copied().unwrap_or_default();
        let begun = if day == today { begun } else { 0 };
        when(counted && begun >= REQUESTS_PER_DAY, Refusal::TooManyRequests)?;
        self.has_place(of, user)?;
        if counted {
            self.begun.insert(by, (today, begun + 1));
        }
        let of = &mut self.rooms[room];
        if !must_ask {
            of.comes_in(user, now);
        }
        let state = if must_ask { Request::Pending } else { Request::Accepted };
        of.requests.insert((user, by), state);
        Ok(())
    }

    fn end_requests(&mut self, room: usize, user: usize, to: Request) -> bool {
        let Some(of) = self.rooms.get_mut(room) else { return false };
        let pending = of
            .requests
            .iter_mut()
            .filter(|((asked, _), state)| *asked == user && **state == Request::Pending);
        pending.map(|(_, state)| *state = to).count() > 0
    }

    fn act(
        &mut self,
        room: usize,
        by: usize,
        user: usize,
        action: MemberAction,
        until: Option<u64>,
    ) -> Answer {
        let of = self.room(room)?;
        let role = of.as_member(by)?;
        let target = of.role(user);
        let is_above = target.is_none_or(|target| rank(target) < rank(role) && target != Role::Owner);
        let may = match action {
            MemberAction::Remove | MemberAction::Ban => moderates(role) && is_above,
            MemberAction::Unban => moderates(role),
            MemberAction::SetRole(to) => {
                let Some(target) = target else { return Err(Refusal::NoSuchUser) };
                role == Role::Owner || role == Role::Moderator && rank(target) <= 1 && rank(to) <= 1
            }
            MemberAction::Invite => unreachable!("invitations are requests"),
        };
        when(!may, Refusal::NotAllowed)?;
        if let MemberAction::SetRole(to) = action {
            when(to != Role::Owner && of.is_last_owner(user), Refusal::LastOwner)?;
        }
        let of = &mut self.rooms[room];
        let person = of.people.entry(user).or_default();
        match action {
            MemberAction::Remove if target.is_some() => of.goes_out(user),
            MemberAction::Ban => {
                (person.is_banned, person.banned_until) = (true, until);
                of.goes_out(user);
            }
            MemberAction::Unban if person.is_banned => {
                (person.is_banned, person.banned_until) = (false, None);
                of.goes_out(user);
            }
            MemberAction::SetRole(to) => {
                person.role = Some(to);
                person.muted_until = (to == Role::Muted).then_some(until.unwrap_or(NEVER));
            }
            _ => {}
        }
        if matches!(action, MemberAction::Remove | MemberAction::Ban) {
            self.end_requests(room, user, Request::Withdrawn);
        }
        self.end_links();
        Ok(())
    }

    fn configure(&mut self, room: usize, by: usize, change: &RoomChange) -> Answer {
        let of = self.room(room)?;
        let role = of.as_member(by)?;
        when(change.kind.is_some() && role != Role::Owner, Refusal::NotAllowed)?;
        when(!moderates(role), Refusal::NotAllowed)?;
        let of = &mut self.rooms[room];
        of.kind = change.kind.unwrap_or(of.kind);
        of.frozen = change.frozen.unwrap_or(of.frozen);
        of.slow_ms = change.slow_ms.map_or(of.slow_ms, u64::from);
        of.most = change.max_members.map_or(of.most, |most| most as usize);
        self.end_links();
        Ok(())
    }

    fn post(&mut self, room: usize, user: usize, body: &'static str, now: u64) -> Answer {
        let of = self.room(room)?;
        let role = of.as_member(user)?;
        when(role == Role::Muted, Refusal::Muted)?;
        if role == Role::Member {
            when(of.kind == RoomKind::Announcement, Refusal::ReadOnly)?;
            when(of.frozen, Refusal::Frozen)?;
            let wrote = of.person(user).and_then(|person| person.wrote);
            let wait = wrote.map_or(0, |wrote| of.slow_ms.saturating_sub(now - wrote));
            when(wait > 0, Refusal::SlowMode { retry_after_ms: wait as u32 })?;
        }
        let named: Vec<Option<usize>> = match body {
            "@bob look" => vec![Some(1)],
            "@ann, @carl!" => vec![Some(0), Some(2)],
            // A mention may follow any `@`, also in an address.
            "@room all of you" | "mail@room.example" if moderates(role) => vec![None],
            _ => Vec::new(),
        };
        let of = &mut self.rooms[room];
        of.messages.push((user, body));
        of.active = now;
        let seq = of.newest();
        let named = named.into_iter().filter(|name| {
            name.is_none_or(|name| name != user && of.people.get(&name).is_some_and(|p| p.role.is_some()))
        });
        of.mentions.extend(named.map(|name| (seq, name)).collect::<Vec<_>>());
        let person = of.people.entry(user).or_default();
        (person.received, person.read, person.wrote) = (seq, seq, Some(now));
        Ok(())
    }

    fn mark(&mut self, room: usize, user: usize, received: u64, read: u64) -> bool {
        let Some(of) = self.rooms.get_mut(room).filter(|of| of.role(user).is_some()) else { return false };
        let newest = of.newest();
        let person = of.people.entry(user).or_default();
        let before = (person.received, person.read);
        person.read = person.read.max(read.min(newest));
        person.received = person.received.max(received.min(newest)).max(person.read);
        before != (person.received, person.read)
    }

    fn make_link(&mut self, code: u64, link: Link, now: u64) -> Answer {
        let of = self.room(link.room)?;
        of.may_invite(link.by)?;
        let role = of.as_member(link.by)?;
        let room = link.room;
        self.links.retain(|_, other| {
            other.room != room || now < other.until && other.uses.is_none_or(|uses| other.used < uses)
        });
        let of_room = self.links.values().filter(|other| other.room == room);
        let own = of_room.filter(|other| other.by == link.by).count();
        when(!moderates(role) && own >= 10, Refusal::TooManyInvitations)?;
        self.links.insert(code, link);
        Ok(())
    }

    fn take_back(&mut self, room: usize, by: usize, code: u64) -> Answer {
        let role = self.room(room)?.as_member(by)?;
        self.links
            .retain(|known, link| *known != code || link.room != room || link.by != by && !moderates(role));
        Ok(())
    }

    fn join_by_link(&mut self, code: u64, user: usize, now: u64) -> Answer {
        let link = self.links.get(&code).ok_or(Refusal::BadInvitation)?;
        let room = link.room;
        let of = &self.rooms[room];
        let is_used_up = link.uses.is_some_and(|uses| link.used >= uses);
        let is_member = of.role(user).is_some();
        when(now >= link.until || is_used_up && !is_member, Refusal::BadInvitation)?;
        when(of.is_banned(user), Refusal::RoomBanned)?;
        if is_member {
            return Ok(());
        }
        self.has_place(of, user)?;
        self.rooms[room].comes_in(user, now);
        if let Some(link) = self.links.get_mut(&code) {
            link.used += 1;
        }
        Ok(())
    }
}

impl Run {
    fn new(seed: u64, on_disk: bool) -> Run {
        let directory = Directory::quick();
        let store = match on_disk {
            true => Sqlite::open(&directory.file(), Options::default()).expect("it opens"),
            false => Sqlite::in_memory(),
        };
        let site = add_site(&store, "forum");
        let users = NAMES.iter().map(|name| put(&store, site, name)).collect();
        let rng = StdRng::seed_from_u64(seed);
        // Shortly before the end of a day, so that a run covers two days.
        let now = 20_000 * DAY_MS - 300_000;
        let model = Model::default();
        Run { store, forgets: !on_disk, model, rng, users, now, clients: 0, _directory: directory }
    }

    fn user(&mut self) -> usize {
        self.rng.random_range(0..NAMES.len())
    }

    /// A room; sometimes one that does not exist.
    fn room(&mut self) -> usize {
        self.rng.random_range(0..=self.model.rooms.len())
    }

    fn id(&self, room: usize) -> ConversationId {
        ConversationId::room(self.users[0].site, room as u64 + 1)
    }

    fn step(&mut self, what: &str) -> Answer {
        self.now += self.rng.random_range(1..2_000);
        if self.forgets {
            self.store.crash();
        }
        let now = Timestamp(self.now);
        ask(|done| self.store.end_sanctions(now, done));
        self.model.end_sanctions(self.now);
        let (wanted, answer) = self.act();
        assert_eq!(answer, wanted, "{what}");
        self.look(what);
        answer
    }

    /// One act: the answers of the model and of the store.
    fn act(&mut self) -> (Answer, Answer) {
        let (user, other, room, now) = (self.user(), self.user(), self.room(), self.now);
        let (id, time) = (self.id(room), Timestamp(now));
        let (me, them) = (self.users[user], self.users[other]);
        match self.rng.random_range(0..30) {
            0..=1 if self.model.rooms.len() < ROOMS || self.model.owned_by(user) > 0 => {
                let kind = self.kind();
                let new = NewRoom {
                    name: format!("Room {}", self.model.rooms.len()).into(),
                    kind,
                    topic: None,
                    alias: None,
                };
                let made = ask(|done| self.store.create_room(me, new, LIMITS, time, done));
                (self.model.create(user, kind, now), made.map(drop))
            }
            0..=4 => {
                let was_in = self.model.rooms.get(room).is_some_and(|of| of.role(user).is_some());
                let joined = ask(|done| self.store.join_room(RoomName::Id(id), me, LIMITS, time, done));
                assert!(joined.as_ref().is_ok_and(|joined| joined.before) == (was_in && joined.is_ok()));
                (self.model.join(room, user, now), joined.map(drop))
            }
            5 => {
                let left = ask(|done| self.store.leave_room(id, me, done));
                (self.model.leave(room, user), left.map(drop))
            }
            6..=9 => {
                let (asks, counted) = (self.rng.random_bool(0.5), self.rng.random_bool(0.5));
                let how = if asks { AddAs::Request(LinkRule::Allowed) } else { AddAs::Member };
                let rule = AddRule { how, per_day: counted.then_some(REQUESTS_PER_DAY) };
                let add = AddMember { room: id, by: me, user: them, rule, time };
                let added = ask(|done| self.store.add_member(add, LIMITS, done));
                (self.model.add(room, user, other, asks, counted, now), added.map(drop))
            }
            10 => {
                let declined = ask(|done| self.store.decline_room_request(id, me, done));
                assert_eq!(declined.is_some(), self.model.end_requests(room, user, Request::Declined));
                (Ok(()), Ok(()))
            }
            11..=15 => {
                let roles = [Role::Owner, Role::Moderator, Role::Member, Role::Muted];
                let action = match self.rng.random_range(0..8) {
                    0 => MemberAction::Remove,
                    1 => MemberAction::Ban,
                    2 | 3 => MemberAction::Unban,
                    at => MemberAction::SetRole(roles[at - 4]),
                };
                let changed = ask(|done| self.store.change_member(id, me, them, action, LIMITS, time, done));
                (self.model.act(room, user, other, action, None), changed.map(drop))
            }
            16..=17 => {
                let until = now + self.rng.random_range(1..20_000);
                let (kind, action) = match self.rng.random_bool(0.5) {
                    true => (RoomSanctionKind::Mute, MemberAction::SetRole(Role::Muted)),
                    false => (RoomSanctionKind::Ban, MemberAction::Ban),
                };
                let (until_then, reason) = (Timestamp(until), "Spam".into());
                let sanction = RoomSanction { kind, until: until_then, reason, shows_reason: true };
                let changed = ask(|done| self.store.sanction_member(id, me, them, sanction, time, done));
                (self.model.act(room, user, other, action, Some(until)), changed.map(drop))
            }
            18 => {
                let change = RoomChange {
                    kind: self.rng.random_bool(0.3).then(|| self.kind()),
                    frozen: Some(self.rng.random_bool(0.3)),
                    slow_ms: Some([0, 0, 3_000][self.rng.random_range(0..3)]),
                    max_members: Some([0, 0, 2][self.rng.random_range(0..3)]),
                    ..RoomChange::default()
                };
                let wanted = self.model.configure(room, user, &change);
                (wanted, ask(|done| self.store.change_room(id, me, change, time, done)).map(drop))
            }
            19..=23 => {
                let body = BODIES[self.rng.random_range(0..BODIES.len())];
                self.clients += 1;
                let post = Post {
                    names_author: false,
                    room: RoomName::Id(id),
                    from: me,
                    kind: MessageKind::Text,
                    client_id: format!("m{}", self.clients).into(),
                    body: body.into(),
                    extension: None,
                    time,
                    reply_to: None,
                    files: Vec::new(),
                    rich: None,
                };
                let wanted = self.model.post(room, user, body, now);
                let posted = ask(|done| self.store.post(post, LIMITS, done));
                if let Ok(posted) = &posted {
                    let of = &self.model.rooms[room];
                    let told: BTreeSet<u32> = posted.members.iter().copied().collect();
                    let members = of.people.iter().filter(|(_, person)| person.role.is_some());
                    let members: BTreeSet<u32> = members.map(|(at, _)| self.users[*at].num).collect();
                    assert_eq!((told, posted.appended.seq.0), (members, of.newest()));
                }
                (wanted, posted.map(drop))
            }
            24..=25 => {
                let newest = self.model.rooms.get(room).map_or(0, Room::newest);
                let [received, read] = [0, 1].map(|_| self.rng.random_range(0..=newest + 1));
                let marked = ask(|done| self.store.mark(id, me, Seq(received), Seq(read), done));
                assert_eq!(marked.moved, self.model.mark(room, user, received, read));
                (Ok(()), Ok(()))
            }
            26..=27 => {
                self.clients += 1;
                let (code, until) = (self.clients, now + self.rng.random_range(1..30_000));
                let uses = self.rng.random_bool(0.5).then(|| self.rng.random_range(1..3));
                let link = Link { room, by: user, until, uses, used: 0 };
                let new = NewLink { code: code_of(code), until: Timestamp(until), uses };
                let made = ask(|done| self.store.make_link(id, me, new, time, done));
                (self.model.make_link(code, link, now), made.map(drop))
            }
            at => {
                let known: Vec<u64> = self.model.links.keys().copied().collect();
                let code = known.get(self.rng.random_range(0..=known.len())).copied().unwrap_or(0);
                if at == 28 && self.rng.random_bool(0.3) {
                    let taken = ask(|done| self.store.take_back_link(id, me, code_of(code), time, done));
                    return (self.model.take_back(room, user, code), taken.map(drop));
                }
                let joined = ask(|done| self.store.join_link(code_of(code), me, LIMITS, time, done));
                (self.model.join_by_link(code, user, now), joined.map(drop))
            }
        }
    }

    fn kind(&mut self) -> RoomKind {
        match self.rng.random_range(0..6) {
            0 => RoomKind::Private,
            1 => RoomKind::Announcement,
            _ => RoomKind::Public,
        }
    }

    /// The user's rooms, and one of them in detail, match the model.
    fn look(&mut self, what: &str) {
        let (user, room) = (self.user(), self.room());
        let (me, id) = (self.users[user], self.id(room));
        let page = ask(|done| self.store.conversations(me, ConversationList::Main, None, 50, done));
        let mut wanted = Vec::new();
        for (at, of) in self.model.rooms.iter().enumerate() {
            if let (Some(role), Some(person)) = (of.role(user), of.person(user)) {
                let counts = (of.unread(user), of.unread_mentions(user), person.received, person.read);
                wanted.push((self.id(at), role, counts));
            }
        }
        let mut seen = Vec::new();
        for row in page.rows.iter().filter(|row| row.requested_by.is_none()) {
            let ConversationOf::Room { role, .. } = row.of else { panic!("{what}: no room: {row:?}") };
            seen.push((row.id, role, (row.unread, row.mentions, row.received.0, row.read.0)));
        }
        let order: Vec<u64> = seen.iter().map(|(id, ..)| self.model.rooms[at(*id)].active).collect();
        assert!(order.is_sorted_by(|one, next| one >= next), "{what}: newest activity first: {order:?}");
        seen.sort_unstable_by_key(|(id, ..)| *id);
        wanted.sort_unstable_by_key(|(id, ..)| *id);
        assert_eq!(seen, wanted, "{what}: rooms of {}", NAMES[user]);
        let asked: BTreeSet<ConversationId> =
            page.rows.iter().filter(|row| row.requested_by.is_some()).map(|row| row.id).collect();
        let of_model = self.model.rooms.iter().enumerate();
        let of_model =
            of_model.filter(|(_, of)| !of.is_closed && of.is_asked(user) && of.role(user).is_none());
        assert_eq!(asked, of_model.map(|(at, _)| self.id(at)).collect(), "{what}: requests");
        self.look_into(what, user, room, me, id);
    }

    fn look_into(&self, what: &str, user: usize, room: usize, me: UserId, id: ConversationId) {
        let time = Timestamp(self.now);
        let page = ask(|done| self.store.members(id, me, None, None, 50, done));
        let of = self.model.room(room);
        let wanted = of.and_then(|of| {
            of.as_member(user)?;
            let members = of.people.iter().filter_map(|(at, person)| Some((person.role?, *at)));
            let mut members: Vec<(Role, usize)> = members.collect();
            members.sort_unstable_by_key(|(role, at)| (std::cmp::Reverse(rank(*role)), *at));
            Ok(members)
        });
        let seen = page.map(|page| {
            let row = |row: &chat::MemberRow| {
                let at = self.users.iter().position(|user| *user == row.user.id).expect("one of them");
                let Standing::In(role) = row.standing else { panic!("{what}: no member is listed") };
                (role, at)
            };
            page.rows.iter().map(row).collect::<Vec<_>>()
        });
        assert_eq!(seen, wanted, "{what}: members for {}", NAMES[user]);
        let links = ask(|done| self.store.links(id, me, time, done));
        let links = links.map(|links| links.iter().map(|link| link.code.bytes()).collect::<BTreeSet<_>>());
        let wanted = of.and_then(|of| {
            let role = of.as_member(user)?;
            let is_usable =
                |link: &Link| self.now < link.until && link.uses.is_none_or(|uses| link.used < uses);
            let links = self.model.links.iter().filter(|(_, link)| {
                link.room == room && is_usable(link) && (moderates(role) || link.by == user)
            });
            Ok(links.map(|(code, _)| code_of(*code).bytes()).collect())
        });
        assert_eq!(links, wanted, "{what}: links for {}", NAMES[user]);
        let rooms = ask(|done| self.store.rooms(me.site, None, None, 50, done));
        let listed: BTreeSet<ConversationId> = rooms.rows.iter().map(|(id, _)| *id).collect();
        let open = self
            .model
            .rooms
            .iter()
            .enumerate()
            .filter(|(_, of)| of.kind != RoomKind::Private && !of.is_closed);
        assert_eq!(listed, open.map(|(at, _)| self.id(at)).collect(), "{what}: the directory");
    }
}

/// The index of a room in the model.
fn at(id: ConversationId) -> usize {
    (0..1_000).find(|at| ConversationId::room(id.site, at + 1) == id).expect("made by the model") as usize
}

fn code_of(code: u64) -> LinkCode {
    LinkCode::of(u128::from(code).to_be_bytes())
}

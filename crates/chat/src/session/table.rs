//! The table of connected users and their sessions: all memory of a node per user.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use smallvec::SmallVec;

use super::announced::{Announcements, OfAnnounced};
use super::roll::Roll;
use crate::limits::Due;
use crate::privacy::Privacy;
use crate::session::{SignedInBy, StandingHere};
use crate::{Delivery, DeviceId, Position, Presence, SessionHandle, SetPresence, Sub, Timestamp, UserId};

pub(crate) const SHARDS: usize = 64;
/// Events held for the snapshot of one session; with one more the session is *behind*.
const MAX_HELD: usize = 64;

/// Commands of one session that wait for the read of an earlier command.
type Waiting = VecDeque<Box<dyn WaitingCommand>>;

/// A command that waits for an earlier one of its session.
pub(crate) trait WaitingCommand: Send {
    /// True: the command is done. False: it reads from the store, and the commands behind it wait for the
    /// read.
    fn attempt(self: Box<Self>) -> bool;
}

/// The sessions that receive an event.
pub(crate) type Handles = SmallVec<[SessionHandle; 4]>;

/// Sessions that watch contacts, by what they receive.
#[derive(Default)]
pub(crate) struct Watching {
    /// The presence of users.
    pub(crate) users: Handles,
    /// The availability of each session. These have a resource themselves.
    pub(crate) sessions: Handles,
}

/// Sharded by user. A shard is locked for a few look-ups, never while calling the store or an outbox, and
/// never two at once.
pub(crate) struct UsersHere {
    shards: Box<[Mutex<Shard>]>,
    roll: Arc<Roll>,
}

/// Users of one shard.
#[derive(Default)]
pub(crate) struct Shard {
    slot_by_user: HashMap<UserId, u32, BuildHasherDefault<NumberHasher>>,
    users: Slots,
    roll: Arc<Roll>,
    held: HashMap<SessionHandle, Held>,
    holds: u32,
    /// Commands that wait for the read of another user, by session.
    pub(crate) waiting: HashMap<SessionHandle, Waiting>,
    /// Users without a session, with the time of the disconnection; ascending.
    pub(crate) leaving: VecDeque<(Timestamp, UserId)>,
    /// Users whose presence may have to be published.
    pub(crate) changed: Vec<UserId>,
    /// Users with sessions that have a resource.
    pub(crate) announcements: HashMap<UserId, Box<Announcements>, BuildHasherDefault<NumberHasher>>,
    /// Sessions that watch their contacts.
    watching_contacts: usize,
    /// No token expires before this second.
    pub(crate) next_end: u32,
    pub(crate) ends_seen: Timestamp,
}

/// A user who is connected, or was a moment ago. Name and avatar are in the store.
pub(crate) struct UserHere {
    pub(crate) id: UserId,
    pub(crate) sub: Sub,
    pub(crate) sessions: SmallVec<[Session; 1]>,
    pub(crate) sends: Due,
    pub(crate) commands: Due,
    /// Low 32 bits of the time at which others last saw the user, in milliseconds.
    pub(crate) seen: u32,
    pub(crate) chosen: SetPresence,
    /// The last published presence.
    pub(crate) published: Presence,
    /// The part of sessions with a resource in the user's presence.
    pub(crate) announced: OfAnnounced,
    /// The user is in `Shard::changed`.
    pub(crate) is_changed: bool,
    /// The user has no sessions, and the grace time is over.
    pub(crate) has_left: bool,
    pub(crate) guest: bool,
    pub(crate) standing: StandingHere,
    pub(crate) privacy: Privacy,
}

impl UserHere {
    /// Sessions that receive events at once.
    pub(crate) fn live(&self) -> impl Iterator<Item = SessionHandle> {
        self.sessions.iter().filter(|one| one.state == State::Live).map(|one| one.handle)
    }
}

/// A connected device. 32 bytes.
pub(crate) struct Session {
    pub(crate) handle: SessionHandle,
    /// Fingerprint of the device's name: enough to recognise it.
    pub(crate) device: u64,
    /// The session has received everything up to this commit: in a welcome, in changes, or as an event.
    pub(crate) since: u64,
    pub(crate) by: SignedInBy,
    pub(crate) state: State,
    pub(crate) contacts: ContactWatch,
    /// A command waits for the read of another user; later ones queue in `Shard::waiting`.
    pub(crate) is_waiting: bool,
}

/// Whether a session watches the presence of all contacts. Set only by `Shard::watch_contacts`, which counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContactWatch {
    No,
    AsRead,
    /// The contacts have changed since they were read: the answer must read them again.
    Changed,
}

impl ContactWatch {
    pub(crate) fn is_on(self) -> bool {
        self != ContactWatch::No
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Its welcome is under way; events are held.
    Starting,
    Live,
    /// The session's queue was dropped; nothing is delivered until it resumes.
    Behind,
    /// Its changes are under way; events are held.
    Resuming,
}

/// The snapshot that a session waits for. If the session fell behind again, the answer to an earlier request
/// must not be used: events between the two were not held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Hold(u32);

/// Events that wait for a snapshot.
#[derive(Default)]
struct Held {
    hold: Hold,
    events: Vec<Delivery>,
    overflown: bool,
}

/// The result of `Shard::release` for a session.
pub(crate) enum Released {
    /// Deliver these, then call again.
    Events(Vec<Delivery>),
    /// Too many events: the session is behind now.
    Behind,
    /// All delivered; the session is live.
    Live,
    /// The session is gone, or no longer waits for a snapshot.
    Gone,
}

impl UsersHere {
    pub(crate) fn new() -> UsersHere {
        let roll = Arc::<Roll>::default();
        let shard = |_| Mutex::new(Shard { roll: Arc::clone(&roll), ..Shard::default() });
        UsersHere { shards: (0..SHARDS).map(shard).collect(), roll }
    }

    /// The connected ones of these users, all of one site.
    pub(crate) fn of(&self, users: &[UserId]) -> impl Iterator<Item = UserId> {
        let which = self.which(users.iter().copied());
        users.iter().zip(which).filter(|(_, is_here)| *is_here).map(|(user, _)| *user)
    }

    /// Whether each of these users, all of one site, is connected.
    pub(crate) fn which(&self, users: impl Iterator<Item = UserId>) -> Vec<bool> {
        self.roll.which(users)
    }

    pub(crate) fn lock(&self, user: UserId) -> MutexGuard<'_, Shard> {
        let mut hasher = NumberHasher::default();
        user.hash(&mut hasher);
        // The hash table inside uses the low bits.
        lock(&self.shards[(hasher.finish() >> 40) as usize % SHARDS])
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = MutexGuard<'_, Shard>> {
        self.some(0..SHARDS)
    }

    pub(crate) fn some(&self, shards: Range<usize>) -> impl Iterator<Item = MutexGuard<'_, Shard>> {
        self.shards[shards].iter().map(lock)
    }
}

fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    // After a panic in another worker the tables are still consistent: each step is a single assignment.
    shard.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Shard {
    pub(crate) fn user(&mut self, id: UserId) -> Option<&mut UserHere> {
        let slot = *self.slot_by_user.get(&id)?;
        self.users.get_mut(slot)
    }

    pub(crate) fn session(&mut self, id: UserId, handle: SessionHandle) -> Option<&mut Session> {
        self.user(id)?.sessions.iter_mut().find(|session| session.handle == handle)
    }

    /// The user's entry, created if missing.
    pub(crate) fn user_or_insert(
        &mut self,
        id: UserId,
        new: impl FnOnce() -> UserHere,
    ) -> (&mut UserHere, bool) {
        let (slot, is_new) = match self.slot_by_user.get(&id) {
            Some(slot) => (*slot, false),
            None => {
                self.roll.enter(id);
                let slot = self.users.insert(new());
                self.slot_by_user.insert(id, slot);
                (slot, true)
            }
        };
        (self.users.get_mut(slot).expect("the index names full slots only"), is_new)
    }

    pub(crate) fn remove_user(&mut self, id: UserId) {
        if let Some(slot) = self.slot_by_user.remove(&id) {
            self.users.remove(slot);
            self.roll.leave(id);
        }
        if self.slot_by_user.is_empty() {
            // Memory returns to its size before the crowd.
            self.slot_by_user.shrink_to_fit();
            self.users = Slots::default();
            self.leaving.shrink_to_fit();
        }
    }

    pub(crate) fn users(&mut self) -> impl Iterator<Item = &mut UserHere> {
        self.users.iter_mut()
    }

    pub(crate) fn mark_changed(&mut self, id: UserId) {
        if let Some(user) = self.user(id)
            && !std::mem::replace(&mut user.is_changed, true)
        {
            self.changed.push(id);
        }
    }

    /// Adds to `to` the user's sessions that receive an event of `position` now. For sessions with a pending
    /// snapshot it is held.
    pub(crate) fn plan(
        &mut self,
        id: UserId,
        position: Position,
        except: Option<SessionHandle>,
        delivery: &Delivery,
        to: &mut Handles,
    ) {
        let Some(slot) = self.slot_by_user.get(&id) else { return };
        let Some(user) = self.users.get_mut(*slot) else { return };
        for session in user.sessions.iter_mut().filter(|session| Some(session.handle) != except) {
            match session.state {
                State::Live if position.number > session.since => {
                    session.since = position.number;
                    to.push(session.handle);
                }
                State::Live | State::Behind => {}
                State::Starting | State::Resuming => {
                    self.held.entry(session.handle).or_default().push(delivery);
                }
            }
        }
    }

    /// Plans the delivery of an answer with a position to one session. Returns whether to deliver it now.
    pub(crate) fn plan_answer(&mut self, id: UserId, handle: SessionHandle, answer: &mut Delivery) -> bool {
        let Some(session) = self.session(id, handle) else { return false };
        match session.state {
            State::Live => session.advance(answer),
            State::Starting | State::Resuming => {
                self.held.entry(handle).or_default().push(answer);
                false
            }
            State::Behind => false,
        }
    }

    /// Sessions of a user that receive events that are not stored.
    pub(crate) fn live(&mut self, id: UserId, except: Option<SessionHandle>, to: &mut Handles) {
        let sessions = self.user(id).into_iter().flat_map(|user| &user.sessions);
        to.extend(
            sessions
                .filter(|session| session.state == State::Live && Some(session.handle) != except)
                .map(|session| session.handle),
        );
    }

    /// Starts or ends a session's watch of all its contacts.
    pub(crate) fn watch_contacts(&mut self, id: UserId, handle: SessionHandle, on: bool) {
        let Some(session) = self.session(id, handle) else { return };
        let watch = if on { ContactWatch::AsRead } else { ContactWatch::No };
        let before = std::mem::replace(&mut session.contacts, watch).is_on();
        self.watching_contacts = self.watching_contacts + usize::from(on) - usize::from(before);
    }

    pub(crate) fn anybody_watches_contacts(&self) -> bool {
        self.watching_contacts > 0
    }

    /// Removes the other data of a session that was removed.
    pub(crate) fn took_out(&mut self, session: &Session) {
        self.watching_contacts -= usize::from(session.contacts.is_on());
        self.held.remove(&session.handle);
        self.waiting.remove(&session.handle);
        if self.held.is_empty() {
            self.held.shrink_to_fit();
        }
    }

    /// Sessions of a user that receive the presence of its contacts now.
    pub(crate) fn contact_watchers(&mut self, id: UserId, to: &mut Watching) {
        let Some(user) = self.user(id) else { return };
        let watching = |session: &&Session| session.contacts.is_on() && session.state == State::Live;
        let handles = user.sessions.iter().filter(watching).map(|session| session.handle);
        if user.announced == OfAnnounced::None {
            return to.users.extend(handles);
        }
        for handle in handles.collect::<Handles>() {
            let is_announced = self.announced(id, handle).is_some();
            (if is_announced { &mut to.sessions } else { &mut to.users }).push(handle);
        }
    }

    /// Starts to hold events for a session before its snapshot is read. None: not allowed in the session's
    /// state.
    pub(crate) fn hold(&mut self, id: UserId, handle: SessionHandle) -> Option<Hold> {
        let session = self.session(id, handle)?;
        if !matches!(session.state, State::Live | State::Behind) {
            return None;
        }
        session.state = State::Resuming;
        self.holds = self.holds.wrapping_add(1).max(1);
        let hold = Hold(self.holds);
        self.held.insert(handle, Held { hold, ..Held::default() });
        Some(hold)
    }

    /// The snapshot has arrived, of `position`. False: no session waits for it any more.
    pub(crate) fn settle(
        &mut self,
        id: UserId,
        handle: SessionHandle,
        hold: Hold,
        position: Position,
    ) -> bool {
        let waits_for = self.held.get(&handle).map(|held| held.hold).unwrap_or_default();
        let Some(session) = self.session(id, handle) else { return false };
        if !matches!(session.state, State::Starting | State::Resuming) || waits_for != hold {
            return false;
        }
        session.since = position.number;
        // The welcome is sent now, and a client on the same machine can answer before the held events are
        // delivered. So its commands are accepted from here on.
        session.state = State::Resuming;
        true
    }

    /// Takes the held events. The session becomes live only when none is left, so that held events are
    /// delivered before new ones.
    pub(crate) fn release(&mut self, id: UserId, handle: SessionHandle) -> Released {
        let held = self.held.get_mut(&handle);
        let overflown = held.as_ref().is_some_and(|held| held.overflown);
        let events = held.map(|held| std::mem::take(&mut held.events)).unwrap_or_default();
        let Some(session) = self.session(id, handle) else { return Released::Gone };
        if !matches!(session.state, State::Starting | State::Resuming) {
            return Released::Gone;
        }
        if !events.is_empty() {
            let is_new = |mut delivery| session.advance(&mut delivery).then_some(delivery);
            return Released::Events(events.into_iter().filter_map(is_new).collect());
        }
        session.state = if overflown { State::Behind } else { State::Live };
        self.held.remove(&handle);
        if overflown { Released::Behind } else { Released::Live }
    }

    /// The read of the snapshot failed; the held events are lost. True: the session is behind now.
    pub(crate) fn abandon(&mut self, id: UserId, handle: SessionHandle, hold: Hold) -> bool {
        self.held.get(&handle).is_some_and(|held| held.hold == hold) && self.fall_behind(id, handle)
    }

    /// The session lacks data that no event will bring. True: send it `behind` now; a session with a pending
    /// snapshot gets it afterwards.
    pub(crate) fn load_anew(&mut self, id: UserId, handle: SessionHandle) -> bool {
        match self.session(id, handle).map(|session| session.state) {
            Some(State::Live) => self.fall_behind(id, handle),
            Some(State::Starting | State::Resuming) => {
                self.held.entry(handle).or_default().overflown = true;
                false
            }
            Some(State::Behind) | None => false,
        }
    }

    pub(crate) fn fall_behind(&mut self, id: UserId, handle: SessionHandle) -> bool {
        self.held.remove(&handle);
        match self.session(id, handle) {
            // Before the welcome, the session has no queue that could have been dropped.
            Some(session) if session.state != State::Starting => {
                session.state = State::Behind;
                true
            }
            _ => false,
        }
    }
}

impl Session {
    /// Notes the delivery of an event; false if the session has its content already. An answer is always
    /// delivered, because the client waits for it, but its position is never lower than the session's.
    fn advance(&mut self, delivery: &mut Delivery) -> bool {
        let is_answer = delivery.is_answer();
        let Some(position) = &mut delivery.position else { return true };
        let is_new = position.number > self.since;
        self.since = self.since.max(position.number);
        position.number = self.since;
        is_new || is_answer
    }
}

impl Held {
    fn push(&mut self, delivery: &Delivery) {
        if self.overflown {
            return;
        }
        if self.events.len() < MAX_HELD {
            self.events.push(delivery.clone());
        } else {
            self.overflown = true;
            self.events = Vec::new();
        }
    }
}

/// Fingerprint by which a device is recognised; never 0. Bans of devices store it, so it must never change:
/// FNV-1a. An attacker could only cause collisions among their own devices, or with a device whose random
/// name they know.
pub(crate) fn device_fingerprint(device: &DeviceId) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    device.as_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step).max(1)
}

/// Slots in chunks: growing copies nothing and leaves at most one chunk unused per shard.
#[derive(Default)]
struct Slots {
    chunks: Vec<Vec<Slot>>,
    free: Option<u32>,
}

enum Slot {
    Full(UserHere),
    Free { next: Option<u32> },
}

const CHUNK: usize = 16;

impl Slots {
    fn insert(&mut self, user: UserHere) -> u32 {
        if let Some(at) = self.free {
            let slot = &mut self.chunks[at as usize / CHUNK][at as usize % CHUNK];
            if let Slot::Free { next } = std::mem::replace(slot, Slot::Full(user)) {
                self.free = next;
            }
            return at;
        }
        if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        let chunk = self.chunks.len() - 1;
        self.chunks[chunk].push(Slot::Full(user));
        (chunk * CHUNK + self.chunks[chunk].len() - 1) as u32
    }

    fn get_mut(&mut self, at: u32) -> Option<&mut UserHere> {
        match self.chunks.get_mut(at as usize / CHUNK)?.get_mut(at as usize % CHUNK)? {
            Slot::Full(user) => Some(user),
            Slot::Free { .. } => None,
        }
    }

    fn remove(&mut self, at: u32) {
        if self.get_mut(at).is_some() {
            self.chunks[at as usize / CHUNK][at as usize % CHUNK] = Slot::Free { next: self.free };
            self.free = Some(at);
        }
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut UserHere> {
        self.chunks.iter_mut().flatten().filter_map(|slot| match slot {
            Slot::Full(user) => Some(user),
            Slot::Free { .. } => None,
        })
    }
}

/// For keys that are our own numbers (the store numbers users, a gateway its sessions). Outsiders cannot
/// choose them, so speed and a fixed order in tests matter more than secrecy.
#[derive(Default)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }
    fn write_u64(&mut self, number: u64) {
        // The finalizer of MurmurHash3: every bit of the key reaches every bit of the hash.
        let mut h = self.0.rotate_left(5) ^ number;
        h = (h ^ (h >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        h = (h ^ (h >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        self.0 = h ^ (h >> 33);
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SiteId;

    #[test]
    fn an_entry_stays_small() {
        assert_eq!(size_of::<Session>(), 32);
        assert!(size_of::<UserHere>() <= 96, "{}", size_of::<UserHere>());
        assert_eq!(size_of::<Slot>(), size_of::<UserHere>(), "a free slot is told by a niche");
    }

    #[test]
    fn slots_are_reused_and_memory_is_returned() {
        let mut shard = Shard::default();
        let id = |num| UserId { site: SiteId(1), num };
        for num in 0..1000 {
            shard.user_or_insert(id(num), || here(id(num)));
        }
        for num in 0..500 {
            shard.remove_user(id(num));
        }
        for num in 1000..1500 {
            shard.user_or_insert(id(num), || here(id(num)));
        }
        assert_eq!(shard.users.chunks.len(), 1000usize.div_ceil(CHUNK));
        assert!((500..1500).all(|num| shard.user(id(num)).is_some_and(|user| user.id == id(num))));
        assert!((0..500).all(|num| shard.user(id(num)).is_none()));
        (500..1500).for_each(|num| shard.remove_user(id(num)));
        assert_eq!((shard.users.chunks.capacity(), shard.slot_by_user.capacity()), (0, 0));
    }

    fn here(id: UserId) -> UserHere {
        UserHere {
            id,
            sub: Sub::parse("u").expect("one letter is a sub"),
            sessions: SmallVec::new(),
            sends: Due::default(),
            commands: Due::default(),
            seen: 0,
            chosen: SetPresence::Online,
            published: Presence::Offline,
            announced: OfAnnounced::None,
            is_changed: false,
            has_left: false,
            guest: false,
            standing: StandingHere::default(),
            privacy: Privacy::default(),
        }
    }
}

//! Adoption: sessions move to this node while their connections stay, because their node was replaced or has
//! crashed.
//!
//! A session that has missed nothing continues without an event. A session that has missed something is
//! *behind*, and its client resumes. Commands that arrive before the session is in the table wait for it.

use crate::session::Event;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::account::app_passwords::are_allowed;
use crate::session::record::{SessionRecord, Taken};
use crate::session::{Completion, ContactWatch, Hold, Session, Shard, SignedInBy, StandingHere, State};
use crate::sign_in::SignIn;
use crate::site::live::LiveSite;
use crate::{Position, Refusal, Request, SessionHandle, SessionId, Sub, Timestamp, UserId, UserRow};

/// Sessions whose users are read together.
const READ_TOGETHER: usize = 256;
/// Commands of one session that wait for its adoption; more are refused.
const MOST_WAITING: usize = 64;
/// Sessions that get the presence of their watched users again in one tick.
const PRESENCE_PER_TICK: usize = 500;

/// Sessions in adoption, and adopted sessions that watch users.
#[derive(Default)]
pub(crate) struct Adoptions {
    waiting: Mutex<WaitingBySession>,
    /// The number of sessions in `waiting`: nearly always 0.
    count: AtomicUsize,
    /// Adopted sessions whose changes are being read.
    looking: AtomicUsize,
    /// Sessions with watches, and the time at which each gets the presence again; ascending.
    watching: Mutex<VecDeque<(Timestamp, SessionId)>>,
    /// The node takes the place of another one, whose sessions come within the grace time after the first tick.
    are_expected: AtomicBool,
    /// The end of that time; 0 before the first tick.
    expected_until: AtomicU64,
}

type WaitingBySession = HashMap<SessionHandle, VecDeque<Waiting>>;

/// A gateway's call for a session that is not adopted yet.
pub(crate) enum Waiting {
    Request(Request, Timestamp),
    /// Contacts or not, and users by name.
    WatchAgain(bool, Vec<Sub>, Timestamp),
    Behind,
    /// On purpose or not.
    Disconnected(bool, Timestamp),
}

/// Whether events may have passed by an adopted session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missed {
    Unknown,
    Nothing,
}

/// An adopted session whose events are held until it is known whether it has missed some.
struct Unsettled {
    session: SessionId,
    seen: Position,
    hold: Hold,
}

/// Carries out the commands that have waited for an adoption.
pub(crate) trait AdoptionObserver: Send + Sync + 'static {
    fn carry_out(self: Arc<Self>, session: SessionId, request: Request, now: Timestamp);
}

impl SignIn {
    /// Takes all sessions out of this node. See [`Node::release`](crate::Node::release).
    pub(crate) fn release_sessions(self: &Arc<Self>, now: Timestamp) -> Vec<SessionRecord> {
        self.stop();
        self.presences.end_all_grace(now);
        let all = self.sessions.all();
        let watched: Vec<_> =
            all.iter().map(|taken| self.presences.watched_by(taken.session.handle)).collect();
        let in_rooms: Vec<bool> =
            all.iter().map(|taken| self.rooms.is_in_a_room(taken.session.handle)).collect();
        // Calls end while both sides can still receive the event.
        for taken in &all {
            self.calls.call_lost(taken.session, true, now);
        }
        for taken in &all {
            self.sessions.remove_session(taken.session, false, now);
        }
        let mut records = Vec::with_capacity(all.len());
        for ((taken, watched), in_a_room) in all.into_iter().zip(watched).zip(in_rooms) {
            match taken.state {
                State::Starting => {
                    self.sessions.bye(taken.session.handle, Refusal::GoingAway { retry_after_ms: 0 });
                }
                State::Live | State::Behind | State::Resuming => {
                    records.push(SessionRecord { has_entered: in_a_room, ..self.record(&taken, watched) });
                }
            }
        }
        records
    }

    /// Takes the sessions of one front out of this node. See [`Node::release_front`](crate::Node::release_front).
    pub(crate) fn release_front(self: &Arc<Self>, front: u8, now: Timestamp) -> Vec<SessionRecord> {
        self.adoptions.forget_front(front);
        let mut records = Vec::new();
        for taken in self.sessions.all_of_front(front) {
            let watched = self.presences.watched_by(taken.session.handle);
            let in_a_room = self.rooms.is_in_a_room(taken.session.handle);
            if !self.sessions.remove_session(taken.session, false, now) || taken.state == State::Starting {
                continue;
            }
            records.push(SessionRecord { has_entered: in_a_room, ..self.record(&taken, watched) });
        }
        records
    }

    /// Writes the sessions down without an end. See [`Node::write_down`](crate::Node::write_down).
    pub(crate) fn write_down(&self) -> Vec<SessionRecord> {
        let settled = self.sessions.all().into_iter().filter(|taken| taken.state != State::Starting);
        let record = |taken: Taken| {
            let watched = self.presences.watched_by(taken.session.handle);
            let has_entered = self.rooms.is_in_a_room(taken.session.handle);
            SessionRecord { has_entered, ..self.record(&taken, watched) }
        };
        settled.map(record).collect()
    }

    fn record(&self, taken: &Taken, watched: Vec<UserId>) -> SessionRecord {
        let site = self.sites.by_id(taken.session.user.site);
        let key = site.as_deref().and_then(|site| site.key_in(taken.by.slot())).unwrap_or_default();
        SessionRecord {
            session: taken.session,
            device: taken.device,
            seen: taken.seen,
            ends: Timestamp(u64::from(taken.by.ends()) * 1000),
            key: key.into(),
            app_password: taken.by.password(),
            watches_contacts: taken.watches_contacts,
            announced: taken.announced.clone(),
            watched,
            is_behind: taken.state != State::Live,
            has_entered: false,
        }
    }

    /// Brings sessions of another node into this one. See [`Node::adopt`](crate::Node::adopt).
    pub(crate) fn adopt(self: &Arc<Self>, records: Vec<SessionRecord>, now: Timestamp) {
        self.adoptions.begin(&records);
        self.adopt_some(records.into_iter(), Missed::Unknown, now, Box::new(|| {}));
    }

    /// See [`Node::continue_sessions`](crate::Node::continue_sessions).
    pub(crate) fn continue_sessions(
        self: &Arc<Self>,
        records: Vec<SessionRecord>,
        now: Timestamp,
        then: impl FnOnce() + Send + 'static,
    ) {
        self.adoptions.begin(&records);
        self.adopt_some(records.into_iter(), Missed::Nothing, now, Box::new(then));
    }

    fn adopt_some(
        self: &Arc<Self>,
        mut rest: std::vec::IntoIter<SessionRecord>,
        missed: Missed,
        now: Timestamp,
        then: Box<dyn FnOnce() + Send>,
    ) {
        let some: Vec<SessionRecord> = rest.by_ref().take(READ_TOGETHER).collect();
        if some.is_empty() {
            return then();
        }
        let mut users: Vec<UserId> = some.iter().map(|record| record.session.user).collect();
        users.sort_unstable();
        users.dedup();
        let merges = self.account.merge_count();
        let done = self.then::<Vec<UserRow>>(move |this, rows| {
            let none = if rows.is_err() { Refusal::Unavailable } else { Refusal::NoSession };
            let rows = rows.unwrap_or_default();
            let by_id: HashMap<UserId, &UserRow> = rows.iter().map(|row| (row.id, row)).collect();
            let passwords = some.iter().filter_map(|one| Some((one.session.user, one.app_password?)));
            let passwords = passwords.collect();
            let mut unsettled = Vec::new();
            for record in &some {
                match by_id.get(&record.session.user) {
                    Some(row) => unsettled.extend(this.adopt_one(record, row, (merges, missed), now)),
                    None => this.not_adopted(record.session, none),
                }
            }
            // Before the commands of these sessions: what they change would count as missed.
            this.look_for_changes(unsettled);
            for record in &some {
                this.carry_out_waiting(record.session);
            }
            // Now that their sessions are in the table: a later revocation finds them there.
            this.account.end_missing_app_passwords(passwords, now);
            this.adopt_some(rest, missed, now, then);
        });
        self.store.users_by_id(users, done);
    }

    /// Answers the session if it must be known whether it has missed something.
    fn adopt_one(
        self: &Arc<Self>,
        record: &SessionRecord,
        row: &UserRow,
        (merges, missed): (u64, Missed),
        now: Timestamp,
    ) -> Option<Unsettled> {
        let session = record.session;
        let Some(site) = self.sites.by_id(session.user.site) else {
            self.not_adopted(session, Refusal::NoSuchSite);
            return None;
        };
        let is_key_gone = !record.key.is_empty() && site.slot_of(&record.key) == 0;
        let entered = match is_key_gone {
            true => Err(Refusal::KeyEnded),
            false => self.enter_table(&site, row, record, (merges, missed), now),
        };
        let hold = match entered {
            Ok(hold) => hold,
            Err(Refusal::Banned) => {
                self.adoptions.end(session.handle);
                self.moderation.refuse_banned(session.handle, row.id);
                return None;
            }
            Err(refusal) => {
                self.not_adopted(session, refusal);
                return None;
            }
        };
        self.presences.adopt_watches(
            site.site.mode,
            session,
            record.watches_contacts,
            record.watched.clone(),
        );
        if record.watches_contacts || !record.watched.is_empty() {
            self.repeat_presence_later(session, now);
        }
        if record.is_behind || record.has_entered {
            self.sessions.lock(session.user).fall_behind(session.user, session.handle);
            self.sessions.send(session.handle, Event::Behind);
            return None;
        }
        let unsettled = Unsettled { session, seen: record.seen, hold: hold? };
        match missed {
            Missed::Unknown => Some(unsettled),
            Missed::Nothing => {
                self.continue_live(&unsettled, record.seen);
                None
            }
        }
    }

    /// Does what gateways have called for since the record of the session came.
    fn carry_out_waiting(self: &Arc<Self>, session: SessionId) {
        while let Some(waiting) = self.adoptions.next(session.handle) {
            match waiting {
                Waiting::Request(request, at) => {
                    if let Some(observer) = self.adoption_observer.get() {
                        observer.carry_out(session, request, at);
                    }
                }
                Waiting::WatchAgain(contacts, users, at) => self.watch_again(session, contacts, users, at),
                Waiting::Behind => self.behind(session),
                Waiting::Disconnected(on_purpose, at) => self.disconnected(session, on_purpose, at),
            }
        }
    }

    /// Adds an adopted session to the table, and starts to hold its events. Within the time in which sessions are expected, watchers
    /// have the user as present already, so nothing is published. A user who comes later has left for them.
    fn enter_table(
        self: &Arc<Self>,
        site: &LiveSite,
        row: &UserRow,
        record: &SessionRecord,
        (merges, missed): (u64, Missed),
        now: Timestamp,
    ) -> Result<Option<Hold>, Refusal> {
        let session = record.session;
        if record.app_password.is_some() {
            are_allowed(&site.site.settings)?;
        }
        let standing = self.may_enter(site, row, record.device, now)?;
        let ends = u32::try_from(record.ends.0.div_ceil(1000)).unwrap_or(u32::MAX);
        let token = SignedInBy::token(ends, site.slot_of(&record.key));
        let new = Session {
            handle: session.handle,
            device: record.device,
            since: record.seen.number,
            by: record.app_password.map_or(token, SignedInBy::app_password),
            state: State::Live,
            contacts: ContactWatch::No,
            is_waiting: false,
        };
        let limit = self.config.limits.sessions_per_user;
        let mut shard = self.sessions.lock(row.id);
        // The row may be from before this guest became a member, as in `register`.
        let refusal = match row.profile.guest && self.account.merge_count() != merges {
            true => Some(Refusal::Unavailable),
            false => shard.no_place_for(row.id, record.device, limit),
        };
        if let Some(refusal) = refusal {
            drop(shard);
            site.counters.leave();
            return Err(refusal);
        }
        let is_known = missed == Missed::Nothing || self.adoptions.is_expected_at(self.sessions.last_tick());
        let (is_first, hold) = shard.begin_adopted(row, standing, new, limit, is_known);
        if let Some(announced) = &record.announced {
            shard.announce(row.id, session.handle, announced.clone());
            // Watchers have the session's availability already.
            drop(shard.publish(row.id, now));
        }
        drop(shard);
        self.counters.sessions.add(1);
        self.counters.users_online.add(is_first.into());
        Ok(hold)
    }

    /// Finds out which sessions have missed events of the old node. This node's events for all of them are held already.
    fn look_for_changes(self: &Arc<Self>, mut unsettled: Vec<Unsettled>) {
        unsettled.retain(|one| {
            let known = self.resume_from(one.session.user.site, Some(one.seen)).position;
            if known.is_none() {
                self.load_anew(one);
            }
            known.is_some()
        });
        if unsettled.is_empty() {
            return;
        }
        self.sessions.wait_for_publishing();
        self.adoptions.looking.fetch_add(unsettled.len(), Ordering::Relaxed);
        let views = unsettled.iter().map(|one| (one.session.user, one.seen)).collect();
        let done = self.then::<(Vec<bool>, Position)>(move |this, read| {
            this.adoptions.looking.fetch_sub(unsettled.len(), Ordering::Relaxed);
            let (changed, position) = read.unwrap_or_default();
            for (at, one) in unsettled.iter().enumerate() {
                match changed.get(at) {
                    Some(false) => this.continue_live(one, position),
                    // Without an answer it may have missed something.
                    Some(true) | None => this.load_anew(one),
                }
            }
        });
        self.store.changed_views(views, done);
    }

    /// The session has everything up to this position. It gets the held events, and then all others.
    fn continue_live(&self, one: &Unsettled, position: Position) {
        if self.settle(one.session, one.hold, position).is_some() {
            self.release(one.session);
        }
    }

    /// The session has missed something, or may have.
    fn load_anew(&self, one: &Unsettled) {
        let session = one.session;
        let is_behind = self.sessions.lock(session.user).abandon(session.user, session.handle, one.hold);
        if is_behind {
            self.counters.behind.add(1);
            self.sessions.send(session.handle, Event::Behind);
        }
    }

    /// Sessions that are being adopted now: they wait for their users, or for their changes.
    pub(crate) fn adopting(&self) -> usize {
        self.adoptions.count.load(Ordering::Acquire) + self.adoptions.looking.load(Ordering::Relaxed)
    }

    fn not_adopted(&self, session: SessionId, refusal: Refusal) {
        self.adoptions.end(session.handle);
        self.sessions.bye(session.handle, refusal);
    }

    /// Queues a gateway's call for a session in adoption, and answers None. Otherwise gives it back.
    pub(crate) fn wait_for_adoption(&self, session: SessionId, waiting: Waiting) -> Option<Waiting> {
        if self.adoptions.count.load(Ordering::Acquire) == 0 {
            return Some(waiting);
        }
        let mut sessions = self.adoptions.waiting();
        let Some(queue) = sessions.get_mut(&session.handle) else { return Some(waiting) };
        match waiting {
            Waiting::Request(request, _) if queue.len() >= MOST_WAITING => {
                drop(sessions);
                let refusal = Refusal::RateLimited { retry_after_ms: 1000 };
                self.sessions.refuse(session.handle, request.answer_to(), refusal);
            }
            Waiting::Request(..) | Waiting::WatchAgain(..) | Waiting::Behind | Waiting::Disconnected(..) => {
                queue.push_back(waiting)
            }
        }
        None
    }

    /// Restores the watch of an adopted session. See [`Node::watch_again`](crate::Node::watch_again).
    pub(crate) fn watch_again(
        self: &Arc<Self>,
        session: SessionId,
        contacts: bool,
        users: Vec<Sub>,
        now: Timestamp,
    ) {
        let Some(site) = self.sites.by_id(session.user.site) else { return };
        let this = self.clone();
        self.presences.watch_again(site.site.mode, session, contacts, users, move || {
            this.repeat_presence_later(session, now.max(this.sessions.last_tick()));
        });
    }

    /// After the grace time, the sessions of the watched users are adopted, too, or have ended.
    fn repeat_presence_later(&self, session: SessionId, now: Timestamp) {
        let due = Timestamp(now.0 + self.config.presence_grace_ms);
        self.adoptions.watching().push_back((due, session));
    }

    /// See [`Node::expect_adoptions`](crate::Node::expect_adoptions).
    pub(crate) fn expect_adoptions(&self) {
        self.adoptions.are_expected.store(true, Ordering::Relaxed);
    }

    /// A session begins to watch. While adoptions are expected, the answer may lack users who are adopted later.
    pub(crate) fn note_watch(&self, session: SessionId, now: Timestamp) {
        if self.adoptions.are_expected.load(Ordering::Relaxed) && self.adoptions.is_expected_at(now) {
            self.repeat_presence_later(session, now);
        }
    }

    /// Repeats presence, because changes during the move may have been lost.
    pub(crate) fn repeat_presence(self: &Arc<Self>, now: Timestamp) {
        let (until, latest) = (&self.adoptions.expected_until, now.0 + self.config.presence_grace_ms);
        // A later time than possible: the clock was set back.
        if until.load(Ordering::Relaxed) == 0 || until.load(Ordering::Relaxed) > latest {
            until.store(latest, Ordering::Relaxed);
        }
        let mut watching = self.adoptions.watching();
        let is_due = |due: Timestamp| due <= now || due.0 > latest;
        let due = std::iter::from_fn(|| watching.pop_front_if(|(due, _)| is_due(*due)));
        let due: Vec<SessionId> = due.take(PRESENCE_PER_TICK).map(|(_, session)| session).collect();
        drop(watching);
        let mode = |session: SessionId| Some((self.sites.by_id(session.user.site)?.site.mode, session));
        self.presences.answer_watched_of(&due.into_iter().filter_map(mode).collect::<Vec<_>>());
    }
}

impl Adoptions {
    fn begin(&self, records: &[SessionRecord]) {
        let mut waiting = self.waiting();
        waiting.extend(records.iter().map(|record| (record.session.handle, VecDeque::new())));
        self.count.store(waiting.len(), Ordering::Release);
    }

    fn is_expected_at(&self, now: Timestamp) -> bool {
        let until = self.expected_until.load(Ordering::Relaxed);
        until == 0 || now.0 < until
    }

    /// The next queued call. None: the queue is empty, and later calls do not wait any more.
    fn next(&self, session: SessionHandle) -> Option<Waiting> {
        let mut waiting = self.waiting();
        let next = waiting.get_mut(&session)?.pop_front();
        if next.is_none() {
            self.remove(&mut waiting, session);
        }
        next
    }

    /// Drops what waits for sessions of a front that is gone.
    fn forget_front(&self, front: u8) {
        if self.count.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut waiting = self.waiting();
        for (_, queue) in waiting.iter_mut().filter(|(handle, _)| handle.front() == front) {
            queue.clear();
            // The session ends as soon as it is adopted.
            queue.push_back(Waiting::Disconnected(false, Timestamp::default()));
        }
    }

    fn end(&self, session: SessionHandle) {
        self.remove(&mut self.waiting(), session);
    }

    fn remove(&self, waiting: &mut WaitingBySession, session: SessionHandle) {
        waiting.remove(&session);
        self.count.store(waiting.len(), Ordering::Release);
        if waiting.is_empty() {
            waiting.shrink_to_fit();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, WaitingBySession> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watching(&self) -> MutexGuard<'_, VecDeque<(Timestamp, SessionId)>> {
        self.watching.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    /// The reason why an adopted session has no place beside the user's sessions here. It ends none of them, because they may be newer:
    /// a front can bring its sessions late, after their clients have signed in elsewhere.
    fn no_place_for(&mut self, user: UserId, device: u64, limit: u32) -> Option<Refusal> {
        let user = self.user(user)?;
        if user.sessions.iter().any(|session| session.device == device) {
            // If both are adopted, nobody knows which one its client uses. That client signs in again, and replaces the other session.
            return Some(Refusal::GoingAway { retry_after_ms: 0 });
        }
        let is_full = limit > 0 && user.sessions.len() >= limit as usize;
        is_full.then_some(Refusal::Replaced)
    }

    /// Adds a session for which there is a place, and holds its events. `is_known`: watchers have the user as present. Answers
    /// whether it is the user's first.
    fn begin_adopted(
        &mut self,
        row: &UserRow,
        standing: StandingHere,
        new: Session,
        limit: u32,
        is_known: bool,
    ) -> (bool, Option<Hold>) {
        let handle = new.handle;
        self.begin(row, standing, new, limit);
        let hold = self.hold(row.id, handle);
        let Some(user) = self.user(row.id) else { return (false, None) };
        if is_known {
            user.is_published();
        }
        (user.sessions.len() == 1, hold)
    }
}

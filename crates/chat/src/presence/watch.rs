//! Watches: the users whose presence a session displays.

use crate::presence::Event;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;

use crate::command::AnswerTo;
use crate::presence::Presences;
use crate::privacy::{Audience, Privacy, Signal, Visibility};
use crate::session::{Asker, Completion, Handles, NumberHasher, State, Watching};
use crate::{
    Mode, Presence, Refusal, Relation, SessionHandle, SessionId, SiteId, Sub, Timestamp, UserId, UserRow,
    Viewpoint,
};

const SHARDS: usize = 32;
/// Watches of a site from another node whose users are looked up together, and the most names of a look-up. A front brings all of its watches at
/// once, and two reads for each of them would be most of the work of an adoption.
const RESTORED_TOGETHER: (usize, usize) = (256, 4_096);
/// Look-ups at the same time; others wait. They must not fill the store's queue.
const RESTORED_AT_ONCE: usize = 4;
/// Sessions whose watched users are read together, when their presence is repeated.
const ANSWERED_TOGETHER: usize = 32;

/// Watches from another node.
#[derive(Default)]
pub(crate) struct Restores {
    /// At most one for each adopted session.
    waiting: BTreeMap<SiteId, VecDeque<Restore>>,
    /// Look-ups under way.
    running: usize,
    /// A thread is beginning look-ups. It also begins those that become possible meanwhile.
    is_beginning: bool,
}

impl Restores {
    /// Those of one site that are looked up together. Empty: none waits.
    fn next(&mut self) -> Vec<Restore> {
        let Some(mut of_site) = self.waiting.first_entry() else { return Vec::new() };
        let waiting = of_site.get_mut();
        let (mut next, mut names): (Vec<Restore>, usize) = (Vec::new(), 0);
        let (most, most_names) = RESTORED_TOGETHER;
        while next.len() < most
            && let Some(one) =
                waiting.pop_front_if(|one| next.is_empty() || names + one.users.len() <= most_names)
        {
            names += one.users.len();
            next.push(one);
        }
        if waiting.is_empty() {
            of_site.remove();
        }
        next
    }
}

struct Restore {
    mode: Mode,
    session: SessionId,
    order: Order,
    users: Vec<Sub>,
    then: Box<dyn FnOnce() + Send>,
}

/// Both directions: from a session to its watched users, and from a user to the watching sessions. A
/// session's shard is locked first, then a watched user's shard within that lock.
pub(crate) struct Watches {
    by_session: Box<[Mutex<Numbered<SessionHandle, Watched>>]>,
    by_watched: Box<[Mutex<Numbered<UserId, Watchers>>]>,
    orders: AtomicU64,
}

type Numbered<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

type Watchers = SmallVec<[Watcher; 2]>;

/// The watches of a session.
struct Watched {
    /// The newest `watch` of the session: an earlier one with a pending look-up is dropped.
    order: Order,
    users: Box<[UserId]>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Order(u64);

#[derive(Clone, Copy, PartialEq, Eq)]
struct Watcher {
    session: SessionId,
    /// The watcher may see the user. Entries without permission are kept, because that changes.
    may_see: bool,
}

/// The part of a user's presence that another user may see.
#[derive(Clone, Copy)]
struct Sight {
    presence: bool,
    last_seen: bool,
}

impl Sight {
    const NOTHING: Sight = Sight { presence: false, last_seen: false };
}

fn sight(mode: Mode, viewer: Viewpoint, privacy: Privacy) -> Sight {
    let of = Visibility { privacy, ..Visibility::default() };
    let sends = |signal| of.sends(signal, mode, viewer);
    Sight { presence: sends(Signal::Presence), last_seen: sends(Signal::LastSeen) }
}

impl Watches {
    pub(crate) fn new() -> Watches {
        Watches {
            by_session: (0..SHARDS).map(|_| Mutex::default()).collect(),
            by_watched: (0..SHARDS).map(|_| Mutex::default()).collect(),
            orders: AtomicU64::new(0),
        }
    }

    fn order(&self, session: SessionHandle) -> Order {
        let order = Order(self.orders.fetch_add(1, Ordering::Relaxed));
        let mut sessions = lock(&self.by_session, &session);
        sessions.entry(session).or_insert_with(|| Watched { order, users: Box::default() }).order = order;
        order
    }

    /// Replaces the watches of the session; false if a newer `watch` has come.
    fn replace(&self, session: SessionId, order: Order, users: &[(UserId, bool)]) -> bool {
        let mut sessions = lock(&self.by_session, &session.handle);
        let Some(watched) = sessions.get_mut(&session.handle) else { return false };
        if watched.order != order {
            return false;
        }
        let new = users.iter().map(|(user, _)| *user).collect();
        let old = std::mem::replace(&mut watched.users, new);
        old.iter().for_each(|user| self.unwatch(session.handle, *user));
        for &(user, may_see) in users {
            lock(&self.by_watched, &user).entry(user).or_default().push(Watcher { session, may_see });
        }
        true
    }

    /// Removes the watches of an ended session.
    pub(crate) fn forget(&self, session: SessionHandle) {
        let mut sessions = lock(&self.by_session, &session);
        if let Some(watched) = sessions.remove(&session) {
            watched.users.iter().for_each(|user| self.unwatch(session, *user));
            shrink(&mut sessions);
        }
    }

    fn unwatch(&self, session: SessionHandle, user: UserId) {
        let mut watchers_by_user = lock(&self.by_watched, &user);
        if let Some(watchers) = watchers_by_user.get_mut(&user) {
            watchers.retain(|watcher| watcher.session.handle != session);
            if watchers.is_empty() {
                watchers_by_user.remove(&user);
                shrink(&mut watchers_by_user);
            }
        }
    }

    /// The watching sessions that may see the user.
    pub(crate) fn watchers_of(&self, user: UserId) -> SmallVec<[SessionId; 4]> {
        let watchers_by_user = lock(&self.by_watched, &user);
        let watchers = watchers_by_user.get(&user).into_iter().flatten();
        watchers.filter(|watcher| watcher.may_see).map(|watcher| watcher.session).collect()
    }

    /// All watchers, including those who may not see the user; each once.
    fn all_watchers_of(&self, user: UserId) -> Vec<UserId> {
        let watchers_by_user = lock(&self.by_watched, &user);
        let watchers = watchers_by_user.get(&user).into_iter().flatten();
        let mut users: Vec<UserId> = watchers.map(|watcher| watcher.session.user).collect();
        users.sort_unstable();
        users.dedup();
        users
    }

    pub(crate) fn watched_by(&self, session: SessionHandle) -> Box<[UserId]> {
        let sessions = lock(&self.by_session, &session);
        sessions.get(&session).map(|watched| watched.users.clone()).unwrap_or_default()
    }

    /// Sets the permission; answers the sessions of `watcher` for which it changes.
    fn set_may_see(&self, watcher: UserId, watched: UserId, may_see: bool) -> Handles {
        let mut watchers_by_user = lock(&self.by_watched, &watched);
        let watchers = watchers_by_user.get_mut(&watched).into_iter().flatten();
        watchers
            .filter(|entry| entry.session.user == watcher && entry.may_see != may_see)
            .map(|entry| {
                entry.may_see = may_see;
                entry.session.handle
            })
            .collect()
    }
}

fn lock<'a, K: Hash, V>(shards: &'a [Mutex<Numbered<K, V>>], key: &K) -> MutexGuard<'a, Numbered<K, V>> {
    let mut hasher = NumberHasher::default();
    key.hash(&mut hasher);
    let shard = &shards[(hasher.finish() >> 40) as usize % shards.len()];
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

fn shrink<K: Eq + Hash, V>(table: &mut Numbered<K, V>) {
    if table.len() < table.capacity() / 8 {
        table.shrink_to(table.len() * 2);
    }
}

impl Presences {
    /// Replaces the watches of the session, and answers the current presence of each user.
    pub(crate) fn watch(self: &Arc<Self>, asker: Asker, contacts: bool, mut subs: Vec<Sub>) {
        let session = asker.session;
        if subs.len() > self.config.limits.watch as usize {
            return self.sessions.refuse(session.handle, AnswerTo::Session, Refusal::BadValue);
        }
        self.watch_contacts(session, contacts);
        subs.retain(|sub| *sub != asker.sub);
        subs.sort_unstable();
        subs.dedup();
        if subs.is_empty() {
            return self.watches.forget(session.handle);
        }
        let order = self.watches.order(session.handle);
        let this = self.clone();
        self.users.with_users(session.user, subs, move |rows| {
            let Ok(rows) = rows else {
                return this.sessions.refuse(session.handle, AnswerTo::Session, Refusal::Unavailable);
            };
            let ids: Vec<UserId> = rows.iter().map(|row| row.id).collect();
            let watcher = this.clone();
            this.users.with_relations(session.user, &ids, move |relations| match relations {
                Ok(relations) => watcher.begin_watching(&asker, order, &rows, &relations),
                Err(_) => watcher.sessions.refuse(session.handle, AnswerTo::Session, Refusal::Unavailable),
            });
        });
    }

    fn begin_watching(&self, asker: &Asker, order: Order, rows: &[Arc<UserRow>], relations: &[Relation]) {
        let session = asker.session;
        let mode = asker.site.site.mode;
        let sight =
            |row: &UserRow, relation: Relation| sight(mode, relation.a_views_b(), self.users.privacy_of(row));
        let users: Vec<(UserId, bool)> = rows
            .iter()
            .zip(relations)
            .map(|(row, relation)| (row.id, sight(row, *relation).presence))
            .collect();
        if !self.watches.replace(session, order, &users) {
            return;
        }
        // The session may have ended before its watches existed and could be removed.
        if self.sessions.lock(session.user).session(session.user, session.handle).is_none() {
            return self.watches.forget(session.handle);
        }
        for ((row, relation), (user, was_read)) in rows.iter().zip(relations).zip(users) {
            // The relation may have changed after the read and before this watch was visible to others.
            let now = sight(row, self.users.recent().relation(session.user, user).unwrap_or(*relation));
            if now.presence != was_read {
                self.watches.set_may_see(session.user, user, now.presence);
            }
            self.send_sight(mode, session.handle, row, now);
        }
    }

    /// Restores the session's watches from another node. It gets no presence now:
    /// [`answer_watched`](Self::answer_watched) comes later.
    pub(crate) fn adopt_watches(
        self: &Arc<Self>,
        mode: Mode,
        session: SessionId,
        contacts: bool,
        watched: Vec<UserId>,
    ) {
        self.sessions.lock(session.user).watch_contacts(session.user, session.handle, contacts);
        if watched.is_empty() {
            return;
        }
        let order = self.watches.order(session.handle);
        let done = self.then::<Vec<UserRow>>(move |this, rows| match rows {
            Ok(rows) => this.watch_silently(mode, session, order, rows.into_iter().map(Arc::new).collect()),
            Err(_) => this.cannot_watch(session),
        });
        self.store.users_by_id(watched, done);
    }

    /// [`adopt_watches`](Self::adopt_watches), with the users by name. `then` is called once, perhaps on a thread of the store.
    pub(crate) fn watch_again(
        self: &Arc<Self>,
        mode: Mode,
        session: SessionId,
        contacts: bool,
        mut users: Vec<Sub>,
        then: impl FnOnce() + Send + 'static,
    ) {
        // Before the look-up, so that no change of a contact is missed during it.
        self.sessions.lock(session.user).watch_contacts(session.user, session.handle, contacts);
        if users.is_empty() {
            self.watches.forget(session.handle);
            return then();
        }
        users.sort_unstable();
        users.dedup();
        // Now, so that a later `watch` of the client counts, whenever the look-up ends.
        let order = self.watches.order(session.handle);
        let restore = Restore { mode, session, order, users, then: Box::new(then) };
        self.restores().waiting.entry(session.user.site).or_default().push_back(restore);
        self.restore_waiting();
    }

    fn restore_waiting(self: &Arc<Self>) {
        if std::mem::replace(&mut self.restores().is_beginning, true) {
            return;
        }
        loop {
            let mut restores = self.restores();
            let next = if restores.running < RESTORED_AT_ONCE { restores.next() } else { Vec::new() };
            if next.is_empty() {
                restores.is_beginning = false;
                return;
            }
            restores.running += 1;
            drop(restores);
            self.restore(next);
        }
    }

    /// `all`: of one site.
    fn restore(self: &Arc<Self>, all: Vec<Restore>) {
        let Some(of_site) = all.first().map(|one| one.session.user) else { return };
        let names: HashSet<&Sub> = all.iter().flat_map(|one| &one.users).collect();
        let names = names.into_iter().cloned().collect();
        let this = self.clone();
        self.users.with_users(of_site, names, move |rows| {
            let Ok(rows) = rows else { return this.end_restores(all, false) };
            let by_name: HashMap<&Sub, &Arc<UserRow>> =
                rows.iter().map(|row| (&row.profile.sub, row)).collect();
            let watched = |one: &Restore| -> Vec<Arc<UserRow>> {
                let known = one.users.iter().filter_map(|name| by_name.get(name).copied());
                known.filter(|row| row.id != one.session.user).cloned().collect()
            };
            let watched: Vec<Vec<Arc<UserRow>>> = all.iter().map(watched).collect();
            let pairs: Vec<[UserId; 2]> = all
                .iter()
                .zip(&watched)
                .flat_map(|(one, rows)| rows.iter().map(|row| [one.session.user, row.id]))
                .collect();
            let watcher = this.clone();
            this.users.with_relations_of(pairs.iter().copied(), move |relations| {
                if let Ok(relations) = &relations {
                    let mut rest = &relations[..];
                    for (one, rows) in all.iter().zip(&watched) {
                        let (relations, others) = rest.split_at(rows.len());
                        rest = others;
                        watcher.take_watches(one.mode, one.session, one.order, rows, relations);
                    }
                }
                watcher.end_restores(all, relations.is_ok());
            });
        });
    }

    /// A look-up has ended.
    fn end_restores(self: &Arc<Self>, all: Vec<Restore>, succeeded: bool) {
        for one in all {
            if !succeeded {
                self.cannot_watch(one.session);
            }
            (one.then)();
        }
        self.restores().running -= 1;
        self.restore_waiting();
    }

    /// Begins to watch without an answer.
    fn watch_silently(
        self: &Arc<Self>,
        mode: Mode,
        session: SessionId,
        order: Order,
        rows: Vec<Arc<UserRow>>,
    ) {
        let ids: Vec<UserId> = rows.iter().map(|row| row.id).collect();
        let watcher = self.clone();
        self.users.with_relations(session.user, &ids, move |relations| match relations {
            Ok(relations) => watcher.take_watches(mode, session, order, &rows, &relations),
            Err(_) => watcher.cannot_watch(session),
        });
    }

    fn take_watches(
        &self,
        mode: Mode,
        session: SessionId,
        order: Order,
        rows: &[Arc<UserRow>],
        relations: &[Relation],
    ) {
        let may_see = |row: &UserRow, relation: &Relation| {
            let newest = self.users.recent().relation(session.user, row.id).unwrap_or(*relation);
            sight(mode, newest.a_views_b(), self.users.privacy_of(row)).presence
        };
        let users: Vec<(UserId, bool)> =
            rows.iter().zip(relations).map(|(row, relation)| (row.id, may_see(row, relation))).collect();
        if self.watches.replace(session, order, &users)
            && self.sessions.lock(session.user).session(session.user, session.handle).is_none()
        {
            self.watches.forget(session.handle);
        }
    }

    fn restores(&self) -> MutexGuard<'_, Restores> {
        self.restores.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the session, because the client would show old presence forever. It reconnects and sends its
    /// watches again.
    fn cannot_watch(&self, session: SessionId) {
        self.sessions.end_session(session, Refusal::Unavailable, self.sessions.last_tick());
    }

    /// Repeats the presence of watched users for a session that was not live, and may have missed a round.
    pub(crate) fn answer_watched(self: &Arc<Self>, mode: Mode, session: SessionId) {
        self.answer_watched_of(&[(mode, session)]);
    }

    /// As [`answer_watched`](Self::answer_watched), for many sessions.
    pub(crate) fn answer_watched_of(self: &Arc<Self>, sessions: &[(Mode, SessionId)]) {
        for some in sessions.chunks(ANSWERED_TOGETHER) {
            some.iter().for_each(|(_, session)| self.answer_contacts(*session));
            let watched = |(mode, session): &(Mode, SessionId)| {
                (*mode, *session, self.watches.watched_by(session.handle).into_vec())
            };
            let some: Vec<(Mode, SessionId, Vec<UserId>)> = some.iter().map(watched).collect();
            let mut users: Vec<UserId> = some.iter().flat_map(|(_, _, users)| users).copied().collect();
            if users.is_empty() {
                continue;
            }
            users.sort_unstable();
            users.dedup();
            let done = self.then::<Vec<UserRow>>(move |this, rows| {
                let rows = rows.unwrap_or_default();
                let by_id: HashMap<UserId, &UserRow> = rows.iter().map(|row| (row.id, row)).collect();
                for (mode, session, users) in some {
                    for row in users.iter().filter_map(|user| by_id.get(user).copied()) {
                        this.repeat_sight(mode, session, row);
                    }
                }
            });
            self.store.users_by_id(users, done);
        }
    }

    fn repeat_sight(&self, mode: Mode, session: SessionId, row: &UserRow) {
        let presence = self.watches.watchers_of(row.id).contains(&session);
        // The relation is not cached: show only what everybody may see.
        let last_seen = presence && self.users.privacy_of(row).last_seen == Audience::Everybody;
        self.send_sight(mode, session.handle, row, Sight { presence, last_seen });
    }

    /// The relation of two users has changed, so each may see more or less of the other.
    pub(crate) fn sight_changed(
        &self,
        mode: Mode,
        a: &UserRow,
        b: &UserRow,
        before: Relation,
        after: Relation,
    ) {
        for (watcher, watched, before, after) in
            [(a, b, before.a_views_b(), after.a_views_b()), (b, a, before.b_views_a(), after.b_views_a())]
        {
            let (meet, part) = (!before.sees && after.sees, before.sees && !after.sees);
            let sight = sight(mode, after, self.users.privacy_of(watched));
            let mut handles: Handles = self.watches.set_may_see(watcher.id, watched.id, sight.presence);
            let mut of_contacts = Watching::default();
            if part {
                self.news.part(watched.id, watcher.id);
            }
            if meet || part {
                self.contact_watchers_anew(watcher.id, &mut of_contacts);
            }
            // A session with a resource shows contacts only, and has nobody else to ask for.
            for handle in of_contacts.sessions {
                self.send_sessions(handle, watched.id, &watched.profile.sub, meet && sight.presence);
            }
            // After a removal without a block in mode *open*, the user may still request the presence, but
            // gets no events.
            if meet || !sight.presence {
                handles.append(&mut of_contacts.users);
            }
            for handle in handles {
                let user = watched.profile.sub.clone();
                let offline = Event::Presence { user, presence: Presence::Offline, last_seen: None };
                match sight.presence {
                    true => self.send_sight(mode, handle, watched, sight),
                    false => self.sessions.send(handle, offline),
                }
            }
        }
    }

    /// Sends one watcher the published presence. A round on another thread may overtake it, so it is repeated
    /// until nothing has changed meanwhile.
    fn send_sight(&self, mode: Mode, to: SessionHandle, row: &UserRow, sight: Sight) {
        let say = |presence, last_seen| {
            let user = row.profile.sub.clone();
            self.sessions.send(to, Event::Presence { user, presence, last_seen });
        };
        if !sight.presence {
            if mode == Mode::Open {
                say(Presence::Offline, None);
            }
            return;
        }
        let mut last_sent = None;
        loop {
            let published = self.published(row.id).presence;
            if last_sent == Some(published) {
                return;
            }
            last_sent = Some(published);
            let has_last_seen =
                published == Presence::Offline && sight.last_seen && row.last_seen > Timestamp(0);
            say(published, has_last_seen.then_some(row.last_seen));
        }
    }

    /// A user has changed their privacy choices, so some watchers may see more or less.
    pub(crate) fn sight_of_changed(self: &Arc<Self>, mode: Mode, row: &UserRow) {
        let watchers = self.watches.all_watchers_of(row.id);
        let (this, row, asked) = (self.clone(), row.clone(), watchers.clone());
        self.users.with_relations(row.id, &asked, move |relations| {
            // Unknown after a failed read: show nothing.
            let relations = relations.unwrap_or_default();
            for (at, watcher) in watchers.iter().enumerate() {
                let sight = relations.get(at).map_or(Sight::NOTHING, |relation| {
                    sight(mode, relation.b_views_a(), this.users.privacy_of(&row))
                });
                for handle in this.watches.set_may_see(*watcher, row.id, sight.presence) {
                    this.send_sight(mode, handle, &row, sight);
                }
            }
        });
    }

    /// Filters the sessions to the ones that receive events that are not stored.
    pub(crate) fn live_of(&self, sessions: &[SessionId]) -> Handles {
        let is_live = |session: &&SessionId| {
            let mut shard = self.sessions.lock(session.user);
            shard.session(session.user, session.handle).is_some_and(|here| here.state == State::Live)
        };
        sessions.iter().filter(is_live).map(|session| session.handle).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SiteId;

    fn user(num: u32) -> UserId {
        UserId { site: SiteId(1), num }
    }

    fn session(num: u32) -> SessionId {
        SessionId { user: user(num), handle: SessionHandle(num.into()) }
    }

    fn entries(watches: &Watches) -> (usize, usize) {
        let count = |lengths: Vec<usize>| lengths.into_iter().sum();
        (
            count(watches.by_session.iter().map(|shard| shard.lock().expect("no panic").len()).collect()),
            count(watches.by_watched.iter().map(|shard| shard.lock().expect("no panic").len()).collect()),
        )
    }

    #[test]
    fn both_directions_agree_and_end_empty() {
        let watches = Watches::new();
        for num in 1..=50 {
            let order = watches.order(session(num).handle);
            let users: Vec<(UserId, bool)> =
                (100..120).map(|seen| (user(seen + num), seen % 2 == 0)).collect();
            assert!(watches.replace(session(num), order, &users));
        }
        assert_eq!(entries(&watches), (50, 69));
        assert_eq!(watches.watchers_of(user(101)).as_slice(), [session(1)]);
        assert_eq!(watches.watchers_of(user(102)).as_slice(), [session(2)], "and 1, who may not see");
        assert_eq!(watches.set_may_see(user(1), user(102), true).as_slice(), [session(1).handle]);
        assert_eq!(watches.set_may_see(user(1), user(102), true).as_slice(), [], "as it was");
        assert_eq!(watches.watchers_of(user(102)).len(), 2);
        assert_eq!(watches.watched_by(session(1).handle).len(), 20);

        let order = watches.order(session(1).handle);
        assert!(watches.replace(session(1), order, &[(user(7), true)]));
        assert!(watches.watchers_of(user(101)).is_empty());
        (1..=50).for_each(|num| watches.forget(session(num).handle));
        assert_eq!(entries(&watches), (0, 0));
    }

    #[test]
    fn late_watches_and_watches_of_ended_sessions_are_dropped() {
        let watches = Watches::new();
        let first = watches.order(session(1).handle);
        let second = watches.order(session(1).handle);
        assert!(watches.replace(session(1), second, &[(user(8), true)]));
        assert!(!watches.replace(session(1), first, &[(user(9), true)]), "an earlier one");
        watches.forget(session(1).handle);
        assert!(!watches.replace(session(1), second, &[(user(9), true)]), "the session is over");
        assert_eq!(entries(&watches), (0, 0));
    }
}

//! Imports into a running node: the right to import, its rate, and the notification of connected members.

use crate::session::Event;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::import::{
    ImportFloor, ImportItem, ImportJob, ImportOutcome, ImportRules, ImportStore, Imported, Late,
};
use crate::session::{Completion, Sessions, session_ids};
use crate::site::live::Sites;
use crate::store::unavailable;
use crate::users::Users;
use crate::{
    NodeConfig, Position, Refusal, Relation, Respond, SessionHandle, SessionId, SiteId, Timestamp, UserId,
};

/// Connected members are notified when an import has paused for this time,
const PAUSE_MS: u64 = 3_000;
/// and at this interval while it continues.
const EVERY_MS: u64 = 60_000;
/// Users of one site who wait for a publication. With more, all sessions of the site reload.
const MOST_USERS: usize = 100_000;
/// Rooms of one site that wait for a publication. With more, all sessions of the site reload.
const MOST_ROOMS: usize = 1_000;

/// Sessions of a site that reload at each tick: each reads a first page, which must not slow other sites.
const SESSIONS_PER_TICK: usize = 20;

/// Recent imports by site: one entry for each site with an import.
#[derive(Default)]
pub(crate) struct Importing(Mutex<SitesImporting>);

#[derive(Default)]
struct SitesImporting {
    by_id: HashMap<SiteId, OfSite>,
    /// The stored floors were read. After that only this node changes them.
    is_loaded: bool,
}

#[derive(Default)]
struct OfSite {
    /// The number of a position: devices before it start with a first page.
    floor: u64,
    /// None: no item waits for a publication.
    unpublished: Option<Unpublished>,
    publication: Publication,
}

/// A pending publication. It goes slice by slice, each after a write that raises the floor beyond all
/// positions of its sessions.
#[derive(Default)]
enum Publication {
    #[default]
    None,
    /// The remaining sessions.
    Due(Vec<SessionId>),
    /// A slice is being written; these sessions follow.
    Writing(Vec<SessionId>),
}

/// Sessions that reload after one write.
struct Slice {
    site: SiteId,
    sessions: Vec<SessionId>,
    ends: bool,
}

struct Unpublished {
    first: Timestamp,
    last: Timestamp,
    whom: Whom,
}

/// The users whose sessions reload at the publication.
enum Whom {
    These { users: HashSet<u32>, rooms: HashMap<u64, Arc<Vec<u32>>> },
    All,
}

/// Imports under way, and the resulting floors.
pub(crate) struct Import {
    importing: Importing,
    users: Arc<Users>,
    sessions: Arc<Sessions>,
    sites: Arc<Sites>,
    store: Arc<dyn ImportStore>,
    config: Arc<NodeConfig>,
}

impl Import {
    #[allow(clippy::too_many_arguments, reason = "one for each part that it depends on")]
    pub(crate) fn new(
        users: Arc<Users>,
        sessions: Arc<Sessions>,
        sites: Arc<Sites>,
        store: Arc<dyn ImportStore>,
        config: Arc<NodeConfig>,
    ) -> Import {
        Import { importing: Importing::default(), users, sessions, sites, store, config }
    }
}

impl Completion for Import {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

impl Import {
    /// Takes over floors that another process may have changed.
    pub(crate) fn take_over(&self, floors: &[ImportFloor], now: Timestamp) {
        self.importing.take_over(floors, now);
    }

    /// The position, if a device may resume from it.
    pub(crate) fn known(&self, site: SiteId, position: Option<Position>) -> Option<Position> {
        self.importing.known(site, position)
    }
}

impl Whom {
    fn nobody() -> Whom {
        Whom::These { users: HashSet::new(), rooms: HashMap::new() }
    }

    fn add(&mut self, imported: &Imported) {
        let Whom::These { users, rooms } = self else { return };
        users.extend(&imported.users);
        rooms.extend(imported.rooms.iter().map(|(room, members)| (room.key, members.clone())));
        if users.len() > MOST_USERS || rooms.len() > MOST_ROOMS {
            *self = Whom::All;
        }
    }
}

impl Unpublished {
    fn is_due(&self, now: Timestamp) -> bool {
        // A clock that was set back causes one additional publication.
        let since = |then: Timestamp| now.0.abs_diff(then.0);
        since(self.last) >= PAUSE_MS || since(self.first) >= EVERY_MS
    }
}

impl Importing {
    fn lock(&self) -> MutexGuard<'_, SitesImporting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over the stored floors when the node starts.
    pub(crate) fn take_over(&self, floors: &[ImportFloor], now: Timestamp) {
        let mut sites = self.lock();
        if std::mem::replace(&mut sites.is_loaded, true) {
            return;
        }
        for floor in floors {
            let site = sites.by_id.entry(floor.site).or_default();
            site.floor = floor.number;
            if floor.unpublished {
                site.unpublished = Some(Unpublished { first: now, last: now, whom: Whom::All });
            }
        }
    }

    fn imported(&self, site: SiteId, imported: &Imported, now: Timestamp) {
        if !imported.outcomes.contains(&ImportOutcome::Added) {
            return;
        }
        let mut sites = self.lock();
        let site = sites.by_id.entry(site).or_default();
        site.floor = site.floor.max(imported.position.number);
        let unpublished = Unpublished { first: now, last: now, whom: Whom::nobody() };
        let unpublished = site.unpublished.get_or_insert(unpublished);
        unpublished.last = now;
        unpublished.whom.add(imported);
    }

    /// The imports to publish from now on. A site has one publication at a time.
    fn take_due(&self, now: Timestamp) -> Vec<(SiteId, Whom)> {
        let mut sites = self.lock();
        let due = sites.by_id.iter_mut().filter_map(|(site, of_site)| {
            let is_free = matches!(of_site.publication, Publication::None);
            let unpublished = &mut of_site.unpublished;
            let due = unpublished.take_if(|unpublished| is_free && unpublished.is_due(now))?;
            Some((*site, due.whom))
        });
        due.collect()
    }

    fn begin(&self, site: SiteId, sessions: Vec<SessionId>) {
        if let Some(site) = self.lock().by_id.get_mut(&site) {
            site.publication = Publication::Due(sessions);
        }
    }

    fn take_slices(&self) -> Vec<Slice> {
        let mut sites = self.lock();
        let slices = sites.by_id.iter_mut().filter_map(|(site, of_site)| {
            let Publication::Due(sessions) = &mut of_site.publication else { return None };
            let mut sessions = std::mem::take(sessions);
            let rest = sessions.split_off(sessions.len().min(SESSIONS_PER_TICK));
            // Items that were imported meanwhile must stay unpublished in the store.
            let ends = rest.is_empty() && of_site.unpublished.is_none();
            of_site.publication = Publication::Writing(rest);
            Some(Slice { site: *site, sessions, ends })
        });
        slices.collect()
    }

    fn written(&self, site: SiteId, position: Position) {
        let mut sites = self.lock();
        let site = sites.by_id.entry(site).or_default();
        site.floor = site.floor.max(position.number);
        site.publication = match std::mem::take(&mut site.publication) {
            Publication::Writing(rest) if !rest.is_empty() => Publication::Due(rest),
            _ => Publication::None,
        };
    }

    /// The write of the slice failed: it is retried.
    fn failed(&self, slice: Slice) {
        let mut sites = self.lock();
        let site = sites.by_id.entry(slice.site).or_default();
        if let Publication::Writing(rest) = std::mem::take(&mut site.publication) {
            site.publication = Publication::Due([slice.sessions, rest].concat());
        }
    }

    /// None if the device may lack items that were imported after its position.
    pub(crate) fn known(&self, site: SiteId, position: Option<Position>) -> Option<Position> {
        let position = position?;
        let floor = self.lock().by_id.get(&site).map_or(0, |site| site.floor);
        (position.number >= floor).then_some(position)
    }
}

impl Import {
    pub(crate) fn import(
        self: &Arc<Self>,
        site: SiteId,
        items: Vec<ImportItem>,
        late: Late,
        now: Timestamp,
        respond: Respond<Vec<ImportOutcome>>,
    ) {
        let Some(live) = self.sites.by_id(site) else { return respond(Err(Refusal::NoSuchSite)) };
        let limits = &self.config.limits;
        let rules = ImportRules {
            late,
            body_bytes: limits.body_bytes,
            contacts: limits.contacts,
            rooms: limits.rooms,
            trim: live.site.settings.retention.trim(site, now),
            now,
        };
        let done = self.then::<Imported>(move |this, imported| {
            let imported = imported.map_err(unavailable);
            if let Ok(imported) = &imported {
                for (one, other) in &imported.contacts {
                    this.users.recent().relation_is(*one, *other, Relation::CONTACTS);
                }
                this.importing.imported(site, imported, now);
            }
            respond(imported.map(|imported| imported.outcomes));
        });
        self.store.import(ImportJob { site, items, rules }, done);
    }

    /// At each tick: notifies connected members of imports that are due.
    pub(crate) fn publish_imports(self: &Arc<Self>, now: Timestamp) {
        for (site, whom) in self.importing.take_due(now) {
            self.importing.begin(site, self.sessions_of(site, &whom));
        }
        for slice in self.importing.take_slices() {
            let (_this, site, ends) = (self.clone(), slice.site, slice.ends);
            let done = self.then(move |this, position| match position {
                Ok(position) => {
                    this.load_anew(&slice.sessions);
                    this.importing.written(slice.site, position);
                }
                Err(_) => this.importing.failed(slice),
            });
            self.store.publish_import(site, ends, done);
        }
    }

    fn sessions_of(&self, site: SiteId, whom: &Whom) -> Vec<SessionId> {
        let mut sessions = Vec::new();
        match whom {
            Whom::All => {
                for mut shard in self.sessions.each() {
                    let of_site = shard.users().filter(|user| user.id.site == site);
                    sessions.extend(of_site.flat_map(session_ids));
                }
            }
            Whom::These { users, rooms } => {
                let id = |num: &u32| UserId { site, num: *num };
                let of_rooms = rooms.values().flat_map(|members| members.iter());
                let all: HashSet<UserId> = users.iter().chain(of_rooms).map(id).collect();
                let all: Vec<UserId> = all.into_iter().collect();
                for user in self.sessions.of(&all) {
                    let mut shard = self.sessions.lock(user);
                    sessions.extend(shard.user(user).map(session_ids).unwrap_or_default());
                }
            }
        }
        sessions
    }

    /// Called in the store's completion: no session has a position beyond the new floor.
    fn load_anew(&self, sessions: &[SessionId]) {
        let _publishing = self.sessions.publishing();
        let fell =
            |session: &&SessionId| self.sessions.lock(session.user).load_anew(session.user, session.handle);
        let handles: Vec<SessionHandle> =
            sessions.iter().filter(fell).map(|session| session.handle).collect();
        self.sessions.send_all(&handles, Event::Behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_764_000_000_000);
    const SITE: SiteId = SiteId(1);

    fn at(number: u64) -> Position {
        Position { epoch: 1, number }
    }

    fn imported(number: u64, users: Vec<u32>) -> Imported {
        Imported {
            outcomes: vec![ImportOutcome::Added],
            users,
            rooms: Vec::new(),
            contacts: Vec::new(),
            position: at(number),
        }
    }

    #[test]
    fn imports_are_published_after_a_pause_or_a_minute() {
        let importing = Importing::default();
        let later = |ms: u64| Timestamp(NOW.0 + ms);
        importing.imported(SITE, &imported(7, vec![1]), NOW);
        assert!(importing.take_due(later(2_999)).is_empty());
        for second in (2..60).step_by(2) {
            importing.imported(SITE, &imported(8, vec![2]), later(second * 1_000));
            assert!(importing.take_due(later(second * 1_000)).is_empty(), "after {second} s");
        }
        assert_eq!(importing.take_due(later(60_000)).len(), 1);
        assert!(importing.take_due(later(70_000)).is_empty(), "once");
    }

    #[test]
    fn positions_before_the_floor_are_refused() {
        let importing = Importing::default();
        let known = |number| importing.known(SITE, Some(at(number))).is_some();
        assert!(known(3));
        importing.imported(SITE, &imported(7, vec![1]), NOW);
        assert_eq!((known(6), known(7)), (false, true));
        importing.written(SITE, at(20));
        assert_eq!((known(19), known(20)), (false, true));
        assert!(importing.known(SiteId(2), Some(at(1))).is_some(), "another site");
    }

    #[test]
    fn beyond_the_bound_all_sessions_reload() {
        let importing = Importing::default();
        importing.imported(SITE, &imported(7, (1..=MOST_USERS as u32 + 1).collect()), NOW);
        let due = importing.take_due(Timestamp(NOW.0 + PAUSE_MS));
        assert!(matches!(due[..], [(SITE, Whom::All)]));
    }

    #[test]
    fn imports_are_published_in_slices_and_later_items_afterwards() {
        let importing = Importing::default();
        let user = UserId { site: SITE, num: 1 };
        let session = |number| SessionId { user, handle: SessionHandle(number) };
        importing.imported(SITE, &imported(7, vec![1]), NOW);
        let later = Timestamp(NOW.0 + PAUSE_MS);
        assert_eq!(importing.take_due(later).len(), 1);
        importing.begin(SITE, (0..25).map(session).collect());
        let slice = importing.take_slices().remove(0);
        assert_eq!((slice.sessions.len(), slice.ends), (SESSIONS_PER_TICK, false));
        assert!(importing.take_slices().is_empty(), "one at a time");
        importing.failed(slice);
        assert_eq!(importing.take_slices()[0].sessions.len(), SESSIONS_PER_TICK, "once more");
        importing.imported(SITE, &imported(8, vec![1]), later);
        importing.written(SITE, at(20));
        assert!(importing.take_due(Timestamp(later.0 + PAUSE_MS)).is_empty(), "one publication at a time");
        let last = importing.take_slices().remove(0);
        assert_eq!((last.sessions.len(), last.ends), (5, false), "more is unpublished");
        importing.written(SITE, at(21));
        assert_eq!(importing.take_due(Timestamp(later.0 + PAUSE_MS)).len(), 1);
        importing.begin(SITE, Vec::new());
        assert!(importing.take_slices()[0].ends);
    }
}

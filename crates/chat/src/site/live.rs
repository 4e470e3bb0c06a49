//! The sites of a running node: read from the store, with prepared keys and with counters.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use crate::limits::Rate;
use crate::site::filters::{CHECKS_PER_MICRO, FILTER_MICROS_PER_SECOND};
use crate::site::published::allows;
use crate::site::settings::Access;
use crate::site::token::Verifier;
use crate::{CompiledFilters, Refusal, Settings, Site, SiteId, Timestamp};

/// All sites. Read on every command; a change replaces the whole table.
#[derive(Default)]
pub(crate) struct Sites {
    /// Held while a new table is built from the current one. The table itself has its own short lock.
    changing: Mutex<()>,
    table: RwLock<Table>,
    /// The number of changes of the table.
    version: AtomicU64,
}

#[derive(Default)]
struct Table {
    by_key: HashMap<Arc<str>, Arc<LiveSite>>,
    by_id: HashMap<SiteId, Arc<LiveSite>>,
    by_domain: HashMap<Box<str>, SiteId>,
    /// All origins of all sites, in lower case.
    origins: HashSet<Box<str>>,
    /// A site keeps its members' devices.
    keep_devices: bool,
}

/// A site in use.
pub(crate) struct LiveSite {
    pub(crate) site: Site,
    pub(crate) verifiers: Vec<Verifier>,
    /// The numbers of the keys, in the order of `verifiers`: a session stores its key's slot in a byte. A key
    /// keeps its slot while it exists.
    slots: Vec<u8>,
    /// The compiled filters of the site.
    pub(crate) filters: Arc<CompiledFilters>,
    pub(crate) counters: Arc<SiteCounters>,
}

/// The state that outlives a change of the site's settings.
#[derive(Default)]
pub(crate) struct SiteCounters {
    sessions: AtomicU32,
    /// State of the limit on all messages of the site.
    pub(crate) sends: AtomicU64,
    /// Budget of the filters, and rate limit of settings changes.
    filter_work: AtomicU64,
    pub(crate) changes: AtomicU64,
    /// New members within the counted time.
    pub(crate) newcomers: AtomicU64,
    /// End of the raid mode that this node has started.
    pub(crate) raid_until: AtomicU64,
}

impl Sites {
    pub(crate) fn by_key(&self, key: &str) -> Option<Arc<LiveSite>> {
        self.read().by_key.get(key).cloned()
    }

    pub(crate) fn by_id(&self, id: SiteId) -> Option<Arc<LiveSite>> {
        self.read().by_id.get(&id).cloned()
    }

    /// The site with this XMPP domain.
    pub(crate) fn by_domain(&self, domain: &str) -> Option<Arc<LiveSite>> {
        let table = self.read();
        table.by_domain.get(domain).and_then(|id| table.by_id.get(id)).cloned()
    }

    /// Whether any site allows pages of this origin.
    pub(crate) fn know_origin(&self, origin: &str) -> bool {
        let table = self.read();
        table.origins.contains("*") || table.origins.contains(&*origin.to_ascii_lowercase())
    }

    /// Sites that remove old messages.
    pub(crate) fn that_forget(&self) -> Vec<SiteId> {
        let table = self.read();
        let forget = table.by_id.iter().filter(|(_, live)| live.site.settings.retention.is_on());
        forget.map(|(id, _)| *id).collect()
    }

    /// Sites that talk with other XMPP servers.
    pub(crate) fn that_federate(&self) -> Vec<SiteId> {
        let table = self.read();
        let federated = table.by_id.iter().filter(|(_, live)| live.site.settings.federation.on);
        federated.map(|(id, _)| *id).collect()
    }

    /// Sites that their owners have closed.
    pub(crate) fn closed(&self) -> Vec<Arc<LiveSite>> {
        let is_closed = |live: &&Arc<LiveSite>| live.site.settings.access == Access::Closed;
        self.read().by_id.values().filter(is_closed).cloned().collect()
    }

    pub(crate) fn keep_devices(&self) -> bool {
        self.read().keep_devices
    }

    /// Sites with unreadable settings.
    pub(crate) fn unreadable(&self) -> usize {
        let table = self.read();
        let is_unreadable = |live: &&Arc<LiveSite>| {
            live.filters.is_unreadable() || !live.site.settings.unreadable().is_empty()
        };
        table.by_id.values().filter(is_unreadable).count()
    }

    pub(crate) fn count(&self) -> usize {
        self.read().by_id.len()
    }

    /// Replaces all sites by the stored ones; answers the sites that no longer exist.
    pub(crate) fn replace(&self, sites: Vec<Site>) -> Vec<SiteId> {
        let _changing = self.changing();
        let mut table = Table::default();
        for site in sites {
            let live = Arc::new(LiveSite::of(site, self));
            table.origins.extend(live.site.origins.iter().map(|origin| origin.to_ascii_lowercase().into()));
            table.keep_devices |= live.site.settings.members.devices;
            if let Some(domain) = live.site.domain() {
                table.by_domain.insert(domain.into(), live.site.id);
            }
            table.by_key.insert(live.site.key.clone(), live.clone());
            table.by_id.insert(live.site.id, live);
        }
        let mut now = self.table.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = std::mem::replace(&mut *now, table);
        self.version.fetch_add(1, Ordering::Release);
        before.by_id.into_keys().filter(|id| !now.by_id.contains_key(id)).collect()
    }

    /// Replaces the settings of one site. Answers the site before and after.
    pub(crate) fn set(&self, id: SiteId, settings: Settings) -> Option<[Arc<LiveSite>; 2]> {
        let _changing = self.changing();
        let before = self.by_id(id)?;
        let after = Arc::new(LiveSite::of(Site { settings, ..before.site.clone() }, self));
        let mut table = self.table.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        table.by_key.insert(after.site.key.clone(), after.clone());
        table.by_id.insert(id, after.clone());
        self.version.fetch_add(1, Ordering::Release);
        Some([before, after])
    }

    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    pub(crate) fn all(&self) -> Vec<Arc<LiveSite>> {
        self.read().by_id.values().cloned().collect()
    }

    fn changing(&self) -> std::sync::MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn verifiers(site: &Site) -> Vec<Verifier> {
    let of_guests = site.guest_keys.iter().filter_map(Verifier::of_guests);
    let ready: Vec<Verifier> = site.secrets.iter().filter_map(Verifier::of).chain(of_guests).collect();
    let all = site.secrets.len() + site.guest_keys.len();
    if ready.len() < all {
        let unusable = all - ready.len();
        tracing::warn!(site = %site.key, unusable, "some secrets of a site are not valid keys of their kind");
    }
    ready
}

/// New keys get slots that no key had a moment ago, because its sessions may still exist.
fn slots(keys: &[Verifier], before: Option<&LiveSite>) -> Vec<u8> {
    let mut taken: Vec<u8> = before.map(|before| before.slots.clone()).unwrap_or_default();
    let mut slot = |key: &Verifier| {
        let known = before.map_or(0, |before| before.slot_of(&key.kid));
        if known > 0 {
            return known;
        }
        // The last number marks app passwords: `session/signed_in_by.rs`.
        let free = (1..u8::MAX).find(|slot| !taken.contains(slot)).unwrap_or(0);
        taken.push(free);
        free
    };
    keys.iter().map(&mut slot).collect()
}

impl LiveSite {
    /// Prepares a site, and takes counters and reusable parts from `before`.
    fn of(site: Site, before: &Sites) -> LiveSite {
        let old = before.by_id(site.id);
        let counters = old.as_ref().map(|old| old.counters.clone()).unwrap_or_default();
        let verifiers = verifiers(&site);
        let slots = slots(&verifiers, old.as_deref());
        let filters = &site.settings.filters;
        for (part, why) in site.settings.unreadable() {
            if old.as_ref().is_none_or(|old| old.site.settings.unread != site.settings.unread) {
                tracing::error!(site = %site.key, part, why, "cannot read stored settings; the strictest values apply");
            }
        }
        let is_same = |old: &Arc<LiveSite>| {
            old.site.settings.filters.patterns == filters.patterns
                && old.filters.is_unreadable() == site.settings.is_unreadable("filters")
        };
        let filters = match old.filter(is_same) {
            Some(old) => old.filters.clone(),
            None if site.settings.is_unreadable("filters") => Arc::new(CompiledFilters::unreadable()),
            // They were checked when they were set. If a newer program cannot use them, every message is
            // held.
            None => Arc::new(CompiledFilters::new(filters).unwrap_or_else(|why| {
                tracing::error!(site = %site.key, %why, "cannot use the filters of a site; every message waits for a moderator");
                CompiledFilters::unreadable()
            })),
        };
        LiveSite { verifiers, slots, filters, counters, site }
    }

    /// Limits changes of settings: each compiles filters, writes to disk, and may notify all connected users.
    pub(crate) fn take_change(&self, now: Timestamp) -> Result<(), Refusal> {
        Rate::per_minute(20, 60).take_shared(&self.counters.changes, now)
    }

    /// Takes the cost of filtering a text from the site's budget.
    pub(crate) fn take_checks(&self, text: &str, now: Timestamp) -> Result<(), Refusal> {
        let cost = self.site.settings.filters.cost(&self.filters, text);
        Rate::per_second(FILTER_MICROS_PER_SECOND).take_many_shared(
            &self.counters.filter_work,
            cost.div_ceil(CHECKS_PER_MICRO),
            now,
        )
    }

    pub(crate) fn key(&self, kid: &str) -> Option<&Verifier> {
        self.verifiers.iter().find(|key| *key.kid == *kid)
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = (&str, u8)> {
        self.verifiers.iter().map(|key| &*key.kid).zip(self.slots.iter().copied())
    }

    /// The id of the key in a slot.
    pub(crate) fn key_in(&self, slot: u8) -> Option<&str> {
        self.slots().find(|(_, known)| *known == slot).map(|(kid, _)| kid)
    }

    /// 0: the site has no such key.
    pub(crate) fn slot_of(&self, kid: &str) -> u8 {
        self.slots().find(|(known, _)| *known == kid).map_or(0, |(_, slot)| slot)
    }

    /// Whether pages of this origin may connect.
    pub(crate) fn allows_origin(&self, origin: &str) -> bool {
        allows(&self.site.origins, origin)
    }
}

impl SiteCounters {
    /// Counts one more session; false if the site is full. 0: no limit.
    pub(crate) fn enter(&self, limit: u32) -> bool {
        let more = |count: u32| (limit == 0 || count < limit).then_some(count + 1);
        self.sessions.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// A cheap check before any work for a new session; `enter` decides.
    pub(crate) fn is_full(&self, limit: u32) -> bool {
        limit > 0 && self.sessions.load(Ordering::Relaxed) >= limit
    }

    pub(crate) fn leave(&self) {
        self.sessions.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;

    #[test]
    fn origins() {
        let site = |origins: &[&str]| LiveSite {
            site: Site {
                id: SiteId(1),
                key: "k".into(),
                name: "K".into(),
                mode: Mode::Open,
                guests: false,
                origins: origins.iter().map(ToString::to_string).collect(),
                secrets: vec![],
                guest_keys: vec![],
                public_url: None,
                domain: None,
                settings: crate::Settings::default(),
                created: Timestamp(0),
            },
            verifiers: vec![],
            slots: vec![],
            filters: Arc::default(),
            counters: Arc::default(),
        };
        let listed = site(&["https://forum.example", "http://localhost:3000"]);
        assert!(listed.allows_origin("https://forum.example"));
        assert!(listed.allows_origin("HTTPS://Forum.Example"));
        for other in [
            "http://forum.example",
            "https://forum.example.evil",
            "https://forum.example:444",
            "https://sub.forum.example",
            "http://localhost",
            "null",
            "",
            "*",
        ] {
            assert!(!listed.allows_origin(other), "{other}");
        }
        assert!(site(&["*"]).allows_origin("https://anything.example"));
        assert!(!site(&[]).allows_origin("https://anything.example"));
    }

    #[test]
    fn sessions_of_a_site_are_limited() {
        let counters = SiteCounters::default();
        assert!(counters.enter(2) && counters.enter(2) && !counters.enter(2));
        counters.leave();
        assert!(counters.enter(2));
        assert!(counters.enter(0));
    }
}

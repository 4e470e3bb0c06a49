//! Limits on requests outside a session (REST, files, ICE) and budgets for their cost, per user, address and
//! site.
//!
//! Each limit keeps one [`Due`]. An address is an IPv4 address or the /64 network of an IPv6 address.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::config::GUEST_SHARE;
use crate::limits::{Due, Rate};
use crate::stats::Counters;
use crate::{Refusal, SiteId, Timestamp, UserId};

/// Entries of a table, some 3 MB. At the bound, idle entries are removed; if those are less than half, all
/// are. An attacker with so many addresses or accounts evades a limit for each anyway, and other users must
/// not be refused for it.
const MOST_ENTRIES: usize = 1 << 16;
const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;

/// The kind of a request. Each has limits of its own, so that uploads do not use up the limit of REST.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestKind {
    Rest,
    Files,
    /// A tenth of the others' rate: one credential is enough for a call.
    Ice,
    /// Commands of a session that read much: searches for messages and people, and pages of exports. Half of
    /// the others' rate.
    Search,
    /// Commands of a session that may add to the record, which is kept forever. A quarter of the others'
    /// rate, and per user only: a crowd of members must not keep moderators from acting.
    Recorded,
    /// Entering rooms, per user only: each entry writes to the others in the room. A client enters all its rooms when it
    /// starts.
    Enter,
    /// Changes of items, which contacts receive. A quarter of the others' rate.
    Items,
    /// Own pictures, which contacts see. A twentieth of the others' rate.
    Pictures,
}

/// Rates of requests of each kind, and budgets for their cost. The burst is a quarter of a minute's requests.
/// 0: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestRates {
    /// Guests get a quarter.
    pub user_per_minute: u32,
    pub address_per_minute: u32,
    pub site_per_minute: u32,
    /// Bytes that guests of one address may upload per day.
    pub guest_bytes_per_day: u64,
    /// Bytes of imports that a site may send per day.
    pub import_bytes_per_day: u64,
    /// CPU time for pictures per hour, in milliseconds. Guests get a quarter.
    pub user_picture_ms: u32,
    pub site_picture_ms: u32,
}

impl RequestRates {
    pub const UNLIMITED: RequestRates = RequestRates {
        user_per_minute: 0,
        address_per_minute: 0,
        site_per_minute: 0,
        guest_bytes_per_day: 0,
        import_bytes_per_day: 0,
        user_picture_ms: 0,
        site_picture_ms: 0,
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Limit {
    Requests(RequestKind),
    GuestKib,
    ImportKib,
    PictureMs,
}

/// The tables. A lock is held for one lookup.
pub(crate) struct RequestLimits {
    rates: RequestRates,
    by_user: Table<UserId>,
    by_address: Table<IpAddr>,
    by_site: Table<SiteId>,
    counters: Arc<Counters>,
}

struct Table<K> {
    due: Mutex<HashMap<(Limit, K), Due>>,
}

impl<K: Copy + Eq + Hash> Table<K> {
    fn new() -> Table<K> {
        Table { due: Mutex::default() }
    }

    fn with<T>(&self, limit: Limit, key: K, now: Timestamp, act: impl FnOnce(&mut Due) -> T) -> T {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        if due.len() >= MOST_ENTRIES && !due.contains_key(&(limit, key)) {
            due.retain(|_, due| !due.is_idle(now));
            if due.len() > MOST_ENTRIES / 2 {
                due.clear();
            }
        }
        act(due.entry((limit, key)).or_default())
    }
}

impl RequestLimits {
    pub(crate) fn new(rates: RequestRates, counters: Arc<Counters>) -> RequestLimits {
        RequestLimits {
            rates,
            by_user: Table::new(),
            by_address: Table::new(),
            by_site: Table::new(),
            counters,
        }
    }

    fn of_address(&self, kind: RequestKind, address: IpAddr, now: Timestamp) -> Result<(), Refusal> {
        let rate = requests(kind, self.rates.address_per_minute);
        self.by_address.with(Limit::Requests(kind), household(address), now, |due| rate.take(due, now))
    }

    /// Checks the user's limit first: a refused user uses up nothing of the site's limit.
    pub(crate) fn of_user(
        &self,
        kind: RequestKind,
        user: UserId,
        is_guest: bool,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let rate = requests(kind, self.rates.user_per_minute);
        let rate = if is_guest { rate.slowed(GUEST_SHARE) } else { rate };
        self.by_user.with(Limit::Requests(kind), user, now, |due| rate.take(due, now))?;
        match kind {
            RequestKind::Rest
            | RequestKind::Files
            | RequestKind::Ice
            | RequestKind::Search
            | RequestKind::Items
            | RequestKind::Pictures => self.of_site(kind, user.site, now),
            RequestKind::Recorded | RequestKind::Enter => Ok(()),
        }
    }

    pub(crate) fn of_site(&self, kind: RequestKind, site: SiteId, now: Timestamp) -> Result<(), Refusal> {
        let rate = requests(kind, self.rates.site_per_minute);
        self.by_site.with(Limit::Requests(kind), site, now, |due| rate.take(due, now))
    }

    fn guest_kib(&self) -> Rate {
        Rate::budget(self.rates.guest_bytes_per_day.div_ceil(1024), DAY_MS)
    }

    fn import_kib(&self) -> Rate {
        Rate::budget(self.rates.import_bytes_per_day.div_ceil(1024), DAY_MS)
    }

    fn user_picture_ms(&self, is_guest: bool) -> Rate {
        let share = if is_guest { GUEST_SHARE } else { 1 };
        Rate::budget(u64::from(self.rates.user_picture_ms.div_ceil(share)), HOUR_MS)
    }

    fn site_picture_ms(&self) -> Rate {
        Rate::budget(self.rates.site_picture_ms.into(), HOUR_MS)
    }
}

fn requests(kind: RequestKind, per_minute: u32) -> Rate {
    let per_minute = match kind {
        RequestKind::Rest | RequestKind::Files | RequestKind::Enter => per_minute,
        RequestKind::Ice => per_minute.div_ceil(10),
        RequestKind::Search => per_minute.div_ceil(2),
        RequestKind::Recorded | RequestKind::Items => per_minute.div_ceil(4),
        RequestKind::Pictures => per_minute.div_ceil(20),
    };
    Rate::per_minute((per_minute / 4).max(1), per_minute)
}

impl RequestLimits {
    /// Counts a request of an identified user.
    pub(crate) fn count_request(
        &self,
        kind: RequestKind,
        user: UserId,
        is_guest: bool,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let taken = self.of_user(kind, user, is_guest, now);
        taken.inspect_err(|_| self.counters.requests_refused.add(1))
    }

    /// Counts bytes of an import, if the site's budget of the day allows them.
    pub(crate) fn take_import(&self, site: SiteId, bytes: u64, now: Timestamp) -> Result<(), Refusal> {
        let (rate, kib) = (self.import_kib(), bytes.div_ceil(1024));
        self.by_site.with(Limit::ImportKib, site, now, |due| {
            rate.has_left(*due, now)?;
            rate.spend(due, kib, now);
            Ok(())
        })
    }
}

impl RequestLimits {
    /// Counts a request of an address, before the request is read.
    pub(crate) fn take_request(
        &self,
        kind: RequestKind,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let taken = self.of_address(kind, address, now);
        taken.inspect_err(|_| self.counters.requests_refused.add(1))
    }

    /// Whether this user may upload more today. Only guests have a limit, shared by all guests of an address.
    pub(crate) fn may_upload(
        &self,
        is_guest: bool,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let Some(address) = address.filter(|_| is_guest) else {
            return Ok(());
        };
        let rate = self.guest_kib();
        self.by_address.with(Limit::GuestKib, household(address), now, |due| rate.has_left(*due, now))
    }

    /// Counts bytes that have arrived from a guest.
    pub(crate) fn uploaded(&self, is_guest: bool, address: Option<IpAddr>, bytes: u64, now: Timestamp) {
        let Some(address) = address.filter(|_| is_guest) else {
            return;
        };
        let (rate, kib) = (self.guest_kib(), bytes.div_ceil(1024));
        self.by_address.with(Limit::GuestKib, household(address), now, |due| rate.spend(due, kib, now));
    }

    /// Whether the user and the site have CPU time for pictures left.
    pub(crate) fn may_make_picture(
        &self,
        user: UserId,
        is_guest: bool,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let (of_user, of_site) = (self.user_picture_ms(is_guest), self.site_picture_ms());
        self.by_user.with(Limit::PictureMs, user, now, |due| of_user.has_left(*due, now))?;
        self.by_site.with(Limit::PictureMs, user.site, now, |due| of_site.has_left(*due, now))
    }

    /// Counts the CPU time that a picture took, also of a failed one.
    pub(crate) fn picture_made(&self, user: UserId, is_guest: bool, cpu_ms: u64, now: Timestamp) {
        let (of_user, of_site) = (self.user_picture_ms(is_guest), self.site_picture_ms());
        self.by_user.with(Limit::PictureMs, user, now, |due| of_user.spend(due, cpu_ms, now));
        self.by_site.with(Limit::PictureMs, user.site, now, |due| of_site.spend(due, cpu_ms, now));
    }
}

/// The key of an address. The owner of an IPv6 address has at least the 2^64 addresses of its network (RFC
/// 4291 §2.5.4).
pub(crate) fn household(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const NOW: Timestamp = Timestamp(1_764_000_000_000);

    fn limits() -> RequestLimits {
        let rates = RequestRates {
            user_per_minute: 80,
            address_per_minute: 40,
            site_per_minute: 120,
            ..RequestRates::UNLIMITED
        };
        RequestLimits::new(rates, Arc::default())
    }

    fn passed(mut take: impl FnMut() -> Result<(), Refusal>) -> usize {
        (0..1_000).filter(|_| take().is_ok()).count()
    }

    #[test]
    fn each_kind_and_each_key_has_its_own_limit() {
        let limits = limits();
        let user = |num| UserId { site: SiteId(1), num };
        assert_eq!(passed(|| limits.of_user(RequestKind::Rest, user(1), false, NOW)), 20);
        assert_eq!(passed(|| limits.of_user(RequestKind::Rest, user(2), true, NOW)), 5, "a guest");
        assert_eq!(passed(|| limits.of_user(RequestKind::Files, user(1), false, NOW)), 20);
        assert_eq!(passed(|| limits.of_user(RequestKind::Rest, user(3), false, NOW)), 5, "the site's rest");
        assert_eq!(passed(|| limits.of_site(RequestKind::Rest, SiteId(2), NOW)), 30, "another site");
        assert_eq!(passed(|| limits.of_user(RequestKind::Ice, user(4), false, NOW)), 2);
        assert_eq!(passed(|| limits.of_user(RequestKind::Search, user(5), false, NOW)), 10);
        for num in 6..30 {
            assert_eq!(
                passed(|| limits.of_user(RequestKind::Recorded, user(num), false, NOW)),
                5,
                "each alone"
            );
        }
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        let limits = limits();
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let took = |text| passed(|| limits.of_address(RequestKind::Files, address(text), NOW));
        assert_eq!(["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "192.0.2.1"].map(took), [10, 0, 10, 10]);
    }

    #[test]
    fn a_table_is_bounded() {
        let limits = limits();
        for number in 0..2 * MOST_ENTRIES as u32 {
            let address = IpAddr::from(Ipv4Addr::from_bits(number));
            limits.of_address(RequestKind::Rest, address, NOW).unwrap();
            assert!(limits.by_address.due.lock().unwrap().len() <= MOST_ENTRIES);
        }
    }
}

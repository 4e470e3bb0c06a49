//! Quotas of users, addresses and sites, and the relayed bytes of each site.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Quotas;
use crate::counters::Count;
use crate::credentials::Owner;
use crate::rate::Rate;

/// Sites with their own meter; further ones share one, under number 0. Only programs with the secret can name a site.
const METERS: usize = 10_000;

/// All sites with relays, and users with relays at the moment. Read when a relay is created or ends, never for data.
#[derive(Debug)]
pub struct Sites {
    quotas: Quotas,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    sites: HashMap<u64, Arc<Site>>,
    users: HashMap<Box<str>, Arc<User>>,
    addresses: HashMap<IpAddr, Arc<User>>,
}

/// A site's meter.
#[derive(Debug, Default)]
pub struct Site {
    pub number: u64,
    /// Present number of relays.
    open: AtomicU64,
    /// Bytes of data from clients to peers, and back.
    pub to_peers: Count,
    pub to_clients: Count,
    rate: Rate,
}

/// A user or an address.
#[derive(Debug, Default)]
struct User {
    open: AtomicU64,
    rate: Rate,
}

/// A relay's share of the quotas, released when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    sites: Arc<Sites>,
    site: Arc<Site>,
    user: Arc<User>,
    name: Box<str>,
    address: Arc<User>,
    from: IpAddr,
}

/// Direction of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    ToPeer,
    ToClient,
}

impl Sites {
    pub(crate) fn new(quotas: Quotas) -> Sites {
        Sites { quotas, table: Mutex::default() }
    }

    /// None: a quota is reached.
    pub(crate) fn open(self: &Arc<Sites>, owner: Owner<'_>, from: IpAddr) -> Option<Share> {
        let from = household(from);
        let mut table = self.lock();
        let number =
            if table.sites.len() < METERS || table.sites.contains_key(&owner.site) { owner.site } else { 0 };
        let new = || Arc::new(Site { number, ..Site::default() });
        let site = Arc::clone(table.sites.entry(number).or_insert_with(new));
        let of_user = table.users.get(owner.user).map_or(0, |user| user.open.load(Ordering::Relaxed));
        let of_address = table.addresses.get(&from).map_or(0, |address| address.open.load(Ordering::Relaxed));
        let reached = |open: u64, most: u32| most > 0 && open >= u64::from(most);
        if reached(site.open(), self.quotas.site_relays)
            || reached(of_user, self.quotas.user_relays)
            || reached(of_address, self.quotas.address_relays)
        {
            return None;
        }
        let address = Arc::clone(table.addresses.entry(from).or_default());
        address.open.fetch_add(1, Ordering::Relaxed);
        let name = Box::from(owner.user);
        let user = Arc::clone(table.users.entry(Box::clone(&name)).or_default());
        site.open.fetch_add(1, Ordering::Relaxed);
        user.open.fetch_add(1, Ordering::Relaxed);
        drop(table);
        Some(Share { sites: Arc::clone(self), site, user, name, address, from })
    }

    /// All meters.
    pub fn each(&self) -> Vec<Arc<Site>> {
        let mut sites: Vec<Arc<Site>> = self.lock().sites.values().cloned().collect();
        sites.sort_unstable_by_key(|site| site.number);
        sites
    }

    /// Only lack of memory can panic while it is held.
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Site {
    /// Present number of relays.
    pub fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }
}

impl Share {
    /// Whether these bytes may pass. `now` in nanoseconds.
    pub(crate) fn take(&self, bytes: usize, way: Way, now: u64) -> bool {
        let quotas = &self.sites.quotas;
        let may = self.user.rate.take(bytes, quotas.user_bytes_per_second, now)
            && self.address.rate.take(bytes, quotas.address_bytes_per_second, now)
            && self.site.rate.take(bytes, quotas.site_bytes_per_second, now);
        if may {
            match way {
                Way::ToPeer => self.site.to_peers.add(bytes),
                Way::ToClient => self.site.to_clients.add(bytes),
            }
        }
        may
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut table = self.sites.lock();
        self.site.open.fetch_sub(1, Ordering::Relaxed);
        // Counted under the lock, so that a new relay cannot join a user entry that is being removed.
        if self.user.open.fetch_sub(1, Ordering::Relaxed) == 1 {
            table.users.remove(&self.name);
        }
        if self.address.open.fetch_sub(1, Ordering::Relaxed) == 1 {
            table.addresses.remove(&self.from);
        }
    }
}

/// An IPv6 address counts as its /64 network, which is one customer's (RFC 4291 §2.5.4).
fn household(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::For;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn an_address_has_a_limit_of_relays_over_all_users() {
        let sites = sites(Quotas { user_relays: 0, address_relays: 2, ..Quotas::default() });
        let open = |user, from: &str| sites.open(owner(1, user), from.parse().unwrap());
        let kept = [open("1-a", "2001:db8::1").unwrap(), open("1-b", "2001:db8::2").unwrap()];
        assert!(open("1-c", "2001:db8::3").is_none());
        assert!(open("1-c", "2001:db8:0:1::3").is_some());
        drop(kept);
        assert!(open("1-c", "2001:db8::3").is_some());
        assert!(sites.lock().addresses.is_empty());
    }

    fn sites(quotas: Quotas) -> Arc<Sites> {
        Arc::new(Sites::new(quotas))
    }

    fn owner(site: u64, user: &str) -> Owner<'_> {
        Owner { site, user, what_for: For::Anything, until: 0 }
    }

    #[test]
    fn quotas_of_relays_hold_for_users_and_sites_and_are_released() {
        let sites = sites(Quotas { user_relays: 2, site_relays: 3, ..Quotas::default() });
        let mut kept =
            vec![sites.open(owner(1, "1-a"), HERE).unwrap(), sites.open(owner(1, "1-a"), HERE).unwrap()];
        assert!(sites.open(owner(1, "1-a"), HERE).is_none(), "the user has two");
        kept.push(sites.open(owner(1, "1-b"), HERE).unwrap());
        assert!(sites.open(owner(1, "1-c"), HERE).is_none(), "the site has three");
        assert!(sites.open(owner(2, "2-a"), HERE).is_some(), "another site");
        kept.remove(0);
        assert!(sites.open(owner(1, "1-a"), HERE).is_some());
        kept.clear();
        assert!(sites.lock().users.is_empty(), "who has none is forgotten");
        assert_eq!(
            sites.each().iter().map(|site| (site.number, site.open())).collect::<Vec<_>>(),
            [(1, 0), (2, 0)]
        );
    }

    #[test]
    fn bytes_are_metered_by_site_and_way_and_end_at_the_quota() {
        let sites =
            sites(Quotas { user_bytes_per_second: 1_000, site_bytes_per_second: 1_500, ..Quotas::default() });
        let (a, b) = (sites.open(owner(1, "1-a"), HERE).unwrap(), sites.open(owner(1, "1-b"), HERE).unwrap());
        assert!(a.take(900, Way::ToPeer, 0));
        assert!(!a.take(200, Way::ToPeer, 0), "the user's");
        assert!(b.take(500, Way::ToClient, 0));
        assert!(!b.take(200, Way::ToClient, 0), "the site's");
        let site = &sites.each()[0];
        assert_eq!((site.to_peers.read(), site.to_clients.read()), (900, 500));
    }

    #[test]
    fn sites_beyond_the_table_share_a_meter() {
        let sites = sites(Quotas { user_relays: 0, site_relays: 0, ..Quotas::default() });
        for number in 0..METERS as u64 + 10 {
            drop(sites.open(owner(number, "x"), HERE));
        }
        assert_eq!(sites.each().len(), METERS);
        assert_eq!(sites.open(owner(99_999_999, "x"), HERE).unwrap().site.number, 0);
    }
}

//! Guests: users without an account, on sites that allow them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use rand::{Rng, rngs::StdRng};

use crate::limits::{Due, Rate};
use crate::rng::random_letters;
use crate::session::request_limits::household;
use crate::sign_in::SignIn;
use crate::site::token::{self, Claims, MAX_LIFE_MS, Ticket};
use crate::{Profile, Refusal, SecretKind, Site, Sub, Timestamp};

/// A guest with a token older than this gets a new one on return. So only guests who stay away lose their
/// identity.
const RENEWED_AFTER_MS: u64 = 24 * 3600 * 1000;
/// Addresses in memory, some 3 MB. At the bound, addresses that may have another guest at once are removed;
/// if those are less than half, all are. An attacker with so many addresses evades a limit per address
/// anyway, and other users must not be refused for it.
const MAX_ADDRESSES: usize = 1 << 16;

/// The rate of new guests per address.
#[derive(Default)]
pub(crate) struct GuestDoor {
    due_by_address: Mutex<HashMap<IpAddr, Due>>,
}

impl SignIn {
    /// A new guest, with a token to return as the same one. Without a key for guests the server cannot sign
    /// one, and the guest is a new one next time.
    pub(crate) fn new_guest(
        &self,
        site: &Site,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<(Ticket, Option<String>), Refusal> {
        if !site.guests {
            return Err(Refusal::NoGuests);
        }
        if let Some(address) = address {
            let limits = &self.config.limits;
            let rate = Rate::per_minute(limits.guest_burst, limits.guest_per_minute);
            self.guest_door.take(rate, address, now).inspect_err(|_| self.counters.guests_refused.add(1))?;
        }
        self.counters.new_guests.add(1);
        let mut rng = self.rng.lock();
        let (sub, name) = (random_sub(&mut rng), format!("Guest {}", rng.random_range(1000..10_000)));
        drop(rng);
        let profile = Profile { sub, name: name.into(), avatar: None, guest: true };
        Ok(signed(site, profile, now))
    }

    /// The guest, with a token that is valid longer if the shown one is older than a day.
    pub(crate) fn known_guest(
        &self,
        site: &Site,
        ticket: Ticket,
        now: Timestamp,
    ) -> (Ticket, Option<String>) {
        let is_of_guests = site.guest_keys.iter().any(|key| *key.kid == *ticket.kid);
        if is_of_guests && ticket.expires.since(now) > MAX_LIFE_MS - RENEWED_AFTER_MS {
            return (ticket, None);
        }
        match signed(site, ticket.profile.clone(), now) {
            (newer, Some(token)) => (newer, Some(token)),
            (_, None) => (ticket, None),
        }
    }
}

fn signed(site: &Site, profile: Profile, now: Timestamp) -> (Ticket, Option<String>) {
    let expires = Timestamp(now.0 + MAX_LIFE_MS);
    let claims = Claims {
        sub: profile.sub.as_str().to_owned(),
        name: Some(profile.name.to_string()),
        iat: Some((now.0 / 1000) as f64),
        exp: (expires.0 / 1000) as f64,
        guest: true,
        site: Some(site.key.to_string()),
        ..Claims::default()
    };
    let key = site.guest_keys.iter().find(|key| key.kind == SecretKind::Hs256 && key.is_alive(now));
    let guest_token = key.and_then(|key| token::sign(&claims, key));
    let kid = key.map(|key| Arc::from(&*key.kid)).unwrap_or_default();
    let key_ends = key.and_then(|key| key.expires);
    (
        Ticket { profile, expires, issued: None, once: None, role: None, mail: None, kid, key_ends },
        guest_token,
    )
}

impl GuestDoor {
    fn take(&self, rate: Rate, address: IpAddr, now: Timestamp) -> Result<(), Refusal> {
        let mut due_by_address = self.due_by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if due_by_address.len() >= MAX_ADDRESSES {
            due_by_address.retain(|_, due| !due.is_idle(now));
            if due_by_address.len() > MAX_ADDRESSES / 2 {
                due_by_address.clear();
            }
        }
        rate.take(due_by_address.entry(household(address)).or_default(), now)
    }
}

/// 26 letters of 32: 130 bits, which cannot be guessed.
fn random_sub(rng: &mut StdRng) -> Sub {
    Sub::parse(&format!("guest-{}", random_letters(rng, 26))).expect("32 letters are a sub")
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const NOW: Timestamp = Timestamp(1_764_000_000_000);

    fn came(door: &GuestDoor, address: &str, now: Timestamp) -> bool {
        door.take(Rate::per_minute(2, 1), address.parse().unwrap(), now).is_ok()
    }

    #[test]
    fn each_address_has_its_own_limit() {
        let door = GuestDoor::default();
        let outcomes = ["192.0.2.1", "192.0.2.1", "192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"]
            .map(|address| came(&door, address, NOW));
        assert_eq!(outcomes, [true, true, false, false, true]);
        assert!(came(&door, "192.0.2.1", Timestamp(NOW.0 + 60_000)));
        assert!(!came(&door, "192.0.2.1", Timestamp(NOW.0 + 60_001)));
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        let door = GuestDoor::default();
        let outcomes = ["2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:1::3", "2001:db8:0:2::1"]
            .map(|address| came(&door, address, NOW));
        assert_eq!(outcomes, [true, true, false, true]);
    }

    #[test]
    fn addresses_in_memory_are_bounded() {
        let door = GuestDoor::default();
        let rate = Rate::per_minute(1, 1);
        for number in 0..3 * MAX_ADDRESSES as u32 {
            let address = IpAddr::from(Ipv4Addr::from_bits(number));
            assert!(door.take(rate, address, NOW).is_ok(), "{address}");
            assert!(door.due_by_address.lock().unwrap().len() <= MAX_ADDRESSES);
        }
        // Addresses from a minute ago may all send a new guest: only these are removed.
        let later = Timestamp(NOW.0 + 61_000);
        let last = IpAddr::from(Ipv4Addr::from_bits(u32::MAX));
        assert!(door.take(rate, last, later).is_ok() && door.take(rate, last, later).is_err());
    }
}

//! Limits on guessing app passwords. Only failed checks count.
//!
//! | key | allowed | then |
//! |---|---|---|
//! | account and address | 5 failures | a wait that doubles from 10 seconds to an hour |
//! | account, from any address | 100 failures an hour | one every 36 seconds |
//! | address, for any account | 100 failures an hour | one every 36 seconds |
//!
//! An address from which the user has signed in has only the first limit. So a stranger cannot keep users out of their accounts
//! where they use them. A success forgets the failures of its account and address, and no others: an attacker has an account of
//! their own, too.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::limits::{Due, Rate};
use crate::session::request_limits::household;
use crate::{Refusal, SiteId, Sub, Timestamp};

/// Entries of a table, some 4 MB. At the bound, idle entries are removed; if those are less than half, all are. An attacker with
/// so many addresses evades a limit for each anyway.
const MOST_ENTRIES: usize = 1 << 16;
/// Failures of an account from one address that cause no wait.
const FREE: u32 = 5;
const FIRST_WAIT_MS: u64 = 10_000;
const LONGEST_WAIT_MS: u64 = 3_600_000;
/// Without a further attempt, failures and successes are forgotten after this time.
const FORGOTTEN_AFTER_MS: u64 = 24 * 3_600_000;

/// Failures an hour of one account from all addresses, and of one address for all accounts.
fn per_hour() -> Rate {
    Rate::budget(100, 3_600_000)
}

/// The failed checks of app passwords.
#[derive(Default)]
pub(crate) struct Guesses {
    by_pair: Mutex<HashMap<(Account, Option<IpAddr>), Attempts>>,
    by_account: Mutex<HashMap<Account, Due>>,
    by_address: Mutex<HashMap<IpAddr, Due>>,
}

/// A site and the digest of an id, which need not exist.
type Account = (SiteId, [u8; 16]);

/// The attempts of an account from one address.
#[derive(Debug, Clone, Copy, Default)]
struct Attempts {
    failures: u32,
    last: Timestamp,
    /// The user has signed in from here since the last time that this was forgotten.
    is_known: bool,
}

impl Guesses {
    /// Whether a password of this account may be checked now; otherwise the time for a retry.
    pub(crate) fn may_try(
        &self,
        site: SiteId,
        sub: &Sub,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let (account, address) = key(site, sub, address);
        let of_pair = lock(&self.by_pair).get(&(account, address)).copied().unwrap_or_default();
        of_pair.may_try(now)?;
        if of_pair.is_known && !of_pair.is_idle(now) {
            return Ok(());
        }
        let due = lock(&self.by_account).get(&account).copied().unwrap_or_default();
        per_hour().has_left(due, now)?;
        let Some(address) = address else { return Ok(()) };
        let due = lock(&self.by_address).get(&address).copied().unwrap_or_default();
        per_hour().has_left(due, now)
    }

    pub(crate) fn failed(&self, site: SiteId, sub: &Sub, address: Option<IpAddr>, now: Timestamp) {
        let (account, address) = key(site, sub, address);
        let is_idle = |attempts: &Attempts| attempts.is_idle(now);
        let is_known = with(&self.by_pair, (account, address), is_idle, |attempts| attempts.fail(now));
        // Whoever has signed in from here uses up no limit of others.
        if is_known {
            return;
        }
        let is_idle = |due: &Due| due.is_idle(now);
        with(&self.by_account, account, is_idle, |due| per_hour().spend(due, 1, now));
        if let Some(address) = address {
            with(&self.by_address, address, is_idle, |due| per_hour().spend(due, 1, now));
        }
    }

    pub(crate) fn succeeded(&self, site: SiteId, sub: &Sub, address: Option<IpAddr>, now: Timestamp) {
        let is_idle = |attempts: &Attempts| attempts.is_idle(now);
        with(&self.by_pair, key(site, sub, address), is_idle, |attempts| {
            *attempts = Attempts { failures: 0, last: now, is_known: true };
        });
    }
}

impl Attempts {
    fn may_try(self, now: Timestamp) -> Result<(), Refusal> {
        let Some(beyond) = self.failures.checked_sub(FREE) else { return Ok(()) };
        let wait = FIRST_WAIT_MS.saturating_mul(1 << beyond.min(16)).min(LONGEST_WAIT_MS);
        match wait.saturating_sub(now.since(self.last)) {
            0 => Ok(()),
            // The clock was set back. It must not lock the user out for that time.
            _ if self.last.since(now) > wait => Ok(()),
            left => Err(Refusal::RateLimited { retry_after_ms: left as u32 }),
        }
    }

    /// Answers whether the address is a known one.
    fn fail(&mut self, now: Timestamp) -> bool {
        if self.is_idle(now) {
            *self = Attempts::default();
        }
        (self.failures, self.last) = (self.failures.saturating_add(1), now);
        self.is_known
    }

    fn is_idle(&self, now: Timestamp) -> bool {
        now.0.abs_diff(self.last.0) >= FORGOTTEN_AFTER_MS
    }
}

fn key(site: SiteId, sub: &Sub, address: Option<IpAddr>) -> (Account, Option<IpAddr>) {
    ((site, sub.digest()), address.map(household))
}

fn with<K: Eq + Hash, V: Default, T>(
    table: &Mutex<HashMap<K, V>>,
    key: K,
    is_idle: impl Fn(&V) -> bool,
    act: impl FnOnce(&mut V) -> T,
) -> T {
    let mut table = lock(table);
    if table.len() >= MOST_ENTRIES && !table.contains_key(&key) {
        table.retain(|_, value| !is_idle(value));
        if table.len() > MOST_ENTRIES / 2 {
            table.clear();
        }
    }
    act(table.entry(key).or_default())
}

fn lock<T>(table: &Mutex<T>) -> MutexGuard<'_, T> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const SITE: SiteId = SiteId(1);
    const NOW: u64 = 1_800_000_000_000;
    const HOME: &str = "192.0.2.1";
    const ELSEWHERE: &str = "198.51.100.7";

    fn sub(id: &str) -> Sub {
        Sub::parse(id).unwrap()
    }

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    fn may_try(guesses: &Guesses, id: &str, from: &str, ms: u64) -> Result<(), Refusal> {
        guesses.may_try(SITE, &sub(id), address(from), Timestamp(NOW + ms))
    }

    fn fail(guesses: &Guesses, id: &str, from: &str, ms: u64) {
        guesses.failed(SITE, &sub(id), address(from), Timestamp(NOW + ms));
    }

    fn wait(outcome: Result<(), Refusal>) -> u64 {
        match outcome {
            Ok(()) => 0,
            Err(Refusal::RateLimited { retry_after_ms }) => retry_after_ms.into(),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let guesses = Guesses::default();
        let hours = 2 * 3_600_000;
        (0..8).for_each(|second| fail(&guesses, "ann", HOME, hours + second * 1_000));
        assert_ne!(wait(may_try(&guesses, "ann", HOME, hours + 8_000)), 0);
        assert_eq!(wait(may_try(&guesses, "ann", HOME, 0)), 0);
        fail(&guesses, "ann", HOME, 0);
        assert_ne!(wait(may_try(&guesses, "ann", HOME, 1_000)), 0, "its next failure counts again");
        assert_eq!(wait(may_try(&guesses, "ann", HOME, 3_601_000)), 0);
    }

    #[test]
    fn after_five_failures_each_wait_is_twice_as_long() {
        let guesses = Guesses::default();
        let mut now = 0;
        let mut waits = Vec::new();
        for _ in 0..16 {
            let next = wait(may_try(&guesses, "ann", HOME, now));
            assert!(next == 0 || may_try(&guesses, "ann", HOME, now + next - 1).is_err());
            now += next;
            fail(&guesses, "ann", HOME, now);
            waits.push(next / 1_000);
        }
        assert_eq!(waits, [0, 0, 0, 0, 0, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]);
        assert_eq!(may_try(&guesses, "bob", HOME, now), Ok(()), "another account");
        assert_eq!(may_try(&guesses, "ann", ELSEWHERE, now), Ok(()), "another address");
        assert!(may_try(&guesses, "ann", "::ffff:192.0.2.1", now).is_err(), "the same address");
        assert_eq!(guesses.may_try(SiteId(2), &sub("ann"), address(HOME), Timestamp(NOW + now)), Ok(()));
        now += FORGOTTEN_AFTER_MS;
        (0..4).for_each(|_| fail(&guesses, "ann", HOME, now));
        assert_eq!(may_try(&guesses, "ann", HOME, now), Ok(()), "yesterday's are forgotten");
    }

    #[test]
    fn a_success_forgets_the_failures_of_its_account_and_address() {
        let guesses = Guesses::default();
        for from in [HOME, ELSEWHERE] {
            (0..6).for_each(|_| fail(&guesses, "ann", from, 0));
        }
        guesses.succeeded(SITE, &sub("ann"), address(HOME), Timestamp(NOW + 20_000));
        assert_eq!(may_try(&guesses, "ann", HOME, 20_000), Ok(()));
        (0..5).for_each(|_| fail(&guesses, "ann", HOME, 20_000));
        assert_eq!(wait(may_try(&guesses, "ann", HOME, 20_000)), 10_000, "the count began anew");
        assert_eq!(wait(may_try(&guesses, "ann", ELSEWHERE, 1_000)), 19_000);
    }

    #[test]
    fn many_addresses_share_the_limit_of_an_account_but_the_owners_own_address_is_free() {
        let guesses = Guesses::default();
        guesses.succeeded(SITE, &sub("ann"), address(HOME), Timestamp(NOW));
        for number in 0..300_u32 {
            let from = IpAddr::from(Ipv4Addr::from_bits(0x0a00_0000 + number));
            guesses.failed(SITE, &sub("ann"), Some(from), Timestamp(NOW));
        }
        let stranger = may_try(&guesses, "ann", ELSEWHERE, 0);
        assert!(wait(stranger) > 0, "{stranger:?}");
        assert!(
            may_try(&guesses, "ann", ELSEWHERE, 3_600_000 + 36_000).is_ok(),
            "even after thousands of them"
        );
        assert_eq!(may_try(&guesses, "ann", HOME, 0), Ok(()));
        assert_eq!(may_try(&guesses, "bob", ELSEWHERE, 0), Ok(()));
        assert!(may_try(&guesses, "ann", HOME, FORGOTTEN_AFTER_MS).is_ok(), "by then all is forgotten");
    }

    #[test]
    fn one_address_cannot_try_many_accounts() {
        let guesses = Guesses::default();
        guesses.succeeded(SITE, &sub("eve"), address(HOME), Timestamp(NOW));
        (0..100).for_each(|number| fail(&guesses, &format!("u{number}"), HOME, 0));
        assert_eq!(wait(may_try(&guesses, "ann", HOME, 0)), 36_000);
        guesses.succeeded(SITE, &sub("eve"), address(HOME), Timestamp(NOW));
        assert!(may_try(&guesses, "ann", HOME, 0).is_err(), "an own account does not help");
        assert_eq!(may_try(&guesses, "eve", HOME, 0), Ok(()), "a neighbour behind the same address signs in");
        assert_eq!(may_try(&guesses, "ann", ELSEWHERE, 0), Ok(()));
    }

    #[test]
    fn without_an_address_the_account_is_limited() {
        let guesses = Guesses::default();
        (0..6).for_each(|_| guesses.failed(SITE, &sub("ann"), None, Timestamp(NOW)));
        assert!(guesses.may_try(SITE, &sub("ann"), None, Timestamp(NOW)).is_err());
        assert_eq!(may_try(&guesses, "ann", HOME, 0), Ok(()));
    }

    #[test]
    fn a_clock_set_back_makes_no_wait_longer() {
        let guesses = Guesses::default();
        (0..6).for_each(|_| fail(&guesses, "ann", HOME, 10_000));
        assert_eq!(wait(may_try(&guesses, "ann", HOME, 0)), 20_000);
    }

    #[test]
    fn every_table_is_bounded() {
        let guesses = Guesses::default();
        for number in 0..MOST_ENTRIES as u32 + 10 {
            let from = Some(IpAddr::from(Ipv4Addr::from_bits(number)));
            guesses.failed(SITE, &sub(&format!("u{number}")), from, Timestamp(NOW));
        }
        assert!(lock(&guesses.by_pair).len() <= MOST_ENTRIES);
        assert!(
            lock(&guesses.by_account).len() <= MOST_ENTRIES
                && lock(&guesses.by_address).len() <= MOST_ENTRIES
        );
        assert!(!lock(&guesses.by_pair).is_empty());
    }
}

//! What all workers know of remote users: who has a session, and which app has sent them a message.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chat::{SiteId, Sub};
use edge::Handle;

/// Messages whose sending stream is known, for an error that comes back. Older ones are forgotten first.
const MOST_SENT: usize = 8_192;
/// Remote users of one site.
const MOST_OF_SITE: usize = 20_000;
/// Remote users of one site with the same domain.
const MOST_OF_DOMAIN: usize = 5_000;

/// Each call holds the lock for a look-up or an insertion.
#[derive(Default)]
pub struct Directory {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    here: HashSet<(SiteId, Sub)>,
    of_site: HashMap<SiteId, usize>,
    of_domain: HashMap<(SiteId, Box<str>), usize>,
    sent: HashMap<(SiteId, Box<str>), Handle>,
    sent_order: VecDeque<(SiteId, Box<str>)>,
}

impl Directory {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the base session of a remote user exists.
    pub(crate) fn has(&self, site: SiteId, user: &Sub) -> bool {
        self.lock().here.contains(&(site, user.clone()))
    }

    /// Whether one more user of this domain may be added.
    pub(super) fn has_room(&self, site: SiteId, domain: &str) -> bool {
        let inner = self.lock();
        inner.of_site.get(&site).is_none_or(|count| *count < MOST_OF_SITE)
            && inner.of_domain.get(&(site, domain.into())).is_none_or(|count| *count < MOST_OF_DOMAIN)
    }

    pub(super) fn add(&self, site: SiteId, user: &Sub) {
        let mut inner = self.lock();
        if inner.here.insert((site, user.clone())) {
            let domain = super::domain_of(user).unwrap_or_default();
            *inner.of_site.entry(site).or_default() += 1;
            *inner.of_domain.entry((site, domain.into())).or_default() += 1;
        }
    }

    pub(super) fn remove(&self, site: SiteId, user: &Sub) {
        let mut inner = self.lock();
        if !inner.here.remove(&(site, user.clone())) {
            return;
        }
        let of_domain = (site, Box::from(super::domain_of(user).unwrap_or_default()));
        let Inner { of_site, of_domain: counts, .. } = &mut *inner;
        take_one(of_site, &site);
        take_one(counts, &of_domain);
    }

    /// Notes the stream that has sent a message to a remote user.
    pub(crate) fn sent(&self, site: SiteId, client_id: &str, by: Handle) {
        let mut inner = self.lock();
        let key = (site, Box::<str>::from(client_id));
        if inner.sent.insert(key.clone(), by).is_none() {
            inner.sent_order.push_back(key);
        }
        if inner.sent_order.len() > MOST_SENT
            && let Some(oldest) = inner.sent_order.pop_front()
        {
            inner.sent.remove(&oldest);
        }
    }

    /// Whether this stream has sent the message. Only the first call for a message says yes.
    pub(crate) fn take_sent(&self, site: SiteId, client_id: &str, by: Handle) -> bool {
        let (sent, key) = (&mut self.lock().sent, (site, client_id.into()));
        sent.get(&key) == Some(&by) && sent.remove(&key).is_some()
    }
}

fn take_one<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_of_a_domain_are_bounded() {
        let directory = Directory::default();
        let user = |number: usize| Sub::remote(&format!("u{number}@b.example")).unwrap();
        for number in 0..MOST_OF_DOMAIN {
            assert!(directory.has_room(SiteId(1), "b.example"));
            directory.add(SiteId(1), &user(number));
            directory.add(SiteId(1), &user(number));
        }
        assert!(!directory.has_room(SiteId(1), "b.example"));
        assert!(directory.has_room(SiteId(1), "c.example") && directory.has_room(SiteId(2), "b.example"));
        directory.remove(SiteId(1), &user(0));
        directory.remove(SiteId(1), &user(0));
        assert!(directory.has_room(SiteId(1), "b.example") && !directory.has(SiteId(1), &user(0)));
    }

    #[test]
    fn senders_are_forgotten_in_their_order() {
        let directory = Directory::default();
        let by = Handle::new(0, 1, 1);
        for number in 0..=MOST_SENT {
            directory.sent(SiteId(1), &number.to_string(), by);
        }
        assert!(!directory.take_sent(SiteId(1), "0", by));
        assert!(!directory.take_sent(SiteId(1), "1", Handle::new(0, 1, 2)));
        assert!(directory.take_sent(SiteId(1), "1", by));
        assert!(!directory.take_sent(SiteId(1), "1", by));
        assert!(!directory.take_sent(SiteId(2), "2", by));
    }
}

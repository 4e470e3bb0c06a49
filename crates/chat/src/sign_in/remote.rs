//! Users of other XMPP servers: whether a site knows their server, and how many new ones it takes.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::limits::{Due, Rate};
use crate::sign_in::SignIn;
use crate::site::token;
use crate::{Profile, Refusal, Site, SiteId, Sub, Timestamp};

/// New remote users of one domain on one site: at once, and per minute.
const OF_DOMAIN: (u32, u32) = (30, 6);
/// New remote users of one site: at once, and per minute.
const OF_SITE: (u32, u32) = (200, 60);
/// Domains in memory, some 2 MB. At the bound, domains that may have another user at once are removed; if those are less than half, all
/// are, and the limit of the site holds alone.
const MOST_DOMAINS: usize = 1 << 14;

/// The rates of new remote users.
#[derive(Default)]
pub(super) struct RemoteUsers {
    due: Mutex<DueTimes>,
}

#[derive(Default)]
struct DueTimes {
    by_site: HashMap<SiteId, Due>,
    by_domain: HashMap<(SiteId, Box<str>), Due>,
}

impl RemoteUsers {
    fn take(&self, site: SiteId, domain: &str, now: Timestamp) -> Result<(), Refusal> {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let DueTimes { by_site, by_domain } = &mut *due;
        if by_domain.len() >= MOST_DOMAINS {
            by_domain.retain(|_, due| !due.is_idle(now));
            if by_domain.len() > MOST_DOMAINS / 2 {
                by_domain.clear();
            }
        }
        let rate = |(burst, count)| Rate::per_minute(burst, count);
        // The domain comes first, so that one domain cannot use up the rate of the site.
        rate(OF_DOMAIN).take(by_domain.entry((site, domain.into())).or_default(), now)?;
        rate(OF_SITE).take(by_site.entry(site).or_default(), now)
    }
}

impl SignIn {
    /// The profile of a remote user, if the site talks with the user's server.
    pub(super) fn remote_user(
        &self,
        site: &Site,
        sub: &Sub,
        is_known: bool,
        now: Timestamp,
    ) -> Result<Profile, Refusal> {
        let address = sub.remote_address().ok_or(Refusal::BadValue)?;
        // The gateway lets in an address without a user only for components of the operator.
        let (local, domain) =
            address.split_once('@').map_or((None, address), |(local, domain)| (Some(local), domain));
        if local == Some("") || !site.settings.federation.talks_with(domain) {
            return Err(Refusal::NotAllowed);
        }
        if !is_known {
            self.remote_users.take(site.id, domain, now)?;
        }
        Ok(token::profile(sub.clone(), Some(address), None, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_764_000_000_000);

    #[test]
    fn a_domain_cannot_make_many_users_nor_use_up_the_rate_of_the_site() {
        let users = RemoteUsers::default();
        let took = |site, domain: &str| users.take(SiteId(site), domain, NOW).is_ok();
        let of_one = (0..1000).filter(|_| took(1, "flood.example")).count();
        assert_eq!(of_one, 30);
        assert!(took(1, "other.example") && took(2, "flood.example"));
        let of_many = (0..1000).filter(|number| took(1, &format!("d{number}.example"))).count();
        assert_eq!(of_many, 200 - 31);
        assert!(took(2, "other.example"), "another site is not limited");
    }

    #[test]
    fn domains_in_memory_are_bounded() {
        let users = RemoteUsers::default();
        for number in 0..2 * MOST_DOMAINS as u32 {
            let _ = users.take(SiteId(number), "other.example", NOW);
            assert!(users.due.lock().unwrap().by_domain.len() <= MOST_DOMAINS);
        }
    }
}

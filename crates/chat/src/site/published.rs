//! The settings of sites that a gateway needs before a session exists. A node publishes them to fronts, which have no store.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::site::live::Sites;
use crate::site::settings::Federation;
use crate::{Refusal, Site, SiteId};

/// The settings of one site. Secrets are not among them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedSite {
    pub id: SiteId,
    pub key: Arc<str>,
    /// Its XMPP domain.
    pub domain: Option<Arc<str>>,
    pub origins: Vec<String>,
    pub federation: Federation,
    pub keeps_devices: bool,
}

impl PublishedSite {
    fn of(site: &Site) -> PublishedSite {
        PublishedSite {
            id: site.id,
            key: site.key.clone(),
            domain: site.domain().map(Into::into),
            origins: site.origins.clone(),
            federation: site.settings.federation.clone(),
            keeps_devices: site.settings.members.devices,
        }
    }
}

/// The sites of one slot, as its home has published them last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SitesOfSlot {
    pub sites: Vec<Arc<PublishedSite>>,
    /// The sites keep a log of sign-ins.
    pub logs_sign_ins: bool,
}

/// The sites of all slots, as their homes have published them last. Answers like a node that has all of them.
#[derive(Debug, Default)]
pub struct PublishedSites {
    by_id: HashMap<SiteId, Arc<PublishedSite>>,
    by_key: HashMap<Arc<str>, SiteId>,
    by_domain: HashMap<Arc<str>, SiteId>,
    /// All origins of all sites, in lower case.
    origins: HashSet<Box<str>>,
    keep_devices: bool,
    logs_sign_ins: bool,
    is_complete: bool,
    outdone: Vec<SiteId>,
}

impl PublishedSites {
    /// `slots`: by number; None: its home has published nothing yet. The lowest slot with a key or a domain has it. Nobody can sign in to a
    /// site whose key is of another slot, also not by its domain, because a hello names the key alone.
    pub fn new<'a>(slots: impl IntoIterator<Item = Option<&'a SitesOfSlot>>) -> PublishedSites {
        let mut all = PublishedSites { is_complete: true, ..PublishedSites::default() };
        for slot in slots {
            match slot {
                Some(slot) => {
                    all.logs_sign_ins |= slot.logs_sign_ins;
                    slot.sites.iter().for_each(|site| all.add(site));
                }
                None => all.is_complete = false,
            }
        }
        all
    }

    fn add(&mut self, site: &Arc<PublishedSite>) {
        self.by_id.insert(site.id, Arc::clone(site));
        let is_first = match self.by_key.entry(Arc::clone(&site.key)) {
            Entry::Vacant(free) => {
                free.insert(site.id);
                true
            }
            Entry::Occupied(_) => false,
        };
        if !is_first {
            return self.outdone.push(site.id);
        }
        self.origins.extend(site.origins.iter().map(|origin| origin.to_ascii_lowercase().into()));
        self.keep_devices |= site.keeps_devices;
        if let Some(domain) = &site.domain
            && *self.by_domain.entry(Arc::clone(domain)).or_insert(site.id) != site.id
        {
            self.outdone.push(site.id);
        }
    }

    pub fn by_id(&self, id: SiteId) -> Option<&PublishedSite> {
        self.by_id.get(&id).map(|site| &**site)
    }

    pub fn by_key(&self, key: &str) -> Option<&PublishedSite> {
        self.by_id(*self.by_key.get(key)?)
    }

    pub fn by_domain(&self, domain: &str) -> Option<&PublishedSite> {
        self.by_id(*self.by_domain.get(domain)?)
    }

    /// Whether the home of every slot has published its sites. Otherwise an unknown key or domain may be of a site that comes soon.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// For a key or a domain that is not among the sites. A client comes back after [`Refusal::Unavailable`], and gives up after
    /// [`Refusal::NoSuchSite`].
    pub fn refusal_of_unknown(&self) -> Refusal {
        if self.is_complete { Refusal::NoSuchSite } else { Refusal::Unavailable }
    }

    /// The sites whose key or domain a site of a lower slot has.
    pub fn outdone(&self) -> &[SiteId] {
        &self.outdone
    }

    pub(crate) fn know_origin(&self, origin: &str) -> bool {
        self.origins.contains("*") || self.origins.contains(&*origin.to_ascii_lowercase())
    }

    pub(crate) fn keep_devices(&self) -> bool {
        self.keep_devices
    }

    pub fn logs_sign_ins(&self) -> bool {
        self.logs_sign_ins
    }

    pub fn count(&self) -> usize {
        self.by_id.len()
    }
}

impl PublishedSite {
    pub(crate) fn allows_origin(&self, origin: &str) -> bool {
        allows(&self.origins, origin)
    }

    pub(crate) fn page(&self) -> Option<&str> {
        page(&self.origins)
    }
}

/// Origins compare as ASCII without case (RFC 6454 §4: scheme and host are lower case).
pub(crate) fn allows(origins: &[String], origin: &str) -> bool {
    origins.iter().any(|allowed| allowed == "*" || allowed.eq_ignore_ascii_case(origin))
}

/// A page with the widget: the first origin of the site.
pub(crate) fn page(origins: &[String]) -> Option<&str> {
    origins.iter().find(|origin| origin.starts_with("http")).map(String::as_str)
}

impl Sites {
    /// All sites for fronts, in the order of their ids.
    pub(crate) fn published(&self) -> Vec<PublishedSite> {
        let mut all: Vec<PublishedSite> =
            self.all().iter().map(|live| PublishedSite::of(&live.site)).collect();
        all.sort_unstable_by_key(|site| site.id);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(sites: &[(u32, &str, &str)]) -> SitesOfSlot {
        let site = |&(id, key, domain): &(u32, &str, &str)| {
            Arc::new(PublishedSite {
                id: SiteId(id),
                key: key.into(),
                domain: (!domain.is_empty()).then(|| domain.into()),
                origins: vec![format!("https://{id}.example")],
                federation: Federation::default(),
                keeps_devices: false,
            })
        };
        SitesOfSlot { sites: sites.iter().map(site).collect(), logs_sign_ins: false }
    }

    #[test]
    fn the_lowest_slot_has_a_key_and_a_domain_whatever_came_first() {
        let first = slot(&[(1, "forum", "forum.example"), (2, "shop", "")]);
        let second = slot(&[
            (0x0100_0001, "forum", "other.example"),
            (0x0100_0002, "club", "forum.example"),
            (0x0100_0003, "team", "team.example"),
        ]);
        let alone = PublishedSites::new([None, Some(&second)]);
        assert!(!alone.is_complete() && alone.outdone().is_empty());
        assert_eq!(alone.by_key("forum").map(|site| site.id), Some(SiteId(0x0100_0001)));
        let both = PublishedSites::new([Some(&first), Some(&second)]);
        assert!(both.is_complete());
        assert_eq!(both.outdone(), [0x0100_0001, 0x0100_0002].map(SiteId));
        let key = |key: &str| both.by_key(key).map(|site| site.id.0);
        assert_eq!([key("forum"), key("shop")], [Some(1), Some(2)]);
        assert_eq!([key("club"), key("team")], [Some(0x0100_0002), Some(0x0100_0003)]);
        let domain = |domain: &str| both.by_domain(domain).map(|site| site.id.0);
        assert_eq!([domain("forum.example"), domain("team.example")], [Some(1), Some(0x0100_0003)]);
        // A hello with its key would reach the site of the other slot.
        assert_eq!(domain("other.example"), None);
        assert!(!both.know_origin("https://16777217.example"));
        assert!(both.by_id(SiteId(0x0100_0001)).is_some(), "its sessions go on");
    }
}

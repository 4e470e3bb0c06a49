//! The settings of sites that a gateway needs before a session exists. A node publishes them to fronts, which have no store.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::site::live::Sites;
use crate::site::settings::Federation;
use crate::{Site, SiteId};

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

/// The sites of another node, as it has published them last. Answers like that node.
#[derive(Debug, Default)]
pub struct PublishedSites {
    by_id: HashMap<SiteId, PublishedSite>,
    by_key: HashMap<Arc<str>, SiteId>,
    by_domain: HashMap<Arc<str>, SiteId>,
    /// All origins of all sites, in lower case.
    origins: HashSet<Box<str>>,
    keep_devices: bool,
    logs_sign_ins: bool,
}

impl PublishedSites {
    pub fn new(sites: Vec<PublishedSite>, logs_sign_ins: bool) -> PublishedSites {
        let mut all = PublishedSites { logs_sign_ins, ..PublishedSites::default() };
        for site in sites {
            all.origins.extend(site.origins.iter().map(|origin| origin.to_ascii_lowercase().into()));
            all.keep_devices |= site.keeps_devices;
            all.by_key.insert(site.key.clone(), site.id);
            if let Some(domain) = &site.domain {
                all.by_domain.insert(domain.clone(), site.id);
            }
            all.by_id.insert(site.id, site);
        }
        all
    }

    /// In no order.
    pub fn all(&self) -> impl Iterator<Item = &PublishedSite> {
        self.by_id.values()
    }

    pub fn by_id(&self, id: SiteId) -> Option<&PublishedSite> {
        self.by_id.get(&id)
    }

    pub fn by_key(&self, key: &str) -> Option<&PublishedSite> {
        self.by_id.get(self.by_key.get(key)?)
    }

    pub fn by_domain(&self, domain: &str) -> Option<&PublishedSite> {
        self.by_id.get(self.by_domain.get(domain)?)
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

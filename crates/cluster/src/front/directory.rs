//! The sites of all slots at a front, as their homes have published them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use chat::{PublishedSite, PublishedSites, SiteId, SitesOfSlot, Slot};

/// Lines in the log for one change.
const MOST_REPORTED: usize = 10;

/// One list of all sites. It is made anew when the list of a slot changes.
pub(crate) struct Directory {
    by_slot: Mutex<Vec<(Slot, Option<SitesOfSlot>)>>,
    all: RwLock<Arc<PublishedSites>>,
}

impl Directory {
    /// `slots`: in their order.
    pub(crate) fn new(slots: impl IntoIterator<Item = Slot>) -> Directory {
        let by_slot = slots.into_iter().map(|slot| (slot, None)).collect();
        Directory { by_slot: Mutex::new(by_slot), all: RwLock::default() }
    }

    pub(crate) fn all(&self) -> Arc<PublishedSites> {
        Arc::clone(&self.all.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// None: its home has published none yet.
    pub(crate) fn of_slot(&self, slot: Slot) -> Option<SitesOfSlot> {
        let by_slot = self.by_slot.lock().unwrap_or_else(PoisonError::into_inner);
        by_slot.iter().find(|(known, _)| *known == slot)?.1.clone()
    }

    /// The home of a slot has published its sites. A broken home must not take those of another slot: they are ignored.
    pub(crate) fn publish(&self, slot: Slot, mut sites: Vec<PublishedSite>, logs_sign_ins: bool) {
        let count = sites.len();
        sites.retain(|site| site.id.slot() == slot);
        if sites.len() < count {
            let ignored = count - sites.len();
            tracing::error!(slot = slot.0, ignored, "a home has published sites of other slots");
        }
        let sites = sites.into_iter().map(Arc::new).collect();
        let new = Some(SitesOfSlot { sites, logs_sign_ins });
        let mut by_slot = self.by_slot.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((_, old)) = by_slot.iter_mut().find(|(known, _)| *known == slot) else { return };
        // A home publishes its sites on each new link, too.
        if *old == new {
            return;
        }
        *old = new;
        let all = PublishedSites::new(by_slot.iter().map(|(_, sites)| sites.as_ref()));
        report(all.outdone(), self.all().outdone());
        *self.all.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(all);
    }
}

/// Each site once, as long as it lasts.
fn report(outdone: &[SiteId], known: &[SiteId]) {
    let known: HashSet<&SiteId> = known.iter().collect();
    for site in outdone.iter().filter(|site| !known.contains(site)).take(MOST_REPORTED) {
        tracing::error!(
            site = site.0,
            slot = site.slot().0,
            "a site has the key or the domain of a site of a lower slot, which gets its clients"
        );
    }
}

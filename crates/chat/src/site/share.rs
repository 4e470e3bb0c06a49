//! Bounds that all sites of a node share: no site may take the last places.

use std::collections::HashMap;

use crate::SiteId;

/// Whether a site with `of_site` of the `taken` places may take `wanted` more. The last eighth of the places
/// is for sites with less than a 64th of all. Fewer than 64 places are not divided.
pub(crate) fn has_places(taken: usize, of_site: usize, wanted: usize, most: usize) -> bool {
    let (after, small) = (taken.saturating_add(wanted), most / 64);
    after <= most - 8 * small || after <= most && of_site.saturating_add(wanted) <= small
}

/// The places taken, in total and by site.
#[derive(Debug, Default)]
pub(crate) struct SiteCounts {
    all: usize,
    by_site: HashMap<SiteId, usize>,
}

impl SiteCounts {
    pub(crate) fn all(&self) -> usize {
        self.all
    }

    pub(crate) fn of(&self, site: SiteId) -> usize {
        self.by_site.get(&site).copied().unwrap_or_default()
    }

    pub(crate) fn has_place(&self, site: SiteId, most: usize) -> bool {
        has_places(self.all, self.of(site), 1, most)
    }

    pub(crate) fn add(&mut self, site: SiteId) {
        self.all += 1;
        *self.by_site.entry(site).or_default() += 1;
    }

    pub(crate) fn remove(&mut self, site: SiteId) {
        let Some(of_site) = self.by_site.get_mut(&site) else { return };
        self.all = self.all.saturating_sub(1);
        *of_site = of_site.saturating_sub(1);
        if *of_site == 0 {
            self.by_site.remove(&site);
        }
        if self.by_site.is_empty() {
            self.by_site.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 6_400;

    fn fill(counts: &mut SiteCounts, site: SiteId) -> usize {
        let before = counts.all();
        while counts.has_place(site, MOST) {
            counts.add(site);
        }
        counts.all() - before
    }

    #[test]
    fn no_site_takes_the_last_places() {
        let mut counts = SiteCounts::default();
        assert_eq!(fill(&mut counts, SiteId(1)), MOST / 8 * 7);
        assert_eq!(fill(&mut counts, SiteId(2)), MOST / 64);
        assert_eq!(fill(&mut counts, SiteId(3)), MOST / 64);
        let rest: usize = (4..99).map(|site| fill(&mut counts, SiteId(site))).sum();
        assert_eq!((counts.all(), rest), (MOST, MOST / 8 - MOST / 32));
    }

    #[test]
    fn returned_places_can_be_taken_again() {
        let mut counts = SiteCounts::default();
        fill(&mut counts, SiteId(1));
        counts.remove(SiteId(1));
        assert_eq!(fill(&mut counts, SiteId(1)), 1);
        while counts.of(SiteId(1)) > 0 {
            counts.remove(SiteId(1));
        }
        counts.remove(SiteId(1));
        assert!(counts.all() == 0 && counts.by_site.is_empty());
    }

    #[test]
    fn bytes_count_as_places() {
        assert!(has_places(0, 0, MOST / 8 * 7, MOST));
        assert!(!has_places(1, 1, MOST / 8 * 7, MOST));
        assert!(has_places(MOST / 8 * 7, 0, MOST / 64, MOST));
        assert!(!has_places(MOST / 8 * 7, 1, MOST / 64, MOST));
        assert!(!has_places(MOST, 0, 1, MOST));
        assert!(has_places(9, 9, 1, 10) && !has_places(10, 0, 1, 10), "few places");
    }
}

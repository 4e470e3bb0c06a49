//! The publication of a command: every text and address in it that other members will see. One gate checks
//! all of them.
//!
//! The gate applies the site's filters, its rule for links of new members, and the right to set addresses.
//! The `publication` of each command lists every field, so that a new field does not compile without a
//! decision.

use smallvec::{SmallVec, smallvec};

use crate::session::Asker;
use crate::site::filters::FilterAct;
use crate::site::trust;
use crate::{Hit, Refusal, SiteRole, Timestamp};

/// The parts of a command that others will see.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Publication<'a> {
    /// In place: each message has one or two.
    pub(crate) texts: SmallVec<[&'a str; 2]>,
    /// Addresses from which the browsers of others would fetch a picture.
    pub(crate) addresses: Vec<&'a str>,
    /// The command is a message that a moderator can check first. Other commands are refused if a filter
    /// would hold them.
    pub(crate) can_wait: bool,
}

impl<'a> Publication<'a> {
    pub(crate) fn text(text: &'a str) -> Publication<'a> {
        Publication { texts: smallvec![text], ..Publication::default() }
    }
}

impl Asker {
    /// Whether this may be published, and the verdict of the filters; None: no filter matched. Moderators may
    /// write everything.
    pub(crate) fn may_publish(
        &self,
        publication: &Publication<'_>,
        now: Timestamp,
    ) -> Result<Option<FilterAct>, Refusal> {
        // A picture's address reveals the network address of every viewer to its owner. A path on the site
        // itself would be fetched with the reader's cookies. So only the site sets addresses.
        if !publication.addresses.is_empty() && self.role < SiteRole::Admin {
            return Err(Refusal::NotAllowed);
        }
        if self.role >= SiteRole::Moderator {
            return Ok(None);
        }
        let settings = &self.site.site.settings;
        let mut strictest = None;
        for text in &publication.texts {
            trust::may_say(settings, self.level, text)?;
            self.site.take_checks(text, now)?;
            strictest = strictest.max(settings.filters.verdict(&self.site.filters, text));
        }
        match strictest {
            Some(FilterAct::Reject) => Err(Refusal::Filtered),
            Some(FilterAct::Hold) if !publication.can_wait => Err(Refusal::Filtered),
            other => Ok(other),
        }
    }

    /// Like [`may_publish`](Self::may_publish), for one text that cannot wait for a moderator.
    pub(crate) fn may_publish_text(&self, text: &str, now: Timestamp) -> Result<Option<FilterAct>, Refusal> {
        self.may_publish(&Publication::text(text), now)
    }

    /// The matches of the site's filters in these texts.
    pub(crate) fn hits<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Vec<Hit> {
        let filters = &self.site.site.settings.filters;
        texts.into_iter().flat_map(|text| filters.hits(&self.site.filters, text)).collect()
    }

    /// The matches in delivered texts that moderators should check. None: no such match.
    pub(crate) fn flagged<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Option<Vec<Hit>> {
        let is_asked = self.role < SiteRole::Moderator;
        let hits = if is_asked { self.hits(texts) } else { Vec::new() };
        (!hits.is_empty() && hits.iter().all(|hit| hit.act == FilterAct::Flag)).then_some(hits)
    }
}

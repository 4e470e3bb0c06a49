//! The name of the room of a page.

use crate::rooms::RoomName;
use crate::session::Asker;
use crate::site::filters::FilterAct;
use crate::{SiteRole, Timestamp};

impl Asker {
    /// Every visitor may create the room of a page, and the page's key becomes its name. A key that the
    /// filters refuse still leads to the room, which then has no name. The rule about new members' links does
    /// not apply: keys may be addresses of the site.
    pub(crate) fn page_named(&self, room: RoomName, now: Timestamp) -> RoomName {
        let RoomName::Page(site, key) = room else { return room };
        let filters = &self.site.site.settings.filters;
        let is_checked = self.role < SiteRole::Moderator;
        let is_refused = is_checked
            && (self.site.take_checks(key.as_str(), now).is_err()
                || filters.verdict(&self.site.filters, key.as_str()) >= Some(FilterAct::Hold));
        RoomName::Page(site, if is_refused { key.unnamed() } else { key })
    }
}

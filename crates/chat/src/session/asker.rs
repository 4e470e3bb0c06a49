//! The author of a command.

use std::sync::Arc;

use crate::privacy::Visibility;
use crate::site::live::LiveSite;
use crate::{Level, SessionId, SiteRole, Sub};

/// The author of a command, with everything that commands need of the session.
#[derive(Clone)]
pub(crate) struct Asker {
    pub(crate) session: SessionId,
    pub(crate) sub: Sub,
    pub(crate) guest: bool,
    pub(crate) role: SiteRole,
    pub(crate) level: Level,
    /// New enough that raid mode applies to the user.
    pub(crate) recent: bool,
    pub(crate) shadowed: bool,
    /// The user's choices about their visibility.
    pub(crate) visibility: Visibility,
    pub(crate) site: Arc<LiveSite>,
}

impl Asker {
    /// Whether the site keeps a list of the user's devices.
    pub(crate) fn keeps_devices(&self) -> bool {
        self.site.site.settings.members.devices && !self.guest
    }
}

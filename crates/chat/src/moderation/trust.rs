//! A user's level of trust, computed at the sign-in.

use crate::moderation::Moderation;
use crate::session::Completion;
use crate::site::trust::worth_counting;
use crate::{Level, Settings, SiteStanding, Timestamp, UserId, UserRow, level};
use std::sync::Arc;

impl Moderation {
    /// The standing of a user at the sign-in, as far as it is known without the store.
    pub(crate) fn standing_at_sign_in(
        &self,
        settings: &Settings,
        site: Timestamp,
        row: &UserRow,
        now: Timestamp,
    ) -> SiteStanding {
        let known = level(&settings.trust, site, row.created, 0, now);
        let level = if row.on_site.fixed { row.on_site.level } else { row.on_site.level.max(known) };
        SiteStanding { level, ..row.on_site }
    }

    /// Counts the user's messages, if that could raise the level. Runs in the background: the sign-in does
    /// not wait for it.
    pub(crate) fn look_at_trust(
        self: &Arc<Self>,
        settings: &Settings,
        site: Timestamp,
        row: &UserRow,
        now: Timestamp,
    ) {
        let trust = settings.trust;
        if !trust.on || row.on_site.fixed {
            return;
        }
        let (user, came, before) = (row.id, row.created, row.on_site.level);
        let at = before.max(level(&trust, site, came, 0, now));
        let Some(most) = worth_counting(&trust, at, now.since(came)) else { return };
        let done = self.then(move |this, written| {
            let Ok(written) = written else { return };
            let reached = level(&trust, site, came, written, now);
            if reached > before {
                this.keep_level(user, reached);
            }
        });
        self.store.written(user, most, done);
    }

    fn keep_level(self: &Arc<Self>, user: UserId, level: Level) {
        let done = self.then(move |this, row| {
            if let Ok(Some(row)) = row {
                this.users.recent().user_is(&row);
                this.stand(user, row.on_site);
            }
        });
        self.store.keep_level(user, level, done);
    }
}

//! The command that changes a member's own profile, and its effect on others.

use std::sync::Arc;

use crate::account::Account;
use crate::account::profile::{ProfileChange, ProfileView};
use crate::command::AnswerTo;
use crate::session::{Asker, Completion};
use crate::store::unavailable;
use crate::{Hit, Refusal, ReportAbout, Timestamp, UserRow};

impl Account {
    pub(crate) fn change_profile(
        self: &Arc<Self>,
        asker: Asker,
        re: u64,
        change: ProfileChange,
        flagged: Option<Vec<Hit>>,
        now: Timestamp,
    ) {
        let change = match change.tidied(now).and_then(|change| may_change(&asker, change)) {
            Ok(change) => change,
            Err(refusal) => {
                return self.sessions.refuse(asker.session.handle, AnswerTo::Request(re), refusal);
            }
        };
        let user = asker.session.user;
        let done = self.then::<Option<ProfileView>>(move |this, view| {
            let view = view.map_err(unavailable).and_then(|view| view.ok_or(Refusal::NoSession));
            if let Ok(view) = &view {
                this.users.recent().user_is(&view.row);
                this.privacy_changed(&asker, &view.row);
                if let Some(hits) = &flagged {
                    this.moderation.flag_about(user.site, ReportAbout::User(user), hits, now);
                }
            }
            let card = view.map(|view| this.card(&asker, view, now));
            this.answer_profile(&asker, re, card);
        });
        self.store.change_profile(user, change, done);
    }

    /// Applies the stored choices to the user's sessions, and sends watchers the presence they may see now.
    fn privacy_changed(self: &Arc<Self>, asker: &Asker, row: &UserRow) {
        let mut shard = self.sessions.lock(row.id);
        let Some(user) = shard.user(row.id) else { return };
        if std::mem::replace(&mut user.privacy, row.privacy) == row.privacy {
            return;
        }
        // The next round publishes changes that everybody sees; this call publishes the others.
        shard.mark_changed(row.id);
        drop(shard);
        self.presences.sight_of_changed(asker.site.site.mode, row);
    }
}

/// The gate has checked its texts before, see `session/publication.rs`.
fn may_change(asker: &Asker, change: ProfileChange) -> Result<ProfileChange, Refusal> {
    let settings = &asker.site.site.settings;
    if change.name.is_some() && !settings.members.rename {
        return Err(Refusal::NotAllowed);
    }
    Ok(change)
}

//! Changes that owners and moderators make for the whole site: settings, filters, raid mode. They apply at
//! once to all connected users.

use serde::{Deserialize, Serialize};

use crate::moderation::Event;
use std::sync::Arc;

use serde_json::Value;

use crate::command::AnswerTo;
use crate::moderation::Moderation;
use crate::session::{Asker, Handles};
use crate::site::live::LiveSite;
use crate::site::settings::{Access, Settings};
use crate::{FilterAct, Hit, Refusal, SiteId, SiteRole, Timestamp};

/// Write access of a site, sent to all its users.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SiteState {
    pub access: Access,
    /// The owner's explanation, if not all may write.
    pub text: Arc<str>,
    /// End of raid mode. Only for moderators.
    pub raid_until: Option<Timestamp>,
}

/// The result of a test of the filters on a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterTest {
    pub act: Option<FilterAct>,
    pub hits: Vec<Hit>,
}

impl SiteState {
    pub(crate) fn of(settings: &Settings, role: SiteRole) -> SiteState {
        let until = Some(Timestamp(settings.raid.until)).filter(|until| until.0 > 0);
        SiteState {
            access: settings.access,
            text: if settings.access == Access::Open { "".into() } else { (*settings.access_text).into() },
            raid_until: until.filter(|_| role >= SiteRole::Moderator),
        }
    }

    /// Whether this is the default state.
    pub fn is_usual(&self) -> bool {
        *self == SiteState::default()
    }
}

impl LiveSite {
    pub(crate) fn test_filters(&self, body: &str, now: Timestamp) -> Result<FilterTest, Refusal> {
        self.take_checks(body, now)?;
        let hits = self.site.settings.filters.hits(&self.filters, body);
        Ok(FilterTest { act: hits.iter().map(|hit| hit.act).max(), hits })
    }
}

impl Moderation {
    /// The full settings, which only admins may see.
    pub(crate) fn settings_for(&self, asker: &Asker, re: u64) {
        let handle = asker.session.handle;
        match crate::may_on_site(asker.role, crate::SiteAct::Configure, SiteRole::Member) {
            Ok(()) => {
                let settings = asker.site.site.settings.document();
                self.sessions.answer(handle, re, Event::Settings(Box::new(settings)));
            }
            Err(refusal) => self.sessions.refuse(handle, AnswerTo::Request(re), refusal),
        }
    }

    /// Tries the patch on the settings in memory, to describe errors in it. The store decides whether it is
    /// valid.
    pub(crate) fn configure(self: &Arc<Self>, asker: &Asker, re: u64, patch: Box<Value>, now: Timestamp) {
        let (handle, site) = (asker.session.handle, asker.site.site.id);
        let may = crate::may_on_site(asker.role, crate::SiteAct::Configure, SiteRole::Member)
            .and_then(|()| asker.site.take_change(now));
        if let Err(why) = may {
            return self.sessions.refuse(handle, AnswerTo::Request(re), why);
        }
        if let Err(why) = asker.site.site.settings.patched(&patch) {
            return self.sessions.answer(handle, re, Event::NotSet(why.to_string().into()));
        }
        let this = self.clone();
        let then = move |outcome: Result<_, Refusal>| match outcome {
            Ok(_) => {
                let Some(live) = this.sites.by_id(site) else { return };
                let settings = Box::new(live.site.settings.document());
                this.sessions.answer(handle, re, Event::Settings(settings));
            }
            Err(refusal) => this.sessions.refuse(handle, AnswerTo::Request(re), refusal),
        };
        let by = crate::moderation::By::User(asker.session.user);
        let wanted = crate::moderation::Moderate::Configure { patch };
        self.moderate_as(site, by, Some(asker.sub.clone()), wanted, now, Box::new(then));
    }

    pub(crate) fn test_filter(&self, asker: &Asker, re: u64, body: &str, now: Timestamp) {
        let handle = asker.session.handle;
        let may = crate::may_on_site(asker.role, crate::SiteAct::Look, SiteRole::Member)
            .and_then(|()| self.config.limits.check_body(body))
            .and_then(|()| asker.site.test_filters(body, now));
        match may {
            Ok(test) => {
                self.sessions.answer(handle, re, Event::FilterTested(Box::new(test)));
            }
            Err(refusal) => self.sessions.refuse(handle, AnswerTo::Request(re), refusal),
        }
    }

    /// Applies new settings on this node. Other nodes, and changes by other processes, follow through the
    /// store's revision.
    pub(crate) fn settings_are(self: &Arc<Self>, site: SiteId, settings: Settings) {
        if let Some([before, after]) = self.sites.set(site, settings) {
            self.end_closed();
            self.end_app_password_sessions(&before, &after);
            self.send_site_changes(&before, &after);
        }
    }

    /// Notifies all connected users of the site whose view has changed.
    pub(crate) fn send_site_changes(&self, before: &LiveSite, after: &LiveSite) {
        let site = after.site.id;
        let state = |live: &LiveSite, role| SiteState::of(&live.site.settings, role);
        let changed = |role| state(before, role) != state(after, role);
        for role in [SiteRole::Member, SiteRole::Moderator] {
            if !changed(role) {
                continue;
            }
            let event = Event::Site(Arc::new(state(after, role)));
            for mut shard in self.sessions.each() {
                let mut handles = Handles::new();
                let is_meant = |of: SiteRole| (of >= SiteRole::Moderator) == (role >= SiteRole::Moderator);
                for user in
                    shard.users().filter(|user| user.id.site == site && is_meant(user.standing.get().role))
                {
                    handles.extend(user.live());
                }
                drop(shard);
                self.sessions.send_all(&handles, event.clone());
            }
        }
    }
}

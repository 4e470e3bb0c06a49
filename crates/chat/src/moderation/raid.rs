//! Raid mode: for a limited time, new members can neither write to strangers nor in rooms. Started by a
//! moderator, or when more new members join in a minute than the site's setting allows. Ends by itself.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::command::Policy;
use crate::limits::Rate;
use crate::moderation::{Moderate, Moderation};
use crate::site::live::LiveSite;
use crate::site::settings::Settings;
use crate::{By, Refusal, SiteRole, Timestamp};

/// Refuses commands of new members during a raid. Only the store can decide whether a message is the *first*
/// to a user.
pub(crate) fn check(
    settings: &Settings,
    role: SiteRole,
    recent: bool,
    policy: Policy,
    now: Timestamp,
) -> Result<(), Refusal> {
    if !settings.raid.is_on(now) || !recent || role >= SiteRole::Moderator {
        return Ok(());
    }
    if policy.is_stopped_by_raid { Err(Refusal::Raid) } else { Ok(()) }
}

impl Moderation {
    /// Counts a new member, and starts raid mode if there are too many.
    pub(crate) fn newcomer(self: &Arc<Self>, live: &LiveSite, now: Timestamp) {
        let raid = live.site.settings.raid;
        if raid.new_per_minute == 0 || raid.is_on(now) {
            return;
        }
        let rate = Rate::per_minute(raid.new_per_minute, raid.new_per_minute);
        if rate.take_shared(&live.counters.newcomers, now).is_ok() {
            return;
        }
        let until = now.0 + u64::from(raid.minutes.max(1)) * 60_000;
        // Only one of several simultaneous newcomers starts it.
        if live.counters.raid_until.fetch_max(until, Ordering::AcqRel) > now.0 {
            return;
        }
        let (site, minutes) = (live.site.id, raid.minutes);
        tracing::warn!(site = %live.site.key, minutes, "raid mode is on: more new members than the site allows");
        let wanted = Moderate::Raid { until: Timestamp(until) };
        self.moderate_as(site, By::Site, None, wanted, now, Box::new(drop));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Command, ContactAction, ConversationId, PageKey, PageOf, SiteId, Sub, To, contacts, messages, rooms,
    };

    #[test]
    fn raid_mode_limits_new_members() {
        let now = Timestamp(1_000);
        let calm = Settings::default();
        let mut raid = Settings::default();
        raid.raid.until = 1_001;
        let sub = || Sub::parse("ann").expect("it is one");
        let send = |to| {
            Command::from(messages::Command::Send {
                client_id: "1".into(),
                to,
                body: "Hello".into(),
                extension: None,
                reply_to: None,
                files: Vec::new(),
                rich: None,
            })
        };
        let room = ConversationId { site: SiteId(1), key: 1 << 63 };
        let page = To::Page(PageKey::parse("/thread/1").expect("it is one"));
        let contact = |action| Command::from(contacts::Command::Change { action, user: sub() });
        for (command, refused) in [
            (send(To::Conversation(room)), true),
            (send(page), true),
            (send(To::User(sub())), false),
            (contact(ContactAction::Request), true),
            (contact(ContactAction::Accept), false),
            (rooms::Command::List { query: None, page: PageOf::default() }.into(), false),
        ] {
            let said = |settings, role, recent| check(settings, role, recent, command.policy(), now).is_err();
            assert_eq!(said(&raid, SiteRole::Member, true), refused, "{command:?}");
            assert!(!said(&raid, SiteRole::Member, false), "who was here before");
            assert!(!said(&raid, SiteRole::Moderator, true));
            assert!(!said(&calm, SiteRole::Member, true));
        }
        assert!(!raid.raid.is_on(Timestamp(1_001)), "it ends by itself");
    }
}

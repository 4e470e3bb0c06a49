//! Whether a command of a session is carried out at all: who may say what now, and how fast.

#![deny(clippy::wildcard_enum_match_arm)]

use crate::config::GUEST_SHARE;
use crate::limits::Rate;
use crate::node::Inner;
use crate::privacy::Visibility;
use crate::session::request_limits::RequestKind;
use crate::session::{Asker, State, UserHere};
use crate::site::filters::FilterAct;
use crate::site::settings::{Access, Settings};
use crate::{Command, Refusal, SessionId, SiteRole, Timestamp};

/// A command that may be carried out.
pub(crate) struct Admitted {
    pub(crate) asker: Asker,
    /// Earlier commands of the session wait for a person to be read.
    pub(crate) is_waiting: bool,
    /// The verdict of the filters on the text.
    pub(crate) verdict: Option<FilterAct>,
}

impl Inner {
    /// Checks that the session lives and is not too fast, and that its user may say this at all now.
    pub(crate) fn admit(
        &self,
        session: SessionId,
        command: &Command,
        now: Timestamp,
    ) -> Result<Admitted, Refusal> {
        let site = self.sites.by_id(session.user.site).ok_or(Refusal::NoSession)?;
        let settings = &site.site.settings;
        let mut shard = self.sessions.lock(session.user);
        let user = shard.user(session.user).ok_or(Refusal::NoSession)?;
        let of_session = user
            .sessions
            .iter()
            .find(|here| here.handle == session.handle && here.state != State::Starting)
            .ok_or(Refusal::NoSession)?;
        let is_waiting = of_session.is_waiting;
        may_now(user, settings, command, now)?;
        let rate = self.rate(user, settings, command);
        rate.take(if command.is_send() { &mut user.sends } else { &mut user.commands }, now)?;
        let standing = user.standing.get();
        let asker = Asker {
            session,
            sub: user.sub.clone(),
            guest: user.guest,
            role: standing.role,
            level: standing.level,
            recent: user.standing.is_recent(),
            shadowed: standing.shadowed,
            visibility: Visibility { privacy: user.privacy, chosen: user.chosen },
            site,
        };
        drop(shard);
        if command.is_recorded() {
            self.requests.count_request(RequestKind::Recorded, session.user, asker.guest, now)?;
        }
        let verdict = asker.may_publish(&command.published(), now)?;
        Ok(Admitted { asker, is_waiting, verdict })
    }

    fn rate(&self, user: &UserHere, settings: &Settings, command: &Command) -> Rate {
        let limits = &self.config.limits;
        if command.is_send() {
            let rate = Rate::per_minute(limits.send_burst, limits.send_per_minute);
            return crate::site::trust::paced(rate, settings, user.standing.get().level, user.guest);
        }
        let rate = Rate::per_minute(limits.command_burst, limits.command_per_minute);
        if user.guest { rate.slowed(GUEST_SHARE) } else { rate }
    }
}

/// By what holds for the user and for the site at this moment.
fn may_now(user: &UserHere, settings: &Settings, command: &Command, now: Timestamp) -> Result<(), Refusal> {
    let standing = user.standing.get();
    if command.speaks() {
        if standing.muted {
            return Err(Refusal::Muted);
        }
        if settings.access != Access::Open && standing.role < SiteRole::Moderator {
            return Err(Refusal::SiteReadOnly);
        }
    }
    if standing.shadowed && command.is_seen_by_others() {
        return Err(Refusal::NotAllowed);
    }
    crate::moderation::raid::check(settings, standing.role, user.standing.is_recent(), command, now)
}

//! The admission of a command: the current rights of its author, request limits, and filters.

#![deny(clippy::wildcard_enum_match_arm)]

use crate::command::{Answer, Policy};
use crate::config::GUEST_SHARE;
use crate::limits::Rate;
use crate::node::Inner;
use crate::privacy::Visibility;
use crate::session::{Asker, Context, State, UserHere};
use crate::site::filters::FilterAct;
use crate::site::settings::{Access, Settings};
use crate::{Refusal, Request, SessionId, SiteRole, Timestamp};

impl Inner {
    /// Checks that the session exists, keeps its rate, and that its user may send this command now.
    pub(crate) fn admit(
        &self,
        session: SessionId,
        request: &Request,
        now: Timestamp,
    ) -> Result<Context, Refusal> {
        let policy = request.command.policy();
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
        may_now(user, settings, policy, now)?;
        let rate = self.rate(user, settings, policy);
        rate.take(if policy.is_send { &mut user.sends } else { &mut user.commands }, now)?;
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
        if let Some(kind) = policy.counts_as {
            self.requests.count_request(kind, session.user, asker.guest, now)?;
        }
        if policy.answer == Answer::Number && request.re.is_none() {
            return Err(Refusal::BadValue);
        }
        let publication = request.command.publication();
        let verdict = asker.may_publish(&publication, now)?;
        let flagged = match verdict {
            Some(FilterAct::Flag) if !policy.is_send => asker.flagged(publication.texts),
            _ => None,
        };
        Ok(Context { asker, re: request.re, is_waiting, verdict, flagged, now })
    }

    fn rate(&self, user: &UserHere, settings: &Settings, policy: Policy) -> Rate {
        let limits = &self.config.limits;
        if policy.is_send {
            let rate = Rate::per_minute(limits.send_burst, limits.send_per_minute);
            return crate::site::trust::paced(rate, settings, user.standing.get().level, user.guest);
        }
        let rate = Rate::per_minute(limits.command_burst, limits.command_per_minute);
        if user.guest { rate.slowed(GUEST_SHARE) } else { rate }
    }
}

/// Checks the command against the current state of the user and the site.
fn may_now(user: &UserHere, settings: &Settings, policy: Policy, now: Timestamp) -> Result<(), Refusal> {
    let standing = user.standing.get();
    if policy.speaks {
        if standing.muted {
            return Err(Refusal::Muted);
        }
        if settings.access != Access::Open && standing.role < SiteRole::Moderator {
            return Err(Refusal::SiteReadOnly);
        }
    }
    if standing.shadowed && policy.is_seen_by_others {
        return Err(Refusal::NotAllowed);
    }
    crate::moderation::raid::check(settings, standing.role, user.standing.is_recent(), policy, now)
}

//! The end of sessions.

use std::sync::{Arc, Weak};

use smallvec::SmallVec;

use super::{Session, Sessions, Shard, UserHere};
use crate::limits::Due;
use crate::session::{OfAnnounced, StandingHere};
use crate::{Presence, Refusal, SessionHandle, SessionId, SetPresence, SiteId, Timestamp, UserId, UserRow};

/// Milliseconds between searches of a shard for sessions with expired tokens. No session has a timer of its
/// own, so it may outlive its token by this time.
const ENDS_EVERY_MS: u64 = 5_000;

/// A part of the domain with its own state for connected sessions and users.
pub(crate) trait SessionObserver: Send + Sync + 'static {
    /// The session was removed from the table. `on_purpose`: it will not come back soon.
    fn session_gone(self: Arc<Self>, session: SessionId, on_purpose: bool, now: Timestamp);
    /// The user's last session has ended, and there is no grace time. `chosen`: the user's choice of presence.
    fn user_left(self: Arc<Self>, user: UserId, chosen: SetPresence, now: Timestamp);
}

impl Sessions {
    pub(crate) fn observed_by(&self, observer: Weak<dyn SessionObserver>) {
        self.observer.set(observer);
    }

    pub(super) fn observe(&self, notify: impl FnOnce(Arc<dyn SessionObserver>)) {
        if let Some(observer) = self.observer.get() {
            notify(observer);
        }
    }

    /// Ends a session from the server's side.
    pub(crate) fn end_session(&self, session: SessionId, why: Refusal, now: Timestamp) {
        // A stopping node cannot wait for grace times: it stores the time of the last connection now. A
        // signed-out device does not return soon.
        let at_once = matches!(why, Refusal::GoingAway { .. } | Refusal::SignedOut);
        if self.remove_session(session, at_once, now) {
            self.bye(session.handle, why);
        }
    }

    /// Removes a session from the table; false if it is not there. `at_once`: its presence gets no grace
    /// time.
    pub(crate) fn remove_session(&self, session: SessionId, at_once: bool, now: Timestamp) -> bool {
        let mut shard = self.lock(session.user);
        let Some(last) = shard.end(session, at_once, now) else { return false };
        drop(shard);
        self.session_is_gone(session, at_once, now);
        match last {
            Last::No => {}
            Last::Grace => self.counters.users_online.subtract(1),
            Last::Left(chosen) => {
                self.counters.users_online.subtract(1);
                self.observe(|observer| observer.user_left(session.user, chosen, now));
            }
        }
        true
    }

    /// Updates counters and other tables for a session that was removed from the table.
    pub(crate) fn session_is_gone(&self, session: SessionId, on_purpose: bool, now: Timestamp) {
        self.counters.sessions.subtract(1);
        if let Some(live) = self.sites.by_id(session.user.site) {
            live.counters.leave();
        }
        self.observe(|observer| observer.session_gone(session, on_purpose, now));
    }

    pub(crate) fn end_tokens(&self, now: Timestamp) {
        let second = (now.0 / 1000) as u32;
        for mut shard in self.each() {
            if shard.next_end > second || now.0.abs_diff(shard.ends_seen.0) < ENDS_EVERY_MS {
                continue;
            }
            let over = shard.take_ends(second);
            shard.ends_seen = now;
            drop(shard);
            for session in over {
                self.end_session(session, Refusal::TokenExpired, now);
            }
        }
    }

    pub(crate) fn end_site(&self, site: SiteId) {
        self.end_all(|user| user.id.site == site, || Refusal::NoSuchSite);
    }

    pub(crate) fn end_user(&self, user: UserId, why: Refusal) {
        self.end_user_with(user, |handle| self.bye(handle, why));
    }

    /// Ends all sessions of the user, each with `bye`. Their presence gets no grace time.
    pub(crate) fn end_user_with(&self, user: UserId, bye: impl Fn(SessionHandle)) {
        let sessions: Vec<SessionId> = self.lock(user).user(user).map(session_ids).unwrap_or_default();
        for session in sessions {
            if self.remove_session(session, true, self.last_tick()) {
                bye(session.handle);
            }
        }
    }

    pub(crate) fn end_all(&self, which: impl Fn(&UserHere) -> bool, why: impl Fn() -> Refusal) {
        self.end_each(which, |session| self.end_session(session, why(), self.last_tick()));
    }

    /// Ends the sessions of matching users at once, each with `bye`.
    pub(crate) fn end_all_with(&self, which: impl Fn(&UserHere) -> bool, bye: impl Fn(SessionHandle)) {
        self.end_each(which, |session| {
            if self.remove_session(session, true, self.last_tick()) {
                bye(session.handle);
            }
        });
    }

    fn end_each(&self, which: impl Fn(&UserHere) -> bool, end: impl Fn(SessionId)) {
        for mut shard in self.each() {
            let sessions: Vec<SessionId> =
                shard.users().filter(|user| which(user)).flat_map(session_ids).collect();
            drop(shard);
            sessions.into_iter().for_each(&end);
        }
    }
}

pub(crate) fn session_ids(user: &mut UserHere) -> Vec<SessionId> {
    user.sessions.iter().map(|session| SessionId { user: user.id, handle: session.handle }).collect()
}

/// Whether a removed session was the user's last.
enum Last {
    No,
    /// It was; the user stays visible for the grace time.
    Grace,
    /// It was, and the user has left.
    Left(SetPresence),
}

impl Shard {
    /// Adds a session; answers the sessions that it replaces.
    pub(crate) fn begin(
        &mut self,
        row: &UserRow,
        standing: StandingHere,
        new: Session,
        limit: u32,
    ) -> SmallVec<[SessionHandle; 1]> {
        self.next_end = self.next_end.min(new.by.ends());
        let (user, _) = self.user_or_insert(row.id, || UserHere {
            id: row.id,
            sub: row.profile.sub.clone(),
            sessions: SmallVec::new(),
            sends: Due::default(),
            commands: Due::default(),
            seen: 0,
            chosen: row.presence,
            published: Presence::Offline,
            announced: OfAnnounced::None,
            is_changed: false,
            has_left: false,
            guest: row.profile.guest,
            standing,
            privacy: row.privacy,
        });
        user.standing = standing;
        user.privacy = row.privacy;
        user.has_left = false;
        if user.guest != row.profile.guest {
            // A guest who left a moment ago and has become a member.
            (user.guest, user.sub) = (row.profile.guest, row.profile.sub.clone());
        }
        let mut replaced: SmallVec<[Session; 1]> = SmallVec::new();
        if let Some(at) = user.sessions.iter().position(|session| session.device == new.device) {
            replaced.push(user.sessions.remove(at));
        }
        while limit > 0 && user.sessions.len() >= limit as usize {
            replaced.push(user.sessions.remove(0));
        }
        user.sessions.push(new);
        for session in &replaced {
            self.took_out(session);
            self.announced_ended(row.id, session.handle, false);
        }
        self.count_announced(row.id);
        self.mark_changed(row.id);
        replaced.iter().map(|session| session.handle).collect()
    }

    /// Removes a session; None if it is not there.
    fn end(&mut self, session: SessionId, at_once: bool, now: Timestamp) -> Option<Last> {
        let user = self.user(session.user)?;
        let at = user.sessions.iter().position(|here| here.handle == session.handle)?;
        let ended = user.sessions.remove(at);
        let last = match user.sessions.is_empty() {
            false => Last::No,
            // A user whom others see as offline needs no grace time, and their time of leaving must stay
            // hidden.
            true if at_once || user.chosen == SetPresence::Invisible => {
                user.has_left = true;
                Last::Left(user.chosen)
            }
            true => Last::Grace,
        };
        if user.sessions.is_empty() && user.chosen != SetPresence::Invisible {
            user.seen = now.0 as u32;
        }
        match last {
            Last::No => {}
            Last::Grace => self.leaving.push_back((now, session.user)),
            Last::Left(_) => self.mark_changed(session.user),
        }
        self.took_out(&ended);
        self.announced_ended(session.user, session.handle, matches!(last, Last::Grace));
        Some(last)
    }

    /// Sessions whose token expires now; stores the time of the next expiry.
    fn take_ends(&mut self, second: u32) -> Vec<SessionId> {
        let mut over = Vec::new();
        let mut next = u32::MAX;
        for user in self.users() {
            for session in &user.sessions {
                let ends = session.by.ends();
                if ends <= second {
                    over.push(SessionId { user: user.id, handle: session.handle });
                } else {
                    next = next.min(ends);
                }
            }
        }
        self.next_end = next;
        over
    }
}

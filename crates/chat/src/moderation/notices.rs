//! Notices to users about their own standing, and the effect of sanctions on connected sessions.

use crate::moderation::Event;
use crate::session;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::command::AnswerTo;
use crate::moderation::{Ended, Moderation, Notice, NoticeKind, SanctionKind};
use crate::session::{Asker, Completion, StandingHere, UserHere};
use crate::site::live::LiveSite;
use crate::site::settings::Settings;
use crate::{Done, Refusal, SessionHandle, SessionId, SiteRole, SiteStanding, Timestamp, UserId, UserRow};

impl Moderation {
    /// The stored row of a user has changed: applies it to the user's sessions.
    pub(crate) fn standing_changed(self: &Arc<Self>, row: &UserRow) {
        self.users.recent().user_is(row);
        self.stand(row.id, row.on_site);
        self.observe(|observer| observer.site_role_changed(row.id, row.on_site.role));
        if row.banned {
            self.end_banned(row.id);
        }
    }

    /// A sanction ends at this time, perhaps earlier than the known ones.
    pub(crate) fn ends_at(&self, until: Timestamp) {
        self.next_end.fetch_min(until.0, Ordering::AcqRel);
    }

    pub(crate) fn stand(&self, user: UserId, on_site: SiteStanding) {
        if let Some(user) = self.sessions.lock(user).user(user) {
            user.standing.set(on_site);
        }
    }

    /// Applies changes by another process. All other connected users become plain members.
    pub(crate) fn take_over_standings(&self, rows: &[UserRow]) {
        let by_user: HashMap<UserId, SiteStanding> = rows.iter().map(|row| (row.id, row.on_site)).collect();
        for mut shard in self.sessions.each() {
            for user in shard.users() {
                user.standing.set(by_user.get(&user.id).copied().unwrap_or_default());
            }
        }
    }

    /// Ends the sessions of a banned user, with the reason. Until the reason is read they cannot write.
    pub(crate) fn end_banned(self: &Arc<Self>, user: UserId) {
        let mut shard = self.sessions.lock(user);
        let Some(here) = shard.user(user).filter(|user| !user.sessions.is_empty()) else { return };
        let standing = SiteStanding { muted: true, ..here.standing.get() };
        here.standing = StandingHere::new(standing, here.standing.is_recent());
        drop(shard);
        let this = self.clone();
        self.with_ban(user, move |ban| {
            this.sessions.end_user_with(user, |handle| this.bye_banned(handle, ban.clone()))
        });
    }

    /// Refuses the sign-in of a banned user, with the reason and the end of the ban.
    pub(crate) fn refuse_banned(self: &Arc<Self>, handle: SessionHandle, user: UserId) {
        let this = self.clone();
        self.with_ban(user, move |ban| this.bye_banned(handle, ban));
    }

    fn with_ban(&self, user: UserId, then: impl FnOnce(Option<Notice>) + Send + 'static) {
        let done: Done<Vec<Notice>> = Box::new(move |notices| {
            let of_site = |notice: &Notice| notice.kind == NoticeKind::Ban && notice.room.is_none();
            then(notices.unwrap_or_default().into_iter().find(of_site));
        });
        self.store.notices(user, done);
    }

    /// A ban of an operator has no reason.
    fn bye_banned(&self, handle: SessionHandle, ban: Option<Notice>) {
        match ban {
            Some(notice) => self.bye_with(handle, Refusal::Banned, notice.until, (*notice.reason).into()),
            None => self.sessions.bye(handle, Refusal::Banned),
        }
    }

    fn bye_with(&self, handle: SessionHandle, refusal: Refusal, until: Option<Timestamp>, reason: Arc<str>) {
        self.counters.refused(refusal);
        self.sessions.send(handle, session::Event::ByeWith { refusal, until, reason });
    }

    /// Refuses a sign-in on a closed site, with the owner's text if set.
    pub(crate) fn bye_closed(&self, handle: SessionHandle, settings: &Settings) {
        match &*settings.access_text {
            "" => self.sessions.bye(handle, Refusal::SiteClosed),
            text => self.bye_with(handle, Refusal::SiteClosed, None, text.into()),
        }
    }

    /// Ends all sessions except moderators' on closed sites.
    pub(crate) fn end_closed(self: &Arc<Self>) {
        for live in self.sites.closed() {
            let site = live.site.id;
            let leaves =
                |user: &UserHere| user.id.site == site && user.standing.get().role < SiteRole::Moderator;
            self.sessions.end_all_with(leaves, |handle| self.bye_closed(handle, &live.site.settings));
        }
    }

    /// Ends the sessions of app passwords if the site has disabled them.
    pub(crate) fn end_app_password_sessions(&self, before: &LiveSite, after: &LiveSite) {
        if !before.site.settings.xmpp.enabled || after.site.settings.xmpp.enabled {
            return;
        }
        let site = after.site.id;
        let by_password = |user: &mut UserHere| {
            let sessions = user.sessions.iter().filter(|session| session.by.password().is_some());
            sessions.map(|one| SessionId { user: user.id, handle: one.handle }).collect::<Vec<_>>()
        };
        for mut shard in self.sessions.each() {
            let sessions: Vec<SessionId> =
                shard.users().filter(|user| user.id.site == site).flat_map(by_password).collect();
            drop(shard);
            for session in sessions {
                self.sessions.end_session(session, Refusal::NotAllowed, self.sessions.last_tick());
            }
        }
    }

    /// Sends the user's notices after the welcome, if their row says that there are some.
    pub(crate) fn send_notices(self: &Arc<Self>, session: SessionId) {
        let done = self.then(move |this, notices| {
            for notice in notices.unwrap_or_default() {
                this.sessions.send(session.handle, Event::Notice(Box::new(notice)));
            }
        });
        self.store.notices(session.user, done);
    }

    pub(crate) fn notices(self: &Arc<Self>, asker: &Asker, re: u64, seen: bool) {
        let session = asker.session;
        let answer = self.on_loaded(session.handle, AnswerTo::Request(re), move |this, notices| {
            this.sessions.answer(session.handle, re, Event::Notices(notices))
        });
        if !seen {
            return self.store.notices(session.user, answer);
        }
        let done = self.then(move |this, outcome| match outcome {
            Ok(()) => this.store.notices(session.user, answer),
            Err(error) => answer(Err(error)),
        });
        self.store.notices_seen(session.user, done);
    }

    /// Ends expired sanctions. Costs one comparison while none is due.
    pub(crate) fn end_sanctions(self: &Arc<Self>, now: Timestamp) {
        let has_asked = now.0.abs_diff(self.asked_for_ends.load(Ordering::Relaxed)) < ASK_AGAIN_MS;
        if self.next_end.load(Ordering::Acquire) > now.0 || has_asked {
            return;
        }
        // No second request before the store has answered.
        self.asked_for_ends.store(now.0, Ordering::Relaxed);
        let done = self.then::<(Vec<Ended>, Option<Timestamp>)>(move |this, outcome| {
            let Ok((ended, next)) = outcome else { return };
            this.next_end.store(next.map_or(u64::MAX, |next| next.0), Ordering::Release);
            this.asked_for_ends.store(u64::MAX, Ordering::Relaxed);
            for Ended { user, room, kind, member } in ended {
                this.users.recent().user_is(&user);
                this.stand(user.id, user.on_site);
                if let (Some(room), Some(member)) = (room, member) {
                    this.observe(|observer| observer.member_changed(room, member));
                }
                if kind == SanctionKind::Mute {
                    let notice = Notice { kind: NoticeKind::Unmute, room, until: None, reason: "".into() };
                    this.sessions.publish_transient(user.id, None, Event::Notice(Box::new(notice)));
                }
            }
        });
        self.store.end_sanctions(now, done);
    }
}

/// Milliseconds until a retry, if the store does not answer.
const ASK_AGAIN_MS: u64 = 10_000;

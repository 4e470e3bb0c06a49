//! From messages to push notices for absent users, and from read markers to their removal.

use std::sync::Arc;

use crate::notifications::decide::{SMALL_ROOM, is_away, may_disturb, news};
use crate::notifications::queue::Channels;
use crate::notifications::{Notifications, NotifyFacts, Push, PushDevice, PushNotice, RingingCall, Talk};
use crate::session::Completion;
use crate::{ConversationId, EVERYBODY, Seq, Sub, Timestamp, UserId, UserRow, mentioned};

/// The receiver and the subject of a notice.
#[derive(Debug, Clone)]
pub(super) struct About {
    pub(super) to: UserId,
    pub(super) conversation: ConversationId,
    /// The other user; None in a room.
    pub(super) with: Option<Sub>,
}

impl About {
    fn of(to: UserId, talk: &Talk) -> About {
        let with = talk.row.of.other().map(|other| other.profile.sub.clone());
        About { to, conversation: talk.row.id, with }
    }
}

impl Notifications {
    /// A call rings. A callee without a subscribed browser costs a look at one bit.
    pub(crate) fn notify_ring(&self, call: RingingCall) {
        if self.queue.reaches(call.to) {
            self.queue.ring(call);
        }
    }

    /// A message for one user is on disk. A user with neither a subscribed browser nor a digest costs a look
    /// at two bits.
    pub(crate) fn notify_away(&self, to: UserId, conversation: ConversationId, now: Timestamp) {
        let (by_push, by_mail) = (self.queue.reaches(to), self.queue.is_mailable(to));
        if !(by_push || by_mail) {
            return;
        }
        let is_away = self.is_away(to);
        if by_push && (is_away || self.queue.has_apps(to)) {
            self.queue.wait(to, conversation, now);
        }
        if by_mail && is_away {
            self.mail_later(to, now);
        }
    }

    /// A message in a room is on disk. In a large room, the body determines the candidates. Whether its
    /// author may mention all is decided later, by the counts in the store.
    pub(crate) fn notify_room(
        self: &Arc<Self>,
        conversation: ConversationId,
        from: UserId,
        members: &[u32],
        body: &str,
        now: Timestamp,
    ) {
        let site = conversation.site;
        let others = members.iter().map(|num| UserId { site, num: *num }).filter(|user| *user != from);
        let is_small = members.len() <= SMALL_ROOM;
        if !is_small && !body.contains('@') {
            return;
        }
        let reached = self.queue.reached(others);
        if reached.is_empty() {
            return;
        }
        let tries: Vec<Vec<&str>> = if is_small { Vec::new() } else { mentioned(body).collect() };
        if is_small || tries.iter().any(|tries| tries.contains(&EVERYBODY)) {
            return reached.into_iter().for_each(|user| self.notify_away(user, conversation, now));
        }
        let named: Vec<Sub> = tries.into_iter().flatten().filter_map(Sub::parse).collect();
        let done = self.then::<Vec<UserRow>>(move |this, rows| {
            for row in rows.unwrap_or_default().iter().filter(|row| reached.contains(&row.id)) {
                this.notify_away(row.id, conversation, now);
            }
        });
        self.store.users(site, named, done);
    }

    /// The user has read a conversation.
    pub(crate) fn notify_read(self: &Arc<Self>, user: UserId, conversation: ConversationId) {
        let now = self.sessions.last_tick();
        if !self.queue.reaches(user) || !self.queue.read(user, conversation, now) {
            return;
        }
        let done = self.then::<NotifyFacts>(move |this, facts| {
            if let Ok(facts) = facts {
                let clear = |talk| this.push(&About::of(user, talk), &facts.devices, &PushNotice::Clear);
                facts.talks.iter().for_each(clear);
            }
        });
        self.store.notify_facts(user, vec![conversation], done);
    }

    /// Called with every tick.
    pub(crate) fn push_to_away(self: &Arc<Self>, now: Timestamp) {
        if !self.queue.is_on() {
            return;
        }
        self.push_rings(now);
        for (user, conversations) in self.queue.due(now) {
            if !self.may_be_asleep(user) {
                continue;
            }
            let done = self.then(move |this, facts| {
                if let Ok(facts) = facts {
                    this.show(user, &facts, now);
                }
            });
            self.store.notify_facts(user, conversations, done);
        }
    }

    fn show(&self, user: UserId, facts: &NotifyFacts, now: Timestamp) {
        if !may_disturb(&facts.settings, facts.presence, now) {
            return;
        }
        let receivers = self.receivers(user, facts);
        if receivers.is_empty() {
            return;
        }
        let by = if receivers.browsers.is_some() { Channels::BrowsersToo } else { Channels::AppsAlone };
        let mut messages = 0;
        for talk in &facts.talks {
            let Some(news) = news(talk, user, &facts.settings, now) else { continue };
            let seq = talk.row.last.as_ref().map_or(Seq(0), |last| last.seq);
            if self.queue.show(user, talk.row.id, seq, by, now) {
                messages += news.unread;
                let browsers = receivers.browsers.unwrap_or_default();
                self.push(&About::of(user, talk), browsers, &PushNotice::Show(Arc::new(news)));
            }
        }
        if messages > 0 {
            self.wake(user, &receivers.apps, messages, now);
        }
    }

    pub(super) fn push(&self, about: &About, devices: &[Arc<PushDevice>], notice: &PushNotice) {
        let Some(notifier) = self.queue.notifier() else { return };
        let Some(site) = self.sites.by_id(about.to.site) else { return };
        let address = site.site.origins.iter().find(|origin| origin.starts_with("https://"));
        let address: Option<Arc<str>> = address.map(|origin| origin.as_str().into());
        for device in devices {
            notifier.push(Push {
                to: about.to,
                device: Arc::clone(device),
                site: address.clone(),
                conversation: about.conversation,
                with: about.with.clone(),
                notice: notice.clone(),
            });
        }
    }

    pub(super) fn is_away(&self, user: UserId) -> bool {
        self.sessions.lock(user).user(user).is_none_or(|here| is_away(here.chosen, !here.sessions.is_empty()))
    }
}

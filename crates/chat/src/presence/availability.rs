//! The availability of single sessions, for contacts whose sessions have a resource. The user's presence is the best of all
//! sessions.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::smallvec;

use super::{Event, News, Presences, shown};
use crate::command::AnswerTo;
use crate::privacy::Audience;
use crate::session::{Asker, Availability, OfAnnounced, Shard, UserSessions};
use crate::{Presence, Refusal, SessionHandle, SetPresence, Sub, Timestamp, UserId};

impl News {
    /// The published state of the sessions that have changed.
    fn sessions(&self, shard: &mut Shard) -> UserSessions {
        let sessions = match &*self.sessions {
            [] => smallvec![shard.session_shown(self.user, None)],
            changed => changed.iter().map(|one| shard.session_shown(self.user, one.as_ref())).collect(),
        };
        UserSessions { user: self.sub.clone(), sessions }
    }
}

impl Presences {
    /// Sends the changes to watchers that have a resource themselves. `to`: each watcher, with the index of a change.
    pub(super) fn publish_sessions<'a>(
        &self,
        news: impl Fn(usize) -> &'a News,
        mut to: Vec<(SessionHandle, usize)>,
    ) {
        to.sort_unstable();
        to.dedup();
        self.news.deliveries.fetch_add(to.len() as u64, Ordering::Relaxed);
        // Ascending by index, as the states below.
        let mut last_sent: Vec<(usize, UserSessions)> = Vec::new();
        // A newer change may have been published, and may have overtaken this one.
        loop {
            let mut indices: Vec<usize> = to.iter().map(|(_, at)| *at).collect();
            indices.sort_unstable();
            indices.dedup();
            let place = |states: &[(usize, UserSessions)], at: usize| {
                states.binary_search_by_key(&at, |(index, _)| *index).ok()
            };
            let mut states: Vec<(usize, UserSessions)> = Vec::with_capacity(indices.len());
            for at in indices {
                let state = news(at).sessions(&mut self.sessions.lock(news(at).user));
                let was = place(&last_sent, at).map(|place| &last_sent[place].1);
                if was != Some(&state) {
                    states.push((at, state));
                }
            }
            if states.is_empty() {
                return;
            }
            to.retain(|(_, at)| place(&states, *at).is_some());
            let each: Vec<_> =
                to.iter().filter_map(|(handle, at)| Some((*handle, place(&states, *at)?))).collect();
            let events = states.iter().map(|(_, state)| Event::Sessions(vec![state.clone()]).into());
            self.sessions.send_each(&each, events);
            last_sent = states;
        }
    }

    /// Sends a session with a resource the sessions of a user who is or was its contact.
    pub(super) fn send_sessions(&self, to: SessionHandle, user: UserId, sub: &Sub, may_see: bool) {
        let mut last_sent = None;
        loop {
            let mut sessions = self.sessions.lock(user).sessions_shown(user);
            if !may_see {
                sessions.iter_mut().for_each(|session| session.availability = None);
            }
            if last_sent.as_ref() == Some(&sessions) {
                return;
            }
            last_sent = Some(sessions.clone());
            self.sessions.send(to, Event::Sessions(vec![UserSessions { user: sub.clone(), sessions }]));
        }
    }

    /// The session's own availability; contacts get it with the next round. None: unavailable.
    pub(super) fn announce(&self, asker: &Asker, availability: Option<Arc<Availability>>, now: Timestamp) {
        let session = asker.session;
        if let Some(Err(refusal)) = availability.as_ref().map(|availability| availability.check()) {
            return self.sessions.refuse(session.handle, AnswerTo::Session, refusal);
        }
        let mut shard = self.sessions.lock(session.user);
        if !shard.set_availability(session.user, session.handle, availability) {
            drop(shard);
            return self.sessions.refuse(session.handle, AnswerTo::Session, Refusal::NotAllowed);
        }
        if let Some(user) = shard.user(session.user).filter(|user| user.chosen != SetPresence::Invisible) {
            user.seen = now.0 as u32;
        }
    }
}

impl Shard {
    /// Publishes the user's presence; None: nothing has changed.
    pub(crate) fn publish(&mut self, id: UserId, now: Timestamp) -> Option<News> {
        let is_announced = self.announcements.contains_key(&id);
        let user = self.user(id)?;
        if user.announced == OfAnnounced::None && !is_announced {
            return user.publish(now);
        }
        let presence = user.shown();
        let is_changed = std::mem::replace(&mut user.published, presence) != presence;
        let mut news = user.news(presence, now);
        news.is_changed = is_changed;
        let user = self.user(id)?;
        let is_hidden = user.has_left
            || user.privacy.presence == Audience::Nobody
            || user.chosen == SetPresence::Invisible;
        let (chosen, has_sessions) = (user.chosen, !user.sessions.is_empty());
        let has_rest = !matches!(user.announced, OfAnnounced::Only(_));
        let all = self.announcements.get_mut(&id)?;
        let rest = match has_sessions {
            _ if is_hidden => Presence::Offline,
            true => shown(chosen, has_rest),
            false => all.rest.unwrap_or(Presence::Offline),
        };
        news.sessions = all.publish(rest, is_hidden, now);
        if all.is_over(now) {
            self.announcements.remove(&id);
            if self.announcements.is_empty() {
                self.announcements.shrink_to_fit();
            }
        }
        (is_changed || !news.sessions.is_empty()).then_some(news)
    }
}

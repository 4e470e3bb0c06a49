//! Resume: delivers the data that a device has missed since a position, without losing events meanwhile.

use crate::session::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::presence::shown::{Other, Shown};
use crate::session::{Asker, Completion, Hold, Released};
use crate::sign_in::SignIn;
use crate::{Changes, Mode, Position, Refusal, ResumeFrom, SessionId, SetPresence, SiteId, Snapshot, UserId};

impl SignIn {
    pub(crate) fn resume_from(&self, site: SiteId, position: Option<Position>) -> ResumeFrom {
        let page = self.config.limits.page;
        let position = position.filter(|position| i64::try_from(position.number).is_ok());
        let position = self.import.known(site, position);
        // Most contact lists fit into two pages, and a client with the whole list need not request more.
        let contacts = page.saturating_mul(2);
        let messages = page.saturating_mul(4);
        ResumeFrom { position, page, contacts, messages, messages_per_conversation: page }
    }

    /// Of a new session. One with a resource reads what its client asks for, so its first page is empty.
    pub(crate) fn first_from(&self, site: SiteId, position: Option<Position>, announced: bool) -> ResumeFrom {
        let from = self.resume_from(site, position);
        match announced && from.position.is_none() {
            true => ResumeFrom { page: 0, contacts: 0, ..from },
            false => from,
        }
    }

    /// One resume at a time per session; a second one is refused.
    pub(crate) fn resume(self: &Arc<Self>, asker: Asker, re: u64, position: Option<Position>) {
        let session = asker.session;
        let hold = self.sessions.lock(session.user).hold(session.user, session.handle);
        let Some(hold) = hold else {
            let refusal = Refusal::RateLimited { retry_after_ms: 1000 };
            return self.sessions.refuse(session.handle, AnswerTo::Request(re), refusal);
        };
        self.sessions.wait_for_publishing();
        let done = self.then(move |this, outcome| match outcome {
            Ok(snapshot) => {
                this.note_ahead(position, &snapshot);
                this.resumed(&asker, re, hold, snapshot);
            }
            Err(_) => {
                // The held events are lost, so the session stays behind until it resumes again.
                this.sessions.lock(session.user).abandon(session.user, session.handle, hold);
                this.sessions.refuse(session.handle, AnswerTo::Request(re), Refusal::Unavailable);
            }
        });
        self.store.snapshot(session.user, self.resume_from(session.user.site, position), done);
    }

    fn resumed(self: &Arc<Self>, asker: &Asker, re: u64, hold: Hold, snapshot: Snapshot) {
        let (this, asker) = (self.clone(), asker.clone());
        self.with_changes(asker.site.site.mode, asker.session.user, snapshot, move |changes| {
            if this.settle(asker.session, hold, changes.position).is_none() {
                return;
            }
            let event = Event::Changes(Box::new(changes));
            this.sessions.answer(asker.session.handle, re, event);
            this.release(asker.session);
            this.calls.ring_late(asker.session, this.sessions.last_tick());
            this.presences.answer_watched(asker.site.site.mode, asker.session);
        });
    }

    /// A client has seen positions beyond those of this database. It gets a first page (`reset`), so that it
    /// keeps no lost data. A client's position is no proof, so it has no effect on others.
    pub(crate) fn note_ahead(&self, seen: Option<Position>, snapshot: &Snapshot) {
        let has = snapshot.position;
        if seen.is_some_and(|seen| seen.epoch == has.epoch && seen.number > has.number) {
            self.counters.positions_ahead.add(1);
            tracing::debug!(?seen, ?has, "a client is ahead of the store");
        }
    }

    /// The snapshot as events, with the presence of all users in it.
    pub(crate) fn with_changes(
        self: &Arc<Self>,
        mode: Mode,
        user: UserId,
        snapshot: Snapshot,
        then: impl FnOnce(Changes) + Send + 'static,
    ) {
        let others = snapshot.conversations.rows.iter().filter_map(Other::of_conversation);
        let contacts = snapshot.contacts.rows.sides().map(Other::contact);
        let others: Vec<Other> = others.chain(contacts).collect();
        self.presences.with_shown(mode, user, &others, move |shown| {
            then(changes(snapshot, shown));
        });
    }

    /// The session now has everything up to `position`. Answers its user's chosen presence; None if the
    /// session does not wait any more.
    pub(crate) fn settle(&self, session: SessionId, hold: Hold, position: Position) -> Option<SetPresence> {
        self.sessions.note_epoch(position);
        let mut shard = self.sessions.lock(session.user);
        shard.settle(session.user, session.handle, hold, position).then_some(())?;
        shard.user(session.user).map(|user| user.chosen)
    }

    /// Delivers the events that were held during the snapshot, until none is left.
    pub(crate) fn release(&self, session: SessionId) {
        loop {
            let released = self.sessions.lock(session.user).release(session.user, session.handle);
            match released {
                Released::Events(events) => self.sessions.send_held(session.handle, events),
                Released::Behind => {
                    self.counters.behind.add(1);
                    return self.sessions.send(session.handle, Event::Behind);
                }
                Released::Live | Released::Gone => return,
            }
        }
    }
}

/// `shown`: for the other users of conversations, then for the contacts.
fn changes(snapshot: Snapshot, shown: Vec<Shown>) -> Changes {
    let mut shown = shown.into_iter();
    let conversations = crate::presence::shown::conversations(snapshot.conversations.rows, &mut shown);
    let mut contacts = snapshot.contacts.rows;
    contacts.show(shown.map(|one| one.presence));
    Changes {
        reset: snapshot.reset,
        conversations,
        conversations_next: snapshot.conversations.next,
        messages: snapshot.messages.into_iter().map(crate::event::message).collect(),
        updates: snapshot.updates.into_iter().map(crate::event::message).collect(),
        gaps: snapshot.gaps,
        left: snapshot.left,
        contacts,
        contacts_next: snapshot.contacts.next,
        threads: snapshot.threads,
        renamed: snapshot.renamed,
        position: snapshot.position,
    }
}

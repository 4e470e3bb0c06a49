//! Contacts: requests, acceptance, removal and blocks, as one table; and the list of contacts.

mod command;
mod decide;
pub(crate) mod directory;
mod event;
pub(crate) mod message_requests;
pub(crate) mod note;
pub(crate) mod store;

pub use event::Event;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

pub use command::{Command, ContactAction, SubscriptionAction};

use crate::command::AnswerTo;
use crate::contacts::decide::{Action, decide};
use crate::contacts::store::{ContactPair, ContactStore};
use crate::observer::Observer;
use crate::presence::Presences;
use crate::presence::shown::{Other, presence_shown};
use crate::session::{Asker, Completion, Sessions};
use crate::store::unavailable;
use crate::users::{Users, person};
use crate::{
    Contact, ContactChange, ContactList, ContactNote, ContactsPage, ConversationId, NodeConfig, PageOf,
    Position, Refusal, Relation, Sub, Timestamp, UserId, UserRow,
};

/// Orders the changes of each pair of users: one at a time, in the order of arrival. Otherwise one could
/// overtake another between its read of the relation and its write.
#[derive(Default)]
pub(crate) struct PairsBusy {
    waiting: Mutex<HashMap<ConversationId, VecDeque<Turn>>>,
}

type Turn = Box<dyn FnOnce() + Send>;

/// Waiting changes of one pair; more are refused.
const MAX_WAITING: usize = 16;

impl PairsBusy {
    /// Calls `turn` now, or after the earlier changes; each must end with [`done`](Self::done). False: too
    /// many wait.
    fn begin(&self, pair: ConversationId, turn: impl FnOnce() + Send + 'static) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = waiting.get_mut(&pair) {
            let has_room = queue.len() < MAX_WAITING;
            if has_room {
                queue.push_back(Box::new(turn));
            }
            return has_room;
        }
        waiting.insert(pair, VecDeque::new());
        drop(waiting);
        turn();
        true
    }

    fn done(&self, pair: ConversationId) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let next = waiting.get_mut(&pair).and_then(VecDeque::pop_front);
        if next.is_none() {
            waiting.remove(&pair);
        }
        drop(waiting);
        if let Some(next) = next {
            next();
        }
    }
}

/// A change under way: its author, and the two users.
struct Change {
    asker: Asker,
    re: u64,
    action: Action,
    me: Arc<UserRow>,
    other: Arc<UserRow>,
    pair: ConversationId,
    now: Timestamp,
}

/// A part of the domain that acts when a user blocks another one.
pub(crate) trait BlockObserver: Send + Sync + 'static {
    /// `is_new`: the user had not blocked the other one before.
    fn blocked(self: Arc<Self>, user: UserId, other: UserId, is_new: bool);
}

/// Changes of contacts, one at a time for each pair of users.
pub(crate) struct Contacts {
    pairs_busy: PairsBusy,
    pub(crate) observer: Observer<dyn BlockObserver>,
    presences: Arc<Presences>,
    users: Arc<Users>,
    sessions: Arc<Sessions>,
    store: Arc<dyn ContactStore>,
    config: Arc<NodeConfig>,
}

impl Contacts {
    pub(crate) fn new(
        presences: Arc<Presences>,
        users: Arc<Users>,
        sessions: Arc<Sessions>,
        store: Arc<dyn ContactStore>,
        config: Arc<NodeConfig>,
    ) -> Contacts {
        let (pairs_busy, observer) = (PairsBusy::default(), Observer::new());
        Contacts { pairs_busy, observer, presences, users, sessions, store, config }
    }

    pub(crate) fn change_contact(
        self: &Arc<Self>,
        asker: Asker,
        re: u64,
        action: Action,
        user: Sub,
        now: Timestamp,
    ) {
        let handle = asker.session.handle;
        if user == asker.sub {
            return self.sessions.refuse(handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        let action = match action {
            Action::Keep(note) => note.checked().map(Action::Keep),
            Action::Rename(note) => note.checked().map(Action::Rename),
            action @ (Action::Contact(_) | Action::Subscription(_)) => Ok(action),
        };
        let action = match action {
            Ok(action) => action,
            Err(refusal) => return self.sessions.refuse(handle, AnswerTo::Request(re), refusal),
        };
        let site = asker.site.site.id;
        let this = self.clone();
        self.users.with_both(site, [asker.sub.clone(), user], move |rows| {
            let change = rows.and_then(|[me, other]| {
                let mut action = action;
                // Clients send the shown name with each change of groups. Kept, it would hide a new display name.
                if let Action::Keep(note) | Action::Rename(note) = &mut action
                    && note.name.as_deref() == Some(&*other.profile.name)
                {
                    note.name = None;
                }
                if action.begins() && (other.banned || asker.guest || other.profile.guest) {
                    return Err(Refusal::NotAllowed);
                }
                let pair = ConversationId::direct(me.id, other.id).ok_or(Refusal::BadValue)?;
                Ok(Change { asker, re, action, me, other, pair, now })
            });
            match change {
                Ok(change) => {
                    let (busy, pair) = (this.clone(), change.pair);
                    let turn = this.clone();
                    if !busy.pairs_busy.begin(pair, move || turn.read_relation(change)) {
                        let refusal = Refusal::RateLimited { retry_after_ms: 1000 };
                        busy.sessions.refuse(handle, AnswerTo::Request(re), refusal);
                    }
                }
                Err(refusal) => this.sessions.refuse(handle, AnswerTo::Request(re), refusal),
            }
        });
    }

    fn read_relation(self: &Arc<Self>, mut change: Change) {
        let (me, other) = (change.me.id, change.other.id);
        let done = self.then::<ContactPair>(move |this, pair| {
            let decided = pair
                .map_err(unavailable)
                .and_then(|pair| decide(&change.action, pair.relation).map(|after| (pair, after)));
            match decided {
                Ok((before, after)) => {
                    if let (Action::Rename(note), Some(kept)) = (&mut change.action, &before.notes[0]) {
                        note.groups.clone_from(&kept.groups);
                    }
                    this.write_relation(change, before, after);
                }
                Err(refusal) => this.end_change(&change, Err(refusal)),
            }
        });
        self.store.contact_pair(me, other, done);
    }

    fn write_relation(self: &Arc<Self>, change: Change, before: ContactPair, after: Relation) {
        let (me, other, now) = (change.me.id, change.other.id, change.now);
        let (limit, note) = match &change.action {
            // A full list must not prevent a block.
            Action::Contact(ContactAction::Block) => (u32::MAX, None),
            Action::Contact(_) | Action::Subscription(_) => (self.config.limits.contacts, None),
            Action::Keep(note) | Action::Rename(note) => (self.config.limits.contacts, Some(note.clone())),
        };
        let done = self.then(move |this, outcome| match outcome {
            Ok(Some(position)) => {
                this.publish_change(&change, before, after, position);
                this.end_change(&change, Ok(()));
            }
            Ok(None) => this.end_change(&change, Err(Refusal::TooManyContacts)),
            Err(error) => this.end_change(&change, Err(unavailable(error))),
        });
        match note {
            Some(note) => self.store.put_contact_note(me, other, after, note, limit, now, done),
            None => self.store.put_relation(me, other, after, limit, now, done),
        }
    }

    fn end_change(&self, change: &Change, outcome: Result<(), Refusal>) {
        if let Err(refusal) = outcome {
            self.sessions.refuse(change.asker.session.handle, AnswerTo::Request(change.re), refusal);
        }
        self.pairs_busy.done(change.pair);
    }

    /// Publishes the change to the user's own devices, one of which gets it as its answer. The other user's
    /// devices get it if their side changed.
    fn publish_change(
        self: &Arc<Self>,
        change: &Change,
        before: ContactPair,
        after: Relation,
        position: Position,
    ) {
        let Change { asker, me, other, .. } = change;
        let mode = asker.site.site.mode;
        let ContactPair { relation: before, notes: [mine, theirs] } = before;
        self.users.recent().relation_is(me.id, other.id, after);
        let (mine, is_kept) = match &change.action {
            Action::Keep(note) | Action::Rename(note) => (Some(note.clone()), true),
            Action::Contact(_) | Action::Subscription(_) => (mine, false),
        };
        // `after` as the receiver of the event has it.
        let event = |of: &UserRow, after: Relation, was, note: Option<ContactNote>, by_other| {
            let presence = presence_shown(mode, after.a_views_b(), self.presences.published(of.id));
            let note = note.filter(|note| after.of_a.is_on_list() && !note.is_empty()).map(Box::new);
            let change = Some(ContactChange { was, by_other });
            let contact = Contact { change, ..Contact::new(person(of, presence), after.of_a, note) };
            Event::Contact(Box::new(contact))
        };
        let own = event(other, after, before.of_a, mine, false);
        self.sessions.reply(asker.session, Some(change.re), position, own.clone());
        if before.of_a != after.of_a || is_kept {
            self.sessions.publish(me.id, position, Some(asker.session.handle), own);
        }
        if before.of_b != after.of_b {
            let event = event(me, after.turned(), before.of_b, theirs, true);
            self.sessions.publish(other.id, position, None, event);
        }
        if matches!(change.action, Action::Contact(ContactAction::Block))
            && let Some(observer) = self.observer.get()
        {
            observer.blocked(me.id, other.id, !before.of_a.is_blocked());
        }
        if before != after {
            self.presences.sight_changed(mode, me, other, before, after);
        }
    }

    pub(crate) fn list_contacts(self: &Arc<Self>, asker: Asker, re: u64, page: PageOf) {
        let limit = self.sessions.page_limit(page.limit);
        let user = asker.session.user;
        let handle = asker.session.handle;
        let (since, is_first) = (self.users.recent().generation(), page.after.is_none());
        let done = self.on_loaded(handle, AnswerTo::Request(re), move |this, page| {
            let ContactsPage { rows: mut contacts, next } = page;
            if is_first && next.is_none() {
                this.users.keep_contacts(user, &contacts, since);
            }
            let others: Vec<Other> = contacts.sides().map(Other::contact).collect();
            let owner = this.clone();
            this.presences.with_presences(asker.site.site.mode, user, &others, move |presences| {
                contacts.show(presences);
                owner.sessions.answer(handle, re, Event::Contacts { contacts: Box::new(contacts), next });
            });
        });
        self.store.contacts(user, page.after, limit, done);
    }

    /// Contacts that have changed since a position, without their presence.
    pub(crate) fn changed_contacts(self: &Arc<Self>, asker: &Asker, re: u64, since: Position) {
        let (user, handle) = (asker.session.user, asker.session.handle);
        let done =
            self.on_loaded(handle, AnswerTo::Request(re), move |this, contacts: Option<ContactList>| {
                this.sessions.answer(handle, re, Event::Changed(contacts));
            });
        self.store.changed_contacts(user, since, self.sessions.page_limit(None), done);
    }
}

impl Completion for Contacts {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_a_pair_are_exclusive() {
        let busy = Arc::new(PairsBusy::default());
        let order = Arc::new(Mutex::new(Vec::new()));
        let pair = ConversationId { site: crate::SiteId(1), key: 1 << 32 | 2 };
        let turn = |number: usize| {
            let order = order.clone();
            move || order.lock().expect("one thread").push(number)
        };
        assert!((0..=MAX_WAITING).all(|number| busy.begin(pair, turn(number))));
        assert!(!busy.begin(pair, turn(99)), "the line has an end");
        assert_eq!(*order.lock().expect("one thread"), [0]);
        (0..=MAX_WAITING).for_each(|_| busy.done(pair));
        assert_eq!(*order.lock().expect("one thread"), (0..=MAX_WAITING).collect::<Vec<_>>());
        assert!(busy.waiting.lock().expect("one thread").is_empty());
    }
}

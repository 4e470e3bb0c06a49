//! Contacts: requests, acceptance, removal and blocks, as one table; and the list of contacts.

mod command;
pub(crate) mod directory;
mod event;
pub(crate) mod message_requests;
pub(crate) mod store;

pub use event::Event;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

pub use command::{Command, ContactAction};

use crate::command::AnswerTo;
use crate::contacts::store::ContactStore;
use crate::observer::Observer;
use crate::presence::Presences;
use crate::presence::shown::{Other, presence_shown};
use crate::session::{Asker, Completion, Sessions};
use crate::store::unavailable;
use crate::users::{Users, card, person};
use crate::{
    Contact, ContactRow, ContactState, ContactsPage, ConversationId, NodeConfig, PageOf, Position, Refusal,
    Relation, Sub, Timestamp, UserId, UserRow,
};

/// The relation of two users after an action of `a`. An unchanged relation means success without a change.
///
/// A user who was declined or blocked still sees `RequestSent`: the refusal stays hidden, and a second
/// request changes nothing. The tests list all reachable pairs.
pub(crate) fn decide(action: ContactAction, relation: Relation) -> Result<Relation, Refusal> {
    use {ContactAction as Do, ContactState as S};
    let Relation { of_a, of_b } = relation;
    let to = |of_a, of_b| Ok(Relation { of_a, of_b });
    // A block ends a contact or an open request of both sides. The other user's own block and own unanswered
    // request stay.
    let without = |of_b| match of_b {
        S::Contact | S::RequestReceived => S::None,
        S::None | S::RequestSent | S::Blocked => of_b,
    };
    match (action, of_a) {
        (Do::Request, S::None | S::RequestReceived) if of_b == S::RequestSent => to(S::Contact, S::Contact),
        (Do::Request, S::None) if of_b == S::Blocked => to(S::RequestSent, S::Blocked),
        (Do::Request, S::None) => to(S::RequestSent, S::RequestReceived),
        (Do::Request, S::Blocked) => Err(Refusal::NotAllowed),
        (Do::Request, _) => Ok(relation),

        (Do::Accept, S::RequestReceived) => to(S::Contact, S::Contact),
        (Do::Accept, S::Contact) => Ok(relation),
        (Do::Accept, _) => Err(Refusal::BadValue),

        (Do::Decline, S::RequestReceived) => to(S::None, of_b),
        (Do::Decline, S::None) => Ok(relation),
        (Do::Decline, _) => Err(Refusal::BadValue),

        (Do::Remove, S::Blocked) => Err(Refusal::BadValue),
        (Do::Remove, S::Contact | S::RequestSent | S::RequestReceived) => to(S::None, without(of_b)),
        (Do::Remove, S::None) => Ok(relation),

        (Do::Block, _) => to(S::Blocked, without(of_b)),

        (Do::Unblock, S::Blocked) => to(S::None, of_b),
        (Do::Unblock, _) => Ok(relation),
    }
}

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
    action: ContactAction,
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
        action: ContactAction,
        user: Sub,
        now: Timestamp,
    ) {
        let handle = asker.session.handle;
        if user == asker.sub {
            return self.sessions.refuse(handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        let site = asker.site.site.id;
        let this = self.clone();
        self.users.with_both(site, [asker.sub.clone(), user], move |rows| {
            let change = rows.and_then(|[me, other]| {
                let is_request = matches!(action, ContactAction::Request | ContactAction::Accept);
                if is_request && (other.banned || asker.guest || other.profile.guest) {
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

    fn read_relation(self: &Arc<Self>, change: Change) {
        let (me, other) = (change.me.id, change.other.id);
        let done = self.then(move |this, relation| {
            let decided = relation
                .map_err(unavailable)
                .and_then(|relation| Ok((relation, decide(change.action, relation)?)));
            match decided {
                Ok((before, after)) => this.write_relation(change, before, after),
                Err(refusal) => this.end_change(&change, Err(refusal)),
            }
        });
        self.store.relation(me, other, done);
    }

    fn write_relation(self: &Arc<Self>, change: Change, before: Relation, after: Relation) {
        let (me, other, now) = (change.me.id, change.other.id, change.now);
        let limit = match change.action {
            // A full list must not prevent a block.
            ContactAction::Block => u32::MAX,
            _ => self.config.limits.contacts,
        };
        let done = self.then(move |this, outcome| match outcome {
            Ok(Some(position)) => {
                this.publish_change(&change, before, after, position);
                this.end_change(&change, Ok(()));
            }
            Ok(None) => this.end_change(&change, Err(Refusal::TooManyContacts)),
            Err(error) => this.end_change(&change, Err(unavailable(error))),
        });
        self.store.put_relation(me, other, after, limit, now, done);
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
        before: Relation,
        after: Relation,
        position: Position,
    ) {
        let Change { asker, me, other, .. } = change;
        let mode = asker.site.site.mode;
        self.users.recent().relation_is(me.id, other.id, after);
        let event = |of: &UserRow, state| {
            let presence = presence_shown(mode, after, self.presences.published(of.id));
            Event::Contact(Box::new(Contact { person: person(of, presence), state }))
        };
        self.sessions.reply(asker.session, Some(change.re), position, event(other, after.of_a));
        if before.of_a != after.of_a {
            self.sessions.publish(me.id, position, Some(asker.session.handle), event(other, after.of_a));
        }
        if before.of_b != after.of_b {
            self.sessions.publish(other.id, position, None, event(me, after.of_b));
        }
        if change.action == ContactAction::Block
            && let Some(observer) = self.observer.get()
        {
            observer.blocked(me.id, other.id, before.of_a != after.of_a);
        }
        if before != after {
            self.presences.sight_changed(mode, me, other, before, after);
        }
    }

    pub(crate) fn list_contacts(self: &Arc<Self>, asker: Asker, re: u64, page: PageOf) {
        let limit = self.sessions.page_limit(page.limit);
        let user = asker.session.user;
        let handle = asker.session.handle;
        let done = self.on_loaded(handle, AnswerTo::Request(re), move |this, page| {
            let ContactsPage { rows, next } = page;
            let others: Vec<Other> = rows.iter().map(Other::contact).collect();
            let owner = this.clone();
            this.presences.with_presences(asker.site.site.mode, user, &others, move |presences| {
                let contact = |(row, presence): (ContactRow, _)| Contact {
                    person: card(row.id, row.profile, presence),
                    state: row.state,
                };
                let contacts = rows.into_iter().zip(presences).map(contact).collect();
                owner.sessions.answer(handle, re, Event::Contacts { contacts, next });
            });
        });
        self.store.contacts(user, page.after, limit, done);
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
    use ContactAction::{Accept, Block, Decline, Remove, Request, Unblock};
    use ContactState::{Blocked, Contact as Friend, None as Nothing, RequestReceived, RequestSent};

    const ACTIONS: [ContactAction; 6] = [Request, Accept, Decline, Remove, Block, Unblock];

    /// Every reachable relation, and the effect of each action of the first user.
    #[test]
    fn the_whole_table() {
        type Row = ((ContactState, ContactState), [Result<(ContactState, ContactState), Refusal>; 6]);
        let no = Err(Refusal::BadValue);
        #[rustfmt::skip]
        let table: [Row; 11] = [
            // (mine, theirs)                    request                           accept                  decline                        remove                        block                         unblock
            ((Nothing, Nothing),             [Ok((RequestSent, RequestReceived)), no,                     Ok((Nothing, Nothing)),        Ok((Nothing, Nothing)),        Ok((Blocked, Nothing)),        Ok((Nothing, Nothing))]),
            ((RequestSent, RequestReceived), [Ok((RequestSent, RequestReceived)), no,                     no,                            Ok((Nothing, Nothing)),        Ok((Blocked, Nothing)),        Ok((RequestSent, RequestReceived))]),
            ((RequestSent, Nothing),         [Ok((RequestSent, Nothing)),         no,                     no,                            Ok((Nothing, Nothing)),        Ok((Blocked, Nothing)),        Ok((RequestSent, Nothing))]),
            ((RequestSent, Blocked),         [Ok((RequestSent, Blocked)),         no,                     no,                            Ok((Nothing, Blocked)),        Ok((Blocked, Blocked)),        Ok((RequestSent, Blocked))]),
            ((RequestReceived, RequestSent), [Ok((Friend, Friend)),               Ok((Friend, Friend)),   Ok((Nothing, RequestSent)),    Ok((Nothing, RequestSent)),    Ok((Blocked, RequestSent)),    Ok((RequestReceived, RequestSent))]),
            ((Nothing, RequestSent),         [Ok((Friend, Friend)),               no,                     Ok((Nothing, RequestSent)),    Ok((Nothing, RequestSent)),    Ok((Blocked, RequestSent)),    Ok((Nothing, RequestSent))]),
            ((Friend, Friend),               [Ok((Friend, Friend)),               Ok((Friend, Friend)),   no,                            Ok((Nothing, Nothing)),        Ok((Blocked, Nothing)),        Ok((Friend, Friend))]),
            ((Blocked, Nothing),             [Err(Refusal::NotAllowed),           no,                     no,                            no,                            Ok((Blocked, Nothing)),        Ok((Nothing, Nothing))]),
            ((Blocked, RequestSent),         [Err(Refusal::NotAllowed),           no,                     no,                            no,                            Ok((Blocked, RequestSent)),    Ok((Nothing, RequestSent))]),
            ((Blocked, Blocked),             [Err(Refusal::NotAllowed),           no,                     no,                            no,                            Ok((Blocked, Blocked)),        Ok((Nothing, Blocked))]),
            ((Nothing, Blocked),             [Ok((RequestSent, Blocked)),         no,                     Ok((Nothing, Blocked)),        Ok((Nothing, Blocked)),        Ok((Blocked, Blocked)),        Ok((Nothing, Blocked))]),
        ];
        for ((of_a, of_b), outcomes) in table {
            for (action, expected) in ACTIONS.into_iter().zip(outcomes) {
                let outcome = decide(action, Relation { of_a, of_b });
                let expected = expected.map(|(of_a, of_b)| Relation { of_a, of_b });
                assert_eq!(outcome, expected, "{action:?} where {of_a:?}, {of_b:?}");
            }
        }
        // No other relation is ever reached.
        let listed = |relation: Relation| table.iter().any(|(r, _)| *r == (relation.of_a, relation.of_b));
        for ((of_a, of_b), _) in table {
            let turned = Relation { of_a: of_b, of_b: of_a };
            assert!(listed(turned), "{of_a:?}, {of_b:?} seen from the other side");
            for action in ACTIONS {
                let after = decide(action, Relation { of_a, of_b }).unwrap_or(turned);
                assert!(listed(after), "{action:?} where {of_a:?}, {of_b:?}");
            }
        }
    }

    #[test]
    fn both_sides_agree_after_any_history() {
        use rand::{Rng, SeedableRng, rngs::StdRng};
        for seed in 0..200 {
            let mut rng = StdRng::seed_from_u64(seed);
            let mut stand = Relation { of_a: Nothing, of_b: Nothing };
            for _ in 0..60 {
                let action = ACTIONS[rng.random_range(0..ACTIONS.len())];
                let turned = rng.random_bool(0.5);
                let turn = |r: Relation| if turned { Relation { of_a: r.of_b, of_b: r.of_a } } else { r };
                if let Ok(after) = decide(action, turn(stand)) {
                    let before = turn(stand);
                    assert!(before.of_b != Blocked || after.of_b == Blocked, "nobody lifts another's block");
                    stand = turn(after);
                }
                assert_eq!(stand.of_a == Friend, stand.of_b == Friend, "seed {seed}");
                assert!(stand.of_a != RequestReceived || stand.of_b == RequestSent, "seed {seed}");
                assert!(stand.of_b != RequestReceived || stand.of_a == RequestSent, "seed {seed}");
            }
        }
    }

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

//! The relation of two users after an action of one of them.

use crate::contacts::{ContactAction, SubscriptionAction};
use crate::{ContactNote, Refusal, Relation, Side};

/// An act of a user on another user.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    /// In both directions.
    Contact(ContactAction),
    /// In one direction.
    Subscription(SubscriptionAction),
    /// Puts the other user on the list, with a name and groups. Only the user learns of it.
    Keep(ContactNote),
    /// Names an entry of the list, whose groups stay. Only the user learns of it.
    Rename(ContactNote),
}

impl Action {
    /// Whether it may begin a relation, which banned users and guests cannot have.
    pub(crate) fn begins(&self) -> bool {
        match self {
            Action::Contact(action) => matches!(action, ContactAction::Request | ContactAction::Accept),
            Action::Subscription(action) => action.begins(),
            Action::Keep(_) => true,
            Action::Rename(_) => false,
        }
    }
}

/// The relation of two users after an action of `a`. An unchanged relation means success without a change.
///
/// A user who was declined or blocked still has sent a request: the refusal stays hidden, and a second request
/// changes nothing. The tests list all pairs that the widget can reach, and the transitions of RFC 6121 Appendix A.
pub(crate) fn decide(action: &Action, relation: Relation) -> Result<Relation, Refusal> {
    match action {
        Action::Contact(action) => of_both_directions(*action, relation),
        _ if relation.of_a.is_blocked() => Err(Refusal::NotAllowed),
        Action::Subscription(action) => Ok(of_one_direction(*action, relation)),
        Action::Keep(_) => Ok(Relation { of_a: relation.of_a.with(Side::LISTED), ..relation }),
        Action::Rename(_) if relation.of_a.is_on_list() => Ok(relation),
        Action::Rename(_) => Err(Refusal::NotAllowed),
    }
}

fn of_both_directions(action: ContactAction, relation: Relation) -> Result<Relation, Refusal> {
    use ContactAction as Do;
    let Relation { of_a, of_b } = relation;
    Ok(match action {
        Do::Block => Relation { of_a: Side::BLOCKED, ..ended(relation) },
        Do::Unblock if of_a.is_blocked() => Relation { of_a: Side::NONE, of_b },
        Do::Unblock => relation,
        Do::Request if of_a.is_blocked() => return Err(Refusal::NotAllowed),
        _ if of_a.is_blocked() => return Err(Refusal::BadValue),

        Do::Request => asked(let_in(relation)),
        Do::Accept if of_a.asks() => asked(let_in(relation)),
        Do::Accept if of_a.is_contact() => relation,
        Do::Decline if of_a.asks() => Relation { of_a: of_a.without(Side::ASKS), of_b },
        Do::Decline if !of_a.is_contact() && !of_a.has_asked() => relation,
        Do::Accept | Do::Decline => return Err(Refusal::BadValue),
        Do::Remove => ended(relation),
    })
}

/// RFC 6121 §3. An entry that an app makes stays on the list until it is removed (§2.5).
fn of_one_direction(action: SubscriptionAction, relation: Relation) -> Relation {
    use SubscriptionAction as Do;
    let listed = |relation: Relation| match relation.of_a.is_on_list() {
        true => Relation { of_a: relation.of_a.with(Side::LISTED), ..relation },
        false => relation,
    };
    match action {
        Do::Ask => listed(asked(relation)),
        Do::LetIn => listed(let_in(relation)),
        Do::Leave => {
            let Relation { of_a, of_b } = listed(relation);
            let of_a = of_a.without(Side::SEES).without(Side::ASKED);
            Relation { of_a, of_b: of_b.without(Side::SEEN).without(Side::ASKS) }
        }
        Do::Refuse => {
            let Relation { of_a, of_b } = listed(relation);
            let of_a = of_a.without(Side::SEEN).without(Side::APPROVED).without(Side::ASKS);
            Relation { of_a, of_b: of_b.without(Side::SEES) }
        }
    }
}

/// `a` asks to see `b`, who has perhaps allowed it already. Nobody gets the same request twice.
fn asked(Relation { of_a, of_b }: Relation) -> Relation {
    if of_b.has_approved() {
        let of_b = of_b.without(Side::APPROVED).with(Side::SEEN);
        return Relation { of_a: of_a.without(Side::ASKED).with(Side::SEES), of_b: of_b.without(Side::ASKS) };
    }
    if of_a.sees() || of_a.has_asked() {
        return Relation { of_a, of_b };
    }
    let of_b = if of_b.is_blocked() { of_b } else { of_b.with(Side::ASKS) };
    Relation { of_a: of_a.with(Side::ASKED), of_b }
}

/// `a` lets `b` see them: now, if `b` has asked, and otherwise as soon as `b` asks (RFC 6121 §3.4).
fn let_in(Relation { of_a, of_b }: Relation) -> Relation {
    if of_a.is_seen() {
        return Relation { of_a, of_b };
    }
    if !of_b.has_asked() {
        return Relation { of_a: of_a.with(Side::APPROVED), of_b };
    }
    let of_a = of_a.without(Side::ASKS).without(Side::APPROVED).with(Side::SEEN);
    Relation { of_a, of_b: of_b.without(Side::ASKED).with(Side::SEES) }
}

/// Both directions end, and open requests of `a`. Requests of `b`, approvals and the own block of `b` stay, and so does an entry
/// on the list of `b`.
fn ended(Relation { of_a: _, of_b }: Relation) -> Relation {
    Relation { of_a: Side::NONE, of_b: of_b.without(Side::CONTACT).without(Side::ASKS) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ContactAction::{Accept, Block, Decline, Remove, Request, Unblock};
    use SubscriptionAction::{Ask, Leave, LetIn, Refuse};

    const ACTIONS: [ContactAction; 6] = [Request, Accept, Decline, Remove, Block, Unblock];
    const NOTHING: Side = Side::NONE;
    const SENT: Side = Side::REQUESTED;
    const RECEIVED: Side = Side::ASKS;
    const FRIEND: Side = Side::CONTACT;
    const BLOCKED: Side = Side::BLOCKED;

    /// Every relation that the widget reaches, and the effect of each action of the first user.
    #[test]
    fn the_whole_table_of_both_directions() {
        type Row = ((Side, Side), [Result<(Side, Side), Refusal>; 6]);
        let no = Err(Refusal::BadValue);
        let not = Err(Refusal::NotAllowed);
        #[rustfmt::skip]
        let table: [Row; 11] = [
            // (mine, theirs)       request                accept                 decline                  remove                   block                   unblock
            ((NOTHING, NOTHING),  [Ok((SENT, RECEIVED)),  no,                    Ok((NOTHING, NOTHING)),  Ok((NOTHING, NOTHING)),  Ok((BLOCKED, NOTHING)), Ok((NOTHING, NOTHING))]),
            ((SENT, RECEIVED),    [Ok((SENT, RECEIVED)),  no,                    no,                      Ok((NOTHING, NOTHING)),  Ok((BLOCKED, NOTHING)), Ok((SENT, RECEIVED))]),
            ((SENT, NOTHING),     [Ok((SENT, NOTHING)),   no,                    no,                      Ok((NOTHING, NOTHING)),  Ok((BLOCKED, NOTHING)), Ok((SENT, NOTHING))]),
            ((SENT, BLOCKED),     [Ok((SENT, BLOCKED)),   no,                    no,                      Ok((NOTHING, BLOCKED)),  Ok((BLOCKED, BLOCKED)), Ok((SENT, BLOCKED))]),
            ((RECEIVED, SENT),    [Ok((FRIEND, FRIEND)),  Ok((FRIEND, FRIEND)),  Ok((NOTHING, SENT)),     Ok((NOTHING, SENT)),     Ok((BLOCKED, SENT)),    Ok((RECEIVED, SENT))]),
            ((NOTHING, SENT),     [Ok((FRIEND, FRIEND)),  no,                    Ok((NOTHING, SENT)),     Ok((NOTHING, SENT)),     Ok((BLOCKED, SENT)),    Ok((NOTHING, SENT))]),
            ((FRIEND, FRIEND),    [Ok((FRIEND, FRIEND)),  Ok((FRIEND, FRIEND)),  no,                      Ok((NOTHING, NOTHING)),  Ok((BLOCKED, NOTHING)), Ok((FRIEND, FRIEND))]),
            ((BLOCKED, NOTHING),  [not,                   no,                    no,                      no,                      Ok((BLOCKED, NOTHING)), Ok((NOTHING, NOTHING))]),
            ((BLOCKED, SENT),     [not,                   no,                    no,                      no,                      Ok((BLOCKED, SENT)),    Ok((NOTHING, SENT))]),
            ((BLOCKED, BLOCKED),  [not,                   no,                    no,                      no,                      Ok((BLOCKED, BLOCKED)), Ok((NOTHING, BLOCKED))]),
            ((NOTHING, BLOCKED),  [Ok((SENT, BLOCKED)),   no,                    Ok((NOTHING, BLOCKED)),  Ok((NOTHING, BLOCKED)),  Ok((BLOCKED, BLOCKED)), Ok((NOTHING, BLOCKED))]),
        ];
        for ((of_a, of_b), outcomes) in table {
            for (action, expected) in ACTIONS.into_iter().zip(outcomes) {
                let outcome = decide(&Action::Contact(action), Relation { of_a, of_b });
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
                let after = decide(&Action::Contact(action), Relation { of_a, of_b }).unwrap_or(turned);
                assert!(listed(after), "{action:?} where {of_a:?}, {of_b:?}");
            }
        }
    }

    /// The states of RFC 6121 Appendix A.1, as the roster of a user shows them.
    const STATES: [&str; 9] = ["N", "N+o", "N+i", "N+oi", "T", "T+i", "F", "F+o", "B"];

    /// The relation in which the roster of `a` has this state. A request from `b` waits at `a`.
    fn state(name: &str) -> Relation {
        let (kind, pending) = name.split_once('+').unwrap_or((name, ""));
        let (mut of_a, mut of_b) = match kind {
            "T" => (Side::SEES, Side::SEEN),
            "F" => (Side::SEEN, Side::SEES),
            "B" => (Side::CONTACT, Side::CONTACT),
            _ => (Side::NONE, Side::NONE),
        };
        if pending.contains('o') {
            (of_a, of_b) = (of_a.with(Side::ASKED), of_b.with(Side::ASKS));
        }
        if pending.contains('i') {
            (of_a, of_b) = (of_a.with(Side::ASKS), of_b.with(Side::ASKED));
        }
        Relation { of_a, of_b }
    }

    fn name(side: Side) -> String {
        let kind = match (side.sees(), side.is_seen()) {
            (true, true) => "B",
            (true, false) => "T",
            (false, true) => "F",
            (false, false) => "N",
        };
        let pending =
            format!("{}{}", if side.has_asked() { "o" } else { "" }, if side.asks() { "i" } else { "" });
        if pending.is_empty() { kind.into() } else { format!("{kind}+{pending}") }
    }

    /// RFC 6121 Appendix A.2 and A.3. Each row: the states, in the order of [`STATES`], after a stanza that the user
    /// sends, and after one that the other user sends.
    #[test]
    fn subscription_states_of_the_standard() {
        #[rustfmt::skip]
        let table = [
            // stanza, sender       N      N+o     N+i     N+oi    T      T+i    F      F+o    B
            (Ask,    "user",     ["N+o",  "N+o",  "N+oi", "N+oi", "T",   "T+i", "F+o", "F+o", "B"]),
            (Leave,  "user",     ["N",    "N",    "N+i",  "N+i",  "N",   "N+i", "F",   "F",   "F"]),
            (LetIn,  "user",     ["N",    "N+o",  "F",    "F+o",  "T",   "B",   "F",   "F+o", "B"]),
            (Refuse, "user",     ["N",    "N+o",  "N",    "N+o",  "T",   "T",   "N",   "N+o", "T"]),
            (Ask,    "contact",  ["N+i",  "N+oi", "N+i",  "N+oi", "T+i", "T+i", "F",   "F+o", "B"]),
            (Leave,  "contact",  ["N",    "N+o",  "N",    "N+o",  "T",   "T",   "N",   "N+o", "T"]),
            (LetIn,  "contact",  ["N",    "T",    "N+i",  "T+i",  "T",   "T+i", "F",   "B",   "B"]),
            // Differs from the standard: a user who asks does not learn of a refusal, so the request stays sent.
            (Refuse, "contact",  ["N",    "N+o",  "N+i",  "N+oi", "N",   "N+i", "F",   "F+o", "F"]),
        ];
        for (stanza, sender, expected) in table {
            for (before, after) in STATES.into_iter().zip(expected) {
                let relation = state(before);
                let action = Action::Subscription(stanza);
                let outcome = match sender {
                    "user" => decide(&action, relation),
                    _ => decide(&action, relation.turned()).map(Relation::turned),
                };
                let outcome = outcome.expect("nobody is blocked");
                assert_eq!(name(outcome.of_a), after, "{sender} sends {stanza:?} in {before}");
            }
        }
    }

    #[test]
    fn approvals_answer_the_next_request_and_only_it() {
        let none = Relation::NONE;
        let act =
            |action, relation| decide(&Action::Subscription(action), relation).expect("nobody is blocked");
        let by_other = |action, relation: Relation| act(action, relation.turned()).turned();
        let approved = act(LetIn, none);
        assert_eq!(approved, Relation { of_a: Side::APPROVED.with(Side::LISTED), of_b: NOTHING });
        let seen = by_other(Ask, approved);
        assert!(seen.of_a.is_seen() && seen.of_b.sees() && !seen.of_a.asks() && !seen.of_a.has_approved());
        let ended = by_other(Leave, seen);
        assert!(by_other(Ask, ended).of_a.asks(), "an approval is used once");
        let revoked = by_other(Ask, act(Refuse, approved));
        assert!(revoked.of_a.asks() && !revoked.of_b.sees(), "it can be revoked");
        // A request of the widget approves, so one stanza of an app answers it, and a second one asks back.
        let requested = decide(&Action::Contact(Request), none).expect("nobody is blocked");
        let answered = by_other(LetIn, requested);
        assert!(answered.of_a.sees() && !answered.of_b.sees());
        assert!(by_other(Ask, answered).of_b.sees());
    }

    /// The widget accepts: the other user sees this one, and is asked for the other direction.
    #[test]
    fn an_accepted_request_of_one_direction_asks_for_the_other() {
        let asked = decide(&Action::Subscription(Ask), Relation::NONE).expect("nobody is blocked").turned();
        let accepted = decide(&Action::Contact(Accept), asked).expect("nobody is blocked");
        assert!(accepted.of_a.is_seen() && !accepted.of_a.sees() && accepted.of_a.has_asked());
        assert!(accepted.of_b.sees() && accepted.of_b.asks());
        let back = decide(&Action::Subscription(LetIn), accepted.turned()).expect("nobody is blocked");
        assert!(back.of_a.is_seen() && back.of_b.sees());
    }

    #[test]
    fn a_blocked_user_changes_nothing_and_the_blocking_one_unblocks_first() {
        let blocked = Relation { of_a: BLOCKED, of_b: NOTHING };
        for action in [Ask, LetIn, Leave, Refuse] {
            let action = Action::Subscription(action);
            assert_eq!(decide(&action, blocked), Err(Refusal::NotAllowed));
            assert_eq!(decide(&action, blocked.turned()).map(|after| after.of_b), Ok(BLOCKED), "{action:?}");
        }
        let keep = Action::Keep(ContactNote::default());
        assert_eq!(decide(&keep, blocked), Err(Refusal::NotAllowed));
        assert_eq!(decide(&keep, Relation::NONE), Ok(Relation { of_a: Side::LISTED, of_b: NOTHING }));
        assert_eq!(
            decide(&Action::Contact(Remove), Relation { of_a: Side::LISTED, of_b: NOTHING }),
            Ok(Relation::NONE)
        );
    }

    #[test]
    fn both_sides_agree_after_any_history() {
        use rand::{Rng, SeedableRng, rngs::StdRng};
        let actions: Vec<Action> = (ACTIONS.into_iter().map(Action::Contact))
            .chain([Ask, LetIn, Leave, Refuse].map(Action::Subscription))
            .chain([Action::Keep(ContactNote::default())])
            .collect();
        for seed in 0..500 {
            let mut rng = StdRng::seed_from_u64(seed);
            let mut stand = Relation::NONE;
            for _ in 0..60 {
                let action = &actions[rng.random_range(0..actions.len())];
                let is_turned = rng.random_bool(0.5);
                let turn = |r: Relation| if is_turned { r.turned() } else { r };
                let before = turn(stand);
                let Ok(after) = decide(action, before) else { continue };
                assert!(!before.of_b.is_blocked() || after.of_b == BLOCKED, "nobody lifts another's block");
                let consents = |was: Side, is: Side| is.is_seen() && !was.is_seen();
                if consents(before.of_b, after.of_b) {
                    assert!(
                        before.of_b.has_approved(),
                        "seed {seed}: {action:?} takes a consent, {before:?}"
                    );
                }
                let is_listed =
                    |side: Side| side.without(Side::CONTACT).without(Side::ASKS).without(Side::ASKED);
                let kept = is_listed(before.of_b).without(Side::APPROVED);
                assert_eq!(is_listed(after.of_b).without(Side::APPROVED), kept, "another's list stays");
                stand = turn(after);
                let Relation { of_a, of_b } = stand;
                for (one, other) in [(of_a, of_b), (of_b, of_a)] {
                    assert_eq!(Side::of_code(one.code()), one, "seed {seed}: {one:?}");
                    assert_eq!(one.sees(), other.is_seen(), "seed {seed}: {stand:?}");
                    assert!(!one.asks() || other.has_asked(), "seed {seed}: {stand:?}");
                }
            }
        }
    }
}

//! The effects of each step, and the invariants under random steps: the number of participants is bounded,
//! signals reach only their receiver, and nothing remains at the end.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;
use crate::SiteId;

const START: u64 = 1_800_000_000_000;
const NAMES: [&str; 8] = ["ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal"];

fn now(ms: u64) -> Timestamp {
    Timestamp(START + ms)
}

fn user(num: u32) -> UserId {
    UserId { site: SiteId(1), num }
}

/// The first session of a user; further ones have `handle + 100`.
fn session(num: u32) -> SessionId {
    SessionId { user: user(num), handle: SessionHandle(num.into()) }
}

fn joining(session: SessionId, place: u32, most: u8) -> Joining {
    let sub = Sub::parse(NAMES[session.user.num as usize]).expect("a name");
    let members = (0..8).collect();
    Joining { session, sub, place: Place(place), most, apart: Vec::new(), members }
}

fn begun<T: Topology>(most: u8) -> GroupCall<T> {
    let room = ConversationId::room(SiteId(1), 5);
    GroupCall::new(CallId(9), room, Media::Audio, &joining(session(0), 0, most), now(0))
}

/// Ann, Bob and Cat are in the places 1 to 3.
fn three() -> GroupCall {
    let mut call = begun(4);
    for num in 0..3 {
        call.join(joining(session(num), num + 1, 4)).expect("there is room");
    }
    call
}

/// The effects of a step, as text.
fn said(outcome: Result<GroupEffects, Refusal>) -> String {
    let effects = match outcome {
        Ok(effects) => effects,
        Err(refusal) => return format!("{refusal:?}"),
    };
    let mut all: Vec<String> = effects.answer.iter().map(|news| format!("answer {news:?}")).collect();
    all.extend(effects.events.iter().map(|(handle, news)| format!("{}: {news:?}", handle.0)));
    if effects.changed {
        all.push("changed".into());
    }
    all.join(", ")
}

fn offer() -> GroupSignal {
    GroupSignal::Offer("o".into())
}

#[test]
fn joins_and_leaves_reach_the_others() {
    let mut call: GroupCall = begun(3);
    let join = |call: &mut GroupCall, num, place| said(call.join(joining(session(num), place, 3)));
    assert_eq!(join(&mut call, 0, 1), "answer Joined [], changed");
    assert!(!call.was_shared());
    assert_eq!(join(&mut call, 1, 2), "answer Joined [ann], 0: Came bob, changed");
    assert!(call.was_shared());
    assert_eq!(join(&mut call, 2, 3), "answer Joined [ann bob], 0: Came cat, 1: Came cat, changed");
    assert_eq!(join(&mut call, 3, 4), "CallFull");
    assert_eq!(said(call.leave(session(0).handle)), "answer Left, 1: Went, 2: Went, changed");
    assert_eq!(call.host().0, user(1), "it is bob's now, who is there longest");
    assert_eq!(said(call.leave(session(0).handle)), "NoSuchCall");
    assert_eq!(join(&mut call, 3, 5), "answer Joined [bob cat], 1: Came dan, 2: Came dan, changed");
    for num in 1..4 {
        assert!(!call.is_over());
        call.leave(session(num).handle).expect("they are there");
    }
    assert!(call.is_over());
    assert_eq!(call.standing().call, None);
}

#[test]
fn signals_reach_only_the_named_place() {
    let mut call = three();
    let signal =
        |call: &mut GroupCall, by, to| said(call.signal(SessionHandle(by), Place(to), offer(), now(0)));
    assert_eq!(signal(&mut call, 0, 2), "answer Done, 1: Offer");
    assert_eq!(signal(&mut call, 2, 1), "answer Done, 0: Offer");
    for nobody in [0, 1, 7, u32::MAX] {
        assert_eq!(signal(&mut call, 0, nobody), "answer Done", "to oneself, or to nobody");
    }
    assert_eq!(signal(&mut call, 3, 1), "NoSuchCall", "from who is not there");
    let from = call.signal(SessionHandle(0), Place(2), offer(), now(0)).expect("she is there");
    assert!(matches!(from.events[0].1, GroupNews::Signal { from: Place(1), .. }));
}

#[test]
fn joining_again_gives_a_new_place_and_retires_the_old_one() {
    let mut call = three();
    let away = call.session_ended(session(1).handle, false, now(0));
    assert_eq!(said(away.ok_or(Refusal::NoSuchCall)), "0: Away, 2: Away");
    assert!(call.session_ended(session(1).handle, false, now(0)).is_none(), "it ends once");
    assert_eq!(said(call.signal(SessionHandle(0), Place(2), offer(), now(0))), "answer Done");
    let tablet = SessionId { handle: SessionHandle(101), ..session(1) };
    let again = said(call.join(joining(tablet, 9, 4)));
    assert_eq!(again, "answer Joined [ann cat], 0: Came bob, 2: Came bob", "and the members hear nothing");
    assert_eq!(said(call.signal(SessionHandle(0), Place(2), offer(), now(0))), "answer Done");
    assert_eq!(said(call.signal(SessionHandle(0), Place(9), offer(), now(0))), "answer Done, 101: Offer");
    // From another device, while the first one is still there.
    let moved = said(call.join(joining(session(1), 10, 4)));
    assert_eq!(moved, "answer Joined [ann cat], 101: Elsewhere, 0: Came bob, 2: Came bob");
    assert_eq!(said(call.leave(SessionHandle(101))), "NoSuchCall");
}

#[test]
fn participants_away_for_twenty_seconds_are_removed() {
    let mut call = three();
    call.session_ended(session(2).handle, false, now(1_000)).expect("cat was there");
    assert!(call.time_passed(now(AWAY_MS)).is_none());
    let gone = call.time_passed(now(1_000 + AWAY_MS));
    assert_eq!(said(gone.ok_or(Refusal::NoSuchCall)), "0: Went, 1: Went, changed");
    call.session_ended(session(1).handle, false, now(90_000_000)).expect("bob was there");
    assert!(call.time_passed(now(0)).is_some(), "a clock that goes back keeps nobody");
    let bye = call.session_ended(session(0).handle, true, now(0));
    assert_eq!(said(bye.ok_or(Refusal::NoSuchCall)), "changed");
    assert!(call.is_over());
}

#[test]
fn a_block_separates_two_participants() {
    let mut call = three();
    let dan = Joining { apart: vec![user(1), user(7)], ..joining(session(3), 4, 4) };
    assert_eq!(
        said(call.join(dan)),
        "answer Joined [ann bob cat], 0: Came dan, 1: Came dan apart, 2: Came dan, changed"
    );
    let signal =
        |call: &mut GroupCall, by, to| said(call.signal(SessionHandle(by), Place(to), offer(), now(0)));
    assert_eq!(signal(&mut call, 3, 2), "answer Done", "bob does not hear dan");
    assert_eq!(signal(&mut call, 1, 4), "answer Done", "nor dan bob");
    assert_eq!(signal(&mut call, 3, 3), "answer Done, 2: Offer");
    let blocked = call.blocked(user(0), user(2)).expect("both are there");
    assert_eq!(said(Ok(blocked)), "0: Apart, 2: Apart");
    assert_eq!(signal(&mut call, 0, 3), "answer Done");
    assert!(call.blocked(user(0), user(6)).is_none());
    call.take_out(user(1)).expect("bob was there");
    assert_eq!(call.apart, [[0, 2]], "what is kept of pairs goes with one of them");
}

#[test]
fn a_removed_participant_is_notified_once() {
    let mut call = three();
    call.no_member(user(2));
    assert!(!call.members().contains(&2) && call.members().contains(&1));
    let out = call.take_out(user(2)).expect("cat was there");
    assert_eq!(said(Ok(out)), "0: Went, 1: Went, 2: Left, changed");
    assert!(call.take_out(user(2)).is_none());
}

#[test]
fn sizes_and_rates_are_bounded() {
    let mut call = three();
    let long = |length| "x".repeat(length).into();
    let mut say = |signal| said(call.signal(SessionHandle(0), Place(2), signal, now(0)));
    assert_eq!(say(GroupSignal::Offer(long(0))), "BadValue");
    assert_eq!(say(GroupSignal::Answer(long(crate::DESCRIPTION_BYTES + 1))), "BadValue");
    assert_eq!(say(GroupSignal::Candidate(long(CANDIDATE_BYTES + 1))), "BadValue");
    assert_eq!(say(GroupSignal::Candidate(long(0))), "answer Done, 1: Candidate");
    let taken = (0..1_000).filter(|_| say(offer()).starts_with("answer")).count();
    assert_eq!(taken, 60);
    assert!(say(offer()).starts_with("RateLimited"));
}

#[test]
fn a_call_stays_small() {
    // The vector grows to a capacity of eight for six seats.
    let pairs = 15 * size_of::<[u32; 2]>();
    let members = crate::MOST_MEMBERS_CALLED as usize * size_of::<u32>();
    let bytes = size_of::<GroupCall>() + 8 * size_of::<Seat>() + 2 * pairs + members;
    assert!(bytes <= 3 * 1024, "{bytes}");
}

/// A topology that pairs place 1 with everybody and no other places, as a media server would need it.
#[derive(Default)]
struct Star;

impl Topology for Star {
    fn pairs(&self, one: Place, other: Place) -> bool {
        one != other && (one == Place(1) || other == Place(1))
    }
}

#[test]
fn the_topology_decides_the_pairs() {
    let mut call: GroupCall<Star> = begun(6);
    for num in 0..3 {
        call.join(joining(session(num), num + 1, 6)).expect("there is room");
    }
    let mut events = |by, to| {
        let effects = call.signal(SessionHandle(by), Place(to), offer(), now(0)).expect("they are there");
        effects.events.len()
    };
    assert_eq!([events(1, 1), events(0, 2), events(0, 3), events(1, 3), events(2, 2)], [1, 1, 1, 0, 0]);
}

#[derive(Debug, Clone)]
enum Move {
    Join { num: u32, device: u64, apart: Option<u32> },
    Leave { num: u32, device: u64 },
    Signal { num: u32, device: u64, to: u32 },
    End { num: u32, device: u64, on_purpose: bool },
    Out(u32),
    Block(u32, u32),
    Wait(u64),
}

fn moves() -> impl Strategy<Value = Move> {
    let who = || (0..8u32, 0..2u64);
    prop_oneof![
        3 => (who(), proptest::option::of(0..8u32))
            .prop_map(|((num, device), apart)| Move::Join { num, device, apart }),
        1 => who().prop_map(|(num, device)| Move::Leave { num, device }),
        3 => (who(), 0..40u32).prop_map(|((num, device), to)| Move::Signal { num, device, to }),
        2 => (who(), any::<bool>())
            .prop_map(|((num, device), on_purpose)| Move::End { num, device, on_purpose }),
        1 => (0..8u32).prop_map(Move::Out),
        1 => (0..8u32, 0..8u32).prop_map(|(one, other)| Move::Block(one, other)),
        1 => (0..30_000u64).prop_map(Move::Wait),
    ]
}

proptest! {
    #[test]
    fn whatever_clients_do(moves in proptest::collection::vec(moves(), 1..120), most in 2..=6u8) {
        let mut call: GroupCall = begun(most);
        let (mut ms, mut place) = (0, 0);
        // The participants that the client of each session knows: its own place, and those of the others.
        let mut seen: HashMap<SessionHandle, HashSet<Place>> = HashMap::new();
        for one in moves {
            let at = |num: u32, device: u64| SessionId {
                user: user(num),
                handle: SessionHandle(u64::from(num) + 100 * device),
            };
            let outcome = match one {
                Move::Join { num, device, apart } => {
                    place += 1;
                    let apart = apart.filter(|other| *other != num).map(user).into_iter().collect();
                    call.join(Joining { apart, ..joining(at(num, device), place, most) })
                }
                Move::Leave { num, device } => call.leave(at(num, device).handle),
                Move::Signal { num, device, to } => {
                    call.signal(at(num, device).handle, Place(to), offer(), now(ms))
                }
                Move::End { num, device, on_purpose } => call
                    .session_ended(at(num, device).handle, on_purpose, now(ms))
                    .ok_or(Refusal::NoSuchCall),
                Move::Out(num) => call.take_out(user(num)).ok_or(Refusal::NoSuchCall),
                Move::Block(one, other) if one != other => {
                    call.blocked(user(one), user(other)).ok_or(Refusal::NoSuchCall)
                }
                Move::Block(..) => Err(Refusal::NoSuchCall),
                Move::Wait(time) => {
                    ms += time;
                    call.time_passed(now(ms)).ok_or(Refusal::NoSuchCall)
                }
            };
            prop_assert!(call.seats.len() <= usize::from(most));
            prop_assert!(call.apart.len() <= 6 * 5 / 2, "{:?}", call.apart);
            let Ok(effects) = outcome else { continue };
            prop_assert!(effects.events.len() <= 6);
            for (handle, news) in &effects.events {
                match news {
                    GroupNews::Came(who) => {
                        seen.entry(*handle).or_default().insert(who.place);
                    }
                    GroupNews::Signal { from, .. } => {
                        let knows = seen.get(handle).is_some_and(|places| places.contains(from));
                        prop_assert!(knows, "{handle:?} hears of {from:?} it was never told of");
                    }
                    GroupNews::Elsewhere | GroupNews::Left => {
                        seen.remove(handle);
                    }
                    _ => {}
                }
            }
            if let Some(GroupNews::Joined { here, .. }) = &effects.answer {
                let me = call.seats.iter().find(|seat| seat.place == Place(place)).expect("just joined");
                let places = here.iter().map(|who| who.place).collect();
                seen.insert(me.handle().expect("just joined"), places);
            }
            let here: HashSet<UserId> = call.users().collect();
            prop_assert_eq!(here.len(), call.seats.len(), "nobody is there twice");
        }
        for num in 0..8 {
            for device in 0..2 {
                call.session_ended(SessionHandle(num + 100 * device), false, now(ms));
            }
        }
        while call.time_passed(now(ms + AWAY_MS)).is_some() {}
        prop_assert!(call.is_over() && call.apart.is_empty());
    }
}

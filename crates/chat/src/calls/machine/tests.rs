//! The effects of each step, and the invariants under random steps: every call ends, and both parties see the
//! same end.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;
use crate::SiteId;

const START: u64 = 1_800_000_000_000;
const TICKET: CallTicket = CallTicket::of(7);

fn now(ms: u64) -> Timestamp {
    Timestamp(START + ms)
}

fn user(num: u32) -> UserId {
    UserId { site: SiteId(1), num }
}

fn ann(handle: u64) -> SessionId {
    SessionId { user: user(1), handle: SessionHandle(handle) }
}

fn bob(handle: u64) -> SessionId {
    SessionId { user: user(2), handle: SessionHandle(handle) }
}

fn sub(name: &str) -> Sub {
    Sub::parse(name).expect("a name")
}

/// Ann calls from her session 10.
fn ringing() -> Call {
    let caller = (ann(10), sub("ann"), TICKET);
    Call::new(CallId(5), Media::Audio, caller, (user(2), sub("bob")), "offer".into(), now(0))
}

/// Bob has accepted with his session 20.
fn up() -> Call {
    let mut call = ringing();
    let accept = CallStep::Accept { answer: "answer".into() };
    call.step(bob(20), accept, CallTicket::of(8), now(1_000)).expect("it rings");
    call
}

/// Ann calls from an app, whose offer follows after the acceptance.
fn ringing_without_offer() -> Call {
    let caller = (ann(10), sub("ann"), TICKET);
    Call::new(CallId(5), Media::Audio, caller, (user(2), sub("bob")), "".into(), now(0))
}

/// The effects of a step, as text: the answer, the events with their receivers, and the end.
fn said(outcome: &Result<Effects, Refusal>) -> String {
    let effects = match outcome {
        Ok(effects) => effects,
        Err(refusal) => return format!("{refusal:?}"),
    };
    let mut all: Vec<String> = effects.answer.iter().map(|news| format!("answer {news:?}")).collect();
    all.extend(effects.events.iter().map(|(recipient, news)| match recipient {
        Recipient::Session(handle) => format!("{}: {news:?}", handle.0),
        Recipient::Callee { except: None } => format!("bob: {news:?}"),
        Recipient::Callee { except: Some(handle) } => format!("bob but {}: {news:?}", handle.0),
    }));
    all.join(", ")
}

fn check(mut call: Call, by: SessionId, step: CallStep, expected: &str) {
    let events = format!("{step:?} by {}", by.handle.0);
    assert_eq!(said(&call.step(by, step, CallTicket::of(9), now(61_000))), expected, "{events}");
}

fn text(length: usize) -> Arc<str> {
    "x".repeat(length).into()
}

#[test]
fn steps_of_a_ringing_call() {
    let accept = || CallStep::Accept { answer: "a".into() };
    check(ringing(), bob(20), accept(), "answer Joined, bob but 20: Elsewhere, 10: Accepted");
    let over = |outcome| {
        format!("answer Over {outcome} 0 ms, bob but 20: Over {outcome} 0 ms, 10: Over {outcome} 0 ms")
    };
    check(ringing(), bob(20), CallStep::Decline { busy: false }, &over("Declined"));
    check(ringing(), bob(20), CallStep::Decline { busy: true }, &over("Busy"));
    check(ringing(), bob(20), CallStep::HangUp, &over("Declined"));
    let cancelled = "answer Over Cancelled 0 ms, bob but 10: Over Cancelled 0 ms";
    check(ringing(), ann(10), CallStep::HangUp, cancelled);
    check(ringing(), ann(10), CallStep::Candidate("c".into()), "answer Done");
    let again = CallStep::Rejoin { ticket: TICKET, offer: "o".into() };
    check(ringing(), ann(10), again.clone(), "answer Rejoined, bob: Ring");
    check(ringing(), ann(11), again, "answer Rejoined, 10: Elsewhere, bob: Ring");
}

#[test]
fn an_offer_may_follow_the_acceptance() {
    let accept = |answer: &str| CallStep::Accept { answer: answer.into() };
    check(ringing_without_offer(), bob(20), accept(""), "answer Joined, bob but 20: Elsewhere, 10: Accepted");
    check(ringing_without_offer(), bob(20), accept("a"), "BadValue");
    check(ringing(), bob(20), accept(""), "BadValue");
    let mut up = ringing_without_offer();
    up.step(bob(20), accept(""), CallTicket::of(8), now(1_000)).expect("it rings");
    check(up, ann(10), CallStep::Offer("o".into()), "answer Done, 20: Offer");
}

#[test]
fn a_party_may_return_to_a_connection_that_continues() {
    let back = |ticket| CallStep::Rejoin { ticket, offer: "".into() };
    check(up(), ann(11), back(TICKET), "answer Rejoined after 60000 ms, 10: Elsewhere, 20: Back");
    let mut call = ringing();
    assert_eq!(
        said(&call.step(ann(11), back(TICKET), CallTicket::of(9), now(2_000))),
        "answer Rejoined, 10: Elsewhere"
    );
    let Some(CallNews::Ring { offer, .. }) = call.ring(false) else { panic!("it rings") };
    assert_eq!(&*offer, "offer");
    check(up(), ann(11), back(CallTicket::of(1)), "NoSuchCall");
}

#[test]
fn steps_of_an_established_call() {
    check(up(), ann(10), CallStep::Offer("o".into()), "answer Done, 20: Offer");
    check(up(), bob(20), CallStep::Answer("a".into()), "answer Done, 10: Answer");
    check(up(), bob(20), CallStep::Candidate("".into()), "answer Done, 10: Candidate");
    check(up(), ann(10), CallStep::Hold(true), "answer Done, 20: Hold");
    let over = |to| format!("answer Over Ended 60000 ms, {to}: Over Ended 60000 ms");
    check(up(), ann(10), CallStep::HangUp, &over(20));
    check(up(), bob(20), CallStep::HangUp, &over(10));
    let back = |ticket| CallStep::Rejoin { ticket, offer: "o".into() };
    check(up(), ann(11), back(TICKET), "answer Rejoined after 60000 ms, 10: Elsewhere, 20: Back");
    check(up(), bob(20), back(CallTicket::of(8)), "answer Rejoined after 60000 ms, 10: Back");
}

#[test]
fn outsiders_cannot_tell_that_a_call_exists() {
    let stranger = SessionId { user: user(3), handle: SessionHandle(30) };
    let all = || {
        [
            CallStep::Accept { answer: "a".into() },
            CallStep::Decline { busy: false },
            CallStep::HangUp,
            CallStep::Offer("o".into()),
            CallStep::Answer("a".into()),
            CallStep::Candidate("c".into()),
            CallStep::Hold(true),
            CallStep::Rejoin { ticket: CallTicket::of(0), offer: "o".into() },
        ]
    };
    for step in all() {
        check(ringing(), stranger, step.clone(), "NoSuchCall");
        check(up(), stranger, step.clone(), "NoSuchCall");
        // Another device of hers: it did not call, and has no ticket.
        check(ringing(), ann(11), step.clone(), "NoSuchCall");
        check(up(), ann(11), step.clone(), "NoSuchCall");
        check(up(), bob(21), step, "NoSuchCall");
    }
    for step in [CallStep::Accept { answer: "a".into() }, CallStep::Decline { busy: true }] {
        check(ringing(), ann(10), step.clone(), "NoSuchCall");
        check(up(), bob(20), step, "NoSuchCall");
    }
    for step in [CallStep::Offer("o".into()), CallStep::Answer("a".into()), CallStep::Hold(true)] {
        check(ringing(), ann(10), step.clone(), "NoSuchCall");
        check(ringing(), bob(20), step, "NoSuchCall");
    }
    // No device of Bob has accepted, so he has no ticket: the default ticket of the empty place is refused,
    // too.
    check(
        ringing(),
        bob(20),
        CallStep::Rejoin { ticket: CallTicket::of(0), offer: "o".into() },
        "NoSuchCall",
    );
    // Ann's ticket does not work for Bob.
    check(up(), bob(21), CallStep::Rejoin { ticket: TICKET, offer: "o".into() }, "NoSuchCall");
}

#[test]
fn long_texts_are_refused_from_everybody() {
    for length in [0, DESCRIPTION_BYTES + 1] {
        check(ringing(), bob(20), CallStep::Accept { answer: text(length) }, "BadValue");
        check(up(), ann(10), CallStep::Offer(text(length)), "BadValue");
        check(up(), ann(10), CallStep::Answer(text(length)), "BadValue");
    }
    let long = text(DESCRIPTION_BYTES + 1);
    check(up(), ann(10), CallStep::Rejoin { ticket: TICKET, offer: long }, "BadValue");
    check(up(), ann(10), CallStep::Offer(text(DESCRIPTION_BYTES)), "answer Done, 20: Offer");
    check(up(), ann(10), CallStep::Candidate(text(CANDIDATE_BYTES + 1)), "BadValue");
    check(up(), ann(10), CallStep::Candidate(text(CANDIDATE_BYTES)), "answer Done, 20: Candidate");
}

#[test]
fn candidates_are_limited_while_a_call_rings() {
    for (mut call, passed) in [(ringing(), WAITING_CANDIDATES), (up(), 100)] {
        let outcomes: Vec<_> = (0..1_000)
            .map(|_| call.step(ann(10), CallStep::Candidate(text(CANDIDATE_BYTES)), TICKET, now(2_000)).err())
            .collect();
        assert_eq!(outcomes.iter().filter(|refused| refused.is_none()).count(), passed);
        assert!(outcomes[passed..].iter().all(|it| matches!(it, Some(Refusal::RateLimited { .. }))));
        assert!(call.kept_bytes() <= "offer".len() + WAITING_CANDIDATES * CANDIDATE_BYTES);
    }
}

#[test]
fn descriptions_are_limited() {
    let mut call = up();
    let passed = (0..100).filter(|_| call.step(ann(10), CallStep::Hold(true), TICKET, now(2_000)).is_ok());
    assert_eq!(passed.count(), 20);
    assert!(
        call.step(bob(20), CallStep::Hold(true), TICKET, now(2_000)).is_ok(),
        "each has a pace of its own"
    );
}

#[test]
fn the_accepting_device_gets_earlier_candidates() {
    let mut call = ringing();
    for text in ["c1", "c2"] {
        call.step(ann(10), CallStep::Candidate(text.into()), TICKET, now(10)).expect("it rings");
    }
    let accepted = call.step(bob(20), CallStep::Accept { answer: "a".into() }, TICKET, now(20));
    let expected = "answer Joined, bob but 20: Elsewhere, 10: Accepted, 20: Candidate, 20: Candidate";
    assert_eq!(said(&accepted), expected);
    assert_eq!(call.kept_bytes(), 0, "what is up keeps nothing");
}

#[test]
fn a_lost_party_may_rejoin_or_the_call_ends() {
    let mut call = up();
    assert_eq!(said(&call.session_ended(bob(20), false, now(5_000)).ok_or(Refusal::Full)), "10: Away");
    assert!(call.session_ended(bob(20), false, now(5_001)).is_none(), "it is gone already");
    assert_eq!(said(&call.step(ann(10), CallStep::Candidate("c".into()), TICKET, now(6_000))), "answer Done");
    assert!(call.time_passed(now(24_999)).is_none());
    let back = CallStep::Rejoin { ticket: CallTicket::of(8), offer: "o".into() };
    assert_eq!(
        said(&call.step(bob(21), back, TICKET, now(24_999))),
        "answer Rejoined after 23999 ms, 10: Back"
    );
    assert!(call.time_passed(now(1_000_000)).is_none(), "both are here");

    call.session_ended(ann(10), false, now(30_000)).expect("she was in it");
    let over = call.time_passed(now(50_000)).ok_or(Refusal::Full);
    assert_eq!(said(&over), "21: Over Lost 49000 ms");
}

#[test]
fn a_ringing_call_ends_without_answer_or_caller() {
    let mut call = ringing();
    assert!(call.time_passed(now(RINGS_MS - 1)).is_none());
    let missed = call.time_passed(now(RINGS_MS)).ok_or(Refusal::Full);
    assert_eq!(said(&missed), "bob: Over Missed 0 ms, 10: Over Missed 0 ms");

    let mut call = ringing();
    call.session_ended(ann(10), false, now(1_000)).expect("she calls");
    assert!(call.session_ended(bob(20), false, now(1_000)).is_none(), "it rings at his other devices");
    assert!(call.time_passed(now(20_999)).is_none());
    assert_eq!(said(&call.time_passed(now(21_000)).ok_or(Refusal::Full)), "bob: Over Cancelled 0 ms");

    let mut call = ringing();
    call.session_ended(ann(10), false, now(1_000)).expect("she calls");
    let accepted = call.step(bob(20), CallStep::Accept { answer: "a".into() }, TICKET, now(2_000));
    assert_eq!(said(&accepted), "answer Joined, bob but 20: Elsewhere, 20: Away");
    let back = CallStep::Rejoin { ticket: TICKET, offer: "o".into() };
    assert_eq!(
        said(&call.step(ann(11), back, TICKET, now(3_000))),
        "answer Rejoined after 1000 ms, 20: Back"
    );
}

#[test]
fn signing_off_ends_the_call() {
    let ended = up().session_ended(ann(10), true, now(2_500)).ok_or(Refusal::Full);
    assert_eq!(said(&ended), "20: Over Ended 1500 ms");
    let cancelled = ringing().session_ended(ann(10), true, now(2_500)).ok_or(Refusal::Full);
    assert_eq!(said(&cancelled), "bob: Over Cancelled 0 ms");
}

#[test]
fn a_clock_set_back_does_not_keep_calls() {
    let earlier = Timestamp(START - 3_600_000);
    assert!(ringing().time_passed(earlier).is_some_and(|effects| effects.over.is_some()));
}

/// The state of a call that a device knows from its events.
#[derive(Default)]
struct Seen {
    rings: bool,
    /// The device believes that it has a place.
    has_place: bool,
    over: Vec<(Outcome, u64)>,
}

#[derive(Debug, Clone)]
enum Act {
    Step(usize, u8),
    /// The session ends; the device gets a new one.
    Drop(usize, bool),
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => (0..5_usize, 0..8_u8).prop_map(|(device, step)| Act::Step(device, step)),
        2 => (0..5_usize, prop::bool::weighted(0.1)).prop_map(|(device, on_purpose)| Act::Drop(device, on_purpose)),
        3 => prop_oneof![0..100_u64, 0..30_000_u64].prop_map(Act::Wait),
    ]
}

proptest! {
    /// Two devices of Ann and three of Bob act in any order, and lose connections. At most one device of each
    /// user has a place, and the call ends. Devices that had a place at the end, or still rang, receive the
    /// same end once.
    #[test]
    fn every_call_ends_and_all_devices_agree(acts in proptest::collection::vec(act(), 0..60)) {
        let mut call = ringing();
        let mut sessions = [10_u64, 11, 20, 21, 22];
        let mut next = 100;
        let mut tickets: HashMap<usize, CallTicket> = [(0, TICKET)].into();
        let mut seen: [Seen; 5] = Default::default();
        seen[0].has_place = true;
        seen[2..].iter_mut().for_each(|device| device.rings = true);
        let mut ended = None;
        let mut ms = 0;
        let of = |device: usize, handle: u64| if device < 2 { ann(handle) } else { bob(handle) };
        let end = [Act::Wait(AWAY_MS), Act::Drop(0, false), Act::Drop(1, false), Act::Drop(2, false), Act::Drop(3, false),
            Act::Drop(4, false), Act::Wait(AWAY_MS), Act::Wait(RINGS_MS)];
        for act in acts.into_iter().chain(end) {
            let (asker, outcome) = match act {
                Act::Step(device, step) => {
                    let shown = tickets.get(&device).copied().unwrap_or(CallTicket::of(1));
                    let step = match step {
                        0 | 1 => CallStep::Accept { answer: "a".into() },
                        2 => CallStep::Decline { busy: false },
                        3 => CallStep::HangUp,
                        4 => CallStep::Offer("o".into()),
                        5 => CallStep::Candidate("c".into()),
                        6 => CallStep::Hold(true),
                        _ => CallStep::Rejoin { ticket: shown, offer: "o".into() },
                    };
                    next += 1;
                    let fresh = CallTicket::of(next.into());
                    (Some(device), call.step(of(device, sessions[device]), step, fresh, now(ms)).ok())
                }
                Act::Drop(device, on_purpose) => {
                    let session = of(device, sessions[device]);
                    next += 1;
                    sessions[device] = next;
                    // Events for the old session are lost.
                    seen[device].has_place = false;
                    seen[device].rings &= device >= 2;
                    (None, call.session_ended(session, on_purpose, now(ms)))
                }
                Act::Wait(more) => {
                    ms += more;
                    (None, call.time_passed(now(ms)))
                }
            };
            let Some(effects) = outcome else { continue };
            let mut hear = |device: usize, news: &CallNews| match news {
                CallNews::Ring { .. } => seen[device].rings = true,
                CallNews::Joined { ticket } => {
                    tickets.insert(device, *ticket);
                    seen[device].has_place = true;
                    seen[device].rings = false;
                }
                CallNews::Rejoined { .. } => seen[device].has_place = true,
                CallNews::Elsewhere => {
                    seen[device].has_place = false;
                    seen[device].rings = false;
                }
                CallNews::Over { outcome, ms } => seen[device].over.push((*outcome, *ms)),
                _ => {}
            };
            if let (Some(device), Some(answer)) = (asker, &effects.answer) {
                hear(device, answer);
            }
            for (recipient, news) in &effects.events {
                match recipient {
                    Recipient::Session(handle) => {
                        if let Some(device) = sessions.iter().position(|session| *session == handle.0) {
                            hear(device, news);
                        }
                    }
                    Recipient::Callee { except } => {
                        let of_bob = sessions.iter().enumerate().skip(2);
                        for (device, _) in of_bob.filter(|(_, session)| Some(SessionHandle(**session)) != *except) {
                            hear(device, news);
                        }
                    }
                }
            }
            if let Some(Over { outcome, ms }) = effects.over {
                ended = Some((outcome, ms));
                break;
            }
            for devices in [0..2, 2..5] {
                prop_assert!(seen[devices].iter().filter(|device| device.has_place).count() <= 1);
            }
        }
        let Some(ended) = ended else { return Err(TestCaseError::fail("a call that nobody is in any more goes on")) };
        for device in &seen {
            prop_assert!(device.over.len() <= 1);
            prop_assert!(device.over.iter().all(|received| *received == ended));
            prop_assert!(!(device.has_place || device.rings) || device.over.len() == 1, "left behind");
        }
        let outcomes: HashSet<_> = seen.iter().flat_map(|device| &device.over).collect();
        prop_assert!(outcomes.len() <= 1);
    }
}

//! The table of calls: one call per user, and no remains of finished calls.

use proptest::prelude::*;

use super::*;
use crate::SessionHandle;
use crate::calls::Outcome;

const START: u64 = 1_800_000_000_000;

fn at(ms: u64) -> Timestamp {
    Timestamp(START + ms)
}

fn user(num: u32) -> UserId {
    UserId { site: SiteId(3), num }
}

fn session(num: u32) -> SessionId {
    SessionId { user: user(num), handle: SessionHandle(num.into()) }
}

fn sub(num: u32) -> Sub {
    Sub::parse(&format!("u{num}")).expect("a name")
}

fn invitation(id: u64, from: u32, to: u32) -> Invitation {
    Invitation {
        id: CallId(id),
        ticket: CallTicket::of(u128::from(id) + 1),
        media: Media::Audio,
        caller: (session(from), sub(from)),
        callee: (user(to), sub(to)),
        offer: "offer".into(),
    }
}

fn unlimited() -> Rate {
    Rate::per_minute(0, 0)
}

fn invite(shard: &mut Shard, id: u64, from: u32, to: u32) -> Result<&'static str, Refusal> {
    shard.invite(invitation(id, from, to), unlimited(), 10, at(0)).map(|invited| match invited {
        Invited::Rings(_) => "rings",
        Invited::Glare(..) => "glare",
        Invited::Busy => "busy",
    })
}

fn is_empty(calls: &CallTable) -> bool {
    let Totals { live, ringing, kept, .. } = &*calls.totals;
    let shards = calls.each().all(|shard| shard.calls.is_empty() && shard.by_user.is_empty());
    shards
        && (live.load(Ordering::Relaxed), ringing.load(Ordering::Relaxed), kept.load(Ordering::Relaxed))
            == (0, 0, 0)
}

#[test]
fn a_user_in_a_call_is_busy_and_cannot_call() {
    let calls = CallTable::new();
    let mut shard = calls.lock(SiteId(3));
    assert_eq!(invite(&mut shard, 1, 1, 2), Ok("rings"));
    assert_eq!(invite(&mut shard, 2, 3, 1), Ok("busy"), "she calls somebody");
    assert_eq!(invite(&mut shard, 3, 3, 2), Ok("busy"), "it rings there");
    assert_eq!(invite(&mut shard, 4, 1, 3), Err(Refusal::InCall));
    assert_eq!(invite(&mut shard, 5, 1, 2), Err(Refusal::InCall), "once is enough");
    assert_eq!(invite(&mut shard, 6, 2, 3), Err(Refusal::InCall), "answer or decline first");
    assert_eq!(invite(&mut shard, 7, 3, 4), Ok("rings"));
}

#[test]
fn simultaneous_calls_become_the_first_one() {
    let calls = CallTable::new();
    let mut shard = calls.lock(SiteId(3));
    assert_eq!(invite(&mut shard, 1, 1, 2), Ok("rings"));
    let second = shard.invite(invitation(2, 2, 1), unlimited(), 10, at(0));
    assert!(matches!(second, Ok(Invited::Glare(CallId(1), CallNews::Ring { glare: true, .. }))));
    let accept = CallStep::Accept { answer: "a".into() };
    assert!(shard.step(CallId(1), session(2), accept, CallTicket::of(9), at(1)).is_ok());
    assert_eq!(invite(&mut shard, 3, 2, 1), Err(Refusal::InCall), "it is up, there is nothing to call for");
    assert_eq!(shard.calls.len(), 1);
}

#[test]
fn a_call_of_another_site_cannot_be_touched() {
    let calls = CallTable::new();
    let mut shard = calls.lock(SiteId(3));
    invite(&mut shard, 1, 1, 2).expect("it rings");
    // Equal numbers on another site, in the same shard.
    let stranger = SessionId { user: UserId { site: SiteId(3 + SHARDS as u32), num: 2 }, ..session(2) };
    let outcome = shard.step(CallId(1), stranger, CallStep::HangUp, CallTicket::of(9), at(1));
    assert!(matches!(outcome, Err(Refusal::NoSuchCall)));
}

#[test]
fn calls_and_their_bytes_are_bounded() {
    let calls = CallTable::new();
    let mut shard = calls.lock(SiteId(3));
    for number in 0..10 {
        assert_eq!(invite(&mut shard, number.into(), 2 * number, 2 * number + 1), Ok("rings"));
    }
    assert_eq!(invite(&mut shard, 10, 100, 101), Err(NO_ROOM));
    drop(shard);

    let calls = CallTable::new();
    let mut shard = calls.lock(SiteId(3));
    let large: Arc<str> = "x".repeat(KEPT_BYTES / 4).into();
    let begun = (0..10).filter(|number| {
        let invitation =
            Invitation { offer: large.clone(), ..invitation((*number).into(), 2 * number, 2 * number + 1) };
        shard.invite(invitation, unlimited(), 100, at(0)).is_ok()
    });
    assert_eq!(begun.count(), 3, "the last eighth is for other sites");
    let candidate = CallStep::Candidate("c".repeat(KEPT_BYTES / 7).into());
    let refused = shard.step(CallId(0), session(0), candidate, CallTicket::of(9), at(1));
    assert!(matches!(refused, Err(NO_ROOM)), "nor is anything added to those that ring");
    assert!(shard.step(CallId(0), session(0), CallStep::HangUp, CallTicket::of(9), at(1)).is_ok());
}

#[test]
fn one_site_cannot_use_up_all_calls() {
    let calls = CallTable::new();
    let mut shard = calls.lock(SiteId(3));
    let of_site = |site: u32, number: u32, offer: &Arc<str>| {
        let user = |num| UserId { site: SiteId(site), num };
        let made = invitation((site * 1_000 + number).into(), 2 * number, 2 * number + 1);
        let session = SessionId { user: user(2 * number), ..made.caller.0 };
        Invitation {
            offer: offer.clone(),
            caller: (session, made.caller.1),
            callee: (user(2 * number + 1), made.callee.1),
            ..made
        }
    };
    let small: Arc<str> = "offer".into();
    let mut begin = |site: u32, offer: &Arc<str>| {
        let begun = (0..700)
            .filter(|number| shard.invite(of_site(site, *number, offer), unlimited(), 640, at(0)).is_ok());
        begun.count()
    };
    let other = 3 + SHARDS as u32;
    assert_eq!((begin(3, &small), begin(other, &small)), (560, 10), "of 640 calls");

    let calls = CallTable::new();
    let mut shard = calls.lock(SiteId(3));
    let large: Arc<str> = "x".repeat(KEPT_BYTES / 128).into();
    let mut begin = |site: u32, offer: &Arc<str>| {
        let begun = (0..700)
            .filter(|number| shard.invite(of_site(site, *number, offer), unlimited(), 6_400, at(0)).is_ok());
        begun.count()
    };
    assert_eq!((begin(3, &large), begin(other, &large)), (112, 2), "of the bytes of 128 calls");
}

#[test]
fn invitations_are_rate_limited() {
    let calls = CallTable::new();
    let mut shard = calls.lock(SiteId(3));
    let pace = Rate::per_minute(3, 6);
    let outcomes: Vec<_> =
        (0..5).map(|id| shard.invite(invitation(id, 1, 2), pace, 10, at(0)).map(|_| ())).collect();
    assert_eq!(outcomes[..3], [Ok(()), Err(Refusal::InCall), Err(Refusal::InCall)]);
    assert!(matches!(outcomes[3], Err(Refusal::RateLimited { retry_after_ms: 10_000 })));
    assert!(shard.invite(invitation(9, 3, 4), pace, 10, at(0)).is_ok(), "others may");
    shard.age(at(AGED_EVERY_MS));
    assert_eq!(shard.paces.len(), 1, "who has to wait is not forgotten");
    shard.age(at(100_000));
    assert!(shard.paces.is_empty());
}

#[test]
fn a_shard_without_a_call_keeps_no_entry_of_an_over_call() {
    let calls = CallTable::new();
    let mut shard = calls.lock(SiteId(3));
    assert!(shard.invite(invitation(0, 0, 1), unlimited(), 10, at(0)).is_ok());
    shard.age(at(AGED_EVERY_MS));
    assert_eq!(shard.rang.len(), 1, "the call rings");
    assert!(shard.step(CallId(0), session(0), CallStep::HangUp, CallTicket::of(9), at(1)).is_ok());
    shard.age(at(2 * AGED_EVERY_MS));
    assert_eq!((shard.rang.capacity(), shard.by_user.capacity()), (0, 0));
}

#[test]
fn a_step_of_an_unknown_call_is_refused() {
    let calls = CallTable::new();
    let mut shard = calls.lock(SiteId(3));
    let refused = shard.step(CallId(1), session(1), CallStep::HangUp, CallTicket::of(9), at(1));
    assert!(matches!(refused, Err(Refusal::NoSuchCall)));
}

#[test]
fn a_held_call_is_small() {
    assert!(size_of::<Call>() <= 256, "{}", size_of::<Call>());
}

#[derive(Debug, Clone)]
enum Act {
    Invite(u32, u32),
    Accept(u32),
    HangUp(u32),
    Vanish(u32),
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    let who = || 1..6_u32;
    prop_oneof![
        4 => (who(), who()).prop_map(|(a, b)| Act::Invite(a, b)),
        4 => who().prop_map(Act::Accept),
        1 => who().prop_map(Act::HangUp),
        1 => who().prop_map(Act::Vanish),
        2 => (0..50_000_u64).prop_map(Act::Wait),
    ]
}

proptest! {
    /// Five users call each other at random. Each user is in at most one call, both parties of a call are in
    /// it, and the totals are right. When all sessions have ended, nothing is left.
    #[test]
    fn the_table_stays_consistent_and_ends_empty(acts in proptest::collection::vec(act(), 0..80)) {
        let calls = CallTable::new();
        let (mut ms, mut id, mut overs) = (0, 0, 0);
        let mut begun = 0;
        let mut shard = calls.lock(SiteId(3));
        for act in acts {
            match act {
                Act::Invite(a, b) if a != b => {
                    id += 1;
                    let invited = shard.invite(invitation(id, a, b), unlimited(), 10, at(ms));
                    begun += u32::from(matches!(invited, Ok(Invited::Rings(_))));
                }
                Act::Invite(..) => {}
                Act::Accept(who) | Act::HangUp(who) => {
                    let Some(call) = shard.call_of(user(who)).map(|call| call.id) else { continue };
                    let step = match act {
                        Act::Accept(_) => CallStep::Accept { answer: "a".into() },
                        _ => CallStep::HangUp,
                    };
                    let moved = shard.step(call, session(who), step, CallTicket::of(id.into()), at(ms));
                    overs += u32::from(moved.is_ok_and(|moved| moved.effects.over.is_some()));
                }
                Act::Vanish(who) => {
                    shard.session_ended(session(who), false, at(ms));
                }
                Act::Wait(more) => {
                    ms += more;
                    while let Some(moved) = shard.next_due(at(ms)) {
                        prop_assert!(moved.effects.over.is_some_and(|over| over.outcome != Outcome::Ended));
                        overs += 1;
                    }
                }
            }
            let live = shard.calls.len();
            prop_assert_eq!(shard.by_user.len(), 2 * live);
            prop_assert_eq!(live as u64, calls.live());
            let rings = shard.calls.values().filter(|call| call.rings()).count() as u64;
            prop_assert_eq!(rings, shard.totals.ringing.load(Ordering::Relaxed));
            let kept: usize = shard.calls.values().map(Call::kept_bytes).sum();
            prop_assert_eq!(kept, shard.totals.kept.load(Ordering::Relaxed));
            for (id, call) in &shard.calls {
                let of = |user| shard.by_user.get(&user);
                prop_assert_eq!((of(call.caller.user), of(call.callee.user)), (Some(id), Some(id)));
            }
        }
        (1..6).for_each(|who| drop(shard.session_ended(session(who), false, at(ms))));
        for later in [AWAY_MS, RINGS_MS] {
            while shard.next_due(at(ms + later)).is_some() {
                overs += 1;
            }
        }
        prop_assert_eq!(overs, begun);
        prop_assert!(shard.rang.is_empty() && shard.away.is_empty());
        drop(shard);
        prop_assert!(is_empty(&calls));
    }
}

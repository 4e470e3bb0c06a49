//! The clock of a front is wrong, or that of the home jumps.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chat::session::Event as SessionEvent;
use chat::*;

use crate::attacks::{START, Scene, message};
use crate::envelope::Term;

const DAY_MS: u64 = 24 * 3_600_000;

/// A home whose clock is set by its test.
fn with_clock(mut scene: Scene) -> (Scene, Arc<AtomicU64>) {
    let clock = Arc::new(AtomicU64::new(scene.now));
    let of_home = Arc::clone(&clock);
    scene.home = scene.home.with_clock(move || Timestamp(of_home.load(Ordering::Relaxed)));
    (scene, clock)
}

/// The times of new messages that have reached this front.
fn times(scene: &Scene, front: usize) -> Vec<u64> {
    let times = scene.fronts[front].1.take().into_iter().filter_map(|(_, delivery)| match delivery.event {
        Event::Messages(messages::Event::Message(message)) => Some(message.time.0),
        _ => None,
    });
    times.collect()
}

#[test]
fn messages_have_the_time_of_the_home_even_if_the_clock_of_the_front_is_wrong() {
    let (mut scene, clock) = with_clock(Scene::new(2));
    let anna = scene.sign_in(0, "anna");
    scene.sign_in(1, "tom");
    scene.fronts[1].1.take();
    let now = START + 100_000;
    clock.store(now, Ordering::Relaxed);
    for (count, (sent, expected)) in [
        (now, now),
        (now - 12_000, now - 12_000),
        (now - 16_000, now),
        (now - 2 * DAY_MS, now),
        (now + 5_000, now),
        (now + 2 * DAY_MS, now),
    ]
    .into_iter()
    .enumerate()
    {
        scene.fronts[0].0.command(anna, message("tom", &count.to_string()), Timestamp(sent));
        scene.settle();
        assert_eq!(times(&scene, 1), [expected], "{count}");
    }
}

#[test]
fn members_of_a_front_with_a_wrong_clock_sign_in_and_stay() {
    let (mut scene, clock) = with_clock(Scene::new(2));
    for (handle, jump) in [(900, 2 * DAY_MS as i64), (901, -2 * DAY_MS as i64)] {
        // The token is valid for an hour by the right clock, and the time of the sign-in is that of the front.
        let right = scene.now;
        clock.store(right, Ordering::Relaxed);
        scene.now = right.saturating_add_signed(jump);
        let hello = scene.hello("anna", right / 1_000 + 3_600);
        scene.fronts[0].0.sign_in(&hello, SessionHandle(handle), Timestamp(scene.now));
        scene.now = right;
        scene.settle();
        let events = scene.fronts[0].1.take();
        let is_welcome =
            |delivery: &Delivery| matches!(&delivery.event, Event::Session(SessionEvent::Welcome(_)));
        assert!(events.iter().any(|(_, delivery)| is_welcome(delivery)), "{jump}: {events:?}");
        scene.settle();
        assert!(scene.fronts[0].1.take().is_empty());
    }
}

#[test]
fn after_a_jump_of_the_clock_the_sessions_of_a_lost_link_keep_their_presence() {
    let (mut scene, clock) = with_clock(Scene::new(2));
    let anna = scene.sign_in(0, "anna");
    scene.sign_in(1, "tom");
    let watch = presence::Command::Watch { contacts: false, users: vec![Sub::parse("tom").unwrap()] };
    scene.fronts[0].0.command(anna, Command::from(watch).into(), Timestamp(scene.now));
    scene.settle();
    scene.fronts[0].1.take();
    // The clock of the machine was set; the time of the links was not.
    for jump in [40 * 60_000, -4 * DAY_MS as i64] {
        let time = clock.load(Ordering::Relaxed).saturating_add_signed(jump);
        clock.store(time, Ordering::Relaxed);
        scene.node.tick(Timestamp(time));
        scene.stopped = vec![1];
        for step in 0..50 {
            scene.settle();
            clock.store(time + step * 100, Ordering::Relaxed);
            scene.node.tick(Timestamp(time + step * 100));
        }
        scene.stopped.clear();
        scene.settle();
        scene.node.tick(Timestamp(time + 5_000));
        let told = scene.fronts[0].1.take();
        let is_offline = |delivery: &Delivery| {
            let Event::Presence(presence::Event::Presence { presence, .. }) = &delivery.event else {
                return false;
            };
            *presence == Presence::Offline
        };
        assert!(!told.iter().any(|(_, delivery)| is_offline(delivery)), "{jump}: {told:?}");
    }
    let broken = scene.home.links().counters().all().into_iter().find(|(name, _)| *name == "links_broken");
    assert!(broken.is_some_and(|(_, count)| count >= 2), "{broken:?}");
    assert_eq!(scene.node.stats().sessions, 2);
}

#[test]
fn a_command_that_may_be_lost_is_refused_even_if_the_clock_of_the_front_is_behind() {
    let mut scene = Scene::new(2);
    let anna = scene.sign_in(0, "anna");
    scene.sign_in(1, "tom");
    scene.send(1, anna, "tom", "none");
    let set = MarkerSet::Read(Seq(1));
    let mark = messages::Command::Mark { conversation: ConversationId { site: SiteId(1), key: 1 }, set };
    scene.fronts[0].0.command(anna, Command::from(mark).into(), Timestamp(scene.now - 2 * DAY_MS));
    scene.fronts[0].1.take();
    // The home dies before it answers.
    scene.next_home(Term(9));
    scene.settle();
    let told = scene.fronts[0].1.take();
    let refused = told.iter().filter(|(_, delivery)| {
        delivery.re.is_none()
            && matches!(&delivery.event, Event::Session(SessionEvent::Refused(Refusal::Unavailable)))
    });
    assert_eq!(refused.count(), 1, "{told:?}");
}

//! More sign-ins at a front than its home answers soon.
#![allow(clippy::unwrap_used, reason = "a test")]

use chat::session::Event as SessionEvent;
use chat::*;

use crate::attacks::Scene;

/// Sign-ins of one user, without an answer of the home. Returns the retry times of those that the front has refused.
fn crowd(scene: &Scene, count: u64) -> Vec<u32> {
    let hello = scene.hello("crowd", scene.now / 1000 + 3600);
    let (front, inbox) = &scene.fronts[0];
    let before = front.status().waiting_bytes;
    for number in 0..count {
        front.sign_in(&hello, SessionHandle(10_000 + number), Timestamp(scene.now));
    }
    let retry_after = |(_, delivery): (SessionHandle, Delivery)| match delivery.event {
        Event::Session(SessionEvent::Bye(Refusal::Overloaded { retry_after_ms })) => retry_after_ms,
        other => panic!("{other:?}"),
    };
    let refused: Vec<u32> = inbox.take().into_iter().map(retry_after).collect();
    let (admitted, bytes) = (count as usize - refused.len(), front.status().waiting_bytes - before);
    assert!(bytes <= 1_000 * admitted, "only those that it has admitted wait for the home: {bytes} bytes");
    refused
}

#[test]
fn the_excess_of_a_crowd_is_refused_by_the_front_with_ascending_times() {
    let mut scene = Scene::new(1);
    assert!(crowd(&scene, 4_000).is_empty());
    let refused = crowd(&scene, 500);
    assert_eq!(refused.len(), 500);
    assert!(refused.is_sorted() && refused[0] >= 1_000 && refused[499] > refused[0] + 200, "{refused:?}");
    // The home has answered, so there is room again.
    scene.settle();
    scene.fronts[0].1.take();
    scene.sign_in(0, "anna");
}

#[test]
fn a_link_that_ends_frees_the_places_of_its_sign_ins() {
    let mut scene = Scene::new(1);
    assert!(crowd(&scene, 2_000).is_empty());
    scene.stopped.push(0);
    scene.now += 4_000;
    scene.fronts[0].0.tick(Timestamp(scene.now));
    assert_eq!(scene.fronts[0].1.take().len(), 2_000, "each is asked to come again");
    scene.stopped.clear();
    for _ in 0..3 {
        scene.settle();
    }
    assert!(crowd(&scene, 1_000).is_empty());
}

/// Whether somebody has seen tom leave, 14 s after he has lost his connection. His grace time is 10 s.
fn has_left(crowd_size: u64) -> bool {
    let mut scene = Scene::new(2);
    let (tom, anna) = (scene.sign_in(0, "tom"), scene.sign_in(1, "anna"));
    let watch = presence::Command::Watch { contacts: false, users: vec![tom_sub()] };
    scene.fronts[1].0.command(anna, Command::from(watch).into(), Timestamp(scene.now));
    scene.settle();
    if crowd_size > 0 {
        assert!(*crowd(&scene, crowd_size).last().unwrap() > 10_000);
    }
    scene.fronts[0].0.disconnected(tom, false, Timestamp(scene.now));
    let until = scene.now + 14_000;
    scene.fronts[1].1.take();
    while scene.now < until {
        scene.settle();
        scene.node.tick(Timestamp(scene.now));
    }
    scene.settle();
    let is_gone = |event: &Event| {
        matches!(event, Event::Presence(presence::Event::Presence { user, presence, .. })
            if *user == tom_sub() && *presence == Presence::Offline)
    };
    scene.fronts[1].1.take().iter().any(|(_, delivery)| is_gone(&delivery.event))
}

fn tom_sub() -> Sub {
    Sub::parse("tom").unwrap()
}

#[test]
fn nobody_is_seen_to_leave_while_a_front_has_promised_times() {
    assert!(has_left(0), "he is gone");
    assert!(!has_left(25_000), "he may be in the line");
}

#[test]
fn a_front_is_crowded_until_its_home_has_answered() {
    let mut scene = Scene::new(1);
    crowd(&scene, 2_000);
    assert!(scene.fronts[0].0.is_crowded());
    scene.settle();
    assert!(!scene.fronts[0].0.is_crowded());
}

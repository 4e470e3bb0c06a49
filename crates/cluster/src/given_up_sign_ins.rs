//! Sign-ins whose clients do not wait for the answer.
#![allow(clippy::unwrap_used, reason = "a test")]

use chat::*;

use crate::attacks::Scene;

const EARLIER: SessionHandle = SessionHandle(900);

/// The link of the first front ends, because it hears nothing.
fn cut_off(scene: &mut Scene) {
    scene.stopped.push(0);
    scene.now += 4_000;
    scene.fronts[0].0.tick(Timestamp(scene.now));
}

/// Whether the session of a device ends that signed in through the second front, when the first one has a link again and an earlier
/// sign-in of the device waits there.
fn is_replaced(gives_up: bool) -> bool {
    let mut scene = Scene::new(2);
    cut_off(&mut scene);
    scene.begin_sign_in(0, "anna", EARLIER);
    if gives_up {
        scene.fronts[0].0.gave_up(EARLIER);
    }
    // The second front has a new link, because nothing came from the home either.
    scene.settle();
    scene.fronts[1].1.take();
    let anna = scene.sign_in(1, "anna");
    scene.stopped.clear();
    scene.settle();
    let (first, second) = (scene.fronts[0].1.take(), scene.fronts[1].1.take());
    assert!(gives_up != first.iter().any(|(to, _)| *to == EARLIER), "{first:?}");
    assert_eq!(scene.fronts[0].0.status().held, 0);
    second.iter().any(|(to, delivery)| *to == anna.handle && delivery.event.farewell().is_some())
}

#[test]
fn a_held_sign_in_that_was_given_up_replaces_no_newer_session() {
    assert!(is_replaced(false), "the other sign-in is sent");
    assert!(!is_replaced(true));
}

#[test]
fn a_sign_in_that_was_sent_and_given_up_ends_with_its_welcome() {
    for gives_up in [false, true] {
        let mut scene = Scene::new(1);
        scene.begin_sign_in(0, "anna", EARLIER);
        let now = Timestamp(scene.now);
        scene.fronts[0].0.flush(now, &mut |_, bytes| scene.home.receive(&bytes, now));
        if gives_up {
            scene.fronts[0].0.gave_up(EARLIER);
        }
        scene.settle();
        let expected = u64::from(!gives_up);
        assert_eq!(scene.node.stats().sessions, expected);
        assert_eq!(scene.fronts[0].1.take().len() as u64, expected);
        assert_eq!(scene.fronts[0].0.status().sessions as u64, expected);
    }
}

#[test]
fn other_sign_ins_wait_on_and_a_later_one_of_the_same_front_counts() {
    let mut scene = Scene::new(1);
    cut_off(&mut scene);
    let [anna, tom] = [SessionHandle(901), SessionHandle(902)];
    for (user, handle) in [("anna", EARLIER), ("tom", tom), ("anna", anna)] {
        scene.begin_sign_in(0, user, handle);
    }
    scene.fronts[0].0.gave_up(EARLIER);
    scene.fronts[0].0.gave_up(SessionHandle(999));
    scene.stopped.clear();
    scene.settle();
    let mut welcomed: Vec<SessionHandle> = scene.fronts[0].1.take().into_iter().map(|(to, _)| to).collect();
    welcomed.sort_unstable_by_key(|handle| handle.0);
    welcomed.dedup();
    assert_eq!(welcomed, [anna, tom]);
}

//! Fronts that move to another process, and what can fail meanwhile.
#![allow(clippy::unwrap_used, reason = "a test")]

use chat::session::Event as SessionEvent;
use chat::*;

use crate::attacks::{Inbox, Scene, body};
use crate::{Front, FrontRecord, Term};

/// The clock of the new process is so much behind.
const CLOCK: u64 = 7_777;

impl Scene {
    /// A second process of a front, which stands still. Returns its number.
    fn second_process(&mut self, front: usize) -> usize {
        let inbox = Inbox::default();
        let id = self.fronts[front].0.id();
        let next =
            Front::new(id, Slot::FIRST, "next".into(), inbox.clone(), Timestamp(self.now - CLOCK), || ());
        next.stand_still(Timestamp(self.now - CLOCK));
        self.fronts.push((next, inbox));
        self.fronts.len() - 1
    }

    fn stand_still(&self, front: usize) -> FrontRecord {
        self.fronts[front].0.stand_still(Timestamp(self.now));
        let record = serde_json::to_vec(&self.fronts[front].0.write_down()).unwrap();
        serde_json::from_slice(&record).unwrap()
    }

    /// The new process has everything, and the old one has ended.
    fn take_over(&mut self, from: usize, to: usize, record: FrontRecord) {
        let (front, _) = &self.fronts[to];
        front.resume(record, |_| true, Timestamp(self.now - CLOCK));
        self.stopped.push(from);
        front.go_on(Timestamp(self.now - CLOCK));
        self.settle();
    }

    fn is_undisturbed(&self) -> bool {
        let counters = self.home.links().counters();
        counters.sessions_adopted.read() == 0 && counters.links_broken.read() == 0
    }
}

fn acknowledged(events: &[(SessionHandle, Delivery)]) -> Vec<Pending> {
    events.iter().filter_map(|(_, delivery)| delivery.answered()).collect()
}

fn is_disturbing((_, delivery): &(SessionHandle, Delivery)) -> bool {
    matches!(delivery.event, Event::Session(SessionEvent::Behind)) || delivery.event.farewell().is_some()
}

fn message(id: &str) -> Pending {
    Pending::Message(id.into())
}

#[test]
fn a_front_moves_and_neither_the_home_nor_a_session_notices() {
    let mut scene = Scene::new(2);
    let (anna, tom) = (scene.sign_in(0, "anna"), scene.sign_in(1, "tom"));
    scene.send(0, anna, "tom", "before");
    scene.settle();
    assert_eq!(scene.bodies(1), ["before"]);
    scene.fronts[0].1.take();
    let next = scene.second_process(0);
    // The old process has taken one message, and not sent it.
    scene.send(0, anna, "tom", "on its way");
    let record = scene.stand_still(0);
    // Longer than a link without an envelope lasts.
    for number in 0..4 {
        scene.send(1, tom, "anna", &format!("meanwhile {number}"));
        scene.settle();
    }
    assert!(scene.fronts[0].1.take().is_empty() && scene.bodies(1).is_empty(), "both stand still");
    scene.take_over(0, next, record);
    let events = scene.fronts[next].1.take();
    assert!(!events.iter().any(is_disturbing), "{events:?}");
    let bodies: Vec<&str> = events.iter().filter_map(|(_, delivery)| body(delivery)).collect();
    assert_eq!(bodies, ["meanwhile 0", "meanwhile 1", "meanwhile 2", "meanwhile 3"]);
    assert_eq!(acknowledged(&events), [message("on its way")]);
    assert_eq!(scene.bodies(1), ["on its way"]);
    assert!(scene.is_undisturbed());
    assert!(scene.fronts[next].0.sites().by_key("forum").is_some(), "it knows the sites");
    scene.send(next, anna, "tom", "after");
    scene.settle();
    assert_eq!(scene.bodies(1), ["after"]);
}

#[test]
fn a_request_whose_answer_was_on_its_way_is_answered_in_the_new_process() {
    let mut scene = Scene::new(2);
    let (anna, _) = (scene.sign_in(0, "anna"), scene.sign_in(1, "tom"));
    let next = scene.second_process(0);
    scene.send(0, anna, "tom", "sent");
    let now = Timestamp(scene.now);
    scene.fronts[0].0.flush(now, &mut |_, bytes| scene.home.receive(&bytes, now));
    assert!(!scene.fronts[0].0.is_answered());
    let record = scene.stand_still(0);
    scene.settle();
    scene.take_over(0, next, record);
    assert_eq!(acknowledged(&scene.fronts[next].1.take()), [message("sent")]);
    assert!(scene.fronts[next].0.is_answered() && scene.is_undisturbed());
}

#[test]
fn a_front_whose_successor_fails_goes_on_with_the_link_that_it_has() {
    let mut scene = Scene::new(2);
    let (anna, tom) = (scene.sign_in(0, "anna"), scene.sign_in(1, "tom"));
    let next = scene.second_process(0);
    scene.send(0, anna, "tom", "on its way");
    let record = scene.stand_still(0);
    scene.send(1, tom, "anna", "meanwhile");
    scene.settle();
    // It has everything, and ends before it may go on.
    scene.fronts[next].0.resume(record, |_| true, Timestamp(scene.now));
    scene.settle();
    scene.stopped.push(next);
    scene.fronts[0].1.take();
    scene.fronts[0].0.go_on(Timestamp(scene.now));
    scene.settle();
    let events = scene.fronts[0].1.take();
    assert!(!events.iter().any(is_disturbing), "{events:?}");
    assert_eq!(events.iter().filter_map(|(_, delivery)| body(delivery)).collect::<Vec<_>>(), ["meanwhile"]);
    assert_eq!(acknowledged(&events), [message("on its way")]);
    assert!(scene.is_undisturbed());
}

#[test]
fn what_waits_for_a_home_waits_in_the_new_process() {
    let mut scene = Scene::new(1);
    let anna = scene.sign_in(0, "anna");
    // The home is silent, so the link has ended.
    scene.now += 4_000;
    scene.fronts[0].0.tick(Timestamp(scene.now));
    scene.send(0, anna, "anna", "held");
    scene.send(0, anna, "tom", "held, too");
    assert_eq!(scene.fronts[0].0.status().held, 2);
    let next = scene.second_process(0);
    let record = scene.stand_still(0);
    scene.fronts[next].0.resume(record, |_| true, Timestamp(scene.now - CLOCK));
    scene.stopped.push(0);
    scene.fronts[next].0.go_on(Timestamp(scene.now - CLOCK));
    assert_eq!(scene.fronts[next].0.status().held, 2);
    scene.next_home(Term(6));
    scene.settle();
    scene.settle();
    let events = scene.fronts[next].1.take();
    assert!(!events.iter().any(|(_, delivery)| delivery.event.farewell().is_some()), "{events:?}");
    assert!(acknowledged(&events).contains(&message("held, too")), "{events:?}");
    assert!(scene.fronts[next].0.status().is_linked);
}

#[test]
fn a_home_that_has_ended_the_link_meanwhile_adopts_the_sessions() {
    let mut scene = Scene::new(2);
    let (anna, tom) = (scene.sign_in(0, "anna"), scene.sign_in(1, "tom"));
    let next = scene.second_process(0);
    let record = scene.stand_still(0);
    // Neither process says anything for some seconds.
    scene.stopped.push(0);
    scene.stopped.push(next);
    for _ in 0..3 {
        scene.settle();
    }
    assert_eq!(scene.home.links().counters().links_broken.read(), 1);
    scene.stopped.clear();
    scene.take_over(0, next, record);
    for _ in 0..3 {
        scene.settle();
    }
    let events = scene.fronts[next].1.take();
    assert!(!events.iter().any(|(_, delivery)| delivery.event.farewell().is_some()), "{events:?}");
    assert_eq!(scene.home.links().counters().sessions_adopted.read(), 1);
    scene.send(1, tom, "anna", "on the same connection");
    scene.send(next, anna, "tom", "and back");
    scene.settle();
    assert_eq!(
        (scene.bodies(next), scene.bodies(1)),
        (vec!["on the same connection".into()], vec!["and back".into()])
    );
}

#[test]
fn a_front_that_stood_still_for_too_long_begins_a_new_link() {
    let mut scene = Scene::new(1);
    let anna = scene.sign_in(0, "anna");
    scene.stand_still(0);
    for _ in 0..40 {
        scene.settle();
    }
    assert!(scene.is_undisturbed());
    // Another process may have begun alone, and used the numbers of this one.
    scene.fronts[0].0.go_on(Timestamp(scene.now));
    scene.settle();
    assert!(scene.fronts[0].0.status().is_linked);
    assert_eq!(scene.home.links().counters().sessions_adopted.read(), 1);
    scene.send(0, anna, "anna", "still here");
    scene.settle();
    assert!(scene.fronts[0].1.take().iter().all(|(_, delivery)| delivery.event.farewell().is_none()));
}

#[test]
fn a_session_whose_connection_did_not_come_ends() {
    let mut scene = Scene::new(1);
    let (anna, tom) = (scene.sign_in(0, "anna"), scene.sign_in(0, "tom"));
    let next = scene.second_process(0);
    let record = scene.stand_still(0);
    let now = Timestamp(scene.now - CLOCK);
    let counts = scene.fronts[next].0.resume(record, |handle| handle == tom.handle, now);
    assert_eq!(counts, (1, 1));
    scene.stopped.push(0);
    scene.fronts[next].0.go_on(now);
    scene.settle();
    let left: Vec<UserId> = scene.node.write_down().iter().map(|record| record.session.user).collect();
    assert_eq!(left, [tom.user]);
    scene.send(next, anna, "tom", "from nowhere");
    scene.settle();
    let events = scene.fronts[next].1.take();
    assert!(events.iter().any(|(to, delivery)| *to == anna.handle && delivery.event.farewell().is_some()));
    assert!(events.iter().all(|(_, delivery)| body(delivery).is_none()));
}

#[test]
fn a_sign_in_whose_connection_is_closed_leaves_no_session_behind() {
    let mut scene = Scene::new(1);
    let anna = scene.sign_in(0, "anna");
    let next = scene.second_process(0);
    // The home answers, and the old process stands still before it takes the answer.
    let handle = SessionHandle(900);
    scene.begin_sign_in(0, "tom", handle);
    let now = Timestamp(scene.now);
    scene.fronts[0].0.flush(now, &mut |_, bytes| scene.home.receive(&bytes, now));
    let record = scene.stand_still(0);
    scene.take_over(0, next, record);
    scene.settle();
    let left: Vec<UserId> = scene.node.write_down().iter().map(|record| record.session.user).collect();
    assert_eq!(left, [anna.user]);
}

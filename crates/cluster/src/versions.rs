//! Nodes of another version: the head of an envelope names its version, and items may have more or fewer fields.
#![allow(clippy::unwrap_used, reason = "a test")]

use chat::session::Event as SessionEvent;
use chat::*;
use serde_json::{Value, json};

use crate::attacks::{Scene, body, envelope, message};
use crate::envelope::{Envelope, FrontId, Kind, Term, VERSION};
use crate::wire::ToHome;
use crate::{Front, Subject};

const TERM: Term = Term(5);

/// A front of another version, played by hand.
struct Other {
    id: u64,
    link: u64,
    sent: u64,
}

impl Other {
    /// Its name is the only field that the first version sends.
    fn joins(scene: &Scene, link: u64) -> Other {
        let now = Timestamp(scene.now);
        scene.home.receive(&envelope(Kind::Join, Term(0), 66, link, 0, br#"{"name":"other"}"#), now);
        Other { id: 66, link, sent: 0 }
    }

    fn says(&mut self, scene: &Scene, items: &[Value]) {
        let mut payload = Vec::new();
        for item in items {
            let item = item.to_string();
            payload.extend(u32::try_from(item.len()).unwrap().to_be_bytes());
            payload.extend(item.as_bytes());
        }
        self.sent += 1;
        let data = envelope(Kind::Data, TERM, self.id, self.link, self.sent, &payload);
        scene.home.receive(&data, Timestamp(scene.now));
    }

    /// The items of the home, as texts. Other fronts get theirs.
    fn hears(&self, scene: &Scene) -> String {
        let mut heard = String::new();
        let now = Timestamp(scene.now);
        scene.home.flush(now, &mut |to, bytes| {
            if to == Subject::Front(FrontId(self.id)) {
                heard.push_str(&String::from_utf8_lossy(Envelope::read(&bytes).unwrap().payload));
            }
            let (front, _) = &scene.fronts[1];
            if to == Subject::Front(front.id()) {
                front.receive(&bytes, now);
            }
        });
        heard
    }
}

/// Without the fields that came later, and with one that nobody knows yet.
fn of_another_version(mut item: Value) -> Value {
    fn change(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                ["again", "app_password", "announced", "has_entered"]
                    .iter()
                    .for_each(|name| _ = fields.remove(*name));
                fields.values_mut().for_each(change);
            }
            Value::Array(values) => values.iter_mut().for_each(change),
            _ => {}
        }
    }
    change(&mut item);
    let fields = item.as_object_mut().and_then(|item| item.values_mut().next());
    if let Some(Value::Object(fields)) = fields {
        fields.insert("of_a_later_version".into(), json!([1, { "a": 2 }]));
    }
    item
}

#[test]
fn a_front_of_another_version_brings_its_sessions_and_commands() {
    let mut scene = Scene::new(2);
    let (anna, tom) = (scene.sign_in(0, "anna"), scene.sign_in(1, "tom"));
    // Her front is replaced by one of another version, which brings her.
    let mut record = scene.node.write_down().into_iter().find(|one| one.session.user == anna.user).unwrap();
    record.session = anna;
    scene.stopped.push(0);
    for _ in 0..3 {
        scene.settle();
    }
    let mut other = Other::joins(&scene, 1);
    let adopt = of_another_version(serde_json::to_value(ToHome::Adopt(vec![record])).unwrap());
    assert!(!adopt.to_string().contains("has_entered"), "{adopt}");
    let now = Timestamp(scene.now);
    let command = |id: &str| {
        let command = ToHome::Command { session: anna, request: message("tom", id), now, again: false };
        of_another_version(serde_json::to_value(command).unwrap())
    };
    assert!(command("first").to_string().contains("of_a_later_version"));
    // An item that nobody knows here is dropped alone.
    other.says(&scene, &[adopt, command("first"), json!({ "Unknown": { "session": 1 } }), command("second")]);
    let heard = other.hears(&scene);
    scene.settle();
    assert!(heard.contains("Joined") && heard.contains("Sites"), "{heard}");
    assert_eq!(scene.bodies(1), ["first", "second"]);
    assert_eq!(scene.home.links().counters().items_unreadable.read(), 1);
    scene.send(1, tom, "anna", "to another version");
    scene.fronts[1].0.flush(now, &mut |_, bytes| scene.home.receive(&bytes, now));
    assert!(other.hears(&scene).contains("to another version"));
}

#[test]
fn a_home_of_a_later_version_says_what_a_front_cannot_read_and_no_session_ends() {
    let mut scene = Scene::new(1);
    let anna = scene.sign_in(0, "anna");
    let (front, inbox) = &scene.fronts[0];
    let item = json!({ "OfALaterVersion": {} }).to_string();
    let payload = [&u32::try_from(item.len()).unwrap().to_be_bytes()[..], item.as_bytes()].concat();
    // The next number of the home's stream.
    let number = (1..100).find(|number| {
        let before = front.counters().items_unreadable.read();
        front.receive(&envelope(Kind::Data, TERM, 1, 1, *number, &payload), Timestamp(scene.now));
        front.counters().items_unreadable.read() > before
    });
    assert!(number.is_some() && !front.status().is_linked);
    assert!(inbox.take().iter().all(|(_, delivery)| delivery.event.farewell().is_none()));
    scene.settle();
    scene.settle();
    assert!(scene.fronts[0].0.status().is_linked, "a new link, and the sessions are adopted");
    scene.send(0, anna, "anna", "still here");
    scene.settle();
    let events = scene.fronts[0].1.take();
    assert!(events.iter().all(|(_, delivery)| delivery.event.farewell().is_none()), "{events:?}");
    assert_eq!(scene.home.links().counters().sessions_adopted.read(), 1);
}

#[test]
fn envelopes_of_a_version_that_is_not_known_are_counted_and_change_nothing() {
    let mut scene = Scene::new(2);
    let (anna, _tom) = (scene.sign_in(0, "anna"), scene.sign_in(1, "tom"));
    let later = |kind| {
        let mut bytes = envelope(kind, TERM, 1, 1, 99, b"{}");
        bytes[2] = VERSION + 1;
        bytes
    };
    let now = Timestamp(scene.now);
    let kinds = [Kind::Announce, Kind::Join, Kind::Data, Kind::Beat, Kind::Reset];
    for kind in kinds {
        scene.home.receive(&later(kind), now);
        scene.fronts[0].0.receive(&later(kind), now);
    }
    let unreadable = |front: &Front| front.counters().envelopes_unreadable.read();
    assert_eq!(unreadable(&scene.fronts[0].0), kinds.len() as u64);
    assert_eq!(scene.home.links().counters().envelopes_unreadable.read(), kinds.len() as u64);
    scene.send(0, anna, "tom", "all the same");
    scene.settle();
    assert_eq!(scene.bodies(1), ["all the same"]);
}

#[test]
fn a_front_record_of_the_version_before_is_read_and_later_fields_are_ignored() {
    let mut scene = Scene::new(1);
    let anna = scene.sign_in(0, "anna");
    scene.fronts[0].0.stand_still(Timestamp(scene.now));
    let mut record = serde_json::to_value(scene.fronts[0].0.write_down()).unwrap();
    record = of_another_version(record);
    record["of_a_later_version"] = json!({ "a": [1, 2] });
    record["sessions"][0]["of_a_later_version"] = json!(true);
    let record = serde_json::from_value(record).unwrap();
    let now = Timestamp(scene.now);
    assert_eq!(scene.fronts[0].0.resume(record, |_| true, now), (1, 0));
    scene.fronts[0].0.go_on(now);
    scene.send(0, anna, "anna", "x");
    scene.settle();
    let events = scene.fronts[0].1.take();
    assert!(
        events.iter().all(|(_, delivery)| !matches!(delivery.event, Event::Session(SessionEvent::Bye(_))))
    );
    assert!(
        events.iter().all(|(_, delivery)| body(delivery).is_none()) && scene.fronts[0].0.status().is_linked
    );
}

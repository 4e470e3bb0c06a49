//! Fronts with TURN servers: the calls that they know, and the servers that their members get.
#![allow(clippy::unwrap_used, reason = "a test")]

use chat::*;
use serde_json::Value;

use crate::attacks::{Inbox, PROOF, Scene};
use crate::envelope::{FrontId, Kind, Term};
use crate::wire::{ToHome, write};
use crate::{Subject, attacks};

fn servers(name: &str) -> CallServers {
    CallServers {
        stun: [format!("stun:{name}:3478").into()].into(),
        turn: [format!("turn:{name}:3478").into()].into(),
    }
}

fn invite(scene: &mut Scene, front: usize, from: SessionId, to: &str) {
    let (user, offer) = (Sub::parse(to).unwrap(), "offer".into());
    step(scene, front, from, CallAction::Invite { user, media: Media::Audio, offer });
}

fn step(scene: &mut Scene, front: usize, from: SessionId, action: CallAction) {
    let request = Request::new(1, calls::Command::Direct { action });
    scene.fronts[front].0.command(from, request, Timestamp(scene.now));
    scene.settle();
}

/// The call of an event, and the TURN servers that came with it.
fn call_of(inbox: &Inbox) -> (CallId, Option<Vec<Box<str>>>) {
    let events = inbox.take();
    let found = events.iter().find_map(|(_, delivery)| match &delivery.event {
        Event::Calls(calls::Event::Call(event)) => {
            let turn = event.ice.as_ref().and_then(|ice| ice.turn.as_ref());
            Some((event.call, turn.map(|turn| turn.urls.to_vec())))
        }
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no call in {events:?}"))
}

#[test]
fn members_of_a_front_get_its_relays_which_know_the_calls_of_all_fronts() {
    let mut scene = Scene::new(3);
    scene.fronts[0].0.offer_relays(servers("a"), PROOF.into());
    scene.fronts[1].0.offer_relays(servers("b"), PROOF.into());
    let (anna, tom) = (scene.sign_in(0, "anna"), scene.sign_in(1, "tom"));
    let (mila, _) = (scene.sign_in(2, "mila"), scene.sign_in(0, "eve"));
    invite(&mut scene, 0, anna, "tom");
    let (call, of_anna) = call_of(&scene.fronts[0].1);
    let (same, of_tom) = call_of(&scene.fronts[1].1);
    assert_eq!(call, same);
    assert_eq!(of_anna, Some(servers("a").turn.to_vec()));
    assert_eq!(of_tom, Some(servers("b").turn.to_vec()));
    assert_eq!(scene.fronts[0].0.call_servers(), Some(servers("a")));
    for (front, _) in &scene.fronts[..2] {
        for user in [anna.user, tom.user] {
            assert!(front.is_in_call(user, Some(call)) && front.is_in_call(user, None));
            assert!(!front.is_in_call(user, Some(CallId(call.0 ^ 1))));
        }
        assert!(!front.is_in_call(mila.user, None));
    }
    // The third front has no relays, and the home has none either: its member gets no name without a server.
    assert!(!scene.fronts[2].0.is_in_call(anna.user, None));
    assert_eq!(scene.fronts[2].0.call_servers(), None);
    invite(&mut scene, 2, mila, "eve");
    let (second, of_mila) = call_of(&scene.fronts[2].1);
    assert_eq!(of_mila, None);
    assert!(scene.fronts[0].0.is_in_call(mila.user, Some(second)));

    step(&mut scene, 0, anna, CallAction::Of(call, CallStep::HangUp));
    for (front, _) in &scene.fronts[..2] {
        assert!([anna, tom].iter().all(|one| !front.is_in_call(one.user, None)), "the call is over");
        assert!(front.is_in_call(mila.user, Some(second)), "the other one is not");
    }
}

#[test]
fn a_front_with_another_secret_offers_no_relays() {
    let mut scene = Scene::new(2);
    scene.fronts[0].0.offer_relays(servers("a"), "proof of another secret".into());
    let (anna, _) = (scene.sign_in(0, "anna"), scene.sign_in(1, "tom"));
    invite(&mut scene, 0, anna, "tom");
    assert_eq!(call_of(&scene.fronts[0].1).1, None);
    assert_eq!(scene.fronts[0].0.call_servers(), None);
    assert!(!scene.fronts[0].0.is_in_call(anna.user, None));
}

#[test]
fn relays_know_their_calls_again_on_a_new_link_and_lose_those_of_a_dead_home() {
    let mut scene = Scene::new(1);
    scene.fronts[0].0.offer_relays(servers("a"), PROOF.into());
    let (anna, _) = (scene.sign_in(0, "anna"), scene.sign_in(0, "tom"));
    invite(&mut scene, 0, anna, "tom");
    let (call, _) = call_of(&scene.fronts[0].1);
    // The front hears nothing for some seconds. Its relays live on meanwhile.
    scene.now += crate::LOST_MS;
    scene.fronts[0].0.tick(Timestamp(scene.now));
    assert!(!scene.fronts[0].0.status().is_linked && scene.fronts[0].0.is_in_call(anna.user, Some(call)));
    for _ in 0..3 {
        scene.settle();
    }
    assert!(scene.fronts[0].0.call_servers().is_some());
    assert!(scene.fronts[0].0.is_in_call(anna.user, Some(call)), "the place of a party is kept for 20 s");
    scene.next_home(Term(6));
    for _ in 0..10 {
        scene.settle();
    }
    assert!(scene.fronts[0].0.status().is_linked && scene.fronts[0].0.call_servers().is_some());
    assert!(!scene.fronts[0].0.is_in_call(anna.user, None), "the new home knows no call");
}

#[test]
fn changes_of_calls_for_a_front_that_takes_nothing_are_one_entry_of_its_queue() {
    let mut scene = Scene::new(2);
    scene.fronts[0].0.offer_relays(servers("a"), PROOF.into());
    let (anna, _) = (scene.sign_in(1, "anna"), scene.sign_in(1, "tom"));
    scene.fronts[0].1.take();
    let queued = |scene: &Scene| scene.home.links().status().iter().map(|link| link.queued).max().unwrap();
    for _ in 0..50 {
        // The home carries the commands out, and sends nothing.
        let (user, offer) = (Sub::parse("tom").unwrap(), "offer".into());
        let invite = CallAction::Invite { user, media: Media::Audio, offer };
        let now = Timestamp(scene.now);
        let carry = |scene: &Scene, action| {
            let request = Request::new(1, calls::Command::Direct { action });
            scene.fronts[1].0.command(anna, request, now);
            scene.fronts[1].0.flush(now, &mut |_, bytes| scene.home.receive(&bytes, now));
        };
        carry(&scene, invite);
        let mut call = None;
        scene.node.each_in_call(|_, id| call = Some(id));
        carry(&scene, CallAction::Of(call.expect("it rings"), CallStep::HangUp));
    }
    let of_first = scene.home.links().status().into_iter().find(|link| link.front == FrontId(1)).unwrap();
    assert_eq!(of_first.queued, 1, "all changes together");
    assert!(queued(&scene) > 100, "the other front has its events");
    scene.settle();
    assert!(!scene.fronts[0].0.is_in_call(anna.user, None));
}

/// A front of the version before has no relays, and would offer what it gets to browsers.
#[test]
fn a_front_of_the_version_before_gets_no_credentials_without_a_server() {
    let mut scene = Scene::new(1);
    let anna = scene.sign_in(0, "anna");
    scene.sign_in(0, "tom");
    let (user, offer) = (Sub::parse("tom").unwrap(), "offer".into());
    let action = CallAction::Invite { user, media: Media::Audio, offer };
    let now = Timestamp(scene.now);
    scene.fronts[0].0.command(anna, Request::new(1, calls::Command::Direct { action }), now);
    scene.fronts[0].0.flush(now, &mut |_, bytes| scene.home.receive(&bytes, now));
    let mut heard = String::new();
    scene.home.flush(now, &mut |to, bytes| {
        if let Subject::Front(_) = to {
            heard.push_str(&String::from_utf8_lossy(&bytes));
        }
    });
    assert!(heard.contains("Calling") && heard.contains("Ring"), "{heard}");
    assert!(!heard.contains("credential") && heard.contains(r#""turn":null"#), "{heard}");
    assert!(!heard.contains("Calls\":{\"begins"), "it has not asked for calls");
}

/// A liar among the nodes can ask for the calls only with the proof, and learns numbers of users and calls, no names.
#[test]
fn calls_go_only_to_fronts_that_prove_the_secret() {
    let mut scene = Scene::new(1);
    let (anna, _) = (scene.sign_in(0, "anna"), scene.sign_in(0, "tom"));
    invite(&mut scene, 0, anna, "tom");
    let now = Timestamp(scene.now);
    let join = attacks::envelope(Kind::Join, Term(0), 66, 1, 0, br#"{"name":"liar"}"#);
    scene.home.receive(&join, now);
    let asks = |number, proof: &str| {
        let item = write(&ToHome::Relays { proof: proof.into() });
        let payload = [&u32::try_from(item.len()).unwrap().to_be_bytes()[..], &item].concat();
        scene.home.receive(&attacks::envelope(Kind::Data, Term(5), 66, 1, number, &payload), now);
        let mut heard = String::new();
        scene.home.flush(now, &mut |to, bytes| {
            if to == Subject::Front(FrontId(66)) {
                heard.push_str(&String::from_utf8_lossy(&bytes));
            }
        });
        heard
    };
    assert!(!asks(1, "guessed").contains("begins"));
    let told = asks(2, PROOF);
    let start = told.find(r#"{"Calls""#).unwrap_or_else(|| panic!("{told}"));
    let mut items = serde_json::Deserializer::from_str(&told[start..]).into_iter::<Value>();
    let calls = items.next().unwrap().unwrap();
    assert_eq!(calls["Calls"]["users"].as_array().unwrap().len(), 2, "{calls}");
}

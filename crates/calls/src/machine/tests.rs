mod dual;
mod hostile;
mod moves;
mod scene;

use std::sync::Mutex;

use scene::*;

use super::*;
use crate::Credentials;
use crate::client::{Heard, channel_data};
use crate::stun::Class;

#[test]
fn a_binding_request_gets_its_source_address() {
    let mut scene = Scene::new(config());
    for from in ["198.51.100.4:4000", "[2001:db8::4]:4000"] {
        let mut asking = At { from: addr(from), ..anna(4_000) };
        let request = asking.caller.request(method::BINDING, |_| {});
        let received = scene.ask(&mut asking, &request);
        assert_eq!(received, Heard::Success { relayed: None, mapped: Some(addr(from)), lifetime: None });
    }
    assert_eq!(scene.machine.shared.counters.bindings.read(), 2);
}

#[test]
fn a_relay_needs_credentials_and_the_client_gets_its_address() {
    let mut scene = Scene::new(config());
    let mut anna = anna(4_000);
    let first = anna.caller.allocate(false);
    assert_eq!(scene.ask(&mut anna, &first), Heard::Again, "401 with realm and nonce");
    let second = anna.caller.allocate(false);
    let Got::Answer(answer) = scene.say(&anna, &second) else { panic!("no answer") };
    let message = Message::parse(&answer).unwrap();
    assert!(message.is_signed_with(&anna.caller.key().unwrap().hmac(), &mut Vec::new()));
    let expected =
        Heard::Success { relayed: Some(addr("9.9.9.9:50000")), mapped: Some(anna.from), lifetime: Some(600) };
    assert_eq!(anna.caller.hear(&answer), Some(expected));
    assert_eq!(scene.say(&anna, &second), Got::Answer(answer), "repeated: its answer was lost");
    let third = anna.caller.allocate(false);
    assert_eq!(refused(scene.ask(&mut anna, &third)), 437);
}

#[test]
fn a_relay_ends_with_the_call_that_it_is_for() {
    let over = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&over);
    let is_live: crate::IsLive = Arc::new(move |call| !asked.lock().unwrap().contains(&call));
    let mut scene = Scene::new(CallsConfig { is_live, ..config() });
    let peer = addr(PEER);
    let [mut anna, mut ben] = [("1f", 4_000), ("2a", 4_001)]
        .map(|(user, port)| named(&format!("1800003600:7-{user}-000000000000feed"), port));
    for at in [&mut anna, &mut ben] {
        assert!(matches!(scene.allocate(at), Heard::Success { .. }));
        let permit = at.caller.permit(&[peer]);
        assert!(matches!(scene.ask(at, &permit), Heard::Success { .. }));
    }
    let [of_anna, of_ben] = [0x1f, 0x2a].map(|user| crate::CallOf { site: 7, user, call: Some(0xfeed) });
    over.lock().unwrap().push(of_anna);
    let refresh = anna.caller.refresh(600);
    assert_eq!(refused(scene.ask(&mut anna, &refresh)), 403, "nothing is prolonged");
    scene.pass(5);
    assert_eq!(scene.open.len(), 1, "the relay of anna is closed");
    let send = anna.caller.send(peer, b"hello");
    assert_eq!(scene.say(&anna, &send), Got::Nothing);
    let again = anna.caller.allocate(false);
    assert_eq!(refused(scene.ask(&mut anna, &again)), 403);
    let send = ben.caller.send(peer, b"hello");
    assert_eq!(scene.say(&ben, &send), Got::ToPeer(peer, b"hello".to_vec()), "ben is in the call");
    over.lock().unwrap().push(of_ben);
    scene.pass(5);
    assert!(scene.open.is_empty());
}

#[test]
fn a_network_check_gets_a_short_relay_without_data() {
    let mut scene = Scene::new(config());
    let mut anna = named("1800000020:7-1f-check", 4_000);
    assert!(matches!(scene.allocate(&mut anna), Heard::Success { relayed: Some(_), .. }));
    let permit = anna.caller.permit(&[addr(PEER)]);
    assert_eq!(refused(scene.ask(&mut anna, &permit)), 403);
    let bind = anna.caller.bind(0x4001, addr(PEER));
    assert_eq!(refused(scene.ask(&mut anna, &bind)), 403);
    let refresh = anna.caller.refresh(600);
    assert!(matches!(scene.ask(&mut anna, &refresh), Heard::Success { .. }));
    scene.pass(10);
    assert_eq!(scene.open.len(), 1);
    scene.pass(5);
    assert!(scene.open.is_empty(), "a refresh makes it no longer");
}

#[test]
fn data_passes_both_ways_with_a_permission_and_with_a_channel() {
    let (mut scene, peer) = (Scene::new(config()), addr(PEER));
    let mut anna = scene.with_peer(peer);
    let send = anna.caller.send(peer, b"hello");
    assert_eq!(scene.say(&anna, &send), Got::ToPeer(peer, b"hello".to_vec()));
    let indication = scene.receive_from_peer(0, peer, b"hello back").expect("it may");
    let message = Message::parse(&indication).unwrap();
    assert_eq!((message.class(), message.method()), (Class::Indication, method::DATA));
    assert_eq!(message.address(attribute::XOR_PEER_ADDRESS), Some(peer));
    assert_eq!(message.attribute(attribute::DATA), Some(&b"hello back"[..]));
    let other_port = addr("8.8.4.4:7001");
    assert!(scene.receive_from_peer(0, other_port, b"a permission is for all ports").is_some());

    let bind = anna.caller.bind(0x4001, peer);
    assert!(matches!(scene.ask(&mut anna, &bind), Heard::Success { .. }));
    assert_eq!(scene.say(&anna, &channel_data(0x4001, b"hi")), Got::ToPeer(peer, b"hi".to_vec()));
    assert_eq!(
        scene.receive_from_peer(0, peer, b"hey"),
        Some(channel_data(0x4001, b"hey")),
        "not padded over UDP"
    );
    let site = &scene.machine.shared.sites.each()[0];
    assert_eq!((site.number, site.to_peers.read()), (7, 7));
}

#[test]
fn over_a_stream_data_is_padded() {
    let (mut scene, peer) = (Scene::new(config()), addr(PEER));
    let mut anna = At { client: Client::Stream(Handle::new(0, 1, 1)), ..anna(4_000) };
    assert!(matches!(scene.allocate(&mut anna), Heard::Success { .. }));
    let bind = anna.caller.bind(0x4001, peer);
    assert!(matches!(scene.ask(&mut anna, &bind), Heard::Success { .. }));
    let data = scene.receive_from_peer(0, peer, b"hello").expect("it may");
    assert_eq!(data, [0x40, 1, 0, 5, b'h', b'e', b'l', b'l', b'o', 0, 0, 0]);
    scene.machine.client_gone(anna.client);
    scene.outputs();
    assert!(scene.open.is_empty(), "the relay ends with its connection");
}

#[test]
fn ipv6_relays_take_ipv6_peers_and_no_others() {
    let (mut scene, peer) = (Scene::new(config()), addr("[2a00::77]:7000"));
    let mut anna = scene.with_peer(peer);
    let send = anna.caller.send(peer, b"hello");
    assert_eq!(scene.say(&anna, &send), Got::ToPeer(peer, b"hello".to_vec()));
    assert!(scene.receive_from_peer(0, peer, b"back").is_some());
    let wrong = anna.caller.permit(&[addr(PEER)]);
    assert_eq!(refused(scene.ask(&mut anna, &wrong)), 443);
    let mut four = CallsConfig { relays: vec![relay_address("9.9.9.9")], ..config() };
    four.quotas.relays = 9;
    assert_eq!(refused(Scene::new(four).allocate_of(&mut scene::anna(4_001), true)), 440);
}

#[test]
fn permissions_channels_and_relays_end_if_they_are_not_refreshed() {
    let (mut scene, peer) = (Scene::new(config()), addr(PEER));
    let mut anna = scene.with_peer(peer);
    let bind = anna.caller.bind(0x4001, addr("1.1.1.1:1"));
    scene.ask(&mut anna, &bind);
    scene.pass(299);
    let send = anna.caller.send(peer, b"hello");
    assert!(matches!(scene.say(&anna, &send), Got::ToPeer(..)));
    scene.pass(2);
    assert_eq!(scene.say(&anna, &send), Got::Nothing, "RFC 8656 §9: 300 s");
    assert_eq!(scene.receive_from_peer(0, peer, b"hello"), None);
    assert!(matches!(scene.say(&anna, &channel_data(0x4001, b"x")), Got::ToPeer(..)), "§12: 600 s");
    let refresh = anna.caller.refresh(700);
    let refreshed = Heard::Success { relayed: None, mapped: None, lifetime: Some(700) };
    assert_eq!(scene.ask(&mut anna, &refresh), refreshed);
    scene.pass(300);
    assert_eq!(scene.say(&anna, &channel_data(0x4001, b"x")), Got::Nothing);
    assert_eq!(scene.open.len(), 1);
    scene.pass(401);
    assert!(scene.open.is_empty() && scene.machine.relays() == 0);
    assert_eq!(scene.machine.shared.sites.each()[0].open(), 0);
}

#[test]
fn lifetimes_have_bounds_and_zero_ends_the_relay() {
    let mut scene = Scene::new(config());
    let mut anna = scene.with_peer(addr(PEER));
    for (asked, expected) in [(1, 600), (600, 600), (1_000, 1_000), (u32::MAX, 3_600), (0, 0), (0, 0)] {
        let refresh = anna.caller.refresh(asked);
        let received = Heard::Success { relayed: None, mapped: None, lifetime: Some(expected) };
        assert_eq!(scene.ask(&mut anna, &refresh), received, "{asked}");
    }
    assert!(scene.open.is_empty());
    let refresh = anna.caller.refresh(600);
    assert_eq!(refused(scene.ask(&mut anna, &refresh)), 437);
    assert!(matches!(scene.allocate(&mut anna), Heard::Success { .. }), "a new one from the same address");
}

#[test]
fn endless_allocation_and_release_leaves_no_entries() {
    let mut scene = Scene::new(config());
    let mut anna = scene.with_peer(addr(PEER));
    for _ in 0..3_000 {
        let refresh = anna.caller.refresh(0);
        scene.ask(&mut anna, &refresh);
        assert!(matches!(scene.allocate(&mut anna), Heard::Success { .. }));
    }
    assert!(scene.machine.due.len() <= 1_100 && scene.machine.outputs.is_empty());
    scene.pass(601);
    assert_eq!((scene.machine.relays(), scene.machine.due.len()), (0, 0));
}

#[test]
fn quotas_of_a_user_and_of_the_node_hold() {
    let mut scene = Scene::new(config());
    let codes = |scene: &mut Scene, name: &str, ports: std::ops::Range<u16>| -> Vec<Option<u16>> {
        let password = Credentials::new(SECRET).password(name);
        let each = ports.map(|port| match scene.allocate(&mut at(port, name, &password)) {
            Heard::Refused(code) => Some(code),
            _ => None,
        });
        each.collect()
    };
    assert_eq!(codes(&mut scene, NAME, 1..4), [None, None, Some(486)]);
    assert_eq!(codes(&mut scene, "1800003600:8-1", 4..7), [None, None, Some(508)], "four on this node");
    scene.pass(601);
    assert_eq!(codes(&mut scene, NAME, 1..3), [None, None], "they have ended");
}

#[test]
fn bandwidth_beyond_the_quota_is_dropped() {
    let mut config = config();
    config.quotas.user_bytes_per_second = 2_000;
    let (mut scene, peer) = (Scene::new(config), addr(PEER));
    let mut anna = scene.with_peer(peer);
    let send = anna.caller.send(peer, &[0; 900]);
    assert!(matches!(scene.say(&anna, &send), Got::ToPeer(..)));
    assert!(scene.receive_from_peer(0, peer, &[0; 900]).is_some());
    assert_eq!(scene.say(&anna, &send), Got::Nothing);
    assert_eq!(scene.receive_from_peer(0, peer, &[0; 900]), None);
    scene.pass(1);
    assert!(matches!(scene.say(&anna, &send), Got::ToPeer(..)));
    assert_eq!(scene.machine.shared.counters.over_bandwidth.read(), 2);
}

#[test]
fn without_a_free_port_the_client_gets_an_error_and_nothing_stays() {
    let mut scene = Scene::new(config());
    scene.next_port = None;
    assert_eq!(refused(scene.allocate(&mut anna(4_000))), 508);
    assert_eq!((scene.machine.relays(), scene.open.len()), (0, 0));
    assert_eq!(scene.machine.shared.sites.each()[0].open(), 0);
}

//! Relays of both families by one request (RFC 8656 §7.2).

use super::*;
use crate::client::Caller;

const FOUR: &str = "8.8.4.4:7000";
const SIX: &str = "[2a00::77]:7000";

fn both(caller: &mut Caller) -> Vec<u8> {
    both_as(caller, attribute::ADDITIONAL_ADDRESS_FAMILY)
}

fn both_as(caller: &mut Caller, kind: u16) -> Vec<u8> {
    caller.request(method::ALLOCATE, |message| {
        message.u32(attribute::REQUESTED_TRANSPORT, 17 << 24).u32(kind, 2 << 24);
    })
}

fn refresh(caller: &mut Caller, lifetime: u32, family: u32) -> Vec<u8> {
    caller.request(method::REFRESH, |message| {
        message.u32(attribute::LIFETIME, lifetime).u32(attribute::REQUESTED_ADDRESS_FAMILY, family << 24);
    })
}

/// Attributes: kinds and values.
type Attributes<'a> = &'a [(u16, &'a [u8])];

/// The content of an answer: relays, and missing families with the reason.
fn content_of(answer: &[u8]) -> (Vec<SocketAddr>, Vec<(u8, u16)>) {
    let message = Message::parse(answer).expect("ours are right");
    assert_eq!(message.class(), Class::Success);
    let of =
        |kind: u16| message.attributes().filter(move |(found, _)| *found == kind).map(|(_, value)| value);
    let relayed = of(attribute::XOR_RELAYED_ADDRESS).filter_map(|value| message.unmask(value)).collect();
    let missing = of(attribute::ADDRESS_ERROR_CODE)
        .map(|value| (value[0], u16::from(value[2]) * 100 + u16::from(value[3])))
        .collect();
    (relayed, missing)
}

/// Requests both; returns the answer.
fn ask_both(scene: &mut Scene, at: &mut At) -> (Vec<u8>, Vec<u8>) {
    let first = both(&mut at.caller);
    assert_eq!(scene.ask(at, &first), Heard::Again);
    let request = both(&mut at.caller);
    let Got::Answer(answer) = scene.say(at, &request) else { panic!("no answer") };
    (request, answer)
}

/// A client with both.
fn with_both() -> (Scene, At) {
    let (mut scene, mut anna) = (Scene::new(config()), anna(4_000));
    let (_, answer) = ask_both(&mut scene, &mut anna);
    assert_eq!(content_of(&answer).0.len(), 2);
    (scene, anna)
}

#[test]
fn one_answer_has_both_relays() {
    let (mut scene, mut anna) = (Scene::new(config()), anna(4_000));
    let (request, answer) = ask_both(&mut scene, &mut anna);
    assert_eq!(content_of(&answer), (vec![addr("9.9.9.9:50000"), addr("[2a00::9]:50001")], Vec::new()));
    assert_eq!((scene.machine.relays(), scene.open.len()), (2, 2));
    assert_eq!(scene.machine.shared.sites.each()[0].open(), 2, "each counts");
    assert_eq!(scene.say(&anna, &request), Got::Answer(answer), "repeated: its answer was lost");
    let another = both(&mut anna.caller);
    assert_eq!(refused(scene.ask(&mut anna, &another)), 437);
}

#[test]
fn the_number_of_the_drafts_is_understood_too() {
    let (mut scene, mut anna) = (Scene::new(config()), anna(4_000));
    let kind = attribute::ADDITIONAL_ADDRESS_FAMILY_DRAFT;
    assert!(scene.succeeds(&mut anna, |caller| both_as(caller, kind)));
    assert_eq!(scene.open.len(), 2);
}

#[test]
fn each_family_has_its_peers_and_a_channel_is_the_clients() {
    let (mut scene, mut anna) = with_both();
    let (four, six) = (addr(FOUR), addr(SIX));
    assert!(scene.succeeds(&mut anna, |caller| caller.permit(&[four, six])));
    for (relay, peer) in [(0, four), (1, six)] {
        let send = anna.caller.send(peer, b"hello");
        assert_eq!(scene.say(&anna, &send), Got::ToPeer(peer, b"hello".to_vec()));
        assert!(scene.receive_from_peer(relay, peer, b"back").is_some());
    }
    assert!(scene.succeeds(&mut anna, |caller| caller.bind(0x4001, four)));
    let taken = anna.caller.bind(0x4001, six);
    assert_eq!(refused(scene.ask(&mut anna, &taken)), 400, "by the other");
    assert!(scene.succeeds(&mut anna, |caller| caller.bind(0x4002, six)));
    for (number, relay, peer) in [(0x4001, 0, four), (0x4002, 1, six)] {
        assert_eq!(scene.say(&anna, &channel_data(number, b"hi")), Got::ToPeer(peer, b"hi".to_vec()));
        assert_eq!(scene.receive_from_peer(relay, peer, b"hey"), Some(channel_data(number, b"hey")));
    }
}

#[test]
fn one_family_ends_alone_and_takes_nothing_of_the_other() {
    for (ended, left, ended_peer, left_peer) in [(1, 2, FOUR, SIX), (2, 1, SIX, FOUR)] {
        let (mut scene, mut anna) = with_both();
        let (ended_peer, left_peer) = (addr(ended_peer), addr(left_peer));
        assert!(scene.succeeds(&mut anna, |caller| caller.permit(&[ended_peer, left_peer])));
        assert!(scene.succeeds(&mut anna, |caller| refresh(caller, 0, ended)));
        assert_eq!((scene.machine.relays(), scene.open.len()), (1, 1));
        let (to_left, to_ended) = (anna.caller.send(left_peer, b"x"), anna.caller.send(ended_peer, b"x"));
        assert!(matches!(scene.say(&anna, &to_left), Got::ToPeer(..)));
        assert_eq!(scene.say(&anna, &to_ended), Got::Nothing);
        let again = refresh(&mut anna.caller, 600, ended);
        assert_eq!(refused(scene.ask(&mut anna, &again)), 443);
        let permit = anna.caller.permit(&[ended_peer]);
        assert_eq!(refused(scene.ask(&mut anna, &permit)), 443);
        let bind = anna.caller.bind(0x4001, ended_peer);
        assert_eq!(refused(scene.ask(&mut anna, &bind)), 443);
        assert!(scene.succeeds(&mut anna, |caller| refresh(caller, 0, left)));
        assert_eq!((scene.machine.relays(), scene.open.len()), (0, 0));
        assert!(!scene.machine.has_relay(anna.client));
    }
}

#[test]
fn each_family_lapses_by_itself_and_both_go_with_their_client() {
    let (mut scene, mut anna) = with_both();
    scene.pass(400);
    assert!(scene.succeeds(&mut anna, |caller| refresh(caller, 600, 2)));
    scene.pass(201);
    assert_eq!(scene.machine.relays(), 1, "that of IPv4 was not refreshed");
    assert!(scene.succeeds(&mut anna, |caller| caller.permit(&[addr(SIX)])));
    scene.pass(400);
    assert_eq!((scene.machine.relays(), scene.open.len()), (0, 0));

    let (mut scene, mut anna) = with_both();
    scene.pass(400);
    assert!(scene.succeeds(&mut anna, |caller| caller.refresh(600)), "without a family, both are meant");
    scene.pass(201);
    assert_eq!(scene.machine.relays(), 2);
    scene.machine.client_gone(anna.client);
    scene.outputs();
    assert_eq!((scene.machine.relays(), scene.open.len()), (0, 0));
    assert_eq!(scene.machine.shared.sites.each()[0].open(), 0);
}

#[test]
fn with_one_family_the_client_gets_it_and_the_reason_for_the_other() {
    let ip = |text: &str| text.parse::<IpAddr>().expect(text);
    let only = |text: &str| CallsConfig { relays: vec![relay_address(text)], ..config() };
    let mut one = config();
    one.quotas.relays = 1;
    let cases = [
        (only("9.9.9.9"), None, "9.9.9.9:50000", (2, 440)),
        (only("2a00::9"), None, "[2a00::9]:50000", (1, 440)),
        (config(), Some(ip("2a00::9")), "9.9.9.9:50000", (2, 508)),
        (config(), Some(ip("9.9.9.9")), "[2a00::9]:50000", (1, 508)),
        (one, None, "9.9.9.9:50000", (2, 508)),
    ];
    for (config, without, relayed, missing) in cases {
        let (mut scene, mut anna) = (Scene { without, ..Scene::new(config) }, anna(4_000));
        let (request, answer) = ask_both(&mut scene, &mut anna);
        assert_eq!(content_of(&answer), (vec![addr(relayed)], vec![missing]));
        assert_eq!((scene.machine.relays(), scene.open.len()), (1, 1));
        assert_eq!(scene.say(&anna, &request), Got::Answer(answer));
    }
}

#[test]
fn without_any_family_the_client_is_refused_and_nothing_stays() {
    let (mut scene, mut anna) = (Scene::new(config()), anna(4_000));
    scene.next_port = None;
    let (_, answer) = ask_both(&mut scene, &mut anna);
    assert_eq!(anna.caller.hear(&answer), Some(Heard::Refused(508)));
    assert_eq!((scene.machine.relays(), scene.open.len()), (0, 0));
    assert!(!scene.machine.has_relay(anna.client));
}

#[test]
fn contradicting_settings_are_refused() {
    let cases: [(Attributes<'_>, u16); 6] = [
        (&[(attribute::ADDITIONAL_ADDRESS_FAMILY, &[1, 0, 0, 0])], 400),
        (&[(attribute::ADDITIONAL_ADDRESS_FAMILY, &[])], 400),
        (
            &[
                (attribute::ADDITIONAL_ADDRESS_FAMILY, &[2, 0, 0, 0]),
                (attribute::REQUESTED_ADDRESS_FAMILY, &[1, 0, 0, 0]),
            ],
            400,
        ),
        (&[(attribute::ADDITIONAL_ADDRESS_FAMILY, &[2, 0, 0, 0]), (attribute::EVEN_PORT, &[0x80])], 400),
        (
            &[(attribute::ADDITIONAL_ADDRESS_FAMILY, &[2, 0, 0, 0]), (attribute::RESERVATION_TOKEN, &[7; 8])],
            400,
        ),
        (&[(attribute::REQUESTED_ADDRESS_FAMILY, &[3, 0, 0, 0])], 440),
    ];
    let (mut scene, mut anna) = (Scene::new(config()), anna(4_000));
    let first = both(&mut anna.caller);
    assert_eq!(scene.ask(&mut anna, &first), Heard::Again);
    for (attributes, code) in cases {
        let request = anna.caller.request(method::ALLOCATE, |message| {
            message.u32(attribute::REQUESTED_TRANSPORT, 17 << 24);
            for (kind, value) in attributes {
                message.bytes(*kind, value);
            }
        });
        assert_eq!(refused(scene.ask(&mut anna, &request)), code, "{attributes:?}");
    }
    assert_eq!(scene.machine.relays(), 0);
}

//! Attacks that must fail: malformed, forged, stolen and endless requests.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use edge::Handle;
use proptest::prelude::*;

use super::scene::{self, *};
use crate::Credentials;
use crate::client::{Caller, Heard, channel_data};
use crate::machine::Client;
use crate::stun::{Message, Writer, attribute, method};

#[test]
fn nothing_passes_without_a_permission() {
    let (mut scene, peer) = (Scene::new(config()), addr(PEER));
    let mut anna = scene.with_peer(peer);
    let stranger = addr("8.8.8.8:7000");
    let send = anna.caller.send(stranger, b"hello");
    assert_eq!(scene.say(&anna, &send), Got::Nothing);
    assert_eq!(scene.say(&anna, &channel_data(0x4001, b"hello")), Got::Nothing);
    assert_eq!(scene.receive_from_peer(0, stranger, b"hello"), None);
    let bob = scene::anna(4_001);
    let send = anna.caller.send(peer, b"from another address");
    assert_eq!(scene.say(&bob, &send), Got::Nothing);
    assert_eq!(scene.machine.shared.counters.not_permitted.read(), 3);
}

#[test]
fn forbidden_peers_are_refused_however_they_are_written() {
    let mut scene = Scene::new(config());
    let mut four = scene.with_peer(addr(PEER));
    for peer in [
        "127.0.0.1:1",
        "10.0.0.1:1",
        "192.168.0.1:1",
        "169.254.169.254:80",
        "224.0.0.1:1",
        "0.0.0.0:1",
        "255.255.255.255:1",
    ] {
        let request = four.caller.permit(&[addr(PEER), addr(peer)]);
        assert_eq!(refused(scene.ask(&mut four, &request)), 403, "{peer}");
        let request = four.caller.bind(0x4001, addr(peer));
        assert_eq!(refused(scene.ask(&mut four, &request)), 403, "{peer}");
        let send = four.caller.send(addr(peer), b"hello");
        assert_eq!(scene.say(&four, &send), Got::Nothing, "{peer}");
    }
    let mut six = anna(4_001);
    assert!(matches!(scene.allocate_of(&mut six, true), Heard::Success { .. }));
    for peer in [
        "[::ffff:127.0.0.1]:1",
        "[::ffff:10.0.0.1]:1",
        "[::1]:1",
        "[fe80::1]:1",
        "[fc00::1]:1",
        "[ff02::1]:1",
        "[64:ff9b::7f00:1]:1",
        "[2002:7f00:1::]:1",
    ] {
        let request = six.caller.permit(&[addr(peer)]);
        assert_eq!(refused(scene.ask(&mut six, &request)), 403, "{peer}");
    }
}

#[test]
fn our_own_address_is_a_peer_only_where_relays_are() {
    let mut scene = Scene::new(config());
    let mut anna = scene.with_peer(addr("9.9.9.9:50001"));
    for (peer, expected) in [("9.9.9.9:50001", true), ("9.9.9.9:3478", false), ("9.9.9.9:53", false)] {
        let send = anna.caller.send(addr(peer), b"hello");
        assert_eq!(matches!(scene.say(&anna, &send), Got::ToPeer(..)), expected, "{peer}");
    }
    let bind = anna.caller.bind(0x4001, addr("9.9.9.9:53"));
    assert_eq!(refused(scene.ask(&mut anna, &bind)), 403);
}

#[test]
fn a_channel_cannot_be_taken_over_or_bound_twice() {
    let (mut scene, peer) = (Scene::new(config()), addr(PEER));
    let mut anna = scene.with_peer(peer);
    for (channel, to, expected) in [
        (0x4001, peer, None),
        (0x4001, peer, None),
        (0x4001, addr("8.8.4.4:7001"), Some(400)),
        (0x4002, peer, Some(400)),
        (0x3fff, addr("8.8.4.4:7002"), Some(400)),
        (0x8000, addr("8.8.4.4:7002"), Some(400)),
        (0x7fff, addr("8.8.4.4:7002"), None),
    ] {
        let bind = anna.caller.bind(channel, to);
        let received = scene.ask(&mut anna, &bind);
        match expected {
            None => assert!(matches!(received, Heard::Success { .. }), "{channel:x} {to} {received:?}"),
            Some(code) => assert_eq!(refused(received), code, "{channel:x} {to}"),
        }
    }
}

#[test]
fn wrong_credentials_are_refused() {
    let mut scene = Scene::new(config());
    let password = |name| Credentials::new(SECRET).password(name);
    for (name, password, why) in [
        (NAME, "wrong".into(), "the password"),
        (NAME, Credentials::new(b"another").password(NAME), "the secret"),
        ("1799999999:7-1f", password("1799999999:7-1f"), "it has ended"),
        ("7-1f", password("7-1f"), "no time"),
        ("", password(""), "no name"),
    ] {
        assert_eq!(refused(scene.allocate(&mut at(4_000, name, &password))), 401, "{why}");
    }
    assert!(scene.open.is_empty());
}

#[test]
fn credentials_end_at_their_time() {
    let mut scene = Scene::new(config());
    let mut anna = scene.with_peer(addr(PEER));
    let refresh = anna.caller.refresh(3_600);
    scene.ask(&mut anna, &refresh);
    scene.pass(590);
    let refresh = anna.caller.refresh(3_600);
    scene.ask(&mut anna, &refresh);
    scene.pass(3_010);
    let refresh = anna.caller.refresh(600);
    assert_eq!(scene.ask(&mut anna, &refresh), Heard::Again, "the nonce is old");
    let refresh = anna.caller.refresh(600);
    assert_eq!(refused(scene.ask(&mut anna, &refresh)), 401);
}

#[test]
fn a_relay_belongs_to_its_creator() {
    let mut scene = Scene::new(config());
    let mut anna = scene.with_peer(addr(PEER));
    let other = "1800003600:7-2a";
    let mut mallory = At {
        client: anna.client,
        from: anna.from,
        ..at(4_000, other, &Credentials::new(SECRET).password(other))
    };
    let ask = mallory.caller.refresh(0);
    assert_eq!(scene.ask(&mut mallory, &ask), Heard::Again);
    for request in [
        mallory.caller.refresh(0),
        mallory.caller.bind(0x4001, addr("1.1.1.1:1")),
        mallory.caller.permit(&[addr(PEER)]),
    ] {
        assert_eq!(refused(scene.ask(&mut mallory, &request)), 441);
    }
    let mut forged = At { client: anna.client, from: anna.from, ..at(4_000, NAME, "guess") };
    let ask = forged.caller.refresh(0);
    assert_eq!(scene.ask(&mut forged, &ask), Heard::Again);
    let ask = forged.caller.refresh(0);
    assert_eq!(refused(scene.ask(&mut forged, &ask)), 401);
    let refresh = anna.caller.refresh(600);
    assert!(matches!(scene.ask(&mut anna, &refresh), Heard::Success { .. }));
}

#[test]
fn a_captured_packet_is_useless_from_another_address() {
    let mut scene = Scene::new(config());
    let mut anna = anna(4_000);
    let first = anna.caller.allocate(false);
    scene.ask(&mut anna, &first);
    let overheard = anna.caller.allocate(false);
    let mut mallory = scene::anna(6_666);
    let Got::Answer(answer) = scene.say(&mallory, &overheard) else { panic!("no answer") };
    assert_eq!(Message::parse(&answer).unwrap().error_code(), Some(438), "the nonce is anna's address'");
    assert!(matches!(mallory.caller.hear(&answer), Some(Heard::Again)));
    let mut changed = overheard.clone();
    changed[24] ^= 1;
    let Got::Answer(answer) = scene.say(&anna, &changed) else { panic!("no answer") };
    assert_eq!(Message::parse(&answer).unwrap().error_code(), Some(401), "its signature is not of this");
    scene.pass(601);
    let Got::Answer(answer) = scene.say(&anna, &overheard) else { panic!("no answer") };
    assert_eq!(Message::parse(&answer).unwrap().error_code(), Some(438), "later");
    assert!(scene.open.is_empty());
}

#[test]
fn wrong_requests_get_the_reason() {
    let mut scene = Scene::new(config());
    let mut anna = anna(4_000);
    let first = anna.caller.allocate(false);
    scene.ask(&mut anna, &first);
    type Write = fn(&mut Writer<'_>);
    let table: [(u16, Write, u16); 10] = [
        (method::ALLOCATE, |_| {}, 400),
        (
            method::ALLOCATE,
            |message| {
                message.u32(attribute::REQUESTED_TRANSPORT, 6 << 24);
            },
            442,
        ),
        (
            method::ALLOCATE,
            |message| {
                message.u32(attribute::REQUESTED_TRANSPORT, 17 << 24).u32(0x0017, 3 << 24);
            },
            440,
        ),
        (
            method::ALLOCATE,
            |message| {
                message.u32(0x0019, 17 << 24).bytes(attribute::RESERVATION_TOKEN, &[0; 8]);
            },
            508,
        ),
        (
            method::ALLOCATE,
            |message| {
                message.u32(0x0019, 17 << 24).bytes(0x001a, &[]);
            },
            420,
        ),
        (
            method::ALLOCATE,
            |message| {
                message.u32(0x0019, 17 << 24).u32(0x7fff, 1);
            },
            420,
        ),
        (method::REFRESH, |_| {}, 437),
        (method::CREATE_PERMISSION, |_| {}, 437),
        (method::CHANNEL_BIND, |_| {}, 437),
        (0x00f, |_| {}, 400),
    ];
    for (method, write, expected) in table {
        let request = anna.caller.request(method, write);
        assert_eq!(refused(scene.ask(&mut anna, &request)), expected, "{method:x}");
    }
    assert!(matches!(scene.allocate(&mut anna), Heard::Success { .. }));
    for method in [method::CREATE_PERMISSION, method::CHANNEL_BIND] {
        let request = anna.caller.request(method, |message| {
            message.bytes(attribute::XOR_PEER_ADDRESS, &[0, 1, 2]);
        });
        assert_eq!(refused(scene.ask(&mut anna, &request)), 400, "{method:x}");
    }
}

#[test]
fn unknown_attributes_are_listed_but_not_without_end() {
    let mut scene = Scene::new(config());
    let mut anna = anna(4_000);
    let request = anna.caller.request(method::BINDING, |message| {
        (0..200).for_each(|number| {
            message.bytes(0x7000 + number, &[]);
        });
    });
    let Got::Answer(answer) = scene.say(&anna, &request) else { panic!("no answer") };
    let message = Message::parse(&answer).unwrap();
    assert_eq!(message.error_code(), Some(420));
    assert_eq!(
        message.attribute(attribute::UNKNOWN_ATTRIBUTES),
        Some(&[0x70, 0, 0x70, 1, 0x70, 2, 0x70, 3][..])
    );
}

#[test]
fn a_forged_source_gets_few_bytes_more_than_were_sent() {
    let mut config = config();
    config.excess_bytes_per_second = 1_000;
    let mut scene = Scene::new(config);
    let mut victim = anna(53);
    let (mut sent, mut got) = (0, 0);
    for _ in 0..10_000 {
        let request = victim.caller.allocate(false);
        sent += request.len();
        if let Got::Answer(answer) = scene.say(&victim, &request) {
            got += answer.len();
        }
    }
    assert!(got < 4_000 && sent > 200_000, "{got} of {sent}");
    assert!(scene.machine.shared.counters.unanswered.read() > 9_900);
    let stream = At { client: Client::Stream(Handle::new(0, 1, 1)), ..anna(53) };
    let request = victim.caller.allocate(false);
    assert!(matches!(scene.say(&stream, &request), Got::Answer(_)), "a connection proves its address");
}

#[test]
fn other_packets_than_stun_get_no_answer() {
    let mut scene = Scene::new(config());
    let mut anna = anna(4_000);
    let good = anna.caller.request(method::BINDING, |message| {
        message.fingerprint();
    });
    assert!(matches!(scene.say(&anna, &good), Got::Answer(_)));
    for end in 0..good.len() {
        assert_eq!(scene.say(&anna, &good[..end]), Got::Nothing, "cut at {end}");
    }
    for index in [2, 3, 4, 5, 6, 7, 22, 23, 24] {
        let mut changed = good.clone();
        changed[index] ^= 0x40;
        assert_eq!(scene.say(&anna, &changed), Got::Nothing, "changed at {index}");
    }
    for wrong in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 600], &[0x40], &[0x40, 1, 0xff, 0xff, 1]] {
        assert_eq!(scene.say(&anna, wrong), Got::Nothing);
    }
}

#[test]
fn a_client_holds_a_bounded_number_of_permissions_and_channels() {
    let mut scene = Scene::new(config());
    let mut anna = scene.with_peer(addr(PEER));
    let mut refusals = 0;
    for number in 0..100u16 {
        let peer = SocketAddr::from(([8, 8, 1, number as u8], 9));
        let permit = anna.caller.permit(&[peer]);
        let bind = anna.caller.bind(0x4000 + number, SocketAddr::new(addr(PEER).ip(), 100 + number));
        for request in [permit, bind] {
            if scene.ask(&mut anna, &request) == Heard::Refused(508) {
                refusals += 1;
            }
        }
    }
    assert_eq!(refusals, 100 - 63 + 100 - 64);
}

/// One random act of a client or peer.
#[derive(Debug, Clone)]
enum Act {
    Say(usize, Vec<u8>),
    Permit(usize, SocketAddr),
    Bind(usize, u16, SocketAddr),
    Send(usize, SocketAddr, Vec<u8>),
    Channel(usize, u16, Vec<u8>),
    Refresh(usize, u32),
    Allocate(usize, bool),
    Hear(usize, SocketAddr, Vec<u8>),
    /// A request with one changed byte.
    Damaged(usize, prop::sample::Index, u8),
    Gone(usize),
    Pass(u64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let who = || 0..3usize;
    let bytes = || prop::collection::vec(any::<u8>(), 0..60);
    let peer = || {
        let ip = prop_oneof![
            Just("8.8.4.4"),
            Just("8.8.8.8"),
            Just("10.0.0.1"),
            Just("127.0.0.1"),
            Just("9.9.9.9"),
            Just("2a00::77"),
            Just("::ffff:127.0.0.1"),
        ];
        (ip, prop_oneof![Just(53u16), Just(50_001)])
            .prop_map(|(ip, port)| SocketAddr::new(ip.parse().expect(ip), port))
    };
    let act = prop_oneof![
        (who(), bytes()).prop_map(|(who, bytes)| Act::Say(who, bytes)),
        (who(), peer()).prop_map(|(who, peer)| Act::Permit(who, peer)),
        (who(), 0x4000..0x4003u16, peer()).prop_map(|(who, number, peer)| Act::Bind(who, number, peer)),
        (who(), peer(), bytes()).prop_map(|(who, peer, data)| Act::Send(who, peer, data)),
        (who(), 0x4000..0x4003u16, bytes()).prop_map(|(who, number, data)| Act::Channel(who, number, data)),
        (who(), prop_oneof![Just(0u32), Just(600), Just(3_600)])
            .prop_map(|(who, lifetime)| Act::Refresh(who, lifetime)),
        (who(), any::<bool>()).prop_map(|(who, ipv6)| Act::Allocate(who, ipv6)),
        (0..4usize, peer(), bytes()).prop_map(|(relay, peer, data)| Act::Hear(relay, peer, data)),
        (who(), any::<prop::sample::Index>(), 1..=255u8)
            .prop_map(|(who, at, change)| Act::Damaged(who, at, change)),
        who().prop_map(Act::Gone),
        (1..700u64).prop_map(Act::Pass),
    ];
    prop::collection::vec(act, 1..60)
}

/// A model of the rules without the machine: the permissions of each client, with their ends.
#[derive(Default)]
struct Permitted {
    until: HashMap<(usize, IpAddr), Instant>,
}

impl Permitted {
    fn note(&mut self, who: usize, ip: IpAddr, now: Instant) {
        // A channel lives longer than a permission.
        self.until.insert((who, ip), now + Duration::from_secs(600));
    }

    fn has(&self, who: usize, ip: IpAddr, now: Instant) -> bool {
        self.until.get(&(who, ip)).is_some_and(|until| *until > now)
    }
}

proptest! {
    #[test]
    fn no_sequence_of_acts_relays_to_an_unpermitted_peer(acts in acts()) {
        let mut scene = Scene::new(config());
        let mut clients = [anna(4_000), anna(4_001), At { client: Client::Stream(Handle::new(0, 1, 1)), ..anna(4_002) }];
        let mut permitted = Permitted::default();
        for act in acts {
            let now = scene.now.instant;
            let (who, message) = match act {
                Act::Say(who, bytes) => (who, bytes),
                Act::Permit(who, peer) => {
                    let permit = |caller: &mut Caller| caller.permit(&[peer]);
                    if scene.succeeds(&mut clients[who], permit) {
                        permitted.note(who, peer.ip(), now);
                    }
                    continue;
                }
                Act::Bind(who, number, peer) => {
                    if scene.succeeds(&mut clients[who], |caller| caller.bind(number, peer)) {
                        permitted.note(who, peer.ip(), now);
                    }
                    continue;
                }
                Act::Refresh(who, lifetime) => {
                    scene.succeeds(&mut clients[who], |caller| caller.refresh(lifetime));
                    continue;
                }
                Act::Allocate(who, ipv6) => {
                    scene.succeeds(&mut clients[who], |caller| caller.allocate(ipv6));
                    continue;
                }
                Act::Hear(relay, peer, data) => {
                    if relay < scene.open.len() {
                        scene.receive_from_peer(relay, peer, &data);
                    }
                    continue;
                }
                Act::Gone(who) => {
                    scene.machine.client_gone(clients[who].client);
                    scene.outputs();
                    continue;
                }
                Act::Pass(seconds) => {
                    scene.pass(seconds);
                    continue;
                }
                Act::Send(who, peer, data) => (who, clients[who].caller.send(peer, &data)),
                Act::Channel(who, number, data) => (who, channel_data(number, &data)),
                Act::Damaged(who, at, change) => {
                    let mut request = clients[who].caller.permit(&[addr(PEER)]);
                    let at = at.index(request.len());
                    request[at] ^= change;
                    (who, request)
                }
            };
            match scene.say(&clients[who], &message) {
                Got::Nothing => {}
                Got::Answer(answer) => {
                    prop_assert!(answer.len() < 256 && Message::parse(&answer).is_ok());
                }
                Got::ToPeer(to, data) => {
                    prop_assert!(reach::is_public(to.ip()) && permitted.has(who, to.ip(), now), "to {to}");
                    prop_assert!(to.ip() != addr("9.9.9.9:1").ip() || to.port() == 50_001);
                    prop_assert!(data.len() < message.len());
                }
            }
            prop_assert!(scene.machine.relays() == scene.open.len() && scene.open.len() <= 4);
        }
    }
}

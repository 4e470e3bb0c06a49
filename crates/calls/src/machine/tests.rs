use std::time::Duration;

use super::*;
use crate::Packet;
use crate::client::{Caller, Heard, channel_data};
use crate::stun::{Class, Writer};
use crate::{Credentials, Quotas};

const SECRET: &[u8] = b"north and south";
const NAME: &str = "1800003600:7-1f";
const UNIX_MS: u64 = 1_800_000_000_000;

fn addr(text: &str) -> SocketAddr {
    text.parse().expect(text)
}

fn relay_address(text: &str) -> RelayAddress {
    let ip = text.parse().expect(text);
    RelayAddress { bind: ip, told: ip }
}

fn config() -> CallsConfig {
    CallsConfig {
        udp: Vec::new(),
        streams: Vec::new(),
        relays: vec![relay_address("9.9.9.9"), relay_address("2a00::9")],
        ports: 50_000..=60_000,
        credentials: Credentials::new(SECRET),
        may_relay: Arc::new(push::is_public),
        quotas: Quotas { relays: 4, user_relays: 2, ..Quotas::default() },
        excess_bytes_per_second: 65_536,
        max_connections: 0,
    }
}

/// A machine with its time, and sockets that are only numbers.
struct Scene {
    machine: Machine,
    now: Now,
    next_port: Option<u16>,
    open: Vec<RelayId>,
}

/// A client at an address.
struct At {
    client: Client,
    from: SocketAddr,
    caller: Caller,
}

/// What a client or a peer got.
#[derive(Debug, PartialEq, Eq)]
enum Got {
    Nothing,
    Answer(Vec<u8>),
    ToPeer(SocketAddr, Vec<u8>),
}

impl Scene {
    fn new(config: CallsConfig) -> Scene {
        let began = Instant::now();
        let shared = Arc::new(Shared::new(config, &[3; 32], began));
        let now = Now { instant: began, unix_ms: UNIX_MS };
        Scene { machine: Machine::new(shared, 1), now, next_port: Some(50_000), open: Vec::new() }
    }

    fn pass(&mut self, seconds: u64) {
        self.now.instant += Duration::from_secs(seconds);
        self.now.unix_ms += seconds * 1_000;
        self.machine.handle_timeout(self.now.instant);
        self.outputs();
    }

    fn say(&mut self, at: &At, bytes: &[u8]) -> Got {
        let got = match self.machine.handle_input(at.client, at.from, bytes, self.now) {
            Step::Nothing => Got::Nothing,
            Step::Answer(answer) => Got::Answer(answer.to_vec()),
            Step::ToPeer { to, data, .. } => Got::ToPeer(to, data.to_vec()),
        };
        match self.outputs() {
            Some(answer) => Got::Answer(answer),
            None => got,
        }
    }

    /// Opens and closes what the machine asks for; answers what a client hears of it.
    fn outputs(&mut self) -> Option<Vec<u8>> {
        let mut heard = None;
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Open { relay, .. } => {
                    let port = self.next_port;
                    self.next_port = port.map(|port| port + 1);
                    self.open.extend(port.map(|_| relay));
                    heard = self.machine.opened(relay, port).map(|(_, answer)| answer.to_vec());
                }
                Output::Close { relay } => self.open.retain(|open| *open != relay),
            }
        }
        heard
    }

    fn ask(&mut self, at: &mut At, request: &[u8]) -> Heard {
        match self.say(at, request) {
            Got::Answer(answer) => at.caller.hear(&answer).expect("an answer"),
            got => panic!("no answer: {got:?}"),
        }
    }

    fn allocate(&mut self, at: &mut At) -> Heard {
        self.allocate_of(at, false)
    }

    fn allocate_of(&mut self, at: &mut At, ipv6: bool) -> Heard {
        let request = at.caller.allocate(ipv6);
        match self.ask(at, &request) {
            Heard::Again => {
                let request = at.caller.allocate(ipv6);
                self.ask(at, &request)
            }
            heard => heard,
        }
    }

    /// A client with a relay and a permission for the peer.
    fn with_peer(&mut self, peer: SocketAddr) -> At {
        let mut at = anna(4_000);
        assert!(matches!(self.allocate_of(&mut at, peer.is_ipv6()), Heard::Success { .. }));
        let permit = at.caller.permit(&[peer]);
        assert!(matches!(self.ask(&mut at, &permit), Heard::Success { .. }));
        at
    }

    fn hear_peer(&mut self, relay: usize, peer: SocketAddr, data: &[u8]) -> Option<Vec<u8>> {
        let mut buffer = vec![0xee; Packet::BEFORE + data.len() + Packet::AFTER];
        buffer[Packet::BEFORE..Packet::BEFORE + data.len()].copy_from_slice(data);
        let packet = Packet::new(&mut buffer, data.len()).expect("there is room");
        let relay = self.open[relay];
        self.machine.handle_peer_input(relay, peer, packet, self.now.instant).map(|(_, bytes)| bytes.to_vec())
    }
}

fn at(port: u16, name: &str, password: &str) -> At {
    let from = SocketAddr::from(([198, 51, 100, 4], port));
    let client = Client::Datagrams { listener: 0, from };
    At { client, from, caller: Caller::new(name, password, u64::from(port) << 32) }
}

fn anna(port: u16) -> At {
    at(port, NAME, &Credentials::new(SECRET).password(NAME))
}

fn refused(heard: Heard) -> u16 {
    match heard {
        Heard::Refused(code) => code,
        heard => panic!("it was not refused: {heard:?}"),
    }
}

const PEER: &str = "8.8.4.4:7000";

#[test]
fn a_binding_request_is_told_where_it_came_from() {
    let mut scene = Scene::new(config());
    for from in ["198.51.100.4:4000", "[2001:db8::4]:4000"] {
        let mut asking = At { from: addr(from), ..anna(4_000) };
        let request = asking.caller.request(method::BINDING, |_| {});
        let heard = scene.ask(&mut asking, &request);
        assert_eq!(heard, Heard::Success { relayed: None, mapped: Some(addr(from)), lifetime: None });
    }
    assert_eq!(scene.machine.shared.counters.bindings.read(), 2);
}

#[test]
fn a_relay_takes_credentials_and_is_told_with_its_address() {
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
fn data_passes_both_ways_with_a_permission_and_with_a_channel() {
    let (mut scene, peer) = (Scene::new(config()), addr(PEER));
    let mut anna = scene.with_peer(peer);
    let send = anna.caller.send(peer, b"hello");
    assert_eq!(scene.say(&anna, &send), Got::ToPeer(peer, b"hello".to_vec()));
    let indication = scene.hear_peer(0, peer, b"hello back").expect("it may");
    let message = Message::parse(&indication).unwrap();
    assert_eq!((message.class(), message.method()), (Class::Indication, method::DATA));
    assert_eq!(message.address(attribute::XOR_PEER_ADDRESS), Some(peer));
    assert_eq!(message.attribute(attribute::DATA), Some(&b"hello back"[..]));
    let other_port = addr("8.8.4.4:7001");
    assert!(scene.hear_peer(0, other_port, b"a permission is for all ports").is_some());

    let bind = anna.caller.bind(0x4001, peer);
    assert!(matches!(scene.ask(&mut anna, &bind), Heard::Success { .. }));
    assert_eq!(scene.say(&anna, &channel_data(0x4001, b"hi")), Got::ToPeer(peer, b"hi".to_vec()));
    assert_eq!(scene.hear_peer(0, peer, b"hey"), Some(channel_data(0x4001, b"hey")), "not padded over UDP");
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
    let told = scene.hear_peer(0, peer, b"hello").expect("it may");
    assert_eq!(told, [0x40, 1, 0, 5, b'h', b'e', b'l', b'l', b'o', 0, 0, 0]);
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
    assert!(scene.hear_peer(0, peer, b"back").is_some());
    let wrong = anna.caller.permit(&[addr(PEER)]);
    assert_eq!(refused(scene.ask(&mut anna, &wrong)), 443);
    let mut four = CallsConfig { relays: vec![relay_address("9.9.9.9")], ..config() };
    four.quotas.relays = 9;
    assert_eq!(refused(Scene::new(four).allocate_of(&mut self::anna(4_001), true)), 440);
}

#[test]
fn nothing_passes_without_a_permission() {
    let (mut scene, peer) = (Scene::new(config()), addr(PEER));
    let mut anna = scene.with_peer(peer);
    let stranger = addr("8.8.8.8:7000");
    let send = anna.caller.send(stranger, b"hello");
    assert_eq!(scene.say(&anna, &send), Got::Nothing);
    assert_eq!(scene.say(&anna, &channel_data(0x4001, b"hello")), Got::Nothing);
    assert_eq!(scene.hear_peer(0, stranger, b"hello"), None);
    let bob = self::anna(4_001);
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
        (0x5000, addr("8.8.4.4:7002"), Some(400)),
        (0x4fff, addr("8.8.4.4:7002"), None),
    ] {
        let bind = anna.caller.bind(channel, to);
        let heard = scene.ask(&mut anna, &bind);
        match expected {
            None => assert!(matches!(heard, Heard::Success { .. }), "{channel:x} {to} {heard:?}"),
            Some(code) => assert_eq!(refused(heard), code, "{channel:x} {to}"),
        }
    }
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
    assert_eq!(scene.hear_peer(0, peer, b"hello"), None);
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
        let heard = Heard::Success { relayed: None, mapped: None, lifetime: Some(expected) };
        assert_eq!(scene.ask(&mut anna, &refresh), heard, "{asked}");
    }
    assert!(scene.open.is_empty());
    let refresh = anna.caller.refresh(600);
    assert_eq!(refused(scene.ask(&mut anna, &refresh)), 437);
    assert!(matches!(scene.allocate(&mut anna), Heard::Success { .. }), "a new one from the same address");
}

#[test]
fn taking_and_giving_back_without_end_leaves_nothing() {
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
fn a_relay_belongs_to_who_made_it() {
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
fn a_packet_that_was_overheard_is_worth_nothing_elsewhere() {
    let mut scene = Scene::new(config());
    let mut anna = anna(4_000);
    let first = anna.caller.allocate(false);
    scene.ask(&mut anna, &first);
    let overheard = anna.caller.allocate(false);
    let mut mallory = self::anna(6_666);
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
    assert!(scene.hear_peer(0, peer, &[0; 900]).is_some());
    assert_eq!(scene.say(&anna, &send), Got::Nothing);
    assert_eq!(scene.hear_peer(0, peer, &[0; 900]), None);
    scene.pass(1);
    assert!(matches!(scene.say(&anna, &send), Got::ToPeer(..)));
    assert_eq!(scene.machine.shared.counters.over_bandwidth.read(), 2);
}

#[test]
fn where_there_is_no_port_the_client_hears_it_and_nothing_stays() {
    let mut scene = Scene::new(config());
    scene.next_port = None;
    assert_eq!(refused(scene.allocate(&mut anna(4_000))), 508);
    assert_eq!((scene.machine.relays(), scene.open.len()), (0, 0));
    assert_eq!(scene.machine.shared.sites.each()[0].open(), 0);
}

#[test]
fn requests_that_are_wrong_are_told_why() {
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
fn what_is_no_stun_is_not_answered() {
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

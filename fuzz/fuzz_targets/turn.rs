//! STUN and TURN: no packets of clients and peers, signed or not, cause a panic or a forbidden output.
#![no_main]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use calls::client::{Caller, Heard, channel_data};
use calls::stun::{Message, Writer, attribute, method};
use calls::{
    CallsConfig, Client, Credentials, Framed, Machine, Output, Packet, Quotas, RelayAddress, RelayId, Shared, Step, frame,
};
use edge::{Handle, Now};
use libfuzzer_sys::fuzz_target;

const SECRET: &[u8] = b"a secret of the fuzzer";
const UNIX_MS: u64 = 1_800_000_000_000;

// The input is a list of actions, each with its kind, its length and its bytes.
fuzz_target!(|input: &[u8]| {
    let mut scene = Scene::new();
    let mut rest = input;
    while let [what, length, behind @ ..] = rest {
        let (bytes, next) = behind.split_at(behind.len().min(usize::from(*length)));
        rest = next;
        scene.act(*what, bytes);
    }
});

struct Scene {
    machine: Machine,
    now: Now,
    callers: Vec<(Client, SocketAddr, Caller)>,
    relays: Vec<RelayId>,
    has_ports: bool,
}

impl Scene {
    /// Two clients with relays, one of them over a stream.
    fn new() -> Scene {
        let began = Instant::now();
        let relay = |ip: &str| RelayAddress { bind: ip.parse().expect(ip), told: ip.parse().expect(ip) };
        let config = CallsConfig {
            udp: Vec::new(),
            streams: Vec::new(),
            relays: vec![relay("9.9.9.9"), relay("2a00::9")],
            ports: 50_000..=60_000,
            credentials: Credentials::new(SECRET),
            may_relay: Arc::new(push::is_public),
            quotas: Quotas { relays: 3, ..Quotas::default() },
            excess_bytes_per_second: 4_096,
            max_connections: 0,
            private_descriptors: false,
        };
        let machine = Machine::new(Arc::new(Shared::new(config, &[3; 32], began)), 1);
        let caller = |number: u8| {
            let from = SocketAddr::from(([198, 51, 100, number], 4_000));
            let client = match number {
                0 => Client::Stream(Handle::new(0, 1, 1)),
                _ => Client::Datagrams { listener: 0, from },
            };
            let name = format!("1800003600:7-{number:x}");
            (client, from, Caller::new(&name, &Credentials::new(SECRET).password(&name), u64::from(number) << 32))
        };
        let now = Now { instant: began, unix_ms: UNIX_MS, steady_ms: UNIX_MS };
        let mut scene = Scene { machine, now, callers: (0..3).map(caller).collect(), relays: Vec::new(), has_ports: true };
        for who in 0..2 {
            for _ in 0..2 {
                let request = scene.callers[who].2.allocate(false);
                scene.say(who, &request);
            }
        }
        scene
    }

    fn act(&mut self, what: u8, bytes: &[u8]) {
        let who = usize::from(what >> 4) % self.callers.len();
        let byte = |index: usize| bytes.get(index).copied().unwrap_or(0);
        let peer = match bytes {
            [0, a, b, c, d, port, ..] => SocketAddr::from(([*a, *b, *c, *d], u16::from(*port))),
            [1, port, rest @ ..] if rest.len() >= 16 => {
                let octets: [u8; 16] = rest[..16].try_into().expect("16 of them");
                SocketAddr::from((octets, u16::from(*port)))
            }
            _ => SocketAddr::from(([8, 8, byte(0) % 4, byte(1) % 4], u16::from(byte(2)))),
        };
        match what & 15 {
            0 => drop(self.say(who, bytes)),
            1 => self.signed(who, |caller| caller.request(u16::from(byte(0)), |message| attributes(message, bytes))),
            2 => self.signed(who, |caller| caller.permit(&[peer])),
            3 => self.signed(who, |caller| caller.bind(0x4000 | u16::from(byte(3) % 8), peer)),
            4 => self.signed(who, |caller| caller.refresh(u32::from(byte(0)) * 16)),
            5 => match byte(0) & 3 {
                3 => self.signed(who, |caller| caller.request(method::ALLOCATE, both)),
                way => self.signed(who, |caller| caller.allocate(way == 1)),
            },
            6 => drop(self.say(who, &channel_data(0x4000 | u16::from(byte(0) % 8), bytes))),
            7 => {
                let message = self.callers[who].2.send(peer, bytes);
                self.say(who, &message);
            }
            8 => self.hear(who, peer, bytes),
            9 => self.pass(u64::from(byte(0)) * 8),
            10 => {
                self.machine.client_gone(self.callers[who].0);
                self.outputs();
            }
            11 => frames(bytes),
            12 => self.signed(who, |caller| {
                caller.request(method::REFRESH, |message| {
                    message.u32(attribute::LIFETIME, u32::from(byte(0)) * 16);
                    message.u32(attribute::REQUESTED_ADDRESS_FAMILY, u32::from(byte(1) % 4) << 24);
                })
            }),
            13 => self.has_ports = !self.has_ports,
            _ => {
                // A valid request with one changed byte.
                let mut request = self.callers[who].2.permit(&[peer]);
                let at = usize::from(byte(0)) % request.len();
                request[at] ^= byte(1);
                self.say(who, &request);
            }
        }
    }

    fn signed(&mut self, who: usize, request: impl Fn(&mut Caller) -> Vec<u8>) {
        for _ in 0..2 {
            let request = request(&mut self.callers[who].2);
            if self.say(who, &request) != Some(Heard::Again) {
                return;
            }
        }
    }

    fn say(&mut self, who: usize, bytes: &[u8]) -> Option<Heard> {
        let (client, from, caller) = &mut self.callers[who];
        let mut heard = None;
        match self.machine.handle_input(*client, *from, bytes, self.now) {
            Step::Nothing => {}
            Step::Answer(answer) => {
                assert!(answer.len() < 256, "an answer is short whatever the question");
                Message::parse(answer).expect("ours are right");
                heard = caller.hear(answer);
            }
            Step::ToPeer { to, data, .. } => {
                assert!(push::is_public(to.ip()), "relayed to {to}");
                assert!(data.len() < bytes.len());
            }
        }
        self.outputs().or(heard)
    }

    fn hear(&mut self, who: usize, peer: SocketAddr, data: &[u8]) {
        let Some(relay) = self.relays.get(who).copied() else { return };
        let mut buffer = vec![0xee; Packet::BEFORE + data.len() + Packet::AFTER];
        buffer[Packet::BEFORE..Packet::BEFORE + data.len()].copy_from_slice(data);
        let packet = Packet::new(&mut buffer, data.len()).expect("there is room");
        if let Some((_, message)) = self.machine.handle_peer_input(relay, peer, packet, self.now.instant) {
            assert!(matches!(frame(message), Framed::Whole { .. } | Framed::Incomplete));
            assert!(message[0] & 0x40 != 0 || Message::parse(message).is_ok());
        }
    }

    fn pass(&mut self, seconds: u64) {
        self.now.instant += Duration::from_secs(seconds);
        self.now.unix_ms += seconds * 1_000;
        self.now.steady_ms += seconds * 1_000;
        self.machine.handle_timeout(self.now.instant);
        self.outputs();
    }

    fn outputs(&mut self) -> Option<Heard> {
        let mut heard = None;
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Close { relay } => self.relays.retain(|open| *open != relay),
                Output::Open { relay, .. } => {
                    // While ports are scarce, every other relay is refused.
                    let port = (self.has_ports || relay.slot % 2 == 0).then_some(50_000 + (relay.slot % 100) as u16);
                    self.relays.extend(port.map(|_| relay));
                    if let Some((client, answer)) = self.machine.opened(relay, port) {
                        let caller = self.callers.iter_mut().find(|(of, ..)| *of == client);
                        heard = caller.and_then(|(.., caller)| caller.hear(answer));
                    }
                }
            }
        }
        assert!(self.machine.relays() <= 3 && self.relays.len() == self.machine.relays());
        heard
    }
}

/// Relays of both families.
fn both(message: &mut Writer<'_>) {
    message.u32(attribute::REQUESTED_TRANSPORT, 17 << 24).u32(attribute::ADDITIONAL_ADDRESS_FAMILY, 2 << 24);
}

/// Attributes from the fuzzer's input: type, length and value.
fn attributes(message: &mut Writer<'_>, mut bytes: &[u8]) {
    while let [kind, length, rest @ ..] = bytes {
        let (value, next) = rest.split_at(rest.len().min(usize::from(*length) % 24));
        message.bytes(u16::from(*kind & 0x3f) | u16::from(*kind & 0x80) << 8, value);
        bytes = next;
    }
}

fn frames(mut bytes: &[u8]) {
    while let Framed::Whole { message, next } = frame(bytes) {
        let _ = Message::parse(&bytes[..message]);
        bytes = &bytes[next..];
    }
}

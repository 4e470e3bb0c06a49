//! A machine with its time, clients and peers, without sockets.

use std::time::Duration;

use crate::client::{Caller, Heard};
use crate::machine::*;
use crate::{Credentials, Packet, Quotas};

pub(super) const SECRET: &[u8] = b"north and south";
pub(super) const NAME: &str = "1800003600:7-1f";
pub(super) const UNIX_MS: u64 = 1_800_000_000_000;

pub(super) fn addr(text: &str) -> SocketAddr {
    text.parse().expect(text)
}

pub(super) fn relay_address(text: &str) -> RelayAddress {
    let ip = text.parse().expect(text);
    RelayAddress { bind: ip, external: ip }
}

pub(super) fn config() -> CallsConfig {
    CallsConfig {
        udp: Vec::new(),
        shares_ports: false,
        streams: Vec::new(),
        relays: vec![relay_address("9.9.9.9"), relay_address("2a00::9")],
        ports: 50_000..=60_000,
        credentials: Credentials::new(SECRET),
        may_relay: Arc::new(reach::is_public),
        is_live: Arc::new(|_| true),
        quotas: Quotas { relays: 4, user_relays: 2, ..Quotas::default() },
        excess_bytes_per_second: 65_536,
        max_connections: 0,
        per_address: None,
        private_descriptors: false,
    }
}

/// A machine with its time; sockets are only numbers.
pub(super) struct Scene {
    pub(super) machine: Machine,
    pub(super) now: Now,
    pub(super) next_port: Option<u16>,
    /// Sockets on this address fail.
    pub(super) without: Option<IpAddr>,
    pub(super) open: Vec<RelayId>,
}

/// A client at an address.
pub(super) struct At {
    pub(super) client: Client,
    pub(super) from: SocketAddr,
    pub(super) caller: Caller,
}

/// A packet that a client or a peer received.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Got {
    Nothing,
    Answer(Vec<u8>),
    ToPeer(SocketAddr, Vec<u8>),
}

impl Scene {
    pub(super) fn new(config: CallsConfig) -> Scene {
        let began = Instant::now();
        let shared = Arc::new(Shared::new(config, &[3; 32], began));
        let now = Now { instant: began, unix_ms: UNIX_MS, steady_ms: UNIX_MS };
        let machine = Machine::new(shared, 1);
        Scene { machine, now, next_port: Some(50_000), without: None, open: Vec::new() }
    }

    pub(super) fn pass(&mut self, seconds: u64) {
        self.now.instant += Duration::from_secs(seconds);
        self.now.unix_ms += seconds * 1_000;
        self.now.steady_ms += seconds * 1_000;
        self.machine.handle_timeout(self.now.instant);
        self.outputs();
    }

    pub(super) fn say(&mut self, at: &At, bytes: &[u8]) -> Got {
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

    /// Opens and closes sockets for the machine; returns the answer to the client.
    pub(super) fn outputs(&mut self) -> Option<Vec<u8>> {
        let mut heard = None;
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Open { relay, address, .. } => {
                    let port = self.next_port.filter(|_| Some(address.bind) != self.without);
                    self.next_port = port.map(|port| port + 1).or(self.next_port);
                    self.open.extend(port.map(|_| relay));
                    heard = self.machine.opened(relay, port).map(|(_, answer)| answer.to_vec());
                }
                Output::Close { relay } => self.open.retain(|open| *open != relay),
            }
        }
        heard
    }

    pub(super) fn ask(&mut self, at: &mut At, request: &[u8]) -> Heard {
        match self.say(at, request) {
            Got::Answer(answer) => at.caller.hear(&answer).expect("an answer"),
            got => panic!("no answer: {got:?}"),
        }
    }

    pub(super) fn allocate(&mut self, at: &mut At) -> Heard {
        self.allocate_of(at, false)
    }

    pub(super) fn allocate_of(&mut self, at: &mut At, ipv6: bool) -> Heard {
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
    pub(super) fn with_peer(&mut self, peer: SocketAddr) -> At {
        let mut at = anna(4_000);
        assert!(matches!(self.allocate_of(&mut at, peer.is_ipv6()), Heard::Success { .. }));
        let permit = at.caller.permit(&[peer]);
        assert!(matches!(self.ask(&mut at, &permit), Heard::Success { .. }));
        at
    }

    /// Repeats the request until it succeeds. False: refused, or no answer.
    pub(super) fn succeeds(&mut self, at: &mut At, request: impl Fn(&mut Caller) -> Vec<u8>) -> bool {
        for _ in 0..3 {
            let request = request(&mut at.caller);
            let Got::Answer(answer) = self.say(at, &request) else { return false };
            match at.caller.hear(&answer) {
                Some(Heard::Again) => {}
                heard => return matches!(heard, Some(Heard::Success { .. })),
            }
        }
        false
    }

    pub(super) fn receive_from_peer(
        &mut self,
        relay: usize,
        peer: SocketAddr,
        data: &[u8],
    ) -> Option<Vec<u8>> {
        let mut buffer = vec![0xee; Packet::BEFORE + data.len() + Packet::AFTER];
        buffer[Packet::BEFORE..Packet::BEFORE + data.len()].copy_from_slice(data);
        let packet = Packet::new(&mut buffer, data.len()).expect("there is room");
        let relay = self.open[relay];
        self.machine.handle_peer_input(relay, peer, packet, self.now.instant).map(|(_, bytes)| bytes.to_vec())
    }
}

pub(super) fn at(port: u16, name: &str, password: &str) -> At {
    let from = SocketAddr::from(([198, 51, 100, 4], port));
    let client = Client::Datagrams { listener: 0, from };
    At { client, from, caller: Caller::new(name, password, u64::from(port) << 32) }
}

pub(super) fn anna(port: u16) -> At {
    named(NAME, port)
}

pub(super) fn named(name: &str, port: u16) -> At {
    at(port, name, &Credentials::new(SECRET).password(name))
}

pub(super) fn refused(heard: Heard) -> u16 {
    match heard {
        Heard::Refused(code) => code,
        heard => panic!("it was not refused: {heard:?}"),
    }
}

pub(super) const PEER: &str = "8.8.4.4:7000";

//! What the machine alone costs: memory per relay, time per question, allocation and packet, without sockets. `cargo bench -p calls`
//! (Linux: memory is read from /proc).
#![allow(clippy::print_stdout, reason = "a bench reports")]

use std::hint::black_box;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use calls::client::{Caller, Heard, channel_data};
use calls::stun::method;
use calls::{
    CallsConfig, Client, Credentials, Machine, Output, Packet, Quotas, RelayAddress, RelayId, Shared, Step,
};
use edge::Now;

const SECRET: &[u8] = b"a secret of this bench";
const RELAYS: u32 = 50_000;
const PACKETS: u32 = 2_000_000;
const PEER: ([u8; 4], u16) = ([8, 8, 4, 4], 7_000);

fn main() {
    let began = Instant::now();
    let here = RelayAddress { bind: [9, 9, 9, 9].into(), external: [9, 9, 9, 9].into() };
    let config = CallsConfig {
        udp: Vec::new(),
        shares_ports: false,
        streams: Vec::new(),
        relays: vec![here],
        ports: 1_024..=65_535,
        credentials: Credentials::new(SECRET),
        may_relay: Arc::new(|_| true),
        is_live: Arc::new(|_| true),
        quotas: Quotas { relays: 0, user_relays: 0, user_bytes_per_second: 0, ..Quotas::default() },
        excess_bytes_per_second: 65_536,
        max_connections: 0,
        per_address: None,
        private_descriptors: false,
    };
    let mut machine = Machine::new(Arc::new(Shared::new(config, &[1; 32], began)), 1);
    let now = Now { instant: began, unix_ms: 1_800_000_000_000, steady_ms: 0 };

    questions(&mut machine, now);
    // The clients' own memory is there before any relay's.
    let mut callers: Vec<(SocketAddr, Caller)> = (0..RELAYS).map(caller).collect();
    for (from, caller) in &mut callers {
        challenge(&mut machine, *from, caller, now);
    }
    let before = resident_bytes();
    let begin = Instant::now();
    let mut relays = Vec::with_capacity(RELAYS as usize);
    for (from, caller) in &mut callers {
        relays.push(allocate(&mut machine, *from, caller, now));
    }
    let each = begin.elapsed().as_nanos() as f64 / f64::from(RELAYS);
    println!("allocation and channel, the client's half included: {:.2} µs", each / 1_000.0);
    println!(
        "memory per relay with a channel: {:.0} bytes",
        (resident_bytes() - before) as f64 / f64::from(RELAYS)
    );
    packets(&mut machine, &callers, &relays, now);
}

fn questions(machine: &mut Machine, now: Now) {
    let question = Caller::new("", "", 1).request(method::BINDING, |_| {});
    let begin = Instant::now();
    for number in 0..PACKETS {
        let from = source(number);
        black_box(machine.handle_input(Client::Datagrams { listener: 0, from }, from, &question, now));
    }
    println!("question of STUN: {:.3} µs", begin.elapsed().as_nanos() as f64 / f64::from(PACKETS) / 1_000.0);
}

fn packets(machine: &mut Machine, callers: &[(SocketAddr, Caller)], relays: &[RelayId], now: Now) {
    let message = channel_data(0x4000, &[7; 1_000]);
    let (before, begin) = (resident_bytes(), Instant::now());
    for number in 0..PACKETS {
        let (from, _) = callers[(number % RELAYS) as usize];
        let step = machine.handle_input(Client::Datagrams { listener: 0, from }, from, &message, now);
        assert!(matches!(black_box(step), Step::ToPeer { .. }));
    }
    println!("packet to a peer: {:.3} µs", begin.elapsed().as_nanos() as f64 / f64::from(PACKETS) / 1_000.0);
    let (begin, mut buffer) = (Instant::now(), vec![0; Packet::BEFORE + 1_000 + Packet::AFTER]);
    for number in 0..PACKETS {
        let packet = Packet::new(&mut buffer, 1_000).expect("there is room");
        let relay = relays[(number % RELAYS) as usize];
        assert!(black_box(machine.handle_peer_input(relay, PEER.into(), packet, now.instant)).is_some());
    }
    println!(
        "packet to a client: {:.3} µs",
        begin.elapsed().as_nanos() as f64 / f64::from(PACKETS) / 1_000.0
    );
    println!("memory after them: {} bytes more", resident_bytes().saturating_sub(before));
}

fn caller(number: u32) -> (SocketAddr, Caller) {
    let name = format!("1800003600:1-{number:x}");
    (source(number), Caller::new(&name, &Credentials::new(SECRET).password(&name), u64::from(number) << 32))
}

fn source(number: u32) -> SocketAddr {
    let [_, a, b, c] = number.to_be_bytes();
    SocketAddr::from(([11, a, b, c], 4_000))
}

fn challenge(machine: &mut Machine, from: SocketAddr, caller: &mut Caller, now: Now) {
    let request = caller.allocate(false);
    match machine.handle_input(Client::Datagrams { listener: 0, from }, from, &request, now) {
        Step::Answer(answer) => assert_eq!(caller.hear(answer), Some(Heard::Again)),
        step => panic!("{step:?}"),
    }
}

fn allocate(machine: &mut Machine, from: SocketAddr, caller: &mut Caller, now: Now) -> RelayId {
    let client = Client::Datagrams { listener: 0, from };
    let request = caller.allocate(false);
    assert_eq!(machine.handle_input(client, from, &request, now), Step::Nothing);
    let Some(Output::Open { relay, .. }) = machine.poll_output() else { panic!("no relay") };
    assert!(machine.opened(relay, Some(2_000)).is_some());
    let request = caller.bind(0x4000, PEER.into());
    assert!(matches!(machine.handle_input(client, from, &request, now), Step::Answer(_)));
    relay
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: usize =
        statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("the second number");
    pages * 4_096
}

//! More relays than the process may have descriptors. Alone in its process, because it lowers the limit.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // a test may panic

mod line;

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use calls::client::{Caller, Heard, channel_data};
use calls::{CallsConfig, Quotas};
use line::{Datagrams, LOOPBACK, Line, ask, caller, config, start, succeed};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Room for the clients' sockets, and not for their relays beside them.
const LIMIT: u64 = 128;
const CLIENTS: u64 = 90;

#[test]
fn workers_with_tables_of_their_own_hold_relays_beyond_the_limit_of_the_process() {
    let hard = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(LIMIT), maximum: hard }).unwrap();
    for private_descriptors in [false, true] {
        let quotas = Quotas { relays: 0, ..Quotas::default() };
        let calls = start(CallsConfig { private_descriptors, quotas, ..config() });
        let server = calls.udp_addrs()[0];
        let mut held = Vec::new();
        for number in 1..=CLIENTS {
            // A relay may have got the last one.
            if UdpSocket::bind((LOOPBACK, 0)).is_err() {
                break;
            }
            let (mut line, mut caller) = (Datagrams::to(server), caller(number));
            match ask(&mut line, &mut caller, |caller| caller.allocate(false)) {
                Heard::Success { relayed: Some(relayed), .. } => held.push((line, caller, relayed)),
                received => assert_eq!(received, Heard::Refused(508), "no socket: the client gets an error"),
            }
        }
        if !private_descriptors {
            assert!((held.len() as u64) < CLIENTS, "one table has no room for all");
            calls.stop(Duration::ZERO);
            continue;
        }
        assert_eq!(held.len() as u64, CLIENTS);
        let (last, first) = (held.pop().unwrap(), held.swap_remove(0));
        meet(first, last);
        calls.stop(Duration::ZERO);
    }
}

/// They hear each other through their relays.
fn meet(one: (Datagrams, Caller, SocketAddr), other: (Datagrams, Caller, SocketAddr)) {
    let ((mut a, mut anna, of_a), (mut b, mut bob, of_b)) = (one, other);
    succeed(&mut a, &mut anna, |caller| caller.bind(0x4001, of_b));
    succeed(&mut b, &mut bob, |caller| caller.bind(0x4002, of_a));
    a.send(&channel_data(0x4001, b"from the first"));
    assert_eq!(b.receive(), channel_data(0x4002, b"from the first"));
    b.send(&channel_data(0x4002, b"from the last"));
    assert_eq!(a.receive(), channel_data(0x4001, b"from the last"));
}

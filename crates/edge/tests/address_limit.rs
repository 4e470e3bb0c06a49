//! Connections per address, over real sockets.
#![allow(clippy::unwrap_used)] // a test may panic

use crate::echo;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use echo::Echo;
use edge::{AddressLimit, Edge, EdgeConfig, Listener, mailboxes};

fn start(limit: AddressLimit) -> Edge {
    let config = EdgeConfig {
        listeners: vec![Listener::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))],
        per_address: Some(limit),
        ..EdgeConfig::default()
    };
    let (_mailboxes, inboxes) = mailboxes(2);
    Edge::start(config, inboxes, move |_| Echo::new(channel().0)).unwrap()
}

fn is_served(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut received = [0; 6];
    stream.write_all(b"hello\n").is_ok() && stream.read_exact(&mut received).is_ok()
}

#[test]
fn an_address_has_one_limit_over_all_workers() {
    let server = start(AddressLimit::new(3, |_| false));
    let addr = server.local_addrs()[0];
    let mut held: Vec<TcpStream> = (0..3)
        .map(|_| {
            let mut stream = TcpStream::connect(addr).unwrap();
            assert!(is_served(&mut stream));
            stream
        })
        .collect();
    assert!(!is_served(&mut TcpStream::connect(addr).unwrap()), "the fourth is closed at once");
    assert_eq!(server.counters().totals().over_address_limit, 1);
    assert_eq!(server.counters().last_over_address_limit(), Some(Ipv4Addr::LOCALHOST.into()));
    held.pop();
    let begin = Instant::now();
    while !is_served(&mut TcpStream::connect(addr).unwrap()) {
        assert!(begin.elapsed() < Duration::from_secs(20), "the place of a closed connection is free again");
    }
}

#[test]
fn an_exempt_address_has_no_limit() {
    let server = start(AddressLimit::new(1, |address| address.is_loopback()));
    let mut streams: Vec<TcpStream> =
        (0..5).map(|_| TcpStream::connect(server.local_addrs()[0]).unwrap()).collect();
    assert!(streams.iter_mut().all(is_served));
    assert_eq!(server.counters().totals().over_address_limit, 0);
}

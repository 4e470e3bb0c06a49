//! Many short connections of all kinds: no state is left, and every end is counted once.

#![allow(clippy::unwrap_used)] // a test may panic

use crate::echo;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use echo::{Echo, Mail, Seen};
use edge::{Closed, Edge, EdgeConfig, Listener, mailboxes};

const PEERS: usize = 8;
const EACH: usize = 250;
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn nothing_stays_behind() {
    let config = EdgeConfig {
        listeners: vec![Listener::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))],
        accepts_per_turn: 3,
        linger: Duration::from_millis(300),
        first_byte_timeout: Duration::from_millis(500),
        ..EdgeConfig::default()
    };
    let (mailboxes, inboxes) = mailboxes(2);
    let (sender, seen) = channel();
    let edge = Edge::start(config, inboxes, move |_| Echo::new(sender.clone())).unwrap();
    let addr = edge.local_addrs()[0];
    thread::scope(|scope| {
        for peer in 0..PEERS {
            scope.spawn(move || (0..EACH).for_each(|n| visit(addr, peer + n)));
        }
        for number in 0..1000 {
            mailboxes.send(number as usize % 2, Mail::Number(number));
        }
    });
    let deadline = Instant::now() + PATIENCE;
    // A silent peer may be gone before it is accepted.
    let all = (PEERS * EACH) as u64;
    let totals = loop {
        let totals = edge.counters().totals();
        if totals.accepted == all && totals.open == 0 {
            break totals;
        }
        assert!(Instant::now() < deadline, "{totals:?}");
        thread::yield_now();
    };
    let closed: u64 =
        totals.each().filter(|(name, _)| name.starts_with("closed_")).map(|(_, count)| count).sum();
    assert_eq!(closed, totals.accepted, "{totals:?}");
    edge.stop(Duration::ZERO);

    let (mut accepted, mut ended, mut told) = (0, 0, 0);
    for seen in seen {
        match seen {
            Seen::Accepted(..) => accepted += 1,
            Seen::Closed(_, why) => {
                assert_ne!(why, Closed::Stopping);
                ended += 1;
            }
            Seen::Told(..) => told += 1,
            Seen::Ended(_) => {}
            Seen::Lost(recipients) => panic!("no mail panics here: {recipients:?}"),
        }
    }
    assert_eq!(accepted, ended);
    assert_eq!(told, 1000);
    // Connections without a byte are not accepted.
    assert!(accepted <= totals.accepted && accepted >= totals.accepted / 2);
}

/// Errors are expected: the other side may be faster.
fn visit(addr: SocketAddr, manner: usize) {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut buffer = [0; 4096];
    let _ = match manner % 7 {
        // Reads its answer.
        0 => stream.write(b"hello\n").and_then(|_| stream.read(&mut buffer)),
        // Sends nothing and closes.
        1 => Ok(0),
        // Half-closes and reads to the end.
        2 => stream
            .write(b"bye\n")
            .and_then(|_| stream.shutdown(Shutdown::Write))
            .and_then(|()| stream.read_to_end(&mut Vec::new())),
        // Closes with unread echo in flight, which resets the connection.
        3 => stream.write(b"unread\nunread\n"),
        // Continues to send after the server has closed.
        4 => stream.write(b"close\nmore\n").and_then(|_| stream.write(b"and more\n")),
        // Is aborted by the server.
        5 => stream.write(b"abort\n").and_then(|_| stream.read(&mut buffer)),
        // Requests a long answer and closes while it arrives.
        _ => stream.write(b"big\nbig\n").and_then(|_| stream.read(&mut buffer)),
    };
}

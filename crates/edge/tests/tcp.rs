//! Real sockets over loopback.

#![allow(clippy::unwrap_used)] // a test may panic

use crate::echo;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use echo::{Echo, Mail, Seen};
use edge::{Closed, Edge, EdgeConfig, Handle, Listener, Mailboxes, mailboxes};

const PATIENCE: Duration = Duration::from_secs(20);

struct Server {
    edge: Edge,
    mailboxes: Mailboxes<Mail>,
    seen: Receiver<Seen>,
}

fn server(workers: usize, change: impl FnOnce(&mut EdgeConfig)) -> Server {
    let mut config = EdgeConfig {
        listeners: vec![Listener::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))],
        ..EdgeConfig::default()
    };
    change(&mut config);
    let (mailboxes, inboxes) = mailboxes(workers);
    let (sender, seen) = channel();
    let edge = Edge::start(config, inboxes, move |_| Echo::new(sender.clone())).unwrap();
    Server { edge, mailboxes, seen }
}

impl Server {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.edge.local_addrs()[0]).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn next(&self) -> Seen {
        self.seen.recv_timeout(PATIENCE).unwrap()
    }

    fn accepted(&self) -> Handle {
        match self.next() {
            Seen::Accepted(handle, _) => handle,
            other => panic!("expected a connection, saw {other:?}"),
        }
    }
}

fn say(stream: &mut TcpStream, line: &str) {
    stream.write_all(line.as_bytes()).unwrap();
}

fn hear(stream: &mut TcpStream, expected: &str) {
    let mut received = vec![0; expected.len()];
    stream.read_exact(&mut received).unwrap();
    assert_eq!(String::from_utf8_lossy(&received), expected);
}

#[test]
fn echoes_and_closes() {
    let server = server(2, |_| ());
    let mut stream = server.connect();
    say(&mut stream, "hel");
    say(&mut stream, "lo\nclose\nnot heard\n");
    hear(&mut stream, "hello\n");
    assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
    let handle = server.accepted();
    assert_eq!(server.next(), Seen::Closed(handle, Closed::ByUs { flushed: true }));
    server.edge.stop(PATIENCE);
}

#[test]
fn the_end_of_the_peer_follows_its_last_bytes() {
    let server = server(1, |_| ());
    let mut stream = server.connect();
    say(&mut stream, "last words\n");
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    hear(&mut stream, "last words\n");
    let handle = server.accepted();
    assert_eq!(server.next(), Seen::Ended(handle));
    assert_eq!(server.next(), Seen::Closed(handle, Closed::ByPeer));
}

#[test]
fn mail_reaches_connections_and_old_handles_reach_none() {
    let server = server(2, |_| ());
    let mut stream = server.connect();
    say(&mut stream, "here\n");
    hear(&mut stream, "here\n");
    let handle = server.accepted();
    server.mailboxes.send(handle.worker(), Mail::Send(handle, b"mail\n".to_vec()));
    hear(&mut stream, "mail\n");
    say(&mut stream, "abort\n");
    assert_eq!(server.next(), Seen::Closed(handle, Closed::ByUs { flushed: false }));
    // An equal slot, if the kernel gives the connection to this worker again; another generation in any case.
    let mut other = server.connect();
    say(&mut other, "new\n");
    hear(&mut other, "new\n");
    server.mailboxes.send(handle.worker(), Mail::Send(handle, b"wrong\n".to_vec()));
    server.mailboxes.send(handle.worker(), Mail::Number(7));
    let handle = server.accepted();
    assert!(matches!(server.next(), Seen::Told(_, 7)));
    server.mailboxes.send(handle.worker(), Mail::Send(handle, b"right\n".to_vec()));
    hear(&mut other, "right\n");
}

#[test]
fn a_panic_costs_its_own_connection() {
    let server = server(1, |_| ());
    let mut good = server.connect();
    let mut bad = server.connect();
    say(&mut good, "one\n");
    hear(&mut good, "one\n");
    let _ = server.accepted();
    say(&mut bad, "panic\n");
    let handle = server.accepted();
    assert_eq!(server.next(), Seen::Closed(handle, Closed::Panicked));
    say(&mut good, "two\n");
    hear(&mut good, "two\n");
    assert_eq!(server.edge.counters().totals().panics, 1);
}

#[test]
fn stop_flushes_pending_output() {
    let server = server(1, |config| config.output_limit = 100_000_000);
    let mut stream = server.connect();
    for _ in 0..20 {
        say(&mut stream, "big\n");
    }
    let _ = server.accepted();
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        stream.read_to_end(&mut all).map(|_| all.iter().filter(|byte| **byte == b'.').count())
    });
    // The peer reads late: when the stop begins, most is still pending.
    while server.edge.counters().totals().bytes_in < 80 {
        std::thread::yield_now();
    }
    server.edge.stop(PATIENCE);
    assert_eq!(reader.join().unwrap().unwrap(), 20 * 300_000);
}

/// Closing a socket with unread input resets it, and the reset overtakes earlier output: the peer would not receive the
/// reason of its refusal.
#[test]
fn final_output_arrives_although_the_peer_keeps_sending() {
    let server = server(1, |_| ());
    for _ in 0..20 {
        let mut stream = server.connect();
        say(&mut stream, "refused\nclose\n");
        stream.write_all(&vec![b'x'; 3_000_000]).or_else(is_reset).unwrap();
        hear(&mut stream, "refused\n");
    }
}

fn is_reset(error: std::io::Error) -> std::io::Result<()> {
    // The server may have closed it after the linger time.
    if matches!(error.kind(), std::io::ErrorKind::ConnectionReset | std::io::ErrorKind::BrokenPipe) {
        Ok(())
    } else {
        Err(error)
    }
}

#[test]
fn stop_does_not_wait_for_peers_that_do_not_read() {
    let server = server(1, |config| config.output_limit = 100_000_000);
    let mut stream = server.connect();
    for _ in 0..50 {
        say(&mut stream, "big\n");
    }
    let handle = server.accepted();
    server.edge.stop(Duration::from_millis(300));
    assert_eq!(server.seen.recv().unwrap(), Seen::Closed(handle, Closed::Stopping));
}

#[test]
fn a_worker_that_stops_accepting_keeps_its_connections() {
    let server = server(2, |_| ());
    let mut stream = server.connect();
    say(&mut stream, "one\n");
    hear(&mut stream, "one\n");
    server.edge.stop_accepting();
    // Refused, once both workers know it.
    while TcpStream::connect(server.edge.local_addrs()[0]).is_ok() {
        std::thread::yield_now();
    }
    say(&mut stream, "two\n");
    hear(&mut stream, "two\n");
    assert!(server.edge.all_workers_run());
}

#[test]
fn a_second_server_on_the_same_port_is_refused() {
    let first = server(1, |_| ());
    let (_, inboxes) = mailboxes::<Mail>(1);
    let (sender, _seen) = channel();
    let config =
        EdgeConfig { listeners: vec![Listener::plain(first.edge.local_addrs()[0])], ..EdgeConfig::default() };
    let second = Edge::start(config, inboxes, move |_| Echo::new(sender.clone()));
    assert_eq!(second.err().map(|error| error.kind()), Some(std::io::ErrorKind::AddrInUse));
}

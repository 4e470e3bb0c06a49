//! More connections than the process may have descriptors. Alone in its process, because it lowers the limit.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // a test may panic

mod echo;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use echo::{Echo, Mail};
use edge::{
    Accepted, Closed, Connect, Conns, Edge, EdgeConfig, Handle, Io, Listener, Now, Protocol, mailboxes,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const LIMIT: u64 = 128;
const PATIENCE: Duration = Duration::from_secs(20);

/// Makes connections, sends something on each, and keeps them.
struct Callers {
    received: Sender<Result<(), Closed>>,
}

impl Protocol for Callers {
    type Conn = ();
    type Mail = SocketAddr;

    fn accept(&mut self, _: Accepted, _: &mut Io<'_>) {}

    fn connected(&mut self, _: &mut (), io: &mut Io<'_>) {
        io.send(b"hello\n");
    }

    fn input(&mut self, _: &mut (), input: &mut [u8], _: &mut Io<'_>) -> usize {
        if input != b"hello\n" {
            return 0;
        }
        self.received.send(Ok(())).unwrap();
        input.len()
    }

    fn eof(&mut self, _: &mut (), io: &mut Io<'_>) {
        io.close();
    }

    fn timer(&mut self, _: &mut (), _: &mut Io<'_>) {}

    fn drained(&mut self, _: &mut (), _: &mut Io<'_>) {}

    fn closed(&mut self, _: (), _: Handle, why: Closed, _: Now) {
        let _ = self.received.send(Err(why));
    }

    fn mail(&mut self, to: SocketAddr, conns: &mut Conns<'_, ()>) {
        conns.connect(Connect { to, from: None, tls: None }, ()).unwrap();
    }

    fn tick(&mut self, _: &mut Conns<'_, ()>) {}
}

#[test]
fn each_worker_has_the_limit_for_itself() {
    let hard = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(LIMIT), maximum: hard }).unwrap();

    let config = EdgeConfig {
        listeners: vec![Listener::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))],
        private_descriptor_tables: true,
        ..EdgeConfig::default()
    };
    let (server_mail, inboxes) = mailboxes::<Mail>(2);
    let (seen, _seen) = channel();
    let server = Edge::start(config, inboxes, move |_| Echo::new(seen.clone())).unwrap();

    let (mailboxes, inboxes) = mailboxes(2);
    let (received, results) = channel();
    let config = EdgeConfig { private_descriptor_tables: true, ..EdgeConfig::default() };
    let callers = Edge::start(config, inboxes, move |_| Callers { received: received.clone() }).unwrap();

    // 80 of each caller; the kernel spreads them over the server's workers, 80 ± 6 each, and a table has room for more
    // than 110. Together they are 320 sockets in a process that may have 128 files.
    let connections = 160;
    for n in 0..connections {
        mailboxes.send(n % 2, server.local_addrs()[0]);
    }
    for _ in 0..connections {
        assert_eq!(results.recv_timeout(PATIENCE).unwrap(), Ok(()));
    }
    assert_eq!(server.counters().totals().open, connections as u64);
    assert_eq!(callers.counters().totals().open, connections as u64);
    assert!(connections as u64 > LIMIT);

    // Wake-ups pass from table to table and from the table of the process.
    drop(server_mail);
    server.stop(PATIENCE);
    for _ in 0..connections {
        assert_eq!(results.recv_timeout(PATIENCE).unwrap(), Err(Closed::ByPeer));
    }
    callers.stop(PATIENCE);
}

//! Connections that move to another process: here, to another edge, over the same sockets.

use crate::echo;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use echo::{Echo, Mail, Seen};
use edge::tls::{self, Acceptor, Memory};
use edge::{
    Closed, Edge, EdgeConfig, Gateway, Handle, Listener, Mailboxes, Predecessor, Successor, mailboxes,
};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use rustls_pki_types::{PrivateKeyDer, ServerName};

const PATIENCE: Duration = Duration::from_secs(20);

struct Server {
    edge: Edge,
    mailboxes: Mailboxes<Mail>,
    seen: Receiver<Seen>,
}

/// Where the workers of the second edge listen. Removed when dropped.
struct Meeting(PathBuf);

impl Meeting {
    fn new() -> Meeting {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("kith-edge-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Meeting(path)
    }

    fn predecessor(&self, workers: usize) -> Predecessor {
        let deadline = Instant::now() + PATIENCE;
        Predecessor { directory: self.0.clone(), workers, deadline, is_gone: Arc::default() }
    }

    fn successor(&self) -> Successor {
        Successor { directory: self.0.clone(), deadline: Instant::now() + PATIENCE, is_gone: Arc::default() }
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn listener(acceptor: Option<&Acceptor>) -> Listener {
    let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    acceptor.map_or_else(|| Listener::plain(addr), |acceptor| Listener::both(addr, acceptor.clone()))
}

fn start(workers: usize, from: Option<&Predecessor>, listeners: Vec<Listener>) -> Server {
    let config = EdgeConfig { listeners, socket_buffer: Some(16 << 10), ..EdgeConfig::default() };
    let (mailboxes, inboxes) = mailboxes(workers);
    let (sender, seen) = channel();
    let gateway = Gateway::new(config, inboxes, move |_| Echo::new(sender.clone()));
    let edge = match from {
        Some(from) => Edge::succeed(from, vec![gateway]).unwrap(),
        None => Edge::start_all(vec![gateway]).unwrap(),
    };
    Server { edge, mailboxes, seen }
}

impl Server {
    fn connect(&self) -> (TcpStream, Handle) {
        let mut stream = TcpStream::connect(self.edge.local_addrs()[0]).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        say(&mut stream, "hello\n");
        hear(&mut stream, "hello\n");
        (stream, self.accepted())
    }

    fn accepted(&self) -> Handle {
        match self.seen.recv_timeout(PATIENCE).unwrap() {
            Seen::Accepted(handle, _) => handle,
            other => panic!("expected a connection, saw {other:?}"),
        }
    }

    /// All of it to a new edge with so many workers. `while_frozen` is called when this one has stopped to read.
    fn hand_over(self, workers: usize, acceptor: Option<&Acceptor>, while_frozen: impl FnOnce()) -> Server {
        let meeting = Meeting::new();
        let mut listener = listener(acceptor);
        listener.join(self.edge.local_addrs()[0]);
        let from = meeting.predecessor(self.mailboxes.workers());
        let new = std::thread::spawn(move || start(workers, Some(&from), vec![listener]));
        self.edge.freeze(true);
        while_frozen();
        self.edge.settle();
        self.edge.send(&meeting.successor()).unwrap();
        let new = new.join().unwrap();
        self.edge.leave(Duration::ZERO);
        new.edge.begin();
        new
    }
}

fn say(stream: &mut impl Write, line: &str) {
    stream.write_all(line.as_bytes()).unwrap();
    stream.flush().unwrap();
}

fn hear(stream: &mut impl Read, expected: &str) {
    let mut received = vec![0; expected.len()];
    stream.read_exact(&mut received).unwrap();
    assert_eq!(String::from_utf8_lossy(&received), expected);
}

#[test]
fn connections_go_on_in_another_edge_under_the_same_handles() {
    let old = start(2, None, vec![listener(None)]);
    let mut clients: Vec<(TcpStream, Handle)> = (0..300).map(|_| old.connect()).collect();
    // Gone before: its slot is empty in the other edge, too.
    say(&mut clients[7].0, "abort\n");
    let gone = clients.remove(7);
    assert_eq!(old.seen.recv_timeout(PATIENCE), Ok(Seen::Closed(gone.1, Closed::ByUs { flushed: false })));
    for (number, (stream, _)) in clients.iter_mut().enumerate() {
        say(stream, &format!("{number} begins"));
    }
    let new = old.hand_over(3, None, || ());
    assert_eq!(new.edge.imported().len(), clients.len());
    for (number, (stream, handle)) in clients.iter_mut().enumerate() {
        say(stream, " and ends\n");
        hear(stream, &format!("{number} begins and ends\n"));
        assert!(new.edge.imported().contains(handle));
        new.mailboxes.send(handle.worker(), Mail::Send(*handle, b"mail\n".to_vec()));
        hear(stream, "mail\n");
    }
    let (_newcomer, handle) = new.connect();
    assert!(clients.iter().all(|(_, other)| *other != handle) && handle != gone.1, "a name of its own");
    assert_eq!(new.edge.counters().totals().taken_over, 299);
}

#[test]
fn bytes_during_the_move_are_neither_lost_nor_doubled() {
    let old = start(1, None, vec![listener(None)]);
    let (mut stream, handle) = old.connect();
    // More output than the sockets take, with the end of a send in the middle.
    let sent: String = (0..30_000).map(|number| format!("line {number} of a long answer\n")).collect();
    let (first, second) = sent.as_bytes().split_at(400_000);
    for part in [first, second] {
        old.mailboxes.send(0, Mail::Send(handle, part.to_vec()));
    }
    let mut early = stream.try_clone().unwrap();
    let new = old.hand_over(1, None, move || say(&mut early, "said meanwhile\n"));
    let mut received = vec![0; sent.len()];
    stream.read_exact(&mut received).unwrap();
    assert!(received == sent.as_bytes(), "the output is the same");
    // It was over the soft limit, which the protocol hears of.
    let mut rest = [0; 23];
    stream.read_exact(&mut rest).unwrap();
    let rest = String::from_utf8_lossy(&rest);
    assert!(rest.contains("said meanwhile\n") && rest.contains("drained\n"), "{rest}");
    drop(new);
}

#[test]
fn a_timer_and_a_pause_move() {
    let old = start(1, None, vec![listener(None)]);
    let (mut stream, _) = old.connect();
    // The protocol reads on when the timer fires.
    say(&mut stream, "pause\nafter the pause\n");
    let _new = old.hand_over(1, None, || ());
    hear(&mut stream, "timer fired\nafter the pause\n");
}

#[test]
fn silent_connections_and_those_in_the_queue_of_a_listener_are_accepted_later() {
    let old = start(1, None, vec![listener(None)]);
    let addr = old.edge.local_addrs()[0];
    let connect = || TcpStream::connect(addr).unwrap();
    let mut silent = connect();
    silent.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut queued = None;
    let new = old.hand_over(1, None, || queued = Some(connect()));
    let mut queued = queued.unwrap();
    queued.set_read_timeout(Some(PATIENCE)).unwrap();
    for stream in [&mut silent, &mut queued] {
        say(stream, "now\n");
        hear(stream, "now\n");
        new.accepted();
    }
}

#[test]
fn a_successor_that_ends_early_changes_nothing() {
    let old = start(2, None, vec![listener(None)]);
    let mut clients: Vec<(TcpStream, Handle)> = (0..50).map(|_| old.connect()).collect();
    let meeting = Meeting::new();
    for round in ["before its workers started", "with all connections"] {
        let mut listener = listener(None);
        listener.join(old.edge.local_addrs()[0]);
        old.edge.freeze(true);
        clients.iter_mut().for_each(|(stream, _)| say(stream, round));
        if round.starts_with("before") {
            let gone = Successor { is_gone: Arc::new(AtomicBool::new(true)), ..meeting.successor() };
            old.edge.send(&gone).unwrap_err();
        } else {
            let from = meeting.predecessor(2);
            let new = std::thread::spawn(move || start(2, Some(&from), vec![listener]));
            old.edge.send(&meeting.successor()).unwrap();
            drop(new.join().unwrap());
        }
        old.edge.stay();
        for (stream, handle) in &mut clients {
            say(stream, ", all went on\n");
            hear(stream, &format!("{round}, all went on\n"));
            old.mailboxes.send(handle.worker(), Mail::Send(*handle, b"mail\n".to_vec()));
            hear(stream, "mail\n");
        }
    }
    let (mut stream, _) = old.connect();
    say(&mut stream, "still accepted\n");
    hear(&mut stream, "still accepted\n");
}

#[test]
fn what_has_come_is_served_if_the_old_edge_ends_in_the_middle() {
    let meeting = Meeting::new();
    let from = Predecessor { is_gone: Arc::new(AtomicBool::new(true)), ..meeting.predecessor(2) };
    let new = start(2, Some(&from), vec![listener(None)]);
    new.edge.begin();
    assert!(new.edge.imported().is_empty());
    new.connect();
}

#[test]
fn fewer_workers_than_before_are_refused() {
    let meeting = Meeting::new();
    let (_, inboxes) = mailboxes::<Mail>(1);
    let (sender, _seen) = channel();
    let gateway = Gateway::new(EdgeConfig::default(), inboxes, move |_| Echo::new(sender.clone()));
    let refused = Edge::succeed(&meeting.predecessor(2), vec![gateway]).err().map(|error| error.kind());
    assert_eq!(refused, Some(std::io::ErrorKind::InvalidInput));
}

#[test]
fn tls_connections_go_on_in_mid_record() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = tls::server_config(vec![made.cert.der().clone()], key).unwrap();
    let acceptor = Acceptor::new(tls::with_channel_bindings(&Memory::Low.of_server(&config)));
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider).with_protocol_versions(&[version]).unwrap();
        let mut config = config.with_root_certificates(roots.clone()).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let old = start(1, None, vec![listener(Some(&acceptor))]);
        let socket = TcpStream::connect(old.edge.local_addrs()[0]).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), socket);
        say(&mut stream, "hello\n");
        hear(&mut stream, "hello\n");
        old.accepted();
        // Half of a record.
        let mut record = Vec::new();
        stream.conn.writer().write_all(b"in two halves\n").unwrap();
        stream.conn.write_tls(&mut record).unwrap();
        let (first, second) = record.split_at(record.len() / 2);
        stream.sock.write_all(first).unwrap();
        let mut server = old;
        for second in [Some(second), None, None] {
            server = server.hand_over(1, Some(&acceptor), || ());
            second.into_iter().for_each(|second| stream.sock.write_all(second).unwrap());
            if second.is_some() {
                hear(&mut stream, "in two halves\n");
            }
            say(&mut stream, "and again\n");
            hear(&mut stream, "and again\n");
        }
    }
}

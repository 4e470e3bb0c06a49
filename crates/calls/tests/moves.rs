//! A TURN server moves to another one with its listeners, connections and relays: its clients and their peers notice nothing.

#![allow(clippy::unwrap_used)] // a test may panic

mod line;

use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use calls::client::{Caller, channel_data};
use calls::{Calls, CallsConfig};
use edge::{Listener, Predecessor, Successor};
use line::{Datagrams, LOOPBACK, Line, allocate, caller, config, start, succeed, tcp};

const WORKERS: usize = 2;
const TIME: Duration = Duration::from_secs(20);

/// For the sockets of a successor's workers.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("kith-calls-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A client with a relay, and the peer of its channel.
struct Pair {
    line: Box<dyn Line>,
    caller: Caller,
    peer: UdpSocket,
    relayed: SocketAddr,
}

impl Pair {
    fn over(mut line: impl Line + 'static, number: u64) -> Pair {
        let mut caller = caller(number);
        let relayed = allocate(&mut line, &mut caller);
        let peer = UdpSocket::bind((LOOPBACK, 0)).unwrap();
        peer.set_read_timeout(Some(TIME)).unwrap();
        let address = peer.local_addr().unwrap();
        succeed(&mut line, &mut caller, |caller| caller.bind(0x4000, address));
        Pair { line: Box::new(line), caller, peer, relayed }
    }

    fn say(&mut self, data: &[u8]) {
        self.line.send(&channel_data(0x4000, data));
    }

    fn answer(&self, data: &[u8]) {
        self.peer.send_to(data, self.relayed).unwrap();
    }

    /// The peer and the client receive these data next.
    fn hear(&mut self, of_client: &[u8], of_peer: &[u8]) {
        let mut buffer = [0; 2_048];
        let (length, from) = self.peer.recv_from(&mut buffer).expect("data of the client");
        assert_eq!((from, &buffer[..length]), (self.relayed, of_client));
        assert_eq!(self.line.receive(), channel_data(0x4000, of_peer));
    }
}

/// Settings with the addresses of a running server.
fn at(calls: &Calls) -> CallsConfig {
    let mut listener = Listener::plain(calls.stream_addrs()[0]);
    listener.join(calls.stream_addrs()[0]);
    CallsConfig { udp: calls.udp_addrs().to_vec(), streams: vec![listener], shares_ports: true, ..config() }
}

/// Starts a successor on `workers` workers, which receives what `old` sends. It has not begun.
fn succeed_to(old: &Calls, directory: &Path, workers: usize) -> Calls {
    let deadline = Instant::now() + TIME;
    let is_gone = Arc::new(AtomicBool::new(false));
    let predecessor = Predecessor {
        directory: directory.into(),
        workers: WORKERS,
        deadline,
        is_gone: Arc::clone(&is_gone),
    };
    let settings = at(old);
    std::thread::scope(|scope| {
        let new = scope.spawn(|| calls::start(settings, workers, Some(&predecessor)).unwrap());
        old.send(&Successor { directory: directory.into(), deadline, is_gone }).unwrap();
        new.join().unwrap()
    })
}

#[test]
fn relays_over_datagrams_and_connections_go_on_and_nothing_is_lost() {
    let old = start(config());
    let (datagrams, streams) = (old.udp_addrs()[0], old.stream_addrs()[0]);
    // So many that every worker has some.
    let mut pairs: Vec<Pair> = (1..=8).map(|number| Pair::over(Datagrams::to(datagrams), number)).collect();
    pairs.extend((9..=12).map(|number| Pair::over(tcp(streams), number)));
    for pair in &mut pairs {
        pair.say(b"before");
        pair.answer(b"and back");
        pair.hear(b"before", b"and back");
    }
    let folder = Folder::new();
    let new = succeed_to(&old, &folder.0, WORKERS);
    // Both stand still, so these wait in the sockets.
    for pair in &mut pairs {
        pair.say(b"meanwhile");
        pair.answer(b"meanwhile, back");
    }
    new.begin();
    old.leave();
    for (number, pair) in pairs.iter_mut().enumerate() {
        pair.hear(b"meanwhile", b"meanwhile, back");
        for round in 0..20 {
            let (data, back) = ([number as u8; 300], [round; 7]);
            pair.say(&data);
            pair.answer(&back);
            pair.hear(&data, &back);
        }
        // With a nonce of the old server: the client is asked for a new one, and the same relay is extended.
        let Pair { line, caller, .. } = pair;
        succeed(&mut **line, caller, |caller| caller.refresh(600));
    }
    assert_eq!(new.sites().each()[0].open(), 12);
    // New clients are served at the same addresses, and an end closes the relay.
    Pair::over(Datagrams::to(datagrams), 13);
    Pair::over(tcp(streams), 14);
    for Pair { line, caller, .. } in &mut pairs {
        succeed(&mut **line, caller, |caller| caller.refresh(0));
    }
    new.stop(Duration::ZERO);
}

#[test]
fn if_the_successor_fails_the_old_server_goes_on() {
    let old = start(config());
    let mut pairs =
        [Pair::over(Datagrams::to(old.udp_addrs()[0]), 1), Pair::over(tcp(old.stream_addrs()[0]), 2)];
    let folder = Folder::new();
    let new = succeed_to(&old, &folder.0, WORKERS);
    for pair in &mut pairs {
        pair.say(b"meanwhile");
        pair.answer(b"and back");
    }
    drop(new);
    old.stay();
    for pair in &mut pairs {
        pair.hear(b"meanwhile", b"and back");
    }
    old.stop(Duration::ZERO);
}

#[test]
fn a_successor_of_a_server_that_has_ended_before_listens_itself_and_more_workers_do_not_disturb() {
    let old = start(config());
    let settings = at(&old);
    let address = old.udp_addrs()[0];
    old.stop(Duration::ZERO);
    let folder = Folder::new();
    let is_gone = Arc::new(AtomicBool::new(false));
    is_gone.store(true, Ordering::Relaxed);
    let predecessor = Predecessor {
        directory: folder.0.clone(),
        workers: WORKERS,
        deadline: Instant::now() + TIME,
        is_gone,
    };
    let new = calls::start(settings, WORKERS, Some(&predecessor)).unwrap();
    new.begin();
    let mut pairs: Vec<Pair> = (1..=4).map(|number| Pair::over(Datagrams::to(address), number)).collect();
    let folder = Folder::new();
    let newest = succeed_to(&new, &folder.0, 2 * WORKERS);
    newest.begin();
    new.leave();
    for pair in &mut pairs {
        pair.say(b"after");
        pair.answer(b"and back");
        pair.hear(b"after", b"and back");
    }
    newest.stop(Duration::ZERO);
}

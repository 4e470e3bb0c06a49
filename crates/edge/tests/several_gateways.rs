//! Two gateways on the same worker: one echoes lines, the other returns them in capitals.

#![allow(clippy::unwrap_used)] // a test may panic

use crate::echo;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use echo::{Echo, Mail, Seen};
use edge::tls::{self, Acceptor};
use edge::{
    Accepted, Closed, Conns, Edge, EdgeConfig, Gateway, Handle, Io, Listener, Mailboxes, Now, Protocol,
    mailboxes,
};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};

const PATIENCE: Duration = Duration::from_secs(20);
const ECHO: usize = 0;
const CAPITALS: usize = 1;
const PLAIN: usize = 0;
const TLS: usize = 1;

/// Returns capitals, for lines and datagrams. Its state and mail have other types than the echo's.
struct Capitals {
    seen: Sender<SeenByCapitals>,
    socket: UdpSocket,
    is_watched: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum SeenByCapitals {
    Accepted(Handle, Accept, ThreadId),
    Closed(Handle, Closed),
    Told(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Accept {
    listener: usize,
    tls: bool,
}

enum ToCapitals {
    Tell(String),
    Send(Handle, &'static str),
    Panic,
}

impl Protocol for Capitals {
    type Conn = u8;
    type Mail = ToCapitals;

    fn accept(&mut self, accepted: Accepted, io: &mut Io<'_>) -> u8 {
        let accept = Accept { listener: accepted.listener, tls: accepted.tls };
        let _ = self.seen.send(SeenByCapitals::Accepted(io.handle(), accept, thread::current().id()));
        0
    }

    fn input(&mut self, _: &mut u8, input: &mut [u8], io: &mut Io<'_>) -> usize {
        assert_ne!(input, b"panic\n", "asked to");
        if input == b"back\n" {
            assert!(io.hand_over(ECHO));
            return input.len();
        }
        io.send(&input.to_ascii_uppercase());
        input.len()
    }

    fn eof(&mut self, _: &mut u8, io: &mut Io<'_>) {
        io.close();
    }

    fn timer(&mut self, _: &mut u8, _: &mut Io<'_>) {}

    fn drained(&mut self, _: &mut u8, _: &mut Io<'_>) {}

    fn closed(&mut self, _: u8, handle: Handle, why: Closed, _: Now) {
        let _ = self.seen.send(SeenByCapitals::Closed(handle, why));
    }

    fn mail(&mut self, mail: ToCapitals, conns: &mut Conns<'_, u8>) {
        match mail {
            ToCapitals::Panic => panic!("asked to"),
            ToCapitals::Tell(text) => {
                let _ = self.seen.send(SeenByCapitals::Told(text));
            }
            ToCapitals::Send(to, text) => {
                if let Some((_, mut io)) = conns.get(to) {
                    io.send(text.as_bytes());
                }
            }
        }
    }

    fn readable(&mut self, _: u32, conns: &mut Conns<'_, u8>) {
        let mut buffer = [0; 64];
        if let Ok((length, from)) = self.socket.recv_from(&mut buffer) {
            self.socket.send_to(&buffer[..length].to_ascii_uppercase(), from).unwrap();
            conns.look_again(0);
        }
    }

    fn turn_ends(&mut self, conns: &mut Conns<'_, u8>) {
        if !std::mem::replace(&mut self.is_watched, true) {
            conns.watch(&self.socket, 0).unwrap();
        }
    }

    fn tick(&mut self, _: &mut Conns<'_, u8>) {}
}

struct Server {
    edge: Edge,
    echo: Mailboxes<Mail>,
    capitals: Mailboxes<ToCapitals>,
    seen_by_echo: Receiver<Seen>,
    seen_by_capitals: Receiver<SeenByCapitals>,
    datagrams: SocketAddr,
    roots: RootCertStore,
}

fn local() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

/// One worker; each gateway has a plain listener and one with TLS.
fn server(change_capitals: impl FnOnce(&mut EdgeConfig)) -> Server {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate: CertificateDer<'static> = made.cert.der().clone();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let acceptor = Acceptor::new(tls::server_config(vec![certificate.clone()], key).unwrap());
    let config = EdgeConfig {
        listeners: vec![Listener::plain(local()), Listener::tls(local(), acceptor)],
        ..EdgeConfig::default()
    };
    let mut config_of_capitals = config.clone();
    change_capitals(&mut config_of_capitals);
    let (echo, inboxes_of_echo) = mailboxes(1);
    let (capitals, inboxes_of_capitals) = mailboxes(1);
    let (tell_echo, seen_by_echo) = channel();
    let (tell_capitals, seen_by_capitals) = channel();
    let socket = UdpSocket::bind(local()).unwrap();
    socket.set_nonblocking(true).unwrap();
    let datagrams = socket.local_addr().unwrap();
    let edge = Edge::start_all(vec![
        Gateway::new(config, inboxes_of_echo, move |_| Echo::new(tell_echo.clone())),
        Gateway::new(config_of_capitals, inboxes_of_capitals, move |_| Capitals {
            seen: tell_capitals.clone(),
            socket: socket.try_clone().unwrap(),
            is_watched: false,
        }),
    ])
    .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    Server { edge, echo, capitals, seen_by_echo, seen_by_capitals, datagrams, roots }
}

impl Server {
    fn connect(&self, gateway: usize, listener: usize) -> TcpStream {
        let stream = TcpStream::connect(self.edge.gateway(gateway).local_addrs()[listener]).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn connect_tls(&self, gateway: usize) -> StreamOwned<ClientConnection, TcpStream> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(self.roots.clone())
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let client = ClientConnection::new(Arc::new(config), name).unwrap();
        StreamOwned::new(client, self.connect(gateway, TLS))
    }

    fn accepted_by_echo(&self) -> Handle {
        match self.seen_by_echo.recv_timeout(PATIENCE).unwrap() {
            Seen::Accepted(handle, _) => handle,
            other => panic!("expected a connection, saw {other:?}"),
        }
    }

    fn accepted_by_capitals(&self) -> (Handle, Accept, ThreadId) {
        match self.seen_by_capitals.recv_timeout(PATIENCE).unwrap() {
            SeenByCapitals::Accepted(handle, accept, thread) => (handle, accept, thread),
            other => panic!("expected a connection, saw {other:?}"),
        }
    }
}

fn exchange(stream: &mut (impl Read + Write), line: &str, expected: &str) {
    stream.write_all(line.as_bytes()).unwrap();
    hear(stream, expected);
}

fn hear(stream: &mut impl Read, expected: &str) {
    let mut received = vec![0; expected.len()];
    stream.read_exact(&mut received).unwrap();
    assert_eq!(String::from_utf8_lossy(&received), expected);
}

#[test]
fn each_listener_reaches_its_gateway_plain_and_with_tls() {
    let server = server(|_| ());
    let (mut echoed, mut shouted) = (server.connect(ECHO, PLAIN), server.connect(CAPITALS, PLAIN));
    let first = talk(&server, &mut echoed, &mut shouted, Accept { listener: PLAIN, tls: false });
    let (mut sealed, mut shouted_sealed) = (server.connect_tls(ECHO), server.connect_tls(CAPITALS));
    let second = talk(&server, &mut sealed, &mut shouted_sealed, Accept { listener: TLS, tls: true });
    assert_eq!(first, second, "one thread");
    let accepted = |gateway| server.edge.gateway(gateway).counters().totals().accepted;
    assert_eq!((accepted(ECHO), accepted(CAPITALS)), (2, 2), "each counts its own");
}

/// Input and mail for a connection of each gateway. Returns the thread of their worker.
fn talk(
    server: &Server,
    echoed: &mut (impl Read + Write),
    shouted: &mut (impl Read + Write),
    expected: Accept,
) -> ThreadId {
    exchange(echoed, "hello\n", "hello\n");
    exchange(shouted, "hello\n", "HELLO\n");
    let by_echo = server.accepted_by_echo();
    let (by_capitals, accept, thread) = server.accepted_by_capitals();
    assert_eq!(accept, expected, "the index is the gateway's own");
    assert_eq!((by_echo.gateway(), by_capitals.gateway()), (ECHO, CAPITALS));
    server.echo.send(0, Mail::Send(by_echo, b"mail\n".to_vec()));
    server.capitals.send(0, ToCapitals::Send(by_capitals, "mail"));
    hear(echoed, "mail\n");
    hear(shouted, "mail");
    thread
}

#[test]
fn a_gateway_does_not_reach_the_connections_of_another() {
    let server = server(|_| ());
    let (mut echoed, mut shouted) = (server.connect(ECHO, PLAIN), server.connect(CAPITALS, PLAIN));
    exchange(&mut echoed, "a\n", "a\n");
    exchange(&mut shouted, "a\n", "A\n");
    let by_echo = server.accepted_by_echo();
    let (by_capitals, ..) = server.accepted_by_capitals();
    assert_eq!((by_echo.slot(), by_echo.generation()), (by_capitals.slot(), by_capitals.generation()));
    assert_ne!(by_echo, by_capitals);
    server.capitals.send(0, ToCapitals::Send(by_echo, "not yours"));
    server.echo.send(0, Mail::Send(by_capitals, b"not yours\n".to_vec()));
    exchange(&mut echoed, "b\n", "b\n");
    exchange(&mut shouted, "b\n", "B\n");
}

#[test]
fn a_panic_of_one_gateway_leaves_the_other_alone() {
    let server = server(|_| ());
    let mut echoed = server.connect(ECHO, PLAIN);
    exchange(&mut echoed, "before\n", "before\n");
    let mut shouted = server.connect(CAPITALS, PLAIN);
    shouted.write_all(b"panic\n").unwrap();
    assert_eq!(shouted.read(&mut [0; 8]).unwrap_or(0), 0);
    let (handle, ..) = server.accepted_by_capitals();
    let closed = server.seen_by_capitals.recv_timeout(PATIENCE).unwrap();
    assert_eq!(closed, SeenByCapitals::Closed(handle, Closed::Panicked));
    let mut shouted = server.connect(CAPITALS, PLAIN);
    exchange(&mut shouted, "a", "A");
    let (of_another, ..) = server.accepted_by_capitals();
    server.accepted_by_echo();
    server.echo.send(0, Mail::PanicFor(vec![of_another]));
    assert_eq!(server.seen_by_echo.recv_timeout(PATIENCE).unwrap(), Seen::Lost(vec![of_another]));
    exchange(&mut shouted, "b", "B");
    server.capitals.send(0, ToCapitals::Panic);
    server.capitals.send(0, ToCapitals::Tell("still here".into()));
    let told = server.seen_by_capitals.recv_timeout(PATIENCE).unwrap();
    assert_eq!(told, SeenByCapitals::Told("still here".into()));
    exchange(&mut echoed, "after\n", "after\n");
    server.echo.send(0, Mail::Number(7));
    assert_eq!(server.seen_by_echo.recv_timeout(PATIENCE).unwrap(), Seen::Told(0, 7));
    let panics = |gateway| server.edge.gateway(gateway).counters().totals().panics;
    assert_eq!((panics(ECHO), panics(CAPITALS)), (1, 2));
    assert!(server.edge.all_workers_run());
}

/// With the tick alone, each mail would wait 100 ms for the worker.
#[test]
fn mail_to_each_gateway_wakes_the_worker() {
    const ROUNDS: u64 = 100;
    let server = server(|_| ());
    let began = Instant::now();
    for number in 0..ROUNDS {
        server.echo.send(0, Mail::Number(number));
        assert_eq!(server.seen_by_echo.recv_timeout(PATIENCE).unwrap(), Seen::Told(0, number));
        server.capitals.send(0, ToCapitals::Tell(number.to_string()));
        let told = server.seen_by_capitals.recv_timeout(PATIENCE).unwrap();
        assert_eq!(told, SeenByCapitals::Told(number.to_string()));
    }
    let by_ticks = Duration::from_millis(200 * ROUNDS);
    assert!(began.elapsed() < by_ticks / 2, "{:?}", began.elapsed());
}

#[test]
fn a_gateway_has_limits_and_sockets_of_its_own() {
    let server = server(|config| config.max_connections = 1);
    let socket = UdpSocket::bind(local()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.send_to(b"datagram", server.datagrams).unwrap();
    let mut answer = [0; 8];
    socket.recv_from(&mut answer).unwrap();
    assert_eq!(&answer, b"DATAGRAM");
    let mut first = server.connect(CAPITALS, PLAIN);
    exchange(&mut first, "a", "A");
    assert_eq!(server.connect(CAPITALS, PLAIN).read(&mut [0; 8]).unwrap_or(0), 0, "one is its limit");
    let mut echoed = [server.connect(ECHO, PLAIN), server.connect(ECHO, PLAIN)];
    echoed.iter_mut().for_each(|stream| exchange(stream, "a\n", "a\n"));
}

#[test]
fn a_connection_moves_between_gateways_plain_and_with_tls() {
    let server = server(|_| ());
    let mut plain = server.connect(ECHO, PLAIN);
    move_to_and_fro(&server, &mut plain, false);
    let mut sealed = server.connect_tls(ECHO);
    move_to_and_fro(&server, &mut sealed, true);
    let totals = |gateway| {
        let totals = server.edge.gateway(gateway).counters().totals();
        (totals.accepted, totals.handed_over, totals.taken_over)
    };
    assert_eq!((totals(ECHO), totals(CAPITALS)), ((2, 2, 2), (0, 2, 2)));
}

fn move_to_and_fro(server: &Server, stream: &mut (impl Read + Write), tls: bool) {
    exchange(stream, "before\n", "before\n");
    server.accepted_by_echo();
    // More than one read takes, so that a part is still in the socket when the connection moves.
    let long = "a".repeat(200_000);
    exchange(stream, &format!("hand over 1\n{long}"), &long.to_uppercase());
    let (handle, accept, _) = server.accepted_by_capitals();
    assert_eq!(accept, Accept { listener: Accepted::HANDED_OVER, tls });
    server.capitals.send(0, ToCapitals::Send(handle, "mail"));
    hear(stream, "mail");
    exchange(stream, "back\n", "");
    assert_eq!(server.accepted_by_echo().gateway(), ECHO);
    exchange(stream, "after\n", "after\n");
}

#[test]
fn the_end_of_a_tls_session_moves_with_its_connection() {
    let server = server(|_| ());
    let mut stream = server.connect_tls(ECHO);
    exchange(&mut stream, "before\n", "before\n");
    stream.conn.writer().write_all(b"hand over 1\nlast").unwrap();
    stream.conn.send_close_notify();
    stream.flush().unwrap();
    hear(&mut stream, "LAST");
    assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
    let (handle, ..) = server.accepted_by_capitals();
    let closed = server.seen_by_capitals.recv_timeout(PATIENCE).unwrap();
    assert_eq!(closed, SeenByCapitals::Closed(handle, Closed::ByPeer));
}

#[test]
fn a_connection_that_the_new_gateway_has_no_room_for_is_closed() {
    let server = server(|config| config.max_connections = 1);
    let mut first = server.connect(CAPITALS, PLAIN);
    exchange(&mut first, "a", "A");
    let mut second = server.connect(ECHO, PLAIN);
    second.write_all(b"hand over 1\n").unwrap();
    assert_eq!(second.read(&mut [0; 8]).unwrap_or(0), 0);
    let totals = server.edge.gateway(CAPITALS).counters().totals();
    assert_eq!((totals.over_limit, totals.taken_over), (1, 0));
}

#[test]
fn a_stop_closes_moved_connections() {
    let server = server(|_| ());
    let mut stream = server.connect(ECHO, PLAIN);
    exchange(&mut stream, "hand over 1\na", "A");
    let (handle, ..) = server.accepted_by_capitals();
    server.capitals.send(0, ToCapitals::Send(handle, "the end"));
    let Server { edge, seen_by_capitals, .. } = server;
    edge.stop(PATIENCE);
    hear(&mut stream, "the end");
    assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
    assert_eq!(seen_by_capitals.recv_timeout(PATIENCE), Ok(SeenByCapitals::Closed(handle, Closed::Stopping)));
}

#[test]
fn a_stop_flushes_all_gateways() {
    let server = server(|_| ());
    let (mut echoed, mut shouted) = (server.connect(ECHO, PLAIN), server.connect(CAPITALS, PLAIN));
    exchange(&mut echoed, "a\n", "a\n");
    exchange(&mut shouted, "a\n", "A\n");
    let by_echo = server.accepted_by_echo();
    let (by_capitals, ..) = server.accepted_by_capitals();
    server.echo.send(0, Mail::Send(by_echo, b"the end\n".to_vec()));
    server.capitals.send(0, ToCapitals::Send(by_capitals, "the end"));
    server.edge.stop(PATIENCE);
    hear(&mut echoed, "the end\n");
    hear(&mut shouted, "the end");
    assert_eq!((echoed.read(&mut [0; 8]).unwrap(), shouted.read(&mut [0; 8]).unwrap()), (0, 0));
}

#[test]
fn gateways_that_do_not_fit_together_are_refused() {
    let gateway = |workers, private_descriptor_tables| {
        let (sender, _) = channel();
        let config = EdgeConfig { private_descriptor_tables, ..EdgeConfig::default() };
        let (_, inboxes) = mailboxes(workers);
        Gateway::new(config, inboxes, move |_| Echo::new(sender.clone()))
    };
    for gateways in [
        vec![],
        (0..9).map(|_| gateway(1, false)).collect(),
        vec![gateway(1, false), gateway(2, false)],
        vec![gateway(1, false), gateway(1, true)],
    ] {
        let error = Edge::start_all(gateways).err().unwrap();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{error}");
    }
    let edge = Edge::start_all((0..8).map(|_| gateway(1, false)).collect()).unwrap();
    edge.stop(Duration::ZERO);
}

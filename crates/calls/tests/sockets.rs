//! The running role as clients meet it: over UDP, TCP and TLS, on loopback.

#![allow(clippy::unwrap_used)] // a test may panic

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use calls::client::{Caller, Heard, channel_data};
use calls::stun::{Message, attribute, method};
use calls::{Calls, CallsConfig, Credentials, Framed, Quotas, RelayAddress, frame};
use edge::Listener;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};

const SECRET: &[u8] = b"a secret of this test";
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn config() -> CallsConfig {
    let any = SocketAddr::new(LOOPBACK, 0);
    CallsConfig {
        udp: vec![any],
        streams: vec![Listener::plain(any)],
        relays: vec![RelayAddress { bind: LOOPBACK, told: LOOPBACK }],
        // With those of peers, which are at the address of the relays here.
        ports: 20_000..=65_535,
        credentials: Credentials::new(SECRET),
        may_relay: Arc::new(|ip| ip.is_loopback()),
        quotas: Quotas::default(),
        excess_bytes_per_second: 65_536,
        max_connections: 100,
    }
}

fn start(config: CallsConfig) -> Calls {
    calls::start(config, 2).expect("it listens")
}

fn caller(number: u64) -> Caller {
    let name = format!("9999999999:7-{number:x}");
    let password = Credentials::new(SECRET).password(&name);
    Caller::new(&name, &password, number << 32)
}

/// A way to the server that carries whole messages.
trait Line {
    fn send(&mut self, message: &[u8]);
    fn receive(&mut self) -> Vec<u8>;
}

struct Datagrams(UdpSocket);

impl Datagrams {
    fn to(server: SocketAddr) -> Datagrams {
        let socket = UdpSocket::bind((LOOPBACK, 0)).unwrap();
        socket.connect(server).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Datagrams(socket)
    }
}

impl Line for Datagrams {
    fn send(&mut self, message: &[u8]) {
        self.0.send(message).unwrap();
    }

    fn receive(&mut self) -> Vec<u8> {
        let mut buffer = [0; 2_048];
        let length = self.0.recv(&mut buffer).expect("an answer in time");
        buffer[..length].to_vec()
    }
}

struct Stream<S> {
    stream: S,
    received: Vec<u8>,
}

impl<S: Read + Write> Line for Stream<S> {
    fn send(&mut self, message: &[u8]) {
        // RFC 8656 §12.5: whole words.
        let mut padded = message.to_vec();
        padded.resize(message.len().next_multiple_of(4), 0);
        self.stream.write_all(&padded).unwrap();
        self.stream.flush().unwrap();
    }

    fn receive(&mut self) -> Vec<u8> {
        loop {
            if let Framed::Whole { message, next } = frame(&self.received) {
                let whole = self.received[..message].to_vec();
                self.received.drain(..next);
                return whole;
            }
            let mut buffer = [0; 2_048];
            let length = self.stream.read(&mut buffer).expect("an answer in time");
            assert!(length > 0, "the server has closed the connection");
            self.received.extend_from_slice(&buffer[..length]);
        }
    }
}

fn tcp(server: SocketAddr) -> Stream<TcpStream> {
    let stream = TcpStream::connect(server).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    Stream { stream, received: Vec::new() }
}

fn ask(line: &mut dyn Line, caller: &mut Caller, request: impl Fn(&mut Caller) -> Vec<u8>) -> Heard {
    loop {
        line.send(&request(caller));
        match caller.hear(&line.receive()).expect("an answer") {
            Heard::Again => {}
            heard => return heard,
        }
    }
}

fn allocate(line: &mut dyn Line, caller: &mut Caller) -> SocketAddr {
    match ask(line, caller, |caller| caller.allocate(false)) {
        Heard::Success { relayed: Some(relayed), .. } => relayed,
        heard => panic!("no relay: {heard:?}"),
    }
}

fn succeed(line: &mut dyn Line, caller: &mut Caller, request: impl Fn(&mut Caller) -> Vec<u8>) {
    let heard = ask(line, caller, request);
    assert!(matches!(heard, Heard::Success { .. }), "{heard:?}");
}

/// Speaks with a peer through a relay, without a channel and with one.
fn talk(line: &mut dyn Line, caller: &mut Caller) {
    let relayed = allocate(line, caller);
    let peer = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    peer.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let address = peer.local_addr().unwrap();
    succeed(line, caller, |caller| caller.permit(&[address]));
    let mut buffer = [0; 2_048];
    line.send(&caller.send(address, b"without a channel"));
    let (length, from) = peer.recv_from(&mut buffer).unwrap();
    assert_eq!((from, &buffer[..length]), (relayed, &b"without a channel"[..]));
    peer.send_to(b"and back", relayed).unwrap();
    let told = line.receive();
    let told = Message::parse(&told).expect("an indication");
    assert_eq!(told.attribute(attribute::DATA), Some(&b"and back"[..]));
    assert_eq!(told.address(attribute::XOR_PEER_ADDRESS), Some(address));

    succeed(line, caller, |caller| caller.bind(0x4000, address));
    for number in 0..100u8 {
        let data = [number; 333];
        line.send(&channel_data(0x4000, &data));
        let length = peer.recv(&mut buffer).unwrap();
        assert_eq!(buffer[..length], data);
        peer.send_to(&data[..7], relayed).unwrap();
        assert_eq!(line.receive(), channel_data(0x4000, &data[..7]));
    }
    succeed(line, caller, |caller| caller.refresh(0));
}

#[test]
fn over_udp() {
    let calls = start(config());
    let mut line = Datagrams::to(calls.udp_addrs()[0]);
    let mut asking = caller(1);
    let heard = ask(&mut line, &mut asking, |caller| caller.request(method::BINDING, |_| {}));
    let mapped = line.0.local_addr().ok();
    assert_eq!(heard, Heard::Success { relayed: None, mapped, lifetime: None });
    talk(&mut line, &mut asking);
    let site = &calls.sites().each()[0];
    assert_eq!((site.number, site.open()), (7, 0));
    assert_eq!((site.to_peers.read(), site.to_clients.read()), (17 + 100 * 333, 8 + 100 * 7));
    calls.stop(Duration::ZERO);
}

#[test]
fn over_tcp() {
    let calls = start(config());
    talk(&mut tcp(calls.stream_addrs()[0]), &mut caller(1));
    calls.stop(Duration::ZERO);
}

#[test]
fn over_tls() {
    let made = rcgen::generate_simple_self_signed(["im.example".to_owned()]).unwrap();
    let certificate: CertificateDer<'static> = made.cert.der().clone();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let server = edge::tls::server_config(vec![certificate.clone()], key).unwrap();
    let acceptor = edge::tls::Acceptor::new(calls::tls(&server));
    let mut tls_config = config();
    tls_config.streams[0] =
        Listener { tls: Some(acceptor), require_tls: true, ..tls_config.streams[0].clone() };
    let calls = start(tls_config);

    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    for offered in [&[][..], &[b"stun.turn".to_vec()]] {
        client.alpn_protocols = offered.to_vec();
        let name = ServerName::try_from("im.example").unwrap();
        let session = rustls::ClientConnection::new(Arc::new(client.clone()), name).unwrap();
        let plain = tcp(calls.stream_addrs()[0]).stream;
        talk(
            &mut Stream { stream: rustls::StreamOwned::new(session, plain), received: Vec::new() },
            &mut caller(1),
        );
    }
    calls.stop(Duration::ZERO);
}

#[test]
fn two_members_meet_at_their_relays() {
    let calls = start(config());
    let (mut a, mut b) = (Datagrams::to(calls.udp_addrs()[0]), tcp(calls.stream_addrs()[0]));
    let (mut anna, mut bob) = (caller(1), caller(2));
    let (of_a, of_b) = (allocate(&mut a, &mut anna), allocate(&mut b, &mut bob));
    succeed(&mut a, &mut anna, |caller| caller.bind(0x4001, of_b));
    succeed(&mut b, &mut bob, |caller| caller.bind(0x4002, of_a));
    for number in 0..50u8 {
        a.send(&channel_data(0x4001, &[number; 1_000]));
        assert_eq!(b.receive(), channel_data(0x4002, &[number; 1_000]));
        b.send(&channel_data(0x4002, &[number; 3]));
        assert_eq!(a.receive(), channel_data(0x4001, &[number; 3]));
    }
    calls.stop(Duration::ZERO);
}

#[test]
fn what_breaks_its_stream_is_closed_and_its_relay_with_it() {
    let calls = start(config());
    let (mut line, mut anna) = (tcp(calls.stream_addrs()[0]), caller(1));
    allocate(&mut line, &mut anna);
    assert_eq!(calls.sites().each()[0].open(), 1);
    line.stream.write_all(&[0xff; 20]).unwrap();
    assert_eq!(line.stream.read(&mut [0; 16]).unwrap(), 0, "closed");
    // Another client's answer comes after the turn in which it was closed.
    let mut other = tcp(calls.stream_addrs()[0]);
    while calls.sites().each()[0].open() > 0 {
        ask(&mut other, &mut caller(2), |caller| caller.request(method::BINDING, |_| {}));
    }
    calls.stop(Duration::ZERO);
}

#[test]
fn a_port_that_somebody_has_is_not_shared() {
    let taken = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    let config = CallsConfig { udp: vec![taken.local_addr().unwrap()], ..config() };
    assert_eq!(calls::start(config, 2).err().map(|error| error.kind()), Some(std::io::ErrorKind::AddrInUse));
}

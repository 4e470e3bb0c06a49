//! The running role as clients meet it: over UDP, TCP and TLS, on loopback.

#![allow(clippy::unwrap_used)] // a test may panic

mod line;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use calls::client::{Caller, Heard, channel_data};
use calls::stun::{Message, attribute, method};
use calls::{Calls, CallsConfig};
use edge::{AddressLimit, Listener};
use line::{Datagrams, LOOPBACK, Line, Stream, allocate, ask, caller, config, start, succeed, tcp};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};

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
    let indication = line.receive();
    let indication = Message::parse(&indication).expect("an indication");
    assert_eq!(indication.attribute(attribute::DATA), Some(&b"and back"[..]));
    assert_eq!(indication.address(attribute::XOR_PEER_ADDRESS), Some(address));

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
    let received = ask(&mut line, &mut asking, |caller| caller.request(method::BINDING, |_| {}));
    let mapped = line.0.local_addr().ok();
    assert_eq!(received, Heard::Success { relayed: None, mapped, lifetime: None });
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
fn an_address_has_a_limit_of_connections() {
    let per_address = Some(AddressLimit::new(2, |_| false));
    let calls = start(CallsConfig { per_address, ..config() });
    let address = calls.stream_addrs()[0];
    let bind = |line: &mut Stream<TcpStream>| {
        ask(line, &mut caller(1), |caller| caller.request(method::BINDING, |_| {}));
    };
    let mut held = [tcp(address), tcp(address)];
    held.iter_mut().for_each(bind);
    let mut third = TcpStream::connect(address).unwrap();
    third.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The end, or a reset.
    assert!(!third.read(&mut [0; 1]).is_ok_and(|bytes| bytes > 0), "the third is closed at once");
    assert_eq!(calls.connections().totals().over_address_limit, 1);
    let [first, _second] = held;
    drop(first);
    let begin = Instant::now();
    let is_served = || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let question = caller(1).request(method::BINDING, |_| {});
        stream.write_all(&question).is_ok() && stream.read(&mut [0; 1]).is_ok_and(|bytes| bytes > 0)
    };
    while !is_served() {
        assert!(begin.elapsed() < Duration::from_secs(20), "the place of a closed connection is free again");
    }
    calls.stop(Duration::ZERO);
}

/// The role with TLS alone, and what its clients trust.
fn with_tls() -> (Calls, rustls::ClientConfig) {
    let made = rcgen::generate_simple_self_signed(["im.example".to_owned()]).unwrap();
    let certificate: CertificateDer<'static> = made.cert.der().clone();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let server = edge::tls::server_config(vec![certificate.clone()], key).unwrap();
    let acceptor = edge::tls::Acceptor::new(calls::tls(&server));
    let mut tls_config = config();
    tls_config.streams[0] = Listener::tls(tls_config.streams[0].addr, acceptor);
    let calls = start(tls_config);

    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (calls, client)
}

type Secure = rustls::StreamOwned<rustls::ClientConnection, TcpStream>;

fn secure(server: SocketAddr, client: &rustls::ClientConfig) -> Stream<Secure> {
    let name = ServerName::try_from("im.example").unwrap();
    let session = rustls::ClientConnection::new(Arc::new(client.clone()), name).unwrap();
    Stream::over(rustls::StreamOwned::new(session, tcp(server).stream))
}

/// The content of the next record, without tickets.
fn record(line: &mut Stream<Secure>) -> Vec<u8> {
    let (session, socket) = (&mut line.stream.conn, &mut line.stream.sock);
    let mut record = vec![0; 5];
    socket.read_exact(&mut record).expect("a record in time");
    record.resize(5 + usize::from(u16::from_be_bytes([record[3], record[4]])), 0);
    socket.read_exact(&mut record[5..]).expect("all of it");
    let mut rest = &record[..];
    while !rest.is_empty() {
        session.read_tls(&mut rest).unwrap();
        session.process_new_packets().unwrap();
    }
    let mut plain = vec![0; 1 << 14];
    let length = session.reader().read(&mut plain).unwrap_or(0);
    plain.truncate(length);
    plain
}

#[test]
fn over_tls() {
    let (calls, mut client) = with_tls();
    for offered in [&[][..], &[b"stun.turn".to_vec()]] {
        client.alpn_protocols = offered.to_vec();
        talk(&mut secure(calls.stream_addrs()[0], &client), &mut caller(1));
    }
    calls.stop(Duration::ZERO);
}

#[test]
fn over_tls_a_record_may_hold_many_messages_or_a_part_of_one_and_ours_hold_one() {
    let (calls, client) = with_tls();
    let (mut line, mut anna) = (secure(calls.stream_addrs()[0], &client), caller(1));
    let relayed = allocate(&mut line, &mut anna);
    let peer = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    peer.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let address = peer.local_addr().unwrap();
    succeed(&mut line, &mut anna, |caller| caller.bind(0x4000, address));

    // Every length modulo four, so with every padding (RFC 8656 §12.5).
    let data: Vec<Vec<u8>> = (0..100u8).map(|number| vec![number; 3 + usize::from(number)]).collect();
    let message = |data: &Vec<u8>| {
        let mut message = channel_data(0x4000, data);
        message.resize(message.len().next_multiple_of(4), 0);
        message
    };
    let messages: Vec<Vec<u8>> = data.iter().map(message).collect();
    let mut buffer = [0; 2_048];
    for cut in [usize::MAX, 1_000, 13] {
        for part in messages.concat().chunks(cut) {
            // Each write is a record.
            line.stream.write_all(part).unwrap();
            line.stream.flush().unwrap();
        }
        for expected in &data {
            let length = peer.recv(&mut buffer).expect("every message comes");
            assert_eq!(&buffer[..length], expected, "cut into {cut}");
        }
    }

    data.iter().for_each(|data| assert_eq!(peer.send_to(data, relayed).unwrap(), data.len()));
    let mut received = Vec::new();
    while received.len() < messages.len() {
        received.push(record(&mut line));
        received.retain(|plain| !plain.is_empty());
    }
    assert_eq!(received, messages);
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
fn a_broken_stream_is_closed_with_its_relay() {
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
fn a_port_of_another_server_is_not_shared() {
    let taken = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    let config = CallsConfig { udp: vec![taken.local_addr().unwrap()], ..config() };
    assert_eq!(
        calls::start(config, 2, None).err().map(|error| error.kind()),
        Some(std::io::ErrorKind::AddrInUse)
    );
}

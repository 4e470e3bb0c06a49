//! A client's ways to the running role, and what it says on them.

#![allow(dead_code)] // each test file uses a part of it

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use calls::client::{Caller, Heard};
use calls::{Calls, CallsConfig, Credentials, Framed, Quotas, RelayAddress, frame};
use edge::Listener;

pub(crate) const SECRET: &[u8] = b"a secret of this test";
pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

pub(crate) fn config() -> CallsConfig {
    let any = SocketAddr::new(LOOPBACK, 0);
    CallsConfig {
        udp: vec![any],
        shares_ports: false,
        streams: vec![Listener::plain(any)],
        relays: vec![RelayAddress { bind: LOOPBACK, external: LOOPBACK }],
        // With those of peers, which are at the address of the relays here.
        ports: 20_000..=65_535,
        credentials: Credentials::new(SECRET),
        may_relay: Arc::new(|ip| ip.is_loopback()),
        is_live: Arc::new(|_| true),
        quotas: Quotas::default(),
        excess_bytes_per_second: 65_536,
        max_connections: 100,
        per_address: None,
        private_descriptors: false,
    }
}

pub(crate) fn start(config: CallsConfig) -> Calls {
    calls::start(config, 2, None).expect("it listens")
}

pub(crate) fn caller(number: u64) -> Caller {
    let name = format!("9999999999:7-{number:x}");
    let password = Credentials::new(SECRET).password(&name);
    Caller::new(&name, &password, number << 32)
}

/// A way to the server that carries whole messages.
pub(crate) trait Line {
    fn send(&mut self, message: &[u8]);
    fn receive(&mut self) -> Vec<u8>;
}

pub(crate) struct Datagrams(pub(crate) UdpSocket);

impl Datagrams {
    pub(crate) fn to(server: SocketAddr) -> Datagrams {
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

pub(crate) struct Stream<S> {
    pub(crate) stream: S,
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

impl<S> Stream<S> {
    pub(crate) fn over(stream: S) -> Stream<S> {
        Stream { stream, received: Vec::new() }
    }
}

pub(crate) fn tcp(server: SocketAddr) -> Stream<TcpStream> {
    let stream = TcpStream::connect(server).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    Stream::over(stream)
}

pub(crate) fn ask(
    line: &mut dyn Line,
    caller: &mut Caller,
    request: impl Fn(&mut Caller) -> Vec<u8>,
) -> Heard {
    loop {
        line.send(&request(caller));
        match caller.hear(&line.receive()).expect("an answer") {
            Heard::Again => {}
            heard => return heard,
        }
    }
}

pub(crate) fn allocate(line: &mut dyn Line, caller: &mut Caller) -> SocketAddr {
    match ask(line, caller, |caller| caller.allocate(false)) {
        Heard::Success { relayed: Some(relayed), .. } => relayed,
        heard => panic!("no relay: {heard:?}"),
    }
}

pub(crate) fn succeed(line: &mut dyn Line, caller: &mut Caller, request: impl Fn(&mut Caller) -> Vec<u8>) {
    let heard = ask(line, caller, request);
    assert!(matches!(heard, Heard::Success { .. }), "{heard:?}");
}

//! Connections of our own, plain and TLS, against our own listeners.

#![allow(clippy::unwrap_used)] // a test may panic

use crate::echo;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use echo::{Echo, Mail, Seen};
use edge::tls::{self, Acceptor};
use edge::{
    Accepted, Closed, Connect, Conns, Edge, EdgeConfig, Handle, Io, Listener, Mailboxes, Now, Protocol,
    mailboxes,
};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::{PrivateKeyDer, ServerName};

const PATIENCE: Duration = Duration::from_secs(20);

/// Sends its line once it is connected, and reports the answer.
struct Caller {
    received: Sender<Heard>,
}

#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Connected,
    Line(Vec<u8>),
    Closed(Closed),
}

struct Call {
    connect: Connect,
    say: &'static [u8],
}

impl Protocol for Caller {
    type Conn = &'static [u8];
    type Mail = Call;

    fn accept(&mut self, _: Accepted, _: &mut Io<'_>) -> &'static [u8] {
        b""
    }

    fn connected(&mut self, say: &mut &'static [u8], io: &mut Io<'_>) {
        self.received.send(Heard::Connected).unwrap();
        io.send(say);
    }

    fn input(&mut self, _: &mut &'static [u8], input: &mut [u8], _: &mut Io<'_>) -> usize {
        let mut consumed = 0;
        while let Some(len) = input[consumed..].iter().position(|byte| *byte == b'\n') {
            self.received.send(Heard::Line(input[consumed..consumed + len].to_vec())).unwrap();
            consumed += len + 1;
        }
        consumed
    }

    fn eof(&mut self, _: &mut &'static [u8], io: &mut Io<'_>) {
        io.close();
    }

    fn timer(&mut self, _: &mut &'static [u8], _: &mut Io<'_>) {}

    fn drained(&mut self, _: &mut &'static [u8], _: &mut Io<'_>) {}

    fn closed(&mut self, _: &'static [u8], _: Handle, why: Closed, _: Now) {
        let _ = self.received.send(Heard::Closed(why));
    }

    fn mail(&mut self, call: Call, conns: &mut Conns<'_, &'static [u8]>) {
        let handle = conns.connect(call.connect, call.say).unwrap();
        // Sent before the connection exists, it goes out first.
        conns.get(handle).unwrap().1.send(b"early\n");
    }

    fn tick(&mut self, _: &mut Conns<'_, &'static [u8]>) {}
}

struct Pair {
    server: Edge,
    seen: Receiver<Seen>,
    _callers: Edge,
    calls: Mailboxes<Call>,
    received: Receiver<Heard>,
    client_tls: Arc<ClientConfig>,
}

fn pair(change: impl FnOnce(&mut EdgeConfig)) -> Pair {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let acceptor = Acceptor::new(tls::server_config(vec![made.cert.der().clone()], key).unwrap());
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let client_tls = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();

    let mut config = EdgeConfig {
        listeners: vec![Listener::both(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), acceptor)],
        ..EdgeConfig::default()
    };
    change(&mut config);
    let (_, inboxes) = mailboxes::<Mail>(2);
    let (sender, seen) = channel();
    let server = Edge::start(config, inboxes, move |_| Echo::new(sender.clone())).unwrap();
    let (calls, inboxes) = mailboxes(1);
    let (sender, received) = channel();
    let callers =
        Edge::start(EdgeConfig::default(), inboxes, move |_| Caller { received: sender.clone() }).unwrap();
    Pair { server, seen, _callers: callers, calls, received, client_tls: Arc::new(client_tls) }
}

impl Pair {
    fn call(&self, say: &'static [u8], name: Option<&'static str>) {
        let tls = name.map(|name| (Arc::clone(&self.client_tls), ServerName::try_from(name).unwrap()));
        let from = Some(IpAddr::from([127, 0, 0, 9]));
        self.calls.send(0, Call { connect: Connect { to: self.server.local_addrs()[0], from, tls }, say });
    }

    fn next(&self) -> Heard {
        self.received.recv_timeout(PATIENCE).unwrap()
    }
}

#[test]
fn calls_are_answered_plain_and_with_tls() {
    let pair = pair(|_| ());
    for name in [None, Some("localhost"), Some("localhost")] {
        pair.call(b"hello\nclose\n", name);
        assert_eq!(pair.next(), Heard::Connected);
        assert_eq!(pair.next(), Heard::Line(b"early".to_vec()));
        assert_eq!(pair.next(), Heard::Line(b"hello".to_vec()));
        assert_eq!(pair.next(), Heard::Closed(Closed::ByPeer));
        assert!(
            matches!(pair.seen.recv_timeout(PATIENCE), Ok(Seen::Accepted(_, tls)) if tls == name.is_some())
        );
        assert!(matches!(
            pair.seen.recv_timeout(PATIENCE),
            Ok(Seen::Closed(_, Closed::ByUs { flushed: true }))
        ));
    }
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    let pair = pair(|_| ());
    pair.call(b"secret\n", Some("somewhere.else"));
    assert_eq!(pair.next(), Heard::Closed(Closed::Tls));
    assert!(pair.seen.recv_timeout(Duration::ZERO).is_err(), "the server's protocol has heard nothing");
}

#[test]
fn a_failed_connection_is_an_error() {
    let pair = pair(|_| ());
    let gone = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    pair.calls.send(0, Call { connect: Connect { to: gone, from: None, tls: None }, say: b"" });
    assert_eq!(pair.next(), Heard::Closed(Closed::Error));
}

#[test]
fn beyond_the_limit_connections_are_closed_at_once() {
    let pair = pair(|config| config.max_connections = 0);
    pair.call(b"", None);
    assert_eq!(pair.next(), Heard::Connected);
    assert!(matches!(pair.next(), Heard::Closed(Closed::ByPeer | Closed::Error)));
    assert_eq!(pair.server.counters().totals().accepted, 0);
}

#[test]
fn a_reloaded_certificate_is_used_at_once() {
    let pair = pair(|_| ());
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(other.signing_key.serialize_der().into());
    assert!(pair.server.reload_tls(0, tls::server_config(vec![other.cert.der().clone()], key).unwrap()));
    // The caller trusts only the old certificate.
    pair.call(b"secret\n", Some("localhost"));
    assert_eq!(pair.next(), Heard::Closed(Closed::Tls));
}

//! TLS against rustls' own buffered client, byte for byte. Runs for each [`Memory`].

#![allow(clippy::unwrap_used)] // a test may panic

use crate::echo;

use std::io::{Cursor, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use echo::{Echo, Mail, Seen};
use edge::testing::{Harness, TlsEnd};
use edge::tls::{self, Acceptor, Memory, ServerConfig, TlsError};
use edge::{Closed, EdgeConfig, Handle, Listener};
use proptest::prelude::*;
use rustls::{
    ClientConfig, ClientConnection, ConnectionTrafficSecrets, RootCertStore, SupportedProtocolVersion,
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};

fn memory() -> Memory {
    if module_path!().ends_with("tls_of_rustls") { Memory::Rustls } else { Memory::Low }
}

fn server_config(identity: &Identity) -> Arc<ServerConfig> {
    let config = tls::server_config(vec![identity.cert.clone()], identity.key.clone_key()).unwrap();
    memory().of_server(&config)
}

struct Identity {
    cert: CertificateDer<'static>,
    cert_pem: String,
    key_pem: String,
    key: PrivateKeyDer<'static>,
}

fn identity() -> Identity {
    identity_of("localhost")
}

fn identity_of(name: &str) -> Identity {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    Identity {
        cert: made.cert.der().clone(),
        cert_pem: made.cert.pem(),
        key_pem: made.signing_key.serialize_pem(),
        key: PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into()),
    }
}

fn client_config(identity: &Identity, versions: &[&'static SupportedProtocolVersion]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(identity.cert.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

struct Tls {
    harness: Harness<Echo>,
    seen: Receiver<Seen>,
    acceptor: Acceptor,
    identity: Identity,
}

fn server(change: impl FnOnce(&mut EdgeConfig)) -> Tls {
    let identity = identity();
    let acceptor = Acceptor::new(server_config(&identity));
    let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut config =
        EdgeConfig { listeners: vec![Listener::both(addr, acceptor.clone())], ..EdgeConfig::default() };
    change(&mut config);
    let (sender, seen) = channel();
    Tls { harness: Harness::new(config, Echo::new(sender)), seen, acceptor, identity }
}

impl Tls {
    fn client(&mut self, config: &Arc<ClientConfig>) -> Client {
        let name = ServerName::try_from("localhost").unwrap();
        let conn = ClientConnection::new(Arc::clone(config), name).unwrap();
        Client { conn, handle: self.harness.connect_silent(0), plain: Vec::new() }
    }

    /// Like `connected`, with keys that the test can extract.
    fn connected_extractable(&mut self) -> Client {
        let config = client_config(&self.identity, &[&rustls::version::TLS13]);
        let mut config = ClientConfig::clone(&config);
        config.enable_secret_extraction = true;
        let config = Arc::new(config);
        let mut client = self.client(&config);
        client.pump(&mut self.harness, usize::MAX);
        client
    }

    /// A client with a finished handshake.
    fn connected(&mut self) -> Client {
        let config = client_config(&self.identity, rustls::DEFAULT_VERSIONS);
        let mut client = self.client(&config);
        client.pump(&mut self.harness, usize::MAX);
        assert!(!client.conn.is_handshaking());
        client
    }
}

struct Client {
    conn: ClientConnection,
    handle: Handle,
    plain: Vec<u8>,
}

impl Client {
    /// Moves bytes in both directions, `chunk` at a time, until both sides are silent.
    fn pump(&mut self, harness: &mut Harness<Echo>, chunk: usize) {
        loop {
            let mut sent = Vec::new();
            while self.conn.wants_write() {
                self.conn.write_tls(&mut sent).unwrap();
            }
            for part in sent.chunks(chunk) {
                harness.feed(self.handle, part);
            }
            let received = harness.output(self.handle);
            if sent.is_empty() && received.is_empty() {
                return;
            }
            for part in received.chunks(chunk) {
                let mut part = Cursor::new(part);
                while (part.position() as usize) < part.get_ref().len() {
                    self.conn.read_tls(&mut part).unwrap();
                    self.conn.process_new_packets().unwrap();
                    let mut buffer = [0; 65536];
                    while let Ok(n @ 1..) = self.conn.reader().read(&mut buffer) {
                        self.plain.extend_from_slice(&buffer[..n]);
                    }
                }
            }
        }
    }

    fn say(&mut self, harness: &mut Harness<Echo>, text: &[u8], chunk: usize) -> Vec<u8> {
        self.conn.set_buffer_limit(None);
        self.conn.writer().write_all(text).unwrap();
        self.pump(harness, chunk);
        std::mem::take(&mut self.plain)
    }

    /// Sends it in one turn.
    fn tell(&mut self, harness: &mut Harness<Echo>, text: &[u8]) {
        self.conn.set_buffer_limit(None);
        self.conn.writer().write_all(text).unwrap();
        let mut sent = Vec::new();
        while self.conn.wants_write() {
            self.conn.write_tls(&mut sent).unwrap();
        }
        harness.feed(self.handle, &sent);
    }

    /// The written bytes, record by record.
    fn records_of(&mut self, written: &[u8]) -> Vec<Vec<u8>> {
        let (mut rest, mut records) = (written, Vec::new());
        while let [_, _, _, a, b, ..] = rest {
            let (mut record, next) = rest.split_at(5 + usize::from(u16::from_be_bytes([*a, *b])));
            rest = next;
            while !record.is_empty() {
                self.conn.read_tls(&mut record).unwrap();
                self.conn.process_new_packets().unwrap();
            }
            let mut plain = vec![0; 1 << 14];
            let length = self.conn.reader().read(&mut plain).unwrap_or(0);
            plain.truncate(length);
            records.push(plain);
        }
        assert!(rest.is_empty(), "half a record");
        records
    }
}

#[test]
fn both_versions_echo_in_every_fragmentation() {
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        for chunk in [1, 2, 7, 100, usize::MAX] {
            let mut tls = server(|_| ());
            let config = client_config(&tls.identity, &[version]);
            let mut client = tls.client(&config);
            let heard = client.say(&mut tls.harness, b"hello\nwor", chunk);
            assert_eq!(heard, b"hello\n", "{version:?} in {chunk}s");
            assert_eq!(client.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
            assert_eq!(client.say(&mut tls.harness, b"ld\n", chunk), b"world\n");
            assert_eq!(tls.seen.try_recv(), Ok(Seen::Accepted(client.handle, true)));
            let totals = tls.harness.totals();
            assert_eq!((totals.handshakes_begun, totals.handshakes_done), (1, 1));
        }
    }
}

#[test]
fn one_port_serves_plain_and_tls() {
    let mut tls = server(|_| ());
    let plain = tls.harness.connect_silent(0);
    tls.harness.feed(plain, b"plain\n");
    assert_eq!(tls.harness.output(plain), b"plain\n");
    assert_eq!(tls.seen.try_recv(), Ok(Seen::Accepted(plain, false)));
    let mut client = tls.connected();
    assert_eq!(client.say(&mut tls.harness, b"tls\n", 9), b"tls\n");
}

/// A client whose plain connection has asked for TLS.
fn asked_for_tls(tls: &mut Tls) -> Client {
    let config = client_config(&tls.identity, rustls::DEFAULT_VERSIONS);
    let client = tls.client(&config);
    tls.harness.feed(client.handle, b"hello\nstarttls\n");
    assert_eq!(tls.harness.output(client.handle), b"hello\nproceed\n", "sent in plain");
    client
}

#[test]
fn a_plain_connection_can_begin_tls() {
    let mut tls = server(|_| {});
    tls.harness.protocol().acceptor = Some(tls.acceptor.clone());
    let mut client = asked_for_tls(&mut tls);
    client.pump(&mut tls.harness, 100);
    assert_eq!(std::mem::take(&mut client.plain), b"secure\n");
    assert_eq!(client.say(&mut tls.harness, b"under TLS\n", 100), b"under TLS\n");
    let counters = tls.harness.totals();
    assert_eq!((counters.handshakes_begun, counters.handshakes_done), (1, 1));
    assert_eq!(client.say(&mut tls.harness, b"starttls\n", 100), b"proceed\nno TLS\n", "it has TLS");
}

#[test]
fn plain_bytes_after_the_beginning_of_tls_end_the_connection() {
    let mut tls = server(|_| {});
    tls.harness.protocol().acceptor = Some(tls.acceptor.clone());
    let client = asked_for_tls(&mut tls);
    tls.harness.feed(client.handle, b"an injected line\n");
    assert_eq!(tls.harness.closed(client.handle), Some(Closed::Tls));
}

#[test]
fn plain_bytes_behind_the_request_for_tls_are_dropped() {
    let mut tls = server(|_| {});
    tls.harness.protocol().acceptor = Some(tls.acceptor.clone());
    let config = client_config(&tls.identity, rustls::DEFAULT_VERSIONS);
    let mut client = tls.client(&config);
    tls.harness.feed(client.handle, b"starttls\nan injected line\n");
    assert_eq!(tls.harness.output(client.handle), b"proceed\n");
    client.pump(&mut tls.harness, 100);
    assert_eq!(client.plain, b"secure\n");
}

#[test]
fn a_connection_that_begins_tls_and_goes_silent_is_closed() {
    let mut tls = server(|_| {});
    tls.harness.protocol().acceptor = Some(tls.acceptor.clone());
    let client = asked_for_tls(&mut tls);
    tls.harness.advance(Duration::from_secs(11));
    assert_eq!(tls.harness.closed(client.handle), Some(Closed::HandshakeTimeout));
}

#[test]
fn required_tls_refuses_plain_connections() {
    let mut tls = server(|config| config.listeners[0].require_tls = true);
    let plain = tls.harness.connect_silent(0);
    tls.harness.feed(plain, b"GET / HTTP/1.1\r\n");
    assert_eq!(tls.harness.closed(plain), Some(Closed::Tls));
    assert_eq!(tls.harness.output(plain), b"");
}

#[test]
fn closing_sends_and_receives_close_notify() {
    let mut tls = server(|_| ());
    let mut client = tls.connected();
    assert_eq!(client.say(&mut tls.harness, b"bye\nclose\n", usize::MAX), b"bye\n");
    assert_eq!(tls.harness.closed(client.handle), Some(Closed::ByUs { flushed: true }));
    assert!(matches!(client.conn.reader().read(&mut [0; 8]), Ok(0)), "close_notify was sent");

    let mut client = tls.connected();
    client.conn.send_close_notify();
    client.pump(&mut tls.harness, usize::MAX);
    assert_eq!(tls.harness.closed(client.handle), Some(Closed::ByPeer));
    assert!(tls.seen.try_iter().any(|seen| seen == Seen::Ended(client.handle)));
}

#[test]
fn an_end_without_close_notify_is_a_truncation() {
    let mut tls = server(|_| ());
    let mut client = tls.connected();
    assert_eq!(client.say(&mut tls.harness, b"half a l", usize::MAX), b"");
    tls.harness.end(client.handle);
    assert_eq!(tls.harness.closed(client.handle), Some(Closed::Tls));
    assert!(!tls.seen.try_iter().any(|seen| seen == Seen::Ended(client.handle)));
}

#[test]
fn a_broken_record_is_answered_by_an_alert_and_closed() {
    let mut tls = server(|_| ());
    let client = tls.connected();
    tls.harness.feed(client.handle, &[23, 3, 3, 0, 32]);
    tls.harness.feed(client.handle, &[0; 32]);
    assert_eq!(tls.harness.closed(client.handle), Some(Closed::Tls));
    assert!(!tls.harness.output(client.handle).is_empty(), "bad_record_mac, encrypted");
}

#[test]
fn large_output_is_encrypted_piece_by_piece_and_can_still_be_dropped() {
    let mut tls = server(|_| ());
    let mut client = tls.connected();
    tls.harness.set_room(client.handle, Some(0));
    client.say(&mut tls.harness, b"big\n", usize::MAX);
    client.say(&mut tls.harness, b"big\ndrop\nafterwards\n", usize::MAX);
    assert!(tls.harness.pending(client.handle) >= 300_011);
    assert!(tls.harness.pending(client.handle) < 310_000);
    tls.harness.set_room(client.handle, None);
    client.pump(&mut tls.harness, usize::MAX);
    let heard = std::mem::take(&mut client.plain);
    assert_eq!(heard.len(), 300_000 + "afterwards\ndrained\n".len());
    assert!(heard.ends_with(b".afterwards\ndrained\n"));
}

/// A hundred sends: short ones, and some longer than a third of the largest encrypted block.
fn lines() -> Vec<Vec<u8>> {
    let line = |number: u8| {
        let length = if number % 16 == 15 { 12_000 } else { usize::from(number) };
        [vec![b'a' + number % 26; length], b"\n".to_vec()].concat()
    };
    (0..100).map(line).collect()
}

#[test]
fn output_of_one_turn_uses_few_records() {
    let mut tls = server(|config| config.output_soft_limit = usize::MAX);
    let mut client = tls.connected();
    client.say(&mut tls.harness, b"hello\n", usize::MAX);
    client.tell(&mut tls.harness, &lines().concat());
    let records = client.records_of(&tls.harness.output(client.handle));
    assert_eq!(records.concat(), lines().concat());
    assert!(records.len() < 10, "{}", records.len());
}

#[test]
fn each_send_is_one_record_if_the_peer_requires_it() {
    for room in [None, Some(0), Some(1), Some(100), Some(20_000)] {
        let mut tls = server(|config| {
            (config.records, config.output_soft_limit) = (edge::Records::PerSend, usize::MAX);
        });
        let mut client = tls.connected();
        client.say(&mut tls.harness, b"hello\n", usize::MAX);
        tls.harness.set_room(client.handle, room);
        client.tell(&mut tls.harness, &lines().concat());
        // Written now, followed by the part that the socket did not take.
        let mut written = tls.harness.output(client.handle);
        tls.harness.set_room(client.handle, None);
        written.extend(tls.harness.output(client.handle));
        assert_eq!(client.records_of(&written), lines(), "{room:?}");
    }
}

#[test]
fn key_updates_are_answered() {
    let mut tls = server(|_| ());
    let mut client = tls.connected();
    for _ in 0..3 {
        client.conn.refresh_traffic_keys().unwrap();
        assert_eq!(client.say(&mut tls.harness, b"fresh\n", 50), b"fresh\n");
    }
}

/// A message of the handshake protocol may be cut anywhere (RFC 8446 §5.1), and the server may have output between its
/// parts. rustls panics if it does not get the first part again.
#[test]
fn a_key_update_in_two_parts_does_not_disturb_our_output() {
    let mut tls = server(|_| ());
    let mut client = tls.connected_extractable();
    assert_eq!(client.say(&mut tls.harness, b"hello\n", usize::MAX), b"hello\n");
    let handle = client.handle;
    let mut records = Records::of(client);
    tls.harness.feed(handle, &records.handshake(&[24, 0, 0]));
    tls.harness.mail(Mail::Send(handle, b"in between\n".to_vec()));
    assert_eq!(tls.harness.closed(handle), None);
    assert!(!tls.harness.output(handle).is_empty());
    tls.harness.feed(handle, &records.handshake(&[1, 0]));
    tls.harness.mail(Mail::Send(handle, b"afterwards\n".to_vec()));
    assert_eq!(tls.harness.closed(handle), None);
    assert!(!tls.harness.output(handle).is_empty());
}

/// Makes records that no correct client makes.
struct Records {
    key: ring::aead::LessSafeKey,
    iv: [u8; 12],
    number: u64,
}

impl Records {
    fn of(client: Client) -> Records {
        let (number, secrets) = client.conn.dangerous_extract_secrets().unwrap().tx;
        let ConnectionTrafficSecrets::Aes256Gcm { key, iv } = secrets else { panic!("another cipher suite") };
        let key = ring::aead::UnboundKey::new(&ring::aead::AES_256_GCM, key.as_ref()).unwrap();
        Records { key: ring::aead::LessSafeKey::new(key), iv: iv.as_ref().try_into().unwrap(), number }
    }

    /// RFC 8446 §5.2: the content, its type 22, sealed; the header is authenticated.
    fn handshake(&mut self, part: &[u8]) -> Vec<u8> {
        let mut sealed = [part, &[22]].concat();
        let header = [23, 3, 3, 0, sealed.len() as u8 + 16];
        let mut nonce = self.iv;
        for (byte, number) in nonce[4..].iter_mut().zip(self.number.to_be_bytes()) {
            *byte ^= number;
        }
        self.number += 1;
        let nonce = ring::aead::Nonce::assume_unique_for_key(nonce);
        self.key.seal_in_place_append_tag(nonce, ring::aead::Aad::from(header), &mut sealed).unwrap();
        [&header[..], &sealed].concat()
    }
}

#[test]
fn sessions_resume_without_memory_on_our_side() {
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let mut tls = server(|_| ());
        let config = client_config(&tls.identity, &[version]);
        for kind in [rustls::HandshakeKind::Full, rustls::HandshakeKind::Resumed] {
            let mut client = tls.client(&config);
            assert_eq!(client.say(&mut tls.harness, b"again\n", 1000), b"again\n");
            assert_eq!(client.conn.handshake_kind(), Some(kind), "{version:?}");
        }
    }
}

#[test]
fn a_ticket_waits_for_the_first_answer_and_nothing_else_does() {
    let mut tls = server(|_| ());
    let mut client = tls.connected();
    assert_eq!(client.conn.tls13_tickets_received(), 0);
    assert_eq!(client.say(&mut tls.harness, b"hello\n", usize::MAX), b"hello\n");
    assert_eq!(client.conn.tls13_tickets_received(), 1);
    // With version 1.2 the server sends the last message of a handshake.
    let mut older = tls.client(&client_config(&tls.identity, &[&rustls::version::TLS12]));
    older.pump(&mut tls.harness, usize::MAX);
    assert!(!older.conn.is_handshaking());
}

#[test]
fn a_new_certificate_is_for_new_connections() {
    let mut tls = server(|_| ());
    let mut old = tls.connected();
    let new = identity();
    tls.acceptor.replace(server_config(&new));
    let config = client_config(&new, rustls::DEFAULT_VERSIONS);
    let mut client = tls.client(&config);
    assert_eq!(client.say(&mut tls.harness, b"new\n", 1000), b"new\n");
    assert_eq!(old.say(&mut tls.harness, b"old\n", 1000), b"old\n");
}

#[test]
fn handshakes_wait_for_their_turn_and_plain_connections_do_not() {
    let mut tls = server(|config| config.handshakes_in_flight = 1);
    let config = client_config(&tls.identity, rustls::DEFAULT_VERSIONS);
    let mut hello = Vec::new();
    tls.client(&config).conn.write_tls(&mut hello).unwrap();
    let stalled = tls.harness.connect_silent(0);
    tls.harness.feed(stalled, &hello);
    assert!(!tls.harness.output(stalled).is_empty());
    let mut waiting = tls.client(&config);
    assert_eq!(waiting.say(&mut tls.harness, b"waited\n", usize::MAX), b"");
    let plain = tls.harness.connect_silent(0);
    tls.harness.feed(plain, b"plain\n");
    assert_eq!(tls.harness.output(plain), b"plain\n");
    tls.harness.reset(stalled);
    tls.harness.advance(Duration::from_millis(100));
    waiting.pump(&mut tls.harness, usize::MAX);
    assert_eq!(waiting.plain, b"waited\n");
}

#[test]
fn an_unfinished_handshake_is_closed_in_time() {
    let mut tls = server(|_| ());
    let config = client_config(&tls.identity, rustls::DEFAULT_VERSIONS);
    let mut hello = Vec::new();
    tls.client(&config).conn.write_tls(&mut hello).unwrap();
    for len in [1, hello.len() / 2, hello.len()] {
        let peer = tls.harness.connect_silent(0);
        tls.harness.feed(peer, &hello[..len]);
        tls.harness.advance(Duration::from_millis(9_900));
        assert_eq!(tls.harness.closed(peer), None);
        tls.harness.advance(Duration::from_millis(300));
        assert_eq!(tls.harness.closed(peer), Some(Closed::HandshakeTimeout));
    }
    assert!(tls.seen.try_recv().is_err(), "the protocol has heard of none of them");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any number of bytes that the socket takes at once, and any division of sends into records.
    #[test]
    fn every_send_arrives_whole_and_in_order(
        sends in prop::collection::vec((1..6_000usize, 0..9_000usize), 1..60),
        per_send in any::<bool>(),
    ) {
        let mut tls = server(|config| {
            config.records = if per_send { edge::Records::PerSend } else { edge::Records::Full };
            config.output_soft_limit = usize::MAX;
        });
        let mut client = tls.connected();
        client.say(&mut tls.harness, b"hello\n", usize::MAX);
        let (mut written, mut said) = (Vec::new(), Vec::new());
        for (number, (length, room)) in sends.into_iter().enumerate() {
            tls.harness.set_room(client.handle, Some(room));
            let line = [vec![b'a' + (number % 26) as u8; length], b"\n".to_vec()].concat();
            client.tell(&mut tls.harness, &line);
            written.extend(tls.harness.output(client.handle));
            said.push(line);
        }
        tls.harness.set_room(client.handle, None);
        written.extend(tls.harness.output(client.handle));
        let records = client.records_of(&written);
        prop_assert_eq!(records.concat(), said.concat());
        if per_send {
            prop_assert_eq!(records, said);
        }
    }

    /// Garbage ends in an error, an alert or silence: never in a panic, never in plaintext.
    #[test]
    fn garbage_causes_no_panic_and_no_plaintext(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..300), 1..20)) {
        let mut tls = server(|_| ());
        let peer = tls.harness.connect_silent(0);
        tls.harness.feed(peer, &[0x16]);
        for part in &parts {
            tls.harness.feed(peer, part);
        }
        prop_assert!(tls.seen.try_recv().is_err());
        prop_assert_eq!(tls.harness.totals().panics, 0);
        let mut client = tls.connected();
        prop_assert_eq!(client.say(&mut tls.harness, b"fine\n", 1000), b"fine\n");
    }

    /// A valid exchange with one changed byte: every echoed byte was really sent.
    #[test]
    fn a_changed_byte_is_noticed(at in 0usize..400, change in 1u8..) {
        let mut tls = server(|_| ());
        let mut client = tls.connected();
        client.conn.writer().write_all(&[b'x'; 370]).unwrap();
        client.conn.writer().write_all(b"\n").unwrap();
        let mut sent = Vec::new();
        client.conn.write_tls(&mut sent).unwrap();
        let at = at % sent.len();
        sent[at] ^= change;
        tls.harness.feed(client.handle, &sent);
        if tls.harness.closed(client.handle) != Some(Closed::Tls) {
            // The length was increased, so the server waits for the rest; or the version was changed, which RFC 8446
            // §5.1 says to ignore.
            client.pump(&mut tls.harness, usize::MAX);
            let said = [&[b'x'; 370][..], b"\n"].concat();
            prop_assert!(client.plain.is_empty() || client.plain == said);
        }
    }
}

#[test]
fn certificate_files_are_read_and_their_errors_say_what_to_do() {
    let dir = std::env::temp_dir().join(format!("edge-tls-{}-{:?}", std::process::id(), memory()));
    std::fs::create_dir_all(&dir).unwrap();
    let write = |name: &str, text: &str| -> PathBuf {
        let path = dir.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (one, other) = (identity(), identity());
    let cert = write("cert.pem", &one.cert_pem);
    let key = write("key.pem", &one.key_pem);
    let wrong = write("wrong.pem", &other.key_pem);
    let empty = write("empty.pem", "nothing here\n");
    let broken = write("broken.pem", "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n");
    let missing = dir.join("missing.pem");

    assert_eq!(tls::load(&cert, &key, memory()).unwrap().alpn_protocols, vec![b"http/1.1".to_vec()]);
    assert!(
        matches!(tls::load(&missing, &key, memory()), Err(TlsError::Read { path, .. }) if path == missing)
    );
    assert!(
        matches!(tls::load(&empty, &key, memory()), Err(TlsError::NoCertificate { path }) if path == empty)
    );
    assert!(matches!(tls::load(&broken, &key, memory()), Err(TlsError::Pem { path, .. }) if path == broken));
    assert!(matches!(tls::load(&cert, &cert, memory()), Err(TlsError::NoKey { path }) if path == cert));
    let error = tls::load(&cert, &wrong, memory()).unwrap_err();
    assert!(matches!(error, TlsError::Unusable { .. }));
    assert!(error.to_string().contains("wrong.pem"), "{error}");
    std::fs::remove_dir_all(&dir).unwrap();
}

/// rustls's client with buffers has an exporter of its own, which judges ours.
#[test]
fn a_channel_binding_is_that_of_the_client() {
    let (identity, garden) = (identity(), identity_of("garden.example"));
    let config = server_config(&identity);
    let provider = rustls::crypto::ring::default_provider();
    let certified = tls::CertifiedKey::from_der(vec![garden.cert.clone()], garden.key.clone_key(), &provider);
    let names = [("garden.example".into(), Arc::new(certified.unwrap()))].into();
    let config = tls::with_channel_bindings(&tls::with_names(&config, names));
    for (name, certificate) in [("localhost", &identity.cert), ("garden.example", &garden.cert)] {
        for versions in [[&rustls::version::TLS13], [&rustls::version::TLS12]] {
            let mut roots = RootCertStore::empty();
            roots.add(certificate.clone()).unwrap();
            let client = ClientConfig::builder_with_provider(Arc::new(provider.clone()))
                .with_protocol_versions(&versions)
                .unwrap()
                .with_root_certificates(roots)
                .with_no_client_auth();
            let mut client =
                ClientConnection::new(Arc::new(client), name.to_owned().try_into().unwrap()).unwrap();
            let mut server = TlsEnd::server(Arc::clone(&config)).unwrap();
            while client.is_handshaking() || server.is_handshaking() {
                let mut out = Vec::new();
                while client.wants_write() {
                    client.write_tls(&mut out).unwrap();
                }
                server.receive(&mut out).unwrap();
                let answer = server.unsent();
                let mut rest = &answer[..];
                while !rest.is_empty() {
                    client.read_tls(&mut rest).unwrap();
                    client.process_new_packets().unwrap();
                }
            }
            let found = server.channel_bindings().unwrap();
            let is_13 = versions[0].version == rustls::ProtocolVersion::TLSv1_3;
            let exported = client.export_keying_material([0; 32], b"EXPORTER-Channel-Binding", Some(b""));
            assert_eq!(found.exporter, is_13.then(|| exported.unwrap()));
            let hash = ring::digest::digest(&ring::digest::SHA256, certificate);
            assert_eq!(found.end_point.as_deref(), Some(hash.as_ref()));
        }
    }
}

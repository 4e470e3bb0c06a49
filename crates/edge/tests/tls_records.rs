//! Records after the handshake: the same bytes go to a server with each [`Memory`], and rustls is the judge.

#![allow(clippy::unwrap_used)] // a test may panic

use std::io::{Cursor, Read, Write};
use std::sync::{Arc, LazyLock};

use edge::testing::TlsEnd;
use edge::tls::{self, Memory, ServerConfig};
use proptest::prelude::*;
use ring::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey};
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::cipher_suite as suites;
use rustls::kernel::KernelConnection;
use rustls::unbuffered::ConnectionState;
use rustls::{
    ClientConfig, ClientConnection, ConnectionTrafficSecrets, ProtocolVersion, RootCertStore,
    SupportedCipherSuite,
};
use rustls_pki_types::{PrivateKeyDer, ServerName};

const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const DATA: u8 = 23;
const KEY_UPDATE: [u8; 5] = [24, 0, 0, 1, 0];
const KEY_UPDATE_REQUESTED: [u8; 5] = [24, 0, 0, 1, 1];

const SUITES: [SupportedCipherSuite; 6] = [
    suites::TLS13_AES_128_GCM_SHA256,
    suites::TLS13_AES_256_GCM_SHA384,
    suites::TLS13_CHACHA20_POLY1305_SHA256,
    suites::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    suites::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    suites::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
];

fn is_tls13(suite: SupportedCipherSuite) -> bool {
    suite.tls13().is_some()
}

/// Type and content.
type Record = (u8, Vec<u8>);

/// A row: the records of a peer, and the reaction to them.
type Case = (&'static str, fn(&mut Peer) -> Vec<u8>, Reaction);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaction {
    /// The server reads these bytes and answers nothing.
    Reads(&'static [u8]),
    /// A fatal alert, also of rustls.
    Alert(u8),
    /// A fatal alert; rustls closes with another one, or with none.
    OwnAlert(u8),
    /// A fatal alert, and rustls tolerates it.
    Stricter(u8),
    /// Closed without an alert.
    Silence,
}

/// Offences and oddities of both versions. Numbers are alerts of RFC 8446 §B.2.
const BOTH: &[Case] = &[
    ("data", |peer| peer.seal(DATA, b"hello"), Reaction::Reads(b"hello")),
    ("empty data", |peer| [peer.seal(DATA, b""), peer.seal(DATA, b"x")].concat(), Reaction::Reads(b"x")),
    ("32 empty records", |peer| peer.times(32, DATA, b""), Reaction::Reads(b"")),
    ("33 empty records", |peer| peer.times(33, DATA, b""), Reaction::OwnAlert(10)),
    ("the largest record", |peer| peer.seal(DATA, &[0; 1 << 14]), Reaction::Reads(&[0; 1 << 14])),
    ("a larger record", |peer| peer.seal(DATA, &[0; (1 << 14) + 1]), Reaction::Alert(22)),
    ("a header of 65,535 bytes", |_| vec![23, 3, 3, 255, 255], Reaction::OwnAlert(22)),
    ("another protocol", |_| vec![23, 2, 0, 0, 1], Reaction::Alert(50)),
    ("an unknown type of record", |_| vec![99, 3, 3, 0, 1, 0], Reaction::OwnAlert(10)),
    ("change_cipher_spec", |_| vec![20, 3, 3, 0, 1, 1], Reaction::Alert(10)),
    ("a record shorter than a tag", |_| vec![23, 3, 3, 0, 3, 1, 2, 3], Reaction::Alert(20)),
    ("a flipped bit", |peer| flip(peer.seal(DATA, b"hello"), 40), Reaction::Alert(20)),
    ("a record twice", |peer| peer.seal(DATA, b"hello").repeat(2), Reaction::Alert(20)),
    ("close_notify", |peer| peer.seal(ALERT, &[1, 0]), Reaction::Reads(b"")),
    (
        "close_notify with data behind it",
        |peer| peer.times2((ALERT, &[1, 0]), (DATA, b"x")),
        Reaction::Reads(b""),
    ),
    ("a fatal alert", |peer| peer.seal(ALERT, &[2, 80]), Reaction::Silence),
    ("an alert of level 3", |peer| peer.seal(ALERT, &[3, 80]), Reaction::Alert(47)),
    ("half an alert", |peer| peer.seal(ALERT, &[2]), Reaction::Alert(50)),
    ("an empty alert", |peer| peer.seal(ALERT, b""), Reaction::OwnAlert(10)),
    ("an empty handshake message", |peer| peer.seal(HANDSHAKE, b""), Reaction::Stricter(10)),
    ("a ticket from a client", |peer| peer.seal(HANDSHAKE, &[4, 0, 0, 1, 0]), Reaction::OwnAlert(10)),
    ("Finished", |peer| peer.seal(HANDSHAKE, &[20, 0, 0, 1, 0]), Reaction::Alert(10)),
    ("CertificateRequest", |peer| peer.seal(HANDSHAKE, &[13, 0, 0, 1, 0]), Reaction::OwnAlert(10)),
];

const TLS13: &[Case] = &[
    ("padding", |peer| peer.seal_padded(DATA, b"hello", 300), Reaction::Reads(b"hello")),
    ("the most padding", |peer| peer.seal_padded(DATA, b"x", (1 << 14) - 1), Reaction::Reads(b"x")),
    ("more padding", |peer| peer.seal_padded(DATA, b"x", 1 << 14), Reaction::Alert(22)),
    ("only padding", |peer| peer.seal(0, b""), Reaction::OwnAlert(10)),
    ("KeyUpdate", |peer| peer.updated(&[&KEY_UPDATE], b"new"), Reaction::Reads(b"new")),
    (
        "KeyUpdate in two records",
        |peer| peer.updated(&[&[24, 0], &[0, 1, 0]], b"new"),
        Reaction::Reads(b"new"),
    ),
    (
        "KeyUpdate in five records",
        |peer| peer.updated(&[&[24], &[0], &[0], &[1], &[0]], b"new"),
        Reaction::Reads(b"new"),
    ),
    (
        "data within a KeyUpdate",
        |peer| peer.times2((HANDSHAKE, &[24, 0]), (DATA, b"x")),
        Reaction::OwnAlert(10),
    ),
    (
        "an alert within a KeyUpdate",
        |peer| peer.times2((HANDSHAKE, &[24, 0]), (ALERT, &[1, 0])),
        Reaction::OwnAlert(10),
    ),
    ("bytes behind a KeyUpdate", |peer| peer.seal(HANDSHAKE, &[24, 0, 0, 1, 0, 24]), Reaction::Alert(10)),
    (
        "KeyUpdate with an unknown request",
        |peer| peer.seal(HANDSHAKE, &[24, 0, 0, 1, 2]),
        Reaction::OwnAlert(47),
    ),
    ("KeyUpdate of two bytes", |peer| peer.seal(HANDSHAKE, &[24, 0, 0, 2, 0, 0]), Reaction::Alert(50)),
    (
        "KeyUpdate with the old key behind it",
        |peer| peer.times2((HANDSHAKE, &KEY_UPDATE), (DATA, b"x")),
        Reaction::Alert(20),
    ),
    (
        "32 KeyUpdates",
        |peer| (0..32).flat_map(|_| peer.updated(&[&KEY_UPDATE], b"")).collect(),
        Reaction::Reads(b""),
    ),
    (
        "33 KeyUpdates",
        |peer| (0..33).flat_map(|_| peer.updated(&[&KEY_UPDATE], b"")).collect(),
        Reaction::OwnAlert(10),
    ),
    (
        "KeyUpdates between data",
        |peer| (0..100).flat_map(|_| peer.updated(&[&KEY_UPDATE], b"x")).collect(),
        Reaction::Reads(&[b'x'; 100]),
    ),
    (
        "user_canceled",
        |peer| [peer.seal(ALERT, &[1, 90]), peer.seal(DATA, b"x")].concat(),
        Reaction::Reads(b"x"),
    ),
    ("another warning", |peer| peer.seal(ALERT, &[1, 41]), Reaction::Alert(50)),
    ("ClientHello", |peer| peer.seal(HANDSHAKE, &[1, 0, 0, 1, 0]), Reaction::OwnAlert(10)),
    ("a plain alert", |_| vec![21, 3, 3, 0, 2, 1, 0], Reaction::OwnAlert(10)),
    ("protected change_cipher_spec", |peer| peer.seal(20, &[1]), Reaction::Alert(10)),
];

const TLS12: &[Case] = &[
    (
        "warnings",
        |peer| [peer.times(4, ALERT, &[1, 41]), peer.seal(DATA, b"x")].concat(),
        Reaction::Reads(b"x"),
    ),
    ("too many warnings", |peer| peer.times(5, ALERT, &[1, 41]), Reaction::OwnAlert(10)),
    ("KeyUpdate", |peer| peer.seal(HANDSHAKE, &KEY_UPDATE), Reaction::OwnAlert(10)),
    ("a ClientHello of 16 MB", |peer| peer.seal(HANDSHAKE, &[1, 255, 255, 255, 3]), Reaction::OwnAlert(50)),
];

#[test]
fn every_offence_has_its_alert() {
    let mut wrong = Vec::new();
    for suite in SUITES {
        for (name, records, expected) in BOTH.iter().chain(if is_tls13(suite) { TLS13 } else { TLS12 }) {
            let judged = react(suite, Memory::Rustls, *records);
            let reaction = react(suite, Memory::Low, *records);
            let alert = |alert| (None, vec![(ALERT, vec![2, alert])]);
            let right = match *expected {
                Reaction::Reads(bytes) => reaction == (Some(bytes.to_vec()), vec![]) && judged == reaction,
                Reaction::Alert(number) => reaction == alert(number) && judged == reaction,
                Reaction::OwnAlert(number) => reaction == alert(number) && judged.0.is_none(),
                Reaction::Stricter(number) => reaction == alert(number) && judged.0.is_some(),
                Reaction::Silence => reaction == (None, vec![]) && judged == reaction,
            };
            if !right {
                wrong.push((name, suite.suite(), reaction, judged));
            }
        }
    }
    assert_eq!(wrong, []);
}

/// The plaintext that a server reads, or None if it refuses; and its answers.
fn react(
    suite: SupportedCipherSuite,
    memory: Memory,
    records: fn(&mut Peer) -> Vec<u8>,
) -> (Option<Vec<u8>>, Vec<Record>) {
    let (mut peer, mut server) = connected(suite, memory);
    let read = server.receive(&mut records(&mut peer)).ok();
    (read, peer.open(&server.unsent()))
}

#[test]
fn a_requested_key_update_goes_before_the_next_data() {
    for suite in SUITES.into_iter().filter(|suite| is_tls13(*suite)) {
        for memory in [Memory::Low, Memory::Rustls] {
            let (mut peer, mut server) = connected(suite, memory);
            let asked: Vec<u8> = (0..3).flat_map(|_| peer.updated(&[&KEY_UPDATE_REQUESTED], b"")).collect();
            server.receive(&mut asked.clone()).unwrap();
            assert_eq!(peer.open(&server.unsent()), [], "no answer without data");
            let sealed = server.seal(b"one").unwrap();
            let (update, data) = sealed.split_at(5 + usize::from(sealed[4]));
            assert_eq!(peer.open(update), [(HANDSHAKE, KEY_UPDATE.to_vec())], "one answer to three requests");
            peer.update_rx();
            assert_eq!(peer.open(data), [(DATA, b"one".to_vec())]);
            assert_eq!(peer.open(&server.seal(b"two").unwrap()), [(DATA, b"two".to_vec())]);
        }
    }
}

#[test]
fn a_renegotiation_is_refused_by_a_warning() {
    for suite in SUITES.into_iter().filter(|suite| !is_tls13(*suite)) {
        // Cut within its header and within its body.
        let hello = [&[1, 0, 1, 44][..], &[7; 300]].concat();
        let (mut peer, mut server) = connected(suite, Memory::Low);
        for part in [&hello[..3], &hello[3..9], &hello[9..]] {
            assert_eq!(server.receive(&mut peer.seal(HANDSHAKE, part)).unwrap(), b"");
        }
        assert_eq!(peer.open(&server.unsent()), [(ALERT, vec![1, 100])]);
        assert_eq!(server.receive(&mut peer.seal(DATA, b"x")).unwrap(), b"x", "the connection continues");
        for _ in 0..3 {
            server.receive(&mut peer.seal(HANDSHAKE, &hello)).unwrap();
        }
        assert!(server.receive(&mut peer.seal(HANDSHAKE, &hello)).is_err(), "not for ever");
    }
}

/// The handshake and everything behind it arrive in one read: rustls gets none of the latter.
#[test]
fn bytes_right_behind_the_handshake_are_not_lost() {
    for suite in SUITES.into_iter().filter(|suite| is_tls13(*suite)) {
        let (client, mut server) = ends(suite, Memory::Low);
        let (mut peer, mut unsent) = Peer::finish(client, suite, &mut server, Deliver::Later);
        unsent.extend(peer.seal(DATA, b"one "));
        unsent.extend(peer.updated(&[&KEY_UPDATE_REQUESTED], b"two "));
        unsent.extend(peer.seal(DATA, b"three"));
        let cut = unsent.len() - 3;
        let mut read = server.receive(&mut unsent[..cut].to_vec()).unwrap();
        assert_eq!(read, b"one two ");
        read.extend(server.receive(&mut unsent[cut..].to_vec()).unwrap());
        assert_eq!(read, b"one two three");
    }
}

fn flip(mut record: Vec<u8>, at: usize) -> Vec<u8> {
    let at = at.min(record.len() - 1);
    record[at] ^= 1;
    record
}

/// One direction of a client, with its own cryptography.
struct Half {
    number: u64,
    key: LessSafeKey,
    iv: [u8; 12],
}

impl Half {
    fn new((number, secrets): (u64, ConnectionTrafficSecrets)) -> Half {
        let (algorithm, key, iv) = match secrets {
            ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (&aead::AES_128_GCM, key, iv),
            ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (&aead::AES_256_GCM, key, iv),
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (&aead::CHACHA20_POLY1305, key, iv),
            _ => panic!("another cipher"),
        };
        let key = LessSafeKey::new(UnboundKey::new(algorithm, key.as_ref()).unwrap());
        Half { number, key, iv: iv.as_ref().try_into().unwrap() }
    }

    fn nonce(&mut self) -> [u8; 12] {
        let mut nonce = self.iv;
        for (byte, number) in nonce[4..].iter_mut().zip(self.number.to_be_bytes()) {
            *byte ^= number;
        }
        self.number += 1;
        nonce
    }
}

/// A client that makes and reads records by itself. rustls has done its handshake, and updates its keys.
struct Peer {
    suite: SupportedCipherSuite,
    kernel: KernelConnection<ClientConnectionData>,
    tx: Half,
    rx: Half,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Deliver {
    Now,
    /// The last flight of the client is returned.
    Later,
}

impl Peer {
    fn finish(
        mut client: UnbufferedClientConnection,
        suite: SupportedCipherSuite,
        server: &mut TlsEnd,
        deliver: Deliver,
    ) -> (Peer, Vec<u8>) {
        let (mut incoming, mut outgoing) = (Vec::new(), Vec::new());
        loop {
            let status = client.process_tls_records(&mut incoming);
            let discard = status.discard;
            let mut done = false;
            match status.state.unwrap() {
                ConnectionState::EncodeTlsData(mut data) => {
                    let mut chunk = vec![0; 20_000];
                    let length = data.encode(&mut chunk).unwrap();
                    outgoing.extend_from_slice(&chunk[..length]);
                }
                ConnectionState::TransmitTlsData(data) => data.done(),
                ConnectionState::BlockedHandshake => {
                    server.receive(&mut std::mem::take(&mut outgoing)).unwrap();
                    incoming.drain(..discard);
                    incoming.extend(server.unsent());
                    continue;
                }
                ConnectionState::WriteTraffic(_) => done = true,
                other => panic!("{other:?}"),
            }
            incoming.drain(..discard);
            if done {
                break;
            }
        }
        let (secrets, kernel) = client.dangerous_into_kernel_connection().unwrap();
        let mut peer = Peer { suite, kernel, tx: Half::new(secrets.tx), rx: Half::new(secrets.rx) };
        if deliver == Deliver::Now {
            server.receive(&mut std::mem::take(&mut outgoing)).unwrap();
            assert!(!server.is_handshaking());
            for (kind, _) in peer.open(&server.unsent()) {
                assert_eq!(kind, HANDSHAKE, "a ticket");
            }
        }
        (peer, outgoing)
    }

    fn is_gcm(&self) -> bool {
        self.tx.key.algorithm() != &aead::CHACHA20_POLY1305
    }

    fn seal(&mut self, kind: u8, content: &[u8]) -> Vec<u8> {
        self.seal_padded(kind, content, 0)
    }

    fn seal_padded(&mut self, kind: u8, content: &[u8], padding: usize) -> Vec<u8> {
        let number = self.tx.number;
        let nonce = self.tx.nonce();
        let explicit = if self.is_gcm() { &nonce[4..] } else { &[] };
        let mut sealed = content.to_vec();
        let length = |length: usize| u16::try_from(length).unwrap().to_be_bytes();
        if is_tls13(self.suite) {
            sealed.push(kind);
            sealed.resize(sealed.len() + padding, 0);
            let header = [&[23, 3, 3][..], &length(sealed.len() + 16)].concat();
            let nonce = Nonce::assume_unique_for_key(nonce);
            self.tx.key.seal_in_place_append_tag(nonce, Aad::from(&header), &mut sealed).unwrap();
            return [header, sealed].concat();
        }
        let header = [&number.to_be_bytes()[..], &[kind, 3, 3], &length(content.len())].concat();
        let explicit = explicit.to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        self.tx.key.seal_in_place_append_tag(nonce, Aad::from(header), &mut sealed).unwrap();
        [&[kind, 3, 3][..], &length(explicit.len() + sealed.len()), &explicit, &sealed].concat()
    }

    fn times(&mut self, times: usize, kind: u8, content: &[u8]) -> Vec<u8> {
        (0..times).flat_map(|_| self.seal(kind, content)).collect()
    }

    fn times2(&mut self, first: (u8, &[u8]), second: (u8, &[u8])) -> Vec<u8> {
        [self.seal(first.0, first.1), self.seal(second.0, second.1)].concat()
    }

    /// A KeyUpdate in parts, then data with the new key.
    fn updated(&mut self, parts: &[&[u8]], data: &[u8]) -> Vec<u8> {
        let mut records: Vec<u8> = parts.iter().flat_map(|part| self.seal(HANDSHAKE, part)).collect();
        self.tx = Half::new(self.kernel.update_tx_secret().unwrap());
        if !data.is_empty() {
            records.extend(self.seal(DATA, data));
        }
        records
    }

    fn update_rx(&mut self) {
        self.rx = Half::new(self.kernel.update_rx_secret().unwrap());
    }

    fn open(&mut self, mut bytes: &[u8]) -> Vec<Record> {
        let mut records = Vec::new();
        while let [kind, major, minor, high, low, ..] = *bytes {
            let (record, rest) = bytes.split_at(5 + usize::from(u16::from_be_bytes([high, low])));
            bytes = rest;
            let number = self.rx.number;
            let mut nonce = self.rx.nonce();
            let mut body = record[5..].to_vec();
            if is_tls13(self.suite) {
                let nonce = Nonce::assume_unique_for_key(nonce);
                let aad = Aad::from([kind, major, minor, high, low]);
                let inner = self.rx.key.open_in_place(nonce, aad, &mut body).unwrap();
                let end = inner.iter().rposition(|byte| *byte != 0).unwrap();
                records.push((inner[end], inner[..end].to_vec()));
                continue;
            }
            if self.is_gcm() {
                nonce[4..].copy_from_slice(&body.drain(..8).collect::<Vec<u8>>());
            }
            let length = u16::try_from(body.len() - 16).unwrap().to_be_bytes();
            let aad = [&number.to_be_bytes()[..], &[kind, major, minor], &length].concat();
            let nonce = Nonce::assume_unique_for_key(nonce);
            records
                .push((kind, self.rx.key.open_in_place(nonce, Aad::from(aad), &mut body).unwrap().to_vec()));
        }
        assert!(bytes.is_empty(), "half a record");
        records
    }
}

static SERVER: LazyLock<(Arc<ServerConfig>, RootCertStore)> = LazyLock::new(|| {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    (tls::server_config(vec![made.cert.der().clone()], key).unwrap(), roots)
});

fn client_config(suite: SupportedCipherSuite) -> ClientConfig {
    let provider = CryptoProvider { cipher_suites: vec![suite], ..rustls::crypto::ring::default_provider() };
    let version = match suite.version().version {
        ProtocolVersion::TLSv1_3 => &rustls::version::TLS13,
        _ => &rustls::version::TLS12,
    };
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(SERVER.1.clone())
        .with_no_client_auth();
    config.enable_secret_extraction = true;
    config
}

fn name() -> ServerName<'static> {
    ServerName::try_from("localhost").unwrap()
}

fn ends(suite: SupportedCipherSuite, memory: Memory) -> (UnbufferedClientConnection, TlsEnd) {
    let client = UnbufferedClientConnection::new(Arc::new(client_config(suite)), name()).unwrap();
    (client, TlsEnd::server(memory.of_server(&SERVER.0)).unwrap())
}

fn connected(suite: SupportedCipherSuite, memory: Memory) -> (Peer, TlsEnd) {
    let (client, mut server) = ends(suite, memory);
    let (peer, _) = Peer::finish(client, suite, &mut server, Deliver::Now);
    (peer, server)
}

#[derive(Debug, Clone, Copy)]
enum Step {
    ClientSends(usize),
    ServerSends(usize),
    ClientUpdatesKeys,
}

fn step() -> impl Strategy<Value = Step> {
    let length = || prop_oneof![3 => 1..300usize, 1 => 16_000..40_000usize];
    prop_oneof![
        4 => length().prop_map(Step::ClientSends),
        4 => length().prop_map(Step::ServerSends),
        1 => Just(Step::ClientUpdatesKeys),
    ]
}

/// Mostly messages of the handshake protocol and alerts, or parts of them.
fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(KEY_UPDATE.to_vec()),
        Just(KEY_UPDATE[..3].to_vec()),
        Just(vec![1, 0]),
        Just(vec![1, 90]),
        prop::collection::vec(prop::sample::select(vec![0, 1, 2, 4, 24]), 0..6),
        prop::collection::vec(any::<u8>(), 0..20),
    ]
}

/// Moves what the client has to say, in chunks. Returns what the server reads.
fn to_server(client: &mut ClientConnection, server: &mut TlsEnd, chunk: usize) -> Vec<u8> {
    let (mut sent, mut read) = (Vec::new(), Vec::new());
    while client.wants_write() {
        client.write_tls(&mut sent).unwrap();
    }
    for part in sent.chunks_mut(chunk) {
        read.extend(server.receive(part).unwrap());
    }
    read
}

fn to_client(client: &mut ClientConnection, bytes: &[u8], chunk: usize) -> Vec<u8> {
    let mut read = Vec::new();
    for part in bytes.chunks(chunk) {
        let mut part = Cursor::new(part);
        while (part.position() as usize) < part.get_ref().len() {
            client.read_tls(&mut part).unwrap();
            client.process_new_packets().unwrap();
            let mut buffer = [0; 65_536];
            while let Ok(n @ 1..) = client.reader().read(&mut buffer) {
                read.extend_from_slice(&buffer[..n]);
            }
        }
    }
    read
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any conversation with rustls' own client, in any division into reads.
    #[test]
    fn every_byte_arrives_in_both_directions(
        suite in prop::sample::select(SUITES.to_vec()),
        steps in prop::collection::vec(step(), 1..30),
        chunk in prop_oneof![1..50usize, 50..70_000usize],
    ) {
        let mut client = ClientConnection::new(Arc::new(client_config(suite)), name()).unwrap();
        client.set_buffer_limit(None);
        let mut server = TlsEnd::server(Memory::Low.of_server(&SERVER.0)).unwrap();
        while client.is_handshaking() || server.is_handshaking() {
            to_server(&mut client, &mut server, chunk);
            to_client(&mut client, &server.unsent(), chunk);
        }
        for (number, step) in steps.into_iter().enumerate() {
            let bytes = |length: usize| -> Vec<u8> { (0..length).map(|at| (at * 7 + number) as u8).collect() };
            match step {
                Step::ClientSends(length) => {
                    client.writer().write_all(&bytes(length)).unwrap();
                    prop_assert_eq!(to_server(&mut client, &mut server, chunk), bytes(length));
                    let answers = server.unsent();
                    prop_assert!(to_client(&mut client, &answers, chunk).is_empty());
                }
                Step::ServerSends(length) => {
                    let sealed = server.seal(&bytes(length)).unwrap();
                    prop_assert_eq!(to_client(&mut client, &sealed, chunk), bytes(length));
                }
                Step::ClientUpdatesKeys if is_tls13(suite) => client.refresh_traffic_keys().unwrap(),
                Step::ClientUpdatesKeys => {}
            }
        }
    }

    /// The client of the record layer against rustls' server, and against its own.
    #[test]
    fn a_client_keeps_secrets_only_as_well(
        suite in prop::sample::select(SUITES.to_vec()),
        memory in prop::sample::select(vec![Memory::Low, Memory::Rustls]),
        sizes in prop::collection::vec((0..40_000usize, 0..40_000usize), 1..5),
    ) {
        let config = Memory::Low.of_client(&client_config(suite));
        let mut client = TlsEnd::client(config, name()).unwrap();
        let mut server = TlsEnd::server(memory.of_server(&SERVER.0)).unwrap();
        client.receive(&mut []).unwrap();
        while client.is_handshaking() || server.is_handshaking() {
            server.receive(&mut client.unsent()).unwrap();
            client.receive(&mut server.unsent()).unwrap();
        }
        for (ours, theirs) in sizes {
            let (ours, theirs) = (vec![1; ours], vec![2; theirs]);
            prop_assert_eq!(server.receive(&mut client.seal(&ours).unwrap()).unwrap(), ours);
            prop_assert_eq!(client.receive(&mut server.seal(&theirs).unwrap()).unwrap(), theirs);
        }
    }

    /// Correctly sealed records of any type and content: what we read, rustls reads too.
    #[test]
    fn no_record_is_read_that_rustls_refuses(
        suite in prop::sample::select(SUITES[..3].to_vec()),
        records in prop::collection::vec((prop::sample::select(vec![0, 20, 21, 22, 22, 23, 23, 24]), content()), 1..8),
    ) {
        let [ours, judged] = [Memory::Low, Memory::Rustls].map(|memory| {
            let (mut peer, mut server) = connected(suite, memory);
            let mut sealed: Vec<u8> = records.iter().flat_map(|(kind, bytes)| peer.seal(*kind, bytes)).collect();
            server.receive(&mut sealed).ok()
        });
        prop_assert!(ours.is_none() || ours == judged, "{ours:?} {judged:?}");
    }

    /// Any bytes instead of a record: an error or a wait for more, as rustls does, and never plaintext.
    #[test]
    fn other_bytes_are_refused_as_rustls_refuses_them(
        suite in prop::sample::select(SUITES.to_vec()),
        header in (20..25u8, 0..30u16),
        bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let (kind, length) = header;
        let record = [&[kind, 3, 3][..], &length.to_be_bytes(), &bytes].concat();
        let heard = [Memory::Low, Memory::Rustls].map(|memory| {
            connected(suite, memory).1.receive(&mut record.clone()).map_err(drop)
        });
        if let Ok(read) = &heard[0] {
            prop_assert!(read.is_empty());
        }
        // rustls waits for the rest of a record whose type it will refuse.
        let complete = bytes.len() >= usize::from(length);
        prop_assert!(heard[0].is_err() || heard[1].is_ok());
        prop_assert!(!complete || heard[0] == heard[1], "{heard:?}");
    }
}

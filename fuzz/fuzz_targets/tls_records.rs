//! Records after the handshake, of any type and content: what a server with secrets only reads, rustls reads too.
#![no_main]

use std::sync::{Arc, LazyLock};

use edge::testing::TlsEnd;
use edge::tls::Memory;
use libfuzzer_sys::fuzz_target;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{cipher_suite as suites, default_provider};
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedCipherSuite};
use rustls_pki_types::{PrivateKeyDer, ServerName};

const SUITES: [SupportedCipherSuite; 6] = [
    suites::TLS13_AES_128_GCM_SHA256,
    suites::TLS13_AES_256_GCM_SHA384,
    suites::TLS13_CHACHA20_POLY1305_SHA256,
    suites::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    suites::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    suites::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
];

static CONFIGS: LazyLock<(Arc<ServerConfig>, Vec<Arc<ClientConfig>>)> = LazyLock::new(configs);

fuzz_target!(|input: &[u8]| {
    let [how, rest @ ..] = input else { return };
    let suite = usize::from(how % 6);
    let chunk = usize::from(how / 6) + 1;
    let read = read(suite, Memory::Low, rest, chunk);
    // With version 1.2 the two count warnings in different ways.
    if suite < 3
        && let Some(read) = read
    {
        assert_eq!(self::read(suite, Memory::Rustls, rest, chunk), Some(read));
    }
});

/// The plaintext of all records, or None if one was refused. A record: type, length, content.
fn read(suite: usize, memory: Memory, mut input: &[u8], chunk: usize) -> Option<Vec<u8>> {
    let (mut client, mut server) = connected(suite, memory);
    let mut plain = Vec::new();
    while let [kind, length, rest @ ..] = input {
        let (content, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        input = rest;
        let mut sealed = client.seal_as(*kind, content).expect("after the handshake");
        for part in sealed.chunks_mut(chunk) {
            plain.extend(server.receive(part).ok()?);
        }
    }
    Some(plain)
}

fn connected(suite: usize, memory: Memory) -> (TlsEnd, TlsEnd) {
    let (server, clients) = &*CONFIGS;
    let name = ServerName::try_from("localhost").expect("a name");
    let mut client = TlsEnd::client(Arc::clone(&clients[suite]), name).expect("a client");
    let mut server = TlsEnd::server(memory.of_server(server)).expect("a server");
    client.receive(&mut []).expect("a beginning");
    while client.is_handshaking() || server.is_handshaking() {
        server.receive(&mut client.unsent()).expect("an honest client");
        client.receive(&mut server.unsent()).expect("an honest server");
    }
    (client, server)
}

fn configs() -> (Arc<ServerConfig>, Vec<Arc<ClientConfig>>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let cert = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let server = edge::tls::server_config(vec![cert.clone()], key).expect("a server's configuration");
    let mut roots = RootCertStore::empty();
    roots.add(cert).expect("a root");
    let client = |suite| {
        let provider = CryptoProvider { cipher_suites: vec![suite], ..default_provider() };
        let version =
            if SUITES[..3].contains(&suite) { &rustls::version::TLS13 } else { &rustls::version::TLS12 };
        let config = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_protocol_versions(&[version])
            .expect("versions")
            .with_root_certificates(roots.clone())
            .with_no_client_auth();
        Memory::Low.of_client(&config)
    };
    (server, SUITES.map(client).to_vec())
}

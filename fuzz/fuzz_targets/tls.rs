//! TLS: any bytes before, instead of, or inside of records cause an error at most.
#![no_main]

use std::sync::{Arc, LazyLock};

use edge::testing::TlsEnd;
use libfuzzer_sys::fuzz_target;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use rustls_pki_types::{PrivateKeyDer, ServerName};

static CONFIGS: LazyLock<(Arc<ServerConfig>, Arc<ClientConfig>)> = LazyLock::new(configs);

fuzz_target!(|input: &[u8]| {
    let [how, rest @ ..] = input else { return };
    let (mut client, mut server) = ends();
    match how % 4 {
        0 => {
            let _ = server.receive(&mut rest.to_vec());
        }
        1 => {
            let _ = client.receive(&mut []).and_then(|_| client.receive(&mut rest.to_vec()));
        }
        2 => {
            handshake(&mut client, &mut server);
            let _ = server.receive(&mut rest.to_vec());
        }
        _ => {
            handshake(&mut client, &mut server);
            // The receiver gets the same bytes, in whatever pieces the record arrives.
            let mut sealed = client.seal(rest).expect("after the handshake");
            let mut heard = Vec::new();
            for part in sealed.chunks_mut(usize::from(*how) + 1) {
                heard.extend(server.receive(part).expect("an honest peer"));
            }
            assert_eq!(heard, rest);
            // A damaged record is refused.
            if let Some(at) = rest.first() {
                let mut sealed = client.seal(rest).expect("after the handshake");
                let at = 5 + usize::from(*at) % (sealed.len() - 5);
                sealed[at] ^= 1;
                assert!(server.receive(&mut sealed).is_err());
            }
        }
    }
});

fn ends() -> (TlsEnd, TlsEnd) {
    let (server, client) = &*CONFIGS;
    let name = ServerName::try_from("localhost").expect("a name");
    (
        TlsEnd::client(Arc::clone(client), name).expect("a client"),
        TlsEnd::server(Arc::clone(server)).expect("a server"),
    )
}

fn handshake(client: &mut TlsEnd, server: &mut TlsEnd) {
    client.receive(&mut []).expect("a beginning");
    while client.is_handshaking() || server.is_handshaking() {
        server.receive(&mut client.unsent()).expect("an honest client");
        client.receive(&mut server.unsent()).expect("an honest server");
    }
    server.receive(&mut client.unsent()).expect("an honest client");
    client.receive(&mut server.unsent()).expect("an honest server");
}

fn configs() -> (Arc<ServerConfig>, Arc<ClientConfig>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let cert = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let server = edge::tls::server_config(vec![cert.clone()], key).expect("a server's configuration");
    let server = edge::tls::Memory::Low.of_server(&server);
    let mut roots = RootCertStore::empty();
    roots.add(cert).expect("a root");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    (server, Arc::new(client))
}

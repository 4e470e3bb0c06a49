//! HTTPS with certificates from files, which are replaced while the node runs.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use rustls::{ClientConfig, ClientConnection, ConnectionTrafficSecrets, RootCertStore, StreamOwned};

use crate::running::{PATIENCE, Running, Scratch, poll, text};

#[test]
fn a_renewed_certificate_is_used_after_sighup_and_a_broken_one_is_not() {
    let scratch = Scratch::new("tls");
    let (cert, key) = (scratch.path().join("cert.pem"), scratch.path().join("key.pem"));
    let first = write_certificate(&cert, &key);
    let node = Running::start(
        &scratch,
        "serve",
        &["--https", "127.0.0.1:0", "--tls-cert", cert.to_str().unwrap(), "--tls-key", key.to_str().unwrap()],
    );
    assert!(healthz(&node, &first).is_some());

    let second = write_certificate(&cert, &key);
    node.signal("HUP");
    poll("the new certificate", || healthz(&node, &second));
    assert!(healthz(&node, &first).is_none(), "the old one is not shown any more");

    fs::write(&cert, "no certificate").unwrap();
    node.signal("HUP");
    poll("a complaint in the log", || node.log().contains("cert.pem").then_some(()));
    assert!(healthz(&node, &second).is_some(), "the last good one stays");
}

#[test]
fn a_wrong_certificate_at_the_start_is_explained() {
    let scratch = Scratch::new("tls-wrong");
    let (cert, key) = (scratch.path().join("cert.pem"), scratch.path().join("key.pem"));
    write_certificate(&cert, &key);
    let other_key = scratch.path().join("other.pem");
    write_certificate(&scratch.path().join("other-cert.pem"), &other_key);
    let line = |key: &Path| {
        format!(
            "serve --http 127.0.0.1:0 --https 127.0.0.1:0 --tls-cert {} --tls-key {}",
            cert.display(),
            key.display()
        )
    };
    let said = scratch.fails(&line(&other_key));
    assert!(said.contains("other.pem") && said.contains("key must be the one"), "{said}");
    let said = scratch.fails(&line(Path::new("/no/such/key.pem")));
    assert!(said.contains("/no/such/key.pem"), "{said}");
}

/// rustls logs a warning about each such peer; a stranger could fill the disk with them.
#[test]
fn an_ip_address_as_sni_is_a_metric_and_no_warning() {
    let scratch = Scratch::new("tls-sni");
    let (cert, key) = (scratch.path().join("cert.pem"), scratch.path().join("key.pem"));
    write_certificate(&cert, &key);
    let node = Running::start(
        &scratch,
        "serve",
        &["--https", "127.0.0.1:0", "--tls-cert", cert.to_str().unwrap(), "--tls-key", key.to_str().unwrap()],
    );
    // No current client library sends one, so the test replaces a name of the same length.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from("abc.def.gh").unwrap();
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut hello = Vec::new();
    connection.write_tls(&mut hello).unwrap();
    let at = hello.windows(10).position(|window| window == b"abc.def.gh").unwrap();
    for address in ["192.0.2.10", "not_a host"] {
        hello[at..at + 10].copy_from_slice(address.as_bytes());
        let mut stream = TcpStream::connect(node.https.unwrap()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(&hello).unwrap();
        let mut answer = [0; 1];
        assert_eq!(stream.read(&mut answer).unwrap(), 1, "the server's hello, or an alert");
    }
    assert!(node.metric("kith_edge_tls_peer_mistakes_total") >= 1.0);
    assert!(!node.log().contains("WARN"), "{}", node.log());
}

/// RFC 5746 §4.4: with TLS 1.2 a client may request another handshake. No current client library does, so the test
/// makes the record.
#[test]
fn a_renegotiation_is_a_metric_and_no_warning() {
    let scratch = Scratch::new("tls-renegotiation");
    let (cert, key) = (scratch.path().join("cert.pem"), scratch.path().join("key.pem"));
    let trusted = write_certificate(&cert, &key);
    let node = Running::start(
        &scratch,
        "serve",
        &["--https", "127.0.0.1:0", "--tls-cert", cert.to_str().unwrap(), "--tls-key", key.to_str().unwrap()],
    );
    for _ in 0..3 {
        ask_for_another_handshake(&node, &trusted);
    }
    assert!(node.metric("kith_edge_tls_peer_mistakes_total") >= 3.0);
    assert!(!node.log().contains("WARN"), "{}", node.log());
    assert!(healthz(&node, &trusted).is_some(), "others are served");
}

/// A client of others, with both versions, for each memory of connections.
#[test]
fn curl_gets_pages_with_each_memory() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: no `curl` on this machine");
        return;
    }
    for memory in ["low", "rustls"] {
        let scratch = Scratch::new(&format!("tls-curl-{memory}"));
        let (cert, key) = (scratch.path().join("cert.pem"), scratch.path().join("key.pem"));
        write_certificate(&cert, &key);
        let (cert, key) = (cert.to_str().unwrap(), key.to_str().unwrap());
        let flags = ["--https", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--tls-memory", memory];
        let node = Running::start(&scratch, "serve", &flags);
        let port = node.https.unwrap().port();
        for version in ["1.2", "1.3"] {
            // Two requests with one connection, and a page of many records.
            let page = |path: &str| format!("https://localhost:{port}/{path}");
            let output = Command::new("curl")
                .args(["--silent", "--show-error", "--fail", "--http1.1", "--cacert", cert])
                .args(["--tls-max", version, &format!("--tlsv{version}")])
                .args(["--write-out", "%{num_connects}\n", &page("healthz"), &page("kith.js")])
                .output()
                .unwrap();
            let said = text(&output.stdout);
            assert!(output.status.success(), "{memory}, {version}: {}", text(&output.stderr));
            assert!(
                said.len() > 10_000 && said.ends_with("0\n"),
                "{memory}, {version}: {} bytes",
                said.len()
            );
        }
    }
}

/// Returns when the server has reacted.
fn ask_for_another_handshake(node: &Running, trusted: &CertificateDer<'static>) {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let suite = rustls::crypto::ring::cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256;
    let provider = CryptoProvider { cipher_suites: vec![suite], ..rustls::crypto::ring::default_provider() };
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.enable_secret_extraction = true;
    let name = ServerName::try_from("localhost").unwrap();
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut first = Vec::new();
    connection.write_tls(&mut first).unwrap();
    let mut stream = TcpStream::connect(node.https.unwrap()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&first).unwrap();
    while connection.is_handshaking() {
        connection.complete_io(&mut stream).unwrap();
    }

    // The first record's header is 5 bytes; the same `ClientHello` once more, encrypted.
    let hello = &first[5..];
    let (seq, secrets) = connection.dangerous_extract_secrets().unwrap().tx;
    let ConnectionTrafficSecrets::Aes128Gcm { key, iv } = secrets else { panic!("another cipher suite") };
    // RFC 5288 §3: four bytes of the connection, eight of the record.
    let explicit = (1_000 + seq).to_be_bytes();
    let nonce: [u8; 12] = [&iv.as_ref()[..4], &explicit].concat().try_into().unwrap();
    let header = [22, 3, 3];
    let length = u16::try_from(hello.len()).unwrap().to_be_bytes();
    let sealed_with = [&seq.to_be_bytes()[..], &header, &length].concat();
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, key.as_ref()).unwrap());
    let mut sealed = hello.to_vec();
    let nonce = Nonce::assume_unique_for_key(nonce);
    key.seal_in_place_append_tag(nonce, Aad::from(sealed_with), &mut sealed).unwrap();
    let length = u16::try_from(explicit.len() + sealed.len()).unwrap().to_be_bytes();
    stream.write_all(&[&header[..], &length, &explicit, &sealed].concat()).unwrap();
    let mut alert = [0; 1];
    assert_eq!(stream.read(&mut alert).unwrap(), 1);
    assert_eq!(alert[0], 21, "an alert");
}

/// Writes a new self-signed certificate for `localhost`, and returns it.
pub(crate) fn write_certificate(cert: &Path, key: &Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    fs::write(cert, made.cert.pem()).unwrap();
    fs::write(key, made.signing_key.serialize_pem()).unwrap();
    CertificateDer::from_pem_slice(made.cert.pem().as_bytes()).unwrap()
}

/// Some if the node answers with exactly this certificate.
fn healthz(node: &Running, trusted: &CertificateDer<'static>) -> Option<()> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(node.https.unwrap()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    text(&answer).starts_with("HTTP/1.1 200").then_some(())
}

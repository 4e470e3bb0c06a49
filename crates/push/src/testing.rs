//! A local push service, and a browser that decrypts its messages: for the tests of this crate and of its users.
#![allow(clippy::unwrap_used, reason = "for tests: what cannot go on has failed")]

use std::sync::Arc;
use std::time::Duration;

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::SystemRandom;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto};

use crate::{Client, Endpoint, Reach, Receiver};

/// Gives each request the same answer and records the requests.
pub struct Service {
    port: u16,
    certificate: rcgen::Certificate,
    requests: Mutex<mpsc::UnboundedReceiver<(String, Vec<u8>)>>,
}

impl Service {
    pub async fn begin(answer: &str) -> Service {
        let rcgen::CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = mpsc::unbounded_channel();
        let answer = answer.to_owned();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let Ok(mut stream) = acceptor.accept(socket).await else { continue };
                let mut bytes = Vec::new();
                let request = loop {
                    let mut part = [0; 4_096];
                    let read = stream.read(&mut part).await.unwrap_or(0);
                    bytes.extend_from_slice(&part[..read]);
                    match whole(&bytes) {
                        Some(request) => break Some(request),
                        None if read == 0 => break None,
                        None => {}
                    }
                };
                if let Some(request) = request {
                    let _ = sender.send(request);
                }
                let _ = stream.write_all(answer.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        });
        Service { port, certificate: cert, requests: Mutex::new(requests) }
    }

    pub fn address(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }

    pub fn endpoint(&self, path: &str) -> Endpoint {
        Endpoint::parse(&self.address(path), Reach::Anywhere).unwrap()
    }

    pub fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.der().clone()).unwrap();
        roots
    }

    /// The service's self-signed certificate, as PEM.
    pub fn authority(&self) -> String {
        self.certificate.pem()
    }

    pub fn client(&self, time: Duration) -> Client {
        Client::with(self.roots(), Reach::Anywhere, time)
    }

    /// The next request: head and body.
    pub async fn next_request(&self) -> Option<(String, Vec<u8>)> {
        self.requests.lock().await.recv().await
    }

    pub fn has_no_request(&self) -> bool {
        self.requests.try_lock().is_ok_and(|mut requests| requests.try_recv().is_err())
    }
}

fn whole(bytes: &[u8]) -> Option<(String, Vec<u8>)> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let length: usize = head.lines().find_map(|line| line.strip_prefix("Content-Length: "))?.parse().unwrap();
    bytes.get(end..end + length).map(|body| (head.clone(), body.to_vec()))
}

/// The browser's keys of a subscription, for one message: ring consumes a key with its use.
pub struct Browser {
    key: EphemeralPrivateKey,
    pub public: Vec<u8>,
    pub auth: [u8; 16],
}

impl Browser {
    #[allow(clippy::new_without_default, reason = "a new one is another one")]
    pub fn new() -> Browser {
        let key = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).unwrap();
        let public = key.compute_public_key().unwrap().as_ref().to_vec();
        Browser { key, public, auth: *b"sixteen letters!" }
    }

    pub fn receiver(&self) -> Receiver {
        Receiver::new(&self.public, &self.auth).unwrap()
    }

    /// Decrypts a body: RFC 8188 §2.1 from the reader's side.
    pub fn open(self, body: &[u8]) -> Vec<u8> {
        let (salt, rest) = body.split_at(16);
        let (size, rest) = rest.split_at(4);
        assert_eq!((u32::from_be_bytes(size.try_into().unwrap()), rest[0]), (4_096, 65));
        let (sender, record) = rest[1..].split_at(65);
        let theirs = UnparsedPublicKey::new(&ECDH_P256, sender);
        let shared = agree_ephemeral(self.key, &theirs, <[u8]>::to_vec).unwrap();
        let key = expand::<32>(&self.auth, &shared, &[b"WebPush: info\0", &self.public, sender]);
        let content = expand::<16>(salt, &key, &[b"Content-Encoding: aes128gcm\0"]);
        let nonce = expand::<12>(salt, &key, &[b"Content-Encoding: nonce\0"]);
        let cipher = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &content).unwrap());
        let mut record = record.to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        let plain = cipher.open_in_place(nonce, Aad::empty(), &mut record).unwrap();
        let end = plain.iter().rposition(|byte| *byte != 0).unwrap();
        assert_eq!(plain[end], 2, "the delimiter of the last record");
        plain[..end].to_vec()
    }
}

fn expand<const N: usize>(salt: &[u8], secret: &[u8], info: &[&[u8]]) -> [u8; N] {
    struct Length(usize);
    impl KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut key = [0; N];
    Salt::new(HKDF_SHA256, salt).extract(secret).expand(info, Length(N)).unwrap().fill(&mut key).unwrap();
    key
}

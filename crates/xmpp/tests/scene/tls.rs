//! TLS between a client and the gateway, without a socket.

use std::sync::Arc;

use edge::testing::TlsEnd;
use edge::tls::{Acceptor, Authorities, CertifiedKey, Memory, ServerConfig};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use xmpp::{Address, Component, Found, Names, Servers};

use super::{OTHER, SITE};

/// XEP-0368 §3.
const ALPN: &[u8] = b"xmpp-server";

/// The certificate of the site's domain.
pub(crate) struct Certificate {
    pub(crate) der: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Certificate {
    pub(crate) fn new() -> Certificate {
        let made = rcgen::generate_simple_self_signed(vec![SITE.to_owned(), OTHER.to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        Certificate { der: made.cert.der().clone(), key }
    }

    pub(crate) fn acceptor(&self) -> Acceptor {
        Acceptor::new(edge::tls::with_channel_bindings(&self.config()))
    }

    fn config(&self) -> Arc<ServerConfig> {
        let config = edge::tls::server_config(vec![self.der.clone()], self.key.clone_key()).unwrap();
        Memory::Low.of_server(&config)
    }

    /// For streams between servers.
    pub(crate) fn acceptor_of_servers(&self) -> Acceptor {
        let config = edge::tls::for_protocol(&self.config(), ALPN);
        Acceptor::new(edge::tls::with_client_certificates(&config).unwrap())
    }

    /// All other servers are this one, and their authority is its certificate.
    pub(crate) fn servers(&self) -> Servers {
        let folder = std::env::temp_dir().join(format!("kith-xmpp-authority-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{:p}.pem", self));
        let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &self.der);
        std::fs::write(&path, format!("-----BEGIN CERTIFICATE-----\n{encoded}\n-----END CERTIFICATE-----\n"))
            .unwrap();
        let authorities = Authorities::new(Some(&path)).unwrap();
        std::fs::remove_file(&path).unwrap();
        let provider = rustls::crypto::ring::default_provider();
        let own = CertifiedKey::from_der(vec![self.der.clone()], self.key.clone_key(), &provider).unwrap();
        let client = authorities.client(Some(Arc::new(own)), ALPN).unwrap();
        let without = authorities.client(None, ALPN).unwrap();
        let names = Arc::new(ThisServer { client, without });
        Servers { names, authorities, secret: [6; 32], known: Arc::new([]) }
    }

    /// The side of a client that trusts this certificate.
    pub(crate) fn client(&self) -> TlsEnd {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        TlsEnd::client(Arc::new(config), ServerName::try_from(SITE).unwrap()).unwrap()
    }
}

#[derive(Debug)]
struct ThisServer {
    client: Arc<ClientConfig>,
    without: Arc<ClientConfig>,
}

impl Names for ThisServer {
    /// Only names of the two sites have a server.
    fn look_up(&self, domain: &str, found: Found) {
        let address = Address { to: ([127, 0, 0, 1], 5269).into(), direct_tls: domain == OTHER };
        found(if [SITE, OTHER].contains(&domain) { vec![address] } else { Vec::new() });
    }

    /// The first site shows its certificate, and the other one proves its domain by keys.
    fn client(&self, local: &str) -> Option<(Arc<ClientConfig>, bool)> {
        Some(match local {
            SITE => (Arc::clone(&self.client), true),
            _ => (Arc::clone(&self.without), false),
        })
    }

    /// One component serves the first site alone, and the other one both. The third one has the domain of a site.
    fn component(&self, domain: &str) -> Option<Arc<Component>> {
        let (secret, sites) = match domain {
            "bot.example" => ("the-secret-of-bot", Some([SITE.into()].into())),
            "push.example" => ("the-secret-of-push", None),
            "irc.example" => ("the-secret-of-irc", None),
            OTHER => ("the-secret-of-garden", None),
            _ => return None,
        };
        Some(Arc::new(Component { secret: secret.into(), sites }))
    }

    fn components(&self) -> Vec<Box<str>> {
        ["bot.example", OTHER, "irc.example", "push.example"].map(Into::into).to_vec()
    }
}

//! TLS between a client and the gateway, without a socket.

use std::sync::Arc;

use edge::testing::TlsEnd;
use edge::tls::Acceptor;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};

use super::SITE;

/// The certificate of the site's domain.
pub(crate) struct Certificate {
    pub(crate) der: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Certificate {
    pub(crate) fn new() -> Certificate {
        let made = rcgen::generate_simple_self_signed(vec![SITE.to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        Certificate { der: made.cert.der().clone(), key }
    }

    pub(crate) fn acceptor(&self) -> Acceptor {
        let config = edge::tls::server_config(vec![self.der.clone()], self.key.clone_key()).unwrap();
        Acceptor::new(edge::tls::with_channel_bindings(&config))
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

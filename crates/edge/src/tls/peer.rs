//! Certificates in both directions, for streams between servers: ours as a client, and those of peers, whose names are checked later.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ResolvesClientCert, WebPkiServerVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::CertifiedKey;
use rustls::{
    ClientConfig, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, ServerConfig,
    SignatureScheme,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::{TlsError, read};

/// The authorities that vouch for other servers.
#[derive(Debug, Clone)]
pub struct Authorities(Arc<WebPkiServerVerifier>);

impl Authorities {
    /// Those of Mozilla's list, and the operator's own from a file of PEM certificates.
    pub fn new(own: Option<&Path>) -> Result<Authorities, TlsError> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        if let Some(path) = own {
            let unusable =
                |error: &str| TlsError::Read { path: path.to_owned(), error: io::Error::other(error) };
            for certificate in CertificateDer::pem_slice_iter(&read(path)?) {
                let certificate =
                    certificate.map_err(|error| TlsError::Pem { path: path.to_owned(), error })?;
                roots.add(certificate).map_err(|error| unusable(&error.to_string()))?;
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        verifier.map(Authorities).map_err(|error| TlsError::Read {
            path: own.unwrap_or(Path::new("the list of authorities")).to_owned(),
            error: io::Error::other(error.to_string()),
        })
    }

    /// Whether this chain of a peer, its own certificate first, is valid for the name now. Costs a few signatures.
    ///
    /// The certificate must be one for servers, also if the peer is the client of the connection: public authorities no longer issue
    /// certificates for clients.
    pub fn vouch(&self, chain: &[CertificateDer<'_>], name: &str, unix_ms: u64) -> bool {
        let (Some((own, issuers)), Ok(name)) = (chain.split_first(), ServerName::try_from(name)) else {
            return false;
        };
        let now = UnixTime::since_unix_epoch(std::time::Duration::from_millis(unix_ms));
        self.0.verify_server_cert(own, issuers, &name, &[], now).is_ok()
    }

    /// For connections to other servers, which must have a valid certificate. `own`: what we show if the server asks.
    pub fn client(
        &self,
        own: Option<Arc<CertifiedKey>>,
        protocol: &[u8],
    ) -> Result<Arc<ClientConfig>, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_webpki_verifier(Arc::clone(&self.0));
        let mut config = match own {
            Some(own) => builder.with_client_cert_resolver(Arc::new(Always(own))),
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![protocol.to_vec()];
        // Connections to one server are rare, and a resumed one shows no certificate.
        config.resumption = rustls::client::Resumption::disabled();
        Ok(Arc::new(config))
    }
}

/// The same certificates, and clients are asked for theirs. A client without one is accepted, and so is one with any certificate whose key
/// it has: check the name by [`Authorities::vouch`].
pub fn with_client_certificates(config: &ServerConfig) -> Result<Arc<ServerConfig>, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let any = Any(provider.signature_verification_algorithms);
    let mut asking = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(Arc::new(any))
        .with_cert_resolver(Arc::clone(&config.cert_resolver));
    asking.alpn_protocols.clone_from(&config.alpn_protocols);
    // As `Memory::of_server` has set them.
    asking.enable_secret_extraction = config.enable_secret_extraction;
    asking.key_log = Arc::clone(&config.key_log);
    // A ticket would carry the client's certificates.
    asking.send_tls13_tickets = 0;
    asking.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    Ok(Arc::new(asking))
}

/// Shows the certificate whatever authorities the server names: they may not know ours, and dialback remains.
#[derive(Debug)]
struct Always(Arc<CertifiedKey>);

impl ResolvesClientCert for Always {
    fn resolve(&self, _: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.key.choose_scheme(schemes).map(|_| Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct Any(WebPkiSupportedAlgorithms);

impl ClientCertVerifier for Any {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

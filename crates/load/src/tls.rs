//! The TLS configuration of the load's clients: which certificates they accept.

use std::path::PathBuf;
use std::sync::Arc;

use edge::tls::Memory;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::{CipherSuite, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::RunOptions;
use crate::target::{Target, Transport};

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{0} is not on this machine: name the certificate of its authority with --ca")]
    NotLoopback(String),
    #[error("cannot use {path}: {error}")]
    Ca { path: PathBuf, error: rustls_pki_types::pem::Error },
    #[error("cannot use {path}: {error}")]
    Root { path: PathBuf, error: Error },
    #[error("`{0}` is no name for TLS")]
    Name(String),
    #[error("TLS: {0}")]
    Tls(#[from] Error),
}

/// None: the target has no TLS.
pub(crate) fn of_target(
    options: &RunOptions,
    transport: Transport,
) -> Result<Option<(Arc<ClientConfig>, ServerName<'static>)>, TlsError> {
    let RunOptions { target, ca, .. } = options;
    target.tls.then(|| client_config(target, ca.as_ref(), transport)).transpose()
}

/// Without a file of authorities, any certificate is accepted, but only from this machine.
fn client_config(
    target: &Target,
    ca: Option<&PathBuf>,
    transport: Transport,
) -> Result<(Arc<ClientConfig>, ServerName<'static>), TlsError> {
    let mut provider = ring::default_provider();
    // The order in which browsers offer them; a server takes the first that it supports. AES-256 comes with SHA-384,
    // for which processors have no instructions.
    provider.cipher_suites.sort_by_key(|suite| suite.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
    let provider = Arc::new(provider);
    let builder =
        ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let mut config = match ca {
        Some(path) => builder.with_root_certificates(roots(path)?).with_no_client_auth(),
        None if target.addr.ip().is_loopback() => {
            let verifier = Arc::new(AnyCertificate(provider.signature_verification_algorithms));
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        }
        None => return Err(TlsError::NotLoopback(target.host.clone())),
    };
    // XEP-0368 §3, RFC 7301 §6.
    let protocol: &[u8] = if transport == Transport::Xmpp { b"xmpp-client" } else { b"http/1.1" };
    config.alpn_protocols = vec![protocol.to_vec()];
    // Each connection is a new member's first: a full handshake.
    config.resumption = rustls::client::Resumption::disabled();
    let name = ServerName::try_from(target.name.clone()).map_err(|_| TlsError::Name(target.name.clone()))?;
    // A member costs the generator 3.5 kB less.
    Ok((Memory::Low.of_client(&config), name))
}

fn roots(path: &PathBuf) -> Result<RootCertStore, TlsError> {
    let unreadable = |error| TlsError::Ca { path: path.clone(), error };
    let mut roots = RootCertStore::empty();
    for cert in CertificateDer::pem_file_iter(path).map_err(unreadable)? {
        let cert = cert.map_err(unreadable)?;
        roots.add(cert).map_err(|error| TlsError::Root { path: path.clone(), error })?;
    }
    Ok(roots)
}

/// Checks signatures, so that the handshake has its usual cost, but accepts any certificate.
#[derive(Debug)]
struct AnyCertificate(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anyone_only_on_this_machine() {
        let check = |url: &str| client_config(&Target::parse(url).unwrap(), None, Transport::Websocket);
        assert!(check("https://127.0.0.1:8443").is_ok());
        assert!(matches!(check("https://192.0.2.1"), Err(TlsError::NotLoopback(_))));
        let missing = PathBuf::from("/nonexistent/ca.pem");
        let target = Target::parse("https://192.0.2.1").unwrap();
        assert!(matches!(
            client_config(&target, Some(&missing), Transport::Websocket),
            Err(TlsError::Ca { .. })
        ));
    }
}

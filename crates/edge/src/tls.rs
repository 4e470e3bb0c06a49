//! TLS with rustls: certificates from files, replaceable at runtime.

mod binding;
mod keys;
mod peer;
mod records;
mod session;
mod told;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

pub use binding::{ChannelBindings, with_channel_bindings, with_names};
pub(crate) use keys::Keys;
pub use peer::{Authorities, with_client_certificates};
pub use rustls::sign::CertifiedKey;
pub use rustls::{ClientConfig, ServerConfig};
pub use rustls_pki_types::ServerName;
pub(crate) use session::Session;
pub use told::Memory;

/// The certificate of a TLS listener. Clones share it, so that it can be replaced while connections continue.
#[derive(Debug, Clone)]
pub struct Acceptor {
    current: Arc<ArcSwap<ServerConfig>>,
}

impl Acceptor {
    pub fn new(config: Arc<ServerConfig>) -> Acceptor {
        Acceptor { current: Arc::new(ArcSwap::new(config)) }
    }

    /// New connections use it from now on; open ones keep the old one.
    pub fn replace(&self, config: Arc<ServerConfig>) {
        self.current.store(config);
    }

    pub fn current(&self) -> Arc<ServerConfig> {
        self.current.load_full()
    }
}

/// A problem of a certificate, with its remedy.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("cannot read {path}: {error}; check that the file exists and that this user may read it")]
    Read { path: PathBuf, error: io::Error },
    #[error("{path} is not a PEM file: {error}")]
    Pem { path: PathBuf, error: rustls_pki_types::pem::Error },
    #[error(
        "{path} contains no certificate; it should be the full chain, the server's own certificate first"
    )]
    NoCertificate { path: PathBuf },
    #[error("{path} contains no private key (PKCS#8, PKCS#1 or SEC1, not encrypted)")]
    NoKey { path: PathBuf },
    #[error(
        "{cert} and {key} cannot be used together: {error}; the key must be the one the first certificate was made for"
    )]
    Unusable { cert: PathBuf, key: PathBuf, error: rustls::Error },
}

/// Reads a certificate chain and its key from PEM files. TLS 1.2 and 1.3, ALPN `http/1.1` (RFC 7301 §6), stateless
/// resumption by tickets, no session cache that grows with the number of members.
pub fn load(cert: &Path, key: &Path, memory: Memory) -> Result<Arc<ServerConfig>, TlsError> {
    let (chain, private) = load_pem(cert, key)?;
    let config = server_config(chain, private).map_err(|error| unusable(cert, key, error))?;
    Ok(memory.of_server(&config))
}

/// Reads a certificate chain and its key, for [`with_names`].
pub fn load_key(cert: &Path, key: &Path) -> Result<Arc<CertifiedKey>, TlsError> {
    let (chain, private) = load_pem(cert, key)?;
    CertifiedKey::from_der(chain, private, &rustls::crypto::ring::default_provider())
        .map(Arc::new)
        .map_err(|error| unusable(cert, key, error))
}

fn unusable(cert: &Path, key: &Path, error: rustls::Error) -> TlsError {
    TlsError::Unusable { cert: cert.to_owned(), key: key.to_owned(), error }
}

fn load_pem(
    cert: &Path,
    key: &Path,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(&read(cert)?)
        .collect::<Result<_, _>>()
        .map_err(|error| TlsError::Pem { path: cert.to_owned(), error })?;
    if chain.is_empty() {
        return Err(TlsError::NoCertificate { path: cert.to_owned() });
    }
    let private = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|error| match error {
        rustls_pki_types::pem::Error::NoItemsFound => TlsError::NoKey { path: key.to_owned() },
        error => TlsError::Pem { path: key.to_owned(), error },
    })?;
    Ok((chain, private))
}

/// A configuration from bytes, with [`Memory::Rustls`].
pub fn server_config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Arc<ServerConfig>, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.ticketer = rustls::crypto::ring::Ticketer::new()?;
    config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    // One ticket per handshake instead of two: half the bytes and the work. A browser gets a new one with each handshake.
    config.send_tls13_tickets = 1;
    Ok(Arc::new(config))
}

/// The same certificate for another protocol than HTTP: ALPN names it (RFC 7301 §6).
pub fn for_protocol(config: &ServerConfig, name: &[u8]) -> Arc<ServerConfig> {
    let mut config = config.clone();
    config.alpn_protocols = vec![name.to_vec()];
    Arc::new(config)
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|error| TlsError::Read { path: path.to_owned(), error })
}

//! Channel bindings of TLS connections (RFC 9266, RFC 5929), and a certificate for each name.
//!
//! A binding ties an authentication to its TLS connection, so that a proxy in the middle with a stolen certificate cannot relay it.

use std::collections::HashMap;
use std::sync::Arc;

use ring::{digest, hkdf};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{KeyLog, ServerConfig};

use super::keys::expand_label;
use super::told::{EXPORTER, TOLD};

/// The bindings that a connection has. Some are missing: `exporter` before TLS 1.3, `end_point` if the certificate's signature has no
/// single hash.
#[derive(Clone, Default)]
pub struct ChannelBindings {
    /// `tls-exporter` (RFC 9266 §2).
    pub exporter: Option<[u8; 32]>,
    /// `tls-server-end-point` (RFC 5929 §4.1).
    pub end_point: Option<Box<[u8]>>,
}

/// The value ties an authentication to its connection, so it is not for logs.
impl std::fmt::Debug for ChannelBindings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kinds = (self.exporter.is_some(), self.end_point.is_some());
        f.debug_tuple("ChannelBindings").field(&kinds).finish()
    }
}

/// A certificate for each name of a TLS server (RFC 6066 §3). All other clients get the certificate of `config`. Names are lower case.
pub fn with_names(config: &ServerConfig, by_name: HashMap<Box<str>, Arc<CertifiedKey>>) -> Arc<ServerConfig> {
    let others = Arc::clone(&config.cert_resolver);
    let mut config = config.clone();
    config.cert_resolver = Arc::new(ByName { by_name, others });
    Arc::new(config)
}

/// Adds [`ChannelBindings`] to the connections of a configuration. Each handshake derives a secret and keeps one allocation more.
pub fn with_channel_bindings(config: &ServerConfig) -> Arc<ServerConfig> {
    let mut config = config.clone();
    config.cert_resolver = Arc::new(Noted(config.cert_resolver));
    config.key_log = Arc::new(ExporterSecret(config.key_log));
    Arc::new(config)
}

#[derive(Debug)]
struct ByName {
    by_name: HashMap<Box<str>, Arc<CertifiedKey>>,
    others: Arc<dyn ResolvesServerCert>,
}

impl ResolvesServerCert for ByName {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name().map(str::to_ascii_lowercase);
        match name.and_then(|name| self.by_name.get(&*name)) {
            Some(key) => Some(Arc::clone(key)),
            None => self.others.resolve(hello),
        }
    }
}

#[derive(Debug)]
struct Noted(Arc<dyn ResolvesServerCert>);

impl ResolvesServerCert for Noted {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let key = self.0.resolve(hello)?;
        let end_point = key.cert.first().and_then(|certificate| end_point(certificate));
        TOLD.with_borrow_mut(|told| told.bindings.end_point = end_point);
        Some(key)
    }
}

#[derive(Debug)]
struct ExporterSecret(Arc<dyn KeyLog>);

impl KeyLog for ExporterSecret {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        if label == EXPORTER {
            TOLD.with_borrow_mut(|told| told.bindings.exporter = exporter(secret));
        }
        self.0.log(label, client_random, secret);
    }

    fn will_log(&self, label: &str) -> bool {
        label == EXPORTER || self.0.will_log(label)
    }
}

/// RFC 9266 §2, by RFC 8446 §7.5: 32 bytes with an empty context.
fn exporter(secret: &[u8]) -> Option<[u8; 32]> {
    let (algorithm, hash) = match secret.len() {
        32 => (hkdf::HKDF_SHA256, &digest::SHA256),
        48 => (hkdf::HKDF_SHA384, &digest::SHA384),
        _ => return None,
    };
    let empty = digest::digest(hash, b"");
    let mut derived = [0; 48];
    let derived = &mut derived[..secret.len()];
    let secret = hkdf::Prk::new_less_safe(algorithm, secret);
    expand_label(&secret, b"EXPORTER-Channel-Binding", empty.as_ref(), derived)?;
    let derived = hkdf::Prk::new_less_safe(algorithm, derived);
    let mut exported = [0; 32];
    expand_label(&derived, b"exporter", empty.as_ref(), &mut exported)?;
    Some(exported)
}

/// RFC 5929 §4.1: the hash of the certificate, by the hash of its signature. None: the signature has another one, or none.
fn end_point(certificate: &[u8]) -> Option<Box<[u8]>> {
    let (body, _) = element(certificate, SEQUENCE)?;
    let (_, rest) = element(body, SEQUENCE)?;
    let (algorithm, _) = element(rest, SEQUENCE)?;
    let (oid, _) = element(algorithm, OBJECT_IDENTIFIER)?;
    let hash = HASHES.iter().find(|(known, _)| *known == oid)?.1;
    Some(digest::digest(hash, certificate).as_ref().into())
}

const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;

/// Signature algorithms (RFC 8017 appendix C, RFC 5758 §3.2). MD5 and SHA-1 count as SHA-256 by RFC 5929; no authority uses them.
static HASHES: &[(&[u8], &digest::Algorithm)] = &[
    // 1.2.840.113549.1.1: RSA
    (b"\x2A\x86\x48\x86\xF7\x0D\x01\x01\x0B", &digest::SHA256),
    (b"\x2A\x86\x48\x86\xF7\x0D\x01\x01\x0C", &digest::SHA384),
    (b"\x2A\x86\x48\x86\xF7\x0D\x01\x01\x0D", &digest::SHA512),
    // 1.2.840.10045.4.3: ECDSA
    (b"\x2A\x86\x48\xCE\x3D\x04\x03\x02", &digest::SHA256),
    (b"\x2A\x86\x48\xCE\x3D\x04\x03\x03", &digest::SHA384),
    (b"\x2A\x86\x48\xCE\x3D\x04\x03\x04", &digest::SHA512),
];

/// The content of a DER element with this tag, and what follows it (X.690 §8.1).
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, first], rest) = der.split_first_chunk::<2>()?;
    let (length, rest) = match first {
        0..=0x7F => (usize::from(first), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7F))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    if found != tag {
        return None;
    }
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_certificate_is_that_of_its_signature() {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap();
        let certificate =
            rcgen::CertificateParams::new(vec!["a.example".into()]).unwrap().self_signed(&key).unwrap();
        let expected = digest::digest(&digest::SHA384, certificate.der());
        assert_eq!(end_point(certificate.der()).as_deref(), Some(expected.as_ref()));

        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
        let certificate =
            rcgen::CertificateParams::new(vec!["a.example".into()]).unwrap().self_signed(&key).unwrap();
        assert_eq!(end_point(certificate.der()), None, "Ed25519 has no hash of its own");
    }

    #[test]
    fn what_is_no_certificate_has_no_hash() {
        for bytes in [&b""[..], b"\x30", b"\x30\x80", b"\x30\x84\xFF\xFF\xFF\xFF", b"\x30\x03\x30\x05\x00"] {
            assert_eq!(end_point(bytes), None);
        }
        assert_eq!(exporter(&[1; 31]), None);
    }
}

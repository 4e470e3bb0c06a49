//! Authentication (RFC 6120 §6): mechanisms, failures, and the data that travels in base64.

mod binding;
mod exchange;
mod ht;
mod plain;
mod sasl2;
mod scram;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::ns;
use crate::xml::Open;

pub use binding::{BindingKind, ChannelBinding, EXPORTER_LABEL, downgrade_hash, write_channel_bindings};
pub use exchange::{Request, write_challenge, write_mechanisms, write_success};
pub use ht::{HtMechanism, HtMessage};
pub use plain::Plain;
pub use sasl2::{
    Authenticate, Request2, Success2, UserAgent, write_authentication, write_challenge2, write_failure2,
};
pub use scram::{
    Gs2Flag, ScramChallenge, ScramClientFirst, ScramCredentials, ScramHash, ScramKeys, ScramServer, Verified,
};

/// The mechanisms that we know, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mechanism {
    /// RFC 4505.
    Anonymous,
    /// RFC 4616.
    Plain,
    /// RFC 5802.
    ScramSha1,
    ScramSha1Plus,
    /// RFC 7677.
    ScramSha256,
    ScramSha256Plus,
    /// RFC 4422 appendix A: a certificate of the TLS connection.
    External,
}

impl Mechanism {
    pub const ALL: [Mechanism; 7] = [
        Mechanism::Anonymous,
        Mechanism::Plain,
        Mechanism::ScramSha1,
        Mechanism::ScramSha1Plus,
        Mechanism::ScramSha256,
        Mechanism::ScramSha256Plus,
        Mechanism::External,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Mechanism::Anonymous => "ANONYMOUS",
            Mechanism::Plain => "PLAIN",
            Mechanism::ScramSha1 => "SCRAM-SHA-1",
            Mechanism::ScramSha1Plus => "SCRAM-SHA-1-PLUS",
            Mechanism::ScramSha256 => "SCRAM-SHA-256",
            Mechanism::ScramSha256Plus => "SCRAM-SHA-256-PLUS",
            Mechanism::External => "EXTERNAL",
        }
    }

    /// RFC 4422 §3.1: names are upper case.
    pub fn of(name: &str) -> Option<Mechanism> {
        Mechanism::ALL.into_iter().find(|mechanism| mechanism.name() == name)
    }

    pub fn scram_hash(self) -> Option<ScramHash> {
        match self {
            Mechanism::ScramSha1 | Mechanism::ScramSha1Plus => Some(ScramHash::Sha1),
            Mechanism::ScramSha256 | Mechanism::ScramSha256Plus => Some(ScramHash::Sha256),
            Mechanism::Anonymous | Mechanism::Plain | Mechanism::External => None,
        }
    }

    /// RFC 5802 §4: whether the exchange is bound to the TLS connection.
    pub fn is_plus(self) -> bool {
        matches!(self, Mechanism::ScramSha1Plus | Mechanism::ScramSha256Plus)
    }
}

/// The conditions of RFC 6120 §6.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaslError {
    Aborted,
    AccountDisabled,
    CredentialsExpired,
    EncryptionRequired,
    IncorrectEncoding,
    InvalidAuthzid,
    InvalidMechanism,
    MalformedRequest,
    MechanismTooWeak,
    NotAuthorized,
    TemporaryAuthFailure,
}

impl SaslError {
    pub fn name(self) -> &'static str {
        match self {
            SaslError::Aborted => "aborted",
            SaslError::AccountDisabled => "account-disabled",
            SaslError::CredentialsExpired => "credentials-expired",
            SaslError::EncryptionRequired => "encryption-required",
            SaslError::IncorrectEncoding => "incorrect-encoding",
            SaslError::InvalidAuthzid => "invalid-authzid",
            SaslError::InvalidMechanism => "invalid-mechanism",
            SaslError::MalformedRequest => "malformed-request",
            SaslError::MechanismTooWeak => "mechanism-too-weak",
            SaslError::NotAuthorized => "not-authorized",
            SaslError::TemporaryAuthFailure => "temporary-auth-failure",
        }
    }

    /// Writes the `failure` of RFC 6120 §6.4.5.
    pub fn write(self, text: Option<&str>, out: &mut Vec<u8>) {
        Open::new(out, "failure").attr("xmlns", ns::SASL).children(|out| {
            Open::new(out, self.name()).empty();
            if let Some(text) = text {
                Open::new(out, "text").attr("xml:lang", "en").text(text);
            }
        });
    }
}

impl fmt::Display for SaslError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::error::Error for SaslError {}

/// Data of a peer. White space around it is allowed, because XML is often indented.
fn decode(text: &str) -> Result<Vec<u8>, SaslError> {
    STANDARD.decode(text.trim_ascii()).map_err(|_| SaslError::IncorrectEncoding)
}

fn encode(data: &[u8]) -> String {
    STANDARD.encode(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mechanisms_are_ordered_by_strength_and_found_by_name() {
        assert!(Mechanism::ALL.is_sorted());
        for mechanism in Mechanism::ALL {
            assert_eq!(Mechanism::of(mechanism.name()), Some(mechanism));
            assert_eq!(mechanism.is_plus(), mechanism.name().ends_with("-PLUS"));
            assert_eq!(mechanism.scram_hash().is_some(), mechanism.name().starts_with("SCRAM-"));
        }
        assert_eq!(Mechanism::of("plain"), None);
    }

    #[test]
    fn a_failure_names_its_condition() {
        let mut out = Vec::new();
        SaslError::NotAuthorized.write(None, &mut out);
        assert_eq!(out, b"<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><not-authorized/></failure>");
    }
}

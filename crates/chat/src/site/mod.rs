//! A site's settings, as the domain uses them.

pub(crate) mod caller;
pub(crate) mod calls;
pub(crate) mod change;
pub(crate) mod filters;
pub(crate) mod guest_proof;
pub(crate) mod links;
pub(crate) mod live;
pub(crate) mod mail_address;
pub(crate) mod raid;
pub(crate) mod retention;
pub(crate) mod roles;
pub mod settings;
pub(crate) mod share;
pub(crate) mod store;
pub mod token;
pub(crate) mod tokens;
pub(crate) mod trust;

use std::sync::Arc;

use crate::{Settings, SiteId, Timestamp};

/// A community website. Read from the store at start and when the store says that sites changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    pub id: SiteId,
    /// The public key in the script tag: 1 to 64 bytes of `[a-z0-9-]`.
    pub key: Arc<str>,
    pub name: String,
    pub mode: Mode,
    pub guests: bool,
    /// Origins (`https://forum.example`) whose pages may connect; `*` allows any. Empty: none but the
    /// server's own pages.
    pub origins: Vec<String>,
    /// Newest first; a token is valid with any that has not expired, so a secret can be rotated without
    /// sending anyone away.
    pub secrets: Vec<Secret>,
    /// The server's own, for the tokens of guests: newest first, of kind HS256. A new secret of the site does not end guests.
    pub guest_keys: Vec<Secret>,
    /// Where pages and mails of this site find the server; None: as the server's configuration says.
    pub public_url: Option<String>,
    pub settings: Settings,
    pub created: Timestamp,
}

/// Whether all members of a site see each other, or only contacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// All members see each other and may write to each other.
    Open,
    /// Only contacts see and write to each other.
    Contacts,
}

/// A key that checks tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// Its name in the headers of tokens (RFC 7515 §4.1.4), in commands and in the record; one of its site has it.
    pub kid: Box<str>,
    pub kind: SecretKind,
    /// HS256: the raw secret. Otherwise: the public key, PEM.
    pub bytes: Vec<u8>,
    pub created: Timestamp,
    /// After this moment the secret is dead; None: no end.
    pub expires: Option<Timestamp>,
    /// Tokens that were signed before, or do not say when, are refused: their holders were signed out then.
    pub not_before: Option<Timestamp>,
}

impl Secret {
    /// Its `kid` is the beginning of its SHA-256.
    pub fn new(kind: SecretKind, bytes: Vec<u8>, created: Timestamp) -> Secret {
        let digest = ring::digest::digest(&ring::digest::SHA256, &bytes);
        let kid = digest.as_ref()[..6].iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
        Secret { kid, kind, bytes, created, expires: None, not_before: None }
    }

    /// Whether it checks tokens now.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|end| now < end)
    }
}

impl SecretKind {
    /// As RFC 7518 §3.1 and RFC 8037 §3.1 have it.
    pub fn word(self) -> &'static str {
        match self {
            SecretKind::Hs256 => "HS256",
            SecretKind::Es256 => "ES256",
            SecretKind::EdDsa => "EdDSA",
        }
    }
}

impl Mode {
    pub fn word(self) -> &'static str {
        match self {
            Mode::Open => "open",
            Mode::Contacts => "contacts",
        }
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secret")
            .field("kid", &self.kid)
            .field("kind", &self.kind)
            .field("created", &self.created)
            .finish_non_exhaustive()
    }
}

/// The one algorithm that a secret is for. A token's header must name the same (no algorithm confusion).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretKind {
    Hs256,
    Es256,
    EdDsa,
}

//! A site's settings, as the domain uses them.

pub(crate) mod caller;
pub(crate) mod calls;
pub(crate) mod change;
pub(crate) mod filters;
pub(crate) mod guest_proof;
pub(crate) mod links;
pub(crate) mod live;
pub(crate) mod mail_address;
pub(crate) mod published;
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

/// A community website. Read from the store at the start, and after the store reports changes of sites.
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
    /// Newest first. A token is valid with any secret that has not expired, so that a secret can be rotated
    /// without ending sessions.
    pub secrets: Vec<Secret>,
    /// The server's own keys for the tokens of guests: newest first, of kind HS256. A new secret of the site
    /// does not end guests.
    pub guest_keys: Vec<Secret>,
    /// The server's address for pages and mails of this site; None: the server's configuration decides.
    pub public_url: Option<String>,
    /// The XMPP domain, if the operator has set one; see [`domain`](Site::domain).
    pub domain: Option<Arc<str>>,
    pub settings: Settings,
    pub created: Timestamp,
}

impl Site {
    /// A page with the widget: the first origin of the site.
    pub(crate) fn page(&self) -> Option<&str> {
        published::page(&self.origins)
    }

    /// The XMPP domain: the one that the operator has set; else the key, if it is a host name. No two sites have the same.
    pub fn domain(&self) -> Option<&str> {
        match &self.domain {
            Some(domain) => Some(domain),
            None => Some(&*self.key).filter(|key| is_domain(key)),
        }
    }
}

/// Whether the text is a host name in lower case (RFC 1123 §2.1), so that string comparison is enough. Names in other scripts
/// have their ASCII form (RFC 5891 §4.4).
pub(crate) fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(plain)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(is_label) && text.parse::<std::net::Ipv4Addr>().is_err()
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
    /// Its name in the headers of tokens (RFC 7515 §4.1.4), in commands and in the record; unique within the
    /// site.
    pub kid: Box<str>,
    pub kind: SecretKind,
    /// HS256: the raw secret. Otherwise: the public key, PEM.
    pub bytes: Vec<u8>,
    pub created: Timestamp,
    /// The secret is invalid after this time; None: no end.
    pub expires: Option<Timestamp>,
    /// Tokens that were signed before, or have no time of signing, are refused: their holders were signed out
    /// then.
    pub not_before: Option<Timestamp>,
}

impl Secret {
    /// The start of the SHA-256 becomes the `kid`.
    pub fn new(kind: SecretKind, bytes: Vec<u8>, created: Timestamp) -> Secret {
        let digest = ring::digest::digest(&ring::digest::SHA256, &bytes);
        let kid = digest.as_ref()[..6].iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
        Secret { kid, kind, bytes, created, expires: None, not_before: None }
    }

    /// Whether the secret is valid now.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|end| now < end)
    }
}

impl SecretKind {
    /// The names of RFC 7518 §3.1 and RFC 8037 §3.1.
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

/// The only algorithm that a secret is for. A token's header must name the same (no algorithm confusion).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretKind {
    Hs256,
    Es256,
    EdDsa,
}

//! A site's settings, as the domain uses them.

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
    pub settings: Settings,
    pub created: Timestamp,
}

/// Who sees whom.
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
    pub kind: SecretKind,
    /// HS256: the raw secret. Otherwise: the public key, PEM.
    pub bytes: Vec<u8>,
    pub created: Timestamp,
    /// After this moment the secret is dead; None: no end.
    pub expires: Option<Timestamp>,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secret")
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

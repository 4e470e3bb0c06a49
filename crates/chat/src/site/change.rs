//! Changes of an existing site: the data that its pages need, and the keys that sign its tokens.
//!
//! A change is applied to the stored site in one transaction, so two simultaneous ones do not undo each
//! other.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::json;

use crate::site::is_domain;
use crate::site::token::Verifier;
use crate::{By, Mode, Secret, SecretKind, Site, Timestamp};

/// Longest reason, note, or text of a report, in bytes.
pub const REASON_BYTES: usize = 1_000;

/// Shortens a text for the record. The settings themselves have the full lists of words.
pub(crate) fn shortened(mut text: String) -> String {
    if text.len() > REASON_BYTES {
        let end = (0..=REASON_BYTES - 4).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Keys for members, and keys for guests, of one site.
pub const MOST_KEYS: usize = 16;
const NAME_CHARS: usize = 200;
const MOST_ORIGINS: usize = 50;
const ORIGIN_BYTES: usize = 300;
const KID_BYTES: usize = 64;

/// A change of a site, without its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SiteChange {
    Profile(SiteProfile),
    /// A key for the tokens of members. `others_end`: the time at which the existing ones end.
    AddKey {
        key: Secret,
        others_end: Option<Timestamp>,
    },
    /// The server's own key for the tokens of guests.
    AddGuestKey {
        key: Secret,
        others_end: Option<Timestamp>,
    },
    /// Ends a key; a past time ends it at once.
    EndKey {
        kid: Box<str>,
        at: Timestamp,
    },
    /// Refuses tokens that were signed before, and ends their sessions.
    SignOut {
        whom: SignOut,
        at: Timestamp,
    },
}

/// The tokens that a sign-out ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignOut {
    Members,
    Guests,
    Everybody,
    /// Holders of a token of this key.
    Key(Box<str>),
}

/// Fields that are None stay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiteProfile {
    pub name: Option<String>,
    pub mode: Option<Mode>,
    pub guests: Option<bool>,
    pub origins: Option<Vec<String>>,
    /// Only the operator sets it: links in mails and in the page's tag begin with it. Inner None: the
    /// server's own.
    pub public_url: Option<Option<String>>,
    /// Only the operator sets it, because a tenant could claim another one's. Inner None: the key of the site.
    pub domain: Option<Option<Arc<str>>>,
}

/// The author of a change of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteAuthor {
    /// The operator, by the server's command line.
    Operator,
    /// The site's own server, or an admin, over REST.
    Tenant(By),
}

impl SiteAuthor {
    pub fn by(self) -> By {
        match self {
            SiteAuthor::Operator => By::Site,
            SiteAuthor::Tenant(by) => by,
        }
    }
}

/// The reason why a site was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SiteNotChanged {
    #[error("there is no such site")]
    NoSuchSite,
    #[error("only the operator of the server may do this")]
    OperatorOnly,
    #[error("only the site's own server may do this, with a token of the role `service`")]
    SiteOnly,
    #[error("one may not do this")]
    NotAllowed,
    #[error("name: 1 to {NAME_CHARS} characters, without control characters")]
    Name,
    #[error(
        "origins: at most {MOST_ORIGINS}, each with scheme and host in lower case, a port where it is not the \
         usual one, and no path: https://garden.example"
    )]
    Origins,
    #[error("public_url: https:// or http://, a host, and no path")]
    PublicUrl,
    #[error("domain: a host name in lower case, as garden.example")]
    Domain,
    #[error("another site has this domain, or this key")]
    DomainTaken,
    #[error("kid: 1 to {KID_BYTES} of A-Z, a-z, 0-9, `-`, `_` and `.`")]
    Kid,
    #[error("the site has a key of this kid, or this very key, already")]
    KnownKey,
    #[error(
        "this is no public key of P-256 (ES256) or Ed25519 (EdDSA) in PEM, or an HS256 secret is too short"
    )]
    Key,
    #[error("a private key belongs to your server alone: give the public key")]
    PrivateKey,
    #[error("the site has no key of this kid")]
    NoSuchKey,
    #[error("it is the site's last key: add another one first")]
    LastKey,
    #[error("a site has at most {MOST_KEYS} keys: end one first")]
    TooManyKeys,
}

impl SiteChange {
    /// The site after the change. For stores, which have checked that a user may configure the site.
    pub fn apply(&self, author: SiteAuthor, before: &Site, now: Timestamp) -> Result<Site, SiteNotChanged> {
        let mut site = before.clone();
        let is_over = |key: &Secret| key.expires.is_some_and(|end| end <= now);
        // An admin who could register a key could act as the site forever, even after losing the role.
        if !matches!(self, SiteChange::Profile(_)) && author.by() != By::Site {
            return Err(SiteNotChanged::SiteOnly);
        }
        match self {
            SiteChange::Profile(profile) => profile.apply(author, &mut site)?,
            SiteChange::AddKey { key, others_end } => {
                add_key(&mut site.secrets, &before.guest_keys, key, *others_end)?;
                site.secrets.retain(|key| !is_over(key));
            }
            SiteChange::AddGuestKey { key, others_end } => {
                add_key(&mut site.guest_keys, &before.secrets, key, *others_end)?;
                site.guest_keys.retain(|key| !is_over(key));
            }
            SiteChange::EndKey { kid, at } => {
                let end = |keys: &mut Vec<Secret>| {
                    let found = keys.iter_mut().find(|key| key.kid == *kid);
                    let found =
                        found.map(|key| key.expires = Some(key.expires.map_or(*at, |end| end.min(*at))));
                    keys.retain(|key| !is_over(key));
                    found.is_some()
                };
                if !end(&mut site.secrets) && !end(&mut site.guest_keys) {
                    return Err(SiteNotChanged::NoSuchKey);
                }
                let lasts = |keys: &[Secret]| keys.iter().any(|key| key.expires.is_none());
                let was_last = |before: &[Secret], after: &[Secret]| lasts(before) && !lasts(after);
                if was_last(&before.secrets, &site.secrets) || was_last(&before.guest_keys, &site.guest_keys)
                {
                    return Err(SiteNotChanged::LastKey);
                }
            }
            SiteChange::SignOut { whom, at } => {
                let mut found = false;
                let members = site.secrets.iter_mut().map(|key| (key, true));
                let all = members.chain(site.guest_keys.iter_mut().map(|key| (key, false)));
                for (key, is_of_members) in all {
                    let is_meant = match whom {
                        SignOut::Members => is_of_members,
                        SignOut::Guests => !is_of_members,
                        SignOut::Everybody => true,
                        SignOut::Key(kid) => key.kid == *kid,
                    };
                    if is_meant {
                        key.not_before = Some(key.not_before.map_or(*at, |before| before.max(*at)));
                        found = true;
                    }
                }
                if !found && matches!(whom, SignOut::Key(_)) {
                    return Err(SiteNotChanged::NoSuchKey);
                }
            }
        }
        Ok(site)
    }

    /// The entry in the record: a word and details. Never a key.
    pub fn recorded(&self) -> (&'static str, String) {
        match self {
            SiteChange::Profile(profile) => ("set_site", profile.recorded()),
            SiteChange::AddKey { key, .. } => ("add_key", format!("{} {}", key.kid, key.kind.word())),
            SiteChange::AddGuestKey { key, .. } => ("add_key", format!("{} of guests", key.kid)),
            SiteChange::EndKey { kid, .. } => ("end_key", kid.to_string()),
            SiteChange::SignOut { whom, .. } => {
                let whom = match whom {
                    SignOut::Members => "members",
                    SignOut::Guests => "guests",
                    SignOut::Everybody => "everybody",
                    SignOut::Key(kid) => kid,
                };
                ("sign_out", whom.to_owned())
            }
        }
    }
}

impl SiteProfile {
    fn apply(&self, author: SiteAuthor, site: &mut Site) -> Result<(), SiteNotChanged> {
        if let Some(name) = &self.name {
            let name = name.trim();
            let is_name = (1..=NAME_CHARS).contains(&name.chars().count());
            if !is_name || name.chars().any(crate::site::token::is_misleading) {
                return Err(SiteNotChanged::Name);
            }
            name.clone_into(&mut site.name);
        }
        if let Some(origins) = &self.origins {
            if origins.len() > MOST_ORIGINS || !origins.iter().all(|origin| is_origin(origin)) {
                return Err(SiteNotChanged::Origins);
            }
            site.origins.clone_from(origins);
        }
        if let Some(url) = &self.public_url {
            if author != SiteAuthor::Operator {
                return Err(SiteNotChanged::OperatorOnly);
            }
            let url = url.as_deref().map(|url| url.trim_end_matches('/'));
            if url.is_some_and(|url| url == "*" || !is_origin(url)) {
                return Err(SiteNotChanged::PublicUrl);
            }
            site.public_url = url.map(str::to_owned);
        }
        if let Some(domain) = &self.domain {
            if author != SiteAuthor::Operator {
                return Err(SiteNotChanged::OperatorOnly);
            }
            if domain.as_deref().is_some_and(|domain| !is_domain(domain)) {
                return Err(SiteNotChanged::Domain);
            }
            site.domain.clone_from(domain);
        }
        site.mode = self.mode.unwrap_or(site.mode);
        site.guests = self.guests.unwrap_or(site.guests);
        Ok(())
    }

    fn recorded(&self) -> String {
        let SiteProfile { name, mode, guests, origins, public_url, domain } = self;
        let said = [
            name.as_ref().map(|name| ("name", json!(name))),
            mode.map(|mode| ("mode", json!(mode.word()))),
            guests.map(|guests| ("guests", json!(guests))),
            origins.as_ref().map(|origins| ("origins", json!(origins))),
            public_url.as_ref().map(|url| ("public_url", json!(url))),
            domain.as_ref().map(|domain| ("domain", json!(domain.as_deref()))),
        ];
        let said: serde_json::Map<_, _> =
            said.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect();
        crate::site::change::shortened(serde_json::Value::from(said).to_string())
    }
}

/// Whether no other site has this key or domain. For stores, before they add a site or change it.
pub fn may_be_named(site: &Site, others: &[Site]) -> Result<(), SiteNotChanged> {
    let names = |site: &Site| [Some(site.key.clone()), site.domain.clone()];
    let own = names(site);
    let is_taken = |other: &Site| names(other).iter().flatten().any(|name| own.contains(&Some(name.clone())));
    match others.iter().filter(|other| other.id != site.id).any(is_taken) {
        true => Err(SiteNotChanged::DomainTaken),
        false => Ok(()),
    }
}

fn add_key(
    keys: &mut Vec<Secret>,
    of_others: &[Secret],
    key: &Secret,
    others_end: Option<Timestamp>,
) -> Result<(), SiteNotChanged> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if !(1..=KID_BYTES).contains(&key.kid.len()) || !key.kid.bytes().all(plain) {
        return Err(SiteNotChanged::Kid);
    }
    if key.bytes.windows(11).any(|part| part == b"PRIVATE KEY") {
        return Err(SiteNotChanged::PrivateKey);
    }
    if Verifier::of(key).is_none() || (key.kind == SecretKind::Hs256 && key.bytes.len() < 32) {
        return Err(SiteNotChanged::Key);
    }
    let is_same = |known: &Secret| known.kid == key.kid || known.bytes == key.bytes;
    if keys.iter().any(is_same) || of_others.iter().any(is_same) {
        return Err(SiteNotChanged::KnownKey);
    }
    if let Some(end) = others_end {
        for old in keys.iter_mut() {
            old.expires = Some(old.expires.map_or(end, |expires| expires.min(end)));
        }
    }
    if keys.len() >= MOST_KEYS {
        return Err(SiteNotChanged::TooManyKeys);
    }
    keys.insert(0, key.clone());
    Ok(())
}

/// SubjectPublicKeyInfo of the two kinds of key, up to the key itself (RFC 5480 §2.1.1.1 with an uncompressed point, RFC 8410 §4).
const P256: &[u8] = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00\x04";
const ED25519: &[u8] = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";
const PEM_BYTES: usize = 2_000;

/// A public key in a PEM file (RFC 7468 §13), with its kind.
pub fn public_key(pem: &str, created: Timestamp) -> Result<Secret, SiteNotChanged> {
    if pem.contains("PRIVATE KEY") {
        return Err(SiteNotChanged::PrivateKey);
    }
    let inner = pem
        .trim()
        .strip_prefix("-----BEGIN PUBLIC KEY-----")
        .and_then(|rest| rest.strip_suffix("-----END PUBLIC KEY-----"))
        .filter(|inner| inner.len() <= PEM_BYTES)
        .ok_or(SiteNotChanged::Key)?;
    let inner: String = inner.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let der = STANDARD.decode(&inner).map_err(|_| SiteNotChanged::Key)?;
    let is_of = |prefix: &[u8], bytes: usize| der.starts_with(prefix) && der.len() == prefix.len() + bytes;
    let kind = match () {
        () if is_of(P256, 64) => SecretKind::Es256,
        () if is_of(ED25519, 32) => SecretKind::EdDsa,
        () => return Err(SiteNotChanged::Key),
    };
    // Encoded anew, so that the same key always has the same bytes.
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{inner}\n-----END PUBLIC KEY-----\n");
    Ok(Secret::new(kind, pem.into_bytes(), created))
}

/// Whether the text is an origin in the form of the Origin header (RFC 6454 §6.2), so that string comparison
/// is enough; or `*`.
pub fn is_origin(origin: &str) -> bool {
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    let exact = |host: &str| {
        !host.is_empty()
            && host.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase())
            && !host.contains(['/', '?', '#', '@', '*', '\\'])
    };
    origin.len() <= ORIGIN_BYTES && (origin == "*" || host.is_some_and(exact))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::{Settings, SiteId};

    const NOW: Timestamp = Timestamp(1_000_000);
    const SITE: SiteAuthor = SiteAuthor::Tenant(By::Site);
    const ES256: &[u8] = include_bytes!("../../tests/keys/es256.pub.pem");

    fn secret(byte: u8) -> Secret {
        Secret::new(SecretKind::Hs256, vec![byte; 32], NOW)
    }

    fn site() -> Site {
        Site {
            id: SiteId(1),
            key: "garden".into(),
            name: "Garden".into(),
            mode: Mode::Open,
            guests: true,
            origins: vec![],
            secrets: vec![secret(1)],
            guest_keys: vec![secret(2)],
            public_url: None,
            domain: None,
            settings: Settings::default(),
            created: NOW,
        }
    }

    fn profile(change: SiteProfile, author: SiteAuthor) -> Result<Site, SiteNotChanged> {
        SiteChange::Profile(change).apply(author, &site(), NOW)
    }

    #[test]
    fn a_domain_is_a_host_name_in_lower_case() {
        for good in
            ["garden.example", "a", "0", "xn--bcher-kva.example", &format!("{}.example", "x".repeat(63))]
        {
            assert!(is_domain(good), "{good}");
        }
        let long = format!("{}a", "abcdefg.".repeat(32));
        for bad in [
            "",
            ".",
            "a.",
            ".a",
            "a..b",
            "-a",
            "a-",
            "A.example",
            "a_b",
            "bücher.example",
            "192.0.2.1",
            "[::1]",
            "a b",
            "a:5222",
            &"x".repeat(64),
            &long,
        ] {
            assert!(!is_domain(bad), "{bad}");
        }
        assert_eq!(site().domain(), Some("garden"));
        assert_eq!(Site { key: "-".into(), ..site() }.domain(), None);
        assert_eq!(Site { domain: Some("a.example".into()), ..site() }.domain(), Some("a.example"));
    }

    #[test]
    fn only_the_operator_sets_a_domain() {
        let domain =
            |domain: &str| SiteProfile { domain: Some(Some(domain.into())), ..SiteProfile::default() };
        for author in [SITE, SiteAuthor::Tenant(By::User(crate::UserId { site: SiteId(1), num: 1 }))] {
            assert_eq!(profile(domain("a.example"), author), Err(SiteNotChanged::OperatorOnly));
        }
        let changed = profile(domain("a.example"), SiteAuthor::Operator);
        assert_eq!(changed.map(|site| site.domain), Ok(Some("a.example".into())));
        assert_eq!(profile(domain("A"), SiteAuthor::Operator), Err(SiteNotChanged::Domain));
        let (act, detail) = SiteChange::Profile(domain("a.example")).recorded();
        assert_eq!((act, &*detail), ("set_site", r#"{"domain":"a.example"}"#));
    }

    #[test]
    fn tenants_cannot_set_the_operators_fields() {
        let url = |url: &str| SiteProfile { public_url: Some(Some(url.into())), ..SiteProfile::default() };
        let admin = By::User(crate::UserId { site: SiteId(1), num: 1 });
        for by in [By::Site, admin] {
            assert_eq!(
                profile(url("https://a.example"), SiteAuthor::Tenant(by)),
                Err(SiteNotChanged::OperatorOnly)
            );
        }
        let changed = profile(url("https://a.example/"), SiteAuthor::Operator);
        assert_eq!(changed.map(|site| site.public_url), Ok(Some("https://a.example".into())));
        assert_eq!(profile(url("javascript:alert(1)"), SiteAuthor::Operator), Err(SiteNotChanged::PublicUrl));
        let add = SiteChange::AddKey { key: secret(3), others_end: None };
        assert_eq!(add.apply(SiteAuthor::Tenant(admin), &site(), NOW), Err(SiteNotChanged::SiteOnly));
        let end = SiteChange::SignOut { whom: SignOut::Everybody, at: NOW };
        assert_eq!(end.apply(SiteAuthor::Tenant(admin), &site(), NOW), Err(SiteNotChanged::SiteOnly));
    }

    #[test]
    fn names_and_origins_are_checked() {
        let name = |name: &str| SiteProfile { name: Some(name.into()), ..SiteProfile::default() };
        assert_eq!(profile(name(" Bees "), SITE).map(|site| site.name), Ok("Bees".into()));
        for bad in ["", "  ", "a\nb", "a\u{202e}b", &"x".repeat(201)] {
            assert_eq!(profile(name(bad), SITE), Err(SiteNotChanged::Name), "{bad:?}");
        }
        let origins = |origins: Vec<String>| SiteProfile { origins: Some(origins), ..SiteProfile::default() };
        assert!(profile(origins(vec!["https://a.example".into(), "*".into()]), SITE).is_ok());
        for bad in [vec!["a.example".to_owned()], vec!["https://a\n.example".into()], vec!["*".into(); 51]] {
            assert_eq!(profile(origins(bad), SITE), Err(SiteNotChanged::Origins));
        }
    }

    #[test]
    fn keys_are_added_and_ended() {
        let add = |key: Secret, others_end| SiteChange::AddKey { key, others_end };
        let apply = |change: &SiteChange, site: &Site| change.apply(SITE, site, NOW);
        let public = Secret { kid: "2026-11".into(), ..Secret::new(SecretKind::Es256, ES256.into(), NOW) };
        let two = apply(&add(public.clone(), None), &site()).unwrap();
        assert_eq!((two.secrets.len(), &*two.secrets[0].kid), (2, "2026-11"));
        assert_eq!(apply(&add(public.clone(), None), &two), Err(SiteNotChanged::KnownKey));
        let rotated = apply(&add(secret(4), Some(NOW)), &two).unwrap();
        assert_eq!(rotated.secrets.len(), 1, "no overlap: the others are gone");
        assert_eq!(rotated.guest_keys.len(), 1, "guests stay");
        let private = Secret::new(SecretKind::EdDsa, b"-----BEGIN PRIVATE KEY-----".to_vec(), NOW);
        assert_eq!(apply(&add(private, None), &two), Err(SiteNotChanged::PrivateKey));
        let wrong_curve = Secret { kind: SecretKind::EdDsa, kid: "x".into(), ..public };
        assert_eq!(apply(&add(wrong_curve, None), &site()), Err(SiteNotChanged::Key));
        let short = Secret::new(SecretKind::Hs256, vec![1; 31], NOW);
        assert_eq!(apply(&add(short, None), &two), Err(SiteNotChanged::Key));
        let end = |kid: &str| SiteChange::EndKey { kid: kid.into(), at: NOW };
        assert_eq!(apply(&end("2026-11"), &two).map(|site| site.secrets.len()), Ok(1));
        assert_eq!(apply(&end("2026-11"), &site()), Err(SiteNotChanged::NoSuchKey));
        assert_eq!(apply(&end(&secret(1).kid), &site()), Err(SiteNotChanged::LastKey));
        let mut full = site();
        full.secrets = (0..MOST_KEYS as u8).map(|n| secret(100 + n)).collect();
        assert_eq!(apply(&add(secret(3), None), &full), Err(SiteNotChanged::TooManyKeys));
    }

    #[test]
    fn public_keys_contain_their_kind() {
        let kind = |pem: &str| public_key(pem, NOW).map(|key| key.kind);
        let (ec, ed) =
            (include_str!("../../tests/keys/es256.pub.pem"), include_str!("../../tests/keys/eddsa.pub.pem"));
        assert_eq!((kind(ec), kind(ed)), (Ok(SecretKind::Es256), Ok(SecretKind::EdDsa)));
        let crlf = format!("\r\n{}\r\n", ec.replace('\n', "\r\n"));
        assert_eq!(public_key(&crlf, NOW), public_key(ec, NOW));
        let private = include_str!("../../tests/keys/es256.pem");
        assert_eq!(kind(private), Err(SiteNotChanged::PrivateKey));
        for bad in ["", "secret", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"] {
            assert_eq!(kind(bad), Err(SiteNotChanged::Key), "{bad:?}");
        }
        for pem in [ec, ed] {
            let key = public_key(pem, NOW).unwrap();
            assert!(Verifier::of(&key).is_some(), "what is registered can be used");
        }
    }

    #[test]
    fn the_record_has_no_key() {
        let key = secret(b'k');
        let (word, detail) = SiteChange::AddKey { key: key.clone(), others_end: None }.recorded();
        assert_eq!((word, detail.as_str()), ("add_key", format!("{} HS256", key.kid).as_str()));
        assert!(!format!("{key:?}").contains("107, 107"));
    }
}

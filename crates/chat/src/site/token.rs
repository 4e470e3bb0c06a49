//! Tokens: the JWTs with which a site identifies its members.
//!
//! JSON Web Tokens of RFC 7519, signed as in RFC 7515 in the compact form; RFC 8725 lists the known attacks.
//! A library computes signatures, and this module checks everything else. The time is an argument here, and a
//! token must never choose the algorithm of a secret (RFC 8725 §3.1).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use ring::hmac;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    MailAddress, Profile, Refusal, RoleClaim, Secret, SecretKind, SiteRole, Sub, Timestamp, TokenUser,
    UserRow,
};

/// Longest token that is parsed, in bytes.
pub const MAX_BYTES: usize = 8 * 1024;
/// Longest remaining lifetime of a token: a site could not revoke one without an end.
pub const MAX_LIFE_MS: u64 = 30 * 24 * 3600 * 1000;
const MAX_NAME_CHARS: usize = 200;
const MAX_AVATAR_BYTES: usize = 2000;
const MAX_JTI_BYTES: usize = 256;

/// Claims of a token. Times are seconds since the epoch (RFC 7519 §2, NumericDate).
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Claims {
    /// Id of the user on the site. A number becomes its decimal text: many sites have numeric ids.
    #[serde(deserialize_with = "text_or_number")]
    pub sub: String,
    /// Default: the `sub`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `https:`, `http:` or a path from the root of the site; anything else is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
    /// The address for digests of missed messages; invalid addresses are ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The language of these mails: RFC 5646, as in OpenID Connect Core §5.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    #[serde(serialize_with = "numeric_date")]
    pub exp: f64,
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "numeric_date_if_any")]
    pub nbf: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "numeric_date_if_any")]
    pub iat: Option<f64>,
    /// The member's sign-in on the site (OpenID Connect Core §2): a device that was signed out needs a token
    /// with a later one. Without it `iat` counts.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "numeric_date_if_any")]
    pub auth_time: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jti: Option<String>,
    /// The token is good for one sign-in; needs `jti`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
    /// A guest; only the server itself signs this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guest: bool,
    /// Of a member: `moderator`, `admin`, or `member` for users who have no role any more; without it, the
    /// last role stays. `service`: the site's own server, for REST. Other words are for the site's own use.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "text_if_any")]
    pub role: Option<String>,
    /// Key of the site; checked if present, as `aud` is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aud: Option<Audience>,
}

/// RFC 7519 §4.1.3: one or several.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Audience {
    One(String),
    Many(Vec<String>),
}

/// Signs with a secret of kind HS256. None for the other kinds, whose private key only the site has.
pub fn sign(claims: &Claims, secret: &Secret) -> Option<String> {
    let SecretKind::Hs256 = secret.kind else { return None };
    let claims = serde_json::to_vec(claims).ok()?;
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(HEADER), URL_SAFE_NO_PAD.encode(claims));
    let key = EncodingKey::from_secret(&secret.bytes);
    let signature = jsonwebtoken::crypto::sign(message.as_bytes(), &key, Algorithm::HS256).ok()?;
    Some(format!("{message}.{signature}"))
}

const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;

/// A secret that is parsed once, so that a sign-in parses no keys.
pub(crate) struct Verifier {
    pub(crate) kid: Arc<str>,
    algorithm: Algorithm,
    key: Key,
    created: Timestamp,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) not_before: Option<Timestamp>,
    /// The server's own key, for guests.
    of_guests: bool,
}

enum Key {
    /// Both blocks of the key are hashed already (RFC 2104 §4).
    Hmac(hmac::Key),
    Public(DecodingKey),
}

impl Verifier {
    /// None if the bytes are no key of that kind.
    pub(crate) fn of(secret: &Secret) -> Option<Verifier> {
        let (algorithm, key) = match secret.kind {
            // An empty secret would let anyone sign.
            SecretKind::Hs256 if secret.bytes.is_empty() => return None,
            SecretKind::Hs256 => {
                (Algorithm::HS256, Key::Hmac(hmac::Key::new(hmac::HMAC_SHA256, &secret.bytes)))
            }
            SecretKind::Es256 => {
                (Algorithm::ES256, Key::Public(DecodingKey::from_ec_pem(&secret.bytes).ok()?))
            }
            SecretKind::EdDsa => {
                (Algorithm::EdDSA, Key::Public(DecodingKey::from_ed_pem(&secret.bytes).ok()?))
            }
        };
        let Secret { kid, created, expires, not_before, .. } = secret;
        let (kid, created, expires, not_before) = (Arc::from(&**kid), *created, *expires, *not_before);
        Some(Verifier { kid, algorithm, key, created, expires, not_before, of_guests: false })
    }

    pub(crate) fn of_guests(key: &Secret) -> Option<Verifier> {
        Some(Verifier { of_guests: true, ..Verifier::of(key)? })
    }

    /// Whether the key may sign this token: keys for guests only for guests, keys of the site only for
    /// members.
    fn is_for(&self, claims: &Claims, all: &[Verifier]) -> bool {
        if claims.guest == self.of_guests {
            return true;
        }
        // COMPAT(kith before guests had a key, 2026): their tokens are signed by a secret that is older than
        // the guests' key.
        let is_older = |key: &Verifier| key.of_guests && self.created <= key.created;
        claims.guest && self.algorithm == Algorithm::HS256 && all.iter().any(is_older)
    }

    fn signed(&self, message: &str, signature: &str) -> bool {
        match &self.key {
            Key::Hmac(key) => {
                let mut tag = [0; 33];
                let tag =
                    URL_SAFE_NO_PAD.decode_slice(signature, &mut tag).ok().and_then(|len| tag.get(..len));
                tag.is_some_and(|tag| hmac::verify(key, message.as_bytes(), tag).is_ok())
            }
            Key::Public(key) => {
                jsonwebtoken::crypto::verify(signature, message.as_bytes(), key, self.algorithm)
                    .unwrap_or(false)
            }
        }
    }
}

/// The content of a valid token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) profile: Profile,
    pub(crate) expires: Timestamp,
    /// The member's sign-in on the site, else the time of signing; None if the token has neither.
    pub(crate) issued: Option<Timestamp>,
    /// `jti` of a one-time token.
    pub(crate) once: Option<Box<str>>,
    /// The user's role on the site, if the token names one.
    pub(crate) role: Option<RoleClaim>,
    pub(crate) mail: Option<MailAddress>,
    /// The key that signed the token.
    pub(crate) kid: Arc<str>,
    pub(crate) key_ends: Option<Timestamp>,
}

impl Ticket {
    pub(crate) fn user(&self) -> TokenUser {
        TokenUser { profile: self.profile.clone(), role: self.role }
    }

    /// A guest's token ends when the guest becomes a member: it does not open the member's account.
    pub(crate) fn opens(&self, row: &UserRow) -> Result<(), Refusal> {
        let is_merged = self.profile.guest && !row.profile.guest;
        if is_merged { Err(Refusal::TokenExpired) } else { Ok(()) }
    }
}

/// Checks a token of the site with this key. `skew_ms`: largest difference of the clocks.
pub(crate) fn verify(
    token: &str,
    site_key: &str,
    verifiers: &[Verifier],
    now: Timestamp,
    skew_ms: u64,
) -> Result<Ticket, Refusal> {
    let (claims, expires, key) = valid_claims(token, site_key, verifiers, now, skew_ms)?;
    ticket(claims, expires, key).ok_or(Refusal::BadToken)
}

/// The bearer of a token for REST.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bearer {
    /// The site's own server (`"role":"service"`).
    Service,
    /// A person whose token claims the role of an admin. The claim gives no right: the stored role decides.
    Admin(Sub),
}

/// Checks a token for REST: of the site's own server, or of an admin of the site.
pub(crate) fn verify_caller(
    token: &str,
    site_key: &str,
    verifiers: &[Verifier],
    now: Timestamp,
    skew_ms: u64,
) -> Result<Bearer, Refusal> {
    let (claims, ..) = valid_claims(token, site_key, verifiers, now, skew_ms)?;
    // REST requests do not use tokens up, so a one-time token could be shown twice.
    if claims.guest || claims.once {
        return Err(Refusal::NotAllowed);
    }
    match claims.role.as_deref() {
        Some(SERVICE) => Ok(Bearer::Service),
        Some(role) if role == SiteRole::Admin.word() => {
            Sub::parse(&claims.sub).map(Bearer::Admin).ok_or(Refusal::BadToken)
        }
        _ => Err(Refusal::NotAllowed),
    }
}

const SERVICE: &str = "service";

/// The signed claims of a token of this site that is valid now.
fn valid_claims<'a>(
    token: &str,
    site_key: &str,
    verifiers: &'a [Verifier],
    now: Timestamp,
    skew_ms: u64,
) -> Result<(Claims, Timestamp, &'a Verifier), Refusal> {
    let (claims, key) = signed_claims(token, verifiers, now).ok_or(Refusal::BadToken)?;
    if !key.is_for(&claims, verifiers) {
        return Err(Refusal::BadToken);
    }
    let ours = |name: &String| name == site_key;
    let audience = match &claims.aud {
        None => true,
        Some(Audience::One(name)) => ours(name),
        Some(Audience::Many(names)) => names.iter().any(ours),
    };
    if !audience || !claims.site.as_ref().is_none_or(ours) {
        return Err(Refusal::BadToken);
    }
    let expires = milliseconds(claims.exp).ok_or(Refusal::BadToken)?;
    if expires.since(now) > MAX_LIFE_MS + skew_ms {
        return Err(Refusal::BadToken);
    }
    for begins in [claims.nbf, claims.iat].into_iter().flatten() {
        if milliseconds(begins).ok_or(Refusal::BadToken)?.since(now) > skew_ms {
            return Err(Refusal::TokenExpired);
        }
    }
    if now.0 >= expires.0 + skew_ms {
        return Err(Refusal::TokenExpired);
    }
    if let Some(not_before) = key.not_before {
        let made = claims.iat.and_then(milliseconds);
        if made.is_none_or(|made| made < not_before) {
            return Err(Refusal::KeyEnded);
        }
    }
    Ok((claims, expires, key))
}

/// Whether a token is valid with this one secret. For fuzzing; gateways call `Node::sign_in`.
#[doc(hidden)]
pub fn holds(token: &str, site_key: &str, secret: &Secret, now: Timestamp) -> Result<(), Refusal> {
    let verifier = Verifier::of(secret).ok_or(Refusal::BadToken)?;
    verify(token, site_key, &[verifier], now, 0).map(drop)
}

/// The claims, if one of the site's living secrets has signed them with its own algorithm.
fn signed_claims<'a>(
    token: &str,
    verifiers: &'a [Verifier],
    now: Timestamp,
) -> Option<(Claims, &'a Verifier)> {
    if token.len() > MAX_BYTES {
        return None;
    }
    let (message, signature) = token.rsplit_once('.')?;
    let (header, claims) = message.split_once('.')?;
    if claims.contains('.') {
        return None;
    }
    let (algorithm, kid) = read_header(header)?;
    let alive = || {
        let of_kind = verifiers.iter().filter(|verifier| verifier.algorithm == algorithm);
        of_kind.filter(|verifier| verifier.expires.is_none_or(|end| now < end))
    };
    let named = kid.and_then(|kid| alive().find(|verifier| *verifier.kid == *kid));
    let key = match named {
        Some(key) => Some(key).filter(|key| key.signed(message, signature)),
        // Sites choose the names of keys, and a site has few: all of them are tried.
        None => alive().find(|verifier| verifier.signed(message, signature)),
    }?;
    Some((serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?, key))
}

/// The algorithm and the name of the key, if the algorithm is known and the header requires nothing else.
fn read_header(header: &str) -> Option<(Algorithm, Option<String>)> {
    if COMMON_HEADERS.contains(&header) {
        return Some((Algorithm::HS256, None));
    }
    let header: Header = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
    // RFC 7515 §4.1.11: extensions that must be understood. Kith understands none.
    if header.crit.is_some() {
        return None;
    }
    let known = [Algorithm::HS256, Algorithm::ES256, Algorithm::EdDSA];
    let algorithm = known.into_iter().find(|known| spelled(*known) == header.alg)?;
    Some((algorithm, header.kid))
}

/// The header of most libraries: `{"alg":"HS256","typ":"JWT"}` or `{"typ":"JWT","alg":"HS256"}`.
const COMMON_HEADERS: [&str; 2] =
    ["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9"];

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default, deserialize_with = "text_if_any")]
    kid: Option<String>,
    crit: Option<de::IgnoredAny>,
}

/// RFC 7518 §3.1, RFC 8037 §3.1. Names are case-sensitive, so `nOnE` is invalid.
fn spelled(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::HS256 => "HS256",
        Algorithm::ES256 => "ES256",
        Algorithm::EdDSA => "EdDSA",
        _ => "",
    }
}

fn ticket(claims: Claims, expires: Timestamp, key: &Verifier) -> Option<Ticket> {
    let sub = Sub::parse(&claims.sub).filter(|sub| sub.remote_address().is_none())?;
    let once = match (claims.once, claims.jti) {
        (false, _) => None,
        (true, Some(jti)) if (1..=MAX_JTI_BYTES).contains(&jti.len()) && !jti.contains('\0') => {
            Some(jti.into())
        }
        (true, _) => return None,
    };
    // A token with full rights over REST must not reach browsers.
    if claims.role.as_deref() == Some(SERVICE) {
        return None;
    }
    let made = claims.iat.and_then(milliseconds);
    let role = claims.role.as_deref().and_then(SiteRole::parse).filter(|_| !claims.guest);
    let role = role.map(|role| RoleClaim { role, made });
    let profile = profile(sub, claims.name.as_deref(), claims.avatar, claims.guest);
    let mail = mail_address(claims.email, claims.locale, claims.guest);
    let issued = claims.auth_time.or(claims.iat).and_then(milliseconds);
    // The client must bring a newer token before the key ends.
    let expires = key.expires.map_or(expires, |end| end.min(expires));
    let (kid, key_ends) = (key.kid.clone(), key.expires);
    Some(Ticket { profile, expires, issued, once, role, mail, kid, key_ends })
}

fn mail_address(email: Option<String>, locale: Option<String>, guest: bool) -> Option<MailAddress> {
    let address = email.filter(|address| !guest && crate::site::mail_address::is_address(address))?.into();
    // `de_AT` is accepted like `de-AT` (OpenID Connect Core 1.0 §5.1).
    let is_tag = |tag: &String| {
        tag.len() <= 35 && tag.bytes().all(|c| c.is_ascii_alphanumeric() || b"-_".contains(&c))
    };
    Some(MailAddress { address, language: locale.filter(is_tag).unwrap_or_default().into() })
}

/// The shown profile of a user with these claims: without a name the `sub`, and no invalid avatar.
pub fn profile(sub: Sub, name: Option<&str>, avatar: Option<String>, guest: bool) -> Profile {
    let name = shown_name(name.unwrap_or_default())
        .or_else(|| shown_name(sub.as_str()))
        .unwrap_or_else(|| "?".into());
    let avatar = avatar.filter(|url| is_shown_url(url)).map(Arc::from);
    Profile { sub, name, avatar, guest }
}

/// Removes characters that mislead readers from a name: control characters, and marks that reverse the text
/// direction (Unicode UAX #9 §2).
fn shown_name(name: &str) -> Option<Arc<str>> {
    let is_shown_whole =
        name.is_ascii() && name.len() <= MAX_NAME_CHARS && !crate::id::has_control_characters(name);
    let shown: Cow<'_, str> = match is_shown_whole {
        true => name.into(),
        false => name.chars().filter(|c| !is_misleading(*c)).take(MAX_NAME_CHARS).collect(),
    };
    let name = shown.trim();
    (!name.is_empty()).then(|| name.into())
}

pub(crate) fn is_misleading(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

fn is_shown_url(url: &str) -> bool {
    let from_root = url.starts_with('/') && !url.starts_with("//") && !url.starts_with("/\\");
    url.len() <= MAX_AVATAR_BYTES
        && (from_root || url.starts_with("https://") || url.starts_with("http://"))
        && !url.chars().any(|c| c.is_control() || c.is_whitespace())
}

/// None for an impossible time: negative, not finite, or beyond the year 9999.
fn milliseconds(seconds: f64) -> Option<Timestamp> {
    (0.0..=253_402_300_799.0).contains(&seconds).then_some(Timestamp((seconds * 1000.0) as u64))
}

/// Writes whole seconds as an integer: many token libraries accept nothing else.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn numeric_date<S: Serializer>(seconds: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    let whole = *seconds as i64;
    if whole as f64 == *seconds {
        serializer.serialize_i64(whole)
    } else {
        serializer.serialize_f64(*seconds)
    }
}

#[allow(clippy::ref_option, reason = "serde's signature")]
fn numeric_date_if_any<S: Serializer>(seconds: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match seconds {
        Some(seconds) => numeric_date(seconds, serializer),
        None => serializer.serialize_none(),
    }
}

/// A value that is no text belongs to the site, and does not invalidate its token.
fn text_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Any {
        Text(String),
        Other(de::IgnoredAny),
    }

    Ok(match Any::deserialize(deserializer)? {
        Any::Text(text) => Some(text),
        Any::Other(_) => None,
    })
}

fn text_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    struct Id;

    impl de::Visitor<'_> for Id {
        type Value = String;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text or a whole number")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
            Ok(text.to_owned())
        }

        fn visit_string<E: de::Error>(self, text: String) -> Result<String, E> {
            Ok(text)
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<String, E> {
            Ok(number.to_string())
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<String, E> {
            i64::try_from(number).map(|number| number.to_string()).map_err(E::custom)
        }
    }

    deserializer.deserialize_any(Id)
}

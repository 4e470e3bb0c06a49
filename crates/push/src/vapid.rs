//! A site's key pair, and its signature for a push service (VAPID, RFC 8292).

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::json;

use crate::Endpoint;

/// A site's key pair. Browsers bind their subscriptions to it, so a site makes it once and keeps it.
pub struct Vapid {
    pair: EcdsaKeyPair,
    public: String,
}

/// Not a key pair from [`Vapid::generate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not a key pair for push notifications")]
pub struct WrongKey;

impl Vapid {
    /// A new key pair, as PKCS #8 (RFC 5958).
    pub fn generate() -> Result<Vec<u8>, WrongKey> {
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        made.map(|pair| pair.as_ref().to_vec()).map_err(|_| WrongKey)
    }

    pub fn new(pkcs8: &[u8]) -> Result<Vapid, WrongKey> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &SystemRandom::new());
        let pair = pair.map_err(|_| WrongKey)?;
        let public = URL_SAFE_NO_PAD.encode(pair.public_key());
        Ok(Vapid { pair, public })
    }

    /// The `applicationServerKey` for browsers.
    pub fn public(&self) -> &str {
        &self.public
    }

    /// The value of `Authorization`. `expires`: Unix seconds, at most a day ahead (§2). `contact`: an address at which
    /// the service can reach the operator, `mailto:` or `https:` (§2.1); some services require one.
    pub fn authorization(
        &self,
        to: &Endpoint,
        contact: Option<&str>,
        expires: u64,
    ) -> Result<String, WrongKey> {
        let mut claims = json!({ "aud": to.origin(), "exp": expires });
        if let Some(contact) = contact {
            claims["sub"] = contact.into();
        }
        let message = format!("{HEADER}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
        // RFC 7518 §3.4: the two numbers side by side, which is ring's fixed form.
        let signature = self.pair.sign(&SystemRandom::new(), message.as_bytes()).map_err(|_| WrongKey)?;
        Ok(format!("vapid t={message}.{}, k={}", URL_SAFE_NO_PAD.encode(signature), self.public))
    }
}

/// `{"typ":"JWT","alg":"ES256"}`.
const HEADER: &str = "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9";

impl std::fmt::Debug for Vapid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vapid").field("public", &self.public).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
    use serde_json::Value;

    use super::*;
    use crate::Reach;

    #[test]
    fn a_service_can_verify_the_signature() {
        let vapid = Vapid::new(&Vapid::generate().expect("a pair")).expect("it is one");
        let to = Endpoint::parse("https://push.example/p/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV", Reach::Public);
        let field = vapid.authorization(&to.expect("one"), Some("mailto:push@example.com"), 1_453_523_768);
        let field = field.expect("signed");
        let (token, key) =
            field.strip_prefix("vapid t=").and_then(|rest| rest.split_once(", k=")).expect("RFC 8292 §3");
        assert_eq!(key, vapid.public());
        let key = URL_SAFE_NO_PAD.decode(key).expect("base64url");
        assert_eq!((key.len(), key[0]), (65, 4), "RFC 8292 §3.2: the uncompressed form");

        let (message, signature) = token.rsplit_once('.').expect("a JWT");
        let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64url");
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &key)
            .verify(message.as_bytes(), &signature)
            .expect("the signature holds");
        let parts = message.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).expect("base64url"));
        let parts: Vec<Value> = parts.map(|part| serde_json::from_slice(&part).expect("JSON")).collect();
        assert_eq!(parts[0], json!({ "typ": "JWT", "alg": "ES256" }));
        let claims =
            json!({ "aud": "https://push.example", "exp": 1_453_523_768, "sub": "mailto:push@example.com" });
        assert_eq!(parts[1], claims);
    }

    #[test]
    fn bytes_that_are_not_a_key_pair_are_refused() {
        let mut pair = Vapid::generate().expect("a pair");
        assert!(Vapid::new(b"").is_err() && Vapid::new(&pair[1..]).is_err());
        pair[40] ^= 1;
        assert!(Vapid::new(&pair).is_err(), "the two halves belong together");
    }
}

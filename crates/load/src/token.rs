//! Tokens of the load's users, signed before the clock starts (JWT, RFC 7519, HS256).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;

/// Signs for one site.
pub(crate) struct Signer {
    key: hmac::Key,
    /// Unix seconds at which its tokens end.
    expires: u64,
}

impl Signer {
    /// `now`: Unix seconds. Tokens last for an hour, longer than any run.
    pub(crate) fn new(secret: &[u8], now: u64) -> Signer {
        Signer { key: hmac::Key::new(hmac::HMAC_SHA256, secret), expires: now + 3600 }
    }

    pub(crate) fn token(&self, user: &str) -> String {
        let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#);
        let claims = serde_json::json!({ "sub": user, "name": user, "exp": self.expires });
        let mut token = header + "." + &URL_SAFE_NO_PAD.encode(claims.to_string());
        let signature = hmac::sign(&self.key, token.as_bytes());
        token.push('.');
        token += &URL_SAFE_NO_PAD.encode(signature);
        token
    }
}

/// Name of the load's user number `number`, from 0: `load-000001` is the first.
pub(crate) fn user(number: u32) -> String {
    format!("load-{:06}", number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_what_a_site_would_sign() {
        let token = Signer::new(b"secret", 1_700_000_000).token(&user(0));
        let parts: Vec<&str> = token.split('.').collect();
        let text = |part: &str| String::from_utf8(URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap();
        assert_eq!(text(parts[0]), r#"{"alg":"HS256","typ":"JWT"}"#);
        let claims: serde_json::Value = serde_json::from_str(&text(parts[1])).unwrap();
        assert_eq!(claims["sub"], "load-000001");
        assert_eq!(claims["exp"], 1_700_003_600_u64);
        let signature = URL_SAFE_NO_PAD.decode(parts[2]).unwrap();
        let signed = format!("{}.{}", parts[0], parts[1]);
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"secret");
        assert!(hmac::verify(&key, signed.as_bytes(), &signature).is_ok());
    }
}

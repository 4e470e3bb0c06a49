//! The load's users: their names, their tokens, and messages to them. Tokens (JWT, RFC 7519, HS256) are signed for each
//! hello, so that none is kept.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use web_proto::{Command, SendTo};

use crate::RunOptions;

/// The sites of a run with their secrets. Member numbers are distributed over the sites in turn.
pub(crate) struct SiteTokens {
    sites: Vec<(String, hmac::Key)>,
    /// Unix seconds at which the tokens expire.
    expires: u64,
}

impl SiteTokens {
    /// `now`: Unix seconds. Tokens last for two hours, longer than any run.
    pub(crate) fn new(options: &RunOptions, now: u64) -> SiteTokens {
        let more = options.more_sites.iter().map(|(site, secret)| (site, secret));
        let sites = std::iter::once((&options.site, &options.secret)).chain(more);
        let keyed = sites.map(|(site, secret)| (site.clone(), hmac::Key::new(hmac::HMAC_SHA256, secret)));
        SiteTokens { sites: keyed.collect(), expires: now + 7200 }
    }

    /// Site and token of a member.
    pub(crate) fn of(&self, member: u32) -> (&str, String) {
        let (site, key) = &self.sites[member as usize % self.sites.len()];
        let (user, header) = (user(member), r#"{"alg":"HS256","typ":"JWT"}"#);
        let claims = format!(r#"{{"sub":"{user}","name":"{user}","exp":{}}}"#, self.expires);
        let mut token = String::with_capacity(256);
        URL_SAFE_NO_PAD.encode_string(header, &mut token);
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(claims, &mut token);
        let signature = hmac::sign(key, token.as_bytes());
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        (site, token)
    }
}

/// A message to the user with this name.
pub(crate) fn send(id: String, to: String, body: &str) -> Command<'_> {
    send_to(id, SendTo::User(to.into()), body)
}

pub(crate) fn send_to<'a>(id: String, to: SendTo<'a>, body: &'a str) -> Command<'a> {
    Command::Send { id: id.into(), to, body: body.into(), reply_to: None, files: Vec::new(), thread: None }
}

/// Name of the load's user number `number`, from 0: `load-000001` is the first.
pub(crate) fn user(number: u32) -> String {
    format!("load-{:06}", number + 1)
}

/// The number of such a user.
pub(crate) fn number(user: &str) -> Option<u32> {
    user.strip_prefix("load-")?.parse::<u32>().ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;

    #[test]
    fn a_token_equals_one_signed_by_a_site() {
        let target = Target::parse("http://127.0.0.1:1").unwrap();
        let tokens = SiteTokens::new(&RunOptions::new(target, "a", b"secret"), 1_700_000_000);
        let (_, token) = tokens.of(0);
        let parts: Vec<&str> = token.split('.').collect();
        let text = |part: &str| String::from_utf8(URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap();
        assert_eq!(text(parts[0]), r#"{"alg":"HS256","typ":"JWT"}"#);
        let claims: serde_json::Value = serde_json::from_str(&text(parts[1])).unwrap();
        assert_eq!((&claims["sub"], &claims["name"]), (&"load-000001".into(), &"load-000001".into()));
        assert_eq!(claims["exp"], 1_700_007_200_u64);
        let signature = URL_SAFE_NO_PAD.decode(parts[2]).unwrap();
        let signed = format!("{}.{}", parts[0], parts[1]);
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"secret");
        assert!(hmac::verify(&key, signed.as_bytes(), &signature).is_ok());
    }

    #[test]
    fn members_take_turns_at_the_sites() {
        let target = Target::parse("http://127.0.0.1:1").unwrap();
        let more_sites = vec![("b".to_owned(), b"2".to_vec()), ("c".to_owned(), b"3".to_vec())];
        let tokens = SiteTokens::new(&RunOptions { more_sites, ..RunOptions::new(target, "a", b"1") }, 0);
        let sites: Vec<&str> = (0..5).map(|member| tokens.of(member).0).collect();
        assert_eq!(sites, ["a", "b", "c", "a", "b"]);
        assert_ne!(tokens.of(0).1, tokens.of(3).1);
    }

    #[test]
    fn names_are_numbers() {
        for member in [0, 999_999, 1_000_000, u32::MAX - 1] {
            assert_eq!(number(&user(member)), Some(member));
        }
        for other in ["load-0", "load-x", "away-000001", ""] {
            assert_eq!(number(other), None);
        }
    }
}

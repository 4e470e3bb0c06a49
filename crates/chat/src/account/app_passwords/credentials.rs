//! The keys with which a gateway checks a password.

use std::fmt;
use std::num::NonZeroU32;

use ring::{digest, hmac};
use serde::{Deserialize, Serialize};
use stringprep::saslprep;

use crate::Sub;
use crate::account::app_passwords::scram::{self, ITERATIONS, SALT_BYTES, ScramKeys};
use crate::account::app_passwords::{AppPassword, StoredKeys};

/// Longest password in plain text that is checked, in bytes.
const PLAIN_BYTES: usize = 1_024;

/// What a gateway needs to check the app passwords of one user. SCRAM sends salt and iterations before it knows the password, so
/// all passwords of a user share them.
///
/// A user without passwords, and an id of no user, have a salt like others, and no keys. The salt depends on the site and the id
/// only, so strangers cannot learn from it who exists, or when a password was made.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppCredentials {
    pub salt: [u8; SALT_BYTES],
    pub iterations: NonZeroU32,
    pub keys: Vec<AppPasswordKeys>,
}

/// The keys of one app password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppPasswordKeys {
    /// For [`Credential::AppPassword`](crate::Credential).
    pub number: u32,
    pub scram: ScramKeys,
    /// Of a random password: it is checked by one hash.
    verifier: Option<[u8; 32]>,
}

impl AppCredentials {
    /// `salt_key`: the secret of the site.
    pub fn new(salt_key: &[u8; 32], sub: &Sub, passwords: Vec<(u32, StoredKeys)>) -> AppCredentials {
        let iterations = passwords.first().map_or(ITERATIONS, |(_, keys)| keys.iterations);
        // A later version may use more rounds. It raises them for a user who has no passwords.
        let usable = passwords.into_iter().filter(|(_, keys)| keys.iterations == iterations);
        let keys = usable.map(|(number, StoredKeys { scram, verifier, .. })| AppPasswordKeys {
            number,
            scram,
            verifier,
        });
        AppCredentials { salt: salt(salt_key, sub), iterations, keys: keys.collect() }
    }

    /// The keys to store for a password of this user. Takes some milliseconds.
    pub fn keys_of(&self, password: &AppPassword) -> StoredKeys {
        let text = password.as_str().as_bytes();
        StoredKeys {
            iterations: self.iterations,
            scram: ScramKeys::derive(text, &self.salt, self.iterations),
            verifier: password.is_random().then(|| verifier(&self.salt, text)),
        }
    }

    /// The number of this password, which the client has sent in plain text (RFC 4616). A random password costs one hash. All
    /// others, and a wrong one of any user, cost as much as a derivation by SCRAM, some milliseconds: ask
    /// [`password_may_be_tried`](crate::Node::password_may_be_tried) before. Every key is compared in constant time.
    pub fn verify_plain(&self, password: &[u8]) -> Option<u32> {
        let tried = verifier(&self.salt, password);
        let by_verifier = |keys: &AppPasswordKeys| keys.verifier.is_some_and(|known| is_same(&known, &tried));
        if let Some(found) = self.find(by_verifier) {
            return Some(found);
        }
        let prepared = std::str::from_utf8(password).ok().and_then(|password| saslprep(password).ok());
        let prepared = prepared.filter(|password| password.len() <= PLAIN_BYTES);
        // An empty password is derived as well, so that all refusals take the same time.
        let text = prepared.as_deref().unwrap_or_default().as_bytes();
        let stored = scram::stored_sha256(text, &self.salt, self.iterations);
        self.find(|keys| is_same(&keys.scram.sha256.stored, &stored))
    }

    /// Looks at every key, so that the time does not depend on the place of the match.
    fn find(&self, is_match: impl Fn(&AppPasswordKeys) -> bool) -> Option<u32> {
        self.keys.iter().fold(None, |found, keys| if is_match(keys) { Some(keys.number) } else { found })
    }
}

fn salt(salt_key: &[u8; 32], sub: &Sub) -> [u8; SALT_BYTES] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, salt_key), sub.as_str().as_bytes());
    std::array::from_fn(|at| tag.as_ref()[at])
}

fn verifier(salt: &[u8], password: &[u8]) -> [u8; 32] {
    let mut context = digest::Context::new(&digest::SHA256);
    context.update(salt);
    context.update(password);
    let digest = context.finish();
    std::array::from_fn(|at| digest.as_ref()[at])
}

fn is_same(a: &[u8; 32], b: &[u8; 32]) -> bool {
    a.iter().zip(b).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
}

impl fmt::Debug for AppCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<u32> = self.keys.iter().map(|keys| keys.number).collect();
        f.debug_struct("AppCredentials").field("passwords", &numbers).finish_non_exhaustive()
    }
}

impl fmt::Debug for AppPasswordKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppPasswordKeys").field("number", &self.number).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    fn credentials(passwords: &[&AppPassword]) -> AppCredentials {
        let sub = Sub::parse("ann").unwrap();
        let empty = AppCredentials::new(&[1; 32], &sub, Vec::new());
        let stored = passwords.iter().zip(7..).map(|(password, number)| (number, empty.keys_of(password)));
        AppCredentials::new(&[1; 32], &sub, stored.collect())
    }

    #[test]
    fn each_password_is_found_by_its_number_and_no_other_text_is() {
        let random = AppPassword::random(&mut StdRng::from_seed([1; 32]));
        let chosen = AppPassword::chosen("zwölf Zeichen oder mehr").unwrap();
        let credentials = credentials(&[&random, &chosen]);
        assert_eq!(credentials.verify_plain(random.as_str().as_bytes()), Some(7));
        assert_eq!(credentials.verify_plain("zwölf Zeichen oder mehr".as_bytes()), Some(8));
        assert_eq!(
            credentials.verify_plain("zwo\u{308}lf Zeichen oder mehr".as_bytes()),
            Some(8),
            "RFC 4013"
        );
        let without_hyphens = random.as_str().replace('-', "");
        let long = [random.as_str().as_bytes(), &[b'x'; 2_000]].concat();
        for wrong in [&b""[..], b"\xff\xfe", b"\n", without_hyphens.as_bytes(), &long, b"zw"] {
            assert_eq!(credentials.verify_plain(wrong), None);
        }
    }

    #[test]
    fn a_user_without_passwords_looks_like_others_and_no_password_fits() {
        let nobody = credentials(&[]);
        let somebody = credentials(&[&AppPassword::chosen("twelve letters").unwrap()]);
        assert_eq!((nobody.salt, nobody.iterations), (somebody.salt, somebody.iterations));
        assert_eq!(nobody.verify_plain(b""), None);
        assert_eq!(nobody.verify_plain(b"twelve letters"), None);
        let other = AppCredentials::new(&[1; 32], &Sub::parse("bob").unwrap(), Vec::new());
        let elsewhere = AppCredentials::new(&[2; 32], &Sub::parse("ann").unwrap(), Vec::new());
        assert!(nobody.salt != other.salt && nobody.salt != elsewhere.salt);
    }

    #[test]
    fn debug_output_has_numbers_only() {
        let credentials = credentials(&[&AppPassword::chosen("twelve letters").unwrap()]);
        assert_eq!(format!("{credentials:?}"), "AppCredentials { passwords: [7], .. }");
        assert_eq!(format!("{:?}", credentials.keys), "[AppPasswordKeys { number: 7, .. }]");
    }
}

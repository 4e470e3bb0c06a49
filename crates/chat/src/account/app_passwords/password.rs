//! The password itself, while it is in memory: random, or chosen by the operator.

use std::fmt;

use rand::{Rng, rngs::StdRng};
use serde::{Deserialize, Serialize};
use stringprep::saslprep;

/// Fewest characters of a chosen password.
pub const CHOSEN_CHARS: usize = 12;
/// Longest chosen password, in bytes.
const CHOSEN_BYTES: usize = 256;
/// Lower-case letters and digits that nobody confuses: without `i`, `l`, `o`, `0`, `1`, and without `s` and `z`, `5` and `2`.
/// 25 of these 27 are 118 random bits.
const LETTERS: &[u8; 27] = b"abcdefghjkmnpqrtuvwxy346789";
const GROUPS: usize = 5;
const GROUP_LETTERS: usize = 5;

/// An app password in plain text. It is shown once, and never stored or logged.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppPassword {
    text: Box<str>,
    is_random: bool,
}

/// The reason why a chosen password was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotChosen {
    #[error("a password has {CHOSEN_CHARS} characters or more")]
    TooShort,
    #[error("a password has at most {CHOSEN_BYTES} bytes")]
    TooLong,
    #[error("the password has characters that apps cannot send: RFC 4013 (SASLprep)")]
    Characters,
}

impl AppPassword {
    /// Five groups of five letters, with hyphens that are a part of it: SCRAM compares what the user has typed.
    pub fn random(rng: &mut StdRng) -> AppPassword {
        let mut text = String::with_capacity(GROUPS * (GROUP_LETTERS + 1));
        for at in 0..GROUPS * GROUP_LETTERS {
            if at > 0 && at % GROUP_LETTERS == 0 {
                text.push('-');
            }
            text.push(char::from(LETTERS[rng.random_range(0..LETTERS.len())]));
        }
        AppPassword { text: text.into(), is_random: true }
    }

    /// A password that a person has chosen, in the form of SASLprep (RFC 4013), as apps prepare it, too.
    pub fn chosen(text: &str) -> Result<AppPassword, NotChosen> {
        if text.len() > CHOSEN_BYTES {
            return Err(NotChosen::TooLong);
        }
        let text = saslprep(text).map_err(|_| NotChosen::Characters)?;
        if text.chars().count() < CHOSEN_CHARS {
            return Err(NotChosen::TooShort);
        }
        Ok(AppPassword { text: (*text).into(), is_random: false })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// A random password cannot be guessed, so one hash is enough to check it.
    pub(crate) fn is_random(&self) -> bool {
        self.is_random
    }
}

impl fmt::Debug for AppPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AppPassword(…)")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng;

    use super::*;

    #[test]
    fn a_random_password_has_118_bits_and_is_typed_as_shown() {
        let mut rng = StdRng::from_seed([3; 32]);
        let passwords: BTreeSet<String> =
            (0..500).map(|_| AppPassword::random(&mut rng).as_str().to_owned()).collect();
        assert_eq!(passwords.len(), 500);
        let mut used = BTreeSet::new();
        for password in &passwords {
            assert_eq!(password.split('-').map(str::len).collect::<Vec<_>>(), [5; 5], "{password}");
            assert_eq!(*saslprep(password).unwrap(), **password);
            used.extend(password.bytes().filter(|byte| *byte != b'-'));
        }
        assert_eq!(used, LETTERS.iter().copied().collect());
        assert!((GROUPS * GROUP_LETTERS) as f64 * (LETTERS.len() as f64).log2() > 110.0);
    }

    #[test]
    fn a_chosen_password_is_long_enough_and_prepared() {
        let chosen = |text: &str| AppPassword::chosen(text).map(|password| password.as_str().to_owned());
        assert_eq!(chosen("correct horse"), Ok("correct horse".to_owned()));
        assert_eq!(chosen("zwölf Zeichen"), chosen("zwo\u{308}lf Zeichen"), "RFC 4013 §2.2");
        assert_eq!(chosen("non\u{a0}breaking space").unwrap(), "non breaking space", "RFC 4013 §2.1");
        assert_eq!(chosen("eleven char"), Err(NotChosen::TooShort));
        assert_eq!(chosen("soft\u{ad}hyphen\u{ad}"), Err(NotChosen::TooShort), "they are mapped to nothing");
        assert_eq!(chosen("twelve\nchars and more"), Err(NotChosen::Characters));
        assert_eq!(chosen(&"x".repeat(257)), Err(NotChosen::TooLong));
    }

    #[test]
    fn debug_output_has_no_password() {
        let password = AppPassword::chosen("a very secret one").unwrap();
        assert_eq!(format!("{password:?}"), "AppPassword(…)");
    }
}

//! Mail addresses in tokens.

/// A user's mail address, with the language of mails.
#[derive(Clone, PartialEq, Eq)]
pub struct MailAddress {
    pub address: Box<str>,
    /// The language of mails: a tag of RFC 5646, or empty.
    pub language: Box<str>,
}

impl std::fmt::Debug for MailAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MailAddress")
    }
}

/// Longest `email` of a token: RFC 5321 §4.5.3.1.
const ADDRESS_BYTES: usize = 254;

/// Whether mail can be sent to this address. Strict enough that it fits unchanged into a header and an SMTP
/// command. Only its server knows whether it exists.
pub(crate) fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_local = |c: u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&c);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= ADDRESS_BYTES
        && (1..=64).contains(&local.len())
        && local.bytes().all(is_local)
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !local.contains("..")
        && domain.contains('.')
        && domain.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_and_invalid_addresses() {
        for good in ["ann@example.com", "a.b+c@sub.example.co", "o'neil@example.org", "x@1-2.example"] {
            assert!(is_address(good), "{good}");
        }
        let long = format!("{}@example.com", "x".repeat(65));
        for bad in [
            "",
            "ann",
            "@example.com",
            "ann@",
            "ann@localhost",
            "a b@example.com",
            "ann@example.com\r\nBcc: all@example.com",
            "ann@example.com,bob@example.com",
            "\"ann\"@example.com",
            "<ann@example.com>",
            ".ann@example.com",
            "a..b@example.com",
            "ann@-example.com",
            "ann@[127.0.0.1]",
            "änn@example.com",
            &long,
        ] {
            assert!(!is_address(bad), "{bad}");
        }
    }
}

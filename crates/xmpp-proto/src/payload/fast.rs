//! Fast authentication streamlining tokens (XEP-0484): a token in place of the password.

use std::fmt;

use super::date_time::DateTime;
use crate::ns;
use crate::sasl::HtMechanism;
use crate::xml::{Element, Open};

/// §3.2: the mechanism for which a client wants a token.
pub fn requested_token(authenticate: Element<'_>) -> Option<&str> {
    authenticate.child("request-token", ns::FAST)?.attr("mechanism")
}

/// §3.4, §3.6: an authentication with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fast {
    /// Grows with each use, so that an early message of TLS 1.3 is not accepted twice.
    pub count: Option<u64>,
    /// The token is not valid after this use.
    pub invalidate: bool,
}

impl Fast {
    pub fn of(authenticate: Element<'_>) -> Option<Fast> {
        let fast = authenticate.child("fast", ns::FAST)?;
        Some(Fast {
            count: fast.attr("count").and_then(|count| count.parse().ok()),
            invalidate: matches!(fast.attr("invalidate"), Some("true" | "1")),
        })
    }
}

/// §3.1: writes the feature, inside of that of SASL2.
pub fn write_feature(out: &mut Vec<u8>, mechanisms: &[HtMechanism]) {
    Open::new(out, "fast").attr("xmlns", ns::FAST).children(|out| {
        for mechanism in mechanisms {
            Open::new(out, "mechanism").text(mechanism.name());
        }
    });
}

/// §3.3: a new token.
#[derive(Clone, Copy)]
pub struct Token<'a> {
    pub token: &'a str,
    pub expiry: DateTime,
}

impl Token<'_> {
    /// Writes it inside of the success of SASL2.
    pub fn write(&self, out: &mut Vec<u8>) {
        let open = Open::new(out, "token").attr("xmlns", ns::FAST);
        open.attr("token", self.token).display("expiry", self.expiry).empty();
    }
}

impl fmt::Debug for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token(until {})", self.expiry)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn tokens_are_requested_and_used() {
        let request =
            |inside: &str| read(&format!("<authenticate xmlns='urn:xmpp:sasl:2'>{inside}</authenticate>"));
        let tree = request("<request-token xmlns='urn:xmpp:fast:0' mechanism='HT-SHA-256-EXPR'/>");
        assert_eq!((requested_token(tree.root()), Fast::of(tree.root())), (Some("HT-SHA-256-EXPR"), None));
        let tree = request("<fast xmlns='urn:xmpp:fast:0' count='123' invalidate='true'/>");
        assert_eq!(Fast::of(tree.root()), Some(Fast { count: Some(123), invalidate: true }));
        let tree = request("<fast xmlns='urn:xmpp:fast:0' count='x'/>");
        assert_eq!(Fast::of(tree.root()), Some(Fast { count: None, invalidate: false }));
    }

    #[test]
    fn feature_and_token_are_written() {
        let token = Token { token: "secret", expiry: DateTime(0) };
        assert_eq!(format!("{token:?}"), "Token(until 1970-01-01T00:00:00Z)");
        let xml = written(|out| {
            write_feature(out, &[HtMechanism::Exporter]);
            token.write(out);
        });
        assert_eq!(
            xml,
            "<fast xmlns='urn:xmpp:fast:0'><mechanism>HT-SHA-256-EXPR</mechanism></fast>\
             <token xmlns='urn:xmpp:fast:0' token='secret' expiry='1970-01-01T00:00:00Z'/>"
        );
    }
}

//! Server Dialback (XEP-0220), with the keys of XEP-0185.
//!
//! The server that opens a stream sends a key (`result`). The other server asks the server of that domain, over a stream of its own,
//! whether the key is right (`verify`).

use std::borrow::Cow;

use ring::{digest, hmac};

use crate::ns;
use crate::xml::{Element, Open};

/// Which of the two questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Result,
    Verify,
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Valid,
    Invalid,
    /// XEP-0220 §2.4: the domain cannot be checked now, or is not one of this server.
    Error,
}

/// One element of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialback<'a> {
    pub step: Step,
    pub from: &'a str,
    pub to: &'a str,
    /// Of the stream for which the key was made; only with [`Step::Verify`].
    pub id: Option<&'a str>,
    /// None: a question, which has the key.
    pub verdict: Option<Verdict>,
    pub key: Cow<'a, str>,
}

/// The prefix that XEP-0220 §2.1 asks for. COMPAT(dialback, 2026): older servers compare the prefix and not the namespace.
const PREFIX: &str = "xmlns:db";

impl<'a> Dialback<'a> {
    pub fn of(element: Element<'a>) -> Option<Dialback<'a>> {
        let step = match (element.ns(), element.name()) {
            (ns::DIALBACK, "result") => Step::Result,
            (ns::DIALBACK, "verify") => Step::Verify,
            _ => return None,
        };
        let verdict = match element.attr("type") {
            None => None,
            Some("valid") => Some(Verdict::Valid),
            Some("invalid") => Some(Verdict::Invalid),
            Some(_) => Some(Verdict::Error),
        };
        let (from, to, id) = (element.attr("from")?, element.attr("to")?, element.attr("id"));
        let key = match verdict {
            None => match element.text() {
                Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
                Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
            },
            Some(_) => Cow::Borrowed(""),
        };
        Some(Dialback { step, from, to, id, verdict, key })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        let name = match self.step {
            Step::Result => "db:result",
            Step::Verify => "db:verify",
        };
        let verdict = self.verdict.map(|verdict| match verdict {
            Verdict::Valid => "valid",
            Verdict::Invalid => "invalid",
            Verdict::Error => "error",
        });
        let open =
            Open::new(out, name).attr(PREFIX, ns::DIALBACK).attr("from", self.from).attr("to", self.to);
        let open = open.opt("id", self.id).opt("type", verdict);
        match verdict {
            // XEP-0220 §2.4: the error has a condition of a stanza.
            Some("error") => open.children(|out| {
                Open::new(out, "error").attr("type", "cancel").children(|out| {
                    Open::new(out, "item-not-found").attr("xmlns", ns::STANZAS).empty();
                });
            }),
            Some(_) => open.empty(),
            None => open.text(&self.key),
        }
    }
}

/// The key of a stream (XEP-0185 §3). `secret`: of the server that opens the stream; `id`: of the stream, from the other server.
pub fn key(secret: &[u8], receiving: &str, originating: &str, id: &str) -> String {
    let key =
        hmac::Key::new(hmac::HMAC_SHA256, hex(digest::digest(&digest::SHA256, secret).as_ref()).as_bytes());
    hex(hmac::sign(&key, format!("{receiving} {originating} {id}").as_bytes()).as_ref())
}

/// Whether `shown` is the key, in constant time.
pub fn is_key(shown: &str, secret: &[u8], receiving: &str, originating: &str, id: &str) -> bool {
    use subtle::ConstantTimeEq;
    key(secret, receiving, originating, id).as_bytes().ct_eq(shown.as_bytes()).into()
}

/// The stream feature (XEP-0220 §2.3).
pub fn write_feature(out: &mut Vec<u8>) {
    Open::new(out, "dialback").attr("xmlns", ns::DIALBACK_FEATURE).children(|out| {
        Open::new(out, "errors").empty();
    });
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    /// The example of XEP-0185 §3.
    #[test]
    fn a_key_is_that_of_the_specification() {
        let expected = "37c69b1cf07a3f67c04a5ef5902fa5114f2c76fe4a2686482ba5b89323075643";
        let shown = key(b"s3cr3tf0rd14lb4ck", "xmpp.example.com", "example.org", "D60000229F");
        assert_eq!(shown, expected);
        assert!(is_key(expected, b"s3cr3tf0rd14lb4ck", "xmpp.example.com", "example.org", "D60000229F"));
        assert!(!is_key(expected, b"s3cr3tf0rd14lb4ck", "xmpp.example.com", "example.org", "D60000229E"));
        assert!(!is_key("", b"s3cr3tf0rd14lb4ck", "xmpp.example.com", "example.org", "D60000229F"));
    }

    #[test]
    fn written_elements_are_read_again() {
        let question = Dialback {
            step: Step::Verify,
            from: "b.example",
            to: "a.example",
            id: Some("x'1"),
            verdict: None,
            key: "0af".into(),
        };
        for one in [
            question.clone(),
            Dialback { step: Step::Result, id: None, ..question.clone() },
            Dialback { verdict: Some(Verdict::Valid), key: "".into(), ..question.clone() },
            Dialback { verdict: Some(Verdict::Invalid), key: "".into(), ..question.clone() },
            Dialback { verdict: Some(Verdict::Error), key: "".into(), ..question.clone() },
        ] {
            assert_eq!(Dialback::of(read(&written(|out| one.write(out))).root()), Some(one));
        }
        for wrong in [
            "<result xmlns='jabber:server:dialback' from='a'>k</result>",
            "<other xmlns='jabber:server:dialback' from='a' to='b'/>",
            "<result xmlns='jabber:server' from='a' to='b'/>",
        ] {
            assert_eq!(Dialback::of(read(wrong).root()), None, "{wrong}");
        }
    }
}

//! Writes elements into a byte buffer.

use std::fmt::{self, Write as _};

/// An element whose start tag is being written. Finish it with [`children`](Open::children), [`text`](Open::text) or
/// [`empty`](Open::empty). Names are written as they are, so they come from the code or from a parsed element.
#[must_use = "the element is not closed yet"]
pub struct Open<'a> {
    out: &'a mut Vec<u8>,
    name: &'a str,
}

impl<'a> Open<'a> {
    pub fn new(out: &'a mut Vec<u8>, name: &'a str) -> Open<'a> {
        out.push(b'<');
        out.extend_from_slice(name.as_bytes());
        Open { out, name }
    }

    pub fn attr(self, name: &str, value: &str) -> Open<'a> {
        self.attribute(name, |out| escape_attribute(out, value))
    }

    pub fn opt(self, name: &str, value: Option<&str>) -> Open<'a> {
        match value {
            Some(value) => self.attr(name, value),
            None => self,
        }
    }

    /// An attribute whose value is a number, or another value that needs no memory to be written.
    pub fn display(self, name: &str, value: impl fmt::Display) -> Open<'a> {
        self.attribute(name, |out| {
            write!(Escaped(out), "{value}").expect("a byte buffer takes everything");
        })
    }

    fn attribute(self, name: &str, value: impl FnOnce(&mut Vec<u8>)) -> Open<'a> {
        self.out.push(b' ');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"='");
        value(self.out);
        self.out.push(b'\'');
        self
    }

    /// Closes the element after what `write` has written. If it wrote nothing, the element is empty.
    pub fn children(self, write: impl FnOnce(&mut Vec<u8>)) {
        self.out.push(b'>');
        let start = self.out.len();
        write(self.out);
        if self.out.len() == start {
            self.out.pop();
            self.empty();
        } else {
            close(self.out, self.name);
        }
    }

    pub fn text(self, text: &str) {
        self.children(|out| escape(out, text));
    }

    /// Ends the start tag of an element that stays open, as the root of a stream does.
    pub(crate) fn unclosed(self) {
        self.out.push(b'>');
    }

    pub fn empty(self) {
        self.out.extend_from_slice(b"/>");
    }
}

pub(super) fn close(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b"</");
    out.extend_from_slice(name.as_bytes());
    out.push(b'>');
}

struct Escaped<'a>(&'a mut Vec<u8>);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escape_attribute(self.0, text);
        Ok(())
    }
}

/// Writes character data. Characters that XML 1.0 §2.2 forbids are left out: they cannot be written in any form.
pub fn escape(out: &mut Vec<u8>, text: &str) {
    escape_with(out, text, |byte| match byte {
        b'&' => Some("&amp;"),
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        b'\r' => Some("&#13;"), // XML 1.0 §2.11 makes a line feed of a bare one
        b'\t' | b'\n' => None,
        _ => Some(""),
    });
}

/// Writes the value of an attribute, for either kind of quotes.
pub fn escape_attribute(out: &mut Vec<u8>, text: &str) {
    escape_with(out, text, |byte| match byte {
        b'&' => Some("&amp;"),
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        b'\'' => Some("&apos;"),
        b'"' => Some("&quot;"),
        b'\r' => Some("&#13;"), // XML 1.0 §3.3.3 makes spaces of bare ones
        b'\n' => Some("&#10;"),
        b'\t' => Some("&#9;"),
        _ => Some(""),
    });
}

/// Bytes that need a look: controls, the five of XML, and the first byte of U+FFFE and U+FFFF.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        special[byte] = true;
        byte += 1;
    }
    let mut at = 0;
    while at < b"&<>'\"\xEF".len() {
        special[b"&<>'\"\xEF"[at] as usize] = true;
        at += 1;
    }
    special
};

fn escape_with(out: &mut Vec<u8>, text: &str, replace: impl Fn(u8) -> Option<&'static str>) {
    let bytes = text.as_bytes();
    let mut copied = 0;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if !SPECIAL[usize::from(byte)] {
            at += 1;
            continue;
        }
        let (length, replacement) = match byte {
            0xEF if matches!(bytes[at..], [_, 0xBF, 0xBE | 0xBF, ..]) => (3, Some("")),
            0xEF => (3, None),
            b'\'' | b'"' => (1, replace(byte).filter(|replacement| !replacement.is_empty())),
            _ => (1, replace(byte)),
        };
        if let Some(replacement) = replacement {
            out.extend_from_slice(&bytes[copied..at]);
            out.extend_from_slice(replacement.as_bytes());
            copied = at + length;
        }
        at += length;
    }
    out.extend_from_slice(&bytes[copied..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn elements_are_closed_as_their_content_needs() {
        let xml = written(|out| {
            Open::new(out, "iq").attr("type", "result").opt("id", Some("1")).opt("to", None).children(
                |out| {
                    Open::new(out, "query").attr("xmlns", "urn:x").display("n", 7).empty();
                    Open::new(out, "b").children(|_| ());
                    Open::new(out, "c").text("d");
                    Open::new(out, "e").text("");
                },
            );
        });
        assert_eq!(xml, "<iq type='result' id='1'><query xmlns='urn:x' n='7'/><b/><c>d</c><e/></iq>");
    }

    #[test]
    fn special_characters_are_escaped_and_forbidden_ones_left_out() {
        let text = "a&b<c>d'e\"f\tg\nh\ri\u{0}\u{8}\u{1F}j\u{FFFE}k\u{FFFF}l\u{FF21}\u{FFFD}m😀";
        assert_eq!(
            written(|out| escape(out, text)),
            "a&amp;b&lt;c&gt;d'e\"f\tg\nh&#13;ijkl\u{FF21}\u{FFFD}m😀"
        );
        assert_eq!(
            written(|out| escape_attribute(out, text)),
            "a&amp;b&lt;c&gt;d&apos;e&quot;f&#9;g&#10;h&#13;ijkl\u{FF21}\u{FFFD}m😀"
        );
        assert_eq!(written(|out| escape(out, "")), "");
    }
}

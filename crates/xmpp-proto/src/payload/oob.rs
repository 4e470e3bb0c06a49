//! Out-of-band data (XEP-0066 §3): the address of a file in a message.

use std::borrow::Cow;

use crate::ns;
use crate::xml::{Element, Open};

/// The URL. Clients show it as a file if the body is the same.
pub fn of(message: Element<'_>) -> Option<Cow<'_, str>> {
    Some(message.child("x", ns::OOB)?.child("url", ns::OOB)?.text())
}

pub fn write(out: &mut Vec<u8>, url: &str) {
    Open::new(out, "x").attr("xmlns", ns::OOB).children(|out| Open::new(out, "url").text(url));
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};

    #[test]
    fn a_written_url_is_read_again() {
        let xml =
            format!("<message>{}</message>", written(|out| super::write(out, "https://example.com/?a&b")));
        assert_eq!(super::of(read(&xml).root()).as_deref(), Some("https://example.com/?a&b"));
        assert_eq!(super::of(read("<message><x xmlns='jabber:x:oob'/></message>").root()), None);
    }
}

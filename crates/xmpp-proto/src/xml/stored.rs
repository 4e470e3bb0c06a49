//! A form of written elements for storage: see [`Element::write_stored`](super::Element::write_stored).

use super::write::escape_attribute;
use super::{Limits, document};

/// The characters of addresses, and the bytes in their place. XML 1.0 §2.2 forbids these bytes, so no text contains them.
const PLACEHOLDERS: [(u8, u8); 3] = [(b'.', 1), (b':', 2), (b'/', 3)];

pub(super) fn write_ns(out: &mut Vec<u8>, ns: &str) {
    let start = out.len();
    escape_attribute(out, ns);
    for byte in &mut out[start..] {
        if let Some((_, placeholder)) = PLACEHOLDERS.iter().find(|(character, _)| character == byte) {
            *byte = *placeholder;
        }
    }
}

/// The form for storage of the element that `write` writes, inside an element whose namespace is `outer_ns`.
pub fn to_stored(write: impl FnOnce(&mut Vec<u8>), outer_ns: &str) -> String {
    let mut xml = Vec::new();
    write(&mut xml);
    let limits = Limits { stanza_bytes: usize::MAX, ..Limits::default() };
    let tree = document(&xml, &limits).expect("an element that was written by us");
    let mut stored = Vec::new();
    tree.root().write_stored(&mut stored, outer_ns);
    String::from_utf8(stored).expect("elements are written from UTF-8")
}

/// Appends stored elements in the form of [`Element::write`](super::Element::write).
pub fn restore(stored: &str, out: &mut Vec<u8>) {
    out.extend(stored.bytes().map(|byte| match byte {
        1..=3 => PLACEHOLDERS[usize::from(byte) - 1].0,
        byte => byte,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::{Limits, document};

    #[test]
    fn stored_elements_have_no_addresses_and_are_restored_unchanged() {
        let xml = "<x xmlns='http://jabber.org/protocol/muc#user'><a:b xmlns:a='urn:xmpp:a.b' a:c='urn:d'>http://text.example/ \
                   xmlns='http://e.example'</a:b></x>";
        let tree = document(xml.as_bytes(), &Limits::default()).unwrap();
        let (mut written, mut stored, mut restored) = (Vec::new(), Vec::new(), Vec::new());
        tree.root().write(&mut written, "jabber:client");
        tree.root().write_stored(&mut stored, "jabber:client");
        let stored = String::from_utf8(stored).unwrap();
        assert!(!stored.contains("jabber.org") && stored.contains("http://text.example/"), "{stored}");
        assert!(stored.contains("xmlns='http://e.example'"), "a text stays as it is: {stored}");
        restore(&stored, &mut restored);
        assert_eq!(String::from_utf8(restored).unwrap(), String::from_utf8(written).unwrap());
    }
}

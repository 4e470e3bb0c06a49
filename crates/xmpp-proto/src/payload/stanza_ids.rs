//! Unique and stable ids (XEP-0359): of the client that sent a message, and of the archive that keeps it.

use crate::ns;
use crate::xml::{Element, Open};

/// XEP-0359 §2.2: the sender's id of a message, which stays the same when it is sent again.
pub fn origin_id(message: Element<'_>) -> Option<&str> {
    message.child("origin-id", ns::STANZA_IDS)?.attr("id")
}

/// XEP-0359 §2.1: the id that this entity gave the message.
///
/// A server removes an id in its own name from what it receives, because everybody can write one.
pub fn stanza_id<'a>(message: Element<'a>, by: &str) -> Option<&'a str> {
    let ids = message.children().filter(|child| child.is("stanza-id", ns::STANZA_IDS));
    ids.filter(|id| id.attr("by") == Some(by)).find_map(|id| id.attr("id"))
}

pub fn write_origin_id(out: &mut Vec<u8>, id: &str) {
    Open::new(out, "origin-id").attr("xmlns", ns::STANZA_IDS).attr("id", id).empty();
}

pub fn write_stanza_id(out: &mut Vec<u8>, by: &str, id: &str) {
    Open::new(out, "stanza-id").attr("xmlns", ns::STANZA_IDS).attr("by", by).attr("id", id).empty();
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn written_ids_are_read_again() {
        let xml = written(|out| {
            write_origin_id(out, "o1");
            write_stanza_id(out, "other.example", "s0");
            write_stanza_id(out, "room@example.com", "s1");
        });
        let tree = read(&format!("<message>{xml}</message>"));
        assert_eq!(origin_id(tree.root()), Some("o1"));
        assert_eq!(stanza_id(tree.root(), "room@example.com"), Some("s1"));
        assert_eq!(stanza_id(tree.root(), "example.com"), None);
    }
}

//! Message retraction (XEP-0424).

use super::date_time::DateTime;
use crate::ns;
use crate::xml::{Element, Open};

/// The feature of archives that keep a [`Tombstone`].
pub const TOMBSTONES: &str = "urn:xmpp:message-retract:1#tombstone";

/// The id of the message that the sender takes back. In a room it is the id that the room gave.
pub fn of(message: Element<'_>) -> Option<&str> {
    message.child("retract", ns::RETRACTION)?.attr("id")
}

pub fn write(out: &mut Vec<u8>, id: &str) {
    Open::new(out, "retract").attr("xmlns", ns::RETRACTION).attr("id", id).empty();
}

/// XEP-0424 §4: the rest of a message in an archive.
#[derive(Clone, Copy, Debug)]
pub struct Tombstone<'a> {
    /// The id of the retraction.
    pub id: &'a str,
    pub stamp: DateTime,
}

impl Tombstone<'_> {
    /// `moderation` writes the elements of XEP-0425 if a moderator has retracted the message.
    pub fn write(&self, out: &mut Vec<u8>, moderation: impl FnOnce(&mut Vec<u8>)) {
        let open = Open::new(out, "retracted").attr("xmlns", ns::RETRACTION).attr("id", self.id);
        open.display("stamp", self.stamp).children(moderation);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_written_retraction_is_read_again() {
        let xml = format!("<message>{}</message>", written(|out| write(out, "wrong1")));
        assert_eq!(of(read(&xml).root()), Some("wrong1"));
        assert_eq!(of(read("<message><retract xmlns='urn:xmpp:message-retract:1'/></message>").root()), None);
    }

    #[test]
    fn a_tombstone_says_when_the_message_was_retracted() {
        let tombstone = Tombstone { id: "r1", stamp: DateTime(1_569_020_972_000) };
        assert_eq!(
            written(|out| tombstone.write(out, |_| ())),
            "<retracted xmlns='urn:xmpp:message-retract:1' id='r1' stamp='2019-09-20T23:09:32Z'/>"
        );
    }
}

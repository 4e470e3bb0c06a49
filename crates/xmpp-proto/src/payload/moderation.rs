//! Moderated message retraction (XEP-0425).

use std::borrow::Cow;

use super::{occupant_id, retraction};
use crate::ns;
use crate::stanza::Condition;
use crate::xml::{Element, Open};

/// §3: a moderator retracts the message to which the room gave this id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    pub id: &'a str,
    pub reason: Option<Cow<'a, str>>,
}

impl<'a> Request<'a> {
    /// Reads the payload of a set.
    pub fn of(moderate: Element<'a>) -> Result<Request<'a>, Condition> {
        let id = moderate.attr("id").ok_or(Condition::BadRequest)?;
        // Other acts than a retraction could come with later versions.
        if moderate.child("retract", ns::RETRACTION).is_none() {
            return Err(Condition::FeatureNotImplemented);
        }
        Ok(Request { id, reason: moderate.child("reason", ns::MODERATION).map(Element::text) })
    }
}

/// The moderator of a retraction, and the reason.
#[derive(Clone, Copy, Debug)]
pub struct Moderated<'a> {
    /// The occupant's address in the room.
    pub by: Option<&'a str>,
    pub occupant_id: Option<&'a str>,
    pub reason: Option<&'a str>,
}

impl Moderated<'_> {
    /// §3.1: writes the content of the message that tells the room about the retraction of the message with this id.
    pub fn write_retraction(&self, out: &mut Vec<u8>, id: &str) {
        let open = Open::new(out, "retract").attr("xmlns", ns::RETRACTION).attr("id", id);
        open.children(|out| self.write(out));
    }

    /// §4: writes what is left of the message in the archive.
    pub fn write_tombstone(&self, out: &mut Vec<u8>, tombstone: &retraction::Tombstone<'_>) {
        tombstone.write(out, |out| self.write(out));
    }

    fn write(&self, out: &mut Vec<u8>) {
        Open::new(out, "moderated").attr("xmlns", ns::MODERATION).opt("by", self.by).children(|out| {
            if let Some(id) = self.occupant_id {
                occupant_id::write(out, id);
            }
        });
        if let Some(reason) = self.reason {
            Open::new(out, "reason").text(reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::date_time::DateTime;
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_request_retracts_a_message() {
        const MODERATE: &str = "<moderate xmlns='urn:xmpp:message-moderate:1' id='s1'>";
        let retract = "<retract xmlns='urn:xmpp:message-retract:1'/>";
        let tree = read(&format!("{MODERATE}{retract}<reason>Not here</reason></moderate>"));
        assert_eq!(Request::of(tree.root()), Ok(Request { id: "s1", reason: Some("Not here".into()) }));
        let tree = read(&format!("{MODERATE}</moderate>"));
        assert_eq!(Request::of(tree.root()), Err(Condition::FeatureNotImplemented));
        let tree = read("<moderate xmlns='urn:xmpp:message-moderate:1'/>");
        assert_eq!(Request::of(tree.root()), Err(Condition::BadRequest));
    }

    #[test]
    fn the_room_and_the_archive_name_the_moderator() {
        let moderated = Moderated {
            by: Some("room@example.com/macbeth"),
            occupant_id: Some("dd72"),
            reason: Some("Not here"),
        };
        let xml = written(|out| moderated.write_retraction(out, "s1"));
        let inside = "<moderated xmlns='urn:xmpp:message-moderate:1' by='room@example.com/macbeth'>\
                      <occupant-id xmlns='urn:xmpp:occupant-id:0' id='dd72'/></moderated><reason>Not here</reason>";
        assert_eq!(xml, format!("<retract xmlns='urn:xmpp:message-retract:1' id='s1'>{inside}</retract>"));
        let tombstone = retraction::Tombstone { id: "r1", stamp: DateTime(0) };
        assert_eq!(
            written(|out| moderated.write_tombstone(out, &tombstone)),
            format!(
                "<retracted xmlns='urn:xmpp:message-retract:1' id='r1' stamp='1970-01-01T00:00:00Z'>{inside}</retracted>"
            )
        );
    }
}

//! Displayed markers (XEP-0333): how far a conversation was read.

use crate::ns;
use crate::xml::{Element, Open};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker<'a> {
    /// The sender wants to know when the message is displayed.
    Markable,
    /// Everything up to the message with this id was displayed. In a room it is the id that the room gave.
    Displayed { id: &'a str },
}

impl<'a> Marker<'a> {
    pub fn of(message: Element<'a>) -> Option<Marker<'a>> {
        message.children().filter(|child| child.ns() == ns::MARKERS).find_map(|child| match child.name() {
            "markable" => Some(Marker::Markable),
            "displayed" => child.attr("id").map(|id| Marker::Displayed { id }),
            _ => None,
        })
    }

    pub fn write(self, out: &mut Vec<u8>) {
        match self {
            Marker::Markable => Open::new(out, "markable").attr("xmlns", ns::MARKERS).empty(),
            Marker::Displayed { id } => {
                Open::new(out, "displayed").attr("xmlns", ns::MARKERS).attr("id", id).empty();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_written_marker_is_read_again() {
        for marker in [Marker::Markable, Marker::Displayed { id: "m1" }] {
            let xml = format!("<message>{}</message>", written(|out| marker.write(out)));
            assert_eq!(Marker::of(read(&xml).root()), Some(marker));
        }
        assert_eq!(
            Marker::of(read("<message><displayed xmlns='urn:xmpp:chat-markers:0'/></message>").root()),
            None
        );
    }
}

//! Message displayed synchronization (XEP-0490): how far a user has read, for the own devices.
//!
//! It is an item of a PEP node whose id is the conversation's address, or (§4.5.3) an element of a message.

use crate::ns;
use crate::xml::{Element, Open};

/// The last displayed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Displayed<'a> {
    /// The archive that gave the id: the user's own, or the room.
    pub by: &'a str,
    pub id: &'a str,
}

impl<'a> Displayed<'a> {
    /// Reads the element itself.
    pub fn of(displayed: Element<'a>) -> Option<Displayed<'a>> {
        if !displayed.is("displayed", ns::DISPLAYED) {
            return None;
        }
        let id = displayed.child("stanza-id", ns::STANZA_IDS)?;
        Some(Displayed { by: id.attr("by")?, id: id.attr("id")? })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        let open = Open::new(out, "displayed").attr("xmlns", ns::DISPLAYED);
        open.children(|out| super::stanza_ids::write_stanza_id(out, self.by, self.id));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_written_element_is_read_again() {
        let displayed = Displayed { by: "juliet@example.com", id: "0f71" };
        assert_eq!(Displayed::of(read(&written(|out| displayed.write(out))).root()), Some(displayed));
        assert_eq!(Displayed::of(read("<displayed xmlns='urn:xmpp:mds:displayed:0'/>").root()), None);
        assert_eq!(Displayed::of(read("<displayed xmlns='urn:xmpp:chat-markers:0'/>").root()), None);
    }
}

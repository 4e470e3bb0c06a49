//! Message replies (XEP-0461).

use crate::ns;
use crate::xml::{Element, Open};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'a> {
    /// The author of the message that is answered.
    pub to: Option<&'a str>,
    /// The author's id of it; in a room the id that the room gave.
    pub id: &'a str,
}

impl<'a> Reply<'a> {
    pub fn of(message: Element<'a>) -> Option<Reply<'a>> {
        let reply = message.child("reply", ns::REPLIES)?;
        Some(Reply { to: reply.attr("to"), id: reply.attr("id")? })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        Open::new(out, "reply").attr("xmlns", ns::REPLIES).opt("to", self.to).attr("id", self.id).empty();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_written_reply_is_read_again() {
        for reply in [Reply { to: Some("anna@example.com"), id: "m1" }, Reply { to: None, id: "m1" }] {
            let xml = format!("<message>{}</message>", written(|out| reply.write(out)));
            assert_eq!(Reply::of(read(&xml).root()), Some(reply));
        }
        assert_eq!(Reply::of(read("<message><reply xmlns='urn:xmpp:reply:0'/></message>").root()), None);
    }
}

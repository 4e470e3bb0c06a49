//! Direct invitations to rooms (XEP-0249).

use crate::jid::Jid;
use crate::ns;
use crate::xml::{Element, Open};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation<'a> {
    pub room: Jid,
    pub password: Option<&'a str>,
    pub reason: Option<&'a str>,
}

impl<'a> Invitation<'a> {
    pub fn of(message: Element<'a>) -> Option<Invitation<'a>> {
        let x = message.child("x", ns::DIRECT_INVITATION)?;
        let room = Jid::parse(x.attr("jid")?).ok()?;
        Some(Invitation { room, password: x.attr("password"), reason: x.attr("reason") })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        let open = Open::new(out, "x").attr("xmlns", ns::DIRECT_INVITATION).attr("jid", self.room.as_str());
        open.opt("password", self.password).opt("reason", self.reason).empty();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_written_invitation_is_read_again() {
        let room = Jid::parse("cave@rooms.example.com").unwrap();
        let invitation = Invitation { room, password: Some("p"), reason: Some("Hey!") };
        let xml = format!("<message>{}</message>", written(|out| invitation.write(out)));
        assert_eq!(Invitation::of(read(&xml).root()), Some(invitation));
        for wrong in ["<x xmlns='jabber:x:conference'/>", "<x xmlns='jabber:x:conference' jid='@'/>"] {
            assert_eq!(Invitation::of(read(&format!("<message>{wrong}</message>")).root()), None);
        }
    }
}

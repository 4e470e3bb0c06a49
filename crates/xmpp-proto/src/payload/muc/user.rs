//! Presences and messages of a room, and invitations (XEP-0045 §7).

use std::borrow::Cow;

use super::{Affiliation, Role};
use crate::jid::Jid;
use crate::ns;
use crate::xml::{Element, Open};

/// The codes of §16.6 that we send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Status {
    /// Every occupant sees the addresses of the others.
    NonAnonymous = 100,
    AffiliationChangedWhileAway = 101,
    ConfigurationChanged = 104,
    /// The presence is the receiver's own.
    OwnPresence = 110,
    LoggingEnabled = 170,
    LoggingDisabled = 171,
    NowNonAnonymous = 172,
    NowSemiAnonymous = 173,
    RoomCreated = 201,
    NickAssigned = 210,
    Banned = 301,
    NewNick = 303,
    Kicked = 307,
    RemovedByAffiliation = 321,
    RemovedByMembersOnly = 322,
    ServiceShutdown = 332,
    RemovedByError = 333,
}

/// An occupant, as others see it.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    pub affiliation: Affiliation,
    pub role: Role,
    /// The occupant's own address, if the receiver may see it.
    pub jid: Option<&'a str>,
    /// The next nickname, in a change of it (§7.6).
    pub nick: Option<&'a str>,
    /// The nickname of the moderator who did this.
    pub actor: Option<&'a str>,
    pub reason: Option<&'a str>,
}

impl Item<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        let open = Open::new(out, "item")
            .attr("affiliation", self.affiliation.name())
            .attr("role", self.role.name());
        open.opt("jid", self.jid).opt("nick", self.nick).children(|out| {
            if let Some(actor) = self.actor {
                Open::new(out, "actor").attr("nick", actor).empty();
            }
            if let Some(reason) = self.reason {
                Open::new(out, "reason").text(reason);
            }
        });
    }
}

/// Writes the `x` element of a presence or message from a room. `more` writes further children.
pub fn write_user(
    out: &mut Vec<u8>,
    item: Option<&Item<'_>>,
    codes: &[Status],
    more: impl FnOnce(&mut Vec<u8>),
) {
    Open::new(out, "x").attr("xmlns", ns::MUC_USER).children(|out| {
        if let Some(item) = item {
            item.write(out);
        }
        for code in codes {
            Open::new(out, "status").display("code", *code as u16).empty();
        }
        more(out);
    });
}

/// §7.8.2: an invitation, or its refusal, that goes through the room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mediated<'a> {
    Invite(Vec<Invite<'a>>),
    Decline(Invite<'a>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invite<'a> {
    pub to: Jid,
    pub reason: Option<Cow<'a, str>>,
}

impl<'a> Mediated<'a> {
    /// Reads a message to a room. None: it has neither, or an address is wrong.
    pub fn of(message: Element<'a>) -> Option<Mediated<'a>> {
        let x = message.child("x", ns::MUC_USER)?;
        let read = |element: Element<'a>| {
            let to = Jid::parse(element.attr("to")?).ok()?;
            Some(Invite { to, reason: element.child("reason", ns::MUC_USER).map(Element::text) })
        };
        if let Some(decline) = x.child("decline", ns::MUC_USER) {
            return read(decline).map(Mediated::Decline);
        }
        let invites: Vec<_> =
            x.children().filter(|child| child.is("invite", ns::MUC_USER)).map(read).collect();
        let invites: Option<Vec<_>> = invites.into_iter().collect();
        invites.filter(|invites| !invites.is_empty()).map(Mediated::Invite)
    }

    /// Writes one for its receiver, inside of [`write_user`], with the address of its sender.
    pub fn write(out: &mut Vec<u8>, name: &str, from: &str, reason: Option<&str>) {
        Open::new(out, name).attr("from", from).children(|out| {
            if let Some(reason) = reason {
                Open::new(out, "reason").text(reason);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::{read, written};

    #[test]
    fn a_presence_shows_an_occupant() {
        let item = Item {
            affiliation: Affiliation::None,
            role: Role::None,
            jid: None,
            nick: None,
            actor: Some("Fluellen"),
            reason: Some("Avaunt!"),
        };
        assert_eq!(
            written(|out| write_user(out, Some(&item), &[Status::Kicked, Status::OwnPresence], |_| ())),
            "<x xmlns='http://jabber.org/protocol/muc#user'><item affiliation='none' role='none'>\
             <actor nick='Fluellen'/><reason>Avaunt!</reason></item><status code='307'/><status code='110'/></x>"
        );
        let item = Item { actor: None, reason: None, jid: Some("a@example.com/b"), nick: Some("n"), ..item };
        assert_eq!(
            written(|out| write_user(out, Some(&item), &[], |_| ())),
            "<x xmlns='http://jabber.org/protocol/muc#user'>\
             <item affiliation='none' role='none' jid='a@example.com/b' nick='n'/></x>"
        );
    }

    #[test]
    fn invitations_go_through_the_room() {
        let message = |inside: &str| {
            read(&format!("<message><x xmlns='http://jabber.org/protocol/muc#user'>{inside}</x></message>"))
        };
        let hecate = || Jid::parse("hecate@example.com").unwrap();
        let tree = message(
            "<invite to='hecate@example.com'><reason>Hey</reason></invite><invite to='hecate@example.com'/>",
        );
        let invites =
            vec![Invite { to: hecate(), reason: Some("Hey".into()) }, Invite { to: hecate(), reason: None }];
        assert_eq!(Mediated::of(tree.root()), Some(Mediated::Invite(invites)));
        let tree = message("<decline to='hecate@example.com'/>");
        assert_eq!(Mediated::of(tree.root()), Some(Mediated::Decline(Invite { to: hecate(), reason: None })));
        for inside in ["", "<invite/>", "<invite to='@'/>", "<decline/>"] {
            assert_eq!(Mediated::of(message(inside).root()), None, "{inside}");
        }
        let xml = written(|out| {
            write_user(out, None, &[], |out| {
                Mediated::write(out, "invite", "crone@example.com/desktop", Some("Hey"))
            });
        });
        assert_eq!(
            xml,
            "<x xmlns='http://jabber.org/protocol/muc#user'><invite from='crone@example.com/desktop'>\
             <reason>Hey</reason></invite></x>"
        );
    }
}

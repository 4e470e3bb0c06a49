//! The presence of occupants (XEP-0045 §7.2.3, §7.6, §8.2, §9.1).

use std::borrow::Cow;
use std::sync::Arc;

use chat::rooms::{Occupant, OccupantChange};
use chat::{Closing, ConversationId, LeftReason, Room};
use xmpp_proto::jid::Jid;
use xmpp_proto::payload::muc::{Affiliation, Destroy, Item, Role as MucRole, Status, write_user};
use xmpp_proto::payload::occupant_id;
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::Open;

use super::arrival::reason_codes;
use super::{Visit, affiliation_and_role};
use crate::address::user;
use crate::session::{Iq, Turn};

impl Turn<'_, '_> {
    /// Somebody in a room of this session has come, changed or gone.
    pub(crate) fn occupant_event(
        &mut self,
        room: ConversationId,
        occupant: &Occupant,
        change: &OccupantChange,
    ) {
        let nick = self.gateway.nicks.learn(room, &occupant.sub, &occupant.nick);
        let is_own = self.session.is_own(&occupant.sub);
        let Some(visit) = self.session.visit(room) else { return };
        let own = is_own.then_some(Status::OwnPresence);
        match change {
            OccupantChange::Here => {
                let codes: Vec<Status> = own.into_iter().collect();
                self.occupant_presence(room, &nick, occupant, &codes);
            }
            OccupantChange::Renamed { from } => {
                let from = super::nicks::resource(from, &occupant.sub);
                if is_own {
                    visit.nick = nick.clone();
                }
                self.renamed(room, occupant, &from, &nick);
            }
            // Another session of the same user was the last one, as the domain sees it.
            OccupantChange::Gone(None) if is_own => {}
            OccupantChange::Gone(None) => {
                self.absence(room, &nick, occupant, None, None, &[]);
            }
            OccupantChange::Closed(closing) => {
                if let Some(visit) = self.session.take_visit(room) {
                    self.own_absence(&visit, &[Status::OwnPresence], Some(closing));
                }
            }
            OccupantChange::Gone(Some(reason)) => {
                let codes: Vec<Status> = reason_codes(*reason).iter().copied().chain(own).collect();
                if is_own {
                    self.session.take_visit(room);
                }
                self.absence(room, &nick, occupant, Some(*reason), None, &codes);
            }
        }
    }

    /// §7.6: the old nickname leaves, and the new one is there.
    fn renamed(&mut self, room: ConversationId, occupant: &Occupant, from: &str, to: &str) {
        let own = self.session.is_own(&occupant.sub).then_some(Status::OwnPresence);
        let codes: Vec<Status> = [Status::NewNick].into_iter().chain(own).collect();
        self.absence(room, from, occupant, None, Some(to), &codes);
        let codes: Vec<Status> = own.into_iter().collect();
        self.occupant_presence(room, to, occupant, &codes);
    }

    /// The own nickname after a request of this client.
    pub(super) fn own_nick_changed(&mut self, room: ConversationId, me: &Occupant, before: &str) {
        let nick = self.gateway.nicks.of(room, &me.sub);
        if *nick != *before {
            self.renamed(room, me, before, &nick);
        }
    }

    pub(super) fn occupant_presence(
        &mut self,
        room: ConversationId,
        nick: &str,
        occupant: &Occupant,
        codes: &[Status],
    ) {
        let (affiliation, role) = affiliation_and_role(occupant.role);
        let item = Shown { affiliation, role, new_nick: None, closing: None };
        self.room_presence_stanza(room, nick, Some(occupant), None, item, codes);
    }

    /// `reason`: the user is no member any more.
    pub(super) fn absence(
        &mut self,
        room: ConversationId,
        nick: &str,
        occupant: &Occupant,
        reason: Option<LeftReason>,
        new_nick: Option<&str>,
        codes: &[Status],
    ) {
        let (of_member, role) = affiliation_and_role(occupant.role);
        let affiliation = match reason {
            None => of_member,
            Some(LeftReason::Left | LeftReason::Removed | LeftReason::Closed) => Affiliation::None,
            Some(LeftReason::Banned) => Affiliation::Outcast,
        };
        let role = if new_nick.is_some() { role } else { MucRole::None };
        let item = Shown { affiliation, role, new_nick, closing: None };
        self.room_presence_stanza(room, nick, Some(occupant), Some("unavailable"), item, codes);
    }

    /// The client is out of the room. `closing`: the room does not exist any more (§10.9).
    pub(super) fn own_absence(&mut self, visit: &Visit, codes: &[Status], closing: Option<&Closing>) {
        let is_out = |code: &Status| matches!(code, Status::RemovedByAffiliation | Status::Banned);
        let is_member = closing.is_none() && !codes.iter().any(is_out);
        let affiliation = if is_member { Affiliation::Member } else { Affiliation::None };
        let item = Shown { affiliation, role: MucRole::None, new_nick: None, closing };
        self.room_presence_stanza(visit.room, &visit.nick, None, Some("unavailable"), item, codes);
    }

    fn room_presence_stanza(
        &mut self,
        room: ConversationId,
        nick: &str,
        occupant: Option<&Occupant>,
        kind: Option<&str>,
        Shown { affiliation, role, new_nick, closing }: Shown<'_>,
        codes: &[Status],
    ) {
        let from = format!("{}/{nick}", self.room_address(room));
        let to = self.session.jid.as_str().to_owned();
        let jid = match occupant {
            Some(occupant) => user(&occupant.sub, self.domain()),
            None => self.session.bare().to_owned(),
        };
        self.send(|out| {
            Open::new(out, "presence").opt("type", kind).attr("from", &from).attr("to", &to).children(
                |out| {
                    if let Some(occupant) = occupant {
                        occupant_id::write(out, &super::occupant_id(&occupant.sub));
                        super::hats::write(out, occupant);
                    }
                    let item = Item {
                        affiliation,
                        role,
                        jid: Some(&jid),
                        nick: new_nick,
                        actor: None,
                        reason: None,
                    };
                    write_user(out, Some(&item), codes, |out| {
                        if let Some(Closing { reason, successor }) = closing {
                            let alternate = successor.as_deref().and_then(|jid| Jid::parse(jid).ok());
                            Destroy { alternate, reason: reason.as_deref().map(Cow::Borrowed) }.write(out);
                        }
                    });
                },
            );
        });
    }

    /// XEP-0410 §3: the own occupant answers as long as the client is in the room.
    pub(crate) fn ping_occupant(&mut self, iq: &Iq<'_>, number: Option<u64>) -> Result<(), StanzaError> {
        let number = number.ok_or(StanzaError::new(Condition::ItemNotFound))?;
        let room = ConversationId::room(self.session.user.site, number);
        let to = iq.element.attr("to").and_then(|to| Jid::parse(to).ok());
        let visit = self.session.visit(room).ok_or(StanzaError::new(Condition::NotAcceptable))?;
        match to.as_ref().and_then(Jid::resource) {
            Some(nick) if !visit.has_nick(nick) => Err(StanzaError::new(Condition::ServiceUnavailable)),
            Some(_) | None => {
                self.empty_result(iq);
                Ok(())
            }
        }
    }

    /// The room has other data now.
    pub(crate) fn room_changed(&mut self, id: ConversationId, room: &Arc<Room>) {
        let Some(visit) = self.session.visit(id) else { return };
        let is_shown = visit.is_shown();
        let is_new_topic = visit.topic != room.topic;
        visit.topic = room.topic.clone();
        let is_nickname = std::mem::replace(&mut visit.nicknames, room.nicknames) != room.nicknames;
        if !is_shown {
            return;
        }
        if is_new_topic {
            return self.subject(id, room.topic.as_deref().unwrap_or_default());
        }
        // Presences tell it.
        if is_nickname {
            return;
        }
        // §10.2.1: the client asks for what has changed.
        let (from, to) = (self.room_address(id), self.session.jid.as_str().to_owned());
        self.send(|out| {
            Open::new(out, "message")
                .attr("type", "groupchat")
                .attr("from", &from)
                .attr("to", &to)
                .children(|out| write_user(out, None, &[Status::ConfigurationChanged], |_| {}));
        });
    }
}

/// What the `item` of a presence says.
struct Shown<'a> {
    affiliation: Affiliation,
    role: MucRole,
    new_nick: Option<&'a str>,
    closing: Option<&'a Closing>,
}

#[cfg(test)]
mod tests {
    use chat::Role;

    use super::*;

    #[test]
    fn roles_of_the_domain_are_affiliations_and_roles() {
        let names = |role| {
            let (affiliation, role) = affiliation_and_role(role);
            (affiliation.name(), role.name())
        };
        assert_eq!(names(Role::Owner), ("owner", "moderator"));
        assert_eq!(names(Role::Moderator), ("admin", "moderator"));
        assert_eq!(names(Role::Member), ("member", "participant"));
        assert_eq!(names(Role::Muted), ("member", "visitor"));
    }
}

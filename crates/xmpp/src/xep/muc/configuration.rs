//! Configuration of a room by its owners, and its end (XEP-0045 §10.2, §10.9).

use chat::messages::Event as MessagesEvent;
use chat::rooms::Command;
use chat::{Closing, ConversationId, Delivery, Event, Role, Room, RoomChange, RoomKind, With};
use xmpp_proto::ns;
use xmpp_proto::payload::data_forms::{self, Field, FieldKind, Form, FormKind};
use xmpp_proto::payload::muc::{Destroy, OwnerRequest, ROOM_CONFIG, write_configuration};
use xmpp_proto::stanza::{Condition, StanzaError};

use crate::address::Target;
use crate::session::{Asked, Iq, IqHandler, IqKind, Turn};

pub(super) const HANDLER: IqHandler = IqHandler { name: "query", ns: ns::MUC_OWNER, handle: request };

const NAME: &str = "muc#roomconfig_roomname";
const DESCRIPTION: &str = "muc#roomconfig_roomdesc";
const PUBLIC: &str = "muc#roomconfig_publicroom";
const MEMBERS_ONLY: &str = "muc#roomconfig_membersonly";
const MODERATED: &str = "muc#roomconfig_moderatedroom";
const MOST_MEMBERS: &str = "muc#roomconfig_maxusers";

fn request(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    let Target::Room(Some(number)) = iq.target else {
        return Err(StanzaError::new(Condition::ItemNotFound));
    };
    let conversation = ConversationId::room(turn.session.user.site, number);
    let change = |change| Command::Change { conversation, change: Box::new(change) };
    if iq.kind == IqKind::Get {
        // A change without fields reads the room, and the own role in it.
        turn.ask(iq, write_form, change(RoomChange::default()));
        return Ok(());
    }
    match OwnerRequest::of(iq.payload).map_err(StanzaError::new)? {
        OwnerRequest::AcceptDefaults => {
            turn.unlock(conversation);
            turn.empty_result(iq);
        }
        // §10.1.3: nobody wanted the new room.
        OwnerRequest::Cancel if turn.session.visit(conversation).is_some_and(|visit| visit.is_locked) => {
            close(turn, iq, conversation, Closing::default());
        }
        OwnerRequest::Cancel => turn.empty_result(iq),
        OwnerRequest::Configure(form) => {
            turn.ask(iq, configured, change(change_of(&form).map_err(StanzaError::new)?));
        }
        OwnerRequest::Destroy(destroy) => {
            let closing = closing_of(turn, destroy);
            close(turn, iq, conversation, closing);
        }
    }
    Ok(())
}

/// §10.9: the room that takes its place is one of this site. Other addresses are left out, as members would follow them.
fn closing_of(turn: &Turn<'_, '_>, Destroy { alternate, reason }: Destroy<'_>) -> Closing {
    let successor = alternate.filter(|jid| matches!(turn.target_of(Some(jid)), Target::Room(_)));
    Closing {
        reason: reason.filter(|reason| !reason.is_empty()).map(|reason| (*reason).into()),
        successor: successor.map(|jid| jid.bare().into()),
    }
}

/// The presence of the client's own end comes before the answer.
fn close(turn: &mut Turn<'_, '_>, iq: &Iq<'_>, conversation: ConversationId, closing: Closing) {
    let closing = Box::new(closing);
    turn.ask(iq, |turn, asked, _| turn.answer(asked, |_| {}), Command::Close { conversation, closing });
}

fn room_of(delivery: &Delivery) -> Option<(ConversationId, &std::sync::Arc<Room>, Role)> {
    let Event::Messages(MessagesEvent::Conversation(conversation)) = &delivery.event else { return None };
    match &conversation.with {
        With::Room(room, role) => Some((conversation.id, room, *role)),
        With::Person(_) => None,
    }
}

fn write_form(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    let Some((_, room, role)) = room_of(delivery) else { return };
    if role != Role::Owner {
        return turn.answer_error(&asked, &StanzaError::new(Condition::Forbidden));
    }
    let members = if room.max_members == 0 { "none".to_owned() } else { room.max_members.to_string() };
    turn.answer(asked, |out| {
        write_configuration(out, |out| {
            data_forms::write(out, FormKind::Form, ROOM_CONFIG, |out| fields(out, room, &members));
        });
    });
}

fn fields(out: &mut Vec<u8>, room: &Room, members: &str) {
    let bit = |on: bool| if on { "1" } else { "0" };
    let is_private = room.kind == RoomKind::Private;
    let is_moderated = room.kind == RoomKind::Announcement;
    let topic = room.topic.as_deref().unwrap_or_default();
    for (name, kind, label, value) in [
        (NAME, FieldKind::TextSingle, "Name", &*room.name),
        (DESCRIPTION, FieldKind::TextMulti, "Topic", topic),
        (PUBLIC, FieldKind::Boolean, "Listed, and open to everybody", bit(!is_private)),
        (MEMBERS_ONLY, FieldKind::Boolean, "For members only", bit(is_private)),
        (MODERATED, FieldKind::Boolean, "Only moderators write", bit(is_moderated)),
        (MOST_MEMBERS, FieldKind::TextSingle, "Most members, or none", members),
    ] {
        Field { kind: Some(kind), label: Some(label), ..Field::new(name, &[value]) }.write(out);
    }
}

/// Fields that the form leaves out stay. A private room in which only moderators write does not exist.
fn change_of(form: &Form<'_>) -> Result<RoomChange, Condition> {
    let is_private = match (form.boolean(PUBLIC), form.boolean(MEMBERS_ONLY)) {
        (Some(public), Some(private)) if public == private => return Err(Condition::NotAcceptable),
        (Some(public), _) => Some(!public),
        (None, private) => private,
    };
    let kind = match (is_private, form.boolean(MODERATED)) {
        (Some(true), Some(true)) => return Err(Condition::NotAcceptable),
        (Some(true), _) => Some(RoomKind::Private),
        (_, Some(true)) => Some(RoomKind::Announcement),
        (Some(false), _) => Some(RoomKind::Public),
        // An announcement room or a private one could be meant.
        (None, Some(false) | None) => None,
    };
    let lines = form.values(DESCRIPTION);
    let max_members = match form.value(MOST_MEMBERS) {
        None => None,
        Some("none" | "") => Some(0),
        Some(number) => Some(number.parse().map_err(|_| Condition::BadRequest)?),
    };
    Ok(RoomChange {
        name: form.value(NAME).map(str::to_owned),
        topic: (!lines.is_empty()).then(|| lines.join("\n")),
        kind,
        max_members,
        ..RoomChange::default()
    })
}

impl Turn<'_, '_> {
    fn unlock(&mut self, room: ConversationId) {
        if let Some(visit) = self.session.visit(room) {
            visit.is_locked = false;
        }
    }
}

fn configured(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    turn.answer(asked, |_| {});
    if let Some((id, room, _)) = room_of(delivery) {
        turn.unlock(id);
        turn.room_changed(id, room);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xmpp_proto::xml::{Limits, document};

    fn change(fields: &str) -> Result<RoomChange, Condition> {
        let xml = format!("<x xmlns='jabber:x:data' type='submit'>{fields}</x>");
        let tree = document(xml.as_bytes(), &Limits::default()).unwrap();
        change_of(&Form::read(tree.root()).unwrap())
    }

    fn kind(public: &str, private: &str, moderated: &str) -> Result<Option<RoomKind>, Condition> {
        let field = |name: &str, value: &str| match value {
            "" => String::new(),
            value => format!("<field var='{name}'><value>{value}</value></field>"),
        };
        let fields = [field(PUBLIC, public), field(MEMBERS_ONLY, private), field(MODERATED, moderated)];
        change(&fields.concat()).map(|change| change.kind)
    }

    #[test]
    fn three_fields_make_the_kind_of_a_room() {
        assert_eq!(kind("1", "0", "0"), Ok(Some(RoomKind::Public)));
        assert_eq!(kind("0", "1", "0"), Ok(Some(RoomKind::Private)));
        assert_eq!(kind("", "1", ""), Ok(Some(RoomKind::Private)));
        assert_eq!(kind("1", "", "1"), Ok(Some(RoomKind::Announcement)));
        assert_eq!(kind("", "", "1"), Ok(Some(RoomKind::Announcement)));
        assert_eq!(kind("", "", ""), Ok(None));
        assert_eq!(kind("1", "1", ""), Err(Condition::NotAcceptable));
        assert_eq!(kind("", "1", "1"), Err(Condition::NotAcceptable));
    }

    #[test]
    fn texts_and_numbers_are_read() {
        let form = "<field var='muc#roomconfig_roomname'><value>Bikers</value></field>\
            <field var='muc#roomconfig_roomdesc'><value>Two</value><value>wheels</value></field>\
            <field var='muc#roomconfig_maxusers'><value>none</value></field>";
        let expected = RoomChange {
            name: Some("Bikers".into()),
            topic: Some("Two\nwheels".into()),
            max_members: Some(0),
            ..RoomChange::default()
        };
        assert_eq!(change(form), Ok(expected));
        let wrong = "<field var='muc#roomconfig_maxusers'><value>many</value></field>";
        assert_eq!(change(wrong), Err(Condition::BadRequest));
    }
}

//! Invitations into rooms, in the words of the wire.

use std::borrow::Cow;

use super::{address, conversation_text, kind, person, picture};

pub(super) fn link(link: &chat::RoomLink) -> web_proto::Link<'_> {
    web_proto::Link {
        code: link.code.text().into(),
        by: link.by.as_str().into(),
        until: link.until.0,
        uses: link.uses,
        used: link.used,
    }
}

pub(super) fn invitation(invitation: &chat::Invitation) -> web_proto::Invitation<'_> {
    let room = &*invitation.room;
    web_proto::Invitation {
        conversation: invitation.conversation.map(conversation_text),
        name: Cow::Borrowed(&room.name),
        kind: kind(room.kind),
        topic: room.topic.as_deref().map(Cow::Borrowed),
        avatar: address(room.avatar.as_ref()),
        picture: picture(room.avatar.as_ref()),
        members: room.members.into(),
        by: person(&invitation.by),
        until: invitation.until.0,
    }
}

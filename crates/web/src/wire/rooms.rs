//! Rooms, their members and their invitation links.

use std::borrow::Cow;

use chat::rooms::{Command, Event as Of};
use chat::{ConversationId, Delivery, LinkCode, MemberList, Named, Naming, Nickname, SiteId, Timestamp};
use web_proto::{Code, Command as Wire, Event};

use super::contacts::person;
use super::names::conversation_text;
use super::same::{ToChat, ToWire};
use super::{conversation_id, next, number, page, position, sub, subs, to};

pub(super) fn event<'a>(delivery: &'a Delivery, event: &'a Of) -> Event<'a> {
    match event {
        Of::Room { conversation, room } => Event::Room {
            conversation: conversation_text(*conversation),
            room: self::room(room, None),
            position: position(delivery),
        },
        Of::MemberCount { conversation, members, joined } => Event::MemberCount {
            conversation: conversation_text(*conversation),
            members: (*members).into(),
            joined: joined.iter().map(person).collect(),
        },
        Of::Left { conversation, reason } => Event::Left {
            re: delivery.re,
            conversation: conversation_text(*conversation),
            reason: reason.to_wire(),
            position: position(delivery),
        },
        Of::Member(member) => Event::Member { re: number(delivery), member: self::member(member) },
        Of::Members { members, next } => Event::Members {
            re: number(delivery),
            members: members.iter().map(member).collect(),
            next: self::next(next),
        },
        Of::Link { conversation, link } => Event::Link {
            re: number(delivery),
            conversation: conversation_text(*conversation),
            link: self::link(link),
        },
        Of::Links { conversation, links } => Event::Links {
            re: number(delivery),
            conversation: conversation_text(*conversation),
            links: links.iter().map(link).collect(),
        },
        Of::Invitation(invitation) => {
            Event::Invitation { re: number(delivery), invitation: Box::new(self::invitation(invitation)) }
        }
        Of::Names { conversation: _, names } => {
            Event::Nicknames { re: number(delivery), names: names.iter().map(nickname).collect() }
        }
        Of::Entered { .. } | Of::Occupant { .. } | Of::Occupants { .. } => {
            unreachable!("sessions of this gateway enter no room")
        }
        Of::Rooms { rooms, next } => Event::Rooms {
            re: number(delivery),
            rooms: rooms.iter().map(listed).collect(),
            next: self::next(next),
        },
    }
}

pub(super) fn room(room: &chat::Room, role: Option<chat::Role>) -> web_proto::Room<'_> {
    web_proto::Room {
        name: Cow::Borrowed(&room.name),
        kind: room.kind.to_wire(),
        role: role.map(ToWire::to_wire),
        members: room.members.into(),
        topic: room.topic.as_deref().map(Cow::Borrowed),
        avatar: address(room.avatar.as_ref()),
        picture: picture(room.avatar.as_ref()),
        page: room.page.as_deref().map(Cow::Borrowed),
        slow_ms: room.slow_ms.into(),
        frozen: room.frozen,
        max_members: room.max_members.into(),
        nicknames: room.nicknames,
    }
}

fn address(avatar: Option<&chat::RoomAvatar>) -> Option<Cow<'_, str>> {
    match avatar? {
        chat::RoomAvatar::Address(address) => Some(Cow::Borrowed(address)),
        chat::RoomAvatar::Upload(_) => None,
    }
}

fn picture(avatar: Option<&chat::RoomAvatar>) -> Option<Cow<'_, str>> {
    match avatar? {
        chat::RoomAvatar::Address(_) => None,
        chat::RoomAvatar::Upload(file) => Some(crate::files::room_picture_path(*file).into()),
    }
}

fn member(member: &chat::Member) -> web_proto::Member<'_> {
    let sanction = member.sanction.as_ref();
    web_proto::Member {
        person: person(&member.person),
        role: member.standing.role().map(ToWire::to_wire),
        banned: member.standing == chat::Standing::Banned,
        requested: member.requested,
        received: member.markers.map(|(received, _)| received.0),
        read: member.markers.map(|(_, read)| read.0),
        until: sanction.map(|of| of.until.0).filter(|until| *until < chat::Timestamp::MAX.0),
        reason: sanction.filter(|of| !of.reason.is_empty()).map(|of| Cow::Borrowed(&*of.reason)),
    }
}

fn nickname((user, nickname): &Named) -> web_proto::Nickname<'_> {
    web_proto::Nickname { user: user.as_str().into(), nickname: Cow::Borrowed(nickname) }
}

fn listed((id, room): &(ConversationId, chat::Room)) -> web_proto::Listed<'_> {
    web_proto::Listed { conversation: conversation_text(*id), room: self::room(room, None) }
}

pub(super) fn left((id, reason): &(ConversationId, chat::LeftReason)) -> web_proto::Left<'static> {
    web_proto::Left { conversation: conversation_text(*id), reason: reason.to_wire() }
}

fn link(link: &chat::RoomLink) -> web_proto::Link<'_> {
    web_proto::Link {
        code: link.code.text().into(),
        by: link.by.as_str().into(),
        until: link.until.0,
        uses: link.uses,
        used: link.used,
    }
}

fn invitation(invitation: &chat::Invitation) -> web_proto::Invitation<'_> {
    let room = &*invitation.room;
    web_proto::Invitation {
        conversation: invitation.conversation.map(conversation_text),
        name: Cow::Borrowed(&room.name),
        kind: room.kind.to_wire(),
        topic: room.topic.as_deref().map(Cow::Borrowed),
        avatar: address(room.avatar.as_ref()),
        picture: picture(room.avatar.as_ref()),
        members: room.members.into(),
        by: person(&invitation.by),
        until: invitation.until.0,
    }
}

pub(super) fn command(command: Wire<'_>, site: SiteId) -> Result<Command, Code> {
    let room = |id: Cow<'_, str>| conversation_id(site, &id);
    let link_code = |code: Cow<'_, str>| LinkCode::parse(&code).ok_or(Code::BadInvitation);
    Ok(match command {
        Wire::CreateRoom { name, kind, topic, .. } => Command::Create {
            name: name.into_owned(),
            kind: kind.to_chat(),
            topic: topic.map(Cow::into_owned),
            alias: None,
        },
        Wire::Nickname { conversation, nickname, .. } => {
            let chosen = nickname.filter(|nickname| !nickname.trim().is_empty());
            let nickname = chosen.map(|nickname| Nickname::parse(&nickname).ok_or(Code::BadValue));
            Command::SetNickname { conversation: room(conversation)?, nickname: nickname.transpose()? }
        }
        Wire::Nicknames { conversation, users, .. } => Command::ListNames {
            conversation: room(conversation)?,
            users: subs(&users),
            naming: Naming::Chosen,
        },
        Wire::ChangeRoom {
            conversation,
            name,
            topic,
            avatar,
            picture,
            kind,
            slow_ms,
            frozen,
            max_members,
            ..
        } => Command::Change {
            conversation: room(conversation)?,
            change: Box::new(chat::RoomChange {
                name: name.map(Cow::into_owned),
                topic: topic.map(Cow::into_owned),
                avatar: avatar_change(site, avatar, picture.as_deref())?,
                kind: kind.map(ToChat::to_chat),
                // A larger number becomes the largest one, which is refused or no limit.
                slow_ms: slow_ms.map(|ms| u32::try_from(ms).unwrap_or(u32::MAX)),
                frozen,
                max_members: max_members.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
            }),
        },
        Wire::Join { to, .. } => Command::Join { to: self::to(site, &to)? },
        Wire::Leave { conversation, .. } => Command::Leave { conversation: room(conversation)? },
        Wire::CloseRoom { conversation, reason, .. } => {
            let reason = reason.map(Into::into);
            let closing = Box::new(chat::Closing { reason, successor: None });
            Command::Close { conversation: room(conversation)?, closing }
        }
        Wire::Member { conversation, user, action, role, until, reason, .. } => {
            let (conversation, user) = (room(conversation)?, sub(&user)?);
            let action = member_action(action, role)?;
            match room_sanction(action, until, reason)? {
                Some(sanction) => Command::SanctionMember { conversation, user, sanction },
                None => Command::ChangeMember { conversation, user, action },
            }
        }
        Wire::Members { conversation, query, sanctioned, after, limit, .. } => Command::ListMembers {
            conversation: room(conversation)?,
            list: if sanctioned { MemberList::Sanctioned } else { MemberList::Members },
            query: query.map(Cow::into_owned),
            page: page(after, limit),
        },
        Wire::MakeLink { conversation, hours, uses, .. } => {
            Command::MakeLink { conversation: room(conversation)?, hours, uses }
        }
        Wire::Links { conversation, .. } => Command::ListLinks { conversation: room(conversation)? },
        Wire::TakeBackLink { conversation, code, .. } => {
            Command::RevokeLink { conversation: room(conversation)?, code: link_code(code)? }
        }
        Wire::OpenLink { code, .. } => Command::OpenLink { code: link_code(code)? },
        Wire::JoinLink { code, .. } => Command::JoinByLink { code: link_code(code)? },
        Wire::Rooms { query, after, limit, .. } => {
            Command::List { query: query.map(Cow::into_owned), page: page(after, limit) }
        }
        not_of!(rooms) => unreachable!("another part decodes it"),
    })
}

fn avatar_change(
    site: SiteId,
    avatar: Option<Cow<'_, str>>,
    picture: Option<&str>,
) -> Result<Option<chat::AvatarChange>, Code> {
    match (avatar, picture) {
        (None, None) => Ok(None),
        (Some(address), None) => Ok(Some(chat::AvatarChange::address(address.into_owned()))),
        (None, Some(file)) => {
            let file = crate::files::parse_id(site, file).ok_or(Code::NoSuchFile)?;
            Ok(Some(chat::AvatarChange::Upload(file)))
        }
        (Some(_), Some(_)) => Err(Code::BadValue),
    }
}

fn member_action(
    action: web_proto::MemberAction,
    role: Option<web_proto::Role>,
) -> Result<chat::MemberAction, Code> {
    Ok(match action {
        web_proto::MemberAction::Invite => chat::MemberAction::Invite,
        web_proto::MemberAction::Remove => chat::MemberAction::Remove,
        web_proto::MemberAction::Ban => chat::MemberAction::Ban,
        web_proto::MemberAction::Unban => chat::MemberAction::Unban,
        web_proto::MemberAction::SetRole => {
            chat::MemberAction::SetRole(role.ok_or(Code::BadValue)?.to_chat())
        }
    })
}

/// The sanction, if the action has an end or a reason.
fn room_sanction(
    action: chat::MemberAction,
    until: Option<u64>,
    reason: Option<Cow<'_, str>>,
) -> Result<Option<chat::RoomSanction>, Code> {
    if until.is_none() && reason.is_none() {
        return Ok(None);
    }
    let kind = match action {
        chat::MemberAction::Ban => chat::RoomSanctionKind::Ban,
        chat::MemberAction::SetRole(chat::Role::Muted) => chat::RoomSanctionKind::Mute,
        chat::MemberAction::Invite
        | chat::MemberAction::Remove
        | chat::MemberAction::Unban
        | chat::MemberAction::SetRole(_) => return Err(Code::BadValue),
    };
    Ok(Some(chat::RoomSanction {
        kind,
        until: until.map_or(Timestamp::MAX, Timestamp),
        reason: reason.unwrap_or_default().into(),
        shows_reason: true,
    }))
}

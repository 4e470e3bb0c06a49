//! The commands about rooms.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::{Answer, AnswerTo, Policy, command_of};
use crate::contacts::message_requests::RequestAnswer;
use crate::rooms::{
    Alias, AvatarChange, Closing, LinkCode, MemberAction, Naming, NewRoomOf, Nickname, RoomChange, RoomKind,
    RoomSanction, Rooms,
};
use crate::session::Context;
use crate::session::publication::Publication;
use crate::session::request_limits::RequestKind;
use crate::{ConversationId, PageOf, Refusal, Sub, To};

#[derive(Clone, Serialize, Deserialize)]
pub enum Command {
    Create {
        name: String,
        kind: RoomKind,
        topic: Option<String>,
        /// The name in its address, if an app creates it. [`Refusal::UserExists`]: another room has or had it.
        alias: Option<Alias>,
    },
    Change {
        conversation: ConversationId,
        change: Box<RoomChange>,
    },
    /// Lists the public rooms of the site.
    List {
        query: Option<String>,
        page: PageOf,
    },
    Join {
        to: To,
    },
    Leave {
        conversation: ConversationId,
    },
    /// Closes a room of the owner for good. Answered by `Left`.
    Close {
        conversation: ConversationId,
        closing: Box<Closing>,
    },
    /// Enters a room with this session, and joins it first if the user is no member. With a nickname, also changes the
    /// member's one. Answered by `Entered`.
    Enter {
        conversation: ConversationId,
        nickname: Option<Nickname>,
    },
    /// Ends what `Enter` began. Without effect in other rooms.
    Exit {
        conversation: ConversationId,
    },
    /// Lists the occupants whom others see, for a session in the room.
    ListOccupants {
        conversation: ConversationId,
    },
    /// Sets or removes the own nickname in a room of the user. Answered by `Names` with the nickname, if there is one.
    SetNickname {
        conversation: ConversationId,
        nickname: Option<Nickname>,
    },
    /// Names up to [`MOST_NAMED_AT_ONCE`](crate::rooms::MOST_NAMED_AT_ONCE) users of a room that the user may read.
    ListNames {
        conversation: ConversationId,
        users: Vec<Sub>,
        naming: Naming,
    },
    /// Shows a room that the user may read. Answered by `Rooms`.
    Show {
        conversation: ConversationId,
    },
    /// Finds the room with this alias, if the user may enter it. Answered by `Rooms`.
    Find {
        alias: Alias,
    },
    AnswerRequest {
        conversation: ConversationId,
        answer: RequestAnswer,
    },
    ChangeMember {
        conversation: ConversationId,
        user: Sub,
        action: MemberAction,
    },
    /// Mutes or bans a user in a room until a time, with a reason.
    SanctionMember {
        conversation: ConversationId,
        user: Sub,
        sanction: RoomSanction,
    },
    ListMembers {
        conversation: ConversationId,
        list: MemberList,
        query: Option<String>,
        page: PageOf,
    },
    /// Makes an invite link: everybody who has its code may join.
    MakeLink {
        conversation: ConversationId,
        hours: Option<u32>,
        uses: Option<u32>,
    },
    /// Lists the valid invite links of a room.
    ListLinks {
        conversation: ConversationId,
    },
    RevokeLink {
        conversation: ConversationId,
        code: LinkCode,
    },
    /// Shows the room of an invite link.
    OpenLink {
        code: LinkCode,
    },
    JoinByLink {
        code: LinkCode,
    },
}

command_of! {
    Rooms, Command:
    Create, Change, List, Join, Leave, Close, Enter, Exit, ListOccupants, SetNickname, ListNames, Show, Find, AnswerRequest, ChangeMember, SanctionMember, ListMembers, MakeLink, ListLinks, RevokeLink,
    OpenLink, JoinByLink,
}

/// The users of a room that a list contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemberList {
    Members,
    /// Muted members, and users who are banned from the room.
    Sanctioned,
}

impl Command {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            // An alias that is taken reveals a room, so tries are limited as entries are.
            Command::Create { alias, .. } => Policy {
                is_stopped_by_raid: true,
                counts_as: alias.as_ref().map(|_| RequestKind::Enter),
                ..Policy::speaks(true)
            },
            Command::Change { .. } => Policy { speaks: true, is_seen_by_others: true, ..Policy::RECORDED },
            // An invitation is recorded, too. The size of the room bounds them, because each further one
            // needs a removal first.
            Command::ChangeMember { action: MemberAction::Invite, .. } => Policy::speaks(true),
            Command::ChangeMember {
                action:
                    MemberAction::Remove | MemberAction::Ban | MemberAction::Unban | MemberAction::SetRole(_),
                ..
            }
            | Command::RevokeLink { .. } => Policy::RECORDED,
            Command::SanctionMember { sanction, .. } => {
                let speaks = !sanction.reason.is_empty();
                Policy { speaks, is_seen_by_others: speaks, ..Policy::RECORDED }
            }
            Command::Close { closing, .. } => {
                let speaks = closing.texts().next().is_some();
                Policy { speaks, is_seen_by_others: speaks, ..Policy::RECORDED }
            }
            // Each entry and each change writes to others. A nickname is a text for them.
            Command::Enter { nickname, .. } | Command::SetNickname { nickname, .. } => {
                Policy { counts_as: Some(RequestKind::Enter), ..Policy::speaks(nickname.is_some()) }
            }
            Command::Exit { .. } => Policy { answer: Answer::None, ..Policy::PLAIN },
            Command::ListOccupants { .. }
            | Command::ListNames { .. }
            | Command::Show { .. }
            | Command::Find { .. }
            | Command::List { .. }
            | Command::Join { .. }
            | Command::Leave { .. }
            | Command::AnswerRequest { .. }
            | Command::ListMembers { .. }
            | Command::MakeLink { .. }
            | Command::ListLinks { .. }
            | Command::OpenLink { .. }
            | Command::JoinByLink { .. } => Policy::PLAIN,
        }
    }

    pub(crate) fn publication(&self) -> Publication<'_> {
        match self {
            Command::Create { name, kind: _, topic, alias } => Publication {
                texts: std::iter::once(name)
                    .chain(topic)
                    .map(String::as_str)
                    .chain(alias.as_ref().map(Alias::as_str))
                    .collect(),
                ..Publication::default()
            },
            Command::Change { conversation: _, change } => {
                let RoomChange { name, topic, avatar, kind: _, slow_ms: _, frozen: _, max_members: _ } =
                    &**change;
                let address = match avatar {
                    Some(AvatarChange::Address(address)) => Some(address.as_str()),
                    // The picture process has encoded the upload anew, and its file name was filtered when
                    // the upload began.
                    None | Some(AvatarChange::Remove | AvatarChange::Upload(_)) => None,
                };
                Publication {
                    texts: name.iter().chain(topic).map(String::as_str).collect(),
                    addresses: address.into_iter().collect(),
                    can_wait: false,
                }
            }
            Command::Close { conversation: _, closing } => {
                Publication { texts: closing.texts().collect(), ..Publication::default() }
            }
            // The member sees the reason.
            Command::SanctionMember { conversation: _, user: _, sanction } => {
                let RoomSanction { kind: _, until: _, reason, shows_reason: _ } = sanction;
                Publication::text(reason)
            }
            Command::Enter { conversation: _, nickname: Some(nickname) }
            | Command::SetNickname { conversation: _, nickname: Some(nickname) } => {
                Publication::text(nickname.as_str())
            }
            // Only the user sees a search.
            Command::List { query: _, page: _ }
            | Command::ListMembers { conversation: _, list: _, query: _, page: _ } => Publication::default(),
            Command::Enter { conversation: _, nickname: None }
            | Command::SetNickname { conversation: _, nickname: None }
            | Command::Exit { conversation: _ }
            | Command::ListOccupants { conversation: _ }
            | Command::ListNames { conversation: _, users: _, naming: _ }
            | Command::Show { conversation: _ }
            | Command::Find { alias: _ }
            | Command::Join { to: _ }
            | Command::Leave { conversation: _ }
            | Command::AnswerRequest { conversation: _, answer: _ }
            | Command::ChangeMember { conversation: _, user: _, action: _ }
            | Command::MakeLink { conversation: _, hours: _, uses: _ }
            | Command::ListLinks { conversation: _ }
            | Command::RevokeLink { conversation: _, code: _ }
            | Command::OpenLink { code: _ }
            | Command::JoinByLink { code: _ } => Publication::default(),
        }
    }
}

impl Rooms {
    pub(crate) fn carry_out(self: &Arc<Self>, context: Context, command: Command) {
        let Context { asker, re, flagged, now, .. } = context;
        let re = re.unwrap_or_default();
        match command {
            Command::Create { name, kind, topic, alias } => {
                self.create_room(&asker, re, NewRoomOf { name, kind, topic, alias }, flagged, now);
            }
            Command::Change { conversation, change } => {
                self.change_room(&asker, re, conversation, *change, flagged, now);
            }
            Command::List { query, page } => self.list_rooms(&asker, re, query, page),
            Command::Join { to } => match to.room(asker.session.user.site) {
                Ok(room) => self.join(&asker, re, room, now),
                Err(_) => {
                    let refusal = Refusal::NoSuchConversation;
                    self.sessions.refuse(asker.session.handle, AnswerTo::Request(re), refusal);
                }
            },
            Command::Enter { conversation, nickname } => self.enter(&asker, re, conversation, nickname, now),
            Command::Exit { conversation } => self.exit(asker.session, conversation),
            Command::ListOccupants { conversation } => self.list_occupants(asker.session, re, conversation),
            Command::SetNickname { conversation, nickname } => {
                self.set_nickname(&asker, re, conversation, nickname);
            }
            Command::ListNames { conversation, users, naming } => {
                self.list_names(asker.session, re, conversation, users, naming);
            }
            Command::Show { conversation } => self.show_room(asker.session, re, conversation),
            Command::Find { alias } => self.find_room(asker.session, re, alias, now),
            Command::Close { conversation, closing } => {
                self.close_room(&asker, re, conversation, *closing, now);
            }
            Command::Leave { conversation } => self.leave(&asker, re, conversation),
            Command::AnswerRequest { conversation, answer } => {
                self.answer_room_request(&asker, re, conversation, answer, now);
            }
            // Users of other servers are in no room.
            Command::ChangeMember { user, .. } if user.remote_address().is_some() => {
                self.sessions.refuse(asker.session.handle, AnswerTo::Request(re), Refusal::NotAllowed);
            }
            Command::ChangeMember { conversation, user, action } => {
                self.change_member(asker, re, conversation, user, action, now);
            }
            Command::SanctionMember { conversation, user, sanction } => {
                self.sanction_member(asker, re, conversation, user, sanction, now);
            }
            Command::ListMembers { conversation, list: MemberList::Members, query, page } => {
                self.list_members(asker, re, conversation, query, page);
            }
            Command::ListMembers { conversation, list: MemberList::Sanctioned, query: _, page } => {
                self.list_sanctioned(&asker, re, conversation, page, now);
            }
            Command::MakeLink { conversation, hours, uses } => {
                self.make_link(&asker, re, conversation, hours, uses, now);
            }
            Command::ListLinks { conversation } => self.list_links(&asker, re, conversation, now),
            Command::RevokeLink { conversation, code } => {
                self.take_back_link(&asker, re, conversation, code, now);
            }
            Command::OpenLink { code } => self.open_link(&asker, re, code, now),
            Command::JoinByLink { code } => self.join_link(&asker, re, code, now),
        }
    }
}

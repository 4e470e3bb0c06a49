//! From the words of the protocol to what the domain is asked.

use chat::{
    ContactAction, ConversationChange, MarkerSet, PageOf, Seq, SetPresence, SiteId, Sub, Timestamp, To,
};
use web_proto::{Code, Command, SendTo};

use crate::names;

/// What a frame of a signed-in session asks for.
pub(crate) enum Asked {
    Domain(chat::Command),
    Ping(Option<u64>),
    Bye,
}

/// Why it cannot be asked: the code, and whom the error answers.
pub(crate) struct Wrong {
    pub(crate) code: Code,
    pub(crate) rid: Option<u64>,
    pub(crate) id: Option<Box<str>>,
}

/// Longest client-made id of a message.
const MAX_CLIENT_ID: usize = 64;
/// Longest cursor of a page that we ever wrote is far below.
const MAX_CURSOR: usize = 512;

pub(crate) fn translate(command: Command<'_>, site: SiteId) -> Result<Asked, Wrong> {
    let wrong = |code, rid| Wrong { code, rid, id: None };
    let user = |user: &str, rid| Sub::parse(user).ok_or(wrong(Code::NoSuchUser, rid));
    let conversation =
        |text: &str, rid| names::parse_conversation(text, site).ok_or(wrong(Code::NoSuchConversation, rid));
    let whom = |to: &SendTo<'_>, rid| match to {
        SendTo::User(id) => user(id, rid).map(To::User),
        SendTo::Conversation(id) => conversation(id, rid).map(To::Conversation),
    };
    let page = |after: Option<std::borrow::Cow<'_, str>>, limit, rid| match after {
        Some(after) if after.len() > MAX_CURSOR => Err(wrong(Code::BadValue, rid)),
        after => Ok(PageOf { after: after.map(Into::into), limit }),
    };
    let asked = match command {
        Command::Hello(_) => return Err(wrong(Code::NotNow, None)),
        Command::Ping { rid } => return Ok(Asked::Ping(rid)),
        Command::Bye => return Ok(Asked::Bye),
        Command::Send { id, to, body, reply_to } => {
            let refused = |code| Wrong { code, rid: None, id: Some(clipped(&id)) };
            if !is_client_id(&id) {
                return Err(refused(Code::BadValue));
            }
            chat::Command::Send {
                client_id: (&*id).into(),
                to: whom(&to, None).map_err(|why| refused(why.code))?,
                body: body.into(),
                reply_to: reply_to.map(Seq),
            }
        }
        Command::Marker { conversation: id, set } => chat::Command::Marker {
            conversation: conversation(&id, None)?,
            set: match set {
                web_proto::MarkerSet::Received(seq) => MarkerSet::Received(Seq(seq)),
                web_proto::MarkerSet::Read(seq) => MarkerSet::Read(Seq(seq)),
            },
        },
        Command::Typing { to, on } => chat::Command::Typing { to: whom(&to, None)?, on },
        Command::Presence { set } => chat::Command::SetPresence(match set {
            web_proto::SetPresence::Online => SetPresence::Online,
            web_proto::SetPresence::Away => SetPresence::Away,
            web_proto::SetPresence::Busy => SetPresence::Busy,
            web_proto::SetPresence::Invisible => SetPresence::Invisible,
        }),
        // Who is not a user at all has no presence either.
        Command::Watch { users } => {
            chat::Command::Watch { users: users.iter().filter_map(|user| Sub::parse(user)).collect() }
        }
        Command::Contact { rid, action, user: id } => {
            chat::Command::Contact { re: rid, action: contact_action(action), user: user(&id, Some(rid))? }
        }
        Command::Contacts { rid, after, limit } => {
            chat::Command::Contacts { re: rid, page: page(after, limit, Some(rid))? }
        }
        Command::People { rid, query, after, limit } => chat::Command::People {
            re: rid,
            query: query.map(Into::into),
            page: page(after, limit, Some(rid))?,
        },
        Command::Profiles { rid, users } => chat::Command::Profiles {
            re: rid,
            users: users.iter().filter_map(|user| Sub::parse(user)).collect(),
        },
        Command::Conversations { rid, after, limit, archived } => {
            chat::Command::Conversations { re: rid, archived, page: page(after, limit, Some(rid))? }
        }
        Command::Conversation { rid, conversation: id, muted_until, pinned, archived } => {
            chat::Command::Conversation {
                re: rid,
                conversation: conversation(&id, Some(rid))?,
                change: ConversationChange { muted_until: muted_until.map(Timestamp), pinned, archived },
            }
        }
        Command::History { rid, to, before, after, limit } => chat::Command::History {
            re: rid,
            to: whom(&to, Some(rid))?,
            before: before.map(Seq),
            after: after.map(Seq),
            limit,
        },
        Command::Resume { rid, position } => {
            chat::Command::Resume { re: rid, position: names::parse_position(&position) }
        }
        Command::Token { rid, token } => chat::Command::Token { re: rid, token: token.into() },
    };
    Ok(Asked::Domain(asked))
}

fn is_client_id(id: &str) -> bool {
    (1..=MAX_CLIENT_ID).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// An id that is too long is not said back in full.
fn clipped(id: &str) -> Box<str> {
    id.chars().take(MAX_CLIENT_ID).collect::<String>().into()
}

fn contact_action(action: web_proto::ContactAction) -> ContactAction {
    match action {
        web_proto::ContactAction::Request => ContactAction::Request,
        web_proto::ContactAction::Accept => ContactAction::Accept,
        web_proto::ContactAction::Decline => ContactAction::Decline,
        web_proto::ContactAction::Remove => ContactAction::Remove,
        web_proto::ContactAction::Block => ContactAction::Block,
        web_proto::ContactAction::Unblock => ContactAction::Unblock,
    }
}

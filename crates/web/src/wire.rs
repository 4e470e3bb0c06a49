//! The translation between the domain and the web protocol, in both directions. Each part of the domain has a file.

mod account;
pub(crate) mod calls;
mod contacts;
mod group_calls;
mod messages;
pub(crate) mod moderation;
mod names;
mod notifications;
mod presence;
pub(crate) mod rich;
mod rooms;
mod same;
pub(crate) mod session;

use std::borrow::Cow;

use chat::{Delivery, Seq, SiteId, Sub, Timestamp, UserId};
use web_proto::{Code, Command, Event, MarkerSet, SendTo};

use crate::files::Links;
pub(crate) use messages::file;
pub(crate) use names::{parse_conversation, parse_position};
pub(crate) use same::ToChat;
pub(crate) use session::{code, error, retry_after};

/// Appends the frame of an event.
pub(crate) fn write(delivery: &Delivery, links: &Links, out: &mut Vec<u8>) {
    if let (chat::Event::Messages(event), Some(position)) = (&delivery.event, delivery.position) {
        match event {
            // These two are written a million times while the others are written once: without an allocation.
            chat::messages::Event::Message(message) => {
                return messages::write_message(message, position, links, out);
            }
            chat::messages::Event::Ack { .. } => return messages::write_ack(event, position, out),
            _ => {}
        }
    }
    event(delivery, links).write(out);
}

pub(crate) fn event<'a>(delivery: &'a Delivery, links: &Links) -> Event<'a> {
    match &delivery.event {
        chat::Event::Session(event) => session::event(delivery, event, links),
        chat::Event::Presence(event) => presence::event(event),
        chat::Event::Contacts(event) => contacts::event(delivery, event),
        chat::Event::Notifications(event) => notifications::event(delivery, event),
        chat::Event::Moderation(event) => moderation::event(delivery, event),
        chat::Event::Calls(event) => calls::event(delivery, event),
        chat::Event::Rooms(event) => rooms::event(delivery, event),
        chat::Event::Messages(event) => messages::event(delivery, event, links),
        chat::Event::Account(event) => account::event(delivery, event, links),
    }
}

/// The number of the request that an answer has.
fn number(answer: &Delivery) -> u64 {
    answer.re.expect("the domain checks that an answer has its number")
}

fn position(stored: &Delivery) -> Cow<'static, str> {
    names::position_text(stored.position.expect("the domain checks that a stored event has its position"))
}

fn next(next: &Option<String>) -> Option<Cow<'_, str>> {
    next.as_deref().map(Cow::Borrowed)
}

/// How the gateway handles a command.
pub(crate) enum Asked {
    Chat(chat::Request),
    Pong(Option<u64>),
    Bye,
    /// `hello` again.
    NotNow,
    /// Refused here: a value that cannot be.
    Error {
        code: Code,
        re: Option<u64>,
        id: Option<Box<str>>,
    },
}

/// A command of a session of this user.
pub(crate) fn command(command: Command<'_>, user: UserId) -> Asked {
    translate(command, user.site).unwrap_or_else(|asked| asked)
}

fn translate(command: Command<'_>, site: SiteId) -> Result<Asked, Asked> {
    let wrong = |code, re| move || Asked::Error { code, re, id: None };
    let request = match command {
        Command::Hello(_) => return Err(Asked::NotNow),
        Command::Ping { rid } => return Ok(Asked::Pong(rid)),
        Command::Bye => return Ok(Asked::Bye),
        Command::Poll { id, to, body, choices, multiple, anonymous, ends } => {
            let poll = rich::choices(choices, multiple, anonymous, ends);
            rich::new_poll(site, id, &to, body, poll)?
        }
        Command::Vote { rid, conversation, seq, choices } => {
            change_message(site, rid, &conversation, seq, chat::MessageChange::Vote(choices))?
        }
        Command::ClosePoll { rid, conversation, seq } => {
            change_message(site, rid, &conversation, seq, chat::MessageChange::ClosePoll)?
        }
        Command::DropPreview { rid, conversation, seq } => {
            change_message(site, rid, &conversation, seq, chat::MessageChange::Preview(None))?
        }
        Command::Sticker { id, to, sticker, reply_to, thread } => {
            rich::send_sticker(site, id, &to, &sticker, (reply_to, thread))?
        }
        Command::Stickers { rid } => chat::Request::new(rid, chat::messages::Command::ListStickers),
        Command::Forward { id, to, conversation, seq } => rich::forward(site, id, &to, &conversation, seq)?,
        Command::Send { id, to, body, reply_to, files, thread } => {
            let files: Option<Vec<_>> = files.iter().map(|file| crate::files::parse_id(site, file)).collect();
            match (self::to(&to, site), files.ok_or(Code::NoSuchFile)) {
                (Ok(to), Ok(files)) => chat::Request::from(chat::messages::Command::Send {
                    client_id: id.into(),
                    to,
                    body: body.into(),
                    reply_to: reply_to.map(Seq),
                    files,
                    rich: rich::in_thread(thread),
                }),
                (Err(code), _) | (_, Err(code)) => {
                    return Err(Asked::Error { code, re: None, id: Some(id.into()) });
                }
            }
        }
        Command::Marker { conversation, set } => chat::Request::from(chat::messages::Command::Mark {
            conversation: parse_conversation(site, &conversation)
                .ok_or_else(wrong(Code::NoSuchConversation, None))?,
            set: match set {
                MarkerSet::Received(seq) => chat::MarkerSet::Received(Seq(seq)),
                MarkerSet::Read(seq) => chat::MarkerSet::Read(Seq(seq)),
            },
        }),
        Command::Typing { to, on } => chat::Request::from(chat::messages::Command::Typing {
            to: self::to(&to, site).map_err(|code| Asked::Error { code, re: None, id: None })?,
            on,
        }),
        Command::Call { rid: re, action } => {
            let action = calls::action(action).map_err(|code| Asked::Error { code, re, id: None })?;
            chat::Request { re, command: chat::calls::Command::Direct { action }.into() }
        }
        Command::GroupCall { rid: re, conversation, action } => chat::Request {
            re,
            command: chat::calls::Command::Group {
                conversation: parse_conversation(site, &conversation)
                    .ok_or_else(wrong(Code::NoSuchConversation, re))?,
                action: group_calls::action(action),
            }
            .into(),
        },
        Command::Presence { set } => chat::Request::from(chat::presence::Command::Set(set.to_chat())),
        // Watching an impossible id has no effect, as with any unknown user.
        Command::Watch { contacts, users } => {
            chat::Request::from(chat::presence::Command::Watch { contacts, users: subs(&users) })
        }
        Command::Contact { rid, action, user } => chat::Request::new(
            rid,
            chat::contacts::Command::Change {
                action: action.to_chat(),
                user: Sub::parse(&user).ok_or_else(wrong(Code::NoSuchUser, Some(rid)))?,
            },
        ),
        Command::Contacts { rid, after, limit } => {
            chat::Request::new(rid, chat::contacts::Command::List { page: page(after, limit) })
        }
        Command::People { rid, query, after, limit } => chat::Request::new(
            rid,
            chat::contacts::Command::ListPeople {
                query: query.map(Cow::into_owned),
                page: page(after, limit),
            },
        ),
        Command::Profiles { rid, users } => {
            chat::Request::new(rid, chat::contacts::Command::Profiles { users: subs(&users) })
        }
        Command::Profile { rid, user } => {
            let user = user.map(|user| Sub::parse(&user).ok_or_else(wrong(Code::NoSuchUser, Some(rid))));
            chat::Request::new(rid, chat::account::Command::Profile { user: user.transpose()? })
        }
        Command::ChangeProfile(change) => chat::Request::new(
            change.rid,
            chat::account::Command::ChangeProfile { change: Box::new(account::change(*change)) },
        ),
        Command::Conversations { rid, after, limit, archived, only } => chat::Request::new(
            rid,
            chat::messages::Command::ListConversations {
                list: messages::conversation_list(archived, only)
                    .ok_or_else(wrong(Code::BadValue, Some(rid)))?,
                page: page(after, limit),
            },
        ),
        Command::Conversation { rid, conversation, muted_until, pinned, archived, marked_unread, draft } => {
            chat::Request::new(
                rid,
                chat::messages::Command::ChangeConversation {
                    conversation: parse_conversation(site, &conversation)
                        .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
                    change: chat::ConversationChange {
                        muted_until: muted_until.map(Timestamp),
                        pinned,
                        archived,
                        marked_unread,
                        draft: draft.map(Box::from),
                    },
                },
            )
        }
        Command::Thread { rid, conversation, seq, follow, read } => chat::Request::new(
            rid,
            chat::messages::Command::ChangeThread {
                conversation: parse_conversation(site, &conversation)
                    .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
                root: Seq(seq),
                change: chat::ThreadChange { follow, read },
            },
        ),
        Command::Threads { rid, conversation } => chat::Request::new(
            rid,
            chat::messages::Command::ListThreads {
                conversation: parse_conversation(site, &conversation)
                    .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
            },
        ),
        Command::History { rid, before: Some(_), since: Some(_), .. }
        | Command::History { rid, after: Some(_), since: Some(_), .. }
        | Command::History { rid, thread: Some(_), since: Some(_), .. } => {
            return Err(wrong(Code::BadValue, Some(rid))());
        }
        Command::History { rid, to, since: Some(since), limit, .. } => chat::Request::new(
            rid,
            chat::messages::Command::HistorySince {
                to: self::to(&to, site).map_err(|code| Asked::Error { code, re: Some(rid), id: None })?,
                time: chat::Timestamp(since),
                limit,
            },
        ),
        Command::History { rid, to, before, after, since: None, thread, limit } => chat::Request::new(
            rid,
            chat::messages::Command::History {
                to: self::to(&to, site).map_err(|code| Asked::Error { code, re: Some(rid), id: None })?,
                before: before.map(Seq),
                after: after.map(Seq),
                thread: thread.map(Seq),
                limit,
            },
        ),
        Command::Edit { rid, conversation, seq, body } => {
            change_message(site, rid, &conversation, seq, chat::MessageChange::Edit(body.into()))?
        }
        Command::Delete { rid, conversation, seq } => {
            change_message(site, rid, &conversation, seq, chat::MessageChange::Delete)?
        }
        Command::React { rid, conversation, seq, reaction, on } => {
            let reaction = chat::Reaction::parse(&reaction).ok_or_else(wrong(Code::BadValue, Some(rid)))?;
            let change = chat::MessageChange::React { reaction, on };
            change_message(site, rid, &conversation, seq, change)?
        }
        Command::Pin { rid, conversation, seq, on } => {
            change_message(site, rid, &conversation, seq, chat::MessageChange::Pin(on))?
        }
        Command::Pins { rid, conversation } => chat::Request::new(
            rid,
            chat::messages::Command::ListPins {
                conversation: parse_conversation(site, &conversation)
                    .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
            },
        ),
        Command::CreateRoom { rid, name, kind, topic } => chat::Request::new(
            rid,
            chat::rooms::Command::Create {
                name: name.into_owned(),
                kind: kind.to_chat(),
                topic: topic.map(Cow::into_owned),
            },
        ),
        Command::ChangeRoom {
            rid,
            conversation,
            name,
            topic,
            avatar,
            picture,
            kind,
            slow_ms,
            frozen,
            max_members,
        } => chat::Request::new(
            rid,
            chat::rooms::Command::Change {
                conversation: parse_conversation(site, &conversation)
                    .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
                change: Box::new(chat::RoomChange {
                    name: name.map(Cow::into_owned),
                    topic: topic.map(Cow::into_owned),
                    avatar: rooms::avatar_change(site, avatar, picture.as_deref())
                        .map_err(|code| Asked::Error { code, re: Some(rid), id: None })?,
                    kind: kind.map(ToChat::to_chat),
                    // A larger number becomes the largest one, which is refused or no limit.
                    slow_ms: slow_ms.map(|ms| u32::try_from(ms).unwrap_or(u32::MAX)),
                    frozen,
                    max_members: max_members.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
                }),
            },
        ),
        Command::Join { rid, to } => chat::Request::new(
            rid,
            chat::rooms::Command::Join {
                to: self::to(&to, site).map_err(|code| Asked::Error { code, re: Some(rid), id: None })?,
            },
        ),
        Command::Leave { rid, conversation } => chat::Request::new(
            rid,
            chat::rooms::Command::Leave {
                conversation: parse_conversation(site, &conversation)
                    .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
            },
        ),
        Command::Member { rid, conversation, user, action, role, until, reason } => {
            let conversation = parse_conversation(site, &conversation)
                .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?;
            let user = Sub::parse(&user).ok_or_else(wrong(Code::NoSuchUser, Some(rid)))?;
            let bad_value = wrong(Code::BadValue, Some(rid));
            let action = rooms::member_action(action, role).ok_or_else(&bad_value)?;
            match rooms::room_sanction(action, until, reason).ok_or_else(&bad_value)? {
                Some(sanction) => chat::Request::new(
                    rid,
                    chat::rooms::Command::SanctionMember { conversation, user, sanction },
                ),
                None => {
                    chat::Request::new(rid, chat::rooms::Command::ChangeMember { conversation, user, action })
                }
            }
        }
        Command::Members { rid, conversation, query, sanctioned, after, limit } => chat::Request::new(
            rid,
            chat::rooms::Command::ListMembers {
                conversation: parse_conversation(site, &conversation)
                    .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
                list: if sanctioned { chat::MemberList::Sanctioned } else { chat::MemberList::Members },
                query: query.map(Cow::into_owned),
                page: page(after, limit),
            },
        ),
        Command::MakeLink { rid, conversation, hours, uses } => chat::Request::new(
            rid,
            chat::rooms::Command::MakeLink {
                conversation: parse_conversation(site, &conversation)
                    .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
                hours,
                uses,
            },
        ),
        Command::Links { rid, conversation } => chat::Request::new(
            rid,
            chat::rooms::Command::ListLinks {
                conversation: parse_conversation(site, &conversation)
                    .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
            },
        ),
        Command::TakeBackLink { rid, conversation, code } => chat::Request::new(
            rid,
            chat::rooms::Command::RevokeLink {
                conversation: parse_conversation(site, &conversation)
                    .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
                code: chat::LinkCode::parse(&code).ok_or_else(wrong(Code::BadInvitation, Some(rid)))?,
            },
        ),
        Command::OpenLink { rid, code } => chat::Request::new(
            rid,
            chat::rooms::Command::OpenLink {
                code: chat::LinkCode::parse(&code).ok_or_else(wrong(Code::BadInvitation, Some(rid)))?,
            },
        ),
        Command::JoinLink { rid, code } => chat::Request::new(
            rid,
            chat::rooms::Command::JoinByLink {
                code: chat::LinkCode::parse(&code).ok_or_else(wrong(Code::BadInvitation, Some(rid)))?,
            },
        ),
        Command::Rooms { rid, query, after, limit } => chat::Request::new(
            rid,
            chat::rooms::Command::List { query: query.map(Cow::into_owned), page: page(after, limit) },
        ),
        Command::Search { rid, query, conversation, after, limit } => {
            let named = conversation.map(|id| parse_conversation(site, &id).ok_or(()));
            chat::Request::new(
                rid,
                chat::messages::Command::Search {
                    query: query.into_owned(),
                    conversation: named
                        .transpose()
                        .map_err(|()| wrong(Code::NoSuchConversation, Some(rid))())?,
                    page: page(after, limit),
                },
            )
        }
        Command::Request { rid, conversation, answer } => chat::Request::new(
            rid,
            chat::Command::answer_request(
                parse_conversation(site, &conversation)
                    .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
                answer.to_chat(),
            ),
        ),
        Command::Report { rid, conversation, seq, user, reason, text } => chat::Request::new(
            rid,
            chat::moderation::Command::Report {
                of: moderation::report_of(site, conversation, seq, user)
                    .map_err(|code| wrong(code, Some(rid))())?,
                reason: reason.to_chat(),
                text: text.unwrap_or_default().into_owned(),
            },
        ),
        Command::Reports { rid, state, after, limit } => chat::Request::new(
            rid,
            chat::moderation::Command::ListReports {
                state: state.map(ToChat::to_chat),
                page: page(after, limit),
            },
        ),
        Command::Moderate(moderate) => chat::Request::new(
            moderate.rid,
            chat::moderation::Command::Act(
                moderation::act(site, &moderate).map_err(|code| wrong(code, Some(moderate.rid))())?,
            ),
        ),
        Command::Audit { rid, after, limit } => {
            chat::Request::new(rid, chat::moderation::Command::ListAudit { page: page(after, limit) })
        }
        Command::Notices { rid, seen } => {
            chat::Request::new(rid, chat::moderation::Command::Notices { seen })
        }
        Command::Settings { rid } => chat::Request::new(rid, chat::moderation::Command::Settings),
        Command::Configure { rid, patch } => {
            chat::Request::new(rid, chat::moderation::Command::Configure { patch })
        }
        Command::TestFilter { rid, body } => {
            chat::Request::new(rid, chat::moderation::Command::TestFilter { body: body.into_owned() })
        }
        Command::Notifications { rid, subscribe, unsubscribe, quiet, bodies, mail } => {
            let change = notifications::change(subscribe, unsubscribe, quiet);
            let change = change.ok_or_else(wrong(Code::BadValue, Some(rid)))?;
            let change = Box::new(chat::NotifyChange { bodies, mail, ..change });
            chat::Request::new(rid, chat::notifications::Command::Change(change))
        }
        Command::Devices { rid } => chat::Request::new(rid, chat::account::Command::ListDevices),
        Command::SignOut { rid, device } => chat::Request::new(
            rid,
            chat::account::Command::SignOutDevice {
                device: account::parse_device(&device).ok_or_else(wrong(Code::NoSuchDevice, Some(rid)))?,
            },
        ),
        Command::Export { rid, after, limit } => {
            chat::Request::new(rid, chat::account::Command::Export { page: page(after, limit) })
        }
        Command::RemoveAccount { rid, messages } => chat::Request::new(
            rid,
            chat::account::Command::Erase {
                messages: if messages {
                    chat::MessagesAfterErasure::Erased
                } else {
                    chat::MessagesAfterErasure::Kept
                },
            },
        ),
        Command::Resume { rid, position } => {
            chat::Request::new(rid, chat::sign_in::Command::Resume { position: parse_position(&position) })
        }
        Command::Token { rid, token } => {
            chat::Request::new(rid, chat::sign_in::Command::RenewToken { token: token.into_owned() })
        }
    };
    Ok(Asked::Chat(request))
}

fn change_message(
    site: SiteId,
    re: u64,
    conversation: &str,
    seq: u64,
    change: chat::MessageChange,
) -> Result<chat::Request, Asked> {
    let conversation = parse_conversation(site, conversation).ok_or(Asked::Error {
        code: Code::NoSuchConversation,
        re: Some(re),
        id: None,
    })?;
    Ok(chat::Request::new(re, chat::messages::Command::Change { conversation, seq: Seq(seq), change }))
}

fn to(to: &SendTo<'_>, site: SiteId) -> Result<chat::To, Code> {
    match to {
        SendTo::User(user) => Sub::parse(user).map(chat::To::User).ok_or(Code::NoSuchUser),
        SendTo::Conversation(id) => {
            parse_conversation(site, id).map(chat::To::Conversation).ok_or(Code::NoSuchConversation)
        }
        SendTo::Page(page) => chat::PageKey::parse(page).map(chat::To::Page).ok_or(Code::BadValue),
    }
}

fn subs(users: &[Cow<'_, str>]) -> Vec<Sub> {
    users.iter().filter_map(|user| Sub::parse(user)).collect()
}

fn page(after: Option<Cow<'_, str>>, limit: Option<u32>) -> chat::PageOf {
    chat::PageOf { after: after.map(Cow::into_owned), limit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_conversation_is_answered_where_the_client_waits() {
        let user = UserId { site: SiteId(1), num: 1 };
        let parsed = Command::parse(br#"{"t":"send","id":"a","to":{"conversation":"00"},"body":"x"}"#);
        let asked = command(parsed.unwrap(), user);
        assert!(
            matches!(asked, Asked::Error { code: Code::NoSuchConversation, re: None, id: Some(id) } if &*id == "a")
        );
        let parsed = Command::parse(br#"{"t":"history","rid":5,"to":{"conversation":"x"}}"#);
        assert!(matches!(
            command(parsed.unwrap(), user),
            Asked::Error { code: Code::NoSuchConversation, re: Some(5), id: None }
        ));
    }
}

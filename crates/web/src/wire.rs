//! The translation between the domain and the web protocol, in both directions. Each part of the domain has a file, with
//! its events and its commands.

#[macro_use]
mod parts;
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

use chat::{ConversationId, Delivery, SiteId, Sub, UserId};
use web_proto::{Code, Command, Event, SendTo};

use crate::files::Links;
pub(crate) use messages::file;
pub(crate) use names::{parse_conversation, parse_position};
pub(crate) use same::ToChat;
pub(crate) use session::{code, error, retry_after};

/// Appends the frame of an event.
pub(crate) fn write(delivery: &Delivery, links: &Links, out: &mut Vec<u8>) {
    if let (chat::Event::Messages(event), Some(position)) = (&delivery.event, delivery.position) {
        match event {
            // These two are a million times more frequent than others, so they are written without an allocation.
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

/// The number of the request to which an event is the answer.
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
    /// A value in it is invalid.
    Error {
        code: Code,
        re: Option<u64>,
        id: Option<Box<str>>,
    },
}

/// A command of a session of this user.
pub(crate) fn command(command: Command<'_>, user: UserId) -> Asked {
    let site = user.site;
    let (re, id) = command.answer_address();
    // Borrows from the frame, unless the id has escapes in JSON.
    let id = id.cloned();
    let decoded = match command {
        Command::Hello(_) => return Asked::NotNow,
        Command::Ping { rid } => return Asked::Pong(rid),
        Command::Bye => return Asked::Bye,
        of!(account) => account::command(command).map(chat::Command::Account),
        of!(calls) => calls::command(command, site).map(chat::Command::Calls),
        of!(contacts) => contacts::command(command, site),
        of!(messages) => messages::command(command, site).map(chat::Command::Messages),
        of!(moderation) => moderation::command(command, site).map(chat::Command::Moderation),
        of!(notifications) => notifications::command(command).map(chat::Command::Notifications),
        of!(presence) => presence::command(command).map(chat::Command::Presence),
        of!(rooms) => rooms::command(command, site).map(chat::Command::Rooms),
        of!(session) => session::command(command).map(chat::Command::SignIn),
    };
    match decoded {
        Ok(command) => Asked::Chat(chat::Request { re, command }),
        Err(code) => Asked::Error { code, re, id: id.map(Box::from) },
    }
}

fn to(site: SiteId, to: &SendTo<'_>) -> Result<chat::To, Code> {
    match to {
        SendTo::User(user) => sub(user).map(chat::To::User),
        SendTo::Conversation(id) => conversation_id(site, id).map(chat::To::Conversation),
        SendTo::Page(page) => chat::PageKey::parse(page).map(chat::To::Page).ok_or(Code::BadValue),
    }
}

fn conversation_id(site: SiteId, text: &str) -> Result<ConversationId, Code> {
    parse_conversation(site, text).ok_or(Code::NoSuchConversation)
}

fn sub(user: &str) -> Result<Sub, Code> {
    Sub::parse(user).ok_or(Code::NoSuchUser)
}

/// Without impossible ids: no user has them.
fn subs(users: &[Cow<'_, str>]) -> Vec<Sub> {
    users.iter().filter_map(|user| Sub::parse(user)).collect()
}

fn page(after: Option<Cow<'_, str>>, limit: Option<u32>) -> chat::PageOf {
    chat::PageOf { after: after.map(Cow::into_owned), limit }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(frame: &str, code: Code, re: Option<u64>, id: Option<&str>) {
        let parsed = Command::parse(frame.as_bytes()).unwrap();
        let Asked::Error { code: is, re: to, id: of } = command(parsed, UserId { site: SiteId(1), num: 1 })
        else {
            panic!("taken: {frame}");
        };
        assert_eq!((is, to, of.as_deref()), (code, re, id), "{frame}");
    }

    #[test]
    fn a_bad_value_is_answered_by_the_number_of_the_request() {
        for (fields, code) in [
            (r#""t":"profile","user":"""#, Code::NoSuchUser),
            (r#""t":"sign_out","device":"00""#, Code::NoSuchDevice),
            (r#""t":"call","action":"hang_up","call":"x""#, Code::NoSuchCall),
            (r#""t":"group_call","conversation":"x","action":"look""#, Code::NoSuchConversation),
            (r#""t":"contact","action":"block","user":"""#, Code::NoSuchUser),
            (r#""t":"history","to":{"conversation":"x"}"#, Code::NoSuchConversation),
            (r#""t":"history","to":{"page":""}"#, Code::BadValue),
            (r#""t":"history","to":{"user":""},"before":9,"since":9"#, Code::BadValue),
            (r#""t":"conversations","archived":true,"only":"unread""#, Code::BadValue),
            (r#""t":"vote","conversation":"x","seq":1,"choices":[]"#, Code::NoSuchConversation),
            (r#""t":"react","conversation":"x","seq":1,"reaction":"","on":true"#, Code::BadValue),
            (r#""t":"report","conversation":"1","user":"ben","reason":"spam""#, Code::BadValue),
            (r#""t":"moderate","act":"kick""#, Code::BadValue),
            (r#""t":"notifications","quiet":{"from":9999,"to":0,"offset":0}"#, Code::BadValue),
            (r#""t":"change_room","conversation":"1","picture":"x""#, Code::NoSuchFile),
            (r#""t":"change_room","conversation":"1","avatar":"","picture":"x""#, Code::BadValue),
            (r#""t":"member","conversation":"1","user":"ben","action":"set_role""#, Code::BadValue),
            (r#""t":"member","conversation":"1","user":"ben","action":"unban","until":9"#, Code::BadValue),
            (r#""t":"join_link","code":"""#, Code::BadInvitation),
        ] {
            check(&format!(r#"{{"rid":5,{fields}}}"#), code, Some(5), None);
        }
    }

    #[test]
    fn a_bad_value_in_a_message_is_answered_by_its_id() {
        for (fields, code) in [
            (r#""t":"send","to":{"conversation":"00"},"body":"x","files":["x"]"#, Code::NoSuchConversation),
            (r#""t":"send","to":{"user":"ben"},"body":"x","files":["x"]"#, Code::NoSuchFile),
            (r#""t":"poll","to":{"user":""},"body":"x","choices":[]"#, Code::NoSuchUser),
            (r#""t":"sticker","to":{"user":"ben"},"sticker":"1""#, Code::NoSuchSticker),
            (r#""t":"forward","to":{"user":"ben"},"conversation":"x","seq":1"#, Code::NoSuchConversation),
        ] {
            check(&format!(r#"{{"id":"a\u0062",{fields}}}"#), code, None, Some("ab"));
        }
    }

    #[test]
    fn web_clients_give_messages_short_ids_of_few_characters() {
        let long = "x".repeat(65);
        for id in ["", "a b", "a.b", "ä", "call:1", &long] {
            for fields in [
                r#""t":"send","to":{"user":"ben"},"body":"x""#,
                r#""t":"poll","to":{"user":"ben"},"body":"x","choices":["a","b"]"#,
                r#""t":"sticker","to":{"user":"ben"},"sticker":"0123456789abcdef""#,
                r#""t":"forward","to":{"user":"ben"},"conversation":"1","seq":1"#,
            ] {
                check(&format!(r#"{{"id":"{id}",{fields}}}"#), Code::BadValue, None, Some(id));
            }
        }
    }

    #[test]
    fn a_command_without_an_answer_gets_an_error_without_an_address() {
        check(r#"{"t":"marker","conversation":"x","read":1}"#, Code::NoSuchConversation, None, None);
        check(r#"{"t":"typing","to":{"user":""},"on":true}"#, Code::NoSuchUser, None, None);
    }
}

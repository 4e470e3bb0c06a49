//! From the domain's events to the words of the protocol.

use std::borrow::Cow;

use chat::{Event, Limits, Refusal};
use web_proto as wire;
use web_proto::Code;

use crate::names;

/// What a welcome says beyond the domain's.
pub(crate) struct Surroundings {
    pub(crate) frame_bytes: u32,
    pub(crate) idle_ms: u32,
    pub(crate) heartbeat_ms: u32,
}

/// Appends the frame of an event. `key`: the secret of a session without a WebSocket, for its welcome.
pub(crate) fn write(event: &Event, around: &Surroundings, key: Option<&str>, now_ms: u64, out: &mut Vec<u8>) {
    let frame = match event {
        Event::Welcome(welcome) => welcomed(welcome, around, key, now_ms),
        Event::Bye(refusal) => bye(code_of(*refusal), &refusal.to_string(), retry_of(*refusal)),
        Event::Ack { client_id, conversation, seq, time, position } => wire::Event::Ack {
            id: Cow::Borrowed(client_id),
            conversation: names::conversation(*conversation).into(),
            seq: seq.0,
            time: time.0,
            position: names::position(*position).into(),
        },
        Event::SendRefused { client_id, refusal } => refused(*refusal, None, Some(client_id)),
        Event::Refused { re, refusal } => refused(*refusal, *re, None),
        Event::Message(said, position) => {
            wire::Event::Message { message: message(said), position: names::position(*position).into() }
        }
        Event::Marker { conversation, user, received, read, unread, position } => wire::Event::Marker {
            conversation: names::conversation(*conversation).into(),
            user: Cow::Borrowed(user.as_str()),
            received: received.0,
            read: read.0,
            unread: *unread,
            position: names::position(*position).into(),
        },
        Event::Typing { conversation, user, on } => wire::Event::Typing {
            conversation: names::conversation(*conversation).into(),
            user: Cow::Borrowed(user.as_str()),
            on: *on,
        },
        Event::Presence { user, presence: is, last_seen } => wire::Event::Presence {
            user: Cow::Borrowed(user.as_str()),
            presence: presence(*is),
            last_seen: last_seen.map(|seen| seen.0),
        },
        Event::Contact { re, contact: changed, position } => wire::Event::Contact {
            re: *re,
            contact: contact(changed),
            position: names::position(*position).into(),
        },
        Event::Contacts { re, contacts, next } => wire::Event::Contacts {
            re: *re,
            contacts: contacts.iter().map(contact).collect(),
            next: next.as_deref().map(Cow::Borrowed),
        },
        Event::People { re, people, next } => wire::Event::People {
            re: *re,
            people: people.iter().map(person).collect(),
            next: next.as_deref().map(Cow::Borrowed),
        },
        Event::Profiles { re, people } => {
            wire::Event::Profiles { re: *re, people: people.iter().map(person).collect() }
        }
        Event::Conversations { re, conversations, next } => wire::Event::Conversations {
            re: *re,
            conversations: conversations.iter().map(conversation).collect(),
            next: next.as_deref().map(Cow::Borrowed),
        },
        Event::Conversation { re, conversation: changed, position } => wire::Event::Conversation {
            re: *re,
            conversation: conversation(changed),
            position: names::position(*position).into(),
        },
        Event::History { re, conversation, messages, more } => wire::Event::History {
            re: *re,
            conversation: names::conversation(*conversation).into(),
            messages: messages.iter().map(|said| message(said)).collect(),
            more: *more,
        },
        Event::Changes { re, changes } => wire::Event::Changes {
            re: *re,
            reset: changes.reset,
            conversations: changes.conversations.iter().map(conversation).collect(),
            conversations_next: changes.conversations_next.as_deref().map(Cow::Borrowed),
            messages: changes.messages.iter().map(|said| message(said)).collect(),
            gaps: gaps(&changes.gaps),
            contacts: changes.contacts.iter().map(contact).collect(),
            contacts_next: changes.contacts_next.as_deref().map(Cow::Borrowed),
            position: names::position(changes.position).into(),
        },
        Event::TokenOk { re, expires } => wire::Event::TokenOk { re: *re, expires: expires.0 },
        Event::Behind => wire::Event::Behind,
    };
    frame.write(out);
}

/// Events with a position move the client's; one that is behind must not hear them.
pub(crate) fn has_position(event: &Event) -> bool {
    match event {
        Event::Ack { .. }
        | Event::Message(..)
        | Event::Marker { .. }
        | Event::Contact { .. }
        | Event::Conversation { .. } => true,
        Event::Welcome(_)
        | Event::Bye(_)
        | Event::SendRefused { .. }
        | Event::Refused { .. }
        | Event::Typing { .. }
        | Event::Presence { .. }
        | Event::Contacts { .. }
        | Event::People { .. }
        | Event::Profiles { .. }
        | Event::Conversations { .. }
        | Event::History { .. }
        | Event::Changes { .. }
        | Event::TokenOk { .. }
        | Event::Behind => false,
    }
}

pub(crate) fn code_of(refusal: Refusal) -> Code {
    match refusal {
        Refusal::NoSuchSite => Code::NoSuchSite,
        Refusal::BadOrigin => Code::BadOrigin,
        Refusal::BadToken => Code::BadToken,
        Refusal::TokenExpired => Code::TokenExpired,
        Refusal::TokenUsed => Code::TokenUsed,
        Refusal::NoGuests => Code::NoGuests,
        Refusal::Banned => Code::Banned,
        Refusal::Replaced => Code::Replaced,
        Refusal::RateLimited { .. } => Code::RateLimited,
        Refusal::Full => Code::Full,
        Refusal::Unavailable => Code::Unavailable,
        Refusal::NoSuchUser => Code::NoSuchUser,
        Refusal::NoSuchConversation => Code::NoSuchConversation,
        Refusal::NotAllowed => Code::NotAllowed,
        Refusal::BadBody => Code::BadBody,
        Refusal::BadValue => Code::BadValue,
        Refusal::TooManyContacts => Code::TooManyContacts,
        Refusal::NoSession => Code::NoSession,
        Refusal::GoingAway { .. } => Code::GoingAway,
    }
}

/// When trying again makes sense, where the code says that it does.
pub(crate) fn retry_after(code: Code) -> Option<u64> {
    match code.comes_back() {
        web_proto::Return::Later => Some(match code {
            Code::Full => 10_000,
            Code::Unavailable => 3_000,
            _ => 1_000,
        }),
        web_proto::Return::Now => Some(0),
        web_proto::Return::Never | web_proto::Return::WithNewToken => None,
    }
}

pub(crate) fn bye<'a>(code: Code, text: &str, retry_after: Option<u64>) -> wire::Event<'a> {
    wire::Event::Bye { code, text: text.to_owned().into(), retry_after }
}

pub(crate) fn error<'a>(code: Code, rid: Option<u64>, id: Option<&'a str>) -> wire::Event<'a> {
    wire::Event::Error {
        code,
        text: code.meaning().trim().into(),
        re: rid,
        id: id.map(Cow::Borrowed),
        retry_after: retry_after(code),
    }
}

pub(crate) fn retry_of(refusal: Refusal) -> Option<u64> {
    match refusal {
        Refusal::RateLimited { retry_after_ms } | Refusal::GoingAway { retry_after_ms } => {
            Some(retry_after_ms.into())
        }
        refusal => retry_after(code_of(refusal)),
    }
}

fn refused(refusal: Refusal, re: Option<u64>, id: Option<&str>) -> wire::Event<'_> {
    wire::Event::Error {
        code: code_of(refusal),
        text: refusal.to_string().into(),
        re,
        id: id.map(Cow::Borrowed),
        retry_after: retry_of(refusal),
    }
}

fn welcomed<'a>(
    welcome: &'a chat::Welcome,
    around: &Surroundings,
    key: Option<&'a str>,
    now_ms: u64,
) -> wire::Event<'a> {
    let changes = &welcome.changes;
    wire::Event::Welcome(Box::new(wire::Welcome {
        session: format!("{:x}", welcome.session.handle.0).into(),
        key: key.map(Cow::Borrowed),
        me: person(&welcome.me),
        presence: match welcome.presence {
            chat::SetPresence::Online => wire::SetPresence::Online,
            chat::SetPresence::Away => wire::SetPresence::Away,
            chat::SetPresence::Busy => wire::SetPresence::Busy,
            chat::SetPresence::Invisible => wire::SetPresence::Invisible,
        },
        guest_token: welcome.guest_token.as_deref().map(Cow::Borrowed),
        open: welcome.open,
        limits: limits(welcome.limits, around),
        time: now_ms,
        expires: welcome.expires.0,
        resumed: !changes.reset,
        conversations: changes.conversations.iter().map(conversation).collect(),
        messages: changes.messages.iter().map(|said| message(said)).collect(),
        gaps: gaps(&changes.gaps),
        contacts: changes.contacts.iter().map(contact).collect(),
        contacts_next: changes.contacts_next.as_deref().map(Cow::Borrowed),
        conversations_next: changes.conversations_next.as_deref().map(Cow::Borrowed),
        position: names::position(changes.position).into(),
    }))
}

fn limits(limits: Limits, around: &Surroundings) -> wire::Limits {
    wire::Limits {
        body_bytes: limits.body_bytes,
        frame_bytes: around.frame_bytes,
        page: limits.page,
        watch: limits.watch,
        idle_ms: around.idle_ms,
        heartbeat_ms: around.heartbeat_ms,
    }
}

fn message(said: &chat::Message) -> wire::Message<'_> {
    wire::Message {
        conversation: names::conversation(said.conversation).into(),
        seq: said.seq.0,
        from: Cow::Borrowed(said.from.as_str()),
        id: Cow::Borrowed(&said.client_id),
        body: Cow::Borrowed(&said.body),
        time: said.time.0,
        reply_to: said.reply_to.map(|seq| seq.0),
    }
}

fn person(person: &chat::Person) -> wire::Person<'_> {
    wire::Person {
        user: Cow::Borrowed(person.sub.as_str()),
        name: Cow::Borrowed(&person.name),
        avatar: person.avatar.as_deref().map(Cow::Borrowed),
        guest: person.guest,
        presence: person.presence.map(presence),
    }
}

fn presence(presence: chat::Presence) -> wire::Presence {
    match presence {
        chat::Presence::Online => wire::Presence::Online,
        chat::Presence::Away => wire::Presence::Away,
        chat::Presence::Busy => wire::Presence::Busy,
        chat::Presence::Offline => wire::Presence::Offline,
        chat::Presence::Unknown => wire::Presence::Unknown,
    }
}

fn contact(contact: &chat::Contact) -> wire::Contact<'_> {
    wire::Contact {
        person: person(&contact.person),
        state: match contact.state {
            chat::ContactState::None => wire::ContactState::None,
            chat::ContactState::RequestSent => wire::ContactState::RequestSent,
            chat::ContactState::RequestReceived => wire::ContactState::RequestReceived,
            chat::ContactState::Contact => wire::ContactState::Contact,
            chat::ContactState::Blocked => wire::ContactState::Blocked,
        },
    }
}

fn conversation(of: &chat::Conversation) -> wire::Conversation<'_> {
    wire::Conversation {
        conversation: names::conversation(of.id).into(),
        with: person(&of.with),
        last: of.last.as_deref().map(message),
        received: of.received.0,
        read: of.read.0,
        their_received: of.their_received.0,
        their_read: of.their_read.0,
        unread: of.unread,
        mentions: of.mentions,
        muted_until: of.muted_until.0,
        pinned: of.pinned,
        archived: of.archived,
        active: of.active.0,
    }
}

fn gaps(gaps: &[chat::Gap]) -> Vec<wire::Gap<'static>> {
    gaps.iter()
        .map(|gap| wire::Gap {
            conversation: names::conversation(gap.conversation).into(),
            first: gap.first.0,
        })
        .collect()
}

//! Messages and the conversations that they are in.

use std::borrow::Cow;
use std::sync::Arc;

use chat::messages::Event as Of;
use chat::{Delivery, Position};
use web_proto::Event;

use super::contacts::person;
use super::names::{Name, conversation_text};
use super::same::ToWire;
use super::{calls, moderation, next, number, position, rich, rooms};
use crate::files::Links;

/// Appends the frame of a message that is new.
pub(super) fn write_message(message: &chat::Message, position: Position, links: &Links, out: &mut Vec<u8>) {
    let (conversation, position) = (Name::conversation(message.conversation), Name::position(position));
    let message = named_message(message, links, conversation.as_str().into());
    Event::Message { message, position: position.as_str().into() }.write(out);
}

/// Appends the frame of an acknowledgement.
pub(super) fn write_ack(ack: &Of, position: Position, out: &mut Vec<u8>) {
    let Of::Ack { client_id, conversation, seq, time, request } = ack else { return };
    let (conversation, position) = (Name::conversation(*conversation), Name::position(position));
    let ack = Event::Ack {
        id: Cow::Borrowed(client_id),
        conversation: conversation.as_str().into(),
        seq: seq.0,
        time: time.0,
        request: *request,
        position: position.as_str().into(),
    };
    ack.write(out);
}

pub(super) fn event<'a>(delivery: &'a Delivery, event: &'a Of, links: &Links) -> Event<'a> {
    match event {
        Of::Ack { client_id, conversation, seq, time, request } => Event::Ack {
            id: Cow::Borrowed(client_id),
            conversation: conversation_text(*conversation),
            seq: seq.0,
            time: time.0,
            request: *request,
            position: position(delivery),
        },
        Of::Message(message) => {
            Event::Message { message: self::message(message, links), position: position(delivery) }
        }
        Of::Update { message: now, by } => Event::Update {
            re: delivery.re,
            message: message(now, links),
            by: by.as_str().into(),
            position: position(delivery),
        },
        Of::Counts { counts, by } => rich::counts(delivery.re, counts, by.as_deref(), position(delivery)),
        Of::Marker { conversation, user, received, read, unread } => Event::Marker {
            conversation: conversation_text(*conversation),
            user: user.as_str().into(),
            received: received.0,
            read: read.0,
            unread: *unread,
            position: position(delivery),
        },
        Of::Typing { conversation, user, on } => Event::Typing {
            conversation: conversation_text(*conversation),
            user: user.as_str().into(),
            on: *on,
        },
        Of::Conversations { conversations, next } => Event::Conversations {
            re: number(delivery),
            conversations: conversations.iter().map(|row| conversation(row, links)).collect(),
            next: self::next(next),
        },
        Of::Conversation(changed) => Event::Conversation {
            re: delivery.re,
            conversation: Box::new(conversation(changed, links)),
            position: position(delivery),
        },
        Of::History { conversation, messages, more } => Event::History {
            re: number(delivery),
            conversation: conversation.map(conversation_text).unwrap_or_default(),
            messages: all(messages, links),
            more: *more,
        },
        Of::Pins { conversation, messages } => Event::Pins {
            re: number(delivery),
            conversation: conversation_text(*conversation),
            messages: all(messages, links),
        },
        Of::Thread(thread) => Event::Thread { re: number(delivery), thread: rich::thread(thread, links) },
        Of::Threads { conversation, threads } => Event::Threads {
            re: number(delivery),
            conversation: conversation_text(*conversation),
            threads: threads.iter().map(|thread| rich::thread(thread, links)).collect(),
        },
        Of::Stickers(stickers) => {
            Event::Stickers { re: number(delivery), stickers: stickers.iter().map(rich::sticker).collect() }
        }
        Of::Found { hits, next } => {
            Event::Found { re: number(delivery), hits: all(hits, links), next: self::next(next) }
        }
        Of::Held(held) => Event::Held { held: moderation::held(held) },
    }
}

pub(super) fn all<'a>(messages: &'a [Arc<chat::Message>], links: &Links) -> Vec<web_proto::Message<'a>> {
    messages.iter().map(|one| message(one, links)).collect()
}

pub(super) fn message<'a>(message: &'a chat::Message, links: &Links) -> web_proto::Message<'a> {
    named_message(message, links, conversation_text(message.conversation))
}

fn named_message<'a>(
    message: &'a chat::Message,
    links: &Links,
    conversation: Cow<'a, str>,
) -> web_proto::Message<'a> {
    let rich = message.rich.as_deref();
    let thread = rich.and_then(|rich| rich.thread);
    web_proto::Message {
        conversation,
        seq: message.seq.0,
        from: message.from.as_str().into(),
        id: Cow::Borrowed(&message.client_id),
        body: Cow::Borrowed(&message.body),
        time: message.time.0,
        reply_to: message.reply_to.map(|seq| seq.0),
        version: Some(message.version).filter(|version| *version > 0),
        edited: message.edited.map(|time| time.0),
        deleted: message.deleted,
        call: calls::entry(message),
        pinned: message.pinned,
        reactions: message.reactions.iter().map(reaction).collect(),
        files: message.files.iter().map(|posted| file(posted, links)).collect(),
        poll: rich.and_then(|rich| rich.poll.as_ref()).map(rich::poll),
        forwarded: rich.and_then(|rich| rich.forwarded.as_ref()).map(rich::forwarded),
        thread: thread.map(|thread| thread.root.0),
        number: thread.map(|thread| thread.number),
        replies: rich.and_then(|rich| rich.replies).map(rich::replies),
        preview: rich.and_then(|rich| rich.preview.as_ref()).map(|preview| rich::preview(preview, links)),
        sticker: rich.and_then(|rich| rich.sticker.as_ref()).map(rich::sticker),
    }
}

pub(crate) fn file<'a>(file: &'a chat::File, links: &Links) -> web_proto::File<'a> {
    let picture = file.picture.as_ref();
    let has_thumbnail = picture.is_some_and(|picture| picture.has_thumbnail);
    web_proto::File {
        id: crate::files::id_text(file.id).into(),
        name: Cow::Borrowed(&file.name),
        kind: file.kind.name().into(),
        size: file.bytes,
        url: links.of(file, false).into(),
        thumb: has_thumbnail.then(|| links.of(file, true).into()),
        width: picture.map(|picture| picture.width),
        height: picture.map(|picture| picture.height),
        blurhash: picture.map(|picture| Cow::Borrowed(&*picture.blurhash)),
        duration: file.duration_ms,
        voice: file.voice,
        peaks: file.peaks.as_ref().map(|peaks| Cow::Borrowed(peaks.as_str())),
    }
}

fn reaction(put: &chat::Reactions) -> web_proto::Reaction<'_> {
    web_proto::Reaction {
        reaction: put.reaction.as_str().into(),
        count: put.count,
        users: put.users.iter().map(|user| user.as_str().into()).collect(),
        mine: put.mine,
    }
}

pub(super) fn conversation<'a>(
    conversation: &'a chat::Conversation,
    links: &Links,
) -> web_proto::Conversation<'a> {
    web_proto::Conversation {
        conversation: conversation_text(conversation.id),
        with: conversation.with.person().map(person),
        room: match &conversation.with {
            chat::With::Person(_) => None,
            // A user with a pending room request has no role there yet.
            chat::With::Room(room, role) => {
                Some(rooms::room(room, conversation.requested_by.is_none().then_some(*role)))
            }
        },
        last: conversation.last.as_deref().map(|last| message(last, links)),
        received: conversation.received.0,
        read: conversation.read.0,
        their_received: conversation.their_received.0,
        their_read: conversation.their_read.0,
        unread: conversation.unread,
        mentions: conversation.mentions,
        muted_until: conversation.muted_until.0,
        pinned: conversation.pinned,
        archived: conversation.archived,
        request: conversation.request.map(ToWire::to_wire),
        requested_by: conversation.requested_by.as_ref().map(person),
        marked_unread: conversation.marked_unread,
        draft: conversation.draft.as_deref().map(Cow::Borrowed),
        active: conversation.active.0,
    }
}

/// None: archived ones have no lists of their own.
pub(super) fn conversation_list(
    archived: bool,
    only: Option<web_proto::Only>,
) -> Option<chat::ConversationList> {
    match (archived, only) {
        (false, None) => Some(chat::ConversationList::Main),
        (true, None) => Some(chat::ConversationList::Archived),
        (false, Some(web_proto::Only::Unread)) => Some(chat::ConversationList::Unread),
        (false, Some(web_proto::Only::Mentions)) => Some(chat::ConversationList::Mentions),
        (true, Some(_)) => None,
    }
}

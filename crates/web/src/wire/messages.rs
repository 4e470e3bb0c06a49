//! Messages and the conversations that they are in.

use std::borrow::Cow;
use std::sync::Arc;

use chat::messages::{Command, Event as Of};
use chat::{ConversationList, Delivery, MessageChange, Position, Seq, SiteId, Timestamp};
use web_proto::{Code, Command as Wire, Event, MarkerSet, Only};

use super::contacts::person;
use super::names::{Name, conversation_text};
use super::same::ToWire;
use super::{calls, conversation_id, moderation, next, number, page, position, rich, rooms, to};
use crate::files::Links;

/// Appends the frame of a new message.
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
        Of::Message(message) | Of::Requested(message) => {
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
        Of::File { .. } => {
            unreachable!("sessions of this gateway create files by requests of their own")
        }
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
        opaque: message.is_opaque(),
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

pub(super) fn command(command: Wire<'_>, site: SiteId) -> Result<Command, Code> {
    let named = |id: Cow<'_, str>| conversation_id(site, &id);
    let change = |conversation, seq, change| {
        Ok(Command::Change { conversation: named(conversation)?, seq: Seq(seq), change })
    };
    Ok(match command {
        Wire::Send { id, to, body, reply_to, files, thread } => {
            let files = files.iter().map(|file| crate::files::parse_id(site, file).ok_or(Code::NoSuchFile));
            Command::Send {
                to: self::to(site, &to)?,
                files: files.collect::<Result<_, _>>()?,
                client_id: message_id(id)?,
                body: body.into(),
                extension: None,
                reply_to: reply_to.map(Seq),
                rich: rich::in_thread(thread),
            }
        }
        Wire::Poll { id, to, body, choices, multiple, anonymous, ends } => {
            let choices = choices.into_iter().map(Into::into).collect();
            let poll = chat::NewPoll { choices, multiple, anonymous, ends: ends.map(Timestamp) };
            Command::Send {
                to: self::to(site, &to)?,
                files: Vec::new(),
                client_id: message_id(id)?,
                body: body.into(),
                extension: None,
                reply_to: None,
                rich: chat::NewRich { poll: Some(poll), ..chat::NewRich::default() }.boxed(),
            }
        }
        Wire::Sticker { id, to, sticker, reply_to, thread } => Command::SendSticker(chat::SendSticker {
            to: self::to(site, &to)?,
            number: rich::parse_sticker(&sticker).ok_or(Code::NoSuchSticker)?,
            client_id: message_id(id)?,
            reply_to: reply_to.map(Seq),
            thread: thread.map(Seq),
        }),
        Wire::Forward { id, to, conversation, seq } => Command::Forward {
            to: self::to(site, &to)?,
            conversation: named(conversation)?,
            client_id: message_id(id)?,
            seq: Seq(seq),
        },
        Wire::Marker { conversation, set } => Command::Mark {
            conversation: named(conversation)?,
            set: match set {
                MarkerSet::Received(seq) => chat::MarkerSet::Received(Seq(seq)),
                MarkerSet::Read(seq) => chat::MarkerSet::Read(Seq(seq)),
            },
        },
        Wire::Typing { to, on } => Command::Typing { to: self::to(site, &to)?, on },
        Wire::Vote { conversation, seq, choices, .. } => {
            change(conversation, seq, MessageChange::Vote(choices))?
        }
        Wire::ClosePoll { conversation, seq, .. } => change(conversation, seq, MessageChange::ClosePoll)?,
        Wire::DropPreview { conversation, seq, .. } => {
            change(conversation, seq, MessageChange::Preview(None))?
        }
        Wire::Edit { conversation, seq, body, .. } => change(conversation, seq, MessageChange::edit(body))?,
        Wire::Delete { conversation, seq, .. } => change(conversation, seq, MessageChange::Delete)?,
        Wire::React { conversation, seq, reaction, on, .. } => {
            let reaction = chat::Reaction::parse(&reaction).ok_or(Code::BadValue)?;
            change(conversation, seq, MessageChange::React { reaction, on })?
        }
        Wire::Pin { conversation, seq, on, .. } => change(conversation, seq, MessageChange::Pin(on))?,
        Wire::Pins { conversation, .. } => Command::ListPins { conversation: named(conversation)? },
        Wire::Stickers { .. } => Command::ListStickers,
        Wire::Conversations { after, limit, archived, only, .. } => {
            Command::ListConversations { list: conversation_list(archived, only)?, page: page(after, limit) }
        }
        Wire::Conversation { conversation, muted_until, pinned, archived, marked_unread, draft, .. } => {
            let draft = draft.map(Box::from);
            let muted_until = muted_until.map(Timestamp);
            let change = chat::ConversationChange { muted_until, pinned, archived, marked_unread, draft };
            Command::ChangeConversation { conversation: named(conversation)?, change }
        }
        Wire::History { before: Some(_), since: Some(_), .. }
        | Wire::History { after: Some(_), since: Some(_), .. }
        | Wire::History { thread: Some(_), since: Some(_), .. } => return Err(Code::BadValue),
        Wire::History { to, since: Some(since), limit, .. } => {
            Command::HistorySince { to: self::to(site, &to)?, time: Timestamp(since), limit }
        }
        Wire::History { to, before, after, since: None, thread, limit, .. } => Command::History {
            to: self::to(site, &to)?,
            before: before.map(Seq),
            after: after.map(Seq),
            thread: thread.map(Seq),
            limit,
        },
        Wire::Thread { conversation, seq, follow, read, .. } => Command::ChangeThread {
            conversation: named(conversation)?,
            root: Seq(seq),
            change: chat::ThreadChange { follow, read },
        },
        Wire::Threads { conversation, .. } => Command::ListThreads { conversation: named(conversation)? },
        Wire::Search { query, conversation, after, limit, .. } => Command::Search {
            query: query.into_owned(),
            conversation: conversation.map(named).transpose()?,
            page: page(after, limit),
        },
        not_of!(messages) => unreachable!("another part decodes it"),
    })
}

fn message_id(id: Cow<'_, str>) -> Result<Box<str>, Code> {
    if web_proto::is_message_id(&id) { Ok(id.into()) } else { Err(Code::BadValue) }
}

/// The archived ones have no lists of their own.
fn conversation_list(archived: bool, only: Option<Only>) -> Result<ConversationList, Code> {
    match (archived, only) {
        (false, None) => Ok(ConversationList::Main),
        (true, None) => Ok(ConversationList::Archived),
        (false, Some(Only::Unread)) => Ok(ConversationList::Unread),
        (false, Some(Only::Mentions)) => Ok(ConversationList::Mentions),
        (true, Some(_)) => Err(Code::BadValue),
    }
}

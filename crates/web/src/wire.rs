//! Between the domain's words and those of the web protocol, in both directions.

mod link;
pub(crate) mod moderation;
mod profile;
pub(crate) mod rich;

use std::borrow::Cow;
use std::fmt::Write as _;

use chat::{ConversationId, Position, Refusal, Seq, SiteId, Sub, Timestamp, UserId};
use web_proto::{Code, Command, Event, MarkerSet, SendTo};

use crate::call_wire as call;
use crate::files::Links;

/// The frame of a welcome.
pub(crate) fn welcome(
    welcome: &chat::Welcome,
    limits: web_proto::Limits,
    links: &Links,
    now: Timestamp,
) -> Vec<u8> {
    let changes = &welcome.changes;
    let welcome = web_proto::Welcome {
        session: format!("{:016x}", welcome.session.handle.0).into(),
        key: None,
        me: person(&welcome.me),
        presence: match welcome.presence {
            chat::SetPresence::Online => web_proto::SetPresence::Online,
            chat::SetPresence::Away => web_proto::SetPresence::Away,
            chat::SetPresence::Busy => web_proto::SetPresence::Busy,
            chat::SetPresence::Invisible => web_proto::SetPresence::Invisible,
        },
        guest_token: welcome.guest_token.as_deref().map(Cow::Borrowed),
        open: welcome.open,
        role: (welcome.role != chat::SiteRole::Member).then(|| moderation::site_role(welcome.role)),
        calls: crate::call_wire::callers(welcome.calls),
        site: (!welcome.site.is_usual()).then(|| moderation::site_state(&welcome.site)),
        limits,
        time: now.0,
        expires: welcome.expires.0,
        resumed: !changes.reset,
        conversations: changes.conversations.iter().map(|row| conversation(row, links)).collect(),
        messages: changes.messages.iter().map(|posted| message(posted, links)).collect(),
        updates: changes.updates.iter().map(|posted| message(posted, links)).collect(),
        gaps: changes.gaps.iter().map(gap).collect(),
        left: changes.left.iter().map(left).collect(),
        threads: changes.threads.iter().map(rich::thread_count).collect(),
        renamed: changes.renamed.iter().map(renamed).collect(),
        contacts: changes.contacts.iter().map(contact).collect(),
        contacts_next: changes.contacts_next.as_deref().map(Cow::Borrowed),
        conversations_next: changes.conversations_next.as_deref().map(Cow::Borrowed),
        position: position_text(changes.position),
    };
    let mut frame = Vec::with_capacity(WELCOME_BYTES + CONTACT_BYTES * welcome.contacts.len());
    Event::Welcome(Box::new(welcome)).write(&mut frame);
    frame
}

/// Room for a welcome and for each contact in it; more is taken where names are long.
const WELCOME_BYTES: usize = 640;
const CONTACT_BYTES: usize = 96;

/// Adds the secret of the session, for transports whose commands come on other connections.
pub(crate) fn add_key(welcome: &mut Vec<u8>, key: &str) {
    let end = welcome.pop();
    debug_assert_eq!(end, Some(b'}'), "a frame is an object");
    // Of base64's letters, so that nothing needs an escape.
    for part in [",\"key\":\"", key, "\"}"] {
        welcome.extend_from_slice(part.as_bytes());
    }
}

/// Appends the frame of an event.
pub(crate) fn write(event: &chat::Event, links: &Links, out: &mut Vec<u8>) {
    match event {
        // These two are written a million times while the others are written once: without an allocation.
        chat::Event::Message(message, position) => {
            let (conversation, position) =
                (Name::conversation(message.conversation), Name::position(*position));
            let message = named_message(message, links, conversation.as_str().into());
            Event::Message { message, position: position.as_str().into() }.write(out);
        }
        chat::Event::Ack { client_id, conversation, seq, time, request, position } => {
            let (conversation, position) = (Name::conversation(*conversation), Name::position(*position));
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
        other => rare(other, links).write(out),
    }
}

/// Everything that is not said all the time.
fn rare<'a>(event: &'a chat::Event, links: &Links) -> Event<'a> {
    match event {
        chat::Event::Welcome(_) => unreachable!("written by `welcome`, in the outbox"),
        chat::Event::Bye(refusal) => bye(*refusal),
        chat::Event::ByeWith { refusal, .. } => farewell(event, *refusal),
        chat::Event::Reported { re, report } => Event::Reported { re: *re, report: *report },
        chat::Event::Reports { re, reports, next } => Event::Reports {
            re: *re,
            reports: reports.iter().map(moderation::report).collect(),
            next: next.as_deref().map(Cow::Borrowed),
        },
        chat::Event::Report(report) => Event::Report { report: Box::new(moderation::report(report)) },
        chat::Event::Moderated { re, report } => Event::Moderated {
            re: *re,
            report: report.as_deref().map(|report| Box::new(moderation::report(report))),
        },
        chat::Event::Audit { re, entries, next } => Event::Audit {
            re: *re,
            entries: entries.iter().map(moderation::audit_entry).collect(),
            next: next.as_deref().map(Cow::Borrowed),
        },
        chat::Event::Notices { re, notices } => {
            Event::Notices { re: *re, notices: notices.iter().map(moderation::notice).collect() }
        }
        chat::Event::Notice(notice) => Event::Notice { notice: moderation::notice(notice) },
        chat::Event::Held(held) => Event::Held { held: moderation::held(held) },
        chat::Event::Site(state) => Event::Site { site: moderation::site_state(state) },
        chat::Event::Settings { re, settings } => Event::Settings { re: *re, settings: settings.clone() },
        chat::Event::NotSet { re, why } => Event::Error {
            code: Code::BadValue,
            text: Cow::Borrowed(why),
            re: Some(*re),
            id: None,
            retry_after: None,
        },
        chat::Event::FilterTested { re, test } => {
            let (act, hits) = moderation::filter_test(test);
            Event::FilterTested { re: *re, act, hits }
        }
        chat::Event::Ack { .. } | chat::Event::Message(..) => unreachable!("written by `write`"),
        chat::Event::SendRefused { client_id, refusal } => error(*refusal, None, Some(client_id)),
        chat::Event::Refused { re, refusal } => error(*refusal, *re, None),
        chat::Event::Update { re, message: now, by, position } => Event::Update {
            re: *re,
            message: message(now, links),
            by: by.as_str().into(),
            position: position_text(*position),
        },
        chat::Event::Counts { re, counts, by, position } => {
            rich::counts(*re, counts, by.as_deref(), *position)
        }
        chat::Event::Renamed { renamed: now, position } => {
            Event::Renamed { renamed: renamed(now), position: position_text(*position) }
        }
        chat::Event::Marker { conversation, user, received, read, unread, position } => Event::Marker {
            conversation: conversation_text(*conversation),
            user: user.as_str().into(),
            received: received.0,
            read: read.0,
            unread: *unread,
            position: position_text(*position),
        },
        chat::Event::Typing { conversation, user, on } => Event::Typing {
            conversation: conversation_text(*conversation),
            user: user.as_str().into(),
            on: *on,
        },
        chat::Event::Call(event) => call::event(event),
        chat::Event::GroupCall(event) => crate::group_call_wire::event(event),
        chat::Event::Presence { user, presence: seen, last_seen } => Event::Presence {
            user: user.as_str().into(),
            presence: presence(*seen),
            last_seen: last_seen.map(|time| time.0),
        },
        chat::Event::Watching { here, more } => {
            let those = |seen: chat::Presence| {
                let with = here.iter().filter(|(_, presence)| *presence == seen);
                with.map(|(user, _)| user.as_str().into()).collect()
            };
            Event::Watching {
                online: those(chat::Presence::Online),
                away: those(chat::Presence::Away),
                busy: those(chat::Presence::Busy),
                more: *more,
            }
        }
        chat::Event::Contact { re, contact: changed, position } => {
            Event::Contact { re: *re, contact: contact(changed), position: position_text(*position) }
        }
        chat::Event::Contacts { re, contacts, next } => Event::Contacts {
            re: *re,
            contacts: contacts.iter().map(contact).collect(),
            next: next.as_deref().map(Cow::Borrowed),
        },
        chat::Event::People { re, people, next } => Event::People {
            re: *re,
            people: people.iter().map(person).collect(),
            next: next.as_deref().map(Cow::Borrowed),
        },
        chat::Event::Profiles { re, people } => {
            Event::Profiles { re: *re, people: people.iter().map(person).collect() }
        }
        chat::Event::Profile { re, card } => {
            Event::Profile { re: *re, profile: Box::new(profile::profile(card)) }
        }
        chat::Event::Conversations { re, conversations, next } => Event::Conversations {
            re: *re,
            conversations: conversations.iter().map(|row| conversation(row, links)).collect(),
            next: next.as_deref().map(Cow::Borrowed),
        },
        chat::Event::Conversation { re, conversation: changed, position } => Event::Conversation {
            re: *re,
            conversation: Box::new(conversation(changed, links)),
            position: position_text(*position),
        },
        chat::Event::MemberCount { conversation, members, joined } => Event::MemberCount {
            conversation: conversation_text(*conversation),
            members: (*members).into(),
            joined: joined.iter().map(person).collect(),
        },
        chat::Event::Room { conversation, room, position } => Event::Room {
            conversation: conversation_text(*conversation),
            room: self::room(room, None),
            position: position_text(*position),
        },
        chat::Event::Left { re, conversation, reason, position } => Event::Left {
            re: *re,
            conversation: conversation_text(*conversation),
            reason: left_reason(*reason),
            position: position_text(*position),
        },
        chat::Event::Member { re, member } => Event::Member { re: *re, member: self::member(member) },
        chat::Event::Members { re, members, next } => Event::Members {
            re: *re,
            members: members.iter().map(member).collect(),
            next: next.as_deref().map(Cow::Borrowed),
        },
        chat::Event::Link { re, conversation, link } => {
            Event::Link { re: *re, conversation: conversation_text(*conversation), link: link::link(link) }
        }
        chat::Event::Links { re, conversation, links } => Event::Links {
            re: *re,
            conversation: conversation_text(*conversation),
            links: links.iter().map(link::link).collect(),
        },
        chat::Event::Invitation { re, invitation } => {
            Event::Invitation { re: *re, invitation: Box::new(link::invitation(invitation)) }
        }
        chat::Event::Rooms { re, rooms, next } => Event::Rooms {
            re: *re,
            rooms: rooms.iter().map(listed).collect(),
            next: next.as_deref().map(Cow::Borrowed),
        },
        chat::Event::History { re, conversation, messages, more } => Event::History {
            re: *re,
            conversation: conversation.map(conversation_text).unwrap_or_default(),
            messages: messages.iter().map(|posted| message(posted, links)).collect(),
            more: *more,
        },
        chat::Event::Pins { re, conversation, messages } => Event::Pins {
            re: *re,
            conversation: conversation_text(*conversation),
            messages: messages.iter().map(|pinned| message(pinned, links)).collect(),
        },
        chat::Event::Thread { re, thread } => Event::Thread { re: *re, thread: rich::thread(thread, links) },
        chat::Event::Threads { re, conversation, threads } => Event::Threads {
            re: *re,
            conversation: conversation_text(*conversation),
            threads: threads.iter().map(|thread| rich::thread(thread, links)).collect(),
        },
        chat::Event::Stickers { re, stickers } => {
            Event::Stickers { re: *re, stickers: stickers.iter().map(rich::sticker).collect() }
        }
        chat::Event::Found { re, hits, next } => Event::Found {
            re: *re,
            hits: hits.iter().map(|posted| message(posted, links)).collect(),
            next: next.as_deref().map(Cow::Borrowed),
        },
        chat::Event::Devices { re, devices } => {
            Event::Devices { re: *re, devices: devices.iter().map(profile::device).collect() }
        }
        chat::Event::Exported { re, messages, next } => Event::Exported {
            re: *re,
            messages: messages.iter().map(|said| message(said, links)).collect(),
            next: next.as_deref().map(Cow::Borrowed),
        },
        chat::Event::Notifications { re, key, settings, devices, mail } => Event::Notifications {
            re: *re,
            key: key.as_deref().map(Cow::Borrowed),
            devices: *devices,
            quiet: settings.quiet.map(|hours| web_proto::QuietHours {
                from: hours.from(),
                to: hours.to(),
                offset: hours.offset(),
            }),
            bodies: settings.bodies,
            mail: mail.as_ref().map(|(address, after)| web_proto::MailDigest {
                address: Cow::Borrowed(address),
                after: *after,
            }),
        },
        chat::Event::Changes { re, changes } => Event::Changes {
            re: *re,
            reset: changes.reset,
            conversations: changes.conversations.iter().map(|row| conversation(row, links)).collect(),
            messages: changes.messages.iter().map(|posted| message(posted, links)).collect(),
            updates: changes.updates.iter().map(|posted| message(posted, links)).collect(),
            gaps: changes.gaps.iter().map(gap).collect(),
            left: changes.left.iter().map(left).collect(),
            threads: changes.threads.iter().map(rich::thread_count).collect(),
            renamed: changes.renamed.iter().map(renamed).collect(),
            contacts: changes.contacts.iter().map(contact).collect(),
            contacts_next: changes.contacts_next.as_deref().map(Cow::Borrowed),
            conversations_next: changes.conversations_next.as_deref().map(Cow::Borrowed),
            position: position_text(changes.position),
        },
        chat::Event::TokenOk { re, expires } => Event::TokenOk { re: *re, expires: expires.0 },
        chat::Event::Behind => Event::Behind,
    }
}

fn message<'a>(message: &'a chat::Message, links: &Links) -> web_proto::Message<'a> {
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
        call: call::entry(message),
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

fn person(person: &chat::Person) -> web_proto::Person<'_> {
    web_proto::Person {
        user: person.sub.as_str().into(),
        name: Cow::Borrowed(&person.name),
        avatar: person.avatar.as_deref().map(Cow::Borrowed),
        guest: person.guest,
        presence: person.presence.map(presence),
    }
}

fn renamed(renamed: &chat::Renamed) -> web_proto::Renamed<'_> {
    let chat::Profile { sub, name, avatar, guest } = &renamed.now;
    web_proto::Renamed {
        was: renamed.former.as_str().into(),
        person: web_proto::Person {
            user: sub.as_str().into(),
            name: Cow::Borrowed(name),
            avatar: avatar.as_deref().map(Cow::Borrowed),
            guest: *guest,
            presence: None,
        },
        erased: renamed.erased,
    }
}

fn presence(presence: chat::Presence) -> web_proto::Presence {
    match presence {
        chat::Presence::Online => web_proto::Presence::Online,
        chat::Presence::Away => web_proto::Presence::Away,
        chat::Presence::Busy => web_proto::Presence::Busy,
        chat::Presence::Offline => web_proto::Presence::Offline,
        chat::Presence::Unknown => web_proto::Presence::Unknown,
    }
}

fn contact(contact: &chat::Contact) -> web_proto::Contact<'_> {
    web_proto::Contact { person: person(&contact.person), state: state(contact.state) }
}

fn state(state: chat::ContactState) -> web_proto::ContactState {
    match state {
        chat::ContactState::None => web_proto::ContactState::None,
        chat::ContactState::RequestSent => web_proto::ContactState::RequestSent,
        chat::ContactState::RequestReceived => web_proto::ContactState::RequestReceived,
        chat::ContactState::Contact => web_proto::ContactState::Contact,
        chat::ContactState::Blocked => web_proto::ContactState::Blocked,
    }
}

fn conversation<'a>(conversation: &'a chat::Conversation, links: &Links) -> web_proto::Conversation<'a> {
    web_proto::Conversation {
        conversation: conversation_text(conversation.id),
        with: conversation.with.person().map(person),
        room: match &conversation.with {
            chat::With::Person(_) => None,
            // A user with a pending room request has no role there yet.
            chat::With::Room(room, role) => {
                Some(self::room(room, conversation.requested_by.is_none().then_some(*role)))
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
        request: conversation.request.map(|request| match request {
            chat::MessageRequest::Sent => web_proto::RequestState::Sent,
            chat::MessageRequest::Received => web_proto::RequestState::Received,
        }),
        requested_by: conversation.requested_by.as_ref().map(person),
        marked_unread: conversation.marked_unread,
        draft: conversation.draft.as_deref().map(Cow::Borrowed),
        active: conversation.active.0,
    }
}

fn room(room: &chat::Room, role: Option<chat::Role>) -> web_proto::Room<'_> {
    web_proto::Room {
        name: Cow::Borrowed(&room.name),
        kind: kind(room.kind),
        role: role.map(self::role),
        members: room.members.into(),
        topic: room.topic.as_deref().map(Cow::Borrowed),
        avatar: address(room.avatar.as_ref()),
        picture: picture(room.avatar.as_ref()),
        page: room.page.as_deref().map(Cow::Borrowed),
        slow_ms: room.slow_ms.into(),
        frozen: room.frozen,
        max_members: room.max_members.into(),
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

fn kind(kind: chat::RoomKind) -> web_proto::RoomKind {
    match kind {
        chat::RoomKind::Public => web_proto::RoomKind::Public,
        chat::RoomKind::Private => web_proto::RoomKind::Private,
        chat::RoomKind::Announcement => web_proto::RoomKind::Announcement,
    }
}

fn role(role: chat::Role) -> web_proto::Role {
    match role {
        chat::Role::Owner => web_proto::Role::Owner,
        chat::Role::Moderator => web_proto::Role::Moderator,
        chat::Role::Member => web_proto::Role::Member,
        chat::Role::Muted => web_proto::Role::Muted,
    }
}

fn member(member: &chat::Member) -> web_proto::Member<'_> {
    let sanction = member.sanction.as_ref();
    web_proto::Member {
        person: person(&member.person),
        role: member.standing.role().map(role),
        banned: member.standing == chat::Standing::Banned,
        requested: member.requested,
        received: member.markers.map(|(received, _)| received.0),
        read: member.markers.map(|(_, read)| read.0),
        until: sanction.map(|of| of.until.0).filter(|until| *until < chat::Timestamp::MAX.0),
        reason: sanction.filter(|of| !of.reason.is_empty()).map(|of| Cow::Borrowed(&*of.reason)),
    }
}

fn listed((id, room): &(ConversationId, chat::Room)) -> web_proto::Listed<'_> {
    web_proto::Listed { conversation: conversation_text(*id), room: self::room(room, None) }
}

fn left((id, reason): &(ConversationId, chat::LeftReason)) -> web_proto::Left<'static> {
    web_proto::Left { conversation: conversation_text(*id), reason: left_reason(*reason) }
}

fn left_reason(reason: chat::LeftReason) -> web_proto::LeftReason {
    match reason {
        chat::LeftReason::Left => web_proto::LeftReason::Left,
        chat::LeftReason::Removed => web_proto::LeftReason::Removed,
        chat::LeftReason::Banned => web_proto::LeftReason::Banned,
    }
}

fn gap(gap: &chat::Gap) -> web_proto::Gap<'_> {
    web_proto::Gap {
        conversation: conversation_text(gap.conversation),
        first: gap.first.0,
        forget: gap.forget,
    }
}

pub(crate) fn error<'a>(refusal: Refusal, re: Option<u64>, id: Option<&'a str>) -> Event<'a> {
    Event::Error {
        code: code(refusal),
        text: refusal.to_string().into(),
        re,
        id: id.map(Cow::Borrowed),
        retry_after: retry_after(refusal),
    }
}

/// The last frame of a session that the domain ends.
pub(crate) fn bye(refusal: Refusal) -> Event<'static> {
    // All who are refused while nothing can be stored would come back in one moment; without advice, each waits for a time
    // of its own.
    let advice = retry_after(refusal).filter(|_| refusal != Refusal::Unavailable);
    let (code, text) = (code(refusal), refusal.to_string().into());
    Event::Bye { code, text, retry_after: advice, until: None, reason: None }
}

/// The last frame of a session that the gateway ends.
pub(crate) fn own_bye(code: Code, text: &str, retry_after: Option<u64>) -> Event<'_> {
    Event::Bye { code, text: text.into(), retry_after, until: None, reason: None }
}

/// The event that ends a session, with the fields of its reason.
pub(crate) fn farewell(event: &chat::Event, refusal: Refusal) -> Event<'_> {
    match event {
        chat::Event::ByeWith { until, reason, .. } => Event::Bye {
            code: code(refusal),
            text: refusal.to_string().into(),
            retry_after: None,
            until: until.map(|until| until.0),
            reason: Some(&**reason).filter(|reason| !reason.is_empty()).map(Cow::Borrowed),
        },
        _ => bye(refusal),
    }
}

pub(crate) fn retry_after(refusal: Refusal) -> Option<u64> {
    match refusal {
        Refusal::RateLimited { retry_after_ms }
        | Refusal::GoingAway { retry_after_ms }
        | Refusal::Overloaded { retry_after_ms }
        | Refusal::SlowMode { retry_after_ms } => Some(retry_after_ms.into()),
        // Disks are emptied and databases come back within minutes, not within milliseconds.
        Refusal::Unavailable => Some(2_000),
        _ => None,
    }
}

/// The domain's refusals in the words of the wire.
pub(crate) fn code(refusal: Refusal) -> Code {
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
        Refusal::Unavailable | Refusal::Overloaded { .. } => Code::Unavailable,
        Refusal::NoSuchUser => Code::NoSuchUser,
        Refusal::NoSuchConversation => Code::NoSuchConversation,
        Refusal::NotAllowed => Code::NotAllowed,
        Refusal::BadBody => Code::BadBody,
        Refusal::BadValue => Code::BadValue,
        Refusal::TooManyContacts => Code::TooManyContacts,
        Refusal::NoSuchMessage => Code::NoSuchMessage,
        Refusal::TooManyReactions => Code::TooManyReactions,
        Refusal::NotAMember => Code::NotAMember,
        Refusal::RoomBanned => Code::RoomBanned,
        Refusal::Muted => Code::Muted,
        Refusal::ReadOnly => Code::ReadOnly,
        Refusal::Frozen => Code::Frozen,
        Refusal::SlowMode { .. } => Code::SlowMode,
        Refusal::RoomFull => Code::RoomFull,
        Refusal::TooManyRooms => Code::TooManyRooms,
        Refusal::LastOwner => Code::LastOwner,
        Refusal::BadInvitation => Code::BadInvitation,
        Refusal::TooManyInvitations => Code::TooManyInvitations,
        Refusal::NoSuchCall => Code::NoSuchCall,
        Refusal::InCall => Code::InCall,
        Refusal::CallFull => Code::CallFull,
        Refusal::RoomTooLarge => Code::RoomTooLarge,
        Refusal::FirstContact => Code::FirstContact,
        Refusal::RequestPending => Code::RequestPending,
        Refusal::TooManyRequests => Code::TooManyRequests,
        Refusal::TooManyReports => Code::TooManyReports,
        Refusal::NoSuchReport => Code::NoSuchReport,
        Refusal::SiteReadOnly => Code::SiteReadOnly,
        Refusal::SiteClosed => Code::SiteClosed,
        Refusal::Kicked => Code::Kicked,
        Refusal::TooManyPinned => Code::TooManyPinned,
        Refusal::PollClosed => Code::PollClosed,
        Refusal::Filtered => Code::Filtered,
        Refusal::NoPush => Code::NoPush,
        Refusal::NoSuchFile => Code::NoSuchFile,
        Refusal::NoSuchSticker => Code::NoSuchSticker,
        Refusal::FileTooLarge => Code::FileTooLarge,
        Refusal::NoRoomForFile => Code::NoRoomForFile,
        Refusal::TooManyFiles => Code::TooManyFiles,
        Refusal::Removed => Code::Removed,
        Refusal::UserExists => Code::UserExists,
        Refusal::NoSuchDevice => Code::NoSuchDevice,
        Refusal::SignedOut => Code::SignedOut,
        Refusal::KeyEnded => Code::KeyEnded,
        Refusal::TooNew => Code::TooNew,
        Refusal::Raid => Code::Raid,
        Refusal::DeviceBanned => Code::DeviceBanned,
        Refusal::NoSession => Code::NoSession,
        Refusal::GoingAway { .. } => Code::GoingAway,
    }
}

/// An id or a position as it is on the wire, on the stack. Opaque to clients: numbers in hexadecimal; the site is the
/// session's.
struct Name {
    /// Room for `ffffffff.ffffffffffffffff`.
    text: [u8; 25],
    length: usize,
}

impl Name {
    fn conversation(id: ConversationId) -> Name {
        Name::of(format_args!("{:x}", id.key))
    }

    fn position(position: Position) -> Name {
        Name::of(format_args!("{:x}.{:x}", position.epoch, position.number))
    }

    fn of(text: std::fmt::Arguments<'_>) -> Name {
        let mut name = Name { text: [0; 25], length: 0 };
        name.write_fmt(text).expect("no number is longer than its type allows");
        name
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[..self.length]).expect("digits and a dot")
    }
}

impl std::fmt::Write for Name {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        let end = self.length + part.len();
        self.text.get_mut(self.length..end).ok_or(std::fmt::Error)?.copy_from_slice(part.as_bytes());
        self.length = end;
        Ok(())
    }
}

pub(crate) fn conversation_text(id: ConversationId) -> Cow<'static, str> {
    Cow::Owned(Name::conversation(id).as_str().to_owned())
}

pub(crate) fn position_text(position: Position) -> Cow<'static, str> {
    Cow::Owned(Name::position(position).as_str().to_owned())
}

/// Only what `conversation_text` writes: one conversation has one name.
pub(crate) fn parse_conversation(site: SiteId, text: &str) -> Option<ConversationId> {
    parse_hex(text, 16).map(|key| ConversationId { site, key })
}

/// None: not one of ours, so the answer is a first page.
pub(crate) fn parse_position(text: &str) -> Option<Position> {
    let (epoch, number) = text.split_once('.')?;
    Some(Position { epoch: u32::try_from(parse_hex(epoch, 8)?).ok()?, number: parse_hex(number, 16)? })
}

fn parse_hex(text: &str, digits: usize) -> Option<u64> {
    let canonical = (1..=digits).contains(&text.len())
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && (text == "0" || !text.starts_with('0'));
    canonical.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

/// How the gateway handles a command.
pub(crate) enum Asked {
    Chat(chat::Command),
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
    let command = match command {
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
        Command::Stickers { rid } => chat::Command::Stickers { re: rid },
        Command::Forward { id, to, conversation, seq } => rich::forward(site, id, &to, &conversation, seq)?,
        Command::Send { id, to, body, reply_to, files, thread } => {
            let files: Option<Vec<_>> = files.iter().map(|file| crate::files::parse_id(site, file)).collect();
            match (self::to(&to, site), files.ok_or(Code::NoSuchFile)) {
                (Ok(to), Ok(files)) => chat::Command::Send {
                    client_id: id.into(),
                    to,
                    body: body.into(),
                    reply_to: reply_to.map(Seq),
                    files,
                    rich: rich::in_thread(thread),
                },
                (Err(code), _) | (_, Err(code)) => {
                    return Err(Asked::Error { code, re: None, id: Some(id.into()) });
                }
            }
        }
        Command::Marker { conversation, set } => chat::Command::Marker {
            conversation: parse_conversation(site, &conversation)
                .ok_or_else(wrong(Code::NoSuchConversation, None))?,
            set: match set {
                MarkerSet::Received(seq) => chat::MarkerSet::Received(Seq(seq)),
                MarkerSet::Read(seq) => chat::MarkerSet::Read(Seq(seq)),
            },
        },
        Command::Typing { to, on } => chat::Command::Typing {
            to: self::to(&to, site).map_err(|code| Asked::Error { code, re: None, id: None })?,
            on,
        },
        Command::Call { rid: re, action } => {
            let action = call::action(action).map_err(|code| Asked::Error { code, re, id: None })?;
            chat::Command::Call { re, action }
        }
        Command::GroupCall { rid: re, conversation, action } => chat::Command::GroupCall {
            re,
            conversation: parse_conversation(site, &conversation)
                .ok_or_else(wrong(Code::NoSuchConversation, re))?,
            action: crate::group_call_wire::action(action),
        },
        Command::Presence { set } => chat::Command::SetPresence(match set {
            web_proto::SetPresence::Online => chat::SetPresence::Online,
            web_proto::SetPresence::Away => chat::SetPresence::Away,
            web_proto::SetPresence::Busy => chat::SetPresence::Busy,
            web_proto::SetPresence::Invisible => chat::SetPresence::Invisible,
        }),
        // Watching an impossible id has no effect, as with any unknown user.
        Command::Watch { contacts, users } => chat::Command::Watch { contacts, users: subs(&users) },
        Command::Contact { rid, action, user } => chat::Command::Contact {
            re: rid,
            action: match action {
                web_proto::ContactAction::Request => chat::ContactAction::Request,
                web_proto::ContactAction::Accept => chat::ContactAction::Accept,
                web_proto::ContactAction::Decline => chat::ContactAction::Decline,
                web_proto::ContactAction::Remove => chat::ContactAction::Remove,
                web_proto::ContactAction::Block => chat::ContactAction::Block,
                web_proto::ContactAction::Unblock => chat::ContactAction::Unblock,
            },
            user: Sub::parse(&user).ok_or_else(wrong(Code::NoSuchUser, Some(rid)))?,
        },
        Command::Contacts { rid, after, limit } => {
            chat::Command::Contacts { re: rid, page: page(after, limit) }
        }
        Command::People { rid, query, after, limit } => {
            chat::Command::People { re: rid, query: query.map(Cow::into_owned), page: page(after, limit) }
        }
        Command::Profiles { rid, users } => chat::Command::Profiles { re: rid, users: subs(&users) },
        Command::Profile { rid, user } => {
            let user = user.map(|user| Sub::parse(&user).ok_or_else(wrong(Code::NoSuchUser, Some(rid))));
            chat::Command::Profile { re: rid, user: user.transpose()? }
        }
        Command::ChangeProfile(change) => {
            chat::Command::ChangeProfile { re: change.rid, change: Box::new(profile::change(*change)) }
        }
        Command::Conversations { rid, after, limit, archived, only } => chat::Command::Conversations {
            re: rid,
            list: conversation_list(archived, only).ok_or_else(wrong(Code::BadValue, Some(rid)))?,
            page: page(after, limit),
        },
        Command::Conversation { rid, conversation, muted_until, pinned, archived, marked_unread, draft } => {
            chat::Command::Conversation {
                re: rid,
                conversation: parse_conversation(site, &conversation)
                    .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
                change: chat::ConversationChange {
                    muted_until: muted_until.map(Timestamp),
                    pinned,
                    archived,
                    marked_unread,
                    draft: draft.map(Box::from),
                },
            }
        }
        Command::Thread { rid, conversation, seq, follow, read } => chat::Command::Thread {
            re: rid,
            conversation: parse_conversation(site, &conversation)
                .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
            root: Seq(seq),
            change: chat::ThreadChange { follow, read },
        },
        Command::Threads { rid, conversation } => chat::Command::Threads {
            re: rid,
            conversation: parse_conversation(site, &conversation)
                .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
        },
        Command::History { rid, before: Some(_), since: Some(_), .. }
        | Command::History { rid, after: Some(_), since: Some(_), .. }
        | Command::History { rid, thread: Some(_), since: Some(_), .. } => {
            return Err(wrong(Code::BadValue, Some(rid))());
        }
        Command::History { rid, to, since: Some(since), limit, .. } => chat::Command::HistorySince {
            re: rid,
            to: self::to(&to, site).map_err(|code| Asked::Error { code, re: Some(rid), id: None })?,
            time: chat::Timestamp(since),
            limit,
        },
        Command::History { rid, to, before, after, since: None, thread, limit } => chat::Command::History {
            re: rid,
            to: self::to(&to, site).map_err(|code| Asked::Error { code, re: Some(rid), id: None })?,
            before: before.map(Seq),
            after: after.map(Seq),
            thread: thread.map(Seq),
            limit,
        },
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
        Command::Pins { rid, conversation } => chat::Command::Pins {
            re: rid,
            conversation: parse_conversation(site, &conversation)
                .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
        },
        Command::CreateRoom { rid, name, kind, topic } => chat::Command::CreateRoom {
            re: rid,
            name: name.into_owned(),
            kind: room_kind(kind),
            topic: topic.map(Cow::into_owned),
        },
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
        } => chat::Command::ChangeRoom {
            re: rid,
            conversation: parse_conversation(site, &conversation)
                .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
            change: chat::RoomChange {
                name: name.map(Cow::into_owned),
                topic: topic.map(Cow::into_owned),
                avatar: avatar_change(site, avatar, picture.as_deref()).map_err(|code| Asked::Error {
                    code,
                    re: Some(rid),
                    id: None,
                })?,
                kind: kind.map(room_kind),
                // A larger number becomes the largest one, which is refused or no limit.
                slow_ms: slow_ms.map(|ms| u32::try_from(ms).unwrap_or(u32::MAX)),
                frozen,
                max_members: max_members.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
            },
        },
        Command::Join { rid, to } => chat::Command::Join {
            re: rid,
            to: self::to(&to, site).map_err(|code| Asked::Error { code, re: Some(rid), id: None })?,
        },
        Command::Leave { rid, conversation } => chat::Command::Leave {
            re: rid,
            conversation: parse_conversation(site, &conversation)
                .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
        },
        Command::Member { rid, conversation, user, action, role, until, reason } => {
            let conversation = parse_conversation(site, &conversation)
                .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?;
            let user = Sub::parse(&user).ok_or_else(wrong(Code::NoSuchUser, Some(rid)))?;
            let bad_value = wrong(Code::BadValue, Some(rid));
            let action = member_action(action, role).ok_or_else(&bad_value)?;
            match room_sanction(action, until, reason).ok_or_else(&bad_value)? {
                Some(sanction) => chat::Command::SanctionMember { re: rid, conversation, user, sanction },
                None => chat::Command::Member { re: rid, conversation, user, action },
            }
        }
        Command::Members { rid, conversation, query, sanctioned, after, limit } => chat::Command::Members {
            re: rid,
            conversation: parse_conversation(site, &conversation)
                .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
            list: if sanctioned { chat::MemberList::Sanctioned } else { chat::MemberList::Members },
            query: query.map(Cow::into_owned),
            page: page(after, limit),
        },
        Command::MakeLink { rid, conversation, hours, uses } => chat::Command::MakeLink {
            re: rid,
            conversation: parse_conversation(site, &conversation)
                .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
            hours,
            uses,
        },
        Command::Links { rid, conversation } => chat::Command::Links {
            re: rid,
            conversation: parse_conversation(site, &conversation)
                .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
        },
        Command::TakeBackLink { rid, conversation, code } => chat::Command::TakeBackLink {
            re: rid,
            conversation: parse_conversation(site, &conversation)
                .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
            code: chat::LinkCode::parse(&code).ok_or_else(wrong(Code::BadInvitation, Some(rid)))?,
        },
        Command::OpenLink { rid, code } => chat::Command::OpenLink {
            re: rid,
            code: chat::LinkCode::parse(&code).ok_or_else(wrong(Code::BadInvitation, Some(rid)))?,
        },
        Command::JoinLink { rid, code } => chat::Command::JoinLink {
            re: rid,
            code: chat::LinkCode::parse(&code).ok_or_else(wrong(Code::BadInvitation, Some(rid)))?,
        },
        Command::Rooms { rid, query, after, limit } => {
            chat::Command::Rooms { re: rid, query: query.map(Cow::into_owned), page: page(after, limit) }
        }
        Command::Search { rid, query, conversation, after, limit } => {
            let named = conversation.map(|id| parse_conversation(site, &id).ok_or(()));
            chat::Command::Search {
                re: rid,
                query: query.into_owned(),
                conversation: named.transpose().map_err(|()| wrong(Code::NoSuchConversation, Some(rid))())?,
                page: page(after, limit),
            }
        }
        Command::Request { rid, conversation, answer } => chat::Command::AnswerRequest {
            re: rid,
            conversation: parse_conversation(site, &conversation)
                .ok_or_else(wrong(Code::NoSuchConversation, Some(rid)))?,
            answer: match answer {
                web_proto::RequestAnswer::Accept => chat::RequestAnswer::Accept,
                web_proto::RequestAnswer::Dismiss => chat::RequestAnswer::Dismiss,
            },
        },
        Command::Report { rid, conversation, seq, user, reason, text } => chat::Command::Report {
            re: rid,
            of: moderation::report_of(site, conversation, seq, user)
                .map_err(|code| wrong(code, Some(rid))())?,
            reason: moderation::reason(reason),
            text: text.unwrap_or_default().into_owned(),
        },
        Command::Reports { rid, state, after, limit } => {
            chat::Command::Reports { re: rid, state: state.map(moderation::state), page: page(after, limit) }
        }
        Command::Moderate(moderate) => chat::Command::Moderate {
            re: moderate.rid,
            act: moderation::act(site, &moderate).map_err(|code| wrong(code, Some(moderate.rid))())?,
        },
        Command::Audit { rid, after, limit } => chat::Command::Audit { re: rid, page: page(after, limit) },
        Command::Notices { rid, seen } => chat::Command::Notices { re: rid, seen },
        Command::Settings { rid } => chat::Command::Settings { re: rid },
        Command::Configure { rid, patch } => chat::Command::Configure { re: rid, patch },
        Command::TestFilter { rid, body } => chat::Command::TestFilter { re: rid, body: body.into_owned() },
        Command::Notifications { rid, subscribe, unsubscribe, quiet, bodies, mail } => {
            let change = notify_change(subscribe, unsubscribe, quiet);
            let change = change.ok_or_else(wrong(Code::BadValue, Some(rid)))?;
            let change = Box::new(chat::NotifyChange { bodies, mail, ..change });
            chat::Command::Notifications { re: rid, change }
        }
        Command::Devices { rid } => chat::Command::Devices { re: rid },
        Command::SignOut { rid, device } => chat::Command::SignOut {
            re: rid,
            device: profile::parse_device(&device).ok_or_else(wrong(Code::NoSuchDevice, Some(rid)))?,
        },
        Command::Export { rid, after, limit } => chat::Command::Export { re: rid, page: page(after, limit) },
        Command::RemoveAccount { rid, messages } => chat::Command::RemoveAccount {
            re: rid,
            messages: if messages {
                chat::MessagesAfterErasure::Erased
            } else {
                chat::MessagesAfterErasure::Kept
            },
        },
        Command::Resume { rid, position } => {
            chat::Command::Resume { re: rid, position: parse_position(&position) }
        }
        Command::Token { rid, token } => chat::Command::Token { re: rid, token: token.into_owned() },
    };
    Ok(Asked::Chat(command))
}

/// None: a value that cannot be.
fn notify_change(
    subscribe: Option<web_proto::PushSubscription<'_>>,
    unsubscribe: Option<Cow<'_, str>>,
    quiet: Option<web_proto::QuietHours>,
) -> Option<chat::NotifyChange> {
    let device = |one: web_proto::PushSubscription<'_>| {
        let language = one.lang.as_deref().unwrap_or_default();
        chat::PushDevice::parse(&one.endpoint, &one.p256dh, &one.auth, language).ok_or(())
    };
    let hours = |hours: web_proto::QuietHours| match hours.from == hours.to {
        true => Ok(None),
        false => chat::QuietHours::new(hours.from, hours.to, hours.offset).map(Some).ok_or(()),
    };
    Some(chat::NotifyChange {
        subscribe: subscribe.map(device).transpose().ok()?,
        unsubscribe: unsubscribe.map(Into::into),
        quiet: quiet.map(hours).transpose().ok()?,
        ..chat::NotifyChange::default()
    })
}

fn change_message(
    site: SiteId,
    re: u64,
    conversation: &str,
    seq: u64,
    change: chat::MessageChange,
) -> Result<chat::Command, Asked> {
    let conversation = parse_conversation(site, conversation).ok_or(Asked::Error {
        code: Code::NoSuchConversation,
        re: Some(re),
        id: None,
    })?;
    Ok(chat::Command::ChangeMessage { re, conversation, seq: Seq(seq), change })
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

/// None: archived ones have no lists of their own.
fn conversation_list(archived: bool, only: Option<web_proto::Only>) -> Option<chat::ConversationList> {
    match (archived, only) {
        (false, None) => Some(chat::ConversationList::Main),
        (true, None) => Some(chat::ConversationList::Archived),
        (false, Some(web_proto::Only::Unread)) => Some(chat::ConversationList::Unread),
        (false, Some(web_proto::Only::Mentions)) => Some(chat::ConversationList::Mentions),
        (true, Some(_)) => None,
    }
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

fn room_kind(kind: web_proto::RoomKind) -> chat::RoomKind {
    match kind {
        web_proto::RoomKind::Public => chat::RoomKind::Public,
        web_proto::RoomKind::Private => chat::RoomKind::Private,
        web_proto::RoomKind::Announcement => chat::RoomKind::Announcement,
    }
}

/// None: the role is missing.
fn member_action(
    action: web_proto::MemberAction,
    role: Option<web_proto::Role>,
) -> Option<chat::MemberAction> {
    Some(match action {
        web_proto::MemberAction::Invite => chat::MemberAction::Invite,
        web_proto::MemberAction::Remove => chat::MemberAction::Remove,
        web_proto::MemberAction::Ban => chat::MemberAction::Ban,
        web_proto::MemberAction::Unban => chat::MemberAction::Unban,
        web_proto::MemberAction::SetRole => chat::MemberAction::SetRole(match role? {
            web_proto::Role::Owner => chat::Role::Owner,
            web_proto::Role::Moderator => chat::Role::Moderator,
            web_proto::Role::Member => chat::Role::Member,
            web_proto::Role::Muted => chat::Role::Muted,
        }),
    })
}

/// The sanction, where an end or a reason is given; None where the action has neither.
fn room_sanction(
    action: chat::MemberAction,
    until: Option<u64>,
    reason: Option<Cow<'_, str>>,
) -> Option<Option<chat::RoomSanction>> {
    if until.is_none() && reason.is_none() {
        return Some(None);
    }
    let kind = match action {
        chat::MemberAction::Ban => chat::RoomSanctionKind::Ban,
        chat::MemberAction::SetRole(chat::Role::Muted) => chat::RoomSanctionKind::Mute,
        chat::MemberAction::Invite
        | chat::MemberAction::Remove
        | chat::MemberAction::Unban
        | chat::MemberAction::SetRole(_) => return None,
    };
    Some(Some(chat::RoomSanction {
        kind,
        until: until.map_or(Timestamp::MAX, Timestamp),
        reason: reason.unwrap_or_default().into(),
        shows_reason: true,
    }))
}

fn subs(users: &[Cow<'_, str>]) -> Vec<Sub> {
    users.iter().filter_map(|user| Sub::parse(user)).collect()
}

fn page(after: Option<Cow<'_, str>>, limit: Option<u32>) -> chat::PageOf {
    chat::PageOf { after: after.map(Cow::into_owned), limit }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ids_and_positions_come_back_as_they_were(key: u64, epoch: u32, number: u64) {
            let id = ConversationId { site: SiteId(7), key };
            prop_assert_eq!(parse_conversation(SiteId(7), &conversation_text(id)), Some(id));
            let position = Position { epoch, number };
            prop_assert_eq!(parse_position(&position_text(position)), Some(position));
        }

        #[test]
        fn nothing_else_is_an_id_or_a_position(text in "[0-9a-fA-F+. -]{0,20}") {
            if let Some(id) = parse_conversation(SiteId(7), &text) {
                prop_assert_eq!(&conversation_text(id), &text);
            }
            if let Some(position) = parse_position(&text) {
                prop_assert_eq!(&position_text(position), &text);
            }
        }
    }

    #[test]
    fn a_key_is_a_field_like_others() {
        let mut frame = br#"{"t":"welcome","open":true}"#.to_vec();
        add_key(&mut frame, "aZ09-_");
        assert_eq!(frame, br#"{"t":"welcome","open":true,"key":"aZ09-_"}"#);
    }

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

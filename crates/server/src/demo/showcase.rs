//! Demo data for the first click in `kith demo`: rooms, contacts, a picture, a poll, a thread, pending requests, a moderator.

use std::io::{self, Write};

use chat::{
    Append, Blobs, By, ConversationId, FileFound, FileId, FileLimits, FilePlace, FileType, LinkRule,
    MessageKind, ModeratorAct, NewFile, NewPoll, NewRich, NewRoom, Picture, Post, Refusal, Relation,
    Rendition, RequestRules, RoomKind, RoomLimits, RoomName, Seq, Side, SiteId, SiteRole, Store, Sub,
    Timestamp, UserId,
};
use rand::RngCore;

use super::SITE;
use crate::data_dir::wait;
use crate::trouble::{Outcome, Trouble};

const MINUTE_MS: u64 = 60_000;

struct Room {
    name: &'static str,
    kind: RoomKind,
    topic: &'static str,
    owner: &'static str,
    members: &'static [&'static str],
    lines: &'static [Line],
}

struct Line {
    minutes_ago: u64,
    by: &'static str,
    body: &'static str,
    what: What,
}

enum What {
    Text,
    Poll(&'static [&'static str]),
    /// A reply in the thread below the line with this index.
    ReplyTo(usize),
    Picture,
}

const fn line(minutes_ago: u64, by: &'static str, body: &'static str) -> Line {
    Line { minutes_ago, by, body, what: What::Text }
}

const ROOMS: &[Room] = &[
    Room {
        name: "Garden talk",
        kind: RoomKind::Public,
        topic: "Everything that grows, and everything that should not",
        owner: "ingrid",
        members: &["anna", "tom", "mei", "raj", "sofia", "yusuf", "chloe"],
        lines: &[
            line(190, "sofia", "Has anybody tried beer traps against the slugs?"),
            Line {
                minutes_ago: 185,
                by: "ingrid",
                body: "Yes. They came from the neighbours' plots, too.",
                what: What::ReplyTo(0),
            },
            Line {
                minutes_ago: 180,
                by: "chloe",
                body: "A board between the rows works better.",
                what: What::ReplyTo(0),
            },
            line(120, "mei", "The first **shiso** is up! 🌱"),
            Line {
                minutes_ago: 75,
                by: "yusuf",
                body: "Look at this year's first basket",
                what: What::Picture,
            },
            Line {
                minutes_ago: 40,
                by: "ingrid",
                body: "When do we mow the paths?",
                what: What::Poll(&["Saturday morning", "Saturday afternoon", "Sunday"]),
            },
            line(22, "tom", "I bring the fuel. @anna, do you have the key of the mower shed?"),
        ],
    },
    Room {
        name: "Notices",
        kind: RoomKind::Announcement,
        topic: "From the board to all members",
        owner: "ingrid",
        members: &["anna", "tom", "mei", "hamish"],
        lines: &[line(300, "ingrid", "The water is on again from Monday. Please check your taps.")],
    },
    Room {
        name: "Board",
        kind: RoomKind::Private,
        topic: "Money, locks and hedges",
        owner: "tom",
        members: &["anna", "hamish", "ingrid"],
        lines: &[
            line(1_500, "tom", "The accounts of last year are in the box."),
            line(1_440, "hamish", "Looks right to me. Thank you, Tom!"),
        ],
    },
];

/// Calls and files need a contact.
const CONTACTS: &[(&str, &str)] = &[
    ("anna", "tom"),
    ("anna", "mei"),
    ("anna", "raj"),
    ("anna", "ingrid"),
    ("tom", "hamish"),
    ("tom", "raj"),
    ("mei", "chloe"),
];

/// The asking and the asked member.
const CONTACT_REQUEST: (&str, &str) = ("jonas", "anna");
const MESSAGE_REQUEST: (&str, &str, &str) =
    ("piotr", "anna", "Hello Anna, we have not talked yet. Do you still give courgette seeds away?");

const MODERATOR: &str = "ingrid";

/// Adds all of it to the existing members.
pub(super) fn furnish(store: &dyn Store, blobs: &dyn Blobs, site: SiteId, now: Timestamp) -> Outcome {
    for &(a, b) in CONTACTS {
        relate(store, site, (a, b), (Side::CONTACT, Side::CONTACT), now)?;
    }
    relate(store, site, CONTACT_REQUEST, (Side::REQUESTED, Side::ASKS), now)?;
    ask(store, site, now)?;
    let act = ModeratorAct::SetRole(user(store, site, MODERATOR)?, SiteRole::Moderator);
    allowed(wait(|done| store.moderate(site, By::Site, act, now, done))?)?;
    for room in ROOMS {
        open(store, blobs, site, room, now)?;
    }
    Ok(())
}

fn relate(
    store: &dyn Store,
    site: SiteId,
    (a, b): (&str, &str),
    (of_a, of_b): (Side, Side),
    now: Timestamp,
) -> Outcome {
    let (a, b) = (user(store, site, a)?, user(store, site, b)?);
    wait(|done| store.put_relation(a, b, Relation { of_a, of_b }, 100, now, done)).map(drop)
}

/// A pending message request.
fn ask(store: &dyn Store, site: SiteId, now: Timestamp) -> Outcome {
    let (from, to, body) = MESSAGE_REQUEST;
    let (from, to) = (user(store, site, from)?, user(store, site, to)?);
    let append = Append {
        kind: MessageKind::Text,
        conversation: ConversationId::direct(from, to).expect("two users of one site"),
        from,
        client_id: "demo-request".into(),
        body: body.into(),
        extension: None,
        time: ago(now, 50),
        reply_to: None,
        rich: None,
    };
    let rules = RequestRules { messages: 3, per_day: 10, links: LinkRule::Refused, begin: Ok(()) };
    allowed(wait(|done| store.append_request(append, rules, done))?).map(drop)
}

fn open(store: &dyn Store, blobs: &dyn Blobs, site: SiteId, room: &Room, now: Timestamp) -> Outcome {
    let limits = RoomLimits::default();
    let oldest = room.lines.iter().map(|line| line.minutes_ago).max().unwrap_or(0);
    let begun = ago(now, oldest + 60);
    let new =
        NewRoom { name: room.name.into(), kind: room.kind, topic: Some(room.topic.into()), alias: None };
    let owner = user(store, site, room.owner)?;
    let id = allowed(wait(|done| store.create_room(owner, new, limits, begun, done))?)?.row.id;
    for member in room.members {
        let member = user(store, site, member)?;
        let action = chat::MemberAction::Invite;
        allowed(wait(|done| store.change_member(id, owner, member, action, limits, begun, done))?)?;
    }
    let mut seqs: Vec<Seq> = Vec::new();
    for (index, line) in room.lines.iter().enumerate() {
        let from = user(store, site, line.by)?;
        let time = ago(now, line.minutes_ago);
        let mut rich = NewRich::default();
        let mut files = Vec::new();
        match line.what {
            What::Text => (),
            What::Poll(choices) => {
                let choices = choices.iter().map(|choice| (*choice).into()).collect();
                rich.poll = Some(NewPoll { choices, multiple: false, anonymous: false, ends: None });
            }
            What::ReplyTo(root) => rich.thread = seqs.get(root).copied(),
            What::Picture => files.push(picture(store, blobs, from, RoomName::Id(id), time)?),
        }
        let post = Post {
            names_author: false,
            kind: MessageKind::Text,
            room: RoomName::Id(id),
            from,
            client_id: format!("demo-{index}").into(),
            body: line.body.into(),
            extension: None,
            time,
            reply_to: None,
            files,
            rich: rich.boxed(),
        };
        seqs.push(allowed(wait(|done| store.post(post, limits, done))?)?.appended.seq);
    }
    Ok(())
}

/// In the form of the picture process: small enough to be its own thumbnail.
fn picture(
    store: &dyn Store,
    blobs: &dyn Blobs,
    owner: UserId,
    room: RoomName,
    time: Timestamp,
) -> Outcome<FileId> {
    const BASKET: &[u8] = include_bytes!("stickers/harvest.png");
    const SIDE: u32 = 240;
    let failed = |error: io::Error| Trouble::new("cannot write the demo's picture").because(error);
    let id = FileId { site: owner.site, number: rand::rng().next_u64() };
    let bytes = BASKET.len() as u64;
    let new = NewFile {
        id,
        owner,
        place: FilePlace::Room(room),
        name: "first-basket.png".into(),
        bytes,
        voice: false,
        duration_ms: None,
        peaks: None,
        time,
    };
    let limits = FileLimits { file_bytes: bytes, guest_bytes: 0, user_bytes: 0, site_bytes: 0 };
    allowed(wait(|done| store.create_file(new, limits, done))?)?;
    blobs
        .create(id, Rendition::Picture)
        .and_then(|mut file| file.write_all(BASKET))
        .and_then(|()| blobs.settle(id))
        .map_err(failed)?;
    let found = FileFound {
        kind: FileType::named("image/png"),
        bytes,
        kept_bytes: bytes,
        picture: Some(Picture { width: SIDE, height: SIDE, blurhash: "00SPb3".into(), has_thumbnail: false }),
    };
    wait(|done| store.complete_file(id, found, done))?;
    Ok(id)
}

fn ago(now: Timestamp, minutes: u64) -> Timestamp {
    Timestamp(now.0.saturating_sub(minutes * MINUTE_MS))
}

fn user(store: &dyn Store, site: SiteId, id: &str) -> Outcome<UserId> {
    let sub = Sub::parse(id).expect("the ids of our members are valid, as a test says");
    let row = wait(|done| store.user(site, sub, done))?;
    row.map(|row| row.id).ok_or_else(|| Trouble::new(format!("the site {SITE} has no member {id}")))
}

fn allowed<T>(answer: Result<T, Refusal>) -> Outcome<T> {
    answer.map_err(|refusal| Trouble::new("cannot set up the demo community").because(refusal))
}

//! Imports: users, contacts, rooms, members and old messages of another system. See `docs/design/import.md`.
//!
//! An import is an act of the site's owner: filters, trust rules and rate limits do not apply; bounds of
//! texts and lists do. It notifies no user, and a repeated import changes nothing.

mod live;
mod store;

pub(crate) use live::Import;
pub use store::ImportStore;

use std::sync::Arc;

use ring::digest::{SHA256, digest};

use crate::id::IMPORTED_ID;
use crate::rooms::{NewRoom, Role, Room, RoomChange, RoomKind};
use crate::site::token::profile;
use crate::{ConversationId, Position, Profile, RoomLimits, SiteId, Sub, Timestamp, Trim, UserId};

/// Items of one job, which is one write of the store.
pub const IMPORT_JOB: usize = 100;

/// Devices with an earlier position may lack imported data: they start with a first page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportFloor {
    pub site: SiteId,
    /// The number of a position.
    pub number: u64,
    /// Connected devices may have later positions and still lack the imported data.
    pub unpublished: bool,
}

/// The id of something in the other system, stored as a hash, so that nothing readable remains of an erased
/// user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ImportKey([u8; 16]);

/// Longest id of a message or room in the other system, in bytes.
const ID_BYTES: usize = 200;

impl ImportKey {
    /// The key of a user, so that an import does not bring an erased user back.
    pub fn user(sub: &Sub) -> ImportKey {
        ImportKey::of(b'u', sub.as_str())
    }

    /// None if the id is too long, empty, or has control characters.
    pub fn room(id: &str) -> Option<ImportKey> {
        is_id(id).then(|| ImportKey::of(b'r', id))
    }

    pub fn message(id: &str) -> Option<ImportKey> {
        is_id(id).then(|| ImportKey::of(b'm', id))
    }

    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    fn of(kind: u8, id: &str) -> ImportKey {
        let text = [&[kind, 0], id.as_bytes()].concat();
        let hash = digest(&SHA256, &text);
        let (first, _) = hash.as_ref().split_first_chunk().expect("SHA-256 has 32 bytes");
        ImportKey(*first)
    }
}

fn is_id(id: &str) -> bool {
    (1..=ID_BYTES).contains(&id.len()) && !crate::id::has_control_characters(id)
}

/// One object of the other system. Users are identified by their `sub`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportItem {
    User {
        profile: Profile,
        created: Option<Timestamp>,
    },
    /// Two users who are each other's contacts.
    Contact([Sub; 2]),
    Room {
        key: ImportKey,
        room: Box<Room>,
        created: Option<Timestamp>,
    },
    Member {
        room: ImportKey,
        user: Sub,
        role: Role,
    },
    Message(Box<ImportMessage>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportMessage {
    pub key: ImportKey,
    pub to: ImportTo,
    pub from: Sub,
    pub time: Timestamp,
    pub body: Box<str>,
    pub reply_to: Option<ImportKey>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportTo {
    Room(ImportKey),
    User(Sub),
}

impl ImportItem {
    pub fn user(
        sub: Sub,
        name: Option<&str>,
        avatar: Option<String>,
        created: Option<Timestamp>,
    ) -> ImportItem {
        ImportItem::User { profile: profile(sub, name, avatar, false), created }
    }

    /// A room, with the bounds of [`RoomChange`]. Rooms without a kind are private.
    pub fn room(
        key: ImportKey,
        wanted: RoomChange,
        created: Option<Timestamp>,
    ) -> Result<ImportItem, ImportRefusal> {
        if wanted.name.is_none() || wanted.check().is_err() {
            return Err(ImportRefusal::RoomText);
        }
        let blank = NewRoom { name: Arc::default(), kind: RoomKind::Private, topic: None, alias: None };
        Ok(ImportItem::Room { key, room: Box::new(wanted.apply(&blank.room())), created })
    }
}

/// Items of one site that are stored together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportJob {
    pub site: SiteId,
    /// At most [`IMPORT_JOB`] while a node runs.
    pub items: Vec<ImportItem>,
    pub rules: ImportRules,
}

/// The rules for each item of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportRules {
    pub late: Late,
    pub body_bytes: u32,
    pub contacts: u32,
    pub rooms: RoomLimits,
    /// Messages that the site's retention would remove are not stored.
    pub trim: Trim,
    pub now: Timestamp,
}

/// The rule for a message that is older than the newest of its conversation. Seqs never change, so it cannot
/// be inserted before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Late {
    #[default]
    Refuse,
    /// Append it after the newer ones, with its old time.
    Append,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportOutcome {
    Added,
    /// The item was imported before, or exists already. Later changes of it stay.
    Known,
    /// The site's retention would remove the message.
    Expired,
    Refused(ImportRefusal),
}

/// The reason why a line is not imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ImportRefusal {
    #[error("no such user: import the user in a line before")]
    NoSuchUser,
    #[error("the user was erased here")]
    UserErased,
    #[error("no such room: import the room in a line before")]
    NoSuchRoom,
    #[error("two different users are needed")]
    SameUser,
    #[error("a contact list would become longer than limits.contacts")]
    TooManyContacts,
    #[error("the room has as many members as limits.room_members allows")]
    RoomFull,
    #[error("the user is in as many rooms as limits.rooms_per_user allows")]
    TooManyRooms,
    #[error("body: 1 byte to limits.body_bytes, without NUL")]
    Body,
    #[error("name of a room: 1 to 200 bytes in one line; topic: at most 1,000 bytes; avatar: a URL")]
    RoomText,
    #[error("time: it lies in the future")]
    InFuture,
    #[error(
        "the conversation has a newer message already: sort the messages by time, or allow that older ones are appended (late=append)"
    )]
    OlderThanNewest,
}

/// The result of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// In the order of the items.
    pub outcomes: Vec<ImportOutcome>,
    /// Users whose view changed, by number; and rooms with the numbers of their members.
    pub users: Vec<u32>,
    pub rooms: Vec<(ConversationId, Arc<Vec<u32>>)>,
    /// Pairs who are contacts now.
    pub contacts: Vec<(UserId, UserId)>,
    pub position: Position,
}

impl ImportRules {
    /// Checks an item by itself, without the store.
    pub fn check(&self, item: &ImportItem) -> Result<(), ImportRefusal> {
        let is_past = |time: Option<Timestamp>| time.is_none_or(|time| time <= self.now);
        let (time, body) = match item {
            ImportItem::User { created, .. } | ImportItem::Room { created, .. } => (*created, None),
            ImportItem::Contact([one, other]) if one == other => return Err(ImportRefusal::SameUser),
            ImportItem::Contact(_) | ImportItem::Member { .. } => (None, None),
            ImportItem::Message(message) => {
                if message.to == ImportTo::User(message.from.clone()) {
                    return Err(ImportRefusal::SameUser);
                }
                (Some(message.time), Some(&message.body))
            }
        };
        if !is_past(time) {
            return Err(ImportRefusal::InFuture);
        }
        let is_body =
            |body: &str| (1..=self.body_bytes as usize).contains(&body.len()) && !body.contains('\0');
        if body.is_none_or(|body| is_body(body)) { Ok(()) } else { Err(ImportRefusal::Body) }
    }

    /// Places a message of this time into a conversation whose newest one is of `newest`. Err is the outcome
    /// of a message that is not stored.
    pub fn place(
        &self,
        id: ConversationId,
        time: Timestamp,
        newest: Option<Timestamp>,
    ) -> Result<(), ImportOutcome> {
        if self.trim.of(id).is_some_and(|before| time < before) {
            return Err(ImportOutcome::Expired);
        }
        match self.late {
            Late::Refuse if newest.is_some_and(|newest| time < newest) => {
                Err(ImportOutcome::Refused(ImportRefusal::OlderThanNewest))
            }
            Late::Refuse | Late::Append => Ok(()),
        }
    }
}

/// The client id of an imported message, by the number of its position. No client can send such an id.
pub fn imported_client_id(number: u64) -> Box<str> {
    format!("{IMPORTED_ID}{number:x}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_764_000_000_000);

    fn rules() -> ImportRules {
        ImportRules {
            late: Late::Refuse,
            body_bytes: 5,
            contacts: 10,
            rooms: RoomLimits::default(),
            trim: Trim { before: Some(Timestamp(100)), rooms: Vec::new() },
            now: NOW,
        }
    }

    fn sub(text: &str) -> Sub {
        Sub::parse(text).unwrap()
    }

    fn message(body: &str, time: u64) -> ImportItem {
        ImportItem::Message(Box::new(ImportMessage {
            key: ImportKey::message("1").unwrap(),
            to: ImportTo::User(sub("ben")),
            from: sub("ann"),
            time: Timestamp(time),
            body: body.into(),
            reply_to: None,
        }))
    }

    #[test]
    fn texts_and_times_are_bounded() {
        let check = |body: &str, time| rules().check(&message(body, time));
        assert_eq!(check("hello", NOW.0), Ok(()));
        for body in ["", "hello!", "a\0b"] {
            assert_eq!(check(body, 1), Err(ImportRefusal::Body), "{body:?}");
        }
        assert_eq!(check("a", NOW.0 + 1), Err(ImportRefusal::InFuture));
        let room = |name: &str, topic: Option<&str>| {
            let key = ImportKey::room("r").unwrap();
            let topic = topic.map(str::to_owned);
            let wanted = RoomChange { name: Some(name.into()), topic, ..RoomChange::default() };
            ImportItem::room(key, wanted, None).map(drop)
        };
        assert_eq!(room(" Bees ", Some("two\nlines")), Ok(()));
        assert_eq!(room("  ", None), Err(ImportRefusal::RoomText));
        assert_eq!(room("a", Some("a\0b")), Err(ImportRefusal::RoomText));
        let pair = |other| rules().check(&ImportItem::Contact([sub("ann"), sub(other)]));
        assert_eq!((pair("ben"), pair("ann")), (Ok(()), Err(ImportRefusal::SameUser)));
    }

    #[test]
    fn late_messages_follow_the_rule_and_expired_ones_are_dropped() {
        let id = ConversationId { site: SiteId(1), key: 5 };
        let place = |late, time, newest: Option<u64>| {
            ImportRules { late, ..rules() }.place(id, Timestamp(time), newest.map(Timestamp))
        };
        let refused = Err(ImportOutcome::Refused(ImportRefusal::OlderThanNewest));
        assert_eq!(place(Late::Refuse, 100, None), Ok(()));
        assert_eq!(place(Late::Refuse, 200, Some(200)), Ok(()));
        assert_eq!(place(Late::Refuse, 200, Some(201)), refused);
        assert_eq!(place(Late::Append, 200, Some(201)), Ok(()));
        assert_eq!(place(Late::Append, 99, None), Err(ImportOutcome::Expired));
    }

    #[test]
    fn keys_of_different_kinds_differ() {
        let keys =
            [ImportKey::user(&sub("7")), ImportKey::room("7").unwrap(), ImportKey::message("7").unwrap()];
        assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
        for wrong in ["", "a\nb", &"x".repeat(201)] {
            assert_eq!((ImportKey::room(wrong), ImportKey::message(wrong)), (None, None), "{wrong:?}");
        }
    }
}

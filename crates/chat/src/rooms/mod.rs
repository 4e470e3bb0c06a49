//! Rooms: conversations with members.
//!
//! The store checks the rules of rooms in the transaction of each write, with the one table of [`roles`]. So
//! a mute, a ban or slow mode applies from the very next message on. The domain keeps no rooms in memory; the
//! store's answer contains the data for the events.

mod administer;
mod alias;
mod closing;
mod command;
mod event;
mod invitations;
mod invite_links;
mod joins;
mod list;
pub(crate) mod membership;
mod mutes_and_bans;
mod nickname;
mod occupancy;
mod page_name;
mod roles;
mod seen_by;
mod store;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use administer::MOST_LEFT_BY_BLOCK;
pub(crate) use administer::NewRoomOf;
pub use alias::Alias;
use closing::Unfinished;
pub use closing::{Closing, MOST_CLOSED_AT_ONCE};
pub use command::{Command, MemberList};
pub use event::Event;
pub use invitations::{
    AddAs, AddMember, AddOutcome, AddRule, BeforeAdd, MOST_ROOM_ANSWERS, MOST_ROOM_REQUESTS,
    RoomRequestState, RoomRequestStore, add_outcome, may_show, requested_conversation,
};
pub use invite_links::{
    Invitation, Invited, LinkCode, LinkStore, MOST_LINKS, MOST_LINKS_EACH, NewLink, RoomLink, keeps_links,
    may_make_link, takes_link,
};
pub(crate) use joins::Joins;
pub use joins::RoomMembers;
pub use membership::{
    MemberState, leaves_by_block, owner_may_leave, owner_may_step_down, role_of_new, sanction_behind,
    standing_now, standing_to_write, state_under, state_without,
};
pub use mutes_and_bans::{KeptSanction, RoomSanction, RoomSanctionKind, kept_sanction};
pub use nickname::{Naming, Nickname};
use occupancy::Occupancy;
pub use occupancy::{MOST_ENTERED, MOST_NAMED_AT_ONCE, MOST_SHOWN, Occupant, OccupantChange, WROTE_MS};
pub use roles::{Act, Role, Rules, Standing, may, may_as_site_moderator, may_moderate_message};
pub use seen_by::{MOST_SEEN_BY, Markers};
pub use store::{
    Entered, Joined, MemberRow, MembersPage, Named, NewRoom, NicknameChange, Nicknamed, RoomChanged,
    RoomClosed, RoomStore, RoomsPage, SanctionedPage,
};

use crate::calls::Calls;
use crate::config::RoomLimits;
use crate::moderation::Moderation;
use crate::presence::Presences;
use crate::rng::Rng;
use crate::serialize::serialize_as_text;
use crate::session::{Completion, Sessions};
use crate::store::MemberChanged;
use crate::users::Users;
use crate::{ConversationId, FileId, NodeConfig, Refusal, Settings, SiteId};

/// Membership of rooms, and who is in them. Joins and leaves wait here until they are published.
pub(crate) struct Rooms {
    joins: Joins,
    occupancy: Occupancy,
    unfinished: Unfinished,
    calls: Arc<Calls>,
    moderation: Arc<Moderation>,
    presences: Arc<Presences>,
    users: Arc<Users>,
    sessions: Arc<Sessions>,
    store: Arc<dyn RoomStore>,
    config: Arc<NodeConfig>,
    rng: Arc<Rng>,
}

impl Rooms {
    #[allow(clippy::too_many_arguments, reason = "one for each part that it depends on")]
    pub(crate) fn new(
        calls: Arc<Calls>,
        moderation: Arc<Moderation>,
        presences: Arc<Presences>,
        users: Arc<Users>,
        sessions: Arc<Sessions>,
        store: Arc<dyn RoomStore>,
        config: Arc<NodeConfig>,
        rng: Arc<Rng>,
    ) -> Rooms {
        let (joins, occupancy, unfinished) = (Joins::default(), Occupancy::default(), Unfinished::default());
        Rooms {
            joins,
            occupancy,
            unfinished,
            calls,
            moderation,
            presences,
            users,
            sessions,
            store,
            config,
            rng,
        }
    }
}

impl Completion for Rooms {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

/// The kind of a room decides who can find it and who may write in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RoomKind {
    Public,
    Private,
    Announcement,
}

/// The data of a room, without its messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    pub name: Arc<str>,
    pub kind: RoomKind,
    pub topic: Option<Arc<str>>,
    pub avatar: Option<RoomAvatar>,
    /// The page of the room. Such a room is created on demand, without an owner, and is not listed.
    pub page: Option<Arc<str>>,
    /// The name in its address, if an app has created it. Such a room has no other address in apps.
    pub alias: Option<Arc<str>>,
    /// 0: no slow mode.
    pub slow_ms: u32,
    pub frozen: bool,
    pub members: u32,
    /// The room's own limit of members, if it is lower than the site's; 0: none.
    pub max_members: u32,
    /// The number of the last change of a nickname; 0: no member has had one. A client that knows nicknames of another number
    /// asks for them again.
    pub nicknames: u64,
}

/// The picture of a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RoomAvatar {
    /// The address from which the browsers of members fetch it. Only an admin of the site may set one.
    Address(Arc<str>),
    /// A picture that an owner of the room uploaded. The file belongs to the room until the picture is replaced.
    Upload(FileId),
}

/// A change of a room's picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AvatarChange {
    Remove,
    Address(String),
    Upload(FileId),
}

impl AvatarChange {
    /// An empty address removes the picture.
    pub fn address(text: String) -> AvatarChange {
        if text.is_empty() { AvatarChange::Remove } else { AvatarChange::Address(text) }
    }

    fn into_avatar(self) -> Option<RoomAvatar> {
        match self {
            AvatarChange::Remove => None,
            AvatarChange::Address(text) => Some(RoomAvatar::Address(text.into())),
            AvatarChange::Upload(file) => Some(RoomAvatar::Upload(file)),
        }
    }
}

/// The name of a room in a command.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RoomName {
    Id(ConversationId),
    Page(SiteId, PageKey),
}

/// Identifies a page of a site and its room: 1 to 200 bytes without control characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PageKey {
    key: Arc<str>,
    /// False: the filters of the site refuse the key as a name.
    is_name: bool,
}

impl PageKey {
    /// None if the text breaks this rule.
    pub fn parse(text: &str) -> Option<PageKey> {
        is_line(text, NAME_BYTES).then(|| PageKey { key: text.into(), is_name: true })
    }

    pub fn as_str(&self) -> &str {
        &self.key
    }

    pub fn shared(&self) -> Arc<str> {
        self.key.clone()
    }

    /// The name of a new room for this page.
    pub fn room_name(&self) -> Arc<str> {
        if self.is_name { self.shared() } else { NO_NAME.into() }
    }

    /// The page, with a nameless room, because its key is not usable as a name.
    pub(crate) fn unnamed(self) -> PageKey {
        PageKey { is_name: false, ..self }
    }
}

// A gateway's key: the domain decides later whether it is usable as a name.
serialize_as_text!(PageKey, as_str, PageKey::parse);

/// A change of a room. Fields that are None stay; an empty topic removes it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RoomChange {
    pub name: Option<String>,
    pub topic: Option<String>,
    pub avatar: Option<AvatarChange>,
    pub kind: Option<RoomKind>,
    pub slow_ms: Option<u32>,
    pub frozen: Option<bool>,
    /// 0 removes the room's own limit.
    pub max_members: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemberAction {
    Invite,
    Remove,
    Ban,
    Unban,
    SetRole(Role),
}

/// The reason why a membership has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeftReason {
    Left,
    Removed,
    Banned,
    /// An owner has closed the room.
    Closed,
}

impl RoomLimits {
    /// Most members of this room; 0: no limit.
    pub fn members_of(self, room: &Room) -> u32 {
        match (self.members, room.max_members) {
            (of_site, 0) => of_site,
            (0, own) => own,
            (of_site, own) => own.min(of_site),
        }
    }

    /// The limits on a site: its limit of members applies if it is lower than the node's.
    pub(crate) fn on_site(self, settings: &Settings) -> RoomLimits {
        let members = match (self.members, settings.rooms.members) {
            (of_node, 0) => of_node,
            (0, of_site) => of_site,
            (of_node, of_site) => of_site.min(of_node),
        };
        RoomLimits { members, ..self }
    }
}

/// The name of a page's room whose key the filters refuse.
const NO_NAME: &str = "…";
const NAME_BYTES: usize = 200;
const TOPIC_BYTES: usize = 1_000;
const AVATAR_BYTES: usize = 2_048;
/// One day, in milliseconds.
const MOST_SLOW_MS: u32 = 86_400_000;

/// One line of text: not empty, not too long, no control characters.
fn is_line(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && !crate::id::has_control_characters(text)
}

pub(crate) fn is_name(name: &str) -> bool {
    is_line(name, NAME_BYTES)
}

pub(crate) fn is_topic(topic: &str) -> bool {
    is_text(topic, TOPIC_BYTES)
}

/// Text with line breaks: not too long, no other control characters.
fn is_text(text: &str, most: usize) -> bool {
    text.len() <= most && !text.chars().any(|c| c.is_control() && c != '\n')
}

impl RoomChange {
    /// Whether each field is in its documented range.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let is_sound = self.name.as_deref().is_none_or(|name| is_name(name.trim()))
            && self.topic.as_deref().is_none_or(is_topic)
            && self.avatar.as_ref().is_none_or(is_picture)
            && self.slow_ms.is_none_or(|slow| slow <= MOST_SLOW_MS);
        if is_sound { Ok(()) } else { Err(Refusal::BadValue) }
    }

    /// The acts that must be allowed for this change.
    pub fn acts(&self) -> impl Iterator<Item = Act> + use<> {
        // Moderators may remove a picture, but only an owner chooses one.
        let removes_avatar = self.avatar == Some(AvatarChange::Remove);
        let renames = self.name.is_some() || self.avatar.is_some() && !removes_avatar || self.kind.is_some();
        let configures = self.topic.is_some()
            || removes_avatar
            || self.slow_ms.is_some()
            || self.frozen.is_some()
            || self.max_members.is_some();
        let rename = renames.then_some(Act::Rename);
        // A change without fields only reads the room.
        let configure = configures.then_some(Act::Configure).or((!renames).then_some(Act::List));
        rename.into_iter().chain(configure)
    }

    /// The names of the changed fields, for the record.
    pub fn names(&self) -> String {
        let names = [
            (self.name.is_some(), "name"),
            (self.topic.is_some(), "topic"),
            (self.avatar.is_some(), "avatar"),
            (self.kind.is_some(), "kind"),
            (self.slow_ms.is_some(), "slow_ms"),
            (self.frozen.is_some(), "frozen"),
            (self.max_members.is_some(), "max_members"),
        ];
        let names: Vec<&str> = names.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect();
        names.join(" ")
    }

    /// The room after the change.
    pub fn apply(self, room: &Room) -> Room {
        let text = |new: Option<String>, old: &Option<Arc<str>>| match new {
            Some(new) if new.is_empty() => None,
            Some(new) => Some(new.into()),
            None => old.clone(),
        };
        Room {
            name: self.name.map_or_else(|| room.name.clone(), |name| name.trim().into()),
            kind: self.kind.unwrap_or(room.kind),
            topic: text(self.topic, &room.topic),
            avatar: self.avatar.map_or_else(|| room.avatar.clone(), AvatarChange::into_avatar),
            slow_ms: self.slow_ms.unwrap_or(room.slow_ms),
            frozen: self.frozen.unwrap_or(room.frozen),
            max_members: self.max_members.unwrap_or(room.max_members),
            ..room.clone()
        }
    }
}

/// The rules for addresses are those of tokens: a web URL, or a path from the root of the site. The store
/// checks uploads.
fn is_picture(change: &AvatarChange) -> bool {
    let AvatarChange::Address(text) = change else { return true };
    let begins = ["https://", "http://", "/"].iter().any(|start| text.starts_with(start));
    begins && !text.starts_with("//") && is_line(text, AVATAR_BYTES)
}

impl Room {
    /// The rules for an act of a member whose last message is of `last`.
    pub fn rules(&self, last: crate::Timestamp, now: crate::Timestamp) -> Rules {
        let slow_ms = u64::from(self.slow_ms);
        let wait_ms = match slow_ms.saturating_sub(now.since(last)) {
            _ if last.0 == 0 => 0,
            // The clock was set back, and the member must not wait for that time.
            _ if last.since(now) > slow_ms => 0,
            left => left as u32,
        };
        Rules { kind: self.kind, frozen: self.frozen, wait_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    const ROOM: fn() -> Room = || Room {
        name: "Bikers".into(),
        kind: RoomKind::Public,
        topic: Some("Two wheels".into()),
        avatar: None,
        page: None,
        alias: None,
        slow_ms: 1_000,
        frozen: false,
        members: 3,
        max_members: 0,
        nicknames: 0,
    };

    #[test]
    fn changes_are_checked() {
        let sound = |change: RoomChange| change.check().is_ok();
        let name = |name: &str| sound(RoomChange { name: Some(name.into()), ..RoomChange::default() });
        assert!(
            name("Bikers")
                && name(&"é".repeat(100))
                && !name(" ")
                && !name(&"a".repeat(201))
                && !name("a\nb")
        );
        let topic = |topic: &str| sound(RoomChange { topic: Some(topic.into()), ..RoomChange::default() });
        assert!(topic("") && topic("two\nlines") && !topic("a\0b") && !topic(&"a".repeat(1_001)));
        let avatar = |avatar: &str| {
            let avatar = Some(AvatarChange::address(avatar.into()));
            sound(RoomChange { avatar, ..RoomChange::default() })
        };
        assert!(avatar("") && avatar("/a.webp") && avatar("https://a.example/b.png"));
        assert!(!avatar("javascript:alert(1)") && !avatar("//evil.example/a") && !avatar("/a\n"));
        let slow = |slow| sound(RoomChange { slow_ms: Some(slow), ..RoomChange::default() });
        assert!(slow(0) && slow(86_400_000) && !slow(86_400_001) && !slow(u32::MAX));
    }

    #[test]
    fn the_lower_limit_of_members_applies() {
        let settings =
            |members| Settings { rooms: crate::site::settings::Rooms { members }, ..Settings::default() };
        for (of_node, of_site, of_room, expected) in [
            (100, 0, 0, 100),
            (0, 0, 0, 0),
            (0, 50, 0, 50),
            (100, 50, 0, 50),
            (100, 500, 0, 100),
            (100, 50, 20, 20),
            (100, 50, 90, 50),
            (0, 0, 20, 20),
        ] {
            let limits = RoomLimits { members: of_node, per_user: 0, owned: 0 }.on_site(&settings(of_site));
            let room = Room { max_members: of_room, ..ROOM() };
            assert_eq!(limits.members_of(&room), expected, "{of_node} {of_site} {of_room}");
        }
    }

    #[test]
    fn missing_fields_stay_and_empty_ones_are_removed() {
        let change =
            RoomChange { name: Some(" Riders ".into()), topic: Some(String::new()), ..RoomChange::default() };
        assert_eq!(change.apply(&ROOM()), Room { name: "Riders".into(), topic: None, ..ROOM() });
        assert_eq!(RoomChange::default().apply(&ROOM()), ROOM());
    }

    #[test]
    fn slow_mode_counts_from_the_last_message() {
        let wait = |last, now| ROOM().rules(Timestamp(last), Timestamp(now)).wait_ms;
        assert_eq!(
            [wait(0, 5), wait(5_000, 5_000), wait(5_000, 5_400), wait(5_000, 6_000)],
            [0, 1_000, 600, 0]
        );
        assert_eq!(
            wait(5_900, 5_000),
            1_000,
            "a clock that goes back lengthens it by no more than it is long"
        );
        let two_days = 2 * 86_400_000;
        assert_eq!(wait(5_000 + two_days, 5_000), 0, "and a member does not wait for days");
    }

    #[test]
    fn a_page_key_is_one_line() {
        for (text, is_key) in [("/thread/42", true), ("", false), ("a\tb", false), (&*"a".repeat(200), true)]
        {
            assert_eq!(PageKey::parse(text).is_some(), is_key, "{text}");
        }
        assert_eq!(PageKey::parse(&"a".repeat(201)), None);
    }
}

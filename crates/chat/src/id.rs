//! Identifiers. Each contains its site (invariant I5), so no lookup can cross from one site to another.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::serialize::serialize_as_text;

/// Milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The end of the year 9999: clients use it for "forever".
    pub const MAX: Timestamp = Timestamp(253_402_300_799_999);

    /// Milliseconds from `earlier` to here; 0 if the clock went back.
    pub fn since(self, earlier: Timestamp) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// A group of sites that have the same home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u8);

impl Slot {
    /// The slot of all sites, unless they are spread over several.
    pub const FIRST: Slot = Slot(0);
}

/// A community website, the tenant. The highest byte is the number of its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SiteId(pub u32);

impl SiteId {
    pub const fn slot(self) -> Slot {
        Slot((self.0 >> 24) as u8)
    }
}

/// A person of one site. 8 bytes, so that tables of a million stay small; the store numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UserId {
    pub site: SiteId,
    pub num: u32,
}

impl UserId {
    /// The placeholder for a missing user: stores number from 1.
    pub const fn nobody(site: SiteId) -> UserId {
        UserId { site, num: 0 }
    }
}

/// Longest id that a client may give a message, in bytes.
pub(crate) const CLIENT_ID_BYTES: usize = 255;
/// Beginnings of the ids that the server gives messages, so that nobody can send one of these before it.
pub(crate) const CALL_ID: &str = "call:";
pub(crate) const IMPORTED_ID: &str = "import:";

/// Whether a text has control characters (Unicode category Cc).
pub(crate) fn has_control_characters(text: &str) -> bool {
    match text.is_ascii() {
        // Without an early end, so that the compiler uses SIMD.
        true => text.bytes().fold(false, |found, byte| found | byte.is_ascii_control()),
        false => text.chars().any(char::is_control),
    }
}

/// Whether a client may give a message this id.
pub(crate) fn is_client_id(id: &str) -> bool {
    (1..=CLIENT_ID_BYTES).contains(&id.len())
        && !has_control_characters(id)
        && ![CALL_ID, IMPORTED_ID].iter().any(|reserved| id.starts_with(reserved))
}

/// The beginning of the ids of users of other servers, which the site cannot give.
const REMOTE_ID: &str = "xmpp:";

/// The site's own id of a user: the `sub` of its tokens, 1 to 128 bytes of UTF-8 without control characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sub(Arc<str>);

impl Sub {
    /// Longest `sub`, in bytes.
    pub const MAX_BYTES: usize = 128;

    /// None if the text is empty, too long or has control characters.
    pub fn parse(text: &str) -> Option<Sub> {
        Self::is_valid(text).then(|| Sub(text.into()))
    }

    /// Whether [`parse`](Self::parse) takes the text.
    pub(crate) fn is_valid(text: &str) -> bool {
        let fits = !text.is_empty() && text.len() <= Self::MAX_BYTES;
        fits && !has_control_characters(text)
    }

    /// The id of a user of another XMPP server, whose bare address (RFC 7622) is in prepared form. No token, guest or import has such an id.
    /// None: the address is too long.
    pub fn remote(address: &str) -> Option<Sub> {
        Sub::parse(&format!("{REMOTE_ID}{address}"))
    }

    /// The address of a user of another XMPP server. None: a user of the site.
    pub fn remote_address(&self) -> Option<&str> {
        self.0.strip_prefix(REMOTE_ID)
    }

    /// The address of a program on its own domain, without a user: a component of the node (XEP-0114), such as a gateway to
    /// another network.
    pub fn is_remote_service(&self) -> bool {
        self.remote_address().is_some_and(|address| !address.contains('@'))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 16 bytes of the SHA-256. Decisions about a user that outlive the erased user are stored
    /// under it.
    pub fn digest(&self) -> [u8; 16] {
        let digest = ring::digest::digest(&ring::digest::SHA256, self.0.as_bytes());
        std::array::from_fn(|at| digest.as_ref()[at])
    }
}

serialize_as_text!(Sub, as_str, Sub::parse);

impl fmt::Debug for Sub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Sub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A conversation of one site.
///
/// The key of a direct conversation *is* its two members, with the smaller number in the upper half. So the
/// id contains the membership, and routing a message needs no look-up and no cache. Rooms have the top bit
/// set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ConversationId {
    pub site: SiteId,
    pub key: u64,
}

impl ConversationId {
    /// The direct conversation of two users; None if they belong to two sites, or are the same user.
    pub fn direct(a: UserId, b: UserId) -> Option<ConversationId> {
        if a.site != b.site || a.num == b.num || (a.num | b.num) & 0x8000_0000 != 0 {
            return None;
        }
        let (low, high) = if a.num < b.num { (a.num, b.num) } else { (b.num, a.num) };
        Some(ConversationId { site: a.site, key: u64::from(low) << 32 | u64::from(high) })
    }

    /// The room of this number.
    pub fn room(site: SiteId, number: u64) -> ConversationId {
        ConversationId { site, key: number | 1 << 63 }
    }

    /// The number of a room, as [`room`](Self::room) takes it. None for a direct conversation.
    pub fn room_number(self) -> Option<u64> {
        self.is_room().then_some(self.key & !(1 << 63))
    }

    pub fn is_room(self) -> bool {
        self.key >> 63 == 1
    }

    /// Its two members, smaller number first. None for a room, and for a key that [`direct`](Self::direct)
    /// never makes.
    pub fn pair(self) -> Option<[UserId; 2]> {
        (self.key >> 63 == 0 && self.key >> 32 < self.key & 0xffff_ffff)
            .then(|| [(self.key >> 32) as u32, self.key as u32].map(|num| UserId { site: self.site, num }))
    }

    /// The other member of a direct conversation; None if `user` is not in it.
    pub fn other(self, user: UserId) -> Option<UserId> {
        match self.pair()? {
            [a, b] if a == user => Some(b),
            [a, b] if b == user => Some(a),
            _ => None,
        }
    }
}

/// Gap-free number of a message in its conversation, from 1; 0 is before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Seq(pub u64);

impl Seq {
    /// The highest that a store can hold (SQL's BIGINT is signed). Clients' higher numbers are reduced to it.
    pub const MAX: Seq = Seq(i64::MAX as u64);
}

/// A moment in the store's order of commits. `epoch` identifies the database, so that a position from before
/// a restore or of another database is recognised.
///
/// Promise: a session receives events in the order of their positions. So a session that has seen position p
/// has seen all its events up to p.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Position {
    pub epoch: u32,
    pub number: u64,
}

/// One browser or app of a user: 1 to 64 bytes of `[A-Za-z0-9_-]`, made by the client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DeviceId(Box<str>);

impl DeviceId {
    /// None if the text breaks this rule.
    pub fn parse(text: &str) -> Option<DeviceId> {
        let ok = (1..=64).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        ok.then(|| DeviceId(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

serialize_as_text!(DeviceId, as_str, DeviceId::parse);

/// The connection of a session, unique among living sessions. Eight bytes, because tables of a million keep
/// it.
///
/// The highest eight bits identify the front: 0 is a gateway of this process, any other number a linked
/// process. The other 56 bits identify the gateway and the connection there; the domain does not read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionHandle(pub u64);

impl SessionHandle {
    const FRONT_SHIFT: u32 = 56;

    pub fn front(self) -> u8 {
        (self.0 >> Self::FRONT_SHIFT) as u8
    }

    /// Replaces the number of the front; the connection stays the same.
    pub fn of_front(self, front: u8) -> SessionHandle {
        let connection = self.0 & ((1 << Self::FRONT_SHIFT) - 1);
        SessionHandle(u64::from(front) << Self::FRONT_SHIFT | connection)
    }
}

/// The handle of a signed-in session that a gateway keeps: 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SessionId {
    pub user: UserId,
    pub handle: SessionHandle,
}

/// Identifies a call while it lasts, and its entry in the conversation. Random, so that no later call has the
/// same id.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallId(pub u64);

impl CallId {
    /// None unless the text has the form that [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<CallId> {
        let hex = text.len() == 16 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        hex.then(|| u64::from_str_radix(text, 16).ok().map(CallId)).flatten()
    }
}

serialize_as_text!(CallId, to_string, CallId::parse);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A file of one site. Random, so that it does not reveal the number of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileId {
    pub site: SiteId,
    pub number: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_site_has_its_slot() {
        assert_eq!([1, 0x00ff_ffff].map(|number| SiteId(number).slot()), [Slot::FIRST; 2]);
        assert_eq!([0x0300_0001, 0x03ff_ffff].map(|number| SiteId(number).slot()), [Slot(3); 2]);
        assert_eq!(SiteId(u32::MAX).slot(), Slot(255));
    }

    #[test]
    fn a_direct_conversation_id_contains_its_members() {
        let user = |num| UserId { site: SiteId(7), num };
        let id = ConversationId::direct(user(9), user(3)).expect("two users of one site");
        assert_eq!(Some(id), ConversationId::direct(user(3), user(9)));
        assert_eq!(id.pair(), Some([user(3), user(9)]));
        assert_eq!((id.other(user(3)), id.other(user(9))), (Some(user(9)), Some(user(3))));
        assert_eq!(id.other(user(4)), None);
        assert_eq!(id.other(UserId { site: SiteId(8), num: 3 }), None);
        assert_eq!(ConversationId::direct(user(3), user(3)), None);
        assert_eq!(ConversationId::direct(user(3), UserId { site: SiteId(8), num: 9 }), None);
    }

    #[test]
    fn control_characters_are_found_in_every_text() {
        for number in (0..0x3000).chain([0xfeff, 0x1f600]) {
            let Some(c) = char::from_u32(number) else { continue };
            for text in [c.to_string(), format!("a{c}"), format!("é{c}")] {
                assert_eq!(has_control_characters(&text), c.is_control(), "{text:?}");
            }
        }
    }

    #[test]
    fn invalid_keys_have_no_members() {
        for key in [0, 3 << 32 | 3, 9 << 32 | 3, 1 << 63, 1 << 63 | 3 << 32 | 9, u64::MAX] {
            assert_eq!(ConversationId { site: SiteId(7), key }.pair(), None, "{key:x}");
        }
    }

    #[test]
    fn a_handle_contains_front_and_connection() {
        let here = SessionHandle(0x00ff_0012_3456_789a);
        let there = here.of_front(7);
        assert_eq!((here.front(), there.front()), (0, 7));
        assert_ne!(here, there, "two fronts may have equal connections");
        assert_eq!(there.of_front(0), here);
    }

    #[test]
    fn a_room_id_contains_no_members() {
        let room = ConversationId::room(SiteId(7), 3);
        assert_eq!((room.is_room(), room.pair(), room.key), (true, None, 0x8000_0000_0000_0003));
        assert_eq!(room.room_number(), Some(3));
        let user = |num| UserId { site: SiteId(7), num };
        assert!(ConversationId::direct(user(1), user(2)).is_some_and(|direct| !direct.is_room()));
    }
}

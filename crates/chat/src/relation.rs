//! The relation of two users: who sees whom, who asks whom, and blocks.
//!
//! A contact has two directions, and each has the consent of the user who is seen. The widget knows only contacts in both
//! directions: its request asks for one and allows the other. Apps ask for single directions (RFC 6121 §3).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ContactState;

/// The relation of a pair as one of its users has it. The sides of both users agree; see [`Relation`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(from = "u8", into = "u8")]
pub struct Side(u8);

impl From<u8> for Side {
    fn from(code: u8) -> Side {
        Side::of_code(code)
    }
}

impl From<Side> for u8 {
    fn from(side: Side) -> u8 {
        side.code()
    }
}

impl Side {
    pub const NONE: Side = Side(0);
    /// The user sees the other one.
    pub const SEES: Side = Side(1);
    /// The other user sees this one.
    pub const SEEN: Side = Side(2);
    pub const CONTACT: Side = Side(3);
    /// Excludes everything else.
    pub const BLOCKED: Side = Side(4);
    /// The user has asked to see the other one. Stays if the other one declines or blocks, who thus reveals neither.
    pub const ASKED: Side = Side(8);
    /// The other user asks to see this one.
    pub const ASKS: Side = Side(16);
    /// The other user may see this one as soon as they ask (RFC 6121 §3.4).
    pub const APPROVED: Side = Side(32);
    /// An app has put the other user on the list, so the entry stays without any direction.
    pub const LISTED: Side = Side(64);
    /// A request of the widget, which asks for both directions.
    pub const REQUESTED: Side = Side(8 | 32);

    /// The code that stores keep.
    pub fn code(self) -> u8 {
        self.0
    }

    /// Unknown codes and impossible combinations lose what contradicts the rest.
    pub fn of_code(code: u8) -> Side {
        let mut side = Side(code & 127);
        if side.is_blocked() {
            return Side::BLOCKED;
        }
        if side.sees() {
            side = side.without(Side::ASKED);
        }
        if side.is_seen() {
            side = side.without(Side::ASKS).without(Side::APPROVED);
        }
        side
    }

    /// The side of a user whose relation comes from the widget or the site.
    pub fn of_state(state: ContactState) -> Side {
        match state {
            ContactState::None => Side::NONE,
            ContactState::RequestSent => Side::REQUESTED,
            ContactState::RequestReceived => Side::ASKS,
            ContactState::Contact => Side::CONTACT,
            ContactState::Blocked => Side::BLOCKED,
        }
    }

    /// The state for clients that know no directions. A request comes first, because it waits for an answer.
    pub fn state(self) -> ContactState {
        match self {
            _ if self.is_blocked() => ContactState::Blocked,
            _ if self.asks() => ContactState::RequestReceived,
            _ if self.is_contact() => ContactState::Contact,
            _ if self.has(Side::ASKED) => ContactState::RequestSent,
            _ => ContactState::None,
        }
    }

    fn has(self, flag: Side) -> bool {
        self.0 & flag.0 != 0
    }

    #[must_use]
    pub(crate) fn with(self, flag: Side) -> Side {
        Side(self.0 | flag.0)
    }

    #[must_use]
    pub(crate) fn without(self, flag: Side) -> Side {
        Side(self.0 & !flag.0)
    }

    pub fn sees(self) -> bool {
        self.has(Side::SEES)
    }

    pub fn is_seen(self) -> bool {
        self.has(Side::SEEN)
    }

    /// Contact in at least one direction. Either user has asked the other or has let them in, so both agree to contact.
    pub fn is_contact(self) -> bool {
        self.has(Side::CONTACT)
    }

    pub fn is_blocked(self) -> bool {
        self.has(Side::BLOCKED)
    }

    /// The user has asked to see the other one, who has not agreed.
    pub fn has_asked(self) -> bool {
        self.has(Side::ASKED)
    }

    /// The other user waits for an answer.
    pub fn asks(self) -> bool {
        self.has(Side::ASKS)
    }

    pub fn has_approved(self) -> bool {
        self.has(Side::APPROVED)
    }

    /// The other user is on the contact list that apps show. A request of another user alone is not.
    pub fn is_on_list(self) -> bool {
        self.has(Side(Side::CONTACT.0 | Side::ASKED.0 | Side::APPROVED.0 | Side::LISTED.0))
    }
}

impl fmt::Debug for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 7] = ["sees", "seen", "blocked", "asked", "asks", "approved", "listed"];
        let flags = NAMES.iter().enumerate().filter(|(bit, _)| self.0 >> bit & 1 != 0);
        let names: Vec<&str> = flags.map(|(_, name)| *name).collect();
        write!(f, "Side({})", names.join(" "))
    }
}

/// The relation of two users, from both sides.
///
/// The sides agree: one sees exactly if the other is seen, and a request that waits was sent. A sent request may wait for
/// nothing, because its receiver has declined it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Relation {
    pub of_a: Side,
    pub of_b: Side,
}

impl Relation {
    pub const NONE: Relation = Relation { of_a: Side::NONE, of_b: Side::NONE };
    pub const CONTACTS: Relation = Relation { of_a: Side::CONTACT, of_b: Side::CONTACT };

    /// One of the two has blocked the other.
    pub fn is_blocked(self) -> bool {
        self.of_a.is_blocked() || self.of_b.is_blocked()
    }

    /// Contacts in at least one direction.
    pub fn is_contact(self) -> bool {
        self.of_a.is_contact()
    }

    /// The view of user `a` on user `b`.
    pub fn a_views_b(self) -> Viewpoint {
        Viewpoint { sees: self.of_a.sees(), is_blocked: self.is_blocked() }
    }

    /// The view of user `b` on user `a`.
    pub fn b_views_a(self) -> Viewpoint {
        self.turned().a_views_b()
    }

    /// The relation as the other user has it.
    #[must_use]
    pub fn turned(self) -> Relation {
        Relation { of_a: self.of_b, of_b: self.of_a }
    }
}

/// One direction of a relation: the right of one user, the viewer, to know of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewpoint {
    /// The other user has let the viewer see their presence.
    pub sees: bool,
    /// One of the two has blocked the other.
    pub is_blocked: bool,
}

impl Viewpoint {
    pub const STRANGER: Viewpoint = Viewpoint { sees: false, is_blocked: false };
    pub const BLOCKED: Viewpoint = Viewpoint { sees: false, is_blocked: true };
    /// A contact whom the viewer sees.
    pub const CONTACT: Viewpoint = Viewpoint { sees: true, is_blocked: false };

    /// The viewer's side of contacts decides, because a block ends them.
    pub(crate) fn of_contact(side: Side) -> Viewpoint {
        Viewpoint { sees: side.sees(), is_blocked: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_codes_are_read_back_and_never_contradict() {
        for code in 0..=u8::MAX {
            let side = Side::of_code(code);
            assert_eq!(Side::of_code(side.code()), side);
            assert!(!side.is_blocked() || side == Side::BLOCKED, "{side:?}");
            assert!(!(side.sees() && side.has_asked()), "{side:?}");
            assert!(!(side.is_seen() && (side.asks() || side.has_approved())), "{side:?}");
        }
    }

    #[test]
    fn clients_without_directions_get_one_state() {
        use ContactState::{Blocked, Contact, None as Nothing, RequestReceived, RequestSent};
        for state in [Nothing, RequestSent, RequestReceived, Contact, Blocked] {
            assert_eq!(Side::of_state(state).state(), state);
        }
        for (side, state) in [
            (Side::SEES, Contact),
            (Side::SEEN, Contact),
            (Side::SEEN.with(Side::ASKED), Contact),
            (Side::SEES.with(Side::ASKS), RequestReceived),
            (Side::ASKED.with(Side::ASKS), RequestReceived),
            (Side::APPROVED, Nothing),
            (Side::LISTED, Nothing),
        ] {
            assert_eq!(side.state(), state, "{side:?}");
        }
        assert!(!Side::ASKS.is_on_list() && !Side::BLOCKED.is_on_list() && Side::LISTED.is_on_list());
    }
}

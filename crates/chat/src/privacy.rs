//! Privacy choices of members: who may start conversations with them, who sees their presence, and who sees
//! when they were last here.
//!
//! Three choices in one byte of the member's row, which each sign-in reads anyway; connected members have
//! them in the table of sessions. The choices work in one direction: members who hide may still see others.
//! So publishing presence never checks the choices of receivers.

use serde::{Deserialize, Serialize};

use crate::Mode;
use crate::relation::Viewpoint;
use crate::users::peer::may_see;

/// Privacy choices of a member. Default: everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Privacy {
    /// Users who may start a conversation; existing conversations continue.
    pub write: Audience,
    pub presence: Audience,
    /// Only users who may see the presence may see this.
    pub last_seen: Audience,
}

/// The presence that a user chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum SetPresence {
    #[default]
    Online,
    Away,
    Busy,
    Invisible,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Audience {
    #[default]
    Everybody,
    Contacts,
    Nobody,
}

impl Audience {
    /// Whether a user is in the audience. `is_contact`: for presence, that the user may see it; otherwise a contact in
    /// any direction.
    pub fn has(self, is_contact: bool) -> bool {
        match self {
            Audience::Everybody => true,
            Audience::Contacts => is_contact,
            Audience::Nobody => false,
        }
    }

    fn of_code(code: u8) -> Audience {
        match code & 3 {
            1 => Audience::Contacts,
            2 => Audience::Nobody,
            _ => Audience::Everybody,
        }
    }
}

impl Privacy {
    /// The byte that stores keep: two bits per choice.
    pub fn code(self) -> u8 {
        self.write as u8 | (self.presence as u8) << 2 | (self.last_seen as u8) << 4
    }

    pub fn of_code(code: u8) -> Privacy {
        Privacy {
            write: Audience::of_code(code),
            presence: Audience::of_code(code >> 2),
            last_seen: Audience::of_code(code >> 4),
        }
    }
}

/// Events that reveal that a member is here now, or was here a moment ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signal {
    /// In `presence`, `watching`, and next to names in lists and cards.
    Presence,
    LastSeen,
    Typing,
    /// How far the member has received and read.
    Marker,
    /// The answer to a caller that the member is in another call.
    Busy,
    /// This and the next signal go to members of a room, who need not be contacts on any site.
    RoomTyping,
    RoomMarker,
}

/// Choices of a member about being seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Visibility {
    pub privacy: Privacy,
    pub chosen: SetPresence,
}

impl Visibility {
    /// The one rule for all signals. `viewer`: the user who would get the signal, towards this one.
    ///
    /// An invisible user appears as offline. [`shown`](crate::presence::shown) decides that, because the
    /// user's own devices must see the real state. All other signals of an invisible user are not sent.
    pub(crate) fn sends(self, signal: Signal, mode: Mode, viewer: Viewpoint) -> bool {
        let may_see = match signal {
            Signal::RoomTyping | Signal::RoomMarker => !viewer.is_blocked,
            Signal::Presence | Signal::LastSeen | Signal::Typing | Signal::Marker | Signal::Busy => {
                may_see(mode, viewer)
            }
        };
        let is_shown = may_see && self.privacy.presence.has(viewer.sees);
        match signal {
            Signal::Presence => is_shown,
            Signal::LastSeen => is_shown && self.privacy.last_seen.has(viewer.sees),
            Signal::Typing | Signal::Marker | Signal::Busy | Signal::RoomTyping | Signal::RoomMarker => {
                is_shown && self.chosen != SetPresence::Invisible
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Side;
    use Audience::{Contacts, Everybody, Nobody};

    #[test]
    fn audiences_follow_the_relation() {
        let table = [(Everybody, [true, true]), (Contacts, [false, true]), (Nobody, [false, false])];
        for (audience, row) in table {
            assert_eq!([false, true].map(|is_contact| audience.has(is_contact)), row, "{audience:?}");
        }
    }

    #[test]
    fn last_seen_requires_visible_presence() {
        let hidden = Privacy { presence: Contacts, ..Privacy::default() };
        let sends = |privacy| {
            let of = Visibility { privacy, ..Visibility::default() };
            of.sends(Signal::LastSeen, Mode::Open, Viewpoint::STRANGER)
        };
        assert!(sends(Privacy::default()) && !sends(hidden));
    }

    /// A member sends no signal to users from whom they hide, and an invisible member sends none to anybody.
    #[test]
    fn one_rule_for_every_signal() {
        use Signal::{Busy, LastSeen, Marker, Presence, RoomMarker, RoomTyping, Typing};
        let contact = Viewpoint::of_contact(Side::CONTACT);
        // A contact in one direction is a contact only for the user who sees.
        assert_eq!([Side::SEES, Side::SEEN].map(|side| Viewpoint::of_contact(side).sees), [true, false]);
        for signal in [Presence, LastSeen, Typing, Marker, Busy, RoomTyping, RoomMarker] {
            for viewer in [Viewpoint::STRANGER, contact, Viewpoint::BLOCKED] {
                for mode in [Mode::Open, Mode::Contacts] {
                    let sends = |presence, chosen| {
                        let privacy = Privacy { presence, ..Privacy::default() };
                        Visibility { privacy, chosen }.sends(signal, mode, viewer)
                    };
                    let online = SetPresence::Online;
                    assert!(!sends(Nobody, online), "{signal:?} {viewer:?}");
                    assert_eq!(sends(Contacts, online), viewer.sees, "{signal:?} {viewer:?}");
                    let in_room = matches!(signal, RoomTyping | RoomMarker);
                    let sees = !viewer.is_blocked && (mode == Mode::Open || in_room || viewer.sees);
                    assert_eq!(sends(Everybody, online), sees, "{signal:?} {viewer:?} {mode:?}");
                    let hidden = SetPresence::Invisible;
                    let later = matches!(signal, Presence | LastSeen);
                    assert_eq!(sends(Everybody, hidden), sees && later, "{signal:?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_stored_is_read_back(code: u8) {
            let privacy = Privacy::of_code(code);
            prop_assert_eq!(Privacy::of_code(privacy.code()), privacy);
            prop_assert!(privacy.code() < 64);
        }
    }
}

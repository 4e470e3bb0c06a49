//! Calls of rooms: the commands of clients about them, and the events for clients.
//!
//! These calls do not ring: members of the room see who joins and leaves. [`machine`] decides the effects of
//! each step, [`topology`] which participants connect to each other. [`seats`] holds the calls of a shard,
//! next to the direct calls; [`carry`] carries the steps out.
//!
//! Clients address each other by *place*. A place belongs to one participant from a join until they leave or
//! join again. So a signal for an old connection never reaches another one.

mod carry;
mod machine;
mod seats;
mod topology;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(super) use seats::Groups;

use machine::GroupCall;

use crate::calls::{Ice, Media};
use crate::{ConversationId, Sub, Timestamp};

/// Largest room that may have a call: each join and leave is sent to every member.
pub const MOST_MEMBERS_CALLED: u32 = 500;

/// A participant's address in a call. Never reused while a node runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place(pub u32);

/// An action of a client in the call of a room.
#[derive(Clone, Serialize, Deserialize)]
pub enum GroupAction {
    /// Lists the participants.
    Look,
    /// Joins the call. The first join starts it. A second join, from the same or another session, replaces
    /// the connection.
    Join {
        media: Media,
    },
    Leave,
    /// A signal to another participant.
    Signal {
        to: Place,
        signal: GroupSignal,
    },
}

/// Signals between two browsers; the server forwards the texts unread.
#[derive(Clone, Serialize, Deserialize)]
pub enum GroupSignal {
    Offer(Arc<str>),
    Answer(Arc<str>),
    /// An empty text: the sender has no further candidates.
    Candidate(Arc<str>),
}

/// An event of a room's call for a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GroupEvent {
    pub room: ConversationId,
    pub news: GroupNews,
    /// Only with `Joined`.
    pub ice: Option<Ice>,
}

#[derive(Clone, Serialize, Deserialize)]
pub enum GroupNews {
    /// The current state of the call: for all members who are online, and the answer to `Look`.
    Standing(GroupStanding),
    /// Answer to `Join`: the client offers a connection to each participant in `here`.
    Joined { place: Place, media: Media, since: Timestamp, most: u8, here: Vec<Participant> },
    /// A new participant, who will offer a connection; or one who has joined again with a new connection.
    Came(Participant),
    /// A participant has left.
    Went { place: Place },
    /// The participant's session has ended; their place is kept for [`AWAY_MS`](crate::AWAY_MS).
    Away { place: Place },
    /// The connection to this participant ends: one of the two has blocked the other.
    Apart { place: Place },
    /// A signal from another participant.
    Signal { from: Place, signal: GroupSignal },
    /// The user has joined from another session.
    Elsewhere,
    /// The session has left the call: as the answer to leaving, or because the user lost the membership or
    /// was muted.
    Left,
    /// Answer to a signal.
    Done,
}

/// The state of a room's call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupStanding {
    /// Most participants. 0: the site allows no calls of rooms.
    pub most: u8,
    pub call: Option<GroupUnderWay>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupUnderWay {
    /// As the first participant chose: video for all, or for none.
    pub media: Media,
    pub since: Timestamp,
    pub here: Vec<Sub>,
}

/// A participant of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Participant {
    pub user: Sub,
    pub place: Place,
    /// The participant's session has ended; they may join again.
    pub away: bool,
    /// The two are not connected: one has blocked the other.
    pub apart: bool,
}

impl GroupAction {
    pub(crate) fn is_join(&self) -> bool {
        matches!(self, GroupAction::Join { .. })
    }
}

/// The content belongs to the participants, so it is not printed.
impl fmt::Debug for GroupSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GroupSignal::Offer(_) => "Offer",
            GroupSignal::Answer(_) => "Answer",
            GroupSignal::Candidate(_) => "Candidate",
        })
    }
}

impl fmt::Debug for GroupNews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |all: &[Participant]| {
            all.iter().map(|one| one.user.as_str().to_owned()).collect::<Vec<_>>().join(" ")
        };
        match self {
            GroupNews::Standing(GroupStanding { call: None, .. }) => f.write_str("Standing: none"),
            GroupNews::Standing(GroupStanding { call: Some(call), .. }) => {
                let here: Vec<&str> = call.here.iter().map(Sub::as_str).collect();
                write!(f, "Standing: {}", here.join(" "))
            }
            GroupNews::Joined { here, .. } => write!(f, "Joined [{}]", names(here)),
            GroupNews::Came(who) if who.apart => write!(f, "Came {} apart", who.user.as_str()),
            GroupNews::Came(who) => write!(f, "Came {}", who.user.as_str()),
            GroupNews::Went { .. } => f.write_str("Went"),
            GroupNews::Away { .. } => f.write_str("Away"),
            GroupNews::Apart { .. } => f.write_str("Apart"),
            GroupNews::Signal { signal, .. } => write!(f, "{signal:?}"),
            GroupNews::Elsewhere => f.write_str("Elsewhere"),
            GroupNews::Left => f.write_str("Left"),
            GroupNews::Done => f.write_str("Done"),
        }
    }
}

//! Calls that stand in rooms: what is said of one, by clients and to them.
//!
//! Nobody is rung: members of the room hear who is there, come and leave. [`machine`] decides what each step leads to,
//! [`topology`] who sends to whom; [`seats`] holds the calls of a shard, beside those of two; [`carry`] carries steps out.
//! Clients address each other by *place*, a number that is somebody's from when they come until they leave or come
//! again, so that what was said to a connection that is gone reaches no other one.

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

/// Calls stand in rooms of so many members at the most: each of them is told who comes and goes.
pub const MOST_MEMBERS_CALLED: u32 = 500;

/// Where somebody is in a call. Never given twice while a node runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place(pub u32);

/// An action of a client in the call of a room.
#[derive(Clone, Serialize, Deserialize)]
pub enum GroupAction {
    /// Lists the participants.
    Look,
    /// Come; the first who does begins the call. Again, from another session or the same: with a new connection.
    Join {
        media: Media,
    },
    Leave,
    /// To another one who is there.
    Signal {
        to: Place,
        signal: GroupSignal,
    },
}

/// Signals between two browsers, as texts that pass through unread.
#[derive(Clone, Serialize, Deserialize)]
pub enum GroupSignal {
    Offer(Arc<str>),
    Answer(Arc<str>),
    /// An empty one: there are no more.
    Candidate(Arc<str>),
}

/// An event of a room's call for a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GroupEvent {
    pub room: ConversationId,
    pub news: GroupNews,
    /// With `Joined`.
    pub ice: Option<Ice>,
}

#[derive(Clone, Serialize, Deserialize)]
pub enum GroupNews {
    /// To all members who are online, and the answer to looking: how it stands now.
    Standing(GroupStanding),
    /// Answer to joining: offer a connection to each who is here.
    Joined { place: Place, media: Media, since: Timestamp, most: u8, here: Vec<Participant> },
    /// Somebody new is here, and will offer a connection; or somebody who was, with a new one.
    Came(Participant),
    /// Somebody is here no more.
    Went { place: Place },
    /// Their session has ended; their place is kept for a while.
    Away { place: Place },
    /// These two are connected no more: one has blocked the other.
    Apart { place: Place },
    /// From another one who is there.
    Signal { from: Place, signal: GroupSignal },
    /// Another session of the user is in the call now.
    Elsewhere,
    /// One has no part in it any more: by leaving, as the answer, or because one is no member or muted.
    Left,
    /// Answer to signalling.
    Done,
}

/// How the call of a room stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupStanding {
    /// So many may be in it. 0: nobody, on this site.
    pub most: u8,
    pub call: Option<GroupUnderWay>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupUnderWay {
    /// As it was begun; everybody shows their camera or does not.
    pub media: Media,
    pub since: Timestamp,
    pub here: Vec<Sub>,
}

/// Somebody in a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Participant {
    pub user: Sub,
    pub place: Place,
    /// Their session has ended, and they may come again.
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

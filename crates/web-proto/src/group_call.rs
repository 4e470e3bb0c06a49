//! Signals of calls in rooms, in both directions. Descriptions (SDP) and candidates pass through unread.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Media;

/// An action of a client in the call of a room.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum GroupAction<'a> {
    /// How does it stand? Answered by `standing`.
    Look,
    /// Come; the first who does begins the call. Also after a reload, from a new session. Answered by `joined`.
    Join { media: Media },
    /// Answered by `left`.
    Leave,
    /// A connection to somebody who is there, or something new in it. Answered by `done`, and by their `answer`.
    Offer {
        /// Their place.
        to: u32,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// Answered by `done`.
    Answer {
        to: u32,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// As the browser has it, in JSON or as its line of SDP; an empty one: there are no more. Answered by `done`.
    Candidate {
        to: u32,
        #[serde(borrow)]
        candidate: Cow<'a, str>,
    },
}

/// An event of the call of a room for a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "news", rename_all = "snake_case")]
pub enum GroupNews<'a> {
    /// To all members who are online when it changes, and the answer to `look`.
    Standing {
        /// So many may be in it at once; 0: rooms of this site have no calls.
        most: u8,
        /// Absent: there is none, or none that one might join.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        now: Option<GroupCall<'a>>,
    },
    /// Answer to `join`. Make a connection to each who is here and not away nor apart, and say `offer` to their place.
    /// `ice` comes with it.
    Joined {
        /// One's own.
        place: u32,
        media: Media,
        /// Unix milliseconds.
        since: u64,
        most: u8,
        #[serde(borrow)]
        here: Vec<Participant<'a>>,
    },
    /// Somebody new is here, and offers a connection; or somebody who was, with a new place and a new connection.
    Came {
        #[serde(borrow, flatten)]
        who: Participant<'a>,
    },
    /// Somebody is here no more.
    Went { place: u32 },
    /// Their connection to the server is lost; they are gone if they do not come again within 20 s.
    Away { place: u32 },
    /// One of the two has blocked the other: their connection ends.
    Apart { place: u32 },
    /// From somebody who is here.
    Offer {
        from: u32,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    Answer {
        from: u32,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    Candidate {
        from: u32,
        #[serde(borrow)]
        candidate: Cow<'a, str>,
    },
    /// Another session of the user is in the call now.
    Elsewhere,
    /// One is not in the call any more: as the answer to `leave`, or because one is no member of the room any more, or muted.
    Left,
    /// Answer to what has no other.
    Done,
}

/// The call that stands in a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GroupCall<'a> {
    /// As it was begun.
    pub media: Media,
    /// Unix milliseconds.
    pub since: u64,
    /// Users, in the order in which they came.
    #[serde(borrow)]
    pub here: Vec<Cow<'a, str>>,
}

/// Somebody in the call of a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Participant<'a> {
    #[serde(borrow)]
    pub user: Cow<'a, str>,
    /// Names them while they are here with this connection; nobody else ever has it.
    pub place: u32,
    /// Their connection to the server is lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub away: bool,
    /// One of the two has blocked the other: there is no connection between them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
}

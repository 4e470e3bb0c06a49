//! Signals of calls in rooms, in both directions. The server forwards descriptions (SDP) and candidates
//! without reading them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Media;

/// An action of a client in the call of a room.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum GroupAction<'a> {
    /// Get the state of the call. Answered by `standing`.
    Look,
    /// Join the call; the first participant starts it. Also after a reload, from a new session. Answered by
    /// `joined`.
    Join { media: Media },
    /// Leave the call. Answered by `left`.
    Leave,
    /// Offer a connection to a participant, or a change of it. Answered by `done`, and by `answer` of the
    /// participant.
    Offer {
        /// Place of the recipient.
        to: u32,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// Answer an `offer`. Answered by `done`.
    Answer {
        to: u32,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// A candidate from the browser, in JSON or as its line of SDP. Empty: no more candidates follow.
    /// Answered by `done`.
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
    /// State of the call: sent to all online members after each change, and as the answer to `look`.
    Standing {
        /// Largest number of participants. 0: rooms of this site have no calls.
        most: u8,
        /// The current call. Absent: the room has no call, or none that this user may join.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        now: Option<GroupCall<'a>>,
    },
    /// Answer to `join`. Connect to each participant who is neither `away` nor `apart`: send `offer` to their
    /// place. `ice` comes with it.
    Joined {
        /// The own place.
        place: u32,
        media: Media,
        /// Unix milliseconds.
        since: u64,
        most: u8,
        #[serde(borrow)]
        here: Vec<Participant<'a>>,
    },
    /// A participant has joined, and offers a connection. Or a participant has returned, with a new place and
    /// a new connection.
    Came {
        #[serde(borrow, flatten)]
        who: Participant<'a>,
    },
    /// A participant has left.
    Went { place: u32 },
    /// A participant has lost the connection to the server. They are removed unless they return within 20 s.
    Away { place: u32 },
    /// One of the two users has blocked the other: their connection ends.
    Apart { place: u32 },
    /// An offer from another participant.
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
    /// The user is no longer in the call: the answer to `leave`, or because they are muted or no longer a
    /// member of the room.
    Left,
    /// Answer to actions that have no other answer.
    Done,
}

/// The current call of a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GroupCall<'a> {
    /// Media with which the call started.
    pub media: Media,
    /// Unix milliseconds.
    pub since: u64,
    /// Ids of the participants, in the order of joining.
    #[serde(borrow)]
    pub here: Vec<Cow<'a, str>>,
}

/// A participant in the call of a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Participant<'a> {
    #[serde(borrow)]
    pub user: Cow<'a, str>,
    /// Number of the participant, as long as they stay with this connection. It is never reused.
    pub place: u32,
    /// The participant has lost the connection to the server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub away: bool,
    /// One of the two users has blocked the other: they have no connection.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
}

//! Signals of calls, in both directions. Descriptions (SDP) and candidates pass through unread.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// An action of a client in a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum CallAction<'a> {
    /// Call a user. Answered by `calling`, by `over` where they are busy, by `ring` where they have called in the same moment.
    Invite {
        #[serde(borrow)]
        user: Cow<'a, str>,
        media: Media,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// Answered by `joined`.
    Accept {
        #[serde(borrow)]
        call: Cow<'a, str>,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// For all devices of the user. Answered by `over`.
    Decline {
        #[serde(borrow)]
        call: Cow<'a, str>,
        /// One is in a call elsewhere.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        busy: bool,
    },
    /// Also before anybody has accepted. Answered by `over`.
    HangUp {
        #[serde(borrow)]
        call: Cow<'a, str>,
    },
    /// Something is added or taken away, or a new path is looked for. Answered by `done`, and by the other one's `answer`.
    Offer {
        #[serde(borrow)]
        call: Cow<'a, str>,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// Answered by `done`.
    Answer {
        #[serde(borrow)]
        call: Cow<'a, str>,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// As the browser has it, in JSON or as its line of SDP; an empty one: there are no more. Answered by `done`.
    Candidate {
        #[serde(borrow)]
        call: Cow<'a, str>,
        #[serde(borrow)]
        candidate: Cow<'a, str>,
    },
    /// Answered by `done`.
    Hold {
        #[serde(borrow)]
        call: Cow<'a, str>,
        on: bool,
    },
    /// From a new session, within 20 s of the end of the one before: with an offer of a new connection. Answered by
    /// `rejoined`.
    Rejoin {
        #[serde(borrow)]
        call: Cow<'a, str>,
        /// Of `calling` or `joined`.
        #[serde(borrow)]
        ticket: Cow<'a, str>,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
}

/// An event of a call for a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "news", rename_all = "snake_case")]
pub enum CallNews<'a> {
    /// It rings at all devices of the user, as far as any is there, for 45 s. `ice` comes with it.
    Calling {
        #[serde(borrow)]
        user: Cow<'a, str>,
        media: Media,
        /// A secret: with it one takes one's place in the call again.
        #[serde(borrow)]
        ticket: Cow<'a, str>,
    },
    /// Somebody calls. `ice` comes with it.
    Ring {
        #[serde(borrow)]
        user: Cow<'a, str>,
        media: Media,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
        /// One has called them in the same moment, and they were first: accept.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        glare: bool,
    },
    /// Answer to `accept`.
    Joined {
        #[serde(borrow)]
        ticket: Cow<'a, str>,
    },
    /// The other one has accepted.
    Accepted {
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// Another device of the user has accepted, or has this one's place now. Nothing more comes of the call.
    Elsewhere,
    Offer {
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    Answer {
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    Candidate {
        #[serde(borrow)]
        candidate: Cow<'a, str>,
    },
    /// The other one's.
    Hold { on: bool },
    /// The other one's connection to the server is lost; the call is over if they are not back within 20 s.
    Away,
    /// The other one is here again, with an offer of a new connection: say `answer`.
    Back {
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// Answer to `rejoin`; the other one's `answer` follows, or their own `back`. `ice` comes with it.
    Rejoined {
        media: Media,
        /// The other one holds.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hold: bool,
        /// The other one is away too.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        away: bool,
        /// Milliseconds since the call was accepted; absent while it rings.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ms: Option<u64>,
    },
    /// Answer to what has no other.
    Done,
    /// The call is over, for all.
    Over {
        outcome: CallOutcome,
        /// Milliseconds from when it was accepted.
        ms: u64,
    },
}

/// The users whose calls ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CallsFrom {
    Nobody,
    Contacts,
    Everyone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Media {
    Audio,
    Video,
}

/// How a call has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// Somebody has hung up.
    Ended,
    /// It was under way, and one of the two has vanished.
    Lost,
    Declined,
    /// In another call.
    Busy,
    /// The caller did not wait.
    Cancelled,
    /// Nobody has answered in time.
    Missed,
}

/// The entry of a finished call: a message of the caller has this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CallEntry {
    pub media: Media,
    pub outcome: CallOutcome,
    /// Milliseconds from when it was accepted.
    pub ms: u64,
}

/// A STUN or TURN server, as browsers take it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct IceServer<'a> {
    #[serde(borrow)]
    pub urls: Vec<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub username: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<Cow<'a, str>>,
}

/// Body of `POST /v1/ice`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct IceQuestion {
    /// Key of the site.
    pub site: String,
}

impl IceQuestion {
    /// None where it is no such object.
    pub fn parse(body: &[u8]) -> Option<IceQuestion> {
        // A derived struct would also be read from an array.
        body.trim_ascii_start().starts_with(b"{").then(|| serde_json::from_slice(body).ok()).flatten()
    }
}

/// Its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IceAnswer<'a> {
    pub ice: Vec<IceServer<'a>>,
    /// Unix milliseconds until which the credentials are good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
}

impl IceAnswer<'_> {
    pub fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an answer has string keys only")
    }
}

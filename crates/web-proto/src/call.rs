//! Signals of calls, in both directions. The server forwards descriptions (SDP) and candidates without
//! reading them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// An action of a client in a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum CallAction<'a> {
    /// Call a user. Answered by `calling`; by `over` if the user is busy; by `ring` if the user has called at
    /// the same moment.
    Invite {
        #[serde(borrow)]
        user: Cow<'a, str>,
        media: Media,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// Accept the call. `sdp` is empty if that of `ring` is: the caller sends an `offer` next. Answered by `joined`.
    Accept {
        #[serde(borrow)]
        call: Cow<'a, str>,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// Decline the call, for all devices of the user. Answered by `over`.
    Decline {
        #[serde(borrow)]
        call: Cow<'a, str>,
        /// The user is in another call.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        busy: bool,
    },
    /// End the call, also before it is accepted. Answered by `over`.
    HangUp {
        #[serde(borrow)]
        call: Cow<'a, str>,
    },
    /// Add or remove media, or search a new network path. Answered by `done`, and by `answer` of the other
    /// user.
    Offer {
        #[serde(borrow)]
        call: Cow<'a, str>,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// Answer an `offer`. Answered by `done`.
    Answer {
        #[serde(borrow)]
        call: Cow<'a, str>,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// A candidate from the browser, in JSON or as its line of SDP. Empty: no more candidates follow.
    /// Answered by `done`.
    Candidate {
        #[serde(borrow)]
        call: Cow<'a, str>,
        #[serde(borrow)]
        candidate: Cow<'a, str>,
    },
    /// Put the call on hold, or resume it. Answered by `done`.
    Hold {
        #[serde(borrow)]
        call: Cow<'a, str>,
        on: bool,
    },
    /// Return from a new session, within 20 s of the end of the previous one, with an offer of a new
    /// connection. Answered by `rejoined`.
    Rejoin {
        #[serde(borrow)]
        call: Cow<'a, str>,
        /// The `ticket` of `calling` or `joined`.
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
    /// The call rings on all connected devices of the user, if any, for 45 s. `ice` comes with it.
    Calling {
        #[serde(borrow)]
        user: Cow<'a, str>,
        media: Media,
        /// A secret. With it, a new session takes the same place in the call again.
        #[serde(borrow)]
        ticket: Cow<'a, str>,
    },
    /// Another user calls. `sdp` is empty if the caller sends an `offer` once the call is accepted. `ice` comes with it.
    Ring {
        #[serde(borrow)]
        user: Cow<'a, str>,
        media: Media,
        #[serde(borrow)]
        sdp: Cow<'a, str>,
        /// Both users called each other at the same moment, and the other user was first: send `accept`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        glare: bool,
    },
    /// Answer to `accept`.
    Joined {
        #[serde(borrow)]
        ticket: Cow<'a, str>,
    },
    /// The other user has accepted.
    Accepted {
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// Another device of the user has accepted, or has taken this device's place. No more events of the call
    /// follow.
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
    /// The other user has put the call on hold, or has resumed it.
    Hold { on: bool },
    /// The other user has lost the connection to the server. The call ends unless they return within 20 s.
    Away,
    /// The other user has returned, with an offer of a new connection: send `answer`. With an empty `sdp` the connection continues.
    Back {
        #[serde(borrow)]
        sdp: Cow<'a, str>,
    },
    /// Answer to `rejoin`. `answer` or `back` of the other user follows. `ice` comes with it.
    Rejoined {
        media: Media,
        /// The other user has put the call on hold.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hold: bool,
        /// The other user is away too.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        away: bool,
        /// Milliseconds since the call was accepted. Absent while it rings.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ms: Option<u64>,
    },
    /// Answer to actions that have no other answer.
    Done,
    /// The call has ended, for all participants.
    Over {
        outcome: CallOutcome,
        /// Milliseconds from the acceptance to the end of the call.
        ms: u64,
    },
}

/// The allowed callers.
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
    /// A user has hung up.
    Ended,
    /// The call was active, and one of the two users did not return.
    Lost,
    Declined,
    /// The user is in another call.
    Busy,
    /// The caller hung up before an answer.
    Cancelled,
    /// Nobody accepted in time.
    Missed,
}

/// The entry of a finished call, in a message of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CallEntry {
    pub media: Media,
    pub outcome: CallOutcome,
    /// Milliseconds from the acceptance to the end of the call.
    pub ms: u64,
}

/// A STUN or TURN server, in the format of browsers.
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
    /// None if the body is not such an object.
    pub fn parse(body: &[u8]) -> Option<IceQuestion> {
        // A derived struct would also be read from an array.
        body.trim_ascii_start().starts_with(b"{").then(|| serde_json::from_slice(body).ok()).flatten()
    }
}

/// Answer to `POST /v1/ice`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IceAnswer<'a> {
    pub ice: Vec<IceServer<'a>>,
    /// Unix milliseconds at which the credentials expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
}

impl IceAnswer<'_> {
    pub fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an answer has string keys only")
    }
}

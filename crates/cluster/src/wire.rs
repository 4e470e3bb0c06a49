//! The items of a link, in JSON: its types have a round-trip test for each command and each event in `chat`. A node of the
//! version before can ignore a new field; an item that it cannot read is dropped alone.

use chat::{
    CallId, Delivery, Hello, PortAnswer, PortNote, PortQuestion, PublishedSite, Refusal, Request,
    SessionHandle, SessionId, SessionRecord, Timestamp, UserId,
};
use serde::{Deserialize, Serialize};

/// The payload of [`Kind::Announce`](crate::envelope::Kind::Announce).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Announced {
    /// The address at which the home takes requests of fronts.
    pub(crate) http: String,
}

/// The payload of [`Kind::Join`](crate::envelope::Kind::Join).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Join {
    /// For people.
    pub(crate) name: String,
}

/// From a front to the home. Handles are the front's own: their highest byte is 0.
#[derive(Serialize, Deserialize)]
pub(crate) enum ToHome<'a> {
    /// Sessions of the front. Comes before all other items.
    Adopt(Vec<SessionRecord>),
    SignIn {
        handle: SessionHandle,
        #[serde(borrow)]
        hello: Hello<'a>,
        now: Timestamp,
    },
    Command {
        session: SessionId,
        request: Request,
        now: Timestamp,
        /// A watch that the session has begun at an earlier home: it is restored, and not answered. A home of the version before
        /// answers it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        again: bool,
    },
    Disconnected {
        session: SessionId,
        on_purpose: bool,
        now: Timestamp,
    },
    Behind(SessionId),
    PresenceMissed(SessionId),
    Note(PortNote),
    Ask {
        number: u64,
        question: PortQuestion,
    },
    /// This front expects the clients of a crowd within `left_ms`: they are in its queue, or have retry times. A home of the version before
    /// drops it.
    Line {
        left_ms: u32,
    },
    /// The answer to [`ToFront::Leaving`]: nothing follows.
    Left,
    /// This front has a TURN server, and asks for the calls of all users. `proof`: of the secret of its credentials, which the home
    /// compares with its own. A home of the version before drops it.
    Relays {
        proof: Box<str>,
    },
}

/// From the home to a front.
#[derive(Serialize, Deserialize)]
pub(crate) enum ToFront {
    /// The first item of a link.
    Joined {
        http: String,
    },
    Sites {
        sites: Vec<PublishedSite>,
        logs_sign_ins: bool,
    },
    Deliver {
        to: Vec<SessionHandle>,
        delivery: Delivery,
    },
    DeliverEach {
        to: Vec<(SessionHandle, usize)>,
        deliveries: Vec<Delivery>,
    },
    /// Events for these sessions were dropped, because the queue for the front was full.
    Missed(Vec<SessionHandle>),
    Answer {
        number: u64,
        answer: Result<PortAnswer, Refusal>,
    },
    /// The home gives its role away. The front sends nothing after [`ToHome::Left`], and holds what its sessions say for the next
    /// home. Answers still come, and then the link ends.
    Leaving,
    /// The answer to [`ToHome::Relays`], and then each change: the calls of users, None for a user who is in none any more. `begins`: a
    /// user who is not named in this item or in a later one is in no call.
    Calls {
        begins: bool,
        users: Vec<(UserId, Option<CallId>)>,
    },
}

/// Types of the domain have no maps with other keys than texts, so this cannot fail.
pub(crate) fn write<T: Serialize>(item: &T) -> Vec<u8> {
    serde_json::to_vec(item).expect("every item can be written as JSON")
}

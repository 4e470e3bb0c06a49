//! Calls: what is said of one of two users, by clients and to them.
//!
//! [`machine`] decides what each step of one call leads to and knows nothing else; [`table`] holds the calls that there are;
//! [`signal`] carries steps out; [`group`] is all of the calls that stand in rooms; [`CallEntry`] is what stays of a call in its conversation; [`relay`] makes what clients show
//! to a TURN server. Descriptions (SDP) and candidates are texts that pass through unread.

mod command;
mod event;
mod group;
mod machine;
mod relay;
mod signal;
pub(crate) mod store;
mod table;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use command::Command;
pub use event::Event;
pub use group::{
    GroupAction, GroupEvent, GroupNews, GroupSignal, GroupStanding, GroupUnderWay, MOST_MEMBERS_CALLED,
    Participant, Place,
};
pub(crate) use relay::CredentialFor;
pub use relay::{CallConfig, Ice, IceTurn, Turn};

use crate::call_entry::{CallEntry, Media, Outcome, RINGS_MS};
use crate::calls::store::CallStore;
use crate::calls::table::CallTable;
use crate::notifications::Notifications;
use crate::rng::Rng;
use crate::serialize::serialize_as_text;
use crate::session::Sessions;
use crate::stats::Counters;
use crate::users::Users;
use crate::{CallId, NodeConfig, Sub, UserId};

/// The calls of this node.
pub(crate) struct Calls {
    table: CallTable,
    notifications: Arc<Notifications>,
    users: Arc<Users>,
    sessions: Arc<Sessions>,
    store: Arc<dyn CallStore>,
    config: Arc<NodeConfig>,
    counters: Arc<Counters>,
    rng: Arc<Rng>,
}

impl Calls {
    #[allow(clippy::too_many_arguments, reason = "one for each part that it depends on")]
    pub(crate) fn new(
        notifications: Arc<Notifications>,
        users: Arc<Users>,
        sessions: Arc<Sessions>,
        store: Arc<dyn CallStore>,
        config: Arc<NodeConfig>,
        counters: Arc<Counters>,
        rng: Arc<Rng>,
    ) -> Calls {
        let table = CallTable::new();
        Calls { table, notifications, users, sessions, store, config, counters, rng }
    }

    /// How many there are, of two users and of rooms.
    pub(crate) fn count(&self) -> u64 {
        self.table.live() + self.table.groups()
    }

    pub(crate) fn is_in_call(&self, user: UserId, call: CallId) -> bool {
        self.call_of(user) == Some(call)
    }

    /// The call in which the user is.
    pub(crate) fn call_of(&self, user: UserId) -> Option<CallId> {
        self.table.lock(user.site).by_user.get(&user).copied()
    }
}

/// Longest description, in bytes.
pub const DESCRIPTION_BYTES: usize = 64 * 1024;
/// Longest candidate, in bytes: one of RFC 8839 §5.1 has some 200, and clients add where it belongs.
pub const CANDIDATE_BYTES: usize = 1024;
/// How long the place of a party whose session has ended is kept.
pub const AWAY_MS: u64 = 20_000;

/// With which a party takes its place in a call again: 128 bits, a secret of one device. Two words, because commands would
/// grow by the alignment of one of 128 bits.
#[derive(Clone, Copy)]
pub struct CallTicket([u64; 2]);

impl CallTicket {
    pub const fn of(number: u128) -> CallTicket {
        CallTicket([(number >> 64) as u64, number as u64])
    }

    pub const fn number(self) -> u128 {
        (self.0[0] as u128) << 64 | self.0[1] as u128
    }

    /// None where it is not as [`text`](Self::text) writes it.
    pub fn parse(text: &str) -> Option<CallTicket> {
        let hex = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        hex.then(|| u128::from_str_radix(text, 16).ok().map(CallTicket::of)).flatten()
    }

    pub fn text(self) -> String {
        format!("{:032x}", self.number())
    }

    /// In the same time wherever the two differ.
    pub(crate) fn is(self, shown: CallTicket) -> bool {
        ((self.0[0] ^ shown.0[0]) | (self.0[1] ^ shown.0[1])) == 0
    }
}

serialize_as_text!(CallTicket, text, CallTicket::parse);

impl fmt::Debug for CallTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallTicket")
    }
}

/// An action of a client in a call.
#[derive(Clone, Serialize, Deserialize)]
pub enum CallAction {
    Invite { user: Sub, media: Media, offer: Arc<str> },
    Of(CallId, CallStep),
}

/// A step of a call that there is.
#[derive(Clone, Serialize, Deserialize)]
pub enum CallStep {
    Accept {
        answer: Arc<str>,
    },
    Decline {
        busy: bool,
    },
    HangUp,
    /// Another description, to be answered: something is added or taken away, or a new path is looked for.
    Offer(Arc<str>),
    Answer(Arc<str>),
    /// An empty one: there are no more.
    Candidate(Arc<str>),
    Hold(bool),
    /// From a new session of a party: here I am again, and this is my offer.
    Rejoin {
        ticket: CallTicket,
        offer: Arc<str>,
    },
}

/// An event of a call for a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallEvent {
    pub call: CallId,
    pub news: CallNews,
    /// For a connection that begins now.
    pub ice: Option<Ice>,
}

#[derive(Clone, Serialize, Deserialize)]
pub enum CallNews {
    /// Answer to an invitation: it rings there, as far as anybody is there.
    Calling {
        user: Sub,
        media: Media,
        ticket: CallTicket,
    },
    /// Somebody calls. `glare`: one has called them in the same moment, and this is the call that counts.
    Ring {
        from: Sub,
        media: Media,
        offer: Arc<str>,
        glare: bool,
    },
    /// Answer to accepting.
    Joined {
        ticket: CallTicket,
    },
    /// The other one has accepted.
    Accepted {
        answer: Arc<str>,
    },
    /// Another device of the user has accepted, or this one's place was taken by another.
    Elsewhere,
    Offer(Arc<str>),
    Answer(Arc<str>),
    Candidate(Arc<str>),
    Hold(bool),
    /// The other one's session has ended; its place is kept for a while.
    Away,
    /// The other one is here again, with an offer of a new connection.
    Back {
        offer: Arc<str>,
    },
    /// Answer to rejoining. `hold` and `away` are the other one's. `ms`: time since the call was accepted; none while it rings.
    Rejoined {
        media: Media,
        hold: bool,
        away: bool,
        ms: Option<u64>,
    },
    /// Answer to every other step.
    Done,
    /// The call is over. `ms`: how long it was under way.
    Over {
        outcome: Outcome,
        ms: u64,
    },
}

impl CallNews {
    /// The receiver of this event opens a connection, and needs servers for it.
    pub(crate) fn needs_servers(&self) -> bool {
        matches!(self, CallNews::Calling { .. } | CallNews::Ring { .. } | CallNews::Rejoined { .. })
    }
}

/// The content belongs to the two parties, so it is not printed.
impl fmt::Debug for CallStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CallStep::Accept { .. } => "Accept",
            CallStep::Decline { .. } => "Decline",
            CallStep::HangUp => "HangUp",
            CallStep::Offer(_) => "Offer",
            CallStep::Answer(_) => "Answer",
            CallStep::Candidate(_) => "Candidate",
            CallStep::Hold(_) => "Hold",
            CallStep::Rejoin { .. } => "Rejoin",
        })
    }
}

impl fmt::Debug for CallNews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CallNews::Calling { .. } => "Calling",
            CallNews::Ring { glare: false, .. } => "Ring",
            CallNews::Ring { glare: true, .. } => "Ring (glare)",
            CallNews::Joined { .. } => "Joined",
            CallNews::Accepted { .. } => "Accepted",
            CallNews::Elsewhere => "Elsewhere",
            CallNews::Offer(_) => "Offer",
            CallNews::Answer(_) => "Answer",
            CallNews::Candidate(_) => "Candidate",
            CallNews::Hold(_) => "Hold",
            CallNews::Away => "Away",
            CallNews::Back { .. } => "Back",
            CallNews::Rejoined { ms: None, .. } => "Rejoined",
            CallNews::Rejoined { ms: Some(ms), .. } => return write!(f, "Rejoined after {ms} ms"),
            CallNews::Done => "Done",
            CallNews::Over { outcome, ms } => return write!(f, "Over {outcome:?} {ms} ms"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_tickets_are_read_as_they_are_written() {
        for number in [0, 1, 0xfeed, u64::MAX] {
            assert_eq!(CallId::parse(&CallId(number).to_string()), Some(CallId(number)));
            let ticket = CallTicket::of(u128::from(number) << 60 | 7);
            assert!(CallTicket::parse(&ticket.text()).is_some_and(|read| read.is(ticket)));
        }
        for text in ["", "0", "00000000000000001", "00000000000000AB", "+000000000000001", "é00000000000000"]
        {
            assert!(CallId::parse(text).is_none(), "{text}");
        }
        assert!(CallTicket::parse(&"0".repeat(31)).is_none());
        assert!(CallTicket::parse(&"+".repeat(32)).is_none());
    }

    #[test]
    fn a_ticket_is_itself_alone_and_shows_in_no_log() {
        let ticket = CallTicket::of(1 << 127 | 5);
        assert!(ticket.is(CallTicket::of(1 << 127 | 5)));
        for other in [5, 1 << 127, 1 << 127 | 4, 0, u128::MAX] {
            assert!(!ticket.is(CallTicket::of(other)), "{other:x}");
        }
        assert_eq!(format!("{ticket:?}"), "CallTicket");
    }
}

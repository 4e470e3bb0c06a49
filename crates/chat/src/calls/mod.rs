//! Calls between two users: the commands of clients, and the events for them.
//!
//! [`machine`] decides the effects of each step of one call and uses nothing else. [`table`] holds the
//! current calls; [`signal`] carries steps out; [`group`] is the calls of rooms. [`CallEntry`] is the message
//! that remains of a call in its conversation; [`relay`] makes the credentials that clients show to a TURN
//! server. Descriptions (SDP) and candidates are texts that the server forwards unread.

mod command;
mod event;
mod group;
mod in_call;
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
pub use relay::{CallConfig, CallServers, Ice, IceTurn, Turn};

use crate::call_entry::{CallEntry, Media, Outcome, RINGS_MS};
use crate::calls::store::CallStore;
use crate::calls::table::CallTable;
use crate::notifications::Notifications;
use crate::rng::Rng;
use crate::serialize::serialize_as_text;
use crate::session::{Completion, Sessions};
use crate::stats::Counters;
use crate::users::Users;
use crate::{CallId, NodeConfig, Sub, UserId};

/// A direct call, for a process that [continues](crate::Node::continue_calls) it.
#[derive(Clone, Serialize, Deserialize)]
pub struct CallRecord(machine::Call);

impl fmt::Debug for CallRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallRecord").field(&self.0.id).finish()
    }
}

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

    /// Current calls on this node: direct calls and calls of rooms.
    pub(crate) fn count(&self) -> u64 {
        self.table.live() + self.table.groups()
    }

    /// `call`: None for any.
    pub(crate) fn is_in_call(&self, user: UserId, call: Option<CallId>) -> bool {
        self.call_of(user).is_some_and(|own| call.is_none_or(|call| call == own))
    }

    /// See [`Node::observe_calls`](crate::Node::observe_calls).
    pub(crate) fn observe(&self, observer: impl Fn(UserId, Option<CallId>) + Send + Sync + 'static) {
        self.table.observer.set(observer);
    }

    /// See [`Node::each_in_call`](crate::Node::each_in_call).
    pub(crate) fn each_in_call(&self, mut each: impl FnMut(UserId, CallId)) {
        for shard in self.table.each() {
            shard.by_user.iter().for_each(|(user, call)| each(*user, *call));
        }
    }

    /// See [`Node::write_down_calls`](crate::Node::write_down_calls).
    pub(crate) fn write_down(&self) -> Vec<CallRecord> {
        self.table
            .each()
            .flat_map(|shard| shard.direct_calls().cloned().map(CallRecord).collect::<Vec<_>>())
            .collect()
    }

    pub(crate) fn continue_calls(&self, mut records: Vec<CallRecord>) {
        // The queues of those that end by themselves are in the order of time.
        let since = |CallRecord(call): &CallRecord| call.rings_since().or(call.away_since());
        records.sort_by_key(since);
        for CallRecord(call) in records {
            self.table.lock(call.caller.user.site).continue_call(call);
        }
    }

    /// The call in which the user is.
    pub(crate) fn call_of(&self, user: UserId) -> Option<CallId> {
        self.table.lock(user.site).by_user.get(&user).copied()
    }
}

impl Completion for Calls {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

/// Longest description, in bytes.
pub const DESCRIPTION_BYTES: usize = 64 * 1024;
/// Longest candidate, in bytes. A candidate of RFC 8839 §5.1 has some 200; clients add the media section that
/// it belongs to.
pub const CANDIDATE_BYTES: usize = 1024;
/// Milliseconds for which the place of a party is kept after its session has ended.
pub const AWAY_MS: u64 = 20_000;

/// The secret with which one device takes its place in a call again: 128 bits. Two words, because the
/// alignment of a `u128` would enlarge commands.
#[derive(Clone, Copy)]
pub struct CallTicket([u64; 2]);

impl CallTicket {
    pub const fn of(number: u128) -> CallTicket {
        CallTicket([(number >> 64) as u64, number as u64])
    }

    pub const fn number(self) -> u128 {
        (self.0[0] as u128) << 64 | self.0[1] as u128
    }

    /// None unless the text has the form that [`text`](Self::text) writes.
    pub fn parse(text: &str) -> Option<CallTicket> {
        let hex = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        hex.then(|| u128::from_str_radix(text, 16).ok().map(CallTicket::of)).flatten()
    }

    pub fn text(self) -> String {
        format!("{:032x}", self.number())
    }

    /// Compares in constant time.
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
    /// An empty offer: the caller sends one once the call is accepted, with [`CallStep::Offer`].
    Invite {
        user: Sub,
        media: Media,
        offer: Arc<str>,
    },
    Of(CallId, CallStep),
}

/// A step of an existing call.
#[derive(Clone, Serialize, Deserialize)]
pub enum CallStep {
    /// The answer is empty if the offer is.
    Accept {
        answer: Arc<str>,
    },
    Decline {
        busy: bool,
    },
    HangUp,
    /// A new description, to be answered: a media track is added or removed, or a new path is needed.
    Offer(Arc<str>),
    Answer(Arc<str>),
    /// An empty text: the sender has no further candidates.
    Candidate(Arc<str>),
    Hold(bool),
    /// From a new session of a party, with an offer for a new connection. An empty one: the media connection continues.
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
    /// Only for a connection that starts now.
    pub ice: Option<Ice>,
}

#[derive(Clone, Serialize, Deserialize)]
pub enum CallNews {
    /// Answer to an invitation: the callee's connected devices ring.
    Calling {
        user: Sub,
        media: Media,
        ticket: CallTicket,
    },
    /// An incoming call. `glare`: the user has called the other party at the same moment, and this call wins.
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
    /// The other party has accepted.
    Accepted {
        answer: Arc<str>,
    },
    /// Another device of the user has accepted, or has taken the place of this one.
    Elsewhere,
    Offer(Arc<str>),
    Answer(Arc<str>),
    Candidate(Arc<str>),
    Hold(bool),
    /// The other party's session has ended; its place is kept for [`AWAY_MS`].
    Away,
    /// The other party has returned, with an offer for a new connection. An empty one: the connection continues.
    Back {
        offer: Arc<str>,
    },
    /// Answer to rejoining. `hold` and `away` are the other party's. `ms`: time since the call was accepted;
    /// None while it rings.
    Rejoined {
        media: Media,
        hold: bool,
        away: bool,
        ms: Option<u64>,
    },
    /// Answer to every other step.
    Done,
    /// The call is over. `ms`: duration since it was accepted.
    Over {
        outcome: Outcome,
        ms: u64,
    },
}

impl CallNews {
    /// The receiver of this event opens a connection, and needs STUN and TURN servers for it.
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
    fn names_and_tickets_round_trip() {
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
    fn tickets_differ_and_stay_out_of_logs() {
        let ticket = CallTicket::of(1 << 127 | 5);
        assert!(ticket.is(CallTicket::of(1 << 127 | 5)));
        for other in [5, 1 << 127, 1 << 127 | 4, 0, u128::MAX] {
            assert!(!ticket.is(CallTicket::of(other)), "{other:x}");
        }
        assert_eq!(format!("{ticket:?}"), "CallTicket");
    }
}

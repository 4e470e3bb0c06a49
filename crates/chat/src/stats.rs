//! Counters of a node, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Refusal;

/// Counters of a node since its start, and its present sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    pub sessions: u64,
    /// Sessions of another node that this one is [adopting](crate::Node::adopt) now.
    pub adopting: u64,
    /// Users with at least one session.
    pub users_online: u64,
    pub sites: u64,
    /// Sites with stored settings that cannot be read.
    pub sites_unreadable: u64,
    pub sign_ins: u64,
    /// Guests on their first visit.
    pub new_guests: u64,
    /// New guests who were refused, because too many came from their address.
    pub guests_refused: u64,
    /// REST, file and ICE requests refused by a limit of their user, address or site.
    pub requests_refused: u64,
    /// Messages stored, each once.
    pub messages: u64,
    /// Sends of an id that was stored before.
    pub repeated: u64,
    /// Edits, deletions and reactions stored.
    pub changes: u64,
    /// Message events handed to sessions, without acknowledgements.
    pub deliveries: u64,
    /// Sessions whose queue was dropped.
    pub behind: u64,
    /// Clients with a position beyond the store's: the store has lost data, or the client invented it.
    pub positions_ahead: u64,
    /// Calls that ring or are established now.
    pub calls: u64,
    /// Calls that have rung, and those of them that were accepted.
    pub calls_begun: u64,
    pub calls_accepted: u64,
    /// By [`Refusal::word`].
    pub refusals: Vec<(&'static str, u64)>,
}

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) sessions: Counter,
    pub(crate) users_online: Counter,
    pub(crate) sign_ins: Counter,
    pub(crate) new_guests: Counter,
    pub(crate) guests_refused: Counter,
    pub(crate) requests_refused: Counter,
    pub(crate) messages: Counter,
    pub(crate) repeated: Counter,
    pub(crate) changes: Counter,
    pub(crate) deliveries: Counter,
    pub(crate) behind: Counter,
    pub(crate) positions_ahead: Counter,
    pub(crate) calls: Counter,
    pub(crate) calls_accepted: Counter,
    refusals: ByRefusal,
}

/// A counter for each word of a refusal.
struct ByRefusal([Counter; Refusal::WORDS.len()]);

impl Default for ByRefusal {
    fn default() -> ByRefusal {
        ByRefusal(std::array::from_fn(|_| Counter::default()))
    }
}

impl Counters {
    pub(crate) fn refused(&self, refusal: Refusal) {
        self.refusals.0[refusal.index()].add(1);
    }

    pub(crate) fn read(&self, adopting: usize, sites: [usize; 2], calls: u64) -> Stats {
        let refusals = Refusal::WORDS.iter().zip(&self.refusals.0);
        Stats {
            sessions: self.sessions.read(),
            adopting: adopting as u64,
            users_online: self.users_online.read(),
            sites: sites[0] as u64,
            sites_unreadable: sites[1] as u64,
            sign_ins: self.sign_ins.read(),
            new_guests: self.new_guests.read(),
            guests_refused: self.guests_refused.read(),
            requests_refused: self.requests_refused.read(),
            messages: self.messages.read(),
            repeated: self.repeated.read(),
            changes: self.changes.read(),
            deliveries: self.deliveries.read(),
            behind: self.behind.read(),
            positions_ahead: self.positions_ahead.read(),
            calls,
            calls_begun: self.calls.read(),
            calls_accepted: self.calls_accepted.read(),
            refusals: refusals.map(|(word, count)| (*word, count.read())).collect(),
        }
    }
}

#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn subtract(&self, count: u64) {
        self.0.fetch_sub(count, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

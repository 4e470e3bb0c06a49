//! Memory for connections before their client is authenticated.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use edge::Handle;

/// Longest hello, in a frame or in the body of a POST: a token of 8 KiB and the fields around it.
pub(crate) const HELLO_BYTES: usize = 10 * 1024;

/// So much of an unfinished body each connection may hold; only what is beyond counts against the budget.
const FREE_BYTES: usize = 8 * 1024;

/// Free bytes of an unfinished head. Honest heads are shorter, and come in one packet.
const FREE_HEAD_BYTES: usize = 2 * 1024;

/// All that is held beyond that, by all connections of a worker.
const BUDGET_BYTES: usize = 4 * 1024 * 1024;

/// Unfinished heads of requests, and unfinished bodies of requests whose sender is not known yet, of one worker.
///
/// Beyond the budget the one that has been unfinished for longest is dropped: an honest one is complete within a round trip or
/// two, so those who send slowly on purpose displace each other.
#[derive(Default)]
pub(crate) struct Unproven {
    bytes: Rc<Cell<usize>>,
    /// Some of them have finished since.
    oldest_first: VecDeque<Handle>,
}

/// The part of one head or body. Given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    bytes: usize,
    all: Rc<Cell<usize>>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.set(self.all.get() - self.bytes);
    }
}

impl Unproven {
    /// The body that arrives on this connection takes so much memory now.
    pub(crate) fn hold(&mut self, held: &mut Option<Held>, bytes: usize, connection: Handle) {
        self.count(held, bytes.saturating_sub(FREE_BYTES), connection);
    }

    /// So much of a head has arrived on this connection.
    pub(crate) fn hold_head(&mut self, held: &mut Option<Held>, bytes: usize, connection: Handle) {
        self.count(held, bytes.saturating_sub(FREE_HEAD_BYTES), connection);
    }

    fn count(&mut self, held: &mut Option<Held>, bytes: usize, connection: Handle) {
        if bytes == 0 {
            return;
        }
        let held = held.get_or_insert_with(|| {
            self.oldest_first.push_back(connection);
            Held { bytes: 0, all: Rc::clone(&self.bytes) }
        });
        self.bytes.set(self.bytes.get() - held.bytes + bytes);
        held.bytes = bytes;
    }

    /// The connection to refuse now, if too much is held. It may have finished meanwhile.
    pub(crate) fn next_to_drop(&mut self) -> Option<Handle> {
        if self.bytes.get() <= BUDGET_BYTES {
            return None;
        }
        self.oldest_first.pop_front()
    }

    /// Bounds the list: called with every tick.
    pub(crate) fn forget_finished(&mut self, is_unfinished: impl FnMut(&Handle) -> bool) {
        self.oldest_first.retain(is_unfinished);
    }
}

//! The limit for all pending output of a worker: peers that do not read must not use up its memory.
//!
//! Pending bytes are counted as they are added and removed, which counts bytes that connections share several times. So once the
//! count exceeds the worker's share, the memory is measured. If it really exceeds the share, connections lose their queue, those
//! with the most bytes first.

use crate::Protocol;
use crate::engine::Engine;
use crate::output::SharedSends;

/// Ticks between two measurements while connections lose their queues.
const EVERY: u32 = 2;
/// Ticks after a measurement without anything to free.
const REST: u32 = 20;
/// Bytes per connection that are added to the growth before the next measurement, because a measurement visits each.
const GROWTH_PER_CONNECTION: usize = 128;

/// Time of the next measurement: a tick, or earlier when more bytes are pending.
#[derive(Debug, Default)]
pub(crate) struct Ceiling {
    next_tick: u32,
    next_waiting: usize,
}

impl<P: Protocol> Engine<P> {
    /// Call at each tick and at the end of each turn. It costs nothing while less than half of the limit is pending.
    pub(super) fn keep_output_memory(&mut self) {
        let limit = self.shared.limits.output_memory;
        let tick = self.shared.tick();
        let waiting = self.shared.outgoing;
        // A growing buffer has up to twice the capacity of its content.
        if waiting <= limit / 2 || tick < self.ceiling.next_tick && waiting < self.ceiling.next_waiting {
            return;
        }
        self.reclaim_output(limit);
        let growth = limit / 8 + GROWTH_PER_CONNECTION * self.slots.len();
        self.ceiling.next_waiting = self.shared.outgoing.saturating_add(growth);
    }

    fn reclaim_output(&mut self, limit: usize) {
        let mut shared = SharedSends::default();
        let mut outputs = Vec::new();
        let mut total = 0;
        for slot in self.slots.slots() {
            let Some((generation, entry)) = self.slots.at(slot) else { continue };
            let Some(output) = &entry.line.output else { continue };
            let own = output.measure(&mut shared);
            total += own;
            outputs.push((output.len(), own, self.shared.handle(slot, generation)));
        }
        total += shared.1;
        self.ceiling.next_tick = self.shared.tick() + if total > limit { EVERY } else { REST };
        if total <= limit {
            return;
        }
        outputs.sort_unstable_by_key(|(waiting, ..)| std::cmp::Reverse(*waiting));
        for (_, own, handle) in outputs {
            if total <= limit / 4 * 3 {
                break;
            }
            let Some(entry) = self.slots.get_mut(handle.slot(), handle.generation()) else { continue };
            let freed = entry.line.output.as_ref().map_or(0, |output| output.unmeasure(&mut shared));
            total = total.saturating_sub(own + freed);
            self.shared.tally().output_reclaimed.add(1);
            self.call(handle.slot(), |protocol, conn, io| protocol.reclaim(conn, io));
        }
    }
}

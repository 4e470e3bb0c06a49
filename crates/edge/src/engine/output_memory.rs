//! The ceiling for all output of a worker: peers that do not read must not take its memory.
//!
//! The bytes that wait are counted as they come and go, which counts bytes that many connections share many times. So once a
//! worker seems to be above its share, the memory is measured, and where it really is above, connections lose their queue, those
//! with most in it first.

use crate::engine::Engine;
use crate::output::SharedSends;
use crate::{Handle, Protocol};

/// Ticks between two looks. Between them more may come than fits.
const EVERY: u32 = 2;
/// Ticks until the next look, after a look that found no memory to free.
const REST: u32 = 20;

/// When to look next.
#[derive(Debug, Default)]
pub(crate) struct Ceiling {
    next: u32,
}

impl<P: Protocol> Engine<P> {
    /// Call at each tick.
    pub(super) fn keep_output_memory(&mut self) {
        let limit = self.shared.limits.output_memory;
        let tick = self.shared.tick();
        // A buffer that grows has up to twice the room of what is in it.
        if self.shared.outgoing <= limit / 2 || tick < self.ceiling.next {
            return;
        }
        let mut shared = SharedSends::default();
        let mut outputs = Vec::new();
        let mut total = 0;
        for slot in self.slots.slots() {
            let Some((generation, entry)) = self.slots.at(slot) else { continue };
            let Some(output) = &entry.line.output else { continue };
            let own = output.measure(&mut shared);
            total += own;
            outputs.push((output.len(), own, Handle::new(self.shared.worker, slot, generation)));
        }
        total += shared.1;
        self.ceiling.next = tick + if total > limit { EVERY } else { REST };
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

//! Connections whose output waits for more, with the end of their wait.

/// A connection waits for this many ticks at most, and for half of them on average.
const TICKS: usize = 2;

/// A list for each tick of the wait, so that not all are written at one moment. A connection that was written early, because of
/// output that does not wait, may be in its list again; it is written once.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    lists: [Vec<u32>; TICKS],
    /// All lists up to this tick are written.
    seen: u32,
}

impl Gathered {
    pub(crate) fn add(&mut self, slot: u32) {
        self.lists[slot as usize % TICKS].push(slot);
    }

    /// Takes the connections whose wait ends with `tick`, or ended in missed ticks.
    pub(crate) fn due(&mut self, tick: u32) -> Vec<u32> {
        let passed = tick.saturating_sub(self.seen).min(TICKS as u32);
        let due = (0..passed).flat_map(|back| {
            let list = &mut self.lists[(tick - back) as usize % TICKS];
            // Frees the list after a burst.
            std::mem::take(list)
        });
        let due = due.collect();
        self.seen = tick;
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_connection_is_due_once_within_its_ticks() {
        let mut gathered = Gathered::default();
        (0..4).for_each(|slot| gathered.add(slot));
        assert_eq!(gathered.due(1), [1, 3]);
        gathered.add(5);
        assert_eq!(gathered.due(2), [0, 2]);
        assert_eq!(gathered.due(3), [5]);
        assert!(gathered.due(4).is_empty());
    }

    #[test]
    fn a_delayed_worker_catches_up_every_tick() {
        let mut gathered = Gathered::default();
        assert!(gathered.due(8).is_empty());
        (0..4).for_each(|slot| gathered.add(slot));
        let mut due = gathered.due(10);
        due.sort_unstable();
        assert_eq!(due, [0, 1, 2, 3]);
        gathered.add(1);
        assert!(gathered.due(10).is_empty(), "the tick is the same");
        assert!(gathered.due(12).contains(&1));
    }
}

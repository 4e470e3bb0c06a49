//! Coarse timers: a wheel of slot numbers, re-armed lazily.

use std::time::Duration;

/// One tick of the wheel. A timer fires up to this late, never early.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Ticks of one turn of the wheel; later timers are visited once per turn and put back.
const BUCKETS: u32 = 1024;

/// The timer of a connection: eight bytes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timer {
    /// The tick at which it fires; 0 while it is not set.
    deadline: u32,
    /// The tick whose bucket has the valid entry; 0 if none. Entries elsewhere are stale.
    armed: u32,
}

impl Timer {
    /// The tick at which it fires.
    pub(crate) fn deadline(self) -> Option<u32> {
        (self.deadline != 0).then_some(self.deadline)
    }

    #[cfg(test)]
    fn is_set(self) -> bool {
        self.deadline != 0
    }
}

/// Moving a timer later, or clearing it, only writes to the connection; its entry is visited too early and put back. Moving it
/// earlier adds an entry; the old one is ignored.
pub(crate) struct Wheel {
    buckets: Box<[Vec<u32>]>,
    /// The last returned tick.
    now: u32,
    entries: usize,
}

impl Wheel {
    /// Ticks begin at 1: zero means "not set".
    pub(crate) fn new() -> Wheel {
        Wheel { buckets: (0..BUCKETS).map(|_| Vec::new()).collect(), now: 1, entries: 0 }
    }

    /// Entries in all buckets, the stale ones too.
    pub(crate) fn entries(&self) -> usize {
        self.entries
    }

    /// Sets the timer of a slot. A deadline that has passed fires with the next tick.
    pub(crate) fn set(&mut self, timer: &mut Timer, slot: u32, deadline: u32) {
        timer.deadline = deadline.max(self.now + 1);
        let at = timer.deadline.min(self.now + BUCKETS - 1);
        if timer.armed != 0 && timer.armed <= at {
            return;
        }
        timer.armed = at;
        self.buckets[(at % BUCKETS) as usize].push(slot);
        self.entries += 1;
    }

    pub(crate) fn clear(&mut self, timer: &mut Timer) {
        timer.deadline = 0;
    }

    /// Advances by one tick unless `until` is reached: returns the tick and the slots for [`Wheel::visit`].
    pub(crate) fn step(&mut self, until: u32) -> Option<(u32, Vec<u32>)> {
        if self.now >= until {
            return None;
        }
        self.now += 1;
        let due = std::mem::take(&mut self.buckets[(self.now % BUCKETS) as usize]);
        self.entries -= due.len();
        Some((self.now, due))
    }

    /// Whether the timer of a slot from the bucket of `tick` fires; a later one is put back.
    pub(crate) fn visit(&mut self, timer: &mut Timer, slot: u32, tick: u32) -> bool {
        if timer.armed != tick {
            return false;
        }
        timer.armed = 0;
        if timer.deadline == 0 {
            return false;
        }
        if timer.deadline > tick {
            self.set(timer, slot, timer.deadline);
            return false;
        }
        timer.deadline = 0;
        true
    }

    /// Removes all entries, so that the owner can arm each live timer again with [`Wheel::rearm`]. Called when most entries are stale: a
    /// protocol that keeps moving its timer earlier must not fill memory.
    pub(crate) fn forget_entries(&mut self) {
        for bucket in &mut self.buckets {
            *bucket = Vec::new();
        }
        self.entries = 0;
    }

    pub(crate) fn rearm(&mut self, timer: &mut Timer, slot: u32) {
        timer.armed = 0;
        if timer.deadline != 0 {
            self.set(timer, slot, timer.deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[derive(Debug, Clone)]
    enum Step {
        Set { slot: usize, after: u32 },
        Clear { slot: usize },
        Advance { ticks: u32 },
        Reuse { slot: usize },
        Rebuild,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..8usize, prop_oneof![0..5u32, 0..3000u32]).prop_map(|(slot, after)| Step::Set { slot, after }),
            1 => (0..8usize).prop_map(|slot| Step::Clear { slot }),
            3 => prop_oneof![0..4u32, 0..2500u32].prop_map(|ticks| Step::Advance { ticks }),
            1 => (0..8usize).prop_map(|slot| Step::Reuse { slot }),
            1 => Just(Step::Rebuild),
        ]
    }

    proptest! {
        #[test]
        fn fires_like_a_sorted_map(steps in prop::collection::vec(step(), 1..120)) {
            let mut wheel = Wheel::new();
            let mut timers = [Timer::default(); 8];
            let mut model: BTreeMap<usize, u32> = BTreeMap::new();
            let mut now = 1;
            for step in steps {
                match step {
                    Step::Set { slot, after } => {
                        wheel.set(&mut timers[slot], slot as u32, now + after);
                        model.insert(slot, (now + after).max(now + 1));
                    }
                    Step::Clear { slot } => {
                        wheel.clear(&mut timers[slot]);
                        model.remove(&slot);
                    }
                    Step::Reuse { slot } => {
                        timers[slot] = Timer::default();
                        model.remove(&slot);
                    }
                    Step::Rebuild => {
                        wheel.forget_entries();
                        for (slot, timer) in timers.iter_mut().enumerate() {
                            wheel.rearm(timer, slot as u32);
                        }
                    }
                    Step::Advance { ticks } => {
                        let mut fired = Vec::new();
                        while let Some((tick, due)) = wheel.step(now + ticks) {
                            for slot in due {
                                if wheel.visit(&mut timers[slot as usize], slot, tick) {
                                    fired.push((tick, slot as usize));
                                }
                            }
                        }
                        now += ticks;
                        let mut expected: Vec<_> =
                            model.iter().filter(|(_, due)| **due <= now).map(|(slot, due)| (*due, *slot)).collect();
                        model.retain(|_, due| *due > now);
                        fired.sort_unstable();
                        expected.sort_unstable();
                        prop_assert_eq!(fired, expected);
                    }
                }
                prop_assert!(timers.iter().enumerate().all(|(slot, timer)| timer.is_set() == model.contains_key(&slot)));
            }
        }
    }

    #[test]
    fn moving_a_timer_later_adds_no_entry() {
        let mut wheel = Wheel::new();
        let mut timer = Timer::default();
        for after in 10..500 {
            wheel.set(&mut timer, 3, after);
        }
        assert_eq!(wheel.entries(), 1);
    }
}

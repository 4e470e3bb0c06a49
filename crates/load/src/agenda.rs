//! Actions with their times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

#[derive(Debug)]
pub(crate) struct Agenda<T>(BinaryHeap<Reverse<(Instant, T)>>);

impl<T: Ord> Default for Agenda<T> {
    fn default() -> Agenda<T> {
        Agenda(BinaryHeap::new())
    }
}

impl<T: Ord> Agenda<T> {
    pub(crate) fn push(&mut self, at: Instant, action: T) {
        self.0.push(Reverse((at, action)));
    }

    /// The next action that is due, with its time.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Instant, T)> {
        self.0.peek().filter(|Reverse((at, _))| *at <= now)?;
        self.0.pop().map(|Reverse(due)| due)
    }

    /// Drops actions, and returns their number.
    pub(crate) fn forget(&mut self, gone: impl Fn(&T) -> bool) -> u64 {
        let before = self.0.len();
        self.0.retain(|Reverse((_, action))| !gone(action));
        (before - self.0.len()) as u64
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn actions_come_in_the_order_of_their_times_without_forgotten_ones() {
        let now = Instant::now();
        let mut agenda = Agenda::default();
        for (after, member) in [(30, 1), (10, 2), (20, 3), (90, 4)] {
            agenda.push(now + Duration::from_millis(after), member);
        }
        assert_eq!(agenda.pop(now), None);
        assert_eq!(agenda.forget(|member| *member == 3), 1);
        let due = std::iter::from_fn(|| agenda.pop(now + Duration::from_millis(50)));
        assert_eq!(due.map(|(_, member)| member).collect::<Vec<_>>(), [2, 1]);
    }
}

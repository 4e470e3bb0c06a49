//! Checks one conversation's numbers at one member: each comes once, in order, without holes.

use std::collections::BTreeSet;

/// The order of a seq relative to the previous ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    InOrder,
    /// The seq was received before.
    Twice,
    /// An earlier seq has not come yet.
    Early,
    /// A later seq came before this one.
    Late,
}

/// Begins with the first seq seen, because earlier runs may have left messages.
#[derive(Debug, Default)]
pub(crate) struct SequenceCheck {
    next: u64,
    /// Numbers that came early.
    early: BTreeSet<u64>,
    first: u64,
}

impl SequenceCheck {
    pub(crate) fn add(&mut self, seq: u64) -> Arrival {
        if self.first == 0 {
            (self.first, self.next) = (seq, seq + 1);
            return Arrival::InOrder;
        }
        if seq > self.next {
            return if self.early.insert(seq) { Arrival::Early } else { Arrival::Twice };
        }
        if seq < self.next {
            // If the first two messages come in the wrong order, the second is before the beginning.
            return if seq < self.first { Arrival::Late } else { Arrival::Twice };
        }
        let filled = !self.early.is_empty();
        self.next += 1;
        while self.early.remove(&self.next) {
            self.next += 1;
        }
        if filled { Arrival::Late } else { Arrival::InOrder }
    }

    /// The greatest number so far; 0: none.
    pub(crate) fn last(&self) -> u64 {
        self.early.last().copied().unwrap_or(self.next.saturating_sub(1))
    }

    /// The last number before the first missing one; 0: none.
    pub(crate) fn last_in_order(&self) -> u64 {
        self.next.saturating_sub(1)
    }

    /// Numbers that never came although later ones did.
    pub(crate) fn holes(&self) -> u64 {
        let last = self.early.last().map_or(self.next, |last| last + 1);
        last - self.next - self.early.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn links() {
        let mut chain = SequenceCheck::default();
        let seen = [5, 6, 8, 8, 7, 9, 6, 4].map(|seq| chain.add(seq));
        use Arrival::*;
        assert_eq!(seen, [InOrder, InOrder, Early, Twice, Late, InOrder, Twice, Late]);
        assert_eq!((chain.holes(), chain.last()), (0, 9));
        chain.add(12);
        chain.add(14);
        assert_eq!((chain.last(), SequenceCheck::default().last()), (14, 0));
        assert_eq!(chain.holes(), 3);
    }

    proptest! {
        /// In any order, duplicates are counted exactly once for each repetition.
        #[test]
        fn any_order(mut seqs in prop::collection::vec(2_u64..40, 1..80)) {
            let mut chain = SequenceCheck::default();
            seqs.insert(0, 1);
            let twice = seqs.iter().filter(|seq| chain.add(**seq) == Arrival::Twice).count();
            let different: BTreeSet<u64> = seqs.iter().copied().collect();
            prop_assert_eq!(twice, seqs.len() - different.len());
            let last = different.last().copied().unwrap_or(0);
            prop_assert_eq!(chain.holes(), last - different.len() as u64);
        }
    }
}

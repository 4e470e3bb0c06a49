//! Unused buffers for reuse: few, small and bounded.

use crate::output::Output;

/// A larger buffer is not kept, because a small message would then hold its memory.
const LARGEST_KEPT: usize = 4 * 1024;

/// Received bytes of an incomplete message.
#[derive(Default)]
pub(crate) struct Remainder(pub(crate) Vec<u8>);

/// Reusable buffers. Connections take one when they have data to keep, and return it when it is empty.
pub(crate) struct Pool {
    // Boxed, because a connection holds one pointer, and the allocation of the box is the expensive part.
    #[expect(clippy::vec_box)]
    remainders: Vec<Box<Remainder>>,
    #[expect(clippy::vec_box)]
    outputs: Vec<Box<Output>>,
    kept: usize,
    limit: usize,
    /// The smallest number of each kind since the last [`Pool::shrink`]: that many were never needed.
    unused: (usize, usize),
}

impl Pool {
    pub(crate) fn new(limit: usize) -> Pool {
        Pool { remainders: Vec::new(), outputs: Vec::new(), kept: 0, limit, unused: (0, 0) }
    }

    pub(crate) fn take_remainder(&mut self) -> Box<Remainder> {
        let Some(remainder) = self.remainders.pop() else { return Box::default() };
        self.kept -= cost(remainder.0.capacity());
        self.unused.0 = self.unused.0.min(self.remainders.len());
        remainder
    }

    pub(crate) fn give_remainder(&mut self, mut remainder: Box<Remainder>) {
        if self.keeps(remainder.0.capacity()) {
            remainder.0.clear();
            self.remainders.push(remainder);
        }
    }

    pub(crate) fn take_output(&mut self) -> Box<Output> {
        let Some(output) = self.outputs.pop() else { return Box::default() };
        self.kept -= cost(output.capacity());
        self.unused.1 = self.unused.1.min(self.outputs.len());
        output
    }

    pub(crate) fn give_output(&mut self, mut output: Box<Output>) {
        // Shared bytes first, because they have other holders.
        output.clear();
        if self.keeps(output.capacity()) {
            self.outputs.push(output);
        }
    }

    /// Frees the buffers that were unused since the last call. A few buffers above the memory of a thousand closed connections would
    /// keep the allocator from returning that memory to the system.
    pub(crate) fn shrink(&mut self) {
        for remainder in self.remainders.drain(..self.unused.0.min(self.remainders.len())) {
            self.kept -= cost(remainder.0.capacity());
        }
        for output in self.outputs.drain(..self.unused.1.min(self.outputs.len())) {
            self.kept -= cost(output.capacity());
        }
        self.remainders.shrink_to(2 * self.remainders.len());
        self.outputs.shrink_to(2 * self.outputs.len());
        self.unused = (self.remainders.len(), self.outputs.len());
    }

    fn keeps(&mut self, capacity: usize) -> bool {
        let keeps = capacity <= LARGEST_KEPT && self.kept + cost(capacity) <= self.limit;
        if keeps {
            self.kept += cost(capacity);
        }
        keeps
    }
}

/// A buffer and its box.
fn cost(capacity: usize) -> usize {
    capacity + size_of::<Output>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_frees_its_memory() {
        let mut pool = Pool::new(64 * 1024);
        let mut outputs: Vec<_> = (0..1000).map(|_| pool.take_output()).collect();
        for output in &mut outputs {
            output.push(&[&[7; 1000]]);
        }
        for output in outputs {
            pool.give_output(output);
        }
        assert!(pool.kept <= 64 * 1024 && pool.kept > 32 * 1024);
        assert_eq!(pool.kept, pool.outputs.iter().map(|output| cost(output.capacity())).sum());
        assert_eq!(pool.take_output().len(), 0);
        assert_eq!(pool.kept, pool.outputs.iter().map(|output| cost(output.capacity())).sum());
    }

    #[test]
    fn unused_buffers_are_freed() {
        let mut pool = Pool::new(64 * 1024);
        let outputs: Vec<_> = (0..10).map(|_| pool.take_output()).collect();
        outputs.into_iter().for_each(|output| pool.give_output(output));
        pool.shrink();
        assert_eq!(pool.outputs.len(), 10, "all were needed since the beginning");
        let outputs: Vec<_> = (0..3).map(|_| pool.take_output()).collect();
        outputs.into_iter().for_each(|output| pool.give_output(output));
        pool.shrink();
        assert_eq!(pool.outputs.len(), 3);
        pool.shrink();
        assert_eq!((pool.outputs.len(), pool.kept), (0, 0));
    }

    #[test]
    fn large_buffers_are_not_kept() {
        let mut pool = Pool::new(1024 * 1024);
        let mut remainder = pool.take_remainder();
        remainder.0.resize(LARGEST_KEPT + 1, 0);
        pool.give_remainder(remainder);
        assert_eq!((pool.kept, pool.remainders.len()), (0, 0));
        let mut remainder = pool.take_remainder();
        remainder.0.resize(100, 0);
        pool.give_remainder(remainder);
        assert_eq!(pool.remainders.len(), 1);
        assert!(pool.take_remainder().0.is_empty());
    }
}

//! A queue with bounds on count and weight, from which threads take batches.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    ready: Condvar,
    /// Wakes a thread that gathers items when an urgent item is pushed.
    pressing: Condvar,
    most: usize,
    most_bytes: usize,
    /// The number of threads that take items.
    takers: usize,
}

struct State<T> {
    items: VecDeque<(T, usize)>,
    /// Items of the lowest priority, taken if there are no others.
    last: VecDeque<(T, usize)>,
    bytes: usize,
    sleeping: usize,
    /// A sleeping thread was woken and does not hold the lock yet. It also takes items that are pushed meanwhile, so
    /// they need no system call.
    coming: bool,
    /// A thread is gathering items.
    gathering: bool,
    /// An urgent item was pushed since the queue was empty.
    is_pressing: bool,
    /// How often other items were taken while items of the lowest priority waited.
    passed_over: u32,
    closed: bool,
}

/// The reason why an item was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    Full,
    Closed,
}

/// The priority of an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Haste {
    Pressing,
    Patient,
    Last,
}

impl<T> State<T> {
    fn len(&self) -> usize {
        self.items.len() + self.last.len()
    }
}

/// After other items were taken this often, some of the lowest priority are taken: they get the smaller part, but do
/// not starve.
const PATIENCE: u32 = 7;

/// If the queue grew beyond this capacity in a burst, it frees its memory when it is empty.
const KEPT: usize = 1_024;

impl<T> Queue<T> {
    pub(crate) fn new(most: usize, most_bytes: usize, takers: usize) -> Queue<T> {
        let state = State {
            items: VecDeque::new(),
            last: VecDeque::new(),
            bytes: 0,
            sleeping: 0,
            coming: false,
            gathering: false,
            is_pressing: false,
            passed_over: 0,
            closed: false,
        };
        Queue {
            state: Mutex::new(state),
            ready: Condvar::new(),
            pressing: Condvar::new(),
            most,
            most_bytes,
            takers: takers.max(1),
        }
    }

    /// Accepts items again, after [`close`](Self::close) and the end of all takers.
    pub(crate) fn reopen(&self) {
        self.lock().closed = false;
    }

    /// Never blocks. Accepts an item heavier than the whole bound only if the queue is empty.
    pub(crate) fn push(&self, item: T, bytes: usize) -> Result<(), (T, Refused)> {
        self.push_with(item, bytes, Haste::Pressing)
    }

    /// Pushes an item that may wait until others have gathered.
    pub(crate) fn push_patient(&self, item: T) -> Result<(), (T, Refused)> {
        self.push_with(item, 0, Haste::Patient)
    }

    /// Pushes an item of the lowest priority, which is taken after nearly all others, even later ones.
    pub(crate) fn push_last(&self, item: T) -> Result<(), (T, Refused)> {
        self.push_with(item, 0, Haste::Last)
    }

    fn push_with(&self, item: T, bytes: usize, haste: Haste) -> Result<(), (T, Refused)> {
        let mut state = self.lock();
        if state.closed {
            return Err((item, Refused::Closed));
        }
        let heavy = state.bytes > 0 && state.bytes + bytes > self.most_bytes;
        if state.len() >= self.most || heavy {
            return Err((item, Refused::Full));
        }
        state.bytes += bytes;
        let line = if haste == Haste::Last { &mut state.last } else { &mut state.items };
        line.push_back((item, bytes));
        if haste == Haste::Pressing && !std::mem::replace(&mut state.is_pressing, true) && state.gathering {
            self.pressing.notify_one();
        }
        self.wake_one(state);
        Ok(())
    }

    /// Waits for more items: at most `time`, and only until `enough` are queued or an urgent item comes.
    pub(crate) fn gather(&self, time: Duration, enough: usize) {
        let mut state = self.lock();
        state.gathering = true;
        let waits = |state: &mut State<T>| !state.is_pressing && !state.closed && state.len() < enough;
        state = self.pressing.wait_timeout_while(state, time, waits).expect(UNPOISONED).0;
        state.gathering = false;
    }

    /// Waits for items for at most `time`; false if none came.
    pub(crate) fn comes_within(&self, time: Duration) -> bool {
        let begin = Instant::now();
        let mut state = self.lock();
        while state.len() == 0 && !state.closed {
            let Some(left) = time.checked_sub(begin.elapsed()) else { return false };
            state.sleeping += 1;
            state = self.ready.wait_timeout(state, left).expect(UNPOISONED).0;
            state.sleeping -= 1;
            // Reset it even if another thread took the item: the next push must wake a thread.
            state.coming = false;
        }
        true
    }

    /// Waits for items and moves at most `most` of them into `into`, but no more than one thread's share. Takes items
    /// of the lowest priority only if there are no others, or [often enough](PATIENCE) passed over. False if the queue
    /// is closed and empty.
    pub(crate) fn take(&self, into: &mut Vec<T>, most: usize) -> bool {
        let mut state = self.lock();
        while state.len() == 0 {
            if state.closed {
                return false;
            }
            state.sleeping += 1;
            state = self.ready.wait(state).expect(UNPOISONED);
            state.sleeping -= 1;
            state.coming = false;
        }
        let mut freed = 0;
        let State { items, last, passed_over, .. } = &mut *state;
        let is_their_turn = items.is_empty() || (*passed_over >= PATIENCE && !last.is_empty());
        *passed_over = if is_their_turn || last.is_empty() { 0 } else { *passed_over + 1 };
        let line = if is_their_turn { last } else { items };
        let taken = line.len().div_ceil(self.takers).min(most);
        into.extend(line.drain(..taken).map(|(item, bytes)| {
            freed += bytes;
            item
        }));
        if line.is_empty() && line.capacity() > KEPT {
            line.shrink_to(KEPT);
        }
        state.bytes -= freed;
        if state.items.is_empty() {
            state.is_pressing = false;
        }
        if state.len() > 0 {
            self.wake_one(state);
        }
        true
    }

    /// Refuses new items; queued items can still be taken.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.ready.notify_all();
        self.pressing.notify_all();
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Makes a system call only if a thread sleeps and none is waking up. A thread that leaves items behind wakes the
    /// next.
    fn wake_one(&self, mut state: MutexGuard<'_, State<T>>) {
        if state.sleeping > 0 && !state.coming {
            state.coming = true;
            drop(state);
            self.ready.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().expect(UNPOISONED)
    }
}

const UNPOISONED: &str = "nothing that can panic runs under this lock";

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn it_bounds_count_and_weight_and_refuses_items_once_closed() {
        let queue = Queue::new(2, 10, 1);
        assert!(queue.push('a', 8).is_ok());
        assert_eq!(queue.push('b', 3), Err(('b', Refused::Full)));
        assert!(queue.push('c', 2).is_ok());
        assert_eq!(queue.push('d', 0), Err(('d', Refused::Full)));
        let mut taken = Vec::new();
        assert!(queue.take(&mut taken, 1));
        assert!(queue.push('e', 0).is_ok());
        queue.close();
        assert_eq!(queue.push('f', 0), Err(('f', Refused::Closed)));
        assert!(queue.take(&mut taken, 9));
        assert_eq!(taken, ['a', 'c', 'e']);
        assert!(!queue.take(&mut taken, 9));
    }

    #[test]
    fn items_of_the_lowest_priority_are_taken_when_there_are_no_others() {
        let queue = Queue::new(5, 10, 1);
        for (item, last) in [('a', true), ('b', false), ('c', true), ('d', false)] {
            let pushed = if last { queue.push_last(item) } else { queue.push(item, 1) };
            assert!(pushed.is_ok());
        }
        let mut taken = Vec::new();
        assert!(queue.take(&mut taken, 9) && taken == ['b', 'd'], "those that come last are left");
        assert!(queue.take(&mut taken, 1) && queue.push('e', 1).is_ok());
        assert!(queue.push_last('f').is_ok() && queue.len() == 3);
        assert!(queue.take(&mut taken, 9) && queue.take(&mut taken, 9));
        assert_eq!(taken, ['b', 'd', 'a', 'e', 'c', 'f']);
        (0..5).for_each(|_| assert!(queue.push_last('x').is_ok()));
        assert_eq!(queue.push('y', 0), Err(('y', Refused::Full)), "the bound is for both");
    }

    #[test]
    fn items_of_the_lowest_priority_do_not_starve() {
        let queue = Queue::new(99, 0, 1);
        (0..5).for_each(|_| assert!(queue.push_last(true).is_ok()));
        let mut taken = Vec::new();
        for _ in 0..24 {
            assert!(queue.push(false, 0).is_ok() && queue.take(&mut taken, 1));
        }
        let turns: Vec<_> =
            taken.iter().enumerate().filter(|(_, last)| **last).map(|(turn, _)| turn).collect();
        assert_eq!(turns, [7, 15, 23]);
    }

    /// A woken thread also takes items pushed meanwhile. No order of wake-ups leaves an item behind.
    #[test]
    fn many_threads_take_each_item_once() {
        const ITEMS: usize = 20_000;
        let queue = Queue::new(ITEMS, 0, 3);
        let mut all: Vec<usize> = std::thread::scope(|threads| {
            let takers: Vec<_> = (1..=3)
                .map(|most| {
                    let queue = &queue;
                    threads.spawn(move || {
                        let (mut mine, mut batch) = (Vec::new(), Vec::new());
                        while queue.take(&mut batch, most) {
                            mine.append(&mut batch);
                        }
                        mine
                    })
                })
                .collect();
            let pushers: Vec<_> = (0..2)
                .map(|half| {
                    let queue = &queue;
                    threads.spawn(move || {
                        (half..ITEMS).step_by(2).for_each(|item| queue.push(item, 0).expect("there is room"));
                    })
                })
                .collect();
            pushers.into_iter().for_each(|pusher| pusher.join().unwrap());
            queue.close();
            takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert!(all.into_iter().eq(0..ITEMS));
    }

    #[test]
    fn comes_within_reports_items_and_takes_none() {
        let queue = Queue::new(2, 10, 1);
        assert!(!queue.comes_within(Duration::ZERO));
        assert!(queue.push('a', 1).is_ok());
        assert!(queue.comes_within(Duration::ZERO) && queue.len() == 1);
        let mut taken = Vec::new();
        assert!(queue.take(&mut taken, 1));
        queue.close();
        assert!(queue.comes_within(Duration::MAX), "its end is something that comes");
    }

    #[test]
    fn gathering_ends_with_the_first_urgent_item() {
        let queue = Queue::new(9, 10, 1);
        assert!(queue.push_patient('a').is_ok());
        queue.gather(Duration::from_millis(1), 9);
        queue.gather(Duration::MAX, 1);
        thread::scope(|scope| {
            let gathered = scope.spawn(|| queue.gather(Duration::MAX, 9));
            assert!(queue.push('b', 1).is_ok());
            gathered.join().unwrap();
            let mut taken = Vec::new();
            assert!(queue.take(&mut taken, 1));
            queue.gather(Duration::MAX, 9); // the item is still queued
            assert!(queue.take(&mut taken, 1));
            let gathered = scope.spawn(|| queue.gather(Duration::MAX, 2));
            queue.close();
            gathered.join().unwrap();
        });
    }

    #[test]
    fn no_thread_sleeps_while_items_are_queued() {
        let queue = Queue::new(8, usize::MAX, 2);
        let consume = || {
            let mut taken = Vec::new();
            loop {
                assert!(queue.comes_within(Duration::from_secs(30)), "it slept on an item");
                if !queue.take(&mut taken, 1) {
                    return taken.len();
                }
            }
        };
        thread::scope(|scope| {
            let consumers = [scope.spawn(consume), scope.spawn(consume)];
            for _ in 0..5_000 {
                assert!(queue.push((), 0).is_ok());
                while queue.len() > 0 {
                    thread::yield_now();
                }
            }
            queue.close();
            assert_eq!(consumers.map(|consumer| consumer.join().unwrap()).iter().sum::<usize>(), 5_000);
        });
    }

    #[test]
    fn one_of_many_takers_leaves_the_others_their_share() {
        let queue = Queue::new(9, 0, 4);
        (0..9).for_each(|item| assert!(queue.push(item, 0).is_ok()));
        let mut taken = Vec::new();
        let mut sizes = Vec::new();
        while queue.len() > 0 {
            assert!(queue.take(&mut taken, 2));
            sizes.push(taken.len());
        }
        assert_eq!(
            sizes,
            [2, 4, 6, 7, 8, 9],
            "a quarter of what waits, rounded up, and never more than was asked for"
        );
        assert!(taken.into_iter().eq(0..9));
    }

    #[test]
    fn an_item_above_the_bound_goes_in_alone() {
        let queue = Queue::new(5, 10, 1);
        assert!(queue.push((), 100).is_ok());
        assert!(queue.push((), 1).is_err());
        assert!(queue.take(&mut Vec::new(), 1));
        assert!(queue.push((), 1).is_ok());
    }
}

//! A queue in front of scarce work, as pictures and previews: fair between sites and between the users of a site, and bounded.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chat::{Refusal, SiteId, UserId};
use tokio::sync::oneshot;

/// Places for work, and the users who wait for one. Sites take turns, and so do the users of a site.
pub struct FairQueue {
    bounds: Bounds,
    state: Mutex<Waiting>,
}

/// How many may wait; one more is refused as busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub waiting: usize,
    pub of_site: usize,
    pub of_user: usize,
}

struct Waiting {
    free: usize,
    count: usize,
    by_site: Turns<SiteId, Turns<UserId, VecDeque<oneshot::Sender<()>>>>,
}

/// Values by key, and the order in which the keys have their turns.
struct Turns<K, V> {
    by_key: HashMap<K, V>,
    order: VecDeque<K>,
}

impl<K, V> Default for Turns<K, V> {
    fn default() -> Turns<K, V> {
        Turns { by_key: HashMap::new(), order: VecDeque::new() }
    }
}

impl<K: Copy + Eq + Hash, V: Default> Turns<K, V> {
    fn entry(&mut self, key: K) -> &mut V {
        let order = &mut self.order;
        self.by_key.entry(key).or_insert_with(|| {
            order.push_back(key);
            V::default()
        })
    }

    /// Takes from the key whose turn it is. It goes to the back, or away where `is_empty` says so.
    fn next<T>(
        &mut self,
        take: impl FnOnce(&mut V) -> Option<T>,
        is_empty: impl FnOnce(&V) -> bool,
    ) -> Option<T> {
        let key = self.order.pop_front()?;
        let value = self.by_key.get_mut(&key)?;
        let taken = take(value);
        match is_empty(value) {
            true => drop(self.by_key.remove(&key)),
            false => self.order.push_back(key),
        }
        taken
    }
}

impl Waiting {
    fn next(&mut self) -> Option<oneshot::Sender<()>> {
        let of_site =
            |users: &mut Turns<UserId, VecDeque<_>>| users.next(VecDeque::pop_front, VecDeque::is_empty);
        let next = self.by_site.next(of_site, |users| users.order.is_empty())?;
        self.count -= 1;
        Some(next)
    }

    /// Gives a place to the next who still waits for it.
    fn release(&mut self) {
        self.free += 1;
        while self.free > 0 {
            let Some(next) = self.next() else { return };
            self.free -= usize::from(next.send(()).is_ok());
        }
    }
}

/// The right to work, until it is dropped.
pub struct Place {
    queue: Arc<FairQueue>,
}

/// A free place, or one that comes later. Dropping it gives it up.
pub struct Turn(Standing);

enum Standing {
    Free(Place),
    Waiting(Waiter),
}

impl Drop for Place {
    fn drop(&mut self) {
        self.queue.lock().release();
    }
}

/// One who waits. Where it gives up at the moment in which it was called, the place goes on to the next.
struct Waiter {
    queue: Arc<FairQueue>,
    called: oneshot::Receiver<()>,
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.called.close();
        if self.called.try_recv().is_ok() {
            self.queue.lock().release();
        }
    }
}

impl Turn {
    /// [`Refusal::Overloaded`]: its turn did not come in time.
    pub async fn wait(self, patience: Duration) -> Result<Place, Refusal> {
        let mut waiter = match self.0 {
            Standing::Free(place) => return Ok(place),
            Standing::Waiting(waiter) => waiter,
        };
        match tokio::time::timeout(patience, &mut waiter.called).await {
            // The message is taken: from now on it is the place that gives the turn on.
            Ok(Ok(())) => Ok(Place { queue: Arc::clone(&waiter.queue) }),
            Ok(Err(_)) | Err(_) => Err(BUSY),
        }
    }
}

impl FairQueue {
    pub fn new(at_once: usize, bounds: Bounds) -> Arc<FairQueue> {
        let waiting = Waiting { free: at_once, count: 0, by_site: Turns::default() };
        Arc::new(FairQueue { bounds, state: Mutex::new(waiting) })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does not wait. [`Refusal::Overloaded`]: too many wait already.
    pub fn line_up(self: &Arc<FairQueue>, user: UserId) -> Result<Turn, Refusal> {
        let mut state = self.lock();
        if state.free > 0 {
            state.free -= 1;
            drop(state);
            return Ok(Turn(Standing::Free(Place { queue: Arc::clone(self) })));
        }
        let of_site = state.by_site.by_key.get(&user.site);
        let by_user = of_site.map(|users| &users.by_key);
        let of_user = by_user.and_then(|users| users.get(&user)).map_or(0, VecDeque::len);
        let of_site = by_user.map_or(0, |users| users.values().map(VecDeque::len).sum());
        let Bounds { waiting, of_site: most_of_site, of_user: most_of_user } = self.bounds;
        if state.count >= waiting || of_site >= most_of_site || of_user >= most_of_user {
            return Err(BUSY);
        }
        let (call, called) = oneshot::channel();
        state.by_site.entry(user.site).entry(user).push_back(call);
        state.count += 1;
        drop(state);
        Ok(Turn(Standing::Waiting(Waiter { queue: Arc::clone(self), called })))
    }
}

const BUSY: Refusal = Refusal::Overloaded { retry_after_ms: 3_000 };

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { waiting: 256, of_site: 64, of_user: 8 };
    const PATIENCE: Duration = Duration::from_secs(12);

    fn user(site: u32, num: u32) -> UserId {
        UserId { site: SiteId(site), num }
    }

    fn waiter(queue: &Arc<FairQueue>, user: UserId) -> Waiter {
        match queue.line_up(user) {
            Ok(Turn(Standing::Waiting(waiter))) => waiter,
            Ok(Turn(Standing::Free(_))) => panic!("a place is free"),
            Err(refusal) => panic!("{refusal}"),
        }
    }

    fn place(queue: &Arc<FairQueue>, user: UserId) -> Place {
        match queue.line_up(user) {
            Ok(Turn(Standing::Free(place))) => place,
            _ => panic!("no place is free"),
        }
    }

    /// Those who were called, in the order in which places became free.
    fn calls(queue: &Arc<FairQueue>, waiters: &mut Vec<(&'static str, Waiter)>) -> Vec<&'static str> {
        let mut called = Vec::new();
        for _ in 0..waiters.len() {
            queue.lock().release();
            let at = waiters.iter_mut().position(|(_, waiter)| waiter.called.try_recv().is_ok());
            called.push(waiters.remove(at.expect("one is called")).0);
        }
        called
    }

    #[test]
    fn sites_take_turns_and_so_do_users_of_a_site() {
        let queue = FairQueue::new(1, BOUNDS);
        let _held = place(&queue, user(1, 1));
        let mut waiters = Vec::new();
        for (name, by) in [
            ("a1", user(1, 1)),
            ("a1'", user(1, 1)),
            ("a1''", user(1, 1)),
            ("a2", user(1, 2)),
            ("b1", user(2, 1)),
        ] {
            waiters.push((name, waiter(&queue, by)));
        }
        assert_eq!(calls(&queue, &mut waiters), ["a1", "b1", "a2", "a1'", "a1''"]);
        let state = queue.lock();
        assert!(state.count == 0 && state.by_site.by_key.is_empty() && state.by_site.order.is_empty());
    }

    #[test]
    fn the_queue_is_bounded_for_users_and_sites_and_in_all() {
        let queue = FairQueue::new(1, BOUNDS);
        let _held = place(&queue, user(1, 1));
        let mut turns = Vec::new();
        let mut fill = |user: UserId| {
            let before = turns.len();
            while let Ok(turn) = queue.line_up(user) {
                turns.push(turn);
            }
            turns.len() - before
        };
        assert_eq!(fill(user(1, 1)), BOUNDS.of_user);
        assert_eq!((2..20).map(|num| fill(user(1, num))).sum::<usize>(), BOUNDS.of_site - BOUNDS.of_user);
        assert_eq!(fill(user(2, 1)), BOUNDS.of_user, "another site has room");
        let rest = BOUNDS.waiting - BOUNDS.of_site - BOUNDS.of_user;
        assert_eq!((3..99).map(|site| fill(user(site, 1))).sum::<usize>(), rest);
    }

    #[test]
    fn a_place_is_never_lost() {
        let queue = FairQueue::new(1, BOUNDS);
        let held = place(&queue, user(1, 1));
        let gone = waiter(&queue, user(1, 1));
        let called = waiter(&queue, user(1, 1));
        drop(gone);
        drop(held);
        // Called, and gone before it looked.
        drop(called);
        assert_eq!(queue.lock().free, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn somebody_who_waits_too_long_is_told_to_come_back() {
        let queue = FairQueue::new(1, BOUNDS);
        let held = place(&queue, user(1, 1));
        let turn = queue.line_up(user(2, 1)).unwrap();
        assert_eq!(turn.wait(PATIENCE).await.err(), Some(BUSY));
        drop(held);
        assert!(queue.line_up(user(2, 1)).unwrap().wait(PATIENCE).await.is_ok());
    }
}

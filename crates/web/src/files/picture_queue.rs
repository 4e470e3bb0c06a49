//! The queue in front of the picture process: fair between sites and between the users of a site, bounded, and with a budget of
//! CPU time for each.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chat::{FileType, Node, Refusal, SiteId, Timestamp, UserId};
use tokio::sync::oneshot;

use super::finish::{Made, Pictures};

/// Pictures that wait; one more is refused as busy.
const MOST_WAITING: usize = 256;
const MOST_WAITING_PER_SITE: usize = 64;
const MOST_WAITING_PER_USER: usize = 8;
/// A request waits this long. Then it is refused as busy, and asks again: what has arrived of the upload stays.
const PATIENCE: Duration = Duration::from_secs(12);

/// Who pays for a picture with CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureBy {
    pub user: UserId,
    pub is_guest: bool,
}

impl PictureBy {
    /// Number 0 is no user's: the site's own server.
    pub fn site(site: SiteId) -> PictureBy {
        PictureBy { user: UserId { site, num: 0 }, is_guest: false }
    }
}

/// Shared by everything that makes pictures.
pub struct PictureQueue {
    node: Arc<Node>,
    pictures: Arc<dyn Pictures>,
    clock: fn() -> Timestamp,
    line: Arc<Line>,
}

impl PictureQueue {
    /// `at_once`: picture processes at one time.
    pub fn new(
        node: Arc<Node>,
        pictures: Arc<dyn Pictures>,
        at_once: usize,
        clock: fn() -> Timestamp,
    ) -> PictureQueue {
        PictureQueue { node, pictures, clock, line: Arc::new(Line::new(at_once.max(1))) }
    }

    /// Waits for a turn, then works on a thread that may block. The CPU time of the pictures that the work makes is counted, also when
    /// nobody waits for the outcome any more. [`Refusal::RateLimited`]: the budget is spent; [`Refusal::Overloaded`]: the queue is full
    /// or slow.
    pub async fn run<T: Send + 'static>(
        &self,
        by: PictureBy,
        work: impl FnOnce(&dyn Pictures) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        self.node.may_make_picture(by.user, by.is_guest, (self.clock)())?;
        let place = self.line.enter(by.user, PATIENCE).await?;
        // Others of the same user may have been made meanwhile.
        self.node.may_make_picture(by.user, by.is_guest, (self.clock)())?;
        let (node, clock) = (Arc::clone(&self.node), self.clock);
        let metered = Metered { pictures: Arc::clone(&self.pictures), cpu_ms: AtomicU64::new(0) };
        let done = tokio::task::spawn_blocking(move || {
            let outcome = work(&metered);
            node.picture_made(by.user, by.is_guest, metered.cpu_ms.into_inner(), clock());
            drop(place);
            outcome
        });
        done.await.map_err(|_| Refusal::Unavailable)
    }
}

struct Metered {
    pictures: Arc<dyn Pictures>,
    cpu_ms: AtomicU64,
}

impl Pictures for Metered {
    fn make(&self, from: File, kind: FileType, whole: File, thumbnail: File) -> Made {
        let made = self.pictures.make(from, kind, whole, thumbnail);
        self.cpu_ms.fetch_add(made.cpu.as_millis() as u64, Ordering::Relaxed);
        made
    }
}

/// Who waits. Sites take turns, and so do the users of a site.
struct Line {
    state: Mutex<Waiting>,
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

/// The right to make a picture, until it is dropped.
struct Place {
    line: Arc<Line>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.line.lock().release();
    }
}

/// One who waits. Where it gives up at the moment in which it was called, the place goes on to the next.
struct Waiter {
    line: Arc<Line>,
    called: oneshot::Receiver<()>,
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.called.close();
        if self.called.try_recv().is_ok() {
            self.line.lock().release();
        }
    }
}

impl Line {
    fn new(at_once: usize) -> Line {
        Line { state: Mutex::new(Waiting { free: at_once, count: 0, by_site: Turns::default() }) }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn enter(self: &Arc<Line>, user: UserId, patience: Duration) -> Result<Place, Refusal> {
        let Some(mut waiter) = self.line_up(user)? else { return Ok(Place { line: Arc::clone(self) }) };
        match tokio::time::timeout(patience, &mut waiter.called).await {
            // The message is taken: from now on it is the place that gives the turn on.
            Ok(Ok(())) => Ok(Place { line: Arc::clone(self) }),
            Ok(Err(_)) | Err(_) => Err(BUSY),
        }
    }

    /// None: there is a free place, and it is taken.
    fn line_up(self: &Arc<Line>, user: UserId) -> Result<Option<Waiter>, Refusal> {
        let mut state = self.lock();
        if state.free > 0 {
            state.free -= 1;
            return Ok(None);
        }
        let of_site = state.by_site.by_key.get(&user.site);
        let by_user = of_site.map(|users| &users.by_key);
        let of_user = by_user.and_then(|users| users.get(&user)).map_or(0, VecDeque::len);
        let of_site = by_user.map_or(0, |users| users.values().map(VecDeque::len).sum());
        if state.count >= MOST_WAITING || of_site >= MOST_WAITING_PER_SITE || of_user >= MOST_WAITING_PER_USER
        {
            return Err(BUSY);
        }
        let (call, called) = oneshot::channel();
        state.by_site.entry(user.site).entry(user).push_back(call);
        state.count += 1;
        Ok(Some(Waiter { line: Arc::clone(self), called }))
    }
}

const BUSY: Refusal = Refusal::Overloaded { retry_after_ms: 3_000 };

#[cfg(test)]
mod tests {
    use super::*;

    fn user(site: u32, num: u32) -> UserId {
        UserId { site: SiteId(site), num }
    }

    /// Those who were called, in the order in which places became free.
    fn calls(line: &Arc<Line>, waiters: &mut Vec<(&'static str, Waiter)>) -> Vec<&'static str> {
        let mut called = Vec::new();
        for _ in 0..waiters.len() {
            line.lock().release();
            let at = waiters.iter_mut().position(|(_, waiter)| waiter.called.try_recv().is_ok());
            called.push(waiters.remove(at.expect("one is called")).0);
        }
        called
    }

    #[test]
    fn sites_take_turns_and_so_do_users_of_a_site() {
        let line = Arc::new(Line::new(1));
        assert!(line.line_up(user(1, 1)).unwrap().is_none(), "the free place");
        let mut waiters = Vec::new();
        for (name, by) in [
            ("a1", user(1, 1)),
            ("a1'", user(1, 1)),
            ("a1''", user(1, 1)),
            ("a2", user(1, 2)),
            ("b1", user(2, 1)),
        ] {
            waiters.push((name, line.line_up(by).unwrap().unwrap()));
        }
        assert_eq!(calls(&line, &mut waiters), ["a1", "b1", "a2", "a1'", "a1''"]);
        let state = line.lock();
        assert!(state.count == 0 && state.by_site.by_key.is_empty() && state.by_site.order.is_empty());
    }

    #[test]
    fn the_queue_is_bounded_for_users_and_sites_and_in_all() {
        let line = Arc::new(Line::new(1));
        let mut waiters = vec![line.line_up(user(1, 1)).unwrap()];
        let mut fill = |user: UserId| {
            let before = waiters.len();
            while let Ok(waiter) = line.line_up(user) {
                waiters.push(waiter);
            }
            waiters.len() - before
        };
        assert_eq!(fill(user(1, 1)), MOST_WAITING_PER_USER);
        assert_eq!(
            (2..20).map(|num| fill(user(1, num))).sum::<usize>(),
            MOST_WAITING_PER_SITE - MOST_WAITING_PER_USER
        );
        assert_eq!(fill(user(2, 1)), MOST_WAITING_PER_USER, "another site has room");
        let rest = MOST_WAITING - MOST_WAITING_PER_SITE - MOST_WAITING_PER_USER;
        assert_eq!((3..99).map(|site| fill(user(site, 1))).sum::<usize>(), rest);
    }

    #[test]
    fn a_place_is_never_lost() {
        let line = Arc::new(Line::new(1));
        let place = Place { line: Arc::clone(&line) };
        assert!(line.line_up(user(1, 1)).unwrap().is_none());
        let gone = line.line_up(user(1, 1)).unwrap().unwrap();
        let called = line.line_up(user(1, 1)).unwrap().unwrap();
        drop(gone);
        drop(place);
        // Called, and gone before it looked.
        drop(called);
        assert_eq!(line.lock().free, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn somebody_who_waits_too_long_is_told_to_come_back() {
        let line = Arc::new(Line::new(1));
        let place = line.enter(user(1, 1), PATIENCE).await.ok().unwrap();
        assert_eq!(line.enter(user(2, 1), PATIENCE).await.err(), Some(BUSY));
        drop(place);
        assert!(line.enter(user(2, 1), PATIENCE).await.is_ok());
    }
}

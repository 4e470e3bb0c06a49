//! Admission: if more logins or messages arrive than can be served soon, the rest get a time for a retry at
//! once.
//!
//! Without it, a crowd that connects at once gets no service: each login finishes long after its client has
//! timed out and retried. If the pending logins fill [`SOON_MS`], gateways let WebSockets wait in a queue. A
//! login that comes nevertheless is refused before anything is verified or read, if the pending ones fill
//! [`LATE_MS`]. Refused clients get retry times in sequence, at the rate at which logins finish.
//!
//! Messages have an admission of their own, with no effect until the store is behind. Otherwise all messages
//! would wait for each other. Refused senders with a fixed retry time would return all together, which alone
//! can keep a node from catching up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Refusal, StoreError, Timestamp};

/// An admitted client should be signed in within this time. Clients give up after some seconds.
const SOON_MS: u64 = 1_000;
/// Logins are refused if the pending ones need longer. It is more than [`SOON_MS`], so that clients of transports without a queue
/// find room while others wait in one.
const LATE_MS: u64 = 2_000;
/// After a crowd was seen, clients are expected for so long: they are in the queue of a gateway, or could not connect yet.
const UNSEEN_MS: u64 = 30_000;
/// The rate is measured over this time.
const WINDOW_MS: u64 = 250;
/// The rate of messages is measured over this time, because a disk may be busy for tenths of a second without an overload.
const MESSAGES_WINDOW_MS: u64 = 2_000;
/// Logins per second before any measurement; a burst of twice this size is admitted.
const FIRST_PACE: f64 = 2_000.0;
/// Messages per second while the store keeps up: as many as its queues hold.
const MESSAGES_FIRST_PACE: f64 = 65_536.0;
/// With fewer pending messages, the store is not considered behind.
const FEW_MESSAGES: f64 = 2_000.0;
/// The rate never falls below this, however slow the store is: these are always tried.
const LEAST_PACE: f64 = 500.0;
/// The measured pace stays valid for about this time after it ended: when a hundred thousand connections break and
/// reconnect, the node does nothing else for some seconds, which is no measure of its pace afterwards.
const MEMORY_MS: f64 = 10_000.0;
/// The share of the rate that is promised, so that clients find room when they return at their time.
const PROMISED: f64 = 0.9;
/// For messages, the promised rate is at least this. While other work uses the cores, the store's rate
/// does not predict its later one, but a queue promised at that rate keeps its length. One more refusal of a message
/// costs little.
const LEAST_MESSAGES_PROMISED: f64 = 5_000.0;
/// The longest retry time. Clients beyond it return too early and are refused once more.
const LONGEST_MS: u64 = 600_000;

/// Counts the pending ones, and measures the rate at which they finish.
pub struct Admission {
    pace: Mutex<Pace>,
    /// The pending ones fill [`SOON_MS`]. Changed under the lock of `pace`.
    is_crowded: AtomicBool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Logins,
    Messages,
}

struct Pace {
    of: Of,
    under_way: u32,
    /// Finished per second while the limit is reached.
    pace: f64,
    window: Timestamp,
    finished: u32,
    /// The limit was reached in this window, so the rate was the highest possible.
    was_full: bool,
    /// The latest promised retry time, in milliseconds.
    promised: f64,
    /// Clients are expected until then: promised ones, those of fronts, and those of a crowd without a promise.
    awaited_until: f64,
    /// It has grown since [`Admission::take_awaited`].
    awaits_longer: bool,
}

/// A pending login or message, until this is dropped.
pub struct UnderWay(Arc<Admission>);

impl Admission {
    pub fn of_logins() -> Admission {
        Admission::new(Of::Logins, FIRST_PACE)
    }

    pub(crate) fn of_messages() -> Admission {
        Admission::new(Of::Messages, MESSAGES_FIRST_PACE)
    }

    fn new(of: Of, pace: f64) -> Admission {
        let window = Timestamp(0);
        let pace = Pace {
            of,
            under_way: 0,
            pace,
            window,
            finished: 0,
            was_full: false,
            promised: 0.0,
            awaited_until: 0.0,
            awaits_longer: false,
        };
        Admission { pace: Mutex::new(pace), is_crowded: AtomicBool::new(false) }
    }

    /// Admits one. Err: the limit of pending ones is reached.
    pub fn enter(self: &Arc<Self>, now: Timestamp) -> Result<UnderWay, Refusal> {
        let mut pace = self.pace();
        let entered = pace.enter(now);
        self.note_crowd(&pace);
        drop(pace);
        entered?;
        Ok(UnderWay(self.clone()))
    }

    /// Whether as many logins are pending as finish within [`SOON_MS`], so that others should wait. Takes no lock.
    pub fn is_crowded(&self) -> bool {
        self.is_crowded.load(Ordering::Relaxed)
    }

    /// The time for which clients are expected to return, if it has become longer since the last call.
    pub fn take_awaited(&self, now: Timestamp) -> Option<u32> {
        let mut pace = self.pace();
        let left = pace.awaited_until - now.0 as f64;
        (std::mem::take(&mut pace.awaits_longer) && left > 0.0).then_some(left as u32)
    }

    /// Whether the time in which clients are expected to return is in the future, or passed at most `late_ms` ago.
    pub(crate) fn awaits_somebody(&self, late_ms: u64, now: Timestamp) -> bool {
        let until = self.pace().awaited_until;
        until + late_ms as f64 > now.0 as f64 && until <= latest(now)
    }

    /// A front expects clients to return within `left_ms`.
    pub(crate) fn awaits_clients_of_a_front(&self, left_ms: u32, now: Timestamp) {
        self.pace().awaits((now.0 + u64::from(left_ms)) as f64, now);
    }

    fn note_crowd(&self, pace: &Pace) {
        let is_crowded = pace.is_crowded();
        if is_crowded != self.is_crowded() {
            self.is_crowded.store(is_crowded, Ordering::Relaxed);
        }
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A later time was promised before the clock was set back.
fn latest(now: Timestamp) -> f64 {
    (now.0 + LONGEST_MS + SOON_MS) as f64
}

impl UnderWay {
    /// One has finished. Refusals on the way cost little and do not count for the rate: otherwise a flood of
    /// bad tokens would raise it.
    pub fn is_done(&self) {
        let mut pace = self.0.pace();
        pace.finished = pace.finished.saturating_add(1);
    }

    /// The store has answered.
    pub(crate) fn answered<T>(self, outcome: &Result<T, StoreError>) {
        if outcome.is_ok() {
            self.is_done();
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut pace = self.0.pace();
        pace.under_way -= 1;
        self.0.note_crowd(&pace);
    }
}

impl Pace {
    fn enter(&mut self, now: Timestamp) -> Result<(), Refusal> {
        self.measure(now);
        if self.is_crowded() {
            self.was_full = true;
            self.awaits((now.0 + UNSEEN_MS) as f64, now);
        }
        let refused_from = if self.of == Of::Messages { SOON_MS } else { LATE_MS };
        if !self.fill(refused_from) {
            self.under_way += 1;
            return Ok(());
        }
        self.was_full = true;
        // Pending ones come first. If the clock was set back, earlier promises are void.
        let (first, last) = ((now.0 + SOON_MS) as f64, (now.0 + LONGEST_MS) as f64);
        let promised = if self.promised > latest(now) { first } else { self.promised.max(first) };
        let least = if self.of == Of::Messages { LEAST_MESSAGES_PROMISED } else { 0.0 };
        self.promised = (promised + 1000.0 / (self.pace * PROMISED).max(least)).min(last);
        self.awaits(self.promised, now);
        Err(Refusal::Overloaded { retry_after_ms: (self.promised - now.0 as f64) as u32 })
    }

    fn is_crowded(&self) -> bool {
        self.of == Of::Logins && self.fill(SOON_MS)
    }

    /// Whether the pending ones need this time at least.
    fn fill(&self, ms: u64) -> bool {
        f64::from(self.under_way) >= self.pace * ms as f64 / 1000.0
    }

    /// Clients are expected to return until then, at most for [`LONGEST_MS`].
    fn awaits(&mut self, until: f64, now: Timestamp) {
        let until = until.min((now.0 + LONGEST_MS) as f64);
        if until > self.awaited_until || self.awaited_until > latest(now) {
            (self.awaited_until, self.awaits_longer) = (until, true);
        }
    }

    /// A rate below the limit, without refusals, does not lower the measured one.
    fn measure(&mut self, now: Timestamp) {
        let passed = now.0.abs_diff(self.window.0);
        let window = if self.of == Of::Messages { MESSAGES_WINDOW_MS } else { WINDOW_MS };
        if passed < window {
            return;
        }
        let seen = f64::from(self.finished) * 1000.0 / passed as f64;
        if self.of == Of::Messages {
            self.look_behind(seen);
        }
        let part = match self.was_full {
            _ if seen > self.pace => 0.5,
            true => (passed as f64 / MEMORY_MS).min(0.5),
            false => 0.0,
        };
        self.pace = (self.pace + (seen - self.pace) * part).max(LEAST_PACE);
        (self.window, self.finished, self.was_full) = (now, 0, false);
    }

    /// A store that needs twice the time for the pending messages is behind. From then on the limit is what
    /// it finishes in time. After it has caught up, the limit rises again step by step.
    fn look_behind(&mut self, seen: f64) {
        let under_way = f64::from(self.under_way);
        if under_way * 1000.0 > FEW_MESSAGES.max(2.0 * seen) * SOON_MS as f64 {
            self.pace = self.pace.min(under_way * 1000.0 / SOON_MS as f64);
            self.was_full = true;
        } else if !self.was_full {
            self.pace = (2.0 * self.pace).min(MESSAGES_FIRST_PACE);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use super::*;

    const START: u64 = 1_800_000_000_000;
    /// Logins of a crowd that are admitted at once.
    const BURST: u32 = (FIRST_PACE as u64 * LATE_MS / 1_000) as u32;

    /// A node that finishes a fixed number of logins per second, and the arrival times of clients.
    struct Crowd {
        admission: Arc<Admission>,
        per_second: f64,
        now: u64,
        under_way: VecDeque<(u64, UnderWay)>,
        coming: BTreeMap<u64, u32>,
        refusals: u64,
        slowest: u64,
        here: u64,
    }

    impl Crowd {
        fn new(per_second: f64) -> Crowd {
            Crowd {
                admission: Arc::new(Admission::of_logins()),
                per_second,
                now: START,
                under_way: VecDeque::new(),
                coming: BTreeMap::new(),
                refusals: 0,
                slowest: 0,
                here: 0,
            }
        }

        fn comes(&mut self, count: u32, at: u64) {
            *self.coming.entry(START + at).or_default() += count;
        }

        /// Runs until all clients are served, at most `longest`; answers the time it took.
        fn run(&mut self, longest: u64) -> u64 {
            let mut done = 0.0;
            let begin = self.now;
            while self.now < begin + longest && !(self.coming.is_empty() && self.under_way.is_empty()) {
                self.now += 1;
                let now = self.now;
                done = (done + self.per_second / 1000.0).min(self.under_way.len() as f64);
                while done >= 1.0 {
                    let Some((since, place)) = self.under_way.pop_front() else { break };
                    self.slowest = self.slowest.max(now - since);
                    self.here += 1;
                    done -= 1.0;
                    place.is_done();
                }
                for _ in 0..self.coming.remove(&now).unwrap_or(0) {
                    match self.admission.enter(Timestamp(now)) {
                        Ok(place) => self.under_way.push_back((now, place)),
                        Err(Refusal::Overloaded { retry_after_ms }) => {
                            self.refusals += 1;
                            let later = now + u64::from(retry_after_ms);
                            *self.coming.entry(later).or_default() += 1;
                        }
                        Err(other) => panic!("{other}"),
                    }
                }
            }
            self.now - begin
        }
    }

    #[test]
    fn promised_clients_are_awaited_until_their_time_has_passed() {
        let mut crowd = Crowd::new(500.0);
        let awaits = |crowd: &Crowd, at: u64| crowd.admission.awaits_somebody(10_000, Timestamp(START + at));
        assert!(!awaits(&crowd, 0));
        crowd.comes(BURST + 100_000, 1);
        crowd.run(1);
        assert_eq!(crowd.refusals, 100_000);
        let last = crowd.coming.keys().max().unwrap() - START;
        assert!(last > UNSEEN_MS);
        assert!(awaits(&crowd, 1) && awaits(&crowd, last + 9_999));
        assert!(!awaits(&crowd, last + 10_001));
        assert!(
            !crowd.admission.awaits_somebody(10_000, Timestamp(START - 3_600_000)),
            "the clock went back"
        );
    }

    #[test]
    fn a_crowd_is_told_before_a_login_is_refused() {
        let admission = Arc::new(Admission::of_logins());
        let mut under_way: Vec<UnderWay> = Vec::new();
        let mut enter = |count: u32| {
            under_way.extend((0..count).map(|_| admission.enter(Timestamp(START)).expect("there is room")));
            (admission.is_crowded(), admission.take_awaited(Timestamp(START)))
        };
        assert_eq!(enter(FIRST_PACE as u32 - 1), (false, None));
        assert_eq!(enter(1), (true, None));
        assert_eq!(enter(1), (true, Some(UNSEEN_MS as u32)), "clients of the crowd are expected");
        assert_eq!(enter(BURST / 2 - 1), (true, None), "once is enough");
        assert!(admission.enter(Timestamp(START)).is_err() && admission.awaits_somebody(0, Timestamp(START)));
        under_way.truncate(FIRST_PACE as usize - 1);
        assert!(!admission.is_crowded());
        assert!(!admission.awaits_somebody(0, Timestamp(START + UNSEEN_MS + 1)));
    }

    #[test]
    fn clients_in_the_line_of_a_front_are_awaited_too() {
        let admission = Arc::new(Admission::of_logins());
        let awaits = |at: u64| admission.awaits_somebody(10_000, Timestamp(START + at));
        admission.awaits_clients_of_a_front(60_000, Timestamp(START));
        admission.awaits_clients_of_a_front(5_000, Timestamp(START + 1_000));
        assert!(awaits(0) && awaits(69_999) && !awaits(70_001));
        admission.awaits_clients_of_a_front(u32::MAX, Timestamp(START));
        assert!(awaits(LONGEST_MS) && !awaits(LONGEST_MS + 10_001), "a front cannot ask for more");
        let day = 24 * 3_600_000;
        admission.awaits_clients_of_a_front(1_000, Timestamp(START - day));
        let awaits = |at: u64| admission.awaits_somebody(10_000, Timestamp(at));
        assert!(awaits(START - day) && !awaits(START - day + 11_001), "the clock went back");
    }

    #[test]
    fn a_few_logins_are_never_refused() {
        let mut crowd = Crowd::new(500.0);
        (1..20_000).step_by(10).for_each(|at| crowd.comes(4, at));
        crowd.run(60_000);
        assert_eq!((crowd.here, crowd.refusals), (8_000, 0));
    }

    #[test]
    fn a_crowd_is_admitted_at_about_the_rate_of_the_node() {
        for per_second in [300.0, 1_800.0, 15_000.0] {
            let mut crowd = Crowd::new(per_second);
            (1..=15_000).for_each(|at| crowd.comes(6, at));
            let took = crowd.run(600_000);
            let at_best = 15_000.0_f64.max(90_000.0 / per_second * 1000.0);
            assert_eq!(crowd.here, 90_000);
            assert!((took as f64) < at_best * 1.3 + 5_000.0, "{took} ms at {per_second}/s");
            assert!(crowd.refusals < 4 * 90_000, "{} refusals at {per_second}/s", crowd.refusals);
        }
    }

    #[test]
    fn admitted_clients_are_signed_in_soon() {
        let mut crowd = Crowd::new(1_800.0);
        crowd.comes(50_000, 1);
        crowd.run(120_000);
        assert_eq!(crowd.here, 50_000);
        assert!(crowd.slowest < 3 * SOON_MS, "{} ms", crowd.slowest);
    }

    #[test]
    fn a_stalled_store_is_detected() {
        let mut crowd = Crowd::new(0.001);
        (1..=30_000).for_each(|at| crowd.comes(1, at));
        crowd.run(30_000);
        assert!(crowd.under_way.len() <= BURST as usize, "{}", crowd.under_way.len());
        let before = crowd.refusals;
        crowd.per_second = 5_000.0;
        crowd.run(180_000);
        assert_eq!(crowd.here, 30_000);
        assert!(crowd.refusals - before < 30_000, "{}", crowd.refusals - before);
    }

    fn writers(per_second: f64) -> Crowd {
        Crowd { admission: Arc::new(Admission::of_messages()), ..Crowd::new(per_second) }
    }

    #[test]
    fn no_message_is_refused_while_the_store_keeps_up() {
        let mut writers = writers(70_000.0);
        (1..=20_000).for_each(|at| writers.comes(60, at));
        writers.run(30_000);
        assert_eq!((writers.here, writers.refusals), (1_200_000, 0));
    }

    #[test]
    fn a_briefly_busy_disk_refuses_no_message() {
        let mut writers = writers(5_000.0);
        (1..=20_000).for_each(|at| writers.comes(2, at));
        for _ in 0..8 {
            writers.run(1_700);
            writers.per_second = 0.001;
            writers.run(700);
            writers.per_second = 5_000.0;
        }
        writers.run(60_000);
        assert_eq!((writers.here, writers.refusals), (40_000, 0));
    }

    #[test]
    fn excess_messages_queue_and_are_rarely_refused_again() {
        let mut writers = writers(1_500.0);
        (1..=120_000).for_each(|at| writers.comes(2 + u32::from(at % 2 == 0), at));
        writers.run(120_000);
        assert!(writers.under_way.len() < 5_000, "{} are under way", writers.under_way.len());
        let behind = 300_000 - writers.here;
        assert!(writers.here > 150_000, "{} were stored at 1,500/s", writers.here);
        writers.per_second = 5_000.0;
        let took = writers.run(600_000);
        assert_eq!(writers.here, 300_000);
        assert!(took < 90_000, "{behind} that waited took {took} ms");
        assert!(writers.slowest < 6 * SOON_MS, "{} ms", writers.slowest);
        let per_second = writers.refusals * 1000 / (120_000 + took);
        assert!(per_second < LEAST_MESSAGES_PROMISED as u64, "{per_second} refusals per second");
    }

    #[test]
    fn a_briefly_slow_store_leaves_no_long_queue() {
        let mut writers = writers(300.0);
        (1..=12_000).for_each(|at| writers.comes(4, at));
        writers.run(12_000);
        writers.per_second = 20_000.0;
        let took = writers.run(600_000);
        assert_eq!(writers.here, 48_000);
        assert!(took < 12_000, "{took} ms after it was fast again");
    }

    #[test]
    fn refused_logins_do_not_change_the_rate() {
        let admission = Arc::new(Admission::of_logins());
        for millisecond in 0..5_000 {
            (0..50)
                .for_each(|_| drop(admission.enter(Timestamp(START + millisecond)).expect("there is room")));
        }
        let under_way: Vec<_> =
            std::iter::from_fn(|| admission.enter(Timestamp(START + 5_000)).ok()).take(9_000).collect();
        assert_eq!(under_way.len(), BURST as usize);
    }

    #[test]
    fn a_clock_set_back_causes_no_long_retry_time() {
        let admission = Arc::new(Admission::of_logins());
        let _under_way: Vec<_> = (0..BURST).map(|_| admission.enter(Timestamp(START)).ok()).collect();
        let refused = |at| match admission.enter(Timestamp(at)) {
            Err(Refusal::Overloaded { retry_after_ms }) => u64::from(retry_after_ms),
            _ => panic!("it is full"),
        };
        (0..10_000).for_each(|_| assert!(refused(START) <= LONGEST_MS));
        assert!(refused(START - 2 * LONGEST_MS) < 2 * SOON_MS);
    }
}

//! Admission: if more logins or messages arrive than can be served soon, the rest get a time for a retry at
//! once.
//!
//! Without it, a crowd that connects at once gets no service: each login finishes long after its client has
//! timed out and retried. So a login is refused before anything is verified or read, if the pending ones
//! already fill [`SOON_MS`]. Refused clients get retry times in sequence, at the rate at which logins finish.
//!
//! Messages have an admission of their own, with no effect until the store is behind. Otherwise all messages
//! would wait for each other. Refused senders with a fixed retry time would return all together, which alone
//! can keep a node from catching up.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Refusal, StoreError, Timestamp};

/// An admitted client should be signed in within this time. Clients give up after some seconds.
const SOON_MS: u64 = 1_000;
/// The rate is measured over this time.
const WINDOW_MS: u64 = 250;
/// The rate of messages is measured over this time, because a disk may be busy for tenths of a second without an overload.
const MESSAGES_WINDOW_MS: u64 = 2_000;
/// Logins per second before any measurement; a burst of this size is admitted.
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
pub struct Admission(Mutex<Pace>);

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
    /// A client was refused in this window, so the rate was the highest possible.
    was_full: bool,
    /// The latest promised retry time, in milliseconds.
    promised: f64,
    /// The latest one that a front has promised.
    promised_by_fronts: f64,
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
            promised_by_fronts: 0.0,
        };
        Admission(Mutex::new(pace))
    }

    /// Admits one. Err: the limit of pending ones is reached.
    pub fn enter(self: &Arc<Self>, now: Timestamp) -> Result<UnderWay, Refusal> {
        self.pace().enter(now)?;
        Ok(UnderWay(self.clone()))
    }

    /// Whether a promised retry time is in the future, or passed at most `late_ms` ago.
    pub(crate) fn awaits_somebody(&self, late_ms: u64, now: Timestamp) -> bool {
        let (promised, by_fronts) = {
            let pace = self.pace();
            (pace.promised, pace.promised_by_fronts)
        };
        // A later time means that the clock was set back.
        let last = (now.0 + LONGEST_MS + SOON_MS) as f64;
        let awaits = |promised: f64| promised + late_ms as f64 > now.0 as f64 && promised <= last;
        awaits(promised) || awaits(by_fronts)
    }

    /// A front has given out retry times, the latest in `left_ms`.
    pub(crate) fn is_promised_by_a_front(&self, left_ms: u32, now: Timestamp) {
        let mut pace = self.pace();
        let until = (now.0 + u64::from(left_ms).min(LONGEST_MS)) as f64;
        // After the clock was set back, an earlier promise is void.
        let last = (now.0 + LONGEST_MS) as f64;
        let earlier = Some(pace.promised_by_fronts).filter(|earlier| *earlier <= last);
        pace.promised_by_fronts = earlier.unwrap_or(0.0).max(until);
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
        self.0.pace().under_way -= 1;
    }
}

impl Pace {
    fn enter(&mut self, now: Timestamp) -> Result<(), Refusal> {
        self.measure(now);
        if f64::from(self.under_way) < self.pace * SOON_MS as f64 / 1000.0 {
            self.under_way += 1;
            return Ok(());
        }
        self.was_full = true;
        // Pending ones come first. If the clock was set back, earlier promises are void.
        let now = now.0 as f64;
        let (first, last) = (now + SOON_MS as f64, now + LONGEST_MS as f64);
        let promised = if self.promised > last + 1000.0 { first } else { self.promised.max(first) };
        let least = if self.of == Of::Messages { LEAST_MESSAGES_PROMISED } else { 0.0 };
        self.promised = (promised + 1000.0 / (self.pace * PROMISED).max(least)).min(last);
        Err(Refusal::Overloaded { retry_after_ms: (self.promised - now) as u32 })
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
        crowd.comes(2_001, 1);
        crowd.run(1);
        assert_eq!(crowd.refusals, 1);
        let last = crowd.coming.keys().max().unwrap() - START;
        assert!(awaits(&crowd, 1) && awaits(&crowd, last + 9_999));
        assert!(!awaits(&crowd, last + 10_001));
        assert!(
            !crowd.admission.awaits_somebody(10_000, Timestamp(START - 3_600_000)),
            "the clock went back"
        );
    }

    #[test]
    fn clients_in_the_line_of_a_front_are_awaited_too() {
        let admission = Arc::new(Admission::of_logins());
        let awaits = |at: u64| admission.awaits_somebody(10_000, Timestamp(START + at));
        admission.is_promised_by_a_front(60_000, Timestamp(START));
        admission.is_promised_by_a_front(5_000, Timestamp(START + 1_000));
        assert!(awaits(0) && awaits(69_999) && !awaits(70_001));
        admission.is_promised_by_a_front(u32::MAX, Timestamp(START));
        assert!(awaits(LONGEST_MS) && !awaits(LONGEST_MS + 10_001), "a front cannot ask for more");
        let day = 24 * 3_600_000;
        admission.is_promised_by_a_front(1_000, Timestamp(START - day));
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
        assert!(crowd.under_way.len() <= FIRST_PACE as usize, "{}", crowd.under_way.len());
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
            std::iter::from_fn(|| admission.enter(Timestamp(START + 5_000)).ok()).take(3_000).collect();
        assert_eq!(under_way.len(), FIRST_PACE as usize);
    }

    #[test]
    fn a_clock_set_back_causes_no_long_retry_time() {
        let admission = Arc::new(Admission::of_logins());
        let _under_way: Vec<_> = (0..2_000).map(|_| admission.enter(Timestamp(START)).ok()).collect();
        let refused = |at| match admission.enter(Timestamp(at)) {
            Err(Refusal::Overloaded { retry_after_ms }) => u64::from(retry_after_ms),
            _ => panic!("it is full"),
        };
        (0..10_000).for_each(|_| assert!(refused(START) <= LONGEST_MS));
        assert!(refused(START - 2 * LONGEST_MS) < 2 * SOON_MS);
    }
}

//! How long the writer waits for more requests before it commits.
//!
//! A commit costs a flush of the disk and a few pages, whether it has one message or fifty. At 2,000 messages a second
//! a commit for each message needed 1.7 times the CPU of the store's threads (`append_bench`). So commits begin at least
//! [`Options::interval`] apart, if the wait brings more requests.
//!
//! [`Options::interval`]: crate::Options::interval

use std::time::{Duration, Instant};

/// The time is an argument.
#[derive(Default)]
pub(crate) struct Pace {
    /// The beginning of the last commit.
    last: Option<Instant>,
    /// Whether the next batch was waited for.
    waited: bool,
    /// Waits in a row that brought no second request. A client that sends after each answer is alone in its batch.
    vain: u32,
    /// Commits that do not wait, after a vain wait.
    skips: u32,
}

/// A client that sends after each answer waits once in 65 messages.
const MOST_SKIPS_LOG2: u32 = 6;

impl Pace {
    /// The time to wait before a commit, if `queued` requests are there.
    pub(crate) fn wait(&mut self, interval: Duration, now: Instant) -> Duration {
        let wait = match self.last {
            Some(last) => interval.saturating_sub(now.saturating_duration_since(last)),
            None => Duration::ZERO,
        };
        self.waited = false;
        if wait.is_zero() {
            return wait;
        }
        if self.skips > 0 {
            self.skips -= 1;
            return Duration::ZERO;
        }
        self.waited = true;
        wait
    }

    /// Records a commit of `requests` that began at `now`.
    pub(crate) fn began(&mut self, requests: usize, now: Instant) {
        self.last = Some(now);
        if !self.waited {
            return;
        }
        if requests > 1 {
            self.vain = 0;
        } else {
            self.vain = (self.vain + 1).min(MOST_SKIPS_LOG2);
            self.skips = 1 << self.vain;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_millis(2);

    /// Waits of a writer whose commits take `commit`, for the requests of these times.
    fn waits(arrivals: impl IntoIterator<Item = Duration>, commit: Duration) -> (usize, Duration, usize) {
        let begin = Instant::now();
        let mut pace = Pace::default();
        let arrivals: Vec<Duration> = arrivals.into_iter().collect();
        let (mut at, mut now, mut commits) = (0, Duration::ZERO, 0);
        let (mut waits, mut waited) = (0, Duration::ZERO);
        while at < arrivals.len() {
            now = now.max(arrivals[at]);
            let wait = pace.wait(INTERVAL, begin + now);
            now += wait;
            waits += usize::from(!wait.is_zero());
            waited += wait;
            let requests = arrivals[at..].iter().take_while(|arrival| **arrival <= now).count();
            pace.began(requests, begin + now);
            now += commit;
            commits += 1;
            at += requests;
        }
        (waits, waited, commits)
    }

    fn every(time: Duration, count: u32) -> impl Iterator<Item = Duration> {
        (0..count).map(move |number| time * number)
    }

    #[test]
    fn rare_requests_never_wait() {
        let (waits, ..) = waits(every(Duration::from_millis(5), 100), Duration::from_micros(300));
        assert_eq!(waits, 0);
    }

    #[test]
    fn a_steady_stream_is_committed_once_in_an_interval() {
        let (_, _, commits) = waits(every(Duration::from_micros(500), 2_000), Duration::from_micros(300));
        assert!((495..=505).contains(&commits), "{commits} commits in 1 s");
    }

    #[test]
    fn a_client_that_sends_after_each_answer_hardly_waits() {
        let begin = Instant::now();
        let (mut pace, mut now, mut waited) = (Pace::default(), Duration::ZERO, Duration::ZERO);
        for _ in 0..1_000 {
            let wait = pace.wait(INTERVAL, begin + now);
            pace.began(1, begin + now + wait);
            waited += wait;
            now += wait + Duration::from_micros(300);
        }
        assert!(waited < Duration::from_millis(40), "{waited:?} of {now:?}");
    }
}

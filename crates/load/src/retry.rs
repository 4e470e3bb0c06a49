//! Delays before a retry, as the protocol's documentation requires and the widget implements.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use web_proto::{Code, Event, Return};

use crate::client::Masks;

const BACKOFF_MOST: Duration = Duration::from_secs(30);
/// Shortest delay before a refused message is sent again, even if the server allows less.
const REFUSED_LEAST: Duration = Duration::from_millis(250);
/// Delay before `watch` is sent again, if the server names no time.
const WATCH_WAIT: Duration = Duration::from_secs(1);

/// An `error` of the server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refusal<'a> {
    pub(crate) code: Code,
    /// Id of the refused message.
    pub(crate) id: Option<&'a str>,
    /// Milliseconds.
    pub(crate) retry_after: Option<u64>,
}

impl<'a> Refusal<'a> {
    pub(crate) fn of(event: &'a Event<'_>) -> Option<Refusal<'a>> {
        match event {
            Event::Error { code, id, retry_after, .. } => {
                Some(Refusal { code: *code, id: id.as_deref(), retry_after: *retry_after })
            }
            _ => None,
        }
    }
}

/// A fixed delay, which the server may have named, plus a random one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Delay {
    least: Duration,
    /// The random delay is at most this.
    spread: Duration,
}

impl Delay {
    /// The delay before a reconnect, after `failures` failures in a row. The server spreads its advice, so nothing is
    /// added to it.
    pub(crate) fn reconnect(advice: Option<u64>, failures: u32) -> Delay {
        match advice {
            Some(millis) => Delay { least: Duration::from_millis(millis), spread: Duration::ZERO },
            None => Delay { least: Duration::ZERO, spread: backoff(failures) },
        }
    }

    /// The delay before a message is sent again after its n-th refusal (from 1). None: never.
    pub(crate) fn resend(refusal: Refusal<'_>, times: u32) -> Option<Delay> {
        let least = Duration::from_millis(refusal.retry_after.unwrap_or(0)).max(REFUSED_LEAST);
        (refusal.code.comes_back() != Return::Never).then(|| Delay { least, spread: backoff(times) })
    }

    pub(crate) fn draw(self, chance: &mut Masks) -> Duration {
        self.least + self.spread.mul_f64(chance.chance())
    }
}

fn backoff(failures: u32) -> Duration {
    Duration::from_secs(1 << failures.min(5)).min(BACKOFF_MOST)
}

/// Members whose `watch` was refused, with the times of their retries. The refusal names no command, so further
/// refusals until then belong to the same `watch`.
#[derive(Debug, Default)]
pub(crate) struct WatchRetry(HashMap<u32, Instant>);

impl WatchRetry {
    /// None: no retry, or one is pending.
    pub(crate) fn refused(&mut self, member: u32, refusal: Refusal<'_>, now: Instant) -> Option<Delay> {
        let waits = self.0.get(&member).is_some_and(|at| *at > now);
        if waits || refusal.code.comes_back() != Return::Later {
            return None;
        }
        let least = refusal.retry_after.map_or(WATCH_WAIT, Duration::from_millis);
        self.0.insert(member, now + least);
        Some(Delay { least, spread: Duration::ZERO })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(wait: Delay) -> (u64, u64) {
        (wait.least.as_millis() as u64, (wait.least + wait.spread).as_millis() as u64)
    }

    fn refusal(code: Code, retry_after: Option<u64>) -> Refusal<'static> {
        Refusal { code, id: None, retry_after }
    }

    #[test]
    fn the_delay_of_the_server_is_kept() {
        assert_eq!(span(Delay::reconnect(Some(2_300), 4)), (2_300, 2_300));
        let resend = |refusal| span(Delay::resend(refusal, 1).unwrap());
        assert_eq!(resend(refusal(Code::Unavailable, Some(2_000))), (2_000, 4_000));
        assert_eq!(resend(refusal(Code::RateLimited, Some(10))), (250, 2_250));
    }

    #[test]
    fn a_watch_waits_once_however_often_it_is_refused() {
        let (mut again, now) = (WatchRetry::default(), Instant::now());
        let first = again.refused(7, refusal(Code::Unavailable, Some(2_000)), now).unwrap();
        assert_eq!(span(first), (2_000, 2_000));
        let soon = now + Duration::from_millis(1_999);
        assert_eq!(again.refused(7, refusal(Code::Unavailable, Some(2_000)), soon), None);
        assert!(again.refused(8, refusal(Code::RateLimited, None), soon).is_some());
        let after = now + Duration::from_millis(2_001);
        assert_eq!(span(again.refused(7, refusal(Code::Unavailable, None), after).unwrap()), (1_000, 1_000));
    }

    #[test]
    fn without_its_word_the_wait_is_of_chance_and_grows() {
        let spans = [0, 1, 4, 5, 60].map(|failures| span(Delay::reconnect(None, failures)));
        assert_eq!(spans, [(0, 1_000), (0, 2_000), (0, 16_000), (0, 30_000), (0, 30_000)]);
        let mut chance = Masks::new(7);
        let wait = Delay::resend(refusal(Code::Unavailable, Some(100)), 3).unwrap();
        let drawn: Vec<Duration> = (0..100).map(|_| wait.draw(&mut chance)).collect();
        assert!(drawn.iter().all(|wait| (250..=8_250).contains(&wait.as_millis())), "{drawn:?}");
        assert!(drawn.iter().max() > drawn.iter().min());
    }

    #[test]
    fn a_command_that_may_not_be_repeated_has_no_delay() {
        assert_eq!(Delay::resend(refusal(Code::Banned, Some(1)), 1), None);
        let expired = refusal(Code::TokenExpired, None);
        assert_eq!(WatchRetry::default().refused(1, expired, Instant::now()), None);
    }
}

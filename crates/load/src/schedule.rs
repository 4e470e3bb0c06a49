//! A fixed-rate schedule: commands are issued at their due times, independent of the responses.

use std::time::{Duration, Instant};

use crate::conductor::Conductor;
use crate::worker::{Mail, Script};

/// The messages from..until of a run are due; their latency counts from their due times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due {
    from: u64,
    until: u64,
    begin: Instant,
    /// Per second.
    rate: f64,
}

impl Due {
    /// Each message with its due time.
    pub(crate) fn each(self) -> impl Iterator<Item = (u64, Instant)> {
        (self.from..self.until).map(move |message| (message, self.moment(message)))
    }

    /// The due time of any message of the run.
    pub(crate) fn moment(self, message: u64) -> Instant {
        self.begin + Duration::from_secs_f64(message as f64 / self.rate)
    }
}

/// The commands that were queued so far.
pub(crate) struct Schedule {
    begin: Instant,
    rate: f64,
    written: u64,
}

impl Schedule {
    /// Begins now.
    pub(crate) fn new(rate: f64) -> Schedule {
        Schedule { begin: Instant::now(), rate, written: 0 }
    }

    pub(crate) fn write<S: Script>(
        &mut self,
        play: &mut Conductor<'_, S>,
        time: Duration,
        order: fn(Due) -> S::Order,
    ) {
        let begin = Instant::now();
        while begin.elapsed() < time && !play.watch.stopped() {
            self.beat(play, order);
        }
    }

    /// Orders the due messages, and waits until more are due.
    pub(crate) fn beat<S: Script>(&mut self, play: &mut Conductor<'_, S>, order: fn(Due) -> S::Order) {
        let now = Instant::now();
        play.watch.sample_if_due(now);
        if let Some(due) = self.due(now) {
            play.each(|| Mail::Order(order(due)));
        }
        play.nap_until(self.begin + Duration::from_secs_f64(self.written as f64 / self.rate));
    }

    fn due(&mut self, now: Instant) -> Option<Due> {
        // The first message is due at the beginning; each is ordered at its own due time, not at the next one's.
        let until = (now.saturating_duration_since(self.begin).as_secs_f64() * self.rate) as u64 + 1;
        let from = self.written;
        self.written = until.max(from);
        (until > from).then_some(Due { from, until, begin: self.begin, rate: self.rate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_due_once_at_its_own_moment_however_late_one_looks() {
        let mut schedule = Schedule::new(100.0);
        let begin = schedule.begin;
        let looks = [0, 15, 15, 40, 1_000].map(|millis| begin + Duration::from_millis(millis));
        let mut due = Vec::new();
        for now in looks {
            due.extend(schedule.due(now).into_iter().flat_map(Due::each));
            assert_eq!(due.len() as u128, (now - begin).as_millis() / 10 + 1, "those whose moment has come");
        }
        assert_eq!(due.len(), 101);
        for (number, (message, moment)) in due.into_iter().enumerate() {
            assert_eq!(
                (message, moment),
                (number as u64, begin + Duration::from_secs_f64(number as f64 / 100.0))
            );
        }
    }
}

//! The outage after the kill of a process, as the clients notice it: pauses, and connections that end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::worker::{add, read};

/// Shared by the conductor, which notes the kill, and the workers.
#[derive(Debug)]
pub(crate) struct Outage {
    zero: Instant,
    /// Microseconds after `zero`; 0: not yet.
    killed: AtomicU64,
    /// When the process had ended. It answers nothing that was sent later.
    ended: AtomicU64,
    last_delivery: AtomicU64,
    longest_pause: AtomicU64,
    /// Of a message that was sent after the kill.
    first_ack: AtomicU64,
    /// Connections that ended after the kill, by front.
    closed: Box<[AtomicU64]>,
    /// Microseconds: the longest time until a member comes back. 0: as the protocol advises.
    spread: AtomicU64,
    /// The members leave: what ends from now on has nothing to do with the kill.
    is_over: AtomicBool,
}

impl Outage {
    pub(crate) fn new(fronts: usize) -> Outage {
        Outage {
            zero: Instant::now(),
            killed: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            last_delivery: AtomicU64::new(0),
            longest_pause: AtomicU64::new(0),
            first_ack: AtomicU64::new(0),
            closed: (0..fronts).map(|_| AtomicU64::new(0)).collect(),
            spread: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    /// Members come back after a random time up to this, and not up to a second, as the protocol advises.
    pub(crate) fn spread_returns(&self, spread: Duration) {
        self.spread.store(spread.as_micros() as u64, Ordering::Relaxed);
    }

    pub(crate) fn spread(&self) -> Option<Duration> {
        Some(read(&self.spread)).filter(|spread| *spread > 0).map(Duration::from_micros)
    }

    /// The process has ended.
    pub(crate) fn has_begun(&self) -> bool {
        read(&self.ended) > 0
    }

    /// The process gets its signal after `now`.
    pub(crate) fn expect(&self, now: Instant) {
        self.killed.store(self.micros(now), Ordering::Relaxed);
    }

    /// The process got its signal, and ended before `ended`.
    pub(crate) fn begin(&self, killed: Instant, ended: Instant) {
        self.ended.store(self.micros(ended), Ordering::Relaxed);
        self.killed.store(self.micros(killed), Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// After the kill, and before the members leave.
    pub(crate) fn is_on(&self) -> bool {
        self.killed().is_some() && !self.is_over.load(Ordering::Relaxed)
    }

    pub(crate) fn killed(&self) -> Option<Instant> {
        let killed = read(&self.killed);
        (killed > 0).then(|| self.zero + Duration::from_micros(killed))
    }

    /// A message was delivered. Pauses count from the last delivery before the kill on.
    pub(crate) fn delivered(&self, now: Instant) {
        let now = self.micros(now);
        let last = self.last_delivery.fetch_max(now, Ordering::Relaxed);
        let killed = read(&self.killed);
        if killed > 0 && now > killed && last > 0 {
            self.longest_pause.fetch_max(now.saturating_sub(last), Ordering::Relaxed);
        }
    }

    /// A message was acknowledged that was last sent at `sent`.
    pub(crate) fn acknowledged(&self, sent: Instant, now: Instant) {
        let ended = read(&self.ended);
        if ended > 0 && read(&self.first_ack) == 0 && self.micros(sent) > ended {
            // Of several workers the first one counts.
            let _ =
                self.first_ack.compare_exchange(0, self.micros(now), Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    pub(crate) fn closed(&self, front: usize) {
        if self.is_on() {
            add(&self.closed[front], 1);
        }
    }

    /// Connections that ended after the outage: on the dead front, and on all others.
    pub(crate) fn closed_on(&self, dead: Option<usize>) -> (u64, u64) {
        let all: u64 = self.closed.iter().map(read).sum();
        let on_dead = dead.and_then(|front| self.closed.get(front)).map_or(0, read);
        (on_dead, all - on_dead)
    }

    /// The longest time without a delivery to anybody. None: nothing was delivered after the kill.
    pub(crate) fn longest_pause(&self) -> Option<Duration> {
        Some(read(&self.longest_pause)).filter(|pause| *pause > 0).map(Duration::from_micros)
    }

    /// From the kill to the first acknowledgement of a message that was sent after it.
    pub(crate) fn first_ack(&self) -> Option<Duration> {
        let (killed, first) = (read(&self.killed), read(&self.first_ack));
        (killed > 0 && first > 0).then(|| Duration::from_micros(first.saturating_sub(killed)))
    }

    /// At least 1, because 0 means never.
    fn micros(&self, now: Instant) -> u64 {
        (now.saturating_duration_since(self.zero).as_micros() as u64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_pause_begins_before_the_kill_and_ends_after_it() {
        let outage = Outage::new(2);
        let at = |millis| outage.zero + Duration::from_millis(millis);
        outage.delivered(at(10));
        outage.delivered(at(900));
        assert_eq!(outage.longest_pause(), None, "a pause before the kill is not one of it");
        outage.begin(at(1_000), at(1_001));
        outage.delivered(at(990));
        assert_eq!(outage.longest_pause(), None, "on its way at the kill");
        outage.delivered(at(4_000));
        outage.delivered(at(4_500));
        assert_eq!(outage.longest_pause(), Some(Duration::from_millis(3_010)));
    }

    #[test]
    fn only_a_message_sent_after_the_kill_proves_that_the_service_is_back() {
        let outage = Outage::new(1);
        let at = |millis| outage.zero + Duration::from_millis(millis);
        outage.acknowledged(at(10), at(20));
        outage.begin(at(1_000), at(1_020));
        outage.acknowledged(at(1_010), at(1_015));
        assert_eq!(outage.first_ack(), None);
        outage.acknowledged(at(1_100), at(5_000));
        outage.acknowledged(at(1_200), at(6_000));
        assert_eq!(outage.first_ack(), Some(Duration::from_secs(4)));
    }

    #[test]
    fn connections_that_end_on_the_dead_front_are_told_apart() {
        let outage = Outage::new(3);
        outage.closed(1);
        outage.expect(Instant::now());
        outage.closed(1);
        outage.begin(Instant::now(), Instant::now());
        [1, 2].into_iter().for_each(|front| outage.closed(front));
        outage.end();
        outage.closed(2);
        assert_eq!(outage.closed_on(Some(1)), (2, 1));
        assert_eq!(outage.closed_on(None), (0, 3));
    }
}

//! The time series of a run: samples at intervals, with a bound on their number.

use std::time::Duration;

use serde::Serialize;

use crate::conductor::own_cpu;
use crate::observer::Observer;
use crate::probe::{Probe, Sample};
use crate::traffic::{Counted, Traffic};

/// The first interval; it doubles each time the series is full.
pub(crate) const EVERY: Duration = Duration::from_millis(250);
const MOST: usize = 4_000;

/// One sample. Unreadable values are null.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Point {
    pub seconds: f64,
    pub active: u64,
    /// Messages since the beginning.
    pub sent: u64,
    pub delivered: u64,
    /// Presence events since the beginning.
    pub presence: u64,
    /// Latencies since the previous point.
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    pub resident_bytes: Option<u64>,
    /// The memory of the whole machine, so of both ends of each connection: only its growth is meaningful.
    pub kernel_bytes: Option<u64>,
    pub server_cpu_seconds: Option<f64>,
    pub generator_cpu_seconds: Option<f64>,
}

impl Point {
    pub(crate) fn look(seconds: f64, probe: &Probe, active: u64, traffic: &Traffic) -> Point {
        let Sample { resident_bytes, kernel_bytes, cpu_seconds, .. } = probe.look();
        let Counted { sent, delivered, presence, .. } = traffic.counted();
        let lately = traffic.look();
        Point {
            seconds,
            active,
            sent,
            delivered,
            presence,
            p50_ms: lately.map(|lately| lately.p50_ms),
            p99_ms: lately.map(|lately| lately.p99_ms),
            resident_bytes,
            kernel_bytes,
            server_cpu_seconds: cpu_seconds,
            // Inside of one process, the CPU is that of both sides.
            generator_cpu_seconds: own_cpu().filter(|_| *probe != Probe::Inside),
        }
    }
}

/// The samples so far.
#[derive(Debug)]
pub(crate) struct Series {
    points: Vec<Point>,
    every: Duration,
}

impl Default for Series {
    fn default() -> Series {
        Series { points: Vec::new(), every: EVERY }
    }
}

impl Series {
    /// Takes a sample if it is due, and passes it to the observer.
    pub(crate) fn look_if_due(&mut self, seconds: f64, watch: &dyn Observer, look: impl FnOnce() -> Point) {
        if self.is_due(seconds) {
            let point = look();
            watch.point(&point);
            self.points.push(point);
        }
    }

    pub(crate) fn points(&self) -> &[Point] {
        &self.points
    }

    pub(crate) fn take(&mut self) -> Vec<Point> {
        std::mem::take(&mut self.points)
    }

    /// A full series keeps every second point and doubles its interval.
    fn is_due(&mut self, seconds: f64) -> bool {
        if self.points.last().is_some_and(|last| seconds - last.seconds < self.every.as_secs_f64()) {
            return false;
        }
        if self.points.len() == MOST {
            let mut kept = false;
            self.points.retain(|_| {
                kept = !kept;
                kept
            });
            self.every *= 2;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::NoObserver;

    #[test]
    fn a_series_is_bounded_and_keeps_the_whole_run() {
        let mut series = Series::default();
        let seconds = |look: u32| f64::from(look) / 4.0;
        for look in 0..100_000 {
            let point = || Point { seconds: seconds(look), ..Point::default() };
            series.look_if_due(seconds(look), &NoObserver, point);
        }
        let points = series.take();
        assert!((MOST / 2..=MOST).contains(&points.len()), "{}", points.len());
        assert_eq!(points[0].seconds, 0.0);
        assert!(points.last().unwrap().seconds > seconds(99_900));
        let gaps: Vec<f64> = points.windows(2).map(|two| two[1].seconds - two[0].seconds).collect();
        assert!(gaps.iter().all(|gap| *gap == gaps[0]), "{gaps:?}");
    }
}

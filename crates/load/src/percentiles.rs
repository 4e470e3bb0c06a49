//! The percentiles of a distribution of times.

use std::fmt;

use hdrhistogram::Histogram;
use serde::Serialize;

/// Milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentiles {
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

impl Percentiles {
    /// Converts microseconds to milliseconds.
    pub(crate) fn of(times: &Histogram<u64>) -> Percentiles {
        let at = |quantile| times.value_at_quantile(quantile) as f64 / 1000.0;
        Percentiles {
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: times.max() as f64 / 1000.0,
        }
    }
}

impl fmt::Display for Percentiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p50 {:.2}, p90 {:.2}, p99 {:.2}, max {:.1} ms", self.p50, self.p90, self.p99, self.max)
    }
}

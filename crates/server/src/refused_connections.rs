//! Warns of connections that were refused, at most once a minute.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use edge::Totals;

const AT_MOST_EVERY: Duration = Duration::from_secs(60);

/// Refused connections since the last warning. Asked once per second.
#[derive(Debug, Default)]
pub(crate) struct RefusedConnections {
    warned_of: Refused,
    warned: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Refused {
    pub(crate) no_descriptors: u64,
    pub(crate) over_limit: u64,
    pub(crate) over_address_limit: u64,
}

impl RefusedConnections {
    /// The warning that is due now.
    pub(crate) fn due(&mut self, totals: &Totals, now: Instant) -> Option<Refused> {
        let all = Refused {
            no_descriptors: totals.no_descriptors,
            over_limit: totals.over_limit,
            over_address_limit: totals.over_address_limit,
        };
        let is_quiet =
            self.warned.is_some_and(|warned| now.saturating_duration_since(warned) < AT_MOST_EVERY);
        if all == self.warned_of || is_quiet {
            return None;
        }
        let before = std::mem::replace(&mut self.warned_of, all);
        self.warned = Some(now);
        Some(Refused {
            no_descriptors: all.no_descriptors - before.no_descriptors,
            over_limit: all.over_limit - before.over_limit,
            over_address_limit: all.over_address_limit - before.over_address_limit,
        })
    }
}

impl Refused {
    pub(crate) fn warn(self, last_address: Option<IpAddr>) {
        let Refused { no_descriptors, over_limit, over_address_limit } = self;
        if no_descriptors > 0 {
            tracing::warn!(
                connections = no_descriptors,
                "refused connections: no free descriptor; `kith doctor` prints how to raise the limit"
            );
        }
        if over_limit > 0 {
            tracing::warn!(connections = over_limit, "refused connections: edge.max_connections is reached");
        }
        if over_address_limit > 0 {
            tracing::warn!(
                connections = over_address_limit,
                address = last_address.map(|address| address.to_string()),
                "refused connections: an address has reached edge.connections_per_address; if it is your proxy, add \
                 it to web.trusted_proxies"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_refusals_is_one_warning_a_minute() {
        let mut refused = RefusedConnections::default();
        let begin = Instant::now();
        let totals = |no_descriptors| Totals { no_descriptors, over_limit: 3, ..Totals::default() };
        let at = |second| begin + Duration::from_secs(second);
        assert_eq!(refused.due(&Totals::default(), at(0)), None, "nothing happened");
        let first = Refused { no_descriptors: 10, over_limit: 3, over_address_limit: 0 };
        assert_eq!(refused.due(&totals(10), at(1)), Some(first));
        assert!((2..61).all(|second| refused.due(&totals(10 * second), at(second)).is_none()));
        let next = Refused { no_descriptors: 990, over_limit: 0, over_address_limit: 0 };
        assert_eq!(refused.due(&totals(1_000), at(61)), Some(next));
        assert_eq!(refused.due(&totals(1_000), at(200)), None, "the same figures are not told again");
    }
}

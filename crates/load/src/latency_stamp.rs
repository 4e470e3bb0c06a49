//! Message ids that contain the run, the number of the message and its due time, so that latency needs no table of sent
//! messages.

use std::time::{Duration, Instant};

use crate::conductor::now_unix;

/// Makes and reads the ids of one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamps {
    /// Distinguishes its messages from those of other runs.
    run: u64,
    /// Times in ids count from here.
    zero: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) number: u64,
    pub(crate) due: Instant,
}

impl Stamps {
    pub(crate) fn new_run() -> Stamps {
        Stamps { run: now_unix().as_millis() as u64, zero: Instant::now() }
    }

    /// A seed for random choices.
    pub(crate) fn seed(&self) -> u64 {
        self.run
    }

    pub(crate) fn zero(&self) -> Instant {
        self.zero
    }

    pub(crate) fn write(&self, number: u64, due: Instant) -> String {
        let micros = due.saturating_duration_since(self.zero).as_micros();
        format!("{:x}-{number:x}-{micros:x}", self.run)
    }

    /// None: not a message of this run.
    pub(crate) fn read(&self, id: &str) -> Option<Stamp> {
        let mut parts = id.split('-').map(|part| u64::from_str_radix(part, 16).ok());
        let (run, number, micros) = (parts.next()??, parts.next()??, parts.next()??);
        let due = self.zero.checked_add(Duration::from_micros(micros))?;
        (run == self.run && parts.next().is_none()).then_some(Stamp { number, due })
    }
}

/// Microseconds from a due time until now.
pub(crate) fn micros_since(due: Instant, now: Instant) -> u64 {
    now.saturating_duration_since(due).as_micros() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_of_other_runs_and_invalid_ids_are_not_ours() {
        let stamps = Stamps { run: 0xabc, zero: Instant::now() };
        for foreign in
            ["", "abc", "abc-1", "abd-1-2", "abc-1-2-3", "abc-x-2", "abc--2", "-1-2", "abc-1-+", "ä-1-2"]
        {
            assert_eq!(stamps.read(foreign), None, "{foreign}");
        }
        assert_eq!(stamps.read("abc-0-0"), Some(Stamp { number: 0, due: stamps.zero }));
        let _ = stamps.read(&format!("abc-1-{:x}", u64::MAX));
    }

    proptest! {
        #[test]
        fn a_due_time_is_kept_to_the_microsecond(number: u64, micros in 0..10_u64.pow(12)) {
            let stamps = Stamps { run: 1_795_000_000_000, zero: Instant::now() };
            let due = stamps.zero + Duration::from_micros(micros);
            prop_assert_eq!(stamps.read(&stamps.write(number, due)), Some(Stamp { number, due }));
        }
    }
}

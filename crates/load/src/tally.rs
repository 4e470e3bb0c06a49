//! The counts of one worker for a plan, and their sum over all workers.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::failures::Reasons;

/// The counts of one worker; of all workers, once added.
pub(crate) trait Tally: Default + Clone + Send + 'static {
    fn add(&mut self, other: &Self);

    /// Refused commands, by code.
    fn refused(&self) -> &Reasons;
}

/// Counts of failures alone.
impl Tally for Reasons {
    fn add(&mut self, other: &Reasons) {
        for (reason, count) in other {
            *self.entry(reason.clone()).or_default() += count;
        }
    }

    fn refused(&self) -> &Reasons {
        const { &Reasons::new() }
    }
}

/// Times by kind.
impl<K: Ord + Copy + Send + 'static> Tally for BTreeMap<K, Histogram<u64>> {
    fn add(&mut self, other: &BTreeMap<K, Histogram<u64>>) {
        for (kind, times) in other {
            add_times(self.entry(*kind).or_insert_with(histogram), times);
        }
    }

    fn refused(&self) -> &Reasons {
        const { &Reasons::new() }
    }
}

/// Microseconds, up to an hour, with three digits.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 3_600_000_000, 3).expect("the bounds are in order")
}

/// Adds the times of another worker.
pub(crate) fn add_times(all: &mut Histogram<u64>, other: &Histogram<u64>) {
    all.add(other).expect("all have the same bounds");
}

/// Declares a tally: histograms of microseconds, counts, refusals by code, and other tallies.
macro_rules! tally {
    (
        $(#[$of_type:meta])* $vis:vis struct $name:ident {
            times { $($(#[$of_times:meta])* $times:ident,)* }
            counts { $($(#[$of_count:meta])* $count:ident,)* }
            $(others { $($(#[$of_other:meta])* $other:ident: $type:ty,)* })?
        }
    ) => {
        $(#[$of_type])*
        #[derive(Debug, Clone)]
        $vis struct $name {
            $($(#[$of_times])* $vis $times: hdrhistogram::Histogram<u64>,)*
            $($(#[$of_count])* $vis $count: u64,)*
            $($($(#[$of_other])* $vis $other: $type,)*)?
            /// Refused commands, by code.
            $vis refused: crate::failures::Reasons,
        }

        impl Default for $name {
            fn default() -> $name {
                $name {
                    $($times: crate::tally::histogram(),)*
                    $($count: 0,)*
                    $($($other: Default::default(),)*)?
                    refused: crate::failures::Reasons::new(),
                }
            }
        }

        impl crate::tally::Tally for $name {
            fn add(&mut self, other: &$name) {
                $(crate::tally::add_times(&mut self.$times, &other.$times);)*
                $(self.$count += other.$count;)*
                $($(crate::tally::Tally::add(&mut self.$other, &other.$other);)*)?
                crate::tally::Tally::add(&mut self.refused, &other.refused);
            }

            fn refused(&self) -> &crate::failures::Reasons {
                &self.refused
            }
        }
    };
}
pub(crate) use tally;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failures::note;

    tally! {
        struct Both {
            times { waits, }
            counts { lost, }
        }
    }

    #[test]
    fn the_counts_of_all_workers_are_added() {
        let (mut all, mut one) = (Both::default(), Both::default());
        one.waits.record(1_000).unwrap();
        one.lost = 2;
        note(&mut one.refused, "full");
        all.add(&one);
        all.add(&one);
        assert_eq!((all.waits.len(), all.lost, all.refused()["full"]), (2, 4, 2));
        assert!(Reasons::new().refused().is_empty());
    }
}

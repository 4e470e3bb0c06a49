//! The counts of one worker of a visit run.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::Kind;
use crate::failures::Reasons;
use crate::tally::tally;

tally! {
    pub(super) struct Tally {
        times {}
        counts {
            failed,
            unchanged,
            bytes,
            /// Kept connections that broke during a request, which was then repeated, as browsers do (RFC 9112 §9.3.1).
            again,
            came,
            left,
            written,
            received,
            turns,
            late_turns,
        }
        others {
            times: BTreeMap<Kind, Histogram<u64>>,
            /// By kind and reason.
            failures: Reasons,
        }
    }
}

//! The counts of one worker of a visit run.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::Kind;
use crate::tally::histogram;

#[derive(Debug, Clone)]
pub(super) struct Tally {
    pub(super) times: BTreeMap<Kind, Histogram<u64>>,
    /// By kind and reason.
    pub(super) failures: BTreeMap<String, u64>,
    pub(super) failed: u64,
    pub(super) unchanged: u64,
    pub(super) bytes: u64,
    /// Kept connections that broke during a request, which was then repeated, as browsers do (RFC 9112 §9.3.1).
    pub(super) again: u64,
    pub(super) came: u64,
    pub(super) left: u64,
    pub(super) written: u64,
    pub(super) received: u64,
    pub(super) turns: u64,
    pub(super) late_turns: u64,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally {
            times: Kind::ALL.into_iter().map(|kind| (kind, histogram())).collect(),
            failures: BTreeMap::new(),
            failed: 0,
            unchanged: 0,
            bytes: 0,
            again: 0,
            came: 0,
            left: 0,
            written: 0,
            received: 0,
            turns: 0,
            late_turns: 0,
        }
    }
}

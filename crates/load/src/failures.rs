//! Failures and refusals, counted by reason. All reports use the same form.

use std::collections::BTreeMap;

/// Counts by reason or by code.
pub(crate) type Reasons = BTreeMap<String, u64>;

/// Counts one.
pub(crate) fn note(reasons: &mut Reasons, reason: impl Into<String>) {
    *reasons.entry(reason.into()).or_default() += 1;
}

/// One line each, for people.
pub(crate) fn lines(failures: &Reasons, refused: &Reasons) -> Vec<String> {
    let failed = failures.iter().map(|(reason, count)| format!("{count} × {reason}"));
    failed.chain(refused.iter().map(|(code, count)| format!("{count} × refused: {code}"))).collect()
}

pub(crate) fn short_of_descriptors(failures: &Reasons) -> bool {
    failures.keys().any(|reason| reason.contains("Too many open files"))
}

/// The reason why these refusals and `lost` messages make a run invalid, if they do. An overloaded node may defer
/// messages and accept them later.
pub(crate) fn against_refusals(refused: &Reasons, lost: u64) -> Option<&'static str> {
    let overloaded = refused.keys().all(|code| code == "unavailable");
    match (lost, overloaded) {
        (0, true) => None,
        (_, true) => Some("the server could not keep up, and refused messages as `unavailable`"),
        (_, false) => Some("the server refused messages: its limits were measured"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Tally as _;

    fn reasons(of: &[(&str, u64)]) -> Reasons {
        of.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect()
    }

    #[test]
    fn reasons_of_all_workers_are_counted_together() {
        let mut all = reasons(&[("a", 1), ("b", 2)]);
        all.add(&reasons(&[("b", 3)]));
        assert_eq!(all, reasons(&[("a", 1), ("b", 5)]));
        let refused = reasons(&[("unavailable", 7)]);
        assert_eq!(lines(&all, &refused), ["1 × a", "5 × b", "7 × refused: unavailable"]);
        assert!(!short_of_descriptors(&all));
        assert!(short_of_descriptors(&reasons(&[("connect: Too many open files (os error 24)", 1)])));
    }

    #[test]
    fn deferred_messages_do_not_make_a_run_invalid() {
        let (overloaded, limited) = (reasons(&[("unavailable", 7)]), reasons(&[("rate_limited", 1)]));
        assert_eq!(against_refusals(&reasons(&[]), 0), None);
        assert_eq!(against_refusals(&overloaded, 0), None);
        assert!(against_refusals(&overloaded, 1).unwrap().contains("could not keep up"));
        for lost in [0, 1] {
            assert!(against_refusals(&limited, lost).unwrap().contains("limits were measured"));
        }
    }
}

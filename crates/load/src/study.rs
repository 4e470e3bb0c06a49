//! The arithmetic of a factor study: one plan repeated over several factors in random order, to test hypotheses.

use std::fmt;

use serde::Serialize;

use crate::report::grouped;

/// The results of a study. The hypotheses were stated before the first run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Study {
    pub hypotheses: Vec<Judged>,
    pub comparisons: Vec<Comparison>,
}

/// One figure at each setting of one factor, with the base's settings of all others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub factor: String,
    pub figure: String,
    pub unit: String,
    pub cases: Vec<Case>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Case {
    pub setting: String,
    /// None: no run of it gave this figure.
    pub spread: Option<Spread>,
}

/// Lowest, middle and highest value of the repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    pub median: f64,
    pub least: f64,
    pub most: f64,
    pub runs: usize,
}

/// A hypothesis and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    pub says: String,
    pub outcome: Outcome,
    /// The medians and spreads that decided it.
    pub because: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Held,
    DidNotHold,
    /// The spreads overlap, or figures are missing.
    NotDecided,
}

/// The claim of a hypothesis about the first setting's figure divided by the second one's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claim {
    /// The ratio is at least this.
    AtLeast(f64),
    /// The ratio, or its inverse, is at most this.
    Within(f64),
}

impl Outcome {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Outcome::Held => "held",
            Outcome::DidNotHold => "did not hold",
            Outcome::NotDecided => "not decided",
        }
    }
}

impl Spread {
    pub fn of(mut figures: Vec<f64>) -> Option<Spread> {
        figures.sort_unstable_by(f64::total_cmp);
        let (least, most) = (*figures.first()?, *figures.last()?);
        let middle = figures.len() / 2;
        let median = match figures.len() % 2 {
            1 => figures[middle],
            _ => f64::midpoint(figures[middle - 1], figures[middle]),
        };
        Some(Spread { median, least, most, runs: figures.len() })
    }
}

/// The median, with the lowest and highest value if there were several runs.
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", grouped(self.median))?;
        if self.runs > 1 {
            write!(f, " ({}–{})", grouped(self.least), grouped(self.most))?;
        }
        Ok(())
    }
}

impl Claim {
    /// Decides only if every pair of runs agrees: overlapping spreads decide nothing.
    pub fn judge(self, first: &Spread, second: &Spread) -> Outcome {
        if second.least <= 0.0 || first.least < 0.0 {
            return Outcome::NotDecided;
        }
        let (low, high) = (first.least / second.most, first.most / second.least);
        let (held, failed) = match self {
            Claim::AtLeast(times) => (low >= times, high < times),
            Claim::Within(times) => (low >= 1.0 / times && high <= times, high < 1.0 / times || low > times),
        };
        match (held, failed) {
            (true, _) => Outcome::Held,
            (_, true) => Outcome::DidNotHold,
            _ => Outcome::NotDecided,
        }
    }
}

/// Numbers below `count`, each `repetitions` times. Each repetition has its own order, so a drift during the study
/// affects all alike.
pub fn order(count: usize, repetitions: usize, seed: u64) -> Vec<usize> {
    let mut state = seed;
    let mut all = Vec::with_capacity(count * repetitions);
    for _ in 0..repetitions {
        let mut round: Vec<(u64, usize)> = (0..count).map(|case| (split_mix(&mut state), case)).collect();
        round.sort_unstable();
        all.extend(round.into_iter().map(|(_, case)| case));
    }
    all
}

/// SplitMix64 (Steele, Lea, Flood 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(figures: &[f64]) -> Spread {
        Spread::of(figures.to_vec()).unwrap()
    }

    #[test]
    fn the_middle_and_the_ends() {
        assert_eq!(spread(&[3.0, 1.0, 8.0]), Spread { median: 3.0, least: 1.0, most: 8.0, runs: 3 });
        assert_eq!(spread(&[4.0, 1.0]).median, 2.5);
        assert_eq!(Spread::of(Vec::new()), None);
    }

    #[test]
    fn spreads_that_overlap_decide_nothing() {
        let (low, middle, high) = (spread(&[9.0, 10.0, 11.0]), spread(&[10.5, 13.0]), spread(&[20.0, 24.0]));
        assert_eq!(Claim::AtLeast(1.0).judge(&high, &low), Outcome::Held);
        assert_eq!(Claim::AtLeast(1.0).judge(&low, &high), Outcome::DidNotHold);
        assert_eq!(Claim::AtLeast(1.0).judge(&middle, &low), Outcome::NotDecided);
        assert_eq!(Claim::AtLeast(2.0).judge(&high, &low), Outcome::NotDecided);
        assert_eq!(Claim::AtLeast(3.0).judge(&high, &low), Outcome::DidNotHold);
        assert_eq!(Claim::Within(1.5).judge(&middle, &low), Outcome::Held);
        assert_eq!(Claim::Within(1.5).judge(&low, &high), Outcome::DidNotHold);
        assert_eq!(Claim::Within(1.2).judge(&middle, &low), Outcome::NotDecided);
        assert_eq!(Claim::AtLeast(1.0).judge(&low, &spread(&[0.0])), Outcome::NotDecided);
    }

    #[test]
    fn every_repetition_has_every_case_in_another_order() {
        let all = order(8, 3, 2007);
        assert_eq!(all, order(8, 3, 2007));
        assert_ne!(all, order(8, 3, 2008));
        let rounds: Vec<&[usize]> = all.chunks(8).collect();
        for round in &rounds {
            let mut sorted = round.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..8).collect::<Vec<_>>());
        }
        assert!(rounds[0] != rounds[1] && rounds[1] != rounds[2], "{all:?}");
    }
}

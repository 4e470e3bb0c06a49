//! A duration as text: `250ms`, `10s`, `5m`, `24h`, `7d`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Whole milliseconds, so that the printed value is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Span {
    millis: u64,
}

const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

impl Span {
    pub(crate) const fn seconds(seconds: u64) -> Span {
        Span { millis: seconds * 1_000 }
    }

    pub(crate) const fn millis(millis: u64) -> Span {
        Span { millis }
    }

    pub(crate) const fn as_millis(self) -> u64 {
        self.millis
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Duration {
        Duration::from_millis(span.millis)
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
        number
            .parse::<u64>()
            .ok()
            .zip(factor)
            .and_then(|(number, factor)| number.checked_mul(factor))
            .map(|millis| Span { millis })
            .ok_or_else(|| {
                format!("`{text}` is no length of time: write a number and ms, s, m, h or d, as in 10s")
            })
    }
}

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Span, String> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> String {
        span.to_string()
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, factor) = UNITS
            .into_iter()
            .find(|(_, factor)| self.millis >= *factor && self.millis.is_multiple_of(*factor))
            .unwrap_or(("s", 1_000));
        write!(f, "{}{unit}", self.millis / factor)
    }
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn spans_are_read_and_written_the_same_way() {
        for text in ["250ms", "10s", "5m", "24h", "7d", "0s", "1500ms", "90m"] {
            let span: Span = text.parse().expect("a span");
            let again: Span = span.to_string().parse().expect("a span");
            assert_eq!(span, again, "{text}");
        }
        assert_eq!("90s".parse(), Ok(Span::seconds(90)));
        assert_eq!(Span::seconds(86_400).to_string(), "1d");
    }

    #[test]
    fn an_invalid_span_is_refused_with_an_example() {
        for text in
            ["", "s", "10", "ten s", "1.5s", "-1s", "10 s", "99999999999999999999s", "18446744073709551615d"]
        {
            let refused = text.parse::<Span>().expect_err(text);
            assert!(refused.contains("as in 10s"), "{refused}");
        }
    }
}

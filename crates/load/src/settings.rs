//! The settings of a plan, declared once: a struct that clap reads as flags and serde as a section of a plan file.

use std::fmt::Debug;
use std::str::FromStr;
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::report::Run;
use crate::target::Transport;
use crate::{LoadError, RunOptions};

/// A load plan with its settings.
pub trait Plan: Debug {
    /// Checks several settings together.
    fn check(&self) -> Result<(), Contradiction> {
        Ok(())
    }
    /// Most connections.
    fn members(&self) -> u32;
    /// The transport of the members. None: the plan does not choose one.
    fn transport(&self) -> Option<Transport> {
        None
    }
    /// Whether members come back after a lost connection and repeat their messages, so that a process may die in mid-run.
    fn recovers(&self) -> bool {
        false
    }
    /// Whether its members may be spread over several nodes.
    fn spreads(&self) -> bool {
        self.transport().is_some_and(|transport| !transport.posts())
    }
    /// Returns when the run is over. `say` receives a progress line now and then.
    fn run(&self, options: &RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError>;
}

/// Settings that exclude each other.
#[derive(Debug, Clone, Copy)]
pub struct Contradiction {
    pub says: &'static str,
    pub remedy: &'static str,
}

impl Contradiction {
    /// For plans whose members use what only the web protocol has.
    pub(crate) fn unless_web(transport: Transport) -> Result<(), Contradiction> {
        Contradiction::if_any(&[(
            !Transport::WEB.contains(&transport),
            "the members of this plan speak the web protocol only",
            "choose websocket, stream, sse or poll",
        )])
    }

    /// For plans whose members use what other servers do not have.
    pub(crate) fn if_peer(transport: Transport) -> Result<(), Contradiction> {
        Contradiction::if_any(&[(
            transport.is_of_peer(),
            "the members of this plan speak the web protocol or XMPP",
            "other servers are measured by flood and stress",
        )])
    }

    /// The first one that is there.
    pub(crate) fn if_any(of: &[(bool, &'static str, &'static str)]) -> Result<(), Contradiction> {
        let found = of.iter().find(|(is_there, ..)| *is_there);
        found.map_or(Ok(()), |(_, says, remedy)| Err(Contradiction { says, remedy }))
    }
}

/// The settings of a plan without flags. The declaration of each flag has its default.
pub fn defaults<T: clap::Args>() -> T {
    let flags = T::augment_args(clap::Command::new("defaults")).try_get_matches_from(["defaults"]);
    flags.and_then(|flags| T::from_arg_matches(&flags)).expect("each setting is optional or has a default")
}

/// A duration as text, as in `10s`.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|_| format!("`{text}` is no length of time: write a number and ms, s, m, h or d, as in 10s"))
}

pub(crate) fn span_in_file<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    span(&String::deserialize(from)?).map_err(Error::custom)
}

pub(crate) fn span_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    span_in_file(from).map(Some)
}

pub(crate) fn positive<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let rate = f64::deserialize(from)?;
    let right = rate.is_finite() && rate > 0.0;
    right.then_some(rate).ok_or_else(|| Error::custom(format!("{rate} is no rate above 0")))
}

pub(crate) fn positive_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    positive(from).map(Some)
}

pub(crate) fn at_least<'de, const LEAST: u32, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let number = u32::deserialize(from)?;
    let right = number >= LEAST;
    right.then_some(number).ok_or_else(|| Error::custom(format!("{number} is less than {LEAST}")))
}

pub(crate) fn two_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    at_least::<2, D>(from).map(Some)
}

/// Bytes; a kB has 1,024 of them, as memory is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let shift = match unit.trim() {
            "B" => Some(0),
            "kB" | "KB" => Some(10),
            "MB" => Some(20),
            "GB" => Some(30),
            _ => None,
        };
        let bytes = shift.and_then(|shift| number.parse::<u64>().ok()?.checked_mul(1 << shift));
        bytes.filter(|bytes| *bytes > 0).map(Size).ok_or_else(|| format!("`{text}` is no size, as in 512MB"))
    }
}

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Size, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!("512MB".parse(), Ok(Size(536_870_912)));
        assert_eq!("20 kB".parse(), Ok(Size(20_480)));
        assert_eq!("7B".parse(), Ok(Size(7)));
        for bad in ["", "512", "MB", "0MB", "-1MB", "1.5GB", "99999999999GB", "5 bananas"] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_invalid_span_is_refused_with_an_example() {
        assert_eq!(span("250ms"), Ok(Duration::from_millis(250)));
        for bad in ["", "s", "10", "ten s", "-1s", "99999999999999999999s"] {
            assert!(span(bad).is_err_and(|refused| refused.contains("as in 10s")), "{bad}");
        }
    }
}

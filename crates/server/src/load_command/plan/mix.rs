//! `mix`: its flags and its section of a plan file.

use std::ops::Not;
use std::str::FromStr;

use clap::Args;
use load::mix::{self, MixPlan};
use load::report::Run;
use load::target::Transport;
use load::{LoadError, RunOptions};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Contradiction, Task};
use crate::load_command::line::LoadTarget;
use crate::load_command::setting;
use crate::span::Span;

#[derive(Debug, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct MixArgs {
    #[command(flatten)]
    #[serde(skip)]
    pub(crate) target: LoadTarget,
    /// websocket, stream, sse or poll [default: websocket].
    #[arg(long)]
    pub(crate) transport: Option<Transport>,
    /// Most members [default: 60000].
    #[arg(long)]
    pub(crate) members: Option<u32>,
    /// Members who connect per second, at random times [default: 50].
    #[arg(long)]
    pub(crate) rate: Option<f64>,
    /// Resident memory of the node at which the run ends, for example 512MB [default: 512MB].
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory_limit: Option<Size>,
    /// Add the node's half of the kernel's growth to the memory.
    #[arg(long)]
    #[serde(skip_serializing_if = "Not::not")]
    pub(crate) with_kernel: bool,
    /// Failed logins and messages, in percent, at which the run ends [default: 1].
    #[arg(long, value_name = "PERCENT")]
    pub(crate) error_limit: Option<f64>,
    /// Longest duration of the run [default: 10m].
    #[arg(long, value_name = "SPAN")]
    pub(crate) time: Option<Span>,
}

/// Bytes; a kB has 1,024 of them, as memory is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let wrong = || format!("`{text}` is no size, as in 512MB");
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = text.split_at(digits);
        let shift = match unit.trim() {
            "B" => 0,
            "kB" | "KB" => 10,
            "MB" => 20,
            "GB" => 30,
            _ => return Err(wrong()),
        };
        let number: u64 = number.parse().map_err(|_| wrong())?;
        number.checked_mul(1 << shift).filter(|bytes| *bytes > 0).map(Size).ok_or_else(wrong)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{}B", self.0))
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Size, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Mix {
    transport: Transport,
    #[serde(deserialize_with = "setting::at_least_two")]
    members: u32,
    #[serde(deserialize_with = "setting::positive")]
    rate: f64,
    memory_limit: Size,
    with_kernel: bool,
    #[serde(deserialize_with = "setting::positive")]
    error_limit: f64,
    time: Span,
    #[serde(deserialize_with = "setting::at_least_two")]
    group: u32,
    write_every: Span,
    presence_every: Span,
}

impl Default for Mix {
    fn default() -> Mix {
        Mix {
            transport: Transport::Websocket,
            members: 60_000,
            rate: 50.0,
            memory_limit: Size(512 << 20),
            with_kernel: false,
            error_limit: 1.0,
            time: Span::seconds(600),
            group: 10,
            write_every: Span::seconds(10),
            presence_every: Span::seconds(60),
        }
    }
}

impl Task for Mix {
    fn check(&self) -> Result<(), Contradiction> {
        if [self.time, self.write_every, self.presence_every].contains(&Span::seconds(0)) {
            return Err(Contradiction {
                says: "what happens every 0 s has no end",
                remedy: "time, write-every and presence-every must be above 0",
            });
        }
        Ok(())
    }

    fn members(&self) -> u32 {
        self.members
    }

    fn carry_out(&self, options: RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let plan = MixPlan {
            options,
            transport: self.transport,
            members: self.members,
            rate: self.rate,
            memory_limit: self.memory_limit.0,
            with_kernel: self.with_kernel,
            error_limit_percent: self.error_limit,
            time: self.time.into(),
            group: self.group,
            write_every: self.write_every.into(),
            presence_every: self.presence_every.into(),
        };
        mix::run(&plan, say)
    }
}

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn sizes() {
        assert_eq!("512MB".parse(), Ok(Size(536_870_912)));
        assert_eq!("20 kB".parse(), Ok(Size(20_480)));
        assert_eq!("7B".parse(), Ok(Size(7)));
        for bad in ["", "512", "MB", "0MB", "-1MB", "1.5GB", "99999999999GB", "5 bananas"] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
    }
}

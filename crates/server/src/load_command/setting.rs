//! Types for settings of plans whose range TOML's own types cannot express.

use serde::{Deserialize, Deserializer};
use toml::Table;

use crate::config::Config;

pub(super) fn at_least_one<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    at_least(1, u32::deserialize(from)?)
}

pub(super) fn at_least_two<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    at_least(2, u32::deserialize(from)?)
}

pub(super) fn two_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    at_least(2, u32::deserialize(from)?).map(Some)
}

fn at_least<E: serde::de::Error>(least: u32, number: u32) -> Result<u32, E> {
    if number >= least { Ok(number) } else { Err(E::custom(format!("{number} is less than {least}"))) }
}

pub(super) fn positive<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let rate = f64::deserialize(from)?;
    let right = rate.is_finite() && rate > 0.0;
    if right { Ok(rate) } else { Err(serde::de::Error::custom(format!("{rate} is no rate above 0"))) }
}

pub(super) fn positive_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    positive(from).map(Some)
}

/// As in `kith.toml`.
pub(super) fn of_node<'de, D: Deserializer<'de>>(from: D) -> Result<Table, D::Error> {
    let table = Table::deserialize(from)?;
    let right = Config::deserialize(table.clone()).map(drop);
    right.map(|()| table).map_err(|error| serde::de::Error::custom(error.message()))
}

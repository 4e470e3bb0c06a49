//! One figure of a run: its key, name, unit and value, and the figures of others.

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::grouped;
use crate::percentiles::Percentiles;

/// A run's report is a list of measures. The page, the text, the tables and the JSON object are made from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// The key in the JSON object; a dot leads into an inner object, as in `storm.returned`. Empty if the figure
    /// follows from others: then it is only in the tables.
    pub key: &'static str,
    /// For people. Empty: only in the JSON object.
    pub name: &'static str,
    pub unit: &'static str,
    pub value: Value,
    pub beside: Vec<Beside>,
    /// A leading figure of the run.
    pub leads: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    Count(u64),
    /// None: it could not be read.
    Number(Option<f64>),
    /// A distribution, in milliseconds.
    Times(Percentiles),
}

/// A figure that others measured or published.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Beside {
    pub who: &'static str,
    pub figure: f64,
}

impl Measure {
    /// `key` and `name`: see the fields.
    pub fn new(
        key: &'static str,
        name: &'static str,
        unit: &'static str,
        value: impl Into<Value>,
    ) -> Measure {
        Measure { key, name, unit, value: value.into(), beside: Vec::new(), leads: false }
    }

    /// A distribution of times.
    pub(crate) fn times(key: &'static str, name: &'static str, ms: Percentiles) -> Measure {
        Measure::new(key, name, "ms", ms)
    }

    /// In the JSON object, but in no table.
    pub(crate) fn json_only(key: &'static str, value: impl Into<Value>) -> Measure {
        Measure::new(key, "", "", value)
    }

    /// In the tables, but not in the JSON object: it follows from other measures.
    pub(crate) fn derived(name: &'static str, unit: &'static str, value: impl Into<Value>) -> Measure {
        Measure::new("", name, unit, value)
    }

    pub(crate) fn leading(self) -> Measure {
        Measure { leads: true, ..self }
    }

    pub(crate) fn beside(mut self, who: &'static str, figure: f64) -> Measure {
        self.beside.push(Beside { who, figure });
        self
    }

    /// A single figure; None for a distribution or an unreadable value.
    pub fn figure(&self) -> Option<f64> {
        match self.value {
            Value::Count(count) => Some(count as f64),
            Value::Number(number) => number,
            Value::Times(_) => None,
        }
    }

    /// With its unit, for people.
    pub(super) fn shown(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        self.figure().map_or_else(|| "unknown".to_owned(), |figure| grouped(figure) + &unit)
    }

    /// A paper's figure, else the first.
    pub(super) fn main_beside(&self) -> Option<&Beside> {
        self.beside.iter().find(|beside| beside.is_of_paper()).or(self.beside.first())
    }

    pub(super) fn has_paper(&self) -> bool {
        self.beside.iter().any(Beside::is_of_paper)
    }
}

impl Beside {
    fn is_of_paper(&self) -> bool {
        self.who.starts_with("paper")
    }
}

/// Declares what a value may be made from.
macro_rules! value_from {
    ($($given:ident: $from:ty => $value:expr,)*) => {
        $(impl From<$from> for Value {
            fn from($given: $from) -> Value {
                $value
            }
        })*
    };
}

value_from! {
    count: u64 => Value::Count(count),
    count: u32 => Value::Count(count.into()),
    count: usize => Value::Count(count as u64),
    count: Option<u64> => count.map_or(Value::Number(None), Value::Count),
    number: f64 => Value::Number(Some(number)),
    number: Option<f64> => Value::Number(number),
    ms: Percentiles => Value::Times(ms),
}

impl From<Value> for Json {
    fn from(value: Value) -> Json {
        match value {
            Value::Count(count) => count.into(),
            Value::Number(number) => number.into(),
            Value::Times(ms) => serde_json::to_value(ms).expect("percentiles are numbers"),
        }
    }
}

/// Inserts a value under a key with dots.
pub(super) fn insert(object: &mut Map<String, Json>, key: &str, value: Json) {
    match key.split_once('.') {
        None => drop(object.insert(key.to_owned(), value)),
        Some((outer, rest)) => {
            let inner = object.entry(outer).or_insert_with(|| Json::Object(Map::new()));
            insert(inner.as_object_mut().expect("no measure has the key of an inner object"), rest, value);
        }
    }
}

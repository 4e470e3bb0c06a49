//! The results of runs, in one form for all plans: a list of [`Measure`]s. Page, JSON, CSV, Markdown and text are made
//! from it.

mod chart;
mod csv;
mod machine;
mod markdown;
mod measure;
mod number;
mod page;
mod picture;
mod study;
mod text;

use std::fs;
use std::io;
use std::path::Path;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

use crate::failures::{self, Reasons};
use crate::percentiles::Percentiles;
use crate::series::Point;
use crate::study::Study;

pub use machine::Machine;
pub use measure::{Beside, Measure, Value};
pub use number::grouped;
pub(crate) use number::scale;

/// Runs that are shown together.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub title: String,
    /// A sentence, or empty.
    pub about: String,
    /// The time of the report, for people.
    pub made: String,
    pub machine: Machine,
    pub runs: Vec<Run>,
}

/// The result of one plan. [`Run::object`] has everything; serialized in a [`Report`], it has the content of the
/// tables.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The name of the plan, the plan file or the preset.
    pub name: String,
    pub headline: String,
    /// The method, in a sentence or two.
    pub how: String,
    pub verdict: Verdict,
    /// Settings, and other values that are not figures: for the JSON object.
    pub facts: Vec<(&'static str, Json)>,
    pub measures: Vec<Measure>,
    pub failures: Reasons,
    /// By code.
    pub refused: Reasons,
    /// For people: lines in the format of a paper's own tool, and warnings.
    pub lines: Vec<String>,
    pub series: Vec<Point>,
    /// If the run is a study of many runs.
    pub study: Option<Study>,
}

/// Whether the figures are valid.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    pub valid: bool,
    /// Stopped before its time.
    pub interrupted: bool,
    pub because: Option<String>,
    /// Advice for another run.
    pub change: Option<String>,
}

impl Default for Verdict {
    fn default() -> Verdict {
        Verdict::new(false, None)
    }
}

impl Verdict {
    /// `against`: the reason why the run is invalid, with advice.
    pub(crate) fn new(interrupted: bool, against: Option<(&str, &str)>) -> Verdict {
        Verdict {
            valid: against.is_none() && !interrupted,
            interrupted,
            because: against.map(|(because, _)| because.to_owned()),
            change: against.map(|(_, change)| change.to_owned()),
        }
    }

    /// One line for people.
    pub fn sentence(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.interrupted.then_some("interrupted before its time"));
        parts.extend(self.because.as_deref());
        parts.extend(self.change.as_deref());
        match (self.valid, parts.is_empty()) {
            (true, _) => "valid".to_owned(),
            (false, true) => "not valid".to_owned(),
            (false, false) => format!("not valid: {}", parts.join("; ")),
        }
    }
}

impl Run {
    /// A run that could not be made.
    pub fn not_made(name: &str, why: &str) -> Run {
        Run {
            name: name.to_owned(),
            headline: format!("cannot run {name}"),
            verdict: Verdict::new(false, Some((why, "follow the advice in the message"))),
            ..Run::default()
        }
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let mut out = String::new();
        text::one(self, &mut out);
        out
    }

    /// One JSON object on one line: the plan's, or the study's own.
    pub fn json(&self) -> String {
        match self.study {
            Some(_) => serde_json::to_string(self).expect("a run has string keys only"),
            None => self.object().to_string(),
        }
    }

    /// Settings, measures by their keys, failures, validity and series.
    pub fn object(&self) -> Json {
        let mut object = Map::new();
        for (key, value) in &self.facts {
            measure::insert(&mut object, key, value.clone());
        }
        for of in self.measures.iter().filter(|of| !of.key.is_empty()) {
            measure::insert(&mut object, of.key, of.value.into());
        }
        let Verdict { valid, interrupted, because, change } = &self.verdict;
        for (key, value) in [
            ("valid", json!(valid)),
            ("interrupted", json!(interrupted)),
            ("invalid_because", json!(because)),
            ("change", json!(change)),
            ("failures", json!(self.failures)),
            ("refused", json!(self.refused)),
            ("series", json!(self.series)),
        ] {
            // A plan that counts refusals without their codes has a measure of that name.
            object.entry(key).or_insert(value);
        }
        Json::Object(object)
    }

    /// A picture of connections and memory over the run, and of its first distribution.
    pub fn svg(&self) -> String {
        picture::draw(self)
    }

    /// Single figures, in the order of the tables.
    pub fn figures(&self) -> impl Iterator<Item = &Measure> {
        let shown = self.measures.iter().filter(|of| !of.name.is_empty());
        shown.filter(|of| !matches!(of.value, Value::Times(_)))
    }

    /// Distributions, by name.
    pub fn distributions(&self) -> impl Iterator<Item = (&'static str, Percentiles)> {
        self.measures.iter().filter(|of| !of.name.is_empty()).filter_map(|of| match of.value {
            Value::Times(ms) => Some((of.name, ms)),
            _ => None,
        })
    }

    /// Lines below the tables: the run's own, then reasons of failures.
    fn notes(&self) -> Vec<String> {
        self.lines.iter().cloned().chain(failures::lines(&self.failures, &self.refused)).collect()
    }

    /// The leading figures: the marked ones, else the first one that a paper has, too, else the first one.
    fn main_figures(&self) -> Vec<&Measure> {
        let known = || self.figures().filter(|of| of.figure().is_some());
        let leading: Vec<&Measure> = known().filter(|of| of.leads).collect();
        if !leading.is_empty() {
            return leading;
        }
        known().find(|of| of.has_paper()).or_else(|| known().next()).into_iter().collect()
    }
}

/// For people.
impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

/// The content of a report's tables.
impl Serialize for Run {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let rows: Vec<Json> = self
            .figures()
            .map(|of| json!({"what": of.name, "figure": of.figure(), "unit": of.unit, "beside": of.beside}))
            .collect();
        let latencies: Vec<Json> =
            self.distributions().map(|(what, ms)| json!({"what": what, "ms": ms})).collect();
        let mut run = to.serialize_struct("Run", 9)?;
        run.serialize_field("name", &self.name)?;
        run.serialize_field("headline", &self.headline)?;
        run.serialize_field("how", &self.how)?;
        run.serialize_field("verdict", &self.verdict)?;
        run.serialize_field("rows", &rows)?;
        run.serialize_field("lines", &self.notes())?;
        run.serialize_field("latencies", &latencies)?;
        run.serialize_field("series", &self.series)?;
        run.serialize_field("study", &self.study)?;
        run.end()
    }
}

impl Report {
    /// Writes `report.html`, `report.json`, `report.md`, `report.txt`, `summary.csv` and `series.csv`; creates the
    /// folder.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("report.html"), self.page())?;
        fs::write(folder.join("report.json"), self.json())?;
        fs::write(folder.join("report.md"), markdown::markdown(self))?;
        fs::write(folder.join("report.txt"), self.text())?;
        fs::write(folder.join("summary.csv"), csv::summary(self))?;
        fs::write(folder.join("series.csv"), csv::series(self))
    }

    /// One HTML file without scripts and external resources.
    pub fn page(&self) -> String {
        page::page(self)
    }

    pub fn text(&self) -> String {
        text::text(self)
    }

    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("a report has string keys only")
    }
}

#[cfg(test)]
mod tests;

//! What runs have found, in one form for all plans: a page, JSON, CSV, Markdown and text.

mod chart;
mod csv;
mod machine;
mod markdown;
mod number;
mod page;
mod study;
mod text;

use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::percentiles::Percentiles;
use crate::series::Point;
use crate::study::Study;

pub use machine::Machine;
pub use number::grouped;
pub(crate) use number::{escaped, scale};

/// Runs that are shown together.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub title: String,
    /// In a sentence, if there is one to say.
    pub about: String,
    /// When it was made, for people.
    pub made: String,
    pub machine: Machine,
    pub runs: Vec<Run>,
}

/// One plan, carried out.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// Of the plan file or preset.
    pub name: String,
    pub headline: String,
    /// How it was made, in a sentence or two.
    pub how: String,
    pub verdict: Verdict,
    pub rows: Vec<Row>,
    /// In the words of the paper's own tool.
    pub lines: Vec<String>,
    pub latencies: Vec<Latency>,
    pub series: Vec<Point>,
    /// Where it is made of many.
    pub study: Option<Study>,
}

/// Whether its figures may be believed.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    pub valid: bool,
    /// Ended before its time.
    pub interrupted: bool,
    pub because: Option<String>,
    /// Advice for another run.
    pub change: Option<String>,
}

/// A figure. What could not be read is null.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub what: &'static str,
    pub figure: Option<f64>,
    pub unit: &'static str,
    pub beside: Vec<Beside>,
    /// The figures that the run was made for.
    #[serde(skip)]
    pub leads: bool,
}

/// A figure that others measured or published.
#[derive(Debug, Clone, Serialize)]
pub struct Beside {
    pub who: &'static str,
    pub figure: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Latency {
    pub what: &'static str,
    pub ms: Percentiles,
}

impl Verdict {
    /// Of the reason against it, with what to change.
    pub(crate) fn new(interrupted: bool, against: Option<(&str, &str)>) -> Verdict {
        Verdict {
            valid: against.is_none() && !interrupted,
            interrupted,
            because: against.map(|(because, _)| because.to_owned()),
            change: against.map(|(_, change)| change.to_owned()),
        }
    }

    /// For people, in a line.
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
    /// One that could not be made.
    pub fn not_made(name: &str, why: &str) -> Run {
        Run {
            name: name.to_owned(),
            headline: format!("cannot run {name}"),
            how: String::new(),
            verdict: Verdict::new(false, Some((why, "see what it says to try"))),
            rows: Vec::new(),
            lines: Vec::new(),
            latencies: Vec::new(),
            series: Vec::new(),
            study: None,
        }
    }
}

impl Run {
    /// For a terminal.
    pub fn text(&self) -> String {
        let mut out = String::new();
        text::one(self, &mut out);
        out
    }
}

impl Run {
    /// The leading rows: the marked figures, else the first one that a paper has, too, else the first one.
    fn main_rows(&self) -> Vec<&Row> {
        let known = || self.rows.iter().filter(|row| row.figure.is_some());
        let leading: Vec<&Row> = known().filter(|row| row.leads).collect();
        if !leading.is_empty() {
            return leading;
        }
        let of_paper = known().find(|row| row.beside.iter().any(Beside::is_of_paper));
        of_paper.or_else(|| known().next()).into_iter().collect()
    }
}

impl Beside {
    fn is_of_paper(&self) -> bool {
        self.who.starts_with("paper")
    }
}

impl Row {
    /// A paper's figure, else the first.
    fn main_beside(&self) -> Option<&Beside> {
        self.beside.iter().find(|beside| beside.is_of_paper()).or(self.beside.first())
    }

    pub(crate) fn new(what: &'static str, figure: impl Into<Option<f64>>, unit: &'static str) -> Row {
        Row { what, figure: figure.into(), unit, beside: Vec::new(), leads: false }
    }

    pub(crate) fn leading(self) -> Row {
        Row { leads: true, ..self }
    }

    pub(crate) fn beside(mut self, who: &'static str, figure: f64) -> Row {
        self.beside.push(Beside { who, figure });
        self
    }

    pub(crate) fn shown(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        self.figure.map_or_else(|| "unknown".to_owned(), |figure| grouped(figure) + &unit)
    }
}

impl Report {
    /// Writes `report.html`, `report.json`, `report.md`, `report.txt`, `summary.csv` and `series.csv`; makes the folder.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("report.html"), self.page())?;
        fs::write(folder.join("report.json"), self.json())?;
        fs::write(folder.join("report.md"), markdown::markdown(self))?;
        fs::write(folder.join("report.txt"), self.text())?;
        fs::write(folder.join("summary.csv"), csv::summary(self))?;
        fs::write(folder.join("series.csv"), csv::series(self))
    }

    /// One file without scripts, that needs nothing from anywhere.
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

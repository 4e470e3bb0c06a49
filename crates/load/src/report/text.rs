//! For a terminal.

use std::fmt::Write;

use super::{Report, Run, grouped};
use crate::study::Study;

pub(super) fn text(report: &Report) -> String {
    let mut out = format!("{}\n{}\n{}\n", report.title, report.made, report.machine.sentence());
    if report.runs.len() > 1 {
        summary(report, &mut out);
    }
    for run in &report.runs {
        out.push('\n');
        one(run, &mut out);
    }
    out
}

fn summary(report: &Report, out: &mut String) {
    out.push('\n');
    for run in &report.runs {
        let valid = if run.verdict.valid { "valid" } else { "NOT VALID" };
        let _ = write!(out, "  {:<22} {valid:<9} ", run.name);
        for (index, of) in run.main_figures().into_iter().enumerate() {
            let lead = if index == 0 { " " } else { "; " };
            let _ = write!(out, "{lead}{}: {}", of.name, of.shown());
            if let Some(beside) = of.main_beside() {
                let _ = write!(out, "   beside: {} {}", beside.who, grouped(beside.figure));
            }
        }
        out.push('\n');
    }
}

pub(super) fn one(run: &Run, out: &mut String) {
    let _ = writeln!(out, "== {}: {}\n{}", run.name, run.headline, run.how);
    if let Some(study) = &run.study {
        hypotheses(study, out);
    }
    let width = run.measures.iter().map(|of| of.name.chars().count()).max().unwrap_or(0);
    for of in run.figures() {
        let _ = write!(out, "  {:<width$} {:>20}", of.name, of.shown());
        for (index, beside) in of.beside.iter().enumerate() {
            let lead = if index == 0 { "   beside: " } else { ", " };
            let _ = write!(out, "{lead}{} {}", beside.who, grouped(beside.figure));
        }
        out.push('\n');
    }
    if let Some(study) = &run.study {
        comparisons(study, out);
    }
    for (name, ms) in run.distributions() {
        let _ = writeln!(out, "  {name:<width$} {ms}");
    }
    for line in run.notes() {
        let _ = writeln!(out, "  {line}");
    }
    let _ = writeln!(out, "  {}", run.verdict.sentence());
}

fn hypotheses(study: &Study, out: &mut String) {
    for judged in &study.hypotheses {
        let _ = writeln!(
            out,
            "  {:<12} {}\n  {:<12} {}",
            judged.outcome.words(),
            judged.says,
            "",
            judged.because
        );
    }
}

fn comparisons(study: &Study, out: &mut String) {
    for comparison in &study.comparisons {
        let _ = writeln!(out, "  {}: {}, {}", comparison.factor, comparison.figure, comparison.unit);
        for case in &comparison.cases {
            let spread = case.spread.map_or_else(|| "no valid run".to_owned(), |spread| spread.to_string());
            let _ = writeln!(out, "    {:<34} {spread}", case.setting);
        }
    }
}

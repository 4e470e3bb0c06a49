//! For a terminal.

use std::fmt::Write;

use super::{Report, Run, grouped};

pub(super) fn text(report: &Report) -> String {
    let mut out = format!("{}\n{}\n{}\n", report.title, report.made, report.machine.sentence());
    for run in &report.runs {
        out.push('\n');
        one(run, &mut out);
    }
    out
}

fn one(run: &Run, out: &mut String) {
    let _ = writeln!(out, "== {}: {}\n{}", run.name, run.headline, run.how);
    for row in &run.rows {
        let _ = write!(out, "  {:<36} {:>20}", row.what, row.shown());
        for (index, beside) in row.beside.iter().enumerate() {
            let lead = if index == 0 { "   beside: " } else { ", " };
            let _ = write!(out, "{lead}{} {}", beside.who, grouped(beside.figure));
        }
        out.push('\n');
    }
    for latency in &run.latencies {
        let _ = writeln!(out, "  {:<36} {}", latency.what, latency.ms);
    }
    for line in &run.lines {
        let _ = writeln!(out, "  {line}");
    }
    let _ = writeln!(out, "  {}", run.verdict.sentence());
}

//! Markdown for documentation: tables that are readable as text and as a page.

use std::fmt::Write;

use super::{Measure, Report, Run, grouped};
use crate::study::Study;

pub(super) fn markdown(report: &Report) -> String {
    let mut out = format!("# {}\n\n", escaped(&report.title));
    if !report.about.is_empty() {
        let _ = writeln!(out, "{}\n", escaped(&report.about));
    }
    let _ = writeln!(out, "{}. Made {}.\n", escaped(&report.machine.sentence()), report.made);
    if report.runs.len() > 1 {
        summary(report, &mut out);
    }
    for run in &report.runs {
        one(run, &mut out);
    }
    out
}

fn summary(report: &Report, out: &mut String) {
    out.push_str("| run | | here | beside |\n|---|---|---|---|\n");
    for run in &report.runs {
        for of in run.main_figures() {
            let beside = of.main_beside().map(|it| format!("{} {}", it.who, grouped(it.figure)));
            let beside = beside.unwrap_or_default();
            let _ =
                writeln!(out, "| {} | {} | {} | {beside} |", escaped(&run.name), of.name, figure(run, of));
        }
    }
    out.push('\n');
}

/// A figure of an invalid run is marked wherever it appears.
fn figure(run: &Run, of: &Measure) -> String {
    if run.verdict.valid { of.shown() } else { format!("{} (not valid)", of.shown()) }
}

fn one(run: &Run, out: &mut String) {
    let _ = writeln!(out, "## {}\n\n{}. {}\n", escaped(&run.name), escaped(&run.headline), escaped(&run.how));
    if !run.verdict.valid {
        let _ = writeln!(out, "**{}**\n", escaped(&run.verdict.sentence()));
    }
    if let Some(study) = &run.study {
        hypotheses(study, out);
    }
    if run.figures().next().is_some() {
        out.push_str("| | here | beside |\n|---|---|---|\n");
        for of in run.figures() {
            let beside: Vec<_> =
                of.beside.iter().map(|it| format!("{} {}", it.who, grouped(it.figure))).collect();
            let _ = writeln!(out, "| {} | {} | {} |", of.name, of.shown(), beside.join(", "));
        }
        out.push('\n');
    }
    if let Some(study) = &run.study {
        comparisons(study, out);
    }
    if run.distributions().next().is_some() {
        out.push_str("| milliseconds | p50 | p90 | p99 | p99.9 | longest |\n|---|---|---|---|---|---|\n");
        for (name, ms) in run.distributions() {
            let [p50, p90, p99, p999, max] = [ms.p50, ms.p90, ms.p99, ms.p999, ms.max].map(grouped);
            let _ = writeln!(out, "| {} | {p50} | {p90} | {p99} | {p999} | {max} |", name);
        }
        out.push('\n');
    }
    let notes = run.notes();
    if !notes.is_empty() {
        let _ = writeln!(out, "```\n{}\n```\n", notes.join("\n").replace("```", "` ` `"));
    }
}

fn hypotheses(study: &Study, out: &mut String) {
    out.push_str("| | hypothesis | medians (least–most) |\n|---|---|---|\n");
    for judged in &study.hypotheses {
        let (outcome, says) = (judged.outcome.words(), escaped(&judged.says));
        let _ = writeln!(out, "| {outcome} | {says} | {} |", escaped(&judged.because));
    }
    out.push('\n');
}

fn comparisons(study: &Study, out: &mut String) {
    for comparison in &study.comparisons {
        let (factor, unit) = (escaped(&comparison.factor), escaped(&comparison.unit));
        let _ = writeln!(out, "| {factor} | {}, {unit} |\n|---|---|", escaped(&comparison.figure));
        for case in &comparison.cases {
            let spread = case.spread.map_or_else(|| "no valid run".to_owned(), |spread| spread.to_string());
            let _ = writeln!(out, "| {} | {spread} |", escaped(&case.setting));
        }
        out.push('\n');
    }
}

/// Names come from plan files, so they may contain markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' => out.push(' '),
            '\\' | '|' | '<' | '>' | '*' | '_' | '`' | '[' | ']' | '#' | '&' => out.extend(['\\', character]),
            _ => out.push(character),
        }
    }
    out
}

//! For spreadsheets (RFC 4180).

use std::fmt::Write;

use super::Report;

pub(super) fn summary(report: &Report) -> String {
    let mut out = String::from("run,valid,what,figure,unit,beside,their figure\r\n");
    for run in &report.runs {
        for of in run.figures() {
            let ours = format!(
                "{},{},{},{},{}",
                quoted(&run.name),
                run.verdict.valid,
                quoted(of.name),
                optional(of.figure()),
                quoted(of.unit)
            );
            let _ = write!(out, "{ours},,\r\n");
            for beside in &of.beside {
                let _ = write!(out, "{ours},{},{}\r\n", quoted(beside.who), beside.figure);
            }
        }
    }
    out
}

pub(super) fn series(report: &Report) -> String {
    let mut out = String::from(
        "run,seconds,active,sent,delivered,presence,p50_ms,p99_ms,resident_bytes,kernel_bytes,server_cpu_seconds,\
         generator_cpu_seconds\r\n",
    );
    for run in &report.runs {
        let name = quoted(&run.name);
        for point in &run.series {
            let _ = write!(
                out,
                "{name},{:.3},{},{},{},{},{},{},{},{},{},{}\r\n",
                point.seconds,
                point.active,
                point.sent,
                point.delivered,
                point.presence,
                optional(point.p50_ms),
                optional(point.p99_ms),
                optional(point.resident_bytes),
                optional(point.kernel_bytes),
                optional(point.server_cpu_seconds),
                optional(point.generator_cpu_seconds)
            );
        }
    }
    out
}

fn optional(figure: Option<impl ToString>) -> String {
    figure.map(|figure| figure.to_string()).unwrap_or_default()
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

//! The report as one page, without scripts and external resources.

use std::fmt::Write;

use super::chart::{self, Chart, Curve};
use super::{Report, Run, escaped, grouped, study};
use crate::percentiles::Percentiles;
use crate::series::Point;

pub(super) fn page(report: &Report) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title><style>{}</style></head><body>\
         <header><p class=\"brand\">kith load</p><h1>{title}</h1><p>{}</p><p class=\"soft\">{}<br>{}</p></header><main>",
        include_str!("page.css"),
        escaped(&report.about),
        escaped(&report.made),
        escaped(&report.machine.sentence()),
        title = escaped(&report.title),
    );
    if report.runs.len() > 1 {
        contents(report, &mut out);
    }
    for (index, run) in report.runs.iter().enumerate() {
        section(index, run, &mut out);
    }
    out.push_str("</main>");
    out.push_str(FOOT);
    out.push_str("</body></html>\n");
    out
}

const FOOT: &str = "<footer><h2>What the figures mean</h2><dl>\
<dt>User memory per connection</dt><dd>Growth of the server's resident memory, divided by the connections there.</dd>\
<dt>Kernel memory per connection</dt><dd>Growth of the machine's slab and TCP buffers, divided by both ends of all \
connections: what no figure of a process shows.</dd>\
<dt>Latency</dt><dd>From the moment at which a message was due, not from when it was sent: a late generator makes it \
worse, never better.</dd>\
<dt>CPU</dt><dd>User and system time; 100 % is one core.</dd>\
<dt>Valid</dt><dd>The generator was not itself the limit, and the server could be seen.</dd>\
<dt>Beside</dt><dd>“Paper” is what its authors published, on machines of their time. Other names were measured on a shared \
machine of two cores in November 2026, not in this run.</dd></dl></footer>";

/// A row for each run: its leading figures, and those of a paper.
fn contents(report: &Report, out: &mut String) {
    out.push_str(
        "<nav aria-label=\"Summary\"><table class=\"summary\"><thead><tr><th>Run</th><th class=\"num\">Kith, this run</th>\
         <th class=\"num\">Beside</th><th></th></tr></thead><tbody>",
    );
    for (index, run) in report.runs.iter().enumerate() {
        let _ = write!(
            out,
            "<tr><td><a href=\"#run-{index}\">{}</a><small>{}</small></td>",
            escaped(&run.name),
            escaped(&run.headline)
        );
        let figures = run.main_figures();
        let figure = |figure: &str, words: &str| {
            format!("<div>{}<small>{}</small></div>", escaped(figure), escaped(words))
        };
        let ours: String = figures.iter().map(|of| figure(&of.shown(), of.name)).collect();
        let beside = figures.iter().filter_map(|of| of.main_beside().map(|beside| (of, beside)));
        let theirs: String = beside
            .map(|(of, beside)| figure(&format!("{} {}", grouped(beside.figure), of.unit), beside.who))
            .collect();
        let ours = if ours.is_empty() { figure("–", "") } else { ours };
        let _ = write!(
            out,
            "<td class=\"num\">{ours}</td><td class=\"num\">{theirs}</td><td>{}</td></tr>",
            badge(run)
        );
    }
    out.push_str("</tbody></table></nav>");
}

fn section(index: usize, run: &Run, out: &mut String) {
    let _ = write!(
        out,
        "<section id=\"run-{index}\"><h2>{} {}</h2><p class=\"soft\">{}</p>",
        escaped(&run.headline),
        badge(run),
        escaped(&run.how)
    );
    if !run.verdict.valid {
        let _ = write!(out, "<p class=\"warn\">{}</p>", escaped(&run.verdict.sentence()));
    }
    if let Some(study) = &run.study {
        study::hypotheses(study, out);
    }
    tiles(run, out);
    out.push_str("<div class=\"charts\">");
    curves(run, out);
    for of in run.figures().filter(|of| !of.beside.is_empty()) {
        let Some(figure) = of.figure() else { continue };
        let mut bars = vec![("Kith, this run", figure)];
        bars.extend(of.beside.iter().map(|beside| (beside.who, beside.figure)));
        out.push_str(&chart::bars(of.name, of.unit, &bars, 1));
    }
    latencies(run, out);
    out.push_str("</div>");
    if let Some(study) = &run.study {
        study::comparisons(study, out);
    }
    table(run, out);
    let notes = run.notes();
    if !notes.is_empty() {
        let _ = write!(out, "<pre>{}</pre>", escaped(&notes.join("\n")));
    }
    out.push_str("</section>");
}

/// More distributions than this are compared in one chart instead of one chart each.
const KINDS_APART: usize = 4;

fn latencies(run: &Run, out: &mut String) {
    let all: Vec<(&str, Percentiles)> = run.distributions().collect();
    let (apart, kinds) = all.split_at(if all.len() > KINDS_APART { 1 } else { all.len() });
    for (name, ms) in apart {
        let bars = [("p50", ms.p50), ("p90", ms.p90), ("p99", ms.p99), ("p99.9", ms.p999), ("max", ms.max)];
        out.push_str(&chart::bars(name, "ms", &bars, bars.len()));
    }
    if kinds.is_empty() {
        return;
    }
    let of_each = |figure: fn(Percentiles) -> f64| -> Vec<(&str, f64)> {
        kinds.iter().map(|(name, ms)| (*name, figure(*ms))).collect()
    };
    out.push_str(&chart::bars("Median of each kind", "ms", &of_each(|ms| ms.p50), kinds.len()));
    out.push_str(&chart::bars("99th percentile of each kind", "ms", &of_each(|ms| ms.p99), kinds.len()));
}

fn badge(run: &Run) -> String {
    let (class, word) = match (run.verdict.valid, run.verdict.interrupted) {
        (true, _) => ("good", "valid"),
        (false, true) => ("bad", "interrupted"),
        (false, false) => ("bad", "not valid"),
    };
    format!("<span class=\"badge {class}\">{word}</span>")
}

/// The leading figures of a run come first.
fn tiles(run: &Run, out: &mut String) {
    out.push_str("<div class=\"tiles\">");
    for of in run.figures().filter(|of| of.figure().is_some()).take(4) {
        let figure = of.figure().map(grouped).unwrap_or_default();
        let _ = write!(
            out,
            "<div><strong>{figure}</strong> <span>{}</span><small>{}</small></div>",
            escaped(of.unit),
            escaped(of.name)
        );
    }
    out.push_str("</div>");
}

fn curves(run: &Run, out: &mut String) {
    let series = &run.series;
    let seconds = series.last().map_or(0.0, |point| point.seconds);
    let of = |value: &dyn Fn(&Point) -> Option<f64>| -> Vec<(f64, f64)> {
        series.iter().filter_map(|point| Some((point.seconds, value(point)?))).collect()
    };
    let kernel_first = series.iter().find_map(|point| point.kernel_bytes).unwrap_or(0) as f64;
    let charts = [
        Chart {
            title: "Connections",
            unit: "logged in",
            curves: vec![Curve { name: "logged in", points: of(&|point| Some(point.active as f64)) }],
        },
        Chart {
            title: "Sent and received",
            unit: "per second",
            curves: vec![
                Curve { name: "sent", points: rates(series, &|point| Some(point.sent as f64), 1.0) },
                Curve { name: "received", points: rates(series, &|point| Some(point.delivered as f64), 1.0) },
            ],
        },
        Chart {
            title: "Latency",
            unit: "ms",
            curves: vec![
                Curve { name: "p99", points: of(&|point| point.p99_ms) },
                Curve { name: "p50", points: of(&|point| point.p50_ms) },
            ],
        },
        Chart {
            title: "Memory",
            unit: "MB",
            curves: vec![
                Curve {
                    name: "server, user",
                    points: of(&|point| point.resident_bytes.map(|bytes| bytes as f64 / 1e6)),
                },
                Curve {
                    name: "machine's kernel, growth",
                    points: of(&|point| {
                        point.kernel_bytes.map(|bytes| (bytes as f64 - kernel_first).max(0.0) / 1e6)
                    }),
                },
            ],
        },
        Chart {
            title: "CPU",
            unit: "% of one core",
            curves: vec![
                Curve { name: "server", points: rates(series, &|point| point.server_cpu_seconds, 100.0) },
                Curve {
                    name: "generator",
                    points: rates(series, &|point| point.generator_cpu_seconds, 100.0),
                },
            ],
        },
    ];
    let presence = Chart {
        title: "News of presence",
        unit: "per second",
        curves: vec![Curve {
            name: "delivered",
            points: rates(series, &|point| Some(point.presence as f64), 1.0),
        }],
    };
    let has_presence = series.last().is_some_and(|last| last.presence > 0);
    for chart in charts.into_iter().chain(has_presence.then_some(presence)) {
        out.push_str(&chart.draw(seconds));
    }
}

/// A rate covers at least half a second, because the CPU clock ticks every 10 ms.
const RATE_OVER: f64 = 0.45;

fn rates(series: &[Point], value: &dyn Fn(&Point) -> Option<f64>, factor: f64) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    let mut last: Option<(f64, f64)> = None;
    for point in series {
        let Some(now) = value(point) else { continue };
        let Some((then, before)) = last else {
            last = Some((point.seconds, now));
            continue;
        };
        let passed = point.seconds - then;
        if passed >= RATE_OVER {
            points.push((point.seconds, (now - before).max(0.0) / passed * factor));
            last = Some((point.seconds, now));
        }
    }
    points
}

fn table(run: &Run, out: &mut String) {
    out.push_str("<table><thead><tr><th>Figure</th><th class=\"num\">Kith, this run</th><th>Beside</th></tr></thead><tbody>");
    for of in run.figures() {
        let beside: Vec<String> = of
            .beside
            .iter()
            .map(|beside| format!("{}: {}", escaped(beside.who), grouped(beside.figure)))
            .collect();
        let _ = write!(
            out,
            "<tr><td>{}</td><td class=\"num\">{}</td><td class=\"soft\">{}</td></tr>",
            escaped(of.name),
            escaped(&of.shown()),
            beside.join("<br>")
        );
    }
    for (name, ms) in run.distributions() {
        let _ = write!(out, "<tr><td>{}</td><td class=\"num\" colspan=\"2\">{ms}</td></tr>", escaped(name));
    }
    out.push_str("</tbody></table>");
}

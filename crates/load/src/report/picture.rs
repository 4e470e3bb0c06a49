//! A small picture of a run: connections and memory over time, and its first distribution of times.

use std::fmt::Write;

use super::{Run, escaped, grouped, scale};
use crate::percentiles::Percentiles;
use crate::series::Point;

const WIDTH: f64 = 880.0;
const HEIGHT: f64 = 500.0;

/// Colours are variables, so that one file suits a light page and a dark one.
const STYLE: &str = "\
:root{--paper:#ffffff;--ink:#1c2733;--soft:#5d6b7a;--line:#dfe5eb;--a:#1f6feb;--b:#c2410c;--c:#0f766e}\
@media(prefers-color-scheme:dark){:root{--paper:#11161d;--ink:#e6edf3;--soft:#93a1b0;--line:#2b3440;\
--a:#6cb0ff;--b:#ff9e64;--c:#4fd1c0}}\
text{font:12px system-ui,sans-serif;fill:var(--soft)}\
.head{font-size:17px;font-weight:600;fill:var(--ink)}.label{font-size:13px;font-weight:600;fill:var(--ink)}\
.grid{stroke:var(--line)}.curve{fill:none;stroke-width:2;stroke-linejoin:round}.end{text-anchor:end}\
.mid{text-anchor:middle}";

pub(super) fn draw(run: &Run) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"{label}\"><style>{STYLE}</style>\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"10\" fill=\"var(--paper)\"/>\
         <text class=\"head\" x=\"28\" y=\"36\">{label}</text><text x=\"28\" y=\"56\">{figures}</text>",
        label = escaped(&headline(run)),
        figures = escaped(&figures(run)),
    );
    let series = &run.series;
    let active: Vec<(f64, f64)> = series.iter().map(|point| (point.seconds, point.active as f64)).collect();
    let memory: Vec<(f64, f64)> = series.iter().filter_map(megabytes).collect();
    let end = series.last().map_or(1.0, |point| point.seconds.max(1.0));
    let upper = Panel { x: 70.0, y: 96.0, width: 480.0, height: 150.0 };
    let lower = Panel { x: 70.0, y: 300.0, width: 480.0, height: 150.0 };
    upper.curve(&mut out, "connections", "--a", &active, end);
    lower.curve(&mut out, "resident memory of the server, MB", "--b", &memory, end);
    let _ = write!(out, "<text class=\"mid\" x=\"310\" y=\"486\">seconds since the first connection</text>");
    let side = Panel { x: 640.0, y: 96.0, width: 210.0, height: 354.0 };
    if let Some((name, ms)) = run.distributions().next() {
        let name = name.split(',').next().unwrap_or(name);
        side.bars(&mut out, &format!("{name}, ms"), "--c", ms);
    }
    out.push_str("</svg>\n");
    out
}

fn headline(run: &Run) -> String {
    let not = if run.verdict.valid { "" } else { " (not valid)" };
    format!("{}{not}", run.headline)
}

/// The first readable figures.
fn figures(run: &Run) -> String {
    let known = run.figures().filter(|of| of.figure().is_some());
    let parts: Vec<String> = known.take(3).map(|of| format!("{} {}", of.name, of.shown())).collect();
    parts.join("  ·  ")
}

fn megabytes(point: &Point) -> Option<(f64, f64)> {
    Some((point.seconds, point.resident_bytes? as f64 / 1e6))
}

struct Panel {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Panel {
    fn curve(&self, out: &mut String, label: &str, colour: &str, points: &[(f64, f64)], end: f64) {
        let Panel { x, y, width, height } = self;
        let top = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        let (step, ceiling) = scale(top, 4.0);
        self.label(out, label);
        for line in 0..=(ceiling / step).round() as u32 {
            let value = step * f64::from(line);
            let at = y + height - value / ceiling * height;
            let _ = write!(
                out,
                "<path class=\"grid\" d=\"M{x} {at:.1}h{width}\"/>\
                 <text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x - 8.0,
                at + 4.0,
                grouped(value)
            );
        }
        let (seconds, _) = scale(end, 6.0);
        let mut second = 0.0;
        while second <= end {
            let at = x + second / end * width;
            let _ = write!(
                out,
                "<text class=\"mid\" x=\"{at:.1}\" y=\"{:.1}\">{second}</text>",
                y + height + 18.0
            );
            second += seconds;
        }
        let mut path = String::new();
        for (index, (second, value)) in points.iter().enumerate() {
            let (px, py) = (x + second / end * width, y + height - value / ceiling * height);
            let _ = write!(path, "{}{px:.1} {py:.1}", if index == 0 { 'M' } else { 'L' });
        }
        let _ = write!(out, "<path class=\"curve\" stroke=\"var({colour})\" d=\"{path}\"/>");
    }

    fn bars(&self, out: &mut String, label: &str, colour: &str, times: Percentiles) {
        let Panel { x, y, width, height } = self;
        self.label(out, label);
        let bars = [
            ("p50", times.p50),
            ("p90", times.p90),
            ("p99", times.p99),
            ("p99.9", times.p999),
            ("max", times.max),
        ];
        let longest = times.max.max(0.001);
        let pitch = height / bars.len() as f64;
        for (index, (name, value)) in bars.into_iter().enumerate() {
            let top = y + pitch * index as f64;
            let long = (value / longest * width).max(2.0);
            let _ = write!(
                out,
                "<text x=\"{x}\" y=\"{:.1}\">{name}</text>\
                 <text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{value:.1}</text>\
                 <rect x=\"{x}\" y=\"{:.1}\" width=\"{long:.1}\" height=\"16\" rx=\"3\" fill=\"var({colour})\"/>",
                top + 20.0,
                x + width,
                top + 20.0,
                top + 28.0,
            );
        }
    }

    fn label(&self, out: &mut String, label: &str) {
        let _ = write!(
            out,
            "<text class=\"label\" x=\"{}\" y=\"{}\">{}</text>",
            self.x,
            self.y - 14.0,
            escaped(label)
        );
    }
}

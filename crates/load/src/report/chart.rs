//! Charts in SVG, drawn with the page's colours, so that one file suits a light page, a dark one, and paper.

use std::fmt::Write;

use maud::{Markup, html};

use super::{Run, grouped, scale};
use crate::percentiles::Percentiles;
use crate::series::Point;
use crate::study::Comparison;

pub(super) const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 58.0;
const TOP: f64 = 14.0;
const RIGHT: f64 = 14.0;
const BOTTOM: f64 = 30.0;
/// Of a bar with its name.
const ROW: f64 = 34.0;
/// More points than this cannot be seen on a screen.
const MOST_POINTS: usize = 300;
/// A rate covers at least half a second, because the CPU clock ticks every 10 ms.
const RATE_OVER: f64 = 0.45;

/// A chart without its frame.
pub(super) struct Drawing {
    title: String,
    unit: String,
    /// Names of several curves.
    legend: Vec<&'static str>,
    /// For screen readers.
    spoken: String,
    height: f64,
    marks: Markup,
}

impl Drawing {
    /// For the page.
    pub(super) fn figure(&self) -> Markup {
        html! {
            figure.chart {
                figcaption {
                    (self.title) " " small { (self.unit) }
                    @for (index, name) in self.legend.iter().enumerate() {
                        span class={ "key k" (index) } { (name) }
                    }
                }
                svg viewBox={ "0 0 " (WIDTH) " " (self.height) } role="img" aria-label=(self.spoken) { (self.marks) }
            }
        }
    }

    /// A part of another picture.
    pub(super) fn group(&self, x: f64, y: f64) -> Markup {
        html! {
            g transform={ "translate(" (x) " " (y) ")" } {
                text.ours x="2" y="-6" {
                    (self.title) ", " (self.unit)
                    @for (name, colour) in self.legend.iter().zip(["a", "b", "c"]) {
                        tspan dx="14" style={ "fill:var(--" (colour) ")" } { (name) }
                    }
                }
                (self.marks)
            }
        }
    }
}

/// Curves over the time of a run, each with its points: (seconds, value).
pub(super) struct Chart {
    pub(super) title: &'static str,
    unit: &'static str,
    curves: Vec<(&'static str, Vec<(f64, f64)>)>,
}

impl Chart {
    pub(super) fn all_of(run: &Run) -> Vec<Chart> {
        let series = &run.series;
        let kernel_first = series.iter().find_map(|point| point.kernel_bytes).unwrap_or(0);
        let of = |name, value: &dyn Fn(&Point) -> Option<f64>| {
            (name, series.iter().filter_map(|point| Some((point.seconds, value(point)?))).collect())
        };
        let rate = |name, factor: f64, value: &dyn Fn(&Point) -> Option<f64>| {
            let (name, points): (_, Vec<(f64, f64)>) = of(name, value);
            (name, rates(&points, factor))
        };
        let chart = |title, unit, curves| Chart { title, unit, curves };
        let mut charts = vec![
            chart("Connections", "logged in", vec![of("logged in", &|point| Some(point.active as f64))]),
            chart(
                "Sent and received",
                "per second",
                vec![
                    rate("sent", 1.0, &|point| Some(point.sent as f64)),
                    rate("received", 1.0, &|point| Some(point.delivered as f64)),
                ],
            ),
            chart("Latency", "ms", vec![of("p99", &|point| point.p99_ms), of("p50", &|point| point.p50_ms)]),
            chart(
                "Memory",
                "MB",
                vec![
                    of("server, user", &|point| Some(point.resident_bytes? as f64 / 1e6)),
                    of("machine's kernel, growth", &|point| {
                        Some(point.kernel_bytes?.saturating_sub(kernel_first) as f64 / 1e6)
                    }),
                ],
            ),
            chart(
                "CPU",
                "% of one core",
                vec![
                    rate("server", 100.0, &|point| point.server_cpu_seconds),
                    rate("generator", 100.0, &|point| point.generator_cpu_seconds),
                ],
            ),
        ];
        if series.last().is_some_and(|last| last.presence > 0) {
            let curve = rate("delivered", 1.0, &|point| Some(point.presence as f64));
            charts.push(chart("News of presence", "per second", vec![curve]));
        }
        charts
    }

    /// None: the curves have nothing to show.
    pub(super) fn draw(&self, seconds: f64) -> Option<Drawing> {
        let curves: Vec<_> = self.curves.iter().filter(|(_, points)| points.len() > 1).collect();
        let most = |points: &[(f64, f64)]| points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        let top = curves.iter().map(|(_, points)| most(points)).fold(0.0, f64::max);
        if top <= 0.0 {
            return None;
        }
        let (step, ceiling) = scale(top, 4.0);
        let plot = Plot { seconds: seconds.max(0.001), ceiling };
        let mut spoken = format!("{}, {}:", self.title, self.unit);
        for (name, points) in &curves {
            let (most, last) = (grouped(most(points)), points.last().map_or(0.0, |(_, value)| *value));
            let _ = write!(spoken, " {name} at most {most}, at the end {}.", grouped(last));
        }
        Some(Drawing {
            title: self.title.to_owned(),
            unit: self.unit.to_owned(),
            legend: curves.iter().map(|(name, _)| *name).filter(|_| curves.len() > 1).collect(),
            spoken,
            height: HEIGHT,
            marks: html! {
                (plot.grid(step))
                @for (index, (_, points)) in curves.iter().enumerate() { (plot.curve(index, points)) }
            },
        })
    }
}

struct Plot {
    seconds: f64,
    ceiling: f64,
}

impl Plot {
    fn x(&self, seconds: f64) -> f64 {
        LEFT + seconds / self.seconds * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - value.max(0.0) / self.ceiling * (HEIGHT - TOP - BOTTOM)
    }

    fn grid(&self, step: f64) -> Markup {
        let (every, _) = scale(self.seconds, 6.0);
        let lines = (0..=(self.ceiling / step).round() as u32).map(|line| step * f64::from(line));
        let seconds = (0..).map(|tick| every * f64::from(tick)).take_while(|at| *at <= self.seconds * 1.001);
        html! {
            @for value in lines {
                path.grid d={ "M" (LEFT) " " (tenth(self.y(value))) "H" (WIDTH - RIGHT) } {}
                text.end x=(LEFT - 7.0) y=(tenth(self.y(value) + 4.0)) { (tick(value)) }
            }
            @for at in seconds {
                text.mid x=(tenth(self.x(at))) y=(HEIGHT - 10.0) { (grouped(at)) @if at == 0.0 { " s" } }
            }
        }
    }

    fn curve(&self, index: usize, points: &[(f64, f64)]) -> Markup {
        let at = |(second, value): (f64, f64)| format!("{:.1} {:.1}", self.x(second), self.y(value));
        let points: Vec<_> = thinned(points);
        let path = points.iter().map(|point| at(*point)).collect::<Vec<_>>().join("L");
        let below =
            |point: Option<&(f64, f64)>| point.map(|(second, _)| at((*second, 0.0))).unwrap_or_default();
        html! {
            @if index == 0 {
                path.area d={ "M" (path) "L" (below(points.last())) "L" (below(points.first())) "Z" } {}
            }
            path class={ "curve c" (index) } d={ "M" (path) } {}
        }
    }
}

fn tenth(coordinate: f64) -> String {
    format!("{coordinate:.1}")
}

/// Short enough for the margin: 15,000 is 15k.
fn tick(value: f64) -> String {
    match value {
        1e6.. => format!("{}M", grouped(value / 1e6)),
        1e4.. => format!("{}k", grouped(value / 1e3)),
        _ => grouped(value),
    }
}

/// The growth per second.
fn rates(points: &[(f64, f64)], factor: f64) -> Vec<(f64, f64)> {
    let mut rates = Vec::new();
    let Some(mut last) = points.first().copied() else { return rates };
    for (second, now) in points {
        let passed = second - last.0;
        if passed >= RATE_OVER {
            rates.push((*second, (now - last.1).max(0.0) / passed * factor));
            last = (*second, *now);
        }
    }
    rates
}

/// The highest value of each bucket, so that peaks stay visible.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let bucket = points.len().div_ceil(MOST_POINTS).max(1);
    let highest = |points: &[(f64, f64)]| points.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    points.chunks(bucket).filter_map(highest).collect()
}

pub(super) struct Bar<'a> {
    pub(super) name: &'a str,
    pub(super) value: f64,
    /// The value for people.
    pub(super) shown: String,
    pub(super) is_ours: bool,
    /// The lowest and the highest value of several runs.
    pub(super) range: Option<(f64, f64)>,
}

impl<'a> Bar<'a> {
    pub(super) fn new(name: &'a str, value: f64, is_ours: bool) -> Bar<'a> {
        Bar { name, value, shown: grouped(value), is_ours, range: None }
    }
}

/// Bars on one scale. None: there is nothing to show.
pub(super) fn bars(title: &str, unit: &str, bars: &[Bar<'_>]) -> Option<Drawing> {
    let most = |bar: &Bar<'_>| bar.range.map_or(bar.value, |(_, most)| most);
    let longest = bars.iter().map(most).fold(0.0, f64::max);
    if longest <= 0.0 {
        return None;
    }
    let length = |value: f64| value.max(0.0) / longest * (WIDTH - 4.0);
    let row = |(index, bar): (usize, &Bar<'_>)| {
        let (top, class) = (ROW * index as f64, if bar.is_ours { "ours" } else { "theirs" });
        let whisker = bar.range.map(|(least, most)| {
            let (from, to, middle) = (2.0 + length(least), 2.0 + length(most), top + 22.5);
            let end = middle - 3.5;
            format!("M{from:.1} {middle}H{to:.1}M{from:.1} {end}v7M{to:.1} {end}v7")
        });
        html! {
            text class=(class) x="2" y=(top + 13.0) { (bar.name) }
            text class={ "end " (class) } x=(WIDTH - 2.0) y=(top + 13.0) { (bar.shown) }
            rect.track x="2" y=(top + 18.0) width=(WIDTH - 4.0) height="9" rx="4.5" {}
            rect class={ "bar " (class) } x="2" y=(top + 18.0) width=(tenth(length(bar.value).max(3.0))) height="9" rx="4.5" {}
            @if let Some(whisker) = whisker { path.whisker d=(whisker) {} }
        }
    };
    let spoken: Vec<String> = bars.iter().map(|bar| format!("{} {}", bar.name, bar.shown)).collect();
    Some(Drawing {
        title: title.to_owned(),
        unit: unit.to_owned(),
        legend: Vec::new(),
        spoken: spoken.join(", "),
        height: ROW * bars.len() as f64 + 6.0,
        marks: html! { @for bar in bars.iter().enumerate() { (row(bar)) } },
    })
}

pub(super) fn percentiles(name: &str, ms: Percentiles) -> Option<Drawing> {
    let all = [("p50", ms.p50), ("p90", ms.p90), ("p99", ms.p99), ("p99.9", ms.p999), ("max", ms.max)];
    bars(name, "ms", &all.map(|(name, value)| Bar::new(name, value, true)))
}

/// Bars of medians, each with a line from the lowest to the highest value.
pub(super) fn whiskers(comparison: &Comparison) -> Option<Drawing> {
    let rows = comparison.cases.iter().filter_map(|case| {
        let spread = case.spread?;
        let range = (spread.runs > 1).then_some((spread.least, spread.most));
        let shown = grouped(spread.median);
        Some(Bar { name: &case.setting, value: spread.median, shown, is_ours: true, range })
    });
    bars(&comparison.figure, &comparison.unit, &rows.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_survives_the_thinning() {
        let mut points: Vec<(f64, f64)> = (0..4000).map(|at| (f64::from(at), 1.0)).collect();
        points[1777].1 = 99.0;
        let thin = thinned(&points);
        assert!(thin.len() <= MOST_POINTS && thin.iter().any(|point| point.1 == 99.0));
        assert_eq!(thinned(&points[..3]), points[..3]);
    }
}

//! Charts in SVG, drawn with the page's colours, so that one file suits a light page, a dark one, and paper.

use std::fmt::Write;

use super::{escaped, grouped, scale};
use crate::study::{Comparison, Spread};

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 58.0;
const TOP: f64 = 14.0;
const RIGHT: f64 = 14.0;
const BOTTOM: f64 = 30.0;
/// More points than this cannot be seen on a screen.
const MOST_POINTS: usize = 300;

/// Curves over the time of a run.
pub(super) struct Chart {
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    pub(super) curves: Vec<Curve>,
}

pub(super) struct Curve {
    pub(super) name: &'static str,
    /// (seconds, value)
    pub(super) points: Vec<(f64, f64)>,
}

impl Chart {
    /// Empty if the curves have nothing to show.
    pub(super) fn draw(&self, seconds: f64) -> String {
        let curves: Vec<&Curve> = self.curves.iter().filter(|curve| curve.points.len() > 1).collect();
        let top = curves.iter().flat_map(|curve| &curve.points).map(|(_, value)| *value).fold(0.0, f64::max);
        if curves.is_empty() || top <= 0.0 {
            return String::new();
        }
        let (step, ceiling) = scale(top, 4.0);
        let plot = Plot { seconds: seconds.max(0.001), ceiling };
        let mut out = format!(
            "<figure class=\"chart\"><figcaption>{} <small>{}</small>{}</figcaption>\
             <svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
            escaped(self.title),
            escaped(self.unit),
            legend(&curves),
            escaped(&spoken(self, &curves)),
        );
        plot.grid(step, &mut out);
        for (index, curve) in curves.iter().enumerate() {
            plot.curve(index, curve, &mut out);
        }
        out.push_str("</svg></figure>");
        out
    }
}

fn legend(curves: &[&Curve]) -> String {
    if curves.len() < 2 {
        return String::new();
    }
    let names = curves.iter().enumerate();
    names
        .map(|(index, curve)| format!("<span class=\"key k{index}\">{}</span>", escaped(curve.name)))
        .collect()
}

/// A text for screen readers: the last and the highest value of each curve.
fn spoken(chart: &Chart, curves: &[&Curve]) -> String {
    let mut out = format!("{}, {}:", chart.title, chart.unit);
    for curve in curves {
        let most = curve.points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        let last = curve.points.last().map_or(0.0, |(_, value)| *value);
        let _ = write!(out, " {} at most {}, at the end {}.", curve.name, grouped(most), grouped(last));
    }
    out
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

    fn grid(&self, step: f64, out: &mut String) {
        for line in 0..=(self.ceiling / step).round() as u32 {
            let value = step * f64::from(line);
            let y = self.y(value);
            let _ = write!(
                out,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{:.1}\"/><text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 7.0,
                y + 4.0,
                tick(value),
            );
        }
        let (every, _) = scale(self.seconds, 6.0);
        let mut second = 0.0;
        while second <= self.seconds * 1.001 {
            let _ = write!(
                out,
                "<text class=\"mid\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                self.x(second),
                HEIGHT - 10.0,
                if second == 0.0 { "0 s".to_owned() } else { grouped(second) }
            );
            second += every;
        }
    }

    fn curve(&self, index: usize, curve: &Curve, out: &mut String) {
        let points = thinned(&curve.points);
        let mut path = String::new();
        for (at, (second, value)) in points.iter().enumerate() {
            let lead = if at == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{lead}{:.1} {:.1}", self.x(*second), self.y(*value));
        }
        if let (0, Some(first), Some(last)) = (index, points.first(), points.last()) {
            let (from, to, floor) = (self.x(first.0), self.x(last.0), self.y(0.0));
            let _ =
                write!(out, "<path class=\"area\" d=\"{path}L{to:.1} {floor:.1}L{from:.1} {floor:.1}Z\"/>");
        }
        let _ = write!(out, "<path class=\"curve c{index}\" d=\"{path}\"/>");
    }
}

/// Short enough for the margin: 15,000 is 15k.
fn tick(value: f64) -> String {
    match value {
        1e6.. => format!("{}M", grouped(value / 1e6)),
        1e4.. => format!("{}k", grouped(value / 1e3)),
        _ => grouped(value),
    }
}

/// The highest value of each bucket, so that peaks stay visible.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let bucket = points.len().div_ceil(MOST_POINTS).max(1);
    let highest = |points: &[(f64, f64)]| points.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    points.chunks(bucket).filter_map(highest).collect()
}

/// Bars on one scale: the first `ours` are ours, the rest belong to others.
pub(super) fn bars(title: &str, unit: &str, bars: &[(&str, f64)], ours: usize) -> String {
    let longest = bars.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    if longest <= 0.0 {
        return String::new();
    }
    let height = 34.0 * bars.len() as f64 + 6.0;
    let mut out = format!(
        "<figure class=\"chart\"><figcaption>{} <small>{}</small></figcaption>\
         <svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">",
        escaped(title),
        escaped(unit),
        escaped(
            &bars
                .iter()
                .map(|(who, value)| format!("{who} {}", grouped(*value)))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    for (index, (who, value)) in bars.iter().enumerate() {
        let top = 34.0 * index as f64;
        let class = if index < ours { "ours" } else { "theirs" };
        let _ = write!(
            out,
            "<text class=\"{class}\" x=\"2\" y=\"{:.1}\">{}</text>\
             <text class=\"end {class}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\
             <rect class=\"track\" x=\"2\" y=\"{:.1}\" width=\"{:.1}\" height=\"9\" rx=\"4.5\"/>\
             <rect class=\"bar {class}\" x=\"2\" y=\"{:.1}\" width=\"{:.1}\" height=\"9\" rx=\"4.5\"/>",
            top + 13.0,
            escaped(who),
            WIDTH - 2.0,
            top + 13.0,
            grouped(*value),
            top + 18.0,
            WIDTH - 4.0,
            top + 18.0,
            (value / longest * (WIDTH - 4.0)).max(3.0),
        );
    }
    out.push_str("</svg></figure>");
    out
}

/// Bars of medians, each with a line from the lowest to the highest value.
pub(super) fn whiskers(comparison: &Comparison) -> String {
    let cases: Vec<(&str, Spread)> =
        comparison.cases.iter().filter_map(|case| Some((case.setting.as_str(), case.spread?))).collect();
    let longest = cases.iter().map(|(_, spread)| spread.most).fold(0.0, f64::max);
    if longest <= 0.0 {
        return String::new();
    }
    let spoken: Vec<String> = cases.iter().map(|(setting, spread)| format!("{setting} {spread}")).collect();
    let height = 34.0 * cases.len() as f64 + 6.0;
    let mut out = format!(
        "<figure class=\"chart\"><figcaption>{} <small>{}</small></figcaption>\
         <svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">",
        escaped(&comparison.figure),
        escaped(&comparison.unit),
        escaped(&spoken.join(", ")),
    );
    for (index, (setting, spread)) in cases.iter().enumerate() {
        let top = 34.0 * index as f64;
        let x = |value: f64| 2.0 + value.max(0.0) / longest * (WIDTH - 6.0);
        let _ = write!(
            out,
            "<text class=\"ours\" x=\"2\" y=\"{:.1}\">{}</text>\
             <text class=\"end ours\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\
             <rect class=\"bar ours\" x=\"2\" y=\"{:.1}\" width=\"{:.1}\" height=\"9\" rx=\"2\"/>",
            top + 13.0,
            escaped(setting),
            WIDTH - 2.0,
            top + 13.0,
            grouped(spread.median),
            top + 18.0,
            (x(spread.median) - 2.0).max(3.0),
        );
        if spread.runs > 1 {
            let (least, most, middle) = (x(spread.least), x(spread.most), top + 22.5);
            let _ = write!(
                out,
                "<path class=\"whisker\" d=\"M{least:.1} {middle}H{most:.1}M{least:.1} {:.1}v7M{most:.1} {:.1}v7\"/>",
                middle - 3.5,
                middle - 3.5,
            );
        }
    }
    out.push_str("</svg></figure>");
    out
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

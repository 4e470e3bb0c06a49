//! A picture of a run: connections and memory over time, and its first distribution of times.

use maud::html;

use super::Run;
use super::chart::{self, Chart, WIDTH};
use super::page::STYLE;

pub(super) fn draw(run: &Run) -> String {
    let seconds = run.series.last().map_or(1.0, |point| point.seconds);
    let charts =
        Chart::all_of(run).into_iter().filter(|chart| ["Connections", "Memory"].contains(&chart.title));
    let drawn = charts.filter_map(|chart| chart.draw(seconds));
    let first = run.distributions().next().and_then(|(name, ms)| chart::percentiles(name, ms));
    let not = if run.verdict.valid { "" } else { " (not valid)" };
    let headline = format!("{}{not}", run.headline);
    let known = run.figures().filter(|of| of.figure().is_some()).take(3);
    let figures: Vec<String> = known.map(|of| format!("{} {}", of.name, of.shown())).collect();
    let (width, height) = (2.0 * WIDTH + 80.0, 610.0);
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(headline) {
            style { (STYLE) }
            rect width=(width) height=(height) rx="10" fill="var(--paper)" {}
            text.ours x="28" y="36" { (headline) }
            text x="28" y="58" { (figures.join("  ·  ")) }
            @for (row, drawing) in drawn.enumerate() { (drawing.group(20.0, 100.0 + 265.0 * row as f64)) }
            @if let Some(drawing) = first { (drawing.group(WIDTH + 60.0, 100.0)) }
        }
    };
    picture.into_string() + "\n"
}

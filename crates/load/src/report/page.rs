//! The report as one page, without scripts and external resources.

use maud::{Markup, PreEscaped, html};

use super::chart::{self, Bar, Chart};
use super::{Report, Run, grouped, study};
use crate::percentiles::Percentiles;

pub(super) const STYLE: PreEscaped<&str> = PreEscaped(include_str!("page.css"));

pub(super) fn page(report: &Report) -> String {
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (report.title) }
                style { (STYLE) }
            }
            body {
                header {
                    p.brand { "kith load" }
                    h1 { (report.title) }
                    p { (report.about) }
                    p.soft { (report.made) br; (report.machine.sentence()) }
                }
                main {
                    @if report.runs.len() > 1 { (contents(report)) }
                    @for (index, run) in report.runs.iter().enumerate() { (section(index, run)) }
                }
                (foot())
            }
        }
    };
    page.into_string() + "\n"
}

fn foot() -> Markup {
    html! {
        footer {
            h2 { "What the figures mean" }
            dl {
                dt { "User memory per connection" }
                dd { "Growth of the server's resident memory, divided by the connections there." }
                dt { "Kernel memory per connection" }
                dd {
                    "Growth of the machine's slab and TCP buffers, divided by both ends of all connections: what no \
                     figure of a process shows."
                }
                dt { "Latency" }
                dd {
                    "From the moment at which a message was due, not from when it was sent: a late generator makes it \
                     worse, never better."
                }
                dt { "CPU" }
                dd { "User and system time; 100 % is one core." }
                dt { "Valid" }
                dd { "The generator was not itself the limit, and the server could be seen." }
                dt { "Beside" }
                dd {
                    "“Paper” is what its authors published, on machines of their time. Other names were measured on a \
                     shared machine of two cores in November 2026, not in this run."
                }
            }
        }
    }
}

/// A row for each run: its leading figures, and those of a paper.
fn contents(report: &Report) -> Markup {
    let figure = |figure: &str, words: &str| html! { div { (figure) small { (words) } } };
    let row = |index: usize, run: &Run| {
        let figures = run.main_figures();
        html! {
            tr {
                td { a href={ "#run-" (index) } { (run.name) } small { (run.headline) } }
                td.num {
                    @for of in &figures { (figure(&of.shown(), of.name)) }
                    @if figures.is_empty() { (figure("–", "")) }
                }
                td.num {
                    @for of in &figures {
                        @if let Some(beside) = of.main_beside() {
                            (figure(&format!("{} {}", grouped(beside.figure), of.unit), beside.who))
                        }
                    }
                }
                td { (badge(run)) }
            }
        }
    };
    html! {
        nav aria-label="Summary" {
            table.summary {
                thead { tr { th { "Run" } th.num { "Kith, this run" } th.num { "Beside" } th {} } }
                tbody { @for (index, run) in report.runs.iter().enumerate() { (row(index, run)) } }
            }
        }
    }
}

fn section(index: usize, run: &Run) -> Markup {
    let notes = run.notes();
    html! {
        section id={ "run-" (index) } {
            h2 { (run.headline) " " (badge(run)) }
            p.soft { (run.how) }
            @if !run.verdict.valid { p.warn { (run.verdict.sentence()) } }
            @if let Some(study) = &run.study { (study::hypotheses(study)) }
            (tiles(run))
            div.charts { (charts(run)) }
            @if let Some(study) = &run.study { (study::comparisons(study)) }
            (table(run))
            @if !notes.is_empty() { pre { (notes.join("\n")) } }
        }
    }
}

fn charts(run: &Run) -> Markup {
    let seconds = run.series.last().map_or(0.0, |point| point.seconds);
    let curves = Chart::all_of(run).into_iter().filter_map(|chart| chart.draw(seconds));
    let compared = run.figures().filter(|of| !of.beside.is_empty()).filter_map(|of| {
        let ours = Bar::new("Kith, this run", of.figure()?, true);
        let theirs = of.beside.iter().map(|beside| Bar::new(beside.who, beside.figure, false));
        chart::bars(of.name, of.unit, &std::iter::once(ours).chain(theirs).collect::<Vec<_>>())
    });
    html! { @for drawing in curves.chain(compared).chain(latencies(run)) { (drawing.figure()) } }
}

/// More distributions than this are compared in one chart instead of one chart each.
const KINDS_APART: usize = 4;

fn latencies(run: &Run) -> impl Iterator<Item = chart::Drawing> {
    let all: Vec<(&str, Percentiles)> = run.distributions().collect();
    let (apart, kinds) = all.split_at(if all.len() > KINDS_APART { 1 } else { all.len() });
    let apart = apart.iter().map(|(name, ms)| chart::percentiles(name, *ms));
    let of_each = |title, figure: fn(&Percentiles) -> f64| {
        let bars: Vec<_> = kinds.iter().map(|(name, ms)| Bar::new(name, figure(ms), true)).collect();
        chart::bars(title, "ms", &bars)
    };
    let together =
        [of_each("Median of each kind", |ms| ms.p50), of_each("99th percentile of each kind", |ms| ms.p99)];
    apart.chain(together).flatten().collect::<Vec<_>>().into_iter()
}

fn badge(run: &Run) -> Markup {
    let (class, word) = match (run.verdict.valid, run.verdict.interrupted) {
        (true, _) => ("good", "valid"),
        (false, true) => ("bad", "interrupted"),
        (false, false) => ("bad", "not valid"),
    };
    html! { span class={ "badge " (class) } { (word) } }
}

/// The leading figures of a run come first.
fn tiles(run: &Run) -> Markup {
    let known = run.figures().filter_map(|of| Some((of, of.figure()?)));
    html! {
        div.tiles {
            @for (of, figure) in known.take(4) {
                div { strong { (grouped(figure)) } " " span { (of.unit) } small { (of.name) } }
            }
        }
    }
}

fn table(run: &Run) -> Markup {
    html! {
        table {
            thead { tr { th { "Figure" } th.num { "Kith, this run" } th { "Beside" } } }
            tbody {
                @for of in run.figures() {
                    tr {
                        td { (of.name) }
                        td.num { (of.shown()) }
                        td.soft {
                            @for (index, beside) in of.beside.iter().enumerate() {
                                @if index > 0 { br; }
                                (beside.who) ": " (grouped(beside.figure))
                            }
                        }
                    }
                }
                @for (name, ms) in run.distributions() {
                    tr { td { (name) } td.num colspan="2" { (ms) } }
                }
            }
        }
    }
}

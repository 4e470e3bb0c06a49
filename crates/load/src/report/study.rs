//! A study on the page: hypotheses with their outcomes, then a table and bars with whiskers for each factor.

use maud::{Markup, html};

use super::chart;
use crate::study::{Case, Comparison, Outcome, Study};

pub(super) fn hypotheses(study: &Study) -> Markup {
    let class = |outcome| match outcome {
        Outcome::Held => "good",
        Outcome::DidNotHold => "bad",
        Outcome::NotDecided => "soft",
    };
    html! {
        @if !study.hypotheses.is_empty() {
            h3 { "Stated before the first run" }
            ul.hypotheses {
                @for judged in &study.hypotheses {
                    li {
                        (judged.says) " " span class={ "badge " (class(judged.outcome)) } { (judged.outcome.words()) }
                        small { (judged.because) }
                    }
                }
            }
        }
    }
}

pub(super) fn comparisons(study: &Study) -> Markup {
    html! {
        @for of_factor in study.comparisons.chunk_by(|a, b| a.factor == b.factor) {
            h3 { (of_factor[0].factor) }
            (table(of_factor))
            div.charts {
                @for drawing in of_factor.iter().filter_map(chart::whiskers) { (drawing.figure()) }
            }
        }
    }
}

fn table(of_factor: &[Comparison]) -> Markup {
    let shown = |comparison: &Comparison, row: usize| {
        let spread = comparison.cases.get(row).and_then(|case: &Case| case.spread);
        spread.map_or_else(|| "no valid run".to_owned(), |spread| spread.to_string())
    };
    html! {
        div.wide {
            table {
                thead {
                    tr {
                        th { "Setting" }
                        @for comparison in of_factor {
                            th.num { (comparison.figure) " " small { (comparison.unit) } }
                        }
                    }
                }
                tbody {
                    @for (row, case) in of_factor[0].cases.iter().enumerate() {
                        tr {
                            td { (case.setting) }
                            @for comparison in of_factor { td.num { (shown(comparison, row)) } }
                        }
                    }
                }
            }
        }
    }
}

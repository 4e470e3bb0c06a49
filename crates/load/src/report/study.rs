//! A study on the page: hypotheses with their outcomes, then a table and bars with whiskers for each factor.

use std::fmt::Write;

use super::{chart, escaped};
use crate::study::{Case, Comparison, Outcome, Study};

pub(super) fn hypotheses(study: &Study, out: &mut String) {
    if study.hypotheses.is_empty() {
        return;
    }
    out.push_str("<h3>Stated before the first run</h3><ul class=\"hypotheses\">");
    for judged in &study.hypotheses {
        let class = match judged.outcome {
            Outcome::Held => "good",
            Outcome::DidNotHold => "bad",
            Outcome::NotDecided => "soft",
        };
        let _ = write!(
            out,
            "<li>{} <span class=\"badge {class}\">{}</span><small>{}</small></li>",
            escaped(&judged.says),
            judged.outcome.words(),
            escaped(&judged.because)
        );
    }
    out.push_str("</ul>");
}

pub(super) fn comparisons(study: &Study, out: &mut String) {
    for of_factor in study.comparisons.chunk_by(|a, b| a.factor == b.factor) {
        let Some(first) = of_factor.first() else { continue };
        let _ = write!(out, "<h3>{}</h3>", escaped(&first.factor));
        table(first, of_factor, out);
        out.push_str("<div class=\"charts\">");
        for comparison in of_factor {
            out.push_str(&chart::whiskers(comparison));
        }
        out.push_str("</div>");
    }
}

fn table(first: &Comparison, of_factor: &[Comparison], out: &mut String) {
    out.push_str("<div class=\"wide\"><table><thead><tr><th>Setting</th>");
    for comparison in of_factor {
        let _ = write!(
            out,
            "<th class=\"num\">{} <small>{}</small></th>",
            escaped(&comparison.figure),
            escaped(&comparison.unit)
        );
    }
    out.push_str("</tr></thead><tbody>");
    for (row, case) in first.cases.iter().enumerate() {
        let _ = write!(out, "<tr><td>{}</td>", escaped(&case.setting));
        for comparison in of_factor {
            let spread = comparison.cases.get(row).and_then(|case: &Case| case.spread);
            let shown = spread.map_or_else(|| "no valid run".to_owned(), |spread| spread.to_string());
            let _ = write!(out, "<td class=\"num\">{}</td>", escaped(&shown));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
}

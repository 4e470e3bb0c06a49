//! A report of fixed values, in all its forms.

use super::*;
use crate::study::{Case, Comparison, Judged, Outcome, Spread};

fn report() -> Report {
    let series = (0..40)
        .map(|at| Point {
            seconds: f64::from(at) * 0.25,
            active: u64::from(at as u32) * 100,
            sent: at as u64 * 50,
            delivered: at as u64 * 49,
            presence: at as u64 * 7,
            p50_ms: (at > 4).then_some(1.5),
            p99_ms: (at > 4).then_some(9.0 + f64::from(at)),
            resident_bytes: Some(20_000_000 + at as u64 * 45_000),
            kernel_bytes: Some(90_000_000 + at as u64 * 400_000),
            server_cpu_seconds: Some(f64::from(at) * 0.1),
            generator_cpu_seconds: Some(f64::from(at) * 0.2),
        })
        .collect();
    let ms = Percentiles { p50: 1.5, p90: 4.0, p99: 20.0, p999: 30.0, max: 31.0 };
    Report {
        title: "Load of <kith>".to_owned(),
        about: String::new(),
        made: "2026-11-21T05:00:00Z".to_owned(),
        machine: Machine { cores: 2, processor: None, memory_bytes: Some(24_000_000_000), kernel: None },
        runs: vec![
            Run {
                name: "flood".to_owned(),
                headline: "4,000 connections".to_owned(),
                how: "over websocket".to_owned(),
                facts: vec![("url", json!("http://127.0.0.1"))],
                measures: vec![
                    Measure::new("user_bytes", "user memory per connection", "B", 445.0)
                        .beside("paper, AVChat", 4_800.0),
                    Measure::new("calm.idle", "idle CPU", "%", None::<f64>),
                    Measure::times("login_ms", "connect + login", ms),
                    Measure::json_only("calm.sent", 12_u64),
                ],
                failures: [("lost: ByPeer".to_owned(), 2)].into(),
                lines: vec!["Sent: 12 & more".to_owned()],
                series,
                ..Run::default()
            },
            Run {
                name: "stress, \"short\"".to_owned(),
                headline: "nobody came".to_owned(),
                verdict: Verdict::new(true, Some(("the generator was the limit", "give it more threads"))),
                ..Run::default()
            },
        ],
    }
}

#[test]
fn the_page_has_every_chart_and_needs_nothing_from_elsewhere() {
    let page = report().page();
    let count = |what: &str| page.matches(what).count();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    // Six charts of curves, one of comparisons, one of latency.
    assert_eq!((count("<figure"), count("<svg"), count("</svg>")), (8, 8, 8));
    assert_eq!((count("<section"), count("class=\"badge good\""), count("class=\"badge bad\"")), (2, 2, 2));
    for outside in ["http:", "https:", "url(", "@import", "src=", "<script", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(!page.contains("NaN") && !page.contains("inf"), "a coordinate that is none");
    for tag in ["div", "table", "section", "figure", "tbody", "dl", "main"] {
        assert_eq!(
            count(&format!("<{tag}>")) + count(&format!("<{tag} ")),
            count(&format!("</{tag}>")),
            "{tag}"
        );
    }
}

#[test]
fn a_study_shows_its_hypotheses_first_then_a_table_and_whiskers_for_each_factor() {
    let mut report = report();
    let case = |setting: &str, figures: &[f64]| Case {
        setting: setting.to_owned(),
        spread: Spread::of(figures.to_vec()),
    };
    report.runs[1].study = Some(Study {
        hypotheses: vec![Judged {
            says: "TLS < plain".to_owned(),
            outcome: Outcome::DidNotHold,
            because: "b".to_owned(),
        }],
        comparisons: vec![Comparison {
            factor: "tls".to_owned(),
            figure: "CPU".to_owned(),
            unit: "µs".to_owned(),
            cases: vec![case("plain", &[30.0, 31.0, 50.0]), case("TLS", &[200.0]), case("none", &[])],
        }],
    });
    let page = report.page();
    // The summary names both runs; one of them has a paper's figure beside its own.
    assert!(
        page.contains("href=\"#run-1\"") && page.contains("4,800 B<small>paper, AVChat</small>"),
        "{page}"
    );
    let places = ["TLS &lt; plain", "did not hold", "(30–50)", "class=\"whisker\""]
        .map(|what| page.find(what).unwrap());
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!((page.matches("class=\"whisker\"").count(), page.matches("no valid run").count()), (1, 1));
    let text = report.text();
    assert!(text.contains("did not hold TLS < plain") && text.contains("31 (30–50)"), "{text}");
}

#[test]
fn the_leading_figure_comes_first_in_the_summary() {
    let mut report = report();
    report.runs[1].measures = vec![
        Measure::derived("memory", "B", 5.0).beside("paper", 6.0),
        Measure::derived("p50", "ms", 1.5).leading(),
        Measure::derived("p99", "ms", 9.0).leading().beside("theirs", 26.0),
        Measure::derived("not known", "ms", None::<f64>).leading(),
    ];
    let page = report.page();
    let led = "<div>1.5 ms<small>p50</small></div><div>9 ms<small>p99</small></div></td>\
               <td class=\"num\"><div>26 ms<small>theirs</small></div></td>";
    assert!(page.contains(led), "{page}");
    assert!(
        report.text().contains("NOT VALID  p50: 1.5 ms; p99: 9 ms   beside: theirs 26\n"),
        "{}",
        report.text()
    );
}

#[test]
fn text_from_outside_is_no_markup() {
    let page = report().page();
    assert!(page.contains("Load of &lt;kith&gt;") && page.contains("Sent: 12 &amp; more"));
    assert!(!page.contains("<kith>"));
}

#[test]
fn an_invalid_run_has_a_reason_and_advice() {
    let text = report().text();
    assert!(
        text.contains(
            "not valid: interrupted before its time; the generator was the limit; give it more threads"
        ),
        "{text}"
    );
    assert!(text.contains("user memory per connection"), "{text}");
    assert!(text.contains("445 B   beside: paper, AVChat 4,800"), "{text}");
}

#[test]
fn a_run_is_one_object_with_measures_by_their_keys() {
    let report = report();
    let object = report.runs[0].object();
    assert_eq!((&object["user_bytes"], &object["calm"]["sent"]), (&json!(445.0), &json!(12)));
    assert_eq!((&object["calm"]["idle"], &object["login_ms"]["p99"]), (&json!(null), &json!(20.0)));
    assert_eq!((&object["valid"], &object["url"]), (&json!(true), &json!("http://127.0.0.1")));
    assert_eq!(
        (&object["failures"]["lost: ByPeer"], object["series"].as_array().unwrap().len()),
        (&json!(2), 40)
    );
    let invalid = report.runs[1].object();
    assert_eq!(
        (&invalid["valid"], &invalid["interrupted"], &invalid["invalid_because"]),
        (&json!(false), &json!(true), &json!("the generator was the limit"))
    );
}

#[test]
fn files_for_machines() {
    let folder = std::env::temp_dir().join(format!("kith-report-{}", std::process::id()));
    report().write(&folder).unwrap();
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!(json["runs"][0]["rows"][0]["figure"], 445.0);
    assert_eq!(json["runs"][1]["verdict"]["valid"], false);
    let series = read("series.csv");
    assert_eq!(series.lines().count(), 41);
    assert!(series.lines().all(|line| line.split(',').count() == 12), "{series}");
    let summary = read("summary.csv");
    assert!(
        summary.contains("flood,true,user memory per connection,445,B,\"paper, AVChat\",4800"),
        "{summary}"
    );
    assert!(read("report.html").len() > 5_000 && !read("report.txt").is_empty());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_markdown_has_a_table_for_each_run_and_marks_invalid_ones() {
    let mut report = report();
    report.runs[1].measures = vec![Measure::derived("sent", "messages", 7_u64).leading()];
    let text = markdown::markdown(&report);
    for line in [
        "# Load of \\<kith\\>",
        "| flood | user memory per connection | 445 B | paper, AVChat 4,800 |",
        "| stress, \"short\" | sent | 7 messages (not valid) |  |",
        "| user memory per connection | 445 B | paper, AVChat 4,800 |",
        "| connect + login | 1.5 | 4 | 20 | 30 | 31 |",
        "Sent: 12 & more",
        "2 × lost: ByPeer",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
    assert!(text.contains(
        "**not valid: interrupted before its time; the generator was the limit; give it more threads**"
    ));
}

//! A study: one plan, repeated with changes of single factors, against hypotheses that were stated before.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};

use load::report::{Measure, Run, Value as Figure, Verdict};
use load::study::{Case, Claim, Comparison, Judged, Outcome as Judgement, Spread, Study as Findings, order};
use serde::Deserialize;
use toml::{Table, Value};

use super::plan_file::{self, Part, Plan, Prepared, What};
use super::progress;
use crate::trouble::{Outcome, Trouble};

/// Its section in a plan file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Study {
    /// The plan to repeat: a preset or a plan file.
    plan: String,
    /// Changes of that plan for all runs.
    #[serde(default)]
    set: Table,
    #[serde(default = "three")]
    repetitions: NonZeroU32,
    /// Of the order of the runs.
    #[serde(default)]
    seed: u64,
    /// True: every combination of settings. False: one factor at a time, with the first setting of the others.
    #[serde(default)]
    every_combination: bool,
    /// Names of rows of the plan's report.
    figures: Vec<String>,
    /// Settings of the plan, `tls`, or settings of the node as in `node.edge.workers`; the first of each is the base.
    factors: BTreeMap<String, Vec<Value>>,
    #[serde(default)]
    hypotheses: Vec<Hypothesis>,
    /// Notes for the reader beside the figures.
    #[serde(default)]
    notes: Vec<String>,
}

fn three() -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(2)
}

/// Compares a figure at the first setting with that at the second one, with all other factors as in the base.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Hypothesis {
    says: String,
    factor: String,
    figure: String,
    first: Value,
    second: Value,
    /// The first figure is at least this many times the second.
    at_least: Option<f64>,
    /// Neither figure is more than this many times the other.
    within: Option<f64>,
}

/// The keys of the section; other changes of the command line are settings of the plan.
pub(super) const KEYS: [&str; 9] =
    ["plan", "set", "repetitions", "seed", "every-combination", "figures", "factors", "hypotheses", "notes"];

/// Settings, one of each factor.
type Setting = BTreeMap<String, Value>;

impl Study {
    /// Reports every possible error before the first run.
    pub(super) fn check(&self, name: &str) -> Outcome {
        let wrong = |why: String, remedy: &str| Trouble::new(format!("{name}: {why}")).remedy(remedy);
        if self.factors.is_empty() || self.factors.values().any(Vec::is_empty) || self.figures.is_empty() {
            let remedy = "as in\nfigures = [\"delivered\"]\n[study.factors]\ntls = [false, true]";
            return Err(wrong("a study needs figures and factors with their settings".into(), remedy));
        }
        for hypothesis in &self.hypotheses {
            let Hypothesis { says, factor, figure, first, second, .. } = hypothesis;
            let settings = self.factors.get(factor);
            let known = settings.is_some_and(|it| it.contains(first) && it.contains(second));
            if !known || !self.figures.contains(figure) || hypothesis.claim().is_none() {
                let remedy = "it needs a factor with both its settings, a figure that is listed, and one of \
                              at-least and within";
                return Err(wrong(format!("the hypothesis “{says}” cannot be judged"), remedy));
            }
        }
        self.cases().iter().try_for_each(|case| self.prepared(case).map(drop))
    }

    /// A factor of the node, which requires a node of its own for each run.
    pub(super) fn own_nodes_only(&self) -> Option<&str> {
        let mut factors = self.factors.keys().map(String::as_str);
        factors.find(|factor| *factor == "tls" || factor.starts_with("node."))
    }

    fn base(&self) -> Setting {
        let first =
            |(factor, settings): (&String, &Vec<Value>)| Some((factor.clone(), settings.first()?.clone()));
        self.factors.iter().filter_map(first).collect()
    }

    fn cases(&self) -> Vec<Setting> {
        let mut cases = vec![self.base()];
        for (factor, settings) in &self.factors {
            let so_far = if self.every_combination { cases.clone() } else { vec![self.base()] };
            for (case, setting) in
                so_far.iter().flat_map(|case| settings.iter().skip(1).map(move |it| (case, it)))
            {
                let mut case = case.clone();
                case.insert(factor.clone(), setting.clone());
                cases.push(case);
            }
        }
        cases
    }

    fn prepared(&self, case: &Setting) -> Outcome<Prepared> {
        let set = self.set.iter().chain(case).map(|(key, value)| (key.clone(), value.clone()));
        match plan_file::find(&self.plan, &set.collect::<Vec<_>>())? {
            Plan { what: What::One(Part::Task(prepared)), .. } => Ok(prepared),
            Plan { .. } => Err(Trouble::new(format!("a study cannot repeat {}", self.plan))
                .remedy("name a plan that makes one run")),
        }
    }

    /// Makes all runs. `one` makes one of them.
    pub(super) fn carry_out(
        &self,
        name: &str,
        stop: &AtomicBool,
        one: &mut dyn FnMut(&str, Prepared) -> Outcome<Run>,
    ) -> Outcome<Run> {
        for hypothesis in &self.hypotheses {
            progress(&format!("hypothesis: {}", hypothesis.says));
        }
        let cases = self.cases();
        let mut runs: Vec<Vec<Run>> = vec![Vec::new(); cases.len()];
        let order = order(cases.len(), self.repetitions.get() as usize, self.seed);
        for (index, case) in order.iter().copied().enumerate() {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let of = format!("run {} of {}: {}", index + 1, order.len(), self.words(&cases[case]));
            progress(&format!("-- {of}"));
            let run = one(&of, self.prepared(&cases[case])?);
            runs[case].push(run.unwrap_or_else(|trouble| Run::not_made(&of, &trouble.to_string())));
        }
        Ok(self.report(name, &cases, &runs, stop.load(Ordering::Relaxed)))
    }

    fn report(&self, name: &str, cases: &[Setting], runs: &[Vec<Run>], interrupted: bool) -> Run {
        let valid: Vec<Vec<&Run>> =
            runs.iter().map(|runs| runs.iter().filter(|run| run.verdict.valid).collect()).collect();
        let measured = Measured { cases, valid: &valid };
        let left_out: Vec<&Run> = runs.iter().flatten().filter(|run| !run.verdict.valid).collect();
        let all = runs.iter().map(Vec::len).sum::<usize>();
        let few = valid.iter().any(|valid| valid.len() * 2 <= self.repetitions.get() as usize);
        let because = left_out.first().map(|run| {
            let why = run.verdict.because.as_deref().unwrap_or("interrupted");
            format!("{} of {all} runs were not valid and are left out: {why}", left_out.len())
        });
        let judged: Vec<Judged> =
            self.hypotheses.iter().map(|hypothesis| hypothesis.judge(&self.base(), &measured)).collect();
        let mut lines = self.notes.clone();
        lines.extend(because.clone().filter(|_| !few));
        Run {
            name: name.to_owned(),
            headline: self.headline(&judged),
            how: self.how(cases.len(), all),
            verdict: Verdict {
                valid: !few && !interrupted,
                interrupted,
                because: because.filter(|_| few),
                change: few.then(|| "fewer members, or a machine on which nothing else runs".to_owned()),
            },
            measures: self
                .figures
                .iter()
                .filter_map(|figure| measured.median(&self.base(), figure))
                .collect(),
            lines,
            study: Some(Findings { hypotheses: judged, comparisons: self.comparisons(&measured) }),
            ..Run::default()
        }
    }

    fn headline(&self, judged: &[Judged]) -> String {
        let count = |outcome| judged.iter().filter(|judged| judged.outcome == outcome).count();
        let (held, open) = (count(Judgement::Held), count(Judgement::NotDecided));
        let settings: usize = self.factors.values().map(Vec::len).sum();
        match judged.len() {
            0 => format!("{settings} settings of {} factors, side by side", self.factors.len()),
            count if open > 0 => format!("{held} of {count} hypotheses held, {open} not decided"),
            count => format!("{held} of {count} hypotheses held"),
        }
    }

    fn how(&self, cases: usize, runs: usize) -> String {
        let varied = match self.every_combination {
            true => format!("each of {cases} combinations"),
            false => format!("one factor changed at a time, otherwise {}", self.words(&self.base())),
        };
        let figures = match self.repetitions.get() {
            1 => "one run each, so no spread is known".to_owned(),
            many => format!("figures are medians of {many}, with least and most"),
        };
        format!(
            "The plan {} was run {runs} times in a random order (seed {}): {varied}; {figures}.",
            self.plan, self.seed
        )
    }

    fn comparisons(&self, measured: &Measured<'_>) -> Vec<Comparison> {
        let of = |factor: String, cases: &[(String, Setting)]| -> Vec<Comparison> {
            let figures = self.figures.iter().map(|figure| Comparison {
                factor: factor.clone(),
                figure: figure.clone(),
                unit: measured.unit(figure).to_owned(),
                cases: cases
                    .iter()
                    .map(|(words, case)| Case {
                        setting: words.clone(),
                        spread: measured.spread(case, figure),
                    })
                    .collect(),
            });
            figures.collect()
        };
        if self.every_combination {
            let names: Vec<&str> = self.factors.keys().map(String::as_str).collect();
            let mut cases = measured.cases.to_vec();
            let place = |case: &Setting| -> Vec<usize> {
                let at = |(factor, value): (&String, &Value)| {
                    self.factors[factor].iter().position(|setting| setting == value).unwrap_or_default()
                };
                case.iter().map(at).collect()
            };
            cases.sort_by_key(place);
            let cases: Vec<_> = cases.into_iter().map(|case| (self.words(&case), case)).collect();
            return of(names.join(" × "), &cases);
        }
        let each = self.factors.iter().flat_map(|(factor, settings)| {
            let cases = settings.iter().map(|setting| {
                let mut case = self.base();
                case.insert(factor.clone(), setting.clone());
                (word(factor, setting), case)
            });
            of(factor.clone(), &cases.collect::<Vec<_>>())
        });
        each.collect()
    }

    /// A case for people.
    fn words(&self, case: &Setting) -> String {
        let words = case.iter().map(|(factor, setting)| match word(factor, setting) {
            word if matches!(factor.as_str(), "tls" | "transport") => word,
            word => format!("{factor} {word}"),
        });
        words.rev().collect::<Vec<_>>().join(", ")
    }
}

fn word(factor: &str, setting: &Value) -> String {
    match (factor, setting) {
        ("tls", Value::Boolean(true)) => "TLS".to_owned(),
        ("tls", Value::Boolean(false)) => "plain".to_owned(),
        (_, Value::Boolean(on)) => if *on { "on" } else { "off" }.to_owned(),
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    }
}

impl Hypothesis {
    fn claim(&self) -> Option<Claim> {
        match (self.at_least, self.within) {
            (Some(times), None) if times > 0.0 => Some(Claim::AtLeast(times)),
            (None, Some(times)) if times >= 1.0 => Some(Claim::Within(times)),
            _ => None,
        }
    }

    fn judge(&self, base: &Setting, measured: &Measured<'_>) -> Judged {
        let spread = |setting: &Value| {
            let mut case = base.clone();
            case.insert(self.factor.clone(), setting.clone());
            measured.spread(&case, &self.figure)
        };
        let pair = spread(&self.first).zip(spread(&self.second)).zip(self.claim());
        let (outcome, because) = match pair {
            None => (Judgement::NotDecided, "a figure is missing".to_owned()),
            Some(((first, second), claim)) => {
                let shown =
                    |setting: &Value, spread: &Spread| format!("{} {spread}", word(&self.factor, setting));
                let unit = measured.unit(&self.figure);
                (
                    claim.judge(&first, &second),
                    format!(
                        "{}: {}; {} {unit}",
                        self.figure,
                        shown(&self.first, &first),
                        shown(&self.second, &second)
                    ),
                )
            }
        };
        Judged { says: self.says.clone(), outcome, because }
    }
}

/// The valid runs, by case.
struct Measured<'a> {
    cases: &'a [Setting],
    valid: &'a [Vec<&'a Run>],
}

impl Measured<'_> {
    fn figures<'a>(&'a self, case: &Setting, name: &'a str) -> impl Iterator<Item = &'a Measure> {
        let runs = self.cases.iter().position(|other| other == case).map(|at| &self.valid[at]);
        runs.into_iter().flatten().flat_map(move |run| run.figures().filter(move |of| of.name == name))
    }

    fn spread(&self, case: &Setting, figure: &str) -> Option<Spread> {
        Spread::of(self.figures(case, figure).filter_map(Measure::figure).collect())
    }

    /// The median, with the figures of others from the plan.
    fn median(&self, case: &Setting, figure: &str) -> Option<Measure> {
        let one = self.figures(case, figure).next()?.clone();
        let value = Figure::Number(self.spread(case, figure).map(|spread| spread.median));
        Some(Measure { value, ..one })
    }

    fn unit(&self, figure: &str) -> &'static str {
        let mut figures = self.valid.iter().flatten().flat_map(|run| run.figures());
        figures.find(|of| of.name == figure).map_or("", |of| of.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(text: &str) -> Study {
        toml::from_str(text).expect("a study")
    }

    const SMALL: &str = r#"
        plan = "short-flood"
        set = { connections = 20 }
        repetitions = 1
        figures = ["user memory per connection"]
        [factors]
        "node.edge.workers" = [1, 2]
        transport = ["websocket", "sse", "poll"]
        [[hypotheses]]
        says = "SSE costs no less memory."
        factor = "transport"
        figure = "user memory per connection"
        first = "sse"
        second = "websocket"
        at-least = 1.0
    "#;

    /// A run whose only figure depends on the transport and the workers.
    fn pretend(of: &str) -> Run {
        let figure =
            if of.contains("sse") { 20.0 } else { 10.0 } + if of.contains("workers 2") { 1.0 } else { 0.0 };
        let mut run = Run::not_made("x", "");
        run.verdict.valid = !of.contains("poll");
        run.measures = vec![Measure {
            key: "user_bytes_per_connection",
            name: "user memory per connection",
            unit: "B",
            value: Figure::Number(Some(figure)),
            beside: Vec::new(),
            leads: false,
        }];
        run
    }

    fn carried_out(study: &Study) -> Run {
        study.check("s").expect("it is right");
        study.carry_out("s", &AtomicBool::new(false), &mut |of, _| Ok(pretend(of))).expect("it runs")
    }

    #[test]
    fn one_factor_at_a_time_against_the_base() {
        let study = study(SMALL);
        assert_eq!(study.cases().len(), 4);
        let run = carried_out(&study);
        let found = run.study.expect("a study");
        assert_eq!(found.hypotheses[0].outcome, Judgement::Held, "{found:?}");
        let [workers, transports] = &found.comparisons[..] else { panic!("{found:?}") };
        assert_eq!((workers.cases.len(), transports.cases.len()), (2, 3));
        assert_eq!(workers.cases[1].spread.map(|spread| spread.median), Some(11.0));
        // Invalid runs have no figure, and are marked.
        assert_eq!(transports.cases[2].spread, None);
        assert!(!run.verdict.valid && run.verdict.because.is_some(), "{:?}", run.verdict);
    }

    #[test]
    fn every_combination() {
        let study = study(&SMALL.replace("repetitions", "every-combination = true\nrepetitions"));
        let run = carried_out(&study);
        let cases: Vec<String> = run.study.expect("a study").comparisons[0]
            .cases
            .iter()
            .map(|case| case.setting.clone())
            .collect();
        assert_eq!(cases.len(), 6);
        assert_eq!(cases[1], "sse, node.edge.workers 1", "{cases:?}");
    }

    #[test]
    fn an_invalid_study_is_refused_before_the_first_run() {
        let says = |text: &str| study(text).check("mine").expect_err("wrong").to_string();
        assert!(says(&SMALL.replace("connections", "conections")).contains("`connections` is meant"));
        assert!(says(&SMALL.replace("edge.workers", "edge.wrkers")).contains("unknown field `wrkers`"));
        assert!(says(&SMALL.replace("\"poll\"", "\"pigeon\"")).contains("`pigeon` is no transport"));
        assert!(says(&SMALL.replace("first = \"sse\"", "first = \"tcp\"")).contains("cannot be judged"));
        assert!(says(&SMALL.replace("at-least = 1.0", "")).contains("cannot be judged"));
        assert!(says(&SMALL.replace("short-flood", "all")).contains("is a list of plans"));
        assert_eq!(study(SMALL).own_nodes_only(), Some("node.edge.workers"));
    }
}

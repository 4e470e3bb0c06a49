//! A load plan as a TOML file: one section that says what to do, or a list of other plans.

use std::path::Path;

use load::target::Transport;
use serde::{Deserialize, Deserializer};
use toml::{Table, Value};

use super::presets;
use crate::span::Span;
use crate::trouble::{Outcome, Trouble};

/// The file. `plans` names others, which are carried out one after the other.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PlanFile {
    /// For people, in a sentence.
    #[serde(default)]
    about: String,
    plans: Option<Vec<String>>,
    flood: Option<Flood>,
    stress: Option<Stress>,
    storm: Option<Storm>,
    slow: Option<Slow>,
}

/// What a file comes to.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) name: String,
    /// Nothing where the command line has changed the plan.
    pub(super) about: String,
    pub(super) task: Task,
}

/// What a plan does.
#[derive(Debug, Clone)]
pub(super) enum Task {
    Flood(Flood),
    Stress(Stress),
    Storm(Storm),
    Slow(Slow),
    Several(Vec<String>),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Flood {
    #[serde(deserialize_with = "parsed")]
    pub(super) transport: Transport,
    #[serde(deserialize_with = "at_least_one")]
    pub(super) connections: u32,
    #[serde(deserialize_with = "positive")]
    pub(super) rate: f64,
    pub(super) hold: Span,
    pub(super) exchange: Option<usize>,
}

impl Default for Flood {
    fn default() -> Flood {
        Flood {
            transport: Transport::Websocket,
            connections: 1_000,
            rate: 1_000.0,
            hold: Span::seconds(15),
            exchange: None,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Stress {
    #[serde(deserialize_with = "parsed")]
    pub(super) transport: Transport,
    #[serde(deserialize_with = "at_least_one")]
    pub(super) groups: u32,
    #[serde(deserialize_with = "at_least_two")]
    pub(super) per_group: u32,
    /// Instead of the groups.
    #[serde(deserialize_with = "two_if_any")]
    pub(super) members: Option<u32>,
    pub(super) body: usize,
    #[serde(deserialize_with = "at_least_one")]
    pub(super) window: u32,
    #[serde(deserialize_with = "positive_if_any")]
    pub(super) rate: Option<f64>,
    pub(super) every: Option<Span>,
    pub(super) time: Span,
}

impl Default for Stress {
    fn default() -> Stress {
        Stress {
            transport: Transport::Websocket,
            groups: 100,
            per_group: 10,
            members: None,
            body: 100,
            window: 4,
            rate: None,
            every: None,
            time: Span::seconds(10),
        }
    }
}

impl Stress {
    pub(super) fn members(&self) -> u32 {
        self.members.unwrap_or_else(|| self.groups.saturating_mul(self.per_group))
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Storm {
    #[serde(deserialize_with = "parsed")]
    pub(super) transport: Transport,
    #[serde(deserialize_with = "at_least_one")]
    pub(super) members: u32,
    #[serde(deserialize_with = "at_least_one")]
    pub(super) watchers: u32,
    #[serde(deserialize_with = "positive")]
    pub(super) rate: f64,
    #[serde(deserialize_with = "positive")]
    pub(super) writes: f64,
    pub(super) spread: Span,
    pub(super) calm: Span,
}

impl Default for Storm {
    fn default() -> Storm {
        Storm {
            transport: Transport::Websocket,
            members: 5_000,
            watchers: 20,
            rate: 2_500.0,
            writes: 500.0,
            spread: Span::seconds(1),
            calm: Span::seconds(2),
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Slow {
    #[serde(deserialize_with = "parsed")]
    pub(super) transport: Transport,
    #[serde(deserialize_with = "at_least_two")]
    pub(super) members: u32,
    #[serde(deserialize_with = "at_least_one")]
    pub(super) slow: u32,
    pub(super) body: usize,
    #[serde(deserialize_with = "positive")]
    pub(super) writes: f64,
    pub(super) calm: Span,
    pub(super) pause: Span,
}

impl Default for Slow {
    fn default() -> Slow {
        Slow {
            transport: Transport::Websocket,
            members: 200,
            slow: 10,
            body: 8_000,
            writes: 2_000.0,
            calm: Span::seconds(5),
            pause: Span::seconds(10),
        }
    }
}

impl Task {
    /// Connections at the most.
    pub(super) fn members(&self) -> u32 {
        match self {
            Task::Flood(flood) => flood.connections,
            Task::Stress(stress) => stress.members(),
            Task::Storm(storm) => storm.members.saturating_add(storm.watchers),
            Task::Slow(slow) => slow.members.saturating_add(slow.slow),
            Task::Several(_) => 0,
        }
    }
}

/// A preset's name, or the path of a file, with what was changed on the command line.
pub(super) fn find(name: &str, changes: &[(String, Value)]) -> Outcome<Plan> {
    if let Some(preset) = presets::find(name) {
        return read(name, name, preset.text, changes);
    }
    let path = Path::new(name);
    let text = std::fs::read_to_string(path).map_err(|error| {
        let trouble = Trouble::new(format!("there is no plan {name}")).because(error);
        trouble.remedy(
            "`kith load presets` lists those that are built in; a file of your own is named by its path",
        )
    })?;
    let stem = path.file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    read(name, &stem, &text, changes)
}

/// `from` is for error messages.
fn read(from: &str, name: &str, text: &str, changes: &[(String, Value)]) -> Outcome<Plan> {
    let file: PlanFile = toml::from_str(text).map_err(|error| wrong(from, text, &error))?;
    if changes.is_empty() {
        let about = file.about.clone();
        return Ok(Plan { name: name.to_owned(), about, task: task(from, file)? });
    }
    let task = task(from, changed(from, text, changes)?)?;
    Ok(Plan { name: name.to_owned(), about: String::new(), task })
}

fn changed(name: &str, text: &str, changes: &[(String, Value)]) -> Outcome<PlanFile> {
    // What the file says is right by now; what is wrong after the change is the change.
    let mut table: Table = toml::from_str(text).map_err(|error| wrong(name, text, &error))?;
    let section = table.iter_mut().find_map(|(_, value)| value.as_table_mut());
    let Some(section) = section else {
        return Err(Trouble::new(format!(
            "the plan {name} is a list of plans, so nothing in it can be changed"
        )));
    };
    section.extend(changes.iter().cloned());
    PlanFile::deserialize(table).map_err(|error| {
        let trouble = Trouble::new(format!("the plan {name} cannot be changed like this"));
        trouble.because(error.message()).remedy(hint(error.message(), name))
    })
}

fn task(name: &str, file: PlanFile) -> Outcome<Task> {
    let several = file.plans.map(Task::Several);
    let mut tasks = [
        file.flood.map(Task::Flood),
        file.stress.map(Task::Stress),
        file.storm.map(Task::Storm),
        file.slow.map(Task::Slow),
        several,
    ]
    .into_iter()
    .flatten();
    match (tasks.next(), tasks.next()) {
        (Some(Task::Stress(stress)), None) if stress.rate.is_some() && stress.every.is_some() => {
            Err(Trouble::new(format!("{name}: `rate` and `every` contradict each other"))
                .remedy("leave one of them out"))
        }
        (Some(task), None) => Ok(task),
        (None, _) => Err(Trouble::new(format!("{name}: the plan does not say what to do"))
            .remedy("give it one section, as in\n[flood]\nconnections = 1000")),
        (Some(_), Some(_)) => Err(Trouble::new(format!("{name}: the plan says two things at once"))
            .remedy("give it one section, or a list: plans = [\"flood\", \"stress\"]")),
    }
}

/// With file, line, column and a hint.
fn wrong(name: &str, text: &str, error: &toml::de::Error) -> Trouble {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = &text.as_bytes()[..at];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = at - before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1) + 1;
    Trouble::new(format!("{name}:{line}:{column}: {}", error.message())).remedy(hint(error.message(), name))
}

/// The known name that is most like the unknown one, as the messages of serde quote them.
fn hint(message: &str, name: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let nearest = message.starts_with("unknown field").then(|| {
        let unknown = quoted.next().unwrap_or_default();
        quoted.map(|known| (distance(unknown, known), known)).min()
    });
    match nearest.flatten() {
        Some((apart, known)) if apart <= 3 => format!("`{known}` is meant, perhaps"),
        _ => {
            let like = if presets::find(name).is_some() { name } else { "flood" };
            format!("`kith load show {like}` prints a plan that is right")
        }
    }
}

/// Of Levenshtein.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let best = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row.last().copied().unwrap_or_default()
}

fn parsed<'de, D: Deserializer<'de>>(from: D) -> Result<Transport, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

fn at_least_one<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    at_least(1, u32::deserialize(from)?)
}

fn at_least_two<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    at_least(2, u32::deserialize(from)?)
}

fn two_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    at_least(2, u32::deserialize(from)?).map(Some)
}

fn at_least<E: serde::de::Error>(least: u32, number: u32) -> Result<u32, E> {
    if number >= least { Ok(number) } else { Err(E::custom(format!("{number} is less than {least}"))) }
}

fn positive<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let rate = f64::deserialize(from)?;
    let right = rate.is_finite() && rate > 0.0;
    if right { Ok(rate) } else { Err(serde::de::Error::custom(format!("{rate} is no rate above 0"))) }
}

fn positive_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    positive(from).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task_of(text: &str, changes: &[(String, Value)]) -> Outcome<Task> {
        read("p", "p", text, changes).map(|plan| plan.task)
    }

    fn refused(text: &str) -> String {
        read("mine.toml", "mine", text, &[]).expect_err(text).to_string()
    }

    #[test]
    fn a_plan_says_only_what_differs() {
        let Task::Flood(flood) =
            task_of("about = \"x\"\n[flood]\nconnections = 50\nhold = \"2s\"\n", &[]).expect("a plan")
        else {
            panic!("it is a flood")
        };
        assert_eq!((flood.connections, flood.rate, flood.hold), (50, 1_000.0, Span::seconds(2)));
        let Task::Stress(stress) = task_of("[stress]\nevery = \"5s\"", &[]).expect("a plan") else {
            panic!("it is a stress")
        };
        assert_eq!((stress.members(), stress.every), (1_000, Some(Span::seconds(5))));
    }

    #[test]
    fn the_command_line_wins() {
        let changes = [("groups".to_owned(), Value::Integer(3)), ("rate".to_owned(), Value::Float(7.5))];
        let Task::Stress(stress) = task_of("[stress]\ngroups = 9\nper-group = 4", &changes).expect("a plan")
        else {
            panic!("it is a stress")
        };
        assert_eq!((stress.members(), stress.rate), (12, Some(7.5)));
        let wrong = task_of("[stress]", &[("group".to_owned(), Value::Integer(3))]).expect_err("unknown");
        assert!(wrong.to_string().contains("`groups` is meant, perhaps"), "{wrong}");
        let list = task_of("plans = [\"flood\"]", &changes).expect_err("a list");
        assert!(list.to_string().contains("list of plans"), "{list}");
    }

    #[test]
    fn errors_name_file_line_column_and_a_hint() {
        let unknown = refused("about = \"x\"\n[flood]\n  conections = 5\n");
        assert!(unknown.contains("mine.toml:3:3: unknown field `conections`"), "{unknown}");
        assert!(unknown.contains("`connections` is meant, perhaps"), "{unknown}");
        let pigeon = refused("[flood]\ntransport = \"pigeon\"\n");
        assert!(pigeon.contains("mine.toml:2:13: `pigeon` is no transport"), "{pigeon}");
        let span = refused("[flood]\nhold = \"soon\"\n");
        assert!(span.contains("mine.toml:2:8:") && span.contains("as in 10s"), "{span}");
        assert!(refused("[flood]\nconnections = 0\n").contains("mine.toml:2:15: 0 is less than 1"));
        assert!(refused("[flood]\nrate = -1.0\n").contains("mine.toml:2:8: -1 is no rate above 0"));
        assert!(refused("[stress]\nper-group = 1\n").contains("mine.toml:2:13: 1 is less than 2"));
        assert!(refused("[flood\n").contains("mine.toml:1:"));
        assert!(refused("").contains("does not say what to do"));
        assert!(refused("[flood]\n[stress]\n").contains("two things at once"));
        assert!(refused("[stress]\nrate = 5.0\nevery = \"5s\"\n").contains("contradict"));
    }

    #[test]
    fn every_preset_is_a_plan_and_lists_name_only_presets() {
        for preset in presets::ALL {
            let plan = find(preset.name, &[]).unwrap_or_else(|trouble| panic!("{trouble}"));
            assert!(!plan.about.is_empty(), "{}", preset.name);
            if let Task::Several(names) = plan.task {
                for name in names {
                    let plan = find(&name, &[]).unwrap_or_else(|trouble| panic!("{trouble}"));
                    assert!(plan.task.members() > 0, "{name} is a list itself");
                }
            }
        }
    }
}

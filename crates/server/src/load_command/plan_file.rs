//! A load plan as a TOML file: one section with a plan, or a list of other plans.

use std::path::Path;

use load::Contradiction;
use serde::{Deserialize, Deserializer};
use toml::{Table, Value};

use super::cluster_plan::ClusterPlan;
use super::own_node::NodeWish;
use super::plan::Task;
use super::presets;
use super::study::{self, Study};
use crate::config::Config;
use crate::trouble::{Outcome, Trouble};

/// Declares the file with its sections: one for each plan.
macro_rules! plan_file {
    ($($section:ident: $plan:ty,)*) => {
        /// The file. `plans` names others, which are carried out one after the other.
        #[derive(Debug, Clone, Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        struct PlanFile {
            /// For people, in a sentence.
            #[serde(default)]
            about: String,
            plans: Option<Vec<String>>,
            /// For our own node: whether members use TLS, and its settings as in `kith.toml`.
            #[serde(default)]
            tls: bool,
            #[serde(default, deserialize_with = "of_node")]
            node: Table,
            /// A cluster for the run. Flags change it.
            cluster: Option<ClusterPlan>,
            study: Option<Study>,
            $($section: Option<$plan>,)*
        }

        impl PlanFile {
            /// The plans of its sections: a file has one.
            fn tasks(self) -> Vec<Box<dyn Task>> {
                let mut tasks: Vec<Box<dyn Task>> = Vec::new();
                $(tasks.extend(self.$section.map(|task| Box::new(task) as Box<dyn Task>));)*
                tasks
            }
        }
    };
}

plan_file! {
    flood: load::flood::FloodPlan,
    stress: load::stress::StressPlan,
    storm: load::storm::StormPlan,
    slow: load::slow::SlowPlan,
    community: load::community::CommunityPlan,
    typing: load::typing::TypingPlan,
    visit: load::visit::VisitPlan,
    mix: load::mix::MixPlan,
    room: load::room::RoomPlan,
    calls: load::calls::CallsPlan,
    turn: load::turn::TurnPlan,
}

/// As in `kith.toml`.
fn of_node<'de, D: Deserializer<'de>>(from: D) -> Result<Table, D::Error> {
    let table = Table::deserialize(from)?;
    let right = Config::deserialize(table.clone()).map(drop);
    right.map(|()| table).map_err(|error| serde::de::Error::custom(error.message()))
}

/// The parsed plan.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) name: String,
    /// Empty if the command line has changed the plan.
    pub(super) about: String,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    One(Part),
    /// Names of other plans, in their order.
    Several(Vec<String>),
}

#[derive(Debug)]
pub(super) enum Part {
    Task(Prepared),
    Study(Box<Study>),
}

/// A plan, and the settings of its nodes.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) task: Box<dyn Task>,
    pub(super) node: NodeWish,
    pub(super) cluster: Option<ClusterPlan>,
}

/// Finds a preset by its name, or a file by its path, and applies the changes of the command line.
pub(super) fn find(name: &str, changes: &[(String, Value)]) -> Outcome<Plan> {
    if let Some(preset) = presets::find(name) {
        return read(name, name, preset.text, changes);
    }
    let path = Path::new(name);
    let text = std::fs::read_to_string(path).map_err(|error| {
        let trouble = Trouble::new(format!("unknown plan: {name}")).because(error);
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
        return Ok(Plan { name: name.to_owned(), about, what: what(from, file)? });
    }
    let what = what(from, changed(from, text, changes)?)?;
    Ok(Plan { name: name.to_owned(), about: String::new(), what })
}

fn changed(name: &str, text: &str, changes: &[(String, Value)]) -> Outcome<PlanFile> {
    // The file was valid, so an error after the change comes from the change.
    let mut table: Table = toml::from_str(text).map_err(|error| wrong(name, text, &error))?;
    for (key, value) in changes {
        if !change(&mut table, key, value) {
            return Err(Trouble::new(format!(
                "the plan {name} is a list of plans, so nothing in it can be changed"
            )));
        }
    }
    PlanFile::deserialize(table).map_err(|error| {
        let trouble = Trouble::new(format!("cannot change the plan {name} like this"));
        trouble.because(error.message()).remedy(hint(error.message(), name))
    })
}

/// A list of plans has no section to change. `tls`, `node.edge.workers` and `cluster.nodes` stand beside the section. A study passes
/// keys that are not its own settings to its plan.
fn change(table: &mut Table, key: &str, value: &Value) -> bool {
    let is_beside = |name: &str| ["node", "cluster"].contains(&name);
    let is_section = |(name, value): &(&String, &Value)| value.is_table() && !is_beside(name);
    let Some(section) = table.iter().find(is_section).map(|(name, _)| name.clone()) else { return false };
    let path = match section.as_str() {
        "study" if !study::KEYS.contains(&key) => vec!["study", "set", key],
        _ if key == "tls" || key.split_once('.').is_some_and(|(section, _)| is_beside(section)) => {
            key.split('.').collect()
        }
        section => vec![section, key],
    };
    insert(table, &path, value)
}

fn insert(table: &mut Table, path: &[&str], value: &Value) -> bool {
    match path {
        [] => false,
        [last] => {
            table.insert((*last).to_owned(), value.clone());
            true
        }
        [first, rest @ ..] => {
            let inner = table.entry(*first).or_insert_with(|| Value::Table(Table::new()));
            inner.as_table_mut().is_some_and(|inner| insert(inner, rest, value))
        }
    }
}

fn what(name: &str, mut file: PlanFile) -> Outcome<What> {
    let several = file.plans.take();
    let (tls, settings) = (file.tls, std::mem::take(&mut file.node));
    let (study, cluster) = (file.study.take(), file.cluster.take());
    let mut tasks = file.tasks();
    if let (Some(study), true, None) = (&study, tasks.is_empty(), &several) {
        study.check(name)?;
        return Ok(What::One(Part::Study(Box::new(study.clone()))));
    }
    match (tasks.pop(), several) {
        (Some(task), None) if tasks.is_empty() && study.is_none() => {
            let contradicts =
                |Contradiction { says, remedy }| Trouble::new(format!("{name}: {says}")).remedy(remedy);
            task.check().map_err(contradicts)?;
            let node = task.node().with(tls, &settings);
            Ok(What::One(Part::Task(Prepared { task, node, cluster })))
        }
        (None, Some(names)) if study.is_none() => Ok(What::Several(names)),
        (None, None) if study.is_none() => Err(Trouble::new(format!("{name}: the plan has no section"))
            .remedy("give it one section, for example\n[flood]\nconnections = 1000")),
        _ => Err(Trouble::new(format!("{name}: the plan has more than one section"))
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
        quoted.map(|known| (strsim::levenshtein(unknown, known), known)).min()
    });
    match nearest.flatten() {
        Some((apart, known)) if apart <= 3 => format!("`{known}` is meant, perhaps"),
        _ => {
            let like = if presets::find(name).is_some() { name } else { "flood" };
            format!("`kith load show {like}` prints a plan that is right")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use load::Plan;

    use super::*;

    fn file_of(text: &str) -> PlanFile {
        toml::from_str(text).expect("a plan")
    }

    fn changed_to(text: &str, key: &str, value: Value) -> Outcome<PlanFile> {
        changed("p", text, &[(key.to_owned(), value)])
    }

    fn refused(text: &str) -> String {
        read("mine.toml", "mine", text, &[]).expect_err(text).to_string()
    }

    #[test]
    fn a_plan_contains_only_changed_settings() {
        let flood =
            file_of("about = \"x\"\n[flood]\nconnections = 50\nhold = \"2s\"\n").flood.expect("a flood");
        assert_eq!((flood.connections, flood.rate, flood.hold), (50, 1_000.0, Duration::from_secs(2)));
        let stress = file_of("[stress]\nevery = \"5s\"").stress.expect("a stress");
        assert_eq!((stress.members(), stress.every), (1_000, Some(Duration::from_secs(5))));
    }

    #[test]
    fn the_command_line_wins() {
        let file = changed_to("[stress]\ngroups = 9\nper-group = 4", "groups", Value::Integer(3));
        let stress = file.expect("a plan").stress.expect("a stress");
        assert_eq!(stress.members(), 12);
        let wrong = changed_to("[stress]", "group", Value::Integer(3)).expect_err("unknown");
        assert!(wrong.to_string().contains("`groups` is meant, perhaps"), "{wrong}");
        let mut text = "[stress]\n".to_owned();
        for (key, value) in [("tls", Value::Boolean(true)), ("node.edge.workers", Value::Integer(2))] {
            let file = changed_to(&text, key, value).expect("a plan");
            assert!(file.tls != (file.node.len() == 1), "{file:?}");
        }
        let file = changed_to("[stress]\n[cluster]\nnodes = 2\n", "cluster.nodes", Value::Integer(4));
        assert_eq!(file.expect("a plan").cluster.expect("a cluster").nodes, 4);
        text.push_str("[node]\nedge.worker = 2\n");
        assert!(refused(&text).contains("unknown field `worker`"));
        let list = changed_to("plans = [\"flood\"]", "groups", Value::Integer(3)).expect_err("a list");
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
        let cluster = refused("[flood]\n[cluster]\nnodes = 2\nkil = \"front\"\n");
        assert!(
            cluster.contains("mine.toml:4:1: unknown field `kil`") && cluster.contains("`kill`"),
            "{cluster}"
        );
        assert!(refused("[flood]\n[cluster]\nnodes = 65\n").contains("1 to 64"));
        assert!(refused("").contains("the plan has no section"));
        assert!(refused("[flood]\n[stress]\n").contains("more than one section"));
        assert!(refused("[stress]\nrate = 5.0\nevery = \"5s\"\n").contains("contradict"));
    }

    #[test]
    fn every_preset_is_a_plan_and_lists_name_only_presets() {
        for preset in presets::ALL {
            let plan = find(preset.name, &[]).unwrap_or_else(|trouble| panic!("{trouble}"));
            assert!(!plan.about.is_empty(), "{}", preset.name);
            let What::Several(names) = plan.what else { continue };
            for name in names {
                let part = find(&name, &[]).unwrap_or_else(|trouble| panic!("{trouble}"));
                assert!(matches!(part.what, What::One(_)), "{name} is a list itself");
            }
        }
    }
}

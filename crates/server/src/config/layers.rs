//! Where settings come from: flags, `KITH_*` variables, a file, and the defaults.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::{Table, Value};

use super::Config;
use super::check::check;
use crate::trouble::{Outcome, Trouble};

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Default,
    File(PathBuf),
    Variable(String),
    Flag,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Variable(name) => f.write_str(name),
            Source::Flag => f.write_str("flag"),
        }
    }
}

/// The settings with the source of each.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub config: Config,
    /// By dotted key, as in `limits.body_bytes`.
    pub settings: BTreeMap<String, (Value, Source)>,
}

impl Loaded {
    /// A file with the settings that are not the defaults, for another process. `over`: dotted keys whose values are others there, or
    /// None for the default.
    pub(crate) fn file_with(&self, over: &[(&str, Option<Value>)]) -> String {
        let replaced = |key: &str| over.iter().any(|(other, _)| *other == key);
        let kept =
            self.settings.iter().filter(|(key, (_, source))| *source != Source::Default && !replaced(key));
        let kept = kept.map(|(key, (value, _))| (key.as_str(), value.clone()));
        let others = over.iter().filter_map(|(key, value)| Some((*key, value.clone()?)));
        nested(kept.chain(others)).to_string()
    }
}

/// All layers of a configuration, so that tests need no process environment.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    pub file: Option<PathBuf>,
    pub variables: Vec<(String, String)>,
    /// Dotted key and value.
    pub flags: Vec<(&'static str, Value)>,
}

/// Reads, checks and merges all layers.
pub(crate) fn load(layers: Layers) -> Outcome<Loaded> {
    let mut settings: BTreeMap<String, (Value, Source)> =
        default_settings().into_iter().map(|(key, value)| (key, (value, Source::Default))).collect();
    if let Some(path) = &layers.file {
        for (key, value) in flat(&read_file(path)?) {
            settings.insert(key, (value, Source::File(path.clone())));
        }
    }
    for (name, text) in &layers.variables {
        let (key, value) = from_variable(name, text)?;
        settings.insert(key, (value, Source::Variable(name.clone())));
    }
    for (key, value) in layers.flags {
        settings.insert(key.to_owned(), (value, Source::Flag));
    }
    let table = nested(settings.iter().map(|(key, (value, _))| (key.as_str(), value.clone())));
    let config: Config = table.try_into().map_err(|error| {
        Trouble::new("some settings contradict each other").because(error.to_string().trim())
    })?;
    check(&config)?;
    Ok(Loaded { config, settings })
}

fn read_file(path: &Path) -> Outcome<Table> {
    let problem = || format!("cannot use the configuration file {}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| {
        Trouble::new(problem())
            .because(error)
            .remedy("name an existing file with --config, or leave it out to use the defaults")
    })?;
    // Parsed directly from the text, so that the error has line and column.
    toml::from_str::<Config>(&text).map_err(|error| {
        Trouble::new(problem())
            .because(error.to_string().trim_end())
            .remedy("`kith config show` prints every setting with its value")
    })?;
    text.parse().map_err(|error: toml::de::Error| Trouble::new(problem()).because(error))
}

/// `KITH_LIMITS_BODY_BYTES` is `limits.body_bytes`; the type of the default decides how the text is read.
fn from_variable(name: &str, text: &str) -> Outcome<(String, Value)> {
    let wrong = |why: String| {
        Trouble::new(format!("cannot use the variable {name}={text}"))
            .because(why)
            .remedy("correct it, or remove it from the environment")
    };
    let key = keys()
        .into_iter()
        .find(|key| variable_of(key) == name)
        .ok_or_else(|| wrong("no setting has this name; list all with `kith config show`".into()))?;
    let value = match default_settings().get(&key) {
        Some(Value::Boolean(_)) => {
            Value::Boolean(text.parse().map_err(|_| wrong("it takes true or false".into()))?)
        }
        Some(Value::Integer(_)) => {
            Value::Integer(text.parse().map_err(|_| wrong("it takes a whole number".into()))?)
        }
        _ => Value::String(text.to_owned()),
    };
    Config::deserialize(nested([(key.as_str(), value.clone())])).map_err(|error| wrong(error.to_string()))?;
    Ok((key, value))
}

/// The variable that overrides a setting.
pub(crate) fn variable_of(key: &str) -> String {
    format!("KITH_{}", key.replace('.', "_").to_uppercase())
}

/// The `KITH_*` variables of this process that are settings. Others are ignored, because orchestrators set some for every service,
/// such as `KITH_PORT`; `kith config check` lists them in case of a typing mistake.
pub(crate) fn variables() -> Vec<(String, String)> {
    of_kith().filter(|(name, _)| is_setting(name)).collect()
}

/// Variables with the prefix that are not settings.
pub(crate) fn strange_variables() -> Vec<String> {
    of_kith()
        .map(|(name, _)| name)
        .filter(|name| !is_setting(name) && !OF_COMMANDS.contains(&name.as_str()))
        .collect()
}

/// Variables of the command line.
const OF_COMMANDS: [&str; 3] = ["KITH_CONFIG", "KITH_MIGRATE_FROM", "KITH_MIGRATE_TO"];

fn of_kith() -> impl Iterator<Item = (String, String)> {
    // Variables of other programs may not be UTF-8.
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("KITH_"))
}

fn is_setting(name: &str) -> bool {
    keys().iter().any(|key| variable_of(key) == name)
}

/// Settings without a default value.
const OPTIONAL: [&str; 6] = ["database", "https", "tls_cert", "tls_key", "public_url", "metrics_token_file"];

/// All keys, sorted.
pub(super) fn keys() -> Vec<String> {
    let mut keys: Vec<String> = default_settings().into_keys().collect();
    keys.extend(OPTIONAL.map(str::to_owned));
    keys.sort();
    keys
}

fn default_settings() -> BTreeMap<String, Value> {
    flat(&Table::try_from(Config::default()).expect("the defaults are plain values"))
}

fn flat(table: &Table) -> BTreeMap<String, Value> {
    let mut settings = BTreeMap::new();
    for (key, value) in table {
        match value {
            Value::Table(section) => {
                settings
                    .extend(section.iter().map(|(inner, value)| (format!("{key}.{inner}"), value.clone())));
            }
            value => drop(settings.insert(key.clone(), value.clone())),
        }
    }
    settings
}

fn nested<'a>(settings: impl IntoIterator<Item = (&'a str, Value)>) -> Table {
    let mut table = Table::new();
    for (key, value) in settings {
        match key.split_once('.') {
            None => drop(table.insert(key.to_owned(), value)),
            Some((section, inner)) => {
                let section = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
                if let Value::Table(section) = section {
                    section.insert(inner.to_owned(), value);
                }
            }
        }
    }
    table
}

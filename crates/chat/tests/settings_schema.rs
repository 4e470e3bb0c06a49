//! The schema of a site's settings for the widget: generated from the settings, and compared with the
//! committed file.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::fmt::{self, Write};

use chat::Settings;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

const COMMITTED: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../widget/app/src/features/site_settings/settings_schema.ts");

/// `UPDATE=1 cargo test -p chat --test all settings_schema` writes the file.
#[test]
fn the_committed_schema_matches_the_settings() {
    let generated = file();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(COMMITTED, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(COMMITTED).unwrap_or_default();
    assert!(
        committed == generated,
        "{COMMITTED} is out of date: run `UPDATE=1 cargo test -p chat --test all settings_schema`"
    );
}

#[test]
fn ranges_and_words_are_found_by_trial() {
    assert_eq!(kind("requests.messages", &json!(3)), "{ is: 'number', least: 1, most: 100, default: 3 }");
    assert_eq!(
        kind("raid.until", &json!(0)),
        "{ is: 'number', least: 0, most: 253402300799999, default: 0 }"
    );
    assert_eq!(
        kind("access", &json!("open")),
        "{ is: 'choice', values: ['open', 'read_only', 'closed'], default: 'open' }"
    );
    assert_eq!(
        kind("calls.from", &Value::Null),
        "{ is: 'choice', values: [null, 'nobody', 'contacts', 'everyone'], default: null }"
    );
    assert_eq!(kind("filters.words", &json!([])), "{ is: 'list', default: [] }");
    assert_eq!(kind("filters.patterns", &json!([])), "{ is: 'records', default: [] }");
}

fn file() -> String {
    let mut out = String::from(
        "// Generated from crates/chat by `UPDATE=1 cargo test -p chat --test all settings_schema`. Not edited by hand.\n\n\
         /** Each setting of a site by its path, in the order of the server. `records`: a list of objects. */\n\
         export const SETTINGS = {\n",
    );
    let defaults = serde_json::to_string(&Settings::default()).unwrap();
    let Node::Parts(parts) = serde_json::from_str(&defaults).unwrap() else {
        panic!("settings are an object")
    };
    for (path, default) in leaves("", parts) {
        let name = if path.contains('.') { format!("'{path}'") } else { path.clone() };
        let line = format!("  {name}: {},\n", kind(&path, &default));
        // The widget's formatter breaks lines like this.
        if line.trim_end().len() <= 110 {
            out.push_str(&line);
        } else {
            let fields = line.trim_start().strip_prefix(&format!("{name}: {{ ")).unwrap();
            let fields = fields.trim_end().strip_suffix(" },").unwrap().replace(", least", ",\n    least");
            let _ = write!(out, "  {name}: {{\n    {fields},\n  }},\n");
        }
    }
    out + "} as const;\n"
}

/// The values of a setting: the default determines the type; bounds and words are found by trial.
fn kind(path: &str, default: &Value) -> String {
    let takes = |value: &Value| Settings::default().with(path, &value.to_string()).is_ok();
    let default_text = default.to_string().replace('"', "'");
    match default {
        Value::Bool(_) => format!("{{ is: 'switch', default: {default_text} }}"),
        Value::Number(_) => {
            let least = (0..=1_000_u64).find(|&value| takes(&value.into())).unwrap();
            format!("{{ is: 'number', least: {least}, most: {}, default: {default_text} }}", most(&takes))
        }
        Value::Array(_) if takes(&json!(["x.example"])) => "{ is: 'list', default: [] }".to_owned(),
        Value::Array(_) => "{ is: 'records', default: [] }".to_owned(),
        Value::String(_) if takes(&json!("any text at all")) => {
            format!("{{ is: 'text', default: {default_text} }}")
        }
        Value::String(_) | Value::Null => {
            let mut words = words(path);
            let first = if default.is_null() { "null" } else { &*default_text };
            // The default is first.
            words.retain(|word| word != first);
            words.insert(0, first.to_owned());
            format!("{{ is: 'choice', values: [{}], default: {default_text} }}", words.join(", "))
        }
        Value::Object(_) => unreachable!("a setting with parts is no leaf"),
    }
}

/// Limits are upper bounds: all values below are accepted, too.
fn most(takes: &impl Fn(&Value) -> bool) -> u64 {
    let (mut taken, mut refused) = (2_u64, 1_u64 << 60);
    assert!(takes(&taken.into()) && !takes(&refused.into()));
    while refused - taken > 1 {
        let middle = taken.midpoint(refused);
        if takes(&middle.into()) { taken = middle } else { refused = middle }
    }
    taken
}

/// The words of an enum, from the error text of serde.
fn words(path: &str) -> Vec<String> {
    let why = Settings::default().with(path, "\"none of them\"").unwrap_err().to_string();
    let (_, expected) = why.split_once("expected").unwrap_or_else(|| panic!("{path}: {why}"));
    let words: Vec<String> = expected.split('`').skip(1).step_by(2).map(|word| format!("'{word}'")).collect();
    assert!(words.len() > 1, "{path}: {why}");
    words
}

fn leaves(above: &str, parts: Vec<(String, Node)>) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (name, node) in parts {
        let path = if above.is_empty() { name } else { format!("{above}.{name}") };
        match node {
            Node::Parts(parts) => found.extend(leaves(&path, parts)),
            Node::Value(value) => found.push((path, value)),
        }
    }
    found
}

/// JSON whose objects keep the order of their fields.
enum Node {
    Parts(Vec<(String, Node)>),
    Value(Value),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Value(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Value(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Value(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Value(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = seq.next_element::<Value>()? {
            list.push(value);
        }
        Ok(Node::Value(list.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = map.next_entry()? {
            parts.push(part);
        }
        Ok(Node::Parts(parts))
    }
}

//! `kith config`: checks and prints the settings.

use std::collections::BTreeMap;

use serde_json::json;

use crate::config::{Loaded, strange_variables, variable_of};
use crate::trouble::{Outcome, Trouble};
use crate::{print_json, print_with};

/// Checks that need no start: the settings themselves, and the files that they name.
pub(crate) fn check(loaded: &Loaded) -> Outcome {
    let config = &loaded.config;
    if let (Some(cert), Some(key)) = (&config.tls_cert, &config.tls_key) {
        edge::tls::load(cert, key, config.tls_memory.into())
            .map_err(|error| Trouble::new("cannot use the certificate").because(error))?;
    }
    print_with(|out| {
        for name in strange_variables() {
            writeln!(out, "note: {name} is set, but is not a setting of kith")?;
        }
        writeln!(out, "the settings are valid")
    })
}

/// Values with passwords are hidden, because operators share this output.
fn shown(key: &str, value: &toml::Value) -> toml::Value {
    match value.as_str() {
        Some(text) if matches!(key, "mail.relay" | "database") && text.contains('@') => {
            let (scheme, rest) = text.split_once("://").unwrap_or_default();
            let host = rest.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://…@{host}").into()
        }
        _ => value.clone(),
    }
}

pub(crate) fn show(loaded: &Loaded, json: bool) -> Outcome {
    if json {
        let settings: BTreeMap<&str, serde_json::Value> = loaded
            .settings
            .iter()
            .map(|(key, (value, source))| {
                (
                    key.as_str(),
                    json!({ "value": shown(key, value), "from": source.to_string(), "variable": variable_of(key) }),
                )
            })
            .collect();
        return print_json(&json!(settings));
    }
    print_with(|out| {
        for (key, (value, source)) in &loaded.settings {
            writeln!(
                out,
                "{:<34} # {source}; {}",
                format!("{key} = {}", shown(key, value)),
                variable_of(key)
            )?;
        }
        Ok(())
    })
}

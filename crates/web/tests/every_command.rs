//! Every command of the protocol is said by a test of this crate as a client says it: in a scene, over a transport.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

#[test]
fn no_command_is_without_a_scene() {
    let vectors: Vec<Value> =
        serde_json::from_str(include_str!("../../web-proto/vectors/commands.json")).unwrap();
    let mut frames: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for vector in &vectors {
        let json = vector["json"].as_object().unwrap();
        let command = json["t"].as_str().unwrap();
        frames.entry(command).or_default().extend(beginnings(command, json));
    }
    assert!(frames.len() > 50, "{frames:?}");
    let scenes = scenes();
    frames.retain(|_, beginnings| !beginnings.iter().any(|begin| scenes.contains(begin)));
    let silent: Vec<&str> = frames.into_keys().collect();
    assert!(silent.is_empty(), "no scene says {silent:?}: write one in crates/web/tests");
}

/// How a frame of the command may begin. Events go by some of the same words, but none of them has a `rid`.
fn beginnings(command: &str, json: &Map<String, Value>) -> Vec<String> {
    let fields: Vec<&str> = match json.contains_key("rid") {
        true => vec!["rid"],
        false => json.keys().map(String::as_str).filter(|field| *field != "t").collect(),
    };
    match fields.is_empty() {
        true => vec![format!(r#""t":"{command}"}}"#)],
        false => fields.iter().map(|field| format!(r#""t":"{command}","{field}":"#)).collect(),
    }
}

/// The tests beside this one, without spaces and the marks before quotes.
fn scenes() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let entries = ["", "scene"].map(|inner| fs::read_dir(folder.join(inner)).unwrap());
    let paths = entries.into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|name| name == "rs")).collect();
    files.retain(|path| !path.ends_with("every_command.rs"));
    assert!(files.len() > 10, "{files:?}");
    let texts = files.iter().map(|path| fs::read_to_string(path).unwrap());
    texts.map(|text| text.replace(|c: char| c.is_whitespace() || c == '\\', "")).collect()
}

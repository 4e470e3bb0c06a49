//! The shared vectors: what is valid survives reading and writing, what is not gets its code.
#![allow(clippy::unwrap_used)] // a failed one is a failed test

use serde_json::Value;
use web_proto::{Command, Event, Reject};

#[test]
fn commands_survive() {
    for (name, json) in valid(include_str!("../vectors/commands.json")) {
        let frame = json.to_string();
        let command = Command::parse(frame.as_bytes()).unwrap_or_else(|why| panic!("{name}: {why:?}"));
        let mut written = Vec::new();
        command.write(&mut written);
        assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), json, "{name}");
        let (rid, id) = command.answer_address();
        assert_eq!((rid, id.map(AsRef::as_ref)), (json["rid"].as_u64(), json["id"].as_str()), "{name}");
    }
}

#[test]
fn events_survive() {
    for (name, json) in valid(include_str!("../vectors/events.json")) {
        let frame = json.to_string();
        let event = Event::parse(frame.as_bytes()).unwrap_or_else(|why| panic!("{name}: {why:?}"));
        let mut written = Vec::new();
        event.write(&mut written);
        assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), json, "{name}");
    }
}

#[test]
fn every_command_and_event_has_a_vector() {
    let wire = include_str!("../../../widget/client/src/wire.ts");
    for (of, vectors) in [
        ("Command", include_str!("../vectors/commands.json")),
        ("Event", include_str!("../vectors/events.json")),
    ] {
        let (_, from) = wire.split_once(&format!("export type {of} =")).unwrap();
        let declaration = &from[..from.find(";\n\n").unwrap()];
        let declared = declaration.split(" t: \"").skip(1).map(|rest| rest.split('"').next().unwrap());
        let there: Vec<Value> = valid(vectors).into_iter().map(|(_, json)| json["t"].clone()).collect();
        for t in declared {
            assert!(there.contains(&Value::from(t)), "{of} {t} has no vector");
        }
    }
}

#[test]
fn rejected_frames_get_their_code() {
    for vector in rows(include_str!("../vectors/rejected.json")) {
        let name = vector["name"].as_str().unwrap();
        let frame = match vector["hex"].as_str() {
            Some(hex) => bytes(hex),
            None => vector["frame"].as_str().unwrap().as_bytes().to_vec(),
        };
        let Reject { code, rid, id, .. } = match Command::parse(&frame) {
            Ok(command) => panic!("{name}: taken as {command:?}"),
            Err(why) => why,
        };
        assert_eq!(code.word(), vector["code"].as_str().unwrap(), "{name}");
        assert_eq!(rid, vector["rid"].as_u64(), "{name}");
        assert_eq!(id.as_deref(), vector["id"].as_str(), "{name}");
    }
}

fn valid(file: &str) -> Vec<(String, Value)> {
    rows(file)
        .into_iter()
        .map(|row| (row["name"].as_str().unwrap().to_owned(), row["json"].clone()))
        .collect()
}

fn rows(file: &str) -> Vec<Value> {
    let rows: Vec<Value> = serde_json::from_str(file).unwrap();
    assert!(!rows.is_empty());
    rows
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

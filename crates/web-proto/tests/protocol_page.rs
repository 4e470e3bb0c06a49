//! `docs/protocol.md` says what the code says: its table of codes, its lists, its example frames.
#![allow(clippy::unwrap_used)] // a failed one is a failed test

use std::fmt::Write;

use web_proto::{Code, Command, Event};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol.md");
const START: &str = "<!-- codes: written by `UPDATE=1 cargo test -p web-proto protocol_page` -->\n";
const END: &str = "<!-- end of codes -->";

#[test]
fn protocol_page_has_the_table_of_codes() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(START).unwrap();
    let (table, after) = rest.split_once(END).unwrap();
    let expected = codes();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(PAGE, [before, START, &expected, END, after].concat()).unwrap();
    } else {
        assert!(table == expected, "out of date: run `UPDATE=1 cargo test -p web-proto protocol_page`");
    }
}

#[test]
fn protocol_page_lists_every_command_and_event() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    for (heading, vectors) in [
        ("\n## Commands\n", include_str!("../vectors/commands.json")),
        ("\n## Events\n", include_str!("../vectors/events.json")),
    ] {
        let (_, section) = page.split_once(heading).unwrap();
        let section = section.split("\n## ").next().unwrap();
        for vector in serde_json::from_str::<Vec<serde_json::Value>>(vectors).unwrap() {
            let t = vector["json"]["t"].as_str().unwrap();
            assert!(section.contains(&format!("\n| `{t}` |")), "{t} is missing in {heading}");
        }
    }
}

#[test]
fn example_frames_are_frames() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (mut commands, mut events) = (0, 0);
    let (before_events, events_on) = page.split_once("\n## Events\n").unwrap();
    let (events_part, session) = events_on.split_once("\n## An example session\n").unwrap();
    let said = |text: &'static str| move |line: &&str| line.starts_with(text);
    for line in before_events.lines().filter(said("{")).chain(session.lines().filter(said("> {"))) {
        Command::parse(line.trim_start_matches("> ").as_bytes())
            .unwrap_or_else(|why| panic!("{line}: {why:?}"));
        commands += 1;
    }
    for line in events_part.lines().filter(said("{")).chain(session.lines().filter(said("< {"))) {
        Event::parse(line.trim_start_matches("< ").as_bytes())
            .unwrap_or_else(|why| panic!("{line}: {why:?}"));
        events += 1;
    }
    assert!(commands > 20 && events > 20, "{commands} commands, {events} events");
}

fn codes() -> String {
    let mut table = String::from("\n| code | HTTP | close | come back | meaning |\n|---|---|---|---|---|\n");
    for code in Code::ALL {
        let (word, http, close) = (code.word(), code.http_status(), code.close_code());
        let (back, meaning) = (code.comes_back().word(), code.meaning().trim());
        let _ = writeln!(table, "| `{word}` | {http} | {close} | {back} | {meaning} |");
    }
    table + "\n"
}

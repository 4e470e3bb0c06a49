//! Imports of a community: before the node runs, and while its members chat.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, token};
use crate::running::{Running, Scratch, text};

const THEN: u64 = 1_500_000_000_000;

/// A file of lines, and the command that imports it.
struct File<'a> {
    scratch: &'a Scratch,
    path: std::path::PathBuf,
}

impl File<'_> {
    fn new<'a>(scratch: &'a Scratch, lines: &[Value]) -> File<'a> {
        let path = scratch.path().join("community.jsonl");
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&path, lines).unwrap();
        File { scratch, path }
    }

    fn line(&self, more: &str) -> String {
        format!("import --site demo {} --data {} {more}", self.path.display(), self.scratch.data().display())
    }

    fn counts(&self, more: &str) -> Value {
        serde_json::from_str(&self.scratch.say(&self.line(&format!("--json {more}")))).unwrap()
    }
}

fn user(id: &str) -> Value {
    json!({ "type": "user", "id": id, "name": id.to_uppercase() })
}

/// A room of two with `messages` messages, and as many in their direct conversation.
fn community(messages: u64) -> Vec<Value> {
    let mut lines = vec![
        user("new-1"),
        user("new-2"),
        json!({ "type": "contact", "users": ["new-1", "new-2"] }),
        json!({ "type": "room", "id": "7", "name": "Bees", "kind": "public" }),
        json!({ "type": "member", "room": "7", "user": "new-1", "role": "owner" }),
        json!({ "type": "member", "room": "7", "user": "new-2" }),
    ];
    for number in 1..=messages {
        let time = THEN + number;
        let reply_to = (number > 1).then(|| format!("r{}", number - 1));
        lines.push(json!({
            "type": "message", "id": format!("r{number}"), "room": "7", "from": "new-1", "time": time,
            "body": format!("room {number}"), "reply_to": reply_to,
        }));
        lines.push(json!({
            "type": "message", "id": format!("d{number}"), "from": "new-2", "to": "new-1", "time": time,
            "body": format!("direct {number}"),
        }));
    }
    lines
}

fn conversation<'a>(welcome: &'a Value, kind: &str) -> &'a Value {
    let all = welcome["conversations"].as_array().unwrap();
    all.iter().find(|one| one[kind].is_object()).unwrap_or_else(|| panic!("no {kind}: {welcome}"))
}

fn enter(scratch: &Scratch, node: &Running, user: &str) -> Client {
    let token = token(scratch, user);
    Client::try_enter(node.http, &token, user, None).unwrap()
}

/// Checks the messages of the conversation, with their original times.
fn judge(member: &mut Client, messages: u64) {
    let direct = member.history("new-1");
    let bodies: Vec<_> = direct.iter().map(|one| one["body"].as_str().unwrap().to_owned()).collect();
    let expected: Vec<_> = (1..=messages).map(|number| format!("direct {number}")).collect();
    assert_eq!(bodies, expected);
    assert!(direct.iter().zip(1..).all(|(one, number)| one["time"] == THEN + number));
    assert!(direct.iter().zip(1..).all(|(one, number): (_, u64)| one["seq"] == number));
}

#[test]
fn a_community_is_there_when_the_node_starts() {
    let scratch = Scratch::new("import");
    let mut node = Running::demo(&scratch);
    node.signal("TERM");
    node.wait();
    let file = File::new(&scratch, &community(30));
    let counts = file.counts("");
    assert_eq!((&counts["added"], &counts["refused"]), (&66.into(), &0.into()), "{counts}");
    assert_eq!(file.counts("")["known"], 66);

    let node = Running::demo(&scratch);
    let mut member = enter(&scratch, &node, "new-2");
    let contact = &member.welcome["contacts"][0];
    assert_eq!(
        (&contact["user"], &contact["name"], &contact["state"]),
        (&"new-1".into(), &"NEW-1".into(), &"contact".into())
    );
    for (kind, last) in [("room", "room 30"), ("with", "direct 30")] {
        let row = conversation(&member.welcome, kind);
        assert_eq!(
            (&row["unread"], &row["last"]["body"], &row["last"]["time"]),
            (&0.into(), &last.into(), &(THEN + 30).into())
        );
    }
    let room = conversation(&member.welcome, "room");
    assert_eq!((&room["room"]["name"], &room["last"]["reply_to"]), (&"Bees".into(), &29.into()), "{room}");
    judge(&mut member, 30);
}

#[test]
fn a_wrong_line_is_named_and_the_others_are_imported() {
    let scratch = Scratch::new("import-wrong");
    let mut node = Running::demo(&scratch);
    let mut lines = community(1);
    lines.insert(1, json!({ "type": "contact", "users": ["new-1", "nobody"] }));
    lines.insert(3, json!({ "type": "file", "id": "1" }));
    let file = File::new(&scratch, &lines);
    for is_running in [true, false] {
        let said = scratch.fails(&file.line(""));
        assert!(said.contains("line 2 is not imported: no such user"), "{said}");
        assert!(said.contains("line 4 is not imported: unknown variant `file`"), "{said}");
        assert!(said.contains("2 lines were not imported; all others are"), "{said}");
        if is_running {
            node.signal("TERM");
            node.wait();
        }
    }
    let node = Running::demo(&scratch);
    judge(&mut enter(&scratch, &node, "new-2"), 1);
}

/// Members chat, one of them is in the import, the node is killed during the import, and the import continues.
#[test]
fn an_import_runs_while_members_chat_and_continues_after_a_kill() {
    const MESSAGES: u64 = 2_500;
    let scratch = Scratch::new("import-live");
    let mut node = Running::demo(&scratch);
    let file = File::new(&scratch, &community(MESSAGES));
    let mut importer = scratch
        .kith()
        .args(file.line("").split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut anna, mut tom) = (Client::enter(&scratch, &node, "anna"), Client::enter(&scratch, &node, "tom"));
    for number in 0..5 {
        anna.sent(&format!("a{number}"), "tom", &format!("chat {number}"));
        tom.message(&format!("chat {number}"));
    }
    // A part of it is stored.
    let checkpoint = scratch.data().join("import-demo.json");
    let begin = Instant::now();
    while !checkpoint.exists() && begin.elapsed() < crate::running::PATIENCE {
        std::thread::yield_now();
    }
    node.signal("KILL");
    node.wait();
    assert!(!importer.wait().unwrap().success(), "the node went away under it");
    let said: Vec<String> =
        BufReader::new(importer.stderr.take().unwrap()).lines().map(Result::unwrap).collect();
    assert!(said.join("\n").contains("lost the connection to the node"), "{said:?}");

    let node = Running::demo(&scratch);
    let mut online = enter(&scratch, &node, "new-2");
    let again = scratch.run(file.line("--json").split_whitespace());
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert!(text(&again.stderr).contains("continuing after line"), "{}", text(&again.stderr));
    let counts: Value = serde_json::from_slice(&again.stdout).unwrap();
    let sum = counts["added"].as_u64().unwrap() + counts["known"].as_u64().unwrap();
    assert_eq!((sum, &counts["refused"]), (2 * MESSAGES + 6, &0.into()), "{counts}");
    assert!(!checkpoint.exists(), "the next import begins anew");

    // An online member gets `behind` once, then a first page with all messages, marked as read.
    online.expect("that there is more", |event| event["t"] == "behind");
    let position = online.position.clone();
    online.say(json!({ "t": "resume", "rid": 1, "position": position })).unwrap();
    let changes = online.expect("what there is", |event| event["t"] == "changes");
    assert_eq!(changes["reset"], true);
    let row = conversation(&changes, "with");
    assert_eq!((&row["unread"], &row["last"]["seq"]), (&0.into(), &MESSAGES.into()));
    judge(&mut online, MESSAGES);
    // No imported message is reported as new.
    let mut anna = Client::enter(&scratch, &node, "anna");
    anna.sent("after", "new-2", "Welcome");
    let message = online.expect("a message", |event| event["t"] == "message");
    assert_eq!(message["body"], "Welcome");
    assert_eq!(file.counts("")["known"], 2 * MESSAGES + 6);
}

/// Prints the latency of members in another conversation during an import: `cargo test … -- --nocapture`.
#[test]
#[allow(clippy::print_stdout, reason = "the figure is what the run is for")]
fn members_keep_their_latency_while_it_runs() {
    let scratch = Scratch::new("import-latency");
    let limits = scratch.path().join("kith.toml");
    std::fs::write(&limits, "[limits]\nsend_burst = 0\nsend_per_minute = 0\n").unwrap();
    let config = limits.display().to_string();
    let node = Running::start(&scratch, "demo", &["--config", &config]);
    let (mut anna, mut tom) = (Client::enter(&scratch, &node, "anna"), Client::enter(&scratch, &node, "tom"));
    let mut round = |name: &str, while_it_runs: &mut dyn FnMut(usize) -> bool| {
        let mut times = Vec::new();
        while while_it_runs(times.len()) {
            let body = format!("{name}-{}", times.len());
            let begin = Instant::now();
            anna.sent(&body, "tom", &body);
            tom.message(&body);
            times.push(begin.elapsed());
        }
        times.sort_unstable();
        times
    };
    let quiet = round("quiet", &mut |count| count < 300);
    let file = File::new(&scratch, &community(4_000));
    let mut importer =
        scratch.kith().args(file.line("").split_whitespace()).stdout(Stdio::null()).spawn().unwrap();
    let busy = round("busy", &mut |_| importer.try_wait().unwrap().is_none());
    assert!(importer.wait().unwrap().success());
    let p99 = |times: &[Duration]| times[times.len() * 99 / 100];
    let (before, during) = (p99(&quiet), p99(&busy));
    let ratio = during.as_secs_f64() / before.as_secs_f64();
    println!("p99 {before:?} without, {during:?} during an import ({} messages): {ratio:.1}", busy.len());
    assert!(busy.len() > 20, "members wrote meanwhile");
    // A generous bound for a machine with other work; without turns and pauses it is several times this.
    assert!(during < before * 20 + Duration::from_millis(250), "{before:?} became {during:?}");
}

#[test]
fn a_list_does_not_become_longer_than_a_node_lets_it() {
    let scratch = Scratch::new("import-limit");
    let mut node = Running::demo(&scratch);
    node.signal("TERM");
    node.wait();
    let pair = |one: &str, other: &str| json!({ "type": "contact", "users": [one, other] });
    let mut lines: Vec<Value> = (1..=4).map(|number| user(&format!("m{number}"))).collect();
    lines.extend([pair("m1", "m2"), pair("m2", "m1"), pair("m1", "m3"), pair("m4", "m1")]);
    let file = File::new(&scratch, &lines);
    let settings = scratch.path().join("kith.toml");
    let config = format!("--config {}", settings.display());
    std::fs::write(&settings, "[limits]\ncontacts = 2\n").unwrap();
    let said = scratch.fails(&file.line(&config));
    assert!(said.contains("line 8 is not imported: a contact list would become longer"), "{said}");
    std::fs::write(&settings, "[limits]\ncontacts = 3\n").unwrap();
    let counts = file.counts(&config);
    assert_eq!((&counts["added"], &counts["known"]), (&1.into(), &7.into()), "{counts}");
}

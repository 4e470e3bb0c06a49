//! A backup of a running node is restored, and clients reload.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::client::{Client, token};
use crate::running::{Running, Scratch, poll};

fn stop(mut node: Running) {
    node.signal("TERM");
    node.wait();
}

#[test]
fn a_restored_backup_is_another_database_to_clients_and_nothing_is_lost_silently() {
    let scratch = Scratch::new("backup");
    let data = scratch.data();
    let (file, data) = (scratch.path().join("copy.db").display().to_string(), data.display().to_string());
    let node = Running::demo(&scratch);
    let (anna_token, tom_token) = (token(&scratch, "anna"), token(&scratch, "tom"));
    let enter = |node: &Running, token: &str, user: &str, position: Option<&str>| {
        Client::try_enter(node.http, token, user, position).unwrap()
    };
    let mut anna = enter(&node, &anna_token, "anna", None);
    let mut tom = enter(&node, &tom_token, "tom", None);
    anna.sent("m1", "tom", "before the backup");
    tom.message("before the backup");
    let before = tom.position.clone();
    assert!(scratch.say(&format!("backup {file} --data {data}")).contains("is a copy of"));
    assert!(scratch.fails(&format!("backup {file} --data {data}")).contains("--force"));

    let lost = anna.sent("m2", "tom", "after the backup");
    tom.message("after the backup");
    let after = tom.position.clone();
    assert!(scratch.fails(&format!("restore {file} --data {data} --force")).contains("holds it since"));
    stop(node);
    assert!(scratch.fails(&format!("restore {file} --data {data}")).contains("exists already"));
    scratch.say(&format!("restore {file} --data {data} --force"));
    assert!(scratch.data().join("kith.db.replaced").exists());

    let node = Running::demo(&scratch);
    let mut anna = enter(&node, &anna_token, "anna", None);
    // This seq belongs to another message now: a client that believes it has the seq would never read this message.
    let ack = anna.sent("m3", "tom", "after the restore");
    assert_eq!(ack["seq"], lost["seq"]);
    for position in [&before, &after] {
        let tom = enter(&node, &tom_token, "tom", position.as_deref());
        assert_eq!(tom.welcome["resumed"], false, "an explicit first page");
        let conversations = tom.welcome["conversations"].as_array().unwrap();
        assert!(conversations.iter().any(|one| one["last"]["body"] == "after the restore"));
    }
    let mut tom = enter(&node, &tom_token, "tom", after.as_deref());
    // A client that sends a request before the node has finished its welcome must repeat it.
    let changes = poll("changes", || {
        tom.say(json!({ "t": "resume", "rid": 9, "position": after })).unwrap();
        Some(tom.expect("changes", |event| event["re"] == 9)).filter(|event| event["code"] != "rate_limited")
    });
    assert_eq!(changes["reset"], true, "{changes}");
    let bodies: Vec<_> = tom.history("anna").iter().map(|one| one["body"].clone()).collect();
    assert_eq!(bodies[bodies.len() - 2..], ["before the backup", "after the restore"]);
    // From here on positions are valid again.
    let position = tom.position.clone();
    let again = enter(&node, &tom_token, "tom", position.as_deref());
    assert_eq!(again.welcome["resumed"], true);
    stop(node);

    // Back to the replaced database.
    scratch.say(&format!("restore {data}/kith.db.replaced --data {data} --force"));
    let node = Running::demo(&scratch);
    let mut tom = enter(&node, &tom_token, "tom", position.as_deref());
    assert_eq!(tom.welcome["resumed"], false);
    assert_eq!(tom.history("anna").last().unwrap()["body"], "after the backup");
}

#[test]
fn a_backup_under_load_has_all_that_was_acknowledged_before_it() {
    let scratch = Scratch::new("backup-load");
    let file = scratch.path().join("copy.db").display().to_string();
    let data = scratch.data().display().to_string();
    let node = Running::start(&scratch, "demo", &["--config", &unlimited(&scratch)]);
    let (anna_token, tom_token) = (token(&scratch, "anna"), token(&scratch, "tom"));
    let mut anna = Client::try_enter(node.http, &anna_token, "anna", None).unwrap();
    let mut acknowledged = anna.sent("m0", "tom", "0")["seq"].as_u64().unwrap();
    for number in 1..200 {
        acknowledged = anna.sent(&format!("m{number}"), "tom", &number.to_string())["seq"].as_u64().unwrap();
    }
    let enough = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 200.. {
                anna.sent(&format!("m{number}"), "tom", &number.to_string());
                if enough.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        scratch.say(&format!("backup {file} --data {data}"));
        enough.store(true, Ordering::Relaxed);
    });
    stop(node);

    // On another machine: a directory that does not exist yet.
    let elsewhere = scratch.path().join("elsewhere");
    scratch.say(&format!("restore {file} --data {}", elsewhere.display()));
    let node = Running::start_at(&scratch, "demo", &elsewhere, &[]);
    let mut tom = Client::try_enter(node.http, &tom_token, "tom", None).unwrap();
    let seqs: Vec<u64> = tom.history("anna").iter().map(|one| one["seq"].as_u64().unwrap()).collect();
    let first = seqs[0];
    assert!(seqs.iter().copied().eq(first..first + seqs.len() as u64), "no gap: {seqs:?}");
    assert!(*seqs.last().unwrap() >= acknowledged, "{seqs:?}");
}

#[test]
fn an_invalid_backup_is_refused_and_changes_nothing() {
    let scratch = Scratch::new("no-backup");
    let (path, data) = (scratch.path(), scratch.data());
    stop(Running::demo(&scratch));
    let database = std::fs::read(data.join("kith.db")).unwrap();
    std::fs::write(path.join("text"), "not a database, but long enough to be taken for one".repeat(100))
        .unwrap();
    std::fs::write(path.join("empty"), "").unwrap();
    std::fs::write(path.join("torn"), &database[..database.len() / 2]).unwrap();
    for (from, why) in [
        ("text", "not a Kith database"),
        ("empty", "not a Kith database"),
        ("torn", "damaged"),
        ("none", "no file"),
    ] {
        let line = format!("restore {} --data {} --force", path.join(from).display(), data.display());
        let said = scratch.fails(&line);
        assert!(said.contains(why), "{from}: {said}");
        assert!(std::fs::read(data.join("kith.db")).unwrap() == database, "{from}");
    }

    // A damaged database, the usual reason for a restore, does not prevent it.
    let (copy, data) = (path.join("copy.db").display().to_string(), data.display().to_string());
    scratch.say(&format!("backup {copy} --data {data}"));
    std::fs::write(path.join("data/kith.db"), vec![7; 50_000]).unwrap();
    assert!(scratch.fails(&format!("backup {copy} --force --data {data}")).contains("not a Kith database"));
    scratch.say(&format!("restore {copy} --force --data {data}"));
    let node = Running::demo(&scratch);
    Client::enter(&scratch, &node, "anna");
    assert_eq!(std::fs::read(path.join("data/kith.db.replaced")).unwrap(), vec![7; 50_000]);
}

fn unlimited(scratch: &Scratch) -> String {
    let file = scratch.path().join("unlimited.toml");
    let settings =
        "[limits]\nsend_burst = 0\nsend_per_minute = 0\ncommand_burst = 0\ncommand_per_minute = 0\n";
    std::fs::write(&file, settings).unwrap();
    file.display().to_string()
}

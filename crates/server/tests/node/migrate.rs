//! `kith migrate` from SQLite to PostgreSQL and back: killed on the way, and clients go on.

use std::path::Path;
use std::process::Stdio;

use crate::client::{Client, token};
use crate::postgresql::{Place, place, psql, psql_command, started, wait_for_turn};
use crate::running::{Running, Scratch, poll};

fn stop(mut node: Running) {
    node.signal("TERM");
    node.wait();
}

/// A node on PostgreSQL, or on the file of the directory.
fn node(scratch: &Scratch, data: &Path, url: Option<&str>) -> Running {
    let database = url.map(|url| ["--database", url]);
    Running::start_at(scratch, "demo", data, database.as_ref().map_or(&[], |flags| flags.as_slice()))
}

/// Kills it while another process holds the table of messages, so that it cannot end before.
fn kill_in_the_middle(scratch: &Scratch, place: &Place, from: &str, to: &str) {
    let holds = "BEGIN; LOCK TABLE message IN SHARE MODE; SELECT pg_sleep(600)";
    let mut holder = psql_command(place, holds).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let held = "FROM pg_locks WHERE relation = 'message'::regclass AND mode = 'ShareLock' AND granted";
    poll("the lock", || (psql(place, &format!("SELECT count(*) {held}")).unwrap() == "1").then_some(()));
    let mut migration = scratch.kith().args(["migrate", "--from", from, "--to", to]).spawn().unwrap();
    poll("some tables", || {
        assert!(migration.try_wait().unwrap().is_none(), "it waits for the lock");
        let done = psql(place, "SELECT count(*) FROM transfer WHERE done = 1").ok()?;
        (done.parse::<u32>().unwrap() >= 10).then_some(())
    });
    migration.kill().unwrap();
    migration.wait().unwrap();
    psql(place, &format!("SELECT pg_terminate_backend(pid) {held}")).unwrap();
    holder.wait().unwrap();
}

#[test]
fn a_community_moves_to_postgresql_and_back_and_clients_resume() {
    let _turn = wait_for_turn();
    let place = place("migrate");
    let server = started(&place);
    let url = format!("{}/postgres", server.url);
    let scratch = Scratch::new("migrate");
    let data = scratch.data();
    let from = data.display().to_string();
    let migrate = |from: &str, to: &str| format!("migrate --from {from} --to {to}");

    let first = node(&scratch, &data, None);
    let tokens = ["anna", "tom"].map(|user| token(&scratch, user));
    let enter = |node: &Running, at: usize, position: Option<&str>| {
        poll("a welcome", || Client::try_enter(node.http, &tokens[at], ["anna", "tom"][at], position))
    };
    let mut anna = enter(&first, 0, None);
    let mut tom = enter(&first, 1, None);
    anna.sent("m1", "tom", "on the file");
    tom.message("on the file");
    let position = tom.position.clone().unwrap();
    anna.sent("m2", "tom", "while Tom is away");
    let refused = scratch.fails(&migrate(&from, &url));
    assert!(refused.contains("holds it since"), "{refused}");
    stop(first);

    scratch.say(&format!("site list --database {url}")); // makes the schema
    kill_in_the_middle(&scratch, &place, &from, &url);
    let refused = scratch.fails(&format!("site list --database {url}"));
    assert!(refused.contains("unfinished target of `kith migrate`"), "{refused}");
    let moved = scratch.say(&migrate(&from, &url));
    assert!(moved.contains("every value was compared") && moved.contains("Files of members"), "{moved}");
    let refused = scratch.fails(&migrate(&from, &url));
    assert!(refused.contains("finished migration"), "{refused}");

    let second = node(&scratch, &data, Some(&url));
    let mut tom = enter(&second, 1, Some(&position));
    assert_eq!(tom.welcome["resumed"], true, "{}", tom.welcome);
    let bodies = |client: &mut Client| -> Vec<String> {
        let history = client.history("anna");
        history.iter().map(|message| message["body"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert!(bodies(&mut tom).ends_with(&["on the file".into(), "while Tom is away".into()]));
    let mut anna = enter(&second, 0, None);
    anna.sent("m3", "tom", "on the server");
    tom.message("on the server");
    let position = tom.position.clone().unwrap();
    let back = scratch.path().join("back");
    let to = back.display().to_string();
    let refused = scratch.fails(&migrate(&url, &to));
    assert!(refused.contains("stop the node"), "{refused}");
    stop(second);

    scratch.say(&migrate(&url, &to));
    let third = node(&scratch, &back, None);
    let mut tom = enter(&third, 1, Some(&position));
    assert_eq!(tom.welcome["resumed"], true, "{}", tom.welcome);
    let wanted = ["on the file", "while Tom is away", "on the server"].map(str::to_owned);
    assert!(bodies(&mut tom).ends_with(&wanted));
    stop(third);

    let original = node(&scratch, &data, None);
    let tom = enter(&original, 1, Some(&position));
    assert_eq!(tom.welcome["resumed"], false, "the source has another epoch: {}", tom.welcome);
}

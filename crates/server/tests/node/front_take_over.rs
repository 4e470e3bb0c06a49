//! A new version of a front in place: members of the front do not notice it, and its home neither.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;
use crate::cluster::{Cluster, PASSWORD, linked};
use crate::running::{Running, poll, text};
use crate::take_over::{TcpApp, free_port};

/// The next event that disturbs a member, or the message.
fn undisturbed(client: &mut Client, body: &str) {
    let event = client.expect("the message", |event| {
        let is_away = event["t"] == "presence" && event["presence"] == "offline";
        assert!(event["t"] != "behind" && event["t"] != "bye" && !is_away, "{event}");
        event["t"] == "message" && event["body"] == body
    });
    assert_eq!(event["body"], body);
}

/// The texts between two members, without those of the demo community.
fn bodies(client: &mut Client, with: &str) -> Vec<String> {
    let all = client.history(with);
    let bodies = all.iter().map(|message| message["body"].as_str().unwrap_or_default().to_owned());
    bodies.filter(|body| body.starts_with("round ")).collect()
}

#[test]
fn a_front_is_replaced_and_its_members_and_its_home_notice_nothing() {
    let cluster = Cluster::new("front-take-over");
    let home = cluster.home();
    let settings = cluster.scratch.path().join("front.toml");
    let port = free_port();
    std::fs::write(&settings, format!("[xmpp]\nlisten = \"127.0.0.1:{port}\"\nallow_plain = true\n"))
        .unwrap();
    let settings = settings.display().to_string();
    let more = ["--config", &settings];
    let mut a = cluster.start_front("a", PASSWORD, &more);
    linked(&a, true);
    let b = cluster.front("b");
    let (mut anna, mut tom) = (cluster.enter(&a, "anna"), cluster.enter(&b, "tom"));
    anna.say(json!({ "t": "create_room", "rid": 1, "name": "Climbers", "kind": "public" })).unwrap();
    let made = anna.expect("the room", |event| event["t"] == "conversation" && event["re"] == 1);
    let room = made["conversation"]["conversation"].as_str().unwrap().to_owned();
    let number = u64::from_str_radix(&room, 16).unwrap() & !(1 << 63);
    let mut mei = TcpApp::sign_in(&cluster.scratch, port, "mei");
    let muc = "<x xmlns='http://jabber.org/protocol/muc'/>";
    mei.ask(&format!("<presence to='{number}@rooms.demo/Mei'>{muc}</presence>"), "<subject");
    tom.say(json!({ "t": "watch", "users": ["anna"] })).unwrap();
    tom.expect("her presence", |event| event["t"] == "presence" && event["user"] == "anna");
    for round in 0..3 {
        tom.send(&format!("t{round}"), "anna", &format!("round {round} meanwhile")).unwrap();
        let new = cluster.replace_front(&mut a, "a", &more);
        assert_eq!(new.http, a.http, "the address is the same");
        a = new;
        tom.acked(&format!("t{round}"));
        undisturbed(&mut anna, &format!("round {round} meanwhile"));
        anna.sent(&format!("a{round}"), "tom", &format!("round {round} after"));
        undisturbed(&mut tom, &format!("round {round} after"));
        tom.sent(&format!("x{round}"), "mei", &format!("to the app {round}"));
        mei.until(&format!("to the app {round}"));
        let said = json!({ "t": "send", "id": format!("r{round}"), "to": { "conversation": room }, "body": format!("to all {round}") });
        anna.say(said).unwrap();
        mei.until(&format!("to all {round}"));
        // The count of stanzas shows that the stream is the old one.
        mei.ask("<iq type='get' id='p' to='demo'><ping xmlns='urn:xmpp:ping'/></iq>", "id='p'");
        mei.ask("<r xmlns='urn:xmpp:sm:3'/>", &format!("h='{}'", 3 + round));
    }
    let expected: Vec<String> =
        (0..3).flat_map(|round| ["meanwhile", "after"].map(|when| format!("round {round} {when}"))).collect();
    assert_eq!(bodies(&mut anna, "tom"), expected);
    assert_eq!(home.metric("kith_cluster_sessions_adopted_total"), 0.0, "the link has moved");
    assert_eq!(home.metric("kith_cluster_links_broken_total"), 0.0);
    assert_eq!(home.metric("kith_cluster_links"), 2.0);
    assert_eq!(a.metric("kith_cluster_sessions{slot=\"0\"}"), 2.0);
    // Newcomers, and pages of the home.
    cluster.enter(&a, "raj").sent("r", "anna", "hello");
    anna.message("hello");
    assert!(a.get("/").starts_with("HTTP/1.1 200"));
}

#[test]
fn a_front_without_its_home_is_replaced_and_what_waits_goes_on_waiting() {
    let cluster = Cluster::new("front-take-over-alone");
    let mut home = cluster.home();
    let mut a = cluster.front("a");
    let (mut anna, mut tom) = (cluster.enter(&a, "anna"), cluster.enter(&a, "tom"));
    home.signal("KILL");
    home.wait();
    linked(&a, false);
    anna.send("m1", "tom", "round 1 without a home").unwrap();
    poll("the command to wait", || (a.metric("kith_cluster_held{slot=\"0\"}") >= 1.0).then_some(()));
    a = cluster.replace_front(&mut a, "a", &[]);
    assert_eq!(a.metric("kith_cluster_linked{slot=\"0\"}"), 0.0);
    let home = cluster.home();
    anna.acked("m1");
    linked(&a, true);
    assert_eq!(bodies(&mut tom, "anna"), ["round 1 without a home"]);
    assert_eq!(home.metric("kith_cluster_sessions_adopted_total"), 2.0);
}

#[test]
fn a_successor_of_a_front_that_cannot_start_leaves_it_as_it_was() {
    let cluster = Cluster::new("front-take-over-refused");
    let home = cluster.home();
    let mut a = cluster.front("a");
    let (mut anna, mut tom) = (cluster.enter(&a, "anna"), cluster.enter(&a, "tom"));
    let data = cluster.data_of("a").display().to_string();
    let start_at = |data: &str, flags: &[String]| {
        let args = ["serve", "--take-over", "--http", "127.0.0.1:0", "--data", data];
        let output = cluster.scratch.run(args.into_iter().chain(flags.iter().map(String::as_str)));
        assert!(!output.status.success());
        text(&output.stderr)
    };
    let start = |flags: &[String]| start_at(&data, flags);
    let role = |flags: Vec<String>| [flags, vec!["--role".into(), "front".into()]].concat();
    // Not as a node with a database, which would take the sessions and know none of their members.
    assert!(start(&[]).contains("it is a front"));
    assert!(start(&cluster.flags(PASSWORD)).contains("it is a front"));
    // The old process has a link, and this one would have none.
    assert!(start(&role(cluster.flags("guessed"))).contains("cannot connect with NATS"));
    let home_data = cluster.scratch.data().display().to_string();
    assert!(start_at(&home_data, &role(cluster.flags(PASSWORD))).contains("no front"));
    anna.sent("m1", "tom", "round 1 as before");
    undisturbed(&mut tom, "round 1 as before");
    assert!(a.is_running());
    a = cluster.replace_front(&mut a, "a", &[]);
    anna.sent("m2", "tom", "round 2 at last");
    undisturbed(&mut tom, "round 2 at last");
    assert_eq!(a.metric("kith_cluster_sessions{slot=\"0\"}"), 2.0);
    assert_eq!(home.metric("kith_cluster_sessions_adopted_total"), 0.0);
}

#[test]
fn a_successor_of_a_front_killed_at_any_moment_ends_no_session() {
    let cluster = Cluster::new("front-take-over-killed");
    let home = cluster.home();
    let mut a = cluster.front("a");
    let b = cluster.front("b");
    let (mut anna, mut tom) = (cluster.enter(&a, "anna"), cluster.enter(&b, "tom"));
    let data = cluster.data_of("a").display().to_string();
    let mut flags = cluster.flags(PASSWORD);
    flags.extend(["--role".into(), "front".into()]);
    // Later and later, until one has taken over before its time.
    let mut rounds = 0;
    for (round, after) in (0_u64..).map(|round| (round, Duration::from_millis(15 * round))) {
        let mut new = cluster
            .scratch
            .kith()
            .args(["serve", "--take-over", "--data", &data, "--http", "127.0.0.1:0"])
            .args(&flags)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        tom.send(&format!("t{round}"), "anna", &format!("round {round}")).unwrap();
        let begin = Instant::now();
        poll("its time", || (begin.elapsed() >= after || !a.is_running()).then_some(()));
        new.kill().unwrap();
        new.wait().unwrap();
        tom.acked(&format!("t{round}"));
        rounds = round + 1;
        let goes_on = anna.send(&format!("a{round}"), "tom", &format!("back {round}")).is_some()
            && anna.try_acked(&format!("a{round}")).is_some();
        if !goes_on {
            assert_eq!(a.wait().code(), Some(0), "only with the process that had everything: {}", a.log());
            break;
        }
        undisturbed(&mut anna, &format!("round {round}"));
    }
    let mut anna = cluster.enter(&b, "anna");
    let expected: Vec<String> = (0..rounds).map(|round| format!("round {round}")).collect();
    assert_eq!(bodies(&mut anna, "tom"), expected, "each once, and in order");
    assert_eq!(
        home.metric("kith_cluster_sessions_adopted_total"),
        0.0,
        "the old process goes on with its link"
    );
}

#[test]
fn a_home_on_sqlite_is_replaced_and_connections_of_fronts_and_its_own_stay() {
    let cluster = Cluster::new("home-take-over");
    let mut home = cluster.home();
    let a = cluster.front("a");
    let (mut anna, mut tom) = (cluster.enter(&a, "anna"), cluster.enter(&home, "tom"));
    let flags = cluster.flags(PASSWORD);
    let mut flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    flags.push("--take-over");
    let stays = |client: &mut Client, body: &str| -> Value {
        client.expect("the message or behind", |event| {
            assert_ne!(event["t"], "bye", "the connection stays");
            event["t"] == "behind" || event["t"] == "message" && event["body"] == body
        })
    };
    for round in 0..2 {
        anna.send(&format!("a{round}"), "tom", &format!("round {round} of a front")).unwrap();
        tom.send(&format!("t{round}"), "anna", &format!("round {round} of the home")).unwrap();
        let new = Running::start(&cluster.scratch, "serve", &flags);
        assert_eq!(home.wait().code(), Some(0), "{}", home.log());
        home = new;
        linked(&a, true);
        anna.acked(&format!("a{round}"));
        tom.acked(&format!("t{round}"));
        undisturbed(&mut tom, &format!("round {round} of a front"));
        stays(&mut anna, &format!("round {round} of the home"));
        tom.sent(&format!("u{round}"), "anna", &format!("round {round} after"));
        stays(&mut anna, &format!("round {round} after"));
    }
    let mut all = bodies(&mut anna, "tom");
    all.sort_unstable();
    let mut expected: Vec<String> = (0..2)
        .flat_map(|round| ["of a front", "of the home", "after"].map(|what| format!("round {round} {what}")))
        .collect();
    expected.sort_unstable();
    assert_eq!(all, expected);
    assert_eq!(a.metric("kith_cluster_requests_refused_total"), 0.0);
    // One that fails after the old home has ended its links.
    let mut late = cluster.scratch.kith();
    let data = cluster.scratch.data().display().to_string();
    late.args(["serve", "--data", &data, "--http", "127.0.0.1:0"]).args(&flags);
    let output = late.env("KITH_PUSH_AUTHORITY", "/nowhere/authority.pem").output().unwrap();
    assert!(!output.status.success() && text(&output.stderr).contains("push.authority"), "{output:?}");
    poll("the old home", || home.log().contains("this process serves again").then_some(()));
    assert!(home.is_running());
    linked(&a, true);
    anna.sent("last", "tom", "round 3 on the old home");
    undisturbed(&mut tom, "round 3 on the old home");
}

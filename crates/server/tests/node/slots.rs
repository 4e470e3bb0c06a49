//! Two nodes with homes of several slots on one PostgreSQL: sites in different slots, and what happens when a home or a node dies.

use std::time::Instant;

use serde_json::Value;

use crate::client::Client;
use crate::cluster::linked;
use crate::files::{GIF, Member};
use crate::running::{PATIENCE, Running, Scratch, poll};
use crate::standby::Homes;

const SLOTS: u8 = 3;

/// NATS, PostgreSQL, and a site in each slot.
struct Slots {
    homes: Homes,
}

fn site(slot: u8) -> String {
    format!("garden-{slot}")
}

impl Slots {
    fn new(name: &str) -> Slots {
        let mut homes = Homes::new(name);
        homes.cluster.scratch.set_variable("KITH_CLUSTER_SLOTS", SLOTS.to_string());
        let slots = Slots { homes };
        for slot in 0..SLOTS {
            let added = slots.say(&format!("site add {} --slot {slot} --origin *", site(slot)));
            assert!(added.contains("secret"), "{added}");
            // These tests do not cover requests of strangers.
            slots.say(&format!("site set {} requests.on=false trust.on=false", site(slot)));
        }
        slots
    }

    fn say(&self, line: &str) -> String {
        self.homes.cluster.scratch.say(line)
    }

    /// Returns when it is a member. Its homes may start later.
    fn node(&self, name: &str) -> Running {
        self.homes.node_with_homes(name)
    }

    fn front(&self, name: &str) -> Running {
        let front = self.homes.cluster.start_front(name, crate::cluster::PASSWORD, &[]);
        linked(&front, true);
        front
    }

    fn enter(&self, front: &Running, slot: u8, user: &str) -> Client {
        let (site, token) = (site(slot), self.token(slot, user));
        poll("a welcome", || Client::connect(front.http)?.signed_in_at(&site, &token, user, None))
    }

    fn token(&self, slot: u8, user: &str) -> String {
        self.say(&format!("token --site {} --user {user}", site(slot))).trim().to_owned()
    }

    fn rows(&self, node: &str) -> Vec<Value> {
        let data = self.homes.data(node).display().to_string();
        let state: Value =
            serde_json::from_str(&self.say(&format!("cluster status --json --data {data}"))).unwrap();
        state["slots"].as_array().cloned().unwrap_or_default()
    }

    /// Waits until `is_right` says so of all slots.
    fn settled(&self, node: &str, is_right: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let begin = Instant::now();
        loop {
            let rows = self.rows(node);
            if !rows.is_empty() && is_right(&rows) {
                return rows;
            }
            assert!(begin.elapsed() < 2 * PATIENCE, "{rows:#?}");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    /// Waits until each of these nodes has homes, and each home is where it shall be.
    fn placed(&self, nodes: &[&str]) -> Vec<Value> {
        self.settled(nodes[0], |rows| {
            rows.iter().all(|row| row["home"].is_string() && row["home"] == row["wanted"])
                && nodes.iter().all(|node| rows.iter().any(|row| row["home"] == *node))
        })
    }

    /// Waits until all homes are on one node.
    fn all_at(&self, node: &str) {
        self.settled(node, |rows| rows.iter().all(|row| row["home"] == node));
    }
}

fn kill(pid: &Value) {
    let status = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(status.success());
}

/// A message arrives once, on the connections that both have; a member who was behind loads it.
fn talk(from: &mut Client, to: &mut Client, name: &str, body: &str) {
    from.sent(&body.replace(' ', "-"), name, body);
    let event = to.expect("the message or behind", |event| {
        assert_ne!(event["t"], "bye", "the connection stays");
        event["t"] == "behind" || event["t"] == "message" && event["body"] == body
    });
    if event["t"] == "behind" {
        let position = to.position.clone();
        to.say(serde_json::json!({ "t": "resume", "rid": 7, "position": position })).unwrap();
        let changes = to.expect("the changes", |event| event["re"] == 7);
        assert!(changes.to_string().contains(body), "{changes}");
    }
}

#[test]
fn sites_of_several_slots_share_fronts_and_the_death_of_a_home_concerns_its_own_slot() {
    let slots = Slots::new("slots-deaths");
    let (mut a, b) = (slots.node("a"), slots.node("b"));
    let rows = slots.placed(&["a", "b"]);
    let (left, right) = (slots.front("left"), slots.front("right"));
    let mut pairs: Vec<(Client, Client)> =
        (0..SLOTS).map(|slot| (slots.enter(&left, slot, "anna"), slots.enter(&right, slot, "tom"))).collect();
    for (anna, tom) in &mut pairs {
        talk(anna, tom, "tom", "over two fronts");
    }

    // One home: the others do not notice.
    let dead = rows.iter().position(|row| row["home"] == "a").unwrap();
    kill(&rows[dead]["pid"]);
    for (slot, (anna, tom)) in pairs.iter_mut().enumerate() {
        if slot != dead {
            talk(anna, tom, "tom", "while another home is dead");
        }
    }
    let (anna, tom) = &mut pairs[dead];
    talk(anna, tom, "tom", "at the next home");

    // A node with its homes: the other one takes all slots.
    a.signal("KILL");
    a.wait();
    slots.all_at("b");
    for (anna, tom) in &mut pairs {
        talk(anna, tom, "tom", "all on one node");
    }

    // It comes back, and slots move to it one after the other, with all connections.
    let again = slots.node("a");
    slots.placed(&["b", "a"]);
    for (anna, tom) in &mut pairs {
        talk(anna, tom, "tom", "on two nodes again");
        let bodies: Vec<String> = anna
            .history("tom")
            .iter()
            .map(|message| message["body"].as_str().unwrap_or_default().to_owned())
            .collect();
        let mut once = bodies.clone();
        once.dedup();
        assert_eq!(bodies, once, "no message is doubled");
    }
    drop((again, b));
}

#[test]
fn an_operator_pins_a_site_to_a_node_and_drains_a_node() {
    let slots = Slots::new("slots-operator");
    let (a, b) = (slots.node("a"), slots.node("b"));
    slots.placed(&["a", "b"]);
    let front = slots.front("front");
    let (mut anna, mut tom) = (slots.enter(&front, 1, "anna"), slots.enter(&front, 1, "tom"));
    for (round, node) in ["a", "b", "a"].into_iter().enumerate() {
        let said = slots.say(&format!("cluster pin {node} --site {}", site(1)));
        assert!(said.contains(&format!("slot 1 goes to {node}")), "{said}");
        slots.settled("a", |rows| rows[1]["home"] == node && rows[1]["pinned"] == node);
        talk(&mut anna, &mut tom, "tom", &format!("pinned to {node} in round {round}"));
    }
    // One scrape of a node has the metrics of all its processes.
    let metrics = a.metrics("");
    for wanted in ["process_resident_memory_bytes{slot=\"1\"} ", "kith_cluster_slot_answers{slot=\"1\"} 1\n"]
    {
        assert!(metrics.contains(wanted), "{wanted}: {metrics}");
    }
    for name in ["process_resident_memory_bytes", "kith_cluster_slot_here"] {
        assert_eq!(metrics.matches(&format!("# TYPE {name} ")).count(), 1, "{metrics}");
    }
    slots.say(&format!("cluster unpin --site {}", site(1)));
    slots.settled("a", |rows| rows.iter().all(|row| row["pinned"].is_null()));

    // A node has no single role to give away, and a front does not know which node is meant.
    let moved = slots.homes.command(&["cluster", "move", "b"], "a").unwrap_err();
    assert!(moved.contains("kith cluster pin NODE"), "{moved}");
    let secret = slots.homes.cluster.secret.display().to_string();
    let data = slots.homes.cluster.data_of("front").display().to_string();
    let drained = ["cluster", "drain", "--data", &data, "--cluster-secret-file", &secret];
    let drained = String::from_utf8(slots.homes.cluster.scratch.run(drained.iter()).stderr).unwrap();
    assert!(drained.contains("run the command at a node with homes"), "{drained}");
    slots.placed(&["a", "b"]);

    let said = slots.say(&format!(
        "cluster drain --data {} --cluster-secret-file {secret}",
        slots.homes.data("b").display()
    ));
    assert!(said.contains("another node"), "{said}");
    slots.all_at("a");
    talk(&mut anna, &mut tom, "tom", "after the drain");
    let alone = slots.homes.command(&["cluster", "drain"], "a").unwrap_err();
    assert!(alone.contains("no other node"), "{alone}");
    drop(b);
}

#[test]
fn requests_of_a_site_reach_the_home_of_its_slot_through_any_front() {
    let slots = Slots::new("slots-requests");
    let _a = slots.node("a");
    slots.placed(&["a"]);
    let front = slots.front("front");
    for slot in 0..SLOTS {
        let mut anna = slots.enter(&front, slot, "anna");
        let mut tom = slots.enter(&front, slot, "tom");
        talk(&mut anna, &mut tom, "tom", "before the picture");
        talk(&mut tom, &mut anna, "anna", "so that pictures are allowed");
        let token = slots.token(slot, "anna");
        let member = Member { node: &front, site: site(slot), token };
        let file = member.bring("tom", "photo.gif", GIF);
        let url = file["url"].as_str().unwrap_or_default();
        let number: u32 = url.split('/').nth(3).and_then(|number| number.parse().ok()).unwrap_or_default();
        assert_eq!(number >> 24, u32::from(slot), "{file}");
        let rest = front.get(&format!("/v1/sites/{}", site(slot)));
        assert!(rest.starts_with("HTTP/1.1 401"), "the home asks for the key of the site: {rest}");
    }
    let unknown = front.get("/v1/sites/no-such-site");
    assert!(unknown.starts_with("HTTP/1.1 4"), "{unknown}");
    let list = slots.say("site list");
    assert!((0..SLOTS).all(|slot| list.contains(&site(slot))), "{list}");
    let again = slots.homes.cluster.scratch.fails(&format!("site add {} --slot 0", site(2)));
    assert!(again.contains("exists already"), "{again}");
}

#[test]
fn a_slot_leaves_its_cluster_for_a_node_on_sqlite_and_its_members_go_on() {
    let slots = Slots::new("slots-leave");
    let mut home = slots.node("a");
    slots.placed(&["a"]);
    let mut front = slots.front("front");
    let (mut anna, mut tom) = (slots.enter(&front, 1, "anna"), slots.enter(&front, 1, "tom"));
    talk(&mut anna, &mut tom, "tom", "in the cluster");
    let position = tom.position.clone().unwrap();
    for node in [&mut front, &mut home] {
        node.signal("TERM");
        node.wait();
    }

    let alone = Scratch::new("slots-alone");
    let (from, to) = (slots.homes.url(), alone.data().display().to_string());
    let refused = alone.fails(&format!("migrate --from {from} --to {to}"));
    assert!(refused.contains("other slots: 1, 2") && refused.contains("--slot N"), "{refused}");
    let said = alone.say(&format!("migrate --from {from} --to {to} --slot 1"));
    assert!(said.contains("without the settings database and cluster.slots"), "{said}");

    let node = Running::start(&alone, "serve", &[]);
    let enter = |user: &str, position| {
        let token = alone.say(&format!("token --site {} --user {user} --data {to}", site(1)));
        poll("a welcome", || Client::connect(node.http)?.signed_in_at(&site(1), token.trim(), user, position))
    };
    let (mut anna, mut tom) = (enter("anna", None), enter("tom", Some(&*position)));
    assert_eq!(tom.welcome["resumed"], true, "{}", tom.welcome);
    talk(&mut anna, &mut tom, "tom", "alone");
    let bodies = anna.history("tom").iter().map(|message| message["body"].clone()).collect::<Vec<_>>();
    assert_eq!(bodies, ["in the cluster", "alone"]);
    assert!(alone.say(&format!("site add garden-9 --data {to}")).contains("secret"));
    drop(node);

    let refused = alone.fails(&format!("migrate --from {to} --to {from}"));
    assert!(refused.contains("of slot 1, not of slot 0"), "{refused}");
}

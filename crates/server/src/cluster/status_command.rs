//! `kith cluster status`: the links of the running node, as a table.

use std::fmt::Write as _;
use std::io::{IsTerminal, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use super::STATUS_PATH;
use crate::cli::ClusterStatus;
use crate::config::{Config, Loaded};
use crate::run_file::{self, RunningNode};
use crate::trouble::{Outcome, Trouble};
use crate::{print_json, print_line, status};

const EVERY: Duration = Duration::from_secs(1);
const ANSWER: Duration = Duration::from_secs(5);

pub(crate) fn run(args: &ClusterStatus, loaded: &Loaded) -> Outcome {
    let node = node_of(&loaded.config)?;
    loop {
        let state = ask(node.http_from_here(), &loaded.config, &node)?;
        match args.json {
            true => print_json(&state)?,
            false if args.watch && std::io::stdout().is_terminal() => print_line(&in_place(&table(&state)))?,
            false => print_line(table(&state).trim_end())?,
        }
        if !args.watch {
            return Ok(());
        }
        std::thread::sleep(EVERY);
    }
}

/// Writes over the table before, from the first line of the terminal. Each line clears its own rest, so that nothing flickers.
fn in_place(table: &str) -> String {
    let lines: String = table.trim_end().lines().map(|line| format!("{line}\x1b[K\n")).collect();
    format!("\x1b[H{lines}\x1b[J")
}

/// The running node of the data directory, or the only one that runs.
pub(super) fn node_of(config: &Config) -> Outcome<RunningNode> {
    let mut running = run_file::running();
    let data = std::fs::canonicalize(&config.data).ok();
    if let Some(at) = running.iter().position(|node| Some(&node.data) == data.as_ref()) {
        return Ok(running.swap_remove(at));
    }
    match running.len() {
        1 => Ok(running.remove(0)),
        0 => Err(Trouble::new("no node of this user runs")
            .remedy("start one, or run this command as the node's user")),
        count => Err(Trouble::new(format!("{count} nodes run on this machine"))
            .remedy("choose one by its data directory: kith cluster status --data DIR")),
    }
}

fn ask(http: SocketAddr, config: &Config, node: &RunningNode) -> Outcome<Value> {
    let trouble = |why: &str| Trouble::new(format!("cannot ask the node at {http}")).because(why);
    let token = status::metrics_token(config, &node.data).unwrap_or_default();
    let (code, body) = request(http, &format!("GET {STATUS_PATH}"), &token, "")?;
    match &*code {
        "200" => serde_json::from_str(&body).map_err(|error| trouble(&error.to_string())),
        "404" => Err(trouble("it is no node of a cluster").remedy("start it with --cluster")),
        "401" => Err(trouble("the token of /metrics is wrong").remedy("correct metrics_token_file")),
        code => Err(trouble(&format!("it answered {code}"))),
    }
}

/// The code and the body of the answer. `line`: the method and the path. `fields`: further lines of the head.
pub(super) fn request(http: SocketAddr, line: &str, token: &str, fields: &str) -> Outcome<(String, String)> {
    let trouble = |why: String| Trouble::new(format!("cannot ask the node at {http}")).because(why);
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&http, ANSWER)?;
        stream.set_read_timeout(Some(ANSWER))?;
        write!(
            stream,
            "{line} HTTP/1.1\r\nHost: {http}\r\nAuthorization: Bearer {token}\r\nContent-Length: 0\r\n{fields}\
             Connection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let answer = ask().map_err(|error| trouble(error.to_string()))?;
    let (head, body) =
        answer.split_once("\r\n\r\n").ok_or_else(|| trouble("the answer is no HTTP".into()))?;
    let code = head.split_whitespace().nth(1).unwrap_or("nothing");
    Ok((code.to_owned(), body.to_owned()))
}

/// The state of a home or a front for people.
fn table(state: &Value) -> String {
    let mut text = String::new();
    let number = |key: &str| state[key].as_u64().unwrap_or_default();
    let word = |key: &str| state[key].as_str().unwrap_or("-").to_owned();
    let is_home = state["role"] == "home";
    let lease = &state["lease"];
    let mut line =
        |name: &str, value: String| writeln!(text, "{name:<16}{value}").expect("a String takes all");
    line("role", word("role"));
    if state["role"] == "homes" {
        homes_of_slots(&mut text, state);
        return text;
    }
    if lease.is_object() {
        line("term", lease["term"].as_u64().unwrap_or_default().to_string());
        line("lease", lease["holder"].as_str().filter(|name| !name.is_empty()).unwrap_or("-").to_owned());
        let left = lease["left_ms"].as_u64().unwrap_or_default();
        line("lease ends in", format!("{}.{} s", left / 1_000, left % 1_000 / 100));
    } else if is_home {
        line("term", number("term").to_string());
    }
    if state["role"] == "standby" {
        homes(&mut text, lease);
        return text;
    }
    if is_home {
        line("home", word("http"));
        line("fronts", state["links"].as_array().map_or(0, Vec::len).to_string());
    } else {
        line("linked", if state["linked"] == true { "yes".into() } else { "no".into() });
        line("sessions", number("sessions").to_string());
        line("held", number("held").to_string());
    }
    for (key, name) in [
        ("links_begun", "links begun"),
        ("links_broken", "links broken"),
        ("sessions_adopted", "adopted"),
        ("requests_refused", "refused"),
        ("sessions_missed", "missed"),
    ] {
        line(name, state["counters"][key].as_u64().unwrap_or_default().to_string());
    }
    homes(&mut text, lease);
    if !is_home {
        links_of_slots(&mut text, &state["slots"]);
    }
    let links = state["links"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !links.is_empty() {
        writeln!(text, "\n{:<32} {:>8} {:>14}", "front", "queued", "waiting bytes")
            .expect("a String takes all");
    }
    for link in links {
        let front = link["front"].as_str().unwrap_or("-");
        let [queued, waiting] = ["queued", "waiting_bytes"].map(|key| link[key].as_u64().unwrap_or_default());
        writeln!(text, "{front:<32} {queued:>8} {waiting:>14}").expect("a String takes all");
    }
    text
}

/// The slots of a cluster, as a node with homes sees them.
fn homes_of_slots(text: &mut String, state: &Value) {
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let names = |value: &Value| value.as_array().into_iter().flatten().map(word).collect::<Vec<_>>();
    let is_leaving = state["leaving"] == true;
    writeln!(text, "{:<16}{}{}", "name", word(&state["name"]), if is_leaving { ", leaving" } else { "" })
        .expect("a String takes all");
    writeln!(text, "{:<16}{}\n", "nodes", names(&state["nodes"]).join(", ")).expect("a String takes all");
    writeln!(
        text,
        "{:<5} {:<28} {:>14} {:>9} {:>7}  shall be at",
        "slot", "home", "term", "ends in", "standby"
    )
    .expect("a String takes all");
    for slot in state["slots"].as_array().into_iter().flatten() {
        let left = slot["left_ms"].as_u64().unwrap_or_default();
        let ready = names(&slot["ready"]);
        let standby = ready.iter().filter(|name| slot["home"] != name.as_str()).count();
        let pinned = if slot["pinned"].is_string() { "pinned" } else { "" };
        let row = format!(
            "{:<5} {:<28} {:>14} {:>7}.{} {standby:>7}  {:<28} {pinned}",
            slot["slot"].as_u64().unwrap_or_default(),
            word(&slot["home"]),
            slot["term"].as_u64().unwrap_or_default(),
            left / 1_000,
            left % 1_000 / 100,
            word(&slot["wanted"]),
        );
        writeln!(text, "{}", row.trim_end()).expect("a String takes all");
    }
}

/// The links of a front.
fn links_of_slots(text: &mut String, slots: &Value) {
    text.push('\n');
    let mut row = |cells: [&str; 6]| {
        let [slot, linked, home, term, sessions, held] = cells;
        writeln!(text, "{slot:>4} {linked:>7} {home:<28} {term:>16} {sessions:>9} {held:>7}")
            .expect("a String takes all");
    };
    row(["slot", "linked", "home", "term", "sessions", "held"]);
    for of_slot in slots.as_array().map(Vec::as_slice).unwrap_or_default() {
        let [slot, term, sessions, held] = ["slot", "term", "sessions", "held"]
            .map(|key| of_slot[key].as_u64().unwrap_or_default().to_string());
        let linked = if of_slot["linked"] == true { "yes" } else { "no" };
        row([&slot, linked, of_slot["http"].as_str().unwrap_or("-"), &term, &sessions, &held]);
    }
}

/// The homes that run.
fn homes(text: &mut String, lease: &Value) {
    let homes = lease["homes"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !homes.is_empty() {
        writeln!(text, "\n{:<40} {:>8}", "home", "state").expect("a String takes all");
    }
    for home in homes {
        let [name, state] = ["name", "state"].map(|key| home[key].as_str().unwrap_or("-"));
        writeln!(text, "{name:<40} {state:>8}").expect("a String takes all");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_table_of_a_standby_names_the_holder_of_the_lease_and_all_homes() {
        let homes = json!([{"name": "kith a", "state": "home"}, {"name": "kith b", "state": "standby"}]);
        let lease = json!({"holder": "kith a", "term": 9, "left_ms": 3_456, "homes": homes});
        let table = table(&json!({"role": "standby", "lease": lease}));
        assert!(table.contains("lease           kith a\n"), "{table}");
        assert!(table.contains("lease ends in   3.4 s\n"), "{table}");
        assert!(table.lines().any(|line| *line == format!("{:<40} {:>8}", "kith b", "standby")), "{table}");
    }

    #[test]
    fn the_table_of_a_node_with_homes_has_a_row_for_each_slot() {
        let slots = json!([
            {"slot": 0, "home": "kith a", "term": 9, "left_ms": 3_456, "ready": ["kith a", "kith b"], "wanted": "kith b", "pinned": "kith b"},
            {"slot": 1, "home": null, "term": 0, "left_ms": 0, "ready": [], "wanted": "kith a", "pinned": null},
        ]);
        let state = json!({"role": "homes", "name": "kith a", "nodes": ["kith a", "kith b"], "leaving": true, "slots": slots});
        let table = table(&state);
        assert!(table.contains("name            kith a, leaving\n"), "{table}");
        assert!(table.contains("nodes           kith a, kith b\n"), "{table}");
        let row = |begin: &str| table.lines().find(|line| line.starts_with(begin)).expect("a row").to_owned();
        let words = |begin: &str| row(begin).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words("0 "), ["0", "kith", "a", "9", "3.4", "1", "kith", "b", "pinned"]);
        assert_eq!(words("1 "), ["1", "-", "0", "0.0", "0", "kith", "a"]);
    }

    #[test]
    fn the_table_of_a_home_has_a_row_for_each_front() {
        let links = json!([{"front": "kith a", "queued": 3, "waiting_bytes": 70}, {"front": "kith b", "queued": 0, "waiting_bytes": 0}]);
        let state = json!({"role": "home", "term": 7, "http": "10.0.0.1:8080", "links": links, "counters": {"links_begun": 2}});
        let table = table(&state);
        assert!(table.contains("fronts          2\n"), "{table}");
        assert!(
            table.lines().any(|line| *line == format!("{:<32} {:>8} {:>14}", "kith a", 3, 70)),
            "{table}"
        );
    }

    #[test]
    fn the_table_of_a_front_has_a_row_for_each_slot() {
        let first =
            json!({"slot": 0, "linked": true, "term": 7, "http": "10.0.0.1:8080", "sessions": 12, "held": 0});
        let second = json!({"slot": 1, "linked": false, "term": 0, "http": null, "sessions": 0, "held": 3});
        let state =
            json!({"role": "front", "linked": false, "sessions": 12, "held": 3, "slots": [first, second]});
        let table = table(&state);
        assert!(table.contains("linked          no\n") && table.contains("sessions        12\n"), "{table}");
        let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert!(rows.contains(&vec!["0", "yes", "10.0.0.1:8080", "7", "12", "0"]), "{table}");
        assert!(rows.contains(&vec!["1", "no", "-", "0", "0", "3"]), "{table}");
    }
}

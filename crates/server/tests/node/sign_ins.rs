//! `log.sign_ins`: the lines about sign-ins and refused tokens, for operators and fail2ban.

use std::fs;
use std::path::Path;

use regex::Regex;

use crate::client::token;
use crate::guests::hello;
use crate::running::{Running, Scratch, poll};

const GUIDE: &str = include_str!("../../../../docs/operate.md");

/// The documented filter, as fail2ban applies it: to the line without its date, with `<ADDR>` for an address.
fn filter() -> Regex {
    let line = GUIDE.lines().find_map(|line| line.strip_prefix("failregex = ")).unwrap();
    Regex::new(&line.replace("<ADDR>", "(?P<address>[0-9a-fA-F:.]+)")).unwrap()
}

/// The banned address of each line that the filter matches.
fn banned(lines: &[String]) -> Vec<String> {
    let filter = filter();
    let rest = |line: &String| line.split_once('Z').unwrap().1.to_owned();
    let address = |line: String| Some(filter.captures(&line)?["address"].to_owned());
    lines.iter().map(rest).filter_map(address).collect()
}

fn lines(file: &Path, fits: impl Fn(&[String]) -> bool) -> Vec<String> {
    poll("lines of the log", || {
        let text = fs::read_to_string(file).unwrap_or_default();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        fits(&lines).then_some(lines)
    })
}

fn node(scratch: &Scratch, file: &Path) -> Running {
    let settings = scratch.path().join("kith.toml");
    let sign_ins = file.display();
    let text = format!("[web]\ntrusted_proxies = \"127.0.0.0/8\"\n[log]\nsign_ins = \"{sign_ins}\"\n");
    fs::write(&settings, text).unwrap();
    Running::start(scratch, "demo", &["--config", settings.to_str().unwrap()])
}

fn from(address: &str) -> String {
    format!("X-Forwarded-For: {address}\r\n")
}

fn get(node: &Running, path: &str, address: &str, token: &str) -> String {
    let fields = format!("{}Authorization: Bearer {token}\r\n", from(address));
    node.raw(
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{fields}\r\n", node.http).as_bytes(),
    )
}

#[test]
fn an_operator_follows_sign_ins_and_refused_tokens_without_seeing_a_token() {
    let scratch = Scratch::new("sign-ins");
    let file = scratch.path().join("sign-ins.log");
    let node = node(&scratch, &file);
    let good = token(&scratch, "anna");
    let (signed, _) = good.rsplit_once('.').unwrap();
    let forged = format!("{signed}.{}", "A".repeat(43));
    assert_eq!(hello(&node, &from("198.51.100.7"), Some(&good)).0, "200");
    assert_eq!(hello(&node, &from("192.0.2.66, 203.0.113.5"), Some(&forged)).1["code"], "bad_token");
    assert_eq!(hello(&node, &from("203.0.113.6"), Some("reason=bad_token address=192.0.2.1")).0, "401");
    assert!(get(&node, "/v1/sites/demo/settings", "203.0.113.7", &forged).starts_with("HTTP/1.1 401"));
    assert!(get(&node, "/v1/sites/nowhere/settings", "203.0.113.8", &forged).starts_with("HTTP/1.1 404"));
    assert!(get(&node, "/metrics", "203.0.113.9", &forged).starts_with("HTTP/1.1 401"));

    let lines = lines(&file, |lines| lines.len() >= 6);
    let rest: Vec<&str> = lines.iter().map(|line| line.split_once("Z kith sign-in ").unwrap().1).collect();
    assert_eq!(
        rest,
        [
            "accepted address=198.51.100.7 reason=- door=hello site=demo user=\"anna\"",
            "refused address=203.0.113.5 reason=bad_token door=hello site=demo user=-",
            "refused address=203.0.113.6 reason=bad_token door=hello site=demo user=-",
            "refused address=203.0.113.7 reason=bad_token door=rest site=demo user=-",
            "refused address=203.0.113.8 reason=no_such_site door=rest site=- user=-",
            "refused address=203.0.113.9 reason=bad_token door=metrics site=- user=-",
        ]
    );
    assert_eq!(banned(&lines), ["203.0.113.5", "203.0.113.6", "203.0.113.7", "203.0.113.9"]);
    let logs = lines.join("\n") + &node.log();
    for part in good.split('.').chain(forged.split('.')) {
        assert!(!logs.contains(part) && !logs.contains(&part[..12]), "a part of a token in\n{logs}");
    }

    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o007, 0, "addresses are personal data");
}

#[test]
fn a_flood_of_refusals_is_counted_and_the_log_can_be_rotated() {
    let scratch = Scratch::new("sign-ins-flood");
    let file = scratch.path().join("sign-ins.log");
    let node = node(&scratch, &file);
    for _ in 0..100 {
        assert_eq!(hello(&node, &from("203.0.113.5"), Some("x.y.z")).0, "401");
    }
    let left_out = |line: &String| {
        let (_, count) = line.split_once("left-out address=203.0.113.5 lines=")?;
        count.parse::<usize>().ok()
    };
    let counted = |lines: &[String]| banned(lines).len() + lines.iter().filter_map(left_out).sum::<usize>();
    let lines_before = lines(&file, |lines| counted(lines) == 100);
    assert!(lines_before.iter().any(|line| left_out(line).is_some()), "{lines_before:?}");

    let rotated = scratch.path().join("sign-ins.log.1");
    fs::rename(&file, &rotated).unwrap();
    node.signal("HUP");
    poll("the new file", || file.exists().then_some(()));
    assert_eq!(hello(&node, &from("203.0.113.99"), Some("x.y.z")).0, "401");
    assert_eq!(banned(&lines(&file, |lines| !lines.is_empty())), ["203.0.113.99"]);
}

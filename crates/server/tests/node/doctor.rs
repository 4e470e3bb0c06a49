//! `kith doctor`, called as by an operator or a script.

use std::fs;
use std::process::Output;

use serde_json::Value;

use crate::running::{Running, Scratch, text};

/// More than any machine supports, so that there is always a finding.
const MANY: &str = "4000000000";

fn doctor(scratch: &Scratch, flags: &[&str]) -> Output {
    let data = scratch.data();
    fs::create_dir_all(&data).unwrap();
    scratch.run([&["doctor", "--data", data.to_str().unwrap()], flags].concat())
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)))
}

fn finding<'a>(report: &'a Value, topic: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    findings
        .iter()
        .find(|finding| finding["topic"] == topic)
        .unwrap_or_else(|| panic!("no {topic} in {report}"))
}

#[test]
fn the_doctor_checks_everything_and_fails_for_too_many_connections() {
    let scratch = Scratch::new("doctor");
    let output = doctor(&scratch, &["--json", "--connections", MANY]);
    assert_eq!(output.status.code(), Some(1));
    let told = report(&output);
    assert_eq!((&told["state"], &told["connections"]), (&"fail".into(), &4_000_000_000_u64.into()));
    for topic in ["disk", "disk speed", "clock"] {
        assert_eq!(finding(&told, topic)["state"], "ok", "{told}");
    }
    let descriptors = finding(&told, "descriptors");
    assert_eq!(descriptors["state"], "fail");
    let lines = descriptors["lines"].as_array().unwrap();
    assert!(lines.contains(&"LimitNOFILE=4000000200".into()), "{descriptors}");
    assert!(!text(&output.stdout).contains("tw_recycle"));
    // A setting of the node with this number causes only a warning, because the user did not ask about this machine.
    let output = doctor(&scratch, &["--json", "--max-connections", MANY]);
    assert_eq!(finding(&report(&output), "descriptors")["state"], "warn");
    let said = text(&doctor(&scratch, &["--connections", MANY]).stdout);
    assert!(said.contains("FAIL  descriptors") && said.contains("--apply"), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_is_written_only_after_a_yes_with_the_command_to_load_it() {
    let scratch = Scratch::new("doctor-apply");
    let file = scratch.path().join("60-kith.conf");
    let apply = ["--connections", MANY, "--sysctl-file", file.to_str().unwrap(), "--apply"];
    let output = doctor(&scratch, &apply);
    assert!(text(&output.stdout).contains("would contain"), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("--yes") && !file.exists(), "{}", text(&output.stderr));

    let output = doctor(&scratch, &[&apply[..], &["--yes", "--sysctl", "net.core.somaxconn=9999"]].concat());
    let said = text(&output.stdout);
    assert!(said.ends_with("To load it now: sysctl --system\n"), "{said}");
    let written = fs::read_to_string(&file).unwrap();
    assert!(said.contains(&written) && written.contains("net.core.somaxconn = 9999\n"), "{said}");
    assert!(written.contains("by `kith doctor --connections 4000000000 --apply`"), "{written}");

    let again = report(&doctor(&scratch, &[&apply[..], &["--yes", "--json"]].concat()));
    let kept = again["sysctl_file"]["text"].as_str().unwrap();
    assert!(
        again["sysctl_file"]["written"] == true && kept.contains("net.core.somaxconn = 9999\n"),
        "{kept}"
    );
    let same = report(&doctor(&scratch, &[&apply[..], &["--yes", "--json"]].concat()));
    assert_eq!(same["sysctl_file"]["written"], false, "the file has all lines");
}

#[test]
fn a_harmful_line_is_refused_with_the_reason() {
    let scratch = Scratch::new("doctor-harm");
    let file = scratch.path().join("60-kith.conf");
    let flags = ["--sysctl", "net.ipv4.tcp_tw_recycle=1", "--apply", "--yes", "--sysctl-file"];
    let output = doctor(&scratch, &[&flags[..], &[file.to_str().unwrap()]].concat());
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("NAT") && said.contains("4.12"), "{said}");
    assert!(!file.exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_running_node_is_checked_with_its_own_limits() {
    let scratch = Scratch::new("doctor-running");
    let node = Running::demo(&scratch);
    let told = report(&doctor(&scratch, &["--json"]));
    let found = finding(&told, "descriptors")["found"].as_str().unwrap();
    assert!(found.starts_with(&format!("the node (process {}):", node.pid())), "{found}");
    assert_eq!(finding(&told, "proxies")["state"], "ok", "{told}");
}

//! Checks the dependencies between our crates: a crate may use only the crates in this list.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Crate, the crates that it uses, and further crates that its tests, benches and examples use.
const ARROWS: &[(&str, &[&str], &[&str])] = &[
    ("bench", &["chat", "edge", "http-proto", "store", "web", "web-proto"], &[]),
    ("calls", &["edge"], &["reach"]),   // for its public items
    ("chat", &[], &["store"]),          // a database in memory
    ("cluster", &["chat"], &["store"]), // a database in memory
    ("edge", &[], &["edge"]),           // itself, with its test harness
    ("http-proto", &[], &[]),
    ("load", &["calls", "edge", "reach", "web-proto"], &[]), // the messages of a TURN client; HTTP
    ("picture", &[], &[]),
    ("preview", &["reach"], &[]),
    ("push", &["reach"], &["push"]), // itself, with its test service
    ("reach", &[], &[]),
    (
        "server",
        &[
            "calls",
            "chat",
            "cluster",
            "edge",
            "load",
            "picture",
            "preview",
            "push",
            "reach",
            "store",
            "web",
            "web-proto",
            "xmpp",
            "xmpp-proto",
        ],
        &["push"],
    ),
    ("store", &["chat"], &[]),
    ("web", &["chat", "edge", "http-proto", "web-proto"], &["store"]), // a database in memory
    ("web-proto", &[], &[]),
    ("xmpp", &["chat", "edge", "http-proto", "xmpp-proto"], &["store", "web"]), // a database in memory; scenarios with both gateways
    ("xmpp-proto", &[], &[]),
];

#[test]
fn crates_use_what_the_design_allows_and_nothing_else() {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml")])
        .output()
        .expect("cargo runs");
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let ours: BTreeSet<&str> = packages.iter().map(name).collect();

    let listed: BTreeSet<&str> = ARROWS.iter().map(|(krate, ..)| *krate).collect();
    assert_eq!(ours, listed, "a crate came or went: write down its arrows");

    let allowed: BTreeMap<&str, (&[&str], &[&str])> =
        ARROWS.iter().map(|(krate, uses, tests_use)| (*krate, (*uses, *tests_use))).collect();
    for package in packages {
        let krate = name(package);
        let (uses, tests_use) = allowed[krate];
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let used = name(dependency);
            if !ours.contains(used) {
                continue;
            }
            let in_tests = dependency["kind"] == "dev";
            let fine = uses.contains(&used) || in_tests && tests_use.contains(&used);
            let whose = if in_tests { "the tests of " } else { "" };
            assert!(
                fine,
                "{whose}{krate} may not use {used}; a new arrow needs a reason and a line in ARROWS"
            );
        }
    }
}

fn name(of: &Value) -> &str {
    of["name"].as_str().expect("a name")
}

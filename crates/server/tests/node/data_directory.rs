//! One node per data directory, and the commands that may run beside it.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::running::{Running, Scratch};

#[test]
fn a_second_node_on_a_data_directory_is_refused_with_the_holder_of_the_lock() {
    let scratch = Scratch::new("two-nodes");
    let first = Running::demo(&scratch);
    let data = scratch.data().display().to_string();
    let refusal = scratch.fails(&format!("serve --data {data} --http 127.0.0.1:0"));
    assert!(refusal.contains(&format!("process {} holds it since 20", first.pid())), "{refusal}");
    // Commands that may run beside a node still succeed.
    scratch.say(&format!("site add garden --data {data}"));
    scratch.say(&format!("backup {}/copy.db --data {data}", scratch.path().display()));
    // The lock ends with the process, even with a killed one.
    first.signal("KILL");
    drop(first);
    let second = Running::demo(&scratch);
    assert!(scratch.data().join("kith.lock").exists() && second.get("/readyz").contains("200"));
}

#[test]
fn a_port_in_use_is_found_before_the_database_is_made() {
    let scratch = Scratch::new("port-first");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let refusal = scratch.fails(&format!(
        "serve --data {} --http {}",
        scratch.data().display(),
        taken.local_addr().unwrap()
    ));
    assert!(refusal.contains("cannot listen on"), "{refusal}");
    assert!(!scratch.data().join("kith.db").exists(), "nothing was opened, nothing migrated");
}

#[test]
fn a_data_directory_that_is_open_to_others_is_closed_at_the_start() {
    let scratch = Scratch::new("open-directory");
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    fs::create_dir(scratch.data()).unwrap();
    fs::set_permissions(scratch.data(), fs::Permissions::from_mode(0o755)).unwrap();
    let node = Running::demo(&scratch);
    assert_eq!(mode(&scratch.data()), 0o700);
    assert!(node.log().contains("could read the data directory"), "{}", node.log());
}

//! A full disk: sends are refused with a code, reads succeed, and sends succeed again once the disk has space.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use crate::client::{Client, token};
use crate::running::{Running, Scratch, poll, text};

#[test]
fn a_full_disk_refuses_messages_and_nothing_else() {
    let scratch = Scratch::new("disk-full");
    let Some(disk) = SmallDisk::mount(&scratch) else {
        eprintln!("not root: a disk of our own cannot be mounted, so this was not tested");
        return;
    };
    let settings = scratch.path().join("kith.toml");
    fs::write(&settings, "[limits]\nsend_burst = 0\nsend_per_minute = 0\n").unwrap();
    let node = Running::start(&scratch, "demo", &["--config", settings.to_str().unwrap()]);
    let (anna_token, tom_token) = (token(&scratch, "anna"), token(&scratch, "tom"));
    let mut anna = Client::try_enter(node.http, &anna_token, "anna", None).unwrap();
    let mut tom = Client::try_enter(node.http, &tom_token, "tom", None).unwrap();
    anna.sent("first", "tom", "while there is room");
    tom.message("while there is room");

    disk.fill();
    let body = "x".repeat(8_000);
    let mut acked = Vec::new();
    let refusal = (0..4_000)
        .find_map(|number| {
            let id = format!("f{number}");
            anna.send(&id, "tom", &body).unwrap();
            let answer = anna.expect("an answer", |event| event["id"] == id && event["t"] != "message");
            if answer["t"] == "ack" {
                acked.push(answer["seq"].clone());
                return None;
            }
            Some(answer)
        })
        .expect("a disk of a few megabytes is full some time");
    assert_eq!(
        (refusal["t"].as_str(), refusal["code"].as_str()),
        (Some("error"), Some("unavailable")),
        "{refusal}"
    );
    assert!(refusal["retry_after"].is_u64(), "{refusal}");

    let history = anna.history("tom");
    assert!(acked.iter().all(|seq| history.iter().any(|message| message["seq"] == *seq)));
    assert!(history.iter().all(|message| message["id"] != refusal["id"]), "what was refused is not there");
    let again = Client::try_enter(node.http, &tom_token, "tom-2", None).expect("members can come in");
    assert!(!again.welcome["conversations"].as_array().unwrap().is_empty());

    disk.make_room();
    let mut tries = 0;
    poll("sending to work again", || {
        tries += 1;
        let id = format!("room-{tries}");
        anna.send(&id, "tom", "room again").unwrap();
        let answer = anna.expect("an answer", |event| event["id"] == id && event["t"] != "message");
        (answer["t"] == "ack").then_some(())
    });
    tom.message("room again");
}

#[test]
fn a_take_over_on_a_full_disk_is_refused_and_the_node_goes_on() {
    let scratch = Scratch::new("disk-full-take-over");
    let Some(disk) = SmallDisk::mount(&scratch) else {
        eprintln!("not root: a disk of our own cannot be mounted, so this was not tested");
        return;
    };
    let mut node = Running::demo(&scratch);
    let mut anna = Client::enter(&scratch, &node, "anna");
    let mut tom = Client::enter(&scratch, &node, "tom");
    anna.sent("first", "tom", "while there is room");
    tom.message("while there is room");
    let successor = || {
        let mut command = scratch.kith();
        let data = scratch.data().display().to_string();
        command.args(["serve", "--take-over", "--http", "127.0.0.1:0", "--data", &data]);
        command
    };
    // The new process finds no room before the old one has stopped anything.
    disk.fill();
    let output = successor().output().unwrap();
    let why = text(&output.stderr);
    assert!(!output.status.success() && !why.contains("took over"), "{why}");
    assert!(!node.log().contains("takes over"), "{}", node.log());
    disk.make_room();
    anna.sent("second", "tom", "and there is room again");
    tom.message("and there is room again");

    // The room vanishes behind that check: the old process has given the lock away by then.
    let mut new = successor().env("KITH_PUSH_AUTHORITY", "/nowhere/authority.pem").spawn().unwrap();
    poll("the old process", || node.log().contains("a successor takes over").then_some(()));
    let status = poll("the end of the new process", || {
        disk.fill();
        new.try_wait().unwrap()
    });
    assert!(!status.success());
    poll("the old process to go on", || node.log().contains("this process serves again").then_some(()));
    disk.fill();
    assert!(node.is_running());
    let history = anna.history("tom");
    assert!(history.iter().any(|message| message["id"] == "second"), "reads go on, on the same connection");
    disk.make_room();
    poll("sending to work again", || {
        anna.send("third", "tom", "at last").unwrap();
        let answer = anna.expect("an answer", |event| event["id"] == "third" && event["t"] != "message");
        (answer["t"] == "ack").then_some(())
    });
    tom.message("at last");
    let new = Running::start(&scratch, "serve", &["--take-over"]);
    assert_eq!(node.wait().code(), Some(0), "{}", node.log());
    anna.sent("fourth", "tom", "after the take-over");
    tom.message("after the take-over");
    drop(new);
}

/// A file system of a few megabytes, mounted at the test's data directory.
struct SmallDisk {
    path: PathBuf,
}

impl SmallDisk {
    fn mount(scratch: &Scratch) -> Option<SmallDisk> {
        let path = scratch.data();
        fs::create_dir_all(&path).unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=12m", "tmpfs"]).arg(&path).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(SmallDisk { path })
    }

    fn fill(&self) {
        let mut filler = File::options().create(true).append(true).open(self.path.join("filler")).unwrap();
        for size in [65_536, 4_096] {
            while filler.write_all(&vec![0; size]).is_ok() {}
        }
    }

    fn make_room(&self) {
        fs::remove_file(self.path.join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, because the node of the test may still have open files.
        let _ = Command::new("umount").arg("-l").arg(&self.path).status();
    }
}

//! A full disk: sends are refused with a code, reads succeed, and sends succeed again once the disk has space.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use crate::client::{Client, token};
use crate::running::{Running, Scratch, poll};

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
        let mut filler = File::create(self.path.join("filler")).unwrap();
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

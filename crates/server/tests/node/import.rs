//! A community that moves in: its members find each other on their lists.

use serde_json::Value;

use crate::client::Client;
use crate::running::{Running, Scratch};

#[test]
fn members_and_contacts_of_a_file_are_there() {
    let scratch = Scratch::new("import");
    let data = scratch.data().display().to_string();
    let file = scratch.path().join("members.jsonl");
    let write = |lines: &str| std::fs::write(&file, lines).unwrap();
    let import = format!("import --site demo {} --data {data}", file.display());
    let mut node = Running::demo(&scratch);
    write(
        "{\"user\":\"new-1\",\"name\":\"Zoë\"}\n\n{\"user\":\"new-2\"}\n{\"contacts\":[\"new-1\",\"new-2\"]}\n",
    );
    assert!(scratch.fails(&import).contains("stop the node first"));
    node.signal("TERM");
    node.wait();

    let counts: Value = serde_json::from_str(&scratch.say(&format!("{import} --json"))).unwrap();
    assert_eq!((&counts["users_new"], &counts["contact_entries_new"]), (&2.into(), &2.into()));
    assert!(scratch.say(&import).contains("2 as before"));
    write("{\"user\":\"new-3\"}\n{\"contacts\":[\"new-3\",\"nobody\"]}\n");
    let trouble = scratch.fails(&import);
    assert!(trouble.contains("line 2") && trouble.contains("no user nobody"), "{trouble}");
    write("{\"user\":\"new-3\"}\nnonsense\n");
    assert!(scratch.fails(&import).contains("line 2"));

    let node = Running::demo(&scratch);
    let token = scratch.say(&format!("token --site demo --user new-2 --data {data}"));
    let member = Client::try_enter(node.http, token.trim(), "new-2", None).unwrap();
    let contact = &member.welcome["contacts"][0];
    assert_eq!((&contact["user"], &contact["name"]), (&"new-1".into(), &"Zoë".into()));
    assert_eq!(contact["state"], "contact");
}

#[test]
fn a_list_does_not_become_longer_than_a_node_lets_it() {
    let scratch = Scratch::new("import-limit");
    let data = scratch.data().display().to_string();
    let mut node = Running::demo(&scratch);
    node.signal("TERM");
    node.wait();
    let file = scratch.path().join("members.jsonl");
    let write = |lines: &[&str]| {
        let users: String = (1..=5).map(|n| format!("{{\"user\":\"m{n}\"}}\n")).collect();
        let pairs: Vec<String> = lines.iter().map(|pair| format!("{{\"contacts\":[{pair}]}}\n")).collect();
        std::fs::write(&file, users + &pairs.concat()).unwrap();
    };
    let settings = scratch.path().join("kith.toml");
    std::fs::write(&settings, "[limits]\ncontacts = 2\n").unwrap();
    let import =
        format!("import --config {} --site demo {} --data {data}", settings.display(), file.display());

    // Said twice, and the other way round, it is one pair.
    let full = [r#""m1","m2""#, r#""m2","m1""#, r#""m1","m3""#, r#""m1","m2""#];
    write(&full);
    assert!(scratch.say(&import).contains("4 entries new"));
    // Again, with the list full from the beginning.
    assert!(scratch.say(&import).contains("0 entries new"));
    write(&[&full[..], &[r#""m3","m2""#, r#""m4","m1""#]].concat());
    let trouble = scratch.fails(&import);
    let place = format!("line 11 of {} cannot be imported", file.display());
    assert!(trouble.contains(&place) && trouble.contains("m1 would have more than 2 contacts"), "{trouble}");
    assert!(trouble.contains("raise limits.contacts"), "{trouble}");
    std::fs::write(&settings, "[limits]\ncontacts = 3\n").unwrap();
    let said = scratch.say(&import);
    assert!(said.contains("4 entries new"), "all or nothing of a short file: {said}");
}

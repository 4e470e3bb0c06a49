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

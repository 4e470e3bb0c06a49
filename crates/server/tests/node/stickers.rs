//! Stickers, from the operator's folder to a member's message.

use std::fs;

use serde_json::Value;

use crate::client::Client;
use crate::running::{Running, Scratch};

/// A picture of one pixel.
const GIF: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\xff\0\0\0\0\xff!\xf9\x04\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

#[test]
fn an_operator_adds_lists_and_removes_them_while_the_node_runs() {
    let scratch = Scratch::new("stickers");
    let node = Running::demo(&scratch);
    let data = scratch.data();
    let folder = data.parent().unwrap();
    fs::write(folder.join("good-morning.gif"), GIF).unwrap();
    fs::write(folder.join("text.png"), "no picture").unwrap();
    let listed =
        || -> Vec<Value> { serde_json::from_str(&scratch.say("sticker list --site demo --json")).unwrap() };
    let before = listed().len();
    let said =
        scratch.say("sticker add --site demo --set Bees good-morning.gif good-morning.gif=Buzz --json");
    let added: Vec<Value> = serde_json::from_str(&said).unwrap();
    let words: Vec<&str> = added.iter().map(|one| one["words"].as_str().unwrap()).collect();
    assert_eq!(words, ["good morning", "Buzz"]);
    assert_eq!((&added[0]["set"], &added[0]["width"]), (&"Bees".into(), &1.into()));
    assert_eq!(listed()[before..], added);

    Client::enter(&scratch, &node, "anna");
    let mut tom = Client::enter(&scratch, &node, "tom");
    let id = added[1]["id"].as_str().unwrap();
    tom.say(serde_json::json!({"t": "sticker", "id": "s-1", "to": {"user": "anna"}, "sticker": id})).unwrap();
    tom.expect("an ack", |event| event["t"] == "ack");

    assert!(scratch.say(&format!("sticker remove --site demo {id}")).contains("show the words"));
    assert!(scratch.fails(&format!("sticker remove --site demo {id}")).contains("no sticker"));
    assert_eq!(listed().len(), before + 1);
    assert!(scratch.fails("sticker add --site demo --set Bees text.png").contains("no JPEG"));
    assert!(scratch.fails("sticker add --site demo --set Bees none.png").contains("none.png"));
    assert!(scratch.fails("sticker remove --site demo wave").contains("no sticker"));
    assert_eq!(listed().len(), before + 1, "what failed has added nothing");
}

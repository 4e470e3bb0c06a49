//! Kills `kith` ten times in a row during traffic: no acknowledged message is lost or doubled.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::client::{Client, token};
use crate::running::{Running, Scratch};

const DEATHS: usize = 10;
/// Messages of one sender that wait for their ack at the same time.
const WINDOW: usize = 8;
/// Acks after which the node is killed.
const ACKS_PER_LIFE: usize = 40;

#[test]
fn acknowledged_messages_are_there_once_and_in_order_after_ten_kills() {
    let scratch = Scratch::new("crash");
    let flags = limits(&scratch);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let mut sender = Sender::default();
    let mut token_of_anna = String::new();
    for death in 0..DEATHS {
        let mut node = Running::start(&scratch, "demo", &flags);
        if death == 0 {
            token_of_anna = token(&scratch, "anna");
        }
        let mut anna = Client::try_enter(node.http, &token_of_anna, "anna", None).expect("the node is ready");
        sender.live(&mut anna, death);
        node.signal("KILL");
        node.wait();
        // A message in flight when the node was killed may or may not have arrived.
        sender.read_remaining_acks(&mut anna);
    }
    let node = Running::start(&scratch, "demo", &flags);
    let mut anna = Client::try_enter(node.http, &token_of_anna, "anna", None).expect("the node is ready");
    sender.retry_all(&mut anna);
    sender.judge(&anna.history("tom"));
}

/// Without limits on sending, because the kills must come during traffic.
fn limits(scratch: &Scratch) -> [String; 2] {
    let path = scratch.path().join("kith.toml");
    std::fs::write(&path, "[limits]\nsend_burst = 0\nsend_per_minute = 0\nsite_sends_per_second = 0\n")
        .unwrap();
    ["--config".into(), path.display().to_string()]
}

/// Sends numbered messages, keeps unacknowledged ones, and repeats them first after the restart.
#[derive(Default)]
struct Sender {
    made: usize,
    /// In the order of their creation.
    unacked: Vec<String>,
    seq_by_id: BTreeMap<String, u64>,
}

impl Sender {
    fn live(&mut self, anna: &mut Client, death: usize) {
        for id in self.unacked.clone() {
            anna.send(&id, "tom", &id);
        }
        let enough = self.seq_by_id.len() + ACKS_PER_LIFE + death;
        while self.seq_by_id.len() < enough {
            while self.unacked.len() < WINDOW {
                let id = format!("m{:05}", self.made);
                self.made += 1;
                anna.send(&id, "tom", &id);
                self.unacked.push(id);
            }
            let event = anna.next().expect("the node lives");
            self.hear(&event);
        }
    }

    fn read_remaining_acks(&mut self, anna: &mut Client) {
        while let Some(event) = anna.next() {
            self.hear(&event);
        }
    }

    fn retry_all(&mut self, anna: &mut Client) {
        for id in self.unacked.clone() {
            let ack = anna.sent(&id, "tom", &id);
            self.hear(&ack);
        }
        assert!(self.unacked.is_empty());
    }

    fn hear(&mut self, event: &Value) {
        assert_ne!(event["t"], "error", "{event}");
        if event["t"] != "ack" {
            return;
        }
        let id = event["id"].as_str().unwrap().to_owned();
        let seq = event["seq"].as_u64().unwrap();
        self.unacked.retain(|waiting| *waiting != id);
        if let Some(before) = self.seq_by_id.insert(id.clone(), seq) {
            assert_eq!(before, seq, "{id} was acknowledged twice, with two places");
        }
    }

    fn judge(&self, archive: &[Value]) {
        let seqs: Vec<u64> = archive.iter().map(|message| message["seq"].as_u64().unwrap()).collect();
        let gap_free: Vec<u64> = (1..=archive.len() as u64).collect();
        assert_eq!(seqs, gap_free, "the archive has gaps or is out of order");
        let mut seq_by_body: BTreeMap<&str, u64> = BTreeMap::new();
        for message in archive.iter().filter(|message| message["from"] == "anna") {
            let body = message["body"].as_str().unwrap();
            if body.starts_with('m') && body[1..].parse::<usize>().is_ok() {
                let double = seq_by_body.insert(body, message["seq"].as_u64().unwrap());
                assert!(double.is_none(), "{body} is there twice");
            }
        }
        // Retries come first after each restart, so the order of creation is the order in the log.
        let by_seq: BTreeMap<u64, &str> = seq_by_body.iter().map(|(body, seq)| (*seq, *body)).collect();
        assert!(by_seq.values().is_sorted(), "the archive is not in the order of sending");
        for (id, seq) in &self.seq_by_id {
            assert_eq!(seq_by_body.get(id.as_str()), Some(seq), "{id} was acknowledged, and is not there so");
        }
        assert_eq!(seq_by_body.len(), self.made, "every message arrived after its retry");
        assert!(self.made >= DEATHS * ACKS_PER_LIFE);
    }
}

//! How long the frames of the hot path take: `cargo run --release -p web-proto --example bench`.

#![allow(clippy::disallowed_methods, reason = "it measures time")]
#![allow(clippy::print_stdout)] // it is a command

use std::hint::black_box;
use std::time::Instant;

use web_proto::{Command, Event, Message, SendTo};

fn main() {
    let body = "x".repeat(100);
    let id = "0193a5e0-7c1b-7d6e-9f3a-2b6c1d4e8f01";
    let send = Command::Send {
        id: id.into(),
        to: SendTo::Conversation("c_7Jw2pQ".into()),
        body: body.as_str().into(),
        reply_to: None,
        files: Vec::new(),
        thread: None,
    };
    let message = Event::Message {
        message: Message {
            conversation: "c_7Jw2pQ".into(),
            seq: 1234,
            from: "anna".into(),
            id: id.into(),
            body: body.as_str().into(),
            time: 1_764_000_000_123,
            reply_to: None,
            version: None,
            edited: None,
            deleted: false,
            opaque: false,
            call: None,
            pinned: false,
            reactions: Vec::new(),
            files: Vec::new(),
            poll: None,
            forwarded: None,
            thread: None,
            number: None,
            replies: None,
            preview: None,
            sticker: None,
        },
        position: "p1.12345".into(),
    };
    let ack = Event::Ack {
        request: false,
        id: id.into(),
        conversation: "c_7Jw2pQ".into(),
        seq: 1234,
        time: 1_764_000_000_123,
        position: "p1.12345".into(),
    };
    let mut frame = Vec::new();
    send.write(&mut frame);
    let shuffled = frame_with_t_last(&frame);
    time("parse send", || drop(black_box(Command::parse(black_box(&frame)))));
    time("parse send, t last", || drop(black_box(Command::parse(black_box(&shuffled)))));
    time("parse ping", || drop(black_box(Command::parse(black_box(br#"{"t":"ping"}"#)))));
    let history = br#"{"t":"history","rid":13,"to":{"conversation":"c_7Jw2pQ"},"before":42,"limit":30}"#;
    time("parse history", || drop(black_box(Command::parse(black_box(history)))));

    let mut out = Vec::with_capacity(1024);
    for (name, event) in [("message", &message), ("ack", &ack), ("heartbeat", &Event::Heartbeat)] {
        time(&format!("write {name}"), || {
            out.clear();
            black_box(event).write(&mut out);
            black_box(&out);
        });
        time(&format!("parse {name}"), || drop(black_box(Event::parse(black_box(&out)))));
    }
}

fn frame_with_t_last(frame: &[u8]) -> Vec<u8> {
    let rest = frame.strip_prefix(br#"{"t":"send","#).expect("serde writes the tag first");
    [b"{", &rest[..rest.len() - 1], br#","t":"send"}"#].concat()
}

/// Best of five, so that a busy machine does not count.
fn time(name: &str, mut what: impl FnMut()) {
    const TURNS: u32 = 200_000;
    let best = (0..5).map(|_| {
        let start = Instant::now();
        (0..TURNS).for_each(|_| what());
        start.elapsed()
    });
    println!("{name:20} {:6.0} ns", best.min().unwrap_or_default().as_nanos() as f64 / f64::from(TURNS));
}

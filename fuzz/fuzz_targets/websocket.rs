//! Frames of clients: the same bytes whole and in pieces give the same messages, or the same violation.
#![no_main]

use http_proto::websocket::{Message, Reader};
use libfuzzer_sys::fuzz_target;

const LIMIT: usize = 4096;

fuzz_target!(|input: &[u8]| {
    let [piece, rest @ ..] = input else { return };
    let whole = read(rest, rest.len().max(1));
    let pieces = read(rest, usize::from(*piece % 11) + 1);
    assert_eq!(whole, pieces);
});

/// The messages, and the close code of the violation that ended them.
fn read(input: &[u8], piece: usize) -> (Vec<(&'static str, Vec<u8>)>, Option<u16>) {
    let (mut reader, mut messages) = (Reader::default(), Vec::new());
    // Bytes that arrived and were not consumed. The reader may have changed them in place.
    let mut waiting = Vec::new();
    for part in input.chunks(piece) {
        waiting.extend_from_slice(part);
        loop {
            match reader.read(&mut waiting, LIMIT) {
                Ok((used, message)) => {
                    let ended = message.is_none();
                    messages.extend(message.map(said));
                    waiting.drain(..used);
                    if ended {
                        break;
                    }
                }
                Err(violation) => return (messages, Some(violation.code)),
            }
        }
    }
    (messages, None)
}

fn said(message: Message<'_>) -> (&'static str, Vec<u8>) {
    match message {
        Message::Text(text) => {
            assert!(std::str::from_utf8(&text).is_ok() && text.len() <= LIMIT);
            ("text", text.to_vec())
        }
        Message::Binary(bytes) => ("binary", bytes.to_vec()),
        Message::Ping(payload) => ("ping", payload.to_vec()),
        Message::Pong => ("pong", Vec::new()),
        Message::Close(close) => ("close", close.code.unwrap_or(0).to_be_bytes().to_vec()),
    }
}

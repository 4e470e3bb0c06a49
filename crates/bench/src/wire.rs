//! Parsing of bytes, and their creation.

use std::hint::black_box;

use http_proto::head::{NO_FIELDS, parse};
use http_proto::websocket::{Message as Frame, Reader};
use web_proto::{Command, Event, Message, SendTo};

/// A browser's request for a WebSocket.
const HEAD: &str = "GET /v1/websocket HTTP/1.1\r\nHost: im.example\r\nConnection: Upgrade\r\nPragma: no-cache\r\n\
    Cache-Control: no-cache\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
    Chrome/140.0.0.0 Safari/537.36\r\nUpgrade: websocket\r\nOrigin: https://garden.example\r\n\
    Sec-WebSocket-Version: 13\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: de,en;q=0.9\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: kith.v1\r\n\r\n";

const ID: &str = "0193a5e0-7c1b-7d6e-9f3a-2b6c1d4e8f01";
const CONVERSATION: &str = "c_7Jw2pQ";
/// As in the load tests.
const BODY: usize = 100;
const FRAME_LIMIT: usize = 65_536;

pub(crate) fn http_head() -> Box<dyn FnMut()> {
    Box::new(|| {
        let mut room = NO_FIELDS;
        let head = parse(black_box(HEAD.as_bytes()), &mut room);
        assert!(black_box(head).is_ok_and(|head| head.is_some()));
    })
}

/// Unmasked in place, and checked to be UTF-8.
pub(crate) fn websocket_frame() -> Box<dyn FnMut()> {
    let masked = masked(&send_frame());
    let mut arrived = masked.clone();
    let mut reader = Reader::default();
    Box::new(move || {
        arrived.copy_from_slice(&masked);
        let (used, frame) = reader.read(black_box(&mut arrived), FRAME_LIMIT).expect("it is a frame");
        assert!(used == masked.len() && matches!(black_box(frame), Some(Frame::Text(_))));
    })
}

pub(crate) fn command() -> Box<dyn FnMut()> {
    let frame = send_frame();
    Box::new(move || assert!(black_box(Command::parse(black_box(&frame))).is_ok()))
}

pub(crate) fn message_event() -> Box<dyn FnMut()> {
    let body = "x".repeat(BODY);
    let mut out = Vec::with_capacity(1_024);
    Box::new(move || {
        let message = Message {
            conversation: CONVERSATION.into(),
            seq: 1_234,
            from: "anna".into(),
            id: ID.into(),
            body: black_box(body.as_str()).into(),
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
        };
        out.clear();
        Event::Message { message, position: "p1.12345".into() }.write(&mut out);
        assert!(black_box(&out).len() > BODY);
    })
}

fn send_frame() -> Vec<u8> {
    let to = SendTo::Conversation(CONVERSATION.into());
    let mut frame = Vec::new();
    Command::Send {
        id: ID.into(),
        to,
        body: "x".repeat(BODY).into(),
        reply_to: None,
        files: Vec::new(),
        thread: None,
    }
    .write(&mut frame);
    frame
}

/// One text frame of a client (RFC 6455 §5.2).
fn masked(payload: &[u8]) -> Vec<u8> {
    const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
    let length = u16::try_from(payload.len()).expect("a short frame").to_be_bytes();
    assert!(payload.len() > 125, "shorter ones have a shorter head");
    let masked = payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask);
    [0x81, 0xfe].into_iter().chain(length).chain(MASK).chain(masked).collect()
}

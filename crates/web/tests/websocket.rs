//! WebSocket against somebody else's client over real sockets: the echo with all sizes and fragmentations.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use chat::{Limits, Node, NodeConfig, Timestamp};
use edge::{Edge, EdgeConfig, Listener};
use store::Sqlite;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};
use tungstenite::{Message, WebSocket, client};
use web::{Assets, Counters, Gateway, SessionKeys, Shared, WebConfig, WebOutbox};

struct Running {
    edge: Edge,
    _runtime: tokio::runtime::Runtime,
}

fn start() -> Running {
    let limits = Limits { sessions_per_user: 0, ..Limits::without_rates() };
    let (mailboxes, inboxes) = edge::mailboxes(1);
    let config = NodeConfig {
        limits,
        presence_grace_ms: 1000,
        presence_coalesce_ms: 100,
        clock_skew_ms: 60_000,
        calls: chat::CallConfig::default(),
        app_passwords: false,
    };
    let web_config = WebConfig { echo: true, ..WebConfig::default() };
    let outbox = WebOutbox::new(mailboxes.clone(), &limits, &web_config, || Timestamp(0));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let shared = Arc::new(Shared {
        node: Arc::new(Node::new(config, Arc::new(Sqlite::in_memory()), Arc::new(outbox), [1; 32])).into(),
        mailboxes,
        config: web_config,
        assets: Assets::new([]),
        counters: Arc::new(Counters::default()),
        router: axum::Router::new(),
        runtime: runtime.handle().clone(),
        keys: SessionKeys::new([2; 32]),
    });
    let config = EdgeConfig {
        listeners: vec![Listener::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))],
        output_limit: web::ECHO_BYTES + (1 << 20),
        ..EdgeConfig::default()
    };
    let edge = Edge::start(config, inboxes, move |worker| Gateway::new(worker, shared.clone())).unwrap();
    Running { edge, _runtime: runtime }
}

fn connect(running: &Running, path: &str) -> WebSocket<TcpStream> {
    let addr = running.edge.local_addrs()[0];
    let stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.set_nodelay(true).unwrap();
    let config = tungstenite::protocol::WebSocketConfig::default()
        .max_message_size(Some(64 << 20))
        .max_frame_size(Some(64 << 20));
    client::client_with_config(format!("ws://{addr}{path}"), stream, Some(config)).unwrap().0
}

#[test]
fn the_echo_gives_back_text_and_bytes_of_all_sizes() {
    let running = start();
    let mut socket = connect(&running, "/v1/echo");
    for size in [0, 1, 125, 126, 127, 128, 65_535, 65_536, 65_537, 1 << 20, 16 << 20] {
        let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        socket.send(Message::binary(bytes.clone())).unwrap();
        assert!(socket.read().unwrap() == Message::binary(bytes), "{size}");
        let text = "k\u{ef}th \u{1f44b}".repeat(size / 11);
        socket.send(Message::text(text.clone())).unwrap();
        assert!(socket.read().unwrap() == Message::text(text), "{size}");
    }
    socket.close(None).unwrap();
    assert!(matches!(socket.read(), Ok(Message::Close(None))));
}

#[test]
fn fragments_with_pings_between_are_one_message() {
    let running = start();
    let mut socket = connect(&running, "/v1/echo");
    let part = |data: &str, opcode, is_final| {
        Message::Frame(Frame::message(data.as_bytes().to_vec(), OpCode::Data(opcode), is_final))
    };
    for rounds in [1, 2, 50] {
        socket.send(part("begin ", Data::Text, false)).unwrap();
        for round in 0..rounds {
            socket.send(part("\u{1f44b}", Data::Continue, false)).unwrap();
            socket.send(Message::Ping(vec![round as u8].into())).unwrap();
        }
        socket.send(part("", Data::Continue, true)).unwrap();
        let mut pongs = 0;
        let text = loop {
            match socket.read().unwrap() {
                Message::Pong(payload) => {
                    assert_eq!(payload[..], [pongs as u8]);
                    pongs += 1;
                }
                other => break other,
            }
        };
        assert_eq!(text, Message::text(format!("begin {}", "\u{1f44b}".repeat(rounds))));
        assert_eq!(pongs, rounds);
    }
}

#[test]
fn many_messages_at_once_come_back_in_order() {
    let running = start();
    let mut socket = connect(&running, "/v1/echo");
    for _ in 0..20 {
        for n in 0..100 {
            socket.write(Message::text(format!("message {n}"))).unwrap();
        }
        socket.flush().unwrap();
        for n in 0..100 {
            assert_eq!(socket.read().unwrap(), Message::text(format!("message {n}")));
        }
    }
}

#[test]
fn close_codes_are_given_back_or_refused() {
    use tungstenite::protocol::CloseFrame;
    let running = start();
    for (code, expected) in
        [(1000, 1000), (1001, 1001), (3000, 3000), (4999, 4999), (1005, 1002), (2999, 1002)]
    {
        let mut socket = connect(&running, "/v1/echo");
        socket.close(Some(CloseFrame { code: code.into(), reason: "".into() })).unwrap();
        match socket.read().unwrap() {
            Message::Close(Some(CloseFrame { code, .. })) => assert_eq!(u16::from(code), expected),
            other => panic!("{code}: {other:?}"),
        }
    }
}

#[test]
fn binary_frames_are_no_commands() {
    let running = start();
    let mut socket = connect(&running, "/v1/websocket");
    socket.send(Message::binary(vec![1, 2, 3])).unwrap();
    let bye = socket.read().unwrap().into_text().unwrap();
    assert!(bye.contains("bad_transport"), "{bye}");
    match socket.read().unwrap() {
        Message::Close(Some(frame)) => assert_eq!(u16::from(frame.code), 1002),
        other => panic!("{other:?}"),
    }
}

/// A client's frame with a mask of zeros, so that the payload can be read in the table.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    assert!(length < 126);
    [&[first, 0x80 | length, 0, 0, 0, 0], payload].concat()
}

/// All that the echo answers to these bytes until it ends the connection.
fn answer_to(running: &Running, bytes: &[u8]) -> Vec<u8> {
    use std::io::{Read, Write};
    let socket = connect(running, "/v1/echo");
    let mut stream = socket.get_ref();
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

const TEXT: u8 = 0x81;
const TEXT_BEGINS: u8 = 0x01;
const GOES_ON: u8 = 0x00;
const ENDS: u8 = 0x80;
const PING: u8 = 0x89;
const PONG: u8 = 0x8a;
const CLOSE: u8 = 0x88;

/// The cases of Autobahn's fuzzing client (chapters 2 to 7) in which something must still be answered before the
/// connection fails, and nothing after it. What is answered last is a close frame with the code of the offence.
#[test]
fn what_came_before_an_offence_is_answered_and_nothing_after_it() {
    let running = start();
    let hello = frame(TEXT, b"hello");
    let echoed = b"\x81\x05hello".to_vec();
    let ping = frame(PING, b"still there?");
    type Case = (&'static str, Vec<Vec<u8>>, Vec<u8>, u16);
    let table: &[Case] = &[
        ("3.2 reserved bit", vec![hello.clone(), frame(0xa1, b"x"), ping.clone()], echoed.clone(), 1002),
        ("3.6 reserved bit of a ping", vec![hello.clone(), frame(0xd9, b"")], echoed.clone(), 1002),
        ("4.1.3 reserved opcode", vec![hello.clone(), frame(0x85, b""), ping.clone()], echoed.clone(), 1002),
        ("4.2.3 reserved control", vec![hello.clone(), frame(0x8d, b""), ping.clone()], echoed.clone(), 1002),
        ("5.1 ping in two", vec![frame(0x09, b"a"), frame(0x80, b"b")], vec![], 1002),
        ("5.9 continuation of nothing", vec![frame(ENDS, b"a"), hello.clone()], vec![], 1002),
        (
            "5.15 continuation after the end",
            vec![frame(TEXT_BEGINS, b"he"), frame(ENDS, b"llo"), frame(GOES_ON, b"x"), hello.clone()],
            echoed.clone(),
            1002,
        ),
        ("5.18 text inside a text", vec![frame(TEXT_BEGINS, b"a"), frame(TEXT, b"b")], vec![], 1002),
        (
            "6.4.2 bad byte of a text that goes on",
            vec![frame(TEXT_BEGINS, b"\xce\xba\xf4\x90")],
            vec![],
            1007,
        ),
        ("6.20 cut character", vec![frame(TEXT_BEGINS, b"\xf0\x9f"), frame(ENDS, b"")], vec![], 1007),
        ("no mask", vec![hello, b"\x81\x01x".to_vec()], echoed, 1002),
    ];
    for (case, frames, before, code) in table {
        let answer = answer_to(&running, &frames.concat());
        let (answered, close) = answer.split_at(before.len().min(answer.len()));
        assert_eq!(answered, before, "{case}");
        assert_eq!((close[0], u16::from_be_bytes([close[2], close[3]])), (CLOSE, *code), "{case}");
        assert_eq!(close.len(), 2 + usize::from(close[1]), "{case}: nothing after the close frame");
    }
}

/// Autobahn 2.10, 2.11 and 5.19: pings are answered at once, in order, between the fragments of a message.
#[test]
fn pings_are_answered_in_order_while_a_text_is_on_its_way() {
    let running = start();
    let mut input = frame(TEXT_BEGINS, "\u{3ba}\u{1f44b}".as_bytes());
    // RFC 6455 §5.5.3: a pong that nobody asked for is no reason to say anything.
    input.extend(frame(PONG, b"unasked"));
    let mut expected = Vec::new();
    for number in b'0'..=b'9' {
        input.extend(frame(PING, &[number]));
        expected.extend([PONG, 1, number]);
    }
    // A character may be cut between two frames.
    input.extend(frame(GOES_ON, b"\xe2\x82"));
    input.extend(frame(ENDS, b"\xac"));
    input.extend(frame(CLOSE, b"\x03\xe8bye"));
    expected.extend([TEXT, 9]);
    expected.extend("\u{3ba}\u{1f44b}\u{20ac}".as_bytes());
    expected.extend(b"\x88\x02\x03\xe8");
    assert_eq!(answer_to(&running, &input), expected);
}

/// Autobahn 7.5, 7.7 and 7.9, and every other code: those that may travel come back, the rest is an offence.
#[test]
fn every_close_code_is_given_back_or_is_an_offence() {
    let running = start();
    let table = [
        (1000..=1003, true),
        (1004..=1006, false),
        (1007..=1014, true),
        (1015..=1016, false),
        (2999..=2999, false),
        (3000..=3000, true),
        (4999..=4999, true),
        (5000..=5000, false),
        (65535..=65535, false),
    ];
    for (codes, may_travel) in table {
        for code in codes {
            let code: u16 = code;
            let answer = answer_to(&running, &frame(CLOSE, &code.to_be_bytes()));
            let expected = if may_travel { code } else { 1002 };
            assert_eq!((answer[0], &answer[2..4]), (CLOSE, &expected.to_be_bytes()[..]), "{code}");
        }
    }
    assert_eq!(answer_to(&running, &frame(CLOSE, b"")), b"\x88\x00");
    assert_eq!(answer_to(&running, &frame(CLOSE, b"\x03"))[2..4], 1002_u16.to_be_bytes());
    assert_eq!(answer_to(&running, &frame(CLOSE, b"\x03\xe8\xce\xff"))[2..4], 1007_u16.to_be_bytes());
}

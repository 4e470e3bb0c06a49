//! WebSocket against somebody else's client over real sockets: the echo with all sizes and fragmentations.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use chat::memory::MemoryStore;
use chat::{Limits, Node, NodeConfig};
use edge::{Edge, EdgeConfig, Listener};
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};
use tungstenite::{Message, WebSocket, client};
use web::{Assets, Counters, Gateway, SessionKeys, Shared, WebConfig, WebOutbox};

struct Running {
    edge: Edge,
    _runtime: tokio::runtime::Runtime,
}

fn start() -> Running {
    let limits = Limits {
        body_bytes: 8192,
        page: 50,
        watch: 100,
        contacts: 1000,
        sessions_per_user: 0,
        sessions_per_site: 0,
        send_burst: 0,
        send_per_minute: 0,
        command_burst: 0,
        command_per_minute: 0,
        site_sends_per_second: 0,
    };
    let (mailboxes, inboxes) = edge::mailboxes(1);
    let config =
        NodeConfig { limits, presence_grace_ms: 1000, presence_coalesce_ms: 100, clock_skew_ms: 60_000 };
    let outbox = Arc::new(WebOutbox::new(mailboxes.clone()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let shared = Arc::new(Shared {
        node: Arc::new(Node::new(config, Arc::new(MemoryStore::new()), outbox, [1; 32])),
        mailboxes,
        config: WebConfig { echo: true, ..WebConfig::default() },
        limits,
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
        Message::Close(Some(frame)) => assert_eq!(u16::from(frame.code), 1003),
        other => panic!("{other:?}"),
    }
}

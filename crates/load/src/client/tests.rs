//! Clients read recorded responses that are cut at every byte.

use super::*;

const WELCOME: &str = r#"{"t":"welcome","session":"s","key":"k1","me":{"user":"u","name":"U"},"presence":"online","open":true,"limits":{"body_bytes":1,"frame_bytes":1,"page":1,"watch":1,"idle_ms":1,"heartbeat_ms":1},"time":1,"expires":1,"resumed":false,"conversations":[],"position":"p"}"#;
const LOGIN: Login<'_> = Login { site: "demo", user: "u", token: "t", position: None };

#[test]
fn websocket() {
    let target = target();
    let answer = [
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: {}\r\n\r\n",
            target.websocket_accept
        )
        .as_bytes(),
        &text_frame(WELCOME),
        b"\x01\x05{\"t\":",
        b"\x89\x01p",
        b"\x80\x07\"pong\"}",
        b"\x88\x02\x03\xe8",
    ]
    .concat();
    let output = output(Transport::Websocket, &answer).unwrap();
    assert_eq!(output.events, ["welcome", "pong"]);
    assert_eq!(output.key, None.or(Some("k1".to_owned())));
    let out = output.out;
    let head = out.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    assert!(out.starts_with(b"GET /v1/websocket HTTP/1.1\r\nHost: 127.0.0.1:1\r\n"));
    assert_eq!(unmasked(&out[head..]), [&LOGIN.hello()[..], b"p", b"\x03\xe8"]);
}

#[test]
fn websocket_faults() {
    let target = target();
    let upgraded = format!("HTTP/1.1 101 S\r\nSec-WebSocket-Accept: {}\r\n\r\n", target.websocket_accept);
    let check = |answer: &[u8], expected: Fault| {
        let whole = [upgraded.as_bytes(), answer].concat();
        assert_eq!(output(Transport::Websocket, &whole).err(), Some(expected));
    };
    check(b"\x80\x00", Fault::Websocket("a continuation of nothing"));
    check(b"\x01\x01{\x81\x01}", Fault::Websocket("a new message inside of another"));
    check(b"\x81\x02{}", Fault::NoEvent);
    check(b"\x82\x02{}", Fault::Websocket("a binary message"));
    check(b"\x88\x00\x81\x02{}", Fault::AfterEnd);
    let refused = "HTTP/1.1 503 S\r\nContent-Type: application/json\r\nContent-Length: 37\r\n\r\n\
                   {\"t\":\"bye\",\"code\":\"full\",\"text\":\"no\"}";
    assert_eq!(
        output(Transport::Websocket, refused.as_bytes()).err(),
        Some(Fault::Refused { status: 503, code: Code::Full, retry_after: None })
    );
}

#[test]
fn stream_and_sse() {
    for (transport, content, lines) in [
        (Transport::Stream, "application/x-ndjson", format!("{WELCOME}\n{{\"t\":\"heartbeat\"}}\n")),
        (
            Transport::Sse,
            "text/event-stream",
            format!(": hi\n\ndata: {WELCOME}\n\ndata: {{\"t\":\"heartbeat\"}}\n\n"),
        ),
    ] {
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: {content}\r\nTransfer-Encoding: chunked\r\n\r\n");
        // Lines do not end where chunks do.
        let (first, second) = lines.split_at(100);
        let answer = head + &chunk(first) + &chunk(second) + "0\r\n\r\n";
        let output = output(transport, answer.as_bytes()).unwrap();
        assert_eq!(output.events, ["welcome", "heartbeat"]);
        assert_eq!(output.key.as_deref(), Some("k1"));
        let request = String::from_utf8(output.out).unwrap();
        assert!(request.starts_with(&format!("POST /v1/{} HTTP/1.1\r\n", transport.name())), "{request}");
        let hello = String::from_utf8(LOGIN.hello()).unwrap();
        assert!(hello.starts_with("{\"t\":\"hello\",") && hello.contains("\"token\":\"t\""), "{hello}");
        let end = format!("Content-Length: {}\r\n\r\n{hello}", hello.len());
        assert!(request.ends_with(&end), "{request}");
    }
}

#[test]
fn stream_faults() {
    let check = |answer: &str, expected: Fault| {
        assert_eq!(output(Transport::Stream, answer.as_bytes()).err(), Some(expected), "{answer}");
    };
    check(
        "HTTP/1.1 401 U\r\nContent-Length: 40\r\n\r\n{\"t\":\"bye\",\"code\":\"bad_token\",\"text\":\"\"} ",
        Fault::Refused { status: 401, code: Code::BadToken, retry_after: None },
    );
    check(
        "HTTP/1.1 400 U\r\nContent-Length: 40\r\n\r\n{\"t\":\"bye\",\"code\":\"bad_token\",\"text\":\"\"} ",
        Fault::WrongStatus(Code::BadToken),
    );
    check("HTTP/1.1 502 U\r\nContent-Length: 2\r\n\r\nno", Fault::Status(502));
    check(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n",
        Fault::Http("a stream of another Content-Type"),
    );
    check(
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nContent-Length: 9\r\n\r\n",
        Fault::Http("a stream that is not chunked"),
    );
}

#[test]
fn poll_asks_again() {
    let body = format!("[{WELCOME},{{\"t\":\"behind\"}}]");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    let answer =
        format!("{head}Content-Length: {}\r\n\r\n{body}{head}Content-Length: 2\r\n\r\n[]", body.len());
    let output = output(Transport::Poll, answer.as_bytes()).unwrap();
    assert_eq!(output.events, ["welcome", "behind"]);
    let requests = String::from_utf8(output.out).unwrap();
    assert_eq!(requests.matches("POST /v1/poll HTTP/1.1\r\n").count(), 3);
    assert_eq!(requests.matches("Authorization: Kith k1\r\nContent-Length: 0\r\n\r\n").count(), 2);
}

#[test]
fn poll_ends_with_bye() {
    let body = format!("[{WELCOME},{{\"t\":\"bye\",\"code\":\"done\",\"text\":\"\"}}]");
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let output = output(Transport::Poll, answer.as_bytes()).unwrap();
    assert_eq!(output.events, ["welcome", "bye"]);
    assert_eq!(String::from_utf8(output.out).unwrap().matches("POST").count(), 1);
}

#[test]
fn posts() {
    let mut out = Vec::new();
    post_commands(&target(), "k1", b"{}\n{}", &mut out);
    assert!(
        out.starts_with(b"POST /v1/send HTTP/1.1\r\n") && out.ends_with(b"Content-Length: 5\r\n\r\n{}\n{}")
    );
    assert_eq!(posted(b"HTTP/1.1 204 No Content\r\n\r\nHTTP"), Ok(Some(27)));
    assert_eq!(posted(b"HTTP/1.1 204 No"), Ok(None));
    let gone = b"HTTP/1.1 404 N\r\nContent-Length: 44\r\n\r\n{\"t\":\"error\",\"code\":\"no_session\",\"text\":\"\"}  ";
    assert_eq!(posted(gone), Err(Fault::Refused { status: 404, code: Code::NoSession, retry_after: None }));
}

struct Output {
    events: Vec<String>,
    out: Vec<u8>,
    key: Option<String>,
}

/// Feeds the response whole, byte by byte, and in two parts cut at every byte. All results must be equal.
fn output(transport: Transport, answer: &[u8]) -> Result<Output, Fault> {
    let whole = fed(transport, answer, &[]);
    let every: Vec<usize> = (1..answer.len()).collect();
    let cuts = every.iter().map(std::slice::from_ref).chain([every.as_slice()]);
    for cut in cuts {
        let again = fed(transport, answer, cut);
        match (&whole, &again) {
            (Ok(whole), Ok(again)) => {
                assert_eq!(whole.events, again.events);
                assert_eq!(whole.out, again.out);
            }
            (whole, again) => assert_eq!(whole.as_ref().err(), again.as_ref().err()),
        }
    }
    whole
}

fn fed(transport: Transport, answer: &[u8], cuts: &[usize]) -> Result<Output, Fault> {
    let (target, mut masks, mut out) = (target(), Masks::new(1), Vec::new());
    let mut client = Client::new(transport);
    client.start(&target, LOGIN, &mut Masks::new(1), &mut out);
    let (mut events, mut taken) = (Vec::new(), 0);
    for end in cuts.iter().copied().chain([answer.len()]) {
        taken += client.input(&target, &answer[taken..end], &mut masks, &mut out, &mut |event| {
            let json = serde_json::to_value(event).unwrap();
            events.push(json["t"].as_str().unwrap().to_owned());
        })?;
    }
    Ok(Output { events, out, key: client.key().map(str::to_owned) })
}

fn target() -> Target {
    Target::parse("http://127.0.0.1:1").unwrap()
}

fn text_frame(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap();
    [&[0x81, 126][..], &length.to_be_bytes(), text.as_bytes()].concat()
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

/// Payloads of short masked frames.
fn unmasked(mut out: &[u8]) -> Vec<Vec<u8>> {
    let mut payloads = Vec::new();
    while let [_, second, rest @ ..] = out {
        let length = usize::from(second & 0x7f);
        let (mask, payload) = rest.split_at(4);
        payloads.push(payload[..length].iter().zip(mask.iter().cycle()).map(|(a, b)| a ^ b).collect());
        out = &payload[length..];
    }
    payloads
}

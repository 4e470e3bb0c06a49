//! Streams over WebSocket (RFC 7395), and the requests around them on the port of the web.

use std::time::Duration;

use crate::scene::Scene;
use crate::scene::http::At;
use crate::scene::web_client::{frame, text_frame};
use crate::scene::xmpp_client::{Over, XmppClient, upgrade};

const OPEN: &str = "<open xmlns='urn:ietf:params:xml:ns:xmpp-framing' to='forum' version='1.0'/>";

/// The condition of the stream error, after which the server has closed the stream.
fn condition(client: &mut XmppClient, scene: &mut Scene) -> String {
    client.read(scene);
    assert!(client.is_over, "the stream goes on");
    let error = client.received.pop().expect("a stream error");
    error.root().first().expect("a condition").name().to_owned()
}

#[test]
fn a_request_that_opens_no_stream_gets_the_remedy() {
    let mut scene = Scene::new();
    let with = |from: &str, to: &str| upgrade("").replace(from, to);
    let table = [
        (with("Sec-WebSocket-Protocol: xmpp", "X: y"), "400 ", "Sec-WebSocket-Protocol: xmpp"),
        (with("Sec-WebSocket-Protocol: xmpp", "Sec-WebSocket-Protocol: kith.v1"), "400 ", "subprotocol"),
        (with("Upgrade: websocket", "X: y"), "426 ", "WebSockets"),
        (with("Version: 13", "Version: 8"), "426 ", "sec-websocket-version: 13"),
        (with("GET", "POST"), "400 ", "RFC 6455"),
    ];
    for (request, status, text) in table {
        let answer = scene.http(&request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")) && answer.contains(text), "{answer}");
    }
}

#[test]
fn without_tls_there_is_no_stream() {
    let mut scene = Scene::behind_a_proxy();
    let https = |proto: &str| upgrade(&format!("X-Forwarded-For: 192.0.2.1\r\n{proto}"));
    // The proxy appends to what the client has sent.
    for proto in ["", "X-Forwarded-Proto: http\r\n", "X-Forwarded-Proto: https, http\r\n"] {
        let answer = scene.http(&https(proto));
        assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("web.trusted_proxies"), "{answer}");
    }
    let answer = scene.http(&https("X-Forwarded-Proto: https\r\n"));
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    assert!(answer.contains("sec-websocket-protocol: xmpp\r\n"), "{answer}");
}

#[test]
fn a_stream_begins_with_open() {
    let mut scene = Scene::new();
    for first in ["<presence/>", "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='ANONYMOUS'/>"] {
        let mut client = XmppClient::connect(&mut scene, Over::WebSocket, "");
        client.send(&mut scene, first);
        assert_eq!(condition(&mut client, &mut scene), "bad-format");
    }
    let mut client = XmppClient::open_over(&mut scene, Over::WebSocket);
    client.send(&mut scene, OPEN);
    assert_eq!(condition(&mut client, &mut scene), "bad-format");
    assert_eq!(client.close_code, Some(1000));
}

#[test]
fn messages_are_whole_documents_of_text() {
    let mut scene = Scene::new();
    let large = format!("<message xmlns='jabber:client'><body>{}</body></message>", "a".repeat(300_000));
    let cases = [
        (frame(0x82, b"<presence xmlns='jabber:client'/>"), "policy-violation", 1003),
        (text_frame(&large), "policy-violation", 1009),
        (text_frame("<message xmlns='jabber:client'>"), "not-well-formed", 1000),
        (text_frame("<a xmlns='urn:x'/><b xmlns='urn:x'/>"), "not-well-formed", 1000),
        (text_frame("<message/>"), "unsupported-stanza-type", 1000),
        (text_frame("<!-- a comment -->"), "restricted-xml", 1000),
        (text_frame("<other xmlns='urn:ietf:params:xml:ns:xmpp-framing'/>"), "bad-format", 1000),
        (text_frame(OPEN), "bad-format", 1000),
        (vec![0x81, 0x01, b'a'], "policy-violation", 1002),
    ];
    for (bytes, expected, code) in cases {
        let mut client = XmppClient::sign_in_over(&mut scene, Over::WebSocket, "ben", "browser");
        client.send_bytes(&mut scene, &bytes);
        assert_eq!(condition(&mut client, &mut scene), expected);
        assert_eq!(client.close_code, Some(code), "{expected}");
    }
}

#[test]
fn before_authentication_messages_are_short() {
    let mut scene = Scene::new();
    let mut client = XmppClient::open_over(&mut scene, Over::WebSocket);
    client.send_bytes(&mut scene, &text_frame(&format!("<a xmlns='urn:x'>{}</a>", "a".repeat(10_000))));
    assert_eq!(condition(&mut client, &mut scene), "policy-violation");
    assert_eq!(client.close_code, Some(1009));
}

#[test]
fn fragments_are_joined_and_pings_are_answered() {
    let mut scene = Scene::new();
    let mut client = XmppClient::sign_in_over(&mut scene, Over::WebSocket, "ben", "browser");
    let iq = b"<iq xmlns='jabber:client' type='get' id='7' to='forum'><ping xmlns='urn:xmpp:ping'/></iq>";
    let (first, second) = iq.split_at(30);
    let bytes = [frame(0x01, first), frame(0x89, b"beat"), frame(0x80, second)].concat();
    for byte in bytes {
        client.send_bytes(&mut scene, &[byte]);
    }
    client.read(&mut scene);
    assert_eq!(client.pongs, [b"beat"]);
    let answer = client.take();
    assert_eq!((answer.root().attr("id"), answer.root().attr("type")), (Some("7"), Some("result")));
}

#[test]
fn a_client_that_closes_without_the_end_of_its_stream_can_resume_it() {
    let mut scene = Scene::new();
    for over in [Over::WebSocket, Over::Tcp] {
        let mut client = XmppClient::sign_in_over(&mut scene, over, "ben", "browser");
        client.send(&mut scene, "<enable xmlns='urn:xmpp:sm:3' resume='true'/>");
        client.read(&mut scene);
        let id = client.take().root().attr("id").expect("an id").to_owned();
        match over {
            Over::WebSocket => {
                client.send_bytes(&mut scene, &frame(0x88, &1001_u16.to_be_bytes()));
                client.read(&mut scene);
                assert_eq!(client.close_code, Some(1001));
            }
            Over::Tcp => {
                scene.xmpp.end(client.handle);
                scene.settle();
            }
            Over::Bosh => unreachable!("it has no connection"),
        }
        let mut next = client.resume(&mut scene, &id, "0");
        next.read(&mut scene);
        assert_eq!(next.take().root().name(), "resumed", "{over:?}");
        // The end of a stream is final.
        next.send(
            &mut scene,
            if over == Over::Tcp {
                "</stream:stream>"
            } else {
                "<close xmlns='urn:ietf:params:xml:ns:xmpp-framing'/>"
            },
        );
        next.read(&mut scene);
        assert!(next.is_over);
        let mut late = next.resume(&mut scene, &id, "0");
        late.read(&mut scene);
        assert_eq!(late.take().root().name(), "failed", "{over:?}");
    }
}

#[test]
fn guests_come_from_the_pages_of_the_site_and_members_from_any_page() {
    let mut scene = Scene::new();
    let pages = [("https://forum.example", "result"), ("https://other.example", "error")];
    for (page, expected) in pages {
        let mut guest = XmppClient::connect(&mut scene, Over::WebSocket, &format!("Origin: {page}\r\n"));
        guest.open_stream(&mut scene);
        guest.authenticate_anonymously(&mut scene);
        assert_eq!(guest.take().root().name(), "success");
        guest.open_stream(&mut scene);
        guest.received.clear();
        guest.bind(&mut scene, "page");
        assert_eq!(guest.take().root().attr("type"), Some(expected), "{page}");
    }
    let mut member = XmppClient::connect(&mut scene, Over::WebSocket, "Origin: https://other.example\r\n");
    member.open_stream(&mut scene);
    let token = scene.token("anna");
    member.authenticate_plain(&mut scene, "anna", &token);
    member.open_stream(&mut scene);
    member.received.clear();
    member.bind(&mut scene, "page");
    assert_eq!(member.take().root().attr("type"), Some("result"));
}

#[test]
fn a_websocket_without_authentication_ends_in_time() {
    let mut scene = Scene::new();
    let mut client = XmppClient::connect(&mut scene, Over::WebSocket, "");
    scene.wait(Duration::from_secs(31));
    assert_eq!(condition(&mut client, &mut scene), "connection-timeout");
    assert_eq!(client.close_code, Some(1000));
}

fn host_meta(scene: &mut Scene, path: &str, host: &str, fields: &str) -> String {
    scene.http(&format!("GET /.well-known/{path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n"))
}

#[test]
fn host_meta_names_the_transports_of_a_domain() {
    let mut scene = Scene::behind_a_proxy();
    let https = "X-Forwarded-Proto: https\r\n";
    let xml = host_meta(&mut scene, "host-meta", "Forum:443", https);
    assert!(xml.starts_with("HTTP/1.1 200 OK\r\n"), "{xml}");
    assert!(xml.contains("access-control-allow-origin: *\r\n"));
    assert!(
        xml.contains("rel='urn:xmpp:alt-connections:websocket' href='wss://Forum:443/xmpp-websocket'"),
        "{xml}"
    );
    let json = host_meta(&mut scene, "host-meta.json", "forum", https);
    let (_, body) = json.split_once("\r\n\r\n").unwrap();
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["links"][0]["href"], "wss://forum/xmpp-websocket");
    assert_eq!(body["links"][1]["href"], "https://forum/http-bind");
    for (host, fields) in [("other.example", https), ("forum", "")] {
        assert!(host_meta(&mut scene, "host-meta", host, fields).starts_with("HTTP/1.1 404 "), "{host}");
    }
    let post = scene.http(&format!("POST /.well-known/host-meta HTTP/1.1\r\nHost: forum\r\n{https}\r\n"));
    assert!(post.starts_with("HTTP/1.1 405 "), "{post}");
}

#[test]
fn a_connection_of_a_proxy_carries_requests_for_both_gateways() {
    let mut scene = Scene::new();
    let at = scene.connect_to_web();
    let meta = b"GET /.well-known/host-meta HTTP/1.1\r\nHost: forum\r\n\r\n";
    let at = scene.feed_http(at, meta);
    assert!(matches!(at, At::Xmpp(_)));
    assert!(String::from_utf8(scene.http_output(at)).unwrap().starts_with("HTTP/1.1 200 "));
    // Two requests at once: one for each.
    let page = b"GET /v1/websocket HTTP/1.1\r\nHost: forum\r\nConnection: keep-alive\r\n\r\n";
    let at = scene.feed_http(at, &[&meta[..], &page[..]].concat());
    assert!(matches!(at, At::Web(_)));
    let answers = String::from_utf8(scene.http_output(at)).unwrap();
    assert!(answers.contains("HTTP/1.1 200 ") && answers.contains("HTTP/1.1 426 "), "{answers}");
}

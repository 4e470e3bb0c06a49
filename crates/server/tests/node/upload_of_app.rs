//! An app uploads over XMPP and HTTP (XEP-0363), and the widget gets the file.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;
use tungstenite::Message;
use tungstenite::client::IntoClientRequest;
use tungstenite::protocol::WebSocket;

use crate::client::token;
use crate::files::{GIF, acquainted, base64};
use crate::running::{PATIENCE, Running, Scratch, text};

/// An app with XMPP over WebSocket (RFC 7395).
pub(crate) struct App(WebSocket<TcpStream>);

impl App {
    pub(crate) fn sign_in(node: &Running, user: &str, token: &str) -> App {
        App::sign_in_at(node, "demo", user, token)
    }

    pub(crate) fn sign_in_at(node: &Running, domain: &str, user: &str, token: &str) -> App {
        let mut request = format!("ws://{}/xmpp-websocket", node.http).into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", "xmpp".parse().unwrap());
        let stream = TcpStream::connect(node.http).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut app = App(tungstenite::client(request, stream).unwrap().0);
        let open = format!("<open xmlns='urn:ietf:params:xml:ns:xmpp-framing' to='{domain}' version='1.0'/>");
        let open = open.as_str();
        app.ask(open, "PLAIN");
        let plain = base64(&format!("\0{user}\0{token}"));
        let auth = "auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'";
        app.ask(&format!("<{auth}>{plain}</auth>"), "<success");
        app.ask(open, "urn:ietf:params:xml:ns:xmpp-bind");
        let bind = "<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>";
        app.ask(&format!("<iq xmlns='jabber:client' type='set' id='bind'>{bind}</iq>"), "id='bind'");
        app
    }

    pub(crate) fn say(&mut self, xml: &str) {
        self.0.send(Message::text(xml)).unwrap();
    }

    /// The first received element with these words.
    pub(crate) fn ask(&mut self, xml: &str, words: &str) -> String {
        self.say(xml);
        self.until(words).pop().unwrap()
    }

    /// The received elements, up to the first one with these words.
    pub(crate) fn until(&mut self, words: &str) -> Vec<String> {
        let mut received: Vec<String> = Vec::new();
        while received.last().is_none_or(|last| !last.contains(words)) {
            if let Message::Text(text) = self.0.read().unwrap_or_else(|error| panic!("no {words}: {error}")) {
                received.push(text.to_string());
            }
        }
        received
    }
}

/// The text between two others. Addresses are still escaped, as a message needs them.
pub(crate) fn between<'a>(xml: &'a str, before: &str, after: &str) -> &'a str {
    let rest = xml.split_once(before).unwrap_or_else(|| panic!("{before} in {xml}")).1;
    rest.split_once(after).unwrap().0
}

/// `fields`: whole lines.
pub(crate) fn request(node: &Running, line: &str, fields: &str, body: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(node.http).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!("{line} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{fields}", node.http);
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n", body.len()).as_bytes()).unwrap();
    // The node may refuse before the whole body is sent.
    let _ = stream.write_all(body);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = text(&answer);
    (answer[9..12].parse().unwrap(), answer)
}

#[test]
fn a_picture_of_an_app_is_a_picture_in_the_widget() {
    let scratch = Scratch::new("upload-of-app");
    let settings = scratch.path().join("app.toml");
    fs::write(&settings, "public_url = \"http://kith.example\"\n[xmpp]\nweb = \"on\"\nallow_plain = true\n")
        .unwrap();
    let node = Running::start(&scratch, "demo", &["--config", settings.to_str().unwrap()]);
    let [_anna, mut ben] = acquainted(&scratch, &node);
    let mut app = App::sign_in(&node, "u-anna", &token(&scratch, "u-anna"));

    let file = format!("filename='red point.gif' size='{}'", GIF.len());
    let file = format!("<request xmlns='urn:xmpp:http:upload:0' {file}/>");
    let slot =
        app.ask(&format!("<iq xmlns='jabber:client' type='get' id='u' to='demo'>{file}</iq>"), "id='u'");
    let put = between(&slot, "<put url='http://kith.example", "'");
    let authorization = between(&slot, "<header name='Authorization'>", "</header>");
    let get = between(&slot, "<get url='", "'");
    let field = format!("Authorization: {authorization}\r\n");
    for (field, expected) in [("", 403), (&*field, 201), (&*field, 409)] {
        let (status, answer) = request(&node, &format!("PUT {put}"), field, GIF);
        assert_eq!(status, expected, "{answer}");
    }

    let stanza =
        format!("<message xmlns='jabber:client' type='chat' to='u-ben@demo' id='{}'>", "m".repeat(20));
    app.say(&format!("{stanza}<body>{get}</body><x xmlns='jabber:x:oob'><url>{get}</url></x></message>"));
    let seen = ben.expect("the picture", |event| event["t"] == "message" && event["files"].is_array());
    let shown = &seen["files"][0];
    assert_eq!((&seen["body"], &shown["name"]), (&json!(""), &json!("red point.gif")));
    assert_eq!((&shown["type"], &shown["width"]), (&json!("image/png"), &json!(1)), "made anew");

    for url in [shown["url"].as_str().unwrap(), &get.replace("http://kith.example", "").replace("&amp;", "&")]
    {
        let (status, answer) = request(&node, &format!("GET {url}"), "", b"");
        assert!(status == 200 && answer.contains("image/png"), "{answer}");
    }
}

//! Requests every address of docs/reference/rest.md from the real binary, like a client. An address that is
//! new on the page fails here until the test requests it.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::client::{Client, token};
use crate::running::{PATIENCE, Running, Scratch, text};

/// A client of a node, with the addresses requested so far, in the page's notation.
struct Asker<'a> {
    node: &'a Running,
    asked: BTreeSet<String>,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Asker<'_> {
    fn ask(
        &mut self,
        method: &str,
        address: &str,
        path: &str,
        fields: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        self.asked.insert(format!("{method} {address}"));
        let answer = self.node.raw(self.request(method, path, fields, body).as_bytes());
        let (head, body) =
            answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{method} {path}: {answer}"));
        Answer { status: head[9..12].parse().unwrap(), head: head.to_owned(), body: body.to_owned() }
    }

    fn request(&self, method: &str, path: &str, fields: &[(&str, &str)], body: &str) -> String {
        let fields: String = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n{fields}\r\n{body}",
            self.node.http,
            body.len()
        )
    }

    /// Reads an endless response until it contains `until`.
    fn hear(&mut self, address: &str, body: &str, until: &str) -> String {
        self.asked.insert(format!("POST {address}"));
        let mut stream = TcpStream::connect(self.node.http).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(self.request("POST", address, &[], body).as_bytes()).unwrap();
        let mut received = Vec::new();
        while !text(&received).contains(until) {
            let mut part = [0; 4_096];
            let bytes = stream.read(&mut part).unwrap();
            assert!(bytes > 0, "{address} ended: {}", text(&received));
            received.extend_from_slice(&part[..bytes]);
        }
        text(&received)
    }
}

#[test]
fn each_address_of_the_reference_exists_and_works_as_documented() {
    let scratch = Scratch::new("addresses");
    let node = Running::start(&scratch, "demo", &["--echo"]);
    let mut asker = Asker { node: &node, asked: BTreeSet::new() };
    let mut anna = Client::enter(&scratch, &node, "anna");
    asker.asked.insert("GET /v1/websocket".into());
    let mut tom = Client::enter(&scratch, &node, "tom");
    tom.sent("t-1", "anna", "You fool");
    let message = anna.message("You fool");

    sessions(&scratch, &mut asker);
    the_site(&scratch, &mut asker, &mut anna, &message);
    stickers(&scratch, &mut asker);
    pictures(&mut asker);
    files(&scratch, &mut asker);
    let ice = asker.ask(
        "POST",
        "/v1/ice",
        "/v1/ice",
        &[("Authorization", &bearer(&token(&scratch, "anna")))],
        r#"{"site":"demo"}"#,
    );
    assert_eq!(ice.status, 200, "{}", ice.body);
    let metrics_token = std::fs::read_to_string(scratch.data().join("metrics.token")).unwrap();
    let with_token = [("Authorization", &*bearer(metrics_token.trim()))];
    assert_eq!(asker.ask("GET", "/metrics", "/metrics", &[], "").status, 401);
    for (address, said) in [("/healthz", "ok"), ("/readyz", "ready"), ("/metrics", "kith_chat_sites")] {
        let answer = asker.ask("GET", address, address, &with_token, "");
        assert!(answer.status == 200 && answer.body.contains(said), "{address}: {}", answer.body);
    }
    the_site_itself(&scratch, &mut asker);
    assert_eq!(asker.asked, documented(), "asked here, and written in docs/reference/rest.md");
}

fn sessions(scratch: &Scratch, asker: &mut Asker<'_>) {
    let hello = |device: &str| {
        json!({"t": "hello", "v": 1, "site": "demo", "token": token(scratch, "mei"), "device": device})
            .to_string()
    };
    for address in ["/v1/stream", "/v1/sse"] {
        let received = asker.hear(address, &hello(&address[4..]), r#""t":"welcome""#);
        assert!(received.contains(r#""t":"welcome""#), "{received}");
    }
    let welcome = asker.ask("POST", "/v1/poll", "/v1/poll", &[], &hello("poll"));
    let events: Value = serde_json::from_str(&welcome.body).unwrap_or_else(|_| panic!("{}", welcome.body));
    let key = format!("Kith {}", events[0]["key"].as_str().unwrap());
    let ping = json!({"t": "ping", "rid": 1}).to_string();
    let sent = asker.ask("POST", "/v1/send", "/v1/send", &[("Authorization", &key)], &ping);
    assert_eq!(sent.status, 204, "{}", sent.body);
    let polled = asker.ask("POST", "/v1/poll", "/v1/poll", &[("Authorization", &key)], "");
    assert!(polled.body.contains(r#""t":"pong""#), "{}", polled.body);

    asker.asked.insert("GET /v1/echo".into());
    let stream = TcpStream::connect(asker.node.http).unwrap();
    let (mut echo, _) = tungstenite::client(format!("ws://{}/v1/echo", asker.node.http), stream).unwrap();
    echo.send("again".into()).unwrap();
    assert_eq!(echo.read().unwrap().into_text().unwrap(), "again");
}

fn the_site(scratch: &Scratch, asker: &mut Asker<'_>, anna: &mut Client, message: &Value) {
    let report = json!({"t": "report", "rid": 7, "conversation": message["conversation"], "seq": message["seq"], "reason": "abuse"});
    anna.say(report).unwrap();
    anna.expect("the number of the report", |event| event["re"] == 7);
    let service = scratch.say("token --site demo --user shop --role service").trim().to_owned();
    let field = bearer(&service);
    // The order matters: settings affect the later requests.
    let asked = [
        ("PATCH", "settings", r#"{"filters":{"words":["casino"],"words_act":"hold"}}"#, r#""casino""#),
        ("GET", "settings", "", r#""casino""#),
        ("POST", "test-filter", r#"{"body":"A casino"}"#, r#""act":"hold""#),
        ("GET", "reports?state=open", "", r#""reason":"abuse""#),
        ("POST", "moderate", r#"{"act":"warn","user":"tom","reason":"Please be kind"}"#, r#""report":null"#),
        ("GET", "audit", "", r#""act":"warn""#),
        ("GET", "users?query=tom", "", r#""user":"tom""#),
        ("POST", "users/tom/erase", r#"{"messages":true}"#, r#"{"erased":true}"#),
        ("POST", "merge", r#"{"guest_token":"of nobody","user":"anna"}"#, "guest_token"),
        ("POST", "import?late=append", r#"{"type":"user","id":"ada"}"#, r#""added":1"#),
    ];
    for (method, what, body, said) in asked {
        let path = what.split('?').next().unwrap().replace("/tom/", "/{user}/");
        let address = format!("/v1/sites/{{site}}/{path}");
        let answer = asker.ask(
            method,
            &address,
            &format!("/v1/sites/demo/{what}"),
            &[("Authorization", &field)],
            body,
        );
        let expected = if said == "guest_token" { 400 } else { 200 };
        assert_eq!(answer.status, expected, "{method} {what}: {}", answer.body);
        assert!(answer.body.contains(said), "{method} {what}: {}", answer.body);
    }
}

fn the_site_itself(scratch: &Scratch, asker: &mut Asker<'_>) {
    let field = bearer(scratch.say("token --site demo --user shop --role service").trim());
    let auth = [("Authorization", &*field)];
    let pem = include_str!("../../../chat/tests/keys/es256.pub.pem");
    let key = json!({"public_key": pem, "kid": "2026-11"}).to_string();
    let asked = [
        ("PATCH", "", "", r#"{"name":"The allotments"}"#, "The allotments"),
        ("GET", "", "", "", "The allotments"),
        ("POST", "/keys", "/keys", &*key, "ES256"),
        ("POST", "/sign-out", "/sign-out", r#"{"kid":"2026-11"}"#, "signed_out"),
        ("DELETE", "/keys/{kid}", "/keys/2026-11", "", "The allotments"),
    ];
    for (method, address, path, body, said) in asked {
        let (address, path) = (format!("/v1/sites/{{site}}{address}"), format!("/v1/sites/demo{path}"));
        let answer = asker.ask(method, &address, &path, &auth, body);
        assert!(answer.status == 200 && answer.body.contains(said), "{method} {address}: {}", answer.body);
    }
}

fn stickers(scratch: &Scratch, asker: &mut Asker<'_>) {
    let field = bearer(scratch.say("token --site demo --user shop --role service").trim());
    let auth = [("Authorization", &*field)];
    let all = "/v1/sites/{site}/stickers";
    // A picture of one pixel.
    let picture = "R0lGODlhAQABAIAAAP8AAAAA/yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==";
    let brought = json!({"set": "Bees", "words": "Buzz", "picture": picture}).to_string();
    let made = asker.ask("POST", all, "/v1/sites/demo/stickers", &auth, &brought);
    let sticker: Value = serde_json::from_str(&made.body).unwrap();
    assert_eq!((made.status, &sticker["words"]), (200, &json!("Buzz")), "{sticker}");
    let listed = asker.ask("GET", all, "/v1/sites/demo/stickers", &auth, "");
    assert!(listed.status == 200 && listed.body.contains("Buzz"), "{}", listed.body);
    let one = |sticker: &Value| format!("/v1/sites/demo/stickers/{}", sticker["id"].as_str().unwrap());
    let got = asker.ask("GET", "/v1/stickers/{site}/{sticker}", sticker["url"].as_str().unwrap(), &[], "");
    assert!(got.status == 200 && got.head.contains("image/png"), "{}", got.head);
    let gone = asker.ask("DELETE", &format!("{all}/{{sticker}}"), &one(&sticker), &auth, "");
    assert_eq!(gone.status, 200, "{}", gone.body);
}

/// Without an app, so no member has set a picture.
fn pictures(asker: &mut Asker<'_>) {
    let path = format!("/v1/pictures/1/{:032x}", 7);
    let refused = asker.ask("GET", "/v1/pictures/{site}/{id}", &path, &[], "");
    assert!(refused.status == 404 && refused.body.contains("no_such_file"), "{}", refused.body);
}

/// By tus 1.0.0, then by the link in the receiver's message.
fn files(scratch: &Scratch, asker: &mut Asker<'_>) {
    let field = bearer(&token(scratch, "anna"));
    let (auth, tus) = (("Authorization", &*field), ("Tus-Resumable", "1.0.0"));
    // `demo`, `mei`, `letter.txt` in base64.
    let told = ("Upload-Metadata", "site ZGVtbw==,user bWVp,filename bGV0dGVyLnR4dA==");
    let made = asker.ask("POST", "/v1/files", "/v1/files", &[auth, tus, told, ("Upload-Length", "8")], "");
    assert_eq!(made.status, 201, "{}", made.body);
    let location = made.head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
    let piece = [auth, tus, ("Upload-Offset", "0"), ("Content-Type", "application/offset+octet-stream")];
    let one = "/v1/files/{site}/{id}";
    assert_eq!(asker.ask("PATCH", one, location, &piece, "Dear Mei").status, 204);
    let described = asker.ask("GET", one, location, &[auth, tus], "");
    let file: Value = serde_json::from_str(&described.body).unwrap();
    let url = file["url"].as_str().unwrap_or_else(|| panic!("{file}"));
    let got = asker.ask("GET", "/v1/files/{site}/{id}/{name}", url, &[], "");
    assert_eq!((got.status, got.body.as_str()), (200, "Dear Mei"));
    let whole = asker.ask("PUT", "/v1/files/{site}/{id}/{name}", url, &[auth], "Dear Tom");
    assert!(whole.status == 403 && whole.body.contains("bad_link"), "a token is no slot: {}", whole.body);
    // A file that is not the picture of a room is not shown as one.
    let path = location.replace("/v1/files/", "/v1/room-pictures/");
    let refused = asker.ask("GET", "/v1/room-pictures/{site}/{id}", &path, &[], "");
    assert!(refused.status == 404 && refused.body.contains("no_such_file"), "{}", refused.body);
    // According to the page, the first two accept all methods.
    asker.asked = std::mem::take(&mut asker.asked)
        .into_iter()
        .map(|asked| match asked.split_once(' ') {
            Some((_, address)) if address == "/v1/files" || address == one => format!("all {address}"),
            _ => asked,
        })
        .collect();
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// The addresses of the page: `| `GET /v1/x` | …` of sessions, and `| `/v1/x` | GET, PATCH | …` of all others.
fn documented() -> BTreeSet<String> {
    let page = include_str!("../../../../docs/reference/rest.md");
    let mut addresses = BTreeSet::new();
    for line in page.lines() {
        let Some((address, rest)) = line.strip_prefix("| `").and_then(|line| line.split_once("` | ")) else {
            continue;
        };
        match address.contains(' ') {
            true => _ = addresses.insert(address.to_owned()),
            false => {
                let methods = rest.split(" |").next().unwrap().split(", ");
                addresses.extend(methods.map(|method| format!("{method} {address}")));
            }
        }
    }
    assert!(addresses.len() > 15, "{addresses:?}");
    addresses
}

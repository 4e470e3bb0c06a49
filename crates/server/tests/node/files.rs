//! Files from upload to download: uploads in pieces, re-encoded pictures, links, and refusals.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::client::{Client, token};
use crate::running::{PATIENCE, Running, Scratch, poll, text};

/// A picture of one pixel.
pub(crate) const GIF: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\xff\0\0\0\0\xff!\xf9\x04\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let line =
            |line: &'_ str| line.split_once(": ").map(|(known, value)| (known.to_owned(), value.len()));
        self.head.lines().find_map(|text| {
            let (known, length) = line(text)?;
            known.eq_ignore_ascii_case(name).then(|| &text[text.len() - length..])
        })
    }

    fn code(&self) -> String {
        let error: Value = serde_json::from_slice(&self.body).expect("a refusal is JSON");
        assert!(!error["text"].as_str().unwrap().is_empty(), "{error}");
        error["code"].as_str().unwrap().to_owned()
    }
}

/// A member with a token, who sends plain requests.
pub(crate) struct Member<'a> {
    pub(crate) node: &'a Running,
    /// The key.
    pub(crate) site: String,
    pub(crate) token: String,
}

impl Member<'_> {
    fn ask(&self, method: &str, path: &str, fields: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.node.http).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(self.head(method, path, fields, body.len()).as_bytes()).unwrap();
        // The node may refuse before the whole body is sent.
        let _ = stream.write_all(body);
        answer(stream)
    }

    pub(crate) fn head(&self, method: &str, path: &str, fields: &[(&str, &str)], length: usize) -> String {
        let fields: String = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
             Tus-Resumable: 1.0.0\r\nContent-Length: {length}\r\n{fields}\r\n",
            self.node.http, self.token
        )
    }

    fn create(&self, to: &str, name: &str, bytes: usize) -> Answer {
        let told = format!("site {},user {},filename {}", base64(&self.site), base64(to), base64(name));
        self.ask(
            "POST",
            "/v1/files",
            &[("Upload-Length", &bytes.to_string()), ("Upload-Metadata", &told)],
            b"",
        )
    }

    /// The address of the upload, or the refusal.
    pub(crate) fn begin(&self, to: &str, name: &str, bytes: usize) -> String {
        let made = self.create(to, name, bytes);
        assert_eq!(made.status, 201, "{}", text(&made.body));
        made.field("location").unwrap().to_owned()
    }

    pub(crate) fn piece(&self, location: &str, offset: usize, bytes: &[u8]) -> Answer {
        let fields =
            [("Upload-Offset", &*offset.to_string()), ("Content-Type", "application/offset+octet-stream")];
        self.ask("PATCH", location, &fields, bytes)
    }

    pub(crate) fn offset(&self, location: &str) -> usize {
        let head = self.ask("HEAD", location, &[], b"");
        assert_eq!(head.status, 200);
        head.field("upload-offset").unwrap().parse().unwrap()
    }

    /// Uploads a whole file; returns it in the form of messages.
    pub(crate) fn bring(&self, to: &str, name: &str, bytes: &[u8]) -> Value {
        let location = self.begin(to, name, bytes.len());
        let done = self.piece(&location, 0, bytes);
        assert_eq!((done.status, done.field("upload-offset")), (204, Some(&*bytes.len().to_string())));
        let described = self.ask("GET", &location, &[], b"");
        assert_eq!(described.status, 200, "{}", text(&described.body));
        serde_json::from_slice(&described.body).unwrap()
    }

    pub(crate) fn get(&self, url: &str, fields: &[(&str, &str)]) -> Answer {
        self.ask("GET", url, fields, b"")
    }
}

pub(crate) fn answer(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("an answer") + 4;
    let head = text(&bytes[..end]);
    Answer { status: head[9..12].parse().unwrap(), head, body: bytes[end..].to_vec() }
}

/// RFC 4648 §4.
pub(crate) fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = text.as_bytes().chunks(3).map(|group| {
        let bits =
            group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        let letter = |at: usize| match at <= group.len() {
            true => char::from(LETTERS[(bits >> (18 - 6 * at) & 63) as usize]),
            false => '=',
        };
        (0..4).map(letter).collect::<String>()
    });
    groups.collect()
}

pub(crate) fn member<'a>(scratch: &Scratch, node: &'a Running, user: &str) -> Member<'a> {
    Member { node, site: "demo".into(), token: token(scratch, user) }
}

/// Anna and Ben, who have written to each other.
pub(crate) fn acquainted(scratch: &Scratch, node: &Running) -> [Client; 2] {
    let [mut anna, mut ben] = ["u-anna", "u-ben"].map(|user| Client::enter(scratch, node, user));
    anna.sent("a-hello", "u-ben", "Hi Ben");
    ben.message("Hi Ben");
    ben.sent("b-hello", "u-anna", "Hi Anna");
    anna.message("Hi Anna");
    [anna, ben]
}

pub(crate) fn send(client: &mut Client, id: &str, to: &str, files: &[&Value]) -> Value {
    let files: Vec<&Value> = files.iter().map(|file| &file["id"]).collect();
    client.say(json!({"t": "send", "id": id, "to": {"user": to}, "body": "", "files": files})).unwrap();
    client.expect("an answer to the send", |event| event["id"] == id)
}

#[test]
fn a_picture_goes_from_one_member_to_the_other() {
    let scratch = Scratch::new("picture");
    let node = Running::demo(&scratch);
    let [mut anna, mut ben] = acquainted(&scratch, &node);
    assert_eq!(anna.welcome["limits"]["file_bytes"], 104_857_600);
    let bringer = member(&scratch, &node, "u-anna");
    let file = bringer.bring("u-ben", "../../a red point.gif", GIF);
    assert_eq!(
        (&file["name"], &file["width"], &file["height"]),
        (&json!("a red point.gif"), &json!(1), &json!(1))
    );
    assert_eq!(
        (&file["type"], file["blurhash"].as_str().unwrap().len()),
        (&json!("image/png"), 28),
        "made anew"
    );
    assert_eq!(send(&mut anna, "a-1", "u-ben", &[&file])["t"], "ack");
    let heard = ben.expect("the picture", |event| event["t"] == "message" && event["id"] == "a-1");
    assert_eq!(heard["files"][0]["id"], file["id"]);

    // Ben's browser has only the link.
    let reader = Member { node: &node, site: "demo".into(), token: String::new() };
    let url = heard["files"][0]["url"].as_str().unwrap().to_owned();
    let got = reader.get(&url, &[]);
    assert_eq!((got.status, &got.body[..4]), (200, &b"\x89PNG"[..]));
    for (name, value) in [
        ("content-type", "image/png"),
        ("content-security-policy", "sandbox; default-src 'none'"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "private, max-age=31536000, immutable"),
        ("content-disposition", "inline; filename*=UTF-8''a%20red%20point.gif"),
        ("access-control-allow-origin", "*"),
    ] {
        assert_eq!(got.field(name), Some(value), "{name}");
    }
    let tag = got.field("etag").unwrap().to_owned();
    assert_eq!(reader.get(&url, &[("If-None-Match", &tag)]).status, 304);
    let part = reader.get(&url, &[("Range", "bytes=1-3")]);
    assert_eq!((part.status, &part.body[..]), (206, &b"PNG"[..]));
    assert_eq!(reader.get(&url, &[("Range", "bytes=99999-")]).status, 416);

    // The file is still there after a reload, and is removed with its message.
    assert_eq!(ben.history("u-anna").pop().unwrap()["files"][0]["id"], file["id"]);
    let conversation = heard["conversation"].clone();
    anna.say(json!({"t": "delete", "rid": 9, "conversation": conversation, "seq": heard["seq"]})).unwrap();
    let deleted = anna.expect("the deletion", |event| event["re"] == 9);
    assert!(deleted["message"].get("files").is_none(), "{deleted}");
    let gone = reader.get(&url, &[]);
    assert_eq!((gone.status, gone.code().as_str()), (404, "no_such_file"));
    let folder = scratch.data().join("files");
    poll("the bytes to go", || sizes(&folder).is_empty().then_some(()));
}

#[test]
fn a_backup_with_files_brings_them_back() {
    let scratch = Scratch::new("files-backup");
    let mut node = Running::demo(&scratch);
    let [mut anna, mut ben] = acquainted(&scratch, &node);
    let file = member(&scratch, &node, "u-anna").bring("u-ben", "letter.txt", b"Dear Ben");
    assert_eq!(send(&mut anna, "a-1", "u-ben", &[&file])["t"], "ack");
    let heard = ben.expect("the letter", |event| event["t"] == "message" && event["id"] == "a-1");
    let url = heard["files"][0]["url"].as_str().unwrap().to_owned();

    let (data, kept) = (scratch.data(), scratch.path().join("kept"));
    let backup = format!(
        "backup {}/copy.db --files {} --data {} --force",
        scratch.path().display(),
        kept.display(),
        data.display()
    );
    assert!(scratch.say(&backup).contains("1 files (8 bytes) were copied, 0 were there"));
    assert!(scratch.say(&backup).contains("0 files (0 bytes) were copied, 1 were there"));
    node.signal("TERM");
    node.wait();
    drop(node);
    fs::remove_dir_all(&data).unwrap();
    scratch.say(&format!(
        "restore {}/copy.db --files {} --data {}",
        scratch.path().display(),
        kept.display(),
        data.display()
    ));

    let node = Running::demo(&scratch);
    let reader = Member { node: &node, site: "demo".into(), token: String::new() };
    let got = reader.get(&url, &[]);
    assert_eq!((got.status, &got.body[..]), (200, &b"Dear Ben"[..]), "links of before hold, too");
}

/// The sizes of all files below a folder.
fn sizes(folder: &Path) -> Vec<u64> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| match path.is_dir() {
        true => sizes(&path),
        false => vec![fs::metadata(&path).unwrap().len()],
    };
    entries.flat_map(of).collect()
}

pub(crate) fn bytes_in(folder: &Path) -> u64 {
    sizes(folder).iter().sum()
}

#[test]
fn an_upload_survives_lost_connections_and_a_killed_server() {
    let scratch = Scratch::new("resume");
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut node = Running::demo(&scratch);
    drop(acquainted(&scratch, &node));
    let location = {
        let bringer = member(&scratch, &node, "u-anna");
        let location = bringer.begin("u-ben", "notes.txt", bytes.len());
        assert_eq!(bringer.piece(&location, 0, &bytes[..1_000_000]).status, 204);
        // The connection breaks in the middle of a piece; the received part is kept.
        let mut stream = TcpStream::connect(node.http).unwrap();
        let fields = [("Upload-Offset", "1000000"), ("Content-Type", "application/offset+octet-stream")];
        stream.write_all(bringer.head("PATCH", &location, &fields, 2_000_000).as_bytes()).unwrap();
        stream.write_all(&bytes[1_000_000..1_500_000]).unwrap();
        drop(stream);
        location
    };
    node.signal("KILL");
    node.wait();
    drop(node);
    let node = Running::demo(&scratch);
    let bringer = member(&scratch, &node, "u-anna");
    let offset = bringer.offset(&location);
    assert!((1_000_000..=1_500_000).contains(&offset), "{offset}");
    assert_eq!(bringer.piece(&location, offset, &bytes[offset..]).status, 204);
    assert_eq!(bringer.offset(&location), bytes.len());
    let file: Value = serde_json::from_slice(&bringer.ask("GET", &location, &[], b"").body).unwrap();
    assert_eq!((&file["type"], &file["size"]), (&json!("application/octet-stream"), &json!(bytes.len())));
    let got = bringer.get(file["url"].as_str().unwrap(), &[]);
    assert!(got.body == bytes, "every byte is at its place");
    assert_eq!(got.field("content-disposition"), Some("attachment; filename*=UTF-8''notes.txt"));
    let part = bringer.get(file["url"].as_str().unwrap(), &[("Range", "bytes=1500000-")]);
    assert!(part.status == 206 && part.body == bytes[1_500_000..]);
}

#[test]
fn a_refusal_has_a_reason() {
    let scratch = Scratch::new("refused");
    let node = Running::start(&scratch, "demo", &[]);
    let [mut anna, _ben] = acquainted(&scratch, &node);
    let bringer = member(&scratch, &node, "u-anna");
    let refused = |answer: &Answer, status: u16, code: &str| {
        assert_eq!((answer.status, &*answer.code()), (status, code));
    };
    // Refused before the first byte.
    refused(&bringer.create("u-ben", "x", 104_857_601), 413, "file_too_large");
    refused(&bringer.create("u-ben", "x", 0), 400, "bad_value");
    refused(&bringer.create("u-nobody", "x", 5), 404, "no_such_user");
    refused(&bringer.create("u-anna", "x", 5), 403, "not_allowed");
    let stranger = member(&scratch, &node, "u-stranger");
    refused(&stranger.create("u-anna", "x", 5), 404, "no_session");
    drop(Client::enter(&scratch, &node, "u-stranger"));
    refused(&stranger.create("u-anna", "x", 5), 403, "first_contact");
    let forged = Member { node: &node, site: "demo".into(), token: format!("{}x", bringer.token) };
    refused(&forged.create("u-ben", "x", 5), 401, "bad_token");
    let told = format!("site {},user {}", base64("nowhere"), base64("u-ben"));
    let length = ("Upload-Length", "5");
    refused(
        &bringer.ask("POST", "/v1/files", &[length, ("Upload-Metadata", &told)], b""),
        404,
        "no_such_site",
    );
    for told in ["site ZGVtbw==", "site ZGVtbw==,user !", "site ZGVtbw==,user Yg==,page Yg=="] {
        refused(
            &bringer.ask("POST", "/v1/files", &[length, ("Upload-Metadata", told)], b""),
            400,
            "bad_value",
        );
    }

    // Offsets.
    let location = bringer.begin("u-ben", "x", 5);
    refused(&bringer.piece(&location, 1, b"xx"), 409, "wrong_offset");
    refused(&bringer.piece(&location, 0, b"123456"), 400, "bad_value");
    assert_eq!(bringer.offset(&location), 0, "nothing of it was kept");
    assert_eq!(bringer.piece(&location, 0, b"12").status, 204);
    refused(&bringer.piece(&location, 0, b"12"), 409, "wrong_offset");
    let plain = bringer.ask("PATCH", &location, &[("Upload-Offset", "2")], b"345");
    assert_eq!(plain.status, 415);

    // Files of others, missing files, and incomplete files.
    assert_eq!(stranger.ask("HEAD", &location, &[], b"").status, 404);
    refused(&stranger.piece(&location, 2, b"345"), 404, "no_such_file");
    refused(&stranger.ask("DELETE", &location, &[], b""), 404, "no_such_file");
    refused(&bringer.ask("GET", &location, &[], b""), 404, "no_such_file");
    refused(&bringer.ask("DELETE", "/v1/files/1/0123456789abcdef", &[], b""), 404, "no_such_file");
    for path in ["/v1/files/1/..%2f..%2fkith.db", "/v1/files/01/0123456789abcdef", "/v1/files/1/x"] {
        assert_eq!(bringer.ask("HEAD", path, &[], b"").status, 404, "{path}");
    }
    let id = json!({"id": location.rsplit('/').next().unwrap()});
    assert_eq!(send(&mut anna, "a-1", "u-ben", &[&id])["code"], "no_such_file");
    let eleven = vec![&id; 11];
    assert_eq!(send(&mut anna, "a-2", "u-ben", &eleven)["code"], "too_many_files");
    assert_eq!(send(&mut anna, "a-3", "u-ben", &[])["code"], "bad_body");

    // Cancelled.
    assert_eq!(bringer.ask("DELETE", &location, &[], b"").status, 204);
    assert_eq!(bringer.ask("HEAD", &location, &[], b"").status, 404);
    let version =
        format!("HEAD {location} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTus-Resumable: 0.2.2\r\n\r\n");
    assert!(node.raw(version.as_bytes()).starts_with("HTTP/1.1 412 "));
}

#[test]
fn announced_bytes_do_not_count_for_quotas() {
    let scratch = Scratch::new("announced");
    let node = configured(&scratch, "[files]\nfile_bytes = 100000\nsite_bytes = 100000\n");
    acquainted(&scratch, &node);
    let [anna, ben] = ["u-anna", "u-ben"].map(|user| member(&scratch, &node, user));
    for number in 0..20 {
        assert_eq!(anna.create("u-ben", &format!("{number}.bin"), 100_000).status, 201);
    }
    ben.bring("u-anna", "notes.txt", &[b'n'; 60_000]);
    // Received bytes count: 40 kB fit, and the rest is refused.
    let location = anna.begin("u-ben", "large.bin", 40_000);
    let other = anna.begin("u-ben", "other.bin", 40_000);
    assert_eq!(anna.piece(&location, 0, &[1; 40_000]).status, 204);
    let refused = anna.piece(&other, 0, &[2; 40_000]);
    assert_eq!((refused.status, refused.code()), (409, "no_room_for_file".into()));
}

#[test]
fn an_address_has_a_limit_of_requests() {
    let scratch = Scratch::new("requests");
    let node = configured(
        &scratch,
        "[web]\ntrusted_proxies = \"127.0.0.0/8\"\n[limits]\nrequests_per_address = 12\n",
    );
    acquainted(&scratch, &node);
    let anna = member(&scratch, &node, "u-anna");
    let from = |address: &str| {
        anna.ask("HEAD", "/v1/files/1/000000000000001f", &[("X-Forwarded-For", address)], b"")
    };
    for _ in 0..3 {
        assert_eq!(from("192.0.2.1").status, 404);
    }
    let refused = from("192.0.2.1");
    assert_eq!(refused.status, 429);
    assert!((1..=60).contains(&refused.field("retry-after").unwrap().parse::<u32>().unwrap()));
    assert_eq!(from("192.0.2.2").status, 404, "another address");
    let ice = node.raw(b"POST /v1/ice HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}");
    assert!(ice.starts_with("HTTP/1.1 400"), "ICE has a limit of its own: {ice}");
    assert_eq!(node.metric("kith_chat_requests_refused_total"), 1.0);
}

/// A demo node with these settings.
fn configured(scratch: &Scratch, settings: &str) -> Running {
    let file = scratch.path().join("kith.toml");
    fs::write(&file, settings).unwrap();
    Running::start(scratch, "demo", &["--config", file.to_str().unwrap()])
}

#[test]
fn a_file_that_could_run_is_not_displayed() {
    let scratch = Scratch::new("hostile");
    let node = Running::demo(&scratch);
    drop(acquainted(&scratch, &node));
    let bringer = member(&scratch, &node, "u-anna");
    for (name, bytes) in [
        ("cat.svg", &b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"[..]),
        ("cat.png", b"<!doctype html><script>alert(1)</script>"),
        ("cat.jpg", b"%PDF-1.7 <script>"),
        ("cat.html", b"<script>alert(1)</script>"),
        ("bomb.zip", b"PK\x03\x04\x14\0\0\0\x08\0"),
    ] {
        let file = bringer.bring("u-ben", name, bytes);
        assert_eq!(file["type"], "application/octet-stream", "{name}");
        let got = bringer.get(file["url"].as_str().unwrap(), &[]);
        assert!(got.field("content-disposition").unwrap().starts_with("attachment"), "{name}");
        assert_eq!(got.field("content-security-policy"), Some("sandbox; default-src 'none'"));
        assert_eq!(got.field("x-content-type-options"), Some("nosniff"));
    }
    // A file that begins like a picture must be one: a header alone, a bomb of 65,535 × 65,535 pixels.
    let mut bomb =
        b"GIF89a\xff\xff\xff\xff\x80\0\0\xff\0\0\0\0\xff,\0\0\0\0\xff\xff\xff\xff\0\x02\x02D\x01\0;".to_vec();
    bomb.extend([0; 100]);
    for bytes in [&b"\xff\xd8\xff\xe0 not a JPEG"[..], b"\x89PNG\r\n\x1a\n", &bomb] {
        let location = bringer.begin("u-ben", "cat.png", bytes.len());
        let done = bringer.piece(&location, 0, bytes);
        assert_eq!((done.status, &*done.code()), (422, "bad_picture"));
        assert_eq!(bringer.ask("HEAD", &location, &[], b"").status, 404, "it is removed");
    }
    // A picture with an archive and a script after its end becomes a picture only.
    let polyglot = [GIF, b"PK\x03\x04<script>alert(1)</script>"].concat();
    let file = bringer.bring("u-ben", "cat.gif", &polyglot);
    let got = bringer.get(file["url"].as_str().unwrap(), &[]);
    assert!(!got.body.windows(8).any(|window| window == b"<script>") && got.body.starts_with(b"\x89PNG"));
}

#[test]
fn a_link_opens_one_file_of_one_site() {
    let scratch = Scratch::new("links");
    let node = Running::demo(&scratch);
    drop(acquainted(&scratch, &node));
    let bringer = member(&scratch, &node, "u-anna");
    let [one, two] = ["one", "two"].map(|name| bringer.bring("u-ben", name, name.as_bytes()));
    let url = one["url"].as_str().unwrap();
    assert_eq!(bringer.get(url, &[]).body, b"one");
    let id = |file: &Value| file["id"].as_str().unwrap().to_owned();
    let end = url.split_once("?e=").unwrap().1.split_once('&').unwrap().0;
    let later = (end.parse::<u64>().unwrap() + 1).to_string();
    for wrong in [
        url.replace(&id(&one), &id(&two)),
        url.replace("/v1/files/1/", "/v1/files/2/"),
        url.replace(end, &later),
        url.split_once("&s=").unwrap().0.to_owned(),
        url.split_once('?').unwrap().0.to_owned(),
        format!("{url}A"),
    ] {
        let got = bringer.get(&wrong, &[]);
        assert_eq!((got.status, &*got.code()), (403, "bad_link"), "{wrong}");
        assert_eq!(got.field("content-security-policy"), Some("sandbox; default-src 'none'"));
    }
    // The name in it is only for people.
    assert_eq!(bringer.get(&url.replace("/one?", "/..%2f..%2fkith.db?"), &[]).body, b"one");
    // Links stay valid after a restart.
    let mut node = node;
    node.signal("TERM");
    node.wait();
    drop(node);
    let node = Running::demo(&scratch);
    assert_eq!(Member { node: &node, site: "demo".into(), token: String::new() }.get(url, &[]).body, b"one");
}

/// Each upload ends the other one on the server; the newer one continues.
#[test]
fn the_newer_of_two_writers_continues() {
    let scratch = Scratch::new("writers");
    let node = Running::demo(&scratch);
    drop(acquainted(&scratch, &node));
    let bringer = member(&scratch, &node, "u-anna");
    let location = bringer.begin("u-ben", "x", 10);
    let fields = [("Upload-Offset", "0"), ("Content-Type", "application/offset+octet-stream")];
    let mut first = TcpStream::connect(node.http).unwrap();
    first.set_read_timeout(Some(PATIENCE)).unwrap();
    first.write_all(bringer.head("PATCH", &location, &fields, 10).as_bytes()).unwrap();
    first.write_all(b"1234").unwrap();
    let folder = scratch.data().join("files");
    poll("the first bytes", || (bytes_in(&folder) == 4).then_some(()));
    // A client that asks for the offset has abandoned the older request.
    let offset = bringer.offset(&location);
    assert_eq!(offset, 4);
    let told = answer(first);
    assert_eq!((told.status, &*told.code()), (409, "upload_replaced"));
    assert_eq!(bringer.piece(&location, offset, b"567890").status, 204);
    let file: Value = serde_json::from_slice(&bringer.ask("GET", &location, &[], b"").body).unwrap();
    assert_eq!(bringer.get(file["url"].as_str().unwrap(), &[]).body, b"1234567890");
}

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_megabytes_pass_through_little_memory() {
    const BYTES: usize = 100_000_000;
    let scratch = Scratch::new("large");
    let node = Running::demo(&scratch);
    drop(acquainted(&scratch, &node));
    let bringer = member(&scratch, &node, "u-anna");
    // The first file causes one-time costs, which must not count for the large one.
    bringer.bring("u-ben", "small", &[7; 1_000_000]);
    let location = bringer.begin("u-ben", "large", BYTES);
    let memory = |name: &str| -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", node.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    // Resets the peak (proc(5), clear_refs).
    fs::write(format!("/proc/{}/clear_refs", node.pid()), "5").unwrap();
    let before = memory("VmRSS");
    let piece = vec![7; BYTES];
    assert_eq!(bringer.piece(&location, 0, &piece).status, 204);
    let up = memory("VmHWM").saturating_sub(before);
    let file: Value = serde_json::from_slice(&bringer.ask("GET", &location, &[], b"").body).unwrap();
    assert_eq!(bringer.get(file["url"].as_str().unwrap(), &[]).body.len(), BYTES);
    let down = memory("VmHWM").saturating_sub(before);
    assert!(up <= 4_096 && down <= 4_096, "{up} kB, {down} kB");
}

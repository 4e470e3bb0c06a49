//! Uploads that meet each other, and what pictures may cost: the routes of files over a store in memory.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::fs::{self, File, OpenOptions};
use std::future::Future;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Waker};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chat::{
    Blob, Blobs, FileId, FileLimits, FilePlace, FileStore, FileType, NewFile, Picture, Rendition,
    RequestRates, SiteId, Timestamp, UserStore,
};
use scene::{Carrier, Client, Scene};
use serde_json::{Value, json};
use tower::ServiceExt;
use web::WebConfig;
use web::files::{Files, Links, Made, PictureQueue, Pictures, Remade, Slot, routes};

const GIF: &[u8] = b"GIF89a, the first";
const OTHER: &[u8] = b"GIF89a, the other";

#[test]
fn a_late_patch_does_not_replace_a_complete_picture() {
    let (started, is_started) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    let place = Place::new(
        "late",
        RequestRates::UNLIMITED,
        Fake { cpu: Duration::ZERO, started: Some(started), may_go_on: Mutex::new(Some(may_go_on)) },
    );
    let location = place.create("anna", GIF.len());
    let first = place.runtime.spawn(place.router.clone().oneshot(place.patch("anna", &location, GIF)));
    is_started.recv_timeout(Duration::from_secs(20)).unwrap();
    // It has seen that the upload is not complete, and waits for its turn.
    let mut late = Box::pin(place.router.clone().oneshot(place.patch("anna", &location, OTHER)));
    assert!(late.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    go_on.send(()).unwrap();
    assert_eq!(place.runtime.block_on(first).unwrap().unwrap().status(), 204);
    let answer = place.runtime.block_on(late).unwrap();
    assert_eq!(answer.status(), 409);
    assert_eq!(place.json(answer)["code"], "wrong_offset");
    let kept =
        fs::read_dir(&place.blobs.folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    let kept: Vec<_> = kept.filter(|bytes| !bytes.is_empty()).collect();
    assert_eq!(kept, [GIF], "one picture, and no upload beside it");
}

#[test]
fn a_deleted_picture_gives_no_cpu_time_back() {
    let rates = RequestRates { user_picture_ms: 60_000, site_picture_ms: 100_000, ..RequestRates::UNLIMITED };
    let cpu = Duration::from_secs(40);
    let place = Place::new("cpu", rates, Fake { cpu, started: None, may_go_on: Mutex::new(None) });
    let bring = |user: &str| {
        let location = place.create(user, GIF.len());
        (place.ask(place.patch(user, &location, GIF)), location)
    };
    for _ in 0..2 {
        let (answer, location) = bring("anna");
        assert_eq!(answer.status(), 204);
        let removed = place.ask(place.request("DELETE", "anna", &location, &[], b""));
        assert_eq!(removed.status(), 204);
    }
    let (refused, location) = bring("anna");
    assert_eq!(refused.status(), 429);
    assert!(refused.headers()["retry-after"].to_str().unwrap().parse::<u32>().unwrap() > 60);
    assert_eq!(place.json(refused)["code"], "rate_limited");
    let head = place.ask(place.request("HEAD", "anna", &location, &[], b""));
    assert_eq!(head.status(), 429, "what has arrived waits for the budget");
    assert_eq!(bring("ben").0.status(), 204, "another user of the site");
    assert_eq!(bring("ben").0.status(), 429, "the site has spent its own");
}

#[test]
fn an_owner_gives_a_room_an_uploaded_picture_which_everybody_may_fetch() {
    let cpu = Duration::ZERO;
    let pictures = Fake { cpu, started: None, may_go_on: Mutex::new(None) };
    let place = Place::new("room", RequestRates::UNLIMITED, pictures);
    let room = {
        let mut scene = place.scene.lock().unwrap();
        let mut anna = scene.enter(Carrier::WebSocket, "anna");
        let made = json!({"t": "create_room", "rid": 1, "name": "Bikers", "kind": "public"});
        let made = ask(&mut anna, &mut scene, &made);
        let room = made["conversation"]["conversation"].as_str().unwrap().to_owned();
        let mut ben = scene.enter(Carrier::WebSocket, "ben");
        ask(&mut ben, &mut scene, &json!({"t": "join", "rid": 1, "to": {"conversation": room}}));
        room
    };
    let bring = |bytes: &'static [u8]| {
        let location = place.create_in("anna", ("conversation", &room), bytes.len(), "");
        assert_eq!(place.ask(place.patch("anna", &location, bytes)).status(), 204);
        location.rsplit_once('/').unwrap().1.to_owned()
    };
    let choose = |user: &str, change: Value| {
        let mut scene = place.scene.lock().unwrap();
        let mut client = scene.enter(Carrier::WebSocket, user);
        let mut wanted = json!({"t": "change_room", "rid": 2, "conversation": room});
        wanted.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        ask(&mut client, &mut scene, &wanted)
    };
    let fetch = |path: &str| place.ask(Request::get(path).body(Body::empty()).unwrap());

    let words = bring(b"no picture at all");
    assert_eq!(choose("anna", json!({"picture": words}))["code"], "no_such_file");
    let first = bring(GIF);
    for (user, change, code) in [
        ("ben", json!({"picture": first}), "not_allowed"),
        ("anna", json!({"picture": "0000000000000001"}), "no_such_file"),
        ("anna", json!({"picture": "../../etc"}), "no_such_file"),
        ("anna", json!({"picture": first, "avatar": ""}), "bad_value"),
        ("anna", json!({"avatar": "https://tracker.example/a.png"}), "not_allowed"),
    ] {
        assert_eq!(choose(user, change.clone())["code"], code, "{user} {change}");
    }
    let path = format!("/v1/room-pictures/1/{first}");
    assert_eq!(fetch(&path).status(), 404, "it is the picture of no room yet");
    let seen = choose("anna", json!({"picture": first}))["conversation"]["room"].clone();
    assert_eq!((&seen["picture"], seen.get("avatar")), (&json!(path), None));
    let answer = fetch(&path);
    assert_eq!(answer.status(), 200);
    for (name, value) in [
        ("content-type", "image/gif"),
        ("cache-control", "public, max-age=86400, immutable"),
        ("content-security-policy", "sandbox; default-src 'none'"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-resource-policy", "cross-origin"),
    ] {
        assert_eq!(answer.headers()[name], value, "{name}");
    }
    let body = place.runtime.block_on(to_bytes(answer.into_body(), 4_096)).unwrap();
    assert_eq!(body, GIF);

    let second = bring(OTHER);
    choose("anna", json!({"picture": second}));
    assert_eq!(fetch(&path).status(), 404, "it was replaced");
    let seen = choose("anna", json!({"avatar": ""}))["conversation"]["room"].clone();
    assert_eq!((seen.get("picture"), seen.get("avatar")), (None, None));
    assert_eq!(fetch(&format!("/v1/room-pictures/1/{second}")).status(), 404);
}

/// Devices draw what the sender says of a voice message, so that anything else than digits is dropped.
#[test]
fn a_voice_message_with_malformed_peaks_has_none() {
    let cpu = Duration::ZERO;
    let pictures = Fake { cpu, started: None, may_go_on: Mutex::new(None) };
    let place = Place::new("peaks", RequestRates::UNLIMITED, pictures);
    for (peaks, kept) in
        [("09az", json!("09az")), ("<b>", Value::Null), ("0 1", Value::Null), ("", Value::Null)]
    {
        let more = format!(",voice,peaks {}", STANDARD.encode(peaks));
        let location = place.create_in("anna", ("user", "ben"), 4, &more);
        assert_eq!(place.ask(place.patch("anna", &location, b"OggS")).status(), 204);
        let described = place.json(place.ask(place.request("GET", "anna", &location, &[], b"")));
        assert_eq!(described["peaks"], kept, "{peaks:?}");
    }
}

/// The request of an app that has a slot (XEP-0363 §5).
fn put(slot: &Slot, fields: &[(&str, &str)], body: impl Into<Body>) -> Request<Body> {
    let path = slot.put.strip_prefix("https://kith.example").unwrap();
    let request = Request::put(path).header("authorization", &*slot.authorization);
    let request = fields.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.body(body.into()).unwrap()
}

#[test]
fn an_app_uploads_a_reserved_file_with_one_request() {
    let pictures = Fake { cpu: Duration::ZERO, started: None, may_go_on: Mutex::new(None) };
    let place = Place::new("put", RequestRates::UNLIMITED, pictures);
    let length = [("content-length", "17"), ("content-type", "text/html"), ("origin", "https://app.example")];
    let slot = place.slot("anna", 1, GIF.len());
    let preflight = Request::options(slot.put.strip_prefix("https://kith.example").unwrap());
    let preflight = place.ask(preflight.body(Body::empty()).unwrap());
    assert_eq!(preflight.status(), 204);
    assert_eq!(preflight.headers()["access-control-allow-headers"], "authorization, content-type");
    assert_eq!(preflight.headers()["access-control-allow-origin"], "*");

    let get = || Request::get(slot.get.strip_prefix("https://kith.example").unwrap());
    let fetch = || place.ask(get().body(Body::empty()).unwrap());
    assert_eq!(fetch().status(), 404, "it has not arrived");
    let answer = place.ask(put(&slot, &length, GIF));
    assert_eq!(answer.status(), 201);
    assert_eq!(answer.headers()["access-control-allow-origin"], "*");
    let downloaded = fetch();
    for (name, value) in [
        // Not the type that the app claims.
        ("content-type", "image/gif"),
        ("content-security-policy", "sandbox; default-src 'none'"),
        ("x-content-type-options", "nosniff"),
        ("access-control-allow-origin", "*"),
    ] {
        assert_eq!(downloaded.headers()[name], value, "{name}");
    }
    let body = place.runtime.block_on(to_bytes(downloaded.into_body(), 4_096)).unwrap();
    assert_eq!(body, GIF);
    assert_eq!(place.ask(put(&slot, &length, OTHER)).status(), 409, "a second upload changes nothing");
    let body = place.runtime.block_on(to_bytes(fetch().into_body(), 4_096)).unwrap();
    assert_eq!(body, GIF);
}

#[test]
fn what_a_browser_would_run_is_a_download() {
    let pictures = Fake { cpu: Duration::ZERO, started: None, may_go_on: Mutex::new(None) };
    let place = Place::new("html", RequestRates::UNLIMITED, pictures);
    let page = b"<script>alert(1)</script>";
    let slot = place.slot("anna", 1, page.len());
    let fields = [("content-length", "25"), ("content-type", "image/png")];
    assert_eq!(place.ask(put(&slot, &fields, &page[..])).status(), 201);
    let get = Request::get(slot.get.strip_prefix("https://kith.example").unwrap());
    let downloaded = place.ask(get.body(Body::empty()).unwrap());
    assert_eq!(downloaded.headers()["content-type"], "application/octet-stream");
    assert!(downloaded.headers()["content-disposition"].to_str().unwrap().starts_with("attachment"));
}

#[test]
fn an_upload_needs_the_slot_and_its_size() {
    let pictures = Fake { cpu: Duration::ZERO, started: None, may_go_on: Mutex::new(None) };
    let place = Place::new("slot", RequestRates::UNLIMITED, pictures);
    let slot = place.slot("anna", 1, 10);
    let other = place.slot("anna", 2, 10);
    let ten = [("content-length", "10")];
    for (authorization, status) in [
        ("", 403),
        ("Bearer 1.AAAA", 403),
        (&*other.authorization, 403),
        (slot.get.split_once("?e=").unwrap().1, 403),
    ] {
        let wrong = Slot { authorization: authorization.into(), ..slot.clone() };
        assert_eq!(place.ask(put(&wrong, &ten, "0123456789")).status(), status, "{authorization}");
    }
    for fields in [&[][..], &[("content-length", "9")], &[("content-length", "11")]] {
        assert_eq!(place.ask(put(&slot, fields, "0123456789")).status(), 400, "{fields:?}");
    }
    assert_eq!(place.ask(put(&slot, &ten, "0123456789+")).status(), 400, "more than the slot");
    assert_eq!(place.ask(put(&slot, &ten, "01234")).status(), 400, "less than the slot");
    assert_eq!(place.ask(put(&slot, &ten, "abcdefghij")).status(), 201, "again, from the begin");
    let get = Request::get(slot.get.strip_prefix("https://kith.example").unwrap());
    let downloaded = place.ask(get.body(Body::empty()).unwrap());
    let body = place.runtime.block_on(to_bytes(downloaded.into_body(), 4_096)).unwrap();
    assert_eq!(&body[..], b"abcdefghij", "nothing is left of the broken upload");
    // A token of a slot says nothing to the routes of the widget.
    let path = slot.put.strip_prefix("https://kith.example").unwrap().rsplit_once('/').unwrap().0;
    let described = Request::get(path).header("authorization", &*slot.authorization);
    let described = described.header("tus-resumable", "1.0.0").body(Body::empty()).unwrap();
    assert_eq!(place.ask(described).status(), 401);
}

fn ask(client: &mut Client, scene: &mut Scene, request: &Value) -> Value {
    client.say(scene, &request.to_string());
    let received = client.hear(scene);
    let answer = received.iter().find(|event| event["re"] == request["rid"]);
    answer.unwrap_or_else(|| panic!("no answer to {request}: {received:?}")).clone()
}

/// Writes what it was given.
struct Fake {
    cpu: Duration,
    started: Option<mpsc::Sender<()>>,
    may_go_on: Mutex<Option<mpsc::Receiver<()>>>,
}

impl Pictures for Fake {
    fn make(&self, mut from: File, kind: FileType, mut whole: File, _: File) -> Made {
        if let Some(started) = &self.started {
            started.send(()).unwrap();
        }
        if let Some(may_go_on) = self.may_go_on.lock().unwrap().take() {
            may_go_on.recv_timeout(Duration::from_secs(20)).unwrap();
        }
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        whole.write_all(&bytes).unwrap();
        let picture = Picture { width: 1, height: 1, blurhash: "L".into(), has_thumbnail: false };
        let remade = Remade { kind, picture, bytes: bytes.len() as u64, thumbnail_bytes: 0 };
        Made { outcome: Ok(remade), cpu: self.cpu }
    }

    fn portrait(&self, _: File, _: FileType, _: File) -> Made {
        unreachable!("no test here publishes a picture of a person")
    }
}

struct Place {
    scene: Mutex<Scene>,
    router: Router,
    blobs: Arc<Folder>,
    links: Links,
    runtime: tokio::runtime::Runtime,
}

const FILE_LIMITS: FileLimits =
    FileLimits { file_bytes: 1_000, user_bytes: 0, guest_bytes: 0, site_bytes: 0 };

impl Place {
    fn new(name: &str, requests: RequestRates, pictures: Fake) -> Place {
        let clock = || Timestamp(edge::testing::START_UNIX_MS);
        let limits = chat::Limits { requests, ..scene::limits() };
        let mut scene = Scene::with_limits(WebConfig::default(), limits);
        let [mut anna, mut ben] = ["anna", "ben"].map(|user| scene.enter(Carrier::WebSocket, user));
        anna.send(&mut scene, "ben", "a-1", "hello");
        ben.send(&mut scene, "anna", "b-1", "hello");
        let folder = std::env::temp_dir().join(format!("kith-uploads-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let blobs = Arc::new(Folder { folder });
        let links = Links::new([3; 32], "", 12 * 3_600_000, clock);
        let router = routes(Files {
            node: scene.node.clone(),
            blobs: blobs.clone(),
            pictures: Arc::new(PictureQueue::new(scene.node.clone(), Arc::new(pictures), 2, clock)),
            links: links.clone(),
            limits: FILE_LIMITS,
            clock,
        });
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Place { scene: Mutex::new(scene), router, blobs, links, runtime: runtime.unwrap() }
    }

    fn request(
        &self,
        method: &str,
        user: &str,
        path: &str,
        fields: &[(&str, &str)],
        body: &'static [u8],
    ) -> Request<Body> {
        let token = self.scene.lock().unwrap().token(user);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("tus-resumable", "1.0.0")
            .header("authorization", format!("Bearer {token}"));
        fields
            .iter()
            .fold(request, |request, (name, value)| request.header(*name, *value))
            .body(Body::from(body))
            .unwrap()
    }

    fn create(&self, user: &str, bytes: usize) -> String {
        let to = if user == "anna" { "ben" } else { "anna" };
        self.create_in(user, ("user", to), bytes, "")
    }

    /// `more`: further pairs of `upload-metadata`.
    fn create_in(&self, user: &str, (kind, to): (&str, &str), bytes: usize, more: &str) -> String {
        let [site, to] = [scene::SITE, to].map(|text| STANDARD.encode(text));
        let (told, bytes) = (format!("site {site},{kind} {to}{more}"), bytes.to_string());
        let fields = [("upload-length", &*bytes), ("upload-metadata", &*told)];
        let answer = self.ask(self.request("POST", user, "/v1/files", &fields, b""));
        assert_eq!(answer.status(), 201);
        answer.headers()["location"].to_str().unwrap().to_owned()
    }

    /// A file without a conversation, as the domain reserves it for a gateway of apps.
    fn slot(&self, user: &str, number: u64, bytes: usize) -> Slot {
        let scene = self.scene.lock().unwrap();
        let sub = chat::Sub::parse(user).unwrap();
        let (sender, found) = mpsc::channel();
        scene.store.user(SiteId(1), sub, Box::new(move |row| sender.send(row.unwrap().unwrap().id).unwrap()));
        let owner = found.recv().unwrap();
        let id = FileId { site: SiteId(1), number };
        let file = NewFile {
            id,
            owner,
            place: FilePlace::Open,
            name: "a cat.gif".into(),
            bytes: bytes as u64,
            voice: false,
            duration_ms: None,
            peaks: None,
            time: Timestamp(edge::testing::START_UNIX_MS),
        };
        let (sender, created) = mpsc::channel();
        scene.store.create_file(file, FILE_LIMITS, Box::new(move |done| sender.send(done.unwrap()).unwrap()));
        created.recv().unwrap().unwrap();
        self.links.slot(id, "a cat.gif", "https://kith.example", 3_600_000).unwrap()
    }

    fn patch(&self, user: &str, location: &str, bytes: &'static [u8]) -> Request<Body> {
        let fields = [("upload-offset", "0"), ("content-type", "application/offset+octet-stream")];
        self.request("PATCH", user, location, &fields, bytes)
    }

    fn ask(&self, request: Request<Body>) -> Response<Body> {
        self.runtime.block_on(self.router.clone().oneshot(request)).unwrap()
    }

    fn json(&self, answer: Response<Body>) -> Value {
        let body = self.runtime.block_on(to_bytes(answer.into_body(), 4_096)).unwrap();
        serde_json::from_slice(&body).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.blobs.folder);
    }
}

struct Bytes(Vec<u8>);

impl Blob for Bytes {
    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let from = self.0.get(offset as usize..).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(from.get(..buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// The smallest place for bytes.
struct Folder {
    folder: PathBuf,
}

impl Folder {
    fn path(&self, file: FileId, rendition: Rendition) -> PathBuf {
        self.folder.join(format!("{:x}-{rendition:?}", file.number))
    }

    fn remove_if_there(&self, file: FileId, rendition: Rendition) {
        let _ = fs::remove_file(self.path(file, rendition));
    }
}

impl Blobs for Folder {
    fn arrived(&self, file: FileId) -> io::Result<u64> {
        Ok(fs::metadata(self.path(file, Rendition::Upload)).map_or(0, |found| found.len()))
    }

    fn upload(&self, file: FileId) -> io::Result<File> {
        OpenOptions::new().read(true).append(true).create(true).open(self.path(file, Rendition::Upload))
    }

    fn create(&self, file: FileId, rendition: Rendition) -> io::Result<File> {
        File::create(self.path(file, rendition))
    }

    fn open(&self, file: FileId, rendition: Rendition) -> io::Result<Box<dyn Blob>> {
        Ok(Box::new(Bytes(fs::read(self.path(file, rendition))?)))
    }

    fn settle(&self, _: FileId) -> io::Result<()> {
        Ok(())
    }

    fn drop_upload(&self, file: FileId) -> io::Result<()> {
        self.remove_if_there(file, Rendition::Upload);
        Ok(())
    }

    fn remove(&self, file: FileId) -> io::Result<()> {
        Rendition::ALL.into_iter().for_each(|rendition| self.remove_if_there(file, rendition));
        Ok(())
    }

    fn remove_other_sites(&self, _: &[SiteId]) -> io::Result<()> {
        Ok(())
    }
}

//! End to end on this machine: a member turns notifications on and leaves, another one writes, and the push service gets a message that
//! the member's browser can decrypt.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Mutex;
use std::time::Duration;

use ::push::testing::{Browser, Service};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chat::token::{Claims, sign};
use chat::{
    Delivery, DeviceId, Event, Hello, Limits, Mode, Node, NodeConfig, NotificationStore, NotifyChange,
    Outbox, Request, Secret, SecretKind, SessionHandle, SessionId, Site, SiteStore, Sub, Timestamp, To,
    messages, notifications, session,
};
use serde_json::Value;

use store::Sqlite;
use tokio::sync::mpsc;

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_message_to_an_absent_member_reaches_the_browser() {
    let service = Service::begin("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n").await;
    let (scene, browser) = (Scene::new(&service), Browser::new());
    scene.anna_leaves_with(&browser, &service.address("/p/anna"));
    scene.ben_writes("Hello, Anna");
    let (head, body) = service.next_request().await.unwrap();
    assert!(head.starts_with("POST /p/anna HTTP/1.1\r\n"), "{head}");
    let notice: Value = serde_json::from_slice(&browser.open(&body)).unwrap();
    assert_eq!((&notice["title"], &notice["body"]), (&"Ben".into(), &"Hello, Anna".into()));
    assert_eq!((&notice["kith"], &notice["count"]), (&"@ben".into(), &1.into()));

    let field = |name: &str| {
        let fields = head.lines().filter_map(|line| line.split_once(": "));
        fields.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value).next().unwrap()
    };
    assert_eq!((field("TTL"), field("Urgency")), ("86400", "normal"));
    let (token, key) = field("Authorization").strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
    assert_eq!(key, scene.key.lock().unwrap().as_deref().unwrap(), "the key that the browser was given");
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(claims["sub"], "https://forum.example", "the site says who sends");
    assert_eq!(claims["aud"], service.address(""));
}

#[tokio::test]
async fn a_removed_browser_loses_its_subscription() {
    let service = Service::begin("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n").await;
    let mut scene = Scene::new(&service);
    scene.anna_leaves_with(&Browser::new(), &service.address("/p/anna"));
    assert_eq!(scene.store.push_users().unwrap().len(), 1);
    scene.ben_writes("Hello?");
    service.next_request().await.unwrap();
    scene.gone.recv().await.unwrap();
    assert_eq!(scene.store.push_users().unwrap(), []);
    assert_eq!(scene.counters.gone.load(Relaxed), 1);
}

#[test]
fn only_listed_services_are_called() {
    let rules = |services: &[&str]| Rules {
        services: services.iter().map(ToString::to_string).collect(),
        contact: None,
    };
    let listed = rules(&["fcm.googleapis.com", "web.push.apple.com", "*.notify.windows.com"]);
    for (host, expected) in [
        ("fcm.googleapis.com", true),
        // Anybody may have a host of their own at Google's, or in front of it.
        ("googleapis.com", false),
        ("storage.googleapis.com", false),
        ("evil.fcm.googleapis.com", false),
        ("wns2-par02p.notify.windows.com", true),
        ("notify.windows.com", false),
        ("evilnotify.windows.com", false),
        ("web.push.apple.com", true),
        ("evilgoogleapis.com", false),
        ("googleapis.com.evil.example", false),
        ("api.push.apple.com", false),
        ("", false),
    ] {
        assert_eq!(listed.allow(host), expected, "{host}");
    }
    assert!(rules(&["*"]).allow("any.example") && !rules(&[]).allow("any.example"));
}

/// A node in memory, and two members of it.
struct Scene {
    node: Arc<Node>,
    store: Arc<Sqlite>,
    inbox: Arc<Inbox>,
    counters: Arc<Counters>,
    /// A browser was forgotten.
    gone: mpsc::UnboundedReceiver<()>,
    key: Mutex<Option<String>>,
    now: u64,
}

#[derive(Default)]
struct Inbox {
    events: Mutex<Vec<(SessionHandle, Event)>>,
}

impl Outbox for Inbox {
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        self.events.lock().unwrap().extend(to.iter().map(|to| (*to, delivery.event.clone())));
    }
}

impl Scene {
    fn new(service: &Service) -> Scene {
        let (store, inbox, counters) =
            (Arc::new(Sqlite::in_memory()), Arc::<Inbox>::default(), Arc::default());
        store.add_site(&site()).unwrap();
        let node = Arc::new(Node::new(config(), store.clone(), inbox.clone(), [7; 32]));
        let known = Arc::downgrade(&node);
        let rules = Rules { services: vec!["localhost".into()], contact: None };
        let runtime = tokio::runtime::Handle::current();
        let (tell, forgotten) = mpsc::unbounded_channel();
        let gone = move |user, endpoint: &str| {
            known.upgrade().unwrap().push_device_is_gone(user, endpoint);
            tell.send(()).unwrap();
        };
        let client = service.client(PATIENCE);
        let pusher = Pusher::begin(client, rules, store.clone(), Arc::clone(&counters), &runtime, gone);
        node.notify_by(Arc::new(pusher)).unwrap();
        Scene { node, store, inbox, counters, gone: forgotten, key: Mutex::default(), now: crate::now().0 }
    }

    fn anna_leaves_with(&self, browser: &Browser, endpoint: &str) {
        let anna = self.enter("anna", 1);
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let device = PushDevice::parse(endpoint, &encode(&browser.public), &encode(&browser.auth), "en");
        let change = NotifyChange { subscribe: Some(device.unwrap()), ..NotifyChange::default() };
        self.say(anna, Request::new(1, notifications::Command::Change(Box::new(change))));
        let key = |(_, event): &(SessionHandle, Event)| match event {
            Event::Notifications(notifications::Event::Settings { key, devices: 1, .. }) => {
                key.as_ref().map(ToString::to_string)
            }
            _ => None,
        };
        *self.key.lock().unwrap() = self.inbox.events.lock().unwrap().iter().find_map(key);
        self.node.disconnected(anna, true, Timestamp(self.now));
    }

    fn ben_writes(&self, body: &str) {
        let ben = self.enter("ben", 2);
        let to = To::User(Sub::parse("anna").unwrap());
        self.say(
            ben,
            messages::Command::Send {
                client_id: "1".into(),
                to,
                body: body.into(),
                extension: None,
                reply_to: None,
                files: Vec::new(),
                rich: None,
            },
        );
        self.node.tick(Timestamp(self.now + 5_000));
    }

    fn enter(&self, user: &str, handle: u64) -> SessionId {
        let name = format!("{}{}", user[..1].to_uppercase(), &user[1..]);
        let exp = (self.now / 1000 + 600) as f64;
        let claims = Claims { sub: user.into(), name: Some(name), exp, ..Claims::default() };
        let token = sign(&claims, &site().secrets[0]).unwrap();
        let hello = Hello {
            site_key: "forum".into(),
            credential: chat::Credential::Token((&token).into()),
            device: DeviceId::parse("d").unwrap(),
            position: None,
            origin: None,
            address: None,
            agent: chat::Agent::default(),
            announced: None,
        };
        self.node.sign_in(hello, SessionHandle(handle), Timestamp(self.now));
        let welcomed = |(to, event): &(SessionHandle, Event)| match event {
            Event::Session(session::Event::Welcome(welcome)) if to.0 == handle => Some(welcome.session),
            _ => None,
        };
        self.inbox.events.lock().unwrap().iter().find_map(welcomed).unwrap()
    }

    fn say(&self, session: SessionId, command: impl Into<Request>) {
        self.node.command(session, command.into(), Timestamp(self.now));
    }
}

pub(crate) fn site() -> Site {
    let secret = Secret::new(SecretKind::Hs256, b"a secret of this site".to_vec(), Timestamp(0));
    Site {
        id: SiteId(0),
        key: "forum".into(),
        name: "Forum".into(),
        mode: Mode::Open,
        guests: false,
        origins: vec!["https://forum.example".into()],
        secrets: vec![secret],
        guest_keys: vec![],
        public_url: None,
        domain: None,
        created: Timestamp(0),
        settings: chat::Settings::default(),
    }
}

pub(crate) fn config() -> NodeConfig {
    NodeConfig {
        limits: Limits::without_rates(),
        presence_grace_ms: 10_000,
        presence_coalesce_ms: 100,
        clock_skew_ms: 60_000,
        calls: chat::CallConfig::default(),
        app_passwords: false,
    }
}

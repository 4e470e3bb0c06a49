//! End to end on this machine: an absent member gets a message, a relay accepts the digest, and its link unsubscribes.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::{Mutex, OnceLock};

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use chat::token::{Claims, sign};
use chat::{
    CallAction, ContactAction, Delivery, DeviceId, Event, Hello, Media, Node, NotifyChange, Outbox,
    SessionHandle, SessionId, SiteStore, Sub, Timestamp, To, calls, contacts, messages, notifications,
    session,
};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tower::ServiceExt;

use store::Sqlite;
use tokio::sync::mpsc;

use super::*;

const HALF_AN_HOUR: u64 = 30 * 60_000;

#[tokio::test]
async fn missed_messages_are_mailed_once_and_the_link_unsubscribes() {
    let (relay, mut letters) = relay_here().await;
    let mut scene = Scene::new(&relay);
    let anna = scene.enter("anna", 1);
    scene.node.disconnected(anna, true, Timestamp(scene.now));
    let ben = scene.enter("ben", 2);
    scene.write(ben, "1", "Hello Anna");
    scene.write(ben, "2", "Are you there?");
    scene.pass(HALF_AN_HOUR - 20_000);
    assert!(letters.try_recv().is_err(), "it is not due yet");
    scene.pass(30_000);
    let letter = letters.recv().await.unwrap();
    assert!(letter.contains("RCPT TO:<anna@example.com>"), "{letter}");
    assert!(letter.contains("Subject: 2 unread messages on Forum"), "{letter}");
    assert!(letter.contains("Are you there?"), "{letter}");

    // One a day, however many messages come.
    scene.write(ben, "3", "Anna?");
    scene.pass(20 * 3_600_000);
    assert!(letters.try_recv().is_err());
    scene.pass(5 * 3_600_000);
    assert!(letters.recv().await.unwrap().contains("3 unread messages"));

    let link = letter.lines().find_map(|line| line.strip_prefix("List-Unsubscribe: <")).unwrap();
    let path = link.strip_suffix('>').unwrap().strip_prefix("https://im.example").unwrap().to_owned();
    assert_eq!(scene.http("GET", &path).await.0, StatusCode::OK);
    assert_eq!(scene.http("POST", &path.replace("forum.1.", "forum.2.")).await.0, StatusCode::NOT_FOUND);
    assert_eq!(scene.http("POST", "/v1/mail/end?m=nonsense").await.0, StatusCode::NOT_FOUND);
    scene.write(ben, "4", "Still away?");
    let (status, page) = scene.http("POST", &path).await;
    assert_eq!(status, StatusCode::OK, "{page}");
    assert_eq!(scene.wish(ben), None, "nobody else's is touched");
    scene.pass(48 * 3_600_000);
    assert!(letters.try_recv().is_err());
    let anna = scene.enter("anna", 3);
    assert_eq!(scene.wish(anna), Some(("anna@example.com".into(), 0)));
}

#[tokio::test]
async fn missed_calls_are_mailed_and_counted() {
    let (relay, mut letters) = relay_here().await;
    let mut scene = Scene::new(&relay);
    let (anna, ben) = (scene.enter("anna", 1), scene.enter("ben", 2));
    for (session, action, user) in
        [(anna, ContactAction::Request, "ben"), (ben, ContactAction::Accept, "anna")]
    {
        let command =
            chat::Request::new(1, contacts::Command::Change { action, user: Sub::parse(user).unwrap() });
        scene.node.command(session, command, Timestamp(scene.now));
    }
    scene.node.disconnected(anna, true, Timestamp(scene.now));
    for _ in 0..2 {
        let user = Sub::parse("anna").unwrap();
        let action = CallAction::Invite { user, media: Media::Audio, offer: "offer".into() };
        scene.node.command(
            ben,
            chat::Request::new(1, calls::Command::Direct { action }),
            Timestamp(scene.now),
        );
        scene.pass(60_000);
    }
    scene.pass(HALF_AN_HOUR);
    let letter = letters.recv().await.unwrap();
    assert!(letter.contains("Subject: Forum: 2 missed calls\n"), "{letter}");
    assert!(letter.contains("- ben (2 missed calls)\n  Missed audio call\n"), "{letter}");
}

#[tokio::test]
async fn the_mail_uses_the_sites_language_and_the_page_the_browsers() {
    let (relay, mut letters) = relay_here().await;
    let mut scene = Scene::new(&relay);
    let anna = scene.enter_reading("anna", 1, Some("ar_EG"));
    scene.node.disconnected(anna, true, Timestamp(scene.now));
    let ben = scene.enter("ben", 2);
    scene.write(ben, "1", "Hello Anna");
    scene.pass(HALF_AN_HOUR + 10_000);
    let letter = letters.recv().await.unwrap();
    assert!(letter.contains("Content-Language: ar\n"), "{letter}");

    let link = letter.lines().find_map(|line| line.strip_prefix("List-Unsubscribe: <")).unwrap();
    let path = link.strip_suffix('>').unwrap().strip_prefix("https://im.example").unwrap();
    let (_, page) = scene.http_in("GET", path, "tlh, he;q=0.8, en;q=0.5").await;
    assert!(page.contains("<html lang=\"he\" dir=\"rtl\">"), "{page}");
    assert!(page.contains(crate::wording::words("he").mail.end_button.as_str()), "{page}");
}

#[tokio::test]
async fn a_member_who_returned_or_has_read_gets_no_digest() {
    let (relay, mut letters) = relay_here().await;
    let mut scene = Scene::new(&relay);
    let anna = scene.enter("anna", 1);
    scene.node.disconnected(anna, true, Timestamp(scene.now));
    let ben = scene.enter("ben", 2);
    scene.write(ben, "1", "Hello");
    scene.pass(60_000);
    scene.enter("anna", 3);
    scene.pass(2 * HALF_AN_HOUR);
    assert!(letters.try_recv().is_err());
}

/// A mail relay that accepts and keeps every mail.
async fn relay_here() -> (String, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    let (tell, letters) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let tell = tell.clone();
            tokio::spawn(async move {
                let mut stream = BufReader::new(socket);
                stream.write_all(b"220 relay.example ESMTP\r\n").await.unwrap();
                let (mut said, mut in_data) = (String::new(), false);
                loop {
                    let mut line = String::new();
                    if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
                        return;
                    }
                    said.push_str(&line.replace('\r', ""));
                    let answer = match line.trim_end() {
                        "." if in_data => {
                            in_data = false;
                            let _ = tell.send(std::mem::take(&mut said));
                            "250 taken"
                        }
                        _ if in_data => continue,
                        "DATA" => {
                            in_data = true;
                            "354 go on"
                        }
                        "QUIT" => "221 bye",
                        _ => "250 relay.example",
                    };
                    stream.write_all(format!("{answer}\r\n").as_bytes()).await.unwrap();
                }
            });
        }
    });
    (url, letters)
}

struct Scene {
    node: Arc<Node>,
    inbox: Arc<Inbox>,
    router: axum::Router,
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
    fn new(relay: &str) -> Scene {
        let (store, inbox) = (Arc::new(Sqlite::in_memory()), Arc::<Inbox>::default());
        store.add_site(&crate::push::tests::site()).unwrap();
        let node = Arc::new(Node::new(crate::push::tests::config(), store.clone(), inbox.clone(), [7; 32]));
        let post = Post {
            transport: super::relay(relay).unwrap(),
            from: "kith@im.example".parse().unwrap(),
            public_url: "https://im.example/".into(),
            after_minutes: 30,
        };
        let runtime = tokio::runtime::Handle::current();
        let office = PostOffice::begin(post, store.clone(), Arc::default(), &runtime);
        node.mail_by(Arc::new(office)).unwrap();
        let known = Arc::new(OnceLock::new());
        known.set(Arc::downgrade(&node)).unwrap();
        Scene { node, inbox, router: routes(known, store), now: 1_800_000_000_000 }
    }

    fn enter(&self, user: &str, handle: u64) -> SessionId {
        self.enter_reading(user, handle, None)
    }

    fn enter_reading(&self, user: &str, handle: u64, locale: Option<&str>) -> SessionId {
        let claims = Claims {
            sub: user.into(),
            email: Some(format!("{user}@example.com")),
            locale: locale.map(Into::into),
            exp: (self.now / 1000 + 10 * 86_400) as f64,
            ..Claims::default()
        };
        let token = sign(&claims, &crate::push::tests::site().secrets[0]).unwrap();
        let device = DeviceId::parse("d").unwrap();
        let hello = Hello {
            site_key: "forum".into(),
            credential: chat::Credential::Token((&token).into()),
            device,
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

    fn write(&self, from: SessionId, id: &str, body: &str) {
        let to = To::User(Sub::parse("anna").unwrap());
        let send = messages::Command::Send {
            client_id: id.into(),
            to,
            body: body.into(),
            extension: None,
            reply_to: None,
            files: Vec::new(),
            rich: None,
        };
        self.node.command(from, send.into(), Timestamp(self.now));
    }

    /// Advances time in steps of ten seconds.
    fn pass(&mut self, ms: u64) {
        let end = self.now + ms;
        while self.now < end {
            self.now = (self.now + 10_000).min(end);
            self.node.tick(Timestamp(self.now));
        }
    }

    fn wish(&self, of: SessionId) -> Option<(String, u32)> {
        self.inbox.events.lock().unwrap().clear();
        let look = chat::Request::new(1, notifications::Command::Change(Box::<NotifyChange>::default()));
        self.node.command(of, look, Timestamp(self.now));
        match self.inbox.events.lock().unwrap().pop() {
            Some((_, Event::Notifications(notifications::Event::Settings { mail, .. }))) => {
                mail.filter(|(_, after)| *after != 30).map(|(address, after)| (address.into(), after))
            }
            other => panic!("no answer: {other:?}"),
        }
    }

    async fn http(&self, method: &str, path: &str) -> (StatusCode, String) {
        self.http_in(method, path, "en").await
    }

    async fn http_in(&self, method: &str, path: &str, languages: &str) -> (StatusCode, String) {
        let request = Request::builder().method(method).uri(path).header("Accept-Language", languages);
        let request = request.body(Body::empty()).unwrap();
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let status = answer.status();
        let body = to_bytes(answer.into_body(), 10_000).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }
}

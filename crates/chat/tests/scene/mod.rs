//! A community in memory: a node, its store, and devices whose events are collected.
#![allow(dead_code, unreachable_pub, reason = "every test file uses its own part of it")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use chat::presence::{Announced, Availability};
use chat::token::{Claims, sign};
use chat::*;
use store::Sqlite;

/// The start of every scene, in milliseconds since the epoch.
pub const START: u64 = 1_800_000_000_000;
pub const SITE: &str = "forum";
/// The address of all clients.
pub const ADDRESS: std::net::Ipv4Addr = std::net::Ipv4Addr::new(192, 0, 2, 1);

/// The pattern of a [`Delivery`]: `event!(rooms::Left { reason, .. })`. Patterns of its request number and
/// its position may precede the event: `event!(Some(9), rooms::Links { .. })`, `event!(_, Some(position),
/// messages::Message(message))`.
macro_rules! event {
    (@session::$($event:tt)+) => { chat::Event::Session(chat::session::Event::$($event)+) };
    (@presence::$($event:tt)+) => { chat::Event::Presence(chat::presence::Event::$($event)+) };
    (@contacts::$($event:tt)+) => { chat::Event::Contacts(chat::contacts::Event::$($event)+) };
    (@notifications::$($event:tt)+) => { chat::Event::Notifications(chat::notifications::Event::$($event)+) };
    (@moderation::$($event:tt)+) => { chat::Event::Moderation(chat::moderation::Event::$($event)+) };
    (@calls::$($event:tt)+) => { chat::Event::Calls(chat::calls::Event::$($event)+) };
    (@rooms::$($event:tt)+) => { chat::Event::Rooms(chat::rooms::Event::$($event)+) };
    (@messages::$($event:tt)+) => { chat::Event::Messages(chat::messages::Event::$($event)+) };
    (@account::$($event:tt)+) => { chat::Event::Account(chat::account::Event::$($event)+) };
    ($part:ident::$($event:tt)+) => { chat::Delivery { event: event!(@$part::$($event)+), .. } };
    ($re:pat, $part:ident::$($event:tt)+) => {
        chat::Delivery { re: $re, event: event!(@$part::$($event)+), .. }
    };
    ($re:pat, $position:pat, $part:ident::$($event:tt)+) => {
        chat::Delivery { re: $re, position: $position, event: event!(@$part::$($event)+) }
    };
}
pub(crate) use event;

pub struct Scene {
    pub store: Arc<Sqlite>,
    pub inbox: Arc<Inbox>,
    pub node: Node,
    pub now: u64,
    config: NodeConfig,
    next_handle: AtomicU64,
}

/// The events that sessions received.
#[derive(Default)]
pub struct Inbox {
    events: Mutex<HashMap<SessionHandle, Vec<Delivery>>>,
}

impl Outbox for Inbox {
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        let mut events = self.events.lock().unwrap();
        for handle in to {
            events.entry(*handle).or_default().push(delivery.clone());
        }
    }
}

/// A signed-in device.
#[derive(Debug, Clone)]
pub struct Device {
    pub session: SessionId,
    pub welcome: Welcome,
}

pub fn limits() -> Limits {
    Limits::without_rates()
}

pub fn config() -> NodeConfig {
    NodeConfig {
        limits: limits(),
        presence_grace_ms: 10_000,
        presence_coalesce_ms: 500,
        clock_skew_ms: 60_000,
        calls: CallConfig { burst: 0, per_minute: 0, ..CallConfig::default() },
        app_passwords: true,
    }
}

pub fn site(mode: Mode) -> Site {
    Site {
        id: SiteId(0),
        key: SITE.into(),
        name: "Forum".into(),
        mode,
        guests: true,
        origins: vec!["https://forum.example".into()],
        secrets: vec![secret(b"a secret of this site")],
        guest_keys: vec![secret(b"the server's key for guests here")],
        public_url: None,
        domain: None,
        settings: chat::Settings::default(),
        created: Timestamp(START),
    }
}

pub fn secret(bytes: &[u8]) -> Secret {
    Secret::new(SecretKind::Hs256, bytes.to_vec(), Timestamp(START))
}

pub fn sub(name: &str) -> Sub {
    Sub::parse(name).unwrap()
}

pub fn to(name: &str) -> To {
    To::User(sub(name))
}

impl Scene {
    pub fn new(mode: Mode) -> Scene {
        Scene::with(mode, config(), Sqlite::in_memory())
    }

    pub fn with(mode: Mode, config: NodeConfig, store: Sqlite) -> Scene {
        store.add_site(&site(mode)).unwrap();
        let store = Arc::new(store);
        let inbox = Arc::new(Inbox::default());
        let node = Node::new(config.clone(), store.clone(), inbox.clone(), [7; 32]);
        Scene { store, inbox, node, now: START, config, next_handle: AtomicU64::new(1) }
    }

    /// The process is killed, and a new one starts on the same disk.
    pub fn restart(&mut self) {
        self.store.crash();
        self.node = Node::new(self.config.clone(), self.store.clone(), self.inbox.clone(), [8; 32]);
    }

    /// Another node on the same store; the process did not die.
    pub fn replace_node(&mut self) {
        self.node = Node::new(self.config.clone(), self.store.clone(), self.inbox.clone(), [9; 32]);
    }

    pub fn now(&self) -> Timestamp {
        Timestamp(self.now)
    }

    /// Lets time pass in ticks of 100 ms.
    pub fn wait(&mut self, ms: u64) {
        let end = self.now + ms;
        while self.now < end {
            self.now = (self.now + 100).min(end);
            self.node.tick(self.now());
        }
    }

    pub fn handle(&self) -> SessionHandle {
        SessionHandle(self.next_handle.fetch_add(1, Ordering::Relaxed))
    }

    pub fn token(&self, user: &str) -> String {
        let claims = Claims {
            sub: user.into(),
            name: Some(format!("The {user}")),
            exp: (self.now / 1000 + 3600) as f64,
            ..Claims::default()
        };
        self.signed(&claims)
    }

    pub fn signed(&self, claims: &Claims) -> String {
        sign(claims, &secret(b"a secret of this site")).unwrap()
    }

    /// Sends a hello; the outcome goes to the inbox.
    pub fn hello(&self, token: Option<&str>, device: &str, position: Option<Position>) -> SessionHandle {
        self.hello_as(token, device, position, None)
    }

    /// Signs in a session with a resource, which is its device, too.
    pub fn sign_in_announced(
        &self,
        user: &str,
        resource: &str,
        availability: Option<Availability>,
    ) -> Device {
        let availability = availability.map(Into::into);
        let announced = Announced { resource: resource.into(), availability };
        let handle = self.hello_as(Some(&self.token(user)), resource, None, Some(announced));
        self.welcomed(handle)
    }

    fn hello_as(
        &self,
        token: Option<&str>,
        device: &str,
        position: Option<Position>,
        announced: Option<Announced>,
    ) -> SessionHandle {
        let handle = self.handle();
        let device = DeviceId::parse(device).unwrap();
        let credential = Credential::of_token(token.map(Into::into));
        let origin = Some("https://forum.example".into());
        let address = Some(ADDRESS.into());
        let agent = Agent::parse(b"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Firefox/128.0");
        let hello =
            Hello { site_key: SITE.into(), credential, device, position, origin, address, agent, announced };
        self.node.sign_in(hello, handle, self.now());
        handle
    }

    pub fn sign_in(&self, user: &str, device: &str) -> Device {
        self.sign_in_from(user, device, None)
    }

    pub fn sign_in_from(&self, user: &str, device: &str, position: Option<Position>) -> Device {
        let handle = self.hello(Some(&self.token(user)), device, position);
        self.welcomed(handle)
    }

    pub fn sign_in_guest(&self, device: &str) -> Device {
        let handle = self.hello(None, device, None);
        self.welcomed(handle)
    }

    pub fn welcomed(&self, handle: SessionHandle) -> Device {
        match self.inbox.take(handle).remove(0) {
            event!(session::Welcome(welcome)) => Device { session: welcome.session, welcome: *welcome },
            other => panic!("no welcome but {other:?}"),
        }
    }

    pub fn refused_hello(&self, token: Option<&str>) -> Refusal {
        let handle = self.hello(token, "d", None);
        match self.inbox.take(handle).as_slice() {
            [event!(session::Bye(refusal))] => *refusal,
            other => panic!("not refused: {other:?}"),
        }
    }

    pub fn command(&self, device: &Device, command: impl Into<Request>) {
        self.node.command(device.session, command.into(), self.now());
    }

    /// Carries out a command, and answers the events for the device.
    pub fn ask(&self, device: &Device, command: impl Into<Request>) -> Vec<Delivery> {
        self.take(device);
        self.command(device, command);
        self.take(device)
    }

    pub fn send(&self, from: &Device, to: To, id: &str, body: &str) {
        let command = messages::Command::Send {
            client_id: id.into(),
            to,
            body: body.into(),
            extension: None,
            reply_to: None,
            files: Vec::new(),
            rich: None,
        };
        self.command(from, command);
    }

    /// Sends a message, and answers the acknowledgement.
    pub fn post(
        &self,
        from: &Device,
        to: To,
        id: &str,
        body: &str,
    ) -> Result<(ConversationId, Seq), Refusal> {
        self.take(from);
        self.send(from, to, id, body);
        match self.take(from).as_slice() {
            [event!(messages::Ack { client_id, conversation, seq, .. })] if **client_id == *id => {
                Ok((*conversation, *seq))
            }
            [event!(session::SendRefused { client_id, refusal })] if **client_id == *id => Err(*refusal),
            other => panic!("no answer to a send: {other:?}"),
        }
    }

    pub fn contact(
        &self,
        device: &Device,
        action: ContactAction,
        user: &str,
    ) -> Result<ContactState, Refusal> {
        match self
            .ask(device, Request::new(9, contacts::Command::Change { action, user: sub(user) }))
            .as_slice()
        {
            [event!(Some(9), contacts::Contact(contact)), ..] => {
                assert_eq!(contact.person.sub, sub(user));
                Ok(contact.state)
            }
            [event!(Some(9), session::Refused(refusal))] => Err(*refusal),
            other => panic!("no answer to a contact: {other:?}"),
        }
    }

    pub fn befriend(&self, a: &Device, b: &Device) {
        let name = |device: &Device| device.welcome.me.sub.as_str().to_owned();
        self.contact(a, ContactAction::Request, &name(b)).unwrap();
        assert_eq!(self.contact(b, ContactAction::Accept, &name(a)), Ok(ContactState::Contact));
        self.take(a);
        self.take(b);
    }

    pub fn watch(&self, device: &Device, users: &[&str]) -> Vec<(String, Presence)> {
        let users = users.iter().map(|user| sub(user)).collect();
        presences(&self.ask(device, presence::Command::Watch { contacts: false, users }))
    }

    /// Watches all contacts, and answers the present ones.
    pub fn watch_contacts(&self, device: &Device) -> Vec<(String, Presence)> {
        match self.ask(device, presence::Command::Watch { contacts: true, users: vec![] }).as_slice() {
            [event!(presence::Watching { here, more: false })] => {
                here.iter().map(|(user, presence)| (user.to_string(), *presence)).collect()
            }
            other => panic!("no answer to a watch: {other:?}"),
        }
    }

    /// Whether the store has no work and no answers left.
    pub fn idle(&self) -> bool {
        self.store.is_idle()
    }

    pub fn leave(&self, device: &Device) {
        self.node.disconnected(device.session, true, self.now());
    }

    pub fn drop_connection(&self, device: &Device) {
        self.node.disconnected(device.session, false, self.now());
    }

    pub fn take(&self, device: &Device) -> Vec<Delivery> {
        self.inbox.take(device.session.handle)
    }

    pub fn bodies(&self, device: &Device) -> Vec<String> {
        let events = self.take(device);
        let body = |event: &Delivery| match event {
            event!(messages::Message(message)) => Some(message.body.to_string()),
            _ => None,
        };
        events.iter().filter_map(body).collect()
    }
}

impl Inbox {
    /// Puts the events before the ones that arrived since.
    pub fn put_back(&self, handle: SessionHandle, mut events: Vec<Delivery>) {
        let mut inbox = self.events.lock().unwrap();
        let since = inbox.entry(handle).or_default();
        events.append(since);
        *since = events;
    }

    pub fn take(&self, handle: SessionHandle) -> Vec<Delivery> {
        self.events.lock().unwrap().remove(&handle).unwrap_or_default()
    }
}

pub fn presences(events: &[Delivery]) -> Vec<(String, Presence)> {
    let presence = |event: &Delivery| match event {
        event!(presence::Presence { user, presence, .. }) => Some((user.to_string(), *presence)),
        _ => None,
    };
    events.iter().filter_map(presence).collect()
}

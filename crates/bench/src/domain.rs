//! Operations of the domain on a database in memory that answers at once. An outbox counts and drops all events. Times
//! include the database; counts of instructions do not.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use chat::{
    Delivery, DeviceId, Hello, Limits, Mode, Node, NodeConfig, Outbox, SessionHandle, SessionId, SetPresence,
    Site, SiteId, SiteStore, Sub, Timestamp, To, UserId, messages, presence,
};
use store::Sqlite;

use crate::token::{NOW, SITE, secret, signed};

const WATCHERS: u32 = 30;
const COALESCE_MS: u64 = 500;

/// A hello and a welcome of a known user, and the end of the session.
pub(crate) fn sign_in() -> Box<dyn FnMut()> {
    let ((node, delivered), user) = (node(), User::new(1));
    user.enter(&node);
    node.disconnected(user.session(), true, NOW);
    delivered.take();
    Box::new(move || {
        user.enter(&node);
        node.disconnected(black_box(user.session()), true, NOW);
        assert_eq!(delivered.take(), 1, "a welcome");
    })
}

/// A message from its command to the outbox: limits, rules, append, recipients.
pub(crate) fn message() -> Box<dyn FnMut()> {
    let (node, delivered) = node();
    let [anna, tom] = [User::new(1), User::new(2)];
    anna.enter(&node);
    tom.enter(&node);
    delivered.take();
    let mut number = 0_u64;
    Box::new(move || {
        number += 1;
        let command = messages::Command::Send {
            client_id: format!("0193a5e0-7c1b-7d6e-9f3a-{number:012x}").into(),
            to: To::User(tom.sub()),
            body: "x".repeat(100).into(),
            extension: None,
            reply_to: None,
            files: Vec::new(),
            rich: None,
        };
        node.command(anna.session(), black_box(command.into()), NOW);
        assert_eq!(delivered.take(), 2, "an acknowledgement and a message");
    })
}

/// A change of presence, and the tick that publishes it to the watchers.
pub(crate) fn presence() -> Box<dyn FnMut()> {
    let ((node, delivered), anna) = (node(), User::new(1));
    anna.enter(&node);
    for watcher in (2..2 + WATCHERS).map(User::new) {
        watcher.enter(&node);
        node.command(
            watcher.session(),
            presence::Command::Watch { contacts: false, users: vec![anna.sub()] }.into(),
            NOW,
        );
    }
    let (mut now, mut away) = (Timestamp(NOW.0 + COALESCE_MS), false);
    node.tick(now);
    delivered.take();
    Box::new(move || {
        away = !away;
        let chosen = if away { SetPresence::Away } else { SetPresence::Online };
        node.command(anna.session(), black_box(presence::Command::Set(chosen).into()), now);
        now = Timestamp(now.0 + COALESCE_MS);
        node.tick(now);
        assert_eq!(delivered.take(), WATCHERS, "one for each watcher");
    })
}

/// The store numbers users in the order of their creation, from 1 on.
pub(crate) struct User {
    number: u32,
    token: String,
}

impl User {
    pub(crate) fn new(number: u32) -> User {
        User { number, token: signed(&format!("user-{number}")) }
    }

    pub(crate) fn enter(&self, node: &Node) {
        let hello = Hello {
            site_key: SITE.into(),
            credential: chat::Credential::Token(black_box(&self.token).into()),
            device: DeviceId::parse("device").expect("it is one"),
            position: None,
            origin: None,
            address: None,
            agent: chat::Agent::default(),
            announced: None,
        };
        node.sign_in(hello, self.session().handle, NOW);
    }

    pub(crate) fn session(&self) -> SessionId {
        let handle = SessionHandle(self.number.into());
        SessionId { user: UserId { site: SiteId(1), num: self.number }, handle }
    }

    pub(crate) fn sub(&self) -> Sub {
        Sub::parse(&format!("user-{}", self.number)).expect("it is one")
    }
}

fn node() -> (Node, Arc<DeliveryCounter>) {
    let store = Sqlite::in_memory();
    assert_eq!(store.add_site(&site()), Ok(Some(SiteId(1))));
    let delivered = Arc::new(DeliveryCounter::default());
    (Node::new(config(), Arc::new(store), Arc::clone(&delivered) as Arc<dyn Outbox>, [1; 32]), delivered)
}

pub(crate) fn site() -> Site {
    Site {
        id: SiteId(0),
        key: SITE.into(),
        name: "Bench".into(),
        mode: Mode::Open,
        guests: false,
        origins: Vec::new(),
        secrets: vec![secret()],
        guest_keys: vec![],
        public_url: None,
        domain: None,
        settings: chat::Settings::default(),
        created: NOW,
    }
}

pub(crate) fn config() -> NodeConfig {
    let limits =
        Limits { page: 100, watch: 500, contacts: 10_000, sessions_per_user: 16, ..Limits::without_rates() };
    let presence_coalesce_ms = COALESCE_MS;
    NodeConfig {
        limits,
        presence_grace_ms: 15_000,
        presence_coalesce_ms,
        clock_skew_ms: 30_000,
        calls: chat::CallConfig::default(),
        app_passwords: false,
    }
}

/// Counts events, so that an operation that no longer does its work fails.
#[derive(Default)]
struct DeliveryCounter(AtomicU32);

impl DeliveryCounter {
    /// The count since the last call.
    fn take(&self) -> u32 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

impl Outbox for DeliveryCounter {
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        let sessions = u32::try_from(to.len()).unwrap_or(u32::MAX);
        black_box((to, delivery));
        self.0.fetch_add(sessions, Ordering::Relaxed);
    }

    /// As a gateway does: each event is there once for all its sessions.
    fn deliver_each(&self, to: &[(SessionHandle, usize)], deliveries: Vec<Delivery>) {
        let sessions = u32::try_from(to.len()).unwrap_or(u32::MAX);
        black_box((to, deliveries));
        self.0.fetch_add(sessions, Ordering::Relaxed);
    }
}

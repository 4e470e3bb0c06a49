//! The database writer's work for a message that is committed with others.

use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

use chat::{
    Append, Appended, ConversationId, MessageStore, Mode, Profile, ResumeFrom, SignInStore, Site, SiteId,
    SiteStore, Snapshot, Sub, UserId, UserRow,
};
use store::{Options, Sqlite, Synchronous};

use crate::token::{NOW, SITE, secret};

/// Messages of one group.
pub(crate) const GROUP: u32 = 64;

/// A group gathers while the writer is busy. The first message, which does not count, blocks the writer until the
/// others are queued.
pub(crate) fn append() -> Box<dyn FnMut()> {
    let writer = Writer::new();
    let mut number = 0;
    Box::new(move || {
        let (release, released) = channel::<()>();
        let (sender, answers) = channel();
        let mut next = || {
            number += 1;
            number
        };
        writer.append(next(), move || released.recv().expect("it is released"));
        // Waits only for the last message: a waiting thread spins a random number of times before it sleeps.
        (1..GROUP).for_each(|_| writer.append(next(), || ()));
        writer.append(next(), move || sender.send(()).expect("somebody waits"));
        release.send(()).expect("the writer waits");
        answers.recv().expect("it is answered");
    })
}

struct Writer {
    // Dropped before the folder.
    store: Option<Sqlite>,
    folder: PathBuf,
    users: [UserId; 2],
}

impl Writer {
    fn new() -> Writer {
        let folder = std::env::temp_dir().join(format!("kith-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary directory is writable");
        // Only the group decides when to commit, and neither the disk nor checkpoints of the log are measured: their
        // cost in one operation is random.
        let options = Options {
            interval: Duration::ZERO,
            gather: Duration::ZERO,
            synchronous: Synchronous::Normal,
            checkpoint_pages: 1 << 30,
            readers: 1,
            ..Options::default()
        };
        let store = Sqlite::open(&folder.join("kith.db"), options).expect("a new database");
        let site = Site {
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
        };
        let site = store.add_site(&site).expect("it can be written").expect("it is the first");
        let users = ["anna", "tom"].map(|sub| sign_in(&store, site, sub));
        Writer { store: Some(store), folder, users }
    }

    fn append(&self, number: u64, done: impl FnOnce() + Send + 'static) {
        let Writer { users: [anna, tom], .. } = self;
        let append = Append {
            kind: chat::MessageKind::Text,
            conversation: ConversationId::direct(*anna, *tom).expect("two users of one site"),
            from: *anna,
            client_id: format!("0193a5e0-7c1b-7d6e-9f3a-{number:012x}").into(),
            body: "x".repeat(100).into(),
            extension: None,
            time: NOW,
            reply_to: None,
            rich: None,
        };
        let done = move |outcome: Result<Appended, _>| {
            assert!(outcome.is_ok_and(|appended| !appended.repeated));
            done();
        };
        self.store.as_ref().expect("it is open").append(append, Box::new(done));
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(store) = self.store.take() {
            store.close();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn sign_in(store: &Sqlite, site: SiteId, sub: &str) -> UserId {
    let (sender, answers) = channel();
    let profile =
        Profile { sub: Sub::parse(sub).expect("it is one"), name: sub.into(), avatar: None, guest: false };
    let from = ResumeFrom { position: None, page: 1, contacts: 1, messages: 1, messages_per_conversation: 1 };
    let done = Box::new(move |outcome: Result<(UserRow, Snapshot), _>| {
        sender.send(outcome.expect("a new user").0.id).expect("somebody waits");
    });
    store.sign_in(site, profile.into(), from, NOW, Box::new(|_| true), done);
    answers.recv().expect("it is answered")
}

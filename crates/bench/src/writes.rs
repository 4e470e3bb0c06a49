//! The database writer's work for a message that is committed with others.

use std::sync::mpsc::channel;

use chat::{
    Append, Appended, ConversationId, MessageStore, Profile, ResumeFrom, SignInStore, SiteId, SiteStore,
    Snapshot, Sub, UserId, UserRow,
};
use store::Sqlite;

use crate::database::{Folder, database};
use crate::domain::site;
use crate::token::NOW;

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
    store: Sqlite,
    _folder: Folder,
    users: [UserId; 2],
}

impl Writer {
    fn new() -> Writer {
        let (store, folder) = database("append");
        let site = store.add_site(&site()).expect("it can be written").expect("it is the first");
        let users = ["anna", "tom"].map(|sub| sign_in(&store, site, sub));
        Writer { store, _folder: folder, users }
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
        self.store.append(append, Box::new(done));
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

//! The only place where tests call the requests of the store: each function waits for the answer.
#![allow(dead_code, reason = "each test file uses its part")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use chat::{
    Append, Appended, ConversationId, Done, Mode, Position, Profile, ResumeFrom, Secret, SecretKind, Seq,
    Site, SiteId, Snapshot, Store, StoreError, Sub, Timestamp, UserId, UserRow,
};

/// Long enough for a busy machine; a test that waits this long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// Sends a request and waits. A database in memory answers before the request returns, one on disk on its own threads.
pub(crate) fn try_ask<T: Send + 'static>(request: impl FnOnce(Done<T>)) -> Result<T, StoreError> {
    let (sender, wait) = mpsc::channel();
    request(Box::new(move |outcome| sender.send(outcome).expect("the test waits")));
    wait.recv_timeout(PATIENCE).expect("the store answers each request")
}

pub(crate) fn ask<T: Send + 'static>(request: impl FnOnce(Done<T>)) -> T {
    try_ask(request).expect("the store works")
}

pub(crate) fn sub(text: &str) -> Sub {
    Sub::parse(text).expect("a valid sub")
}

pub(crate) fn profile(id: &str, name: &str) -> Profile {
    Profile { sub: sub(id), name: name.into(), avatar: None, guest: false }
}

pub(crate) fn put(store: &dyn Store, site: SiteId, id: &str) -> UserId {
    put_named(store, site, id, id)
}

pub(crate) fn put_named(store: &dyn Store, site: SiteId, id: &str, name: &str) -> UserId {
    ask(|done| store.put_user(site, profile(id, name), NOW, done)).id
}

pub(crate) fn site(key: &str) -> Site {
    Site {
        id: SiteId(0),
        key: key.into(),
        name: format!("The {key} forum"),
        mode: Mode::Contacts,
        guests: true,
        origins: vec!["https://forum.example".into(), "*".into()],
        secrets: vec![secret(b"newest"), secret(b"older")],
        guest_keys: vec![],
        public_url: None,
        domain: None,
        settings: chat::Settings::default(),
        created: NOW,
    }
}

pub(crate) fn secret(bytes: &[u8]) -> Secret {
    Secret { expires: Some(NOW), ..Secret::new(SecretKind::EdDsa, bytes.into(), NOW) }
}

pub(crate) fn add_site(store: &dyn Store, key: &str) -> SiteId {
    store.add_site(&site(key)).expect("the store works").expect("the key is free")
}

pub(crate) fn direct(a: UserId, b: UserId) -> ConversationId {
    ConversationId::direct(a, b).expect("two users of one site")
}

pub(crate) fn message(from: UserId, to: UserId, client_id: &str, body: &str) -> Append {
    Append {
        kind: chat::MessageKind::Text,
        conversation: direct(from, to),
        from,
        client_id: client_id.into(),
        body: body.into(),
        extension: None,
        time: NOW,
        reply_to: None,
        rich: None,
    }
}

pub(crate) fn say(store: &dyn Store, from: UserId, to: UserId, client_id: &str, body: &str) -> Appended {
    ask(|done| store.append(message(from, to, client_id, body), done))
}

pub(crate) fn since(position: Option<Position>) -> ResumeFrom {
    ResumeFrom { position, page: 50, contacts: 50, messages: 100, messages_per_conversation: 20 }
}

pub(crate) fn snapshot(store: &dyn Store, user: UserId, position: Option<Position>) -> Snapshot {
    snapshot_from(store, user, since(position))
}

/// Checks that `changed_views` answers as the snapshot, if nothing was committed between the two.
pub(crate) fn snapshot_from(store: &dyn Store, user: UserId, from: ResumeFrom) -> Snapshot {
    let snapshot = ask(|done| store.snapshot(user, from, done));
    if let Some(seen) = from.position {
        let (changed, position) = changed_views(store, &[(user, seen)]);
        assert!(
            position != snapshot.position || changed[0] != snapshot.is_empty(),
            "{changed:?} {snapshot:?}"
        );
    }
    snapshot
}

pub(crate) fn changed_views(store: &dyn Store, views: &[(UserId, Position)]) -> (Vec<bool>, Position) {
    let answer = ask(|done| store.changed_views(views.to_vec(), done));
    assert_eq!(answer.0.len(), views.len());
    answer
}

pub(crate) fn sign_in(
    store: &dyn Store,
    site: SiteId,
    profile: Profile,
    from: ResumeFrom,
) -> (UserRow, Snapshot) {
    ask(|done| store.sign_in(site, profile.into(), from, NOW, Box::new(|_| true), done))
}

pub(crate) fn seqs(store: &dyn Store, conversation: ConversationId) -> Vec<Seq> {
    let [reader, _] = conversation.pair().expect("a direct one");
    let page = ask(|done| store.history(reader, conversation, None, None, u32::MAX, done));
    page.messages.iter().map(|message| message.seq).collect()
}

/// A directory of its own, removed with everything in it.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Directory {
        Directory::inside(&std::env::temp_dir())
    }

    /// A directory in memory, if the system has one, for tests that do not depend on the disk.
    pub(crate) fn quick() -> Directory {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Directory::inside(memory) } else { Directory::new() }
    }

    pub(crate) fn inside(parent: &Path) -> Directory {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("kith-store-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = parent.join(name);
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Directory(path)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("kith.db")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

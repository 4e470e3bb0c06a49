//! Rows of polls, threads, forwards, previews and stickers in SQLite: none for a plain message, and none left after the
//! removal of the site.

use crate::asking;

use asking::{Directory, NOW, add_site, ask, direct, message, put, say};
use chat::{
    Append, ChangeMessage, FileId, FileStore, FileType, MessageChange, MessageStore, NewPicture, NewPoll,
    NewPreview, NewRich, NewRoom, NewSticker, Picture, Post, RetentionStore, RoomKind, RoomLimits, RoomName,
    RoomStore, Seq, SiteStore, Sticker, StickerId, StickerStore, ThreadChange, ThreadStore, Timestamp, Trim,
    UserId,
};
use rusqlite::Connection;
use store::{Options, Sqlite};

const TABLES: [&str; 11] = [
    "poll",
    "poll_choice",
    "vote",
    "forward",
    "file_copy",
    "thread",
    "thread_reply",
    "thread_follow",
    "preview",
    "sticker",
    "message_sticker",
];

fn open(directory: &Directory) -> Sqlite {
    Sqlite::open(&directory.file(), Options::default()).expect("it opens")
}

fn change(store: &Sqlite, by: UserId, other: UserId, change: MessageChange) {
    let wanted = ChangeMessage { conversation: direct(by, other), seq: Seq(1), by, change, time: NOW };
    ask(|done| store.change_message(wanted, done)).expect("it may be changed");
}

fn room(store: &Sqlite, owner: UserId) -> RoomName {
    let new = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
    let limits = RoomLimits::default();
    let joined = ask(|done| store.create_room(owner, new, limits, NOW, done)).expect("it is allowed");
    RoomName::Id(joined.row.id)
}

fn post(store: &Sqlite, room: &RoomName, from: UserId, id: &str, thread: Option<u64>) {
    let rich = NewRich { thread: thread.map(Seq), ..NewRich::default() }.boxed();
    let post = Post {
        names_author: false,
        kind: chat::MessageKind::Text,
        room: room.clone(),
        from,
        client_id: id.into(),
        body: "hi".into(),
        extension: None,
        time: NOW,
        reply_to: None,
        files: Vec::new(),
        rich,
    };
    ask(|done| store.post(post, RoomLimits::default(), done)).expect("a member may");
}

#[test]
fn a_message_that_bears_nothing_writes_nothing_beside() {
    let directory = Directory::quick();
    let store = open(&directory);
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    let room = room(&store, ann);
    for number in 0..50 {
        say(&store, ann, bob, &format!("d{number}"), "hi");
        post(&store, &room, ann, &format!("r{number}"), None);
    }
    let db = Connection::open(directory.file()).expect("a file");
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number");
    for table in TABLES {
        assert_eq!(count(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
    assert_eq!(count("SELECT sum(rich) FROM message"), 0);
}

#[test]
fn everything_is_removed_with_the_site() {
    let directory = Directory::quick();
    let store = open(&directory);
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    let choices = ["a", "b"].map(Box::from).to_vec();
    let poll = NewPoll { choices, multiple: false, anonymous: false, ends: None };
    let rich = NewRich { poll: Some(poll), ..NewRich::default() }.boxed();
    let append = Append { rich, ..message(ann, bob, "p", "Where?") };
    ask(|done| store.append_with_files(append, Vec::new(), done)).expect("one may ask");
    change(&store, bob, ann, MessageChange::Vote(vec![1]));
    let room = room(&store, ann);
    post(&store, &room, ann, "r1", None);
    post(&store, &room, ann, "r2", Some(1));
    let sticker = Sticker {
        id: StickerId { site, number: 5 },
        series: "Hikers".into(),
        words: "Hello".into(),
        kind: FileType::named("image/png"),
        width: 1,
        height: 1,
    };
    let new = NewSticker { sticker: sticker.clone(), bytes: vec![1], added: NOW };
    assert!(ask(|done| store.add_sticker(new, done)));
    let rich = NewRich { sticker: Some(sticker), ..NewRich::default() }.boxed();
    let append = Append { rich, ..message(ann, bob, "s", "Hello") };
    ask(|done| store.append_with_files(append, Vec::new(), done)).expect("one may send it");
    let RoomName::Id(id) = room else { panic!("it was made by hand") };
    let none = ThreadChange::default();
    assert!(ask(|done| store.change_thread(ann, id, Seq(1), none, done)).expect("she may").read.is_some());
    let db = Connection::open(directory.file()).expect("a file");
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number");
    let rows = || TABLES.iter().map(|table| count(&format!("SELECT count(*) FROM {table}"))).sum::<i64>();
    assert_eq!(
        rows(),
        9,
        "a poll of two choices, a vote; a thread, a reply, who follows it; a sticker, sent once"
    );
    assert!(store.remove_site(site).expect("the store works"));
    assert_eq!(rows(), 0);
}

#[test]
fn the_picture_of_a_preview_is_a_file_of_the_message() {
    let directory = Directory::quick();
    let store = open(&directory);
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    say(&store, ann, bob, "1", "https://example.org/");
    let id = FileId { site, number: 7 };
    let found = || {
        let picture = Picture { width: 4, height: 3, blurhash: "x".into(), has_thumbnail: false };
        let picture = NewPicture { id, kind: FileType::named("image/png"), bytes: 40, picture };
        let [url, title, description, name] = ["https://example.org/", "Title", "", ""].map(Box::from);
        let new = NewPreview { url, title, description, site: name, picture: Some(picture) };
        MessageChange::Preview(Some(Box::new(new)))
    };
    change(&store, ann, bob, found());
    let db = Connection::open(directory.file()).expect("a file");
    let kept = || {
        let sql = "SELECT bytes FROM file_bytes WHERE user = ?1";
        db.query_row(sql, [ann.num], |row| row.get::<_, i64>(0)).expect("it is counted")
    };
    assert_eq!(kept(), 40);
    let seen = ask(|done| store.message(bob, direct(ann, bob), Seq(1), done)).expect("he may read it");
    assert!(seen.files.is_empty(), "it is not shown as a file");
    let preview = seen.rich.and_then(|rich| rich.preview).expect("it has one");
    assert_eq!(preview.picture.map(|picture| picture.id), Some(id));
    assert!(ask(|done| store.file(id, done)).is_some_and(|row| row.is_posted));
    change(&store, ann, bob, MessageChange::Preview(None));
    assert_eq!(kept(), 0);
    assert_eq!(
        store.stale_files(NOW, NOW, NOW, 9).expect("the store works"),
        [id],
        "its bytes go by the sweep"
    );
}

#[test]
fn what_is_too_old_takes_its_preview_and_its_sticker_along() {
    let directory = Directory::quick();
    let store = open(&directory);
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    say(&store, ann, bob, "1", "https://example.org/");
    let id = FileId { site, number: 7 };
    let picture = Picture { width: 4, height: 3, blurhash: "x".into(), has_thumbnail: false };
    let picture = NewPicture { id, kind: FileType::named("image/png"), bytes: 40, picture };
    let [url, title, description, name] = ["https://example.org/", "Title", "", ""].map(Box::from);
    let new = NewPreview { url, title, description, site: name, picture: Some(picture) };
    change(&store, ann, bob, MessageChange::Preview(Some(Box::new(new))));
    let sticker = Sticker {
        id: StickerId { site, number: 5 },
        series: "Hikers".into(),
        words: "Hello".into(),
        kind: FileType::named("image/png"),
        width: 1,
        height: 1,
    };
    let rich = NewRich { sticker: Some(sticker), ..NewRich::default() }.boxed();
    let append = Append { rich, ..message(ann, bob, "s", "Hello") };
    ask(|done| store.append_with_files(append, Vec::new(), done)).expect("one may send it");
    let old = Trim { before: Some(Timestamp(NOW.0 + 1)), rooms: Vec::new() };
    assert_eq!(ask(|done| store.trim(site, None, old, 9, done)).removed, 2);
    let db = Connection::open(directory.file()).expect("a file");
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number");
    for table in ["preview", "message_sticker", "message"] {
        assert_eq!(count(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
    assert_eq!(count("SELECT bytes FROM file_bytes"), 0, "they count for nobody any more");
    assert_eq!(
        store.stale_files(NOW, NOW, NOW, 9).expect("the store works"),
        [id],
        "its bytes go by the sweep"
    );
}

//! Message changes in SQLite: the users that a reaction shows, the cost of an unchanged message, and the rest after a
//! removal.

use crate::asking;

use asking::{Directory, NOW, add_site, ask, direct, put, say, site};
use chat::{
    ChangeMessage, LinkCode, LinkStore, MessageChange, MessageStore, NAMED, NewLink, NewRoom, Post, Reaction,
    RoomKind, RoomLimits, RoomName, RoomStore, Seq, SiteId, SiteStore, Timestamp, UserId,
};
use rusqlite::Connection;
use store::{Options, Sqlite};

fn open(directory: &Directory) -> Sqlite {
    Sqlite::open(&directory.file(), Options::default()).expect("it opens")
}

fn change(store: &Sqlite, by: UserId, other: UserId, change: MessageChange) {
    let conversation = direct(by, other);
    let wanted = ChangeMessage { conversation, seq: Seq(1), by, change, time: NOW };
    ask(|done| store.change_message(wanted, done)).expect("it may be changed");
}

fn thumb() -> MessageChange {
    MessageChange::React { reaction: Reaction::parse("👍").expect("a reaction"), on: true }
}

/// Only rooms have many reactions to one message; these are rows of rooms.
#[test]
fn of_many_users_the_first_are_named_and_oneself_is_known_beyond() {
    let directory = Directory::quick();
    let store = open(&directory);
    let site = add_site(&store, "forum");
    let users: Vec<UserId> = (0..30).map(|number| put(&store, site, &format!("u{number:02}"))).collect();
    say(&store, users[0], users[1], "1", "hi");
    change(&store, users[0], users[1], thumb());
    let db = Connection::open(directory.file()).expect("a file");
    for user in &users[1..] {
        db.execute(
            "INSERT INTO reaction SELECT site, message, ?1, reaction, position + ?1 FROM reaction WHERE user = ?2",
            [user.num, users[0].num],
        )
        .expect("a row");
    }
    db.execute("UPDATE reaction_count SET count = 30", []).expect("rows");
    let of = |reader: UserId| {
        let id = direct(users[0], users[1]);
        let page = ask(|done| store.history(reader, id, None, None, 9, done));
        let [reactions] = &page.messages[0].reactions[..] else { panic!("one reaction") };
        assert_eq!((reactions.count, reactions.users.len()), (30, NAMED));
        assert!(reactions.users.iter().map(|user| user.as_str()).eq((0..20).map(|n| format!("u{n:02}"))));
        reactions.mine
    };
    assert!(of(users[0]) && of(users[25]));
    assert!(!of(UserId { num: 99, ..users[0] }));
}

#[test]
fn an_unchanged_message_keeps_its_row_and_has_no_other() {
    let directory = Directory::quick();
    let store = open(&directory);
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    for number in 0..100 {
        say(&store, ann, bob, &number.to_string(), "hi");
    }
    let db = Connection::open(directory.file()).expect("a file");
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number");
    for table in ["message_change", "message_revision", "reaction", "reaction_count"] {
        assert_eq!(count(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
    assert_eq!(count("SELECT sum(changed) FROM message"), 0);
    change(&store, ann, bob, MessageChange::edit("hello"));
    change(&store, bob, ann, thumb());
    for (table, rows) in
        [("message_change", 1), ("message_revision", 1), ("reaction", 1), ("reaction_count", 1)]
    {
        assert_eq!(count(&format!("SELECT count(*) FROM {table}")), rows, "{table}: the newest change only");
    }
}

/// With a member who is mentioned.
fn write_in_a_room(store: &Sqlite, ann: UserId, bob: UserId) {
    let limits = RoomLimits::default();
    let room = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
    let room = ask(|done| store.create_room(ann, room, limits, NOW, done)).expect("she may").row.id;
    assert!(ask(|done| store.join_room(RoomName::Id(room), bob, limits, NOW, done)).is_ok());
    let link = NewLink { code: LinkCode::of([7; 16]), until: Timestamp(NOW.0 + 1), uses: None };
    assert!(ask(|done| store.make_link(room, ann, link, NOW, done)).is_ok());
    let (room, client_id, body) = (RoomName::Id(room), "in a room".into(), "@bob @room".into());
    let post = Post {
        names_author: false,
        kind: chat::MessageKind::Text,
        room,
        from: ann,
        client_id,
        body,
        extension: None,
        time: NOW,
        reply_to: None,
        files: Vec::new(),
        rich: None,
    };
    assert!(ask(|done| store.post(post, limits, done)).is_ok());
}

/// Covers every table, also later ones.
#[test]
fn a_removed_site_leaves_no_row_in_any_table() {
    let directory = Directory::quick();
    let store = open(&directory);
    for key in ["gone", "kept"] {
        let site = store.add_site(&site(key)).expect("the store works").expect("the key is free");
        let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
        for number in 0..40 {
            say(&store, ann, bob, &number.to_string(), "hi");
        }
        change(&store, ann, bob, MessageChange::edit("hello"));
        change(&store, bob, ann, thumb());
        write_in_a_room(&store, ann, bob);
    }
    let words = |site: u32| {
        let db = Connection::open(directory.file()).expect("a file");
        let sql = "SELECT count(*) FROM message_text WHERE message_text MATCH ?1";
        db.query_row(sql, [format!("who : u{site}x1")], |row| row.get::<_, i64>(0)).expect("a number")
    };
    let begin = std::time::Instant::now();
    while words(1) + words(2) < 80 {
        assert!(begin.elapsed() < asking::PATIENCE, "words are indexed behind the writer");
        std::thread::yield_now();
    }
    assert_eq!(store.remove_site(SiteId(1)), Ok(true));
    assert_eq!((words(1), words(2)), (0, 40));
    let db = Connection::open(directory.file()).expect("a file");
    let sql = "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c \
               WHERE m.type = 'table' AND c.name = 'site' AND m.name <> 'removed_site'";
    let mut statement = db.prepare(sql).expect("a query");
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0)).and_then(Iterator::collect).expect("names");
    assert!(tables.iter().any(|table| table == "mention") && tables.len() > 11, "{tables:?}");
    let mut kept = 0;
    for table in tables {
        let rows = |site: u32| {
            let sql = format!("SELECT count(*) FROM {table} WHERE site = ?1");
            db.query_row(&sql, [site], |row| row.get::<_, i64>(0)).expect("a number")
        };
        assert_eq!(rows(1), 0, "{table}");
        kept += rows(2);
    }
    assert!(kept > 40);
}

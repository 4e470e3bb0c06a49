//! Opening: modes, migrations from every older version, and errors that name a remedy.

use crate::asking;

use std::path::Path;
use std::process::Command;

use asking::{Directory, add_site, ask, put, put_named, say, seqs, sub};
use chat::{
    AppPasswordStore, By, ChangeMessage, ContactStore, ConversationId, ConversationOf, LinkCode, LinkStore,
    MemberAction, MessageChange, MessageKind, MessageStore, ModerationStore, ModeratorAct, NewAppPassword,
    NewLink, NewRoom, Position, Relation, Role, RoomKind, RoomLimits, RoomName, RoomStore, ScramKeys,
    ScramPair, Seq, Side, SiteId, SiteStore, StoredKeys, Timestamp, UserId, UserStore,
};
use rusqlite::Connection;
use store::{OpenError, Options, Sqlite};

const FIRST: &str = include_str!("../migrations/sqlite/0001_first_conversation.sql");
const SECOND: &str = include_str!("../migrations/sqlite/0002_contact_cards.sql");
const OLD_MUTES: &str = include_str!("../migrations/sqlite/0029_mutes_outlast_leaving.sql");
/// Undoes the migrations from version 44 on.
const BEFORE_VERSION_44: &str = "DROP TRIGGER contact_added;
    DROP TRIGGER contact_updated;
    DROP TRIGGER contact_removed;
    DROP TABLE contact_list;
    DELETE FROM meta WHERE name = 'viewed';
    DROP TABLE own_picture;
    DROP TABLE push_app;
    DROP INDEX room_alias;
    ALTER TABLE room DROP COLUMN alias;
    ALTER TABLE room DROP COLUMN nicknames;
    ALTER TABLE contact DROP COLUMN own_name;
    ALTER TABLE contact DROP COLUMN own_groups;
    PRAGMA user_version = 43;";
/// Undoes the migrations from version 40 on.
const BEFORE_VERSION_40: &str = "DROP TABLE item;
    DROP TABLE item_list;
    DROP TABLE item_bytes;
    DROP TABLE app_token;
    DROP INDEX file_open;
    DROP INDEX membership_nick;
    ALTER TABLE membership DROP COLUMN nick_folded;
    ALTER TABLE membership DROP COLUMN nick;
    PRAGMA user_version = 39;";
/// Undoes the migration to version 39.
const BEFORE_VERSION_39: &str = "DROP TABLE app_password;
    DROP TABLE salt_key;
    DROP TABLE ended_app_password;
    ALTER TABLE site DROP COLUMN domain;
    PRAGMA user_version = 38;";
const APPLICATION_ID: i32 = 0x4b69_7468;

fn open(path: &Path) -> Result<Sqlite, OpenError> {
    Sqlite::open(path, Options::default())
}

fn refused(path: &Path) -> OpenError {
    open(path).err().expect("it does not open")
}

#[cfg(unix)]
#[test]
fn the_file_and_its_directory_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let directory = Directory::quick();
    let inside = directory.path().join("new").join("deep");
    let store = open(&inside.join("kith.db")).expect("it opens");
    add_site(&store, "forum");
    let mode = |path: &Path| std::fs::metadata(path).expect("it exists").permissions().mode() & 0o777;
    assert_eq!(mode(&inside), 0o700);
    for file in ["kith.db", "kith.db-wal", "kith.db-shm"] {
        assert_eq!(mode(&inside.join(file)), 0o600, "{file}");
    }
    store.close();
    assert!(!inside.join("kith.db-wal").exists(), "closing leaves one file");
}

#[test]
fn the_epoch_is_of_the_database_and_positions_go_on() {
    let position = |path: &Path| -> Position {
        let store = open(path).expect("it opens");
        let site = store
            .sites()
            .expect("it works")
            .first()
            .map_or_else(|| add_site(&store, "forum"), |site| site.id);
        put(&store, site, &format!("u{}", store.list_users(site, None, 99).expect("it works").len()));
        asking::snapshot(&store, UserId { site, num: 1 }, None).position
    };
    let (one, other) = (Directory::quick(), Directory::quick());
    let first = position(&one.file());
    let second = position(&one.file());
    assert_eq!(second, Position { number: first.number + 1, ..first });
    assert_ne!(position(&other.file()).epoch, first.epoch);
}

/// A database with schema version 1.
fn write_version_1(path: &Path) {
    let db = Connection::open(path).expect("a file");
    db.execute_batch(FIRST).expect("the first schema");
    db.pragma_update(None, "application_id", APPLICATION_ID).expect("a pragma");
    db.pragma_update(None, "user_version", 1).expect("a pragma");
    db.execute_batch(
        "INSERT INTO meta VALUES ('epoch', 7);
         UPDATE meta SET value = 4 WHERE name = 'position';
         UPDATE meta SET value = 2 WHERE name = 'next_site';
         INSERT INTO site VALUES (1, 'old', 'An old forum', 1, 1, 'https://old.example', 5);
         INSERT INTO secret VALUES (1, 1, 0, x'0102', 5, NULL);
         INSERT INTO user VALUES (1, 'ann', 1, 'Ann', 'ann', NULL, 0, 2, 1, 5, 6);
         INSERT INTO user VALUES (1, 'bob', 2, 'Bob', 'bob', NULL, 0, 0, 0, 5, 6);
         INSERT INTO message VALUES (3, 1, (1 << 32) + 2, 1, 0, 1, 0, 9, NULL, 'a', 'first');
         INSERT INTO message VALUES (4, 1, (1 << 32) + 2, 2, 3, 2, 0, 9, 1, 'b', 'second');
         INSERT INTO conversation VALUES (1, (1 << 32) + 2, 2, 4, 9, 1, 1, 0, 0, 0, 0, 4, 2, 2, 0, 0, 1, 0, 4);
         INSERT INTO contact VALUES (1, 1, 2, 4, 3, 'bob', 'bob');",
    )
    .expect("rows");
}

#[test]
fn a_database_of_version_1_opens_with_everything_in_it() {
    let directory = Directory::quick();
    write_version_1(&directory.file());
    let store = open(&directory.file()).expect("it opens");
    let sites = store.sites().expect("it works");
    assert_eq!((&*sites[0].key, sites[0].secrets[0].bytes.as_slice()), ("old", &[1, 2][..]));
    let user = |num| UserId { site: SiteId(1), num };
    let ann = ask(|done| store.user(SiteId(1), sub("ann"), done)).expect("it exists");
    assert!(ann.id == user(1) && ann.banned);
    let id = ConversationId::direct(user(1), user(2)).expect("two users");
    let row = ask(|done| store.conversation(user(1), id, done)).expect("it exists");
    assert_eq!((row.unread, &*row.last.expect("a message").body), (1, "second"));
    let bobs = ask(|done| store.conversation(user(2), id, done)).expect("it exists");
    assert_eq!((row.pinned, bobs.pinned), (false, true));
    assert_eq!(
        (bobs.marked_unread, bobs.draft),
        (false, None),
        "what was a yes or no is one of several marks"
    );
    assert!(say(&store, user(1), user(2), "a", "again").repeated, "ids not in the index yet");
    let next = say(&store, user(1), user(2), "c", "third");
    assert_eq!((next.seq, next.position), (Seq(3), Position { epoch: 7, number: 5 }));
    assert_eq!(seqs(&store, id), [Seq(1), Seq(2), Seq(3)]);
    put_named(&store, SiteId(1), "bob", "Bobby");
    let contacts = ask(|done| store.contacts(user(1), None, 9, done)).rows;
    let contact = contacts.get(0).expect("one");
    assert_eq!((contact.name, contact.side), ("Bobby", Side::BLOCKED));
    assert!(ask(|done| store.contacts(user(2), None, 9, done)).rows.is_empty(), "a mirror is not shown");
}

/// Undoes the migrations from version 38 on.
const BEFORE_VERSION_38: &str =
    "ALTER TABLE message DROP COLUMN extension; ALTER TABLE held_message DROP COLUMN extension;";

/// Version 35 recognised entries of calls by their client ids. Those of older messages are in an index, those of the
/// newest are not.
#[test]
fn calls_of_version_35_are_calls_by_their_kind() {
    let directory = Directory::quick();
    write_version_1(&directory.file());
    drop(open(&directory.file()).expect("it opens"));
    let db = Connection::open(directory.file()).expect("a file");
    db.execute_batch(BEFORE_VERSION_44).expect("as before directions");
    db.execute_batch(BEFORE_VERSION_40).expect("as before nicknames");
    db.execute_batch(BEFORE_VERSION_39).expect("as before app passwords");
    db.execute_batch(BEFORE_VERSION_38).expect("as before");
    db.execute_batch(
        "DROP TABLE counter;
         ALTER TABLE room_link DROP COLUMN number;
         ALTER TABLE sticker DROP COLUMN number;
         ALTER TABLE message DROP COLUMN kind;
         PRAGMA user_version = 35;
         INSERT INTO message (position, site, conversation, seq, previous, sender, mention, time, client_id, body)
         VALUES (5, 1, (1 << 32) + 2, 3, 4, 2, 0, 9, 'call:000000000000feed:audio:missed:0', 'Audio call, missed'),
                (6, 1, (1 << 32) + 2, 4, 5, 1, 0, 9, 'calls', 'words'),
                (7, 1, (1 << 32) + 2, 5, 6, 1, 0, 9, 'call:000000000000beef:audio:missed:0', 'Audio call, missed');
         INSERT INTO sent VALUES (1, 1, 'a', 3), (1, 2, 'b', 4), (1, 1, 'calls', 6),
                (1, 2, 'call:000000000000feed:audio:missed:0', 5);
         INSERT OR REPLACE INTO meta VALUES ('sent_indexed', 6), ('position', 7);
         UPDATE conversation SET seq = 5, position = 7;",
    )
    .expect("rows as before the column");
    drop(db);
    let store = open(&directory.file()).expect("it opens");
    let user = |num| UserId { site: SiteId(1), num };
    let id = ConversationId::direct(user(1), user(2)).expect("two users");
    let page = ask(|done| store.history(user(1), id, None, None, 9, done)).messages;
    let kinds: Vec<_> = page.iter().map(|message| message.kind).collect();
    use MessageKind::{Call, Text};
    assert_eq!(kinds, [Text, Text, Call, Text, Call]);
}

#[test]
fn members_of_version_38_can_make_app_passwords() {
    let directory = Directory::quick();
    write_version_1(&directory.file());
    drop(open(&directory.file()).expect("it opens"));
    let db = Connection::open(directory.file()).expect("a file");
    db.execute_batch(BEFORE_VERSION_44).expect("as before directions");
    db.execute_batch(BEFORE_VERSION_40).expect("as before nicknames");
    db.execute_batch(BEFORE_VERSION_39).expect("as before app passwords");
    drop(db);
    let store = open(&directory.file()).expect("it opens");
    let site = store.sites().expect("it works").remove(0);
    assert_eq!((&site.domain, site.domain()), (&None, Some("old")));
    let bob = UserId { site: SiteId(1), num: 2 };
    let pair = ScramPair { stored: [1; 20], server: [2; 20] };
    let scram = ScramKeys { sha1: pair, sha256: ScramPair { stored: [3; 32], server: [4; 32] } };
    let keys = StoredKeys { iterations: chat::ITERATIONS, scram, verifier: None };
    let new = NewAppPassword { name: "Phone".into(), keys, time: asking::NOW };
    let row = ask(|done| store.add_app_password(bob, new, By::User(bob), done)).expect("he may");
    assert_eq!(ask(|done| store.app_passwords(bob, done)), [row]);
}

/// Until version 43 a relation was one of five states.
#[test]
fn requests_of_version_43_ask_for_one_direction_and_approve_the_other() {
    let directory = Directory::quick();
    write_version_1(&directory.file());
    let store = open(&directory.file()).expect("it opens");
    let [cat, dan] = ["cat", "dan"].map(|name| put(&store, SiteId(1), name));
    let bob = UserId { site: SiteId(1), num: 2 };
    for (a, b) in [(bob, cat), (bob, dan)] {
        let listed = Relation { of_a: Side::LISTED, of_b: Side::LISTED };
        ask(|done| store.put_relation(a, b, listed, 9, asking::NOW, done));
    }
    drop(store);
    let db = Connection::open(directory.file()).expect("a file");
    db.execute_batch(BEFORE_VERSION_44).expect("as before directions");
    db.execute_batch(&format!(
        "UPDATE contact SET state = 1 WHERE user = 2 AND other = {cat};
         UPDATE contact SET state = 2 WHERE user = {cat} AND other = 2;
         UPDATE contact SET state = 3 WHERE {dan} IN (user, other);",
        cat = cat.num,
        dan = dan.num,
    ))
    .expect("rows of that version");
    drop(db);
    let store = open(&directory.file()).expect("it opens");
    let relation = |a, b| ask(|done| store.relation(a, b, done));
    assert_eq!(relation(bob, cat), Relation { of_a: Side::REQUESTED, of_b: Side::ASKS });
    assert_eq!(relation(dan, bob), Relation::CONTACTS);
    let ann = UserId { site: SiteId(1), num: 1 };
    assert_eq!(relation(ann, bob).of_a, Side::BLOCKED);
}

#[test]
fn messages_of_version_2_can_change() {
    let directory = Directory::quick();
    write_version_1(&directory.file());
    let db = Connection::open(directory.file()).expect("a file");
    db.execute_batch(SECOND)
        .and_then(|()| db.pragma_update(None, "user_version", 2))
        .expect("the second schema");
    drop(db);
    let store = open(&directory.file()).expect("it opens");
    let user = |num| UserId { site: SiteId(1), num };
    let id = ConversationId::direct(user(1), user(2)).expect("two users");
    let before = asking::snapshot(&store, user(2), None).position;
    let wanted = ChangeMessage {
        conversation: id,
        seq: Seq(1),
        by: user(1),
        change: MessageChange::edit("the very first"),
        time: asking::NOW,
    };
    let changed = ask(|done| store.change_message(wanted, done)).expect("it is hers");
    assert_eq!(changed.position.number, before.number + 1);
    let page = ask(|done| store.history(user(2), id, None, None, 9, done)).messages;
    let bodies: Vec<_> = page.iter().map(|one| (&*one.body, one.version)).collect();
    assert_eq!(bodies, [("the very first", changed.position.number), ("second", 0)]);
    assert_eq!(asking::snapshot(&store, user(2), Some(before)).updates, [changed.message]);
}

/// The process that the test below kills during a migration.
#[test]
fn migrates_until_killed() {
    let Some(path) = std::env::var_os("KITH_STORE_TEST_HALF") else { return };
    let db = Connection::open(path).expect("a file");
    db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA cache_size = 1; BEGIN IMMEDIATE;").expect("pragmas");
    let half = FIRST.find("CREATE TABLE conversation").expect("a statement of it");
    db.execute_batch(&FIRST[..half]).expect("half a schema");
    std::process::abort();
}

#[test]
fn a_migration_that_was_killed_is_done_again() {
    let directory = Directory::quick();
    let half = Command::new(std::env::current_exe().expect("a test has a file"))
        .args(["--exact", "opening::migrates_until_killed"])
        .env("KITH_STORE_TEST_HALF", directory.file())
        .output()
        .expect("a process starts");
    assert!(!half.status.success());
    let store = open(&directory.file()).expect("it opens");
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    assert_eq!(say(&store, ann, bob, "1", "x").seq, Seq(1));
}

#[test]
fn an_older_schema_is_refused_if_another_process_may_use_it() {
    let directory = Directory::quick();
    open(&directory.file()).expect("it opens").close();
    let db = Connection::open(directory.file()).expect("a file");
    let newest: u32 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("a number");
    db.pragma_update(None, "user_version", newest - 1).expect("a pragma");
    let options = Options { migrate: false, ..Options::default() };
    let error = Sqlite::open(&directory.file(), options).err().expect("it is refused");
    assert!(
        matches!(error, OpenError::Older { found, known, .. } if (found, known) == (newest - 1, newest)),
        "{error}"
    );
    let left: u32 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("a number");
    assert_eq!(left, newest - 1);
}

#[test]
fn a_newer_database_is_refused_and_left_as_it_is() {
    let directory = Directory::quick();
    open(&directory.file()).expect("it opens").close();
    let db = Connection::open(directory.file()).expect("a file");
    db.pragma_update(None, "user_version", 99).expect("a pragma");
    drop(db);
    let before = std::fs::read(directory.file()).expect("a file");
    let error = refused(&directory.file());
    assert!(matches!(error, OpenError::Newer { found: 99, .. }), "{error}");
    assert!(error.to_string().contains("newer kith"), "{error}");
    assert_eq!(std::fs::read(directory.file()).expect("a file"), before);
}

#[test]
fn a_database_of_another_program_is_refused_and_unchanged() {
    let directory = Directory::quick();
    let notes = directory.path().join("notes.db");
    Connection::open(&notes).and_then(|db| db.execute_batch("CREATE TABLE note (text)")).expect("a database");
    let text = directory.path().join("text.db");
    std::fs::write(&text, "Dear diary, ".repeat(1_000)).expect("a file");
    for file in [notes, text] {
        let before = std::fs::read(&file).expect("a file");
        let error = refused(&file);
        assert!(matches!(error, OpenError::NotOurs { .. }), "{error}");
        assert!(error.to_string().contains("Name another file"), "{error}");
        assert_eq!(std::fs::read(&file).expect("a file"), before);
    }
}

#[test]
fn a_damaged_file_gives_an_error_with_a_remedy() {
    let directory = Directory::quick();
    let store = open(&directory.file()).expect("it opens");
    let site = add_site(&store, "forum");
    (0..200).for_each(|number| _ = put(&store, site, &number.to_string()));
    store.close();
    let mut bytes = std::fs::read(directory.file()).expect("a file");
    bytes[4096..].fill(0xa5); // all but the first page
    std::fs::write(directory.file(), bytes).expect("a file");
    let error = refused(&directory.file());
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("restore a backup"), "{error}");
}

#[test]
fn a_place_that_cannot_be_written_to_says_so() {
    let directory = Directory::quick();
    let file = directory.path().join("a-file");
    std::fs::write(&file, "").expect("a file");
    let error = refused(&file.join("kith.db"));
    assert!(matches!(error, OpenError::Create { .. }), "{error}");
    assert!(error.to_string().contains("right to write"), "{error}");
}

#[test]
fn a_copy_is_put_back_under_another_epoch_and_never_under_a_database_in_use() {
    let (directory, elsewhere) = (Directory::quick(), Directory::quick());
    let copy = elsewhere.file();
    let store = open(&directory.file()).expect("it opens");
    let site = add_site(&store, "forum");
    put(&store, site, "ann");
    let position = |store: &Sqlite| asking::snapshot(store, UserId { site, num: 1 }, None).position;
    let before = position(&store);
    store::backup(&directory.file(), &copy).expect("while it is in use");
    put(&store, site, "bob");
    assert!(matches!(store::restore(&copy, &directory.file()), Err(OpenError::Busy { .. })));
    assert_eq!(store.list_users(site, None, 9).expect("it works").len(), 2, "nothing has happened");
    store.close();

    let replaced = store::restore(&copy, &directory.file()).expect("it is free").expect("there was one");
    let store = open(&directory.file()).expect("it opens");
    assert_eq!(store.list_users(site, None, 9).expect("it works").len(), 1);
    let after = position(&store);
    assert!(after.number == before.number && after.epoch != before.epoch, "{before:?} {after:?}");
    assert_eq!(open(&replaced).expect("it opens").list_users(site, None, 9).expect("it works").len(), 2);
}

/// Copies the database with its log, as they are after a crash.
fn after_a_crash(from: &Path, to: &Path) {
    for end in ["", "-wal"] {
        let name = |path: &Path| format!("{}{end}", path.display());
        std::fs::copy(name(from), name(to)).expect("both are there");
    }
}

#[test]
fn a_log_that_ends_in_damage_begins_a_new_epoch() {
    let directory = Directory::quick();
    let store = open(&directory.file()).expect("it opens");
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    (0..20).for_each(|number| _ = say(&store, ann, bob, &format!("{number}"), "hello"));
    let before = asking::snapshot(&store, ann, None).position;
    type Harm = fn(&mut Vec<u8>);
    let table: [(&str, bool, Harm); 6] = [
        ("whole", false, |_| {}),
        ("a bit of the last frame", true, |log| *log.last_mut().expect("a log") ^= 1),
        ("a bit in the middle", true, |log| {
            let middle = log.len() / 2;
            log[middle] ^= 1;
        }),
        ("the header", true, |log| log[4] ^= 1),
        ("cut in a frame", true, |log| log.truncate(log.len() - 100)),
        ("nothing but a piece of the header", true, |log| log.truncate(20)),
    ];
    for (what, is_damage, harm) in table {
        let elsewhere = Directory::quick();
        after_a_crash(&directory.file(), &elsewhere.file());
        let log = elsewhere
            .file()
            .with_file_name(format!("{}-wal", elsewhere.file().file_name().expect("a name").display()));
        let mut bytes = std::fs::read(&log).expect("a log");
        harm(&mut bytes);
        std::fs::write(&log, bytes).expect("a file");
        let positions = [1, 2].map(|_| {
            let store = open(&elsewhere.file()).expect("it opens");
            asking::snapshot(&store, ann, Some(before))
        });
        let [first, again] = positions;
        assert_eq!(first.position.epoch != before.epoch, is_damage, "{what}");
        assert_eq!(first.reset, is_damage, "{what}");
        assert_eq!(first.position.epoch, again.position.epoch, "{what}: once");
    }
}

/// A mute from a version that stored no sanction for it.
#[test]
fn an_old_mute_outlasts_leaving() {
    let directory = Directory::quick();
    let limits = RoomLimits::default();
    let store = open(&directory.file()).expect("it opens");
    let site = add_site(&store, "forum");
    let [ann, bob] = ["ann", "bob"].map(|name| put(&store, site, name));
    let new = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
    let room =
        ask(|done| store.create_room(ann, new, limits, asking::NOW, done)).expect("anybody may").row.id;
    let join = |store: &Sqlite| {
        let name = RoomName::Id(room);
        match ask(|done| store.join_room(name, bob, limits, asking::NOW, done)).expect("it is public").row.of
        {
            ConversationOf::Room { role, .. } => role,
            ConversationOf::Direct(_) => panic!("no room"),
        }
    };
    assert_eq!(join(&store), Role::Member);
    let mute = MemberAction::SetRole(Role::Muted);
    ask(|done| store.change_member(room, ann, bob, mute, limits, asking::NOW, done)).expect("it is hers");
    store.close();
    let db = Connection::open(directory.file()).expect("a database");
    db.execute_batch("DELETE FROM sanction")
        .and_then(|()| db.execute_batch(OLD_MUTES))
        .expect("the migration");
    drop(db);
    let store = open(&directory.file()).expect("it opens");
    ask(|done| store.leave_room(room, bob, done)).expect("a member leaves");
    assert_eq!(join(&store), Role::Muted);
    assert_eq!(ask(|done| store.notices(bob, done)), [], "nothing new is told of it");
}

/// Old versions used the greatest number of a table and one more; now numbers are counted.
#[test]
fn numbers_of_version_36_go_on() {
    let directory = Directory::quick();
    let limits = RoomLimits::default();
    let make = |store: &Sqlite, owner: UserId| {
        let new = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
        ask(|done| store.create_room(owner, new, limits, asking::NOW, done)).expect("anybody may").row.id
    };
    let link = |store: &Sqlite, room: ConversationId, by: UserId, code: u8| {
        let new = NewLink { code: LinkCode::of([code; 16]), until: Timestamp(u64::MAX >> 1), uses: None };
        ask(|done| store.make_link(room, by, new, asking::NOW, done)).expect("an owner may");
    };
    let kick = |store: &Sqlite, user: UserId| {
        let act = ModeratorAct::Kick(user);
        ask(|done| store.moderate(user.site, By::Site, act, asking::NOW, done)).expect("the site may");
        let page = ask(|done| store.audit(user.site, By::Site, None, 9, done)).expect("the site may");
        page.rows.iter().map(|entry| entry.number).collect::<Vec<_>>()
    };
    let store = open(&directory.file()).expect("it opens");
    let (forum, other) = (add_site(&store, "forum"), add_site(&store, "other"));
    let [ann, _bob] = ["ann", "bob"].map(|name| put(&store, forum, name));
    put(&store, other, "ann");
    let rooms = [make(&store, ann), make(&store, ann)];
    link(&store, rooms[0], ann, 9);
    link(&store, rooms[0], ann, 1);
    assert_eq!(kick(&store, ann), [1]);
    store.close();
    let db = Connection::open(directory.file()).expect("a database");
    db.execute_batch(BEFORE_VERSION_44).expect("as before directions");
    db.execute_batch(BEFORE_VERSION_40).expect("as before nicknames");
    db.execute_batch(BEFORE_VERSION_39).expect("as before app passwords");
    db.execute_batch(BEFORE_VERSION_38).expect("as before");
    db.execute_batch(
        "DROP TABLE counter;
         ALTER TABLE room_link DROP COLUMN number;
         ALTER TABLE sticker DROP COLUMN number;
         PRAGMA user_version = 36;",
    )
    .expect("as before the counters");
    drop(db);
    let store = open(&directory.file()).expect("it opens");
    assert_eq!(put(&store, forum, "carl"), UserId { site: forum, num: 3 });
    assert_eq!(put(&store, other, "bob"), UserId { site: other, num: 2 });
    assert_eq!(make(&store, ann), ConversationId::room(forum, 3));
    assert_eq!(kick(&store, ann), [2, 1]);
    link(&store, rooms[0], ann, 5);
    let links = ask(|done| store.links(rooms[0], ann, asking::NOW, done)).expect("an owner may");
    let codes: Vec<u8> = links.iter().map(|link| link.code.bytes()[0]).collect();
    assert_eq!(codes, [5, 1, 9], "newest first");
    // Shows the site with its newest key first, as the owner sees it.
    let site = store.sites().expect("it works").remove(0);
    store.add_secret(forum, &asking::secret(b"fresh")).expect("it works");
    let after = store.sites().expect("it works").remove(0);
    assert_eq!(after.secrets[0].bytes, b"fresh");
    assert_eq!(after.secrets[1..], site.secrets);
}

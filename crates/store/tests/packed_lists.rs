//! The packed contact list of a user is always that of the rows, and nothing depends on it.

use crate::asking;

use asking::{Directory, NOW, add_site, ask, profile, put, put_named, snapshot, sub};
use chat::{
    By, ContactList, ContactNote, ContactStore, EraseSlice, EraseStore, ImportItem, ImportJob, ImportRules,
    ImportStore, Late, MessagesAfterErasure, NewErasure, Profile, Relation, RoomLimits, Side, SiteId,
    SiteStore, StoreError, Trim, UserId, UserStore,
};
use proptest::prelude::*;
use rusqlite::Connection;
use store::{Options, Sqlite};

const FRIENDS: Relation = Relation { of_a: Side::CONTACT, of_b: Side::CONTACT };
const BLOCKED: Relation = Relation { of_a: Side::BLOCKED, of_b: Side::NONE };
const STRANGERS: Relation = Relation { of_a: Side::NONE, of_b: Side::NONE };

fn relate(store: &Sqlite, a: UserId, b: UserId, relation: Relation) {
    ask(|done| store.put_relation(a, b, relation, 99, NOW, done)).expect("there is room");
}

fn list(store: &Sqlite, user: UserId) -> ContactList {
    ask(|done| store.contacts(user, None, 99, done)).rows
}

fn open(directory: &Directory) -> Sqlite {
    Sqlite::open(&directory.file(), Options::default()).expect("it opens")
}

/// Ann, and ten others who are her contacts.
fn ann_and_others(store: &Sqlite) -> (SiteId, UserId, Vec<UserId>) {
    let site = add_site(store, "forum");
    let ann = put(store, site, "ann");
    let others: Vec<UserId> = (0..10)
        .map(|number| put_named(store, site, &format!("u{number}"), &format!("User {}", number * 7 % 10)))
        .collect();
    others.iter().for_each(|other| relate(store, ann, *other, FRIENDS));
    (site, ann, others)
}

fn erase(store: &Sqlite, user: UserId) {
    let (alias, name, messages) = (sub("deleted-1"), "Deleted user".into(), MessagesAfterErasure::Erased);
    let erasure = NewErasure { user, alias, name, messages, by: By::Site, time: NOW };
    ask(|done| store.begin_erasure(erasure, done)).expect("the user is there");
    while ask(|done: chat::Done<EraseSlice>| store.erase_some(NOW, 100, done)).more {}
}

#[test]
fn every_change_of_an_entry_ends_the_packed_list() {
    let store = Sqlite::in_memory();
    let (site, ann, others) = ann_and_others(&store);
    let dora = put(&store, site, "dora");
    let note = ContactNote { name: Some("My own".into()), groups: vec!["Friends".into(), "Work".into()] };
    let changes: [(&str, &dyn Fn()); 11] = [
        ("a new contact", &|| relate(&store, ann, dora, FRIENDS)),
        ("a contact who has changed sides", &|| relate(&store, others[0], ann, STRANGERS)),
        ("a request", &|| {
            relate(&store, others[0], ann, Relation { of_a: Side::REQUESTED, of_b: Side::ASKS })
        }),
        ("a removed contact", &|| relate(&store, ann, others[1], STRANGERS)),
        ("a blocked user", &|| relate(&store, ann, others[2], BLOCKED)),
        ("an own name with groups", &|| {
            ask(|done| store.put_contact_note(ann, others[3], FRIENDS, note.clone(), 99, NOW, done));
        }),
        ("another name", &|| _ = put_named(&store, site, "u4", "Aaron")),
        ("a picture", &|| {
            let card = Profile { avatar: Some("/u5.png".into()), ..profile("u5", "User 5") };
            ask(|done| store.put_user(site, card, NOW, done));
        }),
        ("an erased contact", &|| erase(&store, others[6])),
        ("an import", &|| {
            let items = vec![
                ImportItem::user(sub("new"), Some("New"), None, None),
                ImportItem::Contact([sub("ann"), sub("new")]),
            ];
            let trim = Trim { before: None, rooms: Vec::new() };
            let (late, rooms) = (Late::Refuse, RoomLimits::default());
            let rules = ImportRules { late, body_bytes: 100, contacts: 99, rooms, trim, now: NOW };
            ask(|done| store.import(ImportJob { site, items, rules }, done));
        }),
        ("a removed site", &|| assert!(store.remove_site(site).expect("the store works"))),
    ];
    for (what, change) in changes {
        let before = list(&store, ann);
        assert_eq!(list(&store, ann), before);
        assert_eq!(store.unpack_lists(), Ok(1), "{what}: ann's list is packed");
        list(&store, ann);
        change();
        let after = list(&store, ann);
        assert_ne!(after, before, "{what}");
        // Reading the rows has packed them again.
        let _ = store.unpack_lists();
        assert_eq!(list(&store, ann), after, "{what}");
    }
}

#[test]
fn a_read_goes_on_if_a_list_cannot_be_packed() {
    let store = Sqlite::in_memory();
    let (_, ann, others) = ann_and_others(&store);
    store.fail_writes(Some(StoreError::DiskFull));
    (0..3).for_each(|_| assert_eq!(list(&store, ann).len(), others.len()));
    store.fail_writes(None);
    assert_eq!(store.unpack_lists(), Ok(0));
}

#[test]
fn packed_lists_have_pages_too() {
    let store = Sqlite::in_memory();
    let (_, ann, others) = ann_and_others(&store);
    relate(&store, ann, others[3], BLOCKED);
    let pages = || {
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let page = ask(|done| store.contacts(ann, after.take(), 3, done));
            pages.push(page.rows.iter().map(|row| row.sub.to_owned()).collect::<Vec<_>>());
            after = page.next;
            if after.is_none() {
                return pages;
            }
        }
    };
    assert_eq!(snapshot(&store, ann, None).contacts.rows.len(), 10);
    let packed = pages();
    assert_eq!(store.unpack_lists(), Ok(1));
    assert_eq!(packed, pages());
    assert_eq!(packed[0], ["u0", "u3", "u6"], "u3 is the first of the blocked");
    assert_eq!(packed.len(), 4);
}

#[test]
fn lists_of_version_48_are_packed_one_by_one() {
    let directory = Directory::quick();
    let store = open(&directory);
    let (_, ann, others) = ann_and_others(&store);
    let whole = list(&store, ann);
    store.close();
    let db = Connection::open(directory.file()).expect("a file");
    db.execute_batch(
        "DROP TRIGGER contact_added;
         DROP TRIGGER contact_updated;
         DROP TRIGGER contact_removed;
         DROP TABLE contact_list;
         ALTER TABLE room DROP COLUMN nicknames;
         PRAGMA user_version = 48;",
    )
    .expect("as before packed lists");
    drop(db);
    let store = open(&directory);
    assert_eq!((list(&store, ann), list(&store, others[0]).len()), (whole, 1));
    store.close();
    let packed = || {
        let db = Connection::open(directory.file()).expect("a file");
        let mut users = db.prepare("SELECT user FROM contact_list").expect("a statement");
        let users = users.query_map([], |row| row.get(0)).expect("rows");
        users.collect::<Result<Vec<u32>, _>>().expect("numbers")
    };
    assert_eq!(packed(), [ann.num], "the others' lists are short");
}

#[test]
fn a_damaged_list_is_made_again() {
    let directory = Directory::quick();
    let store = open(&directory);
    let (_, ann, _) = ann_and_others(&store);
    let whole = list(&store, ann);
    store.close();
    let packed = || -> Vec<u8> {
        let db = Connection::open(directory.file()).expect("a file");
        db.query_row("SELECT packed FROM contact_list", [], |row| row.get(0))
            .expect("closing stores what waits")
    };
    let good = packed();
    let newer: Vec<u8> = [&[good[0] + 1], &good[1..]].concat();
    for damaged in [&[][..], &[0; 100], &good[..good.len() - 1], &newer] {
        let db = Connection::open(directory.file()).expect("a file");
        assert_eq!(db.execute("UPDATE contact_list SET packed = ?1", [damaged]), Ok(1));
        drop(db);
        let store = open(&directory);
        assert_eq!(list(&store, ann), whole);
        store.close();
        assert_eq!(packed(), good);
    }
}

#[test]
fn no_file_contains_the_name_of_an_erased_contact() {
    const SECRET: &str = "Quartzfalke";
    let directory = Directory::quick();
    let store = open(&directory);
    let (site, ann, others) = ann_and_others(&store);
    let secret = put_named(&store, site, "secret", SECRET);
    relate(&store, ann, secret, FRIENDS);
    let note = ContactNote { name: Some(format!("My {SECRET}").into()), groups: vec![] };
    ask(|done| store.put_contact_note(ann, others[0], FRIENDS, note, 99, NOW, done));
    list(&store, ann);
    store.close();
    let store = open(&directory);
    let found = || {
        let files = std::fs::read_dir(directory.path()).expect("a directory");
        let has_secret = |bytes: Vec<u8>| bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
        files
            .filter(|file| {
                has_secret(std::fs::read(file.as_ref().expect("an entry").path()).expect("a file"))
            })
            .count()
    };
    assert!(found() > 0);
    relate(&store, ann, others[0], STRANGERS);
    erase(&store, secret);
    list(&store, ann);
    assert_eq!(found(), 0);
}

const PEOPLE: usize = 5;

#[derive(Debug, Clone)]
enum Change {
    Relate(usize, usize, Side, Side),
    Rename(usize, u8),
    Note(usize, usize, Option<u8>),
    Erase(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let side = prop_oneof![
        Just(Side::NONE),
        Just(Side::CONTACT),
        Just(Side::BLOCKED),
        Just(Side::REQUESTED),
        Just(Side::ASKS)
    ];
    let who = 0..PEOPLE;
    prop_oneof![
        6 => (who.clone(), who.clone(), side.clone(), side).prop_map(|(a, b, of_a, of_b)| Change::Relate(a, b, of_a, of_b)),
        2 => (who.clone(), 0..3u8).prop_map(|(a, name)| Change::Rename(a, name)),
        2 => (who.clone(), who.clone(), proptest::option::of(0..3u8)).prop_map(|(a, b, name)| Change::Note(a, b, name)),
        1 => who.prop_map(Change::Erase),
    ]
}

fn apply(store: &Sqlite, site: SiteId, people: &[UserId], change: &Change) {
    match *change {
        Change::Relate(a, b, of_a, of_b) if a != b => {
            let relation = Relation { of_a, of_b };
            let _ = asking::try_ask(|done| store.put_relation(people[a], people[b], relation, 99, NOW, done));
        }
        Change::Note(a, b, name) if a != b => {
            let note = ContactNote { name: name.map(|name| format!("Own {name}").into()), groups: vec![] };
            let _ = asking::try_ask(|done| {
                store.put_contact_note(people[a], people[b], FRIENDS, note.clone(), 99, NOW, done)
            });
        }
        Change::Relate(..) | Change::Note(..) => {}
        Change::Rename(a, name) => _ = put_named(store, site, &format!("p{a}"), &format!("Name {name}")),
        Change::Erase(a) => {
            let (alias, name) = (sub(&format!("deleted-{a}")), "Deleted user".into());
            let messages = MessagesAfterErasure::Erased;
            let erasure = NewErasure { user: people[a], alias, name, messages, by: By::Site, time: NOW };
            let _ = asking::try_ask(|done| store.begin_erasure(erasure, done));
            while ask(|done: chat::Done<EraseSlice>| store.erase_some(NOW, 100, done)).more {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each list is read twice before each change, so that it is packed when the change comes.
    #[test]
    fn a_packed_list_is_the_list_of_the_rows(changes in proptest::collection::vec(change(), 1..40)) {
        let store = Sqlite::in_memory();
        let site = add_site(&store, "forum");
        let people: Vec<UserId> = (0..PEOPLE).map(|at| put(&store, site, &format!("p{at}"))).collect();
        let lists = || people.iter().map(|one| list(&store, *one)).collect::<Vec<_>>();
        let mut packed = 0;
        for change in &changes {
            lists();
            apply(&store, site, &people, change);
            let read = lists();
            packed += store.unpack_lists().expect("the store works");
            prop_assert_eq!(read, lists(), "after {:?}", change);
        }
        prop_assert!(packed > 0 || lists().iter().all(ContactList::is_empty));
    }
}

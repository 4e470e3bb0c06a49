//! Bulk import: the result equals that of single requests, even if rows are passed repeatedly.

use crate::asking;

use asking::{Directory, NOW, add_site, ask, profile, put, say, snapshot, sub};
use chat::{ContactCard, ContactStore, Profile, Relation, Side, SiteId, UserId, UserStore};
use store::bulk::{Counts, Import, ImportError};
use store::{OpenError, Options, Sqlite};

const FRIENDS: Relation = Relation { of_a: Side::CONTACT, of_b: Side::CONTACT };

fn open(directory: &Directory) -> Sqlite {
    Sqlite::open(&directory.file(), Options::default()).expect("it opens")
}

fn people() -> Vec<Profile> {
    let mut people: Vec<Profile> = ["ann", "bob", "carl"].map(|id| profile(id, &id.to_uppercase())).into();
    people[1].avatar = Some("/bob.webp".into());
    people
}

fn card(row: &ContactCard<'_>) -> Profile {
    Profile { sub: row.sub(), name: row.name.into(), avatar: row.avatar.map(Into::into), guest: row.guest }
}

/// Ann is a contact of both others, who are not contacts of each other.
fn import(directory: &Directory, site: SiteId) -> (Vec<UserId>, Counts) {
    let mut import = Import::open(&directory.file()).expect("nobody else has it");
    let ids = import.users(site, people(), NOW).expect("it works");
    import.contacts(ids[0], [ids[2], ids[1], ids[2]]).expect("it works");
    import.contacts(ids[1], [ids[0]]).expect("it works");
    import.contacts(ids[2], [ids[0]]).expect("it works");
    let counts = import.finish().expect("it works");
    (ids, counts)
}

#[test]
fn users_and_contacts_are_there_and_a_second_time_changes_nothing() {
    let directory = Directory::quick();
    let store = open(&directory);
    let site = add_site(&store, "forum");
    let bob = put(&store, site, "bob");
    let position = snapshot(&store, bob, None).position;
    store.close();

    let (ids, counts) = import(&directory, site);
    let new =
        Counts { users_new: 2, users_changed: 1, users_as_before: 0, contacts_new: 4, contacts_as_before: 0 };
    assert_eq!((ids[1], counts), (bob, new));
    let store = open(&directory);
    let lists = || {
        ids.iter()
            .map(|id| format!("{:?}", ask(|done| store.contacts(*id, None, 9, done))))
            .collect::<Vec<_>>()
    };
    let page = ask(|done| store.contacts(ids[0], None, 9, done));
    let rows: Vec<_> = page.rows.iter().map(|row| (row.id, card(&row), row.side)).collect();
    let friend = |at: usize| (ids[at], people()[at].clone(), Side::CONTACT);
    assert_eq!(rows, [friend(1), friend(2)]);
    assert_eq!(ask(|done| store.relation(ids[0], ids[2], done)), FRIENDS);
    assert!(snapshot(&store, bob, Some(position)).reset, "devices begin afresh with their new lists");
    let (before, epoch) = (lists(), snapshot(&store, bob, None).position.epoch);
    store.close();

    let (again, counts) = import(&directory, site);
    assert_eq!(again, ids);
    assert_eq!(counts, Counts { users_as_before: 3, contacts_as_before: 4, ..Counts::default() });
    let store = open(&directory);
    assert_eq!(snapshot(&store, bob, None).position.epoch, epoch, "nothing new, nothing afresh");
    let after = ids.iter().map(|id| format!("{:?}", ask(|done| store.contacts(*id, None, 9, done))));
    assert_eq!(after.collect::<Vec<_>>(), before);
    assert!(!say(&store, ids[0], ids[1], "1", "hello").repeated, "life goes on");
}

#[test]
fn what_two_have_decided_stays() {
    let directory = Directory::quick();
    let store = open(&directory);
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    let blocked = Relation { of_a: Side::NONE, of_b: Side::BLOCKED };
    ask(|done| store.put_relation(ann, bob, blocked, 99, NOW, done));
    store.close();
    let (_, counts) = import(&directory, site);
    assert_eq!((counts.contacts_new, counts.contacts_as_before), (2, 2));
    let import = Import::open(&directory.file()).expect("nobody has it open");
    let length = |user| import.list_length(user).expect("it works");
    assert_eq!((length(ann), length(bob)), (1, 1), "Ann has Carl; Bob has Ann, blocked");
    assert!(import.knows(ann, bob).expect("it works"), "they have had to do with each other");
    assert!(!import.knows(ann, UserId { site, num: 77 }).expect("it works"));
    drop(import);
    assert_eq!(ask(|done| open(&directory).relation(ann, bob, done)), blocked);
}

#[test]
fn a_new_card_reaches_imported_lists() {
    let directory = Directory::quick();
    let site = add_site(&open(&directory), "forum");
    let (ids, _) = import(&directory, site);
    let store = open(&directory);
    let card = Profile { avatar: None, ..profile("bob", "Bobby") };
    ask(|done| store.put_user(site, card.clone(), NOW, done));
    let page = ask(|done| store.contacts(ids[0], None, 9, done));
    assert_eq!(page.rows.get(0).map(|row| self::card(&row)), Some(card));
}

#[test]
fn a_later_import_renews_packed_lists_also_those_that_grow_too_long() {
    let directory = Directory::quick();
    let site = add_site(&open(&directory), "forum");
    let many = |from: u32, to: u32| (from..to).map(|n| profile(&format!("user-{n:04}"), &"n".repeat(60)));
    let lengths = |ids: &[UserId]| {
        let store = open(&directory);
        let length = |id: &UserId| snapshot(&store, *id, None).contacts.rows.len();
        let lengths: Vec<usize> = ids.iter().map(length).collect();
        store.close();
        lengths
    };
    let mut import = Import::open(&directory.file()).expect("nobody has it open");
    let ids = import.users(site, many(0, 40), NOW).expect("it works");
    import.contacts(ids[0], ids[1..20].iter().copied()).expect("it works");
    import.contacts(ids[1], ids[2..4].iter().copied()).expect("it works");
    import.contacts(ids[2], [ids[1]]).expect("it works");
    import.finish().expect("it works");
    assert_eq!(lengths(&ids[..2]), [19, 2]);
    // 16 KiB have room for some 180 of these names.
    let mut import = Import::open(&directory.file()).expect("nobody has it open");
    let more = import.users(site, many(100, 400), NOW).expect("it works");
    import.contacts(ids[0], more.iter().copied()).expect("it works");
    import.contacts(ids[1], ids[4..9].iter().copied()).expect("it works");
    // A new name, after contacts: the triggers are on again.
    import.users(site, [profile("user-0002", "Zoe")], NOW).expect("it works");
    import.finish().expect("it works");
    assert_eq!(lengths(&ids[..2]), [50, 7], "the first page of the long list, and all of the short one");
    let store = open(&directory);
    let names: Vec<String> =
        snapshot(&store, ids[1], None).contacts.rows.iter().map(|card| card.name.to_owned()).collect();
    assert_eq!(names.last().map(String::as_str), Some("Zoe"));
}

#[test]
fn a_database_in_use_is_left_alone_and_nonsense_is_refused() {
    let directory = Directory::quick();
    let store = open(&directory);
    let site = add_site(&store, "forum");
    assert!(matches!(Import::open(&directory.file()), Err(OpenError::Busy { .. })));
    store.close();
    let mut import = Import::open(&directory.file()).expect("nobody else has it");
    assert!(Sqlite::open(&directory.file(), Options { busy_ms: 10, ..Options::default() }).is_err());
    let ann = import.users(site, [profile("ann", "Ann")], NOW).expect("it works")[0];
    let nobody = UserId { site, num: 77 };
    let elsewhere = UserId { site: SiteId(99), num: 1 };
    assert!(matches!(import.contacts(ann, [nobody]), Err(ImportError::NoSuchUser(id)) if id == nobody));
    assert!(matches!(import.contacts(nobody, [ann]), Err(ImportError::NoSuchUser(id)) if id == nobody));
    assert!(matches!(import.contacts(ann, [ann]), Err(ImportError::NoPair(_))));
    assert!(matches!(import.contacts(ann, [elsewhere]), Err(ImportError::NoPair(_))));
    import.finish().expect("it works");
    assert!(ask(|done| open(&directory).user(site, sub("ann"), done)).is_some());
}

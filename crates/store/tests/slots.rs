//! Several slots in one database: each has its own tables, writer, lease and numbers of sites.

use crate::asking::{self, add_site, direct, message, put, say, try_ask};
use crate::postgres;

use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use chat::{MessageStore, Seq, SiteId, SiteStore, Slot, StoreError, Timestamp};
use store::{
    Clock, Database, Lease, Members, OpenError, Options, SiteBy, SlotState, Sqlite, Take, TransferError,
    TransferOptions, find_site, name_of_holder, pin, transfer, used_slots,
};

const VALID: Duration = Duration::from_secs(10);

// ---- data ----

#[test]
fn two_slots_of_one_database_share_nothing() {
    let url = postgres::database();
    let stores = [Slot::FIRST, Slot(2)].map(|slot| postgres::open_slot(&url, slot));
    let sites = [0, 1].map(|at| add_site(&stores[at], "forum"));
    assert_eq!(sites, [SiteId(1), SiteId(0x0200_0001)]);
    let pairs = [0, 1].map(|at| (put(&stores[at], sites[at], "ann"), put(&stores[at], sites[at], "bob")));
    let mut positions = Vec::new();
    for number in 1..=5 {
        positions = (0..2)
            .filter(|at| number <= 3 || *at == 1)
            .map(|at| say(&stores[at], pairs[at].0, pairs[at].1, &number.to_string(), "hello").position)
            .collect();
    }
    assert_eq!(positions.len(), 1);
    for (at, count) in [(0, 3), (1, 5)] {
        let (ann, bob) = pairs[at];
        let keys: Vec<SiteId> = stores[at].sites().expect("it reads").iter().map(|site| site.id).collect();
        assert_eq!(keys, [sites[at]]);
        assert_eq!(asking::seqs(&stores[at], direct(ann, bob)), (1..=count).map(Seq).collect::<Vec<_>>());
        let (ann, bob) = pairs[1 - at];
        assert_eq!(asking::seqs(&stores[at], direct(ann, bob)), [], "messages of the other slot");
    }
    assert_ne!(stores[0].epoch().expect("it reads"), stores[1].epoch().expect("it reads"));
    let messages = |of| postgres::query(&url, &format!("SELECT count(*) FROM {of}"));
    drop(stores);
    assert_eq!(messages("public.message"), ["3"]);
    assert_eq!(messages("kith_slot_2.message"), ["5"]);
    let again = postgres::open_slot(&url, Slot(2));
    assert_eq!(say(&again, pairs[1].0, pairs[1].1, "6", "hello").position.number, positions[0].number + 1);
}

#[test]
fn a_search_path_in_the_url_does_not_replace_that_of_a_slot() {
    let url = format!("{}?options=-c%20search_path%3Dpublic", postgres::database());
    let first = postgres::open(&url);
    let third = postgres::open_slot(&url, Slot(3));
    assert_eq!(add_site(&first, "one"), SiteId(1));
    assert_eq!(add_site(&third, "three"), SiteId(0x0300_0001));
}

#[test]
fn each_slot_has_its_own_range_of_numbers_for_sites() {
    let url = postgres::database();
    let store = postgres::open_slot(&url, Slot(63));
    let first = add_site(&store, "one");
    assert_eq!((first, first.slot()), (SiteId(0x3f00_0001), Slot(63)));
    assert_eq!(store.remove_site(first), Ok(true));
    assert_eq!(add_site(&store, "two"), SiteId(0x3f00_0002), "no number is given twice");
    let last = 0x3fff_ffff;
    postgres::run(&url, &format!("UPDATE kith_slot_63.meta SET value = {last} WHERE name = 'next_site'"));
    assert_eq!(add_site(&store, "three"), SiteId(last));
    for _ in 0..2 {
        let refused = store.add_site(&asking::site("four"));
        assert!(
            matches!(&refused, Err(StoreError::Failed(why)) if why.contains("no more numbers")),
            "{refused:?}"
        );
    }
}

#[test]
fn a_schema_of_another_slot_is_refused() {
    let url = postgres::database();
    drop(postgres::open_slot(&url, Slot(4)));
    postgres::run(&url, "ALTER SCHEMA kith_slot_4 RENAME TO kith_slot_5");
    // Its sites have numbers of slot 4.
    let error = Sqlite::open_postgres(&url, Slot(5), Options::default()).err().expect("it is refused");
    assert!(error.to_string().contains("no lease of slot 5"), "{error}");
}

#[test]
fn the_schema_of_a_slot_is_made_once_by_several_processes() {
    let url = postgres::empty_database("slots_at_once");
    let (both, barrier) = ([Slot::FIRST, Slot(1)], Barrier::new(9));
    thread::scope(|scope| {
        for number in 0..6 {
            let (url, barrier, slot) = (&url, &barrier, both[number % 2]);
            scope.spawn(move || {
                barrier.wait();
                Lease::connect(url, slot, "home", number as u64).expect("it connects");
            });
        }
        for slot in both {
            let (url, barrier) = (&url, &barrier);
            scope.spawn(move || {
                barrier.wait();
                drop(postgres::open_slot(url, slot));
            });
        }
        barrier.wait();
        Members::connect(&url, "node", 1).expect("it connects");
    });
    for meta in ["meta", "kith_slot_1.meta"] {
        let epochs = postgres::query(&url, &format!("SELECT count(*) FROM {meta} WHERE name = 'epoch'"));
        assert_eq!(epochs, ["1"]);
    }
    assert_eq!(add_site(&postgres::open_slot(&url, Slot(1)), "forum"), SiteId(0x0100_0001));
}

#[test]
fn a_process_that_waited_for_the_lock_sees_the_schema_that_was_made_meanwhile() {
    let url = postgres::empty_database("made_meanwhile");
    thread::scope(|scope| {
        let opening = postgres::holding_the_lock(&url, || {
            let opening = scope.spawn(|| Sqlite::open_postgres(&url, Slot::FIRST, Options::default()));
            let waits = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'";
            until(|| !postgres::query(&url, waits).is_empty());
            postgres::run(&url, "CREATE TABLE meta (name TEXT PRIMARY KEY, value BIGINT)");
            postgres::run(&url, "INSERT INTO meta VALUES ('schema', 99)");
            opening
        });
        let refused = opening.join().expect("no panic").err().expect("it is refused");
        assert!(refused.to_string().contains("newer kith (schema 99"), "{refused}");
    });
}

#[test]
fn a_user_who_must_not_create_schemas_is_told_what_to_do() {
    let url = postgres::database();
    postgres::run(&url, "CREATE ROLE \"a user\" LOGIN");
    let poor = url.replacen("kith@", "a%20user@", 1);
    let refused = || match Lease::connect(&poor, Slot(1), "home", 1) {
        Err(error @ OpenError::Schema { .. }) => error.to_string(),
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("it connects"),
    };
    let error = refused();
    let database = url.rsplit('/').next().expect("a name");
    for part in [
        "(slot 1)",
        &format!("GRANT CREATE ON DATABASE \"{database}\" TO \"a user\""),
        "CREATE SCHEMA kith_slot_1 AUTHORIZATION \"a user\"",
    ] {
        assert!(error.contains(part), "{error}");
    }
    postgres::run(&url, "CREATE SCHEMA kith_slot_1");
    assert!(refused().contains("AUTHORIZATION"), "nor a schema in which the user must not create tables");
    postgres::run(&url, "DROP SCHEMA kith_slot_1");
    postgres::run(&url, "CREATE SCHEMA kith_slot_1 AUTHORIZATION \"a user\"");
    Lease::connect(&poor, Slot(1), "home", 1).expect("an administrator has made the schema");
}

#[test]
fn each_slot_moves_to_a_file_of_its_own_and_back() {
    let (url, directory) = (postgres::database(), asking::Directory::quick());
    let stores = [Slot::FIRST, Slot(3)].map(|slot| postgres::open_slot(&url, slot));
    stores.iter().for_each(|store| _ = add_site(store, "forum"));
    drop(stores);
    let (from, to) = (Database::Server(url.clone()), Database::File(directory.file()));
    let of_slot = |slot| TransferOptions { slot, ..TransferOptions::new(asking::NOW) };
    let moved = |from: &Database, to: &Database, slot| transfer(from, to, &of_slot(slot), &mut |_| {});

    let refused = moved(&from, &to, None).expect_err("it would leave slot 3 behind");
    assert!(
        matches!(&refused, TransferError::SeveralSlots { slots, .. } if *slots == [Slot(3)]),
        "{refused}"
    );
    let home = Lease::connect(&url, Slot::FIRST, "home", 1).expect("it connects");
    let refused = moved(&from, &to, Some(Slot(3))).expect_err("a node runs");
    assert!(matches!(refused, TransferError::InUse { .. }), "{refused}");
    drop(home);
    moved(&from, &to, Some(Slot(3))).expect("it moves");
    let sites =
        |store: &Sqlite| store.sites().expect("it reads").iter().map(|site| site.id).collect::<Vec<_>>();
    let store = Sqlite::open(&directory.file(), Options::default()).expect("it opens");
    assert_eq!(sites(&store), [SiteId(0x0300_0001)]);
    assert_eq!(add_site(&store, "garden"), SiteId(0x0300_0002), "new sites stay in the slot");
    drop(store);
    assert_eq!(sites(&postgres::open(&url)), [SiteId(1)]);

    let next = postgres::database();
    let (from, to) = (to, Database::Server(next.clone()));
    for (slot, wanted) in [(None, Slot::FIRST), (Some(Slot(2)), Slot(2))] {
        let refused = moved(&from, &to, slot).expect_err("fronts would not find its sites");
        let is_named =
            matches!(refused, TransferError::OtherSlot { found: Slot(3), wanted: of, .. } if of == wanted);
        assert!(is_named, "{refused}");
    }
    moved(&from, &to, Some(Slot(3))).expect("it moves back");
    assert_eq!(sites(&postgres::open_slot(&next, Slot(3))), [0x0300_0001, 0x0300_0002].map(SiteId));
}

#[test]
fn slots_without_a_site_do_not_keep_the_first_one_from_moving() {
    let (url, directory) = (postgres::database(), asking::Directory::quick());
    add_site(&postgres::open(&url), "forum");
    drop(postgres::open_slot(&url, Slot(1)));
    postgres::run(&url, "CREATE SCHEMA kith_slot_x CREATE TABLE site (id BIGINT)");
    postgres::run(&url, "INSERT INTO kith_slot_x.site VALUES (1)");
    let options = TransferOptions::new(asking::NOW);
    transfer(&Database::Server(url), &Database::File(directory.file()), &options, &mut |_| {})
        .expect("it moves");
}

// ---- writers and leases ----

#[test]
fn the_writer_of_a_slot_does_not_wait_for_that_of_another_slot() {
    let url = postgres::database();
    let store = postgres::open_slot(&url, Slot(1));
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    let first = postgres::holding_the_lock(&url, || say(&store, ann, bob, "1", "hello"));
    assert_eq!(first.seq, Seq(1));
    let (sender, answer) = channel();
    postgres::holding_the_lock_of(&url, Slot(1), || {
        let append = message(ann, bob, "2", "hello");
        store.append(append, Box::new(move |outcome| _ = sender.send(outcome)));
        let waits = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'kith slot 1' \
                     AND wait_event = 'advisory'";
        until(|| !postgres::query(&url, waits).is_empty());
        assert!(answer.try_recv().is_err(), "it waits for another writer of its slot");
        let other = postgres::open(&url);
        assert_eq!(add_site(&other, "garden"), SiteId(1));
    });
    let second = answer.recv_timeout(asking::PATIENCE).expect("it is answered").expect("it is stored");
    assert_eq!(second.seq, Seq(2));
}

#[test]
fn a_term_of_one_slot_does_not_fence_a_home_of_another_slot() {
    let url = postgres::database();
    let (zero, one, next) = (lease(&url, 0, "zero", 1), lease(&url, 1, "one", 2), lease(&url, 1, "next", 3));
    let stores = [&zero, &one].map(|lease| {
        term(lease.take(at(100), VALID));
        Sqlite::open_leased(lease, Options::default()).expect("it opens")
    });
    let sites = stores.each_ref().map(|store| add_site(store, "forum"));
    let pairs = [0, 1].map(|at| (put(&stores[at], sites[at], "ann"), put(&stores[at], sites[at], "bob")));
    assert!(term(next.take(at(111), VALID)) > 0);
    let append =
        |at: usize| try_ask(|done| stores[at].append(message(pairs[at].0, pairs[at].1, "1", "hello"), done));
    let refused = append(1);
    assert!(matches!(&refused, Err(StoreError::Failed(why)) if why.contains("of slot 1")), "{refused:?}");
    assert_eq!(append(0).expect("it is stored").seq, Seq(1));
    assert!(zero.renew(at(112), VALID).expect("it answers"));
    assert!(!one.renew(at(112), VALID).expect("it answers"));
    let homes = |lease: &Lease| lease.state(at(112)).expect("it answers").homes;
    assert_eq!(homes(&zero), [zero.holder()]);
    assert_eq!(homes(&one), [one.holder(), next.holder()]);
}

#[test]
fn the_home_of_each_slot_is_known() {
    let url = postgres::database();
    let home_of = |slot| Lease::home_of(&url, Slot(slot)).expect("it answers");
    assert_eq!([0, 1].map(home_of), [None, None]);
    assert!(postgres::query(&url, "SELECT 1 FROM pg_namespace WHERE nspname = 'kith_slot_1'").is_empty());
    term(lease(&url, 1, "one", 2).take(Clock::OfDatabase, Duration::from_secs(600)));
    assert_eq!([0, 1, 2].map(home_of), [None, Some("one".to_owned()), None]);
}

// ---- members ----

#[test]
fn a_look_has_all_members_and_slots() {
    let url = postgres::empty_database("members");
    let b = members(&url, "kith b", 2);
    let look = |slots| b.look(slots, at(100)).expect("it answers");
    assert_eq!(look(3).nodes, [b.holder()]);
    assert_eq!(look(3).slots, [(); 3].map(|()| SlotState::default()));
    let a = members(&url, "kith a", 1);
    assert_eq!(look(3).nodes, [a.holder(), b.holder()]);

    let homes = [(0, "x"), (2, "y"), (2, "z")].map(|(slot, name)| lease(&url, slot, name, u64::from(slot)));
    let of_y = term(homes[1].take(at(100), VALID));
    let found = look(3);
    assert_eq!(found.nodes.len(), 2, "homes are no members");
    let listed = found.slots.iter().map(|slot| {
        let names: Vec<&str> = slot.lease.homes.iter().map(|home| name_of_holder(home)).collect();
        (name_of_holder(&slot.lease.holder), slot.lease.term, slot.lease.left_ms, names)
    });
    assert_eq!(
        listed.collect::<Vec<_>>(),
        [("", 0, 0, vec!["x"]), ("", 0, 0, vec![]), ("y", of_y, 10_000, vec!["y", "z"])]
    );
    assert_eq!(look(2).slots, found.slots[..2], "slots that the cluster does not have are left out");
    assert_eq!(look(5).slots[..3], found.slots);
    assert_eq!(
        homes[0].state(at(100)).expect("it answers").homes,
        [homes[0].holder()],
        "nor are members homes"
    );

    drop(a);
    until(|| look(3).nodes == [b.holder()]);
    drop(homes);
    postgres::run(&url, "DROP SCHEMA kith_slot_2 CASCADE");
    until(|| look(3).slots == [(); 3].map(|()| SlotState::default()));
    lease(&url, 2, "z", 4);
    assert_eq!(look(3).slots[2].lease.term, 0, "it is made again");
}

#[test]
fn a_look_waits_for_no_writer() {
    let url = postgres::database();
    let members = members(&url, "kith a", 1);
    drop(lease(&url, 1, "one", 1));
    let look = || members.look(2, Clock::OfDatabase).expect("it answers").slots.len();
    let blocked = postgres::holding_the_lock(&url, || postgres::holding_the_lock_of(&url, Slot(1), look));
    assert_eq!(blocked, 2);
}

#[test]
fn a_pin_of_a_slot_stays_until_it_is_removed() {
    let url = postgres::database();
    let members = members(&url, "kith a", 1);
    let pins = || {
        let slots = members.look(3, at(100)).expect("it answers").slots;
        slots.into_iter().map(|slot| slot.pinned).collect::<Vec<_>>()
    };
    assert_eq!(pins(), [None, None, None]);
    pin(&url, Slot(1), None).expect("there is nothing to remove");
    assert!(postgres::query(&url, "SELECT 1 FROM pg_namespace WHERE nspname = 'kith_slot_1'").is_empty());
    pin(&url, Slot(2), Some("garden")).expect("the schema is made");
    pin(&url, Slot::FIRST, Some("forum")).expect("it is stored");
    let pinned = [Some("forum".to_owned()), None, Some("garden".to_owned())];
    assert_eq!(pins(), pinned);
    let home = lease(&url, 2, "one", 2);
    term(home.take(at(100), VALID));
    assert!(home.renew(at(101), VALID).expect("it answers"));
    assert!(home.give("", at(102), VALID).expect("it answers"));
    term(lease(&url, 2, "two", 3).take(at(103), VALID));
    assert_eq!(pins(), pinned, "leases do not change it");
    pin(&url, Slot(2), None).expect("it is stored");
    assert_eq!(pins(), [Some("forum".to_owned()), None, None]);
}

#[test]
fn a_pinned_name_is_equal_to_that_of_the_holder() {
    let url = postgres::database();
    let name = "zürich, a name that is longer than a name can be";
    let members = members(&url, name, 1);
    pin(&url, Slot(1), Some(name)).expect("it is stored");
    let look = members.look(2, at(100)).expect("it answers");
    assert_eq!(look.slots[1].pinned.as_deref(), Some(name_of_holder(&look.nodes[0])));
}

#[test]
fn a_slot_with_the_schema_of_an_earlier_version_is_seen_and_cannot_be_pinned() {
    let url = postgres::database();
    let members = members(&url, "kith a", 1);
    let home = lease(&url, 1, "one", 2);
    let of_one = term(home.take(at(100), VALID));
    postgres::run(&url, "ALTER TABLE kith_slot_1.lease DROP COLUMN pinned");
    let slot = &members.look(2, at(100)).expect("it answers").slots[1];
    assert_eq!((slot.lease.term, &slot.pinned), (of_one, &None));
    let refused = pin(&url, Slot(1), Some("garden")).expect_err("its home works with the older schema");
    assert!(refused.to_string().contains("older schema"), "{refused}");
}

#[test]
fn a_node_that_leaves_is_no_member_and_still_sees_the_slots() {
    let url = postgres::database();
    let (a, b) = (members(&url, "kith a", 1), members(&url, "kith b", 2));
    a.leave().expect("it answers");
    assert_eq!(a.look(2, at(100)).expect("it answers").nodes, [b.holder()]);
    assert_eq!(b.look(2, at(100)).expect("it answers").nodes, [b.holder()]);
}

#[test]
fn a_command_finds_the_slot_of_a_site_by_its_key_and_its_domain() {
    let url = postgres::empty_database("sites_of_slots");
    assert_eq!(used_slots(&url, 4).expect("it answers"), []);
    let find = |by| find_site(&url, 4, by).expect("it answers");
    assert_eq!(find(SiteBy::Key("forum")), None);
    add_site(&postgres::open_slot(&url, Slot::FIRST), "forum");
    add_site(&postgres::open_slot(&url, Slot(3)), "garden.example");
    postgres::run(&url, "UPDATE site SET domain = 'forum.example' WHERE key = 'forum'");
    assert_eq!(used_slots(&url, 4).expect("it answers"), [Slot::FIRST, Slot(3)]);
    assert_eq!(used_slots(&url, 3).expect("it answers"), [Slot::FIRST], "slots that the cluster has");
    assert_eq!(find(SiteBy::Key("forum")), Some(Slot::FIRST));
    assert_eq!(find(SiteBy::Key("garden.example")), Some(Slot(3)));
    assert_eq!(find(SiteBy::Key("forum.example")), None);
    assert_eq!(find(SiteBy::Domain("forum.example")), Some(Slot::FIRST));
    assert_eq!(
        find(SiteBy::Domain("garden.example")),
        Some(Slot(3)),
        "a key is the domain of a site without one"
    );
    assert_eq!(find(SiteBy::Domain("forum")), None);
}

// ---- helpers ----

fn at(seconds: u64) -> Clock {
    Clock::At(Timestamp(seconds * 1_000))
}

fn lease(url: &str, slot: u8, name: &str, number: u64) -> Lease {
    Lease::connect(url, Slot(slot), name, number).expect("it connects")
}

fn members(url: &str, name: &str, number: u64) -> Members {
    Members::connect(url, name, number).expect("it connects")
}

fn term(taken: Result<Take, StoreError>) -> u64 {
    match taken.expect("it answers") {
        Take::Taken { term } => term,
        Take::Held { .. } => panic!("another home has it"),
    }
}

fn until(is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < asking::PATIENCE, "waited in vain");
    }
}

//! Counts of a user's messages are right at any state of the index of client ids: the level of a new member depends on
//! them.

use crate::asking;

use asking::{Directory, add_site, ask, message, put};
use chat::{MessageStore, ModerationStore, Store, UserId};
use store::{Options, Sqlite, Synchronous};

/// More than the index takes at once, so that some slices are pending.
const MESSAGES: u32 = 110_000;

fn written(store: &Sqlite, user: UserId, most: u32) -> u32 {
    ask(|done| store.written(user, most, done))
}

#[test]
fn what_was_just_written_counts() {
    let store = Sqlite::in_memory();
    let site = add_site(&store, "forum");
    let [ann, bob] = ["ann", "bob"].map(|name| put(&store, site, name));
    let append = |from, to, id: &str| ask(|done| store.append(message(from, to, id, "x"), done));
    for id in ["1", "2", "3", "3"] {
        append(ann, bob, id);
    }
    assert_eq!([written(&store, ann, 9), written(&store, bob, 9)], [3, 0], "a repeated one counts once");
    append(bob, ann, "1");
    assert_eq!([written(&store, ann, 9), written(&store, bob, 9)], [3, 1]);
    store.index_client_ids().expect("it works");
    assert_eq!([written(&store, ann, 9), written(&store, bob, 9)], [3, 1], "all of them in the index");
    append(ann, bob, "4");
    assert_eq!([written(&store, ann, 9), written(&store, ann, 2)], [4, 2], "some here, some there");
}

#[test]
fn it_counts_while_the_index_moves_on() {
    let directory = Directory::quick();
    let options = Options { synchronous: Synchronous::Normal, ..Options::default() };
    let store = Sqlite::open(&directory.file(), options).expect("it opens");
    let site = add_site(&store, "forum");
    let [ann, bob, carl] = ["ann", "bob", "carl"].map(|name| put(&store, site, name));
    for number in 1..=MESSAGES {
        let (from, to) = if number % 4 == 0 { (bob, carl) } else { (ann, bob) };
        store.append(message(from, to, &number.to_string(), "x"), Box::new(|_| ()));
        if number % 10_000 == 0 {
            store.flush().expect("it is on disk");
            let counts = [ann, bob, carl].map(|user| written(&store, user, u32::MAX));
            assert_eq!(counts, [number / 4 * 3, number / 4, 0], "after {number}");
        }
    }
    store.close();
    let store = Sqlite::open(&directory.file(), Options::default()).expect("it opens");
    assert_eq!(written(&store, ann, u32::MAX), MESSAGES / 4 * 3, "after a start");
}

//! Conversations as each of two members has them: markers, settings, the list.

use chat::{ConversationChange, Seq, Store, Timestamp, UserId};

use crate::asking::{NOW, ask, direct, message, put, say};
use crate::two_users;

pub(crate) fn a_message_moves_the_senders_markers_and_counts_for_the_other(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let id = direct(ann, bob);
    assert_eq!(ask(|done| store.conversation(ann, id, done)), None);
    say(store, ann, bob, "1", "a");
    say(store, ann, bob, "2", "b");
    let anns = ask(|done| store.conversation(ann, id, done)).expect("it exists");
    assert_eq!((anns.received, anns.read, anns.unread), (Seq(2), Seq(2), 0));
    let bobs = ask(|done| store.conversation(bob, id, done)).expect("it exists");
    assert_eq!((bobs.received, bobs.read, bobs.unread, bobs.their_read), (Seq(0), Seq(0), 2, Seq(2)));
    assert_eq!(bobs.of.other().expect("a direct one").id, ann);
    let last = bobs.last.expect("there are messages");
    assert_eq!((last.seq, &*last.body, last.from_sub.as_str()), (Seq(2), "b", "ann"));
    say(store, bob, ann, "3", "c");
    let bobs = ask(|done| store.conversation(bob, id, done)).expect("it exists");
    assert_eq!((bobs.read, bobs.unread), (Seq(3), 0), "who writes has read");
}

pub(crate) fn markers_never_go_back_and_never_pass_the_newest(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let id = direct(ann, bob);
    for number in 1..=5 {
        say(store, ann, bob, &number.to_string(), "x");
    }
    let mark = |received, read| {
        let row = ask(|done| store.mark(id, bob, Seq(received), Seq(read), done));
        (row.received.0, row.read.0, row.unread, row.moved)
    };
    assert_eq!(mark(2, 0), (2, 0, 5, true));
    assert_eq!(mark(1, 0), (2, 0, 5, false));
    assert_eq!(mark(0, 3), (3, 3, 2, true), "read implies received");
    assert_eq!(mark(9, 1), (5, 3, 2, true), "clipped");
    assert_eq!(mark(u64::MAX, u64::MAX), (5, 5, 0, true));
    let carl = put(store, site, "carl");
    let row = ask(|done| store.mark(direct(ann, carl), carl, Seq(1), Seq(1), done));
    assert_eq!((row.received, row.moved), (Seq(0), false), "no conversation");
    assert!(!ask(|done| store.mark(id, carl, Seq(1), Seq(1), done)).moved, "no member");
}

pub(crate) fn a_mention_counts_until_it_is_read(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let bodies = ["@bob!", "@bobby", "bob", "hey @bob", "@ann is me", "x@bob_", "@bob-1", "(@bob)"];
    for (number, body) in bodies.iter().enumerate() {
        say(store, ann, bob, &number.to_string(), body);
    }
    let mentions =
        |user| ask(|done| store.conversation(user, direct(ann, bob), done)).expect("it exists").mentions;
    assert_eq!((mentions(bob), mentions(ann)), (3, 0));
    ask(|done| store.mark(direct(ann, bob), bob, Seq(3), Seq(1), done));
    assert_eq!(mentions(bob), 2, "partly read");
    ask(|done| store.mark(direct(ann, bob), bob, Seq(8), Seq(8), done));
    assert_eq!(mentions(bob), 0);
    say(store, ann, bob, "a", "@bob");
    say(store, bob, ann, "b", "yes @ann?");
    assert_eq!((mentions(bob), mentions(ann)), (0, 1), "who answers has read");
}

pub(crate) fn a_message_brings_an_archived_conversation_back_for_both(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    say(store, ann, bob, "1", "x");
    let archive = ConversationChange { archived: Some(true), ..Default::default() };
    let listed = |user, archived| ask(|done| store.conversations(user, archived, None, 9, done)).rows.len();
    for user in [ann, bob] {
        ask(|done| store.change_conversation(direct(ann, bob), user, archive, done));
        assert_eq!((listed(user, false), listed(user, true)), (0, 1));
    }
    say(store, bob, ann, "2", "x");
    for user in [ann, bob] {
        assert_eq!((listed(user, false), listed(user, true)), (1, 0));
    }
}

pub(crate) fn a_change_is_of_one_member_and_none_without_a_conversation(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let id = direct(ann, bob);
    let all = ConversationChange {
        muted_until: Some(Timestamp(253_402_300_799_999)),
        pinned: Some(true),
        archived: Some(true),
    };
    assert_eq!(ask(|done| store.change_conversation(id, ann, all, done)), None);
    say(store, ann, bob, "1", "x");
    let (row, position) = ask(|done| store.change_conversation(id, ann, all, done)).expect("it exists");
    assert_eq!((row.muted_until, row.pinned, row.archived), (Timestamp(253_402_300_799_999), true, true));
    let only_one = ConversationChange { pinned: Some(false), ..Default::default() };
    let (row, later) = ask(|done| store.change_conversation(id, ann, only_one, done)).expect("it exists");
    assert_eq!((row.muted_until, row.pinned, row.archived), (Timestamp(253_402_300_799_999), false, true));
    assert!(later > position);
    assert_eq!(ask(|done| store.conversation(ann, id, done)), Some(row));
    let bobs = ask(|done| store.conversation(bob, id, done)).expect("it exists");
    assert_eq!((bobs.muted_until, bobs.pinned, bobs.archived), (Timestamp(0), false, false));
    let carl = put(store, site, "carl");
    assert_eq!(ask(|done| store.change_conversation(id, carl, all, done)), None, "no member");
    assert_eq!(ask(|done| store.conversation(carl, id, done)), None);
}

pub(crate) fn the_list_is_pinned_first_then_by_activity_and_pages_are_stable(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let others: Vec<UserId> = (0..7).map(|number| put(store, site, &format!("u{number}"))).collect();
    for (number, other) in others.iter().enumerate() {
        let mut append = message(ann, *other, &number.to_string(), "x");
        append.time = Timestamp(NOW.0 + number as u64);
        ask(|done| store.append(append, done));
    }
    let pin = ConversationChange { pinned: Some(true), ..Default::default() };
    ask(|done| store.change_conversation(direct(ann, others[2]), ann, pin, done));
    let order = |rows: &[chat::ConversationRow]| {
        rows.iter()
            .map(|row| others.iter().position(|other| *other == row.of.other().expect("a direct one").id))
            .collect::<Option<Vec<_>>>()
    };
    let first = ask(|done| store.conversations(ann, false, None, 3, done));
    assert_eq!(order(&first.rows), Some(vec![2, 6, 5]));
    // What becomes newest meanwhile is on the first page, and pushes nobody onto the next one twice.
    let mut append = message(ann, others[1], "again", "x");
    append.time = Timestamp(NOW.0 + 99);
    ask(|done| store.append(append, done));
    let second = ask(|done| store.conversations(ann, false, first.next, 3, done));
    assert_eq!(order(&second.rows), Some(vec![4, 3, 0]));
    assert_eq!(second.next, None);
    let whole = ask(|done| store.conversations(ann, false, None, 7, done));
    assert_eq!((order(&whole.rows), whole.next), (Some(vec![2, 1, 6, 5, 4, 3, 0]), None));
}

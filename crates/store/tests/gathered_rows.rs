//! On PostgreSQL, rows that one commit inserts or updates without another statement in between become one statement, and what its
//! messages need is read before the first of them. The order of the requests stays.

use crate::asking::{self, NOW, direct, message};
use crate::postgres;

use std::sync::mpsc::{Receiver, channel};

use chat::{
    ChangeMessage, ContactStore, ConversationRow, Done, MessageChange, MessageStore, Relation, Seq, Side,
    StoreError, UserId, UserStore,
};
use store::Sqlite;

fn members(store: &Sqlite) -> [UserId; 2] {
    let site = asking::add_site(store, "one");
    ["a", "b"].map(|id| asking::put(store, site, id))
}

/// Sends a request without waiting.
fn queue<T: Send + 'static>(request: impl FnOnce(Done<T>)) -> Receiver<Result<T, StoreError>> {
    let (sender, answer) = channel();
    request(Box::new(move |outcome| _ = sender.send(outcome)));
    answer
}

fn answer<T>(request: &Receiver<Result<T, StoreError>>) -> Result<T, StoreError> {
    request.recv_timeout(asking::PATIENCE).expect("each request has an answer")
}

#[test]
fn a_row_that_changes_twice_in_a_commit_keeps_the_last_change() {
    let url = postgres::database();
    let store = postgres::open(&url);
    let [a, b] = members(&store);
    asking::say(&store, a, b, "first", "first");
    let edit = |seq: u64, body: String| ChangeMessage {
        conversation: direct(a, b),
        seq: Seq(seq),
        by: a,
        change: MessageChange::Edit { body: body.into(), extension: None },
        time: NOW,
    };
    // All wait while another process writes, so they come in one commit or two.
    let (appends, edits) = postgres::holding_the_lock(&url, || {
        let (mut appends, mut edits) = (Vec::new(), Vec::new());
        for number in 2..=300 {
            let append = message(a, b, &format!("id {number}"), "as it was sent");
            appends.push(queue(|done| store.append(append, done)));
            if number % 3 == 0 {
                for body in ["once", "twice"] {
                    let change = edit(number, format!("{body} {number}"));
                    edits.push(queue(|done| store.change_message(change, done)));
                }
            }
        }
        (appends, edits)
    });
    let seqs: Vec<u64> = appends.iter().map(|append| answer(append).expect("it is stored").seq.0).collect();
    assert_eq!(seqs, (2..=300).collect::<Vec<u64>>());
    assert!(edits.iter().all(|edit| answer(edit).expect("it is stored").is_ok()));
    drop(store);
    let store = postgres::open(&url);
    let page = asking::ask(|done| store.history(b, direct(a, b), None, None, 999, done));
    assert_eq!(page.messages.len(), 300);
    for message in &page.messages[1..] {
        let wanted = match message.seq.0 {
            edited if edited % 3 == 0 => format!("twice {edited}"),
            _ => "as it was sent".to_owned(),
        };
        assert_eq!(&*message.body, wanted);
    }
    let again = asking::say(&store, a, b, "id 200", "again");
    assert!(again.repeated && again.seq == Seq(200));
}

#[test]
fn a_block_counts_for_the_messages_behind_it_in_a_commit_and_for_no_other() {
    let url = postgres::database();
    let store = postgres::open(&url);
    let site = asking::add_site(&store, "one");
    let a = asking::put(&store, site, "a");
    let others: Vec<UserId> = (0..60).map(|at| asking::put(&store, site, &format!("user {at}"))).collect();
    let block = Relation { of_a: Side::NONE, of_b: Side::BLOCKED };
    // A third of the conversations has a row already. Of two others of three, one is blocked before its first message.
    for other in others.iter().step_by(3) {
        asking::say(&store, a, *other, &format!("before {}", other.num), "hello");
    }
    drop(store);
    let store = postgres::open(&url);
    let (appends, blocks) = postgres::holding_the_lock(&url, || {
        let (mut appends, mut blocks) = (Vec::new(), Vec::new());
        for (at, other) in others.iter().enumerate() {
            if at == 31 {
                let blocked = others.iter().skip(32).step_by(3);
                blocks = blocked
                    .map(|other| queue(|done| store.put_relation(a, *other, block, 999, NOW, done)))
                    .collect();
            }
            for (from, to) in [(a, *other), (*other, a)] {
                let append = message(from, to, &format!("{at}"), "hello");
                appends.push(queue(|done| store.append(append, done)));
            }
        }
        (appends, blocks)
    });
    assert!(blocks.iter().all(|one| answer(one).expect("it is stored").is_some()));
    let seqs: Vec<u64> = appends.iter().map(|append| answer(append).expect("it is stored").seq.0).collect();
    for (at, pair) in seqs.chunks(2).enumerate() {
        let wanted = if at % 3 == 0 { [2, 3] } else { [1, 2] };
        assert_eq!(pair, wanted, "user {at}");
    }
    let row = |reader: UserId, other: UserId| -> Option<ConversationRow> {
        asking::ask(|done| store.conversation(reader, direct(reader, other), done))
    };
    for (at, other) in others.iter().enumerate() {
        let ConversationRow { blocked, last, .. } = row(a, *other).expect("it has messages");
        assert_eq!(blocked, at > 31 && at % 3 == 2, "user {at}");
        assert_eq!(last.expect("a message").seq.0, if at % 3 == 0 { 3 } else { 2 });
    }
}

#[test]
fn rows_that_are_updated_together_keep_their_values_apart() {
    let url = postgres::database();
    let store = postgres::open(&url);
    let site = asking::add_site(&store, "one");
    let a = asking::put(&store, site, "a");
    let others: Vec<UserId> = (0..50).map(|at| asking::put(&store, site, &format!("user {at}"))).collect();
    for (at, other) in others.iter().enumerate() {
        for number in 0..=at {
            asking::say(&store, a, *other, &format!("{at} {number}"), "hello");
        }
    }
    let marks = postgres::holding_the_lock(&url, || {
        let mark = |(at, other): (usize, &UserId)| {
            let (conversation, read) = (direct(a, *other), Seq(at as u64));
            queue(|done| store.mark(conversation, *other, Seq(at as u64 + 1), read, done))
        };
        // Each twice: one row must not be in a statement twice.
        [0, 1].map(|_| others.iter().enumerate().map(mark).collect::<Vec<_>>())
    });
    assert!(marks.iter().flatten().all(|one| answer(one).is_ok()));
    drop(store);
    let store = postgres::open(&url);
    for (at, other) in others.iter().enumerate() {
        let row = asking::ask(|done| store.conversation(*other, direct(a, *other), done));
        assert_eq!(row.expect("it has messages").unread, 1, "user {at}");
    }
}

#[test]
fn a_row_that_postgresql_refuses_fails_alone() {
    let url = postgres::database();
    let store = postgres::open(&url);
    let [a, b] = members(&store);
    let appends = postgres::holding_the_lock(&url, || {
        let append = |number: u32| {
            let body = if number == 77 { "a\0b" } else { "a b" };
            let append = message(a, b, &format!("id {number}"), body);
            queue(|done| store.append(append, done))
        };
        (0..200).map(append).collect::<Vec<_>>()
    });
    let stored: Vec<Option<u64>> =
        appends.iter().map(|append| answer(append).ok().map(|appended| appended.seq.0)).collect();
    assert_eq!(stored[77], None);
    let stored: Vec<u64> = stored.into_iter().flatten().collect();
    assert_eq!(stored, (1..=199).collect::<Vec<u64>>(), "the others have numbers without a gap");
    assert_eq!(asking::seqs(&store, direct(a, b)).len(), 199);
}

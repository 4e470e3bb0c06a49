//! Messages: numbers without gaps, order, repetition, history.

use std::sync::mpsc::channel;

use chat::{ConversationId, Position, Refusal, Seq, Store, Timestamp};

use crate::asking::{NOW, ask, direct, message, put, say, seqs};
use crate::two_users;

pub(crate) fn seqs_are_gap_free_when_many_write_at_once(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    std::thread::scope(|scope| {
        for writer in 0..8 {
            scope.spawn(move || {
                let (from, to) = if writer % 2 == 0 { (ann, bob) } else { (bob, ann) };
                let (sender, answers) = channel();
                for number in 0..50 {
                    let sender = sender.clone();
                    let append = message(from, to, &format!("{writer}-{number}"), "x");
                    store.append(
                        append,
                        Box::new(move |outcome| {
                            sender.send(outcome.expect("the store works").seq).expect("the test waits");
                        }),
                    );
                }
                drop(sender);
                let seqs: Vec<Seq> = answers.iter().collect();
                assert_eq!(seqs.len(), 50);
                assert!(seqs.is_sorted(), "one writer's messages keep their order");
            });
        }
    });
    assert_eq!(seqs(store, direct(ann, bob)), (1..=400).map(Seq).collect::<Vec<_>>());
}

pub(crate) fn completions_come_in_the_order_of_their_positions(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let (sender, answers) = channel();
    for number in 0..300u64 {
        let sender = sender.clone();
        let to = if number % 2 == 0 { bob } else { carl };
        match number % 3 {
            0 => store.mark(
                direct(ann, to),
                to,
                Seq(number),
                Seq(number),
                Box::new(move |outcome| {
                    sender.send(outcome.expect("the store works").position).expect("the test waits");
                }),
            ),
            _ => store.append(
                message(ann, to, &number.to_string(), "x"),
                Box::new(move |outcome| {
                    sender.send(outcome.expect("the store works").position).expect("the test waits");
                }),
            ),
        }
    }
    drop(sender);
    let positions: Vec<Position> = answers.iter().collect();
    assert_eq!(positions.len(), 300);
    assert!(positions.is_sorted());
}

pub(crate) fn a_repeated_client_id_changes_nothing_and_answers_as_then(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let first = say(store, ann, bob, "id", "hello");
    assert_eq!((first.seq, first.repeated), (Seq(1), false));
    let again = say(store, ann, bob, "id", "other words");
    assert_eq!(again, chat::Appended { repeated: true, ..first });
    assert_eq!(say(store, ann, carl, "id", "to somebody else"), again, "in whatever conversation");
    assert_eq!(say(store, bob, ann, "id", "another sender").seq, Seq(2));
    let page = ask(|done| store.history(ann, direct(ann, bob), None, None, 9, done));
    assert_eq!(&*page.messages[0].body, "hello");
    assert!(seqs(store, direct(ann, carl)).is_empty());
    // Both in one batch.
    let (sender, answers) = channel();
    for _ in 0..2 {
        let sender = sender.clone();
        store.append(
            message(ann, bob, "twin", "x"),
            Box::new(move |outcome| {
                sender.send(outcome.expect("the store works")).expect("the test waits");
            }),
        );
    }
    let (one, two) = (answers.recv().expect("answered"), answers.recv().expect("answered"));
    assert_eq!(two, chat::Appended { repeated: true, ..one });
}

/// More messages than a store may keep in memory, with ids in and out of order.
pub(crate) fn a_client_id_is_known_for_as_long_as_its_message(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let id = |number: u64| {
        if number.is_multiple_of(2) {
            format!("{number:08}")
        } else {
            format!("{:x}", number * 7919 % 65_537)
        }
    };
    let (sender, answers) = channel();
    for number in 0..30_000 {
        let sender = sender.clone();
        store.append(
            message(ann, bob, &id(number), "x"),
            Box::new(move |outcome| {
                sender.send(outcome.expect("the store works")).expect("the test waits");
            }),
        );
    }
    drop(sender);
    let first: Vec<_> = answers.iter().collect();
    assert_eq!(first.len(), 30_000);
    assert!(first.iter().all(|answer| !answer.repeated));
    for number in (0..30_000).step_by(171) {
        let again = say(store, ann, bob, &id(number), "again");
        assert_eq!(again, chat::Appended { repeated: true, ..first[number as usize] });
    }
}

pub(crate) fn an_answer_to_a_message_that_is_not_there_answers_none(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    for (number, reply_to) in [(1, 1), (2, 1), (3, 9), (4, 0)] {
        let mut append = message(ann, bob, &number.to_string(), "x");
        append.reply_to = Some(Seq(reply_to));
        ask(|done| store.append(append, done));
    }
    let page = ask(|done| store.history(ann, direct(ann, bob), None, None, 9, done));
    let replies: Vec<_> = page.messages.iter().map(|message| message.reply_to).collect();
    assert_eq!(replies, [None, Some(Seq(1)), None, None]);
}

pub(crate) fn history_is_paged_in_both_directions(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    for number in 1..=100 {
        say(
            store,
            if number % 2 == 0 { ann } else { bob },
            if number % 2 == 0 { bob } else { ann },
            &number.to_string(),
            "x",
        );
    }
    let page = |before: Option<u64>, after: Option<u64>, limit| {
        let page =
            ask(|done| store.history(ann, direct(ann, bob), before.map(Seq), after.map(Seq), limit, done));
        let seqs: Vec<u64> = page.messages.iter().map(|message| message.seq.0).collect();
        assert!(seqs.windows(2).all(|pair| pair[0] + 1 == pair[1]));
        (seqs.first().copied(), seqs.last().copied(), page.more)
    };
    assert_eq!(page(None, None, 10), (Some(91), Some(100), true));
    assert_eq!(page(Some(91), None, 90), (Some(1), Some(90), false));
    assert_eq!(page(Some(50), None, 3), (Some(47), Some(49), true));
    assert_eq!(page(None, Some(0), 3), (Some(1), Some(3), true));
    assert_eq!(page(None, Some(98), 9), (Some(99), Some(100), false));
    assert_eq!(page(None, Some(100), 9), (None, None, false));
    assert_eq!(page(Some(1), None, 9), (None, None, false));
    assert_eq!(page(Some(9), Some(3), 2), (Some(4), Some(5), true));
    let page = ask(|done| store.history(ann, direct(ann, bob), None, None, 2, done));
    let senders: Vec<_> =
        page.messages.iter().map(|message| (message.from, message.from_sub.as_str())).collect();
    assert_eq!(senders, [(bob, "bob"), (ann, "ann")]);
}

pub(crate) fn history_begins_at_a_time(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let id = direct(ann, bob);
    let since = |time: u64, limit| {
        let page = ask(|done| store.history_since(ann, id, Timestamp(time), limit, done)).expect("she may");
        let seqs: Vec<u64> = page.messages.iter().map(|message| message.seq.0).collect();
        (seqs.first().copied(), seqs.len(), page.more)
    };
    assert_eq!(since(0, 9), (None, 0, false), "nobody has written yet");
    // Ten messages an hour, in 50 hours.
    let hour = 3_600_000;
    for number in 0..500 {
        let mut append = message(ann, bob, &number.to_string(), "x");
        append.time = Timestamp(NOW.0 + number / 10 * hour);
        ask(|done| store.append(append, done));
    }
    assert_eq!(since(0, 5), (Some(1), 5, true));
    assert_eq!(since(NOW.0, 5), (Some(1), 5, true));
    for at in 1..50 {
        for time in [NOW.0 + at * hour, NOW.0 + (at - 1) * hour + 1] {
            assert_eq!(since(time, 1).0, Some(at * 10 + 1), "hour {at}");
        }
    }
    assert_eq!(since(NOW.0 + 49 * hour, 50), (Some(491), 10, false));
    assert_eq!(since(NOW.0 + 49 * hour + 1, 9), (None, 0, false));
    assert_eq!(since(u64::MAX, 9), (None, 0, false));
    let theirs = ask(|done| store.history_since(carl, id, NOW, 9, done));
    assert_eq!(theirs.map(|page| page.messages.len()), Err(Refusal::NoSuchConversation));
    let room = ConversationId { site, key: u64::MAX };
    let nowhere = ask(|done| store.history_since(ann, room, NOW, 9, done));
    assert_eq!(nowhere.map(|page| page.messages.len()), Err(Refusal::NoSuchConversation));
}

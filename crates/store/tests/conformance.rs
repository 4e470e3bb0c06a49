//! What the port promises, sentence by sentence, of every store.

mod asking;

use std::collections::BTreeSet;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use asking::{
    Directory, NOW, add_site, ask, direct, message, profile, put, put_named, say, secret, seqs, sign_in,
    since, site, snapshot, sub,
};
use chat::memory::MemoryStore;
use chat::{
    ContactState, ConversationChange, Gap, Mode, Position, Relation, ResumeFrom, Seq, SetPresence, Site,
    SiteId, Store, Timestamp, UserId,
};
use store::{Options, Sqlite};

macro_rules! every_store {
    ($($test:ident,)*) => {
        mod memory {
            $(#[test] fn $test() { super::$test(&super::MemoryStore::new()); })*
        }
        mod sqlite {
            $(#[test] fn $test() {
                let directory = super::Directory::quick();
                super::$test(&super::Sqlite::open(&directory.file(), super::Options::default()).expect("it opens"));
            })*
        }
    };
}

every_store! {
    a_user_is_created_on_first_sight_and_updated_where_the_profile_differs,
    a_position_moves_only_where_something_changed,
    a_new_user_signs_in_to_an_empty_view_and_a_known_one_to_theirs,
    whoever_is_not_met_is_not_told,
    what_is_committed_after_met_is_not_in_doubt,
    seqs_are_gap_free_when_many_write_at_once,
    completions_come_in_the_order_of_their_positions,
    a_repeated_client_id_changes_nothing_and_answers_as_then,
    a_client_id_is_known_for_as_long_as_its_message,
    a_message_moves_the_senders_markers_and_counts_for_the_other,
    markers_never_go_back_and_never_pass_the_newest,
    a_mention_counts_until_it_is_read,
    a_message_brings_an_archived_conversation_back_for_both,
    a_change_is_of_one_member_and_none_without_a_conversation,
    an_answer_to_a_message_that_is_not_there_answers_none,
    the_list_is_pinned_first_then_by_activity_and_pages_are_stable,
    history_is_paged_in_both_directions,
    a_relation_has_two_sides_and_a_limit,
    contacts_are_listed_by_name_and_follow_a_new_name,
    contacts_of_many_are_those_who_have_agreed,
    people_are_found_by_the_start_of_any_word,
    people_are_found_among_many,
    presence_and_bans_are_remembered,
    a_one_time_token_works_once_until_it_expires,
    a_difference_has_what_changed_and_nothing_else,
    a_difference_tells_who_was_taken_off,
    a_gap_says_where_the_sent_messages_begin,
    too_much_change_a_strange_epoch_or_the_future_reset,
    sites_are_kept_whole_and_secrets_are_newest_first,
    the_revision_tells_of_sites_and_bans_only,
    sites_never_meet,
    a_removed_site_leaves_nothing,
}

fn two_users(store: &dyn Store) -> (SiteId, UserId, UserId) {
    let site = add_site(store, "forum");
    (site, put(store, site, "ann"), put(store, site, "bob"))
}

fn state(of_a: ContactState, of_b: ContactState) -> Relation {
    Relation { of_a, of_b }
}

fn relate(store: &dyn Store, a: UserId, b: UserId, relation: Relation) -> Option<Position> {
    ask(|done| store.put_relation(a, b, relation, 100, NOW, done))
}

const FRIENDS: Relation = Relation { of_a: ContactState::Contact, of_b: ContactState::Contact };
const STRANGERS: Relation = Relation { of_a: ContactState::None, of_b: ContactState::None };

// ---- users ----

fn a_user_is_created_on_first_sight_and_updated_where_the_profile_differs(store: &dyn Store) {
    let site = add_site(store, "forum");
    let first = ask(|done| store.put_user(site, profile("ann", "Ann"), NOW, done));
    assert_eq!((first.created, first.banned, first.presence), (NOW, false, SetPresence::Online));
    let mut changed = profile("ann", "Anna");
    changed.avatar = Some("https://a.example/ann.png".into());
    let later = Timestamp(NOW.0 + 5);
    let second = ask(|done| store.put_user(site, changed.clone(), later, done));
    assert_eq!((second.id, second.created, &second.profile), (first.id, NOW, &changed));
    assert_eq!(ask(|done| store.user(site, sub("ann"), done)), Some(second.clone()));
    let other = put(store, site, "bob");
    assert_ne!(other, first.id);
    let rows = ask(|done| store.users(site, vec![sub("bob"), sub("nobody"), sub("ann")], done));
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), [other, first.id]);
    let stranger = UserId { site, num: 77 };
    assert_eq!(ask(|done| store.users_by_id(vec![first.id, stranger], done)), [second]);
    assert_eq!(ask(|done| store.user(site, sub("nobody"), done)), None);
    let listed = store.list_users(site, Some(sub("ann")), 9).expect("the store works");
    assert_eq!(listed.iter().map(|row| row.id).collect::<Vec<_>>(), [other]);
}

fn a_position_moves_only_where_something_changed(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    say(store, ann, bob, "1", "hello");
    relate(store, ann, bob, FRIENDS);
    let before = snapshot(store, ann, None).position;
    put(store, site, "ann");
    sign_in(store, site, profile("ann", "ann"), since(None));
    say(store, ann, bob, "1", "hello");
    let marker = ask(|done| store.mark(direct(ann, bob), ann, Seq(1), Seq(1), done));
    assert_eq!((marker.moved, marker.position), (false, before));
    assert_eq!(relate(store, ann, bob, FRIENDS), Some(before));
    let nothing = ConversationChange::default();
    let unchanged = ask(|done| store.change_conversation(direct(ann, bob), ann, nothing, done));
    assert_eq!(unchanged.map(|(_, position)| position), Some(before));
    store.put_presence(ann, SetPresence::Away, NOW);
    store.flush().expect("the store works");
    assert_eq!(snapshot(store, ann, None).position, before);
    assert!(say(store, ann, bob, "2", "hello").position > before);
}

fn a_new_user_signs_in_to_an_empty_view_and_a_known_one_to_theirs(store: &dyn Store) {
    let (site, _, bob) = two_users(store);
    let (carl, view) = sign_in(store, site, profile("carl", "Carl"), since(None));
    assert!(view.reset && view.conversations.rows.is_empty() && view.contacts.rows.is_empty());
    say(store, bob, carl.id, "1", "welcome");
    for name in ["Carl", "Carl the Great"] {
        let (row, view) = sign_in(store, site, profile("carl", name), since(None));
        assert_eq!((row.id, &*row.profile.name), (carl.id, name));
        assert_eq!(view.conversations.rows.len(), 1);
        assert_eq!(view.conversations.rows[0].other.id, bob);
    }
    let (_, view) = sign_in(store, site, profile("carl", "Carl"), since(Some(view.position)));
    assert_eq!(view.messages.len(), 1);
}

fn whoever_is_not_met_is_not_told(store: &dyn Store) {
    let (site, ..) = two_users(store);
    for id in ["ann", "newcomer"] {
        let (told, wait) = channel::<()>();
        let done = Box::new(move |_| told.send(()).expect("the test waits"));
        store.sign_in(site, profile(id, id), since(None), NOW, Box::new(|_| false), done);
        assert!(wait.recv().is_err(), "dropped uncalled");
        assert!(ask(|done| store.user(site, sub(id), done)).is_some());
    }
}

/// Whatever the view does not have has a greater position, and is committed after `met`.
fn what_is_committed_after_met_is_not_in_doubt(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    for number in 0..20 {
        let written = Arc::new(Mutex::new(None));
        let (told, wait) = channel();
        let met = {
            let (written, told) = (Arc::clone(&written), told.clone());
            move |_: &chat::UserRow| {
                *written.lock().expect("no panic") = Some(told);
                true
            }
        };
        let (row, view) =
            ask(|done| store.sign_in(site, profile("ann", "ann"), since(None), NOW, Box::new(met), done));
        assert_eq!(row.id, ann);
        assert!(written.lock().expect("no panic").is_some(), "met comes before the view");
        store.append(
            message(bob, ann, &number.to_string(), "hi"),
            Box::new(move |outcome| {
                told.send(outcome.expect("the store works").position).expect("the test waits");
            }),
        );
        assert!(wait.recv().expect("the store answers") > view.position);
    }
}

// ---- messages ----

fn seqs_are_gap_free_when_many_write_at_once(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    std::thread::scope(|scope| {
        for writer in 0..8 {
            scope.spawn(move || {
                let (from, to) = if writer % 2 == 0 { (ann, bob) } else { (bob, ann) };
                let (told, answers) = channel();
                for number in 0..50 {
                    let told = told.clone();
                    let append = message(from, to, &format!("{writer}-{number}"), "x");
                    store.append(
                        append,
                        Box::new(move |outcome| {
                            told.send(outcome.expect("the store works").seq).expect("the test waits");
                        }),
                    );
                }
                drop(told);
                let seqs: Vec<Seq> = answers.iter().collect();
                assert_eq!(seqs.len(), 50);
                assert!(seqs.is_sorted(), "one writer's messages keep their order");
            });
        }
    });
    assert_eq!(seqs(store, direct(ann, bob)), (1..=400).map(Seq).collect::<Vec<_>>());
}

fn completions_come_in_the_order_of_their_positions(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let (told, answers) = channel();
    for number in 0..300u64 {
        let told = told.clone();
        let to = if number % 2 == 0 { bob } else { carl };
        match number % 3 {
            0 => store.mark(
                direct(ann, to),
                to,
                Seq(number),
                Seq(number),
                Box::new(move |outcome| {
                    told.send(outcome.expect("the store works").position).expect("the test waits");
                }),
            ),
            _ => store.append(
                message(ann, to, &number.to_string(), "x"),
                Box::new(move |outcome| {
                    told.send(outcome.expect("the store works").position).expect("the test waits");
                }),
            ),
        }
    }
    drop(told);
    let positions: Vec<Position> = answers.iter().collect();
    assert_eq!(positions.len(), 300);
    assert!(positions.is_sorted());
}

fn a_repeated_client_id_changes_nothing_and_answers_as_then(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let first = say(store, ann, bob, "id", "hello");
    assert_eq!((first.seq, first.repeated), (Seq(1), false));
    let again = say(store, ann, bob, "id", "other words");
    assert_eq!(again, chat::Appended { repeated: true, ..first });
    assert_eq!(say(store, ann, carl, "id", "to somebody else"), again, "in whatever conversation");
    assert_eq!(say(store, bob, ann, "id", "another sender").seq, Seq(2));
    let page = ask(|done| store.history(direct(ann, bob), None, None, 9, done));
    assert_eq!(&*page.messages[0].body, "hello");
    assert!(seqs(store, direct(ann, carl)).is_empty());
    // Both in one batch.
    let (told, answers) = channel();
    for _ in 0..2 {
        let told = told.clone();
        store.append(
            message(ann, bob, "twin", "x"),
            Box::new(move |outcome| {
                told.send(outcome.expect("the store works")).expect("the test waits");
            }),
        );
    }
    let (one, two) = (answers.recv().expect("answered"), answers.recv().expect("answered"));
    assert_eq!(two, chat::Appended { repeated: true, ..one });
}

/// More messages than a store may keep in mind, with ids in and out of order.
fn a_client_id_is_known_for_as_long_as_its_message(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let id = |number: u64| {
        if number.is_multiple_of(2) {
            format!("{number:08}")
        } else {
            format!("{:x}", number * 7919 % 65_537)
        }
    };
    let (told, answers) = channel();
    for number in 0..30_000 {
        let told = told.clone();
        store.append(
            message(ann, bob, &id(number), "x"),
            Box::new(move |outcome| {
                told.send(outcome.expect("the store works")).expect("the test waits");
            }),
        );
    }
    drop(told);
    let first: Vec<_> = answers.iter().collect();
    assert_eq!(first.len(), 30_000);
    assert!(first.iter().all(|answer| !answer.repeated));
    for number in (0..30_000).step_by(171) {
        let again = say(store, ann, bob, &id(number), "again");
        assert_eq!(again, chat::Appended { repeated: true, ..first[number as usize] });
    }
}

fn an_answer_to_a_message_that_is_not_there_answers_none(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    for (number, reply_to) in [(1, 1), (2, 1), (3, 9), (4, 0)] {
        let mut append = message(ann, bob, &number.to_string(), "x");
        append.reply_to = Some(Seq(reply_to));
        ask(|done| store.append(append, done));
    }
    let page = ask(|done| store.history(direct(ann, bob), None, None, 9, done));
    let replies: Vec<_> = page.messages.iter().map(|message| message.reply_to).collect();
    assert_eq!(replies, [None, Some(Seq(1)), None, None]);
}

fn history_is_paged_in_both_directions(store: &dyn Store) {
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
        let page = ask(|done| store.history(direct(ann, bob), before.map(Seq), after.map(Seq), limit, done));
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
    let page = ask(|done| store.history(direct(ann, bob), None, None, 2, done));
    let senders: Vec<_> =
        page.messages.iter().map(|message| (message.from, message.from_sub.as_str())).collect();
    assert_eq!(senders, [(bob, "bob"), (ann, "ann")]);
}

// ---- conversations ----

fn a_message_moves_the_senders_markers_and_counts_for_the_other(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let id = direct(ann, bob);
    assert_eq!(ask(|done| store.conversation(ann, id, done)), None);
    say(store, ann, bob, "1", "a");
    say(store, ann, bob, "2", "b");
    let anns = ask(|done| store.conversation(ann, id, done)).expect("it exists");
    assert_eq!((anns.received, anns.read, anns.unread), (Seq(2), Seq(2), 0));
    let bobs = ask(|done| store.conversation(bob, id, done)).expect("it exists");
    assert_eq!((bobs.received, bobs.read, bobs.unread, bobs.their_read), (Seq(0), Seq(0), 2, Seq(2)));
    assert_eq!(bobs.other.id, ann);
    let last = bobs.last.expect("there are messages");
    assert_eq!((last.seq, &*last.body, last.from_sub.as_str()), (Seq(2), "b", "ann"));
    say(store, bob, ann, "3", "c");
    let bobs = ask(|done| store.conversation(bob, id, done)).expect("it exists");
    assert_eq!((bobs.read, bobs.unread), (Seq(3), 0), "who writes has read");
}

fn markers_never_go_back_and_never_pass_the_newest(store: &dyn Store) {
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

fn a_mention_counts_until_it_is_read(store: &dyn Store) {
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

fn a_message_brings_an_archived_conversation_back_for_both(store: &dyn Store) {
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

fn a_change_is_of_one_member_and_none_without_a_conversation(store: &dyn Store) {
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

fn the_list_is_pinned_first_then_by_activity_and_pages_are_stable(store: &dyn Store) {
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
            .map(|row| others.iter().position(|other| *other == row.other.id))
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

// ---- contacts ----

fn a_relation_has_two_sides_and_a_limit(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let (carl, dora) = (put(store, site, "carl"), put(store, site, "dora"));
    let asked = state(ContactState::RequestSent, ContactState::RequestReceived);
    assert!(relate(store, ann, bob, asked).is_some());
    assert_eq!(ask(|done| store.relation(ann, bob, done)), asked);
    let mirrored = state(ContactState::RequestReceived, ContactState::RequestSent);
    assert_eq!(ask(|done| store.relation(bob, ann, done)), mirrored);
    relate(store, bob, ann, FRIENDS);
    relate(store, ann, carl, state(ContactState::Blocked, ContactState::None));
    let others = vec![carl, dora, bob];
    let relations = ask(|done| store.relations(ann, others, done));
    assert_eq!(relations, [state(ContactState::Blocked, ContactState::None), STRANGERS, FRIENDS]);
    let limited = |a, b, limit| ask(|done| store.put_relation(a, b, FRIENDS, limit, NOW, done));
    let before = snapshot(store, ann, None).position;
    assert_eq!(limited(ann, dora, 2), None, "ann has two");
    assert_eq!(limited(dora, ann, 2), None, "from either side");
    assert_eq!(ask(|done| store.relation(ann, dora, done)), STRANGERS);
    assert_eq!(snapshot(store, ann, None).position, before);
    assert!(limited(ann, bob, 2).is_some(), "a row that is there takes no room");
    relate(store, ann, carl, STRANGERS);
    assert!(limited(ann, dora, 2).is_some());
}

fn contacts_are_listed_by_name_and_follow_a_new_name(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    for (id, name) in [("1", "zoe"), ("2", "Ärne"), ("3", "Bert"), ("4", "anton"), ("5", "Bert")] {
        let other = put_named(store, site, id, name);
        relate(store, ann, other, FRIENDS);
    }
    let page = |after: Option<String>| ask(|done| store.contacts(ann, after, 3, done));
    let names = |page: &chat::ContactsPage| {
        page.rows.iter().map(|row| row.profile.sub.as_str().to_owned()).collect::<Vec<_>>()
    };
    let first = page(None);
    assert_eq!(names(&first), ["4", "3", "5"], "whatever the case, then by sub");
    put_named(store, site, "1", "Aaron");
    let second = page(first.next);
    assert_eq!((names(&second), second.next), (vec!["2".to_owned()], None));
    assert_eq!(names(&page(None)), ["1", "4", "3"]);
}

fn contacts_of_many_are_those_who_have_agreed(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let [carl, dora] = ["carl", "dora"].map(|id| put(store, site, id));
    relate(store, dora, ann, FRIENDS);
    relate(store, ann, bob, FRIENDS);
    relate(store, carl, ann, state(ContactState::RequestSent, ContactState::RequestReceived));
    relate(store, carl, bob, state(ContactState::Blocked, ContactState::None));
    let nobody = UserId { site, num: 999 };
    let lists = ask(|done| store.contacts_of(vec![ann, nobody, carl, bob], done));
    assert_eq!(lists, [vec![bob, dora], vec![], vec![], vec![ann]]);
    relate(store, ann, bob, state(ContactState::Blocked, ContactState::None));
    assert_eq!(ask(|done| store.contacts_of(vec![bob, ann], done)), [vec![], vec![dora]]);
}

fn found(store: &dyn Store, site: SiteId, query: &str) -> Vec<String> {
    found_by(store, site, query, 2)
}

fn found_by(store: &dyn Store, site: SiteId, query: &str, limit: u32) -> Vec<String> {
    let (mut after, mut names) = (None, Vec::new());
    loop {
        let page = ask(|done| store.people(site, Some(query.to_owned()), after, limit, done));
        assert!(page.rows.len() <= limit as usize);
        names.extend(page.rows.iter().map(|row| row.profile.name.to_string()));
        after = page.next;
        if after.is_none() {
            return names;
        }
    }
}

fn people_are_found_by_the_start_of_any_word(store: &dyn Store) {
    let site = add_site(store, "forum");
    for name in ["Jürgen Öztürk", "ÖZLEM", "anna-lena", "Anna Maria", "(mod) Hannah", "O'Zed"] {
        put_named(store, site, name, name);
    }
    assert_eq!(found(store, site, "öz"), ["Jürgen Öztürk", "ÖZLEM"]);
    assert_eq!(found(store, site, "ANNA"), ["Anna Maria", "anna-lena"]);
    assert_eq!(found(store, site, "anna m"), ["Anna Maria"]);
    assert_eq!(found(store, site, "lena"), ["anna-lena"]);
    assert_eq!(found(store, site, "mod"), ["(mod) Hannah"]);
    assert_eq!(found(store, site, "zed"), ["O'Zed"]);
    assert!(found(store, site, "rgen").is_empty());
    assert!(found(store, site, "%").len() == 6, "no letter in it: everybody");
    assert_eq!(found(store, site, "").len(), 6);
    put_named(store, site, "anna-lena", "Helena Zorn");
    assert_eq!(found(store, site, "zorn"), ["Helena Zorn"]);
    assert!(found(store, site, "lena").is_empty());
}

/// So many that a store may search another way.
fn people_are_found_among_many(store: &dyn Store) {
    let site = add_site(store, "forum");
    let (told, answers) = channel();
    for number in 0..2_500 {
        let told = told.clone();
        let name = if number % 2 == 0 { format!("Max {number:04}") } else { format!("{number:04} Max") };
        store.put_user(
            site,
            profile(&number.to_string(), &name),
            NOW,
            Box::new(move |row| {
                told.send(row.is_ok()).expect("the test waits");
            }),
        );
    }
    drop(told);
    assert!(answers.iter().all(|ok| ok));
    let names = found_by(store, site, "max", 300);
    assert_eq!(names.len(), 2_500);
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 2_500);
    assert_eq!((names[0].as_str(), names[2_499].as_str()), ("0001 Max", "Max 2498"));
    assert_eq!(found(store, site, "2498"), ["Max 2498"]);
}

fn presence_and_bans_are_remembered(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let seen = Timestamp(NOW.0 + 7);
    store.put_presence(ann, SetPresence::Invisible, seen);
    assert!(ask(|done| store.set_banned(ann, true, done)));
    let row = ask(|done| store.user(site, sub("ann"), done)).expect("it exists");
    assert_eq!((row.presence, row.last_seen, row.banned), (SetPresence::Invisible, seen, true));
    put_named(store, site, "ann", "Ann with a new name");
    let row = ask(|done| store.user(site, sub("ann"), done)).expect("it exists");
    assert!(row.banned, "a new profile changes nothing else");
    assert!(ask(|done| store.set_banned(ann, false, done)));
    assert!(!ask(|done| store.set_banned(UserId { site, num: 99 }, true, done)));
}

fn a_one_time_token_works_once_until_it_expires(store: &dyn Store) {
    let (one, two) = (add_site(store, "one"), add_site(store, "two"));
    let at = |ms| Timestamp(NOW.0 + ms);
    let spend =
        |site, jti: &str, expires, now| ask(|done| store.use_token(site, jti, at(expires), at(now), done));
    assert!(spend(one, "a", 10, 0));
    assert!(!spend(one, "a", 10, 5));
    assert!(!spend(one, "a", 10, 10));
    assert!(spend(one, "b", 10, 10));
    assert!(spend(two, "a", 10, 10), "of another site");
    assert!(spend(one, "a", 30, 11), "forgotten");
    assert!(!spend(one, "a", 30, 12));
}

// ---- views ----

fn a_difference_has_what_changed_and_nothing_else(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let (carl, dora) = (put(store, site, "carl"), put(store, site, "dora"));
    say(store, ann, bob, "1", "old");
    say(store, ann, carl, "2", "old");
    relate(store, ann, carl, FRIENDS);
    let position = snapshot(store, ann, None).position;
    let nothing = snapshot(store, ann, Some(position));
    assert!(!nothing.reset && nothing.conversations.rows.is_empty() && nothing.contacts.rows.is_empty());
    assert_eq!(nothing.position, position);

    say(store, bob, ann, "3", "new");
    say(store, ann, bob, "4", "new, of my other device");
    say(store, bob, carl, "5", "not mine");
    relate(store, dora, ann, state(ContactState::RequestSent, ContactState::RequestReceived));
    let news = snapshot(store, ann, Some(position));
    assert!(!news.reset && news.gaps.is_empty());
    let rows: Vec<_> = news.conversations.rows.iter().map(|row| (row.other.id, row.unread)).collect();
    assert_eq!(rows, [(bob, 0)]);
    let messages: Vec<_> = news.messages.iter().map(|message| (message.seq, &*message.body)).collect();
    assert_eq!(messages, [(Seq(2), "new"), (Seq(3), "new, of my other device")]);
    let contacts: Vec<_> = news.contacts.rows.iter().map(|row| (row.id, row.state)).collect();
    assert_eq!(contacts, [(dora, ContactState::RequestReceived)]);

    ask(|done| store.mark(direct(ann, carl), carl, Seq(1), Seq(1), done));
    let pin = ConversationChange { pinned: Some(true), ..Default::default() };
    ask(|done| store.change_conversation(direct(ann, bob), bob, pin, done));
    let markers = snapshot(store, ann, Some(news.position));
    let rows: Vec<_> = markers.conversations.rows.iter().map(|row| (row.other.id, row.their_read)).collect();
    assert_eq!(rows, [(carl, Seq(1))], "the other's marker is mine to see, the other's pin is not");
    assert!(markers.messages.is_empty());
}

fn a_difference_tells_who_was_taken_off(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    relate(store, ann, bob, FRIENDS);
    let position = snapshot(store, ann, None).position;
    relate(store, ann, bob, STRANGERS);
    let news = snapshot(store, ann, Some(position));
    let contacts: Vec<_> = news.contacts.rows.iter().map(|row| (row.id, row.state)).collect();
    assert_eq!(contacts, [(bob, ContactState::None)]);
    assert!(ask(|done| store.contacts(ann, None, 9, done)).rows.is_empty());
    assert!(snapshot(store, ann, None).contacts.rows.is_empty());
}

fn a_gap_says_where_the_sent_messages_begin(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let (carl, dora) = (put(store, site, "carl"), put(store, site, "dora"));
    let position = snapshot(store, ann, None).position;
    for (at, from) in [dora, carl, bob].into_iter().enumerate() {
        for number in 0..5 {
            let mut append = message(from, ann, &number.to_string(), "x");
            append.time = Timestamp(NOW.0 + at as u64);
            ask(|done| store.append(append, done));
        }
    }
    let from = ResumeFrom {
        position: Some(position),
        page: 9,
        contacts: 9,
        messages: 5,
        messages_per_conversation: 3,
    };
    let news = ask(|done| store.snapshot(ann, from, done));
    let sent: Vec<_> = news.messages.iter().map(|message| (message.conversation, message.seq.0)).collect();
    let (bobs, carls, doras) = (direct(ann, bob), direct(ann, carl), direct(ann, dora));
    assert_eq!(sent, [(bobs, 3), (bobs, 4), (bobs, 5), (carls, 4), (carls, 5)]);
    let gap = |conversation, first| Gap { conversation, first: Seq(first) };
    assert_eq!(news.gaps, [gap(bobs, 3), gap(carls, 4), gap(doras, 6)]);
    let whole = snapshot(store, ann, Some(position));
    assert_eq!((whole.messages.len(), whole.gaps.len()), (15, 0));
}

fn too_much_change_a_strange_epoch_or_the_future_reset(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let position = snapshot(store, ann, None).position;
    for number in 0..4 {
        let other = put(store, site, &number.to_string());
        say(store, other, ann, "1", "x");
    }
    let resume =
        |position, page| ask(|done| store.snapshot(ann, ResumeFrom { page, ..since(Some(position)) }, done));
    assert!(!resume(position, 4).reset);
    let much = resume(position, 3);
    assert!(much.reset && much.messages.is_empty() && much.gaps.is_empty());
    assert_eq!(much.conversations.rows.len(), 3);
    assert!(much.conversations.next.is_some());
    assert!(resume(Position { epoch: position.epoch.wrapping_add(1), ..position }, 9).reset);
    assert!(resume(Position { number: much.position.number + 1, ..position }, 9).reset);
    assert!(snapshot(store, ann, None).reset);
}

// ---- sites ----

fn sites_are_kept_whole_and_secrets_are_newest_first(store: &dyn Store) {
    let id = add_site(store, "forum");
    assert_eq!(store.add_site(&site("forum")), Ok(None), "the key is taken");
    let other = add_site(store, "other");
    assert_ne!(id, other);
    store.add_secret(id, &secret(b"rotated")).expect("the store works");
    let sites = store.sites().expect("the store works");
    let kept = sites.iter().find(|site| site.id == id).expect("it was added").clone();
    let secrets: Vec<&[u8]> = kept.secrets.iter().map(|secret| &secret.bytes[..]).collect();
    assert_eq!(secrets, [&b"rotated"[..], b"newest", b"older"]);
    assert_eq!(Site { secrets: site("forum").secrets, ..kept.clone() }, Site { id, ..site("forum") });
    let changed = Site {
        name: "New name".into(),
        mode: Mode::Open,
        guests: false,
        origins: Vec::new(),
        secrets: vec![secret(b"last")],
        ..kept
    };
    store.update_site(&changed).expect("the store works");
    let sites = store.sites().expect("the store works");
    assert!(sites.contains(&changed) && sites.len() == 2);
}

fn the_revision_tells_of_sites_and_bans_only(store: &dyn Store) {
    let revision = || store.revision().expect("the store works");
    let mut before = revision();
    let mut changed = || std::mem::replace(&mut before, revision()) != revision();
    let (id, ann, bob) = two_users(store);
    assert!(changed());
    say(store, ann, bob, "1", "x");
    store.put_presence(ann, SetPresence::Away, NOW);
    store.flush().expect("the store works");
    assert!(!changed());
    ask(|done| store.set_banned(ann, true, done));
    assert!(changed());
    store.add_secret(id, &secret(b"new")).expect("the store works");
    assert!(changed());
    store.update_site(&Site { id, ..site("forum") }).expect("the store works");
    assert!(changed());
    store.remove_site(id).expect("the store works");
    assert!(changed());
}

fn sites_never_meet(store: &dyn Store) {
    let sites = [add_site(store, "one"), add_site(store, "two")];
    let users = sites.map(|site| (put(store, site, "ann"), put(store, site, "bob")));
    let [(ann, bob), (other_ann, other_bob)] = users;
    assert_eq!(chat::ConversationId::direct(ann, other_bob), None);
    say(store, ann, bob, "id", "mine");
    relate(store, ann, bob, FRIENDS);
    ask(|done| store.set_banned(bob, true, done));
    assert!(!say(store, other_ann, other_bob, "id", "theirs").repeated, "the same sub and id");
    let page = ask(|done| store.history(direct(other_ann, other_bob), None, None, 9, done));
    assert_eq!(page.messages.iter().map(|message| &*message.body).collect::<Vec<_>>(), ["theirs"]);
    assert_eq!(ask(|done| store.relation(other_ann, other_bob, done)), STRANGERS);
    assert!(!ask(|done| store.user(sites[1], sub("bob"), done)).expect("it exists").banned);
    assert_eq!(found(store, sites[1], "ann").len(), 1);
    assert_eq!(ask(|done| store.conversations(other_ann, false, None, 9, done)).rows.len(), 1);
}

fn a_removed_site_leaves_nothing(store: &dyn Store) {
    let (gone, kept) = (add_site(store, "gone"), add_site(store, "kept"));
    for site in [gone, kept] {
        let (ann, bob) = (put(store, site, "ann"), put_named(store, site, "bob", "Bob the Builder"));
        say(store, ann, bob, "1", "x");
        relate(store, ann, bob, FRIENDS);
        assert!(ask(|done| store.use_token(site, "jti", NOW, NOW, done)));
    }
    let user = |site, num| UserId { site, num };
    assert_eq!(store.remove_site(gone), Ok(true));
    assert_eq!(store.remove_site(gone), Ok(false));
    assert_eq!(ask(|done| store.user(gone, sub("ann"), done)), None);
    assert!(found(store, gone, "").is_empty() && found(store, gone, "builder").is_empty());
    assert!(seqs(store, direct(user(gone, 1), user(gone, 2))).is_empty());
    assert!(snapshot(store, user(gone, 1), None).conversations.rows.is_empty());
    assert_eq!(ask(|done| store.relation(user(gone, 1), user(gone, 2), done)), STRANGERS);
    assert!(ask(|done| store.use_token(gone, "jti", NOW, NOW, done)));
    assert_eq!(seqs(store, direct(user(kept, 1), user(kept, 2))), [Seq(1)]);
    assert_eq!(found(store, kept, "builder").len(), 1);
    assert_eq!(store.sites().expect("the store works").len(), 1);
    assert_ne!(add_site(store, "gone"), gone, "a number is never used again");
}

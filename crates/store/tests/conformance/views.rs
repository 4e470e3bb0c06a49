//! The view of a device that connects: everything, or the difference since its position.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use chat::items::{ItemAccess, ItemListChange, PutItem};
use chat::{ConversationChange, Gap, Position, ResumeFrom, Seq, Side, Store, Timestamp, Waiting};

use crate::asking::{
    NOW, ask, direct, message, profile, put, say, sign_in, since, snapshot, snapshot_from, sub,
};
use crate::{FRIENDS, STRANGERS, relate, state, two_users};

pub(crate) fn a_new_user_signs_in_to_an_empty_view_and_a_known_one_to_theirs(store: &dyn Store) {
    let (site, _, bob) = two_users(store);
    let (carl, view) = sign_in(store, site, profile("carl", "Carl"), since(None));
    assert!(view.reset && view.conversations.rows.is_empty() && view.contacts.rows.is_empty());
    say(store, bob, carl.id, "1", "welcome");
    for name in ["Carl", "Carl the Great"] {
        let (row, view) = sign_in(store, site, profile("carl", name), since(None));
        assert_eq!((row.id, &*row.profile.name), (carl.id, name));
        assert_eq!(view.conversations.rows.len(), 1);
        assert_eq!(view.conversations.rows[0].of.other().expect("a direct one").id, bob);
    }
    let (_, view) = sign_in(store, site, profile("carl", "Carl"), since(Some(view.position)));
    assert_eq!(view.messages.len(), 1);
}

pub(crate) fn an_empty_first_page_says_what_waits(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let empty = ResumeFrom { page: 0, contacts: 0, ..since(None) };
    let waiting = || {
        let (_, view) = sign_in(store, site, profile("bob", "Bob"), empty);
        assert!(view.reset && view.conversations.rows.is_empty() && view.contacts.rows.is_empty());
        let Waiting { contact_requests, conversations, items } = view.waiting;
        [contact_requests, conversations, items]
    };
    assert_eq!(waiting(), [false; 3]);
    relate(store, ann, bob, state(Side::REQUESTED, Side::ASKS));
    assert_eq!(waiting(), [true, false, false]);
    relate(store, ann, bob, FRIENDS);
    let said = say(store, ann, bob, "1", "hello");
    assert_eq!(waiting(), [false, true, false]);
    ask(|done| store.mark(direct(ann, bob), bob, said.seq, said.seq, done));
    assert_eq!(waiting(), [false; 3], "it was read");
    say(store, bob, ann, "2", "hello");
    assert_eq!(waiting(), [false; 3], "the user's own messages do not wait");
    let requires = ItemListChange { access: None, most: None, persists: None, sends_latest: None };
    let default = ItemAccess::Contacts;
    let item = PutItem { list: "l".into(), id: "i".into(), payload: "<a/>".into(), requires, default };
    ask(|done| store.put_item(bob, item, done)).expect("it fits");
    assert_eq!(waiting(), [false, false, true]);
    let (_, view) = sign_in(store, site, profile("bob", "Bob"), since(None));
    assert_eq!(view.waiting, Waiting::default(), "a whole page has everything");
}

pub(crate) fn a_rejected_sign_in_gets_no_answer(store: &dyn Store) {
    let (site, ..) = two_users(store);
    for id in ["ann", "newcomer"] {
        let (sender, wait) = channel::<()>();
        let done = Box::new(move |_| sender.send(()).expect("the test waits"));
        store.sign_in(site, profile(id, id).into(), since(None), NOW, Box::new(|_| false), done);
        assert!(wait.recv().is_err(), "dropped uncalled");
        assert!(ask(|done| store.user(site, sub(id), done)).is_some());
    }
}

/// A change that the view does not have has a greater position, and is committed after `met`.
pub(crate) fn later_commits_come_after_met(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    for number in 0..20 {
        let written = Arc::new(Mutex::new(None));
        let (sender, wait) = channel();
        let met = {
            let (written, sender) = (Arc::clone(&written), sender.clone());
            move |_: &chat::UserRow| {
                *written.lock().expect("no panic") = Some(sender);
                true
            }
        };
        let (row, view) = ask(|done| {
            store.sign_in(site, profile("ann", "ann").into(), since(None), NOW, Box::new(met), done)
        });
        assert_eq!(row.id, ann);
        assert!(written.lock().expect("no panic").is_some(), "met comes before the view");
        store.append(
            message(bob, ann, &number.to_string(), "hi"),
            Box::new(move |outcome| {
                sender.send(outcome.expect("the store works").position).expect("the test waits");
            }),
        );
        assert!(wait.recv().expect("the store answers") > view.position);
    }
}

pub(crate) fn a_difference_has_changed_rows_only(store: &dyn Store) {
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
    relate(store, dora, ann, state(Side::REQUESTED, Side::ASKS));
    let news = snapshot(store, ann, Some(position));
    assert!(!news.reset && news.gaps.is_empty());
    let rows: Vec<_> = news
        .conversations
        .rows
        .iter()
        .map(|row| (row.of.other().expect("a direct one").id, row.unread))
        .collect();
    assert_eq!(rows, [(bob, 0)]);
    let messages: Vec<_> = news.messages.iter().map(|message| (message.seq, &*message.body)).collect();
    assert_eq!(messages, [(Seq(2), "new"), (Seq(3), "new, of my other device")]);
    let contacts: Vec<_> = news.contacts.rows.iter().map(|row| (row.id, row.side)).collect();
    assert_eq!(contacts, [(dora, Side::ASKS)]);

    ask(|done| store.mark(direct(ann, carl), carl, Seq(1), Seq(1), done));
    let pin = ConversationChange { pinned: Some(true), ..Default::default() };
    ask(|done| store.change_conversation(direct(ann, bob), bob, pin, done)).expect("it exists");
    let markers = snapshot(store, ann, Some(news.position));
    let rows: Vec<_> = markers
        .conversations
        .rows
        .iter()
        .map(|row| (row.of.other().expect("a direct one").id, row.their_read))
        .collect();
    assert_eq!(rows, [(carl, Seq(1))], "the other's marker is mine to see, the other's pin is not");
    assert!(markers.messages.is_empty());
}

pub(crate) fn a_difference_has_removed_contacts(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    relate(store, ann, bob, FRIENDS);
    let position = snapshot(store, ann, None).position;
    relate(store, ann, bob, STRANGERS);
    let news = snapshot(store, ann, Some(position));
    let contacts: Vec<_> = news.contacts.rows.iter().map(|row| (row.id, row.side)).collect();
    assert_eq!(contacts, [(bob, Side::NONE)]);
    assert!(ask(|done| store.contacts(ann, None, 9, done)).rows.is_empty());
    assert!(snapshot(store, ann, None).contacts.rows.is_empty());
}

pub(crate) fn a_gap_has_the_seq_of_the_first_sent_message(store: &dyn Store) {
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
    let news = snapshot_from(store, ann, from);
    let sent: Vec<_> = news.messages.iter().map(|message| (message.conversation, message.seq.0)).collect();
    let (bobs, carls, doras) = (direct(ann, bob), direct(ann, carl), direct(ann, dora));
    assert_eq!(sent, [(bobs, 3), (bobs, 4), (bobs, 5), (carls, 4), (carls, 5)]);
    let gap = |conversation, first| Gap { conversation, first: Seq(first), forget: false };
    assert_eq!(news.gaps, [gap(bobs, 3), gap(carls, 4), gap(doras, 6)]);
    let whole = snapshot(store, ann, Some(position));
    assert_eq!((whole.messages.len(), whole.gaps.len()), (15, 0));
}

pub(crate) fn too_much_change_a_strange_epoch_or_the_future_reset(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let position = snapshot(store, ann, None).position;
    for number in 0..4 {
        let other = put(store, site, &number.to_string());
        say(store, other, ann, "1", "x");
    }
    let resume = |position, page| snapshot_from(store, ann, ResumeFrom { page, ..since(Some(position)) });
    assert!(!resume(position, 4).reset);
    let much = resume(position, 3);
    assert!(much.reset && much.messages.is_empty() && much.gaps.is_empty());
    assert_eq!(much.conversations.rows.len(), 3);
    assert!(much.conversations.next.is_some());
    assert!(resume(Position { epoch: position.epoch.wrapping_add(1), ..position }, 9).reset);
    assert!(resume(Position { number: much.position.number + 1, ..position }, 9).reset);
    assert!(snapshot(store, ann, None).reset);
}

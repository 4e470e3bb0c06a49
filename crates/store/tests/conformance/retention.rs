//! Retention: the oldest messages are removed, and nothing else changes.

use chat::{
    Append, ConversationId, ConversationList, NewRoom, Post, RoomKind, RoomLimits, RoomName, Search, Seq,
    SiteId, Store, Timestamp, Trim, Trimmed, UserId, words,
};

use crate::asking::{NOW, add_site, ask, direct, message, put, say, snapshot};
use crate::two_users;

const HOUR: u64 = 3_600_000;

fn at(hours: u64) -> Timestamp {
    Timestamp(NOW.0 + hours * HOUR)
}

fn wrote(store: &dyn Store, from: UserId, to: UserId, id: &str, hours: u64) -> Seq {
    let append = Append { time: at(hours), ..message(from, to, id, &format!("word {id}")) };
    ask(|done| store.append(append, done)).seq
}

/// A removed message had named the newest position, and later changes are still newer.
pub(crate) fn a_position_outlasts_its_message(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    wrote(store, ann, bob, "1", 0);
    let before = snapshot(store, ann, None).position;
    assert_eq!(trim(store, site, &all_before(1), 9), 1);
    assert_eq!(snapshot(store, ann, None).position, before);
    let gone = add_site(store, "gone");
    let [carl, dora] = ["carl", "dora"].map(|name| put(store, gone, name));
    let last = say(store, carl, dora, "1", "x").position;
    assert_eq!(store.remove_site(gone), Ok(true));
    assert_eq!(snapshot(store, ann, None).position, last);
    assert!(say(store, ann, bob, "2", "x").position > last);
}

/// Trims until nothing is left to remove; returns the number of removed messages.
fn trim(store: &dyn Store, site: SiteId, trim: &Trim, limit: u32) -> u32 {
    let (mut after, mut removed) = (None, 0);
    for _ in 0..1_000 {
        let part: Trimmed = ask(|done| store.trim(site, after, trim.clone(), limit, done));
        removed += part.removed;
        after = part.next;
        if after.is_none() {
            return removed;
        }
    }
    panic!("it does not end");
}

fn seqs(store: &dyn Store, reader: UserId, id: ConversationId, after: Option<u64>) -> (Vec<u64>, bool) {
    let page = ask(|done| store.history(reader, id, None, after.map(Seq), 50, done));
    (page.messages.iter().map(|one| one.seq.0).collect(), page.more)
}

fn all_before(hours: u64) -> Trim {
    Trim { before: Some(at(hours)), rooms: Vec::new() }
}

pub(crate) fn the_oldest_go_and_numbers_stay(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let id = direct(ann, bob);
    for n in 0..100 {
        wrote(
            store,
            if n % 3 == 0 { bob } else { ann },
            if n % 3 == 0 { ann } else { bob },
            &format!("m{n}"),
            n,
        );
    }
    assert_eq!(trim(store, site, &all_before(0), 7), 0);
    assert_eq!(trim(store, site, &all_before(70), 7), 70);
    assert_eq!(trim(store, site, &all_before(70), 7), 0, "once");
    let newest = seqs(store, ann, id, None);
    assert_eq!((newest.0.first(), newest.0.last(), newest.1), (Some(&71), Some(&100), false));
    let page = ask(|done| store.history(ann, id, Some(Seq(80)), None, 5, done));
    assert_eq!((page.messages[0].seq, page.more), (Seq(75), true));
    let page = ask(|done| store.history(ann, id, Some(Seq(76)), None, 5, done));
    assert_eq!((page.messages[0].seq, page.messages.len(), page.more), (Seq(71), 5, false));
    let page = ask(|done| store.history(ann, id, Some(Seq(40)), None, 5, done));
    assert_eq!((page.messages.len(), page.more), (0, false));
    let from_start = seqs(store, ann, id, Some(0));
    assert_eq!((from_start.0.first(), from_start.0.len(), from_start.1), (Some(&71), 30, false));
    for (time, first) in [(at(0), 71), (at(70), 71), (at(80), 81)] {
        let page = ask(|done| store.history_since(ann, id, time, 1, done)).expect("she may");
        assert_eq!(page.messages[0].seq, Seq(first));
    }
    let wanted = |text| Search { user: ann, words: words(text), conversation: None, after: None, limit: 9 };
    assert_eq!(ask(|done| store.search(wanted("m5"), done)).expect("she may").hits, []);
    assert_eq!(wrote(store, ann, bob, "m100", 100), Seq(101));
    assert_eq!(wrote(store, ann, bob, "m98", 100), Seq(99), "it is known still");
    let (mut exported, mut after) = (0, None);
    loop {
        let page = ask(|done| store.export(ann, after, 9, done));
        exported += page.messages.len();
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(exported, 31);
}

pub(crate) fn a_conversation_with_only_old_messages_becomes_empty(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let id = direct(ann, bob);
    for n in 0..40 {
        wrote(store, ann, bob, &format!("m{n}"), n);
    }
    let edit = |seq| chat::ChangeMessage {
        conversation: id,
        seq: Seq(seq),
        by: ann,
        change: chat::MessageChange::edit("else"),
        time: NOW,
    };
    ask(|done| store.change_message(edit(3), done)).expect("she may");
    assert_eq!(trim(store, site, &all_before(1_000), 100), 40);
    assert_eq!(seqs(store, bob, id, None), (vec![], false));
    assert_eq!(ask(|done| store.revisions(id, Seq(3), done)), []);
    assert_eq!(ask(|done| store.change_message(edit(3), done)), Err(chat::Refusal::NoSuchMessage));
    let rows = ask(|done| store.conversations(bob, ConversationList::Main, None, 9, done)).rows;
    assert_eq!((rows.len(), rows[0].last.clone(), rows[0].unread), (1, None, 40));
    let marker = ask(|done| store.mark(id, bob, Seq(40), Seq(40), done));
    assert_eq!((marker.unread, marker.moved), (0, true));
    assert_eq!(wrote(store, bob, ann, "b1", 41), Seq(41));
    assert_eq!(seqs(store, ann, id, None), (vec![41], false));
    assert!(snapshot(store, ann, None).conversations.rows[0].last.is_some());
}

pub(crate) fn a_room_may_keep_for_another_time(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let elsewhere = add_site(store, "other");
    let (cat, dan) = (put(store, elsewhere, "cat"), put(store, elsewhere, "dan"));
    say(store, cat, dan, "c1", "of another site");
    let limits = RoomLimits::default();
    let rooms: Vec<ConversationId> = ["Bikers", "Archive"]
        .into_iter()
        .map(|name| {
            let new = NewRoom { name: name.into(), kind: RoomKind::Public, topic: None, alias: None };
            ask(|done| store.create_room(ann, new, limits, NOW, done)).expect("it is made").row.id
        })
        .collect();
    for (at_room, room) in rooms.iter().enumerate() {
        for n in 0..10 {
            let post = Post {
                names_author: false,
                kind: chat::MessageKind::Text,
                room: RoomName::Id(*room),
                from: ann,
                client_id: format!("r{at_room}-{n}").into(),
                body: "@bob".into(),
                extension: None,
                time: at(n),
                reply_to: None,
                files: Vec::new(),
                rich: None,
            };
            ask(|done| store.post(post, limits, done)).expect("she may");
        }
    }
    wrote(store, ann, bob, "d1", 0);
    let wanted = Trim { before: None, rooms: vec![(rooms[0], Some(at(4))), (rooms[1], None)] };
    assert_eq!(trim(store, site, &wanted, 3), 4);
    let wanted = Trim { before: Some(at(8)), rooms: vec![(rooms[1], None)] };
    assert_eq!(trim(store, site, &wanted, 3), 5, "four more of the room, and the direct one");
    let left = |room: ConversationId| {
        let named = RoomName::Id(room);
        let (_, page) = ask(|done| store.room_history(named, ann, None, None, 50, done)).expect("she may");
        page.messages.len()
    };
    assert_eq!((left(rooms[0]), left(rooms[1])), (2, 10));
    assert_eq!(seqs(store, cat, direct(cat, dan), None).0, [1]);
}

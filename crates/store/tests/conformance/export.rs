//! Exports: all messages in the member's direct conversations, and the member's own in rooms, each once, and all items.

use std::collections::BTreeSet;

use chat::items::{ITEM_PAGE_BYTES, ItemAccess, ItemListChange, PutItem};
use chat::{ConversationId, ExportPage, NewRoom, Post, RoomKind, RoomLimits, RoomName, Store, UserId};

use crate::asking::{NOW, add_site, ask, put, say};
use crate::two_users;

fn pages(store: &dyn Store, user: UserId, limit: u32) -> Vec<(ConversationId, u64, String)> {
    let (mut all, mut after) = (Vec::new(), None);
    for _ in 0..100 {
        let page: ExportPage = ask(|done| store.export(user, after.clone(), limit, done));
        assert!(page.messages.len() <= limit as usize);
        all.extend(page.messages.iter().map(|one| (one.conversation, one.seq.0, one.body.to_string())));
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
    panic!("it does not end: {all:?}");
}

pub(crate) fn an_export_has_each_message_of_the_member_once(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let cat = put(store, site, "cat");
    assert_eq!(pages(store, ann, 3), []);
    for n in 0..7 {
        say(store, ann, bob, &format!("ab{n}"), &format!("to bob {n}"));
        say(store, bob, ann, &format!("ba{n}"), &format!("from bob {n}"));
        say(store, cat, ann, &format!("ca{n}"), &format!("from cat {n}"));
        say(store, cat, bob, &format!("cb{n}"), "not hers");
    }
    let limits = RoomLimits::default();
    let new = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
    let room = ask(|done| store.create_room(ann, new, limits, NOW, done)).expect("it is made").row.id;
    ask(|done| store.join_room(RoomName::Id(room), bob, limits, NOW, done)).expect("he may");
    for (n, from) in [ann, bob, ann, bob, ann].into_iter().enumerate() {
        let post = Post {
            names_author: false,
            kind: chat::MessageKind::Text,
            room: RoomName::Id(room),
            from,
            client_id: format!("r{n}").into(),
            body: format!("in the room {n}").into(),
            extension: None,
            time: NOW,
            reply_to: None,
            files: Vec::new(),
            rich: None,
        };
        ask(|done| store.post(post, limits, done)).expect("they may");
    }
    for limit in [1, 3, 50] {
        let all = pages(store, ann, limit);
        let once: BTreeSet<_> = all.iter().map(|(id, seq, _)| (*id, *seq)).collect();
        assert_eq!((all.len(), once.len()), (24, 24), "{limit}: {all:?}");
        assert!(all.iter().all(|(.., body)| body != "not hers"));
        let in_room: Vec<&str> =
            all.iter().filter(|(id, ..)| *id == room).map(|(.., body)| body.as_str()).collect();
        assert_eq!(in_room, ["in the room 0", "in the room 2", "in the room 4"], "{limit}");
    }
}

pub(crate) fn an_export_ends_with_all_items_of_the_member(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    // Her number on another site.
    let elsewhere = put(store, add_site(store, "garden"), "ann");
    let mut expected = Vec::new();
    let long = "x".repeat(ITEM_PAGE_BYTES / 2);
    for (user, list, id, value) in [
        (ann, "mood", "current", "happy"),
        (bob, "mood", "current", "not hers"),
        (elsewhere, "mood", "current", "not hers either"),
        (ann, "jabber:iq:private", "prefs", long.as_str()),
        (ann, "avatar", "a", long.as_str()),
        (ann, "avatar", "b", long.as_str()),
        (ann, "avatar", "a", "a newer one"),
    ] {
        let requires = ItemListChange { most: Some(9), ..ItemListChange::default() };
        let default = ItemAccess::Contacts;
        let item = PutItem { list: list.into(), id: id.into(), payload: value.into(), requires, default };
        ask(|done| store.put_item(user, item, done)).expect("there is space");
        if user == ann {
            expected.retain(|(of, one, _)| (*of, *one) != (list, id));
            expected.push((list, id, value));
        }
    }
    for limit in [1, 2, 50] {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page: ExportPage = ask(|done| store.export(ann, after.clone(), limit, done));
            assert!(page.items.len() <= limit as usize);
            let lengths: Vec<usize> = page
                .items
                .iter()
                .map(|one| one.item.payload.as_ref().map_or(0, |value| value.len()))
                .collect();
            let before_last: usize = lengths.iter().rev().skip(1).sum();
            assert!(before_last < ITEM_PAGE_BYTES, "{lengths:?}");
            all.extend(page.items);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let all: Vec<_> = all
            .iter()
            .map(|one| (&*one.list, &*one.item.id, one.item.payload.as_deref().expect("the whole value")))
            .collect();
        assert!(
            all == expected,
            "{limit}: {:?}",
            all.iter().map(|(list, id, _)| (list, id)).collect::<Vec<_>>()
        );
    }
}

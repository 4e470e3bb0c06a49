//! Conversations from each member's view: markers, settings, the list.

use chat::{
    ConversationChange, ConversationId, ConversationList, ConversationRow, MOST_PINNED, NewRoom, Position,
    Refusal, RoomKind, RoomLimits, Seq, Store, Timestamp, UserId,
};

use crate::asking::{NOW, ask, direct, message, put, say, snapshot};
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
    let listed = |user, archived| {
        let list = if archived { ConversationList::Archived } else { ConversationList::Main };
        ask(|done| store.conversations(user, list, None, 9, done)).rows.len()
    };
    for user in [ann, bob] {
        ask(|done| store.change_conversation(direct(ann, bob), user, archive.clone(), done))
            .expect("it exists");
        assert_eq!((listed(user, false), listed(user, true)), (0, 1));
    }
    say(store, bob, ann, "2", "x");
    for user in [ann, bob] {
        assert_eq!((listed(user, false), listed(user, true)), (1, 0));
    }
}

pub(crate) fn a_view_changes_for_one_member_and_only_with_a_conversation(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let id = direct(ann, bob);
    let all = ConversationChange {
        muted_until: Some(Timestamp(253_402_300_799_999)),
        pinned: Some(true),
        archived: Some(true),
        marked_unread: Some(true),
        draft: Some("half a".into()),
    };
    let missing = Err(Refusal::NoSuchConversation);
    assert_eq!(ask(|done| store.change_conversation(id, ann, all.clone(), done)), missing);
    say(store, ann, bob, "1", "x");
    let (row, position) =
        ask(|done| store.change_conversation(id, ann, all.clone(), done)).expect("it exists");
    assert_eq!((row.muted_until, row.pinned, row.archived), (Timestamp(253_402_300_799_999), true, true));
    assert_eq!((row.marked_unread, row.draft.as_deref()), (true, Some("half a")));
    let only_one = ConversationChange { pinned: Some(false), ..Default::default() };
    let (row, later) = ask(|done| store.change_conversation(id, ann, only_one, done)).expect("it exists");
    assert_eq!((row.muted_until, row.pinned, row.archived), (Timestamp(253_402_300_799_999), false, true));
    assert_eq!((row.marked_unread, row.draft.as_deref()), (true, Some("half a")), "what is not named stays");
    assert!(later > position);
    assert_eq!(ask(|done| store.conversation(ann, id, done)), Some(row));
    let bobs = ask(|done| store.conversation(bob, id, done)).expect("it exists");
    assert_eq!((bobs.muted_until, bobs.pinned, bobs.archived), (Timestamp(0), false, false));
    assert_eq!((bobs.marked_unread, bobs.draft), (false, None));
    let carl = put(store, site, "carl");
    assert_eq!(ask(|done| store.change_conversation(id, carl, all, done)), missing, "no member");
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
    ask(|done| store.change_conversation(direct(ann, others[2]), ann, pin, done)).expect("it exists");
    let order = |rows: &[chat::ConversationRow]| {
        rows.iter()
            .map(|row| others.iter().position(|other| *other == row.of.other().expect("a direct one").id))
            .collect::<Option<Vec<_>>>()
    };
    let first = ask(|done| store.conversations(ann, ConversationList::Main, None, 3, done));
    assert_eq!(order(&first.rows), Some(vec![2, 6, 5]));
    // A conversation that becomes the newest meanwhile is on the first page, and no other appears twice on the next
    // one.
    let mut append = message(ann, others[1], "again", "x");
    append.time = Timestamp(NOW.0 + 99);
    ask(|done| store.append(append, done));
    let second = ask(|done| store.conversations(ann, ConversationList::Main, first.next, 3, done));
    assert_eq!(order(&second.rows), Some(vec![4, 3, 0]));
    assert_eq!(second.next, None);
    let whole = ask(|done| store.conversations(ann, ConversationList::Main, None, 7, done));
    assert_eq!((order(&whole.rows), whole.next), (Some(vec![2, 1, 6, 5, 4, 3, 0]), None));
}

fn change(
    store: &dyn Store,
    id: ConversationId,
    user: UserId,
    change: ConversationChange,
) -> (ConversationRow, Position) {
    ask(|done| store.change_conversation(id, user, change, done)).expect("it exists")
}

fn room(store: &dyn Store, owner: UserId) -> ConversationId {
    let new = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
    let limits = RoomLimits::default();
    ask(|done| store.create_room(owner, new, limits, NOW, done)).expect("nothing forbids it").row.id
}

pub(crate) fn a_conversation_stays_marked_as_unread_until_the_next_read(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let id = direct(ann, bob);
    say(store, ann, bob, "1", "x");
    ask(|done| store.mark(id, bob, Seq(1), Seq(1), done));
    let mark = |on| ConversationChange { marked_unread: Some(on), ..Default::default() };
    let (row, position) = change(store, id, bob, mark(true));
    assert_eq!((row.marked_unread, row.unread), (true, 0));
    assert_eq!(change(store, id, bob, mark(true)), (row, position), "the same again changes nothing");
    ask(|done| store.mark(id, bob, Seq(1), Seq(1), done));
    let seen = |user| ask(|done| store.conversation(user, id, done)).expect("it exists").marked_unread;
    assert!(seen(bob), "a marker that does not move says nothing");
    say(store, ann, bob, "2", "x");
    ask(|done| store.mark(id, bob, Seq(2), Seq(0), done));
    assert!(seen(bob) && !seen(ann), "received is not read");
    ask(|done| store.mark(id, bob, Seq(2), Seq(2), done));
    assert!(!seen(bob));
    let (row, _) = change(store, id, bob, mark(true));
    assert!(row.marked_unread);
    assert!(!change(store, id, bob, mark(false)).0.marked_unread);
    let room = room(store, ann);
    assert!(change(store, room, ann, mark(true)).0.marked_unread);
    assert!(!change(store, room, ann, mark(false)).0.marked_unread);
}

pub(crate) fn a_draft_belongs_to_one_member_and_the_last_one_counts(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    say(store, ann, bob, "1", "x");
    let draft = |text: &str| ConversationChange { draft: Some(text.into()), ..Default::default() };
    for id in [direct(ann, bob), room(store, ann)] {
        let before = snapshot(store, ann, None).position;
        let (row, first) = change(store, id, ann, draft("half a"));
        assert_eq!(row.draft.as_deref(), Some("half a"));
        let (row, second) = change(store, id, ann, draft("half a thought"));
        assert!(row.draft.as_deref() == Some("half a thought") && second > first && first > before);
        assert_eq!(change(store, id, ann, draft("half a thought")), (row.clone(), second), "nothing new");
        let news = snapshot(store, ann, Some(before)).conversations.rows;
        assert_eq!(news, std::slice::from_ref(&row), "another device is told");
        let listed = ask(|done| store.conversations(ann, ConversationList::Main, None, 9, done)).rows;
        assert!(listed.contains(&row));
        assert_eq!(change(store, id, ann, draft("")).0.draft, None);
        assert_eq!(change(store, id, ann, draft("again")).0.draft.as_deref(), Some("again"));
    }
    let bobs = ask(|done| store.conversation(bob, direct(ann, bob), done)).expect("it exists");
    assert_eq!(bobs.draft, None);
}

pub(crate) fn so_many_are_pinned_and_no_more(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let pin = |on| ConversationChange { pinned: Some(on), ..Default::default() };
    let ids: Vec<_> = (0..=MOST_PINNED)
        .map(|number| {
            let other = put(store, site, &format!("u{number}"));
            say(store, ann, other, &number.to_string(), "x");
            direct(ann, other)
        })
        .collect();
    let room = room(store, ann);
    change(store, room, ann, pin(true));
    ids[2..].iter().for_each(|id| _ = change(store, *id, ann, pin(true)));
    let refused = |id| ask(|done| store.change_conversation(id, ann, pin(true), done));
    assert_eq!(refused(ids[0]), Err(Refusal::TooManyPinned));
    assert!(refused(ids[2]).is_ok(), "it is pinned already");
    change(store, room, ann, pin(false));
    change(store, ids[0], ann, pin(true));
    assert_eq!(refused(room), Err(Refusal::TooManyPinned));
}

pub(crate) fn lists_have_the_unread_ones_and_those_with_a_mention(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let [carl, dora, eve] = ["carl", "dora", "eve"].map(|name| put(store, site, name));
    say(store, ann, bob, "1", "read");
    say(store, carl, ann, "2", "hello");
    say(store, dora, ann, "3", "hello @ann");
    say(store, eve, ann, "4", "hello @ann");
    let archive = ConversationChange { archived: Some(true), ..Default::default() };
    change(store, direct(ann, eve), ann, archive);
    let quiet = room(store, ann);
    let listed = |list| {
        let mut found: Vec<_> =
            ask(|done| store.conversations(ann, list, None, 9, done)).rows.iter().map(|row| row.id).collect();
        found.sort_unstable();
        found
    };
    let sorted = |mut ids: Vec<ConversationId>| {
        ids.sort_unstable();
        ids
    };
    let [with_bob, with_carl, with_dora] = [bob, carl, dora].map(|other| direct(ann, other));
    assert_eq!(listed(ConversationList::Unread), sorted(vec![with_carl, with_dora]));
    assert_eq!(listed(ConversationList::Mentions), [with_dora]);
    let mark = ConversationChange { marked_unread: Some(true), ..Default::default() };
    for id in [with_bob, quiet] {
        change(store, id, ann, mark.clone());
    }
    assert_eq!(listed(ConversationList::Unread), sorted(vec![with_bob, with_carl, with_dora, quiet]));
    assert_eq!(listed(ConversationList::Archived), [direct(ann, eve)]);
}

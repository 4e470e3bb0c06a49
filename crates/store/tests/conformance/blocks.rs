//! The effects of a block on shared rooms, and on the stored data of the two users.

use std::time::Instant;

use chat::{
    ConversationId, ConversationList, LeftReason, NewRoom, Post, Relation, Role, RoomKind, RoomLimits,
    RoomName, Search, Seq, Side, Store, UserId,
};

use crate::asking::{NOW, PATIENCE, ask, direct, put, say, snapshot};
use crate::{relate, two_users};

const LIMITS: RoomLimits = RoomLimits { members: 0, per_user: 0, owned: 0 };
const BLOCKED: Relation = Relation { of_a: Side::BLOCKED, of_b: Side::NONE };

fn create(store: &dyn Store, owner: UserId, kind: RoomKind) -> ConversationId {
    let room = NewRoom { name: "Bikers".into(), kind, topic: None, alias: None };
    ask(|done| store.create_room(owner, room, LIMITS, NOW, done)).expect("it is allowed").row.id
}

fn add(store: &dyn Store, room: ConversationId, by: UserId, user: UserId) {
    let rule = chat::AddRule { how: chat::AddAs::Member, per_day: None };
    let add = chat::AddMember { room, by, user, rule, time: NOW };
    ask(|done| store.add_member(add, LIMITS, done)).expect("a member may");
}

fn make_owner(store: &dyn Store, room: ConversationId, by: UserId, user: UserId) {
    let action = chat::MemberAction::SetRole(Role::Owner);
    ask(|done| store.change_member(room, by, user, action, LIMITS, NOW, done)).expect("an owner may");
}

fn post(store: &dyn Store, room: ConversationId, from: UserId, id: &str, body: &str) {
    let post = Post {
        names_author: false,
        kind: chat::MessageKind::Text,
        room: RoomName::Id(room),
        from,
        client_id: id.into(),
        body: body.into(),
        extension: None,
        time: NOW,
        reply_to: None,
        files: Vec::new(),
        rich: None,
    };
    ask(|done| store.post(post, LIMITS, done)).expect("a member may");
}

fn is_member(store: &dyn Store, room: ConversationId, user: UserId) -> bool {
    ask(|done| store.conversation(user, room, done)).is_some()
}

/// Unread messages and mentions, and the body that a notice would show.
fn news(store: &dyn Store, room: ConversationId, user: UserId) -> (u64, u64, Option<String>) {
    let facts = ask(|done| store.notify_facts(user, vec![room], done));
    let talk = &facts.talks[0];
    let last =
        talk.row.last.as_ref().filter(|last| Some(last.from) == talk.from.as_ref().map(|from| from.id));
    (talk.row.unread, talk.row.mentions, last.map(|last| last.body.to_string()))
}

pub(crate) fn a_blocker_leaves_private_rooms_of_the_blocked_alone(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let theirs = create(store, bob, RoomKind::Private);
    let shared = create(store, bob, RoomKind::Private);
    let open = create(store, bob, RoomKind::Public);
    let mine = create(store, ann, RoomKind::Private);
    let elsewhere = create(store, bob, RoomKind::Private);
    for room in [theirs, shared] {
        add(store, room, bob, ann);
        add(store, room, bob, carl);
    }
    make_owner(store, shared, bob, carl);
    ask(|done| store.join_room(RoomName::Id(open), ann, LIMITS, NOW, done)).expect("it is public");
    add(store, mine, ann, bob);
    add(store, elsewhere, bob, carl);
    let before = snapshot(store, ann, None).position;
    let (left, _) = ask(|done| store.leave_rooms_of(ann, bob, done));
    assert_eq!(left, [theirs]);
    assert!(
        !is_member(store, theirs, ann) && is_member(store, theirs, carl) && is_member(store, theirs, bob)
    );
    for room in [shared, open, mine] {
        assert!(is_member(store, room, ann), "not his alone, or not private");
    }
    assert_eq!(snapshot(store, ann, Some(before)).left, [(theirs, LeftReason::Left)]);
    let members = ask(|done| store.members(theirs, bob, None, None, 20, done)).expect("a member");
    assert_eq!(members.rows.len(), 2);
    // As after leaving: the user who brought her in cannot invite her again.
    add(store, theirs, bob, ann);
    assert!(!is_member(store, theirs, ann));
    assert_eq!(ask(|done| store.leave_rooms_of(ann, bob, done)).0.len(), 0, "twice is once");
}

pub(crate) fn mentions_and_notices_pass_over_blocked_authors(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let room = create(store, bob, RoomKind::Public);
    for user in [ann, carl] {
        ask(|done| store.join_room(RoomName::Id(room), user, LIMITS, NOW, done)).expect("it is public");
    }
    post(store, room, carl, "c1", "hi @ann");
    post(store, room, bob, "b1", "hey @ann");
    post(store, room, bob, "b2", "@room: come");
    assert_eq!(news(store, room, ann), (3, 3, Some("@room: come".into())));
    relate(store, ann, bob, BLOCKED);
    assert_eq!(news(store, room, ann), (1, 1, Some("hi @ann".into())));
    assert_eq!(news(store, room, carl), (2, 1, Some("@room: come".into())), "others are not concerned");
    let mentioned = |user| {
        let list = ConversationList::Mentions;
        ask(|done| store.conversations(user, list, None, 9, done)).rows.len()
    };
    let listed = |list| ask(|done| store.conversations(ann, list, None, 9, done)).rows.len();
    assert_eq!(listed(ConversationList::Unread), 1);
    assert_eq!(ask(|done| store.mark(room, ann, Seq(1), Seq(1), done)).unread, 0);
    assert_eq!((news(store, room, ann), mentioned(ann)), ((0, 0, None), 0));
    assert_eq!(listed(ConversationList::Unread), 0, "what is left is of the blocked author");
    assert_eq!(snapshot(store, ann, None).conversations.rows[0].unread, 0);
    relate(store, ann, bob, Relation::NONE);
    assert_eq!(news(store, room, ann), (2, 2, Some("@room: come".into())));
    assert_eq!(mentioned(ann), 1);
}

pub(crate) fn a_direct_conversation_knows_of_a_block_on_either_side(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    say(store, bob, ann, "1", "hello");
    ask(|done| store.mark(direct(ann, bob), ann, Seq(1), Seq(1), done));
    let seen = |user| {
        let row = ask(|done| store.conversation(user, direct(ann, bob), done)).expect("they talk");
        let listed = ask(|done| store.conversations(user, ConversationList::Main, None, 9, done)).rows;
        assert_eq!((&listed[0], &snapshot(store, user, None).conversations.rows[0]), (&row, &row));
        (row.blocked, row.their_read)
    };
    assert_eq!((seen(ann), seen(bob)), ((false, Seq(1)), (false, Seq(1))));
    let before = snapshot(store, bob, None).position;
    relate(store, ann, bob, BLOCKED);
    assert_eq!((seen(ann), seen(bob)), ((true, Seq(1)), (true, Seq(1))));
    assert!(snapshot(store, bob, Some(before)).conversations.rows.is_empty(), "the other one hears nothing");
    relate(store, bob, ann, Relation { of_a: Side::BLOCKED, of_b: Side::BLOCKED });
    relate(store, ann, bob, Relation { of_a: Side::NONE, of_b: Side::BLOCKED });
    assert_eq!((seen(ann).0, seen(bob).0), (true, true), "the other block holds");
    relate(store, ann, bob, Relation::NONE);
    assert_eq!((seen(ann).0, seen(bob).0), (false, false));
}

pub(crate) fn a_conversation_that_begins_after_a_block_is_marked_as_blocked(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    relate(store, ann, bob, BLOCKED);
    say(store, bob, ann, "1", "stored by an import");
    let row = ask(|done| store.conversation(bob, direct(ann, bob), done)).expect("they talk");
    assert!(row.blocked);
}

pub(crate) fn the_first_page_of_contacts_has_all_blocked_users(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    for number in 0..9 {
        let other = put(store, site, &format!("user{number}"));
        relate(store, ann, other, if number % 4 == 3 { BLOCKED } else { crate::FRIENDS });
    }
    let page = |after| {
        let page = ask(|done| store.contacts(ann, after, 3, done));
        let subs = page.rows.iter().map(|row| row.sub.to_owned()).collect::<Vec<_>>();
        (subs, page.next)
    };
    let (first, next) = page(None);
    assert_eq!(first, ["user0", "user1", "user2", "user3", "user7"]);
    assert_eq!(snapshot(store, ann, None).contacts.rows.len(), 9, "a snapshot's page is longer");
    let (second, next) = page(next);
    assert_eq!(second, ["user3", "user4", "user5"], "the pages themselves are as they were");
    assert_eq!(page(next).0, ["user6", "user7", "user8"]);
}

pub(crate) fn search_and_threads_pass_over_blocked_authors(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let room = create(store, ann, RoomKind::Public);
    for user in [bob, carl] {
        ask(|done| store.join_room(RoomName::Id(room), user, LIMITS, NOW, done)).expect("it is public");
    }
    say(store, bob, ann, "d1", "a motor for you");
    post(store, room, ann, "a1", "whose motor is it?");
    let reply = |from, id: &str, body: &str| {
        let rich = chat::NewRich { thread: Some(Seq(1)), ..chat::NewRich::default() };
        let post = Post {
            names_author: false,
            kind: chat::MessageKind::Text,
            room: RoomName::Id(room),
            from,
            client_id: id.into(),
            body: body.into(),
            extension: None,
            time: NOW,
            reply_to: None,
            files: Vec::new(),
            rich: rich.boxed(),
        };
        ask(|done| store.post(post, LIMITS, done)).expect("a member may");
    };
    reply(bob, "b1", "my motor");
    reply(carl, "c1", "no, my motor");
    reply(bob, "b2", "a motor like that");
    let found = |conversation| -> Vec<String> {
        let words = chat::words("motor ");
        let wanted = Search { user: ann, words, conversation, after: None, limit: 9 };
        let page = ask(|done| store.search(wanted, done)).expect("she may read it");
        page.hits.iter().map(|hit| hit.body.to_string()).collect()
    };
    let unread = || {
        let row = ask(|done| store.threads(ann, room, 9, done)).expect("she may read it").remove(0);
        let asked = ask(|done| store.change_thread(ann, room, Seq(1), chat::ThreadChange::default(), done));
        assert_eq!(asked.expect("she may read it").blocked, row.blocked);
        (row.root.rich.and_then(|rich| rich.replies).map(|replies| replies.count), row.read, row.blocked)
    };
    let all = ["a motor like that", "no, my motor", "my motor", "whose motor is it?"];
    // The writer fills the index later.
    let begin = Instant::now();
    while found(None).len() < 5 {
        assert!(begin.elapsed() < PATIENCE, "{:?}", found(None));
        std::thread::yield_now();
    }
    assert_eq!(found(Some(room)), all);
    assert_eq!(unread(), (Some(3), Some(0), 0));
    relate(store, ann, bob, BLOCKED);
    assert_eq!(found(Some(room)), ["no, my motor", "whose motor is it?"]);
    assert_eq!(
        found(None),
        ["no, my motor", "whose motor is it?", "a motor for you"],
        "a direct one is hers"
    );
    assert_eq!(unread(), (Some(3), Some(0), 2));
    relate(store, ann, bob, Relation::NONE);
    assert_eq!((found(Some(room)).len(), unread().2), (4, 0));
}

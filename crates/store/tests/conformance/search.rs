//! Search: visible results, their order, and the effect of changes. An index may lag behind the messages, so the tests
//! repeat a search until it has the expected result.

use std::time::Instant;

use chat::{
    ChangeMessage, ConversationId, MessageChange, NewRoom, Post, Refusal, RoomKind, RoomLimits, RoomName,
    Search, Seq, Store, UserId, words,
};

use crate::asking::{NOW, PATIENCE, add_site, ask, direct, put, say};
use crate::two_users;

fn search(
    store: &dyn Store,
    user: UserId,
    query: &str,
    page: (Option<String>, u32),
) -> (Vec<u64>, Option<String>) {
    let wanted = Search { user, words: words(query), conversation: None, after: page.0, limit: page.1 };
    let page = ask(|done| store.search(wanted, done)).expect("one's own");
    (page.hits.iter().map(|hit| hit.seq.0).collect(), page.next)
}

fn finds(store: &dyn Store, user: UserId, query: &str) -> Vec<u64> {
    search(store, user, query, (None, 99)).0
}

#[track_caller]
fn comes(store: &dyn Store, user: UserId, query: &str, expected: &[u64]) {
    let begin = Instant::now();
    while finds(store, user, query) != expected {
        assert!(begin.elapsed() < PATIENCE, "{query}: {:?}", finds(store, user, query));
        std::thread::yield_now();
    }
}

pub(crate) fn words_are_found_in_ones_own_conversations_only(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let other_site = add_site(store, "elsewhere");
    let (other_ann, other_bob) = (put(store, other_site, "ann"), put(store, other_site, "bob"));
    say(store, ann, bob, "1", "Motor oil, 10W-40: which one?");
    say(store, bob, ann, "2", "The MOTOR likes what it gets");
    say(store, bob, carl, "3", "carl's motor");
    say(store, other_ann, other_bob, "4", "motor u1x1 c1x2 elsewhere");
    comes(store, carl, "motor", &[1]);
    comes(store, ann, "motor", &[2, 1]);
    comes(store, bob, "motor", &[1, 2, 1]);
    comes(store, other_bob, "motor", &[1]);
    for (query, expected) in [
        ("oil", &[1][..]),
        ("oil motor", &[1]),
        ("mot", &[2, 1]),
        ("mot ", &[]),
        ("mo", &[]),
        ("otor", &[]),
        ("10w", &[1]),
        ("carl", &[]),
        ("elsewhere", &[]),
        ("u1x1", &[]),
        ("\"likes\" OR AND NOT who:u1x1 (*", &[]),
        ("likes (\"gets", &[2]),
    ] {
        assert_eq!(finds(store, ann, query), expected, "{query}");
    }
    let of = |user, id: ConversationId| {
        let wanted = Search { user, words: words("motor"), conversation: Some(id), after: None, limit: 9 };
        ask(|done| store.search(wanted, done)).map(|page| page.hits.len())
    };
    assert_eq!((of(bob, direct(ann, bob)), of(bob, direct(bob, carl))), (Ok(2), Ok(1)));
    assert_eq!(of(ann, direct(bob, carl)), Err(Refusal::NoSuchConversation));
    assert_eq!(of(other_ann, direct(ann, bob)), Err(Refusal::NoSuchConversation));
}

pub(crate) fn hits_are_paged_newest_first(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    for number in 1..=25 {
        say(store, ann, bob, &number.to_string(), if number % 2 == 0 { "even" } else { "odd" });
    }
    comes(store, bob, "even", &[24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2]);
    let (first, next) = search(store, bob, "even", (None, 5));
    assert_eq!(first, [24, 22, 20, 18, 16]);
    let (second, next) = search(store, bob, "even", (next, 5));
    assert_eq!(second, [14, 12, 10, 8, 6]);
    let (third, next) = search(store, bob, "even", (next, 5));
    assert_eq!((third, next), (vec![4, 2], None));
    assert_eq!(search(store, bob, "even", (Some("nonsense".into()), 1)).0, [24]);
}

pub(crate) fn a_message_is_found_by_its_body_of_now(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    say(store, ann, bob, "1", "before");
    say(store, ann, bob, "2", "secret");
    comes(store, bob, "secret", &[2]);
    let change = |seq, change| {
        let (conversation, seq) = (direct(ann, bob), Seq(seq));
        let wanted = ChangeMessage { conversation, seq, by: ann, change, time: NOW };
        ask(|done| store.change_message(wanted, done)).expect("it is hers");
    };
    change(1, MessageChange::edit("after"));
    change(2, MessageChange::Delete);
    say(store, ann, bob, "3", "late");
    change(3, MessageChange::edit("later still"));
    comes(store, bob, "later", &[3]);
    comes(store, bob, "after", &[1]);
    for gone in ["before", "secret", "late "] {
        assert_eq!(finds(store, bob, gone), [0; 0], "{gone}");
    }
}

pub(crate) fn rooms_are_searched_by_their_members(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let limits = RoomLimits::default();
    let create = |kind| {
        let room = NewRoom { name: "Bikers".into(), kind, topic: None, alias: None };
        ask(|done| store.create_room(ann, room, limits, NOW, done)).expect("there is room").row.id
    };
    let (public, private) = (create(RoomKind::Public), create(RoomKind::Private));
    ask(|done| store.join_room(RoomName::Id(public), bob, limits, NOW, done)).expect("it is public");
    for (room, client_id, body) in [(public, "1", "open secret"), (private, "2", "closed secret")] {
        let (room, client_id, body) = (RoomName::Id(room), client_id.into(), body.into());
        let post = Post {
            names_author: false,
            kind: chat::MessageKind::Text,
            room,
            from: ann,
            client_id,
            body,
            extension: None,
            time: NOW,
            reply_to: None,
            files: Vec::new(),
            rich: None,
        };
        ask(|done| store.post(post, limits, done)).expect("it is hers");
    }
    comes(store, ann, "closed", &[1]);
    comes(store, ann, "secret", &[1, 1]);
    assert_eq!((finds(store, bob, "secret").len(), finds(store, carl, "secret").len()), (1, 0));
    let of = |user, room| {
        let wanted = Search { user, words: words("secret"), conversation: Some(room), after: None, limit: 9 };
        ask(|done| store.search(wanted, done)).map(|page| page.hits.len())
    };
    assert_eq!(of(carl, public), Ok(1), "who may read it may search it");
    assert_eq!(
        (of(bob, private), of(carl, private)),
        (Err(Refusal::NoSuchConversation), Err(Refusal::NoSuchConversation))
    );
    ask(|done| store.leave_room(public, bob, done)).expect("anybody may leave");
    assert!(finds(store, bob, "secret").is_empty());
}

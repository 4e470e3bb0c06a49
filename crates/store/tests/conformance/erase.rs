//! Erasing a user: who they were, what they had, what they have written.

use chat::{
    By, ChangeMessage, ConversationId, EraseSlice, Erased, MemberAction, MessageChange, Messages, NewErasure,
    NewRoom, Position, Post, ProfileChange, Role, RoomKind, RoomLimits, RoomName, Search, Seq, SetPresence,
    Status, Store, Timestamp, UserId, words,
};

use crate::asking::{NOW, add_site, ask, direct, profile, put, put_named, say, snapshot, sub};
use crate::{FRIENDS, STRANGERS, relate, two_users};

fn begin(store: &dyn Store, user: UserId, messages: Messages) -> Option<Erased> {
    let erasure = NewErasure {
        user,
        alias: sub("deleted-1"),
        name: "Deleted user".into(),
        messages,
        by: By::Site,
        time: NOW,
    };
    ask(|done| store.begin_erasure(erasure, done)).ok()
}

/// Everything that is left, in slices of two rows.
fn finish(store: &dyn Store) -> Vec<EraseSlice> {
    let mut slices = Vec::new();
    loop {
        let slice: EraseSlice = ask(|done| store.erase_some(NOW, 2, done));
        let more = slice.more;
        slices.push(slice);
        assert!(slices.len() < 50, "it comes to an end");
        if !more {
            return slices;
        }
    }
}

fn bodies(store: &dyn Store, reader: UserId, id: ConversationId) -> Vec<(String, bool)> {
    let page = ask(|done| store.history(reader, id, None, None, 50, done));
    page.messages.iter().map(|one| (one.body.to_string(), one.deleted)).collect()
}

fn room(store: &dyn Store, owner: UserId, members: &[UserId]) -> ConversationId {
    let new = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None };
    let limits = RoomLimits::default();
    let joined = ask(|done| store.create_room(owner, new, limits, NOW, done)).expect("it is made");
    for member in members {
        ask(|done| store.join_room(RoomName::Id(joined.row.id), *member, limits, NOW, done))
            .expect("they may");
    }
    joined.row.id
}

fn post(store: &dyn Store, room: ConversationId, from: UserId, id: &str, body: &str) {
    let post = Post {
        room: RoomName::Id(room),
        from,
        client_id: id.into(),
        body: body.into(),
        time: NOW,
        reply_to: None,
        files: Vec::new(),
        rich: None,
    };
    ask(|done| store.post(post, RoomLimits::default(), done)).expect("they may");
}

pub(crate) fn whoever_is_erased_is_nobody_at_once(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let cat = put(store, site, "cat");
    put_named(store, site, "ann", "Ann Other");
    relate(store, ann, bob, FRIENDS);
    let status = Status { text: "On holiday".into(), until: None };
    let says = ProfileChange { status: Some(Some(status)), ..ProfileChange::default() };
    ask(|done| store.change_profile(ann, says, done));
    let revision = store.revision().expect("the store works");
    let erased = begin(store, ann, Messages::Kept).expect("she exists");
    assert_eq!((erased.before.profile.sub, erased.before.id), (sub("ann"), ann));
    assert_eq!(erased.parted, [bob]);
    let row = ask(|done| store.users_by_id(vec![ann], done)).remove(0);
    assert_eq!(row, erased.after);
    assert_eq!((&*row.profile.name, row.profile.avatar.as_deref()), ("Deleted user", None));
    assert_eq!((row.profile.sub, row.banned, row.last_seen), (sub("deleted-1"), true, Timestamp(0)));
    assert_ne!(store.revision().expect("the store works"), revision, "other processes must hear of it");
    assert_eq!(ask(|done| store.user(site, sub("ann"), done)), None);
    for query in ["ann", "other"] {
        assert_eq!(ask(|done| store.people(site, Some(query.into()), None, 9, done)).rows, []);
    }
    assert_eq!(ask(|done| store.relation(bob, ann, done)), STRANGERS);
    assert_eq!(ask(|done| store.contacts(bob, None, 9, done)).rows.len(), 0);
    assert_eq!(ask(|done| store.profile(cat, sub("deleted-1"), done)).expect("it is there").status, None);
    let record = ask(|done| store.audit(site, By::Site, None, 9, done)).expect("the site may").rows;
    assert_eq!(
        (&*record[0].act, &*record[0].detail, record[0].user.clone()),
        ("erase", "messages kept", Some(sub("deleted-1")))
    );
    assert_eq!(begin(store, UserId { site, num: 77 }, Messages::Kept), None);
    assert_eq!(begin(store, bob, Messages::Kept), None, "somebody has that id");
}

pub(crate) fn others_are_told_in_slices_and_keep_their_conversations(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let others: Vec<UserId> = ["cat", "dan", "eve"].iter().map(|name| put(store, site, name)).collect();
    let all: Vec<UserId> = [vec![bob], others].concat();
    for other in &all {
        say(store, ann, *other, &format!("to{}", other.num), "hello");
    }
    let before = snapshot(store, bob, None).position;
    begin(store, ann, Messages::Kept).expect("she exists");
    let slices = finish(store);
    let mut told: Vec<UserId> = Vec::new();
    for (other, row) in slices.iter().flat_map(|slice| &slice.conversations) {
        let with = row.of.other().expect("a direct one");
        assert_eq!((&*with.profile.name, row.id), ("Deleted user", direct(ann, *other)));
        told.push(*other);
    }
    told.sort_unstable();
    assert_eq!(told, all);
    assert!(slices.iter().all(|slice| slice.changed.is_empty()));
    let missed = snapshot(store, bob, Some(before));
    let with = missed.conversations.rows[0].of.other().expect("a direct one").profile.clone();
    assert_eq!((missed.reset, &*with.name), (false, "Deleted user"), "who was away hears of it");
    assert!(!ask(|done: chat::Done<EraseSlice>| store.erase_some(NOW, 2, done)).more);
}

pub(crate) fn messages_go_with_what_was_kept_of_them(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let id = direct(ann, bob);
    for n in 0..5 {
        say(store, ann, bob, &format!("a{n}"), &format!("secret {n}"));
        say(store, bob, ann, &format!("b{n}"), &format!("answer {n}"));
    }
    let edit = |seq, change| ChangeMessage { conversation: id, seq: Seq(seq), by: ann, change, time: NOW };
    ask(|done| store.change_message(edit(1, MessageChange::Edit("else".into())), done)).expect("she may");
    ask(|done| store.change_message(edit(3, MessageChange::Delete), done)).expect("she may");
    assert!(!ask(|done| store.revisions(id, Seq(3), done)).is_empty());
    let bikers = room(store, bob, &[ann]);
    post(store, bikers, ann, "r1", "secret in the room");
    begin(store, ann, Messages::Erased).expect("she exists");
    let slices = finish(store);
    let changed: Vec<(ConversationId, u64)> = slices
        .iter()
        .flat_map(|slice| &slice.changed)
        .filter(|changed| changed.changed)
        .map(|changed| (changed.message.conversation, changed.message.seq.0))
        .collect();
    assert_eq!(changed.len(), 5, "one of six was deleted before: {changed:?}");
    let left = bodies(store, bob, id);
    assert!(left.iter().step_by(2).all(|(body, deleted)| body.is_empty() && *deleted), "{left:?}");
    assert!(left.iter().skip(1).step_by(2).all(|(body, deleted)| body.starts_with("answer") && !deleted));
    for seq in 1..=10 {
        assert_eq!(ask(|done| store.revisions(id, Seq(seq), done)), [], "{seq}");
    }
    let named = RoomName::Id(bikers);
    let (_, page) = ask(|done| store.room_history(named, bob, None, None, 9, done)).expect("he may");
    assert_eq!((&*page.messages[0].body, page.messages[0].from_sub.clone()), ("", sub("deleted-1")));
    let wanted = Search { user: bob, words: words("secret"), conversation: None, after: None, limit: 9 };
    assert_eq!(ask(|done| store.search(wanted, done)).expect("he may").hits, []);
    // Nobody's seq has moved.
    assert_eq!(say(store, bob, ann, "b9", "still here").seq, Seq(11));
}

pub(crate) fn messages_stay_as_nobodys_where_they_shall(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    say(store, ann, bob, "a1", "a recipe");
    begin(store, ann, Messages::Kept).expect("she exists");
    finish(store);
    let page = ask(|done| store.history(bob, direct(ann, bob), None, None, 9, done));
    let line = &page.messages[0];
    assert_eq!((&*line.body, line.from_sub.clone(), line.deleted), ("a recipe", sub("deleted-1"), false));
}

pub(crate) fn a_room_has_an_owner_when_its_only_one_goes(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let cat = put(store, site, "cat");
    let bikers = room(store, ann, &[bob, cat]);
    let limits = RoomLimits::default();
    let raise = MemberAction::SetRole(Role::Moderator);
    ask(|done| store.change_member(bikers, ann, cat, raise, limits, NOW, done)).expect("she owns it");
    let alone = room(store, ann, &[]);
    begin(store, ann, Messages::Kept).expect("she exists");
    finish(store);
    let list = ask(|done| store.members(bikers, bob, None, None, 9, done)).expect("he is in it").rows;
    let members: Vec<(UserId, Option<Role>)> =
        list.iter().map(|row| (row.user.id, row.standing.role())).collect();
    assert_eq!(members, [(cat, Some(Role::Owner)), (bob, Some(Role::Member))]);
    let joined =
        ask(|done| store.join_room(RoomName::Id(alone), bob, limits, NOW, done)).expect("it is open");
    assert_eq!(joined.row.of.other(), None);
}

pub(crate) fn the_old_id_is_somebody_new(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    say(store, ann, bob, "a1", "hello");
    begin(store, ann, Messages::Kept).expect("she exists");
    let again = ask(|done| store.put_user(site, profile("ann", "Ann"), NOW, done));
    assert!(again.id != ann && !again.banned);
    finish(store);
    assert_eq!(snapshot(store, again.id, None).conversations.rows.len(), 0);
    store.put_presence(ann, SetPresence::Online, Timestamp(0));
    let elsewhere = add_site(store, "other");
    let position: Position = snapshot(store, again.id, None).position;
    assert!(position > Position::default() && elsewhere != site);
}

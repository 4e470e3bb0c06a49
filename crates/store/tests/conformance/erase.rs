//! Erasure of a user: identity, data, and messages.

use chat::{
    AvatarChange, By, ChangeMessage, ConversationId, ConversationOf, EraseSlice, Erased, LinkRule,
    MemberAction, MessageChange, MessagesAfterErasure, NewErasure, NewRoom, Position, Post, ProfileChange,
    Relation, RequestAnswer, RequestRules, Role, RoomChange, RoomKind, RoomLimits, RoomName, Search, Seq,
    SetPresence, Side, Status, Store, Timestamp, UserId, words,
};

use crate::asking::{NOW, add_site, ask, direct, message, profile, put, put_named, say, snapshot, sub};
use crate::{FRIENDS, STRANGERS, files, relate, two_users};

pub(crate) fn begin(store: &dyn Store, user: UserId, messages: MessagesAfterErasure) -> Option<Erased> {
    ask(|done| store.begin_erasure(of(user, "deleted-1", messages), done)).ok()
}

pub(crate) fn of(user: UserId, alias: &str, messages: MessagesAfterErasure) -> NewErasure {
    let name = "Deleted user".into();
    NewErasure { user, alias: sub(alias), name, messages, by: By::Site, time: NOW }
}

/// Erases the rest, in slices of two rows.
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
    let new = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
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
    ask(|done| store.post(post, RoomLimits::default(), done)).expect("they may");
}

pub(crate) fn an_erased_user_loses_the_identity_at_once(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let cat = put(store, site, "cat");
    put_named(store, site, "ann", "Ann Other");
    relate(store, ann, bob, FRIENDS);
    let status = Status { text: "On holiday".into(), until: None };
    let says = ProfileChange { status: Some(Some(status)), ..ProfileChange::default() };
    ask(|done| store.change_profile(ann, says, done));
    let revision = store.revision().expect("the store works");
    let erased = begin(store, ann, MessagesAfterErasure::Kept).expect("she exists");
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
    assert_eq!(begin(store, UserId { site, num: 77 }, MessagesAfterErasure::Kept), None);
    assert_eq!(begin(store, bob, MessagesAfterErasure::Kept), None, "somebody has that id");
}

pub(crate) fn slices_publish_the_new_id_and_others_keep_their_conversations(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let others: Vec<UserId> = ["cat", "dan", "eve"].iter().map(|name| put(store, site, name)).collect();
    let all: Vec<UserId> = [vec![bob], others].concat();
    for other in &all {
        say(store, ann, *other, &format!("to{}", other.num), "hello");
    }
    let before = snapshot(store, bob, None).position;
    begin(store, ann, MessagesAfterErasure::Kept).expect("she exists");
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

pub(crate) fn erased_messages_take_their_former_bodies_with_them(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let id = direct(ann, bob);
    for n in 0..5 {
        say(store, ann, bob, &format!("a{n}"), &format!("secret {n}"));
        say(store, bob, ann, &format!("b{n}"), &format!("answer {n}"));
    }
    let edit = |seq, change| ChangeMessage { conversation: id, seq: Seq(seq), by: ann, change, time: NOW };
    ask(|done| store.change_message(edit(1, MessageChange::edit("else")), done)).expect("she may");
    ask(|done| store.change_message(edit(3, MessageChange::Delete), done)).expect("she may");
    assert!(!ask(|done| store.revisions(id, Seq(3), done)).is_empty());
    let bikers = room(store, bob, &[ann]);
    post(store, bikers, ann, "r1", "secret in the room");
    begin(store, ann, MessagesAfterErasure::Erased).expect("she exists");
    let read_at_once = bodies(store, bob, id);
    assert!(
        read_at_once.iter().step_by(2).all(|(body, deleted)| body.is_empty() && *deleted),
        "no reader waits"
    );
    let slices = finish(store);
    assert!(
        slices.iter().all(|slice| slice.changed.is_empty()),
        "devices that were here delete by themselves"
    );
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
    // No seq has changed.
    assert_eq!(say(store, bob, ann, "b9", "still here").seq, Seq(11));
}

pub(crate) fn messages_stay_without_an_author_if_requested(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    say(store, ann, bob, "a1", "a recipe");
    begin(store, ann, MessagesAfterErasure::Kept).expect("she exists");
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
    begin(store, ann, MessagesAfterErasure::Kept).expect("she exists");
    finish(store);
    let list = ask(|done| store.members(bikers, bob, None, None, 9, done)).expect("he is in it").rows;
    let members: Vec<(UserId, Option<Role>)> =
        list.iter().map(|row| (row.user.id, row.standing.role())).collect();
    assert_eq!(members, [(cat, Some(Role::Owner)), (bob, Some(Role::Member))]);
    let joined =
        ask(|done| store.join_room(RoomName::Id(alone), bob, limits, NOW, done)).expect("it is open");
    assert_eq!(joined.row.of.other(), None);
}

pub(crate) fn the_old_id_belongs_to_a_new_user(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    say(store, ann, bob, "a1", "hello");
    begin(store, ann, MessagesAfterErasure::Kept).expect("she exists");
    let again = ask(|done| store.put_user(site, profile("ann", "Ann"), NOW, done));
    assert!(again.id != ann && !again.banned);
    finish(store);
    assert_eq!(snapshot(store, again.id, None).conversations.rows.len(), 0);
    store.put_presence(ann, SetPresence::Online, Timestamp(0));
    let elsewhere = add_site(store, "other");
    let position: Position = snapshot(store, again.id, None).position;
    assert!(position > Position::default() && elsewhere != site);
}

pub(crate) fn each_message_that_names_the_user_gets_a_new_version(store: &dyn Store) {
    for (messages, alias) in
        [(MessagesAfterErasure::Kept, "deleted-1"), (MessagesAfterErasure::Erased, "deleted-2")]
    {
        let site = add_site(store, alias);
        let [ann, bob, cat] = ["ann", "bob", "cat"].map(|name| put(store, site, name));
        let bikers = room(store, bob, &[ann, cat]);
        let left_before = room(store, bob, &[ann]);
        for n in 0..3 {
            post(store, bikers, ann, &format!("a{n}"), "by ann");
            post(store, bikers, bob, &format!("b{n}"), "by bob");
        }
        post(store, left_before, ann, "a9", "by ann");
        ask(|done| store.leave_room(left_before, ann, done)).expect("she may");
        let change = |seq, by, change| {
            let wanted = ChangeMessage { conversation: bikers, seq: Seq(seq), by, change, time: NOW };
            ask(|done| store.change_message(wanted, done)).expect("they may");
        };
        let thumb = chat::Reaction::parse("👍").expect("an emoji");
        change(2, ann, MessageChange::React { reaction: thumb.clone(), on: true });
        change(3, ann, MessageChange::Delete);
        change(4, cat, MessageChange::React { reaction: thumb, on: true });
        let read = |reader, room| {
            let page = ask(|done| store.room_history(RoomName::Id(room), reader, None, None, 9, done));
            page.expect("they may").1.messages
        };
        let before = [read(bob, bikers), read(bob, left_before)];
        let position = snapshot(store, bob, None).position;
        let erasure = NewErasure {
            user: ann,
            alias: sub(alias),
            name: "Deleted user".into(),
            messages,
            by: By::Site,
            time: NOW,
        };
        ask(|done| store.begin_erasure(erasure.clone(), done)).expect("she exists");
        let again = ask(|done| store.begin_erasure(NewErasure { alias: sub("deleted-9"), ..erasure }, done));
        assert!(matches!(again, Err(chat::Refusal::RateLimited { .. })), "one former id at a time");
        let resumed = snapshot(store, bob, Some(position));
        let renamed = |all: &[chat::Renamed]| {
            all.iter().map(|one| (one.former.clone(), one.now.sub.clone(), one.erased)).collect::<Vec<_>>()
        };
        let is_erased = messages == MessagesAfterErasure::Erased;
        assert_eq!(
            renamed(&resumed.renamed),
            [(sub("ann"), sub(alias), is_erased)],
            "until all have versions"
        );
        let stranger = put(store, site, "stranger");
        let strange = snapshot(store, stranger, Some(position));
        assert_eq!(renamed(&strange.renamed), [], "who shares no conversation learns nothing");
        let slices = finish(store);
        let told =
            slices.iter().flat_map(|slice| &slice.audience).flat_map(|members| members.iter().copied());
        let told: std::collections::BTreeSet<u32> = told.collect();
        assert!(told.contains(&bob.num) && told.contains(&cat.num), "{told:?}");
        assert!(slices.iter().all(|slice| slice.changed.is_empty()), "one event for all messages");
        let after = [read(bob, bikers), read(bob, left_before)];
        for (old, new) in before.iter().flatten().zip(after.iter().flatten()) {
            let same_version = chat::StoredMessage { version: old.version, ..new.clone() };
            assert_eq!(
                *old == same_version,
                old.version == new.version,
                "one version, one picture: {old:?} {new:?}"
            );
        }
        assert!(after[0].iter().all(|one| one.reactions.iter().all(|one| !one.users.contains(&sub("ann")))));
        let resumed = snapshot(store, bob, Some(position));
        assert_eq!((resumed.reset, resumed.renamed.len()), (false, 0));
        assert_eq!(
            resumed.updates.len(),
            5,
            "three by ann and one with her reaction, and the one in the room she left"
        );
    }
}

pub(crate) fn a_merged_guests_messages_get_new_versions(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let guest = chat::Profile { guest: true, ..profile("guest-1", "Guest 1") };
    let guest = ask(|done| store.put_user(site, guest, NOW, done)).id;
    let bikers = room(store, bob, &[ann, guest]);
    post(store, bikers, guest, "g1", "by the guest");
    post(store, bikers, bob, "b1", "by bob");
    let position = snapshot(store, bob, None).position;
    crate::merge::merge(store, site, "guest-1", "gina").expect("it may");
    post(store, bikers, guest, "g2", "by gina");
    let slices = finish(store);
    let (_, renamed) = slices[0].renamed.as_ref().expect("there is one");
    assert_eq!(
        (renamed.former.as_str(), renamed.now.sub.as_str(), renamed.erased),
        ("guest-1", "gina", false)
    );
    let resumed = snapshot(store, bob, Some(position));
    let updated: Vec<u64> = resumed.updates.iter().map(|one| one.seq.0).collect();
    assert_eq!(updated, [1], "the new one has the new id");
    assert_eq!(resumed.updates[0].from_sub, sub("gina"));
    let members = ask(|done| store.members(bikers, bob, None, None, 9, done)).expect("he is in it").rows;
    assert_eq!(members.len(), 3, "gina stays");
}

pub(crate) fn an_erased_user_takes_the_room_pictures_they_uploaded_along(store: &dyn Store) {
    for (messages, is_removed) in [(MessagesAfterErasure::Erased, true), (MessagesAfterErasure::Kept, false)]
    {
        let site = add_site(store, messages.word());
        let [ann, bob] = ["ann", "bob"].map(|name| put(store, site, name));
        let id = room(store, ann, &[bob]);
        let file = files::ready_for_room(store, ann, 1, id);
        let change = RoomChange { avatar: Some(AvatarChange::Upload(file)), ..RoomChange::default() };
        ask(|done| store.change_room(id, ann, change, NOW, done)).expect("she owns the room");
        let before = snapshot(store, bob, None).position;
        begin(store, ann, messages).expect("the site may");
        let told: Vec<_> = finish(store).into_iter().flat_map(|slice| slice.rooms).collect();
        let told: Vec<_> = told.iter().map(|(of, now, members)| (*of, &now.avatar, &members[..])).collect();
        let expected = [(id, &None, &[bob.num][..])];
        assert_eq!(told, if is_removed { &expected[..] } else { &[] });
        assert_eq!(ask(|done| store.file(file, done)).is_some(), !is_removed);
        let view = snapshot(store, bob, Some(before));
        let ConversationOf::Room { room, .. } = &view.conversations.rows[0].of else {
            panic!("it is a room")
        };
        assert_eq!(room.avatar.is_some(), !is_removed, "bob, who was away, sees it, too");
    }
}

pub(crate) fn users_of_other_servers_without_an_answer_are_found(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let remote = |name: &str| put(store, site, &format!("xmpp:{name}@b.example"));
    let found = || ask(|done| store.unanswered_users(site, Timestamp(NOW.0 + 1), 100, done));
    let relate_to_ann = |user, of_a: Side, of_b: Side| {
        assert!(relate(store, user, ann, Relation { of_a, of_b }).is_some());
        user
    };
    let rules = RequestRules { messages: 3, per_day: 9, links: LinkRule::Refused, begin: Ok(()) };
    let writes = |from, to, id: &str| {
        ask(|done| store.append_request(message(from, to, id, "Hello"), rules, done)).expect("it may");
    };
    // Nobody has answered these: no request, one in each direction, a message request, and a dismissed one.
    let silent = remote("a-silent");
    let asks = relate_to_ann(remote("b-asks"), Side::of_code(8 | 64), Side::ASKS);
    let asked = relate_to_ann(remote("c-asked"), Side::ASKS, Side::REQUESTED);
    let [writer, dismissed] = ["d-writer", "e-dismissed"].map(remote);
    writes(writer, ann, "1");
    writes(dismissed, ann, "2");
    ask(|done| store.answer_request(direct(dismissed, ann), ann, RequestAnswer::Dismiss, done))
        .expect("she may");
    // These have an answer, or a reason to stay.
    relate_to_ann(remote("f-friend"), Side::CONTACT, Side::CONTACT);
    relate_to_ann(remote("g-seen"), Side::SEES, Side::SEEN);
    relate_to_ann(remote("h-blocked"), Side::ASKED, Side::BLOCKED);
    relate_to_ann(remote("i-listed"), Side::NONE, Side::LISTED);
    let [accepted, written] = ["j-accepted", "k-written"].map(remote);
    writes(accepted, ann, "3");
    ask(|done| store.answer_request(direct(accepted, ann), ann, RequestAnswer::Accept, done))
        .expect("she may");
    say(store, ann, written, "4", "Hello");
    relate_to_ann(bob, Side::ASKED, Side::ASKS);

    assert_eq!(found(), [silent, asks, asked, writer, dismissed]);
    assert_eq!(ask(|done| store.unanswered_users(site, NOW, 100, done)), [], "they are not old enough");
    assert_eq!(ask(|done| store.unanswered_users(site, Timestamp(NOW.0 + 1), 2, done)), [silent, asks]);

    // The node ends them, and the record says so.
    let erasure = NewErasure {
        user: asks,
        alias: sub("deleted-1"),
        name: "Deleted user".into(),
        messages: MessagesAfterErasure::Erased,
        by: By::Site,
        time: NOW,
    };
    let erased = ask(|done| store.begin_erasure(erasure, done)).expect("it is erased");
    assert_eq!(erased.parted, [ann]);
    finish(store);
    assert_eq!(found(), [silent, asked, writer, dismissed]);
    let audit = ask(|done| store.audit(site, By::Site, None, 10, done)).expect("the site may");
    let acts: Vec<_> = audit.rows.iter().map(|row| (&*row.act, row.by.clone(), row.user.clone())).collect();
    assert_eq!(acts, [("erase", None, Some(sub("deleted-1")))]);
}

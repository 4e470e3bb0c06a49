//! Changes of posted messages: edits, deletion, reactions, and their recipients.

use chat::{
    Append, ChangeMessage, ChangedMessage, EVIDENCE_MS, Gap, MOST_PINNED, MemberAction, MessageChange,
    MessageKind, NewRoom, Post, REVISION_BYTES, REVISIONS, Reaction, Reactions, Refusal, ResumeFrom,
    RoomKind, RoomLimits, RoomName, Seq, Store, StoredMessage, Timestamp, UserId,
};

use crate::asking::{NOW, ask, direct, message, put, say, since, snapshot, snapshot_from, sub};
use crate::two_users;

const MINUTE: u64 = 60_000;

pub(crate) fn an_edit_is_of_ones_own_message_and_moves_nothing_but_the_body(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let posted = say(store, ann, bob, "1", "helo");
    say(store, bob, ann, "2", "what?");
    let now = change(store, ann, bob, 1, edit("hello")).expect("it is hers");
    assert!(now.changed && now.position > posted.position);
    let StoredMessage { body, version, edited, deleted, time, .. } = now.message.clone();
    assert_eq!((&*body, edited, deleted, time), ("hello", Some(Timestamp(NOW.0 + MINUTE)), false, NOW));
    assert_eq!(version, now.position.number, "later changes have greater versions");
    assert_eq!(history(store, bob, ann)[0], now.message);
    let row = ask(|done| store.conversation(bob, direct(ann, bob), done)).expect("it exists");
    assert_eq!((row.unread, row.active, &*row.last.expect("a message").body), (0, NOW, "what?"));
    assert_eq!(change(store, bob, ann, 1, edit("mine")), Err(Refusal::NotAllowed));
    assert!(say(store, ann, bob, "1", "helo").repeated, "the id is as known as before");
    assert_eq!(&*history(store, ann, bob)[0].body, "hello");
}

pub(crate) fn what_is_left_of_a_call_is_not_edited(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let id = "call:000000000000feed:audio:ended:73000";
    let call = Append { kind: MessageKind::Call, ..message(ann, bob, id, "Audio call, 1:13") };
    ask(|done| store.append(call, done));
    assert_eq!(change(store, ann, bob, 1, edit("I never called")), Err(Refusal::NotAllowed));
    change(store, bob, ann, 1, react("👍")).expect("anybody may react");
    assert!(change(store, ann, bob, 1, MessageChange::Delete).expect("it is hers").message.deleted);
    // The client id alone does not make an entry of a call.
    say(store, ann, bob, "call:000000000000feed:audio:missed:0", "I write, and never called");
    let kinds: Vec<_> = history(store, bob, ann).iter().map(|message| message.kind).collect();
    assert_eq!(kinds, [MessageKind::Call, MessageKind::Text]);
    assert!(change(store, ann, bob, 2, edit("I write")).expect("it is hers").changed);
}

pub(crate) fn a_deleted_message_keeps_its_place_and_nothing_else(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    for number in 1..=3 {
        say(store, ann, bob, &number.to_string(), "a secret for @bob");
    }
    change(store, bob, ann, 2, react("👍")).expect("anybody may react");
    change(store, ann, bob, 2, edit("a lesser secret for @bob")).expect("it is hers");
    assert_eq!(change(store, bob, ann, 2, MessageChange::Delete), Err(Refusal::NotAllowed));
    let gone = change(store, ann, bob, 2, MessageChange::Delete).expect("it is hers").message;
    assert!(gone.deleted && gone.body.is_empty() && gone.reactions.is_empty());
    let page = history(store, bob, ann);
    assert_eq!(page.iter().map(|message| message.seq.0).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(page[1], gone);
    for (who, other, what) in [(ann, bob, edit("back")), (bob, ann, react("👍"))] {
        assert_eq!(change(store, who, other, 2, what), Err(Refusal::NoSuchMessage));
    }
    let row = ask(|done| store.conversation(bob, direct(ann, bob), done)).expect("it exists");
    assert_eq!((row.unread, row.mentions), (3, 2), "what names him no more is no mention");
}

pub(crate) fn the_same_change_again_changes_nothing(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    say(store, ann, bob, "1", "hi");
    let position = || snapshot(store, ann, None).position;
    let off = MessageChange::React { reaction: reaction("👍"), on: false };
    for (who, other, what) in [
        (ann, bob, edit("hello")),
        (bob, ann, react("👍")),
        (bob, ann, off.clone()),
        (ann, bob, MessageChange::Delete),
    ] {
        let first = change(store, who, other, 1, what.clone()).expect("it may");
        assert!(first.changed);
        let before = position();
        let again = change(store, who, other, 1, what.clone()).expect("it may");
        assert_eq!(again, ChangedMessage { changed: false, ..first }, "{what:?}");
        assert_eq!(position(), before, "{what:?}");
    }
    let off = change(store, ann, bob, 1, off).expect("nothing is there to take off");
    assert!(!off.changed);
}

pub(crate) fn what_is_not_there_cannot_change(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    assert_eq!(change(store, ann, bob, 1, edit("x")), Err(Refusal::NoSuchMessage));
    say(store, ann, bob, "1", "hi");
    let position = snapshot(store, ann, None).position;
    for seq in [0, 2, u64::MAX >> 1, u64::MAX] {
        assert_eq!(change(store, ann, bob, seq, react("👍")), Err(Refusal::NoSuchMessage), "{seq}");
    }
    let wanted = ChangeMessage { by: carl, ..wanted(ann, bob, 1, react("👍")) };
    assert_eq!(ask(|done| store.change_message(wanted, done)), Err(Refusal::NoSuchConversation));
    assert_eq!(snapshot(store, ann, None).position, position, "nothing has changed");
}

pub(crate) fn reactions_are_in_the_order_in_which_they_came(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    say(store, ann, bob, "1", "hi");
    for (who, other, what) in [(bob, ann, "👍"), (bob, ann, "❤️"), (ann, bob, "👍"), (ann, bob, ":party:")]
    {
        change(store, who, other, 1, react(what)).expect("there is room");
    }
    let of = |reader, other| history(store, reader, other)[0].reactions.clone();
    let one = |what, users: &[&str], mine| Reactions {
        reaction: reaction(what),
        count: users.len() as u64,
        users: users.iter().map(|user| sub(user)).collect(),
        mine,
    };
    let party = |mine| one(":party:", &["ann"], mine);
    assert_eq!(of(ann, bob), [one("👍", &["bob", "ann"], true), one("❤️", &["bob"], false), party(true)]);
    assert_eq!(of(bob, ann), [one("👍", &["bob", "ann"], true), one("❤️", &["bob"], true), party(false)]);
    let off = |what| MessageChange::React { reaction: reaction(what), on: false };
    change(store, bob, ann, 1, off("👍")).expect("it is his");
    change(store, bob, ann, 1, off("❤️")).expect("it is his");
    change(store, bob, ann, 1, react("❤️")).expect("there is room");
    assert_eq!(of(bob, ann), [one("👍", &["ann"], false), party(false), one("❤️", &["bob"], true)]);
    for what in [":a:", ":b:", ":c:", ":d:", ":e:", ":f:", ":g:"] {
        change(store, bob, ann, 1, react(what)).expect("there is room");
    }
    assert_eq!(
        change(store, bob, ann, 1, react("👍")),
        Err(Refusal::TooManyReactions),
        "the ninth of one user"
    );
    assert_eq!(of(ann, bob).len(), 10);
}

pub(crate) fn more_edits_do_not_push_out_former_bodies(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    say(store, ann, bob, "1", "0");
    let revisions = |seq| ask(|done| store.revisions(direct(ann, bob), Seq(seq), done));
    let edit_at = |seq, body: &str, time| {
        let wanted = ChangeMessage { time, ..wanted(ann, bob, seq, edit(body)) };
        ask(|done| store.change_message(wanted, done)).map(|changed| changed.changed)
    };
    assert_eq!(revisions(1), []);
    let now = Timestamp(NOW.0 + MINUTE);
    for number in 1..=REVISIONS {
        assert_eq!(edit_at(1, &number.to_string(), now), Ok(true));
    }
    let last = REVISIONS.to_string();
    assert_eq!(edit_at(1, &last, now), Ok(false), "it says so already");
    assert_eq!(edit_at(1, "one more", now), Err(Refusal::NotAllowed));
    let kept = revisions(1);
    assert_eq!((kept.len(), &*kept[0].body, kept[0].until), (REVISIONS, "0", now));

    let week_later = Timestamp(now.0 + EVIDENCE_MS);
    assert_eq!(edit_at(1, "one more", week_later), Ok(true));
    let kept = revisions(1);
    assert_eq!((&*kept[0].body, &*kept[1].body, &*kept[REVISIONS - 1].body), ("0", "2", &*last));

    let large = |number: usize| format!("{number:08192}");
    say(store, ann, bob, "2", &large(0));
    let fits = REVISION_BYTES / large(0).len();
    let edits = (1..99).take_while(|number| edit_at(2, &large(*number), now) == Ok(true));
    assert_eq!(edits.count(), fits);
    assert_eq!(edit_at(2, "short", now), Err(Refusal::NotAllowed));
    change(store, ann, bob, 2, MessageChange::Delete).expect("one may always take back");
    assert_eq!(revisions(2).len(), fits + 1, "with what it said at last");
    assert_eq!(revisions(3), []);
}

pub(crate) fn a_mention_counts_by_the_body_as_it_is_now(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    for number in 1..=4 {
        say(store, ann, bob, &number.to_string(), if number == 2 { "@bob!" } else { "hi" });
    }
    let mentions =
        || ask(|done| store.conversation(bob, direct(ann, bob), done)).expect("it exists").mentions;
    assert_eq!(mentions(), 1);
    change(store, ann, bob, 4, edit("@bob, are you there?")).expect("it is hers");
    assert_eq!(mentions(), 2);
    change(store, ann, bob, 4, edit("@bob?")).expect("it is hers");
    change(store, ann, bob, 2, edit("never mind")).expect("it is hers");
    assert_eq!(mentions(), 1);
    ask(|done| store.mark(direct(ann, bob), bob, Seq(3), Seq(3), done));
    assert_eq!(mentions(), 1);
    change(store, ann, bob, 1, edit("@bob")).expect("it is hers");
    assert_eq!(mentions(), 1, "what he has read is no news");
    ask(|done| store.mark(direct(ann, bob), bob, Seq(4), Seq(4), done));
    assert_eq!(mentions(), 0);
}

pub(crate) fn a_difference_has_old_messages_that_changed(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    for number in 1..=40 {
        say(store, ann, bob, &number.to_string(), "old");
    }
    say(store, ann, carl, "41", "elsewhere");
    let position = snapshot(store, bob, None).position;
    change(store, ann, bob, 30, edit("a")).expect("it is hers");
    change(store, ann, bob, 2, edit("b")).expect("it is hers");
    change(store, bob, ann, 30, react("👍")).expect("there is room");
    change(store, ann, carl, 1, edit("not for bob")).expect("it is hers");
    let between = snapshot(store, bob, None).position;
    say(store, ann, bob, "new", "new");
    change(store, ann, bob, 41, edit("newer")).expect("it is hers");

    let news = snapshot(store, bob, Some(position));
    assert_eq!((seqs(&news.messages), seqs(&news.updates)), (vec![41], vec![2, 30]));
    assert_eq!(&*news.messages[0].body, "newer", "as it is now, and not told twice");
    assert!(news.gaps.is_empty() && news.updates[1].reactions[0].mine);
    assert_eq!(&*news.updates[1].body, "a");
    let news = snapshot(store, bob, Some(between));
    assert_eq!((seqs(&news.messages), seqs(&news.updates)), (vec![41], vec![]));
    let after = snapshot(store, bob, Some(news.position));
    assert!(after.conversations.rows.is_empty() && after.updates.is_empty());
    assert!(snapshot(store, bob, None).updates.is_empty(), "a first page has no difference");
    let of_carl = snapshot(store, carl, Some(position));
    assert_eq!(of_carl.updates.iter().map(|message| &*message.body).collect::<Vec<_>>(), ["not for bob"]);
}

pub(crate) fn too_many_changes_make_a_device_reload_the_conversation(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    for number in 0..6 {
        say(store, ann, bob, &format!("b{number}"), "old");
        say(store, ann, carl, &format!("c{number}"), "old");
    }
    let position = snapshot(store, ann, None).position;
    for seq in 1..=4 {
        change(store, ann, bob, seq, edit("new")).expect("it is hers");
    }
    for seq in 1..=3 {
        change(store, ann, carl, seq, edit("new")).expect("it is hers");
    }
    say(store, ann, bob, "last", "new");
    let resume = |messages_per_conversation, messages| {
        let position = Some(position);
        let from = ResumeFrom { messages, messages_per_conversation, ..since(position) };
        snapshot_from(store, ann, from)
    };
    let forget = |other, first| Gap { conversation: direct(ann, other), first: Seq(first), forget: true };
    let news = resume(3, 9);
    assert_eq!((seqs(&news.messages), seqs(&news.updates)), (vec![7], vec![1, 2, 3]));
    assert_eq!(news.gaps, [forget(bob, 7)]);
    assert_eq!(news.updates[0].conversation, direct(ann, carl));
    let news = resume(9, 5);
    assert_eq!(news.updates.len(), 4, "there is room for those of bob");
    assert_eq!(news.gaps, [forget(carl, 7)]);
    let news = resume(9, 0);
    assert_eq!(news.gaps, [forget(bob, 8), forget(carl, 7)]);
    assert!(news.updates.is_empty());
    assert!(resume(9, 9).gaps.is_empty());
}

pub(crate) fn changes_in_a_room_obey_its_rules_and_reach_all_members(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let (carl, dora) = (put(store, site, "carl"), put(store, site, "dora"));
    let room = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
    let limits = RoomLimits::default();
    let joined = ask(|done| store.create_room(ann, room, limits, NOW, done)).expect("there is room");
    let id = joined.row.id;
    for user in [bob, carl] {
        ask(|done| store.join_room(RoomName::Id(id), user, limits, NOW, done)).expect("it is public");
    }
    let post = |from, client_id: &str, body: &str| {
        let post = Post {
            names_author: false,
            kind: chat::MessageKind::Text,
            room: RoomName::Id(id),
            from,
            client_id: client_id.into(),
            body: body.into(),
            extension: None,
            time: NOW,
            reply_to: None,
            files: Vec::new(),
            rich: None,
        };
        ask(|done| store.post(post, limits, done)).expect("a member may").appended
    };
    (1..=40).for_each(|number| _ = post(bob, &number.to_string(), "@carl, look"));
    let change = |by, seq, change| {
        let time = Timestamp(NOW.0 + MINUTE);
        let wanted = ChangeMessage { conversation: id, seq: Seq(seq), by, change, time };
        ask(|done| store.change_message(wanted, done))
    };
    let row = |user| ask(|done| store.conversation(user, id, done)).expect("a member sees it");
    let position = snapshot(store, carl, None).position;
    let told = |outcome: Result<ChangedMessage, Refusal>| {
        let mut members = outcome.expect("it may").members.to_vec();
        members.sort_unstable();
        members
    };
    let all: Vec<u32> = [ann, bob, carl].iter().map(|user| user.num).collect();
    assert_eq!(row(carl).mentions, 40);
    assert_eq!(told(change(bob, 2, edit("@ann, look"))), all);
    assert_eq!((row(carl).mentions, row(ann).mentions), (39, 1));
    assert_eq!(told(change(carl, 2, react("👍"))), all);
    assert_eq!(told(change(carl, 2, react("👍"))), [0; 0], "nothing has changed, and nobody is told");
    assert_eq!(change(carl, 2, MessageChange::Delete), Err(Refusal::NotAllowed));
    assert_eq!(change(ann, 2, edit("mine")), Err(Refusal::NotAllowed), "nor may the owner say it for him");
    assert_eq!(change(dora, 2, react("👍")), Err(Refusal::NotAMember));
    assert_eq!(change(carl, 41, react("👍")), Err(Refusal::NoSuchMessage));
    assert!(change(ann, 39, MessageChange::Delete).expect("she keeps order").message.deleted);
    assert_eq!((row(carl).mentions, row(carl).unread), (38, 40));
    let kept = ask(|done| store.revisions(id, Seq(39), done));
    assert_eq!(&*kept[0].body, "@carl, look");

    let news = snapshot(store, carl, Some(position));
    assert_eq!(seqs(&news.updates), [2, 39]);
    assert!(news.messages.is_empty() && news.gaps.is_empty() && news.updates[0].reactions[0].mine);
    assert_eq!(news.conversations.rows.len(), 1);
    assert!(!snapshot(store, ann, Some(position)).updates[0].reactions[0].mine);
    assert!(snapshot(store, carl, Some(news.position)).updates.is_empty());

    ask(|done| store.leave_room(id, bob, done)).expect("anybody may leave");
    assert_eq!(change(bob, 2, MessageChange::Delete), Err(Refusal::NotAMember));
    assert_eq!(told(change(ann, 2, react("👍"))), [ann.num, carl.num]);
}

pub(crate) fn pinned_messages_are_listed_until_they_are_deleted(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let id = direct(ann, bob);
    for number in 1..=MOST_PINNED + 2 {
        say(store, ann, bob, &number.to_string(), "x");
    }
    let pins = |reader| ask(|done| store.pins(reader, id, done)).map(|messages| seqs(&messages));
    assert_eq!(pins(ann), Ok(vec![]));
    let pinned = change(store, bob, ann, 2, MessageChange::Pin(true)).expect("both may");
    assert!(pinned.changed && pinned.message.pinned);
    assert_eq!(history(store, ann, bob)[1], pinned.message);
    assert!(!change(store, ann, bob, 2, MessageChange::Pin(true)).expect("it is so").changed);
    change(store, ann, bob, 1, MessageChange::Pin(true)).expect("both may");
    assert_eq!((pins(ann), pins(bob)), (Ok(vec![2, 1]), Ok(vec![2, 1])), "newest first");
    // An edit and a reaction leave it pinned.
    change(store, ann, bob, 1, edit("y")).expect("it is hers");
    change(store, bob, ann, 1, react("\u{1f44d}")).expect("anybody may");
    change(store, ann, bob, 2, MessageChange::Pin(false)).expect("both may");
    assert_eq!(pins(ann), Ok(vec![1]));
    change(store, ann, bob, 1, MessageChange::Delete).expect("it is hers");
    assert_eq!(pins(ann), Ok(vec![]));
    assert_eq!(change(store, ann, bob, 1, MessageChange::Pin(true)), Err(Refusal::NoSuchMessage));
    for seq in 2..MOST_PINNED as u64 + 2 {
        change(store, ann, bob, seq, MessageChange::Pin(true)).expect("there is room");
    }
    let last = MOST_PINNED as u64 + 2;
    assert_eq!(change(store, ann, bob, last, MessageChange::Pin(true)), Err(Refusal::TooManyPinned));
    let eve = put(store, site, "eve");
    assert_eq!(pins(eve), Err(Refusal::NoSuchConversation));
}

pub(crate) fn only_moderators_pin_in_a_room(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let new = NewRoom { name: "Bikers".into(), kind: RoomKind::Private, topic: None, alias: None };
    let limits = RoomLimits::default();
    let room = ask(|done| store.create_room(ann, new, limits, NOW, done)).expect("nothing forbids it").row.id;
    let post = Post {
        names_author: false,
        kind: chat::MessageKind::Text,
        room: RoomName::Id(room),
        from: ann,
        client_id: "1".into(),
        body: "x".into(),
        extension: None,
        time: NOW,
        reply_to: None,
        files: Vec::new(),
        rich: None,
    };
    ask(|done| store.post(post, limits, done)).expect("the owner may");
    let pin = |by| {
        let change = MessageChange::Pin(true);
        let wanted = ChangeMessage { conversation: room, seq: Seq(1), by, change, time: NOW };
        ask(|done| store.change_message(wanted, done)).map(|changed| changed.message.pinned)
    };
    let pins = |reader| ask(|done| store.pins(reader, room, done)).map(|messages| seqs(&messages));
    assert!(pins(bob).is_err(), "a private room");
    let invite = MemberAction::Invite;
    ask(|done| store.change_member(room, ann, bob, invite, limits, NOW, done)).expect("the owner may");
    assert_eq!((pin(bob), pin(ann)), (Err(Refusal::NotAllowed), Ok(true)));
    assert_eq!(pins(bob), Ok(vec![1]));
}

fn wanted(by: UserId, other: UserId, seq: u64, change: MessageChange) -> ChangeMessage {
    let time = Timestamp(NOW.0 + MINUTE);
    ChangeMessage { conversation: direct(by, other), seq: Seq(seq), by, change, time }
}

fn change(
    store: &dyn Store,
    by: UserId,
    other: UserId,
    seq: u64,
    change: MessageChange,
) -> Result<ChangedMessage, Refusal> {
    ask(|done| store.change_message(wanted(by, other, seq, change), done))
}

fn edit(body: &str) -> MessageChange {
    MessageChange::edit(body)
}

fn react(text: &str) -> MessageChange {
    MessageChange::React { reaction: reaction(text), on: true }
}

fn reaction(text: &str) -> Reaction {
    Reaction::parse(text).expect("a reaction")
}

fn history(store: &dyn Store, reader: UserId, other: UserId) -> Vec<StoredMessage> {
    ask(|done| store.history(reader, direct(reader, other), None, None, 99, done)).messages
}

fn seqs(messages: &[StoredMessage]) -> Vec<u64> {
    messages.iter().map(|message| message.seq.0).collect()
}

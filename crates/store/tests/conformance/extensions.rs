//! Extensions of messages: kept with the body, and removed with it.

use chat::{
    Append, By, ChangeMessage, EraseSlice, Held, HeldPlace, HeldWhy, ImportOutcome, Kept, LinkRule,
    MessageChange, MessagesAfterErasure, NewErasure, NewHeld, NewRoom, Post, Refusal, RequestRules, RoomKind,
    RoomLimits, RoomName, Search, Seq, Store, StoredMessage, Trim, UserId, words,
};

use crate::asking::{NOW, ask, direct, message, put, say, since, snapshot, sub};
use crate::{imports, merge, two_users};

const EXTENSION: &str = "<active xmlns='chatstates'/>";

fn extended(from: UserId, to: UserId, id: &str, body: &str, extension: &str) -> Append {
    Append { extension: Some(extension.into()), ..message(from, to, id, body) }
}

fn history(store: &dyn Store, reader: UserId, other: UserId) -> Vec<StoredMessage> {
    ask(|done| store.history(reader, direct(reader, other), None, None, 50, done)).messages
}

fn extensions(messages: &[StoredMessage]) -> Vec<Option<&str>> {
    messages.iter().map(|one| one.extension.as_deref()).collect()
}

pub(crate) fn an_extension_is_read_wherever_its_message_is(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let before = snapshot(store, bob, None).position;
    let first = ask(|done| store.append(extended(ann, bob, "1", "Hello", EXTENSION), done));
    let second = ask(|done| store.append(extended(ann, bob, "2", "", EXTENSION), done));
    say(store, bob, ann, "3", "plain");
    let read = history(store, bob, ann);
    assert_eq!(extensions(&read), [Some(EXTENSION), Some(EXTENSION), None]);
    assert_eq!((&*read[0].body, &*read[1].body), ("Hello", ""));
    assert_eq!(read.iter().map(StoredMessage::is_opaque).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!((read[0].position, read[1].position), (first.position.number, second.position.number));
    assert_eq!(snapshot(store, bob, Some(before)).messages, read);
    let one = ask(|done| store.message(bob, direct(ann, bob), Seq(2), done)).expect("he may");
    assert_eq!(one, read[1]);
    let last = ask(|done| store.snapshot(bob, since(None), done)).conversations.rows.remove(0).last;
    assert_eq!(last.as_ref(), read.last());
    let found = |word: &str| {
        let wanted = Search { user: bob, words: words(word), conversation: None, after: None, limit: 9 };
        ask(|done| store.search(wanted, done)).expect("he may").hits.len()
    };
    assert_eq!(found("chatstates"), 0, "only bodies are searched");
}

pub(crate) fn an_extension_of_a_room_message_is_read_by_its_members(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let new = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
    let limits = RoomLimits::default();
    let id = ask(|done| store.create_room(ann, new, limits, NOW, done)).expect("it is made").row.id;
    ask(|done| store.join_room(RoomName::Id(id), bob, limits, NOW, done)).expect("it is public");
    let post = Post {
        names_author: false,
        kind: chat::MessageKind::Text,
        room: RoomName::Id(id),
        from: ann,
        client_id: "1".into(),
        body: "".into(),
        extension: Some(EXTENSION.into()),
        time: NOW,
        reply_to: None,
        files: Vec::new(),
        rich: None,
    };
    let posted = ask(|done| store.post(post, limits, done)).expect("she may");
    let (_, page) =
        ask(|done| store.room_history(RoomName::Id(id), bob, None, None, 9, done)).expect("he is in it");
    let [line] = &page.messages[..] else { panic!("one message") };
    assert_eq!(line.extension.as_deref(), Some(EXTENSION));
    assert_eq!(line.position, posted.appended.position.number);
}

pub(crate) fn a_change_of_the_body_replaces_the_extension(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let posted = ask(|done| store.append(extended(ann, bob, "1", "Hello", EXTENSION), done));
    let change = |change| {
        let wanted =
            ChangeMessage { conversation: direct(ann, bob), seq: Seq(1), by: ann, change, time: NOW };
        ask(|done| store.change_message(wanted, done)).expect("it is hers")
    };
    let edit = |body: &str, extension: Option<&str>| MessageChange::Edit {
        body: body.into(),
        extension: extension.map(Box::from),
    };
    assert!(!change(edit("Hello", Some(EXTENSION))).changed, "it is the same");
    let changed = change(edit("Hello", Some("<x/>")));
    assert!(changed.changed);
    assert_eq!(
        (changed.message.extension.as_deref(), changed.message.position),
        (Some("<x/>"), posted.position.number)
    );
    assert_eq!(history(store, bob, ann), [changed.message]);
    assert_eq!(change(edit("", Some("<x/>"))).message.body.len(), 0);
    assert_eq!(change(MessageChange::edit("Hi")).message.extension, None);
    change(edit("Hi", Some(EXTENSION)));
    let deleted = change(MessageChange::Delete).message;
    assert_eq!((&*deleted.body, deleted.extension, deleted.deleted), ("", None, true));
    let former = ask(|done| store.revisions(direct(ann, bob), Seq(1), done));
    let bodies: Vec<&str> = former.iter().map(|one| &*one.body).collect();
    assert_eq!(bodies, ["Hello", "Hello", "", "Hi", "Hi"], "former extensions are not kept");
}

pub(crate) fn a_held_message_keeps_its_extension(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let id = "x".repeat(255);
    let held = NewHeld {
        place: HeldPlace::Direct(direct(ann, bob)),
        from: ann,
        client_id: id.as_str().into(),
        body: "".into(),
        extension: Some(EXTENSION.into()),
        time: NOW,
        reply_to: None,
        files: Vec::new(),
        thread: None,
        why: HeldWhy::Filter("word: casino".into()),
    };
    let report = match ask(|done| store.hold(held.clone(), done)) {
        Ok(Kept::Held { report: Some(report), .. }) => report.number,
        other => panic!("it waits for a moderator: {other:?}"),
    };
    let of_ann: Vec<Held> = ask(|done| store.held_by(ann, done));
    assert_eq!((of_ann.len(), of_ann[0].extension.as_deref()), (1, Some(EXTENSION)));
    assert!(of_ann[0].is_opaque() && *of_ann[0].client_id == *id);
    let of_report = ask(|done| store.held_of_report(site, By::Site, report, done));
    assert_eq!(of_report, Ok(of_ann[0].clone()));
    assert!(matches!(ask(|done| store.hold(held, done)), Ok(Kept::Held { report: None, .. })));
}

pub(crate) fn a_message_request_has_no_links_in_its_extension(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let rules = RequestRules { messages: 3, per_day: 9, links: LinkRule::Refused, begin: Ok(()) };
    let asks = |id: &str, extension: &str| {
        let append = extended(ann, bob, id, "Hello", extension);
        ask(|done| store.append_request(append, rules, done)).map(drop)
    };
    assert_eq!(asks("1", "<url>https://casino.example</url>"), Err(Refusal::FirstContact));
    assert_eq!(asks("2", EXTENSION), Ok(()));
    let edit = MessageChange::Edit { body: "Hello".into(), extension: Some("www.casino.example".into()) };
    let wanted =
        ChangeMessage { conversation: direct(ann, bob), seq: Seq(1), by: ann, change: edit, time: NOW };
    assert_eq!(ask(|done| store.change_message(wanted, done)).err(), Some(Refusal::FirstContact));
    assert_eq!(extensions(&history(store, bob, ann)), [Some(EXTENSION)]);
}

pub(crate) fn a_long_client_id_is_known_again(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    // They differ only in their ends. The index of ids is compared by the first bytes, so these come last.
    let ids: Vec<String> = (0..9).map(|number| format!("{}{number}", "\u{1f98a}".repeat(63) + "é")).collect();
    assert!(ids.iter().all(|id| id.len() == 255));
    let first: Vec<_> = ids.iter().map(|id| say(store, ann, bob, id, "x")).collect();
    assert!(first.iter().all(|answer| !answer.repeated));
    for (id, first) in ids.iter().zip(first) {
        assert_eq!(say(store, ann, bob, id, "again"), chat::Appended { repeated: true, ..first });
    }
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = ask(|done| store.export(ann, after.clone(), 2, done));
        found.extend(page.messages.into_iter().map(|one| one.client_id.to_string()));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, ids);
}

pub(crate) fn an_export_has_the_extensions(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    ask(|done| store.append(extended(ann, bob, "1", "", EXTENSION), done));
    let page = ask(|done| store.export(ann, None, 9, done));
    assert_eq!(extensions(&page.messages), [Some(EXTENSION)]);
}

pub(crate) fn an_imported_message_has_no_extension(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    assert_eq!(
        imports::import(store, site, &[imports::message("1", "ann", "bob", 1, None)]),
        [ImportOutcome::Added]
    );
    let read = history(store, bob, ann);
    assert_eq!((read.len(), extensions(&read)), (1, vec![None]));
    assert!(read[0].position > 0);
}

fn erase(store: &dyn Store, user: UserId, messages: MessagesAfterErasure) {
    let (alias, name) = (sub("deleted-1"), "Deleted user".into());
    let erasure = NewErasure { user, alias, name, messages, by: By::Site, time: NOW };
    ask(|done| store.begin_erasure(erasure, done)).expect("the user exists");
    if messages == MessagesAfterErasure::Erased {
        let other = put(store, user.site, "bob");
        let read = history(store, other, user);
        let mut of_user = read.iter().filter(|one| one.from == user);
        assert!(of_user.all(|one| one.extension.is_none()), "no reader waits");
    }
    for _ in 0..50 {
        let slice: EraseSlice = ask(|done| store.erase_some(NOW, 2, done));
        if !slice.more {
            return;
        }
    }
    panic!("it does not end");
}

pub(crate) fn an_erased_user_leaves_no_extension(store: &dyn Store) {
    for messages in [MessagesAfterErasure::Kept, MessagesAfterErasure::Erased] {
        let site = crate::asking::add_site(store, messages.word());
        let (ann, bob) = (put(store, site, "ann"), put(store, site, "bob"));
        ask(|done| store.append(extended(ann, bob, "1", "a recipe", "<from>ann@example</from>"), done));
        ask(|done| store.append(extended(ann, bob, "2", "", "<from>ann@example</from>"), done));
        ask(|done| store.append(extended(bob, ann, "3", "thanks", EXTENSION), done));
        let before = snapshot(store, bob, None).position;
        erase(store, ann, messages);
        let read = history(store, bob, ann);
        assert_eq!(extensions(&read), [None, None, Some(EXTENSION)], "{messages:?}");
        let kept = messages == MessagesAfterErasure::Kept;
        assert_eq!(read.iter().map(|one| one.deleted).collect::<Vec<_>>(), [!kept, true, false]);
        assert_eq!(&*read[0].body, if kept { "a recipe" } else { "" });
        let renewed: Vec<Seq> =
            snapshot(store, bob, Some(before)).updates.iter().map(|one| one.seq).collect();
        assert_eq!(renewed.len(), 2, "a device that was away hears of it");
    }
}

pub(crate) fn a_guest_who_becomes_a_member_keeps_their_extensions(store: &dyn Store) {
    let (site, _, bob) = two_users(store);
    let guest = merge::guest(store, site, "guest-1");
    ask(|done| store.append(extended(guest, bob, "1", "Hello", EXTENSION), done));
    merge::merge(store, site, "guest-1", "gus").expect("it is a guest");
    while ask(|done: chat::Done<EraseSlice>| store.erase_some(NOW, 9, done)).more {}
    let read = history(store, bob, guest);
    assert_eq!((read[0].from_sub.clone(), extensions(&read)), (sub("gus"), vec![Some(EXTENSION)]));
}

pub(crate) fn an_expired_message_takes_its_extension_along(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    ask(|done| store.append(extended(ann, bob, "1", "", EXTENSION), done));
    let trim = Trim { before: Some(chat::Timestamp(NOW.0 + 1)), rooms: Vec::new() };
    let trimmed = ask(|done| store.trim(site, None, trim, 9, done));
    assert_eq!((trimmed.removed, history(store, bob, ann)), (1, vec![]));
}

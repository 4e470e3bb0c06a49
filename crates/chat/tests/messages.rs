//! Messages, markers, typing, history and the conversation list, as two members and their devices see them.

use crate::scene;

use chat::*;
use scene::*;
use store::Sqlite;

#[test]
fn a_message_reaches_every_device_of_both_once() {
    let scene = Scene::new(Mode::Open);
    let [phone, laptop] = ["phone", "laptop"].map(|device| scene.sign_in("ann", device));
    let [bob, tablet] = ["b1", "b2"].map(|device| scene.sign_in("bob", device));
    let eve = scene.sign_in("eve", "e");

    scene.send(&phone, to("bob"), "m1", "hello");

    let [event!(_, Some(position), messages::Ack { client_id, conversation, seq, time, .. })] =
        &scene.take(&phone)[..]
    else {
        panic!("the sender hears one acknowledgement")
    };
    assert_eq!((&**client_id, *seq, *time), ("m1", Seq(1), scene.now()));
    for device in [&laptop, &bob, &tablet] {
        let [event!(_, Some(at), messages::Message(message))] = &scene.take(device)[..] else {
            panic!("one message each")
        };
        let expected = Message {
            conversation: *conversation,
            seq: Seq(1),
            from: sub("ann"),
            to: Some(sub("bob")),
            kind: MessageKind::Text,
            client_id: "m1".into(),
            body: "hello".into(),
            extension: None,
            position: position.number,
            time: scene.now(),
            reply_to: None,
            version: 0,
            edited: None,
            deleted: false,
            pinned: false,
            reactions: vec![],
            files: vec![],
            rich: None,
        };
        assert_eq!((&**message, at), (&expected, position));
    }
    assert!(scene.take(&eve).is_empty());
}

#[test]
fn a_repeated_id_gets_the_first_answer_and_is_not_published() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let first = scene.post(&ann, to("bob"), "m1", "hello").unwrap();
    scene.post(&ann, to("bob"), "m2", "more").unwrap();
    assert_eq!(scene.bodies(&bob), ["hello", "more"]);

    assert_eq!(scene.post(&ann, to("bob"), "m1", "hello"), Ok(first));
    let other_device = scene.sign_in("ann", "a2");
    assert_eq!(scene.post(&other_device, to("bob"), "m1", "hello"), Ok(first));
    // An id belongs to its sender: the same id of another user is another message.
    assert_eq!(scene.post(&bob, to("ann"), "m1", "own"), Ok((first.0, Seq(3))));
    assert_eq!(scene.bodies(&bob), [""; 0]);
    assert_eq!((scene.node.stats().messages, scene.node.stats().repeated), (3, 2));
}

#[test]
fn users_to_whom_writing_is_refused() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|user| scene.sign_in(user, "d"));
    let (ours, _) = scene.post(&ann, to("bob"), "m1", "hello").unwrap();
    let nobody = ConversationId::direct(ann.session.user, UserId { num: 77, ..ann.session.user }).unwrap();
    let elsewhere = ConversationId { site: SiteId(99), ..ours };

    let table = [
        (&ann, to("zoe"), Refusal::NoSuchUser),
        (&ann, to("ann"), Refusal::NotAllowed),
        (&eve, To::Conversation(ours), Refusal::NoSuchConversation),
        (&ann, To::Conversation(nobody), Refusal::NoSuchConversation),
        (&ann, To::Conversation(elsewhere), Refusal::NoSuchConversation),
        (&ann, To::Conversation(ConversationId { key: 1 << 63, ..ours }), Refusal::NoSuchConversation),
        (&ann, To::Conversation(ConversationId { key: 0, ..ours }), Refusal::NoSuchConversation),
    ];
    for (from, to, refusal) in table {
        assert_eq!(scene.post(from, to.clone(), "m2", "hello"), Err(refusal), "{to:?}");
    }
    assert_eq!(scene.post(&bob, To::Conversation(ours), "m2", "hello"), Ok((ours, Seq(2))));
    assert_eq!(scene.post(&ann, to("bob"), "m3", ""), Err(Refusal::BadBody));
    assert_eq!(scene.post(&ann, to("bob"), "m\n3", "x"), Err(Refusal::BadValue));

    let banned = scene.sign_in("out", "d");
    scene.store.set_banned(banned.session.user, true, Box::new(|_| ()));
    assert_eq!(scene.post(&ann, to("out"), "m4", "x"), Err(Refusal::NotAllowed));
}

#[test]
fn a_full_disk_refuses_sends_and_allows_reads() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.post(&ann, to("bob"), "m1", "hello").unwrap();
    scene.take(&bob);

    scene.store.fail_writes(Some(StoreError::DiskFull));
    assert_eq!(scene.post(&ann, to("bob"), "m2", "lost?"), Err(Refusal::Unavailable));
    assert_eq!(history(&scene, &ann, to("bob")), ["hello"]);
    // A member with an unchanged profile signs in without a write.
    scene.sign_in("bob", "b2");

    scene.store.fail_writes(None);
    assert_eq!(scene.post(&ann, to("bob"), "m2", "lost?").unwrap().1, Seq(2));
    assert_eq!(scene.bodies(&bob), ["lost?"]);
}

#[test]
fn commands_of_a_session_keep_their_order_while_people_are_looked_up() {
    let scene = Scene::with(Mode::Open, config(), Sqlite::by_turns());
    let tokens = ["ann", "bob"].map(|user| scene.token(user));
    let handles = tokens.each_ref().map(|token| scene.hello(Some(token), "d", None));
    scene.store.run();
    let [ann, bob] = handles.map(|handle| scene.welcomed(handle));

    for number in 0..5 {
        scene.send(&ann, to("bob"), &format!("m{number}"), &number.to_string());
    }
    // The look-ups could return in any order; the reverse order is the worst.
    while scene.store.turns() > 0 {
        scene.store.turn(scene.store.turns() - 1);
    }
    assert_eq!(scene.bodies(&bob), ["0", "1", "2", "3", "4"]);
}

#[test]
fn commands_waiting_for_a_look_up_are_bounded() {
    let scene = Scene::with(Mode::Open, config(), Sqlite::by_turns());
    let handle = scene.hello(Some(&scene.token("ann")), "d", None);
    scene.store.run();
    let ann = scene.welcomed(handle);
    for number in 0..70 {
        scene.send(&ann, to("bob"), &format!("m{number}"), "x");
    }
    let refused = scene.take(&ann);
    assert_eq!(refused.len(), 5, "one is being looked up, 64 wait");
    assert!(refused.iter().all(|event| matches!(
        event,
        event!(session::SendRefused { refusal: Refusal::RateLimited { .. }, .. })
    )));
    scene.store.run();
    assert_eq!(scene.take(&ann).len(), 65, "all others are answered");
}

#[test]
fn markers_reach_both_members_and_unread_counts_only_their_user() {
    let scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    let [bob, tablet] = ["b1", "b2"].map(|device| scene.sign_in("bob", device));
    for number in 1..=3 {
        scene.post(&ann, to("bob"), &format!("m{number}"), "x").unwrap();
    }
    let (conversation, _) = scene.post(&ann, to("bob"), "m4", "x").unwrap();
    for device in [&ann, &bob, &tablet] {
        scene.take(device);
    }
    let mark = |set| scene.command(&bob, messages::Command::Mark { conversation, set });
    let heard = |device: &Device| -> Vec<(u64, u64, Option<u64>)> {
        let events = scene.take(device);
        let marker = |event: &Delivery| match event {
            event!(messages::Marker { user, received, read, unread, .. }) => {
                assert_eq!(*user, sub("bob"));
                (received.0, read.0, *unread)
            }
            other => panic!("{other:?}"),
        };
        events.iter().map(marker).collect()
    };

    mark(MarkerSet::Received(Seq(4)));
    assert_eq!(heard(&ann), [(4, 0, None)]);
    assert_eq!(heard(&tablet), [(4, 0, Some(4))]);
    mark(MarkerSet::Read(Seq(3)));
    assert_eq!(heard(&ann), [(4, 3, None)]);
    assert_eq!(heard(&tablet), [(4, 3, Some(1))]);
    // Markers never move back nor beyond the newest message, and an unchanged marker is not published.
    mark(MarkerSet::Read(Seq(2)));
    mark(MarkerSet::Received(Seq(1)));
    assert_eq!((heard(&ann), heard(&tablet)), (vec![], vec![]));
    mark(MarkerSet::Read(Seq(u64::MAX)));
    assert_eq!((heard(&ann), heard(&tablet)), (vec![(4, 4, None)], vec![(4, 4, Some(0))]));
    assert_eq!(heard(&bob), [], "the device that moved it knows");

    let eve = scene.sign_in("eve", "e");
    let answers = scene.ask(&eve, messages::Command::Mark { conversation, set: MarkerSet::Read(Seq(1)) });
    let [event!(None, session::Refused(Refusal::NoSuchConversation))] = &answers[..] else {
        panic!("{answers:?}")
    };
}

#[test]
fn typing_is_delivered_and_not_stored() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let ann_too = scene.sign_in("ann", "a2");
    scene.post(&ann, to("bob"), "1", "hi").unwrap();
    scene.take(&bob);
    scene.take(&ann_too);
    for on in [true, false] {
        scene.command(&ann, messages::Command::Typing { to: to("bob"), on });
        let [event!(messages::Typing { user, on: heard, conversation })] = &scene.take(&bob)[..] else {
            panic!("one event")
        };
        assert_eq!((user, *heard), (&sub("ann"), on));
        assert_eq!(conversation.other(ann.session.user), Some(bob.session.user));
    }
    // The author gets no event, and no typing goes to users to whom they may not write.
    assert!(scene.take(&ann_too).is_empty());
    assert!(scene.ask(&ann, messages::Command::Typing { to: to("zoe"), on: true }).is_empty());
    scene.contact(&bob, ContactAction::Block, "ann").unwrap();
    scene.take(&bob);
    assert!(scene.ask(&ann, messages::Command::Typing { to: to("bob"), on: true }).is_empty());
    assert!(scene.take(&bob).is_empty());
}

#[test]
fn history_by_pages() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|user| scene.sign_in(user, "d"));
    assert_eq!(history(&scene, &ann, to("bob")), [""; 0], "none yet, and that is no error");
    for number in 1..=7 {
        scene.post(&ann, to("bob"), &format!("m{number}"), &number.to_string()).unwrap();
    }
    let page = |before: Option<u64>, after: Option<u64>| {
        let (before, after) = (before.map(Seq), after.map(Seq));
        let command = Request::new(
            3,
            messages::Command::History { to: to("ann"), before, after, thread: None, limit: Some(3) },
        );
        match scene.ask(&bob, command).remove(0) {
            event!(Some(3), messages::History { messages, more, .. }) => {
                Ok((messages.iter().map(|message| message.seq.0).collect::<Vec<_>>(), more))
            }
            event!(Some(3), session::Refused(refusal)) => Err(refusal),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(page(None, None), Ok((vec![5, 6, 7], true)));
    assert_eq!(page(Some(5), None), Ok((vec![2, 3, 4], true)));
    assert_eq!(page(Some(2), None), Ok((vec![1], false)));
    assert_eq!(page(None, Some(0)), Ok((vec![1, 2, 3], true)));
    assert_eq!(page(None, Some(5)), Ok((vec![6, 7], false)));
    assert_eq!(page(None, Some(u64::MAX)), Ok((vec![], false)));
    assert_eq!(page(Some(0), None), Ok((vec![], false)));
    assert_eq!(page(Some(5), Some(2)), Err(Refusal::BadValue));

    let ours = ConversationId::direct(ann.session.user, bob.session.user).unwrap();
    let since = |who, to, time| {
        scene.ask(who, Request::new(4, messages::Command::HistorySince { to, time, limit: Some(2) }))
    };
    match &since(&bob, to("ann"), Timestamp(0))[..] {
        [event!(Some(4), messages::History { messages, more: true, .. })] => {
            assert_eq!(messages[0].seq, Seq(1))
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        since(&bob, to("ann"), Timestamp::MAX)[..],
        [event!(Some(4), messages::History { more: false, ref messages, .. })] if messages.is_empty()
    ));
    for (who, to) in
        [(&eve, To::Conversation(ours)), (&eve, To::Conversation(ConversationId { key: u64::MAX, ..ours }))]
    {
        let answer = since(who, to, Timestamp(0));
        assert!(matches!(answer[..], [event!(Some(4), session::Refused(Refusal::NoSuchConversation))]));
    }
    let to = To::Conversation(ours);
    let answer = scene.ask(
        &eve,
        Request::new(
            4,
            messages::Command::History { to, before: None, after: None, thread: None, limit: None },
        ),
    );
    assert!(matches!(answer[..], [event!(Some(4), session::Refused(Refusal::NoSuchConversation))]));
}

#[test]
fn the_conversation_list_and_its_settings() {
    let mut scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    let ann_too = scene.sign_in("ann", "a2");
    let friends = ["bob", "cat", "dan"].map(|user| scene.sign_in(user, "d"));
    for friend in &friends {
        scene.wait(10);
        scene.post(friend, to("ann"), "m1", "hello @ann, not @anna").unwrap();
    }
    scene.wait(1000);
    let list = |archived| {
        let page = PageOf { after: None, limit: Some(10) };
        let list = if archived { ConversationList::Archived } else { ConversationList::Main };
        match scene.ask(&ann, Request::new(1, messages::Command::ListConversations { list, page })).remove(0)
        {
            event!(Some(1), messages::Conversations { conversations, next: None }) => conversations,
            other => panic!("{other:?}"),
        }
    };
    let names = |archived| -> Vec<String> {
        list(archived)
            .iter()
            .map(|conversation| conversation.with.person().unwrap().sub.to_string())
            .collect()
    };
    assert_eq!(names(false), ["dan", "cat", "bob"]);
    let newest = list(false).remove(0);
    assert_eq!((newest.unread, newest.mentions, newest.read), (1, 1, Seq(0)));
    assert_eq!(newest.with.person().unwrap().presence, Some(Presence::Online));
    assert_eq!(newest.last.unwrap().body.as_ref(), "hello @ann, not @anna");

    let bobs = list(false).pop().unwrap().id;
    let change = |conversation, change| {
        scene.ask(&ann, Request::new(2, messages::Command::ChangeConversation { conversation, change }))
    };
    let pinned = ConversationChange { pinned: Some(true), ..ConversationChange::default() };
    scene.take(&ann_too);
    let answer = change(bobs, pinned.clone());
    let [event!(Some(2), messages::Conversation(conversation))] = &answer[..] else { panic!("{answer:?}") };
    assert!(conversation.pinned && !conversation.archived);
    let told = scene.take(&ann_too);
    assert!(matches!(&told[..], [event!(None, messages::Conversation(conversation))] if conversation.pinned));
    assert_eq!(names(false), ["bob", "dan", "cat"]);

    let put_away = ConversationChange { archived: Some(true), ..ConversationChange::default() };
    change(bobs, put_away);
    assert_eq!((names(false), names(true)), (vec!["dan".into(), "cat".into()], vec!["bob".to_string()]));
    scene.post(&friends[0], to("ann"), "m2", "are you there?").unwrap();
    assert_eq!(names(false), ["bob", "dan", "cat"], "a new message brings it back");

    let beyond =
        ConversationChange { muted_until: Some(Timestamp(u64::MAX)), ..ConversationChange::default() };
    let answer = change(bobs, beyond);
    assert!(matches!(answer[..], [event!(Some(2), session::Refused(Refusal::BadValue))]));
    let none = ConversationId::direct(ann.session.user, UserId { num: 99, ..ann.session.user }).unwrap();
    let answer = change(none, pinned);
    assert!(matches!(answer[..], [event!(Some(2), session::Refused(Refusal::NoSuchConversation))]));

    let draft = |text: &str| ConversationChange { draft: Some(text.into()), ..ConversationChange::default() };
    scene.take(&ann_too);
    change(bobs, draft("half a"));
    let told = scene.take(&ann_too);
    let [event!(None, messages::Conversation(conversation))] = &told[..] else { panic!("{told:?}") };
    assert_eq!(conversation.draft.as_deref(), Some("half a"), "the other device has it too");
    assert!(scene.take(&friends[0]).is_empty(), "nobody else hears of it");
    for text in ["a\0b", &"x".repeat(100_000)] {
        let answer = change(bobs, draft(text));
        assert!(matches!(answer[..], [event!(Some(2), session::Refused(Refusal::BadBody))]));
    }
}

#[test]
fn members_and_sites_have_rate_limits() {
    let mut config = config();
    config.limits.send_burst = 4;
    config.limits.send_per_minute = 60;
    config.limits.command_burst = 2;
    config.limits.command_per_minute = 60;
    let mut scene = Scene::with(Mode::Open, config, Sqlite::in_memory());
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let ann_too = scene.sign_in("ann", "a2");
    for number in 0..4 {
        let from = if number % 2 == 0 { &ann } else { &ann_too };
        scene.post(from, to("bob"), &format!("m{number}"), "x").unwrap();
    }
    let wait = Refusal::RateLimited { retry_after_ms: 1000 };
    assert_eq!(scene.post(&ann, to("bob"), "m4", "x"), Err(wait), "a limit is of the user, not the device");
    assert!(scene.post(&bob, to("ann"), "m0", "x").is_ok(), "and of nobody else");
    let profiles =
        || scene.ask(&ann, Request::new(1, contacts::Command::Profiles { users: vec![] })).remove(0);
    assert!(matches!(profiles(), event!(contacts::Profiles(_))), "other commands count apart");
    assert!(matches!(profiles(), event!(contacts::Profiles(_))));
    assert!(matches!(profiles(), event!(Some(1), session::Refused(Refusal::RateLimited { .. }))));
    scene.take(&bob);
    scene.command(&ann, messages::Command::Typing { to: to("bob"), on: true });
    assert!(scene.take(&ann).is_empty() && scene.take(&bob).is_empty(), "typing is dropped in silence");

    // A reconnect does not reset the rate.
    scene.leave(&ann);
    scene.leave(&ann_too);
    scene.wait(600);
    let ann = scene.sign_in("ann", "a3");
    assert!(scene.post(&ann, to("bob"), "m4", "x").is_err());
    scene.wait(400);
    assert!(scene.post(&ann, to("bob"), "m4", "x").is_ok());

    let guest = scene.sign_in_guest("g");
    assert!(scene.post(&guest, to("bob"), "m0", "x").is_ok());
    assert_eq!(
        scene.post(&guest, to("bob"), "m1", "x"),
        Err(Refusal::RateLimited { retry_after_ms: 4000 }),
        "guests have a quarter of both"
    );
}

#[test]
fn a_site_has_a_rate_limit() {
    let mut config = config();
    config.limits.site_sends_per_second = 3;
    let mut scene = Scene::with(Mode::Open, config, Sqlite::in_memory());
    let users = ["ann", "bob", "cat", "dan"].map(|user| scene.sign_in(user, "d"));
    let outcomes = users.each_ref().map(|user| scene.post(user, to("zed"), "m", "x"));
    assert!(outcomes.iter().all(|outcome| *outcome == Err(Refusal::NoSuchUser)), "costs nothing");
    scene.sign_in("zed", "d");
    let outcomes = users.each_ref().map(|user| scene.post(user, to("zed"), "m", "x").is_ok());
    assert_eq!(outcomes, [true, true, true, false]);
    scene.wait(400);
    assert!(scene.post(&users[3], to("zed"), "m", "x").is_ok());
}

fn history(scene: &Scene, device: &Device, to: To) -> Vec<String> {
    let command = Request::new(
        1,
        messages::Command::History { to, before: None, after: None, thread: None, limit: None },
    );
    match scene.ask(device, command).remove(0) {
        event!(messages::History { messages, .. }) => {
            messages.iter().map(|message| message.body.to_string()).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_search_covers_readable_messages() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|user| scene.sign_in(user, "d"));
    let (conversation, _) = scene.post(&ann, to("bob"), "m1", "Motor oil?").unwrap();
    scene.post(&bob, to("ann"), "m2", "What motor?").unwrap();
    let found = |who: &Device, query: &str, conversation, after: Option<String>| {
        let page = PageOf { after, limit: Some(1) };
        let search = Request::new(8, messages::Command::Search { query: query.into(), conversation, page });
        match scene.ask(who, search).as_slice() {
            [event!(Some(8), messages::Found { hits, next })] => {
                Ok((hits.iter().map(|hit| hit.body.to_string()).collect::<Vec<_>>(), next.clone()))
            }
            [event!(Some(8), session::Refused(refusal))] => Err(*refusal),
            other => panic!("no answer to a search: {other:?}"),
        }
    };
    let (hits, next) = found(&ann, "motor", None, None).unwrap();
    assert_eq!((hits, next.is_some()), (vec!["What motor?".to_owned()], true));
    assert_eq!(found(&bob, "motor", Some(conversation), next), Ok((vec!["Motor oil?".into()], None)));
    assert_eq!(found(&eve, "motor", None, None), Ok((vec![], None)));
    assert_eq!(found(&eve, "motor", Some(conversation), None), Err(Refusal::NoSuchConversation));
    assert_eq!(found(&ann, "?!", None, None), Ok((vec![], None)));
    assert_eq!(found(&ann, &"x".repeat(257), None, None), Err(Refusal::BadValue));
}

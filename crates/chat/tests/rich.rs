//! Polls, forwarded messages and threads in the domain: the receivers of events, and the visibility of
//! authors.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::*;
use scene::*;

fn ask_poll(
    scene: &Scene,
    from: &Device,
    to: To,
    id: &str,
    choices: &[&str],
) -> Result<(ConversationId, Seq), Refusal> {
    let choices = choices.iter().map(|text| (*text).into()).collect();
    let poll = NewPoll { choices, multiple: false, anonymous: false, ends: None };
    let rich = NewRich { poll: Some(poll), ..NewRich::default() }.boxed();
    let body = "Where?".into();
    let command = messages::Command::Send {
        client_id: id.into(),
        to,
        body,
        extension: None,
        reply_to: None,
        files: Vec::new(),
        rich,
    };
    acknowledged(&scene.ask(from, command))
}

fn acknowledged(events: &[Delivery]) -> Result<(ConversationId, Seq), Refusal> {
    match events {
        [event!(messages::Ack { conversation, seq, .. })] => Ok((*conversation, *seq)),
        [event!(session::SendRefused { refusal, .. })] => Err(*refusal),
        other => panic!("no answer: {other:?}"),
    }
}

fn vote(scene: &Scene, who: &Device, conversation: ConversationId, seq: Seq, choice: u8) -> Vec<Delivery> {
    let change = MessageChange::Vote(vec![choice]);
    scene.ask(who, Request::new(7, messages::Command::Change { conversation, seq, change }))
}

fn poll_in(event: &Delivery) -> (Vec<u64>, Vec<u8>, String) {
    match event {
        event!(messages::Counts { counts, by, .. }) => {
            let votes = counts.poll.as_ref().unwrap().votes.clone();
            match by.as_deref() {
                Some(CountedBy { user, what: Counted::Vote(choices) }) => {
                    (votes, choices.clone(), user.to_string())
                }
                None => (votes, Vec::new(), String::new()),
                other => panic!("no vote: {other:?}"),
            }
        }
        other => panic!("no counts: {other:?}"),
    }
}

fn room(scene: &Scene, owner: &Device) -> ConversationId {
    let command = Request::new(
        1,
        rooms::Command::Create { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None },
    );
    match scene.ask(owner, command).as_slice() {
        [event!(messages::Conversation(conversation))] => conversation.id,
        other => panic!("no room: {other:?}"),
    }
}

fn join(scene: &Scene, who: &Device, room: ConversationId) {
    let joined = scene.ask(who, Request::new(2, rooms::Command::Join { to: To::Conversation(room) }));
    assert!(matches!(joined.as_slice(), [event!(messages::Conversation(_))]), "{joined:?}");
}

#[test]
fn votes_reach_all_members_and_own_choices_only_the_voter() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob, phone) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"), scene.sign_in("bob", "p"));
    let (id, seq) = ask_poll(&scene, &ann, to("bob"), "a-1", &["lake", "town"]).unwrap();
    let [event!(messages::Message(message))] = &scene.take(&bob)[..] else { panic!("one message") };
    assert_eq!((&*message.body, message.rich.as_ref().unwrap().poll.as_ref().unwrap().voters), ("Where?", 0));
    scene.take(&phone);
    let answer = vote(&scene, &bob, id, seq, 1);
    assert_eq!(poll_in(&answer[0]), (vec![0, 1], vec![1], "bob".into()));
    assert_eq!(poll_in(&scene.take(&phone)[0]), (vec![0, 1], vec![1], "bob".into()));
    assert_eq!(poll_in(&scene.take(&ann)[0]), (vec![0, 1], vec![1], "bob".into()));
    let close = Request::new(
        8,
        messages::Command::Change { conversation: id, seq, change: MessageChange::ClosePoll },
    );
    let closed = scene.ask(&ann, close);
    let [event!(Some(8), messages::Counts { counts, .. })] = &closed[..] else { panic!("{closed:?}") };
    assert!(counts.poll.as_ref().unwrap().closed, "counts and a flag, and not the whole message");
    let late = vote(&scene, &bob, id, seq, 0);
    assert!(matches!(late[..], [.., event!(Some(7), session::Refused(Refusal::PollClosed))]), "{late:?}");
}

#[test]
fn invalid_polls_are_refused() {
    let scene = Scene::new(Mode::Open);
    let (ann, _bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let many: Vec<String> = (0..11).map(|number| number.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for choices in [&[][..], &["one"], &["a", "a"], &["a", "b\n"], &many] {
        assert_eq!(ask_poll(&scene, &ann, to("bob"), "a-1", choices), Err(Refusal::BadValue), "{choices:?}");
    }
    let rich = NewRich { thread: Some(Seq(1)), ..NewRich::default() }.boxed();
    let body = "x".into();
    let command = messages::Command::Send {
        client_id: "a-2".into(),
        to: to("bob"),
        body,
        extension: None,
        reply_to: None,
        files: vec![],
        rich,
    };
    assert_eq!(acknowledged(&scene.ask(&ann, command)), Err(Refusal::BadValue), "threads are of rooms");
}

#[test]
fn votes_in_a_large_room_are_gathered() {
    let mut scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    let room = room(&scene, &ann);
    let crowd: Vec<Device> = (0..60).map(|number| scene.sign_in(&format!("m{number}"), "d")).collect();
    crowd.iter().for_each(|member| join(&scene, member, room));
    let (_, seq) = ask_poll(&scene, &ann, To::Conversation(room), "a-1", &["lake", "town"]).unwrap();
    // The new number of members is published first.
    scene.wait(1_200);
    crowd.iter().chain([&ann]).for_each(|member| _ = scene.take(member));
    for (at, member) in crowd.iter().take(10).enumerate() {
        let answer = vote(&scene, member, room, seq, 0);
        assert_eq!(poll_in(&answer[0]).0, [at as u64 + 1, 0], "who votes hears of it at once");
    }
    assert!(scene.take(&ann).is_empty() && scene.take(&crowd[30]).is_empty(), "all others later");
    scene.wait(1_200);
    let told = scene.take(&ann);
    assert_eq!(told.len(), 1, "once for ten votes");
    assert_eq!(poll_in(&told[0]), (vec![10, 0], vec![], String::new()), "of nobody in particular");
    assert_eq!(poll_in(&scene.take(&crowd[30])[0]).0, [10, 0]);
    assert_eq!(poll_in(&scene.take(&crowd[9])[0]).0, [10, 0]);
    scene.wait(3_000);
    assert!(scene.take(&ann).is_empty());
}

#[test]
fn an_anonymous_vote_contains_no_user() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob, phone) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"), scene.sign_in("bob", "p"));
    let room = room(&scene, &ann);
    join(&scene, &bob, room);
    for (client_id, place) in [("a-1", To::Conversation(room)), ("a-2", to("bob"))] {
        let choices = vec!["lake".into(), "town".into()];
        let poll = NewPoll { choices, multiple: false, anonymous: true, ends: None };
        let rich = NewRich { poll: Some(poll), ..NewRich::default() }.boxed();
        let (client_id, body) = (client_id.into(), "Where?".into());
        let command = messages::Command::Send {
            client_id,
            to: place,
            body,
            extension: None,
            reply_to: None,
            files: Vec::new(),
            rich,
        };
        let (id, seq) = acknowledged(&scene.ask(&ann, command)).unwrap();
        [&bob, &phone].into_iter().for_each(|device| _ = scene.take(device));
        vote(&scene, &bob, id, seq, 1);
        let own = scene.take(&phone);
        assert_eq!(poll_in(&own[0]), (vec![0, 1], vec![1], "bob".into()), "one's own devices know");
        let heard = scene.take(&ann);
        assert_eq!(poll_in(&heard[0]), (vec![0, 1], vec![], String::new()));
        assert!(!format!("{heard:?}").contains("bob"), "{heard:?}");
    }
}

fn forward(
    scene: &Scene,
    who: &Device,
    from: (ConversationId, Seq),
    to: To,
    id: &str,
) -> Result<(ConversationId, Seq), Refusal> {
    let (conversation, seq) = from;
    acknowledged(&scene.ask(who, messages::Command::Forward { client_id: id.into(), to, conversation, seq }))
}

/// The first author of the message that this device just received; None: hidden.
fn origin(scene: &Scene, device: &Device) -> Option<String> {
    let events = scene.take(device);
    let Some(event!(messages::Message(message))) = events.last() else { panic!("no message: {events:?}") };
    let forwarded = message.rich.as_ref().unwrap().forwarded.clone().unwrap();
    forwarded.from.map(|(_, sub)| sub.to_string())
}

#[test]
fn a_forwarded_message_shows_its_author_only_to_permitted_readers() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob, carl) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"), scene.sign_in("carl", "c"));
    let said = scene.post(&ann, to("bob"), "a-1", "secret of ann").unwrap();
    let there = forward(&scene, &bob, said, to("carl"), "b-1").unwrap();
    assert_eq!(origin(&scene, &carl).as_deref(), Some("ann"));
    assert_eq!(forward(&scene, &bob, said, to("carl"), "b-1"), Ok(there), "the same once more");
    assert!(scene.take(&carl).is_empty());
    let own = scene.post(&carl, to("bob"), "c-1", "mine").unwrap();
    scene.take(&bob);
    forward(&scene, &carl, own, to("ann"), "c-2").unwrap();
    assert_eq!(origin(&scene, &ann).as_deref(), Some("carl"), "one's own");
    // A user whom the author has blocked does not see the author.
    scene.contact(&ann, ContactAction::Block, "carl").unwrap();
    scene.take(&carl);
    forward(&scene, &bob, said, to("carl"), "b-2").unwrap();
    assert_eq!(origin(&scene, &carl), None);
    let dora = scene.sign_in("dora", "d");
    let hidden = scene.take(&carl);
    assert!(hidden.is_empty());
    let again = (there.0, Seq(there.1.0 + 2));
    forward(&scene, &carl, again, to("dora"), "c-3").unwrap();
    assert_eq!(origin(&scene, &dora), None, "what was hidden stays hidden");
    assert_eq!(forward(&scene, &dora, said, to("carl"), "d-1"), Err(Refusal::NoSuchConversation));
}

#[test]
fn in_mode_contacts_forwards_into_rooms_hide_authors() {
    let scene = Scene::new(Mode::Contacts);
    let (ann, bob, carl) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"), scene.sign_in("carl", "c"));
    scene.befriend(&ann, &bob);
    scene.befriend(&bob, &carl);
    let said = scene.post(&ann, to("bob"), "a-1", "secret of ann").unwrap();
    scene.take(&bob);
    forward(&scene, &bob, said, to("carl"), "b-1").unwrap();
    assert_eq!(origin(&scene, &carl), None, "they are no contacts");
    let room = room(&scene, &bob);
    join(&scene, &carl, room);
    scene.take(&carl);
    forward(&scene, &bob, said, To::Conversation(room), "b-2").unwrap();
    assert_eq!(origin(&scene, &carl), None);
}

#[test]
fn some_messages_cannot_be_forwarded() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob, _carl) =
        (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"), scene.sign_in("carl", "c"));
    let (id, seq) = ask_poll(&scene, &ann, to("bob"), "a-1", &["lake", "town"]).unwrap();
    assert_eq!(forward(&scene, &ann, (id, seq), to("carl"), "a-2"), Err(Refusal::NotAllowed), "a poll");
    assert_eq!(forward(&scene, &ann, (id, Seq(9)), to("carl"), "a-3"), Err(Refusal::NoSuchMessage));
    assert_eq!(forward(&scene, &ann, (id, Seq(u64::MAX)), to("carl"), "a-3"), Err(Refusal::NoSuchMessage));
    let said = scene.post(&ann, to("bob"), "a-4", "mine").unwrap();
    scene.ask(
        &ann,
        Request::new(
            1,
            messages::Command::Change { conversation: said.0, seq: said.1, change: MessageChange::Delete },
        ),
    );
    assert_eq!(forward(&scene, &ann, said, to("carl"), "a-5"), Err(Refusal::NoSuchMessage));
    let said = scene.post(&bob, to("ann"), "b-1", "his").unwrap();
    assert_eq!(forward(&scene, &bob, said, to("nobody"), "b-2"), Err(Refusal::NoSuchUser));
    assert_eq!(forward(&scene, &bob, said, to("bob"), "b-3"), Err(Refusal::NotAllowed), "oneself");
}

#[test]
fn a_reply_in_a_thread_reaches_all_members_once() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob, carl) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"), scene.sign_in("carl", "c"));
    let room = room(&scene, &ann);
    join(&scene, &bob, room);
    join(&scene, &carl, room);
    scene.post(&ann, To::Conversation(room), "a-1", "A new lake?").unwrap();
    for device in [&bob, &carl] {
        scene.take(device);
    }
    let rich = NewRich { thread: Some(Seq(1)), ..NewRich::default() }.boxed();
    let (client_id, body) = ("b-1".into(), "Where?".into());
    let command = messages::Command::Send {
        client_id,
        to: To::Conversation(room),
        body,
        extension: None,
        reply_to: None,
        files: vec![],
        rich,
    };
    acknowledged(&scene.ask(&bob, command)).unwrap();
    for device in [&ann, &carl] {
        let [event!(messages::Message(message))] = &scene.take(device)[..] else { panic!("one event each") };
        let place = message.rich.as_ref().unwrap().thread.unwrap();
        assert_eq!((message.seq, place.root, place.number), (Seq(2), Seq(1), 1));
    }
    let threads = |who: &Device| match &scene
        .ask(who, Request::new(4, messages::Command::ListThreads { conversation: room }))[..]
    {
        [event!(Some(4), messages::Threads { threads, .. })] => {
            threads.iter().map(|one| (one.root.seq.0, one.follows, one.unread)).collect::<Vec<_>>()
        }
        other => panic!("no threads: {other:?}"),
    };
    assert_eq!(
        (threads(&ann), threads(&bob), threads(&carl)),
        (vec![(1, true, 1)], vec![(1, true, 0)], vec![])
    );
    let change = ThreadChange { read: Some(1), ..ThreadChange::default() };
    let read = scene.ask(
        &ann,
        Request::new(5, messages::Command::ChangeThread { conversation: room, root: Seq(1), change }),
    );
    assert!(
        matches!(&read[..], [event!(Some(5), messages::Thread(thread))] if thread.unread == 0),
        "{read:?}"
    );
    let page = |thread, to| {
        Request::new(6, messages::Command::History { to, before: None, after: None, thread, limit: None })
    };
    match &scene.ask(&carl, page(Some(Seq(1)), To::Conversation(room)))[..] {
        [event!(messages::History { messages, more: false, .. })] => assert_eq!(&*messages[0].body, "Where?"),
        other => panic!("no page: {other:?}"),
    }
    let direct = scene.ask(&carl, page(Some(Seq(1)), to("ann")));
    assert!(matches!(direct[..], [event!(Some(6), session::Refused(Refusal::BadValue))]), "{direct:?}");
}

#[test]
fn a_sticker_is_a_reply_in_a_thread() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let room = room(&scene, &ann);
    join(&scene, &bob, room);
    scene.post(&ann, To::Conversation(room), "a-1", "A new lake?").unwrap();
    let wave = Sticker {
        id: StickerId { site: room.site, number: 7 },
        series: "Hikers".into(),
        words: "👋 Hello".into(),
        kind: FileType::named("image/png"),
        width: 1,
        height: 1,
    };
    let new = NewSticker { sticker: wave.clone(), bytes: vec![1], added: scene.now() };
    scene.store.add_sticker(new, Box::new(|added| assert_eq!(added, Ok(true))));
    let send = |who: &Device, id: &str, to: To, thread: Option<u64>| {
        let (client_id, thread) = (id.into(), thread.map(Seq));
        let wanted = SendSticker { client_id, to, number: 7, reply_to: None, thread };
        acknowledged(&scene.ask(who, messages::Command::SendSticker(wanted)))
    };
    scene.take(&ann);
    assert_eq!(send(&bob, "b-1", To::Conversation(room), Some(1)), Ok((room, Seq(2))));
    let [event!(messages::Message(message))] = &scene.take(&ann)[..] else { panic!("one event") };
    let rich = message.rich.as_ref().unwrap();
    assert_eq!((&*message.body, rich.sticker.as_ref()), ("👋 Hello", Some(&wave)));
    assert_eq!(rich.thread.map(|place| (place.root, place.number)), Some((Seq(1), 1)));

    assert_eq!(send(&bob, "b-2", To::Conversation(room), Some(9)), Err(Refusal::NoSuchMessage));
    assert_eq!(send(&bob, "b-3", To::Conversation(room), Some(2)), Err(Refusal::NoSuchMessage));
    assert_eq!(send(&bob, "b-4", to("ann"), Some(1)), Err(Refusal::BadValue), "no threads between two");
}

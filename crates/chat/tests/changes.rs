//! Edits, deletions and reactions, as two members and their devices see them.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::*;
use scene::*;
use store::Sqlite;

struct Two {
    scene: Scene,
    ann: Device,
    ann_too: Device,
    bob: Device,
    conversation: ConversationId,
}

/// Ann has sent Bob a message, and all devices have received it.
fn two(mode: Mode, config: NodeConfig) -> Two {
    let scene = Scene::with(mode, config, Sqlite::in_memory());
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let ann_too = scene.sign_in("ann", "a2");
    if mode == Mode::Contacts {
        scene.befriend(&ann, &bob);
    }
    let (conversation, _) = scene.post(&ann, to("bob"), "m1", "helo").unwrap();
    for device in [&ann_too, &bob] {
        scene.take(device);
    }
    Two { scene, ann, ann_too, bob, conversation }
}

impl Two {
    /// The answer that the device receives.
    fn ask(&self, who: &Device, seq: u64, change: MessageChange) -> Result<Heard, Refusal> {
        let command = Request::new(
            5,
            messages::Command::Change { conversation: self.conversation, seq: Seq(seq), change },
        );
        match self.scene.ask(who, command).as_slice() {
            [event!(Some(5), Some(position), messages::Update { message, by })] => {
                Ok((message.as_ref().clone(), by.to_string(), *position))
            }
            [event!(Some(5), Some(position), messages::Counts { counts, by: Some(by) })] => {
                Ok((self.counted(who, counts), by.user.to_string(), *position))
            }
            [event!(Some(5), session::Refused(refusal))] => Err(*refusal),
            other => panic!("no answer to a change: {other:?}"),
        }
    }

    /// The message as this device's user reads it, which has the counts of the event.
    fn counted(&self, who: &Device, counts: &Counts) -> Message {
        let to = To::Conversation(counts.conversation);
        let after = Some(Seq(counts.seq.0 - 1));
        let command = Request::new(
            8,
            messages::Command::History { to, before: None, after, thread: None, limit: Some(1) },
        );
        let page = self.scene.ask(who, command);
        let [event!(messages::History { messages, .. })] = &page[..] else { panic!("no page: {page:?}") };
        let message = messages[0].as_ref().clone();
        let of_page: Vec<(Reaction, u64)> =
            message.reactions.iter().map(|one| (one.reaction.clone(), one.count)).collect();
        assert_eq!((message.version, of_page), (counts.version, counts.reactions.clone()));
        message
    }

    fn heard(&self, who: &Device) -> Option<Heard> {
        match self.scene.take(who).as_slice() {
            [] => None,
            [event!(None, Some(position), messages::Update { message, by })] => {
                Some((message.as_ref().clone(), by.to_string(), *position))
            }
            [event!(None, Some(position), messages::Counts { counts, by: Some(by) })] => {
                Some((self.counted(who, counts), by.user.to_string(), *position))
            }
            other => panic!("not one update: {other:?}"),
        }
    }
}

type Heard = (Message, String, Position);

fn edit(body: &str) -> MessageChange {
    MessageChange::edit(body)
}

fn react(on: bool) -> MessageChange {
    MessageChange::React { reaction: Reaction::parse("👍").unwrap(), on }
}

#[test]
fn an_edit_reaches_every_device_of_both_once() {
    let two = two(Mode::Open, config());
    let answer = two.ask(&two.ann, 1, edit("hello")).unwrap();
    let (message, by, position) = &answer;
    assert_eq!((&*message.body, message.edited, by.as_str()), ("hello", Some(two.scene.now()), "ann"));
    assert_eq!((message.version, &*message.client_id), (position.number, "m1"));
    for device in [&two.ann_too, &two.bob] {
        assert_eq!(two.heard(device), Some(answer.clone()));
    }
    // A repeated change gets an equal answer and is not published.
    assert_eq!(two.ask(&two.ann_too, 1, edit("hello")).unwrap().0, *message);
    for device in [&two.ann, &two.bob] {
        assert_eq!(two.heard(device), None);
    }
    assert_eq!(two.scene.node.stats().changes, 1);
}

#[test]
fn only_its_author_sees_a_reaction_as_mine() {
    let two = two(Mode::Contacts, config());
    let mine = |(message, ..): &Heard| message.reactions.iter().map(|put| put.mine).collect::<Vec<_>>();
    assert_eq!(mine(&two.ask(&two.ann, 1, react(true)).unwrap()), [true]);
    assert_eq!(mine(&two.heard(&two.ann_too).unwrap()), [true], "by is oneself");
    assert_eq!(mine(&two.heard(&two.bob).unwrap()), [false]);
    let (message, ..) = two.ask(&two.bob, 1, react(true)).unwrap();
    assert_eq!((message.reactions[0].count, message.reactions[0].mine), (2, true));
    assert_eq!(two.heard(&two.ann).unwrap().1, "bob", "who has put it there");
    two.scene.take(&two.ann_too);
    let (message, ..) = two.ask(&two.ann, 1, react(false)).unwrap();
    assert_eq!(message.reactions[0].users, [sub("bob")]);
    let row = |device: &Device| {
        let list = Request::new(
            6,
            messages::Command::ListConversations { list: ConversationList::Main, page: PageOf::default() },
        );
        match two.scene.ask(device, list).as_slice() {
            [event!(messages::Conversations { conversations, .. })] => {
                conversations[0].last.as_ref().unwrap().reactions[0].mine
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((row(&two.ann), row(&two.bob)), (false, true), "a list is made for one");
}

#[test]
fn impossible_changes_are_refused() {
    let two = two(Mode::Open, config());
    let eve = two.scene.sign_in("eve", "e");
    let long = edit(&"x".repeat(8193));
    let table = [
        (&two.bob, 1, edit("mine"), Refusal::NotAllowed),
        (&two.bob, 1, MessageChange::Delete, Refusal::NotAllowed),
        (&two.ann, 2, edit("x"), Refusal::NoSuchMessage),
        (&two.ann, 0, react(true), Refusal::NoSuchMessage),
        (&two.ann, u64::MAX, MessageChange::Delete, Refusal::NoSuchMessage),
        (&two.ann, 1, edit(""), Refusal::BadBody),
        (&two.ann, 1, edit("a\0"), Refusal::BadBody),
        (&two.ann, 1, long, Refusal::BadBody),
        (&eve, 1, react(true), Refusal::NoSuchConversation),
    ];
    for (who, seq, change, refusal) in table {
        assert_eq!(two.ask(who, seq, change.clone()), Err(refusal), "{seq} {change:?}");
    }
    two.scene.store.fail_writes(Some(StoreError::DiskFull));
    assert_eq!(two.ask(&two.ann, 1, edit("x")), Err(Refusal::Unavailable));
    two.scene.store.fail_writes(None);
    assert!(two.ask(&two.ann, 1, MessageChange::Delete).unwrap().0.deleted);
    assert_eq!(two.ask(&two.ann, 1, edit("x")), Err(Refusal::NoSuchMessage));
    assert_eq!(two.heard(&two.bob).unwrap().0.body.len(), 0);
}

#[test]
fn a_block_refuses_changes_except_removals() {
    let two = two(Mode::Open, config());
    two.ask(&two.ann, 1, react(true)).unwrap();
    two.scene.contact(&two.bob, ContactAction::Block, "ann").unwrap();
    two.scene.take(&two.bob);
    assert_eq!(two.ask(&two.ann, 1, edit("insult")), Err(Refusal::NotAllowed));
    assert_eq!(two.ask(&two.ann, 1, react(true)), Err(Refusal::NotAllowed), "nor what is so already");
    assert_eq!(two.ask(&two.bob, 1, react(true)), Err(Refusal::NotAllowed));
    assert_eq!(two.heard(&two.bob), None);
    assert!(two.ask(&two.ann, 1, react(false)).unwrap().0.reactions.is_empty());
    two.scene.take(&two.bob);
    assert!(two.ask(&two.ann, 1, MessageChange::Delete).unwrap().0.deleted);
    assert!(two.heard(&two.bob).unwrap().0.deleted);
}

#[test]
fn an_edit_counts_as_a_message_and_a_reaction_as_a_command() {
    let mut slow = config();
    slow.limits.send_burst = 3;
    slow.limits.send_per_minute = 1;
    let two = two(Mode::Open, slow);
    for body in ["one", "two"] {
        two.ask(&two.ann, 1, edit(body)).unwrap();
    }
    assert!(matches!(two.ask(&two.ann, 1, edit("three")), Err(Refusal::RateLimited { .. })));
    for on in [true, false, true, false] {
        two.ask(&two.ann, 1, react(on)).unwrap();
    }
}

#[test]
fn a_returning_device_receives_changes() {
    let two = two(Mode::Open, config());
    let position = two.bob.welcome.changes.position;
    two.scene.drop_connection(&two.bob);
    let late = two.scene.sign_in("bob", "b3").welcome.changes.position;
    two.ask(&two.ann, 1, edit("hello")).unwrap();
    two.ask(&two.ann, 1, react(true)).unwrap();

    let back = two.scene.sign_in_from("bob", "b", Some(position));
    let bodies =
        |list: &[std::sync::Arc<Message>]| list.iter().map(|it| it.body.to_string()).collect::<Vec<_>>();
    let Changes { messages, updates, gaps, .. } = &back.welcome.changes;
    assert_eq!((bodies(messages), updates.len(), gaps.len()), (vec!["hello".to_owned()], 0, 0));
    let back = two.scene.sign_in_from("bob", "b3", Some(late));
    let Changes { messages, updates, conversations, .. } = &back.welcome.changes;
    assert_eq!((messages.len(), bodies(updates)), (0, vec!["hello".to_owned()]));
    assert_eq!((updates[0].reactions[0].count, conversations.len()), (1, 1));
}

#[test]
fn in_a_room_every_device_receives_a_change_once() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, carl] = ["ann", "bob", "carl"].map(|user| scene.sign_in(user, "d"));
    let bob_too = scene.sign_in("bob", "d2");
    let create = Request::new(
        1,
        rooms::Command::Create { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None },
    );
    let room = match scene.ask(&ann, create).as_slice() {
        [event!(messages::Conversation(conversation))] => conversation.id,
        other => panic!("no room: {other:?}"),
    };
    for device in [&bob, &carl] {
        scene.command(device, Request::new(2, rooms::Command::Join { to: To::Conversation(room) }));
    }
    scene.post(&carl, To::Conversation(room), "c1", "hello").unwrap();
    let all = [&ann, &bob, &bob_too, &carl];
    all.into_iter().for_each(|device| _ = scene.take(device));

    let change = |who: &Device, change| {
        scene.ask(who, Request::new(5, messages::Command::Change { conversation: room, seq: Seq(1), change }))
    };
    let thumb = || Reaction::parse("👍").unwrap();
    let by_bob = CountedBy {
        user: sub("bob"),
        what: Counted::Reaction { reaction: thumb(), on: true, all: vec![thumb()] },
    };
    let answer = change(&bob, react(true));
    let [event!(Some(5), messages::Counts { counts, by, .. })] = &answer[..] else { panic!("one answer") };
    assert_eq!((&counts.reactions, by.as_deref()), (&vec![(thumb(), 1)], Some(&by_bob)));
    for device in [&ann, &bob_too, &carl] {
        let heard = scene.take(device);
        let [event!(None, messages::Counts { counts, by, .. })] = &heard[..] else { panic!("one each") };
        assert_eq!((&counts.reactions, by.as_deref()), (&vec![(thumb(), 1)], Some(&by_bob)));
    }
    let refused = |events: Vec<Delivery>| match events.as_slice() {
        [event!(Some(5), session::Refused(refusal))] => *refusal,
        other => panic!("not refused: {other:?}"),
    };
    assert_eq!(refused(change(&bob, MessageChange::Delete)), Refusal::NotAllowed);
    assert_eq!(refused(change(&carl, edit(""))), Refusal::BadBody);
    assert_eq!(refused(change(&scene.sign_in("eve", "e"), react(true))), Refusal::NotAMember);
    all.into_iter().for_each(|device| assert!(scene.take(device).is_empty()));
    let [event!(messages::Update { message, .. })] = &change(&ann, MessageChange::Delete)[..] else {
        panic!("one answer")
    };
    assert!(message.deleted, "the owner keeps order");
    for device in [&bob, &bob_too, &carl] {
        assert!(
            matches!(&scene.take(device)[..], [event!(messages::Update { message, .. })] if message.deleted)
        );
    }
}

fn room_of(scene: &Scene, owner: &Device, members: &[&Device]) -> ConversationId {
    let command = Request::new(
        1,
        rooms::Command::Create { name: "R".into(), kind: RoomKind::Public, topic: None, alias: None },
    );
    let id = match scene.ask(owner, command).as_slice() {
        [event!(messages::Conversation(conversation))] => conversation.id,
        other => panic!("no room: {other:?}"),
    };
    for member in members {
        scene.ask(member, Request::new(2, rooms::Command::Join { to: To::Conversation(id) }));
    }
    id
}

#[test]
fn slow_mode_counts_edits() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let id = room_of(&scene, &ann, &[&bob]);
    let change = RoomChange { slow_ms: Some(10_000), ..RoomChange::default() };
    scene.ask(&ann, Request::new(3, rooms::Command::Change { conversation: id, change: Box::new(change) }));
    let (_, seq) = scene.post(&bob, To::Conversation(id), "b-1", "helo").unwrap();
    let edit = |scene: &Scene, body: &str| {
        let change = MessageChange::edit(body);
        let answer =
            scene.ask(&bob, Request::new(4, messages::Command::Change { conversation: id, seq, change }));
        !matches!(answer[..], [event!(session::Refused(Refusal::SlowMode { .. }))])
    };
    scene.wait(5_000);
    assert!(!edit(&scene, "hello"), "as soon as another message");
    scene.wait(5_000);
    assert!(edit(&scene, "hello"));
    scene.wait(5_000);
    assert!(!edit(&scene, "hello!"), "an edit is counted as a message");
    assert!(matches!(
        scene.post(&bob, To::Conversation(id), "b-2", "too soon"),
        Err(Refusal::SlowMode { retry_after_ms: 5_000 })
    ));
    let delete =
        Request::new(5, messages::Command::Change { conversation: id, seq, change: MessageChange::Delete });
    assert!(
        matches!(scene.ask(&bob, delete)[..], [event!(messages::Update { .. })]),
        "taking back is always allowed"
    );
}

#[test]
fn outsiders_use_nothing_of_a_rooms_budget_for_edits() {
    let scene = Scene::new(Mode::Open);
    let (ann, eve) = (scene.sign_in("ann", "a"), scene.sign_in("eve", "e"));
    let id = room_of(&scene, &ann, &[]);
    let (_, seq) = scene.post(&ann, To::Conversation(id), "a-1", "helo").unwrap();
    let edit = |who: &Device, body: String| {
        let change = MessageChange::edit(body);
        scene.ask(who, Request::new(4, messages::Command::Change { conversation: id, seq, change }))
    };
    for _ in 0..100 {
        assert!(matches!(edit(&eve, "x".repeat(8_000))[..], [event!(session::Refused(Refusal::NotAMember))]));
    }
    assert!(matches!(edit(&ann, "hello".into())[..], [event!(messages::Update { .. })]));
}

#[test]
fn searches_have_a_rate_of_their_own() {
    let mut config = config();
    config.limits.requests.user_per_minute = 240;
    let scene = Scene::with(Mode::Open, config, Sqlite::in_memory());
    let ann = scene.sign_in("ann", "a");
    let page = PageOf::default;
    let search = || {
        Request::new(6, messages::Command::Search { query: "words".into(), conversation: None, page: page() })
    };
    let passed = (0..100)
        .filter(|_| matches!(scene.ask(&ann, search())[..], [event!(messages::Found { .. })]))
        .count();
    assert_eq!(passed, 30, "a quarter of a minute's");
    for command in [
        Request::new(6, account::Command::Export { page: page() }),
        Request::new(6, contacts::Command::ListPeople { query: None, page: page() }),
    ] {
        let answer = scene.ask(&ann, command);
        assert!(matches!(answer[..], [event!(session::Refused(Refusal::RateLimited { .. }))]), "{answer:?}");
    }
    let bob = scene.sign_in("bob", "b");
    assert!(
        matches!(scene.ask(&bob, search())[..], [event!(messages::Found { .. })]),
        "others have their own"
    );
}

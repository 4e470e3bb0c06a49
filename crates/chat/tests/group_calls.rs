//! Calls of rooms, as members and their devices see them: notifications, access, and the entry.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::*;
use rand::{Rng, SeedableRng, rngs::StdRng};
use scene::*;
use store::Sqlite;

/// A public room of Ann's, with the members who have joined it.
fn room(scene: &Scene, owner: &Device, others: &[&Device]) -> ConversationId {
    room_of(scene, owner, others, RoomKind::Public)
}

fn room_of(scene: &Scene, owner: &Device, others: &[&Device], kind: RoomKind) -> ConversationId {
    let create =
        Request::new(1, rooms::Command::Create { name: "Bikers".into(), kind, topic: None, alias: None });
    let [event!(messages::Conversation(conversation))] = &scene.ask(owner, create)[..] else {
        panic!("no room")
    };
    let room = conversation.id;
    for other in others {
        scene.ask(other, Request::new(2, rooms::Command::Join { to: To::Conversation(room) }));
    }
    room
}

fn say(scene: &Scene, device: &Device, room: ConversationId, action: GroupAction) -> Vec<String> {
    scene.command(device, Request::new(7, calls::Command::Group { conversation: room, action }));
    news(scene, device)
}

fn join(scene: &Scene, device: &Device, room: ConversationId) -> Vec<String> {
    say(scene, device, room, GroupAction::Join { media: Media::Audio })
}

/// The device's own place, and the places of the others.
fn places(scene: &Scene, device: &Device, room: ConversationId) -> (Place, Vec<Place>) {
    let join = GroupAction::Join { media: Media::Audio };
    let received =
        scene.ask(device, Request::new(8, calls::Command::Group { conversation: room, action: join }));
    let joined = received.iter().find_map(|event| match event {
        event!(calls::GroupCall(event)) => match &event.news {
            GroupNews::Joined { place, here, .. } => {
                assert!(event.ice.is_some());
                Some((*place, here.iter().map(|who| who.place).collect()))
            }
            _ => None,
        },
        _ => None,
    });
    joined.unwrap_or_else(|| panic!("not joined: {received:?}"))
}

fn news(scene: &Scene, device: &Device) -> Vec<String> {
    let said = |event: Delivery| match event {
        event!(re, calls::GroupCall(event)) => match (re, &event.news) {
            (Some(7), news) => format!("answer {news:?}"),
            (_, news) => format!("{news:?}"),
        },
        event!(calls::Call(event)) => format!("{:?}", event.news),
        event!(messages::Message(message)) => {
            let entry = CallEntry::of(&message).expect("nobody writes but calls");
            format!("{} {:?} {}", message.from, entry.outcome, message.body)
        }
        event!(session::Refused(refusal)) => format!("{refusal:?}"),
        event!(rooms::Left { .. }) => "out of the room".into(),
        event!(messages::Conversation(_))
        | event!(rooms::Room { .. })
        | event!(rooms::MemberCount { .. })
        | event!(rooms::Member(_))
        | event!(contacts::Contact(_)) => "other".into(),
        other => panic!("{other:?}"),
    };
    scene.take(device).into_iter().map(said).filter(|text| text != "other").collect()
}

#[test]
fn a_call_of_a_room_leaves_an_entry() {
    let mut scene = Scene::new(Mode::Open);
    let [ann, bob, cat] = ["ann", "bob", "cat"].map(|name| scene.sign_in(name, name));
    let outsider = scene.sign_in("dan", "dan");
    let room = room(&scene, &ann, &[&bob, &cat]);
    assert_eq!(say(&scene, &bob, room, GroupAction::Look), ["answer Standing: none"]);
    assert_eq!(join(&scene, &ann, room), ["answer Joined []", "Standing: ann"]);
    assert_eq!(news(&scene, &bob), ["Standing: ann"], "nothing rings");
    assert_eq!(join(&scene, &bob, room), ["answer Joined [ann]", "Standing: ann bob"]);
    assert_eq!(news(&scene, &ann), ["Came bob", "Standing: ann bob"]);
    assert_eq!(news(&scene, &cat), ["Standing: ann", "Standing: ann bob"]);
    // A device that signs in later asks for the state.
    let tablet = scene.sign_in("cat", "tablet");
    assert_eq!(say(&scene, &tablet, room, GroupAction::Look), ["answer Standing: ann bob"]);
    assert_eq!(scene.node.stats().calls, 1);
    scene.wait(73_000);
    assert_eq!(say(&scene, &ann, room, GroupAction::Leave), ["answer Left", "Standing: bob"]);
    assert_eq!(news(&scene, &bob), ["Went", "Standing: bob"]);
    let entry = "bob Ended Audio call, 1:13";
    assert_eq!(say(&scene, &bob, room, GroupAction::Leave), ["answer Left", "Standing: none", entry]);
    assert_eq!(news(&scene, &ann), ["Standing: none", entry]);
    assert_eq!(news(&scene, &tablet), ["Standing: bob", "Standing: none", entry]);
    assert!(news(&scene, &outsider).is_empty(), "it is the room's alone");
    assert_eq!((scene.node.stats().calls, scene.node.stats().messages), (0, 1));
    let history = Request::new(
        4,
        messages::Command::History {
            to: To::Conversation(room),
            before: None,
            after: None,
            thread: None,
            limit: None,
        },
    );
    let [event!(messages::History { messages, .. })] = &scene.ask(&cat, history)[..] else {
        panic!("a page")
    };
    assert_eq!(CallEntry::of(&messages[0]).map(|entry| entry.ms), Some(73_000));
}

#[test]
fn a_call_of_one_participant_leaves_no_entry() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|name| scene.sign_in(name, name));
    let room = room(&scene, &ann, &[&bob]);
    join(&scene, &ann, room);
    assert_eq!(say(&scene, &ann, room, GroupAction::Leave), ["answer Left", "Standing: none"]);
    assert_eq!(news(&scene, &bob), ["Standing: ann", "Standing: none"]);
    assert_eq!(scene.node.stats().messages, 0);
    assert_eq!(say(&scene, &ann, room, GroupAction::Leave), ["NoSuchCall"]);
}

#[test]
fn signals_reach_only_their_receiver() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, cat] = ["ann", "bob", "cat"].map(|name| scene.sign_in(name, name));
    let room = room(&scene, &ann, &[&bob, &cat]);
    let (_, none) = places(&scene, &ann, room);
    assert!(none.is_empty());
    let (_, before_bob) = places(&scene, &bob, room);
    let (cats, before_cat) = places(&scene, &cat, room);
    assert_eq!((before_bob.len(), before_cat.len()), (1, 2));
    for device in [&ann, &bob] {
        scene.take(device);
    }
    let offer = |to| GroupAction::Signal { to, signal: GroupSignal::Offer("o".into()) };
    assert_eq!(say(&scene, &cat, room, offer(before_cat[0])), ["answer Done"]);
    assert_eq!(news(&scene, &ann), ["Offer"]);
    assert!(news(&scene, &bob).is_empty());
    let answer = GroupAction::Signal { to: cats, signal: GroupSignal::Answer("a".into()) };
    assert_eq!(say(&scene, &ann, room, answer), ["answer Done"]);
    assert_eq!(news(&scene, &cat), ["Answer"]);
    // A request without a number gets no *done*.
    let action = GroupAction::Signal { to: cats, signal: GroupSignal::Candidate("c".into()) };
    assert!(scene.ask(&bob, calls::Command::Group { conversation: room, action }).is_empty());
    assert_eq!(news(&scene, &cat), ["Candidate"]);
    let long = GroupSignal::Offer("x".repeat(DESCRIPTION_BYTES + 1).into());
    assert_eq!(say(&scene, &ann, room, GroupAction::Signal { to: cats, signal: long }), ["BadValue"]);
}

#[test]
fn a_full_call_refuses_participants() {
    let scene = Scene::new(Mode::Open);
    let set = |value: &str| {
        let site = scene.store.sites().unwrap().remove(0);
        let settings = site.settings.with("calls.group", value).unwrap();
        scene.store.set_settings(site.id, &settings).unwrap();
        scene.node.refresh_sites().unwrap();
    };
    let [ann, bob, cat] = ["ann", "bob", "cat"].map(|name| scene.sign_in(name, name));
    let room = room(&scene, &ann, &[&bob, &cat]);
    set("2");
    join(&scene, &ann, room);
    join(&scene, &bob, room);
    scene.take(&cat);
    assert_eq!(join(&scene, &cat, room), ["CallFull"]);
    let look = Request::new(8, calls::Command::Group { conversation: room, action: GroupAction::Look });
    let [event!(calls::GroupCall(event))] = &scene.ask(&cat, look)[..] else { panic!("no answer") };
    let GroupNews::Standing(GroupStanding { most: 2, call: Some(call) }) = &event.news else {
        panic!("{event:?}")
    };
    assert_eq!(call.here, [sub("ann"), sub("bob")]);
    say(&scene, &bob, room, GroupAction::Leave);
    scene.take(&cat);
    assert_eq!(join(&scene, &cat, room), ["answer Joined [ann]", "Standing: ann cat"]);
    set("0");
    assert_eq!(join(&scene, &bob, room).last().map(String::as_str), Some("NotAllowed"));
}

#[test]
fn users_without_write_access_cannot_see_or_join_calls() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, cat, dan] = ["ann", "bob", "cat", "dan"].map(|name| scene.sign_in(name, name));
    let news_room = room_of(&scene, &ann, &[&bob], RoomKind::Announcement);
    assert_eq!(join(&scene, &bob, news_room), ["ReadOnly"]);
    let open = room(&scene, &ann, &[&bob, &cat]);
    join(&scene, &ann, open);
    scene.take(&bob);
    let role = MemberAction::SetRole(Role::Muted);
    scene.ask(
        &ann,
        Request::new(3, rooms::Command::ChangeMember { conversation: open, user: sub("bob"), action: role }),
    );
    scene.take(&bob);
    assert_eq!(join(&scene, &bob, open), ["Muted"]);
    assert_eq!(join(&scene, &dan, open), ["NotAMember"]);
    for who in [&bob, &dan] {
        assert_eq!(say(&scene, who, open, GroupAction::Look), ["answer Standing: none"]);
    }
    let direct = ConversationId::direct(ann.session.user, bob.session.user).expect("two");
    assert_eq!(join(&scene, &dan, direct), ["NoSuchConversation"]);
    assert_eq!(join(&scene, &dan, ConversationId::room(SiteId(0), 999)), ["NoSuchConversation"]);
    let step = GroupAction::Signal { to: Place(0), signal: GroupSignal::Offer("o".into()) };
    assert_eq!(say(&scene, &dan, open, step), ["NoSuchCall"]);
}

#[test]
fn removed_muted_and_leaving_members_leave_the_call() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, cat, dan] = ["ann", "bob", "cat", "dan"].map(|name| scene.sign_in(name, name));
    let room = room(&scene, &ann, &[&bob, &cat, &dan]);
    for device in [&ann, &bob, &cat, &dan] {
        join(&scene, device, room);
    }
    let member = |user: &str, action| {
        scene.ask(
            &ann,
            Request::new(3, rooms::Command::ChangeMember { conversation: room, user: sub(user), action }),
        );
    };
    scene.take(&bob);
    member("bob", MemberAction::Ban);
    assert_eq!(news(&scene, &bob), ["out of the room", "Left"], "and not how it stands");
    scene.take(&cat);
    member("cat", MemberAction::SetRole(Role::Muted));
    assert_eq!(news(&scene, &cat), ["Left", "Standing: ann dan"]);
    scene.take(&dan);
    scene.ask(&dan, Request::new(4, rooms::Command::Leave { conversation: room }));
    assert_eq!(say(&scene, &ann, room, GroupAction::Look).last().unwrap(), "answer Standing: ann");
    scene.take(&bob);
    join(&scene, &cat, room);
    assert!(news(&scene, &bob).is_empty());
}

#[test]
fn removed_and_banned_members_leave_the_call_at_once() {
    let mut scene = Scene::new(Mode::Open);
    let [ann, bob, cat] = ["ann", "bob", "cat"].map(|name| scene.sign_in(name, name));
    let room = room(&scene, &ann, &[&bob, &cat]);
    for device in [&ann, &bob, &cat] {
        join(&scene, device, room);
    }
    // His connection is lost and his place is kept; the removal ends it.
    scene.drop_connection(&bob);
    scene.take(&ann);
    let action = MemberAction::Remove;
    scene.command(
        &ann,
        Request::new(3, rooms::Command::ChangeMember { conversation: room, user: sub("bob"), action }),
    );
    assert_eq!(news(&scene, &ann), ["Went", "Standing: ann cat"]);
    let bob = scene.sign_in("bob", "bob");
    assert_eq!(join(&scene, &bob, room), ["NotAMember"]);
    // The place of a banned user is not kept.
    scene.store.set_banned(cat.session.user, true, Box::new(|_| ()));
    scene.node.refresh_sites().unwrap();
    assert_eq!(news(&scene, &ann), ["Went", "Standing: ann"]);
    scene.wait(AWAY_MS);
    assert_eq!(say(&scene, &ann, room, GroupAction::Look), ["answer Standing: ann"]);
}

#[test]
fn a_frozen_room_refuses_new_participants_and_keeps_the_others() {
    let mut scene = Scene::new(Mode::Open);
    let [ann, bob, cat, dan] = ["ann", "bob", "cat", "dan"].map(|name| scene.sign_in(name, name));
    let room = room(&scene, &ann, &[&bob, &cat, &dan]);
    join(&scene, &bob, room);
    let (place, _) = places(&scene, &cat, room);
    let freeze = |scene: &Scene, frozen| {
        let change = RoomChange { frozen: Some(frozen), ..RoomChange::default() };
        scene.ask(
            &ann,
            Request::new(4, rooms::Command::Change { conversation: room, change: Box::new(change) }),
        );
    };
    freeze(&scene, true);
    for device in [&bob, &cat, &dan] {
        scene.take(device);
    }
    assert_eq!(join(&scene, &dan, room), ["Frozen"]);
    let offer = GroupAction::Signal { to: place, signal: GroupSignal::Offer("o".into()) };
    assert_eq!(say(&scene, &bob, room, offer), ["answer Done"]);
    assert_eq!(news(&scene, &cat).len(), 1, "they go on");
    // A new connection is allowed while the place is kept, but not later.
    scene.drop_connection(&cat);
    scene.wait(AWAY_MS - 1_000);
    let cat = scene.sign_in("cat", "cat");
    assert_eq!(join(&scene, &cat, room), ["answer Joined [bob]"]);
    assert_eq!(join(&scene, &ann, room)[0], "answer Joined [bob cat]", "who keeps order may write, and come");
    say(&scene, &cat, room, GroupAction::Leave);
    assert_eq!(join(&scene, &cat, room), ["Frozen"]);
    freeze(&scene, false);
    assert_eq!(join(&scene, &cat, room)[0], "answer Joined [bob ann]");
}

/// Writing in a page's room joins it; the entry of a call does not.
#[test]
fn the_entry_of_a_call_does_not_join_a_pages_room() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|name| scene.sign_in(name, name));
    let page = || To::Page(PageKey::parse("/thread/42").unwrap());
    let joined = scene.ask(&ann, Request::new(2, rooms::Command::Join { to: page() }));
    let [event!(messages::Conversation(conversation))] = &joined[..] else { panic!("{joined:?}") };
    let room = conversation.id;
    scene.ask(&bob, Request::new(2, rooms::Command::Join { to: page() }));
    join(&scene, &ann, room);
    join(&scene, &bob, room);
    for device in [&bob, &ann] {
        scene.ask(device, Request::new(4, rooms::Command::Leave { conversation: room }));
    }
    assert_eq!((scene.node.stats().calls, scene.node.stats().messages), (0, 0));
    assert_eq!(join(&scene, &ann, room), ["NotAMember"]);
}

#[test]
fn a_user_is_in_at_most_one_call() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, cat] = ["ann", "bob", "cat"].map(|name| scene.sign_in(name, name));
    scene.befriend(&ann, &bob);
    scene.befriend(&cat, &bob);
    let first = room(&scene, &ann, &[&bob]);
    let second = room(&scene, &ann, &[&bob]);
    join(&scene, &bob, first);
    assert_eq!(join(&scene, &bob, second), ["InCall"]);
    let invite = |user: &str| CallAction::Invite { user: sub(user), media: Media::Audio, offer: "o".into() };
    scene.ask(&bob, Request::new(1, calls::Command::Direct { action: invite("ann") }));
    scene.command(&bob, Request::new(1, calls::Command::Direct { action: invite("ann") }));
    assert_eq!(news(&scene, &bob), ["InCall"]);
    scene.take(&cat);
    scene.command(&cat, Request::new(1, calls::Command::Direct { action: invite("bob") }));
    assert_eq!(news(&scene, &cat)[0], "Over Busy 0 ms");
    scene.take(&ann);
    scene.command(&ann, Request::new(1, calls::Command::Direct { action: invite("cat") }));
    assert_eq!(news(&scene, &ann), ["NotAllowed"], "they are no contacts");
    say(&scene, &bob, first, GroupAction::Leave);
    scene.command(&cat, Request::new(1, calls::Command::Direct { action: invite("bob") }));
    assert_eq!(join(&scene, &cat, first), ["Calling", "NotAMember"]);
    scene.take(&bob);
    assert_eq!(join(&scene, &bob, first), ["InCall"], "his phone rings");
}

#[test]
fn a_block_separates_two_participants() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, cat] = ["ann", "bob", "cat"].map(|name| scene.sign_in(name, name));
    let room = room(&scene, &ann, &[&bob, &cat]);
    scene.contact(&bob, ContactAction::Block, "cat").unwrap();
    join(&scene, &ann, room);
    join(&scene, &bob, room);
    scene.take(&bob);
    let (_, places) = places(&scene, &cat, room);
    assert_eq!(news(&scene, &bob)[0], "Came cat apart");
    let to_bob = GroupAction::Signal { to: places[1], signal: GroupSignal::Offer("o".into()) };
    assert_eq!(say(&scene, &cat, room, to_bob), ["answer Done"]);
    assert!(news(&scene, &bob).is_empty(), "he is not told where she can be reached");
    scene.take(&ann);
    scene.contact(&ann, ContactAction::Block, "cat").unwrap();
    assert_eq!(news(&scene, &cat), ["Apart"]);
}

#[test]
fn a_lost_connection_keeps_the_place_for_twenty_seconds() {
    let mut scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|name| scene.sign_in(name, name));
    let room = room(&scene, &ann, &[&bob]);
    join(&scene, &ann, room);
    join(&scene, &bob, room);
    scene.take(&ann);
    scene.drop_connection(&bob);
    assert_eq!(news(&scene, &ann), ["Away"]);
    scene.wait(10_000);
    let bob = scene.sign_in("bob", "bob");
    assert_eq!(join(&scene, &bob, room), ["answer Joined [ann]"], "nobody else hears of it");
    assert_eq!(news(&scene, &ann), ["Came bob"]);
    scene.drop_connection(&bob);
    scene.drop_connection(&ann);
    scene.wait(AWAY_MS + 1_000);
    assert_eq!(scene.node.stats().calls, 0);
    assert_eq!(scene.node.stats().messages, 1);
    // A session that ends on purpose gives up its place at once.
    let ann = scene.sign_in("ann", "ann");
    join(&scene, &ann, room);
    scene.leave(&ann);
    assert_eq!(scene.node.stats().calls, 0);
}

#[test]
fn large_rooms_have_no_calls_and_joins_are_rate_limited() {
    let calls = CallConfig { burst: 2, per_minute: 1, ..CallConfig::default() };
    let config = NodeConfig { calls, ..config() };
    let scene = Scene::with(Mode::Open, config, Sqlite::in_memory());
    let ann = scene.sign_in("ann", "ann");
    let room = room(&scene, &ann, &[]);
    for _ in 0..2 {
        join(&scene, &ann, room);
        say(&scene, &ann, room, GroupAction::Leave);
    }
    assert!(join(&scene, &ann, room)[0].starts_with("RateLimited"));
    let bob = scene.sign_in("bob", "bob");
    scene.ask(&bob, Request::new(2, rooms::Command::Join { to: To::Conversation(room) }));
    for number in 2..=MOST_MEMBERS_CALLED {
        let member = scene.sign_in(&format!("member{number}"), "d");
        scene.ask(&member, Request::new(2, rooms::Command::Join { to: To::Conversation(room) }));
        scene.leave(&member);
    }
    assert_eq!(join(&scene, &bob, room), ["RoomTooLarge"]);
}

/// Members, lost connections, moderators and time act at random. At the end no call is left, and no user is
/// busy forever.
#[test]
fn every_call_ends() {
    const NAMES: [&str; 5] = ["ann", "bob", "cat", "dan", "eve"];
    for seed in 0..20 {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut scene = Scene::new(Mode::Open);
        let first = NAMES.map(|name| scene.sign_in(name, "first"));
        let rooms = [0, 1].map(|_| room(&scene, &first[0], &[&first[1], &first[2], &first[3], &first[4]]));
        let mut devices = first.map(Some);
        for _ in 0..200 {
            let who = rng.random_range(0..NAMES.len());
            let conversation = rooms[rng.random_range(0..2)];
            let Some(device) = devices[who].clone() else {
                devices[who] = Some(scene.sign_in(NAMES[who], "first"));
                continue;
            };
            let action = match rng.random_range(0..12) {
                0..4 => GroupAction::Join { media: Media::Video },
                4 => GroupAction::Leave,
                5 => GroupAction::Look,
                6 | 7 => {
                    let to = Place(rng.random_range(0..60));
                    GroupAction::Signal { to, signal: GroupSignal::Offer("o".into()) }
                }
                8 => {
                    devices[who] = None;
                    match rng.random_bool(0.3) {
                        true => scene.leave(&device),
                        false => scene.drop_connection(&device),
                    }
                    continue;
                }
                9 if who > 0 => {
                    scene.command(&device, Request::new(1, rooms::Command::Leave { conversation }));
                    scene.command(
                        &device,
                        Request::new(2, rooms::Command::Join { to: To::Conversation(conversation) }),
                    );
                    continue;
                }
                10 => {
                    let contact =
                        if rng.random_bool(0.5) { ContactAction::Block } else { ContactAction::Unblock };
                    let user = sub(NAMES[rng.random_range(0..NAMES.len())]);
                    scene.command(
                        &device,
                        Request::new(3, contacts::Command::Change { action: contact, user }),
                    );
                    continue;
                }
                _ => {
                    scene.wait(rng.random_range(0..9_000));
                    continue;
                }
            };
            scene.command(&device, calls::Command::Group { conversation, action });
        }
        for device in devices.iter().flatten() {
            scene.leave(device);
        }
        scene.wait(AWAY_MS + 1_000);
        assert_eq!(scene.node.stats().calls, 0, "seed {seed}");
        // No user is in a call any more: each may start one.
        for name in NAMES {
            let device = scene.sign_in(name, "second");
            scene.ask(&device, Request::new(2, rooms::Command::Join { to: To::Conversation(rooms[0]) }));
            assert_eq!(join(&scene, &device, rooms[0])[0], "answer Joined []", "seed {seed}: {name}");
            say(&scene, &device, rooms[0], GroupAction::Leave);
        }
    }
}

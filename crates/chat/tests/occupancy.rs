//! Occupancy of rooms: entering, nicknames, occupants who only write, and the audience of each change.

use crate::scene;

use chat::rooms::Command;
use chat::{
    Alias, Closing, ConversationId, Delivery, LeftReason, MemberAction, Mode, Moderate, Naming, Nickname,
    NodeConfig, Occupant, OccupantChange, Refusal, Request, RequestRates, Role, RoomKind, RoomLimits,
    SetPresence, SiteRole, To, moderation, presence,
};
use scene::{Device, Scene, config, event, sub};
use store::Sqlite;

fn create(scene: &Scene, owner: &Device, kind: RoomKind) -> ConversationId {
    let command = Command::Create { name: "Bikers".into(), kind, topic: None, alias: None };
    match scene.ask(owner, Request::new(1, command)).as_slice() {
        [event!(messages::Conversation(room)), ..] => room.id,
        other => panic!("no room: {other:?}"),
    }
}

fn enter_as(
    scene: &Scene,
    device: &Device,
    room: ConversationId,
    nick: Option<&str>,
) -> Result<(Occupant, Vec<Occupant>), Refusal> {
    let nickname = nick.map(|nick| Nickname::parse(nick).unwrap());
    let command = Command::Enter { conversation: room, nickname };
    match scene.ask(device, Request::new(1, command)).as_slice() {
        [.., event!(Some(1), rooms::Entered { conversation, me, occupants })] => {
            assert_eq!(conversation.id, room);
            let mut occupants = occupants.clone();
            occupants.sort_by(|a, b| a.sub.cmp(&b.sub));
            Ok(((**me).clone(), occupants))
        }
        [event!(Some(1), session::Refused(refusal))] => Err(*refusal),
        other => panic!("no answer: {other:?}"),
    }
}

fn enter(scene: &Scene, device: &Device, room: ConversationId) -> Vec<String> {
    let (_, occupants) = enter_as(scene, device, room, None).unwrap();
    occupants.iter().map(|occupant| occupant.nick.to_string()).collect()
}

/// The changes of occupants that a device has received, as words.
fn heard(scene: &Scene, device: &Device) -> Vec<String> {
    let words = |delivery: &Delivery| match delivery {
        event!(rooms::Occupant { occupant, change, .. }) => Some(match (&**occupant, change) {
            (Occupant { nick, role, .. }, OccupantChange::Here) => format!("{nick} is here as {role:?}"),
            (Occupant { nick, .. }, OccupantChange::Renamed { from }) => format!("{from} is {nick}"),
            (Occupant { nick, .. }, OccupantChange::Gone(reason)) => format!("{nick} is gone, {reason:?}"),
            (Occupant { nick, .. }, OccupantChange::Closed(closing)) => {
                format!("{nick} is out: {:?}", closing.reason)
            }
        }),
        _ => None,
    };
    scene.take(device).iter().filter_map(words).collect()
}

fn change(scene: &Scene, by: &Device, room: ConversationId, user: &str, action: MemberAction) {
    let command = Command::ChangeMember { conversation: room, user: sub(user), action };
    scene.ask(by, Request::new(2, command));
}

#[test]
fn the_end_of_a_room_is_the_end_of_each_visit() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, bob_too, eve] = [("ann", "a"), ("bob", "b"), ("bob", "b2"), ("eve", "e")]
        .map(|(user, device)| scene.sign_in(user, device));
    let room = create(&scene, &ann, RoomKind::Public);
    for device in [&ann, &bob, &bob_too] {
        enter(&scene, device, room);
    }
    for device in [&ann, &bob, &bob_too] {
        heard(&scene, device);
    }
    let close = |by: &Device, reason: &str| {
        let closing = Closing { reason: Some(reason.into()), successor: None };
        scene.ask(by, Request::new(9, Command::Close { conversation: room, closing: Box::new(closing) }))
    };
    assert!(matches!(close(&eve, "Mine")[..], [event!(Some(9), session::Refused(Refusal::NotAMember))]));
    assert!(matches!(close(&bob, "Mine")[..], [event!(Some(9), session::Refused(Refusal::NotAllowed))]));
    let long = "x".repeat(1_001);
    assert!(matches!(close(&ann, &long)[..], [event!(Some(9), session::Refused(Refusal::BadValue))]));
    let answer = close(&ann, "Moved");
    let is_left =
        |event: &Delivery| matches!(event, event!(Some(9), rooms::Left { reason: LeftReason::Closed, .. }));
    assert!(answer.iter().any(is_left), "{answer:?}");
    assert_eq!(heard(&scene, &bob), ["The bob is out: Some(\"Moved\")"], "no others, only the own end");
    assert_eq!(heard(&scene, &bob_too), ["The bob is out: Some(\"Moved\")"]);
    assert_eq!(enter_as(&scene, &bob, room, None), Err(Refusal::NoSuchConversation));
}

#[test]
fn those_in_a_room_see_who_comes_and_goes() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, bob_too, eve] = [("ann", "a"), ("bob", "b"), ("bob", "b2"), ("eve", "e")]
        .map(|(user, device)| scene.sign_in(user, device));
    let room = create(&scene, &ann, RoomKind::Public);
    assert_eq!(enter(&scene, &ann, room), [""; 0]);
    assert_eq!(enter(&scene, &bob, room), ["The ann"]);
    assert_eq!(heard(&scene, &ann), ["The bob is here as Member"]);
    assert_eq!(enter(&scene, &bob_too, room), ["The ann"]);
    assert_eq!(enter(&scene, &bob, room), ["The ann"], "again");
    assert_eq!(heard(&scene, &ann), [""; 0], "one user is one occupant");
    assert_eq!(heard(&scene, &eve), [""; 0], "eve is not in the room");

    scene.ask(&bob, Command::Exit { conversation: room });
    assert_eq!(heard(&scene, &ann), [""; 0]);
    scene.leave(&bob_too);
    assert_eq!(heard(&scene, &ann), ["The bob is gone, None"]);
    enter(&scene, &bob, room);
    scene.take(&ann);
    scene.ask(&bob, Request::new(2, Command::Leave { conversation: room }));
    assert_eq!(heard(&scene, &ann), ["The bob is gone, Some(Left)"]);
}

#[test]
fn acts_on_a_member_reach_those_in_the_room() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, user));
    let room = create(&scene, &ann, RoomKind::Public);
    enter(&scene, &ann, room);
    enter(&scene, &bob, room);
    heard(&scene, &bob);
    for (action, words) in [
        (MemberAction::SetRole(Role::Muted), "The bob is here as Muted"),
        (MemberAction::SetRole(Role::Member), "The bob is here as Member"),
        (MemberAction::Ban, "The bob is gone, Some(Banned)"),
    ] {
        change(&scene, &ann, room, "bob", action);
        assert_eq!(heard(&scene, &bob), [words]);
    }
    assert_eq!(enter_as(&scene, &bob, room, None), Err(Refusal::RoomBanned));
    change(&scene, &ann, room, "bob", MemberAction::Unban);
    enter(&scene, &bob, room);
    change(&scene, &ann, room, "bob", MemberAction::Remove);
    assert_eq!(heard(&scene, &bob), ["The bob is gone, Some(Removed)"]);
    scene.post(&ann, To::Conversation(room), "m1", "after").unwrap();
    assert!(scene.bodies(&bob).is_empty());
}

#[test]
fn a_private_room_is_not_revealed() {
    let scene = Scene::new(Mode::Open);
    let [ann, eve] = ["ann", "eve"].map(|user| scene.sign_in(user, user));
    let room = create(&scene, &ann, RoomKind::Private);
    enter_as(&scene, &ann, room, Some("Boss")).unwrap();
    let missing = ConversationId::room(room.site, 99);
    for id in [room, missing] {
        assert_eq!(enter_as(&scene, &eve, id, None), Err(Refusal::NoSuchConversation));
        assert_eq!(
            enter_as(&scene, &eve, id, Some("Boss")),
            Err(Refusal::NoSuchConversation),
            "a taken name"
        );
        for (command, refusal) in [
            (Command::Show { conversation: id }, Refusal::NoSuchConversation),
            (
                Command::ListNames { conversation: id, users: vec![sub("ann")], naming: Naming::Shown },
                Refusal::NoSuchConversation,
            ),
            (Command::ListOccupants { conversation: id }, Refusal::NotAMember),
        ] {
            let answer = scene.ask(&eve, Request::new(1, command));
            assert!(
                matches!(&answer[..], [event!(session::Refused(found))] if *found == refusal),
                "{answer:?}"
            );
        }
    }
}

#[test]
fn a_nickname_belongs_to_one_member() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|user| scene.sign_in(user, user));
    let room = create(&scene, &ann, RoomKind::Public);
    assert_eq!(&*enter_as(&scene, &ann, room, Some("Boss")).unwrap().0.nick, "Boss");
    assert_eq!(enter_as(&scene, &bob, room, Some("BOSS")), Err(Refusal::UserExists));
    enter_as(&scene, &bob, room, None).unwrap();
    assert_eq!(enter_as(&scene, &eve, room, Some("the bob")), Err(Refusal::UserExists), "a display name");
    heard(&scene, &ann);
    enter_as(&scene, &bob, room, Some("Bobby")).unwrap();
    assert_eq!(heard(&scene, &ann), ["The bob is Bobby"]);
    // It is stored, and ends with the membership.
    scene.leave(&bob);
    let bob = scene.sign_in("bob", "b2");
    assert_eq!(&*enter_as(&scene, &bob, room, None).unwrap().0.nick, "Bobby");
    scene.ask(&bob, Request::new(2, Command::Leave { conversation: room }));
    assert_eq!(&*enter_as(&scene, &eve, room, Some("Bobby")).unwrap().0.nick, "Bobby");
    assert_eq!(&*enter_as(&scene, &bob, room, None).unwrap().0.nick, "The bob");
    let names = Command::ListNames {
        conversation: room,
        users: vec![sub("eve"), sub("bob"), sub("nobody")],
        naming: Naming::Shown,
    };
    match scene.ask(&ann, Request::new(1, names)).as_slice() {
        [event!(rooms::Names { names, .. })] => {
            assert_eq!(names[..], [(sub("eve"), "Bobby".into()), (sub("bob"), "The bob".into())]);
        }
        other => panic!("{other:?}"),
    }
}

fn set_nickname(
    scene: &Scene,
    device: &Device,
    room: ConversationId,
    nick: Option<&str>,
) -> Result<Option<String>, Refusal> {
    let nickname = nick.map(|nick| Nickname::parse(nick).unwrap());
    let command = Command::SetNickname { conversation: room, nickname };
    match scene.ask(device, Request::new(1, command)).as_slice() {
        [.., event!(Some(1), rooms::Names { names, .. })] => {
            Ok(names.first().map(|(_, nick)| nick.to_string()))
        }
        [event!(Some(1), session::Refused(refusal))] => Err(*refusal),
        other => panic!("no answer: {other:?}"),
    }
}

#[test]
fn a_session_that_is_not_in_the_room_changes_the_nickname() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|user| scene.sign_in(user, user));
    let room = create(&scene, &ann, RoomKind::Public);
    assert_eq!(set_nickname(&scene, &bob, room, Some("Bobby")), Err(Refusal::NotAMember));
    enter(&scene, &ann, room);
    enter(&scene, &bob, room);
    let widget = scene.sign_in("bob", "widget");
    heard(&scene, &ann);
    heard(&scene, &bob);
    assert_eq!(set_nickname(&scene, &widget, room, Some(" Bobby ")), Ok(Some("Bobby".into())));
    let news = scene.take(&ann);
    let numbers = news.iter().filter_map(|delivery| match delivery {
        event!(rooms::Room { room, .. }) => Some(room.nicknames),
        _ => None,
    });
    assert_eq!(numbers.filter(|number| *number > 0).count(), 1, "members learn that a name has changed");
    assert_eq!(heard(&scene, &bob), ["The bob is Bobby"], "the own app too");
    assert_eq!(set_nickname(&scene, &widget, room, Some("The ann")), Err(Refusal::UserExists));
    assert_eq!(set_nickname(&scene, &widget, room, None), Ok(None));
    assert_eq!(heard(&scene, &bob), ["Bobby is The bob"]);
    assert!(scene.take(&eve).is_empty(), "strangers learn nothing");
    let names = |device, naming| {
        let command = Command::ListNames { conversation: room, users: vec![sub("ann"), sub("bob")], naming };
        match scene.ask(device, Request::new(1, command)).remove(0) {
            event!(rooms::Names { names, .. }) => names.len(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!([names(&ann, Naming::Chosen), names(&ann, Naming::Shown)], [0, 2]);
}

#[test]
fn a_member_who_is_muted_in_the_room_keeps_the_nickname() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, user));
    let room = create(&scene, &ann, RoomKind::Public);
    enter(&scene, &bob, room);
    let mute = Command::ChangeMember {
        conversation: room,
        user: sub("bob"),
        action: MemberAction::SetRole(Role::Muted),
    };
    scene.ask(&ann, Request::new(3, mute));
    scene.take(&bob);
    assert_eq!(set_nickname(&scene, &bob, room, Some("Buy now")), Err(Refusal::Muted));
    assert_eq!(set_nickname(&scene, &bob, room, None), Ok(None));
}

#[test]
fn equal_display_names_are_told_apart() {
    let scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    let room = create(&scene, &ann, RoomKind::Public);
    let twin = |user: &str| {
        let claims = chat::token::Claims {
            sub: user.into(),
            name: Some("Twin".into()),
            exp: (scene.now / 1000 + 3600) as f64,
            ..chat::token::Claims::default()
        };
        scene.welcomed(scene.hello(Some(&scene.signed(&claims)), user, None))
    };
    let (one, two) = (twin("one"), twin("two"));
    assert_eq!(&*enter_as(&scene, &one, room, None).unwrap().0.nick, "Twin");
    assert_eq!(&*enter_as(&scene, &two, room, None).unwrap().0.nick, "Twin (two)");
    scene.leave(&one);
    assert_eq!(&*enter_as(&scene, &two, room, None).unwrap().0.nick, "Twin");
}

#[test]
fn a_member_who_writes_is_seen_for_a_while() {
    let mut scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, user));
    let room = create(&scene, &ann, RoomKind::Public);
    enter(&scene, &ann, room);
    scene.ask(&bob, Request::new(1, Command::Join { to: To::Conversation(room) }));
    assert_eq!(heard(&scene, &ann), [""; 0], "a membership is no presence");
    scene.post(&bob, To::Conversation(room), "m1", "hi").unwrap();
    let events = scene.take(&ann);
    assert!(
        matches!(&events[..], [event!(rooms::Occupant { .. }), event!(messages::Message(_))]),
        "the author is known before the message: {events:?}"
    );
    scene.wait(chat::rooms::WROTE_MS - 60_000);
    scene.post(&bob, To::Conversation(room), "m2", "still").unwrap();
    scene.wait(120_000);
    assert_eq!(heard(&scene, &ann), [""; 0]);
    scene.wait(chat::rooms::WROTE_MS);
    assert_eq!(heard(&scene, &ann), ["The bob is gone, None"]);
}

#[test]
fn who_hides_is_not_shown() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, user));
    let room = create(&scene, &ann, RoomKind::Public);
    enter(&scene, &ann, room);
    scene.ask(&bob, presence::Command::Set(SetPresence::Invisible));
    enter(&scene, &bob, room);
    assert_eq!(heard(&scene, &ann), [""; 0]);
    let eve = scene.sign_in("eve", "e");
    assert_eq!(enter(&scene, &eve, room), ["The ann"]);
    heard(&scene, &ann);
    scene.send(&bob, To::Conversation(room), "m1", "hi");
    assert_eq!(heard(&scene, &ann), ["The bob is here as Member"], "the message reveals as much");
}

#[test]
fn entries_are_limited() {
    let mut limits = chat::Limits::without_rates();
    limits.requests = RequestRates { user_per_minute: 40, ..RequestRates::UNLIMITED };
    let scene = Scene::with(Mode::Open, NodeConfig { limits, ..config() }, Sqlite::in_memory());
    let [ann, eve] = ["ann", "eve"].map(|user| scene.sign_in(user, user));
    let room = create(&scene, &ann, RoomKind::Public);
    enter(&scene, &ann, room);
    let mut entries = 0;
    while enter_as(&scene, &eve, room, None).is_ok() {
        scene.ask(&eve, Command::Exit { conversation: room });
        entries += 1;
        assert!(entries < 100);
    }
    assert!(matches!(enter_as(&scene, &eve, room, None), Err(Refusal::RateLimited { .. })));
    assert_eq!(heard(&scene, &ann).len(), 2 * entries);
    enter(&scene, &ann, room);
}

#[test]
fn tries_for_a_name_are_limited_as_entries_are() {
    let mut limits = chat::Limits::without_rates();
    limits.requests = RequestRates { user_per_minute: 40, ..RequestRates::UNLIMITED };
    let scene = Scene::with(Mode::Open, NodeConfig { limits, ..config() }, Sqlite::in_memory());
    let [ann, eve] = ["ann", "eve"].map(|user| scene.sign_in(user, user));
    let make = |by: &Device| {
        let (name, kind, alias) = ("secret".to_owned(), RoomKind::Private, Alias::parse("secret"));
        let made = scene.ask(by, Request::new(1, Command::Create { name, kind, topic: None, alias }));
        match made.first() {
            Some(event!(messages::Conversation(_))) => Ok(()),
            Some(event!(Some(1), session::Refused(refusal))) => Err(*refusal),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(make(&ann), Ok(()));
    let tries = (0..100).take_while(|_| make(&eve) == Err(Refusal::UserExists)).count();
    assert!((1..41).contains(&tries), "{tries}");
    assert!(matches!(make(&eve), Err(Refusal::RateLimited { .. })));
}

#[test]
fn a_session_is_in_a_bounded_number_of_rooms() {
    let mut limits = chat::Limits::without_rates();
    limits.rooms = RoomLimits { members: 0, per_user: 0, owned: 0 };
    let scene = Scene::with(Mode::Open, NodeConfig { limits, ..config() }, Sqlite::in_memory());
    let ann = scene.sign_in("ann", "a");
    let rooms: Vec<ConversationId> =
        (0..=chat::MOST_ENTERED).map(|_| create(&scene, &ann, RoomKind::Public)).collect();
    for room in &rooms[1..] {
        enter(&scene, &ann, *room);
    }
    assert_eq!(enter_as(&scene, &ann, rooms[0], None), Err(Refusal::TooManyRooms));
    scene.ask(&ann, Command::Exit { conversation: rooms[1] });
    enter(&scene, &ann, rooms[0]);
}

#[test]
fn a_crowd_is_shown_in_part() {
    let scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    let room = create(&scene, &ann, RoomKind::Public);
    enter(&scene, &ann, room);
    for number in 0..chat::rooms::MOST_SHOWN + 5 {
        let user = format!("u{number}");
        enter(&scene, &scene.sign_in(&user, &user), room);
    }
    assert_eq!(heard(&scene, &ann).len(), chat::rooms::MOST_SHOWN - 1);
    let late = scene.sign_in("late", "l");
    assert_eq!(enter(&scene, &late, room).len(), chat::rooms::MOST_SHOWN);
    scene.post(&late, To::Conversation(room), "m1", "hi").unwrap();
    assert_eq!(scene.bodies(&ann), ["hi"]);
}

#[test]
fn muted_members_of_the_site_choose_no_nickname() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, user));
    let room = create(&scene, &ann, RoomKind::Public);
    let claims = chat::token::Claims {
        sub: "mia".into(),
        name: Some("Mia".into()),
        exp: (scene.now / 1000 + 3600) as f64,
        role: Some("moderator".into()),
        ..chat::token::Claims::default()
    };
    let mia = scene.welcomed(scene.hello(Some(&scene.signed(&claims)), "mia", None));
    let act = chat::Moderate::Sanction {
        user: sub("bob"),
        room: None,
        kind: chat::SanctionKind::Mute,
        until: chat::Timestamp(scene.now + 60_000),
        reason: "Spam".into(),
    };
    scene.ask(&mia, Request::new(9, chat::moderation::Command::Act(act)));
    assert_eq!(enter_as(&scene, &bob, room, Some("Buy now")), Err(Refusal::Muted));
    assert_eq!(&*enter_as(&scene, &bob, room, None).unwrap().0.nick, "The bob");
}

#[test]
fn an_occupant_who_becomes_a_moderator_of_the_site_is_shown_as_one() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, user));
    let room = create(&scene, &ann, RoomKind::Public);
    enter(&scene, &ann, room);
    let (me, _) = enter_as(&scene, &bob, room, None).unwrap();
    assert_eq!((me.site_role, me.is_guest), (SiteRole::Member, false));
    let (guest, _) = enter_as(&scene, &scene.sign_in_guest("g"), room, None).unwrap();
    assert!(guest.is_guest);
    scene.take(&ann);
    let claims = chat::token::Claims {
        sub: "ada".into(),
        role: Some("admin".into()),
        exp: (scene.now / 1000 + 3600) as f64,
        ..chat::token::Claims::default()
    };
    let ada = scene.welcomed(scene.hello(Some(&scene.signed(&claims)), "a", None));
    let promote = Moderate::SetRole { user: sub("bob"), role: SiteRole::Moderator };
    scene.ask(&ada, Request::new(1, moderation::Command::Act(promote)));
    let events = scene.take(&ann);
    let [event!(rooms::Occupant { occupant, change: OccupantChange::Here, .. })] = &events[..] else {
        panic!("one change: {events:?}")
    };
    assert_eq!((&*occupant.nick, occupant.site_role), ("The bob", SiteRole::Moderator));
}

/// The process dies after the first slice. The next one ends the memberships that are left.
#[test]
fn a_closing_that_a_crash_has_interrupted_goes_on() {
    let mut scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    let room = create(&scene, &ann, RoomKind::Public);
    let join = |device: &Device| {
        scene.ask(device, Request::new(1, Command::Join { to: To::Conversation(room) }));
    };
    for number in 0..chat::rooms::MOST_CLOSED_AT_ONCE {
        let member = scene.sign_in(&format!("member-{number}"), "m");
        join(&member);
        scene.leave(&member);
    }
    // Names decide, so she is one of those who are left.
    join(&scene.sign_in("zoe", "z"));
    chat::RoomStore::close_room(&*scene.store, room, ann.session.user, None, scene.now(), Box::new(|_| ()));
    scene.restart();

    let [ann, zoe] = ["ann", "zoe"].map(|user| scene.sign_in(user, user));
    let enter = Command::Enter { conversation: room, nickname: None };
    scene.wait(500);
    for member in [&ann, &zoe] {
        let events = scene.take(member);
        let closed = |event: &&Delivery| matches!(event, event!(rooms::Left { reason: LeftReason::Closed, conversation }) if *conversation == room);
        assert_eq!(events.iter().filter(closed).count(), 1, "{events:?}");
        assert!(matches!(
            scene.ask(member, Request::new(2, enter.clone())).as_slice(),
            [event!(Some(2), session::Refused(Refusal::NoSuchConversation))]
        ));
    }
}

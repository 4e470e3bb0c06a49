//! Adding others to rooms: users who become members at once, users who are invited, and the effect of
//! declining.

use crate::scene;

use chat::*;
use scene::{Device, Scene, event, sub, to};

/// A scene with the settings of a new site, but without limits for new members.
fn scene_with(change: impl FnOnce(&mut Settings)) -> Scene {
    let scene = Scene::new(Mode::Open);
    let site = scene.store.sites().expect("the store is here").remove(0);
    let mut settings = Settings::of_new_site();
    settings.trust.on = false;
    change(&mut settings);
    scene.store.set_settings(site.id, &settings).expect("the settings are sound");
    scene.node.refresh_sites().expect("the store is here");
    scene
}

fn scene() -> Scene {
    scene_with(|_| ())
}

fn room_named(scene: &Scene, owner: &Device, name: &str) -> ConversationId {
    let (name, topic) = (name.to_owned(), Some("come to www.casino.example".to_owned()));
    let command =
        Request::new(1, rooms::Command::Create { name, kind: RoomKind::Private, topic, alias: None });
    match scene.ask(owner, command).as_slice() {
        [event!(messages::Conversation(conversation))] => conversation.id,
        other => panic!("no room but {other:?}"),
    }
}

fn room(scene: &Scene, owner: &Device) -> ConversationId {
    room_named(scene, owner, "Bikers")
}

/// The added member in the answer: whether they are a member, and whether they were invited.
fn add(scene: &Scene, by: &Device, room: ConversationId, user: &str) -> Result<(bool, bool), Refusal> {
    let action = MemberAction::Invite;
    let command =
        Request::new(2, rooms::Command::ChangeMember { conversation: room, user: sub(user), action });
    match scene.ask(by, command).as_slice() {
        [event!(rooms::Member(member))] => Ok((member.standing.role().is_some(), member.requested)),
        [event!(session::Refused(refusal))] => Err(*refusal),
        other => panic!("no answer but {other:?}"),
    }
}

const ADDED: Result<(bool, bool), Refusal> = Ok((true, false));
const ASKED: Result<(bool, bool), Refusal> = Ok((false, true));

/// The rooms with an invitation of the user, as a new device sees them: name, and author.
fn requests(scene: &Scene, user: &str) -> Vec<(String, String)> {
    let device = scene.sign_in(user, "fresh");
    let rows = &device.welcome.changes.conversations;
    let asked = rows.iter().filter_map(|row| {
        let With::Room(room, _) = &row.with else { return None };
        assert_eq!(row.request.is_some(), row.requested_by.is_some());
        Some((room.name.to_string(), row.requested_by.as_ref()?.sub.to_string()))
    });
    asked.collect()
}

fn answer(scene: &Scene, who: &Device, room: ConversationId, answer: RequestAnswer) -> Vec<Delivery> {
    scene.ask(who, Request::new(3, Command::answer_request(room, answer)))
}

fn leave(scene: &Scene, who: &Device, room: ConversationId) {
    scene.ask(who, Request::new(5, rooms::Command::Leave { conversation: room }));
}

fn may_write(scene: &Scene, who: &Device, write: Audience) {
    let change = Box::new(ProfileChange { write: Some(write), ..ProfileChange::default() });
    let events = scene.ask(who, Request::new(6, account::Command::ChangeProfile { change }));
    assert!(matches!(events.as_slice(), [event!(account::Profile(_))]), "{events:?}");
}

#[test]
fn invitations_of_strangers_wait_for_the_user() {
    let scene = scene();
    let (mallory, bob) = (scene.sign_in("mallory", "m"), scene.sign_in("bob", "b"));
    let id = room(&scene, &mallory);
    scene.take(&bob);
    assert_eq!(add(&scene, &mallory, id, "bob"), ASKED);
    match scene.take(&bob).as_slice() {
        [event!(None, messages::Conversation(conversation))] => {
            assert_eq!(
                (conversation.request, conversation.last.is_none()),
                (Some(MessageRequest::Received), true)
            );
            let With::Room(room, _) = &conversation.with else { panic!("no room") };
            assert_eq!((&*room.name, room.topic.as_deref()), ("Bikers", None), "the topic is the stranger's");
        }
        other => panic!("not asked: {other:?}"),
    }
    assert_eq!(requests(&scene, "bob"), [("Bikers".to_owned(), "mallory".to_owned())]);
    scene.ask(&mallory, say(id, "1"));
    assert_eq!(scene.take(&bob).len(), 0, "whoever is asked hears nothing from the room");
    let read = Request::new(
        7,
        messages::Command::History {
            to: To::Conversation(id),
            before: None,
            after: None,
            thread: None,
            limit: None,
        },
    );
    assert!(matches!(scene.ask(&bob, read)[..], [event!(session::Refused(Refusal::NoSuchConversation))]));

    let joined = answer(&scene, &bob, id, RequestAnswer::Accept);
    assert!(
        matches!(&joined[..], [event!(messages::Conversation(conversation))] if conversation.request.is_none())
    );
    scene.ask(&mallory, say(id, "2"));
    assert!(matches!(scene.take(&bob)[..], [event!(messages::Message(_))]));
}

fn say(room: ConversationId, client_id: &str) -> messages::Command {
    messages::Command::Send {
        client_id: client_id.into(),
        to: To::Conversation(room),
        body: "hi".into(),
        extension: None,
        reply_to: None,
        files: Vec::new(),
        rich: None,
    }
}

#[test]
fn contacts_and_moderators_add_at_once_unless_excluded() {
    let scene = scene();
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let id = room(&scene, &ann);
    may_write(&scene, &bob, Audience::Nobody);
    assert_eq!(add(&scene, &ann, id, "bob"), Err(Refusal::NotAllowed));
    may_write(&scene, &bob, Audience::Contacts);
    assert_eq!(add(&scene, &ann, id, "bob"), Err(Refusal::NotAllowed));
    scene.befriend(&ann, &bob);
    assert_eq!(add(&scene, &ann, id, "bob"), ADDED);
    scene.contact(&bob, ContactAction::Block, "ann").unwrap();
    let other = room(&scene, &ann);
    assert_eq!(add(&scene, &ann, other, "bob"), Err(Refusal::NotAllowed), "blocked");
}

#[test]
fn no_user_is_added_again_after_leaving_or_declining() {
    let scene = scene();
    let [ann, bob, carl] = ["ann", "bob", "carl"].map(|name| scene.sign_in(name, name));
    scene.befriend(&ann, &bob);
    scene.befriend(&carl, &bob);
    let id = room(&scene, &ann);
    assert_eq!(add(&scene, &ann, id, "carl"), ASKED);
    answer(&scene, &carl, id, RequestAnswer::Accept);
    scene.ask(
        &ann,
        Request::new(
            2,
            rooms::Command::ChangeMember {
                conversation: id,
                user: sub("carl"),
                action: MemberAction::SetRole(Role::Moderator),
            },
        ),
    );
    assert_eq!(add(&scene, &ann, id, "bob"), ADDED);
    leave(&scene, &bob, id);
    scene.take(&bob);
    assert_eq!(add(&scene, &ann, id, "bob"), ASKED, "ann is told nothing else");
    assert_eq!((scene.take(&bob).len(), requests(&scene, "bob")), (0, vec![]), "but bob is not asked");
    assert_eq!(add(&scene, &carl, id, "bob"), ASKED, "another contact asks, too: bob has left");
    let bob = scene.sign_in("bob", "b2");
    let declined = answer(&scene, &bob, id, RequestAnswer::Dismiss);
    assert!(
        matches!(declined[..], [event!(Some(3), rooms::Left { reason: LeftReason::Left, .. })]),
        "{declined:?}"
    );
    assert_eq!(add(&scene, &carl, id, "bob"), ASKED);
    assert_eq!(requests(&scene, "bob"), [], "neither of the two asks again");
    assert!(matches!(
        answer(&scene, &bob, id, RequestAnswer::Accept)[..],
        [event!(session::Refused(Refusal::NoSuchConversation))]
    ));
}

#[test]
fn invitations_count_against_the_daily_requests() {
    let scene = scene_with(|settings| settings.requests.per_day = 3);
    let mallory = scene.sign_in("mallory", "m");
    let id = room(&scene, &mallory);
    for number in 0..6 {
        let name = format!("user{number}");
        scene.sign_in(&name, "d");
        let expected = if number < 3 { ASKED } else { Err(Refusal::TooManyRequests) };
        assert_eq!(add(&scene, &mallory, id, &name), expected, "{name}");
    }
    let first = messages::Command::Send {
        client_id: "x".into(),
        to: to("user5"),
        body: "hi".into(),
        extension: None,
        reply_to: None,
        files: Vec::new(),
        rich: None,
    };
    assert!(matches!(
        scene.ask(&mallory, first)[..],
        [event!(session::SendRefused { refusal: Refusal::TooManyRequests, .. })]
    ));
}

#[test]
fn invitations_have_a_daily_limit_without_message_requests() {
    let scene = scene_with(|settings| (settings.requests.on, settings.requests.per_day) = (false, 2));
    let mallory = scene.sign_in("mallory", "m");
    let id = room(&scene, &mallory);
    let outcomes = ["u1", "u2", "u3"].map(|name| {
        scene.sign_in(name, "d");
        add(&scene, &mallory, id, name)
    });
    assert_eq!(outcomes, [ADDED, ADDED, Err(Refusal::TooManyRequests)]);
}

#[test]
fn a_rooms_name_follows_the_rule_for_first_words() {
    let scene = scene();
    let (mallory, _bob) = (scene.sign_in("mallory", "m"), scene.sign_in("bob", "b"));
    let id = room_named(&scene, &mallory, "win at casino.com");
    assert_eq!(add(&scene, &mallory, id, "bob"), Err(Refusal::FirstContact));
    let id = room(&scene, &mallory);
    assert_eq!(add(&scene, &mallory, id, "bob"), ASKED);
    let change = RoomChange { name: Some("win at casino.com".into()), ..RoomChange::default() };
    scene.ask(
        &mallory,
        Request::new(8, rooms::Command::Change { conversation: id, change: Box::new(change) }),
    );
    assert_eq!(requests(&scene, "bob"), [("…".to_owned(), "mallory".to_owned())]);
}

#[test]
fn a_block_a_withdrawal_and_a_ban_end_pending_invitations() {
    let scene = scene();
    let [mallory, bob] = ["mallory", "bob"].map(|name| scene.sign_in(name, name));
    let (first, second) = (room(&scene, &mallory), room(&scene, &mallory));
    assert_eq!((add(&scene, &mallory, first, "bob"), add(&scene, &mallory, second, "bob")), (ASKED, ASKED));
    scene.take(&bob);
    let remove = Request::new(
        2,
        rooms::Command::ChangeMember { conversation: first, user: sub("bob"), action: MemberAction::Remove },
    );
    scene.ask(&mallory, remove);
    assert!(
        matches!(scene.take(&bob)[..], [event!(rooms::Left { conversation, .. })] if conversation == first)
    );
    assert_eq!(add(&scene, &mallory, first, "bob"), ASKED, "nobody has declined it");
    scene.take(&bob);
    scene.contact(&bob, ContactAction::Block, "mallory").unwrap();
    assert_eq!(requests(&scene, "bob"), []);
    scene.contact(&bob, ContactAction::Unblock, "mallory").unwrap();
    assert_eq!(add(&scene, &mallory, first, "bob"), ASKED);
    assert_eq!(requests(&scene, "bob"), [], "a block is a declined request");

    let third = room(&scene, &mallory);
    assert_eq!(add(&scene, &mallory, third, "bob"), ASKED);
    scene.store.set_banned(mallory.session.user, true, Box::new(|_| ()));
    assert_eq!(requests(&scene, "bob"), []);
}

#[test]
fn a_returning_device_receives_invitations_and_their_end() {
    let scene = scene();
    let [mallory, bob] = ["mallory", "bob"].map(|name| scene.sign_in(name, name));
    let id = room(&scene, &mallory);
    scene.ask(&mallory, say(id, "1"));
    let before = bob.welcome.changes.position;
    add(&scene, &mallory, id, "bob").unwrap();
    let back = scene.sign_in_from("bob", "b2", Some(before)).welcome.changes;
    assert_eq!((back.reset, back.conversations.len(), back.messages.len()), (false, 1, 0));
    answer(&scene, &bob, id, RequestAnswer::Dismiss);
    let later = scene.sign_in_from("bob", "b2", Some(back.position)).welcome.changes;
    assert_eq!((later.conversations.len(), later.left), (0, vec![(id, LeftReason::Left)]));
}

#[test]
fn muted_members_of_the_site_cannot_invite() {
    let scene = scene();
    let (mallory, _bob) = (scene.sign_in("mallory", "m"), scene.sign_in("bob", "b"));
    let id = room(&scene, &mallory);
    let claims = token::Claims {
        sub: "mia".into(),
        name: Some("Mia".into()),
        exp: (scene.now / 1000 + 3600) as f64,
        role: Some("moderator".into()),
        ..token::Claims::default()
    };
    let token = scene.signed(&claims);
    let mia = scene.welcomed(scene.hello(Some(&token), "mia", None));
    let (until, reason) = (Timestamp(scene.now + 60_000), "Spam".to_owned());
    let act =
        Moderate::Sanction { user: sub("mallory"), room: None, kind: SanctionKind::Mute, until, reason };
    scene.ask(&mia, Request::new(9, moderation::Command::Act(act)));
    assert_eq!(add(&scene, &mallory, id, "bob"), Err(Refusal::Muted));
}

//! Invite links of rooms: creation, use, and end.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::token::Claims;
use chat::*;
use scene::*;
use store::Sqlite;

const HOUR_MS: u64 = 3_600_000;

fn room(scene: &Scene, owner: &Device, kind: RoomKind) -> ConversationId {
    let topic = Some("Two wheels".to_owned());
    let command = Request::new(1, rooms::Command::Create { name: "Bikers".into(), kind, topic, alias: None });
    match scene.ask(owner, command).as_slice() {
        [event!(messages::Conversation(conversation))] => conversation.id,
        other => panic!("no room: {other:?}"),
    }
}

fn make_with(
    scene: &Scene,
    who: &Device,
    room: ConversationId,
    hours: Option<u32>,
    uses: Option<u32>,
) -> Result<RoomLink, Refusal> {
    match scene
        .ask(who, Request::new(2, rooms::Command::MakeLink { conversation: room, hours, uses }))
        .as_slice()
    {
        [event!(Some(2), rooms::Link { conversation, link })] if *conversation == room => {
            Ok((**link).clone())
        }
        [event!(Some(2), session::Refused(refusal))] => Err(*refusal),
        other => panic!("no link: {other:?}"),
    }
}

fn make(scene: &Scene, who: &Device, room: ConversationId) -> Result<RoomLink, Refusal> {
    make_with(scene, who, room, None, None)
}

fn listed(events: &[Delivery]) -> Result<Vec<LinkCode>, Refusal> {
    match events {
        [event!(Some(3), rooms::Links { links, .. })] => Ok(links.iter().map(|link| link.code).collect()),
        [event!(Some(3), session::Refused(refusal))] => Err(*refusal),
        other => panic!("no links: {other:?}"),
    }
}

fn links(scene: &Scene, who: &Device, room: ConversationId) -> Result<Vec<LinkCode>, Refusal> {
    listed(&scene.ask(who, Request::new(3, rooms::Command::ListLinks { conversation: room })))
}

fn take_back(
    scene: &Scene,
    who: &Device,
    room: ConversationId,
    code: LinkCode,
) -> Result<Vec<LinkCode>, Refusal> {
    listed(&scene.ask(who, Request::new(3, rooms::Command::RevokeLink { conversation: room, code })))
}

fn open(scene: &Scene, who: &Device, code: LinkCode) -> Result<Invitation, Refusal> {
    match scene.ask(who, Request::new(4, rooms::Command::OpenLink { code })).as_slice() {
        [event!(Some(4), rooms::Invitation(invitation))] => Ok((**invitation).clone()),
        [event!(Some(4), session::Refused(refusal))] => Err(*refusal),
        other => panic!("no invitation: {other:?}"),
    }
}

fn joined(events: &[Delivery]) -> Result<Role, Refusal> {
    match events {
        [event!(Some(5), messages::Conversation(conversation))] => match &conversation.with {
            With::Room(_, role) => Ok(*role),
            With::Person(_) => panic!("no room"),
        },
        [event!(Some(5), session::Refused(refusal))] => Err(*refusal),
        other => panic!("no room: {other:?}"),
    }
}

fn join(scene: &Scene, who: &Device, code: LinkCode) -> Result<Role, Refusal> {
    joined(&scene.ask(who, Request::new(5, rooms::Command::JoinByLink { code })))
}

fn member(scene: &Scene, by: &Device, room: ConversationId, user: &str, action: MemberAction) {
    let command =
        Request::new(6, rooms::Command::ChangeMember { conversation: room, user: sub(user), action });
    let events = scene.ask(by, command);
    assert!(matches!(events.as_slice(), [event!(Some(6), rooms::Member(_))]), "{events:?}");
}

fn change(scene: &Scene, by: &Device, room: ConversationId, change: RoomChange) {
    let events = scene
        .ask(by, Request::new(6, rooms::Command::Change { conversation: room, change: Box::new(change) }));
    assert!(matches!(events.as_slice(), [event!(Some(6), messages::Conversation(_))]), "{events:?}");
}

fn settings(scene: &Scene, change: impl FnOnce(&mut Settings)) {
    let site = scene.store.sites().unwrap().remove(0);
    let mut now = site.settings;
    change(&mut now);
    scene.store.set_settings(site.id, &now).unwrap();
    scene.node.refresh_sites().unwrap();
}

#[test]
fn the_code_shows_the_room_and_allows_joining() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let phone = scene.sign_in("bob", "p");
    let id = room(&scene, &ann, RoomKind::Private);
    let link = make_with(&scene, &ann, id, Some(24), Some(2)).unwrap();
    assert_eq!((link.by, link.until.0, link.uses, link.used), (sub("ann"), START + 24 * HOUR_MS, Some(2), 0));

    let outside = open(&scene, &bob, link.code).unwrap();
    assert_eq!(outside.conversation, None, "who is not in it does not learn its id");
    assert_eq!(
        (&*outside.room.name, outside.room.kind, outside.room.members),
        ("Bikers", RoomKind::Private, 1)
    );
    assert_eq!((outside.room.topic.as_deref(), &*outside.by.name), (Some("Two wheels"), "The ann"));
    assert_eq!((outside.by.presence, outside.until.0), (None, START + 24 * HOUR_MS));
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

    scene.take(&phone);
    assert_eq!(join(&scene, &bob, link.code), Ok(Role::Member));
    assert!(matches!(scene.take(&phone)[..], [event!(None, messages::Conversation(_))]));
    assert!(scene.take(&ann).is_empty(), "nobody is told who joins");
    assert_eq!(open(&scene, &bob, link.code).unwrap().conversation, Some(id));
    assert_eq!(join(&scene, &bob, link.code), Ok(Role::Member), "who is in already is answered as then");
    assert_eq!(join(&scene, &ann, link.code), Ok(Role::Owner));
    match scene.ask(&ann, Request::new(3, rooms::Command::ListLinks { conversation: id })).as_slice() {
        [event!(rooms::Links { links, .. })] => assert_eq!(links[0].used, 1, "and uses nothing up"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_invalid_codes_get_the_same_refusal() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let id = room(&scene, &ann, RoomKind::Private);
    let bad = |scene: &Scene, code| {
        assert_eq!(open(scene, &bob, code).err(), Some(Refusal::BadInvitation));
        assert_eq!(join(scene, &bob, code), Err(Refusal::BadInvitation));
    };
    bad(&scene, LinkCode::of([1; 16]));

    let back = make(&scene, &ann, id).unwrap();
    assert_eq!(take_back(&scene, &ann, id, back.code), Ok(vec![]));
    assert_eq!(take_back(&scene, &ann, id, back.code), Ok(vec![]), "it is gone already");
    bad(&scene, back.code);

    let once = make_with(&scene, &ann, id, None, Some(1)).unwrap();
    let carl = scene.sign_in("carl", "c");
    assert_eq!(join(&scene, &carl, once.code), Ok(Role::Member));
    bad(&scene, once.code);
    assert_eq!(join(&scene, &carl, once.code), Ok(Role::Member), "who took the last place may ask again");
    assert_eq!(links(&scene, &ann, id), Ok(vec![]), "it stands no more");

    let hour = make_with(&scene, &ann, id, Some(1), None).unwrap();
    scene.now = START + HOUR_MS - 1;
    assert!(open(&scene, &bob, hour.code).is_ok());
    scene.now += 1;
    bad(&scene, hour.code);
    assert_eq!(open(&scene, &carl, hour.code).err(), Some(Refusal::BadInvitation), "for members, too");
}

#[test]
fn only_one_of_two_users_gets_the_last_place() {
    for order in 0..24 {
        let scene = Scene::with(Mode::Open, config(), Sqlite::by_turns());
        let enter = |user: &str| {
            let handle = scene.hello(Some(&scene.token(user)), "d", None);
            scene.store.run();
            scene.welcomed(handle)
        };
        let (ann, bob, carl) = (enter("ann"), enter("bob"), enter("carl"));
        let ask = |who: &Device, command| {
            scene.command(who, command);
            scene.store.run();
            scene.take(who)
        };
        let created = Request::new(
            1,
            rooms::Command::Create { name: "Crew".into(), kind: RoomKind::Private, topic: None, alias: None },
        );
        let [event!(messages::Conversation(conversation))] = &ask(&ann, created)[..] else {
            panic!("no room")
        };
        let wanted = Request::new(
            2,
            rooms::Command::MakeLink { conversation: conversation.id, hours: None, uses: Some(1) },
        );
        let [event!(rooms::Link { link, .. })] = &ask(&ann, wanted)[..] else { panic!("no link") };
        scene.command(&bob, Request::new(5, rooms::Command::JoinByLink { code: link.code }));
        scene.command(&carl, Request::new(5, rooms::Command::JoinByLink { code: link.code }));
        let mut chosen = order;
        while scene.store.turns() > 0 {
            let turns = scene.store.turns();
            scene.store.turn(chosen % turns);
            chosen /= turns.min(2);
        }
        let mut outcomes = [joined(&scene.take(&bob)), joined(&scene.take(&carl))];
        outcomes.sort_by_key(Result::is_err);
        assert_eq!(outcomes, [Ok(Role::Member), Err(Refusal::BadInvitation)], "order {order}");
    }
}

#[test]
fn links_refuse_what_joining_refuses() {
    let mut config = config();
    config.limits.rooms = RoomLimits { members: 3, per_user: 2, owned: 0 };
    let scene = Scene::with(Mode::Open, config, Sqlite::in_memory());
    let (ann, bob, carl) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"), scene.sign_in("carl", "c"));
    let id = room(&scene, &ann, RoomKind::Private);
    let link = make(&scene, &ann, id).unwrap();
    member(&scene, &ann, id, "bob", MemberAction::Ban);
    assert_eq!(open(&scene, &bob, link.code).err(), Some(Refusal::RoomBanned));
    assert_eq!(join(&scene, &bob, link.code), Err(Refusal::RoomBanned));
    member(&scene, &ann, id, "bob", MemberAction::Unban);
    assert_eq!(join(&scene, &bob, link.code), Ok(Role::Member));
    let (one, two) = (room(&scene, &carl, RoomKind::Public), room(&scene, &carl, RoomKind::Public));
    assert_eq!(join(&scene, &carl, link.code), Err(Refusal::TooManyRooms));
    assert!(matches!(
        scene.ask(&carl, Request::new(8, rooms::Command::Leave { conversation: one }))[..],
        [event!(rooms::Left { .. })]
    ));
    assert_eq!(join(&scene, &carl, link.code), Ok(Role::Member));
    let guest = scene.sign_in_guest("g");
    assert_eq!(join(&scene, &guest, link.code), Err(Refusal::RoomFull));
    let other = make(&scene, &carl, two).unwrap();
    assert_eq!(join(&scene, &guest, other.code), Ok(Role::Member), "guests come as they do by `join`");
    match scene.ask(&ann, Request::new(3, rooms::Command::ListLinks { conversation: id })).as_slice() {
        [event!(rooms::Links { links, .. })] => {
            assert_eq!(links[0].used, 2, "who was refused is not counted")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn moderators_list_all_links_and_members_their_own() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, carl, dora] = ["ann", "bob", "carl", "dora"].map(|name| scene.sign_in(name, "d"));
    let id = room(&scene, &ann, RoomKind::Public);
    let first = make(&scene, &ann, id).unwrap().code;
    assert_eq!(join(&scene, &bob, first), Ok(Role::Member));
    assert_eq!(join(&scene, &carl, first), Ok(Role::Member));
    let [second, third] = [&bob, &carl].map(|who| make(&scene, who, id).unwrap().code);
    assert_eq!(links(&scene, &ann, id), Ok(vec![third, second, first]), "newest first");
    assert_eq!(links(&scene, &bob, id), Ok(vec![second]));
    assert_eq!(take_back(&scene, &bob, id, third), Ok(vec![second]));
    assert!(open(&scene, &dora, third).is_ok(), "it is not his");
    assert_eq!(take_back(&scene, &ann, id, third), Ok(vec![second, first]));
    assert_eq!(open(&scene, &dora, third).err(), Some(Refusal::BadInvitation));
    for refused in [make(&scene, &dora, id).map(drop), links(&scene, &dora, id).map(drop)] {
        assert_eq!(refused, Err(Refusal::NotAMember));
    }
    assert_eq!(take_back(&scene, &dora, id, second), Err(Refusal::NotAMember));

    let claims = Claims {
        sub: "mia".into(),
        role: Some("moderator".into()),
        exp: (scene.now / 1000 + 3600) as f64,
        ..Claims::default()
    };
    let handle = scene.hello(Some(&scene.signed(&claims)), "d", None);
    let mia = scene.welcomed(handle);
    assert_eq!(links(&scene, &mia, id), Ok(vec![second, first]), "the site's moderators keep order there");
    assert_eq!(take_back(&scene, &mia, id, second), Ok(vec![first]));
    assert_eq!(make(&scene, &mia, id).err(), Some(Refusal::NotAMember));
    let hidden = room(&scene, &ann, RoomKind::Private);
    assert_eq!(links(&scene, &mia, hidden), Err(Refusal::NoSuchConversation));
    assert_eq!(make(&scene, &bob, hidden).err(), Some(Refusal::NoSuchConversation));
}

#[test]
fn links_are_removed_when_their_author_loses_the_right() {
    use MemberAction::{Ban, Invite, Remove, SetRole, Unban};
    let scene = Scene::new(Mode::Open);
    let (ann, bob, dora) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"), scene.sign_in("dora", "d"));
    let stands = |link: &RoomLink| open(&scene, &dora, link.code).is_ok();
    let id = room(&scene, &ann, RoomKind::Public);
    let own = make(&scene, &ann, id).unwrap();
    member(&scene, &ann, id, "bob", Invite);
    for ends in [vec![Remove], vec![Ban, Unban], vec![SetRole(Role::Muted)]] {
        let link = make(&scene, &bob, id).unwrap();
        assert!(stands(&link));
        ends.iter().for_each(|action| member(&scene, &ann, id, "bob", *action));
        assert!(!stands(&link), "{ends:?}");
        let back = if ends == [SetRole(Role::Muted)] { SetRole(Role::Member) } else { Invite };
        member(&scene, &ann, id, "bob", back);
        assert!(!stands(&link), "nothing brings it back");
    }
    let link = make(&scene, &bob, id).unwrap();
    scene.ask(&bob, Request::new(8, rooms::Command::Leave { conversation: id }));
    assert!(!stands(&link), "who has left invites nobody");
    scene.ask(&bob, Request::new(8, rooms::Command::Join { to: To::Conversation(id) }));

    let plain = make(&scene, &bob, id).unwrap();
    change(&scene, &ann, id, RoomChange { topic: Some("Three".into()), ..RoomChange::default() });
    assert!(stands(&plain));
    change(&scene, &ann, id, RoomChange { kind: Some(RoomKind::Private), ..RoomChange::default() });
    assert!(!stands(&plain), "members do not invite into a private room");
    change(&scene, &ann, id, RoomChange { kind: Some(RoomKind::Public), ..RoomChange::default() });
    assert!(!stands(&plain));
    change(&scene, &ann, id, RoomChange { kind: Some(RoomKind::Private), ..RoomChange::default() });
    member(&scene, &ann, id, "bob", SetRole(Role::Moderator));
    let moderated = make(&scene, &bob, id).unwrap();
    member(&scene, &ann, id, "bob", SetRole(Role::Owner));
    assert!(stands(&moderated));
    member(&scene, &ann, id, "bob", SetRole(Role::Member));
    assert!(!stands(&moderated), "a plain member now, where those may not");
    assert!(stands(&own));

    member(&scene, &ann, id, "bob", SetRole(Role::Moderator));
    let banned = make(&scene, &bob, id).unwrap();
    scene.store.set_banned(bob.session.user, true, Box::new(|_| ()));
    assert!(!stands(&banned));
    scene.store.set_banned(bob.session.user, false, Box::new(|_| ()));
    assert!(!stands(&banned));
    settings(&scene, |now| now.members.remove = true);
    let gone = make(&scene, &bob, id).unwrap();
    assert!(stands(&gone));
    scene.ask(&bob, Request::new(9, account::Command::Erase { messages: MessagesAfterErasure::Kept }));
    assert!(!stands(&gone));
    assert!(stands(&own));
}

#[test]
fn a_site_may_restrict_links_to_moderators() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob, dora) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"), scene.sign_in("dora", "d"));
    let id = room(&scene, &ann, RoomKind::Public);
    member(&scene, &ann, id, "bob", MemberAction::Invite);
    let [own, plain] = [&ann, &bob].map(|who| make(&scene, who, id).unwrap().code);
    settings(&scene, |now| now.invitations.moderators_only = true);
    assert_eq!(make(&scene, &bob, id).err(), Some(Refusal::NotAllowed));
    assert_eq!(open(&scene, &dora, plain).err(), Some(Refusal::BadInvitation), "those of before end");
    assert!(open(&scene, &dora, own).is_ok() && make(&scene, &ann, id).is_ok());
    settings(&scene, |now| now.invitations.moderators_only = false);
    assert!(make(&scene, &bob, id).is_ok());
    assert_eq!(open(&scene, &dora, plain).err(), Some(Refusal::BadInvitation));
}

#[test]
fn links_are_bounded_in_number_time_and_uses() {
    let mut scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    let id = room(&scene, &ann, RoomKind::Public);
    for (hours, uses) in [(Some(0), None), (Some(8_761), None), (None, Some(0)), (None, Some(10_001))] {
        assert_eq!(make_with(&scene, &ann, id, hours, uses).err(), Some(Refusal::BadValue));
    }
    let nowhere = ConversationId::room(id.site, 99);
    assert_eq!(make(&scene, &ann, nowhere).err(), Some(Refusal::NoSuchConversation));
    let direct = ConversationId { site: id.site, key: 1 << 32 | 2 };
    assert_eq!(make(&scene, &ann, direct).err(), Some(Refusal::NoSuchConversation));
    let page = To::Page(PageKey::parse("/thread/42").unwrap());
    let [event!(messages::Conversation(conversation))] =
        &scene.ask(&ann, Request::new(5, rooms::Command::Join { to: page }))[..]
    else {
        panic!("no room")
    };
    assert_eq!(make(&scene, &ann, conversation.id).err(), Some(Refusal::BadValue), "it is found by its page");
    assert_eq!(links(&scene, &ann, conversation.id), Ok(vec![]));

    for _ in 0..MOST_LINKS {
        make_with(&scene, &ann, id, Some(1), None).unwrap();
    }
    assert_eq!(make(&scene, &ann, id).err(), Some(Refusal::TooManyInvitations));
    let all = links(&scene, &ann, id).unwrap();
    assert_eq!(all.len(), MOST_LINKS as usize);
    take_back(&scene, &ann, id, all[7]).unwrap();
    let last = make(&scene, &ann, id).unwrap().code;
    assert_eq!(make(&scene, &ann, id).err(), Some(Refusal::TooManyInvitations));
    scene.now += HOUR_MS;
    assert_eq!(links(&scene, &ann, id), Ok(vec![last]), "the others have ended");
    assert!(make(&scene, &ann, id).is_ok());
}

//! Mutes and bans by a room's owner: their end, their reason, and the events for others.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::*;
use scene::*;

const MINUTE_MS: u64 = 60_000;

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

fn join(scene: &Scene, room: ConversationId, device: &Device) -> Result<Role, Refusal> {
    match scene.ask(device, Request::new(2, rooms::Command::Join { to: To::Conversation(room) })).as_slice() {
        [event!(messages::Conversation(conversation))] => match conversation.with {
            With::Room(_, role) => Ok(role),
            With::Person(_) => panic!("no room"),
        },
        [event!(session::Refused(refusal))] => Err(*refusal),
        other => panic!("no answer: {other:?}"),
    }
}

fn sanction(room: ConversationId, user: &str, kind: RoomSanctionKind, until: u64, reason: &str) -> Request {
    let sanction = RoomSanction { kind, until: Timestamp(until), reason: reason.into(), shows_reason: true };
    Request::new(3, rooms::Command::SanctionMember { conversation: room, user: sub(user), sanction })
}

fn refusal(events: &[Delivery]) -> Option<Refusal> {
    match events {
        [event!(session::Refused(refusal))] => Some(*refusal),
        _ => None,
    }
}

fn notices(events: &[Delivery]) -> Vec<(NoticeKind, Option<ConversationId>, Option<u64>, String)> {
    let notice = |event: &Delivery| match event {
        event!(moderation::Notice(notice)) => {
            let until = notice.until.map(|until| until.0);
            Some((notice.kind, notice.room, until, notice.reason.to_string()))
        }
        _ => None,
    };
    events.iter().filter_map(notice).collect()
}

/// Notices after the welcome of a new session.
fn told_at_sign_in(
    scene: &Scene,
    user: &str,
) -> Vec<(NoticeKind, Option<ConversationId>, Option<u64>, String)> {
    let handle = scene.hello(Some(&scene.token(user)), "later", None);
    notices(&scene.inbox.take(handle))
}

fn writes(scene: &Scene, device: &Device, room: ConversationId, id: &str) -> Result<(), Refusal> {
    scene.post(device, To::Conversation(room), id, "hello").map(drop)
}

#[test]
fn a_muted_member_gets_the_reason_and_writes_again_after_the_end() {
    let mut scene = Scene::new(Mode::Open);
    let [ann, bob, carl] = ["ann", "bob", "carl"].map(|name| scene.sign_in(name, name));
    let room = room(&scene, &ann);
    assert!(join(&scene, room, &bob).is_ok() && join(&scene, room, &carl).is_ok());
    scene.take(&carl);
    let end = scene.now + 10 * MINUTE_MS;
    let answer = scene.ask(&ann, sanction(room, "bob", RoomSanctionKind::Mute, end, "Too loud"));
    assert!(matches!(
        answer.as_slice(),
        [event!(Some(3), rooms::Member(member))] if member.standing == Standing::In(Role::Muted)
    ));
    let mute = (NoticeKind::Mute, Some(room), Some(end), "Too loud".to_owned());
    assert_eq!(notices(&scene.take(&bob)), std::slice::from_ref(&mute));
    assert!(scene.take(&carl).is_empty(), "other members learn nothing");
    assert_eq!(writes(&scene, &bob, room, "1"), Err(Refusal::Muted));
    assert_eq!(told_at_sign_in(&scene, "bob"), [mute], "a later session, too");

    scene.wait(10 * MINUTE_MS);
    let told = scene.take(&bob);
    assert_eq!(notices(&told), [(NoticeKind::Unmute, Some(room), None, String::new())]);
    assert!(told.iter().any(|event| matches!(event, event!(messages::Conversation(conversation))
        if matches!(conversation.with, With::Room(_, Role::Member)))));
    assert_eq!(writes(&scene, &bob, room, "2"), Ok(()));
    assert_eq!(told_at_sign_in(&scene, "bob"), []);
}

#[test]
fn a_banned_member_may_return_after_the_end() {
    let mut scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|name| scene.sign_in(name, name));
    let room = room(&scene, &ann);
    assert!(join(&scene, room, &bob).is_ok());
    let end = scene.now + MINUTE_MS;
    scene.take(&bob);
    scene.ask(&ann, sanction(room, "bob", RoomSanctionKind::Ban, end, "Spam"));
    let told = scene.take(&bob);
    assert!(told.iter().any(|event| matches!(event, event!(rooms::Left { reason: LeftReason::Banned, .. }))));
    assert_eq!(notices(&told), [(NoticeKind::Ban, Some(room), Some(end), "Spam".to_owned())]);
    assert_eq!(join(&scene, room, &bob), Err(Refusal::RoomBanned));
    scene.wait(MINUTE_MS);
    scene.take(&bob);
    assert_eq!(join(&scene, room, &bob), Ok(Role::Member));
}

/// A reason must not become a message to a user who was never in the room, or who has blocked its author.
#[test]
fn a_reason_reaches_only_former_members_without_a_block() {
    let scene = Scene::new(Mode::Open);
    let [mallory, bob, carl] = ["mallory", "bob", "carl"].map(|name| scene.sign_in(name, name));
    let room = room(&scene, &mallory);
    let end = scene.now + MINUTE_MS;
    let answer = scene.ask(&mallory, sanction(room, "bob", RoomSanctionKind::Ban, end, "Buy my things"));
    assert!(matches!(answer.as_slice(), [event!(rooms::Member(_))]));
    assert!(scene.take(&bob).is_empty());
    assert_eq!(told_at_sign_in(&scene, "bob"), []);
    assert!(matches!(
        scene.ask(&bob, Request::new(4, moderation::Command::Notices { seen: false })).as_slice(),
        [event!(moderation::Notices(notices))] if notices.is_empty()
    ));

    assert!(join(&scene, room, &carl).is_ok());
    scene.contact(&carl, ContactAction::Block, "mallory").unwrap();
    scene.take(&carl);
    scene.ask(&mallory, sanction(room, "carl", RoomSanctionKind::Mute, end, "Read this"));
    let told = notices(&scene.take(&carl));
    assert!(told.iter().all(|(.., reason)| reason.is_empty()), "{told:?}");
}

#[test]
fn a_reason_is_filtered_and_an_end_must_be_in_the_future() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|name| scene.sign_in(name, name));
    let room = room(&scene, &ann);
    assert!(join(&scene, room, &bob).is_ok());
    let site = scene.store.sites().unwrap().remove(0);
    let settings = site.settings.with("filters.words", r#"["casino"]"#).unwrap();
    scene.store.set_settings(site.id, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
    let end = scene.now + MINUTE_MS;
    let mute = |until, reason: &str| {
        refusal(&scene.ask(&ann, sanction(room, "bob", RoomSanctionKind::Mute, until, reason)))
    };
    assert_eq!(mute(end, "my casino"), Some(Refusal::Filtered));
    assert_eq!(mute(end, &"x".repeat(1_001)), Some(Refusal::BadValue));
    assert_eq!(mute(scene.now, "late"), Some(Refusal::BadValue));
    assert_eq!(mute(u64::MAX, "for ever and a day"), Some(Refusal::BadValue));
    assert_eq!(mute(Timestamp::MAX.0, "no end"), None);
    let by_bob = scene.ask(&bob, sanction(room, "ann", RoomSanctionKind::Mute, end, ""));
    assert_eq!(refusal(&by_bob), Some(Refusal::NotAllowed));
}

#[test]
fn a_room_owner_sets_a_lower_limit_than_the_site() {
    let mut config = config();
    config.limits.rooms = RoomLimits { members: 100, per_user: 0, owned: 0 };
    let scene = Scene::with(Mode::Open, config, store::Sqlite::in_memory());
    let [ann, bob, carl, dora] = ["ann", "bob", "carl", "dora"].map(|name| scene.sign_in(name, name));
    let room = room(&scene, &ann);
    let limit = |device: &Device, most| {
        let change = RoomChange { max_members: Some(most), ..RoomChange::default() };
        refusal(&scene.ask(
            device,
            Request::new(5, rooms::Command::Change { conversation: room, change: Box::new(change) }),
        ))
    };
    assert_eq!(limit(&ann, 101), Some(Refusal::BadValue), "the site's limit is the highest");
    assert_eq!(limit(&ann, 2), None);
    assert!(join(&scene, room, &bob).is_ok());
    assert_eq!(limit(&bob, 0), Some(Refusal::NotAllowed));
    assert_eq!(join(&scene, room, &carl), Err(Refusal::RoomFull));
    assert_eq!(limit(&ann, 3), None);
    assert!(join(&scene, room, &carl).is_ok());
    assert_eq!(limit(&ann, 1), None);
    assert_eq!(writes(&scene, &carl, room, "1"), Ok(()), "members stay");

    let site = scene.store.sites().unwrap().remove(0);
    let settings = site.settings.with("rooms.members", "3").unwrap();
    scene.store.set_settings(site.id, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
    assert_eq!(limit(&ann, 4), Some(Refusal::BadValue));
    assert_eq!(limit(&ann, 0), None);
    assert_eq!(join(&scene, room, &dora), Err(Refusal::RoomFull), "the site's own limit");
}

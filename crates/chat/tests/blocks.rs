//! Blocks: their effect on rooms of both users.

use crate::scene;

use chat::*;
use scene::{Device, Scene, event, sub};

fn room(scene: &Scene, owner: &Device, name: &str) -> ConversationId {
    let kind = RoomKind::Private;
    let command =
        Request::new(1, rooms::Command::Create { name: name.into(), kind, topic: None, alias: None });
    match scene.ask(owner, command).as_slice() {
        [event!(messages::Conversation(conversation))] => conversation.id,
        other => panic!("no room but {other:?}"),
    }
}

fn add(scene: &Scene, by: &Device, room: ConversationId, user: &str) -> Result<bool, Refusal> {
    let command = Request::new(
        2,
        rooms::Command::ChangeMember { conversation: room, user: sub(user), action: MemberAction::Invite },
    );
    match scene.ask(by, command).as_slice() {
        [event!(rooms::Member(member))] => Ok(member.standing.role().is_some()),
        [event!(session::Refused(refusal))] => Err(*refusal),
        other => panic!("no answer but {other:?}"),
    }
}

fn rooms(device: &Device) -> Vec<String> {
    let rows = device.welcome.changes.conversations.iter();
    let named = rows.filter_map(|row| match &row.with {
        With::Room(room, _) if row.request.is_none() => Some(room.name.to_string()),
        _ => None,
    });
    named.collect()
}

#[test]
fn a_block_leaves_private_rooms_of_the_blocked_user_silently() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let phone = scene.sign_in("ann", "phone");
    let (trap, own) = (room(&scene, &bob, "Trap"), room(&scene, &ann, "Own"));
    assert_eq!((add(&scene, &bob, trap, "ann"), add(&scene, &ann, own, "bob")), (Ok(true), Ok(true)));
    for device in [&ann, &phone, &bob] {
        scene.take(device);
    }
    let received = scene.contact(&ann, ContactAction::Block, "bob");
    assert!(received.is_ok(), "{received:?}");
    let left = |events: &[Delivery]| {
        let is_left = |event: &&Delivery| matches!(event, event!(rooms::Left { conversation, reason: LeftReason::Left, .. }) if *conversation == trap);
        events.iter().filter(is_left).count()
    };
    assert_eq!(left(&scene.take(&phone)), 1);
    assert_eq!(scene.take(&bob).len(), 0, "nobody is told of a block");
    assert_eq!(rooms(&scene.sign_in("ann", "fresh")), ["Own"]);
    assert_eq!(add(&scene, &bob, trap, "ann"), Err(Refusal::NotAllowed));
    // After the block has ended, he still needs an invitation.
    scene.contact(&ann, ContactAction::Unblock, "bob").expect("she may");
    assert_eq!(add(&scene, &bob, trap, "ann"), Ok(false));
    assert_eq!(rooms(&scene.sign_in("ann", "fresh")), ["Own"]);
}

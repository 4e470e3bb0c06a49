//! Members of a small room see who has received and read a message, as far as each of them allows it.

use crate::scene;

use chat::*;
use scene::*;

fn create(scene: &Scene, owner: &Device) -> ConversationId {
    let command = Request::new(
        1,
        rooms::Command::Create { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None },
    );
    match scene.ask(owner, command).as_slice() {
        [event!(messages::Conversation(conversation))] => conversation.id,
        other => panic!("no room: {other:?}"),
    }
}

fn join(scene: &Scene, device: &Device, room: ConversationId) {
    scene.ask(device, Request::new(2, rooms::Command::Join { to: To::Conversation(room) }));
}

/// The received and read markers of each member, as the asker sees them.
fn seen_by(scene: &Scene, asker: &Device, room: ConversationId) -> Vec<(String, Option<(u64, u64)>)> {
    let command = Request::new(
        3,
        rooms::Command::ListMembers {
            conversation: room,
            list: MemberList::Members,
            query: None,
            page: PageOf::default(),
        },
    );
    match scene.ask(asker, command).as_slice() {
        [event!(rooms::Members { members, .. })] => {
            let mut all: Vec<_> = members
                .iter()
                .map(|one| {
                    (one.person.sub.to_string(), one.markers.map(|(received, read)| (received.0, read.0)))
                })
                .collect();
            all.sort();
            all
        }
        other => panic!("no members: {other:?}"),
    }
}

/// Ann's room with Bob, who has read two of three messages, and Cat, who has received one.
fn room_of_three() -> (Scene, [Device; 3], ConversationId) {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, cat] = ["ann", "bob", "cat"].map(|name| scene.sign_in(name, name));
    let room = create(&scene, &ann);
    join(&scene, &bob, room);
    join(&scene, &cat, room);
    for id in ["1", "2", "3"] {
        scene.post(&ann, To::Conversation(room), id, "x").expect("she owns the room");
    }
    scene.command(&bob, messages::Command::Mark { conversation: room, set: MarkerSet::Read(Seq(2)) });
    scene.command(&cat, messages::Command::Mark { conversation: room, set: MarkerSet::Received(Seq(1)) });
    (scene, [ann, bob, cat], room)
}

fn seen(name: &str, markers: Option<(u64, u64)>) -> (String, Option<(u64, u64)>) {
    (name.to_owned(), markers)
}

#[test]
fn members_see_the_markers_of_the_others() {
    let (scene, [ann, bob, _], room) = room_of_three();
    let all = [seen("ann", Some((3, 3))), seen("bob", Some((2, 2))), seen("cat", Some((1, 0)))];
    assert_eq!(seen_by(&scene, &ann, room), all);
    assert_eq!(seen_by(&scene, &bob, room), all);
    let dan = scene.sign_in("dan", "d");
    let command = Request::new(
        3,
        rooms::Command::ListMembers {
            conversation: room,
            list: MemberList::Members,
            query: None,
            page: PageOf::default(),
        },
    );
    assert!(matches!(scene.ask(&dan, command)[..], [event!(Some(3), session::Refused(Refusal::NotAMember))]));
}

#[test]
fn markers_of_hidden_and_blocked_members_are_not_shown() {
    let (scene, [ann, bob, cat], room) = room_of_three();
    let change = ProfileChange { presence: Some(Audience::Nobody), ..ProfileChange::default() };
    scene.ask(&bob, Request::new(4, account::Command::ChangeProfile { change: Box::new(change) }));
    scene.contact(&cat, ContactAction::Block, "ann").expect("anybody may");
    assert_eq!(
        seen_by(&scene, &ann, room),
        [seen("ann", Some((3, 3))), seen("bob", None), seen("cat", None)]
    );
    let of_cat = [seen("ann", None), seen("bob", None), seen("cat", Some((1, 0)))];
    assert_eq!(seen_by(&scene, &cat, room), of_cat, "a block hides in both directions");
}

#[test]
fn large_rooms_show_no_markers() {
    let (scene, [ann, ..], room) = room_of_three();
    for number in 3..=MOST_SEEN_BY {
        assert!(seen_by(&scene, &ann, room).iter().all(|(_, markers)| markers.is_some()), "{number} members");
        let member = scene.sign_in(&format!("member{number}"), "d");
        join(&scene, &member, room);
    }
    assert!(seen_by(&scene, &ann, room).iter().all(|(_, markers)| markers.is_none()));
}

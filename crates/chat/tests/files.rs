//! Files in the domain: the rights to upload and to download, and the receivers of messages with files.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::sync::mpsc;

use chat::*;
use scene::*;

const LIMITS: FileLimits = FileLimits { file_bytes: 100, user_bytes: 0, guest_bytes: 0, site_bytes: 0 };

fn answer<T: Send + 'static>(ask: impl FnOnce(Box<dyn FnOnce(T) + Send>)) -> T {
    let (sender, answer) = mpsc::channel();
    ask(Box::new(move |outcome| sender.send(outcome).unwrap()));
    answer.try_recv().expect("a store that answers at once")
}

fn identify(scene: &Scene, token: &str, origin: Option<&str>) -> Result<Identified, Refusal> {
    let site = scene.node.site_id(SITE).unwrap();
    answer(|then| scene.node.identify(site, token, origin, None, scene.now(), then))
}

fn wish(to: To, bytes: u64) -> Wish {
    Wish { to, name: "../cat.png".into(), bytes, voice: false, duration_ms: None, peaks: None }
}

fn create(scene: &Scene, who: &Identified, to: To) -> Result<FileId, Refusal> {
    answer(|then| scene.node.create_file(who, wish(to, 10), LIMITS, scene.now(), then))
}

fn complete(scene: &Scene, id: FileId) -> FileRow {
    let found = FileFound { kind: FileType::OTHER, bytes: 10, kept_bytes: 10, picture: None };
    answer(|then| scene.node.complete_file(id, found, then)).unwrap()
}

fn send(scene: &Scene, from: &Device, to: To, id: &str, files: Vec<FileId>) -> Vec<Delivery> {
    let command = messages::Command::Send {
        client_id: id.into(),
        to,
        body: "".into(),
        extension: None,
        reply_to: None,
        files,
        rich: None,
    };
    scene.ask(from, command)
}

#[test]
fn a_file_reaches_all_devices_of_both_members() {
    let scene = Scene::new(Mode::Open);
    let (ann, phone, bob) = (scene.sign_in("ann", "a"), scene.sign_in("ann", "p"), scene.sign_in("bob", "b"));
    scene.post(&bob, to("ann"), "b-1", "hello").unwrap();
    let who = identify(&scene, &scene.token("ann"), None).unwrap();
    let file = create(&scene, &who, to("bob")).unwrap();
    assert_eq!(&*complete(&scene, file).file.name, "cat.png");
    for device in [&phone, &bob] {
        scene.take(device);
    }
    assert!(matches!(
        &send(&scene, &ann, to("bob"), "a-1", vec![file])[..],
        [event!(messages::Ack { seq: Seq(2), .. })]
    ));
    for device in [&phone, &bob] {
        let [event!(messages::Message(message))] = &scene.take(device)[..] else {
            panic!("one message each")
        };
        assert_eq!((&*message.body, message.files.len(), message.files[0].id), ("", 1, file));
    }
    let again = send(&scene, &ann, to("bob"), "a-1", vec![file]);
    assert!(matches!(&again[..], [event!(messages::Ack { seq: Seq(2), .. })]), "{again:?}");
    assert!(scene.take(&bob).is_empty());
}

#[test]
fn uploads_require_the_right_to_post() {
    let scene = Scene::new(Mode::Open);
    let (_ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let token = scene.token("ann");
    let page = Some("https://forum.example");
    assert!(identify(&scene, &token, page).is_ok());
    assert_eq!(identify(&scene, &token, Some("https://evil.example")).err(), Some(Refusal::BadOrigin));
    assert_eq!(identify(&scene, "x.y.z", None).err(), Some(Refusal::BadToken));
    assert_eq!(
        identify(&scene, &scene.token("eve"), None).err(),
        Some(Refusal::NoSession),
        "nobody has met her"
    );
    let who = identify(&scene, &token, None).unwrap();
    for (place, why) in [
        (to("bob"), Refusal::FirstContact),
        (to("nobody"), Refusal::NoSuchUser),
        (to("ann"), Refusal::NotAllowed),
    ] {
        assert_eq!(create(&scene, &who, place), Err(why));
    }
    let sized = |bytes| {
        answer(|then| scene.node.create_file(&who, wish(to("bob"), bytes), LIMITS, scene.now(), then))
    };
    assert_eq!((sized(0), sized(101)), (Err(Refusal::BadValue), Err(Refusal::FileTooLarge)));
    scene.contact(&bob, ContactAction::Block, "ann").unwrap();
    assert_eq!(create(&scene, &who, to("bob")), Err(Refusal::NotAllowed), "a block looks like any other no");
    let banned = who.user();
    scene.store.set_banned(banned, true, Box::new(|_| ()));
    scene.node.refresh_sites().unwrap();
    assert_eq!(identify(&scene, &token, None).err(), Some(Refusal::Banned));
}

#[test]
fn only_the_owner_and_readers_of_the_message_may_see_a_file() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, _carl] = ["ann", "bob", "carl"].map(|name| scene.sign_in(name, "d"));
    let [as_ann, as_bob, as_carl] =
        ["ann", "bob", "carl"].map(|name| identify(&scene, &scene.token(name), None).unwrap());
    let see = |who: &Identified, file| {
        let row = answer(|then| scene.node.file(file, then)).unwrap();
        answer(|then| scene.node.may_see_file(who, &row, then))
    };
    scene.post(&bob, to("ann"), "b-1", "hello").unwrap();
    let file = create(&scene, &as_ann, to("bob")).unwrap();
    complete(&scene, file);
    assert_eq!((see(&as_ann, file), see(&as_bob, file)), (Ok(()), Err(Refusal::NoSuchFile)), "not sent yet");
    send(&scene, &ann, to("bob"), "a-1", vec![file]);
    assert_eq!((see(&as_bob, file), see(&as_carl, file)), (Ok(()), Err(Refusal::NoSuchFile)));

    let made = Request::new(
        1,
        rooms::Command::Create { name: "Quiet".into(), kind: RoomKind::Private, topic: None, alias: None },
    );
    let events = scene.ask(&ann, made);
    let room = events.iter().find_map(|event| match event {
        event!(messages::Conversation(conversation)) => Some(conversation.id),
        _ => None,
    });
    let room = room.unwrap();
    assert_eq!(create(&scene, &as_bob, To::Conversation(room)), Err(Refusal::NoSuchConversation));
    let file = create(&scene, &as_ann, To::Conversation(room)).unwrap();
    complete(&scene, file);
    send(&scene, &ann, To::Conversation(room), "a-2", vec![file]);
    assert_eq!(see(&as_bob, file), Err(Refusal::NoSuchFile), "it is none of his rooms");
}

#[test]
fn a_message_with_invalid_files_is_refused() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.post(&bob, to("ann"), "b-1", "hello").unwrap();
    scene.take(&bob);
    let site = scene.node.site_id(SITE).unwrap();
    let none = FileId { site, number: 7 };
    for (files, why) in [(vec![none], Refusal::NoSuchFile), (vec![none; 11], Refusal::TooManyFiles)] {
        let received = send(&scene, &ann, to("bob"), "a-1", files);
        assert!(
            matches!(&received[..], [event!(session::SendRefused { refusal, .. })] if *refusal == why),
            "{received:?}"
        );
    }
    assert!(scene.take(&bob).is_empty());
    assert_eq!(scene.post(&ann, to("bob"), "a-1", "words").map(|(_, seq)| seq), Ok(Seq(2)), "the id is free");
}

fn reserve(scene: &Scene, device: &Device, bytes: u64) -> Result<FileId, Refusal> {
    let reserve = Reserve { name: "../cat.png".into(), bytes, limits: LIMITS };
    match &scene.ask(device, Request::new(7, messages::Command::ReserveFile(reserve)))[..] {
        [event!(Some(7), messages::File { id, name })] => {
            assert_eq!(&**name, "cat.png");
            Ok(*id)
        }
        [event!(Some(7), session::Refused(refusal))] => Err(*refusal),
        other => panic!("{other:?}"),
    }
}

fn find(scene: &Scene, device: &Device, id: FileId) -> Result<FileId, Refusal> {
    match &scene.ask(device, Request::new(8, messages::Command::FindFile { id }))[..] {
        [event!(Some(8), messages::File { id, .. })] => Ok(*id),
        [event!(Some(8), session::Refused(refusal))] => Err(*refusal),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_reserved_file_goes_with_the_first_message_that_has_it() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.post(&bob, to("ann"), "b-1", "hello").unwrap();
    for (bytes, refusal) in [(0, Refusal::BadValue), (101, Refusal::FileTooLarge)] {
        assert_eq!(reserve(&scene, &ann, bytes), Err(refusal));
    }
    let file = reserve(&scene, &ann, 10).unwrap();
    assert_eq!(find(&scene, &ann, file), Err(Refusal::NoSuchFile), "it has not arrived");
    complete(&scene, file);
    assert_eq!((find(&scene, &ann, file), find(&scene, &bob, file)), (Ok(file), Err(Refusal::NoSuchFile)));
    let elsewhere = FileId { site: SiteId(file.site.0 + 1), ..file };
    assert_eq!(find(&scene, &ann, elsewhere), Err(Refusal::NoSuchFile));
    let who = |user| identify(&scene, &scene.token(user), None).unwrap();
    let see = |user| {
        let row = answer(|then| scene.node.file(file, then)).unwrap();
        answer(|then| scene.node.may_see_file(&who(user), &row, then))
    };
    assert_eq!((see("ann"), see("bob")), (Ok(()), Err(Refusal::NoSuchFile)));
    scene.take(&bob);
    send(&scene, &ann, to("bob"), "a-1", vec![file]);
    let [event!(messages::Message(message))] = &scene.take(&bob)[..] else { panic!("one message") };
    assert_eq!(message.files[0].id, file);
    assert_eq!((see("bob"), find(&scene, &ann, file)), (Ok(()), Err(Refusal::NoSuchFile)));
}

#[test]
fn a_reserved_file_is_under_the_rules_of_other_uploads() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let file = reserve(&scene, &ann, 10).unwrap();
    complete(&scene, file);
    scene.take(&bob);
    let refused = send(&scene, &ann, to("bob"), "a-1", vec![file]);
    let is_first = |refusal: &Refusal| *refusal == Refusal::FirstContact;
    assert!(
        matches!(&refused[..], [event!(session::SendRefused { refusal, .. })] if is_first(refusal)),
        "a stranger gets no file: {refused:?}"
    );
    let row = answer(|then| scene.node.file(file, then)).unwrap();
    let owner = || answer(|then| scene.node.file_owner(&row, scene.now(), then)).map(|who| who.user());
    assert_eq!(owner(), Ok(row.owner));
    scene.store.set_banned(row.owner, true, Box::new(|_| ()));
    scene.node.refresh_sites().unwrap();
    assert_eq!(owner(), Err(Refusal::Banned), "a banned member cannot use an earlier slot");
}

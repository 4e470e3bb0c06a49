//! Users of other XMPP servers: who may become one, and that the rules for members hold for them.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::*;
use scene::{Device, SITE, Scene, event, sub};

const ID: SiteId = SiteId(1);

fn scene() -> Scene {
    let scene = Scene::new(Mode::Open);
    set(&scene, "federation.on", "true");
    scene
}

fn set(scene: &Scene, path: &str, value: &str) {
    let settings = scene.store.sites().unwrap().remove(0).settings.with(path, value).unwrap();
    scene.store.set_settings(ID, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
}

fn remote(address: &str) -> Sub {
    Sub::remote(address).unwrap()
}

/// A hello of the gateway for a user of another server.
fn enter(scene: &Scene, user: &Sub, resource: &str, is_known: bool) -> Result<Device, Refusal> {
    let hello = Hello {
        site_key: SITE.into(),
        credential: Credential::Remote { sub: user.clone(), is_known },
        device: DeviceId::parse(&format!("s2s-{resource}")).unwrap(),
        position: None,
        origin: None,
        address: None,
        agent: Agent::default(),
        announced: Some(presence::Announced { resource: resource.into(), availability: None }),
    };
    let handle = scene.handle();
    scene.node.sign_in(hello, handle, scene.now());
    match &scene.inbox.take(handle)[..] {
        [event!(session::Welcome(welcome)), ..] => {
            Ok(Device { session: welcome.session, welcome: (**welcome).clone() })
        }
        [event!(session::Bye(refusal))] | [event!(session::ByeWith { refusal, .. })] => Err(*refusal),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_site_takes_users_of_the_servers_that_it_has_chosen() {
    let scene = scene();
    let romeo = enter(&scene, &remote("romeo@b.example"), "link", false).unwrap();
    assert_eq!(romeo.welcome.me.sub, remote("romeo@b.example"));
    assert_eq!((&*romeo.welcome.me.name, romeo.welcome.me.guest), ("romeo@b.example", false));
    assert_eq!(romeo.welcome.expires, Timestamp::MAX);
    set(&scene, "federation.except", r#"["c.example"]"#);
    assert_eq!(enter(&scene, &remote("eve@c.example"), "link", false).err(), Some(Refusal::NotAllowed));
    set(&scene, "federation.on", "false");
    assert_eq!(enter(&scene, &remote("romeo@b.example"), "link", true).err(), Some(Refusal::NotAllowed));
    assert!(enter(&self::scene(), &remote("@b.example"), "link", false).is_err());
    let service = enter(&self::scene(), &remote("b.example"), "link", false).unwrap();
    assert!(service.welcome.me.sub.is_remote_service() && !remote("romeo@b.example").is_remote_service());
    let own = enter(&self::scene(), &sub("ann"), "link", false).err();
    assert_eq!(own, Some(Refusal::BadValue), "a gateway cannot sign a member in so");
}

#[test]
fn a_token_cannot_name_a_user_of_another_server() {
    let scene = scene();
    enter(&scene, &remote("romeo@b.example"), "link", false).unwrap();
    let token = scene.token("xmpp:romeo@b.example");
    assert_eq!(scene.refused_hello(Some(&token)), Refusal::BadToken);
}

#[test]
fn new_users_of_a_domain_have_a_rate_and_known_ones_do_not() {
    let scene = scene();
    let came = |is_known| {
        let users = (0..50).map(|number| remote(&format!("u{number}@b.example")));
        users.filter(|user| enter(&scene, user, "link", is_known).is_ok()).count()
    };
    assert_eq!(came(false), 30);
    assert_eq!(came(true), 50);
}

#[test]
fn messages_contacts_and_blocks_hold_for_users_of_other_servers() {
    let scene = scene();
    let ann = scene.sign_in("ann", "a");
    let romeo = enter(&scene, &remote("romeo@b.example"), "link", false).unwrap();
    scene.post(&romeo, scene::to("ann"), "1", "hello").unwrap();
    assert_eq!(scene.bodies(&ann), ["hello"]);
    scene.post(&ann, scene::to("xmpp:romeo@b.example"), "2", "hi").unwrap();
    assert_eq!(scene.bodies(&romeo), ["hi"]);
    let block = contacts::Command::Change { action: ContactAction::Block, user: remote("romeo@b.example") };
    scene.ask(&ann, Request::new(1, block));
    assert_eq!(scene.post(&romeo, scene::to("ann"), "3", "again").err(), Some(Refusal::NotAllowed));
}

/// A message to a remote user goes out at once; one of a remote user waits for consent like any stranger's.
#[test]
fn strangers_of_other_servers_need_consent_here() {
    let scene = scene();
    set(&scene, "requests.on", "true");
    let ann = scene.sign_in("ann", "a");
    let romeo = enter(&scene, &remote("romeo@b.example"), "link", false).unwrap();
    scene.post(&ann, scene::to("xmpp:romeo@b.example"), "1", "hi").unwrap();
    assert_eq!(scene.bodies(&romeo), ["hi"]);
    let eve = enter(&scene, &remote("eve@b.example"), "link", false).unwrap();
    for id in ["1", "2", "3"] {
        scene.post(&eve, scene::to("ann"), id, "buy").unwrap();
    }
    assert_eq!(scene.post(&eve, scene::to("ann"), "4", "buy").err(), Some(Refusal::RequestPending));
}

#[test]
fn a_user_of_another_server_is_in_no_directory_and_no_room() {
    let scene = scene();
    let (ann, _bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    enter(&scene, &remote("romeo@b.example"), "link", false).unwrap();
    let list = contacts::Command::ListPeople { query: None, page: PageOf { after: None, limit: None } };
    match &scene.ask(&ann, Request::new(1, list))[..] {
        [event!(Some(1), contacts::People { people, .. })] => {
            let subs: Vec<&str> = people.iter().map(|person| person.sub.as_str()).collect();
            assert_eq!(subs, ["bob"]);
        }
        other => panic!("{other:?}"),
    }
    let add = rooms::Command::ChangeMember {
        conversation: ConversationId::room(ID, 1),
        user: remote("romeo@b.example"),
        action: MemberAction::Invite,
    };
    match &scene.ask(&ann, Request::new(2, add))[..] {
        [event!(Some(2), session::Refused(refusal))] => assert_eq!(*refusal, Refusal::NotAllowed),
        other => panic!("{other:?}"),
    }
}

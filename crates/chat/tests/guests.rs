//! Guests who become members: the required proof, and the end of the guest.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::sync::{Arc, Mutex};

use chat::*;
use scene::{Device, SITE, Scene, config, event, sub, to};
use store::Sqlite;

fn answer_to<T: Send + 'static>(ask: impl FnOnce(Respond<T>)) -> Arc<Mutex<Option<Result<T, Refusal>>>> {
    let outcome = Arc::new(Mutex::new(None));
    let kept = outcome.clone();
    ask(Box::new(move |result| *kept.lock().unwrap() = Some(result)));
    outcome
}

fn site_caller() -> Caller {
    Caller::Site(SiteId(1))
}

fn begin_merge(scene: &Scene, token: &str, user: &str) -> Arc<Mutex<Option<Result<(), Refusal>>>> {
    let proof = scene.node.guest_proof(&site_caller(), token, scene.now()).unwrap();
    answer_to(|then| scene.node.merge_guest(&site_caller(), proof, sub(user), scene.now(), then))
}

fn merge(scene: &Scene, token: &str, user: &str) -> Result<(), Refusal> {
    begin_merge(scene, token, user).lock().unwrap().take().expect("it is answered at once")
}

/// A guest, and the token for their return.
fn guest(scene: &Scene) -> (Device, String) {
    let guest = scene.sign_in_guest("g-1");
    let token = guest.welcome.guest_token.clone().unwrap();
    (guest, token)
}

fn sub_of(guest: &Device) -> String {
    guest.welcome.me.sub.to_string()
}

#[test]
fn a_guests_sessions_and_tokens_end_with_the_merge() {
    let mut scene = Scene::new(Mode::Open);
    scene.sign_in("tom", "t-1");
    let (guest, first) = guest(&scene);
    scene.send(&guest, to("tom"), "g-1", "Hello");
    scene.now += 3 * 24 * 3600 * 1000;
    // An older valid token of the guest is as good a proof as the newest.
    let again = scene.welcomed(scene.hello(Some(&first), "g-2", None));
    let newer = again.welcome.guest_token.clone().expect("the first is older than a day");
    scene.take(&again);
    assert_eq!(merge(&scene, &first, "gina"), Ok(()));
    assert!(matches!(scene.take(&again)[..], [event!(session::Bye(Refusal::TokenExpired))]));
    for token in [&first, &newer] {
        assert_eq!(scene.refused_hello(Some(token)), Refusal::TokenExpired, "it makes no second guest");
        assert_eq!(merge(&scene, token, "gina"), Ok(()), "it is done already");
        assert_eq!(merge(&scene, token, "mallory"), Err(Refusal::NoSuchUser), "it is somebody else's now");
    }
    let gina = scene.sign_in("gina", "g-3");
    assert_eq!(gina.welcome.changes.conversations.len(), 1);
}

#[test]
fn a_sign_in_right_after_the_merge_is_a_members() {
    let scene = Scene::new(Mode::Open);
    let tom = scene.sign_in("tom", "t-1");
    let (_guest, token) = guest(&scene);
    merge(&scene, &token, "gina").unwrap();
    let gina = scene.sign_in("gina", "g-1");
    scene.take(&tom);
    scene.send(&gina, to("tom"), "g-1", "Hello");
    let received = scene.take(&tom);
    let from = received.iter().find_map(|event| match event {
        event!(messages::Message(message)) => Some(message.from.to_string()),
        _ => None,
    });
    assert_eq!(from.as_deref(), Some("gina"));
}

#[test]
fn a_sign_in_that_the_merge_overtakes_is_refused() {
    let scene = Scene::with(Mode::Open, config(), Sqlite::by_turns());
    let handle = scene.hello(None, "g-1", None);
    scene.store.run();
    let guest = scene.welcomed(handle);
    let token = guest.welcome.guest_token.clone().unwrap();
    scene.store.run();
    let late = scene.hello(Some(&token), "g-2", None);
    // The guest's row was read, and the answer is pending.
    scene.store.turn(0);
    let merged = begin_merge(&scene, &token, "gina");
    // The merge is committed and published before the answer arrives.
    scene.store.turn(1);
    scene.store.turn(0);
    assert_eq!(*merged.lock().unwrap(), Some(Ok(())));
    scene.store.run();
    assert!(matches!(scene.inbox.take(late)[..], [event!(session::Bye(Refusal::Unavailable))]));
    assert_eq!(scene.node.stats().sessions, 0);
}

#[test]
fn a_merge_by_another_process_ends_the_guests_sessions() {
    let scene = Scene::new(Mode::Open);
    let (guest, token) = guest(&scene);
    let proof = scene.node.guest_proof(&site_caller(), &token, scene.now()).unwrap();
    let merge = Merge { guest: proof, user: sub("gina"), by: By::Site, time: scene.now() };
    scene.store.merge_guest(merge, Box::new(drop));
    scene.node.refresh_sites().unwrap();
    assert!(matches!(scene.take(&guest)[..], [event!(session::Bye(Refusal::TokenExpired))]));
    let gina = scene.sign_in("gina", "g-1");
    scene.store.set_banned(scene.sign_in("tom", "t-1").session.user, true, Box::new(drop));
    scene.node.refresh_sites().unwrap();
    assert!(scene.take(&gina).is_empty(), "the member stays");
}

#[test]
fn a_ban_of_the_guest_applies_to_the_member() {
    let scene = Scene::new(Mode::Open);
    let (guest, token) = guest(&scene);
    let ban = Moderate::Sanction {
        user: sub(&sub_of(&guest)),
        room: None,
        kind: SanctionKind::Ban,
        until: Timestamp::MAX,
        reason: "Insults".to_owned(),
    };
    let banned = answer_to(|then| scene.node.moderate(&site_caller(), ban, scene.now(), then));
    assert!(matches!(*banned.lock().unwrap(), Some(Ok(_))));
    assert_eq!(merge(&scene, &token, "gina"), Ok(()));
    let handle = scene.hello(Some(&scene.token("gina")), "g-1", None);
    assert!(
        matches!(
            scene.inbox.take(handle)[..],
            [event!(session::ByeWith { .. }) | event!(session::Bye(Refusal::Banned))]
        ),
        "the account is banned"
    );
}

#[test]
fn only_a_valid_token_of_this_sites_guest_is_a_proof() {
    use chat::token::{Claims, sign};

    let mut scene = Scene::new(Mode::Open);
    let (guest, token) = guest(&scene);
    let key = scene::secret(b"the server's key for guests here");
    let exp = (scene.now / 1000 + 60) as f64;
    let claims =
        Claims { sub: sub_of(&guest), guest: true, site: Some(SITE.into()), exp, ..Claims::default() };
    let prove = |scene: &Scene, token: &str| {
        scene.node.guest_proof(&site_caller(), token, scene.now()).map(|proof| proof.sub().to_string())
    };
    assert_eq!(prove(&scene, &token), Ok(sub_of(&guest)));
    assert_eq!(prove(&scene, &sign(&claims, &key).unwrap()), Ok(sub_of(&guest)));
    assert_eq!(prove(&scene, &sub_of(&guest)), Err(Refusal::BadToken), "a public id");
    assert_eq!(prove(&scene, &scene.signed(&claims)), Err(Refusal::BadToken), "signed by the site itself");
    let foreign = Claims { site: Some("garden".into()), ..claims.clone() };
    assert_eq!(prove(&scene, &sign(&foreign, &key).unwrap()), Err(Refusal::BadToken));
    let member = Claims { guest: false, ..claims };
    assert_eq!(prove(&scene, &sign(&member, &key).unwrap()), Err(Refusal::BadToken));
    assert_eq!(prove(&scene, &scene.token("tom")), Err(Refusal::BadToken));
    scene.now += 31 * 24 * 3600 * 1000;
    assert_eq!(prove(&scene, &token), Err(Refusal::TokenExpired));
}

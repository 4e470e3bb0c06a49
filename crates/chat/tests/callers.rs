//! Callers of REST: the site's own server, and admins with their own tokens, whose stored rights decide.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::sync::{Arc, Mutex};

use chat::token::Claims;
use chat::*;
use scene::{Device, SITE, Scene, config, event, sub};
use store::Sqlite;

fn token(scene: &Scene, user: &str, role: &str) -> String {
    let now = (scene.now / 1000) as f64;
    let (role, iat, exp) = (Some(role.into()), Some(now), now + 3600.0);
    scene.signed(&Claims { sub: user.into(), role, iat, exp, ..Claims::default() })
}

fn sign_in_as(scene: &Scene, user: &str, role: &str) -> Device {
    scene.welcomed(scene.hello(Some(&token(scene, user, role)), &format!("{user}-1"), None))
}

/// The answer of a request to a store without delay.
fn answer_to<T: Send + 'static>(ask: impl FnOnce(Respond<T>)) -> Result<T, Refusal> {
    let outcome = Arc::new(Mutex::new(None));
    let kept = outcome.clone();
    ask(Box::new(move |result| *kept.lock().unwrap() = Some(result)));
    outcome.lock().unwrap().take().expect("it is answered at once")
}

fn caller(scene: &Scene, token: &str) -> Result<Caller, Refusal> {
    answer_to(|then| scene.node.caller(SITE, token, None, scene.now(), then))
}

fn act(scene: &Scene, caller: &Caller, wanted: Moderate) -> Result<(), Refusal> {
    answer_to(|then| scene.node.moderate(caller, wanted, scene.now(), then)).map(drop)
}

fn ban(user: &str) -> Moderate {
    let (until, reason) = (Timestamp::MAX, "Insults".to_owned());
    Moderate::Sanction { user: sub(user), room: None, kind: SanctionKind::Ban, until, reason }
}

/// Act, author and user of the newest entry.
fn newest_entry(scene: &Scene, caller: &Caller) -> (String, Option<Sub>, Option<Sub>) {
    let page =
        answer_to(|then| scene.node.audit(caller, PageOf { after: None, limit: Some(1) }, then)).unwrap();
    let entry = &page.rows[0];
    (entry.act.to_string(), entry.by.clone(), entry.user.clone())
}

#[test]
fn an_admin_acts_over_rest_by_rank_and_by_name() {
    let scene = Scene::new(Mode::Open);
    for (user, role) in [("ada", "admin"), ("eve", "admin"), ("tom", "member")] {
        sign_in_as(&scene, user, role);
    }
    let site = caller(&scene, &token(&scene, "server", "service")).unwrap();
    let ada = caller(&scene, &token(&scene, "ada", "admin")).unwrap();
    assert!(matches!((&site, &ada), (Caller::Site(_), Caller::User(..))));
    assert_eq!(act(&scene, &ada, ban("eve")), Err(Refusal::NotAllowed), "of the same rank");
    let promote = |role| Moderate::SetRole { user: sub("tom"), role };
    assert_eq!(act(&scene, &ada, promote(SiteRole::Admin)), Err(Refusal::NotAllowed));
    act(&scene, &ada, ban("tom")).unwrap();
    assert_eq!(newest_entry(&scene, &site), ("ban".into(), Some(sub("ada")), Some(sub("tom"))));
    let patch = serde_json::json!({"requests": {"on": true}});
    scene.node.change_settings(&ada, &patch, scene.now()).unwrap();
    assert_eq!(newest_entry(&scene, &site), ("configure".into(), Some(sub("ada")), None));
    let erase = |caller: &Caller, user: &str| {
        answer_to(|then| scene.node.erase(caller, sub(user), MessagesAfterErasure::Kept, scene.now(), then))
    };
    assert_eq!(erase(&ada, "eve"), Err(Refusal::NotAllowed), "of the same rank");
    erase(&ada, "tom").unwrap();
    let (word, by, _) = newest_entry(&scene, &site);
    assert_eq!((word.as_str(), by), ("erase", Some(sub("ada"))));
    act(&scene, &site, ban("eve")).unwrap();
    assert_eq!(newest_entry(&scene, &site), ("ban".into(), None, Some(sub("eve"))), "the site has no name");
}

#[test]
fn an_admins_token_ends_with_the_admin() {
    let mut scene = Scene::new(Mode::Open);
    let site = caller(&scene, &token(&scene, "server", "service")).unwrap();
    assert_eq!(caller(&scene, &token(&scene, "ada", "admin")), Err(Refusal::NotAllowed), "nobody yet");
    for user in ["ada", "eve", "ida"] {
        sign_in_as(&scene, user, "admin");
    }
    let [ada, eve, ida] = ["ada", "eve", "ida"].map(|user| token(&scene, user, "admin"));
    scene.wait(1_500);
    assert!([&ada, &eve, &ida].iter().all(|token| caller(&scene, token).is_ok()));
    act(&scene, &site, ban("ada")).unwrap();
    act(&scene, &site, Moderate::SetRole { user: sub("eve"), role: SiteRole::Member }).unwrap();
    answer_to(|then| scene.node.erase(&site, sub("ida"), MessagesAfterErasure::Kept, scene.now(), then))
        .unwrap();
    assert_eq!(caller(&scene, &ada), Err(Refusal::Banned));
    assert_eq!(caller(&scene, &eve), Err(Refusal::NotAllowed));
    assert_eq!(caller(&scene, &ida), Err(Refusal::NotAllowed));
    // A sign-in with the same token does not restore the role.
    for (user, token) in [("eve", &eve), ("ida", &ida)] {
        let device = scene.welcomed(scene.hello(Some(token), "d", None));
        assert_eq!(device.welcome.role, SiteRole::Member, "{user}");
        assert_eq!(caller(&scene, token), Err(Refusal::NotAllowed), "{user}");
    }
    // The site may make them an admin again.
    scene.wait(1_500);
    let newer = token(&scene, "eve", "admin");
    assert_eq!(sign_in_as(&scene, "eve", "admin").welcome.role, SiteRole::Admin);
    assert!(caller(&scene, &newer).is_ok());
}

/// The store executes one operation after the other, and the first command follows the welcome directly.
#[test]
fn the_first_command_of_a_new_user_has_the_role_of_the_token() {
    let scene = Scene::with(Mode::Open, config(), Sqlite::by_turns());
    let handle = scene.hello(Some(&token(&scene, "ada", "admin")), "d", None);
    let welcome = loop {
        if let Some(event!(session::Welcome(welcome))) = scene.inbox.take(handle).into_iter().next() {
            break welcome;
        }
        assert!(scene.store.turns() > 0, "a welcome comes");
        scene.store.turn(0);
    };
    assert_eq!(welcome.role, SiteRole::Admin);
    // Reads do not wait for writes: this one does not see pending writes.
    let page = PageOf { after: None, limit: None };
    scene.node.command(
        welcome.session,
        Request::new(5, moderation::Command::ListAudit { page }),
        scene.now(),
    );
    scene.store.turn(scene.store.turns() - 1);
    scene.store.run();
    let received = scene.inbox.take(handle);
    assert!(
        received.iter().any(|event| matches!(event, event!(Some(5), moderation::Audit { .. }))),
        "{received:?}"
    );
}

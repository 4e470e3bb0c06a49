//! The keys of a site: the tokens that they allow, and the sessions that end with them.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::token::{Claims, sign};
use chat::*;
use scene::*;

const OLD: &[u8] = b"a secret of this site";
const NEW: &[u8] = b"another secret of this very site";
const EDDSA_PUBLIC: &str = include_str!("keys/eddsa.pub.pem");

fn token(scene: &Scene, user: &str, key: &[u8]) -> String {
    let now = (scene.now / 1000) as f64;
    let claims = Claims { sub: user.into(), iat: Some(now), exp: now + 86_400.0, ..Claims::default() };
    sign(&claims, &secret(key)).unwrap()
}

fn sign_in(scene: &Scene, user: &str, key: &[u8]) -> Device {
    scene.welcomed(scene.hello(Some(&token(scene, user, key)), &format!("{user}-1"), None))
}

/// Changes the site like the command line does; the node notices it a moment later.
fn change(scene: &Scene, change: SiteChange) -> Result<Site, SiteNotChanged> {
    let changed = scene.store.change_site(SiteId(1), change, SiteAuthor::Operator, scene.now()).unwrap();
    scene.node.refresh_sites().unwrap();
    changed
}

fn rotate(scene: &Scene, overlap_ms: u64) {
    let others_end = Some(Timestamp(scene.now + overlap_ms));
    change(scene, SiteChange::AddKey { key: secret(NEW), others_end }).unwrap();
}

fn sign_out(scene: &Scene, whom: SignOut) {
    change(scene, SiteChange::SignOut { whom, at: scene.now() }).unwrap();
}

fn is_ended(scene: &Scene, device: &Device, why: Refusal) -> bool {
    matches!(scene.take(device)[..], [event!(session::Bye(refusal))] if refusal == why)
}

#[test]
fn a_rotation_without_overlap_ends_sessions_of_the_old_secret() {
    let mut scene = Scene::new(Mode::Open);
    scene.wait(1_000);
    let (ann, guest) = (sign_in(&scene, "ann", OLD), scene.sign_in_guest("g"));
    let old = token(&scene, "ann", OLD);
    rotate(&scene, 0);
    assert!(is_ended(&scene, &ann, Refusal::KeyEnded));
    assert!(scene.take(&guest).is_empty(), "guests have a key of their own");
    assert_eq!(scene.refused_hello(Some(&old)), Refusal::BadToken);
    let ann = sign_in(&scene, "ann", NEW);
    scene.wait(10_000);
    assert!(scene.take(&ann).is_empty());
}

#[test]
fn after_an_overlap_only_sessions_with_newer_tokens_remain() {
    let mut scene = Scene::new(Mode::Open);
    scene.wait(1_000);
    let (ann, bob) = (sign_in(&scene, "ann", OLD), sign_in(&scene, "bob", OLD));
    rotate(&scene, 60_000);
    scene.wait(30_000);
    let newer = token(&scene, "bob", NEW);
    let received = scene.ask(&bob, Request::new(1, sign_in::Command::RenewToken { token: newer }));
    assert!(matches!(received[..], [event!(Some(1), session::TokenOk { .. })]), "{received:?}");
    let late = sign_in(&scene, "cat", OLD);
    scene.wait(40_000);
    assert!(is_ended(&scene, &ann, Refusal::TokenExpired));
    assert!(is_ended(&scene, &late, Refusal::TokenExpired), "a sign-in within the overlap ends with it");
    assert!(scene.take(&bob).is_empty());
}

#[test]
fn a_sign_out_ends_sessions_and_the_tokens_from_before() {
    let mut scene = Scene::new(Mode::Open);
    scene.wait(1_000);
    let (ann, guest) = (sign_in(&scene, "ann", OLD), scene.sign_in_guest("g"));
    let before = token(&scene, "ann", OLD);
    let without_iat = scene.token("ann");
    scene.wait(1_500);
    sign_out(&scene, SignOut::Members);
    assert!(is_ended(&scene, &ann, Refusal::KeyEnded));
    assert!(scene.take(&guest).is_empty());
    for token in [&before, &without_iat] {
        assert_eq!(scene.refused_hello(Some(token)), Refusal::KeyEnded);
    }
    scene.wait(1_000);
    sign_in(&scene, "ann", OLD);
    sign_out(&scene, SignOut::Guests);
    assert!(is_ended(&scene, &guest, Refusal::KeyEnded));
    let guest_token = guest.welcome.guest_token.as_deref();
    assert_eq!(scene.refused_hello(guest_token), Refusal::KeyEnded);
}

#[test]
fn the_end_of_a_key_ends_only_its_own_sessions() {
    let mut scene = Scene::new(Mode::Open);
    scene.wait(1_000);
    let added = SiteChange::AddKey { key: secret(NEW), others_end: None };
    change(&scene, added).unwrap();
    let public = Secret { kid: "2026-11".into(), ..public_key(EDDSA_PUBLIC, scene.now()).unwrap() };
    change(&scene, SiteChange::AddKey { key: public, others_end: None }).unwrap();
    let (ann, bob) = (sign_in(&scene, "ann", OLD), sign_in(&scene, "bob", NEW));
    let end = |kid: Box<str>| SiteChange::EndKey { kid, at: Timestamp(0) };
    change(&scene, end("2026-11".into())).unwrap();
    assert!(scene.take(&ann).is_empty() && scene.take(&bob).is_empty());
    change(&scene, end(secret(OLD).kid)).unwrap();
    assert!(is_ended(&scene, &ann, Refusal::KeyEnded));
    assert!(scene.take(&bob).is_empty());
    assert_eq!(change(&scene, end(secret(NEW).kid)), Err(SiteNotChanged::LastKey));
    // A new key does not take over the sessions of a removed one.
    change(&scene, SiteChange::AddKey { key: secret(&[5; 32]), others_end: None }).unwrap();
    change(&scene, end(secret(&[5; 32]).kid)).unwrap();
    assert!(scene.take(&bob).is_empty());
}

#[test]
fn guests_and_members_have_keys_of_their_own() {
    let mut scene = Scene::new(Mode::Open);
    scene.wait(2_000);
    let guest_key = scene.store.sites().unwrap()[0].guest_keys[0].clone();
    let now = (scene.now / 1000) as f64;
    let claims = |guest| Claims { sub: "guest-x".into(), guest, exp: now + 60.0, ..Claims::default() };
    let by_guest_key = sign(&claims(false), &guest_key).unwrap();
    assert_eq!(scene.refused_hello(Some(&by_guest_key)), Refusal::BadToken, "it signs no member");
    rotate(&scene, 60_000);
    let later = Secret { created: scene.now(), ..secret(&[7; 32]) };
    change(&scene, SiteChange::AddKey { key: later.clone(), others_end: None }).unwrap();
    let by_new_secret = sign(&claims(true), &later).unwrap();
    assert_eq!(scene.refused_hello(Some(&by_new_secret)), Refusal::BadToken, "a newer secret signs no guest");
    // COMPAT: a token from before guests had a key is replaced by one of that key.
    let by_old_secret = sign(&claims(true), &secret(OLD)).unwrap();
    let back = scene.welcomed(scene.hello(Some(&by_old_secret), "d", None));
    assert!(back.welcome.me.guest && back.welcome.guest_token.is_some());
}

#[test]
fn a_token_that_names_its_key_is_checked_by_that_key() {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
    use jsonwebtoken::{Algorithm, EncodingKey, crypto};
    let scene = Scene::new(Mode::Open);
    change(&scene, SiteChange::AddKey { key: secret(NEW), others_end: None }).unwrap();
    let signed = |kid: &str, key: &[u8]| {
        let header = URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"HS256","kid":"{kid}"}}"#));
        let claims = format!(r#"{{"sub":"ann","exp":{}}}"#, scene.now / 1000 + 60);
        let message = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims));
        let key = EncodingKey::from_secret(key);
        let signature = crypto::sign(message.as_bytes(), &key, Algorithm::HS256).unwrap();
        format!("{message}.{signature}")
    };
    let [old, new] = [OLD, NEW].map(|key| secret(key).kid);
    scene.welcomed(scene.hello(Some(&signed(&new, NEW)), "d", None));
    scene.welcomed(scene.hello(Some(&signed("of the site's own", NEW)), "d", None));
    assert_eq!(scene.refused_hello(Some(&signed(&old, NEW))), Refusal::BadToken);
}

#[test]
fn changes_of_a_site_apply_at_once_and_require_rights() {
    let scene = Scene::new(Mode::Open);
    let page = "https://other.example";
    assert_eq!(scene.node.origin_allowed(SITE, page), Ok(false));
    let profile = SiteProfile {
        origins: Some(vec![page.into()]),
        guests: Some(false),
        mode: Some(Mode::Contacts),
        ..SiteProfile::default()
    };
    let changed = change(&scene, SiteChange::Profile(profile)).unwrap();
    assert_eq!((changed.mode, changed.guests), (Mode::Contacts, false));
    assert_eq!(scene.node.origin_allowed(SITE, page), Ok(true));
    assert_eq!(scene.node.origin_allowed(SITE, "https://forum.example"), Ok(false));
    let unknown = scene.store.change_site(
        SiteId(9),
        SiteChange::Profile(SiteProfile::default()),
        SiteAuthor::Operator,
        scene.now(),
    );
    assert_eq!(unknown, Ok(Err(SiteNotChanged::NoSuchSite)));
}

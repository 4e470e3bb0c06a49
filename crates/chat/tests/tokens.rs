//! Valid and refused tokens: the known attacks on JWTs, time, rotation, one-time tokens.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chat::token::{Audience, Claims, sign};
use chat::*;
use jsonwebtoken::{Algorithm, EncodingKey};
use scene::*;
use store::Sqlite;

// Keys made for these tests; they are used for nothing else.
const ES256_PUBLIC: &[u8] = include_bytes!("keys/es256.pub.pem");
const EDDSA_PUBLIC: &[u8] = include_bytes!("keys/eddsa.pub.pem");

/// A scene whose site accepts all three kinds.
fn scene() -> Scene {
    let scene = Scene::new(Mode::Open);
    let key = |kind, bytes: &[u8]| Secret::new(kind, bytes.to_vec(), Timestamp(START));
    scene.store.add_secret(SiteId(1), &key(SecretKind::Es256, ES256_PUBLIC)).unwrap();
    scene.store.add_secret(SiteId(1), &key(SecretKind::EdDsa, EDDSA_PUBLIC)).unwrap();
    scene.node.refresh_sites().unwrap();
    scene
}

fn claims() -> Claims {
    Claims { sub: "ann".into(), exp: (START / 1000 + 600) as f64, ..Claims::default() }
}

/// A token with any header, claims and key.
fn forge(header: &str, claims: &str, key: &EncodingKey, algorithm: Algorithm) -> String {
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let signature = jsonwebtoken::crypto::sign(message.as_bytes(), key, algorithm).unwrap();
    format!("{message}.{signature}")
}

fn hs256(header: &str, claims: &str) -> String {
    forge(header, claims, &EncodingKey::from_secret(b"a secret of this site"), Algorithm::HS256)
}

fn outcome(scene: &Scene, token: &str) -> Result<Person, Refusal> {
    let handle = scene.hello(Some(token), "d", None);
    match scene.inbox.take(handle).remove(0) {
        event!(session::Welcome(welcome)) => Ok(welcome.me),
        event!(session::Bye(refusal)) => Err(refusal),
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_kind_of_key_accepts_its_own_tokens() {
    let scene = scene();
    let body = format!(r#"{{"sub":"ann","exp":{}}}"#, START / 1000 + 600);
    let ec = EncodingKey::from_ec_pem(include_bytes!("keys/es256.pem")).unwrap();
    let ed = EncodingKey::from_ed_pem(include_bytes!("keys/eddsa.pem")).unwrap();
    let good = [
        hs256(r#"{"alg":"HS256"}"#, &body),
        hs256(r#"{"typ":"JWT","alg":"HS256","kid":"2026-11"}"#, &body),
        forge(r#"{"alg":"ES256","typ":"JWT"}"#, &body, &ec, Algorithm::ES256),
        forge(r#"{"alg":"EdDSA","typ":"JWT"}"#, &body, &ed, Algorithm::EdDSA),
    ];
    for token in good {
        assert_eq!(outcome(&scene, &token).map(|me| me.sub), Ok(sub("ann")), "{token}");
    }
}

#[test]
fn forged_tokens_are_refused() {
    let scene = scene();
    let body = format!(r#"{{"sub":"ann","exp":{}}}"#, START / 1000 + 600);
    let good = hs256(r#"{"alg":"HS256"}"#, &body);
    let parts: Vec<&str> = good.split('.').collect();
    let [header, payload, signature] = parts[..] else { panic!("three parts") };
    let other_ec = EncodingKey::from_ec_pem(include_bytes!("keys/es256.other.pem")).unwrap();
    let ed = EncodingKey::from_ed_pem(include_bytes!("keys/eddsa.pem")).unwrap();
    let none = |alg: &str| URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"{alg}"}}"#));
    let mut flipped = signature.to_owned().into_bytes();
    flipped[0] = if flipped[0] == b'A' { b'B' } else { b'A' };
    let flipped = String::from_utf8(flipped).unwrap();
    let another_sub = URL_SAFE_NO_PAD.encode(body.replace("ann", "bob"));
    let public_as_secret = EncodingKey::from_secret(ES256_PUBLIC);

    let table: Vec<(&str, String)> = vec![
        ("nothing", String::new()),
        ("dots", "..".into()),
        ("no JWT", "hello".into()),
        ("one dot", format!("{header}.{payload}")),
        ("five parts, as a JWE has", format!("{good}.{header}.{payload}")),
        ("no signature", format!("{header}.{payload}.")),
        ("signature cut", format!("{header}.{payload}.{}", &signature[..signature.len() - 2])),
        ("signature longer", format!("{good}AA")),
        ("signature changed", format!("{header}.{payload}.{flipped}")),
        ("padding", format!("{good}=")),
        ("space before", format!(" {good}")),
        ("line after", format!("{good}\n")),
        ("claims changed", format!("{header}.{another_sub}.{signature}")),
        ("none, unsigned", format!("{}.{payload}.", none("none"))),
        ("None, unsigned", format!("{}.{payload}.", none("None"))),
        ("none, signature kept", format!("{}.{payload}.{signature}", none("none"))),
        ("hs256 in small letters", hs256(r#"{"alg":"hs256"}"#, &body)),
        ("no alg", hs256("{}", &body)),
        ("alg is a list", hs256(r#"{"alg":["HS256"]}"#, &body)),
        ("alg twice", hs256(r#"{"alg":"HS256","alg":"none"}"#, &body)),
        ("header is no object", hs256("[]", &body)),
        (
            "HS512 with our secret",
            forge(
                r#"{"alg":"HS512"}"#,
                &body,
                &EncodingKey::from_secret(b"a secret of this site"),
                Algorithm::HS512,
            ),
        ),
        (
            "another secret",
            forge(
                r#"{"alg":"HS256"}"#,
                &body,
                &EncodingKey::from_secret(b"another secret"),
                Algorithm::HS256,
            ),
        ),
        (
            "empty secret",
            forge(r#"{"alg":"HS256"}"#, &body, &EncodingKey::from_secret(b""), Algorithm::HS256),
        ),
        (
            "public key as HMAC secret",
            forge(r#"{"alg":"HS256"}"#, &body, &public_as_secret, Algorithm::HS256),
        ),
        (
            "public key as HMAC secret, called ES256",
            forge(r#"{"alg":"ES256"}"#, &body, &public_as_secret, Algorithm::HS256),
        ),
        ("another elliptic key", forge(r#"{"alg":"ES256"}"#, &body, &other_ec, Algorithm::ES256)),
        ("EdDSA called ES256", forge(r#"{"alg":"ES256"}"#, &body, &ed, Algorithm::EdDSA)),
        ("zeros for ES256", format!("{}.{payload}.{}", none("ES256"), URL_SAFE_NO_PAD.encode([0; 64]))),
        ("crit", hs256(r#"{"alg":"HS256","crit":["b64"],"b64":false}"#, &body)),
        ("empty crit", hs256(r#"{"alg":"HS256","crit":[]}"#, &body)),
        ("claims are no object", hs256(r#"{"alg":"HS256"}"#, "[]")),
        ("claims are no JSON", hs256(r#"{"alg":"HS256"}"#, "sub=ann")),
        ("too long", hs256(r#"{"alg":"HS256"}"#, &format!(r#"{{"x":"{}",{}"#, "y".repeat(9000), &body[1..]))),
    ];
    assert!(outcome(&scene, &good).is_ok(), "what all of these are made of");
    for (what, token) in table {
        assert_eq!(outcome(&scene, &token), Err(Refusal::BadToken), "{what}");
    }
}

proptest::proptest! {
    /// No random text is a valid token, and no byte of a valid one can be changed.
    #[test]
    fn random_and_changed_tokens_are_refused(text in ".{0,200}", parts in "[A-Za-z0-9_-]{0,40}(\\.[A-Za-z0-9_-]{0,40}){0,4}",
                               at in 0usize..1000, byte in proptest::num::u8::ANY) {
        let scene = Scene::new(Mode::Open);
        proptest::prop_assert_eq!(outcome(&scene, &text), Err(Refusal::BadToken));
        proptest::prop_assert_eq!(outcome(&scene, &parts), Err(Refusal::BadToken));
        let good = scene.token("ann");
        let mut changed = good.clone().into_bytes();
        let at = at % changed.len();
        changed[at] = byte;
        if let Ok(changed) = String::from_utf8(changed)
            && changed != good
        {
            proptest::prop_assert_eq!(outcome(&scene, &changed), Err(Refusal::BadToken));
        }
    }
}

#[test]
fn invalid_claims_are_refused() {
    let scene = scene();
    let now = START / 1000;
    let with = |more: &str| format!(r#"{{"sub":"ann","exp":{}{more}}}"#, now + 600);
    let table = [
        (r#"{"sub":"ann"}"#.to_owned(), Err(Refusal::BadToken)),
        (format!(r#"{{"exp":{}}}"#, now + 600), Err(Refusal::BadToken)),
        (format!(r#"{{"sub":"","exp":{}}}"#, now + 600), Err(Refusal::BadToken)),
        (format!(r#"{{"sub":null,"exp":{}}}"#, now + 600), Err(Refusal::BadToken)),
        (format!(r#"{{"sub":"a\u0000","exp":{}}}"#, now + 600), Err(Refusal::BadToken)),
        (format!(r#"{{"sub":"{}","exp":{}}}"#, "x".repeat(129), now + 600), Err(Refusal::BadToken)),
        (format!(r#"{{"sub":"ann","sub":"bob","exp":{}}}"#, now + 600), Err(Refusal::BadToken)),
        (format!(r#"{{"sub":1234,"exp":{}}}"#, now + 600), Ok("1234")),
        (format!(r#"{{"sub":"ann","exp":"{}"}}"#, now + 600), Err(Refusal::BadToken)),
        (r#"{"sub":"ann","exp":-5}"#.to_owned(), Err(Refusal::BadToken)),
        (r#"{"sub":"ann","exp":1e300}"#.to_owned(), Err(Refusal::BadToken)),
        // The clocks may differ by a minute, in either direction.
        (format!(r#"{{"sub":"ann","exp":{}}}"#, now - 59), Ok("ann")),
        (format!(r#"{{"sub":"ann","exp":{}.5}}"#, now - 59), Ok("ann")),
        (format!(r#"{{"sub":"ann","exp":{}}}"#, now - 60), Err(Refusal::TokenExpired)),
        (r#"{"sub":"ann","exp":0}"#.to_owned(), Err(Refusal::TokenExpired)),
        (with(&format!(r#","nbf":{}"#, now + 60)), Ok("ann")),
        (with(&format!(r#","nbf":{}"#, now + 61)), Err(Refusal::TokenExpired)),
        (with(&format!(r#","iat":{}"#, now + 61)), Err(Refusal::TokenExpired)),
        (with(r#","nbf":-1"#), Err(Refusal::BadToken)),
        // Thirty days at most: a site cannot revoke a token without an end.
        (format!(r#"{{"sub":"ann","exp":{}}}"#, now + 30 * 86_400), Ok("ann")),
        (format!(r#"{{"sub":"ann","exp":{}}}"#, now + 31 * 86_400), Err(Refusal::BadToken)),
        // A token for another site is refused, even with our secret.
        (with(r#","aud":"forum""#), Ok("ann")),
        (with(r#","aud":["x","forum"]"#), Ok("ann")),
        (with(r#","aud":"other""#), Err(Refusal::BadToken)),
        (with(r#","aud":[]"#), Err(Refusal::BadToken)),
        (with(r#","aud":7"#), Err(Refusal::BadToken)),
        (with(r#","site":"forum""#), Ok("ann")),
        (with(r#","site":"Forum""#), Err(Refusal::BadToken)),
        (with(r#","once":true"#), Err(Refusal::BadToken)),
        (with(r#","once":true,"jti":"""#), Err(Refusal::BadToken)),
        // PostgreSQL cannot store it.
        (with(r#","once":true,"jti":"a\u0000b""#), Err(Refusal::BadToken)),
        (with(r#","anything":{"else":[1]}"#), Ok("ann")),
    ];
    for (claims, expected) in table {
        let outcome = outcome(&scene, &hs256(r#"{"alg":"HS256"}"#, &claims));
        assert_eq!(outcome.as_ref().map(|me| me.sub.as_str()), expected.as_ref().map(|sub| *sub), "{claims}");
    }
}

#[test]
fn names_and_avatars_are_made_harmless() {
    let scene = scene();
    let me = |name: &str, avatar: &str| {
        let claims = Claims { name: Some(name.into()), avatar: Some(avatar.into()), ..claims() };
        outcome(&scene, &scene.signed(&claims)).unwrap()
    };
    let name = |name: &str| me(name, "").name.to_string();
    assert_eq!(name("Ann Ätherton \u{1f98a}"), "Ann Ätherton \u{1f98a}");
    assert_eq!(name("\u{202e}nnA\u{2066}\u{200f}\u{7}\n"), "nnA");
    assert_eq!(name(" \t "), "ann", "nothing left: the id");
    assert_eq!(name(&"ä".repeat(300)), "ä".repeat(200));
    assert_eq!(outcome(&scene, &scene.signed(&claims())).unwrap().name.as_ref(), "ann");

    let avatar = |url: &str| me("Ann", url).avatar.map(|url| url.to_string());
    for url in ["https://forum.example/a.png", "http://localhost/a.png", "/avatars/7.webp"] {
        assert_eq!(avatar(url).as_deref(), Some(url));
    }
    let long = format!("https://forum.example/{}", "x".repeat(2000));
    for url in [
        "javascript:alert(1)",
        "data:image/png;base64,AA",
        "//evil.example/a",
        "/\\evil",
        "a.png",
        " /a",
        "/a b",
        &long,
    ] {
        assert_eq!(avatar(url), None, "{url}");
    }
}

#[test]
fn secrets_are_rotated_without_ending_sessions() {
    let mut scene = Scene::new(Mode::Open);
    let old = scene.token("ann");
    let new_secret = secret(b"the new secret");
    let new = sign(&claims(), &new_secret).unwrap();
    assert_eq!(outcome(&scene, &new), Err(Refusal::BadToken));

    let mut changed = scene.store.sites().unwrap().remove(0);
    changed.secrets[0].expires = Some(Timestamp(START + 120_000));
    changed.secrets.insert(0, new_secret);
    scene.store.update_site(&changed).unwrap();
    assert_eq!(outcome(&scene, &new), Err(Refusal::BadToken), "not before the node has looked");
    scene.node.refresh_sites().unwrap();
    assert!(outcome(&scene, &old).is_ok() && outcome(&scene, &new).is_ok());
    scene.wait(119_900);
    assert!(outcome(&scene, &old).is_ok());
    scene.wait(100);
    assert_eq!(outcome(&scene, &old), Err(Refusal::BadToken));
    assert!(outcome(&scene, &new).is_ok());
}

#[test]
fn a_one_time_token_works_once() {
    let scene = Scene::new(Mode::Open);
    let claims = Claims { jti: Some("n1".into()), once: true, ..claims() };
    let token = scene.signed(&claims);
    assert!(outcome(&scene, &token).is_ok());
    assert_eq!(outcome(&scene, &token), Err(Refusal::TokenUsed));
    let again = scene.signed(&Claims { jti: Some("n2".into()), ..claims });
    assert!(outcome(&scene, &again).is_ok());
    // A reusable token ignores its `jti`.
    let many = scene.signed(&Claims {
        jti: Some("n1".into()),
        aud: Some(Audience::One(SITE.into())),
        ..self::claims()
    });
    assert!(outcome(&scene, &many).is_ok() && outcome(&scene, &many).is_ok());
}

#[test]
fn a_session_ends_with_its_token_unless_it_is_renewed() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    assert_eq!(ann.welcome.expires, Timestamp(START + 3_600_000));
    scene.wait(3_000_000);

    let newer = scene.token("ann");
    let refused = |token: String| match scene
        .ask(&ann, Request::new(5, sign_in::Command::RenewToken { token }))
        .remove(0)
    {
        event!(Some(5), session::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(scene.token("bob")), Refusal::BadToken, "of another user");
    assert_eq!(refused("x".into()), Refusal::BadToken);
    let as_guest = Claims { guest: true, exp: (START / 1000 + 7200) as f64, ..claims() };
    assert_eq!(refused(scene.signed(&as_guest)), Refusal::BadToken, "a guest's");
    let answer = scene.ask(&ann, Request::new(6, sign_in::Command::RenewToken { token: newer })).remove(0);
    let end = Timestamp(START + 6_600_000);
    assert!(matches!(answer, event!(Some(6), session::TokenOk { expires }) if expires == end), "{answer:?}");

    // The end includes the clock skew of a sign-in, and is checked every 5 s.
    scene.wait(659_000);
    assert!(scene.take(&bob).is_empty());
    scene.wait(6_100);
    assert!(matches!(scene.take(&bob)[..], [event!(session::Bye(Refusal::TokenExpired))]));
    assert!(scene.take(&ann).is_empty());
    assert_eq!(scene.node.stats().sessions, 1);
    scene.wait(3_000_000);
    assert!(matches!(scene.take(&ann)[..], [event!(session::Bye(Refusal::TokenExpired))]));
    assert_eq!(scene.node.stats().sessions, 0);
}

#[test]
fn guests_keep_their_identity_on_sites_that_allow_them() {
    let mut scene = Scene::new(Mode::Open);
    let guest = scene.sign_in_guest("g");
    let other = scene.sign_in_guest("g");
    let name = guest.welcome.me.sub.as_str();
    assert!(name.starts_with("guest-") && name.len() == 32 && guest.welcome.me.guest);
    assert!(guest.welcome.me.name.starts_with("Guest "));
    assert_ne!(guest.welcome.me.sub, other.welcome.me.sub);

    let token = guest.welcome.guest_token.clone().unwrap();
    scene.wait(20 * 86_400);
    let back = outcome(&scene, &token).unwrap();
    assert_eq!((&back.sub, &back.name), (&guest.welcome.me.sub, &guest.welcome.me.name));

    // They write and are written to, but have no contact list.
    let ann = scene.sign_in("ann", "a");
    assert!(scene.post(&other, to("ann"), "m1", "may I ask?").is_ok());
    assert_eq!(scene.contact(&other, ContactAction::Request, "ann"), Err(Refusal::NotAllowed));
    let their_name = other.welcome.me.sub.to_string();
    assert_eq!(scene.contact(&ann, ContactAction::Request, &their_name), Err(Refusal::NotAllowed));
    assert_eq!(scene.contact(&ann, ContactAction::Block, &their_name), Ok(ContactState::Blocked));

    let mut closed = scene.store.sites().unwrap().remove(0);
    closed.guests = false;
    scene.store.update_site(&closed).unwrap();
    scene.node.refresh_sites().unwrap();
    assert_eq!(scene.refused_hello(None), Refusal::NoGuests);
    assert_eq!(outcome(&scene, &token), Err(Refusal::NoGuests), "nor those of before");
}

#[test]
fn a_returning_guest_gets_a_newer_token() {
    let mut scene = Scene::new(Mode::Open);
    let first = scene.sign_in_guest("g").welcome;
    let token = first.guest_token.unwrap();
    let come_again = |scene: &Scene, token: &str| {
        let handle = scene.hello(Some(token), "g", None);
        scene.welcomed(handle).welcome
    };
    assert_eq!(come_again(&scene, &token).guest_token, None, "the one of today will do");

    const WEEKS: u64 = 7 * 86_400_000;
    scene.now += 3 * WEEKS;
    let back = come_again(&scene, &token);
    let newer = back.guest_token.unwrap();
    assert!(newer != token && back.expires.0 == scene.now + 30 * 86_400_000);
    scene.now += 2 * WEEKS;
    assert_eq!(come_again(&scene, &newer).me.sub, first.me.sub, "five weeks later");
    assert_eq!(outcome(&scene, &token), Err(Refusal::TokenExpired));

    // Only the site renews a member's token.
    assert_eq!(scene.sign_in("ann", "a").welcome.guest_token, None);
}

#[test]
fn only_new_guests_of_one_address_are_limited() {
    let limits = Limits { guest_burst: 2, guest_per_minute: 1, ..limits() };
    let mut scene = Scene::with(Mode::Open, NodeConfig { limits, ..config() }, Sqlite::in_memory());
    let guest = scene.sign_in_guest("a");
    scene.sign_in_guest("b");
    assert_eq!(scene.refused_hello(None), Refusal::RateLimited { retry_after_ms: 60_000 });

    // Known guests and members can sign in.
    let token = guest.welcome.guest_token.unwrap();
    assert!(outcome(&scene, &token).is_ok());
    scene.sign_in("ann", "a");

    scene.now += 60_000;
    scene.sign_in_guest("c");
    assert!(matches!(scene.refused_hello(None), Refusal::RateLimited { .. }));
    let stats = scene.node.stats();
    assert_eq!((stats.new_guests, stats.guests_refused), (3, 2));
}

#[test]
fn times_are_printed_as_whole_numbers() {
    let claims = Claims { iat: Some(1_800_000_000.0), nbf: Some(0.5), exp: 1_800_000_600.0, ..claims() };
    let token = sign(&claims, &secret(b"a secret")).unwrap();
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    let expected = r#"{"sub":"ann","exp":1800000600,"nbf":0.5,"iat":1800000000}"#;
    assert_eq!(String::from_utf8(payload).unwrap(), expected);
}

//! App passwords: their life, the sign-in with one, and the sessions that end with it.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::net::IpAddr;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};

use chat::*;
use scene::{ADDRESS, Device, SITE, Scene, event, sub};

const ID: SiteId = SiteId(1);

fn scene() -> Scene {
    Scene::new(Mode::Open)
}

fn create(scene: &Scene, device: &Device, name: &str) -> Result<AppPasswordShown, Refusal> {
    let command = account::Command::CreateAppPassword { name: name.into() };
    match &scene.ask(device, Request::new(5, command))[..] {
        [event!(Some(5), account::AppPassword(shown))] => Ok((**shown).clone()),
        [event!(Some(5), session::Refused(refusal))] => Err(*refusal),
        other => panic!("{other:?}"),
    }
}

type List = (Option<Box<str>>, Vec<KnownAppPassword>);

fn listed(received: &[Delivery]) -> List {
    match received {
        [event!(Some(5), account::AppPasswords { address, passwords })] => {
            (address.clone(), passwords.clone())
        }
        other => panic!("{other:?}"),
    }
}

/// Whether the user's own profile says that apps can sign in.
fn has_apps(scene: &Scene, device: &Device) -> bool {
    match &scene.ask(device, Request::new(5, account::Command::Profile { user: None }))[..] {
        [event!(Some(5), account::Profile(card))] => card.own.unwrap().apps,
        other => panic!("{other:?}"),
    }
}

fn list(scene: &Scene, device: &Device) -> Vec<AppPasswordRow> {
    listed(&scene.ask(device, Request::new(5, account::Command::ListAppPasswords)))
        .1
        .into_iter()
        .map(|one| one.row)
        .collect()
}

fn revoke(scene: &Scene, device: &Device, number: u32) -> Vec<Delivery> {
    scene.ask(device, Request::new(5, account::Command::RevokeAppPassword { number }))
}

fn credentials(scene: &Scene, site: SiteId, user: &str) -> Result<AppCredentials, Refusal> {
    let (sender, received) = mpsc::channel();
    scene.node.app_credentials(site, sub(user), move |found| sender.send(found).unwrap());
    received.recv().unwrap()
}

/// A hello with an app password, as a gateway sends it after its check.
fn hello(scene: &Scene, user: &str, number: u32, device: &str) -> SessionHandle {
    let hello = Hello {
        site_key: SITE.into(),
        credential: Credential::AppPassword { sub: sub(user), number },
        device: DeviceId::parse(device).unwrap(),
        position: None,
        origin: None,
        address: Some(ADDRESS.into()),
        agent: Agent::default(),
        announced: None,
    };
    let handle = scene.handle();
    scene.node.sign_in(hello, handle, scene.now());
    handle
}

/// The session, or the refusal.
fn sign_in(scene: &Scene, user: &str, number: u32, device: &str) -> Result<Device, Refusal> {
    let handle = hello(scene, user, number, device);
    match &scene.inbox.take(handle)[..] {
        [event!(session::Welcome(welcome)), ..] => {
            Ok(Device { session: welcome.session, welcome: (**welcome).clone() })
        }
        [event!(session::Bye(refusal))] | [event!(session::ByeWith { refusal, .. })] => Err(*refusal),
        other => panic!("{other:?}"),
    }
}

fn is_ended(scene: &Scene, device: &Device, why: Refusal) -> bool {
    matches!(scene.take(device)[..], [event!(session::Bye(refusal))] if refusal == why)
}

fn set(scene: &Scene, path: &str, value: &str) {
    let settings = scene.store.sites().unwrap().remove(0).settings.with(path, value).unwrap();
    scene.store.set_settings(ID, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
}

/// Ann with a session by token and an app password.
fn ann(scene: &Scene) -> (Device, AppPasswordShown) {
    let ann = scene.sign_in("ann", "laptop");
    let shown = create(scene, &ann, "Phone").unwrap();
    (ann, shown)
}

#[test]
fn a_password_is_shown_once_and_signs_its_user_in() {
    let mut scene = scene();
    let (ann, shown) = ann(&scene);
    assert_eq!((&*shown.row.name, shown.row.created, shown.row.used), ("Phone", scene.now(), None));
    let found = credentials(&scene, ID, "ann").unwrap();
    assert_eq!(found.verify_plain(shown.password.as_str().as_bytes()), Some(shown.row.number));
    assert_eq!(found.verify_plain(b"a wrong one"), None);
    let derived = ScramKeys::derive(shown.password.as_str().as_bytes(), &found.salt, found.iterations);
    assert_eq!(found.keys[0].scram, derived);

    scene.wait(1_000);
    let phone = sign_in(&scene, "ann", shown.row.number, "phone").unwrap();
    assert_eq!(phone.session.user, ann.session.user);
    assert_eq!((&*phone.welcome.me.name, phone.welcome.expires), ("The ann", Timestamp::MAX));
    let bob = scene.sign_in("bob", "b");
    scene.post(&bob, scene::to("ann"), "1", "hello").unwrap();
    assert_eq!(scene.bodies(&phone), ["hello"]);
    scene.post(&phone, scene::to("bob"), "2", "hi").unwrap();
    assert_eq!(scene.bodies(&bob), ["hi"]);

    let rows = list(&scene, &ann);
    assert_eq!((rows.len(), rows[0].used), (1, Some(scene.now())));
    scene.wait(200 * 24 * 3_600_000 / 1_000);
    assert!(scene.take(&phone).iter().all(|one| !matches!(one, event!(session::Bye(_)))), "it has no end");
}

#[test]
fn the_list_has_the_address_and_the_newest_first() {
    let scene = scene();
    let device = scene.sign_in("Ann O'Neill", "laptop");
    let numbers: Vec<u32> =
        ["one", "two"].map(|name| create(&scene, &device, name).unwrap().row.number).into();
    let received = scene.ask(&device, Request::new(5, account::Command::ListAppPasswords));
    let (address, rows) = listed(&received);
    assert_eq!(address.as_deref(), Some("^ann\\20^o\\27^neill@forum"));
    assert_eq!(rows.iter().map(|one| one.row.number).collect::<Vec<_>>(), [numbers[1], numbers[0]]);
    assert!(list(&scene, &scene.sign_in("bob", "b")).is_empty(), "nobody sees the passwords of others");
    let phone = sign_in(&scene, "Ann O'Neill", numbers[0], "phone").unwrap();
    let connected = || {
        let (_, rows) = listed(&scene.ask(&device, Request::new(5, account::Command::ListAppPasswords)));
        rows.iter().map(|one| one.here).collect::<Vec<_>>()
    };
    assert_eq!(connected(), [false, true]);
    scene.leave(&phone);
    assert_eq!(connected(), [false, false]);
}

#[test]
fn a_user_has_at_most_sixteen_passwords_with_sound_names() {
    let scene = scene();
    let ann = scene.sign_in("ann", "laptop");
    for bad in ["", "  ", "a\nb", &"x".repeat(65)] {
        assert_eq!(create(&scene, &ann, bad), Err(Refusal::BadValue), "{bad}");
    }
    let shown: Vec<_> = (0..16).map(|number| create(&scene, &ann, &format!("{number}")).unwrap()).collect();
    assert_eq!(create(&scene, &ann, "one more"), Err(Refusal::TooManyAppPasswords));
    let found = credentials(&scene, ID, "ann").unwrap();
    for one in &shown {
        assert_eq!(found.verify_plain(one.password.as_str().as_bytes()), Some(one.row.number));
    }
    revoke(&scene, &ann, shown[3].row.number);
    let again = create(&scene, &ann, "one more").unwrap();
    assert!(shown.iter().all(|one| one.row.number != again.row.number), "a number is never used again");
}

#[test]
fn revoking_ends_the_sessions_of_that_password_only() {
    let scene = scene();
    let (laptop, shown) = ann(&scene);
    let other = create(&scene, &laptop, "Tablet").unwrap();
    let phones = ["p1", "p2"].map(|device| sign_in(&scene, "ann", shown.row.number, device).unwrap());
    let tablet = sign_in(&scene, "ann", other.row.number, "t").unwrap();
    let bob = scene.sign_in("bob", "b");
    revoke(&scene, &bob, shown.row.number);
    assert!(scene.take(&phones[0]).is_empty(), "another user cannot");
    let (_, left) = listed(&revoke(&scene, &laptop, shown.row.number));
    assert_eq!(left.iter().map(|one| one.row.number).collect::<Vec<_>>(), [other.row.number]);
    assert!(phones.iter().all(|phone| is_ended(&scene, phone, Refusal::SignedOut)));
    assert!(scene.take(&tablet).is_empty());
    assert_eq!(sign_in(&scene, "ann", shown.row.number, "p1").unwrap_err(), Refusal::SignedOut);
    assert_eq!(listed(&revoke(&scene, &laptop, shown.row.number)).1.len(), 1, "a repetition changes nothing");
    // The own session: its end is the answer.
    let received = revoke(&scene, &tablet, other.row.number);
    assert!(matches!(received[0], event!(session::Bye(Refusal::SignedOut))), "{received:?}");
    assert!(list(&scene, &laptop).is_empty());
}

#[test]
fn only_ones_own_existing_password_opens_an_account() {
    let scene = scene();
    let (_, shown) = ann(&scene);
    let bob = scene.sign_in("bob", "b");
    let bobs = create(&scene, &bob, "Phone").unwrap();
    for (user, number) in [("ann", bobs.row.number), ("ann", 99), ("nobody", shown.row.number), ("bob", 0)] {
        assert_eq!(sign_in(&scene, user, number, "d").unwrap_err(), Refusal::SignedOut, "{user} {number}");
    }
}

#[test]
fn an_unknown_user_cannot_be_told_from_one_without_passwords() {
    let scene = scene();
    let (ann, shown) = ann(&scene);
    scene.sign_in("bob", "b");
    let [nobody, again] = ["nobody", "nobody"].map(|user| credentials(&scene, ID, user).unwrap());
    let bobs = credentials(&scene, ID, "bob").unwrap();
    assert_eq!(nobody, again, "the salt stays the same");
    assert!(nobody.keys.is_empty() && bobs.keys.is_empty() && nobody.salt != bobs.salt);
    let before = credentials(&scene, ID, "ann").unwrap();
    revoke(&scene, &ann, shown.row.number);
    let after = credentials(&scene, ID, "ann").unwrap();
    assert_eq!((before.salt, before.iterations), (after.salt, after.iterations));
    assert_eq!(credentials(&scene, SiteId(9), "ann"), Err(Refusal::NoSuchSite));
}

#[test]
fn guests_have_no_app_passwords() {
    let scene = scene();
    let guest = scene.sign_in_guest("g");
    assert_eq!(create(&scene, &guest, "Phone"), Err(Refusal::NotAllowed));
    let listed = listed(&scene.ask(&guest, Request::new(5, account::Command::ListAppPasswords)));
    assert_eq!(listed, (None, Vec::new()), "an app cannot sign in as a guest");
    assert!(has_apps(&scene, &guest), "the widget explains it");
}

#[test]
fn without_a_gateway_for_apps_the_node_offers_none() {
    let config = NodeConfig { app_passwords: false, ..scene::config() };
    let scene = Scene::with(Mode::Open, config, store::Sqlite::in_memory());
    let (ann, _) = ann(&scene);
    assert!(!has_apps(&scene, &ann));
    let (address, rows) = listed(&scene.ask(&ann, Request::new(5, account::Command::ListAppPasswords)));
    assert_eq!((address, rows.len()), (None, 1), "the password is still listed, and can be revoked");
}

#[test]
fn a_banned_user_is_refused_and_keeps_the_password() {
    let scene = scene();
    let (ann, shown) = ann(&scene);
    let phone = sign_in(&scene, "ann", shown.row.number, "phone").unwrap();
    let ban = |banned| {
        let (sender, done) = mpsc::channel();
        let done_with = Box::new(move |outcome| sender.send(outcome).unwrap());
        scene.store.set_banned(ann.session.user, banned, done_with);
        assert_eq!(done.recv().unwrap(), Ok(true));
        scene.node.refresh_sites().unwrap();
    };
    ban(true);
    match &scene.take(&phone)[..] {
        [event!(session::Bye(Refusal::Banned))]
        | [event!(session::ByeWith { refusal: Refusal::Banned, .. })] => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(sign_in(&scene, "ann", shown.row.number, "phone").unwrap_err(), Refusal::Banned);
    ban(false);
    sign_in(&scene, "ann", shown.row.number, "phone").unwrap();
}

#[test]
fn an_erased_users_password_opens_nothing() {
    let scene = scene();
    let (ann, shown) = ann(&scene);
    let phone = sign_in(&scene, "ann", shown.row.number, "phone").unwrap();
    set(&scene, "members.remove", "true");
    scene.command(&ann, Request::new(6, account::Command::Erase { messages: MessagesAfterErasure::Erased }));
    assert!(is_ended(&scene, &phone, Refusal::Removed));
    assert_eq!(sign_in(&scene, "ann", shown.row.number, "phone").unwrap_err(), Refusal::SignedOut);
    let next = scene.sign_in("ann", "laptop");
    assert!(list(&scene, &next).is_empty(), "the next user of the id has none");
    assert_eq!(sign_in(&scene, "ann", shown.row.number, "phone").unwrap_err(), Refusal::SignedOut);
}

#[test]
fn a_closed_site_and_a_banned_device_refuse_app_passwords_too() {
    let scene = scene();
    let (_, shown) = ann(&scene);
    set(&scene, "access", "closed");
    assert_eq!(sign_in(&scene, "ann", shown.row.number, "phone").unwrap_err(), Refusal::SiteClosed);
    set(&scene, "access", "open");
    let bob = scene.sign_in("bob", "shared");
    let act = Moderate::BanWithDevices { user: sub("bob"), until: Timestamp::MAX, reason: "spam".into() };
    let admin = Caller::Site(ID);
    scene.node.moderate(&admin, act, scene.now(), Box::new(|outcome| assert!(outcome.is_ok())));
    scene.take(&bob);
    assert_eq!(sign_in(&scene, "ann", shown.row.number, "shared").unwrap_err(), Refusal::DeviceBanned);
}

#[test]
fn disabling_xmpp_refuses_passwords_and_ends_their_sessions() {
    let scene = scene();
    let (ann, shown) = ann(&scene);
    let phone = sign_in(&scene, "ann", shown.row.number, "phone").unwrap();
    scene.take(&ann);
    set(&scene, "xmpp.enabled", "false");
    assert!(is_ended(&scene, &phone, Refusal::NotAllowed));
    assert!(scene.take(&ann).is_empty(), "her session by token goes on");
    assert_eq!(sign_in(&scene, "ann", shown.row.number, "phone").unwrap_err(), Refusal::NotAllowed);
    assert_eq!(credentials(&scene, ID, "ann"), Err(Refusal::NotAllowed));
    assert_eq!(create(&scene, &ann, "Tablet"), Err(Refusal::NotAllowed));
    let (address, rows) = listed(&scene.ask(&ann, Request::new(5, account::Command::ListAppPasswords)));
    assert_eq!((address, rows.len(), has_apps(&scene, &ann)), (None, 1, false));
    set(&scene, "xmpp.enabled", "true");
    assert!(has_apps(&scene, &ann));
    sign_in(&scene, "ann", shown.row.number, "phone").unwrap();
}

#[test]
fn the_operator_revokes_by_another_process() {
    let scene = scene();
    let (ann, shown) = ann(&scene);
    let phone = sign_in(&scene, "ann", shown.row.number, "phone").unwrap();
    let (sender, done) = mpsc::channel();
    let done_with = Box::new(move |outcome| sender.send(outcome).unwrap());
    let number = shown.row.number;
    scene.store.revoke_app_password(ann.session.user, number, By::Site, scene.now(), done_with);
    assert_eq!(done.recv().unwrap(), Ok(Ok(true)));
    assert!(scene.take(&phone).is_empty());
    scene.node.refresh_sites().unwrap();
    assert!(is_ended(&scene, &phone, Refusal::SignedOut));
}

#[test]
fn the_end_of_a_sites_keys_does_not_end_app_passwords() {
    let mut scene = scene();
    let (_, shown) = ann(&scene);
    let phone = sign_in(&scene, "ann", shown.row.number, "phone").unwrap();
    scene.wait(1_000);
    let out = SiteChange::SignOut { whom: SignOut::Everybody, at: scene.now() };
    scene.store.change_site(ID, out, SiteAuthor::Operator, scene.now()).unwrap().unwrap();
    scene.node.refresh_sites().unwrap();
    assert!(scene.take(&phone).is_empty());
    let renew = sign_in::Command::RenewToken { token: scene.token("ann") };
    let received = scene.ask(&phone, Request::new(5, renew));
    assert!(matches!(received[..], [event!(Some(5), session::Refused(Refusal::KeyEnded))]), "{received:?}");
}

#[test]
fn a_token_cannot_replace_the_app_password_of_a_session() {
    let scene = scene();
    let (_, shown) = ann(&scene);
    let phone = sign_in(&scene, "ann", shown.row.number, "phone").unwrap();
    let renew = sign_in::Command::RenewToken { token: scene.token("ann") };
    let received = scene.ask(&phone, Request::new(5, renew));
    assert!(matches!(received[..], [event!(Some(5), session::Refused(Refusal::NotAllowed))]), "{received:?}");
}

#[test]
fn an_adopted_session_ends_if_its_password_was_revoked_meanwhile() {
    let mut scene = scene();
    let (ann, shown) = ann(&scene);
    let other = create(&scene, &ann, "Tablet").unwrap();
    let phone = sign_in(&scene, "ann", shown.row.number, "phone").unwrap();
    let tablet = sign_in(&scene, "ann", other.row.number, "tablet").unwrap();
    let records = scene.node.release(scene.now());
    assert_eq!(records.iter().filter_map(|record| record.app_password).count(), 2);
    let (sender, done) = mpsc::channel();
    let done_with = Box::new(move |outcome| sender.send(outcome).unwrap());
    scene.store.revoke_app_password(
        ann.session.user,
        shown.row.number,
        By::User(ann.session.user),
        scene.now(),
        done_with,
    );
    assert_eq!(done.recv().unwrap(), Ok(Ok(true)));
    scene.replace_node();
    scene.node.adopt(records, scene.now());
    assert!(is_ended(&scene, &phone, Refusal::SignedOut));
    assert!(scene.take(&tablet).is_empty() && scene.take(&ann).is_empty());
    let (_, left) = listed(&revoke(&scene, &ann, other.row.number));
    assert!(
        left.is_empty() && is_ended(&scene, &tablet, Refusal::SignedOut),
        "the new node knows its password"
    );
}

/// Records of the log.
#[derive(Default)]
struct Log(Mutex<Vec<Recorded>>);

/// Door, site, user, outcome.
type Recorded = (Door, Option<String>, Option<String>, SignInOutcome);

impl SignInLog for Log {
    fn record(&self, record: &SignInRecord<'_>) {
        let SignInRecord { door, site, user, outcome, .. } = *record;
        self.0.lock().unwrap().push((door, site.map(str::to_owned), user.map(str::to_owned), outcome));
    }
}

#[test]
fn the_log_has_sign_ins_and_failures_with_their_own_door() {
    let scene = scene();
    let (_, shown) = ann(&scene);
    let log = Arc::new(Log::default());
    scene.node.log_sign_ins_to(log.clone());
    sign_in(&scene, "ann", shown.row.number, "phone").unwrap();
    sign_in(&scene, "ann", 99, "phone").unwrap_err();
    scene.node.password_failed(ID, &sub("ann"), Some(ADDRESS.into()), scene.now());
    let (site, user) = (Some(SITE.to_owned()), Some("ann".to_owned()));
    let record = |user, outcome| (Door::AppPassword, site.clone(), user, outcome);
    assert_eq!(
        *log.0.lock().unwrap(),
        [
            record(user.clone(), SignInOutcome::Accepted),
            record(user, SignInOutcome::Refused(Refusal::SignedOut)),
            record(None, SignInOutcome::Refused(Refusal::BadToken)),
        ]
    );
}

#[test]
fn guesses_are_limited_and_a_sign_in_resets_the_limit() {
    let scene = scene();
    let (_, shown) = ann(&scene);
    let home: IpAddr = ADDRESS.into();
    let may = |scene: &Scene| scene.node.password_may_be_tried(ID, &sub("ann"), Some(home), scene.now());
    for _ in 0..6 {
        scene.node.password_failed(ID, &sub("ann"), Some(home), scene.now());
    }
    assert_eq!(may(&scene), Err(Refusal::RateLimited { retry_after_ms: 20_000 }));
    sign_in(&scene, "ann", shown.row.number, "phone").unwrap();
    assert_eq!(may(&scene), Ok(()));
    // A crowd of strangers does not lock her out where she has signed in.
    for number in 0..1_000 {
        let from = IpAddr::from(std::net::Ipv4Addr::from_bits(0x0a00_0000 + number));
        scene.node.password_failed(ID, &sub("ann"), Some(from), scene.now());
    }
    let elsewhere = Some(IpAddr::from([198, 51, 100, 7]));
    assert!(scene.node.password_may_be_tried(ID, &sub("ann"), elsewhere, scene.now()).is_err());
    assert_eq!(may(&scene), Ok(()));
}

#[test]
fn a_site_is_found_by_its_domain() {
    let scene = scene();
    assert_eq!(scene.node.site_of_domain("forum"), Some((ID, "forum".into())), "the key, by default");
    let domain = |domain: Option<&str>| {
        let profile = SiteProfile { domain: Some(domain.map(Into::into)), ..SiteProfile::default() };
        let change = SiteChange::Profile(profile);
        let changed = scene.store.change_site(ID, change, SiteAuthor::Operator, scene.now()).unwrap();
        scene.node.refresh_sites().unwrap();
        changed.map(drop)
    };
    domain(Some("forum.example")).unwrap();
    assert_eq!(scene.node.site_of_domain("forum.example"), Some((ID, "forum".into())));
    assert_eq!(
        (scene.node.site_of_domain("forum"), scene.node.domain(ID).as_deref()),
        (None, Some("forum.example"))
    );
    set(&scene, "access", "read_only");
    assert!(scene.node.site_of_domain("forum.example").is_some());
    domain(None).unwrap();
    assert_eq!(scene.node.domain(ID).as_deref(), Some("forum"));
    assert_eq!((scene.node.site_of_domain("forum.example"), scene.node.domain(SiteId(9))), (None, None));
}

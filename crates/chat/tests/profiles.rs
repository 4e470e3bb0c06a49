//! Profiles in virtual time: status and name, and the rights to write and to see presence.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::*;
use scene::*;

fn profile(scene: &Scene, device: &Device, of: Option<&str>) -> Result<ProfileCard, Refusal> {
    answer(&scene.ask(device, Request::new(1, account::Command::Profile { user: of.map(sub) })))
}

fn change(scene: &Scene, device: &Device, change: ProfileChange) -> Result<ProfileCard, Refusal> {
    let change = Box::new(change);
    answer(&scene.ask(device, Request::new(1, account::Command::ChangeProfile { change })))
}

fn answer(events: &[Delivery]) -> Result<ProfileCard, Refusal> {
    match events {
        [event!(Some(1), account::Profile(card))] => Ok(*card.clone()),
        [event!(Some(1), session::Refused(refusal))] => Err(*refusal),
        other => panic!("no answer: {other:?}"),
    }
}

fn status(text: &str, until: Option<Timestamp>) -> ProfileChange {
    ProfileChange { status: Some(Some(Status { text: text.into(), until })), ..ProfileChange::default() }
}

fn hides(presence: Audience, last_seen: Audience) -> ProfileChange {
    ProfileChange { presence: Some(presence), last_seen: Some(last_seen), ..ProfileChange::default() }
}

fn set(scene: &mut Scene, path: &str, value: &str) {
    let site = scene.store.sites().unwrap().remove(0);
    let settings = site.settings.with(path, value).unwrap();
    scene.store.set_settings(site.id, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
}

fn write(scene: &Scene, from: &Device, to: &str, id: &str) -> Result<(), Refusal> {
    scene.post(from, self::to(to), id, "Hi").map(drop)
}

#[test]
fn a_status_is_shown_until_its_end() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let until = Timestamp(scene.now + 60_000);
    let own = change(&scene, &ann, status(" On holiday 🌴 ", Some(until))).unwrap();
    assert_eq!((own.status.map(|one| one.text), own.own.is_some()), (Some("On holiday 🌴".into()), true));
    let seen = profile(&scene, &bob, Some("ann")).unwrap();
    assert_eq!(seen.status, Some(Status { text: "On holiday 🌴".into(), until: Some(until) }));
    assert_eq!((seen.own, seen.contact, seen.role), (None, ContactState::None, SiteRole::Member));
    scene.wait(60_000);
    assert_eq!(profile(&scene, &bob, Some("ann")).unwrap().status, None);
    change(&scene, &ann, status("Back", None)).unwrap();
    assert!(profile(&scene, &bob, Some("ann")).unwrap().status.is_some());
    change(&scene, &ann, status("", None)).unwrap();
    assert_eq!(profile(&scene, &bob, Some("ann")).unwrap().status, None);
    assert_eq!(profile(&scene, &bob, Some("nobody")), Err(Refusal::NoSuchUser));
    assert_eq!(change(&scene, &ann, status("a\0b", None)), Err(Refusal::BadValue));
}

#[test]
fn blocked_users_see_no_status_and_filters_apply_to_it() {
    let mut scene = Scene::new(Mode::Open);
    set(&mut scene, "filters.words", r#"["casino"]"#);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    assert_eq!(change(&scene, &ann, status("The CASINO is open", None)), Err(Refusal::Filtered));
    change(&scene, &ann, status("Here", None)).unwrap();
    scene.ask(
        &ann,
        Request::new(2, contacts::Command::Change { action: ContactAction::Block, user: sub("bob") }),
    );
    let seen = profile(&scene, &bob, Some("ann")).unwrap();
    assert_eq!((seen.status, seen.last_seen, seen.person.presence), (None, None, Some(Presence::Offline)));
}

#[test]
fn members_choose_names_where_the_site_allows_it() {
    let mut scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    let name =
        |name: &str| ProfileChange { name: Some(NameChange::Own(name.into())), ..ProfileChange::default() };
    assert_eq!(change(&scene, &ann, name("Anna")), Err(Refusal::NotAllowed));
    set(&mut scene, "members.rename", "true");
    let own = change(&scene, &ann, name(" Anna ")).unwrap();
    assert_eq!((&*own.person.name, own.own.unwrap().may_rename), ("Anna", true));
    assert_eq!(&*scene.sign_in("ann", "b").welcome.me.name, "Anna", "the token says another one");
    change(&scene, &ann, name("")).unwrap();
    assert_eq!(&*scene.sign_in("ann", "b").welcome.me.name, "The ann");
    change(&scene, &ann, name("Anna")).unwrap();
    set(&mut scene, "members.rename", "false");
    assert_eq!(&*scene.sign_in("ann", "b").welcome.me.name, "The ann", "nobody may any more");
}

#[test]
fn presence_is_hidden_outside_its_audience() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob, cat) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"), scene.sign_in("cat", "c"));
    scene.befriend(&ann, &bob);
    scene.wait(600);
    scene.watch(&bob, &["ann"]);
    scene.watch(&cat, &["ann"]);
    change(&scene, &ann, hides(Audience::Contacts, Audience::Everybody)).unwrap();
    scene.wait(600);
    let offline = vec![("ann".to_owned(), Presence::Offline)];
    let online = vec![("ann".to_owned(), Presence::Online)];
    assert_eq!(presences(&scene.take(&cat)), offline);
    assert_eq!(presences(&scene.take(&bob)), []);
    assert_eq!(scene.watch(&cat, &["ann"]), offline);
    assert_eq!(scene.watch(&bob, &["ann"]), online);
    let shown = |device: &Device| {
        let seen = profile(&scene, device, Some("ann")).unwrap();
        (seen.person.presence, seen.last_seen.is_some())
    };
    assert_eq!(shown(&cat), (Some(Presence::Offline), false));
    assert_eq!(shown(&bob), (Some(Presence::Online), false));
    // She leaves: only users who may see her presence are notified, and may know the time.
    scene.leave(&ann);
    scene.wait(600);
    assert_eq!(presences(&scene.take(&cat)), []);
    assert_eq!(presences(&scene.take(&bob)), offline);
    let shown = |device: &Device| profile(&scene, device, Some("ann")).unwrap().last_seen.is_some();
    assert!(shown(&bob) && !shown(&cat));
    // The choice applies to the next session too, and can be undone.
    let ann = scene.sign_in("ann", "a");
    scene.wait(600);
    assert_eq!((presences(&scene.take(&bob)), presences(&scene.take(&cat))), (online.clone(), vec![]));
    change(&scene, &ann, hides(Audience::Nobody, Audience::Everybody)).unwrap();
    scene.wait(600);
    assert_eq!(presences(&scene.take(&bob)), offline);
    change(&scene, &ann, hides(Audience::Everybody, Audience::Everybody)).unwrap();
    scene.wait(600);
    let last = |device: &Device| presences(&scene.take(device)).pop();
    assert_eq!((last(&bob), last(&cat)), (Some(online[0].clone()), Some(online[0].clone())));
}

#[test]
fn last_seen_is_shown_only_to_its_audience() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob, cat) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"), scene.sign_in("cat", "c"));
    scene.befriend(&ann, &bob);
    change(&scene, &ann, hides(Audience::Everybody, Audience::Contacts)).unwrap();
    scene.wait(600);
    scene.watch(&cat, &["ann"]);
    scene.leave(&ann);
    scene.wait(600);
    let events = scene.take(&cat);
    assert!(
        matches!(
            events.as_slice(),
            [event!(presence::Presence { presence: Presence::Offline, last_seen: None, .. })]
        ),
        "{events:?}"
    );
    let told = |device: &Device| {
        let events = scene.ask(device, presence::Command::Watch { contacts: false, users: vec![sub("ann")] });
        matches!(events.as_slice(), [event!(presence::Presence { last_seen: Some(_), .. })])
    };
    assert!(told(&bob) && !told(&cat));
}

#[test]
fn the_audience_may_start_conversations_and_existing_ones_continue() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob, cat) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"), scene.sign_in("cat", "c"));
    scene.befriend(&ann, &bob);
    let lets = |write| ProfileChange { write: Some(write), ..ProfileChange::default() };
    change(&scene, &ann, lets(Audience::Contacts)).unwrap();
    assert_eq!(write(&scene, &cat, "ann", "c-1"), Err(Refusal::NotAllowed));
    assert_eq!(write(&scene, &ann, "cat", "a-1"), Ok(()));
    assert_eq!(write(&scene, &cat, "ann", "c-2"), Ok(()), "she has written first");
    change(&scene, &ann, lets(Audience::Nobody)).unwrap();
    assert_eq!(write(&scene, &bob, "ann", "b-1"), Err(Refusal::NotAllowed));
    assert_eq!(write(&scene, &cat, "ann", "c-3"), Ok(()));
    // The choice applies while she is away, and after a restart.
    scene.leave(&ann);
    scene.wait(600);
    assert_eq!(write(&scene, &bob, "ann", "b-2"), Err(Refusal::NotAllowed));
    scene.restart();
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    assert_eq!(write(&scene, &bob, "ann", "b-3"), Err(Refusal::NotAllowed));
    change(&scene, &ann, lets(Audience::Everybody)).unwrap();
    assert_eq!(write(&scene, &bob, "ann", "b-4"), Ok(()));
    // A moderator may write to everybody.
    change(&scene, &ann, lets(Audience::Nobody)).unwrap();
    let exp = (scene.now / 1000 + 3600) as f64;
    let claims =
        token::Claims { sub: "mia".into(), role: Some("moderator".into()), exp, ..Default::default() };
    let handle = scene.hello(Some(&scene.signed(&claims)), "m", None);
    let mia = scene.welcomed(handle);
    assert_eq!(write(&scene, &mia, "ann", "m-1"), Ok(()));
}

fn remove(scene: &Scene, device: &Device, messages: MessagesAfterErasure) -> Vec<Delivery> {
    scene.ask(device, Request::new(5, account::Command::Erase { messages }))
}

#[test]
fn removing_an_account_notifies_all_who_knew_the_member() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob, cat) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"), scene.sign_in("cat", "c"));
    let phone = scene.sign_in("ann", "phone");
    scene.befriend(&ann, &bob);
    let (id, _) = scene.post(&ann, to("bob"), "a-1", "secret").unwrap();
    scene.post(&bob, to("ann"), "b-1", "answer").unwrap();
    assert!(matches!(
        remove(&scene, &ann, MessagesAfterErasure::Erased)[..],
        [event!(Some(5), session::Refused(Refusal::NotAllowed))]
    ));
    set(&mut scene, "members.remove", "true");
    assert!(profile(&scene, &ann, None).unwrap().own.unwrap().may_remove);
    scene.take(&bob);
    scene.take(&phone);
    let received = remove(&scene, &ann, MessagesAfterErasure::Erased);
    assert!(matches!(received[..], [event!(session::Bye(Refusal::Removed))]), "{received:?}");
    assert!(matches!(scene.take(&phone)[..], [event!(session::Bye(Refusal::Removed))]));
    let received = scene.take(&bob);
    assert!(
        matches!(&received[..], [event!(None, contacts::Contact(contact))]
            if contact.person.sub == sub("ann") && contact.state == ContactState::None),
        "{received:?}"
    );
    scene.wait(1_000);
    let received = scene.take(&bob);
    let with = received.iter().find_map(|event| match event {
        event!(None, messages::Conversation(conversation)) => conversation.with.person(),
        _ => None,
    });
    let with = with.unwrap_or_else(|| panic!("{received:?}"));
    assert_eq!(&*with.name, "Deleted user");
    assert!(with.sub.as_str().starts_with("deleted-"));
    let renamed = received.iter().find_map(|event| match event {
        event!(account::Renamed(renamed)) => Some(renamed),
        _ => None,
    });
    let renamed = renamed.unwrap_or_else(|| panic!("{received:?}"));
    assert_eq!((renamed.former.as_str(), renamed.erased), ("ann", true), "one event for all messages");
    let history = Request::new(
        8,
        messages::Command::History {
            to: To::Conversation(id),
            before: None,
            after: None,
            thread: None,
            limit: None,
        },
    );
    match scene.ask(&bob, history).as_slice() {
        [event!(messages::History { messages, .. })] => {
            assert_eq!((messages[0].seq, messages[0].deleted, &*messages[0].body), (Seq(1), true, ""));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(scene.post(&bob, To::Conversation(id), "b-2", "Hello?"), Err(Refusal::NotAllowed));
    assert_eq!(profile(&scene, &cat, Some("ann")), Err(Refusal::NoSuchUser));
    let again = scene.sign_in("ann", "a");
    assert_eq!(again.welcome.changes.conversations.len(), 0, "somebody new");
}

#[test]
fn an_erasure_continues_after_a_crash() {
    let mut scene = Scene::new(Mode::Open);
    set(&mut scene, "members.remove", "true");
    set(&mut scene, "members.deleted_name", "Somebody");
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    for n in 0..120 {
        scene.post(&ann, to("bob"), &format!("a-{n}"), "secret").unwrap();
    }
    remove(&scene, &ann, MessagesAfterErasure::Erased);
    scene.wait(200);
    scene.restart();
    let bob = scene.sign_in("bob", bob.welcome.me.sub.as_str());
    scene.wait(2_000);
    let history = Request::new(
        1,
        messages::Command::History {
            to: scene_to(&bob),
            before: None,
            after: None,
            thread: None,
            limit: Some(50),
        },
    );
    match scene.ask(&bob, history).as_slice() {
        [event!(messages::History { messages, .. })] => assert!(messages.iter().all(|one| one.deleted)),
        other => panic!("{other:?}"),
    }
    let chat = &bob.welcome.changes.conversations[0];
    assert_eq!(&*chat.with.person().unwrap().name, "Somebody");
}

/// The only conversation.
fn scene_to(device: &Device) -> To {
    To::Conversation(device.welcome.changes.conversations[0].id)
}

fn devices(scene: &Scene, device: &Device, command: impl Into<Request>) -> Result<Vec<KnownDevice>, Refusal> {
    let received = scene.ask(device, command);
    match &received[..] {
        [event!(Some(6), account::Devices(devices)), ..] => Ok(devices.clone()),
        [event!(Some(6), session::Refused(refusal))] => Err(*refusal),
        other => panic!("no answer: {other:?}"),
    }
}

fn claims(scene: &Scene, times: impl FnOnce(&mut token::Claims)) -> String {
    let exp = (scene.now / 1000 + 3600) as f64;
    let mut claims = token::Claims { sub: "ann".into(), exp, ..Default::default() };
    times(&mut claims);
    scene.signed(&claims)
}

#[test]
fn a_device_that_was_signed_out_needs_a_newer_token() {
    let mut scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "laptop");
    assert_eq!(
        devices(&scene, &ann, Request::new(6, account::Command::ListDevices)),
        Err(Refusal::NotAllowed)
    );
    set(&mut scene, "members.devices", "true");
    let now = (scene.now / 1000) as f64;
    let old = claims(&scene, |one| one.iat = Some(now));
    let without = claims(&scene, |_| {});
    let handle = scene.hello(Some(&old), "phone", None);
    let phone = scene.welcomed(handle);
    let ann = scene.sign_in("ann", "laptop");
    scene.wait(5_000);
    let list = devices(&scene, &ann, Request::new(6, account::Command::ListDevices)).unwrap();
    assert_eq!(list.len(), 2);
    assert!(list.iter().all(|one| one.here && one.row.agent.browser == Browser::Firefox));
    let other = list.iter().find(|one| !one.this).unwrap().row.id;
    let sign_out = |device| Request::new(6, account::Command::SignOutDevice { device });
    assert_eq!(devices(&scene, &ann, sign_out(1)), Err(Refusal::NoSuchDevice));
    scene.take(&phone);
    assert_eq!(devices(&scene, &ann, sign_out(other)).unwrap().len(), 1);
    assert!(matches!(scene.take(&phone)[..], [event!(session::Bye(Refusal::SignedOut))]));
    let refused = |scene: &Scene, token: &str, device: &str| {
        let handle = scene.hello(Some(token), device, None);
        matches!(scene.inbox.take(handle)[..], [event!(session::Bye(Refusal::SignedOut))])
    };
    assert!(refused(&scene, &old, "phone"), "made before");
    assert!(refused(&scene, &without, "phone"), "it ends when the old one does");
    assert!(!refused(&scene, &old, "tablet"), "it holds elsewhere");
    let login = claims(&scene, |one| (one.iat, one.auth_time) = (Some(now + 5.0), Some(now)));
    assert!(refused(&scene, &login, "phone"), "the member has signed in on the site before");
    scene.wait(2_000);
    let fresh = claims(&scene, |one| one.iat = Some(now + 7.0));
    let handle = scene.hello(Some(&fresh), "phone", None);
    scene.welcomed(handle);
    assert_eq!(devices(&scene, &ann, Request::new(6, account::Command::ListDevices)).unwrap().len(), 3);
    // The own device: the end of the session is the answer.
    let own = devices(&scene, &ann, Request::new(6, account::Command::ListDevices)).unwrap();
    let own = own.iter().find(|one| one.this).unwrap().row.id;
    let received = scene.ask(&ann, sign_out(own));
    assert!(matches!(received[..], [event!(session::Bye(Refusal::SignedOut))]), "{received:?}");
}

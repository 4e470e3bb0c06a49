//! Contacts: the events for both sides, on sites of both modes.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use ContactAction::{Accept, Block, Decline, Remove, Request as Ask, Unblock};
use chat::SubscriptionAction as Direction;
use chat::*;
use scene::*;
use store::Sqlite;

/// States of contact events, as a device receives them.
fn received(scene: &Scene, device: &Device) -> Vec<(String, ContactState)> {
    let events = scene.take(device);
    let state = |event: &Delivery| match event {
        event!(None, contacts::Contact(contact)) => Some((contact.person.sub.to_string(), contact.state)),
        _ => None,
    };
    events.iter().filter_map(state).collect()
}

fn list(scene: &Scene, device: &Device) -> Vec<(String, ContactState)> {
    match scene.ask(device, Request::new(4, contacts::Command::List { page: PageOf::default() })).remove(0) {
        event!(Some(4), contacts::Contacts { contacts, next: None }) => {
            contacts.iter().map(|contact| (contact.sub.to_owned(), contact.state())).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_request_is_accepted() {
    let scene = Scene::new(Mode::Contacts);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, "d"));
    let ann_too = scene.sign_in("ann", "d2");
    assert_eq!(scene.contact(&ann, Ask, "bob"), Ok(ContactState::RequestSent));
    assert_eq!(received(&scene, &ann_too), [("bob".into(), ContactState::RequestSent)]);
    assert_eq!(received(&scene, &bob), [("ann".into(), ContactState::RequestReceived)]);
    assert_eq!(scene.post(&ann, to("bob"), "m", "x"), Err(Refusal::NotAllowed), "not yet");

    assert_eq!(scene.contact(&bob, Accept, "ann"), Ok(ContactState::Contact));
    assert_eq!(received(&scene, &ann), [("bob".into(), ContactState::Contact)]);
    assert!(scene.post(&ann, to("bob"), "m", "x").is_ok());
    assert_eq!(list(&scene, &bob), [("ann".into(), ContactState::Contact)]);

    assert_eq!(scene.contact(&bob, Remove, "ann"), Ok(ContactState::None));
    assert_eq!(received(&scene, &ann), [("bob".into(), ContactState::None)]);
    assert_eq!(scene.post(&ann, to("bob"), "m2", "x"), Err(Refusal::NotAllowed));
    assert_eq!((list(&scene, &ann), list(&scene, &bob)), (vec![], vec![]));
}

#[test]
fn mutual_requests_make_contacts() {
    let scene = Scene::with(Mode::Contacts, config(), Sqlite::by_turns());
    let handles = ["ann", "bob"].map(|user| scene.hello(Some(&scene.token(user)), "d", None));
    scene.store.run();
    let [ann, bob] = handles.map(|handle| scene.welcomed(handle));
    // Two simultaneous requests: neither may overwrite the other.
    scene.command(&ann, Request::new(1, contacts::Command::Change { action: Ask, user: sub("bob") }));
    scene.command(&bob, Request::new(2, contacts::Command::Change { action: Ask, user: sub("ann") }));
    while scene.store.turns() > 0 {
        scene.store.turn(scene.store.turns() - 1);
    }
    let last = |device: &Device| match scene.take(device).pop() {
        Some(event!(contacts::Contact(contact))) => contact.state,
        other => panic!("{other:?}"),
    };
    assert_eq!((last(&ann), last(&bob)), (ContactState::Contact, ContactState::Contact));
}

#[test]
fn a_declined_request_stays_sent_for_its_author() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, "d"));
    scene.contact(&ann, Ask, "bob").unwrap();
    scene.take(&bob);
    assert_eq!(scene.contact(&bob, Decline, "ann"), Ok(ContactState::None));
    assert_eq!(received(&scene, &ann), []);
    assert_eq!(scene.contact(&ann, Ask, "bob"), Ok(ContactState::RequestSent), "again");
    assert_eq!(received(&scene, &bob), [], "is not told again");
    assert_eq!(scene.contact(&bob, Accept, "ann"), Err(Refusal::BadValue), "nothing to accept any more");
    assert_eq!(scene.contact(&bob, Ask, "ann"), Ok(ContactState::Contact), "but asking is agreeing");
}

#[test]
fn a_block_looks_like_a_removal_or_an_absence() {
    let mut scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, "d"));
    scene.wait(600);
    scene.befriend(&ann, &bob);
    let (conversation, seq) = scene.post(&bob, to("ann"), "m0", "hello").unwrap();
    assert_eq!(scene.watch(&bob, &["ann"]), [("ann".into(), Presence::Online)]);
    scene.take(&ann);

    assert_eq!(scene.contact(&ann, Block, "bob"), Ok(ContactState::Blocked));
    let events = scene.take(&bob);
    let [
        event!(None, contacts::Contact(contact)),
        event!(presence::Presence { presence: Presence::Offline, last_seen: None, .. }),
    ] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(contact.state, ContactState::None);
    assert_eq!(contact.person.presence, Some(Presence::Offline));

    // No message passes in either direction; the answer is the usual one.
    assert_eq!(scene.post(&bob, to("ann"), "m1", "x"), Err(Refusal::NotAllowed));
    assert_eq!(scene.post(&ann, to("bob"), "m1", "x"), Err(Refusal::NotAllowed));
    scene.command(&ann, messages::Command::Mark { conversation, set: MarkerSet::Read(seq) });
    scene.command(&ann, presence::Command::Set(SetPresence::Busy));
    scene.command(&ann, messages::Command::Typing { to: to("bob"), on: true });
    scene.wait(600);
    assert!(scene.take(&bob).is_empty());
    assert_eq!(scene.watch(&bob, &["ann"]), [("ann".into(), Presence::Offline)]);
    // A request by the blocked user has no effect and shows no difference.
    assert_eq!(scene.contact(&bob, Ask, "ann"), Ok(ContactState::RequestSent));
    assert_eq!(received(&scene, &ann), []);
    assert_eq!(scene.contact(&ann, Ask, "bob"), Err(Refusal::NotAllowed), "unblock first");

    assert_eq!(scene.contact(&ann, Unblock, "bob"), Ok(ContactState::None));
    assert_eq!(presences(&scene.take(&bob)), [("ann".into(), Presence::Busy)]);
    assert!(scene.post(&bob, to("ann"), "m1", "x").is_ok());
}

#[test]
fn strange_requests() {
    let mut config = config();
    config.limits.contacts = 2;
    let scene = Scene::with(Mode::Open, config, Sqlite::in_memory());
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, "d"));
    for user in ["cat", "dan"] {
        scene.sign_in(user, "d");
    }
    assert_eq!(scene.contact(&ann, Ask, "ann"), Err(Refusal::BadValue));
    assert_eq!(scene.contact(&ann, Ask, "zoe"), Err(Refusal::NoSuchUser));
    assert_eq!(scene.contact(&ann, Remove, "bob"), Ok(ContactState::None), "as it was");
    assert!(scene.take(&bob).is_empty());
    for user in ["bob", "cat"] {
        scene.contact(&ann, Ask, user).unwrap();
    }
    assert_eq!(scene.contact(&ann, Ask, "dan"), Err(Refusal::TooManyContacts));
    assert_eq!(scene.contact(&ann, Ask, "bob"), Ok(ContactState::RequestSent), "has its row");
    assert_eq!(scene.contact(&ann, Block, "dan"), Ok(ContactState::Blocked), "always possible");
    assert_eq!(scene.contact(&ann, Unblock, "dan"), Ok(ContactState::None));
    scene.contact(&ann, Remove, "cat").unwrap();
    assert_eq!(scene.contact(&ann, Ask, "dan"), Ok(ContactState::RequestSent));
}

#[test]
fn people_and_profiles() {
    let mut scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "d");
    for user in ["bob", "bart", "cat", "out"] {
        let device = scene.sign_in(user, "d");
        if user == "out" {
            scene.store.set_banned(device.session.user, true, Box::new(|_| ()));
        }
        if user == "cat" {
            scene.leave(&device);
        }
    }
    scene.wait(600);
    let people = |query: Option<&str>, after: Option<String>, limit| {
        let command = Request::new(
            1,
            contacts::Command::ListPeople { query: query.map(Into::into), page: PageOf { after, limit } },
        );
        match scene.ask(&ann, command).remove(0) {
            event!(Some(1), contacts::People { people, next }) => {
                Ok((people.iter().map(|p| (p.sub.to_string(), p.presence)).collect::<Vec<_>>(), next))
            }
            event!(Some(1), session::Refused(refusal)) => Err(refusal),
            other => panic!("{other:?}"),
        }
    };
    let here = |name: &str| (name.to_string(), Some(Presence::Online));
    let gone = |name: &str| (name.to_string(), Some(Presence::Offline));
    assert_eq!(people(None, None, None), Ok((vec![here("bart"), here("bob"), gone("cat")], None)));
    assert_eq!(people(Some("B"), None, None).unwrap().0, [here("bart"), here("bob")]);
    let (first, next) = people(Some("b"), None, Some(1)).unwrap();
    assert_eq!((first, people(Some("b"), next, Some(1)).unwrap().0), (vec![here("bart")], vec![here("bob")]));
    assert_eq!(people(None, None, Some(0)).unwrap().0.len(), 0, "a page of one: oneself, left out");

    let users = ["cat", "zoe", "bob"].map(sub).to_vec();
    let profiles = scene.ask(&ann, Request::new(2, contacts::Command::Profiles { users })).remove(0);
    let event!(Some(2), contacts::Profiles(people)) = profiles else { panic!("{profiles:?}") };
    assert_eq!(people.len(), 2, "unknown ids are left out");
    let too_many = (0..51).map(|n| sub(&n.to_string())).collect();
    let answer = scene.ask(&ann, Request::new(3, contacts::Command::Profiles { users: too_many })).remove(0);
    assert!(matches!(answer, event!(Some(3), session::Refused(Refusal::BadValue))));
}

#[test]
fn mode_contacts_has_no_directory() {
    let mut scene = Scene::new(Mode::Contacts);
    let [ann, bob, cat] = ["ann", "bob", "cat"].map(|user| scene.sign_in(user, "d"));
    scene.befriend(&ann, &bob);
    scene.wait(600);
    let people = |query: Option<&str>| {
        let command = Request::new(
            1,
            contacts::Command::ListPeople { query: query.map(Into::into), page: PageOf::default() },
        );
        match scene.ask(&ann, command).remove(0) {
            event!(contacts::People { people, .. }) => {
                Ok(people.iter().map(|p| (p.sub.to_string(), p.presence)).collect::<Vec<_>>())
            }
            event!(session::Refused(refusal)) => Err(refusal),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(people(None), Err(Refusal::NotAllowed));
    assert_eq!(people(Some("")), Err(Refusal::NotAllowed));
    assert_eq!(people(Some("ca")), Ok(vec![]));
    assert_eq!(people(Some("cat")), Ok(vec![("cat".into(), None)]), "whoever knows the id may ask");
    assert_eq!(people(Some("bob")), Ok(vec![("bob".into(), Some(Presence::Online))]));
    assert_eq!(scene.watch(&ann, &["bob", "cat"]), [("bob".into(), Presence::Online)]);
    // A new contact's presence is sent; after the removal it is hidden.
    scene.befriend_while_watched(&ann, &cat);
    assert_eq!(scene.contact(&cat, Remove, "ann"), Ok(ContactState::None));
    assert_eq!(presences(&scene.take(&ann)), [("cat".into(), Presence::Offline)]);
}

#[test]
fn presence_follows_the_direction_and_messages_go_both_ways() {
    let mut scene = Scene::new(Mode::Contacts);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, "d"));
    scene.wait(600);
    assert_eq!(scene.subscribe(&ann, Direction::Ask, "bob").unwrap().state(), ContactState::RequestSent);
    assert_eq!(received(&scene, &bob), [("ann".into(), ContactState::RequestReceived)]);
    assert_eq!(scene.post(&ann, to("bob"), "m1", "x"), Err(Refusal::NotAllowed), "not yet");
    let side = scene.subscribe(&bob, Direction::LetIn, "ann").unwrap();
    assert!(side.is_seen() && !side.sees());
    scene.take(&ann);

    assert_eq!(scene.watch(&ann, &["bob"]), [("bob".into(), Presence::Online)]);
    assert_eq!(scene.watch(&bob, &["ann"]), []);
    scene.command(&ann, presence::Command::Set(SetPresence::Away));
    scene.command(&bob, presence::Command::Set(SetPresence::Busy));
    scene.wait(600);
    assert_eq!(presences(&scene.take(&ann)), [("bob".into(), Presence::Busy)]);
    assert_eq!(presences(&scene.take(&bob)), []);
    assert!(scene.post(&ann, to("bob"), "m1", "x").is_ok());
    assert!(scene.post(&bob, to("ann"), "m1", "x").is_ok());
    scene.take(&ann);
    scene.take(&bob);
    // Typing reveals that somebody is here.
    scene.command(&ann, messages::Command::Typing { to: to("bob"), on: true });
    scene.command(&bob, messages::Command::Typing { to: to("ann"), on: true });
    assert_eq!((scene.take(&ann).len(), scene.take(&bob).len()), (1, 0));

    // The user who is seen may end it alone.
    scene.subscribe(&bob, Direction::Refuse, "ann").unwrap();
    assert_eq!(presences(&scene.take(&ann)), [("bob".into(), Presence::Offline)]);
    assert_eq!(scene.watch(&ann, &["bob"]), []);
    assert_eq!(scene.post(&ann, to("bob"), "m2", "x"), Err(Refusal::NotAllowed));
}

#[test]
fn a_user_who_only_asks_sees_nothing() {
    let scene = Scene::new(Mode::Contacts);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, "d"));
    for _ in 0..20 {
        scene.subscribe(&ann, Direction::Ask, "bob").unwrap();
    }
    assert_eq!(received(&scene, &bob).len(), 1, "bob is asked once");
    assert_eq!(scene.watch(&ann, &["bob"]), []);
    scene.subscribe(&bob, Direction::Refuse, "ann").unwrap();
    assert_eq!(received(&scene, &ann), [], "a refusal is not told");
    let asked = scene.subscribe(&ann, Direction::Ask, "bob").unwrap();
    scene.contact(&bob, Block, "ann").unwrap();
    assert_eq!(received(&scene, &ann), [], "nor a block");
    assert_eq!(scene.subscribe(&ann, Direction::Ask, "bob"), Ok(asked), "and both look alike");
    assert_eq!(scene.subscribe(&ann, Direction::LetIn, "bob").map(Side::is_seen), Ok(false));
    assert_eq!(received(&scene, &bob), []);
    assert_eq!(scene.subscribe(&bob, Direction::Ask, "ann"), Err(Refusal::NotAllowed), "unblock first");
}

#[test]
fn names_and_groups_are_of_the_user_alone() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, "d"));
    let ann_too = scene.sign_in("ann", "d2");
    let kept = scene.keep(&ann, "bob", note("\u{202e}Bobby\n", &["Friends", "Work"])).unwrap();
    let wanted = Some(Box::new(note("Bobby", &["Friends", "Work"])));
    assert_eq!((kept.state, kept.note.clone()), (ContactState::None, wanted.clone()));
    assert!(kept.side.is_on_list() && !kept.side.is_contact());
    let notes = |device: &Device| {
        let events = scene.take(device).into_iter();
        let note = |event| match event {
            event!(None, contacts::Contact(contact)) => Some(contact.note),
            _ => None,
        };
        events.filter_map(note).collect::<Vec<_>>()
    };
    assert_eq!((notes(&ann_too), scene.take(&bob).len()), (vec![wanted.clone()], 0));
    // They stay with later changes, and the other user never gets them.
    scene.befriend_quietly(&ann, &bob);
    assert_eq!(notes(&bob).into_iter().flatten().count(), 0);
    let listed = |device: &Device| match scene.ask(device, Request::new(4, LIST)).remove(0) {
        event!(contacts::Contacts { contacts, .. }) => contacts.get(0).unwrap().contact().note,
        other => panic!("{other:?}"),
    };
    assert_eq!((listed(&ann), listed(&bob)), (wanted, None));
    // The display name is no own name: a later one would not show.
    assert_eq!(scene.keep(&ann, "bob", note(&bob.welcome.me.name, &[])).unwrap().note, None);
    scene.keep(&ann, "bob", note("Bobby", &[])).unwrap();
    scene.contact(&ann, Remove, "bob").unwrap();
    assert_eq!(scene.keep(&ann, "bob", ContactNote::default()).unwrap().note, None, "forgotten");
}

#[test]
fn a_new_name_keeps_the_groups_and_needs_an_entry() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, "d"));
    let ann_too = scene.sign_in("ann", "d2");
    assert_eq!(scene.rename(&ann, "bob", Some("B")).err(), Some(Refusal::NotAllowed), "bob is on no list");
    scene.befriend_quietly(&ann, &bob);
    scene.keep(&ann, "bob", note("Bobby", &["Work"])).unwrap();
    let [before, _] = [scene.take(&ann_too), scene.take(&bob)];
    assert!(!before.is_empty());
    let renamed = scene.rename(&ann, "bob", Some("\u{202e}Bo\n")).unwrap();
    let wanted = Some(Box::new(note("Bo", &["Work"])));
    assert_eq!((renamed.state, renamed.note), (ContactState::Contact, wanted.clone()));
    let [event!(None, contacts::Contact(other_device))] = &scene.take(&ann_too)[..] else {
        panic!("one event")
    };
    assert_eq!((&other_device.note, scene.take(&bob).len()), (&wanted, 0));
    let again = scene.sign_in("ann", "d3");
    assert_eq!(again.welcome.changes.contacts.get(0).unwrap().contact().note, wanted);
    let theirs = scene.sign_in("bob", "d2");
    assert_eq!(theirs.welcome.changes.contacts.get(0).unwrap().contact().note, None);
    let cleared = |name| scene.rename(&ann, "bob", name).unwrap().note.map(|note| *note);
    let groups_alone = Some(ContactNote { name: None, ..note("", &["Work"]) });
    assert_eq!(cleared(None), groups_alone);
    assert_eq!(cleared(Some(&bob.welcome.me.name)), groups_alone, "the display name is no own name");
    assert_eq!(scene.rename(&ann, "bob", Some(&"x".repeat(65))).err(), Some(Refusal::BadValue));
    assert_eq!(scene.rename(&ann, "ann", Some("me")).err(), Some(Refusal::BadValue));
    scene.contact(&ann, Block, "bob").unwrap();
    assert_eq!(scene.rename(&ann, "bob", Some("B")).err(), Some(Refusal::NotAllowed));
}

#[test]
fn names_and_groups_are_bounded() {
    let mut config = config();
    config.limits.contacts = 2;
    let scene = Scene::with(Mode::Open, config, Sqlite::in_memory());
    let ann = scene.sign_in("ann", "d");
    for user in ["bob", "cat", "dan"] {
        scene.sign_in(user, "d");
    }
    let groups: Vec<String> = (0..=MOST_GROUPS).map(|group| group.to_string()).collect();
    let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
    assert_eq!(scene.keep(&ann, "bob", note("B", &groups)).err(), Some(Refusal::BadValue));
    assert_eq!(scene.keep(&ann, "bob", note(&"x".repeat(100_000), &[])).err(), Some(Refusal::BadValue));
    assert_eq!(scene.keep(&ann, "ann", note("me", &[])).err(), Some(Refusal::BadValue));
    assert_eq!(scene.keep(&ann, "zoe", note("Z", &[])).err(), Some(Refusal::NoSuchUser));
    for user in ["bob", "cat", "cat"] {
        scene.keep(&ann, user, note("N", &groups[1..])).unwrap();
    }
    assert_eq!(scene.keep(&ann, "dan", note("D", &[])).err(), Some(Refusal::TooManyContacts));
    scene.contact(&ann, Remove, "cat").unwrap();
    assert!(scene.keep(&ann, "dan", note("D", &[])).is_ok());
    scene.contact(&ann, Block, "dan").unwrap();
    assert_eq!(scene.keep(&ann, "dan", note("D", &[])).err(), Some(Refusal::NotAllowed));
}

#[test]
fn a_client_reads_what_has_changed() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, "d"));
    let since = ann.welcome.changes.position;
    let changed =
        |since| match scene.ask(&ann, Request::new(5, contacts::Command::Changed { since })).remove(0) {
            event!(Some(5), contacts::Changed(contacts)) => contacts.map(|contacts| {
                contacts.iter().map(|one| (one.sub.to_owned(), one.side)).collect::<Vec<_>>()
            }),
            other => panic!("{other:?}"),
        };
    assert_eq!(changed(since), Some(vec![]));
    scene.keep(&ann, "bob", note("B", &[])).unwrap();
    assert_eq!(changed(since), Some(vec![("bob".into(), Side::LISTED)]));
    scene.contact(&ann, Remove, "bob").unwrap();
    scene.contact(&bob, Ask, "ann").unwrap();
    assert_eq!(changed(since), Some(vec![("bob".into(), Side::ASKS)]));
    assert_eq!(changed(Position { epoch: since.epoch ^ 1, ..since }), None, "of another database");
    assert_eq!(changed(Position { number: u64::MAX, ..since }), None);
}

#[test]
fn guests_and_banned_users_begin_nothing() {
    let scene = Scene::new(Mode::Open);
    let [ann, out] = ["ann", "out"].map(|user| scene.sign_in(user, "d"));
    scene.store.set_banned(out.session.user, true, Box::new(|_| ()));
    for direction in [Direction::Ask, Direction::LetIn] {
        assert_eq!(scene.subscribe(&ann, direction, "out"), Err(Refusal::NotAllowed));
    }
    assert_eq!(scene.keep(&ann, "out", ContactNote::default()).err(), Some(Refusal::NotAllowed));
}

const LIST: contacts::Command = contacts::Command::List { page: PageOf { after: None, limit: None } };

fn note(name: &str, groups: &[&str]) -> ContactNote {
    ContactNote { name: Some(name.into()), groups: groups.iter().map(|group| (*group).into()).collect() }
}

impl Scene {
    fn subscribe(&self, device: &Device, action: Direction, user: &str) -> Result<Side, Refusal> {
        let command = contacts::Command::Subscribe { action, user: sub(user) };
        self.changed(device, command).map(|contact| contact.side)
    }

    fn keep(&self, device: &Device, user: &str, note: ContactNote) -> Result<Contact, Refusal> {
        self.changed(device, contacts::Command::Keep { user: sub(user), note })
    }

    fn rename(&self, device: &Device, user: &str, name: Option<&str>) -> Result<Contact, Refusal> {
        self.changed(device, contacts::Command::Rename { user: sub(user), name: name.map(Into::into) })
    }

    fn changed(&self, device: &Device, command: contacts::Command) -> Result<Contact, Refusal> {
        match self.ask(device, Request::new(9, command)).as_slice() {
            [event!(Some(9), contacts::Contact(contact)), ..] => Ok(Contact::clone(contact)),
            [event!(Some(9), session::Refused(refusal))] => Err(*refusal),
            other => panic!("no answer about a contact: {other:?}"),
        }
    }

    fn befriend_quietly(&self, a: &Device, b: &Device) {
        self.contact(a, Ask, b.welcome.me.sub.as_str()).unwrap();
        self.contact(b, Accept, a.welcome.me.sub.as_str()).unwrap();
    }

    fn befriend_while_watched(&self, a: &Device, b: &Device) {
        self.contact(a, Ask, b.welcome.me.sub.as_str()).unwrap();
        self.take(a);
        self.contact(b, Accept, a.welcome.me.sub.as_str()).unwrap();
        assert_eq!(presences(&self.take(a)), [(b.welcome.me.sub.to_string(), Presence::Online)]);
    }
}

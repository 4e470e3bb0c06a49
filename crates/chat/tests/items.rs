//! Items of users: who reads them, who is notified, and what a hostile user can cost others.

use crate::scene;

use chat::items::{
    Command, Event as Of, ItemAccess, ItemChange, ItemListChange, ItemNews, ItemsOf, LatestItems, PutItem,
};
use chat::presence::Availability;
use chat::*;
use scene::*;
use store::Sqlite;

fn item(list: &str, payload: &str, access: Option<ItemAccess>) -> Command {
    let requires = ItemListChange { access, ..ItemListChange::default() };
    let default = ItemAccess::Contacts;
    Command::Put(PutItem { list: list.into(), id: "i".into(), payload: payload.into(), requires, default })
}

fn put(
    scene: &Scene,
    device: &Device,
    list: &str,
    payload: &str,
    access: Option<ItemAccess>,
) -> Result<(), Refusal> {
    outcome(scene.ask(device, Request::new(9, item(list, payload, access))))
}

/// The answer to request 9, without events that come with it.
fn outcome(events: Vec<Delivery>) -> Result<(), Refusal> {
    for event in events {
        match event {
            event!(Some(9), account::Items(_)) => return Ok(()),
            event!(Some(9), session::Refused(refusal)) => return Err(refusal),
            _ => {}
        }
    }
    panic!("no answer");
}

fn read(scene: &Scene, device: &Device, of: &str, list: &str) -> Result<Vec<String>, Refusal> {
    let command = Command::Read { user: Some(sub(of)), list: list.into(), of: ItemsOf::Newest(None) };
    for event in scene.ask(device, Request::new(9, command)) {
        match event {
            event!(Some(9), account::Items(Of::Items(page))) => {
                let payloads = page.items.into_iter().map(|item| item.payload.unwrap().into_string());
                return Ok(payloads.collect());
            }
            event!(Some(9), session::Refused(refusal)) => return Err(refusal),
            _ => {}
        }
    }
    panic!("no answer");
}

/// `user list change` of each notice.
fn noticed(scene: &Scene, device: &Device) -> Vec<String> {
    let mut notices = Vec::new();
    for event in scene.take(device) {
        let event!(account::Items(Of::Changed(news))) = event else { continue };
        let ItemNews { user, list, change } = &*news;
        let change = match change {
            ItemChange::Put(item) => item.payload.as_deref().unwrap_or("-").to_owned(),
            ItemChange::Deleted { id } => format!("without {id}"),
            ItemChange::Emptied => "emptied".into(),
            ItemChange::ListDeleted => "deleted".into(),
        };
        notices.push(format!("{} {list} {change}", user.as_str()));
    }
    notices
}

fn app(scene: &Scene, user: &str) -> Device {
    let device = scene.sign_in_announced(user, "phone", Some(Availability::default()));
    scene.command(&device, presence::Command::Watch { contacts: true, users: Vec::new() });
    device
}

/// Ann and Bob are contacts, and Eve is a stranger. Each has an app.
fn three(mode: Mode) -> (Scene, [Device; 3]) {
    let mut scene = Scene::new(mode);
    let devices = ["ann", "bob", "eve"].map(|user| app(&scene, user));
    scene.befriend(&devices[0], &devices[1]);
    scene.wait(600);
    devices.iter().for_each(|device| drop(scene.take(device)));
    (scene, devices)
}

#[test]
fn contacts_with_apps_are_notified_and_strangers_learn_nothing() {
    let (scene, [ann, bob, eve]) = three(Mode::Open);
    let widget = scene.sign_in("bob", "tab");
    scene.take(&widget);
    put(&scene, &ann, "mood", "happy", None).unwrap();
    assert_eq!(noticed(&scene, &bob), ["ann mood happy"]);
    assert!(scene.take(&widget).is_empty(), "the widget has no use for it");
    assert!(scene.take(&eve).is_empty());
    assert_eq!(read(&scene, &bob, "ann", "mood"), Ok(vec!["happy".into()]));
    let nothing = Err(Refusal::NoSuchItem);
    assert_eq!(read(&scene, &eve, "ann", "mood"), nothing);
    assert_eq!(read(&scene, &eve, "ann", "none"), nothing, "as a list that does not exist");
    assert_eq!(read(&scene, &eve, "nobody", "mood"), nothing, "as a user who does not exist");
    let lists =
        |of: &str| outcome(scene.ask(&eve, Request::new(9, Command::ReadLists { user: Some(sub(of)) })));
    assert_eq!((lists("ann"), lists("nobody")), (Err(Refusal::NoSuchItem), Err(Refusal::NoSuchItem)));

    put(&scene, &ann, "keys", "k", Some(ItemAccess::Everybody)).unwrap();
    assert_eq!(read(&scene, &eve, "ann", "keys"), Ok(vec!["k".into()]));
    assert!(scene.take(&eve).is_empty(), "others read, and get no notices");
    scene.take(&bob);
    put(&scene, &ann, "own", "o", Some(ItemAccess::Nobody)).unwrap();
    assert!(noticed(&scene, &bob).is_empty());
    assert_eq!(read(&scene, &bob, "ann", "own"), nothing);
    scene.command(
        &ann,
        Request::new(9, Command::Delete { list: "mood".into(), id: "i".into(), notify: true }),
    );
    scene.command(&ann, Request::new(9, Command::DeleteList { list: "mood".into() }));
    assert_eq!(noticed(&scene, &bob), ["ann mood without i", "ann mood deleted"]);
}

#[test]
fn where_only_contacts_see_each_other_nobody_else_reads() {
    let (scene, [ann, bob, eve]) = three(Mode::Contacts);
    put(&scene, &ann, "keys", "k", Some(ItemAccess::Everybody)).unwrap();
    assert_eq!(read(&scene, &bob, "ann", "keys"), Ok(vec!["k".into()]));
    assert_eq!(read(&scene, &eve, "ann", "keys"), Err(Refusal::NoSuchItem));
}

#[test]
fn a_blocked_user_sees_nothing() {
    let (mut scene, [ann, bob, _]) = three(Mode::Open);
    put(&scene, &ann, "keys", "k", Some(ItemAccess::Everybody)).unwrap();
    scene.contact(&ann, ContactAction::Block, "bob").unwrap();
    scene.wait(600);
    scene.take(&bob);
    put(&scene, &ann, "mood", "secret", None).unwrap();
    assert!(noticed(&scene, &bob).is_empty());
    assert_eq!(read(&scene, &bob, "ann", "keys"), Err(Refusal::NoSuchItem));
    assert_eq!(read(&scene, &ann, "bob", "keys"), Err(Refusal::NoSuchItem), "in both directions");
}

#[test]
fn an_invisible_user_is_not_revealed_by_a_change() {
    let (mut scene, [ann, bob, _]) = three(Mode::Open);
    scene.command(&ann, presence::Command::Set(SetPresence::Invisible));
    scene.wait(600);
    scene.take(&bob);
    scene.take(&ann);
    put(&scene, &ann, "mood", "hidden", None).unwrap();
    assert!(noticed(&scene, &bob).is_empty());
    assert_eq!(read(&scene, &bob, "ann", "mood"), Ok(vec!["hidden".into()]), "it is stored");
}

#[test]
fn published_items_pass_the_filters_and_private_ones_are_never_opened() {
    let (scene, [ann, ..]) = three(Mode::Open);
    let site = scene.store.sites().unwrap().remove(0);
    let settings = site.settings.with("filters.words", r#"["scam"]"#).unwrap();
    scene.store.set_settings(site.id, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
    assert_eq!(put(&scene, &ann, "mood", "a scam", None), Err(Refusal::Filtered));
    assert_eq!(put(&scene, &ann, "scam", "x", None), Err(Refusal::Filtered), "the name of a list, too");
    put(&scene, &ann, "own", "a scam", Some(ItemAccess::Nobody)).unwrap();
    let open = ItemListChange { access: Some(ItemAccess::Everybody), ..ItemListChange::default() };
    let configure = Command::Configure { list: "own".into(), creates: false, change: open };
    assert_eq!(outcome(scene.ask(&ann, Request::new(9, configure))), Err(Refusal::NotAllowed));
}

#[test]
fn guests_have_no_items() {
    let scene = Scene::new(Mode::Open);
    let guest = scene.sign_in_guest("g");
    assert_eq!(put(&scene, &guest, "mood", "x", None), Err(Refusal::NotAllowed));
}

#[test]
fn changes_have_a_rate_of_their_own() {
    let mut config = config();
    config.limits.requests = RequestRates { user_per_minute: 80, ..RequestRates::UNLIMITED };
    let scene = Scene::with(Mode::Open, config, Sqlite::in_memory());
    let ann = scene.sign_in("ann", "a");
    let stored = (0..100).take_while(|_| put(&scene, &ann, "mood", "x", None).is_ok()).count();
    assert_eq!(stored, 5, "a burst, although other commands have no limit here");
    assert_eq!(read(&scene, &ann, "ann", "mood"), Ok(vec!["x".into()]));
}

#[test]
fn names_and_values_have_bounds() {
    let scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    let long = "x".repeat(items::ITEM_BYTES + 1);
    for (list, payload) in
        [("", "x"), (&*"l".repeat(items::ITEM_NAME_BYTES + 1), "x"), ("a\0", "x"), ("l", &*long)]
    {
        assert_eq!(put(&scene, &ann, list, payload, None), Err(Refusal::BadValue));
    }
    let lists = vec!["l".into(); items::MOST_LATEST_LISTS + 1];
    let latest = Command::ReadLatest(LatestItems { lists, only: None, after: None });
    assert_eq!(outcome(scene.ask(&ann, Request::new(9, latest))), Err(Refusal::BadValue));
}

#[test]
fn a_long_value_is_not_sent_to_all_contacts() {
    let (scene, [ann, bob, _]) = three(Mode::Open);
    put(&scene, &ann, "picture", &"x".repeat(items::ITEM_NOTICE_BYTES + 1), None).unwrap();
    assert_eq!(noticed(&scene, &bob), ["ann picture -"]);
}

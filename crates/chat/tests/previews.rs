//! Links that get a preview: those in messages that others see, on sites with previews, and no others.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::sync::{Arc, Mutex};

use chat::token::Claims;
use chat::*;
use scene::*;

const ON: (&str, &str) = ("previews.on", "true");

fn with(settings: &[(&str, &str)]) -> (Scene, Arc<Wishes>) {
    let scene = Scene::new(Mode::Open);
    let wishes = Arc::new(Wishes::default());
    scene.node.preview_by(wishes.clone());
    set(&scene, settings);
    (scene, wishes)
}

fn set(scene: &Scene, settings: &[(&str, &str)]) {
    let site = scene.store.sites().unwrap().remove(0);
    let now = settings.iter().fold(site.settings, |now, (path, value)| now.with(path, value).unwrap());
    scene.store.set_settings(site.id, &now).unwrap();
    scene.node.refresh_sites().unwrap();
}

fn moderator(scene: &Scene) -> Device {
    let exp = (scene.now / 1000 + 3600) as f64;
    let claims = Claims { sub: "mia".into(), role: Some("moderator".into()), exp, ..Claims::default() };
    scene.welcomed(scene.hello(Some(&scene.signed(&claims)), "mia-1", None))
}

fn moderate(scene: &Scene, moderator: &Device, act: Moderate) {
    let received = scene.ask(moderator, Request::new(5, moderation::Command::Act(act)));
    assert!(
        received.iter().any(|event| matches!(event, event!(Some(5), moderation::Moderated(_)))),
        "{received:?}"
    );
}

/// Keeps the requested previews.
#[derive(Default)]
struct Wishes(Mutex<Vec<PreviewWanted>>);

impl Wishes {
    fn take(&self) -> Vec<PreviewWanted> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn urls(&self) -> Vec<String> {
        self.take().into_iter().map(|wanted| wanted.url.into()).collect()
    }
}

impl Previewer for Wishes {
    fn wanted(&self, wanted: PreviewWanted) {
        self.0.lock().unwrap().push(wanted);
    }
}

#[test]
fn links_are_previewed_on_sites_with_previews() {
    let (scene, wishes) = with(&[]);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let link = "https://example.org/lake";
    scene.post(&ann, to("bob"), "a-1", link).unwrap();
    assert!(wishes.take().is_empty(), "not unless it is switched on");
    set(&scene, &[ON]);
    let (id, seq) = scene.post(&ann, to("bob"), "a-2", "look: https://example.org/lake.").unwrap();
    scene.post(&ann, to("bob"), "a-3", "no link").unwrap();
    let wished = wishes.take();
    assert_eq!(wished.len(), 1);
    assert_eq!((wished[0].conversation, wished[0].seq, &*wished[0].url), (id, seq, link));
    for device in [&ann, &bob] {
        scene.take(device);
    }
    let [url, title, description, name] = [link, "A new lake", "", ""].map(Box::from);
    let found = NewPreview { url, title, description, site: name, picture: None };
    let (sender, answer) = std::sync::mpsc::channel();
    let put = |wanted: &PreviewWanted| {
        let sender = sender.clone();
        let then = move |is_there| sender.send(is_there).unwrap();
        scene.node.put_preview(wanted.clone(), found.clone(), scene.now(), then);
        answer.try_recv().unwrap()
    };
    assert!(put(&wished[0]));
    for device in [&ann, &bob] {
        let [event!(None, messages::Update { message, by, .. })] = &scene.take(device)[..] else {
            panic!("one each")
        };
        let preview = message.rich.as_ref().unwrap().preview.as_ref().unwrap();
        assert_eq!((&*preview.title, by.as_str()), ("A new lake", "ann"));
    }
    assert!(!put(&wished[0]), "it is there");
    let gone = PreviewWanted { seq: Seq(99), ..wished[0].clone() };
    assert!(!put(&gone));
    assert!(scene.take(&bob).is_empty());
    let change = MessageChange::Preview(None);
    let dropped =
        scene.ask(&ann, Request::new(5, messages::Command::Change { conversation: id, seq, change }));
    let [event!(Some(5), messages::Counts { counts, .. })] = &dropped[..] else { panic!("{dropped:?}") };
    assert!(!counts.preview, "the flag, and not the whole message");
    let received = scene.take(&bob);
    assert!(
        matches!(&received[..], [event!(None, messages::Counts { counts, .. })] if !counts.preview),
        "{received:?}"
    );
}

#[test]
fn held_links_are_fetched_after_approval() {
    let (scene, wishes) = with(&[ON, ("filters.words", r#"["casino"]"#), ("filters.words_act", "hold")]);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let mia = moderator(&scene);
    for (id, whom) in [("1", to("bob")), ("2", To::Conversation(room(&scene, &ann)))] {
        scene.send(&ann, whom, id, "The casino: https://example.org/fire");
        assert!(scene.take(&ann).iter().any(|event| matches!(event, event!(messages::Held(_)))), "{id}");
        assert!(wishes.take().is_empty(), "nobody outside hears of what nobody else sees");
        let received = scene.take(&mia);
        let report = received.iter().find_map(|event| match event {
            event!(moderation::Report(report)) => Some(report.number),
            _ => None,
        });
        moderate(&scene, &mia, Moderate::Approve { report: report.unwrap() });
        let wished = wishes.take();
        assert_eq!(wished.len(), 1, "{id}");
        assert_eq!((&*wished[0].url, wished[0].by_sub.as_str()), ("https://example.org/fire", "ann"));
    }
    assert_eq!(scene.bodies(&bob), ["The casino: https://example.org/fire"]);
}

#[test]
fn links_of_shadow_banned_users_are_never_fetched() {
    let (scene, wishes) = with(&[ON]);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let mia = moderator(&scene);
    let room = room(&scene, &ann);
    let shadow = Moderate::Sanction {
        user: sub("ann"),
        room: None,
        kind: SanctionKind::Shadow,
        until: Timestamp::MAX,
        reason: "Spam".to_owned(),
    };
    moderate(&scene, &mia, shadow);
    scene.send(&ann, to("bob"), "1", "https://example.org/spam");
    scene.send(&ann, To::Conversation(room), "2", "https://example.org/spam");
    assert!(scene.bodies(&bob).is_empty());
    assert!(wishes.take().is_empty());
}

#[test]
fn links_of_strangers_are_not_fetched_before_an_answer() {
    let (scene, wishes) = with(&[ON, ("requests.on", "true")]);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let link = "https://example.org";
    assert_eq!(scene.post(&ann, to("bob"), "a-1", link).err(), Some(Refusal::FirstContact));
    scene.post(&ann, to("bob"), "a-2", "Hello").unwrap();
    assert!(wishes.take().is_empty());
    scene.post(&bob, to("ann"), "b-1", "Hello Ann").unwrap();
    scene.post(&ann, to("bob"), "a-3", link).unwrap();
    assert_eq!(wishes.urls(), [link], "they were answered, and are no strangers any more");
    scene.post(&bob, to("ann"), "b-2", link).unwrap();
    assert_eq!(wishes.urls(), [link]);
}

#[test]
fn filtered_links_are_never_fetched() {
    let domains = [ON, ("filters.domains", r#"["bad.example"]"#), ("filters.links_act", "flag")];
    let (scene, wishes) = with(&domains);
    let (ann, _bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let mia = moderator(&scene);
    scene.post(&ann, to("bob"), "1", "https://www.bad.example/x").unwrap();
    scene.post(&mia, to("bob"), "2", "Never go to https://bad.example").unwrap();
    assert!(wishes.take().is_empty(), "not that of a moderator either, whom filters do not hold");
    scene.post(&ann, to("bob"), "3", "https://good.example/x").unwrap();
    assert_eq!(wishes.urls(), ["https://good.example/x"]);
    set(&scene, &[("filters.links", "deny"), ("filters.links_act", "hold")]);
    scene.post(&mia, to("bob"), "4", "https://good.example").unwrap();
    scene.post(&mia, to("bob"), "5", "https://bad.example").unwrap();
    assert_eq!(wishes.urls(), ["https://bad.example"], "where links are forbidden, those that are allowed");
}

fn room(scene: &Scene, owner: &Device) -> ConversationId {
    let command = Request::new(
        1,
        rooms::Command::Create { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None },
    );
    match scene.ask(owner, command).as_slice() {
        [event!(messages::Conversation(conversation))] => conversation.id,
        other => panic!("no room: {other:?}"),
    }
}

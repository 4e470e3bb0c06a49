//! The one gate for all published texts: filters, the rule for links of new members, addresses of pictures,
//! and the cost of the checks.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::token::Claims;
use chat::*;
use scene::{Device, SITE, Scene, event, sub, to};
use serde_json::json;

fn set(scene: &Scene, settings: &[(&str, &str)]) {
    let site = scene.store.sites().unwrap().remove(0);
    let now = settings.iter().fold(site.settings, |now, (path, value)| now.with(path, value).unwrap());
    scene.store.set_settings(site.id, &now).unwrap();
    scene.node.refresh_sites().unwrap();
}

fn sign_in_as(scene: &Scene, user: &str, role: &str) -> Device {
    let exp = (scene.now / 1000 + 3600) as f64;
    let claims = Claims { sub: user.into(), role: Some(role.into()), exp, ..Claims::default() };
    let handle = scene.hello(Some(&scene.signed(&claims)), &format!("{user}-1"), None);
    scene.welcomed(handle)
}

fn refusal(received: &[Delivery]) -> Option<Refusal> {
    received.iter().find_map(|event| match event {
        event!(session::Refused(refusal)) | event!(session::SendRefused { refusal, .. }) => Some(*refusal),
        _ => None,
    })
}

fn make_room(
    scene: &Scene,
    owner: &Device,
    name: &str,
    topic: Option<&str>,
) -> Result<ConversationId, Refusal> {
    let (name, topic) = (name.to_owned(), topic.map(str::to_owned));
    let received = scene.ask(
        owner,
        Request::new(1, rooms::Command::Create { name, kind: RoomKind::Public, topic, alias: None }),
    );
    match (&received[..], refusal(&received)) {
        ([event!(messages::Conversation(conversation)), ..], _) => Ok(conversation.id),
        (_, Some(refusal)) => Err(refusal),
        _ => panic!("{received:?}"),
    }
}

/// All commands that publish a text, with this text in each of their fields.
fn commands_with(
    text: &str,
    room: ConversationId,
    message: (ConversationId, Seq),
) -> Vec<(&'static str, Request)> {
    let owned = || Some(text.to_owned());
    let send = |body: &str, extension: Option<&str>, choices: &[&str]| {
        let choices = choices.iter().map(|choice| (*choice).into()).collect::<Vec<Box<str>>>();
        let poll = NewPoll { choices, multiple: false, anonymous: false, ends: None };
        let rich = NewRich { poll: (!poll.choices.is_empty()).then_some(poll), ..NewRich::default() };
        let to = To::Conversation(room);
        messages::Command::Send {
            client_id: "x".into(),
            to,
            body: body.into(),
            extension: extension.map(Box::from),
            reply_to: None,
            files: vec![],
            rich: rich.boxed(),
        }
    };
    let profile = |change| Request::new(1, account::Command::ChangeProfile { change: Box::new(change) });
    let status = Status { text: text.into(), until: None };
    let change =
        |change| Request::new(1, rooms::Command::Change { conversation: room, change: Box::new(change) });
    let create = |name: &str, topic| {
        Request::new(
            1,
            rooms::Command::Create { name: name.into(), kind: RoomKind::Public, topic, alias: None },
        )
    };
    let (conversation, seq) = message;
    let edit = |change| Request::new(1, messages::Command::Change { conversation, seq, change });
    let extended = MessageChange::Edit { body: "Hello".into(), extension: Some(text.into()) };
    vec![
        ("send", send(text, None, &[]).into()),
        ("an extension", send("Hello", Some(text), &[]).into()),
        ("a poll's question", send(text, None, &["a", "b"]).into()),
        ("a poll's choice", send("Which?", None, &["a", text]).into()),
        ("edit", edit(MessageChange::edit(text))),
        ("an extension in an edit", edit(extended)),
        ("status", profile(ProfileChange { status: Some(Some(status)), ..ProfileChange::default() })),
        (
            "name",
            profile(ProfileChange { name: Some(NameChange::Own(text.into())), ..ProfileChange::default() }),
        ),
        ("a room's name", create(text, None)),
        ("a room's topic", create("Room", owned())),
        ("another name of a room", change(RoomChange { name: owned(), ..RoomChange::default() })),
        ("another topic", change(RoomChange { topic: owned(), ..RoomChange::default() })),
    ]
}

#[test]
fn every_published_text_passes_the_filters_and_the_rule_for_links() {
    let scene = Scene::new(Mode::Open);
    set(&scene, &[("members.rename", "true")]);
    let ann = scene.sign_in("ann", "a");
    let room = make_room(&scene, &ann, "Bikers", None).unwrap();
    let message = scene.post(&ann, To::Conversation(room), "1", "Hello").unwrap();
    let refused = |text: &str| -> Vec<(&str, Option<Refusal>)> {
        let commands = commands_with(text, room, message);
        commands.into_iter().map(|(name, command)| (name, refusal(&scene.ask(&ann, command)))).collect()
    };
    for (settings, text, expected) in [
        ([("filters.words", r#"["casino"]"#), ("trust.on", "false")], "the casino", Refusal::Filtered),
        (
            [("filters.patterns", r#"[{"pattern":"v[i1]agra"}]"#), ("filters.words", "[]")],
            "V1AGRA",
            Refusal::Filtered,
        ),
        ([("filters.links", "deny"), ("filters.patterns", "[]")], "www.evil.example", Refusal::Filtered),
    ] {
        set(&scene, &settings);
        for (name, refusal) in refused(text) {
            assert_eq!(refusal, Some(expected), "{name}: {text}");
        }
    }
    // Later than the first days of the site, so that new accounts are new members.
    set(&scene, &[("filters", "null"), ("trust.on", "true"), ("trust.new_rooms_per_day", "100")]);
    let mut scene = scene;
    scene.now += 10 * 86_400_000;
    let new = scene.sign_in("new", "n");
    let own = make_room(&scene, &new, "Walkers", None).unwrap();
    let message = scene.post(&new, To::Conversation(own), "1", "Hello").unwrap();
    for (name, command) in commands_with("see evil.com", own, message) {
        assert_eq!(refusal(&scene.ask(&new, command)), Some(Refusal::TooNew), "{name}");
    }
}

#[test]
fn holding_filters_refuse_texts_that_cannot_wait() {
    let scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    set(&scene, &[("filters.words", r#"["casino"]"#), ("filters.words_act", "hold")]);
    assert_eq!(make_room(&scene, &ann, "Casino", None), Err(Refusal::Filtered));
    let mia = sign_in_as(&scene, "mia", "moderator");
    make_room(&scene, &mia, "No casino", None).unwrap();
}

/// The owner of a room picture's address would learn the network addresses of its viewers.
#[test]
fn only_the_site_sets_the_address_of_a_rooms_picture() {
    let scene = Scene::new(Mode::Open);
    let (ann, ada) = (scene.sign_in("ann", "a"), sign_in_as(&scene, "ada", "admin"));
    let mia = sign_in_as(&scene, "mia", "moderator");
    let avatar = |device: &Device, room, avatar: &str| {
        let change =
            RoomChange { avatar: Some(AvatarChange::address(avatar.into())), ..RoomChange::default() };
        refusal(&scene.ask(
            device,
            Request::new(1, rooms::Command::Change { conversation: room, change: Box::new(change) }),
        ))
    };
    for device in [&ann, &mia] {
        let room = make_room(&scene, device, "Bikers", None).unwrap();
        for address in ["https://tracker.example/a.png", "http://192.0.2.7/", "/logout"] {
            assert_eq!(avatar(device, room, address), Some(Refusal::NotAllowed), "{address}");
        }
        assert_eq!(avatar(device, room, ""), None, "away it may go");
    }
    let room = make_room(&scene, &ada, "News", None).unwrap();
    assert_eq!(avatar(&ada, room, "https://cdn.example/news.png"), None);
}

/// Without bounds, four patterns cost 4 s of CPU per message.
#[test]
fn patterns_that_need_large_tables_are_refused_when_they_are_set() {
    let slow = [r"(?:.{1,90}x){8}", r"(?:a|b)*a(?:a|b){14}", r"(?:\w{1,80}\s){25}", r"(?:.{0,100}){100}~"];
    for pattern in slow {
        let wanted = json!([{ "pattern": pattern }]).to_string();
        let why = Settings::default().with("filters.patterns", &wanted).unwrap_err().to_string();
        assert!(why.starts_with("filters.patterns: number 1: it"), "{why}");
    }
    let many =
        json!((0..100).map(|n| json!({"pattern": format!("(?:a|b)*a(?:a|b){{9}}{n}")})).collect::<Vec<_>>());
    let why = Settings::default().with("filters.patterns", &many.to_string()).unwrap_err().to_string();
    assert!(why.starts_with("filters.patterns: ") && why.contains("512 KiB"), "{why}");
}

/// The cost of one site's filters is counted in characters times patterns; other sites are not affected.
#[test]
fn a_site_uses_no_more_than_its_share_for_filters() {
    let mut scene = Scene::new(Mode::Open);
    let mut other = scene::site(Mode::Open);
    other.key = "other".into();
    scene.store.add_site(&other).unwrap();
    let patterns: Vec<_> = (0..100).map(|n| json!({"pattern": format!("cas[i1]no{n}")})).collect();
    set(&scene, &[("filters.patterns", &json!(patterns).to_string())]);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let mia = sign_in_as(&scene, "mia", "moderator");
    let text = "a ".repeat(4_096);
    let sent = (0..200).take_while(|n| scene.post(&ann, to("bob"), &n.to_string(), &text).is_ok()).count();
    assert!((30..=60).contains(&sent), "{sent} of the longest messages in a moment");
    let slowed = |outcome| matches!(outcome, Err(Refusal::RateLimited { retry_after_ms: 1..=100 }));
    assert!(slowed(scene.post(&bob, to("ann"), "1", "short").map(drop)), "all of the site wait");
    let test = Request::new(1, moderation::Command::TestFilter { body: text.clone() });
    assert!(slowed(refusal(&scene.ask(&mia, test)).map_or(Ok(()), Err)), "trying them counts, too");
    scene.post(&mia, to("bob"), "1", &text).unwrap();
    let handle = scene.handle();
    let claims = Claims { sub: "cat".into(), exp: (scene.now / 1000 + 3600) as f64, ..Claims::default() };
    let hello = Hello {
        site_key: "other".into(),
        credential: Credential::Token(scene.signed(&claims).into()),
        device: DeviceId::parse("c").unwrap(),
        position: None,
        origin: Some("https://forum.example".into()),
        address: None,
        agent: Agent::parse(b""),
        announced: None,
    };
    scene.node.sign_in(hello, handle, scene.now());
    let cat = scene.welcomed(handle);
    assert_ne!(cat.session.user.site, ann.session.user.site, "{SITE}");
    scene.send(&cat, To::Page(PageKey::parse("/").unwrap()), "1", &text);
    let received = scene.take(&cat);
    assert!(received.iter().any(|event| matches!(event, event!(messages::Ack { .. }))), "{received:?}");
    scene.wait(1_000);
    scene.post(&ann, to("bob"), "late", &text).unwrap();
}

#[test]
fn settings_change_at_a_bounded_rate() {
    let scene = Scene::new(Mode::Open);
    let ada = sign_in_as(&scene, "ada", "admin");
    let configure = || {
        let patch = Box::new(json!({"access_text": "x"}));
        refusal(&scene.ask(&ada, Request::new(1, moderation::Command::Configure { patch })))
    };
    let changed = (0..100).take_while(|_| configure().is_none()).count();
    assert_eq!(changed, 20);
    assert!(matches!(configure(), Some(Refusal::RateLimited { .. })));
}

#[test]
fn unreadable_filters_hold_every_message_until_an_admin_replaces_them() {
    let scene = Scene::new(Mode::Open);
    let site = scene.store.sites().unwrap().remove(0);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let (mia, ada) = (sign_in_as(&scene, "mia", "moderator"), sign_in_as(&scene, "ada", "admin"));
    let newer = Settings::parse(r#"{"filters":{"words":{"casino":3}},"requests":{"on":true}}"#);
    // A pattern that an older program accepted, and that exceeds this one's table.
    let slow = Settings::parse(r#"{"filters":{"patterns":[{"pattern":"(?:.{1,90}x){8}","act":"flag"}]}}"#);
    for (number, settings) in [newer, slow].into_iter().enumerate() {
        scene.store.set_settings(site.id, &settings).unwrap();
        scene.node.refresh_sites().unwrap();
        assert_eq!(scene.node.stats().sites_unreadable, 1);
        scene.take(&bob);
        scene.send(&ann, to("bob"), &format!("held-{number}"), "Hello");
        assert!(matches!(&scene.take(&ann)[..], [event!(messages::Held(_))]), "it waits for a moderator");
        assert!(scene.bodies(&bob).is_empty());
        assert_eq!(make_room(&scene, &ann, "Bikers", None), Err(Refusal::Filtered));
        scene.post(&mia, to("bob"), &format!("free-{number}"), "Moderators write").unwrap();
        let patch = Box::new(json!({"access_text": "Back soon"}));
        scene.ask(&ada, Request::new(1, moderation::Command::Configure { patch }));
        scene.send(&ann, to("bob"), &format!("still-{number}"), "Hello");
        assert!(matches!(&scene.take(&ann)[..], [event!(messages::Held(_))]), "another change mends nothing");
        scene.ask(
            &ada,
            Request::new(
                1,
                moderation::Command::Configure {
                    patch: Box::new(json!({"filters": null, "requests": null})),
                },
            ),
        );
        assert_eq!(scene.node.stats().sites_unreadable, 0);
        scene.post(&ann, to("bob"), &format!("sent-{number}"), "Hello").unwrap();
    }
    assert_eq!(sub("ann"), ann.welcome.me.sub);
}

/// A flagging filter allows a name, and moderators get it like a flagged message.
#[test]
fn flagged_names_topics_and_statuses_are_reported() {
    let scene = Scene::new(Mode::Open);
    set(
        &scene,
        &[("filters.words", r#"["casino"]"#), ("filters.words_act", "flag"), ("members.rename", "true")],
    );
    let (ann, mia) = (scene.sign_in("ann", "a"), sign_in_as(&scene, "mia", "moderator"));
    scene.take(&mia);
    let reports = || -> Vec<(ReportAbout, ReportReason, String)> {
        let report = |event: Delivery| match event {
            event!(moderation::Report(report)) => {
                Some((report.about, report.reason, report.text.to_string()))
            }
            _ => None,
        };
        scene.take(&mia).into_iter().filter_map(report).collect()
    };
    let room = make_room(&scene, &ann, "Casino", None).unwrap();
    let found = reports();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].0, found[0].1), (ReportAbout::Room(room), ReportReason::Filter));
    assert!(found[0].2.contains("casino"), "{found:?}");

    let other = make_room(&scene, &ann, "Walkers", None).unwrap();
    assert_eq!(reports(), []);
    let change = RoomChange { topic: Some("a casino".into()), ..RoomChange::default() };
    scene
        .ask(&ann, Request::new(1, rooms::Command::Change { conversation: other, change: Box::new(change) }));
    assert_eq!(reports().len(), 1);
    let status = Status { text: "at the casino".into(), until: None };
    let change = ProfileChange { status: Some(Some(status)), ..ProfileChange::default() };
    scene.ask(&ann, Request::new(1, account::Command::ChangeProfile { change: Box::new(change) }));
    let found = reports();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, ReportAbout::User(ann.session.user));
    // A repetition while the report is open creates no second one.
    let name = ProfileChange { name: Some(NameChange::Own("casino".into())), ..ProfileChange::default() };
    scene.ask(&ann, Request::new(1, account::Command::ChangeProfile { change: Box::new(name) }));
    assert_eq!(reports(), []);
}

/// Every visitor can create the room of any page key, and invite others to it by its name.
#[test]
fn a_page_key_that_filters_refuse_is_no_name() {
    let scene = Scene::new(Mode::Open);
    set(&scene, &[("filters.words", r#"["casino"]"#)]);
    let ann = scene.sign_in("ann", "a");
    let name = |key: &str| {
        let to = To::Page(PageKey::parse(key).unwrap());
        match scene.ask(&ann, Request::new(1, rooms::Command::Join { to })).as_slice() {
            [event!(messages::Conversation(conversation))] => match &conversation.with {
                With::Room(room, _) => (room.name.to_string(), room.page.as_deref().map(str::to_owned)),
                With::Person(_) => panic!("no room"),
            },
            other => panic!("no room: {other:?}"),
        }
    };
    assert_eq!(name("/thread/1"), ("/thread/1".to_owned(), Some("/thread/1".to_owned())));
    assert_eq!(name("come to my casino").0, "…");
    let page = To::Page(PageKey::parse("the casino").unwrap());
    scene.send(&ann, page, "1", "first");
    let row = Request::new(
        2,
        messages::Command::ListConversations { list: ConversationList::Main, page: PageOf::default() },
    );
    let events = scene.ask(&ann, row);
    let [event!(messages::Conversations { conversations, .. })] = events.as_slice() else {
        panic!("{events:?}")
    };
    let is_it = |one: &&Conversation| matches!(&one.with, With::Room(room, _) if room.page.as_deref() == Some("the casino"));
    let of_page = conversations.iter().find(is_it).unwrap();
    assert!(matches!(&of_page.with, With::Room(room, _) if &*room.name == "…"));
}

//! Messages with an extension: what gateways write beside the body, and read unchanged.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;

use crate::scene;

use chat::*;
use scene::*;
use store::Sqlite;

const EXTENSION: &str = "<markable xmlns='urn:xmpp:chat-markers:0'/>";

fn send(id: &str, to: To, body: &str, extension: Option<&str>) -> messages::Command {
    messages::Command::Send {
        client_id: id.into(),
        to,
        body: body.into(),
        extension: extension.map(Box::from),
        reply_to: None,
        files: Vec::new(),
        rich: None,
    }
}

fn sent(scene: &Scene, from: &Device, command: messages::Command) -> Result<(ConversationId, Seq), Refusal> {
    match scene.ask(from, command).as_slice() {
        [event!(messages::Ack { conversation, seq, .. })] => Ok((*conversation, *seq)),
        [event!(session::SendRefused { refusal, .. })] => Err(*refusal),
        other => panic!("no answer: {other:?}"),
    }
}

fn received(scene: &Scene, device: &Device) -> Vec<Arc<Message>> {
    let events = scene.take(device);
    let message = |event| match event {
        event!(messages::Message(message) | messages::Event::Update { message, .. }) => Some(message),
        _ => None,
    };
    events.into_iter().filter_map(message).collect()
}

fn history(scene: &Scene, reader: &Device, to: To) -> Vec<Arc<Message>> {
    let read = messages::Command::History { to, before: None, after: None, thread: None, limit: None };
    match scene.ask(reader, Request::new(9, read)).as_slice() {
        [event!(Some(9), messages::History { messages, .. })] => messages.clone(),
        other => panic!("no history: {other:?}"),
    }
}

fn set(scene: &Scene, settings: &[(&str, &str)]) {
    let site = scene.store.sites().unwrap().remove(0);
    let now = settings.iter().fold(site.settings, |now, (path, value)| now.with(path, value).unwrap());
    scene.store.set_settings(site.id, &now).unwrap();
    scene.node.refresh_sites().unwrap();
}

#[test]
fn an_extension_reaches_all_devices_and_stays_in_history_and_changes() {
    let scene = Scene::new(Mode::Open);
    let (ann, laptop, bob) =
        (scene.sign_in("ann", "a"), scene.sign_in("ann", "a2"), scene.sign_in("bob", "b"));
    let before = bob.welcome.changes.position;
    let answers = scene.ask(&ann, send("1", to("bob"), "Hello", Some(EXTENSION)));
    let [event!(_, Some(position), messages::Ack { .. })] = &answers[..] else { panic!("{answers:?}") };
    let all = received(&scene, &bob);
    let [message] = &all[..] else { panic!("{all:?}") };
    assert_eq!((&*message.body, message.extension.as_deref()), ("Hello", Some(EXTENSION)));
    assert_eq!(message.position, position.number);
    assert_eq!(received(&scene, &laptop), all);
    assert_eq!(history(&scene, &bob, to("ann")), all);
    let later = scene.sign_in_from("bob", "b", Some(before)).welcome.changes;
    assert_eq!(later.messages, all);
    assert_eq!(later.conversations[0].last, Some(message.clone()));
    assert!(!format!("{message:?}").contains("markable"), "extensions stay out of logs");
}

#[test]
fn a_message_in_a_room_has_its_extension_and_position() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let page = To::Page(PageKey::parse("/thread/42").unwrap());
    // The first message of each makes them members.
    scene.send(&ann, page.clone(), "1", "Hello");
    scene.send(&bob, page.clone(), "2", "Hello");
    scene.take(&bob);
    sent(&scene, &ann, send("3", page.clone(), "", Some(EXTENSION))).unwrap();
    let message = received(&scene, &bob).remove(0);
    assert_eq!(message.extension.as_deref(), Some(EXTENSION));
    let read = history(&scene, &bob, page);
    assert_eq!(read.last(), Some(&message));
    let positions: Vec<u64> = read.iter().map(|one| one.position).collect();
    assert!(positions.is_sorted() && positions[0] > 0, "{positions:?}");
}

#[test]
fn a_body_may_be_empty_only_with_a_valid_extension() {
    let limits = Limits { extension_bytes: 8, ..limits() };
    let scene = Scene::with(Mode::Open, NodeConfig { limits, ..config() }, Sqlite::in_memory());
    let ann = scene.sign_in("ann", "a");
    scene.sign_in("bob", "b");
    let try_it =
        |id, body, extension| sent(&scene, &ann, send(id, to("bob"), body, extension)).map(|(_, seq)| seq);
    assert_eq!(try_it("1", "", Some("12345678")), Ok(Seq(1)));
    for (body, extension) in
        [("", None), ("", Some("")), ("x", Some("")), ("x", Some("123456789")), ("x", Some("a\0"))]
    {
        assert_eq!(try_it("2", body, extension), Err(Refusal::BadBody), "{body:?} {extension:?}");
    }
    let conversation =
        ConversationId::direct(ann.session.user, UserId { num: 2, ..ann.session.user }).unwrap();
    let edit = |body: &str, extension: Option<&str>| {
        let change = MessageChange::Edit { body: body.into(), extension: extension.map(Box::from) };
        let command = messages::Command::Change { conversation, seq: Seq(1), change };
        match scene.ask(&ann, Request::new(5, command)).as_slice() {
            [event!(Some(5), messages::Update { message, .. })] => Ok(message.extension.clone()),
            [event!(Some(5), session::Refused(refusal))] => Err(*refusal),
            other => panic!("no answer: {other:?}"),
        }
    };
    assert_eq!(edit("", None), Err(Refusal::BadBody));
    assert_eq!(edit("", Some("123456789")), Err(Refusal::BadBody));
    assert_eq!(edit("", Some("abc")), Ok(Some("abc".into())));
    assert_eq!(edit("Hi", None), Ok(None));
}

#[test]
fn an_edit_and_a_deletion_are_published_with_the_extension_of_now() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let (conversation, seq) = sent(&scene, &ann, send("1", to("bob"), "Helo", Some(EXTENSION))).unwrap();
    let posted = received(&scene, &bob).remove(0);
    let change = |change| {
        scene.ask(&ann, Request::new(5, messages::Command::Change { conversation, seq, change }));
        received(&scene, &bob).remove(0)
    };
    let edited = change(MessageChange::Edit { body: "Hello".into(), extension: Some("<x/>".into()) });
    assert_eq!((edited.extension.as_deref(), edited.position), (Some("<x/>"), posted.position));
    assert!(edited.version > posted.position);
    let deleted = change(MessageChange::Delete);
    assert_eq!((deleted.deleted, &deleted.extension, deleted.is_opaque()), (true, &None, false));
}

#[test]
fn a_filter_holds_a_message_for_its_extension_and_approval_sends_both() {
    let scene = Scene::new(Mode::Open);
    set(&scene, &[("filters.patterns", r#"[{"pattern":"cas[i1]no","act":"hold"}]"#)]);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.post(&ann, to("bob"), "0", "Hello").unwrap();
    scene.take(&bob);
    let id = "é".repeat(127);
    let heard = scene.ask(&ann, send(&id, to("bob"), "", Some("<html>Casino</html>")));
    let [event!(messages::Held(held))] = &heard[..] else { panic!("{heard:?}") };
    assert_eq!((held.extension.as_deref(), held.is_opaque()), (Some("<html>Casino</html>"), true));
    assert!(!format!("{held:?}").contains("Casino"));
    assert!(received(&scene, &bob).is_empty());
    let claims = token::Claims {
        sub: "mia".into(),
        role: Some("moderator".into()),
        exp: (scene.now / 1000 + 3600) as f64,
        ..token::Claims::default()
    };
    let mia = scene.welcomed(scene.hello(Some(&scene.signed(&claims)), "m", None));
    let listed = moderation::Command::ListReports { state: Some(ReportState::Open), page: PageOf::default() };
    let answer = scene.ask(&mia, Request::new(3, listed));
    let [event!(moderation::Reports { reports, .. })] = &answer[..] else { panic!("{answer:?}") };
    assert_eq!(&*reports[0].text, "pattern: cas[i1]no", "the report names the match in the extension");
    let approve = Moderate::Approve { report: reports[0].number };
    scene.ask(&mia, Request::new(4, moderation::Command::Act(approve)));
    let message = received(&scene, &bob).remove(0);
    assert_eq!((&*message.client_id, message.extension.as_deref()), (&*id, Some("<html>Casino</html>")));
    assert_eq!(received(&scene, &ann), [message]);
}

#[test]
fn a_flagged_word_in_an_extension_is_reported() {
    let scene = Scene::new(Mode::Open);
    set(&scene, &[("filters.words", r#"["casino"]"#), ("filters.words_act", "flag")]);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let (conversation, seq) = sent(&scene, &ann, send("1", to("bob"), "Hi", Some("<x>casino</x>"))).unwrap();
    assert_eq!(received(&scene, &bob).len(), 1, "it is delivered");
    let reports = |by| {
        let (sender, answer) = std::sync::mpsc::channel();
        let done = Box::new(move |rows: Result<_, StoreError>| sender.send(rows.unwrap()).unwrap());
        scene.store.reports(ann.session.user.site, by, None, None, 9, done);
        answer.recv().unwrap()
    };
    let rows = reports(By::Site).unwrap().rows;
    assert_eq!((rows.len(), rows[0].about), (1, ReportAbout::Message(conversation, seq)));
    assert_eq!(&*rows[0].text, "word: casino");
}

#[test]
fn a_forwarded_message_leaves_its_extension_behind() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob, eve) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"), scene.sign_in("eve", "e"));
    scene.post(&eve, to("bob"), "0", "Hello").unwrap();
    let (conversation, with_body) =
        sent(&scene, &ann, send("1", to("bob"), "Hello", Some(EXTENSION))).unwrap();
    let (_, opaque) = sent(&scene, &ann, send("2", to("bob"), "", Some(EXTENSION))).unwrap();
    let forward = |id: &str, seq| {
        let command = messages::Command::Forward { client_id: id.into(), to: to("eve"), conversation, seq };
        sent(&scene, &bob, command).map(drop)
    };
    scene.take(&eve);
    assert_eq!(forward("3", with_body), Ok(()));
    let message = received(&scene, &eve).remove(0);
    assert_eq!((&*message.body, &message.extension), ("Hello", &None));
    assert_eq!(forward("4", opaque), Err(Refusal::NotAllowed));
}

#[test]
fn ids_of_messages_are_any_text_that_is_not_one_of_the_servers() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let long = format!("{}{}", "\u{1f98a}".repeat(63), "abc");
    assert_eq!(long.len(), 255);
    for (seq, id) in [long.as_str(), "a b", "<&>'\"", "Call:1"].into_iter().enumerate() {
        let first = scene.post(&ann, to("bob"), id, "Hello");
        assert_eq!(first.as_ref().map(|(_, seq)| *seq), Ok(Seq(seq as u64 + 1)), "{id}");
        assert_eq!(scene.post(&ann, to("bob"), id, "again"), first, "{id}");
        assert_eq!(&*received(&scene, &bob).remove(0).client_id, id);
    }
    for id in ["", &format!("{long}x"), "a\u{7}", "a\u{85}", "call:1", "import:1"] {
        assert_eq!(scene.post(&ann, to("bob"), id, "Hello"), Err(Refusal::BadValue), "{id:?}");
    }
}

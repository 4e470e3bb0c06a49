//! Protection against strangers and raids: held messages, shadow bans, new members, raid mode, devices, and
//! their settings by an admin.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::settings::Access;
use chat::token::Claims;
use chat::*;
use scene::{Device, START, Scene, event, sub, to};
use serde_json::json;

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

fn with(settings: &[(&str, &str)]) -> Scene {
    let scene = Scene::new(Mode::Open);
    set(&scene, settings);
    scene
}

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

/// Signs in, and answers the events after the welcome.
fn sign_in_and_hear(scene: &Scene, user: &str) -> (Device, Vec<Delivery>) {
    let handle = scene.hello(Some(&scene.token(user)), "again", None);
    let mut received = scene.inbox.take(handle);
    match received.remove(0) {
        event!(session::Welcome(welcome)) => {
            (Device { session: welcome.session, welcome: *welcome }, received)
        }
        other => panic!("no welcome but {other:?}"),
    }
}

fn moderate(scene: &Scene, device: &Device, act: Moderate) -> Result<Option<Box<ReportRow>>, Refusal> {
    let is_answer = |event: &Delivery| {
        matches!(event, event!(Some(5), moderation::Moderated(_)) | event!(Some(5), session::Refused(_)))
    };
    match scene.ask(device, Request::new(5, moderation::Command::Act(act))).into_iter().find(is_answer) {
        Some(event!(moderation::Moderated(report))) => Ok(report),
        Some(event!(session::Refused(refusal))) => Err(refusal),
        other => panic!("no answer: {other:?}"),
    }
}

fn sanction(user: &str, kind: SanctionKind, until: u64) -> Moderate {
    let (user, until, reason) = (sub(user), Timestamp(until), "Spam".to_owned());
    Moderate::Sanction { user, room: None, kind, until, reason }
}

/// Sends a message, and answers how it is held.
fn held(scene: &Scene, device: &Device, whom: To, id: &str, body: &str) -> Held {
    scene.send(device, whom, id, body);
    let received = scene.take(device);
    let held = received.iter().find_map(|event| match event {
        event!(messages::Held(held)) => Some((**held).clone()),
        _ => None,
    });
    held.unwrap_or_else(|| panic!("not held but {received:?}"))
}

fn words_of_record(scene: &Scene, moderator: &Device) -> Vec<String> {
    let received =
        scene.ask(moderator, Request::new(9, moderation::Command::ListAudit { page: PageOf::default() }));
    let [event!(moderation::Audit { entries, .. })] = &received[..] else { panic!("{received:?}") };
    entries.iter().map(|entry| entry.act.to_string()).collect()
}

const CASINO: (&str, &str) = ("filters.patterns", r#"[{"pattern":"cas[i1]no","act":"hold"}]"#);

#[test]
fn a_held_message_is_delivered_when_a_moderator_approves_it() {
    let scene = with(&[CASINO]);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let mia = sign_in_as(&scene, "mia", "moderator");
    scene.post(&ann, to("bob"), "0", "Hello").unwrap();
    scene.take(&bob);
    scene.take(&mia);
    let waits = held(&scene, &ann, to("bob"), "1", "The CAS1NO on Main Street burns!");
    assert_eq!((waits.state, &*waits.client_id, &waits.other), (HeldState::Waiting, "1", &Some(sub("bob"))));
    assert!(scene.take(&bob).is_empty(), "nobody else sees it");
    let received = scene.take(&mia);
    let [event!(moderation::Report(report))] = &received[..] else { panic!("{received:?}") };
    let bodies: Vec<&str> = report.lines.iter().map(|line| &*line.body).collect();
    assert_eq!(bodies, ["Hello", "The CAS1NO on Main Street burns!"]);
    assert_eq!(
        (&report.by, report.reason, &*report.text),
        (&None, ReportReason::Filter, "pattern: cas[i1]no")
    );
    assert_eq!(held(&scene, &ann, to("bob"), "1", &waits.body), waits, "said twice, held once");

    let (again, received) = sign_in_and_hear(&scene, "ann");
    assert!(matches!(&received[..], [event!(messages::Held(held))] if **held == waits), "{received:?}");
    let number = report.number;
    assert_eq!(moderate(&scene, &bob, Moderate::Approve { report: number }), Err(Refusal::NotAllowed));
    scene.take(&again);
    let closed = moderate(&scene, &mia, Moderate::Approve { report: number }).unwrap().unwrap();
    assert_eq!(closed.state, ReportState::Closed);
    for device in [&ann, &again, &bob] {
        assert_eq!(scene.bodies(device), ["The CAS1NO on Main Street burns!"]);
    }
    assert!(sign_in_and_hear(&scene, "ann").1.is_empty(), "nothing stands beside the log any more");
    assert_eq!(moderate(&scene, &mia, Moderate::Approve { report: number }), Err(Refusal::NoSuchReport));
    assert_eq!(words_of_record(&scene, &mia)[0], "approve");
    let (_, seq) = scene.post(&bob, to("ann"), "2", "Really?").unwrap();
    assert_eq!(seq, Seq(3), "numbers have no gap");
}

#[test]
fn a_refused_message_shows_its_reason_until_it_is_seen() {
    let scene = with(&[CASINO]);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let mia = sign_in_as(&scene, "mia", "moderator");
    held(&scene, &ann, to("bob"), "1", "casino");
    let refuse = |report| Moderate::RefuseHeld { report, reason: "No advertising".into() };
    moderate(&scene, &mia, refuse(1)).unwrap();
    let received = scene.take(&ann);
    let [event!(messages::Held(refused))] = &received[..] else { panic!("{received:?}") };
    assert_eq!((refused.state, &*refused.reason), (HeldState::Refused, "No advertising"));
    assert_eq!(moderate(&scene, &mia, refuse(1)), Err(Refusal::NoSuchReport));
    let (again, received) = sign_in_and_hear(&scene, "ann");
    assert!(
        matches!(&received[..], [event!(messages::Held(held))] if held.state == HeldState::Refused),
        "{received:?}"
    );
    scene.ask(&again, Request::new(4, moderation::Command::Notices { seen: true }));
    assert!(sign_in_and_hear(&scene, "ann").1.is_empty());

    held(&scene, &ann, to("bob"), "2", "casino");
    moderate(&scene, &mia, Moderate::CloseReport { report: 2, note: "Advertising".into() }).unwrap();
    let received = scene.take(&ann);
    assert!(
        matches!(&received[..], [event!(messages::Held(held))] if held.state == HeldState::Refused && held.reason.is_empty())
    );
    assert!(scene.take(&bob).is_empty());
    for number in 3..3 + MOST_WAITING {
        held(&scene, &ann, to("bob"), &number.to_string(), "casino");
    }
    assert_eq!(scene.post(&ann, to("bob"), "99", "casino"), Err(Refusal::Filtered), "one too many");
}

#[test]
fn a_flagged_message_is_delivered_and_reported() {
    let scene = with(&[("filters.words", r#"["fool"]"#), ("filters.words_act", "flag")]);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let mia = sign_in_as(&scene, "mia", "moderator");
    scene.take(&mia);
    let (conversation, seq) = scene.post(&ann, to("bob"), "1", "You fool").unwrap();
    assert_eq!(scene.bodies(&bob), ["You fool"]);
    let received = scene.take(&mia);
    let [event!(moderation::Report(report))] = &received[..] else { panic!("{received:?}") };
    assert_eq!(report.about, ReportAbout::Message(conversation, seq));
    assert_eq!((&report.by, &report.user, &*report.text), (&None, &Some(sub("ann")), "word: fool"));
    scene.post(&mia, to("bob"), "2", "He is no fool").unwrap();
    assert!(
        scene.take(&mia).iter().all(|event| !matches!(event, event!(moderation::Report(_)))),
        "moderators may"
    );
    let test =
        |device| scene.ask(device, Request::new(3, moderation::Command::TestFilter { body: "fool".into() }));
    assert!(matches!(test(&ann)[..], [event!(session::Refused(Refusal::NotAllowed))]));
    let received = test(&mia);
    let [event!(Some(3), moderation::FilterTested(test))] = &received[..] else { panic!("{received:?}") };
    assert_eq!((test.act, test.hits.len()), (Some(FilterAct::Flag), 1));
    moderate(&scene, &mia, Moderate::CloseReport { report: 1, note: String::new() }).unwrap();
    scene.take(&mia);
    let change = MessageChange::edit("fool again");
    scene.ask(&ann, Request::new(6, messages::Command::Change { conversation, seq, change }));
    let received = scene.take(&mia);
    assert!(
        matches!(&received[..], [event!(moderation::Report(row))] if &*row.lines[0].body == "fool again"),
        "{received:?}"
    );
}

#[test]
fn a_shadow_ban_is_invisible_to_the_user() {
    let scene = Scene::new(Mode::Open);
    let (ann, tom) = (scene.sign_in("ann", "a"), scene.sign_in("tom", "t"));
    let mia = sign_in_as(&scene, "mia", "moderator");
    scene.post(&tom, to("ann"), "1", "Hello").unwrap();
    scene.take(&ann);
    moderate(&scene, &mia, sanction("tom", SanctionKind::Shadow, Timestamp::MAX.0)).unwrap();
    assert!(scene.take(&tom).is_empty(), "he is not told");
    let kept = held(&scene, &tom, to("ann"), "2", "Buy pills");
    assert_eq!(kept.state, HeldState::Shadow);
    let on = true;
    scene.command(&tom, messages::Command::Typing { to: to("ann"), on });
    assert!(scene.take(&ann).is_empty());
    let (_, seq) = scene.post(&ann, to("tom"), "3", "Are you there?").unwrap();
    assert_eq!(seq, Seq(2), "numbers of others have no gap");
    let (again, received) = sign_in_and_hear(&scene, "tom");
    assert!(matches!(&received[..], [event!(messages::Held(held))] if **held == kept), "{received:?}");
    assert!(!received.iter().any(|event| matches!(event, event!(moderation::Notice(_)))));
    let received = scene.ask(&again, Request::new(1, moderation::Command::Notices { seen: false }));
    assert!(matches!(&received[..], [event!(moderation::Notices(notices))] if notices.is_empty()));
    moderate(&scene, &mia, Moderate::Lift { user: sub("tom"), room: None, kind: SanctionKind::Shadow })
        .unwrap();
    scene.take(&ann);
    scene.post(&again, to("ann"), "4", "Sorry").unwrap();
    assert_eq!(scene.bodies(&ann), ["Sorry"], "what was written in the shadow stays there");
    assert_eq!(words_of_record(&scene, &mia)[..2], ["lift_shadow_ban", "shadow_ban"]);
    let room = Some(ConversationId { site: tom.session.user.site, key: 1 << 63 | 1 });
    let in_room = Moderate::Sanction {
        user: sub("tom"),
        room,
        kind: SanctionKind::Shadow,
        until: Timestamp::MAX,
        reason: String::new(),
    };
    assert_eq!(moderate(&scene, &mia, in_room), Err(Refusal::BadValue));
}

#[test]
fn a_held_message_of_a_room_is_posted_after_approval() {
    let scene = with(&[CASINO]);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let mia = sign_in_as(&scene, "mia", "moderator");
    let page = || To::Page(PageKey::parse("/thread/1").unwrap());
    scene.send(&bob, page(), "1", "Who was there?");
    let waits = held(&scene, &ann, page(), "1", "At the casino?");
    assert!(waits.conversation.is_room());
    scene.take(&bob);
    moderate(&scene, &mia, Moderate::Approve { report: 1 }).unwrap();
    assert_eq!(scene.bodies(&bob), ["At the casino?"]);
    let nowhere = To::Page(PageKey::parse("/thread/2").unwrap());
    assert_eq!(scene.post(&ann, nowhere, "2", "casino"), Err(Refusal::NoSuchConversation));
}

#[test]
fn new_members_have_limits() {
    let mut scene = with(&[("trust.on", "true")]);
    let old = scene.sign_in("old", "o");
    scene.post(&old, to("mia"), "0", "x").unwrap_err();
    scene.now = START + 30 * DAY;
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let old = scene.sign_in("old", "o");
    assert_eq!(scene.post(&ann, to("bob"), "1", "see www.bikes.example"), Err(Refusal::TooNew));
    scene.post(&old, to("bob"), "1", "see www.bikes.example").unwrap();
    let create = |re| {
        Request::new(
            re,
            rooms::Command::Create { name: "Bikes".into(), kind: RoomKind::Public, topic: None, alias: None },
        )
    };
    let made = |device, re| match scene.ask(device, create(re)).remove(0) {
        event!(messages::Conversation(_)) => Ok(()),
        event!(session::Refused(refusal)) => Err(refusal),
        other => panic!("{other:?}"),
    };
    assert_eq!((made(&ann, 1), made(&ann, 2)), (Ok(()), Err(Refusal::TooNew)));
    // To close a room gives no second one.
    let closing = rooms::Command::Close {
        conversation: ConversationId::room(ann.session.user.site, 1),
        closing: Box::default(),
    };
    let closed = scene.ask(&ann, Request::new(3, closing));
    assert!(
        matches!(closed[..], [event!(Some(3), rooms::Left { reason: LeftReason::Closed, .. })]),
        "{closed:?}"
    );
    assert_eq!(made(&ann, 4), Err(Refusal::TooNew));
    assert_eq!((made(&old, 1), made(&old, 2)), (Ok(()), Ok(())));
    for number in 0..5 {
        scene.post(&ann, to("bob"), &format!("a{number}"), "Hello").unwrap();
    }
    scene.now += DAY;
    let ann = scene.sign_in("ann", "a");
    scene.post(&ann, to("bob"), "2", "see www.bikes.example").unwrap();
    let mia = sign_in_as(&scene, "mia", "moderator");
    let level = |user: &str, level| Moderate::SetLevel { user: sub(user), level };
    moderate(&scene, &mia, level("ann", Some(Level::New))).unwrap();
    assert_eq!(scene.post(&ann, to("bob"), "3", "see www.bikes.example"), Err(Refusal::TooNew));
    let ann = scene.sign_in("ann", "a");
    assert_eq!(scene.post(&ann, to("bob"), "4", "see www.bikes.example"), Err(Refusal::TooNew), "it stays");
    moderate(&scene, &mia, level("ann", None)).unwrap();
    let ann = scene.sign_in("ann", "a");
    scene.post(&ann, to("bob"), "5", "see www.bikes.example").unwrap();
    assert_eq!(moderate(&scene, &bob, level("ann", None)), Err(Refusal::NotAllowed));
    assert_eq!(words_of_record(&scene, &mia)[..2], ["set_level", "set_level"]);
}

#[test]
fn raid_mode_stops_first_messages_and_rooms_of_new_members() {
    let mut scene = Scene::new(Mode::Open);
    let old = scene.sign_in("old", "o");
    scene.now = START + 30 * DAY;
    let old = Device { session: scene.sign_in("old", "o").session, ..old };
    let new = scene.sign_in("new", "n");
    scene.post(&new, to("old"), "1", "Hello").unwrap();
    let mia = sign_in_as(&scene, "mia", "moderator");
    scene.sign_in("bob", "b");
    scene.take(&mia);
    let until = Timestamp(scene.now + HOUR);
    assert_eq!(moderate(&scene, &old, Moderate::Raid { until }), Err(Refusal::NotAllowed));
    scene.take(&new);
    moderate(&scene, &mia, Moderate::Raid { until }).unwrap();
    assert!(scene.take(&new).is_empty(), "members are not told");
    let page = || To::Page(PageKey::parse("/thread/1").unwrap());
    assert_eq!(scene.post(&new, to("bob"), "2", "Hi"), Err(Refusal::Raid));
    assert_eq!(scene.post(&new, page(), "3", "Hi"), Err(Refusal::Raid));
    assert_eq!(scene.contact(&new, ContactAction::Request, "bob").unwrap_err(), Refusal::Raid);
    scene.post(&new, to("old"), "4", "What was begun goes on").unwrap();
    scene.post(&old, to("bob"), "5", "Hi").unwrap();
    scene.send(&old, page(), "6", "Hi");
    assert!(scene.take(&old).iter().any(|event| matches!(event, event!(messages::Ack { .. }))));
    let again = sign_in_as(&scene, "mia", "moderator");
    assert_eq!(again.welcome.site.raid_until, Some(until));
    assert!(scene.sign_in("bob", "b").welcome.site.is_usual());
    scene.now = until.0;
    scene.post(&new, to("bob"), "2", "It ends by itself").unwrap();
    let long = Moderate::Raid { until: Timestamp(scene.now + 8 * DAY) };
    assert_eq!(moderate(&scene, &again, long), Err(Refusal::BadValue));
}

#[test]
fn many_new_members_at_once_start_raid_mode() {
    let scene = with(&[("raid.new_per_minute", "3"), ("raid.minutes", "5")]);
    let mia = sign_in_as(&scene, "mia", "moderator");
    scene.take(&mia);
    for number in 0..2 {
        scene.sign_in(&format!("bot-{number}"), "d");
    }
    assert!(scene.take(&mia).is_empty());
    let bots: Vec<Device> = (2..6).map(|number| scene.sign_in(&format!("bot-{number}"), "d")).collect();
    let received = scene.take(&mia);
    let [event!(moderation::Site(state))] = &received[..] else { panic!("told once: {received:?}") };
    assert_eq!(state.raid_until, Some(Timestamp(scene.now + 5 * 60_000)));
    assert_eq!(scene.post(&bots[3], to("mia"), "1", "Buy"), Err(Refusal::Raid));
    assert_eq!(words_of_record(&scene, &mia)[0], "raid");
    moderate(&scene, &mia, Moderate::Raid { until: Timestamp(0) }).unwrap();
    scene.post(&bots[3], to("mia"), "1", "Buy").unwrap();
    assert_eq!(words_of_record(&scene, &mia)[0], "end_raid");
}

#[test]
fn a_ban_with_devices_refuses_all_users_of_them() {
    let mut scene = Scene::new(Mode::Open);
    scene.sign_in("tom", "laptop");
    let mia = sign_in_as(&scene, "mia", "moderator");
    let (user, until, reason) = (sub("tom"), Timestamp(scene.now + DAY), "Spam".to_owned());
    let ban = Moderate::BanWithDevices { user, until, reason };
    assert_eq!(moderate(&scene, &scene.sign_in("ann", "a"), ban.clone()), Err(Refusal::NotAllowed));
    moderate(&scene, &mia, ban).unwrap();
    let refused = |scene: &Scene, user: &str, device: &str| {
        let handle = scene.hello(Some(&scene.token(user)), device, None);
        match scene.inbox.take(handle).remove(0) {
            event!(session::Welcome(_)) => None,
            event!(session::Bye(refusal)) => Some(refusal),
            event!(session::ByeWith { refusal, .. }) => Some(refusal),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(&scene, "tim", "laptop"), Some(Refusal::DeviceBanned));
    assert_eq!(refused(&scene, "tim", "phone"), None);
    assert_eq!(refused(&scene, "tom", "phone"), Some(Refusal::Banned));
    assert_eq!(refused(&scene, "tim", "phone"), Some(Refusal::DeviceBanned), "from there he came, too");
    scene.restart();
    assert_eq!(refused(&scene, "tim", "laptop"), Some(Refusal::DeviceBanned));
    let mia = sign_in_as(&scene, "mia", "moderator");
    moderate(&scene, &mia, Moderate::Lift { user: sub("tom"), room: None, kind: SanctionKind::Ban }).unwrap();
    assert_eq!((refused(&scene, "tim", "laptop"), refused(&scene, "tom", "phone")), (None, None));
}

#[test]
fn changed_settings_apply_to_all_sessions_at_once() {
    let scene = Scene::new(Mode::Open);
    let (ann, ada) = (scene.sign_in("ann", "a"), sign_in_as(&scene, "ada", "admin"));
    let mia = sign_in_as(&scene, "mia", "moderator");
    let configure = |device, patch| {
        scene.ask(device, Request::new(7, moderation::Command::Configure { patch: Box::new(patch) }))
    };
    for device in [&ann, &mia] {
        let received = configure(device, json!({"access": "closed"}));
        assert!(matches!(received[..], [event!(Some(7), session::Refused(Refusal::NotAllowed))]));
        let received = scene.ask(device, Request::new(8, moderation::Command::Settings));
        assert!(matches!(received[..], [event!(Some(8), session::Refused(Refusal::NotAllowed))]));
    }
    let received = configure(&ada, json!({"filters": {"patterns": [{"pattern": "("}]}}));
    assert!(
        matches!(&received[..], [event!(Some(7), moderation::NotSet(why))] if why.starts_with("filters.patterns"))
    );
    let received = configure(&ada, json!({"access": "read_only", "access_text": "Back at noon"}));
    let is_answer = |event: &Delivery| matches!(event, event!(Some(7), moderation::Settings(settings)) if settings["access"] == "read_only");
    assert!(received.iter().any(is_answer), "{received:?}");
    let received = scene.take(&ann);
    let [event!(moderation::Site(state))] = &received[..] else { panic!("{received:?}") };
    assert_eq!((state.access, &*state.text), (Access::ReadOnly, "Back at noon"));
    assert_eq!(scene.post(&ann, to("mia"), "1", "Hi"), Err(Refusal::SiteReadOnly));
    assert_eq!(scene.sign_in("bob", "b").welcome.site.access, Access::ReadOnly);
    scene.node.refresh_sites().unwrap();
    assert!(scene.take(&ann).is_empty(), "told once");
    configure(&ada, json!({"access": null, "access_text": null}));
    scene.post(&ann, to("mia"), "1", "Hi").unwrap();
    assert_eq!(words_of_record(&scene, &mia)[..2], ["configure", "configure"]);
    let received = scene.ask(&ada, Request::new(8, moderation::Command::Settings));
    assert!(
        matches!(&received[..], [event!(moderation::Settings(settings))] if settings["requests"]["on"] == false)
    );
}

#[test]
fn strangers_may_call_after_an_answer() {
    let scene = with(&[("requests.on", "true"), ("calls.from", "everyone")]);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let call = || {
        let action = CallAction::Invite { user: sub("bob"), media: Media::Audio, offer: "v=0".into() };
        match scene.ask(&ann, Request::new(1, calls::Command::Direct { action })).remove(0) {
            event!(calls::Call(_)) => Ok(()),
            event!(session::Refused(refusal)) => Err(refusal),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(call(), Err(Refusal::NotAllowed), "nothing was said yet");
    scene.post(&ann, to("bob"), "1", "Hello").unwrap();
    assert_eq!(call(), Err(Refusal::NotAllowed), "it waits for an answer");
    scene.post(&bob, to("ann"), "1", "Call me").unwrap();
    scene.take(&ann);
    assert_eq!(call(), Ok(()));
}

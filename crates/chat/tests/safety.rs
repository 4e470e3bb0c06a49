//! Moderation of a site, as members and moderators see it: requests, reports, sanctions, and the owner's
//! settings.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::token::Claims;
use chat::*;
use scene::{Device, SITE, Scene, event, sub, to};
use store::Sqlite;

const HOUR: u64 = 3_600_000;

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

fn moderate(scene: &Scene, device: &Device, act: Moderate) -> Result<Option<Box<ReportRow>>, Refusal> {
    match scene.ask(device, Request::new(5, moderation::Command::Act(act))).into_iter().find(is_answer) {
        Some(event!(moderation::Moderated(report))) => Ok(report),
        Some(event!(session::Refused(refusal))) => Err(refusal),
        other => panic!("no answer: {other:?}"),
    }
}

fn is_answer(event: &Delivery) -> bool {
    matches!(event, event!(Some(5), moderation::Moderated(_)) | event!(Some(5), session::Refused(_)))
}

fn sanction(user: &str, kind: SanctionKind, until: u64) -> Moderate {
    let (user, until, reason) = (sub(user), Timestamp(until), "Insults".to_owned());
    Moderate::Sanction { user, room: None, kind, until, reason }
}

fn conversations(events: &[Delivery]) -> Vec<&Conversation> {
    let of = events.iter().filter_map(|event| match event {
        event!(messages::Conversation(conversation)) => Some(&**conversation),
        _ => None,
    });
    of.collect()
}

#[test]
fn a_stranger_is_a_request_until_answered() {
    let scene = with(&[("requests.on", "true"), ("requests.messages", "2")]);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.take(&ann);
    scene.send(&ann, to("bob"), "1", "Hello");
    let heard = scene.take(&ann);
    let [event!(messages::Ack { request: true, conversation, .. })] = &heard[..] else { panic!("{heard:?}") };
    let heard = scene.take(&bob);
    let [seen] = conversations(&heard)[..] else { panic!("{heard:?}") };
    assert_eq!((seen.request, seen.unread, heard.len()), (Some(MessageRequest::Received), 1, 1));
    assert!(scene.post(&ann, to("bob"), "2", "www.evil.com").is_err_and(|why| why == Refusal::FirstContact));
    scene.post(&ann, to("bob"), "2", "It is about the bike").unwrap();
    let heard = scene.take(&bob);
    let [event!(messages::Requested(message))] = &heard[..] else { panic!("no message yet: {heard:?}") };
    assert_eq!(&*message.body, "It is about the bike");
    assert_eq!(scene.post(&ann, to("bob"), "3", "?"), Err(Refusal::RequestPending));

    let set = MarkerSet::Read(Seq(2));
    scene.command(&bob, messages::Command::Mark { conversation: *conversation, set });
    assert!(scene.take(&ann).is_empty(), "she is not told that he has read it");

    let answer = RequestAnswer::Accept;
    let heard = scene.ask(&bob, Request::new(7, Command::answer_request(*conversation, answer)));
    let [event!(Some(7), messages::Conversation(seen))] = &heard[..] else { panic!("{heard:?}") };
    assert_eq!(seen.request, None);
    let heard = scene.take(&ann);
    let [seen] = conversations(&heard)[..] else { panic!("{heard:?}") };
    assert_eq!((seen.request, seen.their_read), (None, Seq(2)));
    scene.post(&ann, to("bob"), "3", "https://bikes.example").unwrap();
}

#[test]
fn a_dismissed_request_is_not_published() {
    let scene = with(&[("requests.on", "true")]);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let (conversation, _) = scene.post(&ann, to("bob"), "1", "Hello").unwrap();
    let dismiss = |re| Request::new(re, Command::answer_request(conversation, RequestAnswer::Dismiss));
    let heard = scene.ask(&bob, dismiss(1));
    assert!(matches!(&conversations(&heard)[..], [seen] if seen.archived));
    assert!(scene.take(&ann).is_empty());
    scene.post(&ann, to("bob"), "2", "Are you there?").unwrap();
    assert!(scene.take(&bob).is_empty());
    let refused = scene.ask(&ann, dismiss(2));
    assert!(matches!(refused[..], [event!(Some(2), session::Refused(Refusal::NotAllowed))]));
}

#[test]
fn contacts_need_no_request() {
    let scene = with(&[("requests.on", "true")]);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.befriend(&ann, &bob);
    scene.post(&ann, to("bob"), "1", "https://bikes.example").unwrap();
    assert_eq!(scene.bodies(&bob), ["https://bikes.example"]);
    let mia = sign_in_as(&scene, "mia", "moderator");
    scene.post(&mia, to("bob"), "1", "see https://rules.example").unwrap();
    assert_eq!(scene.bodies(&bob), ["see https://rules.example"], "moderators may write to everybody");
    let carl = scene.sign_in("carl", "c");
    scene.contact(&carl, ContactAction::Request, "bob").unwrap();
    scene.take(&bob);
    scene.post(&bob, to("carl"), "2", "https://bikes.example").unwrap();
    assert_eq!(scene.bodies(&carl), ["https://bikes.example"], "he has asked to be written to");
}

#[test]
fn without_the_setting_there_are_no_requests() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    for number in 0..5 {
        scene.post(&ann, to("bob"), &number.to_string(), "www.bikes.example").unwrap();
    }
    assert_eq!(scene.bodies(&bob).len(), 5);
}

#[test]
fn a_role_in_a_token_stays_until_it_is_changed() {
    let scene = Scene::new(Mode::Open);
    assert_eq!(sign_in_as(&scene, "mia", "moderator").welcome.role, SiteRole::Moderator);
    let again = scene.sign_in("mia", "other");
    assert_eq!(again.welcome.role, SiteRole::Moderator, "a token without the claim says nothing");
    assert!(moderate(&scene, &again, sanction("mia", SanctionKind::Mute, scene.now + 1)).is_err());
    assert_eq!(
        sign_in_as(&scene, "mia", "editor").welcome.role,
        SiteRole::Moderator,
        "a word of the site's own"
    );
    assert_eq!(sign_in_as(&scene, "mia", "member").welcome.role, SiteRole::Member);
    let page = PageOf::default();
    let heard = scene.ask(&again, Request::new(1, moderation::Command::ListReports { state: None, page }));
    assert!(matches!(heard[..], [event!(session::Refused(Refusal::NotAllowed))]), "{heard:?}");
    let exp = (scene.now / 1000 + 3600) as f64;
    let claims = Claims { sub: "server".into(), role: Some("service".into()), exp, ..Claims::default() };
    assert_eq!(scene.refused_hello(Some(&scene.signed(&claims))), Refusal::BadToken);
}

#[test]
fn a_reported_moderator_does_not_see_the_report() {
    let scene = Scene::new(Mode::Open);
    let (ann, _tom) = (scene.sign_in("ann", "a"), scene.sign_in("tom", "t"));
    let (mia, moe) = (sign_in_as(&scene, "mia", "moderator"), sign_in_as(&scene, "moe", "moderator"));
    let of = ReportOf::User(sub("mia"));
    scene.ask(
        &ann,
        Request::new(3, moderation::Command::Report { of, reason: ReportReason::Abuse, text: "look".into() }),
    );
    assert!(matches!(&scene.take(&moe)[..], [event!(moderation::Report(_))]));
    assert!(scene.take(&mia).is_empty());
    moderate(&scene, &moe, Moderate::TakeReport { report: 1 }).unwrap();
    assert!(scene.take(&mia).is_empty());
}

#[test]
fn recorded_acts_are_rate_limited() {
    let rates = RequestRates { user_per_minute: 80, ..RequestRates::UNLIMITED };
    let mut config = scene::config();
    config.limits.requests = rates;
    let scene = Scene::with(Mode::Open, config, Sqlite::in_memory());
    let ann = scene.sign_in("ann", "a");
    let create = Request::new(
        1,
        rooms::Command::Create { name: "Bees".into(), kind: RoomKind::Public, topic: None, alias: None },
    );
    let room = match scene.ask(&ann, create).as_slice() {
        [event!(messages::Conversation(conversation))] => conversation.id,
        other => panic!("no room: {other:?}"),
    };
    let change = |n: u32| RoomChange { slow_ms: Some(n), ..RoomChange::default() };
    let changed = (0..40).filter(|n| {
        let heard = scene.ask(
            &ann,
            Request::new(4, rooms::Command::Change { conversation: room, change: Box::new(change(*n)) }),
        );
        !heard.iter().any(|event| matches!(event, event!(session::Refused(Refusal::RateLimited { .. }))))
    });
    assert_eq!(changed.count(), 5, "a quarter of a quarter at once");
}

#[test]
fn a_report_reaches_connected_moderators_and_is_handled() {
    let scene = Scene::new(Mode::Open);
    let (ann, tom) = (scene.sign_in("ann", "a"), scene.sign_in("tom", "t"));
    let (mia, moe) = (sign_in_as(&scene, "mia", "moderator"), sign_in_as(&scene, "moe", "moderator"));
    let (conversation, seq) = scene.post(&tom, to("ann"), "1", "You fool").unwrap();
    let of = ReportOf::Message(conversation, seq);
    let report = |of| {
        Request::new(3, moderation::Command::Report { of, reason: ReportReason::Abuse, text: "look".into() })
    };
    let heard = scene.ask(&ann, report(of));
    assert!(
        heard.iter().any(|event| matches!(event, event!(Some(3), moderation::Reported { report: 1 }))),
        "{heard:?}"
    );
    for moderator in [&mia, &moe] {
        let heard = scene.take(moderator);
        let [event!(moderation::Report(row))] = &heard[..] else { panic!("{heard:?}") };
        assert_eq!((&row.user, &*row.lines[0].body), (&Some(sub("tom")), "You fool"));
    }
    assert!(scene.take(&tom).is_empty(), "nobody else is told");
    let itself = scene.ask(&ann, report(ReportOf::User(sub("ann"))));
    assert!(matches!(itself[..], [event!(Some(3), session::Refused(Refusal::BadValue))]));
    let nobody = scene.ask(&ann, report(ReportOf::User(sub("nobody"))));
    assert!(matches!(nobody[..], [event!(Some(3), session::Refused(Refusal::NoSuchUser))]));

    moderate(&scene, &mia, Moderate::TakeReport { report: 1 }).unwrap();
    let heard = scene.take(&moe);
    assert!(
        matches!(&heard[..], [event!(moderation::Report(row))] if row.moderator == Some(sub("mia"))),
        "{heard:?}"
    );
    scene.take(&ann);
    moderate(&scene, &mia, Moderate::DeleteMessage { conversation, seq }).unwrap();
    for member in [&ann, &tom] {
        let heard = scene.take(member);
        let [event!(messages::Update { message, by, .. })] = &heard[..] else { panic!("{heard:?}") };
        assert!(message.deleted && *by == sub("mia"));
    }
    let note = "Warned him".to_owned();
    let closed = moderate(&scene, &mia, Moderate::CloseReport { report: 1, note }).unwrap().unwrap();
    assert_eq!(closed.state, ReportState::Closed);
    assert_eq!(moderate(&scene, &ann, Moderate::TakeReport { report: 1 }), Err(Refusal::NotAllowed));
    let audit = scene.ask(&mia, Request::new(9, moderation::Command::ListAudit { page: PageOf::default() }));
    let [event!(moderation::Audit { entries, .. })] = &audit[..] else { panic!("{audit:?}") };
    let words: Vec<&str> = entries.iter().map(|entry| &*entry.act).collect();
    assert_eq!(words, ["close_report", "delete", "take_report", "set_role", "set_role"]);
}

/// Signs in, and answers the events after the welcome.
fn sign_in_and_hear(scene: &Scene) -> (Device, Vec<Delivery>) {
    let handle = scene.hello(Some(&scene.token("tom")), "t", None);
    let mut heard = scene.inbox.take(handle);
    match heard.remove(0) {
        event!(session::Welcome(welcome)) => (Device { session: welcome.session, welcome: *welcome }, heard),
        other => panic!("no welcome but {other:?}"),
    }
}

#[test]
fn a_muted_user_reads_but_cannot_write_until_the_end() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, tom) = (scene.sign_in("ann", "a"), scene.sign_in("tom", "t"));
    let mia = sign_in_as(&scene, "mia", "moderator");
    let end = scene.now + HOUR;
    moderate(&scene, &mia, sanction("tom", SanctionKind::Mute, end)).unwrap();
    let heard = scene.take(&tom);
    let [event!(moderation::Notice(notice))] = &heard[..] else { panic!("{heard:?}") };
    let expected = (NoticeKind::Mute, Some(Timestamp(end)), "Insults");
    assert_eq!((notice.kind, notice.until, &*notice.reason), expected);
    assert_eq!(scene.post(&tom, to("ann"), "1", "But"), Err(Refusal::Muted));
    scene.post(&ann, to("tom"), "1", "Well").unwrap();
    assert_eq!(scene.bodies(&tom), ["Well"]);

    scene.restart();
    let (tom, heard) = sign_in_and_hear(&scene);
    assert!(
        matches!(&heard[..], [event!(moderation::Notice(notice))] if notice.kind == NoticeKind::Mute),
        "{heard:?}"
    );
    assert_eq!(scene.post(&tom, to("ann"), "2", "But"), Err(Refusal::Muted));
    scene.now = end - 1_000;
    let tom = scene.sign_in("tom", "t");
    scene.take(&tom);
    scene.wait(2_000);
    let heard = scene.take(&tom);
    assert!(
        matches!(&heard[..], [event!(moderation::Notice(notice))] if notice.kind == NoticeKind::Unmute),
        "{heard:?}"
    );
    scene.post(&tom, to("ann"), "3", "Sorry").unwrap();
}

#[test]
fn a_ban_ends_sessions_with_its_reason_and_end() {
    let mut scene = Scene::new(Mode::Open);
    let tom = scene.sign_in("tom", "t");
    let mia = sign_in_as(&scene, "mia", "moderator");
    let end = scene.now + HOUR;
    moderate(&scene, &mia, sanction("tom", SanctionKind::Ban, end)).unwrap();
    let said = |event: &Delivery| match event {
        event!(session::ByeWith { refusal: Refusal::Banned, until, reason }) => (*until, reason.to_string()),
        other => panic!("not banned but {other:?}"),
    };
    let expected = (Some(Timestamp(end)), "Insults".to_owned());
    assert_eq!(said(&scene.take(&tom)[0]), expected);
    let handle = scene.hello(Some(&scene.token("tom")), "t", None);
    assert_eq!(said(&scene.inbox.take(handle)[0]), expected);
    moderate(&scene, &mia, Moderate::Lift { user: sub("tom"), room: None, kind: SanctionKind::Ban }).unwrap();
    scene.sign_in("tom", "t");
    moderate(&scene, &mia, sanction("tom", SanctionKind::Ban, end)).unwrap();
    scene.now = end;
    scene.wait(200);
    let tom = scene.sign_in("tom", "t");
    moderate(&scene, &mia, Moderate::Kick { user: sub("tom") }).unwrap();
    assert!(matches!(scene.take(&tom)[..], [event!(session::Bye(Refusal::Kicked))]));
    scene.sign_in("tom", "t");
}

#[test]
fn a_warning_is_sent_until_it_is_seen() {
    let scene = Scene::new(Mode::Open);
    scene.sign_in("tom", "t");
    let mia = sign_in_as(&scene, "mia", "moderator");
    moderate(&scene, &mia, sanction("tom", SanctionKind::Warning, 0)).unwrap();
    for _ in 0..2 {
        let (_, heard) = sign_in_and_hear(&scene);
        assert!(
            matches!(&heard[..], [event!(moderation::Notice(notice))] if &*notice.reason == "Insults"),
            "{heard:?}"
        );
    }
    let tom = scene.sign_in("tom", "t");
    let heard = scene.ask(&tom, Request::new(4, moderation::Command::Notices { seen: true }));
    assert!(
        matches!(&heard[..], [event!(Some(4), moderation::Notices(notices))] if notices.is_empty()),
        "{heard:?}"
    );
    assert!(sign_in_and_hear(&scene).1.is_empty());
}

#[test]
fn read_only_and_closed_apply_at_once() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let mia = sign_in_as(&scene, "mia", "moderator");
    set(&scene, &[("access", "read_only")]);
    assert_eq!(scene.post(&ann, to("bob"), "1", "Hello"), Err(Refusal::SiteReadOnly));
    scene.post(&mia, to("bob"), "1", "Back at noon").unwrap();
    assert_eq!(scene.bodies(&bob), ["Back at noon"]);
    set(&scene, &[("access", "closed"), ("access_text", "Back at noon")]);
    let heard = scene.take(&ann);
    let closed = |event: &Delivery| matches!(event, event!(session::ByeWith { refusal: Refusal::SiteClosed, reason, .. }) if **reason == *"Back at noon");
    assert!(heard.iter().any(closed), "{heard:?}");
    let handle = scene.hello(Some(&scene.token("ann")), "a", None);
    assert!(scene.inbox.take(handle).iter().all(closed));
    scene.post(&mia, to("bob"), "2", "Still here").unwrap();
    set(&scene, &[("access", "open"), ("access_text", "")]);
    scene.sign_in("ann", "a");
}

#[test]
fn the_sites_own_server_changes_settings_and_acts() {
    let scene = Scene::new(Mode::Open);
    let exp = (scene.now / 1000 + 3600) as f64;
    let token = |role: &str| {
        scene.signed(&Claims { sub: "x".into(), role: Some(role.into()), exp, ..Claims::default() })
    };
    let ask = |site: &str, token: &str| {
        let answer = std::sync::Arc::new(std::sync::Mutex::new(None));
        let kept = answer.clone();
        scene.node.caller(
            site,
            token,
            None,
            scene.now(),
            Box::new(move |outcome| *kept.lock().unwrap() = Some(outcome)),
        );
        answer.lock().unwrap().take().unwrap()
    };
    let caller = |role: &str| ask(SITE, &token(role));
    assert_eq!(caller("moderator"), Err(Refusal::NotAllowed));
    assert_eq!(ask(SITE, &scene.token("ann")), Err(Refusal::NotAllowed));
    assert_eq!(ask("other", &token("service")), Err(Refusal::NoSuchSite));
    assert_eq!(ask(SITE, "nonsense"), Err(Refusal::BadToken));
    let server = caller("service").unwrap();
    let patch = serde_json::json!({"requests": {"on": true}});
    assert!(scene.node.change_settings(&server, &patch, scene.now()).unwrap().requests.on);
    assert!(scene.node.settings(&server).unwrap().requests.on, "at once");
    let wrong = scene.node.change_settings(&server, &serde_json::json!({"nothing": 1}), scene.now());
    assert!(matches!(wrong, Err(NotSet::Settings(SettingsError::Unknown(_)))));

    let tom = scene.sign_in("tom", "t");
    let answer = std::sync::Arc::new(std::sync::Mutex::new(None));
    let kept = answer.clone();
    let act = sanction("tom", SanctionKind::Mute, Timestamp::MAX.0);
    scene.node.moderate(
        &server,
        act,
        scene.now(),
        Box::new(move |outcome| *kept.lock().unwrap() = Some(outcome)),
    );
    assert_eq!(answer.lock().unwrap().take(), Some(Ok(None)));
    let heard = scene.take(&tom);
    assert!(
        matches!(&heard[..], [event!(moderation::Notice(notice))] if notice.until.is_none()),
        "{heard:?}"
    );
}

#[test]
fn reasons_and_ends_are_bounded() {
    let scene = Scene::new(Mode::Open);
    scene.sign_in("tom", "t");
    let mia = sign_in_as(&scene, "mia", "moderator");
    let long = |reason| Moderate::Sanction {
        user: sub("tom"),
        room: None,
        kind: SanctionKind::Mute,
        until: Timestamp::MAX,
        reason,
    };
    assert_eq!(moderate(&scene, &mia, long("x".repeat(REASON_BYTES + 1))), Err(Refusal::BadValue));
    assert_eq!(moderate(&scene, &mia, long("a\0b".into())), Err(Refusal::BadValue));
    for until in [0, scene.now, u64::MAX] {
        assert_eq!(moderate(&scene, &mia, sanction("tom", SanctionKind::Ban, until)), Err(Refusal::BadValue));
    }
    let note = "x".repeat(REASON_BYTES + 1);
    assert_eq!(moderate(&scene, &mia, Moderate::CloseReport { report: 1, note }), Err(Refusal::BadValue));
    assert_eq!(moderate(&scene, &mia, Moderate::TakeReport { report: u64::MAX }), Err(Refusal::NoSuchReport));
    let nobody = sanction("nobody", SanctionKind::Mute, Timestamp::MAX.0);
    assert_eq!(moderate(&scene, &mia, nobody), Err(Refusal::NoSuchUser));
}

#[test]
fn filters_apply_to_every_text() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let mia = sign_in_as(&scene, "mia", "moderator");
    set(&scene, &[("filters.words", r#"["Casino"]"#), ("filters.domains", r#"["evil.com"]"#)]);
    assert_eq!(scene.post(&ann, to("bob"), "1", "A casino!"), Err(Refusal::Filtered));
    assert_eq!(scene.post(&ann, to("bob"), "2", "https://www.evil.com/x"), Err(Refusal::Filtered));
    let page = To::Page(PageKey::parse("/thread/1").unwrap());
    assert_eq!(scene.post(&ann, page, "3", "casino"), Err(Refusal::Filtered));
    scene.post(&ann, to("bob"), "4", "Hello").unwrap();
    assert_eq!(scene.bodies(&bob), ["Hello"]);
    let conversation = ConversationId::direct(ann.session.user, bob.session.user).unwrap();
    let change = MessageChange::edit("casino");
    let heard =
        scene.ask(&ann, Request::new(5, messages::Command::Change { conversation, seq: Seq(1), change }));
    assert!(matches!(heard[..], [event!(Some(5), session::Refused(Refusal::Filtered))]), "{heard:?}");
    scene.post(&mia, to("bob"), "1", "No casino here, please").unwrap();
    set(&scene, &[("filters", "null")]);
    scene.post(&ann, to("bob"), "6", "A casino!").unwrap();
}

#[test]
fn a_mute_outlasts_the_removal_of_the_account() {
    let mut scene = with(&[("members.remove", "true")]);
    let mia = sign_in_as(&scene, "mia", "moderator");
    let (tom, _) = (scene.sign_in("tom", "t"), scene.sign_in("ann", "a"));
    moderate(&scene, &mia, sanction("tom", SanctionKind::Mute, scene.now + HOUR)).unwrap();
    assert_eq!(scene.post(&tom, to("ann"), "t-1", "hello").err(), Some(Refusal::Muted));
    scene.ask(&tom, Request::new(9, account::Command::Erase { messages: MessagesAfterErasure::Erased }));
    scene.wait(1_000);
    let tom = scene.sign_in("tom", "t");
    assert_eq!(scene.post(&tom, to("ann"), "t-2", "hello").err(), Some(Refusal::Muted));
    scene.wait(HOUR);
    let tom = scene.sign_in("tom", "t");
    assert!(scene.post(&tom, to("ann"), "t-3", "hello").is_ok(), "the mute ends when it would have");
}

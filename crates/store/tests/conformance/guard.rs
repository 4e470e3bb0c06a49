//! Messages beside the log, levels, devices and settings: the port's promises about protection from strangers and
//! raids.

use chat::{
    By, ConversationId, FileId, Held, HeldPlace, HeldState, HeldWhy, Kept, Level, MOST_HELD, MOST_WAITING,
    ModeratorAct, NewHeld, NewReport, NewRoom, Refusal, ReportAbout, ReportReason, ReportState, RoomKind,
    RoomLimits, RoomName, Sanction, SanctionKind, Seq, SiteRole, Store, Timestamp, UserId, UserRow,
};

use crate::asking::{NOW, add_site, ask, direct, message, put, sub};
use crate::safety::act;
use crate::two_users;

fn user(store: &dyn Store, id: UserId) -> UserRow {
    ask(|done| store.users_by_id(vec![id], done)).remove(0)
}

fn new(place: HeldPlace, from: UserId, id: &str, why: HeldWhy) -> NewHeld {
    NewHeld {
        place,
        from,
        client_id: id.into(),
        body: format!("body of {id}").into(),
        extension: None,
        time: NOW,
        reply_to: Some(Seq(1)),
        files: vec![FileId { site: from.site, number: u64::MAX - 7 }],
        thread: Some(Seq(3)),
        why,
    }
}

fn by_filter() -> HeldWhy {
    HeldWhy::Filter("word: casino".into())
}

fn hold(store: &dyn Store, held: NewHeld) -> Result<(Held, Option<u64>), Refusal> {
    ask(|done| store.hold(held, done)).map(|kept| match kept {
        Kept::Held { held, report, user } => {
            assert!(user.on_site.noticed, "there is something to be told");
            (held, report.map(|report| report.number))
        }
        Kept::Sent(appended) => panic!("it was sent as {appended:?}"),
    })
}

fn of_user(store: &dyn Store, user: UserId) -> Vec<Held> {
    ask(|done| store.held_by(user, done))
}

pub(crate) fn a_message_waits_beside_the_log(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let to_bob = || HeldPlace::Direct(direct(ann, bob));
    ask(|done| store.append(message(ann, bob, "0", "Hello"), done));
    let (held, report) = hold(store, new(to_bob(), ann, "1", by_filter())).expect("it is kept");
    assert_eq!(
        (held.state, &*held.body, held.other.as_ref(), held.reply_to, held.thread),
        (HeldState::Waiting, "body of 1", Some(&sub("bob")), Some(Seq(1)), Some(Seq(3)))
    );
    assert_eq!(of_user(store, ann), std::slice::from_ref(&held));
    assert!(of_user(store, bob).is_empty());
    let again = hold(store, new(to_bob(), ann, "1", by_filter())).expect("it is there");
    assert_eq!(again, (held.clone(), None));
    let page = ask(|done| store.history(bob, direct(ann, bob), None, None, 10, done));
    assert_eq!(page.messages.len(), 1, "the log knows nothing of it");

    let report = report.expect("moderators are told");
    let rows = ask(|done| store.reports(site, By::Site, Some(ReportState::Open), None, 10, done));
    let row = rows.expect("the site may look").rows.remove(0);
    assert_eq!((row.number, row.about), (report, ReportAbout::Held(direct(ann, bob))));
    assert_eq!((row.user, row.by, row.reason), (Some(sub("ann")), None, ReportReason::Filter));
    let lines: Vec<(u64, &str)> = row.lines.iter().map(|line| (line.seq.0, &*line.body)).collect();
    assert_eq!(lines, [(1, "Hello"), (2, "body of 1")]);
    let look = |by| ask(|done| store.held_of_report(site, by, report, done));
    assert_eq!(look(By::User(ann)), Err(Refusal::NotAllowed));
    assert_eq!(look(By::Site), Ok(held));

    ask(|done| store.append(message(ann, bob, "1", "body of 1"), done));
    act(store, site, By::Site, ModeratorAct::Approved(report)).expect("the site may everything");
    assert!(of_user(store, ann).is_empty() && !user(store, ann).on_site.noticed);
    assert_eq!(look(By::Site), Err(Refusal::NoSuchReport));
    let sent = ask(|done| store.hold(new(to_bob(), ann, "1", by_filter()), done));
    assert!(matches!(sent, Ok(Kept::Sent(appended)) if appended.seq == Seq(2) && appended.repeated));
}

pub(crate) fn a_refused_message_stays_until_its_sender_has_seen_it(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let to_bob = || HeldPlace::Direct(direct(ann, bob));
    let (_, report) = hold(store, new(to_bob(), ann, "1", by_filter())).expect("it is kept");
    let report = report.expect("moderators are told");
    let refuse = ModeratorAct::RefuseHeld(report, "No advertising".into());
    let refused = act(store, site, By::Site, refuse.clone()).expect("it waits").held.expect("it is told");
    assert_eq!((refused.state, &*refused.reason), (HeldState::Refused, "No advertising"));
    assert_eq!(of_user(store, ann), [refused]);
    assert_eq!(act(store, site, By::Site, refuse).err(), Some(Refusal::NoSuchReport));
    ask(|done| store.notices_seen(ann, done));
    assert!(of_user(store, ann).is_empty() && !user(store, ann).on_site.noticed);
    for number in 0..MOST_WAITING {
        hold(store, new(to_bob(), ann, &format!("w{number}"), by_filter())).expect("there is room");
    }
    assert_eq!(hold(store, new(to_bob(), ann, "x", by_filter())).err(), Some(Refusal::Filtered));
    hold(store, new(HeldPlace::Direct(direct(ann, bob)), bob, "x", by_filter()))
        .expect("it is ann who waits");
}

pub(crate) fn the_shadow_keeps_the_newest(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let shadow = Sanction {
        user: ann,
        room: None,
        kind: SanctionKind::Shadow,
        until: Timestamp(NOW.0 + 1_000),
        reason: "Spam".into(),
        notified: true,
    };
    act(store, site, By::Site, ModeratorAct::Sanction(shadow)).expect("the site may everything");
    assert!(user(store, ann).on_site.shadowed && !user(store, ann).on_site.noticed);
    assert!(ask(|done| store.notices(ann, done)).is_empty(), "she is not told");
    for number in 0..=MOST_HELD {
        let place = HeldPlace::Direct(direct(ann, bob));
        let (held, report) =
            hold(store, new(place, ann, &format!("s{number}"), HeldWhy::Shadow)).expect("it is kept");
        assert_eq!((held.state, report), (HeldState::Shadow, None));
    }
    let kept = of_user(store, ann);
    assert_eq!((kept.len(), &*kept[0].client_id), (MOST_HELD as usize, "s1"));
    let (ended, _) = ask(|done| store.end_sanctions(Timestamp(NOW.0 + 1_000), done));
    assert!(ended.len() == 1 && !ended[0].user.on_site.shadowed);
}

pub(crate) fn no_message_is_held_if_its_sender_may_not_write(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let new_room = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
    let limits = RoomLimits::default();
    let room = ask(|done| store.create_room(ann, new_room, limits, NOW, done)).expect("made").row.id;
    let held =
        |from, place| hold(store, new(place, from, "1", by_filter())).map(|(held, _)| held.conversation);
    assert_eq!(held(bob, HeldPlace::Room(RoomName::Id(room))), Err(Refusal::NotAMember));
    assert_eq!(held(ann, HeldPlace::Room(RoomName::Id(room))), Ok(room));
    let nowhere = ConversationId { key: room.key + 9, ..room };
    assert_eq!(held(bob, HeldPlace::Room(RoomName::Id(nowhere))), Err(Refusal::NoSuchConversation));
    let other = put(store, add_site(store, "other"), "eve");
    assert_eq!(held(other, HeldPlace::Room(RoomName::Id(room))), Err(Refusal::NoSuchConversation));
    assert_eq!(ask(|done| store.rooms_made(ann, NOW, done)), 1);
    assert_eq!(ask(|done| store.rooms_made(ann, Timestamp(NOW.0 + 1), done)), 0);
    assert_eq!(ask(|done| store.rooms_made(bob, NOW, done)), 0);
    store.remove_site(site).expect("it can be removed");
    assert!(of_user(store, ann).is_empty());
}

pub(crate) fn a_filter_reports_the_messages_that_it_checked(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    ask(|done| store.append(message(ann, bob, "1", "You fool"), done));
    let report = || NewReport {
        by: UserId::nobody(site),
        about: ReportAbout::Message(direct(ann, bob), Seq(1)),
        reason: ReportReason::Filter,
        text: "word: fool".into(),
        time: NOW,
    };
    let (row, is_new) = ask(|done| store.report(report(), done)).expect("it is there");
    assert_eq!((row.user, row.by, is_new), (Some(sub("ann")), None, true));
    assert!(!ask(|done| store.report(report(), done)).expect("it is there").1, "once");
    for number in 2..40 {
        ask(|done| store.append(message(ann, bob, &number.to_string(), "fool"), done));
        let about = ReportAbout::Message(direct(ann, bob), Seq(number));
        ask(|done| store.report(NewReport { about, ..report() }, done)).expect("a filter has no limit");
    }
}

pub(crate) fn a_level_rises_and_a_set_level_stays(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    assert_eq!(user(store, ann).on_site.level, Level::New);
    let keep = |level| ask(|done| store.keep_level(ann, level, done)).expect("she is there").on_site.level;
    assert_eq!((keep(Level::Basic), keep(Level::New)), (Level::Basic, Level::Basic));
    assert_eq!(user(store, ann).on_site.level, Level::Basic);
    let set = |by, level| act(store, site, by, ModeratorAct::SetLevel(ann, level));
    assert_eq!(set(By::User(bob), None).err(), Some(Refusal::NotAllowed));
    let standing =
        set(By::Site, Some(Level::New)).expect("the site may").user.expect("it is about her").on_site;
    assert_eq!((standing.level, standing.fixed), (Level::New, true));
    assert_eq!(keep(Level::Trusted), Level::New, "a moderator has the last word");
    assert_eq!(store.standings().expect("they can be read").len(), 1);
    set(By::Site, None).expect("the site may");
    assert_eq!((keep(Level::Trusted), user(store, ann).on_site.fixed), (Level::Trusted, false));
    assert_eq!(user(store, bob).on_site.level, Level::New);
    for number in 0..5 {
        ask(|done| store.append(message(ann, bob, &number.to_string(), "Hello"), done));
    }
    store.flush().expect("it is on disk");
    let written = |user, most| ask(|done| store.written(user, most, done));
    assert_eq!([written(ann, 3), written(ann, 100), written(bob, 100)], [3, 5, 0]);
}

pub(crate) fn devices_are_banned_with_their_user(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let all = || {
        let mut bans = ask(|done| store.device_bans(done));
        bans.sort_by_key(|ban| (ban.user.num, ban.device));
        bans.iter().map(|ban| (ban.user, ban.device, ban.until)).collect::<Vec<_>>()
    };
    let ban = |user, devices: &[u64], until| {
        let act_of = ModeratorAct::BanDevices { user, devices: devices.to_vec(), until };
        act(store, site, By::Site, act_of).map(drop)
    };
    assert!(all().is_empty());
    ban(ann, &[u64::MAX, 7], NOW).expect("the site may");
    ban(bob, &[9], NOW).expect("the site may");
    ban(ann, &[7], Timestamp::MAX).expect("the site may");
    assert_eq!(all(), [(ann, 7, Timestamp::MAX), (ann, u64::MAX, NOW), (bob, 9, NOW)]);
    let by_bob = ModeratorAct::BanDevices { user: ann, devices: vec![1], until: NOW };
    assert_eq!(act(store, site, By::User(bob), by_bob).err(), Some(Refusal::NotAllowed));
    let lift = ModeratorAct::Lift { user: ann, room: None, kind: SanctionKind::Ban };
    act(store, site, By::Site, lift).expect("the site may");
    assert_eq!(all(), [(bob, 9, NOW)]);
    store.remove_site(site).expect("it can be removed");
    assert!(all().is_empty());
}

pub(crate) fn settings_change_in_their_stored_form(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let set = |by, patch: &str| {
        let (path, value) = patch.split_once('=').expect("it is one");
        act(store, site, by, ModeratorAct::Configure(Box::new(chat::Settings::patch(path, value))))
    };
    let settings = || {
        store.sites().expect("sites").into_iter().find(|one| one.id == site).expect("it is there").settings
    };
    let before = store.revision().expect("it can be read");
    let told = set(By::Site, "requests.on=true").expect("the site may").settings.expect("they changed");
    assert!(told.requests.on && *told == settings());
    assert_ne!(store.revision().expect("it can be read"), before);
    assert_eq!(set(By::User(ann), "requests.on=false").err(), Some(Refusal::NotAllowed));
    act(store, site, By::Site, ModeratorAct::SetRole(ann, SiteRole::Moderator)).expect("the site may");
    assert_eq!(set(By::User(ann), "requests.on=false").err(), Some(Refusal::NotAllowed));
    assert_eq!(set(By::Site, "requests.messages=0").err(), Some(Refusal::BadValue));
    let raid = |by, until| act(store, site, by, ModeratorAct::Raid(Timestamp(until))).map(drop);
    raid(By::User(ann), 5).expect("a moderator may");
    assert!(settings().raid.until == 5 && settings().requests.on, "the rest stays");
    raid(By::Site, 0).expect("the site may");
    let page = ask(|done| store.audit(site, By::Site, None, 10, done)).expect("the site may look");
    let words: Vec<(&str, &str)> = page.rows.iter().map(|row| (&*row.act, &*row.detail)).collect();
    let set_role = ("set_role", "moderator");
    let configured = ("configure", r#"{"requests":{"on":true}}"#);
    assert_eq!(words, [("end_raid", ""), ("raid", "until 5"), set_role, configured]);
}

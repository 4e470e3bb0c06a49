//! Notifications: browsers, settings of members, and the facts that decide about a notice.

use chat::{
    Agent, AppPush, AppPushRow, Append, By, MAIL_EVERY_MS, MOST_APP_PUSHES, MOST_CALLS_COUNTED,
    MOST_PUSH_DEVICES, MailAddress, MessageKind, MessagesAfterErasure, NewDevice, NotifyChange,
    NotifySettings, PushDevice, QuietHours, Reached, Seq, SetPresence, Store, Timestamp, UserId,
};

use crate::app_passwords::own;
use crate::asking::{NOW, add_site, ask, direct, message, put, say};
use crate::{erase, two_users};

fn device(number: usize) -> PushDevice {
    PushDevice {
        endpoint: format!("https://push.example/{number:02}").into(),
        key: vec![4; 65].into(),
        auth: vec![number as u8; 16].into(),
        language: "de".into(),
    }
}

fn sorted(mut users: Vec<UserId>) -> Vec<UserId> {
    users.sort_unstable();
    users
}

fn subscribe(store: &dyn Store, user: UserId, number: usize) -> Vec<UserId> {
    let at = Timestamp(NOW.0 + number as u64);
    ask(|done| store.put_push_device(user, None, device(number), at, done))
}

fn devices(store: &dyn Store, user: UserId) -> Vec<PushDevice> {
    let facts = ask(|done| store.notify_facts(user, vec![], done));
    facts.devices.iter().map(|device| PushDevice::clone(device)).collect()
}

pub(crate) fn a_browser_is_of_one_user_at_a_time(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    assert_eq!(store.push_users(), Ok(vec![]));
    assert_eq!(subscribe(store, ann, 1), []);
    assert_eq!(subscribe(store, ann, 1), [], "the same again");
    assert_eq!(subscribe(store, ann, 2), []);
    assert_eq!((devices(store, ann).len(), store.push_users()), (2, Ok(vec![ann])));
    assert_eq!(subscribe(store, bob, 1), [], "Ann has another one");
    assert_eq!(subscribe(store, bob, 2), [ann]);
    assert_eq!((devices(store, ann), devices(store, bob)), (vec![], vec![device(1), device(2)]));

    let elsewhere = add_site(store, "other");
    let cat = put(store, elsewhere, "cat");
    assert_eq!(subscribe(store, cat, 1), [], "another site is another world");
    assert_eq!(store.push_users().map(sorted), Ok(vec![bob, cat]));
    let endpoint = |number| device(number).endpoint;
    assert!(!ask(|done| store.remove_push_device(ann, endpoint(2), done)), "it is not hers");
    assert!(ask(|done| store.remove_push_device(bob, endpoint(2), done)));
    assert!(!ask(|done| store.remove_push_device(bob, endpoint(1), done)));
    assert_eq!(store.push_users(), Ok(vec![cat]));
    assert!(store.remove_site(elsewhere).expect("the store works") && site != elsewhere);
    assert_eq!(store.push_users(), Ok(vec![]));
}

pub(crate) fn only_the_newest_browsers_are_kept(store: &dyn Store) {
    let (_, ann, _) = two_users(store);
    for number in 0..MOST_PUSH_DEVICES + 3 {
        assert_eq!(subscribe(store, ann, number), []);
    }
    let expected: Vec<PushDevice> = (3..MOST_PUSH_DEVICES + 3).map(device).collect();
    assert_eq!(devices(store, ann), expected);
    let view = ask(|done| store.notify_view(ann, done));
    assert_eq!(view.devices as usize, MOST_PUSH_DEVICES);
}

pub(crate) fn a_device_that_is_signed_out_takes_no_notifications(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let (laptop, phone) = (u64::MAX - 5, 7);
    let sign_in = |user, id| {
        store.put_device(user, NewDevice { id, agent: Agent::default(), expires: NOW, time: NOW });
        store.flush().expect("the store works");
    };
    for (user, id) in [(ann, laptop), (ann, phone), (bob, phone)] {
        sign_in(user, id);
    }
    let subscribe_on = |user, id, number| {
        assert_eq!(ask(|done| store.put_push_device(user, Some(id), device(number), NOW, done)), []);
    };
    let sign_out = |user, id| ask(|done| store.sign_out(user, id, NOW, NOW, done));
    subscribe_on(ann, laptop, 1);
    subscribe_on(ann, phone, 2);
    subscribe(store, ann, 3);
    subscribe_on(bob, phone, 4);
    assert_eq!(sign_out(ann, phone), Some(true));
    assert_eq!(devices(store, ann), [device(1)], "nor one that may be the same");
    assert_eq!(devices(store, bob), [device(4)], "his is another one");
    subscribe_on(ann, phone, 2);
    assert_eq!(devices(store, ann), [device(1)], "it was signed out before");
    sign_in(ann, phone);
    subscribe_on(ann, phone, 2);
    subscribe_on(ann, phone, 1);
    assert_eq!(sign_out(ann, laptop), Some(true), "its browser has said that it is the phone's");
    assert_eq!(sign_out(ann, phone), Some(false));
    assert_eq!((devices(store, ann), store.push_users()), (vec![], Ok(vec![bob])));
}

pub(crate) fn what_is_chosen_is_kept_and_the_rest_stays(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let quiet = QuietHours::new(1_320, 420, -300);
    let change = |change| ask(|done| store.change_notify_settings(ann, change, done)).settings;
    let given = change(NotifyChange { quiet: Some(quiet), ..NotifyChange::default() });
    assert_eq!(given, NotifySettings { quiet, bodies: true });
    let given = change(NotifyChange { bodies: Some(false), ..NotifyChange::default() });
    assert_eq!(given, NotifySettings { quiet, bodies: false });
    let given = change(NotifyChange { quiet: Some(None), ..NotifyChange::default() });
    assert_eq!(given, NotifySettings { quiet: None, bodies: false });
    assert_eq!(ask(|done| store.notify_view(ann, done)).settings, given);
    assert_eq!(ask(|done| store.notify_view(bob, done)).settings, NotifySettings::default());
}

pub(crate) fn the_facts_are_of_ones_own_conversations(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let cat = put(store, site, "cat");
    say(store, bob, ann, "1", "hello");
    say(store, bob, ann, "2", "Are you there?");
    say(store, bob, cat, "3", "not for Ann");
    store.put_presence(ann, SetPresence::Busy, NOW);
    store.flush().expect("the store works");
    let asked = vec![direct(ann, bob), direct(bob, cat), direct(ann, cat)];
    let facts = ask(|done| store.notify_facts(ann, asked, done));
    assert_eq!((facts.presence, facts.settings), (SetPresence::Busy, NotifySettings::default()));
    let [talk] = &facts.talks[..] else { panic!("one of them is hers: {:?}", facts.talks) };
    assert_eq!((talk.row.id, talk.row.unread), (direct(ann, bob), 2));
    assert_eq!(talk.from.as_ref().map(|from| from.id), Some(bob));
    assert_eq!(talk.row.last.as_ref().map(|last| (last.seq, &*last.body)), Some((Seq(2), "Are you there?")));
}

pub(crate) fn missed_calls_are_counted_among_the_unread(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let entry = |number: u32, outcome: &str| format!("call:{number:016x}:audio:{outcome}:0");
    let call = |from, to, id: &str| {
        let append = Append { kind: MessageKind::Call, ..message(from, to, id, "a call") };
        ask(|done| store.append(append, done));
    };
    let count = || {
        let facts = ask(|done| store.notify_facts(ann, vec![direct(ann, bob)], done));
        facts.talks.first().map(|talk| (talk.missed_calls, talk.row.unread))
    };
    say(store, bob, ann, "1", "hello");
    assert_eq!(count(), Some((0, 1)));
    for (number, outcome) in ["missed", "cancelled", "busy", "declined", "ended"].into_iter().enumerate() {
        call(bob, ann, &entry(number as u32, outcome));
    }
    assert_eq!(count(), Some((3, 6)));
    ask(|done| store.mark(direct(ann, bob), ann, Seq(2), Seq(2), done));
    assert_eq!(count(), Some((2, 4)), "what was read is not missed any more");
    call(ann, bob, &entry(9, "missed"));
    assert_eq!(count(), Some((0, 0)));
    for number in 0..u64::from(MOST_CALLS_COUNTED) + 5 {
        call(bob, ann, &entry(100 + number as u32, "missed"));
    }
    assert_eq!(count(), Some((u64::from(MOST_CALLS_COUNTED), u64::from(MOST_CALLS_COUNTED) + 5)));
}

pub(crate) fn a_sites_key_is_made_once_and_goes_with_the_site(store: &dyn Store) {
    let (one, two) = (add_site(store, "one"), add_site(store, "two"));
    let key = |site, fresh: &[u8]| ask(|done| store.push_key(site, fresh.to_vec(), done));
    assert_eq!((key(one, b"first"), key(two, b"other")), (b"first".to_vec(), b"other".to_vec()));
    assert_eq!(key(one, b"second"), b"first");
    assert!(store.remove_site(one).expect("the store works"));
    assert_eq!((key(two, b"x"), key(one, b"anew")), (b"other".to_vec(), b"anew".to_vec()));
}

pub(crate) fn a_digest_is_due_once_a_day_at_most_and_as_late_as_is_wanted(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let at = |minutes: u64| Timestamp(NOW.0 + minutes * 60_000);
    let address = |text: &str| MailAddress { address: text.into(), language: "de".into() };
    let put = |text: &str| ask(|done| store.put_mail_address(ann, address(text), done));
    let schedule = |now| {
        store.schedule_mail(ann, now, 30);
        store.flush().expect("the store works");
    };
    let due = |now| -> Vec<UserId> {
        ask(|done| store.mail_due(now, 9, done)).iter().map(|due| due.user).collect()
    };
    let settle = |sent| ask(|done| store.settle_mail(ann, sent, done));
    assert_eq!((store.mail_users(), ask(|done| store.notify_view(ann, done)).mail), (Ok(vec![]), None));
    store.schedule_mail(bob, NOW, 30);
    assert!(put("ann@old.example") && put("ann@example.com") && put("ann@example.com"));
    assert_eq!(store.mail_users(), Ok(vec![ann]));
    say(store, bob, ann, "1", "hello");

    schedule(NOW);
    assert!(!put("ann@example.com"), "one is coming");
    assert_eq!((due(at(29)), due(at(30)), store.mail_users()), (vec![], vec![ann], Ok(vec![])));
    schedule(at(20));
    let facts = ask(|done| store.mail_due(at(30), 9, done)).remove(0);
    assert_eq!((&*facts.name, &facts.address), ("ann", &address("ann@example.com")));
    assert_eq!((facts.talks.len(), facts.talks[0].row.unread), (1, 1));
    settle(Some(at(30)));
    assert_eq!((due(at(99)), store.mail_users()), (vec![], Ok(vec![ann])));
    schedule(at(60));
    let day = MAIL_EVERY_MS / 60_000;
    assert_eq!((due(at(30 + day - 1)), due(at(30 + day))), (vec![], vec![ann]));
    settle(None);

    let wish = |minutes| {
        let change = NotifyChange { mail: Some(minutes), ..NotifyChange::default() };
        ask(|done| store.change_notify_settings(ann, change, done)).mail.and_then(|mail| mail.after)
    };
    assert_eq!(wish(120), Some(120));
    schedule(at(2 * day));
    assert_eq!((due(at(2 * day + 119)), due(at(2 * day + 120))), (vec![], vec![ann]));
    assert_eq!((wish(0), due(at(9 * day)), store.mail_users()), (Some(0), vec![], Ok(vec![])));
    schedule(at(3 * day));
    assert!(due(at(9 * day)).is_empty() && !put("ann@new.example"));
}

fn app(service: &str, node: &str, device: u64) -> AppPushRow {
    let push = AppPush { service: service.into(), node: node.into(), options: "<x/>".into() };
    AppPushRow { push, device, password: None }
}

fn wake(store: &dyn Store, user: UserId, row: AppPushRow, at: u64) -> bool {
    ask(|done| store.put_app_push(user, row, Timestamp(NOW.0 + at), done))
}

fn apps(store: &dyn Store, user: UserId) -> Vec<AppPushRow> {
    ask(|done| store.notify_facts(user, vec![], done)).apps
}

fn end(store: &dyn Store, user: UserId, service: &str, node: Option<&str>) -> Reached {
    ask(|done| store.remove_app_push(user, service.into(), node.map(Into::into), done))
}

pub(crate) fn an_app_has_one_push_for_each_device_and_service(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    assert_eq!(store.app_push_users(), Ok(vec![]));
    assert!(wake(store, ann, app("push.example", "old", 1), 1));
    assert!(wake(store, ann, app("push.example", "new", 1), 2), "the app has a new address");
    assert!(wake(store, ann, app("other.example", "new", 1), 3));
    assert!(wake(store, ann, app("push.example", "tablet", u64::MAX), 4));
    let expected = [
        app("push.example", "new", 1),
        app("other.example", "new", 1),
        app("push.example", "tablet", u64::MAX),
    ];
    assert_eq!(apps(store, ann), expected);
    assert!(wake(store, ann, app("push.example", "tablet", 2), 5), "its device has another name");
    assert_eq!(apps(store, ann).len(), 3);
    assert_eq!((apps(store, bob), store.app_push_users()), (vec![], Ok(vec![ann])));

    assert_eq!(end(store, bob, "push.example", None), Reached::default(), "they are not his");
    let with_apps = Reached { browsers: false, apps: true };
    assert_eq!(end(store, ann, "push.example", Some("nothing")), with_apps);
    assert_eq!(apps(store, ann).len(), 3);
    assert_eq!(end(store, ann, "push.example", Some("new")), with_apps);
    assert_eq!(end(store, ann, "push.example", None), with_apps);
    assert_eq!(subscribe(store, ann, 1), []);
    assert_eq!(end(store, ann, "other.example", None), Reached { browsers: true, apps: false });

    for number in 0..MOST_APP_PUSHES as u64 + 3 {
        assert!(wake(store, ann, app("push.example", &number.to_string(), number), number));
    }
    let left = apps(store, ann);
    assert_eq!((left.len(), &*left[0].push.node), (MOST_APP_PUSHES, "3"), "the newest are kept");
}

pub(crate) fn the_push_of_an_app_ends_with_its_password_and_its_device(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let (first, second, third) = (own(store, ann, 1), own(store, ann, 10), own(store, bob, 20));
    let with = |number, node: &str, device| AppPushRow {
        password: Some(number),
        ..app("push.example", node, device)
    };
    for (number, node, device) in [(first, "a", 1), (second, "b", 2), (first, "c", 3)] {
        assert!(wake(store, ann, with(number, node, device), device));
    }
    assert!(wake(store, bob, with(third, "d", 1), 1));
    let revoke =
        |user, number| ask(|done| store.revoke_app_password(user, number, By::User(user), NOW, done));
    assert_eq!(revoke(ann, first), Ok(true));
    assert_eq!(apps(store, ann), [with(second, "b", 2)]);
    assert!(!wake(store, ann, with(first, "late", 1), 9), "it comes a moment after the end");
    assert_eq!((apps(store, ann).len(), apps(store, bob).len()), (1, 1));

    store.put_device(ann, NewDevice { id: 2, agent: Agent::default(), expires: NOW, time: NOW });
    store.flush().expect("the store works");
    assert_eq!(ask(|done| store.sign_out(ann, 2, NOW, NOW, done)), Some(false));
    assert_eq!(apps(store, ann), []);
}

pub(crate) fn the_pushes_of_apps_go_with_the_account_and_the_site(store: &dyn Store) {
    let (_, ann, _) = two_users(store);
    let elsewhere = add_site(store, "other");
    let cat = put(store, elsewhere, "cat");
    assert!(
        wake(store, ann, app("push.example", "a", 1), 1) && wake(store, cat, app("push.example", "a", 1), 1)
    );
    assert_eq!(store.app_push_users().map(sorted), Ok(vec![ann, cat]));
    assert!(erase::begin(store, ann, MessagesAfterErasure::Kept).is_some());
    assert_eq!(store.app_push_users(), Ok(vec![cat]));
    assert!(store.remove_site(elsewhere).expect("the store works"));
    assert_eq!(store.app_push_users(), Ok(vec![]));
}

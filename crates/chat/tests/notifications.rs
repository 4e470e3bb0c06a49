//! An absent user gets one notice, with the chosen content; reading on any device clears it.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::sync::{Arc, Mutex};

use chat::*;
use scene::*;

/// Keeps the notices that it receives.
#[derive(Default)]
struct Carrier {
    pushes: Mutex<Vec<Push>>,
}

impl Notifier for Carrier {
    fn public_key(&self, _: SiteId, done: Done<Arc<str>>) {
        done(Ok("the key of the site".into()));
    }

    fn accepts(&self, device: &PushDevice) -> bool {
        device.endpoint.starts_with("https://push.example/")
    }

    fn push(&self, push: Push) {
        self.pushes.lock().unwrap().push(push);
    }
}

impl Carrier {
    fn begin(scene: &Scene) -> Arc<Carrier> {
        let carrier = Arc::new(Carrier::default());
        scene.node.notify_by(carrier.clone()).unwrap();
        carrier
    }

    /// The notices since the last call: the browser and its text, or the removal.
    fn shown(&self) -> Vec<(String, String)> {
        let said = |push: Push| match push.notice {
            PushNotice::Clear => "cleared".to_owned(),
            PushNotice::Ring(ring) => format!("{} rings ({:?})", ring.name, ring.media),
            PushNotice::RingOver(ring) => format!("{} no longer rings", ring.name),
            PushNotice::Show(news) => {
                let body = news.body.as_deref().unwrap_or("-");
                let room = news.room.as_deref().map(|room| format!(" in {room}")).unwrap_or_default();
                format!("{}{room}: {body} ({})", news.name, news.unread)
            }
        };
        let pushes = std::mem::take(&mut *self.pushes.lock().unwrap());
        let name = |push: &Push| push.device.endpoint.rsplit('/').next().unwrap().to_owned();
        pushes.into_iter().map(|push| (name(&push), said(push))).collect()
    }
}

fn browser(name: &str) -> PushDevice {
    PushDevice {
        endpoint: format!("https://push.example/{name}").into(),
        key: vec![4; 65].into(),
        auth: vec![1; 16].into(),
        language: "en".into(),
    }
}

fn change(scene: &Scene, device: &Device, change: NotifyChange) -> Result<(NotifySettings, u32), Refusal> {
    match scene.ask(device, Request::new(4, notifications::Command::Change(Box::new(change)))).as_slice() {
        [event!(Some(4), notifications::Settings { key, settings, devices, .. })] => {
            assert_eq!(key.as_deref(), Some("the key of the site"));
            Ok((*settings, *devices))
        }
        [event!(Some(4), session::Refused(refusal))] => Err(*refusal),
        other => panic!("no answer: {other:?}"),
    }
}

fn subscribe(scene: &Scene, device: &Device, name: &str) {
    let subscribe = Some(browser(name));
    assert!(change(scene, device, NotifyChange { subscribe, ..NotifyChange::default() }).is_ok());
}

/// Ann has a phone with notifications, and is away; Bob is here.
fn ann_is_away() -> (Scene, Arc<Carrier>, Device) {
    let mut scene = Scene::new(Mode::Open);
    let carrier = Carrier::begin(&scene);
    let (ann, bob) = (scene.sign_in("ann", "phone"), scene.sign_in("bob", "laptop"));
    subscribe(&scene, &ann, "phone");
    scene.leave(&ann);
    scene.wait(500);
    (scene, carrier, bob)
}

fn notice(name: &str, text: &str) -> (String, String) {
    (name.into(), text.into())
}

#[test]
fn several_messages_become_one_notice_with_the_newest_text() {
    let (mut scene, carrier, bob) = ann_is_away();
    scene.send(&bob, to("ann"), "1", "Hello");
    scene.wait(2_000);
    scene.send(&bob, to("ann"), "2", "Are you there?");
    assert_eq!(carrier.shown(), []);
    scene.wait(4_000);
    assert_eq!(carrier.shown(), [notice("phone", "The bob: Are you there? (2)")]);
    // The next notice waits for the pause, instead of one per message.
    scene.send(&bob, to("ann"), "3", "Well");
    scene.wait(10_000);
    assert_eq!(carrier.shown(), []);
    scene.send(&bob, to("ann"), "4", "See you");
    scene.wait(25_000);
    assert_eq!(carrier.shown(), [notice("phone", "The bob: See you (4)")]);
}

#[test]
fn present_and_returning_users_get_no_notice() {
    let (mut scene, carrier, bob) = ann_is_away();
    let ann = scene.sign_in("ann", "laptop");
    scene.send(&bob, to("ann"), "1", "Hello");
    scene.wait(60_000);
    assert_eq!(carrier.shown(), []);
    scene.drop_connection(&ann);
    scene.send(&bob, to("ann"), "2", "Hello?");
    scene.wait(2_000);
    let ann = scene.sign_in("ann", "laptop");
    scene.wait(60_000);
    assert_eq!(carrier.shown(), [], "it was a page that was loaded anew");
    scene.command(&ann, presence::Command::Set(SetPresence::Away));
    scene.send(&bob, to("ann"), "3", "Are you away?");
    scene.wait(5_000);
    assert_eq!(carrier.shown(), [notice("phone", "The bob: Are you away? (3)")]);
}

#[test]
fn reading_on_any_device_clears_the_notice_once() {
    let (mut scene, carrier, bob) = ann_is_away();
    let (conversation, seq) = scene.post(&bob, to("ann"), "1", "Hello").unwrap();
    scene.wait(5_000);
    assert_eq!(carrier.shown().len(), 1);
    let ann = scene.sign_in("ann", "laptop");
    scene.command(&ann, messages::Command::Mark { conversation, set: MarkerSet::Received(seq) });
    assert_eq!(carrier.shown(), [], "that a device has it is not that somebody has seen it");
    scene.command(&ann, messages::Command::Mark { conversation, set: MarkerSet::Read(seq) });
    assert_eq!(carrier.shown(), [notice("phone", "cleared")]);
    scene.command(&ann, messages::Command::Mark { conversation, set: MarkerSet::Read(seq) });
    assert_eq!(carrier.shown(), []);
    // A message that was read before its notice gets none.
    scene.send(&bob, to("ann"), "2", "And?");
    scene.command(&ann, messages::Command::Mark { conversation, set: MarkerSet::Read(Seq(2)) });
    scene.leave(&ann);
    scene.wait(10_000);
    assert_eq!(carrier.shown(), []);
}

#[test]
fn every_browser_gets_notices_until_it_unsubscribes() {
    let (mut scene, carrier, bob) = ann_is_away();
    let ann = scene.sign_in("ann", "laptop");
    subscribe(&scene, &ann, "laptop");
    scene.leave(&ann);
    scene.send(&bob, to("ann"), "1", "Hello");
    scene.wait(5_000);
    let words = "The bob: Hello (1)";
    assert_eq!(carrier.shown(), [notice("phone", words), notice("laptop", words)]);

    let ann = scene.sign_in("ann", "laptop");
    let unsubscribe = Some(browser("phone").endpoint);
    let left = change(&scene, &ann, NotifyChange { unsubscribe, ..NotifyChange::default() });
    assert_eq!(left, Ok((NotifySettings::default(), 1)));
    scene.leave(&ann);
    scene.node.push_device_is_gone(ann.session.user, "https://push.example/laptop");
    scene.send(&bob, to("ann"), "2", "Hello?");
    scene.wait(60_000);
    assert_eq!(carrier.shown(), []);
}

#[test]
fn a_signed_out_device_gets_no_notices() {
    let (mut scene, carrier, bob) = ann_is_away();
    let site = scene.store.sites().unwrap().remove(0);
    let settings = site.settings.with("members.devices", "true").unwrap();
    scene.store.set_settings(site.id, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
    // Her phone subscribes again, now with a known device.
    let phone = scene.sign_in("ann", "phone");
    subscribe(&scene, &phone, "phone");
    let ann = scene.sign_in("ann", "laptop");
    subscribe(&scene, &ann, "laptop");
    let listed = |events: &[Delivery]| match events {
        [event!(account::Devices(devices))] => devices.iter().map(|one| (one.row.id, one.this)).collect(),
        other => panic!("no devices: {other:?}"),
    };
    let all: Vec<(u64, bool)> = listed(&scene.ask(&ann, Request::new(5, account::Command::ListDevices)));
    let device = |is_this| all.iter().find(|(_, this)| *this == is_this).unwrap().0;
    scene.leave(&phone);
    let left: Vec<_> =
        listed(&scene.ask(&ann, Request::new(6, account::Command::SignOutDevice { device: device(false) })));
    assert_eq!(left.len(), 1);
    scene.leave(&ann);
    scene.send(&bob, to("ann"), "1", "Hello");
    scene.wait(5_000);
    assert_eq!(carrier.shown(), [notice("laptop", "The bob: Hello (1)")], "the other goes on");

    let ann = scene.sign_in("ann", "laptop");
    let own = Request::new(7, account::Command::SignOutDevice { device: device(true) });
    assert!(matches!(scene.ask(&ann, own)[..], [event!(session::Bye(Refusal::SignedOut))]));
    scene.send(&bob, to("ann"), "2", "Hello?");
    scene.wait(60_000);
    assert_eq!(carrier.shown(), []);
}

#[test]
fn a_browser_belongs_to_its_latest_user() {
    let (mut scene, carrier, bob) = ann_is_away();
    let cat = scene.sign_in("cat", "phone");
    subscribe(&scene, &cat, "phone");
    scene.leave(&cat);
    scene.send(&bob, to("ann"), "1", "for Ann alone");
    scene.send(&bob, to("cat"), "2", "for Cat");
    scene.wait(5_000);
    assert_eq!(carrier.shown(), [notice("phone", "The bob: for Cat (1)")]);
}

#[test]
fn muted_quiet_and_busy_users_get_no_notices() {
    let (mut scene, carrier, bob) = ann_is_away();
    let (conversation, _) = scene.post(&bob, to("ann"), "0", "Hello").unwrap();
    let set = |scene: &mut Scene, what: NotifyChange| {
        let ann = scene.sign_in("ann", "laptop");
        assert!(change(scene, &ann, what).is_ok());
        scene.command(&ann, messages::Command::Mark { conversation, set: MarkerSet::Read(Seq::MAX) });
        scene.leave(&ann);
        scene.wait(60_000);
        carrier.shown();
    };
    // Nearly the whole day.
    set(&mut scene, NotifyChange { quiet: Some(QuietHours::new(0, 1_439, 0)), ..NotifyChange::default() });
    scene.send(&bob, to("ann"), "1", "in the night");
    scene.wait(60_000);
    assert_eq!(carrier.shown(), []);

    set(&mut scene, NotifyChange { quiet: Some(None), bodies: Some(false), ..NotifyChange::default() });
    scene.send(&bob, to("ann"), "2", "not for other eyes");
    scene.wait(5_000);
    assert_eq!(carrier.shown(), [notice("phone", "The bob: - (1)")]);

    let ann = scene.sign_in("ann", "laptop");
    let change = ConversationChange { muted_until: Some(Timestamp::MAX), ..ConversationChange::default() };
    scene.command(&ann, Request::new(1, messages::Command::ChangeConversation { conversation, change }));
    scene.leave(&ann);
    scene.send(&bob, to("ann"), "3", "muted");
    scene.wait(60_000);
    assert_eq!(carrier.shown(), []);

    let ann = scene.sign_in("ann", "laptop");
    let change = ConversationChange { muted_until: Some(Timestamp(0)), ..ConversationChange::default() };
    scene.command(&ann, Request::new(1, messages::Command::ChangeConversation { conversation, change }));
    scene.command(&ann, presence::Command::Set(SetPresence::Busy));
    scene.leave(&ann);
    scene.send(&bob, to("ann"), "4", "busy");
    scene.wait(60_000);
    assert_eq!(carrier.shown(), []);
}

#[test]
fn large_rooms_notify_only_mentioned_members() {
    let mut scene = Scene::new(Mode::Open);
    let carrier = Carrier::begin(&scene);
    let bob = scene.sign_in("bob", "laptop");
    let room = |scene: &Scene, device: &Device, name: &str| {
        let command = Request::new(
            1,
            rooms::Command::Create { name: name.into(), kind: RoomKind::Public, topic: None, alias: None },
        );
        match scene.ask(device, command).as_slice() {
            [event!(messages::Conversation(conversation))] => conversation.id,
            other => panic!("no room: {other:?}"),
        }
    };
    let (small, large) = (room(&scene, &bob, "Bikers"), room(&scene, &bob, "Everybody"));
    let join = |scene: &Scene, device: &Device, room| {
        scene.command(device, Request::new(2, rooms::Command::Join { to: To::Conversation(room) }));
    };
    for name in ["ann", "cat"] {
        let device = scene.sign_in(name, "phone");
        subscribe(&scene, &device, name);
        join(&scene, &device, small);
        join(&scene, &device, large);
        scene.leave(&device);
    }
    for number in 0..20 {
        let member = scene.sign_in(&format!("member{number}"), "d");
        join(&scene, &member, large);
        scene.leave(&member);
    }
    scene.send(&bob, To::Conversation(small), "1", "Who rides?");
    scene.wait(5_000);
    let words = "The bob in Bikers: Who rides? (1)";
    assert_eq!(carrier.shown(), [notice("ann", words), notice("cat", words)]);

    scene.send(&bob, To::Conversation(large), "2", "Nice weather");
    scene.send(&bob, To::Conversation(large), "3", "@member3 agrees");
    scene.wait(5_000);
    assert_eq!(carrier.shown(), []);
    scene.send(&bob, To::Conversation(large), "4", "Hi @cat!");
    scene.wait(5_000);
    assert_eq!(carrier.shown(), [notice("cat", "The bob in Everybody: Hi @cat! (3)")]);
    scene.send(&bob, To::Conversation(large), "5", "@room meets at noon");
    scene.wait(40_000);
    let mut all = carrier.shown();
    all.sort();
    let words = "The bob in Everybody: @room meets at noon (4)";
    assert_eq!(all, [notice("ann", words), notice("cat", words)]);
}

#[test]
fn refused_changes_have_a_reason_and_no_effect() {
    let scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "phone");
    let subscribe = |device: PushDevice| {
        let change = NotifyChange { subscribe: Some(device), ..NotifyChange::default() };
        Request::new(4, notifications::Command::Change(Box::new(change)))
    };
    let refused = |events: &[Delivery]| match events {
        [event!(Some(4), session::Refused(refusal))] => *refusal,
        other => panic!("not refused: {other:?}"),
    };
    assert_eq!(refused(&scene.ask(&ann, subscribe(browser("x")))), Refusal::NoPush);
    let view = scene.ask(&ann, Request::new(4, notifications::Command::Change(Box::default())));
    assert!(matches!(view[..], [event!(notifications::Settings { key: None, devices: 0, .. })]), "{view:?}");

    let carrier = Carrier::begin(&scene);
    let elsewhere = PushDevice { endpoint: "https://evil.example/x".into(), ..browser("x") };
    assert_eq!(refused(&scene.ask(&ann, subscribe(elsewhere))), Refusal::BadValue);
    scene.store.fail_writes(Some(StoreError::DiskFull));
    assert_eq!(refused(&scene.ask(&ann, subscribe(browser("x")))), Refusal::Unavailable);
    scene.store.fail_writes(None);
    assert_eq!(change(&scene, &ann, NotifyChange::default()), Ok((NotifySettings::default(), 0)));
    assert_eq!(carrier.shown(), []);
}

#[test]
fn browsers_are_known_after_a_restart() {
    let (mut scene, _, bob) = ann_is_away();
    scene.leave(&bob);
    scene.restart();
    let carrier = Carrier::begin(&scene);
    let bob = scene.sign_in("bob", "laptop");
    scene.send(&bob, to("ann"), "1", "Still there?");
    scene.wait(5_000);
    assert_eq!(carrier.shown(), [notice("phone", "The bob: Still there? (1)")]);
}

#[test]
fn a_blocked_member_of_a_room_causes_no_notice() {
    let (mut scene, carrier, bob) = ann_is_away();
    let kind = RoomKind::Public;
    let heard = scene.ask(
        &bob,
        Request::new(1, rooms::Command::Create { name: "Bikers".into(), kind, topic: None, alias: None }),
    );
    let [event!(messages::Conversation(conversation))] = heard.as_slice() else {
        panic!("no room: {heard:?}")
    };
    let room = || To::Conversation(conversation.id);
    let (ann, cat) = (scene.sign_in("ann", "laptop"), scene.sign_in("cat", "laptop"));
    for device in [&ann, &cat] {
        scene.ask(device, Request::new(2, rooms::Command::Join { to: room() }));
    }
    scene.contact(&ann, ContactAction::Block, "bob").unwrap();
    scene.leave(&ann);
    scene.wait(1_000);
    scene.send(&bob, room(), "b1", "Hello @ann");
    scene.wait(60_000);
    assert_eq!(carrier.shown(), []);
    // A message by another member gets a notice, although the blocked one writes right after it.
    scene.send(&cat, room(), "c1", "Tea?");
    scene.send(&bob, room(), "b2", "Ann! @ann");
    scene.wait(60_000);
    assert_eq!(carrier.shown(), [notice("phone", "The cat in Bikers: Tea? (1)")]);
    scene.send(&bob, room(), "b3", "@room @ann");
    scene.wait(60_000);
    assert_eq!(carrier.shown(), [], "nor is that told again");
    let ann = scene.sign_in("ann", "laptop");
    scene.contact(&ann, ContactAction::Unblock, "bob").unwrap();
    scene.leave(&ann);
    scene.send(&bob, room(), "b4", "Peace?");
    scene.wait(60_000);
    assert_eq!(carrier.shown(), [notice("phone", "The bob in Bikers: Peace? (5)")]);
}

/// Ann has a phone with notifications, and is away; Bob is here, and is her contact.
fn ann_can_be_called() -> (Scene, Arc<Carrier>, Device) {
    let mut scene = Scene::new(Mode::Open);
    let carrier = Carrier::begin(&scene);
    let (ann, bob) = (scene.sign_in("ann", "phone"), scene.sign_in("bob", "laptop"));
    scene.befriend(&ann, &bob);
    subscribe(&scene, &ann, "phone");
    scene.leave(&ann);
    scene.wait(500);
    (scene, carrier, bob)
}

/// None: the call is refused.
fn call(scene: &Scene, from: &Device, whom: &str) -> Option<CallId> {
    let action = CallAction::Invite { user: sub(whom), media: Media::Audio, offer: "offer".into() };
    let call = |event: &Delivery| match event {
        event!(calls::Call(event)) => Some(event.call),
        _ => None,
    };
    scene.ask(from, Request::new(1, calls::Command::Direct { action })).iter().find_map(call)
}

fn step(scene: &Scene, device: &Device, call: CallId, step: CallStep) {
    scene.command(device, calls::Command::Direct { action: CallAction::Of(call, step) });
}

const RINGS: &str = "The bob rings (Audio)";
const NO_LONGER: &str = "The bob no longer rings";

#[test]
fn an_unanswered_call_rings_by_push_and_becomes_a_missed_call() {
    let (mut scene, carrier, bob) = ann_can_be_called();
    call(&scene, &bob, "ann").unwrap();
    scene.wait(1_900);
    assert_eq!(carrier.shown(), []);
    scene.wait(200);
    let until = match &carrier.pushes.lock().unwrap()[..] {
        [Push { notice: PushNotice::Ring(ring), .. }] => ring.until,
        other => panic!("one ring: {other:?}"),
    };
    assert_eq!(until.0 - scene.now().0, RINGS_MS - 2_100);
    assert_eq!(carrier.shown(), [notice("phone", RINGS)]);
    scene.wait(RINGS_MS);
    assert_eq!(carrier.shown(), [notice("phone", "The bob: Audio call, missed (1)")]);
    scene.wait(120_000);
    assert_eq!(carrier.shown(), [], "once");
}

#[test]
fn a_call_that_is_cancelled_is_replaced_at_once_by_the_missed_call() {
    let (mut scene, carrier, bob) = ann_can_be_called();
    let id = call(&scene, &bob, "ann").unwrap();
    scene.wait(5_000);
    assert_eq!(carrier.shown(), [notice("phone", RINGS)]);
    step(&scene, &bob, id, CallStep::HangUp);
    assert_eq!(carrier.shown(), [notice("phone", "The bob: Audio call, missed (1)")], "no pause holds it up");
}

#[test]
fn a_call_that_is_answered_or_declined_elsewhere_no_longer_rings() {
    let (mut scene, carrier, bob) = ann_can_be_called();
    for accepts in [true, false] {
        let id = call(&scene, &bob, "ann").unwrap();
        scene.wait(3_000);
        assert_eq!(carrier.shown(), [notice("phone", RINGS)]);
        let ann = scene.sign_in("ann", "laptop");
        match accepts {
            true => step(&scene, &ann, id, CallStep::Accept { answer: "answer".into() }),
            false => step(&scene, &ann, id, CallStep::Decline { busy: false }),
        }
        assert_eq!(carrier.shown(), [notice("phone", NO_LONGER)]);
        if accepts {
            step(&scene, &bob, id, CallStep::HangUp);
        }
        scene.leave(&ann);
        scene.wait(60_000);
        assert_eq!(carrier.shown(), [], "a call that took place is not missed");
    }
}

#[test]
fn short_calls_and_calls_of_present_users_are_not_pushed() {
    let (mut scene, carrier, bob) = ann_can_be_called();
    let id = call(&scene, &bob, "ann").unwrap();
    scene.wait(1_000);
    step(&scene, &bob, id, CallStep::HangUp);
    assert_eq!(carrier.shown(), []);
    scene.wait(5_000);
    assert_eq!(carrier.shown(), [notice("phone", "The bob: Audio call, missed (1)")]);

    let ann = scene.sign_in("ann", "laptop");
    let id = call(&scene, &bob, "ann").unwrap();
    scene.wait(RINGS_MS + 60_000);
    assert_eq!(carrier.shown(), [], "the page rings");
    step(&scene, &bob, id, CallStep::HangUp);
    scene.drop_connection(&ann);
    call(&scene, &bob, "ann").unwrap();
    scene.wait(1_000);
    let ann = scene.sign_in("ann", "laptop");
    scene.wait(RINGS_MS);
    assert_eq!(carrier.shown(), [], "it was a page that was loaded anew");
    scene.command(&ann, presence::Command::Set(SetPresence::Away));
    call(&scene, &bob, "ann").unwrap();
    scene.wait(3_000);
    assert_eq!(carrier.shown(), [notice("phone", RINGS)], "somebody who is away, as with messages");
}

#[test]
fn a_refused_call_is_not_pushed() {
    let (mut scene, carrier, _) = ann_can_be_called();
    let eve = scene.sign_in("eve", "laptop");
    for _ in 0..5 {
        assert_eq!(call(&scene, &eve, "ann"), None, "a stranger");
        scene.wait(60_000);
    }
    assert_eq!(carrier.shown(), []);
    let ann = scene.sign_in("ann", "laptop");
    scene.befriend(&ann, &eve);
    scene.contact(&ann, ContactAction::Block, "eve").unwrap();
    scene.leave(&ann);
    assert_eq!(call(&scene, &eve, "ann"), None, "blocked");
    scene.wait(60_000);
    assert_eq!(carrier.shown(), []);
}

#[test]
fn muted_busy_and_quiet_apply_to_calls_too() {
    let (mut scene, carrier, bob) = ann_can_be_called();
    let rings = |scene: &mut Scene, bob: &Device| {
        call(scene, bob, "ann").unwrap();
        scene.wait(RINGS_MS + 60_000);
        carrier.shown().len()
    };
    assert_eq!(rings(&mut scene, &bob), 2);
    let (conversation, _) = scene.post(&bob, to("ann"), "1", "Hello").unwrap();
    let mute = |scene: &Scene, until| {
        let ann = scene.sign_in("ann", "laptop");
        let change = ConversationChange { muted_until: Some(until), ..ConversationChange::default() };
        scene.command(&ann, Request::new(1, messages::Command::ChangeConversation { conversation, change }));
        scene.command(&ann, messages::Command::Mark { conversation, set: MarkerSet::Read(Seq::MAX) });
        scene.leave(&ann);
    };
    mute(&scene, Timestamp::MAX);
    scene.wait(60_000);
    carrier.shown();
    assert_eq!(rings(&mut scene, &bob), 0, "muted");
    mute(&scene, Timestamp(0));

    let set = |scene: &Scene, quiet: Option<QuietHours>, presence| {
        let ann = scene.sign_in("ann", "laptop");
        let quiet = NotifyChange { quiet: Some(quiet), ..NotifyChange::default() };
        assert!(change(scene, &ann, quiet).is_ok());
        scene.command(&ann, presence::Command::Set(presence));
        scene.leave(&ann);
    };
    set(&scene, QuietHours::new(0, 1_439, 0), SetPresence::Online);
    assert_eq!(rings(&mut scene, &bob), 0, "quiet hours");
    set(&scene, None, SetPresence::Busy);
    assert_eq!(rings(&mut scene, &bob), 0, "busy");
    set(&scene, None, SetPresence::Online);
    assert_eq!(rings(&mut scene, &bob), 2);
}

#[test]
fn pushed_rings_of_one_caller_are_rate_limited() {
    let (mut scene, carrier, bob) = ann_can_be_called();
    let mut rings = 0;
    for _ in 0..100 {
        let id = call(&scene, &bob, "ann").unwrap();
        scene.wait(2_500);
        step(&scene, &bob, id, CallStep::HangUp);
        scene.wait(500);
        rings += carrier.shown().iter().filter(|(_, said)| said == RINGS).count();
    }
    assert_eq!(rings, 3 + 4, "in five minutes");
}

#[test]
fn a_message_while_it_rings_does_not_hide_the_call() {
    let (mut scene, carrier, bob) = ann_can_be_called();
    let id = call(&scene, &bob, "ann").unwrap();
    scene.wait(3_000);
    assert_eq!(carrier.shown(), [notice("phone", RINGS)]);
    scene.send(&bob, to("ann"), "1", "Pick up");
    scene.wait(36_000);
    assert_eq!(carrier.shown(), []);
    step(&scene, &bob, id, CallStep::HangUp);
    assert_eq!(carrier.shown(), [notice("phone", "The bob: Audio call, missed (2)")]);
    scene.wait(120_000);
    assert_eq!(carrier.shown(), []);
}

#[test]
fn a_ring_whose_entry_cannot_be_stored_does_not_stay_on_the_screen() {
    let (mut scene, carrier, bob) = ann_can_be_called();
    call(&scene, &bob, "ann").unwrap();
    scene.wait(3_000);
    carrier.shown();
    scene.store.fail_writes(Some(StoreError::DiskFull));
    scene.wait(RINGS_MS);
    assert_eq!(carrier.shown(), [notice("phone", NO_LONGER)]);
}

/// Keeps the apps that are woken: the node of the app, and the number of messages.
#[derive(Default)]
struct Alarm {
    wakes: Mutex<Vec<(String, u64)>>,
}

impl AppWaker for Alarm {
    fn wake(&self, wake: AppWake) {
        self.wakes.lock().unwrap().push((wake.push.node.into(), wake.messages));
    }
}

impl Alarm {
    fn begin(scene: &Scene) -> Arc<Alarm> {
        let alarm = Arc::new(Alarm::default());
        scene.node.wake_by(alarm.clone()).unwrap();
        alarm
    }

    fn woken(&self) -> Vec<(String, u64)> {
        std::mem::take(&mut *self.wakes.lock().unwrap())
    }
}

fn push_app(scene: &Scene, app: &Device, node: &str) -> Result<(), Refusal> {
    let push = AppPush { service: "push.example".into(), node: node.into(), options: "".into() };
    let command = notifications::Command::PushApp(Box::new(push));
    match scene.ask(app, Request::new(4, command)).as_slice() {
        [event!(Some(4), notifications::AppPush)] => Ok(()),
        [event!(Some(4), session::Refused(refusal))] => Err(*refusal),
        other => panic!("no answer: {other:?}"),
    }
}

fn woken(node: &str, messages: u64) -> (String, u64) {
    (node.into(), messages)
}

#[test]
fn each_app_without_an_awake_session_is_woken() {
    let mut scene = Scene::new(Mode::Open);
    let alarm = Alarm::begin(&scene);
    let bob = scene.sign_in("bob", "laptop");
    let phone = scene.sign_in_announced("ann", "phone", None);
    let tablet = scene.sign_in_announced("ann", "tablet", None);
    push_app(&scene, &phone, "phone").unwrap();
    push_app(&scene, &tablet, "tablet").unwrap();
    scene.send(&bob, to("ann"), "1", "Hello");
    scene.wait(60_000);
    assert_eq!(alarm.woken(), [], "both have shown it");
    scene.command(&phone, notifications::Command::SetIdle(true));
    scene.drop_connection(&tablet);
    scene.send(&bob, to("ann"), "2", "Are you there?");
    scene.wait(5_000);
    assert_eq!(alarm.woken(), [woken("phone", 2), woken("tablet", 2)]);
    scene.command(&phone, notifications::Command::SetIdle(false));
    scene.wait(60_000);
    scene.send(&bob, to("ann"), "3", "Hello?");
    scene.wait(5_000);
    assert_eq!(alarm.woken(), [woken("tablet", 3)]);
    // A new session of the app is awake.
    scene.command(&phone, notifications::Command::SetIdle(true));
    scene.drop_connection(&phone);
    scene.sign_in_announced("ann", "phone", None);
    scene.sign_in_announced("ann", "tablet", None);
    scene.wait(60_000);
    scene.send(&bob, to("ann"), "4", "Back?");
    scene.wait(5_000);
    assert_eq!(alarm.woken(), []);
}

/// Browsers follow the user, and each app follows itself; both follow the choices of the user.
#[test]
fn one_rule_decides_for_browsers_and_apps() {
    let (mut scene, carrier, bob) = ann_is_away();
    let alarm = Alarm::begin(&scene);
    let phone = scene.sign_in_announced("ann", "phone", None);
    push_app(&scene, &phone, "app").unwrap();
    scene.drop_connection(&phone);
    let page = scene.sign_in("ann", "laptop");
    scene.send(&bob, to("ann"), "1", "Hello");
    scene.wait(5_000);
    assert_eq!((carrier.shown(), alarm.woken()), (vec![], vec![woken("app", 1)]), "the page shows it");
    scene.command(
        &page,
        messages::Command::Mark {
            conversation: ConversationId::direct(page.session.user, bob.session.user).unwrap(),
            set: MarkerSet::Read(Seq(1)),
        },
    );
    assert_eq!(carrier.shown(), [], "no browser has shown what was read");
    scene.leave(&page);
    scene.wait(60_000);
    scene.send(&bob, to("ann"), "2", "Gone?");
    scene.wait(5_000);
    assert_eq!(carrier.shown(), [notice("phone", "The bob: Gone? (1)")]);
    assert_eq!(alarm.woken(), [woken("app", 1)]);

    let page = scene.sign_in("ann", "laptop");
    let always = NotifyChange { quiet: Some(QuietHours::new(0, 1_439, 0)), ..NotifyChange::default() };
    change(&scene, &page, always).unwrap();
    scene.leave(&page);
    scene.wait(60_000);
    scene.send(&bob, to("ann"), "3", "Quiet?");
    scene.wait(5_000);
    assert_eq!((carrier.shown(), alarm.woken()), (vec![], vec![]));
}

#[test]
fn an_app_is_woken_until_it_ends_that() {
    let mut scene = Scene::new(Mode::Open);
    let bob = scene.sign_in("bob", "laptop");
    let phone = scene.sign_in_announced("ann", "phone", None);
    assert_eq!(push_app(&scene, &phone, "app"), Err(Refusal::NoPush), "the node wakes nobody");
    let alarm = Alarm::begin(&scene);
    let guest = scene.sign_in_guest("browser");
    assert_eq!(push_app(&scene, &guest, "app"), Err(Refusal::NotAllowed));
    assert_eq!(push_app(&scene, &phone, &"x".repeat(1_025)), Err(Refusal::BadValue));
    push_app(&scene, &phone, "app").unwrap();
    scene.node.app_push_is_gone(phone.session.user, "push.example", "another");
    scene.command(&phone, notifications::Command::SetIdle(true));
    scene.send(&bob, to("ann"), "1", "Hello");
    scene.wait(5_000);
    assert_eq!(alarm.woken(), [woken("app", 1)]);
    let end = notifications::Command::EndAppPush { service: "push.example".into(), node: None };
    assert!(matches!(
        scene.ask(&phone, Request::new(5, end)).as_slice(),
        [event!(Some(5), notifications::AppPush)]
    ));
    scene.wait(60_000);
    scene.send(&bob, to("ann"), "2", "Hello?");
    scene.wait(5_000);
    assert_eq!(alarm.woken(), []);
    push_app(&scene, &phone, "app").unwrap();
    scene.node.app_push_is_gone(phone.session.user, "push.example", "app");
    scene.wait(60_000);
    scene.send(&bob, to("ann"), "3", "Hello?");
    scene.wait(5_000);
    assert_eq!(alarm.woken(), []);
}

/// Somebody names the service of a victim, and has many friends write.
#[test]
fn the_apps_of_a_user_are_woken_at_a_bounded_rate() {
    let mut scene = Scene::new(Mode::Open);
    let alarm = Alarm::begin(&scene);
    let phone = scene.sign_in_announced("ann", "phone", None);
    push_app(&scene, &phone, "app").unwrap();
    scene.drop_connection(&phone);
    let friends: Vec<Device> = (0..40).map(|number| scene.sign_in(&format!("friend{number}"), "x")).collect();
    for second in 0..60 {
        for friend in &friends {
            scene.send(friend, to("ann"), &format!("{second}"), "Hello");
        }
        scene.wait(1_000);
    }
    let count = alarm.woken().len();
    assert!((1..=18).contains(&count), "{count}");
}

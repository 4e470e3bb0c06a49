//! The wall clock jumps ahead and back. Members write on, nobody waits for the length of a jump, and nothing is lost that is not due.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::*;
use scene::*;
use store::Sqlite;

const DAY_MS: u64 = 24 * 3_600_000;
const MINUTE_MS: u64 = 60_000;

/// Far more than any burst, so that a limit which does not recover refuses one of them.
fn write_many(scene: &mut Scene, from: &Device, name: &str) {
    for count in 0..20 {
        scene.post(from, to("bob"), &format!("{name}-{count}"), name).unwrap();
        scene.wait(10_000);
    }
}

#[test]
fn members_write_on_during_a_jump_and_after_it() {
    for (jump, name) in [(2 * DAY_MS, "ahead"), (5_000, "a little ahead")] {
        let limits = Limits { send_burst: 10, send_per_minute: 20, ..limits() };
        let mut scene = Scene::with(Mode::Open, NodeConfig { limits, ..config() }, Sqlite::in_memory());
        scene.sign_in("bob", "b");
        let ann = scene.sign_in("ann", "a");
        write_many(&mut scene, &ann, "before");
        scene.now += jump;
        let ann = scene.sign_in("ann", "a");
        write_many(&mut scene, &ann, name);
        scene.now -= jump;
        let ann = scene.sign_in("ann", "a");
        write_many(&mut scene, &ann, "after");
        let (_, seq) = scene.post(&ann, to("bob"), "last", "last").unwrap();
        assert_eq!(seq, Seq(61), "{name}: each message once, in the order of writing");
    }
}

#[test]
fn a_token_ends_in_time_after_the_clock_was_set_back() {
    let mut scene = Scene::new(Mode::Open);
    scene.now += 2 * DAY_MS;
    scene.sign_in("bob", "b");
    // The look at the ends of tokens notes the time.
    scene.wait(3_700_000);
    scene.now -= 2 * DAY_MS;
    let ann = scene.sign_in("ann", "a");
    scene.wait(3_600_000 + 60_000 + 6_000);
    assert!(matches!(scene.take(&ann)[..], [event!(session::Bye(Refusal::TokenExpired))]));
}

#[test]
fn sessions_with_valid_tokens_stay() {
    let mut scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    for jump in [30 * MINUTE_MS as i64, -30 * MINUTE_MS as i64, -2 * DAY_MS as i64, 2 * DAY_MS as i64] {
        scene.now = scene.now.saturating_add_signed(jump);
        scene.wait(10_000);
        assert!(scene.take(&ann).is_empty(), "{jump}");
    }
    scene.post(&ann, to("bob"), "1", "still here").unwrap_err();
    scene.sign_in("bob", "b");
    scene.post(&ann, to("bob"), "2", "still here").unwrap();
}

#[test]
fn a_user_who_left_at_a_wrong_time_goes_offline_and_was_seen_now() {
    let mut scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, user));
    scene.befriend(&ann, &bob);
    scene.watch(&ann, &["bob"]);
    scene.wait(1_000);
    scene.take(&ann);
    scene.now += 30 * MINUTE_MS;
    scene.wait(1_000);
    scene.drop_connection(&bob);
    scene.now -= 30 * MINUTE_MS;
    scene.wait(11_000);
    let told = scene.take(&ann);
    let last_seen = told.iter().find_map(|one| match one {
        event!(presence::Presence { presence: Presence::Offline, last_seen, .. }) => *last_seen,
        _ => None,
    });
    let ago = scene.now().since(last_seen.expect("bob is offline for others"));
    assert!(ago <= 11_000, "bob was seen {ago} ms ago");
}

#[test]
fn nothing_is_removed_because_of_its_age_while_the_clock_is_not_trusted() {
    let mut scene = Scene::new(Mode::Open);
    let site = scene.store.sites().unwrap().remove(0);
    let settings = site.settings.with("retention.days", "1").unwrap();
    scene.store.set_settings(site.id, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, user));
    let room = room(&scene, &ann);
    scene.ask(&bob, Request::new(2, rooms::Command::Join { to: To::Conversation(room) }));
    scene.post(&ann, To::Conversation(room), "1", "kept").unwrap();
    let until = Timestamp(scene.now + DAY_MS);
    let sanction =
        RoomSanction { kind: RoomSanctionKind::Mute, until, reason: "Too loud".into(), shows_reason: true };
    scene.ask(
        &ann,
        Request::new(3, rooms::Command::SanctionMember { conversation: room, user: sub("bob"), sanction }),
    );
    let first = |scene: &Scene, device: &Device| {
        let to = To::Conversation(room);
        let history = messages::Command::History { to, before: None, after: None, thread: None, limit: None };
        match scene.ask(device, Request::new(1, history)).as_slice() {
            [event!(messages::History { messages, .. })] => messages.first().map(|one| one.body.to_string()),
            other => panic!("{other:?}"),
        }
    };
    scene.now += 2 * DAY_MS;
    for _ in 0..100 {
        scene.now += 100;
        scene.node.tick_without_removals(scene.now());
    }
    let bob = scene.sign_in("bob", "b-2");
    assert_eq!(first(&scene, &bob).as_deref(), Some("kept"));
    scene.now -= 2 * DAY_MS;
    let bob = scene.sign_in("bob", "b-3");
    assert_eq!(scene.post(&bob, To::Conversation(room), "2", "loud").map(drop), Err(Refusal::Muted));
    // The clock is trusted again, and both are over.
    scene.now += 2 * DAY_MS;
    scene.wait(10_000);
    let bob = scene.sign_in("bob", "b-4");
    assert_eq!(first(&scene, &bob), None);
    scene.post(&bob, To::Conversation(room), "3", "heard").unwrap();
}

fn room(scene: &Scene, owner: &Device) -> ConversationId {
    let (name, kind) = ("Bikers".into(), RoomKind::Public);
    let create = rooms::Command::Create { name, kind, topic: None, alias: None };
    match scene.ask(owner, Request::new(1, create)).as_slice() {
        [event!(messages::Conversation(conversation))] => conversation.id,
        other => panic!("no room: {other:?}"),
    }
}

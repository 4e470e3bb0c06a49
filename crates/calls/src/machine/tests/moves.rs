//! Relays that go on in another process.

use super::*;
use crate::Quotas;
use crate::client::Caller;
use crate::machine::RelaysRecord;

/// Moves to a scene with these settings. Only sockets that pass come along.
fn moved(mut from: Scene, settings: CallsConfig, comes: impl Fn(RelayId) -> bool) -> Scene {
    let record = serde_json::to_string(&from.machine.write_down(from.now.instant)).unwrap();
    let mut to = Scene::new(settings);
    // Its clock began at another time.
    to.now.instant += Duration::from_secs(1_000);
    to.now.unix_ms = from.now.unix_ms;
    from.open.retain(|relay| comes(*relay));
    let record: RelaysRecord = serde_json::from_str(&record).unwrap();
    to.open = to.machine.continue_relays(record, |relay| from.open.contains(&relay), to.now.instant);
    to.open.sort_unstable();
    to.next_port = Some(55_000);
    to
}

fn two_relays(settings: CallsConfig) -> (Scene, At) {
    let (mut scene, mut anna) = (Scene::new(settings), anna(4_000));
    let both = |caller: &mut Caller| {
        caller.request(method::ALLOCATE, |message| {
            message
                .u32(attribute::REQUESTED_TRANSPORT, 17 << 24)
                .u32(attribute::ADDITIONAL_ADDRESS_FAMILY, 2 << 24);
        })
    };
    assert!(scene.succeeds(&mut anna, both));
    assert_eq!(scene.machine.relays(), 2);
    (scene, anna)
}

#[test]
fn a_relay_keeps_its_channel_its_permissions_and_the_rest_of_their_times() {
    let peer = addr(PEER);
    let mut scene = Scene::new(config());
    let mut anna = scene.with_peer(peer);
    let other = addr("8.8.8.8:9");
    assert!(scene.succeeds(&mut anna, |caller| caller.bind(0x4000, other)));
    scene.pass(200);
    let mut scene = moved(scene, config(), |_| true);
    assert_eq!(scene.machine.relays(), 1);
    let message = channel_data(0x4000, b"data");
    assert_eq!(scene.say(&anna, &message), Got::ToPeer(other, b"data".to_vec()));
    assert_eq!(scene.receive_from_peer(0, other, b"back"), Some(channel_data(0x4000, b"back")));
    assert!(scene.receive_from_peer(0, peer, b"permitted").is_some());
    assert!(scene.receive_from_peer(0, addr("8.8.9.9:1"), b"not permitted").is_none());
    scene.pass(101);
    assert!(scene.receive_from_peer(0, peer, b"late").is_none(), "300 s after it was permitted");
    // The nonce of the old process is stale.
    assert!(scene.succeeds(&mut anna, |caller| caller.refresh(600)));
    scene.pass(590);
    assert_eq!(scene.machine.relays(), 1);
    scene.pass(20);
    assert_eq!((scene.machine.relays(), scene.open.len()), (0, 0));
}

#[test]
fn a_relay_of_two_goes_on_alone_if_the_socket_of_the_other_has_not_come() {
    for kept in 0..2 {
        let (scene, mut anna) = two_relays(config());
        let kept = scene.open[kept];
        let mut scene = moved(scene, config(), |relay| relay == kept);
        assert_eq!(scene.open, [kept]);
        assert!(scene.succeeds(&mut anna, |caller| caller.refresh(600)));
        assert!(scene.succeeds(&mut anna, |caller| caller.refresh(0)));
        assert_eq!((scene.machine.relays(), scene.machine.has_relay(anna.client)), (0, false));
        assert!(matches!(scene.allocate(&mut anna), Heard::Success { .. }), "its place is free again");
    }
}

#[test]
fn both_relays_of_a_client_stay_together() {
    let (scene, mut anna) = two_relays(config());
    let ids = scene.open.clone();
    let mut scene = moved(scene, config(), |_| true);
    assert_eq!(scene.open, ids);
    assert!(scene.succeeds(&mut anna, |caller| caller.refresh(0)), "without a family it ends both");
    assert_eq!(scene.machine.relays(), 0);
}

#[test]
fn quotas_and_ended_calls_count_in_the_new_process() {
    let (scene, _) = two_relays(config());
    let strict = CallsConfig { quotas: Quotas { user_relays: 1, ..config().quotas }, ..config() };
    let scene = moved(scene, strict, |_| true);
    assert_eq!((scene.machine.relays(), scene.machine.shared.sites.each()[0].open()), (1, 1));

    let mut scene = Scene::new(config());
    let mut anna = named("1800003600:7-1f-000000000000feed", 4_000);
    assert!(matches!(scene.allocate(&mut anna), Heard::Success { .. }));
    let over = CallsConfig { is_live: Arc::new(|_| false), ..config() };
    let mut scene = moved(scene, over, |_| true);
    assert_eq!(scene.machine.relays(), 1, "who is in a call may not be known at once");
    scene.pass(5);
    assert_eq!((scene.machine.relays(), scene.open.len()), (0, 0));
}

#[test]
fn a_place_of_an_ended_relay_has_a_later_generation_in_the_new_process() {
    let mut scene = Scene::new(config());
    let mut anna = anna(4_000);
    assert!(matches!(scene.allocate(&mut anna), Heard::Success { .. }));
    let ended = scene.open[0];
    assert!(scene.succeeds(&mut anna, |caller| caller.refresh(0)));
    let mut scene = moved(scene, config(), |_| true);
    assert!(matches!(scene.allocate(&mut anna), Heard::Success { .. }));
    assert_eq!(scene.open[0].slot, ended.slot);
    assert!(scene.open[0].generation > ended.generation);
}

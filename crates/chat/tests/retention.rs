//! Retention in virtual time: messages older than the owner's limit are removed.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::*;
use scene::*;

const DAY: u64 = 24 * 3_600_000;

fn set(scene: &Scene, path: &str, value: &str) {
    let site = scene.store.sites().unwrap().remove(0);
    let settings = site.settings.with(path, value).unwrap();
    scene.store.set_settings(site.id, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
}

fn bodies(scene: &Scene, device: &Device, to: To) -> Vec<String> {
    let history = Request::new(
        1,
        messages::Command::History { to, before: None, after: None, thread: None, limit: None },
    );
    match scene.ask(device, history).as_slice() {
        [event!(messages::History { messages, more: false, .. })] => {
            messages.iter().map(|one| one.body.to_string()).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn messages_beyond_the_retention_time_are_removed() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.post(&ann, to("bob"), "a-1", "old").unwrap();
    scene.now += 20 * DAY;
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", bob.welcome.me.sub.as_str()));
    scene.post(&ann, to("bob"), "a-2", "newer").unwrap();
    scene.now += 20 * DAY;
    let bob = scene.sign_in("bob", bob.welcome.me.sub.as_str());
    scene.wait(2_000);
    assert_eq!(bodies(&scene, &bob, to("ann")), ["old", "newer"], "nobody has said that they shall go");
    set(&scene, "retention.days", "30");
    // The next round over the sites.
    scene.now += 700_000;
    let bob = scene.sign_in("bob", "b");
    scene.wait(3_000);
    assert_eq!(bodies(&scene, &bob, to("ann")), ["newer"]);
    let (_, seq) = scene.post(&bob, to("ann"), "b-1", "and on").unwrap();
    assert_eq!(seq, Seq(3), "numbers stay");
}

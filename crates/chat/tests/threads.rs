//! Several workers at once: no deadlock, no session missing from the counts, and every session receives
//! events in order and once.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::collections::{BTreeMap, BTreeSet};

use chat::*;
use rand::{Rng, SeedableRng, rngs::StdRng};
use scene::*;

const WORKERS: u64 = 4;
const USERS: u64 = 12;
const STEPS: u64 = 1_500;

#[test]
fn workers_in_parallel() {
    let scene = Scene::new(Mode::Open);
    for user in 0..USERS {
        let device = scene.sign_in(&name(user), "first");
        scene.leave(&device);
    }
    let (living, received) = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                let scene = &scene;
                scope.spawn(move || work(scene, worker_of(worker)))
            })
            .collect();
        let housekeeper = scope.spawn(|| {
            for tick in 0..200 {
                scene.node.tick(Timestamp(START + tick * 100));
                scene.node.refresh_sites().unwrap();
            }
        });
        housekeeper.join().unwrap();
        let mut living = Vec::new();
        let mut received = Vec::new();
        for worker in workers {
            let (sessions, events) = worker.join().unwrap();
            living.extend(sessions);
            received.extend(events);
        }
        (living, received)
    });

    let stats = scene.node.stats();
    assert_eq!(stats.sessions, living.len() as u64);
    let online: BTreeSet<UserId> = living.iter().map(|device| device.session.user).collect();
    assert_eq!(stats.users_online, online.len() as u64);

    let mut places: BTreeMap<(ConversationId, Seq), String> = BTreeMap::new();
    for (device, events) in &received {
        check_order(device, events);
        for event in events {
            if let event!(messages::Ack { client_id, conversation, seq, .. }) = event {
                let before = places.insert((*conversation, *seq), client_id.to_string());
                assert_eq!(before, None, "one place, one message");
            }
        }
    }
    assert_eq!(
        places.len() as u64,
        stats.messages,
        "every stored message was acknowledged to a living session"
    );
    living.iter().for_each(|device| scene.leave(device));
    assert_eq!((scene.node.stats().sessions, scene.node.stats().users_online), (0, 0));
}

/// The worker's own random numbers and users: each session belongs to one worker.
fn worker_of(worker: u64) -> (StdRng, Vec<u64>) {
    (StdRng::seed_from_u64(worker), (0..USERS).filter(|user| user % WORKERS == worker).collect())
}

fn name(user: u64) -> String {
    format!("user{user}")
}

type Heard = Vec<(Device, Vec<Delivery>)>;

fn work(scene: &Scene, (mut rng, users): (StdRng, Vec<u64>)) -> (Vec<Device>, Heard) {
    let mut devices: BTreeMap<(u64, u32), Device> = BTreeMap::new();
    let mut received = Vec::new();
    for step in 0..STEPS {
        let user = users[rng.random_range(0..users.len())];
        let place = (user, rng.random_range(0..2));
        let other = name(rng.random_range(0..USERS));
        let Some(device) = devices.get(&place).cloned() else {
            let handle = scene.hello(Some(&scene.token(&name(user))), &format!("d{}", place.1), None);
            devices.insert(place, wait_for_welcome(scene, handle));
            continue;
        };
        match rng.random_range(0..20) {
            0..11 if other != name(user) => {
                let id = format!("{user}-{}-{step}", place.1);
                scene.send(&device, to(&other), &id, "x");
            }
            11..13 => scene.command(&device, messages::Command::Typing { to: to(&other), on: true }),
            13..15 => {
                scene.command(&device, presence::Command::Watch { contacts: false, users: vec![sub(&other)] })
            }
            15 => scene.command(&device, presence::Command::Set(SetPresence::Busy)),
            16 => scene.command(&device, Request::new(1, sign_in::Command::Resume { position: None })),
            17 => {
                let action = ContactAction::Request;
                scene.command(
                    &device,
                    Request::new(2, contacts::Command::Change { action, user: sub(&other) }),
                );
            }
            18 => {
                // Only without pending work, so that every acknowledgement finds its session.
                while !scene.idle() {
                    std::thread::yield_now();
                }
                scene.drop_connection(&device);
                devices.remove(&place);
                received.push((device.clone(), scene.take(&device)));
            }
            _ => {}
        }
    }
    while !scene.idle() {
        std::thread::yield_now();
    }
    received.extend(devices.values().map(|device| (device.clone(), scene.take(device))));
    (devices.into_values().collect(), received)
}

/// Another thread may execute this worker's work.
fn wait_for_welcome(scene: &Scene, handle: SessionHandle) -> Device {
    loop {
        let mut events = scene.inbox.take(handle);
        if !events.is_empty() {
            let rest = events.split_off(1);
            scene.inbox.put_back(handle, events);
            let device = scene.welcomed(handle);
            scene.inbox.put_back(handle, rest);
            return device;
        }
        std::thread::yield_now();
    }
}

fn check_order(device: &Device, events: &[Delivery]) {
    let mut last = device.welcome.changes.position;
    let mut newest: BTreeMap<ConversationId, Seq> = BTreeMap::new();
    for event in events {
        let position = match event {
            event!(_, Some(position), messages::Message(message)) => {
                let before = newest.insert(message.conversation, message.seq);
                assert!(before < Some(message.seq), "{:?} after {before:?}", message.seq);
                *position
            }
            event!(_, Some(position), contacts::Contact(_))
            | event!(_, Some(position), messages::Ack { .. }) => *position,
            event!(session::Changes(changes)) => changes.position,
            _ => continue,
        };
        assert!(position >= last, "{position:?} after {last:?}");
        last = position;
    }
}

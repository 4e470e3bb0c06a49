//! Devices: signed-in and signed-out ones.

use chat::{Agent, DeviceRow, MOST_DEVICES, NewDevice, SignedOut, SiteId, Store, Timestamp, UserId};

use crate::asking::{NOW, ask, put, sub};
use crate::two_users;

fn device(id: u64, at: u64) -> NewDevice {
    let agent = Agent::parse(b"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Firefox/128.0");
    NewDevice { id, agent, expires: Timestamp(NOW.0 + 1_000), time: Timestamp(NOW.0 + at) }
}

fn list(store: &dyn Store, user: UserId) -> Vec<DeviceRow> {
    ask(|done| store.devices(user, done))
}

fn out(store: &dyn Store, site: SiteId, user: &str, id: u64) -> Option<SignedOut> {
    ask(|done| store.signed_out(site, sub(user), id, done))
}

pub(crate) fn a_device_is_kept_until_it_is_signed_out(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let laptop = u64::MAX - 5;
    store.put_device(ann, device(laptop, 0));
    store.put_device(ann, device(7, 1));
    store.put_device(ann, device(laptop, 2));
    store.put_device(bob, device(7, 3));
    store.flush().expect("the store works");
    let rows = list(store, ann);
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), [laptop, 7], "the one used last first");
    assert_eq!((rows[0].created, rows[0].used), (NOW, Timestamp(NOW.0 + 2)));
    assert_eq!(rows[0].agent, device(0, 0).agent);
    assert_eq!(out(store, site, "ann", laptop), None);
    let at = Timestamp(NOW.0 + 9);
    let later = Timestamp(NOW.0 + 5_000);
    let sign_out = |user, id| ask(|done| store.sign_out(user, id, later, at, done));
    assert_eq!(sign_out(ann, laptop), Some(false), "no browser of hers takes notifications");
    assert_eq!((sign_out(ann, laptop), sign_out(ann, 8)), (None, None));
    assert_eq!(out(store, site, "ann", laptop), Some(SignedOut { at, expires: later }));
    assert_eq!(list(store, ann).len(), 1);
    assert_eq!((out(store, site, "bob", 7), list(store, bob).len()), (None, 1), "his is another one");
    assert_eq!(out(store, site, "nobody", 7), None);
    store.put_device(ann, device(laptop, 20));
    store.flush().expect("the store works");
    assert_eq!((out(store, site, "ann", laptop), list(store, ann).len()), (None, 2), "it has come back");
    assert!(store.remove_site(site).expect("the store works"));
    assert_eq!(list(store, ann), []);
}

pub(crate) fn only_the_devices_used_last_are_kept(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let cat = put(store, site, "cat");
    store.put_device(cat, device(1, 0));
    for number in 0..MOST_DEVICES as u64 + 3 {
        store.put_device(ann, device(number, number));
    }
    store.flush().expect("the store works");
    let kept: Vec<u64> = list(store, ann).iter().map(|row| row.id).collect();
    let expected: Vec<u64> = (3..MOST_DEVICES as u64 + 3).rev().collect();
    assert_eq!((kept, list(store, cat).len()), (expected, 1));
}

//! App passwords: their keys, their list, and the end of each.

use std::num::NonZeroU32;

use chat::{
    AppPasswordRow, AppPasswordUser, By, MOST_APP_PASSWORDS, NewAppPassword, NewErasure, Refusal, ScramKeys,
    ScramPair, SiteId, Store, StoredKeys, Timestamp, UserId, UserRow,
};

use crate::asking::{NOW, add_site, ask, profile, put, since, sub};
use crate::two_users;

const HOUR: u64 = 3_600_000;

fn later(ms: u64) -> Timestamp {
    Timestamp(NOW.0 + ms)
}

fn keys(byte: u8) -> StoredKeys {
    let scram = ScramKeys {
        sha1: ScramPair { stored: [byte; 20], server: [byte + 1; 20] },
        sha256: ScramPair { stored: [byte + 2; 32], server: [byte + 3; 32] },
    };
    StoredKeys {
        iterations: NonZeroU32::new(4_096).expect("not zero"),
        scram,
        verifier: Some([byte + 4; 32]),
    }
}

fn add(store: &dyn Store, user: UserId, byte: u8, by: By) -> Result<AppPasswordRow, Refusal> {
    let new =
        NewAppPassword { name: format!("App {byte}").into(), keys: keys(byte), time: later(byte.into()) };
    ask(|done| store.add_app_password(user, new, by, done))
}

fn own(store: &dyn Store, user: UserId, byte: u8) -> u32 {
    add(store, user, byte, By::User(user)).expect("one may").number
}

fn list(store: &dyn Store, user: UserId) -> Vec<AppPasswordRow> {
    ask(|done| store.app_passwords(user, done))
}

fn revoke(store: &dyn Store, user: UserId, number: u32, by: By) -> Result<bool, Refusal> {
    ask(|done| store.revoke_app_password(user, number, by, NOW, done))
}

/// The row that `met` gets, and the row of the answer.
fn sign_in(store: &dyn Store, site: SiteId, id: &str, number: u32, now: Timestamp) -> Option<UserRow> {
    let user = AppPasswordUser { site, sub: sub(id), number };
    let met = Box::new(|_: &UserRow| true);
    ask(|done| store.sign_in_with_app_password(user, since(None), now, met, done)).map(|(row, _)| row)
}

pub(crate) fn the_keys_of_a_user_are_kept_until_they_are_revoked(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let of = |id: &str| ask(|done| store.app_credentials(site, sub(id), done));
    assert_eq!((of("ann").salt_key, of("nobody").salt_key), (None, None));
    let key = ask(|done| store.salt_key(site, [7; 32], done));
    assert_eq!((key, ask(|done| store.salt_key(site, [8; 32], done))), ([7; 32], [7; 32]), "the first stays");
    let numbers = [own(store, ann, 1), own(store, ann, 2)];
    let found = of("ann");
    assert_eq!(found.salt_key, Some([7; 32]));
    assert_eq!(found.passwords, [(numbers[0], keys(1)), (numbers[1], keys(2))]);
    for id in ["bob", "nobody"] {
        assert_eq!((of(id).salt_key, of(id).passwords), (Some([7; 32]), vec![]), "{id}");
    }
    let rows = list(store, ann);
    let row = |number, byte: u8| AppPasswordRow {
        number,
        name: format!("App {byte}").into(),
        created: later(byte.into()),
        used: None,
    };
    assert_eq!(rows, [row(numbers[1], 2), row(numbers[0], 1)]);
    assert_eq!(revoke(store, bob, numbers[0], By::User(bob)), Ok(false), "his are others");
    assert_eq!(revoke(store, ann, numbers[0], By::User(bob)), Err(Refusal::NotAllowed));
    assert_eq!(revoke(store, ann, numbers[0], By::User(ann)), Ok(true));
    assert_eq!(revoke(store, ann, numbers[0], By::User(ann)), Ok(false));
    assert_eq!((of("ann").passwords, list(store, ann).len()), (vec![(numbers[1], keys(2))], 1));
    let asked = vec![(ann, numbers[0]), (ann, numbers[1]), (bob, numbers[1])];
    assert_eq!(ask(|done| store.missing_app_passwords(asked, done)), [(ann, numbers[0]), (bob, numbers[1])]);
    assert!(store.remove_site(site).expect("the store works"));
    assert!(list(store, ann).is_empty() && of("ann").salt_key.is_none());
}

pub(crate) fn passwords_are_for_members_and_bounded(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let guest = chat::Profile { guest: true, ..profile("guest-1", "Guest") };
    let guest = ask(|done| store.put_user(site, guest, NOW, done)).id;
    assert_eq!(add(store, guest, 1, By::User(guest)), Err(Refusal::NotAllowed));
    assert_eq!(add(store, ann, 1, By::User(bob)), Err(Refusal::NotAllowed));
    assert_eq!(add(store, UserId { site, num: 99 }, 1, By::Site), Err(Refusal::NoSuchUser));
    let first = own(store, ann, 1);
    for byte in 2..=MOST_APP_PASSWORDS as u8 {
        own(store, ann, byte);
    }
    assert_eq!(add(store, ann, 99, By::User(ann)), Err(Refusal::TooManyAppPasswords));
    assert_eq!(add(store, ann, 99, By::Site), Err(Refusal::TooManyAppPasswords));
    revoke(store, ann, first, By::User(ann)).expect("she may");
    assert!(own(store, ann, 98) > first, "a number is never used again");
    ask(|done| store.set_banned(bob, true, done));
    assert_eq!(add(store, bob, 1, By::User(bob)), Err(Refusal::Banned));
}

pub(crate) fn a_sign_in_by_password_reads_the_user_and_stores_the_use_once_an_hour(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let number = own(store, ann, 1);
    let used = || {
        store.flush().expect("the store works");
        list(store, ann)[0].used
    };
    assert_eq!(sign_in(store, site, "ann", number, later(HOUR)).map(|row| row.id), Some(ann));
    assert_eq!(used(), Some(later(HOUR)));
    sign_in(store, site, "ann", number, later(2 * HOUR - 1)).expect("it exists");
    assert_eq!(used(), Some(later(HOUR)));
    sign_in(store, site, "ann", number, later(2 * HOUR)).expect("it exists");
    assert_eq!(used(), Some(later(2 * HOUR)));
    for (id, number) in [("ann", number + 1), ("bob", number), ("nobody", number)] {
        assert_eq!(sign_in(store, site, id, number, NOW), None, "{id} {number}");
    }
    assert_eq!(sign_in(store, add_site(store, "other"), "ann", number, NOW), None);
}

pub(crate) fn acts_of_the_operator_are_recorded_and_told_to_nodes(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let record = || {
        let rows = ask(|done| store.audit(site, By::Site, None, 10, done)).expect("the site may").rows;
        rows.into_iter()
            .rev()
            .map(|entry| (entry.act.to_string(), entry.detail.to_string()))
            .collect::<Vec<_>>()
    };
    let revision = || store.revision().expect("the store works");
    let before = revision();
    let own = own(store, bob, 1);
    revoke(store, bob, own, By::User(bob)).expect("he may");
    assert_eq!((record(), revision()), (vec![], before), "one's own is one's own matter");
    let number = add(store, ann, 2, By::Site).expect("the operator may").number;
    assert_eq!(revision(), before);
    assert_eq!(store.ended_app_passwords(), Ok(vec![]));
    assert_eq!(revoke(store, ann, number, By::Site), Ok(true));
    assert_ne!(revision(), before);
    let said = |act: &str| (act.to_owned(), "App 2".to_owned());
    assert_eq!(record(), [said("add_app_password"), said("revoke_app_password")]);
    assert_eq!(store.ended_app_passwords(), Ok(vec![(ann, number)]));
    let next = add(store, ann, 3, By::Site).expect("the operator may").number;
    let day = later(24 * HOUR + 1);
    ask(|done| store.revoke_app_password(ann, next, By::Site, day, done)).expect("the operator may");
    assert_eq!(store.ended_app_passwords(), Ok(vec![(ann, next)]), "for a day");
}

pub(crate) fn an_erased_user_has_no_passwords(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let number = own(store, ann, 1);
    let erasure = NewErasure {
        user: ann,
        alias: sub("deleted-1"),
        name: "Deleted user".into(),
        messages: chat::MessagesAfterErasure::Kept,
        by: By::Site,
        time: NOW,
    };
    ask(|done| store.begin_erasure(erasure, done)).expect("she exists");
    assert_eq!(list(store, ann), []);
    for id in ["ann", "deleted-1"] {
        assert_eq!(sign_in(store, site, id, number, NOW), None, "{id}");
    }
    put(store, site, "ann");
    assert_eq!(sign_in(store, site, "ann", number, NOW), None, "the next user of the id");
    assert_eq!(add(store, ann, 2, By::Site), Err(Refusal::Banned));
}

//! App passwords: their keys, their list, and the end of each.

use std::num::NonZeroU32;

use chat::{
    APP_TOKEN_REPLACED_AFTER_MS, AppDevice, AppDeviceOf, AppPasswordRow, AppPasswordUser, AppToken,
    AppTokenSecret, AppTokens, By, MOST_APP_PASSWORDS, MOST_APP_TOKENS, NewAppPassword, NewErasure, Refusal,
    ScramKeys, ScramPair, SiteId, Store, StoredKeys, Timestamp, UserId, UserRow,
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

pub(crate) fn own(store: &dyn Store, user: UserId, byte: u8) -> u32 {
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

fn device(site: SiteId, id: &str, device: &str) -> AppDeviceOf {
    AppDeviceOf { site, sub: sub(id), device: AppDevice::of(device) }
}

fn token(byte: u8, expires: u64) -> AppToken {
    AppToken { secret: AppTokenSecret([byte; 32]), expires: later(expires) }
}

fn tokens(number: u32, byte: u8, expires: u64) -> AppTokens {
    AppTokens { number, mechanism: "HT".into(), current: token(byte, expires), next: None }
}

fn put_tokens(store: &dyn Store, of: &AppDeviceOf, tokens: AppTokens) -> bool {
    ask(|done| store.put_app_tokens(of.clone(), tokens, NOW, done))
}

fn tokens_of(store: &dyn Store, of: &AppDeviceOf) -> Option<AppTokens> {
    ask(|done| store.app_tokens(of.clone(), done))
}

pub(crate) fn a_device_has_the_tokens_of_one_password(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let (number, of_bob) = (own(store, ann, 1), own(store, bob, 2));
    let phone = device(site, "ann", "phone");
    assert_eq!(tokens_of(store, &phone), None);
    assert!(put_tokens(store, &phone, tokens(number, 1, HOUR)));
    assert!(put_tokens(store, &phone, AppTokens { next: Some(token(3, HOUR)), ..tokens(number, 2, HOUR) }));
    let kept = AppTokens { next: Some(token(3, HOUR)), ..tokens(number, 2, HOUR) };
    assert_eq!(tokens_of(store, &phone), Some(kept.clone()));
    for (id, on) in [("ann", "laptop"), ("bob", "phone"), ("nobody", "phone")] {
        assert_eq!(tokens_of(store, &device(site, id, on)), None, "{id} {on}");
    }
    for (id, number) in [("ann", of_bob), ("nobody", number)] {
        assert!(!put_tokens(store, &device(site, id, "phone"), tokens(number, 4, HOUR)), "{id} {number}");
    }
    assert_eq!(tokens_of(store, &phone), Some(kept));
    ask(|done| store.remove_app_tokens(device(site, "ann", "laptop"), done));
    assert!(tokens_of(store, &phone).is_some());
    ask(|done| store.remove_app_tokens(phone.clone(), done));
    assert_eq!(tokens_of(store, &phone), None);
    ask(|done| store.remove_app_tokens(device(site, "nobody", "phone"), done));
}

pub(crate) fn a_token_is_replaced_by_use(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let phone = device(site, "ann", "phone");
    let number = own(store, ann, 1);
    assert!(put_tokens(store, &phone, tokens(number, 1, chat::APP_TOKEN_MS)));
    let day = APP_TOKEN_REPLACED_AFTER_MS;
    let used = |byte: u8, fresh: u8, ms: u64| {
        let fresh = token(fresh, ms + chat::APP_TOKEN_MS);
        ask(|done| store.use_app_token(phone.clone(), AppTokenSecret([byte; 32]), fresh, later(ms), done))
    };
    assert_eq!(used(1, 7, day - 1), None);
    assert_eq!(used(9, 7, day), None, "an unknown token");
    assert_eq!(tokens_of(store, &phone), Some(tokens(number, 1, chat::APP_TOKEN_MS)));
    let next = token(8, day + chat::APP_TOKEN_MS);
    assert_eq!(used(1, 8, day), Some(next.clone()));
    assert_eq!(used(1, 9, day + 1), Some(next.clone()), "the same, because the app may have lost it");
    assert_eq!(used(8, 9, day + 2), None);
    assert_eq!(tokens_of(store, &phone), Some(AppTokens { current: next, ..tokens(number, 1, 0) }));
    assert_eq!(used(1, 9, day + 3), None);
}

pub(crate) fn tokens_end_with_their_password_and_their_user(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let numbers = [own(store, ann, 1), own(store, ann, 2)];
    let devices = [device(site, "ann", "phone"), device(site, "ann", "laptop")];
    for (of, number) in devices.iter().zip(numbers) {
        assert!(put_tokens(store, of, tokens(number, 1, HOUR)));
    }
    revoke(store, ann, numbers[0], By::User(ann)).expect("she may");
    assert_eq!(tokens_of(store, &devices[0]), None);
    assert_eq!(tokens_of(store, &devices[1]).map(|tokens| tokens.number), Some(numbers[1]));
    let of_bob = device(site, "bob", "phone");
    assert!(put_tokens(store, &of_bob, tokens(own(store, bob, 3), 1, HOUR)));
    let erasure = NewErasure {
        user: ann,
        alias: sub("deleted-1"),
        name: "Deleted user".into(),
        messages: chat::MessagesAfterErasure::Kept,
        by: By::Site,
        time: NOW,
    };
    ask(|done| store.begin_erasure(erasure, done)).expect("she exists");
    assert_eq!(tokens_of(store, &device(site, "deleted-1", "laptop")), None);
    assert!(tokens_of(store, &of_bob).is_some());
    assert!(store.remove_site(site).expect("the store works"));
    assert_eq!(tokens_of(store, &of_bob), None);
}

pub(crate) fn tokens_of_a_user_are_bounded_and_expire(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let (number, of_bob) = (own(store, ann, 1), own(store, bob, 2));
    let bobs = device(site, "bob", "phone");
    assert!(put_tokens(store, &bobs, tokens(of_bob, 1, 1)));
    let nth = |at: u32| device(site, "ann", &format!("device {at}"));
    for at in 0..=MOST_APP_TOKENS {
        assert!(put_tokens(store, &nth(at), tokens(number, 1, u64::from(at) + 1)));
    }
    assert_eq!(tokens_of(store, &nth(0)), None, "it would end first");
    let left = |until: u32| (1..=until).filter(|at| tokens_of(store, &nth(*at)).is_some()).count() as u32;
    assert_eq!(left(MOST_APP_TOKENS), MOST_APP_TOKENS);
    assert!(tokens_of(store, &bobs).is_some(), "others lose nothing");
    let all_but_one = later(u64::from(MOST_APP_TOKENS));
    let fresh = tokens(number, 2, HOUR);
    assert!(ask(|done| store.put_app_tokens(nth(0), fresh, all_but_one, done)));
    assert_eq!((left(MOST_APP_TOKENS), tokens_of(store, &nth(0)).is_some()), (1, true));
}

pub(crate) fn a_changed_password_has_another_number(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let numbers = [own(store, ann, 1), own(store, ann, 2)];
    let phone = device(site, "ann", "phone");
    assert!(put_tokens(store, &phone, tokens(numbers[0], 1, HOUR)));
    sign_in(store, site, "ann", numbers[0], later(HOUR)).expect("it exists");
    let change = |user: UserId, number: u32| {
        ask(|done| store.change_app_password(user, number, keys(9), later(2 * HOUR), done))
    };
    assert_eq!(change(bob, numbers[0]), Err(Refusal::SignedOut));
    let changed = change(ann, numbers[0]).expect("it exists");
    assert!(changed > numbers[1]);
    assert_eq!(change(ann, numbers[0]), Err(Refusal::SignedOut));
    let found = ask(|done| store.app_credentials(site, sub("ann"), done)).passwords;
    assert_eq!(found, [(numbers[1], keys(2)), (changed, keys(9))]);
    let row = AppPasswordRow {
        number: changed,
        name: "App 1".into(),
        created: later(2 * HOUR),
        used: Some(later(HOUR)),
    };
    assert_eq!(list(store, ann)[0], row);
    assert_eq!(tokens_of(store, &phone), None);
    assert_eq!(sign_in(store, site, "ann", numbers[0], NOW), None, "a sign-in that is under way");
}

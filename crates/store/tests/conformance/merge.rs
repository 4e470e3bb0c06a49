//! Guests who become members.

use chat::token::{Claims, sign};
use chat::{
    By, EraseSlice, GuestProof, Merge, Profile, Refusal, Secret, SecretKind, Seq, Site, SiteId, Store,
    UserId, UserRow,
};

use crate::asking::{NOW, ask, direct, profile, put, say, snapshot, sub};
use crate::{FRIENDS, relate, two_users};

pub(crate) fn guest(store: &dyn Store, site: SiteId, id: &str) -> UserId {
    let profile = Profile { guest: true, ..profile(id, "Guest 1234") };
    ask(|done| store.put_user(site, profile, NOW, done)).id
}

/// A proof from a token that this test signs: the store trusts the proof.
fn proof(site: SiteId, guest: &str) -> GuestProof {
    let key = Secret::new(SecretKind::Hs256, b"for the guests of this test".to_vec(), NOW);
    let exp = (NOW.0 / 1000 + 60) as f64;
    let claims = Claims { sub: guest.into(), guest: true, exp, ..Claims::default() };
    let token = sign(&claims, &key).expect("the key can sign");
    let site = Site { id: site, guest_keys: vec![key], ..crate::asking::site("forum") };
    GuestProof::verify(&token, &site, NOW, 0).expect("the token is valid")
}

pub(crate) fn merge(
    store: &dyn Store,
    site: SiteId,
    guest: &str,
    user: &str,
) -> Result<Option<UserRow>, Refusal> {
    let merge = Merge { guest: proof(site, guest), user: sub(user), by: By::Site, time: NOW };
    ask(|done| store.merge_guest(merge, done))
}

pub(crate) fn a_guest_goes_on_as_a_member(store: &dyn Store) {
    let (site, _, bob) = two_users(store);
    let id = guest(store, site, "guest-1");
    say(store, bob, id, "b1", "hello");
    say(store, id, bob, "g1", "hello, Bob");
    relate(store, bob, id, FRIENDS);
    let first = snapshot(store, bob, None);
    assert_eq!(first.contacts.rows.get(0).map(|row| row.sub), Some("guest-1"));
    let before = first.position;
    let was = merge(store, site, "guest-1", "gina").expect("it may").expect("it is new");
    assert_eq!((was.id, was.profile.sub), (id, sub("guest-1")));
    while ask(|done: chat::Done<EraseSlice>| store.erase_some(NOW, 2, done)).more {}
    let row = ask(|done| store.put_user(site, profile("gina", "Gina"), NOW, done));
    assert_eq!((row.id, row.profile.guest), (id, false), "the first token of the account finds it");
    assert_eq!(ask(|done| store.user(site, sub("guest-1"), done)), None);
    let page = ask(|done| store.history(bob, direct(bob, id), None, None, 9, done));
    assert_eq!((page.messages.len(), page.messages[1].from_sub.clone()), (2, sub("gina")));
    let missed = snapshot(store, bob, Some(before));
    assert!(!missed.reset);
    assert_eq!(missed.conversations.rows[0].of.other().expect("a direct one").profile.sub, sub("gina"));
    assert_eq!(missed.contacts.rows.get(0).map(|row| row.sub), Some("gina"));
    let list = ask(|done| store.contacts(bob, None, 9, done)).rows;
    assert_eq!(list.get(0).map(|row| (row.sub, row.guest)), Some(("gina", false)));
    let found = ask(|done| store.people(site, Some("gin".into()), None, 9, done)).rows;
    assert_eq!(found.iter().map(|row| row.id).collect::<Vec<_>>(), [id]);
    assert_eq!(say(store, id, bob, "g2", "now as Gina").seq, Seq(3));
    let record = ask(|done| store.audit(site, By::Site, None, 9, done)).expect("the site may").rows;
    assert_eq!((&*record[0].act, &*record[0].detail), ("merge", "guest-1"));
}

pub(crate) fn it_is_done_once_and_only_with_guests(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    guest(store, site, "guest-1");
    assert_eq!(merge(store, site, "guest-2", "gina"), Err(Refusal::NoSuchUser));
    assert_eq!(merge(store, site, "ann", "gina"), Err(Refusal::NotAllowed));
    assert_eq!(merge(store, site, "guest-1", "ann"), Err(Refusal::UserExists));
    assert!(merge(store, site, "guest-1", "gina").expect("it may").is_some());
    assert_eq!(merge(store, site, "guest-1", "gina"), Ok(None));
    assert_eq!(merge(store, site, "guest-1", "ann"), Err(Refusal::NoSuchUser));
    // The guest's own token, used later, makes no second guest with that id.
    let gina = put(store, site, "gina");
    assert_eq!(guest(store, site, "guest-1"), gina);
    let other = guest(store, site, "guest-3");
    assert_eq!(store.no_guests(&[other, gina]), Ok(vec![gina]));
    assert_eq!(merge(store, site, "guest-1", "gina"), Ok(None));
    assert_eq!(put(store, site, "ann"), ann);
}

pub(crate) fn a_guests_profile_changes_no_member(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    assert_eq!(guest(store, site, "ann"), ann);
    let row = ask(|done| store.user(site, sub("ann"), done)).expect("she is there");
    assert_eq!((row.profile.guest, &*row.profile.name), (false, "ann"));
}

pub(crate) fn a_ban_of_a_guest_holds_for_the_member(store: &dyn Store) {
    let (site, ..) = two_users(store);
    let id = guest(store, site, "guest-1");
    ask(|done| store.set_banned(id, true, done));
    assert!(merge(store, site, "guest-1", "gina").expect("it may").is_some());
    let row = ask(|done| store.put_user(site, profile("gina", "Gina"), NOW, done));
    assert_eq!((row.id, row.banned, store.banned()), (id, true, Ok(vec![id])));
}

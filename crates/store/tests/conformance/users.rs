//! Users: their profiles, their stored fields, and the changes that move a position.

use chat::{ConversationChange, Seq, SetPresence, Store, Timestamp, UserId};

use crate::asking::{
    NOW, add_site, ask, direct, profile, put, put_named, say, sign_in, since, snapshot, sub,
};
use crate::{FRIENDS, relate, two_users};

pub(crate) fn a_user_is_created_at_the_first_sign_in_and_updated_if_the_profile_differs(store: &dyn Store) {
    let site = add_site(store, "forum");
    let first = ask(|done| store.put_user(site, profile("ann", "Ann"), NOW, done));
    assert_eq!((first.created, first.banned, first.presence), (NOW, false, SetPresence::Online));
    let mut changed = profile("ann", "Anna");
    changed.avatar = Some("https://a.example/ann.png".into());
    let later = Timestamp(NOW.0 + 5);
    let second = ask(|done| store.put_user(site, changed.clone(), later, done));
    assert_eq!((second.id, second.created, &second.profile), (first.id, NOW, &changed));
    assert_eq!(ask(|done| store.user(site, sub("ann"), done)), Some(second.clone()));
    let other = put(store, site, "bob");
    assert_ne!(other, first.id);
    let rows = ask(|done| store.users(site, vec![sub("bob"), sub("nobody"), sub("ann")], done));
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), [other, first.id]);
    let stranger = UserId { site, num: 77 };
    assert_eq!(ask(|done| store.users_by_id(vec![first.id, stranger], done)), [second]);
    assert_eq!(ask(|done| store.user(site, sub("nobody"), done)), None);
    let listed = store.list_users(site, Some(sub("ann")), 9).expect("the store works");
    assert_eq!(listed.iter().map(|row| row.id).collect::<Vec<_>>(), [other]);
}

pub(crate) fn a_position_moves_only_where_something_changed(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    say(store, ann, bob, "1", "hello");
    relate(store, ann, bob, FRIENDS);
    let before = snapshot(store, ann, None).position;
    put(store, site, "ann");
    sign_in(store, site, profile("ann", "ann"), since(None));
    say(store, ann, bob, "1", "hello");
    let marker = ask(|done| store.mark(direct(ann, bob), ann, Seq(1), Seq(1), done));
    assert_eq!((marker.moved, marker.position), (false, before));
    assert_eq!(relate(store, ann, bob, FRIENDS), Some(before));
    let nothing = ConversationChange::default();
    let unchanged = ask(|done| store.change_conversation(direct(ann, bob), ann, nothing, done));
    assert_eq!(unchanged.map(|(_, position)| position), Ok(before));
    store.put_presence(ann, SetPresence::Away, NOW);
    store.flush().expect("the store works");
    assert_eq!(snapshot(store, ann, None).position, before);
    assert!(say(store, ann, bob, "2", "hello").position > before);
}

pub(crate) fn presence_and_bans_are_remembered(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let seen = Timestamp(NOW.0 + 7);
    store.put_presence(ann, SetPresence::Invisible, seen);
    assert!(ask(|done| store.set_banned(ann, true, done)));
    let row = ask(|done| store.user(site, sub("ann"), done)).expect("it exists");
    assert_eq!((row.presence, row.last_seen, row.banned), (SetPresence::Invisible, seen, true));
    put_named(store, site, "ann", "Ann with a new name");
    let row = ask(|done| store.user(site, sub("ann"), done)).expect("it exists");
    assert!(row.banned, "a new profile changes nothing else");
    assert!(ask(|done| store.set_banned(ann, false, done)));
    assert!(!ask(|done| store.set_banned(UserId { site, num: 99 }, true, done)));
}

pub(crate) fn a_one_time_token_works_once_until_it_expires(store: &dyn Store) {
    let (one, two) = (add_site(store, "one"), add_site(store, "two"));
    let at = |ms| Timestamp(NOW.0 + ms);
    let spend =
        |site, jti: &str, expires, now| ask(|done| store.use_token(site, jti, at(expires), at(now), done));
    assert!(spend(one, "a", 10, 0));
    assert!(!spend(one, "a", 10, 5));
    assert!(!spend(one, "a", 10, 10));
    assert!(spend(one, "b", 10, 10));
    assert!(spend(two, "a", 10, 10), "of another site");
    assert!(spend(one, "a", 30, 11), "forgotten");
    assert!(!spend(one, "a", 30, 12));
}

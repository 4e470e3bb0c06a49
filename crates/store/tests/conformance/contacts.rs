//! Contacts: both sides of a relation, and lists of them.

use chat::{ContactState, Store, UserId};

use crate::asking::{NOW, ask, put, put_named, snapshot};
use crate::{FRIENDS, STRANGERS, relate, state, two_users};

pub(crate) fn a_relation_has_two_sides_and_a_limit(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let (carl, dora) = (put(store, site, "carl"), put(store, site, "dora"));
    let asked = state(ContactState::RequestSent, ContactState::RequestReceived);
    assert!(relate(store, ann, bob, asked).is_some());
    assert_eq!(ask(|done| store.relation(ann, bob, done)), asked);
    let mirrored = state(ContactState::RequestReceived, ContactState::RequestSent);
    assert_eq!(ask(|done| store.relation(bob, ann, done)), mirrored);
    relate(store, bob, ann, FRIENDS);
    relate(store, ann, carl, state(ContactState::Blocked, ContactState::None));
    let others = vec![carl, dora, bob];
    let relations = ask(|done| store.relations(ann, others, done));
    assert_eq!(relations, [state(ContactState::Blocked, ContactState::None), STRANGERS, FRIENDS]);
    let limited = |a, b, limit| ask(|done| store.put_relation(a, b, FRIENDS, limit, NOW, done));
    let before = snapshot(store, ann, None).position;
    assert_eq!(limited(ann, dora, 2), None, "ann has two");
    assert_eq!(limited(dora, ann, 2), None, "from either side");
    assert_eq!(ask(|done| store.relation(ann, dora, done)), STRANGERS);
    assert_eq!(snapshot(store, ann, None).position, before);
    assert!(limited(ann, bob, 2).is_some(), "a row that is there takes no room");
    relate(store, ann, carl, STRANGERS);
    assert!(limited(ann, dora, 2).is_some());
}

pub(crate) fn contacts_are_listed_by_name_and_follow_a_new_name(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    for (id, name) in [("1", "zoe"), ("2", "Ärne"), ("3", "Bert"), ("4", "anton"), ("5", "Bert")] {
        let other = put_named(store, site, id, name);
        relate(store, ann, other, FRIENDS);
    }
    let page = |after: Option<String>| ask(|done| store.contacts(ann, after, 3, done));
    let names = |page: &chat::ContactsPage| {
        page.rows.iter().map(|row| row.profile.sub.as_str().to_owned()).collect::<Vec<_>>()
    };
    let first = page(None);
    assert_eq!(names(&first), ["4", "3", "5"], "whatever the case, then by sub");
    put_named(store, site, "1", "Aaron");
    let second = page(first.next);
    assert_eq!((names(&second), second.next), (vec!["2".to_owned()], None));
    assert_eq!(names(&page(None)), ["1", "4", "3"]);
}

pub(crate) fn contacts_of_many_are_those_who_have_agreed(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let [carl, dora] = ["carl", "dora"].map(|id| put(store, site, id));
    relate(store, dora, ann, FRIENDS);
    relate(store, ann, bob, FRIENDS);
    relate(store, carl, ann, state(ContactState::RequestSent, ContactState::RequestReceived));
    relate(store, carl, bob, state(ContactState::Blocked, ContactState::None));
    let nobody = UserId { site, num: 999 };
    let lists = ask(|done| store.contacts_of(vec![ann, nobody, carl, bob], done));
    assert_eq!(lists, [vec![bob, dora], vec![], vec![], vec![ann]]);
    relate(store, ann, bob, state(ContactState::Blocked, ContactState::None));
    assert_eq!(ask(|done| store.contacts_of(vec![bob, ann], done)), [vec![], vec![dora]]);
}

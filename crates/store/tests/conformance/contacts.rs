//! Contacts: both sides of a relation, and lists of them.

use chat::{ContactNote, Position, Relation, Side, Store, UserId};

use crate::asking::{NOW, ask, put, put_named, snapshot};
use crate::{FRIENDS, STRANGERS, relate, state, two_users};

pub(crate) fn a_relation_has_two_sides_and_a_limit(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let (carl, dora) = (put(store, site, "carl"), put(store, site, "dora"));
    let asked = state(Side::REQUESTED, Side::ASKS);
    assert!(relate(store, ann, bob, asked).is_some());
    assert_eq!(ask(|done| store.relation(ann, bob, done)), asked);
    let mirrored = state(Side::ASKS, Side::REQUESTED);
    assert_eq!(ask(|done| store.relation(bob, ann, done)), mirrored);
    relate(store, bob, ann, FRIENDS);
    relate(store, ann, carl, state(Side::BLOCKED, Side::NONE));
    let others = [carl, dora, bob];
    let relations = ask(|done| store.relations(others.iter().map(|other| [ann, *other]).collect(), done));
    assert_eq!(relations, [state(Side::BLOCKED, Side::NONE), STRANGERS, FRIENDS]);
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
    let names =
        |page: &chat::ContactsPage| page.rows.iter().map(|row| row.sub.to_owned()).collect::<Vec<_>>();
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
    relate(store, carl, ann, state(Side::REQUESTED, Side::ASKS));
    relate(store, carl, bob, state(Side::BLOCKED, Side::NONE));
    let nobody = UserId { site, num: 999 };
    let lists = ask(|done| store.contacts_of(vec![ann, nobody, carl, bob], done));
    let seen: Vec<_> = lists.iter().map(|list| list.seen().to_vec()).collect();
    assert_eq!(seen, [vec![bob, dora], vec![], vec![], vec![ann]]);
    assert!(lists.iter().all(|list| list.seen() == list.seeing()), "all are in both directions");
    relate(store, ann, bob, state(Side::BLOCKED, Side::NONE));
    let lists = ask(|done| store.contacts_of(vec![bob, ann], done));
    assert_eq!((lists[0].seen(), lists[1].seen()), (&[][..], &[dora][..]));
    relate(store, dora, ann, state(Side::SEES, Side::SEEN));
    let lists = ask(|done| store.contacts_of(vec![dora, ann], done));
    assert_eq!((lists[0].seen(), lists[0].seeing()), (&[ann][..], &[][..]));
    assert_eq!((lists[1].seen(), lists[1].seeing()), (&[][..], &[dora][..]));
}

pub(crate) fn own_names_and_groups_last_as_long_as_the_entry(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let note = |name: &str, groups: &[&str]| ContactNote {
        name: Some(name.into()),
        groups: groups.iter().map(|group| (*group).into()).collect(),
    };
    let keep = |relation: Relation, note: ContactNote, limit| {
        ask(|done| store.put_contact_note(ann, bob, relation, note, limit, NOW, done))
    };
    let notes = || ask(|done| store.contact_pair(ann, bob, done)).notes;
    let listed = state(Side::LISTED, Side::NONE);
    let start = snapshot(store, ann, None).position;
    assert_eq!(keep(listed, note("B", &[]), 0), None, "a full list");
    assert_eq!((notes(), snapshot(store, ann, None).position), ([None, None], start));

    let first = keep(listed, note("Bobby", &["Friends", "Work"]), 9).expect("there is room");
    assert_eq!(notes(), [Some(note("Bobby", &["Friends", "Work"])), None]);
    for list in
        [ask(|done| store.contacts(ann, None, 9, done)).rows, snapshot(store, ann, None).contacts.rows]
    {
        let row = list.get(0).expect("bob").contact();
        assert_eq!(
            (row.side, row.note.as_deref()),
            (Side::LISTED, Some(&note("Bobby", &["Friends", "Work"])))
        );
    }
    assert!(ask(|done| store.contacts(bob, None, 9, done)).rows.is_empty(), "only for ann");
    let second = keep(listed, note("Bo", &[]), 9).expect("there is room");
    assert!(second > first, "a change, although the relation is the same");
    relate(store, bob, ann, FRIENDS);
    assert_eq!(notes(), [Some(note("Bo", &[])), None]);
    relate(store, ann, bob, state(Side::BLOCKED, Side::NONE));
    assert_eq!(notes(), [None, None], "gone with the entry");
}

pub(crate) fn changed_contacts_are_read_by_position(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let changed = |since, limit| {
        let rows = ask(|done| store.changed_contacts(ann, since, limit, done));
        rows.map(|rows| rows.iter().map(|row| (row.id, row.side)).collect::<Vec<_>>())
    };
    let start = snapshot(store, ann, None).position;
    assert_eq!(changed(start, 9), Some(vec![]));
    relate(store, ann, bob, FRIENDS);
    let middle = relate(store, ann, bob, STRANGERS).expect("there is room");
    relate(store, carl, ann, state(Side::SEES, Side::SEEN));
    assert_eq!(changed(start, 9), Some(vec![(bob, Side::NONE), (carl, Side::SEEN)]));
    assert_eq!(changed(middle, 9), Some(vec![(carl, Side::SEEN)]));
    assert_eq!(changed(start, 1), None, "more than the limit");
    assert_eq!(changed(Position { epoch: start.epoch ^ 1, ..start }, 9), None, "of another database");
    assert_eq!(changed(Position { number: u64::MAX, ..start }, 9), None, "of a time to come");
}

//! Items of users: lists, versions, bounds and readers.

use chat::items::{
    ITEM_BYTES, ITEM_NOTICE_BYTES, Item, ItemAccess, ItemChange, ItemList, ItemListChange, ItemReader,
    ItemsOf, ItemsPage, LatestItems, MOST_ITEM_LISTS, PutItem, USER_ITEM_BYTES,
};
use chat::{
    By, MessagesAfterErasure, Mode, NewErasure, Privacy, ProfileChange, Refusal, Relation, Store, UserId,
};

use crate::asking::{NOW, ask, sub};
use crate::{relate, two_users};

const NONE: ItemListChange = ItemListChange { access: None, most: None, persists: None, sends_latest: None };

fn put(
    store: &dyn Store,
    user: UserId,
    [list, id, payload]: [&str; 3],
    requires: ItemListChange,
) -> Result<ItemList, Refusal> {
    let default = ItemAccess::Contacts;
    let item = PutItem { list: list.into(), id: id.into(), payload: payload.into(), requires, default };
    ask(|done| store.put_item(user, item, done)).map(|(list, _)| list)
}

fn read(
    store: &dyn Store,
    user: UserId,
    reader: ItemReader,
    list: &str,
    of: ItemsOf,
) -> Result<ItemsPage, Refusal> {
    ask(|done| store.items(user, reader, list.into(), of, done))
}

/// `id payload` of each.
fn all(store: &dyn Store, user: UserId, list: &str) -> Vec<String> {
    let page = read(store, user, ItemReader::Owner, list, ItemsOf::Newest(None)).expect("it exists");
    page.items.iter().map(shown).collect()
}

fn shown(item: &Item) -> String {
    format!("{} {}", item.id, item.payload.as_deref().unwrap_or("-"))
}

fn many() -> ItemListChange {
    ItemListChange { most: Some(3), ..NONE }
}

pub(crate) fn a_list_keeps_its_newest_items(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    assert_eq!(put(store, ann, ["l", "a", "1"], NONE), Ok(ItemList::default()));
    put(store, ann, ["l", "b", "2"], NONE).expect("the list is there");
    assert_eq!(all(store, ann, "l"), ["b 2"], "a list keeps one item unless it says otherwise");
    for (id, payload) in [("a", "1"), ("b", "2"), ("c", "3"), ("a", "4"), ("d", "5")] {
        put(store, ann, ["m", id, payload], many()).expect("it fits");
    }
    assert_eq!(all(store, ann, "m"), ["c 3", "a 4", "d 5"], "by version; an item that is put again is new");
    let page =
        read(store, ann, ItemReader::Owner, "m", ItemsOf::After("c".into(), Some(1))).expect("it exists");
    assert_eq!(
        (page.items.iter().map(shown).collect::<Vec<_>>(), page.index, page.count),
        (vec!["a 4".into()], 1, 3)
    );
    let ids = ItemsOf::Ids(vec!["d".into(), "x".into(), "c".into()]);
    let page = read(store, ann, ItemReader::Owner, "m", ids).expect("it exists");
    assert_eq!(page.items.iter().map(shown).collect::<Vec<_>>(), ["c 3", "d 5"]);
    let delete = |id: &str| ask(|done| store.delete_item(ann, "m".into(), id.into(), done)).map(drop);
    assert_eq!((delete("c"), delete("c")), (Ok(()), Err(Refusal::NoSuchItem)));
    ask(|done| store.empty_item_list(ann, "m".into(), done)).expect("it exists");
    assert!(all(store, ann, "m").is_empty());
    ask(|done| store.delete_item_list(ann, "m".into(), done)).expect("it exists");
    let gone = read(store, ann, ItemReader::Owner, "m", ItemsOf::Newest(None));
    assert_eq!(gone, Err(Refusal::NoSuchItem));
    assert_eq!(read(store, bob, ItemReader::Owner, "l", ItemsOf::Newest(None)), Err(Refusal::NoSuchItem));
}

pub(crate) fn a_list_has_the_choices_that_somebody_requires(store: &dyn Store) {
    let (_, ann, _) = two_users(store);
    let private = ItemListChange { access: Some(ItemAccess::Nobody), ..many() };
    let open = ItemListChange { access: Some(ItemAccess::Everybody), ..NONE };
    put(store, ann, ["p", "a", "1"], private).expect("it is made so");
    assert_eq!(put(store, ann, ["p", "b", "2"], open), Err(Refusal::ItemListDiffers));
    assert_eq!(all(store, ann, "p"), ["a 1"]);
    let configure = |list: &str, creates, change| {
        ask(|done| store.configure_item_list(ann, list.into(), creates, change, done))
    };
    assert_eq!(configure("p", false, open), Err(Refusal::NotAllowed), "it has values that passed no filter");
    assert_eq!(configure("p", true, open), Err(Refusal::ItemListDiffers));
    assert_eq!(configure("q", false, open), Err(Refusal::NoSuchItem));
    let made = configure("q", true, open).expect("it is new");
    assert_eq!(made, ItemList { access: ItemAccess::Everybody, ..ItemList::default() });
    let transient =
        configure("q", false, ItemListChange { persists: Some(false), ..NONE }).expect("it exists");
    assert_eq!(put(store, ann, ["q", "a", "1"], NONE), Ok(transient));
    assert!(all(store, ann, "q").is_empty(), "it keeps nothing");
    configure("p", false, ItemListChange { most: Some(1), ..NONE }).expect("it exists");
    put(store, ann, ["p", "c", "3"], NONE).expect("it fits");
    assert_eq!(all(store, ann, "p"), ["c 3"]);
}

pub(crate) fn readers_get_what_a_list_admits(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    for (list, access) in
        [("c", ItemAccess::Contacts), ("n", ItemAccess::Nobody), ("e", ItemAccess::Everybody)]
    {
        let change = ItemListChange { access: Some(access), ..NONE };
        put(store, ann, [list, "i", "x"], change).expect("it fits");
    }
    let lists = |reader| {
        let lists = ask(|done| store.item_lists(ann, reader, done));
        lists.into_iter().map(|(name, _)| name.into_string()).collect::<Vec<_>>()
    };
    assert_eq!(lists(ItemReader::Owner), ["c", "e", "n"]);
    assert_eq!(lists(ItemReader::Contact), ["c", "e"]);
    assert_eq!(lists(ItemReader::Other), ["e"]);
    let contact =
        |list| read(store, ann, ItemReader::Contact, list, ItemsOf::Newest(None)).map(|page| page.count);
    assert_eq!([contact("c"), contact("n"), contact("e")], [Ok(1), Err(Refusal::NoSuchItem), Ok(1)]);
    let wanted = |only: Option<UserId>| {
        let lists = vec!["c".into(), "n".into(), "e".into(), "x".into()];
        let of = LatestItems { lists, only: only.map(|user| user.num), after: None };
        let page = ask(|done| store.latest_items(bob, Mode::Open, of, done));
        assert_eq!(page.next, None);
        let items = page.items.iter().map(|news| match &news.change {
            ItemChange::Put(item) => format!("{} {} {}", news.user.as_str(), news.list, shown(item)),
            other => panic!("{other:?}"),
        });
        items.collect::<Vec<_>>()
    };
    assert_eq!(wanted(None), [""; 0], "she is no contact");
    relate(store, ann, bob, Relation::CONTACTS).expect("they fit");
    put(store, bob, ["n", "i", "own"], NONE).expect("it fits");
    assert_eq!(wanted(None), ["ann c i x", "ann e i x", "bob n i own"]);
    assert_eq!(wanted(Some(bob)), ["bob n i own"]);
    let long = "y".repeat(ITEM_NOTICE_BYTES + 1);
    put(store, ann, ["c", "i", &long], NONE).expect("it fits");
    assert_eq!(wanted(Some(ann)), ["ann c i -", "ann e i x"], "a long value is read when somebody needs it");
    let never = ItemListChange { sends_latest: Some(false), ..NONE };
    ask(|done| store.configure_item_list(ann, "e".into(), false, never, done)).expect("it exists");
    let hides = Privacy { presence: chat::Audience::Nobody, ..Privacy::default() };
    assert_eq!(wanted(Some(ann)), ["ann c i -"]);
    let change = ProfileChange { presence: Some(hides.presence), ..ProfileChange::default() };
    ask(|done| store.change_profile(ann, change, done)).expect("she exists");
    assert_eq!(wanted(Some(ann)), [""; 0], "she hides her presence");
}

pub(crate) fn items_are_bounded(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let long = "x".repeat(ITEM_BYTES);
    let fit = USER_ITEM_BYTES / (ITEM_BYTES as u64 + 3);
    for number in 0..fit {
        put(store, ann, ["l", &format!("i{number}"), &long], ItemListChange { most: Some(99), ..NONE })
            .expect("it fits");
    }
    assert_eq!(put(store, ann, ["l", "one", &long], NONE), Err(Refusal::TooManyItems));
    put(store, ann, ["l", "i0", &long], NONE).expect("it replaces one of its size");
    put(store, bob, ["l", "i", &long], NONE).expect("another user");
    ask(|done| store.delete_item(ann, "l".into(), "i0".into(), done)).expect("it exists");
    put(store, ann, ["l", "one", &long], NONE).expect("there is room again");
    ask(|done| store.delete_item_list(ann, "l".into(), done)).expect("it exists");
    for number in 0..MOST_ITEM_LISTS {
        put(store, ann, [&format!("l{number}"), "i", ""], NONE).expect("it fits");
    }
    assert_eq!(put(store, ann, ["one", "i", ""], NONE), Err(Refusal::TooManyItems));
}

pub(crate) fn an_erased_user_has_no_items(store: &dyn Store) {
    let (_, ann, _) = two_users(store);
    put(store, ann, ["l", "i", "x"], NONE).expect("it fits");
    let erasure = NewErasure {
        user: ann,
        alias: sub("deleted-1"),
        name: "Deleted user".into(),
        messages: MessagesAfterErasure::Kept,
        by: By::User(ann),
        time: NOW,
    };
    ask(|done| store.begin_erasure(erasure, done)).expect("she may");
    assert!(ask(|done| store.item_lists(ann, ItemReader::Owner, done)).is_empty());
    assert_eq!(read(store, ann, ItemReader::Owner, "l", ItemsOf::Newest(None)), Err(Refusal::NoSuchItem));
}

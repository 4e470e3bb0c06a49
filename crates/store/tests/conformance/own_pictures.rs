//! Own pictures: which of a member's two pictures the profile shows, and when an own picture ends.

use std::sync::Arc;

use chat::items::{ItemAccess, ItemListChange, PutItem};
use chat::{
    By, FileType, MadePicture, MemberPictures, MessagesAfterErasure, ModeratorAct, NewErasure, NewOwnPicture,
    OwnPictureChange, OwnPictureId, PictureSource, Profile, Refusal, Settings, SiteId, Store, UserId,
};

use crate::asking::{NOW, add_site, ask, profile, put, sign_in, since, sub};
use crate::safety::act;
use crate::{FRIENDS, relate, two_users};

const LIST: &str = "avatar";
const PICTURE: &[u8] = b"a small picture";

/// Publishes an item that everybody reads, unless the list has other readers.
fn publish(store: &dyn Store, user: UserId, access: Option<ItemAccess>) -> PictureSource {
    let requires = ItemListChange { access, ..ItemListChange::default() };
    let (list, id, payload) = (LIST.into(), "i".into(), "<a/>".into());
    let item = PutItem { list, id, payload, requires, default: ItemAccess::Everybody };
    let (_, version) = ask(|done| store.put_item(user, item, done)).expect("it fits");
    PictureSource { list: LIST.into(), version }
}

fn made(bytes: &[u8]) -> Option<MadePicture> {
    Some(MadePicture { kind: FileType::named("image/png"), bytes: bytes.into() })
}

fn keep(
    store: &dyn Store,
    user: UserId,
    source: PictureSource,
    made: Option<MadePicture>,
) -> OwnPictureChange {
    ask(|done| store.put_own_picture(user, NewOwnPicture { source, made }, done))
}

fn follow(store: &dyn Store, user: UserId, source: PictureSource) -> OwnPictureChange {
    ask(|done| store.follow_picture(user, source, done))
}

fn own(user: UserId) -> String {
    OwnPictureId::of(user, PICTURE).avatar().to_string()
}

fn shown(store: &dyn Store, user: UserId) -> Option<String> {
    let row = ask(|done| store.users_by_id(vec![user], done)).remove(0);
    row.profile.avatar.as_deref().map(str::to_owned)
}

fn bytes(store: &dyn Store, id: OwnPictureId) -> Option<Vec<u8>> {
    ask(|done| store.own_picture(id, done)).map(|(_, bytes)| bytes)
}

fn set(store: &dyn Store, site: SiteId, pictures: MemberPictures) {
    let mut settings = Settings::default();
    settings.members.pictures = pictures;
    assert!(store.set_settings(site, &settings).expect("the store works"));
}

fn with_avatar(avatar: Option<&str>) -> Profile {
    Profile { avatar: avatar.map(Arc::from), ..profile("ann", "ann") }
}

pub(crate) fn an_own_picture_is_shown_where_the_site_gives_none(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    relate(store, ann, bob, FRIENDS);
    let source = publish(store, ann, None);
    assert!(follow(store, ann, source.clone()).wanted);
    let change = keep(store, ann, source.clone(), made(PICTURE));
    assert_eq!(change.changed.and_then(|row| row.profile.avatar).as_deref(), Some(&*own(ann)));
    let card = ask(|done| store.contacts(bob, None, 9, done)).rows.get(0).expect("ann").contact().person;
    assert_eq!(card.avatar.as_deref(), Some(&*own(ann)), "lists of contacts have a copy");
    assert_eq!(bytes(store, OwnPictureId::of(ann, PICTURE)).as_deref(), Some(PICTURE));
    assert_eq!(follow(store, ann, source.clone()), OwnPictureChange::default(), "nothing is wanted any more");
    assert_eq!(keep(store, ann, source, made(PICTURE)).changed, None, "the same picture again");

    let position = |avatar| sign_in(store, site, with_avatar(avatar), since(None)).1.position;
    let before = position(None);
    assert_eq!(position(None), before, "a sign-in writes nothing");
    position(Some("/ann.png"));
    assert_eq!(shown(store, ann).as_deref(), Some("/ann.png"), "the site gives one now");
    position(None);
    assert_eq!(shown(store, ann), Some(own(ann)));
}

pub(crate) fn the_setting_chooses_from_the_next_sign_in_on(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let come = |avatar| sign_in(store, site, with_avatar(avatar), since(None)).0.profile.avatar;
    assert_eq!(come(Some("/ann.png")).as_deref(), Some("/ann.png"));
    let source = publish(store, ann, None);
    assert_eq!(keep(store, ann, source.clone(), made(PICTURE)).changed, None, "the site's goes first");
    set(store, site, MemberPictures::Prefer);
    let changed = follow(store, ann, source.clone()).changed.expect("her app looks with its sign-in");
    assert_eq!(changed.profile.avatar.as_deref(), Some(&*own(ann)));
    assert_eq!(come(Some("/ann.png")).as_deref(), Some(&*own(ann)));
    assert_eq!(come(Some("/new.png")).as_deref(), Some(&*own(ann)));
    set(store, site, MemberPictures::Off);
    assert_eq!(come(Some("/new.png")).as_deref(), Some("/new.png"), "the site's of now");
    set(store, site, MemberPictures::Prefer);
    assert_eq!(follow(store, ann, source).changed.map(|row| row.id), Some(ann));
}

pub(crate) fn an_own_picture_ends_with_its_item(store: &dyn Store) {
    let (_, ann, _) = two_users(store);
    let gone = |end: &dyn Fn()| {
        let source = publish(store, ann, None);
        keep(store, ann, source.clone(), made(PICTURE));
        assert_eq!(shown(store, ann), Some(own(ann)));
        end();
        let nothing = PictureSource { version: 0, ..source };
        let change = follow(store, ann, nothing);
        assert!(change.changed.is_some() && !change.wanted);
        assert_eq!((shown(store, ann), bytes(store, OwnPictureId::of(ann, PICTURE))), (None, None));
    };
    gone(&|| drop(publish(store, ann, None)));
    gone(&|| assert!(ask(|done| store.delete_item(ann, LIST.into(), "i".into(), done)).is_ok()));
    gone(&|| assert!(ask(|done| store.empty_item_list(ann, LIST.into(), done)).is_ok()));
    gone(&|| assert!(ask(|done| store.delete_item_list(ann, LIST.into(), done)).is_ok()));
    gone(&|| {
        let change = ItemListChange { access: Some(ItemAccess::Contacts), ..ItemListChange::default() };
        ask(|done| store.configure_item_list(ann, LIST.into(), false, change, done)).expect("it is there");
    });
}

pub(crate) fn only_the_newest_item_that_everybody_reads_makes_a_picture(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let old = publish(store, ann, None);
    let new = publish(store, ann, None);
    assert!(!follow(store, ann, old.clone()).wanted);
    keep(store, ann, new.clone(), made(PICTURE));
    assert_eq!(keep(store, ann, old, made(b"made late")).changed, None);
    assert_eq!(shown(store, ann), Some(own(ann)));
    assert!(keep(store, ann, new, None).changed.is_some(), "it cannot be read after all");
    assert_eq!(shown(store, ann), None);
    let limited = publish(store, bob, Some(ItemAccess::Contacts));
    assert!(!follow(store, bob, limited.clone()).wanted);
    assert_eq!(keep(store, bob, limited, made(PICTURE)), OwnPictureChange::default());
    assert_eq!(shown(store, bob), None);
}

pub(crate) fn an_own_picture_is_read_only_with_its_site(store: &dyn Store) {
    let (_, ann, _) = two_users(store);
    keep(store, ann, publish(store, ann, None), made(PICTURE));
    let other = add_site(store, "garden");
    let elsewhere = put(store, other, "ann");
    let id = OwnPictureId::of(ann, PICTURE);
    assert_eq!(bytes(store, OwnPictureId { site: other, ..id }), None);
    assert_eq!(bytes(store, OwnPictureId { number: id.number ^ 1, ..id }), None);
    assert_eq!(bytes(store, OwnPictureId::of(elsewhere, PICTURE)), None);
    assert!(store.remove_site(ann.site).expect("the store works"));
    assert_eq!(bytes(store, id), None);
}

pub(crate) fn a_moderator_removes_a_picture_with_its_items(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let source = publish(store, ann, None);
    keep(store, ann, source.clone(), made(PICTURE));
    let remove = ModeratorAct::RemovePicture(ann);
    assert_eq!(act(store, site, By::User(bob), remove.clone()).map(drop), Err(Refusal::NotAllowed));
    let done = act(store, site, By::Site, remove.clone()).expect("the site may");
    assert_eq!(done.picture.as_deref(), Some(LIST));
    assert_eq!((shown(store, ann), bytes(store, OwnPictureId::of(ann, PICTURE))), (None, None));
    assert!(!follow(store, ann, source).wanted, "no app brings it back");
    assert_eq!(act(store, site, By::Site, remove).expect("once more").picture, None);
    let entries = ask(|done| store.audit(site, By::Site, None, 9, done)).expect("the site reads it").rows;
    assert!(entries.iter().all(|entry| &*entry.act == "remove_picture" && entry.user == Some(sub("ann"))));
}

pub(crate) fn an_erased_user_has_no_own_picture(store: &dyn Store) {
    let (_, ann, _) = two_users(store);
    keep(store, ann, publish(store, ann, None), made(PICTURE));
    let erasure = NewErasure {
        user: ann,
        alias: sub("deleted-1"),
        name: "Deleted user".into(),
        messages: MessagesAfterErasure::Kept,
        by: By::User(ann),
        time: NOW,
    };
    let after = ask(|done| store.begin_erasure(erasure, done)).expect("she may").after;
    assert_eq!((after.profile.avatar, bytes(store, OwnPictureId::of(ann, PICTURE))), (None, None));
}

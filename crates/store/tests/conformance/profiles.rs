//! Profiles: the data and settings that members enter about themselves.

use std::sync::Arc;

use chat::{
    Audience, By, ModeratorAct, NameChange, Privacy, ProfileChange, ProfileView, Settings, SiteId, Status,
    Store, Sub, Timestamp, UserId,
};

use crate::asking::{NOW, add_site, ask, profile, put, put_named, sign_in, since, sub};
use crate::safety::act;
use crate::{FRIENDS, STRANGERS, relate, two_users};

fn look(store: &dyn Store, asker: UserId, of: &str) -> Option<ProfileView> {
    ask(|done| store.profile(asker, sub(of), done))
}

fn change(store: &dyn Store, user: UserId, change: ProfileChange) -> ProfileView {
    ask(|done| store.change_profile(user, change, done)).expect("the user exists")
}

fn names(name: Option<&str>) -> ProfileChange {
    let name = name.map_or(NameChange::OfSite, |name| NameChange::Own(name.into()));
    ProfileChange { name: Some(name), ..ProfileChange::default() }
}

fn name_of(store: &dyn Store, site: SiteId, of: Sub) -> Arc<str> {
    ask(|done| store.user(site, of, done)).expect("the user exists").profile.name
}

pub(crate) fn profile_fields_are_kept_until_they_are_removed(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    assert_eq!(look(store, bob, "nobody"), None);
    let nothing = look(store, bob, "ann").expect("she exists");
    assert_eq!((nothing.row.id, nothing.status, nothing.relation), (ann, None, STRANGERS));
    let says = |text: &str, until: Option<Timestamp>| ProfileChange {
        status: Some(Some(Status { text: text.into(), until })),
        ..ProfileChange::default()
    };
    change(store, ann, says("On holiday", Some(Timestamp(NOW.0 + 5))));
    let second = change(store, ann, says("Back \u{1f334}", None));
    assert_eq!(second.status, Some(Status { text: "Back \u{1f334}".into(), until: None }));
    relate(store, ann, bob, FRIENDS);
    let seen = look(store, bob, "ann").expect("she exists");
    assert_eq!((seen.status, seen.relation), (second.status, FRIENDS));
    assert_eq!(look(store, ann, "bob").expect("he exists").status, None);
    let silent = ProfileChange { status: Some(None), ..ProfileChange::default() };
    assert_eq!(change(store, ann, silent).status, None);
    change(store, ann, says("Gone with the site", None));
    assert!(store.remove_site(site).expect("the store works"));
    let again = add_site(store, "forum");
    let ann = put(store, again, "ann");
    assert_eq!(look(store, ann, "ann").expect("she exists").status, None);
    let stranger = UserId { site: again, num: 77 };
    assert_eq!(ask(|done| store.change_profile(stranger, ProfileChange::default(), done)), None);
}

pub(crate) fn what_a_member_chooses_is_read_with_the_row(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let first = ask(|done| store.user(site, sub("ann"), done)).expect("she exists");
    assert_eq!((first.privacy, first.named), (Privacy::default(), false));
    let chosen = ProfileChange { write: Some(Audience::Nobody), ..ProfileChange::default() };
    change(store, ann, chosen);
    let chosen = ProfileChange { last_seen: Some(Audience::Contacts), ..ProfileChange::default() };
    let privacy =
        Privacy { write: Audience::Nobody, presence: Audience::Everybody, last_seen: Audience::Contacts };
    assert_eq!(change(store, ann, chosen).row.privacy, privacy);
    let (row, _) = sign_in(store, site, profile("ann", "ann"), since(None));
    assert_eq!((row.privacy, row.named), (privacy, false));
    put_named(store, site, "ann", "Anna");
    let row = ask(|done| store.users_by_id(vec![ann], done)).remove(0);
    assert_eq!((row.privacy, &*row.profile.name), (privacy, "Anna"), "a new profile changes nothing else");
}

pub(crate) fn a_chosen_name_survives_tokens_until_it_is_removed(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let mut settings = Settings::default();
    settings.members.rename = true;
    assert!(store.set_settings(site, &settings).expect("the store works"));
    relate(store, ann, bob, FRIENDS);
    let named = change(store, ann, names(Some("Anna Banana"))).row;
    assert_eq!((&*named.profile.name, named.named), ("Anna Banana", true));
    let (row, _) = sign_in(store, site, profile("ann", "ann"), since(None));
    assert_eq!(&*row.profile.name, "Anna Banana");
    let mut token = profile("ann", "ann");
    token.avatar = Some("/ann.png".into());
    let (row, _) = sign_in(store, site, token, since(None));
    assert_eq!((&*row.profile.name, row.profile.avatar.as_deref()), ("Anna Banana", Some("/ann.png")));
    let card = ask(|done| store.contacts(bob, None, 9, done)).rows.get(0).expect("ann").contact().person.name;
    assert_eq!(&*card, "Anna Banana");
    let found = ask(|done| store.people(site, Some("bana".into()), None, 9, done)).rows;
    assert_eq!(found.iter().map(|row| row.id).collect::<Vec<_>>(), [ann]);
    assert!(!change(store, ann, names(None)).row.named);
    put(store, site, "ann");
    assert_eq!(&*name_of(store, site, sub("ann")), "ann");
    change(store, ann, names(Some("Anna")));
    assert!(store.set_settings(site, &Settings::default()).expect("the store works"));
    put(store, site, "ann");
    assert_eq!(&*name_of(store, site, sub("ann")), "ann", "the site lets nobody choose any more");

    assert!(store.set_settings(site, &settings).expect("the store works"));
    change(store, ann, names(Some("Anna")));
    let no_more = Settings::patch("members.rename", "false");
    act(store, site, By::Site, ModeratorAct::Configure(Box::new(no_more))).expect("the site may");
    put(store, site, "ann");
    assert_eq!(&*name_of(store, site, sub("ann")), "ann", "nor by a moderator's word");
}

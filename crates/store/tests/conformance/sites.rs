//! Sites, their secrets, and the separation of their data.

use chat::{
    By, Mode, Seq, SetPresence, Site, SiteAuthor, SiteChange, SiteNotChanged, SiteProfile, Store, UserId,
};

use crate::asking::{NOW, add_site, ask, direct, put, put_named, say, secret, seqs, site, snapshot, sub};
use crate::people::found;
use crate::{FRIENDS, STRANGERS, relate, two_users};

pub(crate) fn sites_are_kept_whole_and_secrets_are_newest_first(store: &dyn Store) {
    let id = add_site(store, "forum");
    assert_eq!(store.add_site(&site("forum")), Ok(None), "the key is taken");
    let other = add_site(store, "other");
    assert_ne!(id, other);
    store.add_secret(id, &secret(b"rotated")).expect("the store works");
    let sites = store.sites().expect("the store works");
    let kept = sites.iter().find(|site| site.id == id).expect("it was added").clone();
    let secrets: Vec<&[u8]> = kept.secrets.iter().map(|secret| &secret.bytes[..]).collect();
    assert_eq!(secrets, [&b"rotated"[..], b"newest", b"older"]);
    assert_eq!(Site { secrets: site("forum").secrets, ..kept.clone() }, Site { id, ..site("forum") });
    let changed = Site {
        name: "New name".into(),
        mode: Mode::Open,
        guests: false,
        origins: Vec::new(),
        secrets: vec![secret(b"last")],
        guest_keys: vec![secret(b"of guests")],
        public_url: Some("https://im.example".into()),
        domain: Some("im.example".into()),
        ..kept
    };
    store.update_site(&changed).expect("the store works");
    let sites = store.sites().expect("the store works");
    assert!(sites.contains(&changed) && sites.len() == 2);
}

pub(crate) fn the_revision_counts_changes_of_sites_and_bans_only(store: &dyn Store) {
    let revision = || store.revision().expect("the store works");
    let mut before = revision();
    let mut changed = || std::mem::replace(&mut before, revision()) != revision();
    let (id, ann, bob) = two_users(store);
    assert!(changed());
    say(store, ann, bob, "1", "x");
    store.put_presence(ann, SetPresence::Away, NOW);
    store.flush().expect("the store works");
    assert!(!changed());
    ask(|done| store.set_banned(ann, true, done));
    assert!(changed());
    store.add_secret(id, &secret(b"new")).expect("the store works");
    assert!(changed());
    store.update_site(&Site { id, ..site("forum") }).expect("the store works");
    assert!(changed());
    store.remove_site(id).expect("the store works");
    assert!(changed());
}

pub(crate) fn sites_never_meet(store: &dyn Store) {
    let sites = [add_site(store, "one"), add_site(store, "two")];
    let users = sites.map(|site| (put(store, site, "ann"), put(store, site, "bob")));
    let [(ann, bob), (other_ann, other_bob)] = users;
    assert_eq!(chat::ConversationId::direct(ann, other_bob), None);
    say(store, ann, bob, "id", "mine");
    relate(store, ann, bob, FRIENDS);
    ask(|done| store.set_banned(bob, true, done));
    assert!(!say(store, other_ann, other_bob, "id", "theirs").repeated, "the same sub and id");
    let page = ask(|done| store.history(other_ann, direct(other_ann, other_bob), None, None, 9, done));
    assert_eq!(page.messages.iter().map(|message| &*message.body).collect::<Vec<_>>(), ["theirs"]);
    assert_eq!(ask(|done| store.relation(other_ann, other_bob, done)), STRANGERS);
    assert!(!ask(|done| store.user(sites[1], sub("bob"), done)).expect("it exists").banned);
    assert_eq!(found(store, sites[1], "ann").len(), 1);
    assert_eq!(
        ask(|done| store.conversations(other_ann, chat::ConversationList::Main, None, 9, done)).rows.len(),
        1
    );
}

pub(crate) fn a_removed_site_leaves_nothing(store: &dyn Store) {
    let (gone, kept) = (add_site(store, "gone"), add_site(store, "kept"));
    for site in [gone, kept] {
        let (ann, bob) = (put(store, site, "ann"), put_named(store, site, "bob", "Bob the Builder"));
        say(store, ann, bob, "1", "x");
        relate(store, ann, bob, FRIENDS);
        assert!(ask(|done| store.use_token(site, "jti", NOW, NOW, done)));
    }
    let user = |site, num| UserId { site, num };
    assert_eq!(store.remove_site(gone), Ok(true));
    assert_eq!(store.remove_site(gone), Ok(false));
    assert_eq!(ask(|done| store.user(gone, sub("ann"), done)), None);
    assert!(found(store, gone, "").is_empty() && found(store, gone, "builder").is_empty());
    assert!(seqs(store, direct(user(gone, 1), user(gone, 2))).is_empty());
    assert!(snapshot(store, user(gone, 1), None).conversations.rows.is_empty());
    assert_eq!(ask(|done| store.relation(user(gone, 1), user(gone, 2), done)), STRANGERS);
    assert!(ask(|done| store.use_token(gone, "jti", NOW, NOW, done)));
    assert_eq!(seqs(store, direct(user(kept, 1), user(kept, 2))), [Seq(1)]);
    assert_eq!(found(store, kept, "builder").len(), 1);
    assert_eq!(store.sites().expect("the store works").len(), 1);
    assert_ne!(add_site(store, "gone"), gone, "a number is never used again");
}

pub(crate) fn a_domain_or_key_names_one_site(store: &dyn Store) {
    let [one, two] = ["one", "two"].map(|key| add_site(store, key));
    let set = |site, domain: Option<&str>, author| {
        let profile = SiteProfile { domain: Some(domain.map(Into::into)), ..SiteProfile::default() };
        let changed = store.change_site(site, SiteChange::Profile(profile), author, NOW);
        changed.expect("the store works").map(|site| site.domain)
    };
    let operator = SiteAuthor::Operator;
    assert_eq!(set(one, Some("im.example"), operator), Ok(Some("im.example".into())));
    for taken in ["im.example", "one"] {
        assert_eq!(set(two, Some(taken), operator), Err(SiteNotChanged::DomainTaken), "{taken}");
    }
    assert_eq!(set(one, Some("one"), operator), Ok(Some("one".into())), "the own key");
    assert_eq!(set(two, Some("three"), operator), Ok(Some("three".into())));
    assert_eq!(store.add_site(&site("three")), Ok(None), "a key is nobody's domain");
    assert_eq!(set(two, Some("Two.example"), operator), Err(SiteNotChanged::Domain));
    assert_eq!(
        set(two, Some("two.example"), SiteAuthor::Tenant(By::Site)),
        Err(SiteNotChanged::OperatorOnly)
    );
    assert_eq!(set(two, None, operator), Ok(None));
    assert!(store.add_site(&site("three")).expect("the store works").is_some());
}

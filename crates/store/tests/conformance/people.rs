//! The directory of users.

use std::collections::BTreeSet;
use std::sync::mpsc::channel;

use chat::{SiteId, Store};

use crate::asking::{NOW, add_site, ask, profile, put_named};

pub(crate) fn people_are_found_by_the_start_of_any_word(store: &dyn Store) {
    let site = add_site(store, "forum");
    for name in ["Jürgen Öztürk", "ÖZLEM", "anna-lena", "Anna Maria", "(mod) Hannah", "O'Zed"] {
        put_named(store, site, name, name);
    }
    assert_eq!(found(store, site, "öz"), ["Jürgen Öztürk", "ÖZLEM"]);
    assert_eq!(found(store, site, "ANNA"), ["Anna Maria", "anna-lena"]);
    assert_eq!(found(store, site, "anna m"), ["Anna Maria"]);
    assert_eq!(found(store, site, "lena"), ["anna-lena"]);
    assert_eq!(found(store, site, "mod"), ["(mod) Hannah"]);
    assert_eq!(found(store, site, "zed"), ["O'Zed"]);
    assert!(found(store, site, "rgen").is_empty());
    assert!(found(store, site, "%").len() == 6, "no letter in it: everybody");
    assert_eq!(found(store, site, "").len(), 6);
    put_named(store, site, "anna-lena", "Helena Zorn");
    assert_eq!(found(store, site, "zorn"), ["Helena Zorn"]);
    assert!(found(store, site, "lena").is_empty());
}

/// With so many users a store may search in another way.
pub(crate) fn people_are_found_among_many(store: &dyn Store) {
    let site = add_site(store, "forum");
    let (sender, answers) = channel();
    for number in 0..2_500 {
        let sender = sender.clone();
        let name = if number % 2 == 0 { format!("Max {number:04}") } else { format!("{number:04} Max") };
        store.put_user(
            site,
            profile(&number.to_string(), &name),
            NOW,
            Box::new(move |row| {
                sender.send(row.is_ok()).expect("the test waits");
            }),
        );
    }
    drop(sender);
    assert!(answers.iter().all(|ok| ok));
    let names = found_by(store, site, "max", 300);
    assert_eq!(names.len(), 2_500);
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 2_500);
    assert_eq!((names[0].as_str(), names[2_499].as_str()), ("0001 Max", "Max 2498"));
    assert_eq!(found(store, site, "2498"), ["Max 2498"]);
}

pub(crate) fn found(store: &dyn Store, site: SiteId, query: &str) -> Vec<String> {
    found_by(store, site, query, 2)
}

fn found_by(store: &dyn Store, site: SiteId, query: &str, limit: u32) -> Vec<String> {
    let (mut after, mut names) = (None, Vec::new());
    loop {
        let page = ask(|done| store.people(site, Some(query.to_owned()), after, limit, done));
        assert!(page.rows.len() <= limit as usize);
        names.extend(page.rows.iter().map(|row| row.profile.name.to_string()));
        after = page.next;
        if after.is_none() {
            return names;
        }
    }
}

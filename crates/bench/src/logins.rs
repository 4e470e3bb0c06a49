//! Logins of users with a contact list, from the hello to the encoded welcome, with the work of the database.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use chat::{
    ContactStore, Delivery, Event, Node, Outbox, Profile, Relation, SessionHandle, Side, SiteId, SiteStore,
    Store, UserId, UserStore, session,
};
use store::Sqlite;
use web::{WebConfig, WebOutbox};

use crate::database::database;
use crate::domain::{User, config, site};
use crate::token::NOW;

/// Logins of one group.
pub(crate) const GROUP: u32 = 16;

const CONTACTS: u32 = 150;
/// They come online in groups.
const ONLINE: u32 = 2 * GROUP;

/// The contacts of the group, of whom the first are online, are the same for each user. One reader answers all logins.
pub(crate) fn with_lists() -> Box<dyn FnMut()> {
    let (store, folder) = database("logins");
    assert_eq!(store.add_site(&site()), Ok(Some(SiteId(1))));
    make_lists(&store);
    let (mailboxes, inboxes) = edge::mailboxes(1);
    // Mail for a worker that has ended is dropped.
    drop(inboxes);
    let web = WebOutbox::new(mailboxes, &config().limits, &WebConfig::default(), || NOW);
    let (sender, group) = channel();
    let outbox = WelcomeCounter { web, welcomes: AtomicU32::new(0), group: Mutex::new(sender) };
    let node = Node::new(config(), Arc::new(store), Arc::new(outbox), [1; 32]);
    for first in (GROUP + 1..=GROUP + ONLINE).step_by(GROUP as usize) {
        (first..first + GROUP).map(User::new).for_each(|user| user.enter(&node));
        group.recv().expect("the outbox is there");
    }
    let users: Vec<User> = (1..=GROUP).map(User::new).collect();
    Box::new(move || {
        let _ = &folder;
        users.iter().for_each(|user| user.enter(&node));
        // Waits only for the last welcome: a waiting thread spins a random number of times before it sleeps.
        group.recv().expect("the outbox is there");
        users.iter().for_each(|user| node.disconnected(user.session(), true, NOW));
    })
}

fn make_lists(store: &Sqlite) {
    let id = |num| UserId { site: SiteId(1), num };
    for number in 1..=GROUP + CONTACTS {
        let sub = User::new(number).sub();
        // Those who sign in have the name of their token.
        let signs_in = number <= GROUP + ONLINE;
        let name = if signs_in { "Anna Example".to_owned() } else { format!("Member {number} of Kith") };
        let profile = Profile { sub, name: name.into(), avatar: None, guest: false };
        store.put_user(SiteId(1), profile, NOW, Box::new(|done| assert!(done.is_ok())));
    }
    let friends = Relation { of_a: Side::CONTACT, of_b: Side::CONTACT };
    for user in 1..=GROUP {
        for contact in GROUP + 1..=GROUP + CONTACTS {
            let done = Box::new(|done: Result<Option<_>, _>| assert!(done.is_ok_and(|put| put.is_some())));
            store.put_relation(id(user), id(contact), friends, CONTACTS, NOW, done);
        }
        store.flush().expect("the temporary directory has room");
    }
}

/// The gateway's outbox. Reports each group of welcomes.
struct WelcomeCounter {
    web: WebOutbox,
    welcomes: AtomicU32,
    group: Mutex<Sender<()>>,
}

impl Outbox for WelcomeCounter {
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        let welcome = match &delivery.event {
            Event::Session(session::Event::Welcome(welcome)) => Some(welcome.changes.contacts.len()),
            _ => None,
        };
        self.web.deliver(to, delivery);
        let Some(contacts) = welcome else { return };
        assert!(contacts >= GROUP as usize, "a list");
        if (self.welcomes.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(GROUP) {
            self.group.lock().expect("no thread panics").send(()).expect("somebody waits");
        }
    }

    fn deliver_each(&self, to: &[(SessionHandle, usize)], deliveries: Vec<Delivery>) {
        self.web.deliver_each(to, deliveries);
    }
}

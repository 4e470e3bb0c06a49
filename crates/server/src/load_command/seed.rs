//! Fills the database of our own node with a community before it starts: sites, users, contact lists.

use std::path::Path;
use std::time::{Duration, Instant};

use chat::{Mode, Profile, Secret, SecretKind, Site, SiteId, SiteStore, Sub, UserId};
use load::community::{Contact, People, Seeded, Stored};
use rand::RngCore;
use store::bulk::Import;
use store::{Options, Sqlite};

use super::progress;
use crate::data_dir;
use crate::trouble::{Outcome, Trouble};

/// Bytes of a row, rounded up.
const BYTES_PER_USER: u64 = 150;
const BYTES_PER_CONTACT: u64 = 95;
const SAY_EVERY: Duration = Duration::from_secs(10);
/// Fewer rows are written so quickly that no progress line is needed.
const WORTH_SAYING: u64 = 1_000_000;

/// Creates all members with their whole contact lists, and all users on these lists. An online user is on the lists of
/// its online contacts; offline users have no lists.
pub(super) fn fill(folder: &Path, people: People) -> Outcome<Stored> {
    let unfilled =
        |why: &dyn std::fmt::Display| Trouble::new("cannot fill the database of the run's node").because(why);
    let users: u64 = (0..people.sites()).map(|site| u64::from(people.away_of_site(site))).sum::<u64>()
        + u64::from(people.members());
    let contacts = u64::from(people.members()) * u64::from(people.roster());
    enough_disk(folder, users * BYTES_PER_USER + contacts * BYTES_PER_CONTACT)?;
    let begin = Instant::now();
    let path = data_dir::database_in(folder);
    let mut secret = [0; 24];
    rand::rng().fill_bytes(&mut secret);
    let secret: Vec<u8> = secret.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect();
    let sites = add_sites(&path, people.sites(), &secret).map_err(|error| unfilled(&error))?;
    if contacts > WORTH_SAYING {
        progress(&format!("filling the database: {users} users, {contacts} rows of contact lists"));
    }
    let mut import = Import::open(&path).map_err(|error| unfilled(&error))?;
    let mut said = begin;
    for (number, (_, site)) in sites.iter().enumerate() {
        fill_site(&mut import, people, number as u32, *site, &mut |import| {
            if said.elapsed() > SAY_EVERY {
                said = Instant::now();
                let share = import.counts().contacts_new as f64 / contacts.max(1) as f64 * 100.0;
                progress(&format!("{:4} s  {share:.0} % of the contact lists", begin.elapsed().as_secs()));
            }
        })
        .map_err(|error| unfilled(&error))?;
    }
    let counts = import.finish().map_err(|error| unfilled(&error))?;
    let seeded = Seeded {
        users: counts.users_new,
        contacts: counts.contacts_new,
        seconds: begin.elapsed().as_secs_f64(),
        bytes: std::fs::metadata(&path).map_or(0, |file| file.len()),
    };
    if contacts > WORTH_SAYING {
        progress(&format!("filled in {:.0} s: {} MB", seeded.seconds, seeded.bytes / 1_000_000));
    }
    Ok(Stored { sites: sites.into_iter().map(|(key, _)| key).collect(), secret, seeded })
}

fn add_sites(path: &Path, count: u32, secret: &[u8]) -> Outcome<Vec<(String, SiteId)>> {
    let failed = |error: &dyn std::fmt::Display| Trouble::new("cannot add sites").because(error);
    let store = Sqlite::open(path, Options::default()).map_err(|error| failed(&error))?;
    let mut sites = Vec::new();
    for number in 1..=count {
        let key = format!("town-{number}");
        let now = crate::now();
        let secret = Secret::new(SecretKind::Hs256, secret.to_vec(), now);
        let site = Site {
            id: SiteId(0),
            key: key.as_str().into(),
            name: key.clone(),
            mode: Mode::Contacts,
            guests: false,
            origins: Vec::new(),
            secrets: vec![secret],
            guest_keys: vec![],
            public_url: None,
            domain: None,
            // Members write to the users that the plan chooses, and all are new.
            settings: chat::Settings::default(),
            created: now,
        };
        let id = store.add_site(&site).map_err(|error| failed(&error))?;
        sites.push((key, id.ok_or_else(|| failed(&"there is one of this name"))?));
    }
    store.close();
    Ok(sites)
}

/// Users in the order of their names, then contacts in the order of the owners, which is quickest.
fn fill_site(
    import: &mut Import,
    people: People,
    number: u32,
    site: SiteId,
    done: &mut dyn FnMut(&Import),
) -> Result<(), store::bulk::ImportError> {
    let now = crate::now();
    let away = (0..people.away_of_site(number)).map(|away| profile(Contact::Away(away)));
    let away = import.users(site, away, now)?;
    let online = import.users(site, people.of_site(number).map(|m| profile(Contact::Online(m))), now)?;
    let id = |contact: Contact| -> UserId {
        match contact {
            Contact::Online(member) => online[(member / people.sites()) as usize],
            Contact::Away(number) => away[number as usize],
        }
    };
    for member in people.of_site(number) {
        import.contacts(id(Contact::Online(member)), people.contacts(member).map(id))?;
        done(import);
    }
    Ok(())
}

/// Equal to the profile in the token, so that a login does not change it.
fn profile(contact: Contact) -> Profile {
    let name = contact.name();
    let sub = Sub::parse(&name).expect("letters, digits and `-`");
    Profile { sub, name: name.into(), avatar: None, guest: false }
}

fn enough_disk(folder: &Path, needed: u64) -> Outcome {
    let Ok(found) = rustix::fs::statvfs(folder) else { return Ok(()) };
    let free = found.f_bavail * found.f_frsize;
    // Leaves some space for other writers.
    if needed + needed / 10 < free {
        return Ok(());
    }
    Err(Trouble::new(format!("too little disk space in {}", folder.display()))
        .because(format!("the database takes about {} MB, and {} MB are free", needed >> 20, free >> 20))
        .remedy("name another folder for temporary files: TMPDIR=/var/tmp kith load …"))
}

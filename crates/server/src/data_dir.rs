//! Finds the data directory of a command, and opens its database.

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

use chat::{Done, Site, Slot, Store, StoreError, Sub, UserRow};
use store::{Lease, Options, SiteBy, Sqlite, Synchronous};

use crate::cluster::placement;
use crate::config::{Config, Loaded, Source, Sync};
use crate::data_lock::DataLock;
use crate::run_file;
use crate::trouble::{Outcome, Trouble};

/// The database inside of the data directory.
const DATABASE: &str = "kith.db";

/// The path of the database in a data directory, even if it does not exist.
pub(crate) fn database_in(dir: &Path) -> PathBuf {
    dir.join(DATABASE)
}

/// Opens the database for a node, creates it if it is missing, and migrates it. The lock proves that no other process uses it.
/// `lease`: of a home on PostgreSQL.
pub(crate) fn open(loaded: &Loaded, _: &DataLock, lease: Option<&Lease>) -> Outcome<Arc<Sqlite>> {
    let config = &loaded.config;
    match (lease, &config.database) {
        (Some(lease), _) => {
            let opened = Sqlite::open_leased(lease, options(config, true));
            opened.map(Arc::new).map_err(unusable_server)
        }
        (None, Some(url)) => match Lease::home_of(url, Slot::FIRST).map_err(unusable_server)? {
            Some(home) => Err(Trouble::new("cannot use the database of --database")
                .because(format!("the node {home} is the home of a cluster on it"))
                .remedy("stop that node, or start this one with --cluster")),
            None => open_in(&config.data, config, Slot::FIRST, true),
        },
        (None, None) => open_in(&config.data, config, Slot::FIRST, true),
    }
}

pub(crate) fn unusable_server(error: store::OpenError) -> Trouble {
    Trouble::new("cannot use the database of --database").because(error).remedy(
        "docs/operate.md has a page about PostgreSQL; `psql URL` shows whether the server can be reached",
    )
}

fn options(config: &Config, migrate: bool) -> Options {
    let synchronous = match config.store.sync {
        Sync::Full => Synchronous::Full,
        Sync::Normal => Synchronous::Normal,
    };
    Options { synchronous, readers: config.store.readers, migrate, ..Options::default() }
}

/// Whether this version can work with the database, which another process uses.
pub(crate) fn check(loaded: &Loaded) -> Outcome {
    if loaded.config.database.is_some() {
        return Ok(());
    }
    let dir = &loaded.config.data;
    Sqlite::check(&database_in(dir), &Options::default()).map_err(|error| {
        Trouble::new(format!("cannot use the data directory {}", dir.display())).because(error)
    })
}

/// Opens the database with the site of a key for a command, while a node may be using it.
pub(crate) fn open_site(loaded: &Loaded, url_port: Option<u16>, key: &str) -> Outcome<(Arc<Sqlite>, Site)> {
    let store = open_with(loaded, url_port, key)?;
    let site = site(&*store, key)?;
    Ok((store, site))
}

/// As [`open_site`]. If no site has the key, it is the slot that a new one would have.
pub(crate) fn open_with(loaded: &Loaded, url_port: Option<u16>, key: &str) -> Outcome<Arc<Sqlite>> {
    let slot = match slot_of_key(loaded, key)? {
        Some(slot) => slot,
        None => placement::slot_of_key(key, loaded.config.cluster.slots),
    };
    open_slot(loaded, url_port, slot)
}

/// Opens the database for a new site. `slot`: the operator's choice.
pub(crate) fn open_for_new_site(loaded: &Loaded, key: &str, slot: Option<u8>) -> Outcome<Arc<Sqlite>> {
    let slots = loaded.config.cluster.slots;
    if let Some(slot) = slot.filter(|slot| *slot >= slots) {
        return Err(Trouble::new(format!("there is no slot {slot}"))
            .because(format!("cluster.slots is {slots}"))
            .remedy("leave --slot out, or raise cluster.slots on all nodes"));
    }
    // A site with this key is refused by its own slot.
    match (slot_of_key(loaded, key)?, slot) {
        (None, Some(slot)) => open_slot(loaded, None, Slot(slot)),
        _ => open_with(loaded, None, key),
    }
}

/// Opens the databases of all slots.
pub(crate) fn open_all(loaded: &Loaded) -> Outcome<Vec<Arc<Sqlite>>> {
    match several_slots(loaded) {
        Some((url, slots)) => {
            let used = store::used_slots(url, slots).map_err(unusable_server)?;
            used.into_iter().map(|slot| open_slot(loaded, None, slot)).collect()
        }
        None => Ok(vec![open_slot(loaded, None, Slot::FIRST)?]),
    }
}

fn slot_of_key(loaded: &Loaded, key: &str) -> Outcome<Option<Slot>> {
    match several_slots(loaded) {
        Some((url, slots)) => store::find_site(url, slots, SiteBy::Key(key)).map_err(unusable_server),
        None => Ok(Some(Slot::FIRST)),
    }
}

/// The slot of the site with this XMPP domain. None: no site has it, or there is one slot, which compares by itself.
pub(crate) fn slot_of_domain(loaded: &Loaded, domain: &str) -> Outcome<Option<Slot>> {
    match several_slots(loaded) {
        Some((url, slots)) => store::find_site(url, slots, SiteBy::Domain(domain)).map_err(unusable_server),
        None => Ok(None),
    }
}

fn several_slots(loaded: &Loaded) -> Option<(&str, u8)> {
    let Config { database, cluster, .. } = &loaded.config;
    Some((database.as_deref()?, cluster.slots)).filter(|(_, slots)| *slots > 1)
}

fn open_slot(loaded: &Loaded, url_port: Option<u16>, slot: Slot) -> Outcome<Arc<Sqlite>> {
    let dir = match &loaded.config.database {
        // It tells only whether a node runs there, so several nodes are no obstacle.
        Some(_) => locate(loaded, url_port).unwrap_or_else(|_| loaded.config.data.clone()),
        None => locate(loaded, url_port)?,
    };
    if loaded.config.database.is_none() && !has_database(&dir) {
        return Err(Trouble::new(format!("no database in {}", dir.display()))
            .remedy("name the node's data directory with --data DIR, or start a node first: kith demo"));
    }
    // A running node knows its own schema only, so a command must not migrate the database.
    let is_served = match &loaded.config.database {
        // A node with homes holds its directory, whatever the state of a slot.
        _ if several_slots(loaded).is_none() && DataLock::is_held(&dir) => true,
        Some(url) => Lease::home_of(url, slot).map_err(unusable_server)?.is_some(),
        None => false,
    };
    open_in(&dir, &loaded.config, slot, !is_served)
}

fn open_in(dir: &Path, config: &Config, slot: Slot, migrate: bool) -> Outcome<Arc<Sqlite>> {
    let options = options(config, migrate);
    if let Some(url) = &config.database {
        return Sqlite::open_postgres(url, slot, options).map(Arc::new).map_err(unusable_server);
    }
    Sqlite::open(&database_in(dir), options).map(Arc::new).map_err(|error| {
        Trouble::new(format!("cannot use the data directory {}", dir.display()))
            .because(error)
            .remedy("or name another directory with --data DIR")
    })
}

/// The named directory; else that of the node on this port; else `./data` if it has a database; else that of the only running
/// node.
pub(crate) fn locate(loaded: &Loaded, url_port: Option<u16>) -> Outcome<PathBuf> {
    choose(loaded, url_port, &run_file::running())
}

fn choose(loaded: &Loaded, url_port: Option<u16>, running: &[run_file::RunningNode]) -> Outcome<PathBuf> {
    let dir = loaded.config.data.clone();
    if loaded.settings.get("data").is_some_and(|(_, source)| *source != Source::Default) {
        return Ok(dir);
    }
    if let Some(node) = running.iter().find(|node| url_port.is_some_and(|port| node.listens_on(port))) {
        return Ok(node.data.clone());
    }
    if has_database(&dir) {
        return Ok(dir);
    }
    match running {
        [node] => Ok(node.data.clone()),
        [] => Ok(dir),
        several => {
            let dirs: Vec<String> =
                several.iter().map(|node| format!("--data {}", node.data.display())).collect();
            Err(Trouble::new("several nodes could be meant")
                .because(format!("{} of them run on this machine, and ./data has no database", several.len()))
                .remedy(format!("choose one of\n{}", dirs.join("\n"))))
        }
    }
}

fn has_database(dir: &Path) -> bool {
    database_in(dir).is_file()
}

/// The site of a key, or an explanation with the keys that exist.
pub(crate) fn site(store: &dyn Store, key: &str) -> Outcome<Site> {
    let sites = store.sites().map_err(unreadable)?;
    let keys: Vec<&str> = sites.iter().map(|site| &*site.key).collect();
    let known = if keys.is_empty() {
        "no site exists yet".to_owned()
    } else {
        format!("there is: {}", keys.join(", "))
    };
    sites.iter().find(|site| &*site.key == key).cloned().ok_or_else(|| {
        Trouble::new(format!("unknown site: {key}"))
            .because(known)
            .remedy(format!("add it with `kith site add {key}`, or correct the name"))
    })
}

/// The user of an id, or an explanation.
pub(crate) fn user(store: &dyn Store, site: &Site, id: &str) -> Outcome<UserRow> {
    let sub = Sub::parse(id);
    let row = sub.map_or(Ok(None), |sub| wait(|done| store.user(site.id, sub, done)))?;
    row.ok_or_else(|| {
        Trouble::new(format!("the site {} has no user {id}", site.key))
            .because("a user exists after the first sign-in")
            .remedy(format!("see `kith user list --site {}`", site.key))
    })
}

/// Sends a request to the store and blocks until the answer. Never call it on a worker.
pub(crate) fn wait<T: Send + 'static>(ask: impl FnOnce(Done<T>)) -> Outcome<T> {
    let (sender, outcome) = mpsc::channel();
    ask(Box::new(move |outcome| drop(sender.send(outcome))));
    outcome
        .recv()
        .unwrap_or_else(|_| Err(StoreError::Failed("the store has stopped".into())))
        .map_err(unreadable)
}

pub(crate) fn unreadable(error: StoreError) -> Trouble {
    Trouble::new("the database does not answer").because(error).remedy("check the disk with `kith doctor`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, load};
    use crate::run_file::RunningNode;

    fn node(port: u16, data: &str) -> RunningNode {
        let http = ([127, 0, 0, 1], port).into();
        RunningNode {
            pid: 1,
            started: None,
            http,
            https: None,
            xmpp: None,
            data: data.into(),
            public_url: None,
        }
    }

    fn by_default() -> Loaded {
        let mut loaded = load(Layers::default()).expect("the defaults are valid");
        loaded.config.data = "/nowhere/data".into();
        loaded
    }

    #[test]
    fn a_named_directory_is_used_even_if_another_node_runs() {
        let flags = vec![("data", "/named".into())];
        let loaded = load(Layers { flags, ..Layers::default() }).expect("valid");
        assert_eq!(choose(&loaded, Some(1), &[node(1, "/a")]).expect("clear"), Path::new("/named"));
    }

    #[test]
    fn without_a_name_the_node_is_found_by_port_or_because_it_is_alone() {
        let (one, two) = (node(1, "/a"), node(2, "/b"));
        let choose = |port, running: &[RunningNode]| choose(&by_default(), port, running);
        assert_eq!(choose(Some(2), &[one.clone(), two.clone()]).expect("by port"), Path::new("/b"));
        assert_eq!(choose(None, std::slice::from_ref(&one)).expect("alone"), Path::new("/a"));
        assert_eq!(choose(None, &[]).expect("the default"), Path::new("/nowhere/data"));
        let unclear = choose(None, &[one, two]).expect_err("two run").to_string();
        assert!(unclear.contains("--data /a") && unclear.contains("--data /b"), "{unclear}");
    }
}

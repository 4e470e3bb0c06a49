//! A PostgreSQL server for the tests of a process, and a database in it for each test.
#![allow(dead_code, reason = "each test file uses its part")]

mod server;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use chat::Slot;
use store::{Options, Sqlite};

pub(crate) use self::server::Server;

fn shared() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        Server::start(None, "-c fsync=off -c shared_buffers=64MB")
            .expect("PostgreSQL for the tests: scripts/postgres.sh says above how to install it")
    })
}

/// The URL of a new database with the schema of the first slot.
pub(crate) fn database() -> String {
    database_of(Slot::FIRST)
}

/// The URL of a new database with the schema of a slot: a copy of one, because its migration takes longer.
fn database_of(slot: Slot) -> String {
    static TEMPLATES: Mutex<BTreeSet<Slot>> = Mutex::new(BTreeSet::new());
    let template = format!("template_{}", slot.0);
    let mut templates = TEMPLATES.lock().unwrap_or_else(PoisonError::into_inner);
    if templates.insert(slot) {
        open_slot(&empty_database(&template), slot).close();
    }
    drop(templates);
    let name = format!("test_{}", number());
    create(&name, &template);
    format!("{}/{name}", shared().url)
}

/// The URL of a new database without tables.
pub(crate) fn empty_database(name: &str) -> String {
    create(name, "template0");
    format!("{}/{name}", shared().url)
}

fn create(name: &str, template: &str) {
    // Two copies of one database cannot be made at once.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    run(&format!("{}/postgres", shared().url), &format!("CREATE DATABASE {name} TEMPLATE {template}"));
}

fn number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Runs statements without parameters.
pub(crate) fn run(url: &str, sql: &str) {
    query(url, sql);
}

/// The first column of all rows, as texts.
pub(crate) fn query(url: &str, sql: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (client, connection) =
            tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("the server answers");
        let connection = tokio::spawn(connection);
        let answers = client.simple_query(sql).await.expect("it is a statement");
        drop(client);
        connection.await.expect("it does not panic").expect("it ends");
        let rows = answers.into_iter().filter_map(|answer| match answer {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        rows.collect()
    })
}

/// Calls `does` while another process holds the lock of the one writer of the first slot.
pub(crate) fn holding_the_lock<T>(url: &str, does: impl FnOnce() -> T) -> T {
    holding_the_lock_of(url, Slot::FIRST, does)
}

pub(crate) fn holding_the_lock_of<T>(url: &str, slot: Slot, does: impl FnOnce() -> T) -> T {
    let key = (0x4b69_7468_i64 << 32) + i64::from(slot.0);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let client = runtime.block_on(async {
        let (client, connection) =
            tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("the server answers");
        tokio::spawn(connection);
        client
            .batch_execute(&format!("BEGIN; SELECT pg_advisory_xact_lock({key})"))
            .await
            .expect("nobody has it");
        client
    });
    let done = does();
    runtime.block_on(client.batch_execute("ROLLBACK")).expect("the server answers");
    done
}

/// A store in a new database.
pub(crate) fn store() -> Sqlite {
    open(&database())
}

/// A store of a slot in a new database.
pub(crate) fn store_of(slot: Slot) -> Sqlite {
    open_slot(&database_of(slot), slot)
}

pub(crate) fn open(url: &str) -> Sqlite {
    open_slot(url, Slot::FIRST)
}

pub(crate) fn open_slot(url: &str, slot: Slot) -> Sqlite {
    let options = Options { readers: 1, ..Options::default() };
    Sqlite::open_postgres(url, slot, options).expect("it opens")
}

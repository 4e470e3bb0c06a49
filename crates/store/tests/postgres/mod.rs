//! A PostgreSQL server for the tests of a process, and a database in it for each test.
#![allow(dead_code, reason = "each test file uses its part")]

mod server;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use store::{Options, Sqlite};

pub(crate) use self::server::Server;

fn shared() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        Server::start(None, "-c fsync=off -c shared_buffers=64MB")
            .expect("PostgreSQL for the tests: scripts/postgres.sh says above how to install it")
    })
}

/// The URL of a new database with the schema: a copy of one, because its migration takes longer.
pub(crate) fn database() -> String {
    static TEMPLATE: OnceLock<()> = OnceLock::new();
    TEMPLATE.get_or_init(|| open(&empty_database("template")).close());
    let name = format!("test_{}", number());
    create(&name, "template");
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

/// Calls `does` while another process holds the lock of the one writer.
pub(crate) fn holding_the_lock<T>(url: &str, does: impl FnOnce() -> T) -> T {
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
            .batch_execute("BEGIN; SELECT pg_advisory_xact_lock(5434002415424634880)")
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

pub(crate) fn open(url: &str) -> Sqlite {
    let options = Options { readers: 1, ..Options::default() };
    Sqlite::open_postgres(url, options).expect("it opens")
}

//! Connections, statements and rows of both engines, in the form that the statements of this crate use.
//!
//! Each type is an enum of SQLite's (`rusqlite`) and PostgreSQL's (`engine/postgres.rs`). The arms are inlined, so SQLite
//! pays one predictable branch per call. Values are converted by `rusqlite`'s traits for both engines, so a column
//! has the same meaning in both.
//!
//! [`Connection::begin_write`], [`Connection::commit`] and [`Statement::put`] contain what differs most: the lock of the
//! one writer, the outcome of a commit whose answer was lost, and writes that need no round trip of their own.

pub(crate) mod parameter;
pub(crate) mod postgres;
mod spelling;
mod tls;
pub(crate) mod value;

use std::ops::Deref;

use rusqlite::types::{FromSql, FromSqlError, ValueRef};

pub(crate) use self::parameter::{Params, ToSql};
use crate::dialect;

/// Values of different types for a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$(&$value as &dyn $crate::engine::ToSql),*] as &[&dyn $crate::engine::ToSql]
    };
}
pub(crate) use params;

/// The reason why a statement failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the query returned no row")]
    NoRows,
    #[error("{0}")]
    Invalid(&'static str),
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Value(#[from] FromSqlError),
    #[error(transparent)]
    Postgres(#[from] postgres::Error),
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Turns "no row" into None.
pub(crate) trait OptionalExtension<T> {
    fn optional(self) -> Result<Option<T>>;
}

impl<T> OptionalExtension<T> for Result<T> {
    #[inline]
    fn optional(self) -> Result<Option<T>> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(Error::NoRows) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

pub(crate) enum Connection {
    Sqlite(rusqlite::Connection),
    Postgres(Box<postgres::Connection>),
}

impl From<rusqlite::Connection> for Connection {
    fn from(db: rusqlite::Connection) -> Connection {
        Connection::Sqlite(db)
    }
}

impl Connection {
    /// SQLite's connection. Only code that exists for SQLite alone may call it.
    pub(crate) fn sqlite(&self) -> &rusqlite::Connection {
        match self {
            Connection::Sqlite(db) => db,
            Connection::Postgres(_) => unreachable!("the caller has opened a file"),
        }
    }

    /// PostgreSQL's connection. Only code that exists for PostgreSQL alone may call it.
    pub(crate) fn postgres(&self) -> &postgres::Connection {
        match self {
            Connection::Postgres(db) => db,
            Connection::Sqlite(_) => unreachable!("the caller has connected to a server"),
        }
    }

    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self, Connection::Postgres(_))
    }

    /// A statement that is kept for the next call.
    #[inline]
    pub(crate) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>> {
        match self {
            Connection::Sqlite(db) => Ok(Statement::Sqlite(db.prepare_cached(sql)?)),
            Connection::Postgres(db) => Ok(Statement::Postgres(db.prepare(sql))),
        }
    }

    #[inline]
    pub(crate) fn execute(&self, sql: &str, values: impl Params) -> Result<usize> {
        self.prepare_cached(sql)?.execute(values)
    }

    /// Statements without parameters.
    pub(crate) fn execute_batch(&self, sql: &str) -> Result<()> {
        match self {
            Connection::Sqlite(db) => Ok(db.execute_batch(sql)?),
            Connection::Postgres(db) => Ok(db.execute_batch(sql)?),
        }
    }

    /// Begins a transaction that may write. No other connection writes before it ends.
    #[inline]
    pub(crate) fn begin_write(&self) -> Result<()> {
        match self {
            Connection::Sqlite(db) => _ = db.prepare_cached(dialect::BEGIN_WRITE)?.execute([])?,
            Connection::Postgres(db) => db.begin_write()?,
        }
        Ok(())
    }

    /// Begins a transaction that sees one moment and writes nothing.
    #[inline]
    pub(crate) fn begin_read(&self) -> Result<()> {
        match self {
            Connection::Sqlite(db) => _ = db.prepare_cached("BEGIN")?.execute([])?,
            Connection::Postgres(db) => db.begin_read()?,
        }
        Ok(())
    }

    /// Returns when the transaction is on disk. After an error nothing of it is stored, except after
    /// [`postgres::Error::Unknown`].
    #[inline]
    pub(crate) fn commit(&self) -> Result<()> {
        match self {
            Connection::Sqlite(db) => _ = db.prepare_cached("COMMIT")?.execute([])?,
            Connection::Postgres(db) => db.commit()?,
        }
        Ok(())
    }

    pub(crate) fn rollback(&self) -> Result<()> {
        match self {
            Connection::Sqlite(db) => Ok(db.execute_batch("ROLLBACK")?),
            Connection::Postgres(db) => Ok(db.rollback()?),
        }
    }

    /// Whether no transaction is open.
    pub(crate) fn is_autocommit(&self) -> bool {
        match self {
            Connection::Sqlite(db) => db.is_autocommit(),
            Connection::Postgres(db) => db.is_autocommit(),
        }
    }

    /// The result changes after another connection has committed. Call in a transaction.
    pub(crate) fn data_version(&self) -> Result<i64> {
        match self {
            Connection::Sqlite(db) => {
                Ok(db.prepare_cached(dialect::DATA_VERSION)?.query_row([], |row| row.get(0))?)
            }
            Connection::Postgres(db) => Ok(db.data_version()),
        }
    }

    /// Whether [`Statement::put`] may wait for its answer later. Returns the former choice.
    pub(crate) fn set_pipelining(&self, on: bool) -> bool {
        match self {
            Connection::Sqlite(_) => false,
            Connection::Postgres(db) => db.set_pipelining(on),
        }
    }

    /// Begins a transaction that is rolled back if the value is dropped.
    pub(crate) fn transaction(&mut self) -> Result<Transaction<'_>> {
        self.begin_write()?;
        Ok(Transaction { db: self, is_open: true })
    }
}

pub(crate) struct Transaction<'c> {
    db: &'c Connection,
    is_open: bool,
}

impl Transaction<'_> {
    pub(crate) fn commit(mut self) -> Result<()> {
        self.db.commit()?;
        self.is_open = false;
        Ok(())
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.db
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open
            && !self.db.is_autocommit()
            && let Err(error) = self.db.rollback()
        {
            tracing::error!(%error, "cannot roll back a transaction");
        }
    }
}

pub(crate) enum Statement<'c> {
    Sqlite(rusqlite::CachedStatement<'c>),
    Postgres(postgres::Statement<'c>),
}

impl Statement<'_> {
    /// Returns the number of rows that it changed.
    #[inline]
    pub(crate) fn execute(&mut self, values: impl Params) -> Result<usize> {
        match self {
            Statement::Sqlite(statement) => {
                values.bind(statement)?;
                Ok(statement.raw_execute()?)
            }
            Statement::Postgres(statement) => Ok(statement.execute(values)?),
        }
    }

    /// Executes it without an answer. PostgreSQL sends it with the next statement, and an error comes from a later call,
    /// at the latest from [`Connection::commit`].
    #[inline]
    pub(crate) fn put(&mut self, values: impl Params) -> Result<()> {
        match self {
            Statement::Sqlite(statement) => {
                values.bind(statement)?;
                statement.raw_execute()?;
                Ok(())
            }
            Statement::Postgres(statement) => Ok(statement.put(values)?),
        }
    }

    #[inline]
    pub(crate) fn query(&mut self, values: impl Params) -> Result<Rows<'_>> {
        match self {
            Statement::Sqlite(statement) => {
                values.bind(statement)?;
                Ok(Rows::Sqlite(statement.raw_query()))
            }
            Statement::Postgres(statement) => Ok(Rows::Postgres(statement.query(values)?)),
        }
    }

    /// The first row.
    #[inline]
    pub(crate) fn query_row<T>(
        &mut self,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut rows = self.query(values)?;
        match rows.next()? {
            Some(row) => read(&row),
            None => Err(Error::NoRows),
        }
    }

    #[inline]
    pub(crate) fn query_map<T, F: FnMut(&Row<'_>) -> Result<T>>(
        &mut self,
        values: impl Params,
        read: F,
    ) -> Result<Mapped<'_, F>> {
        Ok(Mapped { rows: self.query(values)?, read })
    }

    /// Calls `read` with each row that the query has for each of `all`, and with the index of these values. PostgreSQL answers all of
    /// them in one round trip, and in any order. Only for a `SELECT` that writes nothing.
    pub(crate) fn query_each<P: Params>(
        &mut self,
        all: impl IntoIterator<Item = P>,
        mut read: impl FnMut(usize, &Row<'_>) -> Result<()>,
    ) -> Result<()> {
        match self {
            Statement::Sqlite(statement) => {
                for (at, values) in all.into_iter().enumerate() {
                    values.bind(statement)?;
                    let mut rows = statement.raw_query();
                    while let Some(row) = rows.next()? {
                        read(at, &Row::Sqlite(row))?;
                    }
                }
            }
            Statement::Postgres(statement) => {
                let mut rows = statement.query_each(all)?;
                while let Some((at, row)) = rows.next_of_each()? {
                    read(at, &Row::Postgres(row))?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn exists(&mut self, values: impl Params) -> Result<bool> {
        Ok(self.query(values)?.next()?.is_some())
    }
}

pub(crate) enum Rows<'s> {
    Sqlite(rusqlite::Rows<'s>),
    Postgres(postgres::Rows),
}

impl Rows<'_> {
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>> {
        match self {
            Rows::Sqlite(rows) => Ok(rows.next()?.map(Row::Sqlite)),
            Rows::Postgres(rows) => Ok(rows.next().map(Row::Postgres)),
        }
    }
}

/// Rows, each converted by a function.
pub(crate) struct Mapped<'s, F> {
    rows: Rows<'s>,
    read: F,
}

impl<T, F: FnMut(&Row<'_>) -> Result<T>> Iterator for Mapped<'_, F> {
    type Item = Result<T>;

    #[inline]
    fn next(&mut self) -> Option<Result<T>> {
        match self.rows.next() {
            Ok(Some(row)) => Some((self.read)(&row)),
            Ok(None) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

/// The number of a column, from 0.
pub(crate) trait Column {
    fn number(self) -> usize;
}

impl Column for usize {
    #[inline]
    fn number(self) -> usize {
        self
    }
}

pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl Row<'_> {
    #[inline]
    pub(crate) fn get<I: Column, T: FromSql>(&self, at: I) -> Result<T> {
        let at = at.number();
        match self {
            Row::Sqlite(row) => Ok(row.get(at)?),
            Row::Postgres(row) => value::convert(row, at),
        }
    }

    #[inline]
    pub(crate) fn get_ref(&self, at: usize) -> Result<ValueRef<'_>> {
        match self {
            Row::Sqlite(row) => Ok(row.get_ref(at)?),
            Row::Postgres(row) => value::read(row, at),
        }
    }
}

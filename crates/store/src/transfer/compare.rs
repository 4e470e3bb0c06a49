//! Reads a table of both databases again in the order of its key, and compares every value.
//!
//! It shares no statement with `copy.rs`: each side is read as a whole, from one statement, and counted by another one.

use std::cmp::Ordering;
use std::collections::VecDeque;

use rusqlite::types::ValueRef;

use super::end::End;
use super::table::Table;
use super::{Outcome, TransferError};
use crate::engine::{self, Row, params, postgres};

/// `report`: the rows that are equal so far.
pub(super) fn table(
    file: &End,
    server: &End,
    table: &Table,
    most: usize,
    report: &mut dyn FnMut(u64),
) -> Outcome<()> {
    let counts = (file.done(table.count(&file.db))?, server.done(table.count(&server.db))?);
    let mut statement = file.done(file.db.prepare_cached(&table.in_order()))?;
    let mut rows = file.done(statement.query([]))?;
    let most = server.done(table.page_rows(&server.db, most))?;
    let is_source = !server.db.is_autocommit();
    if !is_source {
        server.done(server.db.begin_read())?;
    }
    let mut cursor = server.done(Cursor::open(server.db.postgres(), table, most))?;
    let mut same = 0;
    loop {
        let (a, b) = (file.done(rows.next())?, server.done(cursor.next())?);
        match (a, b) {
            (None, None) => break,
            (Some(a), None) => return Err(only_in(file, table, &a)),
            (None, Some(b)) => return Err(only_in(server, table, &Row::Postgres(&b))),
            (Some(a), Some(b)) => rows_are_equal(file, server, table, &a, &Row::Postgres(&b))?,
        }
        same += 1;
        if same % (most as u64) == 0 {
            report(same);
        }
    }
    report(same);
    server.done(cursor.close())?;
    if !is_source {
        server.done(server.db.commit())?;
    }
    if counts != (same, same) {
        let what = format!("{same} rows were read, and {} and {} counted", counts.0, counts.1);
        return Err(TransferError::Differs { table: table.name.clone(), at: String::new(), what });
    }
    Ok(())
}

fn rows_are_equal(file: &End, server: &End, table: &Table, a: &Row<'_>, b: &Row<'_>) -> Outcome<()> {
    for at in &table.key {
        match file.done(a.get_ref(*at)).and_then(|a| Ok(order(a, server.done(b.get_ref(*at))?)))? {
            Ordering::Less => return Err(only_in(file, table, a)),
            Ordering::Greater => return Err(only_in(server, table, b)),
            Ordering::Equal => {}
        }
    }
    for (at, column) in table.columns.iter().enumerate() {
        if file.done(a.get_ref(at))? != server.done(b.get_ref(at))? {
            let what = format!("the column {column} has another value");
            return Err(differs(table, a, what));
        }
    }
    Ok(())
}

fn only_in(end: &End, table: &Table, row: &Row<'_>) -> TransferError {
    differs(table, row, format!("only {} has this row", end.place))
}

fn differs(table: &Table, row: &Row<'_>, what: String) -> TransferError {
    let at = table.describe_key(row).map(|key| format!(" at {key}")).unwrap_or_default();
    TransferError::Differs { table: table.name.clone(), at, what }
}

/// As both engines order the values of a key.
fn order(a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
    match (a, b) {
        (ValueRef::Integer(a), ValueRef::Integer(b)) => a.cmp(&b),
        (ValueRef::Text(a), ValueRef::Text(b)) | (ValueRef::Blob(a), ValueRef::Blob(b)) => a.cmp(b),
        // Of different types: reported as a value that differs.
        _ => Ordering::Equal,
    }
}

/// The rows of a table on PostgreSQL, some at a time.
struct Cursor<'c> {
    db: &'c postgres::Connection,
    fetch: String,
    close: String,
    rows: VecDeque<tokio_postgres::Row>,
    is_over: bool,
}

impl<'c> Cursor<'c> {
    fn open(db: &'c postgres::Connection, table: &Table, rows: usize) -> Result<Cursor<'c>, postgres::Error> {
        // A name for each table, because the connection keeps prepared statements by their text.
        let name = format!("compared_{}", table.name);
        db.ask(&format!("DECLARE {name} NO SCROLL CURSOR FOR {}", table.in_order()), params![])?;
        let (fetch, close) = (format!("FETCH FORWARD {rows} FROM {name}"), format!("CLOSE {name}"));
        Ok(Cursor { db, fetch, close, rows: VecDeque::new(), is_over: false })
    }

    fn next(&mut self) -> engine::Result<Option<tokio_postgres::Row>> {
        if self.rows.is_empty() && !self.is_over {
            self.rows = self.db.ask(&self.fetch, params![])?.into();
            self.is_over = self.rows.is_empty();
        }
        Ok(self.rows.pop_front())
    }

    fn close(self) -> Result<(), postgres::Error> {
        self.db.ask(&self.close, params![]).map(drop)
    }
}

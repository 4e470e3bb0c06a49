//! Copies one table, in transactions of some thousand rows.

use super::end::End;
use super::table::Table;
use super::{Outcome, TransferError};
use crate::engine::value::Value;
use crate::engine::{self, Connection, params};

/// Values of rows, one after the other.
struct Page {
    values: Vec<Value>,
    rows: usize,
}

/// Goes on behind the last row of the target. `report`: the rows that the target has.
pub(super) fn table(
    source: &End,
    target: &End,
    table: &Table,
    most: usize,
    report: &mut dyn FnMut(u64),
) -> Outcome<()> {
    let (mut moved, is_done) = target.done(progress(&target.db, table))?;
    if is_done {
        return Ok(());
    }
    let mut key = target.done(table.last_key(&target.db))?;
    let most = source.done(table.page_rows(&source.db, most))?;
    loop {
        let page = read(source, table, key.as_deref(), most)?;
        let is_last = page.rows < most;
        target.done(write(&target.db, table, &page, moved, is_last))?;
        moved += page.rows as u64;
        report(moved);
        if is_last {
            return Ok(());
        }
        let last = &page.values[page.values.len() - table.columns.len()..];
        key = Some(table.key.iter().map(|at| last[*at].clone()).collect());
    }
}

fn progress(db: &Connection, table: &Table) -> engine::Result<(u64, bool)> {
    let sql = sql!("SELECT moved, done FROM transfer WHERE name = $1");
    let read = |row: &engine::Row<'_>| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? == 1));
    db.prepare_cached(sql)?.query_row([table.name.as_str()], read)
}

fn read(source: &End, table: &Table, behind: Option<&[Value]>, most: usize) -> Outcome<Page> {
    let sql = table.page(behind.is_none(), most);
    let mut statement = source.done(source.db.prepare_cached(&sql))?;
    let mut rows = source.done(statement.query(behind.unwrap_or_default()))?;
    let mut page = Page { values: Vec::new(), rows: 0 };
    while let Some(row) = source.done(rows.next())? {
        for (at, kind) in table.kinds.iter().enumerate() {
            let read = Value::read(source.done(row.get_ref(at))?, *kind);
            page.values.push(read.map_err(|why| unmovable(table, &row, at, why))?);
        }
        page.rows += 1;
    }
    Ok(page)
}

fn unmovable(table: &Table, row: &engine::Row<'_>, at: usize, why: &'static str) -> TransferError {
    let (table_name, column) = (table.name.clone(), table.columns[at].clone());
    let key = table.describe_key(row).unwrap_or_default();
    TransferError::Value { table: table_name, key, column, why }
}

/// One transaction: the rows, and how many there are now.
fn write(db: &Connection, table: &Table, page: &Page, before: u64, is_last: bool) -> engine::Result<()> {
    db.begin_write()?;
    let written = write_rows(db, table, page).and_then(|()| {
        let sql =
            sql!("UPDATE transfer SET moved = $2, done = $3 WHERE name = $1 AND moved = $4 AND done = 0");
        let moved = before + page.rows as u64;
        let changed = db.execute(sql, params![table.name.as_str(), moved as i64, is_last, before as i64])?;
        match changed {
            1 => db.commit(),
            _ => Err(engine::Error::Invalid("another process writes to the target")),
        }
    });
    if written.is_err() && !db.is_autocommit() {
        // The first error is the one to report.
        _ = db.rollback();
    }
    written
}

fn write_rows(db: &Connection, table: &Table, page: &Page) -> engine::Result<()> {
    if page.rows == 0 {
        return Ok(());
    }
    if let Connection::Postgres(db) = db {
        return Ok(db.copy_in(&table.copy(), &table.kinds, &page.values)?);
    }
    let mut statement = db.prepare_cached(&table.insert())?;
    for row in page.values.chunks_exact(table.columns.len()) {
        statement.execute(row)?;
    }
    Ok(())
}

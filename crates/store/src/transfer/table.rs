//! Tables as the transfer sees them, and the statements that it makes from their names.

use crate::dialect;
use crate::engine::value::{Kind, Value};
use crate::engine::{self, Connection, Row};

pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
    pub(super) kinds: Vec<Kind>,
    /// The places of the columns of the primary key, in its order.
    pub(super) key: Vec<usize>,
}

/// Bytes of the values of one page.
const PAGE: u64 = 16 << 20;

impl Table {
    /// All tables that move; `meta` does so by itself. Both engines have the same ones.
    pub(super) fn all(db: &rusqlite::Connection) -> engine::Result<Vec<Table>> {
        let mut names = db.prepare(dialect::TABLES)?;
        let names = names.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
        let names = names.into_iter().filter(|name| name != "meta" && name != "transfer");
        names.map(|name| Table::of(db, name)).collect()
    }

    fn of(db: &rusqlite::Connection, name: String) -> engine::Result<Table> {
        let (mut columns, mut kinds, mut key) = (Vec::new(), Vec::new(), Vec::new());
        let mut statement = db.prepare(dialect::COLUMNS)?;
        let mut rows = statement.query([&name])?;
        while let Some(row) = rows.next()? {
            kinds.push(match row.get_ref(1)?.as_str()? {
                "INTEGER" => Kind::Integer,
                "TEXT" => Kind::Text,
                "BLOB" => Kind::Blob,
                _ => return Err(engine::Error::Invalid("a column of another type")),
            });
            let place: i64 = row.get(2)?;
            if place > 0 {
                key.push((place, columns.len()));
            }
            columns.push(row.get(0)?);
        }
        key.sort_unstable();
        if key.is_empty() {
            return Err(engine::Error::Invalid("a table without a primary key"));
        }
        Ok(Table { name, columns, kinds, key: key.into_iter().map(|(_, at)| at).collect() })
    }

    pub(super) fn has_rows(&self, db: &Connection) -> engine::Result<bool> {
        db.prepare_cached(&format!("SELECT 1 FROM {} LIMIT 1", self.name))?.exists([])
    }

    pub(super) fn count(&self, db: &Connection) -> engine::Result<u64> {
        let sql = format!("SELECT count(*) FROM {}", self.name);
        let count: i64 = db.prepare_cached(&sql)?.query_row([], |row| row.get(0))?;
        Ok(count as u64)
    }

    /// How many rows may be read at once: none is larger than the largest one. Reads the whole table.
    pub(super) fn page_rows(&self, db: &Connection, most: usize) -> engine::Result<usize> {
        let sizes: Vec<String> = self
            .columns
            .iter()
            .zip(&self.kinds)
            .filter(|(_, kind)| **kind != Kind::Integer)
            .map(|(column, _)| format!("coalesce(octet_length({column}), 0)"))
            .collect();
        if sizes.is_empty() {
            return Ok(most);
        }
        let sql = format!("SELECT coalesce(max({}), 0) FROM {}", sizes.join(" + "), self.name);
        let largest: i64 = db.prepare_cached(&sql)?.query_row([], |row| row.get(0))?;
        Ok(usize::try_from(PAGE / (largest as u64).max(1)).unwrap_or(most).clamp(1, most))
    }

    /// The greatest key.
    pub(super) fn last_key(&self, db: &Connection) -> engine::Result<Option<Vec<Value>>> {
        let order: Vec<String> = self.key_names().map(|name| format!("{name} DESC")).collect();
        let sql =
            format!("SELECT {} FROM {} ORDER BY {} LIMIT 1", self.key_list(), self.name, order.join(", "));
        let mut statement = db.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let kinds = self.key.iter().map(|at| self.kinds[*at]).enumerate();
        let values =
            kinds.map(|(at, kind)| Value::read(row.get_ref(at)?, kind).map_err(engine::Error::Invalid));
        values.collect::<Result<_, _>>().map(Some)
    }

    /// Rows in the order of the key; behind a key whose values are the parameters.
    pub(super) fn page(&self, is_first: bool, rows: usize) -> String {
        let behind = match is_first {
            true => String::new(),
            false => format!(" WHERE ({}) > ({})", self.key_list(), parameters(self.key.len())),
        };
        format!("{}{behind} ORDER BY {} LIMIT {rows}", self.select(), self.key_list())
    }

    /// All rows, in the order of the key.
    pub(super) fn in_order(&self) -> String {
        format!("{} ORDER BY {}", self.select(), self.key_list())
    }

    pub(super) fn insert(&self) -> String {
        let (name, columns) = (&self.name, self.columns.join(", "));
        format!("INSERT INTO {name} ({columns}) VALUES ({})", parameters(self.columns.len()))
    }

    /// PostgreSQL's statement for many rows.
    pub(super) fn copy(&self) -> String {
        format!("COPY {} ({}) FROM STDIN BINARY", self.name, self.columns.join(", "))
    }

    /// The key of a row of [`page`](Self::page) or [`in_order`](Self::in_order), for an error message.
    pub(super) fn describe_key(&self, row: &Row<'_>) -> engine::Result<String> {
        use rusqlite::types::ValueRef;
        let mut parts = Vec::new();
        for at in &self.key {
            let value = match row.get_ref(*at)? {
                ValueRef::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
                ValueRef::Blob(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
                ValueRef::Integer(number) => number.to_string(),
                ValueRef::Null | ValueRef::Real(_) => "nothing".into(),
            };
            parts.push(format!("{} = {value}", self.columns[*at]));
        }
        Ok(parts.join(", "))
    }

    fn select(&self) -> String {
        format!("SELECT {} FROM {}", self.columns.join(", "), self.name)
    }

    fn key_names(&self) -> impl Iterator<Item = &str> {
        self.key.iter().map(|at| self.columns[*at].as_str())
    }

    fn key_list(&self) -> String {
        self.key_names().collect::<Vec<_>>().join(", ")
    }
}

fn parameters(count: usize) -> String {
    (1..=count).map(dialect::parameter).collect::<Vec<_>>().join(", ")
}

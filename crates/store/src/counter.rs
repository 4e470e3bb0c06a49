//! Numbers of new rows. Each site counts each kind separately. A number is never used twice, even if its row was
//! removed.

use crate::engine::{Connection, OptionalExtension, params};
use chat::SiteId;

use crate::fault::Outcome;

/// The kinds of rows that are counted. The numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    User = 1,
    Room = 2,
    Report = 3,
    Audit = 4,
    Secret = 5,
    HeldMessage = 6,
    RoomLink = 7,
    Sticker = 8,
    AppPassword = 9,
    Item = 10,
}

/// The next number. If the transaction is rolled back, the number is used again.
pub(crate) fn next(db: &Connection, site: SiteId, of: Counted) -> Outcome<i64> {
    let sql = sql!(
        "INSERT INTO counter (site, kind, last) VALUES ($1, $2, 1) \
         ON CONFLICT (site, kind) DO UPDATE SET last = counter.last + 1 RETURNING last"
    );
    Ok(db.prepare_cached(sql)?.query_row(params![site.0, of as i64], |row| row.get(0))?)
}

/// The number that was given out last; 0 if there was none.
pub(crate) fn last(db: &Connection, site: SiteId, of: Counted) -> Outcome<i64> {
    let sql = sql!("SELECT last FROM counter WHERE site = $1 AND kind = $2");
    let last = db.prepare_cached(sql)?.query_row(params![site.0, of as i64], |row| row.get(0)).optional()?;
    Ok(last.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_site_counts_each_kind_by_itself() {
        let mut db = rusqlite::Connection::open_in_memory().expect("a database in memory");
        crate::migrate::migrate(&mut db, 1).expect("the schema");
        let db = Connection::from(db);
        let next = |site, of| next(&db, SiteId(site), of).expect("it counts");
        assert_eq!(last(&db, SiteId(1), Counted::User).expect("it reads"), 0);
        assert_eq!([next(1, Counted::User), next(1, Counted::User), next(1, Counted::Room)], [1, 2, 1]);
        assert_eq!([next(2, Counted::User), next(1, Counted::User)], [1, 3]);
        assert_eq!(last(&db, SiteId(1), Counted::User).expect("it reads"), 3);
    }
}

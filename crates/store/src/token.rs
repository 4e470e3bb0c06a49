//! One-time tokens.

use chat::{SiteId, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use crate::fault::Outcome;

/// Most expired tokens that one use forgets: more than one, so that the table shrinks after a burst.
const FORGET: u32 = 4;

/// False where it was used before and has not expired since.
pub(crate) fn spend(
    db: &Connection,
    site: SiteId,
    jti: &str,
    expires: Timestamp,
    now: Timestamp,
) -> Outcome<bool> {
    let forget = "DELETE FROM used_token WHERE (site, jti) IN \
                  (SELECT site, jti FROM used_token WHERE expires < ?1 ORDER BY expires LIMIT ?2)";
    db.prepare_cached(forget)?.execute(params![now.0 as i64, FORGET])?;
    let sql = "SELECT expires FROM used_token WHERE site = ?1 AND jti = ?2";
    let alive = db
        .prepare_cached(sql)?
        .query_row(params![site.0, jti], |row| row.get::<_, i64>(0))
        .optional()?
        .is_some_and(|until| until as u64 >= now.0);
    let sql = "INSERT OR REPLACE INTO used_token (site, jti, expires) VALUES (?1, ?2, ?3)";
    db.prepare_cached(sql)?.execute(params![site.0, jti, expires.0.min(i64::MAX as u64) as i64])?;
    Ok(!alive)
}

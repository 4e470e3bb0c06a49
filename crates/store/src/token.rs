//! One-time tokens.

use crate::engine::{Connection, OptionalExtension, params};
use chat::{SiteId, Timestamp};

use crate::fault::Outcome;

/// Most expired tokens that one use removes: more than one, so that the table shrinks after a burst.
const FORGET: u32 = 4;

/// False if the token was used before and has not expired since.
pub(crate) fn spend(
    db: &Connection,
    site: SiteId,
    jti: &str,
    expires: Timestamp,
    now: Timestamp,
) -> Outcome<bool> {
    forget_expired(db, now)?;
    let sql = sql!("SELECT expires FROM used_token WHERE site = $1 AND jti = $2");
    let alive = db
        .prepare_cached(sql)?
        .query_row(params![site.0, jti], |row| row.get::<_, i64>(0))
        .optional()?
        .is_some_and(|until| until as u64 >= now.0);
    let sql = sql!(
        "INSERT INTO used_token (site, jti, expires) VALUES ($1, $2, $3) \
               ON CONFLICT (site, jti) DO UPDATE SET expires = excluded.expires"
    );
    db.prepare_cached(sql)?.execute(params![site.0, jti, expires.0.min(i64::MAX as u64) as i64])?;
    Ok(!alive)
}

fn forget_expired(db: &Connection, now: Timestamp) -> Outcome<()> {
    let sql = sql!("SELECT site, jti FROM used_token WHERE expires < $1 ORDER BY expires LIMIT $2");
    let mut statement = db.prepare_cached(sql)?;
    let expired = statement
        .query_map(params![now.0 as i64, FORGET], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<Vec<(u32, Box<str>)>, _>>()?;
    // One by one: for a list of pairs SQLite would scan all tokens of the site.
    for (site, jti) in expired {
        let sql = sql!("DELETE FROM used_token WHERE site = $1 AND jti = $2");
        db.prepare_cached(sql)?.execute(params![site, jti])?;
    }
    Ok(())
}

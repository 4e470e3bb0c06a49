//! Tokens of apps.

use crate::engine::{Connection, OptionalExtension, Row, params};
use chat::{
    AppDeviceOf, AppToken, AppTokenSecret, AppTokenStore, AppTokens, Done, MOST_APP_TOKENS, Timestamp, UserId,
};

use crate::fault::Outcome;
use crate::sqlite::Sqlite;
use crate::user;

impl AppTokenStore for Sqlite {
    fn app_tokens(&self, of: AppDeviceOf, done: Done<Option<AppTokens>>) {
        self.read(move |db| find(db, &of).map(|found| found.map(|(_, tokens)| tokens)), done);
    }

    fn put_app_tokens(&self, of: AppDeviceOf, tokens: AppTokens, now: Timestamp, done: Done<bool>) {
        self.write(move |batch| begin(batch.db, &of, &tokens, now), done);
    }

    fn use_app_token(
        &self,
        of: AppDeviceOf,
        used: AppTokenSecret,
        fresh: AppToken,
        now: Timestamp,
        done: Done<Option<AppToken>>,
    ) {
        self.write(move |batch| after_use(batch.db, &of, &used, &fresh, now), done);
    }

    fn remove_app_tokens(&self, of: AppDeviceOf, done: Done<()>) {
        self.write(move |batch| remove(batch.db, &of), done);
    }
}

fn find(db: &Connection, of: &AppDeviceOf) -> Outcome<Option<(UserId, AppTokens)>> {
    // A user of the number 0 does not exist: the same statements run for an unknown id.
    let id = user::by_sub(db, of.site, &of.sub)?.map_or(UserId::nobody(of.site), |row| row.id);
    let sql = sql!(
        "SELECT number, mechanism, secret, expires, next_secret, next_expires FROM app_token \
         WHERE site = $1 AND user = $2 AND device = $3"
    );
    let values = params![id.site.0, id.num, of.device.0];
    let found = db.prepare_cached(sql)?.query_row(values, tokens).optional()?;
    Ok(found.map(|tokens| (id, tokens)))
}

fn tokens(row: &Row<'_>) -> crate::engine::Result<AppTokens> {
    let token = |secret, expires: i64| AppToken {
        secret: AppTokenSecret(secret),
        expires: Timestamp(expires as u64),
    };
    let next: Option<[u8; 32]> = row.get(4)?;
    Ok(AppTokens {
        number: row.get(0)?,
        mechanism: row.get(1)?,
        current: token(row.get(2)?, row.get(3)?),
        next: next.map(|secret| Ok::<_, crate::engine::Error>(token(secret, row.get(5)?))).transpose()?,
    })
}

fn begin(db: &Connection, of: &AppDeviceOf, tokens: &AppTokens, now: Timestamp) -> Outcome<bool> {
    let Some(user) = user::by_sub(db, of.site, &of.sub)? else { return Ok(false) };
    let id = user.id;
    let sql = sql!("SELECT 1 FROM app_password WHERE site = $1 AND user = $2 AND number = $3");
    if !db.prepare_cached(sql)?.exists(params![id.site.0, id.num, tokens.number])? {
        return Ok(false);
    }
    put(db, id, of, tokens)?;
    let expired = sql!(
        "DELETE FROM app_token WHERE site = $1 AND user = $2 AND expires <= $3 \
         AND (next_expires IS NULL OR next_expires <= $3)"
    );
    db.prepare_cached(expired)?.execute(params![id.site.0, id.num, now.0 as i64])?;
    let beyond = sql!(
        "DELETE FROM app_token WHERE site = $1 AND user = $2 AND device IN (SELECT device FROM app_token \
         WHERE site = $1 AND user = $2 ORDER BY expires DESC, device LIMIT 9223372036854775807 OFFSET $3)"
    );
    db.prepare_cached(beyond)?.execute([id.site.0, id.num, MOST_APP_TOKENS])?;
    Ok(true)
}

fn put(db: &Connection, id: UserId, of: &AppDeviceOf, tokens: &AppTokens) -> Outcome<()> {
    let AppTokens { number, mechanism, current, next } = tokens;
    let sql = sql!(
        "INSERT INTO app_token (site, user, device, number, mechanism, secret, expires, next_secret, next_expires) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (site, user, device) DO UPDATE SET number = $4, \
         mechanism = $5, secret = $6, expires = $7, next_secret = $8, next_expires = $9"
    );
    db.prepare_cached(sql)?.execute(params![
        id.site.0,
        id.num,
        of.device.0,
        number,
        mechanism,
        current.secret.0,
        current.expires.0 as i64,
        next.as_ref().map(|next| next.secret.0),
        next.as_ref().map(|next| next.expires.0 as i64),
    ])?;
    Ok(())
}

fn after_use(
    db: &Connection,
    of: &AppDeviceOf,
    used: &AppTokenSecret,
    fresh: &AppToken,
    now: Timestamp,
) -> Outcome<Option<AppToken>> {
    let Some((id, tokens)) = find(db, of)? else { return Ok(None) };
    let before = tokens.clone();
    let Some(after) = tokens.after_use(used, fresh.clone(), now) else { return Ok(None) };
    if after.tokens != before {
        put(db, id, of, &after.tokens)?;
    }
    Ok(after.given)
}

fn remove(db: &Connection, of: &AppDeviceOf) -> Outcome<()> {
    let Some(user) = user::by_sub(db, of.site, &of.sub)? else { return Ok(()) };
    let sql = sql!("DELETE FROM app_token WHERE site = $1 AND user = $2 AND device = $3");
    db.prepare_cached(sql)?.execute(params![of.site.0, user.id.num, of.device.0])?;
    Ok(())
}

/// The app password does not exist any more.
pub(crate) fn end(db: &Connection, id: UserId, number: u32) -> Outcome<()> {
    let sql = sql!("DELETE FROM app_token WHERE site = $1 AND user = $2 AND number = $3");
    db.prepare_cached(sql)?.execute(params![id.site.0, id.num, number])?;
    Ok(())
}

//! Reactions to a message: each user's, and the count of each reaction.

use crate::engine::{Connection, params};
use chat::{NAMED, Reaction, Reactions, Refusal, SiteId, StoredMessage, UserId, room_for};

use crate::fault::Outcome;
use crate::user::Subs;
use crate::writer::Batch;

// ---- writes ----

/// False if the user has put this reaction before.
pub(super) fn put(
    batch: &mut Batch<'_>,
    user: UserId,
    at: u64,
    before: &StoredMessage,
    reaction: &Reaction,
) -> Outcome<Result<bool, Refusal>> {
    let (db, site, at) = (batch.db, user.site.0, at as i64);
    let sql = sql!("SELECT reaction = $4 FROM reaction WHERE site = $1 AND message = $2 AND user = $3");
    let of_user: Vec<bool> = db
        .prepare_cached(sql)?
        .query_map(params![site, at, user.num, reaction.as_str()], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    if of_user.contains(&true) {
        return Ok(Ok(false));
    }
    let is_there = before.reactions.iter().any(|one| one.reaction == *reaction);
    if let Err(refusal) = room_for(before.reactions.len(), is_there, of_user.len()) {
        return Ok(Err(refusal));
    }
    // The position that this change will get.
    let number = batch.position().number as i64 + 1;
    let sql =
        sql!("INSERT INTO reaction (site, message, user, reaction, position) VALUES ($1, $2, $3, $4, $5)");
    db.prepare_cached(sql)?.execute(params![site, at, user.num, reaction.as_str(), number])?;
    if is_there {
        count(db, user.site, at, reaction, 1)?;
    } else {
        let sql = sql!(
            "INSERT INTO reaction_count (site, message, first, reaction, count) VALUES ($1, $2, $3, $4, 1)"
        );
        db.prepare_cached(sql)?.execute(params![site, at, number, reaction.as_str()])?;
    }
    Ok(Ok(true))
}

/// False if the user has not put this reaction.
pub(super) fn take_off(db: &Connection, user: UserId, at: u64, reaction: &Reaction) -> Outcome<bool> {
    let (site, at) = (user.site, at as i64);
    let sql = sql!("DELETE FROM reaction WHERE site = $1 AND message = $2 AND user = $3 AND reaction = $4");
    let values = params![site.0, at, user.num, reaction.as_str()];
    if db.prepare_cached(sql)?.execute(values)? == 0 {
        return Ok(false);
    }
    count(db, site, at, reaction, -1)?;
    let sql = sql!("DELETE FROM reaction_count WHERE site = $1 AND message = $2 AND count = 0");
    db.prepare_cached(sql)?.execute(params![site.0, at])?;
    Ok(true)
}

fn count(db: &Connection, site: SiteId, at: i64, reaction: &Reaction, by: i64) -> Outcome<()> {
    let sql = sql!(
        "UPDATE reaction_count SET count = count + $4 WHERE site = $1 AND message = $2 AND reaction = $3"
    );
    db.prepare_cached(sql)?.execute(params![site.0, at, reaction.as_str(), by])?;
    Ok(())
}

pub(super) fn take_all_off(db: &Connection, site: SiteId, at: u64) -> Outcome<()> {
    for sql in [
        sql!("DELETE FROM reaction WHERE site = $1 AND message = $2"),
        sql!("DELETE FROM reaction_count WHERE site = $1 AND message = $2"),
    ] {
        db.prepare_cached(sql)?.execute(params![site.0, at as i64])?;
    }
    Ok(())
}

// ---- reads ----

pub(super) fn load(db: &Connection, subs: &mut Subs<'_>, reader: UserId, at: u64) -> Outcome<Vec<Reactions>> {
    let sql =
        sql!("SELECT reaction, count FROM reaction_count WHERE site = $1 AND message = $2 ORDER BY first");
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![reader.site.0, at as i64])?;
    let mut reactions = Vec::new();
    while let Some(row) = rows.next()? {
        // Stored reactions were parsed before; any other text was written by another program.
        let Some(reaction) = Reaction::parse(row.get_ref(0)?.as_str().map_err(crate::engine::Error::from)?)
        else {
            continue;
        };
        let count = row.get::<_, i64>(1)? as u64;
        let first = first_users(db, reader.site, at, &reaction)?;
        let mine = match count > NAMED as u64 {
            true => first.contains(&reader) || has_put(db, reader, at, &reaction)?,
            false => first.contains(&reader),
        };
        let mut users = Vec::with_capacity(first.len());
        for user in first {
            users.extend(subs.of(user)?);
        }
        reactions.push(Reactions { reaction, count, users, mine });
    }
    Ok(reactions)
}

fn first_users(db: &Connection, site: SiteId, at: u64, reaction: &Reaction) -> Outcome<Vec<UserId>> {
    let sql = sql!(concat!(
        "SELECT user FROM reaction",
        indexed_by!("reaction_order"),
        " WHERE site = $1 AND message = $2 AND reaction = $3 ORDER BY position LIMIT $4"
    ));
    let values = params![site.0, at as i64, reaction.as_str(), NAMED as i64];
    let mut statement = db.prepare_cached(sql)?;
    let users = statement.query_map(values, |row| Ok(UserId { site, num: row.get(0)? }))?;
    Ok(users.collect::<Result<_, _>>()?)
}

fn has_put(db: &Connection, user: UserId, at: u64, reaction: &Reaction) -> Outcome<bool> {
    let sql = sql!("SELECT 1 FROM reaction WHERE site = $1 AND message = $2 AND user = $3 AND reaction = $4");
    let values = params![user.site.0, at as i64, user.num, reaction.as_str()];
    Ok(db.prepare_cached(sql)?.exists(values)?)
}

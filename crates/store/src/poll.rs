//! Polls: the choices with their counts, and a row for each vote.

use crate::engine::{Connection, OptionalExtension, params};
use chat::{Choice, NAMED, NewPoll, Poll, Refusal, SiteId, StoredMessage, Timestamp, UserId};

use crate::fault::Outcome;
use crate::rich::Place;
use crate::user::Subs;
use crate::writer::Batch;

// ---- writes ----

pub(crate) fn put(db: &Connection, place: &Place, poll: &NewPoll) -> Outcome<()> {
    let (site, at) = (place.from.site.0, place.position as i64);
    let sql = sql!(
        "INSERT INTO poll (site, message, multiple, anonymous, ends, closed, voters) \
               VALUES ($1, $2, $3, $4, $5, 0, 0)"
    );
    let ends = poll.ends.map(|time| time.0 as i64);
    db.prepare_cached(sql)?.execute(params![site, at, poll.multiple, poll.anonymous, ends])?;
    let sql = sql!("INSERT INTO poll_choice (site, message, number, text, votes) VALUES ($1, $2, $3, $4, 0)");
    for (number, text) in poll.choices.iter().enumerate() {
        db.prepare_cached(sql)?.execute(params![site, at, number as i64, text])?;
    }
    Ok(())
}

/// `before`: the message as the voter sees it. Returns whether the vote has an effect.
pub(crate) fn vote(
    batch: &Batch<'_>,
    user: UserId,
    at: u64,
    before: &StoredMessage,
    choices: &[u8],
    now: Timestamp,
) -> Outcome<Result<bool, Refusal>> {
    let poll = before.rich.as_ref().and_then(|rich| rich.poll.as_ref());
    let Some(poll) = poll else { return Ok(Err(Refusal::BadValue)) };
    if let Err(refusal) = poll.may_vote(choices, now) {
        return Ok(Err(refusal));
    }
    let (db, site, at) = (batch.db, user.site.0, at as i64);
    let mine = poll.mine();
    let (gone, new): (Vec<u8>, Vec<u8>) = (
        mine.iter().filter(|choice| !choices.contains(choice)).copied().collect(),
        choices.iter().filter(|choice| !mine.contains(choice)).copied().collect(),
    );
    let count = |choice: u8, by: i64| -> Outcome<()> {
        let sql = sql!(
            "UPDATE poll_choice SET votes = votes + $4 WHERE site = $1 AND message = $2 AND number = $3"
        );
        db.prepare_cached(sql)?.execute(params![site, at, choice, by])?;
        Ok(())
    };
    for choice in &gone {
        let sql = sql!("DELETE FROM vote WHERE site = $1 AND message = $2 AND user = $3 AND choice = $4");
        db.prepare_cached(sql)?.execute(params![site, at, user.num, choice])?;
        count(*choice, -1)?;
    }
    // The position that this change will get.
    let number = batch.position().number as i64 + 1;
    for choice in &new {
        let sql =
            sql!("INSERT INTO vote (site, message, user, choice, position) VALUES ($1, $2, $3, $4, $5)");
        db.prepare_cached(sql)?.execute(params![site, at, user.num, choice, number])?;
        count(*choice, 1)?;
    }
    let voters = i64::from(!choices.is_empty()) - i64::from(!mine.is_empty());
    if voters != 0 {
        let sql = sql!("UPDATE poll SET voters = voters + $3 WHERE site = $1 AND message = $2");
        db.prepare_cached(sql)?.execute(params![site, at, voters])?;
    }
    Ok(Ok(!gone.is_empty() || !new.is_empty()))
}

/// False if the poll was closed before.
pub(crate) fn close(db: &Connection, site: SiteId, at: u64) -> Outcome<bool> {
    let sql = sql!("UPDATE poll SET closed = 1 WHERE site = $1 AND message = $2 AND closed = 0");
    Ok(db.prepare_cached(sql)?.execute(params![site.0, at as i64])? > 0)
}

pub(crate) fn remove(db: &Connection, site: SiteId, at: u64) -> Outcome<()> {
    for sql in [
        sql!("DELETE FROM poll WHERE site = $1 AND message = $2"),
        sql!("DELETE FROM poll_choice WHERE site = $1 AND message = $2"),
        sql!("DELETE FROM vote WHERE site = $1 AND message = $2"),
    ] {
        db.prepare_cached(sql)?.execute(params![site.0, at as i64])?;
    }
    Ok(())
}

// ---- reads ----

pub(crate) fn load(db: &Connection, subs: &mut Subs<'_>, reader: UserId, at: u64) -> Outcome<Option<Poll>> {
    let site = reader.site;
    let sql =
        sql!("SELECT multiple, anonymous, ends, closed, voters FROM poll WHERE site = $1 AND message = $2");
    let found = db.prepare_cached(sql)?.query_row(params![site.0, at as i64], |row| {
        Ok(Poll {
            choices: Vec::new(),
            multiple: row.get(0)?,
            anonymous: row.get(1)?,
            ends: row.get::<_, Option<i64>>(2)?.map(|time| Timestamp(time as u64)),
            closed: row.get(3)?,
            voters: row.get::<_, i64>(4)? as u64,
        })
    });
    let Some(mut poll) = found.optional()? else { return Ok(None) };
    let mine = choices_of(db, reader, at)?;
    let sql =
        sql!("SELECT number, text, votes FROM poll_choice WHERE site = $1 AND message = $2 ORDER BY number");
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![site.0, at as i64])?;
    while let Some(row) = rows.next()? {
        let (number, votes) = (row.get::<_, u8>(0)?, row.get::<_, i64>(2)? as u64);
        let users = match poll.anonymous || votes == 0 {
            true => Vec::new(),
            false => first_users(db, subs, site, at, number)?,
        };
        poll.choices.push(Choice { text: row.get(1)?, votes, users, mine: mine.contains(&number) });
    }
    Ok(Some(poll))
}

fn choices_of(db: &Connection, user: UserId, at: u64) -> Outcome<Vec<u8>> {
    let sql = sql!("SELECT choice FROM vote WHERE site = $1 AND message = $2 AND user = $3");
    let mut statement = db.prepare_cached(sql)?;
    let choices = statement.query_map(params![user.site.0, at as i64, user.num], |row| row.get(0))?;
    Ok(choices.collect::<Result<_, _>>()?)
}

fn first_users(
    db: &Connection,
    subs: &mut Subs<'_>,
    site: SiteId,
    at: u64,
    choice: u8,
) -> Outcome<Vec<chat::Sub>> {
    let sql = sql!(concat!(
        "SELECT user FROM vote",
        indexed_by!("vote_order"),
        " WHERE site = $1 AND message = $2 AND choice = $3 ORDER BY position LIMIT $4"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let values = params![site.0, at as i64, choice, NAMED as i64];
    let users: Vec<u32> = statement.query_map(values, |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut named = Vec::with_capacity(users.len());
    for num in users {
        named.extend(subs.of(UserId { site, num })?);
    }
    Ok(named)
}

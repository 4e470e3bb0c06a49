//! Messages beside the log: held for a moderator, or in the shadow. They have a table of their own, because a gap in
//! the log's numbers would reveal them.

use crate::engine::{Connection, OptionalExtension, Row, params};
use chat::{
    Act, By, ConversationId, Done, FileId, Held, HeldPlace, HeldState, HeldStore, HeldWhy, Kept, NewHeld,
    Refusal, Seq, SiteId, Timestamp, UserId, UserRow, forgets_oldest, may, may_decide_report, may_wait,
    standing_to_write,
};

use crate::counter::{self, Counted};
use crate::fault::{Fault, Outcome};
use crate::moderation::{may_look, report, sanction};
use crate::sqlite::Sqlite;
use crate::user::Subs;
use crate::writer::Batch;
use crate::{message, room, user};

impl HeldStore for Sqlite {
    fn hold(&self, new: NewHeld, done: Done<Result<Kept, Refusal>>) {
        self.write(move |batch| hold(batch, &new), done);
    }

    fn held_by(&self, user: UserId, done: Done<Vec<Held>>) {
        self.read(move |db| of_user(db, user), done);
    }

    fn held_of_report(&self, site: SiteId, asker: By, report: u64, done: Done<Result<Held, Refusal>>) {
        self.read(
            move |db| match may_look(db, site, asker)? {
                Ok(()) => {
                    let held =
                        of_report(db, site, report)?.map(|(held, _)| held).ok_or(Refusal::NoSuchReport);
                    Ok(held.and_then(|held| {
                        may_decide_report(asker.user().as_ref(), Some(&held.from)).map(|()| held)
                    }))
                }
                Err(refusal) => Ok(Err(refusal)),
            },
            done,
        );
    }
}

// ---- writes ----

fn hold(batch: &mut Batch<'_>, new: &NewHeld) -> Outcome<Result<Kept, Refusal>> {
    let from = new.from;
    if let Some(held) = same(batch.db, from, &new.client_id)? {
        let user = sender(batch.db, from)?;
        return Ok(Ok(Kept::Held { held, report: None, user: Box::new(user) }));
    }
    if let Some(appended) = message::sent_before(batch, from, &new.client_id)? {
        return Ok(Ok(Kept::Sent(appended)));
    }
    let conversation = match place_of(batch.db, new)? {
        Ok(conversation) => conversation,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let held = held_of(batch.db, new, conversation)?;
    let report = match &new.why {
        HeldWhy::Filter(text) => {
            if let Err(refusal) = may_wait(count(batch.db, from, HeldState::Waiting)?) {
                return Ok(Err(refusal));
            }
            Some(report::keep_held(batch, &held, text)?)
        }
        HeldWhy::Shadow => None,
    };
    insert(batch.db, &held, report.as_ref().map_or(0, |report| report.number))?;
    if held.state == HeldState::Shadow && forgets_oldest(count(batch.db, from, HeldState::Shadow)?) {
        let sql = sql!(
            "DELETE FROM held_message WHERE site = $1 AND user = $2 AND number = \
                   (SELECT min(number) FROM held_message WHERE site = $1 AND user = $2 AND state = 2)"
        );
        batch.db.prepare_cached(sql)?.execute([from.site.0, from.num])?;
    }
    sanction::update_standing(batch.db, from)?;
    let user = sender(batch.db, from)?;
    Ok(Ok(Kept::Held { held, report: report.map(Box::new), user: Box::new(user) }))
}

/// The conversation to which the message would be sent, if the sender may send it.
fn place_of(db: &Connection, new: &NewHeld) -> Outcome<Result<ConversationId, Refusal>> {
    let name = match &new.place {
        HeldPlace::Direct(id) => return Ok(Ok(*id)),
        HeldPlace::Room(name) => name,
    };
    let Some(found) = room::find(db, name)?.filter(|found| found.id.site == new.from.site) else {
        return Ok(Err(Refusal::NoSuchConversation));
    };
    let mine = room::membership(db, found.id, new.from)?;
    let who = standing_to_write(room::standing(mine.as_ref()), &found.room);
    let last = mine.map_or(Timestamp(0), |mine| mine.sent);
    Ok(may(who, Act::Post, found.room.rules(last, new.time)).map(|()| found.id))
}

fn held_of(db: &Connection, new: &NewHeld, conversation: ConversationId) -> Outcome<Held> {
    let other = match conversation.other(new.from) {
        Some(other) => user::sub_of(db, other)?,
        None => None,
    };
    Ok(Held {
        from: new.from,
        conversation,
        other,
        client_id: new.client_id.clone(),
        body: new.body.clone(),
        extension: new.extension.clone(),
        time: new.time,
        reply_to: new.reply_to,
        files: new.files.clone(),
        thread: new.thread,
        state: if new.why == HeldWhy::Shadow { HeldState::Shadow } else { HeldState::Waiting },
        reason: "".into(),
    })
}

fn insert(db: &Connection, held: &Held, report: u64) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO held_message (site, user, number, state, report, conversation, client_id, time, reply_to, \
         files, body, thread, reason, extension) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, '', $13)"
    );
    let files: Vec<u8> = held.files.iter().flat_map(|file| file.number.to_be_bytes()).collect();
    db.prepare_cached(sql)?.execute(params![
        held.from.site.0,
        held.from.num,
        counter::next(db, held.from.site, Counted::HeldMessage)?,
        code(held.state),
        report as i64,
        held.conversation.key as i64,
        &*held.client_id,
        held.time.0 as i64,
        held.reply_to.map_or(0, |to| to.0 as i64),
        files,
        &*held.body,
        held.thread.map_or(0, |root| root.0 as i64),
        held.extension.as_deref(),
    ])?;
    Ok(())
}

/// The message was sent; removes its row.
pub(crate) fn release(db: &Connection, site: SiteId, report: u64) -> Outcome<()> {
    let Some((held, number)) = of_report(db, site, report)? else { return Ok(()) };
    let sql = sql!("DELETE FROM held_message WHERE site = $1 AND user = $2 AND number = $3");
    db.prepare_cached(sql)?.execute(params![site.0, held.from.num, number])?;
    sanction::update_standing(db, held.from)
}

/// Marks the message of this report as refused, and returns it for its sender; None if no message waits with this
/// report.
pub(crate) fn refuse(db: &Connection, site: SiteId, report: u64, reason: &str) -> Outcome<Option<Held>> {
    let Some((held, number)) = of_report(db, site, report)? else { return Ok(None) };
    let sql = sql!(
        "UPDATE held_message SET state = 1, report = 0, reason = $4 WHERE site = $1 AND user = $2 AND number = $3"
    );
    db.prepare_cached(sql)?.execute(params![site.0, held.from.num, number, reason])?;
    Ok(Some(Held { state: HeldState::Refused, reason: reason.into(), ..held }))
}

/// The sender has seen that the messages were refused.
pub(crate) fn forget_refused(db: &Connection, user: UserId) -> Outcome<bool> {
    let sql = sql!("DELETE FROM held_message WHERE site = $1 AND user = $2 AND state = 1");
    Ok(db.prepare_cached(sql)?.execute([user.site.0, user.num])? > 0)
}

// ---- reads ----

/// The columns of [`row`], and the number.
macro_rules! columns {
    () => {
        "user, number, state, conversation, client_id, time, reply_to, files, body, reason, thread, extension"
    };
}

fn of_user(db: &Connection, user: UserId) -> Outcome<Vec<Held>> {
    let sql = sql!(concat!(
        "SELECT ",
        columns!(),
        " FROM held_message WHERE site = $1 AND user = $2 ORDER BY number"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([user.site.0, user.num], |r| row(user.site, r))?;
    let rows: Vec<(Held, i64)> = rows.collect::<Result<_, _>>()?;
    let mut subs = Subs::new(db);
    rows.into_iter().map(|(held, _)| named(&mut subs, held)).collect()
}

fn same(db: &Connection, user: UserId, client_id: &str) -> Outcome<Option<Held>> {
    let sql = sql!(concat!(
        "SELECT ",
        columns!(),
        " FROM held_message WHERE site = $1 AND user = $2 AND client_id = $3"
    ));
    let values = params![user.site.0, user.num, client_id];
    let found = db.prepare_cached(sql)?.query_row(values, |r| row(user.site, r)).optional()?;
    found.map(|(held, _)| named(&mut Subs::new(db), held)).transpose()
}

fn of_report(db: &Connection, site: SiteId, report: u64) -> Outcome<Option<(Held, i64)>> {
    let Ok(report) = i64::try_from(report) else { return Ok(None) };
    let sql = sql!(concat!(
        "SELECT ",
        columns!(),
        " FROM held_message WHERE site = $1 AND report = $2 AND report > 0"
    ));
    let found = db.prepare_cached(sql)?.query_row(params![site.0, report], |r| row(site, r)).optional()?;
    let Some((held, number)) = found else { return Ok(None) };
    Ok(Some((named(&mut Subs::new(db), held)?, number)))
}

fn named(subs: &mut Subs<'_>, held: Held) -> Outcome<Held> {
    let other = match held.conversation.other(held.from) {
        Some(other) => subs.of(other)?,
        None => None,
    };
    Ok(Held { other, ..held })
}

fn row(site: SiteId, row: &Row<'_>) -> crate::engine::Result<(Held, i64)> {
    let number = |bytes: &[u8]| bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    let files = row.get_ref(7)?.as_blob()?.chunks_exact(8);
    let seq = |at: usize| {
        let seq: i64 = row.get(at)?;
        Ok::<_, crate::engine::Error>((seq != 0).then_some(Seq(seq as u64)))
    };
    let held = Held {
        from: UserId { site, num: row.get(0)? },
        conversation: ConversationId { site, key: row.get::<_, i64>(3)? as u64 },
        other: None,
        client_id: row.get(4)?,
        body: row.get(8)?,
        extension: row.get(11)?,
        time: Timestamp(row.get::<_, i64>(5)? as u64),
        reply_to: seq(6)?,
        files: files.map(|bytes| FileId { site, number: number(bytes) }).collect(),
        thread: seq(10)?,
        state: match row.get::<_, i64>(2)? {
            0 => HeldState::Waiting,
            1 => HeldState::Refused,
            _ => HeldState::Shadow,
        },
        reason: row.get(9)?,
    };
    Ok((held, row.get(1)?))
}

fn count(db: &Connection, user: UserId, state: HeldState) -> Outcome<u32> {
    let sql = sql!("SELECT count(*) FROM held_message WHERE site = $1 AND user = $2 AND state = $3");
    let values = params![user.site.0, user.num, code(state)];
    Ok(db.prepare_cached(sql)?.query_row(values, |row| row.get(0))?)
}

/// Whether this user has held messages, which the next sign-in reports.
pub(crate) fn any(db: &Connection, user: UserId) -> Outcome<bool> {
    let sql = sql!("SELECT 1 FROM held_message WHERE site = $1 AND user = $2");
    Ok(db.prepare_cached(sql)?.exists([user.site.0, user.num])?)
}

fn sender(db: &Connection, user: UserId) -> Outcome<UserRow> {
    user::by_id(db, user)?.ok_or(Fault::Invalid("the sender does not exist"))
}

fn code(state: HeldState) -> i64 {
    match state {
        HeldState::Waiting => 0,
        HeldState::Refused => 1,
        HeldState::Shadow => 2,
    }
}

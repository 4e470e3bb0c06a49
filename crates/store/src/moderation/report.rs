//! Reports: a copy of the reported content at that time, and the state of the report.

use crate::engine::{Connection, OptionalExtension, Row, params};
use chat::{
    Act, By, ConversationId, Held, LINES_AROUND, Moderated, NewReport, Refusal, ReportAbout, ReportLine,
    ReportReason, ReportRow, ReportState, ReportsPage, Revision, Seq, SiteId, StoredMessage, Timestamp,
    UserId, kept_with_report, lines_around, may_report,
};

use super::{erased, may_look};
use crate::conversation::side_of;
use crate::counter::{self, Counted};
use crate::fault::{Fault, Outcome};
use crate::late::Scope;
use crate::user::{self, Subs};
use crate::writer::Batch;
use crate::{message, message_change, room};

// ---- writes ----

pub(super) fn keep(batch: &mut Batch<'_>, new: &NewReport) -> Outcome<Result<(ReportRow, bool), Refusal>> {
    let site = new.by.site;
    let (user, lines, former) = match seen_by(batch, new)? {
        Ok(seen) => seen,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (about, conversation, seq) = place(new.about);
    let user = user.map_or(0, |user| user.num);
    let same = sql!(
        "SELECT number FROM report WHERE site = $1 AND reporter = $2 AND conversation = $3 AND seq = $4 \
                AND user = $5 AND state < 2"
    );
    let values = params![site.0, new.by.num, conversation, seq, user];
    let same: Option<i64> = batch.db.prepare_cached(same)?.query_row(values, |row| row.get(0)).optional()?;
    if let Some(number) = same {
        return Ok(found(one(batch.db, site, number as u64)?)?.map(|row| (row, false)));
    }
    let open = sql!(concat!(
        "SELECT count(*) FROM report",
        indexed_by!("report_open"),
        " WHERE site = $1 AND reporter = $2 AND state < 2"
    ));
    let open: u32 = batch.db.prepare_cached(open)?.query_row([site.0, new.by.num], |row| row.get(0))?;
    let by = Some(new.by).filter(|by| *by != UserId::nobody(site));
    if let Err(refusal) = may_report(by, open) {
        return Ok(Err(refusal));
    }
    let of = Of { about, conversation, seq, user };
    let number = insert(batch.db, new.by, of, new.reason, &new.text, new.time)?;
    for line in lines {
        insert_line(batch.db, site, number, line.seq, line.from, line.time, &line.body)?;
    }
    let sql =
        sql!("INSERT INTO report_former (site, report, number, until, body) VALUES ($1, $2, $3, $4, $5)");
    for (at, revision) in former.iter().enumerate() {
        let values = params![site.0, number as i64, at as i64, revision.until.0 as i64, revision.body];
        batch.db.prepare_cached(sql)?.execute(values)?;
    }
    Ok(found(one(batch.db, site, number)?)?.map(|row| (row, true)))
}

/// Keeps a message that a filter holds, with the messages before it. It has no seq, so the report shows it as the next
/// one.
pub(crate) fn keep_held(batch: &mut Batch<'_>, held: &Held, text: &str) -> Outcome<ReportRow> {
    let (site, id) = (held.from.site, held.conversation);
    let newest = match id.is_room() {
        true => room::load(batch.db, id)?.map(|row| row.newest),
        false => batch.conversation(id)?.map(|direct| direct.newest()),
    };
    let lines = match newest {
        Some(newest) => {
            let most = LINES_AROUND as u32;
            message::page(batch.db, held.from, id, newest, None, None, most)?.messages
        }
        None => Vec::new(),
    };
    let (about, conversation, seq) = place(ReportAbout::Held(id));
    let of = Of { about, conversation, seq, user: held.from.num };
    let by = UserId::nobody(site);
    let number = insert(batch.db, by, of, ReportReason::Filter, text, held.time)?;
    for line in lines.iter().filter(|line| !line.deleted) {
        insert_line(batch.db, site, number, line.seq, line.from, line.time, &line.body)?;
    }
    let next = Seq(newest.map_or(0, |newest| newest.seq) + 1);
    insert_line(batch.db, site, number, next, held.from, held.time, &held.body)?;
    one(batch.db, site, number)?.ok_or(Fault::no_row())
}

/// The columns of a report's subject.
#[derive(Clone, Copy)]
struct Of {
    about: i64,
    conversation: i64,
    seq: i64,
    user: u32,
}

fn insert(
    db: &Connection,
    by: UserId,
    of: Of,
    reason: ReportReason,
    text: &str,
    time: Timestamp,
) -> Outcome<u64> {
    let sql = sql!(
        "INSERT INTO report (site, number, state, about, conversation, seq, user, reporter, reason, text, created, \
         moderator, note) VALUES ($1, $2, 0, $3, $4, $5, $6, $7, $8, $9, $10, 0, '')"
    );
    let Of { about, conversation, seq, user } = of;
    let number = counter::next(db, by.site, Counted::Report)?;
    db.prepare_cached(sql)?.execute(params![
        by.site.0,
        number,
        about,
        conversation,
        seq,
        user,
        by.num,
        reason_code(reason),
        text,
        time.0 as i64
    ])?;
    Ok(number as u64)
}

fn insert_line(
    db: &Connection,
    site: SiteId,
    report: u64,
    seq: Seq,
    from: UserId,
    time: Timestamp,
    body: &str,
) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO report_line (site, report, seq, sender, time, body) VALUES ($1, $2, $3, $4, $5, $6)"
    );
    let values = params![site.0, report as i64, seq.0 as i64, from.num, time.0 as i64, body];
    db.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

fn found(row: Option<ReportRow>) -> Outcome<Result<ReportRow, Refusal>> {
    row.map(Ok).ok_or(Fault::no_row())
}

type Seen = (Option<UserId>, Vec<StoredMessage>, Vec<Revision>);

/// The author of the reported content, the messages to keep, and the former body; only if the reporter can see it.
fn seen_by(batch: &mut Batch<'_>, new: &NewReport) -> Outcome<Result<Seen, Refusal>> {
    let site = new.by.site;
    let (id, seq) = match new.about {
        ReportAbout::User(user) => {
            let is_there = user.site == site && user::by_id(batch.db, user)?.is_some();
            return Ok(if is_there {
                Ok((Some(user), Vec::new(), Vec::new()))
            } else {
                Err(Refusal::NoSuchUser)
            });
        }
        // A filter needs no membership.
        ReportAbout::Room(id) if new.by == UserId::nobody(site) => {
            let is_there = id.site == site && room::load(batch.db, id)?.is_some();
            let seen = (None, Vec::new(), Vec::new());
            return Ok(if is_there { Ok(seen) } else { Err(Refusal::NoSuchConversation) });
        }
        ReportAbout::Room(id) => {
            let allowed = room::allowed(batch.db, id, new.by, Act::Read)?;
            return Ok(allowed.map(|_| (None, Vec::new(), Vec::new())));
        }
        ReportAbout::Held(_) => return Ok(Err(Refusal::NoSuchMessage)),
        ReportAbout::Message(id, seq) => (id, seq),
    };
    let is_filter = new.by == UserId::nobody(site);
    let newest = match id.is_room() {
        // A filter may report any message that it checked.
        true if is_filter => Ok(room::load(batch.db, id)?.map(|row| row.newest)),
        true => room::allowed(batch.db, id, new.by, Act::Read)?.map(|(row, _)| Some(row.newest)),
        false if !is_filter && side_of(id, new.by).is_none() => Err(Refusal::NoSuchConversation),
        false => Ok(batch.conversation(id)?.map(|direct| direct.newest())),
    };
    let newest = match newest {
        Ok(Some(newest)) => newest,
        Ok(None) => return Ok(Err(Refusal::NoSuchMessage)),
        Err(refusal) => return Ok(Err(refusal)),
    };
    let after = Seq(seq.0.saturating_sub(LINES_AROUND + 1));
    let most = seq.0.saturating_add(LINES_AROUND).saturating_sub(after.0).min(2 * LINES_AROUND + 1) as u32;
    let lines = message::page(batch.db, new.by, id, newest, None, Some(after), most)?.messages;
    let Some(reported) = lines.iter().find(|line| line.seq == seq) else {
        return Ok(Err(Refusal::NoSuchMessage));
    };
    let user = reported.from;
    let settled = batch.settle(&Scope::One(id))?;
    let revisions = message_change::revisions(&settled, id, seq)?;
    let Some(former) = kept_with_report(revisions, reported.deleted, new.time) else {
        return Ok(Err(Refusal::NoSuchMessage));
    };
    // Deleted neighbours of the reported message are not shown.
    Ok(Ok((Some(user), lines.into_iter().filter(|line| !line.deleted || line.seq == seq).collect(), former)))
}

fn place(about: ReportAbout) -> (i64, i64, i64) {
    match about {
        ReportAbout::Message(id, seq) => (0, id.key as i64, seq.0 as i64),
        ReportAbout::User(_) => (1, 0, 0),
        ReportAbout::Room(id) => (2, id.key as i64, 0),
        ReportAbout::Held(id) => (3, id.key as i64, 0),
    }
}

/// `note`: None keeps the present one.
pub(super) fn set_state(
    batch: &mut Batch<'_>,
    site: SiteId,
    number: u64,
    state: ReportState,
    moderator: u32,
    note: Option<&str>,
) -> Outcome<Moderated> {
    let db = batch.db;
    let sql = sql!(
        "UPDATE report SET state = $3, moderator = $4, note = coalesce($5, note) WHERE site = $1 AND number = $2"
    );
    db.prepare_cached(sql)?.execute(params![site.0, number as i64, state_code(state), moderator, note])?;
    if state == ReportState::Closed {
        batch.state.empties_log |= erased::end_evidence(db, site, number)?;
    }
    Ok(Moderated { report: one(db, site, number)?, ..Moderated::default() })
}

// ---- reads ----

/// Newest first.
pub(super) fn page(
    db: &Connection,
    site: SiteId,
    asker: By,
    state: Option<ReportState>,
    after: Option<&str>,
    limit: u32,
) -> Outcome<Result<ReportsPage, Refusal>> {
    if let Err(refusal) = may_look(db, site, asker)? {
        return Ok(Err(refusal));
    }
    let before = after.and_then(|after| after.parse::<i64>().ok()).unwrap_or(i64::MAX);
    let limit = limit as usize;
    // Moderators do not see reports about themselves.
    let me = asker.user().map_or(-1, |user| i64::from(user.num));
    let numbers: Vec<i64> = match state {
        Some(state) => {
            let sql = sql!(concat!(
                "SELECT number FROM report",
                indexed_by!("report_state"),
                " WHERE site = $1 AND state = $2 AND number < $3 \
                       AND user <> $5 ORDER BY number DESC LIMIT $4"
            ));
            let mut statement = db.prepare_cached(sql)?;
            let values = params![site.0, state_code(state), before, limit as i64 + 1, me];
            statement.query_map(values, |row| row.get(0))?.collect::<Result<_, _>>()?
        }
        None => {
            let sql = sql!(
                "SELECT number FROM report WHERE site = $1 AND number < $2 AND user <> $4 ORDER BY number DESC LIMIT $3"
            );
            let mut statement = db.prepare_cached(sql)?;
            let values = params![site.0, before, limit as i64 + 1, me];
            statement.query_map(values, |row| row.get(0))?.collect::<Result<_, _>>()?
        }
    };
    let mut rows = Vec::new();
    for number in numbers.iter().take(limit) {
        rows.extend(one(db, site, *number as u64)?);
    }
    let next = rows.last().filter(|_| numbers.len() > limit).map(|row| row.number.to_string());
    Ok(Ok(ReportsPage { rows, next }))
}

pub(super) fn one(db: &Connection, site: SiteId, number: u64) -> Outcome<Option<ReportRow>> {
    let Ok(key) = i64::try_from(number) else { return Ok(None) };
    let sql = sql!(
        "SELECT state, about, conversation, seq, user, reporter, reason, text, created, moderator, note \
               FROM report WHERE site = $1 AND number = $2"
    );
    let found = db.prepare_cached(sql)?.query_row(params![site.0, key], |row| parse(site, row)).optional()?;
    let Some((mut report, [user, reporter, moderator])) = found else { return Ok(None) };
    let mut subs = Subs::new(db);
    report.number = number;
    report.user = subs.of(user)?;
    report.moderator = subs.of(moderator)?;
    report.by = subs.of(reporter)?;
    // The reporter was removed with the site, and is not a filter.
    if report.by.is_none() && reporter != UserId::nobody(site) {
        return Ok(None);
    }
    let sql =
        sql!("SELECT seq, sender, time, body FROM report_line WHERE site = $1 AND report = $2 ORDER BY seq");
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![site.0, key])?;
    while let Some(row) = rows.next()? {
        let Some(from) = subs.of(UserId { site, num: row.get(1)? })? else { continue };
        report.lines.push(ReportLine {
            seq: Seq(row.get::<_, i64>(0)? as u64),
            from,
            time: Timestamp(row.get::<_, i64>(2)? as u64),
            body: row.get(3)?,
        });
    }
    let sql = sql!("SELECT until, body FROM report_former WHERE site = $1 AND report = $2 ORDER BY number");
    let mut statement = db.prepare_cached(sql)?;
    let former = statement.query_map(params![site.0, key], |row| {
        Ok(Revision { until: Timestamp(row.get::<_, i64>(0)? as u64), body: row.get(1)? })
    })?;
    report.former = former.collect::<Result<_, _>>()?;
    Ok(Some(report))
}

/// Reads a row; without names and messages. The numbers: the reported user, the reporter, the assigned moderator.
fn parse(site: SiteId, row: &Row<'_>) -> crate::engine::Result<(ReportRow, [UserId; 3])> {
    let id = |at: usize| Ok::<UserId, crate::engine::Error>(UserId { site, num: row.get(at)? });
    let users = [id(4)?, id(5)?, id(9)?];
    let conversation = ConversationId { site, key: row.get::<_, i64>(2)? as u64 };
    let about = match row.get::<_, i64>(1)? {
        0 => ReportAbout::Message(conversation, Seq(row.get::<_, i64>(3)? as u64)),
        1 => ReportAbout::User(users[0]),
        3 => ReportAbout::Held(conversation),
        _ => ReportAbout::Room(conversation),
    };
    let report = ReportRow {
        number: 0,
        state: match row.get::<_, i64>(0)? {
            0 => ReportState::Open,
            1 => ReportState::Taken,
            _ => ReportState::Closed,
        },
        about,
        user: None,
        by: None,
        reason: match row.get::<_, i64>(6)? {
            0 => ReportReason::Spam,
            1 => ReportReason::Abuse,
            2 => ReportReason::Sexual,
            3 => ReportReason::Violence,
            4 => ReportReason::Fraud,
            6 => ReportReason::Filter,
            _ => ReportReason::Other,
        },
        text: row.get(7)?,
        lines: Vec::new(),
        former: Vec::new(),
        time: Timestamp(row.get::<_, i64>(8)? as u64),
        moderator: None,
        note: row.get(10)?,
    };
    Ok((report, users))
}

/// Whether this message was reported, or kept beside a reported one.
pub(super) fn is_about(db: &Connection, id: ConversationId, seq: Seq) -> Outcome<bool> {
    let sql = sql!(
        "SELECT 1 FROM report WHERE site = $1 AND conversation = $2 AND seq BETWEEN $3 AND $4 AND about = 0 LIMIT 1"
    );
    let (first, last) = lines_around(seq);
    let values = params![id.site.0, id.key as i64, first.0 as i64, last.0 as i64];
    Ok(db.prepare_cached(sql)?.exists(values)?)
}

fn state_code(state: ReportState) -> i64 {
    match state {
        ReportState::Open => 0,
        ReportState::Taken => 1,
        ReportState::Closed => 2,
    }
}

fn reason_code(reason: ReportReason) -> i64 {
    match reason {
        ReportReason::Spam => 0,
        ReportReason::Abuse => 1,
        ReportReason::Sexual => 2,
        ReportReason::Violence => 3,
        ReportReason::Fraud => 4,
        ReportReason::Other => 5,
        ReportReason::Filter => 6,
    }
}

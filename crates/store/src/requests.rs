//! Message requests. The conversation's row names the asker, so a message between strangers reads no further row.

use std::collections::HashSet;

use crate::engine::OptionalExtension;
use chat::{
    Append, ConversationId, Done, MessageRequest, Refusal, RequestAnswer, RequestAnswered, RequestDay,
    RequestNotice, RequestRules, RequestStore, Requested, Timestamp, UserId, first_contact,
};

use crate::conversation::{self, Asking, side_of};
use crate::fault::{Fault, Outcome};
use crate::message::{self, Lines};
use crate::rich;
use crate::sqlite::Sqlite;
use crate::writer::{self, Batch};

impl RequestStore for Sqlite {
    fn append_request(&self, append: Append, rules: RequestRules, done: Done<Result<Requested, Refusal>>) {
        let bytes = message::bytes(&append.body, append.extension.as_deref());
        let job = writer::write(move |batch| self::append(batch, &append, rules), |outcome, _| done(outcome));
        self.shared.write(job, bytes);
    }

    fn answer_request(
        &self,
        conversation: ConversationId,
        user: UserId,
        answer: RequestAnswer,
        done: Done<Result<RequestAnswered, Refusal>>,
    ) {
        self.write(move |batch| self::answer(batch, conversation, user, answer), done);
    }
}

fn append(
    batch: &mut Batch<'_>,
    append: &Append,
    rules: RequestRules,
) -> Outcome<Result<Requested, Refusal>> {
    let id = append.conversation;
    let me = side_of(id, append.from).ok_or(Fault::Invalid("the sender is no member"))?;
    if let Some(appended) = message::sent_before(batch, append.from, &append.client_id)? {
        let direct = batch.conversation(appended.conversation)?;
        let mine = side_of(appended.conversation, append.from);
        let pending =
            mine.zip(direct).is_some_and(|(me, direct)| direct.request(me) == Some(MessageRequest::Sent));
        return Ok(Ok(Requested { appended, pending, notice: RequestNotice::Message, files: Vec::new() }));
    }
    let before = batch.conversation(id)?.map(|direct| (direct.seq, direct.asking));
    let is_new = before.is_none();
    let was_asked = before.is_some_and(|(_, asking)| asking.is_some());
    let asking = match before {
        None => Some(Asking { by: me, dismissed: false }),
        // An answer to a request accepts it.
        Some((_, asking)) => asking.filter(|asking| asking.by == me),
    };
    if asking.is_some()
        && let Err(refusal) = may_ask(batch, append, rules, before.map(|(seq, _)| seq))?
    {
        return Ok(Err(refusal));
    }
    let rich = append.rich.as_deref();
    let checked = match rich::check(batch, id, append.from, None, rich)? {
        Ok(checked) => checked,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let appended = message::append(batch, append)?;
    let mut files = Vec::new();
    if let Some(rich) = rich {
        let place = rich::Place::of(append.from, &appended);
        files = rich::put(batch, &place, rich, &checked, &HashSet::new())?.0;
    }
    if asking.is_some() || was_asked {
        batch.change(id, |direct| {
            direct.asking = asking;
            let theirs = &mut direct.sides[1 - me];
            theirs.archived = asking.is_some_and(|asking| asking.dismissed);
        });
    }
    let notice = match asking {
        Some(_) if is_new => {
            count_today(batch, append.from, append.time)?;
            RequestNotice::Request(Box::new(seen(batch, id, append.from)?))
        }
        Some(Asking { dismissed: true, .. }) => RequestNotice::Nothing,
        Some(_) | None => RequestNotice::Message,
    };
    Ok(Ok(Requested { appended, pending: asking.is_some(), notice, files }))
}

/// `seq`: of the newest message, if there is one. All messages are the asker's.
fn may_ask(
    batch: &Batch<'_>,
    append: &Append,
    rules: RequestRules,
    seq: Option<u64>,
) -> Outcome<Result<(), Refusal>> {
    let may = match seq {
        None => rules.may_begin(begun_today(batch, append.from, append.time)?),
        Some(seq) => rules.may_go_on(seq),
    };
    if let Err(refusal) = may {
        return Ok(Err(refusal));
    }
    let attachments = append.rich.as_ref().map_or(0, |rich| rich.attachments());
    let texts = [&*append.body].into_iter().chain(append.extension.as_deref());
    Ok(first_contact(texts, attachments, rules.links))
}

/// The conversation as the recipient of the request sees it.
fn seen(batch: &mut Batch<'_>, id: ConversationId, by: UserId) -> Outcome<chat::ConversationRow> {
    let nothing = || Fault::no_row();
    let other = id.other(by).ok_or_else(nothing)?;
    let direct = batch.conversation(id)?.cloned().ok_or_else(nothing)?;
    let mut lines = Lines::new(batch.db, other)?;
    conversation::assemble(batch.db, &mut lines, other, id, &direct)?.ok_or_else(nothing)
}

fn request_day(batch: &Batch<'_>, user: UserId) -> Outcome<RequestDay> {
    let sql = sql!("SELECT day, count FROM request_day WHERE site = $1 AND user = $2");
    let found = batch
        .db
        .prepare_cached(sql)?
        .query_row([user.site.0, user.num], |row| Ok(RequestDay { day: row.get(0)?, count: row.get(1)? }));
    Ok(found.optional()?.unwrap_or_default())
}

pub(crate) fn begun_today(batch: &Batch<'_>, user: UserId, now: Timestamp) -> Outcome<u32> {
    Ok(request_day(batch, user)?.begun(now))
}

pub(crate) fn count_today(batch: &Batch<'_>, user: UserId, now: Timestamp) -> Outcome<()> {
    let RequestDay { day, count } = request_day(batch, user)?.and_one(now);
    let sql = sql!(
        "INSERT INTO request_day (site, user, day, count) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (site, user) DO UPDATE SET day = excluded.day, count = excluded.count"
    );
    batch.db.prepare_cached(sql)?.execute([user.site.0, user.num, day, count])?;
    Ok(())
}

fn answer(
    batch: &mut Batch<'_>,
    id: ConversationId,
    user: UserId,
    answer: RequestAnswer,
) -> Outcome<Result<RequestAnswered, Refusal>> {
    let (Some(me), Some(direct)) = (side_of(id, user), batch.conversation(id)?.cloned()) else {
        return Ok(Err(Refusal::NoSuchConversation));
    };
    let before = direct.asking;
    if before.is_some_and(|asking| asking.by == me) {
        return Ok(Err(Refusal::NotAllowed));
    }
    let after = match answer {
        RequestAnswer::Accept => None,
        RequestAnswer::Dismiss => before.map(|asking| Asking { dismissed: true, ..asking }),
    };
    let changed = before != after;
    if changed {
        let number = batch.next_number();
        batch.change(id, |direct| {
            direct.asking = after;
            direct.sides[me].archived = after.is_some();
            direct.sides[me].changed = number;
            if after.is_none() {
                direct.sides[1 - me].changed = number;
            }
        });
    }
    let nothing = || Fault::no_row();
    let other = id.other(user).ok_or_else(nothing)?;
    let row = seen(batch, id, other)?;
    let theirs = if changed && after.is_none() { Some(seen(batch, id, user)?) } else { None };
    Ok(Ok(RequestAnswered { row, position: batch.position(), theirs, changed }))
}

/// Contacts need no message request. `number`: the position of the change that made the two contacts.
pub(crate) fn agreed(batch: &mut Batch<'_>, a: UserId, b: UserId, number: u64) -> Outcome<()> {
    let Some(id) = ConversationId::direct(a, b) else { return Ok(()) };
    if batch.conversation(id)?.is_some_and(|direct| direct.asking.is_some()) {
        batch.change(id, |direct| {
            direct.asking = None;
            direct.sides.iter_mut().for_each(|side| side.changed = number);
        });
    }
    Ok(())
}

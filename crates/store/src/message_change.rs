//! Changes of posted messages: edits, deletions, reactions.
//!
//! The log's row has the present body and the position of the last change, 0 if none: reading an unchanged message
//! needs no other row.

mod pins;
mod reactions;

pub(crate) use pins::pins;

use std::sync::Arc;

use crate::engine::{Connection, OptionalExtension, params};
use chat::{
    Act, By, ChangeMessage, ChangedMessage, ConversationId, KeptRevisions, LinkRule, MessageChange,
    MessageRequest, Refusal, Revision, Seq, SiteId, Standing, StoredMessage, Timestamp, UnpublishedPage,
    UserId, drops_revision, first_contact, is_gathered, may_change, may_change_in_room, may_edit, may_pin,
    publishes_all, recorded_change,
};

use crate::conversation::{self, side_of};
use crate::fault::Outcome;
use crate::file;
use crate::late::Settled;
use crate::message::{self, Line, Lines, Newest};
use crate::moderation::audit;
use crate::poll;
use crate::preview;
use crate::rich;
use crate::room::{self, RoomRow};
use crate::search;
use crate::user::Subs;
use crate::writer::Batch;

// ---- writes ----

pub(crate) fn change(
    batch: &mut Batch<'_>,
    wanted: &ChangeMessage,
) -> Outcome<Result<ChangedMessage, Refusal>> {
    let target = match target(batch, wanted)? {
        Ok(target) => target,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (db, id, by) = (batch.db, wanted.conversation, wanted.by);
    let at = message::position_of(db, id, target.newest, wanted.seq.0)?;
    let Some(at) = at else { return Ok(Err(Refusal::NoSuchMessage)) };
    let before = Lines::new(db, by)?.at(at)?.map(|line| line.message);
    let Some(before) = before else { return Ok(Err(Refusal::NoSuchMessage)) };
    if let (Some(links), MessageChange::Edit { body, extension }) = (target.links, &wanted.change)
        && let Err(refusal) = first_contact([&**body].into_iter().chain(extension.as_deref()), 0, links)
    {
        return Ok(Err(refusal));
    }
    if let Err(refusal) = target.allows(wanted, &before) {
        return Ok(Err(refusal));
    }
    let was_unpublished = is_unpublished(db, &before)?;
    let changed = match apply(batch, wanted, &target, at, &before)? {
        Ok(changed) => changed,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if changed && let Some(act) = recorded_change(&wanted.change, before.from == by, id.is_room()) {
        let (time, detail) = (wanted.time, wanted.seq.0.to_string());
        let (by, user, conversation) = (By::User(by), Some(before.from), Some(id));
        let entry = audit::Entry { site: id.site, by, act, user, conversation, detail: &detail, time };
        audit::note(db, &entry)?;
    }
    let now = if changed { Lines::new(db, by)?.at(at)?.map(|line| line.message) } else { Some(before) };
    let Some(message) = now else { return Ok(Err(Refusal::NoSuchMessage)) };
    let members = match changed && id.is_room() {
        true => batch.state.members.of(db, id)?,
        false => Arc::default(),
    };
    let gathered = changed && is_gathered(&wanted.change, members.len());
    if gathered || was_unpublished && !publishes_all(&wanted.change) {
        mark_unpublished(db, &message)?;
    }
    Ok(Ok(ChangedMessage { message, changed, position: batch.position(), members, gathered }))
}

/// See [`chat::Store::publish_gathered`].
pub(crate) fn publish(
    batch: &mut Batch<'_>,
    id: ConversationId,
    seq: Seq,
) -> Outcome<Option<ChangedMessage>> {
    let site = id.site;
    let Some(target) = neutral_target(batch, id)? else { return Ok(None) };
    let at = message::position_of(batch.db, id, target.newest, seq.0)?;
    let Some(at) = at else { return Ok(None) };
    let Some(before) = load_neutral(batch.db, site, at)? else { return Ok(None) };
    if !is_unpublished(batch.db, &before)? {
        return Ok(None);
    }
    mark_changed(batch, at, &before, State::of(&before))?;
    let Some(message) = load_neutral(batch.db, site, at)? else { return Ok(None) };
    let members = batch.state.members.of(batch.db, id)?;
    let position = batch.position();
    Ok(Some(ChangedMessage { message, changed: true, position, members, gathered: false }))
}

/// Call after the change: [`mark_changed`] replaces the row, and with it the mark.
fn mark_unpublished(db: &Connection, now: &StoredMessage) -> Outcome<()> {
    let sql = sql!(
        "UPDATE message_change SET unpublished = 1 \
               WHERE site = $1 AND conversation = $2 AND position = $3"
    );
    let id = now.conversation;
    db.prepare_cached(sql)?.execute(params![id.site.0, id.key as i64, now.version as i64])?;
    Ok(())
}

fn is_unpublished(db: &Connection, now: &StoredMessage) -> Outcome<bool> {
    let id = now.conversation;
    if now.version == 0 || !id.is_room() {
        return Ok(false);
    }
    let sql = sql!(
        "SELECT unpublished FROM message_change \
               WHERE site = $1 AND conversation = $2 AND position = $3"
    );
    let values = params![id.site.0, id.key as i64, now.version as i64];
    Ok(db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?.unwrap_or(false))
}

/// Deletes a message for a moderator of the site.
pub(crate) fn delete_by_moderator(
    batch: &mut Batch<'_>,
    id: ConversationId,
    seq: Seq,
    time: Timestamp,
) -> Outcome<Result<ChangedMessage, Refusal>> {
    let Some(target) = neutral_target(batch, id)? else { return Ok(Err(Refusal::NoSuchConversation)) };
    let at = message::position_of(batch.db, id, target.newest, seq.0)?;
    let Some(at) = at else { return Ok(Err(Refusal::NoSuchMessage)) };
    take_away(batch, id.site, &target, at, time)
}

/// Deletes the message at this position for a user who is erased. None: the message does not exist.
pub(crate) fn erase(batch: &mut Batch<'_>, at: u64, time: Timestamp) -> Outcome<Option<ChangedMessage>> {
    let sql = sql!("SELECT site, conversation FROM message WHERE position = $1");
    let found = batch.db.prepare_cached(sql)?.query_row([at as i64], |row| {
        Ok(ConversationId { site: SiteId(row.get(0)?), key: row.get::<_, i64>(1)? as u64 })
    });
    let Some(id) = found.optional()? else { return Ok(None) };
    let Some(target) = neutral_target(batch, id)? else { return Ok(None) };
    Ok(take_away(batch, id.site, &target, at, time)?.ok())
}

/// Gives a message a new version, because it names a user who has another id now. None: the message does not exist.
pub(crate) fn renew(batch: &mut Batch<'_>, site: SiteId, at: u64) -> Outcome<Option<ConversationId>> {
    let Some(line) = Lines::stored(batch.db, site)?.at(at)? else { return Ok(None) };
    let mut message = line.message;
    let was_unpublished = is_unpublished(batch.db, &message)?;
    mark_changed(batch, at, &message, State::of(&message))?;
    if was_unpublished {
        message.version = batch.position().number;
        mark_unpublished(batch.db, &message)?;
    }
    Ok(Some(message.conversation))
}

/// Gives the message at this position a new version, which every device receives whole.
pub(crate) fn renewed(batch: &mut Batch<'_>, site: SiteId, at: u64) -> Outcome<Option<ChangedMessage>> {
    let Some(id) = renew(batch, site, at)? else { return Ok(None) };
    let Some(message) = load_neutral(batch.db, site, at)? else { return Ok(None) };
    let members = match id.is_room() {
        true => batch.state.members.of(batch.db, id)?,
        false => Arc::default(),
    };
    let position = batch.position();
    Ok(Some(ChangedMessage { message, changed: true, position, members, gathered: false }))
}

/// The conversation without a particular user's standing.
fn neutral_target(batch: &mut Batch<'_>, id: ConversationId) -> Outcome<Option<Target>> {
    Ok(match id.is_room() {
        true => room::load(batch.db, id)?.map(|room| Target {
            newest: room.newest,
            room: Some((room, Standing::Out)),
            last: Timestamp(0),
            links: None,
        }),
        false => {
            let target = |newest| Target { newest, room: None, last: Timestamp(0), links: None };
            batch.conversation(id)?.map(|direct| target(direct.newest()))
        }
    })
}

fn take_away(
    batch: &mut Batch<'_>,
    site: SiteId,
    target: &Target,
    at: u64,
    time: Timestamp,
) -> Outcome<Result<ChangedMessage, Refusal>> {
    let line = Lines::stored(batch.db, site)?.at(at)?;
    let Some(Line { message: before, .. }) = line else { return Ok(Err(Refusal::NoSuchMessage)) };
    let (id, by) = (before.conversation, before.from);
    let wanted = ChangeMessage { conversation: id, seq: before.seq, by, change: MessageChange::Delete, time };
    let changed = match apply(batch, &wanted, target, at, &before)? {
        Ok(changed) => changed,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let now = if changed { load_neutral(batch.db, site, at)? } else { Some(before) };
    let Some(message) = now else { return Ok(Err(Refusal::NoSuchMessage)) };
    let members = match changed && id.is_room() {
        true => batch.state.members.of(batch.db, id)?,
        false => Arc::default(),
    };
    let position = batch.position();
    Ok(Ok(ChangedMessage { message, changed, position, members, gathered: false }))
}

fn load_neutral(db: &Connection, site: SiteId, at: u64) -> Outcome<Option<StoredMessage>> {
    Ok(Lines::new(db, UserId::nobody(site))?.at(at)?.map(|line| line.message))
}

/// The conversation of a message that a user wants to change.
struct Target {
    newest: Newest,
    /// If it is a room: its row, and the user's standing in it.
    room: Option<(RoomRow, Standing)>,
    /// Time of the user's last message there, for slow mode.
    last: Timestamp,
    /// If the user is still a stranger: the links that an edit must not add either.
    links: Option<LinkRule>,
}

/// Refuses users who are not members.
fn target(batch: &mut Batch<'_>, wanted: &ChangeMessage) -> Outcome<Result<Target, Refusal>> {
    let (id, by) = (wanted.conversation, wanted.by);
    if id.is_room() {
        let allowed = room::allowed(batch.db, id, by, Act::TakeBack)?;
        return Ok(allowed.map(|(room, mine)| {
            let who = room::standing(mine.as_ref());
            let last = mine.map_or(Timestamp(0), |mine| mine.sent);
            Target { newest: room.newest, room: Some((room, who)), last, links: None }
        }));
    }
    let Some(me) = side_of(id, by) else { return Ok(Err(Refusal::NoSuchConversation)) };
    let direct = batch.conversation(id)?.map(|direct| {
        let links = (direct.request(me) == Some(MessageRequest::Sent)).then_some(LinkRule::Refused);
        Target { newest: direct.newest(), room: None, last: Timestamp(0), links }
    });
    Ok(direct.ok_or(Refusal::NoSuchMessage))
}

impl Target {
    fn allows(&self, wanted: &ChangeMessage, before: &StoredMessage) -> Result<(), Refusal> {
        let is_own = before.from == wanted.by;
        let rich = before.rich.as_ref();
        let has_poll = rich.is_some_and(|rich| rich.poll.is_some());
        let is_as_said = rich.is_some_and(|rich| rich.forwarded.is_some() || rich.sticker.is_some());
        match &self.room {
            Some((room, who)) => {
                let rules = room.room.rules(self.last, wanted.time);
                may_change_in_room(&wanted.change, is_own, before.deleted, *who, rules)?;
            }
            None => may_change(&wanted.change, is_own, before.deleted, false)?,
        }
        may_edit(&wanted.change, before.kind, has_poll, is_as_said)
    }
}

/// Returns whether the change has an effect.
fn apply(
    batch: &mut Batch<'_>,
    wanted: &ChangeMessage,
    target: &Target,
    at: u64,
    before: &StoredMessage,
) -> Outcome<Result<bool, Refusal>> {
    match &wanted.change {
        MessageChange::Edit { body, extension } if *body == before.body && *extension == before.extension => {
            return Ok(Ok(false));
        }
        MessageChange::Edit { body, extension } => {
            if let Err(refusal) = keep_revision(batch.db, batch.position().number + 1, wanted, at, before)? {
                return Ok(Err(refusal));
            }
            replace_texts(batch, wanted, target, at, before, (body, extension.as_deref()))?;
            let preview = before.rich.as_ref().and_then(|rich| rich.preview.as_ref());
            if preview.is_some_and(|preview| !body.contains(&*preview.url)) {
                preview::remove(batch.db, before.from.site, at)?;
            }
            mark_changed(batch, at, before, State { edited: Some(wanted.time), ..State::of(before) })?;
            if target.room.is_some() {
                // Every member receives an edit like a message, so slow mode counts it as one.
                let sql = sql!("UPDATE membership SET sent = $4 WHERE site = $1 AND user = $2 AND room = $3");
                let id = wanted.conversation;
                let values = params![id.site.0, wanted.by.num, id.key as i64, wanted.time.0 as i64];
                batch.db.prepare_cached(sql)?.execute(values)?;
            }
        }
        MessageChange::Delete if before.deleted => return Ok(Ok(false)),
        MessageChange::Delete => {
            if let Err(refusal) = keep_revision(batch.db, batch.position().number + 1, wanted, at, before)? {
                return Ok(Err(refusal));
            }
            replace_texts(batch, wanted, target, at, before, ("", None))?;
            reactions::take_all_off(batch.db, before.from.site, at)?;
            if !before.files.is_empty() {
                file::remove_of_message(batch.db, before.from.site, at)?;
            }
            rich::remove(batch.db, before, at)?;
            mark_changed(batch, at, before, State { deleted: true, pinned: false, ..State::of(before) })?;
        }
        MessageChange::React { reaction, on } => {
            let outcome = match on {
                true => reactions::put(batch, wanted.by, at, before, reaction)?,
                false => Ok(reactions::take_off(batch.db, wanted.by, at, reaction)?),
            };
            if outcome != Ok(true) {
                return Ok(outcome);
            }
            mark_changed(batch, at, before, State::of(before))?;
        }
        MessageChange::Vote(choices) => {
            let outcome = poll::vote(batch, wanted.by, at, before, choices, wanted.time)?;
            if outcome != Ok(true) {
                return Ok(outcome);
            }
            mark_changed(batch, at, before, State::of(before))?;
        }
        MessageChange::Preview(Some(new)) => {
            let outcome = preview::put(batch.db, at, before, new)?;
            if outcome != Ok(true) {
                return Ok(outcome);
            }
            mark_changed(batch, at, before, State::of(before))?;
        }
        MessageChange::Preview(None) if !preview::remove(batch.db, before.from.site, at)? => {
            return Ok(Ok(false));
        }
        MessageChange::ClosePoll if !poll::close(batch.db, before.from.site, at)? => return Ok(Ok(false)),
        MessageChange::ClosePoll | MessageChange::Preview(None) => {
            mark_changed(batch, at, before, State::of(before))?;
        }
        MessageChange::Pin(on) if before.pinned == *on => return Ok(Ok(false)),
        MessageChange::Pin(on) => {
            if *on && let Err(refusal) = may_pin(pins::pinned(batch.db, wanted.conversation)?.len()) {
                return Ok(Err(refusal));
            }
            mark_changed(batch, at, before, State { pinned: *on, ..State::of(before) })?;
        }
    }
    Ok(Ok(true))
}

/// The columns of `message_change` without its key.
#[derive(Clone, Copy)]
struct State {
    edited: Option<Timestamp>,
    deleted: bool,
    pinned: bool,
}

impl State {
    fn of(before: &StoredMessage) -> State {
        State { edited: before.edited, deleted: before.deleted, pinned: before.pinned }
    }
}

/// Gives the message its next version, which changes the views of all members.
fn mark_changed(batch: &mut Batch<'_>, at: u64, before: &StoredMessage, now: State) -> Outcome<()> {
    let id = before.conversation;
    let number = batch.next_number();
    let (site, key, at) = (id.site.0, id.key as i64, at as i64);
    if before.version > 0 {
        let sql = sql!("DELETE FROM message_change WHERE site = $1 AND conversation = $2 AND position = $3");
        batch.db.prepare_cached(sql)?.execute(params![site, key, before.version as i64])?;
    }
    let sql = sql!(
        "INSERT INTO message_change (site, conversation, position, message, edited, deleted, pinned) \
               VALUES ($1, $2, $3, $4, $5, $6, $7)"
    );
    let edited = now.edited.map(|time| time.0 as i64);
    let values = params![site, key, number as i64, at, edited, now.deleted, now.pinned];
    batch.db.prepare_cached(sql)?.execute(values)?;
    let sql = sql!("UPDATE message SET changed = $2 WHERE position = $1");
    batch.db.prepare_cached(sql)?.execute([at, number as i64])?;
    if id.is_room() {
        let sql = sql!("UPDATE room SET changed = $3 WHERE site = $1 AND key = $2");
        batch.db.prepare_cached(sql)?.execute(params![site, key, number as i64])?;
    }
    batch.change(id, |direct| direct.sides.iter_mut().for_each(|side| side.changed = number));
    Ok(())
}

/// Replaces body and extension, and updates the count of mentions.
fn replace_texts(
    batch: &mut Batch<'_>,
    wanted: &ChangeMessage,
    target: &Target,
    at: u64,
    before: &StoredMessage,
    (body, extension): (&str, Option<&str>),
) -> Outcome<()> {
    let (id, db) = (wanted.conversation, batch.db);
    let mentioned: bool = db
        .prepare_cached(sql!("SELECT mention FROM message WHERE position = $1"))?
        .query_row([at as i64], |row| row.get(0))?;
    let mentions = message::mentions_other(db, id, before.from, body)?;
    let sql = sql!("UPDATE message SET body = $2, mention = $3, extension = $4 WHERE position = $1");
    db.prepare_cached(sql)?.execute(params![at as i64, body, mentions, extension])?;
    search::changed(batch, at, id, body)?;
    if let Some((room, who)) = &target.room {
        let sql = sql!("DELETE FROM mention WHERE site = $1 AND room = $2 AND seq = $3");
        if before.body.contains('@') {
            db.prepare_cached(sql)?.execute(params![id.site.0, id.key as i64, before.seq.0 as i64])?;
        }
        room::post::mention(db, room, before.from, body, *who, before.seq)?;
    }
    if let Some(sender) = side_of(id, before.from) {
        batch.change(id, |direct| {
            let other = &mut direct.sides[1 - sender];
            if before.seq.0 > other.read {
                other.mentions = (other.mentions + u64::from(mentions)).saturating_sub(u64::from(mentioned));
            }
        });
    }
    Ok(())
}

/// Keeps the present body, which the change at this position replaces. The first body has the number 1; others have the
/// position of their change.
fn keep_revision(
    db: &Connection,
    number: u64,
    wanted: &ChangeMessage,
    at: u64,
    before: &StoredMessage,
) -> Outcome<Result<(), Refusal>> {
    let (site, at) = (before.conversation.site.0, at as i64);
    let sql = sql!(
        "SELECT count(*), coalesce(sum(octet_length(body)), 0), \
                      min(number) FILTER (WHERE number > 1) \
               FROM message_revision WHERE site = $1 AND message = $2"
    );
    let until = sql!("SELECT until FROM message_revision WHERE site = $1 AND message = $2 AND number = $3");
    let remove = sql!("DELETE FROM message_revision WHERE site = $1 AND message = $2 AND number = $3");
    let number = loop {
        let (count, bytes, second): (i64, i64, Option<i64>) = db
            .prepare_cached(sql)?
            .query_row(params![site, at], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let oldest = second.map(|number| {
            db.prepare_cached(until)?.query_row(params![site, at, number], |row| row.get::<_, i64>(0))
        });
        let oldest = oldest.transpose()?.map(|until| Timestamp(until as u64));
        let kept = KeptRevisions { count: count as usize, bytes: bytes as usize, oldest };
        match drops_revision(&wanted.change, kept, before.body.len(), wanted.time) {
            Ok(true) => db.prepare_cached(remove)?.execute(params![site, at, second])?,
            Ok(false) => break if count == 0 { 1 } else { number as i64 },
            Err(refusal) => return Ok(Err(refusal)),
        };
    };
    let sql =
        sql!("INSERT INTO message_revision (site, message, number, until, body) VALUES ($1, $2, $3, $4, $5)");
    let until = wanted.time.0 as i64;
    db.prepare_cached(sql)?.execute(params![site, at, number, until, before.body])?;
    Ok(Ok(()))
}

// ---- reads ----

/// Adds the fields that only a changed message has to a message from [`Lines`].
pub(crate) fn complete(
    db: &Connection,
    subs: &mut Subs<'_>,
    reader: UserId,
    at: u64,
    message: &mut StoredMessage,
) -> Outcome<()> {
    let id = message.conversation;
    let sql = sql!(
        "SELECT edited, deleted, pinned FROM message_change WHERE site = $1 AND conversation = $2 AND position = $3"
    );
    let values = params![id.site.0, id.key as i64, message.version as i64];
    let found = db
        .prepare_cached(sql)?
        .query_row(values, |row| Ok((row.get::<_, Option<i64>>(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    if let Some((edited, deleted, pinned)) = found {
        message.edited = edited.map(|time| Timestamp(time as u64));
        message.deleted = deleted;
        message.pinned = pinned;
    }
    message.reactions = reactions::load(db, subs, reader, at)?;
    Ok(())
}

/// Positions of messages from before `since` that changed after it, in the order of their changes. None if they are
/// more than `most`.
pub(crate) fn updated_since(
    db: &Connection,
    id: ConversationId,
    since: u64,
    most: usize,
) -> Outcome<Option<Vec<u64>>> {
    let sql = sql!(
        "SELECT message FROM message_change WHERE site = $1 AND conversation = $2 AND position > $3 \
               AND message <= $3 ORDER BY position LIMIT $4"
    );
    let values = params![id.site.0, id.key as i64, since as i64, most as i64 + 1];
    let mut statement = db.prepare_cached(sql)?;
    let updated: Vec<u64> =
        statement.query_map(values, |row| Ok(row.get::<_, i64>(0)? as u64))?.collect::<Result<_, _>>()?;
    Ok((updated.len() <= most).then_some(updated))
}

/// Two index steps for each site, with `message_unpublished`.
pub(crate) fn unpublished(db: &Connection, page: UnpublishedPage) -> Outcome<Vec<(ConversationId, Seq)>> {
    let next = sql!(concat!(
        "SELECT site FROM message_change",
        indexed_by!("message_unpublished"),
        " WHERE unpublished = 1 AND site > $1 ORDER BY site LIMIT 1"
    ));
    let of_site = sql!(concat!(
        "SELECT message.conversation, message.seq \
                   FROM message_change",
        indexed_by!("message_unpublished"),
        " JOIN message ON message.position = message_change.message \
                   WHERE unpublished = 1 AND message_change.site = $1 \
                   ORDER BY message_change.position LIMIT $2"
    ));
    let (mut next, mut of_site) = (db.prepare_cached(next)?, db.prepare_cached(of_site)?);
    let (mut found, mut after) = (Vec::new(), page.after);
    while found.len() < page.limit as usize {
        let site = next.query_row([after.0], |row| Ok(SiteId(row.get(0)?))).optional()?;
        let Some(site) = site else { break };
        let limit = page.of_site.min(page.limit - found.len() as u32);
        let rows = of_site.query_map([site.0, limit], |row| {
            let id = ConversationId { site, key: row.get::<_, i64>(0)? as u64 };
            Ok((id, Seq(row.get::<_, i64>(1)? as u64)))
        })?;
        for row in rows {
            found.push(row?);
        }
        after = site;
    }
    Ok(found)
}

pub(crate) fn revisions(db: &Settled<'_>, id: ConversationId, seq: Seq) -> Outcome<Vec<Revision>> {
    let newest = match id.is_room() {
        true => room::load(db, id)?.map(|room| room.newest),
        false => conversation::load(db, id)?.map(|direct| direct.newest()),
    };
    let Some(newest) = newest else { return Ok(Vec::new()) };
    let Some(at) = message::position_of(db, id, newest, seq.0)? else { return Ok(Vec::new()) };
    let sql =
        sql!("SELECT until, body FROM message_revision WHERE site = $1 AND message = $2 ORDER BY number");
    let mut statement = db.prepare_cached(sql)?;
    let revisions = statement.query_map(params![id.site.0, at as i64], |row| {
        Ok(Revision { until: Timestamp(row.get::<_, i64>(0)? as u64), body: row.get(1)? })
    })?;
    Ok(revisions.collect::<Result<_, _>>()?)
}

//! The content of a message besides body and files: polls, forwards, threads, previews, stickers. Bits in the message's
//! row name its parts, so a message without any needs no other row.

use std::collections::HashSet;

use crate::engine::{Connection, params};
use chat::{File, InThread, NewRich, Refusal, Rich, Seq, StoredMessage, Timestamp, UserId};

use crate::fault::Outcome;
use crate::forward;
use crate::message::Newest;
use crate::poll;
use crate::preview;
use crate::sticker;
use crate::thread::{self, Root};
use crate::user::Subs;
use crate::writer::Batch;

/// Bits of the column.
pub(crate) const POLL: i64 = 1;
pub(crate) const FORWARDED: i64 = 2;
pub(crate) const REPLY: i64 = 4;
pub(crate) const ROOT: i64 = 8;
pub(crate) const PREVIEW: i64 = 16;
pub(crate) const STICKER: i64 = 32;

/// The place of a posted message.
pub(crate) struct Place {
    pub(crate) conversation: chat::ConversationId,
    pub(crate) from: UserId,
    pub(crate) seq: Seq,
    pub(crate) position: u64,
    pub(crate) time: Timestamp,
}

impl Place {
    pub(crate) fn of(from: UserId, appended: &chat::Appended) -> Place {
        let chat::Appended { conversation, seq, time, position, .. } = *appended;
        Place { conversation, from, seq, position: position.number, time }
    }
}

/// Rows that [`check`] has read, for [`put`].
#[derive(Default)]
pub(crate) struct Checked {
    root: Option<Root>,
}

/// Whether a message may have this content. `newest`: of the room, if the conversation is one.
pub(crate) fn check(
    batch: &mut Batch<'_>,
    conversation: chat::ConversationId,
    from: UserId,
    newest: Option<Newest>,
    rich: Option<&NewRich>,
) -> Outcome<Result<Checked, Refusal>> {
    let Some(rich) = rich else { return Ok(Ok(Checked::default())) };
    if let Some(forward) = &rich.forwarded
        && let Err(refusal) = forward::check(batch, conversation, from, forward)?
    {
        return Ok(Err(refusal));
    }
    let root = match (rich.thread, newest) {
        (None, _) => None,
        (Some(_), None) => return Ok(Err(Refusal::BadValue)),
        (Some(root), Some(newest)) => match thread::root(batch.db, conversation, newest, from, root)? {
            Ok(root) => Some(root),
            Err(refusal) => return Ok(Err(refusal)),
        },
    };
    Ok(Ok(Checked { root }))
}

/// Stores the content that [`check`] has allowed. `named`: members whom the body mentions. Returns all files of the
/// message and its place in a thread.
pub(crate) fn put(
    batch: &Batch<'_>,
    place: &Place,
    rich: &NewRich,
    checked: &Checked,
    named: &HashSet<u32>,
) -> Outcome<(Vec<File>, Option<InThread>)> {
    let db = batch.db;
    let (mut bits, mut files) = (0, Vec::new());
    if let Some(poll) = &rich.poll {
        poll::put(db, place, poll)?;
        bits |= POLL;
    }
    if let Some(forward) = &rich.forwarded {
        files = forward::put(db, place, forward)?;
        bits |= FORWARDED;
    }
    if let Some(sticker) = &rich.sticker {
        sticker::put(db, place.position, sticker.id)?;
        bits |= STICKER;
    }
    let mut in_thread = None;
    if let Some(root) = &checked.root {
        in_thread = Some(thread::put(db, place, root, named)?);
        bits |= REPLY;
    }
    add(db, place.position, bits)?;
    Ok((files, in_thread))
}

/// Adds bits to the message's row.
pub(crate) fn add(db: &Connection, position: u64, bits: i64) -> Outcome<()> {
    let sql = sql!("UPDATE message SET rich = rich | $2 WHERE position = $1");
    db.prepare_cached(sql)?.execute([position as i64, bits])?;
    Ok(())
}

/// A deleted message keeps only its place in threads.
pub(crate) fn remove(db: &Connection, before: &StoredMessage, position: u64) -> Outcome<()> {
    let Some(rich) = &before.rich else { return Ok(()) };
    let site = before.conversation.site;
    if rich.poll.is_some() {
        poll::remove(db, site, position)?;
    }
    if rich.forwarded.is_some() {
        let sql = sql!("DELETE FROM forward WHERE site = $1 AND message = $2");
        db.prepare_cached(sql)?.execute(params![site.0, position as i64])?;
    }
    if rich.preview.is_some() {
        preview::remove(db, site, position)?;
    }
    // The sticker may have been removed from the site.
    sticker::remove(db, site, position)?;
    let sql = sql!("UPDATE message SET rich = rich & $2 WHERE position = $1");
    db.prepare_cached(sql)?.execute([position as i64, REPLY | ROOT])?;
    Ok(())
}

/// The rich content of a message, for one reader.
pub(crate) fn load(
    db: &Connection,
    subs: &mut Subs<'_>,
    reader: UserId,
    position: u64,
    message: &StoredMessage,
    bits: i64,
) -> Outcome<Option<Box<Rich>>> {
    let id = message.conversation;
    let mut rich = Rich::default();
    if bits & POLL != 0 {
        rich.poll = poll::load(db, subs, reader, position)?;
    }
    if bits & FORWARDED != 0 {
        rich.forwarded = Some(forward::origin(db, subs, id.site, position)?);
    }
    if bits & REPLY != 0 {
        rich.thread = thread::place(db, id.site, position)?;
    }
    if bits & ROOT != 0 {
        rich.replies = thread::replies(db, id, message.seq)?;
    }
    if bits & PREVIEW != 0 {
        rich.preview = preview::load(db, id.site, position)?;
    }
    if bits & STICKER != 0 {
        rich.sticker = sticker::load(db, id.site, position)?;
    }
    Ok(Some(Box::new(rich)))
}

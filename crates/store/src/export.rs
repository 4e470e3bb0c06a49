//! Everything that a member has sent or received in direct conversations, and sent in rooms, and all items, page by page.
//!
//! A cursor records the progress. `d`: a direct conversation and a seq in it. `w`: the index by sender, with the
//! position up to which it was complete when the export reached it, and the last client id. `t`: the log after that
//! position, which is short. `i`: the items after the one of a version.

use crate::engine::{Connection, OptionalExtension, params};
use chat::items::ITEM_PAGE_BYTES;
use chat::{ConversationId, Done, ExportPage, ExportStore, Seq, StoredMessage, UserId};

use crate::fault::Outcome;
use crate::late::{Scope, Settled};
use crate::message::{self, Lines};
use crate::port::read_settled;
use crate::sqlite::Sqlite;
use crate::{conversation, item, meta};

impl ExportStore for Sqlite {
    fn export(&self, user: UserId, after: Option<String>, limit: u32, done: Done<ExportPage>) {
        let page = move |db: &Settled<'_>| self::page(db, user, after.as_deref(), limit);
        self.shared.read_last(read_settled(Scope::Of(user), page, done));
    }
}

/// The progress of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Direct { key: i64, seq: u64 },
    Written { indexed: i64, client_id: Box<str> },
    Tail { position: i64 },
    Items { version: i64 },
}

impl Place {
    /// An unknown cursor starts from the beginning.
    fn parse(after: Option<&str>) -> Place {
        after.and_then(Place::of).unwrap_or(Place::Direct { key: 0, seq: 0 })
    }

    fn of(after: &str) -> Option<Place> {
        let (kind, rest) = after.split_at_checked(1)?;
        let pair = || rest.split_once('.');
        Some(match kind {
            "d" => {
                let (key, seq) = pair()?;
                Place::Direct { key: key.parse().ok()?, seq: seq.parse().ok()? }
            }
            "w" => {
                let (indexed, client_id) = pair()?;
                Place::Written { indexed: indexed.parse().ok()?, client_id: client_id.into() }
            }
            "t" => Place::Tail { position: rest.parse().ok()? },
            "i" => Place::Items { version: rest.parse().ok()? },
            _ => return None,
        })
    }

    fn cursor(&self) -> String {
        match self {
            Place::Direct { key, seq } => format!("d{key}.{seq}"),
            Place::Written { indexed, client_id } => format!("w{indexed}.{client_id}"),
            Place::Tail { position } => format!("t{position}"),
            Place::Items { version } => format!("i{version}"),
        }
    }
}

fn page(db: &Settled<'_>, user: UserId, after: Option<&str>, limit: u32) -> Outcome<ExportPage> {
    let (messages, next) = match Place::parse(after) {
        Place::Direct { key, seq } => direct(db, user, key, seq, limit)?,
        Place::Written { indexed, client_id } => written(db, user, indexed, &client_id, limit)?,
        Place::Tail { position } => tail(db, user, position, limit)?,
        Place::Items { version } => return items(db, user, version, limit),
    };
    Ok(ExportPage { messages, items: Vec::new(), next: next.map(|place| place.cursor()) })
}

type Part = (Vec<StoredMessage>, Option<Place>);

/// `seq`: of the last message that was read in the conversation with this key.
fn direct(db: &Settled<'_>, user: UserId, key: i64, seq: u64, limit: u32) -> Outcome<Part> {
    let Some(found) = next_conversation(db, user, key)? else {
        let indexed = meta::sent_indexed(db)? as i64;
        return Ok((Vec::new(), Some(Place::Written { indexed, client_id: "".into() })));
    };
    let id = ConversationId { site: user.site, key: found as u64 };
    let after = if found == key { seq } else { 0 };
    let Some(row) = conversation::load(db, id)? else {
        return Ok((Vec::new(), Some(Place::Direct { key: found + 1, seq: 0 })));
    };
    let page = message::page(db, user, id, row.newest(), None, Some(Seq(after)), limit)?;
    let next = match page.messages.last().filter(|_| page.more) {
        Some(last) => Place::Direct { key: found, seq: last.seq.0 },
        None => Place::Direct { key: found + 1, seq: 0 },
    };
    Ok((page.messages, Some(next)))
}

/// The direct conversation with the lowest key from `key` on.
fn next_conversation(db: &Connection, user: UserId, key: i64) -> Outcome<Option<i64>> {
    let as_high = sql!(concat!(
        "SELECT key FROM conversation",
        indexed_by!("conversation_high"),
        " WHERE site = $1 AND (key & 4294967295) = $2 AND key >= $3 ORDER BY key LIMIT 1"
    ));
    let as_low = sql!(
        "SELECT key FROM conversation WHERE site = $1 AND key BETWEEN $2 << 32 AND ($2 << 32) + 4294967295 \
                  AND key >= $3 ORDER BY key LIMIT 1"
    );
    for sql in [as_high, as_low] {
        let values = params![user.site.0, user.num, key];
        let found = db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn written(db: &Connection, user: UserId, indexed: i64, after: &str, limit: u32) -> Outcome<Part> {
    let sql = sql!(
        "SELECT client_id, position FROM sent WHERE site = $1 AND user = $2 AND client_id > $3 \
               ORDER BY client_id LIMIT $4"
    );
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![user.site.0, user.num, after, limit], |row| {
        Ok((row.get::<_, Box<str>>(0)?, row.get::<_, i64>(1)?))
    })?;
    let rows: Vec<(Box<str>, i64)> = rows.collect::<Result<_, _>>()?;
    let Some((last, _)) = rows.last() else {
        return Ok((Vec::new(), Some(Place::Tail { position: indexed })));
    };
    let next = Place::Written { indexed, client_id: last.clone() };
    // The export reads later positions from the log, so it skips messages that entered the index meanwhile.
    let places = rows.iter().map(|(_, position)| *position).filter(|position| *position <= indexed);
    Ok((in_rooms(db, user, places)?, Some(next)))
}

fn tail(db: &Connection, user: UserId, after: i64, limit: u32) -> Outcome<Part> {
    let sql = sql!(
        "SELECT position FROM message WHERE position > $3 AND site = $1 AND sender = $2 ORDER BY position LIMIT $4"
    );
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![user.site.0, user.num, after, limit], |row| row.get(0))?;
    let rows: Vec<i64> = rows.collect::<Result<_, _>>()?;
    let is_last = rows.len() < limit as usize;
    let next = match rows.last() {
        Some(position) if !is_last => Place::Tail { position: *position },
        _ => Place::Items { version: 0 },
    };
    Ok((in_rooms(db, user, rows.into_iter())?, Some(next)))
}

fn items(db: &Connection, user: UserId, after: i64, limit: u32) -> Outcome<ExportPage> {
    let items = item::after(db, user, after, limit, ITEM_PAGE_BYTES)?;
    let next = items.last().map(|last| Place::Items { version: last.item.version as i64 }.cursor());
    Ok(ExportPage { messages: Vec::new(), items, next })
}

fn in_rooms(
    db: &Connection,
    user: UserId,
    positions: impl Iterator<Item = i64>,
) -> Outcome<Vec<StoredMessage>> {
    let mut lines = Lines::new(db, user)?;
    let mut messages = Vec::new();
    for position in positions {
        let line = lines.at(position as u64)?.map(|line| line.message);
        messages.extend(line.filter(|message| message.conversation.is_room()));
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_comes_back_as_it_was(key: i64, seq: u64, client_id in "[A-Za-z0-9_-]{0,64}") {
            for place in [
                Place::Direct { key, seq },
                Place::Written { indexed: key, client_id: client_id.as_str().into() },
                Place::Tail { position: key },
                Place::Items { version: key },
            ] {
                prop_assert_eq!(Place::parse(Some(&place.cursor())), place);
            }
        }

        #[test]
        fn an_invalid_cursor_starts_from_the_beginning(text in ".{0,20}") {
            let place = Place::parse(Some(&text));
            prop_assert!(Place::parse(Some(&place.cursor())) == place);
        }
    }
}

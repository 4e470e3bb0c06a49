//! A message in a room: a row of the log, the room's row, and the sender's own.

use std::collections::HashSet;

use crate::engine::{Connection, params};
use chat::{
    Act, Append, Appended, ConversationId, EVERYBODY, Joined, MemberState, MessageKind, Post, Posted,
    Refusal, RoomLimits, RoomName, Seq, Standing, Sub, Timestamp, UserId, may, mentioned,
};

use super::{ALL, RoomRow, find, load, member, membership};
use crate::fault::{Fault, Outcome};
use crate::file;
use crate::message;
use crate::rich;
use crate::user;
use crate::writer::Batch;

pub(crate) fn post(
    batch: &mut Batch<'_>,
    post: &Post,
    limits: RoomLimits,
) -> Outcome<Result<Posted, Refusal>> {
    if let Some(appended) = message::sent_before(batch, post.from, &post.client_id)? {
        return Ok(Ok(Posted {
            appended,
            joined: None,
            members: Default::default(),
            files: Vec::new(),
            thread: None,
            author: None,
        }));
    }
    if !post.files.is_empty() {
        let found = find(batch.db, &post.room)?;
        let Some(room) = found else { return Ok(Err(Refusal::NoSuchFile)) };
        if let Err(refusal) = file::are_ready(batch, post.from, room.id, &post.files)? {
            return Ok(Err(refusal));
        }
    }
    let (room, joined) = match entered(batch, post, limits)? {
        Ok(entered) => entered,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mine = membership(batch.db, room.id, post.from)?;
    let who = member::standing_at(batch.db, room.id, post.from, mine.as_ref(), post.time)?;
    let last = mine.map_or(Timestamp(0), |mine| mine.sent);
    // The entry of an ended call is posted under any rules, but its host must still be a member.
    let act = if post.kind == MessageKind::Call { Act::List } else { Act::Post };
    if let Err(refusal) = may(who, act, room.room.rules(last, post.time)) {
        return Ok(Err(refusal));
    }
    let rich = post.rich.as_deref();
    let checked = match rich::check(batch, room.id, post.from, Some(room.newest), rich)? {
        Ok(checked) => checked,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let appended = append(batch, post, &room)?;
    let named = mention(batch.db, &room, post.from, &post.body, who, appended.seq)?;
    let members = batch.state.members.of(batch.db, room.id)?;
    let mut thread = None;
    let mut files = match post.files.is_empty() {
        true => Vec::new(),
        false => file::post(batch.db, room.id, appended.position.number, &post.files)?,
    };
    if let Some(rich) = rich {
        let place = rich::Place::of(post.from, &appended);
        let (came_along, in_thread) = rich::put(batch, &place, rich, &checked, &named)?;
        files.extend(came_along);
        thread = in_thread;
    }
    let author = match who {
        Standing::In(role) if post.names_author => {
            super::nickname::occupant(batch.db, room.id, post.from, role)?
        }
        Standing::In(_) | Standing::Out | Standing::Banned => None,
    };
    Ok(Ok(Posted { appended, joined, members, files, thread, author }))
}

/// The room of the message. A page's room is created if needed, and its author becomes a member.
fn entered(
    batch: &mut Batch<'_>,
    post: &Post,
    limits: RoomLimits,
) -> Outcome<Result<(RoomRow, Option<Joined>), Refusal>> {
    let found = find(batch.db, &post.room)?.filter(|room| room.id.site == post.from.site);
    let is_page = match &found {
        Some(room) => room.room.page.is_some(),
        None => matches!(post.room, RoomName::Page(..)),
    };
    let mine = match &found {
        Some(room) => membership(batch.db, room.id, post.from)?,
        None => None,
    };
    let is_out = match &found {
        Some(room) => {
            member::standing_at(batch.db, room.id, post.from, mine.as_ref(), post.time)? == Standing::Out
        }
        None => true,
    };
    match found {
        // A user who could not write as a member does not join by trying.
        Some(room) if is_page && is_out => {
            let last = mine.map_or(Timestamp(0), |mine| mine.sent);
            let rules = room.room.rules(last, post.time);
            let role = member::role_of_new(batch.db, room.id, post.from, post.time)?;
            if let Err(refusal) = may(Standing::In(role), Act::Post, rules) {
                return Ok(Err(refusal));
            }
        }
        Some(room) => return Ok(Ok((room, None))),
        None if is_page => {}
        None => return Ok(Err(Refusal::NoSuchConversation)),
    }
    let joined = match member::join(batch, &post.room, post.from, limits, post.time)? {
        Ok(joined) => joined,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let room = load(batch.db, joined.row.id)?.ok_or(Fault::no_row())?;
    Ok(Ok((room, Some(joined))))
}

fn append(batch: &mut Batch<'_>, post: &Post, room: &RoomRow) -> Outcome<Appended> {
    let id = room.id;
    let seq = room.newest.seq + 1;
    let number = batch.next_logged();
    let append = Append {
        conversation: id,
        from: post.from,
        kind: post.kind,
        client_id: post.client_id.clone(),
        body: post.body.clone(),
        extension: post.extension.clone(),
        time: post.time,
        reply_to: post.reply_to,
        rich: None,
    };
    message::insert(batch.db, &append, number, seq, room.newest.position, false)?;
    batch.state.sent.note(post.from, &post.client_id, number);
    let sql = sql!("UPDATE room SET seq = $3, position = $4, active = $5 WHERE site = $1 AND key = $2");
    let values = params![id.site.0, id.key as i64, seq as i64, number as i64, post.time.0 as i64];
    batch.db.prepare_cached(sql)?.execute(values)?;
    let position = batch.position();
    let appended = Appended { conversation: id, seq: Seq(seq), time: post.time, position, repeated: false };
    if post.kind == MessageKind::Call {
        return Ok(appended);
    }
    // Writing marks all as read. Other devices notice by the room's position.
    let sql = sql!(
        "UPDATE membership SET received = $4, read = $4, sent = $5 \
               WHERE site = $1 AND user = $2 AND room = $3"
    );
    let values = params![id.site.0, post.from.num, id.key as i64, seq as i64, post.time.0 as i64];
    batch.db.prepare_cached(sql)?.execute(values)?;
    Ok(appended)
}

/// Stores the mentions of a body, and returns the mentioned members.
pub(crate) fn mention(
    db: &Connection,
    room: &RoomRow,
    from: UserId,
    body: &str,
    who: Standing,
    seq: Seq,
) -> Outcome<HashSet<u32>> {
    let mut named = HashSet::new();
    if !body.contains('@') {
        return Ok(named);
    }
    let may_call_all = may(who, Act::CallAll, room.rules()).is_ok();
    for tries in mentioned(body) {
        if may_call_all && tries.contains(&EVERYBODY) {
            named.insert(ALL);
        } else if let Some(member) = first_member(db, room.id, &tries)? {
            named.insert(member);
        }
    }
    let sql = sql!(
        "INSERT INTO mention (site, room, user, seq, author) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING"
    );
    named.remove(&from.num);
    for user in &named {
        let values = params![room.id.site.0, room.id.key as i64, user, seq.0 as i64, from.num];
        db.prepare_cached(sql)?.execute(values)?;
    }
    Ok(named)
}

/// The first of these candidates that is the id of a member.
fn first_member(db: &Connection, id: ConversationId, tries: &[&str]) -> Outcome<Option<u32>> {
    for name in tries {
        let Some(sub) = Sub::parse(name) else { continue };
        if let Some(row) = user::by_sub(db, id.site, &sub)?
            && let Some(mine) = membership(db, id, row.id)?
            && matches!(mine.state, MemberState::In(_))
        {
            return Ok(Some(row.id.num));
        }
    }
    Ok(None)
}

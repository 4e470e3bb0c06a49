//! Creates and changes rooms, and changes a member's view of one.

use std::sync::Arc;

use crate::engine::{Connection, params};
use chat::{
    Act, By, ConversationChange, ConversationId, ConversationRow, Joined, MarkerRow, MemberState, NewRoom,
    PageKey, Position, Refusal, Role, Room, RoomAvatar, RoomChange, RoomChanged, RoomLimits, Seq, SiteId,
    Timestamp, UserId, directory::fold, markers_after,
};

use super::{RoomRow, allowed, avatar_text, kind_code, link, load, member, membership, one, standing};
use crate::contact::Blocked;
use crate::counter::{self, Counted};
use crate::fault::{Fault, Outcome};
use crate::file;
use crate::marks::{self, Marked};
use crate::message::Newest;
use crate::moderation::audit;
use crate::user;
use crate::writer::Batch;

pub(crate) fn create(
    batch: &mut Batch<'_>,
    owner: UserId,
    new: &NewRoom,
    limits: RoomLimits,
    now: Timestamp,
) -> Outcome<Result<Joined, Refusal>> {
    let [rooms, owned] = [7, 0].map(|state| member::memberships(batch.db, owner, state));
    if let Err(refusal) = limits.has_place_for(rooms?).and(limits.may_own_more(owned?)) {
        return Ok(Err(refusal));
    }
    if let Some(alias) = &new.alias
        && super::of_alias(batch.db, owner.site, alias)?.is_some()
    {
        return Ok(Err(Refusal::UserExists));
    }
    // Another process may have removed the site a moment ago.
    if user::sub_of(batch.db, owner)?.is_none() {
        return Err(Fault::Invalid("the owner does not exist"));
    }
    let row = insert(batch, owner.site, new.clone().room(), now)?;
    member::put(batch, &row, owner, None, MemberState::In(Role::Owner))?;
    let row = one(batch.db, owner, row.id)?.ok_or(Fault::no_row())?;
    Ok(Ok(Joined { row, position: batch.position(), before: false }))
}

/// Creates a room of another system, without members. Lists sort it by the time of its messages.
pub(crate) fn import(
    batch: &mut Batch<'_>,
    site: SiteId,
    room: &Room,
    created: Option<Timestamp>,
    now: Timestamp,
) -> Outcome<RoomRow> {
    let row = insert(batch, site, room.clone(), created.unwrap_or(now))?;
    let active = created.unwrap_or_default();
    let sql = sql!("UPDATE room SET active = $3 WHERE site = $1 AND key = $2");
    batch.db.prepare_cached(sql)?.execute([i64::from(site.0), row.id.key as i64, active.0 as i64])?;
    Ok(RoomRow { active, ..row })
}

/// Creates a room without members.
pub(super) fn make_for_page(
    batch: &mut Batch<'_>,
    site: SiteId,
    page: &PageKey,
    now: Timestamp,
) -> Outcome<RoomRow> {
    insert(batch, site, NewRoom::of_page(page), now)
}

fn insert(batch: &mut Batch<'_>, site: SiteId, room: Room, now: Timestamp) -> Outcome<RoomRow> {
    let id = ConversationId::room(site, counter::next(batch.db, site, Counted::Room)? as u64);
    let changed = batch.next_number();
    let sql = sql!(
        "INSERT INTO room (site, key, seq, position, active, changed, members, kind, slow_ms, frozen, created, \
               name, folded, topic, avatar, page, max_members, alias) \
               VALUES ($1, $2, 0, 0, $3, $4, 0, $5, $6, $7, $3, $8, $9, $10, $11, $12, $13, $14)"
    );
    batch.db.prepare_cached(sql)?.execute(params![
        site.0,
        id.key as i64,
        now.0 as i64,
        changed as i64,
        kind_code(room.kind),
        room.slow_ms,
        room.frozen,
        &*room.name,
        fold(&room.name),
        room.topic.as_deref(),
        room.avatar.as_ref().map(avatar_text),
        room.page.as_deref(),
        room.max_members,
        room.alias.as_deref(),
    ])?;
    let newest = Newest { seq: 0, position: 0 };
    Ok(RoomRow { id, newest, active: now, changed, room: Arc::new(room) })
}

pub(crate) fn change(
    batch: &mut Batch<'_>,
    id: ConversationId,
    by: UserId,
    change: &RoomChange,
    now: Timestamp,
) -> Outcome<Result<RoomChanged, Refusal>> {
    let mut found = None;
    for act in change.acts() {
        match allowed(batch.db, id, by, act)? {
            // A moderator of the site must join first, because the answer is the room as its member sees it.
            Ok((_, mine)) if standing(mine.as_ref()).role().is_none() => return Ok(Err(Refusal::NotAMember)),
            Ok((room, _)) => found = Some(room),
            Err(refusal) => return Ok(Err(refusal)),
        }
    }
    let before = found.expect("every change is at least one act");
    let after = change.clone().apply(&before.room);
    let mut members = Arc::default();
    if after != *before.room {
        if let Err(refusal) = change_picture(batch.db, id, by, &before.room, &after)? {
            return Ok(Err(refusal));
        }
        save(batch, id, &after)?;
        if after.kind != before.room.kind {
            link::end_in_room(batch.db, id, after.rules(Timestamp(0), Timestamp(0)))?;
        }
        record(batch.db, id, by, change, now)?;
        members = batch.state.members.of(batch.db, id)?;
    }
    let row = one(batch.db, by, id)?.ok_or(Fault::no_row())?;
    Ok(Ok(RoomChanged { row, position: batch.position(), members }))
}

fn change_picture(
    db: &Connection,
    id: ConversationId,
    by: UserId,
    before: &Room,
    after: &Room,
) -> Outcome<Result<(), Refusal>> {
    if before.avatar == after.avatar {
        return Ok(Ok(()));
    }
    if let Some(RoomAvatar::Upload(file)) = after.avatar
        && let Err(refusal) = file::take_room_picture(db, file, id, by)?
    {
        return Ok(Err(refusal));
    }
    if let Some(RoomAvatar::Upload(file)) = before.avatar {
        file::drop_room_picture(db, file)?;
    }
    Ok(Ok(()))
}

/// Removes the room's picture if this user, who is erased with all messages, uploaded it. Returns the changed room.
pub(crate) fn remove_picture_of(
    batch: &mut Batch<'_>,
    row: &RoomRow,
    user: UserId,
) -> Outcome<Option<Arc<Room>>> {
    let Some(RoomAvatar::Upload(id)) = row.room.avatar else { return Ok(None) };
    if file::load(batch.db, id)?.is_some_and(|file| file.owner != user) {
        return Ok(None);
    }
    file::drop_room_picture(batch.db, id)?;
    let mut room = Room::clone(&load(batch.db, row.id)?.map_or_else(|| row.room.clone(), |now| now.room));
    room.avatar = None;
    save(batch, row.id, &room)?;
    Ok(Some(Arc::new(room)))
}

fn record(
    db: &Connection,
    id: ConversationId,
    by: UserId,
    change: &RoomChange,
    time: Timestamp,
) -> Outcome<()> {
    let (by, detail, conversation) = (By::User(by), change.names(), Some(id));
    let act = "change_room";
    audit::note(db, &audit::Entry { site: id.site, by, act, user: None, conversation, detail: &detail, time })
}

fn save(batch: &mut Batch<'_>, id: ConversationId, room: &Room) -> Outcome<()> {
    let changed = batch.next_number();
    let sql = sql!(
        "UPDATE room SET changed = $3, kind = $4, slow_ms = $5, frozen = $6, name = $7, folded = $8, topic = $9, \
               avatar = $10, max_members = $11 WHERE site = $1 AND key = $2"
    );
    batch.db.prepare_cached(sql)?.execute(params![
        id.site.0,
        id.key as i64,
        changed as i64,
        kind_code(room.kind),
        room.slow_ms,
        room.frozen,
        &*room.name,
        fold(&room.name),
        room.topic.as_deref(),
        room.avatar.as_ref().map(avatar_text),
        room.max_members,
    ])?;
    Ok(())
}

pub(crate) fn mark(
    batch: &mut Batch<'_>,
    id: ConversationId,
    user: UserId,
    received: Seq,
    read: Seq,
) -> Outcome<MarkerRow> {
    let nothing = MarkerRow::nothing(batch.position());
    let (Some(room), Some(before)) = (load(batch.db, id)?, membership(batch.db, id, user)?) else {
        return Ok(nothing);
    };
    if !matches!(before.state, MemberState::In(_)) || id.site != user.site {
        return Ok(nothing);
    }
    let newest = room.newest.seq;
    let (received, read) = markers_after((before.received, before.read), (received, read), newest);
    let moved = (received, read) != (before.received, before.read);
    if moved {
        let marks = if read > before.read { before.marks.read() } else { before.marks };
        let sql = sql!(
            "UPDATE membership SET received = $4, read = $5, changed = $6, marks = $7 \
                   WHERE site = $1 AND user = $2 AND room = $3"
        );
        let changed = batch.next_number() as i64;
        let key = (id.site.0, user.num, id.key as i64);
        let values = params![key.0, key.1, key.2, received as i64, read as i64, changed, marks.0];
        batch.db.prepare_cached(sql)?.execute(values)?;
        if read > before.read {
            let sql = sql!("DELETE FROM mention WHERE site = $1 AND room = $2 AND user = $3 AND seq <= $4");
            let values = params![id.site.0, id.key as i64, user.num, read as i64];
            batch.db.prepare_cached(sql)?.execute(values)?;
        }
    }
    let position = batch.position();
    let unread = super::unread(batch.db, &room, read, &mut Blocked::by(user))?;
    let (received, read) = (Seq(received), Seq(read));
    Ok(MarkerRow { received, read, unread, moved, notifies_other: false, position })
}

/// Changes a member's view of the room.
pub(crate) fn change_view(
    batch: &mut Batch<'_>,
    id: ConversationId,
    user: UserId,
    change: &ConversationChange,
) -> Outcome<Result<(ConversationRow, Position), Refusal>> {
    let Ok((room, Some(before))) = allowed(batch.db, id, user, Act::List)? else {
        return Ok(Err(Refusal::NoSuchConversation));
    };
    let Marked { marks, is_new_draft } = match marks::change(batch.db, user, id, before.marks, change)? {
        Ok(marked) => marked,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let archived = match change.archived {
        None => before.archived,
        Some(true) => room.newest.seq + 1,
        Some(false) => 0,
    };
    let after = (change.muted_until.unwrap_or(before.muted_until), marks, archived);
    if after != (before.muted_until, before.marks, before.archived) || is_new_draft {
        let sql = sql!(
            "UPDATE membership SET muted_until = $4, marks = $5, archived = $6, changed = $7 \
                   WHERE site = $1 AND user = $2 AND room = $3"
        );
        let changed = batch.next_number() as i64;
        let key = (id.site.0, user.num, id.key as i64);
        let values = params![key.0, key.1, key.2, after.0.0 as i64, after.1.0, after.2 as i64, changed];
        batch.db.prepare_cached(sql)?.execute(values)?;
    }
    let row = one(batch.db, user, id)?.map(|row| (row, batch.position()));
    Ok(row.ok_or(Refusal::NoSuchConversation))
}

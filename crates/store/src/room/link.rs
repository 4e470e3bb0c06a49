//! Invite links of rooms: created, listed, revoked and used. They end when their author loses the right to have them.

use crate::engine::{Connection, OptionalExtension, Row, params};
use chat::settings::Invitations;
use chat::{
    Act, By, ConversationId, Done, Invited, Joined, LinkCode, LinkStore, NewLink, Refusal, RoomLimits,
    RoomLink, Rules, Settings, SiteId, Standing, Timestamp, UserId, keeps_links, may_make_link, takes_link,
};

use super::{RoomRow, allowed, load, member, membership, standing};
use crate::counter::{self, Counted};
use crate::fault::Outcome;
use crate::moderation::audit;
use crate::sqlite::Sqlite;
use crate::user::{self, sub};
use crate::writer::Batch;

impl LinkStore for Sqlite {
    fn make_link(
        &self,
        room: ConversationId,
        by: UserId,
        new: NewLink,
        now: Timestamp,
        done: Done<Result<RoomLink, Refusal>>,
    ) {
        self.write(move |batch| make(batch.db, room, by, &new, now), done);
    }

    fn links(
        &self,
        room: ConversationId,
        asker: UserId,
        now: Timestamp,
        done: Done<Result<Vec<RoomLink>, Refusal>>,
    ) {
        self.read(move |db| list(db, room, asker, now), done);
    }

    fn take_back_link(
        &self,
        room: ConversationId,
        by: UserId,
        code: LinkCode,
        now: Timestamp,
        done: Done<Result<Vec<RoomLink>, Refusal>>,
    ) {
        self.write(move |batch| take_back(batch.db, room, by, code, now), done);
    }

    fn open_link(
        &self,
        code: LinkCode,
        user: UserId,
        now: Timestamp,
        done: Done<Result<Box<Invited>, Refusal>>,
    ) {
        self.read(move |db| open(db, code, user, now), done);
    }

    fn join_link(
        &self,
        code: LinkCode,
        user: UserId,
        limits: RoomLimits,
        now: Timestamp,
        done: Done<Result<Joined, Refusal>>,
    ) {
        self.write(move |batch| join(batch, code, user, limits, now), done);
    }
}

/// The columns of [`row`], of a link `l` and of its user `u`.
macro_rules! columns {
    () => {
        "l.code, u.sub, l.until, l.uses, l.used"
    };
}

fn make(
    db: &Connection,
    id: ConversationId,
    by: UserId,
    new: &NewLink,
    now: Timestamp,
) -> Outcome<Result<RoomLink, Refusal>> {
    let Some(room) = load(db, id)?.filter(|_| id.site == by.site) else {
        return Ok(Err(Refusal::NoSuchConversation));
    };
    let who = standing(membership(db, id, by)?.as_ref());
    if let Err(refusal) = may_make_link(who, &room.room, invitations(db, id.site)?) {
        return Ok(Err(refusal));
    }
    let key = [i64::from(id.site.0), id.key as i64];
    let ended = sql!("DELETE FROM room_link WHERE site = $1 AND room = $2 AND (until <= $3 OR used >= uses)");
    db.prepare_cached(ended)?.execute(params![key[0], key[1], now.0 as i64])?;
    let count = sql!(
        "SELECT count(*), count(*) FILTER (WHERE user = $3) FROM room_link WHERE site = $1 AND room = $2"
    );
    let (of_room, own) = db
        .prepare_cached(count)?
        .query_row(params![key[0], key[1], by.num], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if let Err(refusal) = takes_link(who, of_room, own) {
        return Ok(Err(refusal));
    }
    let Some(sub) = user::sub_of(db, by)? else { return Ok(Err(Refusal::NoSuchUser)) };
    let NewLink { code, until, uses } = *new;
    let sql = sql!(
        "INSERT INTO room_link (site, code, room, user, until, uses, used, number) \
               VALUES ($1, $2, $3, $4, $5, $6, 0, $7)"
    );
    let number = counter::next(db, id.site, Counted::RoomLink)?;
    let values = params![id.site.0, code.bytes(), id.key as i64, by.num, until.0 as i64, uses, number];
    db.prepare_cached(sql)?.execute(values)?;
    Ok(Ok(RoomLink { code, by: sub, until, uses, used: 0 }))
}

fn list(
    db: &Connection,
    id: ConversationId,
    asker: UserId,
    now: Timestamp,
) -> Outcome<Result<Vec<RoomLink>, Refusal>> {
    let only_of = match only_of(db, id, asker)? {
        Ok(only_of) => only_of,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let sql = sql!(concat!(
        "SELECT ",
        columns!(),
        " FROM room_link l JOIN user u ON u.site = l.site AND u.num = l.user \
         WHERE l.site = $1 AND l.room = $2 AND ($3 IS NULL OR l.user = $3) ORDER BY l.number DESC"
    ));
    let values = params![id.site.0, id.key as i64, only_of];
    let mut statement = db.prepare_cached(sql)?;
    let links = statement.query_map(values, row)?.collect::<Result<Vec<_>, _>>()?;
    Ok(Ok(links.into_iter().filter(|link| link.is_usable(now)).collect()))
}

/// The member whose links the asker may see and revoke, by number. None: those of all members.
fn only_of(db: &Connection, id: ConversationId, asker: UserId) -> Outcome<Result<Option<u32>, Refusal>> {
    if let Err(refusal) = allowed(db, id, asker, Act::List)? {
        return Ok(Err(refusal));
    }
    let moderates = allowed(db, id, asker, Act::Tidy)?.is_ok();
    Ok(Ok((!moderates).then_some(asker.num)))
}

fn take_back(
    db: &Connection,
    id: ConversationId,
    by: UserId,
    code: LinkCode,
    now: Timestamp,
) -> Outcome<Result<Vec<RoomLink>, Refusal>> {
    let only_of = match only_of(db, id, by)? {
        Ok(only_of) => only_of,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let sql = sql!(
        "DELETE FROM room_link \
               WHERE site = $1 AND code = $2 AND room = $3 AND ($4 IS NULL OR user = $4) RETURNING user"
    );
    let values = params![id.site.0, code.bytes(), id.key as i64, only_of];
    let maker: Option<u32> = db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
    if let Some(num) = maker.filter(|num| *num != by.num) {
        let user = Some(UserId { site: id.site, num });
        let (by, act, conversation) = (By::User(by), "end_link", Some(id));
        audit::note(db, &audit::Entry { site: id.site, by, act, user, conversation, detail: "", time: now })?;
    }
    list(db, id, by, now)
}

/// A link that the user may use.
struct Found {
    room: RoomRow,
    who: Standing,
    by: UserId,
    link: RoomLink,
}

fn find(db: &Connection, code: LinkCode, user: UserId, now: Timestamp) -> Outcome<Result<Found, Refusal>> {
    let sql = sql!(concat!(
        "SELECT ",
        columns!(),
        ", l.room, l.user FROM room_link l JOIN user u ON u.site = l.site AND u.num = l.user \
         WHERE l.site = $1 AND l.code = $2"
    ));
    let found = db
        .prepare_cached(sql)?
        .query_row(params![user.site.0, code.bytes()], |found| {
            let room = ConversationId { site: user.site, key: found.get::<_, i64>(5)? as u64 };
            Ok((row(found)?, room, UserId { site: user.site, num: found.get(6)? }))
        })
        .optional()?;
    let Some((link, id, by)) = found else { return Ok(Err(Refusal::BadInvitation)) };
    let Some(room) = load(db, id)? else { return Ok(Err(Refusal::BadInvitation)) };
    let who = member::standing_at(db, id, user, membership(db, id, user)?.as_ref(), now)?;
    Ok(link.admits(who, room.rules(), now).map(|()| Found { room, who, by, link }))
}

fn open(
    db: &Connection,
    code: LinkCode,
    user: UserId,
    now: Timestamp,
) -> Outcome<Result<Box<Invited>, Refusal>> {
    let Found { room, who, by, link } = match find(db, code, user, now)? {
        Ok(found) => found,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let Some(by) = user::by_id(db, by)? else { return Ok(Err(Refusal::BadInvitation)) };
    let (conversation, is_member) = (room.id, who.role().is_some());
    Ok(Ok(Box::new(Invited { conversation, room: room.room, is_member, by, until: link.until })))
}

fn join(
    batch: &mut Batch<'_>,
    code: LinkCode,
    user: UserId,
    limits: RoomLimits,
    now: Timestamp,
) -> Outcome<Result<Joined, Refusal>> {
    let Found { room, .. } = match find(batch.db, code, user, now)? {
        Ok(found) => found,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let joined = member::enter(batch, &room, user, Act::JoinByLink, limits, now)?;
    if joined.as_ref().is_ok_and(|joined| !joined.before) {
        let sql = sql!("UPDATE room_link SET used = used + 1 WHERE site = $1 AND code = $2");
        batch.db.prepare_cached(sql)?.execute(params![user.site.0, code.bytes()])?;
    }
    Ok(joined)
}

fn row(row: &Row<'_>) -> crate::engine::Result<RoomLink> {
    Ok(RoomLink {
        code: LinkCode::of(row.get(0)?),
        by: sub(row, 1)?,
        until: Timestamp(row.get::<_, i64>(2)? as u64),
        uses: row.get(3)?,
        used: row.get(4)?,
    })
}

// ---- how they end ----

/// Call after a member's standing has changed.
pub(super) fn end_of_member(
    db: &Connection,
    id: ConversationId,
    user: UserId,
    who: Standing,
    rules: Rules,
) -> Outcome<()> {
    let key = params![id.site.0, user.num, id.key as i64];
    let has = sql!("SELECT EXISTS (SELECT 1 FROM room_link WHERE site = $1 AND user = $2 AND room = $3)");
    let has: bool = db.prepare_cached(has)?.query_row(key, |row| row.get(0))?;
    if has && !keeps_links(who, rules, invitations(db, id.site)?) {
        end_of_author(db, id, user)?;
    }
    Ok(())
}

/// Call after the room's rules have changed.
pub(super) fn end_in_room(db: &Connection, id: ConversationId, rules: Rules) -> Outcome<()> {
    end_by_rules(db, id, rules, invitations(db, id.site)?)
}

/// The room is closed.
pub(super) fn end_all(db: &Connection, id: ConversationId) -> Outcome<()> {
    for num in authors(db, id)? {
        end_of_author(db, id, UserId { site: id.site, num })?;
    }
    Ok(())
}

/// Ends the links of authors who may not keep them.
fn end_by_rules(db: &Connection, id: ConversationId, rules: Rules, of_site: Invitations) -> Outcome<()> {
    for num in authors(db, id)? {
        let user = UserId { site: id.site, num };
        let who = standing(membership(db, id, user)?.as_ref());
        if !keeps_links(who, rules, of_site) {
            end_of_author(db, id, user)?;
        }
    }
    Ok(())
}

/// Call after the site's rules have changed.
pub(crate) fn end_on_site(db: &Connection, site: SiteId, of_site: Invitations) -> Outcome<()> {
    // Only this rule ends links; with others, skip the site's rooms, which may be many.
    if !of_site.moderators_only {
        return Ok(());
    }
    let sql = sql!("SELECT DISTINCT room FROM room_link WHERE site = $1");
    let mut statement = db.prepare_cached(sql)?;
    let rooms = statement.query_map([site.0], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    for key in rooms {
        let id = ConversationId { site, key: key as u64 };
        let Some(room) = load(db, id)? else { continue };
        end_by_rules(db, id, room.rules(), of_site)?;
    }
    Ok(())
}

/// Numbers of the users who made links of the room.
fn authors(db: &Connection, id: ConversationId) -> Outcome<Vec<u32>> {
    let sql = sql!("SELECT DISTINCT user FROM room_link WHERE site = $1 AND room = $2");
    let mut statement = db.prepare_cached(sql)?;
    let users = statement.query_map(params![id.site.0, id.key as i64], |row| row.get(0))?;
    Ok(users.collect::<Result<_, _>>()?)
}

fn end_of_author(db: &Connection, id: ConversationId, user: UserId) -> Outcome<()> {
    let sql = sql!("DELETE FROM room_link WHERE site = $1 AND user = $2 AND room = $3");
    db.prepare_cached(sql)?.execute(params![id.site.0, user.num, id.key as i64])?;
    Ok(())
}

/// Ends the links of a user who is banned from the site.
pub(crate) fn end_of_user(db: &Connection, user: UserId) -> Outcome<()> {
    let sql = sql!("DELETE FROM room_link WHERE site = $1 AND user = $2");
    db.prepare_cached(sql)?.execute([user.site.0, user.num])?;
    Ok(())
}

/// The stored rules of the site.
fn invitations(db: &Connection, site: SiteId) -> Outcome<Invitations> {
    let sql = sql!("SELECT settings FROM site WHERE id = $1");
    let document: Option<String> =
        db.prepare_cached(sql)?.query_row([site.0], |row| row.get(0)).optional()?;
    Ok(document.map(|document| Settings::parse(&document).invitations).unwrap_or_default())
}

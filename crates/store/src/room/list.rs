//! Pages of a room's members and of a site's rooms.

use crate::engine::{Connection, params};
use chat::{
    Act, ConversationId, MOST_SEEN_BY, Markers, MemberRow, MemberSanction, MemberState, MembersPage, Refusal,
    RoomMembers, RoomsPage, SanctionedPage, Seq, Standing, Timestamp, UserId,
    directory::{finds, fold, fold_query},
    sanction_behind,
};

use super::{allowed, columns, membership, row};
use crate::fault::Outcome;
use crate::moderation::sanction;
use crate::user;

pub(crate) fn members(
    db: &Connection,
    id: ConversationId,
    asker: UserId,
    query: Option<&str>,
    after: Option<&str>,
    limit: u32,
) -> Outcome<Result<MembersPage, Refusal>> {
    let has_markers = match allowed(db, id, asker, Act::List)? {
        Ok((room, membership)) => {
            let is_member = membership.is_some_and(|mine| matches!(mine.state, MemberState::In(_)));
            is_member && room.room.members <= MOST_SEEN_BY
        }
        Err(refusal) => return Ok(Err(refusal)),
    };
    let query = fold_query(query.unwrap_or_default());
    let after = Place::parse(after.unwrap_or_default());
    let sql = sql!(concat!(
        "SELECT state, folded, sub, user FROM membership",
        indexed_by!("membership_room"),
        " WHERE site = $1 AND room = $2 AND state < 8 AND (state, folded, sub) > ($3, $4, $5) \
               ORDER BY state, folded, sub"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let mut found =
        statement.query(params![id.site.0, id.key as i64, after.state, after.folded, after.sub])?;
    let (mut rows, mut markers, mut last, mut next) = (Vec::new(), Vec::new(), None, None);
    while let Some(member) = found.next()? {
        let folded = user::text(&member, 1)?;
        if !finds(folded, &query) {
            continue;
        }
        if rows.len() == limit as usize {
            next = last;
            break;
        }
        let state: i64 = member.get(0)?;
        last = Some(format!("{state}{folded}\0{}", user::text(&member, 2)?));
        let user = UserId { site: id.site, num: member.get(3)? };
        if let Some(user) = user::by_id(db, user)? {
            if has_markers {
                markers.push(markers_of(db, id, user.id)?);
            }
            rows.push(MemberRow { user, standing: super::state_of(state).standing() });
        }
    }
    Ok(Ok(MembersPage { rows, markers, next }))
}

/// Sorted by user number.
pub(crate) fn sanctioned(
    db: &Connection,
    id: ConversationId,
    asker: UserId,
    after: Option<&str>,
    limit: u32,
    now: Timestamp,
) -> Outcome<Result<SanctionedPage, Refusal>> {
    if let Err(refusal) = allowed(db, id, asker, Act::Unban(Standing::Banned))? {
        return Ok(Err(refusal));
    }
    let after: u32 = after.and_then(|number| number.parse().ok()).unwrap_or(0);
    let sql = sql!(concat!(
        "SELECT user, state FROM (\
               SELECT user, state FROM membership",
        indexed_by!("membership_room"),
        " WHERE site = $1 AND room = $2 AND state = 3 AND state < 8 \
               UNION ALL \
               SELECT user, state FROM membership",
        indexed_by!("membership_banned"),
        " WHERE site = $1 AND room = $2 AND state = 10) AS outside \
               WHERE user > $3 ORDER BY user"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let mut found = statement.query(params![id.site.0, id.key as i64, after])?;
    let (mut rows, mut next): (Vec<(MemberRow, MemberSanction)>, _) = (Vec::new(), None);
    while let Some(row) = found.next()? {
        let (user, state) = (UserId { site: id.site, num: row.get(0)? }, row.get(1)?);
        let standing = super::state_of(state).standing();
        let Some(kind) = sanction_behind(standing) else { continue };
        let kept = sanction::of_member(db, id, user, kind)?.unwrap_or_else(MemberSanction::without_end);
        if kept.until <= now {
            continue;
        }
        if rows.len() == limit as usize {
            next = rows.last().map(|(row, _)| format!("{:010}", row.user.id.num));
            break;
        }
        if let Some(user) = user::by_id(db, user)? {
            rows.push((MemberRow { user, standing }, kept));
        }
    }
    Ok(Ok(SanctionedPage { rows, next }))
}

fn markers_of(db: &Connection, id: ConversationId, user: UserId) -> Outcome<Markers> {
    let of = super::membership(db, id, user)?;
    Ok(of.map_or((Seq(0), Seq(0)), |of| (Seq(of.received), Seq(of.read))))
}

/// The end of a page: a digit for the state, the folded name, NUL, the sub.
struct Place<'a> {
    state: i64,
    folded: &'a str,
    sub: &'a str,
}

impl Place<'_> {
    /// An unknown cursor starts from the beginning.
    fn parse(cursor: &str) -> Place<'_> {
        let state = cursor.get(..1).and_then(|digit| digit.parse().ok());
        let (folded, sub) = cursor.get(1..).and_then(|rest| rest.split_once('\0')).unwrap_or_default();
        Place { state: state.unwrap_or(-1), folded, sub }
    }
}

pub(crate) fn few(
    db: &Connection,
    id: ConversationId,
    asker: UserId,
    most: u32,
) -> Outcome<Result<Vec<UserId>, Refusal>> {
    match allowed(db, id, asker, Act::Post)? {
        Ok((room, _)) if room.room.members <= most => {}
        Ok(_) => return Ok(Err(Refusal::RoomTooLarge)),
        Err(refusal) => return Ok(Err(refusal)),
    }
    let sql = sql!(concat!(
        "SELECT user FROM membership",
        indexed_by!("membership_room"),
        " WHERE site = $1 AND room = $2 AND state < 8 \
               LIMIT $3"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let member = |row: &crate::engine::Row<'_>| Ok(UserId { site: id.site, num: row.get(0)? });
    let users = statement.query_map(params![id.site.0, id.key as i64, most], member)?;
    Ok(Ok(users.collect::<Result<_, _>>()?))
}

/// All members by number, and those of `users` who are members.
pub(crate) fn all(db: &Connection, id: ConversationId, users: &[UserId]) -> Outcome<RoomMembers> {
    let sql = sql!(concat!(
        "SELECT user FROM membership",
        indexed_by!("membership_room"),
        " WHERE site = $1 AND room = $2 AND state < 8"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let member = |row: &crate::engine::Row<'_>| Ok(UserId { site: id.site, num: row.get(0)? });
    let members = statement.query_map(params![id.site.0, id.key as i64], member)?;
    let members: Vec<UserId> = members.collect::<Result<_, _>>()?;
    let mut joined = Vec::new();
    for user in users {
        let is_in =
            matches!(membership(db, id, *user)?, Some(mine) if matches!(mine.state, MemberState::In(_)));
        if is_in && let Some(row) = user::by_id(db, *user)? {
            joined.push(row);
        }
    }
    Ok(RoomMembers { members, joined })
}

/// The directory of rooms.
pub(crate) fn rooms(
    db: &Connection,
    site: chat::SiteId,
    query: Option<&str>,
    after: Option<&str>,
    limit: u32,
) -> Outcome<RoomsPage> {
    let query = fold(query.unwrap_or_default().trim_start());
    // No text that begins with the query is greater than the query followed by the greatest character.
    let end = format!("{query}\u{10ffff}");
    let (folded, key) = after.and_then(parse_cursor).unwrap_or((&query, i64::MIN));
    let sql = sql!(concat!(
        "SELECT ",
        columns!(),
        " FROM room",
        indexed_by!("room_name"),
        " WHERE site = $1 AND page IS NULL AND kind <> 1 AND kind <> 3 \
         AND (folded, key) > ($2, $3) AND folded >= $4 AND folded < $5 ORDER BY folded, key LIMIT $6"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let values = params![site.0, folded, key, query, end, limit + 1];
    let rows = statement.query_map(values, |r| row(site, r))?;
    let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next =
        rows.last().filter(|_| more).map(|row| format!("{}\0{}", fold(&row.room.name), row.id.key as i64));
    let rows = rows.into_iter().map(|row| (row.id, (*row.room).clone())).collect();
    Ok(RoomsPage { rows, next })
}

fn parse_cursor(cursor: &str) -> Option<(&str, i64)> {
    let (folded, key) = cursor.split_once('\0')?;
    Some((folded, key.parse().ok()?))
}

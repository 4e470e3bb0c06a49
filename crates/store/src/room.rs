//! Rooms and their members: rows and reads.

pub(crate) mod change;
mod close;
pub(crate) mod known_members;
pub(crate) mod link;
pub(crate) mod list;
pub(crate) mod member;
pub(crate) mod nickname;
pub(crate) mod post;
pub(crate) mod request;
mod store;

use std::borrow::Cow;
use std::sync::Arc;

use crate::engine::{Connection, OptionalExtension, Row, params};
use chat::{
    Act, ConversationId, ConversationList, ConversationOf, ConversationRow, FileId, HistoryPage, LeftReason,
    MemberState, Refusal, Role, Room, RoomAvatar, RoomKind, RoomName, Rules, Seq, SiteId, SiteRole, Standing,
    Timestamp, UserId, is_left_out, may, may_as_site_moderator,
};

use crate::contact::Blocked;
use crate::conversation::Place;
use crate::fault::Outcome;
use crate::marks::{self, Marks};
use crate::message::{self, Lines, Newest};
use crate::user;

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RoomRow {
    pub(crate) id: ConversationId,
    pub(crate) newest: Newest,
    pub(crate) active: Timestamp,
    pub(crate) changed: u64,
    pub(crate) room: Arc<Room>,
}

/// A present or former member of a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Membership {
    pub(crate) state: MemberState,
    pub(crate) received: u64,
    pub(crate) read: u64,
    pub(crate) sent: Timestamp,
    pub(crate) muted_until: Timestamp,
    pub(crate) marks: Marks,
    /// See the table.
    pub(crate) archived: u64,
    pub(crate) changed: u64,
}

pub(crate) fn state_code(state: MemberState) -> i64 {
    match state {
        MemberState::In(Role::Owner) => 0,
        MemberState::In(Role::Moderator) => 1,
        MemberState::In(Role::Member) => 2,
        MemberState::In(Role::Muted) => 3,
        MemberState::Out(LeftReason::Left) => 8,
        MemberState::Out(LeftReason::Removed) => 9,
        MemberState::Out(LeftReason::Banned) => 10,
        MemberState::Out(LeftReason::Closed) => 11,
    }
}

pub(crate) fn state_of(code: i64) -> MemberState {
    match code {
        0 => MemberState::In(Role::Owner),
        1 => MemberState::In(Role::Moderator),
        2 => MemberState::In(Role::Member),
        3 => MemberState::In(Role::Muted),
        8 | close::LEFT_AS_LAST => MemberState::Out(LeftReason::Left),
        9 => MemberState::Out(LeftReason::Removed),
        11 | close::WAS_OWNER => MemberState::Out(LeftReason::Closed),
        // A member with an unknown state, from a newer program, is kept out.
        _ => MemberState::Out(LeftReason::Banned),
    }
}

/// The standing of a user; without a row the user is an outsider.
pub(crate) fn standing(membership: Option<&Membership>) -> Standing {
    membership.map_or(Standing::Out, |membership| membership.state.standing())
}

impl RoomRow {
    /// The rules for acts that slow mode does not limit.
    pub(crate) fn rules(&self) -> Rules {
        self.room.rules(Timestamp(0), Timestamp(0))
    }

    pub(crate) fn is_archived_for(&self, membership: &Membership) -> bool {
        membership.archived == self.newest.seq + 1
    }

    pub(crate) fn is_listed(
        &self,
        db: &Connection,
        user: UserId,
        mine: &Membership,
        list: ConversationList,
        blocked: &mut Blocked,
    ) -> Outcome<bool> {
        let is_archived = self.is_archived_for(mine);
        let has_news = self.newest.seq > mine.read;
        let mut is_unread = || Outcome::Ok(has_news && unread(db, self, mine.read, blocked)? > 0);
        Ok(match list {
            ConversationList::Main => !is_archived,
            ConversationList::Archived => is_archived,
            ConversationList::Unread | ConversationList::Waiting => {
                !is_archived && (mine.marks.is_unread() || is_unread()?)
            }
            ConversationList::Mentions => {
                !is_archived && has_news && mentions(db, self.id, user, mine.read)? > 0
            }
        })
    }

    pub(crate) fn place(&self, membership: &Membership) -> Place {
        Place::new(membership.marks.is_pinned(), self.active, self.id)
    }
}

// ---- reads ----

/// The columns of [`row`], which takes the site from the query.
macro_rules! columns {
    () => {
        "key, seq, position, active, changed, members, kind, slow_ms, frozen, name, topic, avatar, page, max_members, alias, nicknames"
    };
}
pub(crate) use columns;

pub(crate) fn load(db: &Connection, id: ConversationId) -> Outcome<Option<RoomRow>> {
    let sql = sql!(concat!("SELECT ", columns!(), " FROM room WHERE site = $1 AND key = $2"));
    let values = params![id.site.0, id.key as i64];
    Ok(db.prepare_cached(sql)?.query_row(values, |r| row(id.site, r)).optional()?)
}

/// Finds a room by its id or by its page.
pub(crate) fn find(db: &Connection, name: &RoomName) -> Outcome<Option<RoomRow>> {
    match name {
        RoomName::Id(id) => load(db, *id),
        RoomName::Page(site, page) => {
            let sql = sql!(concat!("SELECT ", columns!(), " FROM room WHERE site = $1 AND page = $2"));
            let values = params![site.0, page.as_str()];
            Ok(db.prepare_cached(sql)?.query_row(values, |r| row(*site, r)).optional()?)
        }
    }
}

pub(crate) fn of_alias(db: &Connection, site: SiteId, alias: &str) -> Outcome<Option<RoomRow>> {
    let sql = sql!(concat!("SELECT ", columns!(), " FROM room WHERE site = $1 AND alias = $2"));
    Ok(db.prepare_cached(sql)?.query_row(params![site.0, alias], |r| row(site, r)).optional()?)
}

pub(crate) fn membership(db: &Connection, id: ConversationId, user: UserId) -> Outcome<Option<Membership>> {
    if id.site != user.site {
        return Ok(None);
    }
    let sql = sql!(
        "SELECT state, received, read, sent, muted_until, marks, archived, changed FROM membership \
               WHERE site = $1 AND user = $2 AND room = $3"
    );
    let values = params![id.site.0, user.num, id.key as i64];
    Ok(db.prepare_cached(sql)?.query_row(values, |row| parse_membership(row, 0)).optional()?)
}

/// The room and the user's membership, or the reason why the user may not do this.
pub(crate) fn allowed(
    db: &Connection,
    id: ConversationId,
    user: UserId,
    act: Act,
) -> Outcome<Result<(RoomRow, Option<Membership>), Refusal>> {
    let Some(room) = load(db, id)?.filter(|_| id.site == user.site) else {
        return Ok(Err(Refusal::NoSuchConversation));
    };
    let membership = membership(db, id, user)?;
    let mut allowed = may(standing(membership.as_ref()), act, room.rules());
    // A moderator of the site is checked only after a refusal, so that acts of members cost nothing more.
    if allowed.is_err()
        && act.is_moderation()
        && user::by_id(db, user)?.is_some_and(|row| row.on_site.role >= SiteRole::Moderator)
    {
        allowed = may_as_site_moderator(act, room.rules());
    }
    Ok(allowed.map(|()| (room, membership)))
}

/// Every room of which the user is or was a member, in no order.
pub(crate) fn each(
    db: &Connection,
    user: UserId,
    mut visit: impl FnMut(ConversationId, &Membership) -> Outcome<()>,
) -> Outcome<()> {
    let sql = sql!(
        "SELECT room, state, received, read, sent, muted_until, marks, archived, changed FROM membership \
               WHERE site = $1 AND user = $2"
    );
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([user.site.0, user.num])?;
    while let Some(row) = rows.next()? {
        let id = ConversationId { site: user.site, key: row.get::<_, i64>(0)? as u64 };
        visit(id, &parse_membership(&row, 1)?)?;
    }
    Ok(())
}

/// The room as its member sees it; None if the user is not a member.
pub(crate) fn one(db: &Connection, user: UserId, id: ConversationId) -> Outcome<Option<ConversationRow>> {
    let (Some(room), Some(membership)) = (load(db, id)?, membership(db, id, user)?) else { return Ok(None) };
    seen(db, &mut Lines::new(db, user)?, user, &room, &membership)
}

pub(crate) fn seen(
    db: &Connection,
    lines: &mut Lines<'_>,
    user: UserId,
    row: &RoomRow,
    mine: &Membership,
) -> Outcome<Option<ConversationRow>> {
    let MemberState::In(role) = mine.state else { return Ok(None) };
    let last = match row.newest.seq {
        0 => None,
        _ => lines.at(row.newest.position)?.map(|line| line.message),
    };
    Ok(Some(ConversationRow {
        id: row.id,
        of: ConversationOf::Room { room: row.room.clone(), role },
        last,
        received: Seq(mine.received),
        read: Seq(mine.read),
        their_received: Seq(0),
        their_read: Seq(0),
        blocked: false,
        unread: unread(db, row, mine.read, &mut lines.blocked)?,
        mentions: mentions(db, row.id, user, mine.read)?,
        muted_until: mine.muted_until,
        pinned: mine.marks.is_pinned(),
        archived: row.is_archived_for(mine),
        request: None,
        requested_by: None,
        marked_unread: mine.marks.is_unread(),
        draft: marks::draft(db, user, row.id, mine.marks)?,
        active: row.active,
    }))
}

/// Counts messages after `read` by authors whom the reader has not blocked. Examines the messages only if the reader
/// has blocked a user.
pub(crate) fn unread(db: &Connection, row: &RoomRow, read: u64, blocked: &mut Blocked) -> Outcome<u64> {
    let all = row.newest.seq.saturating_sub(read);
    if all == 0 {
        return Ok(0);
    }
    if blocked.others(db)?.is_empty() {
        return Ok(all);
    }
    let looked_at = blocked.take(all);
    let blocked = blocked.others(db)?;
    let mut hop = db.prepare_cached(sql!("SELECT previous, sender FROM message WHERE position = $1"))?;
    let (mut position, mut left_out) = (row.newest.position as i64, 0);
    for _ in 0..looked_at {
        let found = hop.query_row([position], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, u32>(1)?)));
        let Some((previous, sender)) = found.optional()? else { break };
        left_out += u64::from(is_left_out(row.id, blocked.contains(&sender)));
        position = previous;
    }
    Ok(all - left_out)
}

/// Counting stops here.
const MOST_COUNTED: u32 = 1_000;

/// Counts messages after `read` that mention this member or everybody, by authors whom the member has not blocked.
fn mentions(db: &Connection, id: ConversationId, user: UserId, read: u64) -> Outcome<u64> {
    let sql = sql!(
        "SELECT count(*) FROM (SELECT seq, author FROM mention WHERE site = $1 AND room = $2 AND user = $3 AND seq > $5 \
               UNION SELECT seq, author FROM mention WHERE site = $1 AND room = $2 AND user = $4 AND seq > $5 LIMIT $6) AS named \
               WHERE NOT EXISTS (SELECT 1 FROM contact WHERE site = $1 AND user = $3 AND other = author AND state = 4)"
    );
    let values = params![id.site.0, id.key as i64, user.num, ALL, read as i64, MOST_COUNTED];
    Ok(db.prepare_cached(sql)?.query_row(values, |row| row.get::<_, i64>(0))? as u64)
}

/// In place of a user number: the message mentions all members.
pub(crate) const ALL: u32 = 0;

pub(crate) fn history(
    db: &Connection,
    name: &RoomName,
    asker: UserId,
    before: Option<Seq>,
    after: Option<Seq>,
    limit: u32,
) -> Outcome<Result<(Option<ConversationId>, HistoryPage), Refusal>> {
    let empty = HistoryPage { messages: Vec::new(), more: false };
    let Some(room) = find(db, name)?.filter(|room| room.id.site == asker.site) else {
        return Ok(match name {
            RoomName::Page(site, _) if *site == asker.site => Ok((None, empty)),
            RoomName::Id(_) | RoomName::Page(..) => Err(Refusal::NoSuchConversation),
        });
    };
    let membership = membership(db, room.id, asker)?;
    if let Err(refusal) = may(standing(membership.as_ref()), Act::Read, room.rules()) {
        return Ok(Err(refusal));
    }
    let page = message::page(db, asker, room.id, room.newest, before, after, limit)?;
    Ok(Ok((Some(room.id), page)))
}

pub(crate) fn row(site: SiteId, row: &Row<'_>) -> crate::engine::Result<RoomRow> {
    let number = |column: usize| Ok::<u64, crate::engine::Error>(row.get::<_, i64>(column)? as u64);
    let text = |column: usize| Ok::<_, crate::engine::Error>(user::maybe_text(row, column)?.map(Arc::from));
    let room = Room {
        members: row.get(5)?,
        kind: match number(6)? {
            0 => RoomKind::Public,
            2 => RoomKind::Announcement,
            // A closed room, too: without members, it exists for nobody.
            _ => RoomKind::Private,
        },
        slow_ms: row.get(7)?,
        frozen: row.get(8)?,
        name: user::text(row, 9)?.into(),
        topic: text(10)?,
        avatar: user::maybe_text(row, 11)?.map(|text| parse_avatar(site, text)),
        page: text(12)?,
        max_members: row.get(13)?,
        alias: text(14)?,
        nicknames: number(15)?,
    };
    Ok(RoomRow {
        id: ConversationId { site, key: number(0)? },
        newest: Newest { seq: number(1)?, position: number(2)? },
        active: Timestamp(number(3)?),
        changed: number(4)?,
        room: Arc::new(room),
    })
}

/// The prefix of `room.avatar` for an uploaded picture; an address never has it.
const UPLOAD: &str = "upload:";

fn parse_avatar(site: SiteId, text: &str) -> RoomAvatar {
    let number = text.strip_prefix(UPLOAD).and_then(|number| u64::from_str_radix(number, 16).ok());
    match number {
        Some(number) => RoomAvatar::Upload(FileId { site, number }),
        None => RoomAvatar::Address(text.into()),
    }
}

/// The text of the column `avatar`.
fn avatar_text(avatar: &RoomAvatar) -> Cow<'_, str> {
    match avatar {
        RoomAvatar::Address(text) => Cow::Borrowed(text),
        RoomAvatar::Upload(file) => format!("{UPLOAD}{:016x}", file.number).into(),
    }
}

fn parse_membership(row: &Row<'_>, at: usize) -> crate::engine::Result<Membership> {
    let number = |column: usize| Ok::<u64, crate::engine::Error>(row.get::<_, i64>(at + column)? as u64);
    Ok(Membership {
        state: state_of(row.get(at)?),
        received: number(1)?,
        read: number(2)?,
        sent: Timestamp(number(3)?),
        muted_until: Timestamp(number(4)?),
        marks: Marks(row.get(at + 5)?),
        archived: number(6)?,
        changed: number(7)?,
    })
}

pub(crate) fn kind_code(kind: RoomKind) -> i64 {
    match kind {
        RoomKind::Public => 0,
        RoomKind::Private => 1,
        RoomKind::Announcement => 2,
    }
}

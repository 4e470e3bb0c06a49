//! Users: by sub, by number, and the directory.

mod store;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::engine::{Connection, OptionalExtension, Row, params};
use chat::{
    Level, MessagesAfterErasure, PeoplePage, Privacy, Profile, SetPresence, SiteId, SiteRole, SiteStanding,
    Sub, Timestamp, UserId, UserRow,
    directory::{finds, fold, fold_query, word_starts},
};

use crate::counter::{self, Counted};
use crate::fault::Outcome;
use crate::writer::Batch;
use crate::{contact, merge, meta, moderation, own_picture, room};

/// Whether the profile in a token was new, changed, or stored before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    New,
    Changed,
    Before,
}

// ---- writes ----

/// `number`: of a new user, higher than those of all users of the site.
pub(crate) fn put(
    db: &Connection,
    site: SiteId,
    profile: &Profile,
    now: Timestamp,
    number: impl FnOnce() -> Outcome<u32>,
) -> Outcome<(UserRow, Seen)> {
    match by_sub(db, site, &profile.sub)? {
        // A guest's token does not change a member.
        Some(row) if profile.guest && !row.profile.guest => Ok((row, Seen::Before)),
        None if profile.guest
            && let Some(member) = merge::member(db, site, &profile.sub)? =>
        {
            Ok((member, Seen::Before))
        }
        Some(row) if own_picture::is_as(db, &row, profile)? => Ok((row, Seen::Before)),
        Some(row) => {
            let after = own_picture::after_token(db, row.id, row.profile_after(profile.clone()))?;
            Ok((update(db, &row, &after)?, Seen::Changed))
        }
        None => {
            let row = insert(db, UserId { site, num: number()? }, profile, now)?;
            Ok((moderation::erased::restore_sanctions(db, row, now)?, Seen::New))
        }
    }
}

pub(crate) fn put_with_number(
    batch: &mut Batch<'_>,
    site: SiteId,
    profile: &Profile,
    now: Timestamp,
) -> Outcome<(UserRow, Seen)> {
    let (row, seen) = put(batch.db, site, profile, now, || batch.next_user(site))?;
    if seen != Seen::Before {
        batch.next_number();
    }
    Ok((row, seen))
}

fn insert(db: &Connection, id: UserId, profile: &Profile, now: Timestamp) -> Outcome<UserRow> {
    let folded = fold(&profile.name);
    let sql = sql!(
        "INSERT INTO user (site, sub, num, name, folded, avatar, guest, presence, banned, created, last_seen) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, $8, $8)"
    );
    db.prepare_cached(sql)?.execute(params![
        id.site.0,
        profile.sub.as_str(),
        id.num,
        &*profile.name,
        folded,
        profile.avatar.as_deref(),
        profile.guest,
        now.0 as i64
    ])?;
    put_words(db, id.site, &profile.sub, &folded)?;
    Ok(UserRow {
        id,
        profile: profile.clone(),
        presence: SetPresence::Online,
        banned: false,
        on_site: SiteStanding::default(),
        privacy: Privacy::default(),
        named: false,
        created: now,
        last_seen: now,
    })
}

/// Sets the time at which another system created the user.
pub(crate) fn set_created(db: &Connection, user: UserId, created: Timestamp) -> Outcome<()> {
    let sql = sql!("UPDATE user SET created = $3, last_seen = $3 WHERE site = $1 AND num = $2");
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, created.0 as i64])?;
    Ok(())
}

/// The number of the newest user of this site; 0 if there is none.
pub(crate) fn newest(db: &Connection, site: SiteId) -> Outcome<u32> {
    Ok(counter::last(db, site, Counted::User)? as u32)
}

pub(crate) fn update(db: &Connection, row: &UserRow, profile: &Profile) -> Outcome<UserRow> {
    let site = row.id.site;
    let (before, folded) = (fold(&row.profile.name), fold(&profile.name));
    let sql =
        sql!("UPDATE user SET name = $3, folded = $4, avatar = $5, guest = $6 WHERE site = $1 AND sub = $2");
    db.prepare_cached(sql)?.execute(params![
        site.0,
        profile.sub.as_str(),
        &*profile.name,
        folded,
        profile.avatar.as_deref(),
        profile.guest
    ])?;
    if before != folded {
        let remove = sql!("DELETE FROM name_word WHERE site = $1 AND rest = $2 AND sub = $3");
        for at in later_words(&before) {
            db.prepare_cached(remove)?.execute(params![site.0, &before[at..], profile.sub.as_str()])?;
        }
        put_words(db, site, &profile.sub, &folded)?;
    }
    contact::update_card(db, row.id, profile)?;
    if before != folded {
        room::member::rename(db, row.id, &folded)?;
    }
    Ok(UserRow { profile: profile.clone(), ..row.clone() })
}

fn put_words(db: &Connection, site: SiteId, sub: &Sub, folded: &str) -> Outcome<()> {
    for at in later_words(folded) {
        db.prepare_cached(sql!("INSERT INTO name_word VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"))?
            .execute(params![site.0, &folded[at..], sub.as_str()])?;
    }
    Ok(())
}

pub(crate) fn put_presence(
    db: &Connection,
    user: UserId,
    presence: SetPresence,
    last_seen: Timestamp,
) -> Outcome<()> {
    let sql = sql!("UPDATE user SET presence = $3, last_seen = $4 WHERE site = $1 AND num = $2");
    let presence = match presence {
        SetPresence::Online => 0,
        SetPresence::Away => 1,
        SetPresence::Busy => 2,
        SetPresence::Invisible => 3,
    };
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, presence, last_seen.0 as i64])?;
    Ok(())
}

pub(crate) fn set_banned(db: &Connection, user: UserId, banned: bool) -> Outcome<bool> {
    let sql = sql!("UPDATE user SET banned = $3 WHERE site = $1 AND num = $2");
    let found = db.prepare_cached(sql)?.execute(params![user.site.0, user.num, banned])? > 0;
    if found {
        meta::bump_revision(db)?;
    }
    if banned {
        room::link::end_of_user(db, user)?;
    }
    Ok(found)
}

/// Makes a guest a member with this id, which no other user has.
pub(crate) fn become_member(db: &Connection, row: &UserRow, sub: &Sub) -> Outcome<()> {
    let id = row.id;
    let folded = fold(&row.profile.name);
    for at in later_words(&folded) {
        let remove = sql!("DELETE FROM name_word WHERE site = $1 AND rest = $2 AND sub = $3");
        let values = params![id.site.0, &folded[at..], row.profile.sub.as_str()];
        db.prepare_cached(remove)?.execute(values)?;
    }
    let sql = sql!("UPDATE user SET sub = $3, guest = 0 WHERE site = $1 AND num = $2");
    db.prepare_cached(sql)?.execute(params![id.site.0, id.num, sub.as_str()])?;
    put_words(db, id.site, sub, &folded)?;
    let sql = sql!("UPDATE membership SET sub = $3 WHERE site = $1 AND user = $2");
    db.prepare_cached(sql)?.execute(params![id.site.0, id.num, sub.as_str()])?;
    meta::bump_revision(db)
}

/// Removes everything that identifies the user. The row is banned, so that it cannot be found or written to.
pub(crate) fn become_nobody(
    db: &Connection,
    row: &UserRow,
    alias: &Sub,
    name: &str,
    messages: MessagesAfterErasure,
) -> Outcome<()> {
    let id = row.id;
    let remove = sql!("DELETE FROM name_word WHERE site = $1 AND rest = $2 AND sub = $3");
    let before = fold(&row.profile.name);
    for at in later_words(&before) {
        let values = params![id.site.0, &before[at..], row.profile.sub.as_str()];
        db.prepare_cached(remove)?.execute(values)?;
    }
    let sql = sql!(
        "UPDATE user SET sub = $3, name = $4, folded = $5, avatar = NULL, guest = 0, presence = 3, banned = 1, \
               standing = 0, choices = $6, last_seen = 0 WHERE site = $1 AND num = $2"
    );
    let folded = fold(name);
    let choices = match messages {
        MessagesAfterErasure::Erased => NAMED | ERASED,
        MessagesAfterErasure::Kept => NAMED,
    };
    let values = params![id.site.0, id.num, alias.as_str(), name, folded, choices];
    db.prepare_cached(sql)?.execute(values)?;
    let sql = sql!("UPDATE membership SET folded = $3, sub = $4 WHERE site = $1 AND user = $2");
    db.prepare_cached(sql)?.execute(params![id.site.0, id.num, folded, alias.as_str()])?;
    meta::bump_revision(db)
}

/// The user chose the name.
const NAMED: i64 = 64;
/// The user is erased with all messages: readers get them as deleted, even before their bodies are removed.
const ERASED: i64 = 128;

pub(crate) fn set_choices(db: &Connection, user: UserId, privacy: Privacy, named: bool) -> Outcome<()> {
    let code = i64::from(privacy.code()) + if named { NAMED } else { 0 };
    let sql = sql!("UPDATE user SET choices = $3 WHERE site = $1 AND num = $2");
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, code])?;
    Ok(())
}

/// The site forbids chosen names: each user gets the site's name at the next sign-in.
pub(crate) fn unname_all(db: &Connection, site: SiteId) -> Outcome<()> {
    let sql =
        sql!("UPDATE user SET choices = choices - $2 WHERE site = $1 AND choices <> 0 AND choices & $2 <> 0");
    db.prepare_cached(sql)?.execute(params![site.0, NAMED])?;
    Ok(())
}

/// Other threads and processes notice the change by the revision.
pub(crate) fn set_standing(db: &Connection, user: UserId, standing: SiteStanding) -> Outcome<()> {
    let role = match standing.role {
        SiteRole::Member => 0,
        SiteRole::Moderator => 1,
        SiteRole::Admin => 2,
    };
    let bits = [(standing.muted, 4), (standing.noticed, 8), (standing.shadowed, 16), (standing.fixed, 32)];
    let code = bits.into_iter().fold(role, |code, (is_set, bit)| if is_set { code + bit } else { code });
    let sql = sql!("UPDATE user SET standing = $3 WHERE site = $1 AND num = $2");
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, code])?;
    meta::bump_revision(db)
}

/// None: the level that the user reaches by activity.
pub(crate) fn set_level(db: &Connection, user: UserId, level: Option<Level>) -> Outcome<()> {
    let Some(row) = by_id(db, user)? else { return Ok(()) };
    put_level(db, user, level.unwrap_or_default())?;
    set_standing(db, user, SiteStanding { fixed: level.is_some(), ..row.on_site })
}

/// Keeps a level that is set or higher.
pub(crate) fn keep_level(db: &Connection, user: UserId, level: Level) -> Outcome<Option<UserRow>> {
    if by_id(db, user)?.is_some_and(|row| row.on_site.rises_to(level)) {
        put_level(db, user, level)?;
    }
    by_id(db, user)
}

fn put_level(db: &Connection, user: UserId, level: Level) -> Outcome<()> {
    let code = match level {
        Level::New => 0,
        Level::Basic => 1,
        Level::Trusted => 2,
    };
    let sql = sql!("UPDATE user SET level = $3 WHERE site = $1 AND num = $2");
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, code])?;
    Ok(())
}

fn standing(code: i64, level: i64) -> SiteStanding {
    let role = match code & 3 {
        1 => SiteRole::Moderator,
        2 => SiteRole::Admin,
        _ => SiteRole::Member,
    };
    let level = match level {
        0 => Level::New,
        1 => Level::Basic,
        _ => Level::Trusted,
    };
    let has = |bit| code & bit != 0;
    SiteStanding { role, muted: has(4), noticed: has(8), shadowed: has(16), level, fixed: has(32) }
}

/// Offsets of words after the first. The index by name finds the beginning of the name itself.
fn later_words(folded: &str) -> impl Iterator<Item = usize> + '_ {
    word_starts(folded).filter(|at| *at > 0)
}

// ---- reads ----

/// The columns of [`row`], which takes the site from the query.
macro_rules! columns {
    () => {
        "num, sub, name, avatar, guest, presence, banned, created, last_seen, standing, choices, level"
    };
}

const BY_SUB: &str = sql!(concat!("SELECT ", columns!(), " FROM user WHERE site = $1 AND sub = $2"));
const BY_ID: &str = sql!(concat!("SELECT ", columns!(), " FROM user WHERE site = $1 AND num = $2"));

pub(crate) fn by_sub(db: &Connection, site: SiteId, sub: &Sub) -> Outcome<Option<UserRow>> {
    let found = db.prepare_cached(BY_SUB)?.query_row(params![site.0, sub.as_str()], |r| row(site, r));
    Ok(found.optional()?)
}

pub(crate) fn by_id(db: &Connection, id: UserId) -> Outcome<Option<UserRow>> {
    let found = db.prepare_cached(BY_ID)?.query_row(params![id.site.0, id.num], |r| row(id.site, r));
    Ok(found.optional()?)
}

/// Users by sub, as [`by_ids`].
pub(crate) fn by_subs(db: &Connection, site: SiteId, subs: &[Sub]) -> Outcome<Vec<UserRow>> {
    let mut found = vec![None; subs.len()];
    db.prepare_cached(BY_SUB)?.query_each(subs.iter().map(|sub| (site.0, sub.as_str())), |at, r| {
        found[at] = Some(row(site, r)?);
        Ok(())
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// The users of these ids who exist, in the order of the ids.
pub(crate) fn by_ids(db: &Connection, ids: &[UserId]) -> Outcome<Vec<UserRow>> {
    let mut found = vec![None; ids.len()];
    db.prepare_cached(BY_ID)?.query_each(ids.iter().map(|id| [id.site.0, id.num]), |at, r| {
        found[at] = Some(row(ids[at].site, r)?);
        Ok(())
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// Reads only the index, which has the sub as part of the primary key.
pub(crate) fn sub_of(db: &Connection, id: UserId) -> Outcome<Option<Sub>> {
    Ok(author_of(db, id)?.map(|author| author.sub))
}

/// Fields of an author that readers of a message need.
#[derive(Clone)]
pub(crate) struct Author {
    pub(crate) sub: Sub,
    /// The author was erased with all messages.
    pub(crate) erased: bool,
}

fn author_of(db: &Connection, id: UserId) -> Outcome<Option<Author>> {
    let sql = sql!("SELECT sub, choices FROM user WHERE site = $1 AND num = $2");
    let author =
        |row: &Row<'_>| Ok(Author { sub: sub(row, 0)?, erased: row.get::<_, i64>(1)? & ERASED != 0 });
    let found = db.prepare_cached(sql)?.query_row(params![id.site.0, id.num], author);
    Ok(found.optional()?)
}

pub(crate) fn list(db: &Connection, site: SiteId, after: Option<&Sub>, limit: u32) -> Outcome<Vec<UserRow>> {
    let sql =
        sql!(concat!("SELECT ", columns!(), " FROM user WHERE site = $1 AND sub > $2 ORDER BY sub LIMIT $3"));
    let after = after.map_or("", Sub::as_str); // no sub is empty
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![site.0, after, limit], |r| row(site, r))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Banned users of all sites, from an index that has only these.
pub(crate) fn banned(db: &Connection) -> Outcome<Vec<UserId>> {
    let sql = concat!("SELECT site, num FROM user", indexed_by!("user_banned"), " WHERE banned <> 0");
    let mut statement = db.prepare_cached(sql)?;
    let ids = statement.query_map([], |row| Ok(UserId { site: SiteId(row.get(0)?), num: row.get(1)? }))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

pub(crate) fn with_standing(db: &Connection) -> Outcome<Vec<UserRow>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        ", site FROM user",
        indexed_by!("user_standing"),
        " WHERE standing <> 0 ORDER BY site, num"
    );
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([], |r| row(SiteId(r.get(12)?), r))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Users who handle reports.
pub(crate) fn moderators(db: &Connection, site: SiteId) -> Outcome<Vec<UserId>> {
    let sql = sql!(concat!(
        "SELECT num FROM user",
        indexed_by!("user_standing"),
        " WHERE site = $1 AND standing <> 0 AND standing & 3 <> 0"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let ids = statement.query_map([site.0], |row| Ok(UserId { site, num: row.get(0)? }))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// If more users than this match the query, scanning all names in order is faster, because one in every few matches.
const FEW: u32 = 1_000;

/// A page of the directory. With a query, few matches are looked up and sorted; many are picked from the list of names.
/// Either way the work is bounded by [`FEW`], or by about `limit` divided by the share of matches.
pub(crate) fn people(
    db: &Connection,
    site: SiteId,
    query: Option<&str>,
    after: Option<&str>,
    limit: u32,
) -> Outcome<PeoplePage> {
    let query = fold_query(query.unwrap_or_default());
    let after = NameCursor::parse(after);
    let few = if query.is_empty() { None } else { few_with(db, site, &query)? };
    let mut rows = match few {
        Some(subs) => pick(db, site, subs, &after, limit)?,
        None => walk(db, site, &query, &after, limit)?,
    };
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next = rows.last().filter(|_| more).map(|UserRow { profile, .. }| {
        NameCursor { folded: &fold(&profile.name), sub: profile.sub.as_str() }.to_string()
    });
    Ok(PeoplePage { rows, next })
}

/// The subs of users who match the query; None if they are many.
fn few_with(db: &Connection, site: SiteId, query: &str) -> Outcome<Option<Vec<Sub>>> {
    // No text that begins with the query is greater than the query followed by the greatest character.
    let end = format!("{query}\u{10ffff}");
    let mut subs = Vec::new();
    for sql in [
        sql!("SELECT sub FROM user WHERE site = $1 AND folded >= $2 AND folded < $3 LIMIT $4"),
        sql!("SELECT sub FROM name_word WHERE site = $1 AND rest >= $2 AND rest < $3 LIMIT $4"),
    ] {
        let mut statement = db.prepare_cached(sql)?;
        for found in statement.query_map(params![site.0, query, end, FEW + 1], |row| sub(row, 0))? {
            subs.push(found?);
        }
    }
    subs.sort_unstable();
    subs.dedup();
    Ok((subs.len() <= FEW as usize).then_some(subs))
}

fn pick(
    db: &Connection,
    site: SiteId,
    subs: Vec<Sub>,
    after: &NameCursor<'_>,
    limit: u32,
) -> Outcome<Vec<UserRow>> {
    let mut rows = Vec::new();
    for sub in subs {
        if let Some(row) = by_sub(db, site, &sub)? {
            let folded = fold(&row.profile.name);
            if after.is_before(&folded, sub.as_str()) {
                rows.push((folded, row));
            }
        }
    }
    rows.sort_unstable_by(|(a, x), (b, y)| (a, &x.profile.sub).cmp(&(b, &y.profile.sub)));
    rows.truncate(limit as usize + 1);
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// Picks matches from the list of all names until the page is full.
fn walk(
    db: &Connection,
    site: SiteId,
    query: &str,
    after: &NameCursor<'_>,
    limit: u32,
) -> Outcome<Vec<UserRow>> {
    let sql = sql!(concat!(
        "SELECT ",
        columns!(),
        ", folded FROM user",
        indexed_by!("user_name"),
        " WHERE site = $1 AND (folded, sub) > ($2, $3) ORDER BY folded, sub"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let mut found = statement.query(params![site.0, after.folded, after.sub])?;
    let mut rows = Vec::new();
    while rows.len() <= limit as usize
        && let Some(next) = found.next()?
    {
        if finds(text(&next, 12)?, query) {
            rows.push(row(site, &next)?);
        }
    }
    Ok(rows)
}

/// The end of a page by name: the folded name and the sub, with NUL between. Neither has control characters.
pub(crate) struct NameCursor<'a> {
    pub(crate) folded: &'a str,
    pub(crate) sub: &'a str,
}

impl<'a> NameCursor<'a> {
    /// None starts from the beginning.
    pub(crate) fn parse(after: Option<&'a str>) -> NameCursor<'a> {
        let (folded, sub) = after.map_or(("", ""), |after| after.split_once('\0').unwrap_or((after, "")));
        NameCursor { folded, sub }
    }

    pub(crate) fn is_before(&self, folded: &str, sub: &str) -> bool {
        (self.folded, self.sub) < (folded, sub)
    }
}

impl fmt::Display for NameCursor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\0{}", self.folded, self.sub)
    }
}

/// Subs of senders, each read once.
pub(crate) struct Subs<'a> {
    db: &'a Connection,
    known: HashMap<UserId, Option<Author>>,
}

impl<'a> Subs<'a> {
    pub(crate) fn new(db: &'a Connection) -> Subs<'a> {
        Subs { db, known: HashMap::new() }
    }

    pub(crate) fn learn(&mut self, row: &UserRow) {
        // Erased users are banned; only their own row says whether their messages are erased, too.
        if !row.banned {
            let author = Author { sub: row.profile.sub.clone(), erased: false };
            self.known.insert(row.id, Some(author));
        }
    }

    pub(crate) fn of(&mut self, id: UserId) -> Outcome<Option<Sub>> {
        Ok(self.author(id)?.map(|author| author.sub))
    }

    pub(crate) fn author(&mut self, id: UserId) -> Outcome<Option<Author>> {
        if let Some(author) = self.known.get(&id) {
            return Ok(author.clone());
        }
        let author = author_of(self.db, id)?;
        self.known.insert(id, author.clone());
        Ok(author)
    }
}

fn row(site: SiteId, row: &Row<'_>) -> crate::engine::Result<UserRow> {
    Ok(UserRow {
        id: UserId { site, num: row.get(0)? },
        profile: Profile {
            sub: sub(row, 1)?,
            name: text(row, 2)?.into(),
            avatar: maybe_text(row, 3)?.map(Arc::from),
            guest: row.get(4)?,
        },
        presence: match row.get::<_, i64>(5)? {
            1 => SetPresence::Away,
            2 => SetPresence::Busy,
            3 => SetPresence::Invisible,
            _ => SetPresence::Online,
        },
        banned: row.get(6)?,
        on_site: standing(row.get(9)?, row.get(11)?),
        privacy: Privacy::of_code(row.get::<_, i64>(10)? as u8),
        named: row.get::<_, i64>(10)? & NAMED != 0,
        created: Timestamp(row.get::<_, i64>(7)? as u64),
        last_seen: Timestamp(row.get::<_, i64>(8)? as u64),
    })
}

pub(crate) fn sub(row: &Row<'_>, at: usize) -> crate::engine::Result<Sub> {
    valid_sub(text(row, at)?)
}

pub(crate) fn valid_sub(text: &str) -> crate::engine::Result<Sub> {
    Sub::parse(text).ok_or_else(|| crate::engine::Error::Invalid("not a user id: the row is damaged"))
}

pub(crate) fn maybe_text<'a>(row: &'a Row<'_>, at: usize) -> crate::engine::Result<Option<&'a str>> {
    Ok(row.get_ref(at)?.as_str_or_null()?)
}

pub(crate) fn text<'a>(row: &'a Row<'_>, at: usize) -> crate::engine::Result<&'a str> {
    Ok(row.get_ref(at)?.as_str()?)
}

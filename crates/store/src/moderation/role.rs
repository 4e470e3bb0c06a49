//! Decides between the role in a token and a role that was set by hand.

use crate::engine::{Connection, OptionalExtension, params};
use chat::{By, RoleClaim, SiteId, SiteStanding, Sub, Timestamp, UserRow};

use super::audit;
use crate::fault::Outcome;
use crate::user;

/// From now on, tokens that were issued before do not set the role of this id.
pub(crate) fn decide(db: &Connection, site: SiteId, sub: &Sub, now: Timestamp) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO role_decision (site, sub, time) VALUES ($1, $2, $3) \
               ON CONFLICT (site, sub) DO UPDATE SET time = excluded.time"
    );
    db.prepare_cached(sql)?.execute(params![site.0, sub.digest(), now.0 as i64])?;
    Ok(())
}

fn decided(db: &Connection, site: SiteId, sub: &Sub) -> Outcome<Option<Timestamp>> {
    let sql = sql!("SELECT time FROM role_decision WHERE site = $1 AND sub = $2");
    let mut statement = db.prepare_cached(sql)?;
    let time = statement.query_row(params![site.0, sub.digest()], |row| row.get::<_, i64>(0));
    Ok(time.optional()?.map(|time| Timestamp(time as u64)))
}

/// The user with the role from the token, if the token is newer than the decision. Recorded as an act of the site.
pub(crate) fn follow(
    db: &Connection,
    row: UserRow,
    claim: Option<RoleClaim>,
    now: Timestamp,
) -> Outcome<UserRow> {
    let Some(claim) = claim.filter(|_| row.differs_in_role(claim) && !row.banned) else { return Ok(row) };
    if !claim.holds(decided(db, row.id.site, &row.profile.sub)?) {
        return Ok(row);
    }
    let on_site = SiteStanding { role: claim.role, ..row.on_site };
    user::set_standing(db, row.id, on_site)?;
    let entry = audit::Entry {
        site: row.id.site,
        by: By::Site,
        act: "set_role",
        user: Some(row.id),
        conversation: None,
        detail: claim.role.word(),
        time: now,
    };
    audit::note(db, &entry)?;
    Ok(UserRow { on_site, ..row })
}

//! Moderation of a site: reports, sanctions, and the record of moderators' acts.
//!
//! The transaction of an act checks it against the roles that are stored then, and records it.

mod act;
pub(crate) mod audit;
pub(crate) mod erased;
mod guard;
pub(crate) mod report;
pub(crate) mod role;
pub(crate) mod sanction;

use std::sync::Arc;

use crate::engine::Connection;
use chat::{
    AuditPage, By, DeviceBan, Done, Ended, Level, Moderated, ModerationStore, ModeratorAct, NewReport,
    Notice, Refusal, ReportRow, ReportState, ReportsPage, SiteAct, SiteId, SiteRole, StoreError, Timestamp,
    UserId, UserRow, may_on_site,
};

use crate::fault::Outcome;
use crate::sqlite::Sqlite;
use crate::user;

impl ModerationStore for Sqlite {
    fn report(&self, report: NewReport, done: Done<Result<(ReportRow, bool), Refusal>>) {
        self.write(move |batch| report::keep(batch, &report), done);
    }

    fn reports(
        &self,
        site: SiteId,
        asker: By,
        state: Option<ReportState>,
        after: Option<String>,
        limit: u32,
        done: Done<Result<ReportsPage, Refusal>>,
    ) {
        self.read(move |db| report::page(db, site, asker, state, after.as_deref(), limit), done);
    }

    fn moderate(
        &self,
        site: SiteId,
        by: By,
        act: ModeratorAct,
        now: Timestamp,
        done: Done<Result<Moderated, Refusal>>,
    ) {
        self.write(move |batch| act::moderate(batch, site, by, &act, now), done);
    }

    fn audit(
        &self,
        site: SiteId,
        asker: By,
        after: Option<String>,
        limit: u32,
        done: Done<Result<AuditPage, Refusal>>,
    ) {
        self.read(move |db| audit::page(db, site, asker, after.as_deref(), limit), done);
    }

    fn moderators(&self, site: SiteId, done: Done<Vec<UserId>>) {
        self.read(move |db| user::moderators(db, site), done);
    }

    fn notices(&self, user: UserId, done: Done<Vec<Notice>>) {
        self.read(move |db| sanction::notices(db, user), done);
    }

    fn notices_seen(&self, user: UserId, done: Done<()>) {
        self.write(move |batch| sanction::seen(batch.db, user), done);
    }

    fn end_sanctions(&self, now: Timestamp, done: Done<(Vec<Ended>, Option<Timestamp>)>) {
        self.write(move |batch| sanction::end(batch, now), done);
    }

    fn device_bans(&self, done: Done<Vec<DeviceBan>>) {
        self.read(guard::device_bans, done);
    }

    fn written(&self, user: UserId, most: u32, done: Done<u32>) {
        let shared = Arc::clone(&self.shared);
        self.read(move |db| shared.written.count(db, user, most), done);
    }

    fn keep_level(&self, user: UserId, level: Level, done: Done<Option<UserRow>>) {
        self.write(move |batch| user::keep_level(batch.db, user, level), done);
    }

    fn standings(&self) -> Result<Vec<UserRow>, StoreError> {
        self.admin(|db| user::with_standing(db))
    }

    fn next_sanction_end(&self) -> Result<Option<Timestamp>, StoreError> {
        self.admin(|db| sanction::next_end(db))
    }
}

/// The role of the acting user on this site. None: the operator, who may do everything.
fn role_of(db: &Connection, site: SiteId, by: By) -> Outcome<Result<Option<SiteRole>, Refusal>> {
    let By::User(id) = by else { return Ok(Ok(None)) };
    let row = if id.site == site { user::by_id(db, id)? } else { None };
    Ok(match row {
        Some(UserRow { banned: false, on_site, .. }) => Ok(Some(on_site.role)),
        Some(_) | None => Err(Refusal::NotAllowed),
    })
}

/// Whether the asker may read reports and the record.
pub(crate) fn may_look(db: &Connection, site: SiteId, asker: By) -> Outcome<Result<(), Refusal>> {
    may(db, site, asker, SiteAct::Look, SiteRole::Member)
}

/// Whether the acting user may do this to a user with that role.
pub(crate) fn may(
    db: &Connection,
    site: SiteId,
    by: By,
    act: SiteAct,
    of: SiteRole,
) -> Outcome<Result<(), Refusal>> {
    let role = role_of(db, site, by)?;
    Ok(role.and_then(|role| role.map_or(Ok(()), |role| may_on_site(role, act, of))))
}

/// The acting user's number in a row; 0 for the operator.
fn number_of(by: By) -> u32 {
    match by {
        By::User(id) => id.num,
        By::Site => 0,
    }
}

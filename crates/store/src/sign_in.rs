//! Sign-in: reads only, if the user is known and unchanged; otherwise it writes the user first.

use std::sync::Arc;

use chat::{
    AppPasswordUser, Done, Met, ResumeFrom, SignInStore, SiteId, Snapshot, Timestamp, TokenUser, UserId,
    UserRow,
};

use crate::fault::Outcome;
use crate::late::{Scope, Settled};
use crate::port::read_settled;
use crate::reader::{self, Read};
use crate::sqlite::{Shared, Sqlite};
use crate::user::{self, Seen};
use crate::writer::{self, Batch};
use crate::{app_password, meta, moderation, own_picture, resume};

impl SignInStore for Sqlite {
    fn renew_user(&self, site: SiteId, user: TokenUser, now: Timestamp, done: Done<UserRow>) {
        self.write(move |batch| Ok(put_token_user(batch, site, &user, now)?.0), done);
    }

    fn sign_in(
        &self,
        site: SiteId,
        user: TokenUser,
        from: ResumeFrom,
        now: Timestamp,
        met: Met,
        done: Done<(UserRow, Snapshot)>,
    ) {
        let shared = Arc::clone(&self.shared);
        let profile = user.profile.clone();
        let look_up = reader::read(
            Scope::Nothing,
            move |db| {
                let Some(row) = user::by_sub(db, site, &profile.sub)? else { return Ok(None) };
                let is_same = own_picture::is_as(db, &row, &profile)?;
                Ok(Some((row, is_same)))
            },
            move |outcome| match outcome {
                Err(error) => {
                    done(Err(error));
                    None
                }
                Ok(Some((row, true))) if !row.differs_in_role(user.role) => {
                    met(&row).then(|| view(row, from, done))
                }
                Ok(_) => {
                    sign_in_changed(&shared, site, user, from, now, met, done);
                    None
                }
            },
        );
        self.shared.read_last(look_up);
    }

    fn sign_in_with_app_password(
        &self,
        user: AppPasswordUser,
        from: ResumeFrom,
        now: Timestamp,
        met: Met,
        done: Done<Option<(UserRow, Snapshot)>>,
    ) {
        let shared = Arc::clone(&self.shared);
        let AppPasswordUser { site, sub, number } = user;
        let look_up = reader::read(
            Scope::Nothing,
            move |db| {
                let Some(row) = user::by_sub(db, site, &sub)? else { return Ok(None) };
                Ok(app_password::look(db, row.id, number, now)?.map(|notes_use| (row, notes_use)))
            },
            move |outcome| match outcome {
                Err(error) => {
                    done(Err(error));
                    None
                }
                Ok(None) => {
                    done(Ok(None));
                    None
                }
                Ok(Some((row, _))) if !met(&row) => None,
                Ok(Some((row, notes_use))) => {
                    let id = row.id;
                    if notes_use {
                        let note =
                            move |batch: &mut Batch<'_>| app_password::note_use(batch.db, id, number, now);
                        shared.write_patiently(writer::write(note, |_, _| ()));
                    }
                    Some(view_by_password(row, number, from, now, done))
                }
            },
        );
        self.shared.read_last(look_up);
    }

    fn snapshot(&self, user: UserId, from: ResumeFrom, done: Done<Snapshot>) {
        let scope = Scope::Of(user);
        self.read_settled(scope, move |db| resume::snapshot(db, user, from, meta::epoch(db)?), done);
    }
}

fn put_token_user(
    batch: &mut Batch<'_>,
    site: SiteId,
    user: &TokenUser,
    now: Timestamp,
) -> Outcome<(UserRow, Seen)> {
    let (row, seen) = user::put_with_number(batch, site, &user.profile, now)?;
    Ok((moderation::role::follow(batch.db, row, user.role, now)?, seen))
}

/// The snapshot of a user who has signed in. Runs after the node has processed the user's row.
fn view(row: UserRow, from: ResumeFrom, done: Done<(UserRow, Snapshot)>) -> Box<dyn Read> {
    let id = row.id;
    read_settled(
        Scope::Of(id),
        move |db| resume::snapshot(db, id, from, meta::epoch(db)?),
        Box::new(move |outcome| done(outcome.map(|snapshot| (row, snapshot)))),
    )
}

/// Like [`view`]; None if the password was revoked since the first read.
fn view_by_password(
    row: UserRow,
    number: u32,
    from: ResumeFrom,
    now: Timestamp,
    done: Done<Option<(UserRow, Snapshot)>>,
) -> Box<dyn Read> {
    let id = row.id;
    let view = move |db: &Settled<'_>| match app_password::look(db, id, number, now)? {
        Some(_) => resume::snapshot(db, id, from, meta::epoch(db)?).map(Some),
        None => Ok(None),
    };
    let done = move |outcome: Result<Option<Snapshot>, _>| {
        done(outcome.map(|found| found.map(|snapshot| (row, snapshot))));
    };
    read_settled(Scope::Of(id), view, Box::new(done))
}

/// Writes a user who is new, or whose profile or role has changed.
fn sign_in_changed(
    shared: &Arc<Shared>,
    site: SiteId,
    user: TokenUser,
    from: ResumeFrom,
    now: Timestamp,
    met: Met,
    done: Done<(UserRow, Snapshot)>,
) {
    let job = writer::write(
        move |batch| put_token_user(batch, site, &user, now),
        move |outcome, after| match outcome {
            Err(error) => done(Err(error)),
            Ok((row, _)) if !met(&row) => {}
            // A new user has no data, so the snapshot needs no read.
            Ok((row, Seen::New)) => done(Ok((row, resume::empty(after.committed)))),
            Ok((row, _)) => after.shared.read(view(row, from, done)),
        },
    );
    shared.write_patiently(job);
}

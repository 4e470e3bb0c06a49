//! Sign-in: reads only, if the user is known and unchanged; otherwise it writes the user first.

use std::sync::Arc;

use chat::{
    AppPasswordUser, Done, Met, Position, ResumeFrom, SignInStore, SiteId, Snapshot, Timestamp, TokenUser,
    UserId, UserRow,
};

use crate::contact::packed;
use crate::fault::Outcome;
use crate::late::{Scope, Settled};
use crate::reader::{self, Read};
use crate::resume::{self, View};
use crate::sqlite::{Shared, Sqlite};
use crate::user::{self, Seen};
use crate::writer::{self, Batch};
use crate::{app_password, moderation, own_picture};

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
                    met(&row).then(|| view(&shared, row, from, done))
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
                    Some(view_by_password(&shared, row, number, from, now, done))
                }
            },
        );
        self.shared.read_last(look_up);
    }

    fn snapshot(&self, user: UserId, from: ResumeFrom, done: Done<Snapshot>) {
        let read = move |db: &Settled<'_>| resume::snapshot(db, user, from);
        let done = move |outcome: Result<View, _>| done(outcome.map(|view| view.snapshot));
        let then = packed::after(&self.shared, user, |view| view.unpacked, done);
        self.shared.read(reader::read(Scope::Of(user), read, then));
    }

    fn changed_views(&self, views: Vec<(UserId, Position)>, done: Done<(Vec<bool>, Position)>) {
        let scope = Scope::of_each(views.iter().map(|(user, _)| *user));
        self.read_settled(scope, move |db| resume::changed_views(db, &views), done);
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
fn view(
    shared: &Arc<Shared>,
    row: UserRow,
    from: ResumeFrom,
    done: Done<(UserRow, Snapshot)>,
) -> Box<dyn Read> {
    let id = row.id;
    let read = move |db: &Settled<'_>| resume::snapshot(db, id, from);
    let done = move |outcome: Result<View, _>| done(outcome.map(|view| (row, view.snapshot)));
    reader::read(Scope::Of(id), read, packed::after(shared, id, |view| view.unpacked, done))
}

/// Like [`view`]; None if the password was revoked since the first read.
fn view_by_password(
    shared: &Arc<Shared>,
    row: UserRow,
    number: u32,
    from: ResumeFrom,
    now: Timestamp,
    done: Done<Option<(UserRow, Snapshot)>>,
) -> Box<dyn Read> {
    let id = row.id;
    let read = move |db: &Settled<'_>| match app_password::look(db, id, number, now)? {
        Some(_) => resume::snapshot(db, id, from).map(Some),
        None => Ok(None),
    };
    let done = move |outcome: Result<Option<View>, _>| {
        done(outcome.map(|found| found.map(|view| (row, view.snapshot))));
    };
    let unpacked = |view: &Option<View>| view.as_ref().map_or(0, |view| view.unpacked);
    reader::read(Scope::Of(id), read, packed::after(shared, id, unpacked, done))
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
            Ok((row, _)) => after.shared.read(view(after.shared, row, from, done)),
        },
    );
    shared.write_patiently(job);
}

//! Own pictures: what members have published with apps, and the choice between it and the picture of the site.

use std::sync::Arc;

use crate::engine::{Connection, OptionalExtension, params};
use chat::{
    Done, FileType, MadePicture, MemberPictures, NewOwnPicture, OwnPictureChange, OwnPictureId,
    OwnPictureStore, PictureSource, Profile, Settings, SiteId, UserId, UserRow,
};

use crate::fault::Outcome;
use crate::sqlite::Sqlite;
use crate::writer::{self, Batch};
use crate::{item, user};

impl OwnPictureStore for Sqlite {
    fn follow_picture(&self, user: UserId, source: PictureSource, done: Done<OwnPictureChange>) {
        // An app of a user with a picture asks at each sign-in, and nearly always nothing has changed.
        let shared = Arc::clone(&self.shared);
        let (first, again) = (source.clone(), source);
        let looked: Done<Option<OwnPictureChange>> = Box::new(move |outcome| match outcome {
            Err(error) => done(Err(error)),
            Ok(Some(unchanged)) => done(Ok(unchanged)),
            Ok(None) => {
                let follow = move |batch: &mut Batch<'_>| follow(batch, user, &again);
                shared.write_patiently(writer::write(follow, |outcome, _| done(outcome)));
            }
        });
        self.read(move |db| look(db, user, &first), looked);
    }

    fn put_own_picture(&self, user: UserId, picture: NewOwnPicture, done: Done<OwnPictureChange>) {
        self.write(move |batch| put(batch, user, &picture), done);
    }

    fn own_picture(&self, id: OwnPictureId, done: Done<Option<(FileType, Vec<u8>)>>) {
        self.read(
            move |db| {
                let sql = sql!("SELECT type, bytes FROM own_picture WHERE site = $1 AND id = $2");
                let found = db.prepare_cached(sql)?.query_row(params![id.site.0, id.to_string()], |row| {
                    Ok((FileType::named(row.get_ref(0)?.as_str()?), row.get(1)?))
                });
                Ok(found.optional()?)
            },
            done,
        );
    }
}

/// A row without its bytes.
struct Kept {
    id: OwnPictureId,
    source: PictureSource,
    site_avatar: Option<Arc<str>>,
}

// ---- writes ----

fn follow(batch: &mut Batch<'_>, id: UserId, source: &PictureSource) -> Outcome<OwnPictureChange> {
    let db = batch.db;
    let Some(row) = user::by_id(db, id)? else { return Ok(OwnPictureChange::default()) };
    let wanted = is_current(db, id, source)?;
    let Some(kept) = kept(db, id)? else { return Ok(OwnPictureChange { changed: None, wanted }) };
    if is_current(db, id, &kept.source)? {
        let changed = show(batch, &row, kept.site_avatar, Some(kept.id))?;
        return Ok(OwnPictureChange { changed, wanted: false });
    }
    // The next picture replaces it, without a moment in between.
    let changed = if wanted { None } else { remove_kept(batch, &row, kept)? };
    Ok(OwnPictureChange { changed, wanted })
}

fn put(batch: &mut Batch<'_>, id: UserId, new: &NewOwnPicture) -> Outcome<OwnPictureChange> {
    let NewOwnPicture { source, made } = new;
    let db = batch.db;
    // The ban came while the picture was made.
    let Some(row) = user::by_id(db, id)?.filter(|row| !row.banned) else {
        return Ok(OwnPictureChange::default());
    };
    if !is_current(db, id, source)? {
        return follow(batch, id, source);
    }
    let before = kept(db, id)?;
    let changed = match (made, before) {
        (Some(made), before) => {
            let of_site = before.map_or(row.profile.avatar.clone(), |before| before.site_avatar);
            let picture = insert(db, id, source, made, of_site.as_deref())?;
            show(batch, &row, of_site, Some(picture))?
        }
        (None, Some(before)) => remove_kept(batch, &row, before)?,
        (None, None) => None,
    };
    Ok(OwnPictureChange { changed, wanted: false })
}

fn insert(
    db: &Connection,
    user: UserId,
    source: &PictureSource,
    made: &MadePicture,
    of_site: Option<&str>,
) -> Outcome<OwnPictureId> {
    let id = OwnPictureId::of(user, &made.bytes);
    let sql = sql!(
        "INSERT INTO own_picture (site, user, id, list, version, site_avatar, type, bytes) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (site, user) DO UPDATE SET id = excluded.id, \
         list = excluded.list, version = excluded.version, type = excluded.type, bytes = excluded.bytes"
    );
    db.prepare_cached(sql)?.execute(params![
        user.site.0,
        user.num,
        id.to_string(),
        &*source.list,
        source.version as i64,
        of_site,
        made.kind.name(),
        made.bytes
    ])?;
    Ok(id)
}

fn remove_kept(batch: &mut Batch<'_>, row: &UserRow, kept: Kept) -> Outcome<Option<UserRow>> {
    let sql = sql!("DELETE FROM own_picture WHERE site = $1 AND user = $2");
    batch.db.prepare_cached(sql)?.execute([row.id.site.0, row.id.num])?;
    show(batch, row, kept.site_avatar, None)
}

/// Removes the picture and the items from which it comes. Answers the name of their list.
pub(crate) fn remove(batch: &mut Batch<'_>, id: UserId) -> Outcome<Option<Box<str>>> {
    let (Some(row), Some(kept)) = (user::by_id(batch.db, id)?, kept(batch.db, id)?) else { return Ok(None) };
    let list = kept.source.list.clone();
    item::empty(batch.db, id, &list)?;
    remove_kept(batch, &row, kept)?;
    Ok(Some(list))
}

/// Changes the profile to the picture of the two that the site's setting chooses. Answers the user, if that changes something.
fn show(
    batch: &mut Batch<'_>,
    row: &UserRow,
    of_site: Option<Arc<str>>,
    own: Option<OwnPictureId>,
) -> Outcome<Option<UserRow>> {
    let avatar = setting(batch.db, row.id.site)?.shown(of_site, own.map(OwnPictureId::avatar));
    if avatar == row.profile.avatar {
        return Ok(None);
    }
    let after = user::update(batch.db, row, &Profile { avatar, ..row.profile.clone() })?;
    batch.next_number();
    Ok(Some(after))
}

/// The profile after a token with this one. Remembers the picture of the token.
pub(crate) fn after_token(db: &Connection, user: UserId, profile: Profile) -> Outcome<Profile> {
    let Some(kept) = kept(db, user)? else { return Ok(profile) };
    let sql = sql!("UPDATE own_picture SET site_avatar = $3 WHERE site = $1 AND user = $2");
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, profile.avatar.as_deref()])?;
    let avatar = setting(db, user.site)?.shown(profile.avatar.clone(), Some(kept.id.avatar()));
    Ok(Profile { avatar, ..profile })
}

// ---- reads ----

/// Whether a token's profile changes nothing. Reads more only of users whose own picture is shown.
pub(crate) fn is_as(db: &Connection, row: &UserRow, profile: &Profile) -> Outcome<bool> {
    if row.is_as(profile) {
        return Ok(true);
    }
    let own = row.profile.avatar.as_deref().and_then(|avatar| OwnPictureId::of_avatar(row.id.site, avatar));
    if own.is_none() || !row.is_as(&Profile { avatar: row.profile.avatar.clone(), ..profile.clone() }) {
        return Ok(false);
    }
    let Some(kept) = kept(db, row.id)? else { return Ok(false) };
    let shown = setting(db, row.id.site)?.shown(profile.avatar.clone(), Some(kept.id.avatar()));
    Ok(kept.site_avatar == profile.avatar && shown == row.profile.avatar)
}

/// The answer of [`follow`], if it would change nothing.
fn look(db: &Connection, id: UserId, source: &PictureSource) -> Outcome<Option<OwnPictureChange>> {
    let wanted = is_current(db, id, source)?;
    let Some(kept) = kept(db, id)? else { return Ok(Some(OwnPictureChange { changed: None, wanted })) };
    if !is_current(db, id, &kept.source)? {
        return Ok(wanted.then_some(OwnPictureChange { changed: None, wanted }));
    }
    let shown = setting(db, id.site)?.shown(kept.site_avatar, Some(kept.id.avatar()));
    let is_shown = user::by_id(db, id)?.is_none_or(|row| row.profile.avatar == shown);
    Ok(is_shown.then_some(OwnPictureChange::default()))
}

fn is_current(db: &Connection, user: UserId, source: &PictureSource) -> Outcome<bool> {
    item::is_newest_for_everybody(db, user, &source.list, source.version)
}

fn kept(db: &Connection, user: UserId) -> Outcome<Option<Kept>> {
    let sql = sql!("SELECT id, list, version, site_avatar FROM own_picture WHERE site = $1 AND user = $2");
    let found = db.prepare_cached(sql)?.query_row([user.site.0, user.num], |row| {
        let list = user::text(row, 1)?.into();
        let source = PictureSource { list, version: row.get::<_, i64>(2)? as u64 };
        let site_avatar = user::maybe_text(row, 3)?.map(Arc::from);
        Ok(OwnPictureId::parse(user.site, user::text(row, 0)?).map(|id| Kept { id, source, site_avatar }))
    });
    Ok(found.optional()?.flatten())
}

fn setting(db: &Connection, site: SiteId) -> Outcome<MemberPictures> {
    let sql = sql!("SELECT settings FROM site WHERE id = $1");
    let document: Option<String> =
        db.prepare_cached(sql)?.query_row([site.0], |row| row.get(0)).optional()?;
    Ok(document.map_or(MemberPictures::Off, |document| Settings::parse(&document).members.pictures))
}

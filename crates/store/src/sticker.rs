//! Stickers of a site, with their pictures. A site has few, and they are small.

use crate::engine::{Connection, OptionalExtension, Row, params};
use chat::{Done, FileType, MOST_STICKERS, NewSticker, SiteId, Sticker, StickerId, StickerStore};

use crate::counter::{self, Counted};
use crate::fault::Outcome;
use crate::sqlite::Sqlite;

impl StickerStore for Sqlite {
    fn add_sticker(&self, new: NewSticker, done: Done<bool>) {
        self.write(move |batch| add(batch.db, &new), done);
    }

    fn remove_sticker(&self, id: StickerId, done: Done<bool>) {
        self.write(
            move |batch| {
                let sql = sql!("DELETE FROM sticker WHERE site = $1 AND id = $2");
                Ok(batch.db.prepare_cached(sql)?.execute(key(id))? > 0)
            },
            done,
        );
    }

    fn stickers(&self, site: SiteId, done: Done<Vec<Sticker>>) {
        self.read(
            move |db| {
                let sql = sql!(
                    "SELECT id, series, words, type, width, height FROM sticker WHERE site = $1 \
                           ORDER BY added, number"
                );
                let mut statement = db.prepare_cached(sql)?;
                let all = statement.query_map([site.0], |row| read(row, site))?;
                Ok(all.collect::<Result<_, _>>()?)
            },
            done,
        );
    }

    fn sticker(&self, id: StickerId, done: Done<Option<Sticker>>) {
        self.read(move |db| by_id(db, id), done);
    }

    fn sticker_picture(&self, id: StickerId, done: Done<Option<(FileType, Vec<u8>)>>) {
        self.read(
            move |db| {
                let sql = sql!("SELECT type, bytes FROM sticker WHERE site = $1 AND id = $2");
                let found = db
                    .prepare_cached(sql)?
                    .query_row(key(id), |row| Ok((FileType::named(row.get_ref(0)?.as_str()?), row.get(1)?)));
                Ok(found.optional()?)
            },
            done,
        );
    }
}

fn add(db: &Connection, new: &NewSticker) -> Outcome<bool> {
    let NewSticker { sticker, bytes, added } = new;
    let site = sticker.id.site.0;
    let is_room = sql!(
        "SELECT EXISTS (SELECT 1 FROM site WHERE id = $1) \
                   AND (SELECT count(*) FROM sticker WHERE site = $1) < $2"
    );
    if !db.prepare_cached(is_room)?.query_row([site, MOST_STICKERS], |row| row.get::<_, bool>(0))? {
        return Ok(false);
    }
    let sql = sql!(
        "INSERT INTO sticker (site, id, series, words, type, width, height, added, bytes, number) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
         ON CONFLICT (site, id) DO UPDATE SET series = excluded.series, words = excluded.words, \
         type = excluded.type, width = excluded.width, height = excluded.height, added = excluded.added, \
         bytes = excluded.bytes, number = excluded.number"
    );
    db.prepare_cached(sql)?.execute(params![
        site,
        sticker.id.number as i64,
        sticker.series,
        sticker.words,
        sticker.kind.name(),
        sticker.width,
        sticker.height,
        added.0 as i64,
        bytes,
        counter::next(db, sticker.id.site, Counted::Sticker)?,
    ])?;
    Ok(true)
}

fn by_id(db: &Connection, id: StickerId) -> Outcome<Option<Sticker>> {
    let sql = sql!("SELECT id, series, words, type, width, height FROM sticker WHERE site = $1 AND id = $2");
    Ok(db.prepare_cached(sql)?.query_row(key(id), |row| read(row, id.site)).optional()?)
}

fn key(id: StickerId) -> [i64; 2] {
    [id.site.0.into(), id.number as i64]
}

fn read(row: &Row<'_>, site: SiteId) -> crate::engine::Result<Sticker> {
    Ok(Sticker {
        id: StickerId { site, number: row.get::<_, i64>(0)? as u64 },
        series: row.get(1)?,
        words: row.get(2)?,
        kind: FileType::named(row.get_ref(3)?.as_str()?),
        width: row.get(4)?,
        height: row.get(5)?,
    })
}

/// Makes a message this sticker.
pub(crate) fn put(db: &Connection, at: u64, id: StickerId) -> Outcome<()> {
    let sql = sql!("INSERT INTO message_sticker (site, message, sticker) VALUES ($1, $2, $3)");
    db.prepare_cached(sql)?.execute([id.site.0.into(), at as i64, id.number as i64])?;
    Ok(())
}

/// The sticker of a message with the bit [`STICKER`](crate::rich::STICKER); None if it was removed from the site.
pub(crate) fn load(db: &Connection, site: SiteId, at: u64) -> Outcome<Option<Sticker>> {
    let sql = sql!("SELECT sticker FROM message_sticker WHERE site = $1 AND message = $2");
    let number: Option<i64> =
        db.prepare_cached(sql)?.query_row([i64::from(site.0), at as i64], |row| row.get(0)).optional()?;
    match number {
        Some(number) => by_id(db, StickerId { site, number: number as u64 }),
        None => Ok(None),
    }
}

/// Removes the sticker from a message.
pub(crate) fn remove(db: &Connection, site: SiteId, at: u64) -> Outcome<()> {
    let sql = sql!("DELETE FROM message_sticker WHERE site = $1 AND message = $2");
    db.prepare_cached(sql)?.execute([i64::from(site.0), at as i64])?;
    Ok(())
}

//! Previews of links. The picture is a file of the message at an index that is not shown as a file.

use crate::engine::{Connection, OptionalExtension, params};
use chat::{NewPreview, Preview, Refusal, SiteId, StoredMessage};

use crate::fault::Outcome;
use crate::file;
use crate::rich;

/// The index of a preview's picture in a message.
pub(crate) const PICTURE: i64 = -1;

/// Adds a preview to a message that has none. Returns whether it did.
pub(crate) fn put(
    db: &Connection,
    at: u64,
    before: &StoredMessage,
    preview: &NewPreview,
) -> Outcome<Result<bool, Refusal>> {
    // The body was edited meanwhile.
    if !before.body.contains(&*preview.url) {
        return Ok(Err(Refusal::NoSuchMessage));
    }
    if before.rich.as_ref().is_some_and(|rich| rich.preview.is_some()) {
        return Ok(Ok(false));
    }
    let site = before.conversation.site.0;
    let sql = sql!(
        "INSERT INTO preview (site, message, url, title, description, name) VALUES ($1, $2, $3, $4, $5, $6)"
    );
    let texts = [&preview.url, &preview.title, &preview.description, &preview.site];
    db.prepare_cached(sql)?.execute(params![site, at as i64, texts[0], texts[1], texts[2], texts[3]])?;
    if let Some(picture) = &preview.picture {
        file::put_picture(db, before, at, picture)?;
    }
    rich::add(db, at, rich::PREVIEW)?;
    Ok(Ok(true))
}

/// False if the message had none.
pub(crate) fn remove(db: &Connection, site: SiteId, at: u64) -> Outcome<bool> {
    let sql = sql!("DELETE FROM preview WHERE site = $1 AND message = $2");
    if db.prepare_cached(sql)?.execute(params![site.0, at as i64])? == 0 {
        return Ok(false);
    }
    file::remove_picture(db, site, at)?;
    db.prepare_cached(sql!("UPDATE message SET rich = rich & $2 WHERE position = $1"))?
        .execute([at as i64, !rich::PREVIEW])?;
    Ok(true)
}

pub(crate) fn load(db: &Connection, site: SiteId, at: u64) -> Outcome<Option<Preview>> {
    let sql = sql!("SELECT url, title, description, name FROM preview WHERE site = $1 AND message = $2");
    let values = params![site.0, at as i64];
    let found = db.prepare_cached(sql)?.query_row(values, |row| {
        Ok(Preview {
            url: row.get(0)?,
            title: row.get(1)?,
            description: row.get(2)?,
            site: row.get(3)?,
            picture: None,
        })
    });
    let Some(preview) = found.optional()? else { return Ok(None) };
    Ok(Some(Preview { picture: file::picture_of(db, site, at)?, ..preview }))
}

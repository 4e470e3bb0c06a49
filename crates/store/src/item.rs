//! Items of users, in named lists.

use std::sync::Arc;

use crate::engine::{Connection, OptionalExtension, Row, params};
use chat::items::{
    ITEM_PAGE_BYTES, Item, ItemAccess, ItemChange, ItemList, ItemListChange, ItemNews, ItemReader, ItemStore,
    ItemsOf, ItemsPage, LatestItems, LatestPage, MOST_ITEM_LISTS, PutItem, SITE_ITEM_BYTES, USER_ITEM_BYTES,
    item_page, item_reader, may_change_item_list,
};
use chat::{Done, ExportedItem, Mode, Refusal, UserId, Viewpoint};

use crate::counter::{self, Counted};
use crate::fault::Outcome;
use crate::sqlite::Sqlite;
use crate::{contact, user};

/// Items of one page of latest items.
const MOST_LATEST: usize = 100;

impl ItemStore for Sqlite {
    fn put_item(&self, user: UserId, item: PutItem, done: Done<Result<(ItemList, u64), Refusal>>) {
        self.write(move |batch| put(batch.db, user, &item), done);
    }

    fn delete_item(&self, user: UserId, list: Box<str>, id: Box<str>, done: Done<Result<ItemList, Refusal>>) {
        self.write(move |batch| delete(batch.db, user, &list, &id), done);
    }

    fn empty_item_list(&self, user: UserId, list: Box<str>, done: Done<Result<ItemList, Refusal>>) {
        self.write(
            move |batch| {
                let Some(found) = self::list(batch.db, user, &list)? else {
                    return Ok(Err(Refusal::NoSuchItem));
                };
                remove_oldest(batch.db, user, &list, 0)?;
                Ok(Ok(found))
            },
            done,
        );
    }

    fn delete_item_list(&self, user: UserId, list: Box<str>, done: Done<Result<ItemList, Refusal>>) {
        self.write(
            move |batch| {
                let Some(found) = self::list(batch.db, user, &list)? else {
                    return Ok(Err(Refusal::NoSuchItem));
                };
                remove_oldest(batch.db, user, &list, 0)?;
                let sql = sql!("DELETE FROM item_list WHERE site = $1 AND user = $2 AND list = $3");
                batch.db.prepare_cached(sql)?.execute(params![user.site.0, user.num, &*list])?;
                Ok(Ok(found))
            },
            done,
        );
    }

    fn configure_item_list(
        &self,
        user: UserId,
        list: Box<str>,
        creates: bool,
        change: ItemListChange,
        done: Done<Result<ItemList, Refusal>>,
    ) {
        self.write(move |batch| configure(batch.db, user, &list, creates, change), done);
    }

    fn items(
        &self,
        user: UserId,
        reader: ItemReader,
        list: Box<str>,
        of: ItemsOf,
        done: Done<Result<ItemsPage, Refusal>>,
    ) {
        self.read(move |db| page(db, user, reader, &list, &of), done);
    }

    fn item_lists(&self, user: UserId, reader: ItemReader, done: Done<Vec<(Box<str>, ItemList)>>) {
        self.read(
            move |db| {
                let lists = lists(db, user)?.into_iter();
                Ok(lists.filter(|(_, list)| list.access.admits(reader)).collect())
            },
            done,
        );
    }

    fn latest_items(&self, user: UserId, mode: Mode, of: LatestItems, done: Done<LatestPage>) {
        let read = move |db: &Connection| latest(db, user, mode, &of);
        self.shared.read_last(crate::port::read(read, done));
    }
}

// ---- writes ----

fn put(db: &Connection, user: UserId, put: &PutItem) -> Outcome<Result<(ItemList, u64), Refusal>> {
    let PutItem { list: name, id, payload, requires, default } = put;
    let found = list(db, user, name)?;
    let list = match found {
        Some(list) if !requires.is_met_by(list) => return Ok(Err(Refusal::ItemListDiffers)),
        Some(list) => list,
        None if count_lists(db, user)? >= MOST_ITEM_LISTS => return Ok(Err(Refusal::TooManyItems)),
        None => requires.of(ItemList { access: *default, ..ItemList::default() }),
    };
    let size = bytes_of(name, id, payload.len());
    if list.persists {
        let others = sizes(db, user, name)?;
        let before: u64 = others
            .iter()
            .filter(|(other, _)| other == id)
            .map(|(_, length)| bytes_of(name, id, *length))
            .sum();
        let others: Vec<_> = others.into_iter().filter(|(other, _)| other != id).collect();
        let excess = (others.len() + 1).saturating_sub(list.most as usize);
        let freed: u64 = others[..excess].iter().map(|(other, length)| bytes_of(name, other, *length)).sum();
        let is_within = |used: u64, most: u64| used.saturating_sub(before + freed) + size <= most;
        if !is_within(used(db, user)?, USER_ITEM_BYTES)
            || !is_within(used(db, of_site(user))?, SITE_ITEM_BYTES)
        {
            return Ok(Err(Refusal::TooManyItems));
        }
        for (other, _) in &others[..excess] {
            remove(db, user, name, other)?;
        }
    }
    if found.is_none() {
        put_list(db, user, name, list)?;
    }
    let version = counter::next(db, user.site, Counted::Item)? as u64;
    if list.persists {
        remove(db, user, name, id)?;
        let sql =
            sql!("INSERT INTO item (site, user, list, id, version, payload) VALUES ($1, $2, $3, $4, $5, $6)");
        db.prepare_cached(sql)?.execute(params![
            user.site.0,
            user.num,
            &**name,
            &**id,
            version as i64,
            &**payload
        ])?;
        add_bytes(db, user, size as i64)?;
    }
    Ok(Ok((list, version)))
}

fn delete(db: &Connection, user: UserId, name: &str, id: &str) -> Outcome<Result<ItemList, Refusal>> {
    let Some(list) = list(db, user, name)? else { return Ok(Err(Refusal::NoSuchItem)) };
    Ok(if remove(db, user, name, id)? { Ok(list) } else { Err(Refusal::NoSuchItem) })
}

fn configure(
    db: &Connection,
    user: UserId,
    name: &str,
    creates: bool,
    change: ItemListChange,
) -> Outcome<Result<ItemList, Refusal>> {
    let before = match (list(db, user, name)?, creates) {
        (Some(_), true) => return Ok(Err(Refusal::ItemListDiffers)),
        (None, false) => return Ok(Err(Refusal::NoSuchItem)),
        (None, true) if count_lists(db, user)? >= MOST_ITEM_LISTS => return Ok(Err(Refusal::TooManyItems)),
        (None, true) => ItemList::default(),
        (Some(list), false) => list,
    };
    let after = change.of(before);
    if let Err(refusal) = may_change_item_list(before, after, sizes(db, user, name)?.is_empty()) {
        return Ok(Err(refusal));
    }
    put_list(db, user, name, after)?;
    remove_oldest(db, user, name, if after.persists { after.most as usize } else { 0 })?;
    Ok(Ok(after))
}

fn put_list(db: &Connection, user: UserId, name: &str, list: ItemList) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO item_list (site, user, list, access, most, persists, sends_latest) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (site, user, list) DO UPDATE SET \
         access = excluded.access, most = excluded.most, persists = excluded.persists, \
         sends_latest = excluded.sends_latest"
    );
    let ItemList { access, most, persists, sends_latest } = list;
    let access = access_code(access);
    db.prepare_cached(sql)?.execute(params![
        user.site.0,
        user.num,
        name,
        access,
        most,
        persists,
        sends_latest
    ])?;
    Ok(())
}

/// Leaves the newest `keep` items of a list.
fn remove_oldest(db: &Connection, user: UserId, name: &str, keep: usize) -> Outcome<()> {
    let all = sizes(db, user, name)?;
    let excess = all.len().saturating_sub(keep);
    for (id, _) in &all[..excess] {
        remove(db, user, name, id)?;
    }
    Ok(())
}

/// False: there is no such item.
fn remove(db: &Connection, user: UserId, name: &str, id: &str) -> Outcome<bool> {
    let sql = sql!(
        "DELETE FROM item WHERE site = $1 AND user = $2 AND list = $3 AND id = $4 \
         RETURNING octet_length(payload)"
    );
    let values = params![user.site.0, user.num, name, id];
    let removed: Option<i64> = db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
    if let Some(length) = removed {
        add_bytes(db, user, -(bytes_of(name, id, length as usize) as i64))?;
    }
    Ok(removed.is_some())
}

fn add_bytes(db: &Connection, user: UserId, bytes: i64) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO item_bytes (site, user, bytes) VALUES ($1, $2, $3) \
         ON CONFLICT (site, user) DO UPDATE SET bytes = item_bytes.bytes + excluded.bytes"
    );
    for of in [user, of_site(user)] {
        db.prepare_cached(sql)?.execute(params![of.site.0, of.num, bytes])?;
    }
    Ok(())
}

/// Deletes all items of a list.
pub(crate) fn empty(db: &Connection, user: UserId, name: &str) -> Outcome<()> {
    remove_oldest(db, user, name, 0)
}

/// Removes all items and lists of a user.
pub(crate) fn erase(db: &Connection, user: UserId) -> Outcome<()> {
    add_bytes(db, user, -(used(db, user)? as i64))?;
    for sql in [
        sql!("DELETE FROM item WHERE site = $1 AND user = $2"),
        sql!("DELETE FROM item_list WHERE site = $1 AND user = $2"),
        sql!("DELETE FROM item_bytes WHERE site = $1 AND user = $2"),
    ] {
        db.prepare_cached(sql)?.execute([user.site.0, user.num])?;
    }
    Ok(())
}

// ---- reads ----

/// No user has the number 0.
fn of_site(user: UserId) -> UserId {
    UserId { num: 0, ..user }
}

fn bytes_of(list: &str, id: &str, payload: usize) -> u64 {
    (list.len() + id.len() + payload) as u64
}

fn used(db: &Connection, of: UserId) -> Outcome<u64> {
    let sql = sql!("SELECT bytes FROM item_bytes WHERE site = $1 AND user = $2");
    let used: Option<i64> =
        db.prepare_cached(sql)?.query_row([of.site.0, of.num], |row| row.get(0)).optional()?;
    Ok(used.unwrap_or(0).max(0) as u64)
}

fn access_code(access: ItemAccess) -> u8 {
    match access {
        ItemAccess::Contacts => 0,
        ItemAccess::Nobody => 1,
        ItemAccess::Everybody => 2,
    }
}

/// The access, most, persists and sends_latest of a list, from this column on.
fn list_row(row: &Row<'_>, first: usize) -> crate::engine::Result<ItemList> {
    let access = match row.get::<_, u8>(first)? {
        0 => ItemAccess::Contacts,
        2 => ItemAccess::Everybody,
        _ => ItemAccess::Nobody,
    };
    Ok(ItemList {
        access,
        most: row.get(first + 1)?,
        persists: row.get(first + 2)?,
        sends_latest: row.get(first + 3)?,
    })
}

fn list(db: &Connection, user: UserId, name: &str) -> Outcome<Option<ItemList>> {
    let sql = sql!(
        "SELECT access, most, persists, sends_latest FROM item_list WHERE site = $1 AND user = $2 AND list = $3"
    );
    let values = params![user.site.0, user.num, name];
    Ok(db.prepare_cached(sql)?.query_row(values, |row| list_row(row, 0)).optional()?)
}

/// Whether everybody may read the list, and its newest item has this version.
pub(crate) fn is_newest_for_everybody(
    db: &Connection,
    user: UserId,
    name: &str,
    version: u64,
) -> Outcome<bool> {
    if list(db, user, name)?.is_none_or(|list| list.access != ItemAccess::Everybody) {
        return Ok(false);
    }
    let sql = sql!("SELECT max(version) FROM item WHERE site = $1 AND user = $2 AND list = $3");
    let values = params![user.site.0, user.num, name];
    let newest: Option<i64> = db.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
    Ok(newest == Some(version as i64))
}

fn lists(db: &Connection, user: UserId) -> Outcome<Vec<(Box<str>, ItemList)>> {
    let sql = sql!(
        "SELECT list, access, most, persists, sends_latest FROM item_list WHERE site = $1 AND user = $2 \
         ORDER BY list"
    );
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement
        .query_map([user.site.0, user.num], |row| Ok((row.get::<_, String>(0)?.into(), list_row(row, 1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn count_lists(db: &Connection, user: UserId) -> Outcome<u32> {
    let sql = sql!("SELECT count(*) FROM item_list WHERE site = $1 AND user = $2");
    Ok(db.prepare_cached(sql)?.query_row([user.site.0, user.num], |row| row.get(0))?)
}

pub(crate) fn has_any(db: &Connection, user: UserId) -> Outcome<bool> {
    let sql = sql!("SELECT 1 FROM item_list WHERE site = $1 AND user = $2");
    Ok(db.prepare_cached(sql)?.exists([user.site.0, user.num])?)
}

/// The ids of a list with the lengths of their values, oldest first.
fn sizes(db: &Connection, user: UserId, name: &str) -> Outcome<Vec<(Box<str>, usize)>> {
    let sql = sql!(
        "SELECT id, octet_length(payload) FROM item \
         WHERE site = $1 AND user = $2 AND list = $3 ORDER BY version"
    );
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![user.site.0, user.num, name], |row| {
        Ok((row.get::<_, String>(0)?.into(), row.get::<_, i64>(1)? as usize))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn item(db: &Connection, user: UserId, name: &str, id: &str) -> Outcome<Option<Item>> {
    let sql =
        sql!("SELECT version, payload FROM item WHERE site = $1 AND user = $2 AND list = $3 AND id = $4");
    let values = params![user.site.0, user.num, name, id];
    let found = db.prepare_cached(sql)?.query_row(values, |row| {
        let payload: String = row.get(1)?;
        Ok(Item { id: id.into(), version: row.get::<_, i64>(0)? as u64, payload: Some(payload.into()) })
    });
    Ok(found.optional()?)
}

fn page(
    db: &Connection,
    user: UserId,
    reader: ItemReader,
    name: &str,
    of: &ItemsOf,
) -> Outcome<Result<ItemsPage, Refusal>> {
    let Some(list) = list(db, user, name)?.filter(|list| list.access.admits(reader)) else {
        return Ok(Err(Refusal::NoSuchItem));
    };
    let all = sizes(db, user, name)?;
    let (index, ids): (usize, Vec<&str>) = match of {
        ItemsOf::Ids(ids) => {
            let mut bytes = 0;
            let those = all.iter().filter(|(id, _)| ids.contains(id)).take_while(|(_, length)| {
                let is_first = bytes == 0;
                bytes += (*length).max(1);
                is_first || bytes <= ITEM_PAGE_BYTES
            });
            (0, those.map(|(id, _)| &**id).collect())
        }
        ItemsOf::Newest(_) | ItemsOf::After(..) | ItemsOf::Before(..) | ItemsOf::First(_) => {
            let Some((first, count)) = item_page(&all, of) else { return Ok(Err(Refusal::NoSuchItem)) };
            (first, all[first..first + count].iter().map(|(id, _)| &**id).collect())
        }
    };
    let mut items = Vec::with_capacity(ids.len());
    for id in ids {
        items.extend(item(db, user, name, id)?);
    }
    Ok(Ok(ItemsPage { list, items, index: index as u32, count: all.len() as u32 }))
}

fn latest(db: &Connection, me: UserId, mode: Mode, of: &LatestItems) -> Outcome<LatestPage> {
    let mut users = contact::contact_ids(db, me)?.seen().to_vec();
    users.push(me);
    users.retain(|user| of.after.is_none_or(|after| user.num > after));
    users.retain(|user| of.only.is_none_or(|only| user.num == only));
    users.sort_unstable_by_key(|user| user.num);
    let (mut page, mut bytes) = (LatestPage::default(), 0);
    for user in users {
        if bytes >= ITEM_PAGE_BYTES || page.items.len() >= MOST_LATEST {
            return Ok(page);
        }
        let wanted = lists(db, user)?.into_iter();
        let wanted: Vec<_> =
            wanted.filter(|(name, list)| list.sends_latest && of.lists.contains(name)).collect();
        page.next = Some(user.num);
        if wanted.is_empty() {
            continue;
        }
        let Some(row) = user::by_id(db, user)? else { continue };
        let reader = match user == me {
            true => Some(ItemReader::Owner),
            false => item_reader(mode, row.privacy, row.banned, Viewpoint::CONTACT),
        };
        for (name, _) in
            wanted.into_iter().filter(|(_, list)| reader.is_some_and(|one| list.access.admits(one)))
        {
            let Some((id, _)) = sizes(db, user, &name)?.pop() else { continue };
            let Some(item) = item(db, user, &name, &id)? else { continue };
            let item = item.notice();
            bytes += item.payload.as_ref().map_or(0, |payload| payload.len());
            let change = ItemChange::Put(item);
            page.items.push(Arc::new(ItemNews { user: row.profile.sub.clone(), list: name, change }));
        }
    }
    page.next = None;
    Ok(page)
}

/// Items of all lists after a version, ascending. The one with which they reach `bytes` is the last.
pub(crate) fn after(
    db: &Connection,
    user: UserId,
    version: i64,
    limit: u32,
    bytes: usize,
) -> Outcome<Vec<ExportedItem>> {
    let sql = sql!(
        "SELECT list, id FROM item WHERE site = $1 AND user = $2 AND version > $3 ORDER BY version LIMIT $4"
    );
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![user.site.0, user.num, version, limit], |row| {
        Ok((row.get::<_, Box<str>>(0)?, row.get::<_, Box<str>>(1)?))
    })?;
    let (mut items, mut length) = (Vec::new(), 0);
    for row in rows {
        let (list, id) = row?;
        let Some(item) = item(db, user, &list, &id)? else { continue };
        length += item.payload.as_ref().map_or(0, |payload| payload.len());
        items.push(ExportedItem { list, item });
        if length >= bytes {
            break;
        }
    }
    Ok(items)
}

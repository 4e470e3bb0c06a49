//! The part of the port that is about stickers.

use super::MemoryStore;
use super::tables::Tables;
use crate::messages::stickers::{MOST_STICKERS, NewSticker, Sticker, StickerId, StickerStore};
use crate::{Done, FileType, SiteId};

impl StickerStore for MemoryStore {
    fn add_sticker(&self, new: NewSticker, done: Done<bool>) {
        let add = move |tables: &mut Tables| {
            let site = new.sticker.id.site;
            let count = tables.stickers.iter().filter(|one| one.sticker.id.site == site).count();
            let is_room = tables.sites.contains_key(&site) && count < MOST_STICKERS as usize;
            if is_room {
                tables.stickers.push(new);
            }
            is_room
        };
        self.write(add, done);
    }

    fn remove_sticker(&self, id: StickerId, done: Done<bool>) {
        self.write(move |tables| tables.remove_sticker(id), done);
    }

    fn stickers(&self, site: SiteId, done: Done<Vec<Sticker>>) {
        self.read(
            move |tables| {
                let of_site = tables.stickers.iter().filter(|one| one.sticker.id.site == site);
                of_site.map(|one| one.sticker.clone()).collect()
            },
            done,
        );
    }

    fn sticker(&self, id: StickerId, done: Done<Option<Sticker>>) {
        self.read(move |tables| tables.sticker(id).map(|one| one.sticker.clone()), done);
    }

    fn sticker_picture(&self, id: StickerId, done: Done<Option<(FileType, Vec<u8>)>>) {
        self.read(move |tables| tables.sticker(id).map(|one| (one.sticker.kind, one.bytes.clone())), done);
    }
}

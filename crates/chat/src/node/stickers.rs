//! Stickers of a site, for its server and its admins.

use crate::store::unavailable;
use crate::{
    Caller, FileType, ModeratorAct, NewSticker, NoSticker, Node, Refusal, Sticker, StickerId, StoreError,
    Timestamp, Told,
};

impl Node {
    pub fn stickers(&self, caller: &Caller, told: Told<Vec<Sticker>>) {
        let done = move |all: Result<Vec<Sticker>, StoreError>| told(all.map_err(unavailable));
        self.inner().store.stickers(caller.site(), Box::new(done));
    }

    /// Adds a sticker that [`NewSticker::check`] accepted. Its site is the caller's. It is recorded.
    pub fn add_sticker(&self, caller: &Caller, new: NewSticker, told: Told<Result<(), NoSticker>>) {
        let id = StickerId { site: caller.site(), ..new.sticker.id };
        let now = new.added;
        let new = NewSticker { sticker: Sticker { id, ..new.sticker }, ..new };
        let (node, by) = (self.inner().clone(), caller.by());
        let done = move |added: Result<bool, StoreError>| match added {
            Ok(true) => {
                let recorded = move |outcome: Result<(), Refusal>| told(outcome.map(Ok));
                node.moderation.record(id.site, by, ModeratorAct::StickerAdded(id.number), now, recorded);
            }
            Ok(false) => told(Ok(Err(NoSticker::TooMany))),
            Err(error) => told(Err(unavailable(error))),
        };
        self.inner().store.add_sticker(new, Box::new(done));
    }

    /// It is recorded.
    pub fn remove_sticker(&self, caller: &Caller, number: u64, now: Timestamp, told: Told<()>) {
        let id = StickerId { site: caller.site(), number };
        let (node, by) = (self.inner().clone(), caller.by());
        let done = move |removed: Result<bool, StoreError>| match removed {
            Ok(true) => node.moderation.record(id.site, by, ModeratorAct::StickerRemoved(number), now, told),
            Ok(false) => told(Err(Refusal::NoSuchSticker)),
            Err(error) => told(Err(unavailable(error))),
        };
        self.inner().store.remove_sticker(id, Box::new(done));
    }

    /// For everybody who knows its id.
    pub fn sticker_picture(&self, id: StickerId, told: Told<(FileType, Vec<u8>)>) {
        let done = move |found: Result<Option<(FileType, Vec<u8>)>, StoreError>| {
            let found = found.map_err(unavailable);
            told(found.and_then(|picture| picture.ok_or(Refusal::NoSuchSticker)));
        };
        self.inner().store.sticker_picture(id, Box::new(done));
    }
}

//! The stickers of a site, for its server and its admins.

use std::sync::Arc;

use crate::messages::Messages;
use crate::session::Completion;
use crate::store::unavailable;
use crate::{
    Caller, Done, FileType, ModeratorAct, NewSticker, NoSticker, Refusal, Sticker, StickerId, Timestamp, Told,
};

impl Messages {
    pub(crate) fn stickers(&self, caller: &Caller, told: Told<Vec<Sticker>>) {
        self.store.stickers(caller.site(), Box::new(move |all| told(all.map_err(unavailable))));
    }

    /// Adds a sticker that [`NewSticker::check`] accepted to the caller's site, and records it.
    pub(crate) fn add_sticker(
        self: &Arc<Self>,
        caller: &Caller,
        new: NewSticker,
        told: Told<Result<(), NoSticker>>,
    ) {
        let id = StickerId { site: caller.site(), ..new.sticker.id };
        let now = new.added;
        let new = NewSticker { sticker: Sticker { id, ..new.sticker }, ..new };
        let by = caller.by();
        let done = self.then(move |this, added| match added {
            Ok(true) => {
                let recorded = move |outcome: Result<(), Refusal>| told(outcome.map(Ok));
                this.moderation.record(id.site, by, ModeratorAct::StickerAdded(id.number), now, recorded);
            }
            Ok(false) => told(Ok(Err(NoSticker::TooMany))),
            Err(error) => told(Err(unavailable(error))),
        });
        self.store.add_sticker(new, done);
    }

    /// Removes a sticker, and records it.
    pub(crate) fn remove_sticker(
        self: &Arc<Self>,
        caller: &Caller,
        number: u64,
        now: Timestamp,
        told: Told<()>,
    ) {
        let id = StickerId { site: caller.site(), number };
        let by = caller.by();
        let done = self.then(move |this, removed| match removed {
            Ok(true) => this.moderation.record(id.site, by, ModeratorAct::StickerRemoved(number), now, told),
            Ok(false) => told(Err(Refusal::NoSuchSticker)),
            Err(error) => told(Err(unavailable(error))),
        });
        self.store.remove_sticker(id, done);
    }

    /// The picture of a sticker, for everybody who knows its id.
    pub(crate) fn sticker_picture(&self, id: StickerId, told: Told<(FileType, Vec<u8>)>) {
        let done: Done<Option<(FileType, Vec<u8>)>> = Box::new(move |found| {
            let found = found.map_err(unavailable);
            told(found.and_then(|picture| picture.ok_or(Refusal::NoSuchSticker)));
        });
        self.store.sticker_picture(id, done);
    }
}

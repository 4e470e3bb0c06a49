//! The stickers of a site, for its server and its admins.

use std::sync::Arc;

use crate::messages::Messages;
use crate::session::Completion;
use crate::store::unavailable;
use crate::{
    Caller, Done, FileType, ModeratorAct, NewSticker, NoSticker, Refusal, Respond, Sticker, StickerId,
    Timestamp,
};

impl Messages {
    pub(crate) fn stickers(&self, caller: &Caller, respond: Respond<Vec<Sticker>>) {
        self.store.stickers(caller.site(), Box::new(move |all| respond(all.map_err(unavailable))));
    }

    /// Adds a sticker that [`NewSticker::check`] accepted to the caller's site, and records it.
    pub(crate) fn add_sticker(
        self: &Arc<Self>,
        caller: &Caller,
        new: NewSticker,
        respond: Respond<Result<(), NoSticker>>,
    ) {
        let id = StickerId { site: caller.site(), ..new.sticker.id };
        let now = new.added;
        let new = NewSticker { sticker: Sticker { id, ..new.sticker }, ..new };
        let by = caller.by();
        let done = self.then(move |this, added| match added {
            Ok(true) => {
                let recorded = move |outcome: Result<(), Refusal>| respond(outcome.map(Ok));
                this.moderation.record(id.site, by, ModeratorAct::StickerAdded(id.number), now, recorded);
            }
            Ok(false) => respond(Ok(Err(NoSticker::TooMany))),
            Err(error) => respond(Err(unavailable(error))),
        });
        self.store.add_sticker(new, done);
    }

    /// Removes a sticker, and records it.
    pub(crate) fn remove_sticker(
        self: &Arc<Self>,
        caller: &Caller,
        number: u64,
        now: Timestamp,
        respond: Respond<()>,
    ) {
        let id = StickerId { site: caller.site(), number };
        let by = caller.by();
        let done = self.then(move |this, removed| match removed {
            Ok(true) => {
                this.moderation.record(id.site, by, ModeratorAct::StickerRemoved(number), now, respond)
            }
            Ok(false) => respond(Err(Refusal::NoSuchSticker)),
            Err(error) => respond(Err(unavailable(error))),
        });
        self.store.remove_sticker(id, done);
    }

    /// The picture of a sticker, for everybody who knows its id.
    pub(crate) fn sticker_picture(&self, id: StickerId, respond: Respond<(FileType, Vec<u8>)>) {
        let done: Done<Option<(FileType, Vec<u8>)>> = Box::new(move |found| {
            let found = found.map_err(unavailable);
            respond(found.and_then(|picture| picture.ok_or(Refusal::NoSuchSticker)));
        });
        self.store.sticker_picture(id, done);
    }
}

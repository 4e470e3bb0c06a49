//! Stickers: small pictures of a site's owner, sent as a message of their own. The message has a word for it as its body, for all who see no
//! pictures: other programs, the search, notices, mails, screen readers; and for everybody once the sticker is removed.
//!
//! A sticker is the site's and not a file of the sender's: it counts for nobody, and is sent as often as one likes.

use crate::messages::Event;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::AnswerTo;
use crate::messages::Messages;
use crate::messages::send::{Draft, SendJob};
use crate::session::Asker;
use crate::session::admission::UnderWay;
use crate::store::unavailable;
use crate::{Done, FileType, NewRich, Refusal, Seq, SiteId, StoreError, Timestamp, To};

/// Stickers of one site.
pub const MOST_STICKERS: u32 = 200;
/// Of a picture, made anew.
pub const STICKER_BYTES: usize = 128 * 1024;
/// Longest name of a series, and longest words of a sticker.
pub const SERIES_BYTES: usize = 60;
pub const WORDS_BYTES: usize = 100;

/// Everybody who knows it may see the picture, because it is random.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StickerId {
    pub site: SiteId,
    pub number: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sticker {
    pub id: StickerId,
    /// Those of one name are shown together.
    pub series: Box<str>,
    /// The words of the sticker, as the body of a message.
    pub words: Box<str>,
    pub kind: FileType,
    pub width: u32,
    pub height: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSticker {
    pub sticker: Sticker,
    /// Made anew by us.
    pub bytes: Vec<u8>,
    pub added: Timestamp,
}

/// Why a picture is no sticker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSticker {
    #[error("a set has a name of 1 to {SERIES_BYTES} bytes, in one line")]
    Series,
    #[error("a sticker has words of 1 to {WORDS_BYTES} bytes, in one line")]
    Words,
    #[error("a sticker has at most {STICKER_BYTES} bytes, in the size in which it is kept")]
    TooLarge,
    #[error("a site has at most {MOST_STICKERS} stickers")]
    TooMany,
}

impl NewSticker {
    /// Checks before storing it.
    pub fn check(&self) -> Result<(), NoSticker> {
        let is_line = |text: &str, most: usize| {
            !text.trim().is_empty() && text.len() <= most && !text.contains(char::is_control)
        };
        if !is_line(&self.sticker.series, SERIES_BYTES) {
            return Err(NoSticker::Series);
        }
        if !is_line(&self.sticker.words, WORDS_BYTES) {
            return Err(NoSticker::Words);
        }
        if self.bytes.len() > STICKER_BYTES { Err(NoSticker::TooLarge) } else { Ok(()) }
    }
}

/// The part of the port to storage that is about stickers. See [`Store`](crate::Store), of which it is a part.
pub trait StickerStore: Send + Sync + 'static {
    /// False where the site has [`MOST_STICKERS`] already, or is no site.
    fn add_sticker(&self, new: NewSticker, done: Done<bool>);
    /// Messages keep its words. False where there is none.
    fn remove_sticker(&self, id: StickerId, done: Done<bool>);
    /// In the order in which they came.
    fn stickers(&self, site: SiteId, done: Done<Vec<Sticker>>);
    fn sticker(&self, id: StickerId, done: Done<Option<Sticker>>);
    fn sticker_picture(&self, id: StickerId, done: Done<Option<(FileType, Vec<u8>)>>);
}

/// A sticker that a member sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendSticker {
    pub client_id: Box<str>,
    pub to: To,
    pub number: u64,
    pub reply_to: Option<Seq>,
    /// The root of the thread in which it is a reply.
    pub thread: Option<Seq>,
}

impl Messages {
    /// Looked up first, and then posted as any other message: it may come after what the session says next.
    pub(crate) fn send_sticker(
        self: &Arc<Self>,
        asker: Asker,
        wanted: SendSticker,
        under_way: UnderWay,
        now: Timestamp,
    ) {
        let SendSticker { client_id, to, number, reply_to, thread } = wanted;
        let (this, site) = (self.clone(), asker.session.user.site);
        let done = move |found: Result<Option<Sticker>, StoreError>| {
            let found = found.map_err(unavailable).and_then(|sticker| sticker.ok_or(Refusal::NoSuchSticker));
            let sticker = match found {
                Ok(sticker) => sticker,
                Err(refusal) => {
                    under_way.is_done();
                    return this.sessions.refuse(asker.session.handle, AnswerTo::Message(client_id), refusal);
                }
            };
            let draft = Draft {
                client_id,
                body: sticker.words.clone(),
                reply_to,
                files: Vec::new(),
                rich: NewRich { sticker: Some(sticker), thread, ..NewRich::default() }.boxed(),
                under_way,
                // The words are the owner's.
                verdict: None,
            };
            match to.room(site) {
                Ok(room) => this.post(&asker, room, draft, now),
                // Whether the session waits for somebody may have changed while the sticker was looked up: it is looked at.
                Err(to) => {
                    this.users.for_peer(asker, true, to, SendJob { messages: this.clone(), draft }, now)
                }
            }
        };
        self.store.sticker(StickerId { site, number }, Box::new(done));
    }

    pub(crate) fn list_stickers(self: &Arc<Self>, asker: &Asker, re: u64) {
        let (this, handle) = (self.clone(), asker.session.handle);
        let done = move |all: Result<Vec<Sticker>, StoreError>| match all {
            Ok(stickers) => this.sessions.answer(handle, re, Event::Stickers(stickers)),
            Err(error) => this.sessions.refuse(handle, AnswerTo::Request(re), unavailable(error)),
        };
        self.store.stickers(asker.session.user.site, Box::new(done));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_sticker_is_made_of() {
        let new = |series: &str, words: &str, bytes: usize| NewSticker {
            sticker: Sticker {
                id: StickerId { site: SiteId(1), number: 1 },
                series: series.into(),
                words: words.into(),
                kind: FileType::named("image/png"),
                width: 1,
                height: 1,
            },
            bytes: vec![0; bytes],
            added: Timestamp(0),
        };
        assert_eq!(new("Hikers", "👋 Hello", STICKER_BYTES).check(), Ok(()));
        for series in ["", " ", "a\nb", &"x".repeat(SERIES_BYTES + 1)] {
            assert_eq!(new(series, "x", 1).check(), Err(NoSticker::Series), "{series:?}");
        }
        for words in ["", "\t", "a\0b", &"x".repeat(WORDS_BYTES + 1)] {
            assert_eq!(new("x", words, 1).check(), Err(NoSticker::Words), "{words:?}");
        }
        assert_eq!(new("x", "x", STICKER_BYTES + 1).check(), Err(NoSticker::TooLarge));
    }
}

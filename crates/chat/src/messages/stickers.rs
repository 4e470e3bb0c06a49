//! Stickers: small pictures of a site's owner, sent as separate messages. The body of the message is the
//! words of the sticker. Clients without pictures use them (other programs, search, notices, mails, screen
//! readers), and all clients after the sticker was removed.
//!
//! A sticker belongs to the site and is no file of the sender. It counts against no quota, and may be sent
//! without limit.

use crate::messages::Event;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::AnswerTo;
use crate::messages::Messages;
use crate::messages::send::{Draft, SendJob};
use crate::session::admission::UnderWay;
use crate::session::{Asker, Completion};
use crate::store::unavailable;
use crate::{Done, FileType, NewRich, Refusal, Seq, SiteId, Timestamp, To};

/// Stickers of one site.
pub const MOST_STICKERS: u32 = 200;
/// Longest encoded picture, in bytes.
pub const STICKER_BYTES: usize = 128 * 1024;
/// Longest name of a series, and longest words of a sticker, in bytes.
pub const SERIES_BYTES: usize = 60;
pub const WORDS_BYTES: usize = 100;

/// Random, because everybody who knows it may see the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StickerId {
    pub site: SiteId,
    pub number: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sticker {
    pub id: StickerId,
    /// Stickers with the same series are shown together.
    pub series: Box<str>,
    /// The words of the sticker, which become the body of the message.
    pub words: Box<str>,
    pub kind: FileType,
    pub width: u32,
    pub height: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSticker {
    pub sticker: Sticker,
    /// The picture, encoded anew by the server.
    pub bytes: Vec<u8>,
    pub added: Timestamp,
}

/// The reason why a sticker is refused.
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
    /// Checks the sticker, before it is stored.
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

/// The slice of the port to storage for stickers. See [`Store`](crate::Store).
pub trait StickerStore: Send + Sync + 'static {
    /// False if the site has [`MOST_STICKERS`] already, or does not exist.
    fn add_sticker(&self, new: NewSticker, done: Done<bool>);
    /// Messages keep its words. False if it does not exist.
    fn remove_sticker(&self, id: StickerId, done: Done<bool>);
    /// The site's stickers, oldest first.
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
    /// The root of the thread, if the message is a reply.
    pub thread: Option<Seq>,
}

impl Messages {
    /// Looks the sticker up, and then posts it like any message. It may come after later messages of the
    /// session.
    pub(crate) fn send_sticker(
        self: &Arc<Self>,
        asker: Asker,
        wanted: SendSticker,
        under_way: UnderWay,
        now: Timestamp,
    ) {
        let SendSticker { client_id, to, number, reply_to, thread } = wanted;
        let site = asker.session.user.site;
        let done = self.then::<Option<Sticker>>(move |this, found| {
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
                extension: None,
                reply_to,
                files: Vec::new(),
                rich: NewRich { sticker: Some(sticker), thread, ..NewRich::default() }.boxed(),
                under_way,
                // The site's owner has written the words.
                verdict: None,
            };
            match to.room(site) {
                Ok(room) => this.post(&asker, room, draft, now),
                // The state of `is_waiting` may have changed during the look-up, so it is checked again.
                Err(to) => {
                    this.users.for_peer(asker, true, to, SendJob { messages: this.clone(), draft }, now)
                }
            }
        });
        self.store.sticker(StickerId { site, number }, done);
    }

    pub(crate) fn list_stickers(self: &Arc<Self>, asker: &Asker, re: u64) {
        let handle = asker.session.handle;
        let done = self.on_loaded(handle, AnswerTo::Request(re), move |this, stickers| {
            this.sessions.answer(handle, re, Event::Stickers(stickers))
        });
        self.store.stickers(asker.session.user.site, done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stickers_are_checked() {
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

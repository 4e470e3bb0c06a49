//! The server's texts for users in their language: digests by mail, the unsubscribe page, and push notifications. They are the namespace
//! `server` of `messages/<language>.json`.

mod form;
mod message;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use chat::{CallEntry, Media, News};

pub(crate) use self::message::{Message, Value};

pub(crate) struct Words {
    /// As in RFC 5646.
    pub(crate) language: &'static str,
    pub(crate) mail: MailWords,
    pub(crate) notice: NoticeWords,
    call: CallWords,
}

pub(crate) struct MailWords {
    /// `count` messages on `site`.
    pub(crate) subject: Message,
    /// `name`: the reader's.
    pub(crate) greeting: Message,
    /// `site`
    pub(crate) intro: Message,
    /// `count` messages of one conversation.
    pub(crate) unread: Message,
    /// `count` calls of one conversation.
    pub(crate) missed_calls: Message,
    /// `name` has written in `room`.
    pub(crate) in_room: Message,
    /// `count` conversations.
    pub(crate) more: Message,
    pub(crate) open: String,
    /// `site`
    pub(crate) why: Message,
    pub(crate) end: String,
    pub(crate) end_title: String,
    pub(crate) end_ask: String,
    pub(crate) end_button: String,
    pub(crate) end_done: String,
    pub(crate) end_wrong: String,
}

/// Texts of notifications without the message.
pub(crate) struct NoticeWords {
    pub(crate) message: String,
    /// `count` messages, more than one.
    pub(crate) messages: Message,
    /// `name`: who has.
    pub(crate) mentioned: Message,
    /// The last message has only content for other apps.
    opaque: String,
}

struct CallWords {
    audio: String,
    video: String,
    missed_audio: String,
    missed_video: String,
    incoming_audio: String,
    incoming_video: String,
    /// Replaces the notification of a ring for a moment.
    no_longer_rings: String,
}

/// Each language and its texts as JSON, from `messages/` by `build.rs`.
static SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/messages.rs"));

static LANGUAGES: LazyLock<Vec<Words>> = LazyLock::new(|| {
    let read = |&(language, json)| Catalogue::read(language, json);
    let catalogues: Vec<Catalogue> = SOURCES.iter().map(read).collect();
    let english = catalogues.iter().find(|one| one.language == "en").expect("messages/en.json is there");
    catalogues.iter().map(|own| Words::of(&Texts { own, english })).collect()
});

/// The texts for a tag of RFC 5646, also with an underscore (OpenID Connect Core 1.0 §5.1), or a list of them in the order of preference
/// (RFC 9110 §12.5.4). Returns the first known base language, or English.
pub(crate) fn words(wanted: &str) -> &'static Words {
    let spoken = |tag: &str| {
        let base = tag.split([';', '-', '_']).next().unwrap_or_default().trim();
        LANGUAGES.iter().find(|one| one.language.eq_ignore_ascii_case(base))
    };
    wanted.split(',').find_map(spoken).or_else(|| spoken("en")).expect("English is spoken")
}

impl Words {
    fn of(texts: &Texts<'_>) -> Words {
        let (message, text) = (|path| texts.message(path), |path| texts.text(path));
        Words {
            language: texts.own.language,
            mail: MailWords {
                subject: message("/mail/subject"),
                greeting: message("/mail/greeting"),
                intro: message("/mail/intro"),
                unread: message("/mail/unread"),
                missed_calls: message("/mail/missedCalls"),
                in_room: message("/mail/inRoom"),
                more: message("/mail/more"),
                open: text("/mail/open"),
                why: message("/mail/why"),
                end: text("/mail/end"),
                end_title: text("/mail/endTitle"),
                end_ask: text("/mail/endAsk"),
                end_button: text("/mail/endButton"),
                end_done: text("/mail/endDone"),
                end_wrong: text("/mail/endWrong"),
            },
            notice: NoticeWords {
                message: text("/notification/message"),
                messages: message("/notification/messages"),
                mentioned: message("/notification/mentioned"),
                opaque: text("/notification/opaque"),
            },
            call: CallWords {
                audio: text("/call/audio"),
                video: text("/call/video"),
                missed_audio: text("/call/missedAudio"),
                missed_video: text("/call/missedVideo"),
                incoming_audio: text("/call/incomingAudio"),
                incoming_video: text("/call/incomingVideo"),
                no_longer_rings: text("/call/noLongerRings"),
            },
        }
    }

    /// The last message, or its description in the reader's language. The body of a call's entry is in English.
    pub(crate) fn said<'n>(&'n self, news: &'n News) -> Option<&'n str> {
        let described = news.call.map(|call| self.call(call)).or(news.opaque.then_some(&*self.notice.opaque));
        described.or(news.body.as_deref())
    }

    /// For the attribute of that name.
    pub(crate) fn dir(&self) -> &'static str {
        match self.language {
            "ar" | "dv" | "fa" | "he" | "ku" | "ps" | "sd" | "ug" | "ur" | "yi" => "rtl",
            _ => "ltr",
        }
    }

    /// Isolates a name or an address in a text from right to left, so that its direction does not affect the text around it (Unicode
    /// Standard Annex 9 §2.4).
    pub(crate) fn isolated(&self, text: &str) -> String {
        if self.dir() == "rtl" { format!("\u{2068}{text}\u{2069}") } else { text.to_owned() }
    }

    /// The text of a finished call.
    pub(crate) fn call(&self, entry: CallEntry) -> &str {
        match (entry.is_missed(), entry.media) {
            (false, Media::Audio) => &self.call.audio,
            (false, Media::Video) => &self.call.video,
            (true, Media::Audio) => &self.call.missed_audio,
            (true, Media::Video) => &self.call.missed_video,
        }
    }

    /// The text of a ringing call.
    pub(crate) fn incoming(&self, media: Media) -> &str {
        match media {
            Media::Audio => &self.call.incoming_audio,
            Media::Video => &self.call.incoming_video,
        }
    }

    pub(crate) fn no_longer_rings(&self) -> &str {
        &self.call.no_longer_rings
    }
}

struct Catalogue {
    language: &'static str,
    texts: serde_json::Value,
}

impl Catalogue {
    fn read(language: &'static str, json: &str) -> Catalogue {
        Catalogue { language, texts: serde_json::from_str(json).expect("build.rs has written JSON") }
    }

    /// `path`: a JSON Pointer (RFC 6901).
    fn message(&self, path: &str) -> Option<Message> {
        let text = self.texts.pointer(path)?.as_str()?;
        let message = Message::parse(text, form::of(self.language));
        Some(message.unwrap_or_else(|error| panic!("messages/{}.json: {path}: {error}", self.language)))
    }
}

/// A missing text is the English one.
struct Texts<'a> {
    own: &'a Catalogue,
    english: &'a Catalogue,
}

impl Texts<'_> {
    fn message(&self, path: &str) -> Message {
        self.own.message(path).or_else(|| self.english.message(path)).expect("English has every text")
    }

    /// Of a text without arguments.
    fn text(&self, path: &str) -> String {
        self.message(path).format(&[], &str::to_owned)
    }
}

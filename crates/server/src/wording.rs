//! What the server itself says to members, each in their language: digests by mail and the page that ends them, notices of browsers.
//! A language is a file; the widget's are in `widget/app/src/wording`.

mod ar;
mod cs;
mod de;
mod en;
mod es;
mod fa;
mod form;
mod fr;
mod he;
mod hi;
mod it;
mod ja;
mod ko;
mod nl;
mod pl;
mod pt;
mod ru;
mod sv;
#[cfg(test)]
mod tests;
mod tr;
mod uk;
mod zh;

use chat::{CallEntry, Media};

use self::form::Form;

/// In curly braces stands what [`fill`] puts in.
pub(crate) struct Words {
    /// As in RFC 5646.
    pub(crate) language: &'static str,
    /// Which form a number asks for.
    form: fn(u64) -> Form,
    pub(crate) mail: MailWords,
    pub(crate) notice: NoticeWords,
    call: CallWords,
}

/// The last one stands in for forms that are left out.
pub(crate) type Forms = &'static [(Form, &'static str)];

pub(crate) struct MailWords {
    /// `{n}`: how many messages; `{site}`: its name.
    pub(crate) subject: Forms,
    /// `{name}`: the reader's.
    pub(crate) greeting: &'static str,
    pub(crate) intro: &'static str,
    /// `{n}` messages of one conversation.
    pub(crate) unread: Forms,
    /// `{n}` calls of one conversation.
    pub(crate) missed_calls: Forms,
    /// `{name}` has written in `{room}`.
    pub(crate) in_room: &'static str,
    /// `{n}`: how many conversations.
    pub(crate) more: Forms,
    pub(crate) open: &'static str,
    pub(crate) why: &'static str,
    pub(crate) end: &'static str,
    pub(crate) end_title: &'static str,
    pub(crate) end_ask: &'static str,
    pub(crate) end_button: &'static str,
    pub(crate) end_done: &'static str,
    pub(crate) end_wrong: &'static str,
}

/// Where notices do not show what was written.
pub(crate) struct NoticeWords {
    pub(crate) message: &'static str,
    /// `{n}` messages, more than one.
    pub(crate) messages: Forms,
    /// `{name}`: who has.
    pub(crate) mentioned: &'static str,
}

struct CallWords {
    audio: &'static str,
    video: &'static str,
    missed_audio: &'static str,
    missed_video: &'static str,
    incoming_audio: &'static str,
    incoming_video: &'static str,
    /// Replaces the notice of a call that rang here, for a moment.
    no_longer_rings: &'static str,
}

/// English comes first: it is what others are spoken to in.
static LANGUAGES: [&Words; 20] = [
    &en::WORDS,
    &ar::WORDS,
    &cs::WORDS,
    &de::WORDS,
    &es::WORDS,
    &fa::WORDS,
    &fr::WORDS,
    &he::WORDS,
    &hi::WORDS,
    &it::WORDS,
    &ja::WORDS,
    &ko::WORDS,
    &nl::WORDS,
    &pl::WORDS,
    &pt::WORDS,
    &ru::WORDS,
    &sv::WORDS,
    &tr::WORDS,
    &uk::WORDS,
    &zh::WORDS,
];

/// For a tag as in RFC 5646, with an underscore too (OpenID Connect Core 1.0 §5.1), or a list of them in the order of preference, as
/// browsers write it (RFC 9110 §12.5.4): the first of which we speak the base language, English where there is none.
pub(crate) fn words(wanted: &str) -> &'static Words {
    let spoken = |tag: &str| {
        let base = tag.split([';', '-', '_']).next().unwrap_or_default().trim();
        LANGUAGES.into_iter().find(|one| one.language.eq_ignore_ascii_case(base))
    };
    wanted.split(',').find_map(spoken).unwrap_or(&en::WORDS)
}

impl Words {
    /// For the attribute of that name.
    pub(crate) fn dir(&self) -> &'static str {
        if matches!(self.language, "ar" | "fa" | "he") { "rtl" } else { "ltr" }
    }

    /// The form for so many.
    pub(crate) fn count(&self, n: u64, forms: Forms) -> &'static str {
        let asked = (self.form)(n);
        let given = forms.iter().find(|(form, _)| *form == asked).or(forms.last());
        given.map_or("", |(_, text)| *text)
    }

    /// A name or an address within plain text: from right to left it is kept apart, so that its direction turns nothing around it
    /// (Unicode Standard Annex 9 §2.4).
    pub(crate) fn apart(&self, text: &str) -> String {
        if self.dir() == "rtl" { format!("\u{2068}{text}\u{2069}") } else { text.to_owned() }
    }

    /// The text of a finished call.
    pub(crate) fn call(&self, entry: CallEntry) -> &'static str {
        match (entry.is_missed(), entry.media) {
            (false, Media::Audio) => self.call.audio,
            (false, Media::Video) => self.call.video,
            (true, Media::Audio) => self.call.missed_audio,
            (true, Media::Video) => self.call.missed_video,
        }
    }
}

impl Words {
    /// A call that rings now.
    pub(crate) fn incoming(&self, media: Media) -> &'static str {
        match media {
            Media::Audio => self.call.incoming_audio,
            Media::Video => self.call.incoming_video,
        }
    }

    pub(crate) fn no_longer_rings(&self) -> &'static str {
        self.call.no_longer_rings
    }
}

/// The text with values in the place of their names. What a value says is not looked at again, whatever braces it has.
pub(crate) fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some((before, name, after)) = split(rest) {
        filled.push_str(before);
        filled.push_str(values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| *value));
        rest = after;
    }
    filled.push_str(rest);
    filled
}

fn split(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

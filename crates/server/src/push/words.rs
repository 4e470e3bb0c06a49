//! What notices say where they do not show what was written.

/// The words of one language.
pub(super) struct Words {
    pub(super) one: &'static str,
    /// `{n}` stands for the number.
    pub(super) many: &'static str,
    /// `{name}` stands for who has.
    pub(super) mentioned: &'static str,
}

const ENGLISH: Words =
    Words { one: "New message", many: "{n} new messages", mentioned: "{name} mentioned you" };
const GERMAN: Words =
    Words { one: "Neue Nachricht", many: "{n} neue Nachrichten", mentioned: "{name} hat dich erwähnt" };

/// For a tag as in RFC 5646; English where there is nothing better.
pub(super) fn words(language: &str) -> &'static Words {
    match language.split('-').next() {
        Some(primary) if primary.eq_ignore_ascii_case("de") => &GERMAN,
        _ => &ENGLISH,
    }
}

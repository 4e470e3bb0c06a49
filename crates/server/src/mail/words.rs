//! What digests and the page that ends them say.

pub(super) struct Words {
    pub(super) language: &'static str,
    /// `{n}`: how many messages; `{site}`: its name.
    pub(super) subject_one: &'static str,
    pub(super) subject_many: &'static str,
    /// `{name}`: the reader's.
    pub(super) greeting: &'static str,
    pub(super) intro: &'static str,
    pub(super) unread: &'static str,
    pub(super) in_room: &'static str,
    /// `{n}`: how many conversations.
    pub(super) more: &'static str,
    pub(super) open: &'static str,
    pub(super) why: &'static str,
    pub(super) end: &'static str,
    pub(super) end_title: &'static str,
    pub(super) end_ask: &'static str,
    pub(super) end_button: &'static str,
    pub(super) end_done: &'static str,
    pub(super) end_wrong: &'static str,
}

const ENGLISH: Words = Words {
    language: "en",
    subject_one: "1 unread message on {site}",
    subject_many: "{n} unread messages on {site}",
    greeting: "Hello {name},",
    intro: "this is what you have missed on {site}:",
    unread: "{n} unread",
    in_room: "{name} in {room}",
    more: "… and in {n} more conversations.",
    open: "Read and answer",
    why: "You get this at most once a day, because somebody wrote to you on {site} while you were away.",
    end: "No such mails any more",
    end_title: "Mails about missed messages",
    end_ask: "Do you want to get no more mails about missed messages?",
    end_button: "No more mails",
    end_done: "Done: you get no more mails about missed messages. You can turn them on again in the messenger, under Me.",
    end_wrong: "This link is not right any more. You can turn the mails off in the messenger, under Me.",
};

const GERMAN: Words = Words {
    language: "de",
    subject_one: "1 ungelesene Nachricht auf {site}",
    subject_many: "{n} ungelesene Nachrichten auf {site}",
    greeting: "Hallo {name},",
    intro: "das hast du auf {site} verpasst:",
    unread: "{n} ungelesen",
    in_room: "{name} in {room}",
    more: "… und in {n} weiteren Unterhaltungen.",
    open: "Lesen und antworten",
    why: "Du bekommst das höchstens einmal am Tag, weil dir jemand auf {site} geschrieben hat, während du weg warst.",
    end: "Keine solchen Mails mehr",
    end_title: "Mails über verpasste Nachrichten",
    end_ask: "Möchtest du keine Mails über verpasste Nachrichten mehr bekommen?",
    end_button: "Keine Mails mehr",
    end_done: "Erledigt: Du bekommst keine Mails über verpasste Nachrichten mehr. Im Messenger unter „Ich“ kannst du sie wieder einschalten.",
    end_wrong: "Dieser Link gilt nicht mehr. Im Messenger unter „Ich“ kannst du die Mails ausschalten.",
};

/// For a tag as in RFC 5646, or a list of them in the order of preference; English where there is nothing better.
pub(super) fn words(language: &str) -> &'static Words {
    let first = language.split([',', ';', '-']).next().unwrap_or_default().trim();
    if first.eq_ignore_ascii_case("de") { &GERMAN } else { &ENGLISH }
}

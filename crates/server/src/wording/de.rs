//! German.

use super::form::{
    Form::{One, Other},
    one_apart,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "de",
    form: one_apart,
    mail: MailWords {
        subject: &[
            (One, "1 ungelesene Nachricht auf {site}"),
            (Other, "{n} ungelesene Nachrichten auf {site}"),
        ],
        greeting: "Hallo {name},",
        intro: "das hast du auf {site} verpasst:",
        unread: &[(Other, "{n} ungelesen")],
        missed_calls: &[(One, "1 verpasster Anruf"), (Other, "{n} verpasste Anrufe")],
        in_room: "{name} in {room}",
        more: &[(One, "… und in 1 weiteren Unterhaltung."), (Other, "… und in {n} weiteren Unterhaltungen.")],
        open: "Lesen und antworten",
        why: "Du bekommst das höchstens einmal am Tag, weil dir jemand auf {site} geschrieben hat, während du weg warst.",
        end: "Abbestellen",
        end_title: "Mails über verpasste Nachrichten",
        end_ask: "Möchtest du keine Mails über verpasste Nachrichten mehr bekommen?",
        end_button: "Mails abbestellen",
        end_done: "Erledigt: Du bekommst keine Mails über verpasste Nachrichten mehr. Im Messenger unter „Ich“ kannst du sie wieder einschalten.",
        end_wrong: "Dieser Link gilt nicht mehr. Im Messenger unter „Ich“ kannst du die Mails ausschalten.",
    },
    notice: NoticeWords {
        message: "Neue Nachricht",
        messages: &[(One, "{n} neue Nachricht"), (Other, "{n} neue Nachrichten")],
        mentioned: "{name} hat dich erwähnt",
    },
    call: CallWords {
        audio: "Anruf",
        video: "Videoanruf",
        missed_audio: "Verpasster Anruf",
        missed_video: "Verpasster Videoanruf",
        incoming_audio: "Eingehender Anruf",
        incoming_video: "Eingehender Videoanruf",
        no_longer_rings: "Klingelt nicht mehr",
    },
};

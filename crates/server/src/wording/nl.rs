//! Dutch.

use super::form::{
    Form::{One, Other},
    one_apart,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "nl",
    form: one_apart,
    mail: MailWords {
        subject: &[(One, "1 ongelezen bericht op {site}"), (Other, "{n} ongelezen berichten op {site}")],
        greeting: "Hallo {name},",
        intro: "dit heb je gemist op {site}:",
        unread: &[(Other, "{n} ongelezen")],
        missed_calls: &[(One, "1 gemiste oproep"), (Other, "{n} gemiste oproepen")],
        in_room: "{name} in {room}",
        more: &[(One, "… en in nog 1 gesprek."), (Other, "… en in nog {n} gesprekken.")],
        open: "Lezen en antwoorden",
        why: "Je krijgt dit hoogstens één keer per dag, omdat iemand je op {site} heeft geschreven terwijl je weg was.",
        end: "Geen mails meer zoals deze",
        end_title: "Mails over gemiste berichten",
        end_ask: "Wil je geen mails over gemiste berichten meer krijgen?",
        end_button: "Geen mails meer",
        end_done: "Klaar: je krijgt geen mails over gemiste berichten meer. Je kunt ze weer aanzetten in de berichten, onder ‘Ik’.",
        end_wrong: "Deze link geldt niet meer. Je kunt de mails uitzetten in de berichten, onder ‘Ik’.",
    },
    notice: NoticeWords {
        message: "Nieuw bericht",
        messages: &[(One, "{n} nieuw bericht"), (Other, "{n} nieuwe berichten")],
        mentioned: "{name} heeft je vermeld",
    },
    call: CallWords {
        audio: "Spraakoproep",
        video: "Video-oproep",
        missed_audio: "Gemiste spraakoproep",
        missed_video: "Gemiste video-oproep",
        incoming_audio: "Inkomende spraakoproep",
        incoming_video: "Inkomende video-oproep",
        no_longer_rings: "Gaat niet meer over",
    },
};

//! Italian.

use super::form::{
    Form::{One, Other},
    one_apart,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "it",
    form: one_apart,
    mail: MailWords {
        subject: &[(One, "1 messaggio non letto su {site}"), (Other, "{n} messaggi non letti su {site}")],
        greeting: "Ciao {name},",
        intro: "ecco cosa ti sei perso su {site}:",
        unread: &[(One, "{n} non letto"), (Other, "{n} non letti")],
        missed_calls: &[(One, "1 chiamata persa"), (Other, "{n} chiamate perse")],
        in_room: "{name} in {room}",
        more: &[(One, "… e in 1 altra conversazione."), (Other, "… e in altre {n} conversazioni.")],
        open: "Leggi e rispondi",
        why: "Ricevi questa e-mail al massimo una volta al giorno, perché qualcuno ti ha scritto su {site} mentre non c’eri.",
        end: "Non ricevere più queste e-mail",
        end_title: "E-mail sui messaggi persi",
        end_ask: "Vuoi non ricevere più e-mail sui messaggi persi?",
        end_button: "Basta e-mail",
        end_done: "Fatto: non riceverai più e-mail sui messaggi persi. Puoi riattivarle nei messaggi, in “Io”.",
        end_wrong: "Questo link non è più valido. Puoi disattivare le e-mail nei messaggi, in “Io”.",
    },
    notice: NoticeWords {
        message: "Nuovo messaggio",
        messages: &[(One, "{n} nuovo messaggio"), (Other, "{n} nuovi messaggi")],
        mentioned: "{name} ti ha menzionato",
    },
    call: CallWords {
        audio: "Chiamata vocale",
        video: "Videochiamata",
        missed_audio: "Chiamata vocale persa",
        missed_video: "Videochiamata persa",
        incoming_audio: "Chiamata vocale in arrivo",
        incoming_video: "Videochiamata in arrivo",
        no_longer_rings: "Non squilla più",
    },
};

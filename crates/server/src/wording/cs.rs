//! Czech.

use super::form::{
    Form::{Few, One, Other},
    czech,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "cs",
    form: czech,
    mail: MailWords {
        subject: &[
            (One, "1 nepřečtená zpráva: {site}"),
            (Few, "{n} nepřečtené zprávy: {site}"),
            (Other, "{n} nepřečtených zpráv: {site}"),
        ],
        greeting: "Ahoj, {name}!",
        intro: "Tohle ti uteklo ({site}):",
        unread: &[(One, "{n} nepřečtená"), (Few, "{n} nepřečtené"), (Other, "{n} nepřečtených")],
        missed_calls: &[
            (One, "1 zmeškaný hovor"),
            (Few, "{n} zmeškané hovory"),
            (Other, "{n} zmeškaných hovorů"),
        ],
        in_room: "{name} v {room}",
        more: &[
            (One, "… a v 1 další konverzaci."),
            (Few, "… a ve {n} dalších konverzacích."),
            (Other, "… a v {n} dalších konverzacích."),
        ],
        open: "Přečíst a odpovědět",
        why: "Tohle dostáváš nejvýš jednou denně, protože ti někdo napsal ({site}), když jsi tu nebyl(a).",
        end: "Už neposílat takové e-maily",
        end_title: "E-maily o zmeškaných zprávách",
        end_ask: "Chceš už nedostávat e-maily o zmeškaných zprávách?",
        end_button: "Už žádné e-maily",
        end_done: "Hotovo: e-maily o zmeškaných zprávách už nedostaneš. Znovu je zapneš ve zprávách, v části „Já“.",
        end_wrong: "Tento odkaz už neplatí. E-maily vypneš ve zprávách, v části „Já“.",
    },
    notice: NoticeWords {
        message: "Nová zpráva",
        messages: &[(One, "{n} nová zpráva"), (Few, "{n} nové zprávy"), (Other, "{n} nových zpráv")],
        mentioned: "{name} tě zmiňuje",
    },
    call: CallWords {
        audio: "Hlasový hovor",
        video: "Videohovor",
        missed_audio: "Zmeškaný hlasový hovor",
        missed_video: "Zmeškaný videohovor",
        incoming_audio: "Příchozí hlasový hovor",
        incoming_video: "Příchozí videohovor",
        no_longer_rings: "Už nezvoní",
    },
};

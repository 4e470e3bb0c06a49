//! Polish.

use super::form::{
    Form::{Few, Many, One},
    polish,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "pl",
    form: polish,
    mail: MailWords {
        subject: &[
            (One, "1 nieprzeczytana wiadomość: {site}"),
            (Few, "{n} nieprzeczytane wiadomości: {site}"),
            (Many, "{n} nieprzeczytanych wiadomości: {site}"),
        ],
        greeting: "Cześć, {name}!",
        intro: "Oto co cię ominęło ({site}):",
        unread: &[(One, "{n} nieprzeczytana"), (Few, "{n} nieprzeczytane"), (Many, "{n} nieprzeczytanych")],
        missed_calls: &[
            (One, "1 nieodebrane połączenie"),
            (Few, "{n} nieodebrane połączenia"),
            (Many, "{n} nieodebranych połączeń"),
        ],
        in_room: "{name} w: {room}",
        more: &[
            (One, "… i w 1 innej rozmowie."),
            (Few, "… i w {n} innych rozmowach."),
            (Many, "… i w {n} innych rozmowach."),
        ],
        open: "Przeczytaj i odpowiedz",
        why: "Dostajesz to najwyżej raz dziennie, bo ktoś do ciebie napisał ({site}), gdy cię nie było.",
        end: "Nie wysyłaj mi więcej takich e-maili",
        end_title: "E-maile o nieprzeczytanych wiadomościach",
        end_ask: "Czy nie chcesz już dostawać e-maili o nieprzeczytanych wiadomościach?",
        end_button: "Koniec e-maili",
        end_done: "Gotowe: nie dostaniesz więcej e-maili o nieprzeczytanych wiadomościach. Możesz je znów włączyć w komunikatorze, w „Ja”.",
        end_wrong: "Ten link już nie działa. E-maile możesz wyłączyć w komunikatorze, w „Ja”.",
    },
    notice: NoticeWords {
        message: "Nowa wiadomość",
        messages: &[
            (One, "{n} nowa wiadomość"),
            (Few, "{n} nowe wiadomości"),
            (Many, "{n} nowych wiadomości"),
        ],
        mentioned: "{name} – wzmianka o tobie",
    },
    call: CallWords {
        audio: "Połączenie głosowe",
        video: "Połączenie wideo",
        missed_audio: "Nieodebrane połączenie głosowe",
        missed_video: "Nieodebrane połączenie wideo",
        incoming_audio: "Przychodzące połączenie głosowe",
        incoming_video: "Przychodzące połączenie wideo",
        no_longer_rings: "Już nie dzwoni",
    },
};

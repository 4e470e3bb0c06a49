//! Ukrainian.

use super::form::{
    Form::{Few, Many, One},
    east_slavic,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "uk",
    form: east_slavic,
    mail: MailWords {
        subject: &[
            (One, "{n} непрочитане повідомлення на {site}"),
            (Few, "{n} непрочитані повідомлення на {site}"),
            (Many, "{n} непрочитаних повідомлень на {site}"),
        ],
        greeting: "Вітаємо, {name}!",
        intro: "Ось що ви пропустили на {site}:",
        unread: &[(One, "{n} непрочитане"), (Few, "{n} непрочитані"), (Many, "{n} непрочитаних")],
        missed_calls: &[
            (One, "{n} пропущений дзвінок"),
            (Few, "{n} пропущені дзвінки"),
            (Many, "{n} пропущених дзвінків"),
        ],
        in_room: "{name} у {room}",
        more: &[
            (One, "… і ще в {n} розмові."),
            (Few, "… і ще в {n} розмовах."),
            (Many, "… і ще в {n} розмовах."),
        ],
        open: "Прочитати й відповісти",
        why: "Ви отримуєте це не частіше разу на день, бо вам написали на {site}, поки вас не було.",
        end: "Більше не надсилати таких листів",
        end_title: "Листи про пропущені повідомлення",
        end_ask: "Більше не отримувати листів про пропущені повідомлення?",
        end_button: "Більше не надсилати",
        end_done: "Готово: листів про пропущені повідомлення більше не буде. Увімкнути їх знову можна в месенджері, у розділі «Я».",
        end_wrong: "Це посилання більше не діє. Вимкнути листи можна в месенджері, у розділі «Я».",
    },
    notice: NoticeWords {
        message: "Нове повідомлення",
        messages: &[
            (One, "{n} нове повідомлення"),
            (Few, "{n} нові повідомлення"),
            (Many, "{n} нових повідомлень"),
        ],
        mentioned: "{name} згадує вас",
    },
    call: CallWords {
        audio: "Аудіодзвінок",
        video: "Відеодзвінок",
        missed_audio: "Пропущений аудіодзвінок",
        missed_video: "Пропущений відеодзвінок",
        incoming_audio: "Вхідний аудіодзвінок",
        incoming_video: "Вхідний відеодзвінок",
        no_longer_rings: "Більше не дзвонить",
    },
};

//! Russian.

use super::form::{
    Form::{Few, Many, One},
    east_slavic,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "ru",
    form: east_slavic,
    mail: MailWords {
        subject: &[
            (One, "{n} непрочитанное сообщение на {site}"),
            (Few, "{n} непрочитанных сообщения на {site}"),
            (Many, "{n} непрочитанных сообщений на {site}"),
        ],
        greeting: "Здравствуйте, {name}!",
        intro: "Вот что вы пропустили на {site}:",
        unread: &[(One, "{n} непрочитанное"), (Few, "{n} непрочитанных"), (Many, "{n} непрочитанных")],
        in_room: "{name} в {room}",
        more: &[
            (One, "… и ещё в {n} беседе."),
            (Few, "… и ещё в {n} беседах."),
            (Many, "… и ещё в {n} беседах."),
        ],
        open: "Прочитать и ответить",
        why: "Вы получаете это не чаще раза в день, потому что вам написали на {site}, пока вас не было.",
        end: "Больше не присылать такие письма",
        end_title: "Письма о пропущенных сообщениях",
        end_ask: "Больше не получать письма о пропущенных сообщениях?",
        end_button: "Больше не присылать",
        end_done: "Готово: писем о пропущенных сообщениях больше не будет. Включить их снова можно в мессенджере, в разделе «Я».",
        end_wrong: "Эта ссылка больше не действует. Отключить письма можно в мессенджере, в разделе «Я».",
    },
    notice: NoticeWords {
        message: "Новое сообщение",
        messages: &[
            (One, "{n} новое сообщение"),
            (Few, "{n} новых сообщения"),
            (Many, "{n} новых сообщений"),
        ],
        mentioned: "{name} упоминает вас",
    },
    call: CallWords {
        audio: "Аудиозвонок",
        video: "Видеозвонок",
        missed_audio: "Пропущенный аудиозвонок",
        missed_video: "Пропущенный видеозвонок",
    },
};

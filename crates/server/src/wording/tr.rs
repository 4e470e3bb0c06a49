//! Turkish.

use super::form::{
    Form::{One, Other},
    one_apart,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "tr",
    form: one_apart,
    mail: MailWords {
        subject: &[(One, "{site}: 1 okunmamış mesaj"), (Other, "{site}: {n} okunmamış mesaj")],
        greeting: "Merhaba {name},",
        intro: "{site} sitesinde kaçırdıkların:",
        unread: &[(Other, "{n} okunmamış")],
        missed_calls: &[(One, "1 cevapsız arama"), (Other, "{n} cevapsız arama")],
        in_room: "{name}, {room} odasında",
        more: &[(One, "… ve 1 sohbette daha."), (Other, "… ve {n} sohbette daha.")],
        open: "Oku ve yanıtla",
        why: "Bunu günde en fazla bir kez alırsın, çünkü sen yokken {site} sitesinde biri sana yazdı.",
        end: "Bu e-postaları artık alma",
        end_title: "Kaçırılan mesajlarla ilgili e-postalar",
        end_ask: "Kaçırılan mesajlarla ilgili e-postaları artık almak istemiyor musun?",
        end_button: "Artık e-posta yok",
        end_done: "Tamam: kaçırılan mesajlarla ilgili e-postaları artık almayacaksın. Mesajlaşmada “Ben” altında yeniden açabilirsin.",
        end_wrong: "Bu bağlantı artık geçerli değil. E-postaları mesajlaşmada “Ben” altında kapatabilirsin.",
    },
    notice: NoticeWords {
        message: "Yeni mesaj",
        messages: &[(Other, "{n} yeni mesaj")],
        mentioned: "{name} senden bahsetti",
    },
    call: CallWords {
        audio: "Sesli arama",
        video: "Görüntülü arama",
        missed_audio: "Cevapsız sesli arama",
        missed_video: "Cevapsız görüntülü arama",
        incoming_audio: "Gelen sesli arama",
        incoming_video: "Gelen görüntülü arama",
        no_longer_rings: "Artık çalmıyor",
    },
};

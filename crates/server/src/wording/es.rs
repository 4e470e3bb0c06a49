//! Spanish.

use super::form::{
    Form::{One, Other},
    one_apart,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "es",
    form: one_apart,
    mail: MailWords {
        subject: &[(One, "1 mensaje sin leer en {site}"), (Other, "{n} mensajes sin leer en {site}")],
        greeting: "Hola, {name}:",
        intro: "esto es lo que te has perdido en {site}:",
        unread: &[(Other, "{n} sin leer")],
        missed_calls: &[(One, "1 llamada perdida"), (Other, "{n} llamadas perdidas")],
        in_room: "{name} en {room}",
        more: &[(One, "… y en 1 conversación más."), (Other, "… y en {n} conversaciones más.")],
        open: "Leer y responder",
        why: "Recibes esto como mucho una vez al día, porque alguien te escribió en {site} mientras no estabas.",
        end: "No recibir más estos correos",
        end_title: "Correos sobre mensajes perdidos",
        end_ask: "¿Quieres dejar de recibir correos sobre mensajes perdidos?",
        end_button: "No más correos",
        end_done: "Hecho: ya no recibirás correos sobre mensajes perdidos. Puedes volver a activarlos en la mensajería, en «Yo».",
        end_wrong: "Este enlace ya no es válido. Puedes desactivar los correos en la mensajería, en «Yo».",
    },
    notice: NoticeWords {
        message: "Mensaje nuevo",
        messages: &[(One, "{n} mensaje nuevo"), (Other, "{n} mensajes nuevos")],
        mentioned: "{name} te ha mencionado",
    },
    call: CallWords {
        audio: "Llamada de voz",
        video: "Videollamada",
        missed_audio: "Llamada de voz perdida",
        missed_video: "Videollamada perdida",
        incoming_audio: "Llamada de voz entrante",
        incoming_video: "Videollamada entrante",
        no_longer_rings: "Ya no suena",
    },
};

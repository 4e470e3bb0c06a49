//! Portuguese.

use super::form::{
    Form::{One, Other},
    none_as_one,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "pt",
    form: none_as_one,
    mail: MailWords {
        subject: &[(One, "{n} mensagem não lida em {site}"), (Other, "{n} mensagens não lidas em {site}")],
        greeting: "Olá, {name},",
        intro: "veja o que você perdeu em {site}:",
        unread: &[(One, "{n} não lida"), (Other, "{n} não lidas")],
        missed_calls: &[(One, "{n} chamada perdida"), (Other, "{n} chamadas perdidas")],
        in_room: "{name} em {room}",
        more: &[(One, "… e em mais {n} conversa."), (Other, "… e em mais {n} conversas.")],
        open: "Ler e responder",
        why: "Você recebe isto no máximo uma vez por dia, porque alguém escreveu para você em {site} enquanto você não estava.",
        end: "Não receber mais estes e-mails",
        end_title: "E-mails sobre mensagens perdidas",
        end_ask: "Quer parar de receber e-mails sobre mensagens perdidas?",
        end_button: "Sem mais e-mails",
        end_done: "Pronto: você não recebe mais e-mails sobre mensagens perdidas. Pode ativá-los de novo nas mensagens, em “Eu”.",
        end_wrong: "Este link não vale mais. Você pode desativar os e-mails nas mensagens, em “Eu”.",
    },
    notice: NoticeWords {
        message: "Nova mensagem",
        messages: &[(One, "{n} nova mensagem"), (Other, "{n} novas mensagens")],
        mentioned: "{name} mencionou você",
    },
    call: CallWords {
        audio: "Chamada de voz",
        video: "Chamada de vídeo",
        missed_audio: "Chamada de voz perdida",
        missed_video: "Chamada de vídeo perdida",
        incoming_audio: "Chamada de voz recebida",
        incoming_video: "Chamada de vídeo recebida",
        no_longer_rings: "Não está mais tocando",
    },
};

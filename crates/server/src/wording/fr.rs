//! French.

use super::form::{
    Form::{One, Other},
    none_as_one,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "fr",
    form: none_as_one,
    mail: MailWords {
        subject: &[(One, "{n} message non lu sur {site}"), (Other, "{n} messages non lus sur {site}")],
        greeting: "Bonjour {name},",
        intro: "voici ce que tu as manqué sur {site} :",
        unread: &[(One, "{n} non lu"), (Other, "{n} non lus")],
        missed_calls: &[(One, "{n} appel manqué"), (Other, "{n} appels manqués")],
        in_room: "{name} dans {room}",
        more: &[(One, "… et dans {n} autre discussion."), (Other, "… et dans {n} autres discussions.")],
        open: "Lire et répondre",
        why: "Tu reçois ceci une fois par jour au plus, parce que quelqu’un t’a écrit sur {site} en ton absence.",
        end: "Ne plus recevoir ces e-mails",
        end_title: "E-mails sur les messages manqués",
        end_ask: "Veux-tu ne plus recevoir d’e-mails sur les messages manqués ?",
        end_button: "Plus d’e-mails",
        end_done: "C’est fait : tu ne recevras plus d’e-mails sur les messages manqués. Tu peux les réactiver dans la messagerie, sous « Moi ».",
        end_wrong: "Ce lien n’est plus valable. Tu peux désactiver les e-mails dans la messagerie, sous « Moi ».",
    },
    notice: NoticeWords {
        message: "Nouveau message",
        messages: &[(One, "{n} nouveau message"), (Other, "{n} nouveaux messages")],
        mentioned: "{name} t’a mentionné",
    },
    call: CallWords {
        audio: "Appel audio",
        video: "Appel vidéo",
        missed_audio: "Appel audio manqué",
        missed_video: "Appel vidéo manqué",
        incoming_audio: "Appel audio entrant",
        incoming_video: "Appel vidéo entrant",
        no_longer_rings: "Ne sonne plus",
    },
};

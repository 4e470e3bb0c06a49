//! Swedish.

use super::form::{
    Form::{One, Other},
    one_apart,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "sv",
    form: one_apart,
    mail: MailWords {
        subject: &[(One, "1 oläst meddelande på {site}"), (Other, "{n} olästa meddelanden på {site}")],
        greeting: "Hej {name}!",
        intro: "Det här har du missat på {site}:",
        unread: &[(One, "{n} oläst"), (Other, "{n} olästa")],
        missed_calls: &[(One, "1 missat samtal"), (Other, "{n} missade samtal")],
        in_room: "{name} i {room}",
        more: &[(One, "… och i 1 konversation till."), (Other, "… och i {n} konversationer till.")],
        open: "Läs och svara",
        why: "Du får det här högst en gång om dagen, för att någon skrev till dig på {site} när du var borta.",
        end: "Inga fler sådana mejl",
        end_title: "Mejl om missade meddelanden",
        end_ask: "Vill du inte få fler mejl om missade meddelanden?",
        end_button: "Inga fler mejl",
        end_done: "Klart: du får inga fler mejl om missade meddelanden. Du kan slå på dem igen i meddelandena, under ”Jag”.",
        end_wrong: "Länken gäller inte längre. Du kan stänga av mejlen i meddelandena, under ”Jag”.",
    },
    notice: NoticeWords {
        message: "Nytt meddelande",
        messages: &[(One, "{n} nytt meddelande"), (Other, "{n} nya meddelanden")],
        mentioned: "{name} nämnde dig",
    },
    call: CallWords {
        audio: "Röstsamtal",
        video: "Videosamtal",
        missed_audio: "Missat röstsamtal",
        missed_video: "Missat videosamtal",
        incoming_audio: "Inkommande röstsamtal",
        incoming_video: "Inkommande videosamtal",
        no_longer_rings: "Ringer inte längre",
    },
};

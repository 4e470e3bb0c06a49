//! Hebrew.

use super::form::{
    Form::{One, Other, Two},
    hebrew,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "he",
    form: hebrew,
    mail: MailWords {
        subject: &[
            (One, "הודעה אחת שלא נקראה באתר {site}"),
            (Two, "2 הודעות שלא נקראו באתר {site}"),
            (Other, "{n} הודעות שלא נקראו באתר {site}"),
        ],
        greeting: "שלום {name},",
        intro: "זה מה שפספסת באתר {site}:",
        unread: &[(Other, "לא נקראו: {n}")],
        missed_calls: &[
            (One, "שיחה אחת שלא נענתה"),
            (Two, "2 שיחות שלא נענו"),
            (Other, "{n} שיחות שלא נענו"),
        ],
        in_room: "{name} בחדר {room}",
        more: &[(One, "… ובעוד שיחה אחת."), (Two, "… ובעוד 2 שיחות."), (Other, "… ובעוד {n} שיחות.")],
        open: "לקריאה ולתשובה",
        why: "המייל הזה נשלח לכל היותר פעם ביום, כי מישהו כתב לך באתר {site} כשלא היית.",
        end: "לא לשלוח לי עוד מיילים כאלה",
        end_title: "מיילים על הודעות שפספסת",
        end_ask: "להפסיק לקבל מיילים על הודעות שפספסת?",
        end_button: "בלי מיילים",
        end_done: "בוצע: לא יישלחו אליך עוד מיילים על הודעות שפספסת. אפשר להפעיל אותם שוב בהודעות, תחת ”אני”.",
        end_wrong: "הקישור הזה כבר לא תקף. אפשר לכבות את המיילים בהודעות, תחת ”אני”.",
    },
    notice: NoticeWords {
        message: "הודעה חדשה",
        messages: &[(One, "הודעה חדשה אחת"), (Two, "2 הודעות חדשות"), (Other, "{n} הודעות חדשות")],
        mentioned: "אזכור שלך מאת {name}",
    },
    call: CallWords {
        audio: "שיחה קולית",
        video: "שיחת וידאו",
        missed_audio: "שיחה קולית שלא נענתה",
        missed_video: "שיחת וידאו שלא נענתה",
        incoming_audio: "שיחה קולית נכנסת",
        incoming_video: "שיחת וידאו נכנסת",
        no_longer_rings: "הצלצול הסתיים",
    },
};

//! Arabic.

use super::form::{
    Form::{Few, Many, One, Other, Two, Zero},
    arabic,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "ar",
    form: arabic,
    mail: MailWords {
        subject: &[
            (Zero, "لا رسائل غير مقروءة في {site}"),
            (One, "رسالة غير مقروءة في {site}"),
            (Two, "رسالتان غير مقروءتين في {site}"),
            (Few, "{n} رسائل غير مقروءة في {site}"),
            (Many, "{n} رسالة غير مقروءة في {site}"),
            (Other, "{n} رسالة غير مقروءة في {site}"),
        ],
        greeting: "مرحبًا {name}،",
        intro: "هذا ما فاتك في {site}:",
        unread: &[(Other, "غير مقروءة: {n}")],
        missed_calls: &[
            (Zero, "لا مكالمات فائتة"),
            (One, "مكالمة فائتة واحدة"),
            (Two, "مكالمتان فائتتان"),
            (Few, "{n} مكالمات فائتة"),
            (Many, "{n} مكالمة فائتة"),
            (Other, "{n} مكالمة فائتة"),
        ],
        in_room: "{name} في {room}",
        more: &[
            (Zero, "… ولا محادثات أخرى."),
            (One, "… وفي محادثة أخرى."),
            (Two, "… وفي محادثتين أخريين."),
            (Few, "… وفي {n} محادثات أخرى."),
            (Many, "… وفي {n} محادثة أخرى."),
            (Other, "… وفي {n} محادثة أخرى."),
        ],
        open: "القراءة والرد",
        why: "يصلك هذا مرة في اليوم على الأكثر، لأن أحدًا كتب إليك في {site} في أثناء غيابك.",
        end: "إيقاف هذه الرسائل البريدية",
        end_title: "رسائل بريدية عن الرسائل الفائتة",
        end_ask: "هل تريد إيقاف الرسائل البريدية عن الرسائل الفائتة؟",
        end_button: "إيقاف الرسائل البريدية",
        end_done: "تم: لن تصلك رسائل بريدية عن الرسائل الفائتة بعد الآن. يمكنك تشغيلها مجددًا في المراسلة، ضمن «أنا».",
        end_wrong: "لم يعد هذا الرابط صالحًا. يمكنك إيقاف الرسائل البريدية في المراسلة، ضمن «أنا».",
    },
    notice: NoticeWords {
        message: "رسالة جديدة",
        messages: &[
            (Zero, "لا رسائل جديدة"),
            (One, "رسالة جديدة"),
            (Two, "رسالتان جديدتان"),
            (Few, "{n} رسائل جديدة"),
            (Many, "{n} رسالة جديدة"),
            (Other, "{n} رسالة جديدة"),
        ],
        mentioned: "أشار إليك {name}",
    },
    call: CallWords {
        audio: "مكالمة صوتية",
        video: "مكالمة فيديو",
        missed_audio: "مكالمة صوتية فائتة",
        missed_video: "مكالمة فيديو فائتة",
        incoming_audio: "مكالمة صوتية واردة",
        incoming_video: "مكالمة فيديو واردة",
        no_longer_rings: "توقّف الرنين",
    },
};

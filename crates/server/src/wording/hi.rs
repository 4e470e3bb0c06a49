//! Hindi.

use super::form::{
    Form::{One, Other},
    none_as_one,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "hi",
    form: none_as_one,
    mail: MailWords {
        subject: &[(One, "{site} पर {n} अनपढ़ा संदेश"), (Other, "{site} पर {n} अनपढ़े संदेश")],
        greeting: "नमस्ते {name},",
        intro: "{site} पर आपसे यह छूट गया:",
        unread: &[(One, "{n} अनपढ़ा"), (Other, "{n} अनपढ़े")],
        missed_calls: &[(One, "{n} छूटी कॉल"), (Other, "{n} छूटी कॉलें")],
        in_room: "{room} में {name}",
        more: &[(Other, "… और {n} और बातचीत में।")],
        open: "पढ़ें और जवाब दें",
        why: "यह आपको दिन में ज़्यादा से ज़्यादा एक बार मिलता है, क्योंकि जब आप नहीं थे तब {site} पर किसी ने आपको लिखा।",
        end: "ऐसे ईमेल अब न भेजें",
        end_title: "छूटे संदेशों के ईमेल",
        end_ask: "क्या आप छूटे संदेशों के ईमेल अब नहीं पाना चाहते?",
        end_button: "ईमेल बंद करें",
        end_done: "हो गया: अब आपको छूटे संदेशों के ईमेल नहीं मिलेंगे। मैसेंजर में “मैं” के नीचे इन्हें फिर चालू कर सकते हैं।",
        end_wrong: "यह लिंक अब मान्य नहीं है। मैसेंजर में “मैं” के नीचे ईमेल बंद कर सकते हैं।",
    },
    notice: NoticeWords {
        message: "नया संदेश",
        messages: &[(One, "{n} नया संदेश"), (Other, "{n} नए संदेश")],
        mentioned: "{name} ने आपका उल्लेख किया",
    },
    call: CallWords {
        audio: "ऑडियो कॉल",
        video: "वीडियो कॉल",
        missed_audio: "छूटी ऑडियो कॉल",
        missed_video: "छूटी वीडियो कॉल",
        incoming_audio: "आने वाली ऑडियो कॉल",
        incoming_video: "आने वाली वीडियो कॉल",
        no_longer_rings: "अब घंटी नहीं बज रही",
    },
};

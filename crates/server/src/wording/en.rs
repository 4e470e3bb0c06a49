//! English.

use super::form::{
    Form::{One, Other},
    one_apart,
};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "en",
    form: one_apart,
    mail: MailWords {
        subject: &[(One, "1 unread message on {site}"), (Other, "{n} unread messages on {site}")],
        greeting: "Hello {name},",
        intro: "this is what you have missed on {site}:",
        unread: &[(Other, "{n} unread")],
        in_room: "{name} in {room}",
        more: &[(One, "… and in 1 more conversation."), (Other, "… and in {n} more conversations.")],
        open: "Read and answer",
        why: "You get this at most once a day, because somebody wrote to you on {site} while you were away.",
        end: "No such mails any more",
        end_title: "Mails about missed messages",
        end_ask: "Do you want to get no more mails about missed messages?",
        end_button: "No more mails",
        end_done: "Done: you get no more mails about missed messages. You can turn them on again in the messenger, under Me.",
        end_wrong: "This link is not right any more. You can turn the mails off in the messenger, under Me.",
    },
    notice: NoticeWords {
        message: "New message",
        messages: &[(One, "{n} new message"), (Other, "{n} new messages")],
        mentioned: "{name} mentioned you",
    },
    call: CallWords {
        audio: "Audio call",
        video: "Video call",
        missed_audio: "Missed audio call",
        missed_video: "Missed video call",
    },
};

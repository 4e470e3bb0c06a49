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
        intro: "you missed these messages on {site}:",
        unread: &[(Other, "{n} unread")],
        missed_calls: &[(One, "1 missed call"), (Other, "{n} missed calls")],
        in_room: "{name} in {room}",
        more: &[(One, "… and in 1 more conversation."), (Other, "… and in {n} more conversations.")],
        open: "Read and reply",
        why: "You receive this email at most once a day because you have unread messages on {site}.",
        end: "Unsubscribe",
        end_title: "Emails about missed messages",
        end_ask: "Do you want to stop emails about missed messages?",
        end_button: "Unsubscribe",
        end_done: "You are unsubscribed from emails about missed messages. You can turn them on again in the messenger under “Me”.",
        end_wrong: "This link is no longer valid. You can turn these emails off in the messenger under “Me”.",
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
        incoming_audio: "Incoming audio call",
        incoming_video: "Incoming video call",
        no_longer_rings: "No longer ringing",
    },
};

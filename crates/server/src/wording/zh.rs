//! Chinese.

use super::form::{Form::Other, all_alike};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "zh",
    form: all_alike,
    mail: MailWords {
        subject: &[(Other, "{site}：{n} 条未读消息")],
        greeting: "{name}，你好：",
        intro: "这是你在 {site} 错过的消息：",
        unread: &[(Other, "{n} 条未读")],
        missed_calls: &[(Other, "{n} 个未接来电")],
        in_room: "{room} 中的 {name}",
        more: &[(Other, "… 以及另外 {n} 个会话。")],
        open: "阅读并回复",
        why: "你不在时有人在 {site} 给你发了消息，所以你会收到此邮件，每天最多一封。",
        end: "不再接收此类邮件",
        end_title: "错过消息的邮件",
        end_ask: "不再接收错过消息的邮件？",
        end_button: "不再接收",
        end_done: "已完成：你不会再收到错过消息的邮件。可在消息的“我”中重新开启。",
        end_wrong: "此链接已失效。可在消息的“我”中关闭邮件。",
    },
    notice: NoticeWords {
        message: "新消息",
        messages: &[(Other, "{n} 条新消息")],
        mentioned: "{name} 提到了你",
    },
    call: CallWords {
        audio: "语音通话",
        video: "视频通话",
        missed_audio: "未接语音通话",
        missed_video: "未接视频通话",
        incoming_audio: "语音通话来电",
        incoming_video: "视频通话来电",
        no_longer_rings: "已停止响铃",
    },
};

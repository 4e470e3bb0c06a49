//! Japanese.

use super::form::{Form::Other, all_alike};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "ja",
    form: all_alike,
    mail: MailWords {
        subject: &[(Other, "{site}：未読メッセージ{n}件")],
        greeting: "{name}さん",
        intro: "{site}での見逃しをお知らせします。",
        unread: &[(Other, "未読{n}件")],
        missed_calls: &[(Other, "不在着信{n}件")],
        in_room: "{room}の{name}",
        more: &[(Other, "… ほか{n}件の会話")],
        open: "読んで返信する",
        why: "不在の間に{site}でメッセージが届いたため、1日1回までお送りしています。",
        end: "このメールの配信を停止する",
        end_title: "見逃したメッセージのメール",
        end_ask: "見逃したメッセージのメールを停止しますか？",
        end_button: "メールを停止する",
        end_done: "停止しました。見逃したメッセージのメールはもう届きません。メッセージの「自分」で再開できます。",
        end_wrong: "このリンクは無効になりました。メールはメッセージの「自分」で停止できます。",
    },
    notice: NoticeWords {
        message: "新着メッセージ",
        messages: &[(Other, "新着メッセージ{n}件")],
        mentioned: "{name}さんがあなたにメンションしました",
    },
    call: CallWords {
        audio: "音声通話",
        video: "ビデオ通話",
        missed_audio: "不在着信（音声）",
        missed_video: "不在着信（ビデオ）",
        incoming_audio: "音声通話の着信",
        incoming_video: "ビデオ通話の着信",
        no_longer_rings: "呼び出しは終了しました",
    },
};

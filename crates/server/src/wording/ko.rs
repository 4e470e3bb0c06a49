//! Korean.

use super::form::{Form::Other, all_alike};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "ko",
    form: all_alike,
    mail: MailWords {
        subject: &[(Other, "{site}: 읽지 않은 메시지 {n}개")],
        greeting: "{name} 님, 안녕하세요.",
        intro: "{site}에서 놓친 메시지예요.",
        unread: &[(Other, "읽지 않음 {n}개")],
        missed_calls: &[(Other, "부재중 전화 {n}건")],
        in_room: "{room}의 {name}",
        more: &[(Other, "… 그 밖의 대화 {n}개")],
        open: "읽고 답하기",
        why: "자리를 비운 사이 {site}에서 누군가 메시지를 보내서, 하루에 한 번까지만 보내 드려요.",
        end: "이런 메일 그만 받기",
        end_title: "놓친 메시지 메일",
        end_ask: "놓친 메시지 메일을 그만 받을까요?",
        end_button: "메일 그만 받기",
        end_done: "완료: 이제 놓친 메시지 메일을 보내지 않아요. 메신저의 ‘나’에서 다시 켤 수 있어요.",
        end_wrong: "이 링크는 더 이상 유효하지 않아요. 메신저의 ‘나’에서 메일을 끌 수 있어요.",
    },
    notice: NoticeWords {
        message: "새 메시지",
        messages: &[(Other, "새 메시지 {n}개")],
        mentioned: "{name} 님이 나를 멘션했어요",
    },
    call: CallWords {
        audio: "음성 통화",
        video: "영상 통화",
        missed_audio: "부재중 음성 통화",
        missed_video: "부재중 영상 통화",
        incoming_audio: "음성 통화 수신 중",
        incoming_video: "영상 통화 수신 중",
        no_longer_rings: "벨이 더 이상 울리지 않습니다",
    },
};

//! Persian.

use super::form::{Form::Other, none_as_one};
use super::{CallWords, MailWords, NoticeWords, Words};

pub(super) static WORDS: Words = Words {
    language: "fa",
    form: none_as_one,
    mail: MailWords {
        subject: &[(Other, "{n} پیام خوانده‌نشده در {site}")],
        greeting: "سلام {name}،",
        intro: "آنچه در {site} از دست داده‌اید:",
        unread: &[(Other, "{n} خوانده‌نشده")],
        missed_calls: &[(Other, "{n} تماس ازدست‌رفته")],
        in_room: "{name} در {room}",
        more: &[(Other, "… و در {n} گفتگوی دیگر.")],
        open: "خواندن و پاسخ دادن",
        why: "این را حداکثر روزی یک بار دریافت می‌کنید، چون وقتی نبودید کسی در {site} به شما نوشته است.",
        end: "دیگر چنین ایمیل‌هایی نیاید",
        end_title: "ایمیل‌های پیام‌های ازدست‌رفته",
        end_ask: "می‌خواهید دیگر برای پیام‌های ازدست‌رفته ایمیل نگیرید؟",
        end_button: "بدون ایمیل",
        end_done: "انجام شد: دیگر برای پیام‌های ازدست‌رفته ایمیل نمی‌گیرید. در پیام‌رسان، در «من»، می‌توانید دوباره روشنش کنید.",
        end_wrong: "این پیوند دیگر معتبر نیست. در پیام‌رسان، در «من»، می‌توانید ایمیل‌ها را خاموش کنید.",
    },
    notice: NoticeWords {
        message: "پیام تازه",
        messages: &[(Other, "{n} پیام تازه")],
        mentioned: "{name} از شما نام برد",
    },
    call: CallWords {
        audio: "تماس صوتی",
        video: "تماس تصویری",
        missed_audio: "تماس صوتی ازدست‌رفته",
        missed_video: "تماس تصویری ازدست‌رفته",
        incoming_audio: "تماس صوتی ورودی",
        incoming_video: "تماس تصویری ورودی",
        no_longer_rings: "دیگر زنگ نمی‌خورد",
    },
};

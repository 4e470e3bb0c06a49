//! The message that a service worker gets: see "Notifications" in `docs/protocol.md`.

use chat::{News, OwnPictureId, Push, PushNotice, Ring, Timestamp};
use serde_json::{Map, Value};

use crate::wording::{self, words};

/// A picture with a longer address is left out.
const ICON_BYTES: usize = 500;

/// Never longer than the size that every push service must accept.
pub(super) fn message(push: &Push, now: Timestamp) -> Vec<u8> {
    let mut fields = Map::new();
    let about = match &push.with {
        Some(user) => format!("@{user}"),
        None => format!("#{:x}", push.conversation.key),
    };
    fields.insert("kith".into(), about.into());
    match &push.notice {
        PushNotice::Clear => {}
        PushNotice::Show(news) => show(&mut fields, news, push, now),
        PushNotice::Ring(call) => {
            ring(&mut fields, call, "ringing", words(&push.device.language).incoming(call.media), now)
        }
        PushNotice::RingOver(call) => {
            ring(&mut fields, call, "over", words(&push.device.language).no_longer_rings(), now)
        }
    }
    // Names and texts can more than double in size as JSON.
    for field in ["", "icon", "body"] {
        fields.remove(field);
        let written = Value::Object(fields.clone()).to_string();
        if written.len() <= push::MESSAGE_BYTES {
            return written.into_bytes();
        }
    }
    Value::Object(fields).to_string().into_bytes()
}

fn show(fields: &mut Map<String, Value>, news: &News, push: &Push, now: Timestamp) {
    let words = words(&push.device.language);
    let counted = match news.unread {
        0 | 1 => words.notice.message.to_owned(),
        n => words.notice.messages.count(n),
    };
    let said = words.said(news);
    let body = match (said, &news.room) {
        (Some(said), None) => said.to_owned(),
        (Some(said), Some(_)) => format!("{}: {said}", news.name),
        (None, Some(_)) if news.mentioned => {
            let name = [("name", wording::Value::Text(&news.name))];
            words.notice.mentioned.format(&name, &|name| words.isolated(name))
        }
        (None, _) => counted,
    };
    let title = news.room.as_ref().unwrap_or(&news.name);
    fields.insert("title".into(), (&**title).into());
    fields.insert("body".into(), body.into());
    fields.insert("count".into(), news.unread.into());
    fields.insert("time".into(), now.0.into());
    icon(fields, news.avatar.as_deref());
}

fn ring(fields: &mut Map<String, Value>, ring: &Ring, stage: &str, body: &str, now: Timestamp) {
    fields.insert("call".into(), stage.into());
    fields.insert("title".into(), (&*ring.name).into());
    fields.insert("body".into(), body.into());
    fields.insert("time".into(), now.0.into());
    icon(fields, ring.avatar.as_deref());
}

fn icon(fields: &mut Map<String, Value>, address: Option<&str>) {
    // An own picture is on this server, whose address the page's service worker does not know.
    let is_usable = |address: &&str| address.len() <= ICON_BYTES && !OwnPictureId::is_avatar(address);
    if let Some(address) = address.filter(is_usable) {
        fields.insert("icon".into(), address.into());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chat::{CallEntry, CallId, ConversationId, Media, Outcome, PushDevice, SiteId, Sub, UserId};
    use serde_json::json;

    use super::*;

    fn user(num: u32) -> UserId {
        UserId { site: SiteId(1), num }
    }

    fn push(notice: PushNotice, language: &str) -> Push {
        let device = PushDevice {
            endpoint: "https://push.example/x".into(),
            key: vec![4; 65].into(),
            auth: vec![0; 16].into(),
            language: language.into(),
        };
        let conversation = ConversationId::direct(user(1), user(2)).expect("two users");
        let with = Sub::parse("anna");
        Push { to: user(1), device: Arc::new(device), site: None, conversation, with, notice }
    }

    fn news() -> News {
        News {
            name: "Anna".into(),
            avatar: Some("/anna.webp".into()),
            room: None,
            body: Some("Hi!".into()),
            opaque: false,
            unread: 1,
            mentioned: false,
            call: None,
            missed_calls: 0,
        }
    }

    fn check(news: News, language: &str, title: &str, body: &str) {
        let message = message(&push(PushNotice::Show(Arc::new(news)), language), Timestamp(5));
        let message: Value = serde_json::from_slice(&message).expect("JSON");
        assert_eq!((&message["title"], &message["body"]), (&title.into(), &body.into()));
    }

    #[test]
    fn a_notification_has_author_text_and_conversation() {
        let sent = message(&push(PushNotice::Show(Arc::new(news())), "en"), Timestamp(5));
        let sent: Value = serde_json::from_slice(&sent).expect("JSON");
        let expected = json!({ "kith": "@anna", "title": "Anna", "body": "Hi!", "count": 1, "time": 5, "icon": "/anna.webp" });
        assert_eq!(sent, expected);
        let cleared = message(&push(PushNotice::Clear, "en"), Timestamp(5));
        assert_eq!(cleared, br#"{"kith":"@anna"}"#);
    }

    #[test]
    fn without_message_text_a_notification_announces_a_message() {
        let silent = News { body: None, ..news() };
        check(silent.clone(), "en", "Anna", "New message");
        check(News { unread: 3, ..silent.clone() }, "de-AT", "Anna", "3 neue Nachrichten");
        check(News { unread: 3, ..silent.clone() }, "tlh", "Anna", "3 new messages");
        let in_room = News { room: Some("Bikers".into()), ..silent };
        check(News { mentioned: true, ..in_room.clone() }, "DE", "Bikers", "Anna hat dich erwähnt");
        check(News { body: Some("Hi!".into()), ..in_room }, "en", "Bikers", "Anna: Hi!");
    }

    #[test]
    fn a_message_of_another_app_without_text_is_announced_as_such() {
        let opaque = News { body: None, opaque: true, ..news() };
        check(opaque.clone(), "en", "Anna", "Sent from another app. It cannot be shown here.");
        let in_room = News { room: Some("Bikers".into()), ..opaque };
        check(
            in_room,
            "de",
            "Bikers",
            "Anna: Aus einer anderen App gesendet. Kann hier nicht angezeigt werden.",
        );
    }

    #[test]
    fn it_speaks_the_language_of_the_browser() {
        let silent = News { body: None, ..news() };
        check(News { unread: 2, ..silent.clone() }, "ar-EG", "Anna", "رسالتان جديدتان");
        check(News { unread: 12, ..silent.clone() }, "ru", "Anna", "12 новых сообщений");
        check(News { unread: 21, ..silent.clone() }, "ru", "Anna", "21 новое сообщение");
        let mentioned = News { room: Some("Bikers".into()), mentioned: true, ..silent };
        check(mentioned, "he", "Bikers", "אזכור שלך מאת \u{2068}Anna\u{2069}");
    }

    #[test]
    fn a_missed_call_is_in_the_readers_language() {
        let entry = CallEntry { call: CallId(1), media: Media::Video, outcome: Outcome::Missed, ms: 0 };
        let called = News { call: Some(entry), body: Some("Video call, missed".into()), ..news() };
        check(called.clone(), "fr", "Anna", "Appel vidéo manqué");
        check(called, "en", "Anna", "Missed video call");
    }

    #[test]
    fn a_ring_has_the_callers_name_and_the_end_of_the_call_replaces_it() {
        let call = Arc::new(Ring {
            name: "Anna".into(),
            avatar: Some("/anna.webp".into()),
            media: Media::Video,
            until: Timestamp(45_000),
        });
        let sent = |notice, language| -> Value {
            serde_json::from_slice(&message(&push(notice, language), Timestamp(5))).expect("JSON")
        };
        let about = |call: &str, body: &str| json!({ "kith": "@anna", "call": call, "title": "Anna", "body": body, "time": 5, "icon": "/anna.webp" });
        let ringing = sent(PushNotice::Ring(Arc::clone(&call)), "de");
        assert_eq!(ringing, about("ringing", "Eingehender Videoanruf"));
        assert_eq!(sent(PushNotice::RingOver(call), "en"), about("over", "No longer ringing"));
    }

    #[test]
    fn the_longest_is_not_too_long() {
        let worst = News {
            name: "\u{1f98a}".repeat(200).into(),
            avatar: Some(format!("/{}", "x".repeat(3_000)).into()),
            room: Some("\u{1f98a}".repeat(50).into()),
            body: Some("\u{1}".repeat(600).into()),
            ..news()
        };
        let sent = message(&push(PushNotice::Show(Arc::new(worst)), "en"), Timestamp(5));
        assert!(sent.len() <= push::MESSAGE_BYTES, "{}", sent.len());
        serde_json::from_slice::<Value>(&sent).expect("JSON");
    }
}

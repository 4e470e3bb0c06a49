//! A digest as a mail: plain text and HTML, in the reader's language.

use std::fmt::Write;

use chat::{Digest, News};
use lettre::Message;
use lettre::address::AddressError;
use lettre::message::header::{Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};

use crate::wording::{Value, Words, words};

/// Shown length of a message.
const LINE_CHARS: usize = 160;

#[derive(Debug, thiserror::Error)]
pub(super) enum WrongLetter {
    #[error("the address is none: {0}")]
    Address(#[from] AddressError),
    #[error("it cannot be put together: {0}")]
    Message(#[from] lettre::error::Error),
}

/// `end`: the unsubscribe link.
pub(super) fn letter(digest: &Digest, from: &Mailbox, end: &str) -> Result<Message, WrongLetter> {
    let words = words(&digest.address.language);
    let to = Mailbox::new(Some(digest.name.to_string()), digest.address.address.parse()?);
    let subject = subject(digest, words);
    // The site's name with the operator's address, because the reader knows the site.
    let from = Mailbox::new(Some(line(&digest.site)), from.email.clone());
    let message = Message::builder()
        .from(from)
        .to(to)
        .subject(subject)
        // RFC 8058 §3.1: both fields permit a one-click unsubscribe.
        .header(ListUnsubscribe(format!("<{end}>")))
        .header(ListUnsubscribePost("List-Unsubscribe=One-Click".to_owned()))
        // RFC 3282 §2: for screen readers.
        .header(ContentLanguage(words.language.to_owned()))
        // RFC 3834 §5: prevents automatic replies.
        .header(AutoSubmitted("auto-generated".to_owned()))
        .multipart(MultiPart::alternative_plain_html(plain(digest, words, end), html(digest, words, end)))?;
    Ok(message)
}

/// Missed calls alone are not counted as messages.
fn subject(digest: &Digest, words: &Words) -> String {
    let sum = |of: fn(&News) -> u64| digest.talks.iter().map(|(.., news)| of(news)).sum::<u64>();
    let (unread, missed) = (sum(|news| news.unread), sum(|news| news.missed_calls));
    let shown = |text: &str| words.isolated(&line(text));
    if missed >= unread {
        return format!("{}: {}", shown(&digest.site), words.mail.missed_calls.count(missed));
    }
    let values = [("count", Value::Number(unread)), ("site", Value::Text(&digest.site))];
    words.mail.subject.format(&values, &shown)
}

fn plain(digest: &Digest, words: &Words, end: &str) -> String {
    let shown = |text: &str| words.isolated(&line(text));
    let site = [("site", Value::Text(&digest.site))];
    let mut text = format!(
        "{}\n\n{}\n\n",
        words.mail.greeting.format(&[("name", Value::Text(&digest.name))], &shown),
        words.mail.intro.format(&site, &shown)
    );
    for (.., news) in &digest.talks {
        let _ = writeln!(text, "- {} ({})", who(news, words, &shown), counted(news, words));
        if let Some(said) = words.said(news) {
            let _ = writeln!(text, "  {}", line(said));
        }
    }
    if digest.more > 0 {
        let _ = writeln!(text, "{}", words.mail.more.count(digest.more as u64));
    }
    if let Some(url) = &digest.url {
        let _ = write!(text, "\n{}: {url}\n", words.mail.open);
    }
    let why = words.mail.why.format(&site, &shown);
    let _ = write!(text, "\n-- \n{why}\n{}: {end}\n", words.mail.end);
    text
}

/// Mail programs remove `html` and `body` with their direction, so the inner element repeats it.
fn html(digest: &Digest, words: &Words, end: &str) -> String {
    let shown = |text: &str| format!("<bdi>{}</bdi>", escaped(&line(text)));
    let site = [("site", Value::Text(&digest.site))];
    let (language, dir) = (words.language, words.dir());
    let mut html = format!(
        "<!doctype html><html lang=\"{language}\" dir=\"{dir}\"><body>\
         <div lang=\"{language}\" dir=\"{dir}\" style=\"font-family:sans-serif;line-height:1.5;color:#1c1b1f\">\
         <p>{}</p><p>{}</p><ul style=\"padding:0 1.2em\">",
        words.mail.greeting.format(&[("name", Value::Text(&digest.name))], &shown),
        words.mail.intro.format(&site, &shown),
    );
    for (.., news) in &digest.talks {
        let (who, count) = (who(news, words, &shown), counted(news, words));
        let _ = write!(html, "<li style=\"margin-bottom:.6em\"><b>{who}</b> ({count})");
        if let Some(said) = words.said(news) {
            let _ = write!(html, "<br><span dir=\"auto\">{}</span>", escaped(&line(said)));
        }
        html.push_str("</li>");
    }
    html.push_str("</ul>");
    if digest.more > 0 {
        let _ = write!(html, "<p>{}</p>", words.mail.more.count(digest.more as u64));
    }
    if let Some(url) = &digest.url {
        let _ = write!(html, "<p><a href=\"{}\">{}</a></p>", escaped(url), words.mail.open);
    }
    let why = words.mail.why.format(&site, &shown);
    let _ = write!(
        html,
        "<p style=\"font-size:small;color:#5f5d66\">{why}<br><a href=\"{}\" style=\"color:#5f5d66\">{}</a></p></div></body></html>",
        escaped(end),
        words.mail.end
    );
    html
}

fn who(news: &News, words: &Words, shown: &dyn Fn(&str) -> String) -> String {
    match &news.room {
        None => shown(&news.name),
        Some(room) => {
            let values = [("name", Value::Text(&news.name)), ("room", Value::Text(room))];
            words.mail.in_room.format(&values, shown)
        }
    }
}

/// Unread messages and missed calls, each if not zero.
fn counted(news: &News, words: &Words) -> String {
    let messages = news.unread.saturating_sub(news.missed_calls);
    let messages = || words.mail.unread.count(messages);
    let missed_calls = |missed| words.mail.missed_calls.count(missed);
    match news.missed_calls {
        0 => messages(),
        missed if missed >= news.unread => missed_calls(missed),
        missed => format!("{}, {}", messages(), missed_calls(missed)),
    }
}

/// One line of a member's text, without breaks, so that it cannot imitate another part of the mail.
fn line(text: &str) -> String {
    let mut line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = line.char_indices().nth(LINE_CHARS) {
        line.truncate(at);
        line.push('…');
    }
    line.replace(char::is_control, "")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

macro_rules! field {
    ($type:ident, $name:literal) => {
        #[derive(Clone)]
        struct $type(String);

        impl Header for $type {
            fn name() -> HeaderName {
                HeaderName::new_from_ascii_str($name)
            }

            fn parse(text: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
                Ok($type(text.to_owned()))
            }

            fn display(&self) -> HeaderValue {
                HeaderValue::new(Self::name(), self.0.clone())
            }
        }
    };
}

field!(ListUnsubscribe, "List-Unsubscribe");
field!(ListUnsubscribePost, "List-Unsubscribe-Post");
field!(AutoSubmitted, "Auto-Submitted");
field!(ContentLanguage, "Content-Language");

#[cfg(test)]
mod tests {
    use chat::{CallEntry, CallId, ConversationId, MailAddress, Media, Outcome, SiteId, UserId};

    use super::*;

    fn digest(language: &str) -> Digest {
        let user = |num| UserId { site: SiteId(1), num };
        let id = ConversationId::direct(user(1), user(2)).expect("two users");
        let news = |name: &str, room: Option<&str>, body: Option<&str>, unread| News {
            name: name.into(),
            avatar: None,
            room: room.map(Into::into),
            body: body.map(Into::into),
            opaque: false,
            unread,
            mentioned: false,
            call: None,
            missed_calls: 0,
        };
        Digest {
            to: user(1),
            name: "Anna & Co".into(),
            address: MailAddress { address: "anna@example.com".into(), language: language.into() },
            site_key: "forum".into(),
            site: "Garden\r\nBcc: x@example.com".into(),
            url: Some("https://garden.example".into()),
            talks: vec![
                (id, None, news("<b>Ben</b>", None, Some("Hi <script>\n-- \nthere"), 2)),
                (id, None, news("Carla", Some("Bikers"), None, 1)),
            ],
            more: 3,
        }
    }

    #[test]
    fn a_digest_lists_missed_messages_in_both_forms() {
        let words = words("de-AT");
        let digest = digest("de-AT");
        let plain = plain(&digest, words, "https://im.example/end");
        assert!(plain.contains("- <b>Ben</b> (2 ungelesen)\n  Hi <script> -- there\n"), "{plain}");
        assert!(plain.contains("- Carla in Bikers (1 ungelesen)\n"), "{plain}");
        assert!(plain.contains("… und in 3 weiteren"), "{plain}");
        assert!(plain.ends_with("Abbestellen: https://im.example/end\n"), "{plain}");
        let html = html(&digest, words, "https://im.example/end?a=1&b=2");
        assert!(
            html.contains("&lt;b&gt;Ben&lt;/b&gt;") && html.contains("Hi &lt;script&gt; -- there"),
            "{html}"
        );
        assert!(html.contains("Anna &amp; Co") && html.contains("end?a=1&amp;b=2"), "{html}");
        assert!(!html.contains("<script"), "{html}");
    }

    #[test]
    fn a_mail_from_right_to_left_has_its_direction_and_isolates_names() {
        for language in ["ar", "fa-IR", "he"] {
            let (words, digest) = (words(language), digest(language));
            let html = html(&digest, words, "https://im.example/end");
            let head = format!("<div lang=\"{}\" dir=\"rtl\"", words.language);
            assert!(html.contains(&head) && html.contains("<bdi>Carla</bdi>"), "{html}");
            let plain = plain(&digest, words, "https://im.example/end");
            assert!(plain.contains("\u{2068}Carla\u{2069}"), "{plain}");
        }
        let html = html(&digest("ja"), words("ja"), "https://im.example/end");
        assert!(html.contains("<div lang=\"ja\" dir=\"ltr\""), "{html}");
    }

    #[test]
    fn a_missed_call_is_in_the_readers_language() {
        let mut digest = digest("pl");
        let entry = CallEntry { call: CallId(1), media: Media::Audio, outcome: Outcome::Cancelled, ms: 0 };
        digest.talks[0].2.call = Some(entry);
        let plain = plain(&digest, words("pl"), "https://im.example/end");
        assert!(plain.contains("(2 nieprzeczytane)\n  Nieodebrane połączenie głosowe\n"), "{plain}");
    }

    #[test]
    fn a_message_of_another_app_without_text_is_described_in_the_readers_language() {
        let mut digest = digest("fr");
        (digest.talks[0].2.body, digest.talks[0].2.opaque) = (None, true);
        let plain = plain(&digest, words("fr"), "https://im.example/end");
        assert!(
            plain.contains("\n  Envoyé depuis une autre application. Impossible de l’afficher ici.\n"),
            "{plain}"
        );
    }

    #[test]
    fn missed_calls_are_counted_apart_from_messages() {
        let letter = |language: &str, unread, missed| {
            let mut digest = digest(language);
            digest.talks.truncate(1);
            let news = &mut digest.talks[0].2;
            (news.unread, news.missed_calls) = (unread, missed);
            let words = words(language);
            (plain(&digest, words, "https://im.example/end"), subject(&digest, words))
        };
        let (plain, subject) = letter("en", 2, 2);
        assert!(plain.contains("- <b>Ben</b> (2 missed calls)\n"), "{plain}");
        assert_eq!(subject, "Garden Bcc: x@example.com: 2 missed calls");
        let (plain, subject) = letter("de", 3, 1);
        assert!(plain.contains("- <b>Ben</b> (2 ungelesen, 1 verpasster Anruf)\n"), "{plain}");
        assert_eq!(subject, "3 ungelesene Nachrichten auf Garden Bcc: x@example.com");
    }

    #[test]
    fn a_message_cannot_write_into_the_header_of_a_mail() {
        let from: Mailbox = "kith@im.example".parse().expect("an address");
        let letter = letter(&digest("en"), &from, "https://im.example/end").expect("a letter");
        let text = String::from_utf8(letter.formatted()).expect("text");
        let (head, _) = text.split_once("\r\n\r\n").expect("a head");
        assert!(!head.contains("\r\nBcc"), "{head}");
        assert!(head.contains("List-Unsubscribe: <https://im.example/end>\r\n"), "{head}");
        assert!(head.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"), "{head}");
        assert!(head.contains("Subject: 3 unread messages on Garden Bcc: x@example.com"), "{head}");
    }
}

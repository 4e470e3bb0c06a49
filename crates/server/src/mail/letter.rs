//! A digest as a letter: plain text and HTML, in the reader's language.

use std::fmt::Write;

use chat::{Digest, News};
use lettre::Message;
use lettre::address::AddressError;
use lettre::message::header::{Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};

use super::words::{Words, words};

/// Of what was written so much is shown.
const LINE_CHARS: usize = 160;

#[derive(Debug, thiserror::Error)]
pub(super) enum WrongLetter {
    #[error("the address is none: {0}")]
    Address(#[from] AddressError),
    #[error("it cannot be put together: {0}")]
    Message(#[from] lettre::error::Error),
}

/// `end`: the link that ends these mails.
pub(super) fn letter(digest: &Digest, from: &Mailbox, end: &str) -> Result<Message, WrongLetter> {
    let words = words(&digest.address.language);
    let to = Mailbox::new(Some(digest.name.to_string()), digest.address.address.parse()?);
    let unread: u64 = digest.talks.iter().map(|(.., news)| news.unread).sum();
    let subject = if unread == 1 { words.subject_one } else { words.subject_many };
    let subject = subject.replace("{n}", &unread.to_string()).replace("{site}", &line(&digest.site));
    // The site's name before the operator's address: that is whom the reader knows.
    let from = Mailbox::new(Some(line(&digest.site)), from.email.clone());
    let message = Message::builder()
        .from(from)
        .to(to)
        .subject(subject)
        // RFC 8058 §3.1: with both a mail program ends it in one click.
        .header(ListUnsubscribe(format!("<{end}>")))
        .header(ListUnsubscribePost("List-Unsubscribe=One-Click".to_owned()))
        // RFC 3834 §5: so that nobody's absence note answers.
        .header(AutoSubmitted("auto-generated".to_owned()))
        .multipart(MultiPart::alternative_plain_html(plain(digest, words, end), html(digest, words, end)))?;
    Ok(message)
}

fn plain(digest: &Digest, words: &Words, end: &str) -> String {
    let site = line(&digest.site);
    let mut text = format!(
        "{}\n\n{}\n\n",
        words.greeting.replace("{name}", &line(&digest.name)),
        words.intro.replace("{site}", &site)
    );
    for (.., news) in &digest.talks {
        let _ = writeln!(text, "- {} ({})", who(news, words), count(news, words));
        if let Some(body) = &news.body {
            let _ = writeln!(text, "  {}", line(body));
        }
    }
    if digest.more > 0 {
        let _ = writeln!(text, "{}", words.more.replace("{n}", &digest.more.to_string()));
    }
    if let Some(url) = &digest.url {
        let _ = write!(text, "\n{}: {url}\n", words.open);
    }
    let _ = write!(text, "\n-- \n{}\n{}: {end}\n", words.why.replace("{site}", &site), words.end);
    text
}

fn html(digest: &Digest, words: &Words, end: &str) -> String {
    let site = escaped(&line(&digest.site));
    let mut html = format!(
        "<!doctype html><html lang=\"{}\"><body style=\"font-family:sans-serif;line-height:1.5;color:#1c1b1f\">\
         <p>{}</p><p>{}</p><ul style=\"padding-left:1.2em\">",
        words.language,
        words.greeting.replace("{name}", &escaped(&line(&digest.name))),
        words.intro.replace("{site}", &site),
    );
    for (.., news) in &digest.talks {
        let (who, count) = (escaped(&who(news, words)), count(news, words));
        let _ = write!(html, "<li style=\"margin-bottom:.6em\"><b>{who}</b> ({count})");
        if let Some(body) = &news.body {
            let _ = write!(html, "<br><span dir=\"auto\">{}</span>", escaped(&line(body)));
        }
        html.push_str("</li>");
    }
    html.push_str("</ul>");
    if digest.more > 0 {
        let _ = write!(html, "<p>{}</p>", words.more.replace("{n}", &digest.more.to_string()));
    }
    if let Some(url) = &digest.url {
        let _ = write!(html, "<p><a href=\"{}\">{}</a></p>", escaped(url), words.open);
    }
    let why = words.why.replace("{site}", &site);
    let _ = write!(
        html,
        "<p style=\"font-size:small;color:#5f5d66\">{why}<br><a href=\"{}\" style=\"color:#5f5d66\">{}</a></p></body></html>",
        escaped(end),
        words.end
    );
    html
}

fn who(news: &News, words: &Words) -> String {
    match &news.room {
        None => line(&news.name),
        Some(room) => words.in_room.replace("{name}", &line(&news.name)).replace("{room}", &line(room)),
    }
}

fn count(news: &News, words: &Words) -> String {
    words.unread.replace("{n}", &news.unread.to_string())
}

/// One line of what somebody has written: no breaks, by which it could pretend to be another part of the letter.
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

#[cfg(test)]
mod tests {
    use chat::{ConversationId, MailAddress, SiteId, UserId};

    use super::*;

    fn digest(language: &str) -> Digest {
        let user = |num| UserId { site: SiteId(1), num };
        let id = ConversationId::direct(user(1), user(2)).expect("two users");
        let news = |name: &str, room: Option<&str>, body: Option<&str>, unread| News {
            name: name.into(),
            avatar: None,
            room: room.map(Into::into),
            body: body.map(Into::into),
            unread,
            mentioned: false,
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
    fn a_letter_says_what_was_missed_in_both_forms() {
        let words = words("de-AT");
        let digest = digest("de-AT");
        let plain = plain(&digest, words, "https://im.example/end");
        assert!(plain.contains("- <b>Ben</b> (2 ungelesen)\n  Hi <script> -- there\n"), "{plain}");
        assert!(plain.contains("- Carla in Bikers (1 ungelesen)\n"), "{plain}");
        assert!(plain.contains("… und in 3 weiteren"), "{plain}");
        assert!(plain.ends_with("Keine solchen Mails mehr: https://im.example/end\n"), "{plain}");
        let html = html(&digest, words, "https://im.example/end?a=1&b=2");
        assert!(
            html.contains("&lt;b&gt;Ben&lt;/b&gt;") && html.contains("Hi &lt;script&gt; -- there"),
            "{html}"
        );
        assert!(html.contains("Anna &amp; Co") && html.contains("end?a=1&amp;b=2"), "{html}");
        assert!(!html.contains("<script"), "{html}");
    }

    #[test]
    fn nobody_writes_into_the_head_of_a_letter() {
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

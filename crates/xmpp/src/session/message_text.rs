//! The text of a message, with the parts of the widget's messages that XMPP has no element for. They have signs and no words,
//! because the language of the reader is not known here.

use std::borrow::Cow;

use chat::{Forwarded, Message, Poll};

use crate::address;
use crate::config::Links;

/// `domain`: of the site.
pub(crate) fn text<'a>(message: &'a Message, domain: &str, links: &Links) -> Cow<'a, str> {
    let body = &message.body;
    let Some(rich) = message.rich.as_deref() else { return Cow::Borrowed(body) };
    match (&rich.poll, &rich.forwarded) {
        (Some(poll), _) => Cow::Owned(with_choices(body, poll, links.page().as_deref())),
        // A file alone is shown in its place only if nothing stands beside its address.
        (None, Some(forwarded)) if !body.is_empty() => Cow::Owned(quoted(body, forwarded, domain)),
        _ => Cow::Borrowed(body),
    }
}

/// The question, its choices, and the page where members vote.
fn with_choices(question: &str, poll: &Poll, page: Option<&str>) -> String {
    let choices = poll.choices.iter().map(|choice| format!("\n\u{2022} {}", choice.text));
    let page = page.map(|page| format!("\n{page}"));
    choices.chain(page).fold(question.to_owned(), |text, line| text + &line)
}

/// The text as a quotation of its first author.
fn quoted(body: &str, forwarded: &Forwarded, domain: &str) -> String {
    let author = forwarded.from.as_ref().map(|(_, sub)| address::user(sub, domain));
    let mut text = format!("\u{21aa} {}", author.as_deref().unwrap_or("?"));
    for line in body.lines() {
        text.push_str("\n> ");
        text.push_str(line);
    }
    text
}

#[cfg(test)]
mod tests {
    use chat::{Choice, SiteId, Sub, UserId};

    use super::*;

    #[test]
    fn a_poll_lists_its_choices() {
        let choice = |text: &str| Choice { text: text.into(), votes: 0, users: Vec::new(), mine: false };
        let poll = Poll {
            choices: vec![choice("Yes"), choice("No")],
            multiple: false,
            anonymous: false,
            ends: None,
            closed: false,
            voters: 0,
        };
        assert_eq!(with_choices("Cake?", &poll, None), "Cake?\n\u{2022} Yes\n\u{2022} No");
        let page = Some("https://garden.example");
        assert!(with_choices("Cake?", &poll, page).ends_with("No\nhttps://garden.example"));
    }

    #[test]
    fn a_forwarded_text_is_a_quotation() {
        let user = UserId { site: SiteId(1), num: 1 };
        let from = Some((user, Sub::parse("tom").expect("an id")));
        let quoted = |body, from| quoted(body, &Forwarded { from }, "garden.example");
        assert_eq!(quoted("One\nTwo", from), "\u{21aa} tom@garden.example\n> One\n> Two");
        assert_eq!(quoted("One", None), "\u{21aa} ?\n> One");
    }
}

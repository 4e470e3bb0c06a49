//! Previews of links: the linked page's own description, added to a message some moments after it was posted.
//!
//! [`Previewer`] fetches the pages. This module decides for which messages: the site has enabled previews,
//! the message has a link, the filters allow it, and others see the message. Links of held messages,
//! shadow-banned users and unanswered strangers are not fetched, because a fetch would reveal them to
//! outsiders.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::messages::Messages;
use crate::session::Completion;
use crate::{
    ChangeMessage, ChangedMessage, ConversationId, File, FileId, FileType, MessageChange, Picture, Seq,
    SiteId, Sub, Timestamp, UserId,
};

/// A preview in a message. Plain text, written by a stranger's page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// The address as in the message.
    pub url: Box<str>,
    pub title: Box<str>,
    /// This field and the next may be empty.
    pub description: Box<str>,
    pub site: Box<str>,
    pub picture: Option<File>,
}

/// A preview to add to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPreview {
    pub url: Box<str>,
    pub title: Box<str>,
    pub description: Box<str>,
    pub site: Box<str>,
    pub picture: Option<NewPicture>,
}

/// A picture whose encoded bytes are stored already. It is deleted with the message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPicture {
    pub id: FileId,
    pub kind: FileType,
    pub bytes: u64,
    pub picture: Picture,
}

/// A message whose link needs a preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewWanted {
    pub conversation: ConversationId,
    pub seq: Seq,
    /// The author of the message.
    pub by: UserId,
    pub by_sub: Sub,
    pub url: Box<str>,
}

/// Fetches metadata of pages. Called on threads of the store: must not block, and holds a bounded number of requests.
pub trait Previewer: Send + Sync + 'static {
    fn wanted(&self, wanted: PreviewWanted);
}

/// The previewer of the node, once set.
pub(crate) type PreviewerSlot = OnceLock<Arc<dyn Previewer>>;

impl Messages {
    /// Adds a preview to a message. Does nothing if the message is gone or its author is no longer a member.
    /// `then` gets whether the preview exists now.
    pub(crate) fn put_preview(
        self: &Arc<Self>,
        of: PreviewWanted,
        preview: NewPreview,
        now: Timestamp,
        then: impl FnOnce(bool) + Send + 'static,
    ) {
        let PreviewWanted { conversation, seq, by, by_sub, .. } = of;
        let change = MessageChange::Preview(Some(Box::new(preview)));
        let wanted = ChangeMessage { conversation, seq, by, change, time: now };
        let done = self.then(move |this, outcome| match outcome {
            Ok(Ok(changed @ ChangedMessage { changed: true, .. })) => {
                this.publish_changed_message(by, &by_sub, conversation.other(by), changed);
                then(true);
            }
            _ => then(false),
        });
        self.store.change_message(wanted, done);
    }

    /// Requests a preview for a posted message that others see. Costs nothing on a node without previews.
    pub(crate) fn want_preview(
        &self,
        conversation: ConversationId,
        seq: Seq,
        by: (UserId, &Sub),
        body: &str,
    ) {
        let Some(previewer) = self.previewer.get() else { return };
        let Some(url) = first_link(body) else { return };
        if self.may_preview(conversation.site, url) {
            let (by, by_sub) = (by.0, by.1.clone());
            previewer.wanted(PreviewWanted { conversation, seq, by, by_sub, url: url.into() });
        }
    }

    /// Moderators may write filtered links, but the node still does not fetch them.
    pub(crate) fn may_preview(&self, site: SiteId, url: &str) -> bool {
        let Some(live) = self.sites.by_id(site) else { return false };
        let settings = &live.site.settings;
        settings.previews.on && settings.filters.verdict(&live.filters, url).is_none()
    }
}

/// Longest address, in bytes; longer ones get no preview.
const URL_BYTES: usize = 2_048;

/// The first address of a page in a text, up to its visible end.
pub fn first_link(body: &str) -> Option<&str> {
    // Most texts have none, and end here.
    body.contains("://").then_some(())?;
    let start = ["https://", "http://"].iter().filter_map(|scheme| body.find(scheme)).min()?;
    let rest = &body[start..];
    let ends = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '`' | '|' | '\\' | '^')
    };
    let link = without_trailing(&rest[..rest.find(ends).unwrap_or(rest.len())]);
    let has_host = link.split_once("://").is_some_and(|(_, host)| !host.is_empty());
    (has_host && link.len() <= URL_BYTES).then_some(link)
}

const BRACKETS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];

/// A full stop or a bracket after an address belongs to the sentence, unless the address contains the opening
/// bracket; the widget has the same rule.
fn without_trailing(mut link: &str) -> &str {
    let mut spare =
        BRACKETS.map(|(open, close)| link.matches(close).count().saturating_sub(link.matches(open).count()));
    loop {
        link = link.trim_end_matches(['.', ',', ';', ':', '!', '?', '…', '\'', '*', '_', '~']);
        let at = BRACKETS.iter().position(|(_, close)| link.ends_with(*close));
        match at.filter(|at| spare[*at] > 0) {
            Some(at) => {
                spare[at] -= 1;
                link = &link[..link.len() - 1];
            }
            None => return link,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_link_of_a_text() {
        for (body, link) in [
            ("look: https://example.org/a?b=c.", Some("https://example.org/a?b=c")),
            ("http://example.org/x, https://other.example", Some("http://example.org/x")),
            ("(see https://example.org/a_(b))", Some("https://example.org/a_(b)")),
            ("[words](https://example.org/a)", Some("https://example.org/a")),
            ("**https://example.org/**", Some("https://example.org/")),
            ("<https://example.org/a>", Some("https://example.org/a")),
            ("https://example.org/a_(b).", Some("https://example.org/a_(b)")),
            ("(https://example.org/a_(b)).", Some("https://example.org/a_(b)")),
            ("https://example.org/?a[]", Some("https://example.org/?a[]")),
            ("[see https://example.org/?a[1]]", Some("https://example.org/?a[1]")),
            ("(see https://example.org/a.)", Some("https://example.org/a")),
            ("{[(https://example.org/a)]}!", Some("https://example.org/a")),
            ("https://", None),
            ("https://.", None),
            ("example.org", None),
            ("mailto:a@example.org", None),
            ("", None),
        ] {
            assert_eq!(first_link(body), link, "{body}");
        }
        assert_eq!(first_link(&format!("https://example.org/{}", "x".repeat(3_000))), None);
    }

    proptest! {
        #[test]
        fn the_first_link_is_part_of_the_text(body in "(https?://|[a-z.()<> \\[\\]]|é|\u{1F600}){0,30}", any: String) {
            for body in [body, any] {
                if let Some(link) = first_link(&body) {
                    prop_assert!(body.contains(link) && link.starts_with("http") && !link.contains(char::is_whitespace));
                }
            }
        }
    }
}

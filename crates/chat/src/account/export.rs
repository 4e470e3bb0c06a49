//! Export: a member's direct conversations, own messages in rooms and items, page by page, for a file.
//!
//! Direct conversations completely, because the member can read them anyway; of rooms only the member's own
//! messages. Other commands return the rest of the member's data: profile, contacts, conversations.

use crate::account::Event;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::command::AnswerTo;
use crate::items::Item;
use crate::session::{Asker, Completion};
use crate::{Done, Message, PageOf, StoredMessage, UserId};

/// The slice of the port to storage for exports. See [`Store`](crate::Store).
pub trait ExportStore: Send + Sync + 'static {
    /// Each message once: direct conversations one after the other, ascending by seq, then the user's
    /// messages in rooms. Then all items, ascending by version. A page may have fewer than `limit` entries, or none,
    /// although more pages follow. A page with items ends with the one that reaches
    /// [`ITEM_PAGE_BYTES`](crate::items::ITEM_PAGE_BYTES). Answered after other reads. Messages written during the
    /// export may be missing, and an item changed meanwhile may come twice.
    fn export(&self, user: UserId, after: Option<String>, limit: u32, done: Done<ExportPage>);
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExportPage {
    pub messages: Vec<StoredMessage>,
    pub items: Vec<ExportedItem>,
    pub next: Option<String>,
}

/// A page as a session gets it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Exported {
    pub messages: Vec<Arc<Message>>,
    pub items: Vec<ExportedItem>,
    pub next: Option<String>,
}

/// An item with its list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedItem {
    pub list: Box<str>,
    pub item: Item,
}

impl ExportedItem {
    /// The value as the app has written it. The XMPP gateway stores the characters of addresses in names as these control characters,
    /// which XML forbids, so that filters do not take a name for the address of a page.
    pub fn value(&self) -> String {
        let payload = self.item.payload.as_deref().unwrap_or_default();
        payload
            .chars()
            .map(|char| match char {
                '\u{1}' => '.',
                '\u{2}' => ':',
                '\u{3}' => '/',
                char => char,
            })
            .collect()
    }
}

impl Account {
    pub(crate) fn export(self: &Arc<Self>, asker: &Asker, re: u64, page: PageOf) {
        let handle = asker.session.handle;
        let done = self.on_loaded(handle, AnswerTo::Request(re), move |this, page| {
            let ExportPage { messages, items, next } = page;
            let messages = messages.into_iter().map(crate::event::message).collect();
            let exported = Exported { messages, items, next };
            this.sessions.answer(handle, re, Event::Exported(Box::new(exported)));
        });
        let limit = self.sessions.page_limit(page.limit);
        self.store.export(asker.session.user, page.after, limit, done);
    }
}

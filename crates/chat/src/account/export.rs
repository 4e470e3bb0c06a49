//! Export: a member's direct conversations and own messages in rooms, page by page, for a file.
//!
//! Direct conversations completely, because the member can read them anyway; of rooms only the member's own
//! messages. Other commands return the rest of the member's data: profile, contacts, conversations.

use crate::account::Event;
use std::sync::Arc;

use crate::account::Account;
use crate::command::AnswerTo;
use crate::session::{Asker, Completion};
use crate::{Done, PageOf, StoredMessage, UserId};

/// The slice of the port to storage for exports. See [`Store`](crate::Store).
pub trait ExportStore: Send + Sync + 'static {
    /// Each message once: direct conversations one after the other, ascending by seq, then the user's
    /// messages in rooms. A page may have fewer than `limit` messages, or none, although more pages follow.
    /// Answered after other reads. Messages written during the export may be missing.
    fn export(&self, user: UserId, after: Option<String>, limit: u32, done: Done<ExportPage>);
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExportPage {
    pub messages: Vec<StoredMessage>,
    pub next: Option<String>,
}

impl Account {
    pub(crate) fn export(self: &Arc<Self>, asker: &Asker, re: u64, page: PageOf) {
        let handle = asker.session.handle;
        let done = self.on_loaded(handle, AnswerTo::Request(re), move |this, page| {
            let ExportPage { messages, next } = page;
            let messages = messages.into_iter().map(crate::event::message).collect();
            this.sessions.answer(handle, re, Event::Exported { messages, next });
        });
        let limit = self.sessions.page_limit(page.limit);
        self.store.export(asker.session.user, page.after, limit, done);
    }
}

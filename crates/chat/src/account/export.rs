//! Export: everything that was said to a member or by them, page by page, for a file of their own.
//!
//! Direct conversations whole, which the member can read anyway; of rooms what they have written themselves. The rest of what there is
//! of them (profile, contacts, conversations) other commands give.

use crate::account::Event;
use std::sync::Arc;

use crate::account::Account;
use crate::command::AnswerTo;
use crate::session::Asker;
use crate::store::unavailable;
use crate::{Done, PageOf, StoreError, StoredMessage, UserId};

/// The part of the port to storage that is about exports. See [`Store`](crate::Store), of which it is a part.
pub trait ExportStore: Send + Sync + 'static {
    /// Each message once: direct conversations one after the other, ascending by seq, then what the user has written in rooms.
    /// A page may have fewer than `limit`, or none, with more to come. Answered after other reads. What is written while the
    /// pages are read may be in them or not.
    fn export(&self, user: UserId, after: Option<String>, limit: u32, done: Done<ExportPage>);
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExportPage {
    pub messages: Vec<StoredMessage>,
    pub next: Option<String>,
}

impl Account {
    pub(crate) fn export(self: &Arc<Self>, asker: &Asker, re: u64, page: PageOf) {
        let (this, handle) = (self.clone(), asker.session.handle);
        let done = move |page: Result<ExportPage, StoreError>| match page {
            Ok(ExportPage { messages, next }) => {
                let messages = messages.into_iter().map(crate::event::message).collect();
                this.sessions.answer(handle, re, Event::Exported { messages, next });
            }
            Err(error) => this.sessions.refuse(handle, AnswerTo::Request(re), unavailable(error)),
        };
        let limit = self.sessions.page_limit(page.limit);
        self.store.export(asker.session.user, page.after, limit, Box::new(done));
    }
}

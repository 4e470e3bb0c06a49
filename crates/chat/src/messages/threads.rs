//! Threads in rooms: the replies below one message. A reply is a normal message of the room, with a seq of
//! the room. Separate rows store who follows which thread, and how far they have read it.
//!
//! Reasons: `docs/design/threads.md`.

mod store;

use serde::{Deserialize, Serialize};

use crate::messages::Event;
pub use store::{ThreadChange, ThreadRow, ThreadStore};

use std::sync::Arc;

use crate::command::AnswerTo;
use crate::event::message;
use crate::messages::Messages;
use crate::session::{Asker, Completion};
use crate::{ConversationId, HistoryPage, Message, Refusal, Seq};

/// Threads in a list: those with the newest replies.
pub const MOST_THREADS: u32 = 50;

/// A thread as one user sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    pub root: Arc<Message>,
    /// The user has written in it, wrote its root, was mentioned in it, or chose to follow it.
    pub follows: bool,
    /// Replies that the user has not read, without those of blocked authors; 0 if the user does not follow
    /// it.
    pub unread: u64,
}

impl Messages {
    /// Reads or changes the user's state of a thread.
    pub(crate) fn thread(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        room: ConversationId,
        root: Seq,
        change: ThreadChange,
    ) {
        let handle = asker.session.handle;
        let done = self.on_accepted(handle, AnswerTo::Request(re), move |this, row| {
            this.sessions.answer(handle, re, Event::Thread(Box::new(thread(row))))
        });
        self.store.change_thread(asker.session.user, room, root.min(Seq::MAX), change, done);
    }

    /// The threads of a room that the user follows.
    pub(crate) fn threads(self: &Arc<Self>, asker: &Asker, re: u64, conversation: ConversationId) {
        let handle = asker.session.handle;
        let done = self.on_accepted(handle, AnswerTo::Request(re), move |this, rows: Vec<ThreadRow>| {
            let threads = rows.into_iter().map(thread).collect();
            this.sessions.answer(handle, re, Event::Threads { conversation, threads });
        });
        self.store.threads(asker.session.user, conversation, MOST_THREADS, done);
    }

    /// The replies of a thread, as a page of history.
    #[allow(clippy::too_many_arguments, reason = "the command")]
    pub(crate) fn thread_history(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        room: ConversationId,
        root: Seq,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: Option<u32>,
    ) {
        let (_this, handle) = (self.clone(), asker.session.handle);
        if before.is_some() && after.is_some() {
            return self.sessions.refuse(handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        let [before, after] = [before, after].map(|seq| seq.map(|seq| seq.min(Seq::MAX)));
        let done = self.on_accepted(handle, AnswerTo::Request(re), move |this, page| {
            let HistoryPage { messages, more } = page;
            let messages = messages.into_iter().map(message).collect();
            let event = Event::History { conversation: Some(room), messages, more };
            this.sessions.answer(handle, re, event);
        });
        let limit = self.sessions.page_limit(limit);
        let reader = asker.session.user;
        self.store.thread_history(reader, room, root.min(Seq::MAX), before, after, limit, done);
    }
}

fn thread(row: ThreadRow) -> Thread {
    let count = row.root.rich.as_ref().and_then(|rich| rich.replies).map_or(0, |replies| replies.count);
    let unread = row.read.map_or(0, |read| count.saturating_sub(read).saturating_sub(row.blocked));
    Thread { root: message(row.root), follows: row.read.is_some(), unread }
}

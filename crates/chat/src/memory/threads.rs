//! The threads' part of the port.

use super::MemoryStore;
use crate::{ConversationId, Done, HistoryPage, Refusal, Seq, ThreadChange, ThreadRow, ThreadStore, UserId};

impl ThreadStore for MemoryStore {
    fn thread_history(
        &self,
        reader: UserId,
        room: ConversationId,
        root: Seq,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: u32,
        done: Done<Result<HistoryPage, Refusal>>,
    ) {
        self.read(move |tables| tables.thread_history(reader, room, root, before, after, limit), done);
    }

    fn change_thread(
        &self,
        reader: UserId,
        room: ConversationId,
        root: Seq,
        change: ThreadChange,
        done: Done<Result<ThreadRow, Refusal>>,
    ) {
        self.write(move |tables| tables.change_thread(reader, room, root, change), done);
    }

    fn threads(
        &self,
        reader: UserId,
        room: ConversationId,
        limit: u32,
        done: Done<Result<Vec<ThreadRow>, Refusal>>,
    ) {
        self.read(move |tables| tables.threads(reader, room, limit), done);
    }
}

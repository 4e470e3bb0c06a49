//! The slice of messages and conversations: queues each request with its completion.

use chat::messages::MessageName;
use chat::{
    Append, Appended, ArchivePage, ArchiveRead, ChangeMessage, ChangedMessage, ConversationChange,
    ConversationId, ConversationList, ConversationRow, ConversationsPage, Done, FoundPage, HistoryPage,
    MarkerRow, MessageChange, MessageStore, Position, Post, Posted, ReadFrom, Refusal, Revision, RoomLimits,
    RoomName, Search, Seq, StoredMessage, Timestamp, UnpublishedPage, UserId,
};

use crate::late::Scope;
use crate::port::{read, read_settled};
use crate::sqlite::Sqlite;
use crate::{archive, conversation, message_change, room, search, writer};

impl MessageStore for Sqlite {
    fn append(&self, append: Append, done: Done<Appended>) {
        let bytes = super::bytes(&append.body, append.extension.as_deref());
        let to = append.conversation;
        let job = writer::append(to, move |batch| super::append(batch, &append), |outcome, _| done(outcome));
        self.shared.write(job, bytes);
    }

    fn post(&self, post: Post, limits: RoomLimits, done: Done<Result<Posted, Refusal>>) {
        let bytes = super::bytes(&post.body, post.extension.as_deref());
        let job =
            writer::write(move |batch| room::post::post(batch, &post, limits), |outcome, _| done(outcome));
        self.shared.write(job, bytes);
    }

    fn change_message(&self, change: ChangeMessage, done: Done<Result<ChangedMessage, Refusal>>) {
        let bytes = match &change.change {
            MessageChange::Edit { body, extension } => super::bytes(body, extension.as_deref()),
            MessageChange::Delete
            | MessageChange::React { .. }
            | MessageChange::Pin(_)
            | MessageChange::Vote(_)
            | MessageChange::ClosePoll
            | MessageChange::Preview(_) => 0,
        };
        let job =
            writer::write(move |batch| message_change::change(batch, &change), |outcome, _| done(outcome));
        self.shared.write(job, bytes);
    }

    fn publish_gathered(&self, conversation: ConversationId, seq: Seq, done: Done<Option<ChangedMessage>>) {
        self.write(move |batch| message_change::publish(batch, conversation, seq), done);
    }

    fn unpublished(&self, page: UnpublishedPage, done: Done<Vec<(ConversationId, Seq)>>) {
        self.read(move |db| message_change::unpublished(db, page), done);
    }

    fn mark(
        &self,
        conversation: ConversationId,
        user: UserId,
        received: Seq,
        read: Seq,
        done: Done<MarkerRow>,
    ) {
        let mark = if conversation.is_room() { room::change::mark } else { conversation::mark };
        self.write(move |batch| mark(batch, conversation, user, received, read), done);
    }

    fn change_conversation(
        &self,
        conversation: ConversationId,
        user: UserId,
        change: ConversationChange,
        done: Done<Result<(ConversationRow, Position), Refusal>>,
    ) {
        let set = if conversation.is_room() { room::change::change_view } else { conversation::change };
        let bytes = change.draft.as_deref().map_or(0, str::len);
        let job =
            writer::write(move |batch| set(batch, conversation, user, &change), |outcome, _| done(outcome));
        self.shared.write(job, bytes);
    }

    fn conversations(
        &self,
        user: UserId,
        list: ConversationList,
        after: Option<String>,
        limit: u32,
        done: Done<ConversationsPage>,
    ) {
        self.read_settled(
            Scope::Of(user),
            move |db| conversation::page(db, user, list, after.as_deref(), limit),
            done,
        );
    }

    fn history(
        &self,
        reader: UserId,
        conversation: ConversationId,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: u32,
        done: Done<HistoryPage>,
    ) {
        self.read_settled(
            Scope::One(conversation),
            move |db| super::history(db, reader, conversation, before, after, limit),
            done,
        );
    }

    fn room_history(
        &self,
        room: RoomName,
        asker: UserId,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: u32,
        done: Done<Result<(Option<ConversationId>, HistoryPage), Refusal>>,
    ) {
        self.read(move |db| room::history(db, &room, asker, before, after, limit), done);
    }

    fn history_since(
        &self,
        reader: UserId,
        conversation: ConversationId,
        time: Timestamp,
        limit: u32,
        done: Done<Result<HistoryPage, Refusal>>,
    ) {
        self.read_settled(
            Scope::One(conversation),
            move |db| super::history_since(db, reader, conversation, time, limit),
            done,
        );
    }

    fn archive(&self, wanted: ArchiveRead, done: Done<Result<ArchivePage, Refusal>>) {
        // After other reads: a query over all conversations visits each of them.
        let scope = match wanted.of {
            ReadFrom::One(id) => Scope::One(id),
            ReadFrom::Direct | ReadFrom::All => Scope::Of(wanted.reader),
        };
        self.shared.read_last(read_settled(scope, move |db| archive::page(db, &wanted), done));
    }

    fn messages_at(
        &self,
        reader: UserId,
        positions: Vec<u64>,
        done: Done<Result<Vec<StoredMessage>, Refusal>>,
    ) {
        self.read_settled(Scope::Of(reader), move |db| archive::named(db, reader, &positions), done);
    }

    fn find_message(
        &self,
        reader: UserId,
        conversation: ConversationId,
        name: MessageName,
        done: Done<Result<StoredMessage, Refusal>>,
    ) {
        // The writer knows the client ids of the newest messages.
        self.write(move |batch| archive::find(batch, reader, conversation, &name), done);
    }

    fn message(
        &self,
        reader: UserId,
        conversation: ConversationId,
        seq: Seq,
        done: Done<Result<StoredMessage, Refusal>>,
    ) {
        self.read_settled(
            Scope::One(conversation),
            move |db| super::one(db, reader, conversation, seq),
            done,
        );
    }

    fn pins(
        &self,
        reader: UserId,
        conversation: ConversationId,
        done: Done<Result<Vec<StoredMessage>, Refusal>>,
    ) {
        self.read(move |db| message_change::pins(db, reader, conversation), done);
    }

    fn search(&self, wanted: Search, done: Done<Result<FoundPage, Refusal>>) {
        // Runs after other reads, because a search for a common word may be slow.
        self.shared.read_last(read(move |db| search::search(db, &wanted), done));
    }

    fn revisions(&self, conversation: ConversationId, seq: Seq, done: Done<Vec<Revision>>) {
        self.read_settled(
            Scope::One(conversation),
            move |db| message_change::revisions(db, conversation, seq),
            done,
        );
    }
}

//! A room as one of its members sees it: history and markers.

use crate::messages::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::messages::Messages;
use crate::rooms::RoomName;
use crate::session::{Asker, Completion};
use crate::{ConversationId, HistoryPage, MarkerRow, MarkerSet, Refusal, Seq};

impl Messages {
    /// Both `before` and `after` are refused, because the wanted end is ambiguous.
    pub(crate) fn room_history(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        room: RoomName,
        [before, after]: [Option<Seq>; 2],
        limit: Option<u32>,
    ) {
        let session = asker.session;
        if before.is_some() && after.is_some() {
            return self.sessions.refuse(session.handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        let [before, after] = [before, after].map(|seq| seq.map(|seq| seq.min(Seq::MAX)));
        let done = self.on_accepted(session.handle, AnswerTo::Request(re), move |this, page| {
            let (conversation, HistoryPage { messages, more }) = page;
            let messages = messages.into_iter().map(crate::event::message).collect();
            let event = Event::History { conversation, messages, more };
            this.sessions.answer(session.handle, re, event);
        });
        let limit = self.sessions.page_limit(limit);
        self.store.room_history(room, session.user, before, after, limit, done);
    }

    /// Published only to the user's other devices. Members of small rooms read each other's markers with the
    /// list of members, on request (`rooms/seen_by.rs`), so a read message costs the room nothing.
    pub(crate) fn mark_room(self: &Arc<Self>, asker: &Asker, conversation: ConversationId, set: MarkerSet) {
        let session = asker.session;
        let (received, read) = set.both();
        let user = asker.sub.clone();
        let done = self.on_loaded(session.handle, AnswerTo::Session, move |this, row: MarkerRow| {
            if !row.moved {
                return;
            }
            let MarkerRow { received, read, unread, position, .. } = row;
            let event = Event::Marker { conversation, user, received, read, unread: Some(unread) };
            this.sessions.publish(session.user, position, Some(session.handle), event);
            if unread == 0 {
                this.notifications.notify_read(session.user, conversation);
            }
        });
        self.store.mark(conversation, session.user, received, read, done);
    }
}

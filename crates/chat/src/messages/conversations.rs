//! Conversations: the list, a user's settings of one, and its history.

use crate::messages::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::event::message;
use crate::messages::Messages;
use crate::presence::shown::{Other, Viewer, conversation, conversations};
use crate::session::{Asker, Completion};
use crate::users::peer::{Peer, PeerJob};
use crate::{
    ConversationChange, ConversationId, ConversationList, ConversationRow, ConversationsPage, HistoryPage,
    Limits, PageOf, Position, Refusal, Seq, SessionHandle, SessionId, Timestamp,
};

/// Pinned conversations of a user, and pinned messages of a conversation.
pub const MOST_PINNED: usize = 50;

/// Whether one more may be pinned besides these. For stores.
pub fn may_pin(pinned: usize) -> Result<(), Refusal> {
    if pinned >= MOST_PINNED { Err(Refusal::TooManyPinned) } else { Ok(()) }
}

/// Checks the values of a change.
pub(crate) fn check(change: &ConversationChange, limits: &Limits) -> Result<(), Refusal> {
    if change.muted_until.is_some_and(|until| until > Timestamp::MAX) {
        return Err(Refusal::BadValue);
    }
    match &change.draft {
        Some(draft) if draft.len() > limits.body_bytes as usize || draft.contains('\0') => {
            Err(Refusal::BadBody)
        }
        _ => Ok(()),
    }
}

/// A change of the user's own settings of a direct conversation.
pub(crate) struct ChangeViewJob {
    pub(crate) messages: Arc<Messages>,
    pub(crate) re: u64,
    pub(crate) change: ConversationChange,
}

impl PeerJob for ChangeViewJob {
    fn answer_to(&self) -> AnswerTo {
        AnswerTo::Request(self.re)
    }

    fn run(self, asker: &Asker, peer: &Peer, _now: Timestamp) {
        self.messages.change_conversation(asker, peer, self.re, self.change);
    }
}

/// A page of a direct conversation.
pub(crate) struct HistoryJob {
    pub(crate) messages: Arc<Messages>,
    pub(crate) re: u64,
    pub(crate) before: Option<Seq>,
    pub(crate) after: Option<Seq>,
    pub(crate) limit: Option<u32>,
}

impl PeerJob for HistoryJob {
    fn answer_to(&self) -> AnswerTo {
        AnswerTo::Request(self.re)
    }

    fn run(self, asker: &Asker, peer: &Peer, _now: Timestamp) {
        let HistoryJob { messages, re, before, after, limit } = self;
        messages.history(asker, peer, re, before, after, limit);
    }
}

/// A page of a direct conversation from a time on.
pub(crate) struct HistorySinceJob {
    pub(crate) messages: Arc<Messages>,
    pub(crate) re: u64,
    pub(crate) time: Timestamp,
    pub(crate) limit: Option<u32>,
}

impl PeerJob for HistorySinceJob {
    fn answer_to(&self) -> AnswerTo {
        AnswerTo::Request(self.re)
    }

    fn run(self, asker: &Asker, peer: &Peer, _now: Timestamp) {
        let HistorySinceJob { messages, re, time, limit } = self;
        match ConversationId::direct(asker.session.user, peer.id) {
            Some(id) => messages.history_since(asker.session, re, id, time, limit),
            None => messages.sessions.refuse(asker.session.handle, AnswerTo::Request(re), Refusal::BadValue),
        }
    }
}

impl Messages {
    pub(crate) fn list_conversations(
        self: &Arc<Self>,
        asker: Asker,
        re: u64,
        list: ConversationList,
        page: PageOf,
    ) {
        let limit = self.sessions.page_limit(page.limit);
        let user = asker.session.user;
        let handle = asker.session.handle;
        let done = self.on_loaded(handle, AnswerTo::Request(re), move |this, page| {
            let ConversationsPage { rows, next } = page;
            let others: Vec<Other> = rows.iter().filter_map(Other::of_conversation).collect();
            let owner = this.clone();
            this.presences.with_shown(asker.site.site.mode, user, &others, move |shown| {
                let conversations = conversations(rows, &mut shown.into_iter());
                owner.sessions.answer(handle, re, Event::Conversations { conversations, next });
            });
        });
        self.store.conversations(user, list, page.after, limit, done);
    }

    pub(crate) fn change_conversation(
        self: &Arc<Self>,
        asker: &Asker,
        peer: &Peer,
        re: u64,
        change: ConversationChange,
    ) {
        let Some(id) = ConversationId::direct(asker.session.user, peer.id) else { return };
        let shown = Viewer {
            mode: asker.site.site.mode,
            viewpoint: peer.relation.a_views_b(),
            published: self.presences.published(peer.id),
        };
        self.change_view(asker.session, re, id, Some(shown), change);
    }

    /// Changes a member's settings of a direct conversation or a room. `viewer`: the relation to the other
    /// user, in a direct one.
    pub(crate) fn change_view(
        self: &Arc<Self>,
        session: SessionId,
        re: u64,
        id: ConversationId,
        viewer: Option<Viewer>,
        change: ConversationChange,
    ) {
        if let Err(refusal) = check(&change, &self.config.limits) {
            return self.sessions.refuse(session.handle, AnswerTo::Request(re), refusal);
        }
        let to = AnswerTo::Request(re);
        let done = self.on_accepted(session.handle, to, move |this, changed: (ConversationRow, Position)| {
            let (row, position) = changed;
            let shown = viewer.zip(row.of.other()).map(|(viewer, other)| viewer.shown(other));
            let seen = Box::new(conversation(row, shown.unwrap_or_default()));
            this.sessions.reply_and_publish(session, re, position, Event::Conversation(seen));
        });
        self.store.change_conversation(id, session.user, change, done);
    }

    /// Both `before` and `after` are refused, because the wanted end is ambiguous.
    pub(crate) fn history(
        self: &Arc<Self>,
        asker: &Asker,
        peer: &Peer,
        re: u64,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: Option<u32>,
    ) {
        let session = asker.session;
        let conversation = ConversationId::direct(session.user, peer.id);
        let (Some(conversation), false) = (conversation, before.is_some() && after.is_some()) else {
            return self.sessions.refuse(session.handle, AnswerTo::Request(re), Refusal::BadValue);
        };
        let limit = self.sessions.page_limit(limit);
        let [before, after] = [before, after].map(|seq| seq.map(|seq| seq.min(Seq::MAX)));
        let done = self.on_loaded(session.handle, AnswerTo::Request(re), move |this, page| {
            this.answer_history(session.handle, re, conversation, page);
        });
        self.store.history(session.user, conversation, before, after, limit, done);
    }

    /// A page that begins with the first message of `time` or later. The store checks that the asker may read the conversation.
    pub(crate) fn history_since(
        self: &Arc<Self>,
        session: SessionId,
        re: u64,
        conversation: ConversationId,
        time: Timestamp,
        limit: Option<u32>,
    ) {
        let limit = self.sessions.page_limit(limit);
        let done = self.on_accepted(session.handle, AnswerTo::Request(re), move |this, page| {
            this.answer_history(session.handle, re, conversation, page);
        });
        self.store.history_since(session.user, conversation, time, limit, done);
    }

    fn answer_history(&self, to: SessionHandle, re: u64, conversation: ConversationId, page: HistoryPage) {
        let HistoryPage { messages, more } = page;
        let messages = messages.into_iter().map(message).collect();
        self.sessions.answer(to, re, Event::History { conversation: Some(conversation), messages, more });
    }
}

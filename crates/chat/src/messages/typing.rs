//! Typing: delivered to connected users, and not stored.

use crate::messages::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::contacts::message_requests::is_stranger;
use crate::messages::Messages;
use crate::privacy::Signal;
use crate::session::{Asker, Completion};
use crate::users::peer::{Peer, PeerJob, may_write};
use crate::{ConversationId, ConversationRow, Timestamp};

/// Typing in a direct conversation.
pub(crate) struct TypingJob {
    pub(crate) messages: Arc<Messages>,
    pub(crate) on: bool,
}

impl PeerJob for TypingJob {
    fn answer_to(&self) -> AnswerTo {
        AnswerTo::Nobody
    }

    fn run(self, asker: &Asker, peer: &Peer, _now: Timestamp) {
        self.messages.typing(asker, peer, self.on);
    }
}

impl Messages {
    /// Dropped silently if the user may not write, or hides from the other one. From a stranger it is
    /// delivered only in a conversation that the other user has accepted.
    pub(crate) fn typing(self: &Arc<Self>, asker: &Asker, peer: &Peer, on: bool) {
        let me = asker.session.user;
        let Some(conversation) = ConversationId::direct(me, peer.id) else { return };
        let mode = asker.site.site.mode;
        let is_sent = may_write(mode, peer.is_banned, peer.relation)
            && asker.visibility.sends(Signal::Typing, mode, peer.relation.b_views_a());
        if !is_sent {
            return;
        }
        let event = Event::Typing { conversation, user: asker.sub.clone(), on };
        if !is_stranger(peer.relation) {
            return self.sessions.publish_transient(peer.id, None, event);
        }
        let to = peer.id;
        let done = self.then::<Option<ConversationRow>>(move |this, row| {
            if let Ok(Some(row)) = row
                && row.request.is_none()
            {
                this.sessions.publish_transient(to, None, event);
            }
        });
        self.store.conversation(me, conversation, done);
    }
}

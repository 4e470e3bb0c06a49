//! Markers: the last received and the last read message of a member.

use crate::messages::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::messages::Messages;
use crate::privacy::Signal;
use crate::session::{Asker, Completion};
use crate::users::peer::{Peer, PeerJob};
use crate::{ConversationId, MarkerRow, MarkerSet, Position, Seq, Timestamp};

/// The markers after a client's report. They only move forward, not beyond the newest message, and read
/// implies received.
pub fn markers_after(
    (received, read): (u64, u64),
    (now_received, now_read): (Seq, Seq),
    newest: u64,
) -> (u64, u64) {
    let read = now_read.0.min(newest).max(read);
    (now_received.0.min(newest).max(received).max(read), read)
}

impl MarkerRow {
    /// The answer if the conversation has no messages.
    pub fn nothing(position: Position) -> MarkerRow {
        MarkerRow { received: Seq(0), read: Seq(0), unread: 0, moved: false, notifies_other: false, position }
    }
}

/// A marker in a direct conversation.
pub(crate) struct MarkJob {
    pub(crate) messages: Arc<Messages>,
    pub(crate) set: MarkerSet,
}

impl PeerJob for MarkJob {
    fn answer_to(&self) -> AnswerTo {
        AnswerTo::Session
    }

    fn run(self, asker: &Asker, peer: &Peer, _now: Timestamp) {
        self.messages.mark(asker, peer, self.set);
    }
}

impl Messages {
    /// Publishes a marker to the user's other devices with the unread count. The other member gets it without
    /// the count, if the user's privacy allows it.
    pub(crate) fn mark(self: &Arc<Self>, asker: &Asker, peer: &Peer, set: MarkerSet) {
        let session = asker.session;
        let Some(conversation) = ConversationId::direct(session.user, peer.id) else { return };
        let (received, read) = set.both();
        let is_told = asker.visibility.sends(Signal::Marker, asker.site.site.mode, peer.relation.b_views_a());
        let other = is_told.then_some(peer.id);
        let user = asker.sub.clone();
        let done = self.on_loaded(session.handle, AnswerTo::Session, move |this, row: MarkerRow| {
            if !row.moved {
                return;
            }
            let MarkerRow { received, read, unread, position, notifies_other, .. } = row;
            let event = |unread| Event::Marker { conversation, user: user.clone(), received, read, unread };
            this.sessions.publish(session.user, position, Some(session.handle), event(Some(unread)));
            if unread == 0 {
                this.notifications.notify_read(session.user, conversation);
            }
            if let Some(other) = other.filter(|_| notifies_other) {
                this.sessions.publish(other, position, None, event(None));
            }
        });
        self.store.mark(conversation, session.user, received, read, done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_move_forward_up_to_the_newest_message() {
        let table = [
            // received and read before, the report, and after, of nine messages
            ((0, 0), (3, 0), (3, 0)),
            ((3, 0), (0, 5), (5, 5)),
            ((5, 5), (2, 2), (5, 5)),
            ((5, 2), (4, 4), (5, 4)),
            ((5, 5), (u64::MAX, 7), (9, 7)),
            ((0, 0), (0, u64::MAX), (9, 9)),
        ];
        for (before, (received, read), after) in table {
            assert_eq!(markers_after(before, (Seq(received), Seq(read)), 9), after, "{before:?}");
        }
        assert_eq!(markers_after((9, 9), (Seq(1), Seq(1)), 4), (9, 9), "older ones were taken away");
    }
}

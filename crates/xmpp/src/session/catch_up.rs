//! Catching up: a session asks for what it has missed, and its client notices no more than a pause.
//!
//! XMPP has no notice of a gap, so the stream ends if a part cannot be had any more. The client then begins a new session, and reads
//! the archive (XEP-0313).

use chat::session::Event as SessionEvent;
use chat::sign_in::Command;
use chat::{Changes, ConversationId, Delivery, Event, Refusal};

use super::{Asked, Flags, Turn};
use crate::xep::muc::Visit;

/// Whether a client that has missed the changes knows everything with them. `rooms`: those that it has entered.
pub(crate) fn is_whole(changes: &Changes, rooms: impl Fn(ConversationId) -> bool) -> bool {
    let is_shown = |conversation: ConversationId| !conversation.is_room() || rooms(conversation);
    !changes.reset
        && changes.conversations_next.is_none()
        && changes.contacts_next.is_none()
        && !changes.gaps.iter().any(|gap| is_shown(gap.conversation))
}

impl Turn<'_, '_> {
    /// The domain has dropped stored events of this session, and delivers none until it has sent the changes. It does not know
    /// the session's rooms and call any more if it is another process than before.
    pub(super) fn catch_up(&mut self) {
        let position = Some(self.session.position());
        let command = Command::Resume { position };
        self.continue_then(Asked::internal(), command, |turn, _, answer| turn.caught_up(answer));
    }

    fn caught_up(&mut self, answer: Result<&Delivery, Refusal>) {
        let Ok(Delivery { event: Event::Session(SessionEvent::Changes(changes)), .. }) = answer else {
            return self.session.set(Flags::INCOMPLETE, true);
        };
        let visits = self.session.take_shown_visits();
        if !is_whole(changes, |room| visits.iter().any(|visit| visit.room == room)) {
            return self.session.set(Flags::INCOMPLETE, true);
        }
        let since = self.session.position();
        self.return_to_rooms(visits.iter().filter_map(Visit::left).collect(), changes);
        if let Some(call) = self.session.take_call() {
            self.return_to_call(call);
        }
        self.changes(changes, since);
        self.session.set_position(changes.position);
    }
}

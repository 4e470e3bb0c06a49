//! The list of pinned messages. A pin is a change of its message (`messages/changes.rs`), which is published
//! to all members.

use crate::messages::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::event::message;
use crate::messages::Messages;
use crate::session::{Asker, Completion};
use crate::{ConversationId, StoredMessage};

impl Messages {
    pub(crate) fn pins(self: &Arc<Self>, asker: &Asker, re: u64, conversation: ConversationId) {
        let session = asker.session;
        let done =
            self.on_accepted(session.handle, AnswerTo::Request(re), move |this, pins: Vec<StoredMessage>| {
                let messages = pins.into_iter().map(message).collect();
                this.sessions.answer(session.handle, re, Event::Pins { conversation, messages });
            });
        self.store.pins(session.user, conversation, done);
    }
}

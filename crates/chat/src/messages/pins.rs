//! The list of pinned messages. A pin is a change of its message (`messages/changes.rs`), which is published
//! to all members.

use crate::messages::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::event::message;
use crate::messages::Messages;
use crate::session::Asker;
use crate::store::unavailable;
use crate::{ConversationId, Refusal, StoreError, StoredMessage};

impl Messages {
    pub(crate) fn pins(self: &Arc<Self>, asker: &Asker, re: u64, conversation: ConversationId) {
        let session = asker.session;
        let this = self.clone();
        let done = move |pins: Result<Result<Vec<StoredMessage>, Refusal>, StoreError>| match pins
            .unwrap_or_else(|error| Err(unavailable(error)))
        {
            Ok(pins) => {
                let messages = pins.into_iter().map(message).collect();
                this.sessions.answer(session.handle, re, Event::Pins { conversation, messages });
            }
            Err(refusal) => this.sessions.refuse(session.handle, AnswerTo::Request(re), refusal),
        };
        self.store.pins(session.user, conversation, Box::new(done));
    }
}

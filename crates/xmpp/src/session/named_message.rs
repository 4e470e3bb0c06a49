//! Stanzas that refer to another message by the id of its author: corrections, retractions, reactions and replies.
//!
//! The domain looks the message up in the order of its writes. Meanwhile the stream reads nothing further, so that the
//! stanzas of a client keep their order.

use std::sync::Arc;
use std::vec::IntoIter;

use chat::messages::{Command, Event as MessagesEvent, MessageName};
use chat::{Delivery, Event, Message, MessageChange, Refusal, Sub, To};
use xmpp_proto::xml::Element;

use super::{Asked, Flags, Session, Turn};
use crate::refusal::stanza_error;
use crate::xep::stream_management::Counters;

/// The only message of an answer.
pub(crate) fn found(answer: &Delivery) -> Option<&Arc<Message>> {
    match &answer.event {
        Event::Messages(MessagesEvent::Found { hits, .. }) => hits.first(),
        _ => None,
    }
}

impl Session {
    /// The other user of a direct conversation.
    pub(crate) fn other_user(&self, message: &Message) -> Option<Sub> {
        match self.is_own(&message.from) {
            true => message.to.clone(),
            false => Some(message.from.clone()),
        }
    }

    /// A stanza waits for the look-up of a message.
    pub(crate) fn is_paused(&self) -> bool {
        self.has(Flags::PAUSED)
    }

    pub(crate) fn is_own(&self, user: &Sub) -> bool {
        user.address_local() == self.jid.local().unwrap_or_default()
    }
}

impl Turn<'_, '_> {
    /// A message of the client that stream management counts once its outcome is known.
    pub(crate) fn counted(&mut self, element: Element<'_>) -> Asked {
        let number = self.session.management().map(Counters::wait_for_last);
        Asked { number, ..Asked::of(element) }
    }

    pub(crate) fn done(&mut self, asked: &Asked) {
        self.count_answered(asked.number);
    }

    pub(crate) fn fail(&mut self, asked: &Asked, refusal: Refusal) {
        self.answer_error(asked, &stanza_error(refusal));
        self.done(asked);
    }

    /// Looks a message of a conversation up under several names, one after the other.
    pub(crate) fn find_named(
        &mut self,
        asked: Asked,
        to: To,
        mut names: IntoIter<MessageName>,
        then: impl FnOnce(&mut Turn<'_, '_>, Asked, Result<Option<&Message>, Refusal>) + Send + 'static,
    ) {
        let Some(name) = names.next() else {
            return self.unpause(|turn| then(turn, asked, Ok(None)));
        };
        self.pause();
        let command = Command::Find { to: to.clone(), name };
        self.continue_then(asked, command, move |turn, asked, answer| {
            match answer.map(|answer| found(answer).cloned()) {
                Ok(None) | Err(Refusal::NoSuchMessage) => turn.find_named(asked, to, names, then),
                Ok(Some(message)) => turn.unpause(|turn| then(turn, asked, Ok(Some(&message)))),
                Err(refusal) => turn.unpause(|turn| then(turn, asked, Err(refusal))),
            }
        });
    }

    /// Reads no further stanza until [`Turn::read_further`]: the order of stanzas matters, or an answer is large.
    pub(crate) fn pause(&mut self) {
        self.session.set(Flags::PAUSED, true);
    }

    /// Continues a paused stream, unless `then` pauses it again.
    pub(crate) fn unpause(&mut self, then: impl FnOnce(&mut Turn<'_, '_>)) {
        self.session.set(Flags::PAUSED, false);
        then(self);
        if !self.session.is_paused() {
            self.io.read_on();
        }
    }

    pub(crate) fn read_further(&mut self) {
        self.session.set(Flags::PAUSED, false);
        self.io.read_on();
    }

    /// Changes a message; the last change decides about the stanza's outcome.
    pub(crate) fn change_message(&mut self, asked: Asked, message: &Message, changes: Vec<MessageChange>) {
        self.change_message_then(asked, message, changes, |_, _| ());
    }

    /// `then` comes after the last change, unless that was refused.
    pub(crate) fn change_message_then(
        &mut self,
        asked: Asked,
        message: &Message,
        mut changes: Vec<MessageChange>,
        then: impl FnOnce(&mut Turn<'_, '_>, &Asked) + Send + 'static,
    ) {
        let Some(last) = changes.pop() else {
            then(self, &asked);
            return self.done(&asked);
        };
        let (conversation, seq) = (message.conversation, message.seq);
        let command = |change| Command::Change { conversation, seq, change };
        for change in changes {
            self.continue_then(Asked::internal(), command(change), |_, _, _| ());
        }
        self.continue_then(asked, command(last), |turn, asked, answer| match answer {
            Ok(_) => {
                then(turn, &asked);
                turn.done(&asked);
            }
            Err(refusal) => turn.fail(&asked, refusal),
        });
    }
}

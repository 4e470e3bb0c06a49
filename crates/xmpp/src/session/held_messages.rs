//! Messages that wait until the message that one of them answers is known.
//!
//! The event of an answer has only the number of the answered message; a client needs the id that its author gave it. The look-up
//! takes a moment, in which later events of messages wait, so that the client gets them in their order.

use std::collections::VecDeque;
use std::sync::Arc;

use chat::messages::{Command, MessageName};
use chat::{Delivery, Event, Message, Position, Seq, To};

use super::named_message::found;
use super::{Asked, Flags, Session, Turn};
use crate::xep::replies::Answered;

/// Further messages do not wait: they may overtake the others.
const MOST_HELD: usize = 512;

/// What waits, in order.
pub(super) struct Held {
    queue: VecDeque<Waiting>,
    /// Of the last event before the first one that waits: a stream that is lost now is resumed from there.
    position: Position,
}

enum Waiting {
    Message(Arc<Message>, Arrival),
    Event(Delivery),
}

/// Whether a message has come just now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    Live,
    /// It came while the user had no client.
    Earlier,
}

impl Session {
    /// The position from which a lost stream is resumed.
    pub(crate) fn resume_position(&self) -> Position {
        let held = self.extra.as_ref().and_then(|extra| extra.held.as_ref());
        held.map_or_else(|| self.position(), |held| held.position)
    }

    fn held(&mut self) -> Option<&mut Held> {
        self.extra.as_mut()?.held.as_mut()
    }
}

impl Turn<'_, '_> {
    /// Whether the event waits behind others. Answers never do.
    pub(super) fn hold(&mut self, delivery: &Delivery) -> bool {
        if !matches!(delivery.event, Event::Messages(_)) {
            return false;
        }
        let Some(held) = self.session.held().filter(|held| held.queue.len() < MOST_HELD) else {
            return false;
        };
        held.queue.push_back(Waiting::Event(delivery.clone()));
        true
    }

    /// A message of a direct conversation, for the client. `before`: the position of the last event before it.
    pub(crate) fn message(&mut self, message: &Arc<Message>, arrival: Arrival, before: Position) {
        let mut can_wait = true;
        if let Some(held) = self.session.held() {
            if held.queue.len() < MOST_HELD {
                return held.queue.push_back(Waiting::Message(Arc::clone(message), arrival));
            }
            can_wait = false;
        }
        let is_wanted = match self.session.is_own(&message.from) {
            true => self.session.has(Flags::CARBONS),
            false => self.session.wants_messages(),
        };
        if message.conversation.is_room() || !is_wanted {
            return;
        }
        let Some(seq) = message.reply_to.filter(|_| can_wait && !message.deleted) else {
            return self.write_message(message, arrival, None);
        };
        let held = Held { queue: VecDeque::new(), position: before };
        self.session.extra().held = Some(held);
        let find = Command::Find { to: To::Conversation(message.conversation), name: MessageName::Seq(seq) };
        let message = Arc::clone(message);
        self.continue_then(Asked::internal(), find, move |turn, _, answer| {
            let answered = answer.ok().and_then(found);
            let answered = answered.map(|found| Answered::new(found, turn.session.is_own(&found.from)));
            turn.write_message(&message, arrival, answered.as_ref());
            turn.release_held();
        });
    }

    /// A message of a room that answers another one: the client gets it with the quotation. Later events of messages wait.
    pub(crate) fn hold_answer_in_room(&mut self, message: &Arc<Message>, seq: Seq, before: Position) {
        self.session.extra().held = Some(Held { queue: VecDeque::new(), position: before });
        let find = Command::Find { to: To::Conversation(message.conversation), name: MessageName::Seq(seq) };
        let message = Arc::clone(message);
        self.continue_then(Asked::internal(), find, move |turn, _, answer| {
            let answered = answer.ok().and_then(found);
            turn.live_room_message(&message, answered.map(|found| &**found));
            turn.release_held();
        });
    }

    /// Whether a message can wait for the one that it answers.
    pub(crate) fn may_hold(&mut self) -> bool {
        self.session.held().is_none()
    }

    fn release_held(&mut self) {
        let held = self.session.extra.as_mut().and_then(|extra| extra.held.take());
        self.session.drop_empty_extra();
        let Some(Held { mut queue, mut position }) = held else { return };
        while let Some(waiting) = queue.pop_front() {
            match waiting {
                Waiting::Message(message, arrival) => self.message(&message, arrival, position),
                Waiting::Event(delivery) => {
                    self.held_event(&delivery, position);
                    position = delivery.position.unwrap_or(position);
                }
            }
            // Another answer: the rest waits for its message.
            if let Some(held) = self.session.extra.as_mut().and_then(|extra| extra.held.as_mut()) {
                held.queue.append(&mut queue);
            }
        }
    }
}

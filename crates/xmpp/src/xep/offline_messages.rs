//! Best Practices for Handling Offline Messages (XEP-0160): a client that becomes available gets what no device of the user has
//! received.
//!
//! Nothing is stored for it: the markers of the conversations say what was received, and the archive has the messages.

use chat::messages::{Command, Event as MessagesEvent};
use chat::{Conversation, ConversationList, Delivery, Event, MessageRequest, PageOf, To};

use crate::extensions::{Extension, Spec};
use crate::session::{Arrival, Asked, Flags, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(160),
    name: "Best Practices for Handling Offline Messages",
    version: "1.0.1",
    scenario: "offline_messages",
    server_features: &["msgoffline"],
    account_features: &[],
    iq: &[],
};

pub(crate) const DELAY: Extension = Extension {
    spec: Spec::Xep(203),
    name: "Delayed Delivery",
    version: "2.0",
    scenario: "offline_messages",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

impl Turn<'_, '_> {
    pub(crate) fn deliver_offline_messages(&mut self) {
        if self.session.has(Flags::CONVERSATIONS_WAIT) {
            self.session.set(Flags::CONVERSATIONS_WAIT, false);
            self.ask_for(Asked::internal(), unread_conversations, unread(None));
        }
    }
}

fn unread(after: Option<String>) -> Command {
    Command::ListConversations { list: ConversationList::Waiting, page: PageOf { after, limit: None } }
}

/// The messages of a stranger wait until the user accepts the request.
fn has_offline_messages(conversation: &Conversation) -> bool {
    let last = conversation.last.as_ref().map_or(conversation.received, |last| last.seq);
    !conversation.id.is_room() && conversation.request.is_none() && conversation.received < last
}

fn unread_conversations(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    let Event::Messages(MessagesEvent::Conversations { conversations, next }) = &delivery.event else {
        return;
    };
    // Requests of strangers, and invitations to rooms, until they are answered.
    for conversation in conversations.iter().filter(|one| one.request == Some(MessageRequest::Received)) {
        turn.conversation_event(conversation);
        turn.direct_conversation_event(conversation);
    }
    for conversation in conversations.iter().filter(|one| has_offline_messages(one)) {
        let history = Command::History {
            to: To::Conversation(conversation.id),
            before: None,
            after: Some(conversation.received),
            thread: None,
            limit: None,
        };
        turn.ask_for(Asked::internal(), history_page, history);
    }
    if let Some(after) = next {
        turn.ask_for(asked, unread_conversations, unread(Some(after.clone())));
    }
}

fn history_page(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    let Event::Messages(MessagesEvent::History { conversation: Some(conversation), messages, more }) =
        &delivery.event
    else {
        return;
    };
    for message in messages.iter().filter(|message| !message.deleted) {
        turn.message(message, Arrival::Earlier, turn.session.position());
    }
    if let Some(last) = messages.last().filter(|_| *more) {
        let history = Command::History {
            to: To::Conversation(*conversation),
            before: None,
            after: Some(last.seq),
            thread: None,
            limit: None,
        };
        turn.ask_for(asked, history_page, history);
    }
}

//! Message requests of strangers, as requests for a subscription: the text is its status (RFC 6121 §3.1).
//!
//! A request is no message, so it makes no chat, no sound and no receipt. The client gets the messages once its user has
//! accepted, here or in the widget. `subscribed` and an answer accept; `unsubscribed` dismisses.

use chat::contacts::Command;
use chat::messages::{Command as MessagesCommand, Event as MessagesEvent};
use chat::{
    Conversation, ConversationId, Delivery, Event, Message, MessageRequest, RequestAnswer, Seq, Sub, To,
};
use serde::{Deserialize, Serialize};
use xmpp_proto::ns;
use xmpp_proto::xml::{Element, Open};

use super::{Arrival, Asked, Flags, Turn, message_text};
use crate::address;
use crate::refusal::stanza_error;

/// Requests that a session shows at the same time. Further ones come with a later sign-in, and their messages wait.
const MOST_SHOWN: usize = 100;
/// Characters of a message in a request.
const MOST_TEXT: usize = 1_000;

/// A message request that the client has got.
#[derive(Serialize, Deserialize)]
pub(crate) struct ShownRequest {
    user: Sub,
    conversation: ConversationId,
}

impl ShownRequest {
    pub(super) fn is_of(&self, conversation: ConversationId) -> bool {
        self.conversation == conversation
    }
}

impl Turn<'_, '_> {
    /// A direct conversation is new, or has changed.
    pub(crate) fn direct_conversation_event(&mut self, conversation: &Conversation) {
        let Some(person) = conversation.with.person() else { return };
        let is_shown = self.shows_request(conversation.id);
        match conversation.request {
            Some(MessageRequest::Received) if conversation.archived => self.withdraw_request(conversation.id),
            Some(MessageRequest::Received) if !is_shown => {
                let last = conversation.last.as_deref();
                self.show_request(conversation.id, &person.sub, Some(&person.name), last);
            }
            None if is_shown => {
                self.withdraw_request(conversation.id);
                let end = conversation.last.as_ref().map(|last| Seq(last.seq.0 + 1));
                self.deliver_request(conversation.id, end);
            }
            Some(_) | None => {}
        }
    }

    /// A further message of a request.
    pub(crate) fn request_goes_on(&mut self, message: &Message) {
        self.show_request(message.conversation, &message.from, None, Some(message));
    }

    /// The user has written to a stranger, and so accepted the request. `seq`: of that message.
    pub(crate) fn answered_by_message(&mut self, conversation: ConversationId, seq: Seq) {
        if self.shows_request(conversation) {
            self.withdraw_request(conversation);
            self.deliver_request(conversation, Some(seq));
        }
    }

    /// The two are contacts now, or the user has blocked the other one.
    pub(crate) fn answered_by_relation(&mut self, user: &Sub, is_contact: bool) {
        let shown = self.session.shown_requests();
        let Some(conversation) = shown.iter().find(|one| one.user == *user).map(|one| one.conversation)
        else {
            return;
        };
        self.session.forget_request(conversation);
        if is_contact {
            self.deliver_request(conversation, None);
        }
    }

    /// A subscription stanza of the client. True: it answers a message request, and grants nothing else. If the stranger also
    /// asks to be a contact, that request comes again.
    pub(super) fn answers_request(&mut self, element: Element<'_>, kind: &str, user: &Sub) -> bool {
        let answer = match kind {
            "subscribed" => RequestAnswer::Accept,
            "unsubscribed" => RequestAnswer::Dismiss,
            _ => return false,
        };
        let shown = self.session.shown_requests();
        let Some(conversation) = shown.iter().find(|one| one.user == *user).map(|one| one.conversation)
        else {
            return false;
        };
        self.session.forget_request(conversation);
        let command = Command::AnswerRequest { conversation, answer };
        self.continue_then(Asked::of(element), command, move |turn, asked, outcome| match outcome {
            Ok(Delivery { event: Event::Messages(MessagesEvent::Conversation(now)), .. }) => {
                if answer == RequestAnswer::Accept {
                    let end = now.last.as_ref().map(|last| Seq(last.seq.0 + 1));
                    turn.deliver_request(conversation, end);
                }
            }
            Ok(_) => {}
            Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
        });
        true
    }

    fn shows_request(&self, conversation: ConversationId) -> bool {
        self.session.shown_requests().iter().any(|one| one.is_of(conversation))
    }

    fn show_request(
        &mut self,
        conversation: ConversationId,
        user: &Sub,
        name: Option<&str>,
        message: Option<&Message>,
    ) {
        if self.is_of_server() {
            return;
        }
        if !self.session.is_available() {
            // The first presence reads what waits.
            return self.session.set(Flags::CONVERSATIONS_WAIT, true);
        }
        if !self.shows_request(conversation) {
            if self.session.shown_requests().len() >= MOST_SHOWN {
                return;
            }
            self.session.show_request(ShownRequest { user: user.clone(), conversation });
        }
        let links = self.links();
        let text = message.map(|message| message_text(message, self.domain(), &links));
        let text: String = text.iter().flat_map(|text| text.chars()).take(MOST_TEXT).collect();
        let (from, to) = (address::user(user, self.domain()), self.session.bare().to_owned());
        self.send(|out| {
            let open = Open::new(out, "presence").attr("type", "subscribe").attr("from", &from);
            open.attr("to", &to).children(|out| {
                Open::new(out, "status").text(&text);
                if let Some(name) = name {
                    Open::new(out, "nick").attr("xmlns", ns::NICK).text(name);
                }
            });
        });
    }

    /// The request was answered elsewhere: the client must not ask its user any more.
    fn withdraw_request(&mut self, conversation: ConversationId) {
        if let Some(shown) = self.session.forget_request(conversation) {
            let (from, to) = (address::user(&shown.user, self.domain()), self.session.bare().to_owned());
            self.send(|out| {
                let open = Open::new(out, "presence").attr("type", "unsubscribe").attr("from", &from);
                open.attr("to", &to).empty();
            });
        }
    }

    /// The messages of an accepted request, which the client has not got as messages yet. `end`: the first one that comes by
    /// itself.
    fn deliver_request(&mut self, conversation: ConversationId, end: Option<Seq>) {
        let history = MessagesCommand::History {
            to: To::Conversation(conversation),
            before: end,
            after: None,
            thread: None,
            limit: None,
        };
        self.continue_then(Asked::internal(), history, |turn, _, answer| {
            let Ok(Delivery { event: Event::Messages(MessagesEvent::History { messages, .. }), .. }) = answer
            else {
                return;
            };
            let position = turn.session.position();
            for message in messages.iter().filter(|one| !one.deleted) {
                if !turn.session.is_own(&message.from) {
                    turn.message(message, Arrival::Earlier, position);
                }
            }
        });
    }
}

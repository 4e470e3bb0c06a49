//! Message Displayed Synchronization (XEP-0490), from the user's own read markers of the domain.
//!
//! The node has one item for each direct conversation that the user has read. It is the same data that the widget shows, so an item
//! that a client publishes moves the marker, and reading in the widget changes the item.
//!
//! A session gets notifications if it wants them (XEP-0163), or once it has read the node or has published to it.

use chat::messages::{Command, Event as MessagesEvent, MessageName};
use chat::{
    Conversation, ConversationId, ConversationList, Delivery, Event, MarkerSet, PageOf, Refusal, Seq, Sub, To,
};
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::displayed::Displayed;
use xmpp_proto::payload::markers::Marker;
use xmpp_proto::payload::pubsub::{self, Why};
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::{Element, Open};

use crate::address::{self, Target};
use crate::extensions::{Extension, Spec};
use crate::refusal::stanza_error;
use crate::session::{Asked, Flags, Iq, Turn, found};
use crate::xep::pep::Node;

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(490),
    name: "Message Displayed Synchronization",
    version: "1.0.1",
    scenario: "displayed",
    server_features: &[],
    account_features: &["urn:xmpp:mds:server-assist:0"],
    iq: &[],
};

pub(crate) static NODE: Node = Node { name: ns::DISPLAYED, items, publish, retract: None };

/// Items of an answer: those of the conversations with the newest activity.
const MOST_ITEMS: usize = 500;

/// The other user of a conversation, and the position of the last message that the user has read in it.
type Item = (Sub, u64);

/// The items of an answer, page by page.
struct Listing {
    /// The JIDs that the client asks for; empty: all.
    ids: Vec<String>,
    items: Vec<Item>,
    /// Conversations of this page whose position must be looked up.
    unknown: Vec<(ConversationId, Seq)>,
    /// The next page.
    next: Option<String>,
}

fn items(turn: &mut Turn<'_, '_>, iq: &Iq<'_>, ids: Vec<String>) {
    turn.session.set(Flags::DISPLAYED, true);
    turn.pause();
    let listing = Listing { ids, items: Vec::new(), unknown: Vec::new(), next: None };
    listing.page(turn, Asked::of(iq.element));
}

impl Listing {
    fn page(mut self, turn: &mut Turn<'_, '_>, asked: Asked) {
        let page = PageOf { after: self.next.take(), limit: None };
        let command = Command::ListConversations { list: ConversationList::Main, page };
        turn.continue_then(asked, command, move |turn, asked, answer| match answer {
            Err(refusal) => {
                turn.answer_error(&asked, &stanza_error(refusal));
                turn.read_further();
            }
            Ok(Delivery {
                event: Event::Messages(MessagesEvent::Conversations { conversations, next }),
                ..
            }) => {
                self.next.clone_from(next);
                conversations.iter().for_each(|conversation| self.add(conversation));
                self.look_up(turn, asked);
            }
            Ok(_) => turn.read_further(),
        });
    }

    fn add(&mut self, conversation: &Conversation) {
        let (Some(person), true) = (conversation.with.person(), conversation.read > Seq(0)) else { return };
        match &conversation.last {
            Some(last) if last.seq == conversation.read => {
                self.items.push((person.sub.clone(), last.position))
            }
            _ => self.unknown.push((conversation.id, conversation.read)),
        }
    }

    fn look_up(mut self, turn: &mut Turn<'_, '_>, asked: Asked) {
        let Some((conversation, seq)) = self.unknown.pop() else {
            return match self.next.is_some() && self.items.len() < MOST_ITEMS {
                true => self.page(turn, asked),
                false => self.write(turn, asked),
            };
        };
        turn.continue_then(asked, find(conversation, seq), move |turn, asked, answer| {
            self.items.extend(item_of(turn, answer));
            self.look_up(turn, asked);
        });
    }

    fn write(mut self, turn: &mut Turn<'_, '_>, asked: Asked) {
        let jid = turn.session.jid.clone();
        self.items.truncate(MOST_ITEMS);
        let ids = self.ids;
        turn.answer(asked, |out| {
            pubsub::write_items(out, ns::DISPLAYED, None, |out| {
                for (user, position) in &self.items {
                    let id = address::user(user, jid.domain());
                    if ids.is_empty() || ids.contains(&id) {
                        write_item(out, &jid, &id, *position);
                    }
                }
            });
        });
        turn.read_further();
    }
}

fn find(conversation: ConversationId, seq: Seq) -> Command {
    Command::Find { to: To::Conversation(conversation), name: MessageName::Seq(seq) }
}

fn item_of(turn: &Turn<'_, '_>, answer: Result<&Delivery, Refusal>) -> Option<Item> {
    let message = answer.ok().and_then(found)?;
    Some((turn.session.other_user(message)?, message.position))
}

fn write_item(out: &mut Vec<u8>, own: &Jid, id: &str, position: u64) {
    pubsub::write_item(out, id, |out| Displayed { by: own.bare(), id: &position.to_string() }.write(out));
}

fn publish(
    turn: &mut Turn<'_, '_>,
    iq: &Iq<'_>,
    id: Option<&str>,
    payload: Option<Element<'_>>,
) -> Result<(), StanzaError> {
    turn.session.set(Flags::DISPLAYED, true);
    let displayed = payload.and_then(Displayed::of).filter(|displayed| displayed.by == turn.session.bare());
    let position = displayed.and_then(|displayed| displayed.id.parse().ok());
    let position: u64 = position.ok_or_else(|| pubsub::error(Why::InvalidPayload))?;
    let with = id.and_then(|id| Jid::parse(id).ok());
    let Some(Target::User(user)) = with.map(|with| Target::of(Some(&with), &turn.session.jid)) else {
        return Err(StanzaError::new(Condition::ItemNotFound));
    };
    let id = id.unwrap_or_default().to_owned();
    let command = Command::Find { to: To::User(user), name: MessageName::Position(position) };
    turn.ask_then(iq, command, move |turn, asked, answer| match answer {
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
        Ok(_) => {
            if let Some(message) = answer.ok().and_then(found) {
                let (conversation, set) = (message.conversation, MarkerSet::Read(message.seq));
                turn.command(Command::Mark { conversation, set });
            }
            turn.answer(asked, |out| pubsub::write_published(out, ns::DISPLAYED, &id));
        }
    });
    Ok(())
}

impl Turn<'_, '_> {
    /// The user has read so much of a direct conversation, in another session.
    pub(crate) fn own_marker(&mut self, conversation: ConversationId, read: Seq) {
        if read == Seq(0) || !(self.session.has(Flags::DISPLAYED) || self.session.has(Flags::CARBONS)) {
            return;
        }
        let asked = Asked::internal();
        self.continue_then(asked, find(conversation, read), |turn, _, answer| {
            let Some(message) = answer.ok().and_then(found) else { return };
            let Some(user) = turn.session.other_user(message) else { return };
            if turn.session.has(Flags::DISPLAYED) {
                turn.notify_displayed(&user, message.position);
            } else if message.from == user {
                // A copy, for clients that synchronise by them.
                let (own, id) = (message.to.clone(), &*message.client_id);
                if let Some(own) = own {
                    turn.send_from(&own, &user, None, |out| Marker::Displayed { id }.write(out));
                }
            }
        });
    }

    /// After a pause: how far the user has read a conversation that has changed.
    pub(crate) fn read_meanwhile(&mut self, conversation: &Conversation, user: &Sub) {
        match &conversation.last {
            Some(last) if last.seq == conversation.read => {
                if self.session.has(Flags::DISPLAYED) {
                    self.notify_displayed(user, last.position);
                }
            }
            _ => self.own_marker(conversation.id, conversation.read),
        }
    }

    fn notify_displayed(&mut self, user: &Sub, position: u64) {
        let jid = self.session.jid.clone();
        let id = address::user(user, jid.domain());
        self.send(|out| {
            Open::new(out, "message")
                .attr("type", "headline")
                .attr("from", jid.bare())
                .attr("to", jid.as_str())
                .children(|out| {
                    pubsub::write_event(out, ns::DISPLAYED, |out| write_item(out, &jid, &id, position));
                });
        });
    }
}

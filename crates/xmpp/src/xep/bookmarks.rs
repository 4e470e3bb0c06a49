//! PEP Native Bookmarks (XEP-0402), from the memberships of the user.
//!
//! The rooms of which the user is a member are the bookmarks; there is no second list. To add a bookmark with autojoin is to join
//! the room, and to delete a bookmark is to leave the room. A bookmark without autojoin of another room is not kept. The name and the
//! autojoin of a bookmark cannot be changed. [`stored`] has the older form, which is one element with all bookmarks.
//!
//! A session gets notifications if it wants them (XEP-0163), or once it has read the node.

pub(crate) mod stored;

use chat::messages::{Command, Event as MessagesEvent};
use chat::rooms::{Command as RoomsCommand, Event as RoomsEvent};
use chat::{
    Alias, Conversation, ConversationId, ConversationList, Delivery, Event, Naming, PageOf, Refusal, Sub, To,
    With,
};
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::bookmarks::Bookmark;
use xmpp_proto::payload::pubsub;
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::{Element, Open};

use super::muc;
use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::refusal::stanza_error;
use crate::session::{Asked, Flags, Iq, Turn};
use crate::xep::pep::Node;

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(402),
    name: "PEP Native Bookmarks",
    version: "1.2.0",
    scenario: "bookmarks",
    server_features: &[],
    account_features: &[ns::BOOKMARKS_COMPAT, ns::BOOKMARKS_COMPAT_PEP],
    iq: &[],
};

pub(crate) static NODE: Node = Node { name: ns::BOOKMARKS, items, publish, retract: Some(retract) };

/// Bookmarks of an answer: the rooms with the newest activity.
const MOST_BOOKMARKS: usize = 200;

/// A room of the user.
struct Room {
    id: ConversationId,
    address: Box<str>,
    name: Box<str>,
    nick: Option<Box<str>>,
}

impl Room {
    /// None: no room, or one into which the user is only invited.
    fn of(turn: &mut Turn<'_, '_>, conversation: &Conversation) -> Option<Room> {
        match &conversation.with {
            With::Room(room, _) if conversation.request.is_none() => {
                let id = conversation.id;
                turn.learn_room(id, room);
                let address = muc::address_of(id, room, turn.domain()).into();
                Some(Room { id, address, name: (*room.name).into(), nick: None })
            }
            With::Room(..) | With::Person(_) => None,
        }
    }

    fn write_item(&self, out: &mut Vec<u8>) {
        pubsub::write_item(out, &self.address, |out| self.bookmark().write(out));
    }

    fn bookmark(&self) -> Bookmark<'_> {
        Bookmark {
            name: Some(&self.name),
            autojoin: true,
            nick: self.nick.as_deref().map(Into::into),
            ..Bookmark::default()
        }
    }
}

/// The rooms of an answer, page by page. Then `write` answers.
struct Listing {
    rooms: Vec<Room>,
    list: ConversationList,
    next: Option<String>,
    /// A stanza of the client waits, and later ones behind it.
    is_for_stanza: bool,
    write: Write,
}

/// Answers with the rooms.
type Write = Box<dyn FnOnce(&mut Turn<'_, '_>, Asked, Vec<Room>) + Send>;

impl Listing {
    /// For a stanza of the client, or for this gateway itself.
    fn begin(
        turn: &mut Turn<'_, '_>,
        iq: Option<&Iq<'_>>,
        write: impl FnOnce(&mut Turn<'_, '_>, Asked, Vec<Room>) + Send + 'static,
    ) {
        let asked = match iq {
            Some(iq) => Asked::of(iq.element),
            None => Asked::internal(),
        };
        if iq.is_some() {
            turn.pause();
        }
        let (list, write) = (ConversationList::Main, Box::new(write));
        let listing = Listing { rooms: Vec::new(), list, next: None, is_for_stanza: iq.is_some(), write };
        listing.page(turn, asked);
    }

    fn end(self, turn: &mut Turn<'_, '_>, asked: Asked, outcome: Result<(), Refusal>) {
        match outcome {
            Ok(()) => (self.write)(turn, asked, self.rooms),
            Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
        }
        if self.is_for_stanza {
            turn.read_further();
        }
    }

    fn page(mut self, turn: &mut Turn<'_, '_>, asked: Asked) {
        let page = PageOf { after: self.next.take(), limit: None };
        let command = Command::ListConversations { list: self.list, page };
        turn.continue_then(asked, command, move |turn, asked, answer| match answer {
            Err(refusal) => self.end(turn, asked, Err(refusal)),
            Ok(Delivery {
                event: Event::Messages(MessagesEvent::Conversations { conversations, next }),
                ..
            }) => {
                self.rooms.extend(conversations.iter().filter_map(|one| Room::of(turn, one)));
                self.next.clone_from(next);
                self.go_on(turn, asked);
            }
            Ok(_) => self.end(turn, asked, Ok(())),
        });
    }

    /// Archived rooms follow the others.
    fn go_on(mut self, turn: &mut Turn<'_, '_>, asked: Asked) {
        let is_full = self.rooms.len() >= MOST_BOOKMARKS;
        if self.next.is_none() && self.list == ConversationList::Main {
            self.list = ConversationList::Archived;
            return if is_full { self.name(turn, asked, 0) } else { self.page(turn, asked) };
        }
        if self.next.is_some() && !is_full { self.page(turn, asked) } else { self.name(turn, asked, 0) }
    }

    /// The own nickname in each room: a client that enters by another one would change it.
    fn name(mut self, turn: &mut Turn<'_, '_>, asked: Asked, at: usize) {
        self.rooms.truncate(MOST_BOOKMARKS);
        let own = turn.session.jid.local().and_then(Sub::of_address_local);
        let (Some(room), Some(own)) = (self.rooms.get(at), own) else {
            return self.end(turn, asked, Ok(()));
        };
        let command =
            RoomsCommand::ListNames { conversation: room.id, users: vec![own], naming: Naming::Shown };
        turn.continue_then(asked, command, move |turn, asked, answer| {
            if let Ok(Delivery { event: Event::Rooms(RoomsEvent::Names { names, .. }), .. }) = answer {
                let nick = names.first().map(|(sub, nick)| muc::resource(nick, sub));
                self.rooms[at].nick = nick;
            }
            self.name(turn, asked, at + 1);
        });
    }
}

fn items(turn: &mut Turn<'_, '_>, iq: &Iq<'_>, ids: Vec<String>) {
    turn.session.set(Flags::BOOKMARKS, true);
    Listing::begin(turn, Some(iq), move |turn, asked, rooms| {
        turn.answer(asked, |out| {
            pubsub::write_items(out, ns::BOOKMARKS, None, |out| {
                for room in rooms {
                    if ids.is_empty() || ids.iter().any(|id| **id == *room.address) {
                        room.write_item(out);
                    }
                }
            });
        });
    });
}

/// Finds the room of an address, which may be a name that this session does not know. Then `then` goes on.
fn find_room(
    turn: &mut Turn<'_, '_>,
    asked: Asked,
    address: &Jid,
    then: impl FnOnce(&mut Turn<'_, '_>, Asked, Result<ConversationId, StanzaError>) + Send + 'static,
) {
    let unknown = || StanzaError::new(Condition::ItemNotFound);
    let alias = match turn.target_of(Some(address)) {
        Target::Room(Some(number)) => {
            let room = ConversationId::room(turn.session.user.site, number);
            return then(turn, asked, Ok(room));
        }
        Target::Room(None) => address.local().and_then(Alias::parse),
        Target::Account | Target::Server | Target::Rooms | Target::User(_) | Target::Elsewhere => None,
    };
    let Some(alias) = alias else { return then(turn, asked, Err(unknown())) };
    turn.continue_then(asked, RoomsCommand::Find { alias }, move |turn, asked, answer| {
        let found = match answer {
            Ok(Delivery { event: Event::Rooms(RoomsEvent::Rooms { rooms, .. }), .. }) => {
                rooms.first().ok_or_else(unknown).map(|(id, room)| {
                    turn.learn_room(*id, room);
                    *id
                })
            }
            Ok(_) => Err(unknown()),
            Err(refusal) => Err(stanza_error(refusal)),
        };
        then(turn, asked, found);
    });
}

/// Joins a room, by the rule of the widget's join. A member stays one.
fn join(
    turn: &mut Turn<'_, '_>,
    asked: Asked,
    room: ConversationId,
    then: impl FnOnce(&mut Turn<'_, '_>, Asked, Result<(), StanzaError>) + Send + 'static,
) {
    let command = RoomsCommand::Join { to: To::Conversation(room) };
    turn.continue_then(asked, command, move |turn, asked, answer| {
        // The answer is an event for all other sessions of the user.
        if let Ok(Delivery { event: Event::Messages(MessagesEvent::Conversation(joined)), .. }) = answer {
            turn.bookmark_event(joined);
        }
        then(turn, asked, answer.map(|_| ()).map_err(stanza_error));
    });
}

/// With autojoin, the user becomes a member. Without it, only a bookmark of a room of the user is accepted.
fn publish(
    turn: &mut Turn<'_, '_>,
    iq: &Iq<'_>,
    id: Option<&str>,
    payload: Option<Element<'_>>,
) -> Result<(), StanzaError> {
    let unknown = StanzaError::new(Condition::ItemNotFound);
    let address = id.and_then(|id| Jid::parse(id).ok()).ok_or(unknown)?;
    let bookmark =
        payload.and_then(Bookmark::of).ok_or_else(|| pubsub::error(pubsub::Why::InvalidPayload))?;
    let (id, autojoin) = (id.unwrap_or_default().to_owned(), bookmark.autojoin);
    let answer = move |turn: &mut Turn<'_, '_>, asked: Asked, outcome: Result<(), StanzaError>| match outcome
    {
        Ok(()) => turn.answer(asked, |out| pubsub::write_published(out, ns::BOOKMARKS, &id)),
        Err(error) => turn.answer_error(&asked, &error),
    };
    find_room(turn, Asked::of(iq.element), &address, move |turn, asked, found| match found {
        Err(error) => turn.answer_error(&asked, &error),
        Ok(room) if autojoin => join(turn, asked, room, answer),
        Ok(conversation) => {
            // Only members list the members.
            let page = PageOf { after: None, limit: Some(1) };
            let list = chat::MemberList::Members;
            let command = RoomsCommand::ListMembers { conversation, list, query: None, page };
            turn.continue_then(asked, command, move |turn, asked, outcome| {
                answer(turn, asked, outcome.map(|_| ()).map_err(stanza_error));
            });
        }
    });
    Ok(())
}

fn retract(turn: &mut Turn<'_, '_>, iq: &Iq<'_>, id: &str) -> Result<(), StanzaError> {
    let unknown = StanzaError::new(Condition::ItemNotFound);
    let address = Jid::parse(id).map_err(|_| unknown)?;
    find_room(turn, Asked::of(iq.element), &address, |turn, asked, found| match found {
        Err(error) => turn.answer_error(&asked, &error),
        Ok(conversation) => {
            let command = RoomsCommand::Leave { conversation };
            turn.continue_then(asked, command, move |turn, asked, answer| match answer {
                Ok(_) => {
                    turn.bookmark_gone(conversation);
                    turn.answer(asked, |_| {});
                }
                Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
            });
        }
    });
    Ok(())
}

impl Turn<'_, '_> {
    /// The user is a member of a room, or sees it changed: clients enter it.
    pub(crate) fn bookmark_event(&mut self, conversation: &Conversation) {
        self.stored_bookmark_event(conversation);
        if !self.session.has(Flags::BOOKMARKS) {
            return;
        }
        if let Some(room) = Room::of(self, conversation) {
            self.notify_bookmarks(|out| {
                pubsub::write_event(out, ns::BOOKMARKS, |out| room.write_item(out));
            });
        }
    }

    pub(crate) fn bookmark_gone(&mut self, room: ConversationId) {
        self.stored_bookmark_gone(room);
        if self.session.has(Flags::BOOKMARKS) {
            let id = self.room_address(room);
            self.notify_bookmarks(|out| pubsub::Event::Retracted { id: &id }.write(out, ns::BOOKMARKS));
        }
    }

    fn notify_bookmarks(&mut self, event: impl FnOnce(&mut Vec<u8>)) {
        let jid = self.session.jid.clone();
        self.send(|out| {
            let open = Open::new(out, "message").attr("type", "headline").attr("from", jid.bare());
            open.attr("to", jid.as_str()).children(event);
        });
    }
}

//! PEP Native Bookmarks (XEP-0402) and their older forms (XEP-0048, XEP-0049), from the memberships of the user.
//!
//! The rooms of which the user is a member are the bookmarks; there is no second list. So a bookmark of another room is not
//! kept, and to delete a bookmark is to leave the room. The name and the autojoin of a bookmark cannot be changed.
//!
//! A session gets notifications if it wants them (XEP-0163), or once it has read the node.

use chat::messages::{Command, Event as MessagesEvent};
use chat::rooms::{Command as RoomsCommand, Event as RoomsEvent};
use chat::{Conversation, ConversationId, ConversationList, Delivery, Event, PageOf, Sub, With};
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::bookmarks::Bookmark;
use xmpp_proto::payload::{private_xml, pubsub};
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
    account_features: &[ns::BOOKMARKS_COMPAT],
    iq: &[],
};

pub(crate) const STORAGE: Extension = Extension {
    spec: Spec::Xep(48),
    name: "Bookmarks",
    version: "1.3",
    scenario: "bookmarks",
    server_features: &[],
    account_features: &[],
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
        pubsub::write_item(out, &self.address, |out| {
            let bookmark = Bookmark {
                name: Some(&self.name),
                autojoin: true,
                nick: self.nick.as_deref().map(Into::into),
                ..Bookmark::default()
            };
            bookmark.write(out);
        });
    }

    /// XEP-0048 §2.
    fn write_conference(&self, out: &mut Vec<u8>) {
        let open = Open::new(out, "conference").attr("jid", &self.address);
        open.attr("name", &self.name).attr("autojoin", "true").children(|out| {
            if let Some(nick) = &self.nick {
                Open::new(out, "nick").text(nick);
            }
        });
    }
}

/// The rooms of an answer, page by page. Then `write` answers.
struct Listing {
    rooms: Vec<Room>,
    list: ConversationList,
    next: Option<String>,
    write: Write,
}

/// Answers with the rooms.
type Write = Box<dyn FnOnce(&mut Turn<'_, '_>, Asked, Vec<Room>) + Send>;

impl Listing {
    fn begin(
        turn: &mut Turn<'_, '_>,
        iq: &Iq<'_>,
        write: impl FnOnce(&mut Turn<'_, '_>, Asked, Vec<Room>) + Send + 'static,
    ) {
        turn.pause();
        let (list, write) = (ConversationList::Main, Box::new(write));
        let listing = Listing { rooms: Vec::new(), list, next: None, write };
        listing.page(turn, Asked::of(iq.element));
    }

    fn page(mut self, turn: &mut Turn<'_, '_>, asked: Asked) {
        let page = PageOf { after: self.next.take(), limit: None };
        let command = Command::ListConversations { list: self.list, page };
        turn.continue_then(asked, command, move |turn, asked, answer| match answer {
            Err(refusal) => {
                turn.answer_error(&asked, &stanza_error(refusal));
                turn.read_further();
            }
            Ok(Delivery {
                event: Event::Messages(MessagesEvent::Conversations { conversations, next }),
                ..
            }) => {
                self.rooms.extend(conversations.iter().filter_map(|one| Room::of(turn, one)));
                self.next.clone_from(next);
                self.go_on(turn, asked);
            }
            Ok(_) => turn.read_further(),
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
            (self.write)(turn, asked, self.rooms);
            return turn.read_further();
        };
        let command = RoomsCommand::ListNames { conversation: room.id, users: vec![own] };
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
    Listing::begin(turn, iq, move |turn, asked, rooms| {
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

/// Answers with the bookmarks in the form of XEP-0048.
pub(crate) fn private(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) {
    Listing::begin(turn, iq, |turn, asked, rooms| {
        turn.answer(asked, |out| {
            private_xml::write(out, |out| {
                Open::new(out, "storage").attr("xmlns", ns::BOOKMARKS_OLD).children(|out| {
                    rooms.iter().for_each(|room| room.write_conference(out));
                });
            });
        });
    });
}

fn room_of(turn: &Turn<'_, '_>, id: Option<&str>) -> Result<ConversationId, StanzaError> {
    let jid = id.and_then(|id| Jid::parse(id).ok());
    match jid.map(|jid| turn.target_of(Some(&jid))) {
        Some(Target::Room(Some(number))) => Ok(ConversationId::room(turn.session.user.site, number)),
        _ => Err(StanzaError::new(Condition::ItemNotFound)),
    }
}

/// A bookmark of a room of the user is accepted, and changes nothing.
fn publish(
    turn: &mut Turn<'_, '_>,
    iq: &Iq<'_>,
    id: Option<&str>,
    payload: Option<Element<'_>>,
) -> Result<(), StanzaError> {
    let conversation = room_of(turn, id)?;
    if payload.and_then(Bookmark::of).is_none() {
        return Err(pubsub::error(pubsub::Why::InvalidPayload));
    }
    let id = id.unwrap_or_default().to_owned();
    // Only members list the members.
    let page = PageOf { after: None, limit: Some(1) };
    let list = chat::MemberList::Members;
    let command = RoomsCommand::ListMembers { conversation, list, query: None, page };
    turn.ask_then(iq, command, move |turn, asked, answer| match answer {
        Ok(_) => turn.answer(asked, |out| pubsub::write_published(out, ns::BOOKMARKS, &id)),
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
    Ok(())
}

fn retract(turn: &mut Turn<'_, '_>, iq: &Iq<'_>, id: &str) -> Result<(), StanzaError> {
    let conversation = room_of(turn, Some(id))?;
    turn.ask_then(iq, RoomsCommand::Leave { conversation }, |turn, asked, answer| match answer {
        Ok(_) => turn.answer(asked, |_| {}),
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
    Ok(())
}

impl Turn<'_, '_> {
    /// The user is a member of a room, or sees it changed: clients enter it.
    pub(crate) fn bookmark_event(&mut self, conversation: &Conversation) {
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

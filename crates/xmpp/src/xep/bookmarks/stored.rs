//! The older form of bookmarks (XEP-0048): one element with all of them, in private XML (XEP-0049) or in a node of the user. Both are
//! derived from the memberships, as the newer form is, so all forms agree (XEP-0411).
//!
//! A client writes the whole list. It may have read the list before the user has joined a room elsewhere, so a write leaves only
//! rooms that this stream has shown to its client. The session remembers their numbers.

use chat::rooms::Command;
use chat::{Conversation, ConversationId};
use serde::{Deserialize, Serialize};
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::bookmarks::Storage;
use xmpp_proto::payload::{private_xml, pubsub};
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::Element;

use super::{Listing, MOST_BOOKMARKS, Room, find_room, join};
use crate::extensions::{Extension, Spec};
use crate::session::{Asked, Flags, Iq, Turn};
use crate::xep::pep::Node;

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(48),
    name: "Bookmarks",
    version: "1.3",
    scenario: "bookmarks_stored",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

pub(crate) const CONVERSION: Extension = Extension {
    spec: Spec::Xep(411),
    name: "Bookmarks Conversion",
    version: "1.1.0",
    scenario: "bookmarks_stored",
    server_features: &[],
    account_features: &[ns::BOOKMARKS_CONVERSION],
    iq: &[],
};

/// Its one item is the list. To delete it would leave all rooms at once, so it cannot be deleted.
pub(crate) static NODE: Node = Node { name: ns::BOOKMARKS_OLD, items, publish, retract: None };

/// XEP-0048 §3.2.
const ITEM: &str = "current";
/// Rooms that one list adds.
const MOST_JOINED: usize = 20;

/// The client's list of bookmarks.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Shown {
    /// The rooms of the list that the client has read, got or written last.
    rooms: Vec<ConversationId>,
    notice: Notice,
}

impl Shown {
    pub(crate) fn is_empty(&self) -> bool {
        self.rooms.is_empty() && matches!(self.notice, Notice::None)
    }

    /// For a stream that is resumed.
    pub(crate) fn left(self) -> Shown {
        Shown { notice: Notice::None, ..self }
    }
}

/// The list is read from the domain for a notification.
#[derive(Default, Clone, Copy, Serialize, Deserialize)]
enum Notice {
    #[default]
    None,
    Reading,
    /// It has changed meanwhile.
    Outdated,
}

/// Answers a read of private XML.
pub(crate) fn read_private(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) {
    Listing::begin(turn, Some(iq), |turn, asked, rooms| {
        turn.show_bookmarks(&rooms);
        turn.answer(asked, |out| private_xml::write(out, |out| write(out, &rooms)));
    });
}

/// Carries out and answers a write of private XML.
pub(crate) fn write_private(
    turn: &mut Turn<'_, '_>,
    iq: &Iq<'_>,
    storage: Element<'_>,
) -> Result<(), StanzaError> {
    change(turn, iq, storage, |turn, asked| turn.answer(asked, |_| {}))
}

fn items(turn: &mut Turn<'_, '_>, iq: &Iq<'_>, ids: Vec<String>) {
    turn.session.set(Flags::STORED_BOOKMARKS, true);
    Listing::begin(turn, Some(iq), move |turn, asked, rooms| {
        turn.show_bookmarks(&rooms);
        turn.answer(asked, |out| {
            pubsub::write_items(out, ns::BOOKMARKS_OLD, None, |out| {
                if ids.is_empty() || ids.iter().any(|id| id == ITEM) {
                    pubsub::write_item(out, ITEM, |out| write(out, &rooms));
                }
            });
        });
    });
}

fn publish(
    turn: &mut Turn<'_, '_>,
    iq: &Iq<'_>,
    _: Option<&str>,
    payload: Option<Element<'_>>,
) -> Result<(), StanzaError> {
    let storage = payload.ok_or_else(|| pubsub::error(pubsub::Why::PayloadRequired))?;
    change(turn, iq, storage, |turn, asked| {
        turn.answer(asked, |out| pubsub::write_published(out, ns::BOOKMARKS_OLD, ITEM));
    })
}

fn write(out: &mut Vec<u8>, rooms: &[Room]) {
    Storage::write(out, |out| {
        for room in rooms {
            Storage::write_conference(out, &room.address, &room.bookmark());
        }
    });
}

/// A written list, while its differences to the shown one are carried out.
struct Written {
    /// Still to be looked up. The last one is the next. With autojoin.
    addresses: Vec<(Jid, bool)>,
    /// The rooms of the user in the written list.
    rooms: Vec<ConversationId>,
    joined: usize,
    /// The first one. The other changes stay.
    refused: Option<StanzaError>,
    answer: Answer,
}

/// Answers a write without a refusal.
type Answer = Box<dyn FnOnce(&mut Turn<'_, '_>, Asked) + Send>;

fn change(
    turn: &mut Turn<'_, '_>,
    iq: &Iq<'_>,
    storage: Element<'_>,
    answer: impl FnOnce(&mut Turn<'_, '_>, Asked) + Send + 'static,
) -> Result<(), StanzaError> {
    let invalid = || pubsub::error(pubsub::Why::InvalidPayload);
    let Storage { conferences, has_pages } = Storage::of(storage).ok_or_else(invalid)?;
    if conferences.len() > MOST_BOOKMARKS {
        return Err(StanzaError::new(Condition::PolicyViolation));
    }
    let addresses = conferences.into_iter().rev().map(|(jid, bookmark)| (jid, bookmark.autojoin)).collect();
    // Addresses of web pages are not kept.
    let refused = has_pages.then(|| StanzaError::new(Condition::NotAcceptable));
    turn.pause();
    let written = Written { addresses, rooms: Vec::new(), joined: 0, refused, answer: Box::new(answer) };
    written.next(turn, Asked::of(iq.element));
    Ok(())
}

impl Written {
    fn next(mut self, turn: &mut Turn<'_, '_>, asked: Asked) {
        let Some((address, autojoin)) = self.addresses.pop() else {
            let shown = turn.session.shown_bookmarks().rooms.iter();
            let gone = shown.filter(|room| !self.rooms.contains(room)).copied().collect();
            return self.leave(turn, asked, gone);
        };
        find_room(turn, asked, &address, move |turn, asked, found| match found {
            Err(error) => self.refuse(turn, asked, error),
            Ok(room) if turn.session.shown_bookmarks().rooms.contains(&room) => {
                self.rooms.push(room);
                self.next(turn, asked);
            }
            // Nobody becomes a member without wanting to enter.
            Ok(_) if !autojoin => self.refuse(turn, asked, StanzaError::new(Condition::ItemNotFound)),
            Ok(_) if self.joined >= MOST_JOINED => {
                self.refuse(turn, asked, StanzaError::new(Condition::PolicyViolation));
            }
            Ok(room) => {
                self.joined += 1;
                join(turn, asked, room, move |turn, asked, joined| match joined {
                    Ok(()) => {
                        self.rooms.push(room);
                        self.next(turn, asked);
                    }
                    Err(error) => self.refuse(turn, asked, error),
                });
            }
        });
    }

    fn refuse(mut self, turn: &mut Turn<'_, '_>, asked: Asked, error: StanzaError) {
        self.refused = self.refused.or(Some(error));
        self.next(turn, asked);
    }

    /// Leaves the rooms that the client has taken off its list.
    fn leave(mut self, turn: &mut Turn<'_, '_>, asked: Asked, mut gone: Vec<ConversationId>) {
        let Some(conversation) = gone.pop() else { return self.end(turn, asked) };
        turn.continue_then(asked, Command::Leave { conversation }, move |turn, asked, answer| {
            match answer {
                Ok(_) => turn.bookmark_gone(conversation),
                // The user has left it elsewhere.
                Err(chat::Refusal::NoSuchConversation) => {}
                Err(refusal) => {
                    self.rooms.push(conversation);
                    self.refused = self.refused.or(Some(crate::refusal::stanza_error(refusal)));
                }
            }
            self.leave(turn, asked, gone);
        });
    }

    fn end(self, turn: &mut Turn<'_, '_>, asked: Asked) {
        turn.session.shown_bookmarks().rooms = self.rooms;
        match self.refused {
            None => (self.answer)(turn, asked),
            Some(error) => turn.answer_error(&asked, &error),
        }
        turn.read_further();
    }
}

impl Turn<'_, '_> {
    fn show_bookmarks(&mut self, rooms: &[Room]) {
        self.session.shown_bookmarks().rooms = rooms.iter().map(|room| room.id).collect();
        self.session.drop_empty_extra();
    }

    /// The user is a member of a room, or sees it changed.
    pub(super) fn stored_bookmark_event(&mut self, conversation: &Conversation) {
        if self.session.has(Flags::STORED_BOOKMARKS)
            && Room::of(self, conversation).is_some()
            && !self.session.shown_bookmarks().rooms.contains(&conversation.id)
        {
            self.stored_bookmarks_changed();
        }
    }

    pub(super) fn stored_bookmark_gone(&mut self, room: ConversationId) {
        if self.session.has(Flags::STORED_BOOKMARKS) && room.is_room() {
            self.stored_bookmarks_changed();
        }
    }

    /// Sends the whole list, after one read for all changes that come meanwhile.
    fn stored_bookmarks_changed(&mut self) {
        let shown = self.session.shown_bookmarks();
        if !matches!(shown.notice, Notice::None) {
            shown.notice = Notice::Outdated;
            return;
        }
        shown.notice = Notice::Reading;
        Listing::begin(self, None, |turn, _, rooms| {
            let shown = turn.session.shown_bookmarks();
            if matches!(std::mem::take(&mut shown.notice), Notice::Outdated) {
                return turn.stored_bookmarks_changed();
            }
            turn.show_bookmarks(&rooms);
            turn.notify_bookmarks(|out| {
                pubsub::write_event(out, ns::BOOKMARKS_OLD, |out| {
                    pubsub::write_item(out, ITEM, |out| write(out, &rooms));
                });
            });
        });
    }
}

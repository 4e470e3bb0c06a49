//! Events of the domain, as stanzas.

use chat::account::{Event as AccountEvent, items};
use chat::calls::Event as CallsEvent;
use chat::contacts::Event as ContactsEvent;
use chat::messages::Event as MessagesEvent;
use chat::presence::Event as PresenceEvent;
use chat::rooms::Event as RoomsEvent;
use chat::session::Event as SessionEvent;
use chat::{Changes, Counted, Delivery, Event, Message, MessageRequest, Position, Refusal, WhenSlow};
use xmpp_proto::stream::{StreamCondition, StreamError};

use super::{Arrival, Asked, Flags, SOFT_LIMIT, Turn};

impl Turn<'_, '_> {
    pub(crate) fn deliver(&mut self, delivery: &Delivery) -> Result<(), StreamError> {
        if let Some(refusal) = delivery.event.farewell() {
            if refusal == Refusal::Removed {
                self.answer_all(refusal);
            }
            if matches!(refusal, Refusal::GoingAway { .. }) {
                self.end_visits();
            }
            return Err(crate::refusal::stream_error(refusal));
        }
        let before = self.session.position();
        if let Some(position) = delivery.position {
            self.session.set_position(position);
        }
        let outcome = self.deliver_event(delivery, before);
        let is_full = self.session.management().is_some_and(|counters| counters.is_full());
        match is_full || self.session.has(Flags::INCOMPLETE) {
            true => Err(StreamError::new(StreamCondition::ResourceConstraint)),
            false => outcome,
        }
    }

    /// `before`: the position of the last event before it.
    fn deliver_event(&mut self, delivery: &Delivery, before: Position) -> Result<(), StreamError> {
        if let Some(asked) = delivery.re.and_then(|re| self.session.take_asked(re)) {
            self.answer_asked(asked, delivery);
            return Ok(());
        }
        if self.hold(delivery) {
            return Ok(());
        }
        if self.is_slow() || self.session.has(Flags::INACTIVE) {
            match delivery.event.when_slow() {
                WhenSlow::Drop => return Ok(()),
                WhenSlow::Coalesce => {
                    self.keep_presence(&delivery.event);
                    return Ok(());
                }
                WhenSlow::Deliver => {}
            }
        }
        match &delivery.event {
            Event::Session(event) => {
                self.session_event(event);
                Ok(())
            }
            Event::Presence(event) => self.presence_event(event),
            Event::Contacts(event) => self.contacts_event(event),
            Event::Messages(event) => {
                self.messages_event(event, before);
                Ok(())
            }
            Event::Rooms(event) => {
                self.rooms_event(event);
                Ok(())
            }
            Event::Account(AccountEvent::Items(items::Event::Changed(news))) => {
                self.item_changed(news);
                Ok(())
            }
            Event::Calls(CallsEvent::Call(event)) => {
                self.call_event(event);
                Ok(())
            }
            // Without a counterpart in this gateway, or the answer to a command.
            Event::Calls(CallsEvent::GroupCall(_) | CallsEvent::Servers(_))
            | Event::Notifications(_)
            | Event::Moderation(_)
            | Event::Account(_) => Ok(()),
        }
    }

    /// Sends the changes after the position `since` to the client.
    pub(crate) fn changes(&mut self, changes: &Changes, since: Position) {
        // Messages of a request wait for its answer.
        let waits = |message: &Message| {
            let of = changes.conversations.iter().find(|one| one.id == message.conversation);
            of.is_some_and(|one| !one.id.is_room() && one.request == Some(MessageRequest::Received))
        };
        for conversation in &changes.conversations {
            self.conversation_event(conversation);
            self.direct_conversation_event(conversation);
        }
        for message in changes.messages.iter().filter(|message| !waits(message)) {
            if self.session.is_own(&message.from) && self.session.is_sending(&message.client_id) {
                // The acknowledgement was among the events that this session has missed.
                self.stored(&message.client_id, message.conversation, message.seq);
                continue;
            }
            match message.conversation.is_room() {
                true => self.room_message_event(message, since),
                false => self.message(message, Arrival::Live, since),
            }
        }
        for message in changes.updates.iter().filter(|message| !message.conversation.is_room()) {
            self.message_changed(message);
            self.reactions_of_other(message);
        }
        for conversation in &changes.conversations {
            if let Some(person) = conversation.with.person() {
                let (received, read) = (conversation.their_received, conversation.their_read);
                self.peer_marker(conversation.id, &person.sub, received, read);
                self.read_meanwhile(conversation, &person.sub);
            }
        }
        for card in changes.contacts.iter() {
            self.contact_changed(&card.contact());
        }
        if self.session.is_available() {
            self.renew_presence();
            self.renew_items(None);
            self.session.set(Flags::HAS_ITEMS, true);
            self.look_up_avatar();
        }
    }

    fn is_slow(&self) -> bool {
        self.io.outgoing() > SOFT_LIMIT
    }

    fn answer_asked(&mut self, mut asked: Asked, delivery: &Delivery) {
        if let Some(then) = asked.then.take() {
            then(self, asked, delivery.event.refusal().map_or(Ok(delivery), Err));
        }
    }

    /// The session ends for this reason, which may be what a request has asked for.
    fn answer_all(&mut self, refusal: Refusal) {
        for mut asked in self.session.take_all_asked() {
            if let Some(then) = asked.then.take() {
                then(self, asked, Err(refusal));
            }
        }
    }

    fn session_event(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::SendRefused { client_id, refusal } => self.send_refused(client_id, *refusal),
            SessionEvent::Behind => self.catch_up(),
            SessionEvent::Welcome(_)
            | SessionEvent::Bye(_)
            | SessionEvent::ByeWith { .. }
            | SessionEvent::Refused(_)
            | SessionEvent::Changes(_)
            | SessionEvent::TokenOk { .. } => {}
        }
    }

    fn presence_event(&mut self, event: &PresenceEvent) -> Result<(), StreamError> {
        match event {
            PresenceEvent::Sessions(users) => users.iter().for_each(|user| self.sessions_of(user)),
            PresenceEvent::Relayed { from, resource, payload } => self.relayed(from, resource, payload),
            // For sessions without a resource.
            PresenceEvent::Presence { .. } | PresenceEvent::Watching { .. } => {}
            // The answer to a command.
            PresenceEvent::RelayDone => {}
        }
        Ok(())
    }

    fn contacts_event(&mut self, event: &ContactsEvent) -> Result<(), StreamError> {
        match event {
            ContactsEvent::Contact(contact) => {
                self.contact_changed(contact);
                if contact.side.sees() {
                    self.renew_items(Some(contact.person.id));
                }
            }
            ContactsEvent::Contacts { .. }
            | ContactsEvent::Changed(_)
            | ContactsEvent::People { .. }
            | ContactsEvent::Profiles(_) => {}
        }
        Ok(())
    }

    fn rooms_event(&mut self, event: &RoomsEvent) {
        match event {
            RoomsEvent::Occupant { conversation, occupant, change } => {
                self.occupant_event(*conversation, occupant, change);
            }
            RoomsEvent::Room { conversation, room } => self.room_changed(*conversation, room),
            RoomsEvent::Left { conversation, .. } => self.bookmark_gone(*conversation),
            RoomsEvent::MemberCount { .. }
            | RoomsEvent::Member(_)
            | RoomsEvent::Members { .. }
            | RoomsEvent::Link { .. }
            | RoomsEvent::Links { .. }
            | RoomsEvent::Invitation(_)
            | RoomsEvent::Entered { .. }
            | RoomsEvent::Occupants { .. }
            | RoomsEvent::Names { .. }
            | RoomsEvent::Rooms { .. } => {}
        }
    }

    /// An event that waited behind a message.
    pub(super) fn held_event(&mut self, delivery: &Delivery, before: Position) {
        if let Event::Messages(event) = &delivery.event {
            self.messages_event(event, before);
        }
    }

    fn messages_event(&mut self, event: &MessagesEvent, before: Position) {
        if !self.session.wants_messages() {
            self.session.set(Flags::CONVERSATIONS_WAIT, true);
        }
        match event {
            MessagesEvent::Held(held) => self.held_by_filter(&held.client_id),
            MessagesEvent::Ack { client_id, conversation, seq, .. } => {
                self.stored(client_id, *conversation, *seq);
            }
            MessagesEvent::Message(message) if message.conversation.is_room() => {
                self.room_message_event(message, before);
            }
            MessagesEvent::Message(message) => {
                if !self.session.shown_requests().is_empty() && self.session.is_own(&message.from) {
                    self.answered_by_message(message.conversation, message.seq);
                }
                self.message(message, Arrival::Live, before);
            }
            MessagesEvent::Requested(message) => self.request_goes_on(message),
            MessagesEvent::Conversation(conversation) => {
                self.conversation_event(conversation);
                self.direct_conversation_event(conversation);
                self.bookmark_event(conversation);
            }
            MessagesEvent::Update { message, by } if message.conversation.is_room() => {
                self.room_message_changed(message, by);
            }
            MessagesEvent::Update { message, .. } => self.message_changed(message),
            MessagesEvent::Counts { counts, by: Some(by) } => {
                if let Counted::Reaction { all, .. } = &by.what {
                    match counts.conversation.is_room() {
                        true => self.reacted_in_room(counts.conversation, counts.seq, &by.user, all),
                        false => self.reacted(counts.conversation, counts.seq, by.user.clone()),
                    }
                }
            }
            MessagesEvent::Marker { conversation, .. } if conversation.is_room() => {}
            MessagesEvent::Marker { conversation, user, received, read, .. } => {
                match self.session.is_own(user) {
                    true => self.own_marker(*conversation, *read),
                    false => self.peer_marker(*conversation, user, *received, *read),
                }
            }
            MessagesEvent::Typing { conversation, user, on } if !conversation.is_room() => {
                self.typing(user, *on);
            }
            MessagesEvent::Typing { conversation, user, on } => self.typing_in_room(*conversation, user, *on),
            MessagesEvent::Counts { .. }
            | MessagesEvent::Conversations { .. }
            | MessagesEvent::History { .. }
            | MessagesEvent::Pins { .. }
            | MessagesEvent::Thread(_)
            | MessagesEvent::Threads { .. }
            | MessagesEvent::Stickers(_)
            | MessagesEvent::Found { .. }
            | MessagesEvent::File { .. } => {}
        }
    }

    /// A deletion or a new text. Other changes have no counterpart in XMPP.
    fn message_changed(&mut self, message: &Message) {
        match message.deleted {
            true => self.retracted(message),
            false if message.edited.is_some() => self.corrected(message),
            false => {}
        }
    }
}

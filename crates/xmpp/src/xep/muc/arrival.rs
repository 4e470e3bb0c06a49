//! Entering and leaving a room (XEP-0045 §7.2 and §7.14), and changes of the nickname (§7.6).

use std::collections::HashMap;
use std::sync::Arc;

use chat::messages::Event as MessagesEvent;
use chat::rooms::{Command, Event as RoomsEvent, Occupant};
use chat::{
    Changes, Closing, Conversation, ConversationId, Delivery, Event, LeftReason, MOST_ENTERED,
    MOST_NAMED_AT_ONCE, Message, Naming, Nickname, Refusal, Seq, Sub, Timestamp, To, With,
};
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::date_time::DateTime;
use xmpp_proto::payload::delay::Delay;
use xmpp_proto::payload::muc::{History, Join, Status};
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::{Element, Open};

use super::{Arrival, Left, Visit, nicks};
use crate::refusal::stanza_error;
use crate::session::{Asked, Turn};

/// Messages that a client gets which does not say how many it wants, and at most (§7.2.14).
const HISTORY: u32 = 20;
const MOST_HISTORY: u32 = 50;

impl Turn<'_, '_> {
    /// A presence to a room, or to an occupant of it.
    pub(crate) fn room_presence(&mut self, element: Element<'_>, to: &Jid, number: Option<u64>) {
        let Some(number) = number else {
            return self.refuse_presence(element, Condition::ItemNotFound);
        };
        let room = ConversationId::room(self.session.user.site, number);
        match (element.attr("type"), to.resource()) {
            (Some("unavailable"), _) => self.exit(room),
            // §7.2.1: a nickname is required.
            (None, None) => self.refuse_presence(element, Condition::JidMalformed),
            (None, Some(nick)) => self.available_in_room(element, room, nick),
            _ => {}
        }
    }

    fn available_in_room(&mut self, element: Element<'_>, room: ConversationId, nick: &str) {
        let join = Join::of(element);
        let Some(nickname) = Nickname::parse(nick) else {
            return self.refuse_presence(element, Condition::NotAcceptable);
        };
        match (join, self.session.visit(room)) {
            (Some(_), Some(visit)) if !visit.is_shown() => {}
            (Some(join), Some(visit)) => {
                visit.arrival = Some(Box::new(Arrival::of(join.history, false)));
                self.ask_to_enter(element, room, Some(nickname));
            }
            (Some(join), None) => {
                if self.session.visits().len() >= MOST_ENTERED {
                    return self.refuse_presence(element, Condition::ResourceConstraint);
                }
                let arrival = Some(Box::new(Arrival::of(join.history, true)));
                self.session.visits().push(Visit {
                    room,
                    nick: nick.into(),
                    topic: None,
                    nicknames: 0,
                    is_locked: false,
                    arrival,
                });
                self.ask_to_enter(element, room, Some(nickname));
            }
            // The availability of an occupant is not shown in rooms.
            (None, Some(visit)) if visit.has_nick(nick) => {}
            (None, Some(_)) => self.ask_to_enter(element, room, Some(nickname)),
            // The client believes to be in the room.
            (None, None) => self.refuse_presence(element, Condition::NotAcceptable),
        }
    }

    fn ask_to_enter(&mut self, element: Element<'_>, room: ConversationId, nickname: Option<Nickname>) {
        self.enter(Asked::of(element), room, nickname);
    }

    pub(super) fn enter(&mut self, asked: Asked, room: ConversationId, nickname: Option<Nickname>) {
        let command = Command::Enter { conversation: room, nickname };
        self.continue_then(asked, command, move |turn, asked, answer| match answer {
            Ok(delivery) => turn.entered(delivery),
            Err(refusal) => turn.enter_refused(asked, room, refusal),
        });
    }

    fn refuse_presence(&mut self, element: Element<'_>, condition: Condition) {
        self.presence_error(&Asked::of(element), &StanzaError::new(condition));
    }

    /// §7.2.2 and following: some clients know an error of a room by this element.
    pub(super) fn presence_error(&mut self, asked: &Asked, error: &StanzaError) {
        self.error_with(asked, error, |out| Open::new(out, "x").attr("xmlns", ns::MUC).empty());
    }

    /// The client leaves the room; the membership stays.
    fn exit(&mut self, room: ConversationId) {
        if self.session.visit(room).is_some_and(|visit| visit.is_shown()) {
            return self.expel(room, &[Status::OwnPresence]);
        }
        if self.session.take_visit(room).is_some() {
            self.command(Command::Exit { conversation: room });
        }
    }

    /// The client is out of the room, for these reasons.
    pub(super) fn expel(&mut self, room: ConversationId, codes: &[Status]) {
        let Some(visit) = self.session.take_visit(room) else { return };
        self.command(Command::Exit { conversation: room });
        self.own_absence(&visit, codes, None);
    }

    /// The client has become unavailable, and is in no room any more.
    pub(crate) fn exit_all(&mut self) {
        for visit in self.session.take_visits() {
            self.command(Command::Exit { conversation: visit.room });
        }
    }

    /// §7.14: the node stops, and the client is in no room any more.
    pub(crate) fn end_visits(&mut self) {
        for visit in self.session.take_visits().iter().filter(|visit| visit.is_shown()) {
            self.own_absence(visit, &[Status::OwnPresence, Status::ServiceShutdown], None);
        }
    }

    /// A resumed stream is in its rooms again, except where the user was removed meanwhile.
    pub(crate) fn return_to_rooms(&mut self, left: Vec<Left>, changes: &Changes) {
        for left in left {
            let mut visit = Visit::again(left);
            let room = visit.room;
            if let Some((_, reason)) = changes.left.iter().find(|(one, _)| *one == room) {
                let mut codes = vec![Status::OwnPresence];
                codes.extend(reason_codes(*reason));
                let closing = (*reason == LeftReason::Closed).then(Closing::default);
                self.own_absence(&visit, &codes, closing.as_ref());
                continue;
            }
            visit.arrival =
                Some(Box::new(Arrival { is_resumed: true, ..Arrival::of(History::default(), false) }));
            self.session.visits().push(visit);
            self.enter(Asked::internal(), room, None);
        }
    }

    /// The client is in the room: it gets the occupants, itself, and then the past.
    fn arrived(&mut self, conversation: &Conversation, me: &Occupant, occupants: &[Occupant]) {
        let room = conversation.id;
        let (topic, nicknames) = match &conversation.with {
            With::Room(room, _) => (room.topic.clone(), room.nicknames),
            With::Person(_) => (None, 0),
        };
        let nick = self.gateway.nicks.learn(room, &me.sub, &me.nick);
        let Some(visit) = self.session.visit(room) else {
            // The client has left before the answer came.
            return self.command(Command::Exit { conversation: room });
        };
        let before = std::mem::replace(&mut visit.nick, nick.clone());
        visit.topic = topic;
        visit.nicknames = nicknames;
        let Some(arrival) = &mut visit.arrival else {
            // A change of the nickname (§7.6).
            return self.own_nick_changed(room, me, &before);
        };
        let (is_new, is_resumed) = (arrival.is_new, arrival.is_resumed);
        // §10.1.1: the client knows that it has to configure the room.
        let is_created = is_new && visit.is_locked;
        let most = if is_resumed { 0 } else { arrival.most_history };
        for occupant in occupants {
            let nick = self.gateway.nicks.learn(room, &occupant.sub, &occupant.nick);
            self.occupant_presence(room, &nick, occupant, &[]);
        }
        if !is_resumed {
            if !is_new && before != nick {
                self.absence(room, &before, me, None, Some(&nick), &OWN_NEW_NICK);
            }
            let mut codes = vec![Status::NonAnonymous, Status::OwnPresence];
            codes.extend((before != nick && is_new).then_some(Status::NickAssigned));
            codes.extend(is_created.then_some(Status::RoomCreated));
            self.occupant_presence(room, &nick, me, &codes);
        }
        match &conversation.last {
            Some(last) if most > 0 => {
                let history = chat::messages::Command::History {
                    to: To::Conversation(room),
                    before: Some(Seq(last.seq.0 + 1)),
                    after: None,
                    thread: None,
                    limit: Some(most),
                };
                let asked = Asked::internal();
                self.continue_then(asked, history, move |turn, _, answer| turn.past(room, answer.ok()));
            }
            _ => self.name_authors(room),
        }
    }

    /// Asks for the names of the authors of what the client gets next.
    fn name_authors(&mut self, room: ConversationId) {
        let Some(arrival) = self.session.visit(room).and_then(|visit| visit.arrival.as_deref()) else {
            return;
        };
        let mut users: Vec<Sub> = Vec::new();
        for message in arrival.past.iter().chain(&arrival.held) {
            if !users.contains(&message.from) && users.len() < MOST_NAMED_AT_ONCE {
                users.push(message.from.clone());
            }
        }
        if users.is_empty() {
            return self.show_room(room, &HashMap::new());
        }
        let command = Command::ListNames { conversation: room, users, naming: Naming::Shown };
        self.continue_then(Asked::internal(), command, move |turn, _, answer| {
            let found = match answer {
                Ok(Delivery { event: Event::Rooms(RoomsEvent::Names { names, .. }), .. }) => &names[..],
                Ok(_) | Err(_) => &[],
            };
            let names = found.iter().map(|(sub, nick)| (sub.clone(), nicks::resource(nick, sub)));
            turn.show_room(room, &names.collect());
        });
    }

    /// The rest: the past, the subject, and what came meanwhile.
    fn show_room(&mut self, room: ConversationId, names: &HashMap<Sub, Box<str>>) {
        let Some(visit) = self.session.visit(room) else { return };
        let (Some(arrival), topic) = (visit.arrival.take(), visit.topic.clone()) else { return };
        let from = self.room_address(room);
        let all: Vec<Arc<Message>> = arrival.past.iter().chain(&arrival.held).cloned().collect();
        let answered_by = |message: &Message| all.iter().find(|one| Some(one.seq) == message.reply_to);
        for message in arrival.past {
            let nick = self.nick_of(room, &message.from, names);
            let delay = Delay { stamp: DateTime(message.time.0), from: Some(&from) };
            let answered = self.answered_in_room(&message, answered_by(&message).map(|one| &**one), names);
            self.room_stanza(&message, &nick, answered.as_ref(), Some(delay));
        }
        if !arrival.is_resumed {
            self.subject(room, topic.as_deref().unwrap_or_default());
        }
        for message in arrival.held {
            let nick = self.nick_of(room, &message.from, names);
            let answered = self.answered_in_room(&message, answered_by(&message).map(|one| &**one), names);
            self.room_stanza(&message, &nick, answered.as_ref(), None);
        }
    }

    pub(super) fn nick_of(
        &self,
        room: ConversationId,
        sub: &Sub,
        names: &HashMap<Sub, Box<str>>,
    ) -> Box<str> {
        names.get(sub).cloned().unwrap_or_else(|| self.gateway.nicks.of(room, sub))
    }
}

/// §7.6: the presence of the old nickname ends.
const OWN_NEW_NICK: [Status; 2] = [Status::NewNick, Status::OwnPresence];

/// §16.6.2: why an occupant has gone.
pub(super) fn reason_codes(reason: LeftReason) -> &'static [Status] {
    match reason {
        LeftReason::Left => &[Status::RemovedByAffiliation],
        LeftReason::Removed => &[Status::Kicked, Status::RemovedByAffiliation],
        LeftReason::Banned => &[Status::Banned],
        // §10.9: an element says it.
        LeftReason::Closed => &[],
    }
}

impl Arrival {
    pub(super) fn of(history: History, is_new: bool) -> Arrival {
        let most_history = match history {
            History { chars: Some(0), .. } | History { seconds: Some(0), .. } => 0,
            History { stanzas: Some(most), .. } => most.min(MOST_HISTORY),
            History { chars: None, seconds: None, since: None, .. } => HISTORY,
            History { .. } => MOST_HISTORY,
        };
        Arrival {
            is_new,
            is_resumed: false,
            has_given_up_nick: false,
            most_history,
            history,
            past: Vec::new(),
            held: Vec::new(),
        }
    }
}

/// The newest messages that are within all bounds of the client. §7.2.14: `maxchars` counts whole stanzas; bodies are counted
/// here, with 200 for each stanza around them.
fn within(history: History, messages: &[Arc<Message>], now: Timestamp) -> Vec<Arc<Message>> {
    let since = history.since.map_or(0, |since| since.0);
    let since =
        since.max(history.seconds.map_or(0, |seconds| now.0.saturating_sub(u64::from(seconds) * 1000)));
    let mut left = history.chars.map_or(usize::MAX, |chars| chars as usize);
    let mut newest: Vec<Arc<Message>> = Vec::new();
    for message in messages.iter().rev().filter(|message| !message.deleted) {
        let size = 200 + message.body.len() + message.extension.as_deref().map_or(0, str::len);
        if message.time.0 < since || size > left {
            break;
        }
        left -= size;
        newest.push(Arc::clone(message));
    }
    newest.reverse();
    newest
}

impl Turn<'_, '_> {
    fn entered(&mut self, delivery: &Delivery) {
        if let Event::Rooms(RoomsEvent::Entered { conversation, me, occupants }) = &delivery.event {
            self.arrived(conversation, me, occupants);
        }
    }

    /// A user who may not choose a name enters under the one that they have.
    fn enter_refused(&mut self, asked: Asked, room: ConversationId, refusal: Refusal) {
        let Some(visit) = self.session.visit(room) else { return };
        let Some(arrival) = &mut visit.arrival else {
            // A change of the nickname was refused.
            return self.presence_error(&asked, &stanza_error(refusal));
        };
        let is_about_nick = matches!(refusal, Refusal::Muted | Refusal::SiteReadOnly | Refusal::NotAllowed);
        if is_about_nick && !arrival.is_resumed && !std::mem::replace(&mut arrival.has_given_up_nick, true) {
            return self.enter(asked, room, None);
        }
        if arrival.is_resumed {
            return self.expel(room, &[Status::RemovedByAffiliation, Status::OwnPresence]);
        }
        match arrival.is_new {
            true => drop(self.session.take_visit(room)),
            false => self.show_room(room, &HashMap::new()),
        }
        self.presence_error(&asked, &stanza_error(refusal));
    }

    /// The history that the client gets. None: the room gives none.
    fn past(&mut self, room: ConversationId, history: Option<&Delivery>) {
        let now = self.now();
        if let Some(Delivery { event: Event::Messages(MessagesEvent::History { messages, .. }), .. }) =
            history
            && let Some(arrival) = self.session.visit(room).and_then(|visit| visit.arrival.as_deref_mut())
        {
            arrival.past = within(arrival.history, messages, now);
        }
        self.name_authors(room);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_bounds_the_history() {
        let most = |history| Arrival::of(history, true).most_history;
        assert_eq!(most(History::default()), HISTORY);
        assert_eq!(most(History { stanzas: Some(3), ..History::default() }), 3);
        assert_eq!(most(History { stanzas: Some(1_000_000), ..History::default() }), MOST_HISTORY);
        assert_eq!(most(History { chars: Some(0), ..History::default() }), 0);
        assert_eq!(most(History { seconds: Some(60), ..History::default() }), MOST_HISTORY);
    }
}

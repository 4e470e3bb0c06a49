//! Presence of the client, and of others (RFC 6121 §3 and §4).

use chat::contacts::Event as ContactsEvent;
use chat::presence::{Availability, Event as PresenceEvent, SessionShown, Show, UserSessions};
use chat::{Delivery, Event, PageOf, Presence, Sub};
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::{Element, Open, restore};

use super::{Asked, Flags, Turn, roster};
use crate::address::{self, Target};
use crate::xep::jingle::write_caps;

/// Changes that are kept back for one client. With more, all contacts are sent again.
const MOST_MISSED: usize = 256;

/// Changes of presence while the client reads slowly or is inactive: the last one of each session.
#[derive(Default)]
pub(super) struct Missed {
    changes: Vec<(Sub, SessionShown)>,
    overflown: bool,
}

impl Missed {
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty() && !self.overflown
    }

    fn keep(&mut self, user: &Sub, session: &SessionShown) {
        let is_same = |one: &(Sub, SessionShown)| one.0 == *user && one.1.resource == session.resource;
        match self.changes.iter().position(is_same) {
            Some(at) => self.changes[at].1 = session.clone(),
            None if self.overflown => {}
            None if self.changes.len() < MOST_MISSED => self.changes.push((user.clone(), session.clone())),
            None => (self.overflown, self.changes) = (true, Vec::new()),
        }
    }
}

/// The client may still show sessions of contacts who are offline now. The sessions of the others follow.
fn absent_contacts(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    let Event::Contacts(ContactsEvent::Contacts { contacts, next }) = &delivery.event else { return };
    for card in contacts.iter().filter(|card| card.side.sees()) {
        if card.presence == Some(Presence::Offline) {
            turn.absent(&card.sub());
        }
    }
    match next {
        Some(after) => {
            let page = PageOf { after: Some(after.clone()), limit: None };
            turn.ask_for(asked, absent_contacts, chat::contacts::Command::List { page });
        }
        None => turn.watch_contacts(),
    }
}

impl Turn<'_, '_> {
    pub(super) fn presence(&mut self, element: Element<'_>, to: Option<&Jid>, target: Target) {
        if let (Target::Room(number), Some(to)) = (&target, to) {
            return self.room_presence(element, to, *number);
        }
        match (element.attr("type"), to) {
            (None, None) => self.available(element),
            (Some("unavailable"), None) => self.unavailable(element),
            (Some("error"), _) => {}
            (Some(kind @ ("subscribe" | "subscribed" | "unsubscribe" | "unsubscribed")), Some(_)) => {
                self.subscribe(element, kind, target);
            }
            // RFC 6121 §4.6: presence directed at one user, and probes, which only servers send.
            (None | Some("unavailable" | "probe"), Some(_)) => {}
            _ => self.refuse(element, &StanzaError::new(Condition::BadRequest)),
        }
    }

    /// RFC 6121 §4.2: the first one opens the flow of presence, requests and messages.
    fn available(&mut self, element: Element<'_>) {
        let Some(availability) = availability(element) else {
            return self.refuse(element, &StanzaError::new(Condition::BadRequest));
        };
        let availability = self.keep_avatar(availability);
        if availability.check().is_err() {
            return self.refuse(element, &StanzaError::new(Condition::PolicyViolation));
        }
        let is_first = !self.session.is_available();
        let wanted_messages = self.session.wants_messages();
        self.announce(availability);
        self.session.set(Flags::LEFT, false);
        self.echo(element);
        self.learn_caps(element);
        if is_first {
            self.watch_contacts();
            self.deliver_pending_requests();
            self.look_up_avatar();
            self.show_ringing_call();
        }
        if !wanted_messages && self.session.wants_messages() {
            self.deliver_offline_messages();
        }
    }

    pub(crate) fn announce(&mut self, availability: Availability) {
        let availability = self.gateway.availabilities.shared(availability);
        self.session.availability = Some(availability.clone());
        self.command(chat::presence::Command::Announce(Some(availability)));
    }

    /// The presence of all contacts follows.
    pub(crate) fn watch_contacts(&mut self) {
        self.command(chat::presence::Command::Watch { contacts: true, users: Vec::new() });
    }

    /// RFC 6121 §4.5.2.
    fn unavailable(&mut self, element: Element<'_>) {
        if self.session.availability.take().is_some() {
            self.command(chat::presence::Command::Announce(None));
            self.session.set(Flags::LEFT, true);
            // The next presence shows requests again.
            self.session.set(Flags::CONVERSATIONS_WAIT, true);
            self.exit_all();
            self.command(chat::presence::Command::Watch { contacts: false, users: Vec::new() });
            self.echo(element);
        }
    }

    /// A client gets its own presence back (RFC 6121 §4.2.2).
    fn echo(&mut self, element: Element<'_>) {
        let jid = self.session.jid.as_str().to_owned();
        self.send(|out| {
            Open::new(out, "presence")
                .attr("from", &jid)
                .attr("to", &jid)
                .opt("id", element.attr("id"))
                .opt("type", element.attr("type"))
                .children(|out| element.children().for_each(|child| child.write(out, element.ns())));
        });
    }

    fn subscribe(&mut self, element: Element<'_>, kind: &str, target: Target) {
        let Target::User(user) = target else {
            return self.refuse(element, &StanzaError::new(Condition::ItemNotFound));
        };
        if self.is_of_server() {
            return self.subscribe_of_server(kind, user);
        }
        if self.answers_request(element, kind, &user) {
            return;
        }
        if let Some(action) = roster::action(kind) {
            self.ask_for(
                Asked::of(element),
                roster::changed,
                chat::contacts::Command::Subscribe { action, user },
            );
        }
    }

    /// Keeps a change back from a client that reads slowly or is inactive.
    pub(super) fn keep_presence(&mut self, event: &Event) {
        let Event::Presence(PresenceEvent::Sessions(users)) = event else { return };
        self.session.set(Flags::PRESENCE_MISSED, true);
        let missed = &mut self.session.extra().missed;
        for user in users {
            user.sessions.iter().for_each(|session| missed.keep(&user.user, session));
        }
    }

    /// Sends what was kept back.
    pub(crate) fn catch_up_presence(&mut self) {
        if !self.session.has(Flags::PRESENCE_MISSED) || self.session.has(Flags::INACTIVE) {
            return;
        }
        self.session.set(Flags::PRESENCE_MISSED, false);
        let missed = std::mem::take(&mut self.session.extra().missed);
        self.session.drop_empty_extra();
        if missed.overflown {
            return self.renew_presence();
        }
        missed.changes.iter().for_each(|(user, session)| self.session_of(user, session));
    }

    /// Sends the presence of all contacts to a client that may have missed any change.
    pub(crate) fn renew_presence(&mut self) {
        let page = PageOf { after: None, limit: None };
        self.ask_for(Asked::internal(), absent_contacts, chat::contacts::Command::List { page });
    }

    pub(super) fn sessions_of(&mut self, user: &UserSessions) {
        user.sessions.iter().for_each(|session| self.session_of(&user.user, session));
    }

    /// The availability of another session (RFC 6121 §4.4.3).
    fn session_of(&mut self, user: &Sub, session: &SessionShown) {
        let resource = session.resource.as_deref().unwrap_or(address::RESOURCE);
        let from = address::user_at(user, self.domain(), resource);
        let to = self.session.jid.as_str().to_owned();
        // The client has got its own presence at once.
        let is_wanted = self.session.is_available() || self.session.has(Flags::REMOTE);
        if !is_wanted || from == to {
            return;
        }
        let Some(availability) = &session.availability else {
            return self.send_state(|out| {
                Open::new(out, "presence")
                    .attr("type", "unavailable")
                    .attr("from", &from)
                    .attr("to", &to)
                    .empty();
            });
        };
        let show = match availability.show {
            Show::Online => None,
            Show::FreeForChat => Some("chat"),
            Show::Away => Some("away"),
            Show::ExtendedAway => Some("xa"),
            Show::Busy => Some("dnd"),
        };
        self.send_state(|out| {
            Open::new(out, "presence").attr("from", &from).attr("to", &to).children(|out| {
                if let Some(show) = show {
                    Open::new(out, "show").text(show);
                }
                if !availability.status.is_empty() {
                    Open::new(out, "status").text(&availability.status);
                }
                if availability.priority != 0 {
                    Open::new(out, "priority").text(&availability.priority.to_string());
                }
                restore(&availability.extension, out);
                if session.resource.is_none() {
                    write_caps(out);
                }
            });
        });
    }

    /// None of the user's sessions is available.
    fn absent(&mut self, user: &Sub) {
        let from = address::user(user, self.domain());
        let to = self.session.jid.as_str().to_owned();
        self.send_state(|out| {
            Open::new(out, "presence")
                .attr("type", "unavailable")
                .attr("from", &from)
                .attr("to", &to)
                .empty();
        });
    }
}

/// None: it has a value that RFC 6121 §4.7.2 does not allow.
pub(crate) fn availability(element: Element<'_>) -> Option<Availability> {
    let mut new = Availability::default();
    let mut extension = Vec::new();
    for child in element.children() {
        let has_lang = child.attr_ns(ns::XML, "lang").is_some();
        match (child.name(), child.ns()) {
            ("show", ns::CLIENT) => {
                new.show = match &*child.text() {
                    "chat" => Show::FreeForChat,
                    "away" => Show::Away,
                    "xa" => Show::ExtendedAway,
                    "dnd" => Show::Busy,
                    _ => return None,
                }
            }
            ("priority", ns::CLIENT) => new.priority = child.text().trim().parse().ok()?,
            // The server knows the picture (XEP-0398 §3).
            ("x", ns::VCARD_UPDATE) => {}
            // Only rooms give hats (XEP-0317 §8).
            ("hats", ns::HATS) => {}
            ("status", ns::CLIENT) if !has_lang => new.status = child.text().into_owned().into(),
            _ => child.write_stored(&mut extension, ns::CLIENT),
        }
    }
    new.extension = String::from_utf8(extension).expect("elements are written from UTF-8").into();
    Some(new)
}

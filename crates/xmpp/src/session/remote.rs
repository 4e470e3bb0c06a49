//! Stanzas of a member to users of other servers, and what comes back.

use std::sync::Arc;

use chat::messages::{Command, MessageName};
use chat::{MarkerSet, Sub, To};
use xmpp_proto::ns;
use xmpp_proto::payload::receipts::Receipt;
use xmpp_proto::stanza::{Condition, StanzaError, StanzaKind};
use xmpp_proto::xml::{Element, Open, document, restore};

use super::iq::Iq;
use super::message::own_id;
use super::named_message::found;
use super::{Asked, Flags, Turn, relay};
use crate::address;
use crate::s2s::{Content, Ensured, domain_of};
use crate::xep::disco;

/// Whether the receiver of a stanza is known to have a session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RemoteUser {
    MayBeMissing,
    Exists,
}

/// A stanza of the client that waits for the worker, or the home, that knows other servers.
pub(super) enum ForRemote {
    /// Its receiver, a user of another server, needs a session.
    Stanza(Box<[u8]>),
    /// The answer names the components. Boxed: few sessions ask, and all have room for it.
    Components(Box<Asked>),
}

impl Turn<'_, '_> {
    /// The first contact makes the remote user. Meanwhile the stanza and all later ones wait.
    pub(super) fn waits_for_remote(&mut self, element: Element<'_>, kind: StanzaKind, user: &Sub) -> bool {
        let begins = match (kind, element.attr("type")) {
            (StanzaKind::Message, Some("error" | "groupchat")) => false,
            (StanzaKind::Message, _) => element.child("body", ns::CLIENT).is_some(),
            (StanzaKind::Presence, kind) => matches!(kind, Some("subscribe" | "subscribed")),
            (StanzaKind::Iq, kind) => user.is_remote_service() && matches!(kind, Some("get" | "set")),
        };
        let (shared, site) = (&self.gateway.shared, self.session.user.site);
        if !begins || shared.remote_users.has(site, user) {
            return false;
        }
        let Some(domain) = domain_of(user) else { return false };
        let (to, of_answer) = (self.io.handle(), Arc::clone(shared));
        let asker: Ensured = Box::new(move |is_there| {
            of_answer.send_to_worker(to.worker(), Content::Ensured { to, is_there });
        });
        match &shared.config.home {
            // Each time, because only the home knows how long the session lasts.
            Some(home) => home.ensure(site, user, asker),
            None => {
                let content =
                    Content::Ensure { site, user: user.clone(), is_known: false, asker: Some(asker) };
                shared.send_to_owner(domain, content);
            }
        }
        let mut stanza = Vec::new();
        element.write(&mut stanza, "");
        self.session.extra().for_remote = Some(ForRemote::Stanza(stanza.into()));
        self.pause();
        true
    }

    /// The receiver has a session now, or cannot have one.
    pub(crate) fn remote_user_ensured(&mut self, is_there: bool) {
        let Some(ForRemote::Stanza(stanza)) = self.take_for_remote() else { return };
        let limits = self.gateway.shared.config.limits;
        // It was read with the same limits; only its namespace was added.
        if let Ok(tree) = document(&stanza, &limits)
            && let Some(kind) = StanzaKind::of(tree.root())
        {
            match is_there {
                true => self.addressed_stanza(tree.root(), kind, RemoteUser::Exists),
                false => self.refuse(tree.root(), &StanzaError::new(Condition::RemoteServerNotFound)),
            }
        }
        // A look-up of a message has paused the stream again, and reads further itself.
        if !self.session.is_paused() {
            self.io.read_on();
        }
    }

    /// A front does not know the components. The request waits for its home, and so do later stanzas. False: this node knows them.
    pub(crate) fn waits_for_components(&mut self, iq: &Iq<'_>) -> bool {
        let shared = Arc::clone(&self.gateway.shared);
        let Some(home) = shared.config.home.clone() else { return false };
        let to = self.io.handle();
        self.session.extra().for_remote = Some(ForRemote::Components(Box::new(Asked::of(iq.element))));
        self.pause();
        let answer = move |components| {
            shared.send_to_worker(to.worker(), Content::ComponentsFound { to, components });
        };
        home.find_components(self.session.user.site, Box::new(answer));
        true
    }

    pub(crate) fn components_found(&mut self, components: &[Box<str>]) {
        let Some(ForRemote::Components(asked)) = self.take_for_remote() else { return };
        let domain = self.domain().to_owned();
        self.answer(*asked, |out| disco::write_services(out, &domain, components));
        self.io.read_on();
    }

    /// The stream goes on.
    fn take_for_remote(&mut self) -> Option<ForRemote> {
        let waits = self.session.extra().for_remote.take();
        self.session.drop_empty_extra();
        if waits.is_some() {
            self.session.set(Flags::PAUSED, false);
        }
        waits
    }

    /// This session is that of a user of another server, which has not taken the message `id` of the member `to`. The app that has sent it
    /// may be on another worker, or on a front: the domain finds all apps of the member.
    pub(crate) fn return_message(&mut self, to: Sub, id: &str, condition: Condition) {
        if let Some(payload) = relay::error_payload(id, &StanzaError::new(condition)) {
            self.command(chat::presence::Command::Undelivered { to, payload });
        }
    }

    /// A message of the user was not delivered to another server. Only the session that has sent it tells its client.
    pub(super) fn returned(&mut self, id: &str, from: &Sub, error: &str) {
        let (site, handle) = (self.session.user.site, self.io.handle());
        if !self.gateway.shared.remote_users.take_sent(site, id, handle) {
            return;
        }
        let (from, to) = (address::user(from, self.domain()), self.session.jid.as_str().to_owned());
        self.send(|out| {
            let open = Open::new(out, "message").attr("type", "error").attr("id", own_id(id));
            open.attr("from", &from).attr("to", &to).children(|out| restore(error, out));
        });
    }

    /// The device of a user of another server has received a message. True: the stanza was a receipt.
    pub(super) fn receipt_of_server(&mut self, element: Element<'_>, user: &Sub) -> bool {
        let Some(Receipt::Received { id }) = Receipt::of(element) else { return false };
        let command = Command::Find { to: To::User(user.clone()), name: MessageName::Theirs(id.into()) };
        self.continue_then(Asked::internal(), command, |turn, _, answer| {
            if let Some(message) = answer.ok().and_then(found) {
                let (conversation, set) = (message.conversation, MarkerSet::Received(message.seq));
                turn.command(Command::Mark { conversation, set });
            }
        });
        true
    }
}

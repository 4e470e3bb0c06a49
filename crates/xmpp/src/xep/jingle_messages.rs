//! Jingle Message Initiation (XEP-0353): a call rings on all devices of a user, and one of them accepts it.
//!
//! The domain decides who may call whom, where it rings, and who was first. An app that proposes a call has no offer yet, so its call
//! rings without one, and its network addresses stay on its device until the other user has accepted.

use chat::Sub;
use xmpp_proto::ns;
use xmpp_proto::payload::carbons::{self, Direction};
use xmpp_proto::payload::jingle::Reason;
use xmpp_proto::payload::jingle_messages::JingleMessage;
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::{Element, Open};

use crate::address::{self, Target};
use crate::extensions::{Extension, Spec};
use crate::session::{Asked, Flags, Turn};
use crate::xep::jingle::{Call, Stage, media_of};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(353),
    name: "Jingle Message Initiation",
    version: "0.7.0",
    scenario: "calls",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

impl Turn<'_, '_> {
    /// A message about a call. False: it is about none.
    pub(crate) fn jingle_message(&mut self, element: Element<'_>, target: &Target) -> bool {
        // Calls stay on the site.
        if matches!(target, Target::User(user) if user.remote_address().is_some()) {
            return false;
        }
        let Some(message) = JingleMessage::of(element) else { return false };
        match (message, target) {
            (JingleMessage::Propose { id, video }, Target::User(user)) => {
                self.propose(element, user, id, video)
            }
            // Older clients tell their other devices by a message to themselves.
            (JingleMessage::Proceed { id }, Target::User(_)) | (JingleMessage::Accept { id }, _) => {
                self.proceed(id)
            }
            (
                JingleMessage::Reject { id, reason }
                | JingleMessage::Retract { id, reason }
                | JingleMessage::Finish { id, reason },
                Target::User(_) | Target::Account,
            ) => self.give_up(id, reason),
            (JingleMessage::Ringing { .. }, _) => {}
            _ => return false,
        }
        true
    }

    fn propose(&mut self, element: Element<'_>, user: &Sub, id: &str, video: bool) {
        if self.session.has_call() {
            return self.refuse(element, &StanzaError::new(Condition::ResourceConstraint));
        }
        let media = media_of(video);
        let stage = Stage::Inviting { cancelled: false };
        self.session.put_call(Box::new(Call::new(id, user.clone(), media, true, stage)));
        self.call_user(Asked::of(element), user.clone(), media, "".into());
    }

    /// The member has accepted on this device.
    fn proceed(&mut self, id: &str) {
        let Some(mut call) = self.session.take_call() else { return };
        let offer = match &call.stage {
            Stage::Ringing { offer, is_shown: true } if *call.sid == *id => offer.clone(),
            _ => return self.session.put_call(call),
        };
        if offer.is_empty() {
            self.accept_without_offer(&mut call);
        } else if !self.offer_to_app(&mut call, &offer, true) {
            self.app_leaves(&call, None);
            let finish = JingleMessage::Finish { id: &call.sid, reason: Some(Reason::FailedApplication) };
            self.send_jingle_message(&call.user, &finish);
            return self.session.drop_empty_extra();
        }
        self.session.put_call(call);
    }

    fn give_up(&mut self, id: &str, reason: Option<Reason>) {
        let Some(call) = self.session.take_call() else { return };
        match *call.sid == *id {
            true => self.app_gives_up(call, reason),
            false => self.session.put_call(call),
        }
    }

    /// Sends a message about a call, from the other user.
    pub(super) fn send_jingle_message(&mut self, user: &Sub, message: &JingleMessage<'_>) {
        let from = address::user_here(user, self.domain());
        let (to, id) = (self.session.jid.as_str().to_owned(), self.push_id());
        self.send(|out| {
            let open = Open::new(out, "message").attr("type", "chat").attr("id", &id);
            open.attr("from", &from).attr("to", &to).children(|out| message.write(out));
        });
    }

    /// Tells the app what the user has sent from another device, as a copy (XEP-0280). An app without copies gets it as from itself.
    pub(super) fn copy_jingle_message(&mut self, user: &Sub, message: &JingleMessage<'_>) {
        let (jid, id) = (self.session.jid.clone(), self.push_id());
        let to = address::user(user, jid.domain());
        let has_copies = self.session.has(Flags::CARBONS);
        self.send(|out| {
            let open = Open::new(out, "message").attr("type", "chat").attr("from", jid.bare());
            let open = open.attr("to", jid.as_str());
            if !has_copies {
                let message = match message {
                    JingleMessage::Proceed { id } => &JingleMessage::Accept { id },
                    other => other,
                };
                return open.attr("id", &id).children(|out| message.write(out));
            }
            open.children(|out| {
                carbons::write(out, Direction::Sent, |out| {
                    let open = Open::new(out, "message").attr("xmlns", ns::CLIENT).attr("type", "chat");
                    let open = open.attr("from", jid.bare()).attr("to", &to).attr("id", &id);
                    open.children(|out| message.write(out));
                });
            });
        });
    }
}

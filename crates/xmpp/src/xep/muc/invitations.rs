//! Invitations to rooms: through the room (XEP-0045 §7.8.2) and direct ones (XEP-0249). Both are invitations of the domain, so
//! the choices of the invited user hold: a contact becomes a member, and others are asked.

use chat::rooms::Command;
use chat::{Conversation, ConversationId, MemberAction, MessageRequest, RequestAnswer, Sub, With};
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::invitation::Invitation;
use xmpp_proto::payload::muc::{Mediated, write_user};
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::{Element, Open};

use super::address_of;
use crate::address::{Target, user};
use crate::extensions::{Extension, Spec};
use crate::session::{Asked, Flags, Turn};

pub(crate) const DIRECT: Extension = Extension {
    spec: Spec::Xep(249),
    name: "Direct MUC Invitations",
    version: "1.2",
    scenario: "muc_invitations",
    server_features: &[],
    account_features: &[ns::DIRECT_INVITATION],
    iq: &[],
};

/// Users of one message with invitations.
const MOST_INVITED: usize = 10;

impl Turn<'_, '_> {
    /// A message to a room with invitations, or with the refusal of one. False: it has neither.
    pub(super) fn mediated(&mut self, element: Element<'_>, room: ConversationId) -> bool {
        match Mediated::of(element) {
            Some(Mediated::Invite(invites)) => {
                // §10.1.1: nobody else is in a room that is not configured.
                if self.session.visit(room).is_some_and(|visit| visit.is_locked) {
                    self.refuse(element, &StanzaError::new(Condition::NotAllowed));
                    return true;
                }
                for invite in invites.into_iter().take(MOST_INVITED) {
                    match Target::of(Some(&invite.to), &self.session.jid) {
                        Target::User(user) => self.invite(element, room, user),
                        _ => self.refuse(element, &StanzaError::new(Condition::ItemNotFound)),
                    }
                }
            }
            Some(Mediated::Decline(_)) => {
                let answer = RequestAnswer::Dismiss;
                let asked = Asked::of(element);
                self.ask_for(asked, |_, _, _| (), Command::AnswerRequest { conversation: room, answer });
            }
            None => return false,
        }
        true
    }

    /// A message to a user that invites into a room of this site. False: it does not.
    pub(crate) fn direct_invitation(&mut self, element: Element<'_>, invited: &Sub) -> bool {
        let Some(invitation) = Invitation::of(element) else { return false };
        let Target::Room(Some(number)) = self.target_of(Some(&invitation.room)) else {
            return false;
        };
        let room = ConversationId::room(self.session.user.site, number);
        self.invite(element, room, invited.clone());
        true
    }

    /// Only a refusal is answered. A user who is a member already stays one.
    fn invite(&mut self, element: Element<'_>, room: ConversationId, invited: Sub) {
        let asked = Asked::of(element);
        let action = MemberAction::Invite;
        self.ask_for(
            asked,
            |_, _, _| (),
            Command::ChangeMember { conversation: room, user: invited, action },
        );
    }

    /// A conversation of the user is new, or has changed: an invitation that waits for an answer goes to the client.
    pub(crate) fn conversation_event(&mut self, conversation: &Conversation) {
        if !conversation.id.is_room() || conversation.request != Some(MessageRequest::Received) {
            return;
        }
        if !self.session.is_available() {
            // The first presence reads what waits.
            return self.session.set(Flags::CONVERSATIONS_WAIT, true);
        }
        let With::Room(data, _) = &conversation.with else { return };
        self.learn_room(conversation.id, data);
        let room = address_of(conversation.id, data, self.domain());
        let by = conversation.requested_by.as_ref().map(|by| user(&by.sub, self.domain()));
        let to = self.session.jid.as_str().to_owned();
        let Ok(jid) = Jid::parse(&room) else { return };
        self.send(|out| {
            Open::new(out, "message").attr("from", &room).attr("to", &to).children(|out| {
                write_user(out, None, &[], |out| {
                    Mediated::write(out, "invite", by.as_deref().unwrap_or(&room), None);
                });
                // XEP-0249 §2: for clients that know only this form.
                Invitation { room: jid, password: None, reason: None }.write(out);
            });
        });
    }
}

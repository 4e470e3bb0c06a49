//! Chat State Notifications (XEP-0085), as typing of the domain.

use chat::Sub;
use xmpp_proto::payload::chat_states::ChatState;
use xmpp_proto::xml::{Element, Open};

use crate::address;
use crate::extensions::{Extension, Spec};
use crate::session::Turn;

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(85),
    name: "Chat State Notifications",
    version: "2.1",
    scenario: "chat_states",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// Whether the message says that its author types, or has stopped. A body ends typing by itself.
pub(crate) fn is_composing(message: Element<'_>) -> Option<bool> {
    match ChatState::of(message)? {
        ChatState::Composing => Some(true),
        ChatState::Paused | ChatState::Inactive | ChatState::Gone => Some(false),
        ChatState::Active => None,
    }
}

impl Turn<'_, '_> {
    pub(crate) fn typing(&mut self, user: &Sub, on: bool) {
        let from = address::user_here(user, self.domain());
        let to = self.session.bare().to_owned();
        self.send(|out| {
            Open::new(out, "message").attr("type", "chat").attr("from", &from).attr("to", &to).children(
                |out| {
                    let state = if on { ChatState::Composing } else { ChatState::Paused };
                    state.write(out);
                },
            );
        });
    }
}

//! Typing: told in passing, stored nowhere.

use crate::node::{Asker, Inner};
use crate::peer::{Peer, may_write};
use crate::{ConversationId, Event};

impl Inner {
    /// Dropped silently where one may not write.
    pub(crate) fn typing(&self, asker: &Asker, peer: &Peer, on: bool) {
        let Some(conversation) = ConversationId::direct(asker.session.user, peer.id) else { return };
        if may_write(asker.site.site.mode, peer.is_banned, peer.relation) {
            let event = Event::Typing { conversation, user: asker.sub.clone(), on };
            self.tell_in_passing(peer.id, None, event);
        }
    }
}

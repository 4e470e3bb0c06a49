//! Markers: how far a member has received and read.

use std::sync::Arc;

use crate::command::AnswerTo;
use crate::node::{Asker, Inner};
use crate::peer::{Peer, may_see};
use crate::{ConversationId, Event, MarkerRow, MarkerSet, Refusal};

impl Inner {
    /// Told to one's own other devices with the unread count, and to the other member without, unless one of them
    /// has blocked the other.
    pub(crate) fn mark(self: &Arc<Self>, asker: &Asker, peer: &Peer, set: MarkerSet) {
        let session = asker.session;
        let Some(conversation) = ConversationId::direct(session.user, peer.id) else { return };
        let (received, read) = set.both();
        let other = may_see(asker.site.site.mode, peer.relation).then_some(peer.id);
        let node = self.clone();
        let user = asker.sub.clone();
        let done = move |outcome: Result<MarkerRow, _>| {
            let Ok(row) = outcome else {
                return node.refuse(session.handle, AnswerTo::Session, Refusal::Unavailable);
            };
            if !row.moved {
                return;
            }
            let MarkerRow { received, read, unread, position, told, .. } = row;
            let event =
                |unread| Event::Marker { conversation, user: user.clone(), received, read, unread, position };
            node.tell(session.user, position, Some(session.handle), event(Some(unread)));
            if unread == 0 {
                node.notify_read(session.user, conversation);
            }
            if let Some(other) = other.filter(|_| told) {
                node.tell(other, position, None, event(None));
            }
        };
        self.store.mark(conversation, session.user, received, read, Box::new(done));
    }
}

//! The port between gateways and the domain, for sessions.
//!
//! | call | by |
//! |---|---|
//! | [`sign_in`](Node::sign_in) | the first frame of a connection |
//! | [`command`](Node::command) | every other frame |
//! | [`disconnected`](Node::disconnected) | the end of a connection |
//! | [`behind`](Node::behind), [`presence_missed`](Node::presence_missed) | a queue that overflowed |
//! | [`release`](Node::release), [`adopt`](Node::adopt) | a node that is replaced by another |
//!
//! The domain answers through one [`Outbox`](crate::Outbox). No call blocks, and everything that crosses the port can be serialized, so a
//! gateway does not notice whether the domain is in its process or in another one.

use crate::sign_in::adopt::Waiting;
use crate::{Hello, Node, Request, SessionHandle, SessionId, SessionRecord, Timestamp};
#[cfg(doc)]
use crate::{Store, Welcome};

impl Node {
    /// Checks the token and begins the session. The outcome comes as `Event::Welcome` or `Event::Bye` for
    /// `handle`; nothing else is delivered to it before.
    ///
    /// If the connection is gone by then, the gateway must say so when the welcome reaches it:
    /// [`disconnected`](Self::disconnected) with [`Welcome::session`]. Until then nobody else knows it.
    #[allow(clippy::needless_pass_by_value, reason = "a hello is said once")]
    pub fn sign_in(&self, hello: Hello<'_>, handle: SessionHandle, now: Timestamp) {
        self.inner.sign_in.sign_in(&hello, handle, now);
    }

    /// Carries out a command of a signed-in session; answers come as events. A session that the node does
    /// not have (any more) gets `Event::Bye`.
    ///
    /// Commands of a session that is being [adopted](Self::adopt) wait, up to 64 of them.
    pub fn command(&self, session: SessionId, request: Request, now: Timestamp) {
        if let Some(Waiting::Request(request, now)) =
            self.inner.sign_in.wait_for_adoption(session, Waiting::Request(request, now))
        {
            self.inner.dispatch(session, request, now);
        }
    }

    /// The session's connection is gone. `on_purpose`: the client said `bye`, presence ends at once.
    pub fn disconnected(&self, session: SessionId, on_purpose: bool, now: Timestamp) {
        let gone = Waiting::Disconnected(on_purpose, now);
        if self.inner.sign_in.wait_for_adoption(session, gone).is_some() {
            self.inner.sign_in.disconnected(session, on_purpose, now);
        }
    }

    /// A gateway dropped this session's queue (it read too slowly). Until the client's `Resume`, the domain
    /// delivers nothing to it that has a position; answers to other requests still come.
    ///
    /// Events that were on their way when the queue was dropped may still arrive after this call; a gateway
    /// that passes them on would let the client's position jump over what was dropped. So it drops
    /// everything with a position until `Event::Changes`.
    pub fn behind(&self, session: SessionId) {
        if self.inner.sign_in.wait_for_adoption(session, Waiting::Behind).is_some() {
            self.inner.sign_in.behind(session);
        }
    }

    /// Takes all sessions out of this node, for another one that [adopts](Self::adopt) them. From then on nobody signs in here, and
    /// sessions whose welcome was under way get `Event::Bye`. Calls end.
    ///
    /// Gateways hold commands back from before this call until they can give them to the other node, and call it when the
    /// [store](Store) has nothing left to do for this one: an answer that comes later reaches nobody.
    pub fn release(&self, now: Timestamp) -> Vec<SessionRecord> {
        self.inner.sign_in.release_sessions(now)
    }

    /// Takes over sessions that exist already: of a node that [released](Self::release) them, or of one that is gone and whose fronts
    /// have [kept](SessionRecord::delivered) the records. Their connections stay, with the same handles.
    ///
    /// A session that has missed nothing since its position goes on, and no event tells so. One that has missed something gets
    /// `Event::Behind`, and its client resumes. A session that may not go on (banned, its key or site ended, its device
    /// connected anew) gets `Event::Bye`. Watchers get the presence of those whom they watch again after the grace time.
    ///
    /// Reads the users and one snapshot for each session, 256 users at once.
    pub fn adopt(&self, records: Vec<SessionRecord>, now: Timestamp) {
        self.inner.sign_in.adopt(records, now);
    }

    /// A gateway dropped presence for this session because it read slowly, and it has caught up: it gets the presence
    /// of all watched users again.
    pub fn presence_missed(&self, session: SessionId) {
        if let Some(site) = self.inner.sites.by_id(session.user.site) {
            self.inner.presences.answer_watched(site.site.mode, session);
        }
    }
}

//! The port between gateways and the domain, for sessions.
//!
//! | call | by |
//! |---|---|
//! | [`app_credentials`](Node::app_credentials), [`password_may_be_tried`](Node::password_may_be_tried), [`password_failed`](Node::password_failed) | a gateway that checks app passwords |
//! | [`app_tokens`](Node::app_tokens), [`renew_app_token`](Node::renew_app_token) | a gateway whose apps sign in with tokens in place of their passwords |
//! | [`token_user`](Node::token_user) | a gateway that checks a token before a sign-in |
//! | [`sign_in`](Node::sign_in) | the first frame of a connection |
//! | [`command`](Node::command) | every other frame |
//! | [`disconnected`](Node::disconnected) | the end of a connection |
//! | [`behind`](Node::behind), [`presence_missed`](Node::presence_missed) | a queue that overflowed |
//! | [`release`](Node::release), [`adopt`](Node::adopt), [`watch_again`](Node::watch_again), [`expect_adoptions`](Node::expect_adoptions) | a node that is replaced by another |
//! | [`write_down`](Node::write_down), [`continue_sessions`](Node::continue_sessions) | a process that is replaced by another one |
//!
//! The domain answers through one [`Outbox`](crate::Outbox). No call blocks, and everything that crosses the port can be
//! serialized. So a gateway works alike with the domain in its own process and in another one.

use std::net::IpAddr;
use std::sync::Arc;

use crate::sign_in::adopt::Waiting;
use crate::{
    AppCredentials, AppDeviceOf, AppToken, AppTokenFor, AppTokens, CallRecord, Command, Hello, Node, Refusal,
    Request, SessionHandle, SessionId, SessionRecord, SiteId, Sub, Timestamp, presence,
};
#[cfg(doc)]
use crate::{Store, Welcome};

impl Node {
    /// The site with this XMPP domain, and its key for a hello.
    pub fn site_of_domain(&self, domain: &str) -> Option<(SiteId, Arc<str>)> {
        self.inner.sites.by_domain(domain).map(|live| (live.site.id, live.site.key.clone()))
    }

    /// Whether members of the site talk with users of this other XMPP domain, which is in prepared form.
    pub fn talks_with(&self, site: SiteId, domain: &str) -> bool {
        self.inner.sites.by_id(site).is_some_and(|live| live.site.settings.federation.talks_with(domain))
    }

    /// Whether members of the site talk with users of any other XMPP domain.
    pub fn is_federated(&self, site: SiteId) -> bool {
        self.inner.sites.by_id(site).is_some_and(|live| live.site.settings.federation.on)
    }

    /// The key of a site. None: the site does not exist.
    pub fn site_key(&self, site: SiteId) -> Option<Arc<str>> {
        Some(self.inner.sites.by_id(site)?.site.key.clone())
    }

    /// The XMPP domain of a site. None: the site does not exist, or has none.
    pub fn domain(&self, site: SiteId) -> Option<Box<str>> {
        self.inner.sites.by_id(site)?.site.domain().map(Into::into)
    }

    /// A page with the widget. None: the site does not exist, or has told no origin.
    pub fn page(&self, site: SiteId) -> Option<String> {
        self.inner.sites.by_id(site)?.site.page().map(str::to_owned)
    }

    /// The keys to check an app password of the user with this id, who need not exist: see [`AppCredentials`]. `then` is called
    /// once, perhaps on a thread of the store. [`Refusal::NotAllowed`]: the site has disabled app passwords.
    ///
    /// Ask [`password_may_be_tried`](Self::password_may_be_tried) before, and report a wrong password by
    /// [`password_failed`](Self::password_failed). With a right one, [`sign_in`](Self::sign_in) with
    /// [`Credential::AppPassword`](crate::Credential).
    pub fn app_credentials(
        &self,
        site: SiteId,
        sub: Sub,
        then: impl FnOnce(Result<AppCredentials, Refusal>) + Send + 'static,
    ) {
        self.inner.sign_in.app_credentials(site, sub, then);
    }

    /// The tokens of a device, to check the proof of an app. `then` is called once, perhaps on a thread of the store. After a right
    /// proof, [`sign_in`](Self::sign_in) with the app password of the tokens. [`Refusal::NotAllowed`]: the site has disabled app
    /// passwords.
    pub fn app_tokens(
        &self,
        of: AppDeviceOf,
        then: impl FnOnce(Result<Option<AppTokens>, Refusal>) + Send + 'static,
    ) {
        self.inner.sign_in.app_tokens(of, then);
    }

    /// A token for an app that has proved its password or a token. `then` is called once, perhaps on a thread of the store, with the
    /// token if the app gets one.
    pub fn renew_app_token(
        &self,
        of: AppDeviceOf,
        why: AppTokenFor,
        now: Timestamp,
        then: impl FnOnce(Option<AppToken>) + Send + 'static,
    ) {
        self.inner.sign_in.renew_app_token(of, why, now, then);
    }

    /// Whether a password of this account may be checked for a client at this address. Otherwise
    /// [`Refusal::RateLimited`] after too many failures.
    pub fn password_may_be_tried(
        &self,
        site: SiteId,
        sub: &Sub,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        self.inner.sign_in.password_may_be_tried(site, sub, address, now)
    }

    /// Counts a wrong password, and records it in the log of sign-ins.
    pub fn password_failed(&self, site: SiteId, sub: &Sub, address: Option<IpAddr>, now: Timestamp) {
        self.inner.sign_in.password_failed(site, sub, address, now);
    }

    /// The user of a token that is valid now, for a gateway that authenticates before it signs in. A token that can be used once
    /// stays unused.
    pub fn token_user(&self, site_key: &str, token: &str, now: Timestamp) -> Result<Sub, Refusal> {
        self.inner.sign_in.token_user(site_key, token, now)
    }

    /// Whether as many clients sign in as finish soon. A gateway should let others wait meanwhile, and call [`sign_in`](Self::sign_in)
    /// for them in the order of their arrival. Takes no lock.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.inner.sign_in.is_crowded()
    }

    /// Checks the credential and starts the session. The outcome arrives as `Event::Welcome` or `Event::Bye` for
    /// `handle`; no other event is delivered before.
    ///
    /// If the connection ends meanwhile, the gateway waits for the welcome and then calls
    /// [`disconnected`](Self::disconnected) with [`Welcome::session`]: it learns the session only then.
    #[allow(clippy::needless_pass_by_value, reason = "a hello is said once")]
    pub fn sign_in(&self, hello: Hello<'_>, handle: SessionHandle, now: Timestamp) {
        self.inner.sign_in.sign_in(&hello, handle, now);
    }

    /// Carries out a command of a signed-in session; answers are events. An unknown or ended session gets
    /// `Event::Bye`.
    ///
    /// Commands of a session that is being [adopted](Self::adopt) wait, up to 64 of them.
    pub fn command(&self, session: SessionId, request: Request, now: Timestamp) {
        if let Command::Presence(presence::Command::Watch { .. }) = request.command {
            self.inner.sign_in.note_watch(session, now);
        }
        if let Some(Waiting::Request(request, now)) =
            self.inner.sign_in.wait_for_adoption(session, Waiting::Request(request, now))
        {
            self.inner.dispatch(session, request, now);
        }
    }

    /// The connection of a session has ended. `on_purpose`: the client sent `bye`, and its presence ends at
    /// once.
    pub fn disconnected(&self, session: SessionId, on_purpose: bool, now: Timestamp) {
        let gone = Waiting::Disconnected(on_purpose, now);
        if self.inner.sign_in.wait_for_adoption(session, gone).is_some() {
            self.inner.sign_in.disconnected(session, on_purpose, now);
        }
    }

    /// A gateway dropped the send queue of this session, which read too slowly. Until the client's `Resume`,
    /// the domain delivers no event with a position to it; answers to other requests are still delivered.
    ///
    /// Events on their way at that moment may arrive after this call. If the gateway sent them, the client's
    /// position would skip the dropped ones. So the gateway drops every event with a position until
    /// `Event::Changes`.
    pub fn behind(&self, session: SessionId) {
        if self.inner.sign_in.wait_for_adoption(session, Waiting::Behind).is_some() {
            self.inner.sign_in.behind(session);
        }
    }

    /// Removes all sessions from this node, so that another one can [adopt](Self::adopt) them. From then on
    /// sign-ins are refused. Sessions whose welcome is under way get `Event::Bye`; calls end.
    ///
    /// Before this call, gateways start to hold commands back for the other node. They wait until the
    /// [store](Store) has no pending work of this node: later answers are lost.
    pub fn release(&self, now: Timestamp) -> Vec<SessionRecord> {
        self.inner.sign_in.release_sessions(now)
    }

    /// Removes the sessions of one [front](SessionHandle::front), whose link was lost. Presence outlives them by the grace time,
    /// so that nobody sees a change if the front brings them back to [`adopt`](Self::adopt).
    pub fn release_front(&self, front: u8, now: Timestamp) -> Vec<SessionRecord> {
        self.inner.sign_in.release_front(front, now)
    }

    /// Takes over existing sessions: of a node that [released](Self::release) them, or of a crashed one whose
    /// fronts have [kept](SessionRecord::delivered) the records. Their connections stay, with the same
    /// handles.
    ///
    /// A session that has missed nothing since its position continues without an event. One that has missed
    /// something gets `Event::Behind`, and its client resumes. A session that may not continue gets
    /// `Event::Bye`: a banned user, an ended key or site, or a device that has reconnected. Watchers get the
    /// presence of watched users again after the grace time.
    ///
    /// Reads the users and one snapshot for each session, 256 users at once.
    pub fn adopt(&self, records: Vec<SessionRecord>, now: Timestamp) {
        self.inner.sign_in.adopt(records, now);
    }

    /// This node takes the place of another one, and fronts will bring their sessions for [`adopt`](Self::adopt). So each watch
    /// that begins within the grace time after the first tick is answered once more after this time.
    pub fn expect_adoptions(&self) {
        self.inner.sign_in.expect_adoptions();
    }

    /// Restores the watch of an adopted session, which its front has kept: see
    /// [`presence::Command::Watch`](crate::presence::Command::Watch). It is not answered now, because many watched users are not
    /// adopted yet, and would seem to be offline. Their presence comes after the grace time.
    ///
    /// A watch of too many users is dropped.
    pub fn watch_again(&self, session: SessionId, contacts: bool, users: Vec<Sub>, now: Timestamp) {
        if users.len() > self.inner.config.limits.watch as usize {
            return;
        }
        let again = Waiting::WatchAgain(contacts, users, now);
        if let Some(Waiting::WatchAgain(contacts, users, now)) =
            self.inner.sign_in.wait_for_adoption(session, again)
        {
            self.inner.sign_in.watch_again(session, contacts, users, now);
        }
    }

    /// The sessions of this node, for the process that replaces it on the same store: see
    /// [`continue_sessions`](Self::continue_sessions). The node is unchanged, and goes on if that process fails.
    ///
    /// Before this call, gateways stop to read, the store has no pending work, and every event has reached its connection. Sessions
    /// whose welcome is under way are not among them.
    pub fn write_down(&self) -> Vec<SessionRecord> {
        self.inner.sign_in.write_down()
    }

    /// Continues the sessions of another process on the same store, under the same handles. Nothing has happened since it has
    /// [written them down](Self::write_down), so the store is asked for the users only, 256 at once. Apart from that it is as
    /// [`adopt`](Self::adopt).
    ///
    /// `then` is called once, when all of them are here. Until then no gateway may read commands: a session that is not here yet
    /// would miss their events.
    pub fn continue_sessions(
        &self,
        records: Vec<SessionRecord>,
        now: Timestamp,
        then: impl FnOnce() + Send + 'static,
    ) {
        self.inner.sign_in.continue_sessions(records, now, then);
    }

    /// The direct calls of this node, for the process that replaces it. Calls of rooms are not among them: their participants join
    /// again.
    pub fn write_down_calls(&self) -> Vec<CallRecord> {
        self.inner.calls.write_down()
    }

    /// Continues the calls of another process. Call it before [`continue_sessions`](Self::continue_sessions), because a session that does
    /// not go on leaves its call.
    pub fn continue_calls(&self, records: Vec<CallRecord>) {
        self.inner.calls.continue_calls(records);
    }

    /// A front expects the clients of a crowd within `left_ms`, at most 10 minutes: they are in its queue, or have retry times. Until
    /// then, the presence of dropped users is kept.
    pub fn clients_wait_at_a_front(&self, left_ms: u32, now: Timestamp) {
        self.inner.presences.clients_wait_at_a_front(left_ms, now);
    }

    /// A gateway dropped presence for this session because it read slowly, and it has caught up. The session
    /// gets the presence of all watched users again.
    pub fn presence_missed(&self, session: SessionId) {
        if let Some(site) = self.inner.sites.by_id(session.user.site) {
            self.inner.presences.answer_watched(site.site.mode, session);
        }
    }
}

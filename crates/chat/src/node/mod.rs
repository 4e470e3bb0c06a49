//! A running node's domain: what gateways call.
//!
//! # Locks
//!
//! Shared tables, each behind short locks of its own; **no two are held at once, and none while the store or
//! an outbox is called**, but for what is said below:
//!
//! | table | file | sharded by | kept |
//! |---|---|---|---|
//! | users here, their sessions, held events | `session/table.rs` | user | while here |
//! | the same as one bit each | `session/roll.rs` | site; under the lock of a user's shard | always |
//! | requests by user, address and site | `session/request_limits.rs` | – | bounded |
//! | logins and messages under way, their pace | `session/admission.rs` | – | always |
//! | *publishing* | `session/delivery.rs` | – | – |
//! | sites | `site/live.rs` | – | always; over its table, the lock of those who change it |
//! | recent users, relations, contact lists | `users/cache.rs` | key | while asked for, bounded |
//! | presence that waits for the next round | `presence/mod.rs` | –; under the lock of a user's shard | bounded |
//! | who watches whom | `presence/watch.rs` | session, then watched user: these two may be held together | while watching |
//! | contact changes under way | `contacts/mod.rs` | – | while under way |
//! | notices that wait, and those that were shown | `notifications/queue.rs` | – | bounded |
//! | when the next sanction ends | `moderation/mod.rs` | – | always |
//! | banned devices | `moderation/device_bans.rs` | – | always |
//! | calls, those of rooms too, and who is in which | `calls/table.rs` | site; over the lock of a user's shard, and while their events are handed to the outbox | while they last, bounded |
//! | joins and leaves of rooms that wait to be published | `rooms/joins.rs` | – | bounded |
//! | reactions and votes of large rooms that wait to be published | `messages/gather.rs` | – | bounded |
//! | bytes of whole messages by room | `messages/whole_messages.rs` | – | bounded |
//! | import floors, and who waits for a publication | `import/live.rs` | – | a number per site; bounded |
//! | new guests by address | `sign_in/guests.rs` | – | bounded |
//! | sessions that are being adopted, and their commands | `sign_in/adopt.rs` | – | until they are adopted; 64 commands each |
//! | randomness | `rng.rs` | – | always |
//!
//! *Publishing* is the exception: it is no table, it is held while an event that has a position is planned (which
//! locks a user's shard) and handed to the outbox (which does not block), so that a resume can wait for it.
//!
//! Stored changes are delivered inside the store's completion, which comes in commit order on one thread: that alone
//! makes a [`Position`] truthful.

mod admit;
pub(crate) mod callers;
mod files;
mod ice;
mod imports;
mod link_previews;
mod requests;
mod stickers;

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::account::Account;
use crate::calls::Calls;
use crate::contacts::{BlockObserver, Contacts};
use crate::import::Import;
use crate::messages::Messages;
use crate::moderation::{ActObserver, Moderation, Sent};
use crate::notifications::Notifications;
use crate::presence::Presences;
use crate::rng::Rng;
use crate::rooms::Rooms;
use crate::session::admission::Admission;
use crate::session::request_limits::RequestLimits;
use crate::session::{SessionObserver, Sessions};
use crate::sign_in::SignIn;
use crate::sign_in::adopt::{AdoptionObserver, Waiting};
use crate::sign_in::log::SignInRecords;
use crate::site::live::Sites;
use crate::site::tokens::Tokens;
use crate::stats::Counters;
use crate::users::Users;
use crate::{
    By, CallId, ChangedMessage, Command, ConversationId, Hello, Ice, Mailer, MemberChanged, NodeConfig,
    Notifier, Outbox, Refusal, Request, SessionHandle, SessionId, SessionRecord, SetPresence, SignInLog,
    SiteId, Stats, Store, StoreError, Sub, Timestamp, UserId,
};
#[cfg(doc)]
use crate::{Position, Welcome};
use std::sync::Weak;

/// The domain of one running node; shared by all workers and the tokio side.
pub struct Node {
    inner: Arc<Inner>,
}

/// The parts of the domain, and what the node itself keeps. Parts use those that their constructors name, never this.
pub(crate) struct Inner {
    pub(crate) config: Arc<NodeConfig>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) sites: Arc<Sites>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) presences: Arc<Presences>,
    pub(crate) users: Arc<Users>,
    pub(crate) contacts: Arc<Contacts>,
    pub(crate) calls: Arc<Calls>,
    pub(crate) requests: Arc<RequestLimits>,
    pub(crate) notifications: Arc<Notifications>,
    pub(crate) messages: Arc<Messages>,
    pub(crate) account: Arc<Account>,
    pub(crate) import: Arc<Import>,
    pub(crate) records: Arc<SignInRecords>,
    pub(crate) sign_in: Arc<SignIn>,
    pub(crate) rooms: Arc<Rooms>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) tokens: Arc<Tokens>,
    /// The store's revision that the tables are of.
    revision: AtomicU64,
    /// One tick at a time.
    ticking: Mutex<()>,
    pub(crate) moderation: Arc<Moderation>,
}

impl Node {
    /// Reads the sites from the store; where that fails, they come with the first
    /// [`refresh_sites`](Self::refresh_sites) that works. `rng_seed` makes guests' names, codes of invitations, and the moments at
    /// which clients come back after [`goodbye`](Self::goodbye); it must be unpredictable.
    pub fn new(
        config: NodeConfig,
        store: Arc<dyn Store>,
        outbox: Arc<dyn Outbox>,
        rng_seed: [u8; 32],
    ) -> Node {
        let config = Arc::new(config);
        let counters = Arc::new(Counters::default());
        let requests = Arc::new(RequestLimits::new(config.limits.requests, counters.clone()));
        let sites = Arc::new(Sites::default());
        let sessions = Arc::new(Sessions::new(config.clone(), outbox, sites.clone(), counters.clone()));
        let users = Arc::new(Users::new(store.clone(), sessions.clone()));
        let admission = Arc::new(Admission::of_logins());
        let presences = Arc::new(Presences::new(
            users.clone(),
            sessions.clone(),
            store.clone(),
            config.clone(),
            admission.clone(),
            counters.clone(),
        ));
        let contacts = Arc::new(Contacts::new(
            presences.clone(),
            users.clone(),
            sessions.clone(),
            store.clone(),
            config.clone(),
        ));
        let notifications = Arc::new(Notifications::new(sessions.clone(), sites.clone(), store.clone()));
        let moderation = Arc::new(Moderation::new(
            sessions.clone(),
            users.clone(),
            sites.clone(),
            store.clone(),
            config.clone(),
            counters.clone(),
        ));
        let rng = Arc::new(Rng::from_seed(rng_seed));
        let calls = Arc::new(Calls::new(
            notifications.clone(),
            users.clone(),
            sessions.clone(),
            store.clone(),
            config.clone(),
            counters.clone(),
            rng.clone(),
        ));
        let rooms = Arc::new(Rooms::new(
            calls.clone(),
            moderation.clone(),
            presences.clone(),
            users.clone(),
            sessions.clone(),
            store.clone(),
            config.clone(),
            rng.clone(),
        ));
        let tokens = Arc::new(Tokens::new(store.clone(), config.clone()));
        let messages = Arc::new(Messages::new(
            rooms.clone(),
            moderation.clone(),
            notifications.clone(),
            presences.clone(),
            users.clone(),
            sessions.clone(),
            sites.clone(),
            store.clone(),
            config.clone(),
            counters.clone(),
            rng.clone(),
        ));
        let records = Arc::new(SignInRecords::new(sites.clone()));
        let account = Arc::new(Account::new(
            messages.clone(),
            moderation.clone(),
            notifications.clone(),
            presences.clone(),
            users.clone(),
            sessions.clone(),
            sites.clone(),
            store.clone(),
            rng.clone(),
        ));
        let import = Arc::new(Import::new(
            users.clone(),
            sessions.clone(),
            sites.clone(),
            store.clone(),
            config.clone(),
        ));
        let sign_in = Arc::new(SignIn::new(
            account.clone(),
            import.clone(),
            messages.clone(),
            calls.clone(),
            moderation.clone(),
            notifications.clone(),
            presences.clone(),
            users.clone(),
            sessions.clone(),
            tokens.clone(),
            records.clone(),
            admission.clone(),
            sites.clone(),
            store.clone(),
            config.clone(),
            counters.clone(),
            rng.clone(),
        ));
        let inner = Arc::new(Inner {
            config,
            store,
            sites,
            sessions,
            presences,
            users,
            contacts,
            calls,
            requests,
            notifications,
            messages,
            account,
            import,
            records,
            sign_in,
            rooms,
            counters,
            tokens,
            revision: AtomicU64::new(u64::MAX),
            ticking: Mutex::default(),
            moderation,
        });
        let observer: Weak<dyn SessionObserver> = Arc::downgrade(&inner) as _;
        inner.sessions.observed_by(observer);
        let observer: Weak<dyn BlockObserver> = Arc::downgrade(&inner) as _;
        inner.contacts.observer.set(observer);
        let observer: Weak<dyn ActObserver> = Arc::downgrade(&inner) as _;
        inner.moderation.observer.set(observer);
        let observer: Weak<dyn AdoptionObserver> = Arc::downgrade(&inner) as _;
        inner.sign_in.adoption_observer.set(observer);
        let node = Node { inner };
        if let Err(error) = node.refresh_sites() {
            tracing::warn!(%error, "cannot read the sites");
        }
        node
    }

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

    /// STUN and TURN servers with credentials for the user of a token, who must have been here before. `then` is called once,
    /// here or on a thread of the store.
    pub fn ice(
        &self,
        site_key: &str,
        token: &str,
        address: Option<IpAddr>,
        now: Timestamp,
        then: impl FnOnce(Result<Ice, Refusal>) + Send + 'static,
    ) {
        self.inner.ice(site_key, token, address, now, then);
    }

    /// Is the user in this call? Asked by a TURN server, for each relay every few seconds.
    pub fn is_in_call(&self, user: UserId, call: CallId) -> bool {
        self.inner.calls.is_in_call(user, call)
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

    /// Runs timers: presence grace and coalescing, token expiry, unanswered calls, the age of caches. Call at least
    /// every 100 ms from one thread: the more often, the less work at once. It touches no disk.
    pub fn tick(&self, now: Timestamp) {
        let Ok(_one) = self.inner.ticking.try_lock() else { return };
        self.inner.sessions.tick(now);
        self.inner.users.recent().age(now);
        self.inner.presences.end_grace(now);
        self.inner.sessions.end_tokens(now);
        self.inner.calls.end_calls(now);
        self.inner.moderation.end_sanctions(now);
        self.inner.notifications.tell_who_is_away(now);
        self.inner.notifications.mail_who_is_due(now);
        self.inner.messages.publish_gathered(now);
        self.inner.rooms.publish_joins(now);
        self.inner.account.erase_what_is_left(now);
        self.inner.messages.trim_what_is_old(now);
        self.inner.import.publish_imports(now);
        self.inner.presences.tell_due(now);
        self.inner.sign_in.repeat_presence(now);
    }

    /// Takes over sites, secrets and bans that another process changed; sessions of removed sites and banned
    /// users get `Event::Bye`. Reads the store and may block: call about once a second from a housekeeping
    /// thread, and after own changes; never from a worker. Costs one cheap read when nothing changed.
    pub fn refresh_sites(&self) -> Result<(), StoreError> {
        let revision = self.inner.store.revision()?;
        if self.inner.revision.load(Ordering::Acquire) == revision {
            return Ok(());
        }
        let sites = self.inner.store.sites()?;
        let before: Vec<_> = sites.iter().filter_map(|site| self.inner.sites.by_id(site.id)).collect();
        let banned = self.inner.store.banned()?;
        let standings = self.inner.store.standings()?;
        let next_end = self.inner.store.next_sanction_end()?;
        let floors = self.inner.store.import_floors()?;
        self.inner.users.recent().clear();
        self.inner.import.take_over(&floors, self.inner.sessions.last_tick());
        self.inner.account.continue_erasures();
        for gone in self.inner.sites.replace(sites) {
            self.inner.sessions.end_site(gone);
        }
        self.inner.moderation.take_over_standings(&standings);
        self.inner.account.end_merged_guests()?;
        next_end.into_iter().for_each(|until| self.inner.moderation.ends_at(until));
        for user in banned {
            self.inner.moderation.end_banned(user);
        }
        self.inner.moderation.end_closed();
        self.inner.moderation.read_device_bans();
        for before in before {
            if let Some(after) = self.inner.sites.by_id(before.site.id) {
                self.inner.sign_in.end_keys(&before, &after);
                self.inner.moderation.tell_site(&before, &after);
            }
        }
        // Last: where something above failed, the next call does it all again.
        self.inner.revision.store(revision, Ordering::Release);
        Ok(())
    }

    /// From now on, absent users get notices through this. Reads the users with a subscription from the store, and
    /// may block.
    pub fn notify_by(&self, notifier: Arc<dyn Notifier>) -> Result<(), StoreError> {
        self.inner.notifications.notify_by(notifier)
    }

    /// From now on those who have missed something get a digest by way of this. Reads the store, and may block.
    pub fn mail_by(&self, mailer: Arc<dyn Mailer>) -> Result<(), StoreError> {
        self.inner.notifications.mail_by(mailer)
    }

    /// A member wants no digests any more, and says so without being signed in; who may say it is the caller's to know.
    pub fn end_mail(&self, user: UserId) {
        self.inner.notifications.end_mail(user);
    }

    /// The site of this key, if it is here.
    pub fn site_id(&self, site_key: &str) -> Option<SiteId> {
        self.inner.sites.by_key(site_key).map(|live| live.site.id)
    }

    /// A push service says that there is no such browser any more.
    pub fn push_device_is_gone(&self, user: UserId, endpoint: &str) {
        // Where that fails, the service says it again.
        self.inner.notifications.forget_push_device(user, endpoint.into(), drop);
    }

    /// Does any site want to know its members' devices? Else a gateway need not look what a client says of itself.
    pub fn keeps_devices(&self) -> bool {
        self.inner.sites.keep_devices()
    }

    /// May a page of this origin talk to this site at all? For CORS, before a hello. Err: no such site.
    pub fn origin_allowed(&self, site_key: &str, origin: &str) -> Result<bool, Refusal> {
        self.inner.sites.by_key(site_key).map(|live| live.allows_origin(origin)).ok_or(Refusal::NoSuchSite)
    }

    /// Does any site let pages of this origin connect? For CORS where the site is not known.
    pub fn origin_known(&self, origin: &str) -> bool {
        self.inner.sites.know_origin(origin)
    }

    /// The node is about to stop: every session gets `Event::Bye` with a moment of its own to come back, spread
    /// over `spread_ms`; nobody else is let in.
    pub fn goodbye(&self, spread_ms: u32) {
        self.inner.sign_in.goodbye(spread_ms);
    }

    pub fn stats(&self) -> Stats {
        self.inner
            .counters
            .read([self.inner.sites.count(), self.inner.sites.unreadable()], self.inner.calls.count())
    }
}

impl Node {
    /// Records sign-ins from now on. Without it, gateways need not look up a client's address.
    pub fn log_sign_ins_to(&self, log: Arc<dyn SignInLog>) {
        self.inner.records.begin(log);
    }

    pub fn logs_sign_ins(&self) -> bool {
        self.inner.records.is_on()
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }
}

impl Inner {
    fn dispatch(&self, session: SessionId, request: Request, now: Timestamp) {
        let context = match self.admit(session, &request, now) {
            Ok(context) => context,
            Err(Refusal::NoSession) => return self.sessions.bye(session.handle, Refusal::NoSession),
            Err(refusal) => return self.sessions.refuse(session.handle, request.answer_to(), refusal),
        };
        match request.command {
            Command::Account(command) => self.account.carry_out(context, command),
            Command::Calls(command) => self.calls.carry_out(context, command),
            Command::Contacts(command) => self.contacts.carry_out(context, command),
            Command::Messages(command) => self.messages.carry_out(context, command),
            Command::Moderation(command) => self.moderation.carry_out(context, command),
            Command::Notifications(command) => self.notifications.carry_out(context, command),
            Command::Presence(command) => self.presences.carry_out(context, command),
            Command::Rooms(command) => self.rooms.carry_out(context, command),
            Command::SignIn(command) => self.sign_in.carry_out(context, command),
        }
    }
}

impl SessionObserver for Inner {
    fn session_gone(self: Arc<Self>, session: SessionId, on_purpose: bool, now: Timestamp) {
        self.presences.forget_watches(session.handle);
        self.calls.call_lost(session, on_purpose, now);
    }

    fn user_left(self: Arc<Self>, user: UserId, chosen: SetPresence, now: Timestamp) {
        self.presences.remember_leaving(user, chosen, now);
    }
}

impl BlockObserver for Inner {
    fn blocked(self: Arc<Self>, user: UserId, other: UserId, is_new: bool) {
        if is_new {
            self.calls.blocked_in_group(user, other);
            self.rooms.decline_requests_of_blocked(user, other);
        }
        self.rooms.leave_rooms_of_blocked(user, other);
    }
}

impl AdoptionObserver for Inner {
    fn carry_out(self: Arc<Self>, session: SessionId, request: Request, now: Timestamp) {
        self.dispatch(session, request, now);
    }
}

impl ActObserver for Inner {
    fn member_changed(self: Arc<Self>, room: ConversationId, changed: MemberChanged) {
        self.rooms.tell_member(room, changed);
    }

    fn message_changed(self: Arc<Self>, by: Sub, changed: ChangedMessage) {
        self.messages.tell_changed(by, changed);
    }

    fn send_held(self: Arc<Self>, site: SiteId, by: By, report: u64, now: Timestamp, sent: Sent) {
        self.messages.send_held_of_report(site, by, report, now, sent);
    }
}

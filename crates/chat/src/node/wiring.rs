//! The wiring: the dependencies of the parts, and the observers through which a lower part notifies a higher
//! one.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, Weak};

use crate::account::Account;
use crate::calls::Calls;
use crate::contacts::{BlockObserver, Contacts};
use crate::import::Import;
use crate::messages::Messages;
use crate::moderation::{ActObserver, Moderation, Sent};
use crate::node::Inner;
use crate::notifications::Notifications;
use crate::presence::Presences;
use crate::rng::Rng;
use crate::rooms::Rooms;
use crate::session::admission::Admission;
use crate::session::request_limits::RequestLimits;
use crate::session::{SessionObserver, Sessions};
use crate::sign_in::SignIn;
use crate::sign_in::adopt::AdoptionObserver;
use crate::sign_in::log::SignInRecords;
use crate::site::live::Sites;
use crate::site::tokens::Tokens;
use crate::stats::Counters;
use crate::users::Users;
use crate::{
    By, ChangedMessage, ConversationId, MemberChanged, Node, NodeConfig, Outbox, Request, SessionId,
    SetPresence, SiteId, SiteRole, Store, Sub, Timestamp, UserId, UserRow,
};

impl Node {
    /// Reads the sites from the store; if that fails, the first successful
    /// [`refresh_sites`](Self::refresh_sites) does. `rng_seed` makes guests' names, invitation codes, and the
    /// times at which clients reconnect after [`goodbye`](Self::goodbye). It must be unpredictable.
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
            config.clone(),
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
            rooms.clone(),
            calls.clone(),
            moderation.clone(),
            notifications.clone(),
            presences.clone(),
            users.clone(),
            sessions.clone(),
            tokens,
            records.clone(),
            admission.clone(),
            requests.clone(),
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
}

impl SessionObserver for Inner {
    fn session_gone(self: Arc<Self>, session: SessionId, on_purpose: bool, now: Timestamp) {
        self.presences.forget_watches(session.handle);
        self.rooms.session_gone(session);
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
        self.rooms.publish_to_member(room, changed);
    }

    fn site_role_changed(self: Arc<Self>, user: UserId, role: SiteRole) {
        self.rooms.occupant_has_site_role(user, role);
    }

    fn message_changed(self: Arc<Self>, by: Sub, changed: ChangedMessage) {
        self.messages.publish_changed(by, changed);
    }

    fn picture_removed(self: Arc<Self>, row: UserRow, list: Box<str>) {
        self.account.picture_removed(&row, list);
    }

    fn send_held(self: Arc<Self>, site: SiteId, by: By, report: u64, now: Timestamp, sent: Sent) {
        self.messages.send_held_of_report(site, by, report, now, sent);
    }
}

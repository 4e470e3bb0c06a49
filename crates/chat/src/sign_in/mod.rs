//! From hello to welcome: the checks of a sign-in, and the start and the end of sessions.

pub(crate) mod adopt;
mod app_passwords;
mod caller;
mod command;
mod guesses;
pub(crate) mod guests;
mod ice;
mod identify;
mod key_end;
pub(crate) mod log;
mod pass;
mod remote;
mod resume;
pub(crate) mod store;

use crate::session::Event;
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

pub use command::{Command, Credential, Hello};

use crate::account::Account;
use crate::account::app_passwords::are_allowed;
use crate::account::devices::{self};
use crate::calls::Calls;
use crate::command::AnswerTo;
use crate::import::Import;
use crate::messages::Messages;
use crate::moderation::{Moderation, SiteState};
use crate::notifications::Notifications;
use crate::observer::Observer;
use crate::presence::Presences;
use crate::rng::Rng;
use crate::rooms::Rooms;
use crate::session::admission::{Admission, UnderWay};
use crate::session::request_limits::RequestLimits;
use crate::session::{
    Announced, Asker, Completion, ContactWatch, Hold, RESOURCE_BYTES, Session, Sessions, SignedInBy,
    StandingHere, State, device_fingerprint,
};
use crate::sign_in::adopt::{AdoptionObserver, Adoptions};
use crate::sign_in::guesses::Guesses;
use crate::sign_in::guests::GuestDoor;
use crate::sign_in::log::{SignInAttempt, SignInRecords};
use crate::sign_in::pass::Pass;
use crate::sign_in::remote::RemoteUsers;
use crate::sign_in::store::{AppPasswordUser, SignInStore};
use crate::site::live::{LiveSite, Sites};
use crate::site::settings::Access;
use crate::site::token::Ticket;
use crate::site::tokens::Tokens;
use crate::site::trust;
use crate::stats::Counters;
use crate::store::unavailable;
use crate::users::Users;
use crate::{
    Agent, Door, NodeConfig, Position, Refusal, SessionHandle, SessionId, SessionRecord, Site, SiteRole,
    Snapshot, Timestamp, UserId, UserRow, Welcome,
};
use rand::Rng as _;

/// A client that signs in.
struct Arrival {
    site: Arc<LiveSite>,
    pass: Pass,
    guest_token: Option<String>,
    handle: SessionHandle,
    device: u64,
    agent: Agent,
    announced: Option<Announced>,
    position: Option<Position>,
    address: Option<IpAddr>,
    now: Timestamp,
    /// The number of merged guests before the user was read.
    merges: u64,
    /// Set when the session is in the table.
    user: OnceLock<UserId>,
    under_way: UnderWay,
}

/// Sign-in: from hello to welcome, resuming after a lost connection, and the end of keys.
pub(crate) struct SignIn {
    guest_door: GuestDoor,
    remote_users: RemoteUsers,
    guesses: Guesses,
    adoptions: Adoptions,
    pub(crate) adoption_observer: Observer<dyn AdoptionObserver>,
    stopping: AtomicBool,
    account: Arc<Account>,
    import: Arc<Import>,
    messages: Arc<Messages>,
    rooms: Arc<Rooms>,
    calls: Arc<Calls>,
    moderation: Arc<Moderation>,
    notifications: Arc<Notifications>,
    presences: Arc<Presences>,
    users: Arc<Users>,
    sessions: Arc<Sessions>,
    tokens: Arc<Tokens>,
    records: Arc<SignInRecords>,
    admission: Arc<Admission>,
    requests: Arc<RequestLimits>,
    sites: Arc<Sites>,
    store: Arc<dyn SignInStore>,
    config: Arc<NodeConfig>,
    counters: Arc<Counters>,
    rng: Arc<Rng>,
}

impl SignIn {
    #[allow(clippy::too_many_arguments, reason = "one for each part that it depends on")]
    pub(crate) fn new(
        account: Arc<Account>,
        import: Arc<Import>,
        messages: Arc<Messages>,
        rooms: Arc<Rooms>,
        calls: Arc<Calls>,
        moderation: Arc<Moderation>,
        notifications: Arc<Notifications>,
        presences: Arc<Presences>,
        users: Arc<Users>,
        sessions: Arc<Sessions>,
        tokens: Arc<Tokens>,
        records: Arc<SignInRecords>,
        admission: Arc<Admission>,
        requests: Arc<RequestLimits>,
        sites: Arc<Sites>,
        store: Arc<dyn SignInStore>,
        config: Arc<NodeConfig>,
        counters: Arc<Counters>,
        rng: Arc<Rng>,
    ) -> SignIn {
        SignIn {
            guest_door: GuestDoor::default(),
            remote_users: RemoteUsers::default(),
            guesses: Guesses::default(),
            adoptions: Adoptions::default(),
            adoption_observer: Observer::new(),
            stopping: AtomicBool::new(false),
            account,
            import,
            messages,
            rooms,
            calls,
            moderation,
            notifications,
            presences,
            users,
            sessions,
            tokens,
            records,
            admission,
            requests,
            sites,
            store,
            config,
            counters,
            rng,
        }
    }
}

impl Completion for SignIn {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

impl Arrival {
    fn shown(&self) -> SignInAttempt<'_> {
        let (site, user) = (Some(&*self.site.site.key), Some(self.pass.sub().as_str()));
        SignInAttempt { door: self.pass.door(), site, user, address: self.address }
    }

    /// The token, on a site that keeps the devices of its members. App passwords have a list of their own.
    fn token_of_kept_device(&self) -> Option<&Ticket> {
        let keeps = self.site.site.settings.members.devices;
        self.pass.token().filter(|ticket| keeps && !ticket.profile.guest)
    }
}

impl SignIn {
    pub(crate) fn is_crowded(&self) -> bool {
        self.admission.is_crowded()
    }

    pub(crate) fn sign_in(self: &Arc<Self>, hello: &Hello<'_>, handle: SessionHandle, now: Timestamp) {
        let arrival = match self.check_hello(hello, handle, now) {
            Ok(arrival) => arrival,
            Err(refusal) => {
                let known = self.sites.by_key(&hello.site_key);
                let site = known.as_ref().map(|live| &*live.site.key);
                let door = hello.credential.door();
                let shown = SignInAttempt { door, site, user: None, address: hello.address };
                self.records.record_refused(shown, refusal, now);
                return self.sessions.bye(handle, refusal);
            }
        };
        let once = arrival.pass.token().and_then(|ticket| ticket.once.clone());
        let Some(jti) = once else { return self.enter(arrival) };
        let this = self.clone();
        self.tokens.use_token(arrival.site.site.id, &jti, arrival.pass.expires(), now, move |outcome| {
            match outcome {
                Ok(()) => this.enter(arrival),
                Err(refusal) => this.turn_away(&arrival, refusal),
            }
        });
    }

    fn turn_away(self: &Arc<Self>, arrival: &Arrival, refusal: Refusal) {
        self.records.record_refused(arrival.shown(), refusal, arrival.now);
        match refusal {
            Refusal::SiteClosed => self.moderation.bye_closed(arrival.handle, &arrival.site.site.settings),
            _ => self.sessions.bye(arrival.handle, refusal),
        }
    }

    fn check_hello(
        &self,
        hello: &Hello<'_>,
        handle: SessionHandle,
        now: Timestamp,
    ) -> Result<Arrival, Refusal> {
        if self.stopping.load(Ordering::Acquire) {
            return Err(Refusal::GoingAway { retry_after_ms: 1000 });
        }
        let site = self.sites.by_key(&hello.site_key).ok_or(Refusal::NoSuchSite)?;
        if hello.origin.as_deref().is_some_and(|origin| !site.allows_origin(origin)) {
            return Err(Refusal::BadOrigin);
        }
        if let Some(announced) = &hello.announced {
            let fits = announced.resource.len() <= RESOURCE_BYTES && !announced.resource.is_empty();
            fits.then_some(()).ok_or(Refusal::BadValue)?;
            announced.availability.as_ref().map_or(Ok(()), |availability| availability.check())?;
        }
        // Before all expensive work: see `session/admission.rs`.
        let under_way = self.admission.enter(now)?;
        let (pass, guest_token) = match &hello.credential {
            Credential::Token(token) => match self.tokens.check_token(&site, token, now)? {
                ticket if ticket.profile.guest => {
                    let (ticket, newer) = self.known_guest(&site.site, ticket, now);
                    (Pass::Token(Box::new(ticket)), newer)
                }
                ticket => (Pass::Token(Box::new(ticket)), None),
            },
            Credential::Guest => {
                let (ticket, token) = self.new_guest(&site.site, hello.address, now)?;
                (Pass::Token(Box::new(ticket)), token)
            }
            Credential::AppPassword { sub, number } => {
                are_allowed(&site.site.settings)?;
                (Pass::AppPassword { sub: sub.clone(), number: *number }, None)
            }
            Credential::Remote { sub, is_known } => {
                (Pass::Remote(self.remote_user(&site.site, sub, *is_known, now)?), None)
            }
        };
        if site.counters.is_full(self.config.limits.sessions_per_site) {
            return Err(Refusal::Full);
        }
        Ok(Arrival {
            site,
            pass,
            guest_token,
            handle,
            device: device_fingerprint(&hello.device),
            agent: hello.agent,
            announced: hello.announced.clone(),
            position: hello.position,
            address: hello.address,
            now,
            merges: self.account.merge_count(),
            user: OnceLock::new(),
            under_way,
        })
    }

    /// On sites that keep devices, a signed-out device needs a newer token.
    fn enter(self: &Arc<Self>, arrival: Arrival) {
        let Some(ticket) = arrival.token_of_kept_device() else { return self.let_in(arrival) };
        let (site, user, device) = (arrival.site.site.id, ticket.profile.sub.clone(), arrival.device);
        let done = self.then(move |this, signed_out| {
            let may_return = |signed_out| {
                arrival.token_of_kept_device().is_none_or(|ticket| devices::may_return(signed_out, ticket))
            };
            match signed_out {
                Ok(Some(signed_out)) if !may_return(signed_out) => {
                    this.turn_away(&arrival, Refusal::SignedOut);
                }
                Ok(_) => this.let_in(arrival),
                Err(error) => this.turn_away(&arrival, unavailable(error)),
            }
        });
        self.store.signed_out(site, user, device, done);
    }

    fn let_in(self: &Arc<Self>, arrival: Arrival) {
        let announced = arrival.announced.is_some();
        let from = self.first_from(arrival.site.site.id, arrival.position, announced);
        let since = self.users.recent().generation();
        let (site, now) = (arrival.site.site.id, arrival.now);
        let arrival = Arc::new(arrival);
        let (registrar, registered) = (self.clone(), arrival.clone());
        let met = move |row: &UserRow| match registrar.register(&registered, row) {
            Ok(()) => true,
            Err(Refusal::Banned) => {
                registrar.records.record_refused(registered.shown(), Refusal::Banned, registered.now);
                registrar.moderation.refuse_banned(registered.handle, row.id);
                false
            }
            Err(refusal) => {
                registrar.turn_away(&registered, refusal);
                false
            }
        };
        let (this, signing_in) = (self.clone(), arrival.clone());
        let entered = move |outcome: Result<(UserRow, Snapshot), Refusal>| match outcome {
            Ok((row, snapshot)) => {
                if snapshot.reset && snapshot.contacts.next.is_none() && from.contacts > 0 {
                    this.users.keep_contacts(row.id, &snapshot.contacts.rows, since);
                }
                this.welcome(&signing_in, row, snapshot);
            }
            Err(refusal) => {
                if let Some(&user) = signing_in.user.get() {
                    this.sessions.remove_session(SessionId { user, handle: signing_in.handle }, true, now);
                }
                this.turn_away(&signing_in, refusal);
            }
        };
        match &arrival.pass {
            Pass::Token(ticket) => {
                let done = Box::new(move |outcome: Result<_, _>| entered(outcome.map_err(unavailable)));
                self.store.sign_in(site, ticket.user(), from, now, Box::new(met), done);
            }
            Pass::Remote(profile) => {
                let done = Box::new(move |outcome: Result<_, _>| entered(outcome.map_err(unavailable)));
                self.store.sign_in(site, profile.clone().into(), from, now, Box::new(met), done);
            }
            Pass::AppPassword { sub, number } => {
                let done = Box::new(move |outcome: Result<Option<_>, _>| {
                    entered(outcome.map_err(unavailable).and_then(|found| found.ok_or(Refusal::SignedOut)));
                });
                let user = AppPasswordUser { site, sub: sub.clone(), number: *number };
                self.store.sign_in_with_app_password(user, from, now, Box::new(met), done);
            }
        }
    }

    /// Adds the session to the table, before its snapshot is taken. Notifies the sessions that it replaces.
    fn register(self: &Arc<Self>, arrival: &Arrival, row: &UserRow) -> Result<(), Refusal> {
        arrival.pass.opens(row)?;
        let standing = self.may_enter(&arrival.site, row, arrival.device, arrival.now)?;
        let limits = &self.config.limits;
        if row.created == arrival.now {
            self.moderation.newcomer(&arrival.site, arrival.now);
        }
        let mut shard = self.sessions.lock(row.id);
        // The row may be from before this guest became a member. `end_guest` counts first, and then locks
        // this shard.
        if row.profile.guest && self.account.merge_count() != arrival.merges {
            drop(shard);
            arrival.site.counters.leave();
            return Err(Refusal::Unavailable);
        }
        let replaced = shard.begin(row, standing, self.new_session(arrival), limits.sessions_per_user);
        if let Some(announced) = arrival.announced.clone() {
            shard.announce(row.id, arrival.handle, announced);
        }
        let is_first = shard.user(row.id).is_some_and(|user| user.sessions.len() == 1) && replaced.is_empty();
        drop(shard);
        let Site { settings, created, .. } = &arrival.site.site;
        self.moderation.look_at_trust(settings, *created, row, arrival.now);
        // Cannot be set already: each arrival is registered once.
        let _ = arrival.user.set(row.id);
        self.counters.sessions.add(1);
        self.counters.users_online.add(is_first.into());
        for handle in replaced {
            self.sessions.session_is_gone(SessionId { user: row.id, handle }, false, arrival.now);
            self.sessions.bye(handle, Refusal::Replaced);
        }
        // The key may have ended during this sign-in, before its sessions were searched: this session is
        // checked now.
        if self.key_is_over(&arrival.site, arrival.pass.kid(), arrival.now) {
            let session = SessionId { user: row.id, handle: arrival.handle };
            self.sessions.end_session(session, Refusal::KeyEnded, arrival.now);
        }
        if self.app_password_is_over(arrival) {
            let session = SessionId { user: row.id, handle: arrival.handle };
            self.sessions.end_session(session, Refusal::NotAllowed, arrival.now);
        }
        Ok(())
    }

    /// Whether the user may enter the site now, with this device. If so, counts one more session of the site.
    fn may_enter(
        self: &Arc<Self>,
        live: &LiveSite,
        row: &UserRow,
        device: u64,
        now: Timestamp,
    ) -> Result<StandingHere, Refusal> {
        if row.banned {
            self.moderation.banned_from(row.id, device, now);
            return Err(Refusal::Banned);
        }
        let role = row.on_site.role;
        if self.moderation.has_device_ban(row.id.site, device, now) && role < SiteRole::Moderator {
            return Err(Refusal::DeviceBanned);
        }
        let Site { settings, created, .. } = &live.site;
        if settings.access == Access::Closed && role < SiteRole::Moderator {
            return Err(Refusal::SiteClosed);
        }
        if !live.counters.enter(self.config.limits.sessions_per_site) {
            return Err(Refusal::Full);
        }
        self.users.recent().user_is(row);
        let known = self.moderation.standing_at_sign_in(settings, *created, row, now);
        let recent = trust::is_recent(&settings.trust, row.created, now);
        Ok(StandingHere::new(known, recent))
    }

    fn new_session(&self, arrival: &Arrival) -> Session {
        Session {
            handle: arrival.handle,
            device: arrival.device,
            since: 0,
            by: arrival.pass.signed_in_by(&arrival.site, |ticket| self.session_end(ticket)),
            state: State::Starting,
            contacts: ContactWatch::No,
            is_waiting: false,
        }
    }

    /// The session ends when a new sign-in with the token would be refused: after its expiry plus the clock
    /// skew, and not after the end of its key.
    fn session_end(&self, ticket: &Ticket) -> u32 {
        let end = ticket.expires.0 + self.config.clock_skew_ms;
        let second = ticket.key_ends.map_or(end, |key| key.0.min(end)).div_ceil(1000);
        u32::try_from(second).unwrap_or(u32::MAX)
    }

    fn welcome(self: &Arc<Self>, arrival: &Arc<Arrival>, row: UserRow, snapshot: Snapshot) {
        self.note_ahead(arrival.position, &snapshot);
        let (this, arrival) = (self.clone(), arrival.clone());
        let (mode, waiting) = (arrival.site.site.mode, snapshot.waiting);
        let calls = arrival.site.site.settings.calls.from.unwrap_or(self.config.calls.from);
        self.with_changes(mode, row.id, snapshot, move |changes| {
            let session = SessionId { user: row.id, handle: arrival.handle };
            let Some(presence) = this.settle(session, Hold::default(), changes.position) else { return };
            let role = row.on_site.role;
            let welcome = Welcome {
                session,
                me: crate::users::person(&row, None),
                presence,
                guest_token: arrival.guest_token.clone(),
                open: mode == crate::Mode::Open,
                role,
                site: SiteState::of(&arrival.site.site.settings, role),
                calls,
                limits: this.config.limits,
                expires: arrival.pass.expires(),
                record: SessionRecord {
                    session,
                    device: arrival.device,
                    seen: changes.position,
                    ends: Timestamp(u64::from(this.new_session(&arrival).by.ends()) * 1000),
                    key: arrival.pass.kid().into(),
                    app_password: arrival.pass.app_password(),
                    watches_contacts: false,
                    announced: arrival.announced.clone(),
                    watched: Vec::new(),
                    is_behind: false,
                    has_entered: false,
                },
                changes,
                waiting,
            };
            this.counters.sign_ins.add(1);
            this.records.record_sign_in(arrival.shown(), arrival.now);
            arrival.under_way.is_done();
            if let Some(ticket) = arrival.token_of_kept_device() {
                let Arrival { device, agent, now, .. } = *arrival;
                this.account.remember_device(row.id, device, agent, ticket.expires, now);
            }
            if let Pass::AppPassword { sub, .. } = &arrival.pass {
                this.guesses.succeeded(row.id.site, sub, arrival.address, arrival.now);
            }
            if let Some(mail) = arrival.pass.mail() {
                this.notifications.mail_address(row.id, mail.clone());
            }
            this.sessions.send(session.handle, Event::Welcome(Box::new(welcome)));
            this.release(session);
            this.calls.ring_late(session, arrival.now);
            if row.on_site.noticed {
                this.moderation.send_notices(session);
                this.messages.deliver_held(session);
            }
            // A fast client may have sent `watch` before.
            this.presences.answer_watched(mode, session);
        });
    }

    /// Replaces the token of a session by a newer one of the same user.
    pub(crate) fn renew_token(self: &Arc<Self>, asker: Asker, re: u64, token: &str, now: Timestamp) {
        let ticket = self.tokens.check_token(&asker.site, token, now).and_then(|ticket| {
            let same = ticket.profile.sub == asker.sub && ticket.profile.guest == asker.guest;
            same.then_some(ticket).ok_or(Refusal::BadToken)
        });
        let ticket = match ticket {
            Ok(ticket) => ticket,
            Err(refusal) => return self.refuse_renewal(&asker, re, refusal, now),
        };
        let Some(jti) = ticket.once.clone() else { return self.renewed(&asker, re, &ticket, now) };
        let this = self.clone();
        self.tokens.use_token(asker.site.site.id, &jti, ticket.expires, now, move |outcome| match outcome {
            Ok(()) => this.renewed(&asker, re, &ticket, now),
            Err(refusal) => this.refuse_renewal(&asker, re, refusal, now),
        });
    }

    /// Records the user of the session. A session does not keep its address.
    fn refuse_renewal(&self, asker: &Asker, re: u64, refusal: Refusal, now: Timestamp) {
        let (site, user) = (Some(&*asker.site.site.key), Some(asker.sub.as_str()));
        self.records.record_refused(
            SignInAttempt { door: Door::Renewal, site, user, address: None },
            refusal,
            now,
        );
        self.sessions.refuse(asker.session.handle, AnswerTo::Request(re), refusal);
    }

    fn renewed(self: &Arc<Self>, asker: &Asker, re: u64, ticket: &Ticket, now: Timestamp) {
        let SessionId { user, handle } = asker.session;
        let ends = self.session_end(ticket);
        let mut shard = self.sessions.lock(user);
        let Some(session) = shard.session(user, handle) else { return };
        // A session of an app password has no token to renew.
        if session.by.password().is_some() {
            drop(shard);
            return self.refuse_renewal(asker, re, Refusal::NotAllowed, now);
        }
        if ends >= session.by.ends() {
            session.by = SignedInBy::token(ends, asker.site.slot_of(&ticket.kid));
        }
        drop(shard);
        if self.key_is_over(&asker.site, &ticket.kid, now) {
            return self.sessions.end_session(asker.session, Refusal::KeyEnded, now);
        }
        self.sessions.answer(handle, re, Event::TokenOk { expires: ticket.expires });
        let done = self.then(move |this, outcome| {
            if let Ok(row) = outcome {
                this.moderation.standing_changed(&row);
            }
        });
        self.store.renew_user(user.site, ticket.user(), now, done);
    }

    pub(crate) fn disconnected(self: &Arc<Self>, session: SessionId, on_purpose: bool, now: Timestamp) {
        self.sessions.remove_session(session, on_purpose, now);
    }

    /// A gateway has dropped the queue of this session.
    pub(crate) fn behind(&self, session: SessionId) {
        if self.sessions.lock(session.user).fall_behind(session.user, session.handle) {
            self.counters.behind.add(1);
        }
    }

    /// Refuses all sign-ins from now on.
    fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    pub(crate) fn goodbye(self: &Arc<Self>, spread_ms: u32) {
        self.stop();
        let personal = || {
            let mut rng = self.rng.lock();
            Refusal::GoingAway { retry_after_ms: rng.random_range(0..=spread_ms) }
        };
        self.sessions.end_all(|_| true, personal);
    }
}

//! A running node's domain: what gateways call.
//!
//! # Locks
//!
//! Shared tables, each behind short locks of its own; **no two are held at once, and none while the store or
//! an outbox is called**, but for what is said below:
//!
//! | table | file | sharded by | kept |
//! |---|---|---|---|
//! | users here, their sessions, held events | `session/mod.rs` | user | while here |
//! | presence that waits for the next round | `presence/mod.rs` | –; under the lock of a user's shard | bounded |
//! | the same as one bit each | `presence/roll.rs` | site; under the lock of a user's shard | always |
//! | who watches whom | `presence/watch.rs` | session, then watched user: these two may be held together | while watching |
//! | contact changes under way | `contacts/mod.rs` | – | while under way |
//! | sites | `site/live.rs` | – | always; over its table, the lock of those who change it |
//! | recent users, relations, contact lists | `users/cache.rs` | key | while asked for, bounded |
//! | calls, those of rooms too, and who is in which | `calls/table.rs` | site; over the lock of a user's shard, and while their events are handed to the outbox | while they last, bounded |
//! | new guests by address | `sign_in/guests.rs` | – | bounded |
//! | requests by user, address and site | `session/request_limits.rs` | – | bounded |
//! | logins and messages under way, their pace | `session/admission.rs` | – | always |
//! | when the next sanction ends | `moderation/notices.rs` | – | always |
//! | banned devices | `moderation/device_bans.rs` | – | always |
//! | randomness | `node/mod.rs` | – | always |
//! | notices that wait, and those that were shown | `notifications/queue.rs` | – | bounded |
//! | reactions and votes of large rooms that wait to be published | `messages/gather.rs` | – | bounded |
//! | joins and leaves of rooms that wait to be told | `rooms/joins.rs` | – | bounded |
//! | import floors, and who waits for a publication | `import/live.rs` | – | a number per site; bounded |
//! | bytes of whole messages by room | `messages/whole_messages.rs` | – | bounded |
//! | *telling* | `session/delivery.rs` | – | – |
//!
//! *Telling* is the exception: it is no table, it is held while an event that has a position is planned (which
//! locks a user's shard) and handed to the outbox (which does not block), so that a resume can wait for it.
//!
//! Stored changes are delivered inside the store's completion, which comes in commit order on one thread: that alone
//! makes a [`Position`] truthful.

mod admit;
pub(crate) mod callers;
mod published;

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use rand::{SeedableRng, rngs::StdRng};

use crate::account::erasure::Erasing;
use crate::account::guest_merge::Merges;
use crate::calls::Calls;
use crate::command::AnswerTo;
use crate::contacts::PairsBusy;
use crate::import::Importing;
use crate::messages::gather::Gathered;
use crate::messages::link_previews::PreviewerSlot;
use crate::messages::retention::Retaining;
use crate::messages::send::Draft;
use crate::messages::whole_messages::WholeMessages;
use crate::moderation::{DeviceBans, SiteRole};
use crate::node::admit::Admitted;
use crate::notifications::Desk;
use crate::presence::watch::Watches;
use crate::presence::{NewsDesk, Round};
use crate::rooms::{Joins, NewRoomOf};
use crate::session::UsersHere;
use crate::session::admission::Admission;
use crate::session::request_limits::RequestLimits;
use crate::sign_in::guests::GuestDoor;
use crate::site::live::{LiveSite, Sites};
use crate::stats::Counters;
use crate::users::cache::Recent;
use crate::users::peer::Job;
use crate::users::privacy::Visibility;
use crate::{
    CallConfig, CallId, Command, Event, FilterAct, Hello, Ice, Level, Mailer, MemberList, Notifier, Refusal,
    RequestRates, RoomLimits, SessionHandle, SessionId, SignInLog, SiteId, Stats, Store, StoreError, Sub,
    Timestamp, To, UserId,
};
#[cfg(doc)]
use crate::{Position, Welcome};

/// The way back to sessions. Called from any thread, often inside the store's commit thread: must not
/// block nor call back into the node, and must keep the order of calls for each session.
pub trait Outbox: Send + Sync + 'static {
    fn deliver(&self, to: SessionHandle, event: Event);
    /// Delivers one event to many sessions; a gateway encodes it once.
    fn deliver_all(&self, to: &[SessionHandle], event: Event) {
        for &handle in to {
            self.deliver(handle, event.clone());
        }
    }
    /// Each session hears those of the events that are named beside it; a gateway encodes each once. What one session hears
    /// lies side by side.
    fn deliver_each(&self, to: &[(SessionHandle, usize)], events: Vec<Event>) {
        for &(handle, at) in to {
            self.deliver(handle, events[at].clone());
        }
    }
}

/// Settings of a node.
#[derive(Debug, Clone)]
pub struct NodeConfig {
    pub limits: Limits,
    /// How long a user stays visible after the last session has dropped without `bye`.
    pub presence_grace_ms: u64,
    /// Changes of presence are collected so long and told once.
    pub presence_coalesce_ms: u64,
    pub clock_skew_ms: u64,
    pub calls: CallConfig,
}

/// Limits for clients; the welcome has them. Guests get a quarter of the two rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub body_bytes: u32,
    pub page: u32,
    pub watch: u32,
    pub contacts: u32,
    /// One more replaces the oldest, so that a forgotten browser never locks its owner out. 0: no limit.
    pub sessions_per_user: u32,
    /// One more is refused as [`Refusal::Full`]. 0: no limit.
    pub sessions_per_site: u32,
    /// Messages: so many at once, then so many per minute. 0: no limit.
    pub send_burst: u32,
    pub send_per_minute: u32,
    /// All other commands likewise.
    pub command_burst: u32,
    pub command_per_minute: u32,
    /// All messages of one site, per second. 0: no limit.
    pub site_sends_per_second: u32,
    /// New guests from one address: so many at once, then so many per minute. 0: no limit.
    pub guest_burst: u32,
    pub guest_per_minute: u32,
    pub requests: RequestRates,
    pub rooms: RoomLimits,
}

/// How much slower guests are.
pub(crate) const GUEST_SHARE: u32 = 4;

/// The domain of one running node; shared by all workers and the tokio side.
pub struct Node {
    inner: Arc<Inner>,
}

/// State that completions share. Each feature's file adds its part.
pub(crate) struct Inner {
    pub(crate) config: NodeConfig,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) outbox: Arc<dyn Outbox>,
    pub(crate) sites: Sites,
    pub(crate) here: UsersHere,
    pub(crate) watches: Watches,
    pub(crate) news: NewsDesk,
    pub(crate) recent: Recent,
    pub(crate) pairs_busy: PairsBusy,
    pub(crate) calls: Calls,
    pub(crate) guest_door: GuestDoor,
    pub(crate) merges: Merges,
    pub(crate) requests: RequestLimits,
    pub(crate) desk: Desk,
    pub(crate) gathered: Gathered,
    pub(crate) joins: Joins,
    pub(crate) whole_messages: WholeMessages,
    pub(crate) erasing: Erasing,
    pub(crate) retaining: Retaining,
    pub(crate) importing: Importing,
    pub(crate) previewer: PreviewerSlot,
    pub(crate) sign_in_log: OnceLock<Arc<dyn SignInLog>>,
    pub(crate) admission: Arc<Admission>,
    /// Admission of messages.
    pub(crate) posting: Arc<Admission>,
    pub(crate) counters: Counters,
    /// See `session/delivery.rs`.
    pub(crate) telling: Mutex<()>,
    pub(crate) rng: Mutex<StdRng>,
    pub(crate) stopping: AtomicBool,
    /// The store's revision that the tables are of.
    revision: AtomicU64,
    /// One tick at a time.
    ticking: Mutex<Round>,
    /// The time, for what happens between ticks and brings none.
    last_tick: AtomicU64,
    /// No sanction ends before.
    pub(crate) next_end: AtomicU64,
    pub(crate) device_bans: DeviceBans,
}

/// The author of a command, with everything that commands need of the session.
#[derive(Clone)]
pub(crate) struct Asker {
    pub(crate) session: SessionId,
    pub(crate) sub: Sub,
    pub(crate) guest: bool,
    pub(crate) role: SiteRole,
    pub(crate) level: Level,
    /// So new that raid mode means them.
    pub(crate) recent: bool,
    pub(crate) shadowed: bool,
    /// The user's choices about being seen.
    pub(crate) visibility: Visibility,
    pub(crate) site: Arc<LiveSite>,
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
        let requests = RequestLimits::new(config.limits.requests);
        let inner = Arc::new(Inner {
            config,
            store,
            outbox,
            sites: Sites::default(),
            here: UsersHere::new(),
            watches: Watches::new(),
            news: NewsDesk::default(),
            recent: Recent::new(),
            pairs_busy: PairsBusy::default(),
            calls: Calls::new(),
            guest_door: GuestDoor::default(),
            merges: Merges::default(),
            requests,
            desk: Desk::new(),
            gathered: Gathered::default(),
            joins: Joins::default(),
            whole_messages: WholeMessages::default(),
            erasing: Erasing::default(),
            retaining: Retaining::default(),
            importing: Importing::default(),
            previewer: PreviewerSlot::new(),
            sign_in_log: OnceLock::new(),
            admission: Arc::new(Admission::of_logins()),
            posting: Arc::new(Admission::of_messages()),
            counters: Counters::default(),
            telling: Mutex::new(()),
            rng: Mutex::new(StdRng::from_seed(rng_seed)),
            stopping: AtomicBool::new(false),
            revision: AtomicU64::new(u64::MAX),
            ticking: Mutex::default(),
            last_tick: AtomicU64::new(0),
            next_end: AtomicU64::new(u64::MAX),
            device_bans: DeviceBans::default(),
        });
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
        self.inner.sign_in(&hello, handle, now);
    }

    /// Carries out a command of a signed-in session; answers come as events. A session that the node does
    /// not have (any more) gets `Event::Bye`.
    pub fn command(&self, session: SessionId, command: Command, now: Timestamp) {
        let inner = &self.inner;
        let Admitted { asker, is_waiting, verdict } = match inner.admit(session, &command, now) {
            Ok(admitted) => admitted,
            Err(Refusal::NoSession) => return inner.bye(session.handle, Refusal::NoSession),
            Err(refusal) => return inner.refuse(session.handle, command.answer_to(), refusal),
        };
        let site = session.user.site;
        // Messages are reported where they are sent, because a report names their place.
        let flagged = match verdict {
            Some(FilterAct::Flag) if !command.is_send() => asker.flagged_texts(&command.published()),
            _ => None,
        };
        match command {
            Command::Send { client_id, to, body, reply_to, files, rich } => {
                let under_way = match inner.posting.enter(now) {
                    Ok(under_way) => under_way,
                    Err(refusal) => {
                        return inner.refuse(session.handle, AnswerTo::Message(client_id), refusal);
                    }
                };
                let draft = Draft { client_id, body, reply_to, files, rich, under_way, verdict };
                match to.room(site) {
                    Ok(room) => inner.post(&asker, room, draft, now),
                    Err(to) => inner.for_peer(asker, is_waiting, to, Job::Send(draft), now),
                }
            }
            Command::Forward { client_id, to, conversation, seq } => match inner.posting.enter(now) {
                Ok(under_way) => {
                    let from = (conversation, seq);
                    inner.forward(asker, client_id, to, from, under_way, now);
                }
                Err(refusal) => inner.refuse(session.handle, AnswerTo::Message(client_id), refusal),
            },
            Command::Sticker(wanted) => match inner.posting.enter(now) {
                Ok(under_way) => inner.send_sticker(asker, wanted, under_way, now),
                Err(refusal) => inner.refuse(session.handle, AnswerTo::Message(wanted.client_id), refusal),
            },
            Command::Stickers { re } => inner.list_stickers(&asker, re),
            Command::Marker { conversation, set } if conversation.is_room() => {
                inner.mark_room(&asker, conversation, set);
            }
            Command::Marker { conversation, set } => {
                inner.for_peer(asker, is_waiting, To::Conversation(conversation), Job::Mark(set), now);
            }
            Command::Typing { to: To::Conversation(room), on } if room.is_room() => {
                inner.typing_in_room(&asker, room, on);
            }
            Command::Typing { to, on } => inner.for_peer(asker, is_waiting, to, Job::Typing(on), now),
            Command::Call { re, action } => inner.call(asker, is_waiting, re, action, now),
            Command::GroupCall { re, conversation, action } => {
                inner.group_call(asker, re, conversation, action, now);
            }
            Command::SetPresence(set) => inner.set_presence(&asker, set, now),
            Command::Watch { contacts, users } => inner.watch(asker, contacts, users),
            Command::Contact { re, action, user } => inner.change_contact(asker, re, action, user, now),
            Command::Contacts { re, page } => inner.list_contacts(asker, re, page),
            Command::People { re, query, page } => {
                if inner.may_read_far(&asker, re, now) {
                    inner.list_people(asker, re, query, page);
                }
            }
            Command::Profiles { re, users } => inner.profiles(asker, re, users),
            Command::Profile { re, user } => inner.profile(asker, re, user, now),
            Command::ChangeProfile { re, change } => inner.change_profile(asker, re, *change, flagged, now),
            Command::Conversations { re, list, page } => inner.list_conversations(asker, re, list, page),
            Command::Conversation { re, conversation, change } if conversation.is_room() => {
                inner.change_view(session, re, conversation, None, change);
            }
            Command::Conversation { re, conversation, change } => {
                let job = Job::Change { re, change };
                inner.for_peer(asker, is_waiting, To::Conversation(conversation), job, now);
            }
            Command::Search { re, query, conversation, page } => {
                if inner.may_read_far(&asker, re, now) {
                    inner.search(&asker, re, &query, conversation, page);
                }
            }
            Command::ChangeMessage { re, conversation, seq, change } if conversation.is_room() => {
                inner.change_message_in_room(&asker, re, conversation, seq, change, now);
            }
            Command::ChangeMessage { re, conversation, seq, change } => {
                let job = Job::ChangeMessage { re, seq, change };
                inner.for_peer(asker, is_waiting, To::Conversation(conversation), job, now);
            }
            Command::Pins { re, conversation } => inner.pins(&asker, re, conversation),
            Command::History { re, to, before, after, thread: Some(root), limit } => match to {
                To::Conversation(room) if room.is_room() => {
                    inner.thread_history(&asker, re, room, root, before, after, limit);
                }
                _ => inner.refuse(session.handle, AnswerTo::Request(re), Refusal::BadValue),
            },
            Command::History { re, to, before, after, thread: None, limit } => match to.room(site) {
                Ok(room) => inner.room_history(&asker, re, room, [before, after], limit),
                Err(to) => {
                    let job = Job::History { re, before, after, limit };
                    inner.for_peer(asker, is_waiting, to, job, now);
                }
            },
            Command::HistorySince { re, to, time, limit } => match to.room(site) {
                Ok(crate::RoomName::Id(room)) => inner.history_since(session, re, room, time, limit),
                Ok(crate::RoomName::Page(..)) => {
                    inner.refuse(session.handle, AnswerTo::Request(re), Refusal::BadValue);
                }
                Err(to) => {
                    let job = Job::HistorySince { re, time, limit };
                    inner.for_peer(asker, is_waiting, to, job, now);
                }
            },
            Command::Thread { re, conversation, root, change } => {
                inner.thread(&asker, re, conversation, root, change);
            }
            Command::Threads { re, conversation } => inner.threads(&asker, re, conversation),
            Command::CreateRoom { re, name, kind, topic } => {
                inner.create_room(&asker, re, NewRoomOf { name, kind, topic }, flagged, now);
            }
            Command::ChangeRoom { re, conversation, change } => {
                inner.change_room(&asker, re, conversation, change, flagged, now);
            }
            Command::Join { re, to } => match to.room(site) {
                Ok(room) => inner.join(&asker, re, room, now),
                Err(_) => inner.refuse(session.handle, AnswerTo::Request(re), Refusal::NoSuchConversation),
            },
            Command::Leave { re, conversation } => inner.leave(&asker, re, conversation),
            Command::Member { re, conversation, user, action } => {
                inner.change_member(asker, re, conversation, user, action, now);
            }
            Command::SanctionMember { re, conversation, user, sanction } => {
                inner.sanction_member(asker, re, conversation, user, sanction, now);
            }
            Command::Members { re, conversation, list: MemberList::Members, query, page } => {
                inner.list_members(asker, re, conversation, query, page);
            }
            Command::Members { re, conversation, list: MemberList::Sanctioned, query: _, page } => {
                inner.list_sanctioned(&asker, re, conversation, page, now);
            }
            Command::MakeLink { re, conversation, hours, uses } => {
                inner.make_link(&asker, re, conversation, hours, uses, now);
            }
            Command::Links { re, conversation } => inner.list_links(&asker, re, conversation, now),
            Command::TakeBackLink { re, conversation, code } => {
                inner.take_back_link(&asker, re, conversation, code, now);
            }
            Command::OpenLink { re, code } => inner.open_link(&asker, re, code, now),
            Command::JoinLink { re, code } => inner.join_link(&asker, re, code, now),
            Command::Rooms { re, query, page } => inner.list_rooms(&asker, re, query, page),
            Command::AnswerRequest { re, conversation, answer } if conversation.is_room() => {
                inner.answer_room_request(&asker, re, conversation, answer, now);
            }
            Command::AnswerRequest { re, conversation, answer } => {
                inner.answer_request(asker, re, conversation, answer);
            }
            Command::Report { re, of, reason, text } => inner.report(&asker, re, of, reason, text, now),
            Command::Reports { re, state, page } => inner.list_reports(&asker, re, state, page),
            Command::Moderate { re, act } => inner.moderate(&asker, re, act, now),
            Command::Audit { re, page } => inner.audit(&asker, re, page),
            Command::Notices { re, seen } => inner.notices(&asker, re, seen),
            Command::Settings { re } => inner.settings_for(&asker, re),
            Command::Configure { re, patch } => inner.configure(&asker, re, patch, now),
            Command::TestFilter { re, body } => inner.test_filter(&asker, re, &body, now),
            Command::Notifications { re, change } => inner.notifications(&asker, re, *change, now),
            Command::Devices { re } => inner.devices(&asker, re),
            Command::SignOut { re, device } => inner.sign_out(asker, re, device, now),
            Command::Export { re, page } => {
                if inner.may_read_far(&asker, re, now) {
                    inner.export(&asker, re, page);
                }
            }
            Command::RemoveAccount { re, messages } => inner.remove_account(&asker, re, messages, now),
            Command::Resume { re, position } => inner.resume(asker, re, position),
            Command::Token { re, token } => inner.renew_token(asker, re, &token, now),
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
        self.inner.calls.lock(user.site).by_user.get(&user) == Some(&call)
    }

    /// The session's connection is gone. `on_purpose`: the client said `bye`, presence ends at once.
    pub fn disconnected(&self, session: SessionId, on_purpose: bool, now: Timestamp) {
        self.inner.disconnected(session, on_purpose, now);
    }

    /// A gateway dropped this session's queue (it read too slowly). Until the client's `Resume`, the domain
    /// delivers nothing to it that has a position; answers to other requests still come.
    ///
    /// Events that were on their way when the queue was dropped may still arrive after this call; a gateway
    /// that passes them on would let the client's position jump over what was dropped. So it drops
    /// everything with a position until `Event::Changes`.
    pub fn behind(&self, session: SessionId) {
        if self.inner.here.lock(session.user).fall_behind(session.user, session.handle) {
            self.inner.counters.behind.add(1);
        }
    }

    /// A gateway dropped presence for this session because it read slowly, and it has caught up: it gets the presence
    /// of all watched users again.
    pub fn presence_missed(&self, session: SessionId) {
        if let Some(site) = self.inner.sites.by_id(session.user.site) {
            self.inner.answer_watched(site.site.mode, session);
        }
    }

    /// Runs timers: presence grace and coalescing, token expiry, unanswered calls, the age of caches. Call at least
    /// every 100 ms from one thread: the more often, the less work at once. It touches no disk.
    pub fn tick(&self, now: Timestamp) {
        let Ok(mut round) = self.inner.ticking.try_lock() else { return };
        self.inner.last_tick.store(now.0, Ordering::Relaxed);
        self.inner.recent.age(now);
        self.inner.end_grace(now);
        self.inner.end_tokens(now);
        self.inner.end_calls(now);
        self.inner.end_sanctions(now);
        self.inner.tell_who_is_away(now);
        self.inner.mail_who_is_due(now);
        self.inner.publish_gathered(now);
        self.inner.publish_joins(now);
        self.inner.erase_what_is_left(now);
        self.inner.trim_what_is_old(now);
        self.inner.publish_imports(now);
        self.inner.tell_due(&mut round, now);
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
        self.inner.recent.clear();
        self.inner.importing.take_over(&floors, self.inner.last_tick());
        self.inner.erasing.begin();
        for gone in self.inner.sites.replace(sites) {
            self.inner.end_site(gone);
        }
        self.inner.take_over_standings(&standings);
        self.inner.end_merged_guests()?;
        next_end.into_iter().for_each(|until| self.inner.ends_at(until));
        for user in banned {
            self.inner.end_banned(user);
        }
        self.inner.end_closed();
        self.inner.read_device_bans();
        for before in before {
            if let Some(after) = self.inner.sites.by_id(before.site.id) {
                self.inner.end_keys(&before, &after);
                self.inner.tell_site(&before, &after);
            }
        }
        // Last: where something above failed, the next call does it all again.
        self.inner.revision.store(revision, Ordering::Release);
        Ok(())
    }

    /// From now on, absent users get notices through this. Reads the users with a subscription from the store, and
    /// may block.
    pub fn notify_by(&self, notifier: Arc<dyn Notifier>) -> Result<(), StoreError> {
        let users = self.inner.store.push_users()?;
        users.into_iter().for_each(|user| self.inner.desk.reach(user));
        self.inner.desk.begin(notifier);
        Ok(())
    }

    /// From now on those who have missed something get a digest by way of this. Reads the store, and may block.
    pub fn mail_by(&self, mailer: Arc<dyn Mailer>) -> Result<(), StoreError> {
        let users = self.inner.store.mail_users()?;
        users.into_iter().for_each(|user| self.inner.desk.mail_may_be_due(user));
        self.inner.desk.begin_mail(mailer);
        Ok(())
    }

    /// A member wants no digests any more, and says so without being signed in; who may say it is the caller's to know.
    pub fn end_mail(&self, user: UserId) {
        let change = crate::NotifyChange { mail: Some(0), ..crate::NotifyChange::default() };
        self.inner.desk.mail_is_not_due(user);
        self.inner.store.change_notify_settings(user, change, Box::new(drop));
    }

    /// The site of this key, if it is here.
    pub fn site_id(&self, site_key: &str) -> Option<SiteId> {
        self.inner.sites.by_key(site_key).map(|live| live.site.id)
    }

    /// A push service says that there is no such browser any more.
    pub fn push_device_is_gone(&self, user: UserId, endpoint: &str) {
        // Where that fails, the service says it again.
        self.inner.forget_push_device(user, endpoint.into(), drop);
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
        self.inner.goodbye(spread_ms);
    }

    pub fn stats(&self) -> Stats {
        self.inner.counters.read(
            [self.inner.sites.count(), self.inner.sites.unreadable()],
            self.inner.calls.live() + self.inner.calls.groups(),
        )
    }
}

impl Node {
    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }
}

impl Inner {
    pub(crate) fn last_tick(&self) -> Timestamp {
        Timestamp(self.last_tick.load(Ordering::Relaxed))
    }

    pub(crate) fn refuse(&self, handle: SessionHandle, to: AnswerTo, refusal: Refusal) {
        self.counters.refused(refusal);
        let event = match to {
            AnswerTo::Message(client_id) => Event::SendRefused { client_id, refusal },
            AnswerTo::Request(re) => Event::Refused { re: Some(re), refusal },
            AnswerTo::Session => Event::Refused { re: None, refusal },
            AnswerTo::Nobody => return,
        };
        self.outbox.deliver(handle, event);
    }

    pub(crate) fn bye(&self, handle: SessionHandle, refusal: Refusal) {
        self.counters.refused(refusal);
        self.outbox.deliver(handle, Event::Bye(refusal));
    }
}

/// Storage failed: the client tries again later. What went wrong is the store's to log.
pub(crate) fn unavailable(_: StoreError) -> Refusal {
    Refusal::Unavailable
}

//! The sessions of this node, and the delivery of events to them.

pub(crate) mod admission;
mod announced;
mod asker;
mod completion;
mod context;
mod delivery;
mod ending;
mod event;
mod outbox;
pub(crate) mod publication;
pub(crate) mod record;
pub(crate) mod request_limits;
mod roll;
mod signed_in_by;
mod standing;
mod table;

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

pub(crate) use announced::OfAnnounced;
pub use announced::{
    AVAILABILITY_EXTENSION_BYTES, Announced, Availability, RESOURCE_BYTES, SESSION_STATUS_BYTES,
    SessionShown, Show, UserSessions,
};
pub(crate) use asker::Asker;
pub(crate) use completion::Completion;
pub(crate) use context::Context;
pub(crate) use ending::{SessionObserver, session_ids};
pub use event::Event;
pub use outbox::Outbox;
pub(crate) use roll::Roll;
pub(crate) use signed_in_by::SignedInBy;
pub(crate) use standing::StandingHere;
pub(crate) use table::{
    ContactWatch, Handles, Hold, NumberHasher, Released, SHARDS, Session, Shard, State, UserHere,
    WaitingCommand, Watching, device_fingerprint,
};

use crate::observer::Observer;
use crate::site::live::Sites;
use crate::stats::Counters;
use crate::{NodeConfig, SessionId, Timestamp, UserId};
use table::UsersHere;

/// The table of sessions, and the outbox to their gateways.
pub(crate) struct Sessions {
    table: UsersHere,
    outbox: Arc<dyn Outbox>,
    sites: Arc<Sites>,
    observer: Observer<dyn SessionObserver>,
    /// See `session/delivery.rs`.
    publishing: Mutex<()>,
    counters: Arc<Counters>,
    config: Arc<NodeConfig>,
    /// The time of the last tick, for code without a time of its own.
    last_tick: AtomicU64,
    /// The epoch of the store's positions; 0 before the first session.
    epoch: AtomicU32,
}

impl Sessions {
    pub(crate) fn new(
        config: Arc<NodeConfig>,
        outbox: Arc<dyn Outbox>,
        sites: Arc<Sites>,
        counters: Arc<Counters>,
    ) -> Sessions {
        Sessions {
            table: UsersHere::new(),
            outbox,
            sites,
            observer: Observer::new(),
            publishing: Mutex::new(()),
            counters,
            config,
            last_tick: AtomicU64::new(0),
            epoch: AtomicU32::new(0),
        }
    }

    /// Locks the shard of this user. Hold it for a few look-ups, and never two.
    #[inline]
    pub(crate) fn lock(&self, user: UserId) -> MutexGuard<'_, Shard> {
        self.table.lock(user)
    }

    /// All shards, one after the other.
    #[inline]
    pub(crate) fn each(&self) -> impl Iterator<Item = MutexGuard<'_, Shard>> {
        self.table.each()
    }

    #[inline]
    pub(crate) fn some(&self, shards: Range<usize>) -> impl Iterator<Item = MutexGuard<'_, Shard>> {
        self.table.some(shards)
    }

    /// The connected ones of these users, all of one site.
    #[inline]
    pub(crate) fn of(&self, users: &[UserId]) -> impl Iterator<Item = UserId> {
        self.table.of(users)
    }

    /// Whether each of these users, all of one site, is connected.
    #[inline]
    pub(crate) fn which(&self, users: impl Iterator<Item = UserId>) -> Vec<bool> {
        self.table.which(users)
    }

    pub(crate) fn tick(&self, now: Timestamp) {
        self.last_tick.store(now.0, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn last_tick(&self) -> Timestamp {
        Timestamp(self.last_tick.load(Ordering::Relaxed))
    }

    pub(crate) fn page_limit(&self, asked: Option<u32>) -> u32 {
        let most = self.config.limits.page.max(1);
        asked.unwrap_or(most).clamp(1, most)
    }

    /// The device of the session, if the site keeps devices.
    pub(crate) fn kept_device(&self, asker: &Asker) -> Option<u64> {
        if asker.keeps_devices() { self.devices_here(asker.session).0 } else { None }
    }

    pub(crate) fn devices_here(&self, asker: SessionId) -> (Option<u64>, Vec<u64>) {
        let mut shard = self.lock(asker.user);
        let this = shard.session(asker.user, asker.handle).map(|session| session.device);
        let here = shard.user(asker.user).map(|user| user.sessions.iter().map(|one| one.device).collect());
        (this, here.unwrap_or_default())
    }
}

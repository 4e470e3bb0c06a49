//! A front for all slots: one id, one list of sites, and a link with the home of each slot.
//!
//! The number of a site names its slot, so everything about a session goes to the [`Front`] of one slot. A sign-in names its site by the
//! key, which the homes publish.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chat::{
    CallId, CallServers, Hello, Outbox, PortNote, PortQuestion, PublishedSites, Refusal, RemoteNode, Request,
    SessionHandle, SessionId, SiteId, Slot, Timestamp, UserId,
};
use serde::{Deserialize, Serialize};

use crate::bus::Send;
use crate::counters::Counters;
use crate::envelope::FrontId;
use crate::front::{Front, FrontRecord, FrontStatus, HOLD_MS, OVERLOADED, Share, Shared, Then};
use crate::wire::{ToHome, write};

/// One front. Worker threads call it as a [`RemoteNode`]; one thread at a time calls [`receive`](Fronts::receive),
/// [`tick`](Fronts::tick) and [`flush`](Fronts::flush).
pub struct Fronts {
    /// By the number of the slot. At least one.
    slots: Vec<Arc<Front>>,
    shared: Arc<Shared>,
    unplaced: Mutex<Unplaced>,
}

/// Sign-ins to sites that no home has published, while the homes of some slots have published none yet.
struct Unplaced {
    /// The time of the last tick.
    now: Timestamp,
    sign_ins: VecDeque<SignIn>,
    /// Those among them whose connection still waits.
    waiting: HashSet<SessionHandle>,
    bytes: Share,
    /// Nothing is delivered.
    is_still: bool,
}

struct SignIn {
    site_key: Box<str>,
    handle: SessionHandle,
    since: Timestamp,
    /// A [`ToHome::SignIn`].
    bytes: Vec<u8>,
}

/// The state of a front for another process: see [`Fronts::write_down`]. In JSON it is the record of the first slot, so that versions from
/// before slots read it, and it can be read from theirs.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct FrontsRecord(FrontRecord);

impl Fronts {
    /// `id`: random. `slots`: those of the cluster. `name`: for people. `local` delivers to the sessions of this process. `wake` is called
    /// from any thread if something waits to be sent.
    pub fn new(
        id: FrontId,
        slots: u8,
        name: String,
        local: impl Outbox,
        now: Timestamp,
        wake: impl Fn() + std::marker::Send + Sync + 'static,
    ) -> Fronts {
        let slots = (0..slots.max(1)).map(Slot);
        let shared = Shared::new(id, name, slots.clone(), local, wake);
        let unplaced = Unplaced {
            now,
            sign_ins: VecDeque::new(),
            waiting: HashSet::new(),
            bytes: Share::of(&shared.held),
            is_still: false,
        };
        Fronts {
            slots: slots.map(|slot| Arc::new(Front::of(Arc::clone(&shared), slot, now))).collect(),
            shared,
            unplaced: Mutex::new(unplaced),
        }
    }

    pub fn id(&self) -> FrontId {
        self.shared.id
    }

    /// Of all slots together.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.shared.counters
    }

    /// None: this front does not know the slot.
    pub fn of_slot(&self, slot: Slot) -> Option<&Arc<Front>> {
        self.slots.get(usize::from(slot.0))
    }

    /// In the order of the slots.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Front>> {
        self.slots.iter()
    }

    /// In the order of the slots.
    pub fn status(&self) -> Vec<FrontStatus> {
        self.iter().map(|front| front.status()).collect()
    }

    fn of_site(&self, site: SiteId) -> Option<&Arc<Front>> {
        self.of_slot(site.slot())
    }

    /// The slot of a site. The first slot answers for a key that no slot has. None: the site may be one of a slot that has published none
    /// yet.
    fn of_key(&self, key: &str) -> Option<&Arc<Front>> {
        let [first, others @ ..] = &*self.slots else { return None };
        if others.is_empty() {
            return Some(first);
        }
        let sites = self.shared.directory.all();
        match sites.by_key(key) {
            Some(site) => self.of_site(site.id),
            None => sites.is_complete().then_some(first),
        }
    }

    /// Bytes from the subjects of this front and of all fronts.
    pub fn receive(&self, bytes: &[u8], now: Timestamp) {
        let Some(envelope) = self.shared.counters.envelope(bytes) else { return };
        match self.of_slot(envelope.slot) {
            Some(front) => front.receive_read(&envelope, bytes, now),
            None => self.shared.counters.envelopes_old.add(1),
        }
    }

    /// Notices silent homes and refuses commands that have waited for too long. Call it every 100 ms.
    pub fn tick(&self, now: Timestamp) {
        self.iter().for_each(|front| front.tick(now));
        self.place_sign_ins(now);
    }

    /// Sends all envelopes that are due.
    pub fn flush(&self, now: Timestamp, send: Send<'_>) {
        self.iter().for_each(|front| front.flush(now, &mut *send));
    }

    /// Ends all sessions, because this front stops. `retry_after_ms` is drawn for each.
    pub fn goodbye(&self, mut retry_after_ms: impl FnMut() -> u32, now: Timestamp) {
        self.iter().for_each(|front| front.goodbye(&mut retry_after_ms, now));
    }

    /// See [`Front::is_answered`].
    pub fn is_answered(&self) -> bool {
        self.iter().all(|front| front.is_answered())
    }

    /// See [`Front::stand_still`].
    pub fn stand_still(&self, now: Timestamp) {
        self.unplaced().is_still = true;
        self.iter().for_each(|front| front.stand_still(now));
    }

    /// See [`Front::go_on`].
    pub fn go_on(&self, now: Timestamp) {
        self.iter().for_each(|front| front.go_on(now));
        self.unplaced().is_still = false;
    }

    /// See [`Front::write_down`].
    pub fn write_down(&self) -> FrontsRecord {
        let mut records = self.iter().map(|front| (front.slot(), front.write_down()));
        let (_, mut first) = records.next().expect("a front has at least one slot");
        first.other_slots = records.map(|(slot, record)| (slot.0, record)).collect();
        FrontsRecord(first)
    }

    /// See [`Front::resume`]. Sessions of a slot that this process does not have end.
    pub fn resume(
        &self,
        FrontsRecord(mut first): FrontsRecord,
        is_here: impl Fn(SessionHandle) -> bool,
        now: Timestamp,
    ) -> (usize, usize) {
        let others = std::mem::take(&mut first.other_slots);
        let (mut came, mut gone) = (0, 0);
        for (slot, record) in std::iter::once((0, first)).chain(others) {
            match self.of_slot(Slot(slot)) {
                Some(front) => {
                    let (of_slot, gone_of_slot) = front.resume(record, &is_here, now);
                    came += of_slot;
                    gone += gone_of_slot;
                }
                None => {
                    tracing::error!(slot, "the old process has a slot that cluster.slots of this one lacks");
                    let handles: Vec<SessionHandle> = record.handles().collect();
                    gone += handles.len();
                    let here = handles.into_iter().filter(|handle| is_here(*handle));
                    here.for_each(|handle| self.shared.bye(handle, Refusal::Unavailable));
                }
            }
        }
        (came, gone)
    }

    /// See [`Front::offer_relays`]. `proof`: the same for the homes of all slots.
    pub fn offer_relays(&self, servers: &CallServers, proof: &str) {
        self.iter().for_each(|front| front.offer_relays(servers.clone(), proof.into()));
    }

    /// See [`Front::is_in_call`].
    pub fn is_in_call(&self, user: UserId, call: Option<CallId>) -> bool {
        self.of_site(user.site).is_some_and(|front| front.is_in_call(user, call))
    }

    /// The servers for members of this front on sites of a slot. None: those of the home.
    pub fn call_servers(&self, slot: Slot) -> Option<CallServers> {
        self.of_slot(slot)?.call_servers()
    }

    fn unplaced(&self) -> MutexGuard<'_, Unplaced> {
        self.unplaced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a sign-in until its slot is known.
    fn hold(&self, hello: &Hello<'_>, handle: SessionHandle, now: Timestamp) {
        let bytes = write(&ToHome::SignIn { handle, hello: hello.clone(), now });
        let mut unplaced = self.unplaced();
        if !unplaced.bytes.fits(bytes.len()) {
            drop(unplaced);
            self.counters().requests_refused.add(1);
            return self.shared.bye(handle, OVERLOADED);
        }
        unplaced.bytes.add(bytes.len());
        let (since, site_key) = (unplaced.now, (&*hello.site_key).into());
        unplaced.waiting.insert(handle);
        unplaced.sign_ins.push_back(SignIn { site_key, handle, since, bytes });
    }

    /// Hands sign-ins to the slots of their sites, once these are known. A client whose sign-in has waited for too long comes back.
    fn place_sign_ins(&self, now: Timestamp) {
        let mut unplaced = self.unplaced();
        unplaced.now = unplaced.now.max(now);
        if unplaced.is_still || unplaced.sign_ins.is_empty() {
            return;
        }
        let Unplaced { now, sign_ins, waiting, bytes, is_still: _ } = &mut *unplaced;
        bytes.clear();
        let mut refused = Vec::new();
        for sign_in in std::mem::take(sign_ins) {
            let handle = sign_in.handle;
            if !waiting.contains(&handle) {
                continue;
            }
            match self.of_key(&sign_in.site_key) {
                Some(front) => {
                    if !front.take_sign_in(handle, sign_in.bytes, None) {
                        refused.push((handle, OVERLOADED));
                    }
                }
                None if now.since(sign_in.since) < HOLD_MS => {
                    bytes.add(sign_in.bytes.len());
                    sign_ins.push_back(sign_in);
                    continue;
                }
                None => {
                    self.counters().requests_refused.add(1);
                    refused.push((handle, Refusal::Unavailable));
                }
            }
            waiting.remove(&handle);
        }
        drop(unplaced);
        refused.into_iter().for_each(|(handle, refusal)| self.shared.bye(handle, refusal));
    }
}

impl RemoteNode for Fronts {
    fn sites(&self) -> Arc<PublishedSites> {
        self.shared.directory.all()
    }

    /// Clients of one slot do not wait for the crowd of another.
    fn is_crowded(&self) -> bool {
        self.iter().all(|front| front.is_crowded())
    }

    fn sign_in(&self, hello: &Hello<'_>, handle: SessionHandle, now: Timestamp) {
        match self.of_key(&hello.site_key) {
            Some(front) => front.sign_in(hello, handle, now),
            None => self.hold(hello, handle, now),
        }
    }

    fn gave_up(&self, handle: SessionHandle) {
        // From then on it is with a front, or nowhere.
        if !self.unplaced().waiting.remove(&handle) {
            self.iter().for_each(|front| front.gave_up(handle));
        }
    }

    fn command(&self, session: SessionId, request: Request, now: Timestamp) {
        match self.of_site(session.user.site) {
            Some(front) => front.command(session, request, now),
            None => self.shared.bye(session.handle, Refusal::NoSession),
        }
    }

    fn disconnected(&self, session: SessionId, on_purpose: bool, now: Timestamp) {
        if let Some(front) = self.of_site(session.user.site) {
            front.disconnected(session, on_purpose, now);
        }
    }

    fn behind(&self, session: SessionId) {
        if let Some(front) = self.of_site(session.user.site) {
            front.behind(session);
        }
    }

    fn presence_missed(&self, session: SessionId) {
        if let Some(front) = self.of_site(session.user.site) {
            front.presence_missed(session);
        }
    }

    fn note(&self, note: PortNote) {
        let site = match &note {
            PortNote::PasswordFailed { site, .. } => *site,
            PortNote::AppPushIsGone { user, .. } => user.site,
        };
        if let Some(front) = self.of_site(site) {
            front.note(note);
        }
    }

    fn ask(&self, question: PortQuestion, then: Then) {
        let front = match &question {
            PortQuestion::TokenUser { site_key, .. } => self.of_key(site_key),
            PortQuestion::AppCredentials { site, .. } => self.of_site(*site),
            PortQuestion::AppTokens(of) | PortQuestion::RenewAppToken { of, .. } => self.of_site(of.site),
        };
        match front {
            Some(front) => front.ask(question, then),
            None => then(Err(Refusal::Unavailable)),
        }
    }
}

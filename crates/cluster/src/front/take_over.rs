//! A front moves to another process of its machine, with its link: neither its sessions nor the home notice.
//!
//! Both processes have the id of the front, so both receive what the home sends. Each keeps it while it stands still, and one of them
//! goes on with it. The other one has sent nothing but beats. The stream drops what was received before, so nothing is missed or
//! doubled. If something is missing all the same, the link ends, and the home adopts the sessions, as after any lost envelope.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use chat::{Pending, PublishedSite, SessionHandle, SessionId, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Effect, Front, Held, Kept, Link, State, behind};
use crate::envelope::{Envelope, Term};
use crate::link::Ends;
use crate::wire::ToHome;

/// Envelopes that are kept while a front stands still. The home sends at most a quarter of it without an acknowledgement. At the bound
/// they are dropped, and the link ends.
const KEPT_BYTES: usize = 4 * crate::IN_FLIGHT_BYTES;

/// A front that has stood still for so long begins a new link: the process that was to take its place may have used this one.
const STILL_MS: u64 = 45_000;

/// The envelopes that came while the front stands still.
pub(super) struct Still {
    since: Timestamp,
    envelopes: Vec<Vec<u8>>,
    bytes: usize,
}

/// The state of a front for another process of the same version, or of the one before or after: a field that is added there has a
/// default.
#[derive(Serialize, Deserialize)]
pub struct FrontRecord {
    term: u64,
    /// None: the front asks for a new one.
    link: Option<LinkRecord>,
    last_link: u64,
    without_link_ms: u64,
    http: Option<Box<str>>,
    sites: Vec<PublishedSite>,
    /// None in a record of the version before.
    #[serde(default)]
    knows_sites: Option<bool>,
    logs_sign_ins: bool,
    sessions: Vec<Kept>,
    held: Vec<Held>,
    /// Unanswered requests that only read.
    reads: Vec<(SessionHandle, u64, Box<[u8]>)>,
    /// Messages without an acknowledgement, with their client ids.
    #[serde(default)]
    messages: Vec<(SessionHandle, Box<str>, Box<[u8]>)>,
    last_question: u64,
    /// In the record of the first slot: those of the others, with their numbers. A version from before slots does not know them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) other_slots: Vec<(u8, FrontRecord)>,
}

impl FrontRecord {
    /// Of its sessions.
    pub(crate) fn handles(&self) -> impl Iterator<Item = SessionHandle> {
        self.sessions.iter().map(|kept| kept.record.session.handle)
    }
}

#[derive(Serialize, Deserialize)]
struct LinkRecord {
    link: u64,
    ends: Ends,
    is_joined: bool,
    is_leaving: bool,
    has_left: bool,
}

impl LinkRecord {
    fn of(link: &Link) -> Option<LinkRecord> {
        match link {
            Link::Up { link, ends, since: _, is_joined, is_leaving, has_left } => Some(LinkRecord {
                link: *link,
                ends: Ends::clone(ends),
                is_joined: *is_joined,
                is_leaving: *is_leaving,
                has_left: *has_left,
            }),
            Link::None | Link::Joining { .. } => None,
        }
    }

    fn into_link(self, now: Timestamp) -> Link {
        let LinkRecord { link, mut ends, is_joined, is_leaving, has_left } = self;
        ends.go_on(now);
        Link::Up { link, ends: Box::new(ends), since: now, is_joined, is_leaving, has_left }
    }
}

impl Front {
    /// Whether the home has answered everything that the sessions have asked.
    pub fn is_answered(&self) -> bool {
        self.lock().is_answered()
    }

    /// From now on nothing is delivered, and nothing but beats is sent, until [`go_on`](Self::go_on). Returns when the local outbox has
    /// everything that came before. Commands are taken: they wait.
    pub fn stand_still(&self, now: Timestamp) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.lock();
        state.now = state.now.max(now);
        let since = state.now;
        state.still.get_or_insert_with(|| Still { since, envelopes: Vec::new(), bytes: 0 });
    }

    /// The state of a front that [stands still](Self::stand_still), for another process with the same id. Answers to questions get lost
    /// with their connections, and sign-ins that wait for an answer, too.
    pub fn write_down(&self) -> FrontRecord {
        let state = self.lock();
        let published = self.shared.directory.of_slot(self.slot);
        let (knows_sites, logs_sign_ins) =
            published.as_ref().map_or((false, false), |sites| (true, sites.logs_sign_ins));
        let sites = published.into_iter().flat_map(|sites| sites.sites);
        FrontRecord {
            term: state.term.0,
            link: LinkRecord::of(&state.link),
            last_link: state.last_link,
            without_link_ms: state.now.since(state.without_link_since),
            http: state.http.as_deref().map(Into::into),
            sites: sites.map(Arc::unwrap_or_clone).collect(),
            knows_sites: Some(knows_sites),
            logs_sign_ins,
            sessions: state.sessions.values().map(|kept| Kept::clone(kept)).collect(),
            // The connection of a sign-in does not move.
            held: state.held.iter().filter(|held| !held.is_sign_in()).cloned().collect(),
            reads: state.repeats.requests(),
            messages: state.repeats.messages(),
            last_question: state.last_question,
            other_slots: Vec::new(),
        }
    }

    /// Continues another process of this front, in a front that [stands still](Self::stand_still). Sessions whose connection has not come
    /// end. Returns how many came, and how many did not.
    pub fn resume(
        &self,
        record: FrontRecord,
        is_here: impl Fn(SessionHandle) -> bool,
        now: Timestamp,
    ) -> (usize, usize) {
        let (here, gone): (Vec<Kept>, Vec<Kept>) =
            record.sessions.into_iter().partition(|kept| is_here(kept.record.session.handle));
        let counts = (here.len(), gone.len());
        let mut effects = Vec::new();
        if record.knows_sites.unwrap_or(!record.sites.is_empty()) {
            effects.push(Effect::Sites(record.sites, record.logs_sign_ins));
        }
        let mut state = self.lock();
        state.now = state.now.max(now);
        let now = state.now;
        state.term = Term(record.term);
        state.last_link = record.last_link;
        state.link = record.link.map_or(Link::None, |link| link.into_link(now));
        state.without_link_since = Timestamp(now.0.saturating_sub(record.without_link_ms));
        state.http = record.http.map(Arc::from);
        state.last_question = record.last_question;
        state.sessions = here
            .into_iter()
            .map(|kept| (kept.record.session.handle, Box::new(kept)))
            .collect::<HashMap<_, _>>();
        state.held = record.held.into_iter().filter(|held| is_here(held.handle)).collect();
        let reads = record.reads.into_iter().map(|(of, re, bytes)| (of, Pending::Request(re), bytes));
        let messages = record.messages.into_iter().map(|(of, id, bytes)| (of, Pending::Message(id), bytes));
        for (of, pending, bytes) in reads.chain(messages).filter(|(of, ..)| is_here(*of)) {
            state.repeats.insert(of, pending, bytes);
        }
        state.held_bytes.clear();
        let held = state.held.iter().map(|held| held.bytes.len()).sum();
        state.held_bytes.add(held);
        for session in gone.into_iter().map(|kept| kept.record.session) {
            state.push(&ToHome::Disconnected { session, on_purpose: false, now });
        }
        effects.extend(state.return_to_rooms());
        // The home sends all calls again, because the old process had them.
        state.ask_for_calls();
        drop(state);
        self.carry_out(effects);
        counts
    }

    /// Goes on after [`stand_still`](Self::stand_still), with everything that has come meanwhile.
    pub fn go_on(&self, now: Timestamp) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut effects = Vec::new();
        let mut state = self.lock();
        state.now = state.now.max(now);
        let now = state.now;
        let Some(still) = state.still.take() else { return };
        let took = now.since(still.since);
        // Commands that wait have not waited for a link.
        state.without_link_since = Timestamp(state.without_link_since.0.saturating_add(took)).min(now);
        if let Link::Up { ends, .. } = &mut state.link {
            ends.go_on(now);
            if took >= STILL_MS {
                self.break_link(&mut state, &mut effects);
            }
        }
        drop(state);
        self.carry_out(effects);
        for bytes in still.envelopes {
            if let Ok(envelope) = Envelope::read(&bytes) {
                self.receive_in_turn(&envelope, bytes.len(), now);
            }
        }
        (self.shared.wake)();
    }
}

impl State {
    /// Keeps an envelope if the front stands still.
    pub(super) fn keep(&mut self, envelope: &[u8]) -> bool {
        let Some(still) = &mut self.still else { return false };
        if still.bytes + envelope.len() <= KEPT_BYTES {
            still.bytes += envelope.len();
            still.envelopes.push(envelope.to_vec());
        }
        true
    }

    /// The gateway of the new process does not know who is in the rooms. A session that is behind enters them again.
    fn return_to_rooms(&mut self) -> Option<Effect> {
        let in_rooms: Vec<SessionId> = self
            .sessions
            .values_mut()
            .filter(|kept| kept.record.has_entered && !kept.record.is_behind)
            .map(|kept| {
                kept.fall_behind();
                kept.record.session
            })
            .collect();
        in_rooms.iter().for_each(|session| self.push(&ToHome::Behind(*session)));
        behind(in_rooms.iter().map(|session| session.handle).collect())
    }
}

//! Stanzas on their way to other servers: a bounded queue for each pair of domains, and the connection that carries them.

use std::collections::{HashMap, VecDeque};

use edge::{Conns, Handle};

use super::Content;
use super::initiator::{Pair, Purpose};
use crate::gateway::{Conn, Gateway, State as ConnState};

/// Stanzas and bytes that wait for the connection of one pair.
const MOST_WAITING: usize = 1_024;
const MOST_WAITING_BYTES: usize = 1 << 20;
/// Bytes that wait for all connections of a worker.
const MOST_BYTES: usize = 64 << 20;
/// Pairs of a worker. Beyond that, a pair without a connection takes no stanza.
const MOST_LINKS: usize = 10_000;
/// A stanza waits so long for a connection, and then returns as an error.
const WAITS_MS: u64 = 120_000;
/// Between two attempts to connect: doubled after each failure.
const FIRST_RETRY_MS: u64 = 2_000;
const LAST_RETRY_MS: u64 = 300_000;

#[derive(Default)]
pub(super) struct Links {
    by_pair: HashMap<Pair, Link>,
    /// Those with something to do at the end of this turn.
    dirty: Vec<Pair>,
    bytes: usize,
}

#[derive(Default)]
struct Link {
    state: State,
    queue: VecDeque<Waiting>,
    bytes: usize,
    failures: u32,
    /// Unix milliseconds; before it, no connection is attempted.
    retry: u64,
}

#[derive(Default)]
enum State {
    #[default]
    Idle,
    Connecting,
    Open(Handle),
}

struct Waiting {
    stanza: Vec<u8>,
    since: u64,
}

/// Why stanzas return to their senders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// The domain has no server.
    NotFound,
    /// No connection came about in time, or there was too much to send.
    Timeout,
}

impl Links {
    /// Err: the stanza does not fit.
    fn push(&mut self, pair: &Pair, stanza: Vec<u8>, now: u64) -> Result<(), Vec<u8>> {
        let is_new = !self.by_pair.contains_key(pair);
        if is_new && self.by_pair.len() >= MOST_LINKS || self.bytes + stanza.len() > MOST_BYTES {
            return Err(stanza);
        }
        let link = self.by_pair.entry(pair.clone()).or_default();
        if link.queue.len() >= MOST_WAITING || link.bytes + stanza.len() > MOST_WAITING_BYTES {
            return Err(stanza);
        }
        link.bytes += stanza.len();
        self.bytes += stanza.len();
        link.queue.push_back(Waiting { stanza, since: now });
        if link.queue.len() == 1 {
            self.dirty.push(pair.clone());
        }
        Ok(())
    }

    fn take_queue(&mut self, pair: &Pair) -> Vec<Vec<u8>> {
        let Some(link) = self.by_pair.get_mut(pair) else { return Vec::new() };
        self.bytes -= std::mem::take(&mut link.bytes);
        link.queue.drain(..).map(|waiting| waiting.stanza).collect()
    }

    /// The stanzas that have waited too long.
    fn take_late(&mut self, now: u64) -> Vec<(Pair, Vec<u8>)> {
        let mut late = Vec::new();
        for (pair, link) in &mut self.by_pair {
            while link.queue.front().is_some_and(|oldest| now >= oldest.since + WAITS_MS) {
                let Some(Waiting { stanza, .. }) = link.queue.pop_front() else { break };
                link.bytes -= stanza.len();
                self.bytes -= stanza.len();
                late.push((pair.clone(), stanza));
            }
        }
        late
    }

    /// Pairs with stanzas whose next attempt is due. Idle ones without stanzas are forgotten.
    fn due(&mut self, now: u64) -> Vec<Pair> {
        self.by_pair.retain(|_, link| {
            !link.queue.is_empty() || !matches!(link.state, State::Idle) || now < link.retry
        });
        let is_due = |(_, link): &(&Pair, &Link)| {
            matches!(link.state, State::Idle) && !link.queue.is_empty() && now >= link.retry
        };
        self.by_pair.iter().filter(is_due).map(|(pair, _)| pair.clone()).collect()
    }
}

impl Gateway {
    /// A stanza for another server, in the content namespace of a stream between servers.
    pub(crate) fn send_to_server(&mut self, pair: &Pair, stanza: Vec<u8>, now: u64) {
        if let Err(stanza) = self.federation.links.push(pair, stanza, now) {
            self.bounce(pair, &stanza, Failure::Timeout);
        }
    }

    /// Sends what waits, and connects where it must. Called once per turn.
    pub(crate) fn flush_links(&mut self, conns: &mut Conns<'_, Conn>) {
        for pair in std::mem::take(&mut self.federation.links.dirty) {
            self.flush_link(&pair, conns);
        }
    }

    fn flush_link(&mut self, pair: &Pair, conns: &mut Conns<'_, Conn>) {
        let now = conns.now().steady_ms;
        let Some(link) = self.federation.links.by_pair.get_mut(pair) else { return };
        match link.state {
            State::Open(handle) => {
                let stanzas = self.federation.links.take_queue(pair);
                match handle.worker() == conns.worker() {
                    true => self.carry(handle, pair, stanzas, conns),
                    false => {
                        let content = Content::Carry { to: handle, pair: pair.clone(), stanzas };
                        self.shared.send_to_worker(handle.worker(), content);
                    }
                }
            }
            State::Connecting => {}
            State::Idle if now < link.retry => {}
            State::Idle if self.shared.component(&pair.remote).is_some() => {
                match self.federation.components.connection(&pair.remote) {
                    Some(handle) => self.link_is_open(pair, handle),
                    None => self.link_failed(pair, Failure::Timeout, now),
                }
            }
            State::Idle => {
                link.state = State::Connecting;
                self.dial(pair.clone(), Purpose::Stanzas, None);
            }
        }
    }

    /// Writes stanzas of a pair to its connection, which is on this worker.
    pub(super) fn carry(
        &mut self,
        to: Handle,
        pair: &Pair,
        stanzas: Vec<Vec<u8>>,
        conns: &mut Conns<'_, Conn>,
    ) {
        let Some((conn, mut io)) = conns.get(to) else {
            // It has just ended, and the link will learn of it.
            return stanzas.iter().for_each(|stanza| self.bounce(pair, stanza, Failure::Timeout));
        };
        for stanza in stanzas {
            self.shared.counters.stanzas_out.add(1);
            io.send(&stanza);
        }
        if let ConnState::Server(stream) = &conn.state {
            stream.is_in_use(&mut io);
        }
    }

    /// A connection can carry stanzas now.
    pub(super) fn link_is_open(&mut self, pair: &Pair, handle: Handle) {
        let link = self.federation.links.by_pair.entry(pair.clone()).or_default();
        (link.state, link.failures, link.retry) = (State::Open(handle), 0, 0);
        self.federation.links.dirty.push(pair.clone());
    }

    /// The other server has opened a connection that carries stanzas in both directions. A link that is open keeps its own.
    pub(super) fn link_is_offered(&mut self, pair: &Pair, by: Handle) {
        let links = &self.federation.links.by_pair;
        let is_wanted = match links.get(pair) {
            Some(link) => !matches!(link.state, State::Open(_)),
            None => links.len() < MOST_LINKS,
        };
        if is_wanted {
            self.link_is_open(pair, by);
        }
    }

    /// All links to a domain may connect at once.
    pub(super) fn retry_links_to(&mut self, domain: &str) {
        let Links { by_pair, dirty, .. } = &mut self.federation.links;
        for (pair, link) in by_pair.iter_mut().filter(|(pair, _)| &*pair.remote == domain) {
            (link.failures, link.retry) = (0, 0);
            dirty.push(pair.clone());
        }
    }

    /// The connection of all links to a domain has ended.
    pub(super) fn links_are_closed(&mut self, domain: &str, by: Handle) {
        let pairs = self.federation.links.by_pair.keys().filter(|pair| &*pair.remote == domain);
        for pair in pairs.cloned().collect::<Vec<Pair>>() {
            self.link_is_closed(&pair, by);
        }
    }

    /// The connection of a pair has ended.
    pub(super) fn link_is_closed(&mut self, pair: &Pair, handle: Handle) {
        if let Some(link) = self.federation.links.by_pair.get_mut(pair)
            && matches!(link.state, State::Open(open) if open == handle)
        {
            link.state = State::Idle;
            self.federation.links.dirty.push(pair.clone());
        }
    }

    /// No address could be reached, or the other server refuses us.
    pub(super) fn link_failed(&mut self, pair: &Pair, failure: Failure, now: u64) {
        let Some(link) = self.federation.links.by_pair.get_mut(pair) else { return };
        link.state = State::Idle;
        let wait = FIRST_RETRY_MS.saturating_mul(1 << link.failures.min(16)).min(LAST_RETRY_MS);
        link.failures += 1;
        link.retry = now + wait;
        tracing::debug!(local = %pair.local, remote = %pair.remote, ?failure, "no stream to another server");
        if failure == Failure::NotFound {
            for stanza in self.federation.links.take_queue(pair) {
                self.bounce(pair, &stanza, failure);
            }
        }
    }

    /// Returns what has waited too long, and connects again.
    pub(super) fn tick_links(&mut self, now: u64) {
        for (pair, stanza) in self.federation.links.take_late(now) {
            self.bounce(&pair, &stanza, Failure::Timeout);
        }
        let due = self.federation.links.due(now);
        self.federation.links.dirty.extend(due);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(remote: &str) -> Pair {
        Pair { local: "a.example".into(), remote: remote.into() }
    }

    #[test]
    fn a_queue_is_bounded_and_its_stanzas_do_not_wait_for_ever() {
        let mut links = Links::default();
        let b = pair("b.example");
        let fitting = (0..2 * MOST_WAITING).filter(|_| links.push(&b, vec![0; 10], 5).is_ok()).count();
        assert_eq!(fitting, MOST_WAITING);
        assert!(links.push(&pair("c.example"), vec![0; MOST_WAITING_BYTES], 5).is_ok());
        assert!(links.push(&pair("c.example"), vec![0], 5).is_err(), "too many bytes");
        assert!(links.take_late(5 + WAITS_MS - 1).is_empty());
        assert_eq!(links.take_late(5 + WAITS_MS).len(), MOST_WAITING + 1);
        assert_eq!(links.bytes, 0);
        assert!(links.due(5).is_empty() && links.by_pair.is_empty(), "idle pairs are forgotten");
    }

    #[test]
    fn a_pair_that_fails_is_remembered_until_its_next_attempt() {
        let mut links = Links::default();
        let b = pair("b.example");
        links.by_pair.insert(b.clone(), Link { retry: 100, ..Link::default() });
        assert!(links.push(&b, vec![0], 5).is_ok());
        assert!(links.due(99).is_empty());
        assert_eq!(links.due(100), std::slice::from_ref(&b));
        assert_eq!(links.take_queue(&b).len(), 1);
        assert!(links.due(99).is_empty() && !links.by_pair.is_empty());
        assert!(links.due(100).is_empty() && links.by_pair.is_empty());
    }
}

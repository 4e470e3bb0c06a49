//! The protocol of one worker: messages in, at most one action out for each.

mod moves;
mod requests;
#[cfg(test)]
mod tests;
mod wants;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use edge::{Handle, Now, Slab};

use crate::allocation::{Allocation, Family, Other};
use crate::counters::Counters;
use crate::credentials::For;
use crate::excess::Excess;
use crate::meter::{Share, Sites, Way};
use crate::nonce::Nonces;
use crate::refusal::Refusal;
use crate::stun::{self, Message, attribute, method, padded};
use crate::{CallsConfig, RelayAddress};

pub(crate) use moves::RelaysRecord;

/// Interval at which a relay checks that its call still exists.
const LOOKED_AT_EVERY: Duration = Duration::from_secs(5);

/// The client: the 5-tuple of RFC 8656 §3.2, of which our side is the listener or the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    Datagrams { listener: u8, from: SocketAddr },
    Stream(Handle),
}

/// Identifies a relay of a worker for its whole life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RelayId {
    pub slot: u32,
    pub generation: u32,
}

/// The effect of a client's message. Never more than one, so that a client cannot make us send more packets than it sent.
#[derive(Debug, PartialEq, Eq)]
pub enum Step<'a> {
    Nothing,
    /// To the sender of the message.
    Answer(&'a [u8]),
    ToPeer {
        relay: RelayId,
        to: SocketAddr,
        data: &'a [u8],
    },
}

/// A further effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Open a socket on this address, then call [`Machine::opened`].
    Open {
        relay: RelayId,
        address: RelayAddress,
        even: bool,
    },
    Close {
        relay: RelayId,
    },
}

/// A datagram of a peer, with space around it for the header of the message to the client, so that it is not moved.
#[derive(Debug)]
pub struct Packet<'p> {
    buffer: &'p mut [u8],
    length: usize,
}

/// State that all workers of a node share.
pub struct Shared {
    config: CallsConfig,
    pub(crate) counters: Arc<Counters>,
    pub(crate) sites: Arc<Sites>,
    nonces: Nonces,
    excess: Excess,
    /// Reference time of the bandwidth counters.
    began: Instant,
}

/// One worker's allocations. They belong to the worker for ever, because the system chooses the worker of a client by the 5-tuple.
pub struct Machine {
    shared: Arc<Shared>,
    /// Relays of this worker.
    most: usize,
    allocations: Slab<Allocation>,
    /// A client's relay; of two, the first one, which refers to the other.
    relays_by_client: HashMap<Client, RelayId>,
    /// Times of the next check, one entry per relay; a continuing relay is put back.
    due: BinaryHeap<Reverse<(Instant, RelayId)>>,
    outputs: VecDeque<Output>,
    answer: Vec<u8>,
    scratch: Vec<u8>,
}

impl<'p> Packet<'p> {
    /// Space in front of the data,
    pub const BEFORE: usize = stun::DATA_INDICATION;
    /// and behind it.
    pub const AFTER: usize = 3;

    /// `buffer`: space, data of that length, space. None if it is too small.
    pub fn new(buffer: &'p mut [u8], length: usize) -> Option<Packet<'p>> {
        let fits = length <= usize::from(u16::MAX) && buffer.len() >= Packet::BEFORE + length + Packet::AFTER;
        fits.then_some(Packet { buffer, length })
    }

    fn channel_data(mut self, number: u16, is_padded: bool) -> &'p [u8] {
        let start = Packet::BEFORE - 4;
        self.buffer[start..start + 2].copy_from_slice(&number.to_be_bytes());
        self.buffer[start + 2..start + 4].copy_from_slice(&(self.length as u16).to_be_bytes());
        // RFC 8656 §12.5: padding is required over TCP and TLS only.
        let end = if is_padded { self.pad() } else { Packet::BEFORE + self.length };
        &self.buffer[start..end]
    }

    fn indication(mut self, peer: SocketAddr) -> &'p [u8] {
        let end = self.pad();
        let room = self.buffer.first_chunk_mut().expect("the room was looked at when the packet was made");
        let head = stun::data_indication(peer, self.length, room);
        &self.buffer[Packet::BEFORE - head..end]
    }

    /// Clears the padding up to whole words and returns the end: the buffer may contain bytes of earlier packets.
    fn pad(&mut self) -> usize {
        let end = Packet::BEFORE + padded(self.length);
        self.buffer[Packet::BEFORE + self.length..end].fill(0);
        end
    }
}

impl Shared {
    /// `key`: random bytes for nonces.
    pub fn new(config: CallsConfig, key: &[u8; 32], began: Instant) -> Shared {
        Shared {
            counters: Arc::default(),
            sites: Arc::new(Sites::new(config.quotas)),
            nonces: Nonces::new(key),
            excess: Excess::new(config.excess_bytes_per_second),
            began,
            config,
        }
    }

    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.counters)
    }

    pub fn sites(&self) -> Arc<Sites> {
        Arc::clone(&self.sites)
    }

    pub(crate) fn config(&self) -> &CallsConfig {
        &self.config
    }

    fn nanos(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.began).as_nanos() as u64
    }

    /// On our own address, only relays are permitted peers, so that other services of this machine cannot be reached through us.
    fn may_send_to(&self, peer: SocketAddr) -> bool {
        self.may_permit(peer.ip()) && (!self.is_ours(peer.ip()) || self.config.ports.contains(&peer.port()))
    }

    fn may_permit(&self, ip: IpAddr) -> bool {
        (self.config.may_relay)(ip)
    }

    fn is_ours(&self, ip: IpAddr) -> bool {
        self.config.relays.iter().any(|relay| relay.external == ip || relay.bind == ip)
    }
}

impl Machine {
    /// For one of `workers` workers.
    pub fn new(shared: Arc<Shared>, workers: usize) -> Machine {
        let most = match shared.config.quotas.relays {
            0 => usize::MAX,
            relays => (relays as usize).div_ceil(workers.max(1)),
        };
        Machine {
            shared,
            most,
            allocations: Slab::new(),
            relays_by_client: HashMap::new(),
            due: BinaryHeap::new(),
            outputs: VecDeque::new(),
            answer: Vec::with_capacity(256),
            scratch: Vec::with_capacity(256),
        }
    }

    /// Relays of this worker.
    pub fn relays(&self) -> usize {
        self.allocations.len()
    }

    pub fn has_relay(&self, client: Client) -> bool {
        self.relays_by_client.contains_key(&client)
    }

    /// A message of a client: one datagram, or one [`frame`](crate::frame) of a stream. `from` is its source.
    pub fn handle_input<'a>(
        &'a mut self,
        client: Client,
        from: SocketAddr,
        bytes: &'a [u8],
        now: Now,
    ) -> Step<'a> {
        match bytes.first() {
            Some(0x40..=0x7f) => self.channel_data(client, bytes, now.instant),
            _ => match Message::parse(bytes) {
                Ok(message) => self.message(client, from, &message, bytes.len(), now),
                Err(stun::NotStun) => {
                    self.shared.counters.strange.add(1);
                    Step::Nothing
                }
            },
        }
    }

    /// A datagram for a relay. Returns its receiver and form.
    pub fn handle_peer_input<'p>(
        &mut self,
        relay: RelayId,
        peer: SocketAddr,
        packet: Packet<'p>,
        now: Instant,
    ) -> Option<(Client, &'p [u8])> {
        let nanos = self.shared.nanos(now);
        let allocation = self.allocations.get_mut(relay.slot, relay.generation)?;
        let channel = allocation.channel_of(peer, now);
        if channel.is_none() && !allocation.permits(peer.ip(), now) {
            self.shared.counters.not_permitted.add(1);
            return None;
        }
        if !allocation.share.take(packet.length, Way::ToClient, nanos) {
            self.shared.counters.over_bandwidth.add(1);
            return None;
        }
        let message = match channel {
            Some(number) => packet.channel_data(number, matches!(allocation.client, Client::Stream(_))),
            None => packet.indication(peer),
        };
        Some((allocation.client, message))
    }

    /// The socket of an [`Output::Open`] is open on this port, or failed. Returns the answer to the client: one for a request of two
    /// relays.
    pub fn opened(&mut self, relay: RelayId, port: Option<u16>) -> Option<(Client, &[u8])> {
        let Some(allocation) = self.allocations.get_mut(relay.slot, relay.generation) else {
            // Ended before it began.
            self.outputs.push_back(Output::Close { relay });
            return None;
        };
        allocation.port = port;
        let (client, other) = (allocation.client, allocation.other);
        match (port, other) {
            (Some(_), _) => {
                self.shared.counters.allocations.add(1);
                if self.is_awaited(relay) {
                    return None;
                }
                let first = self.relays_by_client.get(&client).copied().unwrap_or(relay);
                self.answer_allocated(first);
            }
            (None, Other::Is(other)) => {
                self.forget(relay);
                self.lacks_other(other, Refusal::Capacity);
                if self.is_awaited(other) {
                    return None;
                }
                self.answer_allocated(other);
            }
            (None, _) => {
                self.refuse_allocation(relay);
                self.forget(relay);
            }
        }
        Some((client, &self.answer))
    }

    /// A connection has ended, and its relays with it (RFC 8656 §7.2 would keep them, but no client could reach them).
    pub fn client_gone(&mut self, client: Client) {
        while let Some(relay) = self.relays_by_client.get(&client).copied() {
            self.end(relay);
        }
    }

    /// Ends expired relays, and relays of ended calls. Call it regularly; an expired relay forwards nothing before.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(Reverse((at, relay))) = self.due.peek().copied() {
            if at > now {
                return;
            }
            self.due.pop();
            match self.allocations.get_mut(relay.slot, relay.generation) {
                Some(allocation) if is_wanted(&self.shared, allocation, now) => {
                    let at = allocation.expires.min(now + LOOKED_AT_EVERY);
                    self.due.push(Reverse((at, relay)));
                }
                Some(_) => self.end(relay),
                None => {}
            }
        }
    }

    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn message<'a>(
        &'a mut self,
        client: Client,
        from: SocketAddr,
        message: &Message<'a>,
        length: usize,
        now: Now,
    ) -> Step<'a> {
        self.answer.clear();
        match message.class() {
            stun::Class::Request => {
                self.request(client, from, message, length, now);
                if self.answer.is_empty() { Step::Nothing } else { Step::Answer(&self.answer) }
            }
            stun::Class::Indication if message.method() == method::SEND => {
                self.send(client, message, now.instant)
            }
            // Keep-alives (RFC 8445 §11), and messages that only servers send.
            stun::Class::Indication | stun::Class::Success | stun::Class::Error => Step::Nothing,
        }
    }

    /// RFC 8656 §11.2. Errors get no answer.
    fn send<'a>(&mut self, client: Client, message: &Message<'a>, now: Instant) -> Step<'a> {
        const KNOWN: [u16; 2] = [attribute::XOR_PEER_ADDRESS, attribute::DATA];
        let (Some(to), Some(data)) =
            (message.address(attribute::XOR_PEER_ADDRESS), message.attribute(attribute::DATA))
        else {
            return Step::Nothing;
        };
        if message.unknown(&KNOWN).next().is_some() {
            return Step::Nothing;
        }
        let family = Family::of(to.ip());
        let Some((relay, allocation)) =
            of_client(&self.relays_by_client, &mut self.allocations, client, now, |it| it.family() == family)
        else {
            return Step::Nothing;
        };
        if !allocation.permits(to.ip(), now) || !self.shared.may_send_to(to) {
            self.shared.counters.not_permitted.add(1);
            return Step::Nothing;
        }
        pass(&self.shared, &allocation.share, relay, to, data, now)
    }

    /// RFC 8656 §12.6.
    fn channel_data<'a>(&mut self, client: Client, bytes: &'a [u8], now: Instant) -> Step<'a> {
        let Some(&[a, b, c, d]) = bytes.first_chunk() else { return Step::Nothing };
        let length = usize::from(u16::from_be_bytes([c, d]));
        let Some(data) = bytes.get(4..4 + length) else {
            self.shared.counters.strange.add(1);
            return Step::Nothing;
        };
        let (number, mut to) = (u16::from_be_bytes([a, b]), None);
        let bound = |it: &Allocation| {
            to = it.peer_of(number, now);
            to.is_some()
        };
        let bound = of_client(&self.relays_by_client, &mut self.allocations, client, now, bound);
        let (Some((relay, allocation)), Some(to)) = (bound, to) else {
            if self.has_relay(client) {
                self.shared.counters.not_permitted.add(1);
            }
            return Step::Nothing;
        };
        pass(&self.shared, &allocation.share, relay, to, data, now)
    }

    /// The relay has ended: close its socket.
    fn end(&mut self, relay: RelayId) {
        self.forget(relay);
        self.outputs.push_back(Output::Close { relay });
    }

    /// A shared socket of both families belongs to the other allocation now.
    fn forget(&mut self, relay: RelayId) {
        if self.allocations.get_mut(relay.slot, relay.generation).is_none() {
            return;
        }
        let Some(allocation) = self.allocations.remove(relay.slot) else { return };
        match allocation.other {
            Other::Is(other) => {
                self.relays_by_client.insert(allocation.client, other);
                if let Some(left) = self.allocations.get_mut(other.slot, other.generation) {
                    left.other = Other::None;
                }
            }
            Other::None | Other::Refused(_) => {
                self.relays_by_client.remove(&allocation.client);
            }
        }
    }

    fn lacks_other(&mut self, relay: RelayId, refusal: Refusal) {
        if let Some(allocation) = self.allocations.get_mut(relay.slot, relay.generation) {
            allocation.other = Other::Refused(refusal);
        }
    }

    /// Whether its socket, or that of the other family, is still being opened, before the answer.
    fn is_awaited(&mut self, relay: RelayId) -> bool {
        let mut has_none = |relay: RelayId| {
            let allocation = self.allocations.get_mut(relay.slot, relay.generation);
            allocation.map_or((false, Other::None), |it| (it.port.is_none(), it.other))
        };
        match has_none(relay) {
            (false, Other::Is(other)) => has_none(other).0,
            (has_none, _) => has_none,
        }
    }
}

/// Whether neither its lifetime nor its call has ended.
fn is_wanted(shared: &Shared, allocation: &Allocation, now: Instant) -> bool {
    let is_live = match allocation.what_for {
        For::Call(call) => (shared.config.is_live)(call),
        For::Check | For::Anything => true,
    };
    is_live && allocation.expires > now && allocation.ends.is_none_or(|ends| ends > now)
}

/// The first live relay of a client that fits.
fn of_client<'m>(
    relays_by_client: &HashMap<Client, RelayId>,
    allocations: &'m mut Slab<Allocation>,
    client: Client,
    now: Instant,
    mut is_wanted: impl FnMut(&Allocation) -> bool,
) -> Option<(RelayId, &'m mut Allocation)> {
    let mut relay = *relays_by_client.get(&client)?;
    let first = allocations.get_mut(relay.slot, relay.generation)?;
    if !(first.is_alive(now) && is_wanted(first)) {
        let Other::Is(other) = first.other else { return None };
        relay = other;
        let second = allocations.get_mut(relay.slot, relay.generation)?;
        if !(second.is_alive(now) && is_wanted(second)) {
            return None;
        }
    }
    Some((relay, allocations.get_mut(relay.slot, relay.generation)?))
}

fn pass<'a>(
    shared: &Shared,
    share: &Share,
    relay: RelayId,
    to: SocketAddr,
    data: &'a [u8],
    now: Instant,
) -> Step<'a> {
    if !share.take(data.len(), Way::ToPeer, shared.nanos(now)) {
        shared.counters.over_bandwidth.add(1);
        return Step::Nothing;
    }
    Step::ToPeer { relay, to, data }
}

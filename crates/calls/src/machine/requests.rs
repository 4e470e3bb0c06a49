//! Requests: authentication, and their success or refusal.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use edge::{Now, Slab};

use super::wants::{Port, Wants, wants};
use super::{Client, LOOKED_AT_EVERY, Machine, Output, RelayId, of_client};
use crate::allocation::{Allocation, Family, NotBound, Other, Wanted};
use crate::credentials::{self, For, Key, REALM};
use crate::nonce::Found;
use crate::refusal::Refusal;
use crate::stun::{Class, Message, Transaction, Writer, attribute, method};

/// RFC 8656 §3.2: the default and the longest lifetime.
const LIFETIME: u32 = 600;
const MOST_LIFETIME: u32 = 3_600;

/// Lifetime for a network check, which needs only the answer.
const CHECK_LIFE: Duration = Duration::from_secs(15);

/// COMPAT(RFC 5766 §11, 2026): RFC 8656 §12 ends them at 0x4fff, to leave numbers for other protocols on the client's side. Older
/// clients, such as turnutils_uclient, use the whole range of their RFC.
const CHANNELS: std::ops::RangeInclusive<u16> = 0x4000..=0x7fff;

/// Known attributes of requests. DONT-FRAGMENT is not among them: RFC 8656 §7.2 permits refusing it as unknown.
const KNOWN: [u16; 10] = [
    attribute::USERNAME,
    attribute::REALM,
    attribute::NONCE,
    attribute::LIFETIME,
    attribute::XOR_PEER_ADDRESS,
    attribute::CHANNEL_NUMBER,
    attribute::REQUESTED_ADDRESS_FAMILY,
    attribute::REQUESTED_TRANSPORT,
    attribute::EVEN_PORT,
    attribute::RESERVATION_TOKEN,
];

/// Most attributes that an error lists, so that a long request does not cause a long answer.
const LISTED: usize = 4;

/// Stale entries in the heap, in addition to one per relay.
const SPARE_ENTRIES: usize = 1_024;

/// The author of a signed request.
struct Signed<'a> {
    name: &'a str,
    key: Key,
    what_for: For,
}

/// A request with its context.
#[derive(Clone, Copy)]
struct Asked<'m, 'a> {
    client: Client,
    from: SocketAddr,
    message: &'m Message<'a>,
    now: Now,
}

impl Machine {
    /// Leaves the answer in `self.answer`, or nothing.
    pub(super) fn request(
        &mut self,
        client: Client,
        from: SocketAddr,
        message: &Message<'_>,
        length: usize,
        now: Now,
    ) {
        let asked = Asked { client, from, message, now };
        let outcome = match message.method() {
            method::BINDING => self.binding(asked).map_err(|refusal| (refusal, None)),
            method::ALLOCATE | method::REFRESH | method::CREATE_PERMISSION | method::CHANNEL_BIND => {
                self.signed(asked).map_err(|refusal| (refusal, None)).and_then(|signed| {
                    let key = signed.key;
                    self.signed_request(asked, &signed).map_err(|refusal| (refusal, Some(key)))
                })
            }
            _ => Err((Refusal::BadRequest, None)),
        };
        let proven = matches!(client, Client::Stream(_)) || !matches!(outcome, Err((_, None)));
        if let Err((refusal, key)) = outcome {
            self.shared.counters.refused(refusal);
            self.refuse(asked, refusal, key);
        }
        let is_bare = message.method() == method::BINDING || !proven;
        let nanos = self.shared.nanos(now.instant);
        if is_bare
            && !matches!(client, Client::Stream(_))
            && !self.shared.excess.allows(from, length, self.answer.len(), nanos)
        {
            self.shared.counters.unanswered.add(1);
            self.answer.clear();
        }
    }

    /// RFC 8489 §6.3.1: returns the source of the packet.
    fn binding(&mut self, asked: Asked<'_, '_>) -> Result<(), Refusal> {
        if asked.message.unknown(&KNOWN).next().is_some() {
            return Err(Refusal::UnknownAttribute);
        }
        self.shared.counters.bindings.add(1);
        let transaction = asked.message.transaction();
        let mut answer = Writer::begin(&mut self.answer, Class::Success, method::BINDING, transaction);
        answer.address(attribute::XOR_MAPPED_ADDRESS, asked.from);
        if asked.message.has_fingerprint() {
            answer.fingerprint();
        }
        Ok(())
    }

    /// RFC 8489 §9.2.4. The nonce is checked first: it proves the source of the packet, and costs less than a signature.
    fn signed<'a>(&mut self, asked: Asked<'_, 'a>) -> Result<Signed<'a>, Refusal> {
        let Asked { client, from, message, now } = asked;
        if !message.has_integrity() {
            return Err(Refusal::Unauthorized);
        }
        let (Some(name), Some(nonce), Some(_)) = (
            message.text(attribute::USERNAME),
            message.attribute(attribute::NONCE),
            message.attribute(attribute::REALM),
        ) else {
            return Err(Refusal::BadRequest);
        };
        if self.shared.nonces.check(nonce, from, now.unix_ms) == Found::Stale {
            return Err(Refusal::StaleNonce);
        }
        let owner = credentials::owner(name).ok_or(Refusal::Unauthorized)?;
        if owner.until.saturating_mul(1_000) <= now.unix_ms {
            return Err(Refusal::Unauthorized);
        }
        let any = |_: &Allocation| true;
        let held = of_client(&self.relays_by_client, &mut self.allocations, client, now.instant, any);
        let (key, is_owners) = match held {
            Some((_, allocation)) if *allocation.name == *name => (allocation.key, true),
            held => (self.shared.config.credentials.key(name), held.is_none()),
        };
        if !message.is_signed_with(&key.hmac(), &mut self.scratch) {
            return Err(Refusal::Unauthorized);
        }
        // RFC 8656 §5: otherwise a client with other credentials could take over the relay.
        if !is_owners {
            return Err(Refusal::WrongCredentials);
        }
        Ok(Signed { name, key, what_for: owner.what_for })
    }

    fn signed_request(&mut self, asked: Asked<'_, '_>, signed: &Signed<'_>) -> Result<(), Refusal> {
        if asked.message.unknown(&KNOWN).next().is_some() {
            return Err(Refusal::UnknownAttribute);
        }
        let method = asked.message.method();
        let gives_up = method == method::REFRESH && asked.message.u32(attribute::LIFETIME) == Some(0);
        match signed.what_for {
            For::Call(call) if !gives_up && !(self.shared.config.is_live)(call) => {
                return Err(Refusal::Forbidden);
            }
            For::Check if method != method::ALLOCATE && method != method::REFRESH => {
                return Err(Refusal::Forbidden);
            }
            For::Call(_) | For::Check | For::Anything => {}
        }
        match method {
            method::ALLOCATE => return self.allocate(asked, signed),
            method::REFRESH => self.refresh(asked)?,
            method::CREATE_PERMISSION => {
                self.create_permission(asked)?;
                Writer::begin(
                    &mut self.answer,
                    Class::Success,
                    method::CREATE_PERMISSION,
                    asked.message.transaction(),
                );
            }
            _ => {
                self.channel_bind(asked)?;
                Writer::begin(
                    &mut self.answer,
                    Class::Success,
                    method::CHANNEL_BIND,
                    asked.message.transaction(),
                );
            }
        }
        self.seal(signed.key, asked.message.has_fingerprint());
        Ok(())
    }

    /// RFC 8656 §7.2, in the order of its steps.
    fn allocate(&mut self, asked: Asked<'_, '_>, signed: &Signed<'_>) -> Result<(), Refusal> {
        let Asked { client, message, .. } = asked;
        if let Some(relay) = self.relays_by_client.get(&client).copied() {
            return self.allocate_again(relay, message.transaction());
        }
        let Wants { family, both, port } = wants(message)?;
        let first = self.begin(asked, signed, family, port);
        if !both {
            return first.map(drop);
        }
        match (first, self.begin(asked, signed, family.other(), port)) {
            (Ok(first), Ok(second)) => {
                self.pair(first, second);
                Ok(())
            }
            // The client gets the available family, and an error for the other.
            (Ok(one), Err(refusal)) | (Err(refusal), Ok(one)) => {
                let known = refusal == Refusal::AddressFamily;
                self.lacks_other(one, if known { refusal } else { Refusal::Capacity });
                Ok(())
            }
            (Err(refusal), Err(_)) => Err(refusal),
        }
    }

    /// Creates a relay that waits for its socket.
    fn begin(
        &mut self,
        asked: Asked<'_, '_>,
        signed: &Signed<'_>,
        family: Family,
        port: Port,
    ) -> Result<RelayId, Refusal> {
        let Asked { client, from, message, now } = asked;
        let relays = &self.shared.config.relays;
        let of_family = relays.iter().find(|it| Family::of(it.external) == family);
        let address = *of_family.ok_or(Refusal::AddressFamily)?;
        if self.allocations.len() >= self.most {
            return Err(Refusal::Capacity);
        }
        let owner = credentials::owner(signed.name).ok_or(Refusal::Unauthorized)?;
        let share = self.shared.sites.open(owner, from.ip()).ok_or(Refusal::Quota)?;
        let lifetime = message.u32(attribute::LIFETIME).unwrap_or(LIFETIME).clamp(LIFETIME, MOST_LIFETIME);
        let expires = now.instant + Duration::from_secs(lifetime.into());
        let (slot, generation) = self.allocations.insert(Allocation::new(Wanted {
            client,
            from,
            name: signed.name,
            key: signed.key,
            share,
            transaction: message.transaction(),
            fingerprint: message.has_fingerprint(),
            lifetime,
            expires,
            what_for: signed.what_for,
            ends: (signed.what_for == For::Check).then(|| now.instant + CHECK_LIFE),
            address,
        }));
        let relay = RelayId { slot, generation };
        self.relays_by_client.entry(client).or_insert(relay);
        self.due.push(Reverse((now.instant + LOOKED_AT_EVERY, relay)));
        // Repeated allocations and releases leave an entry each time.
        if self.due.len() > 2 * self.allocations.len() + SPARE_ENTRIES {
            let allocations = &mut self.allocations;
            self.due
                .retain(|Reverse((_, relay))| allocations.get_mut(relay.slot, relay.generation).is_some());
        }
        self.outputs.push_back(Output::Open { relay, address, even: port == Port::Even });
        Ok(relay)
    }

    fn pair(&mut self, first: RelayId, second: RelayId) {
        for (relay, other) in [(first, second), (second, first)] {
            if let Some(allocation) = self.allocations.get_mut(relay.slot, relay.generation) {
                allocation.other = Other::Is(other);
            }
        }
    }

    /// A request that was repeated after a lost answer gets the same answer (RFC 8656 §7.2).
    fn allocate_again(&mut self, relay: RelayId, transaction: Transaction) -> Result<(), Refusal> {
        let Some(allocation) = self.allocations.get_mut(relay.slot, relay.generation) else { return Ok(()) };
        if allocation.transaction != transaction {
            return Err(Refusal::AllocationMismatch);
        }
        // Otherwise the first answer follows.
        if !self.is_awaited(relay) {
            self.answer_allocated(relay);
        }
        Ok(())
    }

    /// RFC 8656 §7.2, the answer, with the content of §7.3.
    pub(super) fn answer_allocated(&mut self, relay: RelayId) {
        self.answer.clear();
        let Some(allocation) = self.allocations.get_mut(relay.slot, relay.generation) else { return };
        let Some(relayed) = allocation.relayed() else { return };
        let (key, fingerprint) = (allocation.key, allocation.fingerprint);
        let (other, missing) = (allocation.other, allocation.family().other());
        let mut answer =
            Writer::begin(&mut self.answer, Class::Success, method::ALLOCATE, allocation.transaction);
        answer
            .address(attribute::XOR_RELAYED_ADDRESS, relayed)
            .u32(attribute::LIFETIME, allocation.lifetime)
            .address(attribute::XOR_MAPPED_ADDRESS, allocation.from);
        match other {
            Other::None => {}
            Other::Is(other) => {
                let other = self.allocations.get_mut(other.slot, other.generation);
                if let Some(relayed) = other.and_then(|other| other.relayed()) {
                    answer.address(attribute::XOR_RELAYED_ADDRESS, relayed);
                }
            }
            Other::Refused(refusal) => {
                answer.address_error(missing.number(), refusal.code(), refusal.reason());
            }
        }
        self.seal(key, fingerprint);
    }

    /// No port is free.
    pub(super) fn refuse_allocation(&mut self, relay: RelayId) {
        self.answer.clear();
        let Some(allocation) = self.allocations.get_mut(relay.slot, relay.generation) else { return };
        self.shared.counters.refused(Refusal::Capacity);
        Writer::begin(&mut self.answer, Class::Error, method::ALLOCATE, allocation.transaction)
            .error(Refusal::Capacity.code(), Refusal::Capacity.reason());
        let (key, fingerprint) = (allocation.key, allocation.fingerprint);
        self.seal(key, fingerprint);
    }

    /// RFC 8656 §8.2. The family selects one of two relays; without it, both are refreshed.
    fn refresh(&mut self, asked: Asked<'_, '_>) -> Result<(), Refusal> {
        let Asked { client, message, now, .. } = asked;
        let wanted = message.u32(attribute::LIFETIME).unwrap_or(LIFETIME);
        let lifetime = if wanted == 0 { 0 } else { wanted.clamp(LIFETIME, MOST_LIFETIME) };
        let family = message.attribute(attribute::REQUESTED_ADDRESS_FAMILY).map(Family::numbered);
        let mut held = |family: Family| {
            let is_of = |it: &Allocation| it.family() == family;
            of_client(&self.relays_by_client, &mut self.allocations, client, now.instant, is_of)
                .map(|(relay, _)| (family, relay))
        };
        let held = [held(Family::V4), held(Family::V6)];
        let is_meant = |(of, _): &(Family, RelayId)| family.is_none_or(|family| family == Some(*of));
        if held == [None, None] {
            // A repetition after a lost answer gets the same answer (RFC 8656 §8.2).
            if wanted > 0 {
                return Err(Refusal::AllocationMismatch);
            }
        } else if !held.iter().flatten().any(is_meant) {
            return Err(Refusal::PeerFamily);
        }
        for (_, relay) in held.into_iter().flatten().filter(is_meant) {
            if lifetime == 0 {
                self.end(relay);
            } else if let Some(allocation) = self.allocations.get_mut(relay.slot, relay.generation) {
                allocation.expires = now.instant + Duration::from_secs(lifetime.into());
            }
        }
        Writer::begin(&mut self.answer, Class::Success, method::REFRESH, message.transaction())
            .u32(attribute::LIFETIME, lifetime);
        Ok(())
    }

    /// RFC 8656 §10.2: all of its addresses, or none.
    fn create_permission(&mut self, asked: Asked<'_, '_>) -> Result<(), Refusal> {
        let Asked { client, message, now, .. } = asked;
        let peers = || {
            let of_kind = message.attributes().filter(|(kind, _)| *kind == attribute::XOR_PEER_ADDRESS);
            of_kind.map(|(_, value)| message.unmask(value))
        };
        let (relays, allocations) = (&self.relays_by_client, &mut self.allocations);
        let mut has = |family: Option<Family>| {
            for_peer(relays, &mut *allocations, client, family, now.instant).map(drop)
        };
        has(None)?;
        if peers().next().is_none() {
            return Err(Refusal::BadRequest);
        }
        for peer in peers() {
            let ip = peer.ok_or(Refusal::BadRequest)?.ip();
            has(Some(Family::of(ip)))?;
            if !self.shared.may_permit(ip) {
                return Err(Refusal::Forbidden);
            }
        }
        for ip in peers().flatten().map(|peer| peer.ip()) {
            let allocation = for_peer(relays, allocations, client, Some(Family::of(ip)), now.instant)?;
            allocation.permit(ip, now.instant).map_err(refusal_of)?;
        }
        Ok(())
    }

    /// RFC 8656 §12.2.
    fn channel_bind(&mut self, asked: Asked<'_, '_>) -> Result<(), Refusal> {
        let Asked { client, message, now, .. } = asked;
        let (relays, allocations) = (&self.relays_by_client, &mut self.allocations);
        for_peer(relays, allocations, client, None, now.instant)?;
        let number = message.u32(attribute::CHANNEL_NUMBER).map(|value| (value >> 16) as u16);
        let number = number.filter(|number| CHANNELS.contains(number)).ok_or(Refusal::BadRequest)?;
        let peer = message.address(attribute::XOR_PEER_ADDRESS).ok_or(Refusal::BadRequest)?;
        let family = Family::of(peer.ip());
        for_peer(relays, allocations, client, Some(family), now.instant)?;
        if !self.shared.may_send_to(peer) {
            return Err(Refusal::Forbidden);
        }
        // A channel number belongs to the client, across both relays.
        let has_other = |it: &Allocation| it.family() != family && it.peer_of(number, now.instant).is_some();
        if of_client(relays, allocations, client, now.instant, has_other).is_some() {
            return Err(refusal_of(NotBound::Taken));
        }
        let allocation = for_peer(relays, allocations, client, Some(family), now.instant)?;
        allocation.bind(number, peer, now.instant).map_err(refusal_of)
    }

    /// RFC 8489 §6.3.1.1 and §9.2.4: signs every error that may be signed.
    fn refuse(&mut self, asked: Asked<'_, '_>, refusal: Refusal, key: Option<Key>) {
        self.answer.clear();
        let Asked { from, message, now, .. } = asked;
        let mut answer =
            Writer::begin(&mut self.answer, Class::Error, message.method(), message.transaction());
        answer.error(refusal.code(), refusal.reason());
        match refusal {
            Refusal::Unauthorized | Refusal::StaleNonce => {
                let nonce = self.shared.nonces.make(from, now.unix_ms);
                answer.bytes(attribute::REALM, REALM.as_bytes()).bytes(attribute::NONCE, &nonce);
            }
            Refusal::UnknownAttribute => {
                let mut list = [0; 2 * LISTED];
                let unknown = message.unknown(&KNOWN).take(LISTED);
                let count = unknown
                    .zip(list.chunks_exact_mut(2))
                    .map(|(kind, place)| place.copy_from_slice(&kind.to_be_bytes()))
                    .count();
                answer.bytes(attribute::UNKNOWN_ATTRIBUTES, &list[..2 * count]);
            }
            _ => {}
        }
        match key {
            Some(key) => self.seal(key, message.has_fingerprint()),
            None if message.has_fingerprint() => {
                answer.fingerprint();
            }
            None => {}
        }
    }

    /// Signs the answer.
    fn seal(&mut self, key: Key, fingerprint: bool) {
        let mut answer = Writer::resume(&mut self.answer);
        answer.integrity(&key.hmac());
        if fingerprint {
            answer.fingerprint();
        }
    }
}

/// The relay for peers of this family, or any.
fn for_peer<'m>(
    relays_by_client: &HashMap<Client, RelayId>,
    allocations: &'m mut Slab<Allocation>,
    client: Client,
    family: Option<Family>,
    now: Instant,
) -> Result<&'m mut Allocation, Refusal> {
    let any = |_: &Allocation| true;
    if of_client(relays_by_client, allocations, client, now, any).is_none() {
        return Err(Refusal::AllocationMismatch);
    }
    let is_of = |it: &Allocation| family.is_none_or(|family| family == it.family());
    let (_, allocation) =
        of_client(relays_by_client, allocations, client, now, is_of).ok_or(Refusal::PeerFamily)?;
    Ok(allocation)
}

fn refusal_of(not: NotBound) -> Refusal {
    match not {
        NotBound::Taken => Refusal::BadRequest,
        NotBound::TooMany => Refusal::Capacity,
    }
}

//! One direction of a link: a stream of items without gaps, in numbered envelopes.
//!
//! An item is its length in four bytes, and its bytes. Envelopes end anywhere, also within an item. The receiver drops
//! envelopes that it has, keeps a few that are early, and reports a gap that stays.

use std::collections::{BTreeMap, VecDeque};

use chat::Timestamp;
use serde::{Deserialize, Serialize};

/// Most bytes of items in one envelope. NATS takes 1 MiB by default.
pub const ENVELOPE_BYTES: usize = 256 * 1024;
/// Most bytes that are sent and not acknowledged. Beyond that, items wait.
pub const IN_FLIGHT_BYTES: usize = 4 * 1024 * 1024;
/// The longest item. A longer one breaks the link.
pub const ITEM_BYTES: usize = 32 * 1024 * 1024;
/// Early envelopes that wait for an earlier one; at the bound the link is broken.
const MOST_EARLY: usize = 64;
/// A gap is final after this time.
const GAP_MS: u64 = 1_000;

/// The sender's end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Outgoing {
    /// Written items that no envelope has taken.
    waiting: Vec<u8>,
    /// Bytes at the start of `waiting` that envelopes have taken.
    taken: usize,
    /// The number of the last envelope.
    sent: u64,
    /// The bytes of each envelope that is not acknowledged.
    in_flight: VecDeque<usize>,
    in_flight_bytes: usize,
}

impl Outgoing {
    pub(crate) fn push(&mut self, item: &[u8]) {
        let length = u32::try_from(item.len()).unwrap_or(u32::MAX);
        self.waiting.extend_from_slice(&length.to_be_bytes());
        self.waiting.extend_from_slice(item);
    }

    /// Bytes that no envelope has taken.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.waiting.len() - self.taken
    }

    /// Whether the receiver has acknowledged enough for another envelope.
    pub(crate) fn is_open(&self) -> bool {
        self.in_flight_bytes < IN_FLIGHT_BYTES
    }

    /// The number and the payload of the next envelope. None: nothing waits, or too much is in flight.
    pub(crate) fn next(&mut self) -> Option<(u64, Vec<u8>)> {
        let bytes = self.waiting_bytes().min(ENVELOPE_BYTES);
        if bytes == 0 || !self.is_open() {
            return None;
        }
        let payload = self.waiting[self.taken..self.taken + bytes].to_vec();
        self.taken += bytes;
        if self.taken == self.waiting.len() {
            self.waiting.clear();
            self.waiting.shrink_to(ENVELOPE_BYTES);
            self.taken = 0;
        } else if self.taken >= 4 * ENVELOPE_BYTES {
            self.waiting.drain(..self.taken);
            self.taken = 0;
        }
        self.sent += 1;
        self.in_flight.push_back(bytes);
        self.in_flight_bytes += bytes;
        Some((self.sent, payload))
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// The receiver has all envelopes up to this number. A number that was never sent changes nothing.
    pub(crate) fn acknowledged(&mut self, number: u64) {
        if number > self.sent {
            return;
        }
        let open = self.sent - number;
        while self.in_flight.len() as u64 > open {
            self.in_flight_bytes -= self.in_flight.pop_front().unwrap_or_default();
        }
    }
}

/// The stream cannot continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    Gap,
    ItemTooLong,
}

/// The receiver's end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Incoming {
    /// The number of the last envelope without a gap before it.
    received: u64,
    early: BTreeMap<u64, Vec<u8>>,
    /// The highest number that is known to be sent.
    highest: u64,
    gap_since: Option<Timestamp>,
    /// The start of an item whose end has not come.
    partial: Vec<u8>,
}

impl Incoming {
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// An envelope has come. Answers the complete items, in their order.
    pub(crate) fn take(
        &mut self,
        number: u64,
        payload: &[u8],
        now: Timestamp,
    ) -> Result<Vec<Vec<u8>>, Broken> {
        if number <= self.received {
            return Ok(Vec::new());
        }
        self.highest = self.highest.max(number);
        if number > self.received + 1 {
            if self.early.len() >= MOST_EARLY {
                return Err(Broken::Gap);
            }
            self.early.entry(number).or_insert_with(|| payload.to_vec());
            self.gap_since.get_or_insert(now);
            return Ok(Vec::new());
        }
        self.received = number;
        let mut items = Vec::new();
        self.append(payload, &mut items)?;
        while let Some(payload) = self.early.remove(&(self.received + 1)) {
            self.received += 1;
            self.append(&payload, &mut items)?;
        }
        self.gap_since = if self.received < self.highest { Some(now) } else { None };
        Ok(items)
    }

    /// The sender says that it has sent all envelopes up to this number.
    pub(crate) fn told(&mut self, sent: u64, now: Timestamp) {
        self.highest = self.highest.max(sent);
        if self.highest > self.received {
            self.gap_since.get_or_insert(now);
        }
    }

    /// A gap begins now: nothing was received meanwhile, because the receiver stood still.
    pub(crate) fn go_on(&mut self, now: Timestamp) {
        self.gap_since = self.gap_since.map(|_| now);
    }

    /// Whether an envelope has been missing for too long.
    pub(crate) fn is_broken(&self, now: Timestamp) -> bool {
        self.gap_since.is_some_and(|since| now.since(since) >= GAP_MS)
    }

    fn append(&mut self, payload: &[u8], items: &mut Vec<Vec<u8>>) -> Result<(), Broken> {
        self.partial.extend_from_slice(payload);
        let mut rest = &self.partial[..];
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let length = u32::from_be_bytes(*length) as usize;
            if length > ITEM_BYTES {
                return Err(Broken::ItemTooLong);
            }
            let Some((item, after)) = after.split_at_checked(length) else { break };
            items.push(item.to_vec());
            rest = after;
        }
        let used = self.partial.len() - rest.len();
        self.partial.drain(..used);
        self.partial.shrink_to(ENVELOPE_BYTES);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: Timestamp = Timestamp(1_000);

    fn all(outgoing: &mut Outgoing) -> Vec<(u64, Vec<u8>)> {
        std::iter::from_fn(|| outgoing.next()).collect()
    }

    #[test]
    fn items_larger_than_an_envelope_arrive_whole() {
        let mut outgoing = Outgoing::default();
        let items = [vec![1; 3], vec![2; ENVELOPE_BYTES * 3], vec![], vec![3; 10]];
        items.iter().for_each(|item| outgoing.push(item));
        let mut incoming = Incoming::default();
        let mut arrived = Vec::new();
        for (number, payload) in all(&mut outgoing) {
            arrived.extend(incoming.take(number, &payload, NOW).expect("no gap"));
        }
        assert_eq!(arrived, items);
        assert_eq!(incoming.received(), outgoing.sent());
    }

    #[test]
    fn a_slow_receiver_stops_the_sender_until_it_acknowledges() {
        let mut outgoing = Outgoing::default();
        for _ in 0..40 {
            outgoing.push(&vec![7; ENVELOPE_BYTES]);
        }
        let first = all(&mut outgoing).len();
        assert_eq!(first, IN_FLIGHT_BYTES / ENVELOPE_BYTES);
        outgoing.acknowledged(u64::MAX);
        assert!(outgoing.next().is_none(), "a number that was never sent acknowledges nothing");
        outgoing.acknowledged(2);
        assert_eq!(all(&mut outgoing).len(), 2);
    }

    #[test]
    fn a_gap_breaks_the_stream_after_a_second() {
        let mut incoming = Incoming::default();
        assert_eq!(incoming.take(2, b"", NOW), Ok(vec![]));
        assert!(!incoming.is_broken(Timestamp(NOW.0 + GAP_MS - 1)));
        assert!(incoming.is_broken(Timestamp(NOW.0 + GAP_MS)));
        assert_eq!(incoming.take(1, b"", NOW), Ok(vec![]));
        assert!(!incoming.is_broken(Timestamp::MAX), "the envelope was only late");
        incoming.told(3, NOW);
        assert!(incoming.is_broken(Timestamp(NOW.0 + GAP_MS)), "the last envelope was lost");
    }

    #[test]
    fn too_many_early_envelopes_and_too_long_items_break_the_stream() {
        let mut incoming = Incoming::default();
        for number in 2..2 + MOST_EARLY as u64 {
            assert_eq!(incoming.take(number, b"", NOW), Ok(vec![]));
        }
        assert_eq!(incoming.take(1_000, b"", NOW), Err(Broken::Gap));
        let mut incoming = Incoming::default();
        assert_eq!(incoming.take(1, &[255; 4], NOW), Err(Broken::ItemTooLong));
    }

    proptest! {
        #[test]
        fn repeated_and_reordered_envelopes_change_nothing(
            sizes in proptest::collection::vec(0usize..300_000, 1..12),
            order in proptest::collection::vec(any::<proptest::sample::Index>(), 0..200),
        ) {
            let mut outgoing = Outgoing::default();
            let items: Vec<Vec<u8>> = sizes.iter().enumerate().map(|(at, size)| vec![at as u8; *size]).collect();
            items.iter().for_each(|item| outgoing.push(item));
            let envelopes = all(&mut outgoing);
            prop_assume!(!envelopes.is_empty());
            let mut incoming = Incoming::default();
            let mut arrived = Vec::new();
            let shuffled = order.iter().map(|index| index.get(&envelopes)).chain(&envelopes);
            for (number, payload) in shuffled {
                arrived.extend(incoming.take(*number, payload, NOW).expect("few are early"));
            }
            prop_assert_eq!(arrived, items);
        }

        #[test]
        fn no_payload_panics(payloads in proptest::collection::vec((0u64..6, proptest::collection::vec(any::<u8>(), 0..40)), 0..20)) {
            let mut incoming = Incoming::default();
            for (number, payload) in payloads {
                let _ = incoming.take(number, &payload, NOW);
            }
        }
    }
}

//! The relays of a worker move to the worker of the same number in another process.

use std::cmp::Reverse;
use std::time::Instant;

use edge::Handle;
use serde::{Deserialize, Serialize};

use super::{Client, LOOKED_AT_EVERY, Machine, RelayId};
use crate::allocation::{Other, RelayRecord};

#[derive(Serialize, Deserialize)]
pub(crate) struct RelaysRecord {
    /// No relay has had a later generation.
    newest_generation: u32,
    /// Of two relays of a client, the first one is in front.
    relays: Vec<RelayRecord>,
}

impl Machine {
    /// The relays that have a socket.
    pub(crate) fn write_down(&self, now: Instant) -> RelaysRecord {
        let record =
            |(slot, generation, allocation)| RelayRecord::of(RelayId { slot, generation }, allocation, now);
        let mut relays: Vec<RelayRecord> = self.allocations.iter().filter_map(record).collect();
        relays.sort_by_key(|record| self.relays_by_client.get(&record.client()) != Some(&record.relay()));
        RelaysRecord { newest_generation: self.allocations.newest_generation(), relays }
    }

    /// Continues the relays of another process, before any other call. Relays without a socket are left out. Returns the others.
    pub(crate) fn continue_relays(
        &mut self,
        record: RelaysRecord,
        has_socket: impl Fn(RelayId) -> bool,
        now: Instant,
    ) -> Vec<RelayId> {
        let mut continued = Vec::new();
        for record in record.relays {
            let (relay, client) = (record.relay(), record.client());
            if !has_socket(relay) {
                continue;
            }
            let Some(allocation) = record.into_allocation(&self.shared, now) else { continue };
            if self.allocations.place(relay.slot, relay.generation, allocation) {
                self.relays_by_client.entry(client).or_insert(relay);
                // Not at once: a front does not know yet who is in a call.
                self.due.push(Reverse((now + LOOKED_AT_EVERY, relay)));
                continued.push(relay);
            }
        }
        self.allocations.places_end(record.newest_generation);
        for relay in &continued {
            let other = self.allocations.get_mut(relay.slot, relay.generation).map(|it| it.other);
            if let Some(Other::Is(other)) = other
                && self.allocations.get_mut(other.slot, other.generation).is_none()
                && let Some(left) = self.allocations.get_mut(relay.slot, relay.generation)
            {
                left.other = Other::None;
            }
        }
        continued
    }

    /// The connections of clients with relays.
    pub(crate) fn streams(&self) -> Vec<Handle> {
        let stream = |client: &Client| match client {
            Client::Stream(handle) => Some(*handle),
            Client::Datagrams { .. } => None,
        };
        self.relays_by_client.keys().filter_map(stream).collect()
    }
}

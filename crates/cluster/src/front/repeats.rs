//! Commands without an answer that a front sends again on its next link.
//!
//! A home may have carried such a command out already, and its answer was lost with the link. So only commands that may be carried out
//! twice are kept: requests that only read, and messages, which are stored at most once under the id of their client.

use std::collections::HashMap;

use chat::{Pending, Request, SessionHandle};

use super::Awaited;
use super::room::Share;

/// Bytes of all commands that a front keeps. At the bound, the end of a link refuses further requests, and ends the sessions of further
/// messages.
pub(super) const MOST_BYTES: usize = 16 * 1024 * 1024;
/// A longer command is not kept.
const COMMAND_BYTES: usize = 16 * 1024;
/// Of an entry of the map.
const ENTRY_BYTES: usize = 64;

pub(super) struct Repeats {
    commands: HashMap<(SessionHandle, Pending), Box<[u8]>>,
    bytes: Share,
}

impl Repeats {
    pub(super) fn new(bytes: Share) -> Repeats {
        Repeats { commands: HashMap::new(), bytes }
    }

    /// Whether a home may carry the request out twice.
    pub(super) fn may_repeat(request: &Request) -> bool {
        request.only_reads() || matches!(request.pending(), Some(Pending::Message(_)))
    }

    /// Keeps a command until it is [taken](Self::take), if there is room.
    pub(super) fn keep(&mut self, from: SessionHandle, awaited: &Awaited, bytes: &[u8]) {
        let Awaited::Answer(pending) = awaited else { return };
        let cost = bytes.len() + ENTRY_BYTES;
        if bytes.len() <= COMMAND_BYTES && self.bytes.fits(cost) {
            self.insert(from, pending.clone(), bytes.into());
        }
    }

    /// Without a check of the bounds: of the old process, which has checked them.
    pub(super) fn insert(&mut self, from: SessionHandle, pending: Pending, bytes: Box<[u8]>) {
        self.bytes.add(bytes.len() + ENTRY_BYTES);
        if let Some(before) = self.commands.insert((from, pending), bytes) {
            self.bytes.remove(before.len() + ENTRY_BYTES);
        }
    }

    pub(super) fn get(&self, from: SessionHandle, pending: &Pending) -> Option<&[u8]> {
        self.commands.get(&(from, pending.clone())).map(|bytes| &**bytes)
    }

    /// The command has its answer, or goes elsewhere.
    pub(super) fn take(&mut self, from: SessionHandle, pending: &Pending) -> Option<Box<[u8]>> {
        if self.commands.is_empty() {
            return None;
        }
        let bytes = self.commands.remove(&(from, pending.clone()))?;
        self.bytes.remove(bytes.len() + ENTRY_BYTES);
        Some(bytes)
    }

    /// The link has ended, and nobody waits for the others.
    pub(super) fn clear(&mut self) {
        self.commands = HashMap::new();
        self.bytes.clear();
    }

    pub(super) fn requests(&self) -> Vec<(SessionHandle, u64, Box<[u8]>)> {
        let request = |(from, pending, bytes): (SessionHandle, &Pending, &[u8])| match pending {
            Pending::Request(re) => Some((from, *re, bytes.into())),
            Pending::Message(_) => None,
        };
        self.all().filter_map(request).collect()
    }

    pub(super) fn messages(&self) -> Vec<(SessionHandle, Box<str>, Box<[u8]>)> {
        let message = |(from, pending, bytes): (SessionHandle, &Pending, &[u8])| match pending {
            Pending::Message(id) => Some((from, id.clone(), bytes.into())),
            Pending::Request(_) => None,
        };
        self.all().filter_map(message).collect()
    }

    fn all(&self) -> impl Iterator<Item = (SessionHandle, &Pending, &[u8])> {
        self.commands.iter().map(|((from, pending), bytes)| (*from, pending, &**bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::room::Room;

    #[test]
    fn the_bytes_are_counted_and_bounded() {
        let mut repeats = Repeats::new(Share::of(&Room::new(MOST_BYTES)));
        let of = |number| Awaited::Answer(Pending::Request(number));
        let from = SessionHandle(1);
        repeats.keep(from, &of(0), &[0; COMMAND_BYTES + 1]);
        repeats.keep(from, &Awaited::Refusal, &[0]);
        assert_eq!(repeats.bytes.own(), 0);
        for number in 0..2_000 {
            repeats.keep(from, &of(number), &[0; COMMAND_BYTES]);
        }
        let own = repeats.bytes.own();
        assert!(own <= MOST_BYTES && own > MOST_BYTES - COMMAND_BYTES - ENTRY_BYTES);
        // A client that uses a number twice.
        repeats.keep(from, &of(3), &[0; 8]);
        for number in 0..2_000 {
            repeats.take(from, &Pending::Request(number));
        }
        assert_eq!((repeats.bytes.own(), repeats.commands.len()), (0, 0));
        repeats.keep(from, &of(0), &[0; 8]);
        repeats.clear();
        assert_eq!((repeats.bytes.own(), repeats.commands.len()), (0, 0));
    }
}

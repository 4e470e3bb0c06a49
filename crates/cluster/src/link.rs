//! The two ends of a link in one process: envelopes that are due, and the life of the link.

use chat::Timestamp;
use serde::{Deserialize, Serialize};

use crate::envelope::{Envelope, Kind};
use crate::stream::{Broken, Incoming, Outgoing};

/// Without an envelope for so long, the sender sends a beat.
const BEAT_MS: u64 = 500;
/// A link without an envelope from the other side for so long is lost.
pub const LOST_MS: u64 = 3_000;
/// Envelopes without an acknowledgement, after which one is sent at once.
const ACKNOWLEDGE_EVERY: u64 = 8;
/// Other acknowledgements wait for so long for an envelope of the other direction.
const ACKNOWLEDGE_MS: u64 = 50;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ends {
    pub(crate) out: Outgoing,
    incoming: Incoming,
    heard: Timestamp,
    wrote: Timestamp,
    /// The last number that was acknowledged to the other side.
    acknowledged: u64,
}

/// The fields of an envelope that change within a link.
pub(crate) struct Due {
    pub(crate) kind: Kind,
    pub(crate) number: u64,
    pub(crate) acknowledged: u64,
    pub(crate) payload: Vec<u8>,
}

impl Ends {
    pub(crate) fn new(now: Timestamp) -> Ends {
        Ends {
            out: Outgoing::default(),
            incoming: Incoming::default(),
            heard: now,
            wrote: Timestamp(0),
            acknowledged: 0,
        }
    }

    /// An envelope of the other side has come. Answers its complete items.
    pub(crate) fn receive(
        &mut self,
        envelope: &Envelope<'_>,
        now: Timestamp,
    ) -> Result<Vec<Vec<u8>>, Broken> {
        self.heard = now;
        self.out.acknowledged(envelope.acknowledged);
        match envelope.kind {
            Kind::Data => self.incoming.take(envelope.number, envelope.payload, now),
            Kind::Beat => {
                self.incoming.told(envelope.number, now);
                Ok(Vec::new())
            }
            Kind::Announce | Kind::Join | Kind::Reset => Ok(Vec::new()),
        }
    }

    /// Whether the other side is silent, or an envelope is missing.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        now.since(self.heard) >= LOST_MS || self.incoming.is_broken(now)
    }

    /// A beat, if one is due: all that an end sends while it stands still. It may be repeated by another process, because it changes
    /// nothing on the other side.
    pub(crate) fn beat(&mut self, now: Timestamp) -> Option<Due> {
        if now.since(self.wrote) < BEAT_MS {
            return None;
        }
        self.wrote = now;
        let (number, acknowledged) = (self.out.sent(), self.incoming.received());
        Some(Due { kind: Kind::Beat, number, acknowledged, payload: Vec::new() })
    }

    /// This end has stood still, perhaps in another process, whose clock was another one.
    pub(crate) fn go_on(&mut self, now: Timestamp) {
        (self.heard, self.wrote) = (now, Timestamp(0));
        self.incoming.go_on(now);
    }

    /// The next envelope that is due now.
    pub(crate) fn due(&mut self, now: Timestamp) -> Option<Due> {
        let received = self.incoming.received();
        let (kind, number, payload) = match self.out.next() {
            Some((number, payload)) => (Kind::Data, number, payload),
            None => {
                let silent = now.since(self.wrote);
                let missing = received - self.acknowledged;
                let is_due = silent >= BEAT_MS
                    || missing >= ACKNOWLEDGE_EVERY
                    || missing > 0 && silent >= ACKNOWLEDGE_MS;
                if !is_due {
                    return None;
                }
                (Kind::Beat, self.out.sent(), Vec::new())
            }
        };
        self.wrote = now;
        self.acknowledged = received;
        Some(Due { kind, number, acknowledged: received, payload })
    }
}

//! TLS connections: their handshakes, one after the other, and their bytes.

use crate::engine::Engine;
use crate::engine::write::write_unsent;
use crate::slot::{Flags, Stage};
use crate::tls::Session;
use crate::{Accepted, Closed, Protocol};

/// One full record. A client sends nothing after its hello until it gets an answer.
const LARGEST_HELLO: usize = 5 + (1 << 14);

impl<P: Protocol> Engine<P> {
    /// A ClientHello has begun. Its handshake costs a signature and some memory, so it waits until few enough others are in
    /// progress. Plain and established connections do not wait.
    pub(super) fn queue_handshake(&mut self, slot: u32, bytes: &[u8]) {
        let Some((generation, entry)) = self.slots.at(slot) else { return };
        let shared = &mut self.shared;
        if bytes.len() > LARGEST_HELLO || shared.handshakes.queue.len() >= shared.handshakes.queue_limit {
            return self.close(slot, Closed::Tls);
        }
        let mut hello = shared.pool.take_remainder();
        hello.0.extend_from_slice(bytes);
        entry.line.input = Some(hello);
        entry.line.flags.put(Flags::QUEUED, true);
        let handle = shared.handle(slot, generation);
        shared.handshakes.queue.push_back(handle);
    }

    /// Begins the next waiting handshakes. Called once per loop turn.
    pub(crate) fn begin_handshakes(&mut self) {
        for _ in 0..self.shared.handshakes.per_turn {
            if self.shared.handshakes.are_full() {
                return;
            }
            let Some(handle) = self.shared.handshakes.queue.pop_front() else { return };
            let slot = handle.slot();
            // It may have been closed while it waited.
            let Some(entry) = self.slots.get_mut(slot, handle.generation()) else { continue };
            let Stage::Waiting(waiting) = entry.stage else { continue };
            entry.line.flags.put(Flags::QUEUED, false);
            let acceptor = self.shared.listeners[usize::from(waiting.listener)].tls.as_ref();
            let hello = entry.line.input.take();
            let session = acceptor.map(|acceptor| Session::server(acceptor.current()));
            let (Some(mut hello), Some(Ok(session))) = (hello, session) else {
                self.close(slot, Closed::Tls);
                continue;
            };
            entry.line.tls = Some(Box::new(session));
            entry.line.flags.put(Flags::IN_FLIGHT, true);
            self.shared.handshakes.in_flight += 1;
            self.shared.tally().handshakes_begun.add(1);
            self.received_tls(slot, &mut hello.0);
            self.shared.pool.give_remainder(hello);
            // Data that arrived meanwhile causes no further event.
            self.read(slot);
        }
    }

    /// An outgoing connection is established: send ClientHello.
    pub(super) fn begin_our_handshake(&mut self, slot: u32) {
        self.shared.tally().handshakes_begun.add(1);
        self.received_tls(slot, &mut []);
    }

    pub(super) fn received_tls(&mut self, slot: u32, bytes: &mut [u8]) {
        let Some((_, entry)) = self.slots.at(slot) else { return };
        let Some(session) = &mut entry.line.tls else { return };
        let mut plain = std::mem::take(&mut self.shared.plain);
        let was_handshaking = session.is_handshaking();
        let received = session.receive(bytes, &mut plain, &mut self.shared.pool, &mut self.shared.keys);
        let is_handshaking = session.is_handshaking();
        self.shared.mark_dirty(&mut entry.line, slot);
        match received {
            Ok(received) => {
                if received.renegotiation {
                    self.shared.tally().renegotiations_refused.add(1);
                }
                let goes_on = !was_handshaking || is_handshaking || self.handshake_done(slot);
                let before = self.handed_over.len();
                if goes_on && !plain.is_empty() {
                    self.deliver(slot, &mut plain);
                }
                if goes_on && received.ended {
                    // rustls reports the end once, so it moves with the connection.
                    match self.handed_over.get_mut(before) {
                        Some(moved) => moved.line.flags.put(Flags::ENDED, true),
                        None => self.ended(slot),
                    }
                }
            }
            Err(error) => {
                tracing::debug!(%error, "TLS failed");
                self.close_after_alert(slot);
            }
        }
        plain.clear();
        // One read of ciphertext is never more plaintext.
        self.shared.plain = plain;
    }

    /// The end of a TLS connection's TCP stream, without the peer's close_notify.
    pub(super) fn truncated(&mut self, slot: u32) {
        let Some((_, entry)) = self.slots.at(slot) else { return };
        entry.line.flags.put(Flags::ENDED, true);
        if let Some(session) = &entry.line.tls {
            let (handshaking, in_record) = (session.is_handshaking(), session.is_in_record());
            tracing::debug!(handshaking, in_record, "the peer closed without close_notify");
        }
        self.close(slot, Closed::Tls);
    }

    /// True if the connection is still open.
    fn handshake_done(&mut self, slot: u32) -> bool {
        let Some((_, entry)) = self.slots.at(slot) else { return false };
        self.shared.tally().handshakes_done.add(1);
        if entry.line.flags.has(Flags::IN_FLIGHT) {
            entry.line.flags.put(Flags::IN_FLIGHT, false);
            self.shared.handshakes.in_flight -= 1;
        }
        match entry.stage {
            Stage::Waiting(waiting) => {
                let (peer, listener) = (waiting.peer(), usize::from(waiting.listener));
                self.accept(slot, Accepted { peer, listener, tls: true })
            }
            Stage::Open(_) => self.established(slot),
            Stage::Lingering => true,
        }
    }

    /// The alert names the error (RFC 8446 §6.2); its delivery does not matter.
    fn close_after_alert(&mut self, slot: u32) {
        if let Some((_, entry)) = self.slots.at(slot) {
            let _ = write_unsent(&mut entry.line, &mut self.shared);
        }
        self.close(slot, Closed::Tls);
    }
}

//! The domain's way back to sessions of this gateway.

use std::sync::Arc;

use chat::{Delivery, Outbox, SessionHandle};
use edge::{Handle, Mailboxes};

use crate::gateway::Mail;
use crate::missed::Missed;

/// Deliveries to many sessions of a worker are cut into pieces of so many: between them the worker looks at its sockets.
const SLICE: usize = 512;

/// Sends each event to the worker that holds the session.
pub struct XmppOutbox {
    mailboxes: Mailboxes<Mail>,
    /// Of each worker.
    missed: Vec<Arc<Missed>>,
}

impl XmppOutbox {
    pub fn new(mailboxes: Mailboxes<Mail>) -> XmppOutbox {
        let missed = (0..mailboxes.workers()).map(|_| Arc::default()).collect();
        XmppOutbox { mailboxes, missed }
    }

    /// At the bound of the mailbox an event is dropped, and its sessions end: see `Mail::Missed`.
    fn offer(&self, worker: usize, to: Vec<SessionHandle>, delivery: Delivery) {
        let weight = to.len();
        let Err(Mail::Event(to, _)) = self.mailboxes.offer(worker, Mail::Event(to, delivery), weight) else {
            return;
        };
        if let Some(missed) = self.missed.get(worker)
            && missed.add(to)
        {
            self.mailboxes.send(worker, Mail::Missed(Arc::clone(missed)));
        }
    }
}

impl Outbox for XmppOutbox {
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        if let [one] = to {
            let worker = Handle::from_bits(one.0).worker();
            // Never refused: each session begins and ends once.
            let is_bound = matches!(delivery.event, chat::Event::Session(chat::session::Event::Welcome(_)))
                || delivery.event.farewell().is_some();
            return match is_bound {
                true => self.mailboxes.send(worker, Mail::Event(vec![*one], delivery)),
                false => self.offer(worker, vec![*one], delivery),
            };
        }
        let mut slices: Vec<Vec<SessionHandle>> = vec![Vec::new(); self.mailboxes.workers()];
        for one in to {
            let worker = Handle::from_bits(one.0).worker();
            let Some(slice) = slices.get_mut(worker) else { continue };
            slice.push(*one);
            if slice.len() == SLICE {
                self.offer(worker, std::mem::take(slice), delivery.clone());
            }
        }
        for (worker, slice) in slices.into_iter().enumerate().filter(|(_, slice)| !slice.is_empty()) {
            self.offer(worker, slice, delivery.clone());
        }
    }
}

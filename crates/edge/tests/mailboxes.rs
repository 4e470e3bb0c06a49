//! Mail under contention: from foreign threads, between workers, to oneself.

#![allow(clippy::unwrap_used)] // a test may panic

use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use edge::{Accepted, Closed, Conns, Edge, EdgeConfig, Handle, Io, Mailboxes, Now, Protocol, mailboxes};

const PATIENCE: Duration = Duration::from_secs(60);

struct Numbered {
    sender: usize,
    number: u32,
    /// Workers to pass through before it is reported.
    hops: usize,
}

/// Passes mail on to the next worker.
struct Relay {
    mailboxes: Mailboxes<Numbered>,
    report: Sender<(usize, u32)>,
}

impl Protocol for Relay {
    type Conn = ();
    type Mail = Numbered;

    fn accept(&mut self, _: Accepted, _: &mut Io<'_>) {}

    fn input(&mut self, _: &mut (), input: &mut [u8], _: &mut Io<'_>) -> usize {
        input.len()
    }

    fn eof(&mut self, _: &mut (), _: &mut Io<'_>) {}

    fn timer(&mut self, _: &mut (), _: &mut Io<'_>) {}

    fn drained(&mut self, _: &mut (), _: &mut Io<'_>) {}

    fn closed(&mut self, _: (), _: Handle, _: Closed, _: Now) {}

    fn mail(&mut self, mut mail: Numbered, conns: &mut Conns<'_, ()>) {
        if mail.hops == 0 {
            let _ = self.report.send((mail.sender, mail.number));
            return;
        }
        mail.hops -= 1;
        let next = (conns.worker() + mail.hops % 2) % self.mailboxes.workers();
        self.mailboxes.send(next, mail);
    }

    fn tick(&mut self, _: &mut Conns<'_, ()>) {}
}

#[test]
fn all_mail_arrives_in_the_order_of_its_sender() {
    const SENDERS: usize = 4;
    const EACH: u32 = 20_000;
    let (mailboxes, inboxes) = mailboxes(3);
    let (report, reports) = channel();
    let relays = mailboxes.clone();
    let edge = Edge::start(EdgeConfig::default(), inboxes, move |_| Relay {
        mailboxes: relays.clone(),
        report: report.clone(),
    })
    .unwrap();
    thread::scope(|scope| {
        for sender in 0..SENDERS {
            let mailboxes = &mailboxes;
            scope.spawn(move || {
                for number in 0..EACH {
                    // Four hops: to the neighbour, to itself, to the neighbour, to itself.
                    mailboxes.send(sender % 3, Numbered { sender, number, hops: 4 });
                }
            });
        }
    });
    let mut next = [0; SENDERS];
    for _ in 0..SENDERS as u32 * EACH {
        let (sender, number) = reports.recv_timeout(PATIENCE).unwrap();
        assert_eq!(number, next[sender]);
        next[sender] += 1;
    }
    edge.stop(Duration::ZERO);
}

/// A worker that sleeps is woken for each; the tick alone would need more than three minutes.
#[test]
fn a_sleeping_worker_is_woken() {
    let (mailboxes, inboxes) = mailboxes(2);
    let (report, reports) = channel();
    let relays = mailboxes.clone();
    let edge = Edge::start(EdgeConfig::default(), inboxes, move |_| Relay {
        mailboxes: relays.clone(),
        report: report.clone(),
    })
    .unwrap();
    for number in 0..1000 {
        mailboxes.send(0, Numbered { sender: 0, number, hops: 2 });
        assert_eq!(reports.recv_timeout(PATIENCE).unwrap(), (0, number));
    }
    let ticks = edge.counters().totals().turns;
    assert!(ticks >= 1000, "each was a turn of its own");
}

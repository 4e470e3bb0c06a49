//! Mail under contention: from foreign threads, between workers, and to the sending worker.

#![allow(clippy::unwrap_used)] // a test may panic

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use edge::{
    Accepted, Closed, Conns, Edge, EdgeConfig, Handle, Io, Mailboxes, Now, Protocol, bounded_mailboxes,
    mailboxes,
};

const PATIENCE: Duration = Duration::from_secs(60);

struct Numbered {
    sender: usize,
    number: u32,
    /// Workers that the mail must pass before it is reported.
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

/// Handles a mail each time the test allows it.
struct Patient {
    may_go_on: Receiver<()>,
    report: Sender<(usize, u32)>,
}

impl Protocol for Patient {
    type Conn = ();
    type Mail = (usize, u32);

    fn accept(&mut self, _: Accepted, _: &mut Io<'_>) {}

    fn input(&mut self, _: &mut (), input: &mut [u8], _: &mut Io<'_>) -> usize {
        input.len()
    }

    fn eof(&mut self, _: &mut (), _: &mut Io<'_>) {}

    fn timer(&mut self, _: &mut (), _: &mut Io<'_>) {}

    fn drained(&mut self, _: &mut (), _: &mut Io<'_>) {}

    fn closed(&mut self, _: (), _: Handle, _: Closed, _: Now) {}

    fn mail(&mut self, mail: (usize, u32), _: &mut Conns<'_, ()>) {
        // The test may have ended.
        let _ = self.may_go_on.recv();
        let _ = self.report.send(mail);
    }

    fn tick(&mut self, _: &mut Conns<'_, ()>) {}
}

#[test]
fn a_full_mailbox_returns_mail_until_its_worker_has_handled_the_waiting_mail() {
    const SENDERS: usize = 4;
    const EACH: u32 = 1_000;
    const ROOM: usize = 100;
    const WEIGHT: usize = 3;
    let (mailboxes, inboxes) = bounded_mailboxes(1, ROOM);
    let (report, reports) = channel();
    let (let_go_on, may_go_on) = channel();
    let may_go_on = std::sync::Mutex::new(Some(may_go_on));
    let edge = Edge::start(EdgeConfig::default(), inboxes, move |_| Patient {
        may_go_on: may_go_on.lock().unwrap().take().unwrap(),
        report: report.clone(),
    })
    .unwrap();
    // Dropped before the edge, so that its worker ends if an assertion fails.
    let let_go_on = let_go_on;
    let offer = |sender: usize| -> Vec<u32> {
        let taken = |number: &u32| match mailboxes.offer(0, (sender, *number), WEIGHT) {
            Ok(()) => true,
            Err(refused) => {
                assert_eq!(refused, (sender, *number), "the mail itself comes back");
                false
            }
        };
        (0..EACH).filter(taken).collect()
    };
    // The worker has taken some mails and is handling the first one: these count, too.
    let taken: Vec<Vec<u32>> = thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS).map(|sender| scope.spawn(move || offer(sender))).collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).collect()
    });
    let count = taken.iter().map(Vec::len).sum::<usize>();
    assert_eq!(count, ROOM.div_ceil(WEIGHT));
    mailboxes.send(0, (SENDERS, 0));
    assert_eq!(mailboxes.offer(0, (0, EACH), 1), Err((0, EACH)), "full, but for mail that must not be lost");
    drop(let_go_on);
    let mut handled: Vec<Vec<u32>> = vec![Vec::new(); SENDERS + 1];
    for _ in 0..=count {
        let (sender, number) = reports.recv_timeout(PATIENCE).unwrap();
        handled[sender].push(number);
    }
    assert_eq!(handled.pop().unwrap(), [0]);
    assert_eq!(handled, taken, "all that was taken, in the order of its sender");
    let began = std::time::Instant::now();
    while mailboxes.offer(0, (0, EACH), 1).is_err() {
        assert!(began.elapsed() < PATIENCE, "the weight of handled mail is free again");
        thread::yield_now();
    }
    edge.stop(Duration::ZERO);
}

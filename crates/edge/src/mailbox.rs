//! Sends mail to workers from any thread.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::bell::Bell;

/// The default limit on the weight in a mailbox: a million events for one session each, some 100 MB.
pub const MAILBOX_WEIGHT: usize = 1 << 20;

/// Mailboxes of `workers` workers and their receiving ends, each limited to [`MAILBOX_WEIGHT`]. Created before the edge starts, so
/// that the domain can send before the first connection; earlier mail is kept for the start.
pub fn mailboxes<M: Send + 'static>(workers: usize) -> (Mailboxes<M>, Vec<Inbox<M>>) {
    bounded_mailboxes(workers, MAILBOX_WEIGHT)
}

/// [`mailboxes`] with this limit each.
pub fn bounded_mailboxes<M: Send + 'static>(workers: usize, room: usize) -> (Mailboxes<M>, Vec<Inbox<M>>) {
    let boxes: Arc<[Mailbox<M>]> = (0..workers).map(|_| Mailbox::new(room)).collect();
    let inboxes = (0..workers).map(|worker| Inbox { boxes: Arc::clone(&boxes), worker }).collect();
    (Mailboxes { boxes }, inboxes)
}

/// Sends mail to workers from any thread. Cheap to clone.
pub struct Mailboxes<M> {
    boxes: Arc<[Mailbox<M>]>,
}

impl<M> Clone for Mailboxes<M> {
    fn clone(&self) -> Mailboxes<M> {
        Mailboxes { boxes: Arc::clone(&self.boxes) }
    }
}

impl<M: Send + 'static> Mailboxes<M> {
    pub fn workers(&self) -> usize {
        self.boxes.len()
    }

    /// Puts mail of this weight into a worker's mailbox, and wakes the worker once per batch; the order of one sender is
    /// kept. Never blocks longer than another sender's push. Mail to a worker that does not exist or has stopped is
    /// dropped.
    ///
    /// A mailbox that has reached its limit is full: then the mail is returned, and its sender must handle the loss. The last mail may
    /// exceed the limit. Weight counts until the worker has handled the mail.
    ///
    /// On a worker's own thread, wake-ups of other workers are deferred to the end of the loop turn.
    pub fn offer(&self, worker: usize, mail: M, weight: usize) -> Result<(), M> {
        self.push(worker, Letter { mail, weight: u32::try_from(weight).unwrap_or(u32::MAX) })
    }

    /// [`offer`](Self::offer) for mail that must not be lost: it has no weight and is never refused.
    ///
    /// So its senders have to bound it. Send only a few for each connection, such as an answer for which a connection waits without
    /// further reads, the end of a session, or the notice of a full mailbox. Then a mailbox holds a few of these for each of
    /// `max_connections`.
    pub fn send(&self, worker: usize, mail: M) {
        // Mail without weight is never refused.
        let _ = self.push(worker, Letter { mail, weight: 0 });
    }

    fn push(&self, worker: usize, letter: Letter<M>) -> Result<(), M> {
        let Some(mailbox) = self.boxes.get(worker) else { return Ok(()) };
        let mut queue = mailbox.lock();
        if queue.gone {
            return Ok(());
        }
        if letter.weight > 0 && queue.weight >= mailbox.room {
            return Err(letter.mail);
        }
        queue.weight += letter.weight as usize;
        queue.letters.push(letter);
        let asleep = !std::mem::replace(&mut queue.awake, true);
        drop(queue);
        if asleep && let Some(bell) = mailbox.bell.get() {
            ring_or_put_off(bell);
        }
        Ok(())
    }
}

/// Mail in its mailbox.
pub(crate) struct Letter<M> {
    pub(crate) mail: M,
    pub(crate) weight: u32,
}

/// Capacity of an empty queue after a quiet moment. A burst of 1,500 would leave 200 kB in each of the two alternating queues.
pub(crate) const KEPT: usize = 32;

/// A worker's end of its mailbox.
pub struct Inbox<M> {
    boxes: Arc<[Mailbox<M>]>,
    worker: usize,
}

/// No wake-up is lost, because `awake` changes only under the lock of the mail. A worker clears it only when it sees an empty queue
/// ([`Inbox::may_sleep`]). A later sender finds it cleared, sets it, and rings the bell, which keeps a ring from before the sleep.
/// Mail of an earlier sender is seen by the same check.
struct Mailbox<M> {
    room: usize,
    queue: Mutex<Queue<M>>,
    bell: OnceLock<Arc<Bell>>,
}

struct Queue<M> {
    letters: Vec<Letter<M>>,
    /// Weight of the letters, including those that the worker has taken but not handled.
    weight: usize,
    /// The worker will check the mail before it sleeps, or a sender will ring the bell.
    awake: bool,
    /// The worker has ended.
    gone: bool,
}

impl<M> Mailbox<M> {
    fn new(room: usize) -> Mailbox<M> {
        // Awake, because a worker checks its mail before its first sleep.
        let queue = Queue { letters: Vec::new(), weight: 0, awake: true, gone: false };
        Mailbox { room, queue: Mutex::new(queue), bell: OnceLock::new() }
    }

    /// Only lack of memory can panic between lock and unlock, and it leaves the queue intact.
    fn lock(&self) -> MutexGuard<'_, Queue<M>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M> Inbox<M> {
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// All waiting mail, for tests that pass it to a [`Harness`](crate::testing::Harness).
    #[cfg(feature = "testing")]
    pub fn drain(&self) -> Vec<M> {
        let mut letters = Vec::new();
        self.take(&mut letters);
        self.handled(letters.iter().map(|letter| letter.weight as usize).sum());
        letters.into_iter().map(|letter| letter.mail).collect()
    }

    pub(crate) fn hang(&self, bell: Arc<Bell>) {
        // An inbox starts one worker only, so the bell is set once.
        let _ = self.boxes[self.worker].bell.set(bell);
    }

    /// Takes all waiting mail; `into` is empty, and its memory is used for the next batch.
    pub(crate) fn take(&self, into: &mut Vec<Letter<M>>) {
        let mut queue = self.boxes[self.worker].lock();
        std::mem::swap(&mut queue.letters, into);
    }

    /// Mail of this weight is handled, and no longer counts.
    pub(crate) fn handled(&self, weight: usize) {
        if weight > 0 {
            self.boxes[self.worker].lock().weight -= weight;
        }
    }

    /// Frees the memory of a burst after all of it is taken.
    pub(crate) fn shrink(&self) {
        let mut queue = self.boxes[self.worker].lock();
        if queue.letters.is_empty() {
            queue.letters.shrink_to(KEPT);
        }
    }

    /// False if mail is waiting. True: the next mail will ring the bell.
    pub(crate) fn may_sleep(&self) -> bool {
        let mut queue = self.boxes[self.worker].lock();
        queue.awake = !queue.letters.is_empty();
        !queue.awake
    }

    /// After a sleep: senders need not ring the bell.
    pub(crate) fn woke(&self) {
        self.boxes[self.worker].lock().awake = true;
    }
}

impl<M> Drop for Inbox<M> {
    fn drop(&mut self) {
        let mut queue = self.boxes[self.worker].lock();
        queue.gone = true;
        let letters = std::mem::take(&mut queue.letters);
        // Mail may own mailboxes, so it is dropped without the lock.
        drop(queue);
        drop(letters);
    }
}

thread_local! {
    /// On a worker's thread: the workers to wake at the end of this loop turn. None elsewhere.
    static PUT_OFF: RefCell<Option<Vec<Arc<Bell>>>> = const { RefCell::new(None) };
}

fn ring_or_put_off(bell: &Arc<Bell>) {
    // If the thread is ending, the wake-up cannot be deferred.
    let put_off =
        PUT_OFF.try_with(|bells| bells.borrow_mut().as_mut().map(|bells| bells.push(Arc::clone(bell))));
    if !matches!(put_off, Ok(Some(()))) {
        bell.ring();
    }
}

/// While it lives, wake-ups on this thread wait for [`PutOff::ring`]. Dropping it rings too, so that a worker that panics leaves no
/// other worker asleep.
pub(crate) struct PutOff(());

impl PutOff {
    pub(crate) fn begin() -> PutOff {
        PUT_OFF.set(Some(Vec::new()));
        PutOff(())
    }

    pub(crate) fn ring(&self) {
        PUT_OFF.with_borrow_mut(|bells| {
            for bell in bells.iter_mut().flat_map(|bells| bells.drain(..)) {
                bell.ring();
            }
        });
    }
}

impl Drop for PutOff {
    fn drop(&mut self) {
        self.ring();
        PUT_OFF.set(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone, Copy)]
    enum Step {
        Send,
        SendFromWorker,
        EndOfThatWorkersTurn,
        Take,
        TryToSleep,
    }

    proptest! {
        /// The lock makes every step atomic, so threads can only produce some order of steps. In none of them does a worker sleep
        /// with waiting mail and without a ring, past or pending.
        #[test]
        fn no_worker_sleeps_with_waiting_mail(
            steps in prop::collection::vec(
                prop_oneof![
                    Just(Step::Send),
                    Just(Step::SendFromWorker),
                    Just(Step::EndOfThatWorkersTurn),
                    Just(Step::Take),
                    Just(Step::TryToSleep),
                ],
                0..60,
            )
        ) {
            let (mailboxes, inboxes) = mailboxes::<u32>(1);
            let bell = Arc::new(Bell::new().unwrap());
            inboxes[0].hang(Arc::clone(&bell));
            let (mut sent, mut taken, mut asleep) = (0, 0, false);
            let mut put_off = None;
            for step in steps {
                match step {
                    Step::Send | Step::SendFromWorker => {
                        if matches!(step, Step::SendFromWorker) && put_off.is_none() {
                            put_off = Some(PutOff::begin());
                        }
                        mailboxes.send(0, sent);
                        sent += 1;
                    }
                    Step::EndOfThatWorkersTurn => put_off = None,
                    Step::Take if !asleep => {
                        let mut batch = Vec::new();
                        inboxes[0].take(&mut batch);
                        for letter in batch {
                            prop_assert_eq!(letter.mail, taken);
                            taken += 1;
                        }
                    }
                    Step::TryToSleep if !asleep => asleep = inboxes[0].may_sleep(),
                    Step::Take | Step::TryToSleep => {}
                }
                if asleep && bell.has_rung() {
                    asleep = false;
                    inboxes[0].woke();
                }
                let will_ring = PUT_OFF.with_borrow(|bells| bells.as_ref().is_some_and(|bells| !bells.is_empty()));
                prop_assert!(!asleep || taken == sent || will_ring, "asleep on mail");
            }
        }
    }

    /// The steps of a mailbox's owner and of its senders.
    #[derive(Debug, Clone)]
    enum Act {
        Offer(usize),
        SendAnyway,
        Take,
        /// All that was taken.
        Handle,
    }

    proptest! {
        #[test]
        fn weight_is_bounded_until_mail_is_handled(
            room in 1..40_usize,
            acts in prop::collection::vec(
                prop_oneof![
                    4 => (1..10_usize).prop_map(Act::Offer),
                    1 => Just(Act::SendAnyway),
                    1 => Just(Act::Take),
                    1 => Just(Act::Handle),
                ],
                0..100,
            )
        ) {
            let (mailboxes, inboxes) = bounded_mailboxes::<usize>(1, room);
            let (mut waiting, mut taken, mut heaviest) = (0, Vec::new(), 0);
            for act in acts {
                match act {
                    Act::Offer(weight) => {
                        let fits = waiting < room;
                        prop_assert_eq!(mailboxes.offer(0, weight, weight), if fits { Ok(()) } else { Err(weight) });
                        waiting += if fits { weight } else { 0 };
                        heaviest = heaviest.max(weight);
                    }
                    Act::SendAnyway => mailboxes.send(0, 0),
                    Act::Take => {
                        let mut batch = Vec::new();
                        inboxes[0].take(&mut batch);
                        taken.extend(batch.into_iter().map(|letter| letter.mail));
                    }
                    Act::Handle => {
                        let weight = std::mem::take(&mut taken).into_iter().sum();
                        inboxes[0].handled(weight);
                        waiting -= weight;
                    }
                }
                prop_assert!(waiting < room + heaviest.max(1));
            }
        }
    }

    #[test]
    fn a_batch_rings_once() {
        let (mailboxes, inboxes) = mailboxes::<u32>(1);
        let bell = Arc::new(Bell::new().unwrap());
        inboxes[0].hang(Arc::clone(&bell));
        assert!(inboxes[0].may_sleep());
        mailboxes.send(0, 1);
        assert!(bell.has_rung());
        mailboxes.send(0, 2);
        assert!(!bell.has_rung());
        assert_eq!(inboxes[0].drain(), [1, 2]);
    }

    #[test]
    fn a_burst_frees_its_memory_after_it_is_taken() {
        let (mailboxes, inboxes) = mailboxes::<u32>(1);
        (0..1_000).for_each(|mail| mailboxes.send(0, mail));
        let capacity = || inboxes[0].boxes[0].lock().letters.capacity();
        inboxes[0].shrink();
        assert!(capacity() >= 1_000, "it holds mail");
        let mut batch = Vec::with_capacity(1_000);
        inboxes[0].take(&mut batch);
        inboxes[0].shrink();
        assert_eq!((batch.len(), capacity()), (1_000, KEPT));
    }

    #[test]
    fn mail_to_a_missing_worker_is_dropped() {
        let (mailboxes, inboxes) = mailboxes::<Arc<()>>(1);
        let mail = Arc::new(());
        mailboxes.send(0, Arc::clone(&mail));
        drop(inboxes);
        mailboxes.send(0, Arc::clone(&mail));
        mailboxes.send(7, Arc::clone(&mail));
        assert_eq!(Arc::strong_count(&mail), 1);
    }
}

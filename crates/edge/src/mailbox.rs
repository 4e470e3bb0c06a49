//! The way to workers from any thread.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::bell::Bell;

/// The weight that may wait in a mailbox, where nothing else is said: a million events for one session each, some
/// 100 MB.
pub const MAILBOX_WEIGHT: usize = 1 << 20;

/// Mailboxes of `workers` workers and their receiving ends, each with room for [`MAILBOX_WEIGHT`]. Made before the edge
/// starts, so that the domain has its way back before the first connection comes; what is sent before the start is
/// there after it.
pub fn mailboxes<M: Send + 'static>(workers: usize) -> (Mailboxes<M>, Vec<Inbox<M>>) {
    bounded_mailboxes(workers, MAILBOX_WEIGHT)
}

/// [`mailboxes`] of which each has room for so much weight.
pub fn bounded_mailboxes<M: Send + 'static>(workers: usize, room: usize) -> (Mailboxes<M>, Vec<Inbox<M>>) {
    let boxes: Arc<[Mailbox<M>]> = (0..workers).map(|_| Mailbox::new(room)).collect();
    let inboxes = (0..workers).map(|worker| Inbox { boxes: Arc::clone(&boxes), worker }).collect();
    (Mailboxes { boxes }, inboxes)
}

/// The way to workers from any thread. Cheap to clone.
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
    /// A mailbox whose mail has all the weight it has room for is full: then the mail is given back, and its sender
    /// must have a way to go on without it. The last mail may be heavier than the room that is left. Weight counts until
    /// the worker has handled the mail.
    ///
    /// On a worker's own thread the wake-ups of others are put off to the end of the loop turn.
    pub fn offer(&self, worker: usize, mail: M, weight: usize) -> Result<(), M> {
        self.push(worker, Letter { mail, weight: u32::try_from(weight).unwrap_or(u32::MAX) })
    }

    /// [`offer`](Self::offer) for mail that must not be lost: it has no weight and is never refused.
    ///
    /// So its senders have to bound it. Only send what there are a few of for each connection: an answer to the request
    /// for which a connection waits and reads nothing more, the end of a session, a note that a mailbox was full. Then a
    /// mailbox holds a few of these for each of `max_connections`.
    pub fn send(&self, worker: usize, mail: M) {
        // Without weight nothing is refused.
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

/// An empty queue of mail keeps room for so many after a quiet moment: a burst of 1,500 would leave 200 kB in each of
/// the two that take turns.
pub(crate) const KEPT: usize = 32;

/// A worker's end of its mailbox.
pub struct Inbox<M> {
    boxes: Arc<[Mailbox<M>]>,
    worker: usize,
}

/// No wake-up is lost: `awake` changes only under the lock that guards the mail. A worker turns it off only in the
/// moment in which it sees that there is no mail ([`Inbox::may_sleep`]); whoever pushes afterwards finds it off, turns
/// it on, and is the one who rings. The bell keeps a ring that comes before the worker really sleeps. Whoever pushes
/// earlier is seen by that same look.
struct Mailbox<M> {
    room: usize,
    queue: Mutex<Queue<M>>,
    bell: OnceLock<Arc<Bell>>,
}

struct Queue<M> {
    letters: Vec<Letter<M>>,
    /// Of the letters, and of those that the worker has taken and not handled.
    weight: usize,
    /// The worker will look at the mail before it sleeps, or somebody has promised to ring.
    awake: bool,
    /// Nobody will ever take mail again.
    gone: bool,
}

impl<M> Mailbox<M> {
    fn new(room: usize) -> Mailbox<M> {
        // Awake, because a worker looks before it sleeps for the first time.
        let queue = Queue { letters: Vec::new(), weight: 0, awake: true, gone: false };
        Mailbox { room, queue: Mutex::new(queue), bell: OnceLock::new() }
    }

    /// A panic between lock and unlock is impossible but for lack of memory, and leaves the queue whole.
    fn lock(&self) -> MutexGuard<'_, Queue<M>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M> Inbox<M> {
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// All mail there is: for tests that carry it to a [`Harness`](crate::testing::Harness) by hand.
    #[cfg(feature = "testing")]
    pub fn drain(&self) -> Vec<M> {
        let mut letters = Vec::new();
        self.take(&mut letters);
        self.handled(letters.iter().map(|letter| letter.weight as usize).sum());
        letters.into_iter().map(|letter| letter.mail).collect()
    }

    pub(crate) fn hang(&self, bell: Arc<Bell>) {
        // An inbox starts one worker only, so that the bell is hung once.
        let _ = self.boxes[self.worker].bell.set(bell);
    }

    /// Takes all mail there is; `into` is empty and lends its memory to the next batch.
    pub(crate) fn take(&self, into: &mut Vec<Letter<M>>) {
        let mut queue = self.boxes[self.worker].lock();
        std::mem::swap(&mut queue.letters, into);
    }

    /// Mail of this weight was taken and is handled: there is room for as much again.
    pub(crate) fn handled(&self, weight: usize) {
        if weight > 0 {
            self.boxes[self.worker].lock().weight -= weight;
        }
    }

    /// Gives the memory of a burst back, if all of it is taken.
    pub(crate) fn shrink(&self) {
        let mut queue = self.boxes[self.worker].lock();
        if queue.letters.is_empty() {
            queue.letters.shrink_to(KEPT);
        }
    }

    /// False if there is mail. True: the next mail will ring.
    pub(crate) fn may_sleep(&self) -> bool {
        let mut queue = self.boxes[self.worker].lock();
        queue.awake = !queue.letters.is_empty();
        !queue.awake
    }

    /// After a sleep: senders need not ring.
    pub(crate) fn woke(&self) {
        self.boxes[self.worker].lock().awake = true;
    }
}

impl<M> Drop for Inbox<M> {
    fn drop(&mut self) {
        let mut queue = self.boxes[self.worker].lock();
        queue.gone = true;
        let letters = std::mem::take(&mut queue.letters);
        // Mail may own mailboxes: it is dropped without the lock.
        drop(queue);
        drop(letters);
    }
}

thread_local! {
    /// On a worker's thread: whom to wake at the end of this loop turn. None elsewhere.
    static PUT_OFF: RefCell<Option<Vec<Arc<Bell>>>> = const { RefCell::new(None) };
}

fn ring_or_put_off(bell: &Arc<Bell>) {
    // The thread may be ending: then there is no later.
    let put_off =
        PUT_OFF.try_with(|bells| bells.borrow_mut().as_mut().map(|bells| bells.push(Arc::clone(bell))));
    if !matches!(put_off, Ok(Some(()))) {
        bell.ring();
    }
}

/// While it lives, wake-ups on this thread wait for [`PutOff::ring`]. Dropping it rings too, so that a worker that dies
/// leaves nobody asleep.
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
        /// Every step is atomic, by the lock; so all that threads can do is some order of steps. In none of them does a
        /// worker sleep while there is mail and nobody has rung or is going to.
        #[test]
        fn nobody_sleeps_on_mail(
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

    /// What the owner of a mailbox and its senders do.
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
    fn a_burst_gives_its_memory_back_when_it_is_taken() {
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
    fn mail_to_nobody_is_dropped() {
        let (mailboxes, inboxes) = mailboxes::<Arc<()>>(1);
        let mail = Arc::new(());
        mailboxes.send(0, Arc::clone(&mail));
        drop(inboxes);
        mailboxes.send(0, Arc::clone(&mail));
        mailboxes.send(7, Arc::clone(&mail));
        assert_eq!(Arc::strong_count(&mail), 1);
    }
}

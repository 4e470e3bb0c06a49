//! What waits to be told to who is away, and what they were told: soft, bounded, and lost with the node.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use smallvec::SmallVec;

use crate::notifications::mail::LOOK_MS;
use crate::notifications::ring::Rings;
use crate::notifications::{Mailer, Notifier, PushedRing, Ring, RingingCall};
use crate::session::Roll;
use crate::site::share::SiteCounts;
use crate::{CallId, ConversationId, Seq, Timestamp, UserId};

/// From the first message to the notice: who comes back or reads elsewhere in this time needs none, and several are one.
pub(crate) const PAUSE_MS: u64 = 4_000;
/// From a notice to the next one of the same conversation; what comes meanwhile is told together.
pub(crate) const AGAIN_MS: u64 = 30_000;
/// Notices older than this are not cleared any more: the push services have dropped them, too.
pub(crate) const SHOWN_MS: u64 = 24 * 3_600_000;
/// Users who wait for a notice; more are not told.
const MAX_WAITING: usize = 50_000;
/// Conversations of one user that wait for a notice; more are not told, and a lock screen has no room for them.
const MAX_CONVERSATIONS: usize = 8;
/// Notices that can be cleared. One more and all are forgotten: then they stay until somebody looks at the screen.
const MAX_SHOWN: usize = 200_000;
/// Users who are looked up in one go.
const MAX_DUE: usize = 64;

pub(crate) struct Desk {
    notifier: OnceLock<Arc<dyn Notifier>>,
    /// Users with a browser that takes notifications, one bit each. All others cost nothing else.
    reached: Roll,
    mailer: OnceLock<Arc<dyn Mailer>>,
    /// Users who want a digest and have none pending, one bit each.
    mailable: Roll,
    /// When it was looked whose digest is due.
    looked: AtomicU64,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    waiting: HashMap<UserId, Conversations>,
    waiting_by_site: SiteCounts,
    /// When each who waits is due. An entry without one who waits means nothing.
    due: BinaryHeap<Reverse<(Timestamp, UserId)>>,
    /// When, and up to which message.
    shown: HashMap<(UserId, ConversationId), (Timestamp, Seq)>,
    rings: Rings,
}

type Conversations = SmallVec<[ConversationId; 2]>;

impl Desk {
    pub(crate) fn new() -> Desk {
        Desk {
            notifier: OnceLock::new(),
            reached: Roll::default(),
            mailer: OnceLock::new(),
            mailable: Roll::default(),
            looked: AtomicU64::new(0),
            book: Mutex::default(),
        }
    }

    /// None: this node carries no notifications.
    pub(crate) fn notifier(&self) -> Option<&Arc<dyn Notifier>> {
        self.notifier.get()
    }

    /// For the node's whole life.
    pub(crate) fn begin(&self, notifier: Arc<dyn Notifier>) {
        // A second one would be a mistake of the wiring, and changes nothing.
        let _ = self.notifier.set(notifier);
    }

    pub(crate) fn reach(&self, user: UserId) {
        self.reached.enter(user);
    }

    pub(crate) fn lose(&self, user: UserId) {
        self.reached.leave(user);
    }

    pub(crate) fn reaches(&self, user: UserId) -> bool {
        self.notifier.get().is_some() && self.reached.has(user)
    }

    /// None: this node sends no mail.
    pub(crate) fn mailer(&self) -> Option<&Arc<dyn Mailer>> {
        self.mailer.get()
    }

    /// For the node's whole life.
    pub(crate) fn begin_mail(&self, mailer: Arc<dyn Mailer>) {
        let _ = self.mailer.set(mailer);
    }

    pub(crate) fn mail_may_be_due(&self, user: UserId) {
        self.mailable.enter(user);
    }

    pub(crate) fn is_mailable(&self, user: UserId) -> bool {
        self.mailer.get().is_some() && self.mailable.has(user)
    }

    /// None of theirs may become due until it is said again.
    pub(crate) fn mail_is_not_due(&self, user: UserId) {
        self.mailable.leave(user);
    }

    pub(crate) fn is_mail_time(&self, now: Timestamp) -> bool {
        let is_time = now.0.abs_diff(self.looked.load(Ordering::Relaxed)) >= LOOK_MS;
        if is_time {
            self.looked.store(now.0, Ordering::Relaxed);
        }
        is_time
    }

    /// Of some users of one site, those who can be told.
    pub(crate) fn reached<'a>(&self, users: impl Iterator<Item = UserId> + Clone + 'a) -> Vec<UserId> {
        if self.notifier.get().is_none() && self.mailer.get().is_none() {
            return Vec::new();
        }
        let by = self.reached.which(users.clone()).into_iter().zip(self.mailable.which(users.clone()));
        users.zip(by).filter(|(_, (by_push, by_mail))| *by_push || *by_mail).map(|(user, _)| user).collect()
    }

    /// Something is new in a conversation of a user who is away.
    pub(crate) fn wait(&self, user: UserId, conversation: ConversationId, now: Timestamp) {
        self.book().wait(user, conversation, Timestamp(now.0 + PAUSE_MS));
    }

    /// Users whose notices are due, and of what.
    pub(crate) fn due(&self, now: Timestamp) -> Vec<(UserId, Vec<ConversationId>)> {
        self.book().due(now)
    }

    /// The notices that may be shown now; the others wait until it is long enough after the one before. A message is shown once.
    pub(crate) fn show(&self, user: UserId, conversation: ConversationId, seq: Seq, now: Timestamp) -> bool {
        self.book().show(user, conversation, seq, now)
    }

    /// It was read: what waits is not told. True: what was shown must be cleared.
    pub(crate) fn read(&self, user: UserId, conversation: ConversationId, now: Timestamp) -> bool {
        self.book().read(user, conversation, now)
    }

    /// A call rings at a user with a browser.
    pub(crate) fn ring(&self, call: RingingCall) {
        self.book().rings.begin(call);
    }

    pub(crate) fn due_rings(&self, now: Timestamp) -> Vec<RingingCall> {
        self.book().rings.due(now)
    }

    /// May the call be pushed? Then its notice is the one that is shown.
    pub(crate) fn push_ring(&self, call: &RingingCall, ring: &Arc<Ring>, now: Timestamp) -> bool {
        let mut book = self.book();
        let may_push = book.rings.push(call, ring, now);
        if may_push {
            book.replace(call.to, call.conversation, Seq(0), now);
        }
        may_push
    }

    /// The call rings no more. Answers the notice that has to be replaced.
    pub(crate) fn end_ring(&self, user: UserId, call: CallId) -> Option<PushedRing> {
        self.book().rings.end(user, call)
    }

    /// A notice of all up to a message is shown now, whatever was shown before and whatever waits.
    pub(crate) fn replace(&self, user: UserId, conversation: ConversationId, seq: Seq, now: Timestamp) {
        self.book().replace(user, conversation, seq, now);
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // After a panic in between a notice is missing at worst.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn wait(&mut self, user: UserId, conversation: ConversationId, due: Timestamp) {
        if let Some(waiting) = self.waiting.get_mut(&user) {
            if waiting.len() < MAX_CONVERSATIONS && !waiting.contains(&conversation) {
                waiting.push(conversation);
            }
        } else if self.waiting_by_site.has_place(user.site, MAX_WAITING) && self.due.len() < 2 * MAX_WAITING {
            self.waiting_by_site.add(user.site);
            self.waiting.insert(user, SmallVec::from_slice(&[conversation]));
            self.due.push(Reverse((due, user)));
        }
    }

    fn due(&mut self, now: Timestamp) -> Vec<(UserId, Vec<ConversationId>)> {
        let mut users = Vec::new();
        while users.len() < MAX_DUE
            && let Some(Reverse((due, user))) = self.due.peek().copied()
            // A clock that jumps back makes nobody wait for longer than the usual time.
            && (due <= now || due.0 > now.0 + PAUSE_MS + AGAIN_MS)
        {
            self.due.pop();
            if let Some(conversations) = self.waiting.remove(&user) {
                self.waiting_by_site.remove(user.site);
                users.push((user, conversations.into_vec()));
            }
        }
        if self.waiting.is_empty() && self.waiting.capacity() > MAX_DUE {
            (self.waiting, self.due) = Default::default();
        }
        users
    }

    fn show(&mut self, user: UserId, conversation: ConversationId, seq: Seq, now: Timestamp) -> bool {
        if self.rings.is_shown(user, conversation) {
            // The end of the call brings the next notice, with all that came meanwhile.
            self.wait(user, conversation, Timestamp(now.0 + AGAIN_MS));
            return false;
        }
        let before = self.shown.get(&(user, conversation)).copied();
        if before.is_some_and(|(_, before)| before >= seq) {
            return false;
        }
        if let Some((before, _)) = before
            && now >= before
            && now.since(before) < AGAIN_MS
        {
            self.wait(user, conversation, Timestamp(before.0 + AGAIN_MS));
            return false;
        }
        self.keep_shown(user, conversation, seq, now);
        true
    }

    fn keep_shown(&mut self, user: UserId, conversation: ConversationId, seq: Seq, now: Timestamp) {
        if self.shown.len() >= MAX_SHOWN {
            self.shown = HashMap::new();
        }
        self.shown.insert((user, conversation), (now, seq));
    }

    fn replace(&mut self, user: UserId, conversation: ConversationId, seq: Seq, now: Timestamp) {
        self.forget_waiting(user, conversation);
        let before = self.shown.get(&(user, conversation)).map_or(Seq(0), |(_, before)| *before);
        self.keep_shown(user, conversation, seq.max(before), now);
    }

    fn forget_waiting(&mut self, user: UserId, conversation: ConversationId) {
        if let Some(waiting) = self.waiting.get_mut(&user) {
            waiting.retain(|one| *one != conversation);
            if waiting.is_empty() {
                self.waiting.remove(&user);
                self.waiting_by_site.remove(user.site);
            }
        }
    }

    fn read(&mut self, user: UserId, conversation: ConversationId, now: Timestamp) -> bool {
        self.forget_waiting(user, conversation);
        let shown = self.shown.remove(&(user, conversation));
        if self.shown.is_empty() {
            self.shown = HashMap::new();
        }
        shown.is_some_and(|(shown, _)| now.since(shown) < SHOWN_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SiteId;

    fn user(num: u32) -> UserId {
        UserId { site: SiteId(1), num }
    }

    fn with(num: u32) -> ConversationId {
        ConversationId::direct(user(1), user(num)).expect("two users")
    }

    const START: u64 = 1_800_000_000_000;

    #[test]
    fn several_messages_are_one_notice_and_the_next_one_waits() {
        let mut book = Book::default();
        let at = |ms| Timestamp(START + ms);
        for ms in [0, 1_000, 3_999] {
            book.wait(user(1), with(2), at(ms + PAUSE_MS));
        }
        book.wait(user(1), with(3), at(2_000 + PAUSE_MS));
        assert!(book.due(at(PAUSE_MS - 1)).is_empty());
        assert_eq!(book.due(at(PAUSE_MS)), [(user(1), vec![with(2), with(3)])]);
        assert!(book.show(user(1), with(2), Seq(1), at(PAUSE_MS)));

        book.wait(user(1), with(2), at(10_000));
        assert_eq!(book.due(at(10_000)).len(), 1);
        assert!(!book.show(user(1), with(2), Seq(2), at(10_000)), "too soon after the last one");
        assert!(book.show(user(1), with(3), Seq(1), at(10_000)), "another conversation");
        assert!(book.due(at(PAUSE_MS + AGAIN_MS - 1)).is_empty());
        assert_eq!(book.due(at(PAUSE_MS + AGAIN_MS)), [(user(1), vec![with(2)])]);
        assert!(book.show(user(1), with(2), Seq(2), at(PAUSE_MS + AGAIN_MS)));
        let later = at(10 * AGAIN_MS);
        assert!(!book.show(user(1), with(2), Seq(2), later), "nothing that is newer");
        assert!(book.due(Timestamp(later.0 + AGAIN_MS)).is_empty());
    }

    #[test]
    fn what_is_read_is_not_told_and_what_was_told_is_cleared_once() {
        let mut book = Book::default();
        let now = Timestamp(START);
        book.wait(user(1), with(2), now);
        book.wait(user(1), with(3), now);
        assert!(!book.read(user(1), with(2), now), "nothing was shown");
        assert_eq!(book.due(now), [(user(1), vec![with(3)])]);
        assert!(book.show(user(1), with(3), Seq(1), now));
        assert!(book.read(user(1), with(3), now) && !book.read(user(1), with(3), now));
        assert!(book.show(user(1), with(3), Seq(1), now), "after reading, the next one is told at once");
        assert!(!book.read(user(1), with(3), Timestamp(START + SHOWN_MS)), "too long ago");
    }

    #[test]
    fn there_are_bounds() {
        let mut book = Book::default();
        let now = Timestamp(START);
        for num in 2..100 {
            book.wait(user(1), with(num), now);
        }
        assert_eq!(book.due(now)[0].1.len(), MAX_CONVERSATIONS);
        for num in 0..MAX_WAITING as u32 + 10 {
            book.wait(user(num), with(2), now);
        }
        let of_one_site = MAX_WAITING - MAX_WAITING / 64 * 8;
        assert_eq!(book.waiting.len(), of_one_site, "the last places are for other sites");
        let elsewhere = UserId { site: SiteId(2), num: 1 };
        book.wait(elsewhere, with(2), now);
        assert!(book.waiting.contains_key(&elsewhere));
        assert_eq!(book.due(now).len(), MAX_DUE);
        // Read before they are due, they leave nothing behind but their moments, of which there are only so many.
        for round in 0..3 {
            for num in 0..MAX_WAITING as u32 {
                book.wait(user(num), with(2), Timestamp(START + 1_000 + round));
                book.read(user(num), with(2), now);
            }
        }
        assert!(book.due.len() <= 2 * MAX_WAITING, "{}", book.due.len());
    }

    #[test]
    fn a_clock_that_jumps_back_holds_nothing_up() {
        let mut book = Book::default();
        book.wait(user(1), with(2), Timestamp(START + 3_600_000));
        assert_eq!(book.due(Timestamp(START)).len(), 1);
    }
}

//! The queue of notices for absent users, and the notices that were shown: bounded, in memory only, and lost
//! with the node.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use smallvec::SmallVec;

use crate::limits::Due;
use crate::notifications::apps::wake_rate;
use crate::notifications::mail::LOOK_MS;
use crate::notifications::ring::Rings;
use crate::notifications::{AppWaker, Mailer, Notifier, PushedRing, Reached, Ring, RingingCall};
use crate::session::Roll;
use crate::site::share::SiteCounts;
use crate::{CallId, ConversationId, Seq, Timestamp, UserId};

/// Milliseconds from the first message to the notice. A user who returns or reads elsewhere in this time
/// needs no notice, and several messages become one.
pub(crate) const PAUSE_MS: u64 = 4_000;
/// Milliseconds between two notices of a conversation; messages in between are combined.
pub(crate) const AGAIN_MS: u64 = 30_000;
/// Milliseconds after which notices are not cleared any more: push services have dropped them, too.
pub(crate) const SHOWN_MS: u64 = 24 * 3_600_000;
/// Users with a pending notice; further users get none.
const MAX_WAITING: usize = 50_000;
/// Conversations with a pending notice of one user; further ones get none. A lock screen has no space for
/// more.
const MAX_CONVERSATIONS: usize = 8;
/// Shown notices that can be cleared. One more, and all are forgotten: they stay until the user removes them.
const MAX_SHOWN: usize = 200_000;
/// Users whose rate of waking is known. At the bound, those who may be woken at once are forgotten, or all.
const MAX_WOKEN: usize = 50_000;
/// Users whose facts are read together.
const MAX_DUE: usize = 64;

pub(crate) struct Desk {
    notifier: OnceLock<Arc<dyn Notifier>>,
    /// Users with a subscribed browser or an app with a push service, one bit each. Other users cost nothing else.
    reached: Roll,
    waker: OnceLock<Arc<dyn AppWaker>>,
    /// Users with an app, of `reached`.
    with_apps: Roll,
    mailer: OnceLock<Arc<dyn Mailer>>,
    /// Users who want a digest and have none pending, one bit each.
    mailable: Roll,
    /// The last search for due digests.
    looked: AtomicU64,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    waiting: HashMap<UserId, Conversations>,
    waiting_by_site: SiteCounts,
    /// The due time of each waiting user. Entries of users who no longer wait are ignored.
    due: BinaryHeap<Reverse<(Timestamp, UserId)>>,
    /// The time of the notice, and its last message.
    shown: HashMap<(UserId, ConversationId), Shown>,
    /// When apps were woken.
    woken: HashMap<UserId, Due>,
    rings: Rings,
}

#[derive(Clone, Copy)]
struct Shown {
    at: Timestamp,
    last: Seq,
    by: Channels,
}

/// Which channels show a notice. Only browsers clear it later.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channels {
    BrowsersToo,
    AppsAlone,
}

type Conversations = SmallVec<[ConversationId; 2]>;

impl Desk {
    pub(crate) fn new() -> Desk {
        Desk {
            notifier: OnceLock::new(),
            reached: Roll::default(),
            waker: OnceLock::new(),
            with_apps: Roll::default(),
            mailer: OnceLock::new(),
            mailable: Roll::default(),
            looked: AtomicU64::new(0),
            book: Mutex::default(),
        }
    }

    /// None: this node sends no notifications.
    pub(crate) fn notifier(&self) -> Option<&Arc<dyn Notifier>> {
        self.notifier.get()
    }

    /// Sets the notifier for the rest of the node's life.
    pub(crate) fn begin(&self, notifier: Arc<dyn Notifier>) {
        // A second call would be a mistake in the wiring, and has no effect.
        let _ = self.notifier.set(notifier);
    }

    pub(crate) fn reach(&self, user: UserId) {
        self.reached.enter(user);
    }

    pub(crate) fn reach_app(&self, user: UserId) {
        self.with_apps.enter(user);
        self.reached.enter(user);
    }

    pub(crate) fn lose_browsers(&self, user: UserId) {
        if !self.with_apps.has(user) {
            self.reached.leave(user);
        }
    }

    /// The user has these channels left.
    pub(crate) fn keep_reached(&self, user: UserId, left: Reached) {
        if !left.apps {
            self.with_apps.leave(user);
        }
        if left == Reached::default() {
            self.reached.leave(user);
        }
    }

    pub(crate) fn has_apps(&self, user: UserId) -> bool {
        self.with_apps.has(user)
    }

    /// Users are reached only on a node that sends notices.
    pub(crate) fn reaches(&self, user: UserId) -> bool {
        self.reached.has(user)
    }

    /// None: this node wakes no apps.
    pub(crate) fn waker(&self) -> Option<&Arc<dyn AppWaker>> {
        self.waker.get()
    }

    /// Sets the waker for the rest of the node's life.
    pub(crate) fn begin_waking(&self, waker: Arc<dyn AppWaker>) {
        let _ = self.waker.set(waker);
    }

    /// Whether this node has any channel for notices.
    pub(crate) fn is_on(&self) -> bool {
        self.notifier.get().is_some() || self.waker.get().is_some()
    }

    /// Counts that the apps of a user are woken. False: they were too often.
    pub(crate) fn may_wake(&self, user: UserId, now: Timestamp) -> bool {
        self.book().may_wake(user, now)
    }

    /// None: this node sends no mail.
    pub(crate) fn mailer(&self) -> Option<&Arc<dyn Mailer>> {
        self.mailer.get()
    }

    /// Sets the mailer for the rest of the node's life.
    pub(crate) fn begin_mail(&self, mailer: Arc<dyn Mailer>) {
        let _ = self.mailer.set(mailer);
    }

    pub(crate) fn mail_may_be_due(&self, user: UserId) {
        self.mailable.enter(user);
    }

    pub(crate) fn is_mailable(&self, user: UserId) -> bool {
        self.mailer.get().is_some() && self.mailable.has(user)
    }

    /// No digest of the user may become due until it is scheduled again.
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

    /// The users, all of one site, who have a channel for notifications.
    pub(crate) fn reached<'a>(&self, users: impl Iterator<Item = UserId> + Clone + 'a) -> Vec<UserId> {
        if !self.is_on() && self.mailer.get().is_none() {
            return Vec::new();
        }
        let by = self.reached.which(users.clone()).into_iter().zip(self.mailable.which(users.clone()));
        users.zip(by).filter(|(_, (by_push, by_mail))| *by_push || *by_mail).map(|(user, _)| user).collect()
    }

    /// Queues a notice for a conversation of an absent user.
    pub(crate) fn wait(&self, user: UserId, conversation: ConversationId, now: Timestamp) {
        self.book().wait(user, conversation, Timestamp(now.0 + PAUSE_MS));
    }

    /// The users with due notices, and the conversations of these notices.
    pub(crate) fn due(&self, now: Timestamp) -> Vec<(UserId, Vec<ConversationId>)> {
        self.book().due(now)
    }

    /// Whether a notice may be shown now; otherwise it waits for the pause after the previous one. A message
    /// is shown once.
    pub(crate) fn show(
        &self,
        user: UserId,
        conversation: ConversationId,
        seq: Seq,
        by: Channels,
        now: Timestamp,
    ) -> bool {
        self.book().show(user, conversation, seq, by, now)
    }

    /// The conversation was read: drops its pending notice. True: the shown notice must be cleared.
    pub(crate) fn read(&self, user: UserId, conversation: ConversationId, now: Timestamp) -> bool {
        self.book().read(user, conversation, now)
    }

    /// A call rings for a user with a subscribed browser.
    pub(crate) fn ring(&self, call: RingingCall) {
        self.book().rings.begin(call);
    }

    pub(crate) fn due_rings(&self, now: Timestamp) -> Vec<RingingCall> {
        self.book().rings.due(now)
    }

    /// Whether the call may be pushed. Its notice then replaces the shown one.
    pub(crate) fn push_ring(&self, call: &RingingCall, ring: &Arc<Ring>, now: Timestamp) -> bool {
        let mut book = self.book();
        let may_push = book.rings.push(call, ring, now);
        if may_push {
            book.replace(call.to, call.conversation, Seq(0), now);
        }
        may_push
    }

    /// The call no longer rings. Answers the notice that has to be replaced.
    pub(crate) fn end_ring(&self, user: UserId, call: CallId) -> Option<PushedRing> {
        self.book().rings.end(user, call)
    }

    /// Shows a notice of all messages up to `seq` now, and replaces shown and pending ones.
    pub(crate) fn replace(&self, user: UserId, conversation: ConversationId, seq: Seq, now: Timestamp) {
        self.book().replace(user, conversation, seq, now);
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // The worst result of a panic in between is a missing notice.
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
            // A clock that was set back delays a notice by no more than the usual time.
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

    fn show(
        &mut self,
        user: UserId,
        conversation: ConversationId,
        seq: Seq,
        by: Channels,
        now: Timestamp,
    ) -> bool {
        if self.rings.is_shown(user, conversation) {
            // The end of the call leads to the next notice, with all messages since.
            self.wait(user, conversation, Timestamp(now.0 + AGAIN_MS));
            return false;
        }
        let before = self.shown.get(&(user, conversation)).copied();
        if before.is_some_and(|before| before.last >= seq) {
            return false;
        }
        if let Some(Shown { at: before, .. }) = before
            && now >= before
            && now.since(before) < AGAIN_MS
        {
            self.wait(user, conversation, Timestamp(before.0 + AGAIN_MS));
            return false;
        }
        // Browsers still show the notice before.
        let by = before.map_or(by, |before| if before.by == Channels::BrowsersToo { before.by } else { by });
        self.keep_shown(user, conversation, Shown { at: now, last: seq, by });
        true
    }

    fn keep_shown(&mut self, user: UserId, conversation: ConversationId, shown: Shown) {
        if self.shown.len() >= MAX_SHOWN {
            self.shown = HashMap::new();
        }
        self.shown.insert((user, conversation), shown);
    }

    fn may_wake(&mut self, user: UserId, now: Timestamp) -> bool {
        if self.woken.len() >= MAX_WOKEN && !self.woken.contains_key(&user) {
            self.woken.retain(|_, due| !due.is_idle(now));
            if self.woken.len() >= MAX_WOKEN {
                self.woken = HashMap::new();
            }
        }
        wake_rate().take(self.woken.entry(user).or_default(), now).is_ok()
    }

    fn replace(&mut self, user: UserId, conversation: ConversationId, seq: Seq, now: Timestamp) {
        self.forget_waiting(user, conversation);
        let before = self.shown.get(&(user, conversation)).map_or(Seq(0), |before| before.last);
        let shown = Shown { at: now, last: seq.max(before), by: Channels::BrowsersToo };
        self.keep_shown(user, conversation, shown);
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
        shown.is_some_and(|shown| shown.by == Channels::BrowsersToo && now.since(shown.at) < SHOWN_MS)
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
    fn several_messages_become_one_notice_and_the_next_one_waits() {
        let mut book = Book::default();
        let at = |ms| Timestamp(START + ms);
        for ms in [0, 1_000, 3_999] {
            book.wait(user(1), with(2), at(ms + PAUSE_MS));
        }
        book.wait(user(1), with(3), at(2_000 + PAUSE_MS));
        assert!(book.due(at(PAUSE_MS - 1)).is_empty());
        assert_eq!(book.due(at(PAUSE_MS)), [(user(1), vec![with(2), with(3)])]);
        assert!(book.show(user(1), with(2), Seq(1), Channels::BrowsersToo, at(PAUSE_MS)));

        book.wait(user(1), with(2), at(10_000));
        assert_eq!(book.due(at(10_000)).len(), 1);
        assert!(
            !book.show(user(1), with(2), Seq(2), Channels::BrowsersToo, at(10_000)),
            "too soon after the last one"
        );
        assert!(
            book.show(user(1), with(3), Seq(1), Channels::BrowsersToo, at(10_000)),
            "another conversation"
        );
        assert!(book.due(at(PAUSE_MS + AGAIN_MS - 1)).is_empty());
        assert_eq!(book.due(at(PAUSE_MS + AGAIN_MS)), [(user(1), vec![with(2)])]);
        assert!(book.show(user(1), with(2), Seq(2), Channels::BrowsersToo, at(PAUSE_MS + AGAIN_MS)));
        let later = at(10 * AGAIN_MS);
        assert!(!book.show(user(1), with(2), Seq(2), Channels::BrowsersToo, later), "nothing that is newer");
        assert!(book.due(Timestamp(later.0 + AGAIN_MS)).is_empty());
    }

    #[test]
    fn reading_drops_pending_notices_and_clears_shown_ones_once() {
        let mut book = Book::default();
        let now = Timestamp(START);
        book.wait(user(1), with(2), now);
        book.wait(user(1), with(3), now);
        assert!(!book.read(user(1), with(2), now), "nothing was shown");
        assert_eq!(book.due(now), [(user(1), vec![with(3)])]);
        assert!(book.show(user(1), with(3), Seq(1), Channels::BrowsersToo, now));
        assert!(book.read(user(1), with(3), now) && !book.read(user(1), with(3), now));
        assert!(
            book.show(user(1), with(3), Seq(1), Channels::BrowsersToo, now),
            "after reading, the next one is told at once"
        );
        assert!(!book.read(user(1), with(3), Timestamp(START + SHOWN_MS)), "too long ago");
    }

    #[test]
    fn the_queue_is_bounded() {
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
        // Messages that are read before the notice is due leave only due times, whose number is bounded.
        for round in 0..3 {
            for num in 0..MAX_WAITING as u32 {
                book.wait(user(num), with(2), Timestamp(START + 1_000 + round));
                book.read(user(num), with(2), now);
            }
        }
        assert!(book.due.len() <= 2 * MAX_WAITING, "{}", book.due.len());
    }

    #[test]
    fn a_clock_set_back_delays_no_notice() {
        let mut book = Book::default();
        book.wait(user(1), with(2), Timestamp(START + 3_600_000));
        assert_eq!(book.due(Timestamp(START)).len(), 1);
    }
}

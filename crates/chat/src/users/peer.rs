//! The other user of a command: looks them up, and keeps a session's commands in order although a look-up
//! takes time.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Users;
use crate::command::AnswerTo;
use crate::privacy::Privacy;
use crate::session::{Asker, Completion, WaitingCommand};
use crate::store::unavailable;
use crate::{
    ConversationId, ConversationRow, Done, Mode, Refusal, Relation, SiteRole, StoreError, Sub, Timestamp, To,
    UserId, UserRow, Viewpoint,
};

/// Commands of one session that may wait for a look-up; more are refused.
const MAX_WAITING: usize = 64;

/// A command that needs to know the other user first.
pub(crate) trait PeerJob: Send + 'static {
    /// Whether the command may start a conversation, which the other user must allow.
    fn begins_conversation(&self) -> bool {
        false
    }

    /// The destination of a refusal.
    fn answer_to(&self) -> AnswerTo;

    fn run(self, asker: &Asker, peer: &Peer, now: Timestamp);
}

/// The other user of a command, with the relation of the two.
#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) id: UserId,
    pub(crate) sub: Sub,
    pub(crate) is_banned: bool,
    pub(crate) privacy: Privacy,
    /// `of_a` is the asker's side.
    pub(crate) relation: Relation,
}

/// The facts about a user that decide about writing to them, besides the relation.
#[derive(Clone)]
struct Standing {
    sub: Sub,
    is_banned: bool,
    privacy: Privacy,
}

/// Whether a user may write to another.
///
/// A block in either direction gets the same refusal as a ban or a missing contact, so that it does not
/// reveal the block.
pub(crate) fn may_write(mode: Mode, peer_is_banned: bool, relation: Relation) -> bool {
    !peer_is_banned && !relation.is_blocked() && (mode == Mode::Open || relation.is_contact())
}

/// Whether a user may see the other's presence, typing and markers.
pub(crate) fn may_see(mode: Mode, viewer: Viewpoint) -> bool {
    !viewer.is_blocked && (mode == Mode::Open || viewer.sees)
}

impl Users {
    /// Runs the job with its other user: at once if the user is cached, otherwise after a read from the
    /// store, and never before an earlier job of the session.
    pub(crate) fn for_peer<J: PeerJob>(
        self: &Arc<Self>,
        asker: Asker,
        is_waiting: bool,
        to: To,
        job: J,
        now: Timestamp,
    ) {
        if is_waiting {
            let mut shard = self.sessions.lock(asker.session.user);
            // The session may have ended since the command was admitted.
            if shard
                .session(asker.session.user, asker.session.handle)
                .is_some_and(|session| session.is_waiting)
            {
                let waiting = shard.waiting.entry(asker.session.handle).or_default();
                if waiting.len() < MAX_WAITING {
                    let users = Arc::clone(self);
                    waiting.push_back(Box::new(WaitingJob { users, asker, to, job, now }));
                    return;
                }
                drop(shard);
                let refusal = Refusal::RateLimited { retry_after_ms: 1000 };
                return self.sessions.refuse(asker.session.handle, job.answer_to(), refusal);
            }
        }
        match self.cached_peer(&asker, &to, &job) {
            Some(peer) => self.run(&asker, job, peer, now),
            None => {
                let mut shard = self.sessions.lock(asker.session.user);
                let Some(session) = shard.session(asker.session.user, asker.session.handle) else { return };
                session.is_waiting = true;
                drop(shard);
                self.read_peer(asker, to, job, now);
            }
        }
    }

    /// Reads the job's other user from the store, then runs the job and those queued behind it.
    fn read_peer<J: PeerJob>(self: &Arc<Self>, asker: Asker, to: To, job: J, now: Timestamp) {
        let users = self.clone();
        self.find_peer(asker, to, move |asker, peer| {
            let then = users.clone();
            users.ask_to_begin(asker, peer, job, move |asker, peer, job| {
                then.run(&asker, job, peer, now);
                then.next_waiting(&asker);
            });
        });
    }

    /// A user who restricts new conversations still receives messages in existing ones. Ask the store before the job
    /// runs: only it knows, and later jobs of the session wait.
    fn ask_to_begin<J: PeerJob>(
        self: &Arc<Self>,
        asker: Asker,
        peer: Result<Peer, Refusal>,
        job: J,
        then: impl FnOnce(Asker, Result<Peer, Refusal>, J) + Send + 'static,
    ) {
        let Ok(peer) = peer else { return then(asker, peer, job) };
        let me = asker.session.user;
        let is_asked = !may_be_done(&job, &asker, &peer);
        let Some(id) = ConversationId::direct(me, peer.id).filter(|_| is_asked) else {
            return then(asker, Ok(peer), job);
        };
        let done: Done<Option<ConversationRow>> = Box::new(move |row| {
            let may = match row {
                Ok(Some(_)) => Ok(peer),
                // The answer of a block.
                Ok(None) => Err(Refusal::NotAllowed),
                Err(error) => Err(unavailable(error)),
            };
            then(asker, may, job);
        });
        self.store.conversation(me, id, done);
    }

    fn next_waiting(self: &Arc<Self>, asker: &Asker) {
        loop {
            let mut shard = self.sessions.lock(asker.session.user);
            let next = shard.waiting.get_mut(&asker.session.handle).and_then(VecDeque::pop_front);
            let Some(next) = next else {
                shard.waiting.remove(&asker.session.handle);
                if let Some(session) = shard.session(asker.session.user, asker.session.handle) {
                    session.is_waiting = false;
                }
                return;
            };
            drop(shard);
            if !next.attempt() {
                return;
            }
        }
    }

    fn run<J: PeerJob>(&self, asker: &Asker, job: J, peer: Result<Peer, Refusal>, now: Timestamp) {
        match peer {
            Ok(peer) => job.run(asker, &peer, now),
            Err(refusal) => self.sessions.refuse(asker.session.handle, job.answer_to(), refusal),
        }
    }

    /// None if the store must be read.
    fn cached_peer<J: PeerJob>(&self, asker: &Asker, to: &To, job: &J) -> Option<Result<Peer, Refusal>> {
        let me = asker.session.user;
        let (id, Standing { sub, is_banned, privacy }) = match to {
            To::User(sub) if *sub == asker.sub => return Some(Err(Refusal::NotAllowed)),
            To::User(sub) => {
                let row = self.recent.user_by_sub(me.site, sub)?;
                (row.id, Standing::of(&row))
            }
            To::Conversation(id) => match id.other(me) {
                Some(other) => (other, self.known_standing(other)?),
                None => return Some(Err(Refusal::NoSuchConversation)),
            },
            To::Page(_) => return Some(Err(Refusal::NoSuchConversation)),
        };
        let relation = self.recent.relation(me, id)?;
        let peer = Peer { id, sub, is_banned, privacy, relation };
        may_be_done(job, asker, &peer).then_some(Ok(peer))
    }

    /// Whether a user exists and is banned, and their choices, if memory knows them. A connected user exists
    /// and is not banned, because a ban ends all sessions. So an answer to a connected user needs no row, and
    /// rows of a million users are cold.
    fn known_standing(&self, id: UserId) -> Option<Standing> {
        if let Some(here) = self.sessions.lock(id).user(id) {
            return Some(Standing { sub: here.sub.clone(), is_banned: false, privacy: here.privacy });
        }
        self.recent.user(id).map(|row| Standing::of(&row))
    }

    /// Reads the other user from the store. `then` is called on one of its threads, or here.
    pub(crate) fn find_peer(
        self: &Arc<Self>,
        asker: Asker,
        to: To,
        then: impl FnOnce(Asker, Result<Peer, Refusal>) + Send + 'static,
    ) {
        let me = asker.session.user;
        if let To::Conversation(id) = to
            && let Some(other) = id.other(me)
            && let Some(standing) = self.known_standing(other)
        {
            return self.find_relation(asker, other, standing, then);
        }
        let since = self.recent.generation();
        let this = self.clone();
        let found = move |row: Result<Option<UserRow>, StoreError>, missing: Refusal| match row {
            Ok(Some(row)) => {
                let row = Arc::new(row);
                this.recent.keep_user(&row, since);
                this.find_relation(asker, row.id, Standing::of(&row), then);
            }
            Ok(None) => then(asker, Err(missing)),
            Err(error) => then(asker, Err(unavailable(error))),
        };
        match to {
            To::User(sub) => {
                self.store.user(me.site, sub, Box::new(move |row| found(row, Refusal::NoSuchUser)));
            }
            To::Conversation(id) => match id.other(me) {
                Some(other) => {
                    let first = |rows: Vec<UserRow>| rows.into_iter().next();
                    let done: Done<Vec<UserRow>> =
                        Box::new(move |rows| found(rows.map(first), Refusal::NoSuchConversation));
                    self.store.users_by_id(vec![other], done);
                }
                None => found(Ok(None), Refusal::NoSuchConversation),
            },
            To::Page(_) => found(Ok(None), Refusal::NoSuchConversation),
        }
    }

    fn find_relation(
        self: &Arc<Self>,
        asker: Asker,
        id: UserId,
        Standing { sub, is_banned, privacy }: Standing,
        then: impl FnOnce(Asker, Result<Peer, Refusal>) + Send + 'static,
    ) {
        let me = asker.session.user;
        let since = self.recent.generation();
        let done = self.then(move |this, relation| {
            let peer = relation.map_err(unavailable).map(|relation| {
                this.recent.keep_relation(me, id, relation, since);
                Peer { id, sub, is_banned, privacy, relation }
            });
            then(asker, peer);
        });
        self.store.relation(me, id, done);
    }
}

/// A job queued behind another of its session.
struct WaitingJob<J> {
    users: Arc<Users>,
    asker: Asker,
    to: To,
    job: J,
    now: Timestamp,
}

impl<J: PeerJob> WaitingCommand for WaitingJob<J> {
    fn attempt(self: Box<Self>) -> bool {
        let WaitingJob { users, asker, to, job, now } = *self;
        match users.cached_peer(&asker, &to, &job) {
            Some(peer) => {
                users.run(&asker, job, peer, now);
                true
            }
            None => {
                users.read_peer(asker, to, job, now);
                false
            }
        }
    }
}

/// Whether the job may start a conversation with this user. Moderators may write to everybody.
fn may_be_done(job: &impl PeerJob, asker: &Asker, peer: &Peer) -> bool {
    !job.begins_conversation()
        || peer.privacy.write.has(peer.relation.is_contact())
        || asker.role >= SiteRole::Moderator
}

impl Standing {
    fn of(row: &UserRow) -> Standing {
        Standing { sub: row.profile.sub.clone(), is_banned: row.banned, privacy: row.privacy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Side;

    #[test]
    fn the_relation_decides_about_writing_and_seeing() {
        let relation = |of_a, of_b| Relation { of_a, of_b };
        let table = [
            // relation, mode open, mode contacts
            (relation(Side::NONE, Side::NONE), true, false),
            (relation(Side::REQUESTED, Side::ASKS), true, false),
            (relation(Side::REQUESTED, Side::NONE), true, false),
            (relation(Side::ASKS, Side::REQUESTED), true, false),
            (relation(Side::LISTED, Side::NONE), true, false),
            (relation(Side::CONTACT, Side::CONTACT), true, true),
            // One direction is enough for messages in both.
            (relation(Side::SEES, Side::SEEN), true, true),
            (relation(Side::SEEN, Side::SEES), true, true),
            (relation(Side::BLOCKED, Side::NONE), false, false),
            (relation(Side::NONE, Side::BLOCKED), false, false),
            (relation(Side::REQUESTED, Side::BLOCKED), false, false),
            (relation(Side::BLOCKED, Side::BLOCKED), false, false),
        ];
        for (relation, open, contacts) in table {
            assert_eq!(may_write(Mode::Open, false, relation), open, "{relation:?}");
            assert_eq!(may_write(Mode::Contacts, false, relation), contacts, "{relation:?}");
            assert_eq!(may_see(Mode::Open, relation.a_views_b()), open, "{relation:?}");
            let sees = contacts && relation.of_a.sees();
            assert_eq!(may_see(Mode::Contacts, relation.a_views_b()), sees, "{relation:?}");
            assert!(!may_write(Mode::Open, true, relation), "banned");
            assert!(!may_write(Mode::Contacts, true, relation), "banned");
        }
    }
}

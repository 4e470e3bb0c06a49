//! Votes in large rooms: ten thousand who vote must not each be told to ten thousand. Who votes hears of it at once, all others
//! once a second how it stands.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::changes::for_all;
use crate::conversations::message;
use crate::node::Inner;
use crate::{
    ChangeMessage, ChangedMessage, ConversationId, Event, MessageChange, Refusal, Seq, StoreError, Sub,
    Timestamp, UserId,
};

/// In smaller rooms each vote is told at once.
const MOST_TOLD_AT_ONCE: usize = 50;
/// How long votes are gathered.
const GATHERED_MS: u64 = 1_000;
/// Polls whose votes are gathered; in one more, each vote is told at once.
const MOST_GATHERED: usize = 1_024;

/// Polls in which votes wait to be told. What a node that dies has not told is told to who comes back: each vote is a change of
/// the message, on the disk.
#[derive(Default)]
pub(crate) struct Tallies(Mutex<HashMap<(ConversationId, Seq), Due>>);

struct Due {
    at: Timestamp,
    /// Who has voted last: the count is told as of them.
    by: (UserId, Sub),
}

impl Tallies {
    /// True: all others will be told later.
    pub(crate) fn gather(
        &self,
        poll: (ConversationId, Seq),
        by: (UserId, Sub),
        members: usize,
        now: Timestamp,
    ) -> bool {
        if members <= MOST_TOLD_AT_ONCE {
            return false;
        }
        let mut due = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if due.len() >= MOST_GATHERED && !due.contains_key(&poll) {
            return false;
        }
        let at = Timestamp(now.0.saturating_add(GATHERED_MS));
        due.entry(poll).and_modify(|due| due.by = by.clone()).or_insert(Due { at, by });
        true
    }

    fn take_due(&self, now: Timestamp) -> Vec<((ConversationId, Seq), (UserId, Sub))> {
        let mut due = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if due.is_empty() {
            return Vec::new();
        }
        let ready = due.extract_if(|_, due| due.at <= now).map(|(poll, due)| (poll, due.by)).collect();
        if due.is_empty() {
            due.shrink_to_fit();
        }
        ready
    }
}

impl Inner {
    pub(crate) fn tell_tallies(self: &Arc<Self>, now: Timestamp) {
        for ((conversation, seq), (user, sub)) in self.tallies.take_due(now) {
            let wanted =
                ChangeMessage { conversation, seq, by: user, change: MessageChange::Tally, time: now };
            let node = self.clone();
            let done = move |outcome: Result<Result<ChangedMessage, Refusal>, StoreError>| {
                // Whoever voted last may have left, or the message was deleted: then the next change tells the count.
                if let Ok(Ok(changed)) = outcome {
                    let to = changed.message.conversation.other(user);
                    node.tell_changed_message(user, &sub, to, changed);
                }
            };
            self.store.change_message(wanted, Box::new(done));
        }
    }

    /// A change that no session has asked for: to all members, as of one of them. `to`: the other one, where there is one.
    pub(crate) fn tell_changed_message(
        &self,
        user: UserId,
        by: &Sub,
        to: Option<UserId>,
        told: ChangedMessage,
    ) {
        let ChangedMessage { message: stored, position, members, .. } = told;
        let mine = message(stored);
        let event = |message| Event::Update { re: None, message, by: by.clone(), position };
        // First that member: what was told them at this position is not told again among all members.
        self.tell(user, position, None, event(mine.clone()));
        let of_all = event(for_all(mine));
        match to {
            Some(to) => self.tell(to, position, None, of_all),
            None => self.tell_members(user.site, &members, position, None, of_all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SiteId;

    #[test]
    fn votes_in_large_rooms_are_gathered_for_a_while() {
        let tallies = Tallies::default();
        let room = ConversationId::room(SiteId(1), 7);
        let user = |num| (UserId { site: SiteId(1), num }, Sub::parse("ann").unwrap());
        assert!(!tallies.gather((room, Seq(1)), user(1), MOST_TOLD_AT_ONCE, Timestamp(5)));
        assert!(tallies.gather((room, Seq(1)), user(1), MOST_TOLD_AT_ONCE + 1, Timestamp(5)));
        assert!(tallies.gather((room, Seq(1)), user(2), MOST_TOLD_AT_ONCE + 1, Timestamp(900)));
        assert!(tallies.take_due(Timestamp(1_004)).is_empty());
        let due = tallies.take_due(Timestamp(1_005));
        assert_eq!(due.len(), 1, "one for all of them");
        assert_eq!(due[0], ((room, Seq(1)), user(2)), "as of who has voted last");
        assert!(tallies.take_due(Timestamp(9_000)).is_empty());
    }

    #[test]
    fn they_are_bounded() {
        let tallies = Tallies::default();
        let room = ConversationId::room(SiteId(1), 7);
        let user = (UserId { site: SiteId(1), num: 1 }, Sub::parse("ann").unwrap());
        for seq in 1..=MOST_GATHERED as u64 {
            assert!(tallies.gather((room, Seq(seq)), user.clone(), 99, Timestamp(0)));
        }
        assert!(!tallies.gather((room, Seq(9_999)), user.clone(), 99, Timestamp(0)), "told at once");
        assert!(tallies.gather((room, Seq(1)), user, 99, Timestamp(0)), "gathered already");
    }
}

//! Changing a message that is there: who may, and who hears of it.

use std::sync::Arc;

use crate::command::AnswerTo;
use crate::conversations::message;
use crate::limits::Rate;
use crate::node::{Asker, Inner, unavailable};
use crate::peer::{Peer, may_write};
use crate::send::check_body;
use crate::{
    ChangeMessage, ChangedMessage, ConversationId, Event, Message, MessageChange, Mode, Refusal, Relation,
    Seq, SessionId, StoreError, Timestamp, UserId,
};

/// Most former bodies that are kept of a message.
pub const REVISIONS: usize = 10;

/// May one change a message so? `is_own`: one has sent it. `is_moderator`: one may take back what others have sent.
///
/// Stores ask it, who alone know the message. What is asked for again is allowed, so that it is answered as before.
pub fn may_change(
    change: &MessageChange,
    is_own: bool,
    is_deleted: bool,
    is_moderator: bool,
) -> Result<(), Refusal> {
    match change {
        MessageChange::Edit(_) if !is_own => Err(Refusal::NotAllowed),
        MessageChange::Delete if !is_own && !is_moderator => Err(Refusal::NotAllowed),
        MessageChange::Edit(_) | MessageChange::React { on: true, .. } if is_deleted => {
            Err(Refusal::NoSuchMessage)
        }
        MessageChange::Edit(_) | MessageChange::Delete | MessageChange::React { .. } => Ok(()),
    }
}

/// What puts something new before the other follows the rules of writing to them; what one takes back does not, or a
/// block would keep one's words for ever.
fn may_reach(mode: Mode, peer_is_banned: bool, relation: Relation, change: &MessageChange) -> bool {
    match change {
        MessageChange::Edit(_) | MessageChange::React { on: true, .. } => {
            may_write(mode, peer_is_banned, relation)
        }
        MessageChange::Delete | MessageChange::React { on: false, .. } => true,
    }
}

impl Inner {
    pub(crate) fn change_message(
        self: &Arc<Self>,
        asker: &Asker,
        peer: &Peer,
        re: u64,
        seq: Seq,
        change: MessageChange,
        now: Timestamp,
    ) {
        let session = asker.session;
        let conversation = match self.accept_change(asker, peer, &change, now) {
            Ok(conversation) => conversation,
            Err(refusal) => return self.refuse(session.handle, AnswerTo::Request(re), refusal),
        };
        let seq = seq.min(Seq::MAX);
        let wanted =
            ChangeMessage { conversation, seq, by: session.user, is_moderator: false, change, time: now };
        let (node, by, to) = (self.clone(), asker.sub.clone(), peer.row.id);
        let done = move |outcome: Result<Result<ChangedMessage, Refusal>, StoreError>| match outcome
            .unwrap_or_else(|error| Err(unavailable(error)))
        {
            Ok(changed) => node.changed(session, &by, to, re, changed),
            Err(refusal) => node.refuse(session.handle, AnswerTo::Request(re), refusal),
        };
        self.store.change_message(wanted, Box::new(done));
    }

    fn accept_change(
        &self,
        asker: &Asker,
        peer: &Peer,
        change: &MessageChange,
        now: Timestamp,
    ) -> Result<ConversationId, Refusal> {
        if !may_reach(asker.site.site.mode, peer.row.banned, peer.relation, change) {
            return Err(Refusal::NotAllowed);
        }
        if let MessageChange::Edit(body) = change {
            check_body(body, &self.config.limits)?;
            Rate::per_second(self.config.limits.site_sends_per_second)
                .take_shared(&asker.site.counters.sends, now)?;
        }
        ConversationId::direct(asker.session.user, peer.row.id).ok_or(Refusal::NoSuchConversation)
    }

    /// On disk: the session that asked gets an answer in any case, all others are told where something changed.
    fn changed(
        &self,
        session: SessionId,
        by: &crate::Sub,
        to: UserId,
        re: u64,
        ChangedMessage { message: stored, changed, position }: ChangedMessage,
    ) {
        let mine = message(stored);
        let event = |re, message: &Arc<Message>| Event::Update {
            re,
            message: message.clone(),
            by: by.clone(),
            position,
        };
        self.answer(session, event(Some(re), &mine));
        if changed {
            self.counters.changes.add(1);
            self.tell(session.user, position, Some(session.handle), event(None, &mine));
            self.tell(to, position, None, event(None, &for_all(mine)));
        }
    }
}

/// Without what is true for one user only.
fn for_all(message: Arc<Message>) -> Arc<Message> {
    if message.reactions.iter().all(|reaction| !reaction.mine) {
        return message;
    }
    let mut message = Arc::unwrap_or_clone(message);
    message.reactions.iter_mut().for_each(|reaction| reaction.mine = false);
    Arc::new(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContactState, Reaction};

    fn reaction(on: bool) -> MessageChange {
        MessageChange::React { reaction: Reaction::parse("👍").unwrap(), on }
    }

    #[test]
    fn who_may_change_what() {
        let edit = || MessageChange::Edit("x".into());
        let (no, none) = (Err(Refusal::NotAllowed), Err(Refusal::NoSuchMessage));
        let table = [
            // the change; its own, own and deleted, another's, another's and deleted, another's as moderator
            (edit(), [Ok(()), none, no, no, no]),
            (MessageChange::Delete, [Ok(()), Ok(()), no, no, Ok(())]),
            (reaction(true), [Ok(()), none, Ok(()), none, Ok(())]),
            (reaction(false), [Ok(()), Ok(()), Ok(()), Ok(()), Ok(())]),
        ];
        for (change, [own, own_deleted, other, other_deleted, as_moderator]) in table {
            let may =
                |is_own, is_deleted, is_moderator| may_change(&change, is_own, is_deleted, is_moderator);
            assert_eq!(may(true, false, false), own, "{change:?}");
            assert_eq!(may(true, true, false), own_deleted, "{change:?}");
            assert_eq!(may(false, false, false), other, "{change:?}");
            assert_eq!(may(false, true, false), other_deleted, "{change:?}");
            assert_eq!(may(false, false, true), as_moderator, "{change:?}");
        }
    }

    #[test]
    fn whom_a_change_may_reach() {
        let blocked = Relation { of_a: ContactState::None, of_b: ContactState::Blocked };
        let strangers = Relation { of_a: ContactState::None, of_b: ContactState::None };
        let edit = MessageChange::Edit("x".into());
        for (change, to_stranger, in_block) in [
            (&edit, true, false),
            (&reaction(true), true, false),
            (&reaction(false), true, true),
            (&MessageChange::Delete, true, true),
        ] {
            assert_eq!(may_reach(Mode::Open, false, strangers, change), to_stranger, "{change:?}");
            assert_eq!(may_reach(Mode::Open, false, blocked, change), in_block, "{change:?}");
            assert_eq!(may_reach(Mode::Contacts, false, strangers, change), in_block, "{change:?}");
            assert_eq!(may_reach(Mode::Open, true, strangers, change), in_block, "banned: {change:?}");
        }
    }
}

//! Changes of existing messages: their rules, and their receivers.

use crate::messages::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::event::message;
use crate::limits::Rate;
use crate::messages::Messages;
use crate::messages::counts::{Counted, CountedBy, Counts};
use crate::moderation::EVIDENCE_MS;
use crate::rooms::{Act, RoomName, Rules, Standing, may};
use crate::session::{Asker, Completion};
use crate::users::peer::{Peer, PeerJob, may_write};
use crate::{
    ChangeMessage, ChangedMessage, ConversationId, Message, MessageChange, MessageKind, Mode, Position,
    Refusal, Relation, Seq, SessionId, Sub, Timestamp, UserId,
};

/// Earlier bodies kept of a message, at most.
pub const REVISIONS: usize = 100;
/// Bytes of these bodies together.
pub const REVISION_BYTES: usize = 128 * 1_024;

/// The kept earlier bodies of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeptRevisions {
    pub count: usize,
    pub bytes: usize,
    /// The time at which the next one to be dropped was replaced. The very first body is never dropped.
    pub oldest: Option<Timestamp>,
}

/// Whether `oldest` is dropped before a body of this size is kept. While it is evidence it stays. Then the
/// message can be deleted but not edited: otherwise its author could push evidence out by more edits. Stores
/// call it again after each drop.
pub fn drops_revision(
    change: &MessageChange,
    kept: KeptRevisions,
    bytes: usize,
    now: Timestamp,
) -> Result<bool, Refusal> {
    let is_full = kept.count >= REVISIONS || kept.bytes + bytes > REVISION_BYTES;
    let Some(oldest) = kept.oldest.filter(|_| is_full) else { return Ok(false) };
    match change {
        _ if now.since(oldest) >= EVIDENCE_MS => Ok(true),
        MessageChange::Edit { .. } => Err(Refusal::NotAllowed),
        MessageChange::Delete
        | MessageChange::React { .. }
        | MessageChange::Pin(_)
        | MessageChange::Vote(_)
        | MessageChange::ClosePoll
        | MessageChange::Preview(_) => Ok(false),
    }
}

/// Whether a user may make this change. `is_own`: the user has sent the message. `is_moderator`: the user may
/// delete messages of others.
///
/// Called by stores, because only they know the message. A repeated change is allowed, so that it gets the
/// same answer.
pub fn may_change(
    change: &MessageChange,
    is_own: bool,
    is_deleted: bool,
    is_moderator: bool,
) -> Result<(), Refusal> {
    match change {
        MessageChange::Edit { .. } if !is_own => Err(Refusal::NotAllowed),
        MessageChange::Delete | MessageChange::ClosePoll | MessageChange::Preview(None)
            if !is_own && !is_moderator =>
        {
            Err(Refusal::NotAllowed)
        }
        MessageChange::Edit { .. }
        | MessageChange::React { on: true, .. }
        | MessageChange::Pin(true)
        | MessageChange::Vote(_)
        | MessageChange::ClosePoll
        | MessageChange::Preview(_)
            if is_deleted =>
        {
            Err(Refusal::NoSuchMessage)
        }
        MessageChange::Edit { .. }
        | MessageChange::Delete
        | MessageChange::React { .. }
        | MessageChange::Pin(_)
        | MessageChange::Vote(_)
        | MessageChange::ClosePoll
        | MessageChange::Preview(_) => Ok(()),
    }
}

/// Entries of calls, polls, forwarded messages and stickers (`is_as_said`) cannot be edited. Stores call it, because
/// only they know the message.
pub fn may_edit(
    change: &MessageChange,
    kind: MessageKind,
    has_poll: bool,
    is_as_said: bool,
) -> Result<(), Refusal> {
    match change {
        MessageChange::Edit { .. } if kind == MessageKind::Call || has_poll || is_as_said => {
            Err(Refusal::NotAllowed)
        }
        MessageChange::Vote(_) | MessageChange::ClosePoll if !has_poll => Err(Refusal::BadValue),
        _ => Ok(()),
    }
}

/// Like [`may_change`], in a room: moderators may change messages of others, and new content must follow the
/// rules of the room. Other users change nothing.
pub fn may_change_in_room(
    change: &MessageChange,
    is_own: bool,
    is_deleted: bool,
    who: Standing,
    rules: Rules,
) -> Result<(), Refusal> {
    may(who, Act::TakeBack, rules)?;
    may_change(change, is_own, is_deleted, may(who, Act::Tidy, rules).is_ok())?;
    match change {
        MessageChange::Edit { .. } => may(who, Act::Post, rules),
        MessageChange::React { on: true, .. } | MessageChange::Vote(_) => may(who, Act::React, rules),
        // Only owners and moderators pin.
        MessageChange::Pin(_) => may(who, Act::Tidy, rules),
        MessageChange::Delete
        | MessageChange::React { on: false, .. }
        | MessageChange::ClosePoll
        | MessageChange::Preview(_) => Ok(()),
    }
}

/// The word of the record for a change by a member: a moderator's change of another's message, or a pin in a room. For stores.
pub fn recorded_change(change: &MessageChange, is_own: bool, is_in_room: bool) -> Option<&'static str> {
    match change {
        MessageChange::Delete => (!is_own).then_some("delete"),
        MessageChange::ClosePoll => (!is_own).then_some("close_poll"),
        MessageChange::Preview(None) => (!is_own).then_some("remove_preview"),
        MessageChange::Pin(on) => is_in_room.then_some(if *on { "pin" } else { "unpin" }),
        MessageChange::Edit { .. }
        | MessageChange::React { .. }
        | MessageChange::Vote(_)
        | MessageChange::Preview(Some(_)) => None,
    }
}

/// Changes with new content follow the rules for writing to the other user. Removals do not: otherwise a
/// block would keep the user's own words there forever.
fn may_reach(mode: Mode, peer_is_banned: bool, relation: Relation, change: &MessageChange) -> bool {
    match change {
        MessageChange::Edit { .. }
        | MessageChange::React { on: true, .. }
        | MessageChange::Pin(true)
        | MessageChange::Vote(_) => may_write(mode, peer_is_banned, relation),
        MessageChange::Delete
        | MessageChange::React { on: false, .. }
        | MessageChange::Pin(false)
        | MessageChange::ClosePoll
        | MessageChange::Preview(_) => true,
    }
}

/// Whether a small command sends a whole message to all members.
fn sends_whole(change: &MessageChange) -> bool {
    match change {
        MessageChange::Edit { .. } | MessageChange::Pin(true) => true,
        MessageChange::Delete
        | MessageChange::React { .. }
        | MessageChange::Pin(false)
        | MessageChange::Vote(_)
        | MessageChange::ClosePoll
        | MessageChange::Preview(_) => false,
    }
}

/// A change of a message of a direct conversation.
pub(crate) struct ChangeMessageJob {
    pub(crate) messages: Arc<Messages>,
    pub(crate) re: u64,
    pub(crate) seq: Seq,
    pub(crate) change: MessageChange,
}

impl PeerJob for ChangeMessageJob {
    fn answer_to(&self) -> AnswerTo {
        AnswerTo::Request(self.re)
    }

    fn run(self, asker: &Asker, peer: &Peer, now: Timestamp) {
        self.messages.change_message(asker, peer, self.re, self.seq, self.change, now);
    }
}

impl Messages {
    /// Publishes a changed message to all users who can read it.
    pub(crate) fn publish_changed(self: &Arc<Self>, by: Sub, changed: ChangedMessage) {
        let ChangedMessage { message, changed: true, position, members, .. } = changed else { return };
        let conversation = message.conversation;
        let message = crate::event::message(message);
        let event = Event::Update { message, by };
        match conversation.pair() {
            Some(pair) => {
                pair.into_iter().for_each(|user| self.sessions.publish(user, position, None, event.clone()));
            }
            None => self.sessions.publish_to_members(conversation.site, &members, position, None, event),
        }
    }

    pub(crate) fn change_message(
        self: &Arc<Self>,
        asker: &Asker,
        peer: &Peer,
        re: u64,
        seq: Seq,
        change: MessageChange,
        now: Timestamp,
    ) {
        let conversation = ConversationId::direct(asker.session.user, peer.id);
        let may = may_reach(asker.site.site.mode, peer.is_banned, peer.relation, &change);
        let conversation = match (may, conversation) {
            (true, Some(conversation)) => Ok(conversation),
            (true, None) => Err(Refusal::NoSuchConversation),
            (false, _) => Err(Refusal::NotAllowed),
        };
        self.change_in(asker, re, conversation, Some(peer.id), seq, change, now);
    }

    /// The store checks the rules of the room.
    pub(crate) fn change_message_in_room(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        room: ConversationId,
        seq: Seq,
        change: MessageChange,
        now: Timestamp,
    ) {
        self.change_in(asker, re, Ok(room), None, seq, change, now);
    }

    /// `to`: the other member of a direct conversation.
    #[allow(clippy::too_many_arguments, reason = "the command, and where it leads")]
    fn change_in(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        conversation: Result<ConversationId, Refusal>,
        to: Option<UserId>,
        seq: Seq,
        change: MessageChange,
        now: Timestamp,
    ) {
        let session = asker.session;
        let sound = conversation.and_then(|id| self.check_change(asker, id, &change, now).map(|()| id));
        let conversation = match sound {
            Ok(conversation) => conversation,
            Err(refusal) => return self.sessions.refuse(session.handle, AnswerTo::Request(re), refusal),
        };
        let flagged = match &change {
            MessageChange::Edit { body, extension } => {
                asker.flagged([&**body].into_iter().chain(extension.as_deref()))
            }
            _ => None,
        };
        let wanted =
            ChangeMessage { conversation, seq: seq.min(Seq::MAX), by: session.user, change, time: now };
        let counted = Counted::of(&wanted.change);
        let sends_whole = sends_whole(&wanted.change);
        let by = asker.sub.clone();
        let done =
            self.on_accepted(session.handle, AnswerTo::Request(re), move |this, changed: ChangedMessage| {
                if changed.gathered {
                    this.gathered.add(changed.message.conversation, changed.message.seq, now);
                }
                let is_new = changed.changed;
                if is_new && sends_whole && conversation.is_room() {
                    this.whole_messages.spend(RoomName::Id(conversation), changed.message.body.len(), now);
                }
                match counted {
                    Some(what) => {
                        let by = CountedBy { user: by, what: what.completed(&changed.message) };
                        this.counted(session, by, to, re, changed);
                    }
                    None => this.changed(session, &by, to, re, changed),
                }
                if let Some(hits) = flagged.filter(|_| is_new) {
                    this.moderation.flag(conversation, seq, &hits, now);
                }
            });
        self.store.change_message(wanted, done);
    }

    fn check_change(
        &self,
        asker: &Asker,
        conversation: ConversationId,
        change: &MessageChange,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let limits = &self.config.limits;
        if sends_whole(change) && conversation.is_room() {
            self.whole_messages.check(&RoomName::Id(conversation), now)?;
        }
        match change {
            MessageChange::Edit { body, extension } => {
                limits.check_texts(body, extension.as_deref(), false)?;
                Rate::per_second(limits.site_sends_per_second).take_shared(&asker.site.counters.sends, now)
            }
            MessageChange::Delete
            | MessageChange::React { .. }
            | MessageChange::Pin(_)
            | MessageChange::Vote(_)
            | MessageChange::ClosePoll
            | MessageChange::Preview(_) => Ok(()),
        }
    }

    /// After the commit: answer the session that asked; where something changed, deliver to all others.
    fn changed(
        &self,
        session: SessionId,
        by: &Sub,
        to: Option<UserId>,
        re: u64,
        ChangedMessage { message: stored, changed, position, members, .. }: ChangedMessage,
    ) {
        let mine = message(stored);
        let event = |message: &Arc<Message>| Event::Update { message: message.clone(), by: by.clone() };
        self.sessions.reply(session, Some(re), position, event(&mine));
        if !changed {
            return;
        }
        self.counters.changes.add(1);
        // The user's own devices first: what they got at this position is not delivered again with the other
        // members.
        self.sessions.publish(session.user, position, Some(session.handle), event(&mine));
        let of_all = event(&for_all(mine));
        self.publish_to_others(session, to, &members, position, of_all);
    }

    /// After the commit of a change of counts or flags: sessions receive these instead of the message. In
    /// large rooms, other members receive reactions and votes later, see `messages/gather.rs`.
    fn counted(
        &self,
        session: SessionId,
        by: CountedBy,
        to: Option<UserId>,
        re: u64,
        ChangedMessage { message, changed, position, members, gathered }: ChangedMessage,
    ) {
        let is_secret = by.what.is_secret(&message);
        let counts = Arc::new(Counts::of(&message));
        let event = |by: Option<CountedBy>| Event::Counts { counts: counts.clone(), by: by.map(Box::new) };
        self.sessions.reply(session, Some(re), position, event(Some(by.clone())));
        if !changed {
            return;
        }
        self.counters.changes.add(1);
        self.sessions.publish(session.user, position, Some(session.handle), event(Some(by.clone())));
        if !gathered {
            let of_all = event(Some(by).filter(|_| !is_secret));
            self.publish_to_others(session, to, &members, position, of_all);
        }
    }

    fn publish_to_others(
        &self,
        session: SessionId,
        to: Option<UserId>,
        members: &[u32],
        position: Position,
        event: Event,
    ) {
        match to {
            Some(to) => self.sessions.publish(to, position, None, event),
            None => self.sessions.publish_to_members(
                session.user.site,
                members,
                position,
                Some(session.handle),
                event,
            ),
        }
    }

    /// Publishes a change without a requesting session to all members, from the view of one of them. `to`:
    /// the other member of a direct conversation.
    pub(crate) fn publish_changed_message(
        &self,
        user: UserId,
        by: &Sub,
        to: Option<UserId>,
        changed: ChangedMessage,
    ) {
        let ChangedMessage { message: stored, position, members, .. } = changed;
        let mine = message(stored);
        let event = |message| Event::Update { message, by: by.clone() };
        // That member first: what their devices got at this position is not delivered again with the other
        // members.
        self.sessions.publish(user, position, None, event(mine.clone()));
        let of_all = event(for_all(mine));
        match to {
            Some(to) => self.sessions.publish(to, position, None, of_all),
            None => self.sessions.publish_to_members(user.site, &members, position, None, of_all),
        }
    }
}

/// The message without the fields that differ between users.
pub(crate) fn for_all(message: Arc<Message>) -> Arc<Message> {
    let has_poll = message.rich.as_ref().is_some_and(|rich| rich.poll.is_some());
    if !has_poll && message.reactions.iter().all(|reaction| !reaction.mine) {
        return message;
    }
    let mut message = Arc::unwrap_or_clone(message);
    message.reactions.iter_mut().for_each(|reaction| reaction.mine = false);
    if let Some(poll) = message.rich.as_mut().and_then(|rich| rich.poll.as_mut()) {
        poll.choices.iter_mut().for_each(|choice| choice.mine = false);
    }
    Arc::new(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reaction, Side};

    fn reaction(on: bool) -> MessageChange {
        MessageChange::React { reaction: Reaction::parse("👍").unwrap(), on }
    }

    #[test]
    fn changes_require_rights() {
        let edit = || MessageChange::edit("x");
        let (no, none) = (Err(Refusal::NotAllowed), Err(Refusal::NoSuchMessage));
        let table = [
            // the change; own, own and deleted, another's, another's and deleted, another's as moderator
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
    fn changes_in_rooms_require_rights() {
        use crate::{Role, RoomKind};
        let rules = |kind, frozen| Rules { kind, frozen, wait_ms: 9 };
        let (open, frozen) = (rules(RoomKind::Public, false), rules(RoomKind::Public, true));
        let news = rules(RoomKind::Announcement, false);
        let [moderator, member, muted] = [Role::Moderator, Role::Member, Role::Muted].map(Standing::In);
        let edit = || MessageChange::edit("x");
        let (no, deleted) = (Err(Refusal::NotAllowed), || MessageChange::Delete);
        let slow = Err(Refusal::SlowMode { retry_after_ms: 9 });
        let table = [
            // role, room, change; own message, another's
            (moderator, open, edit(), Ok(()), no),
            (moderator, frozen, deleted(), Ok(()), Ok(())),
            (member, open, deleted(), Ok(()), no),
            (member, open, edit(), slow, no),
            (member, frozen, edit(), Err(Refusal::Frozen), no),
            (member, frozen, deleted(), Ok(()), no),
            (member, frozen, reaction(true), Err(Refusal::Frozen), Err(Refusal::Frozen)),
            (member, frozen, reaction(false), Ok(()), Ok(())),
            (member, news, reaction(true), Ok(()), Ok(())),
            (member, news, edit(), Err(Refusal::ReadOnly), no),
            (muted, open, reaction(true), Err(Refusal::Muted), Err(Refusal::Muted)),
            (muted, open, deleted(), Ok(()), no),
            (Standing::Out, open, deleted(), Err(Refusal::NotAMember), Err(Refusal::NotAMember)),
            (Standing::Out, open, reaction(false), Err(Refusal::NotAMember), Err(Refusal::NotAMember)),
            (Standing::Banned, open, deleted(), Err(Refusal::RoomBanned), Err(Refusal::RoomBanned)),
        ];
        for (who, rules, change, own, others) in table {
            let may = |is_own| may_change_in_room(&change, is_own, false, who, rules);
            assert_eq!((may(true), may(false)), (own, others), "{who:?} {rules:?} {change:?}");
        }
    }

    #[test]
    fn changes_follow_the_relation() {
        let blocked = Relation { of_a: Side::NONE, of_b: Side::BLOCKED };
        let strangers = Relation::NONE;
        let edit = MessageChange::edit("x");
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

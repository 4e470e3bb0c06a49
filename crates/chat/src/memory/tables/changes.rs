//! Messages that change after they were posted.

use std::sync::Arc;

use super::{Conversation, Line, Tables, member_index};
use crate::messages::reactions::{NAMED, Reaction, room_for};
use crate::rooms::Act;
use crate::{
    ChangeMessage, ChangedMessage, ConversationId, KeptRevisions, LinkRule, MOST_PINNED, MessageChange,
    Reactions, Refusal, Request, Revision, Seq, SiteId, StoredMessage, Timestamp, UnpublishedPage, UserId,
    directory, drops_revision, first_contact, is_gathered, may_change, may_edit, publishes_all,
};

/// The changes of a message since it was posted.
#[derive(Default)]
pub(super) struct Since {
    /// Commit of the last change; 0: none.
    pub(super) version: u64,
    edited: Option<Timestamp>,
    pub(super) deleted: bool,
    pinned: bool,
    /// In the order in which they came first, users oldest first.
    reactions: Vec<(Reaction, Vec<UserId>)>,
    revisions: Vec<Revision>,
    /// See [`Store::publish_gathered`](crate::Store::publish_gathered).
    unpublished: bool,
}

impl Tables {
    pub(in crate::memory) fn change_message(
        &mut self,
        wanted: ChangeMessage,
    ) -> Result<ChangedMessage, Refusal> {
        let ChangeMessage { conversation: id, seq, by, .. } = wanted;
        let wants = wanted.change.clone();
        if self.is_trimmed(id, seq) {
            return Err(Refusal::NoSuchMessage);
        }
        let is_deletion = wanted.change == MessageChange::Delete;
        if id.is_room() {
            let changed = self.change_in_room(wanted)?;
            if is_deletion {
                self.remove_files_of(id, seq);
            }
            let members = if changed { self.member_numbers(id) } else { Arc::default() };
            let gathered = changed && is_gathered(&wants, members.len());
            if let Some(line) = self.line_mut(id, seq).filter(|_| changed) {
                line.since.unpublished = gathered || line.since.unpublished && !publishes_all(&wants);
            }
            return Ok(ChangedMessage { gathered, ..self.changed_message(id, seq, by, changed, members)? });
        }
        let me = member_index(id, by).ok_or(Refusal::NoSuchConversation)?;
        let number = self.number + 1;
        let conversation = self.conversations.get_mut(&id).ok_or(Refusal::NoSuchMessage)?;
        let asks = conversation.request(me) == Some(Request::Sent);
        let line = conversation.line_mut(seq).ok_or(Refusal::NoSuchMessage)?;
        if asks && let MessageChange::Edit(body) = &wanted.change {
            first_contact(body, 0, LinkRule::Refused)?;
        }
        may_change(&wanted.change, line.from == by, line.since.deleted, false)?;
        line.may_edit(&wanted.change)?;
        let is_full = conversation.messages.iter().filter(|line| line.since.pinned).count() >= MOST_PINNED;
        let line = conversation.line_mut(seq).ok_or(Refusal::NoSuchMessage)?;
        line.may_pin(&wanted.change, is_full)?;
        let changed = line.change(wanted)?;
        if changed {
            line.since.version = number;
            conversation.members.iter_mut().for_each(|member| member.changed = number);
            self.number = number;
            self.count_mention(id, seq);
            if is_deletion {
                self.remove_files_of(id, seq);
            }
        }
        self.changed_message(id, seq, by, changed, Arc::default())
    }

    fn changed_message(
        &self,
        id: ConversationId,
        seq: Seq,
        by: UserId,
        changed: bool,
        members: Arc<Vec<u32>>,
    ) -> Result<ChangedMessage, Refusal> {
        let message = self.message(id, seq, by).ok_or(Refusal::NoSuchMessage)?;
        Ok(ChangedMessage { message, changed, position: self.position(), members, gathered: false })
    }

    pub(in crate::memory) fn publish_gathered(
        &mut self,
        id: ConversationId,
        seq: Seq,
    ) -> Option<ChangedMessage> {
        let number = self.number + 1;
        let line = self.line_mut(id, seq).filter(|line| line.since.unpublished)?;
        line.since.unpublished = false;
        line.since.version = number;
        self.rooms.get_mut(&id)?.changed = number;
        self.number = number;
        let members = self.member_numbers(id);
        let nobody = UserId { site: id.site, num: 0 };
        self.changed_message(id, seq, nobody, true, members).ok()
    }

    pub(in crate::memory) fn unpublished(&self, page: UnpublishedPage) -> Vec<(ConversationId, Seq)> {
        let lines = self.rooms.keys().filter(|id| id.site > page.after).flat_map(|id| {
            let lines = self.lines(*id).iter().zip(1..).filter(|(line, _)| line.since.unpublished);
            lines.map(|(line, seq)| (id.site, line.since.version, *id, Seq(seq)))
        });
        let mut found: Vec<(SiteId, u64, ConversationId, Seq)> = lines.collect();
        found.sort_unstable_by_key(|(site, version, ..)| (*site, *version));
        let of_sites = found.chunk_by(|(one, ..), (other, ..)| one == other);
        let found = of_sites.flat_map(|of_site| of_site.iter().take(page.of_site as usize));
        found.take(page.limit as usize).map(|(_, _, id, seq)| (*id, *seq)).collect()
    }

    /// On the word of a site's moderator.
    pub(super) fn tidy(
        &mut self,
        id: ConversationId,
        seq: Seq,
        time: Timestamp,
    ) -> Result<ChangedMessage, Refusal> {
        let by = self.line(id, seq).ok_or(Refusal::NoSuchMessage)?.from;
        let wanted = ChangeMessage { conversation: id, seq, by, change: MessageChange::Delete, time };
        let number = self.number + 1;
        let changed = match self.conversations.get_mut(&id) {
            Some(conversation) => {
                let line = conversation.line_mut(seq).ok_or(Refusal::NoSuchMessage)?;
                let changed = line.change(wanted)?;
                if changed {
                    line.since.version = number;
                    conversation.members.iter_mut().for_each(|member| member.changed = number);
                }
                changed
            }
            None => self.tidy_room(wanted, number)?,
        };
        let mut members = Arc::default();
        if changed {
            self.number = number;
            self.count_mention(id, seq);
            members = self.member_numbers(id);
        }
        let nobody = UserId { site: id.site, num: 0 };
        self.changed_message(id, seq, nobody, changed, members)
    }

    fn count_mention(&mut self, id: ConversationId, seq: Seq) {
        let Some(from) = self.conversations.get_mut(&id).and_then(|c| c.line_mut(seq)).map(|line| line.from)
        else {
            return;
        };
        let other = id.other(from).and_then(|other| self.user_by_id(other));
        if let Some(line) = self.conversations.get_mut(&id).and_then(|c| c.line_mut(seq)) {
            line.mentions_other =
                other.is_some_and(|row| directory::mentions(&line.body, row.profile.sub.as_str()));
        }
    }

    pub(in crate::memory) fn pins(
        &self,
        reader: UserId,
        id: ConversationId,
    ) -> Result<Vec<StoredMessage>, Refusal> {
        match id.is_room() {
            true => _ = self.allowed(id, reader, Act::Read)?,
            false => _ = member_index(id, reader).ok_or(Refusal::NoSuchConversation)?,
        }
        let pinned = self.lines(id).iter().zip(1..).filter(|(line, _)| line.is_pinned());
        let pinned: Vec<Seq> = pinned.map(|(_, seq)| Seq(seq)).collect();
        Ok(pinned.into_iter().rev().filter_map(|seq| self.message(id, seq, reader)).collect())
    }

    pub(in crate::memory) fn revisions(&self, id: ConversationId, seq: Seq) -> Vec<Revision> {
        let line = self.line(id, seq);
        line.map(|line| line.since.revisions.clone()).unwrap_or_default()
    }

    /// As if there had never been another body.
    pub(super) fn forget_revisions(&mut self, id: ConversationId, seq: Seq) {
        if let Some(line) = self.line_mut(id, seq) {
            line.since.revisions.clear();
        }
    }

    fn line_mut(&mut self, id: ConversationId, seq: Seq) -> Option<&mut Line> {
        let at = usize::try_from(seq.0).ok()?.checked_sub(1)?;
        let direct = self.conversations.get_mut(&id).map(|conversation| &mut conversation.messages);
        let lines = direct.or_else(|| self.rooms.get_mut(&id).map(|room| &mut room.messages));
        lines?.get_mut(at)
    }

    pub(super) fn line(&self, id: ConversationId, seq: Seq) -> Option<&Line> {
        if self.is_trimmed(id, seq) {
            return None;
        }
        self.lines(id).get(usize::try_from(seq.0).ok()?.checked_sub(1)?)
    }

    pub(super) fn message(&self, id: ConversationId, seq: Seq, reader: UserId) -> Option<StoredMessage> {
        let line = self.line(id, seq)?;
        let is_erased = self.erased_authors.contains(&line.from);
        let sub = |user: &UserId| self.users.get(user).map(|row| row.profile.sub.clone());
        let reactions = line.since.reactions.iter().map(|(reaction, users)| Reactions {
            reaction: reaction.clone(),
            count: users.len() as u64,
            users: users.iter().take(NAMED).filter_map(sub).collect(),
            mine: users.contains(&reader),
        });
        let mut message = StoredMessage {
            conversation: id,
            seq,
            from: line.from,
            from_sub: sub(&line.from)?,
            client_id: line.client_id.clone(),
            body: line.body.clone(),
            time: line.time,
            reply_to: line.reply_to,
            version: line.since.version,
            edited: line.since.edited,
            deleted: line.since.deleted,
            pinned: line.since.pinned,
            reactions: reactions.collect(),
            files: self.files_of(id, seq),
            rich: self.rich_of(line, reader),
        };
        if is_erased {
            message.take_back();
        }
        Some(message)
    }

    /// Gives a message a new version, because it names a user who has another id now.
    pub(super) fn renew(&mut self, id: ConversationId, seq: Seq, number: u64) {
        let Some(line) = self.line_mut(id, seq) else { return };
        line.since.version = number;
        if let Some(conversation) = self.conversations.get_mut(&id) {
            conversation.members.iter_mut().for_each(|member| member.changed = number);
        }
        if let Some(room) = self.rooms.get_mut(&id) {
            room.changed = number;
        }
    }

    pub(super) fn renewed(&self, id: ConversationId, seq: Seq) -> Option<ChangedMessage> {
        let nobody = UserId { site: id.site, num: 0 };
        self.changed_message(id, seq, nobody, true, self.member_numbers(id)).ok()
    }

    /// Messages of others with a reaction or a vote of the user, or that were forwarded from them.
    pub(super) fn messages_naming(&self, user: UserId) -> Vec<(ConversationId, Seq)> {
        let conversations = self.conversations.keys().chain(self.rooms.keys());
        let messages = conversations.flat_map(|id| self.lines(*id).iter().zip(1..).map(|one| (*id, one)));
        let naming = messages.filter(|(_, (line, _))| {
            line.since.reactions.iter().any(|(_, users)| users.contains(&user)) || line.bears_name_of(user)
        });
        naming.map(|(id, (_, seq))| (id, Seq(seq))).collect()
    }

    /// Seqs of messages from before `since` that have changed after it, in the order of their changes; None where they
    /// are more than `most`.
    pub(super) fn updated_since(&self, id: ConversationId, since: u64, most: usize) -> Option<Vec<Seq>> {
        let lines = self.lines(id);
        let old = lines.iter().zip(1..).take_while(|(line, _)| line.number <= since);
        let mut updated: Vec<(u64, Seq)> = old
            .filter(|(line, _)| line.since.version > since)
            .map(|(line, seq)| (line.since.version, Seq(seq)))
            .collect();
        updated.sort_unstable();
        (updated.len() <= most).then(|| updated.into_iter().map(|(_, seq)| seq).collect())
    }
}

impl Conversation {
    fn line_mut(&mut self, seq: Seq) -> Option<&mut Line> {
        self.messages.get_mut(usize::try_from(seq.0).ok()?.checked_sub(1)?)
    }
}

impl Line {
    pub(super) fn is_pinned(&self) -> bool {
        self.since.pinned
    }

    /// See [`may_edit`].
    pub(super) fn may_edit(&self, change: &MessageChange) -> Result<(), Refusal> {
        may_edit(change, &self.client_id, self.has_poll(), self.is_forwarded() || self.is_sticker())
    }

    /// `is_full`: as many are pinned as may be.
    pub(super) fn may_pin(&self, change: &MessageChange, is_full: bool) -> Result<(), Refusal> {
        let is_new = matches!(change, MessageChange::Pin(true)) && !self.since.pinned;
        if is_new && is_full { Err(Refusal::TooManyPinned) } else { Ok(()) }
    }

    /// Answers whether anything is another than before.
    pub(super) fn change(&mut self, wanted: ChangeMessage) -> Result<bool, Refusal> {
        match wanted.change {
            MessageChange::Edit(body) if body == self.body => Ok(false),
            MessageChange::Edit(body) => {
                self.keep_revision(&MessageChange::Edit(body.clone()), wanted.time)?;
                self.body = body;
                self.since.edited = Some(wanted.time);
                self.lose_preview();
                Ok(true)
            }
            MessageChange::Delete if self.since.deleted => Ok(false),
            MessageChange::Delete => {
                self.keep_revision(&MessageChange::Delete, wanted.time)?;
                self.body = "".into();
                self.since.deleted = true;
                self.since.unpublished = false;
                self.since.pinned = false;
                self.since.reactions.clear();
                self.bear_nothing();
                Ok(true)
            }
            MessageChange::Pin(on) => Ok(std::mem::replace(&mut self.since.pinned, on) != on),
            MessageChange::Vote(choices) => self.vote(&choices, wanted.by, wanted.time),
            MessageChange::ClosePoll => self.close_poll(),
            MessageChange::Preview(preview) => self.preview(preview),
            MessageChange::React { reaction, on: true } => self.put(reaction, wanted.by),
            MessageChange::React { reaction, on: false } => Ok(self.take_off(&reaction, wanted.by)),
        }
    }

    /// Of the body as it is now, which the change replaces.
    fn keep_revision(&mut self, change: &MessageChange, until: Timestamp) -> Result<(), Refusal> {
        let revisions = &mut self.since.revisions;
        let kept = |revisions: &[Revision]| KeptRevisions {
            count: revisions.len(),
            bytes: revisions.iter().map(|one| one.body.len()).sum(),
            oldest: revisions.get(1).map(|one| one.until),
        };
        while drops_revision(change, kept(revisions), self.body.len(), until)? {
            revisions.remove(1);
        }
        revisions.push(Revision { until, body: self.body.clone() });
        Ok(())
    }

    fn put(&mut self, reaction: Reaction, user: UserId) -> Result<bool, Refusal> {
        let reactions = &mut self.since.reactions;
        let of_user = reactions.iter().filter(|(_, users)| users.contains(&user)).count();
        let different = reactions.len();
        match reactions.iter_mut().find(|(one, _)| *one == reaction) {
            Some((_, users)) if users.contains(&user) => return Ok(false),
            Some((_, users)) => {
                room_for(different, true, of_user)?;
                users.push(user);
            }
            None => {
                room_for(different, false, of_user)?;
                reactions.push((reaction, vec![user]));
            }
        }
        Ok(true)
    }

    fn take_off(&mut self, reaction: &Reaction, user: UserId) -> bool {
        let reactions = &mut self.since.reactions;
        let Some((_, users)) = reactions.iter_mut().find(|(one, _)| one == reaction) else { return false };
        let before = users.len();
        users.retain(|one| *one != user);
        let changed = users.len() < before;
        reactions.retain(|(_, users)| !users.is_empty());
        changed
    }
}

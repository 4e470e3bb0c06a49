//! Erasing users.

use super::{Tables, member_index};
use crate::erase::{EraseSlice, Erased, Messages, NewErasure};
use crate::room::{LeftReason, Role};
use crate::{
    By, ContactState, ConversationId, Privacy, Profile, Refusal, Seq, SetPresence, SiteAct, SiteRole,
    SiteStanding, Sub, Timestamp, UserId,
};

/// What is left to do of a user who was erased, or goes by another id.
pub(super) struct Left {
    messages: Messages,
    /// What the user was called.
    sub: Sub,
    rooms: Vec<ConversationId>,
    conversations: Vec<ConversationId>,
    written: Vec<(ConversationId, Seq)>,
}

impl Left {
    pub(super) fn renamed(sub: Sub, conversations: impl Iterator<Item = ConversationId>) -> Left {
        let conversations = conversations.collect();
        Left { messages: Messages::Kept, sub, rooms: Vec::new(), conversations, written: Vec::new() }
    }
}

impl Tables {
    pub(in crate::memory) fn begin_erasure(&mut self, erasure: NewErasure) -> Result<Erased, Refusal> {
        let NewErasure { user, alias, name, messages, by, time } = erasure;
        let before = self.user_by_id(user).ok_or(Refusal::NoSuchUser)?;
        if by != By::User(user) {
            self.may_on_site(user.site, by, SiteAct::Erase, before.on_site.role)?;
        }
        if self.user_by_sub.contains_key(&(user.site, alias.clone())) {
            return Err(Refusal::NoSuchUser);
        }
        if before.on_site.role != SiteRole::Member {
            self.moderation.decide_role(user.site, &before.profile.sub, time);
        }
        self.keep_sanctions(&before, time);
        self.user_by_sub.remove(&(user.site, before.profile.sub.clone()));
        self.user_by_sub.insert((user.site, alias.clone()), user);
        let row = self.users.get_mut(&user).ok_or(Refusal::NoSuchUser)?;
        row.profile = Profile { sub: alias, name, avatar: None, guest: false };
        row.presence = SetPresence::Invisible;
        row.banned = true;
        row.on_site = SiteStanding::default();
        row.privacy = Privacy::default();
        row.named = true;
        row.last_seen = Timestamp(0);
        let after = row.clone();
        self.revision += 1;
        let others = self.contacts.iter().filter(|((of, to), _)| *of == user || *to == user);
        let parted = others.filter(|(_, entry)| entry.state != ContactState::None);
        let mut parted: Vec<UserId> =
            parted.map(|((of, to), _)| if *of == user { *to } else { *of }).collect();
        parted.sort_unstable();
        parted.dedup();
        self.contacts.retain(|(of, to), _| *of != user && *to != user);
        self.statuses.remove(&user);
        self.devices.retain(|(of, _), _| *of != user);
        self.requests.remove(&user);
        self.held.retain(|entry| entry.held.from != user);
        self.moderation.forget_devices(user);
        self.drafts.retain(|(of, _), _| *of != user);
        self.follows.retain(|(of, ..), _| *of != user);
        self.notifications.remove_user(user);
        self.links.retain(|entry| entry.by != user);
        self.forget_room_requests(|other| other == user);
        self.remove_loose_files_of(user);
        self.note(user.site, by, "erase", Some(user), None, messages.word(), time);
        self.commit();
        let left = Left {
            messages,
            sub: before.profile.sub.clone(),
            rooms: self.rooms_with(user).collect(),
            conversations: self.conversations.keys().filter(|id| id.other(user).is_some()).copied().collect(),
            written: self.written_by(user),
        };
        self.erasures.insert(user, left);
        Ok(Erased { before, after, parted, position: self.position() })
    }

    fn written_by(&self, user: UserId) -> Vec<(ConversationId, Seq)> {
        let of_user = self.message_by_client_id.iter().filter(|((from, _), _)| *from == user);
        of_user.map(|(_, place)| *place).collect()
    }

    pub(in crate::memory) fn erase_some(&mut self, now: Timestamp, limit: usize) -> EraseSlice {
        let mut slice = EraseSlice { position: self.position(), ..EraseSlice::default() };
        let Some((&user, _)) = self.erasures.first_key_value() else { return slice };
        let Some(mut left) = self.erasures.remove(&user) else { return slice };
        slice.more = true;
        if !left.rooms.is_empty() {
            for room in left.rooms.drain(..left.rooms.len().min(limit)) {
                self.leave_for_good(room, user);
            }
        } else if !left.conversations.is_empty() {
            for id in left.conversations.drain(..left.conversations.len().min(limit)) {
                let number = self.commit();
                let (Some(other), Some(me)) = (id.other(user), member_index(id, user)) else { continue };
                if let Some(conversation) = self.conversations.get_mut(&id) {
                    conversation.members[1 - me].changed = number;
                }
                slice.conversations.extend(self.conversation(other, id).map(|row| (other, row)));
            }
        } else if left.messages == Messages::Erased && !left.written.is_empty() {
            for (id, seq) in left.written.drain(..left.written.len().min(limit)) {
                slice.changed.extend(self.tidy(id, seq, now));
                self.remove_copies_of(user, id, seq);
                self.remove_files_of(id, seq);
                self.forget_revisions(id, seq);
            }
        } else {
            if left.messages == Messages::Erased {
                self.remove_words(user, &left.sub, now);
            }
            slice.more = !self.erasures.is_empty();
            slice.position = self.position();
            return slice;
        }
        self.erasures.insert(user, left);
        slice.position = self.position();
        slice
    }

    /// Where they were the only owner, somebody else keeps order from now on.
    fn leave_for_good(&mut self, room: ConversationId, user: UserId) {
        if let Some(heir) = self.heir_of(room, user) {
            self.put_member(room, heir, Ok(Role::Owner));
        }
        self.put_member(room, user, Err(LeftReason::Left));
    }
}

//! Erasing users.

use std::sync::Arc;

use super::{Tables, member_index};
use crate::account::erasure::{EraseSlice, Erased, MOST_RENAMED, Messages, NewErasure, Renamed};
use crate::rooms::{LeftReason, Role};
use crate::{
    By, ContactState, ConversationId, Privacy, Profile, Refusal, Seq, SetPresence, SiteAct, SiteRole,
    SiteStanding, Timestamp, UserId,
};

/// The unfinished erasure or renaming of a user.
pub(super) struct Left {
    renamed: Arc<Renamed>,
    stays: bool,
    rooms: Vec<ConversationId>,
    conversations: Vec<ConversationId>,
    written: Vec<(ConversationId, Seq)>,
    /// Messages of others with a reaction or a vote of the user, or that were forwarded from them.
    naming: Vec<(ConversationId, Seq)>,
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
        if self.erasures.contains_key(&user) {
            return Err(Refusal::RateLimited { retry_after_ms: 1_000 });
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
        if messages == Messages::Erased {
            self.erased_authors.insert(user);
        }
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
        let renamed = Renamed {
            former: before.profile.sub.clone(),
            now: after.profile.clone(),
            erased: messages == Messages::Erased,
        };
        self.begin_renaming(user, renamed, false);
        Ok(Erased { before, after, parted, position: self.position() })
    }

    /// The user has the new id. `stays`: and goes on under it.
    pub(super) fn begin_renaming(&mut self, user: UserId, renamed: Renamed, stays: bool) {
        let left = Left {
            renamed: Arc::new(renamed),
            stays,
            rooms: self.rooms_ever_with(user).collect(),
            conversations: self.conversations.keys().filter(|id| id.other(user).is_some()).copied().collect(),
            written: self.written_by(user),
            naming: self.messages_naming(user),
        };
        self.erasures.insert(user, left);
    }

    /// Those whose new id a member may not have heard. None: too many.
    pub(super) fn renamed_of(&self, reader: UserId) -> Option<Vec<Renamed>> {
        let of_site = |user: &&UserId| user.site == reader.site && **user != reader;
        if self.erasures.keys().filter(of_site).count() > MOST_RENAMED {
            return None;
        }
        let shares = |user: UserId| {
            let direct = ConversationId::direct(user, reader);
            direct.is_some_and(|id| self.conversations.contains_key(&id))
                || self.rooms_ever_with(user).any(|id| self.rooms_ever_with(reader).any(|mine| mine == id))
        };
        let found = self.erasures.iter().filter(|(user, _)| of_site(user) && shares(**user));
        Some(found.map(|(_, left)| (*left.renamed).clone()).collect())
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
        slice.renamed = Some((user.site, left.renamed.clone()));
        if !left.rooms.is_empty() {
            for room in left.rooms.drain(..left.rooms.len().min(limit)) {
                if !left.stays && self.rooms_with(user).any(|one| one == room) {
                    self.leave_for_good(room, user);
                }
                let members = self.member_numbers(room);
                let without = left.renamed.erased.then(|| self.remove_room_picture_of(room, user)).flatten();
                slice.rooms.extend(without.map(|now| (room, Arc::new(now), members.clone())));
                slice.audience.push(members);
            }
            self.commit();
            slice.renamed_at = self.position();
        } else if !left.conversations.is_empty() {
            self.commit();
            slice.renamed_at = self.position();
            for id in left.conversations.drain(..left.conversations.len().min(limit)) {
                let number = self.commit();
                let (Some(other), Some(me)) = (id.other(user), member_index(id, user)) else { continue };
                slice.audience.push(Arc::new(vec![other.num]));
                if let Some(conversation) = self.conversations.get_mut(&id) {
                    conversation.members[1 - me].changed = number;
                }
                slice.conversations.extend(self.conversation(other, id).map(|row| (other, row)));
            }
        } else if let Some((id, seq)) = self.forwarded_file_of(user).filter(|_| left.renamed.erased) {
            let number = self.commit();
            self.renew(id, seq, number);
            slice.changed.extend(self.renewed(id, seq));
        } else if !left.written.is_empty() {
            for (id, seq) in left.written.drain(..left.written.len().min(limit)) {
                if left.renamed.erased {
                    _ = self.tidy(id, seq, now);
                    self.remove_files_of(id, seq);
                    self.forget_revisions(id, seq);
                }
                let number = self.commit();
                self.renew(id, seq, number);
            }
        } else if !left.naming.is_empty() {
            for (id, seq) in left.naming.drain(..left.naming.len().min(limit)) {
                let number = self.commit();
                self.renew(id, seq, number);
            }
        } else {
            if left.renamed.erased {
                self.remove_words(user, &left.renamed.former, now);
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

//! Invitations into rooms.

use std::sync::Arc;

use super::Tables;
use crate::rooms::{
    Act, Invited, Joined, LinkCode, NewLink, RoomLimits, RoomLink, keeps_links, may_make_link, takes_link,
};
use crate::site::settings::Invitations;
use crate::{By, ConversationId, Refusal, SiteId, Timestamp, UserId};

pub(super) struct Entry {
    pub(super) room: ConversationId,
    pub(super) by: UserId,
    link: RoomLink,
}

impl Tables {
    pub(in crate::memory) fn make_link(
        &mut self,
        room: ConversationId,
        by: UserId,
        new: NewLink,
        now: Timestamp,
    ) -> Result<RoomLink, Refusal> {
        let entry =
            self.rooms.get(&room).filter(|_| room.site == by.site).ok_or(Refusal::NoSuchConversation)?;
        let who = entry.standing(by);
        may_make_link(who, &entry.room, self.invitations(room.site))?;
        self.links.retain(|entry| entry.room != room || entry.link.stands(now));
        let count = |own: bool| {
            let counted = |entry: &&Entry| entry.room == room && (!own || entry.by == by);
            self.links.iter().filter(counted).count() as u32
        };
        takes_link(who, count(false), count(true))?;
        let NewLink { code, until, uses } = new;
        let sub = self.user_by_id(by).ok_or(Refusal::NoSuchUser)?.profile.sub;
        let link = RoomLink { code, by: sub, until, uses, used: 0 };
        self.links.push(Entry { room, by, link: link.clone() });
        Ok(link)
    }

    pub(in crate::memory) fn list_links(
        &self,
        room: ConversationId,
        asker: UserId,
        now: Timestamp,
    ) -> Result<Vec<RoomLink>, Refusal> {
        let only_of = self.only_links_of(room, asker)?;
        let shown = self.links.iter().rev().filter(|entry| {
            entry.room == room && only_of.is_none_or(|user| entry.by == user) && entry.link.stands(now)
        });
        // The author of a link may have another id now.
        let named = |entry: &Entry| {
            let by = self.user_by_id(entry.by)?.profile.sub;
            Some(RoomLink { by, ..entry.link.clone() })
        };
        Ok(shown.filter_map(named).collect())
    }

    /// The user whose links the asker sees and takes back. None: everybody's.
    fn only_links_of(&self, room: ConversationId, asker: UserId) -> Result<Option<UserId>, Refusal> {
        self.allowed(room, asker, Act::List)?;
        Ok(self.allowed(room, asker, Act::Tidy).is_err().then_some(asker))
    }

    pub(in crate::memory) fn take_back_link(
        &mut self,
        room: ConversationId,
        by: UserId,
        code: LinkCode,
        now: Timestamp,
    ) -> Result<Vec<RoomLink>, Refusal> {
        let only_of = self.only_links_of(room, by)?;
        let is_it = |entry: &Entry| {
            entry.room == room && entry.link.code == code && only_of.is_none_or(|user| entry.by == user)
        };
        if let Some(at) = self.links.iter().position(is_it) {
            let maker = self.links.remove(at).by;
            if maker != by {
                self.note(room.site, By::User(by), "end_link", Some(maker), Some(room), "", now);
            }
        }
        self.list_links(room, by, now)
    }

    /// The place of one by which the user may come in.
    fn link(&self, code: LinkCode, user: UserId, now: Timestamp) -> Result<usize, Refusal> {
        let is_it = |entry: &Entry| entry.room.site == user.site && entry.link.code == code;
        let at = self.links.iter().position(is_it).ok_or(Refusal::BadInvitation)?;
        let entry = &self.links[at];
        let room = &self.rooms[&entry.room];
        let rules = room.room.rules(Timestamp(0), Timestamp(0));
        entry.link.lets_in(self.standing_at(entry.room, user, now), rules, now)?;
        Ok(at)
    }

    pub(in crate::memory) fn open_link(
        &self,
        code: LinkCode,
        user: UserId,
        now: Timestamp,
    ) -> Result<Box<Invited>, Refusal> {
        let entry = &self.links[self.link(code, user, now)?];
        let room = &self.rooms[&entry.room];
        Ok(Box::new(Invited {
            conversation: entry.room,
            room: Arc::new(room.room()),
            is_member: room.standing(user).role().is_some(),
            by: self.user_by_id(entry.by).ok_or(Refusal::BadInvitation)?,
            until: entry.link.until,
        }))
    }

    pub(in crate::memory) fn join_link(
        &mut self,
        code: LinkCode,
        user: UserId,
        limits: RoomLimits,
        now: Timestamp,
    ) -> Result<Joined, Refusal> {
        let at = self.link(code, user, now)?;
        let room = self.links[at].room;
        let joined = self.enter(room, user, Act::JoinByLink, limits, now)?;
        let link = self.links.iter_mut().find(|entry| entry.room == room && entry.link.code == code);
        link.into_iter().for_each(|entry| entry.link.used += u32::from(!joined.before));
        Ok(joined)
    }

    /// Those go whose makers may not invite any more, by the room or by the site.
    pub(in crate::memory) fn end_links(&mut self, site: SiteId) {
        let (of_site, rooms) = (self.invitations(site), &self.rooms);
        self.links.retain(|entry| {
            let room = &rooms[&entry.room];
            let rules = room.room.rules(Timestamp(0), Timestamp(0));
            entry.room.site != site || keeps_links(room.standing(entry.by), rules, of_site)
        });
    }

    fn invitations(&self, site: SiteId) -> Invitations {
        self.sites.get(&site).map(|site| site.settings.invitations).unwrap_or_default()
    }
}

//! Imports in memory: the plain reading of what `ImportStore` promises.

use std::collections::BTreeSet;

use super::changes::Since;
use super::{Conversation, Line, Member, Tables, member_index};
use crate::import::{
    ImportFloor, ImportItem, ImportJob, ImportKey, ImportMessage, ImportOutcome, ImportRefusal, ImportTo,
    Imported, imported_client_id,
};
use crate::{By, ConversationId, Position, Refusal, Relation, Seq, SiteId, Sub, Timestamp, UserId};

/// Our id of an imported thing.
#[derive(Clone, Copy)]
pub(super) enum Kept {
    User(UserId),
    Room(ConversationId),
    Message(ConversationId, Seq),
}

type Done = Result<(), ImportOutcome>;

fn refused(why: ImportRefusal) -> ImportOutcome {
    ImportOutcome::Refused(why)
}

impl Tables {
    pub(in crate::memory) fn import(&mut self, job: &ImportJob) -> Imported {
        let mut imported = Imported {
            outcomes: Vec::new(),
            users: Vec::new(),
            rooms: Vec::new(),
            contacts: Vec::new(),
            position: Position::default(),
        };
        let mut rooms = BTreeSet::new();
        for item in &job.items {
            let checked = job.rules.check(item).map_err(refused);
            let done = checked.and_then(|()| self.import_one(job, item, &mut imported, &mut rooms));
            imported.outcomes.push(done.err().unwrap_or(ImportOutcome::Added));
        }
        imported.users.sort_unstable();
        imported.users.dedup();
        imported.rooms = rooms.into_iter().map(|id| (id, self.member_numbers(id))).collect();
        if imported.outcomes.contains(&ImportOutcome::Added) {
            let floor = self.import_floors.get(&job.site);
            if floor.is_none_or(|floor| !floor.unpublished) {
                self.note(job.site, By::Site, "import", None, None, "", job.rules.now);
            }
            let floor = ImportFloor { site: job.site, number: self.number, unpublished: true };
            self.import_floors.insert(job.site, floor);
        }
        imported.position = self.position();
        imported
    }

    pub(in crate::memory) fn publish_import(&mut self, site: SiteId, ends: bool) -> Position {
        let number = self.commit();
        self.import_floors.insert(site, ImportFloor { site, number, unpublished: !ends });
        self.position()
    }

    pub(in crate::memory) fn import_floors(&self) -> Vec<ImportFloor> {
        self.import_floors.values().copied().collect()
    }

    fn import_one(
        &mut self,
        job: &ImportJob,
        item: &ImportItem,
        imported: &mut Imported,
        rooms: &mut BTreeSet<ConversationId>,
    ) -> Done {
        let (site, rules) = (job.site, &job.rules);
        match item {
            ImportItem::User { profile, created } => {
                let key = (site, ImportKey::user(&profile.sub));
                if self.imported.contains_key(&key) {
                    return Err(ImportOutcome::Known);
                }
                if let Some(row) = self.user(site, &profile.sub) {
                    self.imported.insert(key, Kept::User(row.id));
                    return Err(ImportOutcome::Known);
                }
                let row = self.put_user(site, profile.clone(), rules.now);
                if let (Some(created), Some(row)) = (created, self.users.get_mut(&row.id)) {
                    (row.created, row.last_seen) = (*created, *created);
                }
                self.imported.insert(key, Kept::User(row.id));
            }
            ImportItem::Contact(pair) => {
                let [a, b] = [self.imported_user(site, &pair[0])?, self.imported_user(site, &pair[1])?];
                if self.contacts.contains_key(&(a, b)) || self.contacts.contains_key(&(b, a)) {
                    return Err(ImportOutcome::Known);
                }
                if self.put_relation(a, b, Relation::CONTACTS, rules.contacts).is_none() {
                    return Err(refused(ImportRefusal::TooManyContacts));
                }
                imported.users.extend([a.num, b.num]);
                imported.contacts.push((a, b));
            }
            ImportItem::Room { key, room, created } => {
                if self.imported.contains_key(&(site, *key)) {
                    return Err(ImportOutcome::Known);
                }
                let id = self.import_room(site, (**room).clone(), *created, rules.now);
                self.imported.insert((site, *key), Kept::Room(id));
            }
            ImportItem::Member { room, user, role } => {
                let id = self.imported_room(site, *room)?;
                let user = self.imported_user(site, user)?;
                if self.rooms[&id].state(user).is_some() {
                    return Err(ImportOutcome::Known);
                }
                self.has_room_for_one(Some(id), user, rules.rooms).map_err(|why| {
                    refused(match why {
                        Refusal::RoomFull => ImportRefusal::RoomFull,
                        _ => ImportRefusal::TooManyRooms,
                    })
                })?;
                self.put_member(id, user, Ok(*role));
                imported.users.push(user.num);
                rooms.insert(id);
            }
            ImportItem::Message(message) => self.import_message(job, message, imported, rooms)?,
        }
        Ok(())
    }

    fn import_message(
        &mut self,
        job: &ImportJob,
        message: &ImportMessage,
        imported: &mut Imported,
        rooms: &mut BTreeSet<ConversationId>,
    ) -> Done {
        let (site, time) = (job.site, message.time);
        if self.imported.contains_key(&(site, message.key)) {
            return Err(ImportOutcome::Known);
        }
        let from = self.imported_user(site, &message.from)?;
        let id = match &message.to {
            ImportTo::Room(room) => self.imported_room(site, *room)?,
            ImportTo::User(other) => {
                let other = self.imported_user(site, other)?;
                ConversationId::direct(from, other).ok_or(refused(ImportRefusal::SameUser))?
            }
        };
        let count = self.lines(id).len();
        let newest = (count > 0).then(|| self.active(id));
        job.rules.place(id, time, newest)?;
        let reply_to = message.reply_to.and_then(|key| match self.imported.get(&(site, key)) {
            Some(Kept::Message(of, seq)) if *of == id && !self.is_trimmed(id, *seq) => Some(*seq),
            _ => None,
        });
        let number = self.commit();
        let client_id = imported_client_id(number);
        let seq = Seq(count as u64 + 1);
        self.message_by_client_id.insert((from, client_id.clone()), (id, seq));
        let line = Line {
            from,
            client_id,
            body: message.body.clone(),
            time,
            reply_to,
            number,
            mentions_other: false,
            since: Since::default(),
            bears: None,
        };
        let active = newest.map_or(time, |newest| newest.max(time));
        if id.is_room() {
            self.import_into_room(id, line, active);
            rooms.insert(id);
        } else {
            let direct = self.conversations.entry(id).or_insert_with(|| Conversation {
                messages: Vec::new(),
                members: [Member::default(); 2],
                active,
                asking: None,
            });
            direct.messages.push(line);
            direct.active = active;
            for member in &mut direct.members {
                member.changed = number;
                if member.read >= seq.0 - 1 {
                    (member.received, member.read) = (seq.0, seq.0);
                }
            }
            let members = id.pair().into_iter().flatten();
            imported.users.extend(members.map(|user| user.num));
        }
        self.imported.insert((site, message.key), Kept::Message(id, seq));
        debug_assert!(id.is_room() || member_index(id, from).is_some(), "the author is one of the two");
        Ok(())
    }

    /// One that was erased since it was imported is nobody, also where somebody else has the id by now.
    fn imported_user(&self, site: SiteId, sub: &Sub) -> Result<UserId, ImportOutcome> {
        let kept = match self.imported.get(&(site, ImportKey::user(sub))) {
            Some(Kept::User(id)) => Some(*id),
            _ => None,
        };
        match (self.user(site, sub), kept) {
            (Some(row), Some(id)) if row.id != id => Err(refused(ImportRefusal::UserErased)),
            (Some(row), _) => Ok(row.id),
            (None, Some(_)) => Err(refused(ImportRefusal::UserErased)),
            (None, None) => Err(refused(ImportRefusal::NoSuchUser)),
        }
    }

    fn imported_room(&self, site: SiteId, key: ImportKey) -> Result<ConversationId, ImportOutcome> {
        match self.imported.get(&(site, key)) {
            Some(Kept::Room(id)) if self.rooms.contains_key(id) => Ok(*id),
            _ => Err(refused(ImportRefusal::NoSuchRoom)),
        }
    }

    fn active(&self, id: ConversationId) -> Timestamp {
        match self.conversations.get(&id) {
            Some(direct) => direct.active,
            None => self.room_active(id),
        }
    }
}

//! The members of rooms with recent messages, by number. The writer keeps them in memory, so that a message does not
//! read them.
//!
//! The writer thread changes them in the order of the stored changes. So the recipients of a message are exact at its
//! place in the order of commits.
//! place in the order of commits.

use std::collections::HashMap;
use std::sync::Arc;

use crate::engine::{Connection, params};
use chat::ConversationId;

use crate::fault::Outcome;

/// Member lists of rooms with recent messages, in two generations. Cleared when a transaction fails, and after the
/// writer was idle for a while.
#[derive(Default)]
pub(crate) struct KnownMembers {
    young: HashMap<ConversationId, Arc<Vec<u32>>>,
    old: HashMap<ConversationId, Arc<Vec<u32>>>,
    /// User numbers in the young generation.
    numbers: usize,
}

/// With this many numbers, 4 bytes each, the young lists become the old ones: both together are 16 MB and one room.
const NUMBERS: usize = 2_000_000;
const ROOMS: usize = 4_096;

impl KnownMembers {
    pub(crate) fn of(&mut self, db: &Connection, id: ConversationId) -> Outcome<Arc<Vec<u32>>> {
        if let Some(list) = self.young.get(&id) {
            return Ok(list.clone());
        }
        let list = match self.old.remove(&id) {
            Some(list) => list,
            None => Arc::new(read(db, id)?),
        };
        if self.numbers + list.len() > NUMBERS || self.young.len() >= ROOMS {
            self.old = std::mem::take(&mut self.young);
            self.numbers = 0;
        }
        self.numbers += list.len();
        self.young.insert(id, list.clone());
        Ok(list)
    }

    /// Call in the transaction that changes the table.
    pub(crate) fn add(&mut self, id: ConversationId, user: u32) {
        if let Some(list) = self.young.get_mut(&id).or_else(|| self.old.get_mut(&id)) {
            Arc::make_mut(list).push(user);
        }
    }

    pub(crate) fn remove(&mut self, id: ConversationId, user: u32) {
        if let Some(list) = self.young.get_mut(&id).or_else(|| self.old.get_mut(&id))
            && let Some(at) = list.iter().position(|member| *member == user)
        {
            Arc::make_mut(list).swap_remove(at);
        }
    }

    pub(crate) fn forget(&mut self) {
        *self = KnownMembers::default();
    }
}

fn read(db: &Connection, id: ConversationId) -> Outcome<Vec<u32>> {
    let sql = sql!(concat!(
        "SELECT user FROM membership",
        indexed_by!("membership_room"),
        " WHERE site = $1 AND room = $2 AND state < 8"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let users = statement.query_map(params![id.site.0, id.key as i64], |row| row.get(0))?;
    Ok(users.collect::<Result<_, _>>()?)
}

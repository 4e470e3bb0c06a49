//! Reads the rows that the messages of a batch need, before the first one is written.
//!
//! PostgreSQL needs a round trip for each statement, so the one writer would spend most of its time on the first messages of
//! conversations. This takes two statements for all of them. SQLite answers faster than a list could be made.

use std::collections::HashMap;

use chat::{ConversationId, Relation, UserId};

use crate::contact;
use crate::conversation::{self, Direct};
use crate::engine::Connection;
use crate::fault::Outcome;
use crate::late::Settled;

/// Fewer conversations are read one by one.
const WORTH: usize = 2;

/// Conversations without a row, and the relations of their lower member to the higher one. They are true until another write than an
/// append of a message comes.
#[derive(Default)]
pub(crate) struct ReadAhead {
    new: HashMap<ConversationId, Relation>,
}

impl ReadAhead {
    /// Also returns the rows that exist.
    pub(crate) fn read(
        db: &Connection,
        mut ids: Vec<ConversationId>,
    ) -> Outcome<(Vec<(ConversationId, Direct)>, ReadAhead)> {
        ids.sort_unstable();
        ids.dedup();
        if ids.len() < WORTH {
            return Ok(Default::default());
        }
        let mut found = Vec::new();
        let mut new = Vec::new();
        for (id, row) in ids.iter().zip(conversation::load_each(&Settled::trust(db), &ids)?) {
            match (row, id.pair()) {
                (Some(row), _) => found.push((*id, row)),
                (None, Some(pair)) => new.push((*id, pair)),
                (None, None) => {}
            }
        }
        let pairs: Vec<[UserId; 2]> = new.iter().map(|(_, pair)| *pair).collect();
        let relations = contact::relations(db, &pairs)?;
        let new = new.into_iter().zip(relations).map(|((id, _), relation)| (id, relation)).collect();
        Ok((found, ReadAhead { new }))
    }

    /// A write can change what was read.
    pub(crate) fn may_be_outdated(&mut self) {
        self.new.clear();
    }

    /// Whether the conversation had no row when it was read.
    pub(crate) fn is_new(&self, id: ConversationId) -> bool {
        self.new.contains_key(&id)
    }

    /// The relation of a member to the other one, if it was read.
    pub(crate) fn relation(&self, id: ConversationId, of: UserId) -> Option<Relation> {
        let known = *self.new.get(&id)?;
        let [low, _] = id.pair()?;
        Some(if of == low { known } else { known.turned() })
    }
}

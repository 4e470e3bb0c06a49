//! Retention: the oldest messages of a conversation go, from its beginning on.

use super::Tables;
use crate::messages::retention::{Trim, Trimmed};
use crate::{ConversationId, Seq, SiteId, Timestamp};

impl Tables {
    pub(in crate::memory) fn trim(
        &mut self,
        site: SiteId,
        after: Option<u64>,
        trim: &Trim,
        limit: usize,
    ) -> Trimmed {
        let mut removed = 0;
        for id in self.ids_after(site, after) {
            let Some(before) = trim.of(id) else { continue };
            while let Some(seq) = self.first_before(id, before) {
                if removed >= limit {
                    let next = Some((id.key as i64).wrapping_sub(1) as u64);
                    return Trimmed { removed: removed as u32, next };
                }
                self.remove_first(id, seq);
                removed += 1;
            }
        }
        Trimmed { removed: removed as u32, next: None }
    }

    /// In the order of a database, where rooms come first.
    fn ids_after(&self, site: SiteId, after: Option<u64>) -> Vec<ConversationId> {
        let all = self.conversations.keys().chain(self.rooms.keys());
        let after = after.map_or(i64::MIN, |key| key as i64);
        let mut ids: Vec<ConversationId> =
            all.copied().filter(|id| id.site == site && id.key as i64 > after).collect();
        ids.sort_unstable_by_key(|id| id.key as i64);
        ids
    }

    fn first_before(&self, id: ConversationId, before: Timestamp) -> Option<Seq> {
        let gone = self.trimmed.get(&id).copied().unwrap_or(0);
        let line = self.lines(id).get(gone as usize)?;
        (line.time < before).then_some(Seq(gone + 1))
    }

    pub(super) fn is_trimmed(&self, id: ConversationId, seq: Seq) -> bool {
        self.trimmed.get(&id).is_some_and(|gone| seq.0 <= *gone)
    }

    fn remove_first(&mut self, id: ConversationId, seq: Seq) {
        self.remove_files_of(id, seq);
        self.forget_revisions(id, seq);
        self.trimmed.insert(id, seq.0);
        self.message_by_client_id.retain(|_, place| *place != (id, seq));
        let direct = self.conversations.get_mut(&id).map(|conversation| &mut conversation.messages);
        let lines = direct.or_else(|| self.rooms.get_mut(&id).map(|room| &mut room.messages));
        if let Some(line) = lines.and_then(|lines| lines.get_mut(seq.0 as usize - 1)) {
            line.body = "".into();
        }
    }
}

//! Everything that was said to a member or by them.

use super::Tables;
use crate::account::export::ExportPage;
use crate::{ConversationId, Seq, UserId};

impl Tables {
    pub(in crate::memory) fn export(&self, user: UserId, after: Option<&str>, limit: usize) -> ExportPage {
        let mut places: Vec<(ConversationId, Seq)> = Vec::new();
        for id in self.conversations.keys().filter(|id| id.other(user).is_some()) {
            places.extend((1..=self.lines(*id).len() as u64).map(|seq| (*id, Seq(seq))));
        }
        for id in self.rooms.keys() {
            let own = self.lines(*id).iter().zip(1..).filter(|(line, _)| line.from == user);
            places.extend(own.map(|(_, seq)| (*id, Seq(seq))));
        }
        let begin = after.and_then(|after| after.parse().ok()).unwrap_or(0);
        let end = places.len().min(begin + limit);
        let taken = places.get(begin..end).unwrap_or_default();
        ExportPage {
            messages: taken.iter().filter_map(|(id, seq)| self.message(*id, *seq, user)).collect(),
            next: (end < places.len()).then(|| end.to_string()),
        }
    }
}

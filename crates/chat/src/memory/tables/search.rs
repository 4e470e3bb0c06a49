//! Search, by reading everything.

use super::{Tables, member_index};
use crate::{Act, ConversationId, FoundPage, Refusal, Search, Seq, UserId, Word, directory, is_left_out};

impl Tables {
    pub(in crate::memory) fn search(&self, wanted: &Search) -> Result<FoundPage, Refusal> {
        if wanted.conversation.is_some_and(|id| !self.may_read(id, wanted.user)) {
            return Err(Refusal::NoSuchConversation);
        }
        let ids = self.conversations.keys().chain(self.rooms.keys());
        let ids = ids.filter(|id| match wanted.conversation {
            Some(one) => **id == one,
            None => member_index(**id, wanted.user).is_some() || self.is_in_room(**id, wanted.user),
        });
        let mut found: Vec<(u64, ConversationId, Seq)> = ids
            .flat_map(|id| self.lines(*id).iter().zip(1..).map(|(line, seq)| (line, *id, Seq(seq))))
            .filter(|(line, ..)| !line.since.deleted && has_all(&line.body, &wanted.words))
            .filter(|(line, id, _)| !is_left_out(*id, self.has_blocked(wanted.user, line.from)))
            .map(|(line, id, seq)| (line.number, id, seq))
            .collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        let before = wanted.after.as_deref().and_then(|after| u64::from_str_radix(after, 16).ok());
        found.retain(|(number, ..)| before.is_none_or(|before| *number < before));
        let more = found.len() > wanted.limit as usize;
        found.truncate(wanted.limit as usize);
        let next = found.last().filter(|_| more).map(|(number, ..)| format!("{number:x}"));
        let hits = found.into_iter().filter_map(|(_, id, seq)| self.message(id, seq, wanted.user)).collect();
        Ok(FoundPage { hits, next })
    }

    fn may_read(&self, id: ConversationId, user: UserId) -> bool {
        match id.is_room() {
            true => self.allowed(id, user, Act::Read).is_ok(),
            false => member_index(id, user).is_some(),
        }
    }

    fn is_in_room(&self, id: ConversationId, user: UserId) -> bool {
        id.is_room() && self.allowed(id, user, Act::List).is_ok()
    }
}

fn has_all(body: &str, words: &[Word]) -> bool {
    let body = directory::fold(body);
    let mut tokens = body.split(|c: char| !c.is_alphanumeric());
    words.iter().all(|word| {
        let text = directory::fold(&word.text);
        tokens.clone().any(|token| if word.is_start { token.starts_with(&text) } else { *token == text })
    }) && tokens.next().is_some()
}

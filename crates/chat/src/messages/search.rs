//! Searching the user's own conversations for words.

use crate::messages::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::event::message;
use crate::messages::Messages;
use crate::session::{Asker, Completion};
use crate::{ConversationId, FoundPage, PageOf, Refusal, Search};

/// Longest query, in bytes.
const QUERY_BYTES: usize = 256;
/// Further words are ignored.
const WORDS: usize = 8;
/// Fewest letters of the start of a word: shorter ones match too many words.
const START: usize = 3;

/// A search word: whole, or the start of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub text: Box<str>,
    pub is_start: bool,
}

/// The words of a query; a message must contain all of them. The user may still be typing the last one.
pub fn words(query: &str) -> Vec<Word> {
    let is_open = query.chars().next_back().is_some_and(char::is_alphanumeric);
    let mut words: Vec<Word> = query
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| Word { text: word.into(), is_start: false })
        .collect();
    if let Some(last) = words.last_mut() {
        last.is_start = is_open && last.text.chars().count() >= START;
    }
    words.truncate(WORDS);
    words
}

impl Messages {
    pub(crate) fn search(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        query: &str,
        conversation: Option<ConversationId>,
        page: PageOf,
    ) {
        let handle = asker.session.handle;
        if query.len() > QUERY_BYTES {
            return self.sessions.refuse(handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        let words = words(query);
        if words.is_empty() {
            return self.sessions.answer(handle, re, Event::Found { hits: Vec::new(), next: None });
        }
        let limit = self.sessions.page_limit(page.limit);
        let wanted = Search { user: asker.session.user, words, conversation, after: page.after, limit };
        let done = self.on_accepted(handle, AnswerTo::Request(re), move |this, FoundPage { hits, next }| {
            let hits = hits.into_iter().map(message).collect();
            this.sessions.answer(handle, re, Event::Found { hits, next });
        });
        self.store.search(wanted, done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, expected: &[&str]) {
        let found: Vec<String> = words(query)
            .iter()
            .map(|word| format!("{}{}", word.text, if word.is_start { "*" } else { "" }))
            .collect();
        assert_eq!(found, expected, "{query:?}");
    }

    #[test]
    fn words_of_a_query() {
        check("", &[]);
        check(" \"*()- ", &[]);
        check("motor", &["motor*"]);
        check("motor ", &["motor"]);
        check("my mo", &["my", "mo"]);
        check("Größe, 42 OR x^2*", &["Größe", "42", "OR", "x", "2"]);
        check("a b c d e f g hij", &["a", "b", "c", "d", "e", "f", "g", "hij*"]);
        check("a b c d e f g h ijk", &["a", "b", "c", "d", "e", "f", "g", "h"]);
    }
}

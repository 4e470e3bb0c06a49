//! Words and links that a site does not want: looked for in what members write, before it is stored.

use serde::{Deserialize, Serialize};

use crate::requests::links;
use crate::{Refusal, SettingsError};

/// Most words, and most domains.
const ENTRIES: usize = 1_000;
/// Longest word or domain.
const ENTRY_BYTES: usize = 100;

/// Nothing is filtered by default. Moderators may write everything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Filters {
    /// Whole words, in small letters and in order.
    pub words: Vec<String>,
    pub links: Links,
    /// Of links that are refused, or that alone are allowed; in small letters and in order. Their subdomains are meant too.
    pub domains: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Links {
    /// All but those to `domains`.
    #[default]
    Allow,
    /// None but those to `domains`.
    Deny,
}

impl Filters {
    /// In the form in which they are looked for.
    pub(crate) fn tidied(mut self) -> Result<Filters, SettingsError> {
        for (name, entries) in [("words", &mut self.words), ("domains", &mut self.domains)] {
            entries.iter_mut().for_each(|entry| *entry = entry.trim().to_lowercase());
            entries.sort_unstable();
            entries.dedup();
            let is_sound = |entry: &String| {
                (1..=ENTRY_BYTES).contains(&entry.len()) && !entry.contains(char::is_whitespace)
            };
            if entries.len() > ENTRIES || !entries.iter().all(is_sound) {
                let why = format!(
                    "filters.{name}: at most {ENTRIES}, each one word of at most {ENTRY_BYTES} bytes"
                );
                return Err(SettingsError::Wrong(why));
            }
        }
        Ok(self)
    }

    /// May a member write this? Looks at each word once.
    pub fn check(&self, body: &str) -> Result<(), Refusal> {
        if self.words.is_empty() && self.domains.is_empty() && self.links == Links::Allow {
            return Ok(());
        }
        let body = body.to_lowercase();
        let is_listed = |word: &str| self.words.binary_search_by(|entry| (**entry).cmp(word)).is_ok();
        let has_word = body.split(|c: char| !c.is_alphanumeric()).any(is_listed);
        let is_of = |link: &str| self.domains.iter().any(|domain| is_within(link, domain));
        let has_refused_link = match self.links {
            Links::Allow => !self.domains.is_empty() && links(&body).any(is_of),
            Links::Deny => !links(&body).all(is_of),
        };
        if has_word || has_refused_link { Err(Refusal::Filtered) } else { Ok(()) }
    }
}

fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filters(words: &[&str], links: Links, domains: &[&str]) -> Filters {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        Filters { words: owned(words), links, domains: owned(domains) }.tidied().expect("they are sound")
    }

    #[test]
    fn words_are_whole_words_in_any_case() {
        let filters = filters(&["Casino", "über"], Links::Allow, &[]);
        for body in ["casino", "the CASINO!", "my-casino.", "ÜBER alles"] {
            assert_eq!(filters.check(body), Err(Refusal::Filtered), "{body}");
        }
        for body in ["casinos", "a cas ino", "", "überall"] {
            assert_eq!(filters.check(body), Ok(()), "{body}");
        }
    }

    #[test]
    fn domains_are_refused_with_what_is_below_them() {
        let filters = filters(&[], Links::Allow, &["Evil.com"]);
        for body in ["https://evil.com/x", "see www.evil.com", "EVIL.COM", "(https://a.b.evil.com:8080)"] {
            assert_eq!(filters.check(body), Err(Refusal::Filtered), "{body}");
        }
        for body in ["https://notevil.com", "https://good.example/evil.com", "evil com", "no link"] {
            assert_eq!(filters.check(body), Ok(()), "{body}");
        }
    }

    #[test]
    fn where_links_are_denied_only_the_domains_pass() {
        let filters = filters(&[], Links::Deny, &["garden.example"]);
        for body in ["https://garden.example/thread/1", "https://www.garden.example", "no link"] {
            assert_eq!(filters.check(body), Ok(()), "{body}");
        }
        for body in ["https://evil.com", "evil.com", "https://garden.example https://evil.com"] {
            assert_eq!(filters.check(body), Err(Refusal::Filtered), "{body}");
        }
    }

    #[test]
    fn what_is_no_word_is_no_setting() {
        let wrong =
            |entry: &str| Filters { words: vec![entry.into()], ..Filters::default() }.tidied().is_err();
        assert!(wrong("") && wrong("two words") && wrong(&"x".repeat(ENTRY_BYTES + 1)));
        assert!(Filters { words: vec!["x".into(); ENTRIES + 1], ..Filters::default() }.tidied().is_ok());
    }

    proptest! {
        #[test]
        fn no_text_does_harm(body in ".{0,200}") {
            let _ = filters(&["x"], Links::Deny, &["x.y"]).check(&body);
            prop_assert_eq!(Filters::default().check(&body), Ok(()));
        }
    }
}

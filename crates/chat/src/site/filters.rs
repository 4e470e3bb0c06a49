//! Words, links and patterns that a site does not want. The filters check members' texts before they are
//! stored.
//!
//! Each kind has an action: the message is refused, is held until a moderator has read it, or is delivered
//! and reported to moderators. If several match, the strongest action counts.

mod any_case;
mod patterns;

use std::borrow::Cow;

use patterns::PatternTables;
use serde::{Deserialize, Serialize};

use crate::SettingsError;
use crate::site::links::links;

/// Most words, and most domains.
const ENTRIES: usize = 1_000;
/// Longest word or domain.
const ENTRY_BYTES: usize = 100;
const PATTERNS: usize = 100;
const PATTERN_BYTES: usize = 200;

/// Filters of texts. Empty by default. They do not apply to moderators.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Filters {
    /// Unwanted whole words, in lower case and sorted.
    pub words: Vec<String>,
    /// Action for a message with one of `words`.
    pub words_act: FilterAct,
    /// Whether links are allowed by default.
    pub links: Links,
    /// Domains that are exceptions of `links`, in lower case and sorted, with their subdomains.
    pub domains: Vec<String>,
    /// Action for a message with a forbidden link.
    pub links_act: FilterAct,
    /// Regular expressions, each with its action.
    pub patterns: Vec<Pattern>,
}

/// The action on a message; the greater one is stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilterAct {
    /// The message is delivered and reported to moderators.
    Flag,
    /// Only the sender sees the message until a moderator approves it.
    Hold,
    /// The message is refused, and the sender gets an error.
    #[default]
    Reject,
}

impl FilterAct {
    pub fn word(self) -> &'static str {
        match self {
            FilterAct::Flag => "flag",
            FilterAct::Hold => "hold",
            FilterAct::Reject => "reject",
        }
    }
}

/// A regular expression that ignores case.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Pattern {
    pub pattern: String,
    #[serde(default)]
    pub act: FilterAct,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Links {
    /// All except those to `domains`.
    #[default]
    Allow,
    /// Only those to `domains`.
    Deny,
}

/// A match of a filter in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    pub kind: HitKind,
    /// The word, the host of the link, or the pattern.
    pub what: String,
    pub act: FilterAct,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum HitKind {
    Word,
    Link,
    Pattern,
    /// The stored filters are unreadable, so every message is held.
    Unreadable,
}

impl HitKind {
    pub fn word(self) -> &'static str {
        match self {
            HitKind::Word => "word",
            HitKind::Link => "link",
            HitKind::Pattern => "pattern",
            HitKind::Unreadable => "unreadable",
        }
    }
}

/// The filters of a site, compiled once per change of its settings. For every pattern, a search reads one
/// table entry per character.
#[derive(Debug, Clone)]
pub struct CompiledFilters(Compiled);

#[derive(Debug, Clone)]
enum Compiled {
    Patterns(Box<PatternTables>),
    /// The site has filters that this program cannot read: every message is held for a moderator.
    Unreadable,
}

impl Default for CompiledFilters {
    fn default() -> CompiledFilters {
        CompiledFilters(Compiled::Patterns(Box::default()))
    }
}

impl CompiledFilters {
    pub fn new(filters: &Filters) -> Result<CompiledFilters, SettingsError> {
        let tables = PatternTables::compile(filters.patterns.iter().map(|one| &*one.pattern));
        let tables = tables.map_err(|refused| {
            let which = refused.pattern.map(|at| format!("number {}: ", at + 1)).unwrap_or_default();
            SettingsError::Wrong(format!("filters.patterns: {which}{}", refused.why))
        })?;
        Ok(CompiledFilters(Compiled::Patterns(Box::new(tables))))
    }

    /// Filters that hold each message for a moderator, for a site whose stored filters cannot be read.
    pub fn unreadable() -> CompiledFilters {
        CompiledFilters(Compiled::Unreadable)
    }

    pub fn is_unreadable(&self) -> bool {
        matches!(self.0, Compiled::Unreadable)
    }
}

impl Filters {
    /// The filters in the form that the search needs.
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
        let is_sound = |one: &Pattern| (1..=PATTERN_BYTES).contains(&one.pattern.len());
        if self.patterns.len() > PATTERNS || !self.patterns.iter().all(is_sound) {
            let why = format!("filters.patterns: at most {PATTERNS}, each of 1 to {PATTERN_BYTES} bytes");
            return Err(SettingsError::Wrong(why));
        }
        CompiledFilters::new(&self)?;
        Ok(self)
    }

    /// The action on a member's message. None: it is sent like any other.
    pub fn verdict(&self, compiled: &CompiledFilters, body: &str) -> Option<FilterAct> {
        if self.cost(compiled, body) == 0 {
            return None;
        }
        let mut strongest = None;
        self.look(compiled, body, |_, _, act| strongest = strongest.max(Some(act)));
        strongest
    }

    /// The cost of matching a text, in characters times patterns; 0: the site has no filters, or the text is empty.
    pub(crate) fn cost(&self, compiled: &CompiledFilters, body: &str) -> u64 {
        if self.is_empty() && !compiled.is_unreadable() {
            return 0;
        }
        (body.len() as u64).saturating_mul(LIST_COST + self.patterns.len() as u64)
    }

    /// All matches, for tests of the filters, and for moderators who check a message.
    pub fn hits(&self, compiled: &CompiledFilters, body: &str) -> Vec<Hit> {
        let mut hits = Vec::new();
        if self.cost(compiled, body) == 0 {
            return hits;
        }
        self.look(compiled, body, |kind, what, act| {
            let hit = Hit { kind, what: what.to_owned(), act };
            if hits.len() < MOST_HITS && !hits.contains(&hit) {
                hits.push(hit);
            }
        });
        hits
    }

    fn is_empty(&self) -> bool {
        let Filters { words, links, domains, patterns, .. } = self;
        words.is_empty() && domains.is_empty() && *links == Links::Allow && patterns.is_empty()
    }

    /// Visits each word once.
    fn look(&self, compiled: &CompiledFilters, body: &str, mut found: impl FnMut(HitKind, &str, FilterAct)) {
        let tables = match &compiled.0 {
            Compiled::Patterns(tables) => tables,
            Compiled::Unreadable => return found(HitKind::Unreadable, "", FilterAct::Hold),
        };
        let body = &*seen(body);
        let small = body.to_lowercase();
        for word in small.split(|c: char| !c.is_alphanumeric()) {
            if self.words.binary_search_by(|entry| (**entry).cmp(word)).is_ok() {
                found(HitKind::Word, word, self.words_act);
            }
        }
        if self.links == Links::Deny || !self.domains.is_empty() {
            for host in links(&small) {
                let is_listed = self.lists(host);
                if is_listed == (self.links == Links::Allow) {
                    found(HitKind::Link, host, self.links_act);
                }
            }
        }
        for at in tables.matches(body) {
            // The settings and the compiled filters are replaced together.
            if let Some(Pattern { pattern, act }) = self.patterns.get(at) {
                found(HitKind::Pattern, pattern, *act);
            }
        }
    }

    /// Whether the host, or a domain above it, is in the list: one search per label.
    fn lists(&self, host: &str) -> bool {
        let starts = std::iter::once(0).chain(host.match_indices('.').map(|(dot, _)| dot + 1));
        starts
            .map(|start| &host[start..])
            .filter(|domain| domain.len() <= ENTRY_BYTES)
            .any(|domain| self.domains.binary_search_by(|entry| (**entry).cmp(domain)).is_ok())
    }
}

const MOST_HITS: usize = 50;
/// The cost of words and domains, as a number of patterns.
const LIST_COST: u64 = 20;
/// Characters times patterns that are checked in a microsecond, at least, on the measured machine
/// (docs/design/filters.md).
pub(crate) const CHECKS_PER_MICRO: u64 = 400;
/// Microseconds per second that the filters of one site may use, on all threads together. Messages beyond it
/// are refused as too fast.
pub(crate) const FILTER_MICROS_PER_SECOND: u32 = 100_000;

/// The text without invisible characters, which would hide a word.
fn seen(body: &str) -> Cow<'_, str> {
    let is_unseen =
        |c: char| matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
    match body.contains(is_unseen) {
        true => body.chars().filter(|c| !is_unseen(*c)).collect::<String>().into(),
        false => body.into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filters(words: &[&str], links: Links, domains: &[&str]) -> Filters {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        let filters = Filters { words: owned(words), links, domains: owned(domains), ..Filters::default() };
        filters.tidied().expect("they are sound")
    }

    fn patterns(all: &[(&str, FilterAct)]) -> Result<(Filters, CompiledFilters), SettingsError> {
        let patterns = all.iter().map(|(text, act)| Pattern { pattern: (*text).into(), act: *act }).collect();
        let filters = Filters { patterns, ..Filters::default() }.tidied()?;
        let compiled = CompiledFilters::new(&filters)?;
        Ok((filters, compiled))
    }

    fn refuses(filters: &Filters, body: &str) -> bool {
        filters.verdict(&CompiledFilters::default(), body) == Some(FilterAct::Reject)
    }

    #[test]
    fn words_are_whole_words_in_any_case() {
        let filters = filters(&["Casino", "über"], Links::Allow, &[]);
        for body in ["casino", "the CASINO!", "my-casino.", "ÜBER alles", "ca\u{200b}si\u{ad}no"] {
            assert!(refuses(&filters, body), "{body}");
        }
        for body in ["casinos", "a cas ino", "", "überall"] {
            assert!(!refuses(&filters, body), "{body}");
        }
    }

    #[test]
    fn domains_are_refused_with_their_subdomains() {
        let filters = filters(&[], Links::Allow, &["Evil.com"]);
        for body in ["https://evil.com/x", "see www.evil.com", "EVIL.COM", "(https://a.b.evil.com:8080)"] {
            assert!(refuses(&filters, body), "{body}");
        }
        for body in ["https://notevil.com", "https://good.example/evil.com", "evil com", "no link"] {
            assert!(!refuses(&filters, body), "{body}");
        }
    }

    #[test]
    fn denied_links_pass_only_to_listed_domains() {
        let filters = filters(&[], Links::Deny, &["garden.example"]);
        for body in ["https://garden.example/thread/1", "https://www.garden.example", "no link"] {
            assert!(!refuses(&filters, body), "{body}");
        }
        for body in ["https://evil.com", "evil.com", "https://garden.example https://evil.com"] {
            assert!(refuses(&filters, body), "{body}");
        }
    }

    #[test]
    fn the_strongest_match_counts_and_all_are_listed() {
        let (mut filters, compiled) =
            patterns(&[("vi[a4]gra", FilterAct::Hold), (r"\b\d{16}\b", FilterAct::Flag)]).expect("sound");
        let verdict = |body: &str| filters.verdict(&compiled, body);
        assert_eq!(verdict("cheap VI4GRA"), Some(FilterAct::Hold));
        assert_eq!(verdict("4111111111111111"), Some(FilterAct::Flag));
        assert_eq!(verdict("viagra 4111111111111111"), Some(FilterAct::Hold));
        assert_eq!(verdict("Hello"), None);
        filters.words = vec!["hello".into()];
        filters.words_act = FilterAct::Reject;
        assert_eq!(filters.verdict(&compiled, "Hello, viagra"), Some(FilterAct::Reject));
        let hits = filters.hits(&compiled, "Hello hello, viagra");
        let found: Vec<_> = hits.iter().map(|hit| (hit.kind, &*hit.what, hit.act)).collect();
        assert_eq!(
            found,
            [(HitKind::Word, "hello", FilterAct::Reject), (HitKind::Pattern, "vi[a4]gra", FilterAct::Hold)]
        );
    }

    #[test]
    fn patterns_with_large_tables_are_refused() {
        let why = |pattern: &str| match patterns(&[(pattern, FilterAct::Flag)]) {
            Err(why) => why.to_string(),
            Ok(_) => panic!("{pattern} is taken"),
        };
        assert!(why("(").starts_with("filters.patterns: "));
        assert!(why("").starts_with("filters.patterns: "));
        assert!(why(&"x".repeat(PATTERN_BYTES + 1)).starts_with("filters.patterns: "));
        assert!(why(r"(?:\pL{500}){500}").contains("4000 states"));
        assert!(why("(?-i)a").contains("`-i`") && why(r"(?-u:\b)").contains("`-u`"));
        assert!(why(&"(".repeat(40)).starts_with("filters.patterns: "));
        assert!(why(r"(a)\1").starts_with("filters.patterns: "), "it looks back");
        let many = vec![("x", FilterAct::Flag); PATTERNS + 1];
        assert!(patterns(&many).is_err());
    }

    #[test]
    fn a_pattern_that_fits_everything_does_not_fit_an_empty_text() {
        let some = Filters {
            patterns: vec![Pattern { pattern: "a|".into(), act: FilterAct::Flag }],
            ..Filters::default()
        };
        let compiled = CompiledFilters::new(&some).unwrap();
        assert_eq!((some.verdict(&compiled, ""), some.hits(&compiled, "").len()), (None, 0));
        assert_eq!(
            (some.verdict(&compiled, "b"), some.hits(&compiled, "b").len()),
            (Some(FilterAct::Flag), 1)
        );
    }

    #[test]
    fn invalid_words_are_refused() {
        let wrong =
            |entry: &str| Filters { words: vec![entry.into()], ..Filters::default() }.tidied().is_err();
        assert!(wrong("") && wrong("two words") && wrong(&"x".repeat(ENTRY_BYTES + 1)));
        assert!(Filters { words: vec!["x".into(); ENTRIES + 1], ..Filters::default() }.tidied().is_ok());
    }

    proptest! {
        #[test]
        fn no_text_does_harm(body in ".{0,200}", pattern in ".{1,20}") {
            let mut some = filters(&["x"], Links::Deny, &["x.y"]);
            some.patterns = vec![Pattern { pattern, act: FilterAct::Flag }];
            if let Ok(compiled) = CompiledFilters::new(&some) {
                let hits = some.hits(&compiled, &body);
                prop_assert_eq!(hits.iter().map(|hit| hit.act).max(), some.verdict(&compiled, &body));
            }
            prop_assert_eq!(Filters::default().verdict(&CompiledFilters::default(), &body), None);
        }
    }
}

//! How names are compared in lists and found by the start of a word: one rule for every store.

/// The form in which names are compared: lower case, letter by letter.
///
/// Not `str::to_lowercase`: its final sigma would hide `ΟΔΟΣΑ` from a user who has typed only `ΟΔΟΣ`.
pub fn fold(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    fold_into(name, &mut folded);
    folded
}

/// Like [`fold`], but appends to `folded`.
pub fn fold_into(name: &str, folded: &mut String) {
    if name.is_ascii() {
        let begin = folded.len();
        folded.push_str(name);
        return folded[begin..].make_ascii_lowercase();
    }
    folded.extend(name.chars().flat_map(char::to_lowercase).map(|c| if c == 'ς' { 'σ' } else { c }));
}

/// The form in which a query is compared: folded, from its first letter or digit on.
pub fn fold_query(query: &str) -> String {
    fold(query).trim_start_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

/// The starts of words in a folded name.
pub fn word_starts(folded: &str) -> impl Iterator<Item = usize> + '_ {
    let mut inside = false;
    folded.char_indices().filter_map(move |(at, c)| {
        // Combining accents belong to the preceding letter, in names that are not composed.
        let letter = c.is_alphanumeric() || (inside && ('\u{300}'..='\u{36f}').contains(&c));
        let start = letter && !inside;
        inside = letter;
        start.then_some(at)
    })
}

/// Whether a word of the folded name starts with the folded query.
pub fn finds(folded: &str, query: &str) -> bool {
    query.is_empty() || word_starts(folded).any(|at| folded[at..].starts_with(query))
}

/// Whether `body` mentions this user: `@sub`, followed by no letter, digit, `_` or `-`.
pub fn mentions(body: &str, sub: &str) -> bool {
    body.match_indices('@').any(|(at, _)| {
        body[at + 1..].strip_prefix(sub).is_some_and(|rest| {
            rest.chars().next().is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == '-'))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, query: &str) -> bool {
        finds(&fold(name), &fold_query(query))
    }

    #[test]
    fn the_start_of_any_word_is_found_whatever_its_case() {
        assert!(found("Jürgen Ötztal", "ötz"));
        assert!(found("Jürgen Ötztal", "JÜRGEN ö"));
        assert!(found("Anna-Lena (Mod)", "mod"));
        assert!(found("Anna-Lena (Mod)", " (m"));
        assert!(found("ΟΔΟΣΑ", "ΟΔΟΣ"));
        assert!(found("x", ""));
        assert!(!found("Jürgen", "rgen"));
        assert!(!found("cafe\u{301}s", "s"));
    }

    #[test]
    fn a_mention_ends_where_the_id_ends() {
        assert!(mentions("hello @bob!", "bob"));
        assert!(mentions("@bob", "bob"));
        assert!(!mentions("@bobby @bob_ @bob-1", "bob"));
        assert!(!mentions("bob", "bob"));
    }
}

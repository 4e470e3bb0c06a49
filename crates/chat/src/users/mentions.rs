//! The members that a message in a room mentions.

/// Mentions all members, if the author may do that.
pub const EVERYBODY: &str = "room";

/// Most members whom one message can mention.
pub const MOST_MENTIONED: usize = 20;

/// The possible ids after an `@`, the longest first; the caller takes the first of each group that exists.
///
/// An id may contain nearly any character, and text may follow it. So the candidates are the text up to the
/// next space, that text without final punctuation, and its leading letters and digits. At most
/// [`MOST_MENTIONED`] groups.
pub fn mentioned(body: &str) -> impl Iterator<Item = Vec<&str>> {
    let after_at = body.match_indices('@').map(|(at, _)| &body[at + 1..]);
    after_at
        .map(|rest| {
            let word = rest.split(char::is_whitespace).next().unwrap_or_default();
            let word = &word[..word.floor_char_boundary(crate::Sub::MAX_BYTES + 8)];
            let bare = word.trim_end_matches(|c: char| !is_name(c));
            let plain = &word[..word.find(|c: char| !is_name(c)).unwrap_or(word.len())];
            let mut tries = vec![word, bare, plain];
            tries.retain(|name| (1..=crate::Sub::MAX_BYTES).contains(&name.len()));
            tries.dedup();
            tries
        })
        .filter(|tries| !tries.is_empty())
        .take(MOST_MENTIONED)
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: &[&[&str]]) {
        assert_eq!(mentioned(body).collect::<Vec<_>>(), expected, "{body}");
    }

    #[test]
    fn candidates_for_an_id() {
        check("no one", &[]);
        check("@ben", &[&["ben"]]);
        check("hi @ben, and @carla!", &[&["ben,", "ben"], &["carla!", "carla"]]);
        check("(@user.7|x)", &[&["user.7|x)", "user.7|x", "user"]]);
        check("@ @\n@", &[]);
        check("a@b.example @room: look", &[&["b.example", "b"], &["room:", "room"]]);
        check("@שלום.", &[&["שלום.", "שלום"]]);
    }

    #[test]
    fn mentions_are_bounded() {
        assert_eq!(mentioned(&"@a ".repeat(1_000)).count(), MOST_MENTIONED);
        let long = format!("@{}", "é".repeat(1_000));
        assert!(mentioned(&long).all(|tries| tries.iter().all(|name| name.len() <= 128)));
    }
}

//! Turns a statement as SQLite reads it into PostgreSQL's form. Happens once per connection and statement, when it is prepared.

/// Words that PostgreSQL reserves, and that are names here.
const RESERVED: [&str; 1] = ["user"];

/// `?1` becomes `$1`; names that are reserved words get quotes; the choice of an index and of an order of joins goes.
pub(crate) fn postgres(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len() + 16);
    let mut rest = sql;
    while let Some(c) = rest.chars().next() {
        if c == '\'' || c == '"' {
            let end = rest[1..].find(c).map_or(rest.len(), |end| end + 2);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        } else if c == '?' {
            out.push('$');
            rest = &rest[1..];
        } else if let Some(after) = rest.strip_prefix(" INDEXED BY ") {
            let end = after.find(|c: char| !is_word(c)).unwrap_or(after.len());
            rest = &after[end..];
        } else if let Some(after) = rest.strip_prefix(" CROSS JOIN ") {
            out.push_str(" JOIN ");
            rest = after;
        } else if is_word(c) {
            let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            let word = &rest[..end];
            if RESERVED.contains(&word) {
                out.extend(["\"", word, "\""]);
            } else {
                out.push_str(word);
            }
            rest = &rest[end..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::postgres;

    #[test]
    fn each_difference_is_spelled() {
        for (sqlite, wanted) in [
            (
                sql!("SELECT user.user, a_user FROM user WHERE user = $1 AND b = $12"),
                "SELECT \"user\".\"user\", a_user FROM \"user\" WHERE \"user\" = $1 AND b = $12",
            ),
            (
                sql!(concat!("SELECT a FROM b", indexed_by!("c_d"), " WHERE d = 'user'")),
                "SELECT a FROM b WHERE d = 'user'",
            ),
            (
                sql!(concat!("SELECT a FROM b", join_in_order!(), "c ON c.d = b.d")),
                "SELECT a FROM b JOIN c ON c.d = b.d",
            ),
            (sql!("SELECT 'it''s', 'ä€' || $1"), "SELECT 'it''s', 'ä€' || $1"),
        ] {
            assert_eq!(postgres(sqlite), wanted);
        }
    }
}

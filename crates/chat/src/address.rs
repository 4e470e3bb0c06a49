//! The local part of a user's address: an id of a site in a form that survives nodeprep.
//!
//! Local parts are compared without case (RFC 7622 §3.3, RFC 6122 Appendix A), but ids are not: `Ann` and `ann` are two
//! users. So the local part has only characters that nodeprep keeps, and escapes the others:
//!
//! | character of the id | in the local part |
//! |---|---|
//! | lower-case letters, letters without case, digits, most punctuation | itself |
//! | space, `"`, `&`, `'`, `/`, `:`, `<`, `>`, `@`, `\` | `\20`, `\22`, … as in XEP-0106 §3.2 |
//! | an upper-case letter | `^` and its lower case |
//! | `^` | `^^` |
//! | all others, and a space at an end (XEP-0106 §4.2) | `^(` code point in hexadecimal `)` |

use std::fmt::Write as _;

use stringprep::nodeprep;

use crate::Sub;

impl Sub {
    /// The local part of the user's address: lower-case, at most three times as long as the id, and unchanged by nodeprep.
    pub fn address_local(&self) -> String {
        if self.as_str().bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
            return self.as_str().to_owned();
        }
        let readable = escaped(self.as_str(), is_kept);
        // Some letters compose with their neighbours, or must not stand beside letters of the other direction.
        match nodeprep(&readable) {
            Ok(prepared) if prepared == readable => readable,
            _ => escaped(self.as_str(), |c| c.is_ascii() && is_kept(c)),
        }
    }

    /// The user whose address has this local part. None: no id is written so.
    pub fn of_address_local(local: &str) -> Option<Sub> {
        let sub = Sub::parse(&unescaped(local)?)?;
        // One id has one address.
        (sub.address_local() == local).then_some(sub)
    }
}

fn escaped(id: &str, is_kept: impl Fn(char) -> bool) -> String {
    let mut local = String::with_capacity(id.len() + 8);
    let last = id.char_indices().next_back().map_or(0, |(at, _)| at);
    for (at, c) in id.char_indices() {
        let is_end = at == 0 || at == last;
        // Writing into a string cannot fail.
        let _ = match c {
            ' ' if is_end => write!(local, "^({:x})", u32::from(c)),
            ' ' | '"' | '&' | '\'' | '/' | ':' | '<' | '>' | '@' | '\\' => {
                write!(local, "\\{:02x}", u32::from(c))
            }
            '^' => local.write_str("^^"),
            c if is_kept(c) => local.write_char(c),
            c => match lower_case(c).filter(|lower| is_kept(*lower)) {
                Some(lower) => write!(local, "^{lower}"),
                None => write!(local, "^({:x})", u32::from(c)),
            },
        };
    }
    local
}

/// None if an escape is incomplete or names no character. Accepts more than [`escaped`] writes.
fn unescaped(local: &str) -> Option<String> {
    let mut id = String::with_capacity(local.len());
    let mut rest = local.chars();
    while let Some(c) = rest.next() {
        id.push(match c {
            '\\' => {
                let code = rest.as_str().get(..2)?;
                rest.nth(1)?;
                char::from(u8::from_str_radix(code, 16).ok()?)
            }
            '^' => match rest.next()? {
                '^' => '^',
                '(' => {
                    let (code, after) = rest.as_str().split_once(')')?;
                    rest = after.chars();
                    char::from_u32(u32::from_str_radix(code, 16).ok()?)?
                }
                lower => single(lower.to_uppercase())?,
            },
            c => c,
        });
    }
    Some(id)
}

/// Whether nodeprep and the IdentifierClass of PRECIS (RFC 8264 §4.2) keep this character by itself. Of the characters outside of
/// ASCII only letters are kept.
fn is_kept(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_graphic() && !c.is_ascii_uppercase();
    }
    // Letters that PRECIS excludes: RFC 8264 §9.6 and §9.9.
    let is_excluded =
        matches!(c, '\u{640}' | '\u{7fa}' | '\u{1100}'..='\u{11ff}' | '\u{3031}'..='\u{3035}' | '\u{303b}');
    let mut buffer = [0; 4];
    let text = &*c.encode_utf8(&mut buffer);
    c.is_alphabetic() && !is_excluded && nodeprep(text).is_ok_and(|prepared| prepared == text)
}

/// The lower case of an upper-case letter, if the letter is its upper case again.
fn lower_case(c: char) -> Option<char> {
    let lower = single(c.to_lowercase())?;
    (lower != c && single(lower.to_uppercase()) == Some(c)).then_some(lower)
}

fn single(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn local(id: &str) -> String {
        Sub::parse(id).unwrap().address_local()
    }

    #[test]
    fn ids_are_escaped_as_documented() {
        for (id, expected) in [
            ("ann", "ann"),
            ("4711", "4711"),
            ("ann.o-neill_2+x!", "ann.o-neill_2+x!"),
            ("Ann", "^ann"),
            ("ANN", "^a^n^n"),
            ("a^b", "a^^b"),
            ("a@b.example", "a\\40b.example"),
            ("d'artagnan", "d\\27artagnan"),
            ("a b", "a\\20b"),
            (" a ", "^(20)a^(20)"),
            (" ", "^(20)"),
            ("c:\\5c", "c\\3a\\5c5c"),
            ("zoë", "zoë"),
            ("ZOË", "^z^o^ë"),
            ("юля", "юля"),
            ("Юля", "^юля"),
            ("はなこ", "はなこ"),
            ("שרה", "שרה"),
            ("straße", "stra^(df)e"),
            ("ΣΟΦΟΣ", "^σ^ο^φ^ο^σ"),
            ("σοφος", "σοφο^(3c2)"),
            ("İ", "^(130)"),
            ("☺", "^(263a)"),
            ("²", "^(b2)"),
            ("🦊", "^(1f98a)"),
        ] {
            assert_eq!(local(id), expected, "{id}");
            assert_eq!(Sub::of_address_local(expected).unwrap().as_str(), id, "{id}");
        }
    }

    /// Both letters are kept alone. Together nodeprep would compose them, or refuse the two directions.
    #[test]
    fn letters_that_nodeprep_changes_in_company_are_escaped() {
        assert_eq!(local("שרה1"), "^(5e9)^(5e8)^(5d4)1");
        assert_eq!(local("aש"), "a^(5e9)");
        let composed = "\u{9c7}\u{9be}";
        assert!(local(composed).is_ascii(), "{}", local(composed));
        assert_eq!(Sub::of_address_local(&local(composed)).unwrap().as_str(), composed);
    }

    #[test]
    fn other_spellings_of_an_address_are_no_addresses() {
        for other in [
            "",
            "Ann",
            "\\61nn",
            "^(61)nn",
            "^(41)nn",
            "^(0041)nn",
            "^(263A)",
            "\\2",
            "\\",
            "^",
            "^(",
            "^()",
            "^(110000)",
            "a b",
            "a@b",
            "\\20a",
            "a\\20",
            "^1",
            "^ß",
            "\\4",
            "\\ü0",
            "^(+41)",
        ] {
            assert_eq!(Sub::of_address_local(other), None, "{other}");
        }
    }

    /// Ids of letters, spaces and characters of every plane.
    fn ids() -> impl Strategy<Value = String> {
        let c = prop_oneof![
            any::<char>(),
            proptest::char::range(' ', '\u{24f}'),
            proptest::char::range('\u{370}', '\u{11ff}'),
            Just(' '),
            Just('^'),
            Just('\\'),
        ];
        proptest::collection::vec(c, 1..20).prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #[test]
        fn an_address_survives_nodeprep_and_names_its_user(id in ids()) {
            if let Some(sub) = Sub::parse(&id) {
                let local = sub.address_local();
                prop_assert_eq!(&*nodeprep(&local).unwrap(), &*local);
                prop_assert!(local.len() <= 3 * id.len() + 4 && local.len() <= 1_023);
                prop_assert_eq!(Sub::of_address_local(&local), Some(sub));
            }
        }

        #[test]
        fn every_text_is_the_address_of_at_most_one_user(text in "[\\\\^()0-9a-fA-Fé ]{0,24}") {
            if let Some(sub) = Sub::of_address_local(&text) {
                prop_assert_eq!(sub.address_local(), text);
            }
        }
    }
}

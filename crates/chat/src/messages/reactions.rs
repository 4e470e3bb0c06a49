//! Reactions: their form, and their number per message.

use std::sync::Arc;

use crate::Refusal;
use crate::serialize::serialize_as_text;

/// One emoji, or `:name:` for one of the site's own pictures.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reaction(Arc<str>);

impl Reaction {
    /// The longest emoji sequence that Unicode recommends has 35 bytes.
    pub const MAX_BYTES: usize = 48;

    /// None if the text is neither.
    pub fn parse(text: &str) -> Option<Reaction> {
        (text.len() <= Self::MAX_BYTES && (is_name(text) || is_emoji(text))).then(|| Reaction(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

serialize_as_text!(Reaction, as_str, Reaction::parse);

/// Users listed by name for each reaction: the earliest who still have it. The others are only counted.
pub const NAMED: usize = 20;
/// Most different reactions of one message, and of one user to it.
const DIFFERENT: usize = 20;
const OF_ONE_USER: usize = 8;

/// Whether a user with `of_user` reactions on a message with `different` ones may add one. `is_there`: others
/// have added the same reaction.
pub fn room_for(different: usize, is_there: bool, of_user: usize) -> Result<(), Refusal> {
    let fits = (is_there || different < DIFFERENT) && of_user < OF_ONE_USER;
    if fits { Ok(()) } else { Err(Refusal::TooManyReactions) }
}

fn is_name(text: &str) -> bool {
    let name = text.strip_prefix(':').and_then(|rest| rest.strip_suffix(':')).unwrap_or_default();
    let of_name =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'+' | b'-');
    (1..=30).contains(&name.len()) && name.bytes().all(of_name)
}

const JOINER: char = '\u{200d}';
const EMOJI_STYLE: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';

/// One emoji of UTS #51 §1.4.9: elements joined by ZWJ. Stricter than the standard for sequences that appear
/// as text: digits need their keycap, and skin tones an emoji to colour.
fn is_emoji(text: &str) -> bool {
    let mut rest = text;
    loop {
        let Some(after) = element(rest) else { return false };
        match after.strip_prefix(JOINER) {
            Some(next) => rest = next,
            None => return after.is_empty(),
        }
    }
}

/// The text after the element at the start of `text`; None if it begins with none.
fn element(text: &str) -> Option<&str> {
    let mut chars = text.chars();
    let first = chars.next()?;
    let rest = chars.as_str();
    match first {
        '\u{1f1e6}'..='\u{1f1ff}' => rest.strip_prefix(|c: char| matches!(c, '\u{1f1e6}'..='\u{1f1ff}')),
        '#' | '*' | '0'..='9' => rest.strip_prefix(EMOJI_STYLE).unwrap_or(rest).strip_prefix(KEYCAP),
        _ if is_pictograph(first) => Some(after_modifier(rest)),
        _ => None,
    }
}

/// A skin tone, the style of emoji, or the tags of a flag, if there.
fn after_modifier(rest: &str) -> &str {
    let is_modifier = |c: char| c == EMOJI_STYLE || matches!(c, '\u{1f3fb}'..='\u{1f3ff}');
    if let Some(after) = rest.strip_prefix(is_modifier) {
        return after;
    }
    let tags = rest.trim_start_matches(|c: char| matches!(c, '\u{e0020}'..='\u{e007e}'));
    if tags.len() == rest.len() { rest } else { tags.strip_prefix('\u{e007f}').unwrap_or(rest) }
}

fn is_pictograph(c: char) -> bool {
    let at = PICTOGRAPHS.partition_point(|(_, last)| *last < u32::from(c));
    PICTOGRAPHS.get(at).is_some_and(|(first, _)| *first <= u32::from(c))
}

/// `Extended_Pictographic` of UCD emoji-data.txt 14.0. It reserves the code points that later versions of
/// Unicode assign to emoji.
#[rustfmt::skip]
const PICTOGRAPHS: [(u32, u32); 78] = [
    (0xa9, 0xa9), (0xae, 0xae), (0x203c, 0x203c), (0x2049, 0x2049), (0x2122, 0x2122), (0x2139, 0x2139),
    (0x2194, 0x2199), (0x21a9, 0x21aa), (0x231a, 0x231b), (0x2328, 0x2328), (0x2388, 0x2388),
    (0x23cf, 0x23cf), (0x23e9, 0x23f3), (0x23f8, 0x23fa), (0x24c2, 0x24c2), (0x25aa, 0x25ab),
    (0x25b6, 0x25b6), (0x25c0, 0x25c0), (0x25fb, 0x25fe), (0x2600, 0x2605), (0x2607, 0x2612),
    (0x2614, 0x2685), (0x2690, 0x2705), (0x2708, 0x2712), (0x2714, 0x2714), (0x2716, 0x2716),
    (0x271d, 0x271d), (0x2721, 0x2721), (0x2728, 0x2728), (0x2733, 0x2734), (0x2744, 0x2744),
    (0x2747, 0x2747), (0x274c, 0x274c), (0x274e, 0x274e), (0x2753, 0x2755), (0x2757, 0x2757),
    (0x2763, 0x2767), (0x2795, 0x2797), (0x27a1, 0x27a1), (0x27b0, 0x27b0), (0x27bf, 0x27bf),
    (0x2934, 0x2935), (0x2b05, 0x2b07), (0x2b1b, 0x2b1c), (0x2b50, 0x2b50), (0x2b55, 0x2b55),
    (0x3030, 0x3030), (0x303d, 0x303d), (0x3297, 0x3297), (0x3299, 0x3299), (0x1f000, 0x1f0ff),
    (0x1f10d, 0x1f10f), (0x1f12f, 0x1f12f), (0x1f16c, 0x1f171), (0x1f17e, 0x1f17f), (0x1f18e, 0x1f18e),
    (0x1f191, 0x1f19a), (0x1f1ad, 0x1f1e5), (0x1f201, 0x1f20f), (0x1f21a, 0x1f21a), (0x1f22f, 0x1f22f),
    (0x1f232, 0x1f23a), (0x1f23c, 0x1f23f), (0x1f249, 0x1f3fa), (0x1f400, 0x1f53d), (0x1f546, 0x1f64f),
    (0x1f680, 0x1f6ff), (0x1f774, 0x1f77f), (0x1f7d5, 0x1f7ff), (0x1f80c, 0x1f80f), (0x1f848, 0x1f84f),
    (0x1f85a, 0x1f85f), (0x1f888, 0x1f88f), (0x1f8ae, 0x1f8ff), (0x1f90c, 0x1f93a), (0x1f93c, 0x1f945),
    (0x1f947, 0x1faff), (0x1fc00, 0x1fffd),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emoji_and_names_are_reactions() {
        for text in [
            "👍",
            "👍🏽",
            "❤️",
            "❤",
            "🇩🇪",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "#️⃣",
            "5⃣",
            "👨‍👩‍👧‍👦",
            "👩🏻‍❤️‍💋‍👨🏼",
            "🏳️‍🌈",
            "\u{1faf6}",
            "\u{1fadf}", // reserved in Unicode 14, an emoji since 16
            ":party:",
            ":+1:",
            ":a-b_c9:",
        ] {
            assert_eq!(Reaction::parse(text).expect(text).as_str(), text);
        }
        assert_eq!("👩🏻‍❤️‍💋‍👨🏼".len(), 35);
    }

    #[test]
    fn other_texts_are_no_reactions() {
        let long = ":".to_owned() + &"a".repeat(31) + ":";
        let family = "👨‍".repeat(7) + "👨";
        for text in [
            "",
            " ",
            "a",
            "5",
            "#",
            "5\u{fe0f}",
            "∀",
            "ok👍",
            "👍 ",
            "👍👍",
            "👍\u{200d}",
            "\u{200d}👍",
            "🇩",
            "🇩🇪🇫🇷",
            "\u{1f3fd}",
            "\u{fe0f}",
            "👍\0",
            "👍\u{fe0f}\u{fe0f}",
            "🏴\u{e0067}",
            "<b>",
            "::",
            ":Party:",
            ":a b:",
            ":ä:",
            ":a",
            &long,
            &family,
        ] {
            assert_eq!(Reaction::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn reactions_per_message_and_user_are_bounded() {
        let full = Err(Refusal::TooManyReactions);
        for (different, is_there, of_user, expected) in [
            (0, false, 0, Ok(())),
            (19, false, 7, Ok(())),
            (20, false, 0, full),
            (20, true, 0, Ok(())),
            (20, true, 7, Ok(())),
            (3, false, 8, full),
            (3, true, 8, full),
        ] {
            assert_eq!(room_for(different, is_there, of_user), expected, "{different} {is_there} {of_user}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_comes_is_judged(text in "[👍🏽❤️🇩🇪\u{200d}\u{fe0f}\u{20e3}#5:a\u{e0067}\u{e007f}]{0,12}", any: String) {
            for text in [text, any] {
                let parsed = Reaction::parse(&text);
                proptest::prop_assert!(parsed.is_none_or(|one| one.as_str() == text && !text.contains(' ')));
            }
        }
    }
}

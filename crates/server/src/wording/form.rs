//! Which form of a word a whole number asks for: the cardinal rules of Unicode CLDR 46 (UTS 35 part 3 §5, `plurals.xml`). The forms of
//! fractions are left out, and so is `many` of the Romance languages, which round millions alone ask for.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Zero,
    One,
    Two,
    Few,
    Many,
    Other,
}

use Form::{Few, Many, One, Other, Two, Zero};

/// German, English, Spanish, Italian, Dutch, Swedish, Turkish.
pub(super) fn one_apart(n: u64) -> Form {
    if n == 1 { One } else { Other }
}

/// French, Portuguese, Persian, Hindi.
pub(super) fn none_as_one(n: u64) -> Form {
    if n <= 1 { One } else { Other }
}

/// Chinese, Japanese, Korean.
pub(super) fn all_alike(_: u64) -> Form {
    Other
}

pub(super) fn hebrew(n: u64) -> Form {
    match n {
        1 => One,
        2 => Two,
        _ => Other,
    }
}

pub(super) fn czech(n: u64) -> Form {
    match n {
        1 => One,
        2..=4 => Few,
        _ => Other,
    }
}

pub(super) fn polish(n: u64) -> Form {
    if n == 1 { One } else { slavic(n).unwrap_or(Many) }
}

/// Russian, Ukrainian.
pub(super) fn east_slavic(n: u64) -> Form {
    if n % 10 == 1 && n % 100 != 11 { One } else { slavic(n).unwrap_or(Many) }
}

fn slavic(n: u64) -> Option<Form> {
    (matches!(n % 10, 2..=4) && !matches!(n % 100, 12..=14)).then_some(Few)
}

pub(super) fn arabic(n: u64) -> Form {
    match (n, n % 100) {
        (0, _) => Zero,
        (1, _) => One,
        (2, _) => Two,
        (_, 3..=10) => Few,
        (_, 11..=99) => Many,
        _ => Other,
    }
}

//! The plural form of a whole number: the cardinal rules of Unicode CLDR 46 (UTS 35 part 3 §5, `plurals.xml`). Forms of fractions are left
//! out, and so is `many` of the Romance languages, which only round millions use.

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

impl Form {
    /// The keyword of ICU MessageFormat, except `other`, which is always required.
    pub(super) fn named(name: &str) -> Option<Form> {
        match name {
            "zero" => Some(Zero),
            "one" => Some(One),
            "two" => Some(Two),
            "few" => Some(Few),
            "many" => Some(Many),
            _ => None,
        }
    }
}

/// The rule of a language; the default is that of English.
pub(super) fn of(language: &str) -> fn(u64) -> Form {
    match language {
        "fr" | "pt" | "fa" | "hi" => none_as_one,
        "zh" | "ja" | "ko" => all_alike,
        "he" => hebrew,
        "cs" => czech,
        "pl" => polish,
        "ru" | "uk" => east_slavic,
        "ar" => arabic,
        _ => one_apart,
    }
}

fn one_apart(n: u64) -> Form {
    if n == 1 { One } else { Other }
}

fn none_as_one(n: u64) -> Form {
    if n <= 1 { One } else { Other }
}

fn all_alike(_: u64) -> Form {
    Other
}

fn hebrew(n: u64) -> Form {
    match n {
        1 => One,
        2 => Two,
        _ => Other,
    }
}

fn czech(n: u64) -> Form {
    match n {
        1 => One,
        2..=4 => Few,
        _ => Other,
    }
}

fn polish(n: u64) -> Form {
    if n == 1 { One } else { slavic(n).unwrap_or(Many) }
}

fn east_slavic(n: u64) -> Form {
    if n % 10 == 1 && n % 100 != 11 { One } else { slavic(n).unwrap_or(Many) }
}

fn slavic(n: u64) -> Option<Form> {
    (matches!(n % 10, 2..=4) && !matches!(n % 100, 12..=14)).then_some(Few)
}

fn arabic(n: u64) -> Form {
    match (n, n % 100) {
        (0, _) => Zero,
        (1, _) => One,
        (2, _) => Two,
        (_, 3..=10) => Few,
        (_, 11..=99) => Many,
        _ => Other,
    }
}

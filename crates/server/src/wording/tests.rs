//! The texts of every language in their plural forms. `npm run lint` checks the texts themselves: names, forms and translation.

use super::form::Form::{Few, Many, One, Other, Two, Zero};
use super::*;

#[test]
fn the_first_known_language_is_used() {
    for (wanted, expected) in [
        ("de-AT", "de"),
        ("PT_br", "pt"),
        ("tlh, fr-CH;q=0.9, en;q=0.8", "fr"),
        ("zh-Hant-TW", "zh"),
        ("tlh", "en"),
        ("*;q=0.5", "en"),
        ("", "en"),
        (";,-,_", "en"),
    ] {
        assert_eq!(words(wanted).language, expected, "{wanted}");
    }
}

#[test]
fn languages_from_right_to_left_are_known() {
    assert_eq!(
        ["ar", "fa", "he", "en", "ja"].map(|one| words(one).dir()),
        ["rtl", "rtl", "rtl", "ltr", "ltr"]
    );
    assert_eq!(words("he").isolated("Ann"), "\u{2068}Ann\u{2069}");
    assert_eq!(words("ja").isolated("Ann"), "Ann");
}

/// Rows of the table of plural rules of CLDR 46.
#[test]
fn a_number_asks_for_the_form_of_its_language() {
    for (language, examples) in [
        ("en", [(0, Other), (1, One), (2, Other), (5, Other), (21, Other), (101, Other)]),
        ("fr", [(0, One), (1, One), (2, Other), (5, Other), (21, Other), (101, Other)]),
        ("ja", [(0, Other), (1, Other), (2, Other), (5, Other), (21, Other), (101, Other)]),
        ("he", [(0, Other), (1, One), (2, Two), (5, Other), (21, Other), (102, Other)]),
        ("cs", [(0, Other), (1, One), (4, Few), (5, Other), (22, Other), (101, Other)]),
        ("pl", [(0, Many), (1, One), (4, Few), (12, Many), (22, Few), (101, Many)]),
        ("ru", [(0, Many), (1, One), (4, Few), (11, Many), (21, One), (112, Many)]),
        ("ar", [(0, Zero), (1, One), (2, Two), (103, Few), (111, Many), (100, Other)]),
    ] {
        for (n, form) in examples {
            assert_eq!(form::of(language)(n), form, "{language} {n}");
        }
    }
}

/// A language without a rule in `form.rs` would use that of English.
#[test]
fn the_rule_of_a_language_asks_for_every_form_in_its_texts() {
    for (language, json) in SOURCES {
        let asked = (0..1_000).map(form::of(language)).fold(Vec::new(), |mut asked, form| {
            if form != Other && !asked.contains(&form) {
                asked.push(form);
            }
            asked
        });
        for (name, form) in [("zero", Zero), ("one", One), ("two", Two), ("few", Few), ("many", Many)] {
            let has = json.contains(&format!("{name} {{"));
            assert!(!has || asked.contains(&form), "{language}: {name}");
        }
    }
}

/// Reading fails on an invalid message.
#[test]
fn every_language_has_every_text() {
    for one in LANGUAGES.iter() {
        let site = [("site", Value::Text("Garden")), ("count", Value::Number(5))];
        for message in [&one.mail.subject, &one.mail.intro, &one.mail.why] {
            let said = message.format(&site, &str::to_owned);
            assert!(said.contains("Garden"), "{}: {said}", one.language);
        }
        for message in [&one.mail.unread, &one.mail.missed_calls, &one.mail.more, &one.notice.messages] {
            let said = message.count(5);
            assert!(said.contains('5'), "{}: {said}", one.language);
        }
    }
}

#[test]
fn a_text_that_a_language_does_not_have_is_the_english_one_with_the_forms_of_english() {
    let own = Catalogue::read("ru", r#"{ "mail": { "open": "Читать" } }"#);
    let english = Catalogue::read(
        "en",
        r#"{ "mail": { "open": "Read", "more": "{count, plural, one {1 more} other {# more}}" } }"#,
    );
    let texts = Texts { own: &own, english: &english };
    assert_eq!(texts.text("/mail/open"), "Читать");
    // In Russian the form of 21 is that of 1.
    assert_eq!(texts.message("/mail/more").count(21), "21 more");
}

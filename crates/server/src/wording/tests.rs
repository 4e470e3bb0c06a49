//! Every language says everything, with the same names in it, and in the forms that its numbers ask for.

use super::form::Form::{Few, Many, One, Other, Two, Zero};
use super::*;

#[test]
fn the_first_language_that_is_spoken_here_is_taken() {
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
fn those_who_read_from_right_to_left_are_told_apart() {
    let right_to_left: Vec<&str> =
        LANGUAGES.iter().filter(|one| one.dir() == "rtl").map(|one| one.language).collect();
    assert_eq!(right_to_left, ["ar", "fa", "he"]);
    assert_eq!(words("he").apart("Ann"), "\u{2068}Ann\u{2069}");
    assert_eq!(words("ja").apart("Ann"), "Ann");
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
            assert_eq!((words(language).form)(n), form, "{language} {n}");
        }
    }
}

#[test]
fn each_number_has_its_form_in_each_text_that_counts() {
    for one in LANGUAGES {
        for (name, forms) in counting(one) {
            for n in 0..1_000 {
                let asked = (one.form)(n);
                let given = forms.iter().any(|(form, _)| *form == asked) || matches!(forms, [(Other, _)]);
                assert!(given, "{}: {name} of {n}", one.language);
            }
        }
    }
}

#[test]
fn every_text_is_there_and_has_the_names_of_english() {
    for one in LANGUAGES {
        for ((name, english), (_, said)) in plain(&en::WORDS).into_iter().zip(plain(one)) {
            assert!(!said.trim().is_empty(), "{}: {name}", one.language);
            assert_eq!(names(said), names(english), "{}: {said}", one.language);
        }
        for ((name, english), (_, forms)) in counting(&en::WORDS).into_iter().zip(counting(one)) {
            let wanted = names(english[english.len() - 1].1);
            for (form, said) in forms {
                // Where the form is one number alone a word may say it.
                let left_out = matches!(form, Zero | One | Two) && !names(said).contains(&"n");
                let wanted: Vec<_> =
                    wanted.iter().filter(|name| !left_out || **name != "n").copied().collect();
                assert_eq!(names(said), wanted, "{}: {name}: {said}", one.language);
            }
        }
    }
}

/// In Russian one form is for 1, 21 and 101: without the number it would be wrong.
#[test]
fn a_number_is_left_out_only_where_the_form_is_of_that_number_alone() {
    for one in LANGUAGES {
        for (name, forms) in counting(one) {
            for (form, said) in forms {
                let alone = (0..1_000).filter(|n| (one.form)(*n) == *form).count() <= 1;
                assert!(alone || names(said).contains(&"n"), "{}: {name}: {said}", one.language);
            }
        }
    }
}

#[test]
fn nothing_is_left_in_english() {
    for one in LANGUAGES.into_iter().filter(|one| one.language != "en") {
        for ((name, english), (_, said)) in plain(&en::WORDS).into_iter().zip(plain(one)) {
            assert!(said != english || said == "{name} in {room}", "{}: {name}", one.language);
        }
    }
}

#[test]
fn what_a_value_says_is_not_looked_at_again() {
    let text = "{name} in {room}";
    assert_eq!(fill(text, &[("name", "{room}"), ("room", "{n}")]), "{room} in {n}");
    assert_eq!(fill("{unknown}!", &[]), "!");
    assert_eq!(fill("} {", &[("n", "1")]), "} {");
}

fn plain(words: &Words) -> Vec<(&'static str, &'static str)> {
    let Words { mail, notice, call, .. } = words;
    vec![
        ("greeting", mail.greeting),
        ("intro", mail.intro),
        ("in_room", mail.in_room),
        ("open", mail.open),
        ("why", mail.why),
        ("end", mail.end),
        ("end_title", mail.end_title),
        ("end_ask", mail.end_ask),
        ("end_button", mail.end_button),
        ("end_done", mail.end_done),
        ("end_wrong", mail.end_wrong),
        ("message", notice.message),
        ("mentioned", notice.mentioned),
        ("audio", call.audio),
        ("video", call.video),
        ("missed_audio", call.missed_audio),
        ("missed_video", call.missed_video),
        ("incoming_audio", call.incoming_audio),
        ("incoming_video", call.incoming_video),
        ("no_longer_rings", call.no_longer_rings),
    ]
}

fn counting(words: &Words) -> [(&'static str, Forms); 5] {
    let MailWords { subject, unread, missed_calls, more, .. } = words.mail;
    [
        ("subject", subject),
        ("unread", unread),
        ("missed_calls", missed_calls),
        ("more", more),
        ("messages", words.notice.messages),
    ]
}

/// The names in braces, in alphabetical order.
fn names(text: &'static str) -> Vec<&'static str> {
    let mut found: Vec<_> =
        text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0)).collect();
    found.sort_unstable();
    found
}

//! Fallback indication (XEP-0428): which part of a body is only for clients that lack an extension.

use std::ops::Range;

use crate::ns;
use crate::xml::{Element, Open};

/// The body without its parts for clients that do not know the extension of the namespace. A reply has a quotation of
/// the answered message there.
///
/// Ranges count characters (XEP-0428 §2.2). One that lies outside of the body is cut; a whole body can be such a part.
pub fn without_fallback(message: Element<'_>, extension: &str, body: &str) -> String {
    let fallbacks = message.children().filter(|child| child.is("fallback", ns::FALLBACK));
    let mut ranges = Vec::new();
    for fallback in fallbacks.filter(|fallback| fallback.attr("for") == Some(extension)) {
        // Without a child, the whole message is a fallback.
        if fallback.first().is_none() {
            return String::new();
        }
        for part in fallback.children().filter(|child| child.is("body", ns::FALLBACK)) {
            let number = |name| part.attr(name).map(str::parse::<usize>);
            match (number("start"), number("end")) {
                (None, None) => return String::new(),
                (Some(Ok(start)), Some(Ok(end))) => ranges.push(start..end),
                _ => {}
            }
        }
    }
    let kept = body.chars().enumerate().filter(|(at, _)| !ranges.iter().any(|range| range.contains(at)));
    kept.map(|(_, character)| character).collect()
}

/// Marks these characters of the body as a fallback for clients without the extension.
pub fn write(out: &mut Vec<u8>, extension: &str, range: Range<usize>) {
    Open::new(out, "fallback").attr("xmlns", ns::FALLBACK).attr("for", extension).children(|out| {
        Open::new(out, "body").display("start", range.start).display("end", range.end).empty();
    });
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    fn check(inside: &str, body: &str, expected: &str) {
        let tree = read(&format!(
            "<message>{}</message>",
            inside.replace("<fallback", "<fallback xmlns='urn:xmpp:fallback:0'")
        ));
        assert_eq!(without_fallback(tree.root(), ns::REPLIES, body), expected, "{inside}");
    }

    #[test]
    fn the_quotation_of_a_reply_is_removed() {
        let quotation = "> Änna:\n> 🎂?\n";
        let xml = written(|out| write(out, ns::REPLIES, 0..quotation.chars().count()));
        let tree = read(&format!("<message>{xml}</message>"));
        assert_eq!(without_fallback(tree.root(), ns::REPLIES, &format!("{quotation}Great")), "Great");
        assert_eq!(without_fallback(tree.root(), ns::REACTIONS, "Great"), "Great", "another extension");
    }

    #[test]
    fn ranges_are_cut_or_ignored() {
        check("", "abc", "abc");
        check("<fallback for='urn:xmpp:reply:0'/>", "abc", "");
        check("<fallback for='urn:xmpp:reply:0'><body/></fallback>", "abc", "");
        check("<fallback for='urn:xmpp:reply:0'><subject/></fallback>", "abc", "abc");
        check("<fallback for='urn:xmpp:reply:0'><body start='1' end='9'/></fallback>", "abc", "a");
        check("<fallback for='urn:xmpp:reply:0'><body start='2' end='1'/></fallback>", "abc", "abc");
        check("<fallback for='urn:xmpp:reply:0'><body start='x' end='1'/></fallback>", "abc", "abc");
        check(
            "<fallback for='urn:xmpp:reply:0'><body start='0' end='1'/><body start='2' end='3'/></fallback>",
            "abc",
            "b",
        );
    }
}

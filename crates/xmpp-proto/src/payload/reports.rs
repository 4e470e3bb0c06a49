//! Reports with a block (XEP-0377): why a user blocks an address, for the server's moderators.

use std::borrow::Cow;

use crate::jid::Jid;
use crate::ns;
use crate::stanza::Condition;
use crate::xml::Element;

/// Messages of one report that are read. Further ones are ignored.
pub const MOST_MESSAGES: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Spam,
    Abuse,
    /// A reason that this document does not define.
    Other,
}

impl Reason {
    fn of(name: &str) -> Reason {
        match name {
            "urn:xmpp:reporting:spam" => Reason::Spam,
            "urn:xmpp:reporting:abuse" => Reason::Abuse,
            _ => Reason::Other,
        }
    }
}

/// §4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<'a> {
    /// The blocked address.
    pub jid: Jid,
    pub reason: Reason,
    /// The ids of the reported messages, each with the archive that gave it (XEP-0359).
    pub messages: Vec<(&'a str, &'a str)>,
    /// The first text, whatever its language is.
    pub text: Option<Cow<'a, str>>,
}

/// The reports inside of a `block`. `bad-request`: a report has no reason.
pub fn of(block: Element<'_>) -> Result<Vec<Report<'_>>, Condition> {
    let items = block.children().filter(|child| child.is("item", ns::BLOCKING));
    let reports = items.filter_map(|item| Some((item, item.child("report", ns::REPORTS)?)));
    reports.map(|(item, report)| Report::of(item, report)).collect()
}

impl<'a> Report<'a> {
    fn of(item: Element<'a>, report: Element<'a>) -> Result<Report<'a>, Condition> {
        let jid = Jid::parse(item.attr("jid").ok_or(Condition::BadRequest)?);
        let ids = report.children().filter(|child| child.is("stanza-id", ns::STANZA_IDS));
        Ok(Report {
            jid: jid.map_err(|_| Condition::JidMalformed)?,
            reason: Reason::of(report.attr("reason").ok_or(Condition::BadRequest)?),
            messages: ids
                .filter_map(|id| Some((id.attr("by")?, id.attr("id")?)))
                .take(MOST_MESSAGES)
                .collect(),
            text: report.child("text", ns::REPORTS).map(Element::text),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    fn block(items: &str) -> crate::xml::Tree {
        read(&format!("<block xmlns='urn:xmpp:blocking'>{items}</block>"))
    }

    fn report(attributes: &str, inside: &str) -> String {
        format!("<report xmlns='urn:xmpp:reporting:1' {attributes}>{inside}</report>")
    }

    #[test]
    fn reports_are_read_from_the_items_of_a_block() {
        let id = "<stanza-id xmlns='urn:xmpp:sid:0' by='romeo@example.net' id='7'/>";
        let spam = report("reason='urn:xmpp:reporting:spam'", &format!("{id}<text>Never &amp; ever</text>"));
        let tree = block(&format!(
            "<item jid='a@example.com'/><item jid='b@example.com'>{spam}</item><item jid='c@example.com'>{}</item>",
            report("reason='urn:x'", "<other xmlns='urn:y'/>")
        ));
        let jid = |jid| Jid::parse(jid).unwrap();
        let first = Report {
            jid: jid("b@example.com"),
            reason: Reason::Spam,
            messages: vec![("romeo@example.net", "7")],
            text: Some("Never & ever".into()),
        };
        let second =
            Report { jid: jid("c@example.com"), reason: Reason::Other, messages: Vec::new(), text: None };
        assert_eq!(of(tree.root()), Ok(vec![first, second]));
    }

    #[test]
    fn a_report_needs_a_reason_and_has_few_messages() {
        let tree = block(&format!("<item jid='a@example.com'>{}</item>", report("", "")));
        assert_eq!(of(tree.root()), Err(Condition::BadRequest));
        let ids = "<stanza-id xmlns='urn:xmpp:sid:0' by='b@example.net' id='7'/>".repeat(100);
        let abuse = report("reason='urn:xmpp:reporting:abuse'", &ids);
        let tree = block(&format!("<item jid='a@example.com'>{abuse}</item>"));
        let read = of(tree.root()).unwrap();
        assert_eq!((read[0].reason, read[0].messages.len()), (Reason::Abuse, MOST_MESSAGES));
    }
}

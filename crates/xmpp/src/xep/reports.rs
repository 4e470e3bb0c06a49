//! Reports with a block (XEP-0377), as reports of the domain: moderators see them beside those of the widget.

use std::collections::VecDeque;

use chat::messages::MessageName;
use chat::moderation::Command;
use chat::{REASON_BYTES, Refusal, ReportOf, ReportReason, Sub, To};
use xmpp_proto::ns;
use xmpp_proto::payload::reports::{self as payload, Reason};
use xmpp_proto::stanza::{Condition, StanzaError};

use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::refusal::stanza_error;
use crate::session::{Asked, Iq, Turn, found};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(377),
    name: "Blocking Command Reports",
    version: "0.4.1",
    scenario: "reports",
    server_features: &[ns::REPORTS],
    account_features: &[],
    iq: &[],
};

/// The reports of a block that are still to be made. Those that the domain refuses do not undo the block.
#[derive(Default)]
pub(crate) struct Reports(VecDeque<Report>);

struct Report {
    user: Sub,
    reason: ReportReason,
    text: String,
    /// The positions of messages that are still to be looked up.
    positions: Vec<u64>,
    of: Vec<ReportOf>,
}

impl Reports {
    /// Reads the reports in the request. Only ids of the own archive name a message.
    pub(crate) fn of(turn: &Turn<'_, '_>, iq: &Iq<'_>) -> Result<Reports, StanzaError> {
        let own = turn.session.bare();
        let reports = payload::of(iq.payload).map_err(StanzaError::new)?;
        let report = |report: payload::Report<'_>| {
            let Target::User(user) = Target::of(Some(&report.jid), &turn.session.jid) else {
                return Err(StanzaError::new(Condition::ItemNotFound));
            };
            let messages = report.messages.iter().filter(|(by, _)| *by == own);
            Ok(Report {
                user,
                reason: reason(report.reason),
                text: shortened(report.text.as_deref().unwrap_or_default()),
                positions: messages.filter_map(|(_, id)| id.parse().ok()).collect(),
                of: Vec::new(),
            })
        };
        reports.into_iter().map(report).collect::<Result<_, _>>().map(Reports)
    }

    /// Makes one report after the other, and then answers the client. After a refusal no further one is tried: the domain
    /// bounds the open reports of a user.
    pub(crate) fn make(mut self, turn: &mut Turn<'_, '_>, asked: Asked) {
        let Some(report) = self.0.front_mut() else { return turn.answer(asked, |_| {}) };
        if let Some(position) = report.positions.pop() {
            return self.look_up(position, turn, asked);
        }
        let of = report.of.pop().unwrap_or_else(|| ReportOf::User(report.user.clone()));
        let command = Command::Report { of, reason: report.reason, text: report.text.clone() };
        if report.of.is_empty() {
            self.0.pop_front();
        }
        turn.continue_then(asked, command, move |turn, asked, answer| match answer {
            Ok(_) => self.make(turn, asked),
            Err(refusal) => turn.answer_error(&asked, &refused(refusal)),
        });
    }

    /// A message of somebody else, or an unknown one, is left out.
    fn look_up(mut self, position: u64, turn: &mut Turn<'_, '_>, asked: Asked) {
        let Some(report) = self.0.front() else { return };
        let (to, name) = (To::User(report.user.clone()), MessageName::Position(position));
        let find = chat::messages::Command::Find { to, name };
        turn.continue_then(asked, find, move |turn, asked, answer| {
            if let Some(message) = answer.ok().and_then(found)
                && let Some(report) = self.0.front_mut()
                && message.from == report.user
            {
                report.of.push(ReportOf::Message(message.conversation, message.seq));
            }
            self.make(turn, asked);
        });
    }
}

fn reason(reason: Reason) -> ReportReason {
    match reason {
        Reason::Spam => ReportReason::Spam,
        Reason::Abuse => ReportReason::Abuse,
        Reason::Other => ReportReason::Other,
    }
}

/// As much as a report can have.
fn shortened(text: &str) -> String {
    text[..text.floor_char_boundary(REASON_BYTES)].to_owned()
}

/// The user is blocked by now, and must learn that moderators know nothing of it.
fn refused(refusal: Refusal) -> StanzaError {
    stanza_error(refusal).text(format!("the user is blocked, but the report is refused: {refusal}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = "ü".repeat(REASON_BYTES);
        assert_eq!(shortened(&text).len(), REASON_BYTES);
        assert_eq!(shortened(&format!("x{text}")).len(), REASON_BYTES - 1);
        assert_eq!(shortened("short"), "short");
    }
}

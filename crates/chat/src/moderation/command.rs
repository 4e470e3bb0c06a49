//! The commands of moderators and admins, and reports of members.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::PageOf;
use crate::command::{Policy, command_of};
use crate::moderation::{Moderate, Moderation, ReportOf, ReportReason, ReportState};
use crate::session::Context;
use crate::session::publication::Publication;

#[derive(Clone, Serialize, Deserialize)]
pub enum Command {
    Report {
        of: ReportOf,
        reason: ReportReason,
        text: String,
    },
    ListReports {
        state: Option<ReportState>,
        page: PageOf,
    },
    Act(Moderate),
    /// Lists the record of moderators' acts.
    ListAudit {
        page: PageOf,
    },
    /// Lists the user's warnings. `seen`: the user has read them, and they are removed.
    Notices {
        seen: bool,
    },
    /// Reads the site's settings, for admins.
    Settings,
    /// Changes the site's settings by a merge patch (RFC 7396).
    Configure {
        #[serde(with = "crate::serialize::json_text")]
        patch: Box<Value>,
    },
    /// Tests the filters on a text, for moderators.
    TestFilter {
        body: String,
    },
}

command_of! {
    Moderation, Command:
    Report, ListReports, Act, ListAudit, Notices, Settings, Configure, TestFilter,
}

impl Command {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Command::Act(_) | Command::Configure { .. } => Policy::RECORDED,
            Command::Report { .. }
            | Command::ListReports { .. }
            | Command::ListAudit { .. }
            | Command::Notices { .. }
            | Command::Settings
            | Command::TestFilter { .. } => Policy::PLAIN,
        }
    }

    pub(crate) fn publication(&self) -> Publication<'_> {
        match self {
            // Only the site's moderators read reports, and members quote the texts of others in them.
            Command::Report { of: _, reason: _, text: _ } => Publication::default(),
            // Filters do not apply to texts of moderators and admins.
            Command::Act(_) | Command::Configure { patch: _ } | Command::TestFilter { body: _ } => {
                Publication::default()
            }
            Command::ListReports { state: _, page: _ }
            | Command::ListAudit { page: _ }
            | Command::Notices { seen: _ }
            | Command::Settings => Publication::default(),
        }
    }
}

impl Moderation {
    pub(crate) fn carry_out(self: &Arc<Self>, context: Context, command: Command) {
        let Context { asker, re, now, .. } = context;
        let re = re.unwrap_or_default();
        match command {
            Command::Report { of, reason, text } => self.report(&asker, re, of, reason, text, now),
            Command::ListReports { state, page } => self.list_reports(&asker, re, state, page),
            Command::Act(act) => self.moderate(&asker, re, act, now),
            Command::ListAudit { page } => self.audit(&asker, re, page),
            Command::Notices { seen } => self.notices(&asker, re, seen),
            Command::Settings => self.settings_for(&asker, re),
            Command::Configure { patch } => self.configure(&asker, re, patch, now),
            Command::TestFilter { body } => self.test_filter(&asker, re, &body, now),
        }
    }
}

//! Events about reports, sanctions and the settings of the site.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use serde_json::Value;

use super::{AuditEntry, FilterTest, Notice, ReportRow, SiteState};
use crate::event::Policy;
use crate::privacy::Signal;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event {
    /// The report is stored under this number.
    Reported {
        report: u64,
    },
    Reports {
        reports: Vec<ReportRow>,
        next: Option<String>,
    },
    /// For moderators: a new report, or one that a moderator has changed.
    Report(Box<ReportRow>),
    /// A moderator's act is done. With the changed report, if the act was about one.
    Moderated(Option<Box<ReportRow>>),
    Audit {
        entries: Vec<AuditEntry>,
        next: Option<String>,
    },
    Notices(Vec<Notice>),
    /// About the user of this session: a warning, a sanction, or its end.
    Notice(Box<Notice>),
    /// The write access of the site has changed.
    Site(Arc<SiteState>),
    /// The site's settings: names and values.
    Settings(#[serde(with = "crate::serialize::json_text")] Box<Value>),
    /// A setting was refused; the text explains it to the admin.
    NotSet(Box<str>),
    FilterTested(Box<FilterTest>),
}

impl Event {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Event::Report(_) | Event::Notice(_) | Event::Site(_) => Policy::LIVE,
            Event::Reported { .. }
            | Event::Reports { .. }
            | Event::Moderated(_)
            | Event::Audit { .. }
            | Event::Notices(_)
            | Event::Settings(_)
            | Event::NotSet(_)
            | Event::FilterTested(_) => Policy::ANSWER,
        }
    }

    pub(crate) fn signal(&self) -> Option<Signal> {
        match self {
            Event::Reported { .. }
            | Event::Reports { .. }
            | Event::Report(_)
            | Event::Moderated(_)
            | Event::Audit { .. }
            | Event::Notices(_)
            | Event::Notice(_)
            | Event::Site(_)
            | Event::Settings(_)
            | Event::NotSet(_)
            | Event::FilterTested(_) => None,
        }
    }
}

//! Events of calls.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{CallEvent, CallNews, GroupEvent, Ice, Outcome};
use crate::event::{Answers, Policy};
use crate::privacy::Signal;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event {
    Call(Arc<CallEvent>),
    GroupCall(Arc<GroupEvent>),
    /// The answer to [`Command::Servers`](super::Command::Servers).
    Servers(Arc<Ice>),
}

impl Event {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Event::Call(_) | Event::GroupCall(_) => {
                Policy { answers: Answers::RequestOrNone, ..Policy::LIVE }
            }
            Event::Servers(_) => Policy::ANSWER,
        }
    }

    /// The servers that its receiver will use, if it has some.
    pub fn ice_mut(&mut self) -> Option<&mut Ice> {
        match self {
            Event::Call(event) if event.ice.is_some() => Arc::make_mut(event).ice.as_mut(),
            Event::GroupCall(event) if event.ice.is_some() => Arc::make_mut(event).ice.as_mut(),
            Event::Servers(ice) => Some(Arc::make_mut(ice)),
            Event::Call(_) | Event::GroupCall(_) => None,
        }
    }

    pub(crate) fn signal(&self) -> Option<Signal> {
        match self {
            Event::Call(call) => match call.news {
                CallNews::Over { outcome: Outcome::Busy, .. } => Some(Signal::Busy),
                CallNews::Over { .. }
                | CallNews::Calling { .. }
                | CallNews::Ring { .. }
                | CallNews::Joined { .. }
                | CallNews::Accepted { .. }
                | CallNews::Elsewhere
                | CallNews::Offer(_)
                | CallNews::Answer(_)
                | CallNews::Candidate(_)
                | CallNews::Hold(_)
                | CallNews::Away
                | CallNews::Back { .. }
                | CallNews::Rejoined { .. }
                | CallNews::Done => None,
            },
            Event::GroupCall(_) | Event::Servers(_) => None,
        }
    }
}

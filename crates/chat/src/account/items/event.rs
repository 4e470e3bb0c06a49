//! Events about items.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{ItemList, ItemNews, ItemsPage};
use crate::event::Policy;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event {
    /// A list of the user, or of a contact, has changed. Only for sessions with a resource.
    Changed(Arc<ItemNews>),
    /// The item is stored, or deleted. None: the list does not keep items.
    Done {
        version: Option<u64>,
    },
    Items(Box<ItemsPage>),
    /// Names of lists, and their choices.
    Lists(Vec<(Box<str>, ItemList)>),
    /// The latest items, by user. `next`: more follow after this one.
    Latest {
        items: Vec<Arc<ItemNews>>,
        next: Option<u32>,
    },
}

impl Event {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Event::Changed(_) => Policy::LIVE,
            Event::Done { .. } | Event::Items(_) | Event::Lists(_) | Event::Latest { .. } => Policy::ANSWER,
        }
    }
}

//! The commands about items.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::{ItemAccess, ItemListChange, ItemsOf, LatestItems, PutItem};
use crate::Sub;
use crate::account::Account;
use crate::command::Policy;
use crate::session::Asker;
use crate::session::publication::Publication;
use crate::session::request_limits::RequestKind;

/// Lists of `user`: None is the asker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Command {
    /// Stores an item, and sends it to the readers of the list. A missing list is made.
    Put(PutItem),
    Delete {
        list: Box<str>,
        id: Box<str>,
        /// Whether readers are notified.
        notify: bool,
    },
    /// Deletes all items.
    Empty {
        list: Box<str>,
    },
    DeleteList {
        list: Box<str>,
    },
    /// Changes the choices of a list, and answers them.
    Configure {
        list: Box<str>,
        /// True: the list must not exist yet. False: it must exist.
        creates: bool,
        change: ItemListChange,
    },
    /// A page of items.
    Read {
        user: Option<Sub>,
        list: Box<str>,
        of: ItemsOf,
    },
    /// The lists that the asker may read.
    ReadLists {
        user: Option<Sub>,
    },
    /// The latest item of each of these lists, of the asker and of the contacts.
    ReadLatest(LatestItems),
}

impl From<Command> for crate::Command {
    fn from(command: Command) -> crate::Command {
        crate::Command::Account(crate::account::Command::Items(Box::new(command)))
    }
}

const CHANGE: Policy = Policy { counts_as: Some(RequestKind::Items), ..Policy::PLAIN };
/// Contacts get the change, so it is refused to users who are muted.
const PUBLISHES: Policy = Policy { counts_as: Some(RequestKind::Items), ..Policy::speaks(true) };

impl Command {
    /// Only the user reads the item.
    fn is_private(item: &PutItem) -> bool {
        item.requires.access == Some(ItemAccess::Nobody)
    }

    pub(crate) fn policy(&self) -> Policy {
        match self {
            Command::Put(item) if Command::is_private(item) => CHANGE,
            Command::Put(_) => PUBLISHES,
            Command::Delete { .. }
            | Command::Empty { .. }
            | Command::DeleteList { .. }
            | Command::Configure { .. } => CHANGE,
            Command::Read { .. } | Command::ReadLists { .. } | Command::ReadLatest(_) => Policy::PLAIN,
        }
    }

    pub(crate) fn publication(&self) -> Publication<'_> {
        match self {
            Command::Put(item) if Command::is_private(item) => Publication::default(),
            Command::Put(PutItem { list, id, payload, requires: _, default: _ }) => {
                let texts = SmallVec::from_iter([&**list, &**id, &**payload]);
                Publication { texts, ..Publication::default() }
            }
            // A list has a name that others read.
            Command::Configure { list, creates: true, change: _ } => Publication::text(list),
            Command::Delete { list: _, id: _, notify: _ }
            | Command::Empty { list: _ }
            | Command::DeleteList { list: _ }
            | Command::Configure { list: _, creates: false, change: _ }
            | Command::Read { user: _, list: _, of: _ }
            | Command::ReadLists { user: _ }
            | Command::ReadLatest(_) => Publication::default(),
        }
    }
}

impl Account {
    pub(crate) fn carry_out_items(self: &Arc<Self>, asker: Asker, re: u64, command: Command) {
        match command {
            Command::Put(item) => self.put_item(asker, re, item),
            Command::Delete { list, id, notify } => self.delete_item(asker, re, list, id, notify),
            Command::Empty { list } => self.empty_item_list(asker, re, list),
            Command::DeleteList { list } => self.delete_item_list(asker, re, list),
            Command::Configure { list, creates, change } => {
                self.configure_item_list(&asker, re, list, creates, change);
            }
            Command::Read { user, list, of } => self.read_items(&asker, re, user, list, of),
            Command::ReadLists { user } => self.read_item_lists(&asker, re, user),
            Command::ReadLatest(latest) => self.read_latest_items(&asker, re, latest),
        }
    }
}

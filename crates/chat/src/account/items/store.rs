//! The slice of the port to storage for items. The promises of [`Store`](crate::Store) hold here too.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{ItemAccess, ItemList, ItemListChange, ItemNews, ItemReader, ItemsOf, ItemsPage};
use crate::{Done, Mode, Refusal, UserId};

/// A slice of [`Store`](crate::Store). [`Refusal::NoSuchItem`]: the list or the item does not exist, or the reader may not read it.
pub trait ItemStore: Send + Sync + 'static {
    /// Stores an item, and answers its list and version. A missing list is made with the required choices. In a full list the
    /// item replaces the oldest ones. Nothing is stored in a list that keeps no items.
    ///
    /// [`Refusal::ItemListDiffers`]: the list exists, and has other choices than required. [`Refusal::TooManyItems`]: a bound of
    /// lists or bytes is reached, of the user or the site.
    fn put_item(&self, user: UserId, item: PutItem, done: Done<Result<(ItemList, u64), Refusal>>);
    fn delete_item(&self, user: UserId, list: Box<str>, id: Box<str>, done: Done<Result<ItemList, Refusal>>);
    /// Deletes all items of a list.
    fn empty_item_list(&self, user: UserId, list: Box<str>, done: Done<Result<ItemList, Refusal>>);
    fn delete_item_list(&self, user: UserId, list: Box<str>, done: Done<Result<ItemList, Refusal>>);
    /// Makes a list, or changes one, with the check of [`may_change_item_list`](super::may_change_item_list). Items beyond the new
    /// number are deleted, oldest first.
    ///
    /// [`Refusal::ItemListDiffers`]: a list to make exists already.
    fn configure_item_list(
        &self,
        user: UserId,
        list: Box<str>,
        creates: bool,
        change: ItemListChange,
        done: Done<Result<ItemList, Refusal>>,
    );
    /// A page of a list. Ids that do not exist are left out; an unknown item at which a page begins is refused.
    fn items(
        &self,
        user: UserId,
        reader: ItemReader,
        list: Box<str>,
        of: ItemsOf,
        done: Done<Result<ItemsPage, Refusal>>,
    );
    /// The lists that the reader may read, by name.
    fn item_lists(&self, user: UserId, reader: ItemReader, done: Done<Vec<(Box<str>, ItemList)>>);
    /// The latest items of the user and of the contacts, by [`item_reader`](super::item_reader), ascending by user. Only of lists
    /// that send their latest item. A page ends after the first user with whom it has [`ITEM_PAGE_BYTES`](super::ITEM_PAGE_BYTES) or
    /// 100 items. Answered after other reads.
    fn latest_items(&self, user: UserId, mode: Mode, of: LatestItems, done: Done<LatestPage>);
}

/// An item to store.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutItem {
    pub list: Box<str>,
    pub id: Box<str>,
    pub payload: Box<str>,
    /// Choices that the list must have. With [`ItemAccess::Nobody`](super::ItemAccess::Nobody) no filter reads the item.
    pub requires: ItemListChange,
    /// The readers of a list that is made for the item, if `requires` names none.
    pub default: ItemAccess,
}

impl fmt::Debug for PutItem {
    /// Values stay out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PutItem").field("requires", &self.requires).finish_non_exhaustive()
    }
}

/// The lists whose latest items are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatestItems {
    /// At most [`MOST_LATEST_LISTS`](super::MOST_LATEST_LISTS).
    pub lists: Vec<Box<str>>,
    /// Only of this user. None: of the user and all contacts.
    pub only: Option<u32>,
    /// The `next` of the page before.
    pub after: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LatestPage {
    pub items: Vec<Arc<ItemNews>>,
    pub next: Option<u32>,
}

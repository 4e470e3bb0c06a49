//! Items: small named values of a user, in named lists. Programs write and read them: settings of an app, a mood, the keys of a
//! device. The domain does not read them.
//!
//! A list says who else reads it ([`ItemAccess`]). The sessions of the user and of contacts who read the list get its changes, if
//! they have a resource and watch their contacts. Gateways send their clients only the lists that these have asked for.
//!
//! Everything is bounded: lists, items, bytes of a user and of a site, and the rate of changes. A change of a list costs at most
//! one event for each session of each contact, as a change of presence does.

mod change;
mod command;
mod event;
mod read;
mod store;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use command::Command;
pub use event::Event;
pub use store::{ItemStore, LatestItems, LatestPage, PutItem};

use crate::privacy::{Privacy, Signal, Visibility};
use crate::users::peer::may_see;
use crate::{Mode, Refusal, Sub, Viewpoint};

/// Lists of one user.
pub const MOST_ITEM_LISTS: u32 = 128;
/// Items of one list.
pub const MOST_ITEMS: u32 = 256;
/// The longest name of a list or an item. Apps use namespaces and addresses.
pub const ITEM_NAME_BYTES: usize = 1_023;
/// The longest value: a picture of 96 KiB in base64, with its element.
pub const ITEM_BYTES: usize = 132 * 1024;
/// All items of a user, with their names.
pub const USER_ITEM_BYTES: u64 = 1024 * 1024;
/// All items of a site.
pub const SITE_ITEM_BYTES: u64 = 1024 * 1024 * 1024;
/// Bytes of values in one answer. A single longer value is an answer of its own.
pub const ITEM_PAGE_BYTES: usize = 128 * 1024;
/// A change carries values up to this length. Readers load longer ones when they need them, so a user cannot send a long value to all
/// contacts at once.
pub const ITEM_NOTICE_BYTES: usize = 8 * 1024;
/// Lists that one request for the latest items may name.
pub const MOST_LATEST_LISTS: usize = 64;

/// A named value.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub id: Box<str>,
    /// Grows with each change on the site. The item with the highest one in a list is the latest.
    pub version: u64,
    /// None: it is longer than [`ITEM_NOTICE_BYTES`], and this is not the answer to a request for the item.
    pub payload: Option<Box<str>>,
}

impl fmt::Debug for Item {
    /// Values stay out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Item").field("id", &self.id).field("version", &self.version).finish_non_exhaustive()
    }
}

impl Item {
    /// The item as a change carries it.
    pub fn notice(mut self) -> Item {
        self.payload = self.payload.filter(|payload| payload.len() <= ITEM_NOTICE_BYTES);
        self
    }
}

/// The readers of a list, besides its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ItemAccess {
    /// Contacts who see the user's presence.
    Contacts,
    Nobody,
    /// Everybody on the site who may see the user. Only contacts get changes.
    Everybody,
}

/// The choices of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemList {
    pub access: ItemAccess,
    /// Items that the list keeps; a new one replaces the oldest.
    pub most: u32,
    /// False: items are sent as changes, and not stored.
    pub persists: bool,
    /// Whether sessions get the latest item when they begin to read the list.
    pub sends_latest: bool,
}

impl Default for ItemList {
    /// The default of XEP-0163 §3.
    fn default() -> ItemList {
        ItemList { access: ItemAccess::Contacts, most: 1, persists: true, sends_latest: true }
    }
}

/// Choices for a list: a change of them, or what somebody requires who puts an item. None: any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ItemListChange {
    pub access: Option<ItemAccess>,
    /// 1 to [`MOST_ITEMS`].
    pub most: Option<u32>,
    pub persists: Option<bool>,
    pub sends_latest: Option<bool>,
}

impl ItemListChange {
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let is_sound = self.most.is_none_or(|most| (1..=MOST_ITEMS).contains(&most));
        if is_sound { Ok(()) } else { Err(Refusal::BadValue) }
    }

    pub fn of(&self, before: ItemList) -> ItemList {
        ItemList {
            access: self.access.unwrap_or(before.access),
            most: self.most.unwrap_or(before.most),
            persists: self.persists.unwrap_or(before.persists),
            sends_latest: self.sends_latest.unwrap_or(before.sends_latest),
        }
    }

    /// Whether a list has these choices already.
    pub fn is_met_by(&self, list: ItemList) -> bool {
        self.of(list) == list
    }
}

/// Whether the choices of a list may change. Values that only the user reads pass no filter, so they cannot be opened to others
/// later.
pub fn may_change_item_list(before: ItemList, after: ItemList, is_empty: bool) -> Result<(), Refusal> {
    let opens = before.access == ItemAccess::Nobody && after.access != ItemAccess::Nobody;
    if opens && !is_empty { Err(Refusal::NotAllowed) } else { Ok(()) }
}

/// Somebody who reads the items of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemReader {
    Owner,
    /// A contact who sees the user's presence.
    Contact,
    Other,
}

impl ItemAccess {
    pub fn admits(self, reader: ItemReader) -> bool {
        match reader {
            ItemReader::Owner => true,
            ItemReader::Contact => self != ItemAccess::Nobody,
            ItemReader::Other => self == ItemAccess::Everybody,
        }
    }
}

/// How another user reads. None: not at all, as if the user did not exist.
pub fn item_reader(mode: Mode, privacy: Privacy, is_banned: bool, viewer: Viewpoint) -> Option<ItemReader> {
    if is_banned || !may_see(mode, viewer) {
        return None;
    }
    let of = Visibility { privacy, ..Visibility::default() };
    let is_contact = viewer.sees && of.sends(Signal::Presence, mode, viewer);
    Some(if is_contact { ItemReader::Contact } else { ItemReader::Other })
}

/// A change of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ItemChange {
    Put(Item),
    Deleted {
        id: Box<str>,
    },
    /// The list has no items any more.
    Emptied,
    /// The list does not exist any more.
    ListDeleted,
}

/// A change of a list of this user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemNews {
    pub user: Sub,
    pub list: Box<str>,
    pub change: ItemChange,
}

/// Items of one list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemsPage {
    pub list: ItemList,
    /// In the order of their versions.
    pub items: Vec<Item>,
    /// The place of the first one among all items of the list.
    pub index: u32,
    /// Items of the whole list.
    pub count: u32,
}

/// The items that a request asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ItemsOf {
    /// Those of these ids that exist: at most [`MOST_ITEMS`].
    Ids(Vec<Box<str>>),
    /// The newest ones. None: all.
    Newest(Option<u32>),
    /// Those after the item of this id.
    After(Box<str>, Option<u32>),
    /// Those before the item of this id.
    Before(Box<str>, Option<u32>),
    First(u32),
}

/// Cuts a page out of a list. `all`: length of each value, in the order of versions. Returns the first place and the count: as many
/// as fit into [`ITEM_PAGE_BYTES`], and at least one.
pub fn item_page(ids: &[(Box<str>, usize)], of: &ItemsOf) -> Option<(usize, usize)> {
    let place = |id: &str| ids.iter().position(|(one, _)| **one == *id);
    let most = |asked: &Option<u32>| asked.map_or(usize::MAX, |asked| asked as usize);
    // Counted from the first or from the last item of the range, as far as the bytes suffice.
    let fits = |range: &mut dyn Iterator<Item = &(Box<str>, usize)>, most: usize| {
        let mut bytes = 0;
        let count = range.take(most).take_while(|(_, length)| {
            let is_first = bytes == 0;
            bytes += length.max(&1);
            is_first || bytes <= ITEM_PAGE_BYTES
        });
        count.count()
    };
    Some(match of {
        ItemsOf::Ids(_) => return None,
        ItemsOf::Newest(asked) => {
            let count = fits(&mut ids.iter().rev(), most(asked));
            (ids.len() - count, count)
        }
        ItemsOf::After(id, asked) => {
            let first = place(id)? + 1;
            (first, fits(&mut ids[first..].iter(), most(asked)))
        }
        ItemsOf::Before(id, asked) => {
            let end = place(id)?;
            let count = fits(&mut ids[..end].iter().rev(), most(asked));
            (end - count, count)
        }
        ItemsOf::First(asked) => (0, fits(&mut ids.iter(), *asked as usize)),
    })
}

/// Checks the name of a list or an item.
pub(crate) fn check_item_name(name: &str) -> Result<(), Refusal> {
    let is_sound = (1..=ITEM_NAME_BYTES).contains(&name.len()) && !name.contains('\0');
    if is_sound { Ok(()) } else { Err(Refusal::BadValue) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Audience;

    #[test]
    fn a_stranger_reads_what_is_for_everybody_and_a_blocked_user_nothing() {
        let stranger = Viewpoint::STRANGER;
        let reader = |mode, presence, viewer| {
            item_reader(mode, Privacy { presence, ..Privacy::default() }, false, viewer)
        };
        assert_eq!(reader(Mode::Open, Audience::Everybody, stranger), Some(ItemReader::Other));
        assert_eq!(reader(Mode::Contacts, Audience::Everybody, stranger), None);
        for mode in [Mode::Open, Mode::Contacts] {
            assert_eq!(reader(mode, Audience::Everybody, Viewpoint::BLOCKED), None);
            assert_eq!(reader(mode, Audience::Everybody, Viewpoint::CONTACT), Some(ItemReader::Contact));
            assert_eq!(
                reader(mode, Audience::Nobody, Viewpoint::CONTACT),
                Some(ItemReader::Other),
                "who hides the presence shows contacts no more than others"
            );
        }
        assert_eq!(item_reader(Mode::Open, Privacy::default(), true, Viewpoint::CONTACT), None, "banned");
        let table = [
            (ItemAccess::Nobody, [true, false, false]),
            (ItemAccess::Contacts, [true, true, false]),
            (ItemAccess::Everybody, [true, true, true]),
        ];
        for (access, admitted) in table {
            let readers = [ItemReader::Owner, ItemReader::Contact, ItemReader::Other];
            assert_eq!(readers.map(|reader| access.admits(reader)), admitted, "{access:?}");
        }
    }

    #[test]
    fn values_that_passed_no_filter_are_never_opened() {
        let list = |access| ItemList { access, ..ItemList::default() };
        let (private, open) = (list(ItemAccess::Nobody), list(ItemAccess::Everybody));
        assert_eq!(may_change_item_list(private, open, false), Err(Refusal::NotAllowed));
        assert_eq!(may_change_item_list(private, open, true), Ok(()));
        assert_eq!(may_change_item_list(open, private, false), Ok(()));
    }

    #[test]
    fn pages_follow_the_order_of_versions_and_are_bounded() {
        let ids: Vec<(Box<str>, usize)> = ["a", "b", "c", "d"].map(|id| (id.into(), 10)).into();
        let page = |of| item_page(&ids, &of);
        assert_eq!(page(ItemsOf::Newest(None)), Some((0, 4)));
        assert_eq!(page(ItemsOf::Newest(Some(1))), Some((3, 1)));
        assert_eq!(page(ItemsOf::Newest(Some(0))), Some((4, 0)));
        assert_eq!(page(ItemsOf::First(2)), Some((0, 2)));
        assert_eq!(page(ItemsOf::After("b".into(), Some(1))), Some((2, 1)));
        assert_eq!(page(ItemsOf::After("d".into(), None)), Some((4, 0)));
        assert_eq!(page(ItemsOf::Before("c".into(), None)), Some((0, 2)));
        assert_eq!(page(ItemsOf::After("x".into(), None)), None);
        let long: Vec<(Box<str>, usize)> = ["a", "b", "c"].map(|id| (id.into(), ITEM_PAGE_BYTES / 2)).into();
        assert_eq!(item_page(&long, &ItemsOf::Newest(None)), Some((1, 2)));
        let longest: Vec<(Box<str>, usize)> = ["a", "b"].map(|id| (id.into(), ITEM_BYTES)).into();
        assert_eq!(item_page(&longest, &ItemsOf::First(9)), Some((0, 1)), "at least one");
    }

    #[test]
    fn a_long_value_is_no_part_of_a_change() {
        let item =
            |length: usize| Item { id: "i".into(), version: 1, payload: Some("x".repeat(length).into()) };
        assert!(item(ITEM_NOTICE_BYTES).notice().payload.is_some());
        assert!(item(ITEM_NOTICE_BYTES + 1).notice().payload.is_none());
    }
}

//! The slice of the port to storage for accounts.

use crate::account::app_passwords::{AppPasswordStore, AppTokenStore};
use crate::account::devices::DeviceStore;
use crate::account::erasure::EraseStore;
use crate::account::export::ExportStore;
use crate::account::guest_merge::MergeStore;
use crate::account::items::ItemStore;
use crate::account::pictures::OwnPictureStore;
use crate::account::profile::ProfileStore;
use crate::users::store::UserStore;

/// A slice of [`Store`](crate::Store): the sum of the slices of its features, and its own requests.
pub trait AccountStore:
    UserStore
    + AppPasswordStore
    + AppTokenStore
    + DeviceStore
    + EraseStore
    + ExportStore
    + ItemStore
    + MergeStore
    + OwnPictureStore
    + ProfileStore
{
}

impl<T> AccountStore for T where
    T: UserStore
        + AppPasswordStore
        + AppTokenStore
        + DeviceStore
        + EraseStore
        + ExportStore
        + ItemStore
        + MergeStore
        + OwnPictureStore
        + ProfileStore
{
}

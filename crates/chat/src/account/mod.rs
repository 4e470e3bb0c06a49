//! A user's own account: profile, own picture, devices, app passwords, items, export, erasure, and the guest who becomes a member.

pub(crate) mod app_passwords;
mod command;
pub(crate) mod devices;
pub(crate) mod erasure;
mod event;
pub(crate) mod export;
pub(crate) mod guest_merge;
pub mod items;
pub(crate) mod pictures;
pub(crate) mod profile;
pub(crate) mod store;

use crate::NodeConfig;
use crate::account::erasure::{Erasing, LastLook};
use crate::account::guest_merge::Merges;
use crate::account::pictures::PictureMakerSlot;
use crate::account::store::AccountStore;
use crate::messages::Messages;
use crate::moderation::Moderation;
use crate::notifications::Notifications;
use crate::presence::Presences;
use crate::rng::Rng;
use crate::session::{Completion, Sessions};
use crate::site::live::Sites;
use crate::users::Users;
pub use event::Event;
use std::sync::Arc;

pub use command::Command;

/// Accounts: profile, devices, app passwords, items, export, erasure, and guests who become members.
pub(crate) struct Account {
    erasing: Erasing,
    unanswered: LastLook,
    merges: Merges,
    picture_maker: PictureMakerSlot,
    messages: Arc<Messages>,
    moderation: Arc<Moderation>,
    notifications: Arc<Notifications>,
    presences: Arc<Presences>,
    users: Arc<Users>,
    sessions: Arc<Sessions>,
    sites: Arc<Sites>,
    store: Arc<dyn AccountStore>,
    config: Arc<NodeConfig>,
    rng: Arc<Rng>,
}

impl Account {
    #[allow(clippy::too_many_arguments, reason = "one for each part that it depends on")]
    pub(crate) fn new(
        messages: Arc<Messages>,
        moderation: Arc<Moderation>,
        notifications: Arc<Notifications>,
        presences: Arc<Presences>,
        users: Arc<Users>,
        sessions: Arc<Sessions>,
        sites: Arc<Sites>,
        store: Arc<dyn AccountStore>,
        config: Arc<NodeConfig>,
        rng: Arc<Rng>,
    ) -> Account {
        Account {
            erasing: Erasing::default(),
            unanswered: LastLook::default(),
            merges: Merges::default(),
            picture_maker: PictureMakerSlot::new(),
            messages,
            moderation,
            notifications,
            presences,
            users,
            sessions,
            sites,
            store,
            config,
            rng,
        }
    }
}

impl Completion for Account {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

impl Account {
    /// Starts the work on unfinished erasures.
    pub(crate) fn continue_erasures(&self) {
        self.erasing.begin();
    }

    /// Guests who became members since the node started.
    pub(crate) fn merge_count(&self) -> u64 {
        self.merges.count()
    }
}

//! Messages: sending, changing and reading them, and their parts.

pub(crate) mod archive;
mod blocked_author;
pub(crate) mod changes;
mod command;
pub(crate) mod conversations;
pub(crate) mod counts;
mod event;
pub(crate) mod files;
pub(crate) mod forward;
pub(crate) mod gather;
pub(crate) mod held;
pub(crate) mod link_previews;
pub(crate) mod markers;
mod pins;
pub(crate) mod polls;
pub(crate) mod post;
pub(crate) mod reactions;
pub(crate) mod retention;
pub(crate) mod rich;
mod room_history;
pub(crate) mod search;
pub(crate) mod send;
mod site_stickers;
pub(crate) mod stickers;
pub(crate) mod store;
pub(crate) mod threads;
pub(crate) mod typing;
pub(crate) mod whole_messages;

use crate::messages::gather::Gathered;
use crate::messages::link_previews::PreviewerSlot;
use crate::messages::retention::Retaining;
use crate::messages::store::MessageStore;
use crate::messages::whole_messages::WholeMessages;
use crate::moderation::Moderation;
use crate::notifications::Notifications;
use crate::presence::Presences;
use crate::rng::Rng;
use crate::rooms::Rooms;
use crate::session::admission::{Admission, UnderWay};
use crate::session::{Completion, Sessions};
use crate::site::live::Sites;
use crate::stats::Counters;
use crate::users::Users;
use crate::{NodeConfig, Previewer, Refusal, Timestamp};
use std::sync::Arc;

pub use archive::{ArchiveEnd, ArchiveOf, ArchiveQuery, MOST_POSITIONS, MessageName};
pub use blocked_author::{MOST_BLOCKED_LOOKED_AT, is_left_out};
pub use command::{Command, ConversationChange, ConversationList, MarkerSet, MessageChange};
pub use event::Event;

/// Messages of direct conversations and of rooms.
pub(crate) struct Messages {
    /// Admission of messages to the store.
    posting: Arc<Admission>,
    gathered: Gathered,
    whole_messages: WholeMessages,
    previewer: PreviewerSlot,
    retaining: Retaining,
    rooms: Arc<Rooms>,
    moderation: Arc<Moderation>,
    notifications: Arc<Notifications>,
    presences: Arc<Presences>,
    users: Arc<Users>,
    sessions: Arc<Sessions>,
    sites: Arc<Sites>,
    store: Arc<dyn MessageStore>,
    config: Arc<NodeConfig>,
    counters: Arc<Counters>,
    rng: Arc<Rng>,
}

impl Messages {
    #[allow(clippy::too_many_arguments, reason = "one for each part that it depends on")]
    pub(crate) fn new(
        rooms: Arc<Rooms>,
        moderation: Arc<Moderation>,
        notifications: Arc<Notifications>,
        presences: Arc<Presences>,
        users: Arc<Users>,
        sessions: Arc<Sessions>,
        sites: Arc<Sites>,
        store: Arc<dyn MessageStore>,
        config: Arc<NodeConfig>,
        counters: Arc<Counters>,
        rng: Arc<Rng>,
    ) -> Messages {
        Messages {
            posting: Arc::new(Admission::of_messages()),
            gathered: Gathered::default(),
            whole_messages: WholeMessages::default(),
            previewer: PreviewerSlot::new(),
            retaining: Retaining::default(),
            rooms,
            moderation,
            notifications,
            presences,
            users,
            sessions,
            sites,
            store,
            config,
            counters,
            rng,
        }
    }

    /// Reserves a place among the messages that are being stored.
    pub(crate) fn enter(&self, now: Timestamp) -> Result<UnderWay, Refusal> {
        self.posting.enter(now)
    }

    pub(crate) fn preview_by(&self, previewer: Arc<dyn Previewer>) {
        let _ = self.previewer.set(previewer);
    }
}

impl Completion for Messages {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

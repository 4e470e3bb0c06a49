//! What a command publishes: every text and every address in it that other members will see. All of it passes one gate.
//!
//! The gate asks the site's filters, its rule for the links of new members, and who may name an address. Each `match` below names every
//! command and every field: a new one does not compile until somebody has decided whether it is published.

#![deny(clippy::wildcard_enum_match_arm)]

use crate::account::profile::{NameChange, ProfileChange};
use crate::calls::CallAction;
use crate::messages::polls::NewPoll;
use crate::messages::stickers::SendSticker;
use crate::notifications::NotifyChange;
use crate::rooms::{AvatarChange, RoomChange, RoomName, RoomSanction};
use crate::session::Asker;
use crate::site::filters::FilterAct;
use crate::site::trust;
use crate::{Command, ConversationChange, Hit, MessageChange, NewRich, Refusal, SiteRole, Timestamp};

/// The parts of a command that others will see.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Published<'a> {
    pub(crate) texts: Vec<&'a str>,
    /// From which the browsers of others would fetch a picture.
    pub(crate) addresses: Vec<&'a str>,
    /// It is a message that can wait for a moderator. What cannot wait is refused where a filter would hold it.
    pub(crate) can_wait: bool,
}

impl<'a> Published<'a> {
    fn text(text: &'a str) -> Published<'a> {
        Published { texts: vec![text], ..Published::default() }
    }
}

impl Command {
    pub(crate) fn published(&self) -> Published<'_> {
        match self {
            Command::Send { client_id: _, to: _, body, reply_to: _, files: _, rich } => {
                let mut texts: Vec<&str> = vec![body];
                let mut can_wait = true;
                if let Some(rich) = rich {
                    // The forwarded message is read from the store, and passes the gate there; a sticker's words are the site's.
                    let NewRich { poll, forwarded: _, thread: _, sticker: _ } = &**rich;
                    if let Some(NewPoll { choices, multiple: _, anonymous: _, ends: _ }) = poll {
                        texts.extend(choices.iter().map(|choice| &**choice));
                    }
                    can_wait = rich.is_reply();
                }
                Published { texts, addresses: Vec::new(), can_wait }
            }
            Command::ChangeMessage { re: _, conversation: _, seq: _, change } => match change {
                MessageChange::Edit(body) => Published::text(body),
                // A reaction is one emoji or one of the site's own names.
                MessageChange::Delete
                | MessageChange::React { reaction: _, on: _ }
                | MessageChange::Pin(_)
                | MessageChange::Vote(_)
                | MessageChange::ClosePoll
                | MessageChange::Preview(_) => Published::default(),
            },
            Command::ChangeProfile { re: _, change } => {
                let ProfileChange { status, name, write: _, presence: _, last_seen: _ } = &**change;
                let status = status.iter().flatten().map(|status| &*status.text);
                let name = name.iter().filter_map(|name| match name {
                    NameChange::Own(name) => Some(&**name),
                    NameChange::OfSite => None,
                });
                Published { texts: status.chain(name).collect(), ..Published::default() }
            }
            Command::CreateRoom { re: _, name, kind: _, topic } => Published {
                texts: std::iter::once(name).chain(topic).map(String::as_str).collect(),
                ..Published::default()
            },
            Command::ChangeRoom { re: _, conversation: _, change } => {
                let RoomChange { name, topic, avatar, kind: _, slow_ms: _, frozen: _, max_members: _ } = change;
                let address = match avatar {
                    Some(AvatarChange::Address(address)) => Some(address.as_str()),
                    // An upload was made anew by the picture process, and its name passed the gate when it began.
                    None | Some(AvatarChange::Remove | AvatarChange::Upload(_)) => None,
                };
                Published {
                    texts: name.iter().chain(topic).map(String::as_str).collect(),
                    addresses: address.into_iter().collect(),
                    can_wait: false,
                }
            }
            // The member sees the reason.
            Command::SanctionMember { re: _, conversation: _, user: _, sanction } => {
                let RoomSanction { kind: _, until: _, reason, shows_reason: _ } = sanction;
                Published::text(reason)
            }
            // Read by the moderators of the site alone, to whom members quote what others wrote.
            Command::Report { re: _, of: _, reason: _, text: _ } => Published::default(),
            // Moderators and admins answer for their own texts.
            Command::Moderate { re: _, act: _ }
            | Command::Configure { re: _, patch: _ }
            | Command::TestFilter { re: _, body: _ } => Published::default(),
            // For oneself: a draft, a search, one's notices.
            Command::Conversation { re: _, conversation: _, change } => {
                let ConversationChange { muted_until: _, pinned: _, archived: _, marked_unread: _, draft: _ } = change;
                Published::default()
            }
            Command::Notifications { re: _, change } => {
                let NotifyChange { .. } = &**change;
                Published::default()
            }
            Command::People { re: _, query: _, page: _ }
            | Command::Search { re: _, query: _, conversation: _, page: _ }
            | Command::Members { re: _, conversation: _, list: _, query: _, page: _ }
            | Command::Rooms { re: _, query: _, page: _ } => Published::default(),
            // The message passes the gate when it was read, see `messages/forward.rs`.
            Command::Forward { client_id: _, to: _, conversation: _, seq: _ } => Published::default(),
            Command::Sticker(SendSticker { client_id: _, to: _, number: _, reply_to: _, thread: _ }) => {
                Published::default()
            }
            // Descriptions of a connection, which programs read and nobody is shown.
            Command::Call { re: _, action: CallAction::Invite { user: _, media: _, offer: _ } | CallAction::Of(_, _) }
            | Command::GroupCall { re: _, conversation: _, action: _ } => Published::default(),
            Command::Marker { conversation: _, set: _ }
            | Command::Typing { to: _, on: _ }
            | Command::SetPresence(_)
            | Command::Watch { contacts: _, users: _ }
            | Command::Contact { re: _, action: _, user: _ }
            | Command::Contacts { re: _, page: _ }
            | Command::Profiles { re: _, users: _ }
            | Command::Profile { re: _, user: _ }
            | Command::Conversations { re: _, list: _, page: _ }
            | Command::Pins { re: _, conversation: _ }
            | Command::History { re: _, to: _, before: _, after: _, thread: _, limit: _ }
            | Command::HistorySince { re: _, to: _, time: _, limit: _ }
            | Command::Thread { re: _, conversation: _, root: _, change: _ }
            | Command::Threads { re: _, conversation: _ }
            | Command::Stickers { re: _ }
            | Command::Join { re: _, to: _ }
            | Command::Leave { re: _, conversation: _ }
            | Command::Member { re: _, conversation: _, user: _, action: _ }
            | Command::MakeLink { re: _, conversation: _, hours: _, uses: _ }
            | Command::Links { re: _, conversation: _ }
            | Command::TakeBackLink { re: _, conversation: _, code: _ }
            | Command::OpenLink { re: _, code: _ }
            | Command::JoinLink { re: _, code: _ }
            | Command::AnswerRequest { re: _, conversation: _, answer: _ }
            | Command::Reports { re: _, state: _, page: _ }
            | Command::Audit { re: _, page: _ }
            | Command::Notices { re: _, seen: _ }
            | Command::Settings { re: _ }
            | Command::Devices { re: _ }
            | Command::SignOut { re: _, device: _ }
            | Command::Export { re: _, page: _ }
            | Command::RemoveAccount { re: _, messages: _ }
            | Command::Resume { re: _, position: _ }
            // A token's name and picture are the site's word.
            | Command::Token { re: _, token: _ } => Published::default(),
        }
    }
}

impl Asker {
    /// Whether this may be published, and what becomes of it: None, it is as any other. Moderators may write everything.
    pub(crate) fn may_publish(
        &self,
        published: &Published<'_>,
        now: Timestamp,
    ) -> Result<Option<FilterAct>, Refusal> {
        // A picture's address tells its owner the network address of everybody who looks; a path of the site's own would be asked for
        // with the reader's cookies. So the site alone chooses one.
        if !published.addresses.is_empty() && self.role < SiteRole::Admin {
            return Err(Refusal::NotAllowed);
        }
        if self.role >= SiteRole::Moderator {
            return Ok(None);
        }
        let settings = &self.site.site.settings;
        let mut strictest = None;
        for text in &published.texts {
            trust::may_say(settings, self.level, text)?;
            self.site.take_checks(text, now)?;
            strictest = strictest.max(settings.filters.verdict(&self.site.filters, text));
        }
        match strictest {
            Some(FilterAct::Reject) => Err(Refusal::Filtered),
            Some(FilterAct::Hold) if !published.can_wait => Err(Refusal::Filtered),
            other => Ok(other),
        }
    }

    /// As above for one text that cannot wait for a moderator.
    pub(crate) fn may_publish_text(&self, text: &str, now: Timestamp) -> Result<Option<FilterAct>, Refusal> {
        self.may_publish(&Published::text(text), now)
    }

    /// Anybody makes the room of a page, whose key is its name. A key that the filters refuse still leads to the room, which has no
    /// name then. The rule for links of new members is not asked: keys may be addresses of the site.
    pub(crate) fn page_named(&self, room: RoomName, now: Timestamp) -> RoomName {
        let RoomName::Page(site, key) = room else { return room };
        let filters = &self.site.site.settings.filters;
        let is_checked = self.role < SiteRole::Moderator;
        let is_refused = is_checked
            && (self.site.take_checks(key.as_str(), now).is_err()
                || filters.verdict(&self.site.filters, key.as_str()) >= Some(FilterAct::Hold));
        RoomName::Page(site, if is_refused { key.unnamed() } else { key })
    }

    /// The matches of the site's filters in a text.
    pub(crate) fn hits(&self, body: &str) -> Vec<Hit> {
        self.site.site.settings.filters.hits(&self.site.filters, body)
    }

    /// The hits in all texts of a command. None where the filters flag nothing.
    pub(crate) fn flagged_texts(&self, published: &Published<'_>) -> Option<Vec<Hit>> {
        let hits: Vec<Hit> = published.texts.iter().filter_map(|text| self.flagged(text)).flatten().collect();
        (!hits.is_empty()).then_some(hits)
    }

    /// The matches in a delivered text that moderators should check. None: no such match.
    pub(crate) fn flagged(&self, body: &str) -> Option<Vec<Hit>> {
        let is_asked = self.role < SiteRole::Moderator;
        let hits = if is_asked { self.hits(body) } else { Vec::new() };
        (!hits.is_empty() && hits.iter().all(|hit| hit.act == FilterAct::Flag)).then_some(hits)
    }
}

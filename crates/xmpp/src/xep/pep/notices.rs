//! Notices about items to the clients that want them (XEP-0163 §4.3).

use chat::account::Event as AccountEvent;
use chat::items::{self, ItemChange, ItemNews, LatestItems};
use chat::{Delivery, Event, UserId};
use xmpp_proto::ns;
use xmpp_proto::payload::pubsub as payload;
use xmpp_proto::xml::Open;

use super::stored::{is_reserved, write_item};
use crate::address;
use crate::session::{Asked, Flags, Turn};

/// Latest items that a session gets when it comes. Clients read further ones when they need them.
const MOST_LATEST: usize = 400;

impl Turn<'_, '_> {
    pub(crate) fn item_changed(&mut self, news: &ItemNews) {
        if &*news.list == ns::AVATAR_METADATA && self.session.is_own(&news.user) {
            self.session.set(Flags::HAS_ITEMS, true);
            self.own_avatar_changed(news);
        }
        if self.session.wanted.as_ref().is_some_and(|wanted| wanted.has(&news.list)) {
            self.notify_item(news);
        }
    }

    fn notify_item(&mut self, news: &ItemNews) {
        if is_reserved(&news.list) || !self.session.is_available() {
            return;
        }
        let from = address::user(&news.user, self.domain());
        let to = self.session.jid.as_str().to_owned();
        let list = &news.list;
        self.send(|out| {
            let message = Open::new(out, "message").attr("type", "headline").attr("from", &from);
            message.attr("to", &to).children(|out| match &news.change {
                ItemChange::Put(item) => payload::write_event(out, list, |out| write_item(out, item)),
                ItemChange::Deleted { id } => payload::Event::Retracted { id }.write(out, list),
                ItemChange::Emptied => payload::Event::Purged.write(out, list),
                ItemChange::ListDeleted => payload::Event::Deleted.write(out, list),
            });
        });
    }

    /// Sends the latest item of each list of the user and the contacts, or of one of them.
    pub(crate) fn send_latest_items(&mut self, lists: Vec<Box<str>>, only: Option<UserId>) {
        if !lists.is_empty() {
            let of = LatestItems { lists, only: only.map(|user| user.num), after: None };
            self.next_latest_items(of, MOST_LATEST);
        }
    }

    fn next_latest_items(&mut self, of: LatestItems, left: usize) {
        let command = items::Command::ReadLatest(of.clone());
        self.continue_then(Asked::internal(), command, move |turn, _, answer| {
            let Ok(Delivery {
                event: Event::Account(AccountEvent::Items(items::Event::Latest { items, next })),
                ..
            }) = answer
            else {
                return;
            };
            items.iter().take(left).for_each(|news| turn.notify_item(news));
            let left = left.saturating_sub(items.len());
            if let Some(after) = *next
                && left > 0
            {
                turn.next_latest_items(LatestItems { after: Some(after), ..of }, left);
            }
        });
    }

    /// All that the session wants, of a user who has become a contact or, after a pause, of all.
    pub(crate) fn renew_items(&mut self, only: Option<UserId>) {
        if let Some(wanted) = self.session.wanted.clone().filter(|_| self.session.is_available()) {
            self.send_latest_items(wanted.names().to_vec(), only);
        }
    }
}

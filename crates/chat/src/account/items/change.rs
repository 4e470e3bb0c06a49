//! The commands that change a user's items, and the notices to the readers.

use std::sync::Arc;

use super::{
    Event, ITEM_BYTES, Item, ItemAccess, ItemChange, ItemList, ItemListChange, ItemNews, PutItem,
    check_item_name,
};
use crate::account::Account;
use crate::command::AnswerTo;
use crate::privacy::Signal;
use crate::session::{Asker, Completion, Watching};
use crate::{Refusal, UserId, Viewpoint};

impl Account {
    pub(super) fn put_item(self: &Arc<Self>, asker: Asker, re: u64, item: PutItem) {
        let handle = asker.session.handle;
        let may = may_have_items(&asker)
            .and_then(|()| check_item_name(&item.list))
            .and_then(|()| check_item_name(&item.id))
            .and_then(|()| item.requires.check())
            .and_then(|()| match item.payload.len() <= ITEM_BYTES && !item.payload.contains('\0') {
                true => Ok(()),
                false => Err(Refusal::BadValue),
            });
        if let Err(refusal) = may {
            return self.sessions.refuse(handle, AnswerTo::Request(re), refusal);
        }
        let (user, put) = (asker.session.user, item.clone());
        let done = self.on_accepted(handle, AnswerTo::Request(re), move |this, stored: (ItemList, u64)| {
            let (list, version) = stored;
            let version_kept = list.persists.then_some(version);
            this.sessions.answer(
                handle,
                re,
                crate::account::Event::Items(Event::Done { version: version_kept }),
            );
            let PutItem { list: name, id, payload, .. } = item;
            let change = ItemChange::Put(Item { id, version, payload: Some(payload) }.notice());
            this.notify_readers(&asker, list, name, change);
        });
        self.store.put_item(user, put, done);
    }

    pub(super) fn delete_item(
        self: &Arc<Self>,
        asker: Asker,
        re: u64,
        list: Box<str>,
        id: Box<str>,
        notify: bool,
    ) {
        let (user, name, of) = (asker.session.user, list.clone(), id.clone());
        let change = notify.then_some(ItemChange::Deleted { id });
        self.store.delete_item(user, list, of, self.changed(asker, re, name, change));
    }

    pub(super) fn empty_item_list(self: &Arc<Self>, asker: Asker, re: u64, list: Box<str>) {
        let (user, name) = (asker.session.user, list.clone());
        self.store.empty_item_list(user, list, self.changed(asker, re, name, Some(ItemChange::Emptied)));
    }

    pub(super) fn delete_item_list(self: &Arc<Self>, asker: Asker, re: u64, list: Box<str>) {
        let (user, name) = (asker.session.user, list.clone());
        self.store.delete_item_list(user, list, self.changed(asker, re, name, Some(ItemChange::ListDeleted)));
    }

    /// Answers, and notifies the readers.
    fn changed(
        self: &Arc<Self>,
        asker: Asker,
        re: u64,
        name: Box<str>,
        change: Option<ItemChange>,
    ) -> crate::Done<Result<ItemList, Refusal>> {
        let handle = asker.session.handle;
        self.on_accepted(handle, AnswerTo::Request(re), move |this, list: ItemList| {
            this.sessions.answer(handle, re, crate::account::Event::Items(Event::Done { version: None }));
            if let Some(change) = change {
                this.notify_readers(&asker, list, name, change);
            }
        })
    }

    pub(super) fn configure_item_list(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        list: Box<str>,
        creates: bool,
        change: ItemListChange,
    ) {
        let handle = asker.session.handle;
        let may = may_have_items(asker).and_then(|()| check_item_name(&list)).and_then(|()| change.check());
        if let Err(refusal) = may {
            return self.sessions.refuse(handle, AnswerTo::Request(re), refusal);
        }
        let name = list.clone();
        let done = self.on_accepted(handle, AnswerTo::Request(re), move |this, list: ItemList| {
            this.sessions.answer(handle, re, crate::account::Event::Items(Event::Lists(vec![(name, list)])));
        });
        self.store.configure_item_list(asker.session.user, list, creates, change, done);
    }

    /// Sends a change to the user's own sessions, and to those of the contacts who may read the list now. Changes of an invisible
    /// user would reveal them, so contacts find those when they read next.
    fn notify_readers(self: &Arc<Self>, asker: &Asker, list: ItemList, name: Box<str>, change: ItemChange) {
        let news = ItemNews { user: asker.sub.clone(), list: name, change };
        let mode = asker.site.site.mode;
        let is_shown = asker.visibility.sends(Signal::Typing, mode, Viewpoint::CONTACT);
        let to_contacts = list.access != ItemAccess::Nobody && is_shown && !asker.shadowed;
        self.publish_item(asker.session.user, news, to_contacts);
    }

    pub(in crate::account) fn publish_item(
        self: &Arc<Self>,
        user: UserId,
        news: ItemNews,
        to_contacts: bool,
    ) {
        let news = Arc::new(news);
        let mut own = Watching::default();
        self.sessions.lock(user).contact_watchers(user, &mut own);
        let event = |news: &Arc<ItemNews>| crate::account::Event::Items(Event::Changed(news.clone()));
        self.sessions.send_all(&own.sessions, event(&news));
        if !to_contacts {
            return;
        }
        let this = self.clone();
        self.users.with_contacts_of(vec![user], move |contacts| {
            let Some(contacts) = contacts.ok().and_then(|all| all.into_iter().next()) else { return };
            let mut to = Watching::default();
            for contact in this.sessions.of(contacts.seeing()) {
                this.sessions.lock(contact).contact_watchers(contact, &mut to);
            }
            this.sessions.send_all(&to.sessions, event(&news));
        });
    }
}

/// Guests come and go, and nobody would remove their items.
fn may_have_items(asker: &Asker) -> Result<(), Refusal> {
    if asker.guest { Err(Refusal::NotAllowed) } else { Ok(()) }
}

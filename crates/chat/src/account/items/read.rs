//! The commands that read items.

use std::sync::Arc;

use super::{
    Event, ItemReader, ItemsOf, ItemsPage, LatestItems, LatestPage, MOST_ITEMS, MOST_LATEST_LISTS,
    item_reader,
};
use crate::account::Account;
use crate::command::AnswerTo;
use crate::session::{Asker, Completion};
use crate::store::unavailable;
use crate::{Refusal, Relation, Sub, UserId};

impl Account {
    pub(super) fn read_items(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        of_user: Option<Sub>,
        list: Box<str>,
        of: ItemsOf,
    ) {
        let handle = asker.session.handle;
        if matches!(&of, ItemsOf::Ids(ids) if ids.len() > MOST_ITEMS as usize) {
            return self.sessions.refuse(handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        self.with_reader(asker, re, of_user, move |this, user, reader| {
            let done = this.on_accepted(handle, AnswerTo::Request(re), move |this, page: ItemsPage| {
                this.sessions.answer(handle, re, crate::account::Event::Items(Event::Items(Box::new(page))));
            });
            this.store.items(user, reader, list, of, done);
        });
    }

    pub(super) fn read_item_lists(self: &Arc<Self>, asker: &Asker, re: u64, of_user: Option<Sub>) {
        let handle = asker.session.handle;
        self.with_reader(asker, re, of_user, move |this, user, reader| {
            let done = this.on_loaded(handle, AnswerTo::Request(re), move |this, lists: Vec<_>| {
                let answer = match reader {
                    // Without a list to read, a user looks like none.
                    ItemReader::Contact | ItemReader::Other if lists.is_empty() => Err(Refusal::NoSuchItem),
                    _ => Ok(lists),
                };
                match answer {
                    Ok(lists) => {
                        this.sessions.answer(handle, re, crate::account::Event::Items(Event::Lists(lists)));
                    }
                    Err(refusal) => this.sessions.refuse(handle, AnswerTo::Request(re), refusal),
                }
            });
            this.store.item_lists(user, reader, done);
        });
    }

    pub(super) fn read_latest_items(self: &Arc<Self>, asker: &Asker, re: u64, of: LatestItems) {
        let handle = asker.session.handle;
        if of.lists.len() > MOST_LATEST_LISTS {
            return self.sessions.refuse(handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        let done = self.on_loaded(handle, AnswerTo::Request(re), move |this, page: LatestPage| {
            let LatestPage { items, next } = page;
            this.sessions.answer(handle, re, crate::account::Event::Items(Event::Latest { items, next }));
        });
        self.store.latest_items(asker.session.user, asker.site.site.mode, of, done);
    }

    /// Finds the owner of items, and how the asker reads them. A user who does not exist, or does not show themselves, is refused as
    /// a list that does not exist.
    fn with_reader(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        owner: Option<Sub>,
        then: impl FnOnce(&Arc<Self>, UserId, ItemReader) + Send + 'static,
    ) {
        let me = asker.session.user;
        let Some(owner) = owner.filter(|owner| *owner != asker.sub) else {
            return then(self, me, ItemReader::Owner);
        };
        let (this, mode, handle) = (self.clone(), asker.site.site.mode, asker.session.handle);
        let refuse = move |this: &Arc<Self>, refusal| {
            this.sessions.refuse(handle, AnswerTo::Request(re), refusal);
        };
        self.users.with_users(me, vec![owner], move |rows| {
            let row = match rows.map(|rows| rows.into_iter().next()) {
                Ok(Some(row)) => row,
                Ok(None) => return refuse(&this, Refusal::NoSuchItem),
                Err(error) => return refuse(&this, unavailable(error)),
            };
            let (id, account) = (row.id, this.clone());
            this.users.with_relations(me, &[id], move |relations| {
                let relation = match relations {
                    Ok(relations) => relations.first().copied().unwrap_or(Relation::NONE),
                    Err(error) => return refuse(&account, unavailable(error)),
                };
                let privacy = account.users.privacy_of(&row);
                match item_reader(mode, privacy, row.banned, relation.a_views_b()) {
                    Some(reader) => then(&account, id, reader),
                    None => refuse(&account, Refusal::NoSuchItem),
                }
            });
        });
    }
}

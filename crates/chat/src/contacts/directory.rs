//! The directory of a site, and cards of users by id.

use crate::command::AnswerTo;
use crate::contacts::Contacts;
use crate::contacts::Event;
use crate::presence::shown::Other;
use crate::session::Asker;
use crate::store::unavailable;
use crate::users::person;
use crate::{Caller, Mode, PageOf, PeoplePage, Person, Refusal, StoreError, Sub, Told, UserRow};
use std::sync::Arc;

/// Longest query, in bytes.
pub(crate) const MAX_QUERY_BYTES: usize = 256;

impl Contacts {
    /// A page of all members by name, including banned ones, in every mode of the site.
    pub(crate) fn users_over_rest(
        &self,
        caller: &Caller,
        query: Option<String>,
        page: PageOf,
        told: Told<PeoplePage>,
    ) {
        if query.as_ref().is_some_and(|query| query.len() > MAX_QUERY_BYTES) {
            return told(Err(Refusal::BadValue));
        }
        let limit = self.sessions.page_limit(page.limit);
        let done = move |rows: Result<PeoplePage, StoreError>| told(rows.map_err(unavailable));
        self.store.people(caller.site(), query, page.after, limit, Box::new(done));
    }

    /// Sites of mode *contacts* have no directory: a user is found only by the exact id.
    pub(crate) fn list_people(self: &Arc<Self>, asker: Asker, re: u64, query: Option<String>, page: PageOf) {
        let site = asker.site.site.id;
        if query.as_ref().is_some_and(|query| query.len() > MAX_QUERY_BYTES) {
            return self.sessions.refuse(asker.session.handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        if asker.site.site.mode == Mode::Contacts {
            let Some(sub) = query.as_deref().and_then(Sub::parse) else {
                return self.sessions.refuse(
                    asker.session.handle,
                    AnswerTo::Request(re),
                    Refusal::NotAllowed,
                );
            };
            let this = self.clone();
            let done = move |row: Result<Option<UserRow>, _>| {
                let page = row.map(|row| PeoplePage { rows: row.into_iter().collect(), next: None });
                this.tell_people(&asker, re, page);
            };
            return self.store.user(site, sub, Box::new(done));
        }
        let limit = self.sessions.page_limit(page.limit);
        let this = self.clone();
        let done = move |page| this.tell_people(&asker, re, page);
        self.store.people(site, query, page.after, limit, Box::new(done));
    }

    fn tell_people(self: &Arc<Self>, asker: &Asker, re: u64, page: Result<PeoplePage, StoreError>) {
        let handle = asker.session.handle;
        let PeoplePage { mut rows, next } = match page {
            Ok(page) => page,
            Err(error) => return self.sessions.refuse(handle, AnswerTo::Request(re), unavailable(error)),
        };
        rows.retain(|row| !row.banned && row.id != asker.session.user);
        let this = self.clone();
        self.with_persons(asker, rows, move |people| {
            this.sessions.answer(handle, re, Event::People { people, next });
        });
    }

    pub(crate) fn profiles(self: &Arc<Self>, asker: Asker, re: u64, users: Vec<Sub>) {
        let handle = asker.session.handle;
        if users.len() > self.config.limits.page as usize {
            return self.sessions.refuse(handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        let site = asker.site.site.id;
        let this = self.clone();
        let done = move |rows: Result<Vec<UserRow>, StoreError>| {
            let rows = match rows {
                Ok(rows) => rows,
                Err(error) => return this.sessions.refuse(handle, AnswerTo::Request(re), unavailable(error)),
            };
            let teller = this.clone();
            this.with_persons(&asker, rows, move |people| {
                teller.sessions.answer(handle, re, Event::Profiles(people));
            });
        };
        self.store.users(site, users, Box::new(done));
    }

    fn with_persons(
        self: &Arc<Self>,
        asker: &Asker,
        rows: Vec<UserRow>,
        then: impl FnOnce(Vec<Person>) + Send + 'static,
    ) {
        let others: Vec<Other> = rows.iter().map(Other::person).collect();
        let mode = asker.site.site.mode;
        self.presences.with_presences(mode, asker.session.user, &others, move |presences| {
            then(rows.iter().zip(presences).map(|(row, presence)| person(row, presence)).collect());
        });
    }
}

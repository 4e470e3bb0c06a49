//! The directory of a site, and cards of users by id.

use crate::command::AnswerTo;
use crate::contacts::Contacts;
use crate::contacts::Event;
use crate::presence::shown::Other;
use crate::session::{Asker, Completion};
use crate::store::unavailable;
use crate::users::person;
use crate::{Caller, Done, Mode, PageOf, PeoplePage, Person, Refusal, Respond, Sub, UserRow};
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
        respond: Respond<PeoplePage>,
    ) {
        if query.as_ref().is_some_and(|query| query.len() > MAX_QUERY_BYTES) {
            return respond(Err(Refusal::BadValue));
        }
        let limit = self.sessions.page_limit(page.limit);
        let done: Done<PeoplePage> = Box::new(move |page| respond(page.map_err(unavailable)));
        self.store.people(caller.site(), query, page.after, limit, done);
    }

    /// Sites of mode *contacts* have no directory: a user is found only by the exact id.
    pub(crate) fn list_people(self: &Arc<Self>, asker: Asker, re: u64, query: Option<String>, page: PageOf) {
        let (site, handle) = (asker.site.site.id, asker.session.handle);
        if query.as_ref().is_some_and(|query| query.len() > MAX_QUERY_BYTES) {
            return self.sessions.refuse(handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        if asker.site.site.mode == Mode::Contacts {
            let Some(sub) = query.as_deref().and_then(Sub::parse) else {
                return self.sessions.refuse(handle, AnswerTo::Request(re), Refusal::NotAllowed);
            };
            let done = self.on_loaded(handle, AnswerTo::Request(re), move |this, row: Option<UserRow>| {
                this.answer_people(&asker, re, PeoplePage { rows: row.into_iter().collect(), next: None });
            });
            return self.store.user(site, sub, done);
        }
        let limit = self.sessions.page_limit(page.limit);
        let done = self.on_loaded(handle, AnswerTo::Request(re), move |this, page| {
            this.answer_people(&asker, re, page);
        });
        self.store.people(site, query, page.after, limit, done);
    }

    fn answer_people(self: &Arc<Self>, asker: &Asker, re: u64, page: PeoplePage) {
        let (handle, mode) = (asker.session.handle, asker.site.site.mode);
        let PeoplePage { mut rows, next } = page;
        // Users of other servers are found by those who know them.
        let is_listed = |row: &UserRow| row.profile.sub.remote_address().is_none() || mode == Mode::Contacts;
        rows.retain(|row| !row.banned && row.id != asker.session.user && is_listed(row));
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
        let done = self.on_loaded(handle, AnswerTo::Request(re), move |this, rows| {
            let owner = this.clone();
            this.with_persons(&asker, rows, move |people| {
                owner.sessions.answer(handle, re, Event::Profiles(people));
            });
        });
        self.store.users(site, users, done);
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

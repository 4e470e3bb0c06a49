//! Pages of a room's members, and of a site's rooms.

use crate::rooms::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::contacts::directory::MAX_QUERY_BYTES;
use crate::presence::shown::Other;
use crate::rooms::{MembersPage, Rooms, RoomsPage, SanctionedPage};
use crate::session::{Asker, Completion};
use crate::users::person;
use crate::{ConversationId, Member, PageOf, Refusal, Timestamp};

impl Rooms {
    pub(crate) fn list_members(
        self: &Arc<Self>,
        asker: Asker,
        re: u64,
        room: ConversationId,
        query: Option<String>,
        page: PageOf,
    ) {
        let session = asker.session;
        if query.as_ref().is_some_and(|query| query.len() > MAX_QUERY_BYTES) {
            return self.sessions.refuse(session.handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        let limit = self.sessions.page_limit(page.limit);
        let done = self.on_accepted(session.handle, AnswerTo::Request(re), move |this, page: MembersPage| {
            let others: Vec<Other> = page.rows.iter().map(|row| Other::person(&row.user)).collect();
            let owner = this.clone();
            this.presences.with_presences(asker.site.site.mode, session.user, &others, move |presences| {
                let this = owner.clone();
                owner.with_markers(&asker, page, move |page, markers| {
                    let MembersPage { rows, next, .. } = page;
                    let member = |((row, presence), markers): ((&crate::rooms::MemberRow, _), _)| Member {
                        person: person(&row.user, presence),
                        standing: row.standing,
                        requested: false,
                        markers,
                        sanction: None,
                    };
                    let members = rows.iter().zip(presences).zip(markers).map(member).collect();
                    this.sessions.answer(session.handle, re, Event::Members { members, next });
                });
            });
        });
        self.store.members(room, session.user, query, page.after, limit, done);
    }

    /// For moderators of the room.
    pub(crate) fn list_sanctioned(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        room: ConversationId,
        page: PageOf,
        now: Timestamp,
    ) {
        let session = asker.session;
        let limit = self.sessions.page_limit(page.limit);
        let done = self.on_accepted(session.handle, AnswerTo::Request(re), move |this, page| {
            let SanctionedPage { rows, next } = page;
            let member = |(row, sanction): (crate::rooms::MemberRow, _)| Member {
                person: person(&row.user, None),
                standing: row.standing,
                requested: false,
                markers: None,
                sanction: Some(sanction),
            };
            let members = rows.into_iter().map(member).collect();
            this.sessions.answer(session.handle, re, Event::Members { members, next });
        });
        self.store.sanctioned(room, session.user, page.after, limit, now, done);
    }

    pub(crate) fn list_rooms(self: &Arc<Self>, asker: &Asker, re: u64, query: Option<String>, page: PageOf) {
        let handle = asker.session.handle;
        if query.as_ref().is_some_and(|query| query.len() > MAX_QUERY_BYTES) {
            return self.sessions.refuse(handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        let limit = self.sessions.page_limit(page.limit);
        let done = self.on_loaded(handle, AnswerTo::Request(re), move |this, RoomsPage { rows, next }| {
            this.sessions.answer(handle, re, Event::Rooms { rooms: rows, next });
        });
        self.store.rooms(asker.session.user.site, query, page.after, limit, done);
    }
}

//! Stanzas from one session to another, which are not stored.

use std::sync::Arc;

use crate::command::AnswerTo;
use crate::presence::command::RELAY_BYTES;
use crate::presence::{Event, Presences};
use crate::privacy::{Signal, Visibility};
use crate::session::Asker;
use crate::{Refusal, Relation, Sub, UserId};

/// A stanza on its way.
struct Stanza {
    asker: Asker,
    re: u64,
    /// Of the sending session.
    from: Arc<str>,
    resource: Box<str>,
    payload: Box<str>,
    is_answer: bool,
}

impl Presences {
    pub(super) fn relay(
        self: &Arc<Self>,
        asker: Asker,
        re: u64,
        to: &Sub,
        resource: Box<str>,
        payload: Box<str>,
        is_answer: bool,
    ) {
        let session = asker.session;
        let refuse = |refusal| self.sessions.refuse(session.handle, AnswerTo::Request(re), refusal);
        if payload.len() > RELAY_BYTES {
            return refuse(Refusal::BadValue);
        }
        let announced = self.sessions.lock(session.user).announced(session.user, session.handle);
        let Some(announced) = announced else { return refuse(Refusal::NotAllowed) };
        let is_own = *to == asker.sub;
        let stanza = Stanza { asker, re, from: announced.resource, resource, payload, is_answer };
        if is_own {
            return self.deliver_stanza(&stanza, session.user, true);
        }
        let this = self.clone();
        self.users.with_users(session.user, vec![to.clone()], move |rows| {
            let row = rows.ok().and_then(|rows| rows.into_iter().next());
            let Some(row) = row else { return this.no_such_session(&stanza) };
            let (id, watcher) = (row.id, this.clone());
            this.users.with_relations(session.user, &[id], move |relations| {
                let relation = relations.ok().and_then(|all| all.first().copied()).unwrap_or(Relation::NONE);
                let of = Visibility { privacy: watcher.users.privacy_of(&row), ..Visibility::default() };
                let viewer = relation.a_views_b();
                let may_ask = viewer.sees && of.sends(Signal::Presence, stanza.asker.site.site.mode, viewer);
                let may_answer = stanza.is_answer && relation.b_views_a().sees;
                // Apps discover a service and register with it before it is a contact.
                let is_service = |sub: &Sub| sub.is_remote_service() && !relation.is_blocked();
                let asks_service = is_service(&row.profile.sub);
                let service_answers = stanza.is_answer && is_service(&stanza.asker.sub);
                match may_ask || may_answer || asks_service || service_answers {
                    true => watcher.deliver_stanza(&stanza, id, asks_service),
                    false => watcher.no_such_session(&stanza),
                }
            });
        });
    }

    pub(super) fn undelivered(self: &Arc<Self>, asker: &Asker, to: Sub, payload: Box<str>) {
        let (session, from) = (asker.session, asker.sub.clone());
        if from.remote_address().is_none() || payload.len() > RELAY_BYTES {
            return;
        }
        let announced = self.sessions.lock(session.user).announced(session.user, session.handle);
        let Some(resource) = announced.map(|announced| announced.resource) else { return };
        let this = self.clone();
        self.users.with_users(session.user, vec![to], move |rows| {
            let Some(row) = rows.ok().and_then(|rows| rows.into_iter().next()) else { return };
            let apps = this.sessions.lock(row.id).sessions_with_resource(row.id);
            for handle in apps {
                let (from, resource, payload) = (from.clone(), resource.clone(), payload.clone());
                this.sessions.send(handle, Event::Relayed { from, resource, payload });
            }
        });
    }

    /// `reaches_hidden`: also a session that nobody sees.
    fn deliver_stanza(&self, stanza: &Stanza, to: UserId, reaches_hidden: bool) {
        let found = self.sessions.lock(to).session_of(to, &stanza.resource);
        let Some((handle, _)) = found.filter(|(_, is_shown)| reaches_hidden || stanza.is_answer || *is_shown)
        else {
            return self.no_such_session(stanza);
        };
        let (from, resource) = (stanza.asker.sub.clone(), stanza.from.clone());
        self.sessions.send(handle, Event::Relayed { from, resource, payload: stanza.payload.clone() });
        self.sessions.answer(stanza.asker.session.handle, stanza.re, Event::RelayDone);
    }

    /// A user who does not exist and a session that the asker may not see get the same answer.
    fn no_such_session(&self, stanza: &Stanza) {
        let handle = stanza.asker.session.handle;
        match stanza.is_answer {
            true => self.sessions.answer(handle, stanza.re, Event::RelayDone),
            false => self.sessions.refuse(handle, AnswerTo::Request(stanza.re), Refusal::NoSuchUser),
        }
    }
}

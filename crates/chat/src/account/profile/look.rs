//! The command that reads a profile.

use crate::account::Event;
use std::sync::Arc;

use crate::account::Account;
use crate::account::profile::{OwnCard, ProfileCard, ProfileView};
use crate::command::AnswerTo;
use crate::presence::shown::presence_shown;
use crate::privacy::{Signal, Visibility};
use crate::session::{Asker, Completion};
use crate::store::unavailable;
use crate::users::person;
use crate::{Presence, Refusal, Sub, Timestamp};

impl Account {
    /// `of`: None for the user's own profile.
    pub(crate) fn profile(self: &Arc<Self>, asker: Asker, re: u64, of: Option<Sub>, now: Timestamp) {
        let user = asker.session.user;
        let of = of.unwrap_or_else(|| asker.sub.clone());
        let done = self.then::<Option<ProfileView>>(move |this, view| {
            let card = view.map_err(unavailable).and_then(|view| {
                let view = view.filter(|view| !view.row.banned).ok_or(Refusal::NoSuchUser)?;
                Ok(this.card(&asker, view, now))
            });
            this.answer_profile(&asker, re, card);
        });
        self.store.profile(user, of, done);
    }

    pub(super) fn answer_profile(&self, asker: &Asker, re: u64, card: Result<ProfileCard, Refusal>) {
        let handle = asker.session.handle;
        match card {
            Ok(card) => self.sessions.answer(handle, re, Event::Profile(Box::new(card))),
            Err(refusal) => self.sessions.refuse(handle, AnswerTo::Request(re), refusal),
        }
    }

    /// A blocked viewer gets the same card as a stranger without access: neither presence nor status.
    pub(super) fn card(&self, asker: &Asker, view: ProfileView, now: Timestamp) -> ProfileCard {
        let ProfileView { row, status, relation } = view;
        let (mode, viewer) = (asker.site.site.mode, relation.a_views_b());
        let is_me = row.id == asker.session.user;
        let published = self.presences.published(row.id);
        let presence = if is_me { Some(published.presence) } else { presence_shown(mode, viewer, published) };
        let sees = is_me || crate::users::peer::may_see(mode, viewer);
        let is_away = sees && presence == Some(Presence::Offline) && !is_me;
        let of = Visibility { privacy: row.privacy, ..Visibility::default() };
        let sends_last_seen = of.sends(Signal::LastSeen, mode, viewer);
        let last_seen = Some(row.last_seen).filter(|seen| *seen > Timestamp(0));
        ProfileCard {
            status: status.and_then(|status| status.at(now)).filter(|_| sees),
            last_seen: last_seen.filter(|_| is_away && sends_last_seen),
            role: row.on_site.role,
            contact: relation.of_a.state(),
            own: is_me.then(|| {
                let members = &asker.site.site.settings.members;
                OwnCard {
                    privacy: row.privacy,
                    may_rename: members.rename,
                    may_remove: members.remove,
                    devices: members.devices && !row.profile.guest,
                    apps: self.app_domain(&asker.site).is_some(),
                }
            }),
            person: person(&row, presence),
        }
    }
}
